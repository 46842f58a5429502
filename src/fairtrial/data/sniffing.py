"""How a text table is laid out: which character parts its cells, and whether its first line names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

WHITESPACE = " "
DELIMITERS = ("\t", ";", "|", ",", WHITESPACE)
MISSING = ("", "?", "NA", "NaN", "nan", "null", "N/A")

_BLANKS = " \t\n\r\x0b\x0c"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?)", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r'"(?:[^"]|"")*"(?!\S)|\S+', re.ASCII)
_END = "\0end"
_ENOUGH_ROWS = 10


def is_number(cell: str) -> bool:
    """Whether a cell is a number as programs write it: no decimal comma, no thousands.

    >>> [is_number(each) for each in ("-1.5e3", ".5", "1,5", "x", "1_000")]
    [True, True, False, False, False]
    """
    return _NUMBER.fullmatch(cell) is not None


def with_point(cell: str, decimal: str) -> str:
    """A cell with a decimal point where it has a decimal comma; a point beside decimal commas makes it no number.

    >>> with_point("1,5", ","), with_point("1.5", "."), is_number(with_point("1.234", ","))
    ('1.5', '1.5', False)
    """
    return cell if decimal == "." else cell.replace(".", "..").replace(decimal, ".", 1)


def split_rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text table, each with the number of its first line; blank lines are no rows.

    A quoted cell may hold delimiters and line ends. Raises `csv.Error` where a quote is never closed or a cell is too long.

    >>> list(split_rows(['a,"b,c"', "", "1,2"], ","))
    [(1, ['a', 'b,c']), (3, ['1', '2'])]
    """
    if delimiter == WHITESPACE:
        for number, line in enumerate(lines, 1):
            words = _WORD.findall(line)
            if words:
                yield number, [_unquoted(word) for word in words]
        return
    reader = csv.reader(_with_end(lines), delimiter=delimiter, skipinitialspace=True)
    first = 1
    for row in reader:
        if row == [_END]:
            return
        if row and _END in row[-1]:
            raise csv.Error(f"line {first} opens a quote that is never closed")
        if len(row) > 1 or (row and row[0].strip(_BLANKS)):
            yield first, [cell.strip(_BLANKS) for cell in row]
        first = reader.line_num + 1


def _with_end(lines: Iterable[str]) -> Iterator[str]:
    yield from lines
    yield _END


def _unquoted(word: str) -> str:
    quoted = len(word) > 1 and word[0] == word[-1] == '"'
    return (word[1:-1].replace('""', '"') if quoted else word).strip(_BLANKS)


def sniff_delimiter(lines: Sequence[str]) -> str | None:
    """The delimiter that parts most lines into the same number of cells, at least two; None if there is none.

    Of several that do, the one whose cells hold fewest of the other delimiters; then tab, semicolon, bar, comma, blanks.

    >>> sniff_delimiter(["a;b;c", "1,5;2;x"]), sniff_delimiter(["1  2 3", "4 5  6"]), sniff_delimiter(["word"])
    (';', ' ', None)
    """
    found = [(_agreement(lines, delimiter), -place, delimiter) for place, delimiter in enumerate(DELIMITERS)]
    best = max(found)
    return best[2] if best[0][0] > 0 else None


def _agreement(lines: Sequence[str], delimiter: str) -> tuple[float, float]:
    """The share of rows with the commonest number of cells, and the share of cells that need no other delimiter."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # the sample may end within quotes, or the fault comes later with its line
        for _, row in split_rows(lines, delimiter):
            rows.append(row)
    if not rows:
        return 0.0, 0.0
    cells, count = Counter(len(row) for row in rows).most_common(1)[0]
    if cells < 2:
        return 0.0, 0.0
    others = [each for each in DELIMITERS if each not in (delimiter, WHITESPACE)]
    flat = [cell for row in rows for cell in row]
    return count / len(rows), sum(not any(each in cell for each in others) for cell in flat) / len(flat)


def sniff_header(rows: Sequence[Sequence[str]], missing: frozenset[str] = frozenset(MISSING)) -> bool:
    """Whether the first row names the columns.

    It does if it holds no number but words above columns of numbers. Where all columns hold words it does if each name is new:
    given once, and not a value of its column. Names that count the columns from 0, as pandas does, pass beside a new word.
    A name that means a missing value elsewhere, such as NA, passes only beside a word above numbers. Numbers may have decimal
    commas here, whether or not they will be read as numbers.

    >>> sniff_header([["size", "class"], ["1", "a"]]), sniff_header([["1", "a"], ["2", "b"]])
    (True, False)
    """
    first, rest = rows[0], rows[1:]
    words = [place for place, cell in enumerate(first) if cell and cell not in missing]
    numbers = any(map(_like_number, first))
    if not numbers and any(_numbers_below(rest, place, missing) for place in words):
        return True
    if any(cell and cell in missing for cell in first):
        return False
    if numbers:
        return _counts_columns(first) and len(rest) >= _ENOUGH_ROWS and _new_names(first, rest)
    return not rest or ("" not in first and _new_names(first, rest))


def _counts_columns(first: Sequence[str]) -> bool:
    """Whether the numbers among the names count the columns from 0; a column of row numbers may stand before them."""
    names = first[1:] if first[0] == "" else first
    return sum(map(is_number, names)) >= 3 and all(cell == str(place) for place, cell in enumerate(names) if is_number(cell))


def _numbers_below(rows: Sequence[Sequence[str]], place: int, missing: frozenset[str]) -> bool:
    cells = [row[place] for row in rows if place < len(row) and row[place] not in missing]
    return bool(cells) and all(map(_like_number, cells))


def _like_number(cell: str) -> bool:
    return is_number(cell.replace(",", ".", 1))


def _new_names(first: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    words = [(place, cell) for place, cell in enumerate(first) if cell and not is_number(cell)]
    distinct = len(set(first)) == len(first)
    return bool(words) and distinct and not any(row[place : place + 1] == [cell] for row in rest for place, cell in words)
