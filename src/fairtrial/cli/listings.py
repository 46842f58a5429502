"""Lists of measures and of learners."""

from __future__ import annotations

from typing import Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import print_frame, refusals


@app.command()
def measures(
    name: Annotated[str | None, typer.Argument(help="One measure, in full; all of them without it.")] = None,
    needs: Annotated[
        str | None, typer.Option(help="Only those that need labels, scores, probabilities, values or results.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List all measures with their facts: needs, direction, range, chance, reference."""
    from fairtrial.measures import listing

    with refusals():
        if name is not None:
            typer.echo(listing.one(name))
        elif csv:
            typer.echo(listing.facts_frame(needs).to_csv(index=False), nl=False)
        else:
            print_frame(listing.facts_frame(needs))


@app.command()
def learners(
    name: Annotated[str | None, typer.Argument(help="One learner with its parameters; all of them without it.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List all learners: where they come from, what is prepared for them, their parameters."""
    from fairtrial.learners import catalogue

    with refusals():
        if name is not None:
            typer.echo(catalogue.one(name))
        elif csv:
            typer.echo(catalogue.listing().to_csv(index=False), nl=False)
        else:
            print_frame(catalogue.listing())
