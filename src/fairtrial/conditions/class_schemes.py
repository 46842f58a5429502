"""Which cases get another class, and which: one function for each scheme of class noise (names after R's noisemodel)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.conditions.condition import exact_count
from fairtrial.conditions.labels import Labels
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.conditions.class_noise import ClassNoise


@dataclass(frozen=True, eq=False)
class Relabelling:
    """The chosen rows, the code of their new class, and how many cases the level refers to."""

    rows: IntArray
    codes: IntArray
    base: int


@dataclass(frozen=True, eq=False)
class Problem:
    """What a scheme may look at."""

    noise: ClassNoise
    X: Any
    labels: Labels

    @property
    def codes(self) -> IntArray:
        """The class of each case."""
        return self.labels.codes

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.labels.names)

    def sources(self, eligible: list[int]) -> list[tuple[IntArray, int]]:
        """Groups of cases and how many of each are to change: all cases together, or each class for itself.

        `eligible` are the classes that the scheme changes. The level is the share of all cases, or of the cases of each class.
        """
        level = float(self.noise.level or 0.0)
        if self.noise.of == "class":
            groups = [np.flatnonzero(self.codes == code) for code in eligible]
            return [(group, exact_count(level, len(group))) for group in groups]
        group = self._cases(eligible)
        m = exact_count(level, len(self.codes))
        if m > len(group):
            names = [self.labels.names[code] for code in eligible]
            raise InputError(
                f"level must leave enough cases to change: {level:g} of {len(self.codes)} cases is {m}, but only {len(group)} "
                f"are of the classes {names}: lower the level, or pass of='class' for a share of these cases"
            )
        return [(group, m)]

    def base(self, eligible: list[int]) -> int:
        """How many cases the level refers to."""
        return len(self._cases(eligible)) if self.noise.of == "class" else len(self.codes)

    def _cases(self, eligible: list[int]) -> IntArray:
        """The cases of these classes."""
        if len(eligible) == self.k:
            return np.arange(len(self.codes))
        return np.flatnonzero(np.isin(self.codes, eligible))

    def drawn(self, eligible: list[int], rng: np.random.Generator) -> IntArray:
        """The rows to change, by chance."""
        chosen = [rng.permutation(group)[:m] for group, m in self.sources(eligible)]
        return np.sort(np.concatenate(chosen)).astype(np.intp)


Scheme = Callable[[Problem, np.random.Generator], Relabelling]


def symmetric_uniform(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """Any of the other classes, all alike."""
    everyone = list(range(problem.k))
    rows = problem.drawn(everyone, rng)
    steps = rng.integers(1, problem.k, size=len(rows))
    return Relabelling(rows, (problem.codes[rows] + steps) % problem.k, problem.base(everyone))


def symmetric_completely_uniform(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """Any of the classes, the old one among them."""
    everyone = list(range(problem.k))
    rows = problem.drawn(everyone, rng)
    return Relabelling(rows, rng.integers(0, problem.k, size=len(rows)), problem.base(everyone))


def next_class(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """The next class in order; after the last comes the first."""
    everyone = list(range(problem.k))
    rows = problem.drawn(everyone, rng)
    return Relabelling(rows, (problem.codes[rows] + 1) % problem.k, problem.base(everyone))


def pairwise(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """Each class p of the pairs (p, q) becomes q."""
    place = problem.labels.place
    pairs = [(place(source, "pairs"), place(target, "pairs")) for source, target in problem.noise.pairs or ()]
    targets = dict(pairs)
    if len(targets) < len(pairs) or any(source == target for source, target in pairs):
        raise InputError(f"pairs must change each class into one other, got {problem.noise.pairs!r}")
    return _to_targets(problem, targets, rng)


def majority_to_second(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """The largest class becomes the second largest; of classes alike in size the first in order counts as larger."""
    largest, second = np.argsort(-problem.labels.counts, kind="stable")[:2]
    return _to_targets(problem, {int(largest): int(second)}, rng)


def minority_driven(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """The smallest and the largest class are exchanged in level * 2 * (size of the smallest) cases (Folleco et al. 2008).

    A share `minority_share` of them comes from the smallest class; of classes alike in size that is the first in order.
    """
    counts = problem.labels.counts
    present = np.flatnonzero(counts)
    smallest = int(present[np.argmin(counts[present])])
    largest = int(max((code for code in present if code != smallest), key=lambda code: counts[code]))
    base = 2 * int(counts[smallest])
    m = exact_count(float(problem.noise.level or 0.0), base)
    few = exact_count(problem.noise.minority_share, m)
    for code, wanted in ((smallest, few), (largest, m - few)):
        if wanted > counts[code]:
            raise InputError(
                f"level must leave enough cases to change: {wanted} of class {problem.labels.names[code]!r} are to change, "
                f"which has {counts[code]}: lower the level or choose another minority_share"
            )
    drawn = [
        rng.permutation(np.flatnonzero(problem.codes == code))[:wanted]
        for code, wanted in ((smallest, few), (largest, m - few))
    ]
    rows = np.sort(np.concatenate(drawn)).astype(np.intp)
    return Relabelling(rows, np.where(problem.codes[rows] == smallest, largest, smallest), base)


def transition_matrix(problem: Problem, rng: np.random.Generator) -> Relabelling:
    """Another class by the probabilities of the matrix's row, the diagonal left out.

    With a level, exactly that share of the cases changes whose class can change. Without one, 1 - diagonal is the share of each
    class that changes.
    """
    matrix = _matrix(problem)
    rates = 1 - np.diag(matrix)
    away = matrix - np.diag(np.diag(matrix))
    movable = np.flatnonzero(away.sum(axis=1) > 0).tolist()
    if problem.noise.level is None:
        members = [np.flatnonzero(problem.codes == code) for code in range(problem.k)]
        chosen = [rng.permutation(rows)[: exact_count(rates[code], len(rows))] for code, rows in enumerate(members)]
        rows, base = np.sort(np.concatenate(chosen)).astype(np.intp), len(problem.codes)
    else:
        rows, base = problem.drawn(movable, rng), problem.base(movable)
    share = np.cumsum(away[problem.codes[rows]], axis=1)
    place = rng.random(len(rows)) * share[:, -1]
    return Relabelling(rows, (share <= place[:, None]).sum(axis=1), base)


def _to_targets(problem: Problem, targets: dict[int, int], rng: np.random.Generator) -> Relabelling:
    eligible = list(targets)
    rows = problem.drawn(eligible, rng)
    return Relabelling(rows, np.array([targets[code] for code in problem.codes[rows]], dtype=np.intp), problem.base(eligible))


def _matrix(problem: Problem) -> FloatArray:
    """The transition matrix in the order of the classes; a class that a mapping leaves out does not change."""
    given, names = problem.noise.transition, problem.labels.names
    if isinstance(given, dict):
        matrix = np.eye(len(names))
        for source, row in given.items():
            place = problem.labels.place(source, "transition")
            matrix[place] = 0.0
            for target, probability in row.items():
                matrix[place, problem.labels.place(target, "transition")] = probability
        return matrix
    matrix = np.array(given, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise InputError(
            f"transition must have a row and a column for each of the {len(names)} classes {list(names)}, got shape "
            f"{matrix.shape}: name the classes in a mapping, or pass classes="
        )
    return matrix
