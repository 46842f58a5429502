"""Table 5 of the paper beside ours: Wilcoxon's test of DOB-SCV against SCV."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.cells import differences, predicted
from fairtrial.reproduce.dobscv.effects import ALL_SETS
from fairtrial.reproduce.dobscv.tables import laid, ran
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

_NOTE = (
    "R+ sums the ranks of sets on which DOB-SCV is higher. Zero differences are ranked and split, one of an odd number "
    "dropped: the published sums, 65 x 66 / 2 or 66 x 67 / 2, show that the paper did so. R+ and R- are means over runs, with "
    "the interval of one run like ours less the published number; p (normal approximation) is the median over runs. The sets "
    "are not independent, most were cut from the same few: all p are likely too small."
)


def ranked_runs(cells: pd.DataFrame) -> pd.DataFrame:
    """A line for each learner, comparison and run: R+, R-, p, and on how many sets DOB-SCV is higher and lower."""
    import pandas as pd

    pairs = [(scheme, base) for scheme in (LITERAL, SHUFFLED) for base in (GIVEN, SCV)]
    lines = [
        (learner, comparison_of(scheme, base), run, *signed_ranks(own["value"]))
        for scheme, base in pairs
        if ran(cells, scheme) and ran(cells, base)
        for (learner, run), own in differences(cells, scheme, base).groupby(["learner", "run"], sort=False)
    ]
    return pd.DataFrame(lines, columns=["learner", "comparison", "run", "R+", "R-", "p", "higher", "lower"])


def comparison_of(scheme: str, base: str) -> str:
    """What a comparison is called."""
    return f"{scheme} against {base}"


def signed_ranks(values: Any) -> tuple[float, float, float, int, int]:
    """R+, R- and p as in the paper, and on how many sets the difference is above and below zero.

    >>> signed_ranks(np.array([0.3, 0.1, -0.2]))[:2]
    (4.0, 2.0)
    """
    from fairtrial.significance import wilcoxon

    values = np.asarray(values)
    found = wilcoxon(values, np.zeros(len(values)), zeros="split", method="approximate", correction=False)
    return found.details["R+"], found.details["R-"], found.p_value, int((values > 0).sum()), int((values < 0).sum())


def table5(tests: pd.DataFrame, cells: pd.DataFrame) -> Table:
    """The tests beside the published ones."""
    import pandas as pd

    keys = ["comparison", "learner", "quantity"]
    sums = predicted(tests.melt(keys[:2], ["R+", "R-"], "quantity"), keys)
    chances = tests.groupby(keys[:2], sort=False)["p"].median().reset_index().rename(columns={"p": "value"})
    ours = pd.concat([sums, chances.assign(quantity="p", low=np.nan, high=np.nan)], ignore_index=True)
    theirs = published("dobscv_table5_wilcoxon").rename(columns={"r_plus": "R+", "r_minus": "R-", "p_value": "p"})
    theirs = theirs.melt("learner", ["R+", "R-", "p"], "quantity")
    theirs = pd.concat([theirs.assign(comparison=each) for each in tests["comparison"].unique()])
    frame = laid(ours, theirs, keys, cells["dataset"].nunique() == ALL_SETS)
    return Table("table-5", "Table 5: Wilcoxon's signed-rank test", frame, _NOTE, digits=4)
