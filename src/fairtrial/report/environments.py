"""The picture of a run over environments: what is lost, trained here and tested there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.report.drawing import GREY, INK, chart_of, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = {
    "pd": "pD",
    "pd_low": "pD, lower limit",
    "pd_high": "pD, upper limit",
    "error": "error",
    "error_low": "error, lower limit",
    "error_high": "error, upper limit",
    "ideal": "error, trained there",
    "trivial": "trivial error",
}
_COLUMNS = ["learner", "trained_on", "tested_on", *_SHOWN, "replicates", "failures"]
_CELL = (66, 42)
_DARK = "datum.pd > 0.6 || (datum.pd !== null && datum.pd < -0.4)"


def draw_environments(result: Any, *, columns: int = 2, title: str = "Trained here, tested there") -> Any:
    """A heat map of pD for each learner: trained on (lines) by tested on (columns), with the error rate in each cell.

    `result` comes from `run_environments`, or is its frame. White: nothing is lost; red: all that could be learnt; blue: the
    foreign training data served better. A grey cell has no pD, because the learner failed, or does not beat the trivial
    classifier even when trained there.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"learner": ["tree"], "trained_on": ["summer"], "tested_on": ["winter"], "pd": [0.3],
    ...     "pd_low": [0.2], "pd_high": [0.4], "error": [0.2], "error_low": [0.18], "error_high": [0.22], "ideal": [0.1],
    ...     "trivial": [0.4], "replicates": [30], "failures": [0]})
    >>> draw_environments(frame).to_dict()["columns"]
    2
    """
    import altair as alt

    frame = with_columns("the frame", frame_of(result), _COLUMNS)
    if not isinstance(columns, int) or columns < 1:
        raise InputError(f"columns must be at least 1, got {columns!r}")
    panels = [_panel(own, str(learner)) for learner, own in frame.groupby("learner", sort=False, observed=True)]
    whole = alt.concat(*panels, columns=columns, spacing=28).properties(
        title=titled(
            title,
            "pD: the share of what could be learnt that the change destroys. Below it: the error rate.",
            "White: nothing lost. Red: no better than the trivial classifier. Grey: undefined.",
        )
    )
    return finished(whole).configure_axis(grid=False, ticks=False, domain=False, labelFontSize=12, titleFontWeight="normal")


def _panel(frame: pd.DataFrame, learner: str) -> Any:
    import altair as alt

    tested, trained = (list(dict.fromkeys(frame[side].astype(str))) for side in ("tested_on", "trained_on"))
    everyone = list(dict.fromkeys([*tested, *trained]))
    rows = [row | _words(row) for row in written(frame, _COLUMNS)]
    x = alt.X("tested_on:N", title="Tested on", sort=tested, axis=alt.Axis(labelAngle=0))
    y = alt.Y("trained_on:N", title="Trained on", sort=[name for name in everyone if name in trained])
    base = chart_of(rows).encode(x, y, tooltip=_tooltips())
    ink = alt.condition(_DARK, alt.value("white"), alt.value(INK))
    layers = [
        base.mark_rect(stroke="white", strokeWidth=2).encode(color=_colour()),
        base.mark_text(dy=-7, fontSize=13, fontWeight="bold").encode(text="told:N", color=ink),
        base.mark_text(dy=9, fontSize=11).encode(
            text="rate:N", color=alt.condition(_DARK, alt.value("white"), alt.value(GREY))
        ),
    ]
    size = {"width": _CELL[0] * len(tested), "height": _CELL[1] * len(trained)}
    return alt.layer(*layers).properties(title=alt.TitleParams(learner, fontSize=14, anchor="start"), **size)


def _colour() -> Any:
    import altair as alt

    scale = alt.Scale(domain=[-0.5, 0, 0.5, 1], range=["#4393C3", "#F7F7F7", "#F4A582", "#B2182B"], clamp=True)
    legend = alt.Legend(title="pD", gradientLength=130, values=[-0.5, 0, 0.5, 1], format=".1f")
    return alt.condition("datum.pd === null", alt.value("#DDDDDD"), alt.Color("pd:Q", scale=scale, legend=legend))


def _words(row: dict[str, Any]) -> dict[str, str]:
    """What stands in a cell."""
    rate = "no result" if row["error"] is None else f"{100 * row['error']:.1f} %"
    if row["pd"] is None:
        return {"told": "failed" if row["failures"] and not row["replicates"] else "undefined", "rate": rate}
    return {"told": f"{round(row['pd'], 2) + 0.0:.2f}", "rate": rate}


def _tooltips() -> list[Any]:
    import altair as alt

    names = {"learner": "learner", "trained_on": "trained on", "tested_on": "tested on"}
    shown = [alt.Tooltip(f"{name}:N", title=title) for name, title in names.items()]
    for name, title in _SHOWN.items():
        shown.append(alt.Tooltip(f"{name}:Q", title=title, format=".3f" if name.startswith("pd") else ".1%"))
    return [*shown, alt.Tooltip("replicates:Q"), alt.Tooltip("failures:Q")]
