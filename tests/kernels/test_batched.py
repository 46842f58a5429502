"""Matrix products return the first entries of the true list of neighbours."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.neighbours import look_up_batched
from tests.reference import dob_scv as reference


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 120),
    columns=st.integers(1, 20),
    digits=st.sampled_from([0, 1, 15]),
    shift=st.sampled_from([0.0, 1e6]),
)
@settings(max_examples=60, deadline=None)
def test_what_is_given_is_the_beginning_of_the_true_list(seed, n, columns, digits, shift):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, columns)).round(digits) + shift
    where = np.where(rng.random(n) < 0.7, 0, -1)
    window = rng.permutation(n)[: n // 2 + 1]
    kinds, left = np.zeros(columns, np.int8), np.flatnonzero(where >= 0)
    for one, found in zip(window, look_up_batched(where, points, window, 5), strict=True):
        sure = found[: np.argmax(np.append(found, -1) < 0)].tolist()
        assert sure == reference.nearest(points, kinds, one, left[left != one], len(sure))
        assert (found[len(sure) :] < 0).all()
        if where[one] < 0:
            assert not sure


@pytest.mark.parametrize("n", [500, 5000])
def test_without_ties_the_whole_list_is_sure(n):
    points = np.random.default_rng(n).normal(size=(n, 30))
    found = look_up_batched(np.zeros(n, np.int64), points, np.arange(20), 6)
    assert (found >= 0).all()
    for one in range(20):
        others = np.delete(np.arange(n), one)
        assert found[one].tolist() == reference.nearest(points, np.zeros(30, np.int8), one, others, 6)
