"""Look at splits before trusting them: leaks, rows that are never tested, sizes, and shift between training and test parts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import between, generator, whole_number
from fairtrial.resampling.chance import Judged, families_of, judge
from fairtrial.resampling.coverage import Coverage, coverage, coverage_findings
from fairtrial.resampling.finding import LEVELS, Finding, listed
from fairtrial.resampling.layout import MOST_SPLITS, Layout, read_layout
from fairtrial.resampling.leaks import Leaks, leak_findings, leaks
from fairtrial.resampling.shift import AUC, ENERGY, OUTLYING, OUTLYING_FOLD, Shift, shift
from fairtrial.resampling.shift_findings import TOO_ALIKE, shift_findings

if TYPE_CHECKING:
    import pandas as pd


_SHORT = {ENERGY: "energy p", AUC: "AUC p", OUTLYING: "outlying p"}
_MOST_LINES = 20


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
    _layout: Layout
    _coverage: Coverage
    _leaks: Leaks
    _judged: tuple[Judged, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    @property
    def faults(self) -> tuple[Finding, ...]:
        """The findings that make estimates from these splits wrong."""
        return tuple(each for each in self.findings if each.level == "fault")

    def frame(self) -> pd.DataFrame:
        """A line for each number: check, repeat, fold, class, attribute, value; expected, low, high (95 % of random stratified
        folds), p (alone), p_adjusted (for all that was looked at). Counts have no limits and no p.
        """
        import pandas as pd

        parts = [self._counts(), *(self._lines(each) for each in self._judged)]
        columns = ["check", "repeat", "fold", "class", "attribute", "value", "expected", "low", "high", "p", "p_adjusted"]
        whole = pd.concat([part.reindex(columns=columns) for part in parts], ignore_index=True)
        return whole.astype({"repeat": "Int64", "fold": "Int64"})

    def table(self) -> pd.DataFrame:
        """A line for each split: its counts, and of each kind of shift the smallest adjusted p."""
        import pandas as pd

        found, equal = self._coverage, self._leaks
        lines = pd.DataFrame(
            {
                "split": self._layout.named,
                "train": [len(split.train) for split in self._layout.splits],
                "test": [len(split.test) for split in self._layout.splits],
                "in both": found.both,
                "duplicates": equal.same,
                "expected": equal.expected_same.round(1),
                "conflicts": equal.other,
            }
        )
        for each in (each for each in self._judged if each.cells.check != OUTLYING_FOLD):
            smallest = pd.Series(each.p_adjusted).groupby(each.cells.split).min().reindex(lines.index)
            name = _SHORT.get(each.cells.check, "attribute p")
            lines[name] = np.fmin(lines[name], smallest) if name in lines else smallest
        return lines

    @property
    def words(self) -> str:
        """The findings, and the table of splits (the first 20 of many)."""
        lines = self.table()
        shown = lines.head(_MOST_LINES).to_string(index=False, na_rep="", float_format="{:.3g}".format)
        more = f"\n... {len(lines) - _MOST_LINES} more splits" if len(lines) > _MOST_LINES else ""
        return f"{self}\n\n{shown}{more}"

    def _counts(self) -> pd.DataFrame:
        import pandas as pd

        found, equal, classes = self._coverage, self._leaks, [str(name) for name in self._layout.classes]
        where = {
            "repeat": [split.repeat for split in self._layout.splits],
            "fold": [split.fold for split in self._layout.splits],
        }
        per_split = {
            "in train and test": found.both,
            "duplicates": equal.same,
            "conflicts": equal.other,
            "train rows": found.train.sum(axis=1),
            "test rows": found.test.sum(axis=1),
        }
        expected = {"duplicates": equal.expected_same, "conflicts": equal.expected_other}
        parts = [
            pd.DataFrame({"check": check, **where, "value": values, "expected": expected.get(check, np.nan)})
            for check, values in per_split.items()
        ]
        for check, counts in (("train rows", found.train), ("test rows", found.test)):
            parts += [
                pd.DataFrame({"check": check, **where, "class": name, "value": counts[:, c]}) for c, name in enumerate(classes)
            ]
        repeats = np.arange(len(found.never))
        parts.append(pd.DataFrame({"check": "never tested", "repeat": repeats, "value": found.never}))
        parts.append(pd.DataFrame({"check": "tested again", "repeat": repeats, "value": found.again}))
        return pd.concat(parts, ignore_index=True)

    def _lines(self, judged: Judged) -> pd.DataFrame:
        import pandas as pd

        cells, layout = judged.cells, self._layout
        labels = np.array([*map(str, layout.classes), ""], dtype=object)
        attributes = np.array([*layout.columns.names, ""], dtype=object)
        parts = layout.splits.parts
        return pd.DataFrame(
            {
                "check": cells.check,
                "repeat": [None if cells.check == OUTLYING_FOLD else parts[s].repeat for s in cells.split],
                "fold": [parts[s].fold for s in cells.split],
                "class": labels[cells.label],
                "attribute": attributes[cells.attribute],
                "value": cells.values[0].astype(np.float64),
                "expected": judged.expected,
                "low": judged.low,
                "high": judged.high,
                "p": judged.p,
                "p_adjusted": judged.p_adjusted,
            }
        )

    def __str__(self) -> str:
        faults = len(self.faults)
        found = "no fault found" if faults == 0 else "1 fault found" if faults == 1 else f"{faults} faults found"
        return "\n".join([f"{self._layout.splits}: {found}.", *map(str, self.findings), *self.basis])

    def __repr__(self) -> str:
        return f"<Audit of {self.scheme}: {len(self.faults)} faults, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        head, *rest = str(self).split("\n")
        lines = "".join(f"<li>{escape(each)}</li>" for each in rest)
        return f"<p>{escape(head)}</p><ul>{lines}</ul>" + self.table().to_html(index=False, float_format="{:.3g}".format)


def audit(
    splits: Any,
    dataset: Any,
    *,
    n_permutations: int = 499,
    random_state: int = 0,
    alpha: float = 0.05,
    most_rows: int = 1000,
) -> Audit:
    """Audit splits: who is where, equal rows across the cut, and shift between test and training parts.

    `splits` are `Splits`, pairs (train, test) of positions or masks, or a splitter, which is frozen first. `dataset` has `X`
    and `y`, or is a pair (X, y); y may be None. Shift is judged against `n_permutations` random stratified folds of the same
    sizes; the chance that such folds raise any finding of shift is `alpha`. What is not found may be there all the same. Of a
    class with more than `most_rows` rows a random sample of that many is looked at.

    >>> X = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]
    >>> found = audit([([0, 1, 2, 3], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], (X, ["a", "b", "a", "b", "a", "b"]))
    >>> found.ok, found.faults[0].check
    (False, 'in train and test')
    >>> print(found.faults[0])
    fault: Rows are in the training and in the test part of one split: fold 1 (1 of 3 test rows). The test knows the answers.
    """
    n_permutations = whole_number("n_permutations", n_permutations, 19)
    most_rows = whole_number("most_rows", most_rows, 10)
    between("alpha", alpha, 0, 1)
    layout = read_layout(splits, dataset)
    seed = np.random.SeedSequence(generator("random_state", random_state).integers(0, 2**63 - 1))
    for_leaks, for_shift = seed.spawn(2)
    counts, equal = coverage(layout), leaks(layout, n_permutations, np.random.default_rng(for_leaks))
    examined = shift(layout, n_permutations, most_rows, for_shift)
    judged, alike = judge(examined.cells)
    apart = shift_findings(layout, judged, alike, alpha)
    findings = [*coverage_findings(layout, counts), *leak_findings(layout, equal, alpha), *apart]
    return Audit(
        layout.splits.scheme,
        layout.n_rows,
        alpha,
        n_permutations,
        tuple(sorted(findings, key=lambda each: LEVELS.index(each.level))),
        (
            *_basis_of_leaks(equal),
            *_basis(layout, examined, n_permutations, alpha, any(each.check != TOO_ALIKE for each in apart)),
        ),
        layout,
        counts,
        equal,
        tuple(judged),
    )


def _basis_of_leaks(equal: Leaks) -> tuple[str, ...]:
    return (f"Equal rows are judged against {equal.drawn} random stratified folds of the same sizes.",) if equal.drawn else ()


def _basis(layout: Layout, examined: Shift, n_permutations: int, alpha: float, found: bool) -> tuple[str, ...]:
    """What the judgement of shift rests on."""
    if not examined.cells:
        return ("Shift is not looked for: each test part is a single row.",)
    enough = ceil(families_of(examined.cells) / alpha) - 1
    if n_permutations < enough:
        told = [f"A shift can hardly be found at alpha {alpha:g} with {n_permutations} permutations: take at least {enough}."]
    else:
        told = [] if found else ["No shift found; a small one may be there all the same."]
    told += [
        f"Shift is judged against {n_permutations} random stratified folds of the same sizes, at alpha {alpha:g} "
        "for all splits, classes, attributes and statistics together."
    ]
    cut = np.flatnonzero((examined.sampled < examined.rows) & (examined.rows > 1))
    samples = [f"{examined.sampled[c]} of {examined.rows[c]} (class {layout.classes[c]})" for c in cut]
    if 0 < examined.together < layout.n_rows:
        samples.insert(0, f"{examined.together} of {layout.n_rows} (all classes)")
    if samples:
        told.append(f"Shift is looked for in a random sample of rows: {listed(samples)}.")
    if len(layout.splits) > MOST_SPLITS:
        told.append(f"Shift is looked for in {MOST_SPLITS} of {len(layout.splits)} splits, at even distances.")
    if not examined.attributes:
        told.append("Attributes are not looked at one by one: there are too many of them for so many splits and permutations.")
    return tuple(told)
