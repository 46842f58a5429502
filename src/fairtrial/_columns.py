"""A table of typed columns as one matrix: numbers as they are, nominal values as codes, what is missing as NaN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Columns:
    """The matrix with the names of its columns, which of them are nominal, and the categories that the codes stand for.

    A code is the place of the value in `categories`; a numeric column has no categories.
    """

    values: FloatArray
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]

    @property
    def nominal(self) -> BoolArray:
        """Which columns are nominal."""
        return np.array([each is not None for each in self.categories], dtype=bool)

    @property
    def numeric(self) -> BoolArray:
        """Which columns are numeric."""
        return ~self.nominal

    def __len__(self) -> int:
        return len(self.values)

    def like(self, X: Any) -> Columns:
        """Another table in the same codes and names. A nominal value that this table does not know is missing."""
        return Columns(_encoded(X, self.categories).values, self.names, self.categories)


def read_columns(X: Any, nominal: Sequence[Any] | None = None) -> Columns:
    """A frame or a matrix as `Columns`.

    Nominal are columns of category, text, boolean or mixed type, and those that `nominal` names (or numbers).
    The categories of a pandas category column keep their order; other values are sorted.

    >>> import pandas as pd
    >>> table = read_columns(pd.DataFrame({"size": [1.5, None], "colour": ["red", "blue"]}))
    >>> table.values.tolist(), table.nominal.tolist(), table.categories[1]
    ([[1.5, 1.0], [nan, 0.0]], [False, True], ('blue', 'red'))
    """
    frame = as_frame(X)
    chosen = _chosen(frame, nominal)
    return _encoded(frame, [_categories(column, kind) for (_, column), kind in zip(frame.items(), chosen, strict=True)])


def as_frame(X: Any) -> pd.DataFrame:
    """Any table as a pandas frame; the columns of a matrix are called x0, x1, ..."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    if hasattr(X, "to_pandas"):
        return pd.DataFrame(X.to_pandas())
    if hasattr(X, "toarray"):
        X = X.toarray()
    array = _array(X)
    if array.ndim != 2:
        told = f"shape {array.shape}" if array.ndim else repr(X)
        raise InputError(f"X must be a table of two dimensions, got {told}: reshape a single column with X.reshape(-1, 1)")
    return pd.DataFrame(array, columns=[f"x{j}" for j in range(array.shape[1])]).infer_objects()


def _array(X: Any) -> npt.NDArray[Any]:
    """Lists that mix numbers and text keep both."""
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if array.dtype.kind in "US" and not isinstance(X, np.ndarray) else array
    except ValueError:
        raise InputError("X must be a table of two dimensions, got rows of different lengths") from None


def places(frame: pd.DataFrame, columns: Sequence[Any] | None) -> set[int]:
    """The places of columns that are named or, where that is no name, numbered."""
    found = set()
    names = [str(name) for name in frame.columns]
    for each in columns if columns is not None else ():
        if str(each) in names:
            found.add(names.index(str(each)))
        elif isinstance(each, (int, np.integer)) and -len(names) <= each < len(names):
            found.add(int(each) % len(names))
        else:
            raise InputError(f"nominal must name columns of X, got {each!r}: X has {names}")
    return found


def _chosen(frame: pd.DataFrame, nominal: Sequence[Any] | None) -> list[bool]:
    import pandas as pd

    kinds = [not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind) for kind in frame.dtypes]
    named = places(frame, nominal)
    return [kind or place in named for place, kind in enumerate(kinds)]


def _categories(column: pd.Series[Any], nominal: bool) -> tuple[Any, ...] | None:
    import pandas as pd

    if not nominal:
        return None
    if isinstance(column.dtype, pd.CategoricalDtype):
        return tuple(column.dtype.categories)
    present = column.dropna().unique().tolist()
    try:
        return tuple(sorted(present))
    except TypeError:
        return tuple(sorted(present, key=lambda value: (type(value).__name__, str(value))))


def _encoded(X: Any, categories: Sequence[tuple[Any, ...] | None]) -> Columns:
    frame = as_frame(X)
    if frame.shape[1] != len(categories):
        raise InputError(f"X must have {len(categories)} columns as before, got {frame.shape[1]}")
    values = np.empty(frame.shape, dtype=np.float64)
    for j, ((_, column), known) in enumerate(zip(frame.items(), categories, strict=True)):
        values[:, j] = _numbers(column) if known is None else _codes(column, known)
    return Columns(values, tuple(map(str, frame.columns)), tuple(categories))


def _numbers(column: pd.Series[Any]) -> FloatArray:
    try:
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f"column {str(column.name)!r} must hold numbers as before, got type {column.dtype}") from None


def _codes(column: pd.Series[Any], known: tuple[Any, ...]) -> FloatArray:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype) and tuple(column.dtype.categories) == known:
        codes = column.cat.codes.to_numpy()
    else:
        codes = pd.Index(list(known), dtype=object).get_indexer(pd.Index(column, dtype=object))
    return np.where(codes < 0, np.nan, codes)
