"""What the commands print: tables, warnings as sentences, refusals as one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from fairtrial.errors import FairtrialError, FairtrialWarning

if TYPE_CHECKING:
    import pandas as pd


@contextmanager
def refusals() -> Iterator[None]:
    """Input that cannot be used ends in one sentence and code 2."""
    try:
        yield
    except FairtrialError as error:
        typer.echo(f"fairtrial: {error}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def spoken() -> Iterator[None]:
    """Warnings as sentences."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FairtrialWarning)
        yield
    for each in caught:
        typer.echo(f"fairtrial: warning: {each.message}", err=True)


@contextmanager
def words_only() -> Iterator[None]:
    """Without warnings about what the printed words say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairtrialWarning)
        yield


def print_frame(frame: pd.DataFrame) -> None:
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
