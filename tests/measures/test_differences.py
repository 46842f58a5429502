"""Paired differences of models: against R's pROC, against theory, and the gain from pairing."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from fairtrial.errors import FallbackWarning, InputError, UndefinedMeasureWarning
from fairtrial.measures import accuracy, auc, difference, differences, interval

Y = np.array([0, 0, 1, 1, 0, 1, 1, 0])
A = np.array([0.1, 0.3, 0.7, 0.9, 0.2, 0.4, 0.8, 0.5])
B = np.array([0.2, 0.6, 0.5, 0.7, 0.4, 0.3, 0.9, 0.1])


def test_delong_difference_equals_procs():
    # pROC 1.18.0: roc.test(ra, rb, method = "delong", paired = TRUE)$conf.int
    found = difference("auc", Y, A, B, method="delong")
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
    assert frame["note"].astype(bool).tolist() == [False, True, False]
    assert "AUC" in str(found)
    assert "<table" in found._repr_html_()


def test_models_share_one_list_of_classes():
    found = difference("kappa", ["a", "b", "a", "b"], ["a", "b", "a", "c"], ["a", "b", "b", "b"], resamples=50)
    assert np.isfinite(found.estimate)


def test_one_class_only_is_undefined():
    with pytest.warns(UndefinedMeasureWarning):
        found = difference("auc", [1, 1, 1], [1, 2, 3], [3, 2, 1])
    assert np.isnan(found.estimate)


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match="models"):
        differences("auc", Y, {"a": A})
    with pytest.raises(InputError, match=r"method.*'wilson'"):
        difference("accuracy", Y, Y, Y, method="wilson")
    with pytest.raises(InputError, match=r"method='delong'.*ks"):
        difference("ks", Y, A, B, method="delong")
    with pytest.raises(InputError, match=r"8.*7"):
        difference("auc", Y, A, B[:-1])


def test_float_noise_does_not_move_the_limits():
    """Accuracies are multiples of 1/n: limits equal those of the same bootstrap in whole numbers."""
    from fairtrial.measures.bootstrap import Resamples, compute_bca_limits

    rng = np.random.default_rng(8)
    for n in (31, 69, 103):
        y = rng.integers(0, 2, n)
        a, b = (np.where(rng.random(n) < right, y, 1 - y) for right in (0.85, 0.75))
        gain = (a == y).astype(int) - (b == y).astype(int)
        draws = Resamples(n, 500, 3)
        whole = draws.compute_values(lambda drawn, gain=gain: (drawn.astype(int) @ gain)[:, None])[:, 0]
        left_out = draws.compute_jackknife(lambda drawn, gain=gain: (drawn.astype(int) @ gain / drawn.sum(axis=1))[:, None])[
            :, 0
        ]
        expected = compute_bca_limits(whole.astype(float), float(gain.sum()), left_out, 0.95)
        found = difference("accuracy", y, a, b, method="bca", resamples=500, seed=3)
        assert (found.low * n, found.high * n) == pytest.approx(expected, abs=1e-9)


def test_missing_scores_are_refused_with_the_models_name():
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="'second'"):
            difference("auc", Y, A, np.where(np.arange(8) == 3, bad, B))


def test_different_perfect_models_keep_an_interval_and_opposite_ones_too():
    y = np.repeat([0, 1], [12, 12])
    s = np.arange(24.0)
    perfect = difference("auc", y, s, np.where(y == 1, s + 7, -s), method="newcombe")
    assert perfect.estimate == 0
    assert perfect.low < 0 < perfect.high
    assert perfect.low == pytest.approx(-perfect.high)
    with pytest.warns(FallbackWarning, match="AUC"):
        opposite = difference("auc", y, s, -s, method="delong")
    assert opposite.estimate == 1
    assert opposite.low < 0.95
    assert opposite.high == 1


def test_added_up_limits_equal_zou_and_donners_formula():
    alone = [interval("auc", Y, each, method="newcombe") for each in (A, B)]
    found = difference("auc", Y, A, B, method="newcombe")
    # pROC 1.18.0: var(ra), var(rb), cov(ra, rb)
    r = 0.00260416666667 / np.sqrt(0.0078125 * 0.02864583333333)
    down, up = alone[0].estimate - alone[0].low, alone[1].high - alone[1].estimate
    assert found.low == pytest.approx(0.125 - np.sqrt(down**2 + up**2 - 2 * r * down * up), abs=1e-9)


def test_a_frame_of_models_will_do():
    frame = differences("auc", Y, pd.DataFrame({"a": A, "b": B})).frame()
    assert frame.loc[0, "estimate"] == pytest.approx(0.125)
    with pytest.raises(InputError, match="models"):
        differences("auc", Y, [A, B])


@pytest.mark.parametrize(("positives", "negatives", "shift"), [(5, 200, 2.0), (20, 20, 3.0)])
def test_default_difference_covers_where_a_class_is_rare_or_ranking_is_good(positives, negatives, shift):
    rng = np.random.default_rng(77)
    y = np.repeat([1, 0], [positives, negatives])
    truth = norm.cdf(shift / np.sqrt(2)) - norm.cdf((shift - 0.5) / np.sqrt(2))
    hits = 0
    for _ in range(300):
        noise = rng.normal(size=(2, len(y)))
        first, second = noise[0] + shift * y, (noise[0] + noise[1]) / np.sqrt(2) + (shift - 0.5) * y
        found = difference("auc", y, first, second)
        hits += found.low <= truth <= found.high
    assert hits / 300 >= 0.9
