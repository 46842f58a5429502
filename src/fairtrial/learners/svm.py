"""Support vector machines over typed columns: Pearson VII and polynomial kernels, scaled and voting as WEKA's SMO does."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, check_at_least, check_one_of, check_positive
from fairtrial._frames import EncodedTable
from fairtrial.errors import InputError
from fairtrial.learners.encoding import NumberEncoder
from fairtrial.learners.learner import Learner, register_learner, require_two_classes

Kernel = Callable[[FloatArray, FloatArray], FloatArray]


_CACHE_BYTES = 256 * 1024**2


_cache: OrderedDict[str, FloatArray] = OrderedDict()


_lock = threading.Lock()


def make_pearson_vii_kernel(sigma: float, omega: float) -> Kernel:
    """The Pearson VII universal kernel: (1 + (2 |u| sqrt(2^(1/omega) - 1) / sigma)^2)^(-omega).

    >>> make_pearson_vii_kernel(1.0, 1.0)(np.array([[0.0]]), np.array([[0.0], [0.5]])).tolist()
    [[1.0, 0.5]]
    """
    factor = 4 * (2 ** (1 / omega) - 1) / sigma**2

    def compute_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
        ratio = compute_squared_distances(first, second)
        ratio *= factor
        ratio += 1
        return np.asarray(ratio**-omega if omega != 1 else 1 / ratio)

    return compute_kernel


def make_gaussian_kernel(gamma: float) -> Kernel:
    """exp(-gamma |u|^2)."""
    return lambda first, second: np.exp(-gamma * compute_squared_distances(first, second))


def make_polynomial_kernel(exponent: float, lower_order: bool) -> Kernel:
    """(x . z)^exponent, or (x . z + 1)^exponent with the terms of lower order."""

    def compute_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
        product = first @ second.T + (1.0 if lower_order else 0.0)
        return np.asarray(product if exponent == 1 else product**exponent)

    return compute_kernel


def compute_squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Squared Euclidean distances of all rows to all rows.

    >>> compute_squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0]]
    """
    centre = second.mean(axis=0)  # far from the origin the difference of large squares would lose its digits
    first, second = first - centre, second - centre
    distances = first @ second.T
    distances *= -2
    distances += (first**2).sum(axis=1)[:, None]
    distances += (second**2).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def compute_gram_matrix(name: tuple[Any, ...], kernel: Kernel, rows: FloatArray) -> FloatArray:
    """The kernel among the training rows, kept for the next learner that asks for the same one (name and rows)."""
    key = hashlib.sha256(repr((name, rows.shape)).encode() + rows.tobytes()).hexdigest()
    with _lock:
        if key in _cache:
            _cache.move_to_end(key)
            return _cache[key]
    matrix = kernel(rows, rows)
    matrix.flags.writeable = False
    with _lock:
        _cache[key] = matrix
        while sum(cached_matrix.nbytes for cached_matrix in _cache.values()) > _CACHE_BYTES:
            _cache.popitem(last=False)
    return matrix


_BLOCK = 1024


class KernelSVM(Learner):
    """A support vector machine on scaled numbers; several classes by a vote of all pairs. A subclass supplies the kernel."""

    C: float
    scale: Any
    tol: float

    def _make_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> KernelSVM:
        """Learn from all rows alike: the solution is found to a tolerance, so weights would only be near to repeated rows."""
        from sklearn.svm import SVC

        check_one_of("scale", self.scale, ["min-max", "standard", None])
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        name, kernel = self._make_kernel()
        training = self._read_training(X, y)
        self._encoder = NumberEncoder.fit(training, self.scale)
        self._rows = self._encoder(training.columns)
        require_two_classes(self)
        gram = compute_gram_matrix(name, kernel, self._rows)
        svc = SVC(C=self.C, kernel="precomputed", tol=self.tol, decision_function_shape="ovo", cache_size=50)
        svc.fit(gram, training.codes)
        self._svc = svc
        self.n_support_ = svc.n_support_
        return self

    def _compute_pairwise(self, columns: EncodedTable) -> FloatArray:
        """The output of the machine of each pair (first, second): above zero for the first."""
        _, kernel = self._make_kernel()
        rows, support = self._encoder(columns), self._svc.support_
        blocks = []
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            kernel_values = np.zeros((len(block), len(self._rows)))
            kernel_values[:, support] = kernel(block, self._rows[support])
            output = self._svc.decision_function(kernel_values)
            blocks.append(-output[:, None] if output.ndim == 1 else output)
        return np.vstack(blocks)

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        """The share of the pairwise votes that each class wins."""
        return _count_votes(self._compute_pairwise(columns), len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Two classes: the output for the second. More: votes; between equals the outputs, squeezed below half a vote."""
        pairs = self._compute_pairwise(self._read_rows(X))
        if len(self.classes_) == 2:
            return np.asarray(-pairs[:, 0])
        outputs = np.zeros((len(pairs), len(self.classes_)))
        for pair_index, (first, second) in enumerate(combinations(range(outputs.shape[1]), 2)):
            outputs[:, first] += pairs[:, pair_index]
            outputs[:, second] -= pairs[:, pair_index]
        votes = _count_votes(pairs, outputs.shape[1]) * pairs.shape[1]
        return np.asarray(votes + outputs / (3 * (np.abs(outputs) + 1)))


@register_learner("puk-svc")
class PukSVC(KernelSVM):
    """A support vector machine with the Pearson VII universal kernel.

    Numbers are scaled to 0..1 and nominal columns made binary on the training part (`scale="standard"` or None: otherwise).
    `predict_proba` gives vote shares, which are 0 or 1 with two classes: rank by `decision_function`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PukSVC().fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.947
    """

    def __init__(
        self,
        C: float = 100.0,
        *,
        sigma: float = 1.0,
        omega: float = 1.0,
        scale: str | None = "min-max",
        tol: float = 1e-3,
        nominal: Any = None,
    ) -> None:
        self.C = C
        self.sigma = sigma
        self.omega = omega
        self.scale = scale
        self.tol = tol
        self.nominal = nominal

    def _make_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        check_positive("sigma", self.sigma)
        check_positive("omega", self.omega)
        return ("puk", self.sigma, self.omega), make_pearson_vii_kernel(self.sigma, self.omega)


@register_learner("smo")
class SMO(KernelSVM):
    """A support vector machine with a linear (exponent 1) or polynomial kernel, scaled as WEKA's SMO scales.

    `predict_proba` gives vote shares, which are 0 or 1 with two classes: rank by `decision_function`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SMO(exponent=2).fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    0.933
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        exponent: float = 1.0,
        lower_order: bool = False,
        scale: str | None = "min-max",
        tol: float = 1e-3,
        nominal: Any = None,
    ) -> None:
        self.C = C
        self.exponent = exponent
        self.lower_order = lower_order
        self.scale = scale
        self.tol = tol
        self.nominal = nominal

    def _make_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        check_at_least("exponent", self.exponent, 1)
        if self.exponent % 1 and self.scale != "min-max":
            raise InputError(f"exponent must be whole unless scale is 'min-max', got {self.exponent!r}: negative products")
        return ("polynomial", self.exponent, self.lower_order), make_polynomial_kernel(self.exponent, self.lower_order)


def _count_votes(pairs: FloatArray, k: int) -> FloatArray:
    votes = np.zeros((len(pairs), k))
    for pair_index, (first, second) in enumerate(combinations(range(k), 2)):
        votes[:, first] += pairs[:, pair_index] > 0
        votes[:, second] += pairs[:, pair_index] <= 0
    return np.asarray(votes / pairs.shape[1])
