import numpy as np
import pandas as pd
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from fairtrial._frames import read_columns
from fairtrial.learners.encoding import NumberEncoder
from fairtrial.learners.learner import TrainingSet


def training(table, weight=None):
    columns = read_columns(table)
    return TrainingSet(
        columns, np.zeros(len(columns), dtype=np.intp), np.ones(len(columns)) if weight is None else np.array(weight)
    )


def test_numbers_alone_are_scikit_learns_scaling():
    rng = np.random.default_rng(1)
    train, test = rng.normal(3, 2, (20, 4)), rng.normal(3, 2, (7, 4))
    # as WEKA's Standardize the deviation divides by n - 1, scikit-learn's by n
    for scale, theirs, factor in (("min-max", MinMaxScaler(), 1), ("standard", StandardScaler(), np.sqrt(19 / 20))):
        ours = NumberEncoder.fit(training(train), scale)
        np.testing.assert_allclose(ours(read_columns(test)), factor * theirs.fit(train).transform(test), atol=1e-12)


def test_numbers_of_any_size_are_scaled():
    small = np.random.default_rng(2).normal(size=(9, 2)) * 1e-20
    scaled = NumberEncoder.fit(training(small), "min-max")(read_columns(small))
    np.testing.assert_allclose(scaled.max(axis=0), 1)


def test_two_values_make_one_column_and_three_make_three():
    table = pd.DataFrame({"two": pd.Categorical(list("aab")), "three": pd.Categorical(list("xyz"))})
    assert NumberEncoder.fit(training(table), None)(read_columns(table)).tolist() == [
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [1, 0, 0, 1],
    ]


def test_missing_values_become_the_weighted_mean_or_the_most_frequent_value():
    table = pd.DataFrame({"size": [1.0, 5.0, None], "hue": pd.Categorical(["red", "blue", None], ["red", "blue"])})
    encoder = NumberEncoder.fit(training(table, [3.0, 1.0, 1.0]), None)
    assert encoder(read_columns(table))[2].tolist() == [2.0, 0.0]


def test_constant_and_all_missing_columns_become_zero():
    table = np.array([[5.0, np.nan, 1.0], [5.0, np.nan, 2.0]])
    encoder = NumberEncoder.fit(training(table), "min-max")
    assert encoder(read_columns(np.array([[7.0, 3.0, 3.0]]))).tolist() == [[0.0, 0.0, 2.0]]


def test_a_value_unseen_in_training_is_missing():
    encoder = NumberEncoder.fit(training(pd.DataFrame({"hue": list("xyyz")})), None)
    columns = read_columns(pd.DataFrame({"hue": list("xyyz")})).encode_like(pd.DataFrame({"hue": ["q"]}))
    assert encoder(columns).tolist() == [[0.0, 1.0, 0.0]]
