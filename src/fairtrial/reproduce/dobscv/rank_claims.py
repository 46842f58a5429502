"""What the paper states of Wilcoxon's tests, judged over runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.reproduce.dobscv.effects import told_of
from fairtrial.reproduce.dobscv.table5 import comparison_of
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV
from fairtrial.reproduce.interval import all_above, mean_interval
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Claim

if TYPE_CHECKING:
    import pandas as pd

_LEVEL = 0.05
_LIMIT = 1.959964  # of z at this level


def rank_claims(tests: pd.DataFrame) -> list[Claim]:
    """Significance and rank sums of DOB-SCV as printed against the stratified folds that ran."""
    own = {base: tests[tests["comparison"] == comparison_of(LITERAL, base)] for base in (GIVEN, SCV)}
    own = {base: lines for base, lines in own.items() if len(lines)}
    return [_significant(own), _rank_sums(own)]


def _significant(own: dict[str, pd.DataFrame]) -> Claim:
    """Each run is tested by itself, as the paper's one run was; the mean of z over runs is held against its limit."""
    scores = {
        base: {str(learner): mean_interval(normal_scores(each)) for learner, each in lines.groupby("learner", sort=False)}
        for base, lines in own.items()
    }
    told = "; ".join(f"against {base}: {told_of(each, '{:.2f}')}" for base, each in scores.items())
    verdict = all_above(each.less(_LIMIT) for found in scores.values() for each in found.values())
    theirs = published("dobscv_table5_wilcoxon").set_index("learner")["p_value"]
    printed = ", ".join(f"{learner} {value:.4f}" for learner, value in theirs[theirs >= _LEVEL].items())
    evidence = (
        f"z of Wilcoxon's test of single runs, mean and interval over runs, {_LIMIT:.2f} being significant, {told}; the paper "
        f"itself prints p above .05: {printed}"
    )
    return Claim("The differences are significant for all five learners, DOB-SCV being higher", verdict, evidence)


def normal_scores(lines: pd.DataFrame) -> FloatArray:
    """z of each test, above 0 where DOB-SCV has the greater rank sum.

    >>> import pandas as pd
    >>> normal_scores(pd.DataFrame({"R+": [9.0, 1.0], "R-": [1.0, 9.0], "p": [0.05, 0.05]})).round(2).tolist()
    [1.96, -1.96]
    """
    from scipy.stats import norm

    return np.asarray(norm.isf(lines["p"] / 2) * np.sign(lines["R+"] - lines["R-"]))


def _rank_sums(own: dict[str, pd.DataFrame]) -> Claim:
    effects = {
        base: {str(learner): mean_interval(each["R+"] - each["R-"]) for learner, each in lines.groupby("learner", sort=False)}
        for base, lines in own.items()
    }
    told = "; ".join(f"against {base}: {told_of(each, '{:+.0f}')}" for base, each in effects.items())
    verdict = all_above(each for found in effects.values() for each in found.values())
    return Claim("The rank sums of DOB-SCV are the higher ones", verdict, f"R+ less R-, interval over runs, {told}")
