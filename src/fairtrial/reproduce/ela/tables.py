"""Our table 3 beside the paper's: by data set, averages and 'best' counts, and where ELA and RLA prefer another learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.beside import beside
from fairtrial.reproduce.ela.cells import CLEAN, ELA, KEYS, LEARNERS, LOGISTIC, NOISY, QUANTITIES, RLA, VOTES, as_printed
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = {CLEAN: 2, NOISY: 2, ELA: 4, RLA: 4}
_NOTE = (
    "Of each quantity: ours, the paper's, and ours less the paper's with an interval at 95 %. Intervals are those of our "
    "mean over splits, corrected for their overlap; the paper's number counts as fixed, though it has a sampling error of "
    "its own."
)


def compared(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """All numbers of both, with differences and their intervals, for the data sets that we have."""
    known = theirs[theirs["dataset"].isin(ours["dataset"])]
    return beside(ours, known, KEYS)


def by_set(both: pd.DataFrame, learner: str) -> pd.DataFrame:
    """A line for each data set: each quantity of a learner, ours, the paper's, and the difference with its interval."""
    import pandas as pd

    own = both[both["learner"] == learner]
    parts = {"data set": pd.Series(own["dataset"].unique(), index=own["dataset"].unique())}
    for quantity in QUANTITIES:
        lines = own[own["quantity"] == quantity].set_index("dataset")
        digits = _DIGITS[quantity]
        parts[f"{quantity}"] = lines["ours"].map(lambda value, digits=digits: f"{value:.{digits}f}")
        parts[f"{quantity}, paper"] = lines["published"].map(lambda value, digits=digits: f"{value:.{digits}f}")
        parts[f"{quantity}, difference"] = lines.apply(lambda line, digits=digits: _difference(line, digits), axis=1)
    return pd.DataFrame(parts).reset_index(drop=True)


def _difference(line: pd.Series[float], digits: int) -> str:
    """
    >>> import pandas as pd
    >>> _difference(pd.Series({"difference": 0.5, "low": -1.0, "high": 2.0}), 2)
    '+0.50 (-1.00 to +2.00)'
    """
    return f"{line['difference']:+.{digits}f} ({line['low']:+.{digits}f} to {line['high']:+.{digits}f})"


def averages(both: pd.DataFrame) -> pd.DataFrame:
    """Means over data sets by learner and quantity, ours and the paper's; the difference of means with Student's interval."""
    import numpy as np
    import pandas as pd
    from scipy.stats import t

    lines = []
    for learner in LEARNERS:
        for quantity in QUANTITIES:
            own = both[(both["learner"] == learner) & (both["quantity"] == quantity)].dropna(subset=["difference"])
            gap, n = own["difference"].to_numpy(dtype=float), len(own)
            half = t.ppf(0.975, n - 1) * gap.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
            middle = gap.mean() if n else float("nan")
            near = own["difference"].abs().mean()
            mean = own[["ours", "published"]].mean()
            lines.append((learner, quantity, *mean, middle, middle - half, middle + half, near, n))
    columns = ["learner", "quantity", "ours", "paper", "difference", "low", "high", "mean distance", "data sets"]
    return pd.DataFrame(lines, columns=columns)


def best_counts(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """On how many data sets each of the two is better (a tie counts for both, as no set is left out in the paper)."""
    import pandas as pd

    lines = []
    for told, table in _tables(ours, theirs).items():
        for quantity, short in QUANTITIES.items():
            tree, machine = preferred(table, short)
            lines.append((told, quantity, int(tree.sum()), int(machine.sum()), len(table)))
    return pd.DataFrame(lines, columns=["table", "quantity", "C4.5 best", "SVM best", "data sets"])


def preferred(table: pd.DataFrame, short: str) -> tuple[pd.Series[bool], pd.Series[bool]]:
    """Where C4.5 and where the machine is better in a quantity, of a table as the paper prints it."""
    tree, machine = table[f"{short}_c45"], table[f"{short}_svm"]
    return (tree >= machine, machine > tree) if short.startswith("acc") else (tree <= machine, machine < tree)


def judged_differently(table: pd.DataFrame) -> pd.DataFrame:
    """Which learner ELA and RLA prefer on each data set, and whether they prefer another.

    >>> import pandas as pd
    >>> line = {"ela_c45": [0.28], "ela_svm": [0.21], "rla_c45": [-0.01], "rla_svm": [0.09]}
    >>> judged_differently(pd.DataFrame(line, index=["balance"])).iloc[0].tolist()
    ['SVM', 'C4.5', True]
    """
    import pandas as pd

    names = {short: preferred(table, short)[0].map({True: "C4.5", False: "SVM"}) for short in ("ela", "rla")}
    return pd.DataFrame({"ELA": names["ela"], "RLA": names["rla"], "differently": names["ela"] != names["rla"]})


def disagreements(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Data sets on which ELA and RLA prefer another learner, in any of the tables."""
    import pandas as pd

    parts = {told: judged_differently(table) for told, table in _tables(ours, theirs).items()}
    names = [
        name
        for name in next(iter(parts.values())).index
        if any(part["differently"].get(name, False) for part in parts.values())
    ]
    lines = {told: [_told(part, name) for name in names] for told, part in parts.items()}
    return pd.DataFrame({"data set": names, **lines})


def _told(part: pd.DataFrame, name: str) -> str:
    if name not in part.index:
        return ""
    line = part.loc[name]
    return f"ELA {line['ELA']}, RLA {line['RLA']}" if line["differently"] else f"both {line['ELA']}"


def _tables(ours: pd.DataFrame, theirs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    known = theirs[theirs["dataset"].isin(ours["dataset"])]
    found = {
        "paper": as_printed(known, LOGISTIC),
        "ours, logistic": as_printed(ours, LOGISTIC),
        "ours, votes": as_printed(ours, VOTES),
    }
    return {told: table for told, table in found.items() if len(table)}


def all_tables(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[Table, ...]:
    """The tables of this part of the page."""
    both = compared(ours, theirs)
    titles = {
        LEARNERS[0]: "C4.5, ours and the paper's",
        LOGISTIC: "Support vector machine with logistic models (what the paper ran, it seems), ours and the paper's",
        VOTES: "Support vector machine by votes (what the paper's text suggests), ours and the paper's",
    }
    sets = tuple(Table(f"table3-{name}", title, by_set(both, name), _NOTE) for name, title in titles.items())
    means = "Means over data sets; the interval of the difference is Student's over them, and 'mean distance' forgets the sign."
    apart = disagreements(ours, theirs)
    return (
        Table("averages", "Averages", averages(both), means, digits=4),
        Table("best", "On how many sets each is best", best_counts(ours, theirs), "Ties count for C4.5."),
        *(
            (
                Table(
                    "differently", "Where ELA and RLA prefer another learner", apart, "On all other sets both prefer the same."
                ),
            )
            if len(apart)
            else ()
        ),
        *sets,
        Table("differences", "All numbers, differences and intervals", both, shown=False),
    )
