import numpy as np
import pandas as pd
import pytest

from fairtrial.conditions import ClassNoise
from fairtrial.conditions.class_noise import SCHEMES, check_pairs, check_transition
from fairtrial.errors import InputError

X = np.random.default_rng(1).normal(size=(40, 2))
Y = np.array(list("a" * 20 + "b" * 12 + "c" * 8))


def test_input_forms_stay_and_are_not_written_to():
    for y in (Y, Y.tolist(), tuple(Y), pd.Series(Y, index=range(5, 45)), pd.Categorical(Y), pd.Series(Y, dtype="category")):
        before = list(y)
        changed = ClassNoise(0.25).apply(X, y, 3)
        assert list(y) == before
        assert type(changed.y) is type(y)
        assert (np.asarray(changed.y) != np.asarray(y)).sum() == 10
        assert changed.X is X


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_as_classes(scheme):
    more = {"pairwise": {"pairs": (2, 5)}, "transition-matrix": {"transition": np.full((2, 2), 0.5)}}.get(scheme, {})
    y = np.where(X[:, 0] > 0, 2, 5)
    changed = ClassNoise(0.1, scheme, **more).apply(X, y, 0)
    assert changed.y.dtype == y.dtype
    assert set(changed.y.tolist()) <= {2, 5}


def test_text_names_a_class():
    """As in a study file, where keys are text."""
    y = [0] * 20 + [1] * 20
    for more in ({"pairs": [("0", "1")]}, {"pairs": {"0": 1}}):
        assert sum(ClassNoise(0.5, "pairwise", **more, of="class").apply(X, y, 1).y) == 30
    rows = {"0": {"0": 0.5, "1": 0.5}}
    assert sum(ClassNoise(None, "transition-matrix", transition=rows).apply(X, y, 1).y) == 30
    assert set(ClassNoise(1.0, classes=["0", "1"]).apply(X, y, 1).y[:20]) == {1}
    for wrong in ([(0, "0")], [(0, 1), ("0", 1)]):
        with pytest.raises(InputError, match="pairs"):
            ClassNoise(0.1, "pairwise", pairs=wrong).apply(X, y)


def test_a_level_that_rounds_to_nobody_leaves_the_classes_as_they_are():
    y = np.array(["a", "b"] * 20)
    changed = ClassNoise(0.01).apply(X, y, 1)
    assert changed.y.dtype == y.dtype
    assert changed.level == 0
    assert not changed.mask.any()


def test_lists_of_mixed_labels_are_refused():
    for y in ([1, "a", 1, "a"], np.array([1, "a", 1, "a"], dtype=object)):
        with pytest.raises(InputError, match="labels"):
            ClassNoise(0.5).apply([[0]] * 4, y, rng=1)


def test_a_declared_class_gets_no_case_unless_asked():
    y = pd.Series(pd.Categorical(Y, ["a", "b", "c", "absent"]))
    assert "absent" not in set(ClassNoise(1.0).apply(X, y, 1).y)
    changed = ClassNoise(1.0, classes="declared").apply(X, y, 1)
    assert "absent" in set(changed.y)
    assert changed.mask.all()
    listed = ClassNoise(1.0, "next-class", classes=["c", "b", "a", "new"]).apply(X, Y, 1).y
    assert dict(zip(Y.tolist(), listed.tolist(), strict=True)) == {"a": "new", "b": "a", "c": "b"}


def test_one_class_cannot_be_noisy():
    for scheme in ("symmetric-uniform", "next-class", "majority-to-second", "minority-driven", "neighbourwise-borderline"):
        with pytest.raises(InputError, match=r"y .*got only 'a'"):
            ClassNoise(0.5, scheme).apply(X, ["a"] * 40)
    with pytest.raises(InputError, match=r"y .*got only"):
        ClassNoise(0.5, "margin-borderline", classes=["a", "b"]).apply(X, ["a"] * 40)
    assert ClassNoise(0.5, classes=["a", "b"]).apply(X, ["a"] * 40, 1).mask.sum() == 20
    assert ClassNoise(0.0).apply(X, ["a"] * 40).level == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scheme": "symmetric"}, "scheme.*'symmetric'"),
        ({"of": "rows"}, "of .*'rows'"),
        ({"scheme": "pairwise"}, "pairs.*'pairwise'"),
        ({"pairs": ("a", "b")}, "pairs.*'symmetric-uniform'"),
        ({"scheme": "transition-matrix"}, "transition .*'transition-matrix'"),
        ({"transition": np.eye(2)}, "transition .*'symmetric-uniform'"),
        ({"classes": "all"}, "classes.*'all'"),
        ({"minority_share": 2}, "minority_share.*got 2"),
        ({"neighbours": 0}, "neighbours.*got 0"),
        ({"kernel": "poly"}, "kernel.*'poly'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        ClassNoise(0.1, **parameters)


def test_the_summary_names_level_and_scheme():
    assert str(ClassNoise(0.1, "next-class", part="all")).startswith("10 % class noise (next-class)")
    assert ClassNoise(0.1, of="class").summarise() != ClassNoise(0.1).summarise()
    assert str(ClassNoise(None, "transition-matrix", transition=np.eye(2))).startswith("class noise (transition-matrix)")


def test_pairs_in_all_forms():
    assert check_pairs(("a", "b")) == (("a", "b"),)
    assert check_pairs([1, 2]) == ((1, 2),)
    assert check_pairs({"a": "b", "b": "a"}) == (("a", "b"), ("b", "a"))
    assert check_pairs([["a", "b"], ["b", "c"]]) == (("a", "b"), ("b", "c"))
    for wrong in ("ab", [], ["ab", "cd", "ef"], [("a", "b", "c")], [("a", "a")], [("a", "b"), ("a", "c")]):
        with pytest.raises(InputError, match="pairs"):
            check_pairs(wrong)


def test_transitions_in_all_forms():
    rows = {"a": {"a": 0.5, "b": 0.5}, "b": {"a": 0.1, "b": 0.9}}
    assert check_transition(rows) == rows
    assert check_transition(pd.DataFrame(rows).T) == rows
    assert check_transition([[0.5, 0.5], [0.1, 0.9]]) == ((0.5, 0.5), (0.1, 0.9))
    for wrong, message in [
        ([[0.5, 0.4], [0, 1]], r"row 0 of transition.*0\.9"),
        ([[1.5, -0.5], [0, 1]], r"row 0 of transition.*-0\.5"),
        ([[0.5, np.nan], [0, 1]], "row 0 of transition"),
        ([[1.0, 0.0]], r"transition.*\(1, 2\)"),
        ({"a": {"b": 0.5}}, r"transition of 'a'.*0\.5"),
        ({"a": 0.5}, r"transition.*0\.5"),
        ("ab", "transition"),
    ]:
        with pytest.raises(InputError, match=message):
            check_transition(wrong)
