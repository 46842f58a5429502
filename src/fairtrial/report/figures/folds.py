"""Figures of the folds: training and test rows, the rarest class in each fold, and the fold audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray, check_one_of
from fairtrial.errors import FairtrialError, InputError
from fairtrial.report.figures.base import (
    GREY,
    INK,
    PALETTE,
    build_chart,
    build_title,
    require_columns,
    style_chart,
    to_frame,
    to_records,
)
from fairtrial.report.figures.registry import register_figure
from fairtrial.report.selection import Selection
from fairtrial.resampling.splits import Split, Splits

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import DataFacts

# The possible roles of a row in a split, and their colours. Test rows stand out, and rows with invalid roles stand out most.
ROW_ROLES = {
    "trains": "#D6E4EE",
    "trains more than once": "#8FB8D6",
    "tests": INK,
    "trains and tests": "#D9534A",
    "left aside": "#F4F4F4",
}
_CELL, _SPLITS_WIDTH, _MAX_ROWS, _MAX_SPLITS = 17, 620, 300, 60
_COLUMNS = ["check", "repeat", "fold", "class", "attribute", "value", "expected", "low", "high", "p", "p_adjusted"]
_PANELS = {
    "energy distance": ("Energy distance", "between test and training rows"),
    "two-sample AUC": ("Two-sample AUC", "nearest neighbours, test against training rows"),
    "attributes": ("Most unusual attribute", "KS or Hellinger distance of the attribute with the smallest p-value"),
    "outlying": ("Outlying", "excess distance of test rows, in %"),
}
_WITHIN, _BEYOND = "within chance", "beyond chance"
_BAND = "#C9D6DF"
_TOGETHER = "all classes"
_MOST_CLASSES = 6
_MAX_AUDIT_SPLITS = 30
_AUDIT_WIDTH, _AUDIT_HEIGHT = 330, 190


@register_figure("splits", select=("dataset", "repeat"))
def draw_study_splits(results: Results, selection: Selection) -> Any:
    """Draw the training rows and test rows of each split. If there are many rows, draw only every k-th row."""
    facts, repeat = selection.find_dataset(results), selection.repeat or 0
    all_splits = build_splits(results, facts)
    repeat_splits = [split for split in all_splits.splits if split.repeat == repeat][:_MAX_SPLITS]
    if not repeat_splits:
        repeats = sorted({split.repeat for split in all_splits.splits})
        check_one_of("repeat", repeat, repeats)
    order = np.argsort(facts.codes, kind="stable")
    step = -(-len(order) // _MAX_ROWS)
    drawn_rows = order[::step]
    positions = np.full(len(order), -1)
    positions[drawn_rows] = np.arange(len(drawn_rows))
    drawn_splits = [
        Split(
            _drop_missing_positions(positions[split.train]),
            _drop_missing_positions(positions[split.test]),
            split.repeat,
            split.fold,
        )
        for split in repeat_splits
    ]
    labels = [str(facts.classes[code]) if code >= 0 else "(no class)" for code in facts.codes[drawn_rows]]
    sampling_text = "" if step == 1 else f", 1 in {step} rows"
    title = f"Test rows of each split: {facts.name}{sampling_text}, sorted by class"
    return draw_splits(Splits(len(drawn_rows), tuple(drawn_splits), all_splits.scheme), labels, title=title)


def _drop_missing_positions(positions: Any) -> Any:
    return positions[positions >= 0]


def draw_splits(
    schemes: Mapping[str, Splits] | Splits, classes: npt.ArrayLike | None = None, *, title: str = "Test rows of each split"
) -> Any:
    """Draw the training rows and test rows of each split.

    Rows of the data set run from left to right, and splits from top to bottom. At most 300 rows and 60 splits can be drawn.

    Parameters
    ----------
    schemes : Splits or mapping of str to Splits
        Splits to draw. Pass a mapping from scheme names to splits to draw one panel per scheme.
    classes : array-like, optional
        Class of each row, shown in a strip above the panels.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.resampling import KFold
    >>> chart = draw_splits(KFold(3, random_state=1).freeze(range(12)))
    >>> chart.to_dict()["vconcat"][0]["title"]["text"]
    'KFold(n_splits=3, random_state=1)'
    """
    import altair as alt

    frame = label_rows(schemes)
    panels = [_draw_splits_panel(str(name), rows) for name, rows in frame.groupby("scheme", sort=False)]
    if classes is not None:
        panels.insert(0, _draw_class_strip(classes, int(frame["row"].max()) + 1))
    heading = build_title(title, "Rows: splits. Columns: rows of the data")
    return style_chart(alt.vconcat(*panels, spacing=14).resolve_scale(color="independent").properties(title=heading))


def label_rows(schemes: Mapping[str, Splits] | Splits) -> pd.DataFrame:
    """Tabulate the role of each row in each split, with the columns scheme, split, row and role.

    Each role is one of `ROW_ROLES`.

    >>> from fairtrial.resampling import Splits
    >>> label_rows({"one": Splits.from_pairs([([0, 0, 1], [1, 2])], n_rows=4)})["role"].tolist()
    ['trains more than once', 'trains and tests', 'tests', 'left aside']
    """
    import pandas as pd

    frames = []
    for name, splits in _check_schemes(schemes).items():
        for number, split in enumerate(splits):
            columns = {
                "scheme": name,
                "split": number + 1,
                "row": np.arange(splits.n_rows),
                "role": _label_split_rows(split, splits.n_rows),
            }
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def _check_schemes(schemes: Mapping[str, Splits] | Splits) -> dict[str, Splits]:
    if isinstance(schemes, Splits):
        schemes = {schemes.scheme: schemes}
    if not isinstance(schemes, Mapping) or not schemes or not all(isinstance(splits, Splits) for splits in schemes.values()):
        raise InputError(f"schemes must be splits or map names to splits, got {schemes!r}: pass e.g. KFold(5).freeze(X)")
    for name, splits in schemes.items():
        if splits.n_rows > _MAX_ROWS or len(splits) > _MAX_SPLITS:
            raise InputError(
                f"{name} must have at most {_MAX_ROWS} rows and {_MAX_SPLITS} splits to be drawn, "
                f"got {splits.n_rows} and {len(splits)}: draw a smaller example"
            )
    if len({splits.n_rows for splits in schemes.values()}) > 1:
        raise InputError("schemes must split the same rows: draw others separately")
    return {str(name): splits for name, splits in schemes.items()}


def _label_split_rows(split: Split, n: int) -> npt.NDArray[Any]:
    times: IntArray = np.bincount(split.train, minlength=n)
    tested = np.bincount(split.test, minlength=n) > 0
    names = np.array([*ROW_ROLES], dtype=object)
    choices = [(tested & (times > 0), 3), (tested, 2), (times > 1, 1), (times == 1, 0)]
    return np.asarray(names[np.select([mask for mask, _ in choices], [code for _, code in choices], 4)])


def _draw_splits_panel(name: str, rows: pd.DataFrame) -> Any:
    import altair as alt

    splits = int(rows["split"].max())
    cell = _CELL if splits <= 12 else 8
    present = [role for role in ROW_ROLES if (rows["role"] == role).any()]
    scale = alt.Scale(domain=present, range=[ROW_ROLES[role] for role in present])
    legend = alt.Legend(title=None, orient="right", symbolType="square", symbolSize=130, symbolStrokeWidth=0, columns=1)
    axis = alt.Axis(ticks=False, labels=splits <= 12, domain=False, labelPadding=6, labelFontSize=11)
    chart = build_chart(to_records(rows, ["split", "row", "role"])).mark_rect(stroke="white", strokeWidth=0.8)
    encoded = chart.encode(
        alt.X("row:O", axis=None),
        alt.Y("split:O", axis=axis, title="split"),
        alt.Color("role:N", scale=scale, legend=legend),
        tooltip=[alt.Tooltip("split:Q"), alt.Tooltip("row:Q", title="row (from 0)"), alt.Tooltip("role:N")],
    )
    heading = alt.TitleParams(name, anchor="start", fontSize=13, fontWeight="normal", color=INK, offset=5)
    return encoded.properties(width=_SPLITS_WIDTH, height=max(cell * splits, 24), title=heading)


def _draw_class_strip(classes: npt.ArrayLike, n: int) -> Any:
    import altair as alt

    labels = [str(label) for label in np.asarray(classes).tolist()]
    if len(labels) != n:
        raise InputError(f"classes must have one value for each of the {n} rows, got {len(labels)}")
    names = list(dict.fromkeys(labels))
    colours = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
    scale = alt.Scale(domain=names, range=[colours[index % len(colours)] for index in range(len(names))])
    legend = alt.Legend(title=None, orient="right", symbolType="square", symbolSize=130, symbolStrokeWidth=0, columns=1)
    chart = build_chart([{"row": row, "class": label} for row, label in enumerate(labels)]).mark_rect(
        stroke="white", strokeWidth=0.8
    )
    heading = alt.TitleParams("class of each row", anchor="start", fontSize=13, fontWeight="normal", color=INK, offset=5)
    return chart.encode(alt.X("row:O", axis=None), alt.Color("class:N", scale=scale, legend=legend)).properties(
        width=_SPLITS_WIDTH, height=16, title=heading
    )


def build_splits(results: Results, facts: DataFacts) -> Splits:
    """Collect the splits on which the scores for a data set are based."""
    trials = results.scored_trials()
    fold_keys = trials.loc[trials["dataset"] == facts.name, ["repeat", "fold"]].drop_duplicates()
    splits = []
    for repeat, fold in fold_keys.itertuples(index=False, name=None):
        train, test = (np.asarray(rows, dtype=np.intp) for rows in results.archive.split(facts.name, repeat, fold))
        splits.append(Split(train, test, int(repeat), int(fold)))
    declared = results.archive.declaration.get("resampling")
    scheme = str(declared.get("scheme") or "given") if isinstance(declared, Mapping) else "given"
    return Splits(len(facts.codes), tuple(splits), scheme)


def draw_rarest_class(lines: Any, *, title: str = "The rarest class in each fold") -> Any:
    """Draw the proportion of the rarest class in each test set.

    Each circle is a test set. Bars show the proportion in all rows.

    Parameters
    ----------
    lines : pandas.DataFrame
        Result of `build_fold_lines` for one or more data sets. Only the first repeat is drawn.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> import pandas as pd
    >>> line = {"data set": ["iris"] * 2, "repeat": 1, "fold": [1, 2], "rarest class": "b", "proportion in test": [0.3, 0.4]}
    >>> draw_rarest_class(pd.DataFrame({**line, "proportion overall": 0.35})).to_dict()["title"]["text"]
    'The rarest class in each fold'
    """
    import altair as alt

    columns = ["data set", "repeat", "fold", "rarest class", "proportion in test", "proportion overall"]
    frame = require_columns("lines", to_frame(lines), columns)
    frame = frame[frame["repeat"] == frame["repeat"].min()]
    order = list(dict.fromkeys(frame["data set"].astype(str)))
    names = dict(zip(columns, ("dataset", "repeat", "fold", "class", "share", "whole"), strict=True))
    rows = to_records(frame.rename(columns=names), names.values())
    most = max((row[name] or 0.0 for row in rows for name in ("share", "whole")), default=1.0)
    scale = alt.Scale(domain=[0, min(1.0, 1.12 * most or 1.0)], nice=False)
    y = alt.Y("dataset:N", sort=order, title=None, axis=alt.Axis(labelLimit=260, grid=True, ticks=False, domain=False))
    hint = [alt.Tooltip(f"{name}:N") for name in ("dataset", "class", "fold")]
    hint.append(alt.Tooltip("share:Q", title="proportion", format=".3f"))
    hint.append(alt.Tooltip("whole:Q", title="proportion in all rows", format=".3f"))
    axis_title = "Proportion of the rarest class"
    points = build_chart(rows).mark_point(size=60, opacity=0.8, color=INK, strokeWidth=1.6)
    bars = build_chart(rows).mark_tick(color=GREY, thickness=2.5, size=20, opacity=1)
    layers = [
        bars.encode(alt.X("whole:Q", title=axis_title, scale=scale), y, tooltip=hint),
        points.encode(alt.X("share:Q", title=axis_title, scale=scale), y, tooltip=hint),
    ]
    heading = build_title(title, "Circles: test sets of the first repeat. Bars: all rows")
    return style_chart(alt.layer(*layers).properties(width=380, height=alt.Step(30, **{"for": "position"}), title=heading))


@register_figure("audit", select=("dataset",))
def draw_study_audit(
    results: Results, selection: Selection, data: Any = None, n_permutations: int = 199, random_state: int = 0
) -> Any:
    """Draw the fold audit of a data set. By default, the attributes of the data set are loaded from the catalogue."""
    from fairtrial.resampling.audit import audit as audit_splits

    facts = selection.find_dataset(results)
    table = _load_from_catalogue(facts) if data is None else data
    fold_audit = audit_splits(build_splits(results, facts), table, n_permutations=n_permutations, random_state=random_state)
    return draw_audit(fold_audit, title=f"Fold audit: {facts.name}")


def _load_from_catalogue(facts: DataFacts) -> Any:
    from fairtrial.data import load

    remedy = "pass data=, a data set or a pair (X, y)"
    try:
        dataset = load(facts.name)
    except FairtrialError:
        raise InputError(f"the audit needs the attributes of {facts.name!r}, which results do not store: {remedy}") from None
    if dataset.content_hash != facts.content_hash:
        raise InputError(f"the data set {facts.name!r} of the catalogue must be the one of the study, but differs: {remedy}")
    return dataset


def draw_audit(audit: Any, *, alpha: float | None = None, title: str = "Fold audit") -> Any:
    """Draw the statistics of each fold, compared with those of random stratified folds.

    Each point is a fold. Each bar shows the central 95 % interval of the statistic over random stratified folds, and a tick
    shows the mean. Triangles mark folds with a significant p-value after adjustment for the number of tests.

    Parameters
    ----------
    audit : audit or dataframe
        Result of `resampling.audit`, or its frame.
    alpha : float, optional
        Significance level for the adjusted p-values. Default: the level stored in `audit`, or 0.05 for a frame.
    title : str
        Title of the chart.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> from fairtrial.resampling.audit import audit
    >>> x, fold = [[float(i)] for i in range(40)], [i % 2 for i in range(40)]
    >>> halves = [([i for i in range(40) if fold[i] != k], [i for i in range(40) if fold[i] == k]) for k in (0, 1)]
    >>> draw_audit(audit(halves, (x, None), n_permutations=99)).to_dict()["title"]["text"]
    'Fold audit'
    """
    import altair as alt

    significance_level = float(getattr(audit, "alpha", 0.05) if alpha is None else alpha)
    lines = _select_audit_lines(require_columns("audit", to_frame(audit), _COLUMNS), significance_level)
    names = sorted(set(lines["class"]) - {"", _TOGETHER}) + [_TOGETHER] * bool((lines["class"] == _TOGETHER).any())
    folds = list(dict.fromkeys(lines["split"]))
    panels = [
        _draw_audit_panel(lines[lines["panel"] == key], key, names, folds) for key in _PANELS if (lines["panel"] == key).any()
    ]
    whole = alt.vconcat(*(alt.hconcat(*panels[i : i + 2], spacing=46) for i in range(0, len(panels), 2)), spacing=34)
    subtitle = "Bars: central 95 % interval over random stratified folds of the same sizes. Ticks: mean. Triangles: significant"
    scheme = str(getattr(audit, "scheme", "given")).replace("given", "")
    return style_chart(whole.properties(title=build_title(title, *([scheme] if scheme else []), subtitle)))


def _select_audit_lines(frame: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Select the row with the smallest p-value for each panel and fold.

    If there are few classes, select one such row for each class.
    """
    lines = frame[frame["low"].notna() & frame["repeat"].notna()].copy()
    lines["panel"] = lines["check"].where(~lines["check"].isin(["KS", "Hellinger"]), "attributes")
    several = lines["repeat"].nunique() > 1
    fold, repeat = (lines[name].astype(int) + 1 for name in ("fold", "repeat"))
    lines["split"] = (repeat.astype(str) + "." if several else "") + fold.astype(str)
    lines = lines[lines["split"].isin(list(dict.fromkeys(lines["split"]))[:_MAX_AUDIT_SPLITS])]
    lines["excess"] = (lines["value"] - lines["expected"]) / (lines["high"] - lines["low"]).where(lambda width: width > 0, 1.0)
    keys = ["panel", "split", "class"] if lines["class"].nunique() - 1 <= _MOST_CLASSES else ["panel", "split"]
    order = lines.sort_values(["p", "excess"], ascending=[True, False], kind="stable")
    lines = order.drop_duplicates(keys).sort_index()
    percent = lines["panel"] == "outlying"
    lines["class"] = lines["class"].mask((lines["class"] == "") & ~percent, _TOGETHER)
    for name in ("value", "expected", "low", "high"):
        lines[name] = np.where(percent, 100 * lines[name], lines[name])
    lines["outcome"] = np.where(lines["p_adjusted"] <= alpha, _BEYOND, _WITHIN)
    return lines


def _draw_audit_panel(lines: pd.DataFrame, key: str, names: list[str], folds: list[str]) -> Any:
    import altair as alt

    heading, subtitle = _PANELS[key]
    rows = to_records(lines, [*_COLUMNS, "split", "outcome"])
    several = len(names) > 1 and key != "outlying"
    x = alt.X("split:N", title="Fold", sort=folds, axis=alt.Axis(labelAngle=0), scale=alt.Scale(domain=folds))
    offset = [alt.XOffset("class:N", sort=names, scale=alt.Scale(domain=names))] if several else []
    hint = [alt.Tooltip(f"{name}:N") for name in ("split", "class", "attribute")]
    hint += [alt.Tooltip(f"{name}:Q", format=".4g") for name in ("value", "expected", "low", "high", "p", "p_adjusted")]
    base = build_chart(rows).encode(x, *offset, tooltip=hint)
    scale = alt.Scale(zero=False, nice=False, padding=14)
    thick = max(3, min(18, 230 // max(1, len(folds) * (len(names) if several else 1))))
    band = base.mark_rule(strokeWidth=thick, color=_BAND).encode(alt.Y("low:Q", title=None, scale=scale), alt.Y2("high:Q"))
    middle = base.mark_point(shape="stroke", size=12 * thick, strokeWidth=1.6, color=GREY, opacity=1)
    points = base.mark_point(filled=True, opacity=1).encode(
        alt.Y("value:Q", scale=scale), *_encode_chance_marks(), color=_encode_class_colour(names) if several else alt.value(INK)
    )
    layers = alt.layer(band, middle.encode(alt.Y("expected:Q", scale=scale)), points)
    return layers.properties(
        width=_AUDIT_WIDTH, height=_AUDIT_HEIGHT, title=alt.TitleParams(heading, subtitle=subtitle, fontSize=14)
    )


def _encode_class_colour(names: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(
        domain=names, range=[INK if names[i] == _TOGETHER else PALETTE[i % len(PALETTE)] for i in range(len(names))]
    )
    legend = alt.Legend(orient="bottom", title="Class", symbolType="circle") if len(names) <= 2 * _MOST_CLASSES else None
    return alt.Color("class:N", scale=scale, legend=legend)


def _encode_chance_marks() -> list[Any]:
    """Draw significant folds as triangles that are larger than the circles of other folds."""
    import altair as alt

    outcomes = [_WITHIN, _BEYOND]
    shape = alt.Shape("outcome:N", scale=alt.Scale(domain=outcomes, range=["circle", "triangle-up"]), legend=None)
    return [shape, alt.Size("outcome:N", scale=alt.Scale(domain=outcomes, range=[70, 170]), legend=None)]
