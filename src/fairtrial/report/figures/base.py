"""Colours, fonts, axes and data formats that all figures share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

Frames = Mapping[str, "pd.DataFrame"]
# The colours of Okabe and Ito, which colour-blind readers can distinguish. Wine red replaces their yellow, which comes last
# in the palette because it is faint on white.
_DISTINCT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255")
# Further colours, so each of up to 20 learners has its own colour. They are less distinct, so dashes and shapes also differ.
_FURTHER = (
    *("#5D3A9B", "#7F7F1A", "#44AA99", "#A5673F", "#CC6677", "#332288"),
    *("#117733", "#AA4499", "#6699CC", "#B89B3E", "#661100", "#F0E442"),
)
PALETTE = (*_DISTINCT, *_FURTHER)
# The same colours for text: dark enough to be read on white.
TEXT_PALETTE = (
    *("#005F94", "#A84300", "#00704F", "#9B3F73", "#8A5A00", "#1F6F9F", "#000000", "#882255"),
    *("#5D3A9B", "#66660F", "#1F7467", "#84502F", "#A84455", "#332288"),
    *("#117733", "#963A86", "#3A6A9E", "#7A6522", "#661100", "#6B6400"),
)
# Each group of eight learners has its own dashes and shapes.
DASHES = ((1, 0), (6, 2), (2, 2), (8, 2, 2, 2))
SHAPES = ("circle", "square", "triangle-up", "diamond")
GREY = "#6B6B6B"
INK = "#2B2B2B"
# Colour of backgrounds without text. The dark theme replaces it with a dark colour.
PALE = "#D9D9D9"
SIDE = 340
# Longer names and titles are truncated and end in an ellipsis, so figures stay readable.
NAME_WIDTH, TITLE_WIDTH = 260, 900
FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif"
# A figure is a few hundred pixels wide, so points in the same cell of this grid are indistinguishable.
_GRID = 1000


def collect_rows(frames: Frames, columns: Iterable[str], *, thin: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Collect the rows of all frames as chart data. Each row contains its learner and its row number.

    `thin` names the columns that are drawn. If consecutive points coincide in the figure, only the first and the last are kept.
    This keeps a figure of a million cases small without a visible change.

    >>> import pandas as pd
    >>> collect_rows({"tree": pd.DataFrame({"fpr": [0.0, 1.0]})}, ["fpr"])
    [{'learner': 'tree', 'row': 0, 'fpr': 0.0}, {'learner': 'tree', 'row': 1, 'fpr': 1.0}]
    """
    columns, thin, rows = list(columns), list(thin), []
    for learner, frame in check_frames(frames, columns).items():
        visible_frame = frame[_mask_visible(frame[thin].to_numpy(np.float64))] if thin else frame
        rows += [
            {"learner": str(learner), "row": number, **row} for number, row in enumerate(to_records(visible_frame, columns))
        ]
    return rows


def check_frames(frames: Frames, columns: Iterable[str]) -> Frames:
    """Check that the frame of each learner has these columns."""
    type_name = type(frames).__name__
    if not hasattr(frames, "items") or hasattr(frames, "columns"):
        raise InputError(f"frames must map the names of learners to frames, got {type_name}: pass {{'name': frame}}")
    if not frames:
        raise InputError("frames must contain at least 1 learner, got none")
    for learner, frame in frames.items():
        require_columns(f"the frame of {learner!r}", frame, columns)
    return frames


def require_columns(name: str, frame: pd.DataFrame, columns: Iterable[str], *, index: str = "") -> pd.DataFrame:
    """Check that a frame has these columns and at least one row.

    If the name of the index is `index`, the index counts as a column.
    """
    if index and getattr(getattr(frame, "index", None), "name", None) == index:
        frame = frame.reset_index()
    present = list(getattr(frame, "columns", ()))
    missing = [column for column in columns if column not in present]
    if missing:
        raise InputError(f"{name} must have the column {missing[0]!r}, got {present or type(frame).__name__}")
    if len(frame) == 0:
        raise InputError(f"{name} must contain at least 1 row, got 0")
    return frame


def to_frame(result: Any) -> pd.DataFrame:
    """Return the frame of a result. If the argument is a frame, return it unchanged.

    >>> import pandas as pd
    >>> to_frame(pd.DataFrame({"x": [1]})).columns.tolist()
    ['x']
    """
    frame = result.frame() if hasattr(result, "frame") else result
    if not hasattr(frame, "columns"):
        raise InputError(f"frame must be a frame or a result that has one, got {type(frame).__name__}: pass pandas.DataFrame")
    return frame  # type: ignore[no-any-return]


def to_records(frame: pd.DataFrame, columns: Iterable[str]) -> list[dict[str, Any]]:
    """Convert the rows of a frame to JSON values."""
    return [
        {str(name): _convert_to_json(str(name), value) for name, value in row.items()}
        for row in frame[list(columns)].to_dict("records")
    ]


def _convert_to_json(name: str, value: Any) -> Any:
    """Convert a value to a JSON value. Undefined and infinite numbers become None, and thresholds become strings."""
    if name == "threshold":
        return "above all scores" if value == np.inf else "undefined" if np.isnan(value) else f"{value:.4g}"
    if isinstance(value, (int, float, np.number)):
        return float(value) if np.isfinite(value) else None
    return str(value)


def _mask_visible(points: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    span = np.ptp(points, axis=0)
    grid_cells = np.round((points - points[0]) * _GRID / np.where(span > 0, span, 1))
    moves = (np.diff(grid_cells, axis=0) != 0).any(axis=1)
    return np.asarray(np.append(True, moves) | np.append(moves, True))


def build_chart(rows: list[dict[str, Any]]) -> alt.Chart:
    """Build a chart with rows as inline values, because altair rejects frames with more than 5,000 rows."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=tuple(rows)))  # a tuple, because every layer would copy a list row by row


_page_learners: ContextVar[Mapping[str, int]] = ContextVar("page_learners", default=MappingProxyType({}))


@contextmanager
def fix_colours(learners: Iterable[str]) -> Iterator[dict[str, str]]:
    """Use the same colour and line style for a learner in all figures drawn in this context.

    The context manager yields the colours.

    >>> with fix_colours(["tree", "bayes"]) as colours:
    ...     print(colours["bayes"], get_colour("bayes"))
    #D55E00 #D55E00
    """
    positions = {str(name): position for position, name in enumerate(dict.fromkeys(learners))}
    token = _page_learners.set(positions)
    try:
        yield {name: PALETTE[position % len(PALETTE)] for name, position in positions.items()}
    finally:
        _page_learners.reset(token)


def get_colour(learner: str, position: int = 0) -> str:
    """Get the colour of a learner. Outside `fix_colours`, the position of the learner in the figure determines the colour."""
    return PALETTE[_page_learners.get().get(learner, position) % len(PALETTE)]


def get_text_colour(learner: str, position: int = 0) -> str:
    """Get the colour for the name of a learner: the colour of its marks, darkened if necessary for legibility."""
    return TEXT_PALETTE[_page_learners.get().get(learner, position) % len(TEXT_PALETTE)]


def encode_colour(learners: Iterable[str]) -> alt.Color:
    """Assign each learner a colour."""
    import altair as alt

    names = [str(learner) for learner in learners]
    scale = alt.Scale(domain=names, range=[get_colour(name, i) for i, name in enumerate(names)])
    return alt.Color("learner:N", scale=scale, title=None, legend=_build_learner_legend(names) if len(names) > 1 else None)


def encode_dash(learners: Iterable[str]) -> alt.StrokeDash:
    """Assign each learner a line style. All learners after the first eight have dashed lines."""
    import altair as alt

    names = [str(learner) for learner in learners]
    positions = [_page_learners.get().get(name, i) for i, name in enumerate(names)]
    scale = alt.Scale(domain=names, range=[list(DASHES[position // len(_DISTINCT) % len(DASHES)]) for position in positions])
    return alt.StrokeDash("learner:N", scale=scale, title=None, legend=_build_learner_legend(names) if len(names) > 1 else None)


def encode_shape(learners: Iterable[str]) -> alt.Shape:
    """Assign each learner a shape. All learners after the first eight have shapes other than circles."""
    import altair as alt

    names = [str(learner) for learner in learners]
    positions = [_page_learners.get().get(name, i) for i, name in enumerate(names)]
    scale = alt.Scale(domain=names, range=[SHAPES[position // len(_DISTINCT) % len(SHAPES)] for position in positions])
    return alt.Shape("learner:N", scale=scale, title=None)


def _build_learner_legend(names: Sequence[str]) -> alt.Legend:
    import altair as alt

    # Put as many names side by side as fit into the narrowest figure.
    columns = max(1, SIDE // (7 * max(map(len, names)) + 50))
    return alt.Legend(
        orient="bottom", columns=columns, symbolType="stroke", symbolStrokeWidth=3, symbolOpacity=1, labelLimit=SIDE
    )


def build_axis(direction: Literal["x", "y"], field: str, title: str, *, low: float = 0.0, high: float = 1.0) -> Any:
    """Build a quantitative axis from `low` to `high`."""
    import altair as alt

    kind = alt.X if direction == "x" else alt.Y
    return kind(f"{field}:Q", title=title, scale=alt.Scale(domain=[low, high], nice=False, zero=False))


def list_fields(*axes: Any) -> list[str]:
    """List the columns that the given axes show."""
    return [str(axis_channel.to_dict()["field"]) for axis_channel in axes]


def build_tooltips(columns: Mapping[str, str]) -> list[alt.Tooltip]:
    """Build tooltips that show the learner and these columns."""
    import altair as alt

    channels = [alt.Tooltip("learner:N", title="learner")]
    for name, title in columns.items():
        number = alt.Tooltip(f"{name}:Q", title=title, format=".4~f")
        channels.append(alt.Tooltip(f"{name}:N", title=title) if name == "threshold" else number)
    return channels


def draw_reference_line(points: Sequence[tuple[float, float]], x: Any, y: Any) -> Any:
    """Draw a thin dashed grey reference line."""
    rows = [dict(zip(list_fields(x, y), point, strict=True)) for point in points]
    return build_chart(rows).mark_line(color=GREY, strokeDash=[4, 3], strokeWidth=1.2).encode(x, y)


def format_with_interval(value: float | None, low: float | None, high: float | None, digits: int = 3) -> str:
    """Format a number and its interval as text. The number or the interval can be undefined.

    >>> format_with_interval(0.5, 0.25, 0.75, 2), format_with_interval(0.5, None, None), format_with_interval(None, None, None)
    ('0.50  (0.25 to 0.75)', '0.500  (interval undefined)', 'undefined')
    """
    if value is None:
        return "undefined"
    ends = ["undefined" if end is None else f"{end:.{digits}f}" for end in (low, high)]
    return f"{value:.{digits}f}  ({' to '.join(ends) if low is not None or high is not None else 'interval undefined'})"


def build_title(title: str, *subtitle: str) -> Any:
    """Build a title with an optional subtitle."""
    import altair as alt

    return alt.TitleParams(title, subtitle=list(subtitle)) if subtitle else alt.TitleParams(title)


def style_chart(chart: Any) -> Any:
    """Apply the common style in one step, because each separate setting would copy the whole chart."""
    import altair as alt

    lines: dict[str, Any] = {"gridColor": "#E9E9E9", "tickColor": "#B5B5B5", "domainColor": "#B5B5B5"}
    return chart.configure(
        font=FONT,
        background="white",
        padding=12,
        title=alt.TitleConfig(
            anchor="start",
            frame="group",
            fontSize=17,
            subtitleFontSize=12.5,
            subtitleColor=GREY,
            offset=14,
            subtitlePadding=5,
            limit=TITLE_WIDTH,
        ),
        axis=alt.AxisConfig(
            labelFontSize=12, titleFontSize=13, titleFontWeight="normal", titlePadding=9, labelFlush=False, tickCount=5, **lines
        ),
        legend=alt.LegendConfig(labelFontSize=12.5, titleFontSize=12.5, offset=14, columnPadding=24),
        header=alt.HeaderConfig(labelFontSize=13, labelFontWeight="bold", title=None),
        view=alt.ViewConfig(stroke="#D0D0D0"),
    )
