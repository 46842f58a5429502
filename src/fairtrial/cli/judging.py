"""Judge predictions of any origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import refusals, spoken


@app.command()
def judge(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="CSV, TSV or Parquet; several, or a pattern in quotes.")
    ],
    report: Annotated[Path | None, typer.Option(help="Write the report, one HTML file that holds all it shows.")] = None,
    truth: Annotated[str | None, typer.Option(metavar="COL", help="The column of true labels.")] = None,
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
    group: Annotated[list[str] | None, typer.Option(metavar="COL", help="A column of subgroups; may come again.")] = None,
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
    from fairtrial.report.report import check_targets, write_files
    from fairtrial.study import judge as judged

    with refusals(), spoken():
        check_targets(report, figures, formats, tables)
        found = judged(
            files[0] if len(files) == 1 else files,
            measures=measure or None,
            level=level,
            resamples=resamples,
            seed=seed,
            positive=positive,
            alpha=alpha,
            stream=stream or None,
            truth=truth,
            prediction=_columns(prediction),
            model=model,
            scores=_columns(score),
            dataset=dataset,
            row=row,
            weight=weight,
            group=group or None,
            repeat=repeat,
            fold=fold,
        )
        typer.echo(found.frame().to_csv(index=False) if csv else str(found), nl=not csv)
        if csv and found.told:
            typer.echo("\n".join(found.told), err=True)
        written = write_files(found, report, title=title, figures=figures, formats=formats, tables=tables)
        for what, count in written.items():
            typer.echo(f"written: {what}" + (f" ({count} files)" if count is not None else ""), err=csv)


def _columns(words: list[str] | None) -> Any:
    """One column, several, or columns by name (NAME=COL).

    >>> _columns(["p"]), _columns(["tree", "rule"]), _columns(["tree=p1", "rule=p2"])
    ('p', ['tree', 'rule'], {'tree': 'p1', 'rule': 'p2'})
    """
    if not words:
        return None
    if all("=" in word for word in words):
        return dict(word.split("=", 1) for word in words)
    return words[0] if len(words) == 1 else words
