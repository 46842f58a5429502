"""Rows of text as typed columns: block by block, each column at once, a single value only to say where it is wrong."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._registry import did_you_mean
from fairtrial.data.attributes import Attribute, unquoted
from fairtrial.data.dates import seconds
from fairtrial.data.lines import Block, fault
from fairtrial.errors import InputError, SuspectInputWarning

LEFT_OUT = "\0"
"""The value that a sparse row leaves out; no file can hold it."""

Cut = Callable[[str], list[str]]

_CELLS_AT_ONCE = 2**22
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Column:
    """A column that grows. A subclass turns a list of texts into an array; `read_value` is the rule for a single one.

    `missing` are the texts that stand for a missing value; where none is allowed (a class), the set is empty.
    """

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        self.attribute = attribute
        self.missing = missing
        self.plain = plain
        self._parts: list[npt.NDArray[Any]] = []

    def extend(self, texts: Sequence[str]) -> None:
        """More rows; ValueError if one is wrong."""
        raise NotImplementedError

    def read_value(self, text: str) -> float | int:
        """The value that a text stands for; ValueError with the reason if it stands for none."""
        raise NotImplementedError

    def latest(self) -> npt.NDArray[Any]:
        """The rows that came last."""
        return self._parts[-1]

    def finished(self) -> Any:
        """All rows as one array."""
        raise NotImplementedError

    def _said(self, text: str) -> str:
        """What the text says; in an ARFF file spaces and quotes inside a value call for quotes around it."""
        text = text.strip()
        said = unquoted(text)
        if not self.plain and said == text and (len(text.split()) > 1 or "'" in text or '"' in text):
            raise ValueError(f"a value with spaces or quotes inside must be in quotes, got {text!r}")
        if not text:
            raise ValueError("a value must not be empty: write ? where it is missing")
        return said


class _Numbers(Column):
    def extend(self, texts: Sequence[str]) -> None:
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            gaps = 0
        except ValueError:
            known = [text.strip() not in self.missing for text in texts]
            texts = [text if there else "nan" for text, there in zip(texts, known, strict=True)]
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            gaps = len(known) - sum(known)
        together = "".join(texts)  # Python reads 1_000 and the digits of all scripts as numbers
        if np.isfinite(values).sum() + gaps < len(values) or "_" in together or not together.isascii():
            raise ValueError
        self._parts.append(values)

    def read_value(self, text: str) -> float:
        if text.strip() in self.missing:
            return float("nan")
        said = self._said(text)
        if not _NUMBER.fullmatch(said.strip()) or not np.isfinite(float(said)):
            raise ValueError(f"a value of {self.attribute.name!r} must be a finite number, got {said!r}")
        return float(said)

    def finished(self) -> FloatArray:
        return np.concatenate(self._parts)


class _Lookup(Column):
    """A column whose texts are looked up: each different text is understood once."""

    kind: Any = np.int64

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._known: dict[str, float | int] = {}

    def extend(self, texts: Sequence[str]) -> None:
        try:
            values = np.fromiter(map(self._known.__getitem__, texts), self.kind, len(texts))
        except KeyError:
            for text in set(texts) - self._known.keys():
                self._known[text] = self.read_value(text)
            values = np.fromiter(map(self._known.__getitem__, texts), self.kind, len(texts))
        self._parts.append(values)


class _Nominal(_Lookup):
    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._codes = {category: code for code, category in enumerate(attribute.categories)}

    def read_value(self, text: str) -> int:
        if text == LEFT_OUT:
            return 0
        if text.strip() in self.missing:
            return -1
        said = self._said(text)
        if said not in self._codes:
            hint = did_you_mean(said, list(self._codes)[:100])
            raise ValueError(f"a value of {self.attribute.name!r} must be declared, got {said!r}: {hint}")
        return self._codes[said]

    def finished(self) -> Any:
        return _categorical(np.concatenate(self._parts), list(self.attribute.categories))


class _Texts(_Lookup):
    """Free text: the categories are the texts that occur, sorted."""

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._codes: dict[str, int] = {}

    def read_value(self, text: str) -> int:
        if text == LEFT_OUT:
            raise ValueError(f"a sparse row must not leave out the string attribute {self.attribute.name!r}")
        if text.strip() in self.missing:
            return -1
        return self._codes.setdefault(self._said(text), len(self._codes))

    def finished(self) -> Any:
        order = sorted(self._codes)
        place = np.argsort(np.array([self._codes[text] for text in order], dtype=np.intp))
        codes = np.concatenate(self._parts)
        return _categorical(np.where(codes < 0, -1, place[codes] if len(place) else -1), order)


class _Dates(_Lookup):
    kind = np.float64

    def read_value(self, text: str) -> float:
        if text == LEFT_OUT:
            return 0.0
        if text.strip() in self.missing:
            return float("nan")
        said = unquoted(text)
        try:
            return seconds(said, self.attribute.date)
        except (ValueError, OverflowError):
            told = f"a value of {self.attribute.name!r} must be a date like {self.attribute.date}, got {said!r}"
            raise ValueError(told) from None

    def finished(self) -> FloatArray:
        return np.concatenate(self._parts)


def _categorical(codes: npt.NDArray[np.int64], categories: list[str]) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(categories))


_COLUMNS = {"numeric": _Numbers, "nominal": _Nominal, "string": _Texts, "date": _Dates}


def read_rows(
    blocks: Iterable[Block],
    attributes: Sequence[Attribute],
    name: str,
    cut: Cut,
    *,
    missing: Iterable[str],
    whole: str,
    plain: bool,
) -> dict[str, Any]:
    """The columns by name: float64 arrays and pandas categoricals. `whole` names the attribute that has no missing values.

    `cut` parts a line into the texts of its values; an empty list is a line to pass over, ValueError says what is wrong. The
    first value outside its declared range is told.

    >>> table = read_rows([Block(1, ["1,?", "2,4"])], [Attribute("a", "numeric"), Attribute("b", "numeric")], "example",
    ...     lambda line: line.split(","), missing="?", whole="a", plain=True)
    >>> {name: column.tolist() for name, column in table.items()}
    {'a': [1.0, 2.0], 'b': [nan, 4.0]}
    """
    gaps = frozenset(missing)
    columns = [_COLUMNS[each.kind](each, gaps if each.name != whole else frozenset(), plain) for each in attributes]
    outside = _Outside(name)
    rows = 0
    for numbers, table in _cut_rows(blocks, len(attributes), name, cut):
        rows += len(table)
        for column, texts in zip(columns, zip(*table, strict=True), strict=True):
            try:
                column.extend(texts)
            except ValueError:
                _blame(column, texts, numbers, name, gaps)
        outside.look(columns, numbers)
    if not rows:
        raise InputError(f"{name} must hold at least 1 row behind @data, got 0")
    outside.warn()
    return {column.attribute.name: column.finished() for column in columns}


class _Outside:
    """Values outside the range that their attribute declares: how many there are, and the first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0
        self._first = ""

    def look(self, columns: Sequence[Column], numbers: list[int]) -> None:
        """Through the rows that came last, which stand in these lines."""
        found = []
        for column in columns:
            if column.attribute.range is not None:
                low, high = column.attribute.range
                values = column.latest()
                rows = np.flatnonzero((values < low) | (values > high))
                self._count += len(rows)
                if len(rows):
                    limits = f"[{low:.15g}, {high:.15g}]"
                    told = f"{column.attribute.name!r} is {values[rows[0]]:.15g}, outside its declared range {limits}"
                    found.append((int(rows[0]), told))
        if found and not self._first:
            row, told = min(found)
            self._first = f"{self._name}, line {numbers[row]}: {told}"

    def warn(self) -> None:
        if self._first:
            told = f"{self._first}; such values in the file: {self._count}; are they errors?"
            warnings.warn(told, SuspectInputWarning, stacklevel=5)


def _cut_rows(blocks: Iterable[Block], width: int, name: str, cut: Cut) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Some rows at a time, with the numbers of their lines."""
    for block in blocks:
        lines = iter(block)
        while taken := list(islice(lines, max(1, _CELLS_AT_ONCE // width))):
            numbers, table = [], []
            for number, line in taken:
                try:
                    texts = cut(line)
                except ValueError as error:
                    raise fault(name, number, str(error)) from None
                if texts:
                    numbers.append(number)
                    table.append(texts)
            if any(len(texts) != width for texts in table):
                row = next(row for row, texts in enumerate(table) if len(texts) != width)
                raise fault(
                    name, numbers[row], f"a row must hold {width} values, one for each attribute, got {len(table[row])}"
                )
            if table:
                yield numbers, table


def _blame(column: Column, texts: Sequence[str], numbers: list[int], name: str, gaps: frozenset[str]) -> None:
    """Raise for the first wrong value; values that only the quick way cannot read are taken one by one."""
    for number, text in zip(numbers, texts, strict=True):
        try:
            if text.strip() in gaps and not column.missing:
                raise ValueError(f"the class {column.attribute.name!r} must be known in every row: drop this one")
            column.read_value(text)
        except ValueError as error:
            raise fault(name, number, str(error)) from None
    column._parts.append(np.array([column.read_value(text) for text in texts]))
