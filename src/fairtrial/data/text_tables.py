"""Text tables as columns of text: what a file holds, how it is laid out, its cells.

A quick pass by Arrow reads what is in order. Whatever it stumbles over goes through a slow pass, which either reads it or says
what is wrong in which line.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from fairtrial.data.lines import opened
from fairtrial.data.sniffing import DELIMITERS, WHITESPACE, sniff_delimiter, sniff_header, split_rows
from fairtrial.errors import InputError

_BLOCK = 1 << 22
_SAMPLE_LINES = 200
_SAMPLE_CHARACTERS = 1 << 20
_BLANK_BEFORE_QUOTE = re.compile(rb'(?:^|[\r\n,;|\t])[ ]+"')
_BLANK_LINES = rb"\A(?:[ \t\x0b\x0c]*\n)+"
_END = "\x01end\x01"


def stem(path: Path) -> str:
    """The name of a file without folder and suffixes of reading: `a/b.csv.gz` gives b."""
    plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    return plain.stem


def unpacked(path: Path) -> Path | IO[bytes]:
    """A file as it is, or opened to be unpacked if it ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path
    try:
        return cast("IO[bytes]", gzip.open(path, "rb"))
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror or error}") from None


def contents(path: Path, encoding: str) -> Content:
    """The text of a file; refused are NUL bytes, other encodings, endless lines and empty files."""
    source = unpacked(path)
    with opened(source, encoding) as blocks:
        text = "\n".join("\n".join(block.lines) for block in blocks)
    if not isinstance(source, Path):
        source.close()
    if not text.strip():
        raise InputError(f"{path} must hold a table, got an empty file")
    return Content(path, text.encode())


@dataclass(frozen=True, eq=False)
class Content:
    """The text of a file as UTF-8 with plain line ends."""

    path: Path
    data: bytes

    def lines(self) -> io.TextIOWrapper:
        """The lines one by one, with their ends."""
        return io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8", newline="")

    def rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The rows by the slow way; what cannot be a row is named with its line."""
        rows = split_rows(self.lines(), delimiter)
        line = 0
        while True:
            try:
                line, row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                told = str(error) if str(error).startswith("line") else f"line {line + 1} or later: {error}"
                raise InputError(f"{self.path}, {told}") from None
            yield line, row


@dataclass(frozen=True)
class Layout:
    """What parts the cells, whether the first row names the columns, their names, and which of these were given."""

    delimiter: str
    header: bool
    names: tuple[str, ...]
    named: tuple[bool, ...]


def find_layout(
    content: Content, delimiter: str | None, header: bool | None, columns: Sequence[str] | None, missing: frozenset[str]
) -> Layout:
    """The layout as declared, and as inferred from the first rows where it is not."""
    if header is not None and not isinstance(header, bool):
        raise InputError(f"header must be True or False, got {header!r}")
    if delimiter is not None and (delimiter not in DELIMITERS and (len(delimiter) != 1 or delimiter in '"\r\n')):
        raise InputError(f"delimiter must be a single character, got {delimiter!r}")
    found = delimiter or sniff_delimiter(_sample(content))
    if found is None:
        raise InputError(
            f"{content.path} must be a table, got lines without comma, semicolon, tab, bar or blank: pass delimiter="
        )
    rows = [row for _, row in islice(content.rows(found), _SAMPLE_LINES)]
    if not rows or len(rows[0]) < 2:
        why = _comments(content) or ": is the delimiter right?"
        raise InputError(f"{content.path} must have at least 2 columns, attributes and a class, got 1{why}")
    with_header = columns is None and sniff_header(rows, missing) if header is None else header
    if with_header and len(rows) == 1:
        raise InputError(f"{content.path} must hold rows, got a header line only: pass header=False if this is a row")
    given = _given_names(content, rows[0], with_header, columns)
    names = tuple(each or f"x{place}" for place, each in enumerate(given))
    if len(set(names)) < len(names):
        twice = next(each for each in names if names.count(each) > 1)
        raise InputError(
            f"{content.path} must name its columns differently, got {twice!r} twice: rename it or pass header=False"
        )
    return Layout(found, with_header, names, tuple(bool(each) for each in given))


def _given_names(content: Content, first: list[str], header: bool, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        return first if header else [""] * len(first)
    if len(columns) != len(first):
        raise InputError(f"columns must name the {len(first)} columns of {content.path}, got {len(columns)} names")
    return [str(each) for each in columns]


def _sample(content: Content) -> list[str]:
    lines, size = [], 0
    for line in islice(content.lines(), _SAMPLE_LINES):
        lines.append(line)
        size += len(line)
        if size > _SAMPLE_CHARACTERS:
            break
    return lines


def quick_pass(data: bytes, layout: Layout) -> dict[str, Any] | None:
    """Columns of text by name; None if anything at all is unusual."""
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
        # A quote that is never closed would swallow this last row.
        data += ("\n" + delimiter.join([_END] * len(layout.names))).encode()
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
        if not table.num_rows or table.column(0)[-1].as_py() != _END:
            return None
        table = table.slice(0, table.num_rows - 1)
    return {each: table.column(each) for each in layout.names} if table.num_rows else None


def slow_pass(content: Content, layout: Layout) -> dict[str, Any]:
    """The same by the slow way, or what is wrong in which line."""
    import pyarrow as pa

    width, rows, first = len(layout.names), [], 0
    for line, row in content.rows(layout.delimiter):
        first = first or line
        if len(row) != width:
            what = "named" if layout.header else f"in line {first}"
            why = _comments(content) or _row_names(content, layout)
            raise InputError(f"{content.path}, line {line}: {len(row)} cells where {width} are {what}{why}")
        rows.append(row)
    rows = rows[int(layout.header) :]
    if not rows:
        raise InputError(f"{content.path} must hold rows, got a header line only")
    return {each: pa.chunked_array([list(cells)]) for each, cells in zip(layout.names, zip(*rows, strict=True), strict=True)}


def _comments(content: Content) -> str:
    line, row = next(((line, text) for line, text in enumerate(content.lines(), 1) if text.strip()), (0, ""))
    return f": line {line} begins with '#': take out comments" if row.lstrip().startswith("#") else ""


def _row_names(content: Content, layout: Layout) -> str:
    """What to say where every row has one cell more than there are names."""
    rows = islice(content.rows(layout.delimiter), 1, _SAMPLE_LINES)
    if not layout.header or any(len(row) != len(layout.names) + 1 for _, row in rows):
        return ""
    return ": the rows have an unnamed first column, as R's write.table makes: write with row.names=FALSE"


def cells_of(content: Content, layout: Layout) -> dict[str, Any]:
    """Columns of text by name, the quick way if it can be."""
    found = quick_pass(content.data, layout)
    return slow_pass(content, layout) if found is None else found


def line_of(row: int, content: Content, layout: Layout) -> int:
    """The line in which a row begins."""
    return next(islice(content.rows(layout.delimiter), row + int(layout.header), None))[0]
