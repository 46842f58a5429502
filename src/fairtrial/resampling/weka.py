"""Folds as in the software WEKA, to reproduce published experiments with the same splits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fairtrial._check import IntArray, check_whole_number
from fairtrial.errors import InputError
from fairtrial.kernels.randomness import JavaRandom
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import FoldSplitter, SplitterInput, scheme


@scheme("weka", cite="Witten & Frank 2005")
class WekaFolds(FoldSplitter):
    """Stratified folds exactly as in WEKA, with the training rows in the same order.

    Parameters
    ----------
    n_splits : int, default 10
        Number of folds.
    random_state : int, default 1
        Seed, as in WEKA.

    Examples
    --------
    >>> splits = WekaFolds(2, random_state=1).freeze(list(range(6)), ["a", "a", "a", "b", "b", "b"])
    >>> [split.test.tolist() for split in splits]
    [[4, 3, 2], [5, 1, 0]]
    """

    _uses_classes = True
    _keeps_seed = True

    def __init__(self, n_splits: int = 10, *, random_state: int = 1) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 2)
        if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
            raise InputError(f"random_state must be an integer (the seed of WEKA), got {random_state!r}")
        self.random_state = self._seed = int(random_state)

    def _for_repeat(self, repeat: int) -> WekaFolds:
        """Add the number of the repeat to the seed, as WEKA's Experimenter does."""
        return WekaFolds(self.n_splits, random_state=self._seed + repeat)

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        if rows.n < self.n_splits:
            raise InputError(f"n_splits must be at most {rows.n}, the number of rows, got {self.n_splits}")
        source = JavaRandom(self._seed)
        order = list(range(rows.n))
        source.shuffle(order)
        order = _order_by_fold(_order_by_class(order, rows.require_classes("WekaFolds")), self.n_splits)
        starts = np.cumsum([0, *(rows.n // self.n_splits + (fold < rows.n % self.n_splits) for fold in range(self.n_splits))])
        for fold in range(self.n_splits):
            train = order[: starts[fold]] + order[starts[fold + 1] :]
            source.shuffle(train)
            yield Split(
                np.array(train, dtype=np.intp), np.array(order[starts[fold] : starts[fold + 1]], dtype=np.intp), 0, fold
            )


def _order_by_class(order: list[int], codes: IntArray) -> list[int]:
    """Sort rows by class with the same swaps as WEKA, beginning with the class of the first row."""
    order = order.copy()
    position = 1
    while position < len(order):
        leader = codes[order[position - 1]]
        for candidate in range(position, len(order)):
            if codes[order[candidate]] == leader:
                order[position], order[candidate] = order[candidate], order[position]
                position += 1
        position += 1
    return order


def _order_by_fold(order: list[int], n_splits: int) -> list[int]:
    """Take every n-th row, starting at the first row, then at the second row, and so on."""
    return [row for start in range(n_splits) for row in order[start::n_splits]]
