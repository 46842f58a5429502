"""Cylinder, read in other ways: the paper does not say which of its columns and rows it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.coded import Coded, coded
from fairtrial.reproduce.ranking.measure_words import MEASURES
from fairtrial.reproduce.ranking.real_tables import cells_beside, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

CYLINDER = "Cylinder"
IDENTIFIERS = ("timestamp", "cylinder_number", "customer", "job_number")
"""Columns of dates, names and running numbers."""


def cylinder_readings(dataset: Dataset) -> dict[str, Coded]:
    """The set in each of the other ways, by its words."""
    X, y = dataset.X, dataset.y
    complete = X.notna().all(axis=1)
    frames = {
        "without the columns of dates, names and running numbers": (X.drop(columns=list(IDENTIFIERS), errors="ignore"), y),
        "complete rows only": (X[complete].reset_index(drop=True), y[complete].reset_index(drop=True)),
        "a missing name as a value of its own": (X.apply(_with_missing), y),
    }
    return {words: coded(CYLINDER, _dataset(*frame)) for words, frame in frames.items()}


def _dataset(X: pd.DataFrame, y: pd.Series[str]) -> Dataset:
    from fairtrial.data import Dataset

    nominal = [name for name in X if hasattr(X[name].dtype, "categories")]
    return Dataset.from_table(X, y.astype(str), name=CYLINDER.lower(), nominal=nominal)


def _with_missing(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers stay as they are: no number can stand for a missing one."""
    if not hasattr(column.dtype, "categories") or not column.isna().any():
        return column
    return column.cat.add_categories(["?"]).fillna("?")


def cylinder_table(outcomes: Mapping[str, Sequence[Outcome]], sets: Mapping[str, Coded]) -> pd.DataFrame:
    """Ours and the published in brackets, of each reading and experiment."""
    import pandas as pd

    frames = []
    for words, own in outcomes.items():
        columns, rows = sets[words].codes.shape
        frame = shown(cells_beside(own), MEASURES).drop(columns="data set")
        for place, (name, value) in enumerate((("reading", words), ("rows", rows), ("columns", columns))):
            frame.insert(place, name, value)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def cylinder_words(outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """How near each reading comes to the published lines."""
    told = []
    for words, own in outcomes.items():
        cells = cells_beside(own)
        sauc = cells[cells["measure"] == "sauc"]
        told.append(f"{words}: {cells['within'].sum()} of {len(cells)} cells, sAUC in {sauc['within'].sum()} of {len(sauc)}")
    if not told:
        return []
    return [
        f"Cylinder in other ways, looked at afterwards; within sampling error of the published lines lie, {'; '.join(told)}."
    ]
