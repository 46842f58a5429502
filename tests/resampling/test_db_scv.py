"""DB-SCV: the walk by brute force, sizes, determinism."""

import numpy as np
import pytest
from hypothesis import given, settings

from fairtrial.errors import InputError
from fairtrial.resampling.dob_scv import DBSCV, as_cases, split_rows_by_class
from tests.reference import dob_scv as reference
from tests.resampling.test_dob_scv import folds_of, tables


@given(tables())
@settings(max_examples=40, deadline=None)
def test_folds_in_turn_along_the_walk(table):
    X, y, k, _ = table
    rng, cases = np.random.default_rng(5), as_cases(X)
    classes = split_rows_by_class(y)
    starts = [int(rng.integers(len(rows))) for rows in classes]
    walk = [rows[reference.chain(cases.points[rows], cases.kinds, start)] for rows, start in zip(classes, starts, strict=True)]
    folds = folds_of(DBSCV(k, random_state=5), X, y)
    assert folds[np.concatenate(walk)].tolist() == [place % k for place in range(len(y))]
    assert np.ptp(np.bincount(folds, minlength=k)) <= 1
    for label in np.unique(y):
        assert np.ptp(np.bincount(folds[y == label], minlength=k)) <= 1


def test_a_line_is_dealt_out_in_order():
    X = np.array([[0.0], [1.0], [2.1], [3.3], [4.6], [6.0]])
    for seed in range(20):
        folds = folds_of(DBSCV(3, random_state=seed), X, [0] * 6)
        # From an end the walk goes straight on, and next to it as well once the end itself is visited.
        if folds[0] == 0 and folds[1] == 1:
            assert folds.tolist() == [0, 1, 2, 0, 1, 2]
            return
    pytest.fail("no walk of twenty began at the end")


def test_the_start_is_drawn():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.zeros(60, int)
    firsts = {tuple(folds_of(DBSCV(2, random_state=seed), X, y)) for seed in range(8)}
    assert len(firsts) > 1
    assert np.array_equal(folds_of(DBSCV(2, random_state=1), X, y), folds_of(DBSCV(2, random_state=1), X, y))


def test_classes_are_needed():
    with pytest.raises(InputError, match=r"^y\b.*DBSCV"):
        next(DBSCV(3).split(np.arange(8.0)[:, None]))
