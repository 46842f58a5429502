"""The tutorial's claims about drift, judged by our numbers and by the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fairtrial.reproduce.claim import OUTCOMES, Claim, IntervalEstimate, are_all_positive
from fairtrial.reproduce.drift import tables
from fairtrial.reproduce.drift.results import DriftResults
from fairtrial.reproduce.drift.simulation import TABLES, TableName
from fairtrial.reproduce.drift.tables import TABLE_NUMBERS

MARGIN = 0.05
"""Two learners are considered equally affected if their averaged pD values differ by less than this margin."""
_PATTERN = "{:.2f}"
_BOTH_PAIRS = "(judged as: in both pairs, the averaged pD of the simple classifier is higher)"
_SIMPLER_CLAIMS: dict[TableName, str] = {
    "populations": f"simpler classifiers suffer much more {_BOTH_PAIRS}",
    "missing": f"simpler classifiers suffer slightly more {_BOTH_PAIRS}",
    "definitions": (
        "1R suffers more than the tree, but the simple network does not suffer more than the complex one (judged as: the "
        f"averaged pD of 1R is higher; that of the simple network exceeds the other by less than {MARGIN:g})"
    ),
}


def build_claims(results: DriftResults) -> tuple[Claim, ...]:
    """Judge all claims in the tutorial's order."""
    by_table = [claim for table in TABLES for claim in (judge_drop(results, table), judge_simpler(results, table))]
    return (*by_table, judge_best_choice(results), judge_averages(), judge_rows())


def judge_drop(results: DriftResults, table: TableName) -> Claim:
    """Judge the first hypothesis: the performance of every learner drops."""

    def list_losses(variant: str) -> list[IntervalEstimate]:
        return [results.get_errors(table, learner, variant).estimate_loss() for learner in results.plan.learners]

    reproduced, variants = judge_over_variants(results.plan.variants, list_losses)
    losses = zip(results.plan.learners, list_losses(""), strict=True)
    text = "; ".join(f"{learner} {loss.format('{:.1f}')}" for learner, loss in losses)
    return Claim(
        f"{TABLE_NUMBERS[table]} (a): the performance of all classifiers drops "
        "(judged as: the error of each rises, averaged over the changes)",
        reproduced,
        f"mean increase in the error in percentage points: {text}{variants}",
    )


def judge_simpler(results: DriftResults, table: TableName) -> Claim:
    """Judge the second hypothesis: the simpler of two learners loses more."""

    def list_differences(variant: str) -> list[IntervalEstimate]:
        first, second = (results.estimate_pd_difference(table, pair, variant) for pair in results.plan.pairs)
        return [first, compute_margin_left(second) if table == "definitions" else second]

    reproduced, variants = judge_over_variants(results.plan.variants, list_differences)
    differences = "; ".join(
        f"{simple} minus {complicated} {results.estimate_pd_difference(table, (simple, complicated)).format(_PATTERN)}"
        for simple, complicated in results.plan.pairs
    )
    points = "; ".join(results.estimate_loss_difference(table, pair).format("{:.1f}") for pair in results.plan.pairs)
    details = f"averaged pD: {differences}; in percentage points of error: {points}{variants}"
    if table == "definitions":
        details += "; most changes of this table involve MC and are not comparable (see above)"
    return Claim(f"{TABLE_NUMBERS[table]} (b): {_SIMPLER_CLAIMS[table]}", reproduced, details)


def judge_over_variants(
    variants: Sequence[str], list_estimates: Callable[[str], Iterable[IntervalEstimate]]
) -> tuple[bool | None, str]:
    """Judge by the main variant; the result is inconclusive if another variant contradicts it.

    >>> judge_over_variants(["names for all"], lambda variant: [IntervalEstimate(1, -1 if variant else 0.5, 2)])
    (True, '; main variant: reproduced, names for all: inconclusive')
    """
    outcomes = {variant: are_all_positive(list_estimates(variant)) for variant in ("", *variants)}
    if len(set(outcomes.values())) == 1:
        return outcomes[""], "; all variants agree" if variants else ""
    differing = [f"{name}: {OUTCOMES[outcomes[name]]}" for name in variants if outcomes[name] is not outcomes[""]]
    reproduced = None if {True, False} <= set(outcomes.values()) else outcomes[""]
    return reproduced, "; " + ", ".join([f"main variant: {OUTCOMES[outcomes['']]}", *differing])


def judge_best_choice(results: DriftResults) -> Claim:
    """Judge whether the complex learner of each pair remains better."""
    differences = [value for pair in results.plan.pairs for value in results.estimate_error_differences(pair)]
    lower, higher = (sum(difference.sign == sign for difference in differences) for sign in (1, -1))
    return Claim(
        "In all cases complex classifiers remain the best choice: their error stays lower than that of the simple ones",
        are_all_positive(differences),
        f"the error of the complex classifier is significantly lower in {lower} of {len(differences)} cases, significantly "
        f"higher in {higher}; no significant difference in {len(differences) - lower - higher}",
    )


def judge_averages() -> Claim:
    """Judge whether the printed averages follow from the printed rows."""
    averages = tables.read_published_averages()
    wrong = averages[(averages["value"] - averages["from_rows"]).abs() > 0.0101]
    text = "; ".join(
        f"{TABLE_NUMBERS[row['table']]}, {row['learner']}: printed {row['value']:.2f}, mean of the rows {row['from_rows']:.2f}"
        for row in wrong.to_dict("records")
    )
    illegible = "; ".join(tables.list_illegible())
    return Claim(
        "The printed averages are the means of the printed rows",
        wrong.empty,
        f"{text or f'all {len(averages)} agree'}; illegible pD values were computed from the printed errors: {illegible}",
    )


def judge_rows() -> Claim:
    """Judge whether the printed pD values follow from the printed errors."""
    rows = tables.read_drift_tables()
    contradictions, legible = tables.list_contradictions(rows), int(rows["pd"].notna().sum())
    note = "; the rows of this table are shifted in the available text, so we may have misread them" if contradictions else ""
    return Claim(
        "The printed pD values follow from the printed errors",
        not contradictions,
        f"{legible - len(contradictions)} of {legible} agree within 0.015; exceptions: "
        f"{'; '.join(contradictions) or 'none'}{note}",
    )


def compute_margin_left(difference: IntervalEstimate, margin: float = MARGIN) -> IntervalEstimate:
    """Compute the margin minus the difference; it is positive if the difference is smaller than the margin.

    >>> compute_margin_left(IntervalEstimate(0.0, -0.25, 0.5), 0.25)
    IntervalEstimate(value=0.25, low=-0.25, high=0.5, degrees_of_freedom=inf)
    """
    return (-difference).subtract(-margin)
