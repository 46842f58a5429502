"""What the paper states of its Table 1, judged by the error rates found here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS, place
from fairtrial.reproduce.reproduction import Claim

_HARD = ("Liver", "Transfusion")
_NORMAL_95 = 1.959963984540054


def real_claims(noisy: Sequence[Outcome], clean: Sequence[Outcome]) -> tuple[Claim, ...]:
    """Each statement with its number; `clean` are the cells without noise."""
    return (
        _sauc_on_hard_sets(noisy),
        _hardest(noisy),
        _easiest(noisy),
        _lowest_auc(clean),
        _whole_or_training(noisy, 1, 2, "classes"),
        _whole_or_training(noisy, 3, 4, "attributes"),
        _correlated(noisy),
        _times(noisy, "Spect", "h_measure", "auc", 3, "the error of H is more than three times that of AUC"),
        _times(noisy, "House", "auc", "h_measure", 7, "the error of AUC is seven times that of H"),
        *(_ordered(noisy, (1, 2), [each], ["h_measure"], _LABEL_NOISE.format(WORDS[each])) for each in ("auc", "taks")),
        _ordered(noisy, (1, 2, 3, 4), ["auc"], ["h_measure", "auch", "sauc", "ks"], _MOST_ROBUST),
        _ordered(noisy, (1, 2, 3, 4), ["taks"], ["h_measure", "auch", "sauc", "ks"], _NOVEL),
    )


_LABEL_NOISE = "With noise in classes, H has on average slightly higher errors than {}"
_MOST_ROBUST = "Of the usual measures AUC is the most robust (mean error over all cells)"
_NOVEL = "taKS is remarkably robust (judged as: its mean error is below those of H, AUCH, sAUC and KS)"


def _of(outcomes: Sequence[Outcome], datasets: Sequence[str]) -> list[Outcome]:
    return [each for each in outcomes if each.dataset in datasets]


def _rate(outcome: Outcome, measure: str) -> float:
    return 100 * float(outcome.rates[place(measure)])


def _sauc_on_hard_sets(noisy: Sequence[Outcome]) -> Claim:
    text = "On Liver and Transfusion the errors of sAUC are remarkably high in all four experiments (64.8 to 78.3 %)"
    rates = [_rate(each, "sauc") for each in _of(noisy, _HARD)]
    if not rates:
        return Claim(text, None, "neither set is there")
    return Claim(text, min(rates) > 50, f"{min(rates):.1f} to {max(rates):.1f} % (judged against 50)")


def _hardest(noisy: Sequence[Outcome]) -> Claim:
    text = "The errors on Liver and Transfusion are the highest in all four experiments"
    if {each.dataset for each in _of(noisy, _HARD)} != set(_HARD) or len({each.dataset for each in noisy}) < 3:
        return Claim(text, None, "the sets are not there")
    held = [measure for measure in MEASURES if _highest_on(noisy, measure, _HARD)]
    which = ", ".join(WORDS[each] for each in held) or "no measure"
    return Claim(text, len(held) == len(MEASURES), f"so for {which}; in the paper's own table so for sAUC alone")


def _highest_on(noisy: Sequence[Outcome], measure: str, sets: Sequence[str]) -> bool:
    for experiment in {each.experiment for each in noisy}:
        own = [each for each in noisy if each.experiment == experiment]
        others = [_rate(each, measure) for each in own if each.dataset not in sets]
        if min(_rate(each, measure) for each in _of(own, sets)) <= max(others):
            return False
    return True


def _easiest(noisy: Sequence[Outcome]) -> Claim:
    text = "On Credit errors are virtually negligible"
    rates = [100 * float(each.rates[: len(MEASURES)].max()) for each in _of(noisy, ["Credit"])]
    return Claim(text, max(rates) < 1, f"at most {max(rates):.2f} % (judged against 1)") if rates else _absent(text)


def _absent(text: str) -> Claim:
    return Claim(text, None, "the set is not there")


def _lowest_auc(clean: Sequence[Outcome]) -> Claim:
    text = "Without noise naive Bayes has its lowest AUC on Liver and Transfusion"
    values = {each.dataset: float(each.values[place("auc")]) for each in clean}
    if len(values) < 3 or not set(_HARD) <= set(values):
        return Claim(text, None, "the sets are not there")
    lowest = sorted(values, key=lambda name: values[name])[:3]
    told = ", ".join(f"{name} {values[name]:.3f}" for name in lowest)
    return Claim(text, set(lowest[:2]) == set(_HARD), f"the lowest three: {told}")


def _whole_or_training(noisy: Sequence[Outcome], whole: int, training: int, what: str) -> Claim:
    text = f"Errors are, overall, higher when noise goes into the {what} of the whole data set than of training sets only"
    parts = {number: [each for each in noisy if each.experiment == number] for number in (whole, training)}
    means = {number: 100 * np.mean([each.rates[: len(MEASURES)] for each in own], axis=0) for number, own in parts.items()}
    value = float(means[whole].mean() - means[training].mean())
    variances = [each.errors.mean(axis=1).var() / len(each.errors) for own in parts.values() for each in own]
    half = 100 * _NORMAL_95 * math.sqrt(sum(variances)) / len(parts[whole])
    higher = [name for name, one, other in zip(WORDS.values(), means[whole], means[training], strict=True) if one > other]
    told = (
        f"mean over measures and sets {means[whole].mean():.2f} against {means[training].mean():.2f} %, {_points(value, half)}"
    )
    return Claim(text, _beyond_zero(value, half), f"{told}; higher for {', '.join(higher) or 'no measure'}")


def _beyond_zero(value: float, half: float) -> bool | None:
    """True where the interval lies above 0, False where it lies below, None where it holds 0."""
    return True if value - half > 0 else False if value + half < 0 else None


def _points(value: float, half: float) -> str:
    return f"{value:+.2f} points ({value - half:+.2f} to {value + half:+.2f})"


def _correlated(noisy: Sequence[Outcome]) -> Claim:
    text = "The errors of the measures are, overall, positively correlated"
    rates = np.array([each.rates[: len(MEASURES)] for each in noisy])
    varied = [place for place in range(len(MEASURES)) if np.ptp(rates[:, place]) > 0]
    if len(varied) < 2 or len(rates) < 3:
        return Claim(text, None, "too few errors")
    from scipy.stats import rankdata

    ranks = np.apply_along_axis(rankdata, 0, rates[:, varied])
    found = np.corrcoef(ranks.T)
    pairs = {pair: float(found[pair]) for pair in combinations(range(len(varied)), 2)}
    one, other = min(pairs, key=lambda pair: pairs[pair])
    names = [WORDS[MEASURES[place]] for place in varied]
    told = f"the smallest rank correlation over the cells is {pairs[one, other]:.2f} ({names[one]} and {names[other]})"
    return Claim(text, all(value > 0 for value in pairs.values()), told)


def _times(noisy: Sequence[Outcome], dataset: str, first: str, second: str, factor: float, words: str) -> Claim:
    text = f"In experiment #2 on {dataset} {words}"
    own = [each for each in _of(noisy, [dataset]) if each.experiment == 2]
    if not own:
        return _absent(text)
    one, other = _rate(own[0], first), _rate(own[0], second)
    told = f"{WORDS[first]} {one:.2f} %, {WORDS[second]} {other:.2f} %"
    if one == 0:
        return Claim(text, False, told)
    beyond = own[0].errors[:, place(first)] - factor * own[0].errors[:, place(second)]
    value, half = 100 * float(beyond.mean()), 100 * _NORMAL_95 * math.sqrt(beyond.var() / len(beyond))
    return Claim(text, _beyond_zero(value, half), f"{told}; the first less {factor:g} times the second {_points(value, half)}")


def _ordered(
    noisy: Sequence[Outcome], experiments: Sequence[int], lower: Sequence[str], higher: Sequence[str], text: str
) -> Claim:
    """By paired 95 % intervals over repeats of the mean difference over cells."""
    own = [each for each in noisy if each.experiment in experiments]
    gaps = {(one, other): _gap(own, one, other) for one in lower for other in higher}
    nearest = max(gaps, key=lambda pair: gaps[pair][0])
    verdicts = [_beyond_zero(-value, half) for value, half in gaps.values()]
    holds = False if False in verdicts else None if None in verdicts else True
    means = {each: np.mean([_rate(cell, each) for cell in own]) for each in (*lower, *higher)}
    told = ", ".join(f"{WORDS[each]} {value:.2f} %" for each, value in means.items())
    return Claim(text, holds, f"{told}; {WORDS[nearest[0]]} less {WORDS[nearest[1]]} {_points(*gaps[nearest])}")


def _gap(own: Sequence[Outcome], first: str, second: str) -> tuple[float, float]:
    """The mean difference over cells, in points, and half its interval."""
    differences = [each.errors[:, place(first)] - each.errors[:, place(second)] for each in own]
    value = float(np.mean([each.mean() for each in differences]))
    half = _NORMAL_95 * math.sqrt(sum(each.var() / len(each) for each in differences)) / len(own)
    return 100 * value, 100 * half
