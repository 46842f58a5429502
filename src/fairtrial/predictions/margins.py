"""Comparisons at a margin: is one model superior, non-inferior, equivalent or inferior to another?"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairtrial._findings import Finding
from fairtrial._narrative import name_argument, render
from fairtrial._text import format_count, format_difference, format_interval, format_percentage, format_table
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.predictions.pairs import Decision, compare_models
from fairtrial.predictions.statistics import JudgeSettings, ModelStatistics, PairStatistics
from fairtrial.significance.margins import MarginDecision, decide_margin
from fairtrial.significance.names import get_display_name

_MIN_CASES = 5
"""If a class has fewer cases than this, no procedure is known to give limits with nominal coverage."""

MIN_BOOTSTRAP_CASES = 100
"""If a class has fewer cases than this, bootstrap limits are too narrow for a decision at a margin."""

_SCORE_LIMITS = ("auc_test", "mcnemar")

_MIN_CONTRIBUTIONS = 20
"""If fewer rows than this contribute to the difference between the models, bootstrap limits are too narrow."""


@dataclass(frozen=True)
class MarginComparison:
    """The comparison of a candidate with the baseline by one measure.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    candidate, baseline : str
        Names of the models.
    measure, measure_name : str
        Name of the measure, and its display name.
    result : MarginDecision
        Decision, margin, difference (candidate minus baseline) with confidence limits, and tests.
    test : str
        Name of the superiority test.
    p_value : float
        Two-sided p-value for the hypothesis of no difference, adjusted for the number of comparisons (Bonferroni).
    rows, clusters : int
        Number of rows that both models predict, and number of clusters (0 if rows are independent).
    obstacle : Finding or None
        Reason why no decision is possible, or None if a decision is possible.
    better : {"max", "min"}
        Whether larger or smaller values of the measure are better.
    """

    dataset: str
    candidate: str
    baseline: str
    measure: str
    measure_name: str
    result: MarginDecision
    test: str
    p_value: float
    rows: int
    clusters: int
    obstacle: Finding | None = None
    better: str = "max"

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary of plain values, as used in JSON documents."""
        return {
            "candidate": self.candidate,
            "baseline": self.baseline,
            "measure": self.measure,
            **self.result.to_dict(),
            "p_value": self.p_value,
            "test": self.test,
            "rows": self.rows,
            "clusters": self.clusters,
            "obstacle": None if self.obstacle is None else render(self.obstacle, "model"),
        }


def compare_at_margin(
    candidate: ModelStatistics,
    baseline: ModelStatistics,
    measure: Measure,
    margin: float,
    equivalent: bool,
    settings: JudgeSettings,
    inverted: Collection[tuple[str, str]] = (),
    adjust_for: int = 1,
) -> MarginComparison:
    """Compare a candidate with a baseline, and make a decision at the margin.

    The confidence level is 1 - alpha / adjust_for, so `adjust_for` is the number of simultaneous comparisons. `inverted`
    contains the data set and name of each model whose scores seem to be inverted.
    """
    settings = replace(settings, alpha=settings.alpha / adjust_for, level=1 - settings.alpha / adjust_for)
    pair = candidate.pair_with(baseline)
    if pair is None:
        raise InputError(f"no column identifies the rows: pass {name_argument('row', 'COLUMN')}")
    if not pair.rows:
        raise InputError(
            f"models must predict the same rows to be compared, got none in common for {candidate.name!r} and "
            f"{baseline.name!r}: check the row ids"
        )
    decision = compare_models(candidate, baseline, pair, measure, settings)
    suspects = tuple(model.name for model in (candidate, baseline) if (model.dataset, model.name) in inverted)
    obstacle = Finding.of("inverted_pair", models=suspects) if suspects else decision.obstacle
    test = "" if decision.outcome is None else decision.outcome.test
    if obstacle is None:
        obstacle = _find_obstacle(pair, decision)
    effect = decision.effect
    difference = math.nan if effect is None else effect.estimate
    low, high = (math.nan, math.nan) if effect is None or obstacle is not None else (effect.low, effect.high)
    if test == "auc_test" and obstacle is None:
        low, high = _widen_rare_changes(pair, difference, low, high, settings.level, 2.0 if measure.name == "gini" else 1.0)
    if obstacle is None and not (math.isfinite(low) and math.isfinite(high)):
        obstacle = Finding.of("gate_no_limits", measure=measure.display_name)
    result = decide_margin(
        difference,
        low,
        high,
        margin,
        level=settings.level,
        better="max" if measure.facts.direction == "max" else "min",
        equivalent=equivalent,
        units=pair.units,
    )
    if difference == 0 and result.needed is not None and _is_constant(pair, decision):
        # If the models never differ, the width of the interval is inversely proportional to the number of rows, not to its
        # square root.
        result = replace(result, needed=math.ceil(pair.units * (high - low) / 2 / margin))
    p_value = math.nan if decision.outcome is None else min(1.0, adjust_for * decision.outcome.p_value)
    clusters = pair.units if pair.units < pair.distinct_rows else 0
    return MarginComparison(
        candidate.dataset,
        candidate.name,
        baseline.name,
        measure.name,
        measure.display_name,
        result,
        test,
        p_value,
        pair.distinct_rows,
        clusters,
        obstacle,
        measure.facts.direction,
    )


def _find_obstacle(pair: PairStatistics, decision: Decision) -> Finding | None:
    """Find a reason why there are no reliable limits: no test, few cases in a class, or few contributing rows."""
    if decision.outcome is None:
        return Finding.of("gate_no_test")
    is_bootstrap = decision.outcome.test not in _SCORE_LIMITS
    fewest, needed = pair.effective_units[1], MIN_BOOTSTRAP_CASES if is_bootstrap else _MIN_CASES
    if fewest < needed:
        return Finding.of("gate_few_cases", cases=fewest, needed=needed)
    contributions = decision.contributions
    if is_bootstrap and contributions is not None and contributions < _MIN_CONTRIBUTIONS:
        return Finding.of("gate_few_contributions", rows=round(contributions), needed=_MIN_CONTRIBUTIONS)
    return None


def _is_constant(pair: PairStatistics, decision: Decision) -> bool:
    """Return whether the models are right on the same rows or, for AUC, rank all rows identically."""
    if decision.outcome is not None and decision.outcome.test == "auc_test":
        return pair.count_rank_changes() == 0
    return decision.outcome is not None and any(caveat.kind == "no_discordant_rows" for caveat in decision.outcome.caveats)


def _widen_rare_changes(
    pair: PairStatistics, difference: float, low: float, high: float, level: float, scale: float
) -> tuple[float, float]:
    """Widen the limits if two models rank almost all cases identically.

    The models may rank cases outside the sample differently. If they agree on all n cases of a class, the proportion of
    disagreements in the population may still be up to -log(alpha / 2) / n. This is the upper confidence limit at the level
    1 - alpha / 2 ("rule of three"). The AUC then changes by at most the sum of these proportions over both classes.
    """
    half = scale * min(1.0, -math.log((1 - level) / 2) * 2 / max(pair.effective_units[1], 1.0))
    if low <= difference - half and high >= difference + half:
        return low, high
    changes = pair.count_rank_changes()
    if changes is not None and changes >= _MIN_CONTRIBUTIONS:
        return low, high
    return min(low, difference - half), max(high, difference + half)


def find_texts(comparison: MarginComparison, equivalent: bool, n_candidates: int) -> list[Finding]:
    """Describe the decision and its reasons.

    If the candidate neither passes nor is inferior, state what would suffice for a decision.
    """
    result = comparison.result
    kind = f"gate_{result.decision.replace('-', '_')}"
    if math.isnan(result.low):
        kind = "gate_undecidable"
    elif not result.passed and result.decision != "inferior":
        kind = "gate_not_equivalent" if equivalent else "gate_not_shown"
    answer = Finding.of(
        kind,
        candidate=comparison.candidate,
        baseline=comparison.baseline,
        measure=comparison.measure_name,
        margin=result.margin,
        difference=format_difference(result.difference, _choose_format(result)),
        interval=(result.low, result.high, result.level, _choose_format(result)),
    )
    is_open = not result.passed and result.decision != "inferior"
    findings = [answer]
    if not math.isnan(comparison.p_value):
        is_worse = result.high < 0 if comparison.better == "max" else result.low > 0
        relation = "superior" if result.decision == "superior" else "worse" if is_worse else "open"
        details = Finding.of(
            f"gate_details_{relation}",
            sample=format_count(comparison.rows, "row")
            + (f" in {format_count(comparison.clusters, 'cluster')}" if comparison.clusters else ""),
            test=get_display_name(comparison.test),
            p=comparison.p_value,
            adjustment=f", adjusted for {n_candidates} candidates" if n_candidates > 1 else "",
        )
        findings.append(details)
    if comparison.obstacle is not None:
        findings.append(comparison.obstacle)
    elif is_open:
        unit = "cluster" if comparison.clusters else "row"
        if result.needed is None:
            findings.append(Finding.of("gate_undecided"))
        else:
            findings.append(Finding.of(f"gate_needed_{unit}s", needed=_round_up(result.needed)))
    return findings


def _round_up(number: int) -> int:
    """Round an approximate number up to two significant digits.

    >>> _round_up(45_742), _round_up(99), _round_up(2_000)
    (46000, 99, 2000)
    """
    scale: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // scale) * scale


def _choose_format(result: MarginDecision) -> str:
    """Choose a number format with as few digits as possible for two limits.

    Rounding must not move a limit across zero or the margin.
    """
    bounds = (0.0, result.margin, -result.margin)
    for digits in range(2, 12):
        rounded = [float(f"{limit:.{digits}g}") for limit in (result.low, result.high)]
        pairs = list(zip(rounded, (result.low, result.high), strict=True))
        if all(
            (text > bound) == (limit > bound) and (text < bound) == (limit < bound) for text, limit in pairs for bound in bounds
        ):
            break
    return f"{{:.{digits}g}}"


def format_margin_table(comparisons: Sequence[MarginComparison]) -> list[str]:
    """Format the decisions at a margin as a table with one line per pair."""
    first = comparisons[0]
    has_datasets = len({comparison.dataset for comparison in comparisons}) > 1
    level = format_percentage(first.result.level)
    head = f"{first.measure_name}, margin {first.result.margin:g}"
    rows = [[*(["data set"] if has_datasets else []), head, "difference", f"{level} CI", "decision"]]
    for comparison in comparisons:
        result = comparison.result
        limits = "" if math.isnan(result.low) else format_interval(result.low, result.high, None, _choose_format(result))
        difference = format_difference(result.difference, _choose_format(result))
        pair = f"{comparison.candidate} - {comparison.baseline}"
        rows.append([*([comparison.dataset] if has_datasets else []), pair, difference, limits, result.decision])
    return format_table(rows, left=4 + has_datasets)
