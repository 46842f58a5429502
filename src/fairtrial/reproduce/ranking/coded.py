"""Data sets as the kernels want them: each column as codes of its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError
from fairtrial.reproduce.ranking_kernels import Classes, CodedColumns

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset


@dataclass(frozen=True, eq=False)
class Coded:
    """Codes (columns x rows, -1 where missing), classes (1 is the rarer one, the positive), and what the codes mean."""

    name: str
    codes: IntArray
    classes: Classes
    columns: CodedColumns
    content_hash: str


def coded(name: str, dataset: Dataset) -> Coded:
    """A data set of two classes in codes.

    >>> from fairtrial.data import Dataset
    >>> table = {"size": [3.5, 1.5, None], "hue": ["red", "blue", "red"]}
    >>> found = coded("things", Dataset.of(__import__("pandas").DataFrame(table), ["a", "b", "a"]))
    >>> found.codes.tolist(), found.classes.tolist()
    ([[1, 0, -1], [1, 0, 1]], [0, 1, 0])
    """
    label = dataset.y
    counts = label.value_counts()
    present = counts[counts > 0]
    if len(present) != 2:
        raise InputError(f"a data set of ranking-real must have 2 classes, got {len(present)} in {name}")
    classes = (label == present.index[-1]).to_numpy().astype(np.uint8)
    found = [_column(column) for _, column in dataset.X.items()]
    codes, levels, nominal = zip(*found, strict=True)
    offsets = np.cumsum([0, *(len(each) for each in levels)])
    columns = CodedColumns(np.concatenate(levels), offsets, np.array(nominal, np.uint8))
    return Coded(name, np.array(codes), classes, columns, dataset.content_hash)


def _column(column: pd.Series[Any]) -> tuple[IntArray, FloatArray, bool]:
    if hasattr(column.dtype, "categories"):
        return column.cat.codes.to_numpy().astype(np.int64), np.arange(len(column.cat.categories), dtype=float), True
    values = column.to_numpy(np.float64)
    known = ~np.isnan(values)
    codes = np.full(len(values), -1)
    levels, codes[known] = np.unique(values[known], return_inverse=True)
    return codes, levels, False
