"""Write charts to files, the figures and tables of a report, and the files of a comparison."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fairtrial._files import format_csv, write_atomically
from fairtrial._text import format_number, is_p_format, join_names
from fairtrial.errors import InputError
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.section import Figure, ReportTable, Section
from fairtrial.report.tables import Mark, build_score_frame, to_latex, to_markdown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.scores import Better
    from fairtrial.significance.verdict import Verdict

FORMATS = ("svg", "png", "pdf", "html", "json")
SUFFIXES = tuple(f".{name}" for name in FORMATS)
_OTHER_PICTURES = ("jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp")
TABLE_FORMATS = ("csv", "md", "tex")
_OPTIONS: dict[str, dict[str, Any]] = {".html": {"inline": True}, ".png": {"scale_factor": 2}}


def save(chart: Any, path: str | Path) -> Path:
    """Write a chart to a file. The suffix determines the format.

    Parameters
    ----------
    chart : altair chart
        The result of `draw` or of a `draw_*` function.
    path : str or path
        File with the suffix .svg, .png (double resolution), .pdf, .html (interactive, offline) or .json (Vega-Lite).

    Returns
    -------
    pathlib.Path
        The path of the file.

    Raises
    ------
    InputError
        If the suffix is unknown or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from fairtrial.measures import roc_curve
    >>> from fairtrial.report.figures.curves import draw_roc
    >>> chart = draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(chart, f"{folder}/roc.svg").name
    'roc.svg'
    """
    if not callable(getattr(chart, "save", None)) or not hasattr(chart, "to_dict"):
        raise InputError(f"chart must be a figure, got {type(chart).__name__}: pass the result of draw or of a draw_ function")
    path = Path(path)
    suffix = path.suffix.lower()
    check_picture_path(path)
    with write_atomically(path) as temporary:
        chart.save(str(temporary), format=suffix[1:], **_OPTIONS.get(suffix, {}))
    return path


def write_figures(sections: Sequence[Section], folder: str | Path, formats: str | Iterable[str] = ("svg",)) -> list[Path]:
    """Write the figures of a report into a folder, one file per figure and format.

    Parameters
    ----------
    sections : sequence of Section
        The sections of a report (`build_sections`).
    folder : str or path
        Folder, created if necessary.
    formats : str or iterable of str, default ("svg",)
        "svg", "png", "pdf", "html" (interactive, offline) or "json" (Vega-Lite).

    Returns
    -------
    list of pathlib.Path
        The paths of the files. Each file is named after the key of its figure, e.g. `curves-roc-iris.svg`.

    Examples
    --------
    >>> import tempfile
    >>> from fairtrial.measures import roc_curve
    >>> from fairtrial.report.figures.curves import draw_roc
    >>> from fairtrial.report.section import Figure, Section
    >>> chart = draw_roc({"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> section = Section("curves", "Curves", figures=(Figure("curves-roc", "ROC", chart, "one curve"),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_figures([section], folder)]
    ['curves-roc.svg']
    """
    suffixes = parse_formats(formats)
    figures = [figure for section in sections for part in section.walk() for figure in part.figures]
    for figure in figures:
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", figure.key):
            raise InputError(f"the key of a figure must consist of lower-case letters, digits and hyphens, got {figure.key!r}")
    target = create_folder(Path(folder))
    return [save(_copy_with_title(figure), target / f"{figure.key}.{suffix}") for figure in figures for suffix in suffixes]


def _copy_with_title(figure: Figure) -> Any:
    """Copy the chart, and use the title of the figure, which names the data set."""
    import altair as alt

    chart = figure.chart.copy(deep=["title"])
    if isinstance(chart.title, alt.TitleParams):
        chart.title.text = figure.title
    else:
        chart.title = figure.title
    return chart


def write_tables(sections: Sequence[Section], folder: str | Path, formats: str | Iterable[str] = TABLE_FORMATS) -> list[Path]:
    """Write the tables of a report into a folder, one file per table and format.

    Empty tables are written only as CSV.

    Parameters
    ----------
    sections : sequence of Section
        The sections of a report (`build_sections`).
    folder : str or path
        Folder, created if necessary.
    formats : str or iterable of str, default ("csv", "md", "tex")
        "csv" (full precision), "md" (Markdown) or "tex" (LaTeX, booktabs).

    Returns
    -------
    list of pathlib.Path
        The paths of the files. Each file is named after the key of its table, e.g. `scores-means.csv`.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> table = ReportTable("means", "Means", pd.DataFrame({"mean": [1 / 3]}, index=pd.Index(["tree"], name="learner")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_tables([Section("scores", "Scores", tables=(table,))], folder)
    ...     print(paths[0].read_text(), paths[1].read_text())
    learner,mean
    tree,0.3333333333333333
     | learner | mean |
    | :--- | ---: |
    | tree | 0.3333 |
    <BLANKLINE>
    """
    suffixes = parse_formats(formats, TABLE_FORMATS)
    target = create_folder(Path(folder))
    paths = []
    for table in (table for section in sections for part in section.walk() for table in part.tables):
        for suffix in suffixes:
            if suffix != "csv" and 0 in table.frame.shape:
                continue
            paths.append(save_text(_WRITERS[suffix](table), target / f"{table.key}.{suffix}"))
    return paths


def _format_csv(table: ReportTable) -> str:
    return format_csv(table.frame, index=table.frame.index.name is not None)


def _format_markdown(table: ReportTable) -> str:
    return to_markdown(_prepare_frame(table), better=_get_direction(table), note=table.note)


def _format_latex(table: ReportTable) -> str:
    label = f"tab:{table.key}"
    return to_latex(_prepare_frame(table), better=_get_direction(table), note=table.note, caption=table.title, label=label)


_WRITERS = {"csv": _format_csv, "md": _format_markdown, "tex": _format_latex}


def _prepare_frame(table: ReportTable) -> pd.DataFrame:
    """Format the p-values of a table, and drop an index without a name."""
    p_formats = {
        name: number_format
        for name, number_format in table.formats.items()
        if is_p_format(number_format) and name in table.frame.columns
    }
    texts = {
        name: table.frame[name].map(lambda p, text=number_format: None if isnan(p) else format_number(float(p), text))
        for name, number_format in p_formats.items()
    }
    return _drop_unnamed_index(table.frame.assign(**texts))


def _drop_unnamed_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Drop an index without a name, which only numbers the rows."""
    return frame if frame.index.name is not None else frame.reset_index(drop=True)


def _get_direction(table: ReportTable) -> Better | None:
    return cast("Better | None", table.best)


def write_comparison(verdict: Verdict, folder: str | Path, formats: str | Iterable[str] = ("svg",)) -> list[Path]:
    """Write the scores, tests, tables and figures of a verdict into a folder.

    `scores.csv`, `pairs.csv` and `ranks.csv` contain the numbers, `margins.csv` the decisions at a margin, and `posteriors.csv`
    the Bayesian tests of several pairs, if requested. `table.tex` (booktabs) and `table.md` contain a table for papers, and
    `verdict.txt` contains the text. The figures are `critical-difference`, `ranks` and `pairs` and, if there is a posterior,
    `simplex` or `density`.

    Parameters
    ----------
    verdict : Verdict
        The result of `compare`.
    folder : str or path
        Folder, created if necessary.
    formats : str or iterable of str, default ("svg",)
        Formats of the figures: "svg", "png", "pdf", "html" (interactive, offline) or "json" (Vega-Lite).

    Returns
    -------
    list of pathlib.Path
        The paths of the files.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from fairtrial import compare
    >>> scores = {"tree": [0.9, 0.8, 0.9, 0.6], "bayes": [0.8, 0.9, 0.7, 0.5], "rule": [0.7, 0.6, 0.6, 0.4]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_comparison(compare(pd.DataFrame(scores), rows="datasets"), folder)
    >>> [path.name for path in paths[:6]]
    ['scores.csv', 'pairs.csv', 'ranks.csv', 'table.tex', 'table.md', 'verdict.txt']
    """
    suffixes = parse_formats(formats)
    target = create_folder(Path(folder))
    paths = [save_text(text, target / name) for name, text in format_comparison_files(verdict).items()]
    for name, draw in list_comparison_figures(verdict).items():
        chart = draw()
        paths += [save(chart, target / f"{name}.{suffix}") for suffix in suffixes]
    return paths


def format_comparison_files(verdict: Verdict) -> dict[str, str]:
    """Format the text files of a comparison by name."""
    scores = build_score_frame(verdict)
    table_options: dict[str, Any] = {
        "better": verdict.better,
        "mean_ranks": verdict.mean_ranks,
        "marks": mark_learners(verdict),
        "reference": choose_reference(verdict),
        "note": f"{verdict.choice}, alpha {verdict.alpha:.15g}",
    }
    return {
        "scores.csv": format_csv(scores, index=True),
        "pairs.csv": format_csv(verdict.pairs()),
        "ranks.csv": format_csv(verdict.ranks().rename_axis(index=verdict.unit), index=True),
        **({"margins.csv": format_csv(verdict.margin_frame())} if verdict.margins else {}),
        **({"posteriors.csv": format_csv(verdict.posterior_frame())} if len(verdict.posteriors) > 1 else {}),
        "table.tex": to_latex(scores, **table_options),
        "table.md": to_markdown(scores, **table_options),
        "verdict.txt": f"{verdict.summary}\n\n{verdict.explain()}\n",
    }


def choose_reference(verdict: Verdict) -> str:
    """Choose the learner with which the others are compared: the control, or the best learner."""
    return verdict.order[0] if verdict.control is None else verdict.control


def mark_learners(verdict: Verdict) -> dict[str, Mark]:
    """Mark the learners that are significantly better or worse than the reference."""
    pairs, reference = verdict.pairs(), choose_reference(verdict)
    marks: dict[str, Mark] = {}
    for first, second in pairs.loc[pairs["significant"], ["first", "second"]].itertuples(index=False, name=None):
        if reference in (first, second):
            learner = second if first == reference else first
            marks[learner] = "worse" if verdict.order_pair(reference, learner)[0] == reference else "better"
    return marks


def check_targets(page: Path | None, figures: Path | None, formats: str, tables: Path | None) -> None:
    """Raise an error if the page, a folder or a format cannot be written. Nothing is created."""
    if page is not None:
        check_page_path(page)
    if figures is not None:
        parse_formats(formats)
    for folder in (figures, tables):
        if folder is not None:
            _check_folder(folder)


def check_page_path(path: Path) -> Path:
    """Raise an error if a page cannot be written to the path."""
    if path.suffix.lower() not in (".html", ".htm"):
        instead = str(path.parent / f"{path.stem or 'report'}.html")
        raise InputError(f"path must end in .html, got {str(path)!r}: use {instead!r}")
    return check_text_path(path)


def check_text_path(path: Path) -> Path:
    """Raise an error if a text file cannot be written to the path."""
    if not path.parent.is_dir():
        raise InputError(f"path must be in an existing folder, got {str(path)!r}: create {str(path.parent)!r} first")
    if path.is_dir():
        raise InputError(f"path must be a file, got the folder {str(path)!r}: choose a file in it")
    _check_folder(path.parent)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text file. An existing file is replaced only when the new one is complete."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def check_picture_path(path: Path) -> None:
    """Raise an error if a picture cannot be written to the path."""
    if path.suffix.lower() not in SUFFIXES:
        suffix = "png" if path.suffix.lower()[1:] in _OTHER_PICTURES else "svg"
        instead = str(path.parent / f"{path.stem or 'figure'}.{suffix}")
        raise InputError(f"path must end in {join_names(SUFFIXES, conjunction='or')}, got {str(path)!r}: use {instead!r}")
    if not path.parent.is_dir():
        raise InputError(f"path must be in an existing folder, got {str(path)!r}: create {str(path.parent)!r} first")


def _check_folder(folder: Path) -> None:
    """Raise an error if the folder cannot be created or written to. Nothing is created."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"folder must be a folder, got the file {str(folder)!r}: choose another folder")
    nearest = next((parent for parent in (folder, *folder.parents) if parent.exists()), folder)
    if not nearest.is_dir() or not _is_writable(nearest):
        reason = "Not a directory" if not nearest.is_dir() else "Permission denied"
        raise InputError(f"folder must be writable, got {str(folder)!r} ({reason}): choose another folder")


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids)


def create_folder(folder: Path) -> Path:
    """Create the folder if it does not exist."""
    _check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder must be writable, got {str(folder)!r} ({error.strerror}): choose another folder") from None
    return folder


def parse_formats(formats: str | Iterable[str], allowed: Sequence[str] = FORMATS) -> list[str]:
    """Parse formats, given as a list or separated by commas, into unique lower-case names without a dot.

    >>> parse_formats("svg, .PDF,svg"), parse_formats(["json"])
    (['svg', 'pdf'], ['json'])
    """
    names = formats.split(",") if isinstance(formats, str) else [str(name) for name in formats]
    normalised = [name.strip().lower().removeprefix(".") for name in names]
    for name in normalised:
        if name not in allowed:
            instead = "png" if name in _OTHER_PICTURES and "png" in allowed else allowed[0]
            raise InputError(f"formats must be {join_names(allowed, conjunction='or')}, got {name!r}: use {instead}")
    return list(dict.fromkeys(normalised))


def save_text(text: str, path: Path) -> Path:
    """Write text in UTF-8 with Unix line endings."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
