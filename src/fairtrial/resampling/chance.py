"""Which statistics are beyond chance: permutation p values, adjusted for all that were looked at.

Each statistic is standardised by its own permutations. Within a family (energy distances, AUCs, attributes, outlying) the
largest counts (Westfall & Young's max T); between families the smallest p does. The given splits stand among the permutations
as one of them, so that the chance of *any* finding under random stratified folds is at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.resampling.shift import AUC, ENERGY, OUTLYING, OUTLYING_FOLD, Cells

_ALIKE = {ENERGY, AUC}
_EITHER_WAY = {OUTLYING, OUTLYING_FOLD}


@dataclass(frozen=True, eq=False)
class Judged:
    """The cells of one statistic with what chance gives: mean, limits of the central 95 %, p of each alone and adjusted."""

    cells: Cells
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    p_adjusted: FloatArray


@dataclass(frozen=True)
class Alike:
    """Whether the parts are more alike than by chance: the mean of a statistic, what chance gives, and adjusted p."""

    check: str
    mean: float
    expected: float
    p_adjusted: float


def judge(cells: Sequence[Cells]) -> tuple[list[Judged], list[Alike]]:
    """Judge all cells together.

    >>> values = np.vstack([[9.0, 5.0], np.random.default_rng(0).normal(size=(99, 2))])
    >>> found, _ = judge([Cells("energy distance", values, np.arange(2), np.zeros(2, int), np.full(2, -1))])
    >>> found[0].p_adjusted.tolist()
    [0.01, 0.01]
    """
    if not cells:
        return [], []
    scores = [_standardised(each) for each in cells]
    families: dict[str, FloatArray] = {}
    for each, z in zip(cells, scores, strict=True):
        name = _family(each)
        top = z.max(axis=1)
        families[name] = np.maximum(families[name], top) if name in families else top
    means = {name: _mean_score(name, cells, scores) for name in _ALIKE if any(_of_a_class(each, name) for each in cells)}
    alike = {f"alike: {name}": -mean for name, mean in sorted(means.items())}
    ranks = {name: _p_values(top, top) for name, top in (families | alike).items()}
    smallest = np.min(list(ranks.values()), axis=0)
    judged = [
        _judged(each, z, _among(smallest, _p_values(families[_family(each)], z[0])))
        for each, z in zip(cells, scores, strict=True)
    ]
    return judged, [_alike(name, cells, float(_among(smallest, ranks[f"alike: {name}"][:1])[0])) for name in sorted(means)]


def families_of(cells: Sequence[Cells]) -> int:
    """How many families share the chance of a false finding: those of the cells, and those of folds that are too alike."""
    return len({_family(each) for each in cells}) + sum(any(_of_a_class(each, name) for each in cells) for name in _ALIKE)


def _family(cells: Cells) -> str:
    if cells.check in {ENERGY, AUC}:
        return cells.check
    return OUTLYING if cells.check in _EITHER_WAY else "attributes"


def _standardised(cells: Cells) -> FloatArray:
    """Distance from the mean of the permutations in standard deviations, rounded so that equal statistics stay equal.

    Outlying splits count either way. What is undefined or never varies is no evidence: zero.
    """
    values = cells.values.astype(np.float64)
    mean, spread = values.mean(axis=0), values.std(axis=0)
    still = ~(spread > 1e-6 * np.abs(values).max(axis=0, initial=0.0))
    z = np.where(still, 0.0, (values - mean) / np.where(still, 1.0, spread))
    return np.asarray(np.round(np.abs(z) if cells.check in _EITHER_WAY else z, 6), dtype=np.float64)


def _of_a_class(cells: Cells, name: str) -> bool:
    """Whether this is the statistic within a class: parts are made alike there."""
    return cells.check == name and bool((cells.label >= 0).all())


def _mean_score(name: str, cells: Sequence[Cells], scores: Sequence[FloatArray]) -> FloatArray:
    chosen = [z for each, z in zip(cells, scores, strict=True) if _of_a_class(each, name)]
    return np.asarray(np.round(np.concatenate(chosen, axis=1).mean(axis=1), 6))


def _p_values(reference: FloatArray, seen: FloatArray) -> FloatArray:
    """The share of the reference that is at least as large as each of these."""
    ordered = np.sort(reference)
    return np.asarray(1 - np.searchsorted(ordered, seen, side="left") / len(ordered))


def _among(smallest: FloatArray, p: FloatArray) -> FloatArray:
    """The share of permutations whose smallest p is at most as large: p adjusted for the number of families."""
    return np.asarray(np.searchsorted(np.sort(smallest), p + 1e-12, side="right") / len(smallest))


def _judged(cells: Cells, z: FloatArray, p_adjusted: FloatArray) -> Judged:
    values = cells.values
    low, high = np.quantile(values, [0.025, 0.975], axis=0)
    p = (z >= z[0]).mean(axis=0)
    undefined = np.isnan(values[0])
    p, p_adjusted = np.where(undefined, np.nan, p), np.where(undefined, np.nan, p_adjusted)
    return Judged(cells, values.mean(axis=0, dtype=np.float64), low, high, p, p_adjusted)


def _alike(name: str, cells: Sequence[Cells], p_adjusted: float) -> Alike:
    values = np.concatenate([each.values for each in cells if _of_a_class(each, name)], axis=1)
    defined = values[:, ~np.isnan(values).any(axis=0)]
    if defined.shape[1] == 0:
        return Alike(name, float("nan"), float("nan"), 1.0)
    return Alike(name, float(defined[0].mean()), float(defined.mean()), p_adjusted)
