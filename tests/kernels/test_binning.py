"""Sums over bins equal histograms, line by line."""

import numpy as np
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from fairtrial.kernels.arithmetic import Binning, add_to_bins


@given(data=st.data(), R=st.integers(1, 4), n=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_sums_are_a_weighted_histogram_of_each_line(data, R, n):
    kind = data.draw(st.sampled_from([np.uint8, np.float64]))
    drawn = data.draw(hnp.arrays(kind, (R, n), elements=st.integers(0, 3)))
    weights = data.draw(st.none() | hnp.arrays(float, n, elements=st.sampled_from([0.0, 1.0, 0.5])))
    codes = data.draw(hnp.arrays(np.intp, n, elements=st.integers(0, 4)))
    scale = np.ones(n) if weights is None else weights
    expected = [np.bincount(codes, line * scale, minlength=5) for line in drawn]
    np.testing.assert_allclose(Binning(codes, 5, weights).compute_sums(drawn), expected)


def test_accumulate_adds_to_what_is_there():
    out = np.ones((1, 2))
    add_to_bins(np.array([[2.0, 3.0]]), np.array([1, 0]), np.array([0, 1]), np.array([10.0, 1.0]), out)
    assert out.tolist() == [[31.0, 3.0]]
