"""What the judged statistics say, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairtrial.resampling.chance import Alike, Judged
from fairtrial.resampling.finding import Finding, Level, listed
from fairtrial.resampling.layout import Layout
from fairtrial.resampling.shift import AUC, ENERGY, HELLINGER, KS, OUTLYING, OUTLYING_FOLD

_SAYS = {
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
class _Cell:
    split: int
    text: str
    p: float


def shift_findings(layout: Layout, judged: Sequence[Judged], alike: Sequence[Alike], alpha: float) -> list[Finding]:
    """Findings of shift, of outlying folds, and of parts that are more alike than by chance."""
    return [*_shifted(layout, judged, alpha), *_outlying(layout, judged, alpha), *_alike(alike, alpha)]


def _shifted(layout: Layout, judged: Sequence[Judged], alpha: float) -> Iterator[Finding]:
    level, why = _blame(layout)
    for check, says in _SAYS.items():
        found: list[_Cell] = []
        for each in judged:
            if each.cells.check == check:
                found += [_cell(layout, each, i) for i in np.flatnonzero(each.p_adjusted <= alpha).tolist()]
        if found:
            worst = sorted(found, key=lambda cell: (cell.p, cell.split))
            yield Finding(level, check, f"{says}: {listed([cell.text for cell in worst])}. {why}.")


def _blame(layout: Layout) -> tuple[Level, str]:
    """Shift is a fault, except between groups: there it is to be expected."""
    return ("note", _GROUPS) if by_group(layout.splits.scheme) else ("fault", _ON_PURPOSE)


def by_group(scheme: str) -> bool:
    """Whether the name of a scheme says that whole groups go into the parts.

    >>> by_group("Repeated(splitter=GroupKFold(), n_repeats=2)"), by_group("StratifiedKFold()"), by_group("given")
    (True, False, False)
    """
    return "Group" in scheme


def _cell(layout: Layout, judged: Judged, i: int) -> _Cell:
    cells, split = judged.cells, int(judged.cells.split[i])
    attribute = f"{layout.columns.names[cells.attribute[i]]} in " if cells.attribute[i] >= 0 else ""
    whose = f"class {layout.classes[cells.label[i]]}" if cells.label[i] >= 0 else "all classes"
    where = f"{attribute}{whose} of {layout.named[split]}"
    value, expected, p = float(cells.values[0, i]), float(judged.expected[i]), float(judged.p_adjusted[i])
    return _Cell(split, f"{where} {value:.3g} where {expected:.3g} is expected (p = {p:.2g})", p)


def _outlying(layout: Layout, judged: Sequence[Judged], alpha: float) -> Iterator[Finding]:
    level, _ = _blame(layout)
    for each in (each for each in judged if each.cells.check in {OUTLYING, OUTLYING_FOLD}):
        where = np.flatnonzero(each.p_adjusted <= alpha).tolist()
        farther = [i for i in where if each.cells.values[0, i] > 0]
        nearer = [i for i in where if each.cells.values[0, i] <= 0]
        told = []
        if farther:
            told.append(
                f"Test rows lie farther from the centre of their class than training rows: {_by(layout, each, farther)}."
            )
        if nearer:
            told.append(f"Test rows lie nearer to the centre of their class than training rows: {_by(layout, each, nearer)}.")
        if level == "note":
            told.append(f"{_GROUPS}.")
        elif any(_fold(layout, each, i) == "fold 1" for i in farther):
            told.append(f"{_SEEDS}.")
        if where:
            yield Finding(level, each.cells.check, " ".join(told))


def _by(layout: Layout, judged: Judged, where: Sequence[int]) -> str:
    """By how much, and what random folds do."""
    return listed(
        [
            f"{_named(layout, judged, i)} by {100 * abs(judged.cells.values[0, i]):.2g} % "
            f"(random folds {100 * judged.low[i]:+.2g} to {100 * judged.high[i]:+.2g} %, p = {judged.p_adjusted[i]:.2g})"
            for i in where
        ]
    )


def _fold(layout: Layout, judged: Judged, i: int) -> str:
    return layout.named[int(judged.cells.split[i])].split(" of ")[0]


def _named(layout: Layout, judged: Judged, i: int) -> str:
    if judged.cells.check == OUTLYING_FOLD:
        return f"{_fold(layout, judged, i)} of all repeats"
    return layout.named[int(judged.cells.split[i])]


def _alike(alike: Sequence[Alike], alpha: float) -> Iterator[Finding]:
    told = [
        f"mean {each.check} {each.mean:.3g} where {each.expected:.3g} is expected (p = {each.p_adjusted:.2g})"
        for each in alike
        if each.p_adjusted <= alpha
    ]
    if told:
        text = f"Test and training parts are more alike than those of random stratified folds: {listed(told)}. {_TOO_ALIKE}."
        yield Finding("note", TOO_ALIKE, text)
