"""Kernels for significance tests and Bayesian comparisons.

The kernels compute cliques for the Bergmann-Hommel procedure, the exact distribution of rank sums, Bayesian signed ranks,
Bradley-Terry strengths, and samples from a hierarchical model.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.compiling import kernel

Counts = npt.NDArray[np.int16]


Masks = npt.NDArray[np.int64]


@kernel
def compute_max_pairs(adjacent: Masks, k: int) -> Counts:
    """For each pair, compute the most pairs that a partition can join if it joins this pair.

    A partition divides the `k` learners into cliques of the graph `adjacent` and joins all pairs within each clique. The result
    is 0 for a pair that no partition joins.
    """
    full = (1 << k) - 1
    joining = np.empty(full + 1, dtype=np.int16)
    size = np.zeros(full + 1, dtype=np.int16)
    most = np.zeros(full + 1, dtype=np.int16)
    lowest = np.zeros(full + 1, dtype=np.int16)
    # joining: number of pairs within a clique after one more learner joins it; -1 if the set is not a clique.
    joining[0] = 0
    for s in range(1, full + 1):
        low = 0
        while not (s >> low) & 1:
            low += 1
        rest = s & (s - 1)
        lowest[s] = low
        size[s] = size[rest] + 1
        is_clique = joining[rest] >= 0 and (rest & ~adjacent[low]) == 0
        joining[s] = size[s] * (size[s] + 1) // 2 if is_clique else -1
    for s in range(1, full + 1):
        rest = s & (s - 1)
        near = rest & adjacent[lowest[s]]
        best = most[rest]
        block = near
        while block > 0:
            pairs = joining[block]
            if pairs >= 0 and pairs + most[rest ^ block] > best:
                best = pairs + most[rest ^ block]
            block = (block - 1) & near
        most[s] = best
    out = np.zeros((k, k), dtype=np.int16)
    for s in range(1, full + 1):
        if joining[s] < 0 or size[s] < 2:
            continue
        total = joining[s] - size[s] + most[full ^ s]
        for i in range(k):
            if (s >> i) & 1:
                for j in range(i + 1, k):
                    if (s >> j) & 1 and total > out[i, j]:
                        out[i, j] = total
    return out


@kernel
def scale_thresholds(p_values: FloatArray, thresholds: FloatArray, most: int) -> FloatArray:
    """For each pair, compute the largest product of a threshold and a number of joined pairs.

    `p_values` is a symmetric table. At each threshold, two learners are adjacent if their p-value is at least the threshold.
    `compute_max_pairs` then returns the largest number of pairs that can be joined together with each pair. This number is
    limited to `most`.
    """
    k = len(p_values)
    out = np.zeros((k, k))
    adjacent = np.empty(k, dtype=np.int64)
    for threshold in thresholds:
        for i in range(k):
            adjacent[i] = 0
            for j in range(k):
                if i != j and p_values[i, j] >= threshold:
                    adjacent[i] |= 1 << j
        max_pairs = compute_max_pairs(adjacent, k)
        for i in range(k):
            for j in range(i + 1, k):
                out[i, j] = max(out[i, j], threshold * min(max_pairs[i, j], most))
    return out


@kernel
def add_row(
    sums: IntArray, chances: FloatArray, row: IntArray, n_orders: int, limit: int
) -> tuple[IntArray, FloatArray, IntArray]:
    """Add each of the `n_orders` distinct permutations of a sorted row to each sorted sum.

    Results that are equal after sorting are merged.

    Return the new sums, their probabilities and their codes, in the order in which they were found. The arrays are empty if
    there are more than `limit` sums. The codes sort like the sums, in lexicographic order, and must fit into 63 bits.
    """
    k = row.size
    lowest, highest = sums[0, 0], sums[0, 0]
    for s in range(len(sums)):
        for i in range(k):
            lowest, highest = min(lowest, sums[s, i]), max(highest, sums[s, i])
    lowest, highest = lowest + row[0], highest + row[k - 1]
    radix = highest - lowest + 1
    bits, count = 12, 0
    slots = np.zeros(1 << bits, dtype=np.int64)  # number of the sum, starting at 1; 0 is free
    half = slots.size // 2
    new_sums, new_chances, codes = np.empty((half, k), dtype=np.int64), np.empty(half), np.empty(half, dtype=np.int64)
    moved, order = np.empty(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    for s in range(len(sums)):
        chance = chances[s] / n_orders
        for i in range(k):
            order[i] = row[i]
        for step in range(n_orders):
            if step:
                set_next_order(order)
            for i in range(k):
                value, j = sums[s, i] + order[i], i
                while j > 0 and moved[j - 1] > value:
                    moved[j] = moved[j - 1]
                    j -= 1
                moved[j] = value
            code = 0
            for i in range(k - 1):
                code = code * radix + moved[i] - lowest
            slot = find_slot(slots, codes, code, bits)
            if slots[slot]:
                new_chances[slots[slot] - 1] += chance
                continue
            if count == limit:
                return new_sums[:0], new_chances[:0], codes[:0]
            if count == half:
                bits, half = bits + 1, 2 * half
                slots = np.zeros(1 << bits, dtype=np.int64)
                for i in range(count):
                    slots[find_slot(slots, codes, codes[i], bits)] = i + 1
                slot = find_slot(slots, codes, code, bits)
                old_sums, old_chances, old_codes = new_sums, new_chances, codes
                new_sums, new_chances = np.empty((half, k), dtype=np.int64), np.empty(half)
                codes = np.empty(half, dtype=np.int64)
                for i in range(count):
                    new_chances[i], codes[i] = old_chances[i], old_codes[i]
                    for j in range(k):
                        new_sums[i, j] = old_sums[i, j]
            new_chances[count], codes[count] = chance, code
            for i in range(k):
                new_sums[count, i] = moved[i]
            count += 1
            slots[slot] = count
    return new_sums[:count], new_chances[:count], codes[:count]


@kernel
def find_slot(slots: IntArray, codes: IntArray, code: int, bits: int) -> int:
    """Find the slot of a code in a hash table of 2^bits slots, or a free slot for it."""
    mask = (1 << bits) - 1
    slot = np.int64((np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
    while slots[slot] and codes[slots[slot] - 1] != code:
        slot = (slot + 1) & mask
    return int(slot)


@kernel
def set_next_order(order: IntArray) -> None:
    """Replace a permutation, which must not be the last, with the next in lexicographic order."""
    i = order.size - 2
    while order[i] >= order[i + 1]:
        i -= 1
    j = order.size - 1
    while order[j] <= order[i]:
        j -= 1
    order[i], order[j] = order[j], order[i]
    left, right = i + 1, order.size - 1
    while left < right:
        order[left], order[right] = order[right], order[left]
        left, right = left + 1, right - 1


@kernel
def fill_uniform(words: npt.NDArray[np.uint32], out: npt.NDArray[np.float32]) -> None:
    """Convert random 32-bit words to uniform random numbers in (0, 1], row by row."""
    rows, n = out.shape
    for r in range(rows):
        for i in range(n):
            out[r, i] = np.float32(1) - np.float32(np.int32(words[r * n + i] >> np.uint32(8))) * np.float32(2.0**-24)


@kernel
def compute_regions(
    weights: npt.NDArray[np.float32], above: IntArray, below: IntArray, to_sides: float, out: FloatArray
) -> None:
    """Compute the probabilities of the three regions for each row of weights.

    Each outer region receives a fraction `to_sides` of the probability of the middle region.
    """
    rows, n = weights.shape
    sums = np.zeros(n + 1)
    for r in range(rows):
        total = 0.0
        for i in range(n):
            total += weights[r, i]
            sums[i + 1] = total
        not_high, low = 0.0, 0.0
        for i in range(n):
            not_high += weights[r, i] * sums[above[i]]
            low += weights[r, i] * sums[below[i]]
        low /= total**2
        middle = max(0.0, not_high / total**2 - low)
        out[r, 0] = max(0.0, 1.0 - low - middle) + to_sides * middle
        out[r, 1] = (1.0 - 2.0 * to_sides) * middle
        out[r, 2] = low + to_sides * middle


@kernel
def count_leads(draws: FloatArray) -> FloatArray:
    """Count the draws in which each region has the largest probability.

    Regions that are tied (within rounding error) share a draw.
    """
    out = np.zeros(3)
    for r in range(draws.shape[0]):
        top = max(draws[r, 0], draws[r, 1], draws[r, 2]) - 1e-12
        leaders = (draws[r, 0] >= top) + (draws[r, 1] >= top) + (draws[r, 2] >= top)
        for i in range(3):
            if draws[r, i] >= top:
                out[i] += 1.0 / leaders
    return out


_MOST_STEPS = 20_000


@kernel
def estimate_strengths(tables: FloatArray) -> FloatArray:
    """Estimate Bradley-Terry log strengths from each table of wins by Hunter's MM algorithm.

    The algorithm stops when no log strength changes by 1e-10 or more, or after 20,000 steps.
    """
    count, k, _ = tables.shape
    out = np.empty((count, k))
    for t in range(count):
        wins = tables[t]
        strength, updated = np.ones(k), np.empty(k)
        for _ in range(_MOST_STEPS):
            for i in range(k):
                won, met = 0.0, 0.0
                for j in range(k):
                    if j != i:
                        won += wins[i, j]
                        met += (wins[i, j] + wins[j, i]) / (strength[i] + strength[j])
                updated[i] = max(won / met, 1e-300) if met > 0 else 1.0
            updated /= np.exp(np.log(updated).mean())
            change = np.abs(np.log(updated / strength)).max()
            strength[:] = updated
            if change < 1e-10:
                break
        out[t] = np.log(strength)
    return out


# Indices of the parameters that a slice sampling step can update.
SIGMA0, SIGMA, NU, ALPHA, BETA = range(5)


@kernel
def run_chain(
    rng: np.random.Generator,
    means: FloatArray,
    squares: FloatArray,
    folds: int,
    mean_variance_factor: float,
    between_sd: float,
    bounds: FloatArray,
    priors: FloatArray,
    samples: int,
    warm_up: int,
) -> tuple[FloatArray, FloatArray]:
    """Run one Markov chain of the hierarchical model.

    In the updates of mu0, sigma0 and sigma_i, the mu_i are integrated out. The chain therefore mixes well even if sigma0 is
    small.
    """
    q = means.size
    sigma = np.sqrt(np.maximum(squares / folds, bounds[0] ** 2 * 4)) * np.exp(0.3 * rng.standard_normal(q))
    sigma = np.minimum(np.maximum(sigma, bounds[0] * 1.01), bounds[1])
    mu0 = means.mean() + 0.5 * between_sd * rng.standard_normal()
    mu0 = min(max(mu0, -bounds[3]), bounds[3])
    sigma0 = between_sd * np.exp(rng.standard_normal())
    alpha, beta = (priors[0] + priors[1]) / 2, (priors[2] + priors[3]) / 2
    nu = 1 + rng.standard_gamma(alpha) / beta
    weight, none = np.ones(q), np.zeros(0)
    mu, distance = np.empty(q), np.empty(q)
    mu_samples, hyper_samples = np.empty((samples, q)), np.empty((samples, 3))
    for step in range(warm_up + samples):
        parameters = np.array([mu0, mean_variance_factor, 0.0, 0.0, 0.0])
        logged = run_slice_step(rng, SIGMA0, np.log(sigma0), -np.inf, np.log(bounds[2]), means, sigma, weight, parameters)
        sigma0 = np.exp(logged)
        mu0 = draw_centre(rng, means, mean_variance_factor * sigma**2 + sigma0**2 / weight, bounds[3])
        for i in range(q):
            parameters = np.array([folds - 1.0, squares[i], mean_variance_factor, sigma0**2 / weight[i], (means[i] - mu0) ** 2])
            low, high = np.log(bounds[0]), np.log(bounds[1])
            sigma[i] = np.exp(run_slice_step(rng, SIGMA, np.log(sigma[i]), low, high, none, none, none, parameters))
            precision = 1 / (mean_variance_factor * sigma[i] ** 2) + weight[i] / sigma0**2
            centre = (means[i] / (mean_variance_factor * sigma[i] ** 2) + mu0 * weight[i] / sigma0**2) / precision
            mu[i] = centre + rng.standard_normal() / np.sqrt(precision)
            distance[i] = ((mu[i] - mu0) / sigma0) ** 2
        parameters = np.array([alpha, beta, 0.0, 0.0, 0.0])
        nu = 1 + np.exp(run_slice_step(rng, NU, np.log(nu - 1), -np.inf, 20.0, distance, none, none, parameters))
        for i in range(q):
            weight[i] = max(rng.standard_gamma((nu + 1) / 2) / ((nu + distance[i]) / 2), 1e-300)
        parameters = np.array([nu - 1, alpha, beta, 0.0, 0.0])
        alpha = run_slice_step(rng, ALPHA, alpha, priors[0], priors[1], none, none, none, parameters)
        parameters[1] = alpha
        beta = run_slice_step(rng, BETA, beta, priors[2], priors[3], none, none, none, parameters)
        if step >= warm_up:
            mu_samples[step - warm_up] = mu
            hyper_samples[step - warm_up, 0], hyper_samples[step - warm_up, 1], hyper_samples[step - warm_up, 2] = (
                mu0,
                sigma0,
                nu,
            )
    return mu_samples, hyper_samples


@kernel
def draw_centre(rng: np.random.Generator, means: FloatArray, variances: FloatArray, limit: float) -> float:
    """Draw mu0 given all parameters except the mu_i, truncated to -limit..limit."""
    precision = (1 / variances).sum()
    centre = (means / variances).sum() / precision
    spread = 1 / np.sqrt(precision)
    for _ in range(1000):
        drawn = centre + spread * rng.standard_normal()
        if -limit <= drawn <= limit:
            return float(drawn)
        # A normal distribution this wide is nearly flat within the limits, so the proposal is uniform.
        if spread > limit:
            drawn = limit * (2 * rng.random() - 1)
            if np.log(rng.random()) < -0.5 * ((drawn - centre) / spread) ** 2:
                return float(drawn)
    return float(min(max(centre, -limit), limit))


@kernel
def run_slice_step(
    rng: np.random.Generator,
    which: int,
    current: float,
    low: float,
    high: float,
    means: FloatArray,
    sigma: FloatArray,
    weight: FloatArray,
    parameters: FloatArray,
) -> float:
    """Take one slice sampling step within (low, high), with stepping out and shrinkage.

    The algorithm is that of Neal (2003).
    """
    level = compute_log_density(which, current, means, sigma, weight, parameters) + np.log(1.0 - rng.random())
    width = 1.0 if which in (SIGMA0, SIGMA, NU) else high - low
    left = current - width * rng.random()
    right = left + width
    while left > low and compute_log_density(which, left, means, sigma, weight, parameters) > level:
        left -= width
    while right < high and compute_log_density(which, right, means, sigma, weight, parameters) > level:
        right += width
    left, right = max(left, low), min(right, high)
    for _ in range(200):
        drawn = left + (right - left) * rng.random()
        if compute_log_density(which, drawn, means, sigma, weight, parameters) >= level:
            return drawn
        if drawn < current:
            left = drawn
        else:
            right = drawn
    return current


@kernel
def compute_log_density(
    which: int, value: float, means: FloatArray, sigma: FloatArray, weight: FloatArray, parameters: FloatArray
) -> float:
    """Compute the log density of one parameter given the others.

    sigma0, sigma_i and nu - 1 are on the log scale.
    """
    if which == SIGMA0:
        total, variance0 = value, np.exp(2 * value)
        for i in range(means.size):
            variance = parameters[1] * sigma[i] ** 2 + variance0 / weight[i]
            total -= 0.5 * (np.log(variance) + (means[i] - parameters[0]) ** 2 / variance)
        return float(total)
    if which == SIGMA:
        square = np.exp(2 * value)
        variance = parameters[2] * square + parameters[3]
        total = value - parameters[0] * value - parameters[1] / (2 * square)
        return float(total - 0.5 * (np.log(variance) + parameters[4] / variance))
    if which == NU:
        return compute_log_nu_density(value, means, parameters[0], parameters[1])
    shape, rate = (value, parameters[2]) if which == ALPHA else (parameters[1], value)
    return float(shape * np.log(rate) - math.lgamma(shape) + (shape - 1) * np.log(parameters[0]) - rate * parameters[0])


@kernel
def compute_log_nu_density(value: float, distance: FloatArray, alpha: float, beta: float) -> float:
    """Compute the log density of log(nu - 1), with a gamma prior for nu - 1."""
    nu_minus_one = np.exp(value)
    nu = nu_minus_one + 1
    total = alpha * value - beta * nu_minus_one
    total += distance.size * (math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * np.log(nu))
    for i in range(distance.size):
        total -= 0.5 * (nu + 1) * np.log1p(distance[i] / nu)
    return float(total)
