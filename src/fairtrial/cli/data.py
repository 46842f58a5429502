"""Data sets by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import print_frame, refusals, spoken

data_app = typer.Typer(no_args_is_help=True, help="Data sets by name: list them, look at one, write one to a file.")
app.add_typer(data_app, name="data")


@data_app.command("list")
def data_list(csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False) -> None:
    """List the data sets that can be loaded by name; folders of your own are named by FAIRTRIAL_DATA."""
    from fairtrial.data import catalogue

    with refusals():
        frame = catalogue()
        if csv:
            typer.echo(frame.to_csv(index=False), nl=False)
        else:
            print_frame(frame.astype(object).where(frame.notna(), ""))


@data_app.command("show")
def data_show(name: Annotated[str, typer.Argument(help="A name of the list, source/name, or openml:NUMBER.")]) -> None:
    """Show a data set: rows, columns with their types and values, classes, notes."""
    from fairtrial.data import describe, load

    with refusals(), spoken():
        typer.echo(str(describe(load(name))))


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="A name of the list, source/name, or openml:NUMBER.")],
    out: Annotated[Path | None, typer.Option(help="The file; without it, NAME with the suffix of the format.")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, parquet or arff; without it, what the file's suffix says, or csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a data set to a file."""
    from fairtrial.data import load, write

    with refusals(), spoken():
        data = load(name)
        path = write(data, out or Path(f"{data.name}.{file_format or 'csv'}"), format=file_format, overwrite=force)
        typer.echo(f"written: {path}")
