"""A table becomes what a page shows: texts, values at full precision, the best of each line, and how it is sorted."""

from __future__ import annotations

from math import isinf, isnan
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.report.section import Table
from fairtrial.report.sentence import written
from fairtrial.significance.table import quiet

if TYPE_CHECKING:
    import pandas as pd

# A hole in a table.
HOLE = "–"  # noqa: RUF001
# From so many lines on a table can be filtered, a long one starts folded, and its lines are made only when it is opened.
_FILTER = 8
_FOLD = 12
_LATER = 200


def grid(table: Table) -> dict[str, Any]:
    """The heads and lines of a table for the page's template.

    >>> import pandas as pd
    >>> found = grid(Table("means", "Means", pd.DataFrame({"learner": ["tree"], "mean": [2 / 3]}), {"mean": "{:.2f}"}))
    >>> [(cell["text"], cell["value"]) for cell in found["lines"][0]]
    [('tree', None), ('0.67', '0.6666666666666666')]
    """
    frame = with_index(table.frame)
    forms = [table.formats.get(str(name), "") for name in frame.columns]
    lines = [
        [cell(value, form) for value, form in zip(line, forms, strict=True)]
        for line in frame.itertuples(index=False, name=None)
    ]
    if table.best is not None:
        for line in lines:
            _mark_best(line[1:], table.best)
    heads = [
        {"text": str(name), "number": any(line[place]["value"] is not None for line in lines)}
        for place, name in enumerate(frame.columns)
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
        "later": _columns(lines, len(heads)) if later else None,
    }


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its index as its first column, where the index says something: a name, or words."""
    from pandas.api.types import is_integer_dtype

    if any(name is not None for name in frame.index.names):
        return frame.reset_index()
    return frame if is_integer_dtype(frame.index.dtype) or not len(frame) else frame.rename_axis("").reset_index()


def cell(value: Any, form: str = "") -> dict[str, Any]:
    """What a cell shows and, of a number, what it sorts by and downloads as; a hole has the value "".

    >>> cell(1234567)["text"], cell(0.123456)["text"], cell(True)["text"], cell(float("nan"))["value"]
    ('1,234,567', '0.1235', 'yes', '')
    """
    if _is_truth(value):
        return {"text": "yes" if value else "no", "value": None, "best": False}
    if not isinstance(value, Real):
        return {"text": _words(value), "value": None, "best": False}
    number = float(value)
    if isnan(number):
        return {"text": HOLE, "value": "", "best": False}
    if isinf(number):
        sign = "" if number > 0 else "-"
        return {"text": f"{sign}∞", "value": f"{sign}Infinity", "best": False}
    whole = number.is_integer() and abs(number) < 1e15
    text = written(value, form) if form else f"{int(number):,}" if whole else f"{number:.4g}"
    return {"text": text, "value": repr(int(number)) if whole else repr(number), "best": False}


def _is_truth(value: Any) -> bool:
    return type(value).__name__ in {"bool", "bool_"}


def _words(value: Any) -> str:
    return HOLE if value is None or type(value).__name__ in {"NAType", "NaTType"} else str(value)


def _mark_best(cells: list[dict[str, Any]], direction: str) -> None:
    """The best of a line; what differs by float noise alone is as good, as it is for ranks."""
    known = [each for each in cells if each["value"] not in (None, "")]
    if len(known) > 1:
        values = np.array([float(each["value"]) for each in known])
        finite = values[np.isfinite(values)]
        values = quiet(values, np.abs(finite).max(initial=0.0))
        best = values.max() if direction == "max" else values.min()
        for value, each in zip(values.tolist(), known, strict=True):
            each["best"] = value == best


def packed(rows: list[dict[str, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    """Rows in few bytes: each name once, each text once; as they are where rows have different names.

    >>> packed([{"learner": "tree", "x": 1.5}, {"learner": "tree", "x": 2.5}])
    {'rows': 2, 'columns': {'learner': {'texts': ['tree'], 'codes': [0, 0]}, 'x': [1.5, 2.5]}}
    """
    names = list(rows[0]) if rows else []
    if not names or any(list(row) != names for row in rows):
        return rows
    return {"rows": len(rows), "columns": {name: _coded([row[name] for row in rows]) for name in names}}


def _coded(values: list[Any]) -> dict[str, Any] | list[Any]:
    if not all(isinstance(value, str) for value in values):
        return values
    texts = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(texts), "codes": [texts[value] for value in values]}


def _columns(lines: list[list[dict[str, Any]]], count: int) -> dict[str, Any]:
    """The lines in few bytes, for a script to build them from: each column's distinct texts, values of numbers, best cells."""
    columns = []
    for place in range(count):
        cells = [line[place] for line in lines]
        column: dict[str, Any] = dict(_coded([each["text"] for each in cells]))
        if any(each["value"] is not None for each in cells):
            column["values"] = [each["value"] for each in cells]
        columns.append(column)
    best = [[row, place] for row, line in enumerate(lines) for place, each in enumerate(line) if each["best"]]
    return {"rows": len(lines), "columns": columns, "best": best}
