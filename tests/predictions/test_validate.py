import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.validate import Notes, check_classes, check_labels, check_predicted


def read_scores(first, second, names=("score_a", "score_b")):
    """Read scores of classes a and b on rows r1, r2, ...; return the model and the notes."""
    columns = {"row": [f"r{i + 1}" for i in range(len(first))], "y_true": (["a", "b"] * len(first))[: len(first)]}
    table = pd.DataFrame({**columns, "label": columns["y_true"], names[0]: first, names[1]: second})
    file = read_predictions(table, y_true="y_true")
    return file.datasets[0].models["model"], file.notes


def test_notes_are_told_once_in_order():
    notes = Notes()
    for sentence in ("b", "a", "b"):
        notes.add(sentence)
    assert notes.sentences == ("b", "a")


def test_one_class_is_refused():
    with pytest.raises(InputError, match="at least 2 classes, got only 'a'"):
        check_classes(["a"], "")


def test_numbers_are_no_classes():
    check_labels([0, 1, "a", True])
    with pytest.raises(InputError, match=r"the truth must hold classes, got 0\.5"):
        check_labels([0, 0.5])


def test_predicted_labels_unknown_misspelt_and_never_predicted():
    notes = Notes()
    check_predicted(["a", "b", "c"], ["a", "b", "z"], "model 'm'", notes)
    assert [("'z'" in each, "'c'" in each) for each in notes.sentences] == [(True, False), (False, True)]
    with pytest.raises(InputError, match="got 'Yes': did you mean 'yes'"):
        check_predicted(["yes", "no"], ["Yes", "no"], "m", notes)
    with pytest.raises(InputError, match="must predict labels of the truth, got none: '1'"):
        check_predicted(["yes", "no"], ["1", "0"], "m", notes)


def test_a_row_twice_is_refused_unless_in_another_repeat_or_fold():
    table = pd.DataFrame({"row": ["r1", "r2", "r1"], "y_true": ["a", "b", "a"], "prediction": ["a", "b", "b"]})
    with pytest.raises(InputError, match=r"got row 'r1' more than once \(1 such lines\)"):
        read_predictions(table)
    for split in ("repeat", "fold"):
        assert read_predictions(table.assign(**{split: [0, 0, 1]})).datasets[0].models["model"].has_repeats


def test_the_lines_of_a_row_must_agree():
    table = pd.DataFrame({"row": ["r2", "r1", "r2"], "repeat": [0, 0, 1], "y_true": [5, 6, 5], "prediction": [5, 6, 6]})
    assert read_predictions(table).datasets[0].y_true.tolist() == [0, 1]
    with pytest.raises(InputError, match="the truth must be the same in all lines of a row, got a difference at row 'r2'"):
        read_predictions(table.assign(y_true=[5, 6, 7]))


def test_scores_and_weights_must_be_finite():
    assert read_scores([1.0, 2.0], [3.0, 4.0])[0].scores.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    with pytest.raises(InputError, match="a missing score in column 'score_a' at row 'r2'"):
        read_scores([1.0, np.nan, 2.0], [1.0, 1.0, 1.0])
    for weights, message in (([1.0, -1.0], "not negative, got -1.0"), ([0.0, 0.0], "must not be zero everywhere")):
        with pytest.raises(InputError, match=message):
            read_predictions(pd.DataFrame({"y_true": ["a", "b"], "prediction": ["a", "b"], "weight": weights}))


@pytest.mark.parametrize("names", [("p_a", "p_b"), ("score_a", "score_b")])
def test_probabilities_within_rounding_are_rescaled_and_noted(names):
    model, notes = read_scores([0.33, 0.5], [0.66, 0.5], names)
    assert model.score_kind == "probability"
    assert np.allclose(model.scores, [[1 / 3, 2 / 3], [0.5, 0.5]])
    assert "rescaled" in notes[0]


def test_probabilities_that_do_not_sum_to_one_are_refused():
    for names in (("p_a", "p_b"), ("score_a", "score_b")):  # most rows sum to one: probabilities, whatever their name
        with pytest.raises(InputError, match=r"must sum to 1 in each row, got 1.8 at row 'r2' \(1 such lines\)"):
            read_scores([0.5, 0.9, 0.2], [0.5, 0.9, 0.8], names)
    with pytest.raises(InputError, match=r"between 0 and 1, got 1.5 at row 'r1'"):
        read_scores([1.5, 0.5], [-0.5, 0.5], ("p_a", "p_b"))


def test_other_scores_are_scores():
    model, notes = read_scores([3.0, 1.0], [-1.0, 2.0])
    assert model.score_kind == "decision"
    assert not notes
    model, notes = read_scores([0.9, 0.1], [0.9, 0.3])
    assert model.score_kind == "decision"
    assert "taken as scores" in notes[0]
