"""Figures of curves and intervals, drawn from frames that `fairtrial.measures` computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.measures.intervals import compute_wilson_limits
from fairtrial.report.figures.base import (
    GREY,
    PALETTE,
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
    encode_dash,
    format_with_interval,
    list_fields,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)

if TYPE_CHECKING:
    import pandas as pd

_RATE_TITLES = {"threshold": "threshold", "tpr": "true positive rate", "fpr": "false positive rate"}
_RATES = ("tpr", "fpr")


def draw_roc(frames: Frames, hulls: Frames | None = None, *, title: str = "ROC curve") -> Any:
    """Draw ROC curves with the diagonal and, optionally, convex hulls.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `roc_curve`.
    hulls : mapping of str to dataframe, optional
        Convex hull of each learner, as returned by `roc_hull`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import roc_curve, roc_hull
    >>> y, score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> chart = draw_roc({"tree": roc_curve(y, score)}, {"tree": roc_hull(y, score)})
    >>> chart.to_dict()["width"] == chart.to_dict()["height"]
    True
    """
    import altair as alt

    columns = {"threshold": "threshold", "fpr": "false positive rate", "tpr": "true positive rate"}
    x, y = build_axis("x", "fpr", "False positive rate"), build_axis("y", "tpr", "True positive rate")
    curves = _draw_curve_lines(frames, x, y, columns)
    layers = [draw_reference_line([(0, 0), (1, 1)], x, y)]
    if hulls is not None:
        corners = build_chart(collect_rows(hulls, columns)).mark_line(strokeWidth=1, strokeDash=[2, 2], point={"size": 26})
        layers.append(corners.encode(x, y, encode_colour(frames), order=alt.Order("row:Q"), tooltip=build_tooltips(columns)))
    subtitle = "Dashed: guessing" if hulls is None else "Dotted, with corners: the convex hull. Dashed: guessing"
    return style_chart(alt.layer(*layers, curves).properties(width=SIDE, height=SIDE, title=build_title(title, subtitle)))


def compute_roc_band(
    curve: pd.DataFrame,
    positives: int,
    negatives: int,
    *,
    level: float = 0.95,
    kind: Literal["curve", "points"] = "curve",
) -> pd.DataFrame:
    """Compute a confidence band for an ROC curve.

    With `kind="curve"`, the band contains the whole true curve with at least the given probability (Campbell 1994, simultaneous
    joint regions). This band is wide, but valid for any scores (Macskassy, Provost & Rosset 2005). With `kind="points"`, the
    band consists of one rectangle for each threshold, formed by the Wilson limits of both rates. This band contains the whole
    true curve less often. Both kinds assume independent test rows. If rows are clustered or weighted, pass effective numbers of
    rows.

    Parameters
    ----------
    curve : pandas.DataFrame
        Columns fpr and tpr.
    positives, negatives : int
        Number of rows of each class.
    level : float
        Confidence level.
    kind : {"curve", "points"}
        Simultaneous band for the whole curve, or a separate band for each threshold.

    Returns
    -------
    pandas.DataFrame
        Columns fpr, low and high.

    Examples
    --------
    >>> from fairtrial.measures import roc_curve
    >>> curve = roc_curve([0] * 10 + [1] * 10, list(range(20)))
    >>> compute_roc_band(curve, 10, 10, level=0.9025).round(3).iloc[[0, -1]].to_dict("list")
    {'fpr': [0.0, 1.0], 'low': [0.0, 0.591], 'high': [1.0, 1.0]}
    """
    import pandas as pd

    frame = require_columns("curve", curve, ["fpr", "tpr"])
    positives, negatives = (
        _check.check_whole_number(*argument, 1) for argument in (("positives", positives), ("negatives", negatives))
    )
    _check.check_between("level", level, 0, 1)
    _check.check_one_of("kind", kind, ("curve", "points"))
    fpr, tpr = (_check.check_finite(name, frame[name].to_numpy(np.float64)) for name in ("fpr", "tpr"))
    rate_level = float(np.sqrt(level))
    compute_limits = _compute_simultaneous_limits if kind == "curve" else _compute_pointwise_limits
    (fpr_low, fpr_high), (tpr_low, tpr_high) = (
        compute_limits(fpr, negatives, rate_level),
        compute_limits(tpr, positives, rate_level),
    )
    # The edges of the band also bend where they leave the unit square.
    bends = [np.interp(1.0, tpr_high, fpr_low), np.interp(0.0, tpr_low, fpr_high)]
    x = np.unique(np.concatenate([[0.0, 1.0], fpr_low, fpr_high, bends]))
    x = np.repeat(x[(x >= 0) & (x <= 1)], 2)[1:-1]
    upper = _interpolate_steps(np.append(fpr_low, 2.0), np.append(tpr_high, tpr_high[-1]), x)
    lower = _interpolate_steps(np.append(-1.0, fpr_high), np.append(tpr_low[0], tpr_low), x)
    return pd.DataFrame({"fpr": x, "low": np.clip(lower, 0, 1), "high": np.clip(upper, 0, 1)})


def _compute_simultaneous_limits(rate: FloatArray, cases: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Compute simultaneous confidence limits for all thresholds from the Kolmogorov distance."""
    from scipy.stats import kstwo

    distance = float(kstwo.ppf(level, cases))
    return rate - distance, rate + distance


def _compute_pointwise_limits(rate: FloatArray, cases: int, level: float) -> tuple[FloatArray, FloatArray]:
    """Compute the Wilson limits of the rate at each threshold."""
    limits = np.array([compute_wilson_limits(round(value * cases), cases, level) for value in rate.tolist()])
    return limits[:, 0], limits[:, 1]


def _interpolate_steps(x: FloatArray, y: FloatArray, positions: FloatArray) -> FloatArray:
    """Interpolate a function with steps.

    Each position between the first and the last occurs twice: for the values before and after a step.
    """
    before = np.clip(np.searchsorted(x, positions, side="left"), 1, len(x) - 1)
    behind = np.clip(np.searchsorted(x, positions, side="right"), 1, len(x) - 1)
    # The first and the last position occur once: use the value after the first and the value before the last.
    right = np.arange(len(positions)) % 2 == 0
    index = np.where(right, behind, before)
    width = x[index] - x[index - 1]
    fraction = np.divide(positions - x[index - 1], width, out=np.ones_like(positions), where=width > 0)
    return np.asarray(y[index - 1] + np.clip(fraction, 0, 1) * (y[index] - y[index - 1]))


def with_band(chart: Any, bands: Frames, learners: Frames, *, level: float = 0.95, simultaneous: bool = True) -> Any:
    """Add bands behind the curves of a chart from `draw_roc`. `learners` must be the frames of all curves in the chart.

    >>> from fairtrial.measures import roc_curve
    >>> curves = {"tree": roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])}
    >>> chart = with_band(draw_roc(curves), {"tree": compute_roc_band(curves["tree"], 2, 2)}, curves)
    >>> chart.to_dict()["layer"][0]["mark"]["type"]
    'area'
    """
    rows = collect_rows(bands, ["fpr", "low", "high"], thin=["fpr", "low", "high"])
    # The rows are already in order. An `order` encoding would draw each row as a separate area.
    opacity = 0.22 if len(bands) == 1 else 0.14
    x, low = build_axis("x", "fpr", "False positive rate"), build_axis("y", "low", "True positive rate")
    area = build_chart(rows).mark_area(opacity=opacity, line=False).encode(x, low, encode_colour(learners), y2="high:Q")
    chart = chart.copy(deep=True)
    chart.layer.insert(0, area)
    band_text = "simultaneous band" if simultaneous else "pointwise band"
    learners_text = "" if len(bands) == len(learners) else f" of {', '.join(bands)}"
    chart.title.subtitle = [*chart.title.subtitle, f"Shaded: {100 * level:g} % {band_text}{learners_text}"]
    return chart


def draw_precision_recall(frames: Frames, *, title: str = "Precision-recall curve") -> Any:
    """Draw precision-recall curves and the base rate.

    The base rate is the precision of predicting every row as positive.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `precision_recall_curve`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import precision_recall_curve
    >>> chart = draw_precision_recall({"tree": precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["subtitle"]
    ['Dashed: the base rate, 0.500']
    """
    import altair as alt
    import pandas as pd

    columns = {"threshold": "threshold", "recall": "recall", "precision": "precision"}
    # Among rows with tied scores, the expected precision is constant, so the first precision extends down to recall 0.
    whole = {
        name: pd.concat([frame.head(1).assign(recall=0.0), frame]) for name, frame in check_frames(frames, columns).items()
    }
    x, y = build_axis("x", "recall", "Recall"), build_axis("y", "precision", "Precision")
    curves = _draw_curve_lines(whole, x, y, columns, interpolate="step-before")
    rates = sorted({round(float(frame["precision"].iloc[-1]), 6) for frame in frames.values()})
    layers = [draw_reference_line([(0, rate), (1, rate)], x, y) for rate in rates]
    subtitle = f"Dashed: the base rate, {', '.join(f'{rate:.3f}' for rate in rates)}"
    return style_chart(alt.layer(*layers, curves).properties(width=SIDE, height=SIDE, title=build_title(title, subtitle)))


def draw_cost(frames: Frames, lines: Frames | None = None, *, title: str = "Cost curve") -> Any:
    """Draw cost curves and the lines of the two trivial classifiers.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `cost_curve`.
    lines : mapping of str to dataframe, optional
        Cost lines of each learner (one per threshold), as returned by `cost_lines`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import cost_curve
    >>> chart = draw_cost({"tree": cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['line', 'line', 'text', 'text', 'line']
    """
    import altair as alt

    columns = {"threshold": "best threshold", "probability_cost": "probability cost", "expected_cost": "expected cost"}
    x = build_axis("x", "probability_cost", "Probability cost of the positive class")
    y = build_axis("y", "expected_cost", "Normalised expected cost", high=0.5)
    layers = [draw_reference_line(points, x, y) for points in ([(0, 0), (0.5, 0.5)], [(0.5, 0.5), (1, 0)])]
    layers.append(_draw_note("always negative", x, y, position=(0.36, 0.36), side="left", gap=8))
    layers.append(_draw_note("always positive", x, y, position=(0.64, 0.36), gap=8))
    if lines is not None:
        layers.append(_draw_cost_segments(frames, lines))
    curves = _draw_curve_lines(frames, x, y, columns)
    subtitle = "Lower is better. Dashed: always negative, always positive"
    return style_chart(alt.layer(*layers, curves).properties(width=460, height=300, title=build_title(title, subtitle)))


def _draw_cost_segments(frames: Frames, lines: Frames) -> Any:
    import altair as alt

    rows = [{**row, "start": 0, "end": 1} for row in collect_rows(lines, ["threshold", "fpr", "fnr"], thin=["fpr", "fnr"])]
    # A learner may have thousands of thresholds. The more thresholds, the fainter the lines, so the curves stand out.
    segments = build_chart(rows).mark_rule(strokeWidth=0.7, opacity=min(0.5, 25 / len(rows)), clip=True)
    return segments.encode(alt.X("start:Q"), alt.Y("fpr:Q"), alt.X2("end:Q"), alt.Y2("fnr:Q"), encode_colour(frames))


def draw_brier(frames: Frames, *, title: str = "Brier curve") -> Any:
    """Draw Brier curves. The area under each curve is the Brier score.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `brier_curve`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import brier_curve
    >>> chart = draw_brier({"tree": brier_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["title"]["text"]
    'Brier curve'
    """
    columns = {"cost": "cost", "loss": "loss"}
    x = build_axis("x", "cost", "Cost c of a false positive (a false negative costs 1 - c)")
    y = build_axis("y", "loss", "Loss", high=1.05 * (find_maximum(frames, "loss") or 1.0))
    subtitle = "Lower is better. The area under a curve is the Brier score"
    return style_chart(
        _draw_curve_lines(frames, x, y, columns).properties(width=460, height=300, title=build_title(title, subtitle))
    )


def draw_gain(frames: Frames, *, title: str = "Gain and lift") -> Any:
    """Draw gain and lift side by side, with random targeting as a reference.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `gain_curve`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import gain_curve
    >>> chart = draw_gain({"tree": gain_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> len(chart.to_dict()["hconcat"])
    2
    """
    import altair as alt

    columns = {"threshold": "threshold", "targeted": "proportion targeted", "gain": "gain", "lift": "lift"}
    filled = {name: _interpolate_ties(frame) for name, frame in check_frames(frames, columns).items()}
    x = build_axis("x", "targeted", "Proportion of rows targeted")
    panels = []
    for field, axis_title, top, chance in (
        ("gain", "Proportion of positives found", 1.0, [(0, 0), (1, 1)]),
        ("lift", "Lift", 1.08 * (find_maximum(frames, "lift") or 1.0), [(0, 1), (1, 1)]),
    ):
        y = build_axis("y", field, axis_title, high=top)
        panels.append(
            alt.layer(draw_reference_line(chance, x, y), _draw_curve_lines(filled, x, y, columns)).properties(
                width=290, height=290
            )
        )
    whole = alt.hconcat(*panels, spacing=36).properties(title=build_title(title, "Dashed: targeting at random"))
    return style_chart(whole)


def _interpolate_ties(frame: pd.DataFrame) -> pd.DataFrame:
    """Interpolate gain and lift between thresholds. Among rows with tied scores, the gain grows linearly."""
    targeted = frame["targeted"].to_numpy()
    fractions = np.union1d(targeted, np.linspace(0, 1, 201))
    reached = frame.iloc[np.searchsorted(targeted, fractions)]
    gain = np.interp(fractions, targeted, frame["gain"].to_numpy())
    lift = np.append(frame["lift"].iloc[0], gain[1:] / fractions[1:])
    return reached.assign(targeted=fractions, gain=gain, lift=lift)


def draw_tpr_fpr(frames: Frames, *, title: str = "Kolmogorov-Smirnov chart") -> Any:
    """Draw true and false positive rates by threshold, and mark their largest difference.

    There is one panel per learner.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `tpr_fpr_curve`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import tpr_fpr_curve
    >>> chart = draw_tpr_fpr({"tree": tpr_fpr_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])})
    >>> chart.to_dict()["concat"][0]["title"]["text"]
    'tree'
    """
    import altair as alt

    panels = [
        _draw_rate_panel(str(name), frame).properties(
            width=290, height=290, title=alt.TitleParams(str(name), fontSize=14, offset=8, limit=320)
        )
        for name, frame in check_frames(frames, [*_RATE_TITLES, "difference"]).items()
    ]
    subtitle = "Rows with a score of at least the threshold are predicted positive. Grey: largest difference (KS)"
    return style_chart(alt.concat(*panels, columns=3, spacing=36).properties(title=build_title(title, subtitle)))


def _draw_rate_panel(name: str, frame: pd.DataFrame) -> Any:
    """Draw the panel of one learner. The rates are step functions of the threshold."""
    import altair as alt

    low, high = _compute_score_range(frame)
    x, y = build_axis("x", "score", "Threshold (score)", low=low, high=high), build_axis("y", "value", "Rate")
    scale = alt.Scale(domain=[_RATE_TITLES[rate] for rate in _RATES], range=list(PALETTE[:2]))
    legend = alt.Legend(orient="bottom", symbolType="stroke", symbolStrokeWidth=3)
    panel_frames = {name: _clip_thresholds(frame, low, high)}
    rows = [
        {**row, "rate": _RATE_TITLES[rate], "value": row[rate]}
        for rate in _RATES
        for row in collect_rows(panel_frames, ["score", *_RATE_TITLES], thin=["score", rate])
    ]
    lines = build_chart(rows).mark_line(strokeWidth=2.2, strokeJoin="round", interpolate="step-after")
    shade = alt.Color("rate:N", scale=scale, title=None, legend=legend)
    rates = lines.encode(x, y, shade, order=alt.Order("row:Q"), tooltip=build_tooltips(_RATE_TITLES))
    return alt.layer(*_draw_widest_gap(panel_frames[name], x, y, low, high), rates)


def _compute_score_range(frame: pd.DataFrame) -> tuple[float, float]:
    """Choose an axis from 0 to 1 if the scores cover much of this range. Otherwise, add some space around the scores."""
    scores = frame["threshold"].to_numpy(np.float64)
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return 0.0, 1.0
    low, high = float(scores.min()), float(scores.max())
    if low >= 0 and high <= 1 and high - low >= 0.25:
        return 0.0, 1.0
    room = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    return low - room, high + room


def _clip_thresholds(frame: pd.DataFrame, low: float, high: float) -> pd.DataFrame:
    """Clip thresholds to the axis, and add a row at the lower end of the axis. Thresholds are in decreasing order."""
    import pandas as pd

    inside = frame.assign(score=frame["threshold"].clip(low, high))
    return pd.concat([inside, inside.tail(1).assign(score=low)], ignore_index=True)


def _draw_widest_gap(frame: pd.DataFrame, x: Any, y: Any, low: float, high: float) -> list[Any]:
    """Draw a bar labelled KS at the largest difference between the two rates."""
    gaps = frame["difference"].abs().to_numpy(np.float64)
    if np.isnan(gaps).any():
        return [_draw_note("undefined", x, y, position=((low + high) / 2, 0.5))]
    index = int(gaps.argmax())
    score, tpr, fpr = (float(frame[name].iloc[index]) for name in ("score", *_RATES))
    bar = build_chart([{"score": score, "value": fpr, "to": tpr}]).mark_rule(color=GREY, strokeWidth=5, opacity=0.45)
    side: Literal["left", "right"] = "right" if score < low + 0.6 * (high - low) else "left"
    label = _draw_note(f"KS = {gaps[index]:.3f}", x, y, position=(score, (tpr + fpr) / 2), side=side, gap=9)
    return [bar.encode(x, y, y2="to:Q"), label]


def draw_calibration(frames: Frames, *, title: str = "Calibration") -> Any:
    """Draw calibration curves with intervals, and the number of rows in each bin.

    Parameters
    ----------
    frames : mapping of str to dataframe
        Curve of each learner, as returned by `calibration_curve`.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import calibration_curve
    >>> chart = draw_calibration({"tree": calibration_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], bins=2)})
    >>> len(chart.to_dict()["vconcat"])
    2
    """
    import altair as alt

    columns = {
        "mean_predicted": "mean predicted probability",
        "observed_frequency": "observed frequency",
        "weight": "cases",
        "low": "low",
        "high": "high",
    }
    data = build_chart(collect_rows(frames, columns))
    x, y = (
        build_axis("x", "mean_predicted", "Mean predicted probability"),
        build_axis("y", "observed_frequency", "Observed frequency"),
    )
    shade, hint = encode_colour(frames), build_tooltips(columns)
    bars = data.mark_rule(strokeWidth=1.6, opacity=0.55).encode(
        x, build_axis("y", "low", "Observed frequency"), shade, y2="high:Q"
    )
    points = data.mark_point(filled=True, size=50, opacity=1).encode(x, y, shade, tooltip=hint)
    above = alt.layer(draw_reference_line([(0, 0), (1, 1)], x, y), bars, _draw_curve_lines(frames, x, y, columns), points)
    cases = build_axis("y", "weight", "Cases", high=1.1 * find_maximum(frames, "weight")).axis(tickCount=3)
    below = alt.layer(
        data.mark_rule(strokeWidth=1.6, opacity=0.55).encode(x, cases, shade, y2=alt.datum(0)),
        data.mark_point(filled=True, size=30, opacity=1).encode(x, cases, shade, tooltip=hint),
    )
    above, below = above.properties(width=SIDE, height=SIDE), below.properties(width=SIDE, height=70)
    subtitle = "Bars: intervals of the observed frequencies. Dashed: perfect calibration"
    return style_chart(alt.vconcat(above, below, spacing=16).properties(title=build_title(title, subtitle)))


def draw_calibration_errors(errors: Mapping[str, float], *, title: str = "Calibration error") -> Any:
    """Draw the calibration error of each learner.

    Parameters
    ----------
    errors : mapping of str to float
        Mean distance between predicted probability and observed frequency for each learner.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> [layer["mark"]["type"] for layer in draw_calibration_errors({"tree": 0.02}).to_dict()["layer"]]
    ['rule', 'point', 'text']
    """
    import altair as alt

    rows = [{"learner": str(name), "error": float(error), "text": f"{error:.3f}"} for name, error in errors.items()]
    x = alt.X(
        "error:Q", title="Calibration error", scale=alt.Scale(domainMin=0, domainMax=1.35 * max(errors.values(), default=0))
    )
    names = sorted(errors, key=lambda name: errors[name])
    y = alt.Y("learner:N", title=None, sort=names, axis=alt.Axis(labelLimit=160, labelPadding=9, domain=False, ticks=False))
    base, colour = build_chart(rows), encode_colour(errors).legend(None)
    layers = [
        base.mark_rule(strokeWidth=1.6, opacity=0.55).encode(x, y, colour, x2=alt.datum(0)),
        base.mark_point(filled=True, size=80, opacity=1).encode(x, y, colour),
        base.mark_text(align="left", dx=9).encode(x, y, text="text:N"),
    ]
    subtitle = "Mean distance between predicted probability and observed frequency"
    return style_chart(
        alt.layer(*layers).properties(width=SIDE, height=40 + 36 * len(rows), title=build_title(title, subtitle))
    )


def draw_intervals(frame: Any, *, title: str | None = None) -> Any:
    """Draw a forest plot of estimates with intervals.

    Parameters
    ----------
    frame : dataframe or result
        Columns measure, estimate, low and high. If there is a column learner, each measure has one estimate per learner. A
        frame of differences has the columns first and second instead of measure, and its chart has a line at 0. A result
        that has such a frame, e.g. from `evaluate`, is also accepted.
    title : str, optional
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.measures import evaluate
    >>> chart = draw_intervals(evaluate([0, 1, 1, 0, 1], [0, 1, 0, 0, 1], measures=["accuracy"]))
    >>> chart.to_dict()["title"]["text"]
    'Estimates with intervals'
    """
    about = getattr(frame, "measure", "") if hasattr(frame, "frame") else ""
    frame = to_frame(frame)
    paired = "first" in frame and "second" in frame and "measure" not in (*frame.columns, frame.index.name)
    if paired:
        frame = frame.assign(measure=[f"{pair.first} - {pair.second}" for pair in frame.itertuples()])
    frame = require_columns("frame", frame, ["measure", "estimate", "low", "high"], index="measure")
    learners = [str(name) for name in frame["learner"].unique()] if "learner" in frame else [""]
    axis_title = f"Difference in {about}" if paired and about else "Difference" if paired else "Estimate"
    heading = title or ("Differences with intervals" if paired else "Estimates with intervals")
    return _draw_forest(frame, learners, axis_title, build_title(heading, *["Dashed: no difference"] * paired), paired)


def _draw_forest(frame: pd.DataFrame, learners: list[str], axis_title: str, title: Any, has_zero: bool) -> Any:
    """Draw estimates with intervals, and a line at zero if the estimates are differences."""
    import altair as alt

    base = _build_forest_base(frame, learners)
    scale = alt.Scale(zero=has_zero, nice=True, padding=8)
    bars = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", title=axis_title, scale=scale), alt.X2("high:Q"))
    points = base.mark_point(filled=True, size=70, opacity=1).encode(alt.X("estimate:Q", scale=scale))
    numbers = base.mark_text(align="left", fontSize=12).encode(x=alt.value(SIDE + 14), text="text:N")
    zero = (
        build_chart([{"low": 0}]).mark_rule(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(alt.X("low:Q", scale=scale))
    )
    step = alt.Step(22 if len(learners) > 1 else 30, **{"for": "position"} if len(learners) == 1 else {"for": "offset"})
    whole = alt.layer(*[zero] * has_zero, bars, points, numbers)
    return style_chart(whole.properties(width=SIDE, height=step, title=title))


def _build_forest_base(frame: pd.DataFrame, learners: list[str]) -> Any:
    """Place the rows of a forest plot and format their numbers."""
    import altair as alt

    names = frame["learner"].astype(str) if "learner" in frame else [""] * len(frame)
    rows = [
        {**row, "learner": name}
        for row, name in zip(to_records(frame, ["measure", "estimate", "low", "high"]), names, strict=True)
    ]
    for row in rows:
        row["text"] = format_with_interval(row["estimate"], row["low"], row["high"])
    y = alt.Y("measure:N", sort=None, title=None, axis=alt.Axis(grid=False, labelLimit=260, labelPadding=8))
    y_channels = [y, alt.YOffset("learner:N", sort=learners, scale=alt.Scale(paddingInner=0.2))] if len(learners) > 1 else [y]
    return build_chart(rows).encode(
        *y_channels, encode_colour(learners), tooltip=build_tooltips({"estimate": "estimate", "low": "low", "high": "high"})
    )


def find_maximum(frames: Frames, column: str) -> float:
    """Find the largest number in a column over all frames. Return 0 if all numbers are negative."""
    return float(np.nanmax([0.0, *(frame[column].max() for frame in check_frames(frames, [column]).values())]))


def _draw_curve_lines(frames: Frames, x: Any, y: Any, columns: Mapping[str, str], **mark: Any) -> Any:
    """Draw one line per learner, with tooltips that show these columns."""
    import altair as alt

    line = build_chart(collect_rows(frames, columns, thin=list_fields(x, y))).mark_line(
        strokeWidth=2.2, strokeJoin="round", **mark
    )
    return line.encode(
        x, y, encode_colour(frames), encode_dash(frames), order=alt.Order("row:Q"), tooltip=build_tooltips(columns)
    )


def _draw_note(
    text: str, x: Any, y: Any, *, position: tuple[float, float], side: Literal["left", "right"] = "right", gap: float = 0
) -> Any:
    """Draw a label to the right or left of a position."""
    row = {**dict(zip(list_fields(x, y), position, strict=True)), "text": text}
    mark = build_chart([row]).mark_text(
        color=GREY, fontSize=12.5, align="left" if side == "right" else "right", dx=gap if side == "right" else -gap
    )
    return mark.encode(x, y, text="text:N")
