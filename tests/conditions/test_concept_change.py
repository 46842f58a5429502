import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.concept_change import ConceptChange
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
    with pytest.raises(InputError, match="a class for each of the 10 rows, got 1"):
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
    ],
)
def test_classes_keep_their_type(y, labels):
    table = np.zeros((3, 1))
    before = list(y)
    changed = ConceptChange(labels=labels).apply(table, y)
    new = next(iter(labels.values()))
    assert [str(each) for each in changed.y] == [str(before[0]), str(new), str(new)]
    assert type(changed.y) is type(y)
    assert list(y) == before
    if isinstance(y, pd.Series):
        assert changed.y.dtype == y.dtype
        assert changed.y.index.equals(y.index)
        assert changed.y.name == y.name
    elif isinstance(y, np.ndarray):
        assert changed.y.dtype.kind == y.dtype.kind


def test_unknown_classes_are_refused():
    with pytest.warns(SuspectInputWarning) as told:
        ConceptChange(labels={"wel": "sick"}).apply(np.zeros((2, 1)), ["well", "sick"])
    assert "which no row has: did you mean 'well'?" in str(told[0].message)
    with pytest.raises(InputError, match="declared classes, got 'sic': did you mean 'sick'"):
        ConceptChange(labels={"well": "sic"}).apply(np.zeros((2, 1)), pd.Series(["well", "sick"], dtype="category"))


def test_no_row_meant_warns():
    with pytest.warns(SuspectInputWarning, match="no class changes"):
        changed = ConceptChange(labels={"a": "b"}, where="x0 > 100").apply(X, Y)
    assert changed.level == 0


def test_it_describes_itself():
    change = ConceptChange(labels={"a": "b"}, where="x0 > 3", level=0.5)
    assert str(change) == "concept change (a to b where x0 > 3, 50% of them) in the test part"
    assert change.describe()["labels"] == {"a": "b"}
    assert isinstance(hash(change), int)


@pytest.mark.parametrize(
    "wrong", [{"labels": {}}, {"labels": 3}, {"labels": {"a": "b"}, "level": 2}, {"labels": {"a": "b"}, "where": 3}]
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(InputError, match=r"(labels|level|where) must"):
        ConceptChange(**wrong)
