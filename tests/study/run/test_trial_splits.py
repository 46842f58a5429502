"""Conditions change the part that they are declared for, as they would by hand, and tell what they did."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from fairtrial.conditions import (
    AttributeNoise,
    Changed,
    ClassNoise,
    ClassProportion,
    Clean,
    ConceptChange,
    Condition,
    CovariateShift,
    MissingValues,
    PriorShift,
    ScoreNoise,
    Sequence,
)
from fairtrial.data import Dataset, load
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import SplitRows
from fairtrial.study.run.trial_data import TrialData, apply_condition

IRIS = load("iris")
DATA = TrialData.from_dataset(IRIS)
ROWS = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), 0, 0)


@pytest.mark.parametrize(
    "condition",
    [
        ClassNoise(0.2),
        ClassNoise(0.2, "pairwise", pairs=[["setosa", "virginica"]], part="all"),
        ClassNoise(0.1, "neighbourwise-borderline"),
        AttributeNoise(0.3, part="all"),
        AttributeNoise(0.3, columns=["petal width (cm)"], part="test"),
        MissingValues(0.2, part="all"),
        ClassProportion(0.5, positive="setosa"),
        PriorShift(priors={"setosa": 0.1}),
        PriorShift(weights={"setosa": 3}, method="draw", part="all"),
        CovariateShift(keep="`sepal length (cm)` < 6"),
        ConceptChange(labels={"setosa": "virginica"}, where="`sepal length (cm)` < 5"),
        Sequence([ClassNoise(0.2), AttributeNoise(0.2, part="test")]),
    ],
    ids=str,
)
def test_parts_are_what_the_condition_makes_by_hand(condition):
    parts = apply_condition(DATA, ROWS, condition, seed=11)
    for name, rows, part in (("train", ROWS.train, parts.train), ("test", ROWS.test, parts.test)):
        change = condition.limit_to(name)
        X, y = IRIS.X.iloc[rows].reset_index(drop=True), IRIS.y.iloc[rows].reset_index(drop=True)
        expected = change.apply(X, y, derive_generator(11, name))
        np.testing.assert_array_equal(part.take_table(DATA), expected.X.to_numpy())
        assert DATA.labels[part.codes].tolist() == list(expected.y)
        assert part.rows.tolist() == rows[expected.rows].tolist()
        if isinstance(change, Clean):
            assert (part.level, part.changed) == (None, None)
        else:
            assert (part.level, part.changed) == (expected.level, expected.mask.sum())


def test_some_rows_of_a_part_are_those_of_the_whole():
    for condition in (Clean(), AttributeNoise(0.3)):
        part = apply_condition(DATA, ROWS, condition, 1).train
        np.testing.assert_array_equal(part.take_table(DATA, np.array([4, 0])), part.take_table(DATA)[[4, 0]])


def test_a_table_is_a_new_copy_each_time():
    for condition in (Clean(), AttributeNoise(0.3)):
        part = apply_condition(DATA, ROWS, condition, 1).train
        first = part.take_table(DATA)
        kept = first.copy()
        first[:] = -1
        np.testing.assert_array_equal(part.take_table(DATA), kept)


def test_nominal_columns_stay_typed_under_noise():
    table = pd.DataFrame({"hue": pd.Categorical(["red", "blue"] * 10), "size": np.arange(20.0)})
    data = TrialData.from_dataset(Dataset.from_table(table, ["a", "b"] * 10))
    rows = SplitRows(np.arange(5, 20), np.arange(5), 0, 0)
    part = apply_condition(data, rows, AttributeNoise(0.5), 1).train
    changed = part.take_table(data)
    assert changed.dtypes.astype(str).tolist() == ["category", "float64"]
    assert changed.index.tolist() == list(range(15))
    assert not part.is_finite(data)
    changed["hue"].array[:] = "red"
    assert set(part.take_table(data)["hue"]) == {"red", "blue"}


def test_finite_means_numbers_without_gaps():
    clean = apply_condition(DATA, ROWS, Clean(), 1)
    assert clean.train.is_finite(DATA)
    holes = apply_condition(DATA, ROWS, MissingValues(0.1, part="test"), 1)
    assert [holes.train.is_finite(DATA), holes.test.is_finite(DATA)] == [True, False]


def test_finite_looks_at_the_rows_of_the_part():
    table = pd.DataFrame({"x": [1.0, 2.0, np.nan]})
    data = TrialData.from_dataset(Dataset.from_table(table, ["a", "b", "a"]))
    parts = apply_condition(data, SplitRows(np.array([0, 1]), np.array([2]), 0, 0), Clean(), 1)
    assert [parts.train.is_finite(data), parts.test.is_finite(data)] == [True, False]


def test_warnings_of_a_condition_become_notes():
    change = ConceptChange(labels={"setosa": "virginica"}, where="`sepal length (cm)` > 100")
    assert apply_condition(DATA, ROWS, change, 1).notes.startswith(f"{SuspectInputWarning.__name__}: no class changes")
    assert apply_condition(DATA, ROWS, Clean(), 1).notes is None


def test_classes_must_be_declared():
    with pytest.raises(InputError, match="got 'rosa'"):
        apply_condition(DATA, ROWS, ConceptChange(labels={"setosa": "rosa"}), 1)


def test_score_noise_leaves_the_rows_alone():
    parts = apply_condition(DATA, ROWS, ScoreNoise(0.1), 1)
    assert parts.score_noise == ScoreNoise(0.1)
    assert (parts.test.level, parts.test.changed) == (None, None)
    assert apply_condition(DATA, ROWS, ClassNoise(0.1), 1).score_noise is None


@pytest.mark.parametrize("condition", [ScoreNoise(0.1, part="train"), Sequence([ClassNoise(0.1), ScoreNoise(0.1)])])
def test_score_noise_elsewhere_is_refused(condition):
    with pytest.raises(InputError, match="score noise must"):
        apply_condition(DATA, ROWS, condition, 1)


@dataclass(frozen=True)
class Renamed(Condition):
    """Gives classes in a list, and a table of its own."""

    def _apply(self, X, y, rng):
        return Changed(X * 0, ["setosa"] * len(X), np.ones(len(X), dtype=bool), 1.0, np.arange(len(X)))


def test_a_condition_of_ones_own_may_give_plain_labels():
    part = apply_condition(DATA, ROWS, Renamed(), 1).train
    assert part.codes.tolist() == [0] * 75
    assert part.take_table(DATA).sum() == 0
    assert part.changed == 75


@dataclass(frozen=True)
class Emptied(Condition):
    """Leaves no row."""

    def _apply(self, X, y, rng):
        none = np.arange(0)
        return Changed(X.iloc[none], y.iloc[none], np.ones(0, dtype=bool), 1.0, none)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_condition_that_leaves_no_row_of_a_part_is_told_so(part):
    with pytest.raises(InputError, match=rf"Emptied\(.*at least 1 of the 75 rows of the {part}"):
        apply_condition(DATA, ROWS, Emptied(part=part), 1)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_split_without_rows_in_a_part_is_told_so(part):
    rows = SplitRows(**{"train": ROWS.train, "test": ROWS.test, part: np.arange(0)}, repeat=0, fold=0)
    with pytest.raises(InputError, match=f"the {part}.* set of a split"):
        apply_condition(DATA, rows, Clean(), 1)
