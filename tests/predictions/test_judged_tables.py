import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from fairtrial.measures import evaluate, get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings
from fairtrial.predictions.tables import (
    build_calibration_table,
    build_class_table,
    build_score_table,
    build_subgroup_table,
    describe_small_subgroup,
    select_subgroup_measures,
)
from fairtrial.predictions.validate import Notes

PLAN = JudgeSettings(resamples=100, seed=0)


def three(n=90):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, n)
    scores = 0.4 * np.eye(3)[codes] + rng.random((n, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    columns = {f"score[{each}]": scores[:, i] for i, each in enumerate("abc")}
    return pd.DataFrame(
        {"truth": np.array(list("abc"))[codes], "group": rng.choice(["u", "v", "w"], n, p=[0.6, 0.35, 0.05]), **columns}
    )


def judged(table, **options):
    one = read_predictions(table, **options).datasets[0]
    return one, [InMemoryModel.from_dataset(one, name, one.get_positive_index(None)) for name in one.models]


def test_classes_are_those_of_another_library():
    table = three()
    matrix = table[["score[a]", "score[b]", "score[c]"]].to_numpy()
    labels = np.array(list("abc"))[matrix.argmax(axis=1)]
    found = build_class_table(judged(table)[1], 0.95).set_index("class")
    precision, recall, f, support = precision_recall_fscore_support(table["truth"], labels, labels=list("abc"))
    for name, values in (("precision", precision), ("recall", recall), ("f_score", f), ("support", support)):
        assert found[name].tolist() == pytest.approx(values.tolist())
    areas = [roc_auc_score(table["truth"] == each, matrix[:, i]) for i, each in enumerate("abc")]
    assert found["auc"].tolist() == pytest.approx(areas)
    hits = int(((table["truth"] == "a") & (labels == "a")).sum())
    assert found.loc["a", ["recall_low", "recall_high"]].tolist() == pytest.approx(
        compute_wilson_limits(hits, support[0], 0.95)
    )


def test_scores_have_a_line_for_each_model_and_measure():
    found = build_score_table(judged(three())[1], [get_measure("accuracy"), get_measure("brier")], PLAN)
    assert found[["model", "measure", "better"]].values.tolist() == [
        ["model", "accuracy", "higher"],
        ["model", "brier", "lower"],
    ]
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()


def test_subgroups_are_judged_by_their_own_rows_and_small_ones_told():
    table = three()
    one, models = judged(table)
    measures = select_subgroup_measures(models, get_measure("kappa"))
    assert [each.name for each in measures] == ["kappa", "accuracy"]
    found = build_subgroup_table(one, models, measures, PLAN, Notes())
    matrix = table[["score[a]", "score[b]", "score[c]"]].to_numpy()
    labels = np.array(list("abc"))[matrix.argmax(axis=1)]
    for subgroup in "uv":
        own = (table["group"] == subgroup).to_numpy()
        direct = evaluate(table["truth"][own], labels[own], measures=["accuracy"], labels=list("abc"))["accuracy"]
        line = found.query("subgroup == @subgroup and measure == 'accuracy'").iloc[0]
        assert (line["rows"], line["estimate"], line["low"]) == (own.sum(), direct.estimate, direct.low)
        assert line["proportion"] == pytest.approx(own.mean())
    small = found.query("subgroup == 'w'")
    assert small["note"].str.contains("too few to judge").all()


def test_too_many_subgroups_are_left_out_and_told():
    one, models = judged(three().assign(group=np.arange(90)))
    notes = Notes()
    assert len(build_subgroup_table(one, models, [get_measure("accuracy")], PLAN, notes)) == 0
    assert "has 90 values" in notes.sentences[0]


def test_what_is_said_of_small_subgroups():
    assert describe_small_subgroup(19, np.array([10, 9])) == "only 19 rows: too few to judge"
    assert describe_small_subgroup(40, np.array([36, 4])) == "a class has only 4 rows here"
    assert describe_small_subgroup(40, np.array([20, 20])) == ""


def test_calibration_of_two_classes_and_of_the_most_likely_of_three():
    table = three()
    found = build_calibration_table(judged(table)[1], 0.95)
    matrix = table[["score[a]", "score[b]", "score[c]"]].to_numpy()
    hit = np.array(list("abc"))[matrix.argmax(axis=1)] == table["truth"]
    for line in found.to_dict("records"):
        low = np.floor(line["mean_predicted"] * 10) / 10
        own = (matrix.max(axis=1) > low) & (matrix.max(axis=1) <= low + 0.1)
        assert line["weight"] == own.sum()
        assert line["observed_frequency"] == pytest.approx(hit[own].mean())
        assert line["mean_predicted"] == pytest.approx(matrix.max(axis=1)[own].mean())
    assert found["class"].unique().tolist() == ["the most likely"]
    assert found["weight"].sum() == len(table)
    two = pd.DataFrame({"truth": [0, 1, 1, 0], "p": [0.15, 0.85, 0.75, 0.12]})
    assert build_calibration_table(judged(two)[1], 0.95)["observed_frequency"].tolist() == [0.0, 1.0, 1.0]
    labels = pd.DataFrame({"truth": [0, 1], "prediction": [0, 1]})
    assert len(build_calibration_table(judged(labels)[1], 0.95)) == 0
