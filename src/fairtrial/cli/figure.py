"""The commands `figure` and `table`, which write one figure or one table."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairtrial._registry import find_similar_name
from fairtrial._text import join_names
from fairtrial.cli.application import (
    app,
    complete_from,
    complete_measures,
    errors_to_exit,
    format_examples,
    ignore_warnings,
    print_frame,
    refuse_folders,
    refuse_with,
)
from fairtrial.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement
    from fairtrial.report.figures.registry import RegisteredFigure
    from fairtrial.significance.verdict import Verdict
    from fairtrial.study.results.results import Results

FileKind = Literal["results", "predictions", "scores"]
_FILE_NAMES = {"results": "a results file", "predictions": "a file of predictions", "scores": "a table of scores"}
# Options that determine how each kind of file is read. The other options belong to the figure or the table.
_STUDY_OPTIONS = {"study", "resampling"}
_JUDGE_OPTIONS = {"y_true", "cluster", "positive"}
_COMPARE_OPTIONS = {"measure", "control", "alpha", "rope", "rows", "better"}
_TABLE_OPTIONS = {
    "results": _STUDY_OPTIONS | {"measure", "condition", "level", "positive", "alpha", "baseline", "digits"},
    "predictions": _JUDGE_OPTIONS | {"measure", "alpha", "baseline", "digits"},
    "scores": (_COMPARE_OPTIONS - {"control", "rope"}) | {"baseline", "digits"},
}
_TABLES = {
    "scores": "data sets x learners: mean and standard deviation over splits, best in bold, significance marks, mean ranks",
    "ranks": "data sets x learners: ranks, mean ranks, significance marks",
    "pairs": "all pairs: difference, adjusted p-value, outcome",
    "wins": "learners x learners: wins, ties and losses",
}
_TABLE_SUFFIXES = {".tex": "latex", ".csv": "csv", ".md": "markdown", ".txt": "text"}
_POSTERIOR_FIGURES = ("simplex", "density")  # they need --rope, which `judge` does not have
_LARGE_FILE = 100_000  # lines; no table of scores is longer

FileArgument = Annotated[
    Path | None,
    typer.Argument(help="Results file (*.fairtrial), table of scores (as for `compare`) or predictions (as for `judge`)."),
]
Condition = Annotated[str | None, typer.Option(help="Condition of the study. Default: clean.")]
NoiseLevel = Annotated[float | None, typer.Option(help="Noise level, if the condition has several.")]
Positive = Annotated[str | None, typer.Option(metavar="LABEL", help="Positive class.")]
Alpha = Annotated[float | None, typer.Option(help="Significance level. Default: 0.05, or that of the study.")]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="datasets|folds|seeds",
        help="Meaning of the rows in a table of scores.",
        autocompletion=complete_from("datasets", "folds", "seeds"),
    ),
]
MeasureName = Annotated[str | None, typer.Option(help="Measure. Default: the main measure.", autocompletion=complete_measures)]
Better = Annotated[
    str | None, typer.Option(help="Whether larger (max) or smaller (min) scores are better, for a table of scores.")
]
YTrue = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of true labels in a file of predictions.")]
Cluster = Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of clusters in a file of predictions.")]
Resampling = Annotated[str | None, typer.Option(metavar="NAME", help="Resampling scheme of the study. Default: the first.")]
StudyName = Annotated[str | None, typer.Option(help="Name of the study, if the results file has several.")]


def _complete_figures(incomplete: str) -> list[str]:
    from fairtrial.report.figures.registry import figures

    return [name for name in figures if name.startswith(incomplete)]


@app.command(
    epilog=format_examples(
        "figure critical-difference study.fairtrial --measure auc --out cd.pdf", "figure roc predictions.csv --out roc.svg"
    )
)
def figure(
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the figure, e.g. critical-difference; see --list.", autocompletion=_complete_figures),
    ] = None,
    file: FileArgument = None,
    out: Annotated[Path | None, typer.Option(help="Output file (.pdf, .svg, .png, .html or .json). Default: NAME.svg.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all figures.")] = False,
    measure: MeasureName = None,
    condition: Condition = None,
    level: NoiseLevel = None,
    dataset: Annotated[str | None, typer.Option(help="Data set. Default: all, or the only one.")] = None,
    learner: Annotated[list[str] | None, typer.Option(help="Learner or model. Repeatable. Default: all.")] = None,
    positive: Positive = None,
    repeat: Annotated[int | None, typer.Option(help="Repeat of the resampling. Default: the first.")] = None,
    control: Annotated[
        str | None, typer.Option("--control", "--baseline", metavar="LEARNER", help="Compare every learner with this one.")
    ] = None,
    alpha: Alpha = None,
    rope: Annotated[
        float | None, typer.Option(help="Region of practical equivalence, for the figures simplex and density.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Another option of the figure, e.g. hull=no. Repeatable.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title. Use --title '' for a figure without a title.")] = None,
    width: Annotated[
        float | None, typer.Option(help="Maximum width in mm. Default: 160 (full page); about 85 fits one of two columns.")
    ] = None,
    rows: Rows = None,
    better: Better = None,
    y_true: YTrue = None,
    cluster: Cluster = None,
    resampling: Resampling = None,
    study: StudyName = None,
) -> None:
    """Write one figure of a study, a table of scores or a file of predictions."""
    from fairtrial.report.figures.registry import draw, figures
    from fairtrial.report.files import check_picture_path, check_text_path, check_width, save

    with errors_to_exit(), ignore_warnings():
        if list_all:
            _print_figures()
            return
        name = _resolve_name("figure", name, figures.names(), sorted(figures))
        file = _require_file("figure", name, file)
        entry = figures[name]
        out = out or Path(f"{name}.svg")
        check_picture_path(out)
        check_text_path(out)
        if width is not None:
            check_width(out, width)
        values = {
            "measure": measure,
            "condition": condition,
            "level": level,
            "dataset": dataset,
            "learner": learner or None,
            "positive": positive,
            "repeat": repeat,
            "control": control,
            "alpha": alpha,
            "rope": rope,
            "rows": rows,
            "better": better,
            "y_true": y_true,
            "cluster": cluster,
            "resampling": resampling,
            "study": study,
        }
        options = {key: value for key, value in values.items() if value is not None} | _parse_options(option)
        kind = _find_kind(file, options)
        _refuse_unused(f"the figure {name}", kind, options, _list_options(entry, kind))
        source, options = _read_file(file, kind, options, by_measure=entry.from_verdict is not None)
        chart = draw(source, name, **options, **({"title": title} if title else {}))
        if title == "":
            chart = _remove_title(chart)
        is_picture = out.suffix.lower() in (".pdf", ".svg", ".png")
        save(chart, out, width=160.0 if width is None and is_picture else width)
        typer.echo(f"written: {out}")


@app.command(epilog=format_examples("table scores study.fairtrial --measure auc --latex --out scores.tex"))
def table(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="scores, ranks, pairs or wins; see --list.", autocompletion=complete_from(*_TABLES))
    ] = None,
    file: FileArgument = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX (requires booktabs).")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV with full precision.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    out: Annotated[Path | None, typer.Option(help="Output file (.tex, .csv, .md or .txt). Default: print the table.")] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all tables.")] = False,
    measure: MeasureName = None,
    condition: Condition = None,
    level: NoiseLevel = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", "--control", metavar="LEARNER", help="Compare every learner with this one. Default: the best."
        ),
    ] = None,
    positive: Positive = None,
    alpha: Alpha = None,
    digits: Annotated[
        int | None, typer.Option(help="Decimal places. Default: those of the data, at most 4 (3 with deviations).")
    ] = None,
    rows: Rows = None,
    better: Better = None,
    y_true: YTrue = None,
    cluster: Cluster = None,
    resampling: Resampling = None,
    study: StudyName = None,
) -> None:
    """Print or write one table of a study, a table of scores or a file of predictions."""
    from fairtrial.report.files import TABLE_NAMES, build_table, check_text_path, write_text

    with errors_to_exit(), ignore_warnings():
        if list_all:
            print_frame({"table": list(_TABLES), "content": list(_TABLES.values())})
            return
        for first, second in (("latex", "csv"), ("latex", "markdown"), ("csv", "markdown")):
            refuse_with(context, first, second)
        name = _resolve_name("table", name, TABLE_NAMES, TABLE_NAMES)
        file = _require_file("table", name, file)
        chosen = "latex" if latex else "csv" if csv else "markdown" if markdown else None
        text_format = _choose_format(chosen, out)
        if out is not None:
            check_text_path(out)
        values = {
            "measure": measure,
            "condition": condition,
            "level": level,
            "baseline": baseline,
            "positive": positive,
            "alpha": alpha,
            "digits": digits,
            "rows": rows,
            "better": better,
            "y_true": y_true,
            "cluster": cluster,
            "resampling": resampling,
            "study": study,
        }
        options: dict[str, Any] = {key: value for key, value in values.items() if value is not None}
        kind = _find_kind(file, options)
        _refuse_unused(f"the table {name}", kind, options, _TABLE_OPTIONS[kind] - ({"digits"} if name == "wins" else set()))
        if kind == "scores" and baseline is not None:
            options["control"] = baseline
        source, options = _read_file(file, kind, options, by_measure=True)
        built = build_table(source, name, **options)
        formatters = {"latex": built.to_latex, "csv": built.to_csv, "markdown": built.to_markdown, "text": built.__str__}
        text = formatters[text_format]()
        if out is None:
            typer.echo(text, nl=False)
        else:
            typer.echo(f"written: {write_text(out, text)}")


def _resolve_name(noun: str, name: str | None, names: Collection[str], listed: Collection[str]) -> str:
    """Return the registered form of a name. If the name is unknown, suggest the closest name and list all names."""
    if name is None:
        raise InputError(f"NAME must be given (the name of a {noun}): choose one of {', '.join(listed)}")
    plain = name.strip().lower().replace("_", "-")
    if plain not in names:
        similar = find_similar_name(plain, names)
        hint = "" if similar is None else f"did you mean {similar!r}? "
        raise UnknownNameError(f"no {noun} is called {name!r}: {hint}{noun}s: {', '.join(listed)}")
    return plain


def _require_file(command: str, name: str, file: Path | None) -> Path:
    if file is None:
        raise InputError(f"FILE must be given after the name: fairtrial {command} {name} FILE")
    refuse_folders(file)
    if not file.is_file():
        raise InputError(f"FILE must be an existing file, got {str(file)!r}: check the path")
    return file


def _print_figures() -> None:
    from fairtrial.report.figures.registry import figures

    entries = [figures[name] for name in sorted(figures)]
    print_frame(
        {
            "figure": [entry.names[0] + (f" ({', '.join(entry.names[1:])})" if entry.names[1:] else "") for entry in entries],
            "file": [", ".join(_list_kinds(entry)) for entry in entries],
            "content": [(entry.function.__doc__ or "").strip().partition("\n")[0] for entry in entries],
        }
    )


def _list_kinds(entry: RegisteredFigure) -> list[FileKind]:
    """List the kinds of files from which a figure can be drawn."""
    is_comparison = entry.from_verdict is not None
    kinds: list[FileKind] = ["results"] if "study" in entry.serves else []
    if "judgement" in entry.serves or (is_comparison and entry.names[0] not in _POSTERIOR_FIGURES):
        kinds.append("predictions")
    return [*kinds, "scores"] if is_comparison else kinds


def _list_options(entry: RegisteredFigure, kind: FileKind) -> set[str]:
    """List the options that a figure uses with this kind of file."""
    if kind not in _list_kinds(entry):
        needed = join_names([_FILE_NAMES[other] for other in _list_kinds(entry)], conjunction="or")
        raise InputError(f"the figure {entry.names[0]} needs {needed}, got {_FILE_NAMES[kind]}: see fairtrial figure --list")
    if kind == "scores":
        return _COMPARE_OPTIONS if entry.names[0] in _POSTERIOR_FIGURES else _COMPARE_OPTIONS - {"rope"}
    if kind == "predictions" and entry.from_verdict is not None:
        return _JUDGE_OPTIONS | {"measure", "alpha"}
    names = set(entry.list_options()) - {"data", "title"}  # data sets in memory exist only in Python
    return names | (_STUDY_OPTIONS if kind == "results" else _JUDGE_OPTIONS)


def _refuse_unused(subject: str, kind: FileKind, options: Collection[str], allowed: Collection[str]) -> None:
    """Refuse options that would have no effect."""
    for name in options:
        if name not in allowed:
            known = ", ".join(_write_option(other) for other in sorted(allowed))
            raise InputError(f"{_write_option(name)} has no effect on {subject} of {_FILE_NAMES[kind]}: use {known}")


def _write_option(name: str) -> str:
    return f"--{name.replace('_', '-')}" if name in _PLAIN_OPTIONS else f"--option {name}=VALUE"


_PLAIN_OPTIONS = {
    *("condition", "dataset", "learner", "level", "repeat", "baseline", "digits"),
    *_STUDY_OPTIONS,
    *_JUDGE_OPTIONS,
    *_COMPARE_OPTIONS,
}


def _parse_options(options: list[str] | None) -> dict[str, Any]:
    """Parse options such as `hull=no` or `confidence=0.9`.

    >>> _parse_options(["hull=no", "confidence=0.9", "n_permutations=99", "method=mds"])
    {'hull': False, 'confidence': 0.9, 'n_permutations': 99, 'method': 'mds'}
    """
    parsed: dict[str, Any] = {}
    for text in options or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise InputError(f"--option must be NAME=VALUE, got {text!r}: write e.g. --option confidence=0.9")
        parsed[name.strip().replace("-", "_")] = _parse_value(value.strip())
    return parsed


def _parse_value(text: str) -> Any:
    words = {"yes": True, "true": True, "no": False, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def _find_kind(file: Path, options: Collection[str]) -> FileKind:
    """Find out whether a file contains results, predictions or scores."""
    from fairtrial.predictions.judgement import is_too_long
    from fairtrial.significance.reading import contains_predictions

    with file.open("rb") as stream:
        if file.suffix.lower() == ".fairtrial" or stream.read(16) == b"SQLite format 3\0":
            return "results"
    if "y_true" in options or is_too_long([file], _LARGE_FILE) or contains_predictions(file):
        return "predictions"
    return "scores"


def _read_file(
    file: Path, kind: FileKind, options: dict[str, Any], *, by_measure: bool
) -> tuple[Results | Judgement | Verdict, dict[str, Any]]:
    """Read a file. Return its results, and the options that remain for the figure or the table."""
    rest = dict(options)
    if kind == "results":
        from fairtrial.study.results.results import open_results

        results = open_results(file, rest.pop("study", None))
        return (results.for_resampling(rest.pop("resampling")) if "resampling" in rest else results), rest
    if kind == "predictions":
        from fairtrial import judge

        roles = {name: rest.pop(name) for name in _JUDGE_OPTIONS & rest.keys()}
        if by_measure:
            roles |= {name: rest.pop(name) for name in ("measure", "alpha") if name in rest}
        return judge(str(file), measures=roles.pop("measure", None), **roles), rest
    from fairtrial import compare

    return compare(file, **{name: rest.pop(name) for name in _COMPARE_OPTIONS & rest.keys()}), rest


def _remove_title(chart: Any) -> Any:
    import altair as alt

    untitled = chart.copy(deep=False)
    untitled.title = alt.Undefined
    return untitled


def _choose_format(chosen: str | None, out: Path | None) -> str:
    """Choose the format of a table: the given format, or else the format that the suffix implies."""
    if out is None:
        return chosen or "text"
    suffix = _TABLE_SUFFIXES.get(out.suffix.lower())
    if suffix is None and chosen is None:
        raise InputError(f"--out must end in {join_names(_TABLE_SUFFIXES, conjunction='or')}, got {out.name!r}: rename it")
    if None not in (suffix, chosen) and suffix != chosen:
        raise InputError(f"--{chosen} does not fit --out {out}, which ends in {out.suffix}: change one of them")
    return chosen or str(suffix)
