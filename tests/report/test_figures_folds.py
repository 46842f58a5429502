"""Tests of `fairtrial.report.figures.folds`."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import vl_convert

from fairtrial.errors import InputError
from fairtrial.learners.c45 import C45
from fairtrial.report.figures.folds import ROW_ROLES, build_splits, draw_audit, draw_rarest_class, draw_splits, label_rows
from fairtrial.report.figures.times import compute_learner_times, draw_times
from fairtrial.report.figures.tree import draw_tree, layout_tree
from fairtrial.report.files import save
from fairtrial.report.sections.folds import build_fold_lines, count_fold_coverage, count_repeated_ids, select_fold_findings
from fairtrial.resampling import Bootstrap, KFold, LeaveOneOut, Splits
from fairtrial.resampling.audit import audit
from fairtrial.study import Results
from fairtrial.study.archive import DataFacts
from tests.reference.folds import as_splits, stratified
from tests.reference.trees import drawn as drawn_tree
from tests.reference.weka.asking import built_in
from tests.report.result_cases import cases
from tests.study.archives import CLEAN, Predictions, archive_of

# --- Splits ---


FOLDS = KFold(3, random_state=1).freeze(range(12))
DRAWS = Bootstrap(2, random_state=1).freeze(range(12))


def cells(panel, chart):
    return chart["datasets"][panel["data"]["name"]]


def test_parts_are_those_of_the_splits():
    frame = label_rows({"folds": FOLDS, "draws": DRAWS})
    assert len(frame) == 12 * 5
    for scheme, splits in (("folds", FOLDS), ("draws", DRAWS)):
        for number, (train, test) in enumerate(splits):
            rows = frame[(frame["scheme"] == scheme) & (frame["split"] == number + 1)].set_index("row")["role"]
            for row in range(12):
                times = train.tolist().count(row)
                expected = "tests" if row in test else "trains" if times == 1 else "trains more than once"
                assert rows[row] == expected


def test_what_must_not_be_is_told_apart():
    frame = label_rows(Splits.from_pairs([([0, 1], [1, 2])], 4))
    assert frame["role"].tolist() == ["trains", "trains and tests", "tests", "left aside"]
    assert set(frame["role"]) <= set(ROW_ROLES)


def test_a_panel_for_each_scheme_and_a_strip_of_classes():
    chart = draw_splits({"folds": FOLDS, "draws": DRAWS}, ["a"] * 8 + ["<b>"] * 4).to_dict()
    assert [panel["title"]["text"] for panel in chart["vconcat"]] == ["class of each row", "folds", "draws"]
    assert [len(cells(panel, chart)) for panel in chart["vconcat"]] == [12, 36, 24]
    legends = [panel["encoding"]["color"]["scale"]["domain"] for panel in chart["vconcat"]]
    assert legends == [["a", "<b>"], ["trains", "tests"], ["trains", "trains more than once", "tests"]]
    svg = vl_convert.vegalite_to_svg(chart)
    assert "Test rows of each split" in svg
    assert "&lt;b>" in svg or "&lt;b&gt;" in svg


def test_many_splits_lose_their_numbers():
    chart = draw_splits(LeaveOneOut().freeze(range(20))).to_dict()
    assert chart["vconcat"][0]["encoding"]["y"]["axis"]["labels"] is False
    assert "<svg" in vl_convert.vegalite_to_svg(chart)


@pytest.mark.parametrize(
    ("schemes", "classes", "message"),
    [
        ([FOLDS], None, "schemes must be splits or map names to splits"),
        ({}, None, "schemes must be splits or map names to splits"),
        ({"a": KFold(3)}, None, "schemes must be splits or map names to splits"),
        ({"a": FOLDS, "b": KFold(3).freeze(range(9))}, None, "schemes must split the same rows"),
        (KFold(3).freeze(np.zeros(301)), None, r"must have at most 300 rows and 60 splits to be drawn, got 301 and 3"),
        (LeaveOneOut().freeze(np.zeros(61)), None, "got 61 and 61: draw a smaller example"),
        (FOLDS, [1, 2], "classes must have one value for each of the 12 rows, got 2"),
    ],
)
def test_what_cannot_be_drawn(schemes, classes, message):
    with pytest.raises(InputError, match=message):
        draw_splits(schemes, classes)


# --- Audit ---
# The figure of an audit shows each fold's numbers, and which are beyond chance.


@pytest.fixture(scope="module")
def shifted():
    x = np.column_stack([np.arange(120.0), np.random.default_rng(0).normal(size=120)])
    return audit(as_splits(np.arange(120) // 40), (x, np.array(["u", "v"])[np.arange(120) % 2]), n_permutations=99)


@pytest.fixture(scope="module")
def drawn(shifted):
    return panels(draw_audit(shifted))


def panels(chart):
    """The rows of each panel, in order."""
    drawn = chart.to_dict()
    return [drawn["datasets"][panel["data"]["name"]] for line in drawn["vconcat"] for panel in line["hconcat"]]


def test_points_are_the_numbers_of_the_frame(shifted, drawn):
    frame = shifted.frame().query("check == 'energy distance'")
    assert [row["value"] for row in drawn[0]] == pytest.approx(frame["value"].tolist())
    assert {row["outcome"] for row in drawn[0] if row["p_adjusted"] <= 0.05} == {"beyond chance"}
    assert {row["split"] for row in drawn[0]} == {"1", "2", "3"}


def test_of_attributes_the_most_unusual_is_shown(drawn):
    assert [row["class"] for row in drawn[2]] == ["u"] * 3 + ["v"] * 3 + ["all classes"] * 3
    assert {row["attribute"] for row in drawn[2]} == {"x0"}


def test_outlying_is_in_percent(shifted, drawn):
    frame = shifted.frame().query("check == 'outlying'")
    assert [row["value"] for row in drawn[3]] == pytest.approx((100 * frame["value"]).tolist())


def test_a_frame_will_do_and_alpha_may_be_given(shifted):
    assert all(row["outcome"] == "within chance" for row in panels(draw_audit(shifted.frame(), alpha=1e-9))[0])


def test_repeats_many_classes_and_many_splits():
    rng = np.random.default_rng(0)
    y = np.arange(160) % 8
    splits = [split for _ in range(9) for split in stratified(y, 4, rng)]
    chart = draw_audit(audit(splits, (rng.normal(size=(160, 2)), y), n_permutations=19))
    assert len(panels(chart)[0]) == 30


def test_it_becomes_a_file(shifted, tmp_path):
    assert save(draw_audit(shifted, title="Folds in order"), tmp_path / "audit.svg").read_text().count("Folds in order") >= 1


def test_other_tables_are_refused(shifted):
    with pytest.raises(InputError, match="must have the column 'check'"):
        draw_audit(shifted.table())


# --- Fold counts ---
# What splits alone tell.


def split_results(parts, codes, ids=None):
    """Results of one learner, which is always right, with these splits."""
    codes = np.asarray(codes, dtype=np.intp)
    facts = DataFacts("d", "d", ("a", "b"), codes, np.arange(len(codes)) if ids is None else np.asarray(ids, dtype=object))
    splits = {"d": {(0, fold): tuple(np.asarray(each, dtype=np.intp) for each in part) for fold, part in enumerate(parts)}}

    def evidence(facts, _condition, _learner, repeat, fold):
        test = splits["d"][repeat, fold][1]
        return Predictions(test, facts.codes[test], facts.codes[test], None, None)

    return Results(archive_of([facts], [CLEAN], ["x"], splits, evidence)), facts


def test_splits_are_those_of_the_archive():
    results = cases()["several"]
    facts = results.archive.datasets[0]
    found = build_splits(results, facts)
    assert len(found) == 5
    assert np.array_equal(found.splits[3].test, results.archive.split(facts.name, 0, 3)[1])


def test_counts_of_a_leaky_split():
    results, facts = split_results([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], [0, 0, 0, 1, 1, 0])
    layout, counts = count_fold_coverage(results, facts)
    lines = build_fold_lines("d", layout, counts)
    assert lines["in both"].tolist() == [1, 0]
    assert lines["rarest class"].unique().tolist() == ["b"]
    assert lines["proportion in test"].tolist() == pytest.approx([2 / 3, 0])
    assert lines["proportion overall"].unique().tolist() == pytest.approx([1 / 3])
    leak = next(each.text for each in select_fold_findings(layout, counts) if each.check == "in train and test")
    assert "fold 0 (1 of 3 test rows)" in leak  # as `Results.scores` counts: the first fold is 0


def test_predictions_without_training_rows_are_not_blamed_for_absent_classes():
    results, facts = split_results([([], [0, 1, 2, 3])], [0, 1, 0, 1])
    assert [each.check for each in select_fold_findings(*count_fold_coverage(results, facts)) if each.level == "fault"] == []
    trained, facts = split_results([([0, 2], [1, 3])], [0, 1, 0, 1])
    assert "class absent from training" in [each.check for each in select_fold_findings(*count_fold_coverage(trained, facts))]


def test_rows_without_a_class_are_counted_apart():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, -1])
    layout, counts = count_fold_coverage(results, facts)
    assert layout.classes == ("a", "b", "(no class)")
    assert counts.test.sum() == 4


def test_repeated_ids_are_found_across_the_cut():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1], ids=["p", "q", "p", "r"])
    assert count_repeated_ids(facts, count_fold_coverage(results, facts)[0]) == (2, 2)
    results, facts = split_results([([0, 1], [2, 3])], [0, 1, 0, 1], ids=["p", "p", "q", "r"])
    assert count_repeated_ids(facts, count_fold_coverage(results, facts)[0]) == (2, 0)


def test_the_figure_shows_the_first_repeat():
    results, facts = split_results([([0, 1], [2, 3]), ([2, 3], [0, 1])], [0, 1, 0, 1])
    lines = build_fold_lines("d", *count_fold_coverage(results, facts))
    lines.loc[1, "repeat"] = 2
    rows = max(draw_rarest_class(lines).to_dict()["datasets"].values(), key=len)
    assert [(row["dataset"], row["fold"], row["share"]) for row in rows] == [("d", 1.0, 0.5)]


# --- Times ---
# The figure of times.


def frame(**changes):
    lines = {"dataset": ["a", "b", "a", "b"], "learner": ["slow", "slow", "quick", "quick"], "fit_time": [2.0, 4.0, 0.0, 0.5]}
    rest = {"predict_time": 0.01, "fit_cpu": 1.0, "predict_cpu": 0.01, "memory": [2.0**20, 3 * 2.0**20, 2.0**21, 2.0**21]}
    return pd.DataFrame({**lines, **rest, **changes})


def test_medians_by_learner_the_fastest_first():
    found = compute_learner_times(frame())
    assert found["fit_time"].to_dict() == {"quick": 0.25, "slow": 3.0}
    assert found["datasets"].tolist() == [2, 2]


def test_panels_show_seconds_and_mebibytes_on_scales_that_hold_all():
    chart = draw_times(frame()).to_dict()
    assert [panel["layer"][0]["encoding"]["x"]["title"] for panel in chart["hconcat"]] == [
        "Fitting, seconds",
        "Predicting, seconds",
        "Memory, MiB",
    ]
    for panel in chart["hconcat"]:
        x = panel["layer"][0]["encoding"]["x"]
        values = [row[x["field"]] for row in chart["datasets"][panel["layer"][0]["data"]["name"]]]
        assert x["scale"]["domain"][0] <= min(values) <= max(values) <= x["scale"]["domain"][1]
    memory = chart["datasets"][chart["hconcat"][2]["layer"][0]["data"]["name"]]
    assert [row["memory"] for row in memory] == [1, 3, 2, 2]


def test_what_was_not_measured_has_no_panel():
    assert len(draw_times(frame(memory=0.0)).to_dict()["hconcat"]) == 2
    with pytest.raises(InputError, match="above 0"):
        draw_times(frame(memory=0.0, fit_time=0.0, predict_time=0.0))


# --- Tree ---
# The figure of a tree.


def iris():
    frame = built_in("iris")
    return C45().fit(frame.iloc[:, :-1], frame["class"]).tree_


def test_words_and_answers():
    places = layout_tree(iris().frame())
    assert places["text"][0] == "petal_width_cm"
    assert sorted(places[places["leaf"]]["text"]) == [
        "setosa (50)",
        "versicolor (3/1)",
        "versicolor (48/1)",
        "virginica (3)",
        "virginica (46/1)",
    ]
    assert places["answer"].tolist()[1:3] == ["≤ 0.6", "> 0.6"]


def test_leaves_stand_apart_and_children_right_of_their_parents():
    frame, weights = drawn_tree(8)
    places = layout_tree(C45(unpruned=True, collapse=False).fit(frame.iloc[:, :-1], frame["class"], weights).tree_.frame())
    heights = sorted(places[places["leaf"]]["y"])
    assert min(b - a for a, b in pairwise(heights)) >= 20
    children = places[places["parent"] >= 0]
    assert (children["x"].to_numpy() > places["end"].to_numpy()[children["parent"]]).all()


def test_a_lone_leaf_is_drawn():
    chart = draw_tree(C45().fit([[1.0], [2.0]], ["a", "a"]).tree_)
    assert chart.to_dict()["title"]["subtitle"] == ["1 leaf, 1 node. Leaves: class (training rows/errors)"]


def test_the_figure_is_written_and_takes_a_frame(tmp_path):
    path = save(draw_tree(iris().frame(), title="Iris"), tmp_path / "tree.svg")
    text = path.read_text()
    for word in ("Iris", "petal_width_cm", "setosa (50)", "≤ 0.6"):
        assert word in text


def test_large_trees_and_other_frames_are_refused():
    with pytest.raises(InputError, match="at most 3 leaves"):
        draw_tree(iris(), most_leaves=3)
    with pytest.raises(InputError, match="must have the column"):
        draw_tree(pd.DataFrame({"node": [0]}))
