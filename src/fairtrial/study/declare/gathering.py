"""Mistakes that are gathered while something is made of many parts, each with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.declare.toml_places import Path

T = TypeVar("T")


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


def made_of(make: Callable[[dict[str, Any]], T], options: Mapping[str, Any], *, needed: tuple[str, ...] = ()) -> T:
    """What `make` makes of options. One that it refuses is left out and the rest tried again, so that all are told.

    Without one that is `needed` nothing can be tried. What is told of others for want of one that was left out does not count.

    >>> def half(options):
    ...     for name, value in options.items():
    ...         if value % 2:
    ...             raise InputError(f"{name} must be even, got {value}")
    >>> made_of(half, {"a": 1, "b": 2, "c": 3})
    Traceback (most recent call last):
    fairtrial.study.declare.gathering.MistakesError: a must be even, got 1; c must be even, got 3
    """
    rest, mistakes = dict(options), list[Mistake]()
    while True:
        try:
            made = make(rest)
        except (FairtrialError, OSError, TypeError, ValueError) as error:
            if _follows(str(error), mistakes):
                raise MistakesError(mistakes) from None
            key = _named(str(error), rest)
            if key is None or isinstance(error, MistakesError):
                raise MistakesError([*mistakes, *mistakes_of(error)]) from None
            mistakes.append(Mistake((key,), str(error)))
            if key in needed:
                raise MistakesError(mistakes) from None
            del rest[key]
            continue
        if mistakes:
            raise MistakesError(mistakes)
        return made


def _named(message: str, options: Mapping[str, Any]) -> str | None:
    """The option that a message is about."""
    for key in options:
        words = (f"parameter {key!r}", f"option {key!r}", f"no {key} is called")
        if message.startswith(f"{key} ") or any(each in message for each in words):
            return key
    return None


def _follows(message: str, mistakes: list[Mistake]) -> bool:
    """Whether a message is about what was left out before."""
    return any(re.search(rf"\b{re.escape(str(each.path[0]))}\b", message) for each in mistakes)
