"""Lines on how far a long simulation is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def counted(found: Iterable[T], what: str, total: int, progress: bool | None) -> Iterator[T]:
    """The same things, with a line on stderr for each as it comes; `progress` None tells only on a terminal.

    >>> list(counted(iter("ab"), "cell", 2, progress=False))
    ['a', 'b']
    """
    terminal = sys.stderr is not None and sys.stderr.isatty()
    shown = terminal if progress is None else progress
    for number, each in enumerate(found, 1):
        if shown:
            print(f"estimates: {what} {number} of {total}", file=sys.stderr, flush=True)
        yield each
