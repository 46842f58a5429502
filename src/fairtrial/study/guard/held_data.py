"""The data sets that this process holds, so that each reaches it once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtrial.data import Dataset

MOST_SETS = 256
MOST_BYTES = 1 << 30

held: dict[str, Dataset] = {}
"""By content hash, the one used last at the end. The oldest go when there are too many, or too much of them."""

_sizes: dict[str, int] = {}
_lock = threading.Lock()


def hold(dataset: Dataset) -> None:
    """Keep a data set for the chunks to come.

    >>> import fairtrial
    >>> iris = fairtrial.data.load("iris")
    >>> hold(iris)
    >>> find(iris.content_hash) == iris, find("another")
    (True, None)
    """
    key = dataset.content_hash
    with _lock:
        known = held.pop(key, dataset)
        held[key] = known
        if key not in _sizes:
            _sizes[key] = int(dataset.X.memory_usage(index=False).sum())
        while len(held) > MOST_SETS or (len(held) > 1 and sum(_sizes.values()) > MOST_BYTES):
            oldest = next(iter(held))
            del held[oldest], _sizes[oldest]


def find(key: str) -> Dataset | None:
    """The data set of this content hash, if it is here; it counts as used now."""
    with _lock:
        found = held.pop(key, None)
        if found is not None:
            held[key] = found
        return found
