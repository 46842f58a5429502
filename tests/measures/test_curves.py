import inspect
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import ConvexHull
from sklearn import calibration, metrics

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import ScoreTally
from fairtrial.measures.curves import ScoreCurve, compute_operating_points, find_hull_corners

CURVES = [
    measures.roc_curve,
    measures.roc_hull,
    measures.precision_recall_curve,
    measures.gain_curve,
    measures.tpr_fpr_curve,
    measures.cost_curve,
    measures.cost_lines,
    measures.brier_curve,
    measures.calibration_curve,
]
TALLY_CURVES = [curve for curve in CURVES if isinstance(curve, ScoreCurve)]


def name_of(curve):
    return curve.__name__


@st.composite
def ranked(draw, *, weighted=True):
    """Both classes, scores with many ties in [0, 1], and whole or fractional weights."""
    n = draw(st.integers(2, 40))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    score = draw(arrays(np.int64, n, elements=st.integers(0, 12))) / 12
    weight = draw(arrays(np.int64, n, elements=st.integers(1, 8))) / draw(st.sampled_from([1, 7]))
    return y, score, weight if weighted and draw(st.booleans()) else None


def area(frame, x, y):
    return np.trapezoid(frame[y], frame[x])


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 500)
    score = np.round(np.clip(0.3 * y + rng.uniform(0, 0.7, 500), 0, 1), 2)
    return y, score, rng.uniform(0, 2, 500)


class TestRocCurve:
    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_equals_scikit_learn(self, rows):
        y, score, weight = rows
        frame = measures.roc_curve(y, score, sample_weight=weight)
        fpr, tpr, threshold = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
        np.testing.assert_allclose(frame["fpr"], fpr, atol=1e-12)
        np.testing.assert_allclose(frame["tpr"], tpr, atol=1e-12)
        np.testing.assert_array_equal(frame["threshold"], threshold)

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_its_area_is_the_auc(self, rows):
        y, score, weight = rows
        frame = measures.roc_curve(y, score, sample_weight=weight)
        assert area(frame, "fpr", "tpr") == pytest.approx(measures.auc(y, score, sample_weight=weight))

    def test_ends_are_exact_whatever_the_weights(self, sample):
        y, score, weight = sample
        frame = measures.roc_curve(y, score, sample_weight=weight)
        assert frame.iloc[0].tolist() == [np.inf, 0, 0]
        assert frame.iloc[-1].tolist() == [score.min(), 1, 1]

    def test_a_threshold_calls_positive_what_is_at_least_as_high(self, sample):
        y, score, _ = sample
        frame = measures.roc_curve(y, score)
        for row in frame.itertuples():
            assert row.tpr == pytest.approx((score[y == 1] >= row.threshold).mean())
            assert row.fpr == pytest.approx((score[y == 0] >= row.threshold).mean())

    def test_a_weight_of_zero_leaves_no_threshold(self):
        frame = measures.roc_curve([0, 1, 1], [0.1, 0.5, 0.9], sample_weight=[1, 0, 2])
        assert frame["threshold"].tolist() == [np.inf, 0.9, 0.1]

    @pytest.mark.parametrize(("y", "missing", "kept"), [([1, 1], "fpr", "tpr"), ([0, 0], "tpr", "fpr")])
    def test_one_class_leaves_one_rate_undefined(self, y, missing, kept):
        with pytest.warns(UndefinedMeasureWarning, match=f"roc_curve.*{missing}"):
            frame = measures.roc_curve(y, [0.2, 0.7])
        assert frame[missing].isna().all()
        assert frame[kept].tolist() == [0, 0.5, 1]

    def test_one_class_of_text_is_the_positive_one(self):
        with pytest.warns(UndefinedMeasureWarning, match="fpr"):
            frame = measures.roc_curve(["sick", "sick"], [0.2, 0.7])
        assert frame["tpr"].tolist() == [0, 0.5, 1]


class TestRocHull:
    @settings(max_examples=80, deadline=None)
    @given(ranked(weighted=False))
    def test_corners_are_those_of_scipys_hull(self, rows):
        y, score, _ = rows
        curve = measures.roc_curve(y, score)
        # A point far below turns the upper hull into a hull whose other corners are all wanted.
        points = np.vstack([curve[["fpr", "tpr"]].to_numpy(), [[1.0, -1.0]]])
        points = np.unique(points, axis=0)
        hull = points[ConvexHull(points).vertices]
        frame = measures.roc_hull(y, score)
        hull = hull[hull[:, 1] >= 0]
        expected = hull[np.lexsort((hull[:, 1], hull[:, 0]))]
        np.testing.assert_allclose(frame[["fpr", "tpr"]], expected, atol=1e-9)

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_its_area_is_the_auch(self, rows):
        y, score, weight = rows
        frame = measures.roc_hull(y, score, sample_weight=weight)
        assert area(frame, "fpr", "tpr") == pytest.approx(measures.auch(y, score, sample_weight=weight))

    def test_thresholds_are_those_of_the_curve(self, sample):
        y, score, weight = sample
        curve = measures.roc_curve(y, score, sample_weight=weight).set_index("threshold")
        hull = measures.roc_hull(y, score, sample_weight=weight).set_index("threshold")
        pd.testing.assert_frame_equal(hull[["fpr", "tpr"]], curve.loc[hull.index])

    def test_each_corner_is_the_cheapest_within_its_range(self, sample):
        y, score, _ = sample
        curve, hull = measures.roc_curve(y, score), measures.roc_hull(y, score)
        negative, positive = (y == 0).mean(), (y == 1).mean()
        for corner in hull.itertuples():
            for c in np.linspace(corner.cost_low, corner.cost_high, 5):
                losses = c * negative * curve["fpr"] + (1 - c) * positive * (1 - curve["tpr"])
                assert c * negative * corner.fpr + (1 - c) * positive * (1 - corner.tpr) == pytest.approx(losses.min())

    def test_ranges_meet_and_agree(self, sample):
        y, score, _ = sample
        hull = measures.roc_hull(y, score)
        assert hull["cost_high"].iloc[0] == 1
        assert hull["cost_low"].iloc[-1] == 0
        np.testing.assert_array_equal(hull["cost_high"].iloc[1:], hull["cost_low"].iloc[:-1])
        np.testing.assert_array_equal(hull["slope_high"].iloc[1:], hull["slope_low"].iloc[:-1])
        slope = hull["slope_low"].iloc[:-1].to_numpy()
        odds = slope * (y == 1).sum() / (y == 0).sum()
        expected = np.where(np.isinf(odds), 1, 1 - 1 / (1 + odds))
        np.testing.assert_allclose(hull["cost_low"].iloc[:-1], expected)

    def test_a_ranking_upside_down_has_the_diagonal(self):
        frame = measures.roc_hull([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])
        assert frame[["fpr", "tpr"]].to_numpy().tolist() == [[0, 0], [1, 1]]
        assert frame["threshold"].tolist() == [np.inf, 0.1]


class TestPrecisionRecallCurve:
    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_equals_scikit_learn_but_for_its_invented_last_point(self, rows):
        y, score, weight = rows
        frame = measures.precision_recall_curve(y, score, sample_weight=weight)
        precision, recall, threshold = metrics.precision_recall_curve(y, score, sample_weight=weight)
        np.testing.assert_allclose(frame["precision"], precision[-2::-1], atol=1e-12)
        np.testing.assert_allclose(frame["recall"], recall[-2::-1], atol=1e-12)
        np.testing.assert_array_equal(frame["threshold"], threshold[::-1])

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_its_steps_add_up_to_average_precision(self, rows):
        y, score, weight = rows
        frame = measures.precision_recall_curve(y, score, sample_weight=weight)
        steps = (frame["precision"] * np.diff(frame["recall"], prepend=0)).sum()
        assert steps == pytest.approx(measures.average_precision(y, score, sample_weight=weight))

    def test_without_positives_recall_is_undefined(self):
        with pytest.warns(UndefinedMeasureWarning, match="recall"):
            frame = measures.precision_recall_curve([0, 0], [0.2, 0.7])
        assert frame["precision"].tolist() == [0, 0]


class TestGainCurve:
    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_agrees_with_the_measure_lift(self, rows):
        y, score, weight = rows
        frame = measures.gain_curve(y, score, sample_weight=weight)
        for row in frame.iloc[1:].itertuples():
            fraction = min(row.targeted, 1.0)
            assert row.lift == pytest.approx(measures.lift(y, score, fraction=fraction, sample_weight=weight))
        assert frame["lift"].iloc[0] == frame["lift"].iloc[1]

    def test_shares_by_hand(self):
        frame = measures.gain_curve([1, 0, 1, 0, 0, 0, 0, 0, 0, 0], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        assert frame["targeted"].tolist() == pytest.approx(np.arange(11) / 10)
        assert frame["gain"].tolist() == [0, 0.5, 0.5, *[1.0] * 8]
        assert frame["lift"].iloc[3] == pytest.approx(10 / 3)

    def test_without_positives_gain_and_lift_are_undefined(self):
        with pytest.warns(UndefinedMeasureWarning, match="gain.*lift"):
            frame = measures.gain_curve([0, 0], [0.2, 0.7])
        assert frame["targeted"].tolist() == [0, 0.5, 1]


def berrar_figure_2():
    """The first ranking of ten cases with all that the text tells of Figure 2: KS = 3/5 at the sixth threshold, taKS = 1/3."""
    for places in itertools.combinations(range(10), 5):
        y = np.isin(np.arange(10), places)
        difference = (np.cumsum(y) - np.cumsum(~y)) / 5
        if (
            y[:5].sum() == 4
            and difference.max() == 0.6
            and difference.argmax() == 4
            and np.isclose(difference.sum() / 9, 1 / 3)
        ):
            return y.astype(int), np.arange(10, 0, -1)
    raise AssertionError("no such ranking")


class TestTprFprCurve:
    def test_berrar_figure_2(self):
        frame = measures.tpr_fpr_curve(*berrar_figure_2())
        assert len(frame) == 11
        sixth = frame.iloc[5]
        assert (sixth["tpr"], sixth["fpr"], sixth["position"]) == (4 / 5, 1 / 5, 0.5)
        assert frame["difference"].max() == pytest.approx(3 / 5)
        assert frame["difference"].iloc[1:-1].mean() == pytest.approx(1 / 3)

    @pytest.mark.parametrize(
        ("score", "thresholds", "taks", "abc"),
        [
            ([1, 1, 1, 1, 1, 0, 0, 0, 0, 0], 3, 1.0, 0.5),
            ([0.95, 0.8, 0.75, 0.7, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1], 11, 5 / 9, 0.5),
            ([0.8, 0.8, 0.75, 0.7, 0.6, 0.4, 0.35, 0.3, 0.2, 0.1], 10, 0.6, 0.533),
            ([0, 0, 0, 0, 0, 1, 1, 1, 1, 1], 3, -1.0, -0.5),
        ],
    )
    def test_berrar_figure_3(self, score, thresholds, taks, abc):
        frame = measures.tpr_fpr_curve([1] * 5 + [0] * 5, score)
        assert len(frame) == thresholds
        assert frame["difference"].iloc[1:-1].mean() == pytest.approx(taks)
        assert area(frame, "position", "difference") == pytest.approx(abc, abs=5e-4)

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_agrees_with_ks_and_abc(self, rows):
        y, score, weight = rows
        frame = measures.tpr_fpr_curve(y, score, sample_weight=weight)
        assert frame["difference"].abs().max() == pytest.approx(measures.ks(y, score, sample_weight=weight))
        assert frame["difference"].max() == pytest.approx(measures.ks(y, score, signed=True, sample_weight=weight))
        if len(frame) > 2:
            assert area(frame, "position", "difference") == pytest.approx(measures.abc(y, score, sample_weight=weight))

    def test_equal_scores_leave_two_thresholds(self):
        frame = measures.tpr_fpr_curve([0, 1], [0.5, 0.5])
        assert frame["position"].tolist() == [0, 1]
        assert frame["difference"].tolist() == [0, 0]


class TestCalibrationCurve:
    @pytest.mark.parametrize("strategy", ["uniform", "quantile"])
    @pytest.mark.parametrize("bins", [1, 5, 10])
    def test_equals_scikit_learn(self, sample, strategy, bins):
        y, score, _ = sample
        share, forecast = calibration.calibration_curve(y, score, n_bins=bins, strategy=strategy)
        frame = measures.calibration_curve(y, score, bins=bins, strategy=strategy)
        np.testing.assert_allclose(frame["observed_frequency"], share)
        np.testing.assert_allclose(frame["mean_predicted"], forecast)
        assert frame["weight"].sum() == len(y)

    @settings(max_examples=60, deadline=None)
    @given(ranked(), st.sampled_from(["uniform", "quantile"]))
    def test_agrees_with_calibration_error(self, rows, strategy):
        y, score, weight = rows
        frame = measures.calibration_curve(y, score, sample_weight=weight, strategy=strategy)
        gaps = (frame["mean_predicted"] - frame["observed_frequency"]).abs()
        expected = measures.calibration_error(y, score, sample_weight=weight, strategy=strategy)
        assert np.average(gaps, weights=frame["weight"]) == pytest.approx(expected, abs=1e-12)

    def test_intervals_are_wilsons(self):
        # Newcombe 1998, Table I: 81 of 263 gives 0.2553 to 0.3662, 0 of 20 gives 0 to 0.1611.
        y = [1] * 81 + [0] * 182 + [0] * 20
        frame = measures.calibration_curve(y, [0.9] * 263 + [0.1] * 20, bins=2)
        np.testing.assert_allclose(frame[["low", "high"]], [[0, 0.1611], [0.2553, 0.3662]], atol=5e-5)

    def test_a_weight_of_two_counts_as_two_cases(self):
        columns = ["mean_predicted", "observed_frequency", "weight"]
        twice = measures.calibration_curve([0, 1, 1], [0.2, 0.3, 0.9], sample_weight=[2, 1, 2])
        pd.testing.assert_frame_equal(
            twice[columns], measures.calibration_curve([0, 0, 1, 1, 1], [0.2, 0.2, 0.3, 0.9, 0.9])[columns]
        )

    @pytest.mark.parametrize("factor", [0.001, 1, 1000])
    def test_weights_in_other_units_leave_the_limits_alone(self, factor):
        plain = measures.calibration_curve([0, 1, 1, 0], [0.2, 0.25, 0.9, 0.95], bins=2)
        same = measures.calibration_curve([0, 1, 1, 0], [0.2, 0.25, 0.9, 0.95], bins=2, sample_weight=[factor] * 4)
        pd.testing.assert_frame_equal(same[["low", "high"]], plain[["low", "high"]])

    def test_limits_of_weighted_cases_rest_on_their_effective_number(self):
        # Weights 1, 1, 2: (1 + 1 + 2)^2 / (1 + 1 + 4) = 8/3 cases, half of which came true; Wilson's centre is then 1/2.
        found = measures.calibration_curve([1, 1, 0], [0.9, 0.9, 0.9], sample_weight=[1, 1, 2], bins=1)
        cases, z = 8 / 3, 1.959963984540054
        half = z * np.sqrt(0.25 / cases + z**2 / (4 * cases**2)) / (1 + z**2 / cases)
        np.testing.assert_allclose(found[["low", "high"]], [[0.5 - half, 0.5 + half]])

    def test_a_higher_level_gives_wider_intervals(self, sample):
        y, score, _ = sample
        narrow, wide = (measures.calibration_curve(y, score, level=level) for level in (0.8, 0.99))
        assert (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()

    def test_one_class_is_enough(self):
        assert measures.calibration_curve([1, 1], [0.3, 0.8])["observed_frequency"].tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"bins": 0}, "bins.*0"),
            ({"bins": 2.5}, "bins.*2.5"),
            ({"strategy": "quantiles"}, "strategy"),
            ({"level": 95}, "level.*95"),
        ],
    )
    def test_options_are_checked(self, options, message):
        with pytest.raises(InputError, match=message):
            measures.calibration_curve([0, 1], [0.2, 0.8], **options)


class TestAllCurves:
    @pytest.mark.parametrize("curve", CURVES, ids=name_of)
    @pytest.mark.parametrize(
        ("y", "score", "options", "message"),
        [
            ([0, 1], [0.2, np.nan], {}, "y_score.*nan.*1"),
            ([0, 1], [0.2, np.inf], {}, "y_score.*inf.*1"),
            ([], [], {}, "y_true.*0"),
            ([0, 1], [0.2], {}, "y_true.*2.*y_score.*1"),
            ([0, 1, 2], [0.2, 0.3, 0.4], {}, "y_score"),
            (["a", "b", "c"], np.eye(3), {}, "positive"),
            ([0, 1], [0.2, 0.3], {"positive": 2}, "positive.*2"),
            ([0, 1], ["low", 0.3], {}, "y_score"),
            ([0, 1], [0.2, 0.3], {"sample_weight": [1, -1]}, "sample_weight"),
            ([0, 1], [0.2, 0.3], {"sample_weight": [1]}, "sample_weight"),
            ([0, 1], [0.2, 0.3], {"sample_weight": [0, 0]}, "sample_weight"),
        ],
    )
    def test_bad_rows_are_refused(self, curve, y, score, options, message):
        with pytest.raises(InputError, match=message):
            curve(y, score, **options)

    @pytest.mark.parametrize("curve", CURVES, ids=name_of)
    def test_one_class_of_three_against_the_rest(self, curve):
        y, matrix = ["a", "b", "c", "b"], np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.2, 0.5, 0.3], [0.3, 0.4, 0.3]])
        expected = curve([0, 1, 0, 1], matrix[:, 1])
        pd.testing.assert_frame_equal(curve(y, matrix, positive="b"), expected)
        pd.testing.assert_frame_equal(curve(y, matrix[:, 1], positive="b"), expected)

    @pytest.mark.parametrize("curve", CURVES, ids=name_of)
    def test_labels_give_the_order_of_the_columns(self, curve):
        score = np.array([0.2, 0.9, 0.6, 0.4])
        expected = curve([0, 1, 0, 1], score)
        named = curve(["sick", "fine", "sick", "fine"], np.column_stack([1 - score, score]), labels=["sick", "fine"])
        pd.testing.assert_frame_equal(named, expected)

    @pytest.mark.parametrize("curve", CURVES, ids=name_of)
    def test_columns_share_one_signature(self, curve):
        names = list(inspect.signature(curve).parameters)
        assert names[:5] == ["y_true", "y_score", "positive", "labels", "sample_weight"]

    @pytest.mark.parametrize("curve", CURVES, ids=name_of)
    def test_a_million_rows_are_no_trouble(self, curve):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 1_000_000)
        frame = curve(y, np.clip(0.1 * y + rng.uniform(0, 0.9, len(y)), 0, 1))
        assert not frame.isna().any(axis=None)

    @pytest.mark.parametrize("curve", TALLY_CURVES, ids=name_of)
    def test_a_tally_gives_the_same_as_its_rows(self, curve, sample):
        y, score, weight = sample
        first, second = (
            ScoreTally.from_scores(y[part], score[part], sample_weight=weight[part]) for part in np.split(np.arange(500), 2)
        )
        pd.testing.assert_frame_equal(curve.of(first + second), curve(y, score, sample_weight=weight))

    @pytest.mark.parametrize("curve", TALLY_CURVES, ids=name_of)
    def test_places_without_weight_do_not_count(self, curve):
        gaps = ScoreTally(np.array([0.9, 0.7, 0.5, 0.2]), np.array([1.0, 0, 1, 0]), np.array([0.0, 0, 0, 1]))
        pd.testing.assert_frame_equal(curve.of(gaps), curve([1, 1, 0], [0.9, 0.5, 0.2]))

    @pytest.mark.parametrize("curve", TALLY_CURVES, ids=name_of)
    def test_a_batch_of_tallies_is_refused(self, curve):
        batch = ScoreTally(np.array([0.9, 0.1]), np.ones((3, 2)), np.ones((3, 2)))
        with pytest.raises(InputError, match=curve.name):
            curve.of(batch)

    @pytest.mark.parametrize("curve", TALLY_CURVES, ids=name_of)
    def test_a_curve_travels_to_another_process(self, curve):
        assert pickle.loads(pickle.dumps(curve)) is curve
        assert repr(curve) == f"<curve {curve.name}>"


def test_operating_points_begin_with_nothing_and_end_with_everything():
    threshold, tp, fp = compute_operating_points(ScoreTally.from_scores([0, 1, 1], [0.2, 0.5, 0.5]))
    assert (threshold.tolist(), tp.tolist(), fp.tolist()) == ([np.inf, 0.5, 0.2], [0, 2, 2], [0, 0, 1])


@settings(max_examples=60, deadline=None)
@given(ranked())
def test_hull_corners_are_operating_points(rows):
    y, score, weight = rows
    tally = ScoreTally.from_scores(y, score, sample_weight=weight)
    points = set(zip(*compute_operating_points(tally), strict=True))
    assert set(zip(*find_hull_corners(tally), strict=True)) <= points
