"""What a check is: a numbered question to results, with why it matters and what to do; registered where it is defined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from fairtrial._registry import Registry
from fairtrial.errors import InputError
from fairtrial.report.checks.kept import once
from fairtrial.report.sections.naming import listed
from fairtrial.report.sentence import Sentence, say

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

Outcome = Literal["raised", "could not be made", "passed", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("raised", "could not be made", "passed", "not applicable")
"""In the order in which they are shown."""
_NUMBER = re.compile(r"[A-Z]{2,8}[0-9]{3}")


@dataclass(frozen=True, eq=False)
class Finding:
    """What a check found: the outcome, a sentence, and the table that its numbers stand in."""

    outcome: Outcome
    words: Sentence
    details: pd.DataFrame | None = None
    formats: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Check:
    """A check with its documentation. Numbers are never given twice and never change: papers and configurations cite them.

    Call it on results to have its Finding; `check` registers one.

    >>> fine = Check("LAB001", "Nothing", "nothing", "...", "...", "", lambda results: passed(say("All is well.")))
    >>> fine.table, fine(None).outcome
    ('checks-lab001', 'passed')
    """

    number: str
    title: str
    looks_for: str
    why: str
    remedy: str
    cite: str
    look: Callable[[Results], Finding]

    def __post_init__(self) -> None:
        if not _NUMBER.fullmatch(self.number):
            raise InputError(f"number must be capital letters and three digits, such as 'LAB001', got {self.number!r}")
        for what in ("__module__", "__qualname__"):  # a cell that is run again may replace its own check
            object.__setattr__(self, what, getattr(self.look, what, ""))

    @property
    def table(self) -> str:
        """The key of the table that its numbers stand in."""
        return f"checks-{self.number.lower()}"

    def __call__(self, results: Results) -> Finding:
        """What the check finds in results."""
        return self.look(results)


registry: Registry[Check] = Registry("check", group="fairtrial.checks")


def check(
    number: str, *, title: str, looks_for: str, why: str, remedy: str, cite: str
) -> Callable[[Callable[[Results], Finding]], Check]:
    """Make a check of a function of results and register it.

    Numbers that begin with FT are those of this package. Third parties choose other letters and name their module in the
    entry-point group "fairtrial.checks".
    """

    def register(look: Callable[[Results], Finding]) -> Check:
        made = Check(number, title, looks_for, why, remedy, cite, look)
        registry.add(number, made)
        return made

    return register


def raised(words: Sentence, details: pd.DataFrame | None = None, **formats: str) -> Finding:
    """The check was raised; `details` is the table of the check's key, with formats of its columns."""
    return Finding("raised", words, details, formats)


def passed(words: Sentence) -> Finding:
    """Nothing was found. The words hold no number, for no table is shown."""
    return Finding("passed", words)


def not_applicable(words: Sentence) -> Finding:
    """The question does not arise, or the results cannot answer it."""
    return Finding("not applicable", words)


class Examined(NamedTuple):
    """A check and what it found."""

    check: Check
    finding: Finding


def examine(results: Results, checks: Iterable[Check] | None = None) -> tuple[Examined, ...]:
    """All registered checks, or these, on results: those raised first, then in the order of their numbers.

    A check that breaks is told as one that could not be made: no check may cost a report.
    """
    if checks is None:
        every = tuple(registry.values())
        return once(results, ("examined", every), lambda: examine(results, every))
    found = [Examined(each, _found(each, results)) for each in checks]
    return tuple(sorted(found, key=lambda one: (OUTCOMES.index(one.finding.outcome), one.check.number)))


def _found(one: Check, results: Results) -> Finding:
    try:
        return one(results)
    except Exception as error:
        words = say(
            "The check could not be made: {kind}, {message}.", kind=type(error).__name__, message=str(error).rstrip(".")
        )
        return Finding("could not be made", words)


def named(names: Iterable[object]) -> str:
    """Names in a row, each once; of many only the first.

    >>> named(["iris", "wine", "iris"])
    'iris and wine'
    """
    return listed(list(dict.fromkeys(map(str, names))))
