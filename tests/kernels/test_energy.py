"""Energy distances from one matrix equal those from pairs, and those of scipy."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import energy_distance

from fairtrial.kernels.two_sample import compute_energy_distances
from tests.reference import two_sample as reference


@given(seed=st.integers(0, 10_000), n=st.integers(2, 14), complement=st.booleans())
@example(seed=72, n=4, complement=True)  # rounding leaves more than nothing of no training rows
@settings(max_examples=60, deadline=None)
def test_equals_the_reference(seed, n, complement):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, size=(n, 2)).astype(float)
    test = rng.integers(0, 2, size=(n, 3)).astype(float)
    train = 1 - test if complement else rng.integers(0, 2, size=(n, 3)).astype(float)
    found = compute_energy_distances(cdist(rows, rows), test, train)
    for s in range(3):
        a, b = np.flatnonzero(test[:, s]), np.flatnonzero(train[:, s])
        expected = reference.energy(rows, a, b) if len(a) and len(b) else np.nan
        np.testing.assert_allclose(found[s], expected, atol=1e-10)


def test_of_one_column_it_is_the_square_of_scipys():
    rng = np.random.default_rng(0)
    x, test = rng.normal(size=(50, 1)), (np.arange(50) < 20).astype(float)[:, None]
    found = compute_energy_distances(cdist(x, x), test, 1 - test)
    assert found[0] == pytest.approx(energy_distance(x[:20, 0], x[20:, 0]) ** 2)


def test_equal_samples_have_none():
    x = np.tile(np.arange(5.0), 2)[:, None]
    test = (np.arange(10) < 5).astype(float)[:, None]
    assert compute_energy_distances(cdist(x, x), test, 1 - test)[0] == pytest.approx(0, abs=1e-12)
