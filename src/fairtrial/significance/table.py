"""Tables of scores, and ranks that float noise cannot decide."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Better = Literal["max", "min"]
_DIGITS = 12
# Beyond these powers of ten a number cannot be rounded by multiplying, and need not be.
_ROUNDABLE = 280


@dataclass(frozen=True)
class ScoreTable:
    """Scores of k learners (columns) on N data sets (rows), checked: numbers, finite, at least `least` of each."""

    values: FloatArray
    datasets: tuple[str, ...]
    learners: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Data sets and learners."""
        return len(self.datasets), len(self.learners)

    def column(self, learner: str) -> int:
        """The place of a learner."""
        if learner not in self.learners:
            _check.one_of("control", learner, self.learners)
        return self.learners.index(learner)

    def ranks(self, better: Better = "max") -> FloatArray:
        """Rank of each learner on each data set, 1 the best, ties sharing their mean rank."""
        calm = quiet(self.values, self.row_scale)
        return ranked(calm if better == "min" else -calm)

    @property
    def row_scale(self) -> FloatArray:
        """The largest score of each data set, N x 1: what its float noise is measured by."""
        return np.asarray(np.abs(self.values).max(axis=1, keepdims=True))


def read_table(scores: pd.DataFrame | npt.ArrayLike, *, learners: int = 2, datasets: int = 2) -> ScoreTable:
    """A frame (rows data sets, columns learners) or a matrix, checked.

    >>> import pandas as pd
    >>> read_table(pd.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.2]})).learners
    ('a', 'b')
    """
    columns = getattr(scores, "columns", None)
    index = getattr(scores, "index", None) if columns is not None else None
    values = np.asarray(scores)
    if values.ndim != 2:
        raise InputError(
            f"scores must be a table with a row for each data set and a column for each learner, got {values.shape}"
        )
    names = [str(name) for name in (columns if columns is not None else range(values.shape[1]))]
    rows = [str(name) for name in (index if index is not None else range(values.shape[0]))]
    for what, given in (("learner", names), ("data set", rows)):
        twice = [name for name, times in Counter(given).items() if times > 1]
        if twice:
            raise InputError(f"each {what} must occur once in the table, got {twice[0]!r} more than once: rename or average")
    if len(names) < learners:
        raise InputError(f"scores must have at least {learners} learners (columns), got {len(names)}")
    if len(rows) < datasets:
        raise InputError(f"scores must have at least {datasets} data sets (rows), got {len(rows)}")
    return ScoreTable(_finite(values, rows, names), tuple(rows), tuple(names))


def _finite(values: npt.NDArray[Any], rows: list[str], names: list[str]) -> FloatArray:
    numbers = _check.numbers("scores", values)
    bad = ~np.isfinite(numbers)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise InputError(
            f"scores must be finite, got {numbers[row, column]} for learner {names[column]!r} on data set {rows[row]!r}: "
            "fill the cell or drop the row"
        )
    return numbers


def differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """first - second without float noise: 0.3 - 0.2 equals 0.4 - 0.3.

    >>> d = differences(np.array([0.3, 0.4]), np.array([0.2, 0.3]))
    >>> bool(d[0] == d[1])
    True
    """
    return quiet(first - second, np.maximum(np.abs(first), np.abs(second)))


def quiet(derived: FloatArray, scale: npt.ArrayLike) -> FloatArray:
    """Numbers derived from data of this scale by adding and subtracting, rounded to 12 digits of the scale.

    Each number has its own scale (`scale` is broadcast): a data set with large scores must not wipe out one with small ones.
    """
    scales = np.broadcast_to(np.abs(scale), derived.shape)
    with np.errstate(divide="ignore"):
        powers = np.ceil(np.log10(scales))
    out = np.array(derived, dtype=np.float64)
    for power in np.unique(powers[np.abs(powers) < _ROUNDABLE]):
        place = powers == power
        out[place] = np.round(out[place], _DIGITS - int(power))
    return np.asarray(out + 0.0)  # which turns -0.0 into 0.0


def ranked(values: FloatArray) -> FloatArray:
    """Mean ranks along the last axis, 1 the smallest; the values must be free of float noise (see `quiet`)."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1))


def two_columns(first: npt.ArrayLike, second: npt.ArrayLike, least: int = 1) -> tuple[FloatArray, FloatArray]:
    """Two paired columns of finite numbers with at least `least` rows."""
    a = _check.finite("first", _check.numbers("first", _check.column("first", first)))
    b = _check.finite("second", _check.numbers("second", _check.column("second", second)))
    _check.same_length(first=a, second=b)
    if len(a) < least:
        raise InputError(f"first and second must have at least {least} rows, got {len(a)}")
    return a, b
