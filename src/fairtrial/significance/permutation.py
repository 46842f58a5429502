"""Permutation tests: of the predictions of two models, and of the labels that a learner is trained on."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.differences import difference
from fairtrial.measures.measure import LabelMeasure, Measure, get_measure
from fairtrial.measures.rows import LabelRows
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("permutation_test", "permutation test", cite="Fisher 1935", statistic="difference")
register_method("label_permutation", "label permutation test", statistic="score")

# Up to this many distinct outcomes are listed one by one, which makes the test exact.
_MAX_ENUMERATED = 1 << 16
_CHUNK = 1 << 20


def permutation_test(
    y_true: npt.ArrayLike,
    pred_a: npt.ArrayLike,
    pred_b: npt.ArrayLike,
    measure: str | Measure = "accuracy",
    resamples: int = 10_000,
    seed: int = 0,
    *,
    level: float = 0.95,
    positive: object = None,
    labels: Any = None,
    average: Any = "auto",
    **params: Any,
) -> Outcome:
    """Are two models of the same rows alike? If so, swapping their predictions row by row changes nothing but chance.

    `pred_a` and `pred_b` are what the measure needs: labels, scores, probabilities or numbers. The statistic is measure(a) -
    measure(b), and p the share of swaps that make it at least as large either way. Where all distinct swaps can be listed
    (with labels, equal rows count together, so that this goes far) p is exact; otherwise it is (1 + count)/(1 + resamples).
    Swaps for which the measure is undefined count as at least as large. Scores of a measure of ranks are replaced by their
    ranks within each model, for two models need not share a scale. The effect is the difference with its bootstrap (or, for
    an AUC, DeLong) interval.

    >>> y, a, b = [1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 1, 0, 1]
    >>> print(permutation_test(y, a, b, "accuracy"))  # four rows, all in favour of a: 2/16
    permutation_test (exact, accuracy): statistic 0.5, p = 0.125, n = 8
    """
    _check.check_whole_number("resamples", resamples, 1)
    _check.check_whole_number("seed", seed, 0)
    resolved_measure = get_measure(measure)
    options = {"positive": positive, "labels": labels}
    swaps = _prepare_swaps(resolved_measure, y_true, pred_a, pred_b, options, {"average": average, **params})
    with warnings.catch_warnings():
        # Told below, once. Here and not in the threads, whose filters are shared.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        observed = swaps.compute_observed()
        p, exact, undefined = _compute_permutation_p(swaps, observed, resamples, seed)
        interval = difference(
            resolved_measure, y_true, pred_a, pred_b, level=level, seed=seed, average=average, **options, **params
        )
    resolved_measure.warn_undefined(np.asarray(observed[0] - observed[1]))
    return Outcome(
        "permutation_test",
        observed[0] - observed[1],
        p,
        n=len(np.asarray(y_true)),
        variant=f"{'exact' if exact else f'{resamples} resamples'}, {resolved_measure.name}",
        effect=Effect(
            f"difference in {resolved_measure.name}", interval.estimate, interval.low, interval.high, level, interval.note
        ),
        details={"first": observed[0], "second": observed[1]},
        caveats=_list_permutation_caveats(resolved_measure, undefined),
        resamples=None if exact else resamples,
        undefined_resamples=undefined,
    )


def label_permutation(
    learner: Any,
    X: Any,
    y: npt.ArrayLike,
    *,
    measure: str | Measure = "accuracy",
    cv: Any = 10,
    resamples: int = 200,
    seed: int = 0,
    **options: Any,
) -> Outcome:
    """Could the learner have scored as well on bogus data, whose labels have nothing to do with the rows?

    The whole cross-validation is repeated with permuted labels; p is (1 + count)/(1 + resamples) of those that score at least
    as well. The test is one-sided, the better direction being a fact of the measure. `learner` is a scikit-learn classifier,
    `cv` a number of stratified folds or any splitter; `options` go to the measure (positive=, average= ...). A learner that
    draws random numbers should have its random_state set. The effect is the score less the mean of the bogus ones.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> print(label_permutation(GaussianNB(), X, y, cv=3, resamples=19))
    label_permutation (19 resamples, accuracy): statistic 0.94, p = 0.05, n = 150
    """
    from sklearn.base import clone
    from sklearn.model_selection import check_cv, cross_val_score

    _check.check_whole_number("resamples", resamples, 1)
    resolved_measure, y_true = get_measure(measure), _check.check_column("y", y)
    splitter = check_cv(cv, y_true, classifier=True)
    sign = 1.0 if resolved_measure.facts.direction == "max" else -1.0
    scorer = resolved_measure.scorer(**options)

    def score(labels: npt.NDArray[Any]) -> float:
        values = cross_val_score(clone(learner), X, labels, scoring=scorer, cv=splitter, error_score="raise")
        return sign * float(np.mean(values))

    rng = np.random.default_rng(seed)
    observed = score(y_true)
    permuted_scores = np.array([score(rng.permutation(y_true)) for _ in range(resamples)])
    is_as_good = sign * permuted_scores >= sign * observed - _compute_tolerance(observed, observed)
    count = int((is_as_good | np.isnan(permuted_scores)).sum())
    defined = permuted_scores[~np.isnan(permuted_scores)]
    p = float("nan") if np.isnan(observed) else (1 + count) / (1 + resamples)
    return Outcome(
        "label_permutation",
        observed,
        p,
        n=len(y_true),
        variant=f"{resamples} resamples, {resolved_measure.name}",
        alternative="better than on permuted labels",
        effect=_build_permutation_effect(resolved_measure.name, observed, defined),
        details={"permuted mean": float(defined.mean()) if len(defined) else float("nan")},
        caveats=_list_permutation_caveats(None, len(permuted_scores) - len(defined)),
        resamples=resamples,
        undefined_resamples=len(permuted_scores) - len(defined),
    )


def _build_permutation_effect(name: str, observed: float, permuted_scores: FloatArray) -> Effect | None:
    if not len(permuted_scores):
        return None
    low, high = np.quantile(observed - permuted_scores, [0.025, 0.975])
    note = "the limits show the spread of the bogus scores alone"
    return Effect(
        f"{name} minus the mean on permuted labels",
        observed - float(permuted_scores.mean()),
        float(low),
        float(high),
        0.95,
        note,
    )


@dataclass(frozen=True)
class _LabelSwaps:
    """Swaps of labels: rows with the same truth and the same two predictions are interchangeable and are only counted."""

    measure: LabelMeasure
    params: dict[str, Any]
    rows: LabelRows
    tables: FloatArray
    sizes: IntArray
    moves: FloatArray

    @classmethod
    def from_rows(cls, measure: LabelMeasure, params: dict[str, Any], rows: LabelRows) -> _LabelSwaps:
        """Rows hold the first model's predictions, then the second's."""
        n, k = len(rows.true) // 2, len(rows.classes)
        cells = rows.true * k + rows.predicted
        tables = np.stack([np.bincount(part, minlength=k * k) for part in (cells[:n], cells[n:])]).astype(float)
        differs = cells[:n] != cells[n:]
        pairs, sizes = np.unique(np.column_stack([cells[:n][differs], cells[n:][differs]]), axis=0, return_counts=True)
        moves = np.eye(k * k)[pairs[:, 1]] - np.eye(k * k)[pairs[:, 0]]
        return cls(measure, params, rows, tables, sizes.astype(np.intp), moves)

    def compute_observed(self) -> tuple[float, float]:
        first, second = self._compute_table_values(self.tables)
        return float(first), float(second)

    def enumerate_swaps(self) -> tuple[FloatArray, FloatArray] | None:
        """Differences of all distinct swaps with their probabilities, unless they are too many."""
        from scipy.special import gammaln

        shape = self.sizes + 1
        if np.log2(shape).sum() > math.log2(_MAX_ENUMERATED):
            return None
        swapped = (
            np.column_stack(np.unravel_index(np.arange(math.prod(shape.tolist())), shape)) if len(shape) else np.zeros((1, 0))
        )
        ways = gammaln(shape) - gammaln(swapped + 1) - gammaln(shape - swapped)
        return self._compute_swap_differences(swapped), np.exp((ways - self.sizes * math.log(2)).sum(axis=1))

    def sample_swaps(self, resamples: int, seed: int) -> FloatArray:
        """Differences of random swaps."""

        def sample_chunk(start: int, stop: int) -> FloatArray:
            rng = np.random.default_rng([seed, start])
            return self._compute_swap_differences(rng.binomial(self.sizes, 0.5, (stop - start, len(self.sizes))))

        return np.concatenate(run_in_chunks(sample_chunk, resamples, _CHUNK // self.tables.shape[1]))

    def _compute_swap_differences(self, swapped: npt.NDArray[Any]) -> FloatArray:
        first = self.tables[0] + swapped @ self.moves
        return _compute_difference(
            self._compute_table_values(first), self._compute_table_values(self.tables.sum(axis=0) - first)
        )

    def _compute_table_values(self, tables: FloatArray) -> FloatArray:
        k = len(self.rows.classes)
        batch = Confusion(tables.reshape(-1, k, k), tuple(self.rows.classes.names.tolist()), self.rows.classes.positive)
        return np.asarray(self.measure.of(batch, **self.params))


@dataclass(frozen=True)
class _RowSwaps:
    """Swaps of scores, probabilities or numbers: rows hold both models, and each swap weighs one of the two."""

    measure: Measure
    params: dict[str, Any]
    rows: Any
    differing_rows: IntArray

    @property
    def n(self) -> int:
        return len(self.rows.true) // 2

    def compute_observed(self) -> tuple[float, float]:
        first, second = (
            self.measure.compute_values(self.rows, draw_counts, **self.params)[0]
            for draw_counts in _count_draws(np.zeros((1, self.n), dtype=bool))
        )
        return float(first), float(second)

    def enumerate_swaps(self) -> tuple[FloatArray, FloatArray] | None:
        """Differences of all swaps with their probabilities, unless they are too many."""
        count = 1 << len(self.differing_rows) if len(self.differing_rows) < 30 else _MAX_ENUMERATED + 1
        if count > _MAX_ENUMERATED:
            return None

        def enumerate_chunk(start: int, stop: int) -> FloatArray:
            patterns = np.arange(start, stop)[:, None] >> np.arange(len(self.differing_rows)) & 1
            return self._compute_swap_differences(patterns.astype(bool))

        return np.concatenate(run_in_chunks(enumerate_chunk, count, _CHUNK // self.n)), np.full(count, 1 / count)

    def sample_swaps(self, resamples: int, seed: int) -> FloatArray:
        """Differences of random swaps."""

        def sample_chunk(start: int, stop: int) -> FloatArray:
            rng = np.random.default_rng([seed, start])
            return self._compute_swap_differences(
                rng.integers(0, 2, (stop - start, len(self.differing_rows)), dtype=np.uint8).astype(bool)
            )

        return np.concatenate(run_in_chunks(sample_chunk, resamples, _CHUNK // self.n))

    def _compute_swap_differences(self, patterns: npt.NDArray[np.bool_]) -> FloatArray:
        swapped = np.zeros((len(patterns), self.n), dtype=bool)
        swapped[:, self.differing_rows] = patterns
        first, second = (
            self.measure.compute_values(self.rows, draw_counts, **self.params) for draw_counts in _count_draws(swapped)
        )
        return _compute_difference(first, second)


def _compute_difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """first - second; two infinite values have no difference."""
    with np.errstate(invalid="ignore"):
        return np.asarray(first - second)


def _count_draws(swapped: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """How often each of the rows of both models is drawn by the first and by the second."""
    first = np.concatenate([~swapped, swapped], axis=1).astype(np.uint8)
    return first, np.asarray(1 - first)


def _prepare_swaps(
    measure: Measure, y_true: npt.ArrayLike, a: npt.ArrayLike, b: npt.ArrayLike, options: dict[str, Any], params: dict[str, Any]
) -> _LabelSwaps | _RowSwaps:
    true_labels, first, second = _check.check_column("y_true", y_true), np.asarray(a), np.asarray(b)
    _check.check_same_length(y_true=true_labels, pred_a=first, pred_b=second)
    if first.shape[1:] != second.shape[1:]:
        raise InputError(f"pred_a and pred_b must have the same columns, got shapes {first.shape} and {second.shape}")
    if params["average"] is None:
        raise InputError("average must give one number for a test, got None: choose 'macro', 'weighted' or positive=")
    if not isinstance(measure, LabelMeasure):
        for predictions in (first, second):
            measure.read_rows(true_labels, predictions, sample_weight=None, **options)
        if measure.facts.rank_based:
            first, second = _rank_scores("pred_a", first), _rank_scores("pred_b", second)
    rows = measure.read_rows(
        np.concatenate([true_labels, true_labels]), np.concatenate([first, second]), sample_weight=None, **options
    )
    if isinstance(measure, LabelMeasure):
        return _LabelSwaps.from_rows(measure, params, rows)
    differs = (first != second).reshape(len(true_labels), -1).any(axis=1)
    return _RowSwaps(measure, params, rows, np.flatnonzero(differs))


def _rank_scores(name: str, scores: npt.NDArray[Any]) -> FloatArray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(_check.check_finite(name, _check.check_numbers(name, scores)), axis=0))


def _compute_permutation_p(
    swaps: _LabelSwaps | _RowSwaps, observed: tuple[float, float], resamples: int, seed: int
) -> tuple[float, bool, int]:
    """p, whether it is exact, and for how many swaps the measure was undefined."""
    enumerated = swaps.enumerate_swaps()
    values = swaps.sample_swaps(resamples, seed) if enumerated is None else enumerated[0]
    undefined = np.isnan(values)
    if np.isnan(observed[0] - observed[1]):
        return float("nan"), enumerated is not None, int(undefined.sum())
    is_extreme = (np.abs(values) >= abs(observed[0] - observed[1]) - _compute_tolerance(*observed)) | undefined
    p = (
        (1 + int(is_extreme.sum())) / (1 + resamples)
        if enumerated is None
        else min(1.0, float(enumerated[1][is_extreme].sum()))
    )
    return p, enumerated is not None, int(undefined.sum())


def _compute_tolerance(first: float, second: float) -> float:
    """What float noise may add to a difference of these."""
    largest = max(abs(first), abs(second))
    return 1e-10 * largest if math.isfinite(largest) else 0.0


def _list_permutation_caveats(measure: Measure | None, undefined: int) -> tuple[Finding, ...]:
    caveats = []
    if measure is not None and measure.facts.needs == "scores" and not measure.facts.rank_based:
        caveats.append(Finding.of("shared_scale"))
    if undefined:
        caveats.append(Finding.of("undefined_permutations", undefined=undefined))
    return tuple(caveats)
