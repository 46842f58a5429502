"""Description lengths in bits: of a rule, and of the exceptions to a list of rules (Cohen 1995, after Quinlan)."""

from __future__ import annotations

import math
from dataclasses import dataclass

SMALL = 1e-6
_LOG_2 = math.log(2.0)
_REDUNDANCY = 0.5
# Keeps an expected error rate of one, which no code can have, from giving infinity.
_NEARLY_ONE = 1 - 1e-12


@dataclass(frozen=True)
class Counts:
    """Rows that rules cover, and those left; the negatives among the first, and the positives among the second."""

    covered: int
    left: int
    wrong: int
    missed: int

    def without(self, other: Counts) -> Counts:
        """When a rule with these counts of its own is gone."""
        right = other.covered - other.wrong
        return Counts(self.covered - other.covered, self.left + other.covered, self.wrong - other.wrong, self.missed + right)


def _log(value: float) -> float:
    return math.log(value) / _LOG_2


def subset_length(total: float, chosen: float, rate: float) -> float:
    """Bits that tell which `chosen` of `total` elements are meant, when both sides know the expected rate."""
    rate = min(rate, _NEARLY_ONE) if chosen < total else rate
    inside = -chosen * _log(rate) if rate > SMALL else 0.0
    return inside - (total - chosen) * _log(1 - rate) if chosen < total else inside


def rule_length(size: int, possible: int) -> float:
    """Bits for a rule of so many conditions out of all possible ones, halved because conditions are redundant.

    >>> round(rule_length(2, 100), 3)
    7.572
    """
    if size == 0:
        return 0.0
    bits = _log(size)
    if size > 1:
        bits += 2 * _log(bits)
    return _REDUNDANCY * (bits + subset_length(possible, size, size / possible))


def exceptions_length(share: float, counts: Counts) -> float:
    """Bits for the errors of rules whose expected share of false positives among all errors is `share`."""
    errors = counts.wrong + counts.missed
    bits = _log(counts.covered + counts.left + 1)
    if counts.covered > counts.left:
        bits_covered = subset_length(counts.covered, counts.wrong, share * errors / counts.covered)
        bits_left = subset_length(counts.left, counts.missed, counts.missed / counts.left) if counts.left else 0.0
    else:
        bits_covered = subset_length(counts.covered, counts.wrong, counts.wrong / counts.covered) if counts.covered else 0.0
        bits_left = subset_length(counts.left, counts.missed, (1 - share) * errors / counts.left)
    return bits + bits_covered + bits_left
