"""What a methodology check is: a numbered question to results, with why it matters and what to do.

A check is added by a module in `fairtrial.report.checks`, or in another package that names it in the entry-point group
`fairtrial.checks`. Import from `fairtrial.report.checks`, which re-exports these names.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from fairtrial._registry import Registry
from fairtrial.errors import InputError
from fairtrial.report.cache import get_cached
from fairtrial.report.names import join_names
from fairtrial.report.section import Sentence, build_sentence

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

Outcome = Literal["raised", "could not be made", "passed", "not applicable"]
OUTCOMES: tuple[Outcome, ...] = ("raised", "could not be made", "passed", "not applicable")
"""In the order in which they are shown."""
_NUMBER = re.compile(r"[A-Z]{2,8}[0-9]{3}")


@dataclass(frozen=True, eq=False)
class CheckFinding:
    """What a check found: the outcome, a sentence, and the table that its numbers stand in."""

    outcome: Outcome
    sentence: Sentence
    details: pd.DataFrame | None = None
    formats: dict[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Check:
    """A check with its documentation. Numbers are never given twice and never change: papers and configurations cite them.

    Call it on results to get a `CheckFinding`; `check` registers one.

    >>> def look(results):
    ...     return report_passed(build_sentence("All is well."))
    >>> nothing = Check("LAB001", "Nothing", "nothing", "...", "...", "", look)
    >>> nothing.table, nothing(None).outcome
    ('checks-lab001', 'passed')
    """

    number: str
    title: str
    looks_for: str
    why: str
    remedy: str
    cite: str
    function: Callable[[Results], CheckFinding]

    def __post_init__(self) -> None:
        if not _NUMBER.fullmatch(self.number):
            raise InputError(f"number must be capital letters and three digits, such as 'LAB001', got {self.number!r}")
        functools.update_wrapper(self, self.function)  # so that a notebook cell which is run again may replace its check

    @property
    def table(self) -> str:
        """The key of the table that its numbers stand in."""
        return f"checks-{self.number.lower()}"

    def __call__(self, results: Results) -> CheckFinding:
        """What the check finds in results."""
        return self.function(results)


registry: Registry[Check] = Registry("check", group="fairtrial.checks", package="fairtrial.report.checks")


def check(
    number: str, *, title: str, looks_for: str, why: str, remedy: str, cite: str
) -> Callable[[Callable[[Results], CheckFinding]], Check]:
    """Make a check of a function of results and register it.

    Numbers that begin with FT are those of this package. Third parties choose other letters and name their module in the
    entry-point group "fairtrial.checks".
    """

    def register(function: Callable[[Results], CheckFinding]) -> Check:
        new_check = Check(number, title, looks_for, why, remedy, cite, function)
        registry.add(number, new_check)
        return new_check

    return register


def report_raised(sentence: Sentence, details: pd.DataFrame | None = None, **formats: str) -> CheckFinding:
    """The check was raised; `details` is the table of the check's key, with formats of its columns."""
    return CheckFinding("raised", sentence, details, formats)


def report_passed(sentence: Sentence) -> CheckFinding:
    """Nothing was found. The words hold no number, for no table is shown."""
    return CheckFinding("passed", sentence)


def report_not_applicable(sentence: Sentence) -> CheckFinding:
    """The question does not arise, or the results cannot answer it."""
    return CheckFinding("not applicable", sentence)


class CheckResult(NamedTuple):
    """A check and what it found."""

    check: Check
    finding: CheckFinding


def run_checks(results: Results, checks: Iterable[Check] | None = None) -> tuple[CheckResult, ...]:
    """All registered checks, or these, on results: those raised first, then in the order of their numbers.

    A check that breaks is told as one that could not be made: no check may cost a report.
    """
    if checks is None:
        registered = tuple(registry.values())
        return get_cached(results, ("examined", registered), lambda: run_checks(results, registered))
    check_results = [CheckResult(current_check, _run_check(current_check, results)) for current_check in checks]
    return tuple(
        sorted(
            check_results, key=lambda check_result: (OUTCOMES.index(check_result.finding.outcome), check_result.check.number)
        )
    )


def _run_check(current_check: Check, results: Results) -> CheckFinding:
    try:
        return current_check(results)
    except Exception as error:
        sentence = build_sentence(
            "The check could not be made: {kind}, {message}.", kind=type(error).__name__, message=str(error).rstrip(".")
        )
        return CheckFinding("could not be made", sentence)


def join_unique_names(names: Iterable[object]) -> str:
    """Names in a row, each once; of many only the first.

    >>> join_unique_names(["iris", "wine", "iris"])
    'iris and wine'
    """
    return join_names(list(dict.fromkeys(map(str, names))))
