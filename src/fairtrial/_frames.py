"""Encode a table of typed columns as a matrix. Nominal values become codes, and missing values become NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

BoolArray = npt.NDArray[np.bool_]
MemoryOrder = Literal["C", "F"]


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """An encoded table: a matrix, its column names, and the categories of its nominal columns.

    A code is the index of a value among the categories of its column. The categories of a numeric column are None.
    """

    values: FloatArray
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @property
    def nominal(self) -> BoolArray:
        """Mask of the nominal columns."""
        return np.array([column_categories is not None for column_categories in self.categories], dtype=bool)

    @property
    def numeric(self) -> BoolArray:
        """Mask of the numeric columns."""
        return ~self.nominal

    def __len__(self) -> int:
        return len(self.values)

    def encode_like(self, X: Any, order: MemoryOrder = "C") -> EncodedTable:
        """Encode another table with the categories of this table. Unknown categories become NaN."""
        frame = as_frame(X)
        if frame.shape[1] != len(self.categories):
            raise InputError(f"X must have {len(self.categories)} columns, as in the training data, got {frame.shape[1]}")
        values = np.empty(frame.shape, dtype=np.float64, order=order)
        for j, ((_, column), categories) in enumerate(zip(frame.items(), self.categories, strict=True)):
            _encode_column(column, categories, values[:, j])
        return EncodedTable(values, self.names, self.categories)


def read_columns(X: Any, nominal: Sequence[Any] | None = None, order: MemoryOrder = "C") -> EncodedTable:
    """Encode a data frame or a matrix.

    Columns of category, text, Boolean or mixed type are nominal, as are those listed in `nominal` by name or index. The
    categories of pandas category columns keep their order. Those of other nominal columns are sorted. `order` is the memory
    order of the matrix: "C" for contiguous rows, "F" for contiguous columns.

    >>> import pandas as pd
    >>> table = read_columns(pd.DataFrame({"size": [1.5, None], "colour": ["red", "blue"]}))
    >>> table.values.tolist(), table.nominal.tolist(), table.categories[1]
    ([[1.5, 1.0], [nan, 0.0]], [False, True], ('blue', 'red'))
    """
    frame = as_frame(X)
    values = np.empty(frame.shape, dtype=np.float64, order=order)
    table_categories = []
    for j, ((_, column), is_nominal) in enumerate(zip(frame.items(), _find_nominal(frame, nominal), strict=True)):
        categories = _find_categories(column) if is_nominal else None
        table_categories.append(categories)
        _encode_column(column, categories, values[:, j], own_categories=True)
    return EncodedTable(values, tuple(map(str, frame.columns)), tuple(table_categories))


def to_pandas(source: Any) -> pd.DataFrame | None:
    """Convert a frame of any library that narwhals supports to pandas. Return None if `source` is not a frame.

    >>> import pyarrow as pa
    >>> to_pandas(pa.table({"a": [1, 2]}))["a"].tolist(), to_pandas([1, 2])
    ([1, 2], None)
    """
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        return source
    if not any(hasattr(type(source), name) for name in ("columns", "collect_schema", "__arrow_c_stream__", "__dataframe__")):
        return None  # importing narwhals takes time
    import narwhals as nw

    frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas()
    return pd.DataFrame(source.to_pandas()) if hasattr(source, "to_pandas") and hasattr(source, "columns") else None


def as_frame(X: Any) -> pd.DataFrame:
    """Convert any table to a pandas data frame. The columns of a matrix are named x0, x1, ..."""
    import pandas as pd

    frame = to_pandas(X)
    if frame is not None:
        return frame
    if hasattr(X, "toarray"):
        X = X.toarray()
    array = _to_array(X)
    if array.ndim != 2:
        received = f"shape {array.shape}" if array.ndim else repr(X)
        raise InputError(f"X must be two-dimensional, got {received}: reshape a single column with X.reshape(-1, 1)")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]).infer_objects()


def _to_array(X: Any) -> npt.NDArray[Any]:
    """Convert a table to an array. A list that contains text becomes an object array."""
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" and not isinstance(X, np.ndarray) else array
    except ValueError:
        raise InputError("X must be two-dimensional, got rows of different lengths") from None


def resolve_column_indices(frame: pd.DataFrame, columns: Sequence[Any] | None) -> set[int]:
    """Return the indices of columns that are given by name or by index. Names take precedence."""
    indices = set()
    names = [str(name) for name in frame.columns]
    for column in columns if columns is not None else ():
        if str(column) in names:
            indices.add(names.index(str(column)))
        elif isinstance(column, (int, np.integer)) and -len(names) <= column < len(names):
            indices.add(int(column) % len(names))
        else:
            raise InputError(f"nominal must contain columns of X, got {column!r}: X has {names}")
    return indices


def is_nominal_dtype(kind: Any) -> bool:
    """Return whether columns of this type are nominal."""
    import pandas as pd

    if isinstance(kind, np.dtype):  # fast path, because a frame can have many columns
        return kind.kind not in "iufc"
    if isinstance(kind, pd.CategoricalDtype):
        return True
    return not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)


def _find_nominal(frame: pd.DataFrame, nominal: Sequence[Any] | None) -> list[bool]:
    named_indices = resolve_column_indices(frame, nominal)
    return [is_nominal_dtype(kind) or index in named_indices for index, kind in enumerate(frame.dtypes)]


def _find_categories(column: pd.Series[Any]) -> tuple[Any, ...]:
    import pandas as pd

    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return tuple(kind.categories.tolist())
    present = column.dropna().unique().tolist()
    try:
        return tuple(sorted(present))
    except TypeError:
        return tuple(sorted(present, key=lambda value: (type(value).__name__, str(value))))


def _convert_numbers(column: pd.Series[Any]) -> FloatArray:
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(
            f"column {str(column.name)!r} must contain numbers, as in the training data, got type {column.dtype}"
        ) from None


def _encode_column(
    column: pd.Series[Any], categories: tuple[Any, ...] | None, values: FloatArray, *, own_categories: bool = False
) -> None:
    """Write the numbers of a numeric column, or the codes of a nominal one, into `values`."""
    import pandas as pd

    if categories is None:
        values[:] = _convert_numbers(column)
        return
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype) and (own_categories or tuple(kind.categories.tolist()) == categories):
        codes = column.array.codes
    else:
        codes = pd.Index(list(categories), dtype=object).get_indexer(pd.Index(column, dtype=object))
    values[:] = codes
    np.putmask(values, codes < 0, np.nan)
