"""The figure of times: what fitting and predicting took, by learner, and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.drawing import INK, PALETTE, chart_of, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory")
_PANELS = {"fit_time": "Fitting, seconds", "predict_time": "Predicting, seconds", "memory": "Memory, MiB"}
_LEAST = 1e-5


def learner_times(times: Any) -> pd.DataFrame:
    """Medians over data sets, by learner, the fastest to fit first: seconds, CPU seconds and bytes.

    >>> import pandas as pd
    >>> line = {"dataset": ["a", "b", "c"], "learner": "tree", "fit_time": [1.0, 3.0, 2.0]}
    >>> frame = pd.DataFrame({**line, "predict_time": 0.1, "fit_cpu": 1.0, "predict_cpu": 0.1, "memory": 4096.0})
    >>> learner_times(frame)["fit_time"].tolist()
    [2.0]
    """
    frame = with_columns("times", frame_of(times), ["dataset", "learner", *NUMBERS])
    numbers = frame[list(NUMBERS)].astype(np.float64)
    medians = numbers.groupby(frame["learner"].astype(str), sort=False).median()
    medians = medians.assign(datasets=frame.groupby(frame["learner"].astype(str), sort=False)["dataset"].nunique())
    return medians.sort_values("fit_time", kind="stable").rename_axis(index="learner")


def draw_times(times: Any, *, title: str = "Time and memory") -> Any:
    """A panel for fitting, for predicting and for memory: circles are data sets, bars the median of a learner; log scales.

    `times` is what `Results.times` gives.

    >>> import pandas as pd
    >>> line = {"dataset": ["a", "b"], "learner": "tree", "fit_time": [1.0, 3.0], "predict_time": 0.1}
    >>> chart = draw_times(pd.DataFrame({**line, "fit_cpu": 1.0, "predict_cpu": 0.1, "memory": 4096.0}))
    >>> len(chart.to_dict()["hconcat"])
    3
    """
    import altair as alt

    frame = with_columns("times", frame_of(times), ["dataset", "learner", *NUMBERS])
    frame = frame.assign(learner=frame["learner"].astype(str), memory=frame["memory"].astype(np.float64) / 2**20)
    medians = learner_times(frame)
    order = [str(name) for name in medians.index]
    drawn = [name for name in _PANELS if (frame[name] > 0).any()]
    if not drawn:
        raise InputError("times must hold at least 1 time or size above 0, got none")
    panels = [_panel(frame, medians, name, order, first=name == drawn[0]) for name in drawn]
    told = "Circles: the median on a data set. Bars: the median over data sets. Logarithmic scales"
    return finished(alt.hconcat(*panels, spacing=22).properties(title=titled(title, told)))


def _panel(frame: pd.DataFrame, medians: pd.DataFrame, field: str, order: list[str], *, first: bool) -> Any:
    import altair as alt

    least = _LEAST if field != "memory" else 1e-3
    rows, bars = (
        [{**row, field: max(row[field], least)} for row in written(each, columns) if row[field] is not None]
        for each, columns in ((frame, ["dataset", "learner", field]), (medians.reset_index(), ["learner", field]))
    )
    values = [row[field] for row in rows]
    domain = [10 ** np.floor(np.log10(min(values))), 10 ** np.ceil(np.log10(max(values)) + 1e-9)]
    ticks = alt.Axis(format="~g", values=_powers(*domain), labelOverlap=True)
    x = alt.X(f"{field}:Q", title=_PANELS[field], scale=alt.Scale(type="log", domain=domain, nice=False), axis=ticks)
    names = alt.Axis(labelLimit=240, labelPadding=8, ticks=False, domain=False, labels=first)
    y = alt.Y("learner:N", sort=order, title=None, axis=names)
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("dataset:N"), alt.Tooltip(f"{field}:Q", title=_PANELS[field], format=".4~g")]
    circles = chart_of(rows).mark_point(size=46, opacity=0.75, color=PALETTE[0], strokeWidth=1.5).encode(x, y, tooltip=hint)
    ticks_ = chart_of(bars).mark_tick(color=INK, thickness=3, size=20, opacity=1).encode(x, y, tooltip=[hint[0], hint[2]])
    return alt.layer(circles, ticks_).properties(width=210, height=alt.Step(30, **{"for": "position"}))


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten, about five of them."""
    first, last = round(np.log10(low)), round(np.log10(high))
    return [10.0**power for power in range(first, last + 1, max(1, (last - first) // 5))]
