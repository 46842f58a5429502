"""Positive definite fuzzy classifier: fuzzy rules from the support vectors of a Gaussian SVM."""

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
    """Positive definite fuzzy classifier (Chen & Wang 2003).

    Each support vector becomes a rule. The antecedent of the rule is a product of Gaussian membership functions,
    exp(-width u^2), one per attribute. Here, u is the difference from the support vector in this attribute. The consequent is
    the coefficient of the support vector. An additional rule, which always fires, has the bias as its consequent. The output is
    the weighted mean of the consequents, (b0 + sum b_j K_j) / (1 + sum K_j). With more than two classes, a separate classifier
    distinguishes each class from all others. Numeric columns are scaled to [0, 1], and nominal columns are encoded as binary
    columns.

    Parameters
    ----------
    C : float, default 100
        Penalty for margin violations.
    width : float, default 0.25
        Width parameter of the Gaussian membership functions.
    tol : float, default 1e-3
        Tolerance of the optimizer.
    nominal : sequence of str or int, optional
        Names or indices of columns to treat as nominal. Categorical, text and Boolean columns are always nominal.

    Attributes
    ----------
    classes_ : ndarray of shape (k,)
        The sorted class labels.
    rules_ : list of (ndarray, ndarray, float)
        Centres, consequents and bias of each binary classifier.

    Examples
    --------
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
        """Fit one SVM for two classes, or one SVM for each of several classes against the rest.

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
        """Fit one SVM. Return the centres and consequents of its rules, and the bias."""
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
