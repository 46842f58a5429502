"""Placements of the rows of a large file by two models at once, read batch by batch: all that DeLong's test needs.

Only the scores of the rarer class are held. Every other score stands on one of them or between two: how many of the rarer class
lie below each common row follows, and how many common rows lie below each rare one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.sorting import order
from fairtrial.study.predictions.large_file import LargeFile

MOST_MARKS = 1 << 22
"""So many rows of the rarer class are placed exactly; of more, marks stand at so many of their quantiles."""


class RankContrast(NamedTuple):
    """The first AUC less the second, the variance of this difference, and whether every placement is exact."""

    estimate: float
    variance: float
    positives: int
    negatives: int
    exact: bool


def rank_contrast(file: LargeFile, lines: str, positive: int) -> RankContrast:
    """Two models on the same rows; `lines` is SQL that gives truth t and scores s1 and s2. NaN with a class below two rows.

    The rows are written to a table, which spills to disk, so that models are joined once.
    """
    file.rows(f"CREATE OR REPLACE TEMP TABLE met AS SELECT t = {positive} AS p, s1, s2 FROM {lines}")
    try:
        return _contrast(file)
    finally:
        file.rows("DROP TABLE met")


def _contrast(file: LargeFile) -> RankContrast:
    positives, negatives = file.rows("SELECT count(*) FILTER (WHERE p), count(*) FILTER (WHERE NOT p) FROM met")[0]
    if min(positives, negatives) < 2:
        return RankContrast(math.nan, math.nan, positives, negatives, True)
    few, many = sorted((positives, negatives))
    rare, common = ("p", "NOT p") if positives <= negatives else ("NOT p", "p")
    marks = [_marks(file, column, rare, few) for column in ("s1", "s2")]
    exact = few <= MOST_MARKS or _all_marked(file, marks, rare)
    rows = _Rows(file, marks)
    own, _ = rows.counted(rare)
    others, over_common = rows.counted(common, own)
    over_rare = rows.spread(rare, others)
    mean, variance = 0.0, 0.0
    for sums, size in ((over_common, few), (over_rare, many)):
        mean = sums.mean / (2 * size)
        variance += sums.squares / (2 * size) ** 2 / (sums.rows - 1) / sums.rows
    return RankContrast(mean if rare == "p" else -mean, variance, positives, negatives, exact)


def _marks(file: LargeFile, column: str, rare: str, rows: int) -> FloatArray:
    """The different scores of the rarer class, ascending, or of very many rows those at equal steps."""
    step, seen = -(-rows // MOST_MARKS), 0
    parts: list[FloatArray] = []
    for (scores,) in file.batches(f"SELECT {column} FROM met WHERE {rare} ORDER BY {column}"):
        parts.append(_different(scores[-seen % step :: step]))
        seen += len(scores)
    return _different(np.concatenate(parts))


def _different(ascending: FloatArray) -> FloatArray:
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(ascending) else ascending


def _all_marked(file: LargeFile, marks: Sequence[FloatArray], rare: str) -> bool:
    """Whether the rarer class has no scores but the marks."""
    different = file.rows(f"SELECT count(DISTINCT s1), count(DISTINCT s2) FROM met WHERE {rare}")[0]
    return all(len(each) == count for each, count in zip(marks, different, strict=True))


class _Sums:
    """Mean and sum of squared deviations of values that come in parts."""

    def __init__(self) -> None:
        self.rows, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, values: FloatArray) -> None:
        """Chan's rule for parts: nothing large is subtracted."""
        if not len(values):
            return
        rows, mean = self.rows + len(values), float(values.mean())
        apart = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + apart**2 * self.rows * len(values) / rows
        self.mean += apart * len(values) / rows
        self.rows = rows


class _Rows:
    """The rows of the table by slots: slot 2i lies below mark i, slot 2i + 1 on it."""

    def __init__(self, file: LargeFile, marks: Sequence[FloatArray]) -> None:
        self.file, self.marks = file, marks

    def _slots(self, which: str) -> Iterator[list[IntArray]]:
        for batch in self.file.batches(f"SELECT s1, s2 FROM met WHERE {which}"):
            yield [_slots(marks, scores) for marks, scores in zip(self.marks, batch, strict=True)]

    def counted(self, which: str, below: Sequence[FloatArray] = ()) -> tuple[list[FloatArray], _Sums]:
        """For each slot, twice the rows of a class below it (those in it half); and what `spread` gives of that class."""
        counts, sums = [np.zeros(2 * len(marks) + 1) for marks in self.marks], _Sums()
        for slots in self._slots(which):
            for count, slot in zip(counts, slots, strict=True):
                np.add.at(count, slot, 1.0)
            if below:
                sums.add(below[0][slots[0]] - below[1][slots[1]])
        return [_twice_below(count) for count in counts], sums

    def spread(self, which: str, below: Sequence[FloatArray]) -> _Sums:
        """The contrast of the two placements, over the rows of a class; `below` is what `counted` gives of the other one."""
        sums = _Sums()
        for slots in self._slots(which):
            sums.add(below[0][slots[0]] - below[1][slots[1]])
        return sums


def _slots(marks: FloatArray, scores: FloatArray) -> IntArray:
    """Sorted scores are looked up ten times faster than scores in disorder."""
    ascending = order(scores)
    scores = scores[ascending]
    place = np.searchsorted(marks, scores)
    found = np.empty(len(scores), dtype=np.intp)
    found[ascending] = 2 * place + (marks[np.minimum(place, len(marks) - 1)] == scores)
    return found


def _twice_below(counts: FloatArray) -> FloatArray:
    """In whole numbers, which floats hold exactly: equal placements differ by nothing."""
    found = np.cumsum(counts)
    found *= 2
    found -= counts
    return found
