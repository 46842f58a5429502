"""Experiments of papers, done again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import print_frame, refusals, spoken, stopped_with
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
    with refusals(), spoken(), stopped_with("stopped: run the same command again, it goes on where it can"):
        from fairtrial.reproduce.experiments import reproduce as run

        if name is None:
            print_frame(_listed())
            raise typer.Exit
        settled = partial(run, scale=scale, jobs=jobs, seed=seed, progress=progress)  # type: ignore[arg-type]
        if name == "all":
            _all(settled, out or Path("reproduced"), measure or ())
        else:
            _tell(settled(name, out=out, measures=measure or ()), out or Path("reproduced") / name)


def _all(run: Callable[..., Reproduction], out: Path, measures: Sequence[str]) -> None:
    """One after the other; one that cannot be run, for lack of data, is told and left out."""
    from fairtrial.reproduce.experiments import EXPERIMENTS

    refused = []
    for each in EXPERIMENTS.values():
        typer.echo(f"{each.name}: {each.title}")
        try:
            _tell(
                run(each.name, out=out / each.name, measures=measures if each.name == "ranking-real" else ()), out / each.name
            )
        except InputError as error:
            typer.echo(f"left out: {each.name}: {error}")
            refused.append(error)
    if len(refused) == len(EXPERIMENTS):
        raise refused[0]


def _tell(found: Reproduction, folder: Path) -> None:
    """The verdicts in a line each; the numbers behind them are on the page."""
    from fairtrial.reproduce.reproduction import verdicts_told

    for claim in found.claims:
        typer.echo(f"{claim.word}: {claim.text}")
    for missing, why in found.left_out.items():
        typer.echo(f"left out: {missing}: {why}")
    typer.echo(verdicts_told(found.claims))
    typer.echo(f"page: {folder / 'index.md'}")


def _listed() -> pd.DataFrame:
    import pandas as pd

    from fairtrial.reproduce.experiments import EXPERIMENTS

    return pd.DataFrame([(each.name, each.title) for each in EXPERIMENTS.values()], columns=["name", "what"])
