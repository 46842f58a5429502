"""Posteriors against the published row, a twin over all pairs, and stored figures of baycomp 1.0.3."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate, stats

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.significance.bayes import bayes_signed_rank, correlated_t

FIRST = np.array([0.84, 0.91, 0.77, 0.88, 0.69, 0.95, 0.71, 0.80])
BAYCOMP = {0.0: (0.038225, 0, 0.961775), 0.005: (0.03961, 0.00614, 0.95425), 0.01: (0, 0.95025, 0.04975)}
SECOND = np.array([0.81, 0.86, 0.78, 0.83, 0.70, 0.93, 0.72, 0.79])


def test_row_of_the_reference():
    x, y = [4, 2, 6], [5, 7, 3]
    found = correlated_t(y, x, test_fraction=1 / 3)
    assert (found.mean, found.df) == (1, 2)
    assert found.variance == pytest.approx(16 * (1 / 3 + 1 / 2))
    assert correlated_t(x, y, test_fraction=1 / 3).mean == -1
    assert correlated_t(x, y).variance == pytest.approx(found.variance)  # three results: one cross-validation of three folds


def test_correlated_t_integrates_the_student_density():
    found = correlated_t(FIRST, SECOND, test_fraction=0.1, rope=0.01)
    delta = FIRST - SECOND
    scale = np.sqrt((1 / 8 + 1 / 9) * delta.var(ddof=1))
    density = lambda x: stats.t.pdf((x - delta.mean()) / scale, 7) / scale  # noqa: E731
    assert found.p_first == pytest.approx(integrate.quad(density, 0.01, np.inf)[0], abs=1e-7)
    assert found.p_rope == pytest.approx(integrate.quad(density, -0.01, 0.01)[0], abs=1e-7)
    grid = found.density(2001)
    assert np.trapezoid(grid["density"], grid["difference"]) == pytest.approx(0.998, abs=1e-4)


def test_without_rope_it_is_the_one_sided_corrected_t():
    found = correlated_t(FIRST, SECOND, test_fraction=0.2)
    delta = FIRST - SECOND
    t = delta.mean() / np.sqrt((1 / 8 + 0.25) * delta.var(ddof=1))
    assert found.p_second == pytest.approx(stats.t.sf(t, 7))
    assert found.p_rope == 0


@pytest.mark.parametrize("test", [correlated_t, lambda a, b, **more: bayes_signed_rank(a, b, samples=2000, **more)])
def test_swapping_the_learners_swaps_the_answer(test):
    one, other = test(FIRST, SECOND, rope=0.01), test(SECOND, FIRST, rope=0.01)
    lower = test(SECOND, FIRST, rope=0.01, better="min")
    tolerance = 1e-12 if one.draws is None else 0.04
    assert one.p_first == pytest.approx(other.p_second, abs=tolerance)
    assert one.p_rope == pytest.approx(other.p_rope, abs=tolerance)
    assert one.p_first == pytest.approx(lower.p_first, abs=tolerance)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_equal_differences_are_undefined(value):
    with pytest.warns(UndefinedMeasureWarning, match="correlated_t"):
        found = correlated_t(np.array([0.8, 0.7, 0.9]) + value, [0.8, 0.7, 0.9])
    assert np.isnan([found.p_first, found.p_rope, found.p_second]).all()
    assert found.likeliest == ""
    assert "constant_differences" in [caveat.kind for caveat in found.caveats]


def all_pairs(delta, rope, strength, place, samples, seed):
    """The definition, with NumPy's own Dirichlet draws and every pair."""
    rng = np.random.default_rng(seed)
    z = np.append(delta, {"rope": 0, "first": 1e9, "second": -1e9}[place])
    sums = np.round(z[:, None] + z[None, :], 9)
    weights = rng.dirichlet(np.append(np.ones(len(delta)), strength), samples)
    mean = lambda table: np.einsum("ri,ij,rj->r", weights, table.astype(float), weights)  # noqa: E731
    if rope == 0:
        above, below = mean((sums > 0) + 0.5 * (sums == 0)), mean((sums < 0) + 0.5 * (sums == 0))
        return np.column_stack([above, 0 * above, below])
    above, below = mean(sums > 2 * rope + 1e-12), mean(sums < -2 * rope - 1e-12)
    return np.column_stack([above, 1 - above - below, below])


@pytest.mark.parametrize("place", ["rope", "first", "second"])
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.02])
def test_signed_rank_equals_its_definition(rope, place):
    found = bayes_signed_rank(FIRST, SECOND, rope=rope, prior_position=place, prior_strength=0.8, samples=20_000)
    twin = all_pairs(FIRST - SECOND, rope, 0.8, place, 20_000, 3)
    np.testing.assert_allclose(found.draws.mean(axis=0), twin.mean(axis=0), atol=0.006)
    np.testing.assert_allclose(found.draws.std(axis=0), twin.std(axis=0), atol=0.006)
    shares = np.bincount(twin.argmax(axis=1), minlength=3) / len(twin)
    np.testing.assert_allclose([found.p_first, found.p_rope, found.p_second], shares, atol=0.02)
    assert list(found.samples().columns) == ["first", "rope", "second"]


def test_signed_rank_agrees_with_baycomp():
    # baycomp.SignedRankTest.probs(x, y, rope, nsamples=200_000, random_state=0), its left being our first
    rng = np.random.default_rng(1)
    x = rng.normal(0.8, 0.05, 50)
    y = x + rng.normal(0.006, 0.02, 50)
    for rope, expected in BAYCOMP.items():
        found = bayes_signed_rank(x, y, rope=rope)
        np.testing.assert_allclose([found.p_first, found.p_rope, found.p_second], expected, atol=0.006)


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_draws_of_one_difference_follow_their_distribution(strength):
    """The weight of the pseudo-observation is Beta(strength, 1), and its pair with itself is not above the rope."""
    found = bayes_signed_rank([9.0], [1.0], rope=1.0, prior_strength=strength, samples=50_000)
    assert stats.kstest(1 - found.draws[:, 0], lambda q: np.clip(q, 0, 1) ** (strength / 2)).pvalue > 0.001


def test_seed_decides_and_threads_do_not(monkeypatch):
    one = bayes_signed_rank(FIRST, SECOND, rope=0.01, seed=5)
    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    np.testing.assert_array_equal(one.draws, bayes_signed_rank(FIRST, SECOND, rope=0.01, seed=5).draws)
    assert not np.array_equal(one.draws, bayes_signed_rank(FIRST, SECOND, rope=0.01, seed=6).draws)


def test_limits_of_the_rope_belong_to_it_in_spite_of_float_noise():
    first = np.array([0.3, 0.4, 0.5, 0.7])
    found = bayes_signed_rank(first, first - 0.1, rope=0.1, samples=500)
    assert (found.p_first, found.p_rope, found.p_second) == (0, 1, 0)
    np.testing.assert_allclose(found.draws[:, 1], 1)


def test_equal_learners_share_the_belief():
    found = bayes_signed_rank(FIRST, FIRST, samples=500)
    assert (found.p_first, found.p_rope, found.p_second) == (0.5, 0, 0.5)
    assert bayes_signed_rank(FIRST, FIRST, rope=0.001, samples=500).p_rope == 1


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=12), st.integers(0, 3))
def test_probabilities_sum_to_one(pairs, rope):
    a, b = np.array(pairs, dtype=float).T
    found = bayes_signed_rank(a, b, rope=rope, samples=300)
    assert found.p_first + found.p_rope + found.p_second == pytest.approx(1)
    np.testing.assert_allclose(found.draws.sum(axis=1), 1)
    assert found.draws.min() >= 0
    if np.ptp(a - b) > 0:
        t = correlated_t(a, b, rope=rope)
        assert t.p_first + t.p_rope + t.p_second == pytest.approx(1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rope": -1}, "rope"),
        ({"rope": float("nan")}, "rope"),
        ({"prior_strength": 0}, "prior_strength"),
        ({"prior_position": "left"}, "prior_position"),
        ({"samples": 0}, "samples"),
        ({"better": "high"}, "better"),
    ],
)
def test_bad_arguments(wrong, message):
    with pytest.raises(InputError, match=message):
        bayes_signed_rank(FIRST, SECOND, **wrong)


def test_bad_use():
    with pytest.raises(InputError, match="test_fraction"):
        correlated_t(FIRST, SECOND, test_fraction=1)
    with pytest.raises(InputError, match="first and second"):
        correlated_t([1], [2])
    with pytest.raises(InputError, match=r"density\(\)"):
        correlated_t(FIRST, SECOND).samples()
    with pytest.raises(InputError, match=r"samples\(\)"):
        bayes_signed_rank(FIRST, SECOND, samples=10).density()


def test_result_is_frozen_and_has_a_frame():
    found = correlated_t(FIRST, SECOND, rope=0.01)
    assert (found.scope, found.rope) == ("dataset", 0.01)
    assert [caveat.kind for caveat in found.caveats] == ["one_dataset_posterior", "assumed_folds"]
    assert found.caveats[1]["folds"] == len(FIRST)
    assert found.frame().loc[0, "p_first"] == found.p_first
    assert "<table" in found._repr_html_()
    with pytest.raises(AttributeError):
        found.p_first = 1
