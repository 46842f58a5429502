"""The figure of a fold audit: each fold's statistics against what random stratified folds give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.drawing import GREY, INK, PALETTE, chart_of, finished, frame_of, titled, with_columns, written

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["check", "repeat", "fold", "class", "attribute", "value", "expected", "low", "high", "p", "p_adjusted"]
_PANELS = {
    "energy distance": ("Energy distance", "of test and training rows"),
    "two-sample AUC": ("Two-sample AUC", "nearest neighbours, test against training rows"),
    "attributes": ("Most unusual attribute", "KS or Hellinger distance; the one of least p, so often high"),
    "outlying": ("Outlying", "how much farther out test rows lie, in %"),
}
_WITHIN, _BEYOND = "within chance", "beyond chance"
_BAND = "#C9D6DF"
_TOGETHER = "all classes"
_MOST_CLASSES = 6
_MOST_SPLITS = 30
_WIDTH, _HEIGHT = 330, 190


def draw_audit(audit: Any, *, alpha: float | None = None, title: str = "Fold audit") -> Any:
    """Points: the statistics of each fold. Bars: the central 95 % of random stratified folds. Ticks: their mean.

    `audit` is what `resampling.audit` gives, or its frame. A point beyond its bar is no finding yet, for there are many of
    them: only p adjusted for all of them counts. Such points are triangles.

    >>> from fairtrial.resampling.audit import audit
    >>> x, fold = [[float(i)] for i in range(40)], [i % 2 for i in range(40)]
    >>> halves = [([i for i in range(40) if fold[i] != k], [i for i in range(40) if fold[i] == k]) for k in (0, 1)]
    >>> draw_audit(audit(halves, (x, None), n_permutations=99)).to_dict()["title"]["text"]
    'Fold audit'
    """
    import altair as alt

    level = float(getattr(audit, "alpha", 0.05) if alpha is None else alpha)
    lines = _lines(with_columns("audit", frame_of(audit), _COLUMNS), level)
    names = sorted(set(lines["class"]) - {"", _TOGETHER}) + [_TOGETHER] * bool((lines["class"] == _TOGETHER).any())
    folds = list(dict.fromkeys(lines["split"]))
    panels = [_panel(lines[lines["panel"] == key], key, names, folds) for key in _PANELS if (lines["panel"] == key).any()]
    whole = alt.vconcat(*(alt.hconcat(*panels[i : i + 2], spacing=46) for i in range(0, len(panels), 2)), spacing=34)
    words = "Bars: central 95 % of random stratified folds of the same sizes, ticks their mean. Triangles: beyond chance"
    scheme = str(getattr(audit, "scheme", "given")).replace("given", "")
    return finished(whole.properties(title=titled(title, *([scheme] if scheme else []), words)))


def _lines(frame: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """What is drawn: one line for each panel, fold and class; of attributes the one of least p."""
    lines = frame[frame["low"].notna() & frame["repeat"].notna()].copy()
    lines["panel"] = lines["check"].where(~lines["check"].isin(["KS", "Hellinger"]), "attributes")
    several = lines["repeat"].nunique() > 1
    fold, repeat = (lines[name].astype(int) + 1 for name in ("fold", "repeat"))
    lines["split"] = (repeat.astype(str) + "." if several else "") + fold.astype(str)
    lines = lines[lines["split"].isin(list(dict.fromkeys(lines["split"]))[:_MOST_SPLITS])]
    lines["excess"] = (lines["value"] - lines["expected"]) / (lines["high"] - lines["low"]).where(lambda width: width > 0, 1.0)
    keys = ["panel", "split", "class"] if lines["class"].nunique() - 1 <= _MOST_CLASSES else ["panel", "split"]
    order = lines.sort_values(["p", "excess"], ascending=[True, False], kind="stable")
    lines = order.drop_duplicates(keys).sort_index()
    percent = lines["panel"] == "outlying"
    lines["class"] = lines["class"].mask((lines["class"] == "") & ~percent, _TOGETHER)
    for name in ("value", "expected", "low", "high"):
        lines[name] = np.where(percent, 100 * lines[name], lines[name])
    lines["judged"] = np.where(lines["p_adjusted"] <= alpha, _BEYOND, _WITHIN)
    return lines


def _panel(lines: pd.DataFrame, key: str, names: list[str], folds: list[str]) -> Any:
    import altair as alt

    heading, words = _PANELS[key]
    rows = written(lines, [*_COLUMNS, "split", "judged"])
    several = len(names) > 1 and key != "outlying"
    x = alt.X("split:N", title="Fold", sort=folds, axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=folds))
    offset = [alt.XOffset("class:N", sort=names, scale=alt.Scale(domain=names))] if several else []
    hint = [alt.Tooltip(f"{name}:N") for name in ("split", "class", "attribute")]
    hint += [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("value", "expected", "low", "high", "p", "p_adjusted")]
    base = chart_of(rows).encode(x, *offset, tooltip=hint)
    scale = alt.Scale(zero=False, nice=False, padding=14)
    thick = max(3, min(18, 230 // max(1, len(folds) * (len(names) if several else 1))))
    band = base.mark_rule(strokeWidth=thick, color=_BAND).encode(alt.Y("low:Q", title=None, scale=scale), alt.Y2("high:Q"))
    middle = base.mark_point(shape="stroke", size=12 * thick, strokeWidth=1.6, color=GREY, opacity=1)
    points = base.mark_point(filled=True, opacity=1).encode(
        alt.Y("value:Q", scale=scale), *_marks(), color=_colour(names) if several else alt.value(INK)
    )
    layers = alt.layer(band, middle.encode(alt.Y("expected:Q", scale=scale)), points)
    return layers.properties(width=_WIDTH, height=_HEIGHT, title=alt.TitleParams(heading, subtitle=words, fontSize=14))


def _colour(names: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(
        domain=names, range=[INK if names[i] == _TOGETHER else PALETTE[i % len(PALETTE)] for i in range(len(names))]
    )
    legend = alt.Legend(orient="bottom", title="Class", symbolType="circle") if len(names) <= 2 * _MOST_CLASSES else None
    return alt.Color("class:N", scale=scale, legend=legend)


def _marks() -> list[Any]:
    """Triangles, and larger, for what is beyond chance."""
    import altair as alt

    judged = [_WITHIN, _BEYOND]
    shape = alt.Shape("judged:N", scale=alt.Scale(domain=judged, range=["circle", "triangle-up"]), legend=None)
    return [shape, alt.Size("judged:N", scale=alt.Scale(domain=judged, range=[70, 170]), legend=None)]
