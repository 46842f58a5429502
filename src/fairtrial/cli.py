"""The command line: parse, call, print; no logic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fairtrial import __version__
from fairtrial.errors import FairtrialError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A fair trial for every learning algorithm.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairtrial {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A fair trial for every learning algorithm."""


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

    try:
        if name is not None:
            typer.echo(listing.one(name))
        elif csv:
            typer.echo(listing.facts_frame(needs).to_csv(index=False), nl=False)
        else:
            _print(listing.facts_frame(needs))
    except FairtrialError as error:
        typer.echo(f"fairtrial: {error}", err=True)
        raise typer.Exit(2) from None


def _print(frame: pd.DataFrame) -> None:
    """A frame as a table, a line each; on a narrow terminal without its wordy columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=400)
    elif console.width < 120:
        frame = frame.drop(columns=["what it is", "also called", "reference"])
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in frame.columns:
        # Only the wordy columns may be cut.
        width = max(len(str(cell)) for cell in [column, *frame[column]])
        least = None if column in ("what it is", "reference", "also called") else width
        table.add_column(str(column), overflow="ellipsis", no_wrap=True, min_width=least)
    for line in frame.itertuples(index=False):
        table.add_row(*(str(cell) for cell in line))
    console.print(table)
