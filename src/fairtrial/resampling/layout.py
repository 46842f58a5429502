"""Rows and classes in training and test sets, and problems with the splits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_column, check_same_length, encode_labels
from fairtrial._findings import Finding
from fairtrial._frames import EncodedTable, read_columns
from fairtrial._narrative import TEMPLATES, render
from fairtrial._text import format_text, join_names
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split, Splits

Level = Literal["fault", "caution", "note"]
LEVELS: tuple[Level, ...] = ("fault", "caution", "note")
_MAX_LISTED = 6


@dataclass(frozen=True)
class AuditFinding:
    """One finding of an audit.

    Attributes
    ----------
    level : {"fault", "caution", "note"}
        A fault invalidates estimates from these splits. A caution describes a property that may be intended but affects the
        results. A note is for information only.
    check : str
        Name of the check that led to this finding, such as "in train and test".
    details : tuple of Finding
        Kinds and values from which the text is rendered.

    Examples
    --------
    >>> from fairtrial.resampling import audit
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]
    >>> finding = audit([([0, 1, 2], [2, 3]), ([2, 3], [0, 1])], (X, y)).faults[0]
    >>> finding.level, finding.check, finding.kind
    ('fault', 'in train and test', 'train_test_overlap')
    """

    level: Level
    check: str
    details: tuple[Finding, ...]

    @property
    def kind(self) -> str:
        """Return the kind of the finding."""
        return self.details[0].kind

    @property
    def values(self) -> Mapping[str, Any]:
        """Return the values of the finding."""
        return self.details[0].values

    @property
    def text(self) -> str:
        """Return the finding as text."""
        return " ".join(map(render_details, self.details))

    def __str__(self) -> str:
        return f"{self.level}: {self.text}"


def render_details(finding: Finding) -> str:
    """Render a finding as text.

    Values can be tuples of findings, e.g. one per split. Long tuples are shortened.

    >>> sizes = (Finding.of("overlapping_split", split="fold 1", rows=2, test_rows=6),)
    >>> render_details(Finding.of("train_test_overlap", splits=sizes)).partition(".")[0]
    'Rows are in both the training and the test set of a split: fold 1 (2 of 6 test rows)'
    """
    values = {name: _join_items(value) if _is_item_list(value) else value for name, value in finding.values.items()}
    return render(Finding(finding.kind, values))


def _is_item_list(value: object) -> bool:
    return isinstance(value, tuple) and any(isinstance(item, Finding) for item in value)


def _join_items(items: Iterable[Finding]) -> str:
    return join_names([format_text(TEMPLATES[item.kind], item.values) for item in items], _MAX_LISTED)


TEST, TRAIN = 1, 2
# Maximum number of splits that are compared with random splits. Rows are counted in all splits.
MAX_EXAMINED_SPLITS = 100
_MAX_COMPARED = 40


@dataclass(frozen=True, eq=False)
class SplitLayout:
    """Splits of a data set, with its columns, the class of each row, and the class names."""

    splits: Splits
    columns: EncodedTable
    labels: IntArray
    classes: tuple[Any, ...]

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.labels)

    @cached_property
    def repeats(self) -> tuple[tuple[int, ...], ...]:
        """Return the indices of the splits of each repeat.

        A single repeat that tests every row several times is divided into several repeats.
        """
        members: dict[int, list[int]] = {}
        for s, split in enumerate(self.splits):
            members.setdefault(split.repeat, []).append(s)
        rounds = _find_rounds(self.splits) if len(members) == 1 else None
        return rounds or tuple(tuple(indices) for indices in members.values())

    @cached_property
    def split_names(self) -> list[str]:
        """Return the names of the splits for use in text. Folds and repeats are numbered from 1."""
        several = len(self.repeats) > 1
        names = {
            s: f"fold {fold + 1}" + (f" of repeat {repeat + 1}" if several else "")
            for repeat, members in enumerate(self.repeats)
            for fold, s in enumerate(members)
        }
        return [names[s] for s in range(len(self.splits))]

    @cached_property
    def fold_positions(self) -> list[int]:
        """Return the position of each split within its repeat, counted from 0."""
        positions = {s: fold for members in self.repeats for fold, s in enumerate(members)}
        return [positions[s] for s in range(len(self.splits))]

    @cached_property
    def examined_splits(self) -> IntArray:
        """Return the indices of at most 100 splits that are compared with random splits."""
        n = len(self.splits)
        return np.unique(np.linspace(0, n - 1, min(n, MAX_EXAMINED_SPLITS)).round().astype(np.intp))

    def compute_sides(self, split_indices: IntArray | None = None) -> npt.NDArray[np.uint8]:
        """Return an array (rows x splits) that encodes which sets contain each row.

        The codes are 1 for test rows, 2 for training rows, 3 for rows in both sets, and 0 for rows in neither set. By default,
        the array covers the examined splits.
        """
        split_indices = self.examined_splits if split_indices is None else split_indices
        sides = np.zeros((self.n_rows, len(split_indices)), dtype=np.uint8)
        for position, s in enumerate(split_indices):
            sides[self.splits.splits[s].test, position] |= TEST
            sides[self.splits.splits[s].train, position] |= TRAIN
        return sides

    def permute_sides(
        self, rows: IntArray, sides: npt.NDArray[np.uint8], size: int, rng: np.random.Generator
    ) -> npt.NDArray[np.uint8]:
        """Permute `sides` within each class, `size` times, and return the entries of the given rows.

        The shape of the result is (size, rows, splits).
        """
        arrangements = np.empty((size, len(rows), sides.shape[1]), dtype=np.uint8)
        labels = self.labels[rows]
        classes = [(np.flatnonzero(self.labels == code), np.flatnonzero(labels == code)) for code in np.unique(labels)]
        for arrangement in arrangements:
            for members, positions in classes:
                arrangement[positions] = sides[rng.permutation(members)[: len(positions)]]
        return arrangements

    @cached_property
    def scaled_values(self) -> FloatArray:
        """Return the attributes scaled for distances.

        Numbers are divided by their standard deviation, or by their range if any value is nominal or missing (HEOM).
        """
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
    """Group consecutive splits that together test each row once; None if this is impossible."""
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
    """Read splits and their data set.

    `splits` is a `Splits` object, a splitter, or an iterable of pairs of indices. `dataset` is a data set or a pair (X, y). In
    a pair, y can be None.

    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> layout.classes, layout.split_names, layout.compute_sides().tolist()
    (('a', 'b'), ['fold 1', 'fold 2'], [[2, 1], [2, 1], [1, 2], [1, 2]])
    """
    X, y = _unpack_dataset(dataset)
    columns = read_columns(X)
    if len(columns) == 0 or not columns.names:
        raise InputError(f"dataset must have at least 1 row and 1 attribute, got shape {columns.values.shape}")
    if np.isinf(columns.values).any():
        name = columns.names[int(np.argmax(np.isinf(columns.values).any(axis=0)))]
        raise InputError(f"dataset must contain finite or missing values, got infinity in {name!r}: replace it")
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
        raise InputError(f"y must contain classes, got {non_integer:g}: pass (X, None) to audit without classes")
    encoding, (codes,) = encode_labels(None, None, y=values)
    present = np.unique(codes)
    return np.searchsorted(present, codes).astype(np.intp), tuple(encoding.names[present].tolist())


def _resolve_splits(splits: Any, X: Any, y: Any, n: int) -> Splits:
    if isinstance(splits, Splits):
        if splits.n_rows != n:
            raise InputError(f"splits must be for the {n} rows of the data set, got splits for {splits.n_rows} rows")
        return splits
    if hasattr(splits, "freeze"):
        return splits.freeze(X, y)  # type: ignore[no-any-return]
    if hasattr(splits, "split"):
        return Splits.from_pairs(splits.split(X, y), n, repr(splits))
    return Splits.from_pairs(splits, n)


@dataclass(frozen=True, eq=False)
class Coverage:
    """Numbers of training and test rows, and of rows that are untested or tested again.

    `train` and `test` count rows by class. `in_both` counts rows that are in both sets, and `repeated_in_test` counts rows that
    occur again in the same test set. `are_folds` states for each repeat whether its test sets appear to be disjoint, as in
    cross-validation.
    """

    train: IntArray
    test: IntArray
    in_both: IntArray
    repeated_in_test: IntArray
    never_tested: IntArray
    tested_again: IntArray
    are_folds: tuple[bool, ...]


def count_coverage(layout: SplitLayout) -> Coverage:
    """Count the rows of training and test sets.

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
    """Return whether most pairs of test sets share far fewer rows than random sets would."""
    pairs = list(combinations(repeat[:_MAX_COMPARED], 2))
    chance = [len(a.test) * len(b.test) / n for a, b in pairs]
    return bool(pairs) and float(np.median([_count_shared(a.test, b.test, n) for a, b in pairs])) < 0.5 * float(
        np.median(chance)
    )


def find_coverage_problems(layout: SplitLayout, coverage: Coverage, *, use_split_numbers: bool = False) -> list[AuditFinding]:
    """Find overlapping sets, untested rows, absent classes and uneven folds.

    If `use_split_numbers` is true, folds and repeats are counted from 0, as in data frames. Otherwise, they are counted from 1.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1, 2], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> print(find_coverage_problems(layout, count_coverage(layout), use_split_numbers=True)[0].values["splits"][0]["split"])
    fold 0
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


def _make_finding(level: Level, check: str, kind: str, **values: Any) -> AuditFinding:
    return AuditFinding(level, check, (Finding.of(kind, **values),))


def _name_splits(layout: SplitLayout) -> list[str]:
    splits = layout.splits.splits
    several = len({split.repeat for split in splits}) > 1
    return [f"fold {split.fold}" + (f" of repeat {split.repeat}" if several else "") for split in splits]


def _find_overlaps(names: list[str], coverage: Coverage) -> Iterator[AuditFinding]:
    sizes = coverage.test.sum(axis=1)
    overlaps = tuple(
        Finding.of("overlapping_split", split=name, rows=int(both), test_rows=int(size))
        for name, both, size in zip(names, coverage.in_both, sizes, strict=True)
        if both > 0
    )
    if overlaps:
        yield _make_finding("fault", "in train and test", "train_test_overlap", splits=overlaps)
    repeated = tuple(
        Finding.of("repeating_split", split=name, rows=int(count))
        for name, count in zip(names, coverage.repeated_in_test, strict=True)
        if count > 0
    )
    if repeated:
        yield _make_finding("fault", "twice in test", "repeated_test_rows", splits=repeated)


def _find_untested(layout: SplitLayout, coverage: Coverage, repeats: list[int]) -> Iterator[AuditFinding]:
    several = len(layout.repeats) > 1
    suffix = "_in_repeat" if several else ""
    for repeat, never, again, folds in zip(
        repeats, coverage.never_tested, coverage.tested_again, coverage.are_folds, strict=True
    ):
        for check, kind, rows in (("never tested", "never_tested", never), ("tested again", "tested_again", again)):
            if folds and rows:
                values = {"rows": int(rows), "n_rows": layout.n_rows} | ({"repeat": repeat} if several else {})
                yield _make_finding("fault", check, f"{kind}{suffix}", **values)
    drawn_repeats = [repeat for repeat, folds in enumerate(coverage.are_folds) if not folds and coverage.never_tested[repeat]]
    if not drawn_repeats:
        return
    least, most = (int(extreme(coverage.never_tested[drawn_repeats])) for extreme in (min, max))
    if several:
        yield _make_finding("note", "never tested", "not_drawn_in_repeats", least=least, most=most, n_rows=layout.n_rows)
    else:
        yield _make_finding("note", "never tested", "not_drawn", rows=least, n_rows=layout.n_rows)


def _find_absent_classes(layout: SplitLayout, coverage: Coverage, names: list[str]) -> Iterator[AuditFinding]:
    for side, counts in (("training", coverage.train), ("test", coverage.test)):
        if side == "test" and (counts.sum(axis=1) <= 1).all():
            continue  # a single row cannot contain all classes
        absent = tuple(
            Finding.of("absent_class", class_name=layout.classes[code], split=names[s]) for s, code in np.argwhere(counts == 0)
        )
        if absent:
            level: Level = "fault" if side == "training" else "caution"
            yield _make_finding(level, f"class absent from {side}", f"absent_from_{side}", classes=absent)


def _find_uneven_folds(layout: SplitLayout, coverage: Coverage) -> Iterator[AuditFinding]:
    size_ranges, class_ranges = set(), set()
    for members, folds in zip(layout.repeats, coverage.are_folds, strict=True):
        test = coverage.test[list(members)]
        total, spread = test.sum(axis=1), np.ptp(test, axis=0)
        worst = int(np.argmax(spread))
        if folds and np.ptp(total) > 1:
            size_ranges.add((int(total.min()), int(total.max())))
        if folds and spread[worst] > 1:
            class_ranges.add((worst, int(test[:, worst].min()), int(test[:, worst].max())))
    if size_ranges:
        ranges = tuple(Finding.of("size_range", least=least, most=most) for least, most in sorted(size_ranges))
        yield _make_finding("caution", "sizes", "uneven_sizes", ranges=ranges)
    if class_ranges:
        ranges = tuple(
            Finding.of("class_count_range", class_name=layout.classes[code], least=least, most=most)
            for code, least, most in sorted(class_ranges)
        )
        yield _make_finding("caution", "class counts", "not_stratified", ranges=ranges)
