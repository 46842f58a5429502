"""Judge the paper's claims about its Figures 4, 5 and 6 by our error rates.

The paper does not quantify its wording. We use the same limit for the same word in both ranking experiments; see
`ranking_errors`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

from fairtrial.reproduce.claim import (
    Claim,
    IntervalEstimate,
    Verdict,
    build_claim,
    combine_verdicts,
    judge_direction,
    judge_equivalence,
    list_by_verdict,
    mark_inconclusive,
)
from fairtrial.reproduce.ranking_errors import (
    AROUND,
    DISPLAY_NAMES,
    DRAMATIC,
    IDENTICAL,
    LOW,
    MEASURES,
    SIMILAR,
    SLIGHT,
    estimate_rate,
    index_measure,
    list_slight,
)
from fairtrial.reproduce.ranking_synthetic.simulation import ErrorCurve

_FIGURE_4 = "Figure 4, misclassification noise"
_FIGURE_5 = "Figure 5, probability noise"
_FIGURE_6 = "Figure 6, class proportion noise"
_SAME_NOISE = "same noise for both rankings"
_SLIGHTLY = f"(judged as: by more than 0 and less than {SLIGHT:g} points on average)"
_MEAN = "(judged as: by the mean over all levels)"
_OTHERS_THAN_SAUC = tuple(measure for measure in MEASURES if measure != "sauc")

CurveVariants = Mapping[str, ErrorCurve]
"""Error curves of the main run, named "", and of its variants."""


def build_claims(
    labels: ErrorCurve,
    scores: ErrorCurve,
    proportion: ErrorCurve,
    same_noise: ErrorCurve | None = None,
    *,
    is_smoke: bool = False,
) -> dict[str, Claim]:
    """Judge all claims and return them keyed by name.

    `same_noise` is a variant of `scores`. In a smoke run, all claims are inconclusive.
    """
    variants = {} if same_noise is None else {_SAME_NOISE: same_noise}
    claims = {
        **_judge_labels({"": labels}),
        **_judge_scores({"": scores, **variants}),
        **_judge_proportion({"": proportion}),
    }
    return dict(zip(claims, mark_inconclusive(claims.values()), strict=True)) if is_smoke else claims


def _judge_labels(curves: CurveVariants) -> dict[str, Claim]:
    upto = f"{_FIGURE_4}: up to about 70 %"
    dramatic = f"{_FIGURE_4}: there are no dramatic differences between the measures"
    return {
        "4: none without noise": judge_level(curves, f"{_FIGURE_4}: at 0 % all errors are expected to be 0", 0, 0),
        "4: half": judge_level(curves, f"{_FIGURE_4}: at 100 % all errors are around 50 %", -1, 50),
        "4: H and KS": judge_order(
            curves,
            f"{upto} the errors of H and KS are slightly below those of the others {_SLIGHTLY}",
            ["h_measure", "ks"],
            ["auc", "auch", "sauc", "taks"],
            max_level=70,
            slightly=True,
        ),
        "4: AUCH": judge_order(
            curves,
            f"{upto} AUCH is slightly more robust than AUC and taKS {_SLIGHTLY}",
            ["auch"],
            ["auc", "taks"],
            max_level=70,
            slightly=True,
        ),
        "4: sAUC": judge_order(curves, f"{_FIGURE_4}: sAUC is the least robust {_MEAN}", _OTHERS_THAN_SAUC, ["sauc"]),
        "4: taKS": judge_equality(curves, f"{_FIGURE_4}: AUC and taKS are virtually identical", ["auc", "taks"], IDENTICAL),
        "4: all alike": judge_equality(curves, dramatic, MEASURES, DRAMATIC),
    }


def _judge_scores(curves: CurveVariants) -> dict[str, Claim]:
    rest = ["h_measure", "auc", "auch", "taks"]
    slightly_less = f"{_FIGURE_5}: AUCH is slightly less robust than AUC and taKS {_SLIGHTLY}"
    return {
        "5: sAUC": judge_order(curves, f"{_FIGURE_5}: sAUC performs worst {_MEAN}", _OTHERS_THAN_SAUC, ["sauc"]),
        "5: KS": judge_order(curves, f"{_FIGURE_5}: KS is the next least robust after sAUC {_MEAN}", rest, ["ks"]),
        "5: H": judge_order(
            curves, f"{_FIGURE_5}: H is the next least robust after KS {_MEAN}", ["auc", "auch", "taks"], ["h_measure"]
        ),
        "5: AUCH": judge_order(curves, slightly_less, ["auc", "taks"], ["auch"], slightly=True),
        "5: taKS": judge_equality(curves, f"{_FIGURE_5}: AUC and taKS are almost identical", ["auc", "taks"], IDENTICAL),
    }


def _judge_proportion(curves: CurveVariants) -> dict[str, Claim]:
    measures = ("auc", "auch", "h_measure", "ks", "taks")
    low = f"{_FIGURE_6}: the errors of all measures except sAUC are remarkably low up to around 80 %"
    alike = f"{_FIGURE_6}: all measures except sAUC perform very similarly"
    return {
        "6: alike": judge_equality(curves, alike, measures, SIMILAR),
        "6: low": judge_low(curves, low, measures, 80),
        "6: sAUC": judge_order(curves, f"{_FIGURE_6}: sAUC copes worse than the others {_MEAN}", measures, ["sauc"]),
    }


def judge_order(
    curves: CurveVariants,
    text: str,
    lower: Sequence[str],
    higher: Sequence[str],
    *,
    max_level: float = math.inf,
    slightly: bool = False,
) -> Claim:
    """Judge whether some measures have lower mean errors than others, by paired intervals.

    If `slightly` is true, the differences must also be below the limit of a slight difference.
    """
    pairs = [(high, low) for low in lower for high in higher]

    def list_differences(variant: str) -> list[IntervalEstimate]:
        return [curves[variant].estimate_difference(*pair, max_level=max_level) for pair in pairs]

    def judge(variant: str) -> Verdict:
        differences = list_differences(variant)
        return judge_direction(list_slight(differences) if slightly else differences)

    smallest, (high, low) = min(zip(list_differences(""), pairs, strict=True), key=lambda item: item[0].value)
    rates = ", ".join(
        f"{DISPLAY_NAMES[measure]} {100 * curves[''].compute_mean(measure, max_level=max_level):.2f} %"
        for measure in (*lower, *higher)
    )
    details = f"mean errors: {rates}; {DISPLAY_NAMES[high]} minus {DISPLAY_NAMES[low]}: {smallest.format('{:+.2f}')} points"
    return build_claim(text, judge, details, variants=[name for name in curves if name])


def judge_equality(curves: CurveVariants, text: str, measures: Sequence[str], limit: float) -> Claim:
    """Judge whether the errors of measures differ by at most `limit` points at every level."""
    pairs = list(combinations(measures, 2))

    def list_differences(variant: str) -> list[IntervalEstimate]:
        return [difference for pair in pairs for difference in curves[variant].estimate_differences(*pair, 0.95)]

    largest_limit = max(max(abs(difference.low), abs(difference.high)) for difference in list_differences(""))
    return build_claim(
        f"{text} (judged as: within {limit:g} points of each other at each level)",
        lambda variant: judge_equivalence(list_differences(variant), limit),
        f"largest difference at any level {100 * curves[''].compute_spread(measures):.2f} points, confidence limits up to "
        f"{largest_limit:.2f}",
        variants=[name for name in curves if name],
    )


def judge_level(curves: CurveVariants, text: str, position: int, expected: float) -> Claim:
    """Judge whether all errors at a noise level equal an expected error in percent."""

    def list_rates(variant: str) -> list[IntervalEstimate]:
        return [estimate_rate(float(rate), curves[variant].pairs) for rate in curves[variant].rates[position]]

    rates = list_rates("")
    values = ", ".join(f"{DISPLAY_NAMES[name]} {rate.value:.2f} %" for name, rate in zip(MEASURES, rates, strict=True))
    limits = f"confidence limits {min(rate.low for rate in rates):.2f} to {max(rate.high for rate in rates):.2f} %"
    return build_claim(
        f"{text} (judged as: within {AROUND:g} points)",
        lambda variant: judge_equivalence([rate.subtract(expected) for rate in list_rates(variant)], AROUND),
        f"errors in {curves[''].pairs:,} pairs: {values}; {limits}",
        variants=[name for name in curves if name],
    )


def judge_low(curves: CurveVariants, text: str, measures: Sequence[str], max_level: float) -> Claim:
    """Judge whether errors are low at all noise levels up to `max_level`."""
    columns = [index_measure(measure) for measure in measures]

    def list_rates(variant: str) -> list[IntervalEstimate]:
        curve = curves[variant]
        return [estimate_rate(float(rate), curve.pairs) for rate in curve.rates[curve.levels <= max_level][:, columns].ravel()]

    rates = list_rates("")
    return build_claim(
        f"{text} (judged as: below {LOW:g} % at each level)",
        lambda variant: judge_direction([(-rate).subtract(-LOW) for rate in list_rates(variant)]),
        f"highest error up to a noise level of {max_level:g} %: {max(rate.value for rate in rates):.2f} %, confidence limits "
        f"up to {max(rate.high for rate in rates):.2f} %",
        variants=[name for name in curves if name],
    )


def summarise_claims(claims: Mapping[str, Claim]) -> str:
    """Summarize the verdicts on the least robust measure, on H and KS, and on AUC and taKS."""
    return list_by_verdict(
        {
            "sAUC is the least robust measure under misclassification noise": claims["4: sAUC"].verdict,
            "sAUC is the least robust measure under probability noise": claims["5: sAUC"].verdict,
            "sAUC is the least robust measure under class proportion noise": claims["6: sAUC"].verdict,
            "H and KS are slightly more robust than the others under misclassification noise up to 70 %": claims[
                "4: H and KS"
            ].verdict,
            "H and KS are less robust than AUC under probability noise": combine_verdicts(
                [claims["5: KS"].verdict, claims["5: H"].verdict]
            ),
            "AUC and taKS make the same errors (without equal scores, taKS is a linear function of the AUC)": claims[
                "4: taKS"
            ].verdict,
        }
    )
