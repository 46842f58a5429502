"""Distances of mixed rows equal their definition; nearest rows equal a full sort."""

import numpy as np
from hypothesis import given, settings, strategies as st
from scipy.spatial.distance import cdist

from fairtrial.kernels.mixed_distance import compute_distances, compute_squared_distance, find_nearest_rows
from tests.reference import two_sample as reference


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    values = rng.integers(0, 4, size=(n, d)).astype(float)
    values[rng.random((n, d)) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    return values, rng.random(d) < 0.5


@given(table=tables())
@settings(max_examples=60, deadline=None)
def test_distances_equal_their_definition(table):
    rows, nominal = table
    found = np.empty((len(rows), len(rows)))
    compute_distances(rows, rows, nominal, found)
    np.testing.assert_allclose(found, [[reference.heom(a, b, nominal) for b in rows] for a in rows])
    np.testing.assert_allclose(
        compute_squared_distance(rows[0], rows[1], nominal), reference.heom(rows[0], rows[1], nominal) ** 2
    )


def test_numbers_alone_have_the_euclidean_distance():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    found = np.empty((20, 20))
    compute_distances(rows, rows, np.zeros(3, dtype=bool), found)
    np.testing.assert_allclose(found, cdist(rows, rows), atol=1e-12)


@given(table=tables(), k=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_nearest_equal_a_full_sort(table, k):
    rows, nominal = table
    k = min(k, len(rows) - 1)
    found = np.empty((len(rows), k), dtype=np.intp)
    find_nearest_rows(np.arange(len(rows)), rows, nominal, found)
    for i in range(len(rows)):
        far = sorted((compute_squared_distance(rows[i], rows[j], nominal), j) for j in range(len(rows)) if j != i)
        assert found[i].tolist() == [j for _, j in far[:k]]
