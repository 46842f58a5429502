"""What the page tells of measures that joined, and what is warned of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.errors import SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.reproduce.interval import Interval
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.error_intervals import over_cells
from fairtrial.reproduce.ranking.joining import JoinedMeasure
from fairtrial.reproduce.ranking.measure_words import MEASURES, place

_RULES = (
    "Measures that joined: of a function higher values must be better (give a loss with its sign turned), while fairtrial's "
    "measures know their direction. A fold of one class alone is left out, as for the six; a repeat in which a measure has no "
    "value in another fold is no comparison and counts in no rate."
)
_VERDICTS = {1: "it errs more than AUC", -1: "it errs less than AUC", 0: "the two are not told apart"}
_HALF = 50.0


@dataclass(frozen=True)
class Standing:
    """A joined measure's mean errors in percent, AUC's in the same comparisons, and how many of these are undefined."""

    measure: JoinedMeasure
    noisy: Interval
    clean: Interval
    auc: Interval
    gap: Interval
    undefined: int
    comparisons: int

    @property
    def suspect(self) -> bool:
        """Whether it may be a loss taken the wrong way round."""
        return not self.measure.declared and (self.noisy.value > _HALF or self.clean.value > _HALF)


def standings(joined: Sequence[JoinedMeasure], noisy: Sequence[Outcome], clean: Sequence[Outcome]) -> list[Standing]:
    """Of each measure that joined; outcomes hold them behind the six."""
    return [_standing(measure, len(MEASURES) + number, noisy, clean) for number, measure in enumerate(joined)]


def _standing(measure: JoinedMeasure, at: int, noisy: Sequence[Outcome], clean: Sequence[Outcome]) -> Standing:
    own = [each.errors[:, at] for each in noisy]
    aucs = [np.where(np.isnan(each.errors[:, at]), np.nan, each.errors[:, place("auc")]) for each in noisy]
    everything = np.concatenate([each.errors[:, at] for each in (*noisy, *clean)])
    return Standing(
        measure,
        over_cells(own),
        over_cells([each.errors[:, at] for each in clean]),
        over_cells(aucs),
        over_cells([one - other for one, other in zip(own, aucs, strict=True)]),
        int(np.isnan(everything).sum()),
        len(everything),
    )


def joined_words(found: Sequence[Standing]) -> list[str]:
    """A paragraph of rules, then one for each measure; nothing where none joined."""
    return [_RULES, *(" ".join([_beside_auc(each), *_remarks(each)]) for each in found)] if found else []


def _beside_auc(each: Standing) -> str:
    name = each.measure.name
    if each.undefined == each.comparisons:
        return f"{name} is undefined in all {each.comparisons:,} comparisons: it has no error rate."
    if np.isnan(each.noisy.value):
        return f"{name} is nowhere defined in some cells with noise, so that it has no mean error over them all."
    told = f"{name}: its mean error over all cells with noise is {each.noisy.value:.2f} %, AUC's {each.auc.value:.2f} %"
    gap = f"the difference of paired repeats is {each.gap.told('{:+.2f}')} points"
    return f"{told}; {gap}, so that {_VERDICTS[each.gap.sign]}."


def _remarks(each: Standing) -> list[str]:
    told = []
    if 0 < each.undefined < each.comparisons:
        told.append(
            f"It is undefined in {each.undefined:,} of {each.comparisons:,} comparisons, those without noise among them."
        )
    if each.suspect:
        told.append(f"{_above_half(each)}: a loss joined without its sign turned looks like this.")
    return told


def _above_half(each: Standing) -> str:
    where = [
        f"{interval.value:.1f} % {words}"
        for interval, words in ((each.noisy, "with noise"), (each.clean, "without noise"))
        if interval.value > _HALF
    ]
    return f"It prefers the worse scores in more than half of the comparisons ({' and '.join(where)})"


def warn_of(found: Sequence[Standing]) -> None:
    """Of undefined comparisons, and of measures that may be losses."""
    for each in found:
        name = each.measure.name
        if each.undefined:
            told = f"{name} is undefined in {each.undefined:,} of {each.comparisons:,} comparisons: they count in no rate"
            warnings.warn(told, UndefinedMeasureWarning, stacklevel=3)
        if each.suspect:
            told = f"{name}: {_above_half(each).lower()}: higher must be better, so turn the sign of a loss"
            warnings.warn(told, SuspectInputWarning, stacklevel=3)
