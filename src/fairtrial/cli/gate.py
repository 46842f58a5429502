"""The command `gate`, which decides whether a new model may replace an old one."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import (
    app,
    complete_measures,
    errors_to_exit,
    format_examples,
    ignore_warnings,
    print_text,
    refuse_folders,
    refuse_without,
)
from fairtrial.cli.judge import parse_columns
from fairtrial.errors import FairtrialError, InputError


@app.command(
    epilog=format_examples(
        "gate predictions.csv --candidate new --baseline old --margin 0.01",
        "gate new.parquet --baseline-file old.parquet --margin auc=0.01 --json gate.json",
    )
)
def gate(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Predictions, as for `fairtrial judge`.")],
    candidate: Annotated[
        list[str] | None, typer.Option(metavar="MODEL", help="Model to test. Repeatable: all candidates must pass.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(metavar="MODEL", help="Model to replace.")] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NUMBER|MEASURE=NUMBER",
            help="The largest loss that does not matter. Repeatable as MEASURE=NUMBER: all measures must pass.",
        ),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            help="Measure (see `fairtrial measures`). Default: auc if all models have scores of a positive class, otherwise "
            "accuracy.",
            autocompletion=complete_measures,
        ),
    ] = None,
    baseline_file: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Predictions of the baseline, if they are in another file; joined by row id."),
    ] = None,
    equivalent: Annotated[
        bool, typer.Option("--equivalent", help="Require equivalence: a difference below the margin in both directions.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the decision to this JSON file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the decision to this JUnit XML file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report to this HTML file.")] = None,
    figures: Annotated[Path | None, typer.Option(help="Write every figure to this folder.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Formats of the figures, separated by commas: svg, pdf, png, html, json.")
    ] = "svg",
    alpha: Annotated[float, typer.Option(help="Significance level; the confidence level is 1 - alpha.")] = 0.05,
    y_true: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of true labels. Default: guessed.")] = None,
    prediction: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of predicted labels, or MODEL=COLUMN.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of model names.")] = None,
    score: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column of scores: COLUMN, CLASS=COLUMN or MODEL=COLUMN.")
    ] = None,
    row: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that identifies the rows.")] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of row weights.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of clusters, e.g. patients: their rows may be dependent.")
    ] = None,
    positive: Annotated[str | None, typer.Option(metavar="LABEL", help="Positive class. Default: as in `judge`.")] = None,
    resamples: Annotated[int, typer.Option(help="Resamples of the bootstrap and the permutation test.")] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Remove rows with missing values instead of refusing the file.")
    ] = False,
    stream: Annotated[bool, typer.Option("--stream", help="Do not read the file into memory.")] = False,
) -> None:
    """Decide whether a new model may replace an old one (exit code 0: yes, 1: no, 2: invalid input, 3: internal error)."""
    from fairtrial import gate as gate_predictions
    from fairtrial.report.files import check_targets, check_text_path, write_text

    with errors_to_exit(), ignore_warnings():
        try:
            refuse_folders(*files, *(baseline_file or ()))
            targets = [path for path in (json, junit, report) if path is not None]
            for path in targets:
                check_text_path(path)
            if len({path.resolve() for path in targets}) < len(targets):
                raise InputError("--json, --junit and --report must be different files: rename one")
            refuse_without(context, "formats", "figures")
            check_targets(report, figures, formats, None)
            result = gate_predictions(
                files[0] if len(files) == 1 else files,
                candidate=candidate or None,
                baseline=baseline,
                margin=_parse_margins(margin),
                measure=measure,
                baseline_source=None if not baseline_file else baseline_file[0] if len(baseline_file) == 1 else baseline_file,
                equivalent=equivalent,
                alpha=alpha,
                resamples=resamples,
                seed=seed,
                positive=positive,
                stream=stream or None,
                y_true=y_true,
                prediction=parse_columns(prediction),
                model=model,
                scores=parse_columns(score),
                row=row,
                weight=weight,
                cluster=cluster,
                drop_missing=drop_missing,
            )
            written = []
            if json is not None:
                written.append(write_text(json, result.to_json() + "\n"))
            if junit is not None:
                written.append(write_text(junit, result.to_junit() + "\n"))
            if report is not None or figures is not None:
                from fairtrial.report.report import write_files

                written += write_files(result, report, figures=figures, formats=formats)
        except FairtrialError:
            raise
        except Exception:
            typer.echo(traceback.format_exc(), err=True, nl=False)
            typer.echo("fairtrial: internal error, no decision was made: please report it with the lines above", err=True)
            raise typer.Exit(3) from None
        print_text(result)
        for path in written:
            typer.echo(f"  written: {path}")
    raise typer.Exit(0 if result.passed else 1)


def _parse_margins(margins: list[str] | None) -> float | dict[str, float]:
    """Parse a single margin, or one margin per measure (MEASURE=NUMBER).

    >>> _parse_margins(["0.01"]), _parse_margins(["auc=0.01", "recall=0.02"])
    (0.01, {'auc': 0.01, 'recall': 0.02})
    """
    if not margins:
        raise InputError("--margin must be given (the largest loss that does not matter): pass e.g. --margin 0.01")
    parsed: dict[str, float] = {}
    for text in margins:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise InputError(f"--margin must be a number or MEASURE=NUMBER, got {text!r}: pass e.g. --margin 0.01") from None
        if name in parsed:
            raise InputError(
                f"--margin must be given once per measure, got {text!r} as well: use MEASURE=NUMBER for several measures"
            )
        parsed[name] = value
    if "" in parsed and len(parsed) > 1:
        raise InputError("--margin must name a measure if several margins are given: use --margin MEASURE=NUMBER for each")
    return parsed.get("", parsed)
