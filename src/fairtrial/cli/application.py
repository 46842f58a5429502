"""The application that commands join."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairtrial import __version__

_BEFORE = "stopped before anything ran: run the same command again"
_STOPPED = "stopped: run the same command again"


@contextmanager
def _stoppable(words: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as error:
        typer.echo(f"fairtrial: {str(error) or words}", err=True)
        raise typer.Exit(130) from None


class Commands(TyperGroup):
    """The commands; one that Ctrl-C ends, be it while it imports what it needs, says what to do and exits with 130."""

    def make_context(self, *names: Any, **more: Any) -> Any:
        """Read the command line."""
        with _stoppable(_BEFORE):
            return super().make_context(*names, **more)

    def invoke(self, ctx: Any) -> Any:
        """Call the command."""
        with _stoppable(_STOPPED):
            return super().invoke(ctx)


app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, help="A fair trial for every learning algorithm.")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairtrial {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """A fair trial for every learning algorithm."""
