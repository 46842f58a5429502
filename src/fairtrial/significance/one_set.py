"""Learners on repeats or folds of a single data set, which overlap: never counted as independent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.significance.adjust import adjust
from fairtrial.significance.bayes import correlated_t
from fairtrial.significance.bergmann import bergmann
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
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.posthoc import ALL_PAIRS, Comparison, PostHoc
from fairtrial.significance.resampled import SAME, corrected_resampled_t, five_by_two_f
from fairtrial.significance.scores import Design, Scores, counted
from fairtrial.significance.shaffer import shaffer
from fairtrial.significance.table import ScoreTable
from fairtrial.significance.verdict import Step, least, pairs_of


def splits_table(scores: Scores) -> ScoreTable:
    """The splits of one data set as rows, repeat after repeat."""
    order = _by_appearance(scores)
    many = scores.design
    names = []
    for row in order:
        _, repeat, fold = scores.splits[row]
        parts = [f"repeat {repeat}"] if many.repeats > 1 else []
        names.append(", ".join([*parts, f"fold {fold}"] if many.folds > 1 else parts))
    return ScoreTable(scores.cells[order], tuple(names), scores.learners)


def _by_appearance(scores: Scores) -> list[int]:
    first: dict[object, int] = {}
    for i, (_, repeat, _) in enumerate(scores.splits):
        first.setdefault(repeat, i)
    return sorted(range(len(scores.splits)), key=lambda i: first[scores.splits[i][1]])


def one_data_set(design: Design, table: ScoreTable, wishes: Wishes) -> Judged:
    """Repeats or folds of a single data set, planned by `design`: dependent, and treated so."""
    n, k = table.shape
    if n < 2:
        raise InputError(
            f"scores must have at least 2 splits of {design.datasets[0]!r} that all learners share, got {n}: "
            "fill the missing cells"
        )
    five_by_two = (design.repeats, design.folds, n) == (5, 2, 10) and wishes.test_fraction is None
    fraction = 0.5 if five_by_two else _fraction(design, wishes)
    name = "five_by_two_f" if five_by_two else "corrected_resampled_t"
    step = (WHICH_TEST, name, _reason(design, n, fraction, five_by_two))

    def test(i: int, j: int) -> Outcome:
        a, b = table.values[:, i], table.values[:, j]
        if five_by_two:
            return five_by_two_f(a.reshape(5, 2), b.reshape(5, 2))
        return corrected_resampled_t(a, b, test_fraction=fraction)

    if k == 2:
        outcome = test(0, 1)
        posterior, bayes = None, []
        if wishes.rope is not None:
            posterior = correlated_t(*table.values.T, test_fraction=fraction, rope=wishes.rope, better=wishes.better)
            told = "The Bayesian correlated t test stands beside it, a region of practical equivalence having been given."
            bayes = [(WHICH_ROPE, f"{wishes.rope:g}", told)]
        steps = (step, *unused_posthoc(wishes), *bayes)
        return Judged(name, outcome.p_value, outcome, steps, None, posterior, _notes(design, wishes))
    found, outcome, how = _pairwise(table, wishes, name, test)
    steps = (step, how, *unused_rope(wishes, k))
    return Judged(f"{name} + {found.method}", outcome.p_value, outcome, steps, found, notes=_notes(design, wishes))


def _fraction(design: Design, wishes: Wishes) -> float:
    if wishes.test_fraction is not None:
        _check.between("test_fraction", wishes.test_fraction, 0, 1)
        return wishes.test_fraction
    if design.folds < 2:
        raise InputError(
            "test_fraction must be given for repeats without folds, got None: pass the share of rows that each split tests on, "
            "such as 0.33 for a holdout of a third"
        )
    return 1 / design.folds


def _reason(design: Design, n: int, fraction: float, five_by_two: bool) -> str:
    dependent = "which share training rows and are not independent"
    if five_by_two:
        return (
            f"Five repeats of two folds of one data set, {dependent}: Alpaydin's F test is made for this design and does not "
            "depend on the order of the folds."
        )
    return (
        f"{counted(n, 'split')} of one data set, {dependent}: Nadeau and Bengio's corrected resampled t test "
        f"allows for it, each split testing on {fraction:.3g} of the rows"
        + (f" ({counted(design.folds, 'fold')})." if abs(fraction * design.folds - 1) < 1e-9 else ".")
    )


def _notes(design: Design, wishes: Wishes) -> tuple[str, ...]:
    notes = ["One data set was used: nothing is said about others."]
    if design.repeats == 1 and design.folds > 20 and wishes.test_fraction is None:
        notes.append(
            f"All {design.folds} splits are taken as folds of one cross-validation: if they are repeats numbered through, add "
            "a column 'repeat' or give test_fraction."
        )
    return tuple(notes)


def _pairwise(
    table: ScoreTable, wishes: Wishes, name: str, test: Callable[[int, int], Outcome]
) -> tuple[PostHoc, Outcome, Step]:
    """Each pair by the same test, p adjusted; the outcome is that of the pair with the smallest p, which judges whether any two
    differ."""
    method, reason = _method(wishes, len(table.learners))
    pairs = pairs_of(table.learners, wishes.control)
    outcomes = [test(i, j) for i, j in pairs]
    p_raw = np.array([each.p_value for each in outcomes])
    p_adjusted = np.where(np.isnan(p_raw), np.nan, _adjusted(method, np.nan_to_num(p_raw, nan=1.0), wishes.alpha))
    means = table.values.mean(axis=0)
    comparisons = tuple(
        Comparison(table.learners[i], table.learners[j], each.statistic, p, adjusted, float(means[i] - means[j]))
        for (i, j), each, p, adjusted in zip(pairs, outcomes, p_raw.tolist(), p_adjusted.tolist(), strict=True)
    )
    found = PostHoc(
        method, name, wishes.alpha, 1, table.learners, tuple(means.tolist()), comparisons, wishes.better, wishes.control
    )
    place = least(p_raw.tolist())
    return found, _of_pair(outcomes[place], comparisons[place], len(pairs), method), (HOW_PAIRS, method, reason)


def _of_pair(outcome: Outcome, pair: Comparison, pairs: int, method: str) -> Outcome:
    """The outcome of one pair of several, with its adjusted p; what it says of the learners is said of these two."""
    both = f"{pair.first} and {pair.second}"
    told = [f"on every split {both} score alike" if each == SAME else each for each in outcome.caveats]
    adjusted = "" if method == "none" else "; p is adjusted, the interval of the effect is not"
    told.append(f"statistic, p and effect are those of {both}, which have the smallest p of {counted(pairs, 'pair')}{adjusted}")
    return replace(outcome, p_value=pair.p_adjusted, caveats=tuple(told))


def _method(wishes: Wishes, k: int) -> tuple[str, str]:
    if wishes.posthoc in ("nemenyi", "tukey", "dunnett"):
        raise InputError(
            f"posthoc must adjust p values on a single data set, got {wishes.posthoc!r}, which needs several: use 'holm'"
        )
    if wishes.posthoc in ALL_PAIRS and wishes.control is not None:
        raise InputError(
            f"control must be None for {wishes.posthoc}, which compares all pairs, got {wishes.control!r}: use 'holm'"
        )
    if wishes.posthoc == "bonferroni-dunn" and wishes.control is None:
        raise InputError("control must be a learner for bonferroni-dunn, got None: name it, or use 'holm' for all pairs")
    return method_for(wishes, k, False)


def _adjusted(method: str, p: FloatArray, alpha: float) -> FloatArray:
    if method in ("bergmann", "shaffer"):
        return (bergmann if method == "bergmann" else shaffer)(p)
    return adjust(p, "bonferroni" if method == "bonferroni-dunn" else method, alpha=alpha)
