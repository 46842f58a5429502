"""SMOTE before a learner, compared with scikit-learn's neighbours, and Chi over 0..1."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors as Neighbours
from sklearn.tree import DecisionTreeClassifier

from fairtrial.errors import InputError
from fairtrial.learners import C45, Chi
from fairtrial.reproduce.dobscv.learners import SmoteClassifier, UnitChi, make_synthetic_cases


class Keeper(DecisionTreeClassifier):
    """A tree that keeps its training data."""

    def fit(self, X, y):
        self.rows, self.labels = X, y
        return super().fit(X, y)


def test_new_cases_lie_between_a_case_and_one_of_its_five_nearest_in_parts_of_the_range():
    rng = np.random.default_rng(5)
    values = np.column_stack([rng.normal(size=60), 1000 * rng.normal(size=60)])
    rare = np.arange(12)
    made = make_synthetic_cases(values, np.array([False, False]), rare, 200, 5, 1)
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
    made = make_synthetic_cases(values, np.array([False]), np.array([0, 1, 2]), 300, 1, 2)[:, 0]
    # The nearest of 0 is 10, that of 10 is 0, and that of 30 is 10: a third of the new cases beyond 10.
    assert (made > 10).sum() == 100


def test_a_copy_is_no_neighbour_and_a_lonely_case_is_its_own():
    values = np.array([[0.0], [0.0], [0.0], [4.0], [9.0]])
    made = make_synthetic_cases(values, np.array([False]), np.array([0, 1, 2, 3]), 400, 2, 3)[:, 0]
    assert (made > 0).mean() > 0.99
    alone = make_synthetic_cases(values, np.array([False]), np.array([0, 1]), 6, 5, 3)
    assert alone.ravel().tolist() == [0.0] * 6


def test_nominal_values_come_from_either_parent():
    values = np.array([[0.0, 1.0], [1.0, 2.0], [5.0, 0.0]])
    made = make_synthetic_cases(values, np.array([False, True]), np.array([0, 1]), 100, 5, 4)
    assert set(made[:, 1]) == {1.0, 2.0}
    assert 20 < (made[:, 1] == 1.0).sum() < 80


@pytest.mark.parametrize("typed", [False, True])
def test_classes_are_equal_in_number_and_old_rows_stay(typed):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 3)), np.array(["rare"] * 8 + ["usual"] * 42)
    if typed:
        X = pd.DataFrame({"a": X[:, 0], "hue": pd.Categorical(np.where(X[:, 1] > 0, "red", "blue"))})
    kept = Keeper() if not typed else C45()
    model = SmoteClassifier(kept, random_state=1).fit(X, y)
    assert model.n_synthetic_ == 34
    if typed:
        assert set(model.predict(X)) <= {"rare", "usual"}
    else:
        assert pd.Series(model.learner_.labels).value_counts().tolist() == [42, 42]
        assert (model.learner_.rows[:50] == X).all()


def test_a_declared_class_without_rows_does_not_reach_the_learner():
    y = pd.Series(pd.Categorical(["a"] * 5 + ["b"] * 15, categories=["a", "b", "?"]))
    model = SmoteClassifier(Keeper(), random_state=1).fit(np.arange(20.0)[:, None], y)
    assert list(model.learner_.labels.cat.categories) == ["a", "b"]
    assert model.classes_.tolist() == ["a", "b"]


def test_the_same_seed_gives_the_same_cases_and_another_gives_others():
    values, nominal = np.random.default_rng(2).normal(size=(20, 2)), np.array([False, False])
    first, again, other = (make_synthetic_cases(values, nominal, np.arange(7), 9, 5, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_gaps_and_a_third_class_are_refused():
    with pytest.raises(InputError, match="no missing values"):
        SmoteClassifier(C45()).fit([[1.0], [np.nan], [2.0]], ["a", "b", "b"])
    with pytest.raises(InputError, match="2 classes"):
        SmoteClassifier(C45()).fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])


def test_only_methods_of_the_learner_are_there():
    X, y = np.arange(10.0)[:, None], np.array(["a"] * 3 + ["b"] * 7)
    model = SmoteClassifier(C45(), random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (10, 2)
    assert not hasattr(model, "decision_function")


@pytest.fixture
def rows():
    rng = np.random.default_rng(4)
    X = rng.uniform(0.2, 0.7, size=(80, 2))
    return X, np.where(X[:, 0] + 0.1 * rng.normal(size=80) > 0.45, "high", "low")


def test_it_is_chi_with_declared_ranges(rows):
    X, y = rows
    table = pd.DataFrame(X, columns=["a", "b"])
    new = np.random.default_rng(5).uniform(size=(200, 2))
    declared = Chi(ranges={"a": (0.0, 1.0), "b": (0.0, 1.0)}).fit(table, y)
    expected = declared.predict(pd.DataFrame(new, columns=["a", "b"]))
    assert UnitChi().fit(X, y).predict(new).tolist() == expected.tolist()
    assert UnitChi().fit(table, y).predict(pd.DataFrame(new, columns=["a", "b"])).tolist() == expected.tolist()
    assert (Chi().fit(X, y).predict(new) != expected).any()


def test_nominal_columns_need_no_range(rows):
    X, y = rows
    table = pd.DataFrame({"a": X[:, 0], "hue": pd.Categorical(np.where(X[:, 1] > 0.4, "red", "blue"))})
    assert UnitChi().fit(table, y).decision_function(table).shape == (80,)


@pytest.mark.parametrize("value", [-0.1, 1.2])
def test_rows_outside_are_refused(rows, value):
    X, y = rows
    with pytest.raises(InputError, match="declared ranges"):
        UnitChi().fit(np.vstack([X, [[value, 0.5]]]), [*y, "low"])
