"""Coverage of the bootstrap's estimates of the error rate: do their intervals hold that of the learner trained on all rows?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import ndtr

from experiments.registry import BOOTSTRAP, LEVEL, covers, experiment
from fairtrial.resampling.estimate import NoInformation, out_of_bag_estimates

Rng = np.random.Generator
Learn = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
COLUMNS, SAMPLES, NEW = 5, 200, 2000
METHODS = ("632+", "632", "loo-bootstrap", "e0")


def _rows(n: int, apart: float, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Draw two normal classes of equal size; their means differ by twice `apart` in the first column."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, COLUMNS))
    X[:, 0] += apart * (2 * y - 1)
    return X, y


def _counts(y: np.ndarray, rng: Rng) -> np.ndarray:
    """How often each row is in each bootstrap sample; samples with fewer than three rows of a class are drawn again."""
    found = np.empty((SAMPLES, len(y)))
    for b in range(SAMPLES):
        draw = rng.integers(0, len(y), len(y))
        while not 3 <= y[draw].sum() <= len(y) - 3:
            draw = rng.integers(0, len(y), len(y))
        found[b] = np.bincount(draw, minlength=len(y))
    return found


def linear_discriminant(X: np.ndarray, y: np.ndarray, counts: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The class of each new row (b, i) by the learner of each sample."""
    scatter, means = 1e-9 * np.eye(COLUMNS), []
    for label in (0, 1):
        own = counts * (y == label)
        mean = own @ X / own.sum(axis=1, keepdims=True)
        scatter = (
            scatter + np.einsum("bi,ij,ik->bjk", own, X, X) - own.sum(axis=1)[:, None, None] * mean[:, :, None] * mean[:, None]
        )
        means.append(mean)
    weights = np.linalg.solve(scatter, (means[1] - means[0])[:, :, None])[:, :, 0]
    middle = ((means[0] + means[1]) / 2 * weights).sum(axis=1)
    return np.asarray(weights @ new.T > middle[:, None]).astype(int)


def nearest_neighbour(X: np.ndarray, y: np.ndarray, counts: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The class of each new row (b, i) by the learner of each sample."""
    far = ((new[:, None] - X) ** 2).sum(axis=2)
    return np.stack([y[np.where(count > 0, far, np.inf).argmin(axis=1)] for count in counts])


for _n in (20, 60):
    for _name, _learn, _apart in (
        ("linear discriminant", linear_discriminant, 0.8),
        ("linear discriminant", linear_discriminant, 1.6),
        ("nearest neighbour", nearest_neighbour, 0.8),
        ("nearest neighbour", nearest_neighbour, 0.0),
    ):

        @experiment(
            BOOTSTRAP, f"{_n} rows, {_name}, lowest error rate {ndtr(-_apart):.2f}; 200 samples", share=0.2, nominal=LEVEL
        )
        def error_rate(rng: Rng, n: int = _n, learn: Learn = _learn, apart: float = _apart) -> Mapping[str, bool | None]:
            X, y = _rows(n, apart, rng)
            counts, (new, truth), whole = _counts(y, rng), _rows(NEW, apart, rng), np.ones((1, n))
            (predicted,), (told,) = learn(X, y, whole, X), learn(X, y, whole, new)
            chance = NoInformation.from_labels(y, predicted)
            found = out_of_bag_estimates(learn(X, y, counts, X) != y, counts, predicted != y, chance)
            rate = float((told != truth).mean())
            return {f"estimate, {method}": covers(found[method], rate) for method in METHODS}
