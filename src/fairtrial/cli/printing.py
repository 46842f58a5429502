"""What the commands print: tables, warnings as sentences, refusals as one sentence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isnan
from typing import TYPE_CHECKING, Any

import typer

from fairtrial.errors import FairtrialError, FairtrialWarning

if TYPE_CHECKING:
    import pandas as pd

_GAP, _INDENT = "  ", "    "


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
    """Warnings as sentences, at once: what is told before a run stands before what the run tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FairtrialWarning)
        warnings.showwarning = lambda message, *_, **__: typer.echo(f"fairtrial: warning: {message}", err=True)
        yield


@contextmanager
def words_only() -> Iterator[None]:
    """Without warnings about what the printed words say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FairtrialWarning)
        yield


@contextmanager
def stopped_with(words: str) -> Iterator[None]:
    """What Ctrl-C within ends with, unless whoever was stopped says it better."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(str(error) or words) from None


def print_frame(frame: pd.DataFrame) -> None:
    """A frame as a table of plain text, a line each, numbers to 4 significant digits.

    On a terminal wordy columns of lists are left out or cut; of a table that is still wider than the terminal, the columns that
    do not fit stand on a line of their own below the others.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console()
    room = console.width if console.is_terminal else None
    shown = frame if room is None else _without_wordy(frame, room)
    columns = [[str(name), *map(cell, shown[name])] for name in shown.columns]
    header, *lines = _lines(columns, room)
    console.print(Text("\n").join([Text(header, style="bold"), *map(Text, lines)]), soft_wrap=True)


def cell(value: Any) -> str:
    """A value as a table shows it: a number that is not whole to 4 significant digits, nothing for NaN.

    >>> cell(0.9333333333333333), cell(12345.678), cell(3), cell(float("nan")), cell("two\\nlines")
    ('0.9333', '12346', '3', '', 'two lines')
    """
    from fairtrial.study.one_line import one_line

    if isinstance(value, float):
        if isnan(value):
            return ""
        return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return "" if value is None else one_line(value)


def _lines(columns: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """The lines of a table; blanks only between cells. Columns that do not fit into the room go on below, indented."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in columns]
    groups = [list(range(len(columns)))] if room is None else _groups(widths, room)
    for line in zip(*columns, strict=True):
        padded = [text + " " * (width - cell_len(text)) for text, width in zip(line, widths, strict=True)]
        yield f"\n{_INDENT}".join(_GAP.join(padded[place] for place in group).rstrip() for group in groups)


def _groups(widths: Sequence[int], room: int) -> list[list[int]]:
    """The places of columns that share a line."""
    groups: list[list[int]] = []
    left = 0
    for place, width in enumerate(widths):
        if not groups or width + len(_GAP) > left:
            left = room - (len(_INDENT) if groups else 0) - width
            groups.append([place])
        else:
            left -= width + len(_GAP)
            groups[-1].append(place)
    return groups


def _without_wordy(frame: pd.DataFrame, width: int) -> pd.DataFrame:
    narrow = 1 + (width < 170) + (width < 110)
    left_out = [
        *["also called", "reference", "what it is"][:narrow],
        *(["class", "parameters", "from"][:narrow] if narrow > 1 else []),
    ]
    frame = frame.drop(columns=left_out, errors="ignore")
    for wordy in ("what it is", "parameters"):
        frame = _cut(frame, wordy, width)
    return frame


def _cut(frame: pd.DataFrame, wordy: str, width: int) -> pd.DataFrame:
    """The frame with one column cut to what the others leave of the width."""
    from fairtrial.study.one_line import one_line

    if wordy not in frame:
        return frame
    widths = [max(len(cell(each)) for each in [name, *frame[name]]) + len(_GAP) for name in frame.columns if name != wordy]
    room = max(20, width - sum(widths))
    return frame.assign(**{wordy: [one_line(text, room) for text in frame[wordy]]})
