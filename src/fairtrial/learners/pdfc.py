"""The positive definite fuzzy classifier: fuzzy rules that are the support vectors of a Gaussian machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, positive
from fairtrial._columns import Columns
from fairtrial.learners.gram import gaussian, training_matrix
from fairtrial.learners.learner import MarginLearner, two_classes
from fairtrial.learners.numbers import NumberEncoder


class PDFC(MarginLearner):
    """Chen and Wang's positive definite fuzzy classifier (2003).

    Each support vector is a rule: Gaussian sets exp(-d u^2) in every attribute, product, and its coefficient as consequent. A
    rule that always fires carries the bias. The output is the weighted mean of the consequents, (b0 + sum b_j K_j) / (1 + sum
    K_j); more than two classes are told apart one against the rest. Numbers are scaled to 0..1 and nominal columns made binary.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> float(PDFC().fit(X[::2], y[::2]).score(X[1::2], y[1::2]))
    0.96
    """

    def __init__(self, C: float = 100.0, *, width: float = 0.25, tol: float = 1e-3, nominal: Any = None) -> None:
        self.C = C
        self.width = width
        self.tol = tol
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> PDFC:
        """Learn one machine for two classes, else one for each class against the rest."""
        for name in ("C", "width", "tol"):
            positive(name, getattr(self, name))
        training = self._read_training(X, y)
        k = len(self.classes_)
        two_classes(self)
        self._encoder = NumberEncoder.fit(training, "min-max")
        rows = self._encoder(training.columns)
        gram = training_matrix(("gaussian", self.width), gaussian(self.width), rows)
        wanted = [1] if k == 2 else range(k)
        self.rules_ = [self._rules(rows, gram, training.codes == place) for place in wanted]
        return self

    def _rules(self, rows: FloatArray, gram: FloatArray, own: Any) -> tuple[FloatArray, FloatArray, float]:
        """Centres and consequents of the rules of one machine, and the consequent of the rule that always fires."""
        from sklearn.svm import SVC

        machine = SVC(C=self.C, kernel="precomputed", tol=self.tol).fit(gram, own)
        return rows[machine.support_], machine.dual_coef_[0].copy(), float(machine.intercept_[0])

    def _margins(self, columns: Columns) -> FloatArray:
        rows = self._encoder(columns)
        outputs = np.column_stack([self._output(rows, *each) for each in self.rules_])
        return np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs

    def _output(self, rows: FloatArray, centres: FloatArray, consequents: FloatArray, bias: float) -> FloatArray:
        fired = gaussian(self.width)(rows, centres)
        return np.asarray((bias + fired @ consequents) / (1 + fired.sum(axis=1)))
