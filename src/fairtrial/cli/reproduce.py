"""The command `reproduce`, which repeats published experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairtrial.cli.application import (
    app,
    errors_to_exit,
    format_examples,
    on_interrupt,
    print_frame,
    refuse_without,
    warnings_to_stderr,
)
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce import Reproduction


@app.command(epilog=format_examples("reproduce", "reproduce drift", "reproduce ela --scale full --jobs 2"))
def reproduce(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Name of the experiment, or `all`. Default: list the experiments.")] = None,
    scale: Annotated[
        str, typer.Option(help="quick (about a minute), full, or smoke (seconds, with meaningless results).")
    ] = "quick",
    out: Annotated[
        Path | None, typer.Option(help="Output folder for the page, tables and figures. Default: reproduced/NAME.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Number of processes. Default: the number of cores.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="Add a measure to ranking-real: a registered name, or PACKAGE.MODULE.NAME of a function (higher is better). "
            "Repeatable."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 1,
    progress: Annotated[
        bool | None, typer.Option("--progress/--quiet", help="Show or hide progress. Default: show it in a terminal.")
    ] = None,
) -> None:
    """Repeat a published experiment and judge the claims of the paper."""
    with errors_to_exit(), warnings_to_stderr(), on_interrupt("stopped: run the same command again to resume"):
        from fairtrial.reproduce import reproduce as run

        for option in ("scale", "out", "jobs", "measure", "seed", "progress"):
            refuse_without(context, option, "name")
        if name is None:
            print_frame(_list_experiments())
            raise typer.Exit
        run_experiment = partial(run, scale=scale, jobs=jobs, seed=seed, progress=progress)  # type: ignore[arg-type]
        if name == "all":
            _run_all(run_experiment, out or Path("reproduced"), measure or ())
        else:
            _print_reproduction(run_experiment(name, out=out, measures=measure or ()), out or Path("reproduced") / name)


def _run_all(run: Callable[..., Reproduction], out: Path, measures: Sequence[str]) -> None:
    """Run all experiments. If an experiment cannot be run, e.g. because its data are missing, print a message and continue."""
    from fairtrial.reproduce import load_experiments

    errors = []
    experiments = load_experiments().values()
    for experiment in experiments:
        typer.echo(f"{experiment.name}: {experiment.title}")
        try:
            _print_reproduction(
                run(experiment.name, out=out / experiment.name, measures=measures if experiment.check_measures else ()),
                out / experiment.name,
            )
        except InputError as error:
            typer.echo(f"not run: {experiment.name}: {error}")
            errors.append(error)
    if len(errors) == len(experiments):
        raise errors[0]


def _print_reproduction(reproduction: Reproduction, folder: Path) -> None:
    """Print the answer, the verdict on each claim of the paper, the counts of verdicts, and the path of the page."""
    from fairtrial.reproduce.claim import KINDS, count_verdicts

    if reproduction.answer:
        typer.echo(reproduction.answer)
    for claim in reproduction.claims:
        if claim.kind == "claim":
            typer.echo(f"{claim.verdict}: {claim.text}")
    for name, reason in reproduction.skipped.items():
        typer.echo(f"not run: {name}: {reason}")
    for kind, title in KINDS.items():
        claims = [claim for claim in reproduction.claims if claim.kind == kind]
        if claims:
            typer.echo(f"{title}: {count_verdicts(claims)}")
    typer.echo(f"page: {folder / 'index.md'}")


def _list_experiments() -> pd.DataFrame:
    import pandas as pd

    from fairtrial.reproduce import load_experiments

    rows = [(experiment.name, experiment.title) for experiment in load_experiments().values()]
    return pd.DataFrame(rows, columns=["name", "title"])
