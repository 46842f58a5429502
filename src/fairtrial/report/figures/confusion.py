"""Figure of confusion matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial._text import format_number
from fairtrial.errors import InputError
from fairtrial.predictions.statistics import InMemoryModel
from fairtrial.predictions.tables import build_confusion
from fairtrial.report.figures.base import (
    NAME_WIDTH,
    build_chart,
    build_title,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection
from fairtrial.study.results.selection import CLEAN, format_condition, mask_condition

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

MAX_CLASSES = 20
"""Maximum number of classes in a figure."""

_COLUMNS = ["model", "true", "predicted", "count", "rate", "low", "high"]
# Width and height of a cell, and font sizes of the count and the rate. The keys are the maximum numbers of classes.
_SIZES = {6: (78, 54, 14, 12), 10: (60, 46, 12.5, 11), MAX_CLASSES: (46, 38, 11, 9.5)}
# The colours of cells are light enough for dark text, and differ from the colours of learners.
_SHADES = ["#F1F3F5", "#8FA3B5"]


@register_figure("confusion", serves=("study", "judgement"), select=("dataset", "condition", "level", "learner", "repeat"))
def draw_study_confusion(results: Results, selection: Selection, confidence: float = 0.95) -> Any:
    """Draw the confusion matrix of each learner for the selected repeat. Default: the first repeat."""
    facts, condition = selection.find_dataset(results), selection.find_condition(results)
    frame = collect_confusion(results, selection, confidence)
    where = facts.name if condition.name == CLEAN else f"{facts.name} under {format_condition(condition)}"
    names = list(dict.fromkeys(frame["model"]))
    title = f"Confusion matrix of {names[0]}: {where}" if len(names) == 1 else f"Confusion matrices: {where}"
    return draw_confusion(frame, title=title)


def collect_confusion(results: Results, selection: Selection, confidence: float = 0.95) -> pd.DataFrame:
    """Collect the cells of the confusion matrix of each learner, computed from all test rows of one repeat."""
    import pandas as pd

    facts, condition = selection.find_dataset(results), selection.find_condition(results)
    names = [learner.name for learner in results.archive.learners]
    chosen = (
        names if selection.learner is None else [selection.learner] if isinstance(selection.learner, str) else selection.learner
    )
    unknown = next((name for name in chosen if name not in names), None)
    if unknown is not None:
        raise InputError(f"learner must be in the study, got {unknown!r}: {suggest_name(str(unknown), names)}")
    trials = results.scored_trials()
    is_chosen = (trials["dataset"] == facts.name) & (trials["status"] == "ok") & mask_condition(trials, condition)
    trials = trials[is_chosen & (trials["repeat"] == (selection.repeat or 0))]
    models = []
    for name in chosen:
        learner_trials = trials[trials["learner"] == name]["trial"].tolist()
        if learner_trials:
            predictions = list(results.archive.predictions(learner_trials))
            rows, y_true, y_pred = (
                np.concatenate([getattr(part, column) for part in predictions]) for column in ("rows", "y_true", "prediction")
            )
            # Predictions for the same row depend on each other.
            clusters = rows if facts.groups is None and len(np.unique(rows)) < len(rows) else None
            clusters = clusters if facts.groups is None else facts.groups[rows]
            models.append(
                InMemoryModel(
                    facts.name, name, tuple(facts.classes), None, rows, y_true, y_pred, None, None, None, {}, clusters
                )
            )
    if not models:
        raise InputError(f"learner must have successful trials on {facts.name}, got none: choose another data set or learner")
    return pd.concat([build_confusion([model], confidence) for model in models], ignore_index=True)


def draw_confusion(confusion: Any, *, title: str = "Confusion matrix", unit: str = "Rows") -> Any:
    """Draw the confusion matrix of each model: counts, and rates within the true class.

    Parameters
    ----------
    confusion : pandas.DataFrame
        The rows of `Judgement.confusion` for one data set, with columns model, true, predicted, count, rate, low and high.
    title : str
        Title of the chart.
    unit : str, default "Rows"
        What the counts represent, such as "Sum of weights".

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> cells = {"model": "tree", "true": ["no", "no"], "predicted": ["no", "yes"], "count": [9, 1], "rate": [0.9, 0.1]}
    >>> chart = draw_confusion(pd.DataFrame({**cells, "low": [0.6, 0.02], "high": [0.98, 0.4]}))
    >>> [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    ['rect', 'text', 'text']
    """
    import altair as alt

    frame = require_columns("confusion", to_frame(confusion), _COLUMNS)
    if frame.duplicated(["model", "true", "predicted"]).any():
        raise InputError("confusion must contain each cell of a model once, got several rows for a cell: select one data set")
    panels = {str(model): _draw_matrix(cells) for model, cells in frame.groupby("model", sort=False)}
    heading = build_title(title, f"{unit}, and rate within the true class")
    chart = next(iter(panels.values()))
    if len(panels) > 1:
        titled = [panel.properties(title=alt.TitleParams(model, fontSize=14)) for model, panel in panels.items()]
        chart = alt.concat(*titled, columns=2, spacing=28)
    fonts: dict[str, Any] = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal"}
    return style_chart(chart.properties(title=heading)).configure_axis(
        grid=False, ticks=False, domain=False, labelPadding=6, **fonts
    )


def _draw_matrix(cells: pd.DataFrame) -> Any:
    import altair as alt

    trues, predicted = (list(dict.fromkeys(cells[side].astype(str))) for side in ("true", "predicted"))
    if len(predicted) > MAX_CLASSES:
        raise InputError(f"confusion must have at most {MAX_CLASSES} classes, got {len(predicted)}: select some of them")
    width, height, large, small = next(size for classes, size in _SIZES.items() if len(predicted) <= classes)
    rows = [row | _format_cell(row) for row in to_records(cells, _COLUMNS)]
    is_long = max(map(len, predicted)) * 7 > width
    head = alt.Axis(
        orient="top", labelAngle=-40 if is_long else 0, labelAlign="left" if is_long else "center", labelLimit=NAME_WIDTH
    )
    x = alt.X("predicted:N", sort=predicted, title="Predicted class", axis=head)
    y = alt.Y("true:N", sort=trues, title="True class", axis=alt.Axis(labelLimit=NAME_WIDTH))
    hint = [alt.Tooltip(f"{side}:N", title=f"{side} class") for side in ("true", "predicted")]
    hint += [
        alt.Tooltip("count:Q", format=",.6~g"),
        *(alt.Tooltip(f"{name}:Q", format=".3g") for name in ("rate", "low", "high")),
    ]
    base = build_chart(rows).encode(y)
    shade = alt.Color("rate:Q", scale=alt.Scale(domain=[0, 1], range=_SHADES), legend=None)
    layers = [
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=shade),
        base.mark_text(dy=-small * 0.65, fontSize=large, fontWeight="bold", color="black").encode(text="label:N"),
        base.mark_text(dy=large * 0.7, fontSize=small, color="black").encode(text="proportion:N"),
    ]
    return alt.layer(*layers).encode(x, tooltip=hint).properties(width=alt.Step(width), height=alt.Step(height))


def _format_cell(row: dict[str, Any]) -> dict[str, str]:
    rate = "" if row["rate"] is None else format_number(row["rate"], "{:.3f}")
    return {"label": format_number(row["count"], "{:,.6g}"), "proportion": rate}
