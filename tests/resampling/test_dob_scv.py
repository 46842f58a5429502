"""DOB-SCV: groups by brute force, sizes, determinism, the folds of outliers, and KEEL's files."""

import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.kernels.neighbours import find_keel_groups
from fairtrial.resampling.dob_scv import DOBSCV, as_cases, as_keel_cases, assign_shuffled_folds, split_rows_by_class
from tests.reference import dob_scv as reference

KEEL_SETS = ("bupa", "glass", "iris", "pima", "vehicle", "wine")
ASSIGN = ("shuffled", "literal", "keel")


def folds_of(splitter, X, y):
    folds = np.full(len(y), -1)
    for fold, (train, test) in enumerate(splitter.split(X, y)):
        assert (folds[test] == -1).all()
        assert np.array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))
        folds[test] = fold
    assert (folds >= 0).all()
    return folds


@st.composite
def tables(draw):
    """Numbers with ties and copies, or with nominal and missing values beside them; classes with a case for each fold."""
    k = draw(st.integers(2, 6))
    counts = draw(st.lists(st.integers(k, 40), min_size=1, max_size=4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = sum(counts)
    X = rng.normal(size=(n, draw(st.sampled_from([1, 2, 14])))).round(draw(st.sampled_from([0, 1, 10])))
    if draw(st.booleans()):
        X = pd.DataFrame(X).assign(colour=pd.Categorical(rng.choice(["a", "b", "c"], n)))
        X = X.mask(rng.random(X.shape) < 0.1)
    return X, rng.permutation(np.repeat(np.arange(len(counts)), counts)), k, rng


@given(tables())
@settings(max_examples=40, deadline=None)
def test_sizes_differ_by_one_at_most(table):
    X, y, k, _ = table
    folds = folds_of(DOBSCV(k, random_state=3), X, y)
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for label in np.unique(y):
        assert np.ptp(np.bincount(folds[y == label], minlength=k)) <= 1


@given(tables())
@settings(max_examples=40, deadline=None)
def test_literal_is_the_printed_algorithm(table):
    X, y, k, _ = table
    rng = np.random.default_rng(7)
    classes = split_rows_by_class(y)
    seeds = [rng.permutation(len(rows)) for rows in classes]
    cases = as_cases(X)
    expected = np.empty(len(y), int)
    for rows, order in zip(classes, seeds, strict=True):
        taken = reference.groups(cases.points[rows], cases.kinds, order, k)
        expected[rows[taken]] = np.arange(len(rows)) % k
    np.testing.assert_array_equal(folds_of(DOBSCV(k, assign="literal", random_state=7), X, y), expected)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_shuffled_spreads_the_same_groups(table):
    X, y, k, _ = table
    literal = folds_of(DOBSCV(k, assign="literal", random_state=7), X, y)
    shuffled = folds_of(DOBSCV(k, random_state=7), X, y)
    rng, cases = np.random.default_rng(7), as_cases(X)
    classes = split_rows_by_class(y)
    for rows, order in zip(classes, [rng.permutation(len(rows)) for rows in classes], strict=True):
        taken = rows[reference.groups(cases.points[rows], cases.kinds, order, k)]
        for start in range(0, len(rows), k):
            group = taken[start : start + k]
            assert literal[group].tolist() == list(range(len(group)))
            assert len(set(shuffled[group])) == len(group)


@pytest.mark.parametrize("assign", ASSIGN)
def test_a_seed_decides_everything(assign, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    one = folds_of(DOBSCV(5, assign=assign, random_state=1), X, y)
    monkeypatch.setenv("FAIRTRIAL_THREADS", "1")
    assert np.array_equal(one, folds_of(DOBSCV(5, assign=assign, random_state=1), X, y))
    assert np.array_equal(one, folds_of(DOBSCV(5, assign=assign, random_state=1), X, np.array(["z", "y", "x"])[y]))
    assert not np.array_equal(one, folds_of(DOBSCV(5, assign=assign, random_state=2), X, y))


def test_every_order_of_the_folds_comes_equally_often():
    rng = np.random.default_rng(0)
    folds = assign_shuffled_folds([30_000, 2], 3, rng)
    assert folds[:30_000].reshape(-1, 3).sum(axis=1).tolist() == [3] * 10_000
    _, counts = np.unique(folds[:30_000].reshape(-1, 3), axis=0, return_counts=True)
    assert len(counts) == 6
    assert ((counts - 10_000 / 6) ** 2 / (10_000 / 6)).sum() < 20.5  # chi-squared, 5 degrees of freedom: p = 0.001
    rests = [assign_shuffled_folds([4, 2], 3, rng)[[3, 4, 5]].tolist() for _ in range(300)]
    assert all(sorted(rest) == [0, 1, 2] for rest in rests)
    assert {tuple(rest) for rest in rests} == {(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)}


def test_literal_gathers_outliers_in_fold_one_and_shuffled_does_not():
    excess = {assign: [] for assign in ASSIGN}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(600, 4)), np.repeat([0, 1], 300)
        for assign, found in excess.items():
            folds = folds_of(DOBSCV(5, assign=assign, random_state=seed), X, y)
            out = reference.outlyingness_by_fold(X, y, folds)
            found.append(out[0] / out[1:].mean() - 1)
    means = {assign: np.mean(found) for assign, found in excess.items()}
    errors = {assign: np.std(found) / 20**0.5 for assign, found in excess.items()}
    assert 0.10 < means["literal"] < 0.26
    assert means["keel"] > 0.10
    assert abs(means["shuffled"]) < 3 * errors["shuffled"]


def test_copies_stay_behind_in_keels_way():
    X = np.r_[np.zeros((40, 2)), np.random.default_rng(0).normal(size=(40, 2))]
    y = np.zeros(80, int)
    assert (folds_of(DOBSCV(4, assign="keel", random_state=0), X, y)[:40] == 0).mean() > 0.5
    assert np.bincount(folds_of(DOBSCV(4, random_state=0), np.zeros((20, 2)), y[:20])).tolist() == [5, 5, 5, 5]
    with pytest.raises(InputError, match=r"assign.*'keel'.*fold 2.*assign='shuffled'"):
        DOBSCV(4, assign="keel").freeze(np.zeros((20, 2)), y[:20])


def published(folder, name):
    """KEEL's test files in their order: values, classes, folds."""
    rows, folds = [], []
    with zipfile.ZipFile(folder / "keel-standard-10fold" / f"{name}-10dobscv.zip") as archive:
        for fold in range(10):
            member = next(each for each in archive.namelist() if re.search(rf"-{fold + 1}tst\.dat$", each))
            lines = archive.read(member).decode("latin-1").splitlines()
            found = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
            rows += found
            folds += [fold] * len(found)
    return np.array([row[:-1] for row in rows], float), np.array([row[-1].strip() for row in rows]), np.array(folds)


@pytest.mark.parametrize("name", KEEL_SETS)
def test_keels_published_folds_come_out_case_for_case(shared_data, name):
    # A test file lists its cases in the order in which they were dealt, so fold 1 tells which cases were the seeds. Ties go by
    # row, so the cases must stand as in KEEL's data file, and copies are the same to all intents.
    X, y, folds = published(shared_data, name)
    lines = (shared_data / "keel-standard" / f"{name}.dat").read_text("latin-1").splitlines()
    data = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    values, labels = np.array([row[:-1] for row in data], float), np.array([row[-1].strip() for row in data])
    cases = as_keel_cases(values, np.unique(labels, return_inverse=True)[1])
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        seeds = in_file(values[own], X[(folds == 0) & (y == label)])
        rest = np.setdiff1d(np.arange(len(own)), seeds)
        taken, places = find_keel_groups(cases.points[own], cases.weights, cases.proportions, np.r_[seeds, rest], 10)
        for fold in range(10):
            np.testing.assert_array_equal(values[own][taken[places == fold]], X[(folds == fold) & (y == label)])


def in_file(values, wanted):
    """Where rows stand among the values; a copy goes to the next equal row."""
    free = {}
    for place, row in enumerate(values.tolist()):
        free.setdefault(tuple(row), []).append(place)
    return np.array([free[tuple(row)].pop(0) for row in wanted.tolist()], dtype=int)


def test_keels_published_fold_one_lies_farther_out(shared_data):
    # REFERENCE says +9.7 % without saying how it was measured; ways of measuring give +8 to +13 %.
    rng, found, chance = np.random.default_rng(0), [], []
    for name in KEEL_SETS:
        X, y, folds = published(shared_data, name)
        found.append(reference.outlyingness_by_fold(X, y, folds))
        chance.append([reference.outlyingness_by_fold(X, y, mixed_within(y, folds, rng))[0] for _ in range(200)])
    mean = np.mean(found, axis=0)
    assert 0.08 < mean[0] / mean[1:].mean() - 1 < 0.13
    assert np.argmax(mean) == 0
    assert np.mean(np.mean(chance, axis=0) >= mean[0]) < 0.05


def mixed_within(y, folds, rng):
    """The folds of each class in another order."""
    mixed = folds.copy()
    for label in np.unique(y):
        mixed[y == label] = rng.permutation(folds[y == label])
    return mixed


@pytest.mark.parametrize("assign", ["Shuffled", "keels", None])
def test_unknown_assign(assign):
    with pytest.raises(InputError, match="assign"):
        DOBSCV(5, assign=assign)


def test_small_classes_are_suspect():
    with pytest.warns(SuspectInputWarning, match="3 folds"):
        folds = folds_of(DOBSCV(3, random_state=0), np.arange(8.0)[:, None], [0] * 6 + [1] * 2)
    assert len(set(folds[6:])) == 2
    with pytest.raises(InputError, match=r"^y\b.*DOBSCV"):
        next(DOBSCV(3).split(np.arange(8.0)[:, None]))


def test_it_is_a_cv_for_scikit_learn():
    from sklearn.datasets import load_iris
    from sklearn.model_selection import cross_val_score
    from sklearn.naive_bayes import GaussianNB

    X, y = load_iris(return_X_y=True)
    assert cross_val_score(GaussianNB(), X, y, cv=DOBSCV(5, random_state=0)).mean() == pytest.approx(0.953, abs=0.02)
    assert repr(DOBSCV(10, assign="literal")) == "DOBSCV(n_splits=10, assign='literal')"
