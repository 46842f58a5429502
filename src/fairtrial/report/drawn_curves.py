"""Figures of curves by name: of one data set under one condition, a curve for each learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from fairtrial.errors import InputError
from fairtrial.report import curves
from fairtrial.report.cost_winners import cost_winners, with_winners
from fairtrial.report.curve_frames import classes_tested, curve_frames, positive_class
from fairtrial.report.draw import figure
from fairtrial.report.places import main_condition, told
from fairtrial.report.roc_band import roc_band, with_band

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts

    Learners = str | Sequence[str] | None

_MOST_BANDS = 3


@figure("roc")
def roc(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
    hull: bool = True,
    band: Literal["curve", "points", "none"] | None = None,
    confidence: float = 0.95,
) -> Any:
    """ROC curves with their hulls; bands by default for up to three learners, of the first repeat."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "roc", positive=positive, **place)
    hulls = curve_frames(results, "roc-hull", positive=positive, **place) if hull else None
    chart = curves.draw_roc(frames, hulls, title=_title("ROC curve", results, dataset, condition, level, positive))
    kind = band or ("curve" if len(frames) <= _MOST_BANDS and not repeat else "none")
    if kind == "none":
        return chart
    if repeat:
        raise InputError(f"band must be 'none' for a repeat other than the first, got {band!r} for repeat {repeat}")
    facts = next(each for each in results.archive.datasets if dataset in (None, each.name))
    label = positive_class(results, facts) if positive is None else _label(positive, facts.name)
    counts = classes_tested(results, facts, _condition(results, condition, level), label)
    bands = {name: roc_band(frame, *counts, level=confidence, of=kind) for name, frame in frames.items()}
    return with_band(chart, bands, frames, level=confidence, whole=kind == "curve")


@figure("precision-recall", "pr")
def precision_recall(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Precision over recall."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "precision-recall", positive=positive, **place)
    title = _title("Precision-recall curve", results, dataset, condition, level, positive)
    return curves.draw_precision_recall(frames, title=title)


@figure("cost-curve", "cost")
def cost_curve(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
    lines: bool = False,
    winners: bool = True,
) -> Any:
    """Cost curves with a strip of who wins where; `lines` adds the line of each threshold."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "cost", positive=positive, **place)
    more = curve_frames(results, "cost-lines", positive=positive, **place) if lines else None
    chart = curves.draw_cost(frames, more, title=_title("Cost curve", results, dataset, condition, level, positive))
    return with_winners(chart, cost_winners(frames), frames) if winners else chart


@figure("brier-curve", "brier")
def brier_curve(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Brier curves, of learners that give probabilities."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "brier", positive=positive, **place)
    return curves.draw_brier(frames, title=_title("Brier curve", results, dataset, condition, level, positive))


@figure("ks", "kolmogorov-smirnov")
def ks(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """True and false positive rate over the thresholds, a panel for each learner."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "tpr-fpr", positive=positive, **place)
    return curves.draw_tpr_fpr(frames, title=_title("Kolmogorov-Smirnov chart", results, dataset, condition, level, positive))


@figure("gain", "lift")
def gain(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Gain and lift."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "gain", positive=positive, **place)
    return curves.draw_gain(frames, title=_title("Gain and lift", results, dataset, condition, level, positive))


@figure("calibration", "reliability")
def calibration(
    results: Results,
    dataset: str | None = None,
    condition: str | None = None,
    level: float | None = None,
    learner: Learners = None,
    positive: object = None,
    repeat: int | None = None,
) -> Any:
    """Calibration curves, of learners that give probabilities."""
    place: dict[str, Any] = {"dataset": dataset, "condition": condition, "level": level, "learner": learner, "repeat": repeat}
    frames = curve_frames(results, "calibration", positive=positive, **place)
    return curves.draw_calibration(frames, title=_title("Calibration", results, dataset, condition, level, positive))


def _title(
    words: str, results: Results, dataset: str | None, condition: str | None, level: float | None, positive: object
) -> str:
    facts = next(each for each in results.archive.datasets if dataset in (None, each.name))
    label = positive_class(results, facts) if positive is None else _label(positive, facts.name)
    where = "" if condition is None else f" under {told(_condition(results, condition, level))}"
    return f"{words}: {facts.name}, class {label}{where}"


def _label(positive: object, dataset: str) -> object:
    return positive.get(dataset) if isinstance(positive, dict) else positive


def _condition(results: Results, condition: str | None, level: float | None) -> ConditionFacts:
    """The condition that is meant; the curves have been drawn by then, so that it exists."""
    if condition is None:
        return main_condition(results)
    own = [each for each in results.archive.conditions if each.name == condition]
    return next((each for each in own if level is not None and abs(each.level - level) < 1e-12), own[0])
