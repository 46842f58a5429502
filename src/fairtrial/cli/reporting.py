"""Reports: the page, and its figures and tables as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import refusals, spoken
from fairtrial.cli.studies import NAME, STORE


@app.command()
def report(
    store: STORE,
    out: Annotated[
        Path | None, typer.Option(help="The page, *.html; named like the store, in this folder, without it.")
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for every figure as a file.")] = None,
    formats: Annotated[
        str, typer.Option("--format", help="Of the figures, with commas between: svg, pdf, png, html, json.")
    ] = "svg",
    tables: Annotated[Path | None, typer.Option(help="A folder for every table: CSV, Markdown, LaTeX.")] = None,
    title: Annotated[str | None, typer.Option(help="The page's title; the study's name without it.")] = None,
    study: NAME = None,
) -> None:
    """Write the report of a study: one HTML file that holds all it shows; with folders, its figures and tables too."""
    from fairtrial.report.report import write_files
    from fairtrial.study import open_results

    with refusals(), spoken():
        page = out or Path(f"{store.stem}.html")
        written = write_files(open_results(store, study), page, title=title, figures=figures, formats=formats, tables=tables)
        for what, count in written.items():
            typer.echo(f"written: {what}" + (f" ({count} files)" if count is not None else ""))
