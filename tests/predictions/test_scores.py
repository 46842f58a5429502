import numpy as np
import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.predictions.columns import ModelColumns
from fairtrial.predictions.read import PredictedScores, build_scores, resolve_labels
from fairtrial.predictions.validate import Notes, Subject

IDS = np.array([1, 2], dtype=object)
MODEL = Subject("m")


def read(columns, scores, classes=("a", "b"), positive=None):
    table = pd.DataFrame(columns)
    one = ModelColumns("m", None, tuple(scores))
    return build_scores(table, one, np.arange(len(table)), list(classes), positive, IDS, MODEL, Notes())


def test_a_single_column_is_that_of_the_positive_class():
    column = {"s": [0.2, 0.9]}
    assert read(column, [(None, "s")]).values.tolist() == [[0.8, 0.2], [pytest.approx(0.1), 0.9]]
    turned = read(column, [(None, "s")], positive="a")
    assert turned.values[:, 0].tolist() == [0.2, 0.9]
    assert turned.kind == "probability"
    assert read(column, [("a", "s")]).values[:, 0].tolist() == [0.2, 0.9]


def test_a_single_column_of_another_scale_is_a_score():
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
    ("columns", "scores", "classes", "match"),
    [
        ({"s": [0.1, 0.2]}, [(None, "s")], "abc", "scores of model 'm'"),
        ({"s": [0.1, 0.2], "t": [0.1, 0.2]}, [("a", "s"), ("b", "t")], "abc", "scores of model 'm'.*'c'"),
        ({"s": ["x", "y"]}, [(None, "s")], "ab", "scores of model 'm'.*'s'"),
        ({"s": [0.1, np.nan]}, [(None, "s")], "ab", "scores of model 'm'.*'s'.*2"),
        ({"p": [0.1, 1.2]}, [(None, "p")], "ab", "probabilities of model 'm'.*1.2.*2"),
    ],
)
def test_invalid_scores_are_refused(columns, scores, classes, match):
    with pytest.raises(InputError, match=match):
        read(columns, scores, classes)


def test_labels_come_from_the_file_or_from_scores():
    probable = PredictedScores(np.array([[0.8, 0.2], [0.3, 0.7]]), "probability")
    given = np.array([1, 1])
    assert resolve_labels(given, probable, MODEL, Notes())[1] == "file"
    for missing in (None, np.array([-1, -1])):
        labels, source = resolve_labels(missing, probable, MODEL, Notes())
        assert labels.tolist() == [0, 1]
        assert source == "probabilities"
    cut = PredictedScores(np.array([[2.0, -2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, cut, MODEL, Notes())[1] == "scores"
    above = PredictedScores(np.array([[-2.0, 2.0], [-3.0, 3.0]]), "decision", single_column=True)
    assert resolve_labels(None, above, MODEL, Notes())[1] == "none"


def test_missing_labels_are_abstentions_and_no_labels_at_all_are_refused():
    labels, source = resolve_labels(np.array([0, -1]), None, MODEL, Notes())
    assert (labels.tolist(), source) == ([0, -1], "file")
    with pytest.raises(InputError, match="model 'm'"):
        resolve_labels(None, None, MODEL, Notes())
