"""Hand and Till's M: scikit-learn's one-versus-one AUC, the paper's definition by pairs, and degenerate input."""

import itertools
import math

import numpy as np
import pytest
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from tests.reference import cases, ranking as reference


def by_definition(y, s, w):
    """2 / (k (k - 1)) times the sum over i < j of (A(i|j) + A(j|i)) / 2."""
    k = s.shape[1]
    pairs = []
    for i, j in itertools.combinations(range(k), 2):
        both = (y == i) | (y == j)
        first, second = (reference.auc(y[both] == c, s[both, c], w[both]) for c in (i, j))
        pairs.append((first + second) / 2)
    return 2 / (k * (k - 1)) * sum(pairs)


def test_equals_scikit_learns_one_versus_one():
    for seed in range(300):
        y, s = cases.scores(np.random.default_rng(seed), 3 + seed % 3)
        expected = metrics.roc_auc_score(y, s, multi_class="ovo", average="macro")
        assert measures.hand_till(y, s) == pytest.approx(expected, abs=1e-12)


def test_equals_hand_and_tills_definition_with_weights():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        k = 3 + seed % 2
        y, s = cases.scores(rng, k)
        w = rng.random(len(y)) * rng.integers(0, 2, len(y))
        w[:k] += 0.1
        assert measures.hand_till(y, s, sample_weight=w) == pytest.approx(by_definition(y, s, w), abs=1e-12)


def test_two_classes_give_the_auc():
    y, s = cases.scores(np.random.default_rng(3), 2)
    assert measures.hand_till(y, s) == pytest.approx(metrics.roc_auc_score(y, s))
    assert measures.hand_till(y, np.c_[-s, s]) == pytest.approx(metrics.roc_auc_score(y, s))


def test_rows_of_third_classes_do_not_touch_a_pair():
    y = np.array([0, 0, 1, 1, 2])
    s = np.eye(3)[y]
    assert measures.hand_till(y, s) == 1.0
    assert measures.hand_till(y, 1 - s) == 0.0


def test_a_class_without_rows_leaves_no_value():
    with pytest.warns(UndefinedMeasureWarning, match="hand_till"):
        assert math.isnan(measures.hand_till([0, 1, 1], np.eye(3), labels=[0, 1, 2]))


def test_it_has_one_average_only():
    with pytest.raises(InputError, match="average"):
        measures.hand_till([0, 1, 2], np.eye(3), average="macro")
