"""Figures of robustness: scores and losses of accuracy against the level of a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.drawing import SIDE, chart_of, colour, dash, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

_LOSSES = {"rla": "Relative loss of accuracy (RLA)", "ela": "Equalized loss of accuracy (ELA)"}


def draw_levels(
    frame: Any, *, value: str = "mean", words: str = "Accuracy", title: str = "Scores under noise", told: str = ""
) -> Any:
    """Lines over levels, one for each learner, with bars for their intervals: columns level, learner, `value`, low and high.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"level": [0, 0.2], "learner": "tree", "mean": [0.9, 0.8], "low": [0.8, 0.7], "high": [1, 0.9]})
    >>> chart = draw_levels(frame)
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rule', 'line', 'point']
    """
    lines = _lines(frame, value)
    subtitle = "Bars: intervals" if lines["low"].notna().any() else "No intervals: there is a single score of each"
    whole = _panel(lines, words).properties(width=430, height=300, title=titled(title, told or subtitle))
    return finished(whole)


def draw_losses(frame: Any, *, which: str | tuple[str, ...] = ("rla", "ela"), title: str = "Loss of accuracy") -> Any:
    """RLA and ELA over levels, side by side or one of them: what `Results.robustness` gives, of one data set or over all.

    >>> import pandas as pd
    >>> line = {"level": [0.2], "learner": ["tree"], "rla": [0.1], "rla_low": [0.0], "rla_high": [0.2]}
    >>> chart = draw_losses(pd.DataFrame(line), which="rla")
    >>> chart.to_dict()["hconcat"][0]["title"]["text"]
    'Relative loss of accuracy (RLA)'
    """
    import altair as alt

    panels = []
    for name in [which] if isinstance(which, str) else which:
        given = with_columns("frame", frame_of(frame), ["level", "learner", name, f"{name}_low", f"{name}_high"])
        own = given.assign(low=given[f"{name}_low"], high=given[f"{name}_high"])
        heading = alt.TitleParams(_LOSSES[name], fontSize=14, offset=8)
        panels.append(_panel(_lines(own, name), name.upper()).properties(width=SIDE - 30, height=270, title=heading))
    whole = alt.hconcat(*panels, spacing=40).properties(title=titled(title, "Lower is better. Bars: intervals"))
    return finished(whole)


def _lines(frame: Any, value: str) -> pd.DataFrame:
    """What is drawn, with learners set a little apart at each level so that their bars do not cover each other."""
    lines = with_columns("frame", frame_of(frame), ["level", "learner", value, "low", "high"])
    lines = lines.assign(value=lines[value].astype(np.float64), learner=lines["learner"].astype(str))
    names = list(dict.fromkeys(lines["learner"]))
    levels = np.unique(lines["level"].dropna().to_numpy(np.float64).round(12))
    step = float(np.diff(levels).min()) if len(levels) > 1 else 0.1
    places = lines["learner"].map({name: place - (len(names) - 1) / 2 for place, name in enumerate(names)})
    apart = places.astype(np.float64) * min(0.025 * (np.ptp(levels) or 0.2), 0.6 * step / max(1, len(names)))
    return lines.assign(place=lines["level"] + apart).dropna(subset=["level", "value"])


def _panel(lines: pd.DataFrame, words: str) -> Any:
    import altair as alt

    learners = list(dict.fromkeys(lines["learner"]))
    rows = written(lines, ["place", "level", "learner", "value", "low", "high"])
    levels = sorted({row["level"] for row in rows})
    room = 0.07 * ((levels[-1] - levels[0]) or 0.2)
    ticks = alt.Axis(values=levels, format="~g", grid=False)
    domain = [levels[0] - room, levels[-1] + room]
    x = alt.X("place:Q", title="Level", axis=ticks, scale=alt.Scale(domain=domain, nice=False, zero=False))
    scale = alt.Scale(zero=False, nice=True, padding=6)
    shade = colour(learners)
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("level:Q")]
    hint += [alt.Tooltip(f"{name}:Q", title=name, format=".4f") for name in ("value", "low", "high")]
    base = chart_of(rows).encode(x, shade, tooltip=hint)
    bars = base.mark_rule(strokeWidth=1.4, opacity=0.6).encode(alt.Y("low:Q", title=words, scale=scale), alt.Y2("high:Q"))
    y = alt.Y("value:Q", title=words, scale=scale)
    line = base.mark_line(strokeWidth=2.2).encode(y, dash(learners))
    return alt.layer(bars, line, base.mark_point(filled=True, size=46, opacity=1).encode(y))
