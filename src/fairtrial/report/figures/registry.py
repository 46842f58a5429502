"""Every figure by name: `draw(results, "roc", dataset="iris")` returns an altair chart.

A figure is added by a module in `fairtrial.report.figures`, or in another package that names it in the entry-point group
`fairtrial.figures`:

    @register_figure("times", "time", select=("dataset",))
    def draw_study_times(results, selection): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError
from fairtrial.report.section import ReportKind
from fairtrial.report.selection import Selection
from fairtrial.report.source import describe_source

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.study import Results

DrawFunction = TypeVar("DrawFunction", bound=Callable[..., Any])


def draw(results: Results | Judgement, name: str, **options: Any) -> Any:
    """Draw a figure of results by its name, as an altair chart: show it in a notebook, or `save(chart, "roc.pdf")`.

    `list_figure_names()` lists the names. Options are the figure's own (`list_figure_options(name)`): dataset, condition,
    level, learner, measure, positive and so on; every figure takes `title`. A judgement without weights has the curves.

    >>> draw(None, "rok")
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no figure is called 'rok': did you mean 'roc'?
    >>> draw(None, "roc", datset="iris")
    Traceback (most recent call last):
    fairtrial.errors.InputError: the figure 'roc' has no option 'datset': did you mean 'dataset'?
    """
    figure, allowed = figures[name], list_figure_options(name)
    for option in options:
        if option not in allowed:
            raise InputError(f"the figure {name!r} has no option {option!r}: {suggest_name(option, allowed)}")
    title = options.pop("title", None)
    source = describe_source(results)
    drawn_results = source.to_results() if source.kind in figure.serves else None
    if drawn_results is None:
        alternatives = [option for option in figures if "judgement" in figures[option].serves]
        raise InputError(
            f"the figure {name!r} must be of a study's results, or one of {', '.join(alternatives)} of a judgement that holds "
            "its predictions, without weights: write_report draws what there is of others"
        )
    defaults = {option: value for option, value in source.figure_options().items() if option in allowed}
    chart = figure(drawn_results, **{**defaults, **options})
    if title is not None:
        chart.title.text = str(title)
    return chart


def list_figure_names() -> tuple[str, ...]:
    """List the names of all figures, sorted.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "cost-curve" in list_figure_names()
    True
    """
    return tuple(sorted(figures))


def list_figure_options(name: str) -> tuple[str, ...]:
    """List the options of a figure.

    Parameters
    ----------
    name : str
        Name of a figure.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> list_figure_options("times")
    ('dataset', 'title')
    """
    options = figures[name].list_options()
    return options if "title" in options else (*options, "title")


@dataclass(eq=False)
class RegisteredFigure:
    """A function that draws a figure, with its names, the kinds of results that it serves, and what can be selected.

    With `select`, the function takes results and a `Selection` with these fields, else results alone; then its own options.
    """

    names: tuple[str, ...]
    function: Callable[..., Any]
    serves: tuple[ReportKind, ...]
    select: tuple[str, ...]

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)  # so that a notebook cell which is run again may replace its figure

    def list_options(self) -> tuple[str, ...]:
        """List what can be selected, and the function's own options."""
        parameters = list(inspect.signature(self.function).parameters)
        return (*self.select, *parameters[2 if self.select else 1 :])

    def __call__(self, results: Results, **options: Any) -> Any:
        """Draw the figure with these options."""
        if not self.select:
            return self.function(results, **options)
        selected = {option: value for option, value in options.items() if option in self.select}
        rest = {option: value for option, value in options.items() if option not in self.select}
        return self.function(results, Selection(**selected), **rest)


figures: Registry[RegisteredFigure] = Registry("figure", group="fairtrial.figures", package="fairtrial.report.figures")


def register_figure(
    *names: str, serves: tuple[ReportKind, ...] = ("study",), select: tuple[str, ...] = ()
) -> Callable[[DrawFunction], DrawFunction]:
    """Register the function that draws the figure of this name; further names are aliases.

    Parameters
    ----------
    *names : str
        The name, then aliases.
    serves : tuple of {"study", "judgement"}
        What the figure can be of. A judgement is drawn by its predictions, as the results of a study.
    select : tuple of str
        Fields of `Selection` that are options of the figure.
    """

    def register(function: DrawFunction) -> DrawFunction:
        figures.add(names[0], RegisteredFigure(names, function, serves, select), aliases=names[1:])
        return function

    return register
