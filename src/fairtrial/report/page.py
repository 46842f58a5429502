"""Sections become one HTML file that holds all it shows: no server, no other file, every text from outside escaped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from math import isnan
from numbers import Real
from typing import Any

from fairtrial import __version__
from fairtrial.report.section import Figure, Section, Table

_FOLD = 30
_FILTER = 8
_CHART_HEIGHT = 320


def render(sections: Sequence[Section], title: str, *, subtitle: str = "", written: str = "") -> str:
    """The page as text. `written` is a date to be shown, if any.

    >>> "<h1>&lt;b&gt;</h1>" in render([], "<b>")
    True
    """
    from markupsafe import Markup

    charts = {figure.key: _chart(figure) for figure in figures_of(sections)}
    return str(
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            subtitle=subtitle,
            written=written,
            version=__version__,
            sections=[_shown(section) for section in sections],
            charts=Markup(_in_script(json.dumps(charts, separators=(",", ":"), allow_nan=False))),
            vega=Markup(_vega() if charts else "window.vegaEmbed = null;"),
            style=Markup(_resource("style.css")),
            script=Markup(_resource("page.js")),
        )
    )


def figures_of(sections: Sequence[Section]) -> Iterator[Figure]:
    """All figures, those of parts too."""
    for section in sections:
        yield from section.figures
        yield from figures_of(section.parts)


def tables_of(sections: Sequence[Section]) -> Iterator[Table]:
    """All tables, those of parts too."""
    for section in sections:
        yield from section.tables
        yield from tables_of(section.parts)


def _shown(section: Section) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "sentences": section.sentences,
        "notes": section.notes,
        "tables": [_table(table) for table in section.tables],
        "figures": [
            {"key": figure.key, "title": figure.title, "alt": figure.alt, "height": _CHART_HEIGHT} for figure in section.figures
        ],
        "parts": [_shown(part) for part in section.parts],
    }


def _table(table: Table) -> dict[str, Any]:
    frame = table.frame.reset_index() if table.frame.index.name is not None else table.frame
    lines = [
        [_cell(value, table.formats.get(str(name), "")) for name, value in zip(frame.columns, line, strict=True)]
        for line in frame.itertuples(index=False, name=None)
    ]
    if table.best is not None:
        for line in lines:
            _mark_best(line[1:], table.best)
    return {
        "key": table.key,
        "title": table.title,
        "note": table.note,
        "heads": [
            {"text": str(name), "number": any(line[place]["value"] is not None for line in lines)}
            for place, name in enumerate(frame.columns)
        ],
        "lines": lines,
        "filterable": len(lines) > _FILTER,
        "folded": table.long and len(lines) > _FOLD,
    }


def _cell(value: Any, form: str) -> dict[str, Any]:
    if isinstance(value, bool) or not isinstance(value, Real):
        return {"text": "" if value is None else str(value), "value": None, "best": False}
    number = float(value)
    if isnan(number):
        return {"text": "–", "value": "", "best": False}  # noqa: RUF001  the sign of a hole
    text = (
        form.format(value) if form else f"{value:,}" if float(number).is_integer() and abs(number) < 1e15 else f"{number:.4g}"
    )
    return {
        "text": text,
        "value": repr(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number),
        "best": False,
    }


def _mark_best(cells: list[dict[str, Any]], direction: str) -> None:
    known = [(float(cell["value"]), cell) for cell in cells if cell["value"] not in (None, "")]
    if len(known) > 1:
        best = (max if direction == "max" else min)(value for value, _ in known)
        for value, cell in known:
            cell["best"] = value == best


def _chart(figure: Figure) -> Any:
    return figure.chart.to_dict()


def _in_script(text: str) -> str:
    """JSON that cannot end the script element that holds it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(loader=PackageLoader("fairtrial.report"), autoescape=True, undefined=StrictUndefined)


@cache
def _resource(name: str) -> str:
    return files("fairtrial.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and their embedding as one script, once a page."""
    import vl_convert

    return str(vl_convert.javascript_bundle()).replace("</script", "<\\/script")
