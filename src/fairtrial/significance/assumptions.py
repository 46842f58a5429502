"""What a parametric test assumes of the differences between learners, and whether the data speak against it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.significance.adjust import adjust
from fairtrial.significance.scores import counted
from fairtrial.significance.table import quiet

_FEWEST, _MOST = 3, 5000


@dataclass(frozen=True)
class Assumptions:
    """p values of Shapiro and Wilk's test for each pair, adjusted by Holm, and of Mauchly's test, which is 1 for two learners.

    They are NaN where they cannot be computed, which counts against the assumption.
    """

    normality: tuple[float, ...]
    sphericity: float

    def hold(self, alpha: float) -> bool:
        """Whether nothing speaks against both."""
        return bool(np.min(self.normality) > alpha and self.sphericity > alpha)

    def words(self, alpha: float) -> str:
        """What the checks say."""
        least, pairs = float(np.min(self.normality)), len(self.normality)
        if np.isnan(least):
            return "There are too few data sets to check whether the differences are normal."
        what = f"Shapiro and Wilk's test of the differences, p adjusted by Holm: the smallest is {least:.3g}"
        if least <= alpha:
            not_normal = sum(p <= alpha for p in self.normality)
            told = f"The differences of {not_normal} of {counted(pairs, 'pair')} are not normal ({what})."
        else:
            told = f"Nothing speaks against normal differences ({what})."
        if pairs == 1:
            return told
        if np.isnan(self.sphericity):
            return f"{told} There are too few data sets to check whether all differences vary alike."
        spread = "do not all vary alike" if self.sphericity <= alpha else "may all vary alike"
        return f"{told} The differences {spread} (Mauchly's test, p = {self.sphericity:.3g})."


def check_differences(values: FloatArray) -> Assumptions:
    """Normality of the differences between learners (not of the scores), and whether they all have the same variance.

    >>> found = check_differences(np.random.default_rng(0).normal(size=(20, 3)))
    >>> found.hold(0.05), len(found.normality)
    (True, 3)
    """
    n, k = values.shape
    first, second = np.array(list(combinations(range(k), 2))).T
    d = quiet((values[:, first] - values[:, second]).T, np.abs(values).max(axis=1))
    p = _shapiro(d) if n >= _FEWEST else np.full(len(d), np.nan)
    adjusted = p if np.isnan(p).any() else adjust(p, "holm")
    return Assumptions(tuple(adjusted.tolist()), mauchly(values))


def _shapiro(d: FloatArray) -> FloatArray:
    """p value of each row; 0 for rows that do not vary, which no normal variable does."""
    from scipy.stats import shapiro

    varying = np.ptp(d, axis=1) > 0
    p = np.zeros(len(d))
    if varying.any():
        # Shapiro and Wilk's coefficients are known up to 5,000 cases.
        p[varying] = shapiro(d[varying][:, :: -(-d.shape[1] // _MOST)], axis=1).pvalue
    return p


def mauchly(values: FloatArray) -> float:
    """p value of Mauchly's (1940) test that all differences between learners have the same variance; NaN if there is none.

    The chi-squared approximation has Box's second-order term. (R has it too, with k for k - 1 in one place.)

    >>> round(mauchly(np.random.default_rng(1).normal(size=(30, 4))), 3)
    0.368
    """
    from scipy.special import chdtrc

    n, k = values.shape
    m, df = k - 1, n - 1
    if m == 1:
        return 1.0
    contrasts = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, :m]]))[0][:, 1:]
    spread = np.atleast_2d(np.cov(values @ contrasts, rowvar=False))
    size = float(np.trace(spread)) / m
    sign, log_det = np.linalg.slogdet(spread / size) if size > 0 and df >= m else (0.0, 0.0)
    # A determinant at the edge of float noise is zero: some differences do not vary at all.
    if sign <= 0 or log_det < m * np.log(1e-13):
        return float("nan")
    rho = 1 - (2 * m * m + m + 2) / (6 * m * df)
    second = (m + 2) * (m - 1) * (m - 2) * (2 * m**3 + 6 * m * m + 3 * m + 2) / (288 * (df * m * rho) ** 2)
    z, f = -df * rho * log_det, m * (m + 1) / 2 - 1
    if rho <= 0:
        return float("nan")
    p, p_next = float(chdtrc(f, max(z, 0.0))), float(chdtrc(f + 4, max(z, 0.0)))
    return float(np.clip(p + second * (p_next - p), 0.0, 1.0))
