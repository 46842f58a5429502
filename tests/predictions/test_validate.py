import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.validate import Notes, Subject, check_classes, check_labels, check_predicted


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


def test_a_row_twice_is_refused_unless_in_another_repeat_or_fold():
    table = pd.DataFrame({"row": ["r1", "r2", "r1"], "y_true": ["a", "b", "a"], "prediction": ["a", "b", "b"]})
    with pytest.raises(InputError, match="'r1'"):
        read_predictions(table)
    for split in ("repeat", "fold"):
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
