"""Whether learners differ most on the same sets: the overlap of their top sets beside what chance gives."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

TOP = 5
_LEVEL = 0.05


def overlap_words(frame: pd.DataFrame) -> tuple[bool | None, str]:
    """Whether the sets with the largest differences have nothing in common, and the numbers behind it.

    Not so, where two learners share significantly more than independent learners would; so, where none is shared and chance
    alone would seldom give that.
    """
    known = frame.dropna()
    top = min(TOP, len(known))
    shared = shared_of(known, top)
    if not shared:
        return None, "no two learners ran on the same sets"
    chance = by_chance(len(known), top, known.shape[1])
    p = sum(each for total, each in chance.items() if total >= sum(shared))
    told = (
        f"two learners share {np.mean(shared):.1f} of their {top} on average; independent ones would share "
        f"{top**2 / len(known):.1f}, and so much or more with a probability of {p:.4f}"
    )
    if p < _LEVEL:
        return False, told
    return (True if max(shared) == 0 and chance[0] < _LEVEL else None), told


def shared_of(frame: pd.DataFrame, top: int) -> list[int]:
    """For each pair of learners: how many of their top sets they share; none where there are no sets."""
    best = [set(own.abs().nlargest(top).index) for _, own in frame.items()] if len(frame) else []
    return [len(first & second) for first, second in combinations(best, 2)]


@cache
def by_chance(sets: int, top: int, learners: int) -> dict[int, float]:
    """How likely it is that the pairs of learners share so many sets in all, where each learner's top sets are drawn by lot.

    The pairs are not independent: learners draw one after the other, and a state counts the sets that none, one, two ... of
    them have drawn.

    >>> {total: round(p, 4) for total, p in by_chance(4, 2, 2).items()}  # hypergeometric: 1, 4 and 1 of 6
    {0: 0.1667, 1: 0.6667, 2: 0.1667}
    """
    states = {(sets, *[0] * learners): 1.0}
    for _ in range(learners):
        after: dict[tuple[int, ...], float] = {}
        for state, p in states.items():
            for picked in _picks(state[:-1], top):
                new = tuple(np.add(state, np.subtract((0, *picked), (*picked, 0))).tolist())
                ways = prod(comb(have, take) for have, take in zip(state, picked, strict=False))
                after[new] = after.get(new, 0.0) + p * ways / comb(sets, top)
        states = after
    found: dict[int, float] = {}
    for state, p in states.items():
        total = sum(have * comb(times, 2) for times, have in enumerate(state))
        found[total] = found.get(total, 0.0) + p
    return dict(sorted(found.items()))


def _picks(available: tuple[int, ...], count: int) -> Iterator[tuple[int, ...]]:
    """All ways to take so many, by kinds.

    >>> list(_picks((2, 1), 2))
    [(1, 1), (2, 0)]
    """
    if not available:
        if not count:
            yield ()
        return
    for take in range(min(available[0], count) + 1):
        for rest in _picks(available[1:], count - take):
            yield (take, *rest)
