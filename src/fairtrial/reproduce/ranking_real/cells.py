"""The cells of Table 1: repeats on one data set with one kind of noise."""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.ranking_errors import HANDS_SEVERITY_RATIO, MEASURES
from fairtrial.reproduce.ranking_kernels import DENSITIES, INTERVALS, Classes, NoisePlan, run_noisy_folds
from fairtrial.reproduce.ranking_real.datasets import EncodedDataset
from fairtrial.study.randomness import derive_seed

WITHOUT_NOISE = 0
NOISY_EXPERIMENTS = (1, 2, 3, 4)
_PROPORTION, _FOLDS = 0.1, 10
_FORMAT = 1  # version of saved cells
_CHUNK = 50
_TOLERANCE = 1e-12  # equal means over ten folds may differ in the last digits
_UNDEFINED = 255  # code of NaN in files, which store errors times two


class FurtherMeasure(Protocol):
    """A measure that is compared in addition to the paper's six measures."""

    @property
    def direction(self) -> int:
        """1 if higher values are better, otherwise -1."""

    def __call__(self, y_true: Classes, scores: FloatArray, ends: Sequence[int]) -> FloatArray:
        """Compute the means over folds for each repeat and both kinds of scores.

        `y_true` has the shape repeats x rows, `scores` has the shape repeats x 2 x rows, and the result has the shape
        repeats x 2. `ends` contains the end position of each fold.
        """


@dataclass(frozen=True)
class Interpretation:
    """A choice of the settings that the paper does not specify."""

    name: str
    description: str
    style: int = INTERVALS
    stratified: bool = False
    round_down: bool = False
    severity_ratio: float = HANDS_SEVERITY_RATIO

    def plan(self, experiment: int) -> NoisePlan:
        """Build the settings of the kernel."""
        return NoisePlan(experiment, _PROPORTION, _FOLDS, self.style, self.stratified, self.round_down, self.severity_ratio)


CHOSEN = Interpretation(
    "chosen", "chosen before any comparison: naive Bayes as in WEKA, plain folds, 10 % rounded, H with Beta(2, 2)"
)
ALTERNATIVES = (
    Interpretation("e1071", "naive Bayes as in the R package e1071: normal densities and no pseudocounts", style=DENSITIES),
    Interpretation("stratified", "stratified folds", stratified=True),
    Interpretation("cut", "10 % rounded down, as R's sample() does with a fractional size", round_down=True),
    Interpretation(
        "severity", "H with the costs of the R package hmeasure: Beta(2, 1 + negatives / positives)", severity_ratio=math.nan
    ),
)


@dataclass(frozen=True, eq=False)
class CellResult:
    """Errors of each repeat, and the mean value of each measure for naive Bayes.

    `errors` (repeats x measures) contains 0, 0.5 or 1, or NaN if a measure is undefined. `deviations` contains the standard
    deviations of the values over repeats, or NaN if they were not saved.
    """

    dataset: str
    experiment: int
    errors: FloatArray
    values: FloatArray
    deviations: FloatArray

    @property
    def rates(self) -> FloatArray:
        """Error rate of each measure over the repeats in which it is defined; NaN if there are none."""
        return _average_defined(self.errors)

    @property
    def n_defined(self) -> tuple[int, ...]:
        """Number of repeats in which each measure is defined."""
        return tuple(int(count) for count in (~np.isnan(self.errors)).sum(axis=0))

    def drop_further_measures(self) -> CellResult:
        """Return the results of the paper's six measures only."""
        size = len(MEASURES)
        return replace(self, errors=self.errors[:, :size], values=self.values[:size], deviations=self.deviations[:size])


def compute_cell(
    dataset: EncodedDataset,
    experiment: int,
    interpretation: Interpretation,
    repeats: int,
    seed: int,
    folder: Path,
    further: Sequence[FurtherMeasure] = (),
) -> CellResult:
    """Read a cell from the folder, or compute and save it.

    Cells with user measures are neither read nor saved, because the code of these measures can change.
    """
    settings = (_FORMAT, dataset.content_hash, dataset.name, experiment, *interpretation.plan(experiment), repeats, seed)
    key = hashlib.sha256(repr(settings).encode()).hexdigest()[:16]
    path = folder / f"{dataset.name.lower()}-{experiment}-{interpretation.name}-{key}.npz"
    saved = None if further else _read(path, needs_deviations=experiment == WITHOUT_NOISE)
    if saved is not None:
        return CellResult(dataset.name, experiment, *saved)
    means = _compute_means(dataset, experiment, interpretation, repeats, seed, further)
    errors = compute_errors(means, [*(1 for _ in MEASURES), *(measure.direction for measure in further)])
    result = CellResult(dataset.name, experiment, errors, _average_defined(means[:, 0]), _compute_deviations(means[:, 0]))
    if not further:
        _write(path, result)
    return result


def compute_errors(means: FloatArray, directions: Sequence[int] | None = None) -> FloatArray:
    """Compute the error of each measure in each repeat.

    The error is 1 if the replaced scores get a better value than naive Bayes, 0.5 if both values are equal, and 0 otherwise. It
    is NaN if a value is undefined. `means` has the shape repeats x 2 (naive Bayes, replaced scores) x measures. `directions`
    contains -1 for losses and 1 for other measures.

    >>> compute_errors(np.array([[[0.8], [0.9]], [[0.8], [0.8]], [[0.8], [0.7]]])).tolist()
    [[1.0], [0.5], [0.0]]
    """
    signs = np.ones(means.shape[2]) if directions is None else np.asarray(directions)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        advantage = (means[:, 1] - means[:, 0]) * signs
    errors = np.where(advantage > _TOLERANCE, 1.0, np.where(advantage < -_TOLERANCE, 0.0, 0.5))
    return np.where(np.isnan(advantage), np.nan, errors)


def _compute_means(
    dataset: EncodedDataset,
    experiment: int,
    interpretation: Interpretation,
    repeats: int,
    seed: int,
    further: Sequence[FurtherMeasure],
) -> FloatArray:
    """Compute means over folds (repeats x naive Bayes or replaced scores x measures)."""
    n, stream = len(dataset.classes), derive_seed(seed, "ranking-real", dataset.name, experiment) & 0xFFFFFFFFFFFFFFFF
    ends = np.cumsum([len(range(fold, n, _FOLDS)) for fold in range(_FOLDS)]).tolist()
    plan = interpretation.plan(experiment)
    chunks = []
    for first in range(0, repeats, _CHUNK):
        size = min(_CHUNK, repeats - first)
        means, y_true, scores = np.empty((size, 2, len(MEASURES))), np.empty((size, n), np.uint8), np.empty((size, 2, n))
        run_noisy_folds(dataset.codes, dataset.classes, dataset.columns, plan, np.uint64(stream), first, means, y_true, scores)
        further_means = [measure(y_true, scores, ends)[:, :, None] for measure in further]
        chunks.append(np.concatenate([means, *further_means], axis=2))
    return np.concatenate(chunks)


def _average_defined(values: FloatArray) -> FloatArray:
    is_defined = ~np.isnan(values)
    count = is_defined.sum(axis=0)
    return np.asarray(np.where(count > 0, np.where(is_defined, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan))


def _compute_deviations(values: FloatArray) -> FloatArray:
    """Compute standard deviations over the repeats in which a measure is defined."""
    is_defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        deviations = np.where(is_defined, values - _average_defined(values), 0.0)
    count = is_defined.sum(axis=0)
    return np.asarray(np.where(count > 1, np.sqrt((deviations**2).sum(axis=0) / np.maximum(count - 1, 1)), np.nan))


def _read(path: Path, *, needs_deviations: bool) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Read a saved cell; None if it is missing, cannot be read, or lacks required deviations."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            values, doubled = saved["values"], saved["doubled"]
            has_deviations = needs_deviations or "deviations" in saved
            errors = np.where(doubled == _UNDEFINED, np.nan, doubled / 2.0)
            return errors, values, saved["deviations"] if has_deviations else np.full(len(values), np.nan)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None


def _write(path: Path, result: CellResult) -> None:
    path.parent.mkdir(exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        doubled = np.where(np.isnan(result.errors), _UNDEFINED, 2 * result.errors).astype(np.uint8)
        np.savez_compressed(file, doubled=doubled, values=result.values, deviations=result.deviations)
    unfinished.replace(path)


def estimate_over_repeats(values: npt.ArrayLike) -> IntervalEstimate:
    """Estimate the mean in percent from one number per repeat.

    The limits are NaN if all numbers are equal.

    >>> estimate_over_repeats([0.0, 0.0, 1.0, 1.0]).format("{:.0f}"), estimate_over_repeats([1.0, 1.0]).format("{:.0f}")
    ('50 (-42 to 142)', '100 (interval unknown)')
    """
    percents = 100 * np.asarray(values, dtype=float)
    if len(percents) and np.ptp(percents) == 0:
        return IntervalEstimate(float(percents[0]), math.nan, math.nan)
    return estimate_mean(percents)


def estimate_over_cells(values: Sequence[FloatArray]) -> IntervalEstimate:
    """Estimate the mean over cells and repeats in percent; NaN if a cell has no defined value.

    If all values are defined, repeats are the independent units. Otherwise the variances of the cells are added, with
    Welch-Satterthwaite degrees of freedom.

    >>> estimate_over_cells([np.array([0.0, 1.0, math.nan]), np.array([1.0, 1.0, 1.0])]).value
    75.0
    """
    from scipy.stats import t

    if not any(np.isnan(cell).any() for cell in values):
        return estimate_over_repeats(np.mean(values, axis=0))
    defined = [cell[~np.isnan(cell)] for cell in values]
    if not all(len(cell) for cell in defined):
        return IntervalEstimate(math.nan, math.nan, math.nan)
    mean = 100 * float(np.mean([cell.mean() for cell in defined]))
    variances = np.array([100**2 * cell.var(ddof=1) / len(cell) if len(cell) > 1 else math.nan for cell in defined])
    if not variances.sum() > 0:
        return IntervalEstimate(mean, math.nan, math.nan)
    sizes = np.array([len(cell) for cell in defined])
    degrees_of_freedom = float(variances.sum() ** 2 / (variances**2 / (sizes - 1)).sum())
    half = float(t.ppf(0.975, degrees_of_freedom)) * math.sqrt(variances.sum()) / len(variances)
    return IntervalEstimate(mean, mean - half, mean + half, degrees_of_freedom)
