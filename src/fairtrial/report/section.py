"""What a report is made of: sections of sentences, tables and figures. A page, a folder of files or a notebook shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairtrial.report.sentence import Sentence

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Table:
    """A finished frame with a key, a title and how its numbers are written.

    `formats` gives a format for a column (`"{:.3f}"`); `best` names columns whose best cell of each line is set in bold with
    the direction, or is None. `long` tables can be filtered and start folded.
    """

    key: str
    title: str
    frame: pd.DataFrame
    formats: dict[str, str] = field(default_factory=dict)
    note: str = ""
    best: str | None = None
    long: bool = False


@dataclass(frozen=True, eq=False)
class Figure:
    """A finished chart with a key, a title, and the words that say what is to be seen (for who cannot see it)."""

    key: str
    title: str
    chart: Any
    alt: str
    frame: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class Section:
    """A part of a report, in the order in which it is read: sentences, figures, tables, code, notes; perhaps parts of its own.

    `code` is text that is shown as it is, line by line: a file, a command.
    """

    key: str
    title: str
    sentences: tuple[Sentence, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    parts: tuple[Section, ...] = ()
    code: str = ""
