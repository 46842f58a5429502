"""Kernels for the ranking experiments: measures, simulation and naive Bayes."""

from __future__ import annotations

from math import erf, erfc, exp, log, pi, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels import hull, randomness
from fairtrial.kernels.compiling import kernel

State = npt.NDArray[np.uint64]
"""State of the random number generator: an array with one number."""


@kernel
def start_stream(state: State, seed: np.uint64, stream: int) -> None:
    """Set the state to the start of a random number stream."""
    state[0] = randomness.hash_state(seed + randomness.hash_state(randomness.update_state(np.uint64(stream))))


@kernel
def draw_uniform(state: State) -> float:
    """Draw a number from [0, 1)."""
    state[0] = randomness.update_state(state[0])
    return (randomness.hash_state(state[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def draw_below(state: State, limit: int) -> int:
    """Draw a whole number from 0 to limit - 1."""
    return int(draw_uniform(state) * limit)


@kernel
def choose(state: State, items: IntArray, size: int, n_chosen: int) -> None:
    """Move `n_chosen` random items among the first `size` to the front, in random order."""
    for index in range(n_chosen):
        swap_index = index + draw_below(state, size - index)
        items[index], items[swap_index] = items[swap_index], items[index]


MEASURES = ("h_measure", "auc", "auch", "sauc", "ks", "taks")
"""The measures in the order of `compute_six_measures`."""

Classes = npt.NDArray[np.uint8]
_FEW = 24  # fewer scores are sorted by insertion only


class RankingBuffers(NamedTuple):
    """Work arrays that are reused to save the time for allocation."""

    values: FloatArray
    sorted_classes: Classes
    starts: IntArray
    corners: FloatArray


@kernel
def make_buffers(cases: int) -> RankingBuffers:
    """Allocate buffers for rankings of up to `cases` cases."""
    return RankingBuffers(np.empty(cases), np.empty(cases, np.uint8), np.empty(cases + 1, np.int64), np.empty((2, cases + 1)))


@kernel
def compute_six_measures(
    scores: FloatArray, classes: Classes, severity_ratio: float, buffers: RankingBuffers, out: FloatArray
) -> None:
    """Write H, AUC, AUCH, sAUC, KS and taKS for a ranking to `out`; NaN if undefined.

    Classes are 1 (positive) and 0 (negative). If `severity_ratio` is NaN, it is set to the ratio of positives to negatives.
    """
    n = scores.size
    rank_scores(scores, classes, buffers)
    values, sorted_classes = buffers.values, buffers.sorted_classes
    P = 0.0
    for i in range(n):
        P += classes[i]
    N = n - P
    if P == 0 or N == 0:
        out[:] = np.nan
        return
    i, distinct, last = 0, 0, 0
    tp, fp, area, gaps, scored, previous, distances, largest = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    x, y = buffers.corners[0], buffers.corners[1]
    x[0], y[0] = 0.0, 0.0
    while i < n:
        value, p, q = values[i], 0.0, 0.0
        while i < n and values[i] == value:
            p += sorted_classes[i]
            q += 1 - sorted_classes[i]
            i += 1
        gaps += tp * (previous - value)
        previous = value
        scored += q * gaps
        area += q * (tp + 0.5 * p)
        tp += p
        fp += q
        distance = tp * N - fp * P
        distances += distance
        largest = max(largest, abs(distance))
        distinct += 1
        # Remove corners that lie on or below the line to the new point.
        while last > 0 and (x[last] - x[last - 1]) * (tp - y[last - 1]) >= (y[last] - y[last - 1]) * (fp - x[last - 1]):
            last -= 1
        last += 1
        x[last], y[last] = fp, tp
    pairs = P * N
    out[0] = compute_hull_h(x, y, last, severity_ratio)
    out[1] = area / pairs
    out[2] = compute_hull_area(x, y, last) / pairs
    out[3] = scored / pairs
    out[4] = largest / pairs
    out[5] = distances / (pairs * (distinct - 1)) if distinct > 1 else np.nan


@kernel
def compute_hull_area(x: FloatArray, y: FloatArray, last: int) -> float:
    """Compute the area under the convex hull with corners 0 to `last`.

    The coordinates of the corners are counts, not rates.
    """
    area = 0.0
    for i in range(1, last + 1):
        area += 0.5 * (x[i] - x[i - 1]) * (y[i] + y[i - 1])
    return area


@kernel
def compute_beta_moments(c: float, beta: float) -> tuple[float, float]:
    """Integrate u(t) and t u(t) from 0 to c, where u is the density of Beta(2, beta).

    For beta = 2, Hand's default, both integrals are polynomials in c.
    """
    if beta == 2.0:
        return c * c * (3.0 - 2.0 * c), c * c * c * (2.0 - 1.5 * c)
    return hull.compute_cost_moments(c, beta)


@kernel
def compute_hull_h(x: FloatArray, y: FloatArray, last: int, severity_ratio: float) -> float:
    """Compute Hand's H-measure from corners 0 to `last` of the convex hull.

    The coordinates of the corners are counts, not rates.
    """
    N, P = x[last], y[last]
    pi1, pi0 = P / (P + N), N / (P + N)
    beta = 1 + 1 / (P / N if np.isnan(severity_ratio) else severity_ratio)
    whole_mass, whole_first = compute_beta_moments(1.0, beta)
    loss, upper_mass, upper_first = 0.0, whole_mass, whole_first
    for i in range(last + 1):
        lower_mass, lower_first = 0.0, 0.0
        if i < last:
            rise, run = y[i + 1] - y[i], x[i + 1] - x[i]
            lower_mass, lower_first = compute_beta_moments(rise / (rise + run), beta)
        first = upper_first - lower_first
        loss += pi0 * (x[i] / N) * first + pi1 * (1 - y[i] / P) * (upper_mass - lower_mass - first)
        upper_mass, upper_first = lower_mass, lower_first
    mass, first = compute_beta_moments(pi1, beta)
    trivial = pi0 * first + pi1 * (whole_mass - mass - (whole_first - first))
    return float(1 - loss / trivial)


@kernel
def rank_scores(scores: FloatArray, classes: Classes, buffers: RankingBuffers) -> None:
    """Write the scores and their classes to the buffers in descending order of score.

    Unless there are few scores, they are first distributed over intervals of equal width. Then they are sorted by insertion.
    """
    n = scores.size
    values, sorted_classes, starts = buffers.values, buffers.sorted_classes, buffers.starts
    low, high = scores[0], scores[0]
    for i in range(n):
        low, high = min(low, scores[i]), max(high, scores[i])
    scale = (n - 1) / (high - low) if high > low else np.inf
    if n < _FEW or not scale < 1e200:
        for i in range(n):
            values[i], sorted_classes[i] = scores[i], classes[i]
    else:
        starts[: n + 1] = 0
        for i in range(n):
            starts[int((high - scores[i]) * scale) + 1] += 1
        for i in range(n):
            starts[i + 1] += starts[i]
        for i in range(n):
            interval = int((high - scores[i]) * scale)
            values[starts[interval]], sorted_classes[starts[interval]] = scores[i], classes[i]
            starts[interval] += 1
    for i in range(1, n):
        value, label, j = values[i], sorted_classes[i], i
        while j > 0 and values[j - 1] < value:
            values[j], sorted_classes[j] = values[j - 1], sorted_classes[j - 1]
            j -= 1
        values[j], sorted_classes[j] = value, label


INTERVALS, DENSITIES = 0, 1
"""Styles of naive Bayes.

INTERVALS uses the probability of an interval as wide as the mean gap between values, and adds one to counts (WEKA, NaiveBayes).
DENSITIES uses the normal density and plain counts, and replaces zeros with 0.001 (R's package e1071).
"""

_MIN_MASS = 1e-75
_ZERO_REPLACEMENT = 0.001


class CodedColumns(NamedTuple):
    """The values of coded columns.

    Column j has the values levels[offsets[j]:offsets[j + 1]]. `nominal` marks the nominal columns.
    """

    levels: FloatArray
    offsets: IntArray
    nominal: Classes


@kernel
def predict_positive(codes: IntArray, classes: Classes, columns: CodedColumns, style: int, scores: FloatArray) -> None:
    """Write naive Bayes's posterior probability of class 1 for each test case to `scores`.

    `codes` has one row per attribute and one column per case. The first `classes.size` cases are the training set, and the
    others are the test set. The code -1 marks a missing value.
    """
    levels, offsets, nominal = columns.levels, columns.offsets, columns.nominal
    max_levels, n_training = np.max(offsets[1:] - offsets[:-1]), classes.size
    counts, logs = np.empty((2, max_levels)), np.empty((2, max_levels))
    sizes = count_class_sizes(classes)
    first = 1.0 if style == INTERVALS else 0.0
    prior = log((sizes[1] + first) / (sizes[0] + first))
    scores[:] = prior
    for j in range(codes.shape[0]):
        width = offsets[j + 1] - offsets[j]
        counts[:, :width] = 0.0
        n_known = 0
        for i in range(n_training):
            if codes[j, i] >= 0:
                counts[classes[i], codes[j, i]] += 1.0
                n_known += 1
        if n_known == 0:
            continue
        values = levels[offsets[j] : offsets[j + 1]]
        if nominal[j]:
            compute_log_proportions(counts, width, style, logs)
        elif style == INTERVALS:
            compute_log_masses(counts, values, logs)
        else:
            compute_log_densities(counts, values, logs)
        for r in range(scores.size):
            code = codes[j, n_training + r]
            if code >= 0:
                scores[r] += logs[1, code] - logs[0, code]
    for r in range(scores.size):
        log_odds = scores[r]
        # The larger of the two exponentials is 1, so neither overflows.
        scores[r] = 1.0 / (1.0 + exp(-log_odds)) if log_odds >= 0 else exp(log_odds) / (1.0 + exp(log_odds))


@kernel
def count_class_sizes(classes: Classes) -> FloatArray:
    """Count the rows of class 0 and of class 1."""
    sizes = np.zeros(2)
    for i in range(classes.size):
        sizes[classes[i]] += 1.0
    return sizes


@kernel
def compute_log_proportions(counts: FloatArray, width: int, style: int, logs: FloatArray) -> None:
    """Compute the logarithm of the proportion of each value in each class."""
    first = 1.0 if style == INTERVALS else 0.0
    for c in range(2):
        total = 0.0
        for v in range(width):
            total += counts[c, v] + first
        for v in range(width):
            proportion = (counts[c, v] + first) / total
            logs[c, v] = log(proportion) if proportion > 0 else log(_ZERO_REPLACEMENT)


@kernel
def compute_moments(counts: FloatArray, values: FloatArray, c: int) -> tuple[float, float, float]:
    """Compute the size of a class, and the mean and sum of squared deviations of its values."""
    size, total, squares = 0.0, 0.0, 0.0
    for v in range(values.size):
        size += counts[c, v]
        total += counts[c, v] * values[v]
    mean = total / size if size > 0 else 0.0
    for v in range(values.size):
        squares += counts[c, v] * (values[v] - mean) ** 2
    return size, mean, squares


@kernel
def compute_log_densities(counts: FloatArray, values: FloatArray, logs: FloatArray) -> None:
    """Compute the log density of each value under each class's normal distribution."""
    for c in range(2):
        size, mean, squares = compute_moments(counts, values, c)
        deviation = sqrt(squares / (size - 1)) if size > 1 else 0.0
        deviation = deviation if deviation > 0 else _ZERO_REPLACEMENT
        for v in range(values.size):
            height = exp(-0.5 * ((values[v] - mean) / deviation) ** 2) / (deviation * sqrt(2 * pi))
            logs[c, v] = log(height) if height > 0 else log(_ZERO_REPLACEMENT)


@kernel
def compute_log_masses(counts: FloatArray, values: FloatArray, logs: FloatArray) -> None:
    """Compute the log probability, in each class, of the interval around each value.

    Values are rounded to multiples of their mean gap. The interval is one gap wide and centred on the rounded value. Its
    probability is that under the class's normal distribution.
    """
    precision = compute_mean_gap(counts, values)
    rounded = np.rint(values / precision) * precision
    for c in range(2):
        size, mean, squares = compute_moments(counts, rounded, c)
        deviation = max(sqrt(squares / size) if size > 0 else 0.0, precision / 6)
        for v in range(values.size):
            deviation_from_mean = rounded[v] - mean
            mass = compute_normal_cdf((deviation_from_mean + precision / 2) / deviation) - compute_normal_cdf(
                (deviation_from_mean - precision / 2) / deviation
            )
            logs[c, v] = log(max(mass, _MIN_MASS))


@kernel
def compute_mean_gap(counts: FloatArray, values: FloatArray) -> float:
    """Compute the mean gap between consecutive distinct values in the training set.

    The gap is 0.01 if there are fewer than two distinct values.
    """
    lowest, highest, distinct = 0.0, 0.0, 0
    for v in range(values.size):
        if counts[0, v] + counts[1, v] > 0:
            if distinct == 0:
                lowest = values[v]
            highest = values[v]
            distinct += 1
    return (highest - lowest) / (distinct - 1) if distinct > 1 else 0.01


@kernel
def compute_normal_cdf(x: float) -> float:
    """Compute the standard normal distribution function."""
    z = x * sqrt(0.5)
    if abs(z) < sqrt(0.5):
        return 0.5 + 0.5 * erf(z)
    tail = 0.5 * erfc(abs(z))
    return tail if z < 0 else 1.0 - tail


LABEL_NOISE, SCORE_NOISE, PROPORTION_NOISE = 0, 1, 2
"""Kinds of noise: random classes for some cases, random numbers added to all scores, some positives dropped."""


@kernel
def compare_noisy_pairs(
    kind: int,
    level: float,
    same: bool,
    cases: int,
    replaced: int,
    severity_ratio: float,
    seed: np.uint64,
    streams: tuple[int, int],
    errors: FloatArray,
    products: FloatArray,
) -> None:
    """Sum the errors of the six measures and the products of pairs of errors.

    Each stream from streams[0] to streams[1] - 1 yields a pair of rankings, the second of which is worse. The error is 1 if the
    worse ranking gets the higher value, and 0.5 if the values are equal or one is undefined. Only the lower triangle of the 6 x
    6 array `products` is filled. `level` is a proportion of cases (LABEL_NOISE), the largest absolute value that can be added
    to a score (SCORE_NOISE), or a proportion of positives (PROPORTION_NOISE). If `same` is true, the same numbers are added to
    the scores of both rankings.
    """
    state, items = np.zeros(1, np.uint64), np.arange(cases)
    better, worse, classes = np.empty(cases), np.empty(cases), np.empty(cases, np.uint8)
    buffers, better_measures, worse_measures, error = make_buffers(cases), np.empty(6), np.empty(6), np.empty(6)
    for stream in range(streams[0], streams[1]):
        start_stream(state, seed, stream)
        for i in range(cases):
            items[i] = i
        draw_pair(state, replaced, items, better, worse, classes)
        left = cases
        if kind == LABEL_NOISE:
            randomise_classes(state, int(np.rint(level * cases)), items, classes)
        elif kind == SCORE_NOISE:
            add_score_noise(state, level, same, better, worse)
        else:
            left = drop_positives(state, level, items, better, worse, classes)
        for scores, measures in ((better, better_measures), (worse, worse_measures)):
            compute_six_measures(scores[:left], classes[:left], severity_ratio, buffers, measures)
        for i in range(6):
            error[i] = 1.0 if worse_measures[i] > better_measures[i] else 0.0 if worse_measures[i] < better_measures[i] else 0.5
            errors[i] += error[i]
            for j in range(i + 1):
                products[i, j] += error[i] * error[j]


@kernel
def draw_pair(state: State, replaced: int, items: IntArray, better: FloatArray, worse: FloatArray, classes: Classes) -> None:
    """Draw classes and scores, and replace some scores with random numbers.

    The first `replaced` replacements are the same in both rankings. In the worse ranking, the same number of further scores is
    replaced.
    """
    cases = better.size
    for i in range(cases):
        better[i] = draw_uniform(state)
        classes[i] = better[i] >= 0.5
    choose(state, items, cases, 2 * replaced)
    for i in range(replaced):
        better[items[i]] = draw_uniform(state)
    worse[:] = better
    for i in range(replaced, 2 * replaced):
        worse[items[i]] = draw_uniform(state)


@kernel
def randomise_classes(state: State, count: int, items: IntArray, classes: Classes) -> None:
    """Assign a random class to `count` randomly chosen cases."""
    choose(state, items, classes.size, count)
    for i in range(count):
        classes[items[i]] = draw_below(state, 2)


@kernel
def add_score_noise(state: State, max_noise: float, same: bool, better: FloatArray, worse: FloatArray) -> None:
    """Add a random number from [-max_noise, max_noise) to each score in both rankings."""
    for i in range(better.size):
        added = max_noise * (2 * draw_uniform(state) - 1)
        better[i] += added
        worse[i] += added if same else max_noise * (2 * draw_uniform(state) - 1)


@kernel
def drop_positives(
    state: State, proportion: float, items: IntArray, better: FloatArray, worse: FloatArray, classes: Classes
) -> int:
    """Drop randomly chosen positives and return the number of remaining cases.

    `proportion` is the proportion of positives that are dropped. The remaining cases are moved to the front.
    """
    positives, left = 0, 0
    for i in range(classes.size):
        if classes[i]:
            items[positives] = i
            positives += 1
    n_dropped = int(np.rint(proportion * positives))
    choose(state, items, positives, n_dropped)
    for i in range(n_dropped):
        classes[items[i]] = 2
    for i in range(classes.size):
        if classes[i] < 2:
            better[left], worse[left], classes[left] = better[i], worse[i], classes[i]
            left += 1
    return left


NONE, LABELS, TRAINING_LABELS, ATTRIBUTES, TRAINING_ATTRIBUTES = 0, 1, 2, 3, 4
"""Targets of the noise: none, the classes of all rows or of training rows, the attributes of all rows or of training rows."""


class NoisePlan(NamedTuple):
    """Settings for cross-validation under noise.

    `proportion` is the proportion of rows, values or scores that are changed. The number of changes is rounded to the nearest
    whole number (halves to the even number), or down if `round_down` is true. `style` is the style of naive Bayes, INTERVALS or
    DENSITIES.
    """

    experiment: int
    proportion: float
    folds: int
    style: int
    stratified: bool
    round_down: bool
    severity_ratio: float


@kernel
def run_noisy_folds(
    codes: IntArray,
    classes: Classes,
    columns: CodedColumns,
    plan: NoisePlan,
    seed: np.uint64,
    first: int,
    means: FloatArray,
    true_classes: Classes,
    scores: FloatArray,
) -> None:
    """Cross-validate naive Bayes under noise and compute six measures in each repeat.

    For repeat r, means[r, 0] contains the means for naive Bayes, and means[r, 1] those after scores were replaced. Folds in
    which a measure is undefined are left out of its mean. The classes and scores of the test sets are written to
    `true_classes[r]` and `scores[r]`, fold by fold. The rows are put in random order, with class 0 first if stratified. In
    this order, test set f consists of the rows at positions f, f + folds, f + 2 folds, and so on.
    """
    n = classes.size
    state, order, items, permuted = np.zeros(1, np.uint64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    noisy_codes, noisy_classes = np.empty_like(codes), np.empty_like(classes)
    part_codes, part_classes = np.empty_like(codes), np.empty_like(classes)
    buffers, measures, summed = make_buffers(n), np.empty((2, 6)), np.empty((2, 6))
    for r in range(means.shape[0]):
        start_stream(state, seed, first + r)
        noisy_codes[:], noisy_classes[:] = codes, classes
        if plan.experiment == LABELS:
            assign_classes(state, plan, items, noisy_classes)
        elif plan.experiment == ATTRIBUTES:
            permute_values(state, plan, n, items, permuted, noisy_codes)
        shuffle_rows(state, noisy_classes, plan.stratified, items, order)
        summed[:] = 0.0
        defined, offset = np.zeros(6), 0
        for fold in range(plan.folds):
            training = divide_rows(fold, plan.folds, order, noisy_codes, noisy_classes, part_codes, part_classes)
            train_classes, test_classes, end = part_classes[:training], part_classes[training:], offset + n - training
            if plan.experiment == TRAINING_LABELS:
                assign_classes(state, plan, items, train_classes)
            elif plan.experiment == TRAINING_ATTRIBUTES:
                permute_values(state, plan, training, items, permuted, part_codes)
            predict_positive(part_codes, train_classes, columns, plan.style, scores[r, 0, offset:end])
            replace_scores(state, plan, items, scores[r, 0, offset:end], scores[r, 1, offset:end])
            true_classes[r, offset:end] = test_classes
            for which in range(2):
                compute_six_measures(scores[r, which, offset:end], test_classes, plan.severity_ratio, buffers, measures[which])
            for m in range(6):
                if not np.isnan(measures[0, m] + measures[1, m]):
                    summed[:, m] += measures[:, m]
                    defined[m] += 1
            offset = end
        means[r] = summed / defined


@kernel
def count_drawn(plan: NoisePlan, size: int) -> int:
    """Return how many of `size` items are drawn."""
    exact = plan.proportion * size
    return int(np.floor(exact + 1e-9)) if plan.round_down else int(np.rint(np.rint(exact * 1e9) / 1e9))


@kernel
def number_items(items: IntArray, size: int) -> None:
    """Fill `items` with 0, 1, 2, ..., so that draws depend only on the generator's state."""
    for i in range(size):
        items[i] = i


@kernel
def assign_classes(state: State, plan: NoisePlan, items: IntArray, classes: Classes) -> None:
    """Assign a random class, possibly the true one, to a proportion of the rows."""
    number_items(items, classes.size)
    count = count_drawn(plan, classes.size)
    choose(state, items, classes.size, count)
    for i in range(count):
        classes[items[i]] = draw_below(state, 2)


@kernel
def permute_values(state: State, plan: NoisePlan, size: int, items: IntArray, permuted: IntArray, codes: IntArray) -> None:
    """Permute a proportion of the known values in each column among the first `size` rows."""
    for j in range(codes.shape[0]):
        n_known = 0
        for i in range(size):
            if codes[j, i] >= 0:
                items[n_known] = i
                n_known += 1
        count = count_drawn(plan, n_known)
        choose(state, items, n_known, count)
        for i in range(count):
            permuted[i] = codes[j, items[i]]
        choose(state, permuted, count, count)
        for i in range(count):
            codes[j, items[i]] = permuted[i]


@kernel
def shuffle_rows(state: State, classes: Classes, stratified: bool, items: IntArray, order: IntArray) -> None:
    """Write all rows to `order` in random order, with class 0 first if stratified."""
    n = classes.size
    number_items(items, n)
    choose(state, items, n, n)
    if not stratified:
        order[:] = items
        return
    position = 0
    for c in range(2):
        for i in range(n):
            if classes[items[i]] == c:
                order[position] = items[i]
                position += 1


@kernel
def divide_rows(
    fold: int, folds: int, order: IntArray, codes: IntArray, classes: Classes, part_codes: IntArray, part_classes: Classes
) -> int:
    """Copy the training rows, then the test rows, and return the number of training rows."""
    n = order.size
    training = n - (n - fold + folds - 1) // folds
    next_train, next_test = 0, training
    for i in range(n):
        if i % folds == fold:
            position, next_test = next_test, next_test + 1
        else:
            position, next_train = next_train, next_train + 1
        part_classes[position] = classes[order[i]]
        for j in range(codes.shape[0]):
            part_codes[j, position] = codes[j, order[i]]
    return training


@kernel
def replace_scores(state: State, plan: NoisePlan, items: IntArray, scores: FloatArray, replaced: FloatArray) -> None:
    """Replace a proportion of the scores with random numbers from [0, 1)."""
    replaced[:] = scores
    number_items(items, scores.size)
    count = count_drawn(plan, scores.size)
    choose(state, items, scores.size, count)
    for i in range(count):
        replaced[items[i]] = draw_uniform(state)
