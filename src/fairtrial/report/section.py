"""What a report is made of: sections of sentences, tables and figures; and the registry of functions that build sections.

A section is added by a module in `fairtrial.report.sections`, or in another package that names it in the entry-point group
`fairtrial.sections`:

    @section("calibration", title="Calibration", order=90, serves=("judgement",))
    def build_calibration_section(source): ...

The function takes the source of the report (`fairtrial.report.source.ReportSource`), whatever its kind.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fairtrial._registry import Registry
from fairtrial._text import choose_p_format as choose_p_format
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

SMALL_P = 0.001
"""Smaller p values are not told from each other in a sentence; the tables have them."""


@dataclass(frozen=True)
class CellReference:
    """Where a number comes from: the key of a table, the name of its line and of its column."""

    table: str
    line: Any
    column: str


@dataclass(frozen=True)
class Number:
    """A number as it is written: its value, the format of its text, and the cell that holds it."""

    value: float
    text: str
    cell: CellReference


@dataclass(frozen=True)
class Sentence:
    """A sentence with what was put into it: names (data sets, learners, measures: text from outside) and numbers."""

    text: str
    names: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()

    def __str__(self) -> str:
        return self.text


def format_number(frame: Any, table: str, line: Any, column: str, number_format: str = "{:.3f}") -> Number:
    """The number of a frame's line and column, to be put into a sentence; the frame is the one of the table of this key.

    >>> import pandas as pd
    >>> format_number(pd.DataFrame({"mean": [0.91234]}, index=["tree"]), "means", "tree", "mean").text
    '0.912'
    """
    value = frame.loc[line, column]
    return Number(float(value), format_value(value, number_format), CellReference(table, line, column))


def format_value(value: Any, number_format: str = "{:.3f}") -> str:
    """A number as text: what rounds to zero has no sign, and what is no number has words.

    >>> format_value(-0.0001), format_value(float("nan")), format_value(float("inf"))
    ('0.000', 'undefined', 'infinite')
    """
    if isnan(value) or isinf(value):
        return "undefined" if isnan(value) else "infinite" if value > 0 else "minus infinite"
    text = number_format.format(value)
    return text if any(character in "123456789" for character in text.partition("e")[0]) else text.replace("-", "", 1)


def format_p_value(
    frame: Any, table: str, line: Any, column: str, alpha: float, *, equal: str = "= ", below: str = "< ", digits: int = 2
) -> Number:
    """A p value with the sign before it: "= 0.012", and "< 0.001" for all below, unless the level itself is as small.

    >>> import pandas as pd
    >>> lines = pd.DataFrame({"p": [0.0496, 1e-9, 0.0]})
    >>> [format_p_value(lines, "facts", line, "p", 0.05).text for line in range(3)]
    ['= 0.0496', '< 0.001', '< 0.001']
    """
    value = float(frame.loc[line, column])
    small = value < SMALL_P <= alpha or value == 0
    text = f"{below}{SMALL_P:g}" if small else equal + format_value(value, choose_p_format([value], alpha, digits))
    return Number(value, text, CellReference(table, line, column))


def build_sentence(template: str, **parts: Any) -> Sentence:
    """A sentence of fixed words with names and numbers put in.

    >>> build_sentence("{learner} is ahead.", learner="tree").text
    'tree is ahead.'
    >>> build_sentence("It has 5 lives.")
    Traceback (most recent call last):
    fairtrial.errors.InputError: words must hold no number of their own, got 'It has 5 lives.': put it in as a Number
    """
    fixed = "".join(text for text, *_ in string.Formatter().parse(template))
    if any(character.isdigit() for character in fixed):
        raise InputError(f"words must hold no number of their own, got {template!r}: put it in as a Number")
    numbers = tuple(part for part in parts.values() if isinstance(part, Number))
    names = tuple(str(part) for part in parts.values() if not isinstance(part, Number))
    texts = {key: part.text if isinstance(part, Number) else str(part) for key, part in parts.items()}
    return Sentence(template.format(**texts), names, numbers)


@dataclass(frozen=True, eq=False)
class ReportTable:
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
    tables: tuple[ReportTable, ...] = ()
    notes: tuple[str, ...] = ()
    subsections: tuple[Section, ...] = ()
    code: str = ""

    def walk(self) -> Iterator[Section]:
        """Yield the section and all its subsections, in the order in which they are read.

        >>> [part.key for part in Section("a", "A", subsections=(Section("b", "B"),)).walk()]
        ['a', 'b']
        """
        yield self
        for subsection in self.subsections:
            yield from subsection.walk()


ReportKind = Literal["study", "judgement", "comparison"]
"""What a report can be of: the results of a study, a judgement on predictions, or a verdict on a table of scores."""


@dataclass(eq=False)
class SectionBuilder:
    """A function that builds a section, with the section's key, title and order, and the kinds of report that it serves.

    The function takes the `ReportSource` and returns None if the section does not apply.
    """

    key: str
    title: str
    order: int
    serves: tuple[ReportKind, ...]
    function: Callable[[Any], Section | None]

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)  # so that a notebook cell which is run again may replace its builder

    def __call__(self, source: Any) -> Section | None:
        """Build the section."""
        return self.function(source)


builders: Registry[SectionBuilder] = Registry("section", group="fairtrial.sections", package="fairtrial.report.sections")
BuildFunction = TypeVar("BuildFunction", bound=Callable[[Any], Section | None])


def section(key: str, *, title: str, order: int, serves: tuple[ReportKind, ...]) -> Callable[[BuildFunction], BuildFunction]:
    """Register the function that builds a section of a kind of report; sections with a lower `order` are read earlier."""

    def register(function: BuildFunction) -> BuildFunction:
        builders.add(f"{serves[0]}/{key}", SectionBuilder(key, title, order, serves, function))
        return function

    return register
