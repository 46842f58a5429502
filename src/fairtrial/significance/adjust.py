"""Adjusted p-values for a family of hypotheses.

A hypothesis is rejected at significance level alpha if and only if its adjusted p-value is at most alpha.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.significance.names import register_method, resolve_name

register_method("none", "no adjustment")
register_method("bonferroni", "Bonferroni", cite="Dunn 1961")
register_method("holm", "Holm", cite="Holm 1979")
register_method("hochberg", "Hochberg", cite="Hochberg 1988")
register_method("sidak", "Šidák")
register_method("hommel", "Hommel", cite="Hommel 1988")
register_method("holland", "Holland", cite="Holland & Copenhaver 1987")
register_method("finner", "Finner", cite="Finner 1993")
register_method("rom", "Rom", cite="Rom 1990")
register_method("benjamini-hochberg", "Benjamini-Hochberg", cite="Benjamini & Hochberg 1995")
register_method("benjamini-yekutieli", "Benjamini-Yekutieli", cite="Benjamini & Yekutieli 2001")
register_method("li", "Li", cite="Li 2008")


def adjust(p_values: npt.ArrayLike, method: str = "holm", *, alpha: float = 0.05) -> FloatArray:
    """Adjust p-values for multiple testing.

    | method | kind | valid for |
    |---|---|---|
    | bonferroni, sidak | single step | any dependence; sidak: independent or positively dependent p-values |
    | holm | step-down | any dependence; never less powerful than bonferroni |
    | holland | step-down with the Šidák bound (Holm-Šidák) | as sidak |
    | finner | step-down with the Šidák bound and exponents m/i | only to reproduce a study; family-wise error not controlled |
    | hochberg, rom | step-up | independent or positively dependent p-values |
    | hommel | closed testing with the Simes test | as hochberg; never less powerful than hochberg |
    | benjamini-hochberg | step-up, controls the false discovery rate | independent or positively dependent p-values |
    | benjamini-yekutieli | step-up, controls the false discovery rate | any dependence |
    | li | two-step, based on the largest p-value | independent p-values; low power if the largest p is near 1 |
    | none | no adjustment | a single hypothesis |

    Parameters
    ----------
    p_values : array-like of shape (m,)
        Raw p-values.
    method : str, default "holm"
        One of the methods above.
    alpha : float, default 0.05
        Significance level at which Rom's critical values are computed. Other methods ignore it.

    Returns
    -------
    ndarray of shape (m,)
        Adjusted p-values in the order of `p_values`.

    Notes
    -----
    Most methods control the family-wise error rate, i.e. the probability of at least one false rejection. "benjamini-hochberg"
    and "benjamini-yekutieli" control the false discovery rate, i.e. the expected proportion of false rejections among all
    rejections. "finner" controls the family-wise error rate only if all null hypotheses are true. With 5 true and 5 clearly
    false null hypotheses, it rejects at least one true null hypothesis in 14.3 % of cases at the 5 % level. Use "holland"
    instead.

    Rom's critical values c_1 >= c_2 >= ... are computed recursively at significance level `alpha`. The i-th largest p-value is
    multiplied by alpha / c_i, and the products are then made monotone, starting from the largest p-value. At significance level
    `alpha`, the decisions are identical to those of Rom's procedure.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    method = resolve_name("method", method, ADJUSTMENT_METHODS)
    _check.check_between("alpha", alpha, 0, 1)
    p = check_p_values(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = _adjust_rom(p[order], alpha) if method == "rom" else ADJUSTMENT_METHODS[method](p[order])
    # Rounding errors can move a value outside [p, 1].
    return np.clip(adjusted, p, 1.0)


def check_p_values(p_values: npt.ArrayLike) -> FloatArray:
    """Check that p-values are numbers between 0 and 1."""
    p = _check.check_numbers("p_values", _check.check_column("p_values", p_values))
    outside = ~((p >= 0) & (p <= 1))
    if outside.any():
        index = int(np.argmax(outside))
        raise InputError(f"p_values must lie between 0 and 1, got {p[index]} at row {index}: drop tests without a p-value")
    return p


def rom_critical_values(m: int, alpha: float = 0.05) -> FloatArray:
    """Compute the critical values for Rom's procedure (Rom 1990).

    Parameters
    ----------
    m : int
        Number of hypotheses.
    alpha : float, default 0.05
        Significance level.

    Returns
    -------
    ndarray of shape (m,)
        Critical values. The first one applies to the largest p-value.

    Examples
    --------
    >>> rom_critical_values(4).round(6).tolist()
    [0.05, 0.025, 0.016875, 0.012713]
    """
    from scipy.special import gammaln

    powers = np.cumsum(alpha ** np.arange(1, m + 1))
    logs = np.full(m, np.log(alpha))
    for i in range(2, m + 1):
        j = np.arange(1, i - 1)
        # Binomial coefficients of large families overflow; their logarithms do not.
        ways = gammaln(i + 1) - gammaln(j + 1) - gammaln(i - j + 1)
        logs[i - 1] = np.log((powers[i - 2] - np.exp(ways + (i - j) * logs[j]).sum()) / i)
    return np.asarray(np.exp(logs))


def apply_step_down(values: FloatArray) -> FloatArray:
    """Replace each value with the maximum of itself and all preceding values."""
    return np.maximum.accumulate(values)


def _apply_step_up(values: FloatArray) -> FloatArray:
    return np.minimum.accumulate(values[::-1])[::-1]


def _compute_sidak_bound(p: FloatArray, count: npt.ArrayLike) -> FloatArray:
    """Compute 1 - (1 - p)^count, the probability that the smallest of `count` independent p-values is at most p."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(np.asarray(count) * np.log1p(-p)))


def _count_remaining(p: FloatArray) -> FloatArray:
    return np.arange(len(p), 0, -1, dtype=np.float64)


def _adjust_none(p: FloatArray) -> FloatArray:
    return p


def _adjust_bonferroni(p: FloatArray) -> FloatArray:
    return len(p) * p


def _adjust_sidak(p: FloatArray) -> FloatArray:
    return _compute_sidak_bound(p, len(p))


def _adjust_holm(p: FloatArray) -> FloatArray:
    return apply_step_down(_count_remaining(p) * p)


def _adjust_holland(p: FloatArray) -> FloatArray:
    return apply_step_down(_compute_sidak_bound(p, _count_remaining(p)))


def _adjust_finner(p: FloatArray) -> FloatArray:
    return apply_step_down(_compute_sidak_bound(p, len(p) / np.arange(1, len(p) + 1)))


def _adjust_hochberg(p: FloatArray) -> FloatArray:
    return _apply_step_up(_count_remaining(p) * p)


def _adjust_benjamini_hochberg(p: FloatArray) -> FloatArray:
    return _apply_step_up(len(p) / np.arange(1, len(p) + 1) * p)


def _adjust_benjamini_yekutieli(p: FloatArray) -> FloatArray:
    harmonic = float((1 / np.arange(1, len(p) + 1)).sum())
    return np.asarray(np.minimum(1.0, harmonic * _adjust_benjamini_hochberg(p)))


def _adjust_rom(p: FloatArray, alpha: float = 0.05) -> FloatArray:
    return _apply_step_up(alpha / rom_critical_values(len(p), alpha)[::-1] * p)


def _adjust_hommel(p: FloatArray) -> FloatArray:
    """Replace p-values with the largest Simes p-value of all sets that contain the hypothesis.

    For a given set size, the Simes p-value is largest if the other hypotheses in the set are those with the largest p-values.
    """
    m, adjusted = len(p), p.copy()
    for size in range(2, m + 1):
        other_terms = size * np.min(p[m - size + 1 :] / np.arange(2, size + 1))
        own_terms = size * np.minimum(p, p[m - size])
        adjusted = np.maximum(adjusted, np.minimum(own_terms, other_terms))
    return adjusted


def _adjust_li(p: FloatArray) -> FloatArray:
    total = p + 1 - p[-1]
    return np.asarray(np.divide(p, total, out=np.zeros_like(p), where=total > 0))


ADJUSTMENT_METHODS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "bonferroni": _adjust_bonferroni,
    "sidak": _adjust_sidak,
    "holm": _adjust_holm,
    "holland": _adjust_holland,
    "finner": _adjust_finner,
    "hochberg": _adjust_hochberg,
    "hommel": _adjust_hommel,
    "rom": _adjust_rom,
    "li": _adjust_li,
    "benjamini-hochberg": _adjust_benjamini_hochberg,
    "benjamini-yekutieli": _adjust_benjamini_yekutieli,
    "none": _adjust_none,
}

FALSE_DISCOVERY_METHODS = ("benjamini-hochberg", "benjamini-yekutieli")
"""Methods that control the false discovery rate instead of the family-wise error rate."""
