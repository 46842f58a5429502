"""Read data sets from CSV, TSV and similar text tables.

Column types are inferred. Categories of text are sorted alphabetically, so '10' comes before '9'.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, check_one_of
from fairtrial._text import format_count
from fairtrial.data import dates, text_tables
from fairtrial.data.dataset import Dataset
from fairtrial.data.faults import warn_if_known
from fairtrial.data.frames import check_column_names, read_frame
from fairtrial.data.text_tables import MISSING, Content, TableLayout
from fairtrial.errors import InputError, SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd

_COMMAS_PART_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)


_POINTS_PART_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?", re.ASCII)


_NUMBER_FORMATS = {
    "wrong date": ("dates, but {example!r} does not exist", "correct it"),
    "decimal commas": ("numbers with decimal commas", "pass decimal=','"),
    "decimal or thousands commas": (
        "numbers with commas",
        "pass decimal=',' if {example!r} is {decimal}, remove the commas if it is {whole}",
    ),
    "thousands commas": ("numbers with commas between thousands", "remove the commas"),
    "points and commas": ("numbers with points and with commas", "use one format"),
    "thousands points": ("numbers with points between thousands", "remove the points"),
    "thousands points and decimal commas": (
        "numbers with points between thousands",
        "remove the points and pass decimal=','",
    ),
    "points with decimal=','": (
        "points, which decimal=',' does not allow",
        "remove them if they separate thousands, omit decimal= if they are decimal points",
    ),
}


def detect_number_format(texts: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Find the format of texts that look like numbers or dates but cannot be read as such.

    Return the name of the format and an example, or None for other texts.

    >>> detect_number_format(["1,5", "2"], ".")
    ('decimal commas', '1,5')
    >>> detect_number_format(["1,5", "red"], ".")
    """
    wrong = [text for text in texts if dates.is_iso_like(text) and dates.parse_iso_date(text) is None]
    if wrong and all(map(dates.is_iso_like, texts)):
        return "wrong date", wrong[0]
    unparsed = [text for text in texts if not text_tables.is_number(text_tables.with_point(text, decimal))]
    if not unparsed:
        return None
    kind = _find_comma_format(texts, unparsed) if decimal == "." else _find_point_format(unparsed)
    return None if kind is None else (kind, unparsed[0])


def _find_comma_format(texts: Sequence[str], unparsed: list[str]) -> str | None:
    """Find the format of numbers that contain commas or several points."""
    points = any("." in text for text in texts)
    decimals = all(text_tables.is_number(text.replace(",", ".", 1)) for text in unparsed)
    thousands = all(_COMMAS_PART_THOUSANDS.fullmatch(text) for text in unparsed)
    if decimals and thousands and not points:
        return "decimal or thousands commas"
    if thousands:
        return "thousands commas"
    if decimals:
        return "points and commas" if points else "decimal commas"
    if all(_POINTS_PART_THOUSANDS.fullmatch(text) or text_tables.is_number(text.replace(",", ".", 1)) for text in unparsed):
        return "thousands points and decimal commas" if any("," in text for text in unparsed) else "thousands points"
    return None


def _find_point_format(unparsed: list[str]) -> str | None:
    """Find the format of numbers that contain points or several commas, if `decimal` is a comma."""
    if all(text_tables.is_number(text) or _POINTS_PART_THOUSANDS.fullmatch(text) for text in unparsed):
        return "points with decimal=','"
    return "thousands commas" if all(_COMMAS_PART_THOUSANDS.fullmatch(text) for text in unparsed) else None


def find_equal_numbers(texts: Sequence[str], decimal: str) -> tuple[str, str] | None:
    """Find two texts that represent the same number.

    Return None if there is no such pair, or if any text is not a number.

    >>> find_equal_numbers(["2", "01", "1"], ".")
    ('01', '1')
    """
    seen: dict[Decimal, str] = {}
    pairs = []
    for word in texts:
        if not text_tables.is_number(text_tables.with_point(word, decimal)):
            return None
        try:
            number = Decimal(text_tables.with_point(word, decimal))
        except InvalidOperation:  # the exponent is too large
            return None
        first = seen.setdefault(number, word)
        if first != word:
            pairs.append((first, word))
    return pairs[0] if pairs else None


_PLAIN_WHOLE = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)


_CODE = r"^[+-]?(?:0[0-9]|[0-9]{16,}$)"


_ENOUGH_VALUES = 20


_NEARLY_ALL = 0.95


_BOOLEANS = {"false": False, "true": True}


def as_numbers(cells: Any, missing: Collection[str], decimal: str = ".") -> FloatArray | None:
    """Convert an Arrow text column to float64.

    Missing cells become NaN. Return None if any other cell is not a number.

    >>> import pyarrow as pa
    >>> as_numbers(pa.chunked_array([["1", "?", " 2.5"]]), ["?"]).tolist()
    [1.0, nan, 2.5]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    present = _with_points(_mask_missing(cells, missing), decimal)
    try:
        numbers = np.array(pc.fill_null(pc.cast(present, pa.float64()), np.nan), dtype=np.float64)
    except pa.ArrowInvalid:
        return _map_distinct(present, _parse_number)
    return numbers if np.isnan(numbers).sum() == present.null_count else None  # Arrow reads the text nan as a number


def as_dates(cells: Any, missing: Collection[str]) -> FloatArray | None:
    """Convert an Arrow column that contains ISO 8601 dates to seconds since 1970.

    Missing cells become NaN. Return None if any other cell is not a date.

    >>> import pyarrow as pa
    >>> as_dates(pa.chunked_array([["1970-01-02", "?", "1970-01-01 00:01"]]), ["?"]).tolist()
    [86400.0, nan, 60.0]
    """
    return _map_distinct(_mask_missing(cells, missing), dates.parse_iso_date)


def find_code(cells: Any, missing: Collection[str]) -> str | None:
    """Find the first cell that would lose digits if it were read as a number.

    Such cells have leading zeros or more than 15 digits. Return None if there is no such cell.

    >>> import pyarrow as pa
    >>> find_code(pa.chunked_array([["10", "0123"]]), [])
    '0123'
    """
    import pyarrow.compute as pc

    present = _mask_missing(cells, missing)
    index = pc.index(pc.match_substring_regex(present, _CODE), True).as_py()
    return None if index < 0 else present[index].as_py()


def as_labels(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """Convert an Arrow text column to sorted categories.

    The categories are whole numbers if all texts are whole numbers without leading zeros. They are booleans if all texts are
    true or false. Otherwise, they are text.

    >>> import pyarrow as pa
    >>> as_labels(pa.chunked_array([["10", "9", "?"]]), ["?"]).tolist()
    [10, 9, nan]
    >>> as_labels(pa.chunked_array([["010", "9"]]), []).tolist()
    ['010', '9']
    """
    return _encode_categorical(cells, missing, _parse_plain_values)


def as_text(cells: Any, missing: Collection[str]) -> pd.Categorical:
    """Convert an Arrow text column to categories of text."""
    return _encode_categorical(cells, missing, list)


def as_classes(cells: Any, missing: Collection[str], decimal: str = ".") -> pd.Categorical:
    """Convert an Arrow text column to classes.

    The classes are whole numbers or booleans if possible. Otherwise, they are numbers if all labels represent distinct finite
    numbers and none has leading zeros or more than 15 digits. In all other cases, they are text.

    >>> import pyarrow as pa
    >>> as_classes(pa.chunked_array([["1.0", "-1.0"]]), []).tolist(), as_classes(pa.chunked_array([["01", "1"]]), []).tolist()
    ([1.0, -1.0], ['01', '1'])
    """
    return _encode_categorical(cells, missing, lambda texts: _parse_class_values(texts, decimal))


def find_non_number(cells: Any, missing: Collection[str], decimal: str = ".") -> tuple[int, str]:
    """Find the row and the text of the first cell that is neither a number nor missing.

    The column must contain such a cell.

    >>> import pyarrow as pa
    >>> find_non_number(pa.chunked_array([["1", "x"]]), [])
    (1, 'x')
    """
    numbered_cells = enumerate(_mask_missing(cells, missing).to_pylist())
    return next((row, cell) for row, cell in numbered_cells if cell is not None and _parse_number(cell, decimal) is None)


def find_isolated_text(cells: Any, missing: Collection[str], decimal: str = ".") -> tuple[int, str, int] | None:
    """Find the first non-number in a column if nearly all of its values are numbers.

    Return the row and the text of this cell, and the number of numeric cells. Return None for any other column.

    >>> import pyarrow as pa
    >>> find_isolated_text(pa.chunked_array([["1"] * 30 + ["oops"]]), [])
    (30, 'oops', 30)
    """
    import pyarrow.compute as pc

    present = _mask_missing(cells, missing)
    counts = {item["values"]: item["counts"] for item in pc.value_counts(present.drop_null()).to_pylist()}
    numbers = sum(count for word, count in counts.items() if _parse_number(word, decimal) is not None)
    values = sum(counts.values())
    if values < _ENOUGH_VALUES or not _NEARLY_ALL * values <= numbers < values:
        return None
    return *find_non_number(cells, missing, decimal), numbers


def _with_points(present: Any, decimal: str) -> Any:
    """Replace decimal commas in a column with points, as `with_point` does."""
    import pyarrow.compute as pc

    if decimal == ".":
        return present
    doubled = pc.replace_substring(present, pattern=".", replacement="..")
    return pc.replace_substring(doubled, pattern=decimal, replacement=".", max_replacements=1)


def _mask_missing(cells: Any, missing: Collection[str]) -> Any:
    """Strip blanks from the cells, and replace missing cells with null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.ascii_trim_whitespace(cells)
    absent = pc.is_in(trimmed, value_set=pa.array(list(missing), pa.string()))
    return pc.if_else(absent, pa.scalar(None, pa.string()), trimmed)


def _encode_dictionary(present: Any) -> Any:
    """Encode a column as its distinct values and one index per row."""
    import pyarrow as pa

    return pa.concat_arrays(present.chunks or [pa.array([], pa.string())]).dictionary_encode()


def _map_distinct(present: Any, read: Callable[[str], float | None]) -> FloatArray | None:
    """Apply `read` to each distinct text.

    Missing cells become NaN. Return None if `read` returns None for a text.
    """
    import pyarrow.compute as pc

    encoded = _encode_dictionary(present)
    values = []
    for word in encoded.dictionary:
        value = read(word.as_py())
        if value is None:
            return None
        values.append(value)
    codes = np.array(pc.fill_null(encoded.indices, -1))
    return np.asarray(np.append(np.array(values, dtype=np.float64), np.nan)[codes], dtype=np.float64)


def _parse_number(word: str, decimal: str = ".") -> float | None:
    plain = text_tables.with_point(word, decimal)
    return float(plain) if text_tables.is_number(plain) else None


def _encode_categorical(cells: Any, missing: Collection[str], parse_texts: Callable[[list[str]], list[Any]]) -> pd.Categorical:
    """Encode text cells as a categorical whose categories are sorted."""
    import pandas as pd
    import pyarrow.compute as pc

    encoded = _encode_dictionary(_mask_missing(cells, missing))
    values = parse_texts(encoded.dictionary.to_pylist())
    categories = sorted(set(values))
    ranks_by_value = {value: rank for rank, value in enumerate(categories)}
    ranks = np.array([*(ranks_by_value[value] for value in values), -1], dtype=np.intp)
    codes = ranks[np.array(pc.fill_null(encoded.indices, -1), dtype=np.intp)]
    text = not categories or isinstance(categories[0], str)
    return pd.Categorical.from_codes(codes, categories=pd.Index(categories, dtype=object if text else None))


def _parse_plain_values(texts: list[str]) -> list[Any]:
    if all(_PLAIN_WHOLE.fullmatch(word) for word in texts):
        return [int(word) for word in texts]
    booleans = [_BOOLEANS.get(word.lower()) for word in texts]
    return texts if None in booleans else booleans


def _parse_class_values(texts: list[str], decimal: str) -> list[Any]:
    values = _parse_plain_values(texts)
    numbers = [_parse_number(word, decimal) for word in texts]
    finite_numbers = [number for number in numbers if number is not None and np.isfinite(number)]
    if values is not texts or len(set(finite_numbers)) < len(texts) or any(re.match(_CODE, word) for word in texts):
        return values
    return numbers


def read_delimited(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    name: str | None = None,
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    groups: str | None = None,
    time: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    columns: Sequence[str] | None = None,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
    encoding: str | None = None,
) -> Dataset:
    """Read a data set from a text table such as a CSV or TSV file.

    A column is numeric if it contains only numbers or only ISO 8601 dates, which become seconds since 1970. All other columns
    are nominal. Numbers with leading zeros or more than 15 digits are treated as codes, so a column that contains such numbers
    is nominal. Classes that are whole numbers or booleans are not converted to text.

    Parameters
    ----------
    path : path
        Text file, which may be compressed (.gz, .bz2 or .xz).
    target : str, optional
        Class column. Default: the last column.
    name : str, optional
        Name of the data set. Default: the name of the file.
    nominal : sequence of str, optional
        Columns to read as nominal although their values look like numbers.
    numeric : sequence of str, optional
        Columns to read as numeric although their values look like codes, e.g. because of leading zeros.
    text : sequence of str, optional
        Columns to read as nominal, with values that remain text even if they look like whole numbers or booleans.
    drop : sequence of str, optional
        Columns to leave out.
    groups : str, optional
        Column that identifies groups of dependent rows, e.g. the patient. The column is not used as an attribute.
    time : str, optional
        Column with the time of each row: numbers, or dates in ISO 8601 format. The column is not used as an attribute.
    delimiter : str, optional
        Single character that separates cells. " " stands for one or more spaces or tabs. Default: detected.
    header : bool, optional
        Whether the first row names the columns. Default: detected.
    columns : sequence of str, optional
        Names of the columns. Default: the names in the header, or x0, x1, ... if there is no header.
    missing : collection of str
        Texts that represent a missing value. An empty cell is always missing.
    decimal : {".", ","}, default "."
        Decimal separator.
    encoding : str, optional
        Text encoding of the file. Default: detected (UTF-8, UTF-16 or Latin-1). If the detected encoding is not UTF-8, it is
        recorded in the notes of the data set.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read. The message contains the line number.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "flowers.csv").write_text("length;hue;kind\\n1.5;red;a\\n?;blue;b\\n")
    ...     print(read_delimited(Path(folder) / "flowers.csv").summary())
    flowers: 2 rows, 1 numeric and 1 nominal attributes, 1 missing value; classes: a 1, b 1; imbalance ratio 1.00
    """
    path = Path(path)
    missing_markers = frozenset([missing] if isinstance(missing, str) else missing) | {""}
    check_one_of("decimal", decimal, [".", ","])
    content = text_tables.read_content(path, encoding)
    layout = text_tables.find_layout(content, delimiter, header, columns, missing_markers)
    cells = text_tables.read_cells(content, layout)
    where = str(path)
    names = [column for column in layout.names if column not in check_column_names("drop", drop, layout.names, where)]
    if len(names) < 2:
        raise InputError(f"{where} must have at least 2 columns (attributes and a class), got {len(names)} after drop=")
    target_column = names[-1] if target is None else check_column_names("target", [target], names, where)[0]
    kinds = _resolve_kinds(target_column, nominal, numeric, text, names, where)
    for column in check_column_names("groups", groups, names, where):
        kinds.setdefault(column, "text")
    check_column_names("time", time, names, where)
    table = {
        column: _convert_cells(column, cells.pop(column), kinds.get(column), missing_markers, decimal, content, layout)
        for column in names
    }
    _warn_about_row_numbers(table, layout, where)
    _check_class_complete(table[target_column], target_column, content, layout)
    peculiar = encoding is None and content.encoding != "utf-8"
    notes = [f"read with {text_tables.ENCODING_NAMES[content.encoding]} encoding"] if peculiar else []
    data = _build_delimited_dataset(table, target_column, name or text_tables.get_file_stem(path), where, notes)
    return data.with_roles(groups=groups, time=time)


def _resolve_kinds(
    target: str,
    nominal: Sequence[str] | None,
    numeric: Sequence[str] | None,
    text: Sequence[str] | None,
    names: list[str],
    where: str,
) -> dict[str, str]:
    """Return the declared kind of each column."""
    declared = {"nominal": nominal, "numeric": numeric, "text": text}
    kinds = {target: "class"}
    for kind, columns in declared.items():
        for column in check_column_names(kind, columns, names, where):
            if kinds.get(column, kind) not in (kind, "class") or (column == target and kind == "numeric"):
                raise InputError(f"{column!r} must have one declared kind, got {kinds[column]} and {kind}")
            kinds[column] = "text" if column == target else kind
    return kinds


def _convert_cells(
    name: str, cells: Any, kind: str | None, missing: frozenset[str], decimal: str, content: Content, layout: TableLayout
) -> Any:

    where = str(content.path)
    if kind == "text":
        return as_text(cells, missing)
    if kind == "class":
        values = as_classes(cells, missing, decimal)
        _warn_about_equal_classes(name, values, decimal, where)
        return values
    if kind == "nominal":
        return as_labels(cells, missing)
    numbers = as_numbers(cells, missing, decimal)
    if numbers is None:
        return _convert_dates_or_labels(name, cells, kind, missing, decimal, content, layout)
    if kind is None and (code := find_code(cells, missing)):
        _warn_about_code(name, code, where)
        return as_text(cells, missing)
    _check_finite_numbers(name, numbers, cells, content, layout)
    return numbers


def _convert_dates_or_labels(
    name: str, cells: Any, kind: str | None, missing: frozenset[str], decimal: str, content: Content, layout: TableLayout
) -> Any:

    seconds = as_dates(cells, missing)
    if seconds is not None:
        return seconds
    if kind == "numeric":
        row, cell = find_non_number(cells, missing, decimal)
        line = text_tables.find_line(row, content, layout)
        raise InputError(f"{content.path}, line {line}: column {name!r} must contain numbers, got {cell!r}")
    values = as_labels(cells, missing)
    if not _warn_about_texts(name, values, decimal, str(content.path)) and (
        isolated_text := find_isolated_text(cells, missing, decimal)
    ):
        _warn_about_isolated_text(name, *isolated_text, content, layout)
    return values


def _warn_about_equal_classes(name: str, values: Any, decimal: str, where: str) -> None:
    texts = [category for category in values.categories if isinstance(category, str)]
    if pair := find_equal_numbers(texts, decimal):
        warnings.warn(
            f"{where}: the classes {pair[0]!r} and {pair[1]!r} of {name!r} are the same number but are read as two classes: "
            f"write them in the same way, or pass text=[{name!r}] if they differ",
            SuspectInputWarning,
            stacklevel=5,
        )


def _warn_about_isolated_text(name: str, row: int, text: str, n_numbers: int, content: Content, layout: TableLayout) -> None:
    line = text_tables.find_line(row, content, layout)
    warnings.warn(
        f"{content.path}, line {line}: column {name!r} is read as nominal because it contains {text!r} among {n_numbers} "
        f"numbers: correct it, pass missing=[{text!r}] if it means a missing value, or pass nominal=[{name!r}]",
        SuspectInputWarning,
        stacklevel=6,
    )


def _warn_about_texts(name: str, values: Any, decimal: str, where: str) -> bool:
    """Warn if the texts look like numbers or dates. Return whether they do."""
    texts = [category for category in values.categories if isinstance(category, str)]
    number_format = detect_number_format(texts, decimal)
    if number_format is not None:
        kind, example = number_format
        values = {"example": example, "decimal": example.replace(",", "."), "whole": example.replace(",", "")}
        description, remedy = (template.format(**values) for template in _NUMBER_FORMATS[kind])
        warnings.warn(
            f"{where}: column {name!r} is read as nominal because it contains {description}: {remedy}",
            SuspectInputWarning,
            stacklevel=6,
        )
    return number_format is not None


def _warn_about_code(name: str, code: str, where: str) -> None:
    zeros = code.lstrip("+-").startswith("0")
    why = "which would lose its leading zeros as a number" if zeros else "which has too many digits for a number"
    warnings.warn(
        f"{where}: column {name!r} is read as nominal because it contains {code!r}, {why}: pass numeric=[{name!r}] to read "
        f"numbers, or text=[{name!r}] to read text",
        SuspectInputWarning,
        stacklevel=5,
    )


def _check_finite_numbers(name: str, numbers: FloatArray, cells: Any, content: Content, layout: TableLayout) -> None:
    infinite = np.isinf(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        line = text_tables.find_line(row, content, layout)
        raise InputError(
            f"{content.path}, line {line}: column {name!r} must contain finite numbers, got "
            f"{cells[row].as_py().strip()!r}: correct it, or pass it in missing="
        )


def _check_class_complete(label: Any, name: str, content: Content, layout: TableLayout) -> None:
    missing = (label.codes < 0).nonzero()[0]
    if len(missing):
        line = text_tables.find_line(int(missing[0]), content, layout)
        cells = format_count(len(missing), "missing value")
        raise InputError(
            f"{content.path}, line {line}: the class column {name!r} must not have missing values, got {cells}: drop these "
            "rows, or pass another column as target="
        )


def _warn_about_row_numbers(table: dict[str, Any], layout: TableLayout, where: str) -> None:
    name = layout.names[0]
    values = table.get(name)
    if not layout.header or layout.is_named[0] or not isinstance(values, np.ndarray) or len(values) < 2:
        return
    if np.array_equal(values - values[0], np.arange(len(values))):
        warnings.warn(
            f"{where}: the first column has no name and numbers the rows, so it is probably not an attribute: pass "
            f"drop=[{name!r}]",
            SuspectInputWarning,
            stacklevel=4,
        )


def _build_delimited_dataset(table: dict[str, Any], target: str, name: str, source: str, notes: Sequence[str] = ()) -> Dataset:
    import pandas as pd

    return warn_if_known(read_frame(pd.DataFrame(table), target=target, name=name, source=source, notes=notes))
