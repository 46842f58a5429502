"""Regions of weighted Walsh averages equal the sum over all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.significance import compute_regions, count_leads


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([0.0, 0.5]))
@settings(max_examples=60, deadline=None)
def test_regions_equal_all_pairs(seed, n, to_sides):
    rng = np.random.default_rng(seed)
    z, limit = np.sort(rng.integers(-4, 5, n)).astype(float), 2.0
    weights = rng.random((3, n)).astype(np.float32) + np.float32(0.1)
    sums = z[:, None] + z[None, :]
    out = np.empty((3, 3))
    compute_regions(weights, (sums <= limit).sum(axis=1), (sums < -limit).sum(axis=1), to_sides, out)
    for line, found in zip(weights.astype(float), out, strict=True):
        pairs = np.outer(line, line) / line.sum() ** 2
        high, low = pairs[sums > limit].sum(), pairs[sums < -limit].sum()
        middle = 1 - high - low
        expected = [high + to_sides * middle, (1 - 2 * to_sides) * middle, low + to_sides * middle]
        assert found == pytest.approx(expected, abs=1e-6)


def test_leaders_share_a_draw_that_they_share():
    draws = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8], [1 / 3, 1 / 3, 1 / 3]])
    assert count_leads(draws) == pytest.approx([1 + 0.5 + 1 / 3, 0.5 + 1 / 3, 1 + 1 / 3])
