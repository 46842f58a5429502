"""Figure of fitting time, prediction time and memory by learner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.report.figures.base import (
    INK,
    build_chart,
    build_title,
    encode_colour,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

TIME_COLUMNS = ("fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory")
_PANELS = {"fit_time": "Fitting, seconds", "predict_time": "Predicting, seconds", "memory": "Memory, MiB"}
_LEAST = 1e-5


@register_figure("times", "time", select=("dataset",))
def draw_study_times(results: Results, selection: Selection) -> Any:
    """Draw the fitting time, prediction time and memory of each learner."""
    frame = results.times()
    if selection.dataset is not None:
        frame = frame[frame["dataset"] == selection.find_dataset(results).name]
    if frame.empty or not (frame[["fit_time", "predict_time", "memory"]] > 0).any(axis=None):
        raise InputError("times need trials that fairtrial ran, got none: imported predictions have no times")
    names = [facts.name for facts in results.archive.datasets if selection.dataset in (None, facts.name)]
    return draw_times(frame, title=f"Time and memory: {names[0] if len(names) == 1 else f'{len(names)} data sets'}")


def compute_learner_times(times: Any) -> pd.DataFrame:
    """Compute the median times and memory of each learner over data sets, sorted by fitting time.

    >>> import pandas as pd
    >>> line = {"dataset": ["a", "b", "c"], "learner": "tree", "fit_time": [1.0, 3.0, 2.0]}
    >>> frame = pd.DataFrame({**line, "predict_time": 0.1, "fit_cpu": 1.0, "predict_cpu": 0.1, "memory": 4096.0})
    >>> compute_learner_times(frame)["fit_time"].tolist()
    [2.0]
    """
    frame = require_columns("times", to_frame(times), ["dataset", "learner", *TIME_COLUMNS])
    numbers = frame[list(TIME_COLUMNS)].astype(np.float64)
    medians = numbers.groupby(frame["learner"].astype(str), sort=False).median()
    medians = medians.assign(datasets=frame.groupby(frame["learner"].astype(str), sort=False)["dataset"].nunique())
    return medians.sort_values("fit_time", kind="stable").rename_axis(index="learner")


def draw_times(times: Any, *, title: str = "Time and memory") -> Any:
    """Draw fitting time, prediction time and memory on log scales.

    Each circle is a data set. Bars show the median of each learner.

    Parameters
    ----------
    times : pandas.DataFrame
        Result of `Results.times`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"dataset": ["a", "b"], "learner": "tree", "fit_time": [1.0, 3.0], "predict_time": 0.1}
    >>> chart = draw_times(pd.DataFrame({**line, "fit_cpu": 1.0, "predict_cpu": 0.1, "memory": 4096.0}))
    >>> len(chart.to_dict()["hconcat"])
    3
    """
    import altair as alt

    frame = require_columns("times", to_frame(times), ["dataset", "learner", *TIME_COLUMNS])
    frame = frame.assign(learner=frame["learner"].astype(str), memory=frame["memory"].astype(np.float64) / 2**20)
    medians = compute_learner_times(frame)
    order = [str(name) for name in medians.index]
    panel_fields = [name for name in _PANELS if (frame[name] > 0).any()]
    if not panel_fields:
        raise InputError("times must contain at least 1 time or size above 0, got none")
    panels = [_draw_time_panel(frame, medians, name, order, first=name == panel_fields[0]) for name in panel_fields]
    subtitle = "Circles: median on a data set. Bars: median over data sets. Log scales"
    return style_chart(alt.hconcat(*panels, spacing=22).properties(title=build_title(title, subtitle)))


def _draw_time_panel(frame: pd.DataFrame, medians: pd.DataFrame, field: str, order: list[str], *, first: bool) -> Any:
    import altair as alt

    least = _LEAST if field != "memory" else 1e-3
    rows, bars = (
        [{**row, field: max(row[field], least)} for row in to_records(source, columns) if row[field] is not None]
        for source, columns in ((frame, ["dataset", "learner", field]), (medians.reset_index(), ["learner", field]))
    )
    values = [row[field] for row in rows]
    domain = [10 ** np.floor(np.log10(min(values))), 10 ** np.ceil(np.log10(max(values)) + 1e-9)]
    ticks = alt.Axis(format="~g", values=_list_powers(*domain), labelOverlap=True)
    x = alt.X(f"{field}:Q", title=_PANELS[field], scale=alt.Scale(type="log", domain=domain, nice=False), axis=ticks)
    names = alt.Axis(labelLimit=240, labelPadding=8, ticks=False, domain=False, labels=first)
    y = alt.Y("learner:N", sort=order, title=None, axis=names)
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("dataset:N"), alt.Tooltip(f"{field}:Q", title=_PANELS[field], format=".4~g")]
    colour = encode_colour(order).legend(None)
    circles = build_chart(rows).mark_point(size=46, opacity=0.75, strokeWidth=1.5).encode(x, y, colour, tooltip=hint)
    ticks_ = build_chart(bars).mark_tick(color=INK, thickness=3, size=20, opacity=1).encode(x, y, tooltip=[hint[0], hint[2]])
    return alt.layer(circles, ticks_).properties(width=210, height=alt.Step(30, **{"for": "position"}))


def _list_powers(low: float, high: float) -> list[float]:
    """List about five powers of ten from `low` to `high`."""
    first, last = round(np.log10(low)), round(np.log10(high))
    return [10.0**power for power in range(first, last + 1, max(1, (last - first) // 5))]
