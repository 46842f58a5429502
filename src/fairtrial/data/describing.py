"""A data set in words and in a table: what `fairtrial data show` prints."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from fairtrial.data.dataset import Dataset, Summary

if TYPE_CHECKING:
    import pandas as pd

_MOST_VALUES = 6


@dataclass(frozen=True)
class Description:
    """The columns of a data set, its classes and its notes."""

    summary: Summary
    target: str
    columns: tuple[tuple[str, str, str, int], ...]
    source: str
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """A line for each column: name, type, values, missing."""
        import pandas as pd

        return pd.DataFrame(list(self.columns), columns=["column", "type", "values", "missing"])

    def __str__(self) -> str:
        total = sum(self.summary.classes.values())
        lines = [str(self.summary), "", *self._table(), "", f"class {self.target!r}:"]
        lines += [f"  {label}  {count} ({count / total:.1%})" for label, count in self.summary.classes.items()]
        lines += ["", f"source: {self.source}"] if self.source else []
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _table(self) -> list[str]:
        cells = [["column", "type", "values", "missing"], *([*map(str, each)] for each in self.columns)]
        widths = [max(len(row[place]) for row in cells) for place in range(3)]
        return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]) for row in cells]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def describe(data: Dataset) -> Description:
    """What a data set holds, column by column.

    >>> from fairtrial.data import load
    >>> print(describe(load("iris")).columns[0])
    ('sepal length (cm)', 'numeric', '4.3 to 7.9', 0)
    """
    attributes = data.X
    columns = tuple(
        (str(name), _type(attributes[name]), _values(attributes[name]), int(attributes[name].isna().sum()))
        for name in attributes
    )
    return Description(data.summary(), data.target, columns, data.source, data.notes)


def _type(column: pd.Series[Any]) -> str:
    return "nominal" if column.dtype == "category" else "numeric"


def _values(column: pd.Series[Any]) -> str:
    if column.dtype == "category":
        values = [str(each) for each in column.cat.categories]
        told = ", ".join(values[:_MOST_VALUES])
        return told if len(values) <= _MOST_VALUES else f"{told} ... ({len(values)} values)"
    if column.notna().sum() == 0:
        return ""
    return f"{column.min():g} to {column.max():g}"
