"""Fairness measures: largest differences and smallest ratios between the rates of groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError
from fairtrial.measures.intervals import ConfidenceLimits, Interval
from fairtrial.measures.rows import LabelRows
from fairtrial.measures.subgroup_gaps import (
    PartialValue,
    combine_limits,
    estimate_proportions,
    find_level_of_pairs,
    sum_by_code,
)

Rates = Sequence[PartialValue]


def demographic_parity_difference(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    positive: object = None,
    sample_weight: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Compute the largest difference between the selection rates of any two groups.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    groups : array-like of shape (n,)
        Group of each row, e.g. its region.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Interval
        The limits cover the differences between all pairs of groups simultaneously. The estimate is biased upwards if groups
        are small because it is the largest of several differences.

    Examples
    --------
    >>> y_true, groups = [1, 0] * 20, ["a", "b"] * 20
    >>> result = demographic_parity_difference(y_true, [1, 0, 1, 1] * 10, groups)
    >>> result.estimate, round(result.low, 2), round(result.high, 2)
    (0.5, 0.24, 0.7)
    """
    rates = _Rates(y_true, y_pred, groups, positive, sample_weight, level)
    return rates.summarize("demographic_parity_difference", ["selection"], max, _measure_difference)


def demographic_parity_ratio(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    positive: object = None,
    sample_weight: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Compute the smallest ratio of the selection rates of any two groups.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    groups : array-like of shape (n,)
        Group of each row, e.g. its region.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Interval
        The limits cover the ratios for all pairs of groups simultaneously. The estimate is biased downwards if groups are
        small, and is NaN if no row is selected.

    Examples
    --------
    >>> demographic_parity_ratio([1, 0] * 20, [1, 0, 1, 1] * 10, ["a", "b"] * 20).estimate
    0.5
    """
    rates = _Rates(y_true, y_pred, groups, positive, sample_weight, level)
    return rates.summarize("demographic_parity_ratio", ["selection"], min, _measure_ratio)


def equalized_odds_difference(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    positive: object = None,
    sample_weight: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Compute the largest difference in recall or false positive rate between any two groups.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    groups : array-like of shape (n,)
        Group of each row, e.g. its region.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Interval
        The limits cover the differences in both rates between all pairs of groups simultaneously. The estimate is biased
        upwards if groups are small because it is the largest of several differences.

    Examples
    --------
    >>> equalized_odds_difference([1, 1, 0, 0] * 10, [1, 0, 0, 0] * 10, ["a", "b"] * 20).estimate
    1.0
    """
    rates = _Rates(y_true, y_pred, groups, positive, sample_weight, level)
    return rates.summarize("equalized_odds_difference", ["recall", "false positive"], max, _measure_difference)


def equalized_odds_ratio(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    positive: object = None,
    sample_weight: npt.ArrayLike | None = None,
    level: float = 0.95,
) -> Interval:
    """Compute the smallest ratio of the recalls or false positive rates of any two groups.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_pred : array-like of shape (n,)
        Predicted labels.
    groups : array-like of shape (n,)
        Group of each row, e.g. its region.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    Interval
        The limits cover the ratios of both rates for all pairs of groups simultaneously. The estimate is biased downwards if
        groups are small, and is NaN if a rate is 0 in every group.

    Examples
    --------
    >>> equalized_odds_ratio([1, 1, 0, 0] * 10, [1, 1, 1, 0] * 5 + [1, 0, 0, 1] * 5, ["a", "b"] * 20).estimate
    0.5
    """
    rates = _Rates(y_true, y_pred, groups, positive, sample_weight, level)
    return rates.summarize("equalized_odds_ratio", ["recall", "false positive"], min, _measure_ratio)


class _Rates:
    """Rates of positive predictions among all rows, positives and negatives of each group."""

    def __init__(
        self,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        groups: npt.ArrayLike,
        positive: object,
        sample_weight: npt.ArrayLike | None,
        level: float,
    ) -> None:
        _check.check_between("level", level, 0, 1)
        columns = [
            _check.check_column(name, values) for name, values in (("y_true", y_true), ("y_pred", y_pred), ("groups", groups))
        ]
        _check.check_same_length(y_true=columns[0], y_pred=columns[1], groups=columns[2])
        _, (names,) = _check.drop_zero_weights(sample_weight, columns[2])
        rows = LabelRows.read(y_true, y_pred, positive=positive, sample_weight=sample_weight)
        if rows.classes.positive is None:
            raise InputError(
                f"positive must be given if there are more than two classes, got {len(rows.classes)} classes: pass positive="
            )
        classes, (codes,) = _check.encode_labels(None, None, groups=names)
        self.names = [str(name) for name in classes.names.tolist() if (names.astype(str) == str(name)).any()]
        if len(self.names) < 2:
            raise InputError(f"groups must contain at least 2 groups, got only {self.names[0]!r}: pass another column")
        self.level, count = level, len(self.names)
        is_positive, is_selected = rows.true == rows.classes.positive, rows.predicted == rows.classes.positive
        selections = {"selection": np.ones(len(codes), bool), "recall": is_positive, "false positive": ~is_positive}
        self.rates = {name: _estimate_rates(is_selected, mask, codes, count, rows.weights) for name, mask in selections.items()}

    def summarize(
        self,
        measure: str,
        names: Sequence[str],
        choose: Callable[[Sequence[float]], float],
        compute: Callable[[Rates, float], tuple[float, float, float]],
    ) -> Interval:
        """Compute the extreme value over the named rates and all pairs of groups.

        The confidence level is Bonferroni-adjusted for the number of rates.
        """
        results, notes = [], []
        for name in names:
            defined = [rate for rate in self.rates[name] if not math.isnan(rate.value)]
            undefined = [group for group, rate in zip(self.names, self.rates[name], strict=True) if math.isnan(rate.value)]
            if undefined:
                notes.append(f"without {join_names(undefined)}, where the {name} rate is undefined")
            results.append(compute(defined, 1 - (1 - self.level) / len(names)) if len(defined) > 1 else (math.nan,) * 3)
            if len(defined) < 2:
                notes.append(f"the {name} rate is defined for only {format_count(len(defined), 'group')}")
            elif math.isnan(results[-1][0]):
                notes.append(f"undefined, because the {name} rate is 0 in every group")
        columns = [float("nan") if np.isnan(column).any() else choose(column) for column in zip(*results, strict=True)]
        return Interval(measure, columns[0], columns[1], columns[2], self.level, "simultaneous score", "; ".join(notes))


def _estimate_rates(
    is_selected: npt.NDArray[np.bool_], mask: npt.NDArray[np.bool_], codes: Any, count: int, weights: FloatArray | None
) -> Rates:
    amounts = mask.astype(np.float64) if weights is None else mask * weights
    hits, totals = (sum_by_code(codes, values, count) for values in (amounts * is_selected, amounts))
    squares = None if weights is None else sum_by_code(codes, amounts**2, count)
    return estimate_proportions(hits, totals, squares).subgroups


def _measure_difference(rates: Rates, level: float) -> tuple[float, float, float]:
    values = [rate.value for rate in rates]
    shared_level = find_level_of_pairs(rates, level)
    limits = [combine_limits(first, second, 0.0, shared_level) for first in rates for second in rates if first is not second]
    return max(values) - min(values), max(0.0, *(low for low, _ in limits)), max(high for _, high in limits)


def _measure_ratio(rates: Rates, level: float) -> tuple[float, float, float]:
    values = [rate.value for rate in rates]
    if not max(values):
        return math.nan, math.nan, math.nan
    shared_level = find_level_of_pairs(rates, level)
    limits = [_combine_ratio_limits(first, second, shared_level) for first in rates for second in rates if first is not second]
    return min(values) / max(values), min(low for low, _ in limits), min(1.0, *(high for _, high in limits))


def _combine_ratio_limits(first: PartialValue, second: PartialValue, level: float) -> ConfidenceLimits:
    """Combine the limits for two values into limits for their ratio (Donner & Zou 2012)."""
    a, b = first.value, second.value
    (a_low, a_high), (b_low, b_high) = first.compute_limits(level), second.compute_limits(level)
    below = b_high * (2 * b - b_high)
    inner = math.sqrt(max(0.0, (a * b) ** 2 - a_low * (2 * a - a_low) * below))
    # This form of the lower limit is also valid if `below` is not positive.
    low = a_low * (2 * a - a_low) / (a * b + inner) if a * b + inner > 0 else 0.0
    above = b_low * (2 * b - b_low)
    outer = math.sqrt(max(0.0, (a * b) ** 2 - a_high * (2 * a - a_high) * above))
    return max(0.0, low), (a * b + outer) / above if above > 0 else math.inf
