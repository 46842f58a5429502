"""Whether Liver and Transfusion are the hardest of the sets: by their errors, and by the AUC of naive Bayes without noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fairtrial.reproduce.interval import Interval, all_hold, mean_interval
from fairtrial.reproduce.ranking.cells import Outcome
from fairtrial.reproduce.ranking.error_intervals import difference_limits, shared_level
from fairtrial.reproduce.ranking.measure_words import MEASURES, named, place
from fairtrial.reproduce.ranking.real_tables import table1
from fairtrial.reproduce.reproduction import Claim

HARD = ("Liver", "Transfusion")


def hardest(noisy: Sequence[Outcome]) -> Claim:
    """On both sets the measures must err more, on average, than on any other set, in each experiment; and each by itself."""
    text = (
        "The errors on Liver and Transfusion are the highest in all four experiments (judged as: the mean of the six measures)"
    )
    if not _enough(noisy):
        return Claim(text, None, "the sets are not there")
    verdicts = {measure: _highest(noisy, measure) for measure in MEASURES}
    told = [
        f"{words} {named(tuple(each for each in MEASURES if verdicts[each] is verdict))}"
        for verdict, words in ((True, "so for"), (False, "not for"), (None, "open for"))
        if verdict in verdicts.values()
    ]
    printed = printed_hardest()
    own = f"so for {named(printed)}{' alone' if len(printed) == 1 else ''}" if printed else "so for no measure"
    pairs = _pairs(noisy)
    gaps = [_more_on_average(*pair, shared_level(len(pairs))) for pair in pairs]
    nearest = min(gaps, key=lambda gap: gap.value)
    least = f"the nearest of the others errs less by {nearest.told('{:.2f}')} points"
    single = f"of the measures by themselves {', '.join(told)}; in the paper's own table {own}"
    return Claim(text, all_hold(gap.above for gap in gaps), f"{least}; {single}")


def _enough(outcomes: Sequence[Outcome]) -> bool:
    """Both sets and another one, in the same experiments."""
    by_set: dict[str, set[int]] = {}
    for each in outcomes:
        by_set.setdefault(each.dataset, set()).add(each.experiment)
    return set(HARD) < set(by_set) and len({frozenset(each) for each in by_set.values()}) == 1


def _pairs(noisy: Sequence[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """One of both sets and another set in the same experiment."""
    return [
        (hard, other)
        for hard in noisy
        for other in noisy
        if hard.experiment == other.experiment and hard.dataset in HARD and other.dataset not in HARD
    ]


def _more_on_average(first: Outcome, second: Outcome, level: float) -> Interval:
    """The difference of the mean errors over the six measures, in points; repeats are independent."""
    one, other = (mean_interval(100 * each.errors[:, : len(MEASURES)].mean(axis=1), level) for each in (first, second))
    half = math.hypot((one.high - one.low) / 2, (other.high - other.low) / 2)
    value = one.value - other.value
    return Interval(value, value - half, value + half)


def _highest(noisy: Sequence[Outcome], measure: str) -> bool | None:
    pairs = _pairs(noisy)
    level = shared_level(len(pairs) * len(MEASURES))
    return all_hold(_more_errors(hard, other, place(measure), level).above for hard, other in pairs)


def _more_errors(first: Outcome, second: Outcome, at: int, level: float) -> Interval:
    """Two cells have repeats of their own, so that their rates are independent."""
    one, other = 100 * float(first.rates[at]), 100 * float(second.rates[at])
    return Interval(one - other, *difference_limits(one, other, len(first.errors), len(second.errors), level))


def printed_hardest() -> tuple[str, ...]:
    """The measures of which the statement is true in the paper's own table.

    >>> printed_hardest()
    ('sauc',)
    """
    lines = table1()
    hard = lines["dataset"].isin(HARD)
    keys = ["measure", "experiment"]
    above = lines[hard].groupby(keys)["value"].min() > lines[~hard].groupby(keys)["value"].max()
    held = above.groupby("measure").all()
    return tuple(each for each in MEASURES if held[each])


def lowest_auc(clean: Sequence[Outcome]) -> Claim:
    """Each of both sets below each of the others; intervals are those of the mean over repeated cross-validation."""
    text = "Without noise naive Bayes has its lowest AUC on Liver and Transfusion"
    if not _enough(clean):
        return Claim(text, None, "the sets are not there")
    values = {each.dataset: each for each in clean}
    lowest = sorted(values, key=lambda name: _auc(values[name]))[:3]
    pairs = [(values[hard], other) for hard in HARD for name, other in values.items() if name not in HARD]
    level = shared_level(len(pairs))
    gaps = [_less_auc(*pair, level) for pair in pairs]
    told = ", ".join(f"{name} {_auc(values[name]):.3f}" for name in lowest)
    nearest = min(gaps, key=lambda gap: gap.value).told("{:+.3f}")
    told = f"the lowest three: {told}; the AUC of the nearest other set is higher by {nearest}"
    return Claim(text, all_hold(gap.above for gap in gaps), told)


def _auc(outcome: Outcome) -> float:
    return float(outcome.values[place("auc")])


def _less_auc(first: Outcome, second: Outcome, level: float) -> Interval:
    from scipy.stats import t

    value, least = _auc(second) - _auc(first), min(len(first.errors), len(second.errors))
    if least < 2:
        return Interval(value, math.nan, math.nan)
    error = math.hypot(*(each.deviations[place("auc")] / math.sqrt(len(each.errors)) for each in (first, second)))
    half = float(t.ppf((1 + level) / 2, least - 1)) * error
    return Interval(value, value - half, value + half)
