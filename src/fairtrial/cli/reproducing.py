"""Experiments of papers, done again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import print_frame, refusals, spoken, stopped_with

if TYPE_CHECKING:
    import pandas as pd


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; all are listed without it, and run by `all`.")] = None,
    scale: Annotated[str, typer.Option(help="quick (about a minute each), full, or smoke (seconds, means nothing).")] = "quick",
    out: Annotated[
        Path | None, typer.Option(help="The folder for page, tables and figures; reproduced/NAME without it.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="Processes at a time; as many as there are cores without it.")] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="ranking-real: a measure of your own joins, package.module.name; may come twice.")
    ] = None,
    seed: Annotated[int, typer.Option(help="All random numbers follow from it.")] = 1,
    progress: Annotated[bool | None, typer.Option("--progress/--quiet", help="Show the progress, or not.")] = None,
) -> None:
    """Run a published experiment again: our table, the published one, and what became of its claims."""
    with refusals(), spoken(), stopped_with("stopped: run the same command again, it goes on where it can"):
        from fairtrial.reproduce.experiments import EXPERIMENTS, known, reproduce as run

        if name is None:
            print_frame(_listed())
            raise typer.Exit
        for each in EXPERIMENTS if name == "all" else [known(name).name]:
            folder = (out / each if name == "all" else out) if out else Path("reproduced") / each
            found = run(each, scale=scale, out=folder, jobs=jobs, measures=measure or (), seed=seed, progress=progress)  # type: ignore[arg-type]
            for claim in found.claims:
                typer.echo(f"{claim.word}: {claim.text} ({claim.evidence})")
            for missing, why in found.left_out.items():
                typer.echo(f"left out: {missing}: {why}")
            typer.echo(f"page: {folder / 'index.md'}")


def _listed() -> pd.DataFrame:
    import pandas as pd

    from fairtrial.reproduce.experiments import EXPERIMENTS

    return pd.DataFrame(
        [(each.name, each.title, each.paper) for each in EXPERIMENTS.values()], columns=["name", "what", "paper"]
    )
