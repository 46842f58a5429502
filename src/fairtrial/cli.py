"""The command line: parse, call, print; no logic."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fairtrial import __version__
from fairtrial.errors import FairtrialError, FairtrialWarning

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A fair trial for every learning algorithm.")
data_app = typer.Typer(no_args_is_help=True, help="Data sets by name: list them, look at one, write one to a file.")
app.add_typer(data_app, name="data")


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


@app.command()
def learners(
    name: Annotated[str | None, typer.Argument(help="One learner with its parameters; all of them without it.")] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
) -> None:
    """List all learners: where they come from, what is prepared for them, their parameters."""
    from fairtrial.learners import catalogue

    with _refusals():
        if name is not None:
            typer.echo(catalogue.one(name))
        elif csv:
            typer.echo(catalogue.listing().to_csv(index=False), nl=False)
        else:
            _print(catalogue.listing())


@app.command()
def compare(
    scores: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet: a row for each data set, or for each score.")],
    measure_direction: Annotated[
        str | None, typer.Option(help="max or min: whether larger or smaller scores are better.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="The measure that the scores are of: gives the direction, picks one of several.")
    ] = None,
    control: Annotated[str | None, typer.Option(help="Compare each learner with this one instead of all pairs.")] = None,
    alpha: Annotated[float, typer.Option(help="The level at which learners are told apart.")] = 0.05,
    rope: Annotated[float | None, typer.Option(help="Differences up to this size count as practically equal.")] = None,
    posthoc: Annotated[
        str | None, typer.Option(help="bergmann, shaffer, holm, nemenyi, finner ... instead of the advice.")
    ] = None,
    test_fraction: Annotated[
        float | None, typer.Option(help="Share of rows in each test part, for repeats without folds.")
    ] = None,
    parametric: Annotated[
        bool, typer.Option("--parametric", help="Ask for t test or analysis of variance, if they fit.")
    ] = False,
    out: Annotated[str, typer.Option(help="Folder for tables and figures; none writes nothing.")] = "comparison",
    formats: Annotated[str, typer.Option("--format", help="Of the figures: svg, png, pdf, html, with commas between.")] = "svg",
) -> None:
    """Compare learners on a table of scores: the right test, who differs from whom, tables and figures."""
    from fairtrial.significance.advise import advise

    try:
        with _words_only():
            verdict = advise(
                scores,
                better=cast("Any", measure_direction),
                measure=measure,
                control=control,
                alpha=alpha,
                rope=rope,
                posthoc=posthoc,
                test_fraction=test_fraction,
                parametric=parametric,
            )
            paths = []
            if out != "none":
                from fairtrial.report.compare import write_comparison

                paths = write_comparison(verdict, out, [each.strip() for each in formats.split(",")])
            typer.echo("\n".join([str(verdict), "", *(f"written: {path}" for path in paths)]).rstrip())
    except FairtrialError as error:
        typer.echo(f"fairtrial: {error}", err=True)
        raise typer.Exit(2) from None


@data_app.command("list")
def data_list(csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False) -> None:
    """List the data sets that can be loaded by name; folders of your own are named by FAIRTRIAL_DATA."""
    from fairtrial.data import catalogue

    with _refusals():
        frame = catalogue()
        if csv:
            typer.echo(frame.to_csv(index=False), nl=False)
        else:
            _print(frame.astype(object).where(frame.notna(), ""))


@data_app.command("show")
def data_show(name: Annotated[str, typer.Argument(help="A name of the list, source/name, or openml:NUMBER.")]) -> None:
    """Show a data set: rows, columns with their types and values, classes, notes."""
    from fairtrial.data import describe, load

    with _refusals(), _spoken():
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

    with _refusals(), _spoken():
        data = load(name)
        path = write(data, out or Path(f"{data.name}.{file_format or 'csv'}"), format=file_format, overwrite=force)
        typer.echo(f"written: {path}")


@contextmanager
def _refusals() -> Iterator[None]:
    """Input that cannot be used ends in one sentence and code 2."""
    try:
        yield
    except FairtrialError as error:
        typer.echo(f"fairtrial: {error}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def _spoken() -> Iterator[None]:
    """Warnings as sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FairtrialWarning)
        yield
    for each in caught:
        typer.echo(f"fairtrial: warning: {each.message}", err=True)


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

    with _refusals(), _spoken():
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


@contextmanager
def _words_only() -> Iterator[None]:
    """Without warnings about what the printed words say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairtrialWarning)
        yield


def _print(frame: pd.DataFrame) -> None:
    """A frame as a table, a line each. On a terminal wordy columns are left out or cut, and no other one ever is."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=sum(2 + max(len(str(cell)) for cell in [name, *frame[name]]) for name in frame.columns))
    else:
        narrow = 1 + (console.width < 170) + (console.width < 110)
        left_out = [
            *["also called", "reference", "what it is"][:narrow],
            *(["class", "parameters", "from"][:narrow] if narrow > 1 else []),
        ]
        frame = frame.drop(columns=left_out, errors="ignore")
        for wordy in ("what it is", "parameters"):
            frame = _cut(frame, wordy, console.width)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in frame.columns:
        table.add_column(str(column), no_wrap=True)
    for line in frame.itertuples(index=False):
        table.add_row(*(str(cell) for cell in line))
    console.print(table)


def _cut(frame: pd.DataFrame, wordy: str, width: int) -> pd.DataFrame:
    """The frame with one column cut to what the others leave of the width."""
    if wordy not in frame:
        return frame
    widths = [max(len(str(cell)) for cell in [name, *frame[name]]) + 2 for name in frame.columns if name != wordy]
    room = max(20, width - sum(widths))
    return frame.assign(**{wordy: [text if len(text) <= room else text[: room - 1] + "…" for text in frame[wordy]]})
