"""Efficiency of learners on several measures, computed by data envelopment analysis (DEA)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._registry import suggest_name
from fairtrial._text import format_html_table, join_names
from fairtrial.errors import InputError
from fairtrial.measures.rank_table import get_registered_directions, read_score_frame

if TYPE_CHECKING:
    import pandas as pd

_CONSTANT_NAME = "(constant)"

# Status codes of scipy.optimize.linprog that mean that the solver failed.
_ITERATIONS, _NUMERICAL = 1, 4


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Efficiency of learners, computed by data envelopment analysis.

    Attributes
    ----------
    efficiency, super_efficiency : Series
        Efficiency and super-efficiency of each learner.
    weights : DataFrame
        Weights of the measures that maximize each learner's efficiency. The weights for efficient learners are not unique.
    outputs, inputs : tuple of str
        Measures for which higher values (`outputs`) or lower values (`inputs`) are better.
    epsilon : float
        Smallest allowed weight.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"auc": [0.8, 0.4], "rmse": [0.4, 0.4]}, index=["forest", "stump"])
    >>> efficiency(scores).efficiency.round(6).tolist()
    [1.0, 0.5]
    """

    efficiency: pd.Series[float]
    super_efficiency: pd.Series[float]
    weights: pd.DataFrame
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    epsilon: float

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per learner, best learner first.

        The columns contain the efficiency, the super-efficiency and the rank.
        """
        import pandas as pd

        frame = pd.DataFrame({"efficiency": self.efficiency, "super_efficiency": self.super_efficiency})
        # The solver is accurate to about 1e-9; smaller differences are ties.
        ranks = self.super_efficiency.round(8).rank(ascending=False, method="min").astype(int)
        return frame.assign(rank=ranks).sort_values("rank", kind="stable")

    def __str__(self) -> str:
        return f"{self._format_headline()}\n{self._format_frame().to_string()}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._format_headline())}</p>{format_html_table(self._format_frame(), index=True)}"

    def _format_frame(self) -> pd.DataFrame:
        frame = self.frame().rename(columns={"super_efficiency": "super-efficiency"}).rename_axis(index=None)
        for name in ("efficiency", "super-efficiency"):
            frame[name] = [f"{value:.4f}" for value in frame[name]]
        return frame

    def _format_headline(self) -> str:
        headline = f"Efficiency (DEA): higher is better for {join_names(self.outputs)}, lower for {join_names(self.inputs)}"
        return f"{headline}; weights of at least {self.epsilon:g}" if self.epsilon else headline


def efficiency(
    scores: pd.DataFrame,
    *,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    epsilon: float = 0.0,
) -> Efficiency:
    """Combine measures by data envelopment analysis, without user-defined weights.

    The efficiency of a learner is the ratio of its weighted outputs to its weighted inputs (Nakhaeizadeh & Schnabl 1997). The
    weights maximize this ratio, subject to the constraint that no learner has a ratio above 1. An efficiency of 1 means that no
    other learner has a higher ratio under these weights.

    Super-efficiency (Andersen & Petersen 1993) ranks the efficient learners. It is computed without the constraint on the
    learner itself. It is infinite if no combination of the other learners performs as well as the learner.

    Parameters
    ----------
    scores : DataFrame
        One row per learner, one column per measure.
    outputs, inputs : list of str, optional
        Columns for which higher values (`outputs`) or lower values (`inputs`) are better. Default: all columns
        that are not in the other list and are named after a registered measure with this direction. An empty list stands for a
        constant of 1.
    epsilon : float, default 0
        Smallest allowed weight of each measure, which applies to values in the original unit. If `epsilon` is positive, a
        learner that is dominated by another learner is not efficient.

    Returns
    -------
    Efficiency

    Examples
    --------
    >>> import pandas as pd
    >>> from fairtrial.measures import efficiency
    >>> scores = pd.DataFrame({"auc": [0.7, 0.6, 0.6], "rmse": [0.5, 0.4, 0.6]}, index=["NB", "C4.5", "SVM"])
    >>> print(efficiency(scores))
    Efficiency (DEA): higher is better for auc, lower for rmse
         efficiency super-efficiency  rank
    C4.5     1.0000           1.0714     1
    NB       0.9333           0.9333     2
    SVM      0.6667           0.6667     3
    """
    if not (np.ndim(epsilon) == 0 and 0 <= epsilon < np.inf):
        raise InputError(f"epsilon must be a finite number of at least 0, got {epsilon!r}")
    table = read_score_frame(scores)
    outputs, inputs = _split_outputs_inputs(list(table.columns), outputs, inputs)
    produced, spent = _select_columns(table, outputs), _select_columns(table, inputs)
    _check_inputs(table, spent, inputs)
    return _solve_efficiency(table, produced, spent, (outputs or [_CONSTANT_NAME], inputs or [_CONSTANT_NAME]), float(epsilon))


def _solve_efficiency(
    table: pd.DataFrame, produced: FloatArray, spent: FloatArray, names: tuple[list[str], list[str]], epsilon: float
) -> Efficiency:
    import pandas as pd

    row_indices = list(range(len(table)))
    best_weights = [_find_best_weights(produced, spent, index, row_indices, epsilon) for index in row_indices]
    for learner, weights in zip(table.index, best_weights, strict=True):
        if weights is None:
            raise InputError(
                f"epsilon must be smaller than {epsilon:g}: {learner!r} has no feasible weights of at least {epsilon:g}"
            )
    weights = np.array(best_weights)
    weights_without_self = [
        _find_best_weights(produced, spent, index, row_indices[:index] + row_indices[index + 1 :], epsilon)
        for index in row_indices
    ]
    outputs = produced.shape[1]
    values = np.minimum((weights[:, :outputs] * produced).sum(axis=1), 1.0)
    # With the constraint on the learner itself, a solution exists, as checked above. If there is no optimum without this
    # constraint, the program is therefore unbounded.
    super_values = [
        np.inf if best is None else best[:outputs] @ row for best, row in zip(weights_without_self, produced, strict=True)
    ]
    return Efficiency(
        efficiency=pd.Series(values, index=table.index, name="efficiency"),
        super_efficiency=pd.Series(super_values, index=table.index, name="super_efficiency"),
        weights=pd.DataFrame(weights, index=table.index, columns=pd.Index([*names[0], *names[1]])),
        outputs=tuple(names[0]),
        inputs=tuple(names[1]),
        epsilon=epsilon,
    )


def _find_best_weights(
    produced: FloatArray, spent: FloatArray, index: int, peers: list[int], epsilon: float
) -> FloatArray | None:
    """Find the weights that maximize the ratio of row `index`.

    No row in `peers` may have a ratio above 1.

    Return None if there is no optimum.
    """
    from scipy.optimize import linprog

    # Columns are scaled by the values of the learner and constraints by their largest entry. The accuracy of the solver then
    # does not depend on units or on extreme learners.
    combined = np.hstack([produced, spent])
    unit = np.where(combined[index] > 0, combined[index], np.where(combined.max(axis=0) > 0, combined.max(axis=0), 1.0))
    outputs = produced.shape[1]
    gain, cost = combined[:, :outputs] / unit[:outputs], combined[:, outputs:] / unit[outputs:]
    # The row of the learner is also scaled, because weights for inputs near 0 would exceed the limits of the solver.
    input_scale = cost[index].max()
    rules = np.hstack([gain, -cost])[peers]
    minima = epsilon * unit * input_scale
    answer = linprog(
        -np.append(gain[index], np.zeros(cost.shape[1])),
        A_ub=rules / np.abs(rules).max(axis=1, keepdims=True),
        b_ub=np.zeros(len(peers)),
        A_eq=np.append(np.zeros(outputs), cost[index] / input_scale)[None],
        b_eq=[1.0],
        bounds=[(minimum, None) for minimum in minima],
        method="highs",
    )
    if answer.status in (_ITERATIONS, _NUMERICAL):
        raise InputError(f"scores must lead to a solvable linear program, got {answer.message!r}: leave out extreme values")
    if answer.status != 0 or answer.x is None:
        return None
    # The solver meets bounds only within its tolerance.
    weights: FloatArray = np.maximum(answer.x, minima) / unit / input_scale
    return weights


def _split_outputs_inputs(
    columns: list[str], outputs: Sequence[str] | None, inputs: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    side_by_name: dict[str, str] = {}
    for side, names in (("outputs", outputs), ("inputs", inputs)):
        if isinstance(names, str):
            raise InputError(f"{side} must be a list of columns, got {names!r}: pass [{names!r}]")
        for name in names or ():
            if name not in columns:
                raise InputError(f"{side} must contain columns of scores, got {name!r}: {suggest_name(name, columns)}")
            if name in side_by_name:
                raise InputError(
                    f"{name!r} must occur only once in outputs and inputs, got it in {side_by_name[name]} and {side}"
                )
            side_by_name[name] = side
    if outputs is None or inputs is None:
        rest = [name for name in columns if name not in side_by_name]
        directions = get_registered_directions(rest, "add it to outputs= (higher is better) or inputs= (lower is better)")
        outputs = [name for name in rest if directions[name] == "max"] if outputs is None else outputs
        inputs = [name for name in rest if directions[name] == "min"] if inputs is None else inputs
    if not outputs and not inputs:
        raise InputError("outputs or inputs must contain at least 1 column, got 0")
    return list(outputs), list(inputs)


def _select_columns(table: pd.DataFrame, names: list[str]) -> FloatArray:
    """Return the columns with these names, or a column of ones if `names` is empty."""
    if not names:
        return np.ones((len(table), 1))
    for name in names:
        values = _check.check_finite(f"column {name!r} of scores", table[name].to_numpy(dtype=np.float64))
        if (values < 0).any():
            raise InputError(
                f"the values in column {name!r} of scores must be at least 0 for efficiency, got {values.min():g} for "
                f"{table.index[int(values.argmin())]!r}: choose another measure"
            )
    return table[names].to_numpy(dtype=np.float64)


def _check_inputs(table: pd.DataFrame, spent: FloatArray, inputs: list[str]) -> None:
    has_no_input = ~(spent > 0).any(axis=1)
    if has_no_input.any():
        raise InputError(
            f"each learner must have an input above 0, got 0 in {join_names(inputs)} for "
            f"{table.index[int(has_no_input.argmax())]!r}: add an input or leave this learner out"
        )
