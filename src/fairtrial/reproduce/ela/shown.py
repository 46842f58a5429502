"""The tables of the page, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fairtrial.reproduce.ela import decided
from fairtrial.reproduce.ela.cells import ANY, LOGISTIC, STATED, as_printed
from fairtrial.reproduce.ela.tables import PAPER, TITLES, averages, best_counts, by_set, compared, disagreements, printed_tables
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

_NOISE = {STATED: "another class, as the text says", ANY: "any class"}
_BY_SET = (
    "Of each quantity: ours, the paper's, and ours less the paper's with an interval at 95 %. Intervals are those of our "
    "mean over splits, corrected for their overlap; the paper's number counts as fixed, though it has a sampling error of "
    "its own."
)
_AVERAGES = (
    "Means over data sets; the interval of the difference is Student's over them, and 'mean distance' forgets the sign. "
    "Noise: the new label of a chosen row is another class, as the paper's text says, or any class, so that some rows keep "
    "theirs."
)
_BEST = (
    "Ties count for C4.5. 'ours': noise as the paper's text says, machine with logistic models; 'votes': machine by votes; "
    "'any class': the new label of a chosen row may be its own."
)


def all_tables(stated: pd.DataFrame, any_class: pd.DataFrame, theirs: pd.DataFrame) -> tuple[Table, ...]:
    """Averages, 'best' counts, disagreements of ELA and RLA, then all numbers by data set, for both readings of the noise."""
    import pandas as pd

    both = {STATED: compared(stated, theirs), ANY: compared(any_class, theirs)}
    tables = printed_tables(stated, any_class, theirs)
    means = pd.concat([averages(each, _NOISE[noise]) for noise, each in both.items()], ignore_index=True)
    apart = disagreements(tables)
    found = [
        Table("averages", "Averages", means, _AVERAGES, digits=4),
        decided.table(_with_whole(tables, as_printed(theirs, LOGISTIC))),
        Table("best", "On how many sets each is best", best_counts(tables), _BEST),
    ]
    if len(apart):
        title = "Where ELA and RLA prefer another learner"
        found.append(
            Table("differently", title, apart, f"{_BEST} On all other sets both measures prefer the same in every table.")
        )
    for noise, each in both.items():
        for learner, title in TITLES.items():
            whole = f"{title}, noise to {_NOISE[noise]}: ours and the paper's"
            name = f"{learner}-{'stated' if noise == STATED else 'any'}"
            found.append(Table(f"table3-{name}", whole, by_set(each, learner), _BY_SET))
    numbers = pd.concat([each.assign(noise=_NOISE[noise]) for noise, each in both.items()], ignore_index=True)
    return (*found, Table("differences", "All numbers, differences and intervals", numbers, shown=False))


def _with_whole(tables: Mapping[str, pd.DataFrame], printed: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables, and the paper's once more with all its sets where we have only some."""
    return {**tables, **({f"{PAPER}, all {len(printed)} sets": printed} if len(printed) > len(tables[PAPER]) else {})}
