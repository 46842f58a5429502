"""The tally of scores: the sufficient statistic of all measures on scores."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels import tally as kernels
from fairtrial.kernels.sorting import order, sort_both

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTally:
    """For each distinct score, highest first: its value, the weight of positives and the weight of negatives.

    `pos` and `neg` may have a leading axis: many tallies at once, over one row of values or over one row each. A place with
    no weight on either side counts as absent. Tallies add up, so parts may be counted by different workers. The constructor
    trusts what it is given; `from_scores`, `from_counts` and `from_parquet` check.

    >>> tally = ScoreTally.from_scores([0, 1, 1, 0], [0.1, 0.8, 0.4, 0.4])
    >>> tally.frame()
       score  positives  negatives
    0    0.8        1.0        0.0
    1    0.4        1.0        1.0
    2    0.1        0.0        1.0
    """

    values: FloatArray
    pos: FloatArray
    neg: FloatArray

    @classmethod
    def from_scores(
        cls,
        y_true: npt.ArrayLike,
        y_score: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> ScoreTally:
        """Tally two columns of a two-class problem."""
        from fairtrial.measures.rows import ScoreRows

        rows = ScoreRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
        return rows.one_class(rows.classes.named_positive()).tally

    @classmethod
    def from_counts(cls, values: npt.ArrayLike, pos: npt.ArrayLike, neg: npt.ArrayLike) -> ScoreTally:
        """A tally of counts that you have: scores in any order, each with its weight of positives and of negatives.

        >>> print(ScoreTally.from_counts([0.1, 0.9], [0, 3], [5, 1]))
        ScoreTally: 2 distinct scores, 3 positives, 6 negatives
        """
        scores, *counts = (
            _check.finite(name, _check.numbers(name, _check.column(name, each)))
            for name, each in (("values", values), ("pos", pos), ("neg", neg))
        )
        _check.same_length(values=scores, pos=counts[0], neg=counts[1])
        for name, each in zip(("pos", "neg"), counts, strict=True):
            if (each < 0).any():
                raise InputError(f"{name} must not be negative, got {each.min()}")
        distinct, places = np.unique(scores, return_inverse=True)
        pos_sums, neg_sums = (np.bincount(places, each).astype(np.float64)[::-1].copy() for each in counts)
        return cls(distinct[::-1].copy(), pos_sums, neg_sums)

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        *,
        score: str = "score",
        truth: str = "truth",
        positive: object = None,
        weight: str | None = None,
        memory_limit: str = "512MB",
    ) -> ScoreTally:
        """Tally a Parquet (or CSV) file that need not fit into memory; see `fairtrial.measures.tally_file`."""
        from fairtrial.measures.tally_file import tally_file

        return tally_file(path, score=score, truth=truth, positive=positive, weight=weight, memory_limit=memory_limit)

    def __add__(self, other: ScoreTally) -> ScoreTally:
        if self.values.ndim > 1 or self.pos.ndim > 1 or other.values.ndim > 1 or other.pos.ndim > 1:
            raise InputError("only single tallies add up, got a batch")
        values = np.union1d(self.values, other.values)[::-1].copy()
        pos, neg = np.zeros(len(values)), np.zeros(len(values))
        for part in (self, other):
            places = len(values) - 1 - np.searchsorted(values[::-1], part.values)
            pos[places] += part.pos
            neg[places] += part.neg
        return ScoreTally(values, pos, neg)

    @property
    def positives(self) -> Any:
        """Weight of all positives."""
        return self.pos.sum(axis=-1, dtype=np.float64)

    @property
    def negatives(self) -> Any:
        """Weight of all negatives."""
        return self.neg.sum(axis=-1, dtype=np.float64)

    def stacked(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Values, pos and neg with a leading axis, as kernels take them."""
        return np.atleast_2d(self.values), np.atleast_2d(self.pos), np.atleast_2d(self.neg)

    def frame(self) -> pd.DataFrame:
        """One line per distinct score; only for a single tally."""
        import pandas as pd

        if self.pos.ndim > 1:
            raise InputError("a batch of tallies has no single frame: take one of its tallies")
        return pd.DataFrame({"score": self.values, "positives": self.pos, "negatives": self.neg})

    def __str__(self) -> str:
        if self.pos.ndim > 1:
            return f"ScoreTally of {self.pos.shape[0]} tallies"
        return f"ScoreTally: {len(self.values)} distinct scores, {self.positives:g} positives, {self.negatives:g} negatives"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.frame().to_html(max_rows=20) if self.pos.ndim == 1 else escape(str(self))


def tally_of(is_positive: npt.NDArray[np.bool_], scores: FloatArray, weights: FloatArray | None) -> ScoreTally:
    """The tally of one column of scores. Without weights the two classes are sorted apart, each at SIMD speed."""
    n = len(scores)
    values, pos, neg = np.empty((1, n)), np.empty((1, n)), np.empty((1, n))
    if weights is None:
        positives, negatives = kernels.split(is_positive, scores)
        sort_both(positives, negatives)
        _no_stray(positives, negatives, scores)
        size = kernels.merge(positives[None], negatives[None], _lengths(positives), _lengths(negatives), values, pos, neg)
    else:
        _check.finite("y_score", scores)
        descending = order(scores)[::-1]
        descending = descending[weights[descending] > 0]
        size = kernels.group_sorted(scores[descending], is_positive[descending], weights[descending], values[0], pos[0], neg[0])
    return ScoreTally(values[0, :size], pos[0, :size], neg[0, :size])


def tallies_of(is_positive: npt.NDArray[np.bool_], scores: FloatArray) -> ScoreTally:
    """The tallies of many models: `scores` B x n, `is_positive` n or B x n."""
    B, n = scores.shape
    if is_positive.ndim == 1:
        positives, negatives = scores[:, is_positive], scores[:, ~is_positive]
        n_positives = np.full(B, positives.shape[1], dtype=np.intp)
        n_negatives = n - n_positives
    else:
        positives, negatives = np.where(is_positive, scores, np.inf), np.where(is_positive, np.inf, scores)
        n_positives = is_positive.sum(axis=1, dtype=np.intp)
        n_negatives = n - n_positives
    positives.sort(axis=1)
    negatives.sort(axis=1)
    values, pos, neg = np.empty((B, n)), np.empty((B, n)), np.empty((B, n))
    kernels.merge(positives, negatives, n_positives, n_negatives, values, pos, neg)
    return ScoreTally(values, pos, neg)


def _lengths(array: FloatArray) -> npt.NDArray[np.intp]:
    return np.array([len(array)], dtype=np.intp)


def _no_stray(positives: FloatArray, negatives: FloatArray, scores: FloatArray) -> None:
    """Sorting puts NaN and infinity at the ends, so two looks per class find them without another pass."""
    for part in (positives, negatives):
        if len(part) and not (np.isfinite(part[0]) and np.isfinite(part[-1])):
            _check.finite("y_score", scores)
