"""Files of evidence: export them, merge them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import refusals, spoken
from fairtrial.cli.studies import NAME, STORE


@app.command()
def export(
    store: STORE,
    csv: Annotated[Path | None, typer.Option("--csv", help="Write a CSV file.")] = None,
    parquet: Annotated[Path | None, typer.Option("--parquet", help="Write a Parquet file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
    study: NAME = None,
) -> None:
    """Write the evidence: a line for each test row with its trial, id, truth, prediction and scores."""
    from fairtrial.errors import InputError
    from fairtrial.study.store.exporting import export as write
    from fairtrial.study.store.store import Store

    with refusals(), spoken():
        if csv is None and parquet is None:
            raise InputError("export must be told a file: --csv FILE or --parquet FILE")
        for path, kind, other in ((csv, "csv", "parquet"), (parquet, "parquet", "csv")):
            if path is not None and path.suffix.lower() == f".{other}":
                raise InputError(f"--{kind} must not name a .{other} file, got {path}: use --{other}, or another ending")
        with Store.open(store) as kept:
            archive = kept.archive(study)
            for path, kind in ((csv, "csv"), (parquet, "parquet")):
                if path is not None:
                    lines = write(archive, path, format=kind, overwrite=force)  # type: ignore[arg-type]
                    typer.echo(f"written: {path} ({lines} lines)")


@app.command()
def merge(
    parts: Annotated[list[Path], typer.Argument(help="The files to merge, such as the shards of a study.")],
    store: Annotated[Path, typer.Option(help="The file that gets all evidence; it is made where it is not there.")],
) -> None:
    """Put the evidence of several files into one. The order does not matter; merging again changes nothing."""
    from fairtrial.study.store.merging import merge as merge_stores

    with refusals(), spoken():
        typer.echo(str(merge_stores(store, parts)))
