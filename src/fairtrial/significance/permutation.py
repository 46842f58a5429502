"""Permutation tests: swap the predictions of two models, or permute the labels of a data set."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.differences import difference
from fairtrial.measures.intervals import read_clusters
from fairtrial.measures.measure import LabelMeasure, Measure, get_measure
from fairtrial.measures.rows import LabelRows
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("permutation_test", "permutation test", cite="Fisher 1935", statistic="difference")
register_method("label_permutation", "label permutation test", statistic="score")

# The test is exact up to this many distinct swaps.
_MAX_ENUMERATED = 1 << 16
_CHUNK = 1 << 20
_BATCH = 1000


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
    sample_weight: npt.ArrayLike | None = None,
    average: Any = "auto",
    cluster: npt.ArrayLike | None = None,
    stop_after: int | None = None,
    **params: Any,
) -> Outcome:
    """Compare a measure between two models by randomly swapping their predictions.

    If the two models are interchangeable, swapping their predictions changes the difference only by chance. The p-value is the
    proportion of swaps with an absolute difference at least as large as the observed one. If all distinct swaps can be
    enumerated, p is exact. Otherwise, p is (1 + count) / (1 + resamples), where count is the number of random swaps with such a
    difference.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels or values.
    pred_a, pred_b : array-like
        Predictions of the two models in the form that the measure requires: labels, scores, probabilities or numbers.
    measure : str or Measure, default "accuracy"
        The measure to compare.
    resamples : int, default 10_000
        Number of random swaps if not all swaps can be enumerated.
    seed : int, default 0
        Seed of the random numbers.
    level : float, default 0.95
        Confidence level of the interval.
    positive : label, optional
        The positive class.
    labels : sequence, optional
        All classes. Default: the classes that occur in the data.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    average : str, default "auto"
        How to average a measure over several classes.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. All rows of a cluster are swapped together.
    stop_after : int, optional
        Stop as soon as this many random swaps yield a difference at least as extreme as the observed one (Besag & Clifford
        1991). The p-value is then `stop_after` divided by the number of swaps. Stopping early saves time if the difference is
        far from significant.
    **params : object
        Further parameters of the measure.

    Returns
    -------
    Outcome
        The statistic is measure(a) - measure(b). The effect is the same difference with the interval of
        `fairtrial.measures.difference`.

    Notes
    -----
    If the measure is undefined after a swap, the resulting difference is treated as extreme, which can only increase p. For
    rank-based measures, the scores of each model are replaced by their ranks, because two models can use different scales.

    Examples
    --------
    >>> y, a, b = [1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 1, 0, 1]
    >>> print(permutation_test(y, a, b, "accuracy"))  # all 4 discordant rows favour a: 2/16
    permutation test (exact, accuracy): difference = 0.5, p = 0.12, n = 8
    """
    _check.check_whole_number("resamples", resamples, 1)
    _check.check_whole_number("seed", seed, 0)
    resolved_measure = get_measure(measure)
    if stop_after is not None:
        _check.check_whole_number("stop_after", stop_after, 1)
    options = {"positive": positive, "labels": labels, "sample_weight": sample_weight}
    clusters = read_clusters(cluster, sample_weight)
    swaps = prepare_swaps(resolved_measure, y_true, pred_a, pred_b, options, {"average": average, **params}, clusters)
    with warnings.catch_warnings():
        # The warning is issued once, below. Threads share warning filters, so the filter is set here.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        observed = swaps.compute_observed()
        result = compute_permutation_p(swaps, observed, resamples, seed, stop_after)
        interval = difference(
            resolved_measure,
            y_true,
            pred_a,
            pred_b,
            level=level,
            seed=seed,
            average=average,
            cluster=cluster,
            **options,
            **params,
        )
    resolved_measure.warn_undefined(np.asarray(observed[0] - observed[1]))
    return Outcome(
        "permutation_test",
        observed[0] - observed[1],
        result.p_value,
        n=len(np.asarray(y_true)),
        variant=f"{'exact' if result.is_exact else f'{result.n_swaps} resamples'}, {resolved_measure.name}",
        effect=Effect(
            f"difference in {resolved_measure.name}", interval.estimate, interval.low, interval.high, level, interval.note
        ),
        details={"first": observed[0], "second": observed[1]},
        caveats=list_permutation_caveats(resolved_measure, result.undefined),
        resamples=None if result.is_exact else result.n_swaps,
        undefined_resamples=result.undefined,
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
    """Test whether a learner scores better with the true labels than with permuted labels.

    The whole cross-validation is repeated with permuted labels. The one-sided p-value is (1 + count) / (1 + resamples), where
    count is the number of permutations with at least as good a score.

    Parameters
    ----------
    learner : scikit-learn classifier
        Set its `random_state` if it uses random numbers.
    X : DataFrame or array-like of shape (n, d)
        Training data.
    y : array-like of shape (n,)
        Labels.
    measure : str or Measure, default "accuracy"
        The measure. The cross-validated score is its mean over the test folds.
    cv : int or splitter, default 10
        Number of stratified folds, or a splitter.
    resamples : int, default 200
        Number of permutations.
    seed : int, default 0
        Seed of the random numbers.
    **options : object
        Options of the measure, such as `positive` or `average`.

    Returns
    -------
    Outcome
        The statistic is the cross-validated score. The effect is this score minus the mean score with permuted labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> print(label_permutation(GaussianNB(), X, y, cv=3, resamples=19))
    label permutation test (19 resamples, accuracy): score = 0.94, p = 0.05, n = 150
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
        caveats=list_permutation_caveats(None, len(permuted_scores) - len(defined)),
        resamples=resamples,
        undefined_resamples=len(permuted_scores) - len(defined),
    )


def _build_permutation_effect(name: str, observed: float, permuted_scores: FloatArray) -> Effect | None:
    if not len(permuted_scores):
        return None
    low, high = np.quantile(observed - permuted_scores, [0.025, 0.975])
    note = "the confidence limits reflect only the variation of the scores on permuted labels"
    return Effect(
        f"{name} minus the mean on permuted labels",
        observed - float(permuted_scores.mean()),
        float(low),
        float(high),
        0.95,
        note,
    )


class Swaps(Protocol):
    """All ways to swap the predictions of two models."""

    def enumerate_swaps(self) -> tuple[FloatArray, FloatArray] | None:
        """Compute the difference after each distinct swap, and the probability of each swap.

        Return None if there are too many swaps.
        """

    def sample_swaps(self, first: int, resamples: int, seed: int) -> FloatArray:
        """Compute the differences after random swaps.

        `first` is the index of the first swap. It is part of the seed.
        """


class PermutationResult(NamedTuple):
    """Result of a permutation test.

    `is_exact` indicates whether all swaps were enumerated.
    """

    p_value: float
    is_exact: bool
    n_swaps: int
    undefined: int


@dataclass(frozen=True)
class LabelSwaps:
    """Swaps of predicted labels.

    The swapped units are rows or clusters. All unweighted rows with the same true label and the same two predictions are of one
    kind. Each weighted row or cluster is a separate kind. `tables` contains the confusion matrices of the two models, and
    `sizes` contains the number of units of each kind. For each kind, `moves` contains the change in the first matrix if one
    such unit is swapped.
    """

    measure: LabelMeasure
    params: dict[str, Any]
    labels: tuple[Any, ...]
    positive: int | None
    tables: FloatArray
    sizes: IntArray
    moves: FloatArray

    @classmethod
    def from_rows(
        cls, measure: LabelMeasure, params: dict[str, Any], rows: LabelRows, clusters: IntArray | None = None
    ) -> LabelSwaps:
        """Build swaps from the rows of the first model, followed by those of the second model."""
        n, k = len(rows.true) // 2, len(rows.classes)
        cells, weights = rows.true * k + rows.predicted, rows.weights
        first, second = cells[:n], cells[n:]
        row_weights = np.ones(n) if weights is None else weights[:n]
        tables = np.stack([np.bincount(part, row_weights, minlength=k * k) for part in (first, second)]).astype(np.float64)
        identity = np.eye(k * k)
        if weights is None and clusters is None:
            differs = first != second
            pairs, sizes = np.unique(np.column_stack([first[differs], second[differs]]), axis=0, return_counts=True)
            moves = identity[pairs[:, 1]] - identity[pairs[:, 0]]
        else:
            units = np.arange(n) if clusters is None else clusters
            moves = np.zeros((int(units.max()) + 1, k * k))
            np.add.at(moves, (units, second), row_weights)
            np.add.at(moves, (units, first), -row_weights)
            moves = moves[moves.any(axis=1)]
            sizes = np.ones(len(moves), dtype=np.intp)
        return cls(
            measure, params, tuple(rows.classes.names.tolist()), rows.classes.positive, tables, sizes.astype(np.intp), moves
        )

    @classmethod
    def from_counts(
        cls, measure: LabelMeasure, labels: tuple[Any, ...], positive: int | None, counts: FloatArray
    ) -> LabelSwaps:
        """Build swaps from row counts, indexed by true label and the labels predicted by each model."""
        k = len(labels)
        true, first, second = np.nonzero(counts)
        sizes, identity = counts[true, first, second], np.eye(k * k)
        cells = true * k + first, true * k + second
        tables = np.stack([np.bincount(part, sizes, minlength=k * k) for part in cells]).astype(np.float64)
        differs = first != second
        moves = identity[cells[1][differs]] - identity[cells[0][differs]]
        return cls(measure, {"average": "auto"}, labels, positive, tables, sizes[differs].astype(np.intp), moves)

    def compute_observed(self) -> tuple[float, float]:
        """Compute the measure for both models."""
        first, second = self._compute_table_values(self.tables)
        return float(first), float(second)

    def enumerate_swaps(self) -> tuple[FloatArray, FloatArray] | None:
        """Compute the difference after each distinct swap, and the probability of each swap.

        Return None if there are too many swaps.
        """
        from scipy.special import gammaln

        shape = self.sizes + 1
        if np.log2(shape).sum() > math.log2(_MAX_ENUMERATED):
            return None
        swapped = (
            np.column_stack(np.unravel_index(np.arange(math.prod(shape.tolist())), shape)) if len(shape) else np.zeros((1, 0))
        )
        ways = gammaln(shape) - gammaln(swapped + 1) - gammaln(shape - swapped)
        return self._compute_swap_differences(swapped), np.exp((ways - self.sizes * math.log(2)).sum(axis=1))

    def sample_swaps(self, first: int, resamples: int, seed: int) -> FloatArray:
        """Compute the differences after random swaps.

        `first` is the index of the first swap. It is part of the seed.
        """

        def sample_chunk(start: int, stop: int) -> FloatArray:
            rng = np.random.default_rng([seed, first + start])
            return self._compute_swap_differences(rng.binomial(self.sizes, 0.5, (stop - start, len(self.sizes))))

        chunk = max(1, _CHUNK // max(self.tables.shape[1], len(self.sizes)))
        return np.concatenate(run_in_chunks(sample_chunk, resamples, chunk))

    def _compute_swap_differences(self, swapped: npt.NDArray[Any]) -> FloatArray:
        first = self.tables[0] + swapped @ self.moves
        return _compute_difference(
            self._compute_table_values(first), self._compute_table_values(self.tables.sum(axis=0) - first)
        )

    def _compute_table_values(self, tables: FloatArray) -> FloatArray:
        k = len(self.labels)
        batch = Confusion(tables.reshape(-1, k, k), self.labels, self.positive)
        return np.asarray(self.measure.of(batch, **self.params))


@dataclass(frozen=True)
class RowSwaps:
    """Swaps of predicted scores, probabilities or numbers, encoded as row weights."""

    measure: Measure
    params: dict[str, Any]
    rows: Any
    units: IntArray
    """Code of each row's unit: the row itself, or its cluster. All rows of a unit are swapped together."""
    differing: IntArray
    """Units for which a swap changes the predictions."""

    @property
    def n(self) -> int:
        """The number of rows of each model."""
        return len(self.rows.true) // 2

    def compute_observed(self) -> tuple[float, float]:
        """Compute the measure for both models."""
        first, second = (
            self.measure.compute_values(self.rows, draw_counts, **self.params)[0]
            for draw_counts in _count_draws(np.zeros((1, self.n), dtype=bool))
        )
        return float(first), float(second)

    def enumerate_swaps(self) -> tuple[FloatArray, FloatArray] | None:
        """Compute the difference after each swap, and the probability of each swap.

        Return None if there are too many swaps.
        """
        count = 1 << len(self.differing) if len(self.differing) < 30 else _MAX_ENUMERATED + 1
        if count > _MAX_ENUMERATED:
            return None

        def enumerate_chunk(start: int, stop: int) -> FloatArray:
            patterns = np.arange(start, stop)[:, None] >> np.arange(len(self.differing)) & 1
            return self._compute_swap_differences(patterns.astype(bool))

        return np.concatenate(run_in_chunks(enumerate_chunk, count, _CHUNK // self.n)), np.full(count, 1 / count)

    def sample_swaps(self, first: int, resamples: int, seed: int) -> FloatArray:
        """Compute the differences after random swaps.

        `first` is the index of the first swap. It is part of the seed.
        """

        def sample_chunk(start: int, stop: int) -> FloatArray:
            rng = np.random.default_rng([seed, first + start])
            return self._compute_swap_differences(
                rng.integers(0, 2, (stop - start, len(self.differing)), dtype=np.uint8).astype(bool)
            )

        return np.concatenate(run_in_chunks(sample_chunk, resamples, _CHUNK // self.n))

    def _compute_swap_differences(self, patterns: npt.NDArray[np.bool_]) -> FloatArray:
        swapped = np.zeros((len(patterns), int(self.units.max()) + 1), dtype=bool)
        swapped[:, self.differing] = patterns
        first, second = (
            self.measure.compute_values(self.rows, draw_counts, **self.params)
            for draw_counts in _count_draws(swapped[:, self.units])
        )
        return _compute_difference(first, second)


def _compute_difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """Compute first - second. The difference between two infinite values of the same sign is NaN."""
    with np.errstate(invalid="ignore"):
        return np.asarray(first - second)


def _count_draws(swapped: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return row weights of 0 or 1 for each swap, separately for the first and the second model."""
    first = np.concatenate([~swapped, swapped], axis=1).astype(np.uint8)
    return first, np.asarray(1 - first)


def prepare_swaps(
    measure: Measure,
    y_true: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    options: dict[str, Any],
    params: dict[str, Any],
    clusters: IntArray | None,
) -> LabelSwaps | RowSwaps:
    """Read the predictions of two models and prepare their swaps."""
    true_labels, first, second = _check.check_column("y_true", y_true), np.asarray(a), np.asarray(b)
    _check.check_same_length(y_true=true_labels, pred_a=first, pred_b=second)
    if first.shape[1:] != second.shape[1:]:
        raise InputError(f"pred_a and pred_b must have the same columns, got shapes {first.shape} and {second.shape}")
    if params["average"] is None:
        raise InputError("average must not be None in a test: pass 'macro' or 'weighted', or positive=")
    if not isinstance(measure, LabelMeasure):
        for predictions in (first, second):
            measure.read_rows(true_labels, predictions, **options)
        if measure.facts.rank_based:
            first, second = _rank_scores("pred_a", first), _rank_scores("pred_b", second)
    weights, (true_labels, first, second) = _check.drop_zero_weights(options["sample_weight"], true_labels, first, second)
    if clusters is not None:
        _check.check_same_length(y_true=true_labels, cluster=clusters)
    twice = {**options, "sample_weight": None if weights is None else np.concatenate([weights, weights])}
    rows = measure.read_rows(np.concatenate([true_labels, true_labels]), np.concatenate([first, second]), **twice)
    if isinstance(measure, LabelMeasure):
        return LabelSwaps.from_rows(measure, params, rows, clusters)
    differs = (first != second).reshape(len(true_labels), -1).any(axis=1)
    units = np.arange(len(true_labels)) if clusters is None else clusters
    return RowSwaps(measure, params, rows, units, np.unique(units[differs]))


def _rank_scores(name: str, scores: npt.NDArray[Any]) -> FloatArray:
    from scipy.stats import rankdata

    return np.asarray(rankdata(_check.check_finite(name, _check.check_numbers(name, scores)), axis=0))


def compute_permutation_p(
    swaps: Swaps, observed: tuple[float, float], resamples: int, seed: int, stop_after: int | None = None
) -> PermutationResult:
    """Compute p from all swaps or, if there are too many, from random swaps.

    Drawing stops as soon as `stop_after` random swaps yield a difference at least as extreme as the observed one.
    """
    enumerated = swaps.enumerate_swaps()
    if np.isnan(observed[0] - observed[1]):
        return PermutationResult(float("nan"), enumerated is not None, 0, 0)
    reach = abs(observed[0] - observed[1]) - _compute_tolerance(*observed)

    def is_extreme(values: FloatArray) -> npt.NDArray[np.bool_]:
        return (np.abs(values) >= reach) | np.isnan(values)

    if enumerated is not None:
        values, probabilities = enumerated
        p = min(1.0, float(probabilities[is_extreme(values)].sum()))
        return PermutationResult(p, True, len(values), int(np.isnan(values).sum()))
    count = n_extreme = undefined = 0
    while count < resamples:
        values = swaps.sample_swaps(count, min(_BATCH, resamples - count), seed)
        positions = np.flatnonzero(is_extreme(values))
        if stop_after is not None and n_extreme + len(positions) >= stop_after:
            last = int(positions[stop_after - n_extreme - 1]) + 1
            undefined += int(np.isnan(values[:last]).sum())
            return PermutationResult(stop_after / (count + last), False, count + last, undefined)
        count, n_extreme = count + len(values), n_extreme + len(positions)
        undefined += int(np.isnan(values).sum())
    return PermutationResult((1 + n_extreme) / (1 + count), False, count, undefined)


def _compute_tolerance(first: float, second: float) -> float:
    """Compute an upper bound on the rounding error of the difference."""
    largest = max(abs(first), abs(second))
    return 1e-10 * largest if math.isfinite(largest) else 0.0


def list_permutation_caveats(measure: Measure | None, undefined: int) -> tuple[Finding, ...]:
    """List the caveats of a permutation test."""
    caveats = []
    if measure is not None and measure.facts.needs == "scores" and not measure.facts.rank_based:
        caveats.append(Finding.of("shared_scale"))
    if undefined:
        caveats.append(Finding.of("undefined_permutations", undefined=undefined))
    return tuple(caveats)
