"""Figures of noise and drift by name."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.measure import get_measure
from fairtrial.report.deterioration import draw_deterioration
from fairtrial.report.draw import figure
from fairtrial.report.level_means import level_means
from fairtrial.report.loss_surface import draw_loss_surface
from fairtrial.report.places import changed_conditions, main_condition, with_levels
from fairtrial.report.robustness import draw_levels, draw_losses

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results


@figure("noise")
def noise(
    results: Results,
    condition: str | None = None,
    dataset: str | None = None,
    measure: str = "accuracy",
    positive: object = None,
    alpha: float = 0.05,
) -> Any:
    """A measure against the level of a condition, with intervals, over all data sets or on one."""
    name = _condition(results, condition)
    _known_data_set(results, dataset)
    levels = {**changed_conditions(results, test_alone=False), **changed_conditions(results, test_alone=True)}[name]
    frame = level_means(results, [main_condition(results), *levels], measure, dataset=dataset, alpha=alpha, positive=positive)
    words = get_measure(measure).name.replace("_", " ").capitalize()
    return draw_levels(frame, words=words, title=f"{words} under {name}{_on(results, dataset)}")


@figure("rla")
def rla(results: Results, condition: str | None = None, dataset: str | None = None, alpha: float = 0.05) -> Any:
    """Relative loss of accuracy against the level."""
    frame, name = losses(results, condition, dataset, alpha)
    return draw_losses(frame, which="rla", title=f"Loss of accuracy under {name}{_on(results, dataset)}")


@figure("ela")
def ela(results: Results, condition: str | None = None, dataset: str | None = None, alpha: float = 0.05) -> Any:
    """Equalized loss of accuracy against the level."""
    frame, name = losses(results, condition, dataset, alpha)
    return draw_losses(frame, which="ela", title=f"Loss of accuracy under {name}{_on(results, dataset)}")


@figure("loss-surface", "surface")
def loss_surface(results: Results, condition: str | None = None, dataset: str | None = None) -> Any:
    """Learners on the surfaces of RLA and ELA."""
    frame, name = losses(results, condition, dataset, 0.05)
    return draw_loss_surface(frame, title=f"RLA and ELA under {name}{_on(results, dataset)}")


@figure("deterioration", "pd")
def deterioration(results: Results, condition: str | None = None, value: str = "pd") -> Any:
    """The matrix of pD (or of the loss in error rate), learners by data sets."""
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = with_levels(results.deterioration(), results.archive.conditions)
    if condition is not None:
        known = list(dict.fromkeys(frame["condition"].astype(str)))
        if condition not in known:
            raise InputError(f"condition must change the test part alone, got {condition!r}: {did_you_mean(condition, known)}")
        frame = frame[frame["condition"] == condition]
    return draw_deterioration(frame, value=value)


def losses(results: Results, condition: str | None, dataset: str | None, alpha: float) -> tuple[pd.DataFrame, str]:
    """RLA and ELA of one condition: over all data sets, or of one, which a study of one always means."""
    name = _condition(results, condition)
    _known_data_set(results, dataset)
    single = dataset is not None or len(results.archive.datasets) == 1
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        frame = results.robustness(name, by="dataset" if single else "all", alpha=alpha)
    return frame[frame["dataset"] == dataset] if dataset is not None else frame, name


def _condition(results: Results, condition: str | None) -> str:
    """The name of a condition that changes something; it need not be given where there is only one."""
    known = list({**changed_conditions(results, test_alone=False), **changed_conditions(results, test_alone=True)})
    if not known:
        raise InputError("the study must have a condition that changes something for this figure, got clean alone")
    if condition is None and len(known) > 1:
        raise InputError(f"condition must be given for a study of several, got None: choose one of {', '.join(known)}")
    if condition is not None and condition not in known:
        raise InputError(f"condition must be one of the study's, got {condition!r}: {did_you_mean(condition, known)}")
    return condition or known[0]


def _known_data_set(results: Results, dataset: str | None) -> None:
    names = [each.name for each in results.archive.datasets]
    if dataset is not None and dataset not in names:
        raise InputError(f"dataset must be of the study, got {dataset!r}: {did_you_mean(dataset, names)}")


def _on(results: Results, dataset: str | None) -> str:
    names = [each.name for each in results.archive.datasets]
    return f", {dataset or names[0]}" if dataset is not None or len(names) == 1 else f", mean of {len(names)} data sets"
