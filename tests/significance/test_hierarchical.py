"""The hierarchical model: its likelihood against scipy's, its sampler against known parameters and a closed form."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels import significance
from fairtrial.significance.hierarchical import compute_effective_size, compute_r_hat, hierarchical

RHO, FOLDS = 0.1, 10
# The package may export the function under the module's name.
module = import_module("fairtrial.significance.hierarchical")


def simulate(rng, mu, sigma):
    correlation = RHO * np.ones((FOLDS, FOLDS)) + (1 - RHO) * np.eye(FOLDS)
    return mu[:, None] + sigma[:, None] * (rng.standard_normal((len(mu), FOLDS)) @ np.linalg.cholesky(correlation).T)


def fit(delta, **more):
    return hierarchical(delta, np.zeros_like(delta), test_fraction=RHO, **{"samples": 800, "warm_up": 400, **more})


def test_likelihood_by_sufficient_statistics_is_the_multivariate_normal():
    rng = np.random.default_rng(0)
    for folds, rho in [(2, 0.5), (10, 0.1), (30, 0.1)]:
        delta = rng.normal(0.02, 0.05, (4, folds))
        mu, sigma = rng.normal(0, 0.05, 4), rng.uniform(0.01, 0.1, 4)
        correlation = rho * np.ones((folds, folds)) + (1 - rho) * np.eye(folds)
        found = module._compute_log_likelihood(module._summarise_folds(delta, rho), mu, sigma)
        for row, centre, spread, value in zip(delta, mu, sigma, found, strict=True):
            expected = stats.multivariate_normal(np.full(folds, centre), spread**2 * correlation).logpdf(row)
            assert value == pytest.approx(expected)


def test_conditional_density_of_sigma_is_the_likelihood_with_mu_integrated_out():
    delta = np.random.default_rng(1).normal(0.02, 0.05, (1, 6))
    facts = module._summarise_folds(delta, 0.2)
    mu0, spread0 = 0.01, 0.03

    def marginal(sigma):
        def at(mu):
            density = np.exp(module._compute_log_likelihood(facts, np.array([mu]), np.array([sigma])))[0]
            return density * stats.norm.pdf(mu, mu0, spread0)

        return np.log(integrate.quad(at, -0.5, 0.5, points=[mu0, facts.means[0]])[0])

    given = np.array([5.0, facts.squares[0] / 0.8, facts.mean_variance, spread0**2, (facts.means[0] - mu0) ** 2])
    none = np.zeros(0)
    ours = [
        significance.compute_log_density(significance.SIGMA, np.log(s), none, none, none, given) - np.log(s)
        for s in (0.03, 0.05, 0.09)
    ]
    theirs = [marginal(s) for s in (0.03, 0.05, 0.09)]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), rtol=1e-5)


def test_conditional_density_of_nu_is_student_and_gamma():
    distance, none = np.array([0.1, 2.0, 9.0]), np.zeros(0)
    given = np.array([1.5, 0.05, 0.0, 0.0, 0.0])
    values = np.array([2.0, 5.0, 40.0])
    ours = [
        significance.compute_log_density(significance.NU, np.log(nu - 1), distance, none, none, given) - np.log(nu - 1)
        for nu in values
    ]
    theirs = [stats.t.logpdf(np.sqrt(distance), nu).sum() + stats.gamma.logpdf(nu - 1, 1.5, scale=1 / 0.05) for nu in values]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), rtol=1e-9)


def test_known_parameters_are_covered():
    rng = np.random.default_rng(2)
    covered, covered_sets, runs = 0, [], 40
    for seed in range(runs):
        mu = 0.02 + 0.015 * rng.standard_t(5, 15)
        found = fit(simulate(rng, mu, rng.uniform(0.02, 0.05, 15)), seed=seed, chains=2)
        low, high = np.quantile(found.population[:, 0], [0.025, 0.975])
        covered += low < 0.02 < high
        lines = found.datasets()
        covered_sets.append(((lines["low"] < mu) & (mu < lines["high"])).mean())
    assert covered >= 34  # 38 expected; fewer than 34 has probability 0.003
    assert np.mean(covered_sets) == pytest.approx(0.95, abs=0.03)


def test_draws_agree_with_a_grid():
    """Three data sets, nu held near normal: the posterior of mu0 by adding up a grid of (mu0, sigma0)."""
    delta = simulate(np.random.default_rng(3), np.array([0.0, 0.02, 0.04]), np.full(3, 1e-4))
    found = fit(delta, alpha=(1999.0, 2000.0), beta=(0.1, 0.11), samples=4000)
    means = delta.mean(axis=1)
    mu0 = np.linspace(-1, 1, 1501)[:, None] * np.abs(delta).max()
    sigma0 = np.geomspace(1e-4, 1000 * means.std(), 1500)[None, :]
    # folds are so precise that the data sets' means are known; uniform in sigma0 is weight sigma0 on a log grid
    log = sum(stats.norm.logpdf(mean, mu0, sigma0) for mean in means) + np.log(sigma0)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    centre = (weight * mu0).sum()
    assert found.population[:, 0].mean() == pytest.approx(centre, abs=0.001)
    assert found.population[:, 0].std() == pytest.approx(np.sqrt((weight * (mu0 - centre) ** 2).sum()), rel=0.1)
    above = (weight * stats.norm.sf(0, mu0, sigma0)).sum()
    assert found.p_first == pytest.approx(above, abs=0.02)


def test_one_data_set_gives_the_student_posterior():
    # sigma uniform: Student with n - 2 degrees of freedom; the prior on mu is next to flat
    delta = np.random.default_rng(4).normal(0.02, 0.03, (1, FOLDS))
    found = fit(delta, samples=4000)
    mean, square = delta.mean(), ((delta - delta.mean()) ** 2).sum()
    scale = np.sqrt((1 + 9 * RHO) / FOLDS * square / (1 - RHO) / (FOLDS - 2))
    low, high = stats.t.interval(0.95, FOLDS - 2, mean, scale)
    line = found.datasets().iloc[0]
    assert line["shrunken"] == pytest.approx(mean, abs=0.15 * scale)
    assert (line["low"], line["high"]) == pytest.approx((low, high), abs=0.3 * scale)
    assert [caveat.kind for caveat in found.caveats] == ["few_datasets_for_prediction"]
    assert found.caveats[0]["datasets"] == 1


def test_noisy_means_are_shrunken_towards_the_middle():
    delta = simulate(np.random.default_rng(5), np.full(10, 0.02), np.full(10, 0.05))
    lines = fit(delta).datasets()
    assert lines["shrunken"].std() < 0.6 * lines["mean"].std()


def test_seed_decides_and_threads_do_not(monkeypatch):
    delta = simulate(np.random.default_rng(6), np.array([0.01, 0.02, 0.0]), np.full(3, 0.03))
    one = fit(delta, seed=3, samples=100)
    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    np.testing.assert_array_equal(one.population, fit(delta, seed=3, samples=100).population)
    assert not np.array_equal(one.population, fit(delta, seed=4, samples=100).population)


def test_direction_and_order():
    delta = simulate(np.random.default_rng(7), np.full(6, 0.03), np.full(6, 0.03))
    up, down = fit(delta, rope=0.01), fit(delta, rope=0.01, better="min")
    assert up.p_first == pytest.approx(down.p_second, abs=1e-12)
    other = hierarchical(np.zeros_like(delta), delta, test_fraction=RHO, rope=0.01, samples=800, warm_up=400)
    assert up.p_first == pytest.approx(other.p_second, abs=0.04)
    assert up.p_first + up.p_rope + up.p_second == pytest.approx(1)
    assert up.parameters["most_first"] > 0.9
    assert up.parameters["r_hat"] < 1.05
    assert up.caveats == ()


def test_folds_that_agree():
    delta = simulate(np.random.default_rng(8), np.full(5, 0.02), np.full(5, 0.03))
    delta[2] = 0.01
    frame = pd.DataFrame(delta, index=list("abcde"))
    found = hierarchical(frame, frame * 0, test_fraction=RHO, samples=400)
    assert found.datasets().loc[2, "shrunken"] == pytest.approx(0.01, abs=1e-3)
    assert next(caveat for caveat in found.caveats if caveat.kind == "constant_folds")["datasets"] == ("c",)
    with pytest.warns(UndefinedMeasureWarning, match="hierarchical"):
        undefined = fit(np.zeros((3, 4)))
    assert np.isnan(undefined.p_first)
    with pytest.raises(InputError, match=r"density\(\)"):
        undefined.density()


def test_density_has_mass_one_or_little_less():
    delta = simulate(np.random.default_rng(9), np.full(12, 0.02), np.full(12, 0.02))
    grid = fit(delta).density(801)
    assert 0.9 < np.trapezoid(grid["density"], grid["difference"]) <= 1.001


def test_chains_that_have_not_converged_are_reported():
    rng = np.random.default_rng(10)
    delta = simulate(rng, 0.05 * rng.standard_t(1, 6), np.full(6, 0.05))
    found = fit(delta, samples=10, warm_up=0)
    assert found.parameters["r_hat"] > 1.05
    assert found.caveats[0].kind == "chains_not_converged"
    assert found.caveats[0]["r_hat"] == found.parameters["r_hat"]


def test_r_hat_and_effective_size():
    rng = np.random.default_rng(11)
    same = rng.standard_normal((4, 1000))
    assert compute_r_hat(same) == pytest.approx(1, abs=0.01)
    assert compute_r_hat(same + np.arange(4)[:, None]) > 1.3
    assert compute_effective_size(same) == pytest.approx(4000, rel=0.15)
    chain = np.zeros((4, 20_000))
    for i in range(1, chain.shape[1]):
        chain[:, i] = 0.8 * chain[:, i - 1] + rng.standard_normal(4)
    assert compute_effective_size(chain) == pytest.approx(80_000 * (1 - 0.8) / (1 + 0.8), rel=0.15)


@pytest.mark.parametrize(
    ("a", "b", "more", "message"),
    [
        ([1.0, 2.0], [1.0, 2.0], {}, "first"),
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], {}, r"\(1, 2\) and \(1, 3\)"),
        ([[1.0, np.nan]], [[1.0, 2.0]], {}, "first"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"alpha": (2, 1)}, "alpha"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"chains": 1}, "chains"),
        ([[1.0, 2.0]], [[1.0, 2.0]], {"test_fraction": 0}, "test_fraction"),
    ],
)
def test_bad_input(a, b, more, message):
    with pytest.raises(InputError, match=message):
        hierarchical(a, b, **{"test_fraction": 0.1, **more})


def test_data_sets_must_agree():
    a = pd.DataFrame([[1.0, 2.0], [2.0, 3.0]], index=["x", "y"])
    with pytest.raises(InputError, match="first and second"):
        hierarchical(a, a.loc[["y", "x"]], test_fraction=0.1)
