"""Compare learners on a table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import refusals, words_only


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
    from fairtrial.report.report import checked_page, write_report
    from fairtrial.significance.advise import advise

    with refusals(), words_only():
        if report is not None:
            checked_page(report)
        verdict = advise(
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
            from fairtrial.report.compare import write_comparison

            paths = write_comparison(verdict, out, [each.strip() for each in formats.split(",")])
        if report is not None:
            paths.append(write_report(verdict, report, title=f"Comparison on {scores.name}"))
        typer.echo("\n".join([str(verdict), "", *(f"written: {path}" for path in paths)]).rstrip())
