"""Every figure of a study by name: `draw(results, "roc", dataset="iris")` gives an altair chart."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtrial._registry import Registry, did_you_mean
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.study import Results
    from fairtrial.study.predictions.judgement import Judgement

Draws = Callable[..., Any]
_FAMILIES = ("drawn_curves", "drawn_verdicts", "drawn_conditions", "drawn_splits")
OF_JUDGEMENTS = ("roc", "precision-recall", "cost-curve", "ks", "calibration")
figures: Registry[Draws] = Registry("figure", group="fairtrial.figures")


def figure(*names: str) -> Callable[[Draws], Draws]:
    """Register a function of results and options as the figure of this name; further names are aliases."""

    def register(function: Draws) -> Draws:
        figures.add(names[0], function, aliases=names[1:])
        return function

    return register


def draw(results: Results | Judgement, name: str, **options: Any) -> Any:
    """A figure of a study's results by its name, as an altair chart: show it in a notebook, or `save(chart, "roc.pdf")`.

    `figure_names()` lists the names. Options are the figure's own (`figure_options(name)`): dataset, condition, level, learner,
    measure, positive and so on; every figure takes `title`. A judgement without weights has the curves.

    >>> draw(None, "rok")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no figure is called 'rok': did you mean 'roc'?
    >>> draw(None, "roc", datset="iris")
    Traceback (most recent call last):
    fairtrial.errors.InputError: the figure 'roc' has no option 'datset': did you mean 'dataset'?
    """
    _known()
    function = figures[name]
    allowed = figure_options(name)
    for option in options:
        if option not in allowed:
            raise InputError(f"the figure {name!r} has no option {option!r}: {did_you_mean(option, allowed)}")
    title = options.pop("title", None)
    found, own = _of_judgement(results, name, allowed)
    chart = function(found, **{**own, **options})
    if title is not None:
        chart.title.text = str(title)
    return chart


def _of_judgement(results: Any, name: str, allowed: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """The predictions of a judgement as results, with its positive class; results stay as they are."""
    from fairtrial.study import Results
    from fairtrial.study.predictions.judgement import Judgement

    if not isinstance(results, Judgement):
        return results, {}
    if name not in OF_JUDGEMENTS or results.predictions is None or results.roles.get("weight"):
        raise InputError(
            f"the figure {name!r} must be of a study's results, or one of {', '.join(OF_JUDGEMENTS)} of a judgement that holds "
            "its predictions, without weights: write_report draws what there is of others"
        )
    named = {label for label, _ in results.positives.classes.values()}
    own = {"positive": named.pop()} if len(named) == 1 and results.positives.given and "positive" in allowed else {}
    return Results(results.archive), own


def figure_names() -> tuple[str, ...]:
    """The names of all figures.

    >>> "cost-curve" in figure_names()
    True
    """
    _known()
    return tuple(figures)


def figure_options(name: str) -> tuple[str, ...]:
    """The options of a figure.

    >>> figure_options("times")
    ('dataset', 'title')
    """
    _known()
    parameters = list(inspect.signature(figures[name]).parameters)[1:]
    return (*parameters, *(["title"] if "title" not in parameters else []))


def _known() -> None:
    """The modules that define figures."""
    for family in _FAMILIES:
        import_module(f"fairtrial.report.{family}")
