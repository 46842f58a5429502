"""Read text tables that contain data sets, scores or predictions, and detect their layout.

Arrow reads well-formed files quickly. If Arrow fails, a slower function reads the file or raises an error with the line number.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

from fairtrial.data.lines import LONGEST_LINE, open_lines
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

WHITESPACE = " "


SAVE_AS_UTF8 = "save the file as UTF-8"


DELIMITERS = ("\t", ";", "|", ",", WHITESPACE)


MISSING = ("", "?", "NA", "NaN", "nan", "null", "N/A")


_BLANKS = " \t\n\r\x0b\x0c"


_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)


_WORD = re.compile(r'"(?:[^"]|"")*"(?!\S)|\S+', re.ASCII)


_CONTROL_CHARACTERS = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x7f]")


ENCODING_NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "latin-1": "Latin-1"}


_DELIMITER_NAMES = {"\t": "tabs", ";": "semicolons", "|": "vertical bars", ",": "commas", WHITESPACE: "blanks"}


_END_OF_SAMPLE = "\0end"


_ENOUGH_ROWS = 10


_LEAST_AGREEMENT, _NEARLY_ALL_ROWS = 0.5, 0.9


def is_number(cell: str) -> bool:
    """Return whether a cell is a number without a decimal comma or thousands separators.

    >>> [is_number(cell) for cell in ("-1.5e3", ".5", "1,5", "x", "1_000")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(cell) is not None


def with_point(cell: str, decimal: str) -> str:
    """Replace a decimal comma with a point. A cell with points does not become a number.

    >>> with_point("1,5", ","), with_point("1.5", "."), is_number(with_point("1.234", ","))
    ('1.5', '1.5', False)
    """
    return cell if decimal == "." else cell.replace(".", "..").replace(decimal, ".", 1)


class _UnclosedQuoteError(csv.Error):
    """The error raised if a quote is not closed before the end of the table."""


def split_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Split lines into rows. Yield the number of the first line and the cells of each row.

    Quoted cells may contain delimiters and line breaks. Raise `csv.Error` if a quote is not closed or a cell is too long.

    >>> list(split_rows(['a,"b,c"', "", "1,2"], ","))
    [(1, ['a', 'b,c']), (3, ['1', '2'])]
    """
    if delimiter == WHITESPACE:
        for number, line in enumerate(lines, 1):
            cells = _WORD.findall(line)
            if cells:
                yield number, [_strip_double_quotes(cell) for cell in cells]
        return
    reader = csv.reader(chain(lines, [_END_OF_SAMPLE]), delimiter=delimiter, skipinitialspace=True)
    first = 1
    for row in reader:
        if row and _END_OF_SAMPLE in row[-1]:
            if row == [_END_OF_SAMPLE]:
                return
            raise _UnclosedQuoteError(f"line {first}: a quote must be closed, got the end of the file")
        if len(row) > 1 or (row and row[0].strip(_BLANKS)):
            yield first, [cell.strip(_BLANKS) for cell in row]
        first = reader.line_num + 1


def _strip_double_quotes(cell: str) -> str:
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return (cell[1:-1].replace('""', '"') if quoted else cell).strip(_BLANKS)


def sniff_delimiter(lines: Sequence[str]) -> str | None:
    """Find the delimiter of a text table from its first lines. Return None if no delimiter splits the lines.

    The delimiter must split the first row, and it must split most rows into the same number of cells. If several delimiters
    qualify, choose the one whose cells contain the fewest other delimiters. Ties are broken in the order tab, semicolon,
    vertical bar, comma, blanks. Quoted delimiters and decimal commas are ignored.

    >>> sniff_delimiter(["a;b;c", "1,5;2;x"]), sniff_delimiter(["1  2 3", "4 5  6"]), sniff_delimiter(["word"])
    (';', ' ', None)
    >>> sniff_delimiter(['"a,b,c";x;y', '"1,2,3";4;5'])
    ';'
    """
    fits = {delimiter: _rate_delimiter(lines, delimiter) for delimiter in DELIMITERS}
    best = max(fits, key=lambda delimiter: (fits[delimiter], -DELIMITERS.index(delimiter)))
    other = max(DELIMITERS[:-1], key=lambda delimiter: (fits[delimiter], -DELIMITERS.index(delimiter)))
    if best == WHITESPACE and fits[other].is_plausible and _is_in_most_rows(other, lines):
        best = other  # a text column, or dates with times, may also contain blanks in a regular pattern
    return best if fits[best].agreement > 0 else None


class _DelimiterFit(NamedTuple):
    """Criteria by which delimiters are compared, the most important one first."""

    splits_first_row: bool = False
    agreement: float = 0.0
    """The proportion of rows that have the most frequent number of cells."""
    purity: float = 0.0
    """The proportion of cells that contain no other delimiter."""

    @property
    def is_plausible(self) -> bool:
        return self.splits_first_row and self.agreement >= _LEAST_AGREEMENT


def _rate_delimiter(lines: Sequence[str], delimiter: str) -> _DelimiterFit:
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the sample may end within quotes, and later code reports errors with their line
        for _, row in split_rows(lines, delimiter):
            rows.append(row)
    width, count = Counter(len(row) for row in rows).most_common(1)[0] if rows else (0, 0)
    if width < 2:
        return _DelimiterFit()
    other_delimiters = [candidate for candidate in DELIMITERS[:-1] if candidate != delimiter]
    cells = [cell for row in rows for cell in row]
    n_impure = sum(any(other in cell for other in other_delimiters) and not _is_number_like(cell) for cell in cells)
    return _DelimiterFit(len(rows[0]) > 1, count / len(rows), 1 - n_impure / len(cells))


def _is_in_most_rows(delimiter: str, lines: Sequence[str]) -> bool:
    """Return whether nearly all lines contain the delimiter. Quoted words and decimal commas are ignored."""
    rows = [line for line in lines if line.strip()]
    if delimiter == "\t":
        n_rows = sum(delimiter in row for row in rows)
    else:
        n_rows = sum(any(delimiter in word and not _is_value(word) for word in _WORD.findall(row)) for row in rows)
    return n_rows >= _NEARLY_ALL_ROWS * len(rows)


def _is_value(word: str) -> bool:
    """Return whether a word is quoted or is a number, possibly with a decimal comma."""
    return _strip_double_quotes(word) != word or _is_number_like(word)


def detect_delimiter(path: Path, lines: Sequence[str]) -> str | None:
    """Find the delimiter of a file from its first lines.

    In `.tsv` and `.tab` files, the delimiter is a tab if the first line contains a tab.

    >>> detect_delimiter(Path("a.tsv"), ["a;b\\tc", "1;2\\t3"]), detect_delimiter(Path("a.csv"), ["a;b", "1;2"])
    ('\\t', ';')
    """
    first = next((line for line in lines if line.strip()), "")
    is_tab_file = get_plain_path(path).suffix.lower() in (".tsv", ".tab") and "\t" in first
    return "\t" if is_tab_file else sniff_delimiter(lines)


def sniff_header(rows: Sequence[Sequence[str]], missing: frozenset[str] = frozenset(MISSING)) -> bool:
    """Return whether the first row names the columns.

    A first row without numbers is a header if one of its cells is above a column that contains only numbers, with or without
    decimal commas. Otherwise, a header must not contain markers of missing values, such as NA. Its names must be unique, and no
    name may occur among the values of its column. Names that are numbers must be the indices of their columns, counted from 0,
    as in pandas.

    >>> sniff_header([["size", "class"], ["1", "a"]]), sniff_header([["1", "a"], ["2", "b"]])
    (True, False)
    """
    first, rest = rows[0], rows[1:]
    named_columns = [column for column, cell in enumerate(first) if cell and cell not in missing]
    numbers = any(map(_is_number_like, first))
    if not numbers and any(_has_numbers_below(rest, column, missing) for column in named_columns):
        return True
    if any(cell and cell in missing for cell in first):
        return False
    if numbers:
        return _has_counting_names(first) and len(rest) >= _ENOUGH_ROWS and _has_new_names(first, rest)
    return not rest or ("" not in first and _has_new_names(first, rest))


def _has_counting_names(first: Sequence[str]) -> bool:
    """Return whether all names that are numbers equal the indices of their columns."""
    names = first[1:] if first[0] == "" else first
    return sum(map(is_number, names)) >= 3 and all(cell == str(index) for index, cell in enumerate(names) if is_number(cell))


def _has_numbers_below(rows: Sequence[Sequence[str]], column: int, missing: frozenset[str]) -> bool:
    cells = [row[column] for row in rows if column < len(row) and row[column] not in missing]
    return bool(cells) and all(map(_is_number_like, cells))


def _is_number_like(cell: str) -> bool:
    return is_number(cell.replace(",", ".", 1))


def _has_new_names(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    named_cells = [(index, cell) for index, cell in enumerate(first) if cell and not is_number(cell)]
    distinct = len(set(first)) == len(first)
    return (
        bool(named_cells)
        and distinct
        and not any(row[index : index + 1] == [cell] for row in rest for index, cell in named_cells)
    )


_BLOCK = 1 << 22


_SAMPLE_LINES = 200


_TYPED_SAMPLE_ROWS = 1000


_SAMPLE_CHARACTERS = 1 << 20


_BLANK_BEFORE_QUOTE = re.compile(rb'(?:^|[\r\n,;|\t])[ ]+"')


_BLANK_LINES = rb"\A(?:[ \t\x0b\x0c]*\n)+"


_END_OF_DATA = "\x01end\x01"


_ARCHIVES = (".zip", ".zst", ".tar")  # pandas unpacks these archives


_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def get_plain_path(path: Path) -> Path:
    """Return a path without its compression suffix."""
    return path.with_suffix("") if path.suffix.lower() in _OPENERS else path


def get_file_stem(path: Path) -> str:
    """Return the name of a file without its folder and suffixes.

    >>> get_file_stem(Path("a/b.csv.gz"))
    'b'
    """
    return get_plain_path(path).stem


def open_unpacked(path: Path) -> Path | IO[bytes]:
    """Open a compressed file. Return the path of any other file."""
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        return path
    try:
        return cast("IO[bytes]", opener(path, "rb"))
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror or error}") from None


def detect_encoding(path: Path) -> str:
    """Detect the encoding of a text file: utf-8, utf-16, utf-16-le, utf-16-be or latin-1.

    A file is UTF-16 if it begins with a byte order mark or if nearly every second byte is NUL. Other files that are not valid
    UTF-8 are assumed to be Latin-1. If such a file contains control characters, it is not a text file. `detect_encoding` then
    returns "utf-8", so reading the file raises an error that contains the line number.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    source = open_unpacked(path)
    is_utf8 = True
    try:
        with source.open("rb") if isinstance(source, Path) else source as stream:
            head = block = stream.read(_BLOCK)
            if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return "utf-16"
            n_nul = [head[: 1 << 16][start::2].count(0) for start in (0, 1)]
            if max(n_nul) > 0.4 * len(head[: 1 << 16]) and min(n_nul) == 0:
                return "utf-16-le" if n_nul[1] else "utf-16-be"
            while block and is_utf8:
                try:
                    decoder.decode(block)
                    block = stream.read(_BLOCK)
                except UnicodeDecodeError:
                    is_utf8 = False
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return "utf-8"  # reading the file later raises the error
    return "utf-8" if is_utf8 or _CONTROL_CHARACTERS.search(head) else "latin-1"


def read_content(path: Path, encoding: str | None = None, remedy: str | None = None) -> Content:
    """Read the text of a file. Raise an error for NUL bytes, invalid bytes, overlong lines and empty files.

    By default, the encoding is detected. A byte order mark is dropped. `remedy` is the advice in the error message for a wrong
    encoding.
    """
    data = _read_utf8(path) if encoding in (None, "utf-8") else None
    if encoding is None:
        encoding = "utf-8" if data is not None or not path.is_file() else detect_encoding(path)
    if encoding.startswith("utf-16"):
        data = _read_utf16(path, encoding)
    if data is None:
        source = open_unpacked(path)
        try:
            with open_lines(source, encoding, remedy) as blocks:
                data = "\n".join("\n".join(block.lines) for block in blocks).encode()
        finally:
            if not isinstance(source, Path):
                source.close()
    if not data.strip():
        raise InputError(f"{path} must contain a table, got an empty file: check the path, or write the file again")
    return Content(path, data, encoding)


def _read_utf16(path: Path, encoding: str) -> bytes:
    source = open_unpacked(path)
    with source.open("rb") if isinstance(source, Path) else source as stream:
        raw = stream.read()
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].decode(encoding, errors="replace").count("\n") + 1
        raise InputError(f"{path}, line {line}: the text is not {ENCODING_NAMES[encoding]}: {SAVE_AS_UTF8}") from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").encode()


def _read_utf8(path: Path) -> bytes | None:
    """Read a UTF-8 file without splitting it into lines. Return None if it is compressed, too large, invalid or unreadable."""
    try:
        if path.suffix.lower() in _OPENERS or path.stat().st_size > LONGEST_LINE:
            return None
        data = path.read_bytes()
        data.decode()
    except (OSError, ValueError):
        return None
    if b"\0" in data:
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data.removeprefix(codecs.BOM_UTF8).removesuffix(b"\n")


@dataclass(frozen=True, eq=False)
class Content:
    """The text of a file as UTF-8, with line feeds as line endings."""

    path: Path
    data: bytes
    encoding: str = "utf-8"

    def iter_lines(self) -> io.TextIOWrapper:
        """Return a stream of the lines, including their line endings."""
        return io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8", newline="")

    def detect_delimiter(self) -> str | None:
        """Find the delimiter. Return None if no delimiter splits the lines."""
        return detect_delimiter(self.path, _take_sample(self.iter_lines()))

    def iter_rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the cells of each row. Error messages contain the line number."""
        line = 0
        try:
            for line, row in split_rows(self.iter_lines(), delimiter):
                yield line, row
        except _UnclosedQuoteError as error:
            raise InputError(f"{self.path}, {error}") from None
        except csv.Error as error:
            raise InputError(f"{self.path}, line {line + 1} or later: {error}") from None


@dataclass(frozen=True)
class TableLayout:
    """The layout of a text table. `is_named` is False for columns with generated names."""

    delimiter: str
    header: bool
    names: tuple[str, ...]
    is_named: tuple[bool, ...]


def find_layout(
    content: Content, delimiter: str | None, header: bool | None, columns: Sequence[str] | None, missing: frozenset[str]
) -> TableLayout:
    """Determine the layout of a table. Properties that are not declared are inferred from the first rows."""
    if header is not None and not isinstance(header, bool):
        raise InputError(f"header must be True or False, got {header!r}")
    if delimiter is not None and (delimiter not in DELIMITERS and (len(delimiter) != 1 or delimiter in '"\r\n')):
        raise InputError(f"delimiter must be a single character, got {delimiter!r}")
    detected_delimiter = delimiter or content.detect_delimiter()
    if detected_delimiter is None:
        raise InputError(
            f"{content.path} must be a table, got lines without comma, semicolon, tab, bar or blank: pass delimiter="
        )
    rows = [row for _, row in islice(content.iter_rows(detected_delimiter), _SAMPLE_LINES)]
    if not rows or len(rows[0]) < 2:
        remedy = _describe_comments(content) or ": pass another delimiter="
        raise InputError(f"{content.path} must have at least 2 columns (attributes and a class), got 1{remedy}")
    with_header = columns is None and sniff_header(rows, missing) if header is None else header
    if with_header and len(rows) == 1:
        raise InputError(
            f"{content.path} must contain rows, got only a header: pass header=False if this line is a row of data"
        )
    declared_names = _resolve_column_names(content, rows[0], with_header, columns)
    names = tuple(name or f"x{index}" for index, name in enumerate(declared_names))
    _check_unique_names(content.path, names, "rename one, or pass header=False")
    return TableLayout(detected_delimiter, with_header, names, tuple(bool(name) for name in declared_names))


def _resolve_column_names(content: Content, first: list[str], header: bool, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        return first if header else [""] * len(first)
    if len(columns) != len(first):
        raise InputError(f"columns must name the {len(first)} columns of {content.path}, got {len(columns)} names")
    return [str(column) for column in columns]


def _take_sample(text: Iterable[str]) -> list[str]:
    """Return the first lines of a text. The numbers of lines and characters are limited."""
    lines, size = [], 0
    for line in islice(text, _SAMPLE_LINES):
        lines.append(line)
        size += len(line)
        if size > _SAMPLE_CHARACTERS:
            break
    return lines


def read_cells_fast(data: bytes, layout: TableLayout) -> dict[str, Any] | None:
    """Read the cells with Arrow. Return text columns, keyed by name, or None if the file is irregular."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    quoted = b'"' in data
    delimiter = layout.delimiter
    if quoted and (delimiter == WHITESPACE or _BLANK_BEFORE_QUOTE.search(data)):
        return None
    data = re.sub(_BLANK_LINES if delimiter != "\t" else rb"\A\n+", b"", data)
    if delimiter == WHITESPACE:
        data, delimiter = b"\n".join(b"\t".join(line.split()) for line in data.splitlines()), "\t"
    elif quoted:
        # If a quote is never closed, the row added here becomes part of the quoted cell.
        data += ("\n" + delimiter.join([_END_OF_DATA] * len(layout.names))).encode()
    if not delimiter.isascii():
        return None
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=list(layout.names), skip_rows_after_names=int(layout.header), block_size=_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=quoted),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(layout.names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowException:
        return None
    if quoted:
        if not table.num_rows or table.column(0)[-1].as_py() != _END_OF_DATA:
            return None
        table = table.slice(0, table.num_rows - 1)
    return {name: table.column(name) for name in layout.names} if table.num_rows else None


def read_cells_slow(content: Content, layout: TableLayout) -> dict[str, Any]:
    """Read the cells row by row. Return text columns, keyed by name. Error messages contain the line number."""
    import pyarrow as pa

    width, rows, first = len(layout.names), [], 0
    for line, row in content.iter_rows(layout.delimiter):
        first = first or line
        if len(row) != width:
            width_source = "in the header" if layout.header else f"in line {first}"
            remedy = _describe_comments(content) or _describe_row_names(content, layout)
            counts = f"a row must have {width} cells as {width_source}, got {len(row)}"
            raise InputError(f"{content.path}, line {line}: {counts}{remedy}")
        rows.append(row)
    rows = rows[int(layout.header) :]
    if not rows:
        raise InputError(f"{content.path} must contain rows, got only a header: check that the file is complete")
    return {name: pa.chunked_array([list(cells)]) for name, cells in zip(layout.names, zip(*rows, strict=True), strict=True)}


def _describe_comments(content: Content) -> str:
    line, row = next(((line, text) for line, text in enumerate(content.iter_lines(), 1) if text.strip()), (0, ""))
    return f": remove comments such as line {line}, which begins with '#'" if row.lstrip().startswith("#") else ""


def _describe_row_names(content: Content, layout: TableLayout) -> str:
    """Suggest a remedy if every row has one more cell than the header."""
    rows = islice(content.iter_rows(layout.delimiter), 1, _SAMPLE_LINES)
    if not layout.header or any(len(row) != len(layout.names) + 1 for _, row in rows):
        return ""
    return ": the first column has no name, as R's write.table writes it; write the file with row.names=FALSE"


def read_cells(content: Content, layout: TableLayout) -> dict[str, Any]:
    """Read the cells. Return text columns, keyed by name."""
    cells = read_cells_fast(content.data, layout)
    return read_cells_slow(content, layout) if cells is None else cells


def find_line(row: int, content: Content, layout: TableLayout) -> int:
    """Find the line in which a row begins."""
    return next(islice(content.iter_rows(layout.delimiter), row + int(layout.header), None))[0]


class TextFormat(NamedTuple):
    """The delimiter, the decimal separator and the encoding of a text table."""

    delimiter: str
    decimal_comma: bool = False
    encoding: str = "utf-8"

    @classmethod
    def detect(cls, path: Path, missing: Sequence[str]) -> TextFormat:
        """Detect the format from the first rows of a file."""
        encoding = "utf-8" if path.suffix.lower() in _ARCHIVES else detect_encoding(path)
        delimiter = _detect_file_delimiter(path, encoding)
        sample = _read_with_pandas(path, delimiter, missing, encoding, nrows=_TYPED_SAMPLE_ROWS)
        return cls(delimiter, bool(_find_comma_columns(sample, delimiter)), encoding)

    def list_peculiarities(self, path: Path) -> tuple[str, ...]:
        """List the properties in which the format differs from the usual one.

        The usual format is UTF-8 with decimal points and columns separated by commas, or by tabs in .tsv and .tab files.

        >>> TextFormat(";", True, "latin-1").list_peculiarities(Path("a.csv"))
        ('Latin-1 encoding', 'semicolons between columns', 'decimal commas')
        """
        usual = "\t" if get_plain_path(path).suffix.lower() in (".tsv", ".tab") else ","
        encoding = [] if self.encoding == "utf-8" else [f"{ENCODING_NAMES[self.encoding]} encoding"]
        delimiter = [] if self.delimiter == usual else [f"{_DELIMITER_NAMES[self.delimiter]} between columns"]
        return (*encoding, *delimiter, *(["decimal commas"] if self.decimal_comma else []))


def read_json_lines(path: Path) -> pd.DataFrame:
    """Read a JSON Lines file with one object per line and column names as keys. Error messages contain the line number.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.jsonl"
    ...     _ = path.write_text('{"kind": "a", "score": 0.5}\\n{"kind": "b", "score": null}\\n')
    ...     read_json_lines(path)["score"].tolist()
    [0.5, nan]
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for number, line in enumerate(read_content(path).iter_lines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_build_unique_object)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: a line must be a JSON object: {error}") from None
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: a line must be a JSON object, got {type(row).__name__}")
        nested = next((name for name, value in row.items() if isinstance(value, (dict, list))), None)
        if nested is not None:
            raise InputError(f"{path}, line {number}: {nested!r} must be a single value, got several: flatten it")
        rows.append(row)
    return pd.DataFrame(rows)


def _build_unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice")
    return dict(pairs)


def read_typed_table(path: Path, missing: Sequence[str]) -> pd.DataFrame:
    """Read a text table with a header as a data frame. pandas infers the column types.

    Columns that contain numbers with decimal commas become numeric. Missing cells at the end of a row become missing values. If
    a row has too many cells, an error is raised.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("kind;score\\na;0,5\\nb;1\\n")
    ...     read_typed_table(path, [""])["score"].tolist()
    [0.5, 1.0]
    """
    return read_formatted_table(path, missing)[0]


def read_formatted_table(path: Path, missing: Sequence[str]) -> tuple[pd.DataFrame, TextFormat]:
    """Read a text table in the same way as `read_typed_table`, and also return its format."""
    encoding = "utf-8" if path.suffix.lower() in _ARCHIVES else detect_encoding(path)
    delimiter = _detect_file_delimiter(path, encoding)
    table = _read_with_pandas(path, delimiter, missing, encoding)
    comma_columns = _find_comma_columns(table, delimiter)
    table = table.assign(**{name: _parse_comma_decimals(table[name]) for name in comma_columns}) if comma_columns else table
    return table, TextFormat(delimiter, bool(comma_columns), encoding)


def copy_as_utf8(path: Path, encoding: str, target: Path) -> None:
    """Copy a text file and convert it to UTF-8."""
    source = open_unpacked(path)
    stream = source.open("rb") if isinstance(source, Path) else source
    with io.TextIOWrapper(stream, encoding=encoding) as text, target.open("w", encoding="utf-8") as copy:
        while block := text.read(_BLOCK):
            copy.write(block.removeprefix("\ufeff"))


def _detect_file_delimiter(path: Path, encoding: str) -> str:
    """Detect the delimiter of a file (default: comma). Check that the column names are unique."""
    if path.suffix.lower() in _ARCHIVES:
        return ","
    source = open_unpacked(path)
    stream = source.open("rb") if isinstance(source, Path) else source
    with io.TextIOWrapper(stream, encoding="utf-8-sig" if encoding == "utf-8" else encoding, errors="replace") as text:
        lines = _take_sample(text)
    delimiter = detect_delimiter(path, lines) or ","
    with suppress(csv.Error):  # later code reports errors with their line
        _, names = next(split_rows(lines, delimiter), (0, []))
        _check_unique_names(path, [name for name in names if name])
    return delimiter


def _check_unique_names(path: Path, names: Sequence[str], remedy: str = "rename one") -> None:
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InputError(f"columns of {path} must have different names, got {duplicate!r} twice: {remedy}")


def _read_with_pandas(
    path: Path, delimiter: str, missing: Sequence[str], encoding: str, nrows: int | None = None
) -> pd.DataFrame:
    import pandas as pd

    separator = r"\s+" if delimiter == WHITESPACE else delimiter
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    options: Any = {"keep_default_na": False, "na_values": list(missing), "encoding": codec, "nrows": nrows}
    try:
        table: pd.DataFrame = pd.read_csv(path, sep=separator, **options)
    except pd.errors.EmptyDataError:
        raise InputError(f"{path} must contain a table, got an empty file: check the path, or write the file again") from None
    except (UnicodeDecodeError, pd.errors.ParserError) as error:
        _check_row_lengths(read_content(path, remedy=SAVE_AS_UTF8), delimiter)
        raise InputError(f"{path} must be a text table: {str(error).splitlines()[0]}") from None
    return table


def _find_comma_columns(table: pd.DataFrame, delimiter: str) -> list[str]:
    """List the columns that contain only numbers, some of them with a decimal comma.

    If commas also separate columns, 1,234 may be a whole number. In this case, a column is listed only if at least one
    of its cells cannot be a whole number.
    """
    names = []
    for name in table.columns:
        column = table[name]
        if column.dtype.kind not in "iufb":
            cells = column.dropna().astype(str).str.strip()
            numbers = cells.str.fullmatch(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
            is_clear = delimiter != "," or not cells.str.fullmatch(r"[+-]?([1-9]\d{0,2}(,\d{3})*|\d+)").all()
            if len(cells) and numbers.all() and cells.str.contains(",").any() and is_clear:
                names.append(name)
    return names


def _parse_comma_decimals(column: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    return pd.to_numeric(column.str.strip().str.replace(",", ".", regex=False))


def _check_row_lengths(content: Content, delimiter: str) -> None:
    """Raise an error for the first row that has more cells than each of the first two rows."""
    widths: list[int] = []
    for line, row in content.iter_rows(delimiter):
        if len(widths) > 1 and len(row) > max(widths):
            rule = f"{content.path}, line {line}: a row must have at most {max(widths)} cells, got {len(row)}"
            raise InputError(f"{rule}: pass a CSV file, and put text with delimiters in quotes")
        widths.append(len(row))
