"""What a parametric test assumes of the differences between learners, and whether the data speak against it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.significance.adjust import adjust
from fairtrial.significance.p_words import p_form, told_p
from fairtrial.significance.scores import counted
from fairtrial.significance.table import quiet

_FEWEST, _MOST = 3, 5000


@dataclass(frozen=True)
class Assumptions:
    """p values of Shapiro and Wilk's test for each pair, adjusted by Holm, and of Mauchly's test, which is 1 for two learners.

    They are NaN where they cannot be computed, which counts against the assumption: `still` is the number of pairs whose
    differences do not vary and have no such p, `enough` whether there are data sets enough for Mauchly's test.
    """

    normality: tuple[float, ...]
    sphericity: float
    still: int = 0
    enough: bool = True

    def hold(self, alpha: float) -> bool:
        """Whether nothing speaks against both."""
        return bool(np.min(self.normality) > alpha and self.sphericity > alpha)

    def words(self, alpha: float) -> str:
        """What the checks say."""
        told = [self._still_words(), self._normal_words(alpha)]
        if len(self.normality) > 1:
            told.append(self._spread_words(alpha))
        return " ".join(each for each in told if each)

    def _still_words(self) -> str:
        if not self.still:
            return ""
        pairs = counted(len(self.normality), "pair")
        return f"The differences of {self.still} of {pairs} do not vary, so that they have no test of normality."

    def _normal_words(self, alpha: float) -> str:
        """Of the pairs whose differences vary."""
        known, varying = [p for p in self.normality if not np.isnan(p)], len(self.normality) - self.still
        if not varying:
            return ""
        if not known:
            return "There are too few data sets to check whether the differences are normal."
        smallest = p_form([min(known)], alpha, 3).format(min(known))
        what = f"Shapiro and Wilk's test of the differences, p adjusted by Holm: the smallest is {smallest}"
        not_normal = sum(p <= alpha for p in known)
        if not_normal:
            of = f"the other {varying}" if self.still else counted(varying, "pair")
            return f"The differences of {not_normal} of {of} are not normal ({what})."
        return f"Nothing speaks against normal differences{' of the others' if self.still else ''} ({what})."

    def _spread_words(self, alpha: float) -> str:
        if not self.enough:
            return "There are too few data sets to check whether all differences vary alike."
        if self.still or np.isnan(self.sphericity):
            why = "some do not vary at all" if self.still else "some follow exactly from others"
            return f"Whether all differences vary alike cannot be checked, for {why}."
        spread = "do not all vary alike" if self.sphericity <= alpha else "may all vary alike"
        return f"The differences {spread} (Mauchly's test, {told_p(self.sphericity, alpha, digits=3)})."


def check_differences(values: FloatArray) -> Assumptions:
    """Normality of the differences between learners (not of the scores), and whether they all have the same variance.

    >>> found = check_differences(np.random.default_rng(0).normal(size=(20, 3)))
    >>> found.hold(0.05), len(found.normality)
    (True, 3)
    """
    n, k = values.shape
    first, second = np.array(list(combinations(range(k), 2))).T
    d = quiet((values[:, first] - values[:, second]).T, np.abs(values).max(axis=1))
    varying = np.ptp(d, axis=1) > 0
    p = np.full(len(d), np.nan)
    if n >= _FEWEST and varying.any():
        p[varying] = adjust(_shapiro(d[varying]), "holm")
    return Assumptions(tuple(p.tolist()), mauchly(values), int((~varying).sum()), _box_factor(n, k) > 0)


def _shapiro(d: FloatArray) -> FloatArray:
    """p value of each row, which must vary."""
    from scipy.stats import shapiro

    # Shapiro and Wilk's coefficients are known up to 5,000 cases.
    return np.asarray(shapiro(d[:, :: -(-d.shape[1] // _MOST)], axis=1).pvalue)


def _box_factor(n: int, k: int) -> float:
    """Box's factor of Mauchly's statistic; 0 where n cases are too few for k learners."""
    m, df = k - 1, n - 1
    return max(0.0, 1 - (2 * m * m + m + 2) / (6 * m * df)) if df >= m else 0.0


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
    rho = _box_factor(n, k)
    sign, log_det = np.linalg.slogdet(spread / size) if size > 0 and rho > 0 else (0.0, 0.0)
    # A determinant at the edge of float noise is zero: some differences do not vary at all.
    if sign <= 0 or log_det < m * np.log(1e-13):
        return float("nan")
    second = (m + 2) * (m - 1) * (m - 2) * (2 * m**3 + 6 * m * m + 3 * m + 2) / (288 * (df * m * rho) ** 2)
    z, f = -df * rho * log_det, m * (m + 1) / 2 - 1
    p, p_next = float(chdtrc(f, max(z, 0.0))), float(chdtrc(f + 4, max(z, 0.0)))
    return float(np.clip(p + second * (p_next - p), 0.0, 1.0))
