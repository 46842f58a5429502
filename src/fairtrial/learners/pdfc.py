"""The positive definite fuzzy classifier: fuzzy rules that are the support vectors of a Gaussian SVM."""

from __future__ import annotations

from typing import Any

import numpy as np

from fairtrial._check import FloatArray, check_positive
from fairtrial._frames import EncodedTable
from fairtrial.learners import svm
from fairtrial.learners.encoding import NumberEncoder
from fairtrial.learners.learner import MarginLearner, register_learner, require_two_classes


@register_learner("pdfc")
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
            check_positive(name, getattr(self, name))
        training = self._read_training(X, y)
        k = len(self.classes_)
        require_two_classes(self)
        self._encoder = NumberEncoder.fit(training, "min-max")
        rows = self._encoder(training.columns)
        gram = svm.compute_gram_matrix(("gaussian", self.width), svm.make_gaussian_kernel(self.width), rows)
        target_codes = [1] if k == 2 else range(k)
        self.rules_ = [self._fit_rules(rows, gram, training.codes == code) for code in target_codes]
        return self

    def _fit_rules(self, rows: FloatArray, gram: FloatArray, in_class: Any) -> tuple[FloatArray, FloatArray, float]:
        """Centres and consequents of the rules of one machine, and the consequent of the rule that always fires."""
        from sklearn.svm import SVC

        svc = SVC(C=self.C, kernel="precomputed", tol=self.tol).fit(gram, in_class)
        return rows[svc.support_], svc.dual_coef_[0].copy(), float(svc.intercept_[0])

    def _compute_margins(self, columns: EncodedTable) -> FloatArray:
        rows = self._encoder(columns)
        outputs = np.column_stack([self._compute_output(rows, *rules) for rules in self.rules_])
        return np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs

    def _compute_output(self, rows: FloatArray, centres: FloatArray, consequents: FloatArray, bias: float) -> FloatArray:
        activations = svm.make_gaussian_kernel(self.width)(rows, centres)
        return np.asarray((bias + activations @ consequents) / (1 + activations.sum(axis=1)))
