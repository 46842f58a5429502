"""Tests based on counts: McNemar test, sign test and Cochran Q test."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._frames import to_pandas
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures.intervals import (
    compute_clopper_pearson_limits,
    compute_normal_quantile,
    compute_wilson_limits,
    read_clusters,
)
from fairtrial.significance.names import register_method, resolve_name
from fairtrial.significance.omnibus import PermutationPlan
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.significance.scores import compute_differences, read_paired_columns

register_method("sign_test", "sign test", statistic="wins")
register_method("mcnemar", "McNemar test", cite="McNemar 1947; Fagerland, Lydersen & Laake 2013; Newcombe 1998", statistic="b")
register_method("mcnemar (chi2)", "McNemar test (chi2)", statistic="chi2")
register_method("mcnemar (chi2-uncorrected)", "McNemar test (uncorrected)", statistic="chi2")
register_method("mcnemar (clustered)", "clustered McNemar test", cite="Obuchowski 1998; Durkalski et al. 2003", statistic="t")
register_method("cochran_q (clustered)", "clustered Cochran Q test", cite="Hotelling 1931", statistic="F")
register_method("cochran_q", "Cochran Q test", statistic="Q")
register_method("cochran_q (chi2)", "Cochran Q test", statistic="Q")
register_method("wilson", "Wilson interval", cite="Wilson 1927")

McNemarMethod = Literal["mid-p", "exact", "chi2", "chi2-uncorrected"]
MCNEMAR_METHODS: tuple[McNemarMethod, ...] = ("mid-p", "exact", "chi2", "chi2-uncorrected")
_NO_DISCORDANT_ROWS = Finding.of("no_discordant_rows")
_FIXED_TRAINING_SET = Finding.of("fixed_training_set")
_TIE_FINDINGS = {"drop": "ties_dropped", "split": "ties_split"}
# The chi-squared approximation of the McNemar test needs this many discordant rows.
_MIN_MCNEMAR_ROWS = 20


def mcnemar(
    y_true: npt.ArrayLike,
    pred_a: npt.ArrayLike,
    pred_b: npt.ArrayLike,
    *,
    method: McNemarMethod = "mid-p",
    level: float = 0.95,
    cluster: npt.ArrayLike | None = None,
) -> Outcome:
    """Compare the accuracy of two classifiers on the same rows, using the McNemar test.

    The test uses only the discordant rows, i.e. those that exactly one of the two classifiers predicts correctly. If there are
    none, p is 1.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    pred_a, pred_b : array-like of shape (n,)
        Predicted labels of the two classifiers.
    method : {"mid-p", "exact", "chi2", "chi2-uncorrected"}, default "mid-p"
        "mid-p" and "exact" are binomial tests. "chi2" applies Edwards' continuity correction (Dietterich 1998), and
        "chi2-uncorrected" does not (McNemar 1947).
    level : float, default 0.95
        Confidence level of the interval.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. If clusters are given, a t test on the within-cluster sums is used
        (Obuchowski 1998), and `method` must be "mid-p".

    Returns
    -------
    Outcome
        For the binomial tests, the statistic is b, the number of rows that only the first classifier predicts correctly. The
        effect is the difference in accuracy, with Newcombe's interval for paired proportions (1998, method 10). If this
        interval disagrees with the test, the limit closer to zero is obtained by inverting the test. The reported interval
        therefore excludes zero if and only if p < 1 - level.

    Notes
    -----
    The exact test controls the type I error but is conservative. The chi-squared tests need many discordant rows. The mid-p
    test controlled the type I error in all 9,595 settings studied by Fagerland, Lydersen and Laake (2013).

    Examples
    --------
    >>> y, a, b = [1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0, 0, 0], [1, 0, 1, 0, 1, 1, 0, 1]
    >>> print(mcnemar(y, a, b))
    McNemar test (mid-p): b = 4, p = 0.062, n = 8
    >>> print(mcnemar(y, a, b).effect)
    difference in accuracy 0.5, 95 % CI -0.0271 to 0.759
    """
    method = resolve_name("method", method, MCNEMAR_METHODS)
    _check.check_between("level", level, 0, 1)
    is_correct = _mark_correct(y_true, {"pred_a": pred_a, "pred_b": pred_b})
    if cluster is not None:
        if method != "mid-p":
            raise InputError(f"method must be 'mid-p' with clusters, got {method!r}")
        return _compare_clustered_accuracies(is_correct, cluster, level)
    both, neither = int(is_correct.all(axis=1).sum()), int((~is_correct).all(axis=1).sum())
    b, c = int((is_correct[:, 0] & ~is_correct[:, 1]).sum()), int((is_correct[:, 1] & ~is_correct[:, 0]).sum())
    low, high = compute_mcnemar_limits(both, b, c, neither, level, method)
    effect = Effect("difference in accuracy", (b - c) / len(is_correct), low, high, level)
    details = {"both right": both, "only first right": b, "only second right": c, "both wrong": neither}
    return _build_mcnemar(b, c, len(is_correct), method, effect, details, (_FIXED_TRAINING_SET,))


def mcnemar_table(b: int, c: int, *, method: McNemarMethod = "mid-p", level: float = 0.95) -> Outcome:
    """Apply the McNemar test to the two counts of discordant rows.

    Parameters
    ----------
    b, c : int
        Number of rows that only the first classifier (b) or only the second classifier (c) predicts correctly.
    method : {"mid-p", "exact", "chi2", "chi2-uncorrected"}, default "mid-p"
        Form of the test, as in `mcnemar`.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The effect is the odds ratio b/c, with limits derived from the Wilson interval for b/(b + c). If this interval and the
        test disagree on whether the odds ratio differs from 1, the limits are obtained by inverting the test.

    Examples
    --------
    >>> print(mcnemar_table(121, 59, method="chi2"))
    McNemar test (chi2): chi2 = 20.7, df = 1, p < 0.001, n = 180
    """
    method = resolve_name("method", method, MCNEMAR_METHODS)
    _check.check_between("level", level, 0, 1)
    b, c = _check.check_whole_number("b", b, 0), _check.check_whole_number("c", c, 0)
    details = {"only first right": float(b), "only second right": float(c)}
    effect = None
    if b + c:
        limits = compute_wilson_limits(b, b + c, level)
        if not _agrees_with_test(limits[0] - 0.5, limits[1] - 0.5, b, c, level, method):
            limits = _invert_mcnemar(b, b + c, level, method)
        low, high = (_compute_odds(limit) for limit in limits)
        effect = Effect("odds ratio", b / c if c else math.inf, low, high, level)
    return _build_mcnemar(b, c, b + c, method, effect, details, ())


def sign_test(a: npt.ArrayLike, b: npt.ArrayLike, *, ties: Literal["drop", "split"] = "drop", level: float = 0.95) -> Outcome:
    """Test whether one of two learners wins more often, using the exact two-sided sign test.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two learners on the same data sets or folds. The first learner wins if a > b.
    ties : {"drop", "split"}, default "drop"
        "drop" ignores equal scores. "split" counts half of each tie as a win and half as a loss (Demšar 2006), which is
        conservative. If the number of ties is odd, one tie is ignored because the binomial test requires whole numbers.
    level : float, default 0.95
        Confidence level of the interval.

    Returns
    -------
    Outcome
        The statistic is the number of wins. The effect is the proportion of wins, with a Clopper-Pearson interval.

    Examples
    --------
    >>> a, b = [0.9] * 9 + [0.1], [0.5] * 10
    >>> print(sign_test(a, b))
    sign test (exact): wins = 9, p = 0.021, n = 10
    """
    _check.check_one_of("ties", ties, ("drop", "split"))
    _check.check_between("level", level, 0, 1)
    d = compute_differences(*read_paired_columns(a, b))
    wins, losses, tied = int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum())
    halves, whole = (tied / 2, tied // 2) if ties == "split" else (0.0, 0)
    counts = {"wins": wins + halves, "losses": losses + halves, "ties": float(tied)}
    n_decided = counts["wins"] + counts["losses"]
    effect, caveats = None, [_NO_DISCORDANT_ROWS] if wins + losses == 0 else []
    if n_decided:
        low, high = compute_clopper_pearson_limits(counts["wins"], n_decided, level)
        effect = Effect("proportion of wins", counts["wins"] / n_decided, low, high, level)
    if ties == "split" and tied % 2:
        caveats.append(Finding.of("odd_ties"))
    return Outcome(
        "sign_test",
        counts["wins"],
        _compute_binomial_p(wins + whole, losses + whole),
        n=int(n_decided),
        variant="exact",
        ties=Finding.of(_TIE_FINDINGS[ties], ties=tied) if tied else None,
        effect=effect,
        details=counts,
        caveats=tuple(caveats),
    )


def cochran_q(
    y_true: npt.ArrayLike,
    predictions: Mapping[str, npt.ArrayLike] | npt.ArrayLike,
    *,
    level: float = 0.95,
    cluster: npt.ArrayLike | None = None,
) -> Outcome:
    """Test whether several classifiers differ in accuracy, using the Cochran Q test.

    For two classifiers, Q equals the McNemar statistic without continuity correction. The test uses only the discordant rows,
    i.e. those that some classifiers predict correctly and others do not. If there are none, p is 1. With at most 12 discordant
    rows, or at most 50 predictions in these rows, p is computed by permuting the classifiers within rows. Otherwise, p is based
    on the chi-squared distribution.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    predictions : mapping of str to array-like, DataFrame, or array-like of shape (n, k)
        Predicted labels of the k classifiers.
    level : float, default 0.95
        Confidence level of the interval.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. If clusters are given, Hotelling's T-squared test on the
        within-cluster sums is used.

    Returns
    -------
    Outcome
        The effect is the estimated noncentrality of Q divided by the largest possible Q. It is 0 if Q does not exceed its
        degrees of freedom. It approaches 1 if there are many rows and each classifier predicts either all or none of them
        correctly. The confidence limits of the effect are based on the noncentral chi-squared distribution. No effect is
        reported for clustered rows, or if there are no discordant rows.

    References
    ----------
    Cochran (1950).

    Examples
    --------
    >>> y = [1, 1, 1, 1, 1, 1, 1, 1]
    >>> print(cochran_q(y, {"a": [1] * 8, "b": [1, 1, 1, 1, 1, 0, 0, 0], "c": [1, 0, 0, 0, 1, 0, 1, 0]}))
    Cochran Q test (exact): Q = 6.33, df = 2, p = 0.049, n = 8
    """
    from scipy.special import chdtrc

    _check.check_between("level", level, 0, 1)
    columns = _read_prediction_columns(predictions)
    is_correct = _mark_correct(y_true, columns).astype(float)
    n, k = is_correct.shape
    if cluster is not None:
        return _compare_many_clustered_accuracies(is_correct, tuple(columns), cluster)
    per_learner, per_row = is_correct.sum(axis=0), is_correct.sum(axis=1)
    within = float((per_row * (k - per_row)).sum())
    between = (k - 1) * (k * float((per_learner**2).sum()) - float(per_learner.sum()) ** 2)
    q = between / within if within else 0.0
    permuted = PermutationPlan().compute_p(is_correct[(per_row > 0) & (per_row < k)]) if within else None
    caveats = (_FIXED_TRAINING_SET,) if within else (_FIXED_TRAINING_SET, _NO_DISCORDANT_ROWS)
    return Outcome(
        "cochran_q",
        q,
        1.0 if not within else float(chdtrc(k - 1, q)) if permuted is None else permuted.p_value,
        df=float(k - 1),
        n=n,
        variant="chi2" if permuted is None else permuted.variant,
        effect=_compute_noncentrality_effect(q, k - 1, n * (k - 1), level) if within else None,
        details={f"accuracy {name}": float(value) for name, value in zip(columns, per_learner / n, strict=True)},
        caveats=caveats,
    )


def _sum_clusters(differences: npt.NDArray[Any], cluster: npt.ArrayLike) -> FloatArray:
    codes = read_clusters(cluster)
    assert codes is not None
    _check.check_same_length(y_true=differences, cluster=codes)
    count = int(codes.max()) + 1
    return np.column_stack([np.bincount(codes, weights=column, minlength=count) for column in differences.T])


def compute_clustered_error(differences: FloatArray, cluster: npt.ArrayLike) -> tuple[float, int]:
    """Return the cluster-robust standard error of a mean, and the number of clusters.

    The standard error is NaN if there is only one cluster.

    >>> error, clusters = compute_clustered_error(np.arange(20.0), np.arange(20) % 4)
    >>> round(error, 4), clusters  # inspect_ai prints 0.645
    (0.6455, 4)
    """
    sums = _sum_clusters((differences - differences.mean())[:, None], cluster)[:, 0]
    count = len(sums)
    if count < 2:
        return math.nan, count
    return math.sqrt(count / (count - 1) * float((sums**2).sum())) / len(differences), count


def _compare_clustered_accuracies(is_correct: npt.NDArray[np.bool_], cluster: npt.ArrayLike, level: float) -> Outcome:
    differences = is_correct[:, :1].astype(float) - is_correct[:, 1:]
    sums = _sum_clusters(np.column_stack([differences, np.ones(len(differences))]), cluster)
    if len(sums) < 2:
        warnings.warn(
            "mcnemar is undefined and returns NaN: all rows are in one cluster", UndefinedMeasureWarning, stacklevel=3
        )
    return build_clustered_outcome(sums[:, 0], sums[:, 1], level)


def build_clustered_outcome(sums: FloatArray, sizes: FloatArray, level: float) -> Outcome:
    """Compare the accuracy of two classifiers with a t test on within-cluster sums.

    `sums` contains the sum of the differences in each cluster, and `sizes` the number of rows in each cluster.
    """
    from scipy.special import stdtr, stdtrit

    count, rows = len(sums), int(sizes.sum())
    estimate = float(sums.sum()) / rows
    deviations = sums - estimate * sizes
    error = math.sqrt(count / (count - 1) * float((deviations**2).sum())) / rows if count > 1 else math.nan
    caveats = [_FIXED_TRAINING_SET]
    if not sums.any():
        caveats.append(_NO_DISCORDANT_ROWS)
    elif error == 0:
        caveats.append(Finding.of("constant_clusters"))
    statistic = 0.0 if not sums.any() else estimate / error if error > 0 else math.nan
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error if count > 1 else math.nan
    low, high = (max(-1.0, estimate - half), min(1.0, estimate + half)) if count > 1 else (math.nan, math.nan)
    return Outcome(
        "mcnemar",
        statistic,
        float(2 * stdtr(count - 1, -abs(statistic))) if count > 1 else math.nan,
        df=count - 1.0,
        n=rows,
        variant="clustered",
        effect=Effect("difference in accuracy", estimate, low, high, level),
        details={"clusters": float(count), "standard error": error},
        caveats=tuple(caveats),
    )


def _compare_many_clustered_accuracies(is_correct: FloatArray, names: tuple[str, ...], cluster: npt.ArrayLike) -> Outcome:
    from scipy.special import fdtrc

    n, k = is_correct.shape
    differences = is_correct[:, :-1] - is_correct[:, 1:]
    means = differences.mean(axis=0)
    sums = _sum_clusters(differences - means, cluster)
    count = len(sums)
    covariance = sums.T @ sums * count / max(1, count - 1) / n**2
    rank = int(np.linalg.matrix_rank(covariance))
    caveats = [_FIXED_TRAINING_SET]
    if not differences.any():
        statistic, p = 0.0, 1.0
        caveats.append(_NO_DISCORDANT_ROWS)
    elif rank < k - 1 or count <= k - 1:
        statistic, p = math.nan, math.nan
        warnings.warn(
            f"cochran_q is undefined and returns NaN: {count} clusters are too few for {k} classifiers",
            UndefinedMeasureWarning,
            stacklevel=3,
        )
    else:
        squared = float(means @ np.linalg.solve(covariance, means))
        statistic = squared * (count - k + 1) / ((count - 1) * (k - 1))
        p = float(fdtrc(k - 1, count - k + 1, statistic))
    accuracies = {f"accuracy {name}": float(value) for name, value in zip(names, is_correct.mean(axis=0), strict=True)}
    return Outcome(
        "cochran_q",
        statistic,
        p,
        df=(k - 1.0, float(count - k + 1)),
        n=n,
        variant="clustered",
        details=accuracies,
        caveats=tuple(caveats),
    )


def compute_paired_newcombe_limits(both: int, b: int, c: int, neither: int, level: float) -> tuple[float, float]:
    """Compute Newcombe limits (1998, method 10) for the difference between paired proportions.

    >>> low, high = compute_paired_newcombe_limits(1, 1, 7, 12, 0.95)  # Fagerland, Lydersen & Laake 2014
    >>> round(low, 3), round(high, 3)
    (-0.507, -0.026)
    """
    n = both + b + c + neither
    first, second = (both + b) / n, (both + c) / n
    low_1, high_1 = compute_wilson_limits(both + b, n, level)
    low_2, high_2 = compute_wilson_limits(both + c, n, level)
    product = (both + b) * (c + neither) * (both + c) * (b + neither)
    excess = float(both * neither - b * c)
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    phi = excess / math.sqrt(product) if product else 0.0
    down = math.sqrt(max(0.0, _compute_squared_distance(first - low_1, high_2 - second, phi)))
    up = math.sqrt(max(0.0, _compute_squared_distance(high_1 - first, second - low_2, phi)))
    difference = (b - c) / n
    return max(-1.0, difference - down), min(1.0, difference + up)


def compute_mcnemar_limits(
    both: int, b: int, c: int, neither: int, level: float, method: McNemarMethod = "mid-p"
) -> tuple[float, float]:
    """Compute Newcombe limits for a difference in accuracy that agree with the McNemar test.

    If the Newcombe limits disagree with the test, the limit closer to zero is obtained by inverting the test.

    >>> low, high = compute_mcnemar_limits(3, 4, 0, 1, 0.95)  # p = 0.0625
    >>> round(low, 3), round(high, 3)
    (-0.027, 0.759)
    """
    low, high = compute_paired_newcombe_limits(both, b, c, neither, level)
    return _move_limit_to_test(low, high, b, c, both + b + c + neither, level, method)


def compute_tango_limits(b: int, c: int, n: int, level: float) -> tuple[float, float]:
    """Compute Tango's score limits for the difference between two paired proportions.

    The coverage of these limits is close to nominal at any true difference, as a decision at a margin requires. If the limits
    disagree with the exact McNemar test, the limit closer to zero is obtained by inverting the test. `b` and `c` are the
    numbers of discordant rows of each kind among `n` rows.

    >>> low, high = compute_tango_limits(12, 2, 58, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.053, 0.302)
    """
    low, high = compute_score_limits(b, c, n, compute_normal_quantile(level))
    return _move_limit_to_test(low, high, b, c, n, level, "exact")


def compute_score_limits(b: float, c: float, n: float, quantile: float) -> tuple[float, float]:
    """Compute Tango's score limits from a quantile of the normal or t distribution.

    The counts need not be integers.
    """
    from scipy.optimize import brentq

    def compute_score(wins: float, losses: float, difference: float) -> float:
        # The restricted maximum likelihood estimate of the proportion of losses, given the difference.
        half_b = (2 * n - wins + losses) * difference - wins - losses
        root = math.sqrt(max(0.0, half_b**2 + 8 * n * losses * difference * (1 - difference)))
        variance = n * ((root - half_b) / (2 * n) + difference * (1 - difference))
        distance = wins - losses - n * difference
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance) if distance else 0.0

    def find_lower_limit(wins: float, losses: float) -> float:
        estimate, edge = (wins - losses) / n, -1 + 1e-12
        if estimate <= edge or compute_score(wins, losses, edge) <= quantile:
            return -1.0
        return float(brentq(lambda difference: compute_score(wins, losses, difference) - quantile, edge, estimate))

    return find_lower_limit(b, c), -find_lower_limit(c, b)


def _move_limit_to_test(
    low: float, high: float, b: int, c: int, n: int, level: float, method: McNemarMethod
) -> tuple[float, float]:
    """Replace the confidence limit closer to zero if the interval and the McNemar test disagree.

    The new limit is obtained by inverting the test. The other limit is replaced only if this widens the interval.
    """
    if _agrees_with_test(low, high, b, c, level, method):
        return low, high
    share = (b + c) / n
    inverted_low, inverted_high = ((2 * limit - 1) * share for limit in _invert_mcnemar(b, b + c, level, method))
    return (inverted_low, max(high, inverted_high)) if b > c else (min(low, inverted_low), inverted_high)


def _agrees_with_test(low: float, high: float, b: int, c: int, level: float, method: McNemarMethod) -> bool:
    p = _build_mcnemar(b, c, b + c, method, None, {}, ()).p_value
    return (low > 0 or high < 0) == (p < 1 - level)


def _invert_mcnemar(b: int, n: int, level: float, method: McNemarMethod) -> tuple[float, float]:
    """Compute confidence limits for the proportion b/n by inverting two one-sided tests."""
    from scipy.optimize import brentq
    from scipy.special import bdtr, ndtr

    def compute_tail(wins: int, share: float) -> float:
        if method in ("exact", "mid-p"):
            at_most, below = float(bdtr(wins, n, share)), float(bdtr(wins - 1, n, share))
            return 1 - below if method == "exact" else 1 - (at_most + below) / 2
        gap = wins - n * share - (0.5 if method == "chi2" else 0.0)
        return float(ndtr(gap / -math.sqrt(n * share * (1 - share))))

    def find_lower_limit(wins: int) -> float:
        edge = 1e-12
        return 0.0 if wins == 0 else float(brentq(lambda share: compute_tail(wins, share) - (1 - level) / 2, edge, 1 - edge))

    return find_lower_limit(b), 1 - find_lower_limit(n - b)


def _compute_squared_distance(first: float, second: float, phi: float) -> float:
    return first * first - 2 * phi * first * second + second * second


def _build_mcnemar(
    b: int, c: int, n: int, method: str, effect: Effect | None, details: Mapping[str, float], caveats: tuple[Finding, ...]
) -> Outcome:
    from scipy.special import chdtrc

    if b + c == 0:
        caveats = (*caveats, _NO_DISCORDANT_ROWS)
    if method in ("exact", "mid-p"):
        statistic, df, p = float(b), None, _compute_binomial_p(b, c, mid=method == "mid-p")
    else:
        reach = max(abs(b - c) - (1 if method == "chi2" else 0), 0)
        statistic, df = (reach**2 / (b + c) if b + c else 0.0), 1.0
        p = float(chdtrc(1, statistic))
        if 0 < b + c < _MIN_MCNEMAR_ROWS:
            caveats = (*caveats, Finding.of("few_discordant_rows", rows=b + c, needed=_MIN_MCNEMAR_ROWS))
    return Outcome("mcnemar", statistic, p, df=df, n=n, variant=method, effect=effect, details=details, caveats=caveats)


def _compute_binomial_p(wins: int, losses: int, mid: bool = False) -> float:
    """Compute the two-sided p-value or mid-p value of the binomial test with probability 1/2."""
    from scipy.special import bdtr

    n, few = wins + losses, min(wins, losses)
    if wins == losses:
        return 1.0
    tail = float(bdtr(few, n, 0.5))
    if mid:
        below = float(bdtr(few - 1, n, 0.5)) if few else 0.0
        tail = (tail + below) / 2
    return min(1.0, 2 * tail)


def _compute_odds(proportion: float) -> float:
    return proportion / (1 - proportion) if proportion < 1 else math.inf


def _compute_noncentrality_effect(q: float, df: int, largest: int, level: float) -> Effect:
    """Compute the estimated noncentrality of Q divided by the largest possible Q."""
    from scipy.special import chndtrinc

    def compute_limit(probability: float) -> float:
        # The noncentrality for which Q is this quantile of its distribution. If there is none, scipy returns 0 or NaN.
        from scipy.special import chdtr

        return float(chndtrinc(q, df, probability)) if chdtr(df, q) > probability else 0.0

    low, high = (compute_limit(probability) / largest for probability in ((1 + level) / 2, (1 - level) / 2))
    return Effect("corrected eta squared", max(0.0, q - df) / largest, low, min(1.0, high), level)


def _read_prediction_columns(predictions: Any) -> dict[str, npt.ArrayLike]:
    table = predictions if isinstance(predictions, Mapping) else to_pandas(predictions)
    if table is None:
        matrix = np.asarray(predictions)
        if matrix.ndim != 2:
            raise InputError(f"predictions must be a mapping, or a matrix of rows x learners, got shape {matrix.shape}")
        columns: dict[str, npt.ArrayLike] = {str(i + 1): column for i, column in enumerate(matrix.T)}
    else:
        columns = {str(name): np.asarray(table[name]) for name in table}
    if len(columns) < 2:
        raise InputError(f"predictions must have at least 2 learners, got {len(columns)}")
    return columns


def _mark_correct(y_true: npt.ArrayLike, predictions: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
    """Return a Boolean array (rows x classifiers) that marks the correct predictions."""
    columns = {"y_true": _check.check_column("y_true", y_true)}
    columns.update({name: _check.check_column(name, values) for name, values in predictions.items()})
    _check.check_same_length(**columns)
    _, codes = _check.encode_labels(None, None, **columns)
    return np.column_stack([predicted == codes[0] for predicted in codes[1:]])
