"""The sampler of the hierarchical correlated model: one chain, Gibbs and slice steps."""

from __future__ import annotations

import math

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.kernels.compiling import kernel

# Which number a step moves.
SIGMA0, SIGMA, NU, ALPHA, BETA = range(5)


@kernel
def chain(
    rng: np.random.Generator,
    means: FloatArray,
    squares: FloatArray,
    folds: int,
    of_mean: float,
    among: float,
    bounds: FloatArray,
    priors: FloatArray,
    samples: int,
    warm_up: int,
) -> tuple[FloatArray, FloatArray]:
    """One chain. mu_i is integrated out where mu0, sigma0 and sigma_i move, so that they mix well even when sigma0 is small."""
    q = means.size
    sigma = np.sqrt(np.maximum(squares / folds, bounds[0] ** 2 * 4)) * np.exp(0.3 * rng.standard_normal(q))
    sigma = np.minimum(np.maximum(sigma, bounds[0] * 1.01), bounds[1])
    mu0 = means.mean() + 0.5 * among * rng.standard_normal()
    mu0 = min(max(mu0, -bounds[3]), bounds[3])
    sigma0 = among * np.exp(rng.standard_normal())
    alpha, beta = (priors[0] + priors[1]) / 2, (priors[2] + priors[3]) / 2
    nu = 1 + rng.standard_gamma(alpha) / beta
    weight, none = np.ones(q), np.zeros(0)
    mu, distance = np.empty(q), np.empty(q)
    kept_mu, kept = np.empty((samples, q)), np.empty((samples, 3))
    for step in range(warm_up + samples):
        given = np.array([mu0, of_mean, 0.0, 0.0, 0.0])
        logged = slice_step(rng, SIGMA0, np.log(sigma0), -np.inf, np.log(bounds[2]), means, sigma, weight, given)
        sigma0 = np.exp(logged)
        mu0 = draw_centre(rng, means, of_mean * sigma**2 + sigma0**2 / weight, bounds[3])
        for i in range(q):
            given = np.array([folds - 1.0, squares[i], of_mean, sigma0**2 / weight[i], (means[i] - mu0) ** 2])
            low, high = np.log(bounds[0]), np.log(bounds[1])
            sigma[i] = np.exp(slice_step(rng, SIGMA, np.log(sigma[i]), low, high, none, none, none, given))
            precision = 1 / (of_mean * sigma[i] ** 2) + weight[i] / sigma0**2
            centre = (means[i] / (of_mean * sigma[i] ** 2) + mu0 * weight[i] / sigma0**2) / precision
            mu[i] = centre + rng.standard_normal() / np.sqrt(precision)
            distance[i] = ((mu[i] - mu0) / sigma0) ** 2
        given = np.array([alpha, beta, 0.0, 0.0, 0.0])
        nu = 1 + np.exp(slice_step(rng, NU, np.log(nu - 1), -np.inf, 20.0, distance, none, none, given))
        for i in range(q):
            weight[i] = max(rng.standard_gamma((nu + 1) / 2) / ((nu + distance[i]) / 2), 1e-300)
        given = np.array([nu - 1, alpha, beta, 0.0, 0.0])
        alpha = slice_step(rng, ALPHA, alpha, priors[0], priors[1], none, none, none, given)
        given[1] = alpha
        beta = slice_step(rng, BETA, beta, priors[2], priors[3], none, none, none, given)
        if step >= warm_up:
            kept_mu[step - warm_up] = mu
            kept[step - warm_up, 0], kept[step - warm_up, 1], kept[step - warm_up, 2] = mu0, sigma0, nu
    return kept_mu, kept


@kernel
def draw_centre(rng: np.random.Generator, means: FloatArray, variances: FloatArray, limit: float) -> float:
    """mu0 given all but the mu_i: normal, cut to within the limit."""
    precision = (1 / variances).sum()
    centre = (means / variances).sum() / precision
    spread = 1 / np.sqrt(precision)
    for _ in range(1000):
        drawn = centre + spread * rng.standard_normal()
        if -limit <= drawn <= limit:
            return float(drawn)
        # So wide a normal is nearly flat within the limits: propose from there.
        if spread > limit:
            drawn = limit * (2 * rng.random() - 1)
            if np.log(rng.random()) < -0.5 * ((drawn - centre) / spread) ** 2:
                return float(drawn)
    return float(min(max(centre, -limit), limit))


@kernel
def slice_step(
    rng: np.random.Generator,
    which: int,
    at: float,
    low: float,
    high: float,
    means: FloatArray,
    sigma: FloatArray,
    weight: FloatArray,
    given: FloatArray,
) -> float:
    """One slice step with stepping out and shrinking (Neal 2003), within (low, high)."""
    level = log_density(which, at, means, sigma, weight, given) + np.log(1.0 - rng.random())
    width = 1.0 if which in (SIGMA0, SIGMA, NU) else high - low
    left = at - width * rng.random()
    right = left + width
    while left > low and log_density(which, left, means, sigma, weight, given) > level:
        left -= width
    while right < high and log_density(which, right, means, sigma, weight, given) > level:
        right += width
    left, right = max(left, low), min(right, high)
    for _ in range(200):
        drawn = left + (right - left) * rng.random()
        if log_density(which, drawn, means, sigma, weight, given) >= level:
            return drawn
        if drawn < at:
            left = drawn
        else:
            right = drawn
    return at


@kernel
def log_density(which: int, value: float, means: FloatArray, sigma: FloatArray, weight: FloatArray, given: FloatArray) -> float:
    """Log density of one number given the rest; sigma0, sigma_i and nu - 1 on the log scale, with its Jacobian."""
    if which == SIGMA0:
        total, variance0 = value, np.exp(2 * value)
        for i in range(means.size):
            variance = given[1] * sigma[i] ** 2 + variance0 / weight[i]
            total -= 0.5 * (np.log(variance) + (means[i] - given[0]) ** 2 / variance)
        return float(total)
    if which == SIGMA:
        square = np.exp(2 * value)
        variance = given[2] * square + given[3]
        total = value - given[0] * value - given[1] / (2 * square)
        return float(total - 0.5 * (np.log(variance) + given[4] / variance))
    if which == NU:
        return log_nu(value, means, given[0], given[1])
    shape, rate = (value, given[2]) if which == ALPHA else (given[1], value)
    return float(shape * np.log(rate) - math.lgamma(shape) + (shape - 1) * np.log(given[0]) - rate * given[0])


@kernel
def log_nu(value: float, distance: FloatArray, alpha: float, beta: float) -> float:
    """Log density of log(nu - 1): Student's t at the distances, times the gamma prior."""
    less = np.exp(value)
    nu = less + 1
    total = alpha * value - beta * less
    total += distance.size * (math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - 0.5 * np.log(nu))
    for i in range(distance.size):
        total -= 0.5 * (nu + 1) * np.log1p(distance[i] / nu)
    return float(total)
