import numpy as np
from hypothesis import given, settings, strategies as st

from fairtrial.kernels.mixed_distance import count_neighbour_votes


def plain(queries, rows, nominal, codes, weight, reach, power, classes):
    votes = np.zeros((len(queries), classes))
    for q, query in enumerate(queries):
        far = []
        for row in rows:
            parts = [
                1.0 if np.isnan(a) or np.isnan(b) else float(a != b) if kind else (a - b) ** 2
                for a, b, kind in zip(query, row, nominal, strict=True)
            ]
            far.append(sum(parts))
        within = 0.0
        for distance in sorted(set(far)):
            chosen = [i for i, each in enumerate(far) if each == distance]
            if power and min(far) == 0 and distance > 0:
                break
            for i in chosen:
                votes[q, codes[i]] += weight[i] * (distance ** (-power / 2) if power and distance > 0 else 1.0)
            within += sum(weight[i] for i in chosen)
            if within >= reach:
                break
    return votes


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10_000), reach=st.integers(1, 6), power=st.sampled_from([0.0, 1.0]))
def test_against_the_reference(seed, reach, power):
    rng = np.random.default_rng(seed)
    rows, queries = rng.integers(3, size=(12, 3)).astype(float), rng.integers(3, size=(4, 3)).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    given = (queries, rows, np.array([True, False, False]), rng.integers(2, size=12), rng.integers(1, 3, size=12).astype(float))
    np.testing.assert_allclose(count_neighbour_votes(*given, float(reach), power, 2), plain(*given, reach, power, 2))


def test_more_neighbours_than_rows_are_all_rows():
    votes = count_neighbour_votes(
        np.zeros((1, 1)), np.ones((3, 1)), np.array([False]), np.array([0, 1, 1]), np.ones(3), 9.0, 0.0, 2
    )
    assert votes.tolist() == [[1.0, 2.0]]
