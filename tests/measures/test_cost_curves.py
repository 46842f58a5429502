import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import ScoreTally

# The five cases of the tutorial: Brier score 0.195.
TUTORIAL = [1, 0, 1, 0, 1], [0.95, 0.6, 0.8, 0.75, 0.9]


@st.composite
def ranked(draw):
    """Both classes, scores with many ties in [0, 1] (the ends included), and sometimes weights."""
    n = draw(st.integers(2, 40))
    y = draw(arrays(np.int64, n, elements=st.integers(0, 1)))
    y[:2] = 0, 1
    score = draw(arrays(np.int64, n, elements=st.integers(0, 12))) / 12
    weight = draw(arrays(np.int64, n, elements=st.integers(1, 8))) / draw(st.sampled_from([1, 7]))
    return y, score, weight if draw(st.booleans()) else None


class TestCostLines:
    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_a_line_for_each_point_of_the_roc_curve(self, rows):
        y, score, weight = rows
        lines, roc = (curve(y, score, sample_weight=weight) for curve in (measures.cost_lines, measures.roc_curve))
        np.testing.assert_array_equal(lines["threshold"], roc["threshold"])
        np.testing.assert_array_equal(lines["fpr"], roc["fpr"])
        np.testing.assert_allclose(lines["fnr"], 1 - roc["tpr"], atol=1e-12)

    def test_the_trivial_lines_are_among_them(self):
        lines = measures.cost_lines(*TUTORIAL)
        assert lines[["fpr", "fnr"]].iloc[0].tolist() == [0, 1]
        assert lines[["fpr", "fnr"]].iloc[-1].tolist() == [1, 0]

    def test_one_class(self):
        with pytest.warns(UndefinedMeasureWarning, match="fnr"):
            assert measures.cost_lines([0, 0], [0.1, 0.2])["fpr"].tolist() == [0, 0.5, 1]


class TestCostCurve:
    @settings(max_examples=80, deadline=None)
    @given(ranked())
    def test_is_the_lower_envelope_of_all_lines(self, rows):
        y, score, weight = rows
        lines = measures.cost_lines(y, score, sample_weight=weight)
        curve = measures.cost_curve(y, score, sample_weight=weight)
        pc = np.linspace(0, 1, 101)
        each = (1 - pc)[:, None] * lines["fpr"].to_numpy() + pc[:, None] * lines["fnr"].to_numpy()
        expected = each.min(axis=1)
        np.testing.assert_allclose(np.interp(pc, curve["probability_cost"], curve["expected_cost"]), expected, atol=1e-12)

    @settings(max_examples=80, deadline=None)
    @given(ranked())
    def test_the_threshold_of_a_stretch_is_the_best_all_along_it(self, rows):
        y, score, weight = rows
        lines = measures.cost_lines(y, score, sample_weight=weight).set_index("threshold")
        curve = measures.cost_curve(y, score, sample_weight=weight)
        starts, ends = curve["probability_cost"].iloc[:-1], curve["probability_cost"].iloc[1:]
        for start, end, threshold in zip(starts, ends, curve["threshold"], strict=False):
            pc = start + (end - start) * np.array([0.0, 0.4, 1.0])
            best = np.min((1 - pc) * lines["fpr"].to_numpy()[:, None] + pc * lines["fnr"].to_numpy()[:, None], axis=0)
            here = (1 - pc) * lines["fpr"][threshold] + pc * lines["fnr"][threshold]
            np.testing.assert_allclose(here, best, atol=1e-12)

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_runs_from_0_to_1_upwards_and_below_the_trivial_lines(self, rows):
        y, score, weight = rows
        curve = measures.cost_curve(y, score, sample_weight=weight)
        pc, cost = curve["probability_cost"], curve["expected_cost"]
        assert (pc.iloc[0], pc.iloc[-1]) == (0, 1)
        assert (np.diff(pc) > 0).all()
        assert (cost <= np.minimum(pc, 1 - pc) + 1e-12).all()
        assert curve["threshold"].iloc[-1] == curve["threshold"].iloc[-2]

    def test_at_even_costs_it_gives_the_least_error_rate_of_balanced_classes(self):
        y, score = [0] * 5 + [1] * 5, [0.1, 0.2, 0.3, 0.35, 0.6, 0.4, 0.65, 0.8, 0.9, 0.05]
        curve = measures.cost_curve(y, score)
        even = np.interp(0.5, curve["probability_cost"], curve["expected_cost"])
        assert even == pytest.approx(measures.mer(y, score))

    def test_a_perfect_ranking_costs_nothing_at_one_threshold(self):
        curve = measures.cost_curve([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9])
        assert curve.to_numpy().tolist() == [[0, 0, 0.7], [1, 0, 0.7]]

    def test_equal_scores_leave_the_trivial_lines(self):
        curve = measures.cost_curve([0, 1], [0.5, 0.5])
        assert curve.to_numpy().tolist() == [[0, 0, np.inf], [0.5, 0.5, 0.5], [1, 0, 0.5]]

    @pytest.mark.parametrize("y", [[0, 0], [1, 1]])
    def test_one_class_leaves_it_undefined(self, y):
        with pytest.warns(UndefinedMeasureWarning, match="cost_curve.*expected_cost.*threshold"):
            curve = measures.cost_curve(y, [0.2, 0.7])
        assert curve["probability_cost"].tolist() == [0, 1]
        assert curve["expected_cost"].isna().all()


class TestBrierCurve:
    def test_the_tutorials_five_cases(self):
        curve = measures.brier_curve(*TUTORIAL)
        assert np.trapezoid(curve["loss"], curve["cost"]) == pytest.approx(0.195)

    @settings(max_examples=80, deadline=None)
    @given(ranked())
    def test_its_area_is_the_brier_score(self, rows):
        y, score, weight = rows
        curve = measures.brier_curve(y, score, sample_weight=weight)
        assert np.trapezoid(curve["loss"], curve["cost"]) == pytest.approx(measures.brier(y, score, sample_weight=weight))
        assert (curve["cost"].iloc[0], curve["cost"].iloc[-1]) == (0, 1)

    @settings(max_examples=60, deadline=None)
    @given(ranked())
    def test_is_the_loss_at_each_cost(self, rows):
        y, score, _ = rows
        curve = measures.brier_curve(y, score)
        # Costs between the forecasts, where the curve does not jump.
        for c in (np.arange(24) + 0.5) / 24:
            called = score > c
            expected = 2 * (c * (called & (y == 0)).mean() + (1 - c) * (~called & (y == 1)).mean())
            assert np.interp(c, curve["cost"], curve["loss"]) == pytest.approx(expected, abs=1e-12)

    def test_each_forecast_has_the_loss_before_and_after_its_jump(self):
        curve = measures.brier_curve([0, 1], [0.4, 0.6])
        assert curve["cost"].tolist() == [0, 0.4, 0.4, 0.6, 0.6, 1]
        assert curve["loss"].tolist() == pytest.approx([0, 0.4, 0, 0, 0.4, 0])

    def test_forecasts_of_0_and_1_leave_no_empty_stretch(self):
        curve = measures.brier_curve([0, 1, 0, 1], [0, 0, 1, 1])
        assert curve["cost"].tolist() == [0, 1]
        assert curve["loss"].tolist() == pytest.approx([0.5, 0.5])

    @pytest.mark.parametrize("y", [[0, 0], [1, 1]])
    def test_one_class_is_enough(self, y):
        curve = measures.brier_curve(y, [0.2, 0.7])
        assert np.trapezoid(curve["loss"], curve["cost"]) == pytest.approx(measures.brier(y, [0.2, 0.7]))

    @pytest.mark.parametrize("score", [[0.2, 1.2], [-0.1, 0.5]])
    def test_scores_that_are_no_probabilities_are_refused(self, score):
        with pytest.raises(InputError, match="y_score"):
            measures.brier_curve([0, 1], score)
        with pytest.raises(InputError, match="tally"):
            measures.brier_curve.of(ScoreTally.from_scores([0, 1], score))

    def test_calibration_refuses_them_too(self):
        with pytest.raises(InputError, match="y_score"):
            measures.calibration_curve([0, 1], [0.2, 3.0])

    def test_a_matrix_must_sum_to_one(self):
        with pytest.raises(InputError, match=r"y_score.*0"):
            measures.brier_curve([0, 1], [[0.5, 0.4], [0.5, 0.5]])
