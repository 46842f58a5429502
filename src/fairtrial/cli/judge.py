"""The command `judge` for predictions, and the command `compare` for scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairtrial._files import format_csv
from fairtrial._narrative import render
from fairtrial._text import wrap_item, wrap_lines
from fairtrial.cli.application import (
    app,
    complete_from,
    complete_measures,
    errors_to_exit,
    format_examples,
    ignore_warnings,
    print_text,
    refuse_folders,
    refuse_lists,
    refuse_option,
    refuse_with,
    refuse_without,
    warnings_to_stderr,
)

if TYPE_CHECKING:
    from fairtrial.significance import Verdict


@app.command(
    epilog=format_examples(
        "judge predictions.csv --report page.html",
        "judge predictions.csv --positive yes --measure average_precision",
        "judge predictions.csv --cluster patient --subgroup region",
        "judge answers.csv --row question --repeat sample",
    )
)
def judge(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="CSV, TSV, JSON Lines or Parquet files, or a pattern.")],
    report: Annotated[Path | None, typer.Option(help="Write the report to this HTML file.")] = None,
    y_true: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of true labels. Default: guessed, like all columns.")
    ] = None,
    prediction: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column of predicted labels. In a wide file, COLUMN or MODEL=COLUMN for each model."
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of model names, if the file has one row per model and case.")
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column of scores: COLUMN, CLASS=COLUMN or, in a wide file, MODEL=COLUMN. Repeatable."
        ),
    ] = None,
    row: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that identifies the rows.")] = None,
    dataset: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names the data sets.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of clusters, e.g. patients: their rows may be dependent.")
    ] = None,
    subgroup: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of subgroups to report separately. Repeatable.")
    ] = None,
    repeat: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that numbers repeats.")] = None,
    fold: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that numbers folds.")] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL",
            help="Positive class. Default: guessed from the columns and class names, else the second of two classes.",
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Measure (see `fairtrial measures`). Repeatable; models are compared by the first.",
            autocompletion=complete_measures,
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level of intervals.")] = 0.95,
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    margin: Annotated[
        float | None, typer.Option(help="The largest loss that does not matter. Adds a decision about each pair, as in `gate`.")
    ] = None,
    equivalent: Annotated[bool, typer.Option("--equivalent", help="With --margin: also test for equivalence.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="If the file has no predicted labels, predict rows with at least this score as positive."),
    ] = None,
    resamples: Annotated[int, typer.Option(help="Resamples of the bootstrap and the permutation test.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Remove rows with missing values instead of refusing the file.")
    ] = False,
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", help="Resampling scheme, if the file was exported from a study with several.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Do not read the file into memory. Default: for more than five million lines.")
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="Print the measures as CSV instead of text; notes go to standard error.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the answer, all scores and all pairs to this JSON file.")] = None,
    all_measures: Annotated[bool, typer.Option("--all", help="Print all measures, not only the main one.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the reasons, all measures, all pairs and all notes.")
    ] = False,
    figures: Annotated[Path | None, typer.Option(help="Write every figure to this folder.")] = None,
    tables: Annotated[Path | None, typer.Option(help="Write every table to this folder as CSV, Markdown and LaTeX.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the figures, separated by commas: svg, pdf, png, html, json.")
    ] = "svg",
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
) -> None:
    """Judge predictions of one or more models: measures with intervals, paired tests, a verdict, a report."""
    from fairtrial import judge as judge_predictions
    from fairtrial.report.files import check_targets, check_text_path, write_text
    from fairtrial.report.report import write_files

    with errors_to_exit(), warnings_to_stderr():
        refuse_without(context, "formats", "figures")
        refuse_without(context, "title", "report")
        refuse_with(context, "csv", "explain", "all_measures")
        refuse_folders(*files)
        refuse_lists("--measure", measure)
        check_targets(report, figures, formats, tables)
        if json is not None:
            check_text_path(json)
        judgement = judge_predictions(
            files[0] if len(files) == 1 else files,
            measures=measure or None,
            level=level,
            resamples=resamples,
            seed=seed,
            positive=positive,
            alpha=alpha,
            margin=margin,
            equivalent=equivalent,
            stream=stream or None,
            threshold=threshold,
            y_true=y_true,
            prediction=parse_columns(prediction),
            model=model,
            scores=parse_columns(score),
            dataset=dataset,
            row=row,
            weight=weight,
            cluster=cluster,
            subgroup=subgroup or None,
            repeat=repeat,
            fold=fold,
            drop_missing=drop_missing,
            scheme=scheme,
        )
        if csv:
            typer.echo(format_csv(judgement.frame()), nl=False)
            for message in judgement.messages:
                typer.echo(message, err=True)
        else:
            lines = judgement.format_lines(all_measures)
            if report is not None:
                lines[-1] = lines[-1].removesuffix("page: --report page.html").rstrip()
            print_text(judgement.explain() if explain else "\n".join(lines).rstrip())
        if json is not None:
            write_text(json, judgement.to_json() + "\n")
            typer.echo(f"written: {json}", err=csv)
        written = write_files(judgement, report, title=title, figures=figures, formats=formats, tables=tables)
        for path, count in written.items():
            typer.echo(f"written: {path}" + (f" ({count} files)" if count is not None else ""), err=csv)


def parse_columns(options: list[str] | None) -> Any:
    """Parse one column, several columns, or columns keyed by name (NAME=COLUMN).

    >>> parse_columns(["p"]), parse_columns(["tree", "rule"]), parse_columns(["tree=p1", "rule=p2"])
    ('p', ['tree', 'rule'], {'tree': 'p1', 'rule': 'p2'})
    """
    if not options:
        return None
    if all("=" in option for option in options):
        return dict(option.split("=", 1) for option in options)
    return options[0] if len(options) == 1 else options


@app.command(
    epilog=format_examples(
        "compare scores.csv --report page.html",
        "compare scores.csv --rows folds",
        "compare errors.csv --better min --control baseline",
    )
)
def compare(
    context: typer.Context,
    scores: Annotated[
        Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet file with one row per data set, fold or score.")
    ],
    better: Annotated[
        str | None,
        typer.Option(
            help="max if larger scores are better, min if smaller ones are. Default: by --measure, else max.",
            autocompletion=complete_from("max", "min"),
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Measure of the scores. Sets the direction, and selects one if the file has several.",
            autocompletion=complete_measures,
        ),
    ] = None,
    control: Annotated[str | None, typer.Option(help="Compare every learner with this one. Default: all pairs.")] = None,
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    rope: Annotated[
        float | None,
        typer.Option(help="Region of practical equivalence: smaller differences do not matter. Adds Bayesian tests."),
    ] = None,
    hierarchical: Annotated[
        bool, typer.Option("--hierarchical", help="With --rope: use a hierarchical model of all splits of several data sets.")
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(help="The largest loss that does not matter: decide which learners are non-inferior, e.g. to --control."),
    ] = None,
    equivalent: Annotated[
        bool, typer.Option("--equivalent", help="Test for equivalence within --margin instead of non-inferiority.")
    ] = False,
    posthoc: Annotated[
        str | None,
        typer.Option(
            help="Post-hoc procedure, e.g. bergmann-hommel, shaffer, holm or nemenyi. Default: automatic. finner, bh and by do "
            "not control the family-wise error rate."
        ),
    ] = None,
    test_fraction: Annotated[
        float | None, typer.Option(help="Fraction of rows in each test set, for repeated hold-out scores.")
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="datasets|folds|seeds",
            help="What the rows are. Required if nothing in the file names them.",
            autocompletion=complete_from("datasets", "folds", "seeds"),
        ),
    ] = None,
    parametric: Annotated[
        bool, typer.Option("--parametric", help="Use the t test or ANOVA if their assumptions hold.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write tables and figures to this folder.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the figures, separated by commas: svg, pdf, png, html, json.")
    ] = "svg",
    figures: Annotated[Path | None, typer.Option(help="Write every figure of the report to this folder.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report to this HTML file.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the answer and all pairs to this JSON file.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the reasons for this choice of test, and all pairs.")
    ] = False,
) -> None:
    """Compare learners from a table of scores: the right test, the pairs that differ, tables, figures, a report."""
    from fairtrial.report.files import check_targets, check_text_path, parse_formats, write_text
    from fairtrial.report.report import write_files
    from fairtrial.significance.compare import compare

    with errors_to_exit(), ignore_warnings():
        refuse_without(context, "formats", "out", "figures")
        if rows == "datasets":
            refuse_option(context, "test_fraction", "on scores of several data sets")
        refuse_folders(scores)
        check_targets(report, figures, formats, out)
        if json is not None:
            check_text_path(json)
        verdict = compare(
            scores,
            better=cast("Any", better),
            measure=measure,
            control=control,
            alpha=alpha,
            rope=rope,
            posthoc=posthoc,
            test_fraction=test_fraction,
            parametric=parametric,
            rows=cast("Any", rows),
            margin=margin,
            equivalent=equivalent,
            hierarchical=hierarchical,
        )
        if verdict.unit == "data set":
            refuse_option(context, "test_fraction", "on scores of several data sets")
        written: list[object] = []
        if out is not None:
            from fairtrial.report.files import write_comparison

            write_comparison(verdict, str(out), parse_formats(formats))
            written.append(f"{out} (tables and figures)")
        files = write_files(verdict, report, title=f"Comparison on {scores.name}", figures=figures, formats=formats)
        written += [path if count is None else f"{path} ({count} files)" for path, count in files.items()]
        if json is not None:
            written.append(write_text(json, verdict.to_json(scores.name) + "\n"))
        print_text("\n".join(_format_comparison(verdict, explain, has_page=report is not None)))
        for target in written:
            typer.echo(f"written: {target}")


def _format_comparison(verdict: Verdict, explain: bool, has_page: bool) -> list[str]:
    """Format the answer, the test, the caveats and a hint. If `explain` is true, format the answer, the reasons and tables."""
    answer = wrap_lines(verdict.summary)
    if explain:
        reasons = [line for text in verdict.explain().splitlines() for line in wrap_lines(text, indent="  ")]
        return [*answer, "", *reasons, "", verdict.format_tables()]
    from fairtrial.significance.names import get_display_name

    pairs = [] if verdict.posthoc is None else [f"  pairs by {get_display_name(verdict.posthoc.method)}"]
    lines = [*wrap_lines(render(verdict.test_result).rstrip("."), indent="  "), *pairs]
    lines += [line for finding in verdict.margin_findings for line in wrap_lines(render(finding), indent="  ")]
    lines += [line for caveat in verdict.caveats for line in wrap_item(render(caveat), "!")]
    return [*answer, *lines, "  reasons and all pairs: --explain" + ("" if has_page else "     page: --report page.html")]
