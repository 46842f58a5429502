"""Class noise: change the class of some rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_finite, check_numbers, check_one_of, check_whole_number
from fairtrial._frames import BoolArray, EncodedTable
from fairtrial._text import format_percentage, join_names
from fairtrial.conditions.cells import read_table
from fairtrial.conditions.condition import Changed, Condition, check_level, condition, count_rows, round_count
from fairtrial.conditions.labels import EncodedLabels, read_labels, replace_labels
from fairtrial.errors import InputError

# Distances are rounded to this many significant digits, so that rounding errors do not break ties.
_DIGITS = 12


_BLOCK = 2_000_000


def compute_class_distances(X: Any, codes: IntArray, k: int, neighbours: int) -> FloatArray:
    """Compute the distances from each case to the nearest cases of each class.

    The array of distances has shape (n, k, neighbours) and is sorted along its last axis. A case is not its own neighbour.

    The distance is the Euclidean distance between rows of standardized numbers. If some columns are nominal or some values are
    missing, the heterogeneous Euclidean-overlap metric is used instead (HEOM, Wilson and Martinez 1997). HEOM scales numbers to
    their range. Two nominal values have distance 0 if they are equal and 1 otherwise, and a missing value has distance 1. A
    distance is infinite if the class has too few cases.
    """
    table = read_table(X)
    distances = np.full((len(codes), k, neighbours), np.inf)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        distances[:, code] = _compute_member_distances(table, members, neighbours)
    return _round_significant(distances)


def encode_points(table: EncodedTable) -> FloatArray:
    """Encode the rows of a table as points in Euclidean space.

    Numbers are standardized, nominal values are one-hot encoded, and missing numbers are replaced with the mean.
    """
    columns: list[FloatArray] = []
    for j, categories in enumerate(table.categories):
        values = table.values[:, j]
        if categories is None:
            columns.append(np.nan_to_num(_standardise(values)))
        else:
            columns += [(values == code).astype(np.float64) for code in range(len(categories))]
    return np.column_stack(columns)


def _standardise(values: FloatArray) -> FloatArray:
    """Scale columns to mean 0 and sample standard deviation 1, or to 0 if they are constant."""
    seen = values[~np.isnan(values)]
    spread = seen.std(ddof=1) if len(seen) > 1 else 0.0
    return (values - seen.mean()) / spread if spread > 0 else np.where(np.isnan(values), np.nan, 0.0)


def _scale_to_range(values: FloatArray) -> FloatArray:
    seen = values[~np.isnan(values)]
    span = np.ptp(seen) if len(seen) else 0.0
    return (values - seen.min()) / span if span > 0 else np.where(np.isnan(values), np.nan, 0.0)


def _compute_member_distances(table: EncodedTable, members: IntArray, neighbours: int) -> FloatArray:
    if np.isnan(table.values).any():
        return _compute_in_blocks(table, members, neighbours)
    return _query_tree(_build_points(table), members, neighbours)


def _build_points(table: EncodedTable) -> FloatArray:
    """Encode rows without missing values as points.

    The Euclidean distance between two points equals the distance between the rows.
    """
    if not table.nominal.any():
        return np.column_stack([_standardise(table.values[:, j]) for j in range(table.values.shape[1])])
    columns = []
    for j, categories in enumerate(table.categories):
        values = table.values[:, j]
        if categories is None:
            columns.append(_scale_to_range(values))
        else:  # different values have distance 1
            columns += [(values == code) / np.sqrt(2) for code in range(len(categories))]
    return np.column_stack(columns)


def _query_tree(points: FloatArray, members: IntArray, neighbours: int) -> FloatArray:
    from scipy.spatial import cKDTree

    n_query = min(neighbours + 1, len(members))  # one more neighbour, because each member also finds itself
    far, index = cKDTree(points[members]).query(points, k=n_query)
    far, index = (np.asarray(array).reshape(len(points), n_query) for array in (far, index))
    itself = members[index] == np.arange(len(points))[:, None]
    return _take_nearest(np.where(itself, np.inf, far), neighbours)


def _take_nearest(far: FloatArray, neighbours: int) -> FloatArray:
    """Return the smallest distances of each row, padded with infinity if there are too few."""
    nearest = np.sort(far, axis=1)[:, :neighbours]
    return np.column_stack([nearest, np.full((len(nearest), neighbours - nearest.shape[1]), np.inf)])


def _compute_in_blocks(table: EncodedTable, members: IntArray, neighbours: int) -> FloatArray:
    scaled = np.column_stack(
        [
            table.values[:, j] if categories is not None else _scale_to_range(table.values[:, j])
            for j, categories in enumerate(table.categories)
        ]
    )
    rows = max(1, _BLOCK // len(members))
    blocks = []
    for start in range(0, len(scaled), rows):
        block = scaled[start : start + rows]
        total = np.zeros((len(block), len(members)))
        for j, nominal in enumerate(table.nominal):
            difference = block[:, j, None] - scaled[members, j]
            square = (difference != 0).astype(np.float64) if nominal else difference * difference
            total += np.where(np.isnan(difference), 1.0, square)
        total[members == np.arange(start, start + len(block))[:, None]] = np.inf
        blocks.append(_take_nearest(np.sqrt(total), neighbours))
    return np.concatenate(blocks)


def _round_significant(values: FloatArray) -> FloatArray:
    finite = np.isfinite(values) & (values > 0)
    decimals = _DIGITS - 1 - np.floor(np.log10(values, where=finite, out=np.zeros_like(values)))
    scale = 10.0 ** np.clip(decimals, -300, 300)
    return np.where(finite, np.round(np.where(finite, values, 0.0) * scale) / scale, values)


@dataclass(frozen=True, eq=False)
class Relabelling:
    """Drawn rows, codes of their new classes, and number of cases to which the level refers."""

    rows: IntArray
    codes: IntArray
    base: int


@dataclass(frozen=True, eq=False)
class NoiseProblem:
    """The input of a noise scheme: the condition, the attributes and the classes."""

    noise: ClassNoise
    X: Any
    labels: EncodedLabels

    @property
    def codes(self) -> IntArray:
        """Class code of each case."""
        return self.labels.codes

    @property
    def k(self) -> int:
        """Number of classes."""
        return len(self.labels.names)

    def plan_changes(self, eligible: list[int]) -> list[tuple[IntArray, int]]:
        """Return groups of cases, and the number of cases to change in each group.

        `eligible` lists the codes of the classes that the scheme changes. If the level is a proportion of all cases, the cases
        of these classes form one group. If the level is a proportion of each class, each class is a group.
        """
        level = float(self.noise.level or 0.0)
        if self.noise.of == "class":
            groups = [np.flatnonzero(self.codes == code) for code in eligible]
            return [(group, round_count(level, len(group))) for group in groups]
        group = self._find_cases(eligible)
        m = round_count(level, len(self.codes))
        if m > len(group):
            names = [self.labels.names[code] for code in eligible]
            raise InputError(
                f"level must be at most {len(group) / len(self.codes):g}, the proportion of the classes {join_names(names)}, "
                f"got {level:g}: lower the level, or pass of='class' for a proportion of these classes"
            )
        return [(group, m)]

    def count_eligible(self, eligible: list[int]) -> int:
        """Count the cases to which the level refers."""
        return len(self._find_cases(eligible)) if self.noise.of == "class" else len(self.codes)

    def _find_cases(self, eligible: list[int]) -> IntArray:
        if len(eligible) == self.k:
            return np.arange(len(self.codes))
        return np.flatnonzero(np.isin(self.codes, eligible))

    def draw_rows(self, eligible: list[int], rng: np.random.Generator) -> IntArray:
        """Draw the rows to change at random."""
        chosen = [rng.permutation(group)[:m] for group, m in self.plan_changes(eligible)]
        return np.sort(np.concatenate(chosen)).astype(np.intp)


Scheme = Callable[[NoiseProblem, np.random.Generator], Relabelling]


def flip_symmetric_uniform(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change each drawn case to any other class, with equal probability."""
    all_classes = list(range(problem.k))
    rows = problem.draw_rows(all_classes, rng)
    steps = rng.integers(1, problem.k, size=len(rows))
    return Relabelling(rows, (problem.codes[rows] + steps) % problem.k, problem.count_eligible(all_classes))


def flip_symmetric_completely_uniform(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change each drawn case to any class, including the old one, with equal probability."""
    all_classes = list(range(problem.k))
    rows = problem.draw_rows(all_classes, rng)
    return Relabelling(rows, rng.integers(0, problem.k, size=len(rows)), problem.count_eligible(all_classes))


def flip_to_next_class(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change each drawn case to the next class in order, and the last class to the first."""
    all_classes = list(range(problem.k))
    rows = problem.draw_rows(all_classes, rng)
    return Relabelling(rows, (problem.codes[rows] + 1) % problem.k, problem.count_eligible(all_classes))


def flip_pairwise(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change cases of class p to class q, for each pair (p, q)."""
    find_code = problem.labels.find_code
    pairs = [(find_code(source, "pairs"), find_code(target, "pairs")) for source, target in problem.noise.pairs or ()]
    targets = dict(pairs)
    if len(targets) < len(pairs) or any(source == target for source, target in pairs):
        raise InputError(f"pairs must change each class to one other class, got {problem.noise.pairs!r}")
    return _flip_to_targets(problem, targets, rng)


def flip_majority_to_second(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change cases of the largest class to the second largest class.

    Ties are broken by the order of the classes.
    """
    largest, second = np.argsort(-problem.labels.counts, kind="stable")[:2]
    return _flip_to_targets(problem, {int(largest): int(second)}, rng)


def flip_minority_driven(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change cases of the smallest class to the largest class, and vice versa.

    The scheme follows Folleco et al. (2008). The number of changed cases is level * 2 * (size of the smallest class), rounded.
    A proportion `minority_share` of these cases comes from the smallest class. Ties are broken by the order of the classes.
    """
    counts = problem.labels.counts
    present = np.flatnonzero(counts)
    smallest = int(present[np.argmin(counts[present])])
    largest = int(max((code for code in present if code != smallest), key=lambda code: counts[code]))
    base = 2 * int(counts[smallest])
    m = round_count(float(problem.noise.level or 0.0), base)
    n_minority = round_count(problem.noise.minority_share, m)
    for code, n_cases in ((smallest, n_minority), (largest, m - n_minority)):
        if n_cases > counts[code]:
            raise InputError(
                f"level must not change more cases than a class has, got {n_cases} of {counts[code]} cases of class "
                f"{problem.labels.names[code]!r}: lower the level, or pass another minority_share"
            )
    chosen = [
        rng.permutation(np.flatnonzero(problem.codes == code))[:n_cases]
        for code, n_cases in ((smallest, n_minority), (largest, m - n_minority))
    ]
    rows = np.sort(np.concatenate(chosen)).astype(np.intp)
    return Relabelling(rows, np.where(problem.codes[rows] == smallest, largest, smallest), base)


def flip_by_transition_matrix(problem: NoiseProblem, rng: np.random.Generator) -> Relabelling:
    """Change each drawn case to another class, as given by the transition matrix.

    The probabilities of the new classes are proportional to the off-diagonal elements. If a level is given, exactly that
    proportion of the cases changes. Otherwise, the proportion of changed cases in each class is 1 minus the diagonal element of
    the class.
    """
    matrix = _build_transition_matrix(problem)
    rates = 1 - np.diag(matrix)
    away = matrix - np.diag(np.diag(matrix))
    movable = np.flatnonzero(away.sum(axis=1) > 0).tolist()
    if problem.noise.level is None:
        members = [np.flatnonzero(problem.codes == code) for code in range(problem.k)]
        chosen = [rng.permutation(rows)[: round_count(rates[code], len(rows))] for code, rows in enumerate(members)]
        rows, base = np.sort(np.concatenate(chosen)).astype(np.intp), len(problem.codes)
    else:
        rows, base = problem.draw_rows(movable, rng), problem.count_eligible(movable)
    cumulative = np.cumsum(away[problem.codes[rows]], axis=1)
    threshold = rng.random(len(rows)) * cumulative[:, -1]
    return Relabelling(rows, (cumulative <= threshold[:, None]).sum(axis=1), base)


def _flip_to_targets(problem: NoiseProblem, targets: dict[int, int], rng: np.random.Generator) -> Relabelling:
    eligible = list(targets)
    rows = problem.draw_rows(eligible, rng)
    return Relabelling(
        rows, np.array([targets[code] for code in problem.codes[rows]], dtype=np.intp), problem.count_eligible(eligible)
    )


def _build_transition_matrix(problem: NoiseProblem) -> FloatArray:
    """Build the transition matrix in the order of the classes.

    Classes that a mapping omits do not change.
    """
    transition, names = problem.noise.transition, problem.labels.names
    if isinstance(transition, dict):
        matrix = np.eye(len(names))
        for source, row in transition.items():
            code = problem.labels.find_code(source, "transition")
            matrix[code] = 0.0
            for target, probability in row.items():
                matrix[code, problem.labels.find_code(target, "transition")] = probability
        return matrix
    matrix = np.array(transition, dtype=np.float64)
    if matrix.shape != (len(names), len(names)):
        raise InputError(
            f"transition must have a row and a column for each of the {len(names)} classes {join_names(names)}, got shape "
            f"{matrix.shape}: pass a mapping with class names, or pass classes="
        )
    return matrix


def flip_neighbourwise(problem: NoiseProblem, _rng: np.random.Generator) -> Relabelling:
    """Change the cases that are far from their own class, relative to the nearest other class.

    Cases are ordered by the ratio of these two distances, with the largest ratio first (Garcia et al. 2019). Ties are broken by
    row order. Cases that are alone in their class come first.
    """
    near = compute_class_distances(problem.X, problem.codes, problem.k, problem.noise.neighbours)
    order = np.argsort(-compute_distance_ratios(near, problem.codes), kind="stable")
    return _flip_first(problem, order, near)


def flip_by_margin(problem: NoiseProblem, _rng: np.random.Generator) -> Relabelling:
    """Change the cases nearest to the decision boundary of a support vector machine.

    The scheme follows Amid et al. (2019). Correctly classified cases come first. Ties are broken by row order.
    """
    distance, right = compute_margins(problem)
    order = np.lexsort((distance, ~right))
    near = compute_class_distances(problem.X, problem.codes, problem.k, problem.noise.neighbours)
    return _flip_first(problem, order, near)


def compute_distance_ratios(near: FloatArray, codes: IntArray) -> FloatArray:
    """Divide the distance of each case to its own class by that to the nearest other class.

    The ratio is 1 if both distances are 0. `near` contains the distances that `compute_class_distances` returns.

    >>> compute_distance_ratios(np.array([[[1.0], [2.0]], [[3.0], [0.0]]]), np.array([0, 1]))
    array([0.5, 0. ])
    """
    all_rows = np.arange(len(codes))
    same = near[all_rows, codes, 0]
    other_distances = near[:, :, 0].copy()
    other_distances[all_rows, codes] = np.inf
    nearest_other = other_distances.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(same == nearest_other, 1.0, same / nearest_other)


def compute_margins(problem: NoiseProblem) -> tuple[FloatArray, BoolArray]:
    """Compute the margin of each case, and whether the case is classified correctly.

    The margin is the absolute value of the decision function of a support vector machine. With more than two classes, it is the
    smallest absolute value among the decision functions that separate the case's own class from another class.

    The classifier is scikit-learn's SVC with C = 1. Its `kernel` is linear, or Gaussian with gamma = 1 / number of columns.
    Numbers are standardized, nominal values are one-hot encoded, and missing numbers are replaced with the mean.
    """
    from sklearn.svm import SVC

    points = encode_points(read_table(problem.X))
    svm = SVC(kernel=problem.noise.kernel, gamma=1 / points.shape[1], decision_function_shape="ovo")
    svm.fit(points, problem.codes)
    values = svm.decision_function(points)
    right = svm.predict(points) == problem.codes
    if values.ndim == 1:
        return np.abs(values), right
    present = svm.classes_
    first, second = np.triu_indices(len(present), 1)
    involves_class = (present[first] == problem.codes[:, None]) | (present[second] == problem.codes[:, None])
    return np.where(involves_class, np.abs(values), np.inf).min(axis=1), right


def _flip_first(problem: NoiseProblem, order: IntArray, near: FloatArray) -> Relabelling:
    """Change the first cases in `order` to the most frequent class among their neighbours."""
    all_classes = list(range(problem.k))
    chosen = [order[np.isin(order, group)][:m] for group, m in problem.plan_changes(all_classes)]
    rows = np.sort(np.concatenate(chosen)).astype(np.intp)
    new = np.array([find_neighbouring_class(near[row], problem.codes[row]) for row in rows], dtype=np.intp)
    return Relabelling(rows, new, problem.count_eligible(all_classes))


def find_neighbouring_class(near: FloatArray, own_class: int) -> int:
    """Find the most frequent class among the nearest neighbours from other classes.

    `near` has one row per class and one column per neighbour.

    Neighbours at the same distance are ordered by class. If several classes are equally frequent, the class of the nearest
    neighbour is chosen.

    >>> find_neighbouring_class(np.array([[0.1, 0.2], [1.0, 4.0], [2.0, 3.0]]), own_class=0)
    1
    """
    k, neighbours = near.shape
    classes = np.repeat(np.arange(k), neighbours)
    far = np.where(classes == own_class, np.inf, near.reshape(-1))
    order = np.argsort(far, kind="stable")[:neighbours]
    nearest = classes[order[np.isfinite(far[order])]]
    counts = np.bincount(nearest, minlength=k)
    return int(nearest[np.argmax(counts[nearest])])


SCHEMES: dict[str, Scheme] = {
    "symmetric-uniform": flip_symmetric_uniform,
    "symmetric-completely-uniform": flip_symmetric_completely_uniform,
    "transition-matrix": flip_by_transition_matrix,
    "next-class": flip_to_next_class,
    "pairwise": flip_pairwise,
    "majority-to-second": flip_majority_to_second,
    "minority-driven": flip_minority_driven,
    "neighbourwise-borderline": flip_neighbourwise,
    "margin-borderline": flip_by_margin,
}


# Parameters that apply to a single scheme.
_SCHEME_PARAMETERS: dict[str, str] = {"transition": "transition-matrix", "pairs": "pairwise"}


# Schemes that need at least two classes with cases.
_TWO_CLASS_SCHEMES = ("majority-to-second", "minority-driven", "neighbourwise-borderline", "margin-borderline")


@condition("class-noise")
@dataclass(frozen=True)
class ClassNoise(Condition):
    """Class noise: change the class of an exact proportion of the cases.

    By default, round(level * n) of the n cases are drawn, with halves rounded to even. The scheme determines which cases are
    drawn, and their new classes:

    - `"symmetric-uniform"`: any other class, with equal probability. Zhu and Wu (2004) call this scheme random class noise, as
      does the paper on the equalized loss of accuracy (ELA).
    - `"symmetric-completely-uniform"`: any class, with equal probability (Berrar). A case can keep its old class, so fewer
      cases change than are drawn.
    - `"transition-matrix"`: another class, with probabilities proportional to the off-diagonal elements of `transition`.
    - `"next-class"`: the next class in order. The last class changes to the first one.
    - `"pairwise"`: class p becomes q, for each (p, q) in `pairs`.
    - `"majority-to-second"`: cases of the largest class change to the second largest class.
    - `"minority-driven"`: the smallest and the largest class are swapped in round(level * 2 * size of the smallest class)
      cases.
    - `"neighbourwise-borderline"`: the cases that are far from their own class, relative to the nearest other class, are drawn.
      They change to the most frequent class among their nearest neighbours from other classes.
    - `"margin-borderline"`: the cases nearest to the decision boundary of a support vector machine are drawn, with correctly
      classified cases first. They change to the most frequent class among their nearest neighbours from other classes.

    Parameters
    ----------
    level : float or None
        Proportion of cases to change, from 0 to 1. It can be None for "transition-matrix". In this case, the proportion of
        changed cases in each class is 1 minus the diagonal element of the class in `transition`.
    scheme : str, default "symmetric-uniform"
        One of the schemes above.
    transition : matrix or mapping, optional
        Transition probabilities: a matrix whose rows sum to 1, or a mapping {old class: {new class: probability}}.
    pairs : list of pairs or mapping, optional
        Pairs (old class, new class) for "pairwise".
    of : {"all", "class"}, default "all"
        Whether the level is a proportion of all cases, or of each class that the scheme changes.
    classes : {"present", "declared"} or list, default "present"
        Possible classes: the classes that occur ("present"), the categories of a pandas categorical column ("declared"), or an
        ordered list.
    minority_share : float, default 0.1
        Proportion of the cases changed by "minority-driven" that come from the smallest class.
    neighbours : int, default 1
        Number of nearest neighbours for the borderline schemes.
    kernel : {"linear", "rbf"}, default "linear"
        Kernel of the support vector machine in "margin-borderline".
    part : {"train", "test", "all"}, default "train"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> changed = ClassNoise(0.5).apply([[1], [2], [3], [4]], ["a", "a", "b", "b"], rng=7)
    >>> changed.y, changed.mask.tolist(), changed.level
    (['b', 'a', 'a', 'b'], [True, False, True, False], 0.5)
    """

    level: float | None
    scheme: str = "symmetric-uniform"
    transition: Any = field(default=None, hash=False)
    pairs: Any = None
    of: Literal["all", "class"] = "all"
    classes: Any = "present"
    minority_share: float = 0.1
    neighbours: int = 1
    kernel: Literal["linear", "rbf"] = "linear"

    def _check(self) -> None:
        check_one_of("scheme", self.scheme, SCHEMES)
        check_one_of("of", self.of, ["all", "class"])
        if self.level is not None or self.scheme != "transition-matrix":
            check_level(self.level)
        check_level(self.minority_share, "minority_share")
        check_whole_number("neighbours", self.neighbours, 1)
        check_one_of("kernel", self.kernel, ["linear", "rbf"])
        for name, scheme in _SCHEME_PARAMETERS.items():
            if (getattr(self, name) is None) == (self.scheme == scheme):
                rule = "be given" if self.scheme == scheme else "be None"
                raise InputError(f"{name} must {rule} for the scheme {self.scheme!r}, got {getattr(self, name)!r}")
        if isinstance(self.classes, str):
            check_one_of("classes", self.classes, ["present", "declared"])
        else:
            object.__setattr__(self, "classes", tuple(self.classes))
        if self.transition is not None:
            object.__setattr__(self, "transition", check_transition(self.transition))
        if self.pairs is not None:
            object.__setattr__(self, "pairs", check_pairs(self.pairs))

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        n = count_rows(X)
        labels = read_labels(y, self.classes)
        if self.level == 0:
            return Changed(X, y, np.zeros(n, dtype=bool), 0.0, np.arange(n))
        present_classes = (
            labels.names if self.scheme not in _TWO_CLASS_SCHEMES else [labels.names[code] for code in np.unique(labels.codes)]
        )
        if len(present_classes) < 2:
            raise InputError(f"y must contain at least 2 classes for class noise, got only {present_classes[0]!r}")
        relabelling = SCHEMES[self.scheme](NoiseProblem(self, X, labels), rng)
        mask = np.zeros(n, dtype=bool)
        mask[relabelling.rows] = relabelling.codes != labels.codes[relabelling.rows]
        new = relabelling.codes[mask[relabelling.rows]]
        changed = replace_labels(y, np.flatnonzero(mask), [labels.names[code] for code in new])
        level = float(mask.sum() / relabelling.base) if relabelling.base else 0.0
        return Changed(X, changed, mask, level, np.arange(n), len(relabelling.rows))

    def _describe_change(self) -> str:
        text = f"{format_percentage(self.level)} class noise" if self.level is not None else "class noise"
        among = ", of each class" if self.of == "class" else ""
        return f"{text} ({self.scheme}{among})"


def check_transition(transition: Any) -> Any:
    """Check that each row of probabilities sums to 1.

    Return a mapping of mappings, or a tuple of rows.
    """
    if hasattr(transition, "to_dict") and hasattr(transition, "columns"):
        transition = transition.to_dict(orient="index")
    if isinstance(transition, Mapping):
        if not all(isinstance(row, Mapping) for row in transition.values()):
            raise InputError(f"transition must map each class to a mapping of classes to probabilities, got {transition!r}")
        for source, row in transition.items():
            _check_probability_row(f"transition of {source!r}", list(row.values()))
        return {
            source: {target: float(probability) for target, probability in row.items()} for source, row in transition.items()
        }
    matrix = check_numbers("transition", transition)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"transition must be a square matrix or a mapping, got shape {matrix.shape}")
    for number, row in enumerate(matrix.tolist()):
        _check_probability_row(f"row {number} of transition", row)
    return tuple(tuple(row) for row in matrix.tolist())


def _check_probability_row(name: str, row: list[Any]) -> None:
    values = check_finite(name, check_numbers(name, row))
    if (values < 0).any() or abs(values.sum() - 1) > 1e-9:
        raise InputError(f"{name} must contain probabilities that sum to 1, got {row} with sum {values.sum():g}")


def check_pairs(value: Any) -> tuple[tuple[Any, Any], ...]:
    """Check that each pair (p, q) contains two distinct classes and that no p occurs twice.

    A single pair and a mapping from p to q are also accepted.
    """
    pairs = list(value.items()) if isinstance(value, Mapping) else list(value) if not isinstance(value, str) else []
    if len(pairs) == 2 and not any(isinstance(pair, Sequence) and not isinstance(pair, str) for pair in pairs):
        pairs = [tuple(pairs)]
    if not pairs or not all(isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2 for pair in pairs):
        raise InputError(f"pairs must contain pairs of classes (old, new), got {value!r}")
    sources = [source for source, _ in pairs]
    for source, target in pairs:
        if source == target:
            raise InputError(f"pairs must contain pairs of different classes, got ({source!r}, {target!r})")
        if sources.count(source) > 1:
            raise InputError(f"pairs must change each class to one other class, got {source!r} twice: use a transition matrix")
    return tuple((source, target) for source, target in pairs)
