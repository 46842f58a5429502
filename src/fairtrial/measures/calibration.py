"""Measures and curves of the calibration of probabilities, with confidence limits.

All measures are computed from a tally of the probabilities of one class. By default, this is the positive class. If there are
more than two classes and no positive class is given, it is each row's most probable class. Confidence limits account for
weights and clusters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._text import format_html_table, format_number
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import compute_ratio
from fairtrial.measures.auc_inference import compute_t_quantile
from fairtrial.measures.intervals import (
    Interval,
    compute_clustered_wilson_limits,
    compute_normal_quantile,
    compute_weighted_wilson_limits,
    read_clusters,
)
from fairtrial.measures.measure import measure, set_limits
from fairtrial.measures.rows import OutcomeSample, ProbabilityRows
from fairtrial.measures.tally import ScoreTally

if TYPE_CHECKING:
    import pandas as pd

Limits = tuple[float, float, str, str]

# With this many rows of each class, Wald limits replace profile likelihood limits, because the two are then almost equal.
_MANY_CASES = 500
_MAX_STEPS, _MAX_HALVINGS, _PRECISION = 60, 30, 1e-11

# Numbers of folds for cross-fitting. There are fewer folds if there are more than _MANY_ROWS rows. Cross-fitting is omitted if
# the sample has more than _MAX_CROSSFIT_LINES entries.
_FOLDS, _FEW_FOLDS, _MANY_ROWS = 10, 5, 50_000
_MAX_CROSSFIT_LINES = 10_000_000

# Maximum number of bins of the probabilities from which the band of the CORP curve is computed.
_MAX_BAND_BINS = 2048
_CURVE_POINTS = 100

# A probability of 0 counts as at most this value, unless all probabilities are rounded to at most 5 decimal places.
_SMALL = 1e-6
_MAX_DECIMALS = 5

_ONE_CLUSTER = "all rows are in one cluster, so the confidence limits are undefined"
_ONE_CLASS = "only one of the two outcomes occurs"
_CONSTANT = "all probabilities are equal"
_SEPARATED = "the probabilities separate the two outcomes, so the slope is infinite"


def find_bounds(tally: ScoreTally, clip: float | None) -> tuple[FloatArray, FloatArray]:
    """Find the values that replace probabilities of 0 and 1.

    The first array contains the values that replace 0. The second array contains 1 minus the values that replace 1. Both arrays
    have one value per tally, which is 0 if no probability needs to be replaced. A probability of 0 is replaced with (k + 0.5) /
    (n + 1), where k of the n rows with this probability are positive. The maximum is half the rounding unit, e.g. 0.005 if
    probabilities have two decimal places, or 1e-6 if they are not rounded. Rounding therefore does not count against the
    model.
    """
    values, pos, neg = tally.stack_axes()
    if clip is not None:
        if not 0 < clip < 0.5:
            raise InputError(f"clip must be above 0 and below 0.5, got {clip!r}")
        return np.full((len(pos), 1), clip), np.full((len(pos), 1), clip)
    largest = find_half_step(values)
    bounds = []
    for is_certain, wrong, right in ((values <= 0, pos, neg), (values >= 1, neg, pos)):
        n_wrong, n_right = ((is_certain * counts).sum(axis=1, dtype=np.float64) for counts in (wrong, right))
        rows = n_wrong + n_right
        bounds.append(np.where(rows > 0, np.minimum(largest, (n_wrong + 0.5) / (rows + 1)), 0.0)[:, None])
    return bounds[0], bounds[1]


def find_half_step(values: FloatArray) -> float:
    """Return half the rounding unit of the probabilities, e.g. 0.005 for 2 decimal places.

    The result is 1e-6 if the probabilities are not rounded.
    """
    inside = values[(values > 0) & (values < 1)]
    if not inside.size or inside.size == values.size:
        return _SMALL
    gap = float(min(inside.min(), 1 - inside.max()))
    # Besides decimal places, a step may be a proportion of votes, e.g. 1 / 300 for a forest of 300 trees.
    for steps in (*(10.0**decimals for decimals in range(1, _MAX_DECIMALS + 1)), float(round(1 / max(gap, _SMALL)))):
        scaled = inside * steps
        if (np.abs(scaled - np.round(scaled)) < min(1e-7 * steps, 0.01)).all():
            return max(0.5 / steps, _SMALL)
    return _SMALL


def describe_bounds(low: float, high: float) -> str:
    """Describe the values that replace probabilities of 0 and 1, or return an empty text."""
    low, high = (float(f"{bound:.3g}") for bound in (low, high))
    texts = [f"a probability of 0 counts as {np.format_float_positional(low, trim='-')}"] if low else []
    texts += [f"a probability of 1 counts as {1 - high:.12g}"] if high else []
    return " and ".join(texts)


def _compute_logits(tally: ScoreTally, clip: float | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the logits, the positive weights and the total weights, with a leading batch axis."""
    values, pos, neg = tally.stack_axes()
    low, high = find_bounds(tally, clip)
    return _to_logits(values, low, high), pos.astype(np.float64), pos + neg.astype(np.float64)


def _to_logits(probabilities: FloatArray, low: FloatArray | float, high: FloatArray | float) -> FloatArray:
    inside = np.clip(probabilities, low, 1 - high)
    # Entries without rows may have probabilities of 0 or 1.
    inside = np.where((inside <= 0) | (inside >= 1), 0.5, inside)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _compute_logistic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _compute_log_likelihood(linear: FloatArray, pos: FloatArray, total: FloatArray) -> FloatArray:
    return np.asarray((pos * linear - total * np.logaddexp(0, linear)).sum(axis=-1))


def _fit_intercepts(offset: FloatArray, pos: FloatArray, total: FloatArray) -> FloatArray:
    """Fit the intercept a in logit(y) = a + offset to each tally by maximum likelihood.

    The intercept is NaN if only one outcome occurs.
    """
    positives, rows = pos.sum(axis=-1), total.sum(axis=-1)
    is_defined = (positives > 0) & (positives < rows)
    expected = compute_ratio((total * _compute_logistic(offset)).sum(axis=-1), rows)
    observed = compute_ratio(positives, rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.log(observed / (1 - observed)) - np.log(expected / (1 - expected))
    intercept = np.where(is_defined & np.isfinite(start), start, 0.0)
    for _ in range(_MAX_STEPS):
        fitted = _compute_logistic(intercept[..., None] + offset)
        slope = (total * fitted * (1 - fitted)).sum(axis=-1)
        step = compute_ratio(positives - (total * fitted).sum(axis=-1), slope)
        step = np.where(is_defined, np.clip(np.nan_to_num(step, posinf=2.0, neginf=-2.0), -2.0, 2.0), 0.0)
        intercept = intercept + step
        if np.abs(step).max(initial=0.0) < _PRECISION:
            break
    return np.where(is_defined, intercept, np.nan)


def _fit_lines(x: FloatArray, pos: FloatArray, total: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit logit(y) = a + b x to each tally by maximum likelihood, and return a and b.

    Both are NaN if the likelihood has no maximum.
    """
    is_defined = _has_slope(x, pos, total)
    weight = np.where(is_defined[:, None], total, 1.0)
    mean = (weight * x).sum(axis=1) / weight.sum(axis=1)
    centred = x - mean[:, None]
    spread = np.sqrt((weight * centred**2).sum(axis=1) / weight.sum(axis=1))
    scaled = centred / np.where(spread > 0, spread, 1.0)[:, None]
    proportion = np.where(is_defined, compute_ratio(pos.sum(axis=1), total.sum(axis=1)), 0.5)
    a, b = np.log(proportion) - np.log1p(-proportion), np.zeros(len(pos))
    likelihood = _compute_log_likelihood(a[:, None] + b[:, None] * scaled, pos, total)
    for _ in range(_MAX_STEPS):
        fitted = _compute_logistic(a[:, None] + b[:, None] * scaled)
        residual, curvature = pos - total * fitted, total * fitted * (1 - fitted)
        gradient = residual.sum(axis=1), (residual * scaled).sum(axis=1)
        h00, h01, h11 = curvature.sum(axis=1), (curvature * scaled).sum(axis=1), (curvature * scaled**2).sum(axis=1)
        determinant = h00 * h11 - h01**2
        steps = [
            compute_ratio(h11 * gradient[0] - h01 * gradient[1], determinant),
            compute_ratio(h00 * gradient[1] - h01 * gradient[0], determinant),
        ]
        steps = [np.where(is_defined, np.nan_to_num(step, posinf=0.0, neginf=0.0), 0.0) for step in steps]
        for _ in range(_MAX_HALVINGS):
            candidate = _compute_log_likelihood((a + steps[0])[:, None] + (b + steps[1])[:, None] * scaled, pos, total)
            is_worse = candidate < likelihood - 1e-9 * (1 + np.abs(likelihood))
            if not (is_worse & is_defined).any():
                break
            steps = [np.where(is_worse, step / 2, step) for step in steps]
        a, b, likelihood = a + steps[0], b + steps[1], candidate
        if max(np.abs(step).max(initial=0.0) for step in steps) < _PRECISION:
            break
    slope = b / np.where(spread > 0, spread, 1.0)
    return np.where(is_defined, a - slope * mean, np.nan), np.where(is_defined, slope, np.nan)


def _has_slope(x: FloatArray, pos: FloatArray, total: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether the values of x for the two outcomes overlap.

    If they do not overlap, the slope is not finite.
    """
    x = np.broadcast_to(x, pos.shape)
    neg = total - pos
    ranges = []
    for counts in (pos, neg):
        ranges += [np.where(counts > 0, x, np.inf).min(axis=1), np.where(counts > 0, x, -np.inf).max(axis=1)]
    low_pos, high_pos, low_neg, high_neg = ranges
    return np.asarray((low_pos < high_neg) & (low_neg < high_pos))


@measure(
    needs="outcomes",
    direction="target",
    target=0.0,
    range=(-np.inf, np.inf),
    cite="Cox 1958; Steyerberg 2019",
    undefined="only one outcome occurs",
    exceptions=("perfect predictions",),  # if all probabilities are 0 or 1 and correct, calibration is unknown
)
def calibration_intercept(tally: ScoreTally, *, clip: float | None = None) -> FloatArray:
    """Calibration intercept: constant a in the model logit(y) = a + logit(p); 0 if calibrated.

    A positive intercept means that the probabilities are too low on average.

    Parameters
    ----------
    clip : float, optional
        Clip the probabilities to the interval from `clip` to 1 - `clip`. By default, only probabilities of 0 and 1 are
        replaced, because their logits are infinite. A probability of 0 is replaced with (k + 0.5) / (n + 1), where k of the n
        rows with this probability are positive. The replacement is at most half the rounding unit of the probabilities (0.005
        for 2 decimal places), or 1e-6 if they are not rounded. Probabilities of 1 are treated symmetrically.

    Examples
    --------
    >>> from fairtrial.measures import calibration_intercept
    >>> round(calibration_intercept([1, 0, 1, 0], [0.2, 0.2, 0.2, 0.2]), 4)  # ln(1) - ln(1 / 4)
    1.3863
    """
    return _shape_like(_fit_intercepts(*_compute_logits(tally, clip)), tally)


@measure(
    needs="outcomes",
    direction="target",
    target=1.0,
    range=(-np.inf, np.inf),
    cite="Cox 1958; Steyerberg 2019",
    undefined="only one outcome occurs, all probabilities are equal, or they separate the two outcomes",
)
def calibration_slope(tally: ScoreTally, *, clip: float | None = None) -> FloatArray:
    """Calibration slope: coefficient b in the model logit(y) = a + b logit(p); 1 if calibrated.

    A slope below 1 means that the model is overconfident: its probabilities are too close to 0 and 1.

    Parameters
    ----------
    clip : float, optional
        Clip the probabilities to the interval from `clip` to 1 - `clip`. By default, only probabilities of 0 and 1 are
        replaced, because their logits are infinite. A probability of 0 is replaced with (k + 0.5) / (n + 1), where k of the n
        rows with this probability are positive. The replacement is at most half the rounding unit of the probabilities (0.005
        for 2 decimal places), or 1e-6 if they are not rounded. Probabilities of 1 are treated symmetrically.

    Examples
    --------
    >>> from fairtrial.measures import calibration_slope
    >>> p = [0.2] * 4 + [0.8] * 4
    >>> round(calibration_slope([1, 0, 0, 0, 1, 1, 1, 0], p), 4)  # logit(3 / 4) / logit(4 / 5)
    0.7925
    """
    return _shape_like(_fit_lines(*_compute_logits(tally, clip))[1], tally)


@measure(
    needs="outcomes",
    direction="target",
    target=1.0,
    range=(0, np.inf),
    cite="Steyerberg 2019",
    aliases=("observed_expected_ratio",),
    undefined="all probabilities are 0",
    display_name="O:E ratio",
)
def oe_ratio(tally: ScoreTally) -> FloatArray:
    """O:E ratio: observed number of positives divided by the sum of the probabilities.

    A ratio above 1 means that the probabilities are too low on average. The confidence limits are Wilson limits for the number
    of positives, divided by the sum of the probabilities. This sum is treated as fixed.

    Examples
    --------
    >>> from fairtrial.measures import oe_ratio
    >>> round(oe_ratio([1, 1, 0, 0], [0.9, 0.3, 0.3, 0.1]), 6)  # 2 / 1.6
    1.25
    """
    values, pos, neg = tally.stack_axes()
    expected = (values * (pos + neg.astype(np.float64))).sum(axis=1)
    ratio = np.where(expected > 0, compute_ratio(pos.sum(axis=1), expected), np.nan)
    return _shape_like(ratio, tally)


def recalibrate(pos: FloatArray, total: FloatArray) -> FloatArray:
    """Estimate the frequency of positives at each probability by isotonic regression.

    The entries must be in descending order of probability. The result is NaN for entries without rows.
    """
    from scipy.optimize import isotonic_regression

    fitted = np.full(len(total), np.nan)
    present = total > 0
    if present.any():
        fitted[present] = isotonic_regression(pos[present] / total[present], weights=total[present], increasing=False).x
    return fitted


def _decompose(values: FloatArray, pos: FloatArray, neg: FloatArray) -> tuple[float, float]:
    total = pos + neg
    rows = total.sum()
    if not rows > 0:
        return math.nan, math.nan
    present = total > 0
    fitted, p, n1, n0 = recalibrate(pos, total)[present], values[present], pos[present], neg[present]
    base = n1.sum() / rows
    # The differences of squares are computed as products, because they are small compared with the squares.
    miscalibration = ((n1 * (2 - p - fitted) * (fitted - p)) + n0 * (p + fitted) * (p - fitted)).sum() / rows
    discrimination = ((n1 * (2 - base - fitted) * (fitted - base)) + n0 * (base + fitted) * (base - fitted)).sum() / rows
    return max(0.0, float(miscalibration)), max(0.0, float(discrimination))


def _decompose_lines(tally: ScoreTally, part: int) -> FloatArray:
    values, pos, neg = tally.stack_axes()
    lines = np.broadcast_to(values, pos.shape)
    parts = [_decompose(*line)[part] for line in zip(lines, pos.astype(float), neg.astype(float), strict=True)]
    return _shape_like(np.array(parts), tally)


@measure(
    needs="outcomes",
    direction="min",
    range=(0, 1),
    cite="Dimitriadis, Gneiting & Jordan 2021",
    aliases=("mcb",),
    undefined="there are no rows",
    display_name="miscalibration (MCB)",
)
def brier_miscalibration(tally: ScoreTally) -> FloatArray:
    """Miscalibration: reduction in the Brier score due to isotonic recalibration.

    The Brier score equals miscalibration - discrimination + uncertainty. The estimate is biased upwards in small samples
    because isotonic regression overfits.

    Examples
    --------
    >>> from fairtrial.measures import brier_miscalibration
    >>> brier_miscalibration([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])  # recalibrated: 0.5
    0.0625
    """
    return _decompose_lines(tally, 0)


@measure(
    needs="outcomes",
    direction="max",
    range=(0, 0.25),
    cite="Dimitriadis, Gneiting & Jordan 2021",
    aliases=("dsc",),
    undefined=_ONE_CLASS,
    display_name="discrimination (DSC)",
)
def brier_discrimination(tally: ScoreTally) -> FloatArray:
    """Discrimination: Brier score of the class proportion minus that after recalibration.

    The Brier score equals miscalibration - discrimination + uncertainty. The estimate is biased upwards in small samples
    because isotonic regression overfits.

    Examples
    --------
    >>> from fairtrial.measures import brier_discrimination
    >>> brier_discrimination([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.9])  # recalibrated: 0, 0, 1, 1
    0.25
    """
    discrimination = _decompose_lines(tally, 1)
    return np.where((tally.positives > 0) & (tally.negatives > 0), discrimination, np.nan)


def _shape_like(values: FloatArray, tally: ScoreTally) -> FloatArray:
    return values if tally.pos.ndim > 1 else np.asarray(values[0])


def _get_quantile(sample: OutcomeSample, level: float) -> float:
    return compute_normal_quantile(level) if sample.clusters is None else compute_t_quantile(level, sample.units - 1)


def _limit_model(sample: OutcomeSample, level: float, clip: float | None, *, with_slope: bool) -> Limits:
    """Compute confidence limits for the intercept (with the slope fixed at 1) or for the slope.

    If the robust variance exceeds the model-based variance, the likelihood ratio statistic is divided by the ratio of the two
    variances.
    """
    logits, pos, total = (array[0] for array in _compute_logits(sample.tally, clip))
    low_bound, high_bound = (float(bound[0, 0]) for bound in find_bounds(sample.tally, clip))
    note = describe_bounds(low_bound, high_bound) if clip is None else ""
    reason = _explain_undefined(logits, pos, total, with_slope)
    if reason:
        return math.nan, math.nan, "none", reason
    if sample.units < 2:
        return math.nan, math.nan, "none", _ONE_CLUSTER if sample.clusters is not None else _ONE_CLASS
    design = np.stack([np.ones_like(logits), logits]) if with_slope else np.ones((1, len(logits)))
    if with_slope:
        intercept, slope = (float(value[0]) for value in _fit_lines(logits[None], pos[None], total[None]))
        linear, estimate = intercept + slope * logits, slope
    else:
        estimate = float(_fit_intercepts(logits[None], pos[None], total[None])[0])
        linear = estimate + logits
    fitted = _compute_logistic(linear)
    information = (design * (total * fitted * (1 - fitted))) @ design.T
    variance = np.linalg.inv(information)
    row_logits = _to_logits(sample.values, low_bound, high_bound)
    row_fitted = _compute_logistic(intercept + slope * row_logits if with_slope else estimate + row_logits)
    row_design = np.stack([np.ones_like(row_logits), row_logits]) if with_slope else np.ones((1, len(row_logits)))
    meat = sample.sum_products(row_design * (sample.is_positive - row_fitted))
    robust = variance @ meat @ variance
    factor = max(sample.weight_factor, float(robust[-1, -1] / variance[-1, -1]))
    quantile = _get_quantile(sample, level)
    error = quantile * math.sqrt(factor * float(variance[-1, -1]))
    if min(sample.count_effective_classes()) >= _MANY_CASES:
        return estimate - error, estimate + error, "wald", note

    def compute_profile(value: float) -> float:
        if not with_slope:
            return float(_compute_log_likelihood(value + logits, pos, total))
        a = _fit_intercepts(value * logits[None], pos[None], total[None])
        return float(_compute_log_likelihood(a[0] + value * logits, pos, total))

    drop = compute_profile(estimate) - quantile**2 * factor / 2
    low, high = (_find_crossing(compute_profile, drop, estimate, sign * error) for sign in (-1, 1))
    return low, high, "profile", note


def _find_crossing(function: Callable[[float], float], value: float, start: float, step: float) -> float:
    """Find the point at which a concave function has fallen to `value` from its peak at `start`."""
    from scipy.optimize import brentq

    for _ in range(_MAX_STEPS):
        if function(start + step) < value:
            return float(brentq(lambda x: function(x) - value, start, start + step, xtol=1e-9, rtol=1e-10))
        step *= 1.6
    return math.copysign(math.inf, step)


def _explain_undefined(logits: FloatArray, pos: FloatArray, total: FloatArray, with_slope: bool) -> str:
    """Explain why the intercept or the slope is undefined, or return an empty text."""
    if not 0 < pos.sum() < total.sum():
        return f"undefined because {_ONE_CLASS}"
    if not with_slope or _has_slope(logits[None], pos[None], total[None])[0]:
        return ""
    present = logits[total > 0]
    return f"undefined because {_CONSTANT if present.min() == present.max() else _SEPARATED}"


@set_limits(calibration_intercept)
def _limit_intercept(sample: OutcomeSample, level: float, clip: float | None = None) -> Limits:
    return _limit_model(sample, level, clip, with_slope=False)


@set_limits(calibration_slope)
def _limit_slope(sample: OutcomeSample, level: float, clip: float | None = None) -> Limits:
    return _limit_model(sample, level, clip, with_slope=True)


@set_limits(oe_ratio)
def _limit_oe_ratio(sample: OutcomeSample, level: float) -> Limits:
    """Compute confidence limits from the Wilson limits for the proportion of positives.

    The probabilities are treated as fixed.
    """
    weights = sample.row_weights
    expected = float((weights * sample.values).sum())
    if not expected > 0:
        return math.nan, math.nan, "none", f"undefined because {oe_ratio.facts.undefined}"
    low, high = _limit_proportion(sample, level)
    scale = float(weights.sum()) / expected
    return low * scale, high * scale, "wilson", _ONE_CLUSTER if math.isnan(low) else ""


def _limit_proportion(sample: OutcomeSample, level: float) -> tuple[float, float]:
    weights = sample.row_weights
    if sample.clusters is not None:
        positives_by_cluster, sums = (
            np.bincount(sample.clusters, values).astype(np.float64) for values in (weights * sample.is_positive, weights)
        )
        return compute_clustered_wilson_limits(positives_by_cluster, sums, level)
    squares = weights if sample.weights is None else weights**2
    positives = float((weights * sample.is_positive).sum())
    return compute_weighted_wilson_limits(positives, float(weights.sum()), float(squares.sum()), level)


def _limit_decomposition(sample: OutcomeSample, level: float) -> tuple[Limits, Limits]:
    """Compute confidence limits for miscalibration and discrimination.

    The usual estimate is biased upwards because isotonic regression overfits the sample, whereas the cross-fitted estimate is
    biased downwards. The lower limit is the cross-fitted estimate minus the margin of error. The upper limit is the usual
    estimate plus the margin of error.
    """
    if sample.units < 2:
        undefined = math.nan, math.nan, "none", _ONE_CLUSTER if sample.clusters is not None else "there is only one row"
        return undefined, undefined
    total = sample.tally.pos + sample.tally.neg.astype(np.float64)
    fitted = recalibrate(sample.tally.pos.astype(np.float64), total)
    row_fitted = np.interp(sample.values, sample.tally.values[::-1], fitted[::-1])
    outcome, weights = sample.is_positive.astype(np.float64), sample.row_weights
    whole, base = float(weights.sum()), float((weights * outcome).sum() / weights.sum())
    fitted_losses = (row_fitted - outcome) ** 2
    crossfitted_losses = _crossfit(sample) if len(outcome) <= _MAX_CROSSFIT_LINES else fitted_losses
    limits: list[Limits] = []
    for reference, bound in ((sample.values, 1.0), (np.full(len(outcome), base), 0.25)):
        reference_losses = (reference - outcome) ** 2
        estimate, crossfitted = (
            float((weights * (reference_losses - losses)).sum()) / whole for losses in (fitted_losses, crossfitted_losses)
        )
        deviations = reference_losses - fitted_losses - estimate
        variance = float(sample.sum_products(deviations[None])[0, 0]) / whole**2
        error = _get_quantile(sample, level) * math.sqrt(max(variance, 0.0))
        low, high = max(0.0, min(crossfitted, estimate) - error), min(bound, estimate + error)
        limits.append((low, high, "cross-fitting", ""))
    return limits[0], limits[1]


def _crossfit(sample: OutcomeSample) -> FloatArray:
    """Compute the squared error of each row after recalibration on the other folds.

    If an entry represents several rows, its error is the mean over these rows.
    """
    rng = np.random.default_rng(0)
    values, outcome = sample.values, sample.is_positive
    repeats = np.ones(len(values), dtype=np.intp) if sample.counts is None else sample.counts.astype(np.intp)
    lines = np.repeat(np.arange(len(values)), repeats)
    units = np.arange(len(lines)) if sample.clusters is None else sample.clusters[lines]
    n_units = int(units.max()) + 1
    folds = (rng.permutation(n_units) % min(_FEW_FOLDS if len(lines) > _MANY_ROWS else _FOLDS, n_units))[units]
    weights = np.ones(len(lines)) if sample.weights is None else sample.weights[lines]
    distinct = sample.tally.values
    index = len(distinct) - 1 - np.searchsorted(distinct[::-1], values[lines])
    losses = np.zeros(len(values))
    for fold in range(int(folds.max()) + 1):
        is_left_out = folds == fold
        kept = ~is_left_out
        pos, total = (
            np.bincount(index[kept], weights[kept] * factor, minlength=len(distinct)).astype(np.float64)
            for factor in (outcome[lines[kept]], np.ones(kept.sum()))
        )
        fitted, present = recalibrate(pos, total), total > 0
        predicted = np.interp(values[lines[is_left_out]], distinct[present][::-1], fitted[present][::-1])
        losses += np.bincount(lines[is_left_out], (predicted - outcome[lines[is_left_out]]) ** 2, minlength=len(values))
    return losses / np.maximum(repeats, 1)


@set_limits(brier_miscalibration)
def _limit_miscalibration(sample: OutcomeSample, level: float) -> Limits:
    return _limit_decomposition(sample, level)[0]


@set_limits(brier_discrimination)
def _limit_discrimination(sample: OutcomeSample, level: float) -> Limits:
    return _limit_decomposition(sample, level)[1]


_PARTS: tuple[Any, ...] = (brier_miscalibration, brier_discrimination)
for _part in _PARTS:
    _part.is_bootstrapped = False  # isotonic regression overfits resamples even more, because they have fewer distinct rows


@dataclass(frozen=True, repr=False)
class BrierDecomposition:
    """Components of the Brier score: miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    brier : float
        Brier score: mean squared error of the probabilities of one class. Call `interval("brier", ...)` to compute its
        confidence limits.
    miscalibration : Interval
        Brier score minus the Brier score of the recalibrated probabilities; lower is better.
    discrimination : Interval
        Brier score of the class proportion minus that of the recalibrated probabilities; higher is better.
    uncertainty : Interval
        Brier score of a constant prediction of the class proportion. It is the same for all models.

    Examples
    --------
    >>> parts = brier_decomposition([0, 1, 0, 1], [0.25, 0.25, 0.75, 0.75])
    >>> parts.brier, parts.miscalibration.estimate, parts.discrimination.estimate, parts.uncertainty.estimate
    (0.3125, 0.0625, 0.0, 0.25)
    """

    brier: float
    miscalibration: Interval
    discrimination: Interval
    uncertainty: Interval

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per component.

        The columns contain the estimate, the confidence limits, the method and a note.
        """
        import pandas as pd

        parts = {name: part for name, part in vars(self).items() if name != "brier"}
        lines = [{**vars(part), "part": name} for name, part in parts.items()]
        return pd.DataFrame(lines).set_index("part")[["estimate", "low", "high", "method", "note"]]

    def __str__(self) -> str:
        parts = [self.miscalibration, self.discrimination, self.uncertainty]
        return "\n".join([f"Brier score {format_number(self.brier, '{:.4g}')}", *map(str, parts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return format_html_table(self.frame(), index=True)


def brier_decomposition(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    level: float = 0.95,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> BrierDecomposition:
    """Decompose the Brier score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or one column per class. If there are more than two classes and no positive class
        is given, each row's most probable class is used.
    level : float, default 0.95
        Confidence level of the limits.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent.

    Returns
    -------
    BrierDecomposition
        Components that satisfy Brier score = miscalibration - discrimination + uncertainty exactly. The limits for
        miscalibration and discrimination are conservative. Because both estimates are biased upwards in small samples, their
        lower limits are cross-fitted.

    References
    ----------
    Dimitriadis, Gneiting & Jordan (2021), Proceedings of the National Academy of Sciences 118, e2016191118.

    Examples
    --------
    >>> from fairtrial.measures import brier_decomposition
    >>> print(brier_decomposition([0, 1, 0, 1, 0, 1], [0.2, 0.3, 0.4, 0.6, 0.7, 0.9]))
    Brier score 0.225
    miscalibration (MCB) 0.05833, 95 % CI 0 to 0.1785 (cross-fitting)
    discrimination (DSC) 0.08333, 95 % CI 0 to 0.1866 (cross-fitting)
    uncertainty 0.25, 95 % CI 0.1524 to 0.25 (Wilson)
    """
    _check.check_between("level", level, 0, 1)
    rows = ProbabilityRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
    return decompose_brier(OutcomeSample.from_rows(rows.outcomes, read_clusters(cluster, sample_weight)), level)


def decompose_brier(sample: OutcomeSample, level: float) -> BrierDecomposition:
    """Decompose the Brier score of a sample into its components."""
    parts = []
    for part, (low, high, method, note) in zip(_PARTS, _limit_decomposition(sample, level), strict=True):
        estimate = float(np.nan_to_num(part.formula(sample.tally)))
        parts.append(Interval(part.name, estimate, low, high, level, method, note))
    weights, outcome = sample.row_weights, sample.is_positive.astype(np.float64)
    score = float((weights * (sample.values - outcome) ** 2).sum() / weights.sum())
    return BrierDecomposition(score, parts[0], parts[1], build_uncertainty(sample, level))


def build_uncertainty(sample: OutcomeSample, level: float) -> Interval:
    """Compute p (1 - p) for the proportion p of positives, with confidence limits.

    The limits are computed from the Wilson limits for p.
    """
    weights = sample.row_weights
    base = float((weights * sample.is_positive).sum() / weights.sum())
    low, high = _limit_proportion(sample, level)
    ends = [low * (1 - low), high * (1 - high)]
    largest = 0.25 if low <= 0.5 <= high else max(ends)
    return Interval(
        "uncertainty", base * (1 - base), min(ends), largest, level, "wilson", _ONE_CLUSTER if math.isnan(low) else ""
    )


def corp_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    level: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
    positive: object = None,
    labels: Sequence[Any] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    cluster: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Compute the CORP calibration curve by isotonic regression, with a consistency band.

    The curve does not depend on a choice of bins. At any given point, the curve of a calibrated model lies within the band with
    probability `level`. A curve that leaves the band indicates miscalibration.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, k)
        Probabilities of the positive class, or one column per class. If there are more than two classes and no positive class
        is given, each row's most probable class is used.
    level : float, default 0.95
        Pointwise probability that the curve of a calibrated model lies within the band.
    resamples : int, default 500
        Number of samples to simulate from a calibrated model.
    seed : int, default 0
        Seed of the simulation.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        All classes, in the order of the score columns. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    cluster : array-like of shape (n,), optional
        Cluster of each row, e.g. the patient. Rows in the same cluster may be dependent, so the simulation uses the effective
        number of rows.

    Returns
    -------
    DataFrame
        Columns `predicted` (probability), `recalibrated` (frequency from isotonic regression), `low` and `high` (limits of the
        band). There is a row for both ends of each constant segment of the curve and for each of 100 quantiles of the
        probabilities.

    References
    ----------
    Dimitriadis, Gneiting & Jordan (2021), Proceedings of the National Academy of Sciences 118, e2016191118.

    Examples
    --------
    >>> from fairtrial.measures import corp_curve
    >>> corp_curve([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.8, 0.9])[["predicted", "recalibrated"]]
       predicted  recalibrated
    0        0.1           0.0
    1        0.3           0.5
    2        0.4           0.5
    3        0.8           1.0
    4        0.9           1.0
    """
    _check.check_between("level", level, 0, 1)
    _check.check_whole_number("resamples", resamples, 2)
    _check.check_whole_number("seed", seed, 0)
    rows = ProbabilityRows.read(y_true, y_score, positive=positive, labels=labels, sample_weight=sample_weight)
    clusters = read_clusters(cluster, sample_weight)
    return compute_corp_curve(OutcomeSample.from_rows(rows.outcomes, clusters), level, resamples, seed)


def compute_corp_curve(sample: OutcomeSample, level: float, resamples: int = 500, seed: int = 0) -> pd.DataFrame:
    """Compute the CORP curve of a sample."""
    import pandas as pd

    values = sample.tally.values[::-1]
    total = (sample.tally.pos + sample.tally.neg.astype(np.float64))[::-1]
    fitted = recalibrate(sample.tally.pos.astype(np.float64), total[::-1])[::-1]
    points = _select_points(fitted, total)
    low, high = _compute_band(sample, values[points], level, resamples, seed)
    return pd.DataFrame({"predicted": values[points], "recalibrated": fitted[points], "low": low, "high": high})


def _select_points(fitted: FloatArray, total: FloatArray) -> IntArray:
    """Select the indices of about 100 quantiles and of the ends of all constant segments."""
    changes = np.flatnonzero(np.diff(fitted) != 0)
    quantiles = np.searchsorted(np.cumsum(total), np.linspace(0, 1, _CURVE_POINTS) * total.sum())
    quantiles = np.minimum(quantiles, len(total) - 1)
    return np.unique(np.concatenate([[0, len(fitted) - 1], changes, changes + 1, quantiles])).astype(np.intp)


def _compute_design_effect(sample: OutcomeSample) -> float:
    """Compute the factor by which weights and clusters raise the variance of the residual sum."""
    if sample.weights is None and sample.clusters is None:
        return 1.0
    independent = float((sample.row_weights * sample.values * (1 - sample.values)).sum())
    residuals = sample.is_positive - sample.values
    if sample.units < 2 or not independent > 0:
        return sample.weight_factor
    return max(sample.weight_factor, float(sample.sum_products(residuals[None])[0, 0]) / independent)


def _compute_band(
    sample: OutcomeSample, points: FloatArray, level: float, resamples: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Simulate curves for a calibrated model, and return the limits of the band at `points`."""
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(seed)
    values = sample.tally.values[::-1]
    total = (sample.tally.pos + sample.tally.neg.astype(np.float64))[::-1]
    # All bins have about the same weight: at least that of one independent row.
    factor = _compute_design_effect(sample)
    n_bins = max(1, min(_MAX_BAND_BINS, int(total.sum() / factor)))
    bins = np.minimum((np.cumsum(total) - total / 2) / total.sum() * n_bins, n_bins - 1).astype(np.intp)
    bins = np.unique(bins if len(values) > n_bins else np.arange(len(values)), return_inverse=True)[1]
    weight = np.bincount(bins, total)
    mean = np.bincount(bins, total * values) / weight
    rows = np.maximum(np.round(weight / factor), 1).astype(np.int64)
    simulated = rng.binomial(rows, np.clip(mean, 0, 1), size=(resamples, len(weight))) / rows
    curves = np.empty((resamples, len(points)))
    for i in range(resamples):
        curve = isotonic_regression(simulated[i], weights=weight).x
        curves[i] = np.interp(points, mean, curve)
    tail = (1 - level) / 2
    low, high = np.quantile(np.clip(curves, 0, 1), [tail, 1 - tail], axis=0)
    return low, high


def fit_calibration_line(tally: ScoreTally, clip: float | None = None) -> tuple[float, float]:
    """Fit logit(y) = a + b logit(p) to a tally, and return a and b, which may be NaN."""
    intercept, slope = _fit_lines(*_compute_logits(tally, clip))
    return float(intercept[0]), float(slope[0])
