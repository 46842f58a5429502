"""Class noise at the border between classes: where people, too, mistake one class for another."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._columns import BoolArray
from fairtrial.conditions.cells import read_table
from fairtrial.conditions.class_schemes import Problem, Relabelling
from fairtrial.conditions.neighbours import class_distances, embedded


def neighbourwise(problem: Problem, _rng: np.random.Generator) -> Relabelling:
    """The cases with the largest ratio of distances: to the nearest of the same class, to the nearest of another one.

    (Garcia et al. 2019.) Ties go to the earlier row. A case that is alone in its class comes first.
    """
    near = class_distances(problem.X, problem.codes, problem.k, problem.noise.neighbours)
    order = np.argsort(-ratios(near, problem.codes), kind="stable")
    return _relabelled(problem, order, near)


def margin(problem: Problem, _rng: np.random.Generator) -> Relabelling:
    """The cases nearest to the decision border of a support vector machine, those first that it classifies rightly.

    (Amid et al. 2019.) Ties go to the earlier row.
    """
    distance, right = margins(problem)
    order = np.lexsort((distance, ~right))
    near = class_distances(problem.X, problem.codes, problem.k, problem.noise.neighbours)
    return _relabelled(problem, order, near)


def ratios(near: FloatArray, codes: IntArray) -> FloatArray:
    """Distance to the same class over that to the nearest other class; 1 where both are 0.

    `near` holds the distances of `class_distances`.

    >>> ratios(np.array([[[1.0], [2.0]], [[3.0], [0.0]]]), np.array([0, 1]))
    array([0.5, 0. ])
    """
    everyone = np.arange(len(codes))
    same = near[everyone, codes, 0]
    others = near[:, :, 0].copy()
    others[everyone, codes] = np.inf
    other = others.min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(same == other, 1.0, same / other)


def margins(problem: Problem) -> tuple[FloatArray, BoolArray]:
    """The distance of each case to the border, and whether it lies on its own side.

    The machine is scikit-learn's SVC with C = 1 and the `kernel` of the noise: linear, or Gaussian with gamma = 1 / number of
    columns. Numbers are standardised, each nominal value is a column of zeros and ones, a missing number is put at the mean.
    With more than two classes, the nearest of the borders between the own class and another one counts.
    """
    from sklearn.svm import SVC

    points = embedded(read_table(problem.X))
    machine = SVC(kernel=problem.noise.kernel, gamma=1 / points.shape[1], decision_function_shape="ovo")
    machine.fit(points, problem.codes)
    values = machine.decision_function(points)
    right = machine.predict(points) == problem.codes
    if values.ndim == 1:
        return np.abs(values), right
    present = machine.classes_
    first, second = np.triu_indices(len(present), 1)
    own = (present[first] == problem.codes[:, None]) | (present[second] == problem.codes[:, None])
    return np.where(own, np.abs(values), np.inf).min(axis=1), right


def _relabelled(problem: Problem, order: IntArray, near: FloatArray) -> Relabelling:
    """The first of the order, as many as the level says, with the class of their neighbours."""
    everyone = list(range(problem.k))
    chosen = [order[np.isin(order, group)][:m] for group, m in problem.sources(everyone)]
    rows = np.sort(np.concatenate(chosen)).astype(np.intp)
    new = np.array([neighbouring_class(near[row], problem.codes[row]) for row in rows], dtype=np.intp)
    return Relabelling(rows, new, problem.base(everyone))


def neighbouring_class(near: FloatArray, own: int) -> int:
    """The most frequent class among the nearest cases of other classes, as many as `near` has columns.

    Of cases alike in distance those of the class that comes first in order are nearer; of classes alike in number the one with
    the nearest case wins.

    >>> neighbouring_class(np.array([[0.1, 0.2], [1.0, 4.0], [2.0, 3.0]]), own=0)
    1
    """
    k, neighbours = near.shape
    classes = np.repeat(np.arange(k), neighbours)
    far = np.where(classes == own, np.inf, near.reshape(-1))
    order = np.argsort(far, kind="stable")[:neighbours]
    nearest = classes[order[np.isfinite(far[order])]]
    counts = np.bincount(nearest, minlength=k)
    return int(nearest[np.argmax(counts[nearest])])
