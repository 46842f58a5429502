"""Read data sets from data frames (pandas, polars, Arrow), Parquet files and scikit-learn bunches."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._frames import as_frame
from fairtrial._registry import suggest_name
from fairtrial._text import format_count
from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import MAX_NUMERIC_CLASSES
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
    groups: str | None = None,
    time: str | None = None,
    source: str = "",
    notes: Sequence[str] = (),
) -> Dataset:
    """Read a data set from a pandas or polars data frame or an Arrow table.

    Columns that contain numbers or times become numeric. All other columns become nominal.

    Parameters
    ----------
    frame : dataframe
        Table with one row per case and one column for each attribute and the class.
    target : str, optional
        Class column. Default: the last column.
    name : str, default "data"
        Name of the data set.
    nominal : sequence of str, optional
        Columns to read as nominal although they contain numbers. If the class column is listed here, its labels become text.
    numeric : sequence of str, optional
        Columns to read as numeric although they contain text.
    drop : sequence of str, optional
        Columns to leave out.
    groups : str, optional
        Column that identifies groups of dependent rows, e.g. the patient. The column is not used as an attribute.
    time : str, optional
        Column with the time of each row: numbers, or dates in ISO 8601 format. The column is not used as an attribute.
    source : str, default ""
        Description of the source, for use in messages.
    notes : sequence of str, default ()
        Remarks to store with the data set.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If a column does not exist, or if the class has missing values.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"kind": ["a", "b"], "size": [1, 2], "zone": [7, 7]})
    >>> data = read_frame(table, target="kind", nominal=["zone"])
    >>> data.classes, data.nominal
    (('a', 'b'), ('zone',))
    """
    table = convert_to_pandas(frame)
    table = table.set_axis([str(column) for column in table.columns], axis=1)
    where = source or "the table"
    _check_unique_columns(table, where)
    table = table.drop(columns=check_column_names("drop", drop, table.columns, where))
    if table.shape[1] < 2:
        raise InputError(f"{where} must have at least 2 columns (attributes and a class), got {table.shape[1]}")
    target_column = (
        str(table.columns[-1]) if target is None else check_column_names("target", [target], table.columns, where)[0]
    )
    as_nominal = check_column_names("nominal", nominal, table.columns, where)
    as_numeric = check_column_names("numeric", numeric, table.columns, where)
    as_groups = check_column_names("groups", groups, table.columns, where)
    check_column_names("time", time, table.columns, where)
    _check_disjoint(as_nominal, as_numeric)
    table = table.assign(**{column: _convert_to_numbers(table[column], where) for column in as_numeric})
    label = _check_class_column(table[target_column], where, as_text=target_column in as_nominal)
    attributes = table.drop(columns=target_column)
    return Dataset.from_table(
        attributes,
        label,
        name=name,
        target=target_column,
        nominal=[column for column in (*as_nominal, *as_groups) if column != target_column],
        source=source,
        notes=notes,
    ).with_roles(groups=groups, time=time)


def convert_to_pandas(frame: Any) -> pd.DataFrame:
    """Convert a table to a pandas data frame. Arrow decimals become floats, and Arrow dates become timestamps.

    >>> import pyarrow as pa
    >>> convert_to_pandas(pa.table({"a": [1, 2]}))["a"].tolist()
    [1, 2]
    """
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):
        frame = frame.collect()
    if hasattr(frame, "__arrow_c_stream__"):
        table = _to_arrow_table(frame)
        if table is not None:
            return convert_arrow_table(table)
    if hasattr(frame, "__dataframe__"):
        from pyarrow.interchange import from_dataframe

        return convert_arrow_table(from_dataframe(frame))
    raise InputError(
        f"a table must be a frame of pandas, Arrow or polars, got {type(frame).__name__}: call "
        "fairtrial.data.Dataset.from_table(X, y) for separate attributes and classes"
    )


def _to_arrow_table(frame: Any) -> Any:
    """Convert an object with the Arrow stream interface to an Arrow table. Return None if this fails."""
    import pyarrow as pa

    try:
        return pa.table(frame)
    except (pa.ArrowException, TypeError, ValueError):
        return None


def convert_arrow_table(table: Any) -> pd.DataFrame:
    """Convert an Arrow table to a pandas data frame. Raise an error if the table contains a nested column."""
    import pyarrow as pa

    types = pa.types
    for index, field in enumerate(table.schema):
        kind = field.type
        if types.is_nested(kind):
            raise InputError(f"column {field.name!r} must contain single values, got {kind}: flatten or drop it")
        if types.is_decimal(kind):
            table = table.set_column(index, field.name, table.column(index).cast(pa.float64()))
        elif types.is_date(kind):
            table = table.set_column(index, field.name, table.column(index).cast(pa.timestamp("ms")))
        elif types.is_duration(kind) or types.is_time(kind):
            table = table.set_column(index, field.name, table.column(index).cast(_get_integer_type(kind)).cast(pa.float64()))
        elif types.is_string_view(kind):
            table = table.set_column(index, field.name, table.column(index).cast(pa.large_string()))
    return table.to_pandas()  # type: ignore[no-any-return]


def _get_integer_type(kind: Any) -> Any:
    """Return the integer type that stores a duration or a time of day."""
    import pyarrow as pa

    return pa.int32() if kind.bit_width == 32 else pa.int64()


def check_column_names(argument: str, names: Iterable[str] | None, columns: Iterable[Any], where: str) -> list[str]:
    """Return the requested column names as a list. Raise an error if a column does not exist."""
    column_names = [str(column) for column in columns]
    if names is not None and not isinstance(names, Iterable):
        raise InputError(f"{argument} must name columns of {where}, got {names!r}: pass a list of names")
    requested = [names] if isinstance(names, str) else list(names or ())
    for name in requested:
        if name not in column_names:
            raise InputError(f"{argument} must name a column of {where}, got {name!r}: {suggest_name(name, column_names)}")
    return requested


def _check_unique_columns(table: pd.DataFrame, where: str) -> None:
    duplicates = table.columns[table.columns.duplicated()]
    if len(duplicates):
        raise InputError(f"columns of {where} must have different names, got {duplicates[0]!r} twice: rename one of them")


def _check_disjoint(nominal: list[str], numeric: list[str]) -> None:
    both = set(nominal) & set(numeric)
    if both:
        raise InputError(f"a column must be either nominal or numeric, but {sorted(both)[0]!r} is declared as both")


def _convert_to_numbers(values: pd.Series[Any], where: str) -> pd.Series[Any]:
    import pandas as pd

    plain = values.astype(object).where(values.notna(), np.nan)
    numbers = pd.to_numeric(plain, errors="coerce")
    invalid = numbers.isna() & values.notna()
    if invalid.any():
        row = int(np.argmax(invalid.to_numpy()))
        raise InputError(f"column {str(values.name)!r} of {where} must contain numbers, got {values.iloc[row]!r} at row {row}")
    return numbers.astype(np.float64)


def _check_class_column(values: pd.Series[Any], where: str, *, as_text: bool) -> pd.Series[Any]:
    """Check that the class column has no missing values, and warn if it looks like a measurement."""
    missing = values.isna().to_numpy()
    if missing.any():
        cells = format_count(int(missing.sum()), "missing value")
        raise InputError(
            f"the class column {str(values.name)!r} of {where} must not have missing values, got {cells}, the first in row "
            f"{int(np.argmax(missing))}: drop these rows, or pass another column as target="
        )
    if not as_text and (reason := _describe_measurements(values.unique().tolist())):
        warnings.warn(
            f"the class {str(values.name)!r} of {where} has {reason}: pass another column as target= if this is a measurement",
            SuspectInputWarning,
            stacklevel=3,
        )
    return values.astype(str) if as_text and not _is_text(values) else values


def _describe_measurements(values: list[Any]) -> str:
    """Explain why values look like measurements. Return "" if they look like classes."""
    numbers = [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]
    fractional = [number for number in numbers if number % 1]
    if fractional:
        return f"fractional numbers such as {fractional[0]!r}"
    return f"{len(numbers)} different numbers" if len(numbers) > MAX_NUMERIC_CLASSES else ""


def _is_text(values: pd.Series[Any]) -> bool:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return all(isinstance(category, str) for category in kind.categories)
    return all(isinstance(value, str) for value in values)


def is_bunch(source: Any) -> bool:
    """Return whether an object is a scikit-learn bunch, i.e. a mapping that contains "data" and "target"."""
    return isinstance(source, Mapping) and "data" in source and "target" in source


def read_bunch(
    bunch: Mapping[str, Any],
    *,
    name: str = "data",
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    source: str = "",
    notes: Sequence[str] = (),
) -> Dataset:
    """Read a data set from a scikit-learn bunch.

    If the bunch encodes its classes as numbers, the classes of the data set are the `target_names` of the bunch.

    Parameters
    ----------
    bunch : mapping
        Bunch with `data` and `target`, as returned by the loaders of scikit-learn.
    name : str, default "data"
        Name of the data set.
    nominal : sequence of str, optional
        Columns to read as nominal although they contain numbers. If the class column is listed here, its labels become text.
    numeric : sequence of str, optional
        Columns to read as numeric although they contain text.
    drop : sequence of str, optional
        Columns to leave out.
    source : str, default ""
        Description of the source, for use in messages.
    notes : sequence of str, default ()
        Remarks to store with the data set.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> read_bunch(load_iris(), name="iris").classes
    ('setosa', 'versicolor', 'virginica')
    """
    if not is_bunch(bunch):
        raise InputError(f"bunch must contain data and target, got {type(bunch).__name__}")
    frame = as_frame(bunch["data"])
    names = bunch.get("feature_names")
    if names is not None and len(names) == frame.shape[1]:
        frame = frame.set_axis([str(feature_name) for feature_name in names], axis=1)
    target = _choose_target_name(bunch, [str(column) for column in frame.columns])
    labels, classes = _read_bunch_labels(bunch)
    where = source or "the bunch"
    check_column_names("nominal", nominal, frame.columns, where)
    check_column_names("drop", drop, frame.columns, where)
    table = frame.reset_index(drop=True).assign(**{target: labels})
    data = read_frame(table, target=target, name=name, nominal=nominal, numeric=numeric, drop=drop, source=source, notes=notes)
    if classes is None:
        return data
    return Dataset.from_table(
        data.X, data.y.astype(object), name=name, target=target, classes=classes, source=source, notes=notes
    )


def _choose_target_name(bunch: Mapping[str, Any], used_names: list[str]) -> str:
    name = str(getattr(bunch["target"], "name", None) or "class")
    return name if name not in used_names else "class" if "class" not in used_names else "class of the bunch"


def _read_bunch_labels(bunch: Mapping[str, Any]) -> tuple[Any, list[Any] | None]:
    """Return the class of each row. If the bunch names its classes, also return these names in order."""
    target = np.asarray(bunch["target"])
    if target.ndim != 1:
        raise InputError(f"bunch must have a single target, got shape {target.shape}: select one column")
    names = bunch.get("target_names")
    numbered = target.dtype.kind in "iu" and names is not None and len(names) > 1 and len(target)
    if not numbered or target.min() < 0 or target.max() >= len(names):  # type: ignore[arg-type]
        kind = getattr(bunch["target"], "dtype", None)
        return (bunch["target"].array if str(kind) == "category" else target), None
    classes = np.asarray(names).tolist()
    return np.asarray(names, dtype=object)[target], classes


def read_parquet(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    name: str | None = None,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    groups: str | None = None,
    time: str | None = None,
) -> Dataset:
    """Read a data set from a Parquet file.

    Columns that contain numbers or times become numeric. Text and dictionary columns become nominal.

    Parameters
    ----------
    path : path
        Parquet file.
    target : str, optional
        Class column. Default: the last column.
    name : str, optional
        Name of the data set. Default: the name of the file.
    nominal : sequence of str, optional
        Columns to read as nominal although they contain numbers. If the class column is listed here, its labels become text.
    numeric : sequence of str, optional
        Columns to read as numeric although they contain text.
    drop : sequence of str, optional
        Columns to leave out.
    groups : str, optional
        Column that identifies groups of dependent rows, e.g. the patient. The column is not used as an attribute.
    time : str, optional
        Column with the time of each row: numbers, or dates in ISO 8601 format. The column is not used as an attribute.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read, or if a column does not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     pd.DataFrame({"size": [1, 2], "kind": ["a", "b"]}).to_parquet(Path(folder) / "two.parquet")
    ...     read_parquet(Path(folder) / "two.parquet")
    <Dataset two: 2 rows, 1 attributes, 2 classes>
    """
    from pyarrow import parquet

    path = Path(path)
    with report_parquet_errors(path):
        file = parquet.ParquetFile(path)
        names = file.schema_arrow.names
        left_out = check_column_names("drop", drop, names, str(path))
        frame = convert_arrow_table(file.read(columns=[column for column in names if column not in left_out]))
    return read_frame(
        frame,
        target=target,
        name=name or path.stem,
        nominal=nominal,
        numeric=numeric,
        groups=groups,
        time=time,
        source=str(path),
    )


@contextmanager
def report_parquet_errors(path: Path) -> Iterator[None]:
    """Convert every exception to an InputError, because reading a corrupted Parquet file can raise any exception."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise InputError(f"{path} cannot be read as Parquet: {reason}; write the file again") from None
