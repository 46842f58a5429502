"""Adapt charts to the colours and column width of a report page, and draw them as SVG elements that need no script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fairtrial.report.section import Figure

WIDTHS = {"wide": 956, "half": 448, "small": 278}
"""Width in pixels for each figure size on a screen that is 1280 pixels wide."""

COLOURS = {
    "#000000": "--black",
    "black": "--black",
    "#2b2b2b": "--ink",
    "#6b6b6b": "--soft",
    "#9a9a9a": "--soft",
    "white": "--paper",
    "#ffffff": "--paper",
    "#0072b2": "--blue",
    "#d55e00": "--vermilion",
    "#009e73": "--green",
    "#cc79a7": "--pink",
    "#e69f00": "--orange",
    "#56b4e9": "--sky",
    "#f0e442": "--yellow",
    "#005f94": "--blue-text",
    "#a84300": "--vermilion-text",
    "#00704f": "--green-text",
    "#9b3f73": "--pink-text",
    "#8a5a00": "--orange-text",
    "#1f6f9f": "--sky-text",
    "#6b6400": "--yellow-text",
    "#5d3a9b": "--violet",
    "#882255": "--wine",
    "#7f7f1a": "--olive",
    "#66660f": "--olive-text",
    "#44aa99": "--teal",
    "#1f7467": "--teal-text",
    "#a5673f": "--tan",
    "#84502f": "--tan-text",
    "#cc6677": "--rose",
    "#a84455": "--rose-text",
    "#332288": "--indigo",
    "#117733": "--forest",
    "#aa4499": "--purple",
    "#963a86": "--purple-text",
    "#6699cc": "--steel",
    "#3a6a9e": "--steel-text",
    "#b89b3e": "--sand",
    "#7a6522": "--sand-text",
    "#661100": "--brown",
    "#d9d9d9": "--pale",
    "#9ecae1": "--gain-2",
    "#edf8fb": "--gain-1",
    **{
        colour: f"--loss-{number}"
        for number, colour in enumerate(
            (
                *("#fff7ec", "#fee8c8", "#fdd9a8", "#fdcb96", "#fdbb84"),
                *("#fca972", "#fb9766", "#f5855c", "#ea6c52", "#d9534a"),
            )
        )
    },
}
"""The CSS variable for each colour used in figures."""

# Parts of a chart that contain names and numbers, never colours.
_NOT_COLOURED = {"datasets", "data", "domain", "config", "field"}
_TITLES = {"low": "lower limit", "high": "upper limit", "p_adjusted": "adjusted p", "dataset": "data set"}
_COLOURED = re.compile(r"^(color|fill|stroke)$|Color$")
_CARRIES_COLOUR = {"scale", "range", "value", "condition"}
_TEXT = {"labelColor": "var(--ink)", "titleColor": "var(--ink)"}
_THEME = {
    "aria": False,  # the page adds alternative texts
    "background": "transparent",
    "padding": 2,
    "axis": {**_TEXT, "domainColor": "var(--line)", "tickColor": "var(--line)", "gridColor": "var(--grid)"},
    "legend": _TEXT,
    "header": _TEXT,
    "title": {"color": "var(--ink)", "subtitleColor": "var(--soft)", "fontSize": 14},
    "text": {"color": "var(--ink)"},
    "rule": {"color": "var(--soft)"},
    "view": {"stroke": "transparent"},
}


def to_vega_lite(figure: Figure) -> dict[str, Any]:
    """Convert the chart of a figure to Vega-Lite, and set its title to the title of the figure."""
    chart: dict[str, Any] = figure.chart.to_dict(validate=False)
    chart_title = chart.get("title")
    return chart | {"title": {**(chart_title if isinstance(chart_title, dict) else {}), "text": figure.title}}


def adapt_to_page(chart: Mapping[str, Any], size: str) -> dict[str, Any]:
    """Adapt a chart to the colours of the page's theme and to the width of its column.

    The title is removed, because the caption shows it.
    """
    adapted = {name: part for name, part in _replace_colours(dict(chart)).items() if name not in ("$schema", "title")}
    adapted["config"] = _merge(dict(adapted.get("config") or {}), _THEME)
    if can_fill_column(chart):
        adapted |= {"width": WIDTHS[size], "autosize": {"type": "fit-x", "contains": "padding"}}
    return adapted


def can_fill_column(chart: Mapping[str, Any]) -> bool:
    """Return whether a chart can be stretched to fill the column of the page.

    The chart must have a single panel, and its width must not be a fixed step per category.
    """
    encodings = [layer.get("encoding", {}) for layer in (chart, *chart.get("layer", ()))]
    is_single = ("mark" in chart or "layer" in chart) and not any({"row", "column", "facet"} & set(part) for part in encodings)
    return is_single and not isinstance(chart.get("width"), dict)


def draw_svg(chart: Mapping[str, Any], key: str) -> str:
    """Draw a chart as a compact SVG element for the page. `key` makes the ids in the element unique."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(dict(chart), vl_version=read_vega_lite_version())
    svg = re.sub(r' (?:aria-[a-z]+|role|aria|class|font-family|xmlns:xlink|version)="[^"]*"', "", svg)
    svg = re.sub(r' (?:pointer-events="none"|opacity="1"|stroke-width="1"|transform="translate\(0,0\)")(?=[ />])', "", svg)
    svg = re.sub(r'<path d="(?:M0,0h0v0h0Z)?"(?: display="none")?/>', "", svg)
    # Round coordinates to one decimal place. Numbers in the text between tags are not changed.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"-?\d+\.\d{3,}(?:e-?\d+)?", _round_coordinate, tag[0]), svg)
    svg = re.sub(r"(id=\"|url\(#)(?=clip|gradient)", rf"\g<1>{key}-", svg)
    return svg.replace("<svg", '<svg aria-hidden="true"', 1)


def _round_coordinate(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def read_vega_lite_version() -> str:
    """Read the version of Vega-Lite that altair uses, in the notation of vl_convert."""
    import altair

    return "_".join(altair.SCHEMA_VERSION.split(".")[:2])


def _replace_colours(part: Any, coloured: bool = False) -> Any:
    """Replace colours with CSS variables, and set the display names of tooltip fields.

    Quantitative scales keep their colours, because Vega-Lite must interpolate between them.
    """
    if isinstance(part, str):
        return f"var({COLOURS[part.lower()]})" if coloured and part.lower() in COLOURS else part
    if isinstance(part, (list, tuple)):
        return [_replace_colours(item, coloured) for item in part]
    if not isinstance(part, dict) or (coloured and part.get("type") == "quantitative"):
        return part
    replaced = {}
    for name, value in part.items():
        if name == "tooltip":
            replaced[name] = _name_fields(value)
        elif name in _NOT_COLOURED:
            replaced[name] = value
        elif name == "layer" and any(_is_shaded(layer) for layer in value):
            replaced[name] = [
                _keep_text_dark(layer) if _get_mark(layer) == "text" else _replace_colours(layer) for layer in value
            ]
        else:
            in_colour = bool(_COLOURED.search(name)) or (coloured and name in _CARRIES_COLOUR)
            replaced[name] = _replace_colours(value, in_colour)
    return replaced


def _name_fields(tooltip: Any) -> Any:
    """Set the titles of tooltip fields to the column headers of the page's tables."""
    if not isinstance(tooltip, list):
        return tooltip
    return [entry | {"title": _TITLES.get(title := entry.get("title", entry.get("field", "")), title)} for entry in tooltip]


def _get_mark(layer: Mapping[str, Any]) -> str:
    mark = layer.get("mark", "")
    return str(mark.get("type") if isinstance(mark, dict) else mark)


def _is_shaded(layer: Mapping[str, Any]) -> bool:
    """Return whether a layer is a background that stays light in the dark theme.

    Text on such a layer must stay dark.
    """
    encoding, mark = layer.get("encoding", {}), layer.get("mark")
    shade, kind = encoding.get("color") or encoding.get("fill") or {}, _get_mark(layer)
    if kind == "area" and isinstance(mark, dict) and mark.get("color"):
        return str(mark["color"]).lower() not in COLOURS
    is_cell = kind == "rect" and bool(encoding.get("y", {}).get("field"))
    return bool(shade.get("field")) and (is_cell or (kind == "area" and shade.get("type") == "quantitative"))


def _keep_text_dark(layer: Mapping[str, Any]) -> dict[str, Any]:
    mark = layer["mark"]
    return {**layer, "mark": {"color": "#000000", **(mark if isinstance(mark, dict) else {"type": mark})}}


def _merge(ours: dict[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(ours)
    for name, value in theirs.items():
        merged[name] = _merge(dict(ours.get(name) or {}), value) if isinstance(value, Mapping) else value
    return merged
