"""Training size: train on fewer rows, for learning curves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fairtrial._check import IntArray, check_number
from fairtrial._text import format_count, format_percentage
from fairtrial.conditions.condition import Changed, Condition, Part, condition, count_rows, round_count
from fairtrial.conditions.labels import read_labels
from fairtrial.conditions.shift import take_rows
from fairtrial.errors import InputError


@condition("train-size")
@dataclass(frozen=True)
class TrainSize(Condition):
    """Training size: keep a stratified random sample of the training rows.

    Smaller samples are subsets of larger ones if they are drawn with the same seed, as in a study. Each class keeps its
    proportion up to rounding. Each class keeps at least one row if the sample has at least as many rows as there are classes.

    Parameters
    ----------
    level : float
        Proportion of the training rows to keep (up to 1), or number of rows to keep (above 1). A level of 1 leaves the data
        unchanged.
    part : {"train"}
        Data that the condition changes: the training set.

    Examples
    --------
    >>> sizes = [len(TrainSize(level).apply([[x] for x in range(20)], ["a", "b"] * 10, rng=1).y) for level in (0.1, 0.5, 15)]
    >>> sizes
    [2, 10, 15]
    >>> print(TrainSize(0.1))
    10 % of the rows in the training set
    """

    level: float
    part: Part = field(default="train", kw_only=True)

    _shared_draws: ClassVar[Mapping[str, Any]] = {"level": 1.0}

    def _check(self) -> None:
        check_number("level", self.level)
        if not 0 < self.level < np.inf:
            raise InputError(f"level must be a proportion above 0 or a number of rows, got {self.level!r}")
        if self.level > 1 and self.level != int(self.level):
            raise InputError(f"level must be a proportion up to 1 or a whole number of rows, got {self.level!r}")
        if self.part != "train":
            raise InputError(f"part must be 'train' for train-size, which does not change the test set, got {self.part!r}")

    @property
    def is_clean(self) -> bool:
        """Whether all rows are kept."""
        return self.level == 1

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        size = max(1, round_count(self.level, n)) if self.level <= 1 else int(self.level)
        if size > n:
            raise InputError(f"level must be at most the number of training rows, {n}, got {size}: choose smaller sizes")
        codes = np.zeros(n, dtype=np.intp) if y is None else read_labels(y).codes
        rows = np.sort(order_by_stratum(codes, rng)[:size])
        mask = np.ones(n, dtype=bool)
        mask[rows] = False
        realised = size / n if self.level <= 1 else float(size)
        return Changed(take_rows(X, rows), None if y is None else take_rows(y, rows), mask, realised, rows)

    def _describe_change(self) -> str:
        return f"{format_percentage(self.level)} of the rows" if self.level <= 1 else format_count(int(self.level), "row")


def order_by_stratum(codes: IntArray, rng: np.random.Generator) -> IntArray:
    """Order rows at random such that the first m rows are a stratified sample for every m.

    The first m rows contain each class at least once if m is at least the number of classes.

    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> order = order_by_stratum(codes, np.random.default_rng(0))
    >>> [codes[order[:size]].tolist().count(1) for size in (2, 3, 6, 9)]
    [1, 1, 2, 3]
    """
    positions = np.empty(len(codes))
    is_first = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = rng.permutation(np.flatnonzero(codes == code))
        positions[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        is_first[rows[0]] = True
    return np.lexsort((rng.random(len(codes)), positions, ~is_first))
