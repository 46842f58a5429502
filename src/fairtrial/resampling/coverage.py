"""Who is where: rows in both parts, rows never tested or tested again, sizes and class counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fairtrial._check import IntArray
from fairtrial.resampling.finding import Finding, listed
from fairtrial.resampling.layout import Layout
from fairtrial.resampling.splits import Split

_MOST_PAIRED = 40


@dataclass(frozen=True, eq=False)
class Coverage:
    """Counts for each split: training and test rows (split, class), rows in both; for each repeat: how often rows are tested.

    `folds` says for each repeat whether its test parts are meant to share no row, as in cross-validation.
    """

    train: IntArray
    test: IntArray
    both: IntArray
    again_in_test: IntArray
    never: IntArray
    again: IntArray
    folds: tuple[bool, ...]


def coverage(layout: Layout) -> Coverage:
    """Count.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1, 2], [2, 3]), ([2, 3], [0])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> found = coverage(layout)
    >>> found.both.tolist(), found.never.tolist(), found.test.tolist()
    ([1, 0], [1], [[1, 1], [1, 0]])
    """
    k, parts = len(layout.classes), layout.splits.parts
    repeats = [[parts[s] for s in members] for members in layout.repeats]
    often = [_times_tested(repeat, layout.n_rows) for repeat in repeats]
    return Coverage(
        train=np.array([np.bincount(layout.labels[part.train], minlength=k) for part in parts]),
        test=np.array([np.bincount(layout.labels[part.test], minlength=k) for part in parts]),
        both=np.array([_shared(part.train, part.test, layout.n_rows) for part in parts]),
        again_in_test=np.array([len(part.test) - len(np.unique(part.test)) for part in parts]),
        never=np.array([int((times == 0).sum()) for times in often]),
        again=np.array([int((times > 1).sum()) for times in often]),
        folds=tuple(_meant_as_folds(repeat, layout.n_rows) for repeat in repeats),
    )


def _times_tested(repeat: list[Split], n: int) -> IntArray:
    return np.asarray(np.bincount(np.concatenate([np.unique(split.test) for split in repeat]), minlength=n))


def _shared(first: IntArray, second: IntArray, n: int) -> int:
    inside = np.zeros(n, dtype=bool)
    inside[first] = True
    return int(inside[np.unique(second)].sum())


def _meant_as_folds(repeat: list[Split], n: int) -> bool:
    """Whether most pairs of test parts share far fewer rows than independent draws would."""
    pairs = list(combinations(repeat[:_MOST_PAIRED], 2))
    chance = [len(a.test) * len(b.test) / n for a, b in pairs]
    return bool(pairs) and float(np.median([_shared(a.test, b.test, n) for a, b in pairs])) < 0.5 * float(np.median(chance))


def coverage_findings(layout: Layout, found: Coverage, *, as_numbered: bool = False) -> list[Finding]:
    """What the counts show. `as_numbered` calls folds and repeats by the numbers of their splits, from 0, as frames do.

    >>> from fairtrial.resampling.layout import read_layout
    >>> layout = read_layout([([0, 1, 2], [2, 3]), ([2, 3], [0, 1])], ([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "a", "b"]))
    >>> coverage_findings(layout, coverage(layout), as_numbered=True)[0].text
    'Rows are in the training and in the test part of one split: fold 0 (1 of 2 test rows). The test knows the answers.'
    """
    names = _numbered(layout) if as_numbered else layout.named
    repeats = [
        layout.splits.parts[members[0]].repeat if as_numbered else each for each, members in enumerate(layout.repeats, 1)
    ]
    return [
        *_overlaps(names, found),
        *_untested(layout, found, repeats),
        *_absent(layout, found, names),
        *_uneven(layout, found),
    ]


def _numbered(layout: Layout) -> list[str]:
    parts = layout.splits.parts
    several = len({part.repeat for part in parts}) > 1
    return [f"fold {part.fold}" + (f" of repeat {part.repeat}" if several else "") for part in parts]


def _overlaps(names: list[str], found: Coverage) -> Iterator[Finding]:
    sizes = found.test.sum(axis=1)
    bad = [
        f"{name} ({both} of {size} test rows)" for name, both, size in zip(names, found.both, sizes, strict=True) if both > 0
    ]
    if bad:
        text = f"Rows are in the training and in the test part of one split: {listed(bad)}. The test knows the answers."
        yield Finding("fault", "in train and test", text)
    twice = [f"{name} ({each})" for name, each in zip(names, found.again_in_test, strict=True) if each > 0]
    if twice:
        yield Finding("fault", "twice in test", f"Test parts hold a row more than once: {listed(twice)}.")


def _untested(layout: Layout, found: Coverage, repeats: list[int]) -> Iterator[Finding]:
    n = layout.n_rows
    for repeat, never, again, folds in zip(repeats, found.never, found.again, found.folds, strict=True):
        where = f" in repeat {repeat}" if len(layout.repeats) > 1 else ""
        if folds and never:
            text = f"{never} of {n} rows are never tested{where} ({n - never} are), though the test parts look like folds."
            yield Finding("fault", "never tested", text)
        if folds and again:
            text = f"{again} of {n} rows are tested more than once{where}, though the test parts look like folds."
            yield Finding("fault", "tested again", text)
    drawn = [repeat for repeat, folds in enumerate(found.folds) if not folds and found.never[repeat]]
    if drawn:
        least, most = min(found.never[drawn]), max(found.never[drawn])
        told = f"{least}" if least == most else f"{least} to {most}"
        over = " in each repeat" if len(layout.repeats) > 1 else ""
        yield Finding(
            "note", "never tested", f"{told} of {n} rows are never tested{over}: the test parts are draws, not folds."
        )


def _absent(layout: Layout, found: Coverage, names: list[str]) -> Iterator[Finding]:
    for what, counts in (("training", found.train), ("test", found.test)):
        if what == "test" and (counts.sum(axis=1) <= 1).all():
            continue  # a single row cannot be of all classes
        missing = [f"{layout.classes[code]} ({names[s]})" for s, code in np.argwhere(counts == 0)]
        if missing:
            text = f"Classes are absent from {what} parts: {listed(missing)}."
            yield Finding("fault" if what == "training" else "caution", f"class absent from {what}", text)


def _uneven(layout: Layout, found: Coverage) -> Iterator[Finding]:
    sizes, shares = set(), set()
    for members, folds in zip(layout.repeats, found.folds, strict=True):
        test = found.test[list(members)]
        total, spread = test.sum(axis=1), np.ptp(test, axis=0)
        worst = int(np.argmax(spread))
        if folds and np.ptp(total) > 1:
            sizes.add(f"{total.min()} to {total.max()} rows")
        if folds and spread[worst] > 1:
            shares.add(f"class {layout.classes[worst]} has {test[:, worst].min()} to {test[:, worst].max()} test rows")
    if sizes:
        yield Finding("caution", "sizes", f"Test parts differ in size by more than one row: {listed(sorted(sizes))}.")
    if shares:
        text = f"Folds are not stratified, their class counts differing by more than one: {listed(sorted(shares))}."
        yield Finding("caution", "class counts", text)
