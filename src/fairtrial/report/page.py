"""Sections become one HTML file that holds all it shows: no server, no other file, every text from outside escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from fairtrial import __version__
from fairtrial.errors import InputError
from fairtrial.report.grid import grid, packed, with_index
from fairtrial.report.section import Figure, Section, Table

# Room that is kept for a figure until it is drawn, so that what follows does not jump.
_CHART_HEIGHT = 320
# Longer frames are not put into the page a second time beside the chart's own, thinned data.
_FRAME_LINES = 2000


def render(sections: Sequence[Section], title: str, *, subtitle: str = "", written: str = "") -> str:
    """The page as text. `written` is a date to be shown, if any.

    >>> "<h1>&lt;b&gt;</h1>" in render([], "<b>")
    True
    """
    from markupsafe import Markup

    _check_keys(sections)
    charts = {figure.key: described(figure) for figure in figures_of(sections)}
    scripts = [_resource("theme.js"), _vega() if charts else "window.vegaEmbed = null;", _resource("page.js")]
    return str(
        _environment()
        .get_template("page.html")
        .render(
            title=title,
            subtitle=subtitle,
            written=written,
            version=__version__,
            sections=[_shown(section, charts) for section in sections],
            charts=_data({key: _compact(chart) for key, chart in charts.items()}),
            frames=_data(dict(_frames(figures_of(sections)))),
            policy=" ".join(_fingerprint(script) for script in scripts),
            style=Markup(_resource("style.css")),
            theme=Markup(scripts[0]),
            vega=Markup(scripts[1]),
            script=Markup(scripts[2]),
        )
    )


def figures_of(sections: Sequence[Section]) -> Iterator[Figure]:
    """All figures, those of parts too."""
    for section in sections:
        yield from section.figures
        yield from figures_of(section.parts)


def described(figure: Figure) -> dict[str, Any]:
    """A figure's chart in the words of Vega-Lite, with the figure's title: alone it must still say what it is about."""
    chart: dict[str, Any] = figure.chart.to_dict(validate=False)
    own = chart.get("title")
    return chart | {"title": {**(own if isinstance(own, dict) else {}), "text": figure.title}}


def tables_of(sections: Sequence[Section]) -> Iterator[Table]:
    """All tables, those of parts too."""
    for section in sections:
        yield from section.tables
        yield from tables_of(section.parts)


def _keys(sections: Sequence[Section]) -> Iterator[str]:
    for section in sections:
        yield section.key
        yield from _keys(section.parts)


def _check_keys(sections: Sequence[Section]) -> None:
    """A key twice would make one figure or table stand for the other."""
    kinds = {
        "section": _keys(sections),
        "figure": (each.key for each in figures_of(sections)),
        "table": (each.key for each in tables_of(sections)),
    }
    for kind, keys in kinds.items():
        twice = [key for key, times in Counter(keys).items() if times > 1]
        if twice:
            raise InputError(f"the key of a {kind} must be the only one of its kind in a report, got {twice[0]!r} twice")


def _frames(figures: Iterator[Figure]) -> Iterator[tuple[str, str]]:
    """The numbers of figures that have a frame of their own, as CSV; the others have those of their chart."""
    for figure in figures:
        if figure.frame is not None and len(figure.frame) <= _FRAME_LINES:
            yield figure.key, with_index(figure.frame).to_csv(index=False, lineterminator="\n")


def _shown(section: Section, charts: dict[str, Any]) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "sentences": section.sentences,
        "notes": section.notes,
        "code": section.code,
        "tables": [_table(table) for table in section.tables],
        "figures": [_figure(figure, charts[figure.key]) for figure in section.figures],
        "parts": [_shown(part, charts) for part in section.parts],
    }


def _table(table: Table) -> dict[str, Any]:
    found = grid(table)
    return found | {"later": None if found["later"] is None else _data(found["later"])}


def _figure(figure: Figure, chart: dict[str, Any]) -> dict[str, Any]:
    """The chart's own title is left to the caption; the lines under it explain the figure, and are shown as text."""
    title = chart.get("title")
    below = title.get("subtitle", ()) if isinstance(title, dict) else ()
    return {
        "key": figure.key,
        "title": figure.title,
        "alt": figure.alt,
        "explained": [below] if isinstance(below, str) else list(below),
        "height": _CHART_HEIGHT,
    }


def _compact(chart: dict[str, Any]) -> dict[str, Any]:
    return chart | {"datasets": {name: packed(rows) for name, rows in chart.get("datasets", {}).items()}}


def _data(value: Any) -> Any:
    """JSON that cannot end the script element that holds it."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _fingerprint(script: str) -> str:
    """What lets this script run and no other: a name that holds another script stays a name."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("fairtrial.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _resource(name: str) -> str:
    return files("fairtrial.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Vega, Vega-Lite (of altair's version) and their embedding as one script, once a page; its names stay its own."""
    import altair
    import vl_convert

    version = "_".join(altair.SCHEMA_VERSION.split(".")[:2])
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    bundle = bundle.replace("\r\n", "\n").replace("</script", "<\\/script")
    return f"(() => {{ {bundle}\n}})();"
