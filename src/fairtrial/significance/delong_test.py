"""DeLong test of two or more AUCs on the same rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.delong import compute_auc_covariance, compute_placements
from fairtrial.measures.auc_inference import (
    MIN_DECIDABLE_CASES,
    MIN_DECIDABLE_CLUSTERS,
    AucContrast,
    compute_cluster_covariances,
    contrast_aucs,
)
from fairtrial.measures.intervals import compute_normal_quantile, read_clusters
from fairtrial.measures.rows import RankedRows, ScoreRows
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("delong", "DeLong test", cite="DeLong, DeLong & Clarke-Pearson 1988", statistic="z")
register_method(
    "auc_test",
    "adjusted DeLong test",
    cite="DeLong, DeLong & Clarke-Pearson 1988; Hanley & McNeil 1982; Zou & Donner 2008",
    statistic="difference",
)
register_method("delong (z)", "DeLong test", statistic="z")
register_method("delong (chi2)", "DeLong test", statistic="chi2")

_SAME_RANKING = Finding.of("same_ranking")
_NAMES = {2: ("first", "second")}


def delong(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *more: npt.ArrayLike,
    positive: object = None,
    level: float = 0.95,
    cluster: npt.ArrayLike | None = None,
) -> Outcome:
    """Test whether two or more AUCs on the same rows differ, using the DeLong test.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of two classes. Each class must have at least 2 rows.
    score_a, score_b, *more : array-like of shape (n,)
        Scores of the models. A higher score means that the positive class is more likely.
    positive : label, optional
        The positive class. Default: the second of the two classes in sort order.
    level : float, default 0.95
        Confidence level of the interval.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. Rows in the same cluster may be dependent (Obuchowski 1997).

    Returns
    -------
    Outcome
        For two models, this is a z test, and the effect is the difference in AUC with its confidence interval. For more than
        two models, it is a chi-squared test of the hypothesis that all AUCs are equal. Its degrees of freedom are the rank of
        the covariance matrix of the differences. If all models rank the rows identically, p is 1.

    References
    ----------
    DeLong, DeLong & Clarke-Pearson (1988).

    Examples
    --------
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a, b = [0.1, 0.2, 0.3, 0.6, 0.5, 0.7, 0.8, 0.9], [0.1, 0.5, 0.3, 0.8, 0.4, 0.2, 0.6, 0.7]
    >>> print(delong(y, a, b))
    DeLong test: z = 1.84, p = 0.066, n = 8
    """
    _check.check_between("level", level, 0, 1)
    scores = {"score_a": score_a, "score_b": score_b, **{f"score_{chr(99 + i)}": score for i, score in enumerate(more)}}
    rows = [_read_binary(y_true, score, positive, name) for name, score in scores.items()]
    is_positive = rows[0].is_positive
    P, N = int(is_positive.sum()), int((~is_positive).sum())
    if min(P, N) < 2:
        raise InputError(f"y_true must have at least 2 positive and 2 negative rows, got {P} and {N}")
    placement_matrix = np.stack([compute_placements(ranked.scores, is_positive) for ranked in rows])
    aucs = placement_matrix[:, is_positive].mean(axis=1)
    # The covariance is computed from differences of placement values. This avoids subtracting nearly equal covariances.
    differences = placement_matrix[:-1] - placement_matrix[1:]
    contrasts, covariance = compute_auc_covariance(differences, is_positive)
    clusters = _read_test_clusters(cluster, is_positive)
    if clusters is not None:
        covariance = np.sum(compute_cluster_covariances(differences, contrasts, is_positive, clusters)[0], axis=0)
    covariance = _remove_noise(differences, covariance, is_positive)
    names = _NAMES.get(len(rows), tuple(str(i + 1) for i in range(len(rows))))
    details = {f"AUC {name}": float(auc) for name, auc in zip(names, aucs, strict=True)}
    test = _compare_two_aucs if len(rows) == 2 else _compare_many_aucs
    return test(contrasts, covariance, len(is_positive), details, level)


def auc_test(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    positive: object = None,
    level: float = 0.95,
    cluster: npt.ArrayLike | None = None,
) -> Outcome:
    """Test whether two AUCs on the same rows differ, with adjustments for small classes.

    This is the DeLong test with three adjustments. First, for classes with few rows, the variance of Hanley and McNeil (1982)
    is used if it exceeds that of DeLong. Second, the statistic is compared with a t distribution with Satterthwaite's degrees
    of freedom. Third, the confidence limits respect the range of the AUC (Zou & Donner 2008). For large classes, the results of
    `auc_test` and `delong` agree. The p-value is 1 minus the confidence level at which one confidence limit is zero.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of two classes.
    score_a, score_b : array-like of shape (n,)
        Scores of the two models. A higher score means that the positive class is more likely.
    positive : label, optional
        The positive class. Default: the second of the two classes in sort order.
    level : float, default 0.95
        Confidence level of the interval.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. Rows in the same cluster may be dependent (Obuchowski 1997).

    Returns
    -------
    Outcome
        The statistic and the effect are both AUC(a) - AUC(b). The p-value is NaN if a class has fewer than 5 rows. For
        clustered rows, it is NaN if there are fewer than 10 clusters, or if a class occurs in fewer than 5 of them. A caveat
        then states that there are too few cases for a decision.

    Examples
    --------
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [0.1, 0.2, 0.3, 0.6, 0.4, 0.5, 0.7, 0.8, 0.9, 0.8], [0.1, 0.5, 0.3, 0.8, 0.6, 0.4, 0.2, 0.6, 0.7, 0.3]
    >>> print(auc_test(y, a, b))
    adjusted DeLong test: difference = 0.48, p = 0.021, n = 10
    """
    _check.check_between("level", level, 0, 1)
    first, second = (
        _read_binary(y_true, score, positive, name) for name, score in (("score_a", score_a), ("score_b", score_b))
    )
    contrast = contrast_aucs(first.scores, second.scores, first.is_positive, _read_test_clusters(cluster, first.is_positive))
    if not contrast.positives or not contrast.negatives:
        raise InputError(f"y_true must have positive and negative rows, got {contrast.positives} and {contrast.negatives}")
    return build_auc_outcome(contrast, level)


def build_auc_outcome(contrast: AucContrast, level: float, scale: float = 1.0, name: str = "AUC") -> Outcome:
    """Build the outcome of a test for a difference in AUC or in the Gini coefficient."""
    low, high = contrast.compute_limits(level)
    caveats = [_SAME_RANKING] if contrast.is_alike else []
    if contrast.marks:
        caveats.append(Finding.of("approximate_ranks", marks=contrast.marks))
    if not contrast.is_decidable:
        caveats.append(_describe_few_cases(contrast))
    return Outcome(
        "auc_test",
        scale * contrast.estimate,
        contrast.compute_p_value(),
        n=contrast.rows,
        effect=Effect(f"difference in {name}", scale * contrast.estimate, scale * low, scale * high, level),
        details={"AUC first": contrast.first, "AUC second": contrast.second, "standard error": contrast.error},
        caveats=tuple(caveats),
    )


def _describe_few_cases(contrast: AucContrast) -> Finding:
    positives, negatives = contrast.units
    if contrast.clusters is None:
        return Finding.of("few_cases", positives=positives, negatives=negatives, needed=MIN_DECIDABLE_CASES)
    return Finding.of(
        "few_case_clusters",
        clusters=int(contrast.parts[-1].df) + 1,
        positives=positives,
        negatives=negatives,
        needed=MIN_DECIDABLE_CASES,
        needed_clusters=MIN_DECIDABLE_CLUSTERS,
    )


def _read_test_clusters(cluster: npt.ArrayLike | None, is_positive: npt.NDArray[np.bool_]) -> IntArray | None:
    clusters = read_clusters(cluster)
    if clusters is not None:
        _check.check_same_length(y_true=is_positive, cluster=clusters)
    return clusters


def _compare_two_aucs(
    contrasts: FloatArray, covariance: FloatArray, n: int, details: dict[str, float], level: float
) -> Outcome:
    from scipy.special import ndtr

    estimate, error = float(contrasts[0]), math.sqrt(float(covariance[0, 0]))
    alike = error == 0 and abs(estimate) < 1e-12
    estimate = 0.0 if alike else estimate
    statistic = 0.0 if alike else estimate / error if error else _warn_delong_undefined()
    half = compute_normal_quantile(level) * error
    note = "" if error else "the difference does not vary: the interval is not informative"
    effect = Effect("difference in AUC", estimate, max(-1.0, estimate - half), min(1.0, estimate + half), level, note)
    return Outcome(
        "delong",
        statistic,
        float(2 * ndtr(-abs(statistic))),
        n=n,
        variant="z",
        effect=effect,
        details={**details, "standard error": error},
        caveats=(_SAME_RANKING,) if alike else (),
    )


def _compare_many_aucs(
    contrasts: FloatArray, covariance: FloatArray, n: int, details: dict[str, float], level: float
) -> Outcome:
    from scipy.special import chdtrc

    del level
    statistic, rank, outside = _compute_quadratic_form(contrasts, covariance)
    if outside:
        statistic = _warn_delong_undefined()
    p = float(chdtrc(rank, statistic)) if rank or outside else 1.0
    caveat = Finding.of("global_auc_test")
    return Outcome(
        "delong",
        statistic,
        float("nan") if outside else p,
        df=float(rank),
        n=n,
        variant="chi2",
        details=details,
        caveats=(caveat, _SAME_RANKING) if not rank and not outside else (caveat,),
    )


def _compute_quadratic_form(contrasts: FloatArray, covariance: FloatArray) -> tuple[float, int, bool]:
    """Return the chi-squared statistic and its degrees of freedom.

    The degrees of freedom are the rank of the covariance matrix. The third return value states whether the contrasts lie
    outside its column space.
    """
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    spanned = values > 1e-10 * max(float(values.max()), 1.0)
    rotated = vectors.T @ (contrasts / scale)
    statistic = float((rotated[spanned] ** 2 / values[spanned]).sum())
    return statistic, int(spanned.sum()), bool((np.abs(rotated[~spanned]) > 1e-6).any())


def _remove_noise(contrasts: FloatArray, covariance: FloatArray, is_positive: npt.NDArray[np.bool_]) -> FloatArray:
    """Set the variance of contrasts that do not vary within any class to exactly zero."""
    flat = (np.ptp(contrasts[:, is_positive], axis=1) < 1e-13) & (np.ptp(contrasts[:, ~is_positive], axis=1) < 1e-13)
    return np.where(flat[:, None] | flat[None, :], 0.0, covariance)


def _warn_delong_undefined() -> float:
    warnings.warn(
        "delong is undefined and returns NaN: the AUCs differ but have no variance; use permutation_test",
        UndefinedMeasureWarning,
        stacklevel=4,
    )
    return float("nan")


def _read_binary(y_true: npt.ArrayLike, score: npt.ArrayLike, positive: object, name: str) -> RankedRows:
    binary = ScoreRows.read(y_true, score, positive=positive, labels=None, sample_weight=None, name=name).binary
    _check.check_finite(name, binary.scores)
    return binary
