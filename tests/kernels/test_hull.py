"""The hull equals the brute-force one, AUCH the area of scipy's hull, and H Hand's integral by quadrature."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.kernels import hull
from tests.reference import ranking as reference
from tests.reference.cases import tallies


@given(tally=tallies(max_lines=1, max_places=9, whole=True))
@settings(max_examples=150, deadline=None)
def test_corners_are_those_of_the_brute_force_hull(tally):
    _, pos, neg = tally
    x, y = hull.compute_roc_hull(pos[0], neg[0])
    assert list(zip(x.tolist(), y.tolist(), strict=True)) == reference.hull_corners(pos[0], neg[0])


def test_hull_of_many_corners_outgrows_its_first_space():
    m = 1000
    pos, neg = np.arange(m, 0, -1.0), np.arange(1.0, m + 1)
    x, y = hull.compute_roc_hull(pos, neg)
    np.testing.assert_array_equal(x, np.r_[0, np.cumsum(neg)])
    np.testing.assert_array_equal(y, np.r_[0, np.cumsum(pos)])


@given(tally=tallies())
@settings(max_examples=80, deadline=None)
def test_auch_is_the_area_of_the_convex_hull(tally):
    values, pos, neg = tally
    out = np.empty(len(pos))
    hull.compute_auch(pos, neg, out)
    expected = [reference.auch(*reference.rows_of(*line)) for line in zip(values, pos, neg, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=1e-9)


@given(tally=tallies(max_lines=2, max_places=7), severity_ratio=st.sampled_from([None, 1.0, 0.2, 5.0]))
@settings(max_examples=60, deadline=None)
def test_h_is_hands_integral(tally, severity_ratio):
    values, pos, neg = tally
    out = np.empty(len(pos))
    hull.compute_h_measure(pos, neg, np.nan if severity_ratio is None else severity_ratio, out)
    expected = [
        reference.h_measure(*reference.rows_of(*line), severity_ratio=severity_ratio)
        for line in zip(values, pos, neg, strict=True)
    ]
    np.testing.assert_allclose(out, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("beta", [1.1, 2.0, 3.5, 50.0, 1e4])
@pytest.mark.parametrize("c", [0.0, 1e-3, 0.2, 0.5, 0.99, 1.0])
def test_cost_moments_are_those_of_the_beta_distribution(beta, c):
    mass, first = hull.compute_cost_moments(c, beta)
    assert mass == pytest.approx(stats.beta.cdf(c, 2, beta), abs=1e-13)
    assert first == pytest.approx(2 / (2 + beta) * stats.beta.cdf(c, 3, beta), abs=1e-13)


@pytest.mark.parametrize("positives", [1.0, 10.0, 1e6])
def test_h_of_a_perfect_ranking_is_one_and_of_a_reversed_one_zero(positives):
    out = np.empty(2)
    hull.compute_h_measure(np.array([[positives, 0.0], [0.0, positives]]), np.array([[0.0, 7.0], [7.0, 0.0]]), np.nan, out)
    np.testing.assert_allclose(out, [1, 0], atol=1e-9)


@pytest.mark.parametrize(("pos", "neg"), [([0.0, 0.0], [1.0, 2.0]), ([3.0, 1.0], [0.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])])
def test_one_class_alone_gives_nan(pos, neg):
    out = np.zeros(1)
    hull.compute_auch(np.array([pos]), np.array([neg]), out)
    assert np.isnan(out[0])
    hull.compute_h_measure(np.array([pos]), np.array([neg]), np.nan, out)
    assert np.isnan(out[0])
