"""t and F tests of paired scores of two learners, e.g. on the same splits of one data set.

If all differences are zero, the statistic is 0 and p is 1. If the differences are equal but not zero, the variance cannot be
estimated. The statistic and p are then NaN, and a warning is issued.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Degrees, Effect, Outcome
from fairtrial.significance.scores import compute_differences, read_paired_columns

register_method("paired_t", "paired t test", cite="Student 1908", statistic="t")
register_method(
    "corrected_resampled_t", "corrected resampled t test (Nadeau-Bengio)", cite="Nadeau & Bengio 2003", statistic="t"
)
register_method("corrected_resampled_t (Nadeau & Bengio)", "corrected resampled t test (Nadeau-Bengio)", statistic="t")
register_method("ten_by_ten", "10x10 cv t test (Bouckaert)", statistic="t")
register_method("ten_by_ten (calibrated)", "10x10 cv t test (Bouckaert, calibrated)", statistic="t")
register_method("ten_by_ten (sorted-runs)", "10x10 cv t test (Bouckaert, sorted runs)", statistic="t")
register_method("ten_by_ten (averaged-folds)", "10x10 cv t test (averaged folds)", statistic="t")
register_method("five_by_two_t", "5x2 cv t test (Dietterich)", statistic="t")
register_method("five_by_two_t (Dietterich)", "5x2 cv t test (Dietterich)", statistic="t")
register_method("five_by_two_f (Alpaydin)", "5x2 cv F test (Alpaydin)", statistic="F")
register_method("five_by_two_f", "5x2 cv F test (Alpaydin)", cite="Alpaydin 1999; Dietterich 1998", statistic="F")

_NO_VARIATION = "the differences do not vary: the interval is not informative"


def paired_t(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Outcome:
    """Compare paired scores, using the paired t test.

    The pairs must be independent, e.g. runs on separate data sets. For overlapping training sets, use `corrected_resampled_t`.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Paired scores of the two learners.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect is the mean of a - b with its t interval.

    Examples
    --------
    >>> c45 = [0.2456, 0.1754, 0.1754, 0.2632, 0.1579, 0.2456, 0.2105, 0.1404, 0.2632, 0.2982]
    >>> nb = [0.0702, 0.0702, 0.0175, 0.0702, 0.0702, 0.0526, 0.1579, 0.0351, 0.0351, 0.0702]
    >>> print(paired_t(c45, nb))  # the Labour example of the tutorial
    paired t test: t = 7.87, df = 9, p < 0.001, n = 10
    """
    first, second = read_paired_columns(a, b, min_rows=2)
    d = compute_differences(first, second)
    pivot = _Pivot(_compute_exact_mean(d), _compute_error(d, 1 / len(d)), len(d) - 1)
    return _build_from_t("paired_t", d, pivot, level, caveats=(Finding.of("pair_independence"),))


def corrected_resampled_t(a: npt.ArrayLike, b: npt.ArrayLike, *, test_fraction: float, level: float = 0.95) -> Outcome:
    """Compare two learners on one data set with the corrected resampled t test.

    The test accounts for overlapping training sets in repeated holdout and in (repeated) cross-validation. The variance of the
    mean difference is estimated by (1/n + n_test/n_train) s^2 instead of s^2/n (Nadeau & Bengio 2003).

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two learners on the same splits.
    test_fraction : float
        Proportion of rows in each test set, e.g. 0.1 for 10-fold cross-validation, or 1/3 for a holdout set of a third of the
        rows.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect is the mean of a - b with its t interval.

    Examples
    --------
    >>> a, b = [0.80, 0.85, 0.78, 0.90, 0.82], [0.75, 0.84, 0.74, 0.83, 0.80]
    >>> print(corrected_resampled_t(a, b, test_fraction=0.2))
    corrected resampled t test (Nadeau-Bengio): t = 2.37, df = 4, p = 0.077, n = 5
    """
    _check.check_between("test_fraction", test_fraction, 0, 1)
    first, second = read_paired_columns(a, b, min_rows=2)
    d = compute_differences(first, second)
    n = len(d)
    pivot = _Pivot(_compute_exact_mean(d), _compute_error(d, 1 / n + test_fraction / (1 - test_fraction)), n - 1)
    details = {"test_fraction": test_fraction}
    return _build_from_t("corrected_resampled_t", d, pivot, level, variant="Nadeau & Bengio", details=details)


def ten_by_ten(a: npt.ArrayLike, b: npt.ArrayLike, *, variant: str = "calibrated", level: float = 0.95) -> Outcome:
    """Compare two learners, using one of Bouckaert's tests for 10x10 cross-validation.

    The variants "calibrated" and "sorted-runs" are justified only by simulation. In contrast, `corrected_resampled_t`
    (test_fraction=0.1) is derived from theory, is slightly more conservative, and applies to any design. Use `ten_by_ten` only
    to reproduce a study that used it.

    Parameters
    ----------
    a, b : array-like of shape (10, 10)
        Scores of the two learners, 10 repeats x 10 folds.
    variant : {"calibrated", "sorted-runs", "averaged-folds"}, default "calibrated"
        One of the following:

        - "calibrated" (2003) uses all 100 differences, the standard error s / sqrt(11) and 10 degrees of freedom.
        - "sorted-runs" (2004) sorts the differences within each repeat, averages them over repeats by rank, and applies a t
          test with 9 degrees of freedom.
        - "averaged-folds" averages the folds of each repeat and applies a t test with 9 degrees of freedom to the ten means.
          The repeats share all rows, so the type I error of this variant is far too high.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect is the mean of a - b with its t interval.

    Examples
    --------
    >>> import numpy as np
    >>> folds = np.random.default_rng(0).normal(0.8, 0.05, (10, 10))
    >>> print(ten_by_ten(folds + np.linspace(0, 0.04, 10), folds))
    10x10 cv t test (Bouckaert, calibrated): t = 5.17, df = 10, p < 0.001, n = 100
    """
    _check.check_one_of("variant", variant, ("calibrated", "sorted-runs", "averaged-folds"))
    d = _read_difference_matrix(a, b, (10, 10), "repeats x folds", "use corrected_resampled_t for other designs")
    if variant == "calibrated":
        pivot = _Pivot(_compute_exact_mean(d), _compute_error(d, 1 / 11), 10)
    else:
        averaged = d.mean(axis=1) if variant == "averaged-folds" else np.sort(d, axis=1).mean(axis=0)
        pivot = _Pivot(_compute_exact_mean(d), _compute_error(averaged, 1 / 10), 9)
    caveat = "pair_independence" if variant == "averaged-folds" else "calibrated_by_simulation"
    return _build_from_t("ten_by_ten", d, pivot, level, variant=variant, caveats=(Finding.of(caveat),))


def five_by_two_t(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Outcome:
    """Compare two learners, using the 5x2 cv t test (Dietterich 1998).

    The numerator of the statistic is the difference on the first fold of the first repeat only. The p-value therefore depends
    on the order of the folds, whereas that of `five_by_two_f` does not.

    Parameters
    ----------
    a, b : array-like of shape (5, 2)
        Scores of the two learners, 5 repeats x 2 folds.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect is the mean of all ten differences. Its interval is conservative because it uses the standard deviation of a
        single difference.

    Examples
    --------
    >>> a = [[0.80, 0.78], [0.82, 0.79], [0.81, 0.80], [0.79, 0.83], [0.80, 0.82]]
    >>> b = [[0.76, 0.77], [0.78, 0.78], [0.80, 0.76], [0.78, 0.79], [0.77, 0.80]]
    >>> print(five_by_two_t(a, b))
    5x2 cv t test (Dietterich): t = 2.08, df = 5, p = 0.092, n = 10
    """
    d = _read_five_by_two(a, b)
    scale = math.sqrt(float(_compute_repeat_variances(d).mean()))
    pivot = _Pivot(float(d[0, 0]), scale, 5, centre=_compute_exact_mean(d))
    return _build_from_t("five_by_two_t", d, pivot, level, variant="Dietterich", caveats=(Finding.of("fold_order"),))


def five_by_two_f(a: npt.ArrayLike, b: npt.ArrayLike, *, level: float = 0.95) -> Outcome:
    """Compare two learners, using the combined 5x2 cv F test (Alpaydin 1999).

    Parameters
    ----------
    a, b : array-like of shape (5, 2)
        Scores of the two learners, 5 repeats x 2 folds.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect and its interval are those of `five_by_two_t`. The F test does not show which learner is better. `details`
        contains `t`, the mean difference divided by the standard deviation of a single difference, and `p_direction`, the
        p-value of `t`. The interval excludes zero if and only if `p_direction` is below 1 - level. If the interval contains
        zero, neither learner can be called better.

    Examples
    --------
    >>> a = [[0.80, 0.78], [0.82, 0.79], [0.81, 0.80], [0.79, 0.83], [0.80, 0.82]]
    >>> b = [[0.76, 0.77], [0.78, 0.78], [0.80, 0.76], [0.78, 0.79], [0.77, 0.80]]
    >>> print(five_by_two_f(a, b))
    5x2 cv F test (Alpaydin): F = 2.19, df = 10 and 5, p = 0.2, n = 10
    """
    from scipy.special import fdtrc, stdtr

    d = _read_five_by_two(a, b)
    total, spread = float((d**2).sum()), float(_compute_repeat_variances(d).sum())
    statistic = _divide_or_nan(total, 2 * spread, "five_by_two_f", all_zero=not d.any())
    pivot = _Pivot(0.0, math.sqrt(spread / 5), 5, centre=_compute_exact_mean(d))
    p = 1.0 if statistic == 0 else float(fdtrc(10, 5, statistic))
    t = float("nan") if np.isnan(statistic) else _compute_exact_mean(d) / pivot.error if pivot.error else 0.0
    details = {"t": t, "p_direction": float(2 * stdtr(5, -abs(t)))}
    effect = _compute_t_effect(pivot, level)
    return _build_t_outcome("five_by_two_f", statistic, (10.0, 5.0), p, d, effect, "Alpaydin", details, ())


@dataclass(frozen=True)
class _Pivot:
    """Numerator and denominator of a t statistic, and the centre of the interval."""

    numerator: float
    error: float
    df: int
    centre: float | None = None


def _build_from_t(
    test: str,
    d: FloatArray,
    pivot: _Pivot,
    level: float,
    variant: str = "",
    details: dict[str, float] | None = None,
    caveats: tuple[Finding, ...] = (),
) -> Outcome:
    from scipy.special import stdtr

    statistic = _divide_or_nan(pivot.numerator, pivot.error, test, all_zero=not d.any())
    p = float(2 * stdtr(pivot.df, -abs(statistic)))
    return _build_t_outcome(
        test, statistic, float(pivot.df), p, d, _compute_t_effect(pivot, level), variant, details or {}, caveats
    )


def _build_t_outcome(
    test: str,
    statistic: float,
    df: Degrees,
    p: float,
    d: FloatArray,
    effect: Effect,
    variant: str,
    details: dict[str, float],
    caveats: tuple[Finding, ...],
) -> Outcome:
    all_caveats = caveats if d.any() else (*caveats, Finding.of("same_scores"))
    return Outcome(test, statistic, p, df=df, n=d.size, variant=variant, effect=effect, details=details, caveats=all_caveats)


def _compute_t_effect(pivot: _Pivot, level: float) -> Effect:
    from scipy.special import stdtrit

    _check.check_between("level", level, 0, 1)
    centre = pivot.numerator if pivot.centre is None else pivot.centre
    half = float(stdtrit(pivot.df, (1 + level) / 2)) * pivot.error
    return Effect("mean difference", centre, centre - half, centre + half, level, "" if pivot.error else _NO_VARIATION)


def _divide_or_nan(numerator: float, denominator: float, test: str, all_zero: bool) -> float:
    if denominator:
        return numerator / denominator
    if all_zero:
        return 0.0
    warnings.warn(
        f"{test} is undefined and returns NaN: the differences do not vary",
        UndefinedMeasureWarning,
        stacklevel=4,
    )
    return float("nan")


def _compute_exact_mean(d: FloatArray) -> float:
    # If all differences are equal, return their value, because the computed mean can differ from it by a rounding error.
    return float(d.flat[0]) if np.ptp(d) == 0 else float(d.mean())


def _compute_error(d: FloatArray, factor: float) -> float:
    return 0.0 if np.ptp(d) == 0 else math.sqrt(factor * float(d.var(ddof=1)))


def _compute_repeat_variances(d: FloatArray) -> FloatArray:
    """Compute Dietterich's variance of the two differences in each repeat."""
    return np.asarray((d[:, 0] - d[:, 1]) ** 2 / 2)


def _read_five_by_two(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    return _read_difference_matrix(a, b, (5, 2), "repeats x folds", "use corrected_resampled_t for other designs")


def _read_difference_matrix(a: npt.ArrayLike, b: npt.ArrayLike, shape: tuple[int, int], layout: str, remedy: str) -> FloatArray:
    first, second = (_check.check_finite(name, _check.check_numbers(name, values)) for name, values in (("a", a), ("b", b)))
    for name, values in (("a", first), ("b", second)):
        if values.shape != shape:
            raise InputError(f"{name} must be {shape[0]} x {shape[1]} ({layout}), got shape {values.shape}: {remedy}")
    return compute_differences(first, second)
