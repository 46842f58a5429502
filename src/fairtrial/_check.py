"""Check arguments. Errors name the invalid argument, the rule, the value and the remedy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._registry import format_similar_name, suggest_name
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

# Integer labels are encoded by counting if their range is smaller than this, because counting is much faster than sorting.
_COUNTABLE_SPAN = 4096
_CONVENTIONAL_PAIRS = ((0, 1), (-1, 1))
# Allowed rounding error of probabilities.
_ROUNDING = 1e-9
_LARGEST_INTEGER, _LARGEST = 2**53, 1e140


def check_generator(name: str, seed: object) -> np.random.Generator:
    """Return a random number generator. If `seed` is a generator, return it unchanged."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**31 - 1, size=4))
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(check_whole_number(name, seed, 0))


def check_one_of(name: str, value: object, options: Iterable[object]) -> None:
    """Check that `value` is one of `options`."""
    options = list(options)
    if not any(value is option or (isinstance(value, type(option)) and value == option) for option in options):
        raise InputError(f"{name} must be {format_options(options)}, got {value!r}{format_similar_name(value, options)}")


def format_options(options: Collection[object]) -> str:
    """Format the allowed values of an argument for an error message.

    >>> format_options(["max", "min"]), format_options([0])
    ("one of 'max' or 'min'", '0')
    """
    listed = join_names(map(repr, options), limit=None, conjunction="or")
    return f"one of {listed}" if len(options) > 1 else listed


def check_number(name: str, value: object) -> None:
    """Check that `value` is a single number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name} must be a number, got {value!r}")


def check_at_least(name: str, value: float, minimum: float) -> None:
    """Check that `value` is a number of at least `minimum`."""
    check_number(name, value)
    if not value >= minimum:
        raise InputError(f"{name} must be at least {minimum}, got {value!r}")


def check_positive(name: str, value: float) -> None:
    """Check that `value` is a finite number above zero."""
    check_number(name, value)
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be above 0 and finite, got {value!r}")


def check_whole_number(name: str, value: object, minimum: int) -> int:
    """Check that `value` is an integer of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    check_at_least(name, int(value), minimum)
    return int(value)


def check_between(name: str, value: float, low: float, high: float) -> None:
    """Check that `value` lies strictly between `low` and `high`."""
    check_number(name, value)
    if not low < value < high:
        percentage = (low, high) == (0, 1) and 1 < value < 100
        remedy = f": pass {value / 100:g} for {value:g} %" if percentage else ""
        remedy = f": {value:g} itself is not allowed" if value in (low, high) else remedy
        raise InputError(f"{name} must lie between {low} and {high}, got {value!r}{remedy}")


def check_proportion(name: str, value: float) -> None:
    """Check that `value` lies in (0, 1]."""
    check_number(name, value)
    if not 0 < value <= 1:
        raise InputError(f"{name} must be above 0 and at most 1, got {value!r}")


def check_column(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Convert values to a one-dimensional array, and check that it has at least one row."""
    array = _check_array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        received = f"shape {array.shape}" if array.ndim else repr(values)
        remedy = ": apply argmax(axis=1) to one-hot columns" if array.ndim == 2 else ""
        raise InputError(f"{name} must be one-dimensional, got {received}{remedy}")
    check_not_empty(name, array)
    return array


def check_not_empty(name: str, array: npt.NDArray[Any]) -> None:
    """Check that an array has at least one row."""
    if len(array) == 0:
        raise InputError(f"{name} must have at least 1 row, got 0")


def check_same_length(**arrays: npt.NDArray[Any] | None) -> None:
    """Check that all given arrays have the same length."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        lengths_text = join_names([f"{name} has {length}" for name, length in lengths.items()])
        raise InputError(f"arrays must have the same number of rows: {lengths_text}")


def _check_array(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Convert values to an array, and reject masked values. A list that mixes numbers and text becomes an object array."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} must not contain masked values, got {int(np.ma.getmaskarray(values).sum())}: drop these rows")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be a column or a table, got rows of different lengths") from None
    if array.dtype.kind not in "US" or not isinstance(values, (list, tuple)):
        return array
    objects = np.asarray(values, dtype=object)
    return array if len({isinstance(value, str) for value in objects.ravel()}) == 1 else objects


def check_numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return numbers as a float64 array of any shape. NaN and infinity are allowed.

    Integers above 2^53 in absolute value are rejected, because floats cannot represent all of them exactly.
    """
    array = _check_array(name, values)
    if array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > _LARGEST_INTEGER:
        largest = int(array.max()) if int(array.max()) > _LARGEST_INTEGER else int(array.min())
        raise InputError(
            f"integers in {name} must be between -2^53 and 2^53, because floats cannot represent all larger integers, "
            f"got {largest}: subtract a constant or pass floats"
        )
    if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and any(isinstance(value, str) for value in array.ravel())):
        raise InputError(f"{name} must contain numbers, got {_find_non_number(array)!r}: convert it to a number")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must contain numbers, got {_find_non_number(array)!r}") from None


def check_finite(name: str, array: FloatArray) -> FloatArray:
    """Check that no value is NaN or infinite."""
    bad = ~np.isfinite(array)
    if bad.any():
        position = tuple(int(i) for i in np.argwhere(bad)[0])
        row_position = position[0] if len(position) == 1 else position
        raise InputError(
            f"{name} must be finite, got {array[position]} at row {row_position} "
            f"({format_count(int(bad.sum()), 'such value')}): drop or replace it"
        )
    return array


def check_probabilities(name: str, array: FloatArray) -> FloatArray:
    """Check that values lie in [0, 1] and that the rows of a matrix sum to 1.

    Values that lie outside [0, 1] only because of rounding are clipped.
    """
    check_finite(name, array)
    outside = (array < -_ROUNDING) | (array > 1 + _ROUNDING)
    if outside.any():
        position = tuple(np.argwhere(outside)[0])
        is_percentage = array.min() >= 0 and 10 < array.max() <= 100
        remedy = "divide percentages by 100" if is_percentage else "calibrate the scores or use a measure of scores"
        raise InputError(
            f"{name} must contain probabilities between 0 and 1, got {array[position]:g} at row {position[0]}: {remedy}"
        )
    if array.ndim == 2:
        sums = array.sum(axis=1)
        off = np.abs(sums - 1) > 1e-5  # rounding error in single precision with a thousand classes
        if off.any():
            row = int(np.argmax(off))
            raise InputError(f"{name} must sum to 1 in each row, got {sums[row]:.9g} at row {row}: normalize the rows")
    return array if array.size == 0 or (array.min() >= 0 and array.max() <= 1) else np.clip(array, 0.0, 1.0)


def check_weights(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """Check that row weights are finite, not negative and not all zero."""
    if sample_weight is None:
        return None
    array = check_finite("sample_weight", check_numbers("sample_weight", check_column("sample_weight", sample_weight)))
    if len(array) != n:
        raise InputError(f"sample_weight must have one value for each of the {n} rows, got {len(array)}")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"sample_weight must be at least 0, got {array[row]} at row {row}")
    if not array.any():
        raise InputError("sample_weight must be positive for at least 1 row, got only zeros")
    check_magnitude("sample_weight", array)
    return array


def check_magnitude(name: str, array: FloatArray) -> None:
    """Check that the largest absolute value can be squared without overflow or underflow."""
    largest = float(np.abs(array).max(initial=0.0))
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        limits = f"{1 / _LARGEST:g} and {_LARGEST:g}"
        raise InputError(f"{name} must be 0 or between {limits} in absolute value, got {largest:g}: rescale the values")


def drop_zero_weights(
    sample_weight: npt.ArrayLike | None, *columns: npt.NDArray[Any]
) -> tuple[FloatArray | None, tuple[npt.NDArray[Any], ...]]:
    """Drop rows with weight zero from the weights and the columns."""
    array = check_weights(sample_weight, len(columns[0]))
    if array is None or array.all():
        return array, columns
    is_kept = array > 0
    return array[is_kept], tuple(values[is_kept] for values in columns)


@dataclass(frozen=True)
class Classes:
    """The ordered classes of a problem, and the index of the positive class (None if there is none)."""

    names: npt.NDArray[Any]
    positive: int | None

    def __len__(self) -> int:
        return len(self.names)

    def require_positive(self, why: str = "") -> int:
        """Return the index of the positive class. Raise an InputError if there is none."""
        if self.positive is None:
            names = self.names.tolist()
            raise InputError(f"positive must be given if the classes are {names}{why}: pass positive= or labels=")
        return self.positive


def list_ordered_labels(*columns: npt.ArrayLike) -> list[Any] | None:
    """List the labels of all columns in the category order of the first ordered column.

    Return None if no column is ordered and categorical, or if any label is not one of the categories.
    """
    for column in columns:
        categories = _list_ordered_categories(column)
        if categories is not None:
            present = {value for values in columns for value in np.asarray(values).ravel().tolist()}
            return [category for category in categories if category in present] if present <= set(categories) else None
    return None


def _list_ordered_categories(column: Any) -> list[Any] | None:
    """List the categories of an ordered pandas, polars (Enum) or pyarrow column. Return None for other columns."""
    dtype: Any = getattr(column, "dtype", getattr(column, "type", None))
    if getattr(dtype, "ordered", False):
        categories = dtype.categories if hasattr(dtype, "categories") else column.to_pandas().dtype.categories
        return list(categories)
    return dtype.categories.to_list() if type(dtype).__name__ == "Enum" and hasattr(dtype, "categories") else None


def encode_labels(
    labels: Sequence[Any] | npt.NDArray[Any] | None, positive: object, **columns: npt.NDArray[Any]
) -> tuple[Classes, list[IntArray]]:
    """Encode label columns as codes 0..k-1.

    The classes are `labels` or, if `labels` is None, the sorted distinct values of all columns.

    >>> classes, (codes,) = encode_labels(None, None, y_true=np.array(["no", "yes", "no"]))
    >>> classes.names.tolist(), classes.positive, codes.tolist()
    (['no', 'yes'], 1, [0, 1, 0])
    """
    for name, values in columns.items():
        _check_no_missing(name, values)
        _check_no_fractions(name, values)
    _check_one_kind(columns)
    if labels is None:
        together = _concat_columns(list(columns.values()))
        names, codes = _encode_sorted(together)
        names, codes = _complete_pair(names, codes)
        code_columns = np.split(codes, np.cumsum([len(values) for values in columns.values()])[:-1])
    else:
        names = _check_array("labels", labels)
        if names.ndim != 1 or len(set(names.tolist())) != len(names):
            raise InputError(f"labels must be a list of distinct classes, got {labels!r}")
        code_columns = [_encode_among(name, values, names) for name, values in columns.items()]
    return Classes(names, _find_positive(names, positive)), code_columns


def _concat_columns(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Concatenate columns. Integers of different types must not become floats, which cannot represent all integers."""
    if len(columns) == 1:
        return columns[0]
    joined = np.concatenate(columns)
    if joined.dtype.kind == "f" and all(values.dtype.kind in "iu" for values in columns):
        return np.concatenate([values.astype(object) for values in columns])
    return joined


def _check_no_missing(name: str, values: npt.NDArray[Any]) -> None:
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "O":
        missing = np.array([is_missing(value) for value in values], dtype=bool)
    else:
        return
    if missing.any():
        raise InputError(f"{name} must not contain missing labels, got one at row {int(np.argmax(missing))}: drop these rows")


def _check_no_fractions(name: str, values: npt.NDArray[Any]) -> None:
    if values.dtype.kind == "f":
        fractional = values != np.floor(values)
        if fractional.any():
            raise InputError(
                f"{name} must contain labels, got {values[np.argmax(fractional)]:g}: "
                "pass scores and probabilities as y_score; use fairtrial.measures.regression for numbers"
            )


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT, NA, or any other value that is not equal to itself."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _check_one_kind(columns: dict[str, npt.NDArray[Any]]) -> None:
    kinds = {}
    for name, values in columns.items():
        first = values[0]
        numeric = isinstance(first, (bool, int, float, np.bool_, np.number))
        kinds[name] = "text" if isinstance(first, str) else "numbers" if numeric else "objects"
    if len(set(kinds.values())) > 1:
        kinds_text = join_names([f"{name} contains {kind}" for name, kind in kinds.items()])
        raise InputError(f"labels must be of one type: {kinds_text}; convert one of them")


def _encode_sorted(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    if values.dtype.kind == "b":
        names = np.array([False, True])
        return names, values.astype(np.intp)
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < _COUNTABLE_SPAN:
            offsets = (values - values.min()).astype(np.intp, copy=False)
            present = np.flatnonzero(np.bincount(offsets))
            if len(present) == high - low + 1:
                return (present + low).astype(values.dtype), offsets
            table = np.zeros(high - low + 1, dtype=np.intp)
            table[present] = np.arange(len(present))
            return (present + low).astype(values.dtype), table[offsets]
    if values.dtype.kind in "iuf":
        names = np.unique(values)
        return names, np.searchsorted(names, values)
    try:
        names, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise InputError("labels must be of one type, got several: convert them to one type") from None
    return names, codes.astype(np.intp).reshape(-1)


def _complete_pair(names: npt.NDArray[Any], codes: IntArray) -> tuple[npt.NDArray[Any], IntArray]:
    """If 0, 1 or -1 is the only class, add the other class of the pair (0, 1) or (-1, 1)."""
    if len(names) == 1 and names.dtype.kind in "iuf":
        for pair in _CONVENTIONAL_PAIRS:
            if names[0] in pair:
                return np.array(pair), np.full(len(codes), pair.index(names[0]), dtype=np.intp)
    return names, codes


def _encode_among(name: str, values: npt.NDArray[Any], names: npt.NDArray[Any]) -> IntArray:
    codes_by_value = {value: code for code, value in enumerate(names.tolist())}
    distinct, inverse = _encode_sorted(values)
    codes = np.array([codes_by_value.get(value, -1) for value in distinct.tolist()], dtype=np.intp)[inverse]
    if (codes < 0).any():
        unknown = distinct.tolist()[inverse[np.argmax(codes < 0)]]
        raise InputError(f"{name} must contain only the given labels, got {unknown!r}: {suggest_name(unknown, codes_by_value)}")
    return codes


def _find_positive(names: npt.NDArray[Any], positive: object) -> int | None:
    listed: list[Any] = names.tolist()
    if positive is not None:
        if positive not in listed:
            raise InputError(f"positive must be one of the classes, got {positive!r}: {suggest_name(positive, listed)}")
        return listed.index(positive)
    return 1 if len(listed) == 2 else None


def _find_non_number(values: npt.ArrayLike) -> object:
    for value in np.asarray(values, dtype=object).ravel():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
        if isinstance(value, str):
            return value
    return values


def describe_other_values(values: npt.NDArray[Any]) -> str | None:
    """Describe the type of values that are not real numbers, e.g. as "text". Return None if all values are real numbers.

    >>> [describe_other_values(np.array(values)) for values in ([0.5, 1.0], ["0.5"], [1j])]
    [None, 'text', 'complex numbers']
    """
    if values.dtype.kind in "biuf":
        return None
    if values.dtype.kind == "O":
        others = [type(value).__name__ for value in values.ravel().tolist() if not isinstance(value, (Real, Decimal))]
        return f"values of type {others[0]}" if others else None
    return {"c": "complex numbers", "U": "text", "S": "text"}.get(values.dtype.kind, f"values of type {values.dtype}")
