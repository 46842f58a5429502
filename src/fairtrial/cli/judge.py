"""Reports: the page, and its figures and tables as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fairtrial.cli.application import app, errors_to_exit, ignore_warnings, warnings_to_stderr
from fairtrial.cli.study import NAME, STORE


@app.command()
def judge(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="CSV, TSV or Parquet; several, or a pattern in quotes.")
    ],
    report: Annotated[Path | None, typer.Option(help="Write the report, one HTML file that holds all it shows.")] = None,
    y_true: Annotated[str | None, typer.Option(metavar="COL", help="The column of true labels.")] = None,
    prediction: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="The column of predicted labels; of several models COL or MODEL=COL, once for each."),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="COL", help="The column that names the models of a long file.")] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column of scores: COL, CLASS=COL or, of a wide file, MODEL=COL; may come again."),
    ] = None,
    row: Annotated[str | None, typer.Option(metavar="COL", help="The column that tells the rows apart.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="COL", help="The column that names the data sets.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COL", help="The column of weights.")] = None,
    subgroup: Annotated[list[str] | None, typer.Option(metavar="COL", help="A column of subgroups; may come again.")] = None,
    repeat: Annotated[str | None, typer.Option(metavar="COL", help="The column that numbers repeats.")] = None,
    fold: Annotated[str | None, typer.Option(metavar="COL", help="The column that numbers folds.")] = None,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The positive class; the second of two without it.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="A measure (`fairtrial measures`); may come again. Models are compared by the first."),
    ] = None,
    level: Annotated[float, typer.Option(help="The level of the intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option(help="The level at which models are told apart.")] = 0.05,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap and of the permutation test.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of the resamples.")] = 0,
    stream: Annotated[bool, typer.Option("--stream", help="Count the file without holding it, as large ones are.")] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print the measures as CSV instead of words and tables; notes go to standard error.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="A folder for every figure as a file.")] = None,
    tables: Annotated[Path | None, typer.Option(help="A folder for every table: CSV, Markdown, LaTeX.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Of the figures, with commas between: svg, pdf, png, html, json.")
    ] = "svg",
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
) -> None:
    """Judge predictions: measures with intervals, paired tests, classes, subgroups, calibration, curves, and a report."""
    from fairtrial import judge as judge_predictions
    from fairtrial.report.report import check_targets, write_files

    with errors_to_exit(), warnings_to_stderr():
        check_targets(report, figures, formats, tables)
        judgement = judge_predictions(
            files[0] if len(files) == 1 else files,
            measures=measure or None,
            level=level,
            resamples=resamples,
            seed=seed,
            positive=positive,
            alpha=alpha,
            stream=stream or None,
            y_true=y_true,
            prediction=_parse_columns(prediction),
            model=model,
            scores=_parse_columns(score),
            dataset=dataset,
            row=row,
            weight=weight,
            subgroup=subgroup or None,
            repeat=repeat,
            fold=fold,
        )
        typer.echo(judgement.frame().to_csv(index=False) if csv else str(judgement), nl=not csv)
        if csv and judgement.messages:
            typer.echo("\n".join(judgement.messages), err=True)
        written = write_files(judgement, report, title=title, figures=figures, formats=formats, tables=tables)
        for path, count in written.items():
            typer.echo(f"written: {path}" + (f" ({count} files)" if count is not None else ""), err=csv)


def _parse_columns(options: list[str] | None) -> Any:
    """One column, several, or columns by name (NAME=COL).

    >>> _parse_columns(["p"]), _parse_columns(["tree", "rule"]), _parse_columns(["tree=p1", "rule=p2"])
    ('p', ['tree', 'rule'], {'tree': 'p1', 'rule': 'p2'})
    """
    if not options:
        return None
    if all("=" in option for option in options):
        return dict(option.split("=", 1) for option in options)
    return options[0] if len(options) == 1 else options


@app.command()
def compare(
    scores: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet: a row for each data set, or for each score.")],
    measure_direction: Annotated[
        str | None, typer.Option(help="max or min: whether larger or smaller scores are better.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure that the scores are of: gives the direction, picks one of several.")
    ] = None,
    control: Annotated[str | None, typer.Option(help="Compare each learner with this one instead of all pairs.")] = None,
    alpha: Annotated[float, typer.Option(help="The level at which learners are told apart.")] = 0.05,
    rope: Annotated[float | None, typer.Option(help="Differences up to this size count as practically equal.")] = None,
    posthoc: Annotated[
        str | None, typer.Option(help="bergmann, shaffer, holm, nemenyi, finner ... instead of the advice.")
    ] = None,
    test_fraction: Annotated[
        float | None, typer.Option(help="Share of rows in each test part, for repeats without folds.")
    ] = None,
    parametric: Annotated[
        bool, typer.Option("--parametric", help="Ask for t test or analysis of variance, if they fit.")
    ] = False,
    out: Annotated[str, typer.Option(help="Folder for tables and figures; none writes nothing.")] = "comparison",
    formats: Annotated[str, typer.Option("--format", help="Of the figures: svg, png, pdf, html, with commas between.")] = "svg",
    report: Annotated[Path | None, typer.Option(help="Write the report, one HTML file that holds all it shows.")] = None,
) -> None:
    """Compare learners on a table of scores: the right test, who differs from whom, tables, figures, a report."""
    from fairtrial.report.report import check_page_path, write_report
    from fairtrial.significance.compare import compare

    with errors_to_exit(), ignore_warnings():
        if report is not None:
            check_page_path(report)
        verdict = compare(
            scores,
            better=cast("Any", measure_direction),
            measure=measure,
            control=control,
            alpha=alpha,
            rope=rope,
            posthoc=posthoc,
            test_fraction=test_fraction,
            parametric=parametric,
        )
        paths = []
        if out != "none":
            from fairtrial.report.comparison import write_comparison

            paths = write_comparison(verdict, out, [figure_format.strip() for figure_format in formats.split(",")])
        if report is not None:
            paths.append(write_report(verdict, report, title=f"Comparison on {scores.name}"))
        typer.echo("\n".join([str(verdict), "", *(f"written: {path}" for path in paths)]).rstrip())


@app.command()
def report(
    store: STORE,
    out: Annotated[
        Path | None, typer.Option(help="The page, *.html; named like the store, in this folder, without it.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for every figure as a file.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Of the figures, with commas between: svg, pdf, png, html, json.")
    ] = "svg",
    tables: Annotated[Path | None, typer.Option(help="A folder for every table: CSV, Markdown, LaTeX.")] = None,
    title: Annotated[str | None, typer.Option(help="The page's title; the study's name without it.")] = None,
    study: NAME = None,
) -> None:
    """Write the report of a study: one HTML file that holds all it shows; with folders, its figures and tables too."""
    from fairtrial import open_results
    from fairtrial.report.report import write_files

    with errors_to_exit(), warnings_to_stderr():
        page = out or Path(f"{store.stem}.html")
        written = write_files(open_results(store, study), page, title=title, figures=figures, formats=formats, tables=tables)
        for path, count in written.items():
            typer.echo(f"written: {path}" + (f" ({count} files)" if count is not None else ""))
