"""The paper's claims about its Table 1, judged by our error rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._text import join_names
from fairtrial.reproduce.claim import Claim, IntervalEstimate, are_all_positive, combine_outcomes, estimate_mean
from fairtrial.reproduce.ranking_errors import (
    DISPLAY_NAMES,
    MEASURES,
    compute_difference_limits,
    compute_joint_level,
    estimate_rate,
    index_measure,
    join_measures,
)
from fairtrial.reproduce.ranking_real import tables
from fairtrial.reproduce.ranking_real.cells import NOISY_EXPERIMENTS, CellResult, estimate_over_repeats

HARD_DATASETS = ("Liver", "Transfusion")
_MIN_DATASETS = 4
_MISSING = "a required data set or experiment is missing"
_OTHER_MEASURES = ("h_measure", "auch", "sauc", "ks")


def build_claims(noisy: Sequence[CellResult], clean: Sequence[CellResult]) -> tuple[Claim, ...]:
    """Judge all claims; `clean` are the cells without noise."""
    return (
        _judge_sauc_on_hard_datasets(noisy),
        judge_hardest(noisy),
        _judge_easiest(noisy),
        judge_lowest_auc(clean),
        _judge_noise_target(noisy, 1, 2, "classes"),
        _judge_noise_target(noisy, 3, 4, "attributes"),
        judge_correlations(noisy),
        _judge_ratio(noisy, "Spect", "h_measure", "auc", 3, "the error of H is more than three times that of AUC"),
        _judge_ratio(noisy, "House", "auc", "h_measure", 7, "the error of AUC is (at least) seven times that of H"),
        *(_judge_order(noisy, (1, 2), measure, ("h_measure",), _LABEL_NOISE) for measure in ("auc", "taks")),
        _judge_order(noisy, NOISY_EXPERIMENTS, "auc", _OTHER_MEASURES, _MOST_ROBUST),
        _judge_order(noisy, NOISY_EXPERIMENTS, "taks", _OTHER_MEASURES, _NOVEL),
    )


_LABEL_NOISE = "With noise in classes, H has on average slightly higher errors than {} (judged as: higher)"
_MOST_ROBUST = "Of the usual measures, AUC is the most robust (judged as: lowest mean error over all cells)"
_NOVEL = "taKS is remarkably robust (judged as: its mean error is below those of H, AUCH, sAUC and KS)"


def _judge_sauc_on_hard_datasets(noisy: Sequence[CellResult]) -> Claim:
    text = (
        "On Liver and Transfusion, the errors of sAUC are remarkably high in all four experiments "
        "(64.8 to 78.3 %; judged as: above 50 % in each)"
    )
    cells = _select_cells(noisy, HARD_DATASETS)
    if cells is None:
        return Claim(text, None, _MISSING)
    rates = [_estimate_cell_rate(cell, "sauc", len(cells)) for cell in cells]
    values = f"{min(rate.value for rate in rates):.1f} to {max(rate.value for rate in rates):.1f} %"
    limits = f"confidence limits {min(rate.low for rate in rates):.1f} to {max(rate.high for rate in rates):.1f} %"
    return Claim(text, combine_outcomes(rate.subtract(50).is_positive for rate in rates), f"{values}, {limits}")


def _select_cells(noisy: Sequence[CellResult], datasets: Sequence[str]) -> list[CellResult] | None:
    """Select the cells of these data sets in all four experiments; None if one is missing."""
    cells = [cell for cell in noisy if cell.dataset in datasets]
    expected = {(dataset, experiment) for dataset in datasets for experiment in NOISY_EXPERIMENTS}
    return cells if {(cell.dataset, cell.experiment) for cell in cells} == expected else None


def _estimate_cell_rate(cell: CellResult, measure: str, comparisons: int) -> IntervalEstimate:
    return estimate_rate(float(cell.rates[index_measure(measure)]), len(cell.errors), compute_joint_level(comparisons))


def judge_hardest(noisy: Sequence[CellResult]) -> Claim:
    """Judge whether the mean errors on both hard data sets are higher than on all others in each experiment."""
    text = (
        "The errors on Liver and Transfusion are the highest in all four experiments (judged as: the mean of the six measures)"
    )
    if not _has_hard_and_other(noisy):
        return Claim(text, None, _MISSING)
    outcomes = {measure: _judge_hardest_by(noisy, measure) for measure in MEASURES}
    by_measure = [
        f"{word} {join_measures([measure for measure in MEASURES if outcomes[measure] is outcome])}"
        for outcome, word in ((True, "reproduced for"), (False, "contradicted for"), (None, "inconclusive for"))
        if outcome in outcomes.values()
    ]
    published = list_published_hardest()
    in_paper = f"true {'only ' if len(published) == 1 else ''}for {join_measures(published)}" if published else "true for none"
    pairs = _pair_hard_with_others(noisy)
    differences = [_estimate_mean_difference(*pair, compute_joint_level(len(pairs))) for pair in pairs]
    smallest = min(differences, key=lambda difference: difference.value)
    return Claim(
        text,
        combine_outcomes(difference.is_positive for difference in differences),
        f"smallest difference from another data set {smallest.format('{:.2f}')} points; "
        f"single measures: {', '.join(by_measure)}; in the paper's own table, {in_paper}",
    )


def _has_hard_and_other(cells: Sequence[CellResult]) -> bool:
    """Whether both hard data sets and at least one other occur in the same experiments."""
    experiments: dict[str, set[int]] = {}
    for cell in cells:
        experiments.setdefault(cell.dataset, set()).add(cell.experiment)
    return set(HARD_DATASETS) < set(experiments) and len({frozenset(numbers) for numbers in experiments.values()}) == 1


def _pair_hard_with_others(cells: Sequence[CellResult]) -> list[tuple[CellResult, CellResult]]:
    """Pair each cell of a hard data set with the cells of all other data sets of the same experiment."""
    return [
        (hard, other)
        for hard in cells
        for other in cells
        if hard.experiment == other.experiment and hard.dataset in HARD_DATASETS and other.dataset not in HARD_DATASETS
    ]


def _estimate_mean_difference(first: CellResult, second: CellResult, level: float) -> IntervalEstimate:
    """Estimate the difference between the mean errors over the six measures in percentage points."""
    means = (100 * cell.errors[:, : len(MEASURES)].mean(axis=1) for cell in (first, second))
    one, other = (estimate_mean(mean, level) for mean in means)
    half = math.hypot((one.high - one.low) / 2, (other.high - other.low) / 2)
    value = one.value - other.value
    return IntervalEstimate(value, value - half, value + half)


def _judge_hardest_by(noisy: Sequence[CellResult], measure: str) -> bool | None:
    pairs, column = _pair_hard_with_others(noisy), index_measure(measure)
    level = compute_joint_level(len(pairs) * len(MEASURES))
    outcomes = []
    for hard, other in pairs:
        hard_rate, other_rate = 100 * float(hard.rates[column]), 100 * float(other.rates[column])
        limits = compute_difference_limits(hard_rate, other_rate, len(hard.errors), len(other.errors), level)
        outcomes.append(IntervalEstimate(hard_rate - other_rate, *limits).is_positive)
    return combine_outcomes(outcomes)


def list_published_hardest() -> list[str]:
    """List the measures by which both data sets are the hardest in the paper's own table.

    >>> list_published_hardest()
    ['sauc']
    """
    rows = tables.read_table1()
    is_hard = rows["dataset"].isin(HARD_DATASETS)
    keys = ["measure", "experiment"]
    is_above = rows[is_hard].groupby(keys)["value"].min() > rows[~is_hard].groupby(keys)["value"].max()
    is_hardest = is_above.groupby("measure").all()
    return [measure for measure in MEASURES if is_hardest[measure]]


def _judge_easiest(noisy: Sequence[CellResult]) -> Claim:
    text = "On Credit, errors are virtually negligible (judged as: below 1 % in each experiment)"
    cells = _select_cells(noisy, ["Credit"])
    if cells is None:
        return Claim(text, None, _MISSING)
    rates = [_estimate_cell_rate(cell, measure, len(cells) * len(MEASURES)) for cell in cells for measure in MEASURES]
    highest, limit = max(rate.value for rate in rates), max(rate.high for rate in rates)
    return Claim(
        text,
        combine_outcomes((-rate).subtract(-1).is_positive for rate in rates),
        f"highest error {highest:.2f} %, confidence limits up to {limit:.2f} %",
    )


def judge_lowest_auc(clean: Sequence[CellResult]) -> Claim:
    """Judge whether the AUC is lower on both hard data sets than on all others, by intervals over repeats."""
    text = "Without noise, naive Bayes has its lowest AUC on Liver and Transfusion"
    if not _has_hard_and_other(clean):
        return Claim(text, None, _MISSING)
    aucs = {cell.dataset: float(cell.values[index_measure("auc")]) for cell in clean}
    pairs = _pair_hard_with_others(clean)
    differences = [_estimate_auc_difference(hard, other, compute_joint_level(len(pairs))) for hard, other in pairs]
    lowest = ", ".join(f"{name} {aucs[name]:.3f}" for name in sorted(aucs, key=lambda name: aucs[name])[:3])
    smallest = min(differences, key=lambda difference: difference.value).format("{:+.3f}")
    return Claim(
        text,
        combine_outcomes(difference.is_positive for difference in differences),
        f"three lowest: {lowest}; smallest difference from another data set {smallest}",
    )


def _estimate_auc_difference(hard: CellResult, other: CellResult, level: float) -> IntervalEstimate:
    from scipy.stats import t

    auc = index_measure("auc")
    value, repeats = float(other.values[auc] - hard.values[auc]), min(len(hard.errors), len(other.errors))
    if repeats < 2:
        return IntervalEstimate(value, math.nan, math.nan)
    error = math.hypot(*(cell.deviations[auc] / math.sqrt(len(cell.errors)) for cell in (hard, other)))
    half = float(t.ppf((1 + level) / 2, repeats - 1)) * error
    return IntervalEstimate(value, value - half, value + half)


def _judge_noise_target(noisy: Sequence[CellResult], whole: int, training: int, noisy_part: str) -> Claim:
    text = f"Overall, errors are higher with noise in the {noisy_part} of the whole data set than of the training sets only"
    errors = {
        experiment: np.mean([cell.errors[:, : len(MEASURES)] for cell in noisy if cell.experiment == experiment], axis=0)
        for experiment in (whole, training)
    }
    difference = estimate_over_repeats((errors[whole] - errors[training]).mean(axis=1))
    first, second = (100 * errors[experiment].mean(axis=0) for experiment in (whole, training))
    higher = [DISPLAY_NAMES[measure] for measure, is_higher in zip(MEASURES, first > second, strict=True) if is_higher]
    return Claim(
        text,
        difference.is_positive,
        f"means over measures and data sets {first.mean():.2f} % and {second.mean():.2f} %, difference "
        f"{_format_points(difference)}; higher for {join_names(higher) or 'no measure'}",
    )


def _format_points(difference: IntervalEstimate) -> str:
    return f"{difference.format('{:+.2f}')} points"


def judge_correlations(noisy: Sequence[CellResult]) -> Claim:
    """Judge rank correlations over all cells with jackknife intervals over data sets."""
    text = "Overall, the errors of the measures are positively correlated"
    rates = np.array([cell.rates[: len(MEASURES)] for cell in noisy])
    datasets = np.array([cell.dataset for cell in noisy])
    if len(set(datasets)) < _MIN_DATASETS:
        return Claim(text, None, f"fewer than {_MIN_DATASETS} data sets were run")
    pairs = list(combinations(range(len(MEASURES)), 2))
    correlations = {pair: estimate_correlation(rates[:, pair], datasets) for pair in pairs}
    defined = {pair: correlation for pair, correlation in correlations.items() if np.isfinite(correlation.value)}
    if not defined:
        return Claim(text, None, "too few errors for a correlation")
    smallest = min(defined, key=lambda pair: defined[pair].value)
    names = join_measures([MEASURES[column] for column in smallest])
    details = f"smallest rank correlation over the cells {defined[smallest].format('{:.2f}')}, between {names}"
    return Claim(text, are_all_positive(correlations.values()), details)


def estimate_correlation(rates: FloatArray, datasets: FloatArray) -> IntervalEstimate:
    """Estimate the rank correlation of two columns with a jackknife interval over data sets.

    >>> rates = np.array([[1.0, 2.0], [2.0, 3.0], [3.0, 5.0], [4.0, 9.0]])
    >>> estimate_correlation(rates, np.array(["a", "b", "c", "d"])).format("{:.1f}")
    '1.0 (1.0 to 1.0)'
    """
    names = list(dict.fromkeys(datasets.tolist()))
    value = _compute_spearman(rates)
    left_out = np.array([_compute_spearman(rates[datasets != name]) for name in names])
    jackknife = estimate_mean(len(names) * value - (len(names) - 1) * left_out)
    half = (jackknife.high - jackknife.low) / 2
    return IntervalEstimate(value, max(value - half, -1.0), min(value + half, 1.0), jackknife.degrees_of_freedom)


def _compute_spearman(rates: FloatArray) -> float:
    """Compute Spearman's rank correlation; NaN if a column is constant."""
    from scipy.stats import rankdata

    if (np.ptp(rates, axis=0) == 0).any():
        return float("nan")
    return float(np.corrcoef(np.apply_along_axis(rankdata, 0, rates).T)[0, 1])


def _judge_ratio(noisy: Sequence[CellResult], dataset: str, first: str, second: str, factor: float, statement: str) -> Claim:
    text = f"In experiment #2 on {dataset}, {statement}"
    cells = [cell for cell in noisy if cell.dataset == dataset and cell.experiment == 2]
    if not cells:
        return Claim(text, None, _MISSING)
    one, other = (cells[0].errors[:, index_measure(measure)] for measure in (first, second))
    rates = f"{DISPLAY_NAMES[first]} {100 * one.mean():.2f} %, {DISPLAY_NAMES[second]} {100 * other.mean():.2f} %"
    if not one.any() and not other.any():
        return Claim(text, None, f"{rates}; without errors there is no ratio")
    excess = estimate_over_repeats(one - factor * other)
    return Claim(text, excess.is_positive, f"{rates}; first minus {factor:g} times second: {_format_points(excess)}")


def _judge_order(
    noisy: Sequence[CellResult], experiments: Sequence[int], lower: str, higher: Sequence[str], text: str
) -> Claim:
    """Judge whether a measure has a lower mean error over cells than the others, by paired intervals over repeats."""
    errors = np.mean([cell.errors for cell in noisy if cell.experiment in experiments], axis=0)
    lower_errors = errors[:, index_measure(lower)]
    differences = {measure: estimate_over_repeats(errors[:, index_measure(measure)] - lower_errors) for measure in higher}
    smallest = min(differences, key=lambda measure: differences[measure].value)
    rates = ", ".join(
        f"{DISPLAY_NAMES[measure]} {100 * errors[:, index_measure(measure)].mean():.2f} %" for measure in (lower, *higher)
    )
    pair = f"{DISPLAY_NAMES[smallest]} minus {DISPLAY_NAMES[lower]}"
    details = f"mean errors: {rates}; {pair}: {_format_points(differences[smallest])}"
    return Claim(text.format(DISPLAY_NAMES[lower]), are_all_positive(differences.values()), details)
