import numpy as np
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.validate import (
    Notes,
    check_classes,
    check_finite,
    check_labels,
    check_predicted,
    check_predicted_once,
    check_probabilities,
    check_weights,
    require_agreement,
)

IDS = np.array(["r1", "r2", "r3"], dtype=object)


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
    places, zero = np.array([0, 1, 0]), np.zeros(3, dtype=int)
    with pytest.raises(InputError, match=r"got row 'r1' more than once \(1 such lines\)"):
        check_predicted_once(places, zero, zero, IDS, "model 'm'")
    check_predicted_once(places, np.array([0, 0, 1]), zero, IDS, "m")
    check_predicted_once(places, zero, np.array([0, 0, 1]), IDS, "m")


def test_the_lines_of_a_row_must_agree():
    assert require_agreement(np.array([1, 0, 1]), np.array([5, 6, 5]), IDS[:2], "the truth", "y", "").tolist() == [6, 5]
    with pytest.raises(InputError, match="the truth must be the same in all lines of a row, got a difference at row 'r2'"):
        require_agreement(np.array([1, 0, 1]), np.array([5, 6, 7]), IDS[:2], "the truth", "y", "")


def test_scores_and_weights_must_be_finite():
    assert check_finite(np.array([1.0, 2.0]), "s", IDS, "m").tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="a missing score in column 's' at row 'r2'"):
        check_finite(np.array([1.0, np.nan, 2.0]), "s", IDS, "m")
    for bad, told in (([1.0, -1.0], "not negative, got -1.0"), ([0.0, 0.0], "must not be zero everywhere")):
        with pytest.raises(InputError, match=told):
            check_weights(np.array(bad), "w")


@pytest.mark.parametrize("columns", [["p_a", "p_b"], ["score_a", "score_b"]])
def test_probabilities_within_rounding_are_rescaled_and_told(columns):
    notes = Notes()
    found, probable = check_probabilities(np.array([[0.33, 0.66], [0.5, 0.5]]), columns, IDS, "m", notes)
    assert probable
    assert np.allclose(found, [[1 / 3, 2 / 3], [0.5, 0.5]])
    assert "rescaled" in notes.sentences[0]


def test_probabilities_that_do_not_sum_to_one_are_refused():
    scores = np.array([[0.5, 0.5], [0.9, 0.9], [0.2, 0.8]])
    for columns in (["p_a", "p_b"], ["score_a", "score_b"]):  # most rows sum to one: probabilities, whatever their name
        with pytest.raises(InputError, match=r"must sum to 1 in each row, got 1.8 at row 'r2' \(1 such lines\)"):
            check_probabilities(scores, columns, IDS, "m", Notes())
    with pytest.raises(InputError, match=r"between 0 and 1, got 1.5 at row 'r1'"):
        check_probabilities(np.array([[1.5, -0.5]]), ["p_a", "p_b"], IDS, "m", Notes())


def test_other_scores_are_scores():
    notes = Notes()
    assert check_probabilities(np.array([[3.0, -1.0]]), ["score_a", "score_b"], IDS, "m", notes)[1] is False
    assert not notes.sentences
    assert check_probabilities(np.array([[0.9, 0.9], [0.1, 0.3]]), ["score_a", "score_b"], IDS, "m", notes)[1] is False
    assert "taken as scores" in notes.sentences[0]
