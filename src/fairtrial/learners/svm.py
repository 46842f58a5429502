"""Support vector machines with Pearson VII and polynomial kernels. Columns are scaled as in WEKA's SMO."""

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
    """Return the Pearson VII universal kernel (1 + (2 |u| sqrt(2^(1/omega) - 1) / sigma)^2)^(-omega).

    |u| is the Euclidean distance between two rows.

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
    """Return the Gaussian kernel exp(-gamma |u|^2), where |u| is the distance between rows."""
    return lambda first, second: np.exp(-gamma * compute_squared_distances(first, second))


def make_polynomial_kernel(exponent: float, lower_order: bool) -> Kernel:
    """Return the kernel (x . z)^exponent or, with lower-order terms, (x . z + 1)^exponent."""

    def compute_kernel(first: FloatArray, second: FloatArray) -> FloatArray:
        product = first @ second.T + (1.0 if lower_order else 0.0)
        return np.asarray(product if exponent == 1 else product**exponent)

    return compute_kernel


def compute_squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Compute the squared Euclidean distance between each row of `first` and each of `second`.

    >>> compute_squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).tolist()
    [[25.0]]
    """
    centre = second.mean(axis=0)  # without centring, differences of large squares lose digits
    first, second = first - centre, second - centre
    distances = first @ second.T
    distances *= -2
    distances += (first**2).sum(axis=1)[:, None]
    distances += (second**2).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def compute_gram_matrix(name: tuple[Any, ...], kernel: Kernel, rows: FloatArray) -> FloatArray:
    """Compute the kernel matrix of the training rows, cached by kernel name and rows."""
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
    """Base class for SVMs on scaled columns, with pairwise votes for more than two classes. A subclass supplies the kernel."""

    C: float
    scale: Any
    tol: float

    def _make_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> KernelSVM:
        """Fit one SVM for each pair of classes.

        `sample_weight` is not supported. Because of the solver's tolerance, a weighted row would be only roughly equivalent to
        repeated rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,)
            Class label of each row.

        Returns
        -------
        self
        """
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
        """Compute the SVM output for each pair (first, second) of classes. Positive values indicate the first class."""
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
        """Compute the proportion of pairwise votes for each class."""
        return _count_votes(self._compute_pairwise(columns), len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Compute the SVM output for two classes, or the votes for each of more than two classes.

        With two classes, positive outputs indicate the second class. With more than two classes, ties between votes are broken
        by the SVM outputs, which are scaled to less than half a vote.
        """
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
    """Support vector machine with the Pearson VII universal kernel.

    Nominal columns are encoded as binary columns. With more than two classes, pairwise classifiers vote. `predict_proba`
    returns the proportions of votes, which are always 0 or 1 for two classes. Use `decision_function` for ranking.

    Parameters
    ----------
    C : float, default 100
        Penalty for margin violations.
    sigma, omega : float, default 1
        Width and shape of the kernel.
    scale : {"min-max", "standard"} or None, default "min-max"
        Scaling of the columns, fitted on the training rows.
    tol : float, default 1e-3
        Tolerance of the optimizer.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    n_support_ : ndarray of shape (k,)
        Number of support vectors of each class.

    Examples
    --------
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
    """Support vector machine with a linear or polynomial kernel, scaled as in WEKA's SMO.

    Nominal columns are encoded as binary columns. With more than two classes, pairwise classifiers vote. `predict_proba`
    returns the proportions of votes, which are always 0 or 1 for two classes. Use `decision_function` for ranking.

    Parameters
    ----------
    C : float, default 1
        Penalty for margin violations.
    exponent : float, default 1
        Exponent of the kernel. The kernel is linear if the exponent is 1.
    lower_order : bool, default False
        Whether to include lower-order terms.
    scale : {"min-max", "standard"} or None, default "min-max"
        Scaling of the columns, fitted on the training rows.
    tol : float, default 1e-3
        Tolerance of the optimizer.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    n_support_ : ndarray of shape (k,)
        Number of support vectors of each class.

    Examples
    --------
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
            raise InputError(
                f"exponent must be a whole number unless scale is 'min-max', got {self.exponent!r}: inner products can be "
                "negative"
            )
        return ("polynomial", self.exponent, self.lower_order), make_polynomial_kernel(self.exponent, self.lower_order)


def _count_votes(pairs: FloatArray, k: int) -> FloatArray:
    votes = np.zeros((len(pairs), k))
    for pair_index, (first, second) in enumerate(combinations(range(k), 2)):
        votes[:, first] += pairs[:, pair_index] > 0
        votes[:, second] += pairs[:, pair_index] <= 0
    return np.asarray(votes / pairs.shape[1])
