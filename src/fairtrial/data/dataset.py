"""The `Dataset` class, and the summary and the description of a data set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import check_column as check_column
from fairtrial._frames import as_frame, resolve_column_indices
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_block
from fairtrial.data.dates import parse_iso_date
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data.faults import KnownFault


def convert_columns(X: Any, nominal: Sequence[Any] | None = None) -> pd.DataFrame:
    """Convert a table to a data frame of float64 and category columns.

    `nominal` lists additional nominal columns by name or index. Dates become seconds since 1970, and time spans become seconds.

    >>> import pandas as pd
    >>> convert_columns(pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [3, 4]}), nominal=["c"]).dtypes.astype(str).tolist()
    ['float64', 'category', 'category']
    """
    import pandas as pd

    frame = as_frame(X)
    names = [str(name) for name in frame.columns]
    if len(set(names)) != len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InputError(f"columns of X must have different names, got {duplicate!r} twice: rename one of them")
    chosen = resolve_column_indices(frame, nominal)
    typed = {name: _convert_values(frame.iloc[:, j], j in chosen) for j, name in enumerate(names)}
    return pd.DataFrame(typed, index=pd.RangeIndex(len(frame)))


def _convert_values(values: pd.Series[Any], nominal: bool) -> Any:
    import pandas as pd

    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return pd.Categorical(values.array)
    if not nominal and pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind):
        if kind.kind == "c":
            raise InputError(f"column {str(values.name)!r} must contain real numbers, got {values.iloc[0]!r}")
        return values.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
    if not nominal and pd.api.types.is_datetime64_any_dtype(kind):  # nanoseconds would overflow in the year 2262
        microseconds = values.to_numpy(dtype="datetime64[us]").astype(np.int64)
        return np.where(values.isna(), np.nan, microseconds / 1e6 + values.dt.nanosecond.to_numpy(np.float64) / 1e9)
    if not nominal and pd.api.types.is_timedelta64_dtype(kind):
        return np.where(values.isna(), np.nan, values.to_numpy(dtype="timedelta64[ns]").astype(np.int64) / 1e9)
    try:
        return pd.Categorical(values.astype(object).where(values.notna(), None))
    except TypeError:
        raise InputError(
            f"column {str(values.name)!r} must contain single values such as numbers or text, got {values.iloc[0]!r}"
        ) from None


def convert_classes(y: Any, classes: Sequence[Any] | None = None, target: str | None = None) -> pd.Series[Any]:
    """Convert the class column to a categorical column.

    By default, the classes are the categories if `y` is categorical, and otherwise the labels that occur.
    """
    import pandas as pd

    target_name = target if target is not None else getattr(y, "name", None)
    name = "class" if target_name is None else str(target_name)
    kind = getattr(y, "dtype", None)
    if classes is None and isinstance(kind, pd.CategoricalDtype):
        classes = list(kind.categories)
    values = pd.Series(check_column("y", y)).astype(object)
    if values.isna().any():
        raise InputError(f"y must not contain missing labels, got one at row {int(values.isna().argmax())}: drop these rows")
    if classes is not None and (pd.Index(list(classes)).has_duplicates or pd.isna(pd.Index(list(classes))).any()):
        raise InputError(f"classes must be different labels, got {list(classes)}")
    try:
        unknown = None if classes is None else pd.Index(list(classes)).get_indexer_for(values) < 0
        if unknown is not None and unknown.any():
            wrong = values[int(np.argmax(unknown))]
            raise InputError(f"y must contain only declared classes, got {wrong!r}: declared classes are {list(classes or ())}")
        categorical = pd.Categorical(values, categories=None if classes is None else list(classes))
    except TypeError:
        raise InputError(f"y must contain labels such as text or numbers, got {values.iloc[0]!r}") from None
    return pd.Series(categorical, name=name)


@dataclass(frozen=True)
class Summary:
    """The size of a data set and the number of rows in each class.

    Attributes
    ----------
    name : str
        Name of the data set.
    rows : int
        Number of rows.
    numeric, nominal : int
        Numbers of numeric and nominal attributes, not counting the class.
    missing : int
        Number of missing values.
    classes : dict
        Number of rows in each declared class.
    imbalance_ratio : float
        Size of the largest class divided by the size of the smallest non-empty class.

    Examples
    --------
    >>> Dataset.from_table([[1.0], [2.0], [3.0]], ["a", "b", "a"]).summary().classes
    {'a': 2, 'b': 1}
    """

    name: str
    rows: int
    numeric: int
    nominal: int
    missing: int
    classes: dict[Any, int]
    imbalance_ratio: float

    @property
    def attributes(self) -> int:
        """Number of attributes, not counting the class."""
        return self.numeric + self.nominal

    def frame(self) -> pd.DataFrame:
        """Return the summary as a data frame with one row."""
        import pandas as pd

        facts = {
            attribute: getattr(self, attribute) for attribute in ("name", "rows", "attributes", "numeric", "nominal", "missing")
        }
        facts |= {"classes": sum(count > 0 for count in self.classes.values()), "imbalance_ratio": self.imbalance_ratio}
        return pd.DataFrame([facts])

    def __str__(self) -> str:
        classes = ", ".join(f"{label} {count}" for label, count in self.classes.items())
        return (
            f"{self.name}: {self.rows} rows, {self.numeric} numeric and {self.nominal} nominal attributes, "
            f"{format_count(self.missing, 'missing value')}; classes: {classes}; imbalance ratio {self.imbalance_ratio:.2f}"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """An immutable table of typed attributes with a class column.

    Use `Dataset.from_table` to build a data set from attributes and classes, and `fairtrial.data.read` to read a file. Two data
    sets are equal if they have the same columns, types and values, even if their names differ.

    Attributes
    ----------
    name : str
        Name of the data set.
    X : pandas.DataFrame
        Copy of the attributes. Columns of type float64 are numeric, and columns of type category are nominal.
    y : pandas.Series
        Copy of the class column. Its categories are the declared classes.
    row_ids : ndarray
        Unique identifier of each row.
    source : str
        File, package or simulation from which the data come.
    notes : tuple of str
        Remarks made when the file was read, e.g. about columns that were left out.
    fault : KnownFault or None
        Known corrupted file from which the data come, if any.
    groups : pandas.Series or None
        Copy of the group column, e.g. patient ids. Rows in the same group are not independent. The column is not used as an
        attribute.
    time : pandas.Series or None
        Copy of the time column. Times are stored as numbers, and dates as seconds since 1970. The column is not used as an
        attribute.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"length": [1.0, 2.0, 3.0], "hue": ["red", "blue", "red"]})
    >>> flowers = Dataset.from_table(table, ["a", "b", "a"], name="flowers")
    >>> print(flowers.summary())
    flowers: 3 rows, 1 numeric and 1 nominal attributes, 0 missing values; classes: a 2, b 1; imbalance ratio 2.00
    """

    name: str
    _X: pd.DataFrame
    _y: pd.Series[Any]
    row_ids: npt.NDArray[Any]
    source: str = ""
    notes: tuple[str, ...] = ()
    _ranges: tuple[tuple[str, tuple[float, float]], ...] = ()
    fault: KnownFault | None = None
    _groups: pd.Series[Any] | None = None
    _time: pd.Series[Any] | None = None

    def __new__(cls, *_fields: Any, **_named: Any) -> Dataset:
        """Reject calls such as `Dataset(X, y)`, and suggest `from_table`."""
        if 0 < len(_fields) < 4 or {"X", "y"} & _named.keys():
            raise InputError("Dataset must not be called with X and y: call Dataset.from_table(X, y)")
        return super().__new__(cls)

    @classmethod
    def from_table(
        cls,
        X: Any,
        y: Any,
        *,
        name: str = "data",
        target: str | None = None,
        classes: Sequence[Any] | None = None,
        nominal: Sequence[Any] | None = None,
        row_ids: npt.ArrayLike | None = None,
        source: str = "",
        notes: Sequence[str] = (),
        ranges: Mapping[str, tuple[float, float]] | None = None,
        groups: Any = None,
        time: Any = None,
    ) -> Dataset:
        """Build a data set from a table of attributes and a class column.

        Parameters
        ----------
        X : dataframe or 2-D array
            Attributes. Columns that contain numbers or times become numeric. All other columns become nominal.
        y : array-like
            Class of each row, without missing values.
        name : str, default "data"
            Name of the data set.
        target : str, optional
            Name of the class column. Default: the name of `y`, or "class" if it has no name.
        classes : sequence, optional
            All classes in order, including classes that do not occur. Default: the categories of a categorical `y`, otherwise
            the labels that occur, sorted.
        nominal : sequence, optional
            Names or indices of columns to treat as nominal although they contain numbers.
        row_ids : array-like, optional
            Unique identifier of each row. Default: 0, 1, 2, ...
        source : str, default ""
            File, package or simulation from which the data come.
        notes : sequence of str, default ()
            Remarks to store with the data set.
        ranges : mapping, optional
            Declared minimum and maximum of each numeric column, keyed by column name.
        groups : array-like, optional
            Group of each row, e.g. the patient, without missing values.
        time : array-like, optional
            Time of each row, without missing values: numbers, dates, or strings in ISO 8601 format.

        Returns
        -------
        Dataset

        Raises
        ------
        InputError
            If columns differ in length, if names are not unique, or if labels are missing or not declared.

        Examples
        --------
        >>> Dataset.from_table([[1.0, 2.0], [3.0, 4.0]], ["yes", "no"], name="two")
        <Dataset two: 2 rows, 2 attributes, 2 classes>
        """
        frame = convert_columns(X, nominal)
        label = convert_classes(y, classes, target)
        if len(frame) != len(label):
            raise InputError(f"X and y must have the same number of rows, got {len(frame)} and {len(label)}")
        if label.name in frame.columns:
            raise InputError(f"target must differ from the columns of X, got {label.name!r}: pass another name as target=")
        ids = np.arange(len(frame)) if row_ids is None else np.array(row_ids)
        if ids.shape != (len(frame),) or len(set(ids.tolist())) != len(ids):
            raise InputError(f"row_ids must contain a different value for each of the {len(frame)} rows")
        ids.flags.writeable = False
        group_column = None if groups is None else _convert_groups(groups)
        time_column = None if time is None else _convert_time(time)
        _check_role_columns([*frame.columns, label.name], len(frame), group_column, time_column)
        ranges_by_column = tuple((ranges or {}).items())
        return cls(name, frame, label, ids, source, tuple(notes), ranges_by_column, _groups=group_column, _time=time_column)

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """A copy of the attributes."""
        return self._X.copy(deep=not _has_copy_on_write())

    @property
    def y(self) -> pd.Series[Any]:
        """A copy of the class column."""
        return self._y.copy(deep=not _has_copy_on_write())

    @property
    def groups(self) -> pd.Series[Any] | None:
        """A copy of the group column, or None if no groups are declared."""
        return None if self._groups is None else self._groups.copy(deep=not _has_copy_on_write())

    @property
    def time(self) -> pd.Series[Any] | None:
        """A copy of the time column, or None if no time is declared.

        Dates are stored as seconds since 1970.
        """
        return None if self._time is None else self._time.copy(deep=not _has_copy_on_write())

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The declared minimum and maximum of each numeric column, keyed by column name."""
        return dict(self._ranges)

    @property
    def target(self) -> str:
        """The name of the class column."""
        return str(self._y.name)

    @property
    def classes(self) -> tuple[Any, ...]:
        """All declared classes in order, including classes that do not occur."""
        return tuple(self._y.cat.categories)

    @property
    def nominal(self) -> tuple[str, ...]:
        """The names of the nominal columns."""
        return tuple(str(name) for name in self._X.columns[self._X.dtypes == "category"])

    def __len__(self) -> int:
        return len(self._X)

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 hash of the column names, types and values. It does not depend on the name of the data set or the row ids."""
        digest = hashlib.sha256(f"{len(self)} rows, {self._X.shape[1]} attributes".encode())
        columns = [("", self._X[name]) for name in self._X.columns]
        for role, column in [*columns, ("", self._y), ("groups", self._groups), ("time", self._time)]:
            if column is None:
                continue
            digest.update(role.encode() + repr(str(column.name)).encode())
            if column.dtype == "category":
                digest.update(b"nominal" + repr([_encode_label(category) for category in column.cat.categories]).encode())
                digest.update(column.cat.codes.to_numpy(dtype="<i8").tobytes())
            else:
                numbers = column.to_numpy(dtype="<f8") + 0.0  # minus zero becomes zero
                digest.update(b"numeric" + np.where(np.isnan(numbers), np.nan, numbers).tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """Select rows and keep their ids. The declared classes do not change.

        Parameters
        ----------
        rows : array-like
            Row positions, or a boolean mask with one value per row.

        Returns
        -------
        Dataset
        """
        rows = self._check_positions(np.asarray(rows))
        frame, label = self._X.iloc[rows].reset_index(drop=True), self._y.iloc[rows].reset_index(drop=True)
        groups, time = (
            None if column is None else column.iloc[rows].reset_index(drop=True) for column in (self._groups, self._time)
        )
        return replace(self, _X=frame, _y=label, row_ids=self.row_ids[rows], _groups=groups, _time=time)

    def with_roles(self, *, groups: str | None = None, time: str | None = None) -> Dataset:
        """Declare which columns contain the group and the time of each row.

        These columns are then no longer attributes.

        Parameters
        ----------
        groups : str, optional
            Column that identifies groups of dependent rows, e.g. the patient.
        time : str, optional
            Column with the time of each row: numbers, or dates in ISO 8601 format.

        Returns
        -------
        Dataset

        Raises
        ------
        InputError
            If a column does not exist, is the class, or has missing values.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"patient": ["ann", "ann", "bob"], "dose": [1.0, 2.0, 3.0]})
        >>> visits = Dataset.from_table(table, ["ill", "well", "ill"]).with_roles(groups="patient")
        >>> list(visits.X), visits.groups.tolist()
        (['dose'], ['ann', 'ann', 'bob'])
        """
        roles = {role: column for role, column in (("groups", groups), ("time", time)) if column is not None}
        if not roles:
            return self
        for role, column in roles.items():
            if column == self.target:
                raise InputError(f"{role} must differ from the class column, got {column!r}: name the class with target")
            if column not in self._X.columns:
                hint = suggest_name(str(column), list(self._X.columns))
                raise InputError(f"{role} must name a column of {self.name}, got {column!r}: {hint}")
        if groups == time:
            raise InputError(f"groups and time must be different columns, got {groups!r} for both")
        attributes = self._X.drop(columns=list(roles.values()))
        if attributes.shape[1] == 0:
            raise InputError(f"{self.name} must have at least 1 attribute besides groups and time, got 0")
        ranges = tuple((column, limits) for column, limits in self._ranges if column in attributes.columns)
        group_column = self._groups if groups is None else _convert_groups(self._X[groups])
        time_column = self._time if time is None else _convert_time(self._X[time])
        return replace(self, _X=attributes, _ranges=ranges, _groups=group_column, _time=time_column)

    def _check_positions(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        if rows.dtype == bool and rows.shape == (len(self),):
            return np.flatnonzero(rows)
        if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
            raise InputError(
                f"rows must be positions or a Boolean mask for {len(self)} rows, got {rows.dtype} of shape {rows.shape}"
            )
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self)):
            raise InputError(f"rows must be positions from 0 to {len(self) - 1}, got {rows.min()} to {rows.max()}")
        return rows.astype(np.intp)

    def frame(self) -> pd.DataFrame:
        """Return a data frame of all columns, in the order groups, time, attributes, class."""
        frame = self._X.assign(**{self.target: self._y})
        for position, column in enumerate(column for column in (self._groups, self._time) if column is not None):
            frame.insert(position, str(column.name), column)
        return frame

    def summary(self) -> Summary:
        """Summarize the numbers of rows, attributes and missing values, and the class sizes."""
        counts = {label: int((self._y == label).sum()) for label in self.classes}
        present = [count for count in counts.values() if count]
        nominal = len(self.nominal)
        ratio = max(present) / min(present) if present else float("nan")
        missing = int(self._X.isna().to_numpy().sum())
        return Summary(self.name, len(self), self._X.shape[1] - nominal, nominal, missing, counts, ratio)

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {len(self)} rows, {self._X.shape[1]} attributes, {len(self.classes)} classes>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _convert_groups(values: Any) -> pd.Series[Any]:
    import pandas as pd

    column = pd.Series(check_column("groups", values))
    if column.isna().any():
        row = int(column.isna().argmax())
        raise InputError(f"groups must not contain missing values, got one at row {row}: drop these rows")
    categories = pd.Categorical(column.astype(object)).remove_unused_categories()
    return pd.Series(categories, name=str(getattr(values, "name", None) or "groups"))


def _convert_time(values: Any) -> pd.Series[Any]:
    """Convert times to numbers. Dates become seconds since 1970."""
    import pandas as pd

    column = pd.Series(values).reset_index(drop=True)
    numbers = _convert_values(column, nominal=False)
    if isinstance(numbers, pd.Categorical):
        parsed = [None if not isinstance(text, str) else parse_iso_date(text) for text in numbers.categories]
        if None in parsed:
            wrong = numbers.categories[parsed.index(None)]
            raise InputError(f"time must contain numbers or dates in ISO 8601 such as 2026-11-16, got {wrong!r}: convert it")
        numbers = np.append(np.array(parsed, dtype=np.float64), np.nan)[numbers.codes]
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise InputError(f"time must not contain missing or infinite values, got one at row {row}: drop these rows")
    return pd.Series(numbers, name=str(getattr(values, "name", None) or "time"))


def _check_role_columns(names: list[Any], n_rows: int, *columns: pd.Series[Any] | None) -> None:
    """Check that groups and time have one value per row and unique column names."""
    for column in columns:
        if column is None:
            continue
        if len(column) != n_rows:
            raise InputError(f"{column.name} must have a value for each of the {n_rows} rows, got {len(column)} values")
        if column.name in names:
            raise InputError(f"columns must have different names, got {column.name!r} twice: rename one of them")
        names = [*names, column.name]


def _encode_label(label: Any) -> str:
    """Convert a label to text. A NumPy scalar and the equal Python value yield the same text."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _has_copy_on_write() -> bool:
    """Return whether pandas always uses copy-on-write, which makes shallow copies safe."""
    import pandas as pd

    return int(pd.__version__.split(".")[0]) >= 3


_MAX_VALUES = 6


@dataclass(frozen=True)
class Description:
    """A description of a data set, column by column.

    Attributes
    ----------
    summary : Summary
        Size and class counts.
    target : str
        Name of the class column.
    columns : tuple
        One tuple per column except the class: name, type, description of the values, and number of missing values. The type is
        "numeric", "nominal", "groups" (the group column) or "time" (the time column).
    source : str
        File, package or simulation from which the data come.
    notes : tuple of str
        Remarks made when the file was read. If the file is known to be corrupted, the last remark says so.

    Examples
    --------
    >>> describe(Dataset.from_table([[1.0], [2.0]], ["a", "b"])).columns
    (('x0', 'numeric', '1 to 2', 0),)
    """

    summary: Summary
    target: str
    columns: tuple[tuple[str, str, str, int], ...]
    source: str
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Return `columns` as a data frame with one row per column of the data set."""
        import pandas as pd

        return pd.DataFrame(list(self.columns), columns=["column", "type", "values", "missing"])

    def __str__(self) -> str:
        total = sum(self.summary.classes.values())
        lines = [str(self.summary), "", *self._format_table(), "", f"class {self.target!r}:"]
        lines += [f"  {label}  {count} ({count / total:.1%})" for label, count in self.summary.classes.items()]
        lines += ["", f"source: {self.source}"] if self.source else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _format_table(self) -> list[str]:
        cells = [["column", "type", "values", "missing"], *([*map(str, column)] for column in self.columns)]
        widths = [max(len(row[index]) for row in cells) for index in range(3)]
        return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in cells]

    def _repr_html_(self) -> str:
        return format_html_block(str(self))


def describe(data: Dataset) -> Description:
    """Describe a data set, column by column.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    Description

    Examples
    --------
    >>> from fairtrial.data import load
    >>> print(describe(load("iris")).columns[0])
    ('sepal length (cm)', 'numeric', '4.3 to 7.9', 0)
    """
    attributes = data.X
    columns = tuple(
        (str(name), _describe_type(attributes[name]), _describe_values(attributes[name]), int(attributes[name].isna().sum()))
        for name in attributes
    )
    columns += tuple(
        (str(column.name), role, _describe_values(column), 0)
        for role, column in (("groups", data.groups), ("time", data.time))
        if column is not None
    )
    notes = data.notes if data.fault is None else (*data.notes, str(data.fault))
    return Description(data.summary(), data.target, columns, data.source, notes)


def _describe_type(column: pd.Series[Any]) -> str:
    return "nominal" if column.dtype == "category" else "numeric"


def _describe_values(column: pd.Series[Any]) -> str:
    if column.dtype == "category":
        values = [str(category) for category in column.cat.categories]
        text = ", ".join(values[:_MAX_VALUES])
        return text if len(values) <= _MAX_VALUES else f"{text} ... ({len(values)} values)"
    if column.notna().sum() == 0:
        return ""
    return f"{column.min():g} to {column.max():g}"
