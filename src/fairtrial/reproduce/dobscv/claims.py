"""Claims of the paper and of fairtrial's documentation about SCV and DOB-SCV, judged by interval estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._text import format_count, join_names
from fairtrial.reproduce.claim import (
    Claim,
    IntervalEstimate,
    are_all_positive,
    combine_outcomes,
    estimate_mean,
    mark_inconclusive,
)
from fairtrial.reproduce.dobscv import tables
from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, N_DATASETS, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import HIGH, LOW, FoldAverages
from fairtrial.reproduce.experiment import read_published

if TYPE_CHECKING:
    import pandas as pd

TOP = 5  # number of data sets with the largest differences
_MIN_DATASETS = 6  # with fewer data sets, all claims are inconclusive
_ALPHA, _Z_LIMIT = 0.05, 1.959964
_TARGET_LEARNERS, _TARGET_LIMIT = ("C4.5", "1-NN", "SMO"), 0.01
# The paper and our documentation give no numbers, so we chose these limits.
_MUCH_HIGHER = 1.5
_SMALL_BIAS = 0.005
_SMALL_GAP = 0.01

Estimates = Mapping[str, IntervalEstimate]  # by learner
_Judge = Callable[["pd.DataFrame"], tuple[list[IntervalEstimate], str]]  # estimates that must be above 0, and details


def judge_claims(averages: FoldAverages, scores: pd.DataFrame, pooled_biases: pd.DataFrame) -> list[Claim]:
    """Judge the claims about the paper's tables, about simulated problems, and about fold 1."""
    return [*judge_tables(averages), *judge_simulation(pooled_biases), judge_first_fold(scores)]


def judge_tables(averages: FoldAverages) -> list[Claim]:
    """Judge the claims about the paper's tables; with few data sets, all are inconclusive.

    DOB-SCV is compared with KEEL's folds, which are a single draw. It is also compared with our own stratified folds if these
    were run.
    """
    claims = [
        *judge_target(averages),
        _judge_differences(
            "With all five learners, DOB-SCV gives higher estimates than SCV on most data sets", averages, _judge_most_datasets
        ),
        _judge_differences("The average estimate of every learner is higher under DOB-SCV", averages, _judge_averages),
        _judge_imbalance(averages),
        *judge_deviations(averages),
        *_judge_named_datasets(averages),
        _judge_differences(
            "DOB-SCV is higher with all learners on more data sets than it is lower with all learners",
            averages,
            _judge_unanimous_datasets,
        ),
        _judge_differences(
            "The gains on data sets with a higher estimate under DOB-SCV exceed the losses on the others (judged as: mean gain "
            "minus mean loss over all data sets and learners is above 0)",
            averages,
            judge_gains_and_losses,
        ),
        _judge_overlap(averages),
        *judge_rank_sums(averages.rank_sums),
    ]
    if averages.n_datasets < _MIN_DATASETS:
        return list(mark_inconclusive(claims, f"inconclusive because fewer than {_MIN_DATASETS} data sets were run"))
    return claims


def format_estimates(estimates: Estimates, pattern: str = "{:+.4f}") -> str:
    """Format the estimates of all learners."""
    return ", ".join(f"{learner} {estimate.format(pattern)}" for learner, estimate in estimates.items())


def estimate_target_gaps(averages: FoldAverages, scheme: str) -> dict[str, IntervalEstimate]:
    """Estimate our average AUC minus the published one for each learner, with an interval over runs.

    The published value is treated as fixed.
    """
    runs = averages.frame[averages.frame["scheme"] == scheme].groupby(["learner", "run"], sort=False)["auc"].mean()
    published = read_published("dobscv_table3").query("group == 'all'").set_index("learner")["auc_scv"]
    by_learner = runs.groupby(level="learner", sort=False)
    return {str(learner): estimate_mean(values - published[learner]) for learner, values in by_learner}


def judge_target(averages: FoldAverages) -> list[Claim]:
    """Judge whether averages under stratified folds are close to the published ones, if all data sets were run."""
    claims = []
    for scheme in averages.bases:
        text = (
            f"The average AUC under {scheme} is within {_TARGET_LIMIT} of the published value for "
            f"{join_names(_TARGET_LEARNERS)} (our target)"
        )
        if not averages.is_complete:
            details = f"only {averages.n_datasets} of the {N_DATASETS} data sets were run; the published averages use all"
            claims.append(Claim(text, None, details))
            continue
        gaps = {learner: gap for learner, gap in estimate_target_gaps(averages, scheme).items() if learner in _TARGET_LEARNERS}
        is_met = combine_outcomes(
            abs(gaps[learner].value) <= _TARGET_LIMIT if learner in gaps else None for learner in _TARGET_LEARNERS
        )
        claims.append(Claim(text, is_met, f"ours minus published, interval over runs: {format_estimates(gaps)}"))
    return claims


def _judge_differences(text: str, averages: FoldAverages, judge: _Judge) -> Claim:
    """Judge a claim by the differences from each kind of stratified folds; every kind must support the claim."""
    judged = {base: judge(averages.compare_datasets(LITERAL, base)) for base in averages.bases}
    outcome = are_all_positive(estimate for estimates, _ in judged.values() for estimate in estimates)
    return Claim(text, outcome, _join_details({base: details for base, (_, details) in judged.items()}))


def _join_details(details: Mapping[str, str]) -> str:
    return "; ".join(f"against {base}: {text}" for base, text in details.items())


def _judge_most_datasets(differences: pd.DataFrame) -> tuple[list[IntervalEstimate], str]:
    counts = {learner: (int((values > 0).sum()), int(values.notna().sum())) for learner, values in differences.items()}
    proportions = {learner: estimate_proportion(*count) for learner, count in counts.items()}
    details = ", ".join(
        f"{learner} {n_higher} of {total} ({proportions[learner].low:.0%} to {proportions[learner].high:.0%})"
        for learner, (n_higher, total) in counts.items()
    )
    return [proportion.subtract(0.5) for proportion in proportions.values()], details


def estimate_proportion(count: int, total: int) -> IntervalEstimate:
    """Estimate a proportion with the Clopper-Pearson interval at 95 %; undefined if `total` is 0.

    >>> estimate_proportion(7, 10).format("{:.4f}")
    '0.7000 (0.3475 to 0.9333)'
    """
    from scipy.stats import binomtest

    if not total:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    limits = binomtest(count, total).proportion_ci(method="exact")
    return IntervalEstimate(count / total, float(limits.low), float(limits.high))


def _judge_averages(differences: pd.DataFrame) -> tuple[list[IntervalEstimate], str]:
    effects = tables.estimate_effects(differences)
    return list(effects.values()), format_estimates(effects)


def _judge_unanimous_datasets(differences: pd.DataFrame) -> tuple[list[IntervalEstimate], str]:
    n_higher, n_lower = int((differences > 0).all(axis=1).sum()), int((differences < 0).all(axis=1).sum())
    proportion = estimate_proportion(n_higher, n_higher + n_lower)
    details = f"{n_higher} higher and {n_lower} lower, a proportion of {proportion.format('{:.2f}')}"
    return [proportion.subtract(0.5)], details


def judge_gains_and_losses(differences: pd.DataFrame) -> tuple[list[IntervalEstimate], str]:
    """Estimate the mean gain minus the mean loss with an interval over data sets (learners are not independent)."""
    values = differences.fillna(0.0).to_numpy()
    gain, gain_influence = _average_counted(np.maximum(values, 0), values > 0)
    loss, loss_influence = _average_counted(np.maximum(-values, 0), values < 0)
    effect = estimate_mean(gain - loss + gain_influence - loss_influence)
    return [effect], f"mean gain {gain:.4f}, mean loss {loss:.4f}, gain minus loss {effect.format()}"


def _average_counted(values: Any, is_counted: Any) -> tuple[float, Any]:
    """Return the mean of the counted cells, and the linearized influence of each data set on this mean. The influences have
    mean 0."""
    sums, counts = values.sum(axis=1), is_counted.sum(axis=1)
    if not counts.sum():
        return 0.0, np.zeros(len(sums))
    mean = float(sums.sum() / counts.sum())
    return mean, (sums - mean * counts) / counts.mean()


def _judge_imbalance(averages: FoldAverages) -> Claim:
    imbalance = averages.datasets["imbalance"]

    def judge(differences: pd.DataFrame) -> tuple[list[IntervalEstimate], str]:
        by_learner = {str(learner): values.dropna() for learner, values in differences.items()}
        ratios = {learner: imbalance.reindex(values.index) for learner, values in by_learner.items()}
        signed = {learner: estimate_rank_correlation(ratios[learner], values) for learner, values in by_learner.items()}
        sizes = [estimate_rank_correlation(ratios[learner], values.abs()).is_positive for learner, values in by_learner.items()]
        details = (
            f"{format_estimates(signed, '{:+.2f}')} (with the absolute difference, the correlation is positive for "
            f"{sizes.count(True)} of {format_count(len(sizes), 'learner')})"
        )
        return list(signed.values()), details

    text = "The higher the imbalance, the greater the difference between SCV and DOB-SCV"
    claim = _judge_differences(text, averages, judge)
    details = f"rank correlation of imbalance and difference, {claim.details}; {describe_published_imbalance()}"
    return Claim(text, claim.reproduced, details)


def describe_published_imbalance() -> str:
    """Name the learners that have smaller differences at high imbalance in the paper's own Table 3."""
    table = read_published("dobscv_table3").pivot_table(index="learner", columns="group", values="pct_diff", sort=False)
    contrary = table[table[HIGH] <= table[LOW]]
    values = ", ".join(f"{learner} ({row[HIGH]:.2f} % and {row[LOW]:.2f} %)" for learner, row in contrary.iterrows())
    return f"in the paper's own Table 3, the difference is smaller for IR>9 than for IR<9 with {values}"


def estimate_rank_correlation(first: Any, second: Any) -> IntervalEstimate:
    """Estimate Spearman's rank correlation with an interval by Fisher's z (variance of Bonett and Wright).

    >>> estimate_rank_correlation(np.arange(10.0), np.array([2, 1, 4, 3, 6, 5, 8, 7, 10, 9])).format("{:.3f}")
    '0.939 (0.688 to 0.990)'
    """
    from scipy.stats import spearmanr

    if len(first) < 4 or min(len(np.unique(values)) for values in (first, second)) < 2:
        return IntervalEstimate(0.0, float("nan"), float("nan"))
    value = float(spearmanr(first, second).statistic)
    middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
    half = _Z_LIMIT * np.sqrt((1 + value**2 / 2) / (len(first) - 3))
    return IntervalEstimate(value, float(np.tanh(middle - half)), float(np.tanh(middle + half)))


def judge_deviations(averages: FoldAverages) -> list[Claim]:
    """Judge whether standard deviations over folds are higher at high imbalance and lower under DOB-SCV."""
    lower = {base: tables.estimate_effects(-averages.compare_datasets(LITERAL, base, "sd")) for base in averages.bases}
    details = "; ".join(f"{base}: {format_estimates(effects)}" for base, effects in lower.items())
    is_lower = Claim(
        "DOB-SCV has lower standard deviations over folds than SCV",
        are_all_positive(effect for effects in lower.values() for effect in effects.values()),
        f"mean reduction over data sets, compared with {details}",
    )
    return [_judge_deviation_ratio(averages), is_lower]


def _judge_deviation_ratio(averages: FoldAverages) -> Claim:
    text = (
        "The standard deviation over folds is much higher if the imbalance is high (judged as: by a factor of at least "
        f"{_MUCH_HIGHER})"
    )
    groups = averages.datasets["group"]
    if set(groups) != {LOW, HIGH}:
        return Claim(text, None, "only one of the two groups of imbalance was run")
    estimates, details = [], []
    for scheme in (*averages.bases, LITERAL):
        deviations = averages.average_runs(scheme, "sd")
        group = groups.reindex(deviations.index)
        log_ratios = {
            str(learner): estimate_log_ratio(values[group == HIGH], values[group == LOW])
            for learner, values in deviations.items()
        }
        estimates += [log_ratio.subtract(float(np.log(_MUCH_HIGHER))) for log_ratio in log_ratios.values()]
        ratios = {
            learner: IntervalEstimate(*np.exp([ratio.value, ratio.low, ratio.high])) for learner, ratio in log_ratios.items()
        }
        details.append(f"{scheme}: {format_estimates(ratios, '{:.3f}')}")
    return Claim(text, are_all_positive(estimates), f"ratio of the mean for IR>9 to that for IR<9: {'; '.join(details)}")


def estimate_log_ratio(first: Any, second: Any) -> IntervalEstimate:
    """Estimate the logarithm of the ratio of two means with Welch's interval by the delta method.

    >>> estimate_log_ratio([2.0, 2.0, 2.0], [1.0, 1.0]).format("{:.4f}")
    '0.6931 (0.6931 to 0.6931)'
    """
    from scipy.stats import t

    groups = [np.asarray(values, dtype=float) for values in (first, second)]
    groups = [values[~np.isnan(values)] for values in groups]
    if min(len(values) for values in groups) < 2 or min(values.mean() for values in groups) <= 0:
        return IntervalEstimate(float("nan"), float("nan"), float("nan"))
    ratio = float(np.log(groups[0].mean() / groups[1].mean()))
    variances = np.array([values.var(ddof=1) / len(values) / values.mean() ** 2 for values in groups])
    if not variances.sum():
        return IntervalEstimate(ratio, ratio, ratio)
    terms = sum(variance**2 / (len(values) - 1) for variance, values in zip(variances, groups, strict=True))
    degrees = variances.sum() ** 2 / terms
    half = float(t.ppf(0.975, degrees) * np.sqrt(variances.sum()))
    return IntervalEstimate(ratio, ratio - half, ratio + half, float(degrees))


def _judge_named_datasets(averages: FoldAverages) -> list[Claim]:
    """Judge the claims about single data sets by intervals over runs."""
    differences = averages.compare_runs()
    claims = []
    for names, sign, word in ((("Abalone19", "Glass2"), 1, "higher"), (("Ecoli2", "Yeast2vs8"), -1, "lower")):
        rows = differences[differences["dataset"].isin(names)].groupby(["dataset", "learner"], sort=False)["value"]
        effects = {f"{name} {learner}": estimate_mean(values) for (name, learner), values in rows}
        outcome = are_all_positive(effect if sign > 0 else -effect for effect in effects.values())
        has_all = set(names) <= set(differences["dataset"])
        details = f"against {averages.bases[0]}, interval over runs: {format_estimates(effects, '{:+.3f}')}"
        claims.append(
            Claim(
                f"On {join_names(names)}, DOB-SCV is {word} than SCV with all learners",
                outcome if has_all else None,
                details if effects else "these data sets were not run",
            )
        )
    return claims


def _judge_overlap(averages: FoldAverages) -> Claim:
    judged = {base: judge_overlap(averages.compare_datasets(LITERAL, base)) for base in averages.bases}
    return Claim(
        f"The {TOP} data sets with the largest differences are completely different for each learner",
        combine_outcomes(outcome for outcome, _ in judged.values()),
        _join_details({base: details for base, (_, details) in judged.items()}),
    )


def judge_overlap(differences: pd.DataFrame) -> tuple[bool | None, str]:
    """Judge whether different learners have their largest differences on different data sets.

    The claim is contradicted if learners share significantly more data sets than expected by chance. It is reproduced if they
    share no data set and this is unlikely by chance.
    """
    complete = differences.dropna()
    top = min(TOP, len(complete))
    top_sets = [set(values.abs().nlargest(top).index) for _, values in complete.items()] if top else []
    n_shared = [len(first & second) for first, second in combinations(top_sets, 2)]
    if not n_shared:
        return None, "no two learners were run on the same data sets"
    distribution = compute_overlap_distribution(len(complete), top, complete.shape[1])
    p_value = sum(p for total, p in distribution.items() if total >= sum(n_shared))
    details = (
        f"two learners share {np.mean(n_shared):.1f} of their {top} data sets on average, {top**2 / len(complete):.1f} "
        f"expected by chance; probability of as many or more by chance {p_value:.4f}"
    )
    if p_value < _ALPHA:
        return False, details
    return (True if max(n_shared) == 0 and distribution[0] < _ALPHA else None), details


@cache
def compute_overlap_distribution(n_datasets: int, top: int, n_learners: int) -> dict[int, float]:
    """Compute the distribution of the total overlap over pairs of learners if each learner's top sets are random.

    The pairs are not independent. Therefore the learners draw one after the other. A state counts the data sets that were drawn
    by no learner, by one, by two and so on.

    >>> {total: round(p, 4) for total, p in compute_overlap_distribution(4, 2, 2).items()}  # hypergeometric: 1, 4, 1 of 6
    {0: 0.1667, 1: 0.6667, 2: 0.1667}
    """
    states = {(n_datasets, *[0] * n_learners): 1.0}
    for _ in range(n_learners):
        next_states: dict[tuple[int, ...], float] = {}
        for state, p in states.items():
            for picked in _list_picks(state[:-1], top):
                new = tuple(np.add(state, np.subtract((0, *picked), (*picked, 0))).tolist())
                ways = prod(comb(available, n_picked) for available, n_picked in zip(state, picked, strict=False))
                next_states[new] = next_states.get(new, 0.0) + p * ways / comb(n_datasets, top)
        states = next_states
    distribution: dict[int, float] = {}
    for state, p in states.items():
        total = sum(count * comb(times, 2) for times, count in enumerate(state))
        distribution[total] = distribution.get(total, 0.0) + p
    return dict(sorted(distribution.items()))


def _list_picks(available: tuple[int, ...], count: int) -> Iterator[tuple[int, ...]]:
    """List all ways to pick `count` items by kind: (2, 1) and 2 give (1, 1) and (2, 0)."""
    if not available:
        if not count:
            yield ()
        return
    for n_picked in range(min(available[0], count) + 1):
        for rest in _list_picks(available[1:], count - n_picked):
            yield (n_picked, *rest)


def judge_rank_sums(tests: pd.DataFrame) -> list[Claim]:
    """Judge the claims about the Wilcoxon tests of the literal variant of DOB-SCV: significance and rank sums.

    Each run is tested separately, like the paper's single run. The mean z over runs is compared with the critical value.
    """
    by_base = {base: tests[(tests["scheme"] == LITERAL) & (tests["base"] == base)] for base in (GIVEN, SCV)}
    groups = {base: rows.groupby("learner", sort=False) for base, rows in by_base.items() if len(rows)}
    z_values = {
        base: {str(learner): estimate_mean(compute_z_scores(rows)) for learner, rows in by_learner}
        for base, by_learner in groups.items()
    }
    rank_sums = {
        base: {str(learner): estimate_mean(rows["R+"] - rows["R-"]) for learner, rows in by_learner}
        for base, by_learner in groups.items()
    }
    p_values = read_published("dobscv_table5_wilcoxon").set_index("learner")["p_value"]
    published = ", ".join(f"{learner} {p:.4f}" for learner, p in p_values[p_values >= _ALPHA].items())
    z_details = _join_details({base: format_estimates(values, "{:.2f}") for base, values in z_values.items()})
    sum_details = _join_details({base: format_estimates(values, "{:+.0f}") for base, values in rank_sums.items()})
    return [
        Claim(
            "DOB-SCV is significantly higher than SCV for all five learners",
            are_all_positive(z.subtract(_Z_LIMIT) for values in z_values.values() for z in values.values()),
            f"mean z of the Wilcoxon test over runs (critical value {_Z_LIMIT:.2f}), {z_details}; the paper itself reports "
            f"p-values above .05: {published}",
        ),
        Claim(
            "The rank sums of DOB-SCV are higher than those of SCV",
            are_all_positive(difference for values in rank_sums.values() for difference in values.values()),
            f"mean of R+ minus R- over runs, {sum_details}",
        ),
    ]


def compute_z_scores(tests: pd.DataFrame) -> FloatArray:
    """Compute z of each test from its p-value; z is positive if the rank sum of DOB-SCV is higher.

    >>> import pandas as pd
    >>> compute_z_scores(pd.DataFrame({"R+": [9.0, 1.0], "R-": [1.0, 9.0], "p": [0.05, 0.05]})).round(2).tolist()
    [1.96, -1.96]
    """
    from scipy.stats import norm

    return np.asarray(norm.isf(tests["p"] / 2) * np.sign(tests["R+"] - tests["R-"]))


def judge_simulation(pooled: pd.DataFrame) -> list[Claim]:
    """Judge the claims about simulated problems by pooled biases and errors of the balanced accuracy."""
    biases: Any = pooled[pooled["measure"] == "balanced accuracy"].set_index("scheme")
    details = [_format_errors(biases, SCV)]
    is_better: list[bool | None] = []
    for scheme in (LITERAL, SHUFFLED):
        excess = _read_estimate(biases, scheme, "excess")
        columns = ("smaller error than SCV", "greater error than SCV", "cells")
        smaller, greater, n_cells = (int(biases.loc[scheme, column]) for column in columns)
        details.append(
            f"{_format_errors(biases, scheme)}, mean squared error minus that of SCV {excess.format('{:+.5f}')}, significantly "
            f"smaller in {smaller} and larger in {greater} of {n_cells} cells"
        )
        is_better.append((-excess).is_positive)
    fold_biases = {scheme: _read_estimate(biases, scheme, "fold_bias") for scheme in (SCV, LITERAL, SHUFFLED)}
    is_optimistic = [fold_biases[scheme].is_positive for scheme in (LITERAL, SHUFFLED)]
    is_scv_sound = (-fold_biases[SCV].subtract(_SMALL_BIAS)).is_positive
    return [
        Claim(
            "DOB-SCV estimates a classifier's performance better than SCV (simulated problems)",
            combine_outcomes(is_better),
            "; ".join(details),
        ),
        Claim(
            "fairtrial's documentation: on independent cases, both kinds of DOB-SCV overestimate the performance of their fold "
            f"models, and SCV does not (judged as: by less than {_SMALL_BIAS})",
            combine_outcomes([*is_optimistic, is_scv_sound]),
            "bias relative to the performance of the fold models: "
            + "; ".join(f"{scheme} {bias.format()}" for scheme, bias in fold_biases.items()),
        ),
    ]


def _format_errors(biases: Any, scheme: str) -> str:
    return f"{scheme}: bias {biases.loc[scheme, 'bias']:+.4f}, root mean squared error {biases.loc[scheme, 'rmse']:.4f}"


def _read_estimate(biases: Any, scheme: str, name: str) -> IntervalEstimate:
    return IntervalEstimate(*(float(biases.loc[scheme, f"{name}{end}"]) for end in ("", "_low", "_high")))


def judge_first_fold(scores: pd.DataFrame) -> Claim:
    """Judge whether fold 1 of literal DOB-SCV has lower estimates, and whether shuffled groups prevent this.

    The documentation attributes the lower estimates to outliers in fold 1; this explanation is not tested here.
    """
    gaps = {}
    for scheme in (LITERAL, SHUFFLED):
        rows = scores[(scores["scheme"] == scheme) & scores["value"].notna()]
        if len(rows):
            first = rows[rows["fold"] == 0].groupby("dataset")["value"].mean()
            others = rows[rows["fold"] > 0].groupby("dataset")["value"].mean()
            gaps[scheme] = estimate_mean((first - others).dropna())
    outcome = None
    if SHUFFLED in gaps and scores["dataset"].nunique() >= _MIN_DATASETS:
        outcome = combine_outcomes([(-gaps[LITERAL]).is_positive, gaps[SHUFFLED].subtract(-_SMALL_GAP).is_positive])
    values = "; ".join(f"{scheme} {gap.format()}" for scheme, gap in gaps.items())
    return Claim(
        "fairtrial's documentation: the AUC in fold 1 of DOB-SCV literal is lower than in the other folds; with shuffled "
        f"groups it is not (judged as: by less than {_SMALL_GAP})",
        outcome,
        f"AUC in fold 1 minus AUC in the other folds, averaged over learners, runs and data sets: {values}",
    )
