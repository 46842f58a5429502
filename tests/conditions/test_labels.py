import numpy as np
import pandas as pd
import pytest

from fairtrial.conditions.labels import read_labels, relabelled
from fairtrial.errors import InputError

FORMS = {
    "list": ["b", "a", "b"],
    "tuple": ("b", "a", "b"),
    "array": np.array(["b", "a", "b"]),
    "objects": np.array(["b", "a", "b"], dtype=object),
    "column": np.array([["b"], ["a"], ["b"]]),
    "series": pd.Series(["b", "a", "b"], index=[7, 8, 9], name="k"),
    "category": pd.Series(["b", "a", "b"], dtype="category", index=[7, 8, 9], name="k"),
    "categorical": pd.Categorical(["b", "a", "b"], ["a", "b", "z"]),
    "string": pd.Series(["b", "a", "b"], dtype="string"),
    "bool": np.array([True, False, True]),
    "numbers": [2, 1, 2],
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_labels_are_read_and_written_in_their_form(y):
    labels = read_labels(y)
    assert labels.codes.tolist() == [1, 0, 1]
    assert labels.counts.tolist() == [1, 2]
    before = np.array(y)
    new = relabelled(y, np.array([0]), [labels.names[0]])
    assert np.array_equal(np.asarray(y), before)
    assert type(new) is type(y)
    assert getattr(new, "dtype", None) == getattr(y, "dtype", None)
    assert read_labels(new, labels.names).codes.tolist() == [0, 0, 1]
    if isinstance(y, pd.Series):
        assert new.index.equals(y.index)
        assert new.name == y.name


def test_which_classes_there_are():
    y = pd.Series(pd.Categorical(["c", "a"], ["c", "b", "a"]))
    assert read_labels(y).names == ("c", "a")
    assert read_labels(y, "declared").names == ("c", "b", "a")
    assert read_labels(y, ["a", "b", "c"]).codes.tolist() == [2, 0]
    assert read_labels([0, 0]).names == (0,)
    assert read_labels([1, 1, 5]).names == (1, 5)
    assert read_labels(["x", "y"], ["y", "z", "x"]).codes.tolist() == [2, 0]


@pytest.mark.parametrize(
    ("y", "classes", "message"),
    [
        (None, "present", "y must hold the class of each case, got None"),
        (["a", None], "present", "must not hold missing labels"),
        ([0.5, 1.0], "present", "must hold labels, got 0.5"),
        (["a", "b"], "declared", "needs y as a pandas category"),
        (["a", "b"], ["a"], "must hold every class of y.*add 'b'"),
        (["a", "b"], ["a", "b", "a"], "list of different classes"),
        (["a", "b"], [], "list of different classes"),
        (pd.Categorical(["a", "b"]), ["a", "b", "c"], "must be categories of y, got 'c'"),
    ],
)
def test_what_is_not_a_class(y, classes, message):
    with pytest.raises(InputError, match=message):
        read_labels(y, classes)


def test_longer_names_are_not_cut_off_and_foreign_ones_refused():
    assert relabelled(np.array(["a", "b"]), np.array([0]), ["long"]).tolist() == ["long", "b"]
    with pytest.raises(InputError, match="must fit the type int8"):
        relabelled(np.array([1, 2], dtype=np.int8), np.array([0]), [300])
    with pytest.raises(InputError, match="got Index"):
        relabelled(pd.Index(["a"]), np.array([0]), ["b"])


def test_an_unknown_class_is_named():
    with pytest.raises(InputError, match="pairs must name classes of y, got 'yess': did you mean 'yes'"):
        read_labels(["no", "yes"]).place("yess", "pairs")
