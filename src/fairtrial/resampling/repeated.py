"""A scheme done again and again with other draws: 5x2, 10x10, any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fairtrial._check import whole_number
from fairtrial.errors import InputError
from fairtrial.resampling.kfold import KFold
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Rows, Seed, Splitter
from fairtrial.resampling.stratified import StratifiedKFold


class Repeated(Splitter):
    """`splitter`, `n_repeats` times, each time with other draws. More repeats leave the earlier ones as they are.

    The seed is given here or to the splitter, not to both.

    >>> splits = Repeated(KFold(2), 3, random_state=1).freeze(range(10))
    >>> print(splits)
    Repeated(splitter=KFold(n_splits=2), n_repeats=3, random_state=1): 6 splits in 3 repeats of 10 rows, test parts of 5
    >>> [(part.repeat, part.fold) for part in splits]
    [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    """

    def __init__(self, splitter: Splitter, n_repeats: int = 10, *, random_state: Seed = None) -> None:
        if not isinstance(splitter, Splitter):
            raise InputError(f"splitter must be a splitter of fairtrial, got {type(splitter).__name__}: pass KFold(5), say")
        if not splitter._draws:
            raise InputError(f"splitter must draw at random, got {splitter!r}: all its repeats would be the same")
        if random_state is not None and splitter._seeded:
            raise InputError(f"random_state must be given once, got {random_state!r} and {splitter!r}: leave one out")
        self.splitter = splitter
        self.n_repeats = whole_number("n_repeats", n_repeats, 1)
        self.random_state = random_state
        self._labels_classes = splitter._labels_classes
        self._labels_groups = splitter._labels_groups

    @property
    def _seeded(self) -> bool:
        return super()._seeded or self.splitter._seeded

    def _generator(self, instead: Seed = None) -> np.random.Generator:
        if instead is None and self.random_state is None:
            return self.splitter._generator()
        return super()._generator(instead)

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        first = 0
        for _ in range(self.n_repeats):
            last = first
            for part in self.splitter._splits(rows, rng):
                last = first + part.repeat
                yield replace(part, repeat=last)
            first = last + 1

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits all repeats have together."""
        return self.n_repeats * self.splitter.get_n_splits(X, y, groups)


class FiveByTwo(Repeated):
    """Five times two halves (Dietterich 1998), stratified unless told otherwise: what the 5x2cv tests need.

    >>> FiveByTwo(random_state=1).get_n_splits()
    10
    """

    def __init__(self, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.stratify = stratify
        super().__init__((StratifiedKFold if stratify else KFold)(2), 5, random_state=random_state)


class TenByTen(Repeated):
    """Ten times ten folds, stratified unless told otherwise: WEKA's habit, for the corrected repeated t test.

    >>> TenByTen(stratify=False).get_n_splits()
    100
    """

    def __init__(self, *, stratify: bool = True, random_state: Seed = None) -> None:
        self.stratify = stratify
        super().__init__((StratifiedKFold if stratify else KFold)(10), 10, random_state=random_state)
