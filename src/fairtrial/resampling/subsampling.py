"""Hold-out done again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from fairtrial._check import whole_number
from fairtrial.resampling.holdout import TestSize, checked_test_size, held_out
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Rows, Seed, Splitter


class RandomSubsampling(Splitter):
    """`n_splits` hold-outs, each drawn anew: a row may test several times or never. Each one is a repeat of its own.

    Use it where the sizes of training and test part matter, as in learning curves and the corrected resampled t test.

    >>> splits = RandomSubsampling(3, test_size=2, stratify=False, random_state=1).freeze(range(6))
    >>> [(len(train), len(test)) for train, test in splits]
    [(4, 2), (4, 2), (4, 2)]
    """

    def __init__(
        self, n_splits: int = 10, *, test_size: TestSize = 1 / 3, stratify: bool = True, random_state: Seed = None
    ) -> None:
        self.n_splits = whole_number("n_splits", n_splits, 1)
        self.test_size = checked_test_size(test_size)
        self.stratify = stratify
        self.random_state = random_state
        self._labels_classes = stratify

    def _splits(self, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        for repeat in range(self.n_splits):
            yield replace(held_out(self, self.test_size, self.stratify, rows, rng), repeat=repeat)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many hold-outs there are."""
        return self.n_splits
