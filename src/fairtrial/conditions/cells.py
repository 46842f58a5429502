"""Cells of a table, read and written in its own type: a pandas frame, a NumPy matrix, or a list of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial._columns import Columns, read_columns
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Values = npt.NDArray[Any] | list[Any] | None


def read_table(X: Any) -> Columns:
    """Numbers as they are, nominal values as codes, what is missing as NaN; infinity is refused.

    Nominal are columns of category, text, boolean or mixed type. A list of rows and a matrix of objects hold each column in a
    type of its own: it is numeric when all its values are numbers.

    >>> read_table([[1, "red"], [2, "blue"], [None, "red"]]).values.tolist()
    [[1.0, 1.0], [2.0, 0.0], [nan, 1.0]]
    """
    table = read_columns(_as_typed_frame(X))
    if table.values.shape[1] == 0:
        raise InputError("X must have at least 1 column, got 0")
    endless = np.isinf(table.values)
    if endless.any():
        row, place = np.argwhere(endless)[0]
        raise InputError(f"X must hold finite numbers, got infinity in column {table.names[place]!r} at row {row}")
    return table


def column_places(X: Any, columns: Iterable[Any] | None, name: str = "columns") -> list[int]:
    """The places of columns that are named or numbered; of all when none are."""
    known = _column_names(X)
    if columns is None:
        return list(range(len(known)))
    if isinstance(columns, str):
        raise InputError(f"{name} must be a list of columns, got {columns!r}: write [{columns!r}]")
    places = [column_place(known, each, name) for each in columns]
    if not places:
        raise InputError(f"{name} must name at least 1 column, got none: leave it out for all columns")
    if len(set(places)) < len(places):
        raise InputError(f"{name} must name each column once, got {list(columns)}")
    return places


def place_of(X: Any, column: Any, name: str) -> int:
    """The place of one column that is named or numbered."""
    return column_place(_column_names(X), column, name)


def column_place(known: list[Any], column: Any, name: str) -> int:
    """The place of a column among the known ones: by its name, else by its number."""
    if column in known:
        return known.index(column)
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool) and -len(known) <= column < len(known):
        return int(column) % len(known)
    raise InputError(f"{name} must name columns of X, got {column!r}: {did_you_mean(column, known)}")


def values_of(X: Any, place: int) -> Any:
    """The values of a column as they are."""
    if _is_frame(X):
        return X.iloc[:, place].array
    return np.asarray(X)[:, place] if isinstance(X, np.ndarray) else _objects([row[place] for row in X])


def differs(old: Any, new: Any, rows: IntArray) -> npt.NDArray[np.bool_]:
    """In which of these rows two columns without missing values there are different."""
    before, after = (np.asarray(column[rows], dtype=object) for column in (old, new))
    return np.array([first != second for first, second in zip(before, after, strict=True)], dtype=bool)


def float_kind(column: Any) -> Any:
    """The type of floats that a column holds, float64 where it holds others."""
    kind = getattr(column, "dtype", None)
    numpy_kind = getattr(kind, "numpy_dtype", kind)
    return numpy_kind if isinstance(numpy_kind, np.dtype) and numpy_kind.kind == "f" else np.dtype(np.float64)


def written(X: Any, changes: Mapping[int, tuple[IntArray, Values]]) -> Any:
    """A copy of the table with other values in some cells: for each column the rows and their values; None makes them missing.

    Integers of a NumPy type have no missing value: the column of a frame becomes float64, and so does a whole matrix. Booleans
    and text of a NumPy type become objects.

    >>> written([[1, "a"], [2, "b"]], {1: (np.array([0]), ["z"])})
    [[1, 'z'], [2, 'b']]
    """
    changes = {place: change for place, change in changes.items() if len(change[0])}
    if _is_frame(X):
        return _written_frame(X, changes)
    return _written_matrix(X, changes) if isinstance(X, np.ndarray) else _written_rows(X, changes)


def put(column: Any, rows: IntArray, values: Values) -> Any:
    """A copy of a pandas or NumPy array with other values in these rows."""
    found = _room_for_missing(column) if values is None else _room_for(column, values)
    kind = found.dtype.kind if isinstance(found.dtype, np.dtype) else "O"
    if values is None:
        found[rows] = np.nan if kind in "fc" else None
        return found
    try:
        with np.errstate(over="raise"):
            found[rows] = np.asarray(values, dtype=found.dtype) if kind in "iufbSU" else values
    except (ValueError, TypeError, OverflowError, FloatingPointError):
        raise misfit(found.dtype, values) from None
    return found


def misfit(kind: Any, values: Any) -> InputError:
    """What to say where a type cannot hold new values."""
    return InputError(f"new values must fit the type {kind} of the old ones, got {values!r}: convert the data first")


def _room_for_missing(column: Any) -> Any:
    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else "extension"
    return column.astype({"i": np.float64, "u": np.float64, "b": object, "U": object, "S": object}.get(kind, column.dtype))


def _room_for(column: Any, values: Any) -> Any:
    """Text of a fixed width must not be cut off."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "US":
        return column.astype(np.promote_types(column.dtype, np.asarray(values).dtype))
    return column.copy()


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc")


def _column_names(X: Any) -> list[Any]:
    if _is_frame(X):
        return list(X.columns)
    return list(range(_checked(X).shape[1] if isinstance(X, np.ndarray) else len(_checked(X)[0])))


def _checked(X: Any) -> Any:
    """A frame, a matrix or a list of rows of one length."""
    if _is_frame(X):
        return X
    if isinstance(X, np.ma.MaskedArray) or not isinstance(X, (np.ndarray, list, tuple)):
        remedy = ": pass X.to_pandas()" if hasattr(X, "to_pandas") else ": pass X.toarray()" if hasattr(X, "toarray") else ""
        raise InputError(f"X must be a pandas frame, a NumPy matrix or a list of rows, got {type(X).__name__}{remedy}")
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise InputError(f"X must be a table of two dimensions, got shape {X.shape}: reshape with X.reshape(-1, 1)")
    elif not all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == len(X[0]) for row in X):
        raise InputError("X must be a list of rows of one length")
    return X


def _as_typed_frame(X: Any) -> pd.DataFrame:
    import pandas as pd

    X = _checked(X)
    if _is_frame(X) or (isinstance(X, np.ndarray) and X.dtype != object):
        return pd.DataFrame(X)
    return pd.DataFrame({place: _typed(values_of(X, place)) for place in range(len(_column_names(X)))})


def _typed(values: npt.NDArray[Any]) -> pd.Series[Any]:
    import pandas as pd

    column = pd.Series(values, dtype=object)
    present = column.dropna()
    numeric = all(isinstance(each, Real) and not isinstance(each, (bool, np.bool_)) for each in present)
    return column.astype(np.float64) if numeric else column


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _written_frame(X: pd.DataFrame, changes: Mapping[int, tuple[IntArray, Values]]) -> pd.DataFrame:
    frame = X.copy(deep=False)
    for place, (rows, values) in changes.items():
        column = X.iloc[:, place]
        kept = column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbcOSU" else column.array
        frame.isetitem(place, put(kept, rows, values))
    return frame


def _written_matrix(X: npt.NDArray[Any], changes: Mapping[int, tuple[IntArray, Values]]) -> npt.NDArray[Any]:
    found = X.copy()
    for place, (rows, values) in changes.items():
        column = put(found[:, place], rows, values)
        found = found if found.dtype == column.dtype else found.astype(column.dtype)
        found[:, place] = column
    return found


def _written_rows(X: Any, changes: Mapping[int, tuple[IntArray, Values]]) -> Any:
    table = [list(row) for row in X]
    for place, (rows, values) in changes.items():
        for i, row in enumerate(rows):
            table[row][place] = None if values is None else _like(table[row][place], values[i])
    return type(X)(row if isinstance(old, list) else type(old)(row) for old, row in zip(X, table, strict=True))


def _like(old: Any, new: Any) -> Any:
    """A Python value, whole where the old one was."""
    new = new.item() if isinstance(new, np.generic) else new
    whole = isinstance(new, float) and new.is_integer()
    return int(new) if whole and isinstance(old, int) and not isinstance(old, bool) else new
