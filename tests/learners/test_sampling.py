import numpy as np
import pandas as pd
import pytest
from imblearn.over_sampling import SMOTE, RandomOverSampler

from fairtrial._frames import read_columns
from fairtrial.errors import InputError, LearnerError, UnknownNameError
from fairtrial.learners.prepared import get_sampler, resample_columns, sampler_classes, to_frame

LABELS = np.array(["a"] * 20 + ["b"] * 8)
RNG = np.random.default_rng(1)
NUMBERS = RNG.normal(size=(28, 2))
HUES = pd.Categorical(np.where(np.arange(28) % 3, "red", "blue"), ["red", "blue", "grey"])
FLAGS = pd.Categorical(np.where(np.arange(28) % 5, "yes", "no"))


def test_numbers_are_imbalanced_learns_smote():
    columns, labels, _ = resample_columns(SMOTE(random_state=3), read_columns(NUMBERS), LABELS)
    expected, chosen = SMOTE(random_state=3).fit_resample(NUMBERS, LABELS)
    np.testing.assert_array_equal(columns.values, expected)
    assert labels.tolist() == chosen.tolist()


def test_nominal_columns_get_values_that_exist_and_keep_their_codes():
    table = read_columns(pd.DataFrame({"size": NUMBERS[:, 0], "hue": HUES}))
    columns, labels, used = resample_columns(SMOTE(random_state=0), table, LABELS)
    assert type(used).__name__ == "SMOTENC"
    assert (labels == "b").sum() == 20
    assert columns.categories == table.categories
    assert set(columns.values[:, 1]) <= {0.0, 1.0}
    np.testing.assert_array_equal(columns.values[:28], table.values)


def test_nominal_columns_only():
    table = pd.DataFrame({"hue": HUES, "flag": FLAGS, "truth": np.arange(28) % 2 == 0})
    columns, labels, used = resample_columns(SMOTE(random_state=0), read_columns(table), LABELS)
    assert len(columns) == len(labels) == 40
    assert type(used).__name__ == "SMOTEN"


def test_several_nominal_columns_beside_numbers():
    table = read_columns(pd.DataFrame({"size": NUMBERS[:, 0], "hue": HUES, "flag": FLAGS, "truth": np.arange(28) % 2 == 0}))
    columns, labels, _ = resample_columns(SMOTE(random_state=0), table, LABELS)
    assert (labels == "b").sum() == 20
    assert set(columns.values[:, 3]) <= {0.0, 1.0}


@pytest.mark.parametrize("name", ["adasyn", "tomek-links", "smote-enn", "near-miss"])
def test_samplers_by_distance_refuse_nominal_columns(name):
    with pytest.raises(InputError, match="'hue'"):
        resample_columns(get_sampler(name), read_columns(pd.DataFrame({"size": NUMBERS[:, 0], "hue": HUES})), LABELS)


def test_too_few_rows_raise_a_learner_error_with_a_remedy():
    with pytest.raises(LearnerError, match=r"classes \{'a': 20, 'b': 3\}.*RandomOverSampler"):
        resample_columns(SMOTE(), read_columns(NUMBERS[:23]), LABELS[:23])


def test_names():
    assert {"smote", "adasyn", "random-over-sampler", "tomek-links", "smote-enn", "near-miss"} <= set(sampler_classes())
    assert isinstance(get_sampler("random-over-sampler", random_state=1), RandomOverSampler)
    with pytest.raises(UnknownNameError, match="'smote'"):
        get_sampler("smotte")
    with pytest.raises(InputError, match="neighbours"):
        get_sampler("smote", neighbours=3)


def test_a_frame_of_columns_is_the_table():
    table = pd.DataFrame({"size": [1.0, None], "hue": pd.Categorical(["blue", None], ["red", "blue"])})
    pd.testing.assert_frame_equal(to_frame(read_columns(table)), table, check_categorical=False)


def test_strategies_that_name_classes_get_the_classes():
    columns, labels, _ = resample_columns(SMOTE(sampling_strategy={"b": 15}, random_state=3), read_columns(NUMBERS), LABELS)
    assert (labels == "b").sum() == 15
    assert len(columns) == 35
