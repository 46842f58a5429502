"""Efficiency: one number from many measures, each learner judged with the weights that suit it best (DEA, CCR model)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.measures.rank_table import get_registered_directions, read_score_frame

if TYPE_CHECKING:
    import pandas as pd

_CONSTANT_NAME = "(constant)"

# scipy's words for a solver that gave up.
_ITERATIONS, _NUMERICAL = 1, 4


@dataclass(frozen=True, eq=False)
class Efficiency:
    """Efficiency of learners; `weights` are those under which each learner looks best (not unique for an efficient one)."""

    efficiency: pd.Series[float]
    super_efficiency: pd.Series[float]
    weights: pd.DataFrame
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    epsilon: float

    def frame(self) -> pd.DataFrame:
        """Efficiency, super-efficiency and rank by super-efficiency, the best first."""
        import pandas as pd

        frame = pd.DataFrame({"efficiency": self.efficiency, "super_efficiency": self.super_efficiency})
        # The solver is exact to about 1e-9: what differs less is a tie.
        ranks = self.super_efficiency.round(8).rank(ascending=False, method="min").astype(int)
        return frame.assign(rank=ranks).sort_values("rank", kind="stable")

    def __str__(self) -> str:
        return f"{self._format_headline()}\n{self._format_frame().to_string()}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._format_headline())}</p>{self._format_frame().to_html()}"

    def _format_frame(self) -> pd.DataFrame:
        frame = self.frame().rename(columns={"super_efficiency": "super-efficiency"}).rename_axis(index=None)
        for name in ("efficiency", "super-efficiency"):
            frame[name] = [f"{value:.4f}" for value in frame[name]]
        return frame

    def _format_headline(self) -> str:
        headline = f"Efficiency (DEA): more is better: {', '.join(self.outputs)}; less is better: {', '.join(self.inputs)}"
        return f"{headline}; weights at least {self.epsilon:g}" if self.epsilon else headline


def efficiency(
    scores: pd.DataFrame,
    *,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    epsilon: float = 0.0,
) -> Efficiency:
    """Combine measures without choosing their weights (Nakhaeizadeh & Schnabl 1997).

    The efficiency of a learner is its weighted outputs over its weighted inputs, with the weights that are best for it under
    the rule that no learner gets above 1. So 1 means: under some weighing of the measures, nobody is better. Those at 1 are
    ranked by super-efficiency (Andersen & Petersen 1993), which leaves the learner itself out of that rule; it is infinite
    where no weighted sum of the others reaches the learner, for instance if it alone has some output above 0.

    `scores` has a row for each learner and a column for each measure. `outputs` are the columns where more is better,
    `inputs` those where less is better; None takes the columns that the other list does not name and whose registered
    measure has that direction; without any (`[]`), a constant 1 stands in. `epsilon` is the least weight of every measure, in
    its own unit: above 0, a learner that is only as good as another in one measure and worse in the rest is not efficient.

    >>> import pandas as pd
    >>> from fairtrial.measures import efficiency
    >>> scores = pd.DataFrame({"auc": [0.7, 0.6, 0.6], "rmse": [0.5, 0.4, 0.6]}, index=["NB", "C4.5", "SVM"])
    >>> print(efficiency(scores))
    Efficiency (DEA): more is better: auc; less is better: rmse
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
            raise InputError(f"epsilon must be smaller than {epsilon:g}: no weights above it exist for {learner!r}")
    weights = np.array(best_weights)
    weights_without_self = [
        _find_best_weights(produced, spent, index, row_indices[:index] + row_indices[index + 1 :], epsilon)
        for index in row_indices
    ]
    outputs = produced.shape[1]
    values = np.minimum((weights[:, :outputs] * produced).sum(axis=1), 1.0)
    # Weights exist, as was just seen with one more rule: so a program without an optimum is unbounded.
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
    """Weights that are best for row `index` while no row of `peers` gets above 1; None where there is no optimum."""
    from scipy.optimize import linprog

    # Each column is measured in the learner's own value, and each rule, which may be multiplied by anything, in its largest
    # entry: neither units nor learners that are far apart may decide how exact the solver is.
    combined = np.hstack([produced, spent])
    unit = np.where(combined[index] > 0, combined[index], np.where(combined.max(axis=0) > 0, combined.max(axis=0), 1.0))
    outputs = produced.shape[1]
    gain, cost = combined[:, :outputs] / unit[:outputs], combined[:, outputs:] / unit[outputs:]
    # The learner's own row too: with inputs near 0 the weights would be large beyond the solver's limits.
    input_scale = cost[index].max()
    rules = np.hstack([gain, -cost])[peers]
    answer = linprog(
        -np.append(gain[index], np.zeros(cost.shape[1])),
        A_ub=rules / np.abs(rules).max(axis=1, keepdims=True),
        b_ub=np.zeros(len(peers)),
        A_eq=np.append(np.zeros(outputs), cost[index] / input_scale)[None],
        b_eq=[1.0],
        bounds=[(epsilon * unit_value * input_scale, None) for unit_value in unit],
        method="highs",
    )
    if answer.status in (_ITERATIONS, _NUMERICAL):
        raise InputError(f"the linear program of the scores must be solvable, got: {answer.message}; leave out extreme values")
    return answer.x / unit / input_scale if answer.status == 0 else None


def _split_outputs_inputs(
    columns: list[str], outputs: Sequence[str] | None, inputs: Sequence[str] | None
) -> tuple[list[str], list[str]]:
    side_by_name: dict[str, str] = {}
    for side, names in (("outputs", outputs), ("inputs", inputs)):
        if isinstance(names, str):
            raise InputError(f"{side} must be a list of columns, got the text {names!r}: pass [{names!r}]")
        for name in names or ():
            if name not in columns:
                raise InputError(f"{side} must name columns of scores, got {name!r}: {suggest_name(name, columns)}")
            if name in side_by_name:
                raise InputError(
                    f"{name!r} must be named once in outputs and inputs, got it in {side_by_name[name]} and {side}"
                )
            side_by_name[name] = side
    if outputs is None or inputs is None:
        rest = [name for name in columns if name not in side_by_name]
        directions = get_registered_directions(rest, "name it in outputs= (more is better) or inputs= (less is better)")
        outputs = [name for name in rest if directions[name] == "max"] if outputs is None else outputs
        inputs = [name for name in rest if directions[name] == "min"] if inputs is None else inputs
    if not outputs and not inputs:
        raise InputError("outputs or inputs must name at least 1 column, got none")
    return list(outputs), list(inputs)


def _select_columns(table: pd.DataFrame, names: list[str]) -> FloatArray:
    """The values of some measures; of none: a constant 1."""
    if not names:
        return np.ones((len(table), 1))
    for name in names:
        values = _check.check_finite(f"column {name!r} of scores", table[name].to_numpy(dtype=np.float64))
        if (values < 0).any():
            raise InputError(
                f"column {name!r} of scores must not be negative for efficiency, got {values.min():g} for "
                f"{table.index[int(values.argmin())]!r}: choose a measure that starts at 0"
            )
    return table[names].to_numpy(dtype=np.float64)


def _check_inputs(table: pd.DataFrame, spent: FloatArray, inputs: list[str]) -> None:
    has_no_input = ~(spent > 0).any(axis=1)
    if has_no_input.any():
        raise InputError(
            f"each learner must have an input above 0, got 0 in {', '.join(inputs)} for "
            f"{table.index[int(has_no_input.argmax())]!r}, "
            "which makes its efficiency infinite: add an input or leave this one out"
        )
