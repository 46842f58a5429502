"""Tests of `fairtrial.predictions.validate`."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import fairtrial
from fairtrial import judge
from fairtrial._findings import Finding
from fairtrial.errors import InputError
from fairtrial.measures import get_measure
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import allow_unknown_labels, count_unknown_as_errors, prepare_table
from fairtrial.predictions.validate import Notes, Subject, check_classes, check_labels, check_predicted
from fairtrial.study.records import ABSTAINED
from fairtrial.study.store.transfer import export

# --- Validate ---


def read_scores(first, second, names=("score_a", "score_b")):
    """Read scores of classes a and b on rows r1, r2, ...; return the model and the notes."""
    columns = {"row": [f"r{i + 1}" for i in range(len(first))], "y_true": (["a", "b"] * len(first))[: len(first)]}
    table = pd.DataFrame({**columns, "label": columns["y_true"], names[0]: first, names[1]: second})
    file = read_predictions(table, y_true="y_true")
    return file.datasets[0].models["model"], file.notes


def test_equal_notes_are_kept_once_in_order():
    notes = Notes()
    for column in ("b", "a", "b"):
        notes.add("many_subgroups", column=column, subgroups=80)
    assert [note["column"] for note in notes.findings] == ["b", "a"]


def test_notes_are_merged_over_models_with_the_same_data_sets():
    notes = Notes()
    for model, dataset in (("x", "d"), ("y", "d"), ("z", "d"), ("x", "e"), ("y", "e")):
        notes.add("unknown_label", Subject(model, dataset), label="?")
    expected = [(("x", "y"), ("d", "e")), (("z",), ("d",))]
    assert [(note["models"], note["datasets"]) for note in notes.findings] == expected
    assert [note["models"] for note in notes.merge(with_datasets=False)] == [("x", "y", "z")]
    again = Notes()
    again.extend(notes.findings)
    assert again.findings == notes.findings


def test_one_class_is_refused():
    with pytest.raises(InputError, match=r"y_true.*'a'"):
        check_classes(["a"], "")


def test_numbers_are_not_class_labels():
    check_labels([0, 1, "a", True])
    with pytest.raises(InputError, match=r"y_true.*0\.5"):
        check_labels([0, 0.5])


def test_predicted_labels_may_be_unknown_misspelt_or_missing():
    notes, model = Notes(), Subject("m")
    check_predicted(["a", "b", "c"], ["a", "b", "z"], model, notes)
    assert [(note.kind, note["label"]) for note in notes.findings] == [("unknown_label", "z"), ("class_never_predicted", "c")]
    with pytest.raises(InputError, match=r"'Yes'.*'yes'"):
        check_predicted(["yes", "no"], ["Yes", "no"], model, notes)
    with pytest.raises(InputError, match=r"'m'.*'1'"):
        check_predicted(["yes", "no"], ["1", "0"], model, notes)


def test_a_row_twice_in_a_repeat_or_fold_is_refused():
    table = pd.DataFrame({"row": ["r1", "r2", "r1"], "y_true": ["a", "b", "a"], "prediction": ["a", "b", "b"]})
    read = read_predictions(table)
    assert read.datasets[0].models["model"].has_repeats
    assert [note["lines"] for note in read.notes if note.kind == "numbered_predictions"] == [1]
    for split in ("repeat", "fold"):
        with pytest.raises(InputError, match="'r1'"):
            read_predictions(table.assign(**{split: 0}))
        assert read_predictions(table.assign(**{split: [0, 0, 1]})).datasets[0].models["model"].has_repeats


def test_the_lines_of_a_row_must_agree():
    table = pd.DataFrame({"row": ["r2", "r1", "r2"], "repeat": [0, 0, 1], "y_true": [5, 6, 5], "prediction": [5, 6, 6]})
    assert read_predictions(table).datasets[0].y_true.tolist() == [0, 1]
    with pytest.raises(InputError, match=r"y_true.*'r2'"):
        read_predictions(table.assign(y_true=[5, 6, 7]))


def test_scores_and_weights_must_be_finite():
    assert read_scores([1.0, 2.0], [3.0, 4.0])[0].scores.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(InputError, match=r"'score_a'.*'r2'"):
        read_scores([1.0, np.nan, 2.0], [1.0, 1.0, 1.0])
    for weights in ([1.0, -1.0], [0.0, 0.0]):
        with pytest.raises(InputError, match=r"weights.*'weight'"):
            read_predictions(pd.DataFrame({"y_true": ["a", "b"], "prediction": ["a", "b"], "weight": weights}))


@pytest.mark.parametrize("names", [("p_a", "p_b"), ("score_a", "score_b")])
def test_probabilities_within_rounding_are_rescaled_and_noted(names):
    model, notes = read_scores([0.33, 0.5], [0.66, 0.5], names)
    assert model.score_kind == "probability"
    assert np.allclose(model.scores, [[1 / 3, 2 / 3], [0.5, 0.5]])
    assert [note.kind for note in notes] == ["rescaled_probabilities"]


def test_probabilities_that_do_not_sum_to_one_are_refused():
    for names in (("p_a", "p_b"), ("score_a", "score_b")):  # most rows sum to one: probabilities, whatever their name
        with pytest.raises(InputError, match=r"1\.8.*'r2'"):
            read_scores([0.5, 0.9, 0.2], [0.5, 0.9, 0.8], names)
    with pytest.raises(InputError, match=r"1\.5.*'r1'"):
        read_scores([1.5, 0.5], [-0.5, 0.5], ("p_a", "p_b"))


def test_scores_that_are_not_probabilities():
    model, notes = read_scores([3.0, 1.0], [-1.0, 2.0])
    assert model.score_kind == "decision"
    assert not notes
    model, notes = read_scores([0.9, 0.1], [0.9, 0.3])
    assert model.score_kind == "decision"
    assert [note.kind for note in notes] == ["not_probabilities"]


# --- Unknown labels ---
# Predicted labels that are not classes count as errors, as in studies, and do not affect other models.


MEASURES = ["accuracy", "balanced_accuracy", "f_score", "recall", "precision", "kappa"]


def example(classes="np", n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.choice(list(classes), n)
    good, odd = (np.where(rng.random(n) < 0.8, truth, rng.choice(list(classes), n)) for _ in range(2))
    return pd.DataFrame({"id": range(n), "truth": truth, "good": good, "odd": odd})


def estimates(found, model):
    return found.scores[found.scores["model"] == model].set_index("measure")["estimate"]


@pytest.fixture
def judged(judge_table):
    return partial(judge_table, measures=MEASURES, prediction={"good": "good", "odd": "odd"})


@pytest.mark.parametrize("classes", ["np", "abc"])
@pytest.mark.parametrize("cell", ["?", None])
def test_the_other_models_are_judged_as_without_it(judged, classes, cell):
    table = example(classes)
    expected = judged(table)
    table.loc[[3, 7], "odd"] = cell
    found = judged(table)
    pd.testing.assert_series_equal(estimates(found, "good"), estimates(expected, "good"))
    assert estimates(found, "odd").notna().all()
    assert set(found.classes["class"]) == set(classes)


@pytest.mark.parametrize("cell", ["?", None])
def test_of_two_classes_it_is_the_other_one(judged, cell):
    table = example()
    table.loc[:9, "odd"] = cell
    truth = table["truth"] == "p"
    wrong = np.where(table["odd"].isin(["n", "p"]), table["odd"] == "p", ~truth)
    found = judged(table, positive="p")
    own = estimates(found, "odd")
    assert own["f_score"] == pytest.approx(metrics.f1_score(truth, wrong))
    assert own["precision"] == pytest.approx(metrics.precision_score(truth, wrong))
    assert own["recall"] == pytest.approx(metrics.recall_score(truth, wrong))
    assert own["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(truth, wrong))
    assert own["accuracy"] == pytest.approx((table["truth"] == table["odd"]).mean())
    assert own["kappa"] == pytest.approx(metrics.cohen_kappa_score(table["truth"], table["odd"].fillna("?")))
    line = found.classes.set_index(["model", "class"]).loc[("odd", "p")]
    assert line["f_score"] == pytest.approx(metrics.f1_score(truth, wrong))
    lines = found.scores[found.scores["model"] == "odd"].set_index("measure")
    assert ((lines["low"] <= lines["estimate"]) & (lines["estimate"] <= lines["high"])).all()


def test_of_more_classes_means_are_over_the_classes(judged):
    table = example("abc")
    table.loc[:9, "odd"] = None
    own, labels = estimates(judged(table), "odd"), table["odd"].fillna("?")
    options = {"labels": list("abc"), "average": "macro"}
    assert own["f_score"] == pytest.approx(metrics.f1_score(table["truth"], labels, **options))
    assert own["precision"] == pytest.approx(metrics.precision_score(table["truth"], labels, **options))
    assert own["balanced_accuracy"] == pytest.approx(metrics.recall_score(table["truth"], labels, **options))


@pytest.mark.parametrize("main", ["balanced_accuracy", "f_score", "kappa"])
def test_the_difference_of_two_models_is_that_of_their_values(judged, main):
    table = example()
    table.loc[:9, "odd"] = "?"
    found = judged(table, measures=[main])
    line = found.pairs.iloc[0]
    values = [estimates(found, line[name])[main] for name in ("first", "second")]
    assert line["difference"] == pytest.approx(values[0] - values[1])


def test_missing_and_unknown_labels_are_noted(judged):
    table = example()
    table.loc[[3, 7], "odd"] = None
    assert Finding.of("missing_labels", models=("odd",), missing=2, rows=120) in judged(table).notes
    table["odd"] = table["odd"].fillna("?")
    assert Finding.of("unknown_label", models=("odd",), label="?") in judged(table).notes


@pytest.mark.parametrize("stream", [False, True])
def test_an_export_with_abstentions_has_the_scores_of_its_study(tmp_path, stream):
    learners = {"chi": {"learner": "chi", "parameters": {"labels": 7}}, "nb": "gaussian-nb"}
    study = fairtrial.Study(name="s", data=["iris"], learners=learners, resampling={"scheme": "holdout"}, seed=1)
    results = study.run(tmp_path / "s.fairtrial", progress=False)
    assert "abstained" in results.notes[0]
    path = tmp_path / "s.csv"
    export(results.archive, path)
    found = judge(path, stream=stream, measures=["balanced_accuracy", "kappa", "f_score", "auc"], resamples=20)
    for measure in ("balanced_accuracy", "kappa", "f_score"):
        wide = results.wide(measure).iloc[0]
        for model in learners:
            assert estimates(found, model)[measure] == pytest.approx(wide[model])
    assert {note.kind for note in found.notes if note.values.get("models") == ("chi",)} >= {"missing_labels", "zero_scores"}


def test_tables_without_unknown_labels_are_not_changed():
    plain, recall = get_measure("auc"), get_measure("recall")
    assert allow_unknown_labels(plain) is plain
    table = get_measure("recall").read_rows([0, 1, 1], [0, 1, 0]).confusion()
    assert prepare_table(recall, table) is table
    assert allow_unknown_labels(recall).of(table) == recall.of(table) == 0.5


def test_an_unknown_label_is_never_correct():
    rows = get_measure("recall").read_rows([0, 1, 2, 2], [0, ABSTAINED, ABSTAINED, 2], labels=[0, 1, 2, ABSTAINED])
    assert count_unknown_as_errors(rows.confusion()).hits.tolist() == [1, 0, 1]
    assert count_unknown_as_errors(rows.confusion()).total == 4
