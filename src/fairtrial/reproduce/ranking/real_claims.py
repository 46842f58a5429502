"""What the paper states of its Table 1, judged by the error rates found here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairtrial.reproduce.interval import Interval, all_above, all_hold
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.error_intervals import exact, over_repeats, shared_level
from fairtrial.reproduce.ranking.hard_sets import HARD, hardest, lowest_auc
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS, place
from fairtrial.reproduce.ranking.rank_correlations import correlated
from fairtrial.reproduce.reproduction import Claim

_EXPERIMENTS = (1, 2, 3, 4)
_POINTS = "{:+.2f}"


def real_claims(noisy: Sequence[Outcome], clean: Sequence[Outcome]) -> tuple[Claim, ...]:
    """Each statement with its number; `clean` are the cells without noise."""
    return (
        _sauc_on_hard_sets(noisy),
        hardest(noisy),
        _easiest(noisy),
        lowest_auc(clean),
        _whole_or_training(noisy, 1, 2, "classes"),
        _whole_or_training(noisy, 3, 4, "attributes"),
        correlated(noisy),
        _times(noisy, "Spect", "h_measure", "auc", 3, "the error of H is more than three times that of AUC"),
        _times(noisy, "House", "auc", "h_measure", 7, "the error of AUC is seven times that of H (judged as: at least)"),
        *(_ordered(noisy, (1, 2), [each], ["h_measure"], _LABEL_NOISE.format(WORDS[each])) for each in ("auc", "taks")),
        _ordered(noisy, _EXPERIMENTS, ["auc"], ["h_measure", "auch", "sauc", "ks"], _MOST_ROBUST),
        _ordered(noisy, _EXPERIMENTS, ["taks"], ["h_measure", "auch", "sauc", "ks"], _NOVEL),
    )


_LABEL_NOISE = "With noise in classes, H has on average slightly higher errors than {} (judged as: higher at all)"
_HIGH = "(64.8 to 78.3 %; judged as: above 50 % in each)"
_MOST_ROBUST = "Of the usual measures AUC is the most robust (mean error over all cells)"
_NOVEL = "taKS is remarkably robust (judged as: its mean error is below those of H, AUCH, sAUC and KS)"


def _sauc_on_hard_sets(noisy: Sequence[Outcome]) -> Claim:
    text = f"On Liver and Transfusion the errors of sAUC are remarkably high in all four experiments {_HIGH}"
    own = _cells_of(noisy, HARD)
    if own is None:
        return Claim(text, None, "not both sets are there in all four experiments")
    rates = [_rate(each, "sauc", len(own)) for each in own]
    told = f"{min(each.value for each in rates):.1f} to {max(each.value for each in rates):.1f} %"
    limits = f"limits from {min(each.low for each in rates):.1f} to {max(each.high for each in rates):.1f} %"
    return Claim(text, all_hold(each.less(50).above for each in rates), f"{told}, {limits}")


def _cells_of(noisy: Sequence[Outcome], datasets: Sequence[str]) -> list[Outcome] | None:
    """The cells of these sets in all four experiments; None if one of them is missing."""
    own = [each for each in noisy if each.dataset in datasets]
    wanted = {(dataset, experiment) for dataset in datasets for experiment in _EXPERIMENTS}
    return own if {(each.dataset, each.experiment) for each in own} == wanted else None


def _rate(outcome: Outcome, measure: str, comparisons: int) -> Interval:
    return exact(float(outcome.rates[place(measure)]), len(outcome.errors), shared_level(comparisons))


def _easiest(noisy: Sequence[Outcome]) -> Claim:
    text = "On Credit errors are virtually negligible (judged as: below 1 % in each experiment)"
    own = _cells_of(noisy, ["Credit"])
    if own is None:
        return _absent(text)
    rates = [_rate(cell, measure, len(own) * len(MEASURES)) for cell in own for measure in MEASURES]
    worst = max(rates, key=lambda each: each.value)
    verdicts = [(-each).less(-1).above for each in rates]
    told = f"at most {worst.value:.2f} %, limits to {max(each.high for each in rates):.2f} %"
    return Claim(text, all_hold(verdicts), told)


def _absent(text: str) -> Claim:
    return Claim(text, None, "the set is not there")


def _whole_or_training(noisy: Sequence[Outcome], whole: int, training: int, what: str) -> Claim:
    text = f"Errors are, overall, higher when noise goes into the {what} of the whole data set than of training sets only"
    errors = {
        number: np.mean([each.errors[:, : len(MEASURES)] for each in noisy if each.experiment == number], axis=0)
        for number in (whole, training)
    }
    gap = over_repeats((errors[whole] - errors[training]).mean(axis=1))
    means = {number: 100 * each.mean(axis=0) for number, each in errors.items()}
    higher = [name for name, one, other in zip(WORDS.values(), means[whole], means[training], strict=True) if one > other]
    told = f"mean over measures and sets {means[whole].mean():.2f} against {means[training].mean():.2f} %, {_told(gap)}"
    return Claim(text, gap.above, f"{told}; higher for {', '.join(higher) or 'no measure'}")


def _told(gap: Interval) -> str:
    return f"in points {gap.told(_POINTS)}"


def _times(noisy: Sequence[Outcome], dataset: str, first: str, second: str, factor: float, words: str) -> Claim:
    text = f"In experiment #2 on {dataset} {words}"
    own = [each for each in noisy if each.dataset == dataset and each.experiment == 2]
    if not own:
        return _absent(text)
    one, other = (own[0].errors[:, place(each)] for each in (first, second))
    told = f"{WORDS[first]} {100 * one.mean():.2f} %, {WORDS[second]} {100 * other.mean():.2f} %"
    if not one.any() and not other.any():
        return Claim(text, None, f"{told}: without errors there is no ratio")
    beyond = over_repeats(one - factor * other)
    return Claim(text, beyond.above, f"{told}; the first less {factor:g} times the second {_told(beyond)}")


def _ordered(
    noisy: Sequence[Outcome], experiments: Sequence[int], lower: Sequence[str], higher: Sequence[str], text: str
) -> Claim:
    """By paired 95 % intervals over repeats of the mean difference over cells."""
    errors = np.mean([each.errors for each in noisy if each.experiment in experiments], axis=0)
    gaps = {(one, other): over_repeats(errors[:, place(other)] - errors[:, place(one)]) for one in lower for other in higher}
    nearest = min(gaps, key=lambda pair: gaps[pair].value)
    told = ", ".join(f"{WORDS[each]} {100 * errors[:, place(each)].mean():.2f} %" for each in (*lower, *higher))
    holds = all_above(gaps.values())
    return Claim(text, holds, f"{told}; {WORDS[nearest[1]]} less {WORDS[nearest[0]]} {_told(gaps[nearest])}")
