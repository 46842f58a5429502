"""A picture of splits: which rows train and which test, split by split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.errors import InputError
from fairtrial.report.drawing import INK, PALETTE, chart_of, finished, titled, written
from fairtrial.resampling.splits import Split, Splits

if TYPE_CHECKING:
    import pandas as pd

# What a row is to a split, and its colour; testing stands out, and what must not be is glaring.
PARTS = {
    "trains": "#D6E4EE",
    "trains more than once": "#8FB8D6",
    "tests": PALETTE[1],
    "trains and tests": "#000000",
    "left aside": "#F4F4F4",
}
_CELL, _WIDTH, _MOST_ROWS, _MOST_SPLITS = 17, 620, 300, 60


def draw_splits(
    schemes: Mapping[str, Splits] | Splits, classes: npt.ArrayLike | None = None, *, title: str = "Which rows test"
) -> Any:
    """Rows from left to right, splits from top to bottom, a panel for each scheme; a strip shows the class of each row.

    It is meant for few rows: beyond 300 rows or 60 splits in a panel nothing could be told apart.

    >>> from fairtrial.resampling import KFold
    >>> chart = draw_splits(KFold(3, random_state=1).freeze(range(12)))
    >>> chart.to_dict()["vconcat"][0]["title"]["text"]
    'KFold(n_splits=3, random_state=1)'
    """
    import altair as alt

    frame = parts_of(schemes)
    panels = [_panel(str(name), rows) for name, rows in frame.groupby("scheme", sort=False)]
    if classes is not None:
        panels.insert(0, _strip(classes, int(frame["row"].max()) + 1))
    told = titled(title, "Each line is a split, each column a row of the data")
    return finished(alt.vconcat(*panels, spacing=14).resolve_scale(color="independent").properties(title=told))


def parts_of(schemes: Mapping[str, Splits] | Splits) -> pd.DataFrame:
    """What each row is to each split: scheme, split, row, part (one of `PARTS`).

    >>> from fairtrial.resampling import Splits
    >>> parts_of({"one": Splits.of([([0, 0, 1], [1, 2])], n_rows=4)})["part"].tolist()
    ['trains more than once', 'trains and tests', 'tests', 'left aside']
    """
    import pandas as pd

    frames = []
    for name, splits in _checked(schemes).items():
        for number, part in enumerate(splits):
            found = {"scheme": name, "split": number + 1, "row": np.arange(splits.n_rows), "part": _parts(part, splits.n_rows)}
            frames.append(pd.DataFrame(found))
    return pd.concat(frames, ignore_index=True)


def _checked(schemes: Mapping[str, Splits] | Splits) -> dict[str, Splits]:
    if isinstance(schemes, Splits):
        schemes = {schemes.scheme: schemes}
    if not isinstance(schemes, Mapping) or not schemes or not all(isinstance(each, Splits) for each in schemes.values()):
        raise InputError(f"schemes must be splits or map names to splits, got {schemes!r}: pass KFold(5).freeze(X), say")
    for name, splits in schemes.items():
        if splits.n_rows > _MOST_ROWS or len(splits) > _MOST_SPLITS:
            raise InputError(
                f"{name} must have at most {_MOST_ROWS} rows and {_MOST_SPLITS} splits to be drawn, "
                f"got {splits.n_rows} and {len(splits)}: draw a smaller example"
            )
    if len({splits.n_rows for splits in schemes.values()}) > 1:
        raise InputError("schemes must be of the same rows: draw others apart")
    return {str(name): splits for name, splits in schemes.items()}


def _parts(part: Split, n: int) -> npt.NDArray[Any]:
    times: IntArray = np.bincount(part.train, minlength=n)
    tested = np.bincount(part.test, minlength=n) > 0
    names = np.array([*PARTS], dtype=object)
    choices = [(tested & (times > 0), 3), (tested, 2), (times > 1, 1), (times == 1, 0)]
    return np.asarray(names[np.select([mask for mask, _ in choices], [code for _, code in choices], 4)])


def _panel(name: str, rows: pd.DataFrame) -> Any:
    import altair as alt

    splits = int(rows["split"].max())
    cell = _CELL if splits <= 12 else 8
    present = [part for part in PARTS if (rows["part"] == part).any()]
    scale = alt.Scale(domain=present, range=[PARTS[part] for part in present])
    legend = alt.Legend(title=None, orient="right", symbolType="square", symbolSize=130, symbolStrokeWidth=0, columns=1)
    axis = alt.Axis(ticks=False, labels=splits <= 12, domain=False, labelPadding=6, labelFontSize=11)
    chart = chart_of(written(rows, ["split", "row", "part"])).mark_rect(stroke="white", strokeWidth=0.8)
    encoded = chart.encode(
        alt.X("row:O", axis=None),
        alt.Y("split:O", axis=axis, title="split"),
        alt.Color("part:N", scale=scale, legend=legend),
        tooltip=[alt.Tooltip("split:Q"), alt.Tooltip("row:Q", title="row (from 0)"), alt.Tooltip("part:N")],
    )
    heading = alt.TitleParams(name, anchor="start", fontSize=13, fontWeight="normal", color=INK, offset=5)
    return encoded.properties(width=_WIDTH, height=max(cell * splits, 24), title=heading)


def _strip(classes: npt.ArrayLike, n: int) -> Any:
    import altair as alt

    labels = [str(label) for label in np.asarray(classes).tolist()]
    if len(labels) != n:
        raise InputError(f"classes must have one value for each of the {n} rows, got {len(labels)}")
    names = list(dict.fromkeys(labels))
    colours = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B")
    scale = alt.Scale(domain=names, range=[colours[place % len(colours)] for place in range(len(names))])
    legend = alt.Legend(title=None, orient="right", symbolType="square", symbolSize=130, symbolStrokeWidth=0, columns=1)
    chart = chart_of([{"row": row, "class": label} for row, label in enumerate(labels)]).mark_rect(
        stroke="white", strokeWidth=0.8
    )
    heading = alt.TitleParams("class of each row", anchor="start", fontSize=13, fontWeight="normal", color=INK, offset=5)
    return chart.encode(alt.X("row:O", axis=None), alt.Color("class:N", scale=scale, legend=legend)).properties(
        width=_WIDTH, height=16, title=heading
    )
