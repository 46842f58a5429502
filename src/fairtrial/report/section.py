"""Sections of a report (sentences, tables and figures), and the registry of the functions that build them.

Modules in `fairtrial.report.sections` register sections. Another package can add sections by naming its module in the
entry-point group `fairtrial.sections`:

    @section("calibration", title="Calibration", order=90, serves=("judgement",))
    def build_calibration_section(source): ...

The function takes the source of the report (`fairtrial.report.source.ReportSource`) and returns a `Section` or None. A page
groups its sections by the question that they answer (`QUESTIONS`). For each question, the page shows the first sentence and the
lead figures of the first section. Everything else is collapsed.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from fairtrial import _text
from fairtrial._registry import Registry
from fairtrial.errors import InputError
from fairtrial.report.explorer import Explorer

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CellReference:
    """A reference to a table cell: key of the table, label of the row, and name of the column."""

    table: str
    line: Any
    column: str


@dataclass(frozen=True)
class Number:
    """A number in a sentence: its value, its formatted text, and the table cell that contains it."""

    value: float
    text: str
    cell: CellReference


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the numbers and names (of data sets, learners or measures) that it contains.

    `when` maps the page's selection menus to the values for which the sentence is visible, such as `{"measure": "AUC"}`.
    """

    text: str
    names: tuple[str, ...] = ()
    numbers: tuple[Number, ...] = ()
    when: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text


def format_number(frame: Any, table: str, line: Any, column: str, number_format: str = "{:.3f}") -> Number:
    """Format a number from a table for use in a sentence, with a reference to its cell.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame of the table.
    table : str
        Key of the table.
    line : label
        Label of the row in the index of the frame.
    column : str
        Name of the column.
    number_format : str, default "{:.3f}"
        Format of the number.

    Returns
    -------
    Number
        The value, its text and its cell.

    Examples
    --------
    >>> import pandas as pd
    >>> format_number(pd.DataFrame({"mean": [0.91234]}, index=["tree"]), "means", "tree", "mean").text
    '0.912'
    """
    value = frame.loc[line, column]
    return Number(float(value), _text.format_number(value, number_format), CellReference(table, line, column))


def build_sentence(template: str, **parts: Any) -> Sentence:
    """Build a sentence by inserting names and numbers into a template.

    Parameters
    ----------
    template : str
        Text with fields in braces. A template must not contain digits, because every number in a report comes from a table.
    **parts
        Value of each field: a `Number` (from `format_number`), or a name.

    Returns
    -------
    Sentence
        The text, with its names and numbers.

    Raises
    ------
    InputError
        If the template contains a digit.

    Examples
    --------
    >>> build_sentence("{learner} is ahead.", learner="tree").text
    'tree is ahead.'
    >>> build_sentence("There are 5 learners.")
    Traceback (most recent call last):
    fairtrial.errors.InputError: template must not contain digits, got 'There are 5 learners.': pass a Number
    """
    fixed = "".join(text for text, *_ in string.Formatter().parse(template))
    if any(character.isdigit() for character in fixed):
        raise InputError(f"template must not contain digits, got {template!r}: pass a Number")
    numbers = tuple(part for part in parts.values() if isinstance(part, Number))
    names = tuple(str(part) for part in parts.values() if not isinstance(part, Number))
    texts = {key: part.text if isinstance(part, Number) else str(part) for key, part in parts.items()}
    return Sentence(template.format(**texts), names, numbers)


@dataclass(frozen=True, eq=False)
class ReportTable:
    """A table of a report: a frame with a key, a title and number formats.

    `formats` maps columns to formats such as `"{:.3f}"`. If `best` is "max" or "min", the largest or smallest number of each
    row is bold. If `long` is true, the page collapses the table if it has more than 12 rows. `when` maps the page's
    selection menus to the values for which the table is visible, such as `{"measure": "AUC"}`.
    """

    key: str
    title: str
    frame: pd.DataFrame
    formats: dict[str, str] = field(default_factory=dict)
    note: str = ""
    best: str | None = None
    long: bool = False
    when: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with a key, a title and an alternative text that describes it.

    Lead figures stay visible when their section is collapsed. If a section has no lead figure, its first figure stays visible.
    `size` is the width: "wide" for the whole column, "half" for half a column, or "small" for small multiples. `when` is as in
    `ReportTable`.
    """

    key: str
    title: str
    chart: Any
    alt: str
    frame: pd.DataFrame | None = None
    lead: bool = False
    size: Literal["wide", "half", "small"] = "half"
    when: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Highlight:
    """A short text that stays visible when its section is collapsed, e.g. a raised check.

    The title links to `section`, unless `section` is empty.
    """

    title: str
    text: str = ""
    section: str = ""


@dataclass(frozen=True, eq=False)
class Section:
    """A section of a report.

    Its parts, in reading order, are sentences, figures, tables, code, notes and subsections. The first sentence states the main
    result, and can have alternatives for different values of a selection menu. `code` is preformatted text, e.g. a file or a
    command. `when` is as in `ReportTable`. `question` is the key of the question that the section answers, or empty. `slider`
    contains the name of a selection menu and its values. `slider` and `explorer` are shown above the lead figures, but only in
    the first section of a question.
    """

    key: str
    title: str
    sentences: tuple[Sentence, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    notes: tuple[str, ...] = ()
    subsections: tuple[Section, ...] = ()
    code: str = ""
    highlights: tuple[Highlight, ...] = ()
    when: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    explorer: Explorer | None = None
    slider: tuple[str, tuple[str, ...]] | None = None

    def walk(self) -> Iterator[Section]:
        """Yield the section and all its subsections in reading order.

        >>> [section.key for section in Section("a", "A", subsections=(Section("b", "B"),)).walk()]
        ['a', 'b']
        """
        yield self
        for subsection in self.subsections:
            yield from subsection.walk()


QUESTIONS = {
    "answer": "The answer",
    "better": "Which is better?",
    "size": "By how much?",
    "where": "Where is performance worse?",
    "threshold": "At which threshold and cost?",
    "probabilities": "Are the probabilities trustworthy?",
    "conditions": "Does the answer change under noise and drift?",
    "checks": "What should worry me?",
    "how": "How was it done?",
}
"""The questions that a page answers, in reading order."""

ShownSchemes = Literal["first", "all", "none"]
ReportKind = Literal["study", "judgement", "comparison", "gate", "threshold"]
"""The kinds of reports: on a study, a judgement, a comparison of scores, the decision of a gate, or a threshold."""


@dataclass(eq=False)
class SectionBuilder:
    """A function that builds a section.

    `key`, `title` and `order` define the key, the title and the position of the section. `serves` lists the kinds of reports
    that contain the section.

    The function takes the `ReportSource` and returns a `Section`, or None if the section does not apply. `schemes` states which
    resampling schemes of a study the section shows: the first, all, or none. If a study has several schemes, a note lists the
    schemes that the section shows.
    """

    key: str
    title: str
    order: int
    serves: tuple[ReportKind, ...]
    function: Callable[[Any], Section | None]
    schemes: ShownSchemes = "first"
    question: str = ""

    def __post_init__(self) -> None:
        functools.update_wrapper(self, self.function)  # lets a rerun notebook cell replace the builder that it defines

    def __call__(self, source: Any) -> Section | None:
        """Build the section."""
        built = self.function(source)
        built = built if built is None else replace(built, question=self.question)
        note = None if built is None or self.schemes == "none" else source.describe_schemes(self.schemes)
        return built if built is None or note is None else replace(built, notes=(note, *built.notes))


builders: Registry[SectionBuilder] = Registry("section", group="fairtrial.sections", package="fairtrial.report.sections")
BuildFunction = TypeVar("BuildFunction", bound=Callable[[Any], Section | None])


def section(
    key: str,
    *,
    title: str,
    order: int,
    serves: tuple[ReportKind, ...],
    schemes: ShownSchemes = "first",
    question: str = "",
) -> Callable[[BuildFunction], BuildFunction]:
    """Register the function that builds a section for the given kinds of reports.

    `question` is a key of `QUESTIONS`. A section without a question is shown on its own. Sections are sorted by `order`.
    """

    def register(function: BuildFunction) -> BuildFunction:
        builders.add(f"{serves[0]}/{key}", SectionBuilder(key, title, order, serves, function, schemes, question))
        return function

    return register
