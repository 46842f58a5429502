"""Scores and their design: learners, data sets, repeats and folds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._frames import to_pandas
from fairtrial._narrative import render_all
from fairtrial._text import format_count, format_html_table
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Better = Literal["max", "min"]


_DIGITS = 12


MAX_EXACT_WILCOXON = 500
"""Up to this many differences, computing the exact distribution of signed ranks takes less than 0.1 s."""


# Up to this many values, comparing all pairs is faster than sorting.
_FEW_VALUES = 20

# Numbers are not rounded if the absolute exponent of their scale reaches this limit, because rounding would overflow.
_ROUNDABLE = 280


@dataclass(frozen=True)
class ScoreTable:
    """Checked scores of k learners (columns) on N data sets (rows)."""

    values: FloatArray
    datasets: tuple[str, ...]
    learners: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of data sets and number of learners."""
        return len(self.datasets), len(self.learners)

    def find_column(self, learner: str) -> int:
        """Return the column index of a learner."""
        if learner not in self.learners:
            _check.check_one_of("control", learner, self.learners)
        return self.learners.index(learner)

    def compute_ranks(self, better: Better = "max") -> FloatArray:
        """Compute the rank of each learner on each data set. Rank 1 is best, and ties receive their mean rank."""
        return self._ascending_ranks.copy() if better == "min" else len(self.learners) + 1 - self._ascending_ranks

    @cached_property
    def _ascending_ranks(self) -> FloatArray:
        return rank_values(round_noise(self.values, self.row_scale))

    @property
    def row_scale(self) -> FloatArray:
        """Largest absolute score on each data set, which determines the size of rounding errors."""
        return np.asarray(np.abs(self.values).max(axis=1, keepdims=True))


def read_table(scores: ScoreTable | pd.DataFrame | npt.ArrayLike, *, learners: int = 2, datasets: int = 2) -> ScoreTable:
    """Read and check a table of scores with one row per data set and one column per learner.

    A `ScoreTable` is returned unchanged.

    >>> import pandas as pd
    >>> read_table(pd.DataFrame({"a": [0.1, 0.3], "b": [0.2, 0.2]})).learners
    ('a', 'b')
    """
    if isinstance(scores, ScoreTable):
        return scores
    frame = to_pandas(scores)
    columns, index = (None, None) if frame is None else (frame.columns, frame.index)
    values = np.asarray(scores if frame is None else frame)
    if values.ndim != 2:
        raise InputError(f"scores must have one row per data set and one column per learner, got shape {values.shape}")
    names = [str(name) for name in (columns if columns is not None else range(values.shape[1]))]
    rows = [str(name) for name in (index if index is not None else range(values.shape[0]))]
    for axis, axis_names in (("learner", names), ("data set", rows)):
        duplicates = [name for name, times in Counter(axis_names).items() if times > 1]
        if duplicates:
            raise InputError(
                f"each {axis} must occur once in the table, got {duplicates[0]!r} more than once: rename or average them"
            )
    if len(names) < learners:
        raise InputError(f"scores must have at least {learners} learners (columns), got {len(names)}")
    if len(rows) < datasets:
        raise InputError(f"scores must have at least {datasets} data sets (rows), got {len(rows)}")
    return ScoreTable(_check_finite_scores(values, rows, names), tuple(rows), tuple(names))


def _check_finite_scores(values: npt.NDArray[Any], rows: list[str], names: list[str]) -> FloatArray:
    numbers = _check.check_numbers("scores", values)
    is_invalid = ~np.isfinite(numbers)
    if is_invalid.any():
        row, column = np.argwhere(is_invalid)[0]
        raise InputError(
            f"scores must be finite, got {numbers[row, column]} for learner {names[column]!r} on data set {rows[row]!r}: "
            "fill the cell or drop the row"
        )
    return numbers


def compute_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """Compute first - second without rounding errors: 0.3 - 0.2 equals 0.4 - 0.3.

    >>> d = compute_differences(np.array([0.3, 0.4]), np.array([0.2, 0.3]))
    >>> bool(d[0] == d[1])
    True
    """
    return round_noise(first - second, np.maximum(np.abs(first), np.abs(second)))


def round_noise(derived: FloatArray, scale: npt.ArrayLike) -> FloatArray:
    """Round sums and differences to 12 digits relative to the scale of the original numbers.

    `scale` is broadcast, so each number is rounded at its own scale. If all data sets shared one scale, large scores on one of
    them could cause small scores on others to be rounded to zero.
    """
    scales = np.broadcast_to(np.abs(scale), derived.shape)
    with np.errstate(divide="ignore"):
        powers = np.ceil(np.log10(scales))
    out = np.array(derived, dtype=np.float64)
    for power in np.unique(powers[np.abs(powers) < _ROUNDABLE]):
        mask = powers == power
        out[mask] = np.round(out[mask], _DIGITS - int(power))
    return np.asarray(out + 0.0)  # turns -0.0 into 0.0


def rank_values(values: FloatArray) -> FloatArray:
    """Rank values along the last axis. Rank 1 is the smallest value, and ties receive their mean rank.

    Rounding errors must be removed with `round_noise` first.
    """
    if values.shape[-1] <= _FEW_VALUES and np.isfinite(values).all():
        n_smaller = (values[..., :, None] > values[..., None, :]).sum(axis=-1)
        n_equal = (values[..., :, None] == values[..., None, :]).sum(axis=-1)
        return np.asarray(n_smaller + (n_equal + 1) / 2)
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=-1))


def compute_sign_flip_p(scores: FloatArray) -> float:
    """Compute the exact two-sided p-value of a sum of signed scores, using all sign patterns.

    The scores must be multiples of 1/4, e.g. differences between ranks. Zeros are ignored.

    >>> compute_sign_flip_p(np.array([1.0, 2.0, 3.0, -4.0]))
    0.875
    """
    sizes = np.rint(4 * np.abs(scores)).astype(np.int64)
    reach = int(min(sizes[scores > 0].sum(), sizes[scores < 0].sum()))
    if 2 * reach >= sizes.sum():
        return 1.0
    # chance[s] is the probability that the positive scores sum to s. Sums beyond the observed one are not needed.
    unit = int(np.gcd.reduce(sizes))
    reach //= unit
    chance = np.zeros(reach + 1)
    chance[0] = 1.0
    for size in np.sort(sizes[sizes > 0] // unit):
        chance[size:] += chance[: max(reach + 1 - size, 0)]
        chance /= 2
    return float(min(1.0, 2 * chance.sum()))


def read_paired_columns(first: npt.ArrayLike, second: npt.ArrayLike, min_rows: int = 1) -> tuple[FloatArray, FloatArray]:
    """Read two paired columns of finite numbers with at least `min_rows` rows."""
    a = _check.check_finite("first", _check.check_numbers("first", _check.check_column("first", first)))
    b = _check.check_finite("second", _check.check_numbers("second", _check.check_column("second", second)))
    _check.check_same_length(first=a, second=b)
    if len(a) < min_rows:
        raise InputError(f"first and second must have at least {min_rows} rows, got {len(a)}")
    return a, b


Split = tuple[str, Hashable, Hashable]


@dataclass(frozen=True)
class Design:
    """Learners, data sets, and the largest numbers of repeats and folds."""

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    repeats: int = 1
    folds: int = 1

    def __str__(self) -> str:
        parts = [format_count(len(self.learners), "learner"), format_count(len(self.datasets), "data set")]
        splits = {"repeat": self.repeats, "fold": self.folds}
        return ", ".join(parts + [format_count(number, noun) for noun, number in splits.items() if number > 1])


@dataclass(frozen=True)
class Scores:
    """Scores and their splits, as read from a source.

    Attributes
    ----------
    cells : ndarray of shape (n_splits, n_learners)
        The scores; missing scores are NaN.
    splits : tuple of (str, hashable, hashable)
        Data set, repeat and fold of each row.
    learners : tuple of str
        Names of the learners.
    guesses : tuple of Finding
        Findings that describe how the columns of the source were interpreted.
    measure : str or None
        Name of the measure, if the source contains it.
    exclusions : tuple of Finding
        Rows and columns that were excluded because they contain no scores of a learner.

    Examples
    --------
    >>> scores = Scores(np.array([[0.9, 0.8], [0.7, 0.6]]), (("iris", 1, 1), ("wine", 1, 1)), ("tree", "bayes"))
    >>> scores.to_wide()
             tree  bayes
    dataset
    iris      0.9    0.8
    wine      0.7    0.6
    """

    cells: FloatArray = field(repr=False)
    splits: tuple[Split, ...] = field(repr=False)
    learners: tuple[str, ...]
    guesses: tuple[Finding, ...] = ()
    measure: str | None = None
    exclusions: tuple[Finding, ...] = ()

    @cached_property
    def design(self) -> Design:
        """Learners, data sets, repeats and folds."""
        repeats: dict[str, set[Hashable]] = {}
        folds: dict[tuple[str, Hashable], set[Hashable]] = {}
        for dataset, repeat, fold in self.splits:
            repeats.setdefault(dataset, set()).add(repeat)
            folds.setdefault((dataset, repeat), set()).add(fold)
        return Design(self.learners, tuple(repeats), max(map(len, repeats.values())), max(map(len, folds.values())))

    @property
    def tidy(self) -> pd.DataFrame:
        """Data frame with one row per available score: dataset, learner, repeat, fold, value."""
        import pandas as pd

        rows, columns = np.nonzero(~np.isnan(self.cells))
        lines = [(self.splits[i], self.learners[j], self.cells[i, j]) for i, j in zip(rows, columns, strict=True)]
        named = [(split[0], learner, split[1], split[2], value) for split, learner, value in lines]
        return pd.DataFrame(named, columns=["dataset", "learner", "repeat", "fold", "value"])

    def frame(self) -> pd.DataFrame:
        """Return the data frame `tidy`."""
        return self.tidy

    def drop(self, datasets: Container[str] = (), learners: Container[str] = ()) -> Scores:
        """Return the scores without the given data sets and learners.

        Parameters
        ----------
        datasets : container of str
            Data sets to drop.
        learners : container of str
            Learners to drop.

        Returns
        -------
        Scores
        """
        rows = [i for i, split in enumerate(self.splits) if split[0] not in datasets]
        columns = [i for i, name in enumerate(self.learners) if name not in learners]
        splits = tuple(self.splits[i] for i in rows)
        names = tuple(self.learners[i] for i in columns)
        return Scores(self.cells[np.ix_(rows, columns)], splits, names, self.guesses, self.measure, self.exclusions)

    def select_shared(self) -> Scores:
        """Drop each split that lacks the score of a learner.

        A learner without any score on the data set is ignored. Dropping splits keeps the means of the other learners
        comparable.
        """
        if not np.isnan(self.cells).any():
            return self
        is_kept = np.ones(len(self.splits), dtype=bool)
        for rows in self.index_rows().values():
            is_missing = np.isnan(self.cells[rows])
            is_kept[rows] = ~is_missing[:, ~is_missing.all(axis=0)].any(axis=1)
        # A data set without shared splits keeps one row of missing values.
        empty_rows = [rows for rows in self.index_rows().values() if not is_kept[rows].any()]
        cells = self.cells.copy()
        for rows in empty_rows:
            is_kept[rows[0]], cells[rows[0]] = True, np.nan
        splits = tuple(split for split, keep in zip(self.splits, is_kept, strict=True) if keep)
        return Scores(cells[is_kept], splits, self.learners, self.guesses, self.measure, self.exclusions)

    def index_rows(self) -> dict[str, list[int]]:
        """Return the row indices of each data set."""
        rows: dict[str, list[int]] = {}
        for row, (dataset, _, _) in enumerate(self.splits):
            rows.setdefault(dataset, []).append(row)
        return rows

    def compute_means(self) -> FloatArray:
        """Compute the mean over shared splits for each data set (rows) and learner (columns)."""
        shared_scores = self.select_shared()
        rows = shared_scores.index_rows()
        if len(rows) == len(shared_scores.splits):
            return shared_scores.cells
        return np.array([shared_scores.cells[dataset_rows].mean(axis=0) for dataset_rows in rows.values()])

    def to_wide(self) -> pd.DataFrame:
        """Return the means as a data frame with one row per data set and one column per learner."""
        import pandas as pd

        index = pd.Index(self.design.datasets, name="dataset")
        return pd.DataFrame(self.compute_means(), index=index, columns=list(self.learners))

    def __str__(self) -> str:
        return " ".join([f"Scores: {self.design}.", *render_all((*self.guesses, *self.exclusions))])

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>" + format_html_table(self.to_wide(), index=True)
