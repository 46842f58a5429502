import numpy as np
import pandas as pd
import pytest

from fairtrial.conditions import AttributeNoise, ClassNoise, ClassProportion, Clean, MissingValues, PriorShift, Sequence
from fairtrial.errors import InputError

X = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 3)), columns=list("uvw"))
Y = pd.Series(["a", "b", "b"] * 10)


def test_masks_of_cells_stay_cells():
    changed = Sequence([AttributeNoise(0.2), MissingValues(0.2)]).apply(X, Y, 1)
    assert changed.mask.shape == (30, 3)
    assert np.array_equal(changed.mask, changed.steps[0].mask | changed.steps[1].mask)
    assert changed.level == changed.mask.mean()
    assert changed.chosen == 36


def test_rows_that_left_and_rows_that_changed():
    changed = Sequence([ClassProportion(0.5), ClassNoise(0.2)]).apply(X, Y, 2)
    first, second = changed.steps
    assert first.mask.sum() == 10
    assert second.mask.sum() == 4
    assert changed.mask.shape == (30,)
    assert changed.mask.sum() == 14
    assert np.array_equal(changed.rows, first.rows)
    assert changed.X.equals(X.iloc[changed.rows])
    relabelled = changed.rows[changed.y.to_numpy() != Y.iloc[changed.rows].to_numpy()]
    assert set(np.flatnonzero(changed.mask)) == set(relabelled) | (set(range(30)) - set(changed.rows))


def test_rows_drawn_twice():
    draw = PriorShift(priors={"a": 0.5}, method="draw")
    changed = Sequence([draw, ClassNoise(0.2), ClassProportion(0.5)]).apply(X, Y, 3)
    assert np.array_equal(changed.rows, changed.steps[0].rows[changed.steps[2].rows])
    assert changed.X.equals(X.iloc[changed.rows])
    assert len(changed.y) == len(changed.rows)


def test_a_step_draws_from_its_own_source():
    one, other = (Sequence([ClassNoise(level), AttributeNoise(0.3)]).apply(X, Y, 4) for level in (0.1, 0.5))
    assert np.array_equal(one.steps[1].mask, other.steps[1].mask)
    longer = Sequence([ClassNoise(0.1), AttributeNoise(0.3), MissingValues(0.1)]).apply(X, Y, 4)
    assert np.array_equal(longer.steps[0].mask, one.steps[0].mask)


def test_parts():
    both = Sequence([ClassNoise(0.1), AttributeNoise(0.1, part="test"), MissingValues(0.1, part="all")])
    assert both.limit_to("train") == Sequence([ClassNoise(0.1), MissingValues(0.1, part="all")])
    assert both.limit_to("test") == Sequence([AttributeNoise(0.1, part="test"), MissingValues(0.1, part="all")])
    assert Sequence([ClassNoise(0.1)]).limit_to("test") == Clean()
    assert Sequence([ClassNoise(0.1)], part="test").limit_to("train") == Clean()
    assert Sequence([both, Clean()]).limit_to("train") == both.limit_to("train")


def test_wrong_steps():
    for wrong in (ClassNoise(0.1), [], [ClassNoise], "class-noise", None):
        with pytest.raises(InputError, match="steps"):
            Sequence(wrong)
