"""Write data sets to CSV, Parquet or ARFF files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fairtrial._check import check_one_of
from fairtrial._files import write_atomically
from fairtrial.data.dataset import Dataset
from fairtrial.data.text_tables import MISSING
from fairtrial.errors import InputError

_PLAIN = re.compile(r"[\w.+:/-]+", re.ASCII)


def write(data: Dataset, path: str | os.PathLike[str], *, format: str | None = None, overwrite: bool = False) -> Path:  # noqa: A002
    """Write a data set to a CSV, Parquet or ARFF file, with the class as the last column.

    Parquet and ARFF files store column types and declared classes. CSV files store only values.

    Parameters
    ----------
    data : Dataset
    path : path
        Output file.
    format : {"csv", "parquet", "arff"}, optional
        File format. Default: determined by the suffix of the file.
    overwrite : bool, default False
        Whether to replace an existing file.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    InputError
        If the file exists and `overwrite` is false, if the file cannot be written, or if the file format cannot represent a
        value in the data set.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from fairtrial.data import load, read
    >>> with TemporaryDirectory() as folder:
    ...     path = write(load("iris"), Path(folder) / "iris.parquet")
    ...     read(path) == load("iris")
    True
    """
    if not isinstance(data, Dataset):
        raise InputError(f"data must be a Dataset, got {type(data).__name__}: call write(data, path)")
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} must be a file, got a folder: pass a file in it, such as {path / f'{data.name}.csv'}")
    suffix = path.suffix.lower().removeprefix(".")
    chosen = format or suffix
    check_one_of("format", chosen, list(_WRITERS))
    if suffix in _WRITERS and suffix != chosen:
        raise InputError(f"{path} must end in .{chosen} for the format {chosen}: pass another file or no format")
    if path.exists() and not overwrite:
        raise InputError(f"{path} already exists: choose another file, or pass overwrite=True")
    with write_atomically(path) as temporary:
        _WRITERS[chosen](data, temporary)
    return path


def _check_no_infinity(data: Dataset, form: str) -> None:
    for name in data.X.columns[data.X.dtypes != "category"]:
        infinite = np.isinf(data.X[name].to_numpy())
        if infinite.any():
            raise InputError(
                f"values must be finite in the format {form}, got infinity in row {int(infinite.argmax())} of column {name!r}: "
                "choose the format parquet"
            )


def _write_csv(data: Dataset, path: Path) -> None:
    _check_no_infinity(data, "csv")
    frame = data.frame()
    for name in [*data.nominal, data.target]:
        lost = [category for category in frame[name].cat.categories if str(category).strip() in MISSING]
        if lost:
            raise InputError(
                f"nominal values must not look like missing values in a CSV file, got {lost[0]!r} in column {name!r}: choose "
                "the format parquet or arff"
            )
    frame.to_csv(path, index=False, lineterminator="\n")


def _write_parquet(data: Dataset, path: Path) -> None:
    data.frame().to_parquet(path, index=False)


def _write_arff(data: Dataset, path: Path) -> None:
    _check_no_infinity(data, "arff")
    frame = data.frame()
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"@relation {_quote_arff(data.name)}\n\n")
        for name in frame.columns:
            file.write(f"@attribute {_quote_arff(str(name))} {_format_arff_type(frame[name])}\n")
        file.write("\n@data\n")
        for row in zip(*(_format_arff_cells(frame[name]) for name in frame.columns), strict=True):
            file.write(",".join(row) + "\n")


def _format_arff_type(column: Any) -> str:
    if column.dtype == "category":
        return "{" + ",".join(_quote_arff(str(category)) for category in column.cat.categories) + "}"
    return "numeric"


def _format_arff_cells(column: Any) -> list[str]:
    if column.dtype == "category":
        texts = [*(_quote_arff(str(category)) for category in column.cat.categories), "?"]
        return [texts[code] for code in column.cat.codes]
    return ["?" if np.isnan(value) else repr(value) for value in column.tolist()]


def _quote_arff(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f"'{escaped}'"


_WRITERS: dict[str, Callable[[Dataset, Path], None]] = {"csv": _write_csv, "parquet": _write_parquet, "arff": _write_arff}
FORMATS = tuple(_WRITERS)
