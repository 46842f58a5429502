"""Measures that other packages have: top-k accuracy, ranked probability score, D2, Krippendorff's alpha, prediction sets."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn import metrics

from fairtrial import judge, measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from tests.reference import cases

CASES = 200
Y = [0, 1, 2, 3, 2, 1, 0, 3]
PROBABILITIES = np.array(
    [
        [0.5, 0.2, 0.2, 0.1],
        [0.1, 0.6, 0.2, 0.1],
        [0.3, 0.3, 0.2, 0.2],
        [0.0, 0.1, 0.2, 0.7],
        [0.05, 0.15, 0.7, 0.1],
        [0.25, 0.25, 0.25, 0.25],
        [0.9, 0.1, 0.0, 0.0],
        [0.6, 0.2, 0.1, 0.1],
    ]
)


def draw_rows(seed, k):
    rng = np.random.default_rng(seed)
    y, p = cases.probabilities(rng, k)
    return y, p, cases.weights(rng, len(y), kept=k)


# ---- top-k accuracy


@pytest.mark.parametrize("top", [1, 2, 3])
def test_top_k_accuracy_equals_scikit_learn_without_ties(top):
    for seed in range(CASES):
        rng = np.random.default_rng(seed)
        y = cases.truth(rng, 30, 4)
        scores, weights = rng.normal(size=(30, 4)), cases.weights(rng, 30, kept=4)
        expected = metrics.top_k_accuracy_score(y, scores, k=top, sample_weight=weights)
        assert measures.top_k_accuracy(y, scores, k=top, sample_weight=weights) == pytest.approx(expected, abs=1e-12)


def test_top_k_accuracy_is_the_mean_over_all_orders_of_tied_classes():
    """scikit-learn puts the last of tied classes first; the mean over all orders of the columns does not depend on this."""
    from itertools import permutations

    rng = np.random.default_rng(4)
    y, scores = cases.truth(rng, 40, 3), rng.integers(0, 3, (40, 3)).astype(float)
    expected = []
    for order in permutations(range(3)):
        renamed = np.argsort(order)[y]
        expected.append(metrics.top_k_accuracy_score(renamed, scores[:, order], k=2, labels=range(3)))
    assert len(set(expected)) > 1
    assert measures.top_k_accuracy(y, scores, k=2) == pytest.approx(np.mean(expected), abs=1e-12)


def test_top_k_accuracy_is_undefined_if_every_row_would_count():
    with pytest.warns(UndefinedMeasureWarning, match="top_k_accuracy"):
        assert math.isnan(measures.top_k_accuracy([0, 1, 1], [0.2, 0.7, 0.6]))
    with pytest.warns(UndefinedMeasureWarning):
        undefined = measures.interval("top_k_accuracy", [0, 1, 1], [0.2, 0.7, 0.6])
    assert math.isnan(undefined.estimate)
    assert math.isnan(undefined.low)
    assert "k is not smaller" in undefined.note


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_k_is_a_whole_number_of_at_least_one(k):
    with pytest.raises(InputError, match="k must be"):
        measures.top_k_accuracy(Y, PROBABILITIES, k=k)


def test_top_1_accuracy_of_one_column_is_refused():
    with pytest.raises(InputError, match="y_score must have one column per class for k=1"):
        measures.top_k_accuracy([0, 1, 1], [0.2, 0.7, 0.6], k=1)


@pytest.mark.parametrize("name", ["top_k_accuracy", "set_coverage"])
def test_proportions_of_scores_have_wilson_and_exact_intervals(name):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 60)
    p = rng.dirichlet(np.ones(4), 60)
    successes = round(60 * measures.get_measure(name)(y, p))
    for method, scipy_method in (("auto", "wilson"), ("clopper-pearson", "exact")):
        found = measures.interval(name, y, p, method=method)
        expected = binomtest(successes, 60).proportion_ci(method=scipy_method)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert measures.interval(name, y, p, sample_weight=rng.random(60), resamples=50).method == "bca"
    # Rows that are repeated ten times carry the information of the rows: 10 rows per cluster, deff 10 apart from n / (n - 1).
    repeated = measures.interval(name, np.repeat(y, 10), np.repeat(p, 10, axis=0), cluster=np.repeat(np.arange(60), 10))
    single = measures.interval(name, y, p)
    assert repeated.method == "wilson"
    assert repeated.high - repeated.low == pytest.approx(single.high - single.low, rel=0.03)


# ---- ranked probability score


def test_ranked_probability_score_equals_scoringrules():
    """scoringrules 0.10.0: rps_score(y + 1, p).mean() = 0.4121875, which is not divided by the three thresholds."""
    assert measures.ranked_probability_score(Y, PROBABILITIES) == pytest.approx(0.4121875 / 3, abs=1e-12)


def test_ranked_probability_score_of_two_classes_is_the_brier_score():
    y, p, w = draw_rows(0, 2)
    assert measures.get_measure("rps")(y, p, sample_weight=w) == pytest.approx(measures.brier(y, p, sample_weight=w))


def test_ranked_probability_score_uses_the_order_of_labels():
    y, p = ["low", "high"], [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]  # one class beside the true one
    near = measures.ranked_probability_score(y, p, labels=["low", "high", "medium"])
    far = measures.ranked_probability_score(y, p, labels=["low", "medium", "high"])
    assert (near, far) == (0.5, 0.75)  # (1/2 + 1/2) / 2 and (1/2 + 2/2) / 2


# ---- D2


@pytest.mark.parametrize(
    ("ours", "theirs"), [(measures.d2_log_loss, "d2_log_loss_score"), (measures.d2_brier, "d2_brier_score")]
)
def test_d2_equals_scikit_learn(ours, theirs):
    theirs = getattr(metrics, theirs, None) or pytest.skip("this version of scikit-learn has no such score")
    for seed in range(CASES):
        y, p, w = draw_rows(seed, 2 + seed % 3)
        assert ours(y, p, sample_weight=w) == pytest.approx(theirs(y, p, sample_weight=w), abs=1e-9)


@pytest.mark.parametrize("measure", [measures.d2_log_loss, measures.d2_brier], ids=lambda measure: measure.name)
def test_d2_of_one_class_is_undefined(measure):
    with pytest.warns(UndefinedMeasureWarning, match="one class"):
        assert math.isnan(measure([1, 1, 1], [0.2, 0.9, 1.0], labels=[0, 1]))


def test_d2_of_an_impossible_event_is_minus_infinity_unless_clipped():
    assert measures.d2_log_loss([0, 1], [0.0, 0.0]) == -math.inf
    # Log losses -ln 0.99 and -ln 0.01; their mean is 2.307610, and that of the proportions is ln 2.
    assert measures.d2_log_loss([0, 1], [0.0, 0.0], clip=0.01) == pytest.approx(1 - 2.307610 / math.log(2), abs=1e-5)


# ---- Krippendorff's alpha

RATERS = [1, 2, 3, 3, 2, 1, 4, 1, 2, 5, 3, 3], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 1, 3]


@pytest.mark.parametrize(
    ("level", "expected"),
    [("nominal", 0.7880184331797235), ("ordinal", 0.7999573841624051), ("interval", 0.8588957055214724)],
)
def test_alpha_equals_the_package_krippendorff(level, expected):
    """krippendorff 0.9.0: alpha(reliability_data=RATERS, level_of_measurement=level)."""
    assert measures.krippendorff_alpha(*RATERS, level=level) == pytest.approx(expected, abs=1e-12)
    assert measures.krippendorff_alpha(*RATERS[::-1], level=level) == pytest.approx(expected, abs=1e-12)


def test_alpha_of_krippendorffs_example():
    """Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section B: two observers, 12 units, alpha = 0.692."""
    assert measures.krippendorff_alpha(list("aabbdcccedda"), list("babbbccceddd")) == pytest.approx(0.692, abs=5e-4)


def test_interval_alpha_needs_numbers():
    with pytest.raises(InputError, match="level='interval' needs labels that are numbers"):
        measures.krippendorff_alpha(["low", "high"], ["low", "low"], level="interval")


@pytest.mark.parametrize(("columns", "weights"), [(([1, 1, 1], [1, 1, 1]), None), (([0, 1, 1], [0, 1, 0]), [0.2, 0.3, 0.5])])
def test_alpha_is_undefined_for_one_class_or_weights_that_sum_to_one(columns, weights):
    with pytest.warns(UndefinedMeasureWarning, match="weigh at most 1"):
        assert math.isnan(measures.krippendorff_alpha(*columns, sample_weight=weights))


# ---- prediction sets


def test_coverage_and_width_equal_mapie():
    """MAPIE 1.6.0: classification_coverage_score 0.875 and classification_mean_width_score 2.375 of PROBABILITIES >= 0.2."""
    for options in ({"threshold": 0.2}, {}):
        sets = PROBABILITIES if options else PROBABILITIES >= 0.2
        assert measures.set_coverage(Y, sets, **options) == 0.875
        assert measures.set_width(Y, sets, **options) == 2.375


def test_sets_may_be_frames_of_booleans_or_of_zeros_and_ones():
    sets = pd.DataFrame(PROBABILITIES >= 0.2, columns=[0, 1, 2, 3])
    assert measures.set_coverage(Y, sets[[3, 1, 0, 2]]) == 0.875  # columns are matched by name
    assert measures.set_width(Y, sets.astype(int)) == 2.375
    weights = [1, 1, 1, 1, 1, 1, 1, 3]  # the last row, whose set is {0, 1}, does not cover class 3
    assert measures.set_coverage(Y, sets, sample_weight=weights) == pytest.approx(7 / 10)
    assert measures.interval("set_width", Y, sets, resamples=200).low < 2.375


def test_the_complement_of_a_probability_is_not_lost_by_rounding():
    assert measures.set_width([1, 0], [0.9, 0.1], threshold=0.1) == 2.0


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, math.nan, "0.5"])
def test_the_threshold_of_sets_lies_between_zero_and_one(threshold):
    with pytest.raises(InputError, match="threshold must be"):
        measures.set_coverage(Y, PROBABILITIES, threshold=threshold)


def test_sets_need_a_column_per_class():
    with pytest.raises(InputError, match="one column per class if it contains sets"):
        measures.set_coverage([0, 1, 1], [True, False, True])


# ---- judge


def test_judge_compares_models_by_the_new_measures(tmp_path):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 120)
    frames = []
    for model, signal in (("good", 2.0), ("poor", 0.3)):
        p = rng.dirichlet(np.ones(3), 120) + signal * np.eye(3)[y]
        p /= p.sum(axis=1, keepdims=True)
        names = np.array(["a", "b", "c"])
        frames.append(
            pd.DataFrame({"row": range(120), "model": model, "y_true": names[y], "prediction": names[p.argmax(axis=1)]}).assign(
                p_a=p[:, 0], p_b=p[:, 1], p_c=p[:, 2]
            )
        )
    table = pd.concat(frames)
    names = ["top_k_accuracy", "ranked_probability_score", "d2_log_loss", "d2_brier", "set_coverage", "set_width"]
    judgement = judge(table, measures=["krippendorff_alpha", *names], resamples=200)
    scores = judgement.scores.set_index(["measure", "model"])
    for name in names:
        expected = measures.get_measure(name)(table["y_true"][:120], table[["p_a", "p_b", "p_c"]][:120].to_numpy())
        assert scores.loc[(name, "good"), "estimate"] == pytest.approx(expected)
        assert scores.loc[(name, "good"), "low"] <= expected <= scores.loc[(name, "good"), "high"]
    assert judgement.findings[0].best == ("good",)
    table.to_csv(tmp_path / "p.csv", index=False)
    streamed = judge(tmp_path / "p.csv", measures="krippendorff_alpha", stream=True, resamples=200)
    streamed_scores = streamed.scores.set_index(["measure", "model"])
    for model in ("good", "poor"):
        alpha = scores.loc[("krippendorff_alpha", model), "estimate"]
        assert streamed_scores.loc[("krippendorff_alpha", model), "estimate"] == pytest.approx(alpha)
    for name in ("hand_till", *names):
        with pytest.raises(InputError, match=f"{name} needs rows in memory"):
            judge(tmp_path / "p.csv", measures=name, stream=True)


def test_judge_names_the_order_of_classes_on_which_a_measure_depends():
    y = np.array(["low", "mid", "high"] * 20)
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    table = pd.DataFrame({"y_true": y, "p_high": p[:, 0], "p_low": p[:, 1], "p_mid": p[:, 2]})
    judgement = judge(table, measures="rps", resamples=50)
    assert judgement.scores["estimate"][0] == pytest.approx(measures.ranked_probability_score(y, p))
    (note,) = [note for note in judgement.notes if note.kind == "class_order"]
    assert note["classes"] == ("high", "low", "mid")
    assert "high, low and mid" in " ".join(str(judgement).split())
    kinds = [note.kind for note in judge(table, measures="log_loss", resamples=50).notes]
    assert "class_order" not in kinds
