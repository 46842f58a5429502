"""Wilcoxon signed-rank test, exact for up to 500 differences, even with ties and zeros."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.significance.effect import build_rank_biserial
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.significance.scores import (
    MAX_EXACT_WILCOXON,
    compute_differences,
    compute_sign_flip_p,
    rank_values,
    read_paired_columns,
)

register_method("wilcoxon", "Wilcoxon signed-rank test", cite="Wilcoxon 1945; Demšar 2006", statistic="W")

Zeros = Literal["drop", "pratt", "split"]
Method = Literal["auto", "exact", "approximate"]
_ZERO_FINDINGS = {"drop": "zeros_dropped", "pratt": "zeros_pratt", "split": "zeros_split"}


def wilcoxon(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    zeros: Zeros = "drop",
    method: Method = "auto",
    correction: bool = True,
    level: float = 0.95,
) -> Outcome:
    """Compare paired scores, using the two-sided Wilcoxon signed-rank test.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two learners on the same data sets.
    zeros : {"drop", "pratt", "split"}, default "drop"
        Treatment of zero differences. "drop" removes them before ranking. "pratt" ranks them but omits their ranks from both
        rank sums. "split" ranks them and adds half of the sum of their ranks to each rank sum (Demšar 2006). If the number of
        zeros is odd, "split" drops one zero.
    method : {"auto", "exact", "approximate"}, default "auto"
        "exact" considers all combinations of signs of the observed ranks. Tied differences receive their mean rank.
        "approximate" uses the normal distribution with a variance corrected for ties. With zeros="split", it uses the
        uncorrected variance of Demšar (2006). "auto" is exact for up to 500 differences.
    correction : bool, default True
        Whether to apply a continuity correction to the normal approximation.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The statistic is R+, which R calls V: the sum of the ranks of differences with a > b. `details` contains R+, R- and z.
        The value of z is the smaller rank sum, standardized without continuity correction. `n` is the number of ranked
        differences, which excludes zeros if they are dropped. The effect is the rank-biserial correlation (R+ - R-) / (R+ +
        R-). Its interval is obtained by inverting the test, so the interval excludes zero if and only if p is below 1 - level.
        If all differences are zero, p is 1 and there is no effect.

    Examples
    --------
    >>> nb = [96.43, 73.42, 72.30, 71.70, 71.67, 74.36, 70.63, 83.21, 98.22, 69.62]
    >>> svm = [99.44, 81.34, 91.51, 66.16, 71.67, 77.08, 62.21, 80.63, 93.58, 99.90]
    >>> print(wilcoxon(nb, svm))  # the ten domains of the tutorial
    Wilcoxon signed-rank test (exact): W = 17, p = 0.57, n = 9
    """
    _check.check_one_of("zeros", zeros, tuple(_ZERO_FINDINGS))
    _check.check_one_of("method", method, ("auto", "exact", "approximate"))
    _check.check_between("level", level, 0, 1)
    d = compute_differences(*read_paired_columns(a, b))
    signed_ranks = _rank_signed(d, zeros)
    if method == "auto":
        method = "exact" if len(signed_ranks.ranks) <= MAX_EXACT_WILCOXON else "approximate"
    p = compute_sign_flip_p(signed_ranks.scores) if method == "exact" else _compute_approximate_p(signed_ranks, correction)
    variant = method if method == "exact" else f"approximate, {'continuity' if correction else 'no continuity'} correction"
    equal, tied = int((d == 0).sum()), len(signed_ranks.ranks) - len(np.unique(signed_ranks.ranks))
    caveats = () if len(signed_ranks.ranks) else (Finding.of("all_differences_zero"),)
    return Outcome(
        "wilcoxon",
        signed_ranks.plus,
        p,
        n=signed_ranks.n,
        variant=variant,
        ties=Finding.of("tied_differences") if tied else None,
        zeros=Finding.of(_ZERO_FINDINGS[zeros], zeros=equal) if equal else None,
        effect=_build_effect(signed_ranks, p, method, correction, level) if d.any() else None,
        details={"R+": signed_ranks.plus, "R-": signed_ranks.minus, "z": signed_ranks.z},
        caveats=caveats,
    )


def _build_effect(signed_ranks: _SignedRanks, p: float, method: str, correction: bool, level: float) -> Effect:
    is_exact = method == "exact"
    return build_rank_biserial(
        signed_ranks.scores,
        level,
        rank_total=signed_ranks.plus + signed_ranks.minus,
        p_value=p if is_exact else float("nan"),
        correction=0.5 if is_exact or correction else 0.0,
        variance_factor=1.0 if is_exact else 4 * signed_ranks.deviation**2 / float((signed_ranks.ranks**2).sum()),
    )


@dataclass(frozen=True)
class _SignedRanks:
    """Signed ranks of nonzero differences, and the contribution of zeros to the rank sums."""

    ranks: FloatArray
    positive: npt.NDArray[np.bool_]
    from_zeros: float
    n: int
    deviation: float

    @property
    def scores(self) -> FloatArray:
        """Ranks with the signs of the differences."""
        return np.where(self.positive, self.ranks, -self.ranks)

    @property
    def plus(self) -> float:
        return float(self.ranks[self.positive].sum()) + self.from_zeros

    @property
    def minus(self) -> float:
        return float(self.ranks[~self.positive].sum()) + self.from_zeros

    @property
    def shortfall(self) -> float:
        """Amount by which the smaller rank sum falls below its expected value."""
        return abs(self.plus - self.minus) / 2

    @property
    def z(self) -> float:
        return -self.shortfall / self.deviation if self.deviation else 0.0


def _rank_signed(d: FloatArray, zeros: Zeros) -> _SignedRanks:
    zero = np.flatnonzero(d == 0)
    if zeros == "drop":
        d = np.delete(d, zero)
    elif zeros == "split" and len(zero) % 2:
        d = np.delete(d, zero[-1])
    ranks = rank_values(np.abs(d)) if len(d) else d
    is_nonzero = d != 0
    nonzero_ranks = ranks[is_nonzero]
    n = len(d)
    if zeros == "split":
        variance = n * (n + 1) * (2 * n + 1) / 24 if len(nonzero_ranks) else 0.0
        from_zeros = float(ranks[~is_nonzero].sum()) / 2
    else:
        variance, from_zeros = float((nonzero_ranks**2).sum()) / 4, 0.0
    return _SignedRanks(nonzero_ranks, d[is_nonzero] > 0, from_zeros, n, math.sqrt(variance))


def _compute_approximate_p(signed_ranks: _SignedRanks, correction: bool) -> float:
    from scipy.special import ndtr

    if not signed_ranks.deviation:
        return 1.0
    shortfall = max(signed_ranks.shortfall - 0.5, 0.0) if correction else signed_ranks.shortfall
    return float(2 * ndtr(-shortfall / signed_ranks.deviation))
