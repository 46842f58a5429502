import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert

from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.report.figures import curves
from fairtrial.report.figures.base import PALETTE
from fairtrial.report.figures.projection import draw_projection

LEARNERS = {"tree": [0.1, 0.4, 0.35, 0.8, 0.8, 0.2], "bayes": [0.3, 0.2, 0.6, 0.9, 0.7, 0.65]}
TRUTH = [0, 0, 1, 1, 0, 1]

# Each figure: how it is drawn, the curve it needs, and the titles of its axes.
FIGURES = {
    "roc": (curves.draw_roc, measures.roc_curve, ["False positive rate", "True positive rate"]),
    "precision-recall": (curves.draw_precision_recall, measures.precision_recall_curve, ["Recall", "Precision"]),
    "cost": (curves.draw_cost, measures.cost_curve, ["Probability cost of the positive class", "Normalised expected cost"]),
    "brier": (curves.draw_brier, measures.brier_curve, ["Cost of a false positive (a false negative costs the rest)", "Loss"]),
    "gain": (curves.draw_gain, measures.gain_curve, ["Proportion of rows targeted", "Proportion of positives found", "Lift"]),
    "ks": (curves.draw_tpr_fpr, measures.tpr_fpr_curve, ["Threshold (score)", "Rate"]),
    "calibration": (
        curves.draw_calibration,
        measures.calibration_curve,
        ["Mean predicted probability", "Observed frequency", "Cases"],
    ),
}
DRAWN = {
    "roc": ["fpr", "tpr"],
    "precision-recall": ["recall", "precision"],
    "cost": ["probability_cost", "expected_cost"],
    "brier": ["cost", "loss"],
    "gain": ["targeted", "gain", "lift"],
    "ks": ["tpr", "fpr"],
    "calibration": ["mean_predicted", "observed_frequency", "weight", "low", "high"],
}
figures = pytest.mark.parametrize("figure", FIGURES)


def of(curve, learners=LEARNERS):
    return {name: curve(TRUTH, score) for name, score in learners.items()}


def drawn(figure, learners=LEARNERS):
    draw, curve, _ = FIGURES[figure]
    return draw(of(curve, learners))


def rows(chart):
    """All rows that the chart holds."""
    return [row for dataset in chart.to_dict()["datasets"].values() for row in dataset]


def svg(chart):
    return vl_convert.vegalite_to_svg(chart.to_dict())


def parts(spec):
    """Every single mark of a chart that may be layered or put side by side."""
    inner = [part for key in ("layer", "hconcat", "vconcat", "concat") for part in spec.get(key, ())]
    return [found for part in inner for found in parts(part)] if inner else [spec]


@figures
def test_holds_every_point_of_every_frame(figure):
    _, curve, _ = FIGURES[figure]
    held = pd.DataFrame(rows(drawn(figure)))
    for name, frame in of(curve).items():
        own = held[held["learner"] == name][DRAWN[figure]].to_numpy(float)
        for point in frame[DRAWN[figure]].to_numpy():
            assert np.isclose(own, point, atol=1e-12).all(axis=1).any(), (name, point)


@figures
def test_svg_shows_axes_title_and_learners(figure):
    text = svg(drawn(figure))
    for words in [*FIGURES[figure][2], *LEARNERS]:
        assert f">{words}</text>" in text
    assert f">{drawn(figure).to_dict()['title']['text']}</text>" in text


@figures
def test_a_title_may_be_given(figure):
    draw, curve, _ = FIGURES[figure]
    assert ">Hepatitis</text>" in svg(draw(of(curve), title="Hepatitis"))


@figures
def test_tooltips_name_the_learner(figure):
    lines = [part for part in parts(drawn(figure).to_dict()) if "tooltip" in part["encoding"]]
    assert lines
    for line in lines:
        assert line["encoding"]["tooltip"][0] == {"field": "learner", "title": "learner", "type": "nominal"}


@pytest.mark.parametrize("figure", [name for name in FIGURES if name != "ks"])
def test_learners_get_okabe_and_itos_colours(figure):
    scales = [part["encoding"]["color"]["scale"] for part in parts(drawn(figure).to_dict()) if "color" in part["encoding"]]
    assert scales
    for scale in scales:
        assert scale == {"domain": ["tree", "bayes"], "range": list(PALETTE[:2])}


@pytest.mark.parametrize("figure", [name for name in FIGURES if name != "ks"])
def test_one_learner_needs_no_legend(figure):
    assert ">tree</text>" not in svg(drawn(figure, {"tree": LEARNERS["tree"]}))


@figures
def test_a_million_rows_leave_a_small_figure(figure):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000_000)
    score = np.clip(0.1 * y + rng.uniform(0, 0.9, len(y)), 0, 1)
    draw, curve, _ = FIGURES[figure]
    assert len(rows(draw({"tree": curve(y, score)}))) < 12_000


@pytest.mark.parametrize("figure", [name for name in FIGURES if name not in ("brier", "calibration")])
def test_an_undefined_curve_leaves_a_hole(figure):
    draw, curve, _ = FIGURES[figure]
    with pytest.warns(UndefinedMeasureWarning):
        lone = curve([0, 0], [0.2, 0.7])
    assert "NaN" not in svg(draw({"lone": lone, "tree": curve(TRUTH, LEARNERS["tree"])}))
    assert svg(draw({"lone": lone}))


@figures
@pytest.mark.parametrize(
    ("frames", "message"),
    [
        (pd.DataFrame({"fpr": [0.0]}), "frames must map the names of learners to frames, got DataFrame"),
        ({}, "frames must hold at least 1 learner, got none"),
        ({"tree": pd.DataFrame({"speed": [1.0]})}, r"the frame of 'tree' must have the column '\w+', got \['speed'\]"),
        ({"tree": [1, 2]}, "the frame of 'tree' must have the column .*, got list"),
    ],
)
def test_bad_frames_are_refused(figure, frames, message):
    with pytest.raises(InputError, match=message):
        FIGURES[figure][0](frames)


def test_an_empty_frame_is_refused():
    with pytest.raises(InputError, match="the frame of 'tree' must hold at least 1 row, got 0"):
        curves.draw_roc({"tree": pd.DataFrame({"threshold": [], "fpr": [], "tpr": []})})


class TestRoc:
    def test_is_square_with_the_diagonal(self):
        chart = drawn("roc").to_dict()
        assert chart["width"] == chart["height"]
        assert [{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}] in map(list, chart["datasets"].values())

    def test_lines_follow_the_rows(self):
        assert all("order" in part["encoding"] for part in parts(drawn("roc").to_dict()) if "color" in part["encoding"])

    def test_hulls_are_drawn_where_given(self):
        hulls = of(measures.roc_hull)
        chart = curves.draw_roc(of(measures.roc_curve), hulls)
        assert len(parts(chart.to_dict())) == len(parts(drawn("roc").to_dict())) + 1
        corners = next(part for part in parts(chart.to_dict()) if part["mark"].get("point"))
        held = pd.DataFrame(chart.to_dict()["datasets"][corners["data"]["name"]])
        for name, hull in hulls.items():
            np.testing.assert_array_equal(held[held["learner"] == name][["fpr", "tpr"]], hull[["fpr", "tpr"]])
        assert "convex hull" in svg(chart)

    def test_the_first_threshold_is_told_in_words(self):
        assert rows(drawn("roc"))[2]["threshold"] == "above all scores"

    def test_more_learners_than_colours_get_dashes(self):
        chart = curves.draw_roc({f"L{i}": measures.roc_curve(TRUTH, LEARNERS["tree"]) for i in range(10)}).to_dict()
        dash = next(part["encoding"]["strokeDash"] for part in parts(chart) if "strokeDash" in part["encoding"])
        assert dash["scale"]["range"][0] == dash["scale"]["range"][7] == [1, 0]
        assert dash["scale"]["range"][8] != [1, 0]


class TestPrecisionRecall:
    def test_the_base_rate_is_drawn_and_told(self):
        chart = drawn("precision-recall").to_dict()
        assert chart["title"]["subtitle"] == ["Dashed: the base rate, 0.500"]
        assert [{"recall": 0, "precision": 0.5}, {"recall": 1, "precision": 0.5}] in map(list, chart["datasets"].values())

    def test_the_curve_is_carried_to_recall_0(self):
        first = next(row for row in rows(drawn("precision-recall")) if row.get("learner") == "tree")
        assert (first["recall"], first["precision"]) == (0, 0.5)


class TestCost:
    def test_the_trivial_lines_are_drawn_and_named(self):
        chart = drawn("cost").to_dict()
        for line in ([(0, 0), (0.5, 0.5)], [(0.5, 0.5), (1, 0)]):
            assert [{"probability_cost": x, "expected_cost": y} for x, y in line] in map(list, chart["datasets"].values())
        assert all(f">always {word}</text>" in svg(drawn("cost")) for word in ("negative", "positive"))

    def test_lines_of_thresholds_are_drawn_where_given(self):
        lines = of(measures.cost_lines)
        chart = curves.draw_cost(of(measures.cost_curve), lines).to_dict()
        rule = next(part for part in parts(chart) if part["mark"]["type"] == "rule")
        held = pd.DataFrame(chart["datasets"][rule["data"]["name"]])
        np.testing.assert_array_equal(held[held["learner"] == "bayes"][["fpr", "fnr"]], lines["bayes"][["fpr", "fnr"]])
        assert (held["start"].unique().tolist(), held["end"].unique().tolist()) == ([0], [1])


def test_lift_bends_within_ties_as_the_measure_does():
    y, score = [1, 1, 0, 1, 0, 0, 0, 0], [0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1]
    held = pd.DataFrame(rows(curves.draw_gain({"tree": measures.gain_curve(y, score)}))).dropna(subset="learner")
    between = held[(held["targeted"] > 0.4) & (held["targeted"] < 0.99)]
    assert len(between) > 20
    for row in between.itertuples():
        assert row.lift == pytest.approx(measures.lift(y, score, fraction=row.targeted))


def test_calibration_bars_run_from_low_to_high():
    bar = next(part for part in parts(drawn("calibration").to_dict()) if part["mark"]["type"] == "rule")
    assert (bar["encoding"]["y"]["field"], bar["encoding"]["y2"]["field"]) == ("low", "high")


class TestIntervals:
    FRAME = pd.DataFrame(
        {
            "measure": ["auc", "auc", "kappa", "kappa"],
            "learner": ["tree", "bayes"] * 2,
            "estimate": [0.91, 0.87, 0.5, 0.6],
            "low": [0.88, 0.8, 0.4, np.nan],
            "high": [0.94, 0.9, 0.6, np.nan],
        }
    )

    def test_numbers_measures_and_learners_are_told(self):
        text = svg(curves.draw_intervals(self.FRAME))
        for words in ("Estimate", "auc", "kappa", "tree", "bayes", "0.910 (0.880 to 0.940)", "0.600 (interval undefined)"):
            assert f">{words}</text>" in text.replace("  (", " (").replace("&nbsp;", "")

    def test_data_are_the_frame(self):
        held = pd.DataFrame(rows(curves.draw_intervals(self.FRAME)))[list(self.FRAME)]
        pd.testing.assert_frame_equal(held, self.FRAME, check_dtype=False)

    def test_without_learners_there_is_no_legend(self):
        frame = self.FRAME.drop(columns="learner").iloc[[0, 2]]
        chart = curves.draw_intervals(frame).to_dict()
        assert "yOffset" not in parts(chart)[0]["encoding"]
        assert parts(chart)[0]["encoding"]["color"]["legend"] is None

    def test_measures_may_be_the_index_as_in_the_frame_of_an_evaluation(self):
        assert ">kappa</text>" in svg(curves.draw_intervals(self.FRAME.set_index("measure")))

    def test_missing_columns_are_named(self):
        with pytest.raises(InputError, match="frame must have the column 'high'"):
            curves.draw_intervals(self.FRAME.drop(columns="high"))

    def test_an_evaluation_is_drawn_as_it_is(self):
        found = measures.evaluate(TRUTH, [0, 1, 1, 1, 0, 0], measures=["accuracy", "kappa"])
        chart = curves.draw_intervals(found)
        held = pd.DataFrame(rows(chart)).set_index("measure")[["estimate", "low", "high"]]
        pd.testing.assert_frame_equal(held, found.frame()[["estimate", "low", "high"]])
        assert ">Estimates with intervals</text>" in svg(chart)

    def test_differences_are_drawn_as_they_are_with_a_line_at_0(self):
        models = {**LEARNERS, "rule": [0.5, 0.1, 0.9, 0.6, 0.3, 0.2]}
        found = measures.differences("auc", TRUTH, models, method="percentile", resamples=50)
        chart = curves.draw_intervals(found)
        held = pd.DataFrame([row for row in rows(chart) if "measure" in row])
        assert held["measure"].tolist() == ["tree - bayes", "tree - rule", "bayes - rule"]
        np.testing.assert_array_equal(held[["estimate", "low", "high"]], found.frame()[["estimate", "low", "high"]])
        assert {"low": 0} in rows(chart)
        text = svg(chart)
        for words in ("Difference in auc", "Differences with intervals", "Dashed: no difference", "bayes - rule"):
            assert f">{words}</text>" in text
        assert ">Difference</text>" in svg(curves.draw_intervals(found.frame()))

    def test_what_has_no_frame_is_refused(self):
        with pytest.raises(InputError, match="frame must be a frame or a result that has one, got list"):
            curves.draw_intervals([0.9, 0.8])


class TestProjection:
    POINTS = pd.DataFrame({"learner": ["Ideal", "tree", "bayes"], "x": [0.0, 3.0, 1.0], "y": [0.0, 0.0, 4.0]})

    def test_points_edges_and_names_are_drawn(self):
        chart = draw_projection(self.POINTS, [("Ideal", "tree"), ("tree", "bayes")])
        assert {"learner": "bayes", "x": 1.0, "y": 4.0} in rows(chart)
        assert {"x": 3.0, "y": 0.0, "x2": 1.0, "y2": 4.0} in rows(chart)
        assert all(f">{name}</text>" in svg(chart) for name in ("Ideal", "tree", "bayes", "First coordinate"))

    def test_both_axes_have_one_scale(self):
        chart = draw_projection(self.POINTS).to_dict()
        x, y = (parts(chart)[0]["encoding"][name]["scale"]["domain"] for name in "xy")
        assert x[1] - x[0] == pytest.approx(y[1] - y[0])
        assert chart["width"] == chart["height"]
        assert x[0] < 0
        assert x[1] > 3
        assert y[0] < 0
        assert y[1] > 4

    @pytest.mark.parametrize("edges", [{"tree": "Ideal"}, pd.Series({"tree": "Ideal"}), [("tree", "Ideal")]])
    def test_edges_may_be_pairs_or_parents(self, edges):
        assert {"x": 3.0, "y": 0.0, "x2": 0.0, "y2": 0.0} in rows(draw_projection(self.POINTS, edges))

    def test_parents_in_the_frame_are_used(self):
        points = self.POINTS.assign(parent=["", "Ideal", "tree"]).set_index("learner")
        assert {"x": 1.0, "y": 4.0, "x2": 3.0, "y2": 0.0} in rows(draw_projection(points))

    def test_a_projection_is_drawn_as_it_is(self):
        tables = {"A": [[40, 10], [10, 40]], "B": [[50, 0], [20, 30]], "C": [[50, 0], [4, 46]]}
        found = measures.projection(tables)
        chart = draw_projection(found)
        points = {row["learner"]: (row["x"], row["y"]) for row in rows(chart) if "learner" in row}
        assert points == {name: (found.points["x"][name], found.points["y"][name]) for name in found.points.index}
        assert len([row for row in rows(chart) if "x2" in row]) == len(tables)

    def test_learners_in_one_place_share_a_label(self):
        points = pd.concat([self.POINTS, pd.DataFrame({"learner": ["twin"], "x": [1.0], "y": [4.0]})])
        assert ">bayes, twin</text>" in svg(draw_projection(points))

    def test_a_lone_point_is_no_trouble(self):
        assert ">Ideal</text>" in svg(draw_projection(self.POINTS.iloc[:1]))

    def test_an_unknown_learner_in_an_edge_is_refused(self):
        with pytest.raises(InputError, match="edges must join the given learners, got 'forest'"):
            draw_projection(self.POINTS, [("tree", "forest")])


def test_figures_are_altair_charts():
    assert all(isinstance(drawn(figure), alt.TopLevelMixin) for figure in FIGURES)
