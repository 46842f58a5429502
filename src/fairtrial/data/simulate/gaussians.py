"""Mixtures of Gaussians: any means, covariances and priors; a class may have several of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.data.simulate.population import BestError, Population, numeric
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 100_000
_MOST_BLOCKS = 100
_GRID = np.linspace(-10, 10, 40_001)


@dataclass(frozen=True)
class GaussianMixture(Population):
    """Gaussian components, each of which belongs to a class.

    `means` has a line for each component. `covariances` is a variance, a matrix, or a list with one of them for each
    component. `priors` are the shares of the components (equal by default). `component_classes` names the class of each:
    the same name twice makes a class of two components; by default each component is a class of its own, "1", "2", ...

    The Bayes error of two components with one covariance is exact; in one dimension it is integrated; elsewhere it is a
    Monte Carlo estimate whose accuracy `best_error` states.

    >>> pair = GaussianMixture(means=[[0, 0], [2, 0]])
    >>> pair.best_error()
    BestError(value=0.158655, accuracy=0.0, method='closed form')
    >>> X, y = pair.sample(5, rng=1)
    >>> X.shape, pair.bayes_probabilities([[1, 5]]).tolist()
    ((5, 2), [[0.5, 0.5]])
    """

    name: ClassVar[str] = "gaussians"

    means: Any
    covariances: Any = 1.0
    priors: Any = None
    component_classes: Any = None

    def __post_init__(self) -> None:
        means = _means(self.means)
        object.__setattr__(self, "means", _tuples(means))
        object.__setattr__(self, "covariances", _tuples(_covariances(self.covariances, *means.shape)))
        object.__setattr__(self, "priors", tuple(_priors(self.priors, len(means)).tolist()))
        object.__setattr__(self, "component_classes", _names(self.component_classes, len(means)))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in the order in which the components name them."""
        return tuple(dict.fromkeys(self.component_classes))

    @property
    def _class_of(self) -> IntArray:
        return np.array([self.classes.index(each) for each in self.component_classes], dtype=np.intp)

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        component = rng.choice(len(self.priors), size=n, p=np.array(self.priors))
        table = rng.standard_normal((n, len(self.means[0])))
        for j, covariance in enumerate(self.covariances):
            rows = component == j
            table[rows] = table[rows] @ np.linalg.cholesky(np.array(covariance)).T + np.array(self.means[j])
        return table, self._class_of[component]

    def _log_joint(self, values: FloatArray) -> FloatArray:
        """Log of prior times density, a column for each component."""
        from scipy.linalg import solve_triangular

        columns = []
        for mean, covariance, prior in zip(self.means, self.covariances, self.priors, strict=True):
            factor = np.linalg.cholesky(np.array(covariance))
            distance = (solve_triangular(factor, (values - np.array(mean)).T, lower=True) ** 2).sum(axis=0)
            scale = np.log(np.diag(factor)).sum() + len(mean) / 2 * np.log(2 * np.pi)
            columns.append(np.log(prior) - scale - distance / 2)
        return np.column_stack(columns)

    def _posterior(self, frame: pd.DataFrame) -> FloatArray:
        return self._shares(self._log_joint(numeric(frame, len(self.means[0]))))

    def _shares(self, joint: FloatArray) -> FloatArray:
        relative = np.exp(joint - joint.max(axis=1, keepdims=True))
        summed = relative @ np.eye(len(self.classes))[self._class_of]
        return np.asarray(summed / summed.sum(axis=1, keepdims=True))

    def best_error(self, accuracy: float = 5e-4) -> BestError:
        """The smallest error that any rule can have; where it must be estimated, to this accuracy (three standard errors).

        The estimate stops at ten million rows; the accuracy that it states is the one reached.
        """
        _check.between("accuracy", accuracy, 0, 1)
        if len(self.classes) == 1:
            return BestError(0.0, 0.0, "closed form")
        if len(self.means) == 2 and self.covariances[0] == self.covariances[1]:
            return BestError(_two_alike(self), 0.0, "closed form")
        if len(self.means[0]) == 1:
            return BestError(_integrated(self), 1e-6, "numerical integration")
        return _monte_carlo(self, accuracy)


def _two_alike(pair: GaussianMixture) -> float:
    """Two Gaussians with one covariance, by the Mahalanobis distance of their means."""
    from scipy.special import ndtr

    first, second = pair.priors
    difference = np.subtract(*np.array(pair.means))
    distance = float(np.sqrt(difference @ np.linalg.solve(np.array(pair.covariances[0]), difference)))
    if distance == 0:
        return float(min(first, second))
    threshold = np.log(first / second) / distance
    return float(first * ndtr(-distance / 2 - threshold) + second * ndtr(-distance / 2 + threshold))


def _integrated(line: GaussianMixture) -> float:
    """One dimension: trapezoids on points that are dense wherever a component is."""
    centres, spreads = np.array(line.means)[:, 0], np.sqrt(np.array(line.covariances)[:, 0, 0])
    points = np.unique(centres[:, None] + spreads[:, None] * _GRID)
    joint = np.exp(line._log_joint(points[:, None]))
    by_class = joint @ np.eye(len(line.classes))[line._class_of]
    return float(1 - np.trapezoid(by_class.max(axis=1), points))


@cache
def _monte_carlo(mixture: GaussianMixture, accuracy: float) -> BestError:
    """The mean of what the largest posterior leaves; its variance is smaller than that of counted errors."""
    rng, total, squares, n, reached = np.random.default_rng(0), 0.0, 0.0, 0, np.inf
    for _ in range(_MOST_BLOCKS):
        left = 1 - mixture._shares(mixture._log_joint(mixture._draw(_BLOCK, rng)[0])).max(axis=1)
        total, squares, n = total + left.sum(), squares + (left**2).sum(), n + _BLOCK
        reached = 3 * float(np.sqrt(max(squares / n - (total / n) ** 2, 0.0) / n))
        if reached <= accuracy:
            break
    return BestError(float(total / n), reached, f"Monte Carlo, {n} rows")


def _means(given: Any) -> FloatArray:
    means = _check.numbers("means", given)
    if means.ndim == 1:
        means = means[:, None]
    if means.ndim != 2 or means.size == 0:
        raise InputError(f"means must have a line for each component and a column for each attribute, got shape {means.shape}")
    return _check.finite("means", means)


def _covariances(given: Any, components: int, attributes: int) -> FloatArray:
    if isinstance(given, np.ndarray) and given.ndim == 3:
        given = list(given)
    listed = given if isinstance(given, (list, tuple)) and len(given) == components else None
    if listed is not None and components == attributes and all(np.ndim(each) == 1 for each in listed):
        listed = None  # a square list of numbers is one matrix
    each = [_matrix(one, attributes) for one in ([given] * components if listed is None else listed)]
    return np.stack(each)


def _matrix(given: Any, attributes: int) -> FloatArray:
    matrix = _check.finite("covariances", np.atleast_1d(_check.numbers("covariances", given)))
    if matrix.size == 1:
        matrix = np.eye(attributes) * matrix.item()
    if matrix.shape != (attributes, attributes) or not np.array_equal(matrix, matrix.T):
        raise InputError(
            f"covariances must be variances or symmetric matrices of {attributes} x {attributes}, got shape {matrix.shape}"
        )
    if np.linalg.eigvalsh(matrix).min() <= 0:
        raise InputError("covariances must be positive definite: no attribute may be constant or a sum of the others")
    return matrix


def _priors(given: Any, components: int) -> FloatArray:
    if given is None:
        return np.full(components, 1 / components)
    priors = _check.probabilities("priors", _check.numbers("priors", given))
    if priors.shape != (components,) or (priors == 0).any() or abs(priors.sum() - 1) > 1e-9:
        told = f"got {priors.tolist()}"
        raise InputError(f"priors must be {components} positive shares that sum to 1, one for each component, {told}")
    return priors


def _names(given: Any, components: int) -> tuple[str, ...]:
    names = tuple(str(each) for each in (range(1, components + 1) if given is None else given))
    if len(names) != components:
        raise InputError(f"component_classes must name the class of each of the {components} components, got {len(names)}")
    return names


def _tuples(array: FloatArray) -> Any:
    return tuple(_tuples(each) for each in array) if array.ndim > 1 else tuple(array.tolist())
