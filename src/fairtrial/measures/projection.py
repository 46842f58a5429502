"""Projection of learners onto the plane, based on how much their confusion tables differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import format_html_table
from fairtrial.errors import InputError
from fairtrial.measures.confusion import Confusion

if TYPE_CHECKING:
    import pandas as pd

IDEAL = "Ideal"
# Tolerance, relative to the largest distance, for exact distances and equal errors.
_EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class Projection:
    """Learners as points in the plane, with the ideal learner at the origin.

    Attributes
    ----------
    points : DataFrame
        Coordinates x and y. The first row is Ideal, the learner without errors.
    distances : DataFrame
        Distances between all pairs before the projection. Ideal is in the first row and column.
    parents : Series
        Parent of each learner in the minimum spanning tree.
    exact : DataFrame
        For each pair, whether the distance in the plane is exact.
    stress : float
        Kruskal's stress-1 over all pairs; 0 if all distances are exact.
    distance, method : str
        Options of `projection`.

    Examples
    --------
    >>> plane = projection({"A": [[40, 10], [10, 40]], "B": [[50, 0], [20, 30]]})
    >>> plane.distance_to_ideal.round(3).to_dict()
    {'A': 20.0, 'B': 28.284}
    """

    points: pd.DataFrame
    distances: pd.DataFrame
    parents: pd.Series[str]
    exact: pd.DataFrame
    stress: float
    distance: str
    method: str

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners in the given order, without Ideal."""
        return tuple(self.points.index[1:])

    @property
    def distance_to_ideal(self) -> pd.Series[float]:
        """The distance from each learner to Ideal before the projection; lower is better."""
        return self.distances[IDEAL].iloc[1:].rename("distance_to_ideal")

    def frame(self) -> pd.DataFrame:
        """Return a frame with one row for Ideal and one row per learner.

        The columns contain the coordinates, the parent and the distance to Ideal.
        """
        return self.points.assign(
            distance_to_ideal=self.distances[IDEAL], parent=self.parents.reindex(self.points.index, fill_value="")
        )

    def __str__(self) -> str:
        return f"{self._format_headline()}\n{self._format_frame().to_string()}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._format_headline())}</p>{format_html_table(self._format_frame(), index=True)}"

    def _format_frame(self) -> pd.DataFrame:
        frame = self.frame().rename(columns={"distance_to_ideal": "distance to Ideal"}).rename_axis(index=None)
        for name in ("x", "y", "distance to Ideal"):
            # Adding 0 turns -0 into 0.
            frame[name] = [f"{round(value, 3) + 0:.3f}" for value in frame[name]]
        return frame

    def _format_headline(self) -> str:
        pairs = np.triu_indices(len(self.exact), 1)
        exact = self.exact.to_numpy()[pairs]
        exact_text = f"{int(exact.sum())} of {len(exact)} distances are exact"
        return f"Projection ({self.method}, {self.distance}): stress {self.stress:.4f}, {exact_text}"


def projection(
    tables: Mapping[str, Any],
    *,
    distance: Literal["L2", "L1"] = "L2",
    method: Literal["tree", "mds"] = "tree",
    normalise: bool = False,
) -> Projection:
    """Show learners as points in the plane, with distances that reflect how their errors differ.

    Each learner is represented by the vector of all cells of its confusion tables (Japkowicz, Sanghi & Tischer 2008). The point
    "Ideal" represents a learner without errors.

    Parameters
    ----------
    tables : mapping of str to table or list of tables
        Confusion tables of each learner, one per domain. Rows are true classes. All learners need the same domains with the
        same class totals.
    distance : {"L2", "L1"}, default "L2"
        "L1" counts every error twice. "L2" gives more weight to errors that are concentrated in a few cells.
    method : {"tree", "mds"}, default "tree"
        "tree" preserves the distances of each learner to Ideal and to its parent in the minimum spanning tree, but can distort
        all other distances. "mds" (multidimensional scaling) distributes the distortion over all pairs.
    normalise : bool, default False
        Whether to divide each table by its total, to give all domains the same weight.

    Returns
    -------
    Projection

    Examples
    --------
    >>> from fairtrial.measures import projection
    >>> print(projection({"A": [[40, 10], [10, 40]], "B": [[50, 0], [20, 30]], "C": [[50, 0], [4, 46]]}))
    Projection (tree, L2): stress 0.0000, 6 of 6 distances are exact
                x       y distance to Ideal parent
    Ideal   0.000   0.000             0.000
    A      14.142  14.142            20.000      C
    B      28.284   0.000            28.284      A
    C       5.657   0.000             5.657  Ideal
    """
    _check.check_one_of("distance", distance, ("L2", "L1"))
    _check.check_one_of("method", method, ("tree", "mds"))
    names, vectors = _build_vectors(tables, normalise)
    distances = _compute_pairwise_distances(vectors, distance)
    order, parents = _grow_tree(distances)
    points = _place_along_tree(distances, order, parents) if method == "tree" else _scale_distances(distances, order)
    return _build_projection(names, points, distances, parents, distance, method)


def _build_projection(
    names: list[str], points: FloatArray, distances: FloatArray, parents: list[int], distance: str, method: str
) -> Projection:
    import pandas as pd

    names_with_ideal = pd.Index([IDEAL, *names], name="learner")
    plane_distances = _compute_pairwise_distances(points, "L2")
    squares = (distances**2).sum()
    return Projection(
        points=pd.DataFrame(points, index=names_with_ideal, columns=pd.Index(["x", "y"])),
        distances=pd.DataFrame(distances, index=names_with_ideal, columns=names_with_ideal),
        parents=pd.Series(
            [names_with_ideal[parent] for parent in parents[1:]], index=names_with_ideal[1:], name="parent", dtype=object
        ),
        exact=pd.DataFrame(
            np.abs(plane_distances - distances) <= _EXACT * distances.max(), index=names_with_ideal, columns=names_with_ideal
        ),
        stress=float(np.sqrt(((plane_distances - distances) ** 2).sum() / squares)) if squares else 0.0,
        distance=distance,
        method=method,
    )


def _compute_pairwise_distances(vectors: FloatArray, distance: str) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors[:, None] - vectors[None], ord=1 if distance == "L1" else 2, axis=-1))


def _grow_tree(distances: FloatArray) -> tuple[list[int], list[int]]:
    """Build a minimum spanning tree from point 0 (Prim).

    Return the points in order of insertion, and the parent of each point.
    """
    order, parents = [0], [0] * len(distances)
    left = list(range(1, len(distances)))
    while left:
        steps = distances[np.ix_(order, left)]
        parent, joined = np.unravel_index(np.argmin(steps), steps.shape)
        new = left.pop(int(joined))
        parents[new] = order[int(parent)]
        order.append(new)
    return order, parents


def _place_along_tree(distances: FloatArray, order: list[int], parents: list[int]) -> FloatArray:
    points = np.zeros((len(distances), 2))
    for step, new in enumerate(order[1:], start=1):
        placed = [point for point in order[:step] if distances[point, 0] > 0]
        if distances[new, 0] == 0:
            continue  # this learner makes no errors and stays at the origin
        if not placed:
            points[new] = distances[new, 0], 0.0
            continue
        # A parent at the origin does not determine the angle, so the nearest other point does.
        anchor = parents[new] if parents[new] in placed else min(placed, key=lambda point: distances[new, point])
        points[new] = _choose_side(points, distances, new, anchor, placed)
    return points


def _choose_side(points: FloatArray, distances: FloatArray, new: int, anchor: int, placed: list[int]) -> FloatArray:
    """Choose the better of the two points with the exact distances from Ideal and the anchor."""
    to_ideal, side, to_anchor = distances[new, 0], distances[anchor, 0], distances[new, anchor]
    # Half angles are accurate for small angles, but the cosine is not. If rounding separates the circles, clipping keeps the
    # distance to Ideal and minimizes the error of the other distance.
    squared_sine = (to_anchor - (to_ideal - side)) * (to_anchor + (to_ideal - side)) / (4 * to_ideal * side)
    angle = 2 * np.arcsin(np.sqrt(np.clip(squared_sine, 0.0, 1.0)))
    start = np.arctan2(points[anchor, 1], points[anchor, 0])
    sides = [to_ideal * np.array([np.cos(start + turn), np.sin(start + turn)]) for turn in (angle, -angle)]
    errors = [((np.linalg.norm(points[placed] - spot, axis=1) - distances[new, placed]) ** 2).sum() for spot in sides]
    # Ties always occur while all points lie on one line. If there is a tie, the left side is chosen, so rounding does not
    # mirror the plot.
    return np.asarray(sides[0] if errors[0] <= errors[1] + _EXACT * distances.max() ** 2 else sides[1])


def _scale_distances(distances: FloatArray, order: list[int], starts: int = 20) -> FloatArray:
    """Apply metric multidimensional scaling with Ideal at the origin.

    The best solution from several starting points is used, because stress has local minima.
    """
    shape, size = (len(distances), 2), distances.max()
    random_starts = np.random.default_rng(0).normal(scale=size, size=(starts, *shape))
    tries = [_run_smacof(distances, start) for start in [_scale_classical(distances), *random_starts]]
    errors = [((_compute_pairwise_distances(points, "L2") - distances) ** 2).sum() for points in tries]
    # Take the first of equally good solutions, so the choice does not depend on rounding.
    best = next(points for points, error in zip(tries, errors, strict=True) if error <= min(errors) + _EXACT * size**2)
    return _align_axes(best - best[0], order)


def _scale_classical(distances: FloatArray) -> FloatArray:
    centre = np.eye(len(distances)) - 1 / len(distances)
    values, axes = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    return np.asarray(axes[:, :-3:-1] * np.sqrt(np.clip(values[:-3:-1], 0, None)))


def _run_smacof(distances: FloatArray, points: FloatArray, rounds: int = 2000) -> FloatArray:
    """Apply metric multidimensional scaling by majorization (de Leeuw 1977).

    The stress never increases from one round to the next.
    """
    for _ in range(rounds):
        plane_distances = _compute_pairwise_distances(points, "L2")
        pull = -np.divide(distances, plane_distances, out=np.zeros_like(distances), where=plane_distances > 0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        moved = pull @ points / len(points)
        is_converged = np.abs(moved - points).max() <= 1e-10 * distances.max()
        points = moved
        if is_converged:
            break
    return points


def _align_axes(points: FloatArray, order: list[int]) -> FloatArray:
    """Rotate the first learner that is not at the origin onto the x-axis.

    The plot is mirrored if the next learner that is not on the x-axis is below it.
    """
    size = np.abs(points).max()
    first = next((point for point in order if np.linalg.norm(points[point]) > _EXACT * size), 0)
    angle = np.arctan2(points[first, 1], points[first, 0])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    rotated = points @ turn
    off_axis = next((point for point in order if abs(rotated[point, 1]) > 1e-6 * size), 0)
    return np.asarray(rotated * [1.0, -1.0 if rotated[off_axis, 1] < 0 else 1.0])


def _build_vectors(tables: Mapping[str, Any], normalise: bool) -> tuple[list[str], FloatArray]:
    """Return the names of the learners, and the cells of Ideal and of each learner."""
    if not isinstance(tables, Mapping) or not tables:
        raise InputError("tables must map at least 1 learner to its confusion tables, e.g. {'C4.5': [[40, 10], [10, 40]]}")
    if IDEAL in tables:
        raise InputError(f"tables must not contain the name {IDEAL!r}, which is reserved: rename the learner")
    tables_by_learner = {str(name): _read_domains(name, learner_tables) for name, learner_tables in tables.items()}
    first, *others = tables_by_learner
    for name in others:
        _check_comparable(first, tables_by_learner[first], name, tables_by_learner[name])
    weights = [table.total if normalise else 1.0 for table in tables_by_learner[first]]
    ideal = [np.diag(table.true) for table in tables_by_learner[first]]
    lines = [ideal, *([table.table for table in learner] for learner in tables_by_learner.values())]
    return list(tables_by_learner), np.array(
        [np.concatenate([cells.ravel() / w for cells, w in zip(line, weights, strict=True)]) for line in lines]
    )


def _read_domains(learner: object, learner_tables: Any) -> list[Confusion]:
    several = (
        isinstance(learner_tables, (list, tuple))
        and len(learner_tables) > 0
        and (isinstance(learner_tables[0], Confusion) or np.ndim(learner_tables[0]) == 2)
    )
    stacked = isinstance(learner_tables, np.ndarray) and learner_tables.ndim == 3
    try:
        confusions = [_read_confusion(table) for table in (learner_tables if several or stacked else [learner_tables])]
    except InputError as error:
        raise InputError(f"tables of {learner!r}: {error}") from None
    if not confusions:
        raise InputError(f"tables of {learner!r} must contain at least 1 confusion table, got 0")
    return confusions


def _read_confusion(values: Confusion | npt.ArrayLike) -> Confusion:
    table = values if isinstance(values, Confusion) else Confusion(_check.check_numbers("table", values))
    if table.table.ndim != 2 or not table.table.size:
        raise InputError(f"table must be one square table of counts, got shape {table.table.shape}")
    _check.check_finite("table", table.table)
    if not table.total:
        raise InputError("table must contain at least 1 case, got only zeros")
    return table


def _check_comparable(first: str, expected: list[Confusion], name: str, confusions: list[Confusion]) -> None:
    if len(expected) != len(confusions):
        raise InputError(
            f"all learners must have the same domains: {first!r} has {len(expected)}, {name!r} has {len(confusions)}"
        )
    for domain, (expected_table, table) in enumerate(zip(expected, confusions, strict=True)):
        if expected_table.labels != table.labels:
            raise InputError(
                f"all learners must have the same classes in domain {domain}: {first!r} has {list(expected_table.labels)}, "
                f"{name!r} has {list(table.labels)}"
            )
        if not np.allclose(expected_table.true, table.true, rtol=1e-9, atol=0):
            raise InputError(
                f"all learners must have the same class totals in domain {domain}: {first!r} has "
                f"{expected_table.true.tolist()}, "
                f"{name!r} has {table.true.tolist()}; rows must be true classes, and all learners need all cases"
            )
