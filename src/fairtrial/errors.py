"""What can go wrong, and whose fault it is.

```
FairtrialError                 everything raised on purpose
├── InputError                 the user's data or arguments (also a ValueError)
│   └── UnknownNameError       a name that is not registered (also a LookupError)
├── SpecError                  the study file, with each Problem in it and its place
├── LearnerError               the learner under trial
└── StoreError                 the file that keeps the evidence

FairtrialWarning               everything warned about on purpose (also a UserWarning)
├── UndefinedMeasureWarning    a number that does not exist for this input and is given as NaN
├── FallbackWarning            a method that does not apply here was replaced; the result names the other
└── SuspectInputWarning        input that is allowed but is probably not what was meant
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
    """Base of all errors that fairtrial raises on purpose."""


class InputError(FairtrialError, ValueError):
    """The data or an argument breaks a rule; the message names it, the rule, the value and the remedy."""


class UnknownNameError(InputError, LookupError):
    """A name that nothing is registered under."""


@dataclass(frozen=True)
class Problem:
    """A mistake in a study: its place (`learners.forest`), the line of the file where that is known, and what is wrong.

    >>> print(Problem("learners.forest", 12, "no learner is called 'forrest'"))
    12: learners.forest: no learner is called 'forrest'
    """

    location: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return ": ".join(str(part) for part in (self.line, self.location, self.message) if part not in (None, ""))


class SpecError(FairtrialError):
    """The study is wrong; the message lists every mistake with its place, and `problems` holds them.

    >>> error = SpecError.from_problems([Problem("seed", 2, "seed must be a whole number, got 'x'")], source="study.toml")
    >>> print(error)
    study.toml:2: seed: seed must be a whole number, got 'x'
    """

    problems: tuple[Problem, ...] = ()

    @classmethod
    def from_problems(cls, problems: Iterable[Problem], source: str = "") -> SpecError:
        """Of all mistakes, in the order of their lines; `source` is the name of the file."""
        sorted_problems = tuple(sorted(problems, key=lambda problem: problem.line or 0))
        error = cls("\n".join(_format_problem(problem, source) for problem in sorted_problems))
        error.problems = sorted_problems
        return error


def _format_problem(problem: Problem, source: str) -> str:
    """The mistake as compilers tell it: file, line, place, message."""
    if not source:
        return str(problem)
    return f"{source}:{problem}" if problem.line is not None else f"{source}: {problem}"


class LearnerError(FairtrialError):
    """The learner failed."""


class StoreError(FairtrialError):
    """The evidence file cannot be read or written."""


class FairtrialWarning(UserWarning):
    """Base of all warnings that fairtrial gives on purpose."""


class UndefinedMeasureWarning(FairtrialWarning):
    """The measure has no value for this input; NaN is returned."""


class FallbackWarning(FairtrialWarning):
    """The method asked for does not apply here; another one was used and is named in the result."""


class SuspectInputWarning(FairtrialWarning):
    """The input is allowed but probably not what was meant."""
