"""Each argument check, once. A check returns the clean value or raises InputError with name, rule, value and remedy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

# Integer labels within this span are encoded by counting, which is much faster than sorting.
_COUNTABLE_SPAN = 4096
_CONVENTIONAL_PAIRS = ((0, 1), (-1, 1))
# Probabilities that are sums of shares leave 0 to 1 by as little as this.
_ROUNDING = 1e-9


def check_generator(name: str, seed: object) -> np.random.Generator:
    """A source of random numbers of its own for a seed; one that is given is used as it is."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.RandomState):
        return np.random.default_rng(seed.randint(0, 2**31 - 1, size=4))
    if seed is None or isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    return np.random.default_rng(check_whole_number(name, seed, 0))


def check_one_of(name: str, value: object, options: Iterable[object]) -> None:
    """`value` is one of `options`."""
    options = list(options)
    if not any(value is option or (isinstance(value, type(option)) and value == option) for option in options):
        hint = suggest_name(value, options)
        raise InputError(f"{name} must be one of {options}, got {value!r}" + (f": {hint}" if "mean" in hint else ""))


def check_number(name: str, value: object) -> None:
    """`value` is a single number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{name} must be a number, got {value!r}")


def check_at_least(name: str, value: float, minimum: float) -> None:
    """`value` is a number not below `minimum`."""
    check_number(name, value)
    if not value >= minimum:
        raise InputError(f"{name} must be at least {minimum}, got {value!r}")


def check_positive(name: str, value: float) -> None:
    """`value` is a finite number above zero."""
    check_number(name, value)
    if not 0 < value < float("inf"):
        raise InputError(f"{name} must be above 0 and finite, got {value!r}")


def check_whole_number(name: str, value: object, minimum: int) -> int:
    """`value` is an integer not below `minimum`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    check_at_least(name, int(value), minimum)
    return int(value)


def check_between(name: str, value: float, low: float, high: float) -> None:
    """`value` lies strictly between `low` and `high`."""
    check_number(name, value)
    if not low < value < high:
        raise InputError(f"{name} must lie between {low} and {high}, got {value!r}")


def check_proportion(name: str, value: float) -> None:
    """`value` lies in (0, 1]."""
    check_number(name, value)
    if not 0 < value <= 1:
        raise InputError(f"{name} must be above 0 and at most 1, got {value!r}")


def check_column(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """A one-dimensional array with at least one row."""
    array = _check_array(name, values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        received = f"shape {array.shape}" if array.ndim else repr(values)
        remedy = ": of columns of zeros and ones take argmax(axis=1)" if array.ndim == 2 else ""
        raise InputError(f"{name} must be one-dimensional, got {received}{remedy}")
    check_not_empty(name, array)
    return array


def check_not_empty(name: str, array: npt.NDArray[Any]) -> None:
    """At least one row."""
    if len(array) == 0:
        raise InputError(f"{name} must hold at least 1 row, got 0")


def check_same_length(**arrays: npt.NDArray[Any] | None) -> None:
    """All arrays that are given have one length."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        lengths_text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InputError(f"arrays must have the same number of rows: {lengths_text}")


def _check_array(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Values as they are, in an array; a masked value is as bad as a missing one. Lists that mix numbers and text keep both."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InputError(f"{name} must not hold masked values, got {int(np.ma.getmaskarray(values).sum())}: drop these rows")
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} must be a column or a table, got rows of different lengths") from None
    if array.dtype.kind not in "US" or not isinstance(values, (list, tuple)):
        return array
    objects = np.asarray(values, dtype=object)
    return array if len({isinstance(value, str) for value in objects.ravel()}) == 1 else objects


def check_numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """Numbers as float64, any shape; NaN and infinity are not looked for."""
    array = _check_array(name, values)
    if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and any(isinstance(value, str) for value in array.ravel())):
        raise InputError(f"{name} must hold numbers, got {_find_non_number(array)!r}: convert it first")
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must hold numbers, got {_find_non_number(array)!r}") from None


def check_finite(name: str, array: FloatArray) -> FloatArray:
    """No NaN, no infinity."""
    bad = ~np.isfinite(array)
    if bad.any():
        position = tuple(int(i) for i in np.argwhere(bad)[0])
        row_position = position[0] if len(position) == 1 else position
        raise InputError(
            f"{name} must be finite, got {array[position]} at row {row_position} ({int(bad.sum())} such values): "
            "drop these rows or give them a number"
        )
    return array


def check_probabilities(name: str, array: FloatArray) -> FloatArray:
    """Each value in [0, 1], a rounding error apart, which is taken away; each row of a matrix sums to one."""
    check_finite(name, array)
    outside = (array < -_ROUNDING) | (array > 1 + _ROUNDING)
    if outside.any():
        position = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"{name} must hold probabilities between 0 and 1, got {array[position]} at row {position[0]}: "
            "calibrate the scores first or use a measure that needs scores only"
        )
    if array.ndim == 2:
        sums = array.sum(axis=1)
        off = np.abs(sums - 1) > 1e-5  # what single precision leaves of a thousand classes
        if off.any():
            row = int(np.argmax(off))
            raise InputError(f"{name} must sum to 1 in each row, got {sums[row]:.9g} at row {row}: normalise the rows")
    return array if array.size == 0 or (array.min() >= 0 and array.max() <= 1) else np.clip(array, 0.0, 1.0)


def check_weights(sample_weight: npt.ArrayLike | None, n: int) -> FloatArray | None:
    """Row weights: finite, not negative, not all zero."""
    if sample_weight is None:
        return None
    array = check_finite("sample_weight", check_numbers("sample_weight", check_column("sample_weight", sample_weight)))
    if len(array) != n:
        raise InputError(f"sample_weight must have one value for each of the {n} rows, got {len(array)}")
    if (array < 0).any():
        row = int(np.argmax(array < 0))
        raise InputError(f"sample_weight must not be negative, got {array[row]} at row {row}")
    if not array.any():
        raise InputError("sample_weight must not be zero everywhere: at least one row has to count")
    return array


def drop_zero_weights(
    sample_weight: npt.ArrayLike | None, *columns: npt.NDArray[Any]
) -> tuple[FloatArray | None, tuple[npt.NDArray[Any], ...]]:
    """Weights and columns without the rows of weight zero: these are absent."""
    array = check_weights(sample_weight, len(columns[0]))
    if array is None or array.all():
        return array, columns
    is_kept = array > 0
    return array[is_kept], tuple(values[is_kept] for values in columns)


@dataclass(frozen=True)
class Classes:
    """The classes of a problem in order, and which one is the positive one (None: not a two-class problem)."""

    names: npt.NDArray[Any]
    positive: int | None

    def __len__(self) -> int:
        return len(self.names)

    def require_positive(self, why: str = "") -> int:
        """The place of the positive class, which must be known."""
        if self.positive is None:
            names = self.names.tolist()
            raise InputError(f"positive must be named when the classes are {names}{why}: pass positive= or labels=")
        return self.positive


def encode_labels(
    labels: Sequence[Any] | npt.NDArray[Any] | None, positive: object, **columns: npt.NDArray[Any]
) -> tuple[Classes, list[IntArray]]:
    """Label columns as codes 0..k-1 of the same classes: those in `labels`, else all that occur, sorted.

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
            raise InputError(f"labels must be a list of different classes, got {labels!r}")
        code_columns = [_encode_among(name, values, names) for name, values in columns.items()]
    return Classes(names, _find_positive(names, positive)), code_columns


def _concat_columns(columns: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """One column after the other; whole numbers of different types must not meet as floats, which cannot hold them all."""
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
        raise InputError(f"{name} must not hold missing labels, got one at row {int(np.argmax(missing))}: drop these rows")


def _check_no_fractions(name: str, values: npt.NDArray[Any]) -> None:
    if values.dtype.kind == "f":
        fractional = values != np.floor(values)
        if fractional.any():
            raise InputError(
                f"{name} must hold labels, got {values[np.argmax(fractional)]:g}: "
                "scores and probabilities go to y_score, numbers to fairtrial.measures.regression"
            )


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas' NA: whatever does not equal itself, or refuses to say."""
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
        kinds_text = ", ".join(f"{name} holds {kind}" for name, kind in kinds.items())
        raise InputError(f"label columns must hold labels of one kind: {kinds_text}; convert one of them")


def _encode_sorted(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    if values.dtype.kind == "b":
        names = np.array([False, True])
        return names, values.astype(np.intp)
    if values.dtype.kind in "iu":
        low, high = int(values.min()), int(values.max())
        if high - low < _COUNTABLE_SPAN:
            offsets = (values - values.min()).astype(np.intp)
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
        raise InputError(
            "labels must be comparable with each other, got a mixture of types: convert them to one type"
        ) from None
    return names, codes.astype(np.intp).reshape(-1)


def _complete_pair(names: npt.NDArray[Any], codes: IntArray) -> tuple[npt.NDArray[Any], IntArray]:
    """A lone 0 or 1 (or -1) belongs to the usual pair, so that a column of one class keeps its meaning."""
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
        raise InputError(f"{name} must hold only the given labels, got {unknown!r}: {suggest_name(unknown, codes_by_value)}")
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
