"""The layout of splits over a data set: which rows are trained and tested where, and problems with that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_column, check_same_length, encode_labels
from fairtrial._frames import EncodedTable, read_columns
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits

Level = Literal["fault", "caution", "note"]


LEVELS: tuple[Level, ...] = ("fault", "caution", "note")


MAX_LISTED = 6


@dataclass(frozen=True)
class Finding:
    """A finding: its level, the check that made it, and what it says.

    A *fault* makes estimates from these splits wrong. A *caution* may be meant so, but has consequences. A *note* is just that.

    >>> print(Finding("note", "duplicates", "2 test rows have an equal row in the training part."))
    note: 2 test rows have an equal row in the training part.
    """

    level: Level
    check: str
    text: str

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


TEST, TRAIN = 1, 2


# More splits than this are counted, but not compared with random ones.
MAX_EXAMINED_SPLITS = 100


@dataclass(frozen=True, eq=False)
class SplitLayout:
    """The splits, the columns, the class of each row as a code, and the names of the classes."""

    splits: Splits
    columns: EncodedTable
    labels: IntArray
    classes: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @cached_property
    def repeats(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the splits of each repeat. Splits of one repeat that test all rows again and again are several."""
        members: dict[int, list[int]] = {}
        for s, split in enumerate(self.splits):
            members.setdefault(split.repeat, []).append(s)
        rounds = _find_rounds(self.splits) if len(members) == 1 else None
        return rounds or tuple(tuple(indices) for indices in members.values())

    @cached_property
    def split_names(self) -> list[str]:
        """What each split is called in words, counted from 1."""
        several = len(self.repeats) > 1
        names = {
            s: f"fold {fold + 1}" + (f" of repeat {repeat + 1}" if several else "")
            for repeat, members in enumerate(self.repeats)
            for fold, s in enumerate(members)
        }
        return [names[s] for s in range(len(self.splits))]

    @cached_property
    def examined_splits(self) -> IntArray:
        """The splits that are compared with random ones: all, or 100 of them at even distances."""
        n = len(self.splits)
        return np.unique(np.linspace(0, n - 1, min(n, MAX_EXAMINED_SPLITS)).round().astype(np.intp))

    def compute_sides(self, split_indices: IntArray | None = None) -> npt.NDArray[np.uint8]:
        """Where each row is in each of these splits (those examined): bit 1 in the test part, bit 2 in the training part."""
        split_indices = self.examined_splits if split_indices is None else split_indices
        sides = np.zeros((self.n_rows, len(split_indices)), dtype=np.uint8)
        for position, s in enumerate(split_indices):
            sides[self.splits.splits[s].test, position] |= TEST
            sides[self.splits.splits[s].train, position] |= TRAIN
        return sides

    def permute_sides(
        self, rows: IntArray, sides: npt.NDArray[np.uint8], size: int, rng: np.random.Generator
    ) -> npt.NDArray[np.uint8]:
        """Where these rows are in `size` arrangements (b, row, split): the sides of each class are dealt to its rows anew."""
        arrangements = np.empty((size, len(rows), sides.shape[1]), dtype=np.uint8)
        labels = self.labels[rows]
        classes = [(np.flatnonzero(self.labels == code), np.flatnonzero(labels == code)) for code in np.unique(labels)]
        for arrangement in arrangements:
            for members, positions in classes:
                arrangement[positions] = sides[rng.permutation(members)[: len(positions)]]
        return arrangements

    @cached_property
    def scaled_values(self) -> FloatArray:
        """The attributes as distances want them: standardised, or by range where values are nominal or missing (HEOM)."""
        values, numeric = self.columns.values.copy(), self.columns.numeric
        numbers = values[:, numeric]
        heom = bool(np.isnan(values).any()) or not numeric.all()
        with np.errstate(invalid="ignore"):
            size = _compute_ranges(numbers) if heom else numbers.std(axis=0)
        values[:, numeric] = numbers / np.where(size > 0, size, 1.0)
        return values


def _compute_ranges(numbers: FloatArray) -> FloatArray:
    filled = np.where(np.isnan(numbers), -np.inf, numbers)
    lowest = np.where(np.isnan(numbers), np.inf, numbers).min(axis=0)
    return np.asarray(filled.max(axis=0) - lowest)


def _find_rounds(splits: Splits) -> tuple[tuple[int, ...], ...] | None:
    """Consecutive splits that test each row once, again and again to the end; None if they do not."""
    rounds: list[tuple[int, ...]] = []
    current: list[int] = []
    tested = np.zeros(splits.n_rows, dtype=bool)
    for s, split in enumerate(splits):
        if tested[split.test].any():
            return None
        tested[split.test] = True
        current.append(s)
        if tested.all():
            rounds.append(tuple(current))
            current, tested = [], np.zeros(splits.n_rows, dtype=bool)
    return None if current else tuple(rounds)


def read_layout(splits: Any, dataset: Any) -> SplitLayout:
    """Splits (or a splitter, or pairs of positions) of a data set, or of a pair (X, y); y may be None.

    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> layout.classes, layout.split_names, layout.compute_sides().tolist()
    (('a', 'b'), ['fold 1', 'fold 2'], [[2, 1], [2, 1], [1, 2], [1, 2]])
    """
    X, y = _unpack_dataset(dataset)
    columns = read_columns(X)
    if len(columns) == 0 or not columns.names:
        raise InputError(f"dataset must hold at least 1 row and 1 attribute, got shape {columns.values.shape}")
    if np.isinf(columns.values).any():
        name = columns.names[int(np.argmax(np.isinf(columns.values).any(axis=0)))]
        raise InputError(f"dataset must hold finite or missing values, got infinity in {name!r}: give these cells a number")
    labels, classes = _encode_layout_classes(y, len(columns))
    return SplitLayout(_resolve_splits(splits, X, y, len(columns)), columns, labels, classes)


def _unpack_dataset(dataset: Any) -> tuple[Any, Any]:
    if hasattr(dataset, "X") and hasattr(dataset, "y"):
        return dataset.X, dataset.y
    if isinstance(dataset, tuple) and len(dataset) == 2:
        return dataset[0], dataset[1]
    raise InputError(f"dataset must have X and y, or be a pair (X, y), got {type(dataset).__name__}")


def _encode_layout_classes(y: Any, n: int) -> tuple[IntArray, tuple[Any, ...]]:
    if y is None:
        return np.zeros(n, dtype=np.intp), ("all",)
    values = check_column("y", y)
    check_same_length(X=np.empty(n), y=values)
    if values.dtype.kind == "f" and (values != np.floor(values)).any():
        non_integer = values[values != np.floor(values)][0]
        raise InputError(f"y must hold classes, got {non_integer:g}: pass (X, None) to look at all rows together")
    encoding, (codes,) = encode_labels(None, None, y=values)
    present = np.unique(codes)
    return np.searchsorted(present, codes).astype(np.intp), tuple(encoding.names[present].tolist())


def _resolve_splits(splits: Any, X: Any, y: Any, n: int) -> Splits:
    if isinstance(splits, Splits):
        if splits.n_rows != n:
            raise InputError(f"splits must be of the {n} rows of the data set, got splits of {splits.n_rows} rows")
        return splits
    if hasattr(splits, "freeze"):
        return splits.freeze(X, y)  # type: ignore[no-any-return]
    if hasattr(splits, "split"):
        return Splits.from_pairs(splits.split(X, y), n, repr(splits))
    return Splits.from_pairs(splits, n)


_MAX_COMPARED = 40


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts for each split: training and test rows (split, class), rows in both; for each repeat: how often rows are tested.

    `folds` says for each repeat whether its test parts are meant to share no row, as in cross-validation.
    """

    train: IntArray
    test: IntArray
    in_both: IntArray
    repeated_in_test: IntArray
    never_tested: IntArray
    tested_again: IntArray
    are_folds: tuple[bool, ...]


def count_coverage(layout: SplitLayout) -> Coverage:
    """Count.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1, 2], [2, 3]), ([2, 3], [0])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> coverage = count_coverage(layout)
    >>> coverage.in_both.tolist(), coverage.never_tested.tolist(), coverage.test.tolist()
    ([1, 0], [1], [[1, 1], [1, 0]])
    """
    k, splits = len(layout.classes), layout.splits.splits
    repeats = [[splits[s] for s in members] for members in layout.repeats]
    times_tested = [_count_times_tested(repeat, layout.n_rows) for repeat in repeats]
    return Coverage(
        train=np.array([np.bincount(layout.labels[split.train], minlength=k) for split in splits]),
        test=np.array([np.bincount(layout.labels[split.test], minlength=k) for split in splits]),
        in_both=np.array([_count_shared(split.train, split.test, layout.n_rows) for split in splits]),
        repeated_in_test=np.array([len(split.test) - len(np.unique(split.test)) for split in splits]),
        never_tested=np.array([int((times == 0).sum()) for times in times_tested]),
        tested_again=np.array([int((times > 1).sum()) for times in times_tested]),
        are_folds=tuple(_are_folds(repeat, layout.n_rows) for repeat in repeats),
    )


def _count_times_tested(repeat: list[Split], n: int) -> IntArray:
    return np.asarray(np.bincount(np.concatenate([np.unique(split.test) for split in repeat]), minlength=n))


def _count_shared(first: IntArray, second: IntArray, n: int) -> int:
    inside = np.zeros(n, dtype=bool)
    inside[first] = True
    return int(inside[np.unique(second)].sum())


def _are_folds(repeat: list[Split], n: int) -> bool:
    """Whether most pairs of test parts share far fewer rows than independent draws would."""
    pairs = list(combinations(repeat[:_MAX_COMPARED], 2))
    chance = [len(a.test) * len(b.test) / n for a, b in pairs]
    return bool(pairs) and float(np.median([_count_shared(a.test, b.test, n) for a, b in pairs])) < 0.5 * float(
        np.median(chance)
    )


def find_coverage_problems(layout: SplitLayout, coverage: Coverage, *, use_split_numbers: bool = False) -> list[Finding]:
    """What the counts show. `use_split_numbers` calls folds and repeats by the numbers of their splits, from 0, as frames do.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1, 2], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> find_coverage_problems(layout, count_coverage(layout), use_split_numbers=True)[0].text
    'Rows are in the training and in the test part of one split: fold 0 (1 of 2 test rows). The test knows the answers.'
    """
    names = _name_splits(layout) if use_split_numbers else layout.split_names
    repeats = [
        layout.splits.splits[members[0]].repeat if use_split_numbers else repeat
        for repeat, members in enumerate(layout.repeats, 1)
    ]
    return [
        *_find_overlaps(names, coverage),
        *_find_untested(layout, coverage, repeats),
        *_find_absent_classes(layout, coverage, names),
        *_find_uneven_folds(layout, coverage),
    ]


def _name_splits(layout: SplitLayout) -> list[str]:
    splits = layout.splits.splits
    several = len({split.repeat for split in splits}) > 1
    return [f"fold {split.fold}" + (f" of repeat {split.repeat}" if several else "") for split in splits]


def _find_overlaps(names: list[str], coverage: Coverage) -> Iterator[Finding]:
    sizes = coverage.test.sum(axis=1)
    overlaps = [
        f"{name} ({both} of {size} test rows)"
        for name, both, size in zip(names, coverage.in_both, sizes, strict=True)
        if both > 0
    ]
    if overlaps:
        text = (
            f"Rows are in the training and in the test part of one split: {join_names(overlaps, MAX_LISTED)}. The test knows "
            "the answers."
        )
        yield Finding("fault", "in train and test", text)
    repeated = [f"{name} ({count})" for name, count in zip(names, coverage.repeated_in_test, strict=True) if count > 0]
    if repeated:
        yield Finding("fault", "twice in test", f"Test parts hold a row more than once: {join_names(repeated, MAX_LISTED)}.")


def _find_untested(layout: SplitLayout, coverage: Coverage, repeats: list[int]) -> Iterator[Finding]:
    n = layout.n_rows
    for repeat, never, again, folds in zip(
        repeats, coverage.never_tested, coverage.tested_again, coverage.are_folds, strict=True
    ):
        where = f" in repeat {repeat}" if len(layout.repeats) > 1 else ""
        if folds and never:
            text = f"{never} of {n} rows are never tested{where} ({n - never} are), though the test parts look like folds."
            yield Finding("fault", "never tested", text)
        if folds and again:
            text = f"{again} of {n} rows are tested more than once{where}, though the test parts look like folds."
            yield Finding("fault", "tested again", text)
    drawn_repeats = [repeat for repeat, folds in enumerate(coverage.are_folds) if not folds and coverage.never_tested[repeat]]
    if drawn_repeats:
        least, most = min(coverage.never_tested[drawn_repeats]), max(coverage.never_tested[drawn_repeats])
        count_text = f"{least}" if least == most else f"{least} to {most}"
        over = " in each repeat" if len(layout.repeats) > 1 else ""
        yield Finding(
            "note", "never tested", f"{count_text} of {n} rows are never tested{over}: the test parts are draws, not folds."
        )


def _find_absent_classes(layout: SplitLayout, coverage: Coverage, names: list[str]) -> Iterator[Finding]:
    for side, counts in (("training", coverage.train), ("test", coverage.test)):
        if side == "test" and (counts.sum(axis=1) <= 1).all():
            continue  # a single row cannot be of all classes
        missing = [f"{layout.classes[code]} ({names[s]})" for s, code in np.argwhere(counts == 0)]
        if missing:
            text = f"Classes are absent from {side} parts: {join_names(missing, MAX_LISTED)}."
            yield Finding("fault" if side == "training" else "caution", f"class absent from {side}", text)


def _find_uneven_folds(layout: SplitLayout, coverage: Coverage) -> Iterator[Finding]:
    size_ranges, class_ranges = set(), set()
    for members, folds in zip(layout.repeats, coverage.are_folds, strict=True):
        test = coverage.test[list(members)]
        total, spread = test.sum(axis=1), np.ptp(test, axis=0)
        worst = int(np.argmax(spread))
        if folds and np.ptp(total) > 1:
            size_ranges.add(f"{total.min()} to {total.max()} rows")
        if folds and spread[worst] > 1:
            class_ranges.add(f"class {layout.classes[worst]} has {test[:, worst].min()} to {test[:, worst].max()} test rows")
    if size_ranges:
        ranges = join_names(sorted(size_ranges), MAX_LISTED)
        yield Finding("caution", "sizes", f"Test parts differ in size by more than one row: {ranges}.")
    if class_ranges:
        ranges = join_names(sorted(class_ranges), MAX_LISTED)
        text = f"Folds are not stratified, their class counts differing by more than one: {ranges}."
        yield Finding("caution", "class counts", text)
