"""The bootstrap: its draws, its limits against scipy's, and independence of threads."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from fairtrial.measures.bootstrap import Resamples, compute_bca_limits, compute_percentile_limits


def mean_of(x):
    return lambda drawn: (drawn @ x / drawn.sum(axis=1))[:, None]


def test_limits_equal_scipys_on_scipys_own_resamples():
    x = np.random.default_rng(3).exponential(size=40)
    for method in ("percentile", "BCa"):
        theirs = bootstrap((x,), np.mean, n_resamples=999, method=method, rng=np.random.default_rng(5))
        left_out = np.array([np.delete(x, i).mean() for i in range(len(x))])
        ours = (
            compute_percentile_limits(theirs.bootstrap_distribution, 0.95)
            if method == "percentile"
            else compute_bca_limits(theirs.bootstrap_distribution, x.mean(), left_out, 0.95)
        )
        assert ours == pytest.approx(tuple(theirs.confidence_interval), rel=1e-9)


def test_resampled_means_have_the_theoretical_spread():
    x = np.random.default_rng(0).normal(size=200)
    values = Resamples(200, 4000, seed=1).compute_values(mean_of(x))[:, 0]
    assert values.mean() == pytest.approx(x.mean(), abs=5 * x.std() / np.sqrt(200 * 4000))
    assert values.std() == pytest.approx(x.std() / np.sqrt(200), rel=0.05)


def test_strata_keep_their_sizes():
    strata = np.repeat([0, 1, 2], [5, 20, 3])
    Resamples(28, 50, seed=2, strata=strata).compute_values(lambda drawn: _assert_sizes(drawn, strata))


def _assert_sizes(drawn, strata):
    assert (drawn @ np.eye(3)[strata] == [5, 20, 3]).all()
    return drawn[:, :1]


def test_seed_decides_the_draws_and_threads_do_not(monkeypatch):
    x = np.random.default_rng(0).normal(size=5000)
    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    alone = Resamples(5000, 100, seed=7).compute_values(mean_of(x))
    monkeypatch.setenv("FAIRTRIAL_THREADS", "3")
    assert (Resamples(5000, 100, seed=7).compute_values(mean_of(x)) == alone).all()
    assert (Resamples(5000, 100, seed=8).compute_values(mean_of(x)) != alone).any()


def test_left_out_is_the_jackknife_while_rows_are_few():
    x = np.random.default_rng(1).normal(size=30)
    found = Resamples(30, 10, seed=0).compute_jackknife(mean_of(x))[:, 0]
    assert sorted(found) == pytest.approx(sorted(np.delete(x, i).mean() for i in range(30)))


def test_grouped_jackknife_gives_nearly_the_same_acceleration():
    x = np.random.default_rng(1).exponential(size=5000)
    resamples = Resamples(5000, 500, seed=0)
    values = resamples.compute_values(mean_of(x))[:, 0]
    every = np.array([np.delete(x, i).mean() for i in range(5000)])
    grouped = compute_bca_limits(values, x.mean(), resamples.compute_jackknife(mean_of(x))[:, 0], 0.95)
    assert grouped == pytest.approx(compute_bca_limits(values, x.mean(), every, 0.95), abs=0.1 * values.std())


def test_bca_does_not_exist_without_spread():
    same = np.full(50, 0.5)
    assert compute_bca_limits(same, 0.7, same, 0.95) is None
    assert compute_bca_limits(np.linspace(0, 1, 50), 0.5, same, 0.95) is None


def test_infinite_values_are_kept_as_limits():
    low, high = compute_percentile_limits(np.array([1.0, 2.0, np.inf, np.inf]), 0.9)
    assert low == 1
    assert high == np.inf
