import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from fairtrial.measures import accuracy, evaluate, get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.predictions.statistics import JudgeSettings
from fairtrial.predictions.tables import build_calibration, build_classes, build_scores, build_subgroups
from fairtrial.predictions.validate import Notes

SETTINGS = JudgeSettings(resamples=100, seed=0)
SCORE_COLUMNS = ["score[a]", "score[b]", "score[c]"]


def make_table(n=90):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, n)
    scores = 0.4 * np.eye(3)[codes] + rng.random((n, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    subgroups = rng.choice(["u", "v", "w"], n, p=[0.6, 0.35, 0.05])
    columns = dict(zip(SCORE_COLUMNS, scores.T, strict=True))
    return pd.DataFrame({"y_true": np.array(list("abc"))[codes], "group": subgroups, **columns})


def predict_labels(table):
    return np.array(list("abc"))[table[SCORE_COLUMNS].to_numpy().argmax(axis=1)]


def test_classes_match_scikit_learn(read_models):
    table = make_table()
    labels = predict_labels(table)
    classes = build_classes(read_models(table), 0.95).set_index("class")
    precision, recall, f_score, support = precision_recall_fscore_support(table["y_true"], labels, labels=list("abc"))
    for name, values in (("precision", precision), ("recall", recall), ("f_score", f_score), ("support", support)):
        assert classes[name].tolist() == pytest.approx(values.tolist())
    aucs = [roc_auc_score(table["y_true"] == label, table[f"score[{label}]"]) for label in "abc"]
    assert classes["auc"].tolist() == pytest.approx(aucs)
    hits = int(((table["y_true"] == "a") & (labels == "a")).sum())
    limits = compute_wilson_limits(hits, support[0], 0.95)
    assert classes.loc["a", ["recall_low", "recall_high"]].tolist() == pytest.approx(limits)


def test_scores_have_a_row_for_each_model_and_measure(read_models):
    scores = build_scores(read_models(make_table()), [accuracy, get_measure("brier")], SETTINGS)
    assert scores[["model", "measure", "better"]].values.tolist() == [
        ["model", "accuracy", "higher"],
        ["model", "brier", "lower"],
    ]
    assert (scores["low"] < scores["estimate"]).all()
    assert (scores["estimate"] < scores["high"]).all()


def test_subgroups_are_judged_by_their_own_rows(read_models):
    table = make_table()
    labels = predict_labels(table)
    subgroups = build_subgroups(read_models(table), ["group"], get_measure("kappa"), SETTINGS, Notes())
    assert subgroups["measure"].unique().tolist() == ["kappa", "accuracy"]
    assert subgroups["subgroup"].tolist() == ["u", "u", "v", "v", "w", "w"]
    for subgroup in "uv":
        members = (table["group"] == subgroup).to_numpy()
        direct = evaluate(table["y_true"][members], labels[members], measures=["accuracy"], labels=list("abc"))["accuracy"]
        row = subgroups.query("subgroup == @subgroup and measure == 'accuracy'").iloc[0]
        assert (row["rows"], row["estimate"], row["low"]) == (members.sum(), direct.estimate, direct.low)
        assert row["proportion"] == pytest.approx(members.mean())


def test_a_column_with_too_many_values_has_no_subgroups(read_models):
    notes = Notes()
    models = read_models(make_table().assign(group=np.arange(90)))
    assert len(build_subgroups(models, ["group"], accuracy, SETTINGS, notes)) == 0
    assert [(note.kind, note["column"], note["subgroups"]) for note in notes.findings] == [("many_subgroups", "group", 90)]


@pytest.mark.parametrize(("rows", "is_small"), [((10, 9), True), ((36, 4), True), ((20, 20), False)])
def test_small_subgroups_have_a_note(read_models, rows, is_small):
    y_true = np.repeat([0, 1], rows)
    models = read_models(pd.DataFrame({"y_true": y_true, "prediction": y_true, "group": "u"}))
    subgroups = build_subgroups(models, ["group"], accuracy, SETTINGS, Notes())
    assert [bool(note) for note in subgroups.loc[subgroups["measure"] == "accuracy", "note"]] == [is_small]


def test_calibration_of_the_most_probable_of_three_classes(read_models):
    table = make_table()
    calibration = build_calibration(read_models(table), 0.95)
    probability = table[SCORE_COLUMNS].to_numpy().max(axis=1)
    is_correct = predict_labels(table) == table["y_true"]
    for row in calibration.to_dict("records"):
        low = np.floor(row["mean_predicted"] * 10) / 10
        members = (probability > low) & (probability <= low + 0.1)
        assert row["weight"] == members.sum()
        assert row["observed_frequency"] == pytest.approx(is_correct[members].mean())
        assert row["mean_predicted"] == pytest.approx(probability[members].mean())
    assert calibration["class"].unique().tolist() == ["most probable"]
    assert calibration["weight"].sum() == len(table)


def test_calibration_of_two_classes_and_of_labels(read_models):
    table = pd.DataFrame({"y_true": [0, 1, 1, 0], "p": [0.15, 0.85, 0.75, 0.12]})
    assert build_calibration(read_models(table), 0.95)["observed_frequency"].tolist() == [0.0, 1.0, 1.0]


def test_labels_have_no_calibration(read_models):
    assert len(build_calibration(read_models(pd.DataFrame({"y_true": [0, 1], "prediction": [0, 1]})), 0.95)) == 0
