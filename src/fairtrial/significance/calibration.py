"""Tests of whether predicted probabilities are calibrated, i.e. agree with the outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.errors import InputError
from fairtrial.measures.calibration import find_bounds, find_half_step, fit_calibration_line
from fairtrial.measures.intervals import read_clusters
from fairtrial.measures.rows import OutcomeSample, ProbabilityRows
from fairtrial.measures.tally import ScoreTally
from fairtrial.significance.names import register_method
from fairtrial.significance.outcome import Outcome

Method = Literal["auto", "score", "likelihood_ratio", "spiegelhalter"]

register_method("calibration_score", "score test of calibration", cite="Cox 1958", statistic="chi2")
register_method("calibration_likelihood_ratio", "likelihood ratio test of calibration", cite="Cox 1958", statistic="chi2")
register_method("spiegelhalter", "Spiegelhalter test", cite="Spiegelhalter 1986", statistic="z")

# The p-value of the score test is simulated if the information, i.e. the sum of p (1 - p), is below this value.
_MUCH_INFORMATION = 1000.0
_MIN_CLUSTERS = 10
_BATCH = 1 << 22
# Outcomes that contradict probabilities of 0 and 1 are tested separately. The p-value of this second test is multiplied by this
# number. At a significance level of 5 %, both tests together then have a type I error of at most 5.25 %.
_CONTRADICTION_FACTOR = 20


def calibration_test(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    method: Method = "auto",
    positive: object = None,
    labels: Sequence[Any] | None = None,
    cluster: npt.ArrayLike | None = None,
    clip: float | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Outcome:
    """Test whether the predicted probabilities of a model are calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or one column of probabilities per class. If there are more than two classes and
        `positive` is not given, the test uses the probability of the most probable class in each row.
    method : {"auto", "score", "likelihood_ratio", "spiegelhalter"}, default "auto"
        One of the following:

        - "auto": score test of the hypothesis that the calibration intercept is 0 and the slope is 1 (2 degrees of freedom).
          For small samples, the p-value is simulated.
        - "score": the same test, with a p-value from the chi-squared distribution.
        - "likelihood_ratio": likelihood ratio test of the same hypothesis, with a p-value from the chi-squared distribution.
        - "spiegelhalter": z test that compares the Brier score with its expected value. It cannot detect every kind of
          miscalibration. For example, it misses probabilities that are too high by the same amount below and above 0.5.
    positive : label, optional
        The positive class. Default: the second of the two classes in sort order.
    labels : list, optional
        All class labels, in the order of the columns of `y_score`. Default: the labels that occur in the data, in sort order.
    cluster : array-like of shape (n,), optional
        Cluster to which each row belongs, e.g. a patient. The p-value of the score test is then computed by randomly flipping
        the signs of the residuals of whole clusters, which requires at least 10 clusters. The other methods are not available
        for clustered rows.
    clip : float, optional
        Clip the probabilities to the interval from `clip` to 1 - `clip`. By default, only probabilities of 0 and 1 are replaced
        because their logits are infinite. A probability of 0 is replaced with the proportion of positives among the rows with
        probability 0. The new value is at most half the rounding step of the probabilities (0.005 for two decimal places), or
        at most 1e-6 if they are not rounded. Probabilities of 1 are replaced analogously.
    resamples : int, default 2000
        Number of samples simulated under perfect calibration or, if clusters are given, of random sign patterns.
    seed : int, default 0
        Random seed.

    Returns
    -------
    Outcome
        A small p-value indicates miscalibration. Except for the Spiegelhalter test, `details` contains the intercept and slope
        of a logistic regression of the outcomes on the logits (NaN if they are undefined). If outcomes contradict probabilities
        of 0 and 1 more often than rounding can explain, the p-value is reduced accordingly, and `caveats` contains a note.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565. Spiegelhalter (1986), Statistics in Medicine 5, 421-433.

    Examples
    --------
    >>> from fairtrial.significance import calibration_test
    >>> p = [0.1] * 30 + [0.5] * 20 + [0.9] * 30
    >>> y = [1] * 9 + [0] * 21 + [1] * 10 + [0] * 10 + [1] * 21 + [0] * 9
    >>> calibration_test(y, p).p_value < 0.05
    True
    """
    _check.check_one_of("method", method, ("auto", "score", "likelihood_ratio", "spiegelhalter"))
    _check.check_whole_number("resamples", resamples, 19)
    _check.check_whole_number("seed", seed, 0)
    rows = ProbabilityRows.read(y_true, y_score, positive=positive, labels=labels)
    sample = OutcomeSample.from_rows(rows.outcomes, read_clusters(cluster))
    if cluster is not None and method in ("likelihood_ratio", "spiegelhalter"):
        raise InputError(f"method must be 'auto' or 'score' with clusters, got {method!r}")
    return run_calibration_test(sample, method, resamples, seed, clip)


def run_calibration_test(
    sample: OutcomeSample, method: Method = "auto", resamples: int = 2000, seed: int = 0, clip: float | None = None
) -> Outcome:
    """Run a calibration test on a sample."""
    n = round(float(sample.row_weights.sum()))
    is_certain = (sample.values <= 0) | (sample.values >= 1)
    name = {"auto": "calibration_score", "score": "calibration_score", "likelihood_ratio": "calibration_likelihood_ratio"}.get(
        method, method
    )
    if sample.weights is not None:
        return Outcome(name, math.nan, math.nan, n=len(sample.values), caveats=(Finding.of("weights_to_test"),))
    contradicts = is_certain & (sample.is_positive != (sample.values >= 1)) & (sample.row_weights > 0)
    if not (~is_certain & (sample.row_weights > 0)).any() and not contradicts.any():
        return Outcome(name, math.nan, math.nan, n=n, caveats=(Finding.of("all_certain"),))
    intercept, slope = fit_calibration_line(sample.tally, clip)
    details = {"intercept": intercept, "slope": slope}
    inside = _replace_certain(sample, clip)
    if sample.clusters is not None:
        outcome = _test_clusters(inside, name, details, n, resamples, seed)
    elif method == "spiegelhalter":
        outcome = _test_spiegelhalter(inside, name, n)
    elif method == "likelihood_ratio":
        outcome = _test_likelihood_ratio(inside, name, details, n)
    else:
        outcome = _test_score(inside, name, details, n, resamples if method == "auto" else 0, seed)
    return _add_contradictions(outcome, sample, is_certain, contradicts) if clip is None and contradicts.any() else outcome


def _replace_certain(sample: OutcomeSample, clip: float | None) -> OutcomeSample:
    tally = sample.tally
    low, high = (float(bound[0, 0]) for bound in find_bounds(tally, clip))
    present = tally.pos + tally.neg > 0
    values = np.clip(tally.values[present], low, 1 - high)
    kept = ScoreTally(values, tally.pos[present], tally.neg[present])
    return replace(sample, tally=kept, values=np.clip(sample.values, low, 1 - high))


def _add_contradictions(
    outcome: Outcome, sample: OutcomeSample, is_certain: npt.NDArray[np.bool_], contradicts: npt.NDArray[np.bool_]
) -> Outcome:
    """Reduce p if outcomes contradict probabilities of 0 and 1 too often for rounding."""
    from scipy.special import bdtrc

    certain_rows, wrong_rows = (round(float(sample.row_weights[chosen].sum())) for chosen in (is_certain, contradicts))
    # Rows of a cluster depend on each other, so each cluster counts only once.
    units = wrong_rows if sample.clusters is None else len(np.unique(sample.clusters[contradicts]))
    largest = find_half_step(sample.tally.values)
    p_value = _CONTRADICTION_FACTOR * float(bdtrc(units - 1, certain_rows, largest))
    if not p_value < (1.0 if math.isnan(outcome.p_value) else outcome.p_value):
        return outcome
    caveat = Finding.of("certain_and_wrong", rows=wrong_rows, certain=certain_rows)
    return replace(outcome, p_value=p_value, caveats=(*outcome.caveats, caveat))


def _build_design(values: FloatArray) -> FloatArray:
    """Build the design matrix of the score test.

    The first row is constant. If the probabilities differ, the second row contains the centred logits.
    """
    logits = np.log(values) - np.log1p(-values)
    constant = np.ones_like(logits)
    return np.stack([constant, logits - logits.mean()]) if np.ptp(logits) > 0 else constant[None]


def _test_score(
    sample: OutcomeSample,
    name: str,
    details: dict[str, float],
    n: int,
    resamples: int,
    seed: int,
) -> Outcome:
    """Run the score test of an intercept of 0 and a slope of 1."""
    from scipy.special import chdtrc

    tally = sample.tally
    p, pos = tally.values, tally.pos.astype(np.float64)
    total = pos + tally.neg
    design = _build_design(p)
    variance = total * p * (1 - p)
    inverse = np.linalg.inv((design * variance) @ design.T)

    def compute(residuals: FloatArray) -> FloatArray:
        sums = residuals @ design.T
        return np.asarray(np.einsum("...i,ij,...j->...", sums, inverse, sums))

    statistic = float(compute(pos - total * p))
    df = float(len(design))
    if not resamples or variance.sum() >= _MUCH_INFORMATION:
        return Outcome(name, statistic, float(chdtrc(df, statistic)), df=df, n=n, details=details)
    rng, extreme, left = np.random.default_rng(seed), 0, resamples
    while left:
        size = min(left, max(1, _BATCH // len(p)))
        drawn = rng.binomial(total.astype(np.int64), p, size=(size, len(p)))
        extreme += int((compute(drawn - total * p) >= statistic * (1 - 1e-12)).sum())
        left -= size
    p_value = (extreme + 1) / (resamples + 1)
    return Outcome(name, statistic, p_value, df=df, n=n, variant="simulated", details=details, resamples=resamples)


def _test_likelihood_ratio(sample: OutcomeSample, name: str, details: dict[str, float], n: int) -> Outcome:
    from scipy.special import chdtrc

    if math.isnan(details["slope"]):
        caveat = Finding.of("no_calibration_line")
        return Outcome(name, math.nan, math.nan, df=2.0, n=n, details=details, caveats=(caveat,))
    p, y, weights = sample.values, sample.is_positive, sample.row_weights
    logits = np.log(p) - np.log1p(-p)
    lines = (details["intercept"] + details["slope"] * logits, logits)
    fitted, assumed = (float((weights * (y * line - np.logaddexp(0, line))).sum()) for line in lines)
    statistic = max(0.0, 2 * (fitted - assumed))
    return Outcome(name, statistic, float(chdtrc(2.0, statistic)), df=2.0, n=n, details=details)


def _test_spiegelhalter(sample: OutcomeSample, name: str, n: int) -> Outcome:
    from scipy.special import ndtr

    p, weights = sample.values, sample.row_weights
    deviation = float((weights * (sample.is_positive - p) * (1 - 2 * p)).sum())
    variance = float((weights * (1 - 2 * p) ** 2 * p * (1 - p)).sum())
    if not variance > 0:
        return Outcome(name, math.nan, math.nan, n=n, caveats=(Finding.of("only_one_half"),))
    z = deviation / math.sqrt(variance)
    return Outcome(name, z, float(2 * ndtr(-abs(z))), n=n)


def _test_clusters(
    sample: OutcomeSample,
    name: str,
    details: dict[str, float],
    n: int,
    resamples: int,
    seed: int,
) -> Outcome:
    """Run the score test with a p-value from random sign flips of whole clusters."""
    if sample.units < _MIN_CLUSTERS:
        return Outcome(name, math.nan, math.nan, n=n, caveats=(Finding.of("few_clusters_to_test", clusters=sample.units),))
    assert sample.clusters is not None
    p = sample.values
    design = _build_design(p)
    inverse = np.linalg.inv((design * (p * (1 - p))) @ design.T)
    residuals = design * (sample.is_positive - p)
    sums = np.stack([np.bincount(sample.clusters, line, minlength=sample.units) for line in residuals])
    whole = sums.sum(axis=1)
    statistic = float(whole @ inverse @ whole)
    rng, extreme, left = np.random.default_rng(seed), 0, resamples
    while left:
        size = min(left, max(1, _BATCH // sample.units))
        drawn = rng.choice((-1.0, 1.0), (size, sample.units)) @ sums.T
        extreme += int((np.einsum("ri,ij,rj->r", drawn, inverse, drawn) >= statistic * (1 - 1e-12)).sum())
        left -= size
    p_value = (extreme + 1) / (resamples + 1)
    return Outcome(
        name, statistic, p_value, df=float(len(sums)), n=n, variant="cluster signs", details=details, resamples=resamples
    )
