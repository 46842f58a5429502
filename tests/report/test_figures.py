"""Tests of `fairtrial.report.figures`."""

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from fairtrial import judge
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.measures import evaluate, projection
from fairtrial.report.figures import base, comparison, curves
from fairtrial.report.figures.comparison import list_comparison_figures
from fairtrial.report.figures.projection import compute_confusion_tables
from fairtrial.report.figures.registry import draw, figures, list_figure_names, list_figure_options, register_figure
from fairtrial.report.selection import Selection, get_main_condition
from fairtrial.study.archive import ConditionFacts
from tests.report.drifting import drifting
from tests.report.judgement.cases import two_classes, weighted
from tests.report.result_cases import cases, few_learners, real_results, skilled_results
from tests.study.archives import CLEAN, real_sources

# --- Draw ---
# Figures by name.


CURVES = ["roc", "precision-recall", "cost-curve", "brier-curve", "ks", "gain", "calibration"]
VERDICTS = ["critical-difference", "ranks", "pairs", "simplex", "density", "intervals"]
CONDITIONS = ["noise", "rla", "ela", "loss-surface", "deterioration"]
OTHERS = ["confusion", "projection", "splits", "audit", "times", "tuning", "learning-curve"]


def test_all_figures_are_there():
    assert sorted(list_figure_names()) == sorted([*CURVES, *VERDICTS, *CONDITIONS, *OTHERS])


def test_unknown_names_and_options_get_a_hint():
    with pytest.raises(UnknownNameError, match="'cost-curve'"):
        draw(None, "cost-curv")
    with pytest.raises(InputError, match=r"'noise'.*'conditon'.*'condition'"):
        draw(None, "noise", conditon="x")


@pytest.mark.parametrize("name", ["roc", "times", "noise"])
def test_every_figure_takes_a_title(name):
    assert draw(cases()["two classes"], name, title="<b>Mine</b>").to_dict()["title"]["text"] == "<b>Mine</b>"


@pytest.mark.parametrize("name", [*CURVES, *VERDICTS, *CONDITIONS, *OTHERS])
def test_what_can_be_selected_are_fields_of_a_selection_and_options_come_once(name):
    options = list_figure_options(name)
    assert set(figures[name].select) <= {field.name for field in fields(Selection)}
    assert len(set(options)) == len(options)
    assert not {"results", "selection"} & set(options)


@pytest.fixture
def own_figures(monkeypatch):
    monkeypatch.setattr(figures, "_items", dict(figures._items))


@pytest.mark.usefixtures("own_figures")
def test_a_figure_is_added_by_its_decorator_with_or_without_a_selection():
    @register_figure("mine", select=("dataset", "level"))
    def draw_mine(_results, selection, colour="blue"):
        return selection, colour

    @register_figure("plain", serves=("judgement",))
    def draw_plain(results, dataset=None):
        return results, dataset

    results = cases()["two classes"]
    assert list_figure_options("mine") == ("dataset", "level", "colour", "title")
    assert draw(results, "mine", dataset="iris", colour="red") == (Selection(dataset="iris"), "red")
    assert list_figure_options("plain") == ("dataset", "title")
    assert draw(judge(two_classes(60), resamples=20), "plain", dataset="x")[1] == "x"
    with pytest.raises(InputError, match="plain"):
        draw(results, "plain")


def test_aliases_are_the_same_figure():
    assert list_figure_options("pr") == list_figure_options("precision-recall")


@pytest.mark.parametrize("name", ["roc", "precision-recall", "cost-curve", "ks", "calibration"])
def test_curves_of_a_judgement(name):
    text = str(draw(judge(two_classes(60), positive="no", resamples=20), name).to_dict())
    assert "forest" in text
    assert "tree" in text


def test_judgement_cannot_draw_every_figure():
    for table, name in ((two_classes(60), "noise"), (weighted(60), "roc")):
        with pytest.raises(InputError, match=f"'{name}'.*judgement"):
            draw(judge(table, resamples=20), name)


# --- Drawing ---


def test_thinning_keeps_the_ends_and_what_can_be_seen():
    x = np.concatenate([np.linspace(0, 1e-5, 1000), [0.5], np.linspace(0.99999, 1, 1000)])
    rows = base.collect_rows({"a": pd.DataFrame({"x": x, "y": x})}, ["x", "y"], thin=["x", "y"])
    assert [row["x"] for row in rows] == [0, pytest.approx(1e-5), 0.5, pytest.approx(0.99999), 1]
    assert [row["row"] for row in rows] == [0, 1, 2, 3, 4]


def test_thinning_looks_at_the_scale_of_the_data():
    y = np.array([0, 1e-6, 2e-6, 3e-6])
    rows = base.collect_rows({"a": pd.DataFrame({"x": np.zeros(4), "y": y})}, ["x", "y"], thin=["x", "y"])
    assert [row["y"] for row in rows] == y.tolist()


def test_thinning_moves_no_line_by_more_than_a_grid_step():
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.uniform(size=100_000)), np.sort(rng.uniform(size=100_000))
    rows = pd.DataFrame(base.collect_rows({"a": pd.DataFrame({"x": x, "y": y})}, ["x", "y"], thin=["x", "y"]))
    assert len(rows) < 5000
    assert np.abs(np.interp(x, rows["x"], rows["y"]) - y).max() < 2e-3


def test_rows_hold_nothing_that_json_cannot():
    frame = pd.DataFrame({"threshold": [np.inf, np.nan, 0.123456], "x": [np.nan, np.inf, np.float32(1)], "n": [1, 2, 3]})
    rows = base.to_records(frame, ["threshold", "x", "n"])
    assert [row["threshold"] for row in rows] == ["above all scores", "undefined", "0.1235"]
    assert [row["x"] for row in rows] == [None, None, 1.0]


def test_highest_passes_over_holes():
    frames = {"a": pd.DataFrame({"x": [np.nan, 2.0]}), "b": pd.DataFrame({"x": [np.nan]})}
    assert curves.find_maximum(frames, "x") == 2
    assert curves.find_maximum({"b": frames["b"]}, "x") == 0


def test_results_and_frames_give_frames():
    found = evaluate([0, 1, 1, 0], [0, 1, 0, 0], measures=["accuracy"])
    pd.testing.assert_frame_equal(base.to_frame(found), found.frame())
    assert base.to_frame(found.frame()).index.tolist() == ["accuracy"]
    with pytest.raises(InputError, match="frame must be a frame or a result that has one, got NoneType"):
        base.to_frame(None)


def test_importing_the_figures_does_not_import_altair():
    modules = "fairtrial.report.figures.curves, fairtrial.report.files"
    code = f"import sys, {modules}; print('altair' in sys.modules, 'pandas' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["False", "False"]


# --- Drawn verdicts ---
# Figures of comparisons by name.


DRAWINGS = {
    "critical-difference": "draw_critical_difference",
    "ranks": "draw_ranks",
    "pairs": "draw_pairs",
    "simplex": "draw_simplex",
    "density": "draw_density",
}


def count_drawings(monkeypatch):
    """A list to which every figure of a comparison adds its name when it is drawn."""
    calls = []
    for name, function in DRAWINGS.items():
        drawing = getattr(comparison, function)

        def draw_and_count(*args, _name=name, _draw=drawing, **options):
            calls.append(_name)
            return _draw(*args, **options)

        monkeypatch.setattr(comparison, function, draw_and_count)
    return calls


@pytest.mark.parametrize("name", ["critical-difference", "ranks", "pairs"])
def test_figures_of_the_verdict_are_those_of_the_condition(name):
    results = cases()["several"]
    expected = list_comparison_figures(results.verdict("auc", condition="class-noise", level=0.2))[name]().to_dict()
    found = draw(results, name, measure="auc", condition="class-noise").to_dict()
    assert found["datasets"] == expected["datasets"]


@pytest.mark.parametrize("name", ["critical-difference", "ranks", "pairs"])
def test_only_the_figure_that_is_asked_for_is_drawn(name, monkeypatch):
    calls = count_drawings(monkeypatch)
    draw(cases()["several"], name)
    assert calls == [name]


def test_a_control_is_passed_on():
    chart = draw(cases()["several"], "pairs", control="near").to_dict()
    assert {row["row"] for row in max(chart["datasets"].values(), key=len)} == {"near"}


def test_posteriors_are_of_two_learners():
    results = cases()["several"]
    assert draw(results, "simplex", learner=["bayes", "near"], rope=0.02).to_dict()["title"]["text"] == (
        "Posterior: accuracy, 3 data sets"
    )
    chart = draw(results, "density", learner=["bayes", "near"], dataset="wine").to_dict()
    assert "bayes" in str(chart["layer"])
    with pytest.raises(InputError, match="learner must name 2 learners"):
        draw(results, "simplex")
    with pytest.raises(InputError, match="did you mean 'bayes'"):
        draw(results, "simplex", learner=["baye", "near"])
    with pytest.raises(InputError, match="dataset must be given"):
        draw(results, "density", learner=["bayes", "near"])


def test_intervals_show_the_means():
    results = cases()["several"]
    chart = draw(results, "intervals", measure="accuracy").to_dict()
    rows = max(chart["datasets"].values(), key=len)
    means = results.wide("accuracy").mean()
    assert {row["learner"]: row["estimate"] for row in rows} == pytest.approx(means.to_dict())
    assert "on wine" in draw(results, "intervals", dataset="wine", measure=["auc", "log_loss"]).to_dict()["title"]["text"]


@pytest.mark.parametrize(
    "options", [{"condition": "class-nois"}, {"condition": "class-noise", "level": 0.7}, {"dataset": "winne"}]
)
def test_wrong_places_are_named(options):
    with pytest.raises(InputError, match="must be"):
        draw(cases()["several"], "intervals", **options)


def test_titles_say_what_is_compared_and_where():
    results = cases()["several"]
    for name in ("critical-difference", "ranks", "pairs"):
        told = draw(results, name, measure="auc", condition="class-noise").to_dict()["title"]["text"]
        assert told.endswith(": AUC, 3 data sets, class-noise 0.2")
    told = draw(results, "density", learner=["bayes", "near"], dataset="wine").to_dict()["title"]["text"]
    assert told.endswith(": accuracy, wine")
    told = draw(results, "intervals", dataset="wine", condition="class-noise").to_dict()["title"]["text"]
    assert "on wine under class-noise 0.2" in told


# --- Drawn conditions ---
# Figures of noise and drift by name.


def rows_of(chart):
    return pd.DataFrame(max(chart.to_dict()["datasets"].values(), key=len))


def test_noise_shows_the_measure_at_every_level():
    results = cases()["several"]
    rows = rows_of(draw(results, "noise", measure="balanced_accuracy", dataset="wine"))
    for level, condition in ((0.0, "clean"), (0.2, "class-noise")):
        own = rows[rows["level"] == level].set_index("learner")["value"]
        assert own.to_dict() == pytest.approx(results.wide("balanced_accuracy", condition, level).loc["wine"].to_dict())


@pytest.mark.parametrize("name", ["rla", "ela"])
def test_losses_are_those_of_the_results(name):
    results = cases()["several"]
    for dataset, by in ((None, "all"), ("iris", "dataset")):
        expected = results.robustness(by=by)
        expected = expected if dataset is None else expected[expected["dataset"] == dataset]
        found = rows_of(draw(results, name, dataset=dataset)).set_index("learner")["value"]
        assert found.to_dict() == pytest.approx(dict(zip(expected["learner"], expected[name], strict=True)))


def test_the_surface_holds_clean_and_noisy_means():
    chart = draw(cases()["two classes"], "loss-surface").to_dict()
    points = next(pd.DataFrame(rows) for rows in chart["datasets"].values() if "learner" in rows[0])
    expected = cases()["two classes"].robustness().set_index("learner")
    noisy = points[points["level"] > 0].set_index("learner")
    assert noisy["noisy"].to_dict() == pytest.approx(expected["noisy"].to_dict())


def test_deterioration_is_drawn_by_condition():
    chart = draw(drifting(), "deterioration", condition="worn", value="loss")
    expected = drifting().deterioration()
    assert sorted(rows_of(chart)["loss"]) == pytest.approx(sorted(expected["loss"]))
    with pytest.raises(InputError, match="did you mean 'worn'"):
        draw(drifting(), "deterioration", condition="won")


def test_which_condition_must_be_clear():
    with pytest.raises(InputError, match="condition must be given"):
        draw(drifting(), "noise")
    with pytest.raises(InputError, match="clean"):
        draw(cases()["apart"], "rla")
    with pytest.raises(InputError, match="did you mean 'iris'"):
        draw(cases()["several"], "ela", dataset="irs")
    with pytest.raises(InputError, match="did you mean 'class-noise'"):
        draw(cases()["several"], "ela", condition="class-nois")


def test_a_condition_without_levels_has_none_in_its_title():
    moved = ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8], "part": "test"})
    results = skilled_results({"a": {"clean": 0.9, "moved": 0.7}}, sets=2, conditions=(CLEAN, moved))
    chart = draw(results, "deterioration", value="loss").to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["moved"]


# --- Drawn curves ---
# Figures of curves by name.


@pytest.fixture(scope="module")
def pair():
    return few_learners(["bayes", "tree"], ["cancer"])


@pytest.mark.parametrize("name", ["roc", "precision-recall", "cost-curve", "brier-curve", "ks", "gain", "calibration"])
def test_each_names_its_data_set_class_and_condition(pair, name):
    chart = draw(pair, name, condition="class-noise", level=0.2).to_dict()
    assert chart["title"]["text"].endswith("cancer, class malignant under class-noise 0.2")


def test_the_curve_is_that_of_the_results(pair):
    chart = draw(pair, "roc", positive="benign", band="none", hull=False).to_dict()
    rows = pd.DataFrame(max(chart["datasets"].values(), key=len))
    expected = pair.curves("roc", positive="benign")
    for learner, own in rows.groupby("learner"):
        mine = expected[expected["learner"] == learner]
        assert set(zip(own["fpr"], own["tpr"], strict=True)) <= set(zip(mine["fpr"], mine["tpr"], strict=True))
        assert own["fpr"].iloc[-1] == 1
    assert chart["title"]["text"] == "ROC curve: cancer, class benign"


def test_confusion_matrices_count_the_rows_of_the_first_repeat(pair):
    panels = draw(pair, "confusion").to_dict()
    assert [panel["title"]["text"] for panel in panels["concat"]] == ["bayes", "tree"]
    trials = pair.scored_trials()
    chosen = trials[(trials["learner"] == "tree") & (trials["repeat"] == 0) & (trials["condition"] == "clean")]
    expected = sum(
        confusion_matrix(part.y_true, part.prediction) for part in pair.archive.predictions(chosen["trial"].tolist())
    )
    chart = draw(pair, "confusion", learner="tree").to_dict()
    cells = max(chart["datasets"].values(), key=len)
    assert [cell["count"] for cell in cells] == expected.ravel().tolist()
    assert chart["title"]["text"] == "Confusion matrix of tree: cancer"
    noisy = draw(pair, "confusion", learner="tree", condition="class-noise", level=0.2).to_dict()
    assert noisy["title"]["text"] == "Confusion matrix of tree: cancer under class-noise 0.2"
    with pytest.raises(InputError, match="did you mean 'tree'"):
        draw(pair, "confusion", learner="treee")


def test_bands_come_for_few_learners_and_on_request(pair):
    kinds = lambda chart: [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]  # noqa: E731
    assert "area" in kinds(draw(pair, "roc"))
    many = cases()["two classes"]
    assert "area" not in kinds(draw(many, "roc"))
    assert "area" in kinds(draw(many, "roc", band="points", confidence=0.8))
    with pytest.raises(InputError, match="repeat"):
        draw(few_learners(["bayes"], ["cancer"]), "roc", repeat=1, band="curve")


def test_a_study_of_several_data_sets_asks_for_one():
    with pytest.raises(InputError, match="dataset must be given"):
        draw(cases()["several"], "roc")
    assert (
        draw(cases()["several"], "roc", dataset="iris", learner="bayes").to_dict()["title"]["text"]
        == "ROC curve: iris, class setosa"
    )


def test_cost_curves_show_lines_and_winners_on_request(pair):
    plain = len(draw(pair, "cost-curve", winners=False).to_dict()["layer"])
    assert len(draw(pair, "cost-curve", winners=False, lines=True).to_dict()["layer"]) == plain + 1
    assert len(draw(pair, "cost-curve").to_dict()["layer"]) > plain


# --- Drawn splits ---
# Figures of splits, audits, projections and times by name.


def test_the_projection_is_that_of_the_confusion_tables():
    results = cases()["several"]
    tables = compute_confusion_tables(results, get_main_condition(results), ["wine"]).tables
    chart = draw(results, "projection", dataset="wine", distance="L1").to_dict()
    points = next(pd.DataFrame(rows) for rows in chart["datasets"].values() if "learner" in rows[0]).set_index("learner")
    expected = projection(tables, distance="L1").points
    assert np.allclose(points.loc[expected.index, ["x", "y"]], expected)


def test_a_projection_needs_a_whole_data_set():
    with pytest.raises(InputError, match="all learners have run"):
        draw(cases()["all failed"], "projection")


def test_rows_that_test_are_the_archives():
    results = cases()["two classes"]
    chart = draw(results, "splits").to_dict()
    rows = pd.DataFrame(max(chart["datasets"].values(), key=len))
    assert (rows["role"] == "tests").sum() == 150
    order = np.argsort(results.archive.datasets[0].codes, kind="stable")
    first = rows[(rows["split"] == 1) & (rows["role"] == "tests")]["row"].astype(int)
    assert set(order[first]) == set(results.archive.split("cancer", 0, 0)[1])


def test_a_repeat_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="repeat must be 0, got"):
        draw(cases()["two classes"], "splits", repeat=3)


def test_the_audit_takes_the_data():
    X, y, _ = real_sources()["iris"]
    results = real_results(names=["iris"])
    assert draw(results, "audit", data=(X, y), n_permutations=19).to_dict()["title"]["text"] == "Fold audit: iris"


def test_the_audit_says_what_it_lacks():
    with pytest.raises(InputError, match="must be the one of the study"):  # the study has other rows of it
        draw(cases()["many classes"], "audit")
    with pytest.raises(InputError, match="needs the attributes of 'cancer'"):
        draw(cases()["two classes"], "audit")


def test_times_of_one_data_set():
    chart = draw(cases()["several"], "times", dataset="wine").to_dict()
    assert {row["dataset"] for rows in chart["datasets"].values() for row in rows if "dataset" in row} == {"wine"}
    with pytest.raises(InputError, match="times need trials"):
        draw(cases()["all failed"], "times")
    with pytest.raises(InputError, match="did you mean 'wine'"):
        draw(cases()["several"], "times", dataset="wien")
