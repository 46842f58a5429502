"""Read dense and sparse ARFF files, the format of WEKA."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fairtrial.data.dataset import Dataset
from fairtrial.data.declared import LEFT_OUT, QUOTED, Attribute, FileFormat, read_declared
from fairtrial.data.faults import warn_if_known
from fairtrial.data.lines import Source

MAX_CELLS = 2**29
"""Maximum number of values after sparse rows are expanded (4 GiB)."""

_SPECIAL = re.compile(r"[\t'\"%{}]")
_VALUE = re.compile(rf"[ \t]*+({QUOTED}|[^,\t'\"%{{}}]*+)(?:[ \t]*+(,)|[ ]*+(\t)[ \t]*+|[ \t]*+(?:%.*)?$)", re.DOTALL)
_ITEM = re.compile(rf"\s*+([0-9]{{1,9}})\s++({QUOTED}|[^,'\"%{{}}\s]++)\s*+([,}}])")
_WEIGHT = re.compile(r",\s*\{[^{}]*\}\s*(?:%.*)?$")


class _RowSplitter:
    """A callable that splits a row into values."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self._default_row = ["0" if attribute.kind == "numeric" else LEFT_OUT for attribute in attributes]
        self._sparse_rows_left = MAX_CELLS // len(attributes)

    def __call__(self, line: str) -> list[str]:
        if not _SPECIAL.search(line):
            return line.split(",") if line and not line.isspace() else []
        text = line.strip()
        if not text or text[0] == "%":
            return []
        if _WEIGHT.search(text) and (text[0] != "{" or text.count("{") > 1):
            raise ValueError("a row must not have a weight {...}: remove the weight, or make it an attribute")
        return self._split_sparse(text) if text[0] == "{" else _split_dense(text)

    def _split_sparse(self, text: str) -> list[str]:
        self._sparse_rows_left -= 1
        if self._sparse_rows_left < 0:
            raise ValueError(f"sparse rows must not expand to more than {MAX_CELLS:,} values: leave out rows or attributes")
        row, position, end = list(self._default_row), 1, ","
        seen = set()
        if empty := re.compile(r"\s*\}").match(text, 1):
            position, end = empty.end(), "}"
        while end == ",":
            match = _ITEM.match(text, position)
            if match is None:
                raise ValueError(f"a sparse row must read {{index value, ...}}, got {text[position : position + 40]!r}")
            index = int(match[1])
            if index >= len(row) or index in seen:
                raise ValueError(f"an index of a sparse row must be below {len(row)} and occur once, got {index}")
            seen.add(index)
            row[index], position, end = match[2], match.end(), match[3]
        rest = text[position:].strip()
        if rest and rest[0] != "%":
            raise ValueError(f"nothing may follow a sparse row, got {rest[:40]!r}")
        return row


def _split_dense(text: str) -> list[str]:
    values, position = [], 0
    while True:
        match = _VALUE.match(text, position)
        if match is None:
            raise ValueError(f"a value with commas, quotes or braces must be quoted, got {text[position : position + 40]!r}")
        values.append(match[1])
        position = match.end()
        if not match[2] and not match[3]:
            return values


ARFF = FileFormat(lists={}, missing=("?",), plain=False, make_splitter=_RowSplitter)


def read_arff(source: Source, target: str | None = None, *, name: str | None = None, encoding: str = "utf-8") -> Dataset:
    """Read a data set from a WEKA ARFF file with dense or sparse rows.

    Numeric, nominal, string and date attributes are supported. String attributes become nominal, and dates become seconds since
    1970 (UTC). A value that is omitted from a sparse row is 0 or, for a nominal attribute, the first declared value. Files with
    row weights or relational attributes are rejected.

    Parameters
    ----------
    source : path, bytes or open file
        Path or content of an ARFF file, or an open file.
    target : str, optional
        Class attribute. Default: the last attribute.
    name : str, optional
        Name of the data set. Default: the file name, or the name of the relation if there is no file name.
    encoding : str, default "utf-8"
        Text encoding of the file.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If the file cannot be read. The message contains the line number.

    Examples
    --------
    >>> weather = read_arff(b'''@RELATION weather
    ... @ATTRIBUTE outlook {sunny, 'light rain'}   % two of them
    ... @ATTRIBUTE humidity NUMERIC
    ... @ATTRIBUTE play {yes, no}
    ... @DATA
    ... sunny, 85, no
    ... 'light rain', ?, yes
    ... {1 70, 2 no}
    ... ''')
    >>> weather.X["outlook"].tolist(), weather.X["humidity"].tolist(), weather.y.tolist()
    (['sunny', 'light rain', 'sunny'], [85.0, nan, 70.0], ['no', 'yes', 'no'])
    """
    return warn_if_known(read_declared(source, ARFF, target=target, name=name, encoding=encoding))
