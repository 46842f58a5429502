"""Judge the tutorial's claims about drift by our numbers, and check its printed numbers.

The tutorial does not quantify words such as "much more". `MUCH` and `EQUAL` were derived from its printed tables, not from our
results.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan

from fairtrial._text import join_names
from fairtrial.reproduce.claim import (
    INCONCLUSIVE,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    judge_direction,
    judge_equivalence,
    judge_fact,
    list_by_verdict,
    mark_inconclusive,
)
from fairtrial.reproduce.drift import tables
from fairtrial.reproduce.drift.results import DriftResults
from fairtrial.reproduce.drift.simulation import TABLES, TableName
from fairtrial.reproduce.drift.tables import TABLE_NUMBERS

MUCH = 0.1
"""A difference in averaged pD above this margin counts as "much more", and a smaller positive difference as "slightly more".

The margin is about midway between two pairs of differences. One pair is printed in Table I ("much more": 0.16 and 0.23). The
other pair is computed from the rows of Table II ("slightly more": 0.05 and 0.06)."""
EQUAL = 0.05
"""Averaged pD values count as equal if they differ by less than this margin, which is half of `MUCH`."""
_MAX_MISPLACED = 1  # number of printed pD values that may be misplaced in the available text
_ROUNDING = 0.0101  # rounding error of a printed average and of the printed values from which it is computed
_PATTERN = "{:.2f}"
_NOT_COMPARABLE = "MC"
_SIMPLER_CLAIMS: dict[TableName, str] = {
    "populations": (
        "simpler classifiers suffer much more (judged as: in both pairs, the averaged pD of the simple classifier is higher by "
        f"more than {MUCH:g})"
    ),
    "missing": (
        "simpler classifiers suffer slightly more (judged as: in both pairs, the averaged pD of the simple classifier is "
        f"higher by less than {MUCH:g})"
    ),
    "definitions": (
        "1R suffers more than the tree, but the simple network does not suffer more than the complex one (judged as: the "
        f"averaged pD of 1R is higher; that of the simple network exceeds the other by less than {EQUAL:g})"
    ),
}


def build_claims(results: DriftResults, *, is_smoke: bool = False) -> dict[str, Claim]:
    """Judge all claims and return them keyed by name, e.g. `drop populations`.

    In a smoke run, the claims about our numbers are inconclusive.
    """
    simulated = {
        **{
            f"{name} {table}": judge(results, table)
            for table in TABLES
            for name, judge in (("drop", judge_drop), ("simpler", judge_simpler))
        },
        "hand": judge_hand(results),
        "best choice": judge_best_choice(results),
        **{f"size {table}": judge_sizes(results, table) for table in TABLES},
    }
    if is_smoke:
        simulated = dict(zip(simulated, mark_inconclusive(simulated.values()), strict=True))
    return {
        **simulated,
        "averages": judge_averages(["populations", "definitions"]),
        "averages missing": judge_averages_of_table_ii(),
        "rows": judge_rows(),
        "repeated errors": judge_repeated_errors(),
    }


def judge_drop(results: DriftResults, table: TableName) -> Claim:
    """Judge the first hypothesis: the performance of all learners drops."""

    def list_losses(variant: str) -> list[IntervalEstimate]:
        return [results.get_errors(table, learner, variant).estimate_loss() for learner in results.plan.learners]

    losses = zip(results.plan.learners, list_losses(""), strict=True)
    text = "; ".join(f"{learner} {loss.format('{:.1f}')}" for learner, loss in losses)
    return build_claim(
        f"{TABLE_NUMBERS[table]} (a): the performance of all classifiers drops "
        "(judged as: the error of each rises, averaged over the changes)",
        lambda variant: judge_direction(list_losses(variant)),
        f"mean increase in the error in percentage points: {text}",
        variants=results.plan.variants,
    )


def judge_simpler(results: DriftResults, table: TableName) -> Claim:
    """Judge the second hypothesis: which learner of each pair loses more performance."""

    def list_differences(variant: str) -> list[IntervalEstimate]:
        return [results.estimate_pd_difference(table, pair, variant) for pair in results.plan.pairs]

    def judge(variant: str) -> Verdict:
        return judge_direction(list_required(table, list_differences(variant)))

    differences = "; ".join(
        f"{simple} minus {complicated} {difference.format(_PATTERN)}"
        for (simple, complicated), difference in zip(results.plan.pairs, list_differences(""), strict=True)
    )
    points = "; ".join(results.estimate_loss_difference(table, pair).format("{:.1f}") for pair in results.plan.pairs)
    details = f"averaged pD: {differences}; in percentage points of error: {points}"
    if table == "definitions":
        details += "; 2 of the 6 changes are tested on MC and are not comparable (see the details)"
    else:
        details += f"; higher by any amount: {judge_direction(list_differences(''))} in the main run"
    return build_claim(f"{TABLE_NUMBERS[table]} (b): {_SIMPLER_CLAIMS[table]}", judge, details, variants=results.plan.variants)


def list_required(table: TableName, differences: Sequence[IntervalEstimate]) -> list[IntervalEstimate]:
    """Express the second hypothesis as quantities that must all be positive.

    `differences` contains, for each pair, the averaged pD of the simple learner minus that of the complex learner.

    >>> differences = [IntervalEstimate(0.25, 0.125, 0.375), IntervalEstimate(0.0, -0.125, 0.125)]
    >>> [estimate.value for estimate in list_required("populations", differences)]
    [0.15, -0.1]
    """
    if table == "populations":
        return [difference.subtract(MUCH) for difference in differences]
    if table == "missing":
        return [*differences, *(_subtract_from(MUCH, difference) for difference in differences)]
    first, second = differences
    return [first, _subtract_from(EQUAL, second)]


def _subtract_from(margin: float, difference: IntervalEstimate) -> IntervalEstimate:
    return (-difference).subtract(-margin)


def judge_hand(results: DriftResults) -> Claim:
    """Judge the conclusion about Hand's hypothesis by the extreme differences in pD.

    The two extremes are selected from six differences, so all six intervals are first widened to a joint coverage of 95 %.
    """
    keys = [(table, pair) for table in TABLES for pair in results.plan.pairs]

    def select_extremes(variant: str) -> list[IntervalEstimate]:
        differences = [results.estimate_pd_difference(*key, variant).widen(len(keys)) for key in keys]
        defined = [difference for difference in differences if not isnan(difference.value)] or differences
        ordered = sorted(defined, key=lambda difference: difference.value)
        return [-ordered[0], ordered[-1]]

    smallest, largest = select_extremes("")
    published = [tables.average_published_pd("populations"), tables.average_published_pd("definitions")]
    printed = [averages[simple] - averages[complicated] for averages in published for simple, complicated in results.plan.pairs]
    none_below = "; none of the printed differences is below 0" if min(printed) >= 0 else ""
    return build_claim(
        "The trend hypothesized by Hand (simpler classifiers are more robust) occurs in some cases, but not in others (judged "
        "as: of the six differences in averaged pD, simple minus complex, one is below 0 and another above 0)",
        lambda variant: judge_direction(select_extremes(variant)),
        f"smallest difference {(-smallest).format(_PATTERN)}, largest {largest.format(_PATTERN)}, with joint 95 % intervals of "
        f"all six; the printed differences of Tables I and III are {_format_range(printed)}{none_below}",
        variants=results.plan.variants,
    )


def judge_best_choice(results: DriftResults) -> Claim:
    """Judge whether the complex learner of each pair has the smaller error.

    Like a claim about several data sets, the claim is judged by the mean over all changes. A reproduced claim becomes
    inconclusive if a single change contradicts it after a Bonferroni correction.
    """

    def judge(variant: str) -> Verdict:
        verdict = judge_direction([results.estimate_mean_error_difference(pair, variant) for pair in results.plan.pairs])
        cases = [case for pair in results.plan.pairs for case in results.estimate_error_differences(pair, variant)]
        has_contradiction = any(case.widen(len(cases)).sign < 0 for case in cases)
        return INCONCLUSIVE if verdict == REPRODUCED and has_contradiction else verdict

    differences = [value for pair in results.plan.pairs for value in results.estimate_error_differences(pair)]
    lower, higher = (sum(difference.sign == sign for difference in differences) for sign in (1, -1))
    means = "; ".join(
        f"{simple} minus {complicated} {results.estimate_mean_error_difference((simple, complicated)).format('{:.1f}')}"
        for simple, complicated in results.plan.pairs
    )
    return build_claim(
        "In all cases complex classifiers remain the best choice (judged as: their mean error over all changes is lower, and "
        "no single change contradicts it)",
        judge,
        f"mean difference in the error in percentage points: {means}; in {lower} of {len(differences)} single cases the error "
        f"of the complex classifier is significantly lower, in {higher} significantly higher",
        variants=results.plan.variants,
    )


def judge_sizes(results: DriftResults, table: TableName) -> Claim:
    """Judge whether our averaged pD values equal the printed ones."""
    without_test = _NOT_COMPARABLE if table == "definitions" else ""
    printed = tables.average_published_pd(table, without_test=without_test)
    values = join_names(f"{value:.2f} ({learner})" for learner, value in printed.items())
    text = f"{TABLE_NUMBERS[table]}: the averaged pD are {values}"
    if table == "missing":
        return Claim(
            f"{TABLE_NUMBERS[table]}: the averaged pD",
            NOT_TESTABLE,
            "the printed averages do not follow from the printed rows, so it is unknown which numbers to compare",
            kind="printed",
        )

    def estimate_pd(learner: str, variant: str = "") -> IntervalEstimate:
        return results.get_errors(table, learner, variant).estimate_pd(without_test=without_test)

    def judge(variant: str) -> Verdict:
        differences = [estimate_pd(learner, variant).subtract(value) for learner, value in printed.items()]
        return judge_equivalence(differences, EQUAL)

    ours = "; ".join(f"{learner} {estimate_pd(learner).format(_PATTERN)}" for learner in printed)
    excluded = f" without the tests on {without_test}, which are not comparable" if without_test else ""
    return build_claim(
        f"{text}{excluded} (judged as: ours differ by less than {EQUAL:g})",
        judge,
        f"ours: {ours}",
        kind="printed",
        variants=results.plan.variants,
    )


def judge_averages(names: Sequence[TableName]) -> Claim:
    """Judge whether the printed averages of these tables follow from the printed rows."""
    averages = tables.read_published_averages()
    averages = averages[averages["table"].isin(list(names))]
    wrong = averages[(averages["value"] - averages["from_rows"]).abs() > _ROUNDING]
    return Claim(
        f"{' and '.join(TABLE_NUMBERS[name] for name in names)}: the printed averages are the means of the printed rows",
        judge_fact(wrong.empty),
        f"{len(averages) - len(wrong)} of {len(averages)} agree; illegible pD values were computed from the printed errors",
        kind="printed",
    )


def judge_averages_of_table_ii() -> Claim:
    """State that the averages of Table II cannot be checked."""
    averages = tables.read_published_averages().query("table == 'missing'")
    text = "; ".join(
        f"{row['learner']} {row['value']:.2f}, mean of the rows {row['from_rows']:.2f}" for row in averages.to_dict("records")
    )
    return Claim(
        "Table II: the printed averages are the means of the printed rows",
        NOT_TESTABLE,
        f"printed: {text}; in the available text, row names and numbers of this table are displaced, so rows may be missing",
        kind="printed",
    )


def judge_rows() -> Claim:
    """Judge whether the printed pD values follow from the printed errors.

    A single exception makes the claim inconclusive, because the value may be misplaced in the available text.
    """
    rows = tables.read_drift_tables()
    exceptions, legible = tables.list_contradictions(rows), int(rows["pd"].notna().sum())
    note = "; the available text may misplace this entry" if exceptions else ""
    is_true = True if not exceptions else None if len(exceptions) <= _MAX_MISPLACED else False
    return Claim(
        "The printed pD values follow from the printed errors",
        judge_fact(is_true),
        f"{legible - len(exceptions)} of {legible} agree within 0.015; exceptions: {'; '.join(exceptions) or 'none'}{note}",
        kind="printed",
    )


def judge_repeated_errors() -> Claim:
    """Judge whether an error that is printed in all three tables is the same in each."""
    unchanged = tables.read_unchanged_errors()
    differing = {learner: errors for learner, errors in unchanged.items() if len(set(errors.values())) > 1}
    text = "; ".join(
        f"{learner}: {', '.join(f'{TABLE_NUMBERS[name]} {error:.1f}' for name, error in errors.items())}"
        for learner, errors in differing.items()
    )
    return Claim(
        "The error of each classifier that is trained and tested on NGP is the same in all three tables",
        judge_fact(not differing),
        f"{len(unchanged) - len(differing)} of {len(unchanged)} classifiers agree; exceptions: {text or 'none'}",
        kind="printed",
    )


def summarise_claims(claims: Mapping[str, Claim], results: DriftResults) -> str:
    """Summarize the main verdicts and our range of averaged pD in Table I."""
    ours = [results.get_errors("populations", learner).estimate_pd().value for learner in results.plan.learners]
    printed = tables.average_published_pd("populations").values()
    statements = (
        "simple learners lose much more (Table I)",
        "simple learners lose slightly more (Table II)",
        "1R loses more than the tree, but the simple network does not lose more than the complex one (Table III)",
    )
    verdicts = list_by_verdict(
        {f"all learners lose performance in {TABLE_NUMBERS[table]}": claims[f"drop {table}"].verdict for table in TABLES}
        | {"complex learners remain the best choice": claims["best choice"].verdict}
        | {statement: claims[f"simpler {table}"].verdict for table, statement in zip(TABLES, statements, strict=True)}
        | {"the printed size of the losses in Table I": claims["size populations"].verdict}
    )
    return (
        f"We reconstructed the flu domain. {verdicts} The averaged pD of Table I is "
        f"{_format_range(ours)} here and {_format_range(printed)} in the tutorial."
    )


def _format_range(values: Iterable[float]) -> str:
    defined = [value for value in values if not isnan(value)]
    return f"{min(defined):.2f} to {max(defined):.2f}" if defined else "undefined"
