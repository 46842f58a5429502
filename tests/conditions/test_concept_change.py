import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.shift import ConceptChange
from fairtrial.errors import InputError, SuspectInputWarning

X = np.arange(10.0)[:, None]
Y = list("aabbccaabb")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40), st.floats(0, 1), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_exactly_the_stated_share_changes_and_the_rest_stays(y, level, seed):
    table = np.arange(float(len(y)))[:, None]
    changed = ConceptChange(labels={"a": "b", "b": "c"}, where="x0 >= 5", level=level).apply(table, y, rng=seed)
    meant = [label in "ab" and row >= 5 for row, label in enumerate(y)]
    assert changed.mask.sum() == round(round(level * sum(meant), 9))
    assert changed.level == pytest.approx(changed.mask.sum() / max(sum(meant), 1))
    for row, (old, new) in enumerate(zip(y, changed.y, strict=True)):
        assert new == ({"a": "b", "b": "c"}[old] if changed.mask[row] else old)
        assert meant[row] or not changed.mask[row]
    assert changed.rows.tolist() == list(range(len(y)))
    assert changed.X is table


def test_a_swap_and_a_rule_on_the_class():
    changed = ConceptChange(labels={"a": "b", "b": "a"}, where="x0 < 4").apply(X, Y)
    assert "".join(changed.y) == "bbaaccaabb"
    changed = ConceptChange(labels={"a": "c", "b": "c"}, where="y == 'a' and x0 > 1").apply(X, Y)
    assert "".join(changed.y) == "aabbccccbb"


def test_a_function_gives_the_classes():
    changed = ConceptChange(labels=lambda table, y: np.where(table[:, 0] > 7, "c", y)).apply(X, np.array(Y))
    assert "".join(changed.y) == "aabbccaacc"
    assert changed.mask.sum() == 2
    with pytest.raises(InputError, match=r"labels.*10 rows, got 1"):
        ConceptChange(labels=lambda *_: ["a"]).apply(X, Y)


@pytest.mark.parametrize(
    ("y", "labels"),
    [
        (np.array([0, 1, 1]), {1: 0}),
        (np.array([0, 1, 1]), {"1": "0"}),
        (np.array(["n", "y", "y"]), {"y": "never"}),
        (np.array([False, True, True]), {True: False}),
        (pd.Series(["n", "y", "y"], index=[4, 5, 6], name="k"), {"y": "n"}),
        (pd.Series(pd.Categorical(["n", "y", "y"], categories=["n", "y", "z"])), {"y": "z"}),
        (("n", "y", "y"), {"y": "n"}),
        (np.array([0, 1, 1], dtype=np.int8), {1: 5}),
        (np.array([0.0, 1.0, 1.0]), {1: 5.0}),
        (pd.Series([0, 1, 1], dtype="Int8"), {1: 5.0}),
        (pd.Categorical([0, 1, 1]), {1: 0}),
        (pd.Series([0, 1, 1], dtype=np.uint8), {"1": "0"}),
        (np.array(["n", "y", "y"], dtype=object), {"y": "n"}),
        (pd.Series(["n", "y", "y"], dtype=object), {"y": "never"}),
        (pd.Series(["n", "y", "y"], dtype="string"), {"y": "never"}),
        ([False, True, True], {"True": "False"}),
    ],
)
def test_classes_keep_their_type(y, labels):
    table = np.zeros((3, 1))
    before = list(y)
    changed = ConceptChange(labels=labels).apply(table, y)
    new = next(iter(labels.values()))
    assert [str(each) for each in changed.y] == [str(before[0]), *[str(type(before[0])(new)) if new != "False" else new] * 2]
    assert changed.mask.tolist() == [False, True, True]
    assert type(changed.y) is type(y)
    assert list(y) == before
    if isinstance(y, pd.Series):
        assert changed.y.dtype == y.dtype
        assert changed.y.index.equals(y.index)
        assert changed.y.name == y.name
    elif isinstance(y, np.ndarray):
        assert changed.y.dtype == y.dtype or y.dtype.kind == "U"
    else:
        assert {type(each) for each in changed.y} == {type(each) for each in before}


@pytest.mark.parametrize(
    ("y", "labels", "value"),
    [
        (np.array([True, False]), {True: "x"}, "labels.*'x'"),
        (pd.Series([True, False]), {1: 2}, "labels.*got 2"),
        (pd.Series([0, 1]), {0: 1.5}, r"labels.*got 1\.5"),
        (np.array([0, 1, 2]), {0: "b"}, "labels.*'b'"),
        (pd.Series([0, 1]), {0: "b"}, "labels.*'b'"),
        (pd.Series([0, 1], dtype="category"), {0: "b"}, "labels.*'b'"),
        (["a", "b"], {"a": 1}, "labels.*got 1"),
        (["a", "b"], {"a": None}, "labels.*got None"),
        (["a", "b"], lambda _, y: [None] * len(y), "labels.*got None"),
        (np.array([0, 1], dtype=np.int8), {0: 300}, "int8"),
        ([1, "a"], {"a": 1}, "labels"),
        (None, {"a": "b"}, "y .*got None"),
        (["a", "b"], lambda *_: 3, "labels.*2 rows, got 3"),
        (["a", None], {"a": "b"}, "y "),
    ],
)
def test_a_class_that_does_not_fit_is_refused(y, labels, value):
    table = np.zeros((2 if y is None else len(y), 1))
    with pytest.raises(InputError, match=value):
        ConceptChange(labels=labels).apply(table, y)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.dictionaries(st.integers(0, 3), st.integers(0, 5), min_size=1))
@settings(max_examples=40, deadline=None)
@pytest.mark.filterwarnings("ignore::fairtrial.errors.SuspectInputWarning")
def test_the_mask_marks_what_differs_in_every_form(values, labels):
    table = np.zeros((len(values), 1))
    expected = [labels.get(each, each) for each in values]
    small = np.array(values, dtype=np.int8)
    for y in (values, tuple(values), small, small.astype(float), small.astype(object), pd.Series(small), pd.Categorical(small)):
        changed = ConceptChange(labels=labels).apply(table, y)
        assert list(changed.y) == expected
        assert (changed.mask == (np.array(expected) != np.array(values))).all()


def test_rows_that_are_not_meant_may_get_anything_from_a_function():
    changed = ConceptChange(labels=lambda *_: ["b", None, 3], where="x0 < 1").apply([[0], [1], [2]], ["a", "a", "a"])
    assert changed.y == ["b", "a", "a"]


def test_a_category_declares_a_new_class():
    for y in (pd.Categorical(["well", "sick"]), pd.Series(["well", "sick"], dtype="category")):
        changed = ConceptChange(labels={"well": "dead"}).apply(np.zeros((2, 1)), y).y
        assert list(changed) == ["dead", "sick"]
        assert changed.dtype.categories.tolist() == ["sick", "well", "dead"]
        assert y.dtype.categories.tolist() == ["sick", "well"]


def test_an_unknown_class_is_warned_of():
    with pytest.warns(SuspectInputWarning) as caught:
        ConceptChange(labels={"wel": "sick"}).apply(np.zeros((2, 1)), ["well", "sick"])
    assert "'wel'" in str(caught[0].message)
    assert "'well'" in str(caught[0].message)
    assert caught[0].filename == __file__
    declared = pd.Series(["well", "sick"], dtype=pd.CategoricalDtype(["well", "sick", "dead"]))
    with pytest.warns(SuspectInputWarning, match="labels"):
        ConceptChange(labels={"dead": "sick"}).apply(np.zeros((2, 1)), declared)


def test_a_change_without_rows_warns():
    with pytest.warns(SuspectInputWarning, match="where"):
        changed = ConceptChange(labels={"a": "b"}, where="x0 > 100").apply(X, Y)
    assert changed.level == 0


def test_it_describes_itself():
    change = ConceptChange(labels={"a": "b"}, where="x0 > 3", level=0.5)
    assert all(part in str(change) for part in ("a to b", "x0 > 3", "50 %"))
    assert change.describe()["labels"] == {"a": "b"}
    assert isinstance(hash(change), int)


@pytest.mark.parametrize(
    "wrong", [{"labels": {}}, {"labels": 3}, {"labels": {"a": "b"}, "level": 2}, {"labels": {"a": "b"}, "where": 3}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(InputError, match=r"labels|level|where"):
        ConceptChange(**wrong)
