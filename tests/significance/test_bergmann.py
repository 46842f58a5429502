"""Bergmann and Hommel's procedure against brute force over all set partitions."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from fairtrial.errors import InputError
from fairtrial.significance.posthoc import bergmann, shaffer
from tests.significance.test_shaffer import partitions


def exhaustive_sets(k):
    place = {pair: i for i, pair in enumerate(combinations(range(k), 2))}
    found = {
        frozenset(place[pair] for block in part for pair in combinations(sorted(block), 2))
        for part in partitions(list(range(k)))
    }
    return [sorted(each) for each in found if each]


SETS = {k: exhaustive_sets(k) for k in range(2, 8)}


def listed(p, k):
    out = np.zeros(len(p))
    for each in SETS[k]:
        value = len(each) * min(p[i] for i in each)
        out[each] = np.maximum(out[each], value)
    return np.minimum(out, 1)


def test_number_of_exhaustive_sets():
    # Garcia & Herrera 2008, REFERENCE section 6: Bell(k) - 1
    assert [len(SETS[k]) for k in (4, 5, 6, 7)] == [14, 51, 202, 876]
    assert len(exhaustive_sets(8)) == 4139


tables = st.integers(2, 7).flatmap(
    lambda k: arrays(np.float64, k * (k - 1) // 2, elements=st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.02, 1.0]))
)


@given(tables)
@settings(max_examples=100, deadline=None)
def test_brute_force_over_all_partitions(p):
    k = round((1 + np.sqrt(1 + 8 * len(p))) / 2)
    found = bergmann(p)
    assert found == pytest.approx(listed(p, k), abs=1e-15)
    assert np.all(found <= shaffer(p) + 1e-12)
    assert np.all((found >= p) & (found <= 1))


@given(st.integers(3, 7), st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_permuting_learners_permutes_the_answer(k, seed):
    rng = np.random.default_rng(seed)
    square = np.triu(rng.random((k, k)) ** 3, 1)
    square += square.T
    moved = rng.permutation(k)
    upper = np.triu_indices(k, 1)
    answer = np.zeros((k, k))
    answer[upper] = bergmann(square[upper])
    answer += answer.T
    assert bergmann(square[np.ix_(moved, moved)][upper]).tolist() == answer[np.ix_(moved, moved)][upper].tolist()


def test_twelve_learners_are_within_shaffers():
    p = np.random.default_rng(0).random(66)
    assert np.all(bergmann(p) <= shaffer(p) + 1e-12)


def test_sixteen_equal_learners():
    # With all p equal every pair may be true: 120 p
    assert bergmann(np.full(120, 0.001)) == pytest.approx(np.full(120, 0.12))


def test_too_many_learners_get_a_remedy():
    with pytest.raises(InputError, match=r"17.*'shaffer'"):
        bergmann(np.full(136, 0.1))
    with pytest.raises(InputError, match="p_values"):
        bergmann([0.1, 0.2])
