"""Render sections as one self-contained HTML file. All names and other strings provided by users are escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from math import isinf, isnan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fairtrial._text import capitalize, format_number
from fairtrial.errors import InputError
from fairtrial.report.charts import COLOURS, adapt_to_page, can_fill_column, draw_svg, read_vega_lite_version, to_vega_lite
from fairtrial.report.explorer import Explorer
from fairtrial.report.section import QUESTIONS, Figure, ReportTable, Section, Sentence
from fairtrial.significance.scores import round_noise

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

# Text shown for a missing value.
MISSING_TEXT = "–"  # noqa: RUF001
# Tables with more than 8 rows can be filtered. Tables with `long=True` are collapsed if they have more than 12 rows. With
# more than 40 rows, they are built only when opened.
_FILTER, _FOLD, _LATER = 8, 12, 40


_HEADS = {"low": "lower limit", "high": "upper limit", "how": "source", "p at minimum": "p is an upper bound"}
"""Column headers that differ from the column names of the frame."""


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
        {"text": _HEADS.get(str(name), str(name)), "number": any(line[index]["value"] is not None for line in lines)}
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
    """Move the index to the first column if the index has a name or does not contain integers."""
    from pandas.api.types import is_integer_dtype

    if any(name is not None for name in frame.index.names):
        return frame.reset_index()
    return frame if is_integer_dtype(frame.index.dtype) or not len(frame) else frame.rename_axis("").reset_index()


def build_cell(value: Any, number_format: str = "") -> dict[str, Any]:
    """Build a table cell: its text and, for a number, the value for sorting and download.

    For a missing number, the value for sorting and download is an empty string.

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
    """Mark the best cells of a row. As in rankings, values that differ only by rounding errors count as equal."""
    numeric_cells = [line_cell for line_cell in cells if line_cell["value"] not in (None, "")]
    if len(numeric_cells) > 1:
        values = np.array([float(line_cell["value"]) for line_cell in numeric_cells])
        finite = values[np.isfinite(values)]
        values = round_noise(values, np.abs(finite).max(initial=0.0))
        best = values.max() if direction == "max" else values.min()
        for value, line_cell in zip(values.tolist(), numeric_cells, strict=True):
            line_cell["best"] = value == best


def pack_rows(rows: list[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Pack rows by column, and store each distinct string once. If the rows have different keys, return them unchanged.

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
    """Pack rows by column for the script that builds the table.

    The result contains the strings and numbers of each column, and the positions of the best cells.
    """
    columns = []
    for index in range(count):
        cells = [line[index] for line in lines]
        column: dict[str, Any] = dict(_encode_texts([line_cell["text"] for line_cell in cells]))
        if any(line_cell["value"] is not None for line_cell in cells):
            column["values"] = [line_cell["value"] for line_cell in cells]
        columns.append(column)
    best = [[row, index] for row, line in enumerate(lines) for index, line_cell in enumerate(line) if line_cell["best"]]
    return {"rows": len(lines), "columns": columns, "best": best}


def render(
    sections: Sequence[Section],
    title: str,
    *,
    subtitle: str = "",
    written_on: str = "",
    learners: Mapping[str, str] | None = None,
    selected: Mapping[str, str] | None = None,
) -> str:
    """Render the sections of a report as an HTML page.

    `written_on` is the date. The keys of `learners` are names that can be highlighted, and its values are colours. `selected`
    maps selection menus to the values that are initially selected. By default, the first value of each menu is selected.

    >>> "<title>&lt;b&gt;</title>" in render([], "<b>")
    True
    """
    from markupsafe import Markup

    _check_keys(sections)
    figures = [figure for section in sections for part in section.walk() for figure in part.figures]
    charts = {figure.key: to_vega_lite(figure) for figure in figures}
    selectors = _collect_selectors(sections)
    state = {name: values[0] for name, values in selectors.items()} | {
        name: value for name, value in (selected or {}).items() if value in selectors.get(name, ())
    }
    questions = _group_by_question(sections)
    explorer = next((first.explorer for _, _, (first, *_) in questions if first.explorer is not None), None)
    state |= {} if explorer is None else explorer.selected
    describe = _Describer(charts, state)
    page_charts = {figure.key: adapt_to_page(charts[figure.key], figure.size) for figure in figures}
    theme = _read_resource("theme.js")
    scripts = [_read_resource("page.js"), *([] if explorer is None else [_read_resource("explorer.js")])]
    answer = [describe.section(section) for section in sections if section.question == "answer"]
    return str(
        _build_environment()
        .get_template("page.html")
        .render(
            title=title,
            subtitle=subtitle,
            written=written_on,
            version=version("fairtrial"),
            answer=answer[0] if answer else None,
            questions=[describe.question(*parts) for parts in questions],
            selectors=[
                {"name": name, "label": SELECTORS.get(name, capitalize(name)), "values": values, "selected": state[name]}
                for name, values in selectors.items()
                if len(values) > 1
            ],
            learners=[{"name": name, "colour": f"var({COLOURS[colour.lower()]})"} for name, colour in (learners or {}).items()],
            data=_dump_json(
                {"selected": state, "colours": {name: colour for colour, name in COLOURS.items() if colour.startswith("#")}}
            ),
            charts=_compress(_dump_json(_pack_charts(page_charts, charts, figures))) if charts else "",
            vega=_compress_vega() if charts else "",
            policy=" ".join(map(_hash_script, [theme, *([_build_vega_script()] if charts else []), *scripts])),
            style=Markup(_read_resource("style.css")),
            theme=Markup(theme),
            scripts=[Markup(script) for script in scripts],
        )
    )


SELECTORS = {"measure": "Measure", "condition": "Condition", "dataset": "Data set", "class": "Class", "scheme": "Resampling"}
"""Labels of the page's selection menus."""


def _collect_selectors(sections: Sequence[Section]) -> dict[str, list[str]]:
    """Collect the values of each selection menu. Menus that are not in `SELECTORS` come last."""
    values: dict[str, dict[str, None]] = {name: {} for name in SELECTORS}
    for section in sections:
        for part in section.walk():
            items: Iterable[Section | Sentence | Figure | ReportTable] = (part, *part.sentences, *part.figures, *part.tables)
            for item in items:
                for name, value in item.when.items():
                    values.setdefault(name, {})[value] = None
    return {name: list(texts) for name, texts in values.items() if texts}


# Short link texts for some questions, so all links fit on one line.
_LINKS = {
    "question-where": "Where is it worse?",
    "question-threshold": "Threshold and cost",
    "question-probabilities": "Probabilities",
    "question-conditions": "Noise and drift",
    "question-checks": "Checks",
    "question-how": "Method",
}


def _group_by_question(sections: Sequence[Section]) -> list[tuple[str, str, list[Section]]]:
    """Group sections by question, in the order of `QUESTIONS`. A section without a question has its own group."""
    groups = [
        (f"question-{key}", title, [section for section in sections if section.question == key])
        for key, title in QUESTIONS.items()
        if key != "answer"
    ]
    single = [
        (f"question-{section.key}", section.title, [section]) for section in sections if section.question not in QUESTIONS
    ]
    position = next(number for number, (key, *_) in enumerate(groups) if key == "question-checks")
    return [group for group in (*groups[:position], *single, *groups[position:]) if group[2]]


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


@dataclass(frozen=True)
class _Describer:
    """A converter of sections to values for the page template. Only initially visible figures are drawn."""

    charts: Mapping[str, dict[str, Any]]
    state: Mapping[str, str]

    def question(self, key: str, title: str, sections: Sequence[Section]) -> dict[str, Any]:
        """Describe a question. The finding and the lead figures come from its first section."""
        first, *others = sections
        lead = _select_lead_figures(first)
        findings, sentences = _split_findings(first)
        rest = self.section(replace(first, sentences=sentences), without=lead)
        return {
            "key": key,
            "title": title,
            "link": _LINKS.get(key, title),
            "findings": [self.sentence(sentence) for sentence in findings],
            "highlights": first.highlights,
            "figures": self.group([self.figure(figure, visible=True) for figure in lead]),
            "section": first.key,
            "explorer": self.explorer(first.explorer),
            "slider": self.slider(first),
            "rest": rest if _has_content(rest) else None,
            "others": [self.collapsed_section(section) for section in others],
        }

    def collapsed_section(self, section: Section) -> dict[str, Any]:
        """Describe a section that shows only its title and its finding."""
        findings, sentences = _split_findings(section)
        described = self.section(replace(section, sentences=sentences))
        return described | {"findings": [self.sentence(sentence) for sentence in findings]}

    def sentence(self, sentence: Sentence) -> dict[str, Any]:
        """Describe a sentence."""
        return {"text": sentence.text, **self.choice(sentence.when)}

    def slider(self, section: Section) -> dict[str, Any] | None:
        """Describe the slider of a section: its name, its values and the selected value."""
        if section.slider is None:
            return None
        name, values = section.slider
        selected = self.state.get(name, "")
        index = values.index(selected) if selected in values else 0
        described = {"key": section.key, "name": name, "values": json.dumps(values), "last": len(values) - 1}
        return described | {"index": index, "text": values[index]}

    def explorer(self, explorer: Explorer | None) -> dict[str, Any] | None:
        """Describe the threshold explorer with its default view."""
        described = None if explorer is None else explorer.describe(self.state)
        return None if described is None else described | {"data": _dump_json(described["data"])}

    def section(self, section: Section, without: Sequence[Figure] = ()) -> dict[str, Any]:
        """Describe a section. Leave out the figures in `without`."""
        is_answer = section.question == "answer"
        return {
            "key": section.key,
            "title": section.title,
            "sentences": [self.sentence(sentence) for sentence in section.sentences],
            "notes": section.notes,
            "code": section.code,
            "highlights": section.highlights,
            "tables": self.group([self.table(table) for table in section.tables]),
            "figures": self.group([self.figure(figure, is_answer) for figure in section.figures if figure not in without]),
            "parts": self.group([self.section(subsection, without) for subsection in section.subsections]),
            **self.choice(section.when),
        }

    def table(self, table: ReportTable) -> dict[str, Any]:
        """Describe a table."""
        table_grid, choice = build_grid(table), self.choice(table.when)
        if choice["hidden"] and table_grid["folded"] and table_grid["lines"]:  # only the script of the page can show this table
            table_grid |= {"later": _pack_lines(table_grid["lines"], len(table_grid["heads"])), "lines": []}
        later = None if table_grid["later"] is None else _compress(_dump_json(table_grid["later"]))
        return table_grid | {"later": later, **choice}

    def figure(self, figure: Figure, visible: bool) -> dict[str, Any]:
        """Describe a figure, and draw it if it is initially visible. The subtitle of its chart becomes part of the caption."""
        from markupsafe import Markup

        chart = self.charts[figure.key]
        subtitle = chart["title"].get("subtitle", ())
        choice = self.choice(figure.when)
        drawn = visible and not choice["hidden"]
        return {
            "key": figure.key,
            "title": figure.title,
            "alt": figure.alt,
            "explained": [subtitle] if isinstance(subtitle, str) else list(subtitle),
            "size": figure.size,
            "fills": can_fill_column(chart),
            "svg": Markup(draw_svg(adapt_to_page(chart, figure.size), figure.key)) if drawn else "",
            **choice,
        }

    def choice(self, when: Mapping[str, str]) -> dict[str, Any]:
        """Describe the selections for which a part of the page is visible, and whether the part is initially hidden."""
        hidden = any(self.state.get(name) != value for name, value in when.items())
        return {"when": json.dumps(dict(when)) if when else "", "hidden": hidden, "selectors": ",".join(when)}

    @staticmethod
    def group(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Group adjacent items whose visibility depends on the same selection menus."""
        groups = groupby(items, key=lambda item: item["selectors"])
        return [{"selectors": selectors, "items": list(members)} for selectors, members in groups]


def _split_findings(section: Section) -> tuple[list[Sentence], tuple[Sentence, ...]]:
    """Separate the first sentence of a section from the remaining sentences.

    Alternatives to the first sentence, for other values of its selection menus, count as first sentences.
    """
    if not section.sentences:
        return [], ()
    first = section.sentences[0]
    findings = [
        sentence
        for sentence in section.sentences
        if sentence is first or (first.when and sentence.when.keys() == first.when.keys())
    ]
    return findings, tuple(sentence for sentence in section.sentences if sentence not in findings)


def _select_lead_figures(section: Section) -> list[Figure]:
    """Select the figures that stay visible: all lead figures or, if there are none, the first figure and its alternatives."""
    figures = [figure for part in section.walk() for figure in part.figures]
    marked = [figure for figure in figures if figure.lead]
    return marked or [
        figure for figure in figures if figure is figures[0] or (figure.when and figure.when.keys() == figures[0].when.keys())
    ]


def _has_content(section: Mapping[str, Any]) -> bool:
    """Return whether a described section has any content below its title."""
    return any(section[name] for name in ("sentences", "figures", "tables", "notes", "code")) or any(
        _has_content(part) for group in section["parts"] for part in group["items"]
    )


def _pack_charts(
    page_charts: Mapping[str, dict[str, Any]], charts: Mapping[str, dict[str, Any]], figures: Sequence[Figure]
) -> dict[str, Any]:
    """Pack the charts, and the frames that readers can save as CSV, for the script of the page.

    Identical chart configurations are stored only once.
    """
    configs = list({json.dumps(chart["config"]): chart["config"] for chart in page_charts.values()}.values())
    packed = {
        key: chart
        | {
            "config": configs.index(chart["config"]),
            "datasets": {name: pack_rows(rows) for name, rows in chart.get("datasets", {}).items()},
        }
        for key, chart in page_charts.items()
    }
    frames = {figure.key: pack_rows(_list_frame_rows(figure.frame)) for figure in figures if figure.frame is not None}
    titles = {key: chart["title"] for key, chart in charts.items()}
    return {"configs": configs, "charts": packed, "titles": titles, "frames": frames}


def _list_frame_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Convert the rows of a frame to JSON values. An unnamed index that only numbers the rows is omitted."""
    plain = frame if frame.index.name is None and list(frame.index) == list(range(len(frame))) else frame.reset_index()
    return [{str(name): _to_json(value) for name, value in row.items()} for row in plain.to_dict("records")]


def _to_json(value: Any) -> Any:
    """Convert a value to a JSON value. Undefined and infinite numbers become None."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, float, np.number)):
        return (int(value) if isinstance(value, (int, np.integer)) else float(value)) if np.isfinite(value) else None
    return str(value)


def _compress(text: str) -> str:
    """Compress a string. The script of the page decompresses it."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _dump_json(value: Any) -> Any:
    """Format a value as JSON. Escape characters that could end the surrounding script element."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _hash_script(script: str) -> str:
    """Compute the hash that allows this script in the content security policy. No other script may run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _build_environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fairtrial.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["keep_together"] = keep_together
    return environment


# Matches hyphenated names, statistics with values (p = 0.03) and percentages. They are not broken if they fit on a phone.
_UNBROKEN = re.compile(r"(?<!\S)(?:\(?\w+ [<>=≤≥]{1,2} [-−]?\d\S*|\(?\d[\d.,]* %\S*|\S*\w-\w\S*)")  # noqa: RUF001
_LONGEST_UNBROKEN = 28


def keep_together(text: str) -> Markup:
    """Escape a string for the page, and prevent line breaks within names and numbers.

    >>> str(keep_together("<b> p = 0.03"))
    '&lt;b&gt; <span class="nb">p = 0.03</span>'
    """
    from markupsafe import Markup, escape

    parts, end = [], 0
    for match in _UNBROKEN.finditer(text):
        if len(match[0]) <= _LONGEST_UNBROKEN:
            parts += [escape(text[end : match.start()]), Markup('<span class="nb">{}</span>').format(match[0])]
            end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


@cache
def _read_resource(name: str) -> str:
    return files("fairtrial.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _compress_vega() -> str:
    return _compress(_build_vega_script())


@cache
def _build_vega_script() -> str:
    """Bundle Vega, Vega-Lite (in the version that altair uses) and vega-embed into one script.

    Bundling takes several seconds and much memory, so the script is cached in a file next to this package's compiled modules.
    """
    import vl_convert

    vl_version = read_vega_lite_version()
    file = Path(__file__).with_name("__pycache__") / f"vega-{vl_version}-{version('vl-convert-python')}.zlib"
    try:
        return zlib.decompress(file.read_bytes()).decode()
    except (OSError, zlib.error):  # there is no complete cache file
        bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=vl_version)
    bundle = bundle.replace("\r\n", "\n").replace("</script", "<\\/script")
    script = f"(() => {{ {bundle}\n}})();"
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # in a read-only folder, nothing is cached
            file.parent.mkdir(exist_ok=True)
            part = file.with_suffix(f".{os.getpid()}")
            part.write_bytes(zlib.compress(script.encode(), 9))
            part.replace(file)
    return script
