"""Read and replace cells of pandas frames, NumPy matrices and lists of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial._frames import EncodedTable, read_columns
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Values = npt.NDArray[Any] | list[Any] | None


def read_table(X: Any) -> EncodedTable:
    """Encode a table as numbers.

    Nominal values become codes, and missing values become NaN. Infinite numbers raise an error.

    Columns of category, text, boolean or mixed type are nominal. In a list of rows or an object matrix, a column is numeric if
    all its non-missing values are numbers.

    >>> read_table([[1, "red"], [2, "blue"], [None, "red"]]).values.tolist()
    [[1.0, 1.0], [2.0, 0.0], [nan, 1.0]]
    """
    table = read_columns(_as_typed_frame(X))
    if table.values.shape[1] == 0:
        raise InputError("X must have at least 1 column, got 0")
    infinite = np.isinf(table.values)
    if infinite.any():
        row, index = np.argwhere(infinite)[0]
        raise InputError(f"X must contain finite numbers, got infinity in column {table.names[index]!r} at row {row}")
    return table


def find_column_indices(X: Any, columns: Iterable[Any] | None, name: str = "columns") -> list[int]:
    """Find the indices of columns that are given by name or index.

    If `columns` is None, the indices of all columns are returned.
    """
    column_names = _get_column_names(X)
    if columns is None:
        return list(range(len(column_names)))
    if isinstance(columns, str):
        raise InputError(f"{name} must be a list of columns, got {columns!r}: pass [{columns!r}]")
    indices = [match_column(column_names, column, name) for column in columns]
    if not indices:
        raise InputError(f"{name} must name at least 1 column, got none: omit {name} to select all columns")
    if len(set(indices)) < len(indices):
        raise InputError(f"{name} must name each column once, got {list(columns)}")
    return indices


def find_column_index(X: Any, column: Any, name: str) -> int:
    """Find the index of a column that is given by name or index."""
    return match_column(_get_column_names(X), column, name)


def match_column(column_names: list[Any], column: Any, name: str) -> int:
    """Find the index of a column that is given by its name or, if no name matches, by its index."""
    if column in column_names:
        return column_names.index(column)
    if (
        isinstance(column, (int, np.integer))
        and not isinstance(column, bool)
        and -len(column_names) <= column < len(column_names)
    ):
        return int(column) % len(column_names)
    raise InputError(f"{name} must name columns of X, got {column!r}: {suggest_name(column, column_names)}")


def get_values(X: Any, index: int) -> Any:
    """Return the values of a column in their original type."""
    if _is_frame(X):
        return X.iloc[:, index].array
    return np.asarray(X)[:, index] if isinstance(X, np.ndarray) else _to_object_array([row[index] for row in X])


def compare_values(old: Any, new: Any, rows: IntArray) -> npt.NDArray[np.bool_]:
    """Mark the given rows in which two columns differ.

    Neither column may have missing values in these rows.
    """
    before, after = (np.asarray(column[rows], dtype=object) for column in (old, new))
    return np.array([first != second for first, second in zip(before, after, strict=True)], dtype=bool)


def get_float_type(column: Any) -> Any:
    """Return the float type of a column, or float64 if the column is not of a float type."""
    kind = getattr(column, "dtype", None)
    numpy_kind = getattr(kind, "numpy_dtype", kind)
    return numpy_kind if isinstance(numpy_kind, np.dtype) and numpy_kind.kind == "f" else np.dtype(np.float64)


def replace_cells(X: Any, changes: Mapping[int, tuple[IntArray, Values]]) -> Any:
    """Copy a table and replace some of its cells.

    `changes` maps each column index to rows and their new values. If the new values are None, the cells become missing.

    NumPy integers, booleans and strings cannot be missing. If such values become missing, the column of a frame or the whole
    matrix is converted: integers to float64, booleans and strings to objects.

    >>> replace_cells([[1, "a"], [2, "b"]], {1: (np.array([0]), ["z"])})
    [[1, 'z'], [2, 'b']]
    """
    changes = {index: change for index, change in changes.items() if len(change[0])}
    if _is_frame(X):
        return _replace_in_frame(X, changes)
    return _replace_in_matrix(X, changes) if isinstance(X, np.ndarray) else _replace_in_rows(X, changes)


def replace_values(column: Any, rows: IntArray, values: Values) -> Any:
    """Copy a pandas or NumPy array and replace the values in the given rows."""
    new_column = _cast_for_missing(column) if values is None else _cast_for_values(column, values)
    kind = new_column.dtype.kind if isinstance(new_column.dtype, np.dtype) else "O"
    if values is None:
        new_column[rows] = np.nan if kind in "fc" else None
        return new_column
    try:
        with np.errstate(over="raise"):
            new_column[rows] = np.asarray(values, dtype=new_column.dtype) if kind in "iufbSU" else values
    except (ValueError, TypeError, OverflowError, FloatingPointError):
        raise make_misfit_error(new_column.dtype, values) from None
    return new_column


def make_misfit_error(kind: Any, values: Any) -> InputError:
    """Build the error for new values that a type cannot represent."""
    return InputError(f"new values must fit the type {kind} of the old ones, got {values!r}: convert the data first")


def _cast_for_missing(column: Any) -> Any:
    kind = column.dtype.kind if isinstance(column.dtype, np.dtype) else "extension"
    return column.astype({"i": np.float64, "u": np.float64, "b": object, "U": object, "S": object}.get(kind, column.dtype))


def _cast_for_values(column: Any, values: Any) -> Any:
    """Copy a column. Widen a column of fixed-width strings if the new values are longer."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "US":
        return column.astype(np.promote_types(column.dtype, np.asarray(values).dtype))
    return column.copy()


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc")


def _get_column_names(X: Any) -> list[Any]:
    if _is_frame(X):
        return list(X.columns)
    return list(range(_check_table(X).shape[1] if isinstance(X, np.ndarray) else len(_check_table(X)[0])))


def _check_table(X: Any) -> Any:
    """Check that X is a frame, a matrix or a list of rows of equal length."""
    if _is_frame(X):
        return X
    if isinstance(X, np.ma.MaskedArray) or not isinstance(X, (np.ndarray, list, tuple)):
        remedy = ": pass X.to_pandas()" if hasattr(X, "to_pandas") else ": pass X.toarray()" if hasattr(X, "toarray") else ""
        raise InputError(f"X must be a pandas frame, a NumPy matrix or a list of rows, got {type(X).__name__}{remedy}")
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise InputError(f"X must have 2 dimensions, got shape {X.shape}: pass X.reshape(-1, 1) for one column")
    elif not all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == len(X[0]) for row in X):
        raise InputError("X must be a list of rows of equal length")
    return X


def _as_typed_frame(X: Any) -> pd.DataFrame:
    import pandas as pd

    X = _check_table(X)
    if _is_frame(X) or (isinstance(X, np.ndarray) and X.dtype != object):
        return pd.DataFrame(X)
    return pd.DataFrame({index: _infer_column(get_values(X, index)) for index in range(len(_get_column_names(X)))})


def _infer_column(values: npt.NDArray[Any]) -> pd.Series[Any]:
    import pandas as pd

    column = pd.Series(values, dtype=object)
    present = column.dropna()
    numeric = all(isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) for value in present)
    return column.astype(np.float64) if numeric else column


def _to_object_array(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _replace_in_frame(X: pd.DataFrame, changes: Mapping[int, tuple[IntArray, Values]]) -> pd.DataFrame:
    frame = X.copy(deep=False)
    for index, (rows, values) in changes.items():
        column = X.iloc[:, index]
        array = column.to_numpy() if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbcOSU" else column.array
        frame.isetitem(index, replace_values(array, rows, values))
    return frame


def _replace_in_matrix(X: npt.NDArray[Any], changes: Mapping[int, tuple[IntArray, Values]]) -> npt.NDArray[Any]:
    matrix = X.copy()
    for index, (rows, values) in changes.items():
        column = replace_values(matrix[:, index], rows, values)
        matrix = matrix if matrix.dtype == column.dtype else matrix.astype(column.dtype)
        matrix[:, index] = column
    return matrix


def _replace_in_rows(X: Any, changes: Mapping[int, tuple[IntArray, Values]]) -> Any:
    table = [list(row) for row in X]
    for index, (rows, values) in changes.items():
        for i, row in enumerate(rows):
            table[row][index] = None if values is None else _cast_like(table[row][index], values[i])
    return type(X)(row if isinstance(old, list) else type(old)(row) for old, row in zip(X, table, strict=True))


def _cast_like(old: Any, new: Any) -> Any:
    """Convert a new value to a Python value.

    A whole number becomes an integer if the old value was an integer.
    """
    new = new.item() if isinstance(new, np.generic) else new
    whole = isinstance(new, float) and new.is_integer()
    return int(new) if whole and isinstance(old, int) and not isinstance(old, bool) else new
