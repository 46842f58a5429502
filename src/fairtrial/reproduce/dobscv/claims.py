"""What the paper states of Tables 3 to 5, each judged by numbers of ours."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.cells import HIGH, LOW, base_of, differences, in_groups
from fairtrial.reproduce.dobscv.table5 import comparison_of
from fairtrial.reproduce.dobscv.trials import LITERAL, SCV
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_TOP = 5
_ENOUGH = 6  # data sets


def claims_of(cells: pd.DataFrame, tests: pd.DataFrame) -> list[Claim]:
    """All statements about the tables, in the paper's order; with a handful of sets all are open."""
    mean = _mean_differences(cells)
    found = [
        _most_sets(mean),
        _averages(mean, cells),
        _more_with_imbalance(cells),
        _spread_with_imbalance(cells),
        _less_spread(cells),
        *_named_sets(mean),
        _gains_and_losses(mean),
        _different_sets(mean),
        _significant(cells, tests),
        _rank_sums(cells, tests),
    ]
    return found if len(mean) >= _ENOUGH else [replace(each, holds=None) for each in found]


def _mean_differences(cells: pd.DataFrame) -> Any:
    """Sets by learners: DOB-SCV as printed less SCV, mean over runs."""
    lines = differences(cells)
    return lines.pivot_table(index="dataset", columns="learner", values="value", sort=False)


def _most_sets(mean: Any) -> Claim:
    higher = {str(learner): (int((own > 0).sum()), int(own.notna().sum())) for learner, own in mean.items()}
    told = ", ".join(f"{learner} {above} of {sets}" for learner, (above, sets) in higher.items())
    holds = all(2 * above > sets for above, sets in higher.values())
    return Claim("With all five learners DOB-SCV estimates higher than SCV on most sets", holds, f"higher: {told}")


def _averages(mean: Any, cells: pd.DataFrame) -> Claim:
    """Against the paper's folds, which are one draw, and where they ran also against stratified folds of our own."""
    text = "The average estimate of every learner is higher under DOB-SCV"
    average, told = [mean.mean()], f"mean difference: {_told(mean.mean(), '+.4f')}"
    if base_of(cells) != SCV and (cells["scheme"] == SCV).any():
        average.append(differences(cells, LITERAL, SCV).groupby("learner", sort=False)["value"].mean())
        told += f"; against stratified folds of our own: {_told(average[1], '+.4f')}"
    return Claim(text, all(bool((each > 0).all()) for each in average), told)


def _more_with_imbalance(cells: pd.DataFrame) -> Claim:
    text = "The higher the imbalance, the greater the difference between SCV and DOB-SCV"
    mean = differences(cells).groupby(["learner", "dataset"], sort=False)[["value", "imbalance"]].mean().reset_index()
    ranks = {}
    for learner, own in mean.groupby("learner", sort=False):
        both = (own["value"], own["value"].abs())
        ranks[learner] = sum((_correlation(own["imbalance"], each) for each in both), ())
    told = ", ".join(f"{learner} {each[0]:+.2f} and {each[2]:+.2f}" for learner, each in ranks.items())
    held = [each[0] > 0 and each[1] < 0.05 for each in ranks.values()]
    size = [each[2] > 0 and each[3] < 0.05 for each in ranks.values()]
    evidence = (
        f"rank correlation of the imbalance with the difference and with its size: {told}; significantly positive for "
        f"{sum(held)} and {sum(size)} of {len(held)} learners"
    )
    return Claim(text, all(held), evidence)


def _correlation(first: Any, second: Any) -> tuple[float, ...]:
    """Spearman's rank correlation and its p; 0 and 1 where one side is constant."""
    from scipy.stats import spearmanr

    if min(first.nunique(), second.nunique()) < 2:
        return 0.0, 1.0
    found = spearmanr(first, second)
    return float(found.statistic), float(found.pvalue)


def _spread(cells: pd.DataFrame) -> Any:
    return in_groups(cells).groupby(["scheme", "group", "learner"], sort=False)["sd"].mean()


def _spread_with_imbalance(cells: pd.DataFrame) -> Claim:
    text = "The standard deviation over folds is much higher where the imbalance is high"
    sd = _spread(cells)
    groups = set(sd.index.get_level_values("group"))
    if not {LOW, HIGH} <= groups:
        return Claim(text, None, "only one group of imbalance ran")
    ratio = {scheme: sd[scheme][HIGH] / sd[scheme][LOW] for scheme in (base_of(cells), LITERAL)}
    told = "; ".join(f"{scheme} {_told(each, '.2f')}" for scheme, each in ratio.items())
    return Claim(text, all(bool((each > 1).all()) for each in ratio.values()), f"ratio of IR>9 to IR<9: {told}")


def _less_spread(cells: pd.DataFrame) -> Claim:
    sd = _spread(cells)
    change = sd[LITERAL]["all"] - sd[base_of(cells)]["all"]
    text = "DOB-SCV has lower standard deviations over folds than SCV"
    return Claim(text, bool((change < 0).all()), f"mean change: {_told(change, '+.4f')}")


def _named_sets(mean: Any) -> list[Claim]:
    found = []
    for names, sign, word in ((("Abalone19", "Glass2"), 1, "higher"), (("Ecoli2", "Yeast2vs8"), -1, "lower")):
        text = f"On {' and '.join(names)} DOB-SCV is {word} than SCV with all learners"
        own = mean[mean.index.isin(names)]
        told = "; ".join(f"{name} {_told(line, '+.3f')}" for name, line in own.iterrows())
        holds = bool((sign * own > 0).all(axis=None)) if len(own) == len(names) else None
        found.append(Claim(text, holds, told or "not among the sets of this run"))
    return found


def _gains_and_losses(mean: Any) -> Claim:
    text = "Sets where DOB-SCV is higher with all learners outnumber those where it is lower, and gains are greater than losses"
    up, down = int((mean > 0).all(axis=1).sum()), int((mean < 0).all(axis=1).sum())
    values = mean.to_numpy().ravel()
    gain, loss = (float(np.mean(each)) if len(each) else 0.0 for each in (values[values > 0], -values[values < 0]))
    return Claim(text, up > down and gain > loss, f"{up} against {down} sets; mean gain {gain:.4f}, mean loss {loss:.4f}")


def _different_sets(mean: Any) -> Claim:
    text = f"The {_TOP} sets with the largest differences are completely different from learner to learner"
    top = {learner: set(own.abs().nlargest(_TOP).index) for learner, own in mean.items()}
    shared = [len(first & second) for first, second in combinations(top.values(), 2)]
    chance = _TOP**2 / len(mean)
    evidence = f"two learners share {np.mean(shared):.1f} of their {_TOP} on average, by chance it would be {chance:.1f}"
    return Claim(text, max(shared) == 0 if len(mean) > 2 * _TOP else None, evidence)


def _own(cells: pd.DataFrame, tests: pd.DataFrame) -> Any:
    return tests[tests["comparison"] == comparison_of(LITERAL, base_of(cells))]


def _significant(cells: pd.DataFrame, tests: pd.DataFrame) -> Claim:
    text = "The differences are significant for all five learners"
    chances = _own(cells, tests).groupby("learner", sort=False)["p"]
    below = chances.agg(lambda p: int((p < 0.05).sum()))
    told = ", ".join(f"{learner} {middle:.3f} ({below[learner]})" for learner, middle in chances.median().items())
    theirs = published("dobscv_table5_wilcoxon").set_index("learner")["p_value"]
    printed = ", ".join(f"{learner} {value:.4f}" for learner, value in theirs[theirs >= 0.05].items())
    evidence = f"median p over runs (runs below .05): {told}; the paper itself prints above .05: {printed}"
    return Claim(text, bool((chances.median() < 0.05).all()), evidence)


def _rank_sums(cells: pd.DataFrame, tests: pd.DataFrame) -> Claim:
    sums = _own(cells, tests).groupby("learner", sort=False)[["R+", "R-"]].mean()
    told = ", ".join(f"{learner} {line['R+']:.0f} to {line['R-']:.0f}" for learner, line in sums.iterrows())
    return Claim("The rank sums of DOB-SCV are the higher ones", bool((sums["R+"] > sums["R-"]).all()), told)


def _told(values: Any, form: str) -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())
