"""A line of the catalogue: what a data set is called, where it comes from and how it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fairtrial.data.dataset import Dataset


@dataclass(frozen=True)
class Facts:
    """What is known of a data set before it is loaded; None is not known."""

    rows: int | None = None
    attributes: int | None = None
    classes: int | None = None


@dataclass(frozen=True)
class Entry:
    """A data set that can be loaded. `count` tells what is known of it, and is asked only when the catalogue is listed.

    >>> Entry("two", "here", lambda: None).address
    'here/two'
    """

    name: str
    source: str
    open: Callable[[], Dataset] = field(repr=False, compare=False)
    count: Callable[[], Facts] = field(default=Facts, repr=False, compare=False)
    path: str = ""

    @property
    def address(self) -> str:
        """The name that is unique: source/name."""
        return f"{self.source}/{self.name}"
