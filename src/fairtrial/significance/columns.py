"""The columns of a file or frame before they are understood: names, cells, and where each cell stands."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite, isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# What a column may be called, in small letters, without blanks, hyphens and underscores.
_ALIASES = {
    "dataset": ("dataset", "data", "datasets", "domain", "problem", "task"),
    "learner": ("learner", "model", "algorithm", "classifier", "method", "estimator"),
    "value": ("value", "score", "result"),
    "repeat": ("repeat", "repetition", "rep", "run", "seed"),
    "fold": ("fold", "split"),
    "measure": ("measure", "metric"),
}
_ROLES = {alias: role for role, aliases in _ALIASES.items() for alias in aliases}
_MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-", "<na>")


@dataclass(frozen=True)
class Columns:
    """Columns as read; `place` says where a row stands, `index` names rows where no column does."""

    names: list[str]
    columns: list[Sequence[Any]]
    place: Callable[[int], str]
    index: list[str]
    named_index: bool = False
    text_index: bool = False
    decimal_comma: bool = False

    def roles(self) -> dict[str, int]:
        """The place of each column whose name is known."""
        found: dict[str, int] = {}
        for i, name in enumerate(self.names):
            role = _ROLES.get("".join(letter for letter in name.lower() if letter not in " -_"))
            if role is not None:
                found.setdefault(role, i)
        return found

    def number(self, value: Any) -> float | None:
        """A cell as a number, NaN if missing, None if it is neither."""
        if isinstance(value, str):
            if value.strip().lower() in _MISSING:
                return nan
            value = value.strip().replace(",", ".") if self.decimal_comma else value.strip()
            if "_" in value:  # Python reads 1_0 as 10
                return None
        elif isinstance(value, bool):
            return None
        try:
            return float(value)
        except (TypeError, ValueError):
            return nan if value is None or str(value) == "<NA>" else None

    def numeric(self, column: int) -> bool:
        """Whether most of the cells are numbers, and one at least."""
        found = [self.number(cell) for cell in self.columns[column]]
        return sum(each is not None for each in found) > len(found) / 2 and any(
            not isnan(each) for each in found if each is not None
        )

    def numbers(self, column: int) -> FloatArray:
        """A column as numbers; a cell that is none is refused with its place."""
        cells = self.columns[column]
        found = [self.number(cell) for cell in cells]
        for row, each in enumerate(found):
            if each is None or not (isfinite(each) or isnan(each)):
                raise InputError(
                    f"scores must be finite numbers, got {_plain(cells[row])!r} in {self.place(row)}, "
                    f"column {self.names[column]!r}: correct the cell, or leave it empty if there is no score"
                )
        return np.array(found, dtype=np.float64)

    def whole(self, column: int) -> list[int] | None:
        """A column as whole numbers; None if a cell is something else."""
        found = [self.number(cell) for cell in self.columns[column]]
        whole = [int(each) for each in found if each is not None and isfinite(each) and each == int(each)]
        return whole if len(whole) == len(found) else None

    def fractional(self, column: int) -> bool:
        """Whether all cells are numbers and one at least is not whole."""
        found = [self.number(cell) for cell in self.columns[column]]
        return all(each is not None for each in found) and self.whole(column) is None

    def counts_rows(self, column: int) -> bool:
        """Whether the column only numbers the rows: by its name, or because it counts from 0 or 1."""
        numbers = self.whole(column)
        rows = len(self.columns[column])
        counts = numbers in (list(range(rows)), list(range(1, rows + 1))) and rows > 2
        counted = counts and all(self.whole(other) is None for other in range(len(self.names)) if other != column)
        return numbers is not None and (counted or self.names[column].strip().lower() in ("id", "index", "no", "nr", "#", ""))

    def labels(self, column: int, what: str) -> list[str]:
        """A column as names, none of them missing."""
        cells = [str(_plain(cell)).strip() for cell in self.columns[column]]
        for row, cell in enumerate(cells):
            if cell == "" or cell.lower() in ("nan", "none", "<na>"):
                raise InputError(
                    f"each row must name its {what}, got none in {self.place(row)}, column {self.names[column]!r}: fill it"
                )
        return cells


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def columns_of_file(path: Path) -> Columns:
    """The columns of a Parquet file, or of text separated by commas, semicolons or tabs."""
    if not path.is_file():
        raise InputError(f"scores must be a file that exists, got {str(path)!r}: check the path")
    if path.suffix.lower() in (".parquet", ".pq"):
        import pandas as pd

        try:
            frame = pd.read_parquet(path)
        except Exception as error:
            told = str(error).splitlines()[0].rstrip(".")
            raise InputError(f"scores must be a Parquet file, got {str(path)!r}, which cannot be read: {told}") from None
        return columns_of_frame(frame)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"scores must be text in UTF-8, got {str(path)!r}: save the file as CSV UTF-8") from None
    return _from_text(text, path)


def _from_text(text: str, path: Path) -> Columns:
    lines = text.splitlines()
    head = next((line for line in lines if line.strip()), "")
    if not head:
        raise InputError(f"scores must hold a header and rows, got the empty file {str(path)!r}")
    separator = "\t" if path.suffix.lower() in (".tsv", ".tab") else max("\t;,", key=head.count)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    (_, header), body = rows[0], rows[1:]
    if not body:
        raise InputError(f"scores must hold rows below the header, got none in {str(path)!r}")
    for line, row in body:
        if len(row) != len(header):
            raise InputError(
                f"each line must have {len(header)} cells as the header has, got {len(row)} in line {line}: mend it"
            )
    columns = [[row[i] for _, row in body] for i in range(len(header))]
    # Spreadsheets leave empty columns at the edge.
    full = [i for i in range(len(header)) if header[i].strip() or any(cell.strip() for cell in columns[i])]
    lines_of = [line for line, _ in body]
    return Columns(
        [header[i].strip() for i in full],
        [columns[i] for i in full],
        lambda row: f"line {lines_of[row]}",
        [str(i) for i in range(len(body))],
        decimal_comma=separator != "," and any("," in cell for i in full[1:] for cell in columns[i]),
    )


def columns_of_frame(source: Any) -> Columns:
    """The columns of a frame or matrix; an index whose names are known becomes columns."""
    import pandas as pd

    frame = source if isinstance(source, pd.DataFrame) else _matrix(source)
    known = [name for name in frame.index.names if isinstance(name, str) and name.lower() in _ROLES]
    if isinstance(frame.index, pd.MultiIndex) or (known and frame.index.name not in frame.columns):
        frame = frame.reset_index()
    if not frame.size:
        raise InputError(f"scores must hold rows and columns, got an empty table of shape {frame.shape}")
    columns: list[Sequence[Any]] = [_column(frame.iloc[:, i]) for i in range(frame.shape[1])]
    index = [str(name) for name in frame.index]
    named = not isinstance(frame.index, pd.RangeIndex)
    text = any(isinstance(name, str) for name in frame.index)
    return Columns([str(name) for name in frame.columns], columns, lambda row: f"row {index[row]}", index, named, text)


def _column(series: pd.Series[Any]) -> Any:
    return series.to_numpy() if series.dtype.kind in "iuf" else series.astype(object).tolist()


def _matrix(source: Any) -> pd.DataFrame:
    import pandas as pd

    try:
        values = np.asarray(source)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2:
        raise InputError(
            f"scores must be a file, a frame or a matrix of data sets x learners, got {type(source).__name__}: pass one"
        )
    return pd.DataFrame(values)
