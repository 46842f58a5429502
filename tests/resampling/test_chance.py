"""Adjusted p-values: equal to a count by hand, and rarely small without shift."""

import numpy as np
import pytest

from fairtrial.resampling.shift import AUC, ENERGY, KS, OUTLYING, PermutedStatistic, compute_shift_tests


def cells(check, values):
    n = values.shape[1]
    return PermutedStatistic(check, values, np.arange(n), np.zeros(n, dtype=int), np.full(n, -1))


def noise(seed, n=3, permutations=99):
    return np.random.default_rng(seed).normal(size=(permutations + 1, n))


def test_one_family_has_the_p_of_the_largest():
    values = noise(0)
    values[0] = [5, 0, 0]
    (found,), alike = compute_shift_tests([cells(KS, values)])
    z = (values - values.mean(axis=0)) / values.std(axis=0)
    expected = [(z.max(axis=1) >= each - 1e-6).mean() for each in z[0]]
    np.testing.assert_allclose(found.p_adjusted, expected)
    np.testing.assert_allclose(found.p[0], 0.01)
    np.testing.assert_allclose(found.expected, values.mean(axis=0))
    assert alike == []


def test_several_families_cost_more():
    values = noise(0)
    values[0] = [9, 0, 0]
    alone = compute_shift_tests([cells(KS, values)])[0][0].p_adjusted[0]
    together = compute_shift_tests([cells(KS, values), cells(OUTLYING, noise(1)), cells(ENERGY, noise(2))])[0][0].p_adjusted[0]
    assert alone == pytest.approx(0.01)
    assert 0.01 < together <= 0.05


def test_outlying_counts_either_way():
    values = noise(0)
    values[0] = [-9, 0, 0]
    assert compute_shift_tests([cells(OUTLYING, values)])[0][0].p_adjusted[0] == pytest.approx(0.01)
    assert compute_shift_tests([cells(KS, values)])[0][0].p_adjusted[0] == 1


@pytest.mark.parametrize("check", [ENERGY, AUC])
def test_parts_that_are_too_alike(check):
    values = noise(0)
    values[0] = -2
    found, (alike,) = compute_shift_tests([cells(check, values)])
    assert alike.p_adjusted <= 0.02
    assert alike.mean == pytest.approx(-2)
    assert (found[0].p_adjusted > 0.5).all()


def test_likeness_is_judged_within_classes():
    """Cells of all classes together have label -1 and do not count towards it."""
    values = noise(0)
    values[0] = -2
    together = PermutedStatistic(ENERGY, noise(1), np.arange(3), np.full(3, -1), np.full(3, -1))
    _, (alike,) = compute_shift_tests([cells(ENERGY, values), together])
    assert alike.mean == pytest.approx(-2)


def test_what_is_undefined_or_never_varies_is_no_evidence():
    values = noise(0)
    values[:, 1] = np.nan
    values[:, 2] = 0.25
    (found,), (alike,) = compute_shift_tests([cells(ENERGY, values)])
    assert np.isnan(found.p_adjusted[1])
    assert found.p_adjusted[2] > 0.5
    assert np.isfinite(alike.mean)


def test_nothing_to_judge():
    assert compute_shift_tests([]) == ([], [])
    _, (alike,) = compute_shift_tests([cells(AUC, np.full((20, 2), np.nan))])
    assert alike.p_adjusted == 1


def test_any_finding_is_as_rare_as_it_should_be():
    """600 times four families of noise at level 0.05: 30 expected, at most 49 with probability 0.9995."""
    hits = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        shared = rng.normal(size=(200, 1))
        families = [cells(name, np.exp(shared + rng.normal(size=(200, 4)))) for name in (ENERGY, AUC, KS, OUTLYING)]
        judged, alike = compute_shift_tests(families)
        hits += min(*(each.p_adjusted.min() for each in judged), *(each.p_adjusted for each in alike)) <= 0.05
    assert 9 <= hits <= 49
