"""Borderline noise against R's noisemodel 1.0.2, sourced with FNN and e1071, and against brute force.

i <- 1:60; u <- (43.7585*sin(12.9898*i))%%1; v <- (43.7585*sin(78.233*i))%%1; s <- u + v + 0.3*sin(7*i)
x <- as.data.frame(scale(cbind(u, 5*v))); y2 <- factor(ifelse(s > 1, "b", "a"))
y3 <- factor(ifelse(s > 1.2, "c", ifelse(s > .8, "b", "a"))); y4 <- factor(ifelse(s > 1.3, "c", ifelse(s > .7, "b", "a")))
nei_bor_ln(x, y2, 0.2); nei_bor_ln(x, y3, 0.2, k = 5); smam_bor_ln(x, y2, 0.2) ...: idnoise - 1 and the new classes there.
"""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions import ClassNoise
from fairtrial.conditions.class_noise import compute_distance_ratios, find_neighbouring_class

I = np.arange(1, 61)  # noqa: E741
U, V = (43.7585 * np.sin(12.9898 * I)) % 1, (43.7585 * np.sin(78.233 * I)) % 1
S = U + V + 0.3 * np.sin(7 * I)
X = np.column_stack([U, 5 * V])
Y2 = np.where(S > 1, "b", "a")
Y3 = np.where(S > 1.2, "c", np.where(S > 0.8, "b", "a"))
Y4 = np.where(S > 1.3, "c", np.where(S > 0.7, "b", "a"))
R = [
    ("neighbourwise", Y2, 1, [0, 3, 9, 22, 23, 26, 27, 31, 32, 41, 45, 49], "aaabbaabbbab"),
    ("neighbourwise", Y3, 1, [3, 6, 9, 22, 27, 32, 33, 38, 41, 45, 46, 52], "bcacbbcacabc"),
    ("neighbourwise", Y3, 5, [3, 6, 9, 22, 27, 32, 33, 38, 41, 45, 46, 52], "bcccbccabbba"),
    ("margin", Y2, 1, [10, 13, 20, 21, 24, 26, 27, 32, 40, 45, 46, 52], "abaabaabbaaa"),
    ("margin", Y2, 3, [10, 13, 20, 21, 24, 26, 27, 32, 40, 45, 46, 52], "abaabaabbaaa"),
    ("margin", Y4, 1, [9, 17, 25, 29, 31, 35, 39, 43, 47, 48, 49, 58], "aaabcbbbcbcb"),
    ("margin", Y4, 3, [9, 17, 25, 29, 31, 35, 39, 43, 47, 48, 49, 58], "caabcbbbcbcb"),
]


@pytest.mark.parametrize(("kind", "y", "k", "rows", "classes"), R)
def test_the_same_cases_and_classes_as_in_r(kind, y, k, rows, classes):
    changed = ClassNoise(0.2, f"{kind}-borderline", neighbours=k).apply(X, y)
    assert np.flatnonzero(changed.mask).tolist() == rows
    assert "".join(changed.y[rows]) == classes


@given(seed=st.integers(0, 999), n=st.integers(6, 25), level=st.sampled_from([0.1, 0.25, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_neighbourwise_takes_the_largest_ratios(seed, n, level):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2))
    y = np.array([0, 0, 1, 1, *rng.integers(0, 3, n - 4)])
    scaled = (points - points.mean(0)) / points.std(0, ddof=1)
    far = np.linalg.norm(scaled[:, None] - scaled[None], axis=2)
    np.fill_diagonal(far, np.inf)
    with np.errstate(invalid="ignore"):
        ratio = np.array([far[i, y == y[i]].min() / far[i, y != y[i]].min() for i in range(n)])
    changed = ClassNoise(level, "neighbourwise-borderline").apply(points, y)
    m = round(level * n)
    assert changed.mask.sum() == m
    assert sorted(ratio[changed.mask]) == pytest.approx(sorted(ratio)[n - m :])
    nearest = [y[np.where(y != y[i], far[i], np.inf).argmin()] for i in np.flatnonzero(changed.mask)]
    assert changed.y[changed.mask].tolist() == nearest


def test_each_class_for_itself():
    changed = ClassNoise(0.2, "neighbourwise-borderline", of="class").apply(X, Y2)
    assert [int(changed.mask[name == Y2].sum()) for name in "ab"] == [5, 7]
    assert changed.level == pytest.approx(12 / 60)


def test_ratios_where_cases_coincide_or_are_alone():
    near = np.array([[[0.0], [0.0]], [[0.0], [2.0]], [[1.0], [np.inf]], [[np.inf], [1.0]]])
    assert compute_distance_ratios(near, np.array([0, 0, 1, 0])).tolist() == [1.0, 0.0, np.inf, np.inf]


def test_the_class_of_the_neighbours():
    near = np.array([[9.0, 9.5, 9.9], [1.0, 3.0, 7.0], [2.0, 4.0, 5.0], [np.inf] * 3])
    assert find_neighbouring_class(near, own_class=0) == 1  # 1, 2, 3: two of class 1
    assert find_neighbouring_class(near[:, :1], own_class=1) == 2
    assert find_neighbouring_class(np.array([[1.0], [2.0], [2.0]]), own_class=0) == 1  # equally near: the first in order
    assert find_neighbouring_class(np.array([[1.0, 2.0], [np.inf, np.inf], [5.0, np.inf]]), own_class=0) == 2


def test_margin_at_every_level_and_with_a_curved_border():
    for level in (0.5, 0.95, 1.0):
        assert ClassNoise(level, "margin-borderline").apply(X, Y3).mask.sum() == round(level * 60)
    # of R's e1071::svm(x, y2, kernel = "radial") the twelve cases with the smallest decision values that are predicted rightly
    curved = ClassNoise(0.2, "margin-borderline", kernel="rbf").apply(X, Y2)
    assert np.flatnonzero(curved.mask).tolist() == [3, 9, 13, 21, 22, 23, 25, 26, 40, 45, 47, 52]


def test_nominal_and_missing_values_have_borders_too():
    rows = [[1, "x"], [2, "x"], [None, "y"], [8, "y"], [9, "y"], [7, None]]
    for scheme in ("neighbourwise-borderline", "margin-borderline"):
        assert ClassNoise(0.5, scheme).apply(rows, list("aaabbb")).mask.sum() == 3
