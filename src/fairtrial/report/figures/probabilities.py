"""Figures of probabilities: CORP calibration curves and decision curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairtrial._text import format_percentage
from fairtrial.report.figures.base import (
    GREY,
    SIDE,
    Frames,
    build_axis,
    build_chart,
    build_title,
    build_tooltips,
    check_frames,
    collect_rows,
    draw_reference_line,
    encode_colour,
    style_chart,
)

_MAX_BANDS = 3


def draw_corp(
    frames: Frames, *, title: str = "Calibration", subtitle: Sequence[str] = (), level: float = 0.95, height: int = SIDE
) -> Any:
    """Draw CORP calibration curves with consistency bands around the diagonal.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each model, as returned by `corp_curve`. Bands are drawn for the first three models.
    title : str
        Title of the chart.
    subtitle : sequence of str
        Lines of the subtitle. Default: an explanation of the band.
    level : float
        Probability that a point on the curve of a calibrated model lies within the band.
    height : int
        Height in pixels.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import corp_curve
    >>> chart = draw_corp({"tree": corp_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["text"]
    'Calibration'
    """
    import altair as alt

    columns = {"predicted": "predicted probability", "recalibrated": "recalibrated probability", "low": "low", "high": "high"}
    x, y = build_axis("x", "predicted", "Predicted probability"), build_axis("y", "recalibrated", "Observed frequency")
    shade = encode_colour(frames)
    banded = dict(list(frames.items())[:_MAX_BANDS])
    # All bands surround the diagonal, so they overlap. Outlines in the colours of the models keep them distinct.
    area = build_chart(collect_rows(banded, columns)).mark_area(
        fillOpacity=0.06 if len(banded) > 1 else 0.14, strokeOpacity=0.8 if len(banded) > 1 else 0, strokeWidth=0.9
    )
    outline = alt.Stroke("learner:N", scale=shade["scale"], legend=None)
    band = area.encode(x, build_axis("y", "low", "Observed frequency"), shade, outline, y2="high:Q")
    line = build_chart(collect_rows(frames, columns)).mark_line(strokeWidth=2.2)
    curves = line.encode(x, y, shade, tooltip=build_tooltips(columns))
    chart = alt.layer(band, draw_reference_line([(0, 0), (1, 1)], x, y), curves).properties(width=SIDE, height=height)
    names = "" if len(banded) == len(frames) else f" of {', '.join(banded)}"
    explanation = f"Shaded{names}: pointwise {format_percentage(level)} band for a calibrated model"
    lines = subtitle or (explanation, "Dashed: perfect calibration")
    return style_chart(chart.properties(title=build_title(title, *lines)))


def draw_decision_curves(frames: Frames, *, title: str = "Decision curve", level: float = 0.95) -> Any:
    """Draw decision curves with bands, and reference lines for treating all rows and treating none.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each model, as returned by `decision_curve`. Bands are drawn for the first three models.
    title : str
        Title of the chart.
    level : float
        Confidence level of the bands.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import decision_curve
    >>> chart = draw_decision_curves({"tree": decision_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["text"]
    'Decision curve'
    """
    import altair as alt

    columns = {"threshold": "threshold", "net_benefit": "net benefit", "low": "low", "high": "high"}
    curves = check_frames(frames, [*columns, "treat_all"])
    highest = max(float(np.nanmax(frame[["net_benefit", "high", "treat_all"]].to_numpy())) for frame in curves.values())
    lowest = -0.3 * max(highest, 0.05)
    # Values below the axis are clipped: at these thresholds, treating no row is better.
    clipped = {
        name: frame.assign(**{column: frame[column].clip(lower=lowest) for column in ("net_benefit", "low", "high")})
        for name, frame in curves.items()
    }
    high = 1.05 * max(highest, 0.05)
    x = build_axis("x", "threshold", "Threshold probability")
    y = build_axis("y", "net_benefit", "Net benefit", low=lowest, high=high)
    shade = encode_colour(frames)
    banded = dict(list(clipped.items())[:_MAX_BANDS])
    low = build_axis("y", "low", "Net benefit", low=lowest, high=high)
    band = build_chart(collect_rows(banded, columns)).mark_area(opacity=0.14, line=False).encode(x, low, shade, y2="high:Q")
    line = build_chart(collect_rows(clipped, columns)).mark_line(strokeWidth=2.2)
    models = line.encode(x, y, shade, tooltip=build_tooltips(columns))
    first = next(iter(curves.values()))
    inside = first[first["treat_all"] >= lowest]
    all_rows = [
        {"threshold": float(threshold), "net_benefit": float(value)}
        for threshold, value in zip(inside["threshold"], inside["treat_all"], strict=True)
    ]
    treat_all = build_chart(all_rows).mark_line(color=GREY, strokeWidth=1.6, strokeDash=[5, 4]).encode(x, y)
    treat_none = draw_reference_line([(0, 0), (1, 0)], x, y)
    chart = alt.layer(band, treat_none, treat_all, models).properties(width=460, height=300)
    subtitle = f"Shaded: {format_percentage(level)} pointwise confidence limits. Dashed: treat all rows (falling) and none (0)"
    return style_chart(chart.properties(title=build_title(title, subtitle)))
