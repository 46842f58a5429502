"""Learners on several data sets: Wilcoxon's test for two, Friedman's and post-hoc comparisons for more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.significance.assumptions import Assumptions, check_differences
from fairtrial.significance.bayes import bayes_signed_rank
from fairtrial.significance.counts import sign_test
from fairtrial.significance.judging import (
    HOW_PAIRS,
    WHICH_ROPE,
    WHICH_TEST,
    Judged,
    Wishes,
    method_for,
    unused_posthoc,
    unused_rope,
)
from fairtrial.significance.omnibus import anova, iman_davenport
from fairtrial.significance.p_words import p_form, told_p
from fairtrial.significance.posthoc import Omnibus, posthoc
from fairtrial.significance.resampled import paired_t
from fairtrial.significance.scores import counted
from fairtrial.significance.table import ScoreTable, differences
from fairtrial.significance.verdict import Step
from fairtrial.significance.wilcoxon import wilcoxon

if TYPE_CHECKING:
    import pandas as pd

_SKEWED = 1.0
_PARAMETRIC = "Is a parametric test asked for, and does it fit?"


def many_data_sets(table: ScoreTable, wishes: Wishes) -> Judged:
    """A score for each learner on each of several data sets."""
    return (_two_learners if len(table.learners) == 2 else _many_learners)(table, wishes)


def _two_learners(table: ScoreTable, wishes: Wishes) -> Judged:
    a, b = table.values.T
    n = len(table.datasets)
    normal, step = _normal_step(table, wishes)
    parametric = wishes.parametric and normal.hold(wishes.alpha)
    notes = []
    if parametric:
        outcome = paired_t(a, b)
        outcome = replace(outcome, caveats=("data sets are taken as independent of each other",))
        reason = "The paired t test compares two learners on several data sets, as was asked."
    else:
        outcome = wilcoxon(a, b)
        reason = (
            f"Wilcoxon's signed-rank test compares 2 learners on {n} data sets: it needs no normality, and if the learners are "
            "equally good the differences are symmetric, which is all that it assumes."
        )
        notes += [_sign_note(a, b, wishes.alpha), _reach_note(outcome.n, wishes.alpha)]
    posterior, bayes = None, []
    if wishes.rope is not None:
        posterior = bayes_signed_rank(a, b, rope=wishes.rope, better=wishes.better)
        told = "The Bayesian signed-rank test stands beside it, a region of practical equivalence having been given."
        bayes = [(WHICH_ROPE, f"{wishes.rope:g}", told)]
    steps = (step, (WHICH_TEST, outcome.test, reason), *unused_posthoc(wishes), *bayes)
    return Judged(outcome.test, outcome.p_value, outcome, steps, None, posterior, tuple(note for note in notes if note))


def _sign_note(a: FloatArray, b: FloatArray, alpha: float) -> str:
    """What the sign test says, and whether the differences are so asymmetric that it matters."""
    found = sign_test(a, b)
    told = f"The sign test, which asks only who wins more often, gives {told_p(found.p_value, alpha, digits=3)}."
    skew = _skewness(differences(a, b))
    if abs(skew) <= _SKEWED:
        return told
    return (
        f"{told} The differences are strongly asymmetric (skewness {skew:.2g}), so that Wilcoxon's test need not speak of "
        "their median; the sign test does. It was not put in its place: a test chosen after a look at the data does not keep "
        "its level."
    )


def _skewness(d: FloatArray) -> float:
    centred = d - d.mean()
    spread = float((centred**2).mean())
    return float((centred**3).mean()) / spread**1.5 if np.ptp(d) > 0 else 0.0


def _reach_note(n: int, alpha: float) -> str:
    least = min(1.0, 2.0 ** (1 - n))
    if least <= alpha:
        return ""
    return (
        f"With {counted(n, 'data set')} on which the learners differ, the smallest p that this test can give is "
        f"{p_form([least], alpha, 3).format(least)}: no result could have reached alpha {alpha:.15g}. "
        "More data sets are needed."
    )


def _many_learners(table: ScoreTable, wishes: Wishes) -> Judged:
    n, k = table.shape
    normal, step = _normal_step(table, wishes)
    parametric = wishes.parametric and normal.hold(wishes.alpha)
    if parametric:
        name, found = "anova", anova(_frame(table))
        caveats = ("differences between learners are taken as normal", "data sets are taken as independent of each other")
        outcome = replace(found, p_value=found.details["p_corrected"], variant="Greenhouse & Geisser", caveats=caveats)
        reason = (
            f"Repeated-measures analysis of variance compares {k} learners on {n} data sets, as was asked; its p value is "
            "Greenhouse and Geisser's, which allows for unequal spread."
        )
    else:
        name, outcome = "friedman (iman_davenport)", iman_davenport(_frame(table), better=wishes.better)
        reason = (
            f"Friedman's test on ranks within data sets compares {k} learners on {n} data sets, in Iman and Davenport's form: "
            "the chi-squared form is too conservative."
        )
    method, how = method_for(wishes, k, parametric)
    omnibus: Omnibus = "anova" if parametric else "friedman"
    compared = posthoc(_frame(table), method, wishes.control, better=wishes.better, omnibus=omnibus, alpha=wishes.alpha)
    steps = (step, (WHICH_TEST, name, reason), (HOW_PAIRS, method, how), *unused_rope(wishes, k))
    return Judged(f"{name} + {method}", outcome.p_value, outcome, steps, compared, notes=_few_note(n))


def _few_note(n: int) -> tuple[str, ...]:
    if n >= 5:
        return ()
    return (f"{n} data sets are very few to speak of others: the p value rests on an approximation that needs more.",)


def _frame(table: ScoreTable) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(table.values, index=list(table.datasets), columns=list(table.learners))


def _normal_step(table: ScoreTable, wishes: Wishes) -> tuple[Assumptions, Step]:
    """Whether the differences look normal, told also where nobody asked for a parametric test."""
    found = check_differences(table.values)
    told = found.words(wishes.alpha)
    if not wishes.parametric:
        return found, (_PARAMETRIC, "not asked", f"Ranks are compared, a parametric test not being asked for. {told}")
    fits = found.hold(wishes.alpha)
    answer = "yes" if fits else "asked, but it does not fit"
    end = "That a check finds nothing does not prove it." if fits else "So ranks are compared instead."
    return found, (_PARAMETRIC, answer, f"A parametric test was asked for. {told} {end}")
