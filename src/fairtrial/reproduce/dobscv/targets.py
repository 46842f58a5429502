"""Judge claims about simulated problems and printed numbers, and claims of ours.

The margins were set before the runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial._text import join_names
from fairtrial.reproduce.claim import (
    NOT_TESTABLE,
    Claim,
    IntervalEstimate,
    build_claim,
    combine_verdicts,
    estimate_mean,
    judge_direction,
    judge_equivalence,
    judge_fact,
    mark_inconclusive,
)
from fairtrial.reproduce.dobscv import tables
from fairtrial.reproduce.dobscv.estimation import MIN_DATASETS, format_estimates
from fairtrial.reproduce.dobscv.simulation import FOLD_MODELS, FULL_MODEL, Simulation
from fairtrial.reproduce.dobscv.studies import LITERAL, N_DATASETS, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import HIGH, LOW, FoldAverages
from fairtrial.reproduce.experiment import read_published

if TYPE_CHECKING:
    import pandas as pd

_TARGET_LEARNERS = ("C4.5", "1-NN", "SMO")
_TARGET_MARGIN = 0.01
_BIAS_MARGIN = 0.005
_FOLD_MARGIN = 0.01
_COST_MARGIN = 0.02


def judge_simulation(simulation: Simulation) -> list[Claim]:
    """Judge claims about the accuracy and bias of DOB-SCV on simulated problems."""
    schemes, estimands = (LITERAL, SHUFFLED), (FULL_MODEL, FOLD_MODELS)
    excess = {
        (scheme, estimand): simulation.estimate("excess", scheme, estimand) for scheme in schemes for estimand in estimands
    }
    bias = {
        (scheme, estimand): simulation.estimate("bias", scheme, estimand)
        for scheme in (SCV, *schemes)
        for estimand in estimands
    }
    readings = {"": (LITERAL, FULL_MODEL), SHUFFLED: (SHUFFLED, FULL_MODEL), FOLD_MODELS: (LITERAL, FOLD_MODELS)}
    optimistic = "; ".join(f"{scheme} {bias[scheme, FOLD_MODELS].format()}" for scheme in schemes)
    return [
        build_claim(
            "DOB-SCV gives a better estimate of a classifier's performance than SCV (judged on simulated problems by the mean "
            "squared error relative to the model trained on all rows)",
            lambda name: judge_direction([-excess[readings[name]]]),
            f"mean squared error minus that of SCV: {excess[LITERAL, FULL_MODEL].format('{:+.5f}')}; {SHUFFLED}: "
            f"{excess[SHUFFLED, FULL_MODEL].format('{:+.5f}')}",
            variants=[SHUFFLED, FOLD_MODELS],
        ),
        Claim(
            f"SCV is an unbiased estimate of the performance of its fold models (within {_BIAS_MARGIN})",
            judge_equivalence([bias[SCV, FOLD_MODELS]], _BIAS_MARGIN),
            f"bias {bias[SCV, FOLD_MODELS].format()}",
            "own",
        ),
        Claim(
            "SCV underestimates the performance of the model trained on all rows",
            judge_direction([-bias[SCV, FULL_MODEL]]),
            f"bias {bias[SCV, FULL_MODEL].format()}",
            "own",
        ),
        Claim(
            "Both kinds of DOB-SCV overestimate the performance of their fold models",
            judge_direction([bias[scheme, FOLD_MODELS] for scheme in schemes]),
            f"bias: {optimistic}",
            "own",
        ),
    ]


def judge_printed_numbers() -> list[Claim]:
    """Judge whether printed averages and percentages follow from other printed numbers."""
    table3 = read_published("dobscv_table3").pivot_table(index="learner", columns="group", sort=False)
    wrong = [
        f"{learner} {column}"
        for column in ("auc_scv", "auc_dobscv", "sd_scv", "sd_dobscv", "pct_diff")
        for learner, row in table3[column].iterrows()
        if abs((22 * row[LOW] + 44 * row[HIGH]) / N_DATASETS - row["all"]) > (0.011 if column == "pct_diff" else 0.00011)
    ]
    table4 = read_published("dobscv_table4_part")
    percent = 100 * (table4["auc_dobscv"] / table4["auc_scv"] - 1)
    rounding = 0.005 + 100 * 0.0001 / table4["auc_scv"]  # AUCs are printed with four digits, percentages with two
    differing = table4[(percent - table4["pct_diff"]).abs() > rounding].assign(right=percent)
    cells = "; ".join(
        f"{row.dataset}, {row.learner}: {row.pct_diff:+.2f} % printed, {row.right:+.2f} % follows"
        for row in differing.itertuples()
    )
    return [
        Claim(
            "The averages over all data sets in Table 3 follow from its two groups of 22 and 44 data sets",
            judge_fact(not wrong),
            f"{5 * len(table3) - len(wrong)} of {5 * len(table3)} numbers" + (f"; not {join_names(wrong)}" if wrong else ""),
            "printed",
        ),
        Claim(
            "The percentages in Table 4 follow from its AUCs, up to rounding (available rows)",
            judge_fact(not len(differing)),
            f"{len(table4) - len(differing)} of {len(table4)} percentages" + (f"; {cells}" if cells else ""),
            "printed",
        ),
    ]


def judge_target(averages: FoldAverages) -> list[Claim]:
    """Judge by an equivalence test whether our averages under SCV agree with the published ones."""
    claims = []
    for scheme in averages.bases:
        names = join_names(_TARGET_LEARNERS)
        text = f"The average AUC under {scheme} is within {_TARGET_MARGIN} of the published value for {names}"
        if not averages.is_complete:
            details = f"only {averages.n_datasets} of the {N_DATASETS} data sets were run; the published averages use all"
            claims.append(Claim(text, NOT_TESTABLE, details, "target"))
            continue
        gaps = estimate_target_gaps(averages, scheme)
        chosen = {learner: gaps[learner] for learner in _TARGET_LEARNERS if learner in gaps}
        is_complete = len(chosen) == len(_TARGET_LEARNERS)
        verdict = judge_equivalence(chosen.values(), _TARGET_MARGIN) if is_complete else NOT_TESTABLE
        claims.append(Claim(text, verdict, f"ours minus published, interval over runs: {format_estimates(chosen)}", "target"))
    return claims


def estimate_target_gaps(averages: FoldAverages, scheme: str) -> dict[str, IntervalEstimate]:
    """Estimate our average AUC minus the published one for each learner.

    The interval is computed over runs. The published value is treated as fixed.
    """
    runs = averages.frame[averages.frame["scheme"] == scheme].groupby(["learner", "run"], sort=False)["auc"].mean()
    published = read_published("dobscv_table3").query("group == 'all'").set_index("learner")["auc_scv"]
    by_learner = runs.groupby(level="learner", sort=False)
    return {str(learner): estimate_mean(values - published[learner]) for learner, values in by_learner}


def judge_first_fold(scores: pd.DataFrame) -> Claim:
    """Judge whether estimates in fold 1 are lower only with literal DOB-SCV.

    The documentation attributes the lower estimates to outliers in fold 1. This explanation is not tested here.
    """
    text = (
        "The AUC in fold 1 of DOB-SCV literal is lower than in the other folds; with shuffled groups it is equal (within "
        f"{_FOLD_MARGIN})"
    )
    gaps = {}
    for scheme in (LITERAL, SHUFFLED):
        rows = scores[(scores["scheme"] == scheme) & scores["value"].notna()]
        if len(rows):
            first = rows[rows["fold"] == 0].groupby("dataset")["value"].mean()
            others = rows[rows["fold"] > 0].groupby("dataset")["value"].mean()
            gaps[scheme] = estimate_mean((first - others).dropna())
    values = "; ".join(f"{scheme} {gap.format()}" for scheme, gap in gaps.items())
    details = f"AUC in fold 1 minus AUC in the other folds, averaged over learners, runs and data sets: {values}"
    if SHUFFLED not in gaps:
        return Claim(text, NOT_TESTABLE, details, "own")
    verdict = combine_verdicts([judge_direction([-gaps[LITERAL]]), judge_equivalence([gaps[SHUFFLED]], _FOLD_MARGIN)])
    claim = Claim(text, verdict, details, "own")
    return claim if scores["dataset"].nunique() >= MIN_DATASETS else mark_inconclusive([claim])[0]


def judge_costs(costs: pd.DataFrame) -> Claim:
    """Judge by an equivalence test whether class weights and SMOTE give the same AUC.

    `costs` contains the AUC with class weights minus that with SMOTE. It has a row per data set and a column per learner.
    """
    effects = tables.estimate_effects(costs)
    claim = Claim(
        f"Cost-sensitive learning by class weights is an alternative to SMOTE: its mean AUC is equal (within {_COST_MARGIN})",
        judge_equivalence(effects.values(), _COST_MARGIN),
        f"class weights minus SMOTE: {format_estimates(effects)}",
        "own",
    )
    return claim if len(costs) >= MIN_DATASETS else mark_inconclusive([claim])[0]
