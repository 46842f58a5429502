"""One thing that a fold audit found, and how bad it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["fault", "caution", "note"]
LEVELS: tuple[Level, ...] = ("fault", "caution", "note")
_MOST_NAMED = 6


@dataclass(frozen=True)
class Finding:
    """A finding: its level, the check that made it, and what it says.

    A *fault* makes estimates from these splits wrong. A *caution* may be meant so, but has consequences. A *note* is just that.

    >>> print(Finding("note", "duplicates", "2 test rows have an equal row in the training part."))
    note: 2 test rows have an equal row in the training part.
    """

    level: Level
    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def listed(words: Sequence[str]) -> str:
    """The first few of many, in a row.

    >>> listed(["fold 1", "fold 2"])
    'fold 1, fold 2'
    """
    more = len(words) - _MOST_NAMED
    return ", ".join(words[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def counted(number: float, word: str) -> str:
    """A number with its word.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number:g} {word}" + ("" if number == 1 else "s")
