"""The paper's claims about its Figures 4, 5 and 6, judged by our error rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from fairtrial.reproduce.claim import Claim, are_all_positive, combine_outcomes, mark_inconclusive
from fairtrial.reproduce.ranking_errors import DISPLAY_NAMES, MEASURES, compute_joint_level, estimate_rate, index_measure
from fairtrial.reproduce.ranking_synthetic.simulation import ErrorCurve

_AROUND = 2.0  # percentage points
_FIGURE_4 = "Figure 4, misclassification noise"
_FIGURE_5 = "Figure 5, probability noise"
_FIGURE_6 = "Figure 6, class proportion noise"
_OTHERS_THAN_SAUC = tuple(measure for measure in MEASURES if measure != "sauc")


def build_claims(
    labels: ErrorCurve, scores: ErrorCurve, proportion: ErrorCurve, *, is_smoke: bool = False
) -> tuple[Claim, ...]:
    """Judge all claims. In a smoke run, all are inconclusive, except that a single error contradicts the first one."""
    claims = (*_judge_labels(labels), *_judge_scores(scores), *_judge_proportion(proportion))
    return (_judge_zero(labels), *(mark_inconclusive(claims) if is_smoke else claims))


def _judge_labels(curve: ErrorCurve) -> list[Claim]:
    upto = f"{_FIGURE_4}: up to about 70 %"
    return [
        _judge_half(curve, f"{_FIGURE_4}: at 100 % all errors are around 50 % (judged as: within {_AROUND:g} points)"),
        judge_order(
            curve,
            f"{upto} the errors of H and KS are slightly below those of the others (judged as: below)",
            ["h_measure", "ks"],
            ["auc", "auch", "sauc", "taks"],
            70,
        ),
        judge_order(curve, f"{upto} AUCH is more robust than AUC and taKS", ["auch"], ["auc", "taks"], 70),
        judge_order(curve, f"{_FIGURE_4}: sAUC is the least robust", _OTHERS_THAN_SAUC, ["sauc"]),
        judge_equality(curve, f"{_FIGURE_4}: AUC and taKS are virtually identical", ["auc", "taks"], 0.005),
        judge_equality(curve, f"{_FIGURE_4}: there are no dramatic differences between the measures", MEASURES, 0.1),
    ]


def _judge_scores(curve: ErrorCurve) -> list[Claim]:
    rest = ["h_measure", "auc", "auch", "taks"]
    auch = "AUCH is slightly less robust than AUC and taKS (judged as: its mean error is higher)"
    return [
        judge_order(curve, f"{_FIGURE_5}: sAUC performs worst", _OTHERS_THAN_SAUC, ["sauc"]),
        judge_order(curve, f"{_FIGURE_5}: KS is the next least robust", rest, ["ks"]),
        judge_order(curve, f"{_FIGURE_5}: H follows", ["auc", "auch", "taks"], ["h_measure"]),
        judge_order(curve, f"{_FIGURE_5}: {auch}", ["auc", "taks"], ["auch"]),
        judge_equality(curve, f"{_FIGURE_5}: AUC and taKS are almost identical", ["auc", "taks"], 0.005),
    ]


def _judge_proportion(curve: ErrorCurve) -> list[Claim]:
    measures = ("auc", "auch", "h_measure", "ks", "taks")
    low = f"{_FIGURE_6}: the errors of all measures except sAUC are remarkably low up to around 80 %"
    return [
        judge_equality(curve, f"{_FIGURE_6}: all measures except sAUC perform very similarly", measures, 0.02),
        _judge_low(curve, low, measures, 80, 5),
        judge_order(curve, f"{_FIGURE_6}: sAUC copes worse than the others", measures, ["sauc"]),
    ]


def judge_order(
    curve: ErrorCurve, text: str, lower: Sequence[str], higher: Sequence[str], max_level: float = math.inf
) -> Claim:
    """Judge whether each measure of `lower` has a lower mean error than each of `higher`, by paired intervals."""
    differences = {(high, low): curve.estimate_difference(high, low, max_level=max_level) for low in lower for high in higher}
    smallest = min(differences, key=lambda pair: differences[pair].value)
    rates = ", ".join(
        f"{DISPLAY_NAMES[measure]} {100 * curve.compute_mean(measure, max_level=max_level):.2f} %"
        for measure in (*lower, *higher)
    )
    high, low = smallest
    difference = f"{DISPLAY_NAMES[high]} minus {DISPLAY_NAMES[low]}: {differences[smallest].format('{:+.2f}')} points"
    return Claim(text, are_all_positive(differences.values()), f"mean errors: {rates}; {difference}")


def judge_equality(curve: ErrorCurve, text: str, measures: Sequence[str], limit: float) -> Claim:
    """Judge whether measures differ by at most a limit at all levels, by intervals with a joint coverage of 95 %."""
    pairs = list(combinations(measures, 2))
    confidence = compute_joint_level(len(pairs) * len(curve.levels))
    differences = [difference for pair in pairs for difference in curve.estimate_differences(*pair, confidence)]
    largest_limit = max(max(abs(difference.low), abs(difference.high)) for difference in differences)
    spread = 100 * curve.compute_spread(measures)
    return Claim(
        f"{text} (judged as: within {100 * limit:g} points of each other at each level)",
        combine_outcomes(difference.is_within(100 * limit) for difference in differences),
        f"largest difference at a level {spread:.2f} points, confidence limits up to {largest_limit:.2f}",
    )


def _judge_low(curve: ErrorCurve, text: str, measures: Sequence[str], max_level: float, limit: float) -> Claim:
    """Judge whether errors stay below a limit in percent at all noise levels up to `max_level`."""
    columns = [index_measure(measure) for measure in measures]
    rates = curve.rates[curve.levels <= max_level][:, columns].ravel()
    estimates = [estimate_rate(float(rate), curve.pairs, compute_joint_level(len(rates))) for rate in rates]
    high = max(estimate.high for estimate in estimates)
    return Claim(
        f"{text} (judged as: below {limit:g} % at each level)",
        combine_outcomes((-estimate).subtract(-limit).is_positive for estimate in estimates),
        f"highest error up to a noise level of {max_level:g} %: {100 * rates.max():.2f} %, confidence limits up to {high:.2f} "
        "%",
    )


def _judge_zero(curve: ErrorCurve) -> Claim:
    """Judge the claim that no errors occur without noise. One error contradicts it; without errors it is inconclusive."""
    rates = curve.rates[0]
    text = ", ".join(f"{DISPLAY_NAMES[measure]} {100 * rate:.2f} %" for measure, rate in zip(MEASURES, rates, strict=True))
    reproduced = False if rates.any() else None
    return Claim(f"{_FIGURE_4}: at 0 % all errors are expected to be 0", reproduced, f"errors in {curve.pairs:,} pairs: {text}")


def _judge_half(curve: ErrorCurve, text: str) -> Claim:
    rates = curve.rates[-1]
    estimates = [estimate_rate(float(rate), curve.pairs, compute_joint_level(len(rates))) for rate in rates]
    low, high = min(estimate.low for estimate in estimates), max(estimate.high for estimate in estimates)
    return Claim(
        text,
        combine_outcomes(estimate.subtract(50).is_within(_AROUND) for estimate in estimates),
        f"errors {100 * rates.min():.2f} to {100 * rates.max():.2f} %, confidence limits {low:.2f} to {high:.2f} %",
    )
