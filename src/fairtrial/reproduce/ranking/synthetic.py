"""Figures 4, 5 and 6: how often each measure prefers the worse of two simulated rankings, against the level of noise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from fairtrial.reproduce.ranking.curves import NOISES, SAME_NOISE, Curve, curves
from fairtrial.reproduce.ranking.drawn_errors import draw_curve
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS
from fairtrial.reproduce.ranking.synthetic_claims import synthetic_claims
from fairtrial.reproduce.reproduction import Reproduction, Request, Table

if TYPE_CHECKING:
    import pandas as pd

_FIGURES = (4, 5, 6)


def run(request: Request) -> Reproduction:
    """Draw the pairs, count the errors, judge the paper's statements."""
    step, pairs = request.pick(smoke=25, quick=2, full=1), request.pick(smoke=200, quick=4_000, full=10_000)
    found = curves(
        (*NOISES, SAME_NOISE), step=step, pairs=pairs, seed=request.seed, jobs=request.jobs, progress=request.progress
    )
    *own, same = found
    return Reproduction(
        words=_words(own, same),
        tables=(
            Table("mean-errors", "Mean error rates over all levels, in %", _means(found), note=_MEANS_NOTE, digits=2),
            Table("error-rates", "Error rates at each level, in %", _rates(found), shown=False, digits=2),
        ),
        claims=synthetic_claims(*own, coarse=request.scale == "smoke"),
        figures={
            f"Figure {number}: {curve.noise.title.lower()}": draw_curve(curve, number)
            for number, curve in zip(_FIGURES, own, strict=True)
        },
    )


_MEANS_NOTE = (
    "The paper prints its error rates as figures only, so that no published numbers stand beside these. The last line is "
    "another reading of the text: both rankings get the same number added to a case's scores."
)


def _means(found: Sequence[Curve]) -> pd.DataFrame:
    import pandas as pd

    lines = [
        {"noise": curve.noise.title, **{WORDS[each]: 100 * curve.mean(each) for each in MEASURES}, "pairs": curve.pairs}
        for curve in found
    ]
    return pd.DataFrame(lines)


def _rates(found: Sequence[Curve]) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([curve.frame() for curve in found], ignore_index=True)


def _words(own: Sequence[Curve], same: Curve) -> tuple[str, ...]:
    levels = sum(len(curve.levels) for curve in own)
    return (
        "Scores of 100 cases are drawn from [0, 1]; those of 0.5 and more are positives. The first ranking has 10 scores "
        f"replaced by chance, the second 10 others as well, so that it is the worse one. {levels} levels of noise, "
        f"{own[0].pairs:,} pairs at each, six measures: an error is 1 where the second ranking gets the higher value, 0.5 "
        "where both get the same.",
        _beyond(own[0]),
        _twins(own),
        _reading(own[1], same),
        "H is Hand's with costs from Beta(2, 2), as the paper defines it (R's package hmeasure has since taken another "
        "default). Noise is neither clipped nor rounded, for the paper says nothing of it.",
    )


def _twins(own: Sequence[Curve]) -> str:
    widest = max(curve.spread(["auc", "taks"]) for curve in own)
    told = (
        "Where no two of n scores are equal, taKS is (AUC - 1/2) n / (n - 1): a straight line of the AUC, so that both give "
        "the same verdict on every pair. The paper finds their errors 'virtually identical'; "
    )
    return told + ("here they are equal at every level." if widest == 0 else f"here they differ by {100 * widest:.2g} points.")


def _reading(own: Curve, same: Curve) -> str:
    order = _order(same)
    return (
        "The paper does not say whether probability noise is drawn anew for each of the two rankings. Here it is: estimates "
        "of two models err each in their own way. With the same noise for both, errors stay at "
        f"{100 * same.rates[-1].min():.1f} to {100 * same.rates[-1].max():.1f} % at the highest level, against "
        f"{100 * own.rates[-1].min():.1f} to {100 * own.rates[-1].max():.1f} %, and the order of mean errors is {order}."
    )


def _order(curve: Curve) -> str:
    ranked = sorted(MEASURES, key=lambda each: -curve.mean(each))
    told = WORDS[ranked[0]]
    for before, after in pairwise(ranked):
        told += f" {'=' if curve.mean(before) == curve.mean(after) else '>'} {WORDS[after]}"
    return told


def _beyond(curve: Curve) -> str:
    means = curve.rates[curve.levels > 70].mean(axis=0)
    best, worst = MEASURES[int(means.argmin())], MEASURES[int(means.argmax())]
    return (
        f"Of the order of the measures under misclassification noise between 70 and 100 % the paper says nothing: there "
        f"{WORDS[worst]} errs most on average ({100 * means.max():.1f} %) and {WORDS[best]} least ({100 * means.min():.1f} %)."
    )
