"""Problems in a study and their locations. All problems are collected and reported in a single error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from fairtrial.errors import FairtrialError, InputError, Problem, SpecError

KeyPath = tuple[str | int, ...]
"""The location of a value in a study, e.g. `("learners", "forest", "sampler")` or `("data", "sets", 2)`."""

TextPosition = tuple[int, int]
"""Line and column, counted from 1."""


class SpecProblem(NamedTuple):
    """A problem with its location in the study."""

    path: KeyPath
    message: str


class ProblemsError(InputError):
    """An error with several problems, whose locations are relative to the object that is being built."""

    def __init__(self, problems: Iterable[SpecProblem]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(problem.message for problem in self.problems))


def to_problems(error: Exception, *key_path: str | int) -> list[SpecProblem]:
    """Return the problems in an error, with `key_path` prepended to their locations."""
    problems = error.problems if isinstance(error, ProblemsError) else [SpecProblem((), str(error))]
    return [SpecProblem((*key_path, *problem.path), problem.message) for problem in problems]


class ProblemCollector:
    """A collector of problems that are raised together at the end.

    >>> collector = ProblemCollector()
    >>> with collector.collect("sampler"):
    ...     raise InputError("no sampler is called 'smoote'")
    >>> collector.problems
    [SpecProblem(path=('sampler',), message="no sampler is called 'smoote'")]
    """

    def __init__(self) -> None:
        self.problems: list[SpecProblem] = []

    @contextmanager
    def collect(self, *key_path: str | int) -> Iterator[None]:
        """Collect the problems of a FairtrialError that is raised in the block.

        `key_path` is prepended to the location of each problem.
        """
        try:
            yield
        except FairtrialError as error:
            self.problems += to_problems(error, *key_path)

    def raise_if_any(self) -> None:
        """Raise all collected problems, if there are any."""
        if self.problems:
            raise ProblemsError(self.problems)


def build_spec_error(
    spec_problems: Iterable[SpecProblem], positions: Mapping[KeyPath, TextPosition] | None = None, source: str = ""
) -> SpecError:
    """Build the error that reports all problems, with line numbers if positions are known."""
    problems = []
    for problem in dict.fromkeys(spec_problems):
        position = _find_position(positions or {}, problem.path)
        problems.append(Problem(format_key_path(problem.path), position[0] if position else None, problem.message))
    return SpecError.from_problems(problems, source)


def _find_position(positions: Mapping[KeyPath, TextPosition], path: KeyPath) -> TextPosition | None:
    """Find the position of a key, or of the nearest parent key that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in positions:
            return positions[path[:length]]
    return None


def format_key_path(path: KeyPath) -> str:
    """Format a location.

    >>> format_key_path(("data", "sets", 2)), format_key_path(("learners", "forest"))
    ('data.sets[2]', 'learners.forest')
    """
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def restore_indices(later: Iterable[SpecProblem], earlier: Iterable[SpecProblem]) -> list[SpecProblem]:
    """Restore the original list indices in problems that were found in shortened lists.

    `earlier` contains the problems of the list entries that had been removed.

    >>> restore_indices([SpecProblem(("measures", 1), "unknown")], earlier=[SpecProblem(("measures", 0), "not a text")])
    [SpecProblem(path=('measures', 2), message='unknown')]
    """
    removed_paths = {problem.path for problem in earlier}
    return [SpecProblem(_restore_index(problem.path, removed_paths), problem.message) for problem in later]


def _restore_index(path: KeyPath, removed_paths: set[KeyPath]) -> KeyPath:
    for depth, part in enumerate(path):
        if isinstance(part, int):
            number = part
            for removed_index in sorted(
                removed_path[-1]
                for removed_path in removed_paths
                if removed_path[:-1] == path[:depth] and isinstance(removed_path[-1], int)
            ):
                number += number >= removed_index
            return (*path[:depth], number, *path[depth + 1 :])
    return path
