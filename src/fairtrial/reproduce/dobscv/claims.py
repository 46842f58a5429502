"""What the paper states of the differences between SCV and DOB-SCV, each judged by numbers of ours with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.cells import HIGH, LOW, base_of, differences
from fairtrial.reproduce.dobscv.effects import bases, mean_effects, set_differences, told_of
from fairtrial.reproduce.dobscv.overlaps import TOP, overlap_words
from fairtrial.reproduce.dobscv.rank_claims import rank_claims
from fairtrial.reproduce.dobscv.spread_claims import spread_claims
from fairtrial.reproduce.dobscv.target import target_claims
from fairtrial.reproduce.dobscv.trials import LITERAL
from fairtrial.reproduce.interval import Interval, all_above, all_hold, mean_interval
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_ENOUGH = 6  # data sets
_Judge = Callable[[Any], tuple[list[Interval], str]]  # numbers that are above 0 where the claim holds, and words


def claims_of(cells: pd.DataFrame, tests: pd.DataFrame) -> list[Claim]:
    """All statements about the tables, in the paper's order; with a handful of sets all are open.

    Each is judged against KEEL's folds, which are one draw, and where they ran also against stratified folds of our own.
    """
    found = [
        *target_claims(cells),
        _against("With all five learners DOB-SCV estimates higher than SCV on most sets", cells, _most_sets),
        _against("The average estimate of every learner is higher under DOB-SCV", cells, _averages),
        _more_with_imbalance(cells),
        *spread_claims(cells),
        *_named_sets(cells),
        _against("Sets where DOB-SCV is higher with all learners outnumber those where it is lower", cells, _outnumber),
        _against(
            "Where DOB-SCV is higher, the gains are greater than the losses elsewhere "
            "(judged as: at all, over all sets and learners)",
            cells,
            _gains_and_losses,
        ),
        _overlaps(cells),
        *rank_claims(tests),
    ]
    return found if cells["dataset"].nunique() >= _ENOUGH else [replace(each, holds=None) for each in found]


def _against(text: str, cells: pd.DataFrame, judge: _Judge) -> Claim:
    """A claim judged on the differences from all stratified folds that ran; it holds where it does against each."""
    found = [judge(set_differences(cells, LITERAL, base)) for base in bases(cells)]
    told = _told(cells, (words for _, words in found))
    return Claim(text, all_above(number for numbers, _ in found for number in numbers), told)


def _told(cells: pd.DataFrame, words: Iterable[str]) -> str:
    return "; ".join(f"against {base}: {each}" for base, each in zip(bases(cells), words, strict=True))


def _overlaps(cells: pd.DataFrame) -> Claim:
    text = f"The {TOP} sets with the largest differences are completely different from learner to learner"
    found = [overlap_words(set_differences(cells, LITERAL, base)) for base in bases(cells)]
    return Claim(text, all_hold(verdict for verdict, _ in found), _told(cells, (words for _, words in found)))


def _most_sets(frame: Any) -> tuple[list[Interval], str]:
    """The share of sets with a higher estimate against one half."""
    counts = {str(learner): (int((own > 0).sum()), int(own.notna().sum())) for learner, own in frame.items()}
    shares = {learner: share_of(*each) for learner, each in counts.items()}
    told = ", ".join(
        f"{learner} {above} of {sets} ({shares[learner].low:.0%} to {shares[learner].high:.0%})"
        for learner, (above, sets) in counts.items()
    )
    return [each.less(0.5) for each in shares.values()], told


def share_of(part: int, whole: int) -> Interval:
    """A share with Clopper and Pearson's interval at 95 %; unknown where there is nothing to share.

    >>> share_of(7, 10).told("{:.4f}")
    '0.7000 (0.3475 to 0.9333)'
    """
    from scipy.stats import binomtest

    if not whole:
        return Interval(float("nan"), float("nan"), float("nan"))
    ends = binomtest(part, whole).proportion_ci(method="exact")
    return Interval(part / whole, float(ends.low), float(ends.high))


def _averages(frame: Any) -> tuple[list[Interval], str]:
    effects = mean_effects(frame)
    return list(effects.values()), told_of(effects)


def _more_with_imbalance(cells: pd.DataFrame) -> Claim:
    text = "The higher the imbalance, the greater the difference between SCV and DOB-SCV"
    imbalance = cells.drop_duplicates("dataset").set_index("dataset")["imbalance"]

    def judged(frame: Any) -> tuple[list[Interval], str]:
        own = {str(name): each.dropna() for name, each in frame.items()}
        signed = {name: rank_correlation(imbalance.reindex(each.index), each) for name, each in own.items()}
        sizes = [rank_correlation(imbalance.reindex(each.index), each.abs()).above for each in own.values()]
        told = f"{told_of(signed, '{:+.2f}')} (with its size: positive for {sizes.count(True)} of {len(sizes)} learners)"
        return list(signed.values()), told

    found = _against(text, cells, judged)
    return replace(
        found, evidence=f"rank correlation of the imbalance with the difference, {found.evidence}; {printed_words()}"
    )


def printed_words() -> str:
    """For which learners the paper's own Table 3 says the contrary: less difference in the group of higher imbalance."""
    table = published("dobscv_table3").pivot_table(index="learner", columns="group", values="pct_diff", sort=False)
    contrary = table[table[HIGH] <= table[LOW]]
    told = ", ".join(f"{learner} {line[LOW]:.2f} % and {line[HIGH]:.2f} %" for learner, line in contrary.iterrows())
    return (
        f"the paper's own Table 3 prints smaller differences for IR>9 than for IR<9 with {told}" if told else "Table 3 agrees"
    )


def rank_correlation(first: Any, second: Any) -> Interval:
    """Spearman's rank correlation with an interval by Fisher's z (variance of Bonett and Wright); unknown with few values.

    >>> rank_correlation(np.arange(10.0), np.array([2, 1, 4, 3, 6, 5, 8, 7, 10, 9])).told("{:.3f}")
    '0.939 (0.688 to 0.990)'
    """
    from scipy.stats import spearmanr

    if len(first) < 4 or min(len(np.unique(each)) for each in (first, second)) < 2:
        return Interval(0.0, float("nan"), float("nan"))
    value = float(spearmanr(first, second).statistic)
    middle = np.arctanh(np.clip(value, -1 + 1e-12, 1 - 1e-12))
    half = 1.959964 * np.sqrt((1 + value**2 / 2) / (len(first) - 3))
    return Interval(value, float(np.tanh(middle - half)), float(np.tanh(middle + half)))


def _named_sets(cells: pd.DataFrame) -> list[Claim]:
    """Single sets: the interval is that over runs."""
    lines = differences(cells)
    found = []
    for names, sign, word in ((("Abalone19", "Glass2"), 1, "higher"), (("Ecoli2", "Yeast2vs8"), -1, "lower")):
        text = f"On {' and '.join(names)} DOB-SCV is {word} than SCV with all learners"
        effects = {
            f"{name} {learner}": mean_interval(own["value"])
            for (name, learner), own in lines[lines["dataset"].isin(names)].groupby(["dataset", "learner"], sort=False)
        }
        verdict = all_above(each if sign > 0 else -each for each in effects.values())
        whole = set(names) <= set(lines["dataset"])
        told = f"against {base_of(cells)}, interval over runs: {told_of(effects, '{:+.3f}')}"
        found.append(Claim(text, verdict if whole else None, told if effects else "not among the sets of this run"))
    return found


def _outnumber(frame: Any) -> tuple[list[Interval], str]:
    up, down = int((frame > 0).all(axis=1).sum()), int((frame < 0).all(axis=1).sum())
    share = share_of(up, up + down)
    return [share.less(0.5)], f"{up} and {down} sets, a share of {share.told('{:.2f}')}"


def _gains_and_losses(frame: Any) -> tuple[list[Interval], str]:
    """Mean gain less mean loss over cells; learners on one set are not independent, so the interval is that over sets."""
    values = frame.fillna(0.0).to_numpy()
    gain, gains = _ratio(np.maximum(values, 0), values > 0)
    loss, losses = _ratio(np.maximum(-values, 0), values < 0)
    effect = mean_interval(gain - loss + gains - losses)
    return [effect], f"mean gain {gain:.4f}, mean loss {loss:.4f}, gain less loss {effect.told()}"


def _ratio(values: Any, counted: Any) -> tuple[float, Any]:
    """The mean of the counted cells, and how each set moves it (linearised, mean 0)."""
    sums, counts = values.sum(axis=1), counted.sum(axis=1)
    if not counts.sum():
        return 0.0, np.zeros(len(sums))
    mean = float(sums.sum() / counts.sum())
    return mean, (sums - mean * counts) / counts.mean()
