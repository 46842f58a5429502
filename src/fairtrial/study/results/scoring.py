"""Measures of evidence: many trials at once where a measure allows it, each with the reason where it has no value."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.measure import (
    LabelMeasure,
    Measure,
    MultiScoreMeasure,
    ProbabilityMeasure,
    ScoreMeasure,
    get_measure,
    over_classes,
    registry,
)
from fairtrial.significance.scores import counted
from fairtrial.study.evidence import Predictions
from fairtrial.study.results.class_order import ClassOrder
from fairtrial.study.results.stacking import Stack, stacks

_HELD = 1 << 22
"""So many scores are held at a time."""
_MEANS = ("brier", "rmse", "mae", "log_loss", "spherical_score")
"""Measures of probabilities that are means over rows and nothing else: of many trials at once."""
_OF_RECALLS = ("balanced_accuracy", "g_mean")
"""Measures of the recalls of all classes and nothing else: which wrong class a row gets makes no difference."""

DEFINED, UNDEFINED, NO_SCORES, NO_PROBABILITIES, NOT_FINITE, NOT_SHARES = range(6)
REASONS = {
    NO_SCORES: "the learner gives no scores",
    NO_PROBABILITIES: "the learner gives decision values, no probabilities",
    NOT_FINITE: "the learner gave scores that are not finite",
    NOT_SHARES: "the learner gave scores that are not probabilities",
}


@dataclass(frozen=True)
class Asked:
    """A measure with its average over classes and its parameters."""

    measure: Measure
    average: Any = "auto"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> Any:
        """For caches; None where a parameter cannot be part of a key."""
        key = (self.measure.name, self.average, tuple(sorted(self.params.items())))
        try:
            hash(key)
        except TypeError:
            return None
        return key


def asked(measures: Any, average: Any = "auto", params: Mapping[str, Any] | None = None) -> list[Asked]:
    """Measures by name; one that cannot be computed from evidence is refused with what to use instead."""
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    if not listed:
        raise InputError("measure must name at least 1 measure, got none")
    if average is None:
        raise InputError("average must give one number for each trial, got None: choose 'macro', 'weighted' or positive=")
    found = []
    for each in listed:
        measure = get_measure(each)
        _possible(measure)
        known = average in measure.averages or len(listed) == 1
        one = Asked(measure, average if known else "auto", dict(params or {}))
        measure.check(one.average, one.params)
        found.append(one)
    return found


def _possible(measure: Measure) -> None:
    if measure.facts.needs == "results":
        raise InputError(
            f"{measure.name} is computed from results, not from predictions: use robustness() for losses of accuracy and "
            "deterioration() for pD"
        )
    if measure.facts.needs == "values":
        raise InputError(f"{measure.name} must have predicted numbers, but evidence holds classes: choose a measure of classes")


def score(trials: Iterable[Predictions], order: ClassOrder, wanted: Sequence[Asked]) -> tuple[FloatArray, npt.NDArray[Any]]:
    """Values and reasons, measures x trials, of trials of one data set, in the order in which they come."""
    values, reasons = [], []
    for part in _parts(trials):
        value = np.full((len(wanted), len(part)), np.nan)
        reason = np.zeros((len(wanted), len(part)), dtype=np.uint8)
        for places, stack in stacks(part, order):
            for line, one in enumerate(wanted):
                value[line, places], reason[line, places] = values_of(stack, one)
        values.append(value)
        reasons.append(reason)
    if not values:
        return np.empty((len(wanted), 0)), np.empty((len(wanted), 0), dtype=np.uint8)
    return np.concatenate(values, axis=1), np.concatenate(reasons, axis=1)


def _parts(trials: Iterable[Predictions]) -> Iterator[list[Predictions]]:
    held, size = [], 0
    for one in trials:
        held.append(one)
        size += one.truth.size if one.scores is None else one.scores.size
        if size > _HELD:
            yield held
            held, size = [], 0
    if held:
        yield held


def values_of(stack: Stack, one: Asked) -> tuple[FloatArray, npt.NDArray[Any]]:
    """The value of each trial of a stack, and the reason where there is none."""
    measure = one.measure
    hindrance = _hindrance(stack, measure)
    values = np.full(len(stack.true), np.nan)
    able = hindrance == DEFINED
    if able.any():
        with warnings.catch_warnings():
            # One warning for all trials follows.
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            values[able] = _computed(stack, one, np.flatnonzero(able))
    return values, np.where(able & np.isnan(values), UNDEFINED, hindrance)


def _hindrance(stack: Stack, measure: Measure) -> npt.NDArray[Any]:
    none = np.zeros(len(stack.true), dtype=np.uint8)
    if measure.facts.needs == "labels":
        return none
    if stack.scores is None:
        return none + NO_SCORES
    if measure.facts.needs == "probabilities" and stack.kind != "probability":
        return none + NO_PROBABILITIES
    missing = np.where(stack.finite, none, NOT_FINITE)
    if measure.facts.needs == "probabilities":
        missing = np.where(stack.finite & ~stack.forecasts, NOT_SHARES, missing)
    return missing.astype(np.uint8)


def _computed(stack: Stack, one: Asked, able: IntArray) -> FloatArray:
    measure, params = one.measure, dict(one.params)
    if isinstance(measure, LabelMeasure):
        return _of_labels(stack, measure, one.average, params)[able]
    if isinstance(measure, ScoreMeasure) and not isinstance(measure, MultiScoreMeasure):
        return _of_scores(stack, measure, one.average, params)[able]
    if measure.name in _MEANS and registry[measure.name] is measure:
        with np.errstate(invalid="ignore"):  # trials whose scores are no probabilities are not picked
            return np.asarray(measure.formula(stack.mean_rows(), **params))[able]
    rows = stack.probability_rows if isinstance(measure, ProbabilityMeasure) else stack.score_rows
    found = [measure.values(rows(int(trial)), average=one.average, **params)[0] for trial in able]
    return np.array(found, dtype=np.float64)


def _of_labels(stack: Stack, measure: LabelMeasure, average: Any, params: dict[str, Any]) -> FloatArray:
    """An abstention is a further label that is never true, and no class: means over classes are those over the others.

    Of two classes, one against the other, it is the wrong one: else an abstention would be a true negative.
    """
    k, per_class = len(stack.order.order), measure.facts.per_class
    if not stack.abstains:
        return np.asarray(measure.of(stack.confusion, average=average, **params))
    if (per_class and k == 2) or (measure.name in _OF_RECALLS and registry[measure.name] is measure):
        return np.asarray(measure.of(stack.mistaken, average=average, **params))
    if per_class and (average in ("macro", "weighted") or (average == "auto" and stack.order.positive is None)):
        values = np.asarray(measure.of(stack.confusion, average=None, **params))
        return over_classes(values[:, :k], stack.support, average)
    return np.asarray(measure.of(stack.confusion, average=average, **params))


def _of_scores(stack: Stack, measure: ScoreMeasure, average: Any, params: dict[str, Any]) -> FloatArray:
    positive = stack.order.positive
    if average == "auto":
        average = "macro" if positive is None else "binary"
    if average == "binary":
        if positive is None:
            raise InputError(
                f"positive must be named when the classes are {stack.order.names}: pass positive= or average='macro'"
            )
        return np.asarray(measure.of(stack.tally(positive), **params))
    values = [np.asarray(measure.of(stack.tally(code), **params)) for code in range(len(stack.order.order))]
    return over_classes(np.stack(values, axis=-1), stack.support, average)


def undefined_words(one: Asked, reasons: npt.NDArray[Any], learners: npt.NDArray[Any]) -> str:
    """How many trials have no value and why; empty where all have one."""
    missing = int((reasons != DEFINED).sum())
    if not missing:
        return ""
    told = []
    for reason in np.unique(reasons[reasons != DEFINED]):
        mine = reasons == reason
        who = ", ".join(dict.fromkeys(str(name) for name in learners[mine]))
        told.append(f"{int(mine.sum()):,} ({REASONS.get(int(reason), one.measure.facts.undefined)}: {who})")
    return f"{one.measure.name} is undefined for {missing:,} of {counted(len(reasons), 'trial')}: {', '.join(told)}"
