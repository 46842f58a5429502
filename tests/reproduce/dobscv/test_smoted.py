"""SMOTE around a learner: what it makes, held against scikit-learn's neighbours."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors as Neighbours
from sklearn.tree import DecisionTreeClassifier

from fairtrial.errors import InputError
from fairtrial.learners import C45
from fairtrial.reproduce.dobscv.smoted import Smoted, synthetic


class Keeper(DecisionTreeClassifier):
    """A tree that keeps what it learnt from."""

    def fit(self, X, y):
        self.rows, self.answers = X, y
        return super().fit(X, y)


def test_new_cases_lie_between_a_case_and_one_of_its_five_nearest_in_parts_of_the_range():
    rng = np.random.default_rng(5)
    values = np.column_stack([rng.normal(size=60), 1000 * rng.normal(size=60)])
    rare = np.arange(12)
    made = synthetic(values, np.array([False, False]), rare, 200, 5, 1)
    scaled = values / np.ptp(values, axis=0)
    near = Neighbours(n_neighbors=6).fit(scaled[rare]).kneighbors(scaled[rare], return_distance=False)[:, 1:]
    lines = [(a, b) for a in range(12) for b in near[a]]
    for row in made:
        on = []
        for a, b in lines:
            step, way = row - values[a], values[b] - values[a]
            on.append(abs(step[0] * way[1] - step[1] * way[0]) < 1e-6 and -1e-9 <= step[0] / way[0] <= 1 + 1e-9)
        assert any(on)


def test_rare_cases_take_turns():
    values = np.array([[0.0], [10.0], [30.0], [100.0]])
    made = synthetic(values, np.array([False]), np.array([0, 1, 2]), 300, 1, 2)[:, 0]
    # The nearest of 0 is 10, that of 10 is 0, and that of 30 is 10: a third of the new cases beyond 10.
    assert (made > 10).sum() == 100


def test_a_copy_is_no_neighbour_and_a_lonely_case_is_its_own():
    values = np.array([[0.0], [0.0], [0.0], [4.0], [9.0]])
    made = synthetic(values, np.array([False]), np.array([0, 1, 2, 3]), 400, 2, 3)[:, 0]
    assert (made > 0).mean() > 0.99
    alone = synthetic(values, np.array([False]), np.array([0, 1]), 6, 5, 3)
    assert alone.ravel().tolist() == [0.0] * 6


def test_nominal_values_come_from_either_parent():
    values = np.array([[0.0, 1.0], [1.0, 2.0], [5.0, 0.0]])
    made = synthetic(values, np.array([False, True]), np.array([0, 1]), 100, 5, 4)
    assert set(made[:, 1]) == {1.0, 2.0}
    assert 20 < (made[:, 1] == 1.0).sum() < 80


@pytest.mark.parametrize("typed", [False, True])
def test_classes_are_equal_in_number_and_old_rows_stay(typed):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3)), np.array(["rare"] * 8 + ["usual"] * 42)
    if typed:
        X = pd.DataFrame({"a": X[:, 0], "hue": pd.Categorical(np.where(X[:, 1] > 0, "red", "blue"))})
    kept = Keeper() if not typed else C45()
    model = Smoted(kept, random_state=1).fit(X, y)
    assert model.made_ == 34
    if typed:
        assert set(model.predict(X)) <= {"rare", "usual"}
    else:
        assert pd.Series(model.learner_.answers).value_counts().tolist() == [42, 42]
        assert (model.learner_.rows[:50] == X).all()


def test_a_declared_class_without_rows_does_not_reach_the_learner():
    y = pd.Series(pd.Categorical(["a"] * 5 + ["b"] * 15, categories=["a", "b", "?"]))
    model = Smoted(Keeper(), random_state=1).fit(np.arange(20.0)[:, None], y)
    assert list(model.learner_.answers.cat.categories) == ["a", "b"]
    assert model.classes_.tolist() == ["a", "b"]


def test_the_same_seed_gives_the_same_cases_and_another_gives_others():
    values, nominal = np.random.default_rng(2).normal(size=(20, 2)), np.array([False, False])
    first, again, other = (synthetic(values, nominal, np.arange(7), 9, 5, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_gaps_and_a_third_class_are_refused():
    with pytest.raises(InputError, match="no missing values"):
        Smoted(C45()).fit([[1.0], [np.nan], [2.0]], ["a", "b", "b"])
    with pytest.raises(InputError, match="2 classes"):
        Smoted(C45()).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])


def test_only_methods_of_the_learner_are_there():
    X, y = np.arange(10.0)[:, None], np.array(["a"] * 3 + ["b"] * 7)
    model = Smoted(C45(), random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (10, 2)
    assert not hasattr(model, "decision_function")
