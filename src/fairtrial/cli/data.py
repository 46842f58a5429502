"""Lists of measures and of learners."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial.cli.application import app, errors_to_exit, print_frame, warnings_to_stderr

data_app = typer.Typer(no_args_is_help=True, help="Data sets by name: list them, look at one, write one to a file.")


app.add_typer(data_app, name="data")


@data_app.command("list")
def list_datasets(csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False) -> None:
    """List the data sets that can be loaded by name; folders of your own are named by FAIRTRIAL_DATA."""
    from fairtrial.data import catalogue

    with errors_to_exit():
        frame = catalogue()
        if csv:
            typer.echo(frame.to_csv(index=False), nl=False)
        else:
            print_frame(frame.astype(object).where(frame.notna(), ""))


@data_app.command("show")
def show_dataset(name: Annotated[str, typer.Argument(help="A name of the list, source/name, or openml:NUMBER.")]) -> None:
    """Show a data set: rows, columns with their types and values, classes, notes."""
    from fairtrial.data import describe, load

    with errors_to_exit(), warnings_to_stderr():
        typer.echo(str(describe(load(name))))


@data_app.command("get")
def get_dataset(
    name: Annotated[str, typer.Argument(help="A name of the list, source/name, or openml:NUMBER.")],
    out: Annotated[Path | None, typer.Option(help="The file; without it, NAME with the suffix of the format.")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, parquet or arff; without it, what the file's suffix says, or csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")] = False,
) -> None:
    """Write a data set to a file."""
    from fairtrial.data import load, write

    with errors_to_exit(), warnings_to_stderr():
        data = load(name)
        path = write(data, out or Path(f"{data.name}.{file_format or 'csv'}"), format=file_format, overwrite=force)
        typer.echo(f"written: {path}")


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
    from fairtrial.report.files import check_picture_path, save
    from fairtrial.study.audit import audit_file

    with errors_to_exit(), warnings_to_stderr():
        if picture is not None:
            check_picture_path(picture)
        audit_result = audit_file(
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
        typer.echo(audit_result.frame().to_csv(index=False) if csv else audit_result.summary, nl=not csv)
        if picture is not None:
            from fairtrial.report.figures.folds import draw_audit

            typer.echo(f"written: {save(draw_audit(audit_result), picture)}", err=csv)
    raise typer.Exit(0 if audit_result.ok else 1)


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

    with errors_to_exit():
        if name is not None:
            typer.echo(listing.format_measure(name))
        elif csv:
            typer.echo(listing.build_facts_frame(needs).to_csv(index=False), nl=False)
        else:
            print_frame(listing.build_facts_frame(needs))


@app.command()
def learners(
    name: Annotated[str | None, typer.Argument(help="One learner with its parameters; all of them without it.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List all learners: where they come from, what is prepared for them, their parameters."""
    from fairtrial.learners import catalogue

    with errors_to_exit():
        if name is not None:
            typer.echo(catalogue.describe_learner(name))
        elif csv:
            typer.echo(catalogue.listing().to_csv(index=False), nl=False)
        else:
            print_frame(catalogue.listing())
