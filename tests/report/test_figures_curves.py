"""Tests of `fairtrial.report.figures.curves`."""

from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd
import pytest
import vl_convert
from scipy.stats import binomtest, kstwo, norm
from sklearn.metrics import confusion_matrix, roc_curve

import fairtrial
from fairtrial import measures
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.measures import cost_curve, roc_curve as roc_curve_roc_band, tpr_fpr_curve
from fairtrial.predictions.judgement import judge
from fairtrial.report.charts import adapt_to_page, draw_svg
from fairtrial.report.figures import curves
from fairtrial.report.figures.base import PALETTE
from fairtrial.report.figures.curves import compute_roc_band, draw_cost, draw_roc, draw_tpr_fpr, with_band
from fairtrial.report.figures.forest import draw_forest
from fairtrial.report.figures.projection import compute_confusion_tables, draw_projection
from fairtrial.report.figures.study_curves import TIE, TRIVIAL, collect_curve_frames, find_cost_winners, with_winners
from fairtrial.report.sections.curves import compute_winning_fractions, reduce_curve_points
from fairtrial.report.selection import Selection, choose_positive_class, count_tested_classes, get_main_condition
from tests.report.result_cases import _some_abstain, cases, real_results, skilled_results

# --- Curves ---


LEARNERS = {"tree": [0.1, 0.4, 0.35, 0.8, 0.8, 0.2], "bayes": [0.3, 0.2, 0.6, 0.9, 0.7, 0.65]}
TRUTH = [0, 0, 1, 1, 0, 1]

# Each figure: how it is drawn, the curve it needs, and the titles of its axes.
FIGURES = {
    "roc": (curves.draw_roc, measures.roc_curve, ["False positive rate", "True positive rate"]),
    "precision-recall": (curves.draw_precision_recall, measures.precision_recall_curve, ["Recall", "Precision"]),
    "cost": (curves.draw_cost, measures.cost_curve, ["Probability cost of the positive class", "Normalised expected cost"]),
    "brier": (curves.draw_brier, measures.brier_curve, ["Cost c of a false positive (a false negative costs 1 - c)", "Loss"]),
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
        ({}, "frames must contain at least 1 learner, got none"),
        ({"tree": pd.DataFrame({"speed": [1.0]})}, r"the frame of 'tree' must have the column '\w+', got \['speed'\]"),
        ({"tree": [1, 2]}, "the frame of 'tree' must have the column .*, got list"),
    ],
)
def test_bad_frames_are_refused(figure, frames, message):
    with pytest.raises(InputError, match=message):
        FIGURES[figure][0](frames)


def test_an_empty_frame_is_refused():
    with pytest.raises(InputError, match="the frame of 'tree' must contain at least 1 row, got 0"):
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


# --- Curve frames ---
# Curves of a study by learner.


def facts_of(results, name):
    return next(each for each in results.archive.datasets if each.name == name)


def test_of_two_classes_the_second_in_sorted_order_and_of_more_the_rarest():
    results = cases()["several"]
    assert choose_positive_class(results, facts_of(results, "cancer")) == "malignant"
    wine = facts_of(results, "wine")
    assert choose_positive_class(results, wine) == wine.classes[int(np.argmin(wine.counts))]


def test_a_declared_class_counts():
    results = real_results(declaration={"data": {"cancer": {"positive": "benign"}}})
    assert choose_positive_class(results, facts_of(results, "cancer")) == "benign"


def test_without_a_class_two_class_curves_are_those_of_the_results():
    results = cases()["two classes"]
    expected = results.curves("roc", learner="tree").drop(columns="learner")
    pd.testing.assert_frame_equal(collect_curve_frames(results, "roc", Selection())["tree"], expected)


def test_the_curve_of_many_classes_is_the_rarest_against_the_rest():
    results = cases()["many classes"]
    label = choose_positive_class(results, results.archive.datasets[0])
    trials = results.trials()
    own = trials[(trials["learner"] == "bayes") & (trials["condition"] == "clean")]
    found = list(results.archive.predictions(own["trial"].tolist()))
    place = results.archive.datasets[0].classes.index(label)
    truth = np.concatenate([one.y_true == place for one in found])
    scores = np.concatenate([one.scores[:, place] for one in found])
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    frame = collect_curve_frames(results, "roc", Selection())["bayes"]
    assert np.allclose(frame[["fpr", "tpr"]], np.column_stack([fpr, tpr]))


def test_rows_tested_are_counted_in_the_first_repeat():
    results = real_results(names=["cancer"], repeats=2)
    facts = results.archive.datasets[0]
    malignant = int(facts.counts[facts.classes.index("malignant")])
    assert count_tested_classes(results, facts, get_main_condition(results), "malignant") == (
        malignant,
        len(facts.codes) - malignant,
    )


@pytest.mark.parametrize("peak", ["", "y"])
def test_thin_curves_keep_their_ends_and_their_peak(peak):
    x = np.linspace(0, 1, 10_001)
    frame = pd.DataFrame({"x": x, "y": np.where(np.arange(len(x)) == 5003, 9.0, 0.0)})
    thin = reduce_curve_points({"a": frame}, ["x"], peak=peak)["a"]
    assert 100 < len(thin) <= 162
    assert thin["x"].iloc[[0, -1]].tolist() == [0, 1]
    assert (thin["y"] == 9).any() == bool(peak)


# --- Confusion tables ---
# Confusion tables of a study.


def test_tables_are_those_of_all_test_rows():
    results = cases()["several"]
    found = compute_confusion_tables(results, get_main_condition(results))
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "near") & (trials["condition"] == "clean")]
    rows = list(results.archive.predictions(own["trial"].tolist()))
    expected = confusion_matrix(*(np.concatenate([getattr(one, name) for one in rows]) for name in ("y_true", "prediction")))
    assert np.array_equal(found.tables["near"][found.datasets.index("wine")], expected)
    assert found.datasets == ("iris", "wine", "cancer")


def test_data_sets_with_holes_are_left_out_and_named():
    results = cases()["failures"]
    found = compute_confusion_tables(results, get_main_condition(results))
    assert (found.datasets, found.datasets_left_out) == (("cancer",), ("iris", "wine"))


def test_learners_that_never_ran_are_left_out_first():
    results = real_results(lambda _data, _condition, learner, *_: "missing" if learner == "tree" else None)
    found = compute_confusion_tables(results, get_main_condition(results))
    assert (list(found.tables), found.learners_left_out, found.datasets_left_out) == (["bayes", "ridge", "near"], ("tree",), ())


def test_a_learner_called_ideal_does_not_take_its_place():
    results = skilled_results({"Ideal": 0.9, "other": 0.8}, sets=1)
    assert list(compute_confusion_tables(results, get_main_condition(results)).tables) == ["Ideal (learner)", "other"]


def test_nothing_ran_nothing_is_given():
    results = cases()["all failed"]
    assert compute_confusion_tables(results, get_main_condition(results)).tables == {}


def test_abstentions_are_a_further_label_of_all_learners():
    results = cases()["abstaining"]
    found = compute_confusion_tables(results, get_main_condition(results))
    trials = results.trials()
    own = trials[(trials["dataset"] == "wine") & (trials["learner"] == "near") & (trials["condition"] == "clean")]
    rows = list(results.archive.predictions(own["trial"].tolist()))
    truth, said = (np.concatenate([getattr(one, name) for one in rows]) for name in ("y_true", "prediction"))
    expected = confusion_matrix(truth, np.where(said < 0, 3, said), labels=[0, 1, 2, 3])
    assert expected[:, 3].sum() == 24
    assert np.array_equal(found.tables["near"][found.datasets.index("wine")], expected)
    plain = compute_confusion_tables(cases()["several"], get_main_condition(results)).tables["tree"]
    for wide, table in zip(found.tables["tree"], plain, strict=True):
        assert np.array_equal(wide, np.pad(table, (0, 1)))


def test_only_data_sets_with_abstentions_have_the_further_label():
    def on_iris(dataset, *rest):
        return _some_abstain(dataset, *rest) if dataset == "iris" else None

    results = real_results(on_iris)
    found = compute_confusion_tables(results, get_main_condition(results))
    assert [table.shape for table in found.tables["tree"]] == [(4, 4), (3, 3), (2, 2)]


# --- Cost winners ---
# Who wins where.


def curve(*points):
    return pd.DataFrame(points, columns=["probability_cost", "expected_cost"])


def curves_cost_winners(seed, ties=False, learners=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 80)
    found = {}
    for place in range(learners):
        scores = y * rng.uniform(0.3, 1.5) + rng.normal(size=80)
        found[f"l{place}"] = cost_curve(y, np.round(scores) if ties else scores)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ties", [False, True])
def test_winners_are_the_lowest_curves_everywhere(seed, ties):
    given = curves_cost_winners(seed, ties)
    winners = find_cost_winners(given)
    assert winners["start"].iloc[0] == 0
    assert winners["end"].iloc[-1] == 1
    assert (winners["start"].iloc[1:].to_numpy() == winners["end"].iloc[:-1].to_numpy()).all()
    for x in np.linspace(0.0007, 0.9993, 997):
        costs = {name: np.interp(x, own["probability_cost"], own["expected_cost"]) for name, own in given.items()}
        line = winners[(winners["start"] <= x) & (x <= winners["end"])].iloc[0]
        least = min(costs.values())
        if line["winner"] == "learner":
            assert costs[line["learner"]] == pytest.approx(least, abs=1e-9)
        elif line["winner"] == TRIVIAL:
            assert least == pytest.approx(min(x, 1 - x), abs=1e-9)
        else:
            assert sorted(costs.values())[1] == pytest.approx(least, abs=1e-9)


def test_borders_are_where_lines_cross():
    winners = find_cost_winners({"a": curve((0, 0), (0.5, 0.1), (1, 0)), "b": curve((0, 0), (0.25, 0.1), (0.75, 0.02), (1, 0))})
    # a falls by 0.2 a unit after 0.5, b by 0.16 from (0.25, 0.1): 0.2 x = 0.1 - 0.16 (x - 0.25) at x = 7/18
    assert winners["learner"].tolist() == ["a", "b"]
    assert winners["end"].iloc[0] == pytest.approx(7 / 18)


def test_equal_curves_are_alike_and_useless_ones_trivial():
    useless, good = curve((0, 0), (0.5, 0.5), (1, 0)), curve((0, 0), (0.5, 0.1), (1, 0))
    assert find_cost_winners({"a": useless})["winner"].tolist() == [TRIVIAL]
    assert find_cost_winners({"a": good, "b": good})["winner"].tolist() == [TIE]


def test_shares_add_up_and_undefined_curves_win_nothing():
    hole = curve((0, np.nan), (1, np.nan))
    won = compute_winning_fractions(find_cost_winners({"hole": hole, "good": curve((0, 0), (0.5, 0.1), (1, 0))}))
    assert won.to_dict() == {"good": 1.0}


def test_the_strip_names_the_winner():
    given = curves_cost_winners(1)
    chart = with_winners(draw_cost(given), find_cost_winners(given), given).to_dict()
    rows = chart["datasets"][chart["layer"][-1]["data"]["name"]]
    winners = find_cost_winners(given)
    assert [row["learner"] for row in rows] == winners[winners["winner"] == "learner"]["learner"].tolist()


# --- Rates ---
# The Kolmogorov-Smirnov chart: rates over the scores themselves.


TRUTH_RATES = np.array([1, 1, 0, 1, 0, 0, 0])


def drawn_rates(score, truth=TRUTH_RATES):
    return draw_tpr_fpr({"tree": tpr_fpr_curve(truth, score)}).to_dict()


def axis_of(chart):
    return chart["concat"][0]["layer"][-1]["encoding"]["x"]


def steps(chart, rate):
    """The corners of one line, in the order in which they are joined."""
    rows = [row for rows in chart["datasets"].values() for row in rows if row.get("rate") == rate]
    return [(row["score"], row["value"]) for row in sorted(rows, key=lambda row: row["row"])]


@pytest.mark.parametrize(
    "score", [[0.9, 0.8, 0.8, 0.4, 0.3, 0.3, 0.05], [12.0, 3.0, 3.0, -1.5, -2.0, -2.0, -40.0]], ids=["shares", "others"]
)
def test_between_two_corners_the_line_has_the_share_of_scores_that_reach_the_threshold(score):
    chart, score = drawn_rates(score), np.asarray(score)
    low, high = axis_of(chart)["scale"]["domain"]
    for rate, own in (("true positive rate", score[TRUTH_RATES == 1]), ("false positive rate", score[TRUTH_RATES == 0])):
        corners = steps(chart, rate)
        assert (corners[0][0], corners[-1][0]) == (high, low)
        for (above, value), (below, _) in pairwise(corners):
            if above > below:  # a step keeps the value of its upper end down to its lower end
                threshold = (above + below) / 2
                assert value == pytest.approx((own >= threshold).mean()), threshold
    assert chart["concat"][0]["layer"][-1]["mark"]["interpolate"] == "step-after"


def test_the_axis_is_called_what_it_shows():
    assert axis_of(drawn_rates([0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.1]))["title"] == "Threshold (score)"
    assert axis_of(drawn_rates([0.9, 0.8, 0.7, 0.4, 0.3, 0.2, 0.1]))["scale"]["domain"] == [0, 1]
    low, high = axis_of(drawn_rates([-3, 5, 1, 2, 0, 4, 3]))["scale"]["domain"]
    assert -4 < low < -3
    assert 5 < high < 6


@pytest.mark.parametrize("score", [[0.5] * 7, [0.0] * 7, [-7.0] * 7])
def test_a_single_score_has_room_around_it(score):
    low, high = axis_of(drawn_rates(score))["scale"]["domain"]
    assert low < score[0] < high


def test_ks_is_marked_at_the_score_where_the_gap_is_widest():
    # At the threshold 0.4 all three positives are found and one of four negatives: 1 - 1/4.
    chart = drawn_rates([0.9, 0.8, 0.8, 0.4, 0.3, 0.3, 0.05])
    assert {"score": 0.4, "value": 0.25, "to": 1.0} in [row for rows in chart["datasets"].values() for row in rows]
    assert ">KS = 0.750</text>" in vl_convert.vegalite_to_svg(chart)


def test_without_a_negative_the_rates_are_undefined():
    with pytest.warns(match="fpr"):
        frame = tpr_fpr_curve([1, 1], [0.2, 0.7], labels=[0, 1])
    assert ">undefined</text>" in vl_convert.vegalite_to_svg(draw_tpr_fpr({"tree": frame}).to_dict())


# --- Roc band ---
# Confidence bands of ROC curves.


def drawn_roc_band(rng, positives, negatives, ties=False):
    scores = np.concatenate([rng.normal(size=negatives), rng.normal(1, size=positives)])
    return roc_curve_roc_band(np.repeat([0, 1], [negatives, positives]), np.round(scores) if ties else scores)


def brute(curve, x, far_x, far_y):
    """The highest and lowest point of the curve within far_x, found on a fine line along it."""
    steps = np.linspace(0, len(curve) - 1, 20_001)
    fpr, tpr = (np.interp(steps, np.arange(len(curve)), curve[name]) for name in ("fpr", "tpr"))
    near = np.abs(fpr - x) <= far_x + 1e-9
    return max(tpr[near].min() - far_y, 0) if x >= far_x else 0.0, min(tpr[near].max() + far_y, 1) if x <= 1 - far_x else 1.0


@pytest.mark.parametrize("ties", [False, True])
def test_the_band_of_the_curve_is_that_of_all_points_within_kolmogorovs_distance(ties):
    curve = drawn_roc_band(np.random.default_rng(1), 40, 30, ties)
    far_y, far_x = (kstwo.ppf(np.sqrt(0.9), n) for n in (40, 30))
    band = compute_roc_band(curve, 40, 30, level=0.9)
    for x in np.linspace(0.013, 0.987, 40):
        low, high = brute(curve, x, far_x, far_y)
        after, before = (band[band["fpr"] >= x].iloc[0], band[band["fpr"] <= x].iloc[-1])
        share = (x - before["fpr"]) / ((after["fpr"] - before["fpr"]) or 1)
        assert before["low"] + share * (after["low"] - before["low"]) == pytest.approx(low, abs=2e-3)
        assert before["high"] + share * (after["high"] - before["high"]) == pytest.approx(high, abs=2e-3)


def test_kolmogorovs_distance_is_the_one_of_the_tables():
    # 0.40925 for 10 cases at 5 % (Massey 1951: 0.409); both classes at 5 % make a band of 0.95 squared
    band = compute_roc_band(pd.DataFrame({"fpr": [0, 1], "tpr": [0, 1]}), 10, 10, level=0.9025)
    assert band["high"].iloc[0] == pytest.approx(2 * 0.40925, abs=1e-4)


def test_the_whole_true_curve_lies_within_as_often_as_promised():
    rng, inside, times = np.random.default_rng(5), 0, 100
    x = np.linspace(0.001, 0.999, 200)
    true = norm.sf(norm.isf(x) - 1)
    for _ in range(times):
        band = compute_roc_band(drawn_roc_band(rng, 25, 35), 25, 35, level=0.8)
        low, high = (np.interp(x, band["fpr"], band[name]) for name in ("low", "high"))
        inside += bool(((low <= true + 1e-9) & (true <= high + 1e-9)).all())
    assert inside / times >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / times)


def test_the_band_of_points_joins_wilsons_limits():
    curve = drawn_roc_band(np.random.default_rng(2), 20, 20)
    band = compute_roc_band(curve, 20, 20, kind="points")
    for fpr, tpr in curve.groupby("fpr")["tpr"].max().items():
        (left, _), (_, top) = (
            binomtest(round(20 * each), 20).proportion_ci(np.sqrt(0.95), method="wilson") for each in (fpr, tpr)
        )
        left = max(left, 0.0)
        assert np.isclose(band.loc[np.isclose(band["fpr"], left), "high"], top).any()


@pytest.mark.parametrize("of", ["curve", "points"])
def test_the_band_holds_the_curve_and_rises(of):
    curve = drawn_roc_band(np.random.default_rng(3), 15, 50, ties=True)
    band = compute_roc_band(curve, 15, 50, kind=of)
    assert (band["low"].diff().dropna() >= 0).all()
    assert (band["high"].diff().dropna() >= 0).all()
    assert band["fpr"].iloc[[0, -1]].tolist() == [0, 1]
    low, high = (np.interp(curve["fpr"], band["fpr"], band[name]) for name in ("low", "high"))
    assert ((low <= curve["tpr"] + 1e-9) & (curve["tpr"] <= high + 1e-9)).all()


def test_more_cases_make_a_narrower_band():
    curve = drawn_roc_band(np.random.default_rng(4), 20, 20)
    widths = [(band["high"] - band["low"]).mean() for band in (compute_roc_band(curve, n, n) for n in (20, 200, 2000))]
    assert widths[0] > widths[1] > widths[2]


@pytest.mark.parametrize(("options", "words"), [({"level": 2}, "level"), ({"kind": "rows"}, "kind must be one of")])
def test_wrong_options_are_refused(options, words):
    curve = pd.DataFrame({"fpr": [0.0, 1.0], "tpr": [0.0, 1.0]})
    with pytest.raises(InputError, match=words):
        compute_roc_band(curve, 5, 5, **options)


def test_the_chart_says_whose_band_it_is():
    curves = {"a": drawn_roc_band(np.random.default_rng(6), 9, 9), "b": drawn_roc_band(np.random.default_rng(7), 9, 9)}
    plain = draw_roc(curves)
    chart = with_band(plain, {"b": compute_roc_band(curves["b"], 9, 9)}, curves, level=0.9).to_dict()
    assert chart["title"]["subtitle"][-1] == "Shaded: 90 % simultaneous band of b"
    assert len(plain.to_dict()["layer"]) + 1 == len(chart["layer"])
    # An order would make an area of each row, which nobody sees.
    assert "order" not in chart["layer"][0]["encoding"]


def test_a_band_counts_clusters_instead_of_rows():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"y_true": np.arange(60) % 2, "tree_proba": rng.random(60), "patient": np.arange(60)})
    repeated = pd.concat([frame] * 3, ignore_index=True)

    def find_band(judgement):
        chart = fairtrial.draw(judgement, "roc").to_dict()
        return pd.DataFrame(chart["datasets"][chart["layer"][0]["data"]["name"]])[["fpr", "low", "high"]]

    expected = find_band(judge(frame.drop(columns="patient")))
    pd.testing.assert_frame_equal(find_band(judge(repeated, cluster="patient")), expected)
    narrow = find_band(judge(repeated.drop(columns="patient")))
    assert (narrow["high"] - narrow["low"]).max() < (expected["high"] - expected["low"]).max()


class TestForest:
    FRAME = pd.DataFrame(
        {"label": ["a", "b"], "learner": ["a", "b"], "estimate": [0.9, 0.8], "low": [0.8, 0.7], "high": [0.99, np.nan]}
    )

    def test_names_and_numbers_stand_beside_the_rows(self):
        text = svg(draw_forest(self.FRAME, title="AUC", subtitle="95 % CI"))
        for words in ("AUC", "95 % CI", "a", "b", "0.900", "0.800"):
            assert f">{words}</text>" in text

    def test_own_texts_replace_the_numbers(self):
        text = svg(draw_forest(self.FRAME.assign(text=["p = 0.27", "p < 0.001"]), has_zero=True))
        assert ">p = 0.27</text>" in text
        assert ">0.900</text>" not in text

    def test_shaded_rows_have_a_background(self):
        chart = draw_forest(self.FRAME.assign(shaded=[True, False])).to_dict()
        assert chart["layer"][0]["mark"]["type"] == "rect"
        assert [row["label"] for row in rows(draw_forest(self.FRAME.assign(shaded=[True, False]))) if row["shaded"]] == [
            "a",
            "a",
        ]

    def test_rows_of_a_group_are_adjacent_and_share_a_label(self):
        frame = pd.DataFrame(
            {"label": ["x", "x", "y", "y"], "learner": ["a", "b"] * 2, "estimate": 0.5, "low": 0.4, "high": 0.6}
        )
        chart = draw_forest(frame, step=10)
        assert [row["position"] for row in rows(chart)] == [0, 1, 3, 4]
        assert chart.to_dict()["height"] == 50
        assert svg(chart).count(">x</text>") == 1

    def test_the_axis_stays_in_the_range_of_the_measure(self):
        chart = draw_forest(self.FRAME, limits=(0, 1)).to_dict()
        low, high = parts(chart)[-1]["encoding"]["x"]["scale"]["domain"]
        assert 0 < low < 0.7
        assert 0.99 < high <= 1

    def test_hostile_names_are_text(self):
        name = '"] + alert(1) + ["</script>'
        frame = self.FRAME.assign(label=[name, "b"], learner=[name, "b"])
        assert "alert(1)" in svg(draw_forest(frame)).replace("&quot;", '"')

    def test_rounded_coordinates_do_not_change_texts(self):
        drawing = draw_svg(adapt_to_page(draw_forest(self.FRAME).to_dict(), "half"), "k")
        assert ">0.900</text>" in drawing
