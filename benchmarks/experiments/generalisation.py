"""Coverage of the intervals of the generalisation error: nested cross-validation, conservative z and corrected resampled t."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from scipy.special import ndtr

from experiments.registry import GENERALISATION, LEVEL, covers, experiment
from fairtrial.resampling import (
    Estimate,
    KFold,
    NestedCV,
    PairedSubsampling,
    Repeated,
    Splits,
    conservative_z_interval,
    nested_cv_interval,
)
from fairtrial.study.results.stacking import compute_half_width

Rng = np.random.Generator


def _draw(n: int, columns: int, apart: float, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of two normal classes; their means differ by twice `apart` in the first column."""
    y = (rng.random(n) < 0.5).astype(int)
    X = rng.normal(size=(n, columns))
    X[:, 0] += apart * (2 * y - 1)
    return X, y


def _fit(X: np.ndarray, y: np.ndarray, is_train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Fit a linear discriminant to each training set (a row of `is_train`); return its weights and its threshold."""
    scatter, means = 1e-6 * np.eye(X.shape[1]), []
    for label in (0, 1):
        members = is_train * (y == label)
        size = np.maximum(members.sum(axis=1), 1)
        mean = members @ X / size[:, None]
        products = np.matmul(X.T * members[:, None, :], X)
        scatter = scatter + products - size[:, None, None] * mean[:, :, None] * mean[:, None]
        means.append(mean)
    weights = np.linalg.solve(scatter, (means[1] - means[0])[:, :, None])[:, :, 0]
    return weights, ((means[0] + means[1]) / 2 * weights).sum(axis=1)


def _compute_error(weights: np.ndarray, threshold: np.ndarray, apart: float) -> np.ndarray:
    """Compute the exact error rate of each linear discriminant on new rows."""
    length = np.linalg.norm(weights, axis=1)
    shift = apart * weights[:, 0]
    return np.asarray(0.5 * (ndtr((-shift - threshold) / length) + ndtr((threshold - shift) / length)))


@cache
def _expected_error(n: int, columns: int, apart: float) -> float:
    """Average the exact error rate over 4,000 samples of n rows."""
    rng = np.random.default_rng(7)
    errors = [_compute_error(*_fit(*_draw(n, columns, apart, rng), np.ones((1, n))), apart)[0] for _ in range(4000)]
    return float(np.mean(errors))


def _list_losses(X: np.ndarray, y: np.ndarray, splits: Splits) -> list[np.ndarray]:
    is_train = np.zeros((len(splits), len(y)))
    for number, split in enumerate(splits):
        is_train[number, split.train] = 1
    weights, threshold = _fit(X, y, is_train)
    wrong = ((weights @ X.T > threshold[:, None]) != y).astype(float)
    return [wrong[number, split.test] for number, split in enumerate(splits)]


def _corrected_t(losses: list[np.ndarray], test_fraction: float) -> Estimate:
    scores = np.array([values.mean() for values in losses])
    half = compute_half_width(scores, test_fraction, 1 - LEVEL)
    return Estimate("corrected-t", scores.mean(), np.nan, scores.mean() - half, scores.mean() + half)


for _n, _columns, _apart in ((50, 5, 0.8), (100, 5, 0.8), (200, 5, 0.8), (100, 20, 0.8), (100, 5, 1.6)):

    @experiment(
        GENERALISATION,
        f"{_n} rows, linear discriminant of {_columns} columns, lowest error rate {ndtr(-_apart):.2f}",
        share=0.05,
        nominal=LEVEL,
    )
    def generalisation(rng: Rng, n: int = _n, columns: int = _columns, apart: float = _apart) -> Mapping[str, bool | None]:
        X, y = _draw(n, columns, apart, rng)
        truths = {
            "expected error": _expected_error(n, columns, apart),
            "error of the model trained on all rows": float(_compute_error(*_fit(X, y, np.ones((1, n))), apart)[0]),
        }
        nested = Repeated(NestedCV(5), 10).freeze(X, random_state=rng)
        losses = _list_losses(X, y, nested)
        outer = [values for values, split in zip(losses, nested, strict=True) if split.fold < 5]
        halves = PairedSubsampling().freeze(X, random_state=rng)
        scores = [values.mean() for values in _list_losses(X, y, halves)]
        folds = _list_losses(X, y, KFold(10).freeze(X, random_state=rng))
        intervals = {
            "nested_cv_interval, 10 x 5 folds": nested_cv_interval(losses, nested),
            "conservative_z_interval, 15 x 10": conservative_z_interval(scores, halves),
            "corrected resampled t, 10 x 5 folds": _corrected_t(outer, 0.2),
            "corrected resampled t, 10 folds": _corrected_t(folds, 0.1),
        }
        return {
            f"{name}: {target}": covers(interval, truth)
            for name, interval in intervals.items()
            for target, truth in truths.items()
        }
