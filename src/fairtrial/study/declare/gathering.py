"""Mistakes that are gathered while something is made of many parts, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.declare.toml_places import Path


class Mistake(NamedTuple):
    """A mistake by its path: `("learners", "forest", "sampler")`."""

    path: Path
    message: str


class MistakesError(InputError):
    """Several mistakes at once, by their paths within what was being made."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = list(mistakes)
        super().__init__("; ".join(each.message for each in self.mistakes))


def mistakes_of(error: Exception, *place: str | int) -> list[Mistake]:
    """What an error tells, as mistakes at a place or below it."""
    found = error.mistakes if isinstance(error, MistakesError) else [Mistake((), str(error))]
    return [Mistake((*place, *each.path), each.message) for each in found]


class Gathering:
    """Goes on where something is wrong, and tells everything in the end.

    >>> gathering = Gathering()
    >>> with gathering.at("sampler"):
    ...     raise InputError("no sampler is called 'smoote'")
    >>> gathering.mistakes
    [Mistake(path=('sampler',), message="no sampler is called 'smoote'")]
    """

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """What goes wrong within belongs to this place, and does not stop the rest."""
        try:
            yield
        except FairtrialError as error:
            self.mistakes += mistakes_of(error, *place)

    def tell(self) -> None:
        """Raise all that was gathered, if anything was."""
        if self.mistakes:
            raise MistakesError(self.mistakes)
