"""Sentences that cannot contradict the tables: every number in them is a cell of a table, written out."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Any

from fairtrial.errors import InputError


@dataclass(frozen=True)
class Cell:
    """Where a number comes from: the key of a table, the name of its line and of its column."""

    table: str
    line: Any
    column: str


@dataclass(frozen=True)
class Shown:
    """A number as it is written: its value, the format of its text, and the cell that holds it."""

    value: float
    text: str
    cell: Cell


@dataclass(frozen=True)
class Sentence:
    """A sentence with what was put into it: names (data sets, learners, measures: text from outside) and numbers."""

    text: str
    names: tuple[str, ...] = ()
    numbers: tuple[Shown, ...] = ()

    def __str__(self) -> str:
        return self.text


def shown(frame: Any, table: str, line: Any, column: str, form: str = "{:.3f}") -> Shown:
    """The number of a frame's line and column, to be put into a sentence; the frame is the one of the table of this key.

    >>> import pandas as pd
    >>> shown(pd.DataFrame({"mean": [0.91234]}, index=["tree"]), "means", "tree", "mean").text
    '0.912'
    """
    value = frame.loc[line, column]
    return Shown(float(value), form.format(value), Cell(table, line, column))


def say(words: str, **parts: Any) -> Sentence:
    """A sentence of fixed words with names and numbers put in.

    >>> say("{learner} is ahead.", learner="tree").text
    'tree is ahead.'
    >>> say("It has 5 lives.")
    Traceback (most recent call last):
    fairtrial.errors.InputError: words must hold no number of their own, got 'It has 5 lives.': put it in as a Shown
    """
    fixed = "".join(text for text, *_ in string.Formatter().parse(words))
    if any(letter.isdigit() for letter in fixed):
        raise InputError(f"words must hold no number of their own, got {words!r}: put it in as a Shown")
    numbers = tuple(part for part in parts.values() if isinstance(part, Shown))
    names = tuple(str(part) for part in parts.values() if not isinstance(part, Shown))
    texts = {key: part.text if isinstance(part, Shown) else str(part) for key, part in parts.items()}
    return Sentence(words.format(**texts), names, numbers)
