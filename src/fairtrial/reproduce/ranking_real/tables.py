"""Our error rates compared with Table 1 of the paper."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.reproduce.experiment import ResultTable, compare_with_published, read_published
from fairtrial.reproduce.ranking_errors import (
    DISPLAY_NAMES,
    MEASURES,
    compute_difference_limits,
    compute_percent_limits,
    index_measure,
)
from fairtrial.reproduce.ranking_real.cells import CellResult, Interpretation, estimate_over_cells
from fairtrial.reproduce.ranking_real.datasets import EncodedDataset

if TYPE_CHECKING:
    import pandas as pd

EXPERIMENT_TITLES = {
    1: "#1: classes of the data set",
    2: "#2: classes of training sets",
    3: "#3: attributes of the data set",
    4: "#4: attributes of training sets",
}
_KEYS = ["experiment", "dataset", "measure"]
_TABLE1_NOTE = (
    "A star marks a cell that differs from the paper by more than sampling error. For such a cell, Newcombe's 95 % interval of "
    "the difference between the two proportions of repeats does not contain 0."
)
_DIFFERING_NOTE = (
    "`low` and `high` are the 95 % confidence limits of the difference. Even if both experiments were the same, about one in "
    "twenty cells would differ by chance. If the rates are near 0, fewer cells would differ."
)
_CLEAN_NOTE = "The table shows the mean cross-validated AUC of naive Bayes on the original data, and the error rates in %."
_INTERPRETATIONS_NOTE = (
    "`within` counts the cells that agree with the paper within sampling error. Distances between error rates are in "
    "percentage points. The first row is the interpretation that we chose. We examined the other interpretations after seeing "
    "the results, so the best of them is only weak evidence of what the paper did."
)
_CYLINDER_NOTE = (
    "The table shows error rates in %, with published rates in brackets. A star marks a cell that differs from the paper by "
    "more than sampling error. All other settings are those of Table 1. Missing numeric values are not imputed."
)


def build_tables(
    cells: pd.DataFrame,
    clean: Sequence[CellResult],
    means: pd.DataFrame,
    interpretations: pd.DataFrame,
    measures: Sequence[str],
) -> list[ResultTable]:
    """Build all tables of the page except the table of Cylinder variants."""
    differing = list_differing_cells(cells)
    differing_title = "Cells that differ by more than sampling error"
    names = [DISPLAY_NAMES.get(measure, measure) for measure in means["measure"]]
    interpretations_title = "Other interpretations of what the paper does not specify"
    return [
        ResultTable(
            "table1",
            "Table 1: error rates in %, published ones in brackets",
            format_cells(cells, measures),
            _TABLE1_NOTE,
            is_main=True,
        ),
        *([ResultTable("differing", differing_title, differing, _DIFFERING_NOTE, digits=2)] if len(differing) else []),
        ResultTable("means", "Mean error rates over the data sets, in %", means.assign(measure=names), digits=2),
        ResultTable("clean", "Without noise", _tabulate_clean(clean, measures), _CLEAN_NOTE, digits=3),
        *(
            [ResultTable("readings", interpretations_title, interpretations, _INTERPRETATIONS_NOTE, digits=2)]
            if len(interpretations) > 1
            else []
        ),
        ResultTable("cells", "All cells", cells, on_page=False),
    ]


def _tabulate_clean(clean: Sequence[CellResult], measures: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {"data set": cell.dataset, "mean AUC": cell.values[index_measure("auc")]}
        | {f"error {DISPLAY_NAMES.get(name, name)}": 100 * rate for name, rate in zip(measures, cell.rates, strict=True)}
        for cell in clean
    ]
    return pd.DataFrame(rows)


def read_table1() -> pd.DataFrame:
    """Read the published error rates, with one row per experiment, data set and measure.

    >>> len(read_table1())
    240
    """
    frame = read_published("berrar_table1")
    return frame.melt(["experiment", "dataset"], list(MEASURES), var_name="measure", value_name="value")


def compare_cells(results: Sequence[CellResult], *, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Compare error rates in percent with the published ones.

    `lowest` and `highest` are the confidence limits of our rate, and `low` and `high` are those of the difference. `within` is
    True if the interval of the difference contains 0, and missing if there is no published value.
    """
    import pandas as pd

    rows = []
    for cell in results:
        for measure, rate, repeats in zip(measures, cell.rates, cell.n_defined, strict=True):
            limits = compute_percent_limits(100 * rate, repeats)
            rows.append((cell.experiment, cell.dataset, measure, 100 * rate, repeats, *limits))
    ours = pd.DataFrame(rows, columns=[*_KEYS, "value", "repeats", "lowest", "highest"])
    published = read_table1()
    published = published[published["dataset"].isin(set(ours["dataset"]))]
    cells = compare_with_published(ours, published, _KEYS, interval=False)
    cells = cells.merge(ours[[*_KEYS, "repeats", "lowest", "highest"]], on=_KEYS, how="inner")
    columns = (cells["ours"], cells["published"], cells["repeats"])
    differences = [compute_difference_limits(*row) for row in zip(*columns, strict=True)]
    cells["low"], cells["high"] = np.array(differences).reshape(-1, 2).T
    within = (cells["low"] <= 0) & (cells["high"] >= 0)
    cells["within"] = within.astype("boolean").where(cells["low"].notna())
    return cells


def format_cells(cells: pd.DataFrame, measures: Sequence[str]) -> pd.DataFrame:
    """Format Table 1: our rates, and the published rates in brackets.

    A star marks a difference beyond sampling error.
    """
    import pandas as pd

    rows: dict[tuple[int, str], dict[str, str]] = {}
    columns = [cells[name] for name in (*_KEYS, "ours", "published", "within")]
    for experiment, dataset, measure, *numbers in zip(*columns, strict=True):
        rows.setdefault((experiment, dataset), {})[DISPLAY_NAMES.get(measure, measure)] = _format_cell(*numbers)
    named = [{"experiment": f"#{experiment}", "data set": name, **row} for (experiment, name), row in rows.items()]
    return pd.DataFrame(named, columns=["experiment", "data set", *(DISPLAY_NAMES.get(name, name) for name in measures)])


def _format_cell(ours: float, published: float, within: bool) -> str:
    if math.isnan(ours):
        return "undefined"
    if math.isnan(published):
        return f"{ours:.2f}"
    return f"{ours:.2f} ({published:.2f}){'' if within else ' *'}"


def list_differing_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """List the cells that differ by more than sampling error."""
    differing = cells[~cells["within"].fillna(True)]
    table = differing[[*_KEYS, "ours", "published", "difference", "low", "high"]].reset_index(drop=True)
    return table.assign(measure=table["measure"].map(DISPLAY_NAMES), experiment="#" + table["experiment"].astype(str))


def compute_mean_errors(results: Sequence[CellResult], *, measures: Sequence[str] = MEASURES) -> pd.DataFrame:
    """Compute the mean errors over data sets in percent, by experiment and measure."""
    import pandas as pd

    published = read_table1()
    rows = []
    for experiment, title in EXPERIMENT_TITLES.items():
        cells = [cell for cell in results if cell.experiment == experiment]
        is_same = (published["experiment"] == experiment) & published["dataset"].isin([cell.dataset for cell in cells])
        for column, measure in enumerate(measures):
            mean = estimate_over_cells([cell.errors[:, column] for cell in cells])
            low, high = np.clip([mean.low, mean.high], 0.0, 100.0)
            published_mean = float(published.loc[is_same & (published["measure"] == measure), "value"].mean())
            rows.append((title, measure, mean.value, low, high, published_mean))
    return pd.DataFrame(rows, columns=["experiment", "measure", "value", "low", "high", "published"])


def compare_interpretations(results: Mapping[Interpretation, Sequence[CellResult]]) -> pd.DataFrame:
    """Count for each interpretation the cells that agree with the paper within sampling error."""
    import pandas as pd

    rows = []
    for interpretation, own_results in results.items():
        cells = compare_cells(own_results)
        cells = cells[cells["published"].notna()]
        distances = cells["difference"].abs()
        counts = (int(cells["within"].sum()), len(cells))
        rows.append((interpretation.description, *counts, distances.mean(), distances.max()))
    return pd.DataFrame(rows, columns=["interpretation", "within", "cells", "mean distance", "largest distance"])


def build_cylinder_table(results: Mapping[str, Sequence[CellResult]], datasets: Mapping[str, EncodedDataset]) -> ResultTable:
    """Build the table of the variants of Cylinder.

    The keys of both mappings are descriptions of the variants.
    """
    import pandas as pd

    frames = []
    for variant, own_results in results.items():
        n_columns, n_rows = datasets[variant].codes.shape
        frame = format_cells(compare_cells(own_results), MEASURES).drop(columns="data set")
        for position, (name, value) in enumerate((("variant", variant), ("rows", n_rows), ("columns", n_columns))):
            frame.insert(position, name, value)
        frames.append(frame)
    table = pd.concat(frames, ignore_index=True)
    return ResultTable("cylinder", "Cylinder with other columns and rows", table, _CYLINDER_NOTE)
