"""What the paper states of its Figures 4, 5 and 6, judged by the error rates found here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from fairtrial.reproduce.coarse import undecided
from fairtrial.reproduce.interval import all_above, all_hold
from fairtrial.reproduce.ranking.curves import Curve
from fairtrial.reproduce.ranking.error_intervals import exact, shared_level
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS, place
from fairtrial.reproduce.reproduction import Claim

_AROUND = 2.0  # points
_FIGURE_4 = "Figure 4, misclassification noise"
_HIGHER = " (judged as: its mean error is higher at all)"
_ROBUST_TO_PROPORTION = ("auc", "auch", "h_measure", "ks", "taks")


def synthetic_claims(labels: Curve, scores: Curve, proportion: Curve, *, coarse: bool = False) -> tuple[Claim, ...]:
    """Each statement with its number; coarse samples leave all open but the first, which a single error refutes."""
    sampled = (*_labels(labels), *_scores(scores), *_proportion(proportion))
    return (_zero(labels), *(undecided(sampled) if coarse else sampled))


def _labels(curve: Curve) -> list[Claim]:
    told, most = _FIGURE_4, 70
    return [
        _half(curve, f"{told}: at 100 % all errors are around 50 % (judged as: within {_AROUND:g} points)"),
        ordered(
            curve,
            f"{told}: up to about 70 % the errors of H and KS are slightly below those of the others (judged as: below at all)",
            ["h_measure", "ks"],
            ["auc", "auch", "sauc", "taks"],
            most,
        ),
        ordered(curve, f"{told}: up to about 70 % AUCH is more robust than AUC and taKS", ["auch"], ["auc", "taks"], most),
        ordered(
            curve,
            f"{told}: sAUC is the least robust",
            [each for each in MEASURES if each != "sauc"],
            ["sauc"],
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
        ordered(curve, f"{told}: AUCH is slightly less robust than AUC and taKS{_HIGHER}", ["auc", "taks"], ["auch"]),
        alike(curve, f"{told}: AUC and taKS are almost identical", ["auc", "taks"], 0.005),
    ]


def _proportion(curve: Curve) -> list[Claim]:
    told, own = "Figure 6, class proportion noise", _ROBUST_TO_PROPORTION
    return [
        alike(curve, f"{told}: all measures except sAUC perform very similarly", own, 0.02),
        _low(curve, f"{told}: the errors of all but sAUC are remarkably low up to around 80 %", own, 80, 5),
        ordered(curve, f"{told}: sAUC copes worse than the others", own, ["sauc"]),
    ]


def ordered(curve: Curve, text: str, lower: Sequence[str], higher: Sequence[str], most: float = math.inf) -> Claim:
    """Whether each measure of `lower` errs less, on average over levels, than each of `higher`: by paired 95 % intervals."""
    gaps = {(other, one): curve.gap(other, one, most=most) for one in lower for other in higher}
    nearest = min(gaps, key=lambda pair: gaps[pair].value)
    rates = ", ".join(f"{WORDS[each]} {100 * curve.mean(each, most=most):.2f} %" for each in (*lower, *higher))
    less = f"{WORDS[nearest[0]]} less {WORDS[nearest[1]]}, in points, {gaps[nearest].told('{:+.2f}')}"
    return Claim(text, all_above(gaps.values()), f"mean errors {rates}; {less}")


def alike(curve: Curve, text: str, measures: Sequence[str], limit: float) -> Claim:
    """Whether measures lie within a limit of each other at all levels: by intervals that hold together with 95 %.

    The claim's text ends in the limit.
    """
    pairs = list(combinations(measures, 2))
    level = shared_level(len(pairs) * len(curve.levels))
    gaps = [gap for pair in pairs for gap in curve.gaps(*pair, level)]
    farthest = max(max(abs(gap.low), abs(gap.high)) for gap in gaps)
    widest = f"the widest distance seen at a level is {100 * curve.spread(measures):.2f} points, limits to {farthest:.2f}"
    judged = f"{text} (judged as: within {100 * limit:g} points of each other at each level)"
    return Claim(judged, all_hold(gap.within(100 * limit) for gap in gaps), widest)


def _low(curve: Curve, text: str, measures: Sequence[str], most: float, limit: float) -> Claim:
    """Whether errors stay below a limit (in percent) at all levels up to one."""
    rates = curve.rates[curve.levels <= most][:, [place(each) for each in measures]].ravel()
    found = [exact(float(rate), curve.pairs, shared_level(len(rates))) for rate in rates]
    verdict = all_hold((-each).less(-limit).above for each in found)
    told = f"the highest up to {most:g} % is {100 * rates.max():.2f} %, limits to {max(each.high for each in found):.2f} %"
    return Claim(f"{text} (judged as: below {limit:g} % at each level)", verdict, told)


def _zero(curve: Curve) -> Claim:
    """A single error shows that errors are possible; that none was seen leaves the claim open."""
    text, rates = f"{_FIGURE_4}: at 0 % all errors are expected to be 0", curve.rates[0]
    told = ", ".join(f"{WORDS[each]} {100 * rate:.2f} %" for each, rate in zip(MEASURES, rates, strict=True))
    return Claim(text, False if rates.any() else None, f"{told} of {curve.pairs:,} pairs")


def _half(curve: Curve, text: str) -> Claim:
    rates = curve.rates[-1]
    found = [exact(float(rate), curve.pairs, shared_level(len(rates))) for rate in rates]
    limits = f"limits from {min(each.low for each in found):.2f} to {max(each.high for each in found):.2f} %"
    told = f"{100 * rates.min():.2f} to {100 * rates.max():.2f} %, {limits}"
    return Claim(text, all_hold(each.less(50).within(_AROUND) for each in found), told)
