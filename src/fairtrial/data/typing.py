"""Any table with two types of columns: float64 for numbers, category for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import column as check_column
from fairtrial._columns import as_frame, places
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


def typed_columns(X: Any, nominal: Sequence[Any] | None = None) -> pd.DataFrame:
    """A frame of float64 and category columns that shares nothing with `X`; `nominal` names or numbers further nominal columns.

    Dates become seconds since 1970, spans of time become seconds.

    >>> import pandas as pd
    >>> typed_columns(pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [3, 4]}), nominal=["c"]).dtypes.astype(str).tolist()
    ['float64', 'category', 'category']
    """
    import pandas as pd

    frame = as_frame(X)
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"columns of X must have different names, got {twice!r} twice: rename one of them")
    chosen = places(frame, nominal)
    typed = {name: _typed(frame.iloc[:, j], j in chosen) for j, name in enumerate(names)}
    return pd.DataFrame(typed, index=pd.RangeIndex(len(frame)))


def _typed(values: pd.Series[Any], nominal: bool) -> Any:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return pd.Categorical(values.array)
    if not nominal and pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        if kind.kind == "c":
            raise InputError(f"column {str(values.name)!r} must hold real numbers, got {values.iloc[0]!r}")
        return values.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    if not nominal and pd.api.types.is_datetime64_any_dtype(kind):  # nanoseconds would end in the year 2262
        microseconds = values.to_numpy(dtype="datetime64[us]").astype(np.int64)
        return np.where(values.isna(), np.nan, microseconds / 1e6 + values.dt.nanosecond.to_numpy(np.float64) / 1e9)
    if not nominal and pd.api.types.is_timedelta64_dtype(kind):
        return np.where(values.isna(), np.nan, values.to_numpy(dtype="timedelta64[ns]").astype(np.int64) / 1e9)
    try:
        return pd.Categorical(values.astype(object).where(values.notna(), None))
    except TypeError:
        raise InputError(f"column {str(values.name)!r} must hold numbers or plain values, got {values.iloc[0]!r}") from None


def typed_classes(y: Any, classes: Sequence[Any] | None = None, target: str | None = None) -> pd.Series[Any]:
    """The class column as a category: of the declared classes if given, else of those present."""
    import pandas as pd

    given = target if target is not None else getattr(y, "name", None)
    name = "class" if given is None else str(given)
    kind = getattr(y, "dtype", None)
    if classes is None and isinstance(kind, pd.CategoricalDtype):
        classes = list(kind.categories)
    values = pd.Series(check_column("y", y)).astype(object)
    if values.isna().any():
        raise InputError(f"y must not hold missing labels, got one at row {int(values.isna().argmax())}: drop these rows")
    if classes is not None and (pd.Index(list(classes)).has_duplicates or pd.isna(pd.Index(list(classes))).any()):
        raise InputError(f"classes must be different labels, got {list(classes)}")
    try:
        unknown = None if classes is None else pd.Index(list(classes)).get_indexer_for(values) < 0
        if unknown is not None and unknown.any():
            wrong = values[int(np.argmax(unknown))]
            raise InputError(f"y must hold declared classes only, got {wrong!r}: declared are {list(classes or ())}")
        found = pd.Categorical(values, categories=None if classes is None else list(classes))
    except TypeError:
        raise InputError(f"y must hold plain labels, got {values.iloc[0]!r}") from None
    return pd.Series(found, name=name)
