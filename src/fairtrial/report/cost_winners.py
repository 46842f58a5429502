"""Who wins where: at each probability cost, the learner whose cost curve is lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.report.drawing import GREY, PALE, Frames, axis, chart_of, checked, colour

if TYPE_CHECKING:
    import pandas as pd

_SAME = 1e-9
TRIVIAL, TIE = "no better than a trivial classifier", "several alike"


def cost_winners(curves: Frames) -> pd.DataFrame:
    """Ranges of the probability cost with the learner of least expected cost: start, end, who, learner.

    `curves` are those of `cost_curve` by learner. `who` is "learner", "several alike", or "no better than a trivial classifier"
    where calling everything negative or everything positive costs as little; `learner` is empty there. Costs are straight
    between the rows of curves, so that borders are exact.

    >>> import pandas as pd
    >>> one = pd.DataFrame({"probability_cost": [0.0, 0.5, 1.0], "expected_cost": [0.0, 0.2, 0.0]})
    >>> other = pd.DataFrame({"probability_cost": [0.0, 0.2, 0.6, 1.0], "expected_cost": [0.0, 0.15, 0.15, 0.0]})
    >>> cost_winners({"tree": one, "bayes": other})
       start    end      who learner
    0  0.000  0.375  learner    tree
    1  0.375  1.000  learner   bayes
    """
    import pandas as pd

    known = {name: frame for name, frame in checked(curves, _COLUMNS).items() if np.isfinite(frame["expected_cost"]).all()}
    names = list(known)
    costs = [
        (frame["probability_cost"].to_numpy(np.float64), frame["expected_cost"].to_numpy(np.float64))
        for frame in known.values()
    ]
    lines: list[tuple[float, float, str, str]] = []
    edges = _edges(costs)
    for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        who, learner = _lowest(names, costs, (start + end) / 2)
        if lines and lines[-1][2:] == (who, learner):
            lines[-1] = (lines[-1][0], end, who, learner)
        else:
            lines.append((start, end, who, learner))
    return pd.DataFrame(lines, columns=["start", "end", "who", "learner"])


_COLUMNS = ("probability_cost", "expected_cost")


def _edges(costs: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
    """All rows of all curves, and where two of them cross between rows; the trivial lines have their corner at a half."""
    rows = np.unique(np.concatenate([[0.0, 0.5, 1.0], *(x for x, _ in costs)]))
    heights = np.array([*(np.interp(rows, *each) for each in costs), np.minimum(rows, 1 - rows)])
    crossings = [rows]
    for first in range(len(heights)):
        gap = heights[first] - heights[first + 1 :]
        left, right = gap[:, :-1], gap[:, 1:]
        crosses = left * right < 0
        share = np.divide(left, left - right, out=np.zeros_like(left), where=crosses)
        crossings.append((rows[:-1] + share * np.diff(rows))[crosses])
    edges = np.unique(np.concatenate(crossings))
    return np.asarray(edges[np.append(True, np.diff(edges) > _SAME)])


def _lowest(names: list[str], costs: list[tuple[FloatArray, FloatArray]], at: float) -> tuple[str, str]:
    here = np.array([np.interp(at, *each) for each in costs])
    if not len(here) or here.min() >= min(at, 1 - at) - _SAME:
        return TRIVIAL, ""
    best = np.flatnonzero(here <= here.min() + _SAME)
    return ("learner", names[int(best[0])]) if len(best) == 1 else (TIE, "")


def shares_won(winners: pd.DataFrame) -> pd.Series[float]:
    """For each learner that wins somewhere, the share of the range of probability costs on which it does."""
    own = winners[winners["who"] == "learner"]
    return (own["end"] - own["start"]).groupby(own["learner"], sort=False).sum()


def with_winners(chart: Any, winners: pd.DataFrame, learners: Frames) -> Any:
    """The chart of `draw_cost` with a strip on top that has the colour of the learner that wins there.

    >>> from fairtrial.measures import cost_curve
    >>> from fairtrial.report.curves import draw_cost
    >>> curves = {"tree": cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}
    >>> chart = with_winners(draw_cost(curves), cost_winners(curves), curves)
    >>> chart.to_dict()["layer"][-1]["mark"]["type"]
    'rect'
    """
    import altair as alt

    x = axis("x", "start", "Probability cost of the positive class")
    hint = [alt.Tooltip("told:N", title="least cost"), alt.Tooltip("start:Q", format=".3f"), alt.Tooltip("end:Q", format=".3f")]
    chart = chart.copy(deep=True)
    for who, shade in (("", PALE), ("learner", None)):
        own = winners[(winners["who"] == "learner") == bool(who)]
        rows = [
            {"start": start, "end": end, "learner": learner, "told": learner or kind}
            for start, end, kind, learner in own.itertuples(index=False, name=None)
        ]
        if rows:
            look: dict[str, Any] = {"color": shade, "stroke": GREY, "strokeWidth": 0.3} if shade else {}
            strip = chart_of(rows).mark_rect(**look)
            placed = strip.encode(x, x2="end:Q", y=alt.value(-13), y2=alt.value(-3), tooltip=hint)
            chart.layer.append(placed if shade else placed.encode(colour(learners)))
    chart.title.subtitle = [*chart.title.subtitle, "Strip on top: who has the least cost there. Grey: nobody alone"]
    return chart
