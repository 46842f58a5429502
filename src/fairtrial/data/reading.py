"""Read a data set from any supported file or object."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from inspect import signature
from pathlib import Path
from typing import Any

from fairtrial._check import check_one_of
from fairtrial._registry import suggest_name
from fairtrial._text import join_names
from fairtrial.data import frames, text_tables
from fairtrial.data.arff import read_arff
from fairtrial.data.dataset import Dataset
from fairtrial.data.delimited import read_delimited
from fairtrial.data.keel import read_keel
from fairtrial.errors import InputError

FORMATS = {
    "keel": (".dat",),
    "arff": (".arff",),
    "delimited": (".csv", ".tsv", ".txt", ".data", ".dat"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
SUFFIXES = tuple(sorted({suffix for suffixes in FORMATS.values() for suffix in suffixes}))


def read(
    source: Any,
    *,
    target: str | None = None,
    name: str | None = None,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    groups: str | None = None,
    time: str | None = None,
    format: str | None = None,  # noqa: A002
    **layout: Any,
) -> Dataset:
    """Read a data set from a file, a data frame or a scikit-learn bunch.

    Parameters
    ----------
    source : path, dataframe or bunch
        KEEL file (.dat that begins with @), ARFF file, text table (.csv, .tsv, .txt, .data, .dat), JSON Lines file (.jsonl,
        .ndjson) or Parquet file. Text files may be compressed (.gz). Data frames (pandas, Arrow or polars) and scikit-learn
        bunches are also accepted.
    target : str, optional
        Class column. Default: the class that the file declares, or the last column.
    name : str, optional
        Name of the data set. Default: the name of the file.
    nominal : sequence of str, optional
        Columns to read as nominal although they look like numbers.
    numeric : sequence of str, optional
        Columns to read as numeric although they look nominal.
    drop : sequence of str, optional
        Columns to leave out.
    groups : str, optional
        Column that identifies groups of dependent rows, e.g. the patient. The column is not used as an attribute.
    time : str, optional
        Column with the time of each row: numbers, or dates in ISO 8601 format. The column is not used as an attribute.
    format : {"keel", "arff", "delimited", "csv", "jsonl", "parquet"}, optional
        File format. Default: determined by the suffix of the file.
    **layout : Any
        Options that are passed to `read_delimited` for text tables: `delimiter`, `header`, `columns`, `missing`, `decimal`,
        `text`, `encoding`. KEEL and ARFF files accept only `encoding`.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the source cannot be read. For a text file, the message contains the line number.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "two.csv").write_text("size,kind\\n1,a\\n2,b\\n")
    ...     data = read(Path(folder) / "two.csv")
    >>> data.X["size"].tolist(), data.y.tolist()
    ([1.0, 2.0], ['a', 'b'])
    """
    common = {"nominal": nominal, "numeric": numeric, "drop": drop}
    if isinstance(source, (str, os.PathLike)):
        path = _check_file_exists(Path(source))
        reader = _READERS[detect_format(path, format)]
        return reader(path, target=target, name=name, groups=groups, time=time, **common, **layout)
    _check_no_layout(layout)
    return _from_memory(source, target, name or "data", {"groups": groups, "time": time}, common)


def _from_memory(source: Any, target: str | None, name: str, roles: dict[str, str | None], common: dict[str, Any]) -> Dataset:
    if isinstance(source, Dataset):
        return source.with_roles(**roles)
    if frames.is_bunch(source) and not hasattr(source, "columns"):
        if target is not None:
            raise InputError(f"target must be None for a bunch, which contains its target, got {target!r}")
        return frames.read_bunch(source, name=name, **common).with_roles(**roles)
    return frames.read_frame(source, target=target, name=name, groups=roles["groups"], time=roles["time"], **common)


def _check_file_exists(path: Path) -> Path:
    if "\0" in str(path):
        raise InputError("path must not contain a NUL character")
    if path.is_dir():
        raise InputError(f"{path} is a folder: pass a file, or use fairtrial.data.read_folds for a folder of KEEL folds")
    if not path.is_file():
        files = list(path.parent.iterdir()) if path.parent.is_dir() else []
        near = [
            file.name
            for file in files
            if get_close_matches(text_tables.get_file_stem(path).lower(), [text_tables.get_file_stem(file).lower()])
        ]
        hint = suggest_name(path.name, near)
        raise InputError(f"{path}: no such file" + (f"; {hint}" if near else ""))
    return path


def detect_format(path: Path, declared: str | None) -> str:
    """Determine the format of a file from its suffix, unless the format is declared."""
    if declared is not None:
        declared = "delimited" if declared == "csv" else declared
        check_one_of("format", declared, list(FORMATS))
        return declared
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    suffix = plain.suffix.lower()
    if suffix == ".dat":
        return "keel" if _is_keel_file(path) else "delimited"
    for format_name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return format_name
    remedy = "use fairtrial.data.read_folds" if suffix == ".zip" else f"pass format= {join_names(FORMATS, None, 'or')}"
    raise InputError(
        f"{path} must end in {join_names(SUFFIXES, None, 'or')} (text also in .gz), got {suffix or 'no suffix'!r}: {remedy}"
    )


def _is_keel_file(path: Path) -> bool:
    """Return whether the first line that is neither blank nor a comment begins with @."""
    source = text_tables.open_unpacked(path)
    try:
        with source.open("rb") if isinstance(source, Path) else source as file:
            begin = file.read(1 << 16)
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    for line in begin.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip() and not line.lstrip().startswith(b"%"):
            return line.strip().lower().startswith(b"@")
    return False


def _check_no_layout(layout: dict[str, Any]) -> None:
    if layout:
        raise InputError(f"{sorted(layout)[0]} must not be passed for this source: it applies to text files only")


def _read_keel(path: Path, *, target: str | None, name: str | None, encoding: str = "utf-8", **common: Any) -> Dataset:
    return _read_declared_file(read_keel, path, target, name, encoding, common)


def _read_arff(path: Path, *, target: str | None, name: str | None, encoding: str = "utf-8", **common: Any) -> Dataset:
    return _read_declared_file(read_arff, path, target, name, encoding, common)


def _read_declared_file(
    reader: Callable[..., Dataset], path: Path, target: str | None, name: str | None, encoding: str, common: dict[str, Any]
) -> Dataset:
    changes = {option: common.pop(option) for option in ("nominal", "numeric", "drop")}
    roles = {role: common.pop(role) for role in ("groups", "time")}
    _check_no_layout(common)
    source = text_tables.open_unpacked(path)
    try:
        data = reader(source, target=target, name=name or text_tables.get_file_stem(path), encoding=encoding)
    finally:
        if not isinstance(source, Path):
            source.close()
    return convert_dataset_types(data, **changes).with_roles(**roles)


def convert_dataset_types(
    data: Dataset,
    *,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
) -> Dataset:
    """Change the type of attributes, or drop them. The class column does not change."""
    if not (nominal or numeric or drop):
        return data
    where = data.source or data.name
    attributes = data.X.columns
    for argument, names in (("nominal", nominal), ("numeric", numeric), ("drop", drop)):
        frames.check_column_names(argument, names, attributes, where)
    table = data.X.assign(**{data.target: ""})
    changed = frames.read_frame(table, target=data.target, nominal=nominal, numeric=numeric, drop=drop, source=data.source)
    converted = Dataset.from_table(
        changed.X,
        data.y,
        name=data.name,
        target=data.target,
        classes=data.classes,
        row_ids=data.row_ids,
        source=data.source,
        notes=data.notes,
        ranges={
            column: limits
            for column, limits in data.ranges.items()
            if column in changed.X.columns and column not in changed.nominal
        },
    )
    return replace(converted, fault=data.fault)


def _read_parquet(path: Path, *, target: str | None, name: str | None, **common: Any) -> Dataset:
    options = {option: common.pop(option) for option in ("nominal", "numeric", "drop", "groups", "time")}
    _check_no_layout(common)
    return frames.read_parquet(path, target=target, name=name, **options)


def _read_json_lines(path: Path, *, target: str | None, name: str | None, **common: Any) -> Dataset:
    options = {option: common.pop(option) for option in ("nominal", "numeric", "drop", "groups", "time")}
    _check_no_layout(common)
    table = text_tables.read_json_lines(path)
    return frames.read_frame(table, target=target, name=name or text_tables.get_file_stem(path), source=str(path), **options)


_OPTIONS = tuple(signature(read_delimited).parameters)[1:]


def _read_delimited(path: Path, **options: Any) -> Dataset:
    for option in options:
        if option not in _OPTIONS:
            raise InputError(f"read has no option {option!r}: {suggest_name(option, _OPTIONS)}")
    return read_delimited(path, **options)


_READERS: dict[str, Callable[..., Dataset]] = {
    "keel": _read_keel,
    "arff": _read_arff,
    "delimited": _read_delimited,
    "jsonl": _read_json_lines,
    "parquet": _read_parquet,
}
