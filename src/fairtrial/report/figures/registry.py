"""Figures by name: `draw(results, "roc", dataset="iris")` returns an altair chart.

Modules in `fairtrial.report.figures` register figures. Another package can add figures by naming its module in the entry-point
group `fairtrial.figures`:

    @register_figure("times", "time", select=("dataset",))
    def draw_study_times(results, selection): ...
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fairtrial._narrative import name_place
from fairtrial._registry import Registry, suggest_name
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.report.section import ReportKind
from fairtrial.report.selection import Selection
from fairtrial.report.source import ReportSource, describe_source

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

DrawFunction = TypeVar("DrawFunction", bound=Callable[..., Any])


def draw(results: Results | Judgement | Verdict, name: str, **options: Any) -> Any:
    """Draw a named figure of a study, a judgement or a comparison.

    Parameters
    ----------
    results : Results, Judgement or Verdict
        Results of a study, a judgement of predictions, or a comparison of scores.
    name : str
        Name of the figure, one of `list_figure_names()`. Comparisons have the figures critical-difference, ranks, pairs,
        simplex and density. Judgements of unweighted predictions have figures of curves and confusion matrices. Judgements
        that compare models over data sets or splits also have the figures of comparisons.
    **options
        Options of the figure (`list_figure_options(name)`), e.g. dataset, condition, learner or title. A figure of a comparison
        has only the option title.

    Returns
    -------
    altair chart
        Notebooks display the chart. `fairtrial.report.save(chart, "roc.pdf")` writes the chart to a file.

    Raises
    ------
    UnknownNameError
        If there is no figure with this name.
    InputError
        If an option is unknown, or if the figure cannot be drawn from these results.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial import judge
    >>> y_true = ["yes", "no"] * 20
    >>> judgement = judge(pd.DataFrame({"y_true": y_true, "tree_proba": [0.8, 0.3, 0.4, 0.6] * 10}))
    >>> type(draw(judgement, "roc", title="ROC curve of the tree")).__name__
    'LayerChart'
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
    if figure.from_verdict is not None and source.kind in ("judgement", "comparison"):
        chart = _draw_verdict(name, figure.from_verdict, source, options)
    else:
        drawn_results = source.to_results() if source.kind in figure.serves else None
        if drawn_results is None:
            raise InputError(_explain_refusal(name, figure, source))
        defaults = {option: value for option, value in source.figure_options().items() if option in allowed}
        chart = figure(drawn_results, **{**defaults, **options})
    if title is not None:
        chart.title.text = str(title)
    return chart


def _draw_verdict(name: str, from_verdict: Callable[[Verdict], Any], source: ReportSource, options: dict[str, Any]) -> Any:
    if options:
        command = name_place("fairtrial compare", "compare") if source.kind == "comparison" else name_place("judge", "judge")
        raise InputError(
            f"{next(iter(options))} is an option of the figure {name!r} of a study, got a {source.kind}: pass it to {command}"
        )
    if source.verdict is None:
        raise InputError(f"the figure {name!r} needs 2 models on several data sets or splits, got a judgement without them")
    return from_verdict(source.verdict)


def _explain_refusal(name: str, figure: RegisteredFigure, source: ReportSource) -> str:
    kinds = join_names([f"a {kind}" for kind in figure.serves], conjunction="or")
    condition = " with predictions in memory and without weights" if "judgement" in figure.serves else ""
    listing = name_place("fairtrial figure --list", "list_figure_names()")
    return f"the figure {name!r} needs results of {kinds}{condition}, got a {source.kind}: {listing} lists figures"


def list_figure_names() -> tuple[str, ...]:
    """List the names of all figures in alphabetical order.

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
    """A registered figure: its names, its function, the kinds of sources it supports, and the fields that select data.

    The function takes the results, a `Selection` (if `select` is not empty) and its own options.
    """

    names: tuple[str, ...]
    function: Callable[..., Any]
    serves: tuple[ReportKind, ...]
    select: tuple[str, ...]
    from_verdict: Callable[[Verdict], Any] | None = None

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)  # lets a rerun notebook cell replace the figure that it defines

    def list_options(self) -> tuple[str, ...]:
        """List the fields in `select` and the options of the function."""
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
    *names: str,
    serves: tuple[ReportKind, ...] = ("study",),
    select: tuple[str, ...] = (),
    from_verdict: Callable[[Verdict], Any] | None = None,
) -> Callable[[DrawFunction], DrawFunction]:
    """Register the function that draws a figure.

    Parameters
    ----------
    *names : str
        Name of the figure, followed by its aliases.
    serves : tuple of {"study", "judgement"}
        Kinds of sources from which the figure can be drawn. The predictions of a judgement are converted to results.
    select : tuple of str
        Fields of `Selection` that serve as options of the figure.
    from_verdict : callable, optional
        Function that draws the figure from the verdict of a comparison or a judgement.
    """

    def register(function: DrawFunction) -> DrawFunction:
        figures.add(names[0], RegisteredFigure(names, function, serves, select, from_verdict), aliases=names[1:])
        return function

    return register
