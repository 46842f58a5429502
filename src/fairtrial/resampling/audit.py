"""Audits of splits for leakage, untested rows, uneven folds, and train-test shift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_between, check_generator, check_whole_number
from fairtrial._findings import Finding
from fairtrial._text import fit_table, format_count, format_html_table
from fairtrial.kernels import two_sample
from fairtrial.resampling import shift
from fairtrial.resampling.layout import (
    LEVELS,
    MAX_EXAMINED_SPLITS,
    AuditFinding,
    Coverage,
    Level,
    SplitLayout,
    count_coverage,
    find_coverage_problems,
    read_layout,
    render_details,
)
from fairtrial.resampling.shift import AUC, ENERGY, HELLINGER, KS, OUTLYING, OUTLYING_FOLD, Shift, ShiftTest, SimilarityTest

if TYPE_CHECKING:
    import pandas as pd

_LEAK_CHUNK = 16
_MIN_PERMUTATIONS, _MAX_PERMUTATIONS = 19, 199
_MAX_LEAK_WORK = 1_000_000_000
_MAX_LINES = 20
_SHORT_NAMES = {ENERGY: "energy p", AUC: "AUC p", OUTLYING: "outlying p"}
_SHIFT_KINDS = {ENERGY: "shift_energy", AUC: "shift_auc", KS: "shift_numeric", HELLINGER: "shift_nominal"}
TOO_ALIKE = "too alike"


@dataclass(frozen=True, eq=False)
class Leaks:
    """Counts of test rows that have a duplicate in the training set of the same split.

    For each split, `duplicates` counts the test rows that equal a training row of the same class. `conflicts` counts those that
    equal a training row of another class. The expected counts are means over random stratified folds of the same sizes. They
    are NaN for splits that are not examined. Each p-value is the proportion of partitions with at least as many duplicates or
    conflicts as the given splits. The given splits count as one of these partitions. `n_drawn` is the number of random
    partitions. It is 0 if no two rows are equal.
    """

    duplicates: IntArray
    conflicts: IntArray
    expected_duplicates: FloatArray
    expected_conflicts: FloatArray
    p_duplicates: float
    p_conflicts: float
    n_drawn: int


def count_leaks(layout: SplitLayout, n_permutations: int, rng: np.random.Generator) -> Leaks:
    """Count the test rows that equal a training row, in the splits and in random folds.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [1.0], [2.0]], ["a", "b", "a", "a"]))
    >>> leaks = count_leaks(layout, 99, np.random.default_rng(0))
    >>> leaks.duplicates.tolist(), leaks.conflicts.tolist()
    ([1, 1], [1, 1])
    """
    rows, groups = find_equal_rows(layout.columns.values)
    splits = len(layout.splits)
    if len(rows) == 0:
        zeros = np.zeros(splits, dtype=np.intp)
        return Leaks(zeros, zeros, zeros.astype(np.float64), zeros.astype(np.float64), 1.0, 1.0, 0)
    counts = [_count_chunk(layout, rows, groups, start) for start in range(0, splits, MAX_EXAMINED_SPLITS)]
    duplicates, conflicts = (np.concatenate([chunk_counts[side] for chunk_counts in counts]) for side in (0, 1))
    chance_counts = _count_by_chance(layout, rows, groups, n_permutations, rng)
    expected = [np.full(splits, np.nan), np.full(splits, np.nan)]
    p = []
    for side, observed in enumerate((duplicates, conflicts)):
        expected[side][layout.examined_splits] = chance_counts[side].mean(axis=0)
        at_least = chance_counts[side].sum(axis=1) >= observed[layout.examined_splits].sum()
        p.append(float((1 + at_least.sum()) / (1 + len(at_least))))
    return Leaks(duplicates, conflicts, expected[0], expected[1], p[0], p[1], len(chance_counts[0]))


def find_equal_rows(values: FloatArray) -> tuple[IntArray, IntArray]:
    """Find the rows that equal another row in all attributes, and number their groups.

    Missing values count as equal.

    >>> rows, groups = find_equal_rows(np.array([[1.0, np.nan], [2.0, 3.0], [1.0, np.nan]]))
    >>> rows.tolist(), groups.tolist()
    ([0, 2], [0, 0])
    """
    normalised = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0))
    row_keys = normalised.view(np.dtype((np.void, normalised.dtype.itemsize * normalised.shape[1]))).ravel()
    _, group, size = np.unique(row_keys, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[group] > 1)
    return rows, np.unique(group[rows], return_inverse=True)[1].astype(np.intp)


def _count_chunk(layout: SplitLayout, rows: IntArray, groups: IntArray, start: int) -> tuple[IntArray, IntArray]:
    sides = layout.compute_sides(np.arange(start, min(start + MAX_EXAMINED_SPLITS, len(layout.splits))))[rows]
    duplicates, conflicts = _count_arrangements(layout, rows, groups, sides[None])
    return duplicates[0], conflicts[0]


def _count_arrangements(
    layout: SplitLayout, rows: IntArray, groups: IntArray, sides: npt.NDArray[np.uint8]
) -> tuple[IntArray, IntArray]:
    shape = (sides.shape[0], sides.shape[2])
    duplicates, conflicts = np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.intp)
    two_sample.count_duplicates(groups, layout.labels[rows], len(layout.classes), sides, duplicates, conflicts)
    return duplicates, conflicts


def _count_by_chance(
    layout: SplitLayout, rows: IntArray, groups: IntArray, n_permutations: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Count duplicates and conflicts after random permutations of the rows of each class."""
    sides = layout.compute_sides()
    affordable = _MAX_LEAK_WORK // max(1, len(rows) * sides.shape[1])
    n_drawn = max(_MIN_PERMUTATIONS, min(n_permutations, _MAX_PERMUTATIONS, affordable))
    chunks = [min(_LEAK_CHUNK, n_drawn - start) for start in range(0, n_drawn, _LEAK_CHUNK)]
    counts = [_count_arrangements(layout, rows, groups, layout.permute_sides(rows, sides, size, rng)) for size in chunks]
    return np.concatenate([chunk_counts[0] for chunk_counts in counts]), np.concatenate(
        [chunk_counts[1] for chunk_counts in counts]
    )


def find_leak_problems(layout: SplitLayout, leak_counts: Leaks, alpha: float) -> Iterator[AuditFinding]:
    """Report duplicates across training and test sets."""
    test_rows = sum(len(split.test) for split in layout.splits)
    checks = (
        ("duplicates", leak_counts.duplicates, leak_counts.expected_duplicates, leak_counts.p_duplicates),
        ("conflicts", leak_counts.conflicts, leak_counts.expected_conflicts, leak_counts.p_conflicts),
    )
    for check, observed, expected, p in checks:
        rows = int(observed.sum())
        if rows == 0:
            continue
        kind = f"{check}_above_chance" if p <= alpha else f"{check}_by_chance"
        values = {"rows": rows, "test_rows": test_rows, "proportion": rows / test_rows, "p": p}
        details = [Finding.of(kind, **values, expected=float(np.nansum(expected)))]
        if len(observed) > MAX_EXAMINED_SPLITS:
            details.append(Finding.of("expected_in_subset", examined=MAX_EXAMINED_SPLITS, splits=len(observed)))
        yield AuditFinding("caution" if p <= alpha else "note", check, tuple(details))


def find_shift_problems(
    layout: SplitLayout, shift_tests: Sequence[ShiftTest], similarity_tests: Sequence[SimilarityTest], alpha: float
) -> list[AuditFinding]:
    """Report shift, outlying folds, and excessive similarity of training and test sets."""
    return [
        *_find_shifted(layout, shift_tests, alpha),
        *_find_outlying(layout, shift_tests, alpha),
        *_find_similar(similarity_tests, alpha),
    ]


def _find_shifted(layout: SplitLayout, shift_tests: Sequence[ShiftTest], alpha: float) -> Iterator[AuditFinding]:
    level, remark = _get_severity(layout)
    for check, kind in _SHIFT_KINDS.items():
        cells: list[tuple[float, int, Finding]] = []
        for shift_test in shift_tests:
            if shift_test.statistic.check == check:
                cells += [
                    (float(shift_test.p_adjusted[i]), int(shift_test.statistic.split[i]), _describe_cell(layout, shift_test, i))
                    for i in np.flatnonzero(shift_test.p_adjusted <= alpha).tolist()
                ]
        if cells:
            worst = tuple(cell for _, _, cell in sorted(cells, key=lambda cell: cell[:2]))
            yield AuditFinding(level, check, (Finding.of(kind, cells=worst), Finding.of(remark)))


def _get_severity(layout: SplitLayout) -> tuple[Level, str]:
    """Return the level of a shift finding and the kind of its remark.

    Shift is a fault unless groups are kept together.
    """
    return ("note", "group_shift") if is_grouped(layout.splits.scheme) else ("fault", "unintended_shift")


def is_grouped(scheme: str) -> bool:
    """Return whether the scheme keeps groups together, judging by its class name.

    >>> is_grouped("Repeated(splitter=GroupKFold(), n_repeats=2)"), is_grouped("StratifiedKFold()"), is_grouped("given")
    (True, False, False)
    """
    return "Group" in scheme


def _describe_cell(layout: SplitLayout, shift_test: ShiftTest, i: int) -> Finding:
    statistic = shift_test.statistic
    values = {
        "split": layout.split_names[int(statistic.split[i])],
        "value": float(statistic.values[0, i]),
        "expected": float(shift_test.expected[i]),
        "p": float(shift_test.p_adjusted[i]),
    }
    kind = "shifted_class" if statistic.label[i] >= 0 else "shifted_split"
    if statistic.label[i] >= 0:
        values["class_name"] = layout.classes[statistic.label[i]]
    if statistic.attribute[i] >= 0:
        kind = "shifted_class_attribute" if statistic.label[i] >= 0 else "shifted_attribute"
        values["attribute"] = layout.columns.names[statistic.attribute[i]]
    return Finding.of(kind, **values)


def _find_outlying(layout: SplitLayout, shift_tests: Sequence[ShiftTest], alpha: float) -> Iterator[AuditFinding]:
    level, remark = _get_severity(layout)
    for shift_test in (shift_test for shift_test in shift_tests if shift_test.statistic.check in {OUTLYING, OUTLYING_FOLD}):
        significant = np.flatnonzero(shift_test.p_adjusted <= alpha).tolist()
        farther = [i for i in significant if shift_test.statistic.values[0, i] > 0]
        nearer = [i for i in significant if shift_test.statistic.values[0, i] <= 0]
        details = [
            Finding.of(kind, splits=tuple(_describe_outlying_split(layout, shift_test, i) for i in indices))
            for kind, indices in (("outlying_farther", farther), ("outlying_nearer", nearer))
            if indices
        ]
        if level == "note":
            details.append(Finding.of(remark))
        elif any(layout.fold_positions[int(shift_test.statistic.split[i])] == 0 for i in farther):
            details.append(Finding.of("literal_dob_scv"))
        if significant:
            yield AuditFinding(level, shift_test.statistic.check, tuple(details))


def _describe_outlying_split(layout: SplitLayout, shift_test: ShiftTest, i: int) -> Finding:
    split = int(shift_test.statistic.split[i])
    pooled = shift_test.statistic.check == OUTLYING_FOLD
    return Finding.of(
        "outlying_split",
        split=f"fold {layout.fold_positions[split] + 1} of all repeats" if pooled else layout.split_names[split],
        difference=abs(float(shift_test.statistic.values[0, i])),
        low=float(shift_test.low[i]),
        high=float(shift_test.high[i]),
        p=float(shift_test.p_adjusted[i]),
    )


def _find_similar(similarity_tests: Sequence[SimilarityTest], alpha: float) -> Iterator[AuditFinding]:
    statistics = tuple(
        Finding.of("similar_statistic", check=test.check, mean=test.mean, expected=test.expected, p=test.p_adjusted)
        for test in similarity_tests
        if test.p_adjusted <= alpha
    )
    if statistics:
        yield AuditFinding("note", TOO_ALIKE, (Finding.of("too_alike", statistics=statistics),))


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Result of an audit of splits.

    Folds are numbered from 0 in `frame` and in the splits, but from 1 in `table` and in text.

    Attributes
    ----------
    scheme : str
        Splitter or origin of the splits.
    n_rows : int
        Number of rows.
    alpha : float
        Upper bound on the probability that an audit of random stratified folds reports any shift.
    n_permutations : int
        Number of random stratified partitions used in the shift tests.
    findings : tuple of AuditFinding
        Findings, sorted by level: faults, cautions, notes.
    basis : tuple of Finding
        Findings that describe how the tests were performed.

    Examples
    --------
    >>> from fairtrial.resampling import StratifiedKFold, audit
    >>> X, y = [[float(i)] for i in range(40)], ["a", "b"] * 20
    >>> result = audit(StratifiedKFold(2, random_state=1), (X, y), n_permutations=99)
    >>> result.ok, result.table()["test"].tolist()
    (True, [20, 20])
    """

    scheme: str
    n_rows: int
    alpha: float
    n_permutations: int
    findings: tuple[AuditFinding, ...]
    basis: tuple[Finding, ...]
    _layout: SplitLayout
    _coverage: Coverage
    _leaks: Leaks
    _shift_tests: tuple[ShiftTest, ...]

    @property
    def ok(self) -> bool:
        """Return whether the audit found no faults."""
        return not self.faults

    @property
    def faults(self) -> tuple[AuditFinding, ...]:
        """Return the findings that invalidate estimates from these splits."""
        return tuple(finding for finding in self.findings if finding.level == "fault")

    def frame(self) -> pd.DataFrame:
        """Return all counts and test results, with one row per check, split, class and attribute.

        Returns
        -------
        DataFrame
            `value` is the observed value, and `expected` is the mean over random stratified folds. `low` and `high` are the
            limits of the central 95 % interval over random stratified folds. `p` is the p-value of the individual test, and
            `p_adjusted` is adjusted for multiple testing. Counts have no limits and no p-values.
        """
        import pandas as pd

        frames = [self._build_count_frame(), *(self._build_test_frame(shift_test) for shift_test in self._shift_tests)]
        columns = ["check", "repeat", "fold", "class", "attribute", "value", "expected", "low", "high", "p", "p_adjusted"]
        combined = pd.concat([frame.reindex(columns=columns) for frame in frames], ignore_index=True)
        return combined.astype({"repeat": "Int64", "fold": "Int64"})

    def table(self) -> pd.DataFrame:
        """Return a data frame with one row per split.

        Its columns contain counts and the smallest adjusted p-value for each kind of shift.
        """
        import pandas as pd

        coverage, leak_counts = self._coverage, self._leaks
        lines = pd.DataFrame(
            {
                "split": self._layout.split_names,
                "train": [len(split.train) for split in self._layout.splits],
                "test": [len(split.test) for split in self._layout.splits],
                "in both": coverage.in_both,
                "duplicates": leak_counts.duplicates,
                "expected": leak_counts.expected_duplicates.round(1),
                "conflicts": leak_counts.conflicts,
            }
        )
        for shift_test in (shift_test for shift_test in self._shift_tests if shift_test.statistic.check != OUTLYING_FOLD):
            smallest = pd.Series(shift_test.p_adjusted).groupby(shift_test.statistic.split).min().reindex(lines.index)
            name = _SHORT_NAMES.get(shift_test.statistic.check, "attribute p")
            lines[name] = np.fmin(lines[name], smallest) if name in lines else smallest
        return lines

    @property
    def summary(self) -> str:
        """Return the findings and a table of at most 20 splits as text."""
        lines = self.table()
        expected = zip(lines["duplicates"], lines["expected"], strict=True)
        columns = lines.drop(columns=["train", "expected"]).rename(columns={"duplicates": "duplicates (expected)"})
        columns["duplicates (expected)"] = [f"{count} ({number:.3g})" for count, number in expected]
        cells = columns.head(_MAX_LINES).map(lambda value: f"{value:.3g}" if isinstance(value, float) else str(value))
        rows = [list(columns), *cells.replace("nan", "").to_numpy().tolist()]
        table_text = "\n".join(line for row in fit_table(rows, right=range(1, len(rows[0]))) for line in row)
        more = f"\n... {format_count(len(lines) - _MAX_LINES, 'more split')}" if len(lines) > _MAX_LINES else ""
        return f"{self}\n\n{table_text}{more}"

    def _build_count_frame(self) -> pd.DataFrame:
        import pandas as pd

        coverage, leak_counts, classes = self._coverage, self._leaks, [str(name) for name in self._layout.classes]
        split_columns = {
            "repeat": [split.repeat for split in self._layout.splits],
            "fold": [split.fold for split in self._layout.splits],
        }
        per_split = {
            "in train and test": coverage.in_both,
            "duplicates": leak_counts.duplicates,
            "conflicts": leak_counts.conflicts,
            "train rows": coverage.train.sum(axis=1),
            "test rows": coverage.test.sum(axis=1),
        }
        expected = {"duplicates": leak_counts.expected_duplicates, "conflicts": leak_counts.expected_conflicts}
        frames = [
            pd.DataFrame({"check": check, **split_columns, "value": values, "expected": expected.get(check, np.nan)})
            for check, values in per_split.items()
        ]
        for check, counts in (("train rows", coverage.train), ("test rows", coverage.test)):
            frames += [
                pd.DataFrame({"check": check, **split_columns, "class": name, "value": counts[:, c]})
                for c, name in enumerate(classes)
            ]
        repeats = np.arange(len(coverage.never_tested))
        frames.append(pd.DataFrame({"check": "never tested", "repeat": repeats, "value": coverage.never_tested}))
        frames.append(pd.DataFrame({"check": "tested again", "repeat": repeats, "value": coverage.tested_again}))
        return pd.concat(frames, ignore_index=True)

    def _build_test_frame(self, shift_test: ShiftTest) -> pd.DataFrame:
        import pandas as pd

        statistic, layout = shift_test.statistic, self._layout
        labels = np.array([*map(str, layout.classes), ""], dtype=object)
        attributes = np.array([*layout.columns.names, ""], dtype=object)
        splits = layout.splits.splits
        return pd.DataFrame(
            {
                "check": statistic.check,
                "repeat": [None if statistic.check == OUTLYING_FOLD else splits[s].repeat for s in statistic.split],
                "fold": [splits[s].fold for s in statistic.split],
                "class": labels[statistic.label],
                "attribute": attributes[statistic.attribute],
                "value": statistic.values[0].astype(np.float64),
                "expected": shift_test.expected,
                "low": shift_test.low,
                "high": shift_test.high,
                "p": shift_test.p,
                "p_adjusted": shift_test.p_adjusted,
            }
        )

    def __str__(self) -> str:
        outcome = f"{format_count(len(self.faults), 'fault')} found" if self.faults else "no faults found"
        return "\n".join([f"{self._layout.splits}: {outcome}.", *map(str, self.findings), *map(render_details, self.basis)])

    def __repr__(self) -> str:
        faults, findings = format_count(len(self.faults), "fault"), format_count(len(self.findings), "finding")
        return f"<Audit of {self.scheme}: {faults}, {findings}>"

    def _repr_html_(self) -> str:
        head, *rest = str(self).split("\n")
        lines = "".join(f"<li>{escape(line)}</li>" for line in rest)
        return f"<p>{escape(head)}</p><ul>{lines}</ul>" + format_html_table(self.table())


def audit(
    splits: Any,
    dataset: Any,
    *,
    n_permutations: int = 499,
    random_state: int = 0,
    alpha: float = 0.05,
    max_rows: int = 1000,
) -> Audit:
    """Audit splits for leakage, untested rows, uneven folds, and train-test shift.

    Parameters
    ----------
    splits : Splits, splitter, or iterable of (train, test)
        Splits to audit. If a splitter is given, its splits are drawn first. Each pair contains row indices or masks.
    dataset : Dataset or tuple (X, y)
        Data set that the splits refer to. y can be None.
    n_permutations : int, default 499
        Number of random stratified partitions with which the splits are compared. The partitions have the same sizes as the
        splits. For duplicates, there are at most 199 partitions.
    random_state : int, default 0
        Seed of the permutations.
    alpha : float, default 0.05
        Upper bound on the probability that an audit of random stratified folds reports any shift.
    max_rows : int, default 1000
        Maximum number of rows per class in the shift tests. Larger classes are subsampled.

    Returns
    -------
    Audit

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> result = audit([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], (X, ["a", "b", "a", "b", "a", "b"]))
    >>> result.ok, result.faults[0].check
    (False, 'in train and test')
    >>> print(result.faults[0].text.partition(". ")[0])
    Rows are in both the training and the test set of a split: fold 1 (1 of 3 test rows)
    """
    n_permutations = check_whole_number("n_permutations", n_permutations, 19)
    max_rows = check_whole_number("max_rows", max_rows, 10)
    check_between("alpha", alpha, 0, 1)
    layout = read_layout(splits, dataset)
    seed = np.random.SeedSequence(check_generator("random_state", random_state).integers(0, 2**63 - 1))
    leak_seed, shift_seed = seed.spawn(2)
    counts, leak_counts = count_coverage(layout), count_leaks(layout, n_permutations, np.random.default_rng(leak_seed))
    shift_result = shift.compute_shift(layout, n_permutations, max_rows, shift_seed)
    shift_tests, similarity_tests = shift.compute_shift_tests(shift_result.statistics)
    shifts = find_shift_problems(layout, shift_tests, similarity_tests, alpha)
    findings = [*find_coverage_problems(layout, counts), *find_leak_problems(layout, leak_counts, alpha), *shifts]
    return Audit(
        layout.splits.scheme,
        layout.n_rows,
        alpha,
        n_permutations,
        tuple(sorted(findings, key=lambda finding: LEVELS.index(finding.level))),
        (
            *_describe_leak_basis(leak_counts),
            *_describe_shift_basis(
                layout, shift_result, n_permutations, alpha, any(finding.check != TOO_ALIKE for finding in shifts)
            ),
        ),
        layout,
        counts,
        leak_counts,
        tuple(shift_tests),
    )


def _describe_leak_basis(leak_counts: Leaks) -> tuple[Finding, ...]:
    return (Finding.of("duplicate_reference", drawn=leak_counts.n_drawn),) if leak_counts.n_drawn else ()


def _describe_shift_basis(
    layout: SplitLayout, shift_result: Shift, n_permutations: int, alpha: float, any_shift: bool
) -> tuple[Finding, ...]:
    if not shift_result.statistics:
        return (Finding.of("single_test_rows"),)
    needed = ceil(shift.count_families(shift_result.statistics) / alpha) - 1
    basis = []
    if n_permutations < needed:
        basis.append(Finding.of("few_permutations", permutations=n_permutations, alpha=alpha, needed=needed))
    elif not any_shift:
        basis.append(Finding.of("no_shift"))
    basis.append(Finding.of("shift_reference", permutations=n_permutations, alpha=alpha))
    subsampled = np.flatnonzero((shift_result.n_sampled < shift_result.class_sizes) & (shift_result.class_sizes > 1))
    samples = [
        Finding.of(
            "sampled_class",
            rows=int(shift_result.n_sampled[code]),
            total=int(shift_result.class_sizes[code]),
            class_name=layout.classes[code],
        )
        for code in subsampled
    ]
    if 0 < shift_result.n_pooled < layout.n_rows:
        samples.insert(0, Finding.of("sampled_total", rows=shift_result.n_pooled, total=layout.n_rows))
    if samples:
        basis.append(Finding.of("sampled_rows", samples=tuple(samples)))
    if len(layout.splits) > MAX_EXAMINED_SPLITS:
        basis.append(Finding.of("sampled_splits", examined=MAX_EXAMINED_SPLITS, splits=len(layout.splits)))
    if not shift_result.by_attribute:
        basis.append(Finding.of("untested_attributes"))
    return tuple(basis)
