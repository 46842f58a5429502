"""What averages and counts over data sets decide: Student's interval of C4.5 less SVM, and exact sign tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.reproduce.ela.cells import QUANTITIES
from fairtrial.reproduce.ela.tables import preferred
from fairtrial.reproduce.interval import Interval, mean_interval
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
_NOTE = (
    "Mean of C4.5 less SVM with Student's interval over data sets, the data sets on which each is better (ties left out), and "
    "the exact sign test. A mean whose interval holds 0, or a count with p of 0.05 or more, does not tell which is better."
)


def gap(table: pd.DataFrame, short: str) -> Interval:
    """The mean of C4.5 less SVM in a quantity (acc0, acc10, ela, rla) over the data sets of a table as the paper prints it."""
    return mean_interval(table[f"{short}_c45"] - table[f"{short}_svm"])


def more(first: pd.Series[float], second: pd.Series[float]) -> tuple[bool | None, int, int, float]:
    """Whether the first is larger on more data sets, None where the sign test cannot tell; both counts and p.

    >>> import pandas as pd
    >>> more(pd.Series([1.0] * 9 + [0.0]), pd.Series([0.5] * 10))
    (True, 9, 1, 0.021484375)
    >>> more(pd.Series([1.0, 1.0]), pd.Series([0.0, 1.0]))
    (None, 1, 0, 1.0)
    """
    from fairtrial.significance import sign_test

    wins, losses = int((first > second).sum()), int((first < second).sum())
    p = float(sign_test(first, second).p_value) if wins + losses else 1.0
    return (wins > losses) if p < ALPHA else None, wins, losses, p


def tree_better(table: pd.DataFrame, short: str) -> tuple[bool | None, int, int, float]:
    """Whether C4.5 is better on more data sets, and the numbers of `more`."""
    tree, machine = table[f"{short}_c45"], table[f"{short}_svm"]
    return more(tree, machine) if short.startswith("acc") else more(machine, tree)


def tree_best(table: pd.DataFrame, short: str) -> pd.Series[float]:
    """1 for each data set on which C4.5 is best, as the paper counts: a tie is C4.5's."""
    return preferred(table, short).eq("C4.5").astype(float)


def decided(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A line for each table and quantity: the mean gap with its interval, counts, p, and which of the two decides."""
    import pandas as pd

    lines = []
    for told, table in tables.items():
        for quantity, short in QUANTITIES.items():
            mean, (verdict, wins, losses, p) = gap(table, short), tree_better(table, short)
            lines.append(
                (
                    told,
                    quantity,
                    mean.value,
                    mean.low,
                    mean.high,
                    _word(mean.sign != 0),
                    wins,
                    losses,
                    p,
                    _word(verdict is not None),
                )
            )
    counts = ["C4.5 better", "SVM better", "p, sign test", "count decides"]
    return pd.DataFrame(lines, columns=["table", "quantity", "C4.5 less SVM", "low", "high", "mean decides", *counts])


def _word(yes: bool) -> str:
    return "yes" if yes else "no"


def table(tables: Mapping[str, pd.DataFrame]) -> Table:
    """The table of what is decided."""
    return Table("decided", "What averages and counts decide", decided(tables), _NOTE, digits=4)


def words(printed: pd.DataFrame) -> str:
    """What the paper's own averages and counts decide, from its whole table 3."""
    found = decided({"paper": printed})
    clear = found[found["mean decides"] == "yes"]["quantity"].tolist()
    unclear = found[found["mean decides"] == "no"]
    parts = [
        f"{quantity} {Interval(value, low, high).told('{:+.2f}' if 'accuracy' in quantity else '{:+.4f}')}"
        for quantity, value, low, high in unclear[["quantity", "C4.5 less SVM", "low", "high"]].itertuples(
            index=False, name=None
        )
    ]
    counted = found[found["count decides"] == "yes"]["quantity"].tolist()
    told = (
        f"**What the paper's averages decide.** Taken as a sample of {len(printed)} data sets, its own table 3 gives C4.5 less "
        "SVM "
    )
    told += f"intervals that hold 0 for {'; '.join(parts)}" if parts else "no interval that holds 0"
    told += f". Clear is the mean of {_listed(clear)}. " if clear else ". No mean is clear. "
    told += f"By the sign test the count of better sets is clear for {_listed(counted)}." if counted else "No count is clear."
    return f"{told} Where its own numbers leave open which learner is ahead, ours can agree with them and be open too."


def _listed(names: list[str]) -> str:
    """
    >>> _listed(["ELA", "RLA"]), _listed(["RLA"])
    ('ELA and RLA', 'RLA alone')
    """
    return " and ".join(names) if len(names) > 1 else f"{names[0]} alone"
