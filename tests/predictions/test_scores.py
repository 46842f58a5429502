import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.columns import ModelColumns
from fairtrial.predictions.read import PredictedScores, build_scores, resolve_labels
from fairtrial.predictions.validate import Notes

IDS = np.array([1, 2], dtype=object)


def read(columns, scores, classes=("a", "b"), positive=None):
    table = pd.DataFrame(columns)
    one = ModelColumns("m", None, tuple(scores))
    return build_scores(table, one, np.arange(len(table)), list(classes), positive, IDS, "model 'm'", Notes())


def test_a_lone_column_is_that_of_the_positive_class():
    column = {"s": [0.2, 0.9]}
    assert read(column, [(None, "s")]).values.tolist() == [[0.8, 0.2], [pytest.approx(0.1), 0.9]]
    turned = read(column, [(None, "s")], positive="a")
    assert turned.values[:, 0].tolist() == [0.2, 0.9]
    assert turned.kind == "probability"
    assert read(column, [("a", "s")]).values[:, 0].tolist() == [0.2, 0.9]


def test_a_lone_column_of_another_scale_is_a_score():
    found = read({"s": [-2.0, 3.0]}, [(None, "s")])
    assert found.kind == "decision"
    assert found.single_column
    assert found.values.tolist() == [[2.0, -2.0], [-3.0, 3.0]]


def test_columns_follow_the_order_of_the_classes_and_empty_ones_are_left_out():
    columns = {"b": [0.1, 0.2], "a": [0.9, 0.8], "c": [np.nan, np.nan]}
    found = read(columns, [("b", "b"), ("a", "a"), ("c", "c")])
    assert found.values.tolist() == [[0.9, 0.1], [0.8, 0.2]]
    assert read({"c": [np.nan, np.nan]}, [("c", "c")]) is None


@pytest.mark.parametrize(
    ("columns", "scores", "classes", "told"),
    [
        ({"s": [0.1, 0.2]}, [(None, "s")], "abc", "a column for each of the 3 classes, got one column"),
        ({"s": [0.1, 0.2], "t": [0.1, 0.2]}, [("a", "s"), ("b", "t")], "abc", "got none for 'c'"),
        ({"s": ["x", "y"]}, [(None, "s")], "ab", "must be numbers, got text in column 's'"),
        ({"s": [0.1, np.nan]}, [(None, "s")], "ab", "a missing score in column 's' at row 2"),
        ({"p": [0.1, 1.2]}, [(None, "p")], "ab", "between 0 and 1, got 1.2 at row 2"),
    ],
)
def test_scores_that_cannot_be_used(columns, scores, classes, told):
    with pytest.raises(InputError, match=told):
        read(columns, scores, classes)


def test_labels_come_from_the_file_from_scores_or_from_nowhere():
    probable = PredictedScores(np.array([[0.8, 0.2], [0.3, 0.7]]), "probability")
    given = np.array([1, 1])
    assert resolve_labels(given, probable, "m", Notes())[1] == "file"
    for missing in (None, np.array([-1, -1])):
        labels, source = resolve_labels(missing, probable, "m", Notes())
        assert labels.tolist() == [0, 1]
        assert source == "probabilities"
    cut = PredictedScores(np.array([[2.0, -2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, cut, "m", Notes())[1] == "scores"
    above = PredictedScores(np.array([[-2.0, 2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, above, "m", Notes())[1] == "none"


def test_some_labels_without_the_others_are_abstentions_and_none_at_all_are_refused():
    labels, source = resolve_labels(np.array([0, -1]), None, "m", Notes())
    assert (labels.tolist(), source) == ([0, -1], "file")
    with pytest.raises(InputError, match="labels or scores, got neither"):
        resolve_labels(None, None, "m", Notes())
