"""Render sections as one self-contained HTML file. All names and texts provided by users are escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from math import isinf, isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairtrial._files import format_csv
from fairtrial._text import format_number
from fairtrial.errors import InputError
from fairtrial.report.section import Figure, ReportTable, Section
from fairtrial.significance.scores import round_noise

if TYPE_CHECKING:
    import pandas as pd

# Text of a missing value.
MISSING_TEXT = "–"  # noqa: RUF001
# Minimum numbers of rows at which a table can be filtered, is collapsed, and is built only when it is opened.
_FILTER, _FOLD, _LATER = 8, 12, 200


def build_grid(table: ReportTable) -> dict[str, Any]:
    """Build the header and the rows of a table for the template.

    >>> import pandas as pd
    >>> means = pd.DataFrame({"learner": ["tree"], "mean": [2 / 3]})
    >>> grid = build_grid(ReportTable("means", "Means", means, {"mean": "{:.2f}"}))
    >>> [(cell["text"], cell["value"]) for cell in grid["lines"][0]]
    [('tree', None), ('0.67', '0.6666666666666666')]
    """
    frame = with_index(table.frame)
    formats = [table.formats.get(str(name), "") for name in frame.columns]
    lines = [
        [build_cell(value, number_format) for value, number_format in zip(line, formats, strict=True)]
        for line in frame.itertuples(index=False, name=None)
    ]
    if table.best is not None:
        for line in lines:
            _mark_best(line[1:], table.best)
    heads = [
        {"text": str(name), "number": any(line[index]["value"] is not None for line in lines)}
        for index, name in enumerate(frame.columns)
    ]
    folded = table.long and len(lines) > _FOLD
    later = folded and len(lines) > _LATER
    return {
        "key": table.key,
        "title": table.title,
        "note": table.note,
        "heads": heads,
        "lines": [] if later else lines,
        "count": len(lines),
        "filterable": len(lines) > _FILTER,
        "folded": folded,
        "later": _pack_lines(lines, len(heads)) if later else None,
    }


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Move the index to the first column if it has a name or contains text."""
    from pandas.api.types import is_integer_dtype

    if any(name is not None for name in frame.index.names):
        return frame.reset_index()
    return frame if is_integer_dtype(frame.index.dtype) or not len(frame) else frame.rename_axis("").reset_index()


def build_cell(value: Any, number_format: str = "") -> dict[str, Any]:
    """Build the text of a cell and, for a number, the value used for sorting and download ("" if it is missing).

    >>> build_cell(1234567)["text"], build_cell(0.123456)["text"], build_cell(True)["text"], build_cell(float("nan"))["value"]
    ('1,234,567', '0.1235', 'yes', '')
    """
    if _is_boolean(value):
        return {"text": "yes" if value else "no", "value": None, "best": False}
    if not isinstance(value, Real):
        return {"text": _format_plain_value(value), "value": None, "best": False}
    number = float(value)
    if isnan(number):
        return {"text": MISSING_TEXT, "value": "", "best": False}
    if isinf(number):
        sign = "" if number > 0 else "-"
        return {"text": f"{sign}∞", "value": f"{sign}Infinity", "best": False}
    whole = number.is_integer() and abs(number) < 1e15
    text = (
        format_number(cast("float", value), number_format)
        if number_format
        else f"{int(number):,}"
        if whole
        else f"{number:.4g}"
    )
    return {"text": text, "value": repr(int(number)) if whole else repr(number), "best": False}


def _is_boolean(value: Any) -> bool:
    return type(value).__name__ in {"bool", "bool_"}


def _format_plain_value(value: Any) -> str:
    return MISSING_TEXT if value is None or type(value).__name__ in {"NAType", "NaTType"} else str(value)


def _mark_best(cells: list[dict[str, Any]], direction: str) -> None:
    """Mark the best cells of a row. As for ranks, values that differ only by rounding errors count as equal."""
    numeric_cells = [line_cell for line_cell in cells if line_cell["value"] not in (None, "")]
    if len(numeric_cells) > 1:
        values = np.array([float(line_cell["value"]) for line_cell in numeric_cells])
        finite = values[np.isfinite(values)]
        values = round_noise(values, np.abs(finite).max(initial=0.0))
        best = values.max() if direction == "max" else values.min()
        for value, line_cell in zip(values.tolist(), numeric_cells, strict=True):
            line_cell["best"] = value == best


def pack_rows(rows: list[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Pack rows by column and store each text once. If the rows have different keys, return them unchanged.

    >>> pack_rows([{"learner": "tree", "x": 1.5}, {"learner": "tree", "x": 2.5}])
    {'rows': 2, 'columns': {'learner': {'texts': ['tree'], 'codes': [0, 0]}, 'x': [1.5, 2.5]}}
    """
    names = list(rows[0]) if rows else []
    if not names or any(list(row) != names for row in rows):
        return rows
    return {"rows": len(rows), "columns": {name: _encode_texts([row[name] for row in rows]) for name in names}}


def _encode_texts(values: list[Any]) -> dict[str, Any] | list[Any]:
    if not all(isinstance(value, str) for value in values):
        return values
    texts = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(texts), "codes": [texts[value] for value in values]}


def _pack_lines(lines: list[list[dict[str, Any]]], count: int) -> dict[str, Any]:
    """Pack the rows for the script that builds the table: the distinct texts of each column, the numbers and the best cells."""
    columns = []
    for index in range(count):
        cells = [line[index] for line in lines]
        column: dict[str, Any] = dict(_encode_texts([line_cell["text"] for line_cell in cells]))
        if any(line_cell["value"] is not None for line_cell in cells):
            column["values"] = [line_cell["value"] for line_cell in cells]
        columns.append(column)
    best = [[row, index] for row, line in enumerate(lines) for index, line_cell in enumerate(line) if line_cell["best"]]
    return {"rows": len(lines), "columns": columns, "best": best}


# Height in pixels reserved for a figure until it is drawn.
_CHART_HEIGHT = 320
# The page leaves out the data frame of a figure if it has more rows than this.
_FRAME_LINES = 2000


def render(sections: Sequence[Section], title: str, *, subtitle: str = "", written_on: str = "") -> str:
    """Render the page as text. `written_on` is the date in the footer.

    >>> "<h1>&lt;b&gt;</h1>" in render([], "<b>")
    True
    """
    from markupsafe import Markup

    _check_keys(sections)
    figures = [figure for section in sections for part in section.walk() for figure in part.figures]
    charts = {figure.key: to_vega_lite(figure) for figure in figures}
    scripts = [
        _read_resource("theme.js"),
        _build_vega_script() if charts else "window.vegaEmbed = null;",
        _read_resource("page.js"),
    ]
    return str(
        _build_environment()
        .get_template("page.html")
        .render(
            title=title,
            subtitle=subtitle,
            written=written_on,
            version=version("fairtrial"),
            sections=[_describe_section(section, charts) for section in sections],
            charts=_dump_json({key: _pack_datasets(chart) for key, chart in charts.items()}),
            frames=_dump_json(dict(_export_frames(figures))),
            policy=" ".join(_hash_script(script) for script in scripts),
            style=Markup(_read_resource("style.css")),
            theme=Markup(scripts[0]),
            vega=Markup(scripts[1]),
            script=Markup(scripts[2]),
        )
    )


def to_vega_lite(figure: Figure) -> dict[str, Any]:
    """Convert the chart of a figure to Vega-Lite, with the title of the figure."""
    chart: dict[str, Any] = figure.chart.to_dict(validate=False)
    chart_title = chart.get("title")
    return chart | {"title": {**(chart_title if isinstance(chart_title, dict) else {}), "text": figure.title}}


def _check_keys(sections: Sequence[Section]) -> None:
    """Raise an error if two sections, figures or tables have the same key."""
    parts = [part for section in sections for part in section.walk()]
    kinds = {
        "section": (part.key for part in parts),
        "figure": (figure.key for part in parts for figure in part.figures),
        "table": (table.key for part in parts for table in part.tables),
    }
    for kind, keys in kinds.items():
        duplicates = [key for key, count in Counter(keys).items() if count > 1]
        if duplicates:
            raise InputError(f"the key of a {kind} must be unique in a report, got {duplicates[0]!r} twice")


def _export_frames(figures: Sequence[Figure]) -> Iterator[tuple[str, str]]:
    """Yield the frames of figures as CSV. Downloads of figures without a frame use the data of the chart."""
    for figure in figures:
        if figure.frame is not None and len(figure.frame) <= _FRAME_LINES:
            yield figure.key, format_csv(with_index(figure.frame))


def _describe_section(section: Section, charts: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "sentences": section.sentences,
        "notes": section.notes,
        "code": section.code,
        "tables": [_describe_table(table) for table in section.tables],
        "figures": [_describe_figure(figure, charts[figure.key]) for figure in section.figures],
        "parts": [_describe_section(subsection, charts) for subsection in section.subsections],
    }


def _describe_table(table: ReportTable) -> dict[str, Any]:
    table_grid = build_grid(table)
    return table_grid | {"later": None if table_grid["later"] is None else _dump_json(table_grid["later"])}


def _describe_figure(figure: Figure, chart: dict[str, Any]) -> dict[str, Any]:
    """Describe a figure for the template. The subtitle of its chart becomes text below the caption."""
    title = chart.get("title")
    subtitle = title.get("subtitle", ()) if isinstance(title, dict) else ()
    return {
        "key": figure.key,
        "title": figure.title,
        "alt": figure.alt,
        "explained": [subtitle] if isinstance(subtitle, str) else list(subtitle),
        "height": _CHART_HEIGHT,
    }


def _pack_datasets(chart: dict[str, Any]) -> dict[str, Any]:
    return chart | {"datasets": {name: pack_rows(rows) for name, rows in chart.get("datasets", {}).items()}}


def _dump_json(value: Any) -> Any:
    """Write JSON that cannot close the script element around it."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _hash_script(script: str) -> str:
    """Compute the hash that allows this script in the content security policy. No other script may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _build_environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("fairtrial.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _read_resource(name: str) -> str:
    return files("fairtrial.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _build_vega_script() -> str:
    """Bundle Vega, Vega-Lite (in the version that altair uses) and vega-embed into one script with private names."""
    import altair
    import vl_convert

    version = "_".join(altair.SCHEMA_VERSION.split(".")[:2])
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    bundle = bundle.replace("\r\n", "\n").replace("</script", "<\\/script")
    return f"(() => {{ {bundle}\n}})();"
