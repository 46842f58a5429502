"""Evidence of many trials with equally many test rows, stacked: what measures of all of them are computed from at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import Classes, FloatArray, IntArray
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.rows import ProbabilityRows, ScoreRows
from fairtrial.measures.tally import ScoreTally, tallies_of
from fairtrial.study.evidence import ABSTAINED, Predictions
from fairtrial.study.results.class_order import ClassOrder

BoolArray = npt.NDArray[np.bool_]
_ROUNDING = 1e-5
"""How far the probabilities of a row may be from 1 in sum, as in the measures."""
_OUTSIDE = 1e-9
"""How far a probability may be outside 0 to 1, as in the measures: it is then taken as 0 or 1."""


@dataclass(frozen=True, eq=False)
class Stack:
    """B trials of n test rows: codes (B, n) in the order of `classes`, and scores (B, n, k) where there are some.

    Either all trials have predictions that are ABSTAINED or none has.
    """

    true: IntArray
    predicted: IntArray
    scores: FloatArray | None
    kind: str | None
    order: ClassOrder

    @cached_property
    def confusion(self) -> Confusion:
        """The tables of all trials; an abstention is a further label, the last, that is never true."""
        k = len(self.order.order)
        return self._counted(np.where(self.silent, k, self.predicted), [*self.order.names, *["abstained"] * self.abstains])

    @cached_property
    def mistaken(self) -> Confusion:
        """The tables with a wrong class, of two classes the other one, in place of each abstention."""
        wrong = (self.true + 1) % len(self.order.order)
        return self._counted(np.where(self.silent, wrong, self.predicted), self.order.names)

    def _counted(self, predicted: IntArray, labels: Sequence[Any]) -> Confusion:
        k, trials = len(labels), len(self.true)
        cells = np.arange(trials)[:, None] * (k * k) + self.true * k + predicted
        table = np.bincount(cells.ravel(), minlength=trials * k * k).reshape(trials, k, k)
        return Confusion(table.astype(np.float64), tuple(labels), self.order.positive)

    @cached_property
    def silent(self) -> BoolArray:
        """Which rows got no class, (B, n)."""
        return np.asarray(self.predicted == ABSTAINED)

    @cached_property
    def abstains(self) -> bool:
        """Whether the trials have abstentions."""
        return bool(self.silent.any())

    @cached_property
    def support(self) -> FloatArray:
        """Test rows of each class, (B, k)."""
        return self.confusion.true[:, : len(self.order.order)]

    @cached_property
    def finite(self) -> BoolArray:
        """Which trials have scores without NaN or infinity."""
        if self.scores is None:
            return np.zeros(len(self.true), dtype=bool)
        return np.asarray(np.isfinite(self.scores).all(axis=(1, 2)))

    @cached_property
    def forecasts(self) -> BoolArray:
        """Which trials have scores that are probabilities."""
        if self.scores is None or self.kind != "probability":
            return np.zeros(len(self.true), dtype=bool)
        with np.errstate(invalid="ignore"):
            inside = ((self.scores >= -_OUTSIDE) & (self.scores <= 1 + _OUTSIDE)).all(axis=(1, 2))
            return np.asarray(inside & (np.abs(self.scores.sum(axis=2) - 1) <= _ROUNDING).all(axis=1))

    @cached_property
    def _tallies(self) -> dict[int, ScoreTally]:
        return {}

    def tally(self, code: int) -> ScoreTally:
        """The tallies of one class against the rest."""
        if code not in self._tallies:
            column = np.ascontiguousarray(np.where(self.finite[:, None], self._column(code), 0.0))
            self._tallies[code] = tallies_of(self.true == code, column)
        return self._tallies[code]

    def _column(self, code: int) -> FloatArray:
        assert self.scores is not None
        return self.scores[:, :, code]

    def score_rows(self, trial: int) -> ScoreRows:
        """The rows of one trial, for measures that want all classes."""
        assert self.scores is not None
        return ScoreRows(self.true[trial], np.ascontiguousarray(self.scores[trial]), None, self.order.classes)

    @cached_property
    def _probabilities(self) -> tuple[IntArray, FloatArray, Classes]:
        """Truth, probabilities and classes; a class that is singled out of several stands against the rest."""
        assert self.scores is not None
        positive, shares = self.order.positive, np.clip(self.scores, 0.0, 1.0)
        if positive is None or len(self.order.order) == 2:
            return self.true, shares, self.order.classes
        share = shares[:, :, positive]
        names = np.array(["the rest", str(self.order.names[positive])])
        return (self.true == positive).astype(np.intp), np.stack([1 - share, share], axis=-1), Classes(names, 1)

    def probability_rows(self, trial: int) -> ProbabilityRows:
        """The rows of one trial."""
        true, matrix, classes = self._probabilities
        ones = np.ones(true.shape[1])
        return ProbabilityRows(ones[None], true[trial], np.ascontiguousarray(matrix[trial]), classes, ones)

    def mean_rows(self) -> MeanRows:
        """The rows of all trials, for measures that are means over rows."""
        true, matrix, classes = self._probabilities
        return MeanRows(true.ravel(), matrix.reshape(true.size, -1), classes, true.shape)


@dataclass(frozen=True, eq=False)
class MeanRows:
    """Rows of many trials, one after the other, whose `mean` is that of each trial: stands in for `ProbabilityRows`."""

    true: IntArray
    probabilities: FloatArray
    classes: Classes
    shape: tuple[int, ...]
    shared: dict[Any, Any] = field(default_factory=dict)

    def mean(self, contributions: FloatArray) -> FloatArray:
        """The mean of each trial."""
        return np.asarray(contributions.reshape(self.shape).mean(axis=1))

    @cached_property
    def of_truth(self) -> FloatArray:
        """Probability given to the true class of each row."""
        return np.take_along_axis(self.probabilities, self.true[:, None], axis=1)[:, 0]

    @cached_property
    def truth(self) -> FloatArray:
        """The true class as a row of zeros with a one."""
        return np.eye(len(self.classes))[self.true]

    def once(self, key: Any, compute: Callable[[], Any]) -> Any:
        """As `ProbabilityRows` has it."""
        if key not in self.shared:
            self.shared[key] = compute()
        return self.shared[key]


def stacks(trials: Sequence[Predictions], order: ClassOrder) -> Iterator[tuple[IntArray, Stack]]:
    """Stacks of trials that have equally many test rows and one kind of score, with the places of their trials.

    Trials that name a class without rows, or give it a probability, are seen with every declared class; trials with abstentions
    are stacked apart from those without.
    """
    alike: dict[tuple[int, str | None], list[int]] = {}
    for place, one in enumerate(trials):
        alike.setdefault((len(one.truth), one.score_kind if one.scores is not None else None), []).append(place)
    for (_, kind), places in alike.items():
        own = [trials[place] for place in places]
        true, predicted = np.stack([one.truth for one in own]), np.stack([one.prediction for one in own])
        scores = None if kind is None else np.stack([one.scores for one in own if one.scores is not None])
        stray, silent = _stray(order, true, predicted, scores, kind), (predicted == ABSTAINED).any(axis=1)
        wider = order.whole()
        for some, seen in (
            (~stray & ~silent, order),
            (~stray & silent, order),
            (stray & ~silent, wider),
            (stray & silent, wider),
        ):
            if some.any():
                picked = None if scores is None else scores[some][:, :, list(seen.order)]
                yield np.array(places)[some], Stack(seen.place[true[some]], seen.placed(predicted[some]), picked, kind, seen)


def _stray(order: ClassOrder, true: IntArray, predicted: IntArray, scores: FloatArray | None, kind: str | None) -> BoolArray:
    """Which trials say something of a class that the order leaves out."""
    left_out = np.flatnonzero(order.place < 0)
    if not len(left_out):
        return np.zeros(len(true), dtype=bool)
    stray = np.isin(true, left_out).any(axis=1) | np.isin(predicted, left_out).any(axis=1)
    if kind == "probability" and scores is not None:
        stray |= (scores[:, :, left_out] > 0).any(axis=(1, 2))
    return np.asarray(stray)
