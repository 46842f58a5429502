"""Properties of every splitter."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.resampling import (
    DBSCV,
    DOBSCV,
    Bootstrap,
    FiveByTwo,
    Given,
    GroupKFold,
    Holdout,
    KFold,
    LeaveGroupOut,
    LeaveOneOut,
    NestedCV,
    PairedSubsampling,
    RandomSubsampling,
    Repeated,
    StratifiedGroupKFold,
    StratifiedKFold,
    TenByTen,
)

MAKE = {
    "KFold": lambda seed: KFold(4, random_state=seed),
    "StratifiedKFold": lambda seed: StratifiedKFold(4, random_state=seed),
    "DBSCV": lambda seed: DBSCV(3, random_state=seed),
    "DOBSCV": lambda seed: DOBSCV(3, random_state=seed),
    "Repeated": lambda seed: Repeated(KFold(3), 3, random_state=seed),
    "Repeated, seed inside": lambda seed: Repeated(StratifiedKFold(3, random_state=seed), 2),
    "FiveByTwo": lambda seed: FiveByTwo(random_state=seed),
    "Holdout": lambda seed: Holdout(0.3, random_state=seed),
    "Holdout, plain": lambda seed: Holdout(5, stratify=False, random_state=seed),
    "RandomSubsampling": lambda seed: RandomSubsampling(4, test_size=0.25, random_state=seed),
    "GroupKFold": lambda seed: GroupKFold(3, random_state=seed),
    "GroupKFold, random": lambda seed: GroupKFold(3, balance=False, random_state=seed),
    "StratifiedGroupKFold": lambda seed: StratifiedGroupKFold(3, random_state=seed),
    "Repeated groups": lambda seed: Repeated(GroupKFold(2, balance=False), 2, random_state=seed),
    "Bootstrap": lambda seed: Bootstrap(5, random_state=seed),
    "Bootstrap, stratified": lambda seed: Bootstrap(5, stratify=True, random_state=seed),
    "NestedCV": lambda seed: NestedCV(3, random_state=seed),
    "PairedSubsampling": lambda seed: PairedSubsampling(2, 2, 0.8, random_state=seed),
}
FIXED = {
    "LeaveOneOut": lambda _: LeaveOneOut(),
    "LeaveGroupOut": lambda _: LeaveGroupOut(2),
    "Given": lambda _: Given([(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]),
}
EVERY = MAKE | FIXED
FOLDS = [
    name
    for name in EVERY
    if "KFold" in name or name in ("LeaveOneOut", "Repeated", "FiveByTwo", "Repeated groups", "DOBSCV", "DBSCV")
]
GROUPED = [name for name in EVERY if "roup" in name]
STRATIFIED = ["StratifiedKFold", "FiveByTwo", "Repeated, seed inside", "DOBSCV", "DBSCV"]


@st.composite
def tables(draw):
    """A table of 12 or more rows: two to four classes, the largest of at least six rows, four or more groups, and a seed."""
    n = draw(st.integers(12, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes = draw(st.integers(2, 4))
    y = np.where(rng.random(n) < 0.7, 0, rng.integers(0, classes, n))
    order = rng.permutation(n)
    y[order[: 2 * classes]] = np.repeat(np.arange(classes), 2)
    y[order[2 * classes : 2 * classes + 4]] = 0  # one class has a row for each fold
    groups = rng.integers(0, draw(st.integers(4, n)), n)
    groups[rng.permutation(n)[:4]] = np.arange(4)
    return rng.normal(size=(n, 2)), y, groups, draw(st.integers(0, 2**31))


def listed(splitter, X, y, groups):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)
        return list(splitter.split(X, y, groups))


def same(first, second):
    return len(first) == len(second) and all(
        np.array_equal(a, b) for one, other in zip(first, second, strict=True) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=12, deadline=None)
@given(table=tables())
def test_sides_are_disjoint_and_neither_is_empty(name, table):
    X, y, groups, seed = table
    splitter = EVERY[name](seed)
    splits = listed(splitter, X, y, groups)
    assert len(splits) == splitter.get_n_splits(X, y, groups)
    for train, test in splits:
        assert len(train)
        assert len(test)
        assert not set(train) & set(test)
        assert len(set(test)) == len(test)
        assert {*train, *test} <= set(range(len(X)))
        if name not in ("Given", "NestedCV", "PairedSubsampling"):  # these leave rows out on purpose
            assert {*train, *test} == set(range(len(X)))


@pytest.mark.parametrize("name", FOLDS)
@settings(max_examples=12, deadline=None)
@given(table=tables())
def test_folds_test_each_row_once_in_each_repeat(name, table):
    X, y, groups, seed = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)
        splits = EVERY[name](seed).freeze(X, y, groups)
    for _, part in splits.frame().groupby("repeat"):
        assert sorted(part["row"]) == list(range(len(X)))
        if "roup" not in name:
            sizes = part.groupby("fold").size()
            assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("name", STRATIFIED)
@settings(max_examples=12, deadline=None)
@given(table=tables())
def test_stratified_folds_have_the_same_count_of_each_class_to_within_one(name, table):
    X, y, groups, seed = table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)
        splits = EVERY[name](seed).freeze(X, y, groups)
    for _, part in splits.frame().groupby("repeat"):
        counts = pd.crosstab(part["fold"], y[part["row"]])
        assert (counts.max() - counts.min()).max() <= 1


@pytest.mark.parametrize("name", GROUPED)
@settings(max_examples=12, deadline=None)
@given(table=tables())
def test_no_group_is_on_both_sides(name, table):
    X, y, groups, seed = table
    for train, test in listed(EVERY[name](seed), X, y, groups):
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("name", EVERY)
@settings(max_examples=6, deadline=None)
@given(table=tables())
def test_one_seed_gives_one_answer_and_the_frozen_one(name, table):
    X, y, groups, seed = table
    splitter = EVERY[name](seed)
    first = listed(splitter, X, y, groups)
    assert same(first, listed(splitter, X, y, groups))
    assert same(first, listed(EVERY[name](seed), X.tolist(), y.tolist(), groups.tolist()))
    assert same(first, listed(copy.deepcopy(splitter), X, y, groups))
    assert same(first, listed(pickle.loads(pickle.dumps(splitter)), X, y, groups))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuspectInputWarning)
        frozen = splitter.freeze(X, y, groups)
    assert same(first, list(frozen))
    assert same(first, list(frozen.split(X)))
    assert frozen.scheme == ("given" if name == "Given" else repr(splitter))


POINTS = np.random.default_rng(0).normal(size=(48, 2))
CLASSES = np.tile([0, 1, 0, 1, 1, 0], 8)
GROUPS = np.repeat(np.arange(12), 4)


@pytest.mark.parametrize("name", MAKE)
def test_seeds_differ(name):
    found = {tuple(np.concatenate([test for _, test in MAKE[name](seed).split(POINTS, CLASSES, GROUPS)])) for seed in range(20)}
    assert len(found) == 20


@pytest.mark.parametrize("name", MAKE)
def test_a_generator_moves_on_and_no_seed_draws_anew(name):
    for seed in (np.random.default_rng(3), np.random.RandomState(3), None):
        splitter = MAKE[name](seed)
        assert not same(list(splitter.split(POINTS, CLASSES, GROUPS)), list(splitter.split(POINTS, CLASSES, GROUPS)))


@pytest.mark.parametrize("name", MAKE)
def test_a_seed_given_to_freeze_takes_the_place_of_the_own_one(name):
    other = MAKE[name](1).freeze(POINTS, CLASSES, GROUPS, random_state=2)
    assert other.content_hash == MAKE[name](2).freeze(POINTS, CLASSES, GROUPS).content_hash
    assert other.content_hash != MAKE[name](1).freeze(POINTS, CLASSES, GROUPS).content_hash


@pytest.mark.parametrize("name", EVERY)
def test_input_is_not_written_to(name):
    X, y, groups = POINTS[:12].copy(), CLASSES[:12].copy(), np.arange(12) % 6
    kept = X.copy(), y.copy(), groups.copy()
    for each in (X, y, groups):
        each.flags.writeable = False
    listed(EVERY[name](1), X, y, groups)
    assert all(np.array_equal(*pair) for pair in zip(kept, (X, y, groups), strict=True))


@pytest.mark.parametrize("name", EVERY)
def test_repr_builds_the_same_splitter(name):
    splitter = EVERY[name](7)
    if name == "Given":
        assert repr(splitter) == "Given(2 splits)"
        return
    again = eval(repr(splitter))
    assert repr(again) == repr(splitter)
    assert same(list(again.split(POINTS, CLASSES, GROUPS)), list(splitter.split(POINTS, CLASSES, GROUPS)))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("kind", ["list", "frame", "sparse", "category", "polars"])
def test_scikit_learn_takes_it_as_cv(name, kind):
    rows = 12 if name == "Given" else 24
    X, y, groups = POINTS[:rows], CLASSES[:rows], np.arange(rows) % 6
    splitter = EVERY[name](1)
    expected = cross_val_score(KNeighborsClassifier(1), X, y, cv=list(splitter.split(X, y, groups)))
    given_as = {
        "list": (X.tolist(), y.tolist(), groups.tolist()),
        "frame": (pd.DataFrame(X).add_prefix("x"), pd.Series(y), pd.Series(groups)),
        "sparse": (sparse.csr_matrix(X), y, groups),
        "category": (
            pd.DataFrame(X).add_prefix("x"),
            pd.Series(pd.Categorical(y, categories=[0, 1, 2])),
            pd.Series(groups).astype("category"),
        ),
        "polars": (X, pytest.importorskip("polars").Series(y), groups),
    }[kind]
    found = cross_val_score(KNeighborsClassifier(1), given_as[0], given_as[1], groups=given_as[2], cv=splitter)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", EVERY)
def test_grid_search_takes_and_clones_it(name):
    rows = 12 if name == "Given" else 24
    X, y, groups = POINTS[:rows], CLASSES[:rows], np.arange(rows) % 6
    splitter = EVERY[name](1)
    assert check_cv(splitter) is splitter
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=splitter).fit(X, y, groups=groups)
    assert search.n_splits_ == splitter.get_n_splits(X, y, groups)
    if "roup" not in name:
        inside = cross_val_score(search, X, y, cv=KFold(2, random_state=1)) if name != "Given" else np.ones(2)
        assert np.isfinite(inside).all()


@pytest.mark.parametrize("name", EVERY)
def test_metadata_routing_brings_groups_to_those_who_ask(name):
    rows = 12 if name == "Given" else 48
    X, y, groups = POINTS[:rows], CLASSES[:rows], np.arange(rows) % 6
    splitter = EVERY[name](1)
    with config_context(enable_metadata_routing=True):
        params = {"groups": groups} if "roup" in name else None
        found = cross_validate(GaussianNB(), X, y, cv=splitter, params=params)["test_score"]
    assert len(found) == splitter.get_n_splits(X, y, groups)


@pytest.mark.parametrize(
    "name", ["KFold", "Repeated", "Holdout, plain", "GroupKFold", "LeaveOneOut", "LeaveGroupOut", "Bootstrap"]
)
def test_schemes_that_do_not_look_at_y_take_numbers_and_tables(name):
    y = POINTS[:, 0] * 1.5
    groups = np.arange(48) % 6
    assert len(cross_val_score(Ridge(), POINTS, y, groups=groups, cv=EVERY[name](1), scoring="neg_mean_squared_error")) > 0
    one, two = (list(EVERY[name](1).split(POINTS, target, groups)) for target in (None, np.column_stack([y, y])))
    assert same(one, two)


@pytest.mark.parametrize("name", ["StratifiedKFold", "FiveByTwo", "Holdout", "RandomSubsampling", "Bootstrap, stratified"])
class TestStratified:
    def test_needs_y(self, name):
        with pytest.raises(InputError, match=r"^y\b"):
            list(EVERY[name](1).split(POINTS))

    def test_refuses_numbers(self, name):
        with pytest.raises(InputError, match=r"^y\b"):
            list(EVERY[name](1).split(POINTS, np.full(48, 0.5)))

    def test_refuses_missing_classes(self, name):
        with pytest.raises(InputError, match=r"^y\b.*\b3\b"):
            list(EVERY[name](1).split(POINTS, pd.Series(CLASSES).where(np.arange(48) != 3)))

    @pytest.mark.parametrize("names", [("no", "yes"), ("yes", "no"), (1.0, 0.0), (True, False)])
    def test_other_names_for_the_classes_change_nothing(self, name, names):
        expected = list(EVERY[name](1).split(POINTS, CLASSES))
        assert same(expected, list(EVERY[name](1).split(POINTS, [names[code] for code in CLASSES])))


@pytest.mark.parametrize("name", GROUPED)
class TestGrouped:
    def test_needs_groups(self, name):
        with pytest.raises(InputError, match=r"^groups\b"):
            list(EVERY[name](1).split(POINTS, CLASSES))

    @pytest.mark.parametrize("missing", [None, np.nan])
    def test_refuses_rows_without_a_group(self, name, missing):
        with pytest.raises(InputError, match="groups"):
            list(EVERY[name](1).split(POINTS, CLASSES, [missing, *GROUPS[1:]]))

    def test_names_of_groups_may_be_text_or_fractions(self, name):
        expected = list(EVERY[name](1).split(POINTS, CLASSES, GROUPS))
        assert same(expected, list(EVERY[name](1).split(POINTS, CLASSES, [f"group {code:02}" for code in GROUPS])))
        assert same(expected, list(EVERY[name](1).split(POINTS, CLASSES, GROUPS / 7)))


@pytest.mark.parametrize("name", EVERY)
def test_rows_must_match(name):
    with pytest.raises(InputError, match=r"48.*47"):
        list(EVERY[name](1).split(POINTS, CLASSES[1:], GROUPS))
    with pytest.raises(InputError, match=r"48.*47"):
        list(EVERY[name](1).split(POINTS, CLASSES, GROUPS[1:]))
    with pytest.raises(InputError, match=r"^X\b.*0"):
        list(EVERY[name](1).split([]))


def test_shorthands():
    assert TenByTen().get_n_splits() == 100
    assert FiveByTwo().get_n_splits() == 10
