"""Splits and intervals of nested cross-validation and conservative z.

Expected figures of the intervals come from mlr3inferr 0.2.2.9000 (commit f8401a9): the methods `.ci` of MeasureCiNestedCV and
MeasureCiConZ were run unchanged in R 4.2.2 on the same losses.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.errors import InputError
from fairtrial.resampling import (
    KFold,
    NestedCV,
    PairedSubsampling,
    Repeated,
    Split,
    Splits,
    conservative_z_interval,
    nested_cv_interval,
)
from tests.reference import generalisation as reference

FOLDS, REPEATS, ROWS = 4, 3, 22


def make_nested_splits():
    """Splits in the order of mlr3inferr, with a fixed assignment of 22 rows to 4 folds in 3 repeats."""
    splits = []
    for repeat in range(REPEATS):
        folds = np.array([(row * (2 * repeat + 3) + repeat) % ROWS % FOLDS for row in range(ROWS)])
        pairs = [(fold, fold) for fold in range(FOLDS)]
        pairs += [(left, tested) for left in range(FOLDS) for tested in range(FOLDS) if tested != left]
        for number, (left, tested) in enumerate(pairs):
            train = np.flatnonzero((folds != left) & (folds != tested))
            splits.append(Split(train, np.flatnonzero(folds == tested), repeat, number))
    return Splits(ROWS, tuple(splits), "fixed")


def compute_loss(row, iteration):
    return (7 * row * row + 11 * iteration + 3 * row * iteration) % 13


LOSSES = ("error", "squared", "even", "block")


def make_losses(name, splits):
    losses = []
    for iteration, split in enumerate(splits, 1):
        values = np.array([compute_loss(row, iteration) for row in split.test.tolist()])
        constant = np.full(len(values), iteration % 3)
        losses.append({"error": values > 8, "squared": values / 13, "even": split.test % 2, "block": constant}[name])
    return losses


@pytest.mark.parametrize(
    ("name", "level", "expected"),
    [
        ("error", 0.95, (0.2651515151515, 0.0754730500786, 0.4548299802245)),
        ("error", 0.9, (0.265151515152, 0.105968329292, 0.424334701011)),
        ("squared", 0.95, (0.421911421911, 0.208311943099, 0.635510900724)),
        ("squared", 0.9, (0.421911421911, 0.242653088487, 0.601169755336)),
        ("even", 0.95, (0.5, 0.0810750440569, 0.9189249559431)),
        ("block", 0.95, (1.0, 0.315898411614, 1.684101588386)),
    ],
)
def test_nested_cv_matches_mlr3inferr(name, level, expected):
    splits = make_nested_splits()
    result = nested_cv_interval(make_losses(name, splits), splits, level=level)
    assert (result.value, result.low, result.high) == pytest.approx(expected, abs=1e-11)


def test_standard_error_lies_at_and_between_its_bounds():
    """Error rates reach the lower bound, squared errors neither, and losses that vary only between splits the upper bound."""
    splits = make_nested_splits()
    ratios = {}
    for name in LOSSES:
        losses = make_losses(name, splits)
        inner = np.concatenate([values for values, split in zip(losses, splits, strict=True) if split.fold >= FOLDS])
        naive = inner.std(ddof=1) / np.sqrt(ROWS)
        ratios[name] = nested_cv_interval(losses, splits).standard_error / naive
    assert ratios["error"] == pytest.approx(1)
    assert 1.1 < ratios["squared"] < 1.9
    assert ratios["even"] == pytest.approx(2)
    assert ratios["block"] == pytest.approx(2)


def make_paired_splits(repeats_in, repeats_out):
    """Splits in the order of mlr3inferr: all rows first, then both halves of each division."""
    folds = [0, *range(1, 2 * repeats_out + 1)]
    rows = np.arange(2)
    splits = [Split(rows[:1], rows[1:], repeat, fold) for fold in folds for repeat in range(repeats_in)]
    return Splits(2, tuple(splits), "fixed")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (0.95, (0.5862068965517, -0.0474960112294, 1.2199098043328)),
        (0.9, (0.5862068965517, 0.0543866516415, 1.1180271414620)),
    ],
)
def test_conservative_z_matches_mlr3inferr(level, expected):
    scores = [(17 * number * number + 5 * number + 3) % 29 / 29 for number in range(27)]
    result = conservative_z_interval(scores, make_paired_splits(3, 4), level=level)
    assert (result.value, result.low, result.high) == pytest.approx(expected, abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(
    folds=st.integers(3, 5), repeats=st.integers(1, 3), extra=st.integers(0, 9), binary=st.booleans(), seed=st.integers(0, 999)
)
def test_nested_cv_equals_the_formulas_of_the_paper(folds, repeats, extra, binary, seed):
    rng = np.random.default_rng(seed)
    rows = 2 * folds + extra
    splits = Repeated(NestedCV(folds), repeats, random_state=seed).freeze(range(rows))
    losses = [
        (rng.random(len(split.test)) < 0.4) * 1.0 if binary else rng.exponential(size=len(split.test)) for split in splits
    ]
    tested = {}
    for values, split in zip(losses, splits, strict=True):
        left = np.setdiff1d(np.arange(rows), np.union1d(split.train, split.test))
        tested.setdefault((split.repeat, tuple(left)), []).append((tuple(split.test), values.tolist()))
    pairs = []
    for repeat in range(repeats):
        outer = tested[repeat, ()]
        inner = [[value for _, values in tested[repeat, test] for value in values] for test, _ in outer]
        pairs.append([(values, within) for (_, values), within in zip(outer, inner, strict=True)])
    result = nested_cv_interval(losses, splits, level=0.8)
    assert (result.value, result.low, result.high) == pytest.approx(reference.nested_cv(pairs, rows, 0.8))


@pytest.mark.parametrize("folds", [3, 5])
def test_nested_cv_splits(folds):
    """K folds, then for each fold left out a cross-validation of the other folds."""
    splits = list(NestedCV(folds, random_state=1).freeze(range(23)))
    assert len(splits) == folds**2 == NestedCV(folds).get_n_splits()
    outer, inner = splits[:folds], splits[folds:]
    assert sorted(np.concatenate([split.test for split in outer])) == list(range(23))
    assert all(len(split.train) + len(split.test) == 23 for split in outer)
    for number, fold in enumerate(outer):
        within = inner[number * (folds - 1) : (number + 1) * (folds - 1)]
        assert sorted(np.concatenate([split.test for split in within])) == sorted(fold.train)
        for split in within:
            assert sorted([*split.train, *split.test]) == sorted(fold.train)
    assert [split.fold for split in splits] == list(range(folds**2))


@pytest.mark.parametrize(("rows", "ratio"), [(40, 0.9), (41, 0.75), (23, 2 / 3)])
def test_paired_subsampling_splits(rows, ratio):
    """The halves of a division are disjoint, of equal size, and their test sets are as large as those of all rows."""
    splits = list(PairedSubsampling(3, 2, ratio, random_state=1).freeze(range(rows)))
    assert len(splits) == (2 * 2 + 1) * 3 == PairedSubsampling(3, 2).get_n_splits()
    n_test = rows - round(rows * ratio)
    assert {len(split.test) for split in splits} == {n_test}
    assert [(split.repeat, split.fold) for split in splits[:4]] == [(0, 0), (1, 0), (2, 0), (0, 1)]
    members = {fold: [{*split.train, *split.test} for split in splits if split.fold == fold] for fold in range(5)}
    assert all(first == second for sets in members.values() for first, second in pairwise(sets))
    assert members[0][0] == set(range(rows))
    for first, second in ((1, 2), (3, 4)):
        assert len(members[first][0]) == len(members[second][0]) == rows // 2
        assert not members[first][0] & members[second][0]
    assert members[1][0] != members[3][0]


def test_identical_losses_have_no_standard_error():
    splits = make_nested_splits()
    assert nested_cv_interval([[1] * len(split.test) for split in splits], splits).standard_error == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: NestedCV(2), "the number of folds must be at least 3, got 2"),
        (lambda: NestedCV(5).freeze(range(9)), "the number of folds must be at most 4, half the number of rows, got 5"),
        (lambda: PairedSubsampling(ratio=0.5), "ratio must be at least 2/3 and below 1, got 0.5"),
        (lambda: PairedSubsampling(ratio=1), "ratio must be at least 2/3 and below 1, got 1"),
        (lambda: PairedSubsampling(0), "repeats_in must be at least 1, got 0"),
        (lambda: PairedSubsampling().freeze(range(4)), "ratio must leave test and training rows in each half, got 0.9"),
        (lambda: Repeated(PairedSubsampling(), 2), "splitter must not set the number of repeats itself"),
        (lambda: nested_cv_interval([[0, 1]], KFold(2).freeze(range(4))), "one value for each test row of each split"),
        (lambda: nested_cv_interval([[0, 1]] * 2, KFold(2).freeze(range(4))), "splits must come from NestedCV"),
        (lambda: conservative_z_interval([0.5], KFold(2).freeze(range(4))), "scores must have one value per split, got 1"),
        (lambda: conservative_z_interval([0.5] * 2, KFold(2).freeze(range(4))), "splits must come from PairedSubsampling"),
        (lambda: conservative_z_interval([np.nan] * 9, make_paired_splits(1, 4)), "scores must be finite"),
        (lambda: conservative_z_interval([0.5] * 9, make_paired_splits(1, 4), level=95), "level must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
