"""Write figures and tables to files: single figures, or all figures and tables of a report or a comparison."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairtrial._check import check_number, check_one_of
from fairtrial._files import format_csv, write_atomically
from fairtrial._narrative import name_place, render
from fairtrial._text import (
    capitalize,
    format_count,
    format_number,
    format_percentage,
    is_p_format,
    join_names,
    make_p_format,
)
from fairtrial.errors import InputError
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.section import Figure, ReportTable, Section
from fairtrial.report.source import describe_source
from fairtrial.report.tables import SUMMARY_ROWS, Mark, build_score_frame, to_latex, to_markdown, to_text
from fairtrial.significance.names import get_display_name
from fairtrial.study.results.selection import CLEAN

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.predictions.judgement import Judgement
    from fairtrial.significance.scores import Better, Scores
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study import Results

FORMATS = ("svg", "png", "pdf", "html", "json")
SUFFIXES = tuple(f".{name}" for name in FORMATS)
_OTHER_PICTURES = ("jpg", "jpeg", "gif", "bmp", "tif", "tiff", "webp")
TABLE_FORMATS = ("csv", "md", "tex")
TABLE_NAMES = ("scores", "ranks", "pairs", "wins")
_OPTIONS: dict[str, dict[str, Any]] = {
    ".html": {"inline": True, "embed_options": {"actions": False}},  # no menu, which would link to an online editor
    ".png": {"scale_factor": 2},
}
_PAPER_SUFFIXES = (".pdf", ".svg", ".png")
_MILLIMETRES_PER_POINT = 25.4 / 72
_LARGEST_SCALE = 0.75  # points per pixel: axis labels of 12 pixels are then 9 points high


def save(chart: Any, path: str | Path, *, width: float | None = None) -> Path:
    """Write a chart to a file. The suffix determines the format.

    Parameters
    ----------
    chart : altair chart
        The result of `draw` or of a `draw_*` function.
    path : str or path
        File with the suffix .svg, .png (double resolution), .pdf, .html (interactive, offline) or .json (Vega-Lite).
    width : float, optional
        Maximum width on paper in millimetres, for .svg, .pdf and .png (300 dots per inch). Axis labels are at most 9 pt high.
        Default: no scaling (one point per pixel).

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
    if width is not None:
        check_width(path, width)
    with write_atomically(path) as temporary:
        if width is None:
            chart.save(str(temporary), format=suffix[1:], **_OPTIONS.get(suffix, {}))
        else:
            temporary.write_bytes(_scale_to_paper(chart, suffix, width))
    return path


def check_width(path: Path, width: float) -> None:
    """Raise an error if a picture with this width in millimetres cannot be written to the path."""
    if path.suffix.lower() not in _PAPER_SUFFIXES:
        formats = join_names(_PAPER_SUFFIXES, conjunction="or")
        raise InputError(f"width is for files that end in {formats}, got {path.name!r}: omit it, or choose one of them")
    check_number("width", width)
    if not 10 <= width <= 2000:
        raise InputError(f"width must be between 10 and 2000 millimetres, got {width:g}: one column of a paper has 80 to 90")


def _scale_to_paper(chart: Any, suffix: str, width: float) -> bytes:
    """Draw a chart as SVG, PDF or PNG, at most `width` millimetres wide and with axis labels of at most 9 pt."""
    import vl_convert

    buffer = StringIO()
    chart.save(buffer, format="svg")
    svg = buffer.getvalue()
    size = re.search(r'<svg[^>]* width="([0-9.]+)" height="([0-9.]+)"', svg)
    pixels = float(cast("re.Match[str]", size)[1])
    scale = min(_LARGEST_SCALE, width / _MILLIMETRES_PER_POINT / pixels)
    unit = "pt" if suffix == ".svg" else ""  # the converter draws one point per pixel
    sized = re.sub(
        r' (width|height)="([0-9.]+)"', lambda side: f' {side[1]}="{scale * float(side[2]):.2f}{unit}"', svg, count=2
    )
    if suffix == ".svg":
        return sized.encode()
    return bytes(vl_convert.svg_to_pdf(sized) if suffix == ".pdf" else vl_convert.svg_to_png(sized, ppi=300))


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
        The paths of the files. Each file is named after the key of its figure, such as `curves-roc-iris.svg`.

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
    """Copy the chart of a figure, and set its title to the title of the figure."""
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
        The paths of the files. Each file is named after the key of its table, such as `scores-means.csv`.

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

    `scores.csv`, `pairs.csv` and `ranks.csv` contain the numbers. If the verdict has decisions at a margin, `margins.csv`
    contains them. If it has Bayesian tests of several pairs, `posteriors.csv` contains them. `table.tex` (booktabs) and
    `table.md` contain the table of scores for papers, and `verdict.txt` contains the verdict as text. The figures are
    `critical-difference`, `ranks` and `pairs`. If there is a posterior, `simplex` or `density` is added.

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
    """Format the text files of a comparison. Return a mapping from file names to contents."""
    table = build_table(verdict, "scores")
    return {
        "scores.csv": format_csv(build_score_frame(verdict), index=True),
        "pairs.csv": format_csv(verdict.pairs()),
        "ranks.csv": format_csv(verdict.ranks().rename_axis(index=verdict.unit), index=True),
        **({"margins.csv": format_csv(verdict.margin_frame())} if verdict.margins else {}),
        **({"posteriors.csv": format_csv(verdict.posterior_frame())} if len(verdict.posteriors) > 1 else {}),
        "table.tex": table.to_latex(),
        "table.md": table.to_markdown(),
        "verdict.txt": f"{verdict.summary}\n\n{verdict.explain()}\n",
    }


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table for a paper, as LaTeX, Markdown, CSV or text.

    Attributes
    ----------
    frame : pandas.DataFrame
        The content of the table.
    exact : pandas.DataFrame
        The unrounded numbers, for CSV.
    options : mapping
        Options of `to_latex`: bold numbers, significance marks, standard deviations and the note below the table.
    """

    frame: pd.DataFrame
    exact: pd.DataFrame
    options: Mapping[str, Any]

    def to_latex(self) -> str:
        """Format the table as LaTeX code that uses the package booktabs.

        Returns
        -------
        str
            A tabular environment without a caption.
        """
        return to_latex(self.frame, **self.options)

    def to_markdown(self) -> str:
        """Format the table in Markdown.

        Returns
        -------
        str
        """
        return to_markdown(self.frame, **self.options)

    def to_csv(self) -> str:
        """Format the unrounded numbers as CSV.

        Returns
        -------
        str
        """
        return format_csv(self.exact, index=self.exact.index.name is not None)

    def __str__(self) -> str:
        return to_text(self.frame, **self.options)


def build_table(
    results: Results | Judgement | Verdict, name: str, *, baseline: str | None = None, digits: int | None = None, **options: Any
) -> PaperTable:
    """Build a table for a paper: scores, ranks, pairs, or wins.

    Parameters
    ----------
    results : Results, Judgement or Verdict
        Results of a study, a judgement of predictions, or a comparison of scores.
    name : {"scores", "ranks", "pairs", "wins"}
        "scores": means and standard deviations over the splits of each data set, and mean ranks. The best mean of each row is
        bold, and learners that differ significantly from the baseline are marked. "ranks": the rank of each learner on each
        data set. "pairs": all comparisons with adjusted p-values. "wins": wins, ties and losses of each pair.
    baseline : str, optional
        Learner with which all others are compared. Default for "scores" and "ranks": the control of the comparison or, if there
        is no control, the best learner. By default, "pairs" and "wins" are not restricted to one learner.
    digits : int, optional
        Number of decimal places of the scores. Default: as many as the scores have, up to four (three with standard
        deviations). The limit is higher if all scores are below 0.1.
    **options
        Options of `Results.verdict` (measure, condition, level, positive and alpha), only for the results of a study.

    Returns
    -------
    PaperTable

    Raises
    ------
    InputError
        If the results do not contain the data that the table needs.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial import compare
    >>> scores = {"tree": [0.9, 0.8, 0.9, 0.6, 0.8, 0.7], "rule": [0.7, 0.6, 0.6, 0.5, 0.6, 0.4]}
    >>> print(build_table(compare(pd.DataFrame(scores), measure="accuracy", rows="datasets"), "wins"))
          tree   rule
    tree         6/0/0
    rule  0/0/6
    <BLANKLINE>
    Accuracy, wins/ties/losses of the row against the column over 6 data sets.
    <BLANKLINE>
    """
    check_one_of("table", name, TABLE_NAMES)
    source = describe_source(results)
    if source.kind == "study":
        verdict: Verdict | None = source.get_results().verdict(control=baseline, **options)
    elif options:
        raise InputError(f"{next(iter(options))} is an option for results of a study, got a {source.kind}: remove it")
    else:
        verdict = source.verdict
    is_by_rows = source.kind == "judgement" and (verdict is None or len(source.rankings) == 1)
    if is_by_rows and name in ("scores", "pairs"):
        return _build_judgement_table(source.get_judgement(), name, baseline, digits)
    if verdict is None:
        needed = "several models on several data sets or splits" if source.kind == "judgement" else "a comparison"
        raise InputError(f"the table {name!r} needs {needed}, got a {source.kind} without them: choose 'scores' or 'pairs'")
    if baseline is not None:
        check_one_of("baseline", baseline, verdict.table.learners)
        if verdict.control not in (None, baseline):
            raise InputError(f"baseline must be the control of the comparison, {verdict.control!r}, got {baseline!r}: omit it")
    if name == "wins":
        return _build_wins(verdict, baseline)
    builders = {"scores": _build_scores, "ranks": _build_ranks, "pairs": _build_pairs}
    table = builders[name](verdict, baseline, digits)
    if source.kind == "study" and name == "scores":
        selection = {option: options.get(option) for option in ("measure", "condition", "level", "positive")}
        return _omit_failed(table, source.get_results().wide(**selection))
    return table


def _omit_failed(table: PaperTable, means: pd.DataFrame) -> PaperTable:
    """Remove the scores that the failure policy assigned to failed trials. These scores are missing in `means`."""
    succeeded = means.reindex(index=table.frame.index, columns=table.frame.columns).notna()
    if succeeded.to_numpy().all():
        return table
    exact = table.exact.copy()
    for learner in table.frame.columns:
        for column in (learner, f"{learner} sd"):
            if column in exact.columns:
                exact[column] = exact[column].where(succeeded[learner])
    deviations = table.options["deviations"]
    options = {**table.options, "deviations": None if deviations is None else deviations.where(succeeded)}
    return PaperTable(table.frame.where(succeeded), exact, options)


def _build_scores(verdict: Verdict, baseline: str | None, digits: int | None) -> PaperTable:
    """Build the table of means and standard deviations over the splits of each data set.

    Significance marks are shown next to the mean ranks or, with one data set, next to the means.
    """
    import pandas as pd

    scores = cast("Scores", verdict.scores)
    datasets, learners = scores.design.datasets, list(scores.learners)
    index = pd.Index(datasets, name="data set")
    cells = pd.DataFrame(scores.cells, columns=learners).groupby(np.array([split[0] for split in scores.splits]), sort=False)
    means = pd.DataFrame(scores.compute_means(), index=index, columns=learners)
    deviations = pd.DataFrame(cells.std().to_numpy(), index=index, columns=learners)
    has_splits = len(scores.splits) > len(datasets)
    exact = means
    if has_splits:
        columns = [(means[name], deviations[name].rename(f"{name} sd")) for name in learners]
        exact = pd.concat([column for pair in columns for column in pair], axis=1)
    sizes = cells.size()
    count = format_count(int(sizes.iloc[0]), "split") if sizes.nunique() == 1 else "splits"
    content = f"mean \N{PLUS-MINUS SIGN} standard deviation over {count}" if has_splits else ""
    options = {
        "better": verdict.better,
        "digits": digits,
        "mean_ranks": verdict.mean_ranks,
        **_build_marks(verdict, baseline),
        "deviations": deviations if has_splits else None,
        "summary": SUMMARY_ROWS if len(datasets) > 1 else (),
        "note": _format_note(verdict, content),
    }
    return PaperTable(means, exact, options)


def _build_ranks(verdict: Verdict, baseline: str | None, digits: int | None) -> PaperTable:
    """Build the table of the ranks on each data set. Mark learners that differ significantly from the reference."""
    ranks = verdict.ranks().rename_axis(index=verdict.unit)
    options = {
        "better": "min",
        "digits": digits,
        "mean_ranks": verdict.mean_ranks,
        **_build_marks(verdict, baseline),
        "summary": ("Mean rank",),
        "note": _format_note(verdict, "ranks (1 is best)"),
    }
    return PaperTable(ranks, ranks, options)


def _build_pairs(verdict: Verdict, baseline: str | None, digits: int | None) -> PaperTable:
    """Build the table of all comparisons or, if there is a baseline, of the comparisons with the baseline."""
    pairs = _select_pairs(verdict.pairs(), baseline)
    columns = ["first", "second", "difference", "p_adjusted", "wins", "ties", "losses", "outcome"]
    note = _format_note(verdict, "differences of means, first minus second")
    return _build_pair_table(pairs, columns, verdict.alpha, digits, note)


def _build_wins(verdict: Verdict, baseline: str | None) -> PaperTable:
    """Build the matrix of wins, ties and losses, best learner first.

    The numbers for CSV have one row per ordered pair.
    """
    import pandas as pd

    learners = [name for name in verdict.order if baseline is None or name != baseline]
    columns, find_index = (list(verdict.order) if baseline is None else [baseline]), verdict.table.learners.index
    counts = {
        (row, column): verdict.count_wins(find_index(row), find_index(column))
        for row in learners
        for column in columns
        if row != column
    }
    text = {name: ["/".join(map(str, counts.get((row, name), ()))) for row in learners] for name in columns}
    matrix = pd.DataFrame(text, index=pd.Index(learners, name=""))
    lines = [(*pair, *count) for pair, count in counts.items()]
    exact = pd.DataFrame(lines, columns=["first", "second", "wins", "ties", "losses"])
    units = format_count(len(verdict.table.datasets), verdict.unit)
    note = " ".join(_start_note(verdict, f"wins/ties/losses of the row against the column over {units}"))
    return PaperTable(matrix, exact, {"better": None, "note": note})


def _build_judgement_table(judgement: Judgement, name: str, baseline: str | None, digits: int | None) -> PaperTable:
    """Build the table of scores or pairs of a judgement, which compares models on the rows of each data set."""
    main = judgement.scores[judgement.scores["measure"] == judgement.main]
    models, datasets = list(dict.fromkeys(main["model"])), list(dict.fromkeys(main["dataset"]))
    if baseline is not None:
        check_one_of("baseline", baseline, models)
    pairs, ranking = _select_pairs(judgement.pairs, baseline), judgement.findings[0]
    tests = [capitalize(f"{join_names(ranking.tests)}{f', {ranking.adjustment}' if ranking.adjustment else ''}.")]
    tests = tests if ranking.tests else []
    measure = capitalize(ranking.measure)
    if name == "pairs":
        columns = [*(["dataset"] if len(datasets) > 1 else []), "first", "second", "difference", "low", "high", "p_adjusted"]
        note = f"{measure}, first minus second, with {format_percentage(judgement.level)} confidence limits."
        return _build_pair_table(pairs, [*columns, "outcome"], judgement.alpha, digits, " ".join([note, *tests]))
    frame = main.pivot(index="dataset", columns="model", values="estimate").loc[datasets, models]
    frame = frame.rename_axis(index="data set", columns=None)
    options: dict[str, Any] = {"better": "min" if ranking.lower_is_better else "max", "digits": digits, "summary": ()}
    if len(datasets) == 1 and len(models) > 1:
        reference = baseline or ranking.names[0]
        marks = {"worse": "better", "better": "worse"}  # outcomes refer to the first model of the pair
        options["reference"] = reference
        options["marks"] = {
            (second if first == reference else first): marks[outcome] if first == reference else outcome
            for first, second, outcome in pairs[["first", "second", "outcome"]].itertuples(index=False, name=None)
            if reference in (first, second) and outcome in marks
        }
    options["note"] = " ".join([f"{measure}.", *tests])
    return PaperTable(frame, main[["dataset", "model", "estimate", "low", "high", "rows"]], options)


def _select_pairs(pairs: pd.DataFrame, baseline: str | None) -> pd.DataFrame:
    return pairs if baseline is None else pairs[(pairs["first"] == baseline) | (pairs["second"] == baseline)]


def _build_pair_table(pairs: pd.DataFrame, columns: list[str], alpha: float, digits: int | None, note: str) -> PaperTable:
    p_format = make_p_format(alpha)
    texts: Any = [None if isnan(p) else format_number(float(p), p_format) for p in pairs["p_adjusted"]]
    frame = pairs.assign(p_adjusted=texts)[columns].rename(columns={"p_adjusted": "adjusted p", "dataset": "data set"})
    return PaperTable(frame.reset_index(drop=True), pairs, {"better": None, "digits": digits, "note": note})


def _build_marks(verdict: Verdict, baseline: str | None) -> dict[str, Any]:
    return {"marks": mark_learners(verdict, baseline), "reference": choose_reference(verdict, baseline)}


def _start_note(verdict: Verdict, content: str) -> list[str]:
    conditions = [str(reason["condition"]) for reason in verdict.reasons if reason.kind == "condition"]
    parts = [verdict.measure_name, *(name for name in conditions if name != CLEAN), content]
    text = ", ".join(filter(None, parts))
    return [f"{capitalize(text)}."] if text else []


def _format_note(verdict: Verdict, content: str) -> str:
    """Format the note below a table: measure, condition, content, test, significance level and exclusions.

    If nothing can be decided, the note explains why.
    """
    sentences = [*_start_note(verdict, content), capitalize(render(verdict.test_result))]
    pairs = "" if verdict.posthoc is None else f"pairs by {get_display_name(verdict.posthoc.method)}, "
    sentences.append(capitalize(f"{pairs}alpha = {verdict.alpha:.15g}."))
    if verdict.undecidable is not None:
        sentences.append(render(verdict.undecidable))
    left_out = [*verdict.excluded.datasets, *verdict.excluded.learners]
    sentences += [capitalize(render(reason)) for reason in verdict.reasons if reason.kind.startswith(("failed_", "failures_"))]
    if left_out:
        sentences.append(f"Left out because scores are missing: {join_names(left_out)}.")
    return " ".join(sentences)


def choose_reference(verdict: Verdict, baseline: str | None = None) -> str:
    """Choose the learner with which the others are compared: the baseline, the control, or the best learner."""
    return baseline or verdict.control or verdict.order[0]


def mark_learners(verdict: Verdict, baseline: str | None = None) -> dict[str, Mark]:
    """Mark the learners that are significantly better or worse than the reference."""
    pairs, reference = verdict.pairs(), choose_reference(verdict, baseline)
    marks: dict[str, Mark] = {}
    for first, second in pairs.loc[pairs["significant"], ["first", "second"]].itertuples(index=False, name=None):
        if reference in (first, second):
            learner = second if first == reference else first
            marks[learner] = "worse" if verdict.order_pair(reference, learner)[0] == reference else "better"
    return marks


def check_targets(page: Path | None, figures: Path | None, formats: str, tables: Path | None) -> None:
    """Raise an error if the page or a folder cannot be written, or if a format is unknown. Create no files."""
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
        raise InputError(f"{name_place('the output file', 'path')} must end in .html, got {str(path)!r}: use {instead!r}")
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
    """Write a text file. An existing file is replaced only when the new file is complete."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path


def check_picture_path(path: Path) -> None:
    """Raise an error if a picture cannot be written to the path."""
    if path.suffix.lower() not in SUFFIXES:
        suffix = "png" if path.suffix.lower()[1:] in _OTHER_PICTURES else "svg"
        instead = str(path.parent / f"{path.stem or 'figure'}.{suffix}")
        file_name, endings = name_place("the output file", "path"), join_names(SUFFIXES, conjunction="or")
        raise InputError(f"{file_name} must end in {endings}, got {str(path)!r}: use {instead!r}")
    if not path.parent.is_dir():
        raise InputError(f"path must be in an existing folder, got {str(path)!r}: create {str(path.parent)!r} first")


def _check_folder(folder: Path) -> None:
    """Raise an error if the folder cannot be created or written to. Create no folder."""
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
            option, choices = name_place("--format", "formats"), join_names(allowed, conjunction="or")
            raise InputError(f"{option} must be {choices}, got {name!r}: use {instead}")
    return list(dict.fromkeys(normalised))


def save_text(text: str, path: Path) -> Path:
    """Write text in UTF-8 with Unix line endings."""
    with write_atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
    return path
