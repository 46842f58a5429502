"""Paired differences of models: against R's pROC, against theory, and that pairing pays."""

import numpy as np
import pytest

from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, auc, difference, differences, interval

Y = np.array([0, 0, 1, 1, 0, 1, 1, 0])
A = np.array([0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.5])
B = np.array([0.2, 0.6, 0.5, 0.7, 0.4, 0.3, 0.9, 0.1])


def test_delong_difference_equals_procs():
    # pROC 1.18.0: roc.test(ra, rb, method = "delong", paired = TRUE)$conf.int
    found = difference("auc", Y, A, B)
    assert found.method == "delong"
    assert (found.estimate, found.low, found.high) == pytest.approx((0.125, -0.221475956087, 0.471475956087), abs=1e-11)


def test_difference_is_antisymmetric():
    forth, back = difference("auc", Y, A, B), difference("auc", Y, B, A)
    assert (back.low, back.high) == pytest.approx((-forth.high, -forth.low))


def test_pairing_makes_the_interval_of_like_models_short():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    s = rng.normal(size=500) + y
    close = s + 0.05 * rng.normal(size=500)
    paired = difference("auc", y, s, close, method="bca", resamples=300)
    alone = interval("auc", y, s, method="bca", resamples=300)
    assert paired.high - paired.low < 0.3 * (alone.high - alone.low)


def test_bootstrap_and_delong_agree_on_enough_rows():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 2000)
    s, t = rng.normal(size=2000) + y, rng.normal(size=2000) + 0.8 * y
    delong, bootstrap = difference("auc", y, s, t), difference("auc", y, s, t, method="percentile", resamples=3000)
    width = delong.high - delong.low
    assert (bootstrap.low, bootstrap.high) == pytest.approx((delong.low, delong.high), abs=0.08 * width)


def test_accuracy_difference_has_the_variance_of_discordant_rows():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 400)
    a = np.where(rng.random(400) < 0.9, y, 1 - y)
    b = np.where(rng.random(400) < 0.8, y, 1 - y)
    found = difference("accuracy", y, a, b, method="percentile", resamples=4000)
    d = (a == y).astype(float) - (b == y)
    half = 1.96 * d.std() / np.sqrt(400)
    assert found.estimate == pytest.approx(accuracy(y, a) - accuracy(y, b))
    assert (found.low, found.high) == pytest.approx((d.mean() - half, d.mean() + half), abs=0.15 * half)


def test_all_pairs_come_in_one_frame():
    found = differences("auc", Y, {"a": A, "b": B, "c": A})
    frame = found.frame()
    assert list(zip(frame["first"], frame["second"], strict=True)) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert frame["estimate"].tolist() == pytest.approx([auc(Y, A) - auc(Y, B), 0, auc(Y, B) - auc(Y, A)])
    assert "rank alike" in frame.loc[1, "note"]
    assert "differences in auc" in str(found)
    assert "<table" in found._repr_html_()


def test_models_share_one_list_of_classes():
    found = difference("kappa", ["a", "b", "a", "b"], ["a", "b", "a", "c"], ["a", "b", "b", "b"], resamples=50)
    assert np.isfinite(found.estimate)


def test_one_class_only_is_undefined():
    with pytest.warns(UndefinedMeasureWarning):
        found = difference("auc", [1, 1, 1], [1, 2, 3], [3, 2, 1])
    assert np.isnan(found.estimate)


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="at least 2 models"):
        differences("auc", Y, {"a": A})
    with pytest.raises(InputError, match="for differences"):
        difference("accuracy", Y, Y, Y, method="wilson")
    with pytest.raises(InputError, match="two-class AUCs"):
        difference("ks", Y, A, B, method="delong")
    with pytest.raises(InputError, match="same number of rows"):
        difference("auc", Y, A, B[:-1])
