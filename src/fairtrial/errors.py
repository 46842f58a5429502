"""Errors that fairtrial raises and warnings that it issues.

```
FairtrialError                 base class of all errors
├── InputError                 invalid data or arguments (also a ValueError)
│   └── UnknownNameError       a name that is not registered (also a LookupError)
├── SpecError                  an invalid study file; lists each `Problem` with its location
├── LearnerError               a learner failed
└── StoreError                 a results file cannot be read or written

FairtrialWarning               base class of all warnings (also a UserWarning)
├── UndefinedMeasureWarning    a value is undefined for this input and returned as NaN
├── FallbackWarning            a requested method does not apply; the result names the method used instead
└── SuspectInputWarning        valid input that is probably a mistake
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "FairtrialError",
    "FairtrialWarning",
    "FallbackWarning",
    "InputError",
    "LearnerError",
    "Problem",
    "SpecError",
    "StoreError",
    "SuspectInputWarning",
    "UndefinedMeasureWarning",
    "UnknownNameError",
]


class FairtrialError(Exception):
    """Base class of all errors that fairtrial raises."""


class InputError(FairtrialError, ValueError):
    """Invalid data or arguments. The message names the argument, the rule, the value and the remedy."""


class UnknownNameError(InputError, LookupError):
    """A name that is not registered."""


@dataclass(frozen=True)
class Problem:
    """One problem in a study file.

    Attributes
    ----------
    location : str
        Location in the file, e.g. `learners.forest`.
    line : int or None
        Line number in the file, if known.
    message : str
        Description of the problem.

    Examples
    --------
    >>> print(Problem("learners.forest", 12, "no learner is called 'forrest'"))
    12: learners.forest: no learner is called 'forrest'
    """

    location: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.line, self.location, self.message) if part not in (None, ""))


class SpecError(FairtrialError):
    """An invalid study file. The message lists all problems.

    Attributes
    ----------
    problems : tuple of Problem
        All problems, sorted by line.

    Examples
    --------
    >>> error = SpecError.from_problems([Problem("seed", 2, "seed must be a whole number, got 'x'")], source="study.toml")
    >>> print(error)
    study.toml:2: seed: seed must be a whole number, got 'x'
    """

    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_problems(cls, problems: Iterable[Problem], source: str = "") -> SpecError:
        """Build the error from problems, which it sorts by line.

        Parameters
        ----------
        problems : iterable of Problem
            Problems in any order.
        source : str, optional
            Name of the file.

        Returns
        -------
        SpecError
        """
        sorted_problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        error = cls("\n".join(_format_problem(problem, source) for problem in sorted_problems))
        error.problems = sorted_problems
        return error


def _format_problem(problem: Problem, source: str) -> str:
    """Format a problem as compilers do: file, line, location, message."""
    if not source:
        return str(problem)
    return f"{source}:{problem}" if problem.line is not None else f"{source}: {problem}"


class LearnerError(FairtrialError):
    """A learner failed."""


class StoreError(FairtrialError):
    """A results file cannot be read or written."""


class FairtrialWarning(UserWarning):
    """Base class of all warnings that fairtrial issues."""


class UndefinedMeasureWarning(FairtrialWarning):
    """A value is undefined for this input and returned as NaN.

    If several values are undefined, `findings` contains the details.
    """

    def __init__(self, message: str = "", findings: Iterable[object] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class FallbackWarning(FairtrialWarning):
    """The requested method does not apply. The result names the method that was used instead."""


class SuspectInputWarning(FairtrialWarning):
    """Valid input that is probably a mistake."""
