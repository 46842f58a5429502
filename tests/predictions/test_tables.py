import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from fairtrial.measures import evaluate, get_measure
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModel, JudgeSettings
from fairtrial.predictions.tables import InMemoryTables
from fairtrial.predictions.validate import Notes

SETTINGS = JudgeSettings(resamples=100, seed=0)


def three(n=90):
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, n)
    scores = 0.4 * np.eye(3)[codes] + rng.random((n, 3))
    scores /= scores.sum(axis=1, keepdims=True)
    columns = {f"score[{each}]": scores[:, i] for i, each in enumerate("abc")}
    return pd.DataFrame(
        {"truth": np.array(list("abc"))[codes], "group": rng.choice(["u", "v", "w"], n, p=[0.6, 0.35, 0.05]), **columns}
    )


def build_tables(table, measures=("accuracy",), notes=None):
    dataset = read_predictions(table).datasets[0]
    models = [InMemoryModel.from_dataset(dataset, name, dataset.get_positive_index(None)) for name in dataset.models]
    chosen = [get_measure(name) for name in measures]
    return InMemoryTables([dataset], models, chosen, SETTINGS, Notes() if notes is None else notes)


def test_classes_are_those_of_another_library():
    table = three()
    matrix = table[["score[a]", "score[b]", "score[c]"]].to_numpy()
    labels = np.array(list("abc"))[matrix.argmax(axis=1)]
    found = build_tables(table).build_classes().set_index("class")
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
    found = build_tables(three(), ["accuracy", "brier"]).build_scores()
    assert found[["model", "measure", "better"]].values.tolist() == [
        ["model", "accuracy", "higher"],
        ["model", "brier", "lower"],
    ]
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()


def test_subgroups_are_judged_by_their_own_rows_and_small_ones_told():
    table = three()
    found = build_tables(table, ["kappa"]).build_subgroups()
    assert found["measure"].unique().tolist() == ["kappa", "accuracy"]
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
    notes = Notes()
    assert len(build_tables(three().assign(group=np.arange(90)), notes=notes).build_subgroups()) == 0
    assert "has 90 values" in notes.sentences[0]


@pytest.mark.parametrize(
    ("rows", "note"), [((10, 9), "only 19 rows: too few to judge"), ((36, 4), "a class has only 4 rows here"), ((20, 20), "")]
)
def test_small_subgroups_have_a_note(rows, note):
    y_true = np.repeat([0, 1], rows)
    found = build_tables(pd.DataFrame({"y_true": y_true, "prediction": y_true, "group": "u"})).build_subgroups()
    assert found.loc[found["measure"] == "accuracy", "note"].tolist() == [note]


def test_calibration_of_two_classes_and_of_the_most_likely_of_three():
    table = three()
    found = build_tables(table).build_calibration()
    matrix = table[["score[a]", "score[b]", "score[c]"]].to_numpy()
    hit = np.array(list("abc"))[matrix.argmax(axis=1)] == table["truth"]
    for line in found.to_dict("records"):
        low = np.floor(line["mean_predicted"] * 10) / 10
        own = (matrix.max(axis=1) > low) & (matrix.max(axis=1) <= low + 0.1)
        assert line["weight"] == own.sum()
        assert line["observed_frequency"] == pytest.approx(hit[own].mean())
        assert line["mean_predicted"] == pytest.approx(matrix.max(axis=1)[own].mean())
    assert found["class"].unique().tolist() == ["most probable"]
    assert found["weight"].sum() == len(table)
    two = pd.DataFrame({"truth": [0, 1, 1, 0], "p": [0.15, 0.85, 0.75, 0.12]})
    assert build_tables(two).build_calibration()["observed_frequency"].tolist() == [0.0, 1.0, 1.0]
    labels = pd.DataFrame({"truth": [0, 1], "prediction": [0, 1]})
    assert len(build_tables(labels).build_calibration()) == 0
