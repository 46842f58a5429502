"""Sentences that cannot contradict the tables: every number in them is a cell of a table, written out."""

from __future__ import annotations

import string
from dataclasses import dataclass
from math import isinf, isnan
from typing import Any

from fairtrial.errors import InputError
from fairtrial.significance.p_words import p_form as p_form

SMALL_P = 0.001
"""Smaller p values are not told from each other in a sentence; the tables have them."""


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
    return Shown(float(value), written(value, form), Cell(table, line, column))


def written(value: Any, form: str = "{:.3f}") -> str:
    """A number as text: what rounds to zero has no sign, and what is no number has words.

    >>> written(-0.0001), written(float("nan")), written(float("inf"))
    ('0.000', 'undefined', 'infinite')
    """
    if isnan(value) or isinf(value):
        return "undefined" if isnan(value) else "infinite" if value > 0 else "minus infinite"
    text = form.format(value)
    return text if any(sign in "123456789" for sign in text.partition("e")[0]) else text.replace("-", "", 1)


def p_shown(
    frame: Any, table: str, line: Any, column: str, alpha: float, *, equal: str = "= ", below: str = "< ", digits: int = 2
) -> Shown:
    """A p value with the sign before it: "= 0.012", and "< 0.001" for all below, unless the level itself is as small.

    >>> import pandas as pd
    >>> lines = pd.DataFrame({"p": [0.0496, 1e-9, 0.0]})
    >>> [p_shown(lines, "facts", line, "p", 0.05).text for line in range(3)]
    ['= 0.0496', '< 0.001', '< 0.001']
    """
    value = float(frame.loc[line, column])
    small = value < SMALL_P <= alpha or value == 0
    text = f"{below}{SMALL_P:g}" if small else equal + written(value, p_form([value], alpha, digits))
    return Shown(value, text, Cell(table, line, column))


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
