"""Pairs of simulated rankings, the second worse than the first, under noise: how often each measure prefers the second."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel
from fairtrial.kernels.draws import State, below, choose, start, uniform
from fairtrial.kernels.ranking_pass import Classes, room_for, six_measures

LABELS, SCORES, PROPORTION = 0, 1, 2
"""Kinds of noise: classes of some cases by coin, numbers added to all scores, some positives left out."""


@kernel
def noisy_pairs(
    kind: int,
    level: float,
    same: bool,
    cases: int,
    replaced: int,
    severity_ratio: float,
    seed: np.uint64,
    streams: tuple[int, int],
    errors: FloatArray,
    together: FloatArray,
) -> None:
    """Add each measure's errors over the pairs first .. last - 1 to `errors` (6), their products to `together` (6 x 6).

    An error is 1 where the second ranking gets the higher value, 0.5 where both get the same or one is undefined. `level` is a
    share of cases (LABELS), the largest number that is added or subtracted (SCORES) or a share of the positives (PROPORTION).
    With `same`, both rankings get the same numbers added, case by case.
    """
    state, items = np.zeros(1, np.uint64), np.arange(cases)
    better, worse, classes = np.empty(cases), np.empty(cases), np.empty(cases, np.uint8)
    room, own, other, error = room_for(cases), np.empty(6), np.empty(6), np.empty(6)
    for stream in range(streams[0], streams[1]):
        start(state, seed, stream)
        for i in range(cases):
            items[i] = i
        draw_pair(state, replaced, items, better, worse, classes)
        left = cases
        if kind == LABELS:
            toss_classes(state, int(np.rint(level * cases)), items, classes)
        elif kind == SCORES:
            blur(state, level, same, better, worse)
        else:
            left = thin_positives(state, level, items, better, worse, classes)
        for scores, found in ((better, own), (worse, other)):
            six_measures(scores[:left], classes[:left], severity_ratio, room, found)
        for i in range(6):
            error[i] = 1.0 if other[i] > own[i] else 0.0 if other[i] < own[i] else 0.5
            errors[i] += error[i]
            for j in range(i + 1):
                together[i, j] += error[i] * error[j]


@kernel
def draw_pair(state: State, replaced: int, items: IntArray, better: FloatArray, worse: FloatArray, classes: Classes) -> None:
    """Scores that tell the classes, some of them replaced by chance; in the second ranking as many others as well."""
    cases = better.size
    for i in range(cases):
        better[i] = uniform(state)
        classes[i] = better[i] >= 0.5
    choose(state, items, cases, 2 * replaced)
    for i in range(replaced):
        better[items[i]] = uniform(state)
    worse[:] = better
    for i in range(replaced, 2 * replaced):
        worse[items[i]] = uniform(state)


@kernel
def toss_classes(state: State, count: int, items: IntArray, classes: Classes) -> None:
    """Some cases, drawn by chance, get their class by a coin."""
    choose(state, items, classes.size, count)
    for i in range(count):
        classes[items[i]] = below(state, 2)


@kernel
def blur(state: State, most: float, same: bool, better: FloatArray, worse: FloatArray) -> None:
    """Each score gets a number of [-most, most) added."""
    for i in range(better.size):
        added = most * (2 * uniform(state) - 1)
        better[i] += added
        worse[i] += added if same else most * (2 * uniform(state) - 1)


@kernel
def thin_positives(state: State, share: float, items: IntArray, better: FloatArray, worse: FloatArray, classes: Classes) -> int:
    """Leave out a share of the positives, drawn by chance; gives the number of cases left, which come to the front."""
    positives, left = 0, 0
    for i in range(classes.size):
        if classes[i]:
            items[positives] = i
            positives += 1
    gone = int(np.rint(share * positives))
    choose(state, items, positives, gone)
    for i in range(gone):
        classes[items[i]] = 2
    for i in range(classes.size):
        if classes[i] < 2:
            better[left], worse[left], classes[left] = better[i], worse[i], classes[i]
            left += 1
    return left
