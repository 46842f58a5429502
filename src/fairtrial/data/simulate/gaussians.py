"""Gaussian mixtures, and Breiman's twonorm and ringnorm problems.

Twonorm and ringnorm are difficult for decision trees although their Bayes errors are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial.data.simulate.population import BestError, Population, check_numeric_table
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 100_000


_MAX_BLOCKS = 100


_GRID = np.linspace(-10, 10, 40_001)


@dataclass(frozen=True)
class GaussianMixture(Population):
    """A mixture of Gaussian components, each of which belongs to a class.

    The Bayes error is exact for two components with equal covariance. For all other mixtures in one dimension, it is computed
    by numerical integration. In all other cases, it is a Monte Carlo estimate.

    Parameters
    ----------
    means : array-like
        One row per component, one column per attribute.
    covariances : float, matrix or list, default 1
        Variance or covariance matrix of all components, or a list with one entry per component.
    priors : array-like, optional
        Probability of each component. Default: equal probabilities.
    component_classes : list of str, optional
        Class of each component. Several components may have the same class. Default: "1", "2", ...

    Examples
    --------
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
        means = _check_means(self.means)
        object.__setattr__(self, "means", _to_tuples(means))
        object.__setattr__(self, "covariances", _to_tuples(_check_covariances(self.covariances, *means.shape)))
        object.__setattr__(self, "priors", tuple(_check_priors(self.priors, len(means)).tolist()))
        object.__setattr__(self, "component_classes", _check_component_classes(self.component_classes, len(means)))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in the order of the components."""
        return tuple(dict.fromkeys(self.component_classes))

    @property
    def _class_of(self) -> IntArray:
        return np.array([self.classes.index(component_class) for component_class in self.component_classes], dtype=np.intp)

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        component = rng.choice(len(self.priors), size=n, p=np.array(self.priors))
        table = rng.standard_normal((n, len(self.means[0])))
        for j, covariance in enumerate(self.covariances):
            rows = component == j
            table[rows] = table[rows] @ np.linalg.cholesky(np.array(covariance)).T + np.array(self.means[j])
        return table, self._class_of[component]

    def _log_joint(self, values: FloatArray) -> FloatArray:
        """Compute the logarithm of the prior times the density, with one column per component."""
        from scipy.linalg import solve_triangular

        columns = []
        for mean, covariance, prior in zip(self.means, self.covariances, self.priors, strict=True):
            factor = np.linalg.cholesky(np.array(covariance))
            distance = (solve_triangular(factor, (values - np.array(mean)).T, lower=True) ** 2).sum(axis=0)
            scale = np.log(np.diag(factor)).sum() + len(mean) / 2 * np.log(2 * np.pi)
            columns.append(np.log(prior) - scale - distance / 2)
        return np.column_stack(columns)

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        return self._compute_class_probabilities(self._log_joint(check_numeric_table(frame, len(self.means[0]))))

    def _compute_class_probabilities(self, joint: FloatArray) -> FloatArray:
        relative = np.exp(joint - joint.max(axis=1, keepdims=True))
        summed = relative @ np.eye(len(self.classes))[self._class_of]
        return np.asarray(summed / summed.sum(axis=1, keepdims=True))

    def best_error(self, accuracy: float = 5e-4) -> BestError:
        """Compute the error rate of the Bayes classifier and its numerical accuracy.

        Parameters
        ----------
        accuracy : float, default 0.0005
            Required accuracy of a Monte Carlo estimate: three standard errors must not exceed this value. At most ten million
            rows are drawn.

        Returns
        -------
        BestError
            Bayes error and the accuracy that was achieved.
        """
        _check.check_between("accuracy", accuracy, 0, 1)
        if len(self.classes) == 1:
            return BestError(0.0, 0.0, "closed form")
        if len(self.means) == 2 and self.covariances[0] == self.covariances[1]:
            return BestError(_compute_equal_covariance_error(self), 0.0, "closed form")
        if len(self.means[0]) == 1:
            return BestError(_compute_univariate_error(self), 1e-6, "numerical integration")
        return _estimate_error(self, accuracy)


def _compute_equal_covariance_error(pair: GaussianMixture) -> float:
    """Compute the Bayes error of two Gaussians with equal covariance."""
    from scipy.special import ndtr

    first, second = pair.priors
    difference = np.subtract(*np.array(pair.means))
    distance = float(np.sqrt(difference @ np.linalg.solve(np.array(pair.covariances[0]), difference)))
    if distance == 0:
        return float(min(first, second))
    threshold = np.log(first / second) / distance
    return float(first * ndtr(-distance / 2 - threshold) + second * ndtr(-distance / 2 + threshold))


def _compute_univariate_error(line: GaussianMixture) -> float:
    """Compute the Bayes error in one dimension by the trapezoidal rule."""
    centres, spreads = np.array(line.means)[:, 0], np.sqrt(np.array(line.covariances)[:, 0, 0])
    points = np.unique(centres[:, None] + spreads[:, None] * _GRID)
    joint = np.exp(line._log_joint(points[:, None]))
    by_class = joint @ np.eye(len(line.classes))[line._class_of]
    return float(1 - np.trapezoid(by_class.max(axis=1), points))


@cache
def _estimate_error(mixture: GaussianMixture, accuracy: float) -> BestError:
    """Estimate the Bayes error as the mean of 1 minus the largest class probability."""
    rng, total, squares, n, reached = np.random.default_rng(0), 0.0, 0.0, 0, np.inf
    for _ in range(_MAX_BLOCKS):
        left = 1 - mixture._compute_class_probabilities(mixture._log_joint(mixture._draw(_BLOCK, rng)[0])).max(axis=1)
        total, squares, n = total + left.sum(), squares + (left**2).sum(), n + _BLOCK
        reached = 3 * float(np.sqrt(max(squares / n - (total / n) ** 2, 0.0) / n))
        if reached <= accuracy:
            break
    return BestError(float(total / n), reached, f"Monte Carlo, {n} rows")


def _check_means(values: Any) -> FloatArray:
    means = _check.check_numbers("means", values)
    if means.ndim == 1:
        means = means[:, None]
    if means.ndim != 2 or means.size == 0:
        raise InputError(f"means must have one row per component and one column per attribute, got shape {means.shape}")
    return _check.check_finite("means", means)


def _check_covariances(values: Any, components: int, attributes: int) -> FloatArray:
    if isinstance(values, np.ndarray) and values.ndim == 3:
        values = list(values)
    listed = values if isinstance(values, (list, tuple)) and len(values) == components else None
    if listed is not None and components == attributes and all(np.ndim(value) == 1 for value in listed):
        listed = None  # a square list of numbers is a single matrix
    matrices = [_check_covariance(value, attributes) for value in ([values] * components if listed is None else listed)]
    return np.stack(matrices)


def _check_covariance(value: Any, attributes: int) -> FloatArray:
    matrix = _check.check_finite("covariances", np.atleast_1d(_check.check_numbers("covariances", value)))
    if matrix.size == 1:
        matrix = np.eye(attributes) * matrix.item()
    if matrix.shape != (attributes, attributes) or not np.array_equal(matrix, matrix.T):
        raise InputError(
            f"covariances must be variances or symmetric matrices of {attributes} x {attributes}, got shape {matrix.shape}"
        )
    if np.linalg.eigvalsh(matrix).min() <= 0:
        raise InputError("covariances must be positive definite, got a singular or indefinite matrix")
    return matrix


def _check_priors(values: Any, components: int) -> FloatArray:
    if values is None:
        return np.full(components, 1 / components)
    priors = _check.check_probabilities("priors", _check.check_numbers("priors", values))
    if priors.shape != (components,) or (priors == 0).any() or abs(priors.sum() - 1) > 1e-9:
        received = f"got {priors.tolist()}"
        raise InputError(f"priors must be {components} positive numbers that sum to 1, one per component, {received}")
    return priors


def _check_component_classes(values: Any, components: int) -> tuple[str, ...]:
    names = tuple(str(value) for value in (range(1, components + 1) if values is None else values))
    if len(names) != components:
        raise InputError(f"component_classes must name the class of each of the {components} components, got {len(names)}")
    return names


def _to_tuples(array: FloatArray) -> Any:
    return tuple(_to_tuples(row) for row in array) if array.ndim > 1 else tuple(array.tolist())


@dataclass(frozen=True)
class _TwoGaussians(Population):
    """Base class of problems that consist of two Gaussian classes with equal priors."""

    attributes: int = 20

    def __post_init__(self) -> None:
        _check.check_whole_number("attributes", self.attributes, 1)

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes."""
        return ("1", "2")

    def _build_mixture(self) -> GaussianMixture:
        raise NotImplementedError

    @cached_property
    def mixture(self) -> GaussianMixture:
        """The population as a Gaussian mixture."""
        return self._build_mixture()

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        return self.mixture._draw(n, rng)

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        return self.mixture._compute_posterior(frame)


@dataclass(frozen=True)
class Twonorm(_TwoGaussians):
    """Breiman's twonorm: two Gaussian classes with unit covariance.

    Class 1 has mean (a, ..., a) and class 2 has mean (-a, ..., -a), with a = 2 / sqrt(attributes). The decision boundary of the
    Bayes classifier is a hyperplane. The Bayes error is 2.28 % (Breiman 1996: 2.3 %) for any number of attributes.

    Parameters
    ----------
    attributes : int, default 20
        Number of attributes.

    Examples
    --------
    >>> Twonorm().bayes_error
    0.022750
    >>> print(Twonorm().dataset(100, seed=1).summary())
    twonorm: 100 rows, 20 numeric and 0 nominal attributes, 0 missing values; classes: 1 47, 2 53; imbalance ratio 1.13
    """

    name: ClassVar[str] = "twonorm"

    def _build_mixture(self) -> GaussianMixture:
        a = np.full(self.attributes, 2 / np.sqrt(self.attributes))
        return GaussianMixture(means=[a, -a])

    def best_error(self) -> BestError:
        """Compute the Bayes error, which is a tail probability of the normal distribution."""
        return self.mixture.best_error()


@dataclass(frozen=True)
class Ringnorm(_TwoGaussians):
    """Breiman's ringnorm: a narrow Gaussian class inside a wide one.

    Class 1 has mean 0 and covariance 4 I. Class 2 has mean (a, ..., a) and unit covariance, with a = shift / sqrt(attributes).
    Breiman (1996) uses a shift of 2 and reports a Bayes error of 1.3 %. The exact value is 1.24 %. The R package mlbench uses a
    shift of 1, for which the Bayes error is 1.50 %.

    Parameters
    ----------
    attributes : int, default 20
        Number of attributes.
    shift : float, default 2
        Distance between the two means.

    Examples
    --------
    >>> Ringnorm().bayes_error, Ringnorm(shift=1).bayes_error
    (0.012397, 0.014965)
    """

    name: ClassVar[str] = "ringnorm"

    shift: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.check_number("shift", self.shift)

    def _build_mixture(self) -> GaussianMixture:
        a = np.full(self.attributes, self.shift / np.sqrt(self.attributes))
        return GaussianMixture(means=[0 * a, a], covariances=[4.0 * np.eye(self.attributes), np.eye(self.attributes)])

    def best_error(self) -> BestError:
        """Compute the Bayes error from noncentral chi-square distributions.

        The decision boundary is a sphere. If m is the mean of class 2, class 1 is predicted if |x - 4m/3|^2 exceeds
        8/3 (|m|^2/6 + d log 2).
        """
        from scipy.stats import chi2, ncx2

        d, length = self.attributes, self.shift**2
        radius = 8 / 3 * (length / 6 + d * np.log(2))
        if length == 0:
            inside, outside = chi2.cdf(radius / 4, d), chi2.sf(radius, d)
        else:
            inside, outside = ncx2.cdf(radius / 4, d, 4 * length / 9), ncx2.sf(radius, d, length / 9)
        return BestError(float(inside + outside) / 2, 0.0, "closed form")
