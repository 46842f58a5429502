"""Audit folds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import app
from fairtrial.cli.printing import refusals, spoken


@app.command()
def audit(
    path: Annotated[
        str, typer.Argument(help="KEEL's folds (zip or folder); or a data file or name, with --splits or --scheme.")
    ],
    splits: Annotated[Path | None, typer.Option(help="CSV with the columns row and fold, perhaps repeat: who tests.")] = None,
    scheme: Annotated[str | None, typer.Option(help="Draw the folds now: stratified, kfold or dob-scv.")] = None,
    n_splits: Annotated[int, typer.Option(help="Folds to draw.")] = 5,
    assign: Annotated[str | None, typer.Option(help="Of dob-scv: shuffled, literal or keel.")] = None,
    seed: Annotated[int, typer.Option(help="Of the folds that are drawn, and of the audit.")] = 0,
    target: Annotated[str | None, typer.Option(help="The class column of the data file.")] = None,
    alpha: Annotated[float, typer.Option(help="The chance that random stratified folds raise a finding of shift.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Random stratified folds to compare with.")] = 499,
    csv: Annotated[bool, typer.Option("--csv", help="Print every number as CSV instead of words.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write a figure: .svg, .png, .pdf or .html.")] = None,
) -> None:
    """Audit folds: leaks, rows never tested, duplicates, sizes, shift. Exit code 1 if there are faults."""
    from fairtrial.report.saving import check_picture_path, save
    from fairtrial.study.auditing import audit_file

    with refusals(), spoken():
        if picture is not None:
            check_picture_path(picture)
        found = audit_file(
            path,
            splits=splits,
            scheme=scheme,
            n_splits=n_splits,
            assign=assign,
            seed=seed,
            target=target,
            n_permutations=permutations,
            alpha=alpha,
        )
        typer.echo(found.frame().to_csv(index=False) if csv else found.words, nl=not csv)
        if picture is not None:
            from fairtrial.report.audit import draw_audit

            typer.echo(f"written: {save(draw_audit(found), picture)}", err=csv)
    raise typer.Exit(0 if found.ok else 1)
