"""Cross-validated naive Bayes under noise, and the same scores with some replaced by chance: six measures of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.bayes_counts import Columns, positive_shares
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.draws import State, below, choose, start, uniform
from fairtrial.kernels.ranking_pass import Classes, room_for, six_measures

NONE, LABELS, TRAINING_LABELS, ATTRIBUTES, TRAINING_ATTRIBUTES = 0, 1, 2, 3, 4
"""Where noise goes: nowhere; into classes of all rows or of training rows; into attributes of all rows or of training rows."""


class Plan(NamedTuple):
    """How a repeat is done.

    `share` of the rows, values and scores are drawn, rounded to the nearest number (halves to the even one) or, with `cut`,
    down. `style` is naive Bayes's, as in `bayes_counts`.
    """

    experiment: int
    share: float
    folds: int
    style: int
    stratified: bool
    cut: bool
    severity_ratio: float


@kernel
def noisy_folds(
    codes: IntArray,
    classes: Classes,
    columns: Columns,
    plan: Plan,
    seed: np.uint64,
    first: int,
    means: FloatArray,
    truths: Classes,
    scores: FloatArray,
) -> None:
    """For each repeat r: the means over folds of six measures, means[r, 0] of naive Bayes and means[r, 1] with scores replaced.

    A fold in which a measure is undefined is left out of its means. truths[r] and scores[r, 0 or 1] get the classes and scores
    of the test parts, fold after fold: part f has the places f, f + folds, ... of all rows in random order (stratified: those
    of class 0 before those of class 1).
    """
    n = classes.size
    state, order, items, kept = np.zeros(1, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    own_codes, own_classes = np.empty_like(codes), np.empty_like(classes)
    part_codes, part_classes = np.empty_like(codes), np.empty_like(classes)
    room, found, summed = room_for(n), np.empty((2, 6)), np.empty((2, 6))
    for r in range(means.shape[0]):
        start(state, seed, first + r)
        own_codes[:], own_classes[:] = codes, classes
        if plan.experiment == LABELS:
            assign_classes(state, plan, items, own_classes)
        elif plan.experiment == ATTRIBUTES:
            permute_values(state, plan, n, items, kept, own_codes)
        shuffle_rows(state, own_classes, plan.stratified, items, order)
        summed[:] = 0.0
        defined, at = np.zeros(6), 0
        for fold in range(plan.folds):
            training = divide(fold, plan.folds, order, own_codes, own_classes, part_codes, part_classes)
            learnt, truth, end = part_classes[:training], part_classes[training:], at + n - training
            if plan.experiment == TRAINING_LABELS:
                assign_classes(state, plan, items, learnt)
            elif plan.experiment == TRAINING_ATTRIBUTES:
                permute_values(state, plan, training, items, kept, part_codes)
            positive_shares(part_codes, learnt, columns, plan.style, scores[r, 0, at:end])
            replace_scores(state, plan, items, scores[r, 0, at:end], scores[r, 1, at:end])
            truths[r, at:end] = truth
            for which in range(2):
                six_measures(scores[r, which, at:end], truth, plan.severity_ratio, room, found[which])
            for m in range(6):
                if not np.isnan(found[0, m] + found[1, m]):
                    summed[:, m] += found[:, m]
                    defined[m] += 1
            at = end
        means[r] = summed / defined


@kernel
def portion(plan: Plan, size: int) -> int:
    """So many of `size` are drawn."""
    exact = plan.share * size
    return int(np.floor(exact + 1e-9)) if plan.cut else int(np.rint(np.rint(exact * 1e9) / 1e9))


@kernel
def numbered(items: IntArray, size: int) -> None:
    """0, 1, 2, ... in place, so that what is drawn depends on the state alone."""
    for i in range(size):
        items[i] = i


@kernel
def assign_classes(state: State, plan: Plan, items: IntArray, classes: Classes) -> None:
    """A share of the rows gets a class by chance, which may be its own."""
    numbered(items, classes.size)
    count = portion(plan, classes.size)
    choose(state, items, classes.size, count)
    for i in range(count):
        classes[items[i]] = below(state, 2)


@kernel
def permute_values(state: State, plan: Plan, size: int, items: IntArray, kept: IntArray, codes: IntArray) -> None:
    """A share of the known values of each column, within the first `size` places, is permuted among themselves."""
    for j in range(codes.shape[0]):
        known = 0
        for i in range(size):
            if codes[j, i] >= 0:
                items[known] = i
                known += 1
        count = portion(plan, known)
        choose(state, items, known, count)
        for i in range(count):
            kept[i] = codes[j, items[i]]
        choose(state, kept, count, count)
        for i in range(count):
            codes[j, items[i]] = kept[i]


@kernel
def shuffle_rows(state: State, classes: Classes, stratified: bool, items: IntArray, order: IntArray) -> None:
    """All rows in random order; stratified: those of class 0 first."""
    n = classes.size
    numbered(items, n)
    choose(state, items, n, n)
    if not stratified:
        order[:] = items
        return
    at = 0
    for c in range(2):
        for i in range(n):
            if classes[items[i]] == c:
                order[at] = items[i]
                at += 1


@kernel
def divide(
    fold: int, folds: int, order: IntArray, codes: IntArray, classes: Classes, part_codes: IntArray, part_classes: Classes
) -> int:
    """The rows of training and, behind them, those of testing; gives the number of the former."""
    n = order.size
    training = n - (n - fold + folds - 1) // folds
    learnt, tested = 0, training
    for i in range(n):
        if i % folds == fold:
            place, tested = tested, tested + 1
        else:
            place, learnt = learnt, learnt + 1
        part_classes[place] = classes[order[i]]
        for j in range(codes.shape[0]):
            part_codes[j, place] = codes[j, order[i]]
    return training


@kernel
def replace_scores(state: State, plan: Plan, items: IntArray, scores: FloatArray, replaced: FloatArray) -> None:
    """A share of the scores is replaced by numbers of [0, 1)."""
    replaced[:] = scores
    numbered(items, scores.size)
    count = portion(plan, scores.size)
    choose(state, items, scores.size, count)
    for i in range(count):
        replaced[items[i]] = uniform(state)
