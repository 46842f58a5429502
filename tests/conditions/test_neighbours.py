import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.cells import read_table
from fairtrial.conditions.class_noise import compute_class_distances, encode_points


def brute(frame, codes, k, neighbours):
    """By the definition, row by row: Euclid on standardised numbers, HEOM where something is nominal or missing."""
    n, d = frame.shape
    numeric = [pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes]
    mixed = not all(numeric) or frame.isna().to_numpy().any()
    scale = []
    for j in range(d):
        if numeric[j]:
            column = frame.iloc[:, j]
            scale.append((column.max() - column.min()) if mixed else column.std())
        else:
            scale.append(None)
    found = np.full((n, k, neighbours), np.inf)
    for i in range(n):
        for code in range(k):
            distances = []
            for other in range(n):
                if other != i and codes[other] == code:
                    total = 0.0
                    for j in range(d):
                        a, b = frame.iat[i, j], frame.iat[other, j]
                        if pd.isna(a) or pd.isna(b):
                            total += 1
                        elif numeric[j]:
                            total += ((a - b) / scale[j]) ** 2 if scale[j] else 0.0
                        else:
                            total += a != b
                    distances.append(np.sqrt(total))
            for rank, distance in enumerate(sorted(distances)[:neighbours]):
                found[i, code, rank] = distance
    return found


@pytest.mark.parametrize("kind", ["numeric", "mixed", "missing"])
@given(seed=st.integers(0, 999), n=st.integers(3, 12), neighbours=st.integers(1, 3), whole=st.booleans())
@settings(max_examples=15, deadline=None)
def test_distances_equal_the_brute_force_ones(kind, seed, n, neighbours, whole):
    rng = np.random.default_rng(seed)
    draw = rng.integers(0, 3, size=(n, 2)).astype(float) if whole else rng.normal(size=(n, 2))
    frame = pd.DataFrame(draw, columns=["u", "v"])
    if kind != "numeric":
        frame["w"] = rng.choice(["x", "y"], n)
    if kind == "missing":
        frame.iat[0, 0] = np.nan
        frame.iat[n - 1, 2] = None
    codes = rng.integers(0, 3, n)
    found = compute_class_distances(frame, codes, 3, neighbours)
    np.testing.assert_allclose(found, brute(frame, codes, 3, neighbours), rtol=1e-9, atol=1e-12)


def test_a_constant_or_empty_column_adds_nothing():
    X = pd.DataFrame({"u": [0.0, 1.0, 3.0], "one": 7.0})
    alone = compute_class_distances(X[["u"]], np.array([0, 0, 0]), 1, 2)
    assert np.array_equal(compute_class_distances(X, np.array([0, 0, 0]), 1, 2), alone)
    lost = compute_class_distances(X.assign(one=np.nan), np.array([0, 0, 0]), 1, 1)
    assert lost[0, 0, 0] == pytest.approx(np.sqrt(1 + 1 / 9))


def test_float_noise_does_not_tell_equal_distances_apart():
    X = np.array([[0.1], [0.2], [0.3], [0.4]])
    found = compute_class_distances(X, np.array([0, 1, 0, 1]), 2, 1)
    assert len(set(found[1:3, :, 0].min(axis=1))) == 1


def test_points_of_a_mixed_table():
    table = read_table(pd.DataFrame({"u": [1.0, 3.0, np.nan], "w": ["x", "y", None]}))
    assert np.allclose(encode_points(table), [[-np.sqrt(0.5), 1, 0], [np.sqrt(0.5), 0, 1], [0, 0, 0]])
