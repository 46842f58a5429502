"""The contract for splitters: disjoint sets, full coverage, and splits that depend only on the rows and the seed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import cloudpickle
import numpy as np

from fairtrial._text import format_count
from fairtrial.resampling import FoldSplitter, LeaveOneOut, Repeated, Split, Splitter
from fairtrial.testing.contract import Contract, require

_N_ROWS = 60
_SEED = 20


class _SplitterCase:
    """A splitter, and 60 rows with three classes (30, 20 and 10 rows), 12 groups of 5 rows and 20 points in time."""

    def __init__(self, splitter: Any) -> None:
        rng = np.random.default_rng(_SEED)
        self.splitter = splitter
        self.X = rng.normal(size=(_N_ROWS, 3))
        self.y = rng.permutation(np.repeat([0, 1, 2], [30, 20, 10]))
        self.groups = rng.permutation(np.repeat(np.arange(12), 5))
        self.time = rng.permutation(np.repeat(np.arange(20.0), 3))

    def list_splits(self, X: Any = None, y: Any = None, groups: Any = None, splitter: Any = None) -> list[Split]:
        """List the splits of the rows, or of the same rows in a different form, with a fixed seed."""
        rows = (
            self.X.copy() if X is None else X,
            self.y.copy() if y is None else y,
            self.groups.copy() if groups is None else groups,
        )
        splitter = self.splitter if splitter is None else splitter
        if isinstance(splitter, Splitter):
            return list(splitter.freeze(*rows, **self.get_options(), random_state=_SEED))
        pairs = _fix_seed(splitter).split(*rows)
        return [Split(np.asarray(train), np.asarray(test), 0, fold) for fold, (train, test) in enumerate(pairs)]

    def get_options(self) -> dict[str, Any]:
        """Return the times of the rows as the option `time` if the splitter uses times."""
        return {"time": self.time} if _uses_time(self.splitter) else {}


def _fix_seed(splitter: Any) -> Any:
    """Copy a scikit-learn splitter, and set a seed if the splitter is random and has none."""
    splitter = copy.deepcopy(splitter)
    if getattr(splitter, "random_state", 0) is None and getattr(splitter, "shuffle", True):
        splitter.random_state = _SEED
    return splitter


@contextmanager
def _open_case(splitter: Any) -> Iterator[_SplitterCase]:
    yield _SplitterCase(splitter)


_contract = Contract("splitter", _open_case)


def check_splitter(splitter: Any) -> None:
    """Check that a splitter satisfies the contract for splitters.

    Parameters
    ----------
    splitter : Splitter or scikit-learn splitter
        A splitter that can split 60 rows with three classes (30, 20 and 10 rows), 12 groups and 20 points in time.

    Raises
    ------
    AssertionError
        If a rule is violated. The message names each violated rule, the value found and a remedy.

    Examples
    --------
    >>> from fairtrial.resampling import StratifiedKFold
    >>> check_splitter(StratifiedKFold(5))
    """
    _contract.check(splitter)


def _tests_each_row_once(splitter: Any) -> bool:
    if isinstance(splitter, Repeated):
        return _tests_each_row_once(splitter.splitter)
    return isinstance(splitter, (FoldSplitter, LeaveOneOut))


def _is_seeded(splitter: Any) -> bool:
    return not isinstance(splitter, Splitter) or splitter._is_random


def _is_stratified(splitter: Any) -> bool:
    """Return whether the folds are stratified. Only folds that ignore groups can have equal class counts."""
    return _tests_each_row_once(splitter) and splitter._uses_classes and not splitter._uses_groups


def _uses_groups(splitter: Any) -> bool:
    return bool(getattr(splitter, "_uses_groups", False))


def _uses_time(splitter: Any) -> bool:
    return bool(getattr(splitter, "_uses_time", False))


def _is_own(splitter: Any) -> bool:
    return isinstance(splitter, Splitter)


def _are_equal(first: list[Split], second: list[Split]) -> bool:
    return len(first) == len(second) and all(
        np.array_equal(one.train, other.train) and np.array_equal(one.test, other.test)
        for one, other in zip(first, second, strict=True)
    )


@_contract.rule("return integer indices between 0 and len(X) - 1")
def check_indices_are_in_range(case: _SplitterCase) -> None:
    """The training and test sets must contain integer indices of rows."""
    for number, split in enumerate(case.list_splits()):
        for side, indices in (("train", split.train), ("test", split.test)):
            require(indices.dtype.kind in "iu", f"{side} indices of type {indices.dtype} in split {number}")
            outside = indices[(indices < 0) | (indices >= _N_ROWS)]
            require(not len(outside), f"the {side} index {outside[:1]} for {_N_ROWS} rows in split {number}")


@_contract.rule("remove the test rows from the training set")
def check_train_and_test_are_disjoint(case: _SplitterCase) -> None:
    """No row may be in the training set and in the test set of the same split."""
    for number, split in enumerate(case.list_splits()):
        shared = np.intersect1d(split.train, split.test)
        require(not len(shared), f"row {shared[:1]} in both sets of split {number}")


@_contract.rule("skip or redraw splits with an empty set")
def check_sets_are_not_empty(case: _SplitterCase) -> None:
    """The training set and the test set of each split must contain at least one row."""
    for number, split in enumerate(case.list_splits()):
        require(len(split.train), f"an empty training set in split {number}")
        require(len(split.test), f"an empty test set in split {number}")


@_contract.rule("list each test row once; only training rows may be drawn with replacement")
def check_test_rows_are_unique(case: _SplitterCase) -> None:
    """A row must occur at most once in the test set of a split."""
    for number, split in enumerate(case.list_splits()):
        duplicates = len(split.test) - len(np.unique(split.test))
        require(not duplicates, f"{format_count(duplicates, 'duplicate test row')} in split {number}")


@_contract.rule("assign every row to exactly one fold", applies=_tests_each_row_once)
def check_folds_cover_each_row_once(case: _SplitterCase) -> None:
    """A k-fold scheme must test each row exactly once per repeat."""
    splits = case.list_splits()
    for repeat in sorted({split.repeat for split in splits}):
        tested = np.concatenate([split.test for split in splits if split.repeat == repeat])
        counts = np.bincount(tested[(tested >= 0) & (tested < _N_ROWS)], minlength=_N_ROWS)
        row = int(np.argmax(counts != 1))
        require((counts == 1).all(), f"{format_count(int(counts[row]), 'test')} of row {row} in repeat {repeat}")


@_contract.rule("return the number of splits that split() yields")
def check_n_splits_matches(case: _SplitterCase) -> None:
    """get_n_splits must return the number of splits."""
    declared, n_splits = case.splitter.get_n_splits(case.X, case.y, case.groups), len(case.list_splits())
    require(declared == n_splits, f"{declared} for {n_splits} splits")


@_contract.rule("draw only from the generator that the splitter receives", applies=_is_seeded)
def check_same_seed_gives_same_splits(case: _SplitterCase) -> None:
    """The same rows and the same seed must give the same splits."""
    first = case.list_splits()
    require(_are_equal(first, case.list_splits()), "different splits from the second call")
    require(_are_equal(first, case.list_splits(splitter=copy.deepcopy(case.splitter))), "different splits from a copy")


@_contract.rule(
    "draw from the generator that the splitter receives, or set `_is_random = False`",
    applies=lambda splitter: _is_own(splitter) and splitter._is_random,
)
def check_seeds_give_different_splits(case: _SplitterCase) -> None:
    """Different seeds must give different splits, unless the splitter declares that it is not random."""
    if case.splitter._keeps_seed:
        return
    rows = (case.X, case.y, case.groups)
    splits = [list(case.splitter.freeze(*rows, **case.get_options(), random_state=seed)) for seed in range(3)]
    require(not all(_are_equal(splits[0], other) for other in splits[1:]), "the same splits for three seeds")


@_contract.rule("freeze and split must use the same method _iter_splits", applies=_is_own)
def check_freeze_matches_split(case: _SplitterCase) -> None:
    """The frozen splits must equal those of split() for the same seed."""
    splitter = copy.deepcopy(case.splitter)
    if not splitter._is_random or splitter._has_seed:
        frozen = list(splitter.freeze(case.X, case.y, case.groups, **case.get_options()))
        pairs = [Split(train, test) for train, test in splitter.split(case.X, case.y, case.groups, **case.get_options())]
    else:
        splitter.random_state = _SEED
        frozen = case.list_splits()
        pairs = [Split(train, test) for train, test in splitter.split(case.X, case.y, case.groups, **case.get_options())]
    require(_are_equal(frozen, pairs), "different splits from freeze() and split()")


@_contract.rule("keep all state in attributes that can be pickled")
def check_pickled_copy_gives_same_splits(case: _SplitterCase) -> None:
    """A pickled copy must give the same splits."""
    restored = pickle.loads(cloudpickle.dumps(case.splitter))
    require(_are_equal(case.list_splits(), case.list_splits(splitter=restored)), "different splits from the copy")


@_contract.rule("use the index of the class and of the group, not its name or type")
def check_types_do_not_matter(case: _SplitterCase) -> None:
    """Lists, data frames, text labels and categories must give the same splits as arrays of numbers."""
    import pandas as pd

    expected = case.list_splits()
    names = np.array(["low", "mid", "top"])[case.y]
    group_names = np.array([f"group {group:02}" for group in case.groups])
    forms = {
        "lists": (case.X.tolist(), case.y.tolist(), case.groups.tolist()),
        "a frame": (pd.DataFrame(case.X, columns=["a", "b", "c"]), pd.Series(case.y), pd.Series(case.groups)),
        "text labels": (case.X, names, group_names),
        "categories": (case.X, pd.Series(names, dtype="category"), pd.Series(group_names, dtype="category")),
    }
    for form, rows in forms.items():
        require(_are_equal(expected, case.list_splits(*rows)), f"different splits for {form}")


@_contract.rule("assign whole groups to the training set or to the test set", applies=_uses_groups)
def check_groups_stay_together(case: _SplitterCase) -> None:
    """No group may have rows in the training set and in the test set of the same split."""
    for number, split in enumerate(case.list_splits()):
        shared = np.intersect1d(case.groups[split.train], case.groups[split.test])
        require(not len(shared), f"group {shared[:1]} in both sets of split {number}")


@_contract.rule("train only on rows that are not later than any test row", applies=_uses_time)
def check_training_rows_are_earlier(case: _SplitterCase) -> None:
    """No training row of a split may be later than a test row."""
    for number, split in enumerate(case.list_splits()):
        latest, first = case.time[split.train].max(), case.time[split.test].min()
        require(latest <= first, f"a training row at {latest:g} and a test row at {first:g} in split {number}")


@_contract.rule("distribute the rows of each class evenly over the folds", applies=_is_stratified)
def check_strata_are_balanced(case: _SplitterCase) -> None:
    """The number of test rows of a class must differ by at most one between the folds of a stratified scheme."""
    splits = case.list_splits()
    for repeat in sorted({split.repeat for split in splits}):
        counts = np.array([np.bincount(case.y[split.test], minlength=3) for split in splits if split.repeat == repeat])
        spread = counts.max(axis=0) - counts.min(axis=0)
        require((spread <= 1).all(), f"between {counts[:, spread.argmax()].min()} and {counts[:, spread.argmax()].max()} rows")


@_contract.rule("copy X, y and groups before you change them")
def check_input_is_not_modified(case: _SplitterCase) -> None:
    """X, y and groups must not be modified."""
    arrays = {"X": case.X.copy(), "y": case.y.copy(), "groups": case.groups.copy()}
    case.list_splits(**arrays)
    for name, array in arrays.items():
        require(np.array_equal(array, getattr(case, name)), f"a modified {name}")
