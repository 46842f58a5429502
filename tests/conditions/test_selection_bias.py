import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.conditions.shift import SelectionBias
from fairtrial.errors import InputError

PEOPLE = pd.DataFrame({"age": np.arange(100.0)})
TRUTH = pd.Series(np.where(np.arange(100) % 4 == 0, "sick", "well"), dtype="category")


def test_who_is_never_seen_and_who_always_is():
    changed = SelectionBias(chance={"y == 'sick'": 0, "age >= 50": 0.5}).apply(PEOPLE, TRUTH, rng=1)
    assert (changed.y == "well").all()
    assert (changed.X["age"] < 50).sum() == 37
    assert len(changed.y) == 37 + 38 / 2
    assert changed.level == changed.mask.mean() == 0.44


@given(st.integers(0, 999), st.integers(1, 75))
@settings(max_examples=40, deadline=None)
def test_sizes_are_exact_and_rows_prove_it(seed, size):
    changed = SelectionBias(chance="(y == 'well') * (age + 1) / 100", size=size).apply(PEOPLE, TRUTH, rng=seed)
    assert len(changed.y) == len(set(changed.rows.tolist())) == size
    assert changed.X["age"].tolist() == changed.rows.tolist()
    assert not changed.mask[changed.rows].any()
    assert changed.mask.sum() == 100 - size


def test_each_row_has_its_chance():
    bias = SelectionBias(chance=lambda _, y: np.where(y == "sick", 0.2, 0.6))
    kept = np.zeros(100)
    for seed in range(1500):
        changed = bias.apply(PEOPLE, TRUTH, rng=seed)
        assert len(changed.y) == 50
        kept[changed.rows] += 1
    np.testing.assert_allclose(kept / 1500, np.where(TRUTH == "sick", 0.2, 0.6), atol=0.055)


def test_it_describes_itself():
    bias = SelectionBias(chance={"y == 'sick'": 0.2})
    assert "0.2 if y == 'sick'" in str(bias)
    assert bias.describe() == {"condition": "selection-bias", "part": "train", "chance": {"y == 'sick'": 0.2}, "size": None}
    assert isinstance(hash(bias), int)


def test_chances_above_one_are_refused():
    with pytest.raises(InputError, match=r"chance.*got 2 at row 2"):
        SelectionBias(chance="age").apply(PEOPLE, TRUTH)
    with pytest.raises(InputError, match="chance"):
        SelectionBias(chance=0.5)
