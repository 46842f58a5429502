"""The command `threshold`, which chooses the decision threshold of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial._files import format_csv
from fairtrial.cli.application import (
    app,
    complete_measures,
    errors_to_exit,
    format_examples,
    ignore_warnings,
    print_text,
    refuse_folders,
    refuse_lists,
)
from fairtrial.cli.judge import parse_columns
from fairtrial.errors import InputError


@app.command(
    epilog=format_examples("threshold predictions.csv --cost-fp 1 --cost-fn 10", "threshold predictions.csv --recall 0.9")
)
def threshold(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Predictions with scores, as for `fairtrial judge`.")],
    cost_fp: Annotated[float | None, typer.Option(help="Cost of a false positive; needs --cost-fn.")] = None,
    cost_fn: Annotated[float | None, typer.Option(help="Cost of a false negative; needs --cost-fp.")] = None,
    recall: Annotated[float | None, typer.Option(help="Minimum recall, instead of costs.")] = None,
    precision: Annotated[float | None, typer.Option(help="Minimum precision, instead of costs.")] = None,
    alerts: Annotated[
        float | None, typer.Option(help="Maximum number of positive predictions per 1,000 cases, instead of costs.")
    ] = None,
    current: Annotated[
        float | None, typer.Option(help="Current threshold, to compare with. Default: 0.5 for probabilities, else none.")
    ] = None,
    at: Annotated[
        list[float] | None, typer.Option(help="Print the threshold table at this threshold, for each model. Repeatable.")
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure of predicted labels (see `fairtrial measures`) at --at or at the chosen threshold. Repeatable.",
            autocompletion=complete_measures,
        ),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the threshold table as CSV instead of text.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write the answer and the threshold table to this JSON file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report to this HTML file.")] = None,
    level: Annotated[float, typer.Option(help="Confidence level of intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option(help="Significance level of the comparison of models.")] = 0.05,
    y_true: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of true labels. Default: guessed.")] = None,
    model: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of model names.")] = None,
    score: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of scores: COLUMN, CLASS=COLUMN or MODEL=COLUMN.")
    ] = None,
    row: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that identifies the rows.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names the data sets.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of clusters, e.g. patients, whose rows may be dependent.")
    ] = None,
    positive: Annotated[str | None, typer.Option(metavar="LABEL", help="Positive class. Default: as in `judge`.")] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples in the threshold table.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of folds and resamples.")] = 0,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Remove rows with missing values instead of refusing the file.")
    ] = False,
) -> None:
    """Choose a threshold for given costs, recall, precision or alert budget, and estimate its results on new cases."""
    from fairtrial.predictions import choose_threshold
    from fairtrial.report.files import check_page_path, check_text_path, write_text

    with errors_to_exit(), ignore_warnings():
        if (cost_fp is None) != (cost_fn is None):
            raise InputError("--cost-fp and --cost-fn must be given together: pass both costs")
        refuse_folders(*files)
        refuse_lists("--measure", measure)
        if json is not None:
            check_text_path(json)
        if report is not None:
            check_page_path(report)
        result = choose_threshold(
            files[0] if len(files) == 1 else files,
            costs=None if cost_fp is None or cost_fn is None else (cost_fp, cost_fn),
            recall=recall,
            precision=precision,
            alerts=alerts,
            current=current,
            thresholds=at or None,
            measures=measure or None,
            level=level,
            alpha=alpha,
            resamples=resamples,
            seed=seed,
            positive=positive,
            y_true=y_true,
            model=model,
            scores=parse_columns(score),
            row=row,
            dataset=dataset,
            weight=weight,
            cluster=cluster,
            drop_missing=drop_missing,
        )
        written = [] if json is None else [write_text(json, result.to_json() + "\n")]
        if report is not None:
            from fairtrial.report.report import write_report

            written.append(write_report(result, report))
        marks = at or [choice.threshold for choice in result.choices if measure]
        if csv:
            typer.echo(format_csv(result.table), nl=False)
        else:
            print_text("\n".join(result.format_lines(marks)))
        for path in written:
            typer.echo(f"  written: {path}", err=csv)
