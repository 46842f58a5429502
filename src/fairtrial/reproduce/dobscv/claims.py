"""Claims of the paper about SCV and DOB-SCV.

The main run compares DOB-SCV as published with KEEL's stratified folds, which the paper used. The column
"sensitivity" shows two variants: our own stratified folds instead of KEEL's, and DOB-SCV with shuffled groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._text import format_p_value, join_names
from fairtrial.reproduce.claim import (
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    estimate_mean,
    estimate_proportion,
    judge_datasets,
    judge_direction,
    judge_equivalence,
    judge_fact,
    mark_inconclusive,
)
from fairtrial.reproduce.dobscv import tables
from fairtrial.reproduce.dobscv.estimation import (
    MIN_DATASETS,
    compute_gail_simon_p,
    compute_overlap_distribution,
    compute_z_scores,
    estimate_gain_ratio,
    estimate_log_ratio,
    estimate_rank_correlation,
    format_estimates,
)
from fairtrial.reproduce.dobscv.simulation import Simulation
from fairtrial.reproduce.dobscv.studies import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import HIGH, LOW, FoldAverages
from fairtrial.reproduce.dobscv.targets import (
    judge_costs,
    judge_first_fold,
    judge_printed_numbers,
    judge_simulation,
    judge_target,
)
from fairtrial.reproduce.experiment import read_published

if TYPE_CHECKING:
    import pandas as pd

OWN_FOLDS = "our stratified folds"
_ALPHA, _Z_LIMIT = 0.05, 1.959964
# The paper does not quantify these words. We chose these numbers before the runs. The variants use other numbers.
_MUCH, _OTHER_MUCH = 1.5, 2.0  # "much higher", "much greater": the ratio
_TOP, _OTHER_TOP = 5, 3  # "greatest differences": number of data sets
_SIMILAR_SD = 0.01  # "similar" standard deviations; differences up to .0064 in Table 3 are called similar

Estimates = Mapping[str, IntervalEstimate]  # by learner


def judge_claims(
    averages: FoldAverages, scores: pd.DataFrame, simulation: Simulation, gaps: pd.DataFrame, costs: pd.DataFrame
) -> list[Claim]:
    """Judge the claims of the paper, printed numbers, our targets and our own claims."""
    return [
        *judge_tables(averages),
        judge_gap(gaps),
        *judge_simulation(simulation),
        *judge_printed_numbers(),
        *judge_target(averages),
        judge_first_fold(scores),
        judge_costs(costs),
    ]


def judge_tables(averages: FoldAverages) -> list[Claim]:
    """Judge the paper's claims about its tables.

    All claims are inconclusive if fewer than `MIN_DATASETS` data sets were run.
    """
    claims = [
        _judge_learners(
            "With all five learners, DOB-SCV gives higher estimates than SCV on most data sets",
            averages,
            lambda differences: {
                learner: proportion.subtract(0.5) for learner, proportion in estimate_proportions(differences).items()
            },
            _describe_counts,
        ),
        _judge_learners("The average estimate of every learner is higher under DOB-SCV", averages, tables.estimate_effects),
        judge_problems(averages),
        _judge_imbalance(averages),
        judge_deviation_ratio(averages),
        judge_similar_deviations(averages),
        judge_lower_deviations(averages),
        *judge_named_datasets(averages),
        _judge_unanimous_datasets(averages),
        _judge_gains(averages),
        _judge_overlap(averages),
        *judge_rank_sums(averages),
    ]
    if averages.n_datasets < MIN_DATASETS:
        return list(mark_inconclusive(claims, f"inconclusive because fewer than {MIN_DATASETS} data sets were run"))
    return claims


def list_comparisons(averages: FoldAverages) -> dict[str, tuple[str, str]]:
    """Return the schemes that the main run and each variant compare, DOB-SCV first.

    The main run has the name "".
    """
    base = averages.bases[0]
    comparisons = {"": (LITERAL, base)}
    if base != SCV and SCV in averages.bases:
        comparisons[OWN_FOLDS] = (LITERAL, SCV)
    if SHUFFLED in averages.dob_schemes:
        comparisons[SHUFFLED] = (SHUFFLED, base)
    return comparisons


def _build_compared(
    text: str,
    averages: FoldAverages,
    judge: Callable[[str, str], Verdict],
    details: str,
    others: Mapping[str, Callable[[], Verdict]] | None = None,
) -> Claim:
    """Judge a claim for each comparison of schemes.

    `others` contains further variants of the main comparison.
    """
    comparisons = list_comparisons(averages)
    others = others or {}

    def judge_variant(name: str) -> Verdict:
        return others[name]() if name in others else judge(*comparisons[name])

    return build_claim(text, judge_variant, details, variants=[*others, *(name for name in comparisons if name)])


def _judge_learners(
    text: str,
    averages: FoldAverages,
    estimate: Callable[[pd.DataFrame], Estimates],
    describe: Callable[[pd.DataFrame], str] | None = None,
    note: str = "",
) -> Claim:
    """Judge a claim that a quantity is positive for each learner.

    `estimate` takes a table of differences and returns the quantity for each learner.
    """
    main = averages.compare_datasets(*list_comparisons(averages)[""])
    details = (describe or (lambda differences: format_estimates(estimate(differences))))(main)
    return _build_compared(
        text,
        averages,
        lambda scheme, base: judge_direction(estimate(averages.compare_datasets(scheme, base)).values()),
        details + note,
    )


def estimate_proportions(differences: pd.DataFrame) -> dict[str, IntervalEstimate]:
    """Estimate the proportion of data sets with a positive difference for each learner (column)."""
    return {
        str(learner): estimate_proportion(int((values > 0).sum()), int(values.notna().sum()))
        for learner, values in differences.items()
    }


def _describe_counts(differences: pd.DataFrame) -> str:
    return ", ".join(
        f"{learner} {int((differences[learner] > 0).sum())} of {int(differences[learner].notna().sum())} "
        f"({100 * proportion.low:.0f} to {100 * proportion.high:.0f} %)"
        for learner, proportion in estimate_proportions(differences).items()
    )


def judge_problems(averages: FoldAverages) -> Claim:
    """Judge whether DOB-SCV raises the estimates on some data sets and lowers others.

    The verdict is that of `judge_both_signs`. KEEL's folds are a single random draw, so chance affects the estimates on
    individual data sets. Therefore our own folds are the main run here.
    """
    base = averages.bases[-1]
    scheme, others = LITERAL, {"KEEL's folds": (LITERAL, averages.bases[0])} if base != averages.bases[0] else {}
    if SHUFFLED in averages.dob_schemes:
        others[SHUFFLED] = (SHUFFLED, base)
    comparisons = {"": (scheme, base), **others}
    estimates = {name: estimate_by_dataset(averages, *comparison) for name, comparison in comparisons.items()}
    main = estimates[""].values()
    counts = [sum(estimate.sign == sign for estimate in main) for sign in (1, -1)]
    details = (
        f"significantly higher on {counts[0]} and significantly lower on {counts[1]} of {len(main)} data sets (each at the 5 % "
        f"level, mean over learners, compared with {base}); Gail-Simon test of both signs: p = {compute_gail_simon_p(main):.2g}"
    )
    return build_claim(
        "Whether DOB-SCV is optimistic or pessimistic compared with SCV depends on the problem",
        lambda name: judge_both_signs(list(estimates[name].values())),
        details,
        variants=list(others),
    )


def estimate_by_dataset(averages: FoldAverages, scheme: str, base: str) -> dict[str, IntervalEstimate]:
    """Estimate the mean difference over learners on each data set, with a t interval over runs."""
    runs = averages.compare_runs(scheme, base).groupby(["dataset", "run"], sort=False)["value"].mean()
    return {str(name): estimate_mean(values) for name, values in runs.groupby(level="dataset", sort=False)}


def judge_both_signs(estimates: list[IntervalEstimate]) -> Verdict:
    """Judge a claim that some quantities are positive and other quantities are negative.

    The claim is reproduced if Gail and Simon's test for qualitative interaction is significant at the 5 % level. It is
    contradicted if every quantity is significantly positive, or if every quantity is significantly negative.
    """
    if not estimates or any(np.isnan(estimate.low) for estimate in estimates):
        return NOT_TESTABLE
    if compute_gail_simon_p(estimates) < _ALPHA:
        return REPRODUCED
    is_one_sided = len({estimate.sign for estimate in estimates} | {0}) == 2 and all(e.sign for e in estimates)
    return CONTRADICTED if is_one_sided else INCONCLUSIVE


def _judge_imbalance(averages: FoldAverages) -> Claim:
    imbalance = averages.datasets["imbalance"]

    def correlate(differences: pd.DataFrame) -> dict[str, IntervalEstimate]:
        by_learner = {str(learner): values.dropna() for learner, values in differences.items()}
        return {
            learner: estimate_rank_correlation(imbalance.reindex(values.index), values)
            for learner, values in by_learner.items()
        }

    return _judge_learners(
        "The higher the imbalance, the greater the difference between SCV and DOB-SCV",
        averages,
        correlate,
        lambda differences: f"rank correlation: {format_estimates(correlate(differences), '{:+.2f}')}",
        f"; {describe_published_imbalance()}",
    )


def describe_published_imbalance() -> str:
    """Name the learners whose published difference is smaller at high imbalance."""
    table = read_published("dobscv_table3").pivot_table(index="learner", columns="group", values="pct_diff", sort=False)
    contrary = table[table[HIGH] <= table[LOW]]
    values = " and ".join(f"{learner} ({row[HIGH]:.2f} % and {row[LOW]:.2f} %)" for learner, row in contrary.iterrows())
    return f"in the paper's own Table 3, the difference is smaller for IR>9 than for IR<9 with {values}"


def judge_deviation_ratio(averages: FoldAverages) -> Claim:
    """Judge whether the standard deviation over folds is much higher at high imbalance.

    The claim is judged by one ratio of standard deviations, both averaged over learners and schemes.
    """
    text = (
        "The standard deviation over folds is much higher if the imbalance is high (judged as: by a factor of at least "
        f"{_MUCH}, because the paper gives no number)"
    )
    if set(averages.datasets["group"]) != {LOW, HIGH}:
        return Claim(text, NOT_TESTABLE, "only one of the two groups of imbalance was run")

    def judge(scheme: str, base: str, factor: float = _MUCH) -> Verdict:
        return judge_direction([_estimate_deviation_ratio(averages, scheme, base).subtract(float(np.log(factor)))])

    main = list_comparisons(averages)[""]
    log_ratio = _estimate_deviation_ratio(averages, *main)
    ratio = IntervalEstimate(*np.exp([log_ratio.value, log_ratio.low, log_ratio.high]))
    details = (
        f"ratio of the mean for IR>9 to that for IR<9, averaged over learners and both schemes: {ratio.format('{:.2f}')}; "
        f"published: {_compute_published_ratio():.2f}"
    )
    return _build_compared(text, averages, judge, details, _vary_factor(judge, main))


def _vary_factor(judge: Callable[..., Verdict], comparison: tuple[str, str]) -> dict[str, Callable[[], Verdict]]:
    """Build variants of a claim in which "much" means a different factor."""
    return {f"factor {factor:g}": partial(judge, *comparison, factor) for factor in (1.0, _OTHER_MUCH)}


def _estimate_deviation_ratio(averages: FoldAverages, *schemes: str) -> IntervalEstimate:
    """Estimate the log ratio of standard deviations at high and low imbalance.

    The standard deviations are averaged over learners and schemes.
    """
    deviations: Any = sum(averages.average_runs(scheme, "sd").mean(axis=1) for scheme in schemes) / len(schemes)
    group = averages.datasets["group"].reindex(deviations.index)
    return estimate_log_ratio(deviations[group == HIGH], deviations[group == LOW])


def _compute_published_ratio() -> float:
    means = read_published("dobscv_table3").set_index("group")[["sd_scv", "sd_dobscv"]].mean(axis=1).groupby(level=0).mean()
    return float(means[HIGH] / means[LOW])


def _estimate_reductions(averages: FoldAverages, scheme: str, base: str, group: str | None = None) -> Estimates:
    """Estimate by how much a scheme reduces the standard deviation of each learner."""
    differences = -averages.compare_datasets(scheme, base, "sd")
    if group is not None:
        differences = differences[averages.datasets["group"].reindex(differences.index) == group]
    return tables.estimate_effects(differences)


def judge_similar_deviations(averages: FoldAverages) -> Claim:
    """Judge whether both schemes have similar standard deviations at low imbalance."""
    main = _estimate_reductions(averages, *list_comparisons(averages)[""], group=LOW)
    return _build_compared(
        "If the imbalance is low, the standard deviations of SCV and DOB-SCV are similar (judged as: within "
        f"{_SIMILAR_SD}, because the paper gives no number)",
        averages,
        lambda scheme, base: judge_equivalence(_estimate_reductions(averages, scheme, base, LOW).values(), _SIMILAR_SD),
        f"SCV minus DOB-SCV for IR<9: {format_estimates(main)}",
    )


def judge_lower_deviations(averages: FoldAverages) -> Claim:
    """Judge whether DOB-SCV has lower standard deviations than SCV for each learner."""
    main = _estimate_reductions(averages, *list_comparisons(averages)[""])
    return _build_compared(
        "DOB-SCV has lower standard deviations over folds than SCV",
        averages,
        lambda scheme, base: judge_direction(_estimate_reductions(averages, scheme, base).values()),
        f"mean reduction over data sets: {format_estimates(main)}; {describe_published_deviations()}",
    )


def describe_published_deviations() -> str:
    """Name the learners whose published standard deviation is higher under DOB-SCV."""
    table = read_published("dobscv_table3").query("group == @LOW or group == @HIGH")
    contrary = table[table["sd_dobscv"] > table["sd_scv"]]
    values = " and ".join(
        f"{row.learner} at {row.group} ({row.sd_scv:.4f} to {row.sd_dobscv:.4f})" for row in contrary.itertuples()
    )
    return f"the paper's own Table 3 contradicts the claim for {values}"


def judge_named_datasets(averages: FoldAverages) -> list[Claim]:
    """Judge each claim about named data sets by one test of the mean over these data sets."""
    claims = []
    for names, sign, word in ((("Abalone19", "Glass2"), 1, "higher"), (("Ecoli2", "Yeast2vs8"), -1, "lower")):
        text = f"On {join_names(names)}, DOB-SCV is {word} than SCV with all learners (judged by the mean over the learners)"
        if not set(names) <= set(averages.datasets.index):
            claims.append(Claim(text, NOT_TESTABLE, "these data sets were not run"))
            continue

        def estimate(scheme: str, base: str, names: tuple[str, ...] = names) -> dict[str, IntervalEstimate]:
            by_dataset = estimate_by_dataset(averages, scheme, base)
            return {name: by_dataset[name] for name in names}

        def judge(scheme: str, base: str, sign: int = sign, estimate: Any = estimate) -> Verdict:
            return judge_datasets(value if sign > 0 else -value for value in estimate(scheme, base).values())

        main = list_comparisons(averages)[""]
        differences: Any = sign * averages.compare_datasets(*main)
        details = ", ".join(
            f"{name} {value.format('{:+.3f}')}, {word} with {int((differences.loc[name] > 0).sum())} of "
            f"{differences.shape[1]} learners"
            for name, value in estimate(*main).items()
        )
        claims.append(_build_compared(text, averages, judge, f"mean over learners, interval over runs: {details}"))
    return claims


def _judge_unanimous_datasets(averages: FoldAverages) -> Claim:
    def count(differences: pd.DataFrame) -> tuple[int, int]:
        return int((differences > 0).all(axis=1).sum()), int((differences < 0).all(axis=1).sum())

    def estimate(differences: pd.DataFrame) -> dict[str, IntervalEstimate]:
        n_higher, n_lower = count(differences)
        return {"all learners": estimate_proportion(n_higher, n_higher + n_lower).subtract(0.5)}

    def describe(differences: pd.DataFrame) -> str:
        n_higher, n_lower = count(differences)
        proportion = estimate_proportion(n_higher, n_higher + n_lower)
        return f"{n_higher} higher and {n_lower} lower, a proportion of {proportion.format('{:.2f}')}"

    return _judge_learners(
        "Data sets on which DOB-SCV is higher with all learners outnumber those on which it is lower with all learners",
        averages,
        estimate,
        describe,
    )


def _judge_gains(averages: FoldAverages) -> Claim:
    main = list_comparisons(averages)[""]

    def judge(scheme: str, base: str, factor: float = _MUCH) -> Verdict:
        estimate = estimate_gain_ratio(averages.compare_datasets(scheme, base))[0]
        return judge_direction([estimate.subtract(float(np.log(factor)))])

    estimate, gain, loss = estimate_gain_ratio(averages.compare_datasets(*main))
    ratio = IntervalEstimate(*np.exp([estimate.value, estimate.low, estimate.high]))
    return _build_compared(
        "The improvements under DOB-SCV are much greater than the losses (judged as: the mean gain is at least "
        f"{_MUCH} times the mean loss)",
        averages,
        judge,
        f"over all data sets and learners, mean gain {gain:.4f} and mean loss {loss:.4f}, ratio {ratio.format('{:.2f}')}",
        _vary_factor(judge, main),
    )


def _judge_overlap(averages: FoldAverages) -> Claim:
    main = averages.compare_datasets(*list_comparisons(averages)[""])
    return _build_compared(
        "The data sets with the greatest differences are completely different for each learner (judged by the "
        f"{_TOP} greatest; this number is ours)",
        averages,
        lambda scheme, base: judge_overlap(averages.compare_datasets(scheme, base))[0],
        f"{judge_overlap(main)[1]}; {describe_published_overlap()}",
        {f"{_OTHER_TOP} greatest": lambda: judge_overlap(main, _OTHER_TOP)[0]},
    )


def judge_overlap(differences: pd.DataFrame, top: int = _TOP) -> tuple[Verdict, str]:
    """Judge whether the differences are largest on different data sets for different learners.

    The claim is contradicted if learners share significantly more data sets than expected by chance. It is reproduced if
    the learners share no data set and this would be unlikely by chance.
    """
    complete = differences.dropna()
    top = min(top, len(complete))
    top_sets = [set(values.abs().nlargest(top).index) for _, values in complete.items()] if top else []
    n_shared = [len(first & second) for first, second in combinations(top_sets, 2)]
    if not n_shared:
        return NOT_TESTABLE, "no two learners were run on the same data sets"
    distribution = compute_overlap_distribution(len(complete), top, complete.shape[1])
    p_value = sum(p for total, p in distribution.items() if total >= sum(n_shared))
    details = (
        f"two learners share {np.mean(n_shared):.1f} of their {top} data sets on average, {top**2 / len(complete):.1f} "
        f"expected by chance ({format_p_value(p_value)})"
    )
    is_different = max(n_shared) == 0 and distribution[0] < _ALPHA
    return judge_fact(False if p_value < _ALPHA else True if is_different else None), details


def describe_published_overlap() -> str:
    """Name the data set whose published difference is among the largest for the most learners."""
    rows = read_published("dobscv_table4_part")
    differences = rows.assign(size=(rows["auc_dobscv"] - rows["auc_scv"]).abs())
    differences = differences[~((rows["dataset"] == "Yeast1458vs7") & (rows["learner"] == "C4.5"))]  # a misprint
    largest = differences.sort_values("size", ascending=False).groupby("learner").head(_TOP)["dataset"].value_counts()
    n_rows, n_learners = rows["dataset"].nunique(), rows["learner"].nunique()
    return (
        f"the paper's own rows contradict the claim, too: of the {n_rows} available rows, {largest.index[0]} is among the "
        f"{_TOP} "
        f"greatest for {largest.iloc[0]} of {n_learners} learners"
    )


def judge_rank_sums(averages: FoldAverages) -> list[Claim]:
    """Judge the claims about the Wilcoxon tests: significance and rank sums.

    Each run is tested separately, like the paper's single run. The mean z over runs is compared with the critical value.
    """
    tests = averages.rank_sums

    def estimate(scheme: str, base: str, compute: Callable[[pd.DataFrame], Any]) -> dict[str, IntervalEstimate]:
        rows = tests[(tests["scheme"] == scheme) & (tests["base"] == base)]
        return {str(learner): estimate_mean(compute(runs)) for learner, runs in rows.groupby("learner", sort=False)}

    def subtract_sums(runs: pd.DataFrame) -> pd.Series[float]:
        return runs["R+"] - runs["R-"]

    main = list_comparisons(averages)[""]
    p_values = read_published("dobscv_table5_wilcoxon").set_index("learner")["p_value"]
    published = " and ".join(f"{learner} {p:.4f}" for learner, p in p_values[p_values >= _ALPHA].items())
    return [
        _build_compared(
            "DOB-SCV is significantly higher than SCV for all five learners",
            averages,
            lambda scheme, base: judge_direction(
                z.subtract(_Z_LIMIT) for z in estimate(scheme, base, compute_z_scores).values()
            ),
            f"mean z of the Wilcoxon test over runs, critical value {_Z_LIMIT:.2f}: "
            f"{format_estimates(estimate(*main, compute_z_scores), '{:.2f}')}; the paper's own Table 5 has p-values above .05: "
            f"{published}",
        ),
        _build_compared(
            "The rank sums of DOB-SCV are higher than those of SCV",
            averages,
            lambda scheme, base: judge_direction(estimate(scheme, base, subtract_sums).values()),
            f"mean of R+ minus R- over runs: {format_estimates(estimate(*main, subtract_sums), '{:+.0f}')}",
        ),
    ]


def judge_gap(gaps: pd.DataFrame) -> Claim:
    """Judge whether DOB-SCV narrows the gap between training and test AUC of each learner.

    `gaps` has a row per data set, run, learner and scheme with the AUC on the training and on the test sets.
    """
    text = "DOB-SCV reduces the gap between the performance on the training and on the test partitions"
    means: Any = gaps.assign(gap=gaps["train_auc"] - gaps["test_auc"]).pivot_table(
        index="dataset", columns=["learner", "scheme"], values="gap", sort=False
    )
    learners = list(dict.fromkeys(gaps["learner"]))

    def estimate(scheme: str) -> dict[str, IntervalEstimate]:
        return tables.estimate_effects(
            means.xs(SCV, axis=1, level="scheme")[learners] - means.xs(scheme, axis=1, level="scheme")[learners]
        )

    sizes = ", ".join(
        f"{learner} {means[learner, SCV].mean():.3f} under SCV and {means[learner, LITERAL].mean():.3f} under DOB-SCV"
        for learner in learners
    )
    claim = build_claim(
        text,
        lambda name: judge_direction(estimate(name or LITERAL).values()),
        f"mean training AUC minus test AUC: {sizes}; reduction {format_estimates(estimate(LITERAL))}",
        variants=[SHUFFLED] if (gaps["scheme"] == SHUFFLED).any() else [],
    )
    return claim if len(means) >= MIN_DATASETS else mark_inconclusive([claim])[0]
