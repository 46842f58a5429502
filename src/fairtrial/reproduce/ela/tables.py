"""Our table 3 beside the paper's: by data set, averages and 'best' counts, and where ELA and RLA prefer another learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.reproduce.beside import beside
from fairtrial.reproduce.ela.cells import CLEAN, ELA, KEYS, LEARNERS, LOGISTIC, NOISY, QUANTITIES, RLA, TREE, VOTES, as_printed
from fairtrial.reproduce.interval import mean_interval

if TYPE_CHECKING:
    import pandas as pd

OURS, BY_VOTES, ANY_CLASS, VOTES_ANY, PAPER = "ours", "ours, votes", "ours, any class", "ours, votes, any class", "paper"
_DIGITS = {CLEAN: 2, NOISY: 2, ELA: 4, RLA: 4}


def compared(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """All numbers of both, with differences and their intervals, for the data sets that we have."""
    known = theirs[theirs["dataset"].isin(ours["dataset"])]
    return beside(ours, known, KEYS)


def printed_tables(stated: pd.DataFrame, any_class: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Table 3 five times, of the same data sets: logistic models or votes, noise by the text or of any class; the paper's.

    The first is the one by which the paper's statements are judged: the noise of its text, the machine that it seems to be.
    """
    found = {
        OURS: as_printed(stated, LOGISTIC),
        BY_VOTES: as_printed(stated, VOTES),
        ANY_CLASS: as_printed(any_class, LOGISTIC),
        VOTES_ANY: as_printed(any_class, VOTES),
        PAPER: as_printed(theirs, LOGISTIC),
    }
    shared = [name for name in found[OURS].index if all(name in table.index for table in found.values())]
    return {told: table.loc[shared] for told, table in found.items()}


def by_set(both: pd.DataFrame, learner: str) -> pd.DataFrame:
    """A line for each data set: each quantity of a learner, ours, the paper's, and the difference with its interval."""
    import pandas as pd

    own = both[both["learner"] == learner]
    parts: dict[str, pd.Series[str]] = {}
    for quantity, digits in _DIGITS.items():
        lines = own[own["quantity"] == quantity].set_index("dataset")
        parts[quantity] = lines["ours"].map(lambda value, digits=digits: f"{value:.{digits}f}")
        parts[f"{quantity}, paper"] = lines["published"].map(lambda value, digits=digits: f"{value:.{digits}f}")
        parts[f"{quantity}, difference"] = lines.apply(_difference, axis=1, digits=digits)
    return pd.DataFrame(parts).rename_axis("data set").reset_index()


def _difference(line: pd.Series[float], digits: int) -> str:
    """
    >>> import pandas as pd
    >>> _difference(pd.Series({"difference": 0.5, "low": -1.0, "high": 2.0}), 2)
    '+0.50 (-1.00 to +2.00)'
    """
    return f"{line['difference']:+.{digits}f} ({line['low']:+.{digits}f} to {line['high']:+.{digits}f})"


def averages(both: pd.DataFrame, noise: str) -> pd.DataFrame:
    """Means over data sets by learner and quantity, ours and the paper's; the difference of means with Student's interval."""
    import pandas as pd

    lines = []
    for learner in LEARNERS:
        for quantity in QUANTITIES:
            own = both[(both["learner"] == learner) & (both["quantity"] == quantity)].dropna(subset=["difference"])
            gap, near = mean_interval(own["difference"]), float(own["difference"].abs().mean())
            means = [float(own[name].mean()) for name in ("ours", "published")]
            lines.append((noise, learner, quantity, *means, gap.value, gap.low, gap.high, near, len(own)))
    columns = ["noise", "learner", "quantity", "ours", "paper", "difference", "low", "high", "mean distance", "data sets"]
    return pd.DataFrame(lines, columns=columns)


def best_counts(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """On how many data sets each of the two is better, in each of the tables; a tie counts for C4.5."""
    import pandas as pd

    lines = []
    for told, table in tables.items():
        for quantity, short in QUANTITIES.items():
            tree = int(preferred(table, short).eq("C4.5").sum())
            lines.append((told, quantity, tree, len(table) - tree))
    return pd.DataFrame(lines, columns=["table", "quantity", "C4.5 best", "SVM best"])


def preferred(table: pd.DataFrame, short: str) -> pd.Series[str]:
    """Which learner is better in a quantity (acc0, acc10, ela, rla), of a table as the paper prints it; a tie is C4.5's.

    >>> import pandas as pd
    >>> preferred(pd.DataFrame({"ela_c45": [0.3, 0.1], "ela_svm": [0.2, 0.1]}), "ela").tolist()
    ['SVM', 'C4.5']
    """
    better = table[f"{short}_svm"] - table[f"{short}_c45"]
    return ((better if short.startswith("acc") else -better) > 0).map({True: "SVM", False: "C4.5"})


def judged_differently(table: pd.DataFrame) -> pd.DataFrame:
    """Which learner ELA and RLA prefer on each data set, and whether they prefer another.

    >>> import pandas as pd
    >>> line = {"ela_c45": [0.28], "ela_svm": [0.21], "rla_c45": [-0.01], "rla_svm": [0.09]}
    >>> judged_differently(pd.DataFrame(line, index=["balance"])).to_dict("list")
    {'ELA': ['SVM'], 'RLA': ['C4.5'], 'differently': [True]}
    """
    import pandas as pd

    ela, rla = (preferred(table, short) for short in ("ela", "rla"))
    return pd.DataFrame({"ELA": ela, "RLA": rla, "differently": ela != rla})


def disagreements(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Data sets on which ELA and RLA prefer another learner, in any of the tables."""
    import pandas as pd

    parts = {told: judged_differently(table) for told, table in tables.items()}
    names = [name for name in parts[OURS].index if any(part["differently"][name] for part in parts.values())]
    return pd.DataFrame(
        {"data set": names, **{told: [_told(part.loc[name]) for name in names] for told, part in parts.items()}}
    )


def _told(line: pd.Series[str]) -> str:
    return f"ELA {line['ELA']}, RLA {line['RLA']}" if line["differently"] else f"both {line['ELA']}"


TITLES = {
    TREE: "C4.5",
    LOGISTIC: "Support vector machine with logistic models (what the paper ran, it seems)",
    VOTES: "Support vector machine by votes",
}
