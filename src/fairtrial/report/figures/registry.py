"""Every figure of a study by name: `draw(results, "roc", dataset="iris")` gives an altair chart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.study import Results

DrawFunction = Callable[..., Any]


_FAMILIES = ("study_curves", "comparison", "robustness", "folds")


JUDGEMENT_FIGURES = ("roc", "precision-recall", "cost-curve", "ks", "calibration")


figures: Registry[DrawFunction] = Registry("figure", group="fairtrial.figures")


def register_figure(*names: str) -> Callable[[DrawFunction], DrawFunction]:
    """Register a function of results and options as the figure of this name; further names are aliases."""

    def register(function: DrawFunction) -> DrawFunction:
        figures.add(names[0], function, aliases=names[1:])
        return function

    return register


def draw(results: Results | Judgement, name: str, **options: Any) -> Any:
    """A figure of a study's results by its name, as an altair chart: show it in a notebook, or `save(chart, "roc.pdf")`.

    `list_figure_names()` lists the names. Options are the figure's own (`list_figure_options(name)`): dataset, condition, level, learner,
    measure, positive and so on; every figure takes `title`. A judgement without weights has the curves.

    >>> draw(None, "rok")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no figure is called 'rok': did you mean 'roc'?
    >>> draw(None, "roc", datset="iris")
    Traceback (most recent call last):
    fairtrial.errors.InputError: the figure 'roc' has no option 'datset': did you mean 'dataset'?
    """
    _import_figures()
    function = figures[name]
    allowed = list_figure_options(name)
    for option in options:
        if option not in allowed:
            raise InputError(f"the figure {name!r} has no option {option!r}: {suggest_name(option, allowed)}")
    title = options.pop("title", None)
    source, defaults = _convert_judgement(results, name, allowed)
    chart = function(source, **{**defaults, **options})
    if title is not None:
        chart.title.text = str(title)
    return chart


def _convert_judgement(results: Any, name: str, allowed: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """The predictions of a judgement as results, with its positive class; results stay as they are."""
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.study import Results

    if not isinstance(results, Judgement):
        return results, {}
    if name not in JUDGEMENT_FIGURES or results.predictions is None or results.roles.get("weight"):
        raise InputError(
            f"the figure {name!r} must be of a study's results, or one of {', '.join(JUDGEMENT_FIGURES)} of a judgement that holds "
            "its predictions, without weights: write_report draws what there is of others"
        )
    labels = {label for label, _ in results.positives.classes.values()}
    defaults = {"positive": labels.pop()} if len(labels) == 1 and results.positives.specified and "positive" in allowed else {}
    return Results(results.archive), defaults


def list_figure_names() -> tuple[str, ...]:
    """The names of all figures.

    >>> "cost-curve" in list_figure_names()
    True
    """
    _import_figures()
    return tuple(figures)


def list_figure_options(name: str) -> tuple[str, ...]:
    """The options of a figure.

    >>> list_figure_options("times")
    ('dataset', 'title')
    """
    _import_figures()
    parameters = list(inspect.signature(figures[name]).parameters)[1:]
    return (*parameters, *(["title"] if "title" not in parameters else []))


def _import_figures() -> None:
    """The modules that define figures."""
    for family in _FAMILIES:
        import_module(f"fairtrial.report.figures.{family}")
