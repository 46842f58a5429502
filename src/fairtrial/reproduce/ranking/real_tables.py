"""Our error rates beside those of Table 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.beside import beside
from fairtrial.reproduce.published import published
from fairtrial.reproduce.ranking.cells import Outcome, Reading
from fairtrial.reproduce.ranking.error_intervals import as_rate, difference_limits, over_cells, wilson_limits
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENTS = {
    1: "#1: classes of the data set",
    2: "#2: classes of training sets",
    3: "#3: attributes of the data set",
    4: "#4: attributes of training sets",
}
_KEYS = ["experiment", "dataset", "measure"]


def table1() -> pd.DataFrame:
    """The published error rates in percent, a line for each experiment, data set and measure.

    >>> len(table1())
    240
    """
    frame = published("berrar_table1")
    return frame.melt(["experiment", "dataset"], list(MEASURES), var_name="measure", value_name="value")


def cells_beside(outcomes: Sequence[Outcome], *, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Ours beside the published, in percent, with the interval of ours and that of the difference, and whether it holds 0.

    `within` is missing where there is nothing to compare.
    """
    ours = _long(outcomes, measures)
    theirs = table1()
    theirs = theirs[theirs["dataset"].isin(set(ours["dataset"]))]
    found = beside(ours, theirs, _KEYS, interval=False)
    found = found.merge(ours[[*_KEYS, "repeats", "lowest", "highest"]], on=_KEYS, how="inner")
    limits = [difference_limits(*line) for line in zip(found["ours"], found["published"], found["repeats"], strict=True)]
    found["low"], found["high"] = np.array(limits).reshape(-1, 2).T
    within = (found["low"] <= 0) & (found["high"] >= 0)
    found["within"] = within.astype("boolean").where(found["low"].notna())
    return found


def _long(outcomes: Sequence[Outcome], measures: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    lines = []
    for each in outcomes:
        for measure, rate, repeats in zip(measures, each.rates, each.defined, strict=True):
            low, high = wilson_limits(100 * rate, repeats)
            lines.append((each.experiment, each.dataset, measure, 100 * rate, repeats, low, high))
    return pd.DataFrame(lines, columns=[*_KEYS, "value", "repeats", "lowest", "highest"])


def shown(cells: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Table 1: ours, and the published in brackets; a star where they differ by more than sampling."""
    import pandas as pd

    lines: dict[tuple[int, str], dict[str, str]] = {}
    columns = [cells[name] for name in (*_KEYS, "ours", "published", "within")]
    for experiment, dataset, measure, *numbers in zip(*columns, strict=True):
        lines.setdefault((experiment, dataset), {})[WORDS.get(measure, measure)] = _cell(*numbers)
    told = [{"experiment": f"#{experiment}", "data set": name, **own} for (experiment, name), own in lines.items()]
    return pd.DataFrame(told, columns=["experiment", "data set", *(WORDS.get(each, each) for each in measures)])


def _cell(ours: float, theirs: float, within: bool) -> str:
    if math.isnan(ours):
        return "undefined"
    if math.isnan(theirs):
        return f"{ours:.2f}"
    return f"{ours:.2f} ({theirs:.2f}){'' if within else ' *'}"


def differing(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells that differ by more than sampling."""
    own = cells[~cells["within"].fillna(True)]
    kept = own[[*_KEYS, "ours", "published", "difference", "low", "high"]].reset_index(drop=True)
    return kept.assign(measure=kept["measure"].map(WORDS), experiment="#" + kept["experiment"].astype(str))


def mean_errors(outcomes: Sequence[Outcome], *, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Mean error over the data sets of each experiment and measure, in percent, with 95 % limits over repeats."""
    import pandas as pd

    theirs = table1()
    lines = []
    for experiment, words in EXPERIMENTS.items():
        own = [each for each in outcomes if each.experiment == experiment]
        same = theirs[(theirs["experiment"] == experiment) & theirs["dataset"].isin([each.dataset for each in own])]
        for place, measure in enumerate(measures):
            mean = as_rate(over_cells([each.errors[:, place] for each in own]))
            printed = float(same.loc[same["measure"] == measure, "value"].mean())
            lines.append((words, measure, mean.value, mean.low, mean.high, printed))
    return pd.DataFrame(lines, columns=["experiment", "measure", "value", "low", "high", "published"])


def readings_table(by_reading: Mapping[Reading, Sequence[Outcome]]) -> pd.DataFrame:
    """How many cells of each reading lie within sampling error of the paper."""
    import pandas as pd

    lines = []
    for reading, outcomes in by_reading.items():
        cells = cells_beside(outcomes)
        cells = cells[cells["published"].notna()]
        gaps = cells["difference"].abs()
        lines.append((reading.words, int(cells["within"].sum()), len(cells), gaps.mean(), gaps.max()))
    return pd.DataFrame(lines, columns=["reading", "within", "of", "mean distance", "largest distance"])
