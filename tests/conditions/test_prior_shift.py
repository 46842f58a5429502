import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import coo_matrix

from fairtrial.conditions.shift import PriorShift
from fairtrial.errors import InputError

classes = st.lists(st.sampled_from("abc"), min_size=6, max_size=80).filter(lambda y: len(set(y)) == 3)


def numbered(y):
    return np.arange(len(y), dtype=float)[:, None]


@given(classes, st.integers(0, 99), st.sampled_from(["remove", "draw"]))
@settings(max_examples=60, deadline=None)
def test_counts_are_exact_and_rows_prove_it(y, seed, method):
    priors = dict(zip("abc", np.random.default_rng(seed).dirichlet([2, 2, 2]).tolist(), strict=True))
    priors["c"] = 1 - priors["a"] - priors["b"]
    changed = PriorShift(priors=priors, method=method).apply(numbered(y), y, rng=seed)
    n = len(changed.y)
    for label, share in priors.items():
        assert abs(changed.y.count(label) - share * n) < 1 + 1e-6
    assert [y[row] for row in changed.rows] == changed.y
    assert changed.X[:, 0].tolist() == changed.rows.tolist()
    times = np.bincount(changed.rows, minlength=len(y))
    assert (changed.mask == (times != 1)).all()
    assert changed.level == changed.mask.mean()
    if method == "remove":
        assert times.max() == 1
        counts = {label: y.count(label) for label in "abc"}
        bigger = {label: (n + 1) * share for label, share in priors.items()}
        assert any(bigger[label] > counts[label] - 1e-6 for label in "abc"), "as few rows as possible are removed"
    else:
        assert n == len(y)


def test_an_easy_case_by_hand():
    """20 a, 30 b; a shall be half: all 20 a and 20 of the b stay."""
    y = np.array(["a"] * 20 + ["b"] * 30)
    changed = PriorShift(priors={"a": 0.5}).apply(numbered(y), y, rng=1)
    assert (changed.y == "a").sum() == (changed.y == "b").sum() == 20
    assert changed.mask.sum() == 10
    assert changed.level == 0.2


def test_unnamed_classes_divide_the_rest_as_before():
    y = ["a"] * 50 + ["b"] * 40 + ["c"] * 10
    changed = PriorShift(priors={"a": 0}).apply(numbered(y), y)
    assert (changed.y.count("a"), changed.y.count("b"), changed.y.count("c")) == (0, 40, 10)


def test_weights_are_factors():
    """A class with factor 0.5 keeps half of its rows when the others stay."""
    y = ["a"] * 40 + ["b"] * 60
    changed = PriorShift(weights={"a": 0.5}).apply(numbered(y), y)
    assert (changed.y.count("a"), changed.y.count("b")) == (20, 60)
    same = PriorShift(weights={"a": 1, "b": 1}).apply(numbered(y), y)
    assert same.level == 0


@pytest.mark.parametrize(("size", "rows"), [(20, 20), (0.2, 20), (None, 40)])
def test_sizes(size, rows):
    y = ["a"] * 80 + ["b"] * 20
    changed = PriorShift(priors={"a": 0.5}, size=size).apply(numbered(y), y)
    assert changed.y.count("a") == changed.y.count("b") == rows // 2


def test_draws_can_make_a_rare_class_frequent():
    y = ["a"] * 99 + ["b"]
    changed = PriorShift(priors={"b": 0.9}, method="draw", size=1000).apply(numbered(y), y, rng=1)
    assert changed.y.count("b") == 900
    assert (changed.rows == 99).sum() == 900


def test_types_and_declared_classes_stay():
    y = pd.Series(pd.Categorical([1, 2, 2, 2], categories=[1, 2, 3]), index=list("wxyz"), name="label")
    X = pd.DataFrame({"v": [1.0, 2.0, 3.0, 4.0]}, index=list("wxyz"))
    changed = PriorShift(priors={"1": 0.5}).apply(X, y, rng=0)
    assert changed.y.cat.categories.tolist() == [1, 2, 3]
    assert changed.y.name == "label"
    assert changed.X.index.equals(changed.y.index)
    assert sorted(changed.y.tolist()) == [1, 2]


def test_a_seed_repeats_it_and_the_input_stays():
    y = np.array(["a", "b"] * 30)
    before = y.copy()
    first, again = (PriorShift(priors={"a": 0.2}).apply(numbered(y), y, rng=5) for _ in range(2))
    assert first.rows.tolist() == again.rows.tolist()
    assert (y == before).all()


def test_it_describes_itself():
    shift = PriorShift(priors={"sick": 0.1}, part="all")
    assert "sick 10 %" in str(shift)
    assert shift.describe()["priors"] == {"sick": 0.1}
    assert hash(shift) == hash(PriorShift(priors={"sick": 0.1}, part="all"))
    assert "a x 2" in str(PriorShift(weights={"a": 2}, method="draw"))


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({}, "priors and weights"),
        ({"priors": {"a": 0.5}, "weights": {"a": 1}}, "priors and weights"),
        ({"priors": {"a": 0.7, "b": 0.6}}, r"priors.*1\.3"),
        ({"priors": {"a": -0.1}}, r"priors.*'a': -0\.1"),
        ({"priors": {}}, "priors.*{}"),
        ({"priors": [0.5, 0.5]}, r"priors.*\[0\.5, 0\.5\]"),
        ({"weights": {"a": float("inf")}}, "weights.*'a': inf"),
        ({"priors": {"a": 0.5}, "method": "delete"}, "method.*'delete'"),
        ({"priors": {"a": 0.5}, "size": 0}, "size.*got 0"),
    ],
)
def test_wrong_parameters_are_named(wrong, value):
    with pytest.raises(InputError, match=value):
        PriorShift(**wrong)


@pytest.mark.parametrize(
    ("shift", "value"),
    [
        (PriorShift(priors={"aa": 0.5}), "priors.*'aa'"),
        (PriorShift(priors={"a": 0.5, "b": 0.4}), r"priors.*0\.9"),
        (PriorShift(weights={"a": 0, "b": 0}), "weights"),
        (PriorShift(priors={"a": 0.5}, size=50), "size.*20"),
    ],
)
def test_parameters_that_do_not_fit_the_data_are_named(shift, value):
    y = ["a"] * 10 + ["b"] * 30
    with pytest.raises(InputError, match=value):
        shift.apply(numbered(y), y)


def test_sparse_tables_of_all_formats():
    y = ["a"] * 2 + ["b"] * 4
    changed = PriorShift(priors={"a": 0.5}).apply(coo_matrix(np.diag(np.arange(6.0))), y, rng=1)
    assert changed.X.toarray().sum(axis=1).tolist() == changed.rows.tolist()
    assert changed.X.format == "coo"
