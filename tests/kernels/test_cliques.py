"""The subset programme equals a search through all set partitions."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.significance import compute_max_pairs
from tests.significance.test_shaffer import partitions


def compute_adjacency(joined):
    """The learners joined to each learner, as bits."""
    return np.array([sum(1 << j for j in range(len(row)) if row[j]) for row in joined.tolist()], dtype=np.int64)


def searched(joined):
    """For each pair, the most pairs of a partition into cliques that keeps it together."""
    k = len(joined)
    out = np.zeros((k, k), dtype=int)
    for part in partitions(list(range(k))):
        pairs = [pair for block in part for pair in combinations(sorted(block), 2)]
        if all(joined[pair] for pair in pairs):
            for pair in pairs:
                out[pair] = max(out[pair], len(pairs))
    return out


@given(st.integers(2, 6), st.integers(0, 2**32 - 1), st.sampled_from([0.3, 0.6, 0.9]))
@settings(max_examples=60, deadline=None)
def test_equals_the_search(k, seed, density):
    upper = np.triu(np.random.default_rng(seed).random((k, k)) < density, 1)
    joined = upper | upper.T
    np.testing.assert_array_equal(compute_max_pairs(compute_adjacency(joined), k), searched(joined))


def test_kernel_on_known_graphs():
    def most(k, *edges):
        joined = np.zeros((k, k), dtype=bool)
        for i, j in edges:
            joined[i, j] = joined[j, i] = True
        return compute_max_pairs(compute_adjacency(joined), k)

    # A path of four: either the two outer pairs or the middle one.
    path = most(4, (0, 1), (1, 2), (2, 3))
    assert (path[0, 1], path[1, 2], path[2, 3], path[0, 3]) == (2, 1, 2, 0)
    complete = most(5, *combinations(range(5), 2))
    assert np.all(complete[np.triu_indices(5, 1)] == 10)
    assert not most(3).any()
