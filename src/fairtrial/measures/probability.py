"""Measures of class probabilities."""

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

# The complement of a probability has a rounding error: 1 - 0.9 is below 0.1.
_SET_TOLERANCE = 1e-12


@measure(needs="probabilities", direction="min", range=(0, 2), cite="Brier 1950", display_name="Brier score")
def brier(rows: ProbabilityRows) -> FloatArray:
    """Brier score: mean squared error of the probabilities.

    With two classes, the score is the squared error of the positive class, which is at most 1. With more classes, it is the sum
    of the squared errors of all classes, which is at most 2.

    Examples
    --------
    >>> from fairtrial.measures import brier
    >>> round(brier([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 6)  # 0.975 / 5
    0.195
    """
    squares = ((rows.probabilities - rows.one_hot_labels) ** 2).sum(axis=1)
    return rows.mean(squares / 2 if len(rows.classes) == 2 else squares)


@measure(needs="probabilities", direction="min", range=(0, 1), cite="Japkowicz & Shah 2011", display_name="RMSE")
def rmse(rows: ProbabilityRows) -> FloatArray:
    """Root mean squared error of the probabilities.

    The squared errors are averaged over the classes, as in WEKA.

    Examples
    --------
    >>> from fairtrial.measures import rmse
    >>> round(rmse([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 4)  # sqrt(0.195)
    0.4416
    """
    return np.sqrt(rows.mean(((rows.probabilities - rows.one_hot_labels) ** 2).mean(axis=1)))


@measure(needs="probabilities", direction="min", range=(0, 1), cite="Witten & Frank 2005", display_name="MAE")
def mae(rows: ProbabilityRows) -> FloatArray:
    """Mean absolute error of the probabilities.

    The absolute errors are averaged over the classes, as in WEKA.

    Examples
    --------
    >>> from fairtrial.measures import mae
    >>> round(mae([1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]), 6)  # 1.7 / 5
    0.34
    """
    return rows.mean(np.abs(rows.probabilities - rows.one_hot_labels).mean(axis=1))


@measure(needs="probabilities", direction="min", range=(0, np.inf), cite="Good 1952", aliases=("cross_entropy",))
def log_loss(rows: ProbabilityRows, *, clip: float = 0.0) -> FloatArray:
    """Log loss: mean of -ln(probability of the true class).

    The log loss is infinite if the probability of a true class is 0, unless probabilities are clipped.

    Parameters
    ----------
    clip : float, default 0
        Clip the probabilities to the interval from `clip` to 1 - `clip`.

    Examples
    --------
    >>> from fairtrial.measures import log_loss
    >>> round(log_loss([1, 0], [0.9, 0.2]), 6)  # -(ln 0.9 + ln 0.8) / 2
    0.164252
    """
    if not 0 <= clip < 0.5:
        raise InputError(f"clip must be at least 0 and below 0.5, got {clip!r}")
    with np.errstate(divide="ignore"):
        return rows.mean(-np.log(np.clip(rows.true_class_probabilities, clip, 1 - clip)))


@measure(
    needs="probabilities",
    direction="max",
    range=(0, 1),
    chance=0.5,
    cite="Ferri et al. 2005",
    undefined="a class has no rows or all rows",
    display_name="probabilistic AUC",
)
def probabilistic_auc(rows: ProbabilityRows) -> FloatArray:
    """Probabilistic AUC: mean of (1 + p+ - p-) / 2 over all pairs of a positive and a negative.

    Here, p+ and p- are the predicted probabilities of the positive class for the positive and the negative of the pair. The
    value equals (mean probability of positives - mean probability of negatives + 1) / 2. It therefore measures how far apart
    the probabilities of the two classes are. With more than two classes, the value is the mean over all classes, each against
    the rest.

    Notes
    -----
    The difference between the mean probabilities of positives and negatives is Tjur's coefficient of discrimination. The
    partial AUC (`partial_auc`) is also abbreviated pAUC, but is a different measure. Vanderlooy and Hüllermeier (2008) found no
    advantage of the probabilistic AUC over the AUC for choosing a model.

    Examples
    --------
    >>> from fairtrial.measures import probabilistic_auc
    >>> round(probabilistic_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)  # (0.575 - 0.25 + 1) / 2
    0.6625
    """
    members = rows.one_hot_labels
    in_class, in_rest = (
        compute_ratio(rows.weights @ (side * rows.probabilities), rows.weights @ side) for side in (members, 1 - members)
    )
    return np.asarray(((in_class - in_rest).mean(axis=1) + 1) / 2)


@measure(
    needs="probabilities",
    direction="max",
    range=(-np.inf, np.inf),
    cite="Kononenko & Bratko 1991",
    undefined="all cases belong to one class",
)
def information_score(
    rows: ProbabilityRows, *, kind: Literal["mean", "total", "relative"] = "mean", prior: npt.ArrayLike | None = None
) -> FloatArray:
    """Kononenko and Bratko's information score: information gained over the prior, in bits.

    A row gains log2(p / prior) if the probability p of its true class exceeds the prior. Otherwise, the row loses log2((1 - p)
    / (1 - prior)).

    Parameters
    ----------
    kind : {"mean", "total", "relative"}, default "mean"
        Mean over rows, sum over rows, or sum as a percentage of the mean entropy of the prior.
    prior : array-like of shape (k,) or (n, k), optional
        Prior probabilities of the classes, either the same for all rows or different for each row. If possible, estimate
        the prior from the training data. Default: the class proportions in `y_true`.

    Notes
    -----
    WEKA reports all three kinds. The prior in WEKA is (1 + count) / (classes + rows) in the training fold. The relative score
    in WEKA uses the entropy of the last fold.

    Examples
    --------
    >>> from fairtrial.measures import information_score
    >>> information_score([1, 0, 1, 0], [1.0, 0.0, 0.5, 0.5])  # 1, 1, 0 and 0 bits
    0.5
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
    """Spherical score: probability of the true class divided by the norm of all probabilities.

    Examples
    --------
    >>> from fairtrial.measures import spherical_score
    >>> round(spherical_score([1, 0], [0.8, 0.4]), 6)  # mean of 0.8 / sqrt(0.68) and 0.6 / sqrt(0.52)
    0.901096
    """
    return rows.mean(rows.true_class_probabilities / np.sqrt((rows.probabilities**2).sum(axis=1)))


@measure(
    needs="probabilities",
    direction="min",
    range=(0, 1),
    cite="Naeini et al. 2015; Guo et al. 2017",
    aliases=("ece",),
    display_name="expected calibration error",
)
def calibration_error(
    rows: ProbabilityRows,
    *,
    bins: int = 10,
    strategy: Literal["uniform", "quantile"] = "uniform",
    norm: Literal["l1", "l2", "max"] = "l1",
) -> FloatArray:
    """Expected calibration error: mean difference between predicted and observed frequencies.

    With two classes, the rows are binned by the predicted probability of the positive class. With more classes, they are binned
    by the predicted probability of the most probable class. Within each bin, the mean prediction is compared with the observed
    frequency. Resamples use the bins of the original rows.

    Parameters
    ----------
    bins : int, default 10
        Number of bins.
    strategy : {"uniform", "quantile"}, default "uniform"
        Bins of equal width, or bins with about the same number of rows.
    norm : {"l1", "l2", "max"}, default "l1"
        Mean absolute difference, root mean squared difference, or largest difference.

    Examples
    --------
    >>> from fairtrial.measures import calibration_error
    >>> round(calibration_error([0, 1, 1, 1], [0.1, 0.9, 0.9, 0.7]), 6)  # (0.1 + 2 * 0.1 + 0.3) / 4
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
    total = weight.sum(axis=1)  # 0 if the jackknife leaves out the only row
    mean = np.divide((gap**power * weight).sum(axis=1), total, out=np.full_like(total, np.nan), where=total > 0)
    return np.asarray(mean ** (1 / power))


@measure(
    needs="probabilities",
    direction="min",
    range=(0, 1),
    cite="Epstein 1969; Murphy 1971",
    aliases=("rps",),
    exceptions=("class order",),
)
def ranked_probability_score(rows: ProbabilityRows) -> FloatArray:
    """Ranked probability score of ordered classes: squared error of cumulative probabilities.

    The sum of the squared errors over the first k - 1 of k classes is divided by k - 1. The score is therefore at most 1. With
    two classes, the score is the Brier score. The classes are ordered as in `labels`. By default, they are in sort order.

    Examples
    --------
    >>> from fairtrial.measures import ranked_probability_score
    >>> y_prob = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> round(ranked_probability_score([0, 2], y_prob, labels=[0, 1, 2]), 6)  # mean of 0.1 / 2 and 0.17 / 2
    0.0675
    """
    errors = np.cumsum(rows.probabilities - rows.one_hot_labels, axis=1)[:, :-1]
    return rows.mean((errors**2).sum(axis=1) / max(1, errors.shape[1]))


@measure(
    needs="probabilities",
    direction="max",
    range=(-np.inf, 1),
    cite="Hastie et al. 2015",
    undefined="all cases belong to one class",
    display_name="D2 of the log loss",
)
def d2_log_loss(rows: ProbabilityRows, *, clip: float = 0.0) -> FloatArray:
    """D2 of the log loss: 1 - log loss / log loss of the class proportions.

    A value of 0 means that the model is no better than predicting the class proportions of `y_true` for every row. A perfect
    model has a value of 1. The value is minus infinity if the probability of a true class is 0, unless probabilities are
    clipped.

    Parameters
    ----------
    clip : float, default 0
        Clip the probabilities to the interval from `clip` to 1 - `clip`.

    Examples
    --------
    >>> from fairtrial.measures import d2_log_loss
    >>> round(d2_log_loss([1, 0], [0.9, 0.2]), 6)  # 1 - 0.164252 / ln 2
    0.763034
    """
    proportions = rows.class_proportions
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(proportions > 0, proportions * np.log(proportions), 0.0).sum(axis=1)
    return _compute_skill(rows, log_loss.formula(rows, clip=clip), entropy)


@measure(
    needs="probabilities",
    direction="max",
    range=(-np.inf, 1),
    cite="Murphy 1973; Wilks 2011",
    aliases=("brier_skill_score",),
    undefined="all cases belong to one class",
    display_name="Brier skill score",
)
def d2_brier(rows: ProbabilityRows) -> FloatArray:
    """Brier skill score, or D2: 1 - Brier score / Brier score of the class proportions.

    A value of 0 means that the model is no better than predicting the class proportions of `y_true` for every row. A perfect
    model has a value of 1.

    Examples
    --------
    >>> from fairtrial.measures import d2_brier
    >>> round(d2_brier([1, 0], [0.9, 0.2]), 6)  # 1 - 0.025 / 0.25
    0.9
    """
    spread = 1 - (rows.class_proportions**2).sum(axis=1)
    return _compute_skill(rows, brier.formula(rows), spread / 2 if len(rows.classes) == 2 else spread)


def _compute_skill(rows: ProbabilityRows, loss: FloatArray, reference_loss: FloatArray) -> FloatArray:
    """Compute 1 - loss / reference loss. The result is NaN if all rows belong to one class."""
    has_classes = (rows.class_proportions > 0).sum(axis=1) > 1
    return 1 - compute_ratio(loss, np.where(has_classes, reference_loss, np.nan))


@measure(
    needs="class sets",
    direction="max",
    range=(0, 1),
    cite="Vovk et al. 2005; Sadinle et al. 2019",
    proportion=True,
    undefined="there are no rows",
    display_name="set coverage",
)
def set_coverage(rows: ProbabilityRows, *, threshold: float = 0.1) -> FloatArray:
    """Proportion of rows whose prediction set contains the true class.

    Pass prediction sets as one boolean column per class, or pass probabilities. With probabilities, the set of a row contains
    the classes whose probability is at least `threshold`. Compare the value with the nominal coverage of the sets.

    Parameters
    ----------
    threshold : float, default 0.1
        Lowest probability at which a class belongs to the set. The threshold is not used for boolean columns.

    Examples
    --------
    >>> from fairtrial.measures import set_coverage
    >>> sets = [[True, True, False], [False, True, False], [True, False, True], [True, False, False]]
    >>> set_coverage([0, 1, 2, 2], sets)
    0.75
    """
    return _build_sets(rows, threshold)[np.arange(len(rows.true)), rows.true].astype(np.float64)


@measure(
    needs="class sets",
    direction="min",
    range=(0, np.inf),
    cite="Vovk et al. 2005; Sadinle et al. 2019",
    undefined="there are no rows",
    display_name="set width",
)
def set_width(rows: ProbabilityRows, *, threshold: float = 0.1) -> FloatArray:
    """Mean number of classes in the prediction set of a row.

    Compare the width only between sets with the same coverage (`set_coverage`), because empty sets have the lowest width.

    Parameters
    ----------
    threshold : float, default 0.1
        Lowest probability at which a class belongs to the set. The threshold is not used for boolean columns.

    Examples
    --------
    >>> from fairtrial.measures import set_width
    >>> set_width([0, 1, 2, 2], [[True, True, False], [False, True, False], [True, False, True], [True, False, False]])
    1.5
    """
    return rows.mean(_build_sets(rows, threshold).sum(axis=1).astype(np.float64))


def _build_sets(rows: ProbabilityRows, threshold: float) -> npt.NDArray[np.bool_]:
    """Return which classes are in the prediction set of each row."""
    _check.check_number("threshold", threshold)
    if not 0 < threshold <= 1:
        raise InputError(f"threshold must be above 0 and at most 1, got {threshold!r}")
    return np.asarray(rows.probabilities >= threshold - _SET_TOLERANCE)


def _build_binnings(rows: ProbabilityRows, bins: int, strategy: str) -> tuple[Binning, Binning]:
    """Return two binnings with the same bins.

    The first binning sums prediction minus outcome. The second binning counts rows.
    """
    predicted, is_true = get_predicted_probabilities(rows)
    bin_index = assign_bins(predicted, bins, strategy, rows.base)
    return Binning(bin_index, bins, predicted - is_true), Binning(bin_index, bins)


def get_predicted_probabilities(rows: ProbabilityRows) -> tuple[FloatArray, FloatArray]:
    """Return each row's predicted probability, and whether the event occurred (1) or not (0).

    The event is the positive class or, with more than two classes, the most probable class of the row.
    """
    if len(rows.classes) == 2 and rows.classes.positive is not None:
        return rows.probabilities[:, rows.classes.positive], (rows.true == rows.classes.positive).astype(np.float64)
    likely = rows.probabilities.argmax(axis=1)
    return rows.probabilities.max(axis=1), (rows.true == likely).astype(np.float64)


def assign_bins(probabilities: FloatArray, bins: int, strategy: str, weights: FloatArray | None) -> npt.NDArray[np.intp]:
    """Return the bin index of each predicted probability. Quantiles are weighted."""
    inner = np.arange(1, bins) / bins
    edges = inner if strategy == "uniform" else np.quantile(probabilities, inner, method="inverted_cdf", weights=weights)
    return np.searchsorted(edges, probabilities, side="left")


def _read_priors(rows: ProbabilityRows, prior: npt.ArrayLike | None) -> FloatArray:
    """Return priors of shape (lines, n or 1, k).

    There is one line per resample, or a single line for all resamples.
    """
    if prior is None:
        return rows.class_proportions[:, None, :]
    prior_values = _check.check_numbers("prior", prior)
    k = len(rows.classes)
    if prior_values.shape not in ((k,), (len(rows.true), k)):
        raise InputError(f"prior must have shape ({k},) or ({len(rows.true)}, {k}), got {prior_values.shape}")
    return _check.check_probabilities("prior", np.atleast_2d(prior_values))[None]


def _average_over_lines(
    rows: ProbabilityRows, priors: FloatArray, contribution: Callable[[ProbabilityRows, FloatArray], FloatArray]
) -> FloatArray:
    """Average contributions that depend on the prior. Each resample may have its own prior."""
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
