"""Bootstrap draws: right totals, right frequencies, and independence of chunks."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from fairtrial.kernels.randomness import draw_resamples, hash_state, update_state

MASK = (1 << 64) - 1


def drawn(seed, first, strata, lines):
    """`strata` gives the stratum of each row."""
    order = np.argsort(strata, kind="stable")
    ends = np.cumsum(np.bincount(strata))
    out = np.zeros((lines, len(strata)), dtype=np.uint8)
    draw_resamples(np.uint64(seed), first, order, ends, out)
    return out


@given(strata=st.lists(st.integers(0, 3), min_size=1, max_size=30), seed=st.integers(0, MASK))
@settings(max_examples=60, deadline=None)
def test_each_line_draws_from_each_stratum_as_many_rows_as_it_holds(strata, seed):
    strata = np.array(strata)
    lines = drawn(seed, 0, strata, 5)
    for stratum in range(strata.max() + 1):
        np.testing.assert_array_equal(lines[:, strata == stratum].sum(axis=1), (strata == stratum).sum())
    assert (lines >= 0).all()
    np.testing.assert_array_equal(lines, np.round(lines))


@given(seed=st.integers(0, MASK), cut=st.integers(1, 19))
@settings(max_examples=40, deadline=None)
def test_chunks_do_not_change_the_numbers(seed, cut):
    strata = np.repeat([0, 1], [7, 5])
    whole = drawn(seed, 0, strata, 20)
    np.testing.assert_array_equal(whole, np.vstack([drawn(seed, 0, strata, cut), drawn(seed, cut, strata, 20 - cut)]))


def test_lines_and_seeds_differ():
    one = np.zeros(50, dtype=int)
    lines = np.vstack([drawn(seed, 0, one, 200) for seed in (0, 1, 2)])
    assert len(np.unique(lines, axis=0)) == 600


@pytest.mark.parametrize("size", [2, 10, 97])
def test_every_row_is_drawn_equally_often(size):
    counts = drawn(12345, 0, np.zeros(size, dtype=int), 4000).sum(axis=0, dtype=float)
    assert stats.chisquare(counts).pvalue > 1e-4


def test_counts_of_one_row_follow_the_binomial_law():
    n = 20
    counts = drawn(7, 0, np.zeros(n, dtype=int), 5000)[:, 3]
    law = stats.binom(n, 1 / n)
    seen = np.array([*(np.sum(counts == i) for i in range(4)), np.sum(counts >= 4)])
    expected = 5000 * np.array([*law.pmf(range(4)), law.sf(3)])
    assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_lines_are_independent_of_each_other():
    n, R = 40, 2000
    lines = drawn(99, 0, np.zeros(n, dtype=int), R)
    correlation = np.corrcoef(lines[:-1, 0], lines[1:, 0])[0, 1]
    assert abs(correlation) < 5 / np.sqrt(R)


def test_generator_is_splitmix64():
    """The first outputs for seed 1234567, as published with Vigna's splitmix64.c (Rosetta Code)."""
    state, found = np.uint64(1234567), []
    for _ in range(5):
        state = np.uint64(update_state(state))
        found.append(int(hash_state(state)))
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def draw_reference(seed, line, size):
    """The draws of one line from one stratum, in Python's whole numbers."""

    def mix(z):
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    step = 0x9E3779B97F4A7C15
    state = mix((seed + mix((line + step) & MASK)) & MASK)
    picks = []
    while len(picks) < size:
        state = (state + step) & MASK
        number = mix(state)
        if size >= 1 << 16:
            picks.append(int((number >> 11) * (size / 2**53)))
        else:
            picks += [((number >> 32) * size) >> 32, ((number & 0xFFFFFFFF) * size) >> 32]
    return np.bincount(picks[:size], minlength=size)


@given(seed=st.integers(0, MASK), line=st.integers(0, 1000), size=st.integers(1, 40))
@settings(max_examples=60, deadline=None)
def test_draws_equal_the_reference(seed, line, size):
    np.testing.assert_array_equal(drawn(seed, line, np.zeros(size, dtype=int), 1)[0], draw_reference(seed, line, size))


def test_draws_from_many_rows_equal_the_reference():
    size = 70_000
    np.testing.assert_array_equal(drawn(5, 3, np.zeros(size, dtype=int), 1)[0], draw_reference(5, 3, size))
