"""Steps of the sampler keep the target densities invariant."""

import numpy as np
import pytest
from scipy import stats

from fairtrial.kernels.significance import ALPHA, BETA, SIGMA0, compute_log_density, draw_centre, run_chain, run_slice_step

NONE = np.zeros(0)


@pytest.mark.parametrize(("which", "low", "high"), [(ALPHA, 0.5, 5.0), (BETA, 0.05, 0.15)])
def test_hyper_parameters_have_a_gamma_likelihood(which, low, high):
    less, alpha, beta = 3.0, 1.5, 0.1
    given = np.array([less, alpha, beta, 0.0, 0.0])
    values = np.linspace(low, high, 4)
    ours = [compute_log_density(which, value, NONE, NONE, NONE, given) for value in values]
    shapes, rates = (values, np.full(4, beta)) if which == ALPHA else (np.full(4, alpha), values)
    np.testing.assert_allclose(np.diff(ours), np.diff(stats.gamma.logpdf(less, shapes, scale=1 / rates)), rtol=1e-9)


def test_sigma0_has_a_normal_likelihood_on_the_log_scale():
    means, sigma, weight = np.array([0.1, -0.2, 0.05]), np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.5])
    given = np.array([0.02, 0.4, 0.0, 0.0, 0.0])

    def theirs(value):
        variance = 0.4 * sigma**2 + np.exp(2 * value) / weight
        return value + stats.norm.logpdf(means, 0.02, np.sqrt(variance)).sum()

    values = [-3.0, -1.0, 0.5]
    ours = [compute_log_density(SIGMA0, value, means, sigma, weight, given) for value in values]
    np.testing.assert_allclose(np.diff(ours), np.diff([theirs(value) for value in values]), rtol=1e-9)


def test_slice_steps_sample_the_density():
    rng = np.random.default_rng(0)
    given = np.array([3.0, 1.5, 0.1, 0.0, 0.0])
    at, drawn = 0.1, []
    for _ in range(20_000):
        at = run_slice_step(rng, BETA, at, 0.05, 0.15, NONE, NONE, NONE, given)
        drawn.append(at)
    # As a function of the rate, the gamma likelihood is a gamma density with shape 2.5 and rate 3, here cut to (0.05, 0.15)
    law = stats.gamma(2.5, scale=1 / 3.0)
    share = (law.cdf(drawn[::10]) - law.cdf(0.05)) / (law.cdf(0.15) - law.cdf(0.05))
    assert stats.kstest(share, "uniform").pvalue > 1e-3


def test_centre_is_a_cut_normal():
    rng = np.random.default_rng(1)
    means, variances = np.array([0.1, 0.3]), np.array([0.01, 0.04])
    drawn = [draw_centre(rng, means, variances, 0.2) for _ in range(4000)]
    precision = (1 / variances).sum()
    middle, spread = (means / variances).sum() / precision, 1 / np.sqrt(precision)
    law = stats.truncnorm((-0.2 - middle) / spread, (0.2 - middle) / spread, middle, spread)
    assert stats.kstest(drawn, law.cdf).pvalue > 1e-3


def test_a_chain_depends_on_its_generator_alone():
    means, squares = np.array([0.1, 0.0, 0.2]), np.array([0.01, 0.02, 0.01])
    bounds, priors = np.array([1e-4, 1.0, 1.0, 1.0]), np.array([0.5, 5.0, 0.05, 0.15])
    first, again = (run_chain(np.random.default_rng(3), means, squares, 10, 0.2, 0.1, bounds, priors, 50, 10) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert first[0].shape == (50, 3)
    assert np.isfinite(first[1]).all()
