import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold as SklearnGroupKFold,
    KFold as SklearnKFold,
    ParameterGrid,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling import GroupKFold, Holdout, KFold, Repeated, Splits, StratifiedKFold, nested

X, y = load_iris(return_X_y=True)
X, y = X[50::2, :2], y[50::2]
GRID = {"max_depth": [1, 2, 4], "min_samples_leaf": [1, 5]}
SHORT = {"max_depth": [1, 3]}
LEARNER = DecisionTreeClassifier(random_state=0)


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc", make_scorer(lambda a, b: -np.mean(a != b))])
def test_equals_a_grid_search_inside_cross_validation(scoring):
    inner, outer = StratifiedKFold(3, random_state=2), Repeated(StratifiedKFold(3), 2, random_state=1)
    found = nested(LEARNER, GRID, X, y, inner=inner, outer=outer, scoring=scoring)
    expected = cross_val_score(GridSearchCV(LEARNER, GRID, cv=inner, scoring=scoring), X, y, cv=outer, scoring=scoring)
    assert [fold.outer_score for fold in found.folds] == expected.tolist()
    assert found.estimate == expected.mean()


def test_by_a_plain_loop():
    """No search of scikit-learn: every setting, every inner split, the first of the best."""
    inner, outer = StratifiedKFold(3, random_state=2), StratifiedKFold(4, random_state=1)
    found = nested(LEARNER, GRID, X, y, inner=inner, outer=outer, scoring="balanced_accuracy")
    score = get_scorer("balanced_accuracy")
    for fold, (train, test) in zip(found.folds, outer.split(X, y), strict=True):
        means = [
            np.mean(
                [
                    score(clone(LEARNER).set_params(**setting).fit(X[train][a], y[train][a]), X[train][b], y[train][b])
                    for a, b in inner.split(X[train], y[train])
                ]
            )
            for setting in ParameterGrid(GRID)
        ]
        best = int(np.argmax(np.round(means, 12)))
        assert fold.best_params == list(ParameterGrid(GRID))[best]
        assert fold.inner_score == pytest.approx(means[best])
        learner = clone(LEARNER).set_params(**fold.best_params).fit(X[train], y[train])
        assert fold.outer_score == score(learner, X[test], y[test])
        assert (fold.n_train, fold.n_test) == (len(train), len(test))


def test_scikit_learns_splitters_and_decided_ones_serve_too():
    outer = SklearnKFold(3, shuffle=True, random_state=1)
    expected = nested(LEARNER, SHORT, X, y, inner=SklearnKFold(3), outer=outer)
    again = nested(LEARNER, SHORT, X, y, inner=SklearnKFold(3), outer=Splits.from_pairs(outer.split(X), len(X)))
    theirs = cross_val_score(GridSearchCV(LEARNER, SHORT, cv=SklearnKFold(3)), X, y, cv=outer)
    assert [f.outer_score for f in expected.folds] == [f.outer_score for f in again.folds] == theirs.tolist()


def test_groups_stay_together_inside_and_outside():
    groups = np.arange(len(y)) // 5
    outer, inner = GroupKFold(2, random_state=1), SklearnGroupKFold(2)
    found = nested(LEARNER, GRID, X, y, inner=inner, outer=outer, groups=groups)
    for fold, (train, test) in zip(found.folds, outer.split(X, y, groups), strict=True):
        search = GridSearchCV(LEARNER, GRID, cv=inner).fit(X[train], y[train], groups=groups[train])
        assert fold.outer_score == search.score(X[test], y[test])
        assert fold.best_params == search.best_params_


def test_one_seed_decides_all_and_own_seeds_are_kept():
    def scores(inner=None, outer=None, seed=None):
        found = nested(LEARNER, SHORT, X, y, inner=inner, outer=outer, random_state=seed)
        return [(fold.inner_score, fold.outer_score) for fold in found.folds]

    assert scores(seed=1) == scores(seed=1) != scores(seed=2)
    seeded = {"inner": StratifiedKFold(3, random_state=1), "outer": Repeated(KFold(2, random_state=1), 2)}
    assert scores(**seeded, seed=1) == scores(**seeded, seed=2)


def test_tables_with_names_and_regression():
    frame, classes = pd.DataFrame(X, columns=["a", "b"], index=np.arange(len(y)) + 3), pd.Series(y)
    expected = nested(LEARNER, SHORT, X, y, random_state=1)
    assert nested(LEARNER, SHORT, frame, classes, random_state=1).estimate == expected.estimate
    rng = np.random.default_rng(0)
    target = X @ [1.0, 2.0] + rng.normal(size=len(X))
    found = nested(Ridge(), [{"alpha": [0.1]}, {"alpha": [1.0, 10.0]}], X, target, random_state=1)
    assert str(found).startswith("R2 0.")
    assert len(found.folds) == 5


def test_text():
    found = nested(LEARNER, GRID, X, y, random_state=1)
    assert list(found.frame().columns) == [
        *("repeat", "fold", "n_train", "n_test", "inner_score", "outer_score"),
        *("max_depth", "min_samples_leaf"),
    ]
    first, *_ = str(found).splitlines()
    assert all(
        value in first for value in ("accuracy", f"{found.estimate:.4f}", f"{found.standard_error:.4f}", "5 outer splits")
    )
    assert 1 <= len(found.caveats) == str(found).count("\n") - len(found.folds)
    assert "repeat 0 fold 0: inner 0." in found._repr_html_()
    scores = found.frame()["outer_score"]
    assert found.standard_error == pytest.approx(np.sqrt((1 / 5 + 10 / 40) * scores.var()))


def test_one_outer_split_has_no_standard_error():
    found = nested(GaussianNB(), {"var_smoothing": [1e-9]}, X, y, outer=Holdout(random_state=1), random_state=1)
    assert np.isnan(found.standard_error)
    assert "1 outer split" in str(found)
    assert len(found.caveats) <= 2


def test_what_cannot_be():
    with pytest.raises(InputError, match=r"outer.*5"):
        nested(LEARNER, GRID, X, y, outer=5)
    with pytest.raises(InputError, match="inner"):
        nested(LEARNER, GRID, X, y, inner=KFold(2).freeze(X))
    with pytest.raises(LearnerError, match=r"DecisionTreeClassifier.*max_depth"):
        nested(LEARNER, {"max_depth": [-1]}, X, y, random_state=1)


def test_default_splits_keep_groups_together():
    """Random labels by group, one attribute that identifies the group: only a leak makes predictions better than chance."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    labels = rng.integers(0, 2, 60)[groups]
    identifier = rng.permutation(60)[groups][:, None] + rng.normal(scale=0.01, size=(300, 1))
    found = nested(
        DecisionTreeClassifier(random_state=0), {"max_depth": [None]}, identifier, labels, groups=groups, random_state=1
    )
    leaking = nested(DecisionTreeClassifier(random_state=0), {"max_depth": [None]}, identifier, labels, random_state=1)
    assert leaking.estimate > 0.95
    assert abs(found.estimate - 0.5) < 4 * 0.5 / 60**0.5  # 60 independent groups
    assert abs(found.folds[0].inner_score - 0.5) < 4 * 0.5 / 48**0.5


@pytest.mark.parametrize("side", ["inner", "outer"])
@pytest.mark.parametrize("cv", [KFold(3), SklearnKFold(3, shuffle=True, random_state=0)], ids=["ours", "theirs"])
def test_splits_that_divide_a_group_are_refused(side, cv):
    groups = np.array(["ann", "bob", "cid", "dee", "eve"] * 10)
    with pytest.raises(InputError, match=rf"{side} must keep groups together, got KFold.*pass GroupKFold\(5\), or omit groups"):
        nested(LEARNER, SHORT, X, y, groups=groups, **{"inner": GroupKFold(2), "outer": GroupKFold(2)} | {side: cv})


def test_groups_must_have_one_entry_per_row():
    with pytest.raises(InputError, match="arrays must have the same number of rows"):
        nested(LEARNER, SHORT, X, y, groups=[1, 2, 3])
