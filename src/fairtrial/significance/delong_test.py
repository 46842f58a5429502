"""DeLong's test of two or more AUCs of the same rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.delong import compute_auc_covariance, compute_placements
from fairtrial.measures.intervals import compute_normal_quantile
from fairtrial.measures.rows import RankedRows, ScoreRows
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Effect, Outcome

register_method("delong", "DeLong's test", cite="DeLong, DeLong & Clarke-Pearson 1988")

_ALIKE = "the learners rank alike, so p is 1 by definition and the limits say nothing about cases not seen"
_NAMES = {2: ("first", "second")}


def delong(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *more: npt.ArrayLike,
    positive: object = None,
    level: float = 0.95,
) -> Outcome:
    """DeLong, DeLong and Clarke-Pearson's (1988) test that AUCs of the same rows are equal.

    Two scores give a z test and the interval of the difference; more give one chi-squared test of all differences, whose
    degrees of freedom are the rank of their covariance. Learners that rank alike have p = 1.

    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a, b = [0.1, 0.2, 0.3, 0.6, 0.5, 0.7, 0.8, 0.9], [0.1, 0.5, 0.3, 0.8, 0.4, 0.2, 0.6, 0.7]
    >>> print(delong(y, a, b))
    delong (z): statistic 1.837, p = 0.06619, n = 8
    """
    _check.check_between("level", level, 0, 1)
    scores = {"score_a": score_a, "score_b": score_b, **{f"score_{chr(99 + i)}": score for i, score in enumerate(more)}}
    rows = [_read_binary(y_true, score, positive, name) for name, score in scores.items()]
    is_positive = rows[0].is_positive
    P, N = int(is_positive.sum()), int((~is_positive).sum())
    if min(P, N) < 2:
        raise InputError(f"y_true must hold at least 2 positive and 2 negative rows for a variance, got {P} and {N}")
    placement_matrix = np.stack([compute_placements(ranked.scores, is_positive) for ranked in rows])
    aucs = placement_matrix[:, is_positive].mean(axis=1)
    # The contrasts of placements are placements of the contrasts: their covariance needs no subtraction of near-equal numbers.
    contrasts, covariance = compute_auc_covariance(placement_matrix[:-1] - placement_matrix[1:], is_positive)
    covariance = _remove_noise(placement_matrix[:-1] - placement_matrix[1:], covariance, is_positive)
    names = _NAMES.get(len(rows), tuple(str(i + 1) for i in range(len(rows))))
    details = {f"AUC {name}": float(auc) for name, auc in zip(names, aucs, strict=True)}
    test = _compare_two_aucs if len(rows) == 2 else _compare_many_aucs
    return test(contrasts, covariance, len(is_positive), details, level)


def _compare_two_aucs(
    contrasts: FloatArray, covariance: FloatArray, n: int, details: dict[str, float], level: float
) -> Outcome:
    from scipy.special import ndtr

    estimate, error = float(contrasts[0]), math.sqrt(float(covariance[0, 0]))
    alike = error == 0 and abs(estimate) < 1e-12
    estimate = 0.0 if alike else estimate
    statistic = 0.0 if alike else estimate / error if error else _warn_delong_undefined()
    half = compute_normal_quantile(level) * error
    note = "" if error else "no spread, so the limits say nothing about cases not seen"
    effect = Effect("difference in AUC", estimate, max(-1.0, estimate - half), min(1.0, estimate + half), level, note)
    return Outcome(
        "delong",
        statistic,
        float(2 * ndtr(-abs(statistic))),
        n=n,
        variant="z",
        effect=effect,
        details={**details, "standard error": error},
        caveats=(_ALIKE,) if alike else (),
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
    caveat = "it tells that some AUCs differ, not which: see fairtrial.measures.differences for each pair"
    return Outcome(
        "delong",
        statistic,
        float("nan") if outside else p,
        df=float(rank),
        n=n,
        variant="chi2",
        details=details,
        caveats=(caveat, _ALIKE) if not rank and not outside else (caveat,),
    )


def _compute_quadratic_form(contrasts: FloatArray, covariance: FloatArray) -> tuple[float, int, bool]:
    """The contrasts squared over their covariance, the dimension that this spans, and whether the contrasts leave it."""
    scale = np.sqrt(np.diagonal(covariance))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    spanned = values > 1e-10 * max(float(values.max()), 1.0)
    rotated = vectors.T @ (contrasts / scale)
    statistic = float((rotated[spanned] ** 2 / values[spanned]).sum())
    return statistic, int(spanned.sum()), bool((np.abs(rotated[~spanned]) > 1e-6).any())


def _remove_noise(contrasts: FloatArray, covariance: FloatArray, is_positive: npt.NDArray[np.bool_]) -> FloatArray:
    """Contrasts that are the same for all rows of a class have no variance, whatever the last bits say."""
    flat = (np.ptp(contrasts[:, is_positive], axis=1) < 1e-13) & (np.ptp(contrasts[:, ~is_positive], axis=1) < 1e-13)
    return np.where(flat[:, None] | flat[None, :], 0.0, covariance)


def _warn_delong_undefined() -> float:
    warnings.warn(
        "delong is undefined: the AUCs differ but have no variance, so that the statistic divides by zero; NaN is returned. "
        "permutation_test has no such limit",
        UndefinedMeasureWarning,
        stacklevel=4,
    )
    return float("nan")


def _read_binary(y_true: npt.ArrayLike, score: npt.ArrayLike, positive: object, name: str) -> RankedRows:
    binary = ScoreRows.read(y_true, score, positive=positive, labels=None, sample_weight=None, name=name).binary
    _check.check_finite(name, binary.scores)
    return binary
