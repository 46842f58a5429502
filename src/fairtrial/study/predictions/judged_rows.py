"""The rows on which a model is judged, as arrays that measures and tests take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError
from fairtrial.measures import Measure, evaluate, get_measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.tally import tally_of
from fairtrial.study.evidence import ABSTAINED
from fairtrial.study.predictions.counted_intervals import of_mean, of_table, of_tally
from fairtrial.study.predictions.judged_losses import losses
from fairtrial.study.predictions.judged_plan import MANY_ROWS, Plan, quiet
from fairtrial.study.predictions.judged_strays import codes_of, for_strays, seen
from fairtrial.study.predictions.prediction_checks import Notes, place_of_positive
from fairtrial.study.predictions.prediction_names import label_text
from fairtrial.study.predictions.predictions import PredictedSet, ScoreKind

_LABELS = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")
OF_TWO = ("average_precision", "h_measure", "ks")
SUMS = ("brier", "log_loss")
_PROBABILITIES = (*SUMS, "calibration_error")


class HasMeasures(Protocol):
    """A model, held or counted, of which measures are chosen."""

    @property
    def dataset(self) -> str:
        """The data set."""

    @property
    def positive(self) -> int | None:
        """The place of the positive class."""

    @property
    def scores(self) -> Any:
        """Scores of every class, None where there are none."""

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""


@dataclass(frozen=True, eq=False)
class JudgedModel:
    """A model on the rows of a data set, each once: codes of the truth and of the labels, scores of every class, weights.

    A label that is none of the classes, or missing, is ABSTAINED.
    """

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
    def strays(self) -> bool:
        """Whether some labels are none of the classes."""
        return self.predicted is not None and bool((self.predicted == ABSTAINED).any())

    def options(self, strays: bool = False) -> dict[str, Any]:
        """What measures must know besides the columns; measures of labels where some are `strays` know of them."""
        return {"labels": codes_of(len(self.classes), strays), "positive": self.positive}

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
        strays = measure.facts.needs == "labels" and self.strays
        known = for_strays(measure) if strays else measure
        with quiet():
            return float(known(self.true, self.needed(measure), sample_weight=self.weights, **self.options(strays)))


def positive_place(one: PredictedSet, positive: object) -> int | None:
    """The place of the positive class, which must exist in every data set."""
    return place_of_positive([label_text(each) for each in one.classes], positive, one.name)


def chosen_measures(models: Sequence[HasMeasures], wanted: Any, counted: bool = False) -> list[Measure]:
    """The measures asked for, or those that suit what the models give; the first one is the main one.

    Unasked that is AUC where every model has scores of a positive class, else accuracy. `counted` files are never held.
    """
    if wanted is None:
        return _suitable(models, counted)
    listed = [wanted] if isinstance(wanted, (str, Measure)) else list(wanted)
    if not listed:
        raise InputError("measures must name at least one measure, got none")
    chosen = [get_measure(each) for each in listed]
    for each in chosen:
        if counted and not (each.facts.needs in ("labels", "scores") or each.name in SUMS):
            raise InputError(
                f"{each.name} must be one that counts give for a large file, which it is not: judge a sample of the rows"
            )
        if not any(model.has(each) for model in models):
            raise InputError(f"{each.name} must have {each.facts.needs}, which no model gives: choose another measure")
    return chosen


def _suitable(models: Sequence[HasMeasures], counted: bool) -> list[Measure]:
    of_scores = ("auc", *OF_TWO) if any(model.positive is not None for model in models) else ("auc",)
    names = [*_LABELS, *of_scores, *(SUMS if counted else _PROBABILITIES)]
    if all(model.scores is not None and model.positive is not None for model in models):
        names = ["auc", *(name for name in names if name != "auc")]
    chosen = [get_measure(name) for name in names]
    return [each for each in chosen if any(model.has(each) for model in models)]


def only_of_two(models: Sequence[HasMeasures], measures: Sequence[Measure], asked: bool, notes: Notes) -> tuple[str, ...]:
    """Measures that were not asked for and are left out on data sets without a positive class, which is told."""
    without = list(dict.fromkeys(model.dataset for model in models if model.positive is None))
    names = tuple(each.name for each in measures if each.name in OF_TWO)
    if asked or not names or not without:
        return ()
    shown = ", ".join(map(repr, without[:6])) + (f" and {len(without) - 6} more" if len(without) > 6 else "")
    notes.tell(
        f"{', '.join(names)} need a positive class, which data sets of more than two classes have only if it is named: they "
        f"are left out on {shown}."
    )
    return names


def intervals(model: JudgedModel, measures: Sequence[Measure], plan: Plan) -> list[Interval]:
    """The measures of a model with their intervals; those that it does not allow are NaN, with the reason."""
    possible = [each for each in measures if not lacking(model, each, plan)]
    found: dict[str, Interval] = {}
    if len(model.true) > MANY_ROWS and model.weights is None:
        found = {one.measure: one for one in _counted(model, possible, plan)}
    rest = [each for each in possible if each.name not in found]
    if rest:
        how = "auto" if len(model.true) <= MANY_ROWS else "percentile"
        found.update((one.measure, one) for one in _evaluated(model, rest, how, plan))
    return [found[each.name] if each.name in found else undefined(model, each, plan) for each in measures]


def lacking(model: HasMeasures, measure: Measure, plan: Plan) -> str:
    """What a model lacks for a measure; nothing where it has all."""
    if not model.has(measure):
        return f"needs {measure.facts.needs}"
    return "needs a positive class" if model.positive is None and measure.name in plan.of_two else ""


def undefined(model: HasMeasures, measure: Measure, plan: Plan) -> Interval:
    """No value, with the reason."""
    nan = float("nan")
    return Interval(measure.name, nan, nan, nan, plan.level, "", lacking(model, measure, plan))


def _counted(model: JudgedModel, measures: Sequence[Measure], plan: Plan) -> list[Interval]:
    """Intervals from counts, where counts are enough: they need no second look at the rows."""
    found = []
    labels = [each for each in measures if each.facts.needs == "labels"]
    if labels:
        table = Confusion.from_labels(model.true, model.predicted, **model.options(model.strays))  # type: ignore[arg-type]
        found += [of_table(for_strays(each), seen(each, table), plan, True) for each in labels]
    ranked = [each for each in measures if each.facts.needs == "scores"]
    if ranked and model.positive is not None and model.scores is not None:
        tally = tally_of(model.true == model.positive, np.ascontiguousarray(model.scores[:, model.positive]), None)
        found += [of_tally(each, tally, plan, True) for each in ranked]
    for each in measures:
        if each.name in SUMS and model.scores is not None:
            parts = losses(model.scores, model.true, model.positive, each.name)
            found.append(of_mean(each.name, model.value(each), float(parts.std(ddof=1)), len(parts), plan, True))
    return found


def _evaluated(model: JudgedModel, measures: list[Measure], how: str, plan: Plan) -> tuple[Interval, ...]:
    """By the same draws for all; labels that are none of the classes are a matter of measures of labels alone."""
    if model.strays and len({each.facts.needs == "labels" for each in measures}) > 1:
        labels, others = ([each for each in measures if (each.facts.needs == "labels") is own] for own in (True, False))
        return (*_evaluated(model, labels, how, plan), *_evaluated(model, others, how, plan))
    of_labels = measures[0].facts.needs == "labels"
    strays = model.strays and of_labels
    with quiet():
        return evaluate(
            model.true,
            None if model.strays and not of_labels else model.predicted,
            None if strays else model.y_score,
            [for_strays(each) for each in measures] if strays else measures,
            interval=how,
            level=plan.level,
            resamples=plan.resamples_of(len(model.true)),
            seed=plan.seed,
            sample_weight=model.weights,
            **model.options(strays),
        ).intervals
