"""The report of a study, a judgement or a comparison: its sections in the order in which they are read, as one file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import FairtrialWarning, InputError
from fairtrial.report.page import render
from fairtrial.report.section import Section, Sentence

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.significance import Verdict
    from fairtrial.study import Results

    ReportSource = Results | Judgement | Verdict

SECTIONS = {
    "answer": "The answer",
    "what_was_run": "What was run",
    "scores": "Scores",
    "verdict": "The verdict",
    "ranks": "Which classifier is better? It depends on the measure",
    "curves": "Curves",
    "robustness": "Robustness to noise",
    "drift": "Drift",
    "data_sets": "Data set by data set",
    "projection": "All measures at once",
    "folds": "The folds",
    "time_memory": "Time and memory",
    "checks": "Methodology checks",
    "reproduce": "How to reproduce",
    "references": "References",
}


def write_report(results: ReportSource, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
    """Write all that a study found into one HTML file that holds all it shows, and give its path.

    `results` may also be a judgement on predictions (`judge`) or a verdict on scores (`advise`). A file of that name is
    replaced, and only when the new one is whole. The title is the study's name without another, or that of the file.

    >>> import fairtrial
    >>> results = fairtrial.open_results("study.fairtrial")  # doctest: +SKIP
    >>> fairtrial.write_report(results, "study.html")  # doctest: +SKIP
    """
    target = check_page_path(Path(path))
    sections, name, subtitle = collect_sections(results)
    return write_page(sections, target, title or name, subtitle=subtitle)


def write_files(
    results: ReportSource,
    page: Path | None,
    *,
    title: str | None = None,
    figures: Path | None = None,
    formats: str = "svg",
    tables: Path | None = None,
) -> dict[Path, int | None]:
    """Write the page, figures and tables, each where it is wanted; what was written, folders with the number of their files."""
    from fairtrial.report.files import write_figures, write_tables

    check_targets(page, figures, formats, tables)
    if page is None and figures is None and tables is None:
        return {}
    sections, name, subtitle = collect_sections(results)
    file_counts: dict[Path, int | None] = {}
    if page is not None:
        file_counts[write_page(sections, page, title or name, subtitle=subtitle)] = None
    if figures is not None:
        file_counts[figures] = len(write_figures(sections, figures, formats))
    if tables is not None:
        file_counts[tables] = len(write_tables(sections, tables))
    return file_counts


def check_targets(page: Path | None, figures: Path | None, formats: str, tables: Path | None) -> None:
    """Refuse a page, folder or format that cannot be written before the work, not after it."""
    from fairtrial.report.files import write_figures, write_tables

    if page is not None:
        check_page_path(page)
    if figures is not None:
        write_figures([], figures, formats)
    if tables is not None:
        write_tables([], tables)


def write_page(sections: Sequence[Section], path: Path, title: str, *, subtitle: str = "") -> Path:
    """Write sections as a page: into a file beside it first, which then takes its place.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page([], Path(folder) / "empty.html", "Nothing yet").name
    'empty.html'
    """
    target = check_page_path(path)
    text = render(sections, title, subtitle=subtitle, written_on=date.today().isoformat())
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(target)
    except OSError as error:
        raise InputError(
            f"path must be one that can be written, got {str(target)!r} ({error.strerror}): name another"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
    return target


def collect_sections(results: ReportSource) -> tuple[list[Section], str, str]:
    """The sections, the title and the line under it: of results, of a judgement on predictions, or of a verdict on scores."""
    from altair.utils.schemapi import debug_mode

    # Holding every part of every chart against the schema of Vega-Lite would take a third of the time: the tests do that.
    with debug_mode(False):
        return _collect_report_sections(results)


def _collect_report_sections(results: ReportSource) -> tuple[list[Section], str, str]:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.sections import comparison, judgement as judged
    from fairtrial.significance import Verdict

    if isinstance(results, Judgement):
        return (
            judged.build_judgement_sections(results),
            f"Judgement on {results.source}",
            judged.format_judgement_subtitle(results),
        )
    if isinstance(results, Verdict):
        return (
            comparison.build_comparison_sections(results),
            "Comparison of learners",
            comparison.format_comparison_subtitle(results),
        )
    _check_results(results)
    return build_sections(results), results.archive.name, format_study_subtitle(results)


def build_sections(results: Results) -> list[Section]:
    """The sections that apply to these results, in the order in which they are read.

    A section that cannot be made warns, and is replaced by one that says why: the others are not lost with it.
    """
    sections = (_build_section_or_note(module, heading, results) for module, heading in SECTIONS.items())
    return [section for section in sections if section is not None]


def format_study_subtitle(results: Results) -> str:
    """What ran, in one line."""
    archive = results.archive
    item_lists = [(archive.datasets, "data set"), (archive.conditions, "condition"), (archive.learners, "learner")]
    parts = [f"{len(items)} {noun}{'' if len(items) == 1 else 's'}" for items, noun in item_lists]
    return f"{parts[0]}, {parts[1]}, {parts[2]}, {len(results.trials()):,} trials"


_MOVED = {
    "what_was_run": ("run", "build_section"),
    "reproduce": ("sources", "build_reproduction_section"),
    "references": ("sources", "build_references_section"),
}


def _find_builder(name: str) -> Any:
    module, function = _MOVED.get(name, (name, "build_section"))
    return getattr(import_module(f"fairtrial.report.sections.{module}"), function)


def _build_section_or_note(module: str, heading: str, results: Results) -> Section | None:
    try:
        section: Section | None = _find_builder(module)(results)
    except Exception as error:  # whatever it is, the rest of the report is worth having
        message = f"This section could not be made: {type(error).__name__}: {error}"
        warnings.warn(f"section {heading!r} of the report: {message}", FairtrialWarning, stacklevel=4)
        return Section(module.replace("_", "-"), heading, (Sentence(message),))
    return section


def _check_results(results: object) -> None:
    if not hasattr(results, "archive"):
        type_name = type(results).__name__
        raise InputError(
            f"results must be those of a study, got {type_name}: pass what Study.run or fairtrial.open_results gives"
        )


def check_page_path(path: Path) -> Path:
    """A path that a page can be written to, looked at before the work."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"path must end in .html, got {str(path)!r}")
    if not path.parent.is_dir():
        raise InputError(f"path must lie in a folder that exists, got {str(path)!r}: create {str(path.parent)!r} first")
    if path.is_dir():
        raise InputError(f"path must be a file, got the folder {str(path)!r}: name a file in it")
    return path
