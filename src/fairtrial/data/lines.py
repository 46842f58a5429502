"""Read text files in blocks of lines. The line length is limited, and error messages contain the file name and the line
number."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, NamedTuple

from fairtrial.errors import InputError

Source = str | PathLike[str] | bytes | IO[Any]

LONGEST_LINE = 64 * 2**20
_BLOCK = 2**20
_PLAIN = "\n\r\t ,@%{}[]'\"\\?-+.0123456789abcdefghijklmnopqrstuvwxyz"


def make_line_error(name: str, line: int, message: str) -> InputError:
    """Build an error whose message contains the file name and the line number.

    >>> print(make_line_error("iris.dat", 7, "a row must have 5 values, got 4"))
    iris.dat, line 7: a row must have 5 values, got 4
    """
    return InputError(f"{name}, line {line}: {message}")


@dataclass(frozen=True)
class LineBlock:
    """Consecutive lines without their line endings. `first` is the number of the first line, counted from 1."""

    first: int
    lines: list[str]

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return enumerate(self.lines, self.first)

    def take_after(self, line: int) -> LineBlock:
        """Return the lines that follow the given line."""
        return LineBlock(line + 1, self.lines[line + 1 - self.first :])


_BYTES, _FILE = "the given bytes", "the given file"


def describe_source(source: Source) -> str:
    """Describe a source by its path or its type, for use in messages.

    >>> describe_source("folder/iris.dat"), describe_source(b"1,2")
    ('folder/iris.dat', 'the given bytes')
    """
    if isinstance(source, bytes):
        return _BYTES
    if isinstance(source, (str, PathLike)):
        return str(fspath(source))
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else _FILE


def get_source_stem(source: Source, default: str) -> str:
    """Return the name of the file without its suffix, or the default if there is no file name."""
    name = describe_source(source)
    return Path(name).stem if name not in (_BYTES, _FILE) else default or "data"


@contextmanager
def open_lines(source: Source, encoding: str = "utf-8", remedy: str | None = None) -> Iterator[Iterator[LineBlock]]:
    """Read lines in blocks from a path, bytes or an open file. An open file is not closed.

    `remedy` is the advice in the error message for a wrong encoding. By default, the message suggests another `encoding`.

    >>> with open_lines(b"one\\r\\ntwo") as blocks:
    ...     [line for block in blocks for line in block]
    [(1, 'one'), (2, 'two')]
    """
    codec = _check_encoding(encoding)
    codec = codec if remedy is None else codec._replace(remedy=remedy)
    if isinstance(source, (str, PathLike)):
        with _open_file(fspath(source)) as stream:
            yield _iter_blocks(stream, describe_source(source), codec)
    elif isinstance(source, bytes):
        yield _iter_blocks(io.BytesIO(source), describe_source(source), codec)
    elif hasattr(source, "read"):
        yield _iter_blocks(source, describe_source(source), codec)
    else:
        raise InputError(f"a file must be a path, bytes or an open file, got {type(source).__name__}")


def _open_file(path: str) -> IO[bytes]:
    if "\n" in path:
        raise InputError("path must name a file, got text of several lines: pass the content as bytes, text.encode()")
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} must be a file, got a folder: pass a file in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path!r} cannot be opened: {error}") from None


class _Codec(NamedTuple):
    """A text encoding, and the advice to give if a file has a different encoding."""

    name: str
    remedy: str


def _check_encoding(encoding: str) -> _Codec:
    try:
        name = codecs.lookup(encoding).name.removesuffix("-sig")
        contains_ascii = _PLAIN.encode(name) == _PLAIN.encode("ascii")
    except (LookupError, TypeError, ValueError):
        raise InputError(f"encoding must name a text encoding, got {encoding!r}: try 'utf-8' or 'latin-1'") from None
    if not contains_ascii:
        raise InputError(f"encoding must be an extension of ASCII, got {encoding!r}: convert the file to UTF-8 first")
    is_latin = name == "iso8859-1"
    return _Codec(name, "pass another encoding" if is_latin else "pass encoding='latin-1' if it is Western European text")


def _iter_blocks(stream: IO[Any], name: str, codec: _Codec) -> Iterator[LineBlock]:
    first, pending, length = 1, [b""], 0
    for piece in _iter_chunks(stream, name, codec.name):
        whole, end, rest = piece.rpartition(b"\n")
        if end:
            block = LineBlock(first, _decode_block(b"".join([*pending, whole]), name, first, codec).split("\n"))
            first, pending, length = first + len(block.lines), [], 0
            yield block
        pending.append(rest)
        length += len(rest)
        if length > LONGEST_LINE:
            raise make_line_error(
                name, first, f"a line must not be longer than {LONGEST_LINE // 2**20} MiB: is this a text file?"
            )
    if length:
        yield LineBlock(first, [_decode_block(b"".join(pending), name, first, codec)])


def _iter_chunks(stream: IO[Any], name: str, encoding: str) -> Iterator[bytes]:
    """Read a file in chunks and convert line endings to line feeds. No chunk ends between a carriage return and a line feed."""
    start = True
    while piece := _read_bytes(stream, _BLOCK, name, encoding):
        while piece.endswith(b"\r") and (more := _read_bytes(stream, 1, name, encoding)):
            piece += more
        if start and encoding == "utf-8":
            piece = piece.removeprefix(codecs.BOM_UTF8)
        start = False
        if b"\r" in piece:
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if piece:
            yield piece


def _read_bytes(stream: IO[Any], size: int, name: str, encoding: str) -> bytes:
    try:
        piece = stream.read(size)
        return piece.encode(encoding) if isinstance(piece, str) else bytes(piece)
    except InputError:
        raise
    except Exception as error:  # a member of a corrupted archive may raise any error
        raise InputError(f"{name} cannot be read: {error or type(error).__name__}") from None


def _decode_block(raw: bytes, name: str, first: int, codec: _Codec) -> str:
    if first == 1 and raw.startswith(b"SQLite format 3\0"):
        raise InputError(
            f"{name} is a SQLite file, not a text file: export a results file with fairtrial export FILE --csv CSV"
        )
    if b"\0" in raw:
        line = first + raw.count(b"\n", 0, raw.index(b"\0"))
        raise make_line_error(name, line, "a text file must not contain NUL bytes: save it as UTF-8 if it is UTF-16")
    try:
        return raw.decode(codec.name)
    except UnicodeDecodeError as error:
        line = first + raw.count(b"\n", 0, error.start)
        raise make_line_error(name, line, f"byte 0x{raw[error.start]:02x} is not {codec.name}: {codec.remedy}") from None
