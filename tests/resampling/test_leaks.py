"""Duplicates across training and test sets: counts equal a search through all pairs, expectations those of chance."""

import sys

import numpy as np
import pytest

from fairtrial.resampling.audit import count_leaks, find_equal_rows, find_leak_problems
from fairtrial.resampling.layout import read_layout
from tests.reference import two_sample as reference
from tests.reference.folds import as_splits, stratified


def found(splits, X, y, seed=0):
    return count_leaks(read_layout(splits, (X, y)), 199, np.random.default_rng(seed))


def test_counts_equal_a_search_through_all_pairs():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, size=(60, 2)).astype(float), rng.integers(0, 2, size=60)
    X[5] = X[6] = np.nan
    layout = read_layout(stratified(y, 4, rng), (X, y))
    counts = count_leaks(layout, 99, rng)
    for s, side in enumerate(layout.compute_sides().T):
        assert (counts.duplicates[s], counts.conflicts[s]) == reference.twins(X, y, side)


def test_many_splits_are_all_counted():
    X, y = np.array([[1.0], [1.0], [2.0], [3.0]]), np.zeros(4, dtype=int)
    counts = found([([0, 2], [1, 3]), ([1, 3], [0, 2])] * 60, X, y)
    assert counts.duplicates.tolist() == [1] * 120
    assert np.isnan(counts.expected_duplicates).sum() == 20


def test_what_chance_leaves_of_pairs():
    """Of two equal rows in five equal folds the other one is in another fold with probability 40/49."""
    X, y = np.repeat(np.arange(25.0), 2)[:, None], np.zeros(50, dtype=int)
    counts = found(stratified(y, 5, np.random.default_rng(0)), X, y)
    assert counts.expected_duplicates.sum() == pytest.approx(50 * 40 / 49, rel=0.03)
    assert counts.conflicts.sum() == 0


def test_pairs_that_are_always_torn_apart_are_more_than_chance():
    X, y = np.repeat(np.arange(60.0), 2)[:, None], np.zeros(120, dtype=int)
    layout = read_layout(as_splits(np.arange(120) % 5), (X, y))
    counts = count_leaks(layout, 199, np.random.default_rng(0))
    assert counts.duplicates.sum() == 120
    assert counts.p_duplicates <= 0.01
    (finding,) = find_leak_problems(layout, counts, 0.05)
    assert finding.level == "caution"
    assert finding.kind == "duplicates_above_chance"
    assert (finding.values["rows"], finding.values["test_rows"], finding.values["p"]) == (120, 120, counts.p_duplicates)


@pytest.mark.parametrize(("asked", "drawn"), [(19, 19), (25, 25), (199, 199), (499, 199)])
def test_the_number_of_permutations(asked, drawn):
    X, y = np.repeat(np.arange(60.0), 2)[:, None], np.zeros(120, dtype=int)
    counts = count_leaks(read_layout(as_splits(np.arange(120) % 5), (X, y)), asked, np.random.default_rng(0))
    assert counts.n_drawn == drawn
    assert counts.p_duplicates == pytest.approx(1 / (drawn + 1))


def test_never_fewer_than_can_show_anything(monkeypatch):
    monkeypatch.setattr(sys.modules["fairtrial.resampling.audit"], "_MAX_LEAK_WORK", 1)
    X, y = np.repeat(np.arange(60.0), 2)[:, None], np.zeros(120, dtype=int)
    counts = count_leaks(read_layout(as_splits(np.arange(120) % 5), (X, y)), 499, np.random.default_rng(0))
    assert counts.n_drawn == 19
    assert counts.p_duplicates <= 0.05


def test_data_that_repeat_themselves_are_a_note():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, size=(60, 1)).astype(float), rng.integers(0, 2, size=60)
    layout = read_layout(stratified(y, 5, rng), (X, y))
    findings = {each.check: each for each in find_leak_problems(layout, count_leaks(layout, 199, rng), 0.05)}
    assert {name: each.level for name, each in findings.items()} == {"duplicates": "note", "conflicts": "note"}
    assert {each.kind for each in findings.values()} == {"duplicates_by_chance", "conflicts_by_chance"}


def test_different_rows_leak_nothing():
    counts = found([([0, 1], [2]), ([2], [0, 1])], [[1.0], [2.0], [3.0]], ["a", "b", "a"])
    assert counts.duplicates.tolist() == counts.conflicts.tolist() == [0, 0]
    assert counts.p_duplicates == 1.0
    assert counts.n_drawn == 0


def test_minus_zero_is_zero_and_missing_is_missing():
    rows, groups = find_equal_rows(np.array([[0.0, np.nan], [-0.0, -np.nan], [1.0, 2.0]]))
    assert rows.tolist() == [0, 1]
    assert groups.tolist() == [0, 0]
