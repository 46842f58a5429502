"""Experiments of papers, done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairtrial.cli.application import app, errors_to_exit, on_interrupt, print_frame, warnings_to_stderr
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.reproduce import Reproduction


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; all are listed without it, and run by `all`.")] = None,
    scale: Annotated[str, typer.Option(help="quick (about a minute each), full, or smoke (seconds, means nothing).")] = "quick",
    out: Annotated[
        Path | None, typer.Option(help="The folder for page, tables and figures; reproduced/NAME without it.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes at a time; as many as there are cores without it.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(
            help="ranking-real: a measure of your own joins, package.module.name, higher being better, or a registered name."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="All random numbers follow from it.")] = 1,
    progress: Annotated[bool | None, typer.Option("--progress/--quiet", help="Show the progress, or not.")] = None,
) -> None:
    """Run a published experiment again: our table, the published one, and what became of its claims."""
    with errors_to_exit(), warnings_to_stderr(), on_interrupt("stopped: run the same command again, it goes on where it can"):
        from fairtrial.reproduce.experiments import reproduce as run

        if name is None:
            print_frame(_list_experiments())
            raise typer.Exit
        run_experiment = partial(run, scale=scale, jobs=jobs, seed=seed, progress=progress)  # type: ignore[arg-type]
        if name == "all":
            _run_all(run_experiment, out or Path("reproduced"), measure or ())
        else:
            _print_reproduction(run_experiment(name, out=out, measures=measure or ()), out or Path("reproduced") / name)


def _run_all(run: Callable[..., Reproduction], out: Path, measures: Sequence[str]) -> None:
    """One after the other; one that cannot be run, for lack of data, is told and left out."""
    from fairtrial.reproduce.experiments import EXPERIMENTS

    errors = []
    for experiment in EXPERIMENTS.values():
        typer.echo(f"{experiment.name}: {experiment.title}")
        try:
            _print_reproduction(
                run(experiment.name, out=out / experiment.name, measures=measures if experiment.name == "ranking-real" else ()),
                out / experiment.name,
            )
        except InputError as error:
            typer.echo(f"left out: {experiment.name}: {error}")
            errors.append(error)
    if len(errors) == len(EXPERIMENTS):
        raise errors[0]


def _print_reproduction(reproduction: Reproduction, folder: Path) -> None:
    """The verdicts in a line each; the numbers behind them are on the page."""
    from fairtrial.reproduce.reproduction import verdicts_told

    for claim in reproduction.claims:
        typer.echo(f"{claim.word}: {claim.text}")
    for missing, why in reproduction.left_out.items():
        typer.echo(f"left out: {missing}: {why}")
    typer.echo(verdicts_told(reproduction.claims))
    typer.echo(f"page: {folder / 'index.md'}")


def _list_experiments() -> pd.DataFrame:
    import pandas as pd

    from fairtrial.reproduce.experiments import EXPERIMENTS

    return pd.DataFrame([(experiment.name, experiment.title) for experiment in EXPERIMENTS.values()], columns=["name", "title"])
