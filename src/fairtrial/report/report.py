"""Write reports on studies, judgements, gates, thresholds and comparisons."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from fairtrial.errors import FairtrialWarning
from fairtrial.report.figures.base import fix_colours
from fairtrial.report.files import check_page_path, check_targets, write_figures, write_tables, write_text
from fairtrial.report.page import render
from fairtrial.report.section import ReportKind, Section, SectionBuilder, Sentence, builders
from fairtrial.report.source import ReportSource, describe_source

if TYPE_CHECKING:
    from fairtrial.predictions.gate import GateResult
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.predictions.thresholds import ThresholdResult
    from fairtrial.significance import Verdict
    from fairtrial.study import Results

    Reportable = Results | Judgement | GateResult | ThresholdResult | Verdict


def write_report(results: Reportable, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write a report as one self-contained HTML file and return its path.

    An existing file is replaced only when the new page is complete.

    Parameters
    ----------
    results : Results, Judgement, GateResult, ThresholdResult or Verdict
        Results of a study (`Study.run`, `open_results`), a judgement (`judge`), a decision (`gate`), a threshold
        (`choose_threshold`) or a verdict (`compare`).
    path : path
        HTML file to write. Its folder must exist.
    title : str, optional
        Title of the page. Default: derived from the results, such as the name of the study.

    Returns
    -------
    pathlib.Path
        The path of the page.

    Raises
    ------
    InputError
        If the page cannot be written to this path.

    Examples
    --------
    >>> import tempfile
    >>> import fairtrial
    >>> verdict = fairtrial.compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fairtrial.write_report(verdict, f"{folder}/page.html", title="Tree and bayes").name
    'page.html'
    """
    target, heading = check_page_path(Path(path)), _PageHeading.from_source(describe_source(results))
    return write_page(build_sections(results), target, title, heading)


def write_files(
    results: Reportable,
    page: Path | None,
    *,
    title: str | None = None,
    figures: Path | None = None,
    formats: str = "svg",
    tables: Path | None = None,
) -> dict[Path, int | None]:
    """Write the page to a file, and the figures and tables to folders.

    Outputs without a path are not written.

    Returns
    -------
    dict
        Maps the path of each folder to its number of files, and the path of the page to None.
    """
    check_targets(page, figures, formats, tables)
    if page is None and figures is None and tables is None:
        return {}
    sections, heading = build_sections(results), _PageHeading.from_source(describe_source(results))
    del results  # the files are written from the sections, and the tables of a large study need much memory
    _return_memory()
    file_counts: dict[Path, int | None] = {}
    if page is not None:
        file_counts[write_page(sections, page, title, heading)] = None
    if figures is not None:
        file_counts[figures] = len(write_figures(sections, figures, formats))
    if tables is not None:
        file_counts[tables] = len(write_tables(sections, tables))
    return file_counts


def _return_memory() -> None:
    """Return freed memory to the operating system, if the C library has a function for this (glibc)."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


@dataclass(frozen=True)
class _PageHeading:
    """The default title and subtitle of a page, the learners that can be highlighted, and the initially selected values."""

    title: str
    subtitle: str
    learners: list[str]
    selected: dict[str, str]

    @classmethod
    def from_source(cls, source: ReportSource) -> _PageHeading:
        return cls(source.title, source.subtitle, source.learners, source.selected)


def write_page(sections: Sequence[Section], path: Path, title: str | None, heading: _PageHeading | None = None) -> Path:
    """Write sections as an HTML page. An existing file is replaced only when the page is complete.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page([], Path(folder) / "empty.html", "Nothing yet").name
    'empty.html'
    """
    target, written_on = check_page_path(path), date.today().isoformat()
    if heading is None:
        return write_text(target, render(sections, title or "", written_on=written_on))
    with fix_colours(heading.learners) as colours:
        page = render(
            sections,
            title or heading.title,
            subtitle=heading.subtitle,
            written_on=written_on,
            learners=colours,
            selected=heading.selected,
        )
    return write_text(target, page)


def build_sections(results: Reportable) -> list[Section]:
    """Build the sections of a report in reading order.

    If a section cannot be built, a warning is issued, and the section contains the error message.

    Parameters
    ----------
    results : Results, Judgement, GateResult, ThresholdResult or Verdict
        Results of a study, a judgement, a decision, a threshold or a verdict.

    Returns
    -------
    list of Section
        The sections that apply to these results.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial import judge
    >>> y_true = ["yes", "no"] * 20
    >>> predictions = pd.DataFrame({"truth": y_true, "good": y_true[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    >>> [section.key for section in build_sections(judge(predictions))]
    ['answer', 'predictions', 'measures', 'pairs', 'classes', 'checks', 'reproduce', 'references']
    """
    from altair.utils.schemapi import debug_mode

    source = describe_source(results)
    # Validating all charts against the Vega-Lite schema would take a third of the time. The tests validate them instead.
    with debug_mode(False), fix_colours(source.learners):
        sections = [_build_section_or_note(builder, source) for builder in list_section_builders(source.kind)]
    return [section for section in sections if section is not None]


def list_section_builders(kind: ReportKind) -> list[SectionBuilder]:
    """List the functions that build the sections of the given kind of report, in reading order.

    >>> [builder.key for builder in list_section_builders("comparison")]
    ['answer', 'setup', 'verdict', 'checks', 'references']
    """
    serving = [builder for builder in builders.values() if kind in builder.serves]
    return sorted(serving, key=lambda builder: (builder.order, builder.key))


def _build_section_or_note(builder: SectionBuilder, source: ReportSource) -> Section | None:
    try:
        return builder(source)
    except Exception as error:  # the other sections are still useful
        message = f"This section could not be built: {type(error).__name__}: {error}"
        warnings.warn(f"section {builder.title!r} of the report: {message}", FairtrialWarning, stacklevel=4)
        return Section(builder.key, builder.title, (Sentence(message),))
