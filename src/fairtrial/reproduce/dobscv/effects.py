"""What DOB-SCV changes, set by set, and its mean with an interval over data sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.dobscv.cells import DIGITS
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.interval import Interval
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

ALL_SETS = 66
_NOTE = (
    "The estimate of a scheme less that of the stratified folds beside it: the mean over sets of the mean over runs, with "
    "Student's interval at 95 % over families of sets (those cut from one original count together); `higher` and `lower` count "
    "sets. KEEL's folds are a single draw for all learners; our own are drawn anew in every run. "
    "The published differences are those of the averages of Table 3, given where all sets ran."
)


def bases(cells: pd.DataFrame) -> list[str]:
    """The stratified schemes that ran, KEEL's folds first: DOB-SCV is held against each."""
    return [scheme for scheme in (GIVEN, SCV) if (cells["scheme"] == scheme).any()]


def by_sets(cells: pd.DataFrame, scheme: str, column: str = "auc") -> pd.DataFrame:
    """Sets by learners: means over runs."""
    own = cells[cells["scheme"] == scheme]
    return own.pivot_table(index="dataset", columns="learner", values=column, sort=False)


def set_differences(cells: pd.DataFrame, scheme: str, base: str, column: str = "auc") -> pd.DataFrame:
    """Sets by learners: means over runs of a scheme less those of the base; sets that both have."""
    own = by_sets(cells, scheme, column)
    other = by_sets(cells, base, column).reindex(index=own.index, columns=own.columns)
    return (own - other).round(DIGITS).dropna(how="all")


def mean_effects(frame: pd.DataFrame) -> dict[str, Interval]:
    """For each learner: the mean over sets with its interval; sets that were cut from one are not independent.

    >>> import pandas as pd
    >>> mean_effects(pd.DataFrame({"SMO": [0.1, 0.2, 0.4]}))["SMO"].told()
    '+0.2333 (-0.1461 to +0.6128)'
    """
    return {str(learner): family_interval(own.dropna()) for learner, own in frame.items()}


def family_interval(values: pd.Series[float]) -> Interval:
    """The mean of numbers by data set, with Student's interval over families: those of one name before the first digit.

    Each family counts with the sum of what its sets differ from the mean; where all are of their own it is the usual interval.

    >>> import pandas as pd
    >>> family_interval(pd.Series([0.1, 0.1, 0.4, 0.4], index=["Ecoli1", "Ecoli2", "Glass1", "Glass2"])).told("{:.2f}")
    '0.25 (-1.66 to 2.16)'
    """
    from scipy.stats import t

    mean, n = float(values.mean()) if len(values) else float("nan"), len(values)
    moves = (values - mean).groupby([family(str(name)) for name in values.index]).sum()
    count = len(moves)
    if count < 2:
        return Interval(mean, float("nan"), float("nan"))
    half = float(t.ppf(0.975, count - 1) * np.sqrt(count / (count - 1) * (moves**2).sum()) / n)
    return Interval(mean, mean - half, mean + half, count - 1)


def family(name: str) -> str:
    """The set that a data set was cut from, by its name.

    >>> family("Ecoli0146vs5"), family("Page-blocks0"), family("Pima")
    ('Ecoli', 'Page-blocks', 'Pima')
    """
    return re.split(r"\d", name, maxsplit=1)[0] or name


def told_of(effects: dict[str, Interval], form: str = "{:+.4f}") -> str:
    """The numbers of all learners with their intervals."""
    return ", ".join(f"{learner} {each.told(form)}" for learner, each in effects.items())


def effects_table(cells: pd.DataFrame) -> Table:
    """Both kinds of DOB-SCV against all stratified folds, for each learner."""
    import pandas as pd

    printed = published("dobscv_table3").query("group == 'all'").set_index("learner")
    theirs = printed["auc_dobscv"] - printed["auc_scv"]
    whole = cells["dataset"].nunique() == ALL_SETS
    lines = []
    for scheme in (each for each in (LITERAL, SHUFFLED) if (cells["scheme"] == each).any()):
        for base in bases(cells):
            found = set_differences(cells, scheme, base)
            for learner, each in mean_effects(found).items():
                own = found[learner].dropna()
                counts = (len(own), int((own > 0).sum()), int((own < 0).sum()))
                beside = float(theirs.get(learner, float("nan"))) if whole else float("nan")
                lines.append((learner, scheme, base, each.value, each.low, each.high, beside, *counts))
    names = ["learner", "scheme", "less", "difference", "low", "high", "published", "sets", "higher", "lower"]
    title = "What DOB-SCV adds to the average AUC, with intervals over sets"
    return Table("effects", title, pd.DataFrame(lines, columns=names), _NOTE, digits=4)
