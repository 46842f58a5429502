"""Tables of predictions from files: CSV, TSV and Parquet, one or several with the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Source = Any
"""A path, a pattern, a list of paths, or a frame."""

PARQUET = (".parquet", ".pq")
SHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
_TEXT = (".csv", ".tsv", ".tab", ".txt")
# Not null and None: they may be classes.
MISSING = ["", "NA", "N/A", "NaN", "nan", "<NA>"]


def paths_of(source: Source) -> list[Path]:
    """The files that a source names; none for a frame. A pattern gives its files in order."""
    if isinstance(source, (str, PathLike)):
        return _found(source)
    if isinstance(source, Sequence) and source and all(isinstance(each, (str, PathLike)) for each in source):
        return [path for each in source for path in _found(each)]
    return []


def table_of(source: Source) -> tuple[pd.DataFrame, str]:
    """The table, and what to call it."""
    import pandas as pd

    paths = paths_of(source)
    if paths:
        frames = [_read(path) for path in paths]
        for path, frame in zip(paths[1:], frames[1:], strict=True):
            if set(frame.columns) != set(frames[0].columns):
                odd = sorted(set(frame.columns) ^ set(frames[0].columns))[0]
                raise InputError(
                    f"files must have the same columns, got {odd!r} in only one of {paths[0].name} and {path.name}"
                )
        table = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
        name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    else:
        table, name = _frame(source), "predictions"
    if not len(table) or not len(table.columns):
        raise InputError(f"{name} must hold at least 1 line of predictions, got none")
    names = [str(column) for column in table.columns]
    twice = next((column for i, column in enumerate(names) if column in names[:i]), None)
    if twice is not None:
        raise InputError(f"each column must have a name of its own, got {twice!r} more than once in {name}: rename one")
    return table.set_axis(names, axis=1), name


def _frame(source: Source) -> pd.DataFrame:
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        named = [each for each in source.index.names if each is not None]
        return source.reset_index(drop=not named)
    if hasattr(source, "to_pandas"):
        return pd.DataFrame(source.to_pandas())
    try:
        return pd.DataFrame(source)
    except (TypeError, ValueError):
        raise InputError(f"predictions must be a file or a frame, got {type(source).__name__}: pass one") from None


def _found(source: str | PathLike[str]) -> list[Path]:
    path = Path(source)
    if path.is_file():
        check_kind(path)
        return [path]
    found = sorted(each for each in glob(str(source)) if Path(each).is_file())
    for each in found:
        check_kind(Path(each))
    if not found:
        folder = path.parent if path.parent.is_dir() else Path()
        near = [each.name for each in folder.iterdir() if each.suffix in (*PARQUET, *_TEXT)] if folder.is_dir() else []
        hint = did_you_mean(path.name, near)
        raise InputError(f"predictions must be a file, got {str(source)!r}" + (f": {hint}" if "mean" in hint else ""))
    return [Path(each) for each in found]


def read_text(path: Path) -> pd.DataFrame:
    """A text file; where commas do not separate columns they may stand in numbers, as `compare` reads them too."""
    table = _plain_text(path)
    return table if separator_of(path) == "," else table.assign(**{name: _pointed(table[name]) for name in _with_commas(table)})


def _plain_text(path: Path, lines: int | None = None) -> pd.DataFrame:
    import pandas as pd

    how: Any = {"keep_default_na": False, "na_values": MISSING, "encoding": "utf-8-sig", "nrows": lines}
    table: pd.DataFrame = pd.read_csv(path, sep=separator_of(path), **how)
    return table


def _with_commas(table: pd.DataFrame) -> list[str]:
    """Columns whose cells are all numbers, some with a comma before the digits of the fraction."""
    found = []
    for name in table.columns:
        column = table[name]
        if column.dtype.kind not in "iufb":
            cells = column.dropna().astype(str).str.strip()
            numbers = cells.str.fullmatch(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
            if len(cells) and numbers.all() and cells.str.contains(",").any():
                found.append(name)
    return found


def _pointed(column: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    return pd.to_numeric(column.str.strip().str.replace(",", ".", regex=False))


def decimal_comma(path: Path) -> bool:
    """Whether numbers of a text file have commas for points, by its first lines."""
    return separator_of(path) != "," and bool(_with_commas(_plain_text(path, 1000)))


def check_kind(path: Path) -> None:
    """Spreadsheets are not read."""
    if path.suffix.lower() in SHEETS:
        raise InputError(f"predictions must be a CSV, TSV or Parquet file, got the spreadsheet {path.name!r}: save it as CSV")


def _read(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        if path.suffix.lower() in PARQUET:
            return pd.read_parquet(path)
        return read_text(path)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path.name} must hold at least 1 line of predictions, got an empty file") from None
    except (ValueError, OSError, pd.errors.ParserError) as error:
        told = str(error).split("\n")[0]
        raise InputError(f"{path.name} must be a CSV, TSV or Parquet file, which it is not: {told}") from None


def separator_of(path: Path) -> str:
    """What stands between the columns: whatever the first line holds most of."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        first = file.readline()
    return max((",", "\t", ";"), key=first.count)
