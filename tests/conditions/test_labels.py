import numpy as np
import pandas as pd
import pytest

from fairtrial.conditions.labels import convert_label, find_label, read_labels, replace_labels
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
    new = replace_labels(y, np.array([0]), [labels.names[0]])
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
        (None, "present", "y .*got None"),
        (["a", None], "present", "y "),
        ([0.5, 1.0], "present", r"y .*got 0\.5"),
        (["a", "b"], "declared", "classes='declared'"),
        (["a", "b"], ["a"], "classes.*'b'"),
        (["a", "b"], ["a", "b", "a"], r"classes.*\['a', 'b', 'a'\]"),
        (["a", "b"], [], r"classes.*\[\]"),
        (pd.Categorical(["a", "b"]), ["a", "b", "c"], "classes.*'c'"),
        ([1, 2], [1, 2, 2.5], r"classes.*got 2\.5"),
        ([1, 2], ["1", 2, 1], r"classes.*\[1, 2, 1\]"),
        ([1, "a"], "present", "labels"),
    ],
)
def test_invalid_classes_are_refused(y, classes, message):
    with pytest.raises(InputError, match=message):
        read_labels(y, classes)


def test_longer_names_are_not_cut_off_and_foreign_ones_refused():
    assert replace_labels(np.array(["a", "b"]), np.array([0]), ["long"]).tolist() == ["long", "b"]
    with pytest.raises(InputError, match="int8"):
        replace_labels(np.array([1, 2], dtype=np.int8), np.array([0]), [300])
    with pytest.raises(InputError, match="float32"):
        replace_labels(np.array([1, 2], dtype=np.float32), np.array([0]), [2**24 + 1])
    with pytest.raises(InputError, match="Int8"):
        replace_labels(pd.Series([1, 2], dtype="Int8"), np.array([0]), [300])
    with pytest.raises(InputError, match="got Index"):
        replace_labels(pd.Index(["a"]), np.array([0]), ["b"])


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_where_nothing_changes_nothing_is_touched(y):
    assert replace_labels(y, np.array([], dtype=int), []) is y


def test_objects_stay_objects_and_categories_get_new_ones():
    y = pd.Series(["a", "b"], dtype=object)
    assert replace_labels(y, np.array([0]), ["b"]).dtype == object
    for y in (pd.Categorical(["a", "b"], ordered=True), pd.Series(["a", "b"], dtype="category")):
        new = replace_labels(y, np.array([0]), ["new"])
        assert list(new) == ["new", "b"]
        assert new.dtype.categories.tolist() == ["a", "b", "new"]
        assert new.dtype.ordered == y.dtype.ordered
        assert y.dtype.categories.tolist() == ["a", "b"]


def test_text_names_a_class_where_only_one_has_this_text():
    assert read_labels([3, 1, 3]).find_code("3", "positive") == 1
    assert read_labels([True, False]).find_code("False", "positive") == 0
    assert read_labels(["1", "2"]).find_code("2", "positive") == 1
    assert read_labels([3, 1, 3], ["3", "1", 7]).names == (3, 1, 7)
    with pytest.raises(InputError, match="got '4'"):
        read_labels([3, 1]).find_code("4", "positive")
    assert find_label((1, "1"), "1") == 1


@pytest.mark.parametrize(
    ("label", "names", "fits"),
    [
        ("c", ("a", "b"), "c"),
        ("1", (0, 1), 1),
        (5.0, (0, 1), 5),
        (np.int64(5), (0, 1), 5),
        (5, (0.0, 1.0), 5.0),
        (0, (False, True), False),
        (False, (True,), False),
        (np.str_("c"), ("a",), "c"),
    ],
)
def test_labels_that_fit(label, names, fits):
    found = convert_label(label, names, "labels")
    assert found == fits
    assert type(found) is type(fits)


@pytest.mark.parametrize(
    ("label", "names", "kind"),
    [
        ("x", (False, True), "true or false"),
        (2, (False, True), "true or false"),
        (1.5, (0, 1), "whole numbers"),
        (True, (0, 2), "whole numbers"),
        ("b", (0, 1), "whole numbers"),
        (float("nan"), (0, 1), "whole numbers"),
        (1, ("a", "b"), "text"),
        (None, ("a", "b"), "text"),
        (b"a", ("a", "b"), "text"),
    ],
)
def test_labels_of_another_kind_are_refused(label, names, kind):
    with pytest.raises(InputError, match=f"labels.*{kind}"):
        convert_label(label, names, "labels")


def test_an_unknown_class_is_named():
    with pytest.raises(InputError, match=r"pairs.*'yess'.*'yes'"):
        read_labels(["no", "yes"]).find_code("yess", "pairs")
