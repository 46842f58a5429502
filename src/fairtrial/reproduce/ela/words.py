"""What the page says first, made from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from fairtrial.reproduce.ela.cells import CLEAN, LOGISTIC, NOISY, TREE, VOTES
from fairtrial.reproduce.ela.sets import LARGEST

FAR = 3.0

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce.reproduction import Claim


def opening(both: pd.DataFrame, claims: Sequence[Claim], repeats: int, folds: int) -> str:
    """How much was run, and how many statements stand."""
    sets = both["dataset"].nunique()
    held = [sum(claim.holds is answer for claim in claims) for answer in (True, False, None)]
    whole = " All of the paper's sets were run." if sets == 32 else f" The paper has 32; {sets} were run."
    slow = [name for name in LARGEST if name in set(both["dataset"])]
    fewer = f" On {', '.join(slow)} there was one round of folds, for its machines are slow." if slow and repeats > 1 else ""
    rounds = f"{repeats} rounds of {folds} folds" if repeats > 1 else f"one round of {folds} folds (the paper: 5 rounds of 5)"
    return (
        f"C4.5 and a support vector machine on {sets} data sets, with and without 10 % class noise in the training part, by "
        f"{rounds}.{whole}{fewer} "
        f"Of {sum(held)} statements {held[0]} hold, {held[1]} do not, and {held[2]} could not be judged at this scale."
    )


def agreement(both: pd.DataFrame) -> str:
    """How near each learner is to the paper, without and with noise."""
    parts = []
    for learner, told in ((TREE, "C4.5"), (LOGISTIC, "the machine with logistic models"), (VOTES, "the machine by votes")):
        own = both[(both["learner"] == learner) & both["difference"].notna()]
        gaps = {quantity: own[own["quantity"] == quantity] for quantity in (CLEAN, NOISY)}
        if gaps[CLEAN].empty:
            continue
        means = [each["difference"].abs().mean() for each in gaps.values()]
        missing = sum(int(((each["low"] > 0) | (each["high"] < 0)).sum()) for each in gaps.values())
        total = sum(len(each) for each in gaps.values())
        parts.append(
            f"{told} is {means[0]:.2f} points from the paper on average without noise and {means[1]:.2f} with it "
            f"({missing} of {total} intervals miss the paper's number)"
        )
    return f"How near: {'; '.join(parts)}."


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


def unexplained(both: pd.DataFrame) -> str:
    """What remains open: the data sets on which the machine with logistic models is clearly elsewhere than the paper's."""
    own = both[(both["learner"] == LOGISTIC) & both["quantity"].isin([CLEAN, NOISY]) & both["difference"].notna()]
    far = own[(own["difference"].abs() > FAR) & ((own["low"] > 0) | (own["high"] < 0))]
    named = [
        f"{dataset} ({gap:+.1f}, {quantity})"
        for dataset, gap, quantity in far[["dataset", "difference", "quantity"]].itertuples(index=False, name=None)
    ]
    which = ", ".join(named) if named else "no data set"
    return (
        f"What remains open. More than {FAR:.0f} points from the paper, and with an interval that misses it, is the "
        f"machine with logistic models on {which}. The paper's folds and noise are not to be had, so that its numbers have "
        "a sampling error of their own. Its text says nothing of logistic models: that they were fitted is our inference. "
        "Two of its sentences contradict its own table 3: on autos C4.5 is the better one, not SVM; and on flare ELA "
        "prefers C4.5 and RLA SVM, not the reverse."
    )
