"""Commands that list and show data sets, measures and learners, and audit folds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairtrial._files import format_csv
from fairtrial.cli.application import (
    NamingGroup,
    app,
    complete_measures,
    errors_to_exit,
    format_examples,
    print_frame,
    print_text,
    refuse_with,
    refuse_without,
    warnings_to_stderr,
)
from fairtrial.errors import InputError

data_app = typer.Typer(cls=NamingGroup, no_args_is_help=True, help="List data sets, show one, or write one to a file.")
app.add_typer(data_app, name="data")


def _complete_datasets(incomplete: str) -> list[str]:
    from fairtrial.data.catalogue import list_names

    return [name for name in list_names() if name.startswith(incomplete)]


DatasetName = Annotated[
    str,
    typer.Argument(
        help="Name from `fairtrial data list`, SOURCE/NAME, or openml:NUMBER.",
        autocompletion=_complete_datasets,
    ),
]


@data_app.command("list", epilog=format_examples("data list", "data list --csv > datasets.csv"))
def list_datasets(csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False) -> None:
    """List the data sets that can be loaded by name. Set FAIRTRIAL_DATA to add your own folders."""
    from fairtrial.data import catalogue
    from fairtrial.data.catalogue import describe_missing_extras

    with errors_to_exit():
        frame = catalogue()
        if csv:
            typer.echo(format_csv(frame), nl=False)
        else:
            print_frame(frame.astype(object).where(frame.notna(), ""), optional=["source", "used by"])
            typer.echo("  all columns: --csv     more about a data set: fairtrial data show NAME")
        if extras := describe_missing_extras():
            typer.echo(extras, err=True)


@data_app.command("show", epilog=format_examples("data show iris"))
def show_dataset(
    name: DatasetName,
) -> None:
    """Show a data set: rows, columns with types and values, classes and notes."""
    from fairtrial.data import describe, load

    with errors_to_exit(), warnings_to_stderr():
        print_text(describe(load(name)))


@data_app.command("get", epilog=format_examples("data get iris", "data get openml:61 --out iris.parquet"))
def get_dataset(
    name: DatasetName,
    out: Annotated[Path | None, typer.Option(help="Output file. Default: NAME.FORMAT in the current folder.")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, parquet or arff. Default: by the suffix of the file, else csv.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a data set to a file."""
    from fairtrial.data import load, write

    with errors_to_exit(), warnings_to_stderr():
        data = load(name)
        path = out or Path(f"{data.name}.{file_format or 'csv'}")
        if path.is_file() and not force:
            raise InputError(f"{path} already exists: choose another file with --out, or pass --force")
        typer.echo(f"written: {write(data, path, format=file_format, overwrite=force)}")


@app.command(epilog=format_examples("audit iris --scheme stratified", "audit data.csv --target class --splits folds.csv"))
def audit(
    context: typer.Context,
    path: Annotated[str, typer.Argument(help="KEEL folds (zip or folder), or a data file or name with --splits or --scheme.")],
    splits: Annotated[
        Path | None, typer.Option(help="CSV file of the test fold of each row, with columns row, fold and optionally repeat.")
    ] = None,
    scheme: Annotated[
        str | None, typer.Option(help="Draw new folds with this resampling scheme, e.g. stratified, kfold or dob-scv.")
    ] = None,
    n_splits: Annotated[int, typer.Option(help="Number of folds to draw.")] = 5,
    assign: Annotated[str | None, typer.Option(help="How dob-scv assigns rows to folds: shuffled, literal or keel.")] = None,
    seed: Annotated[int, typer.Option(help="Seed for drawing folds and for the audit.")] = 0,
    target: Annotated[str | None, typer.Option(help="Class column of the data file.")] = None,
    alpha: Annotated[float, typer.Option(help="Significance level: probability of reporting a shift in random folds.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Number of random stratified partitions to compare with.")] = 499,
    csv: Annotated[bool, typer.Option("--csv", help="Print all numbers as CSV instead of text.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write a figure to this file: .svg, .png, .pdf or .html.")] = None,
) -> None:
    """Audit folds: leakage, untested rows, duplicates, sizes and shift. The exit code is 1 if there are faults."""
    from fairtrial.report.files import check_picture_path, save
    from fairtrial.study.audit import audit_file

    with errors_to_exit(), warnings_to_stderr():
        refuse_without(context, "n_splits", "scheme")
        refuse_without(context, "target", "splits", "scheme")
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
        if csv:
            typer.echo(format_csv(audit_result.frame()), nl=False)
        else:
            print_text(audit_result.summary)
        if picture is not None:
            from fairtrial.report.figures.folds import draw_audit

            typer.echo(f"written: {save(draw_audit(audit_result), picture)}", err=csv)
    raise typer.Exit(0 if audit_result.ok else 1)


@app.command(epilog=format_examples("measures", "measures --needs probabilities", "measures h_measure"))
def measures(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Show one measure in full. Default: list all.", autocompletion=complete_measures)
    ] = None,
    needs: Annotated[
        str | None, typer.Option(help="List only measures of labels, scores, probabilities, values or results.")
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List the measures with input, direction, range, chance level and reference."""
    from fairtrial.measures import listing

    with errors_to_exit():
        refuse_with(context, "needs", "name")
        refuse_with(context, "csv", "name")
        if name is not None:
            print_text(listing.format_measure(name))
        elif csv:
            typer.echo(format_csv(listing.build_facts_frame(needs)), nl=False)
        else:
            print_frame(listing.collect_facts(needs), optional=["aliases", "reference", "description"])
            typer.echo("  all columns: --csv     more about a measure: fairtrial measures NAME")


@app.command(epilog=format_examples("learners", "learners c45"))
def learners(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Show one learner with its parameters. Default: list all.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List the learners with origin, preprocessing and parameters."""
    from fairtrial.learners import catalogue

    with errors_to_exit():
        refuse_with(context, "csv", "name")
        if name is not None:
            print_text(catalogue.describe_learner(name))
        elif csv:
            typer.echo(format_csv(catalogue.listing()), nl=False)
        else:
            print_frame(catalogue.listing(), optional=["parameters", "from", "class"])
            typer.echo("  all columns: --csv     parameters of a learner: fairtrial learners NAME")
