"""The application that commands join."""

from __future__ import annotations

from typing import Annotated

import typer

from fairtrial import __version__

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
