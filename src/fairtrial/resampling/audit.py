"""Audit splits before trusting them: leaks, rows never tested, sizes, and shift between training and test sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_between, check_generator, check_whole_number
from fairtrial._text import join_names
from fairtrial.kernels import two_sample
from fairtrial.resampling import shift
from fairtrial.resampling.layout import (
    LEVELS,
    MAX_EXAMINED_SPLITS,
    MAX_LISTED,
    Coverage,
    Finding,
    Level,
    SplitLayout,
    count_coverage,
    find_coverage_problems,
    read_layout,
)
from fairtrial.resampling.shift import AUC, ENERGY, HELLINGER, KS, OUTLYING, OUTLYING_FOLD, Shift, ShiftTest, SimilarityTest

if TYPE_CHECKING:
    import pandas as pd

_LEAK_CHUNK = 16


_MIN_PERMUTATIONS, _MAX_PERMUTATIONS = 19, 199


_MAX_LEAK_WORK = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Leaks:
    """Test rows with an equal row in the training part, for each split: `same` class and `other` class.

    The expected numbers are means over random stratified folds of the same sizes (NaN for splits that are not examined); p is
    the share of those with at least as many in all, of which `drawn` were looked at (0 if no two rows are equal).
    """

    duplicates: IntArray
    conflicts: IntArray
    expected_duplicates: FloatArray
    expected_conflicts: FloatArray
    p_duplicates: float
    p_conflicts: float
    n_drawn: int


def count_leaks(layout: SplitLayout, n_permutations: int, rng: np.random.Generator) -> Leaks:
    """Count equal rows across the cut.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [1.0], [2.0]], ["a", "b", "a", "a"]))
    >>> found = count_leaks(layout, 99, np.random.default_rng(0))
    >>> found.duplicates.tolist(), found.conflicts.tolist()
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
    """The rows that are equal to another one in all attributes (missing equals missing), and the number of their group.

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
    """The counts of random stratified folds: the sides of the rows of each class are handed out anew."""
    sides = layout.compute_sides()
    affordable = _MAX_LEAK_WORK // max(1, len(rows) * sides.shape[1])
    n_drawn = max(_MIN_PERMUTATIONS, min(n_permutations, _MAX_PERMUTATIONS, affordable))
    chunks = [min(_LEAK_CHUNK, n_drawn - start) for start in range(0, n_drawn, _LEAK_CHUNK)]
    counts = [_count_arrangements(layout, rows, groups, layout.permute_sides(rows, sides, size, rng)) for size in chunks]
    return np.concatenate([chunk_counts[0] for chunk_counts in counts]), np.concatenate(
        [chunk_counts[1] for chunk_counts in counts]
    )


def find_leak_problems(layout: SplitLayout, leak_counts: Leaks, alpha: float) -> Iterator[Finding]:
    """What the counts show."""
    tested = sum(len(split.test) for split in layout.splits)
    kinds = (
        (
            "duplicates",
            leak_counts.duplicates,
            leak_counts.expected_duplicates,
            leak_counts.p_duplicates,
            "an equal row of the same class",
        ),
        (
            "conflicts",
            leak_counts.conflicts,
            leak_counts.expected_conflicts,
            leak_counts.p_conflicts,
            "a row with equal attributes but another class",
        ),
    )
    for check, observed, expected, p, description in kinds:
        if observed.sum() == 0:
            continue
        affected = f"{observed.sum()} of {tested} test rows ({100 * observed.sum() / tested:.3g} %)"
        statement = f"{affected} have {description} in their training part"
        chance = f"random stratified folds have {_format_expected(float(np.nansum(expected)))}" + (
            f" in {MAX_EXAMINED_SPLITS} of {len(observed)} splits" if len(observed) > MAX_EXAMINED_SPLITS else ""
        )
        if p <= alpha:
            text = f"{statement}, more than by chance ({chance}; p = {p:.2g})."
        else:
            text = f"{statement}, no more than by chance ({chance}): it is the data that repeat themselves."
        yield Finding("caution" if p <= alpha else "note", check, text)


def _format_expected(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


_CHECK_TEXTS = {
    ENERGY: "Test and training rows lie apart (energy distance)",
    AUC: "A nearest-neighbour classifier tells test from training rows (AUC)",
    KS: "An attribute is distributed differently in test and training rows (KS)",
    HELLINGER: "An attribute has other values in test than in training rows (Hellinger)",
}


_SEEDS = "DOB-SCV does so when every seed goes to fold 1 (assign='literal'): the other folds look easier than they are"


_ON_PURPOSE = "Splits by group or by time do so on purpose; others should be drawn anew"


_GROUPS = "Splits by group do so wherever groups differ: the estimate is one for new groups"


TOO_ALIKE = "too alike"


_TOO_ALIKE = "DOB-SCV does so on purpose, which makes estimates optimistic where new cases are not as well balanced"


@dataclass(frozen=True)
class _ShiftedCell:
    split: int
    text: str
    p: float


def find_shift_problems(
    layout: SplitLayout, shift_tests: Sequence[ShiftTest], similarity_tests: Sequence[SimilarityTest], alpha: float
) -> list[Finding]:
    """Findings of shift, of outlying folds, and of parts that are more alike than by chance."""
    return [
        *_find_shifted(layout, shift_tests, alpha),
        *_find_outlying(layout, shift_tests, alpha),
        *_find_similar(similarity_tests, alpha),
    ]


def _find_shifted(layout: SplitLayout, shift_tests: Sequence[ShiftTest], alpha: float) -> Iterator[Finding]:
    level, remark = _get_severity(layout)
    for check, text in _CHECK_TEXTS.items():
        cells: list[_ShiftedCell] = []
        for shift_test in shift_tests:
            if shift_test.statistic.check == check:
                cells += [
                    _make_shifted_cell(layout, shift_test, i) for i in np.flatnonzero(shift_test.p_adjusted <= alpha).tolist()
                ]
        if cells:
            worst = sorted(cells, key=lambda cell: (cell.p, cell.split))
            yield Finding(level, check, f"{text}: {join_names([cell.text for cell in worst], MAX_LISTED)}. {remark}.")


def _get_severity(layout: SplitLayout) -> tuple[Level, str]:
    """Shift is a fault, except between groups: there it is to be expected."""
    return ("note", _GROUPS) if is_grouped(layout.splits.scheme) else ("fault", _ON_PURPOSE)


def is_grouped(scheme: str) -> bool:
    """Whether the name of a scheme says that whole groups go into the parts.

    >>> is_grouped("Repeated(splitter=GroupKFold(), n_repeats=2)"), is_grouped("StratifiedKFold()"), is_grouped("given")
    (True, False, False)
    """
    return "Group" in scheme


def _make_shifted_cell(layout: SplitLayout, shift_test: ShiftTest, i: int) -> _ShiftedCell:
    statistic, split = shift_test.statistic, int(shift_test.statistic.split[i])
    attribute = f"{layout.columns.names[statistic.attribute[i]]} in " if statistic.attribute[i] >= 0 else ""
    class_text = f"class {layout.classes[statistic.label[i]]}" if statistic.label[i] >= 0 else "all classes"
    where = f"{attribute}{class_text} of {layout.split_names[split]}"
    value, expected, p = float(statistic.values[0, i]), float(shift_test.expected[i]), float(shift_test.p_adjusted[i])
    return _ShiftedCell(split, f"{where} {value:.3g} where {expected:.3g} is expected (p = {p:.2g})", p)


def _find_outlying(layout: SplitLayout, shift_tests: Sequence[ShiftTest], alpha: float) -> Iterator[Finding]:
    level, _ = _get_severity(layout)
    for shift_test in (shift_test for shift_test in shift_tests if shift_test.statistic.check in {OUTLYING, OUTLYING_FOLD}):
        significant = np.flatnonzero(shift_test.p_adjusted <= alpha).tolist()
        farther = [i for i in significant if shift_test.statistic.values[0, i] > 0]
        nearer = [i for i in significant if shift_test.statistic.values[0, i] <= 0]
        sentences = []
        if farther:
            sentences.append(
                "Test rows lie farther from the centre of their class than training rows: "
                f"{_describe_differences(layout, shift_test, farther)}."
            )
        if nearer:
            sentences.append(
                "Test rows lie nearer to the centre of their class than training rows: "
                f"{_describe_differences(layout, shift_test, nearer)}."
            )
        if level == "note":
            sentences.append(f"{_GROUPS}.")
        elif any(_get_fold_name(layout, shift_test, i) == "fold 1" for i in farther):
            sentences.append(f"{_SEEDS}.")
        if significant:
            yield Finding(level, shift_test.statistic.check, " ".join(sentences))


def _describe_differences(layout: SplitLayout, shift_test: ShiftTest, indices: Sequence[int]) -> str:
    """By how much, and what random folds do."""
    return join_names(
        [
            f"{_get_split_name(layout, shift_test, i)} by {100 * abs(shift_test.statistic.values[0, i]):.2g} % "
            f"(random folds {100 * shift_test.low[i]:+.2g} to {100 * shift_test.high[i]:+.2g} %, p = "
            f"{shift_test.p_adjusted[i]:.2g})"
            for i in indices
        ],
        MAX_LISTED,
    )


def _get_fold_name(layout: SplitLayout, shift_test: ShiftTest, i: int) -> str:
    return layout.split_names[int(shift_test.statistic.split[i])].split(" of ")[0]


def _get_split_name(layout: SplitLayout, shift_test: ShiftTest, i: int) -> str:
    if shift_test.statistic.check == OUTLYING_FOLD:
        return f"{_get_fold_name(layout, shift_test, i)} of all repeats"
    return layout.split_names[int(shift_test.statistic.split[i])]


def _find_similar(similarity_tests: Sequence[SimilarityTest], alpha: float) -> Iterator[Finding]:
    items = [
        f"mean {similarity_test.check} {similarity_test.mean:.3g} where {similarity_test.expected:.3g} is expected (p = "
        f"{similarity_test.p_adjusted:.2g})"
        for similarity_test in similarity_tests
        if similarity_test.p_adjusted <= alpha
    ]
    if items:
        text = (
            f"Test and training parts are more alike than those of random stratified folds: {join_names(items, MAX_LISTED)}. "
            f"{_TOO_ALIKE}."
        )
        yield Finding("note", TOO_ALIKE, text)


_SHORT_NAMES = {ENERGY: "energy p", AUC: "AUC p", OUTLYING: "outlying p"}


_MAX_LINES = 20


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What a fold audit found. `findings` are ordered by level: faults, cautions, notes; it is `ok` without a fault.

    `frame()` holds every number: a line for each check, split, class and attribute. Frames count folds from 0 as splits do;
    words count them from 1.
    """

    scheme: str
    n_rows: int
    alpha: float
    n_permutations: int
    findings: tuple[Finding, ...]
    basis: tuple[str, ...]
    _layout: SplitLayout
    _coverage: Coverage
    _leaks: Leaks
    _shift_tests: tuple[ShiftTest, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that make estimates from these splits wrong."""
        return tuple(finding for finding in self.findings if finding.level == "fault")

    def frame(self) -> pd.DataFrame:
        """A line for each number: check, repeat, fold, class, attribute, value; expected, low, high (95 % of random stratified
        folds), p (alone), p_adjusted (for all that was looked at). Counts have no limits and no p.
        """
        import pandas as pd

        frames = [self._build_count_frame(), *(self._build_test_frame(shift_test) for shift_test in self._shift_tests)]
        columns = ["check", "repeat", "fold", "class", "attribute", "value", "expected", "low", "high", "p", "p_adjusted"]
        combined = pd.concat([frame.reindex(columns=columns) for frame in frames], ignore_index=True)
        return combined.astype({"repeat": "Int64", "fold": "Int64"})

    def table(self) -> pd.DataFrame:
        """A line for each split: its counts, and of each kind of shift the smallest adjusted p."""
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
        """The findings, and the table of splits (the first 20 of many)."""
        lines = self.table()
        table_text = lines.head(_MAX_LINES).to_string(index=False, na_rep="", float_format="{:.3g}".format)
        more = f"\n... {len(lines) - _MAX_LINES} more splits" if len(lines) > _MAX_LINES else ""
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
        faults = len(self.faults)
        outcome = "no fault found" if faults == 0 else "1 fault found" if faults == 1 else f"{faults} faults found"
        return "\n".join([f"{self._layout.splits}: {outcome}.", *map(str, self.findings), *self.basis])

    def __repr__(self) -> str:
        return f"<Audit of {self.scheme}: {len(self.faults)} faults, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        head, *rest = str(self).split("\n")
        lines = "".join(f"<li>{escape(line)}</li>" for line in rest)
        return f"<p>{escape(head)}</p><ul>{lines}</ul>" + self.table().to_html(index=False, float_format="{:.3g}".format)


def audit(
    splits: Any,
    dataset: Any,
    *,
    n_permutations: int = 499,
    random_state: int = 0,
    alpha: float = 0.05,
    max_rows: int = 1000,
) -> Audit:
    """Audit splits: who is where, equal rows across the cut, and shift between test and training parts.

    `splits` are `Splits`, pairs (train, test) of positions or masks, or a splitter, which is frozen first. `dataset` has `X`
    and `y`, or is a pair (X, y); y may be None. Shift is judged against `n_permutations` random stratified folds of the same
    sizes; the chance that such folds raise any finding of shift is `alpha`. What is not found may be there all the same. Of a
    class with more than `max_rows` rows a random sample of that many is looked at.

    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> found = audit([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], (X, ["a", "b", "a", "b", "a", "b"]))
    >>> found.ok, found.faults[0].check
    (False, 'in train and test')
    >>> print(found.faults[0])
    fault: Rows are in the training and in the test part of one split: fold 1 (1 of 3 test rows). The test knows the answers.
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


def _describe_leak_basis(leak_counts: Leaks) -> tuple[str, ...]:
    return (
        (f"Equal rows are judged against {leak_counts.n_drawn} random stratified folds of the same sizes.",)
        if leak_counts.n_drawn
        else ()
    )


def _describe_shift_basis(
    layout: SplitLayout, shift_result: Shift, n_permutations: int, alpha: float, any_shift: bool
) -> tuple[str, ...]:
    """What the judgement of shift rests on."""
    if not shift_result.statistics:
        return ("Shift is not looked for: each test part is a single row.",)
    min_permutations = ceil(shift.count_families(shift_result.statistics) / alpha) - 1
    if n_permutations < min_permutations:
        sentences = [
            f"A shift can hardly be found at alpha {alpha:g} with {n_permutations} permutations: take at least "
            f"{min_permutations}."
        ]
    else:
        sentences = [] if any_shift else ["No shift found; a small one may be there all the same."]
    sentences += [
        f"Shift is judged against {n_permutations} random stratified folds of the same sizes, at alpha {alpha:g} "
        "for all splits, classes, attributes and statistics together."
    ]
    subsampled = np.flatnonzero((shift_result.n_sampled < shift_result.class_sizes) & (shift_result.class_sizes > 1))
    samples = [f"{shift_result.n_sampled[c]} of {shift_result.class_sizes[c]} (class {layout.classes[c]})" for c in subsampled]
    if 0 < shift_result.n_pooled < layout.n_rows:
        samples.insert(0, f"{shift_result.n_pooled} of {layout.n_rows} (all classes)")
    if samples:
        sentences.append(f"Shift is looked for in a random sample of rows: {join_names(samples, MAX_LISTED)}.")
    if len(layout.splits) > MAX_EXAMINED_SPLITS:
        sentences.append(f"Shift is looked for in {MAX_EXAMINED_SPLITS} of {len(layout.splits)} splits, at even distances.")
    if not shift_result.by_attribute:
        sentences.append(
            "Attributes are not looked at one by one: there are too many of them for so many splits and permutations."
        )
    return tuple(sentences)
