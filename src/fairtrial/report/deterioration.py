"""The matrix of what a change of the test part costs: learners by data sets."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from fairtrial import _check
from fairtrial.report.drawing import GREY, INK, chart_of, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["dataset", "condition", "level", "learner", "clean", "error", "loss", "ideal", "trivial", "pd"]
_WORDS = {
    "pd": (
        "pD: the share of what could be learnt that the change destroys. Below it: the error rate",
        "White: nothing lost. Red: no better than the trivial classifier. Grey: undefined",
    ),
    "loss": (
        "Rise of the error rate on the changed test part. Below it: the error rate",
        "White: nothing lost. Grey: undefined",
    ),
}


def draw_deterioration(frame: Any, *, value: str = "pd", title: str = "What drift costs") -> Any:
    """A panel for each condition: learners (lines) by data sets (columns), coloured by pD, or by the loss in error rate.

    `frame` is that of `Results.deterioration`.

    >>> import pandas as pd
    >>> line = {"dataset": ["iris"], "condition": ["worn"], "level": [0.3], "learner": ["tree"], "clean": [0.05],
    ...     "error": [0.2], "loss": [0.15], "ideal": [0.1], "trivial": [0.6], "pd": [0.2]}
    >>> draw_deterioration(pd.DataFrame(line)).to_dict()["vconcat"][0]["title"]["text"]
    'worn 0.3'
    """
    import altair as alt

    _check.one_of("value", value, tuple(_WORDS))
    lines = with_columns("frame", frame_of(frame), _COLUMNS)
    panels = [
        _panel(own, value, _named(own))
        for _, own in lines.groupby(["condition", "level"], sort=False, observed=True, dropna=False)
    ]
    whole = alt.vconcat(*panels, spacing=28).properties(title=titled(title, *_WORDS[value]))
    return finished(whole).configure_axis(grid=False, ticks=False, domain=False, labelFontSize=12, titleFontWeight="normal")


def _named(lines: pd.DataFrame) -> str:
    name, level = str(lines["condition"].iloc[0]), float(lines["level"].iloc[0])
    return name if isnan(level) else f"{name} {level:g}"


def _panel(lines: pd.DataFrame, value: str, name: str) -> Any:
    import altair as alt

    datasets, learners = (list(dict.fromkeys(lines[side].astype(str))) for side in ("dataset", "learner"))
    rows = [row | _told(row, value) for row in written(lines, _COLUMNS)]
    narrow = len(datasets) > 8
    head = alt.Axis(labelAngle=-40 if narrow or max(map(len, datasets)) > 10 else 0, labelLimit=160, orient="top")
    x = alt.X("dataset:N", title=None, sort=datasets, axis=head)
    y = alt.Y("learner:N", title=None, sort=learners, axis=alt.Axis(labelLimit=240))
    hint = [alt.Tooltip("learner:N"), alt.Tooltip("dataset:N"), alt.Tooltip("pd:Q", title="pD", format=".3f")]
    names = {
        "loss": "loss",
        "error": "error",
        "clean": "error before",
        "ideal": "error, trained on it",
        "trivial": "trivial error",
    }
    hint += [alt.Tooltip(f"{field}:Q", title=words, format=".1%") for field, words in names.items()]
    base = chart_of(rows).encode(x, y, tooltip=hint)
    dark = "datum.dark"
    ink, soft = (alt.condition(dark, alt.value("white"), alt.value(shade)) for shade in (INK, GREY))
    layers = [
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=_colour(value)),
        base.mark_text(dy=-7, fontSize=12.5, fontWeight="bold").encode(text="told:N", color=ink),
        base.mark_text(dy=9, fontSize=10.5).encode(text="rate:N", color=soft),
    ]
    heading = alt.TitleParams(name, fontSize=14, anchor="start")
    size = {"width": alt.Step(58 if narrow else 78), "height": alt.Step(40)}
    return alt.layer(*layers).properties(title=heading, **size)


def _told(row: dict[str, Any], value: str) -> dict[str, Any]:
    """What stands in a cell."""
    rate = "no result" if row["error"] is None else f"{100 * row['error']:.1f} %"
    shown = row[value]
    if shown is None:
        return {"told": "undefined", "rate": rate, "dark": False}
    dark = (shown > 0.6 or shown < -0.4) if value == "pd" else shown > 0.3
    return {"told": f"{round(shown, 2) + 0.0:.2f}", "rate": rate, "dark": bool(dark)}


def _colour(value: str) -> Any:
    import altair as alt

    domain = [-0.5, 0, 0.5, 1] if value == "pd" else [-0.25, 0, 0.25, 0.5]
    scale = alt.Scale(domain=domain, range=["#4393C3", "#F7F7F7", "#F4A582", "#B2182B"], clamp=True)
    legend = alt.Legend(title="pD" if value == "pd" else "loss", gradientLength=110, values=domain, format=".2~f")
    return alt.condition(f"datum.{value} === null", alt.value("#DDDDDD"), alt.Color(f"{value}:Q", scale=scale, legend=legend))
