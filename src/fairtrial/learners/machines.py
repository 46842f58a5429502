"""Support vector machines over typed columns: Pearson VII and polynomial kernels, scaled and voting as WEKA's SMO does."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, at_least, one_of, positive
from fairtrial._columns import Columns
from fairtrial.errors import InputError
from fairtrial.learners.gram import Kernel, pearson_vii, polynomial, training_matrix
from fairtrial.learners.learner import Learner, two_classes
from fairtrial.learners.numbers import NumberEncoder

_BLOCK = 1024


class KernelMachine(Learner):
    """A support vector machine on scaled numbers; several classes by a vote of all pairs. A subclass supplies the kernel."""

    C: float
    scale: Any
    tol: float

    def _named_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> KernelMachine:
        """Learn from all rows alike: the solution is found to a tolerance, so weights would only be near to repeated rows."""
        from sklearn.svm import SVC

        one_of("scale", self.scale, ["min-max", "standard", None])
        positive("C", self.C)
        positive("tol", self.tol)
        name, kernel = self._named_kernel()
        training = self._read_training(X, y)
        self._encoder = NumberEncoder.fit(training, self.scale)
        self._rows = self._encoder(training.columns)
        two_classes(self)
        gram = training_matrix(name, kernel, self._rows)
        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol, decision_function_shape="ovo", cache_size=50)
        machine.fit(gram, training.codes)
        self._machine = machine
        self.n_support_ = machine.n_support_
        return self

    def _pairs(self, columns: Columns) -> FloatArray:
        """The output of the machine of each pair (first, second): above zero for the first."""
        _, kernel = self._named_kernel()
        rows, support = self._encoder(columns), self._machine.support_
        blocks = []
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            against = np.zeros((len(block), len(self._rows)))
            against[:, support] = kernel(block, self._rows[support])
            output = self._machine.decision_function(against)
            blocks.append(-output[:, None] if output.ndim == 1 else output)
        return np.vstack(blocks)

    def _probabilities(self, columns: Columns) -> FloatArray:
        """The share of the pairwise votes that each class wins."""
        return _votes(self._pairs(columns), len(self.classes_))

    def decision_function(self, X: Any) -> FloatArray:
        """Two classes: the output for the second. More: votes; between equals the outputs, squeezed below half a vote."""
        pairs = self._pairs(self._read_rows(X))
        if len(self.classes_) == 2:
            return np.asarray(-pairs[:, 0])
        outputs = np.zeros((len(pairs), len(self.classes_)))
        for place, (first, second) in enumerate(combinations(range(outputs.shape[1]), 2)):
            outputs[:, first] += pairs[:, place]
            outputs[:, second] -= pairs[:, place]
        votes = _votes(pairs, outputs.shape[1]) * pairs.shape[1]
        return np.asarray(votes + outputs / (3 * (np.abs(outputs) + 1)))


class PukSVC(KernelMachine):
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

    def _named_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        positive("sigma", self.sigma)
        positive("omega", self.omega)
        return ("puk", self.sigma, self.omega), pearson_vii(self.sigma, self.omega)


class SMO(KernelMachine):
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

    def _named_kernel(self) -> tuple[tuple[Any, ...], Kernel]:
        at_least("exponent", self.exponent, 1)
        if self.exponent % 1 and self.scale != "min-max":
            raise InputError(f"exponent must be whole unless scale is 'min-max', got {self.exponent!r}: negative products")
        return ("polynomial", self.exponent, self.lower_order), polynomial(self.exponent, self.lower_order)


def _votes(pairs: FloatArray, k: int) -> FloatArray:
    votes = np.zeros((len(pairs), k))
    for place, (first, second) in enumerate(combinations(range(k), 2)):
        votes[:, first] += pairs[:, place] > 0
        votes[:, second] += pairs[:, place] <= 0
    return np.asarray(votes / pairs.shape[1])
