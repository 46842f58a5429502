"""The rows on which a model is judged, as arrays that measures and tests take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.measures import Measure, evaluate, get_measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.tally import tally_of
from fairtrial.study.predictions.counted_intervals import of_mean, of_table, of_tally
from fairtrial.study.predictions.judged_plan import MANY_ROWS, Plan, quiet
from fairtrial.study.predictions.predictions import PredictedSet, ScoreKind

_LABELS = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")
_OF_TWO = ("auc", "average_precision", "h_measure", "ks")
_PROBABILITIES = ("brier", "log_loss", "calibration_error")


@dataclass(frozen=True, eq=False)
class JudgedModel:
    """A model on the rows of a data set, each once: codes of the truth and of the labels, scores of every class, weights."""

    dataset: str
    name: str
    classes: tuple[Any, ...]
    positive: int | None
    places: IntArray
    true: IntArray
    predicted: IntArray | None
    scores: FloatArray | None
    kind: ScoreKind | None
    weights: FloatArray | None

    @classmethod
    def of(cls, one: PredictedSet, name: str, positive: int | None) -> JudgedModel:
        """The model's first prediction of each row."""
        model = one.models[name]
        lines = model.first
        places = model.places[lines]
        return cls(
            one.name,
            name,
            one.classes,
            positive,
            places,
            one.truth[places],
            model.prediction[lines] if model.has_labels else None,
            None if model.scores is None else model.scores[lines],
            model.score_kind,
            None if one.weights is None else one.weights[places],
        )

    def part(self, chosen: npt.NDArray[Any]) -> JudgedModel:
        """The same on some of the rows (a mask, or places)."""
        return replace(
            self,
            places=self.places[chosen],
            true=self.true[chosen],
            predicted=None if self.predicted is None else self.predicted[chosen],
            scores=None if self.scores is None else self.scores[chosen],
            weights=None if self.weights is None else self.weights[chosen],
        )

    @property
    def y_score(self) -> FloatArray | None:
        """Scores as measures take them: of the positive class where there are two, else of each."""
        if self.scores is None or len(self.classes) > 2:
            return self.scores
        return np.ascontiguousarray(self.scores[:, 1 if self.positive is None else self.positive])

    @property
    def options(self) -> dict[str, Any]:
        """What measures must know besides the columns."""
        return {"labels": list(range(len(self.classes))), "positive": self.positive}

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""
        return {
            "labels": self.predicted is not None,
            "scores": self.scores is not None,
            "probabilities": self.kind == "probability",
        }.get(measure.facts.needs, False)

    def needed(self, measure: Measure) -> Any:
        """The column that the measure takes."""
        return self.predicted if measure.facts.needs == "labels" else self.y_score

    def value(self, measure: Measure) -> float:
        """The value alone, NaN where it is undefined."""
        with quiet():
            return float(measure(self.true, self.needed(measure), sample_weight=self.weights, **self.options))


def positive_place(one: PredictedSet, positive: object) -> int | None:
    """The place of the positive class, which must exist in every data set."""
    place = one.place_of(positive)
    if positive is not None and place is None:
        raise InputError(
            f"positive must be a class of data set {one.name!r}, got {positive!r}: {did_you_mean(positive, one.classes)}"
        )
    return place


def chosen_measures(models: Sequence[JudgedModel], wanted: Any) -> list[Measure]:
    """The measures asked for, or those that suit what the models give; the first one is the main one."""
    if wanted is None:
        return _suitable(models)
    listed = [wanted] if isinstance(wanted, (str, Measure)) else list(wanted)
    if not listed:
        raise InputError("measures must name at least one measure, got none")
    chosen = [get_measure(each) for each in listed]
    for each in chosen:
        if not any(model.has(each) for model in models):
            raise InputError(f"{each.name} must have {each.facts.needs}, which no model gives: choose another measure")
    return chosen


def _suitable(models: Sequence[JudgedModel]) -> list[Measure]:
    two = all(model.positive is not None for model in models)
    of_scores = _OF_TWO if two else ("auc",)
    names = [*_LABELS, *of_scores, *_PROBABILITIES]
    if all(model.scores is not None for model in models):
        names = ["auc", *(name for name in names if name != "auc")]
    chosen = [get_measure(name) for name in names]
    return [each for each in chosen if any(model.has(each) for model in models)]


def intervals(model: JudgedModel, measures: Sequence[Measure], plan: Plan) -> list[Interval]:
    """The measures of a model with their intervals; those that it does not allow are NaN, with the reason."""
    possible = [each for each in measures if model.has(each)]
    found: dict[str, Interval] = {}
    if len(model.true) > MANY_ROWS and model.weights is None:
        found = {one.measure: one for one in _counted(model, possible, plan)}
    rest = [each for each in possible if each.name not in found]
    if rest:
        how = "auto" if len(model.true) <= MANY_ROWS else "percentile"
        found.update((one.measure, one) for one in _evaluated(model, rest, how, plan))
    nan = float("nan")
    return [
        found.get(each.name, Interval(each.name, nan, nan, nan, plan.level, "", f"needs {each.facts.needs}"))
        for each in measures
    ]


def _counted(model: JudgedModel, measures: Sequence[Measure], plan: Plan) -> list[Interval]:
    """Intervals from counts, where counts are enough: they need no second look at the rows."""
    found = []
    labels = [each for each in measures if each.facts.needs == "labels"]
    if labels:
        table = Confusion.from_labels(model.true, model.predicted, **model.options)  # type: ignore[arg-type]
        found += [of_table(each, table, plan, True) for each in labels]
    ranked = [each for each in measures if each.facts.needs == "scores"]
    if ranked and model.positive is not None and model.scores is not None:
        tally = tally_of(model.true == model.positive, np.ascontiguousarray(model.scores[:, model.positive]), None)
        found += [of_tally(each, tally, plan, True) for each in ranked]
    for each in measures:
        if each.name in ("brier", "log_loss") and model.scores is not None:
            parts = _losses(model.scores, model.true, each.name)
            found.append(of_mean(each.name, model.value(each), float(parts.std(ddof=1)), len(parts), plan, True))
    return found


def _losses(probabilities: FloatArray, true: IntArray, name: str) -> FloatArray:
    """What each row adds to the Brier score or to the log loss."""
    of_truth = np.take_along_axis(probabilities, true[:, None], axis=1)[:, 0]
    if name == "log_loss":
        with np.errstate(divide="ignore"):
            return np.asarray(-np.log(of_truth))
    squares = (probabilities**2).sum(axis=1) - 2 * of_truth + 1
    return np.asarray(squares / 2 if probabilities.shape[1] == 2 else squares)


def _evaluated(model: JudgedModel, measures: list[Measure], how: str, plan: Plan) -> tuple[Interval, ...]:
    with quiet():
        return evaluate(
            model.true,
            model.predicted,
            model.y_score,
            measures,
            interval=how,
            level=plan.level,
            resamples=plan.resamples_of(len(model.true)),
            seed=plan.seed,
            sample_weight=model.weights,
            **model.options,
        ).intervals
