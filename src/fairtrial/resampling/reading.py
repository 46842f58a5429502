"""Splits from a table: which rows each fold tests, as `Splits.frame()` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits


def read_splits(table: Any, n_rows: int) -> Splits:
    """Splits from a CSV file or a frame with the columns row and fold, perhaps repeat: the rows that each fold tests.

    Rows count from 0. All other rows train.

    >>> import pandas as pd
    >>> print(read_splits(pd.DataFrame({"fold": [0, 0, 1], "row": [0, 1, 2]}), 3))
    given: 2 splits of 3 rows, test parts of 1 to 2
    """
    frame, told = _frame(table)
    for name in ("row", "fold"):
        if name not in frame:
            raise InputError(f"{told} must have the column {name!r}, got {list(map(str, frame.columns))}")
    columns = {name: _whole(told, name, frame[name]) for name in ("repeat", "fold", "row") if name in frame}
    rows, fold = columns["row"], columns["fold"]
    if rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(f"{told} must hold rows from 0 to {n_rows - 1}, got {rows.min()} to {rows.max()}: rows count from 0")
    repeat = columns.get("repeat", np.zeros_like(rows))
    places = np.unique(np.column_stack([repeat, fold]), axis=0)
    parts = []
    for one, other in places:
        test = np.sort(rows[(repeat == one) & (fold == other)])
        trains = np.ones(n_rows, dtype=bool)
        trains[test] = False
        parts.append(Split(np.flatnonzero(trains), test, int(one), int(other)))
    return Splits.of(parts, n_rows)


def _frame(table: Any) -> tuple[Any, str]:
    import pandas as pd

    if not isinstance(table, (str, Path)):
        return table, "splits"
    if not Path(table).is_file():
        raise InputError(f"splits must be a file that exists, got {str(table)!r}: check the path")
    try:
        return pd.read_csv(table), f"splits file {str(table)!r}"
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"splits file {str(table)!r} must be a CSV table: {error}") from None


def _whole(told: str, name: str, values: Any) -> Any:
    array = np.asarray(values)
    if len(array) == 0:
        raise InputError(f"{told} must hold at least 1 row, got 0")
    if array.dtype.kind not in "iu":
        line = next((place for place, each in enumerate(array.tolist()) if not _is_whole(each)), 0)
        raise InputError(f"{told} must hold whole numbers in the column {name!r}, got {array[line]!r} in row {line + 1}")
    return array.astype(np.intp)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer()) or str(value).lstrip("-").isdigit()
