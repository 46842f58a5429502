"""The contract for measures: declared facts that must be true, and invariances that every formula must satisfy."""

from __future__ import annotations

import math
import pickle
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial.errors import UndefinedMeasureWarning
from fairtrial.measures import Confusion, Measure, ScoreTally, registry
from fairtrial.measures.measure import LabelMeasure, MultiScoreMeasure, ProbabilityMeasure, ScoreMeasure
from fairtrial.testing.contract import Contract, require

_N_ROWS = 40
_N_ROUNDS = 5
_N_GUESSES, _N_GUESSED_ROWS = 60, 1000
_TOLERANCE = 1e-9
_CLASS_NAMES = np.array(["ant", "bee", "cat"])


class _Columns(NamedTuple):
    """Random columns for one call of a measure. `k` is the number of classes, or 1 for numeric targets."""

    k: int
    y_true: npt.NDArray[Any]
    y: npt.NDArray[Any]
    weights: npt.NDArray[np.float64]
    rng: np.random.Generator


class _MeasureCase:
    """A measure, and random predictions of the kind that the measure needs."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.needs = measure.facts.needs

    def iter_columns(self) -> Iterator[_Columns]:
        """Yield random columns for two and three classes (with some tied predictions), or for numeric targets."""
        for k in (2, 3) if self.needs != "values" else (1,):
            for seed in range(_N_ROUNDS):
                rng = np.random.default_rng([seed, k])
                y_true = self.draw_true_values(rng, k)
                weights = rng.choice([0.3, 1.0, 2.7], _N_ROWS) if seed else np.ones(_N_ROWS)
                yield _Columns(k, y_true, self.draw_predictions(rng, y_true, k), weights, rng)

    def draw_true_values(self, rng: np.random.Generator, k: int) -> npt.NDArray[Any]:
        """Draw random numbers, or class codes in which every class occurs."""
        if self.needs == "values":
            return rng.normal(size=_N_ROWS)
        y_true = rng.integers(0, k, _N_ROWS)
        y_true[:k] = np.arange(k)
        return y_true

    def draw_predictions(self, rng: np.random.Generator, y_true: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
        """Draw predictions that are better than chance but not perfect."""
        n = len(y_true)
        if self.needs == "values":
            return np.asarray(y_true + rng.normal(size=n))
        if self.needs == "labels":
            return np.where(rng.random(n) < 0.6, y_true, rng.integers(0, k, n))
        scores = rng.random((n, k)).round(1) + 0.1 + 0.5 * np.eye(k)[y_true]
        scores /= scores.sum(axis=1, keepdims=True)
        return np.asarray(scores[:, 1] if k == 2 else scores)

    def make_perfect_predictions(self, columns: _Columns) -> list[npt.NDArray[Any]]:
        """Return perfect predictions. For scores, also return perfect scores that vary within each class."""
        if self.needs in ("labels", "values"):
            return [columns.y_true]
        certain = columns.y_true.astype(float) if columns.k == 2 else np.eye(columns.k)[columns.y_true]
        return [certain, (certain + columns.y) / 2] if self.needs == "scores" else [certain]

    def compute(self, y_true: Any, y: Any, k: int = 1, **options: Any) -> Any:
        """Call the measure without warnings. All k classes are declared, even if some have no rows."""
        if k > 1:
            options.setdefault("labels", list(range(k)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            return self.measure(y_true, y, **options)


@contextmanager
def _open_case(measure: Measure) -> Iterator[_MeasureCase]:
    yield _MeasureCase(measure)


_contract = Contract("measure", _open_case)


def check_measure(measure: Measure) -> None:
    """Check that a measure satisfies the contract for measures.

    Parameters
    ----------
    measure : Measure
        The measure, as returned by the decorator `fairtrial.measures.measure`.

    Raises
    ------
    AssertionError
        If a rule is violated. The message names each violated rule, the value found and a remedy.

    Examples
    --------
    >>> from fairtrial.measures import auc
    >>> check_measure(auc)
    """
    _contract.check(measure)


def _is_in_module(measure: Measure) -> bool:
    """Return whether the formula was defined in a module rather than by `exec`."""
    return measure.formula.__module__ in sys.modules


def _reads_columns(measure: Measure) -> bool:
    return measure.facts.needs != "results"


def _reads_classes(measure: Measure) -> bool:
    return measure.facts.needs in ("labels", "scores", "probabilities")


def _treats_classes_alike(measure: Measure) -> bool:
    return _reads_classes(measure) and "class order" not in measure.facts.exceptions


def _rewards_true_labels(measure: Measure) -> bool:
    return _reads_columns(measure) and "perfect predictions" not in measure.facts.exceptions


def _ignores_weight_scale(measure: Measure) -> bool:
    return _reads_columns(measure) and "weight scale" not in measure.facts.exceptions


def _declares_chance(measure: Measure) -> bool:
    return _reads_classes(measure) and measure.facts.chance is not None


def _is_rank_based(measure: Measure) -> bool:
    return measure.facts.needs == "scores" and measure.facts.rank_based


def _merges(measure: Measure) -> bool:
    return isinstance(measure, (LabelMeasure, ScoreMeasure, ProbabilityMeasure)) and not isinstance(measure, MultiScoreMeasure)


def _require_equal(value: Any, expected: Any, context: str) -> None:
    same = np.allclose(value, expected, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)
    require(same, f"{value} instead of {expected} {context}")


@_contract.rule("complete the arguments of the decorator `measure` and the docstring of the formula")
def check_facts_are_complete(case: _MeasureCase) -> None:
    """A measure must declare its name, inputs, direction, range, reference and summary."""
    facts = case.measure.facts
    for name in ("name", "needs", "direction", "cite", "summary", "undefined"):
        require(getattr(facts, name), f"an empty {name}")
    require(facts.needs in ("labels", "scores", "probabilities", "values", "results"), f"needs={facts.needs!r}")
    require(facts.direction in ("max", "min", "target", "none"), f"direction={facts.direction!r}")
    require(facts.display_name, "an empty display_name")
    low, high = facts.range
    require(low < high, f"range={facts.range}")
    require(facts.chance is None or low <= facts.chance <= high, f"chance={facts.chance} outside the range {facts.range}")


@_contract.rule("define the formula at the top level of a module and register it under its own name", applies=_is_in_module)
def check_pickles_to_itself(case: _MeasureCase) -> None:
    """Unpickling must return the registered measure, because worker processes receive measures by name."""
    require(registry[case.measure.name] is case.measure, f"a different measure registered as {case.measure.name!r}")
    require(pickle.loads(pickle.dumps(case.measure)) is case.measure, "another object")


@_contract.rule("declare the range of the formula, or fix the formula", applies=_reads_columns)
def check_values_are_in_range(case: _MeasureCase) -> None:
    """Every value must be a number in the declared range."""
    low, high = case.measure.facts.range
    for columns in case.iter_columns():
        value = case.compute(columns.y_true, columns.y, sample_weight=columns.weights)
        require(isinstance(value, float), f"a value of type {type(value).__name__}")
        require(math.isnan(value) or low - _TOLERANCE <= value <= high + _TOLERANCE, f"{value:g} outside {low:g} to {high:g}")


@_contract.rule("declare the other direction, or fix the formula", applies=_rewards_true_labels)
def check_nothing_beats_perfect_predictions(case: _MeasureCase) -> None:
    """In the declared direction, no predictions may have a better value than the true labels."""
    for columns in case.iter_columns():
        value = case.compute(columns.y_true, columns.y)
        perfect = [case.compute(columns.y_true, y) for y in case.make_perfect_predictions(columns)]
        best = next((number for number in perfect if not case.measure.is_better(value, number)), perfect[0])
        is_better = case.measure.is_better(value, best) and abs(value - best) > _TOLERANCE
        require(not is_better, f"{value:g} against {best:g} for the true labels")


@_contract.rule("declare the expected value of random guesses, or chance=None", applies=_declares_chance)
def check_random_guesses_score_chance(case: _MeasureCase) -> None:
    """For two classes, the mean value of random guesses must equal the declared chance level."""
    rng = np.random.default_rng(20)
    n_positive = 2 * _N_GUESSED_ROWS // 5
    y_true = rng.permutation(np.repeat([0, 1], [_N_GUESSED_ROWS - n_positive, n_positive]))
    shape = (_N_GUESSES, _N_GUESSED_ROWS)
    guesses = rng.integers(0, 2, shape) if case.needs == "labels" else rng.random(shape).round(2)
    values = [case.compute(y_true, guess, 2) for guess in guesses]
    # Ratios of counts have a bias of order 1/n.
    margin = 5 * float(np.std(values)) / math.sqrt(_N_GUESSES) + 10 / _N_GUESSED_ROWS
    chance = case.measure.facts.chance
    require(abs(np.mean(values) - (chance or 0.0)) < margin, f"a mean of {np.mean(values):.3g} instead of {chance:g}")


@_contract.rule("compute the value from sums over rows", applies=_reads_columns)
def check_row_order_does_not_matter(case: _MeasureCase) -> None:
    """A permutation of the rows must not change the value."""
    for k, y_true, y, weights, rng in case.iter_columns():
        order = rng.permutation(len(y_true))
        value = case.compute(y_true[order], y[order], k, sample_weight=weights[order])
        _require_equal(value, case.compute(y_true, y, k, sample_weight=weights), "after a permutation of the rows")


@_contract.rule("use the index of a class, not its name", applies=_reads_classes)
def check_class_names_do_not_matter(case: _MeasureCase) -> None:
    """Different class names in the same sort order must not change the value."""
    for k, y_true, y, weights, _ in case.iter_columns():
        renamed = _CLASS_NAMES[y] if case.needs == "labels" else y
        value = case.compute(_CLASS_NAMES[y_true], renamed, sample_weight=weights)
        _require_equal(value, case.compute(y_true, y, sample_weight=weights), f"for {k} classes with different names")


@_contract.rule(
    'treat all classes alike, or declare per_class=True or exceptions=("class order",)', applies=_treats_classes_alike
)
def check_class_order_does_not_matter(case: _MeasureCase) -> None:
    """A permutation of three classes, or of two classes if the measure has no positive class, must not change the value."""
    facts = case.measure.facts
    for k, y_true, y, weights, rng in case.iter_columns():
        if k == 2 and (facts.needs != "labels" or facts.per_class):
            continue
        codes = np.array([2, 0, 1]) if k == 3 else np.array([1, 0])
        predictions = _break_ties(y, rng) if y.ndim == 2 else y
        permuted = codes[y] if case.needs == "labels" else predictions[:, np.argsort(codes)]
        value = case.compute(codes[y_true], permuted, k, sample_weight=weights)
        expected = case.compute(y_true, predictions, k, sample_weight=weights)
        _require_equal(value, expected, f"after a permutation of {k} classes")


def _break_ties(probabilities: npt.NDArray[Any], rng: np.random.Generator) -> npt.NDArray[Any]:
    """Make the probabilities of a row distinct, because the choice between tied classes may depend on their order."""
    distinct = probabilities + 1e-3 * rng.random(probabilities.shape)
    return np.asarray(distinct / distinct.sum(axis=1, keepdims=True))


@_contract.rule("use only the order of the scores, or declare rank_based=False", applies=_is_rank_based)
def check_increasing_transformations_do_not_matter(case: _MeasureCase) -> None:
    """An increasing transformation of the scores must not change a rank-based measure."""
    for k, y_true, y, weights, rng in case.iter_columns():
        distinct, positions = np.unique(y, return_inverse=True)
        transformed = np.cumsum(rng.random(len(distinct)) + 1e-3)[positions].reshape(y.shape) - 3
        value = case.compute(y_true, transformed, k, sample_weight=weights)
        _require_equal(value, case.compute(y_true, y, k, sample_weight=weights), "after an increasing transformation")


@_contract.rule("multiply each row's contribution by its weight", applies=_reads_columns)
def check_weights_equal_repetition(case: _MeasureCase) -> None:
    """A row of weight w must count as w rows, and a row of weight 0 must not count."""
    for k, y_true, y, _, rng in case.iter_columns():
        counts = rng.integers(0, 3, len(y_true))
        counts[:k] = 1
        repeated = np.repeat(y_true, counts), np.repeat(y, counts, axis=0)
        value = case.compute(y_true, y, k, sample_weight=counts)
        _require_equal(value, case.compute(*repeated, k), "for weights instead of repeated rows")


@_contract.rule('divide by the sum of the weights, or declare exceptions=("weight scale",)', applies=_ignores_weight_scale)
def check_weight_scale_does_not_matter(case: _MeasureCase) -> None:
    """Multiplying all weights by three must not change the value."""
    for k, y_true, y, weights, _ in case.iter_columns():
        value = case.compute(y_true, y, k, sample_weight=3 * weights)
        _require_equal(value, case.compute(y_true, y, k, sample_weight=weights), "for three times the weights")


@_contract.rule("compute on the last axes and let leading axes pass through", applies=_reads_columns)
def check_batches_match_single_values(case: _MeasureCase) -> None:
    """The values of a batch of resamples must equal the values of the individual resamples."""
    for k, y_true, y, weights, rng in case.iter_columns():
        counts = rng.integers(0, 3, (3, len(y_true))).astype(np.uint8)
        counts[:, :k] = 1
        options: dict[str, Any] = {"positive": None, "labels": list(range(k))} if k > 1 else {}
        rows = case.measure.read_rows(y_true, y, sample_weight=weights, **options)
        batch = case.measure.compute_values(rows, counts)
        single = [case.compute(y_true, y, k, sample_weight=weights * line) for line in counts]
        require(np.shape(batch) == (3,), f"shape {np.shape(batch)} for 3 resamples")
        _require_equal(batch, single, "for a batch of 3 resamples")


@_contract.rule("compute the value only from the statistic", applies=_merges)
def check_merged_statistics_match_whole(case: _MeasureCase) -> None:
    """The sum of the statistics of two subsets of rows must give the value for all rows."""
    for k, y_true, y, weights, _ in case.iter_columns():
        if k > 2 and isinstance(case.measure, ScoreMeasure):  # a tally supports only two classes
            continue
        is_first = np.arange(len(y_true)) % 2 == 0
        first, second = (
            _make_statistic(case.measure, y_true[rows], y[rows], list(range(k)), weights[rows])
            for rows in (is_first, ~is_first)
        )
        value = case.measure.of(first + second)  # type: ignore[attr-defined]
        _require_equal(value, case.compute(y_true, y, k, sample_weight=weights), "for two merged parts")


def _make_statistic(measure: Measure, y_true: Any, y: Any, labels: list[int], weights: Any) -> Any:
    if isinstance(measure, LabelMeasure):
        return Confusion.from_labels(y_true, y, labels=labels, sample_weight=weights)
    if isinstance(measure, ScoreMeasure):
        return ScoreTally.from_scores(y_true, y, labels=labels, sample_weight=weights)
    return measure.read_rows(y_true, y, labels=labels, sample_weight=weights)


@_contract.rule("return NaN if the value is undefined; use fairtrial.kernels.arithmetic.compute_ratio", applies=_reads_columns)
def check_degenerate_input_raises_no_error(case: _MeasureCase) -> None:
    """For one row, one class or constant predictions, the value must be a number, or NaN with UndefinedMeasureWarning."""
    for description, y_true, y, options in _iter_degenerate_columns(case):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                value = case.measure(y_true, y, **options)
            except Exception as error:
                require(False, f"{type(error).__name__} for {description}: {error}")
        is_warned = any(issubclass(warning.category, UndefinedMeasureWarning) for warning in caught)
        require(is_warned or not np.isnan(value).any(), f"NaN without a warning for {description}")


def _iter_degenerate_columns(case: _MeasureCase) -> Iterator[tuple[str, Any, Any, dict[str, Any]]]:
    options: dict[str, Any] = {} if case.needs == "values" else {"labels": [0, 1]}
    kind = float if case.needs == "values" else int
    for label in (0, 1):
        yield (
            f"one row of class {label}",
            np.array([label], dtype=kind),
            np.array([1.0 if case.needs != "labels" else 1]),
            options,
        )
        one_class = np.full(4, label, dtype=kind)
        mixed = np.array([0, 1, 1, 0]) if case.needs == "labels" else np.array([0.1, 0.8, 0.6, 0.4])
        yield f"rows of class {label} only", one_class, mixed, options
        constant = np.full(4, label) if case.needs == "labels" else np.full(4, 0.5)
        yield "constant predictions", np.array([0, 1, 0, 1], dtype=kind), constant, options


@_contract.rule("copy the columns before you change them", applies=_reads_columns)
def check_input_is_not_modified(case: _MeasureCase) -> None:
    """The columns and the weights must not be modified."""
    for k, y_true, y, weights, _ in case.iter_columns():
        copies = y_true.copy(), y.copy(), weights.copy()
        case.compute(copies[0], copies[1], k, sample_weight=copies[2])
        for name, copied, original in zip(
            ("y_true", "y_pred or y_score", "sample_weight"), copies, (y_true, y, weights), strict=True
        ):
            require(np.array_equal(copied, original), f"a modified {name}")
