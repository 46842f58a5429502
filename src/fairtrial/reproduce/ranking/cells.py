"""The cells of Table 1: a data set in an experiment, repeated; finished ones are kept and found again."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.ranking.coded import Coded
from fairtrial.reproduce.ranking.measure_words import HANDS_SEVERITY_RATIO, MEASURES
from fairtrial.reproduce.ranking_kernels import DENSITIES, INTERVALS, Classes, NoisePlan, run_noisy_folds
from fairtrial.study.randomness import derive_seed

SHARE, FOLDS = 0.1, 10
WITHOUT_NOISE = 0
_PROTOCOL = 1
_CHUNK = 50
# Means over folds are sums of ten quotients: what is equal may differ in the last digits.
_SAME = 1e-12
_UNDEFINED = 255  # in files, where errors are kept doubled
Means = FloatArray
"""Repeats x (naive Bayes, with scores replaced) x measures."""


class Joined(Protocol):
    """A measure of someone else's; direction is 1 where more is better, -1 where less is."""

    @property
    def direction(self) -> int:
        """1 or -1."""

    def __call__(self, truths: Classes, scores: FloatArray, ends: Sequence[int]) -> FloatArray:
        """Of truths (repeats x rows), scores (repeats x 2 x rows) and where folds end: repeats x 2."""


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open."""

    name: str
    words: str
    style: int = INTERVALS
    stratified: bool = False
    cut: bool = False
    severity_ratio: float = HANDS_SEVERITY_RATIO

    def plan(self, experiment: int) -> NoisePlan:
        """For the kernel."""
        return NoisePlan(experiment, SHARE, FOLDS, self.style, self.stratified, self.cut, self.severity_ratio)


CHOSEN = Reading(
    "chosen", "as chosen before any comparison: naive Bayes after WEKA, plain folds, 10 % rounded, H with Beta(2, 2)"
)
OTHERS = (
    Reading("e1071", "naive Bayes as in R's package e1071: densities, counts without a first one", style=DENSITIES),
    Reading("stratified", "stratified folds", stratified=True),
    Reading("cut", "10 % rounded down, as R's sample() does with a size that is not whole", cut=True),
    Reading(
        "severity", "H with the costs of R's package hmeasure: Beta(2, 1 + negatives / positives)", severity_ratio=math.nan
    ),
)


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of a cell: each repeat's errors (repeats x measures: 0, 0.5 or 1, NaN where a measure is undefined), and the mean value
    of each measure for naive Bayes.

    `deviations` are the standard deviations of these values over repeats; NaN where they were not kept.
    """

    dataset: str
    experiment: int
    errors: FloatArray
    values: FloatArray
    deviations: FloatArray

    @property
    def rates(self) -> FloatArray:
        """The error rate of each measure, over the repeats in which it is defined; NaN where there is none."""
        return _mean_values(self.errors)

    @property
    def defined(self) -> tuple[int, ...]:
        """In how many repeats each measure is defined."""
        return tuple(int(count) for count in (~np.isnan(self.errors)).sum(axis=0))


def outcome(
    data: Coded, experiment: int, reading: Reading, repeats: int, seed: int, folder: Path, joined: Sequence[Joined] = ()
) -> Outcome:
    """The cell, from the folder if it has been finished before. What joins is always computed: its code may have changed."""
    told = (_PROTOCOL, data.content_hash, data.name, experiment, *reading.plan(experiment), repeats, seed)
    key = hashlib.sha256(repr(told).encode()).hexdigest()[:16]
    path = folder / f"{data.name.lower()}-{experiment}-{reading.name}-{key}.npz"
    kept = _read(path, whole=experiment == WITHOUT_NOISE) if not joined else None
    if kept is None:
        means = _means(data, experiment, reading, repeats, seed, joined)
        errors = errors_of(means, [*(1 for _ in MEASURES), *(each.direction for each in joined)])
        kept = errors, _mean_values(means[:, 0]), _deviations(means[:, 0])
        if not joined:
            _write(path, *kept)
    return Outcome(data.name, experiment, *kept)


def errors_of(means: Means, directions: Sequence[int] | None = None) -> FloatArray:
    """1 where the replaced scores come out better, 0.5 where both are alike, NaN where one of them is undefined.

    Directions are 1, or -1 for losses.

    >>> errors_of(np.array([[[0.8], [0.9]], [[0.8], [0.8]], [[0.8], [0.7]]])).tolist()
    [[1.0], [0.5], [0.0]]
    """
    with np.errstate(invalid="ignore"):  # infinity less infinity
        ahead = (means[:, 1] - means[:, 0]) * (np.ones(means.shape[2]) if directions is None else np.asarray(directions))
    return np.where(np.isnan(ahead), np.nan, np.where(ahead > _SAME, 1.0, np.where(ahead < -_SAME, 0.0, 0.5)))


def _means(data: Coded, experiment: int, reading: Reading, repeats: int, seed: int, joined: Sequence[Joined]) -> Means:
    n, stream = len(data.classes), derive_seed(seed, "ranking-real", data.name, experiment) & 0xFFFFFFFFFFFFFFFF
    ends = np.cumsum([len(range(fold, n, FOLDS)) for fold in range(FOLDS)]).tolist()
    found = []
    for first in range(0, repeats, _CHUNK):
        size = min(_CHUNK, repeats - first)
        means, truths, scores = np.empty((size, 2, len(MEASURES))), np.empty((size, n), np.uint8), np.empty((size, 2, n))
        plan = reading.plan(experiment)
        run_noisy_folds(data.codes, data.classes, data.columns, plan, np.uint64(stream), first, means, truths, scores)
        own = [each(truths, scores, ends) for each in joined]
        found.append(np.concatenate([means, *(each[:, :, None] for each in own)], axis=2))
    return np.concatenate(found)


def _mean_values(values: FloatArray) -> FloatArray:
    """Means over the repeats in which a measure is defined; NaN with none of them."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=0)
    return np.asarray(np.where(count > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan))


def _deviations(values: FloatArray) -> FloatArray:
    """Standard deviations over the repeats in which a measure is defined; NaN with fewer than two of them."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        apart = np.where(defined, values - _mean_values(values), 0.0)
    count = defined.sum(axis=0)
    return np.asarray(np.where(count > 1, np.sqrt((apart**2).sum(axis=0) / np.maximum(count - 1, 1)), np.nan))


def _read(path: Path, *, whole: bool) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """What was kept; None where nothing was, or where it cannot be read, or lacks deviations though they are wanted."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            values = kept["values"]
            known = whole or "deviations" in kept
            doubled = kept["doubled"]
            errors = np.where(doubled == _UNDEFINED, np.nan, doubled / 2.0)
            return errors, values, kept["deviations"] if known else np.full(len(values), np.nan)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def _write(path: Path, errors: FloatArray, values: FloatArray, deviations: FloatArray) -> None:
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        doubled = np.where(np.isnan(errors), _UNDEFINED, 2 * errors).astype(np.uint8)
        np.savez_compressed(file, doubled=doubled, values=values, deviations=deviations)
    unfinished.replace(path)
