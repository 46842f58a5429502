"""Measures of class probabilities: running sums over rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.kernels.arithmetic import Binning, compute_ratio
from fairtrial.measures.measure import measure
from fairtrial.measures.rows import ProbabilityRows


@measure(needs="probabilities", direction="min", range=(0, 2), cite="Brier 1950")
def brier(rows: ProbabilityRows) -> FloatArray:
    """Brier score: mean squared error of the probabilities.

    With two classes the error of the positive class, at most 1; with more the sum over all classes, at most 2.

    >>> from fairtrial.measures import brier
    >>> round(brier([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 6)
    0.195
    """
    squares = ((rows.probabilities - rows.one_hot_labels) ** 2).sum(axis=1)
    return rows.mean(squares / 2 if len(rows.classes) == 2 else squares)


@measure(needs="probabilities", direction="min", range=(0, 1), cite="Japkowicz & Shah 2011")
def rmse(rows: ProbabilityRows) -> FloatArray:
    """Root mean squared error of the probabilities, averaged over classes as WEKA does.

    >>> from fairtrial.measures import rmse
    >>> round(rmse([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 4)
    0.4416
    """
    return np.sqrt(rows.mean(((rows.probabilities - rows.one_hot_labels) ** 2).mean(axis=1)))


@measure(needs="probabilities", direction="min", range=(0, 1), cite="Witten & Frank 2005")
def mae(rows: ProbabilityRows) -> FloatArray:
    """Mean absolute error of the probabilities, averaged over classes as WEKA does.

    >>> from fairtrial.measures import mae
    >>> round(mae([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 6)
    0.34
    """
    return rows.mean(np.abs(rows.probabilities - rows.one_hot_labels).mean(axis=1))


@measure(needs="probabilities", direction="min", range=(0, np.inf), cite="Good 1952", aliases=("cross_entropy",))
def log_loss(rows: ProbabilityRows, *, clip: float = 0.0) -> FloatArray:
    """Mean of -ln(probability of the true class); infinite where a true class was called impossible, unless clipped.

    >>> from fairtrial.measures import log_loss
    >>> round(log_loss([1, 0], [0.9, 0.2]), 6)
    0.164252
    """
    if not 0 <= clip < 0.5:
        raise InputError(f"clip must be at least 0 and below 0.5, got {clip!r}")
    with np.errstate(divide="ignore"):
        return rows.mean(-np.log(np.clip(rows.true_class_probabilities, clip, 1 - clip)))


@measure(
    needs="probabilities",
    direction="max",
    range=(-np.inf, np.inf),
    cite="Kononenko & Bratko 1991",
    undefined="every case belongs to one class, so that there is nothing to learn",
)
def information_score(
    rows: ProbabilityRows, *, kind: Literal["mean", "total", "relative"] = "mean", prior: npt.ArrayLike | None = None
) -> FloatArray:
    """Kononenko and Bratko's information score: bits that a forecast tells beyond the prior, misleading ones negative.

    `kind`: "mean" per case, "total", or "relative": the total in percent of the prior's mean entropy. `prior`: the probability
    of each class (or a line of them for each row), best from the training data; None takes the shares in `y_true`. WEKA prints
    all three kinds, its prior being (1 + count) / (classes + rows) of the training fold, the relative one with the entropy of
    the last fold's.

    >>> from fairtrial.measures import information_score
    >>> round(information_score([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 4)
    0.2682
    """
    _check.check_one_of("kind", kind, ("mean", "total", "relative"))
    priors = _read_priors(rows, prior)
    mean = _average_over_lines(rows, priors, _compute_information)
    if prior is None:
        mean = np.where((rows.class_proportions > 0).sum(axis=1) > 1, mean, np.nan)
    if kind == "mean":
        return mean
    total = mean * rows.total()
    if kind == "total":
        return total
    return 100 * compute_ratio(total, _average_over_lines(rows, priors, lambda _, line: _compute_entropy(line)))


@measure(needs="probabilities", direction="max", range=(0, 1), cite="Roby 1965; Gneiting & Raftery 2007")
def spherical_score(rows: ProbabilityRows) -> FloatArray:
    """Spherical score: probability of the true class over the length of the forecast.

    >>> from fairtrial.measures import spherical_score
    >>> round(spherical_score([1, 0], [0.8, 0.4]), 6)
    0.901096
    """
    return rows.mean(rows.true_class_probabilities / np.sqrt((rows.probabilities**2).sum(axis=1)))


@measure(needs="probabilities", direction="min", range=(0, 1), cite="Naeini et al. 2015; Guo et al. 2017", aliases=("ece",))
def calibration_error(
    rows: ProbabilityRows,
    *,
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    norm: Literal["l1", "l2", "max"] = "l1",
) -> FloatArray:
    """Expected calibration error: how far, per bin, the mean forecast lies from the share that came true.

    With two classes the forecast is the probability of the positive class; with more that of the most likely one. `norm`
    "l1" is the usual mean, "l2" its root-mean-square, "max" the worst bin. `strategy` "quantile" puts about equally many cases
    into each bin; while resampling the bins stay as they are.

    >>> from fairtrial.measures import calibration_error
    >>> round(calibration_error([0, 1, 1, 1], [0.1, 0.9, 0.9, 0.7]), 6)
    0.15
    """
    _check.check_whole_number("bins", bins, 1)
    _check.check_one_of("strategy", strategy, ("uniform", "quantile"))
    _check.check_one_of("norm", norm, ("l1", "l2", "max"))
    gaps, counts = rows.compute_once(("bins", bins, strategy), lambda: _build_binnings(rows, bins, strategy))
    sums, weight = gaps.compute_sums(rows.weights), counts.compute_sums(rows.weights)
    gap = np.abs(np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0))
    if norm == "max":
        return np.asarray(gap.max(axis=1))
    power = 1 if norm == "l1" else 2
    return np.asarray(((gap**power * weight).sum(axis=1) / weight.sum(axis=1)) ** (1 / power))


def _build_binnings(rows: ProbabilityRows, bins: int, strategy: str) -> tuple[Binning, Binning]:
    """Rows by bin, weighing forecast less truth, and weighing one."""
    predicted, is_true = get_predicted_probabilities(rows)
    bin_index = assign_bins(predicted, bins, strategy, rows.base)
    return Binning(bin_index, bins, predicted - is_true), Binning(bin_index, bins)


def get_predicted_probabilities(rows: ProbabilityRows) -> tuple[FloatArray, FloatArray]:
    """What calibration is judged on: the forecast of each row and whether it came true."""
    if len(rows.classes) == 2 and rows.classes.positive is not None:
        return rows.probabilities[:, rows.classes.positive], (rows.true == rows.classes.positive).astype(np.float64)
    likely = rows.probabilities.argmax(axis=1)
    return rows.probabilities.max(axis=1), (rows.true == likely).astype(np.float64)


def assign_bins(probabilities: FloatArray, bins: int, strategy: str, weights: FloatArray | None) -> npt.NDArray[np.intp]:
    """The bin of each forecast; quantiles are those of the weighted rows."""
    inner = np.arange(1, bins) / bins
    edges = inner if strategy == "uniform" else np.quantile(probabilities, inner, method="inverted_cdf", weights=weights)
    return np.searchsorted(edges, probabilities, side="left")


def _read_priors(rows: ProbabilityRows, prior: npt.ArrayLike | None) -> FloatArray:
    """Priors as lines x n x k or lines x 1 x k, a line for each line of weights (or one for all)."""
    if prior is None:
        return rows.class_proportions[:, None, :]
    prior_values = _check.check_numbers("prior", prior)
    k = len(rows.classes)
    if prior_values.shape not in ((k,), (len(rows.true), k)):
        raise InputError(
            f"prior must have a value for each of the {k} classes, or a line for each row, got {prior_values.shape}"
        )
    return _check.check_probabilities("prior", np.atleast_2d(prior_values))[None]


def _average_over_lines(
    rows: ProbabilityRows, priors: FloatArray, contribution: Callable[[ProbabilityRows, FloatArray], FloatArray]
) -> FloatArray:
    """Mean of a contribution that depends on the prior, and the prior on the line of weights."""
    if len(priors) == 1:
        return rows.mean(np.broadcast_to(contribution(rows, priors[0]), rows.true.shape))
    means = [
        replace(rows, weights=weights[None]).mean(np.broadcast_to(contribution(rows, line), rows.true.shape))
        for weights, line in zip(rows.weights, priors, strict=True)
    ]
    return np.concatenate(means)


def _compute_information(rows: ProbabilityRows, prior: FloatArray) -> FloatArray:
    after = rows.true_class_probabilities
    with np.errstate(divide="ignore", invalid="ignore"):
        log_after, log_not_after = rows.compute_once("logarithms", lambda: (np.log2(after), np.log2(1 - after)))
        if len(prior) == 1:
            before, log_before, log_not_before = (
                column[0][rows.true] for column in (prior, np.log2(prior), np.log2(1 - prior))
            )
        else:
            before = np.take_along_axis(prior, rows.true[:, None], axis=1)[:, 0]
            log_before, log_not_before = np.log2(before), np.log2(1 - before)
        gained, misled = log_after - log_before, log_not_before - log_not_after
    return np.where(after == before, 0.0, np.where(after > before, gained, misled))


def _compute_entropy(prior: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(-np.where(prior > 0, prior * np.log2(prior), 0.0).sum(axis=-1))
