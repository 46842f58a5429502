"""All figures of a report as files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fairtrial.errors import InputError
from fairtrial.report.page import figures_of
from fairtrial.report.saving import formats_of, made_folder, save
from fairtrial.report.section import Figure, Section


def write_figures(sections: Sequence[Section], folder: str | Path, formats: str | Iterable[str] = ("svg",)) -> list[Path]:
    """Write every figure into a folder, which is made, once in each format, and give the paths: `curves-roc-iris.svg`.

    Formats are "svg", "png", "pdf", "html" (interactive, offline) and "json" (Vega-Lite).

    >>> import tempfile
    >>> from fairtrial.measures import roc_curve
    >>> from fairtrial.report.curves import draw_roc
    >>> from fairtrial.report.section import Figure, Section
    >>> chart = draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> section = Section("curves", "Curves", figures=(Figure("curves-roc", "ROC", chart, "one curve"),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_figures([section], folder)]
    ['curves-roc.svg']
    """
    wanted = formats_of(formats)
    figures = list(figures_of(sections))
    for figure in figures:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", figure.key):
            raise InputError(f"the key of a figure must be lower case letters, digits and hyphens, got {figure.key!r}")
    target = made_folder(Path(folder))
    return [save(_alone(figure), target / f"{figure.key}.{suffix}") for figure in figures for suffix in wanted]


def _alone(figure: Figure) -> Any:
    """The chart with the figure's title, which names the data set: without a page around it, nothing else does."""
    import altair as alt

    chart = figure.chart.copy(deep=["title"])
    if isinstance(chart.title, alt.TitleParams):
        chart.title.text = figure.title
    else:
        chart.title = figure.title
    return chart
