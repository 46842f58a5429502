"""Sample size: how many rows or data sets an interval or a decision needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import name_argument, name_place, render, render_all
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_table, make_plural, wrap_item, wrap_lines
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.measures.auc_inference import compute_hanley_mcneil_variance
from fairtrial.measures.intervals import compute_normal_quantile, compute_wilson_limits
from fairtrial.measures.measure import registry
from fairtrial.significance.margins import check_margin
from fairtrial.significance.power import compute_one_sided_power, find_n_needed
from fairtrial.significance.reading import read_scores
from fairtrial.significance.scores import Better, Scores

if TYPE_CHECKING:
    import pandas as pd

IntervalMethod = Literal["wilson", "normal", "obuchowski", "hanley-mcneil"]
_ALL_ROWS, _POSITIVE_ROWS, _NEGATIVE_ROWS = (
    ("accuracy", "error_rate"),
    ("recall", "fnr"),
    ("specificity", "fpr"),
)
RATES = (*_ALL_ROWS, *_POSITIVE_ROWS, *_NEGATIVE_ROWS)
"""Measures that are proportions of all rows, of positive rows or of negative rows."""

_LARGEST = 10**9
# Number of standard normal quantiles that represent the distribution of a linear predictor.
_QUANTILES = 4000
_MIN_PILOT_DATASETS = 3

_METHOD_NAMES = {
    "wilson": "width of the Wilson interval (Wilson 1927)",
    "normal": "normal approximation of a proportion",
    "obuchowski": "variance of a binormal AUC (Obuchowski et al. 2004, formula 3)",
    "hanley-mcneil": "variance of an AUC by Hanley and McNeil (1982)",
    "calibration_slope": "Fisher information of the logistic calibration model (Riley et al. 2021)",
    "auc_test": "variance of a binormal AUC (Obuchowski et al. 2004, formulas 2 and 3)",
    "auc_difference": "variances and covariance of binormal AUCs (Obuchowski & McClish 1997)",
    "discordant": "normal approximation of the difference of paired proportions (Connor 1987)",
    "standard_error": "normal approximation with the standard error of the pilot",
    "wilcoxon": "one-sided Wilcoxon test, simulated up to 30 data sets, then noncentral t with efficiency 3/pi",
    "paired_t": "one-sided t test (noncentral t)",
}


@dataclass(frozen=True)
class SampleSize:
    """The number of rows or data sets needed for an interval or a test.

    Attributes
    ----------
    n : int
        Number of rows or data sets.
    unit : str
        What `n` counts: "row" or "data set".
    positives, negatives : int or None
        Number of rows of each class; None if the method does not use it.
    clusters : int or None
        Number of clusters that contain the rows; None if rows are not clustered.
    n_exact : float
        Number of rows or data sets according to the formula, before rounding up.
    power : float
        Power with `n` rows or data sets; NaN for an interval.
    power_error : float
        Monte Carlo standard error of `power`; 0 if the power was computed by a formula.
    target : float
        The desired power; NaN for an interval, or if the numbers of rows were given.
    width : float
        Width of the interval, upper minus lower limit; NaN for a test.
    alpha : float
        Significance level of two-sided tests, or 1 minus the confidence level.
    method : str
        Description of the formula.
    answer : Finding
        The answer, which `summary` renders as text.
    caveats : tuple of Finding
        Assumptions and limitations that apply to this result.

    Examples
    --------
    >>> plan_interval("accuracy", 0.05, expected=0.8).n
    982
    """

    n: int
    unit: str
    n_exact: float
    method: str
    answer: Finding
    positives: int | None = None
    negatives: int | None = None
    clusters: int | None = None
    power: float = math.nan
    power_error: float = 0.0
    target: float = math.nan
    width: float = math.nan
    alpha: float = 0.05
    caveats: tuple[Finding, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the result as a data frame with one row.

        Returns
        -------
        DataFrame
        """
        import pandas as pd

        return pd.DataFrame([{name: value for name, value in vars(self).items() if name not in ("answer", "caveats")}])

    @property
    def summary(self) -> str:
        """The answer, the formula and the caveats as text."""
        return " ".join([render(self.answer), render(Finding.of("size_method", method=self.method)), *render_all(self.caveats)])

    def format_lines(self) -> list[str]:
        """Format the answer, the formula and the caveats for the console.

        Returns
        -------
        list of str
            Lines of at most 80 columns.
        """
        method = render(Finding.of("size_method", method=self.method))
        caveats = [line for caveat in self.caveats for line in wrap_item(render(caveat), " ")]
        return [*wrap_lines(render(self.answer)), *wrap_item(method, " "), *caveats]

    def __str__(self) -> str:
        return "\n".join(self.format_lines())

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def describe_size(
    n: int, unit: str, positives: int | None = None, clusters: int | None = None, about: bool = False
) -> dict[str, object]:
    """Return the values that describe a sample size in an answer.

    `details` contains the numbers of clusters and positive rows. If `about` is true, all numbers are rounded up to two
    significant digits.

    >>> describe_size(4287, "row", positives=511, about=True)
    {'about': 'About ', 'n': 4300, 'units': 'rows', 'details': '520 positive'}
    """

    def round_up(number: int) -> int:
        """Round an estimate up to two significant digits, because it is not more precise than that."""
        scale = 10 ** max(0, len(str(number)) - 2) if about else 1
        return math.ceil(number / scale) * scale

    details = [] if clusters is None else [f"in {format_count(round_up(clusters), 'cluster')}"]
    details += [] if positives is None else [f"{round_up(positives):,} positive"]
    number = round_up(n)
    units = unit if number == 1 else make_plural(unit)
    return {"about": "About " if about else "", "n": number, "units": units, "details": ", ".join(details)}


# Intervals


def plan_interval(
    measure: str,
    width: float,
    *,
    expected: float | None = None,
    level: float = 0.95,
    method: IntervalMethod | None = None,
    prevalence: float | None = None,
    auc: float | None = None,
    linear_predictor: npt.ArrayLike | None = None,
    design_effect: float = 1.0,
) -> SampleSize:
    """Compute how many rows are needed for an interval of a given width.

    Parameters
    ----------
    measure : str
        "accuracy", "error_rate", "recall", "fnr", "specificity", "fpr", "auc" or "calibration_slope".
    width : float
        Width of the interval, i.e. upper minus lower confidence limit.
    expected : float, optional
        Expected value of the measure. Default: 0.5 for proportions, which is the worst case, and 1 for the calibration slope.
        Required for "auc".
    level : float, default 0.95
        Confidence level.
    method : {"wilson", "normal", "obuchowski", "hanley-mcneil"}, optional
        "wilson" (default) or "normal" for proportions, "obuchowski" (default) or "hanley-mcneil" for the AUC.
    prevalence : float, optional
        Proportion of positive rows. Default: 0.5. For proportions of one class, such as recall, the prevalence affects only the
        total number of rows.
    auc : float, optional
        Expected AUC (only for the calibration slope). It determines the distribution of the linear predictor.
    linear_predictor : array-like, optional
        Logits of predicted probabilities, e.g. from a pilot study (only for the calibration slope). They replace `auc` and
        `prevalence`.
    design_effect : float, default 1
        Factor by which clusters of dependent rows increase the variance.

    Returns
    -------
    SampleSize

    Notes
    -----
    `n` is computed for an estimate that equals the expected value. The interval is the Wilson interval (1927), or the estimate
    plus or minus z standard errors.

    The variance of an AUC is 0.0099 exp(-A^2 / 2) ((5 A^2 + 8) + (A^2 + 8) / k), divided by the number of positive rows. This
    is formula 3 of Obuchowski, Lieber & Wians (2004), where A = 1.414 z(AUC). Here, z is the standard normal quantile function,
    and k is the number of negative rows per positive row. With "hanley-mcneil", the variance of Hanley and McNeil (1982) is
    used instead.

    The standard error of a calibration slope is sqrt(Ia / (Ia Ib - Iab^2) / n) (Riley et al. 2021). Ia, Iab and Ib are the
    means of w, w L and w L^2. Here, L is the linear predictor, w = p (1 - p), and logit(p) = expected * L. Without
    `linear_predictor`, L is assumed to be calibrated and normal in each class. Its standard deviation within each class is then
    s = sqrt(2) z(AUC), and its class means are logit(prevalence) plus or minus s^2 / 2.

    Examples
    --------
    >>> print(plan_interval("auc", 0.1, expected=0.8, prevalence=0.2))
    654 rows (131 positive) are needed for a 95 % interval of the AUC with a width
    of 0.1, if the AUC is 0.8.
      Formula: variance of a binormal AUC (Obuchowski et al. 2004, formula 3).
    """
    name = "calibration_slope" if measure == "calibration_slope" else get_measure(measure).name
    _check.check_positive("width", width)
    _check.check_between("level", level, 0, 1)
    _check.check_at_least("design_effect", design_effect, 1)
    if prevalence is not None:
        _check.check_between("prevalence", prevalence, 0, 1)
    if name == "calibration_slope":
        _check_absent(name, method=method)
        slope = 1.0 if expected is None else expected
        _check.check_positive("expected", slope)
        n_exact = _solve_slope_width(width, slope, level, _build_linear_predictor(linear_predictor, auc, prevalence))
        chosen, positives, value = "calibration_slope", None, slope
    else:
        _check_absent(name, auc=auc, linear_predictor=linear_predictor)
        if width >= 1:
            raise InputError(f"width must be less than 1, the range of {name}, got {width:g}: pass the width of the interval")
        if name == "auc":
            if expected is None:
                raise InputError("expected must be given for auc: pass the AUC that you expect, such as 0.8")
            _check.check_between("expected", expected, 0, 1)
            chosen = _choose_method(method, ("obuchowski", "hanley-mcneil"), name)
            share, value = 0.5 if prevalence is None else prevalence, expected
            n_exact = _solve_auc_width(width, value, level, share, chosen)
            positives = share
        else:
            chosen = _choose_method(method, ("wilson", "normal"), name)
            value = 0.5 if expected is None else expected
            _check.check_number("expected", value)
            if not 0 <= value <= 1:
                raise InputError(
                    f"expected must be between 0 and 1, got {value:g}: pass the value that you expect, such as 0.8"
                )
            n_exact = _solve_proportion_width(width, value, level, chosen)
            n_exact, positives = _scale_by_class(name, n_exact, prevalence)
    n_exact *= design_effect
    n, n_positives, n_negatives = _round_classes(n_exact, positives)
    display = "calibration slope" if name == "calibration_slope" else get_measure(name).display_name
    described = describe_size(n, "row", n_positives)
    caveats = [Finding.of("size_design_effect", effect=design_effect)] if design_effect > 1 else []
    return SampleSize(
        n,
        "row",
        n_exact,
        _METHOD_NAMES[chosen],
        Finding.of("size_for_interval", measure=display, width=width, level=level, expected=value, **described),
        n_positives,
        n_negatives,
        width=width,
        alpha=1 - level,
        caveats=tuple(caveats),
    )


def _check_absent(measure: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} must be None for {measure}, got {value!r}: leave it out")


def _choose_method(method: str | None, options: Sequence[str], measure: str) -> str:
    if method is None:
        return options[0]
    if method not in options:
        raise InputError(f"method must be one of {', '.join(options)} for {measure}, got {method!r}")
    return method


def _scale_by_class(name: str, n_class: float, prevalence: float | None) -> tuple[float, float | None]:
    """Return the total number of rows and the prevalence, given the rows for a proportion."""
    if name in _ALL_ROWS:
        return n_class, prevalence
    if name not in RATES:
        options = ", ".join((*RATES, "auc", "calibration_slope"))
        remedy = name_place("--pilot FILE", "fairtrial.predictions.plan_test")
        raise InputError(f"measure must be one of {options}, got {name!r}: for others, use a pilot ({remedy})")
    share = 0.5 if prevalence is None else prevalence
    return n_class / (share if name in _POSITIVE_ROWS else 1 - share), share


def _round_classes(n_exact: float, prevalence: float | None) -> tuple[int, int | None, int | None]:
    """Round up the number of rows of each class."""
    if prevalence is None:
        return round_up_size(n_exact), None, None
    positives, negatives = round_up_size(n_exact * prevalence), round_up_size(n_exact * (1 - prevalence))
    return positives + negatives, positives, negatives


def round_up_size(number: float) -> int:
    """Round up a number of rows or data sets, but ignore excesses due to rounding errors.

    >>> round_up_size(982.3), round_up_size(982.0000000001)
    (983, 982)
    """
    if number > _LARGEST:
        raise InputError(f"more than {_LARGEST:,} rows or data sets would be needed: pass a larger width, margin or difference")
    return math.ceil(number * (1 - 1e-12))


def _solve_proportion_width(width: float, expected: float, level: float, method: str) -> float:
    z = compute_normal_quantile(level)
    if method == "normal":
        return max(1.0, 4 * z * z * expected * (1 - expected) / width**2)

    def compute_width(n: int) -> float:
        low, high = compute_wilson_limits(expected * n, n, level)
        return high - low

    return float(_find_smallest(lambda n: compute_width(n) <= width))


def _find_smallest(is_enough: Callable[[int], bool]) -> int:
    """Find the smallest n for which `is_enough(n)` is true, assuming that it is true for every larger n."""
    high = 1
    while not is_enough(high):
        high *= 2
        if high > _LARGEST:
            return 2 * _LARGEST
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def compute_obuchowski_variance(auc: float, ratio: float) -> float:
    """Compute the variance of a binormal AUC times the number of positive rows.

    `ratio` is the number of negative rows per positive row. The rounded constants are those of formula 3 of Obuchowski et al.
    (2004) and of pROC. For normal scores with equal variances, the exact constant is 1 / (32 pi) instead of 0.0099.

    >>> round(compute_obuchowski_variance(0.8, 1.0), 4)
    0.1195
    """
    from scipy.special import ndtri

    a = 1.414 * float(ndtri(auc))
    return 0.0099 * math.exp(-a * a / 2) * ((5 * a * a + 8) + (a * a + 8) / ratio)


def _solve_auc_width(width: float, auc: float, level: float, prevalence: float, method: str) -> float:
    z, ratio = compute_normal_quantile(level), (1 - prevalence) / prevalence
    if method == "obuchowski":
        return 4 * z * z * compute_obuchowski_variance(auc, ratio) / width**2 / prevalence
    largest = (width / (2 * z)) ** 2

    def is_enough(n: int) -> bool:
        return compute_hanley_mcneil_variance(auc, n * prevalence, n * (1 - prevalence)) <= largest

    return float(_find_smallest(is_enough))


def _build_linear_predictor(
    linear_predictor: npt.ArrayLike | None, auc: float | None, prevalence: float | None
) -> tuple[FloatArray, FloatArray]:
    """Return values of the linear predictor and their probabilities."""
    from scipy.special import logit, ndtri

    if linear_predictor is not None:
        _check_absent("a given linear_predictor", auc=auc, prevalence=prevalence)
        values = _check.check_finite("linear_predictor", _check.check_numbers("linear_predictor", linear_predictor)).ravel()
        if len(values) < 2 or np.ptp(values) == 0:
            raise InputError("linear_predictor must have at least 2 different values: pass the logits of a pilot")
        return values, np.full(len(values), 1 / len(values))
    if auc is None:
        raise InputError("auc must be given for calibration_slope: pass the expected AUC, or the logits of a pilot")
    _check.check_between("auc", auc, 0.5, 1)
    share = 0.5 if prevalence is None else prevalence
    spread, centre = math.sqrt(2) * float(ndtri(auc)), float(logit(share))
    normal = spread * ndtri((np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    values = np.concatenate([centre + spread**2 / 2 + normal, centre - spread**2 / 2 + normal])
    return values, np.repeat([share / _QUANTILES, (1 - share) / _QUANTILES], _QUANTILES)


def _solve_slope_width(width: float, slope: float, level: float, distribution: tuple[FloatArray, FloatArray]) -> float:
    from scipy.special import expit

    values, chances = distribution
    weights = chances * expit(slope * values) * expit(-slope * values)
    i_a, i_ab, i_b = (float((weights * values**power).sum()) for power in range(3))
    variance = i_a / (i_a * i_b - i_ab**2)
    return 4 * compute_normal_quantile(level) ** 2 * variance / width**2


# Tests of AUCs


def plan_auc_test(
    auc: float,
    second: float | None = None,
    *,
    positives: float | None = None,
    negatives: float | None = None,
    prevalence: float | None = None,
    correlation: float = 0.5,
    power: float = 0.8,
    alpha: float = 0.05,
) -> SampleSize:
    """Compute the sample size or the power of a test of one AUC, or of two paired AUCs.

    Parameters
    ----------
    auc : float
        Expected AUC.
    second : float, optional
        Expected AUC of another model on the same rows. Default: the AUC is compared with 0.5.
    positives, negatives : float, optional
        Number of rows of each class. If given, the power is computed. By default, the number of rows needed to reach `power`
        is computed.
    prevalence : float, optional
        Proportion of positive rows. Default: 0.5.
    correlation : float, default 0.5
        Correlation between the scores of the two models within each class.
    power : float, default 0.8
        The desired power.
    alpha : float, default 0.05
        Significance level of the two-sided test.

    Returns
    -------
    SampleSize

    Notes
    -----
    The formulas are those of `power.roc.test` in the R package pROC. For one AUC, the variance under the null hypothesis is
    0.0792 (1 + 1 / k), divided by the number of positive rows. Here, k is the number of negative rows per positive row. The
    variance under the alternative is given by formula 3 of Obuchowski, Lieber and Wians (2004). For two AUCs, the scores are
    assumed to be binormal with equal variances (Obuchowski & McClish 1997). Under the null hypothesis, both AUCs have the
    variance of the first AUC.

    Examples
    --------
    >>> round(plan_auc_test(0.7313686, positives=41, negatives=72).power, 4)
    0.9905
    >>> print(plan_auc_test(0.85, 0.80))
    820 rows (410 positive) are needed to show that AUCs of 0.85 and 0.8 differ, with
    a power of 80 %.
      Formula: variances and covariance of binormal AUCs (Obuchowski & McClish
      1997).
    """
    from scipy.special import ndtr, ndtri

    _check.check_between("auc", auc, 0, 1)
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_between("power", power, 0, 1)
    other = 0.5 if second is None else second
    _check.check_between("second", other, 0, 1)
    _check.check_between("correlation", correlation, -1, 1)
    if auc == other:
        raise InputError(f"auc must differ from {other:g}, got {auc:g}: a test cannot show that there is no difference")
    if (positives is None) != (negatives is None):
        raise InputError("positives and negatives must be given together: pass both numbers, or neither")
    if positives is not None and negatives is not None:
        _check.check_positive("positives", positives)
        _check.check_positive("negatives", negatives)
        _check_absent("given numbers of rows", prevalence=prevalence)
        share = positives / (positives + negatives)
    else:
        share = 0.5 if prevalence is None else prevalence
        _check.check_between("prevalence", share, 0, 1)
    null, alternative = _compute_test_variances(auc, second, (1 - share) / share, correlation)
    z, difference = compute_normal_quantile(1 - alpha), abs(auc - other)
    if positives is not None and negatives is not None:
        n_exact = positives + negatives
        reached = float(ndtr((math.sqrt(positives) * difference - z * math.sqrt(null)) / math.sqrt(alternative)))
    else:
        n_exact = (z * math.sqrt(null) + float(ndtri(power)) * math.sqrt(alternative)) ** 2 / difference**2 / share
        reached = power
    n, n_positives, n_negatives = _round_classes(n_exact, share)
    kind, method = ("size_for_auc", "auc_test") if second is None else ("size_for_two_aucs", "auc_difference")
    described = describe_size(n, "row", n_positives)
    return SampleSize(
        n,
        "row",
        n_exact,
        _METHOD_NAMES[method],
        Finding.of(kind, auc=auc, second=other, power=reached, **described),
        n_positives,
        n_negatives,
        power=reached,
        target=math.nan if positives is not None else power,
        alpha=alpha,
    )


def _compute_test_variances(auc: float, second: float | None, ratio: float, correlation: float) -> tuple[float, float]:
    """Return the variances under both hypotheses, each times the number of positive rows."""
    if second is None:
        return 0.0792 * (1 + 1 / ratio), compute_obuchowski_variance(auc, ratio)
    (var_a, *terms_a), (var_b, *terms_b) = (_compute_binormal_terms(value, ratio) for value in (auc, second))
    (a1, f1, g1), (a2, f2, g2) = terms_a, terms_b
    square = correlation**2
    covariance = (
        f1 * f2 * (correlation + correlation / ratio + square * a1 * a2 / 2)
        + g1 * g2 * square * (1 + ratio) / (2 * ratio)
        + f1 * g2 * square * a1 / 2
        + f2 * g1 * square * a2 / 2
    )
    return 2 * var_a - 2 * covariance, var_a + var_b - 2 * covariance


def _compute_binormal_terms(auc: float, ratio: float) -> tuple[float, float, float, float]:
    """Return the scaled variance of a binormal AUC and its terms (Obuchowski & McClish 1997)."""
    from scipy.special import ndtri

    a = math.sqrt(2) * float(ndtri(auc))
    f = math.exp(-a * a / 4) / math.sqrt(4 * math.pi)
    g = -a * math.exp(-a * a / 4) / math.sqrt(16 * math.pi)
    variance = f * f * (1 + 1 / ratio + a * a / 2) + g * g * (1 + ratio) / (2 * ratio)
    return variance, a, f, g


# Decisions at a margin


def plan_margin(
    margin: float,
    *,
    discordant: float | None = None,
    standard_error: float | None = None,
    n: int | None = None,
    sd: float | None = None,
    test: Literal["wilcoxon", "paired_t"] = "wilcoxon",
    difference: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
    equivalent: bool = False,
) -> SampleSize:
    """Compute how many rows or data sets are needed for a decision at a margin.

    The goal is to show that the new model is not worse than the old one by more than the margin.

    Specify the variance in one of three ways. `discordant` is for accuracy on the same rows. `standard_error` with `n` is for
    any measure on the rows of a pilot study. `sd` is for comparisons over several data sets.

    Parameters
    ----------
    margin : float
        The largest loss that does not matter. It must be greater than 0.
    discordant : float, optional
        Proportion of rows that exactly one of the two models predicts correctly.
    standard_error : float, optional
        Standard error of the difference on `n` rows, e.g. that of the DeLong test for AUCs.
    n : int, optional
        Number of rows on which `standard_error` is based.
    sd : float, optional
        Standard deviation, over data sets, of the difference between the learners.
    test : {"wilcoxon", "paired_t"}, default "wilcoxon"
        Test over data sets, as in `margin_test`.
    difference : float, default 0
        The true difference, new minus old. Positive values mean that the new model is better.
    power : float, default 0.8
        The desired power.
    alpha : float, default 0.05
        1 minus the confidence level of the interval. Each one-sided test has significance level alpha / 2.
    equivalent : bool, default False
        Whether to plan for equivalence (two one-sided tests) instead of non-inferiority.

    Returns
    -------
    SampleSize

    Notes
    -----
    The power for equivalence is P(lower limit > -margin) + P(upper limit < margin) - 1. This formula is exact if the two tests
    cannot both fail. Otherwise, it is a lower bound.

    Examples
    --------
    >>> print(plan_margin(0.02, discordant=0.1))
    1,963 rows are needed to show non-inferiority in accuracy at a margin of 0.02
    with a power of 80 %, if the models are equally good.
      Formula: normal approximation of the difference of paired proportions (Connor
      1987).
    >>> plan_margin(0.01, sd=0.02).n
    35
    """
    check_margin(margin)
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_between("power", power, 0, 1)
    check_true_difference(difference, margin, equivalent)
    variances = {"discordant": discordant, "standard_error": standard_error, "sd": sd}
    names = [name for name, value in variances.items() if value is not None]
    if len(names) != 1:
        raise InputError(f"exactly one of discordant, standard_error and sd must be given, got {', '.join(names) or 'none'}")
    noun, measure, unit, method = "model", "accuracy", "row", ""
    if sd is not None:
        _check.check_positive("sd", sd)
        _check.check_one_of("test", test, ("wilcoxon", "paired_t"))
        n_exact, reached = _plan_datasets(margin, sd, test, difference, power, alpha, equivalent)
        noun, measure, unit, method = "learner", "the scores", "data set", test
    else:
        variance = _read_row_variance(discordant, standard_error, n, difference)
        n_exact, reached = solve_margin(margin, variance, difference, power, alpha, equivalent), power
        measure, method = ("accuracy", "discordant") if discordant is not None else ("the measure", "standard_error")
    size = round_up_size(n_exact)
    described = describe_size(size, unit)
    return SampleSize(
        size,
        unit,
        n_exact,
        _METHOD_NAMES[method],
        describe_margin_answer(described, measure, margin, power, difference, equivalent, noun),
        power=reached,
        target=power,
        alpha=alpha,
    )


def plan_datasets(
    scores: Scores | str | PathLike[str] | Any,
    margin: float,
    *,
    candidate: str | None = None,
    baseline: str | None = None,
    measure: str | None = None,
    better: Better | None = None,
    test: Literal["wilcoxon", "paired_t"] = "wilcoxon",
    difference: float = 0.0,
    power: float = 0.8,
    alpha: float = 0.05,
    equivalent: bool = False,
) -> SampleSize:
    """Compute how many data sets are needed for a decision on two learners at a margin.

    The goal is to show that the new learner is not worse than the old one by more than the margin.

    The standard deviation of the difference between the learners is estimated from the scores of a pilot study. The observed
    mean difference is not used.

    Parameters
    ----------
    scores : path, dataframe, 2-D array or Scores
        Scores of a pilot study on at least 3 data sets, as for `compare`.
    margin : float
        The largest loss that does not matter. It must be greater than 0.
    candidate, baseline : str, optional
        The new and the old learner. By default, if there are only two learners, the first is the candidate and the second is
        the baseline.
    measure : str, optional
        Measure of the scores. It determines the direction, and selects the scores if there are several measures.
    better : {"max", "min"}, optional
        Whether larger or smaller scores are better. Default: the direction of the measure if known, otherwise "max".
    test, power, alpha, equivalent : optional
        As in `plan_margin`.
    difference : float, default 0
        The true mean difference, candidate minus baseline.

    Returns
    -------
    SampleSize

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"new": [0.91, 0.85, 0.78, 0.88], "old": [0.90, 0.86, 0.75, 0.88]}, index=["a", "b", "c", "d"])
    >>> plan_datasets(scores, margin=0.02).n
    9
    """
    check_margin(margin)
    table = read_scores(scores, measure=measure, rows=None)
    names = table.learners
    new, old = _choose_learners(names, candidate, baseline)
    means = table.compute_means()
    values = means[:, names.index(new)] - means[:, names.index(old)]
    values = values[~np.isnan(values)]
    if len(values) < _MIN_PILOT_DATASETS:
        raise InputError(f"scores must have at least {_MIN_PILOT_DATASETS} data sets with both learners, got {len(values)}")
    sd = float(values.std(ddof=1))
    if not sd > 1e-12 * float(np.abs(means).max(initial=0.0)):
        raise InputError("the differences between data sets must vary, got equal ones: pass more data sets")
    known = measure or table.measure or ""
    direction = better or (get_measure(known).facts.direction if known in registry else "max")
    gain = difference if direction == "max" else -difference
    size = plan_margin(margin, sd=sd, test=test, difference=gain, power=power, alpha=alpha, equivalent=equivalent)
    described = describe_size(size.n, "data set", about=True)
    display = get_measure(known).display_name if known in registry else "the scores"
    answer = describe_margin_answer(described, display, margin, power, difference, equivalent, "learner")
    return replace(size, answer=answer, caveats=(Finding.of("size_from_scores", datasets=len(values), sd=sd),))


def _choose_learners(names: Sequence[str], candidate: str | None, baseline: str | None) -> tuple[str, str]:
    for role, name in (("candidate", candidate), ("baseline", baseline)):
        if name is not None and name not in names:
            raise InputError(f"{role} must be a learner of the scores, got {name!r}: {suggest_name(name, names)}")
    if len(names) == 2:
        new = candidate or next(name for name in names if name != baseline)
        old = baseline or next(name for name in names if name != new)
    elif candidate is None or baseline is None:
        role = "candidate" if candidate is None else "baseline"
        raise InputError(f"{role} must name a learner: pass {name_argument(role, 'NAME')}, one of {', '.join(names)}")
    else:
        new, old = candidate, baseline
    if new == old:
        raise InputError(f"candidate and baseline must differ, got {new!r} for both: name two learners")
    return new, old


def check_true_difference(difference: float, margin: float, equivalent: bool) -> None:
    """Check that the true difference is within the margin; otherwise no sample suffices."""
    _check.check_number("difference", difference)
    if not difference > -margin:
        raise InputError(f"difference must be above -{margin:g}, got {difference:g}: no number of rows shows non-inferiority")
    if equivalent and not difference < margin:
        raise InputError(f"difference must be below {margin:g}, got {difference:g}: no number of rows shows equivalence")


def describe_margin_answer(
    described: dict[str, object], measure: str, margin: float, power: float, difference: float, equivalent: bool, noun: str
) -> Finding:
    """Describe how many rows or data sets are needed to show non-inferiority or equivalence."""
    goal = "equivalence" if equivalent else "non-inferiority"
    values = {"measure": measure, "margin": margin, "power": power, "goal": goal, "compared": noun, **described}
    kind = "size_for_margin" if difference == 0 else "size_for_margin_and_difference"
    return Finding.of(kind, assumed=difference, **values)


def _read_row_variance(discordant: float | None, standard_error: float | None, n: int | None, difference: float) -> float:
    """Return the variance of the difference, multiplied by the number of rows."""
    if discordant is not None:
        _check.check_proportion("discordant", discordant)
        if discordant <= abs(difference):
            raise InputError(f"discordant must be greater than the difference {abs(difference):g}, got {discordant:g}")
        return discordant - difference**2
    assert standard_error is not None
    _check.check_positive("standard_error", standard_error)
    if n is None:
        raise InputError("n must be given with standard_error: pass the number of rows of the pilot")
    return standard_error**2 * _check.check_whole_number("n", n, 2)


def compute_margin_power(
    one_sided_power: Callable[[float], float], margin: float, difference: float, equivalent: bool
) -> float:
    """Compute the power of a decision at a margin.

    `one_sided_power` computes the power of a one-sided test from the distance between the true difference and the margin.
    """
    lower = one_sided_power(margin + difference)
    return lower if not equivalent else max(0.0, lower + one_sided_power(margin - difference) - 1)


def solve_margin(margin: float, variance: float, difference: float, power: float, alpha: float, equivalent: bool) -> float:
    """Compute the number of rows for a decision at a margin. `variance` applies to a single row."""
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    z = compute_normal_quantile(1 - alpha)
    root = max(0.0, z + float(ndtri(power))) * math.sqrt(variance)
    if not equivalent:
        return max(1.0, (root / (margin + difference)) ** 2)

    def compute_excess(log_n: float) -> float:
        scale = math.sqrt(math.exp(log_n) / variance)
        return compute_margin_power(lambda distance: float(ndtr(distance * scale - z)), margin, difference, True) - power

    nearest = margin - abs(difference)
    enough = (z + float(ndtri(1 - (1 - power) / 2))) * math.sqrt(variance) / nearest
    return float(math.exp(brentq(compute_excess, 2 * math.log(enough) - 20, 2 * math.log(enough) + 1e-9, xtol=1e-13)))


def _plan_datasets(
    margin: float,
    sd: float,
    test: Literal["wilcoxon", "paired_t"],
    difference: float,
    power: float,
    alpha: float,
    equivalent: bool,
) -> tuple[float, float]:
    """Find the smallest number of data sets that reaches the desired power, and its power."""

    def compute_power(n: float, size: float, is_approximate: bool = False) -> float:
        del size
        return compute_margin_power(
            lambda distance: compute_one_sided_power(int(n), distance / sd, alpha, test, is_approximate),
            margin,
            difference,
            equivalent,
        )

    n = find_n_needed(compute_power, lambda n, size: compute_power(n, size, True), margin, power, test)
    if math.isnan(n):
        raise InputError(f"more than {_LARGEST:,} data sets would be needed: pass a larger margin or difference")
    return n, compute_power(n, margin)
