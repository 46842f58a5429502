"""Adjusted p values against published figures, R, brute-force closed testing, and the laws they obey."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control

from fairtrial.errors import InputError
from fairtrial.significance.adjust import ADJUSTMENT_METHODS, adjust, rom_critical_values

P = [0.001, 0.010, 0.022, 0.024, 0.041, 0.30]
families = arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.04, 1.0]))


# The figures of REFERENCE, section 6; R's p.adjust gives the first four too.
@pytest.mark.parametrize(
    ("method", "expected", "digits"),
    [
        ("bonferroni", [0.006, 0.06, 0.132, 0.144, 0.246, 1], 1e-12),
        ("holm", [0.006, 0.05, 0.088, 0.088, 0.088, 0.3], 1e-12),
        ("hochberg", [0.006, 0.05, 0.072, 0.072, 0.082, 0.3], 1e-12),
        ("hommel", [0.006, 0.04, 0.0615, 0.0615, 0.082, 0.3], 1e-12),
        ("finner", [0.00599, 0.0297, 0.04352, 0.04352, 0.049, 0.3], 6e-6),
        ("rom", [0.00588, 0.04905, 0.07111, 0.07111, 0.082, 0.3], 6e-6),
        ("none", P, 0),
    ],
)
def test_published_figures(method, expected, digits):
    assert adjust(P, method) == pytest.approx(expected, abs=digits)


def test_r_on_unsorted_values_with_ties():
    # R: p.adjust(c(.7,.02,.02,.4,.001,.03,.9,.013,.05,.05), m)
    p = [0.7, 0.02, 0.02, 0.4, 0.001, 0.03, 0.9, 0.013, 0.05, 0.05]
    assert adjust(p, "holm") == pytest.approx([1, 0.16, 0.16, 1, 0.01, 0.18, 1, 0.117, 0.25, 0.25])
    assert adjust(p, "hochberg") == pytest.approx([0.9, 0.14, 0.14, 0.9, 0.01, 0.18, 0.9, 0.117, 0.2, 0.2])
    assert adjust(p, "hommel") == pytest.approx([0.9, 0.1, 0.1, 0.9, 0.01, 0.125, 0.9, 0.0875, 0.2, 0.2])
    assert adjust(p, "bonferroni") == pytest.approx([1, 0.2, 0.2, 1, 0.01, 0.3, 1, 0.13, 0.5, 0.5])


def test_roms_critical_values():
    assert rom_critical_values(6) == pytest.approx([0.05, 0.025, 0.016875, 0.012713, 0.010193, 0.008505], abs=5e-7)
    large = rom_critical_values(2000)
    assert np.all(np.diff(large) < 0)
    # Between Hochberg's alpha / i and Sidak's bound
    assert np.all(large >= 0.05 / np.arange(1, 2001) - 1e-15)
    assert np.all(large <= 1 - (1 - 0.05) ** (1 / np.arange(1, 2001)) + 1e-15)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
@pytest.mark.parametrize("m", [2, 3, 4])
def test_rom_has_level_alpha_exactly_for_independent_p_values(m, alpha):
    """Rom's defining equation: P(some p_(i) <= c) = alpha, by simulation."""
    c = rom_critical_values(m, alpha)[::-1]
    rng = np.random.default_rng(m)
    p = np.sort(rng.random((400_000, m)), axis=1)
    rejected = (p <= c).any(axis=1).mean()
    assert rejected == pytest.approx(alpha, abs=4 * np.sqrt(alpha / 400_000))


@given(families, st.sampled_from([0.01, 0.05, 0.1]))
@settings(max_examples=60, deadline=None)
def test_roms_decisions_are_the_step_up_decisions(p, alpha):
    c = rom_critical_values(len(p), alpha)[::-1]
    ordered = np.sort(p)
    passed = np.flatnonzero(ordered <= c * (1 - 1e-9))
    at_most = ordered[passed[-1]] if len(passed) else -1.0
    adjusted = adjust(p, "rom", alpha=alpha)
    assert np.all(adjusted[p <= at_most] <= alpha)
    if not np.any(np.abs(ordered - c) <= 1e-9 * c):
        assert np.all(adjusted[p > at_most] > alpha)


def closed(p, combine):
    """The largest p value of all families that hold the hypothesis: 2^m of them."""
    m = len(p)
    out = np.zeros(m)
    for size in range(1, m + 1):
        for family in combinations(range(m), size):
            value = combine(np.sort(p[list(family)]))
            for i in family:
                out[i] = max(out[i], value)
    return np.minimum(out, 1)


def simes(p):
    return min(len(p) * value / (i + 1) for i, value in enumerate(p))


@given(arrays(np.float64, st.integers(1, 7), elements=st.floats(0, 1)))
@settings(max_examples=60, deadline=None)
def test_closed_testing_by_brute_force(p):
    assert adjust(p, "hommel") == pytest.approx(closed(p, simes), abs=1e-12)
    assert adjust(p, "holm") == pytest.approx(closed(p, lambda q: len(q) * q[0]), abs=1e-12)
    assert adjust(p, "holland") == pytest.approx(closed(p, lambda q: 1 - (1 - q[0]) ** len(q)), abs=1e-12)


def test_formulas_of_sidak_and_li():
    p = np.array(P)
    assert adjust(p, "sidak") == pytest.approx(1 - (1 - p) ** 6)
    assert adjust(p, "li") == pytest.approx(p / (p + 1 - 0.3))
    assert adjust([0.0, 0.5, 1.0], "li").tolist() == [0, 1, 1]


@given(families)
@settings(max_examples=100, deadline=None)
def test_laws(p):
    found = {method: adjust(p, method) for method in ADJUSTMENT_METHODS}
    for method, adjusted in found.items():
        assert np.all((adjusted >= p) & (adjusted <= 1)), method
        order = np.argsort(p, kind="stable")
        assert np.all(np.diff(adjusted[order]) >= -1e-12), method
        assert np.all(adjust(p[::-1], method)[::-1] == adjusted), method
    for less, more in (
        ("hommel", "hochberg"),
        ("hochberg", "holm"),
        ("rom", "hochberg"),
        ("holm", "bonferroni"),
        ("holland", "holm"),
        ("finner", "sidak"),
        ("sidak", "bonferroni"),
    ):
        assert np.all(found[less] <= found[more] + 1e-12), (less, more)


@given(families, st.sampled_from([m for m in ADJUSTMENT_METHODS if m != "li"]), st.integers(0, 11), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_a_larger_p_value_lowers_no_adjusted_one(p, method, place, by):
    larger = p.copy()
    larger[place % len(p)] += by * (1 - larger[place % len(p)])
    assert np.all(adjust(np.minimum(larger, 1), method) >= adjust(p, method) - 1e-12)


@pytest.mark.parametrize("method", ADJUSTMENT_METHODS)
def test_one_hypothesis_needs_no_adjustment(method):
    assert adjust([0.03], method) == pytest.approx([0.03])


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.1, float("nan")], "nan"),
        ([-0.1], "-0.1"),
        ([1.5], "1.5"),
        ([], "p_values"),
        ([[0.1, 0.2]], "p_values"),
        (["x"], "p_values"),
    ],
)
def test_bad_p_values(p, message):
    with pytest.raises(InputError, match=message):
        adjust(p)


def test_unknown_method_gets_a_hint():
    with pytest.raises(InputError, match="'hommel'"):
        adjust([0.1], "homel")
    with pytest.raises(InputError, match="alpha"):
        adjust([0.1], "rom", alpha=0)


@given(families)
@settings(max_examples=60, deadline=None)
def test_false_discovery_rates_against_scipy(p):
    assert adjust(p, "benjamini-hochberg") == pytest.approx(false_discovery_control(p, method="bh"))
    assert adjust(p, "BY") == pytest.approx(false_discovery_control(p, method="by"))


def test_false_discovery_rates_against_r():
    # R: p.adjust(c(.001,.010,.022,.024,.041,.30), "BH") and "BY"
    assert adjust(P, "fdr_bh") == pytest.approx([0.006, 0.03, 0.036, 0.036, 0.0492, 0.3])
    assert adjust(P, "fdr_by") == pytest.approx([0.0147, 0.0735, 0.0882, 0.0882, 0.12054, 0.735])


def test_finner_does_not_control_the_family_wise_error():
    """REFERENCE section 8: five false hypotheses and five true ones give 14.3 % at 5 %, the Šidák bound of exponent 10/6 on."""
    rng = np.random.default_rng(0)
    runs = 4000
    p = np.hstack([np.zeros((runs, 5)), rng.random((runs, 5))])
    wrong = {method: np.mean([(adjust(row, method)[5:] <= 0.05).any() for row in p]) for method in ("finner", "holm")}
    assert wrong["finner"] == pytest.approx(0.143, abs=3 * np.sqrt(0.143 * 0.857 / runs))
    assert wrong["holm"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
