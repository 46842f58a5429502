import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.shift import CovariateShift
from fairtrial.errors import InputError

PEOPLE = pd.DataFrame({"age": np.arange(100.0), "sex": pd.Categorical(["f", "m"] * 50)})
TRUTH = np.where(PEOPLE["age"] > 50, "sick", "well")


@pytest.mark.parametrize("keep", ["age < 65", lambda X: X["age"] < 65])
def test_no_elderly(keep):
    changed = CovariateShift(keep=keep).apply(PEOPLE, TRUTH)
    assert changed.rows.tolist() == list(range(65))
    assert changed.mask.tolist() == [False] * 65 + [True] * 35
    assert changed.level == 0.35
    pd.testing.assert_frame_equal(changed.X, PEOPLE.iloc[:65])
    assert changed.y.tolist() == TRUTH[:65].tolist()


def test_some_of_the_kept():
    changed = CovariateShift(keep="sex == 'f'", size=0.2).apply(PEOPLE, TRUTH, rng=1)
    assert len(changed.y) == 20
    assert set(changed.X["sex"]) == {"f"}
    with pytest.raises(InputError, match=r"size.*50 rows"):
        CovariateShift(keep="sex == 'f'", size=51).apply(PEOPLE, TRUTH)


@given(st.integers(0, 999), st.integers(1, 100))
@settings(max_examples=40, deadline=None)
def test_sizes_are_exact_and_rows_prove_it(seed, size):
    drawn = CovariateShift(weights="age + 1", size=size).apply(PEOPLE, TRUTH, rng=seed)
    kept = CovariateShift(weights="age + 1", method="remove", size=size).apply(PEOPLE, TRUTH, rng=seed)
    for changed in (drawn, kept):
        assert len(changed.y) == size
        assert changed.X["age"].tolist() == changed.rows.tolist()
        assert (changed.mask == (np.bincount(changed.rows, minlength=100) != 1)).all()
    assert len(set(kept.rows.tolist())) == size


def test_draws_follow_the_weights():
    """Weights 0..99 make the mean age sum a^2 / sum a = 199/3, with standard deviation about 23.4."""
    changed = CovariateShift(weights="age", size=20_000).apply(PEOPLE, TRUTH, rng=1)
    assert changed.X["age"].mean() == pytest.approx(199 / 3, abs=0.7)
    assert (changed.rows > 0).all()


def test_removal_follows_the_weights():
    """Three times the weight, three times the chance."""
    shift = CovariateShift(weights={"age < 50": 3}, method="remove", size=20)
    young = [(shift.apply(PEOPLE, TRUTH, rng=seed).X["age"] < 50).sum() for seed in range(300)]
    assert np.mean(young) == pytest.approx(15, abs=0.4)


def test_defaults():
    assert len(CovariateShift(weights="age").apply(PEOPLE, TRUTH, rng=1).y) == 100
    # As many as have chances of at most 1 in proportion: 4950 / 99, and (50 x 100 + 50) / 100.
    assert len(CovariateShift(weights="age", method="remove").apply(PEOPLE, TRUTH, rng=1).y) == 50
    heavy = CovariateShift(weights={"sex == 'f'": 100}, method="remove").apply(PEOPLE, TRUTH, rng=1)
    assert heavy.X["sex"].value_counts()["f"] == 50
    assert len(heavy.y) == 50
    both = CovariateShift(weights="age", keep="age < 10", size=500).apply(PEOPLE, TRUTH, rng=1)
    assert both.X["age"].max() == 9


def test_matrices_and_no_classes_will_do():
    changed = CovariateShift(keep="x0 > 1").apply(np.array([[1.0], [2.0]]), None)
    assert changed.y is None
    assert changed.X.tolist() == [[2.0]]


def test_it_describes_itself():
    shift = CovariateShift(keep="age < 65", weights={"sex == 'f'": 2})
    assert all(part in str(shift) for part in ("age < 65", "2 if sex == 'f'"))
    assert shift.describe()["weights"] == {"sex == 'f'": 2}
    assert isinstance(hash(shift), int)


@pytest.mark.parametrize(
    ("wrong", "value"),
    [
        ({}, "keep or weights"),
        ({"keep": 3}, "keep.*got 3"),
        ({"weights": "age >"}, "weights.*'age >'"),
        ({"keep": "a", "method": "x"}, "method.*'x'"),
        ({"keep": "a", "size": -1}, "size.*got -1"),
    ],
)
def test_wrong_parameters_are_named(wrong, value):
    with pytest.raises(InputError, match=value):
        CovariateShift(**wrong)


def test_a_condition_must_leave_rows():
    with pytest.raises(InputError, match="100 rows, got 0"):
        CovariateShift(keep="age > 1000").apply(PEOPLE, TRUTH)
    with pytest.raises(InputError, match=r"weights.*100 rows"):
        CovariateShift(weights="age * 0").apply(PEOPLE, TRUTH)
