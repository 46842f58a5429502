"""Any table in memory as a data set: pandas, Arrow, polars, whatever speaks their protocols."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import MOST_NUMERIC_CLASSES
from fairtrial.errors import InputError, SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd


def read_frame(
    frame: Any,
    *,
    target: str | None = None,
    name: str = "data",
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    source: str = "",
    notes: Sequence[str] = (),
) -> Dataset:
    """A data set of a table. The class is the column `target`, or the last one.

    Columns of numbers and times are numeric, all others nominal; `nominal` and `numeric` name columns that are to be read
    otherwise, `drop` those that are to be left out. A class that `nominal` names is text.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"kind": ["a", "b"], "size": [1, 2], "zone": [7, 7]})
    >>> data = read_frame(table, target="kind", nominal=["zone"])
    >>> data.classes, data.nominal
    (('a', 'b'), ('zone',))
    """
    table = pandas_frame(frame)
    table = table.set_axis([str(each) for each in table.columns], axis=1)
    where = source or "the table"
    _different(table, where)
    table = table.drop(columns=known_columns("drop", drop, table.columns, where))
    if table.shape[1] < 2:
        raise InputError(f"{where} must have at least 2 columns, attributes and a class, got {table.shape[1]}")
    chosen = str(table.columns[-1]) if target is None else known_columns("target", [target], table.columns, where)[0]
    as_nominal = known_columns("nominal", nominal, table.columns, where)
    as_numeric = known_columns("numeric", numeric, table.columns, where)
    _apart(as_nominal, as_numeric)
    table = table.assign(**{each: _numbers(table[each], where) for each in as_numeric})
    label = _labels(table[chosen], where, as_text=chosen in as_nominal)
    attributes = table.drop(columns=chosen)
    return Dataset.of(
        attributes,
        label,
        name=name,
        target=chosen,
        nominal=[each for each in as_nominal if each != chosen],
        source=source,
        notes=notes,
    )


def pandas_frame(frame: Any) -> pd.DataFrame:
    """The table as pandas holds it, with decimals as numbers and dates as times.

    >>> import pyarrow as pa
    >>> pandas_frame(pa.table({"a": [1, 2]}))["a"].tolist()
    [1, 2]
    """
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):
        frame = frame.collect()
    if hasattr(frame, "__arrow_c_stream__"):
        table = _arrow_table(frame)
        if table is not None:
            return arrow_frame(table)
    if hasattr(frame, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return arrow_frame(from_dataframe(frame))
    raise InputError(
        f"a table must be a frame of pandas, Arrow or polars, got {type(frame).__name__}: of attributes and classes apart make "
        "a data set by fairtrial.data.Dataset.of(X, y)"
    )


def _arrow_table(frame: Any) -> Any:
    """What streams Arrow's columns as a table; None if it streams a single column."""
    import pyarrow as pa

    try:
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        return None


def arrow_frame(table: Any) -> pd.DataFrame:
    """An Arrow table as pandas holds it; nested columns are refused."""
    import pyarrow as pa

    types = pa.types
    for place, field in enumerate(table.schema):
        kind = field.type
        if types.is_nested(kind):
            raise InputError(f"column {field.name!r} must hold single values, got {kind}: flatten or drop it")
        if types.is_decimal(kind):
            table = table.set_column(place, field.name, table.column(place).cast(pa.float64()))
        elif types.is_date(kind):
            table = table.set_column(place, field.name, table.column(place).cast(pa.timestamp("ms")))
        elif types.is_duration(kind) or types.is_time(kind):
            table = table.set_column(place, field.name, table.column(place).cast(_counter(kind)).cast(pa.float64()))
        elif types.is_string_view(kind):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table.to_pandas()  # type: ignore[no-any-return]


def _counter(kind: Any) -> Any:
    """The whole numbers that a duration or a time of day is stored as."""
    import pyarrow as pa

    return pa.int32() if kind.bit_width == 32 else pa.int64()


def known_columns(argument: str, names: Iterable[str] | None, columns: Iterable[Any], where: str) -> list[str]:
    """The names that an argument gives, each of which must be a column."""
    known = [str(each) for each in columns]
    if names is not None and not isinstance(names, Iterable):
        raise InputError(f"{argument} must name columns of {where}, got {names!r}: pass a list of names")
    wanted = [names] if isinstance(names, str) else list(names or ())
    for each in wanted:
        if each not in known:
            raise InputError(f"{argument} must name a column of {where}, got {each!r}: {did_you_mean(each, known)}")
    return wanted


def _different(table: pd.DataFrame, where: str) -> None:
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"columns of {where} must have different names, got {twice[0]!r} twice: rename one of them")


def _apart(nominal: list[str], numeric: list[str]) -> None:
    both = set(nominal) & set(numeric)
    if both:
        raise InputError(f"a column must be nominal or numeric, got {sorted(both)[0]!r} as both")


def _numbers(values: pd.Series[Any], where: str) -> pd.Series[Any]:
    import pandas as pd

    plain = values.astype(object).where(values.notna(), np.nan)
    numbers = pd.to_numeric(plain, errors="coerce")
    wrong = numbers.isna() & values.notna()
    if wrong.any():
        row = int(np.argmax(wrong.to_numpy()))
        raise InputError(f"column {str(values.name)!r} of {where} must hold numbers, got {values.iloc[row]!r} at row {row}")
    return numbers.astype(np.float64)


def _labels(values: pd.Series[Any], where: str, *, as_text: bool) -> pd.Series[Any]:
    """The class column, which must be complete."""
    missing = values.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"the class {str(values.name)!r} of {where} must not be missing, got {int(missing.sum())} such rows, the first at "
            f"row {int(np.argmax(missing))}: drop these rows, or name another class by target="
        )
    if not as_text and (found := _measured(values.unique().tolist())):
        warnings.warn(
            f"the class {str(values.name)!r} of {where} holds {found}: name the class by target=, if this is a measurement",
            SuspectInputWarning,
            stacklevel=3,
        )
    return values.astype(str) if as_text and not _is_text(values) else values


def _measured(values: list[Any]) -> str:
    """What makes different values look like measurements rather than classes; nothing if nothing does."""
    numbers = [each for each in values if isinstance(each, (int, float)) and not isinstance(each, bool)]
    broken = [each for each in numbers if each % 1]
    if broken:
        return f"numbers that are not whole, such as {broken[0]!r}"
    return f"{len(numbers)} different numbers" if len(numbers) > MOST_NUMERIC_CLASSES else ""


def _is_text(values: pd.Series[Any]) -> bool:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return all(isinstance(each, str) for each in kind.categories)
    return all(isinstance(each, str) for each in values)
