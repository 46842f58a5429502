"""Judge the paper's claims about its Table 1 by our error rates.

The "hard data sets" are Liver and Transfusion. The paper does not quantify its wording. We use the same limit for the same
word in both ranking experiments; see `ranking_errors`. Claims about the average over data sets are judged by one combined test
of the mean over the data sets that the paper names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._text import join_names
from fairtrial.reproduce.claim import (
    CONTRADICTED,
    DIRECTION,
    INCONCLUSIVE,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    combine_estimates,
    combine_verdicts,
    estimate_mean,
    judge_datasets,
    judge_direction,
    judge_equivalence,
    judge_fact,
    list_by_verdict,
    mark_inconclusive,
)
from fairtrial.reproduce.ranking_errors import (
    DISPLAY_NAMES,
    DRAMATIC,
    MEASURES,
    NEGLIGIBLE,
    PUBLISHED_REPEATS,
    SLIGHT,
    SMALL,
    compute_difference_limits,
    estimate_rate,
    index_measure,
    join_measures,
    list_slight,
)
from fairtrial.reproduce.ranking_real import tables
from fairtrial.reproduce.ranking_real.cells import NOISY_EXPERIMENTS, CellResult, estimate_over_repeats

if TYPE_CHECKING:
    import pandas as pd

HARD_DATASETS = ("Liver", "Transfusion")
TARGET = 0.75
"""Our target for the proportion of cells of Table 1 that agree within sampling error."""
_MIN_DATASETS = 4
_OTHER_MEASURES = ("h_measure", "auch", "sauc", "ks")

Cells = Sequence[CellResult]


class JudgedQuantity(NamedTuple):
    """A verdict and the numbers on which it is based."""

    verdict: Verdict
    details: str


_MISSING = JudgedQuantity(NOT_TESTABLE, "a required data set or experiment is missing")


def build_claims(
    noisy: Cells, clean: Cells, alternatives: Mapping[str, Cells] | None = None, *, is_smoke: bool = False
) -> dict[str, Claim]:
    """Judge all claims and return them keyed by name.

    `clean` contains the cells without noise. `alternatives` contains the cells with noise under other interpretations of the
    paper. In a smoke run, the claims about our numbers are inconclusive.
    """
    runs = {"": noisy, **(alternatives or {})}

    def build(text: str, judge: Callable[[Cells], JudgedQuantity]) -> Claim:
        verdicts = {name: judge(cells) for name, cells in runs.items()}
        return build_claim(text, lambda name: verdicts[name].verdict, verdicts[""].details, variants=list(runs)[1:])

    slightly = (
        "With noise in classes, H has on average slightly higher errors than {} (judged as: the mean over the data sets is "
    )
    slightly += f"higher by less than {SLIGHT:g} points)"
    claims = {
        "most": build(
            "On most data sets, the errors are relatively small and not drastically different from each other (judged as: on "
            f"more than half of the data sets, all errors are below {SMALL:g} % and within {DRAMATIC:g} points of each other)",
            judge_most,
        ),
        "hard sAUC": build(
            "On Liver and Transfusion, the errors of sAUC are remarkably high in all four experiments (64.8 to 78.3 %; judged "
            "as: above 50 % by a combined test of all cells)",
            judge_hard_sauc,
        ),
        "hardest": _judge_hardest_variants(runs),
        "easiest": build(
            f"On Credit, errors are virtually negligible (judged as: below {NEGLIGIBLE:g} % in each experiment)", judge_easiest
        ),
        "lowest AUC": Claim("Without noise, naive Bayes has its lowest AUC on Liver and Transfusion", *judge_lowest_auc(clean)),
        **{
            part: build(
                f"Overall, errors are higher with noise in the {part} of the whole data set than with noise in the {part} of "
                "the training sets (judged as: the mean over measures and data sets)",
                lambda cells, numbers=numbers: judge_noise_target(cells, *numbers),  # type: ignore[misc]
            )
            for part, numbers in (("classes", (1, 2)), ("attributes", (3, 4)))
        },
        "correlations": build("Overall, the errors of the measures are positively correlated", judge_correlations),
        "Spect": build(
            "In experiment #2 on Spect, the error of H is more than three times that of AUC",
            lambda cells: judge_ratio(cells, "Spect", "h_measure", "auc", 3),
        ),
        "House": build(
            "In experiment #2 on House, the error of AUC is (at least) seven times that of H",
            lambda cells: judge_ratio(cells, "House", "auc", "h_measure", 7),
        ),
        **{
            f"H and {DISPLAY_NAMES[measure]}": build(
                slightly.format(DISPLAY_NAMES[measure]),
                lambda cells, measure=measure: judge_order(cells, (1, 2), measure, ("h_measure",), slightly=True),  # type: ignore[misc]
            )
            for measure in ("auc", "taks")
        },
        "AUC robust": build(
            "Overall, AUC is the most robust of the usual measures (judged as: lowest mean error over the data sets and "
            "experiments)",
            lambda cells: judge_order(cells, NOISY_EXPERIMENTS, "auc", _OTHER_MEASURES),
        ),
        "taKS robust": build(
            "taKS is remarkably robust (judged as: its mean error is below those of H, AUCH, sAUC and KS)",
            lambda cells: judge_order(cells, NOISY_EXPERIMENTS, "taks", _OTHER_MEASURES),
        ),
    }
    return dict(zip(claims, mark_inconclusive(claims.values()), strict=True)) if is_smoke else claims


def _subtract_from(limit: float, estimate: IntervalEstimate) -> IntervalEstimate:
    return (-estimate).subtract(-limit)


def judge_most(noisy: Cells) -> JudgedQuantity:
    """Judge the claim about most data sets by the number that support or contradict it."""
    datasets = list(dict.fromkeys(cell.dataset for cell in noisy))
    if len(datasets) < _MIN_DATASETS:
        return JudgedQuantity(NOT_TESTABLE, f"fewer than {_MIN_DATASETS} data sets were run")
    verdicts = {name: _judge_dataset([cell for cell in noisy if cell.dataset == name]) for name in datasets}
    groups = {verdict: [name for name in datasets if verdicts[name] == verdict] for verdict in dict.fromkeys(verdicts.values())}
    text = "; ".join(f"{verdict} on {join_names(names)}" for verdict, names in groups.items())
    half = len(datasets) / 2
    n_reproduced, n_direction = (len(groups.get(verdict, [])) for verdict in (REPRODUCED, DIRECTION))
    if n_reproduced > half:
        return JudgedQuantity(REPRODUCED, text)
    if len(groups.get(CONTRADICTED, [])) >= half:
        return JudgedQuantity(CONTRADICTED, text)
    return JudgedQuantity(DIRECTION if n_reproduced + n_direction > half else INCONCLUSIVE, text)


def _judge_dataset(cells: Cells) -> Verdict:
    """Judge whether all errors on one data set are small and similar."""
    rates = [_estimate_cell_rate(cell, measure) for cell in cells for measure in MEASURES]
    differences = [
        estimate_mean(100 * (cell.errors[:, first] - cell.errors[:, second]))
        for cell in cells
        for first, second in combinations(range(len(MEASURES)), 2)
    ]
    is_small = judge_direction([_subtract_from(SMALL, rate) for rate in rates])
    return combine_verdicts([is_small, judge_equivalence(differences, DRAMATIC)])


def _estimate_cell_rate(cell: CellResult, measure: str) -> IntervalEstimate:
    return estimate_rate(float(cell.rates[index_measure(measure)]), len(cell.errors))


def judge_hard_sauc(noisy: Cells) -> JudgedQuantity:
    """Judge whether the errors of sAUC on both hard data sets are above 50 %."""
    cells = _select_cells(noisy, HARD_DATASETS)
    if cells is None:
        return _MISSING
    rates = [_estimate_cell_rate(cell, "sauc") for cell in cells]
    values = f"{min(rate.value for rate in rates):.1f} to {max(rate.value for rate in rates):.1f} %"
    mean = f"mean {combine_estimates(rates).format('{:.1f}')} %"
    return JudgedQuantity(judge_datasets([rate.subtract(50) for rate in rates]), f"{values}, {mean}")


def _select_cells(noisy: Cells, datasets: Sequence[str]) -> list[CellResult] | None:
    """Select the cells of these data sets in all four experiments; None if one is missing."""
    cells = [cell for cell in noisy if cell.dataset in datasets]
    expected = {(dataset, experiment) for dataset in datasets for experiment in NOISY_EXPERIMENTS}
    return cells if {(cell.dataset, cell.experiment) for cell in cells} == expected else None


def _judge_hardest_variants(runs: Mapping[str, Cells]) -> Claim:
    """Judge whether both hard data sets have the highest mean errors.

    The individual measures and the other interpretations are variants.
    """
    judgements = {name: judge_hardest(cells) for name, cells in runs.items()}
    by_measure = {DISPLAY_NAMES[measure]: judge_hardest(runs[""], measure) for measure in MEASURES}
    judgements |= {name: judgement for name, judgement in by_measure.items() if judgement.verdict != NOT_TESTABLE}
    return build_claim(
        "The errors on Liver and Transfusion are the highest in all four experiments (judged as: the mean of the six measures; "
        "the single measures are variants)",
        lambda name: judgements[name].verdict,
        judgements[""].details,
        variants=list(judgements)[1:],
    )


def judge_hardest(noisy: Cells, measure: str | None = None) -> JudgedQuantity:
    """Judge whether the errors on both hard data sets are higher than on all others.

    The errors are those of one measure, or the mean of the six measures.
    """
    if not _has_hard_and_other(noisy):
        return _MISSING
    estimate = _estimate_mean_difference if measure is None else _make_rate_difference(measure)
    differences = [estimate(*pair) for pair in _pair_hard_with_others(noisy)]
    smallest = min(differences, key=lambda difference: difference.value)
    details = f"smallest difference from another data set {smallest.format('{:.2f}')} points"
    return JudgedQuantity(judge_direction(differences), details)


def _has_hard_and_other(cells: Cells) -> bool:
    """Return whether both hard data sets and at least one other were run.

    All of these data sets must have been run in the same experiments.
    """
    experiments: dict[str, set[int]] = {}
    for cell in cells:
        experiments.setdefault(cell.dataset, set()).add(cell.experiment)
    return set(HARD_DATASETS) < set(experiments) and len({frozenset(numbers) for numbers in experiments.values()}) == 1


def _pair_hard_with_others(cells: Cells) -> list[tuple[CellResult, CellResult]]:
    """Pair each cell of a hard data set with each other data set in the same experiment."""
    return [
        (hard, other)
        for hard in cells
        for other in cells
        if hard.experiment == other.experiment and hard.dataset in HARD_DATASETS and other.dataset not in HARD_DATASETS
    ]


def _estimate_mean_difference(first: CellResult, second: CellResult) -> IntervalEstimate:
    """Estimate the difference between mean errors over the measures, in points."""
    one, other = (estimate_mean(100 * cell.errors[:, : len(MEASURES)].mean(axis=1)) for cell in (first, second))
    half = math.hypot((one.high - one.low) / 2, (other.high - other.low) / 2)
    value = one.value - other.value
    return IntervalEstimate(value, value - half, value + half, min(one.degrees_of_freedom, other.degrees_of_freedom))


def _make_rate_difference(measure: str) -> Callable[[CellResult, CellResult], IntervalEstimate]:
    """Make a function that estimates the difference between two errors of a measure."""
    column = index_measure(measure)

    def estimate(first: CellResult, second: CellResult) -> IntervalEstimate:
        one, other = (100 * float(cell.rates[column]) for cell in (first, second))
        limits = compute_difference_limits(one, other, len(first.errors), len(second.errors))
        return IntervalEstimate(one - other, *limits)

    return estimate


def judge_easiest(noisy: Cells) -> JudgedQuantity:
    """Judge whether all errors on Credit are negligible, by equivalence tests."""
    cells = _select_cells(noisy, ["Credit"])
    if cells is None:
        return _MISSING
    rates = [_estimate_cell_rate(cell, measure) for cell in cells for measure in MEASURES]
    highest, limit = max(rate.value for rate in rates), max(rate.high for rate in rates)
    return JudgedQuantity(
        judge_equivalence(rates, NEGLIGIBLE), f"highest error {highest:.2f} %, confidence limits up to {limit:.2f} %"
    )


def judge_lowest_auc(clean: Cells) -> JudgedQuantity:
    """Judge whether the AUC is lower on both hard data sets than on all others."""
    if not _has_hard_and_other(clean):
        return _MISSING
    aucs = {cell.dataset: float(cell.values[index_measure("auc")]) for cell in clean}
    differences = [_estimate_auc_difference(hard, other) for hard, other in _pair_hard_with_others(clean)]
    lowest = ", ".join(f"{name} {aucs[name]:.3f}" for name in sorted(aucs, key=lambda name: aucs[name])[:3])
    smallest = min(differences, key=lambda difference: difference.value).format("{:+.3f}")
    return JudgedQuantity(
        judge_direction(differences), f"three lowest: {lowest}; smallest difference from another data set {smallest}"
    )


def _estimate_auc_difference(hard: CellResult, other: CellResult) -> IntervalEstimate:
    from scipy.stats import t

    auc = index_measure("auc")
    value, repeats = float(other.values[auc] - hard.values[auc]), min(len(hard.errors), len(other.errors))
    if repeats < 2:
        return IntervalEstimate(value, math.nan, math.nan)
    error = math.hypot(*(cell.deviations[auc] / math.sqrt(len(cell.errors)) for cell in (hard, other)))
    half = float(t.ppf(0.975, repeats - 1)) * error
    return IntervalEstimate(value, value - half, value + half, repeats - 1)


def judge_noise_target(noisy: Cells, whole: int, training: int) -> JudgedQuantity:
    """Judge whether noise in all rows causes more errors than noise in training rows only.

    The mean is over data sets and measures.
    """
    by_key = {(cell.dataset, cell.experiment): cell.errors[:, : len(MEASURES)] for cell in noisy}
    pairs = {
        dataset: (by_key[dataset, whole], by_key[dataset, training])
        for dataset in dict.fromkeys(cell.dataset for cell in noisy)
        if (dataset, whole) in by_key and (dataset, training) in by_key
    }
    differences = {dataset: estimate_mean(100 * (first - second).mean(axis=1)) for dataset, (first, second) in pairs.items()}
    means = [100 * float(np.mean([errors[position].mean() for errors in pairs.values()])) for position in (0, 1)]
    return JudgedQuantity(
        judge_direction([combine_estimates(differences.values())]),
        f"means over measures and data sets {means[0]:.2f} % and {means[1]:.2f} %, difference {_format_combined(differences)}",
    )


def _format_combined(differences: Mapping[str, IntervalEstimate]) -> str:
    """Format the mean over data sets, and name the data sets that contradict it."""
    mean = combine_estimates(differences.values())
    opposite = [
        dataset for dataset, difference in differences.items() if difference.widen(len(differences)).sign * mean.value < 0
    ]
    return f"{mean.format('{:+.2f}')} points" + (f", opposite on {join_names(opposite)}" if opposite else "")


def judge_correlations(noisy: Cells) -> JudgedQuantity:
    """Judge whether the errors of the measures are positively correlated."""
    rates = np.array([cell.rates[: len(MEASURES)] for cell in noisy])
    datasets = np.array([cell.dataset for cell in noisy])
    if len(set(datasets)) < _MIN_DATASETS:
        return JudgedQuantity(NOT_TESTABLE, f"fewer than {_MIN_DATASETS} data sets were run")
    pairs = list(combinations(range(len(MEASURES)), 2))
    correlations = {pair: estimate_correlation(rates[:, pair], datasets) for pair in pairs}
    defined = {pair: correlation for pair, correlation in correlations.items() if np.isfinite(correlation.value)}
    if not defined:
        return JudgedQuantity(NOT_TESTABLE, "too few errors for a correlation")
    smallest = min(defined, key=lambda pair: defined[pair].value)
    names = join_measures([MEASURES[column] for column in smallest])
    details = f"smallest rank correlation over the cells {defined[smallest].format('{:.2f}')}, between {names}"
    return JudgedQuantity(judge_direction(correlations.values()), details)


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


def judge_ratio(noisy: Cells, dataset: str, first: str, second: str, factor: float) -> JudgedQuantity:
    """Judge whether one error in experiment #2 exceeds `factor` times another."""
    cells = [cell for cell in noisy if cell.dataset == dataset and cell.experiment == 2]
    if not cells:
        return _MISSING
    one, other = (cells[0].errors[:, index_measure(measure)] for measure in (first, second))
    rates = f"{DISPLAY_NAMES[first]} {100 * one.mean():.2f} %, {DISPLAY_NAMES[second]} {100 * other.mean():.2f} %"
    if not one.any() and not other.any():
        return JudgedQuantity(NOT_TESTABLE, f"{rates}; without errors there is no ratio")
    excess = estimate_over_repeats(one - factor * other)
    details = f"{rates}; first minus {factor:g} times second: {excess.format('{:+.2f}')} points"
    return JudgedQuantity(judge_direction([excess]), details)


def judge_order(
    noisy: Cells, experiments: Sequence[int], lower: str, higher: Sequence[str], *, slightly: bool = False
) -> JudgedQuantity:
    """Judge whether a measure has a lower mean error than others, by paired tests.

    If `slightly` is true, the differences must also be below the limit of a slight difference.
    """
    errors = {
        dataset: np.mean([cell.errors for cell in noisy if cell.dataset == dataset and cell.experiment in experiments], axis=0)
        for dataset in dict.fromkeys(cell.dataset for cell in noisy)
    }
    differences = {
        measure: {
            dataset: estimate_mean(100 * (values[:, index_measure(measure)] - values[:, index_measure(lower)]))
            for dataset, values in errors.items()
        }
        for measure in higher
    }
    mean_rates = 100 * np.mean([values.mean(axis=0) for values in errors.values()], axis=0)
    rates = ", ".join(f"{DISPLAY_NAMES[measure]} {mean_rates[index_measure(measure)]:.2f} %" for measure in (lower, *higher))
    pairs = "; ".join(
        f"{DISPLAY_NAMES[measure]} minus {DISPLAY_NAMES[lower]}: {_format_combined(by_dataset)}"
        for measure, by_dataset in differences.items()
    )
    details = f"mean errors: {rates}; {pairs}"
    means = [combine_estimates(by_dataset.values()) for by_dataset in differences.values()]
    return JudgedQuantity(judge_direction(list_slight(means) if slightly else means), details)


def build_printed_claims() -> tuple[Claim, ...]:
    """Check statements in the text against the paper's own Table 1."""
    rates = tables.read_table1().set_index(["measure", "dataset", "experiment"])["value"]
    hard = [rates["sauc", dataset, experiment] for dataset in HARD_DATASETS for experiment in NOISY_EXPERIMENTS]
    spect = [rates[measure, "Spect", 2] for measure in ("h_measure", "auc")]
    house = [rates[measure, "House", 2] for measure in ("auc", "h_measure")]
    is_quoted = (min(hard), max(hard)) == (64.8, 78.3) and spect[0] > 3 * spect[1] and math.isclose(house[0], 7 * house[1])
    means = rates.groupby("measure").mean()
    usual = ("h_measure", "auc", "auch", "sauc", "ks")
    hardest = list_published_hardest()
    in_table = f"{'only ' if len(hardest) == 1 else ''}for {join_measures(hardest)}" if hardest else "for no measure"
    return (
        Claim(
            "The numbers of the text on Liver, Transfusion, Spect and House follow from Table 1",
            judge_fact(is_quoted),
            f"sAUC {min(hard):.1f} to {max(hard):.1f} %; Spect {spect[0]:.1f} and {spect[1]:.1f} %; House {house[0]:.1f} and "
            f"{house[1]:.1f} %",
            kind="printed",
        ),
        Claim(
            "In Table 1, the errors on Liver and Transfusion are the highest in all four experiments (judged as: for each "
            "measure)",
            judge_fact(len(hardest) == len(MEASURES)),
            f"true {in_table}",
            kind="printed",
        ),
        Claim(
            "In Table 1, AUC has the lowest mean error of the usual measures",
            judge_fact(means[list(usual)].idxmin() == "auc"),
            ", ".join(f"{DISPLAY_NAMES[measure]} {means[measure]:.2f} %" for measure in MEASURES),
            kind="printed",
        ),
    )


def list_published_hardest() -> list[str]:
    """List the measures with the highest published errors on both hard data sets.

    >>> list_published_hardest()
    ['sauc']
    """
    rows = tables.read_table1()
    is_hard = rows["dataset"].isin(HARD_DATASETS)
    keys = ["measure", "experiment"]
    is_above = rows[is_hard].groupby(keys)["value"].min() > rows[~is_hard].groupby(keys)["value"].max()
    is_hardest = is_above.groupby("measure").all()
    return [measure for measure in MEASURES if is_hardest[measure]]


def judge_target(cells: pd.DataFrame) -> Claim:
    """Judge our target for the agreement with Table 1.

    `cells` is the result of `tables.compare_cells`.
    """
    compared = cells[cells["published"].notna() & cells["ours"].notna()]
    text = f"At least {100 * TARGET:.0f} % of the cells of Table 1 agree within sampling error"
    if compared.empty:
        return Claim(text, NOT_TESTABLE, "none of the paper's data sets was found", kind="target")
    n_within = int(compared["within"].sum())
    details = (
        f"{n_within} of {len(compared)} cells agree; at least about {0.95 * len(compared):.0f} would if both experiments were "
        "the same"
    )
    if compared["repeats"].min() < PUBLISHED_REPEATS:
        note = f"; with fewer than the paper's {PUBLISHED_REPEATS:,} repeats, the intervals are too wide to decide"
        return Claim(text, INCONCLUSIVE, details + note, kind="target")
    return Claim(text, judge_fact(n_within >= TARGET * len(compared)), details, kind="target")


def summarise_claims(claims: Mapping[str, Claim], cells: pd.DataFrame) -> str:
    """Summarize the agreement with Table 1 and the main verdicts in a few sentences."""
    compared = cells[cells["published"].notna() & cells["ours"].notna()]
    agreement = "None of the paper's data sets was found."
    if len(compared):
        repeats = f"in {int(compared['repeats'].min()):,} of the paper's {PUBLISHED_REPEATS:,} repeats"
        agreement = (
            f"{int(compared['within'].sum())} of {len(compared)} error rates of Table 1 agree within sampling error"
            f"{f' {repeats}' if compared['repeats'].min() < PUBLISHED_REPEATS else ''}. If both experiments were the same, "
            f"at least about {0.95 * len(compared):.0f} would agree."
        )
    verdicts = list_by_verdict(
        {
            "overall, AUC is the most robust of the usual measures": claims["AUC robust"].verdict,
            "taKS is remarkably robust": claims["taKS robust"].verdict,
            "on Liver and Transfusion, sAUC mostly prefers the worse scores": claims["hard sAUC"].verdict,
            "errors are small and similar on most data sets": claims["most"].verdict,
        }
    )
    return f"{agreement} {verdicts}"
