"""The command `plan-test`, which computes sample sizes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairtrial._files import format_csv
from fairtrial.cli.application import app, errors_to_exit, format_examples, print_text, refuse_folders, warnings_to_stderr
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.significance import SampleSize

_DECISION = ("margin", "difference", "power", "equivalent")
_PILOT_COLUMNS = ("y_true", "model", "row", "cluster", "positive")
_ACCEPTED = {
    "pilot": (*_DECISION, "width", "candidate", "baseline", "measure", "seed", *_PILOT_COLUMNS),
    "scores": (*_DECISION, "candidate", "baseline", "measure"),
    "width": ("width", "measure", "expected", "prevalence", "auc"),
    "margin": (*_DECISION, "measure", "discordant", "sd"),
    "measure auc": ("measure", "expected", "prevalence", "power"),
}
_DEFAULT_POWER = 0.8


@app.command("plan-test", epilog=format_examples("plan-test --pilot predictions.csv --margin 0.01"))
def plan_test(
    pilot: Annotated[str | None, typer.Option(metavar="FILE", help="Predictions of a pilot, as for `fairtrial judge`.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Scores on data sets, as for `fairtrial compare`, to plan the number of data sets."),
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="The largest loss that does not matter: plan a decision at this margin.")
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="Plan a confidence interval of this width (upper minus lower limit).")
    ] = None,
    candidate: Annotated[str | None, typer.Option(metavar="NAME", help="New model or learner.")] = None,
    baseline: Annotated[str | None, typer.Option(metavar="NAME", help="Old model or learner.")] = None,
    measure: Annotated[
        str | None,
        typer.Option(help="Measure, or calibration_slope with --width. Default: auc if the pilot has scores, else accuracy."),
    ] = None,
    expected: Annotated[
        float | None,
        typer.Option(help="Expected value of the measure, without a pilot. Default: 0.5 for proportions, the worst case."),
    ] = None,
    prevalence: Annotated[
        float | None, typer.Option(help="Proportion of positive rows, without a pilot. Default: 0.5.")
    ] = None,
    auc: Annotated[float | None, typer.Option(help="Expected AUC for calibration_slope, without a pilot.")] = None,
    discordant: Annotated[
        float | None, typer.Option(help="Proportion of rows that exactly one model predicts correctly, without a pilot.")
    ] = None,
    sd: Annotated[
        float | None, typer.Option(help="Standard deviation of the differences, to plan the number of data sets.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(help="True difference, candidate minus baseline. Default: 0, equally good.")
    ] = None,
    power: Annotated[float | None, typer.Option(help="Desired power. Default: 0.8.")] = None,
    equivalent: Annotated[bool, typer.Option("--equivalent", help="Plan for equivalence instead of non-inferiority.")] = False,
    alpha: Annotated[float, typer.Option(help="Significance level; the confidence level is 1 - alpha.")] = 0.05,
    y_true: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of true labels of the pilot.")] = None,
    model: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of model names of the pilot.")] = None,
    row: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that identifies the rows of the pilot.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of clusters of the pilot, e.g. patients.")
    ] = None,
    positive: Annotated[str | None, typer.Option(metavar="LABEL", help="Positive class of the pilot.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the simulation from a pilot. Default: 0.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the result as CSV instead of text.")] = False,
) -> None:
    """Compute the number of rows or data sets needed for a decision at a margin, an interval or an AUC test."""
    options = {
        "margin": margin,
        "width": width,
        "candidate": candidate,
        "baseline": baseline,
        "measure": measure,
        "expected": expected,
        "prevalence": prevalence,
        "auc": auc,
        "discordant": discordant,
        "sd": sd,
        "difference": difference,
        "power": power,
        "equivalent": equivalent or None,
        "y_true": y_true,
        "model": model,
        "row": row,
        "cluster": cluster,
        "positive": positive,
        "seed": seed,
    }
    chosen_options = {name: value for name, value in options.items() if value is not None}
    with errors_to_exit(), warnings_to_stderr():
        refuse_folders(pilot, scores)
        size = _plan(pilot, scores, alpha, chosen_options)
        typer.echo(format_csv(size.frame()), nl=False) if csv else print_text(size)


def _plan(pilot: str | None, scores: Path | None, alpha: float, options: dict[str, Any]) -> SampleSize:
    """Choose the procedure that suits the given options. Refuse options that this procedure does not use."""
    from fairtrial._check import check_between
    from fairtrial.significance import plan_auc_test, plan_datasets, plan_interval, plan_margin

    check_between("alpha", alpha, 0, 1)
    if pilot is not None and scores is not None:
        raise InputError("either --pilot or --scores must be given, got both: pass one of them")
    is_auc = options.get("measure") == "auc" and "expected" in options
    chosen = (
        "pilot" if pilot else "scores" if scores else "width" if "width" in options else "margin" if "margin" in options else ""
    )
    chosen = chosen or ("measure auc" if is_auc else "")
    if not chosen:
        raise InputError("--margin, --width, or --measure auc with --expected must be given: pass e.g. --width 0.05")
    unused = next((name for name in options if name not in _ACCEPTED[chosen]), None)
    if unused is not None:
        raise InputError(f"--{unused.replace('_', '-')} is not used with --{chosen}: leave it out")
    if chosen == "pilot":
        from fairtrial.predictions import plan_test

        assert pilot is not None
        return plan_test(pilot, alpha=alpha, **options)
    if chosen == "width":
        return plan_interval(options.pop("measure", "accuracy"), options.pop("width"), level=1 - alpha, **options)
    if chosen == "measure auc":
        return plan_auc_test(
            options["expected"], prevalence=options.get("prevalence"), power=options.get("power", _DEFAULT_POWER), alpha=alpha
        )
    if "margin" not in options:
        raise InputError("--margin must be given with --scores: pass the largest loss that does not matter, such as 0.01")
    if chosen == "scores":
        return plan_datasets(scores, options.pop("margin"), alpha=alpha, **options)
    if options.pop("measure", "accuracy") != "accuracy":
        raise InputError("--measure must be accuracy without a pilot, because other measures need --pilot FILE")
    if "discordant" not in options and "sd" not in options:
        raise InputError("--margin needs a description of the variance: pass --pilot FILE, --scores FILE, --discordant or --sd")
    return plan_margin(options.pop("margin"), alpha=alpha, **options)
