"""Equal rows on both sides of the cut: how many, of the same class or of another, and how many chance alone would leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.two_sample import twins
from fairtrial.resampling.finding import Finding
from fairtrial.resampling.layout import MOST_SPLITS, Layout

_CHUNK = 16
_LEAST, _MOST = 19, 199
_WORK = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Leaks:
    """Test rows with an equal row in the training part, for each split: `same` class and `other` class.

    The expected numbers are means over random stratified folds of the same sizes (NaN for splits that are not examined); p is
    the share of those with at least as many in all, of which `drawn` were looked at (0 if no two rows are equal).
    """

    same: IntArray
    other: IntArray
    expected_same: FloatArray
    expected_other: FloatArray
    p_same: float
    p_other: float
    drawn: int


def leaks(layout: Layout, n_permutations: int, rng: np.random.Generator) -> Leaks:
    """Count equal rows across the cut.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [1.0], [2.0]], ["a", "b", "a", "a"]))
    >>> found = leaks(layout, 99, np.random.default_rng(0))
    >>> found.same.tolist(), found.other.tolist()
    ([1, 1], [1, 1])
    """
    rows, groups = equal_rows(layout.columns.values)
    splits = len(layout.splits)
    if len(rows) == 0:
        none = np.zeros(splits, dtype=np.intp)
        return Leaks(none, none, none.astype(np.float64), none.astype(np.float64), 1.0, 1.0, 0)
    counts = [_count(layout, rows, groups, start) for start in range(0, splits, MOST_SPLITS)]
    same, other = (np.concatenate([each[side] for each in counts]) for side in (0, 1))
    chance = _by_chance(layout, rows, groups, n_permutations, rng)
    expected = [np.full(splits, np.nan), np.full(splits, np.nan)]
    p = []
    for side, seen in enumerate((same, other)):
        expected[side][layout.examined] = chance[side].mean(axis=0)
        at_least = chance[side].sum(axis=1) >= seen[layout.examined].sum()
        p.append(float((1 + at_least.sum()) / (1 + len(at_least))))
    return Leaks(same, other, expected[0], expected[1], p[0], p[1], len(chance[0]))


def equal_rows(values: FloatArray) -> tuple[IntArray, IntArray]:
    """The rows that are equal to another one in all attributes (missing equals missing), and the number of their group.

    >>> rows, groups = equal_rows(np.array([[1.0, np.nan], [2.0, 3.0], [1.0, np.nan]]))
    >>> rows.tolist(), groups.tolist()
    ([0, 2], [0, 0])
    """
    plain = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0))
    whole = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    _, group, size = np.unique(whole, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[group] > 1)
    return rows, np.unique(group[rows], return_inverse=True)[1].astype(np.intp)


def _count(layout: Layout, rows: IntArray, groups: IntArray, start: int) -> tuple[IntArray, IntArray]:
    sides = layout.sides(np.arange(start, min(start + MOST_SPLITS, len(layout.splits))))[rows]
    same, other = _twins(layout, rows, groups, sides[None])
    return same[0], other[0]


def _twins(layout: Layout, rows: IntArray, groups: IntArray, sides: npt.NDArray[np.uint8]) -> tuple[IntArray, IntArray]:
    shape = (sides.shape[0], sides.shape[2])
    same, other = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
    twins(groups, layout.labels[rows], len(layout.classes), sides, same, other)
    return same, other


def _by_chance(
    layout: Layout, rows: IntArray, groups: IntArray, n_permutations: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The counts of random stratified folds: the sides of the rows of each class are handed out anew."""
    sides = layout.sides()
    affordable = _WORK // max(1, len(rows) * sides.shape[1])
    drawn = max(_LEAST, min(n_permutations, _MOST, affordable))
    chunks = [min(_CHUNK, drawn - start) for start in range(0, drawn, _CHUNK)]
    found = [_twins(layout, rows, groups, layout.dealt(rows, sides, size, rng)) for size in chunks]
    return np.concatenate([each[0] for each in found]), np.concatenate([each[1] for each in found])


def leak_findings(layout: Layout, found: Leaks, alpha: float) -> Iterator[Finding]:
    """What the counts show."""
    tested = sum(len(split.test) for split in layout.splits)
    kinds = (
        ("duplicates", found.same, found.expected_same, found.p_same, "an equal row of the same class"),
        ("conflicts", found.other, found.expected_other, found.p_other, "a row with equal attributes but another class"),
    )
    for check, seen, expected, p, what in kinds:
        if seen.sum() == 0:
            continue
        told = f"{seen.sum()} of {tested} test rows ({100 * seen.sum() / tested:.3g} %) have {what} in their training part"
        chance = f"random stratified folds have {_told(float(np.nansum(expected)))}" + (
            f" in {MOST_SPLITS} of {len(seen)} splits" if len(seen) > MOST_SPLITS else ""
        )
        if p <= alpha:
            text = f"{told}, more than by chance ({chance}; p = {p:.2g})."
        else:
            text = f"{told}, no more than by chance ({chance}): it is the data that repeat themselves."
        yield Finding("caution" if p <= alpha else "note", check, text)


def _told(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"
