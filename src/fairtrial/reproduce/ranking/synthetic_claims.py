"""What the paper states of its Figures 4, 5 and 6, judged by the error rates found here."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairtrial.reproduce.ranking.curves import Curve
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS, named, place
from fairtrial.reproduce.reproduction import Claim

_ROBUST_TO_PROPORTION = ("auc", "auch", "h_measure", "ks", "taks")


def synthetic_claims(labels: Curve, scores: Curve, proportion: Curve) -> tuple[Claim, ...]:
    """Each statement with its number."""
    return (*_labels(labels), *_scores(scores), *_proportion(proportion))


def _labels(curve: Curve) -> list[Claim]:
    told, most = "Figure 4, misclassification noise", 70
    return [
        _zero(curve, f"{told}: at 0 % all errors are expected to be 0"),
        _half(curve, f"{told}: at 100 % all errors are around 50 %"),
        ordered(
            curve,
            f"{told}: up to about 70 % the errors of H and KS are slightly below those of the others",
            ["h_measure", "ks"],
            ["auc", "auch", "sauc", "taks"],
            most,
        ),
        ordered(curve, f"{told}: up to about 70 % AUCH is more robust than AUC and taKS", ["auch"], ["auc", "taks"], most),
        ordered(
            curve,
            f"{told}: up to about 70 % sAUC is the least robust",
            [each for each in MEASURES if each != "sauc"],
            ["sauc"],
            most,
        ),
        alike(curve, f"{told}: AUC and taKS are virtually identical", ["auc", "taks"], 0.005),
        alike(curve, f"{told}: there are no dramatic differences between the measures", MEASURES, 0.1),
    ]


def _scores(curve: Curve) -> list[Claim]:
    told = "Figure 5, probability noise"
    rest = ["h_measure", "auc", "auch", "taks"]
    return [
        ordered(curve, f"{told}: sAUC performs worst", [each for each in MEASURES if each != "sauc"], ["sauc"]),
        ordered(curve, f"{told}: KS is the next least robust", rest, ["ks"]),
        ordered(curve, f"{told}: H follows", ["auc", "auch", "taks"], ["h_measure"]),
        ordered(curve, f"{told}: AUCH is slightly less robust than AUC and taKS", ["auc", "taks"], ["auch"]),
        alike(curve, f"{told}: AUC and taKS are almost identical", ["auc", "taks"], 0.005),
    ]


def _proportion(curve: Curve) -> list[Claim]:
    told, own = "Figure 6, class proportion noise", _ROBUST_TO_PROPORTION
    kept = curve.rates[curve.levels <= 80][:, [place(each) for each in own]]
    highest = float(kept.max())
    return [
        alike(curve, f"{told}: all measures except sAUC perform very similarly", own, 0.02),
        Claim(
            f"{told}: the errors of all but sAUC are remarkably low up to around 80 %",
            highest < 0.05,
            f"the highest up to 80 % is {100 * highest:.2f} % (judged against 5 %)",
        ),
        ordered(curve, f"{told}: sAUC copes worse than the others", own, ["sauc"]),
    ]


def ordered(curve: Curve, text: str, lower: Sequence[str], higher: Sequence[str], most: float = math.inf) -> Claim:
    """Whether each measure of `lower` errs less, on average over levels, than each of `higher`: by paired 95 % intervals."""
    gaps = {(one, other): curve.gap(one, other, most=most) for one in lower for other in higher}
    nearest = max(gaps, key=lambda pair: gaps[pair].value)
    holds = True if all(gap.high < 0 for gap in gaps.values()) else None
    if any(gap.low > 0 for gap in gaps.values()):
        holds = False
    rates = ", ".join(f"{WORDS[each]} {100 * curve.mean(each, most=most):.2f} %" for each in (*lower, *higher))
    return Claim(text, holds, f"mean errors {rates}; {named(nearest).replace(' and ', ' less ')} {gaps[nearest]}")


def alike(curve: Curve, text: str, measures: Sequence[str], limit: float) -> Claim:
    """Whether measures never lie further apart than a limit."""
    widest = curve.spread(measures)
    return Claim(
        text,
        widest < limit,
        f"at no level do they lie more than {100 * widest:.2f} points apart (judged against {100 * limit:g})",
    )


def _zero(curve: Curve, text: str) -> Claim:
    rates = curve.rates[0]
    told = ", ".join(f"{WORDS[each]} {100 * rate:.2f} %" for each, rate in zip(MEASURES, rates, strict=True))
    return Claim(text, bool((rates == 0).all()), told)


def _half(curve: Curve, text: str) -> Claim:
    rates = curve.rates[-1]
    limit = max(0.02, 3 * math.sqrt(0.25 / curve.pairs))
    told = f"{100 * rates.min():.2f} to {100 * rates.max():.2f} % (judged against 50 +- {100 * limit:.1f})"
    return Claim(text, bool((abs(rates - 0.5) <= limit).all()), told)
