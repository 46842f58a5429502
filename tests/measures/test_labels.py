"""Measures of the whole table: published figures, scikit-learn, a reference that counts rows, and degenerate tables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn import metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from tests.reference import cases, labels as reference

CASES = 1000


def test_accuracy_of_the_tutorials_two_classifiers_is_60_percent():
    left, right = measures.Confusion([[400, 100], [300, 200]]), measures.Confusion([[200, 300], [100, 400]])
    assert measures.accuracy.of(left) == measures.accuracy.of(right) == pytest.approx(0.6)


def test_accuracy_tells_the_tutorials_precision_recall_pair_apart():
    left, right = measures.Confusion([[400, 100], [300, 200]]), measures.Confusion([[0, 100], [300, 200]])
    assert measures.accuracy.of(left) == pytest.approx(600 / 1000)
    assert measures.accuracy.of(right) == pytest.approx(200 / 600)


def test_kappa_of_the_tutorial_is_43_29_percent():
    table = measures.Confusion([[60, 50, 10], [10, 100, 40], [30, 10, 90]])
    assert measures.accuracy.of(table) == pytest.approx(0.625)
    assert measures.kappa.of(table) == pytest.approx(0.4329, abs=5e-5)


def test_weka_prints_accuracy_and_kappa_of_labour():
    table = measures.Confusion([[14, 6], [9, 28]], labels=("bad", "good"))
    assert measures.accuracy.of(table) == pytest.approx(0.736842, abs=5e-7)
    assert measures.error_rate.of(table) == pytest.approx(0.263158, abs=5e-7)
    assert measures.kappa.of(table) == pytest.approx(0.4415, abs=5e-5)


def test_reference_row_111000_predicted_110000():
    y, p = [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]
    assert measures.kappa(y, p) == pytest.approx(0.666667, abs=5e-7)
    assert measures.g_mean(y, p) == pytest.approx(0.816497, abs=5e-7)


def test_always_positive_on_90_to_10_has_average_accuracy_50_percent():
    """Galdi & Tagliaferri print 45 %; (100 + 0) / 2 is 50 % (ERRATA)."""
    assert measures.balanced_accuracy([1] * 90 + [0] * 10, [1] * 100) == 0.5
    assert measures.accuracy([1] * 90 + [0] * 10, [1] * 100) == 0.9


SHARED = {
    "accuracy": (measures.accuracy, {}, metrics.accuracy_score, {}),
    "balanced_accuracy": (measures.balanced_accuracy, {}, metrics.balanced_accuracy_score, {}),
    "kappa": (measures.kappa, {}, metrics.cohen_kappa_score, {}),
    "linear kappa": (measures.kappa, {"weights": "linear"}, metrics.cohen_kappa_score, {"weights": "linear"}),
    "quadratic kappa": (measures.kappa, {"weights": "quadratic"}, metrics.cohen_kappa_score, {"weights": "quadratic"}),
    "mcc": (measures.mcc, {}, metrics.matthews_corrcoef, {}),
}


@pytest.mark.parametrize("name", SHARED)
def test_equals_scikit_learn(name):
    ours, own, theirs, their = SHARED[name]
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        k = 2 + seed % 3
        y, p = cases.labels(rng, k)
        w = cases.weights(rng, len(y), kept=k)
        assert ours(y, p, sample_weight=w, **own) == pytest.approx(theirs(y, p, sample_weight=w, **their), abs=1e-12)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@pytest.mark.parametrize("name", reference.WHOLE_TABLE)
@given(rows=cases.labelled_rows())
@settings(max_examples=80, deadline=None)
def test_equals_the_reference(name, rows):
    y, p, w, classes = rows
    measure = measures.get_measure(name)
    found = measure(y, p, sample_weight=w, labels=classes)
    np.testing.assert_allclose(found, reference.WHOLE_TABLE[name](y, p, w, classes), rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::fairtrial.errors.UndefinedMeasureWarning")
@given(rows=cases.labelled_rows())
@settings(max_examples=60, deadline=None)
def test_weighted_kappas_equal_the_reference(rows):
    y, p, w, classes = rows
    for weights, power in (("linear", 1), ("quadratic", 2)):
        found = measures.kappa(y, p, sample_weight=w, labels=classes, weights=weights)
        np.testing.assert_allclose(found, reference.kappa(y, p, w, classes, power), rtol=1e-9, atol=1e-12)


def test_classes_far_apart_count_more_in_weighted_kappa():
    near, far = measures.Confusion([[8, 2, 0], [0, 10, 0], [0, 0, 10]]), measures.Confusion([[8, 0, 2], [0, 10, 0], [0, 0, 10]])
    assert measures.kappa.of(near, weights="linear") > measures.kappa.of(far, weights="linear")


def test_unknown_kappa_weights_are_refused():
    with pytest.raises(InputError, match=r"weights.*'quadric'.*'quadratic'"):
        measures.kappa([0, 1], [0, 1], weights="quadric")


@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.7, 0.3]])
@pytest.mark.parametrize(
    ("measure", "y", "p"),
    [
        (measures.kappa, [1, 1, 1, 1], [1, 1, 1, 1]),
        (measures.mcc, [1, 1, 1, 1], [1, 0, 1, 0]),
        (measures.mcc, [1, 0, 1, 0], [1, 1, 1, 1]),
        (measures.mcc, [1, 0, 1, 0], [0, 0, 0, 0]),
        (measures.balanced_accuracy, [1, 1, 1, 1], [1, 0, 1, 0]),
        (measures.g_mean, [0, 0, 0, 0], [1, 0, 1, 0]),
    ],
)
def test_undefined_is_nan_with_a_warning(measure, y, p, weights):
    with pytest.warns(UndefinedMeasureWarning, match=f"^{measure.name} "):
        assert math.isnan(measure(y, p, sample_weight=weights))


def test_kappa_and_accuracy_of_one_true_class_are_defined():
    assert measures.kappa([1, 1, 1, 1], [1, 0, 1, 1]) == 0.0
    assert measures.accuracy([1, 1, 1, 1], [1, 0, 1, 1]) == 0.75


def test_error_rate_of_a_perfect_prediction_is_zero_whatever_the_weights():
    rng = np.random.default_rng(0)
    for _ in range(200):
        y = rng.integers(0, 5, 30)
        w = rng.random(30)
        assert measures.error_rate(y, y, sample_weight=w) == 0.0
        assert measures.accuracy(y, y, sample_weight=w) == 1.0


def test_a_prediction_that_is_always_wrong_is_at_the_worst_end():
    y, p = [0, 0, 1, 1], [1, 1, 0, 0]
    assert [measures.accuracy(y, p), measures.kappa(y, p), measures.mcc(y, p), measures.g_mean(y, p)] == [0, -1, -1, 0]


def test_single_rows_and_single_classes_have_an_accuracy():
    assert measures.accuracy(["only"], ["only"]) == 1.0
