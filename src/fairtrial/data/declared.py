"""Read files that declare their attributes before the rows. The ARFF and KEEL readers share this code."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, join_names
from fairtrial.data import dates, lines
from fairtrial.data.dataset import Dataset
from fairtrial.data.dates import DEFAULT_FORMAT
from fairtrial.data.lines import LineBlock, Source
from fairtrial.errors import InputError, SuspectInputWarning

Kind = Literal["numeric", "nominal", "string", "date"]


ErrorFactory = Callable[[str], InputError]


QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""


_NAME = re.compile(rf"\s*+({QUOTED}|[^\s{{}}'\"][^\s{{}}]*+)\s*+(.*)", re.DOTALL)


_RANGE = re.compile(r"\[\s*([^\[\],\s]+)\s*,\s*([^\[\],\s]+)\s*\]")


_VALUE = re.compile(rf"\s*+(?:({QUOTED})\s*+|([^,'\"{{}}%]*+))(,|\}})", re.DOTALL)


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}


_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """An attribute declared in the header of a file.

    `categories` contains the values of a nominal attribute. `date` is the Python format of a date attribute.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    date: str = ""


def strip_quotes(text: str) -> str:
    """Remove quotes and escape sequences from a value.

    >>> print(strip_quotes(" 'it\\\\'s' "), strip_quotes("plain "))
    it's plain
    """
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(lambda match: _CONTROL.get(match[1], match[1]), text[1:-1])
    return text


def read_attribute(text: str, make_error: ErrorFactory, *, plain: bool = False) -> Attribute:
    """Parse the text after `@attribute`.

    If `plain` is true, as for KEEL files, quotes have no special meaning in lists of values.

    >>> read_attribute("'sepal length' real [4.3, 7.9]", ValueError)
    Attribute(name='sepal length', kind='numeric', categories=(), range=(4.3, 7.9), date='')
    >>> read_attribute("class {a, 'b c'}", ValueError).categories
    ('a', 'b c')
    """
    match = _NAME.fullmatch(text)
    name = strip_quotes(match[1]) if match else ""
    if match is None or not name:
        raise make_error(f"@attribute must give a name and a type, got {_truncate_text(text)}")
    rest = match[2].strip()
    if rest.startswith("{"):
        return Attribute(name, "nominal", _parse_categories(name, rest, make_error, plain))
    type_name = re.match(r"[A-Za-z]*", rest)[0]  # type: ignore[index]
    trailing = rest[len(type_name) :].strip()
    if not plain:
        trailing = re.sub(r"^%.*", "", trailing, flags=re.DOTALL)
    return _build_attribute(name, type_name.lower(), trailing, make_error)


def _build_attribute(name: str, type_name: str, trailing: str, make_error: ErrorFactory) -> Attribute:
    if type_name in _NUMERIC:
        return Attribute(name, "numeric", range=_parse_range(name, trailing, make_error) if trailing else None)
    if type_name == "date":
        return Attribute(name, "date", date=dates.convert_date_format(strip_quotes(trailing) or DEFAULT_FORMAT, make_error))
    if type_name == "string" and not trailing:
        return Attribute(name, "string")
    if type_name == "relational":
        raise make_error(f"attribute {name!r} must not be relational: flatten the file first")
    raise make_error(
        f"attribute {name!r} must be numeric, real, integer, string, date or a list {{...}}, got "
        f"{_truncate_text(type_name + ' ' + trailing)}"
    )


def _parse_range(name: str, text: str, make_error: ErrorFactory) -> tuple[float, float]:
    match = _RANGE.fullmatch(text)
    try:
        low, high = (float(match[1]), float(match[2])) if match else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if not low <= high:
        raise make_error(
            f"the range of attribute {name!r} must be two ascending numbers [low, high], got {_truncate_text(text)}"
        )
    return low, high


def _parse_categories(name: str, text: str, make_error: ErrorFactory, plain: bool) -> tuple[str, ...]:
    values = _split_plain_values(text, name, make_error) if plain else _split_quoted_values(text, name, make_error)
    if values == [""]:
        raise make_error(f"nominal attribute {name!r} must list at least 1 value, got {{}}")
    if "" in values and plain:
        raise make_error(f"the values of attribute {name!r} must not be empty: remove a surplus comma")
    if plain:  # even KEEL's own files repeat values
        return tuple(dict.fromkeys(values))
    if len(set(values)) < len(values):
        duplicate = next(value for value in values if values.count(value) > 1)
        raise make_error(f"the values of attribute {name!r} must differ, got {duplicate!r} twice")
    return tuple(values)


def _split_plain_values(text: str, name: str, make_error: ErrorFactory) -> list[str]:
    if not text.endswith("}") or "}" in text[:-1]:
        raise make_error(f"the values of attribute {name!r} must be enclosed by {{ and }}, got {_truncate_text(text)}")
    return [strip_quotes(value) for value in text[1:-1].split(",")]


def _split_quoted_values(text: str, name: str, make_error: ErrorFactory) -> list[str]:
    values: list[str] = []
    position, end = 1, ","
    while end == ",":
        match = _VALUE.match(text, position)
        if match is None:
            raise make_error(
                f"the values of attribute {name!r} must be enclosed by {{ and }}, and quoted if they contain commas or quotes"
            )
        bare = (match[2] or "").strip()
        if match[1] is None and (len(bare.split()) > 1 or (not bare and (values or match[3] == ","))):
            raise make_error(
                f"the values of attribute {name!r} must be quoted if empty or with spaces, got {_truncate_text(bare)}"
            )
        values.append(strip_quotes(match[1] or bare))
        position, end = match.end(), match[3]
    rest = text[position:].strip()
    if rest and not rest.startswith("%"):
        raise make_error(f"nothing may follow the values of attribute {name!r}, got {_truncate_text(rest)}")
    return values


def check_unique_name(attributes: list[Attribute], attribute: Attribute, make_error: ErrorFactory) -> None:
    """Reject a second attribute with the same name."""
    if any(declared.name == attribute.name for declared in attributes):
        raise make_error(f"attributes must have different names, got {attribute.name!r} twice")


def _truncate_text(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 60 else text[:57] + "...")


LEFT_OUT = "\0"
"""Marker for a value that is omitted from a sparse row. This marker cannot occur in a file."""


LineSplitter = Callable[[str], list[str]]


_CELLS_AT_ONCE = 2**22


_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class ColumnBuilder:
    """Base class of objects that build a column from strings.

    A subclass converts lists of strings in `extend`, and single strings in `read_value`. `missing` contains the strings that
    represent a missing value. It is empty for the class column, which must not have missing values.
    """

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        self.attribute = attribute
        self.missing = missing
        self.plain = plain
        self._chunks: list[npt.NDArray[Any]] = []

    def extend(self, texts: Sequence[str]) -> None:
        """Convert strings and append the values. Raise ValueError if a string is invalid."""
        raise NotImplementedError

    def read_value(self, text: str) -> float | int:
        """Convert a string to a value. Raise ValueError with the reason if the string is invalid."""
        raise NotImplementedError

    def get_latest(self) -> npt.NDArray[Any]:
        """Return the values that the last call of `extend` appended."""
        return self._chunks[-1]

    def finish(self) -> Any:
        """Return the whole column as a single array."""
        raise NotImplementedError

    def _parse_text(self, text: str) -> str:
        """Remove quotes. In an ARFF file, raise an error if an unquoted value contains spaces or quotes."""
        text = text.strip()
        value = strip_quotes(text)
        if not self.plain and value == text and (len(text.split()) > 1 or "'" in text or '"' in text):
            raise ValueError(f"a value with spaces or quotes must be quoted, got {text!r}")
        if not text:
            raise ValueError("a value must not be empty: write ? for a missing value")
        return value


class _NumericBuilder(ColumnBuilder):
    def extend(self, texts: Sequence[str]) -> None:
        try:
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            n_missing = 0
        except ValueError:
            present = [text.strip() not in self.missing for text in texts]
            texts = [text if is_present else "nan" for text, is_present in zip(texts, present, strict=True)]
            values = np.fromiter(map(float, texts), np.float64, len(texts))
            n_missing = len(present) - sum(present)
        together = "".join(texts)  # float() also accepts 1_000 and the digits of all scripts
        if np.isfinite(values).sum() + n_missing < len(values) or "_" in together or not together.isascii():
            raise ValueError
        self._chunks.append(values)

    def read_value(self, text: str) -> float:
        if text.strip() in self.missing:
            return float("nan")
        value = self._parse_text(text)
        if not _NUMBER.fullmatch(value.strip()) or not np.isfinite(float(value)):
            raise ValueError(f"a value of {self.attribute.name!r} must be a finite number, got {value!r}")
        return float(value)

    def finish(self) -> FloatArray:
        return np.concatenate(self._chunks)


class _LookupBuilder(ColumnBuilder):
    """A column builder that converts each distinct string only once."""

    kind: Any = np.int64

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._values_by_text: dict[str, float | int] = {}

    def extend(self, texts: Sequence[str]) -> None:
        try:
            values = np.fromiter(map(self._values_by_text.__getitem__, texts), self.kind, len(texts))
        except KeyError:
            for text in set(texts) - self._values_by_text.keys():
                self._values_by_text[text] = self.read_value(text)
            values = np.fromiter(map(self._values_by_text.__getitem__, texts), self.kind, len(texts))
        self._chunks.append(values)


class _NominalBuilder(_LookupBuilder):
    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._codes = {category: code for code, category in enumerate(attribute.categories)}

    def read_value(self, text: str) -> int:
        if text == LEFT_OUT:
            return 0
        if text.strip() in self.missing:
            return -1
        category = self._parse_text(text)
        if category not in self._codes:
            hint = suggest_name(category, list(self._codes)[:100])
            raise ValueError(f"a value of {self.attribute.name!r} must be declared, got {category!r}: {hint}")
        return self._codes[category]

    def finish(self) -> Any:
        return _build_categorical(np.concatenate(self._chunks), list(self.attribute.categories))


class _StringBuilder(_LookupBuilder):
    """A column builder for free text. The categories are the distinct strings in sorted order."""

    def __init__(self, attribute: Attribute, missing: frozenset[str], plain: bool) -> None:
        super().__init__(attribute, missing, plain)
        self._codes: dict[str, int] = {}

    def read_value(self, text: str) -> int:
        if text == LEFT_OUT:
            raise ValueError(f"a sparse row must not leave out the string attribute {self.attribute.name!r}")
        if text.strip() in self.missing:
            return -1
        return self._codes.setdefault(self._parse_text(text), len(self._codes))

    def finish(self) -> Any:
        order = sorted(self._codes)
        ranks = np.argsort(np.array([self._codes[text] for text in order], dtype=np.intp))
        codes = np.concatenate(self._chunks)
        return _build_categorical(np.where(codes < 0, -1, ranks[codes] if len(ranks) else -1), order)


class _DateBuilder(_LookupBuilder):
    kind = np.float64

    def read_value(self, text: str) -> float:
        if text == LEFT_OUT:
            return 0.0
        if text.strip() in self.missing:
            return float("nan")
        value = strip_quotes(text)
        try:
            return dates.parse_date(value, self.attribute.date)
        except (ValueError, OverflowError):
            message = f"a value of {self.attribute.name!r} must be a date like {self.attribute.date}, got {value!r}"
            raise ValueError(message) from None

    def finish(self) -> FloatArray:
        return np.concatenate(self._chunks)


def _build_categorical(codes: npt.NDArray[np.int64], categories: list[str]) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(categories))


_BUILDERS = {"numeric": _NumericBuilder, "nominal": _NominalBuilder, "string": _StringBuilder, "date": _DateBuilder}


def read_rows(
    blocks: Iterable[LineBlock],
    attributes: Sequence[Attribute],
    name: str,
    split_line: LineSplitter,
    *,
    missing: Iterable[str],
    complete_column: str,
    plain: bool,
) -> dict[str, Any]:
    """Read rows. Return float64 arrays and pandas categoricals, keyed by column name.

    `split_line` splits a line into strings, one per value. It returns an empty list for a line that must be skipped, and raises
    ValueError for an invalid line. The column `complete_column` must not have missing values. A warning is issued if a column
    contains values outside its declared range.

    >>> table = read_rows([LineBlock(1, ["1,?", "2,4"])], [Attribute("a", "numeric"), Attribute("b", "numeric")], "example",
    ...     lambda line: line.split(","), missing="?", complete_column="a", plain=True)
    >>> {name: column.tolist() for name, column in table.items()}
    {'a': [1.0, 2.0], 'b': [nan, 4.0]}
    """
    missing_markers = frozenset(missing)
    columns = [
        _BUILDERS[attribute.kind](attribute, missing_markers if attribute.name != complete_column else frozenset(), plain)
        for attribute in attributes
    ]
    range_checker = _RangeChecker(name)
    rows = 0
    for numbers, table in _cut_rows(blocks, len(attributes), name, split_line):
        rows += len(table)
        for column, texts in zip(columns, zip(*table, strict=True), strict=True):
            try:
                column.extend(texts)
            except ValueError:
                _read_one_by_one(column, texts, numbers, name, missing_markers)
        range_checker.check_rows(columns, numbers)
    if not rows:
        raise InputError(f"{name} must contain at least 1 row after @data, got 0")
    range_checker.warn()
    return {column.attribute.name: column.finish() for column in columns}


class _RangeChecker:
    """Counts values outside their declared range, and describes the first such value."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0
        self._first = ""

    def check_rows(self, columns: Sequence[ColumnBuilder], numbers: list[int]) -> None:
        """Check the rows that were read last. `numbers` contains their line numbers."""
        violations = []
        for column in columns:
            if column.attribute.range is not None:
                low, high = column.attribute.range
                values = column.get_latest()
                rows = np.flatnonzero((values < low) | (values > high))
                self._count += len(rows)
                if len(rows):
                    limits = f"[{low:.15g}, {high:.15g}]"
                    message = f"{column.attribute.name!r} is {values[rows[0]]:.15g}, outside its declared range {limits}"
                    violations.append((int(rows[0]), message))
        if violations and not self._first:
            row, message = min(violations)
            self._first = f"{self._name}, line {numbers[row]}: {message}"

    def warn(self) -> None:
        if self._first:
            message = f"{self._first} ({format_count(self._count, 'such value')} in the file): check whether this is an error"
            warnings.warn(message, SuspectInputWarning, stacklevel=5)


def _cut_rows(
    blocks: Iterable[LineBlock], width: int, name: str, split_line: LineSplitter
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield batches of rows with their line numbers."""
    for block in blocks:
        numbered_lines = iter(block)
        while batch := list(islice(numbered_lines, max(1, _CELLS_AT_ONCE // width))):
            numbers, table = [], []
            for number, line in batch:
                try:
                    texts = split_line(line)
                except ValueError as error:
                    raise lines.make_line_error(name, number, str(error)) from None
                if texts:
                    numbers.append(number)
                    table.append(texts)
            if any(len(texts) != width for texts in table):
                row = next(row for row, texts in enumerate(table) if len(texts) != width)
                raise lines.make_line_error(
                    name, numbers[row], f"a row must have {width} values, one per attribute, got {len(table[row])}"
                )
            if table:
                yield numbers, table


def _read_one_by_one(
    column: ColumnBuilder, texts: Sequence[str], numbers: list[int], name: str, missing_markers: frozenset[str]
) -> None:
    """Convert values one by one, and raise an error for the first invalid value."""
    for number, text in zip(numbers, texts, strict=True):
        try:
            if text.strip() in missing_markers and not column.missing:
                raise ValueError(f"the class {column.attribute.name!r} must not be missing: drop this row")
            column.read_value(text)
        except ValueError as error:
            raise lines.make_line_error(name, number, str(error)) from None
    column._chunks.append(np.array([column.read_value(text) for text in texts]))


MAX_NUMERIC_CLASSES = 30
"""Maximum number of distinct values in a numeric class column. A column with more values is probably a measurement."""


_KEYWORD = re.compile(r"@(\w*)(.*)", re.DOTALL)


@dataclass(frozen=True)
class FileFormat:
    """The syntax of a file format such as ARFF.

    The keys of `lists` are keywords that introduce a list of attributes, such as the inputs. If `plain` is true, quotes and
    percent signs have no special meaning within a line. `make_splitter` takes the attributes of a file and returns a function
    that splits a row into strings, one per value.
    """

    lists: dict[str, str]
    missing: tuple[str, ...]
    plain: bool
    make_splitter: Callable[[Sequence[Attribute]], LineSplitter]


@dataclass
class Header:
    """The declarations that precede the rows of a file."""

    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)

    def list_names(self) -> list[str]:
        """List the names of all attributes, in column order."""
        return [attribute.name for attribute in self.attributes]


def read_declared(source: Source, file_format: FileFormat, *, target: str | None, name: str | None, encoding: str) -> Dataset:
    """Read a data set from a file with a header that declares the attributes.

    By default, `target` is the only output declared in the file, or the last attribute if no output is declared.
    """
    source_name = lines.describe_source(source)
    with lines.open_lines(source, encoding) as blocks:
        header, rest = _read_header(blocks, source_name, file_format)
        target = _choose_target(header, target, source_name)
        inputs = _choose_inputs(header, target, source_name)
        split_line = file_format.make_splitter(header.attributes)
        columns = read_rows(
            rest,
            header.attributes,
            source_name,
            split_line,
            missing=file_format.missing,
            complete_column=target,
            plain=file_format.plain,
        )
    ignored = [attribute for attribute in header.list_names() if attribute not in inputs and attribute != target]
    return _build_declared_dataset(
        header, columns, inputs, target, ignored, name or lines.get_source_stem(source, header.relation), source_name
    )


def _read_header(blocks: Iterator[LineBlock], name: str, file_format: FileFormat) -> tuple[Header, Iterator[LineBlock]]:
    header, number = Header(), 0
    for block in blocks:
        for number, line in block:
            text = line.strip()
            if not text or text.startswith("%"):
                continue
            if _read_header_line(text, header, partial(lines.make_line_error, name, number), file_format):
                if not header.attributes:
                    raise lines.make_line_error(name, number, "@data must come after at least 1 @attribute")
                return header, chain([block.take_after(number)], blocks)
    if not number:
        raise InputError(f"{name} is empty")
    raise InputError(f"{name} must contain an @data line before its rows, got none in {format_count(number, 'line')}")


def _read_header_line(text: str, header: Header, make_error: Callable[[str], InputError], file_format: FileFormat) -> bool:
    """Parse a header line and return whether it is the last one."""
    match = _KEYWORD.fullmatch(text)
    if match is None:
        raise make_error(f"a line before @data must begin with @, got {text[:40]!r}")
    keyword, rest = match[1].lower(), match[2].strip()
    if keyword == "data":
        if rest and not rest.startswith("%"):
            raise make_error(f"nothing may follow @data in its line, got {rest[:40]!r}")
        return True
    if keyword == "attribute":
        attribute = read_attribute(rest, make_error, plain=file_format.plain)
        check_unique_name(header.attributes, attribute, make_error)
        header.attributes.append(attribute)
    elif keyword == "relation":
        header.relation = strip_quotes(rest)
    elif keyword in file_format.lists:
        header.lists.setdefault(file_format.lists[keyword], []).extend(_split_names(rest))
    else:
        hint = suggest_name(
            "@" + keyword, [f"@{known_keyword}" for known_keyword in ("relation", "attribute", "data", *file_format.lists)]
        )
        raise make_error(f"a line must begin with a known keyword, got @{keyword[:40]}: {hint}")
    return False


def _split_names(text: str) -> list[str]:
    """Split names at commas. Skip empty names, which occur even in KEEL's own files."""
    return [strip_quotes(name) for name in text.split(",") if name.strip()]


def _choose_target(header: Header, target: str | None, name: str) -> str:
    outputs = header.lists.get("outputs", [])
    if target is None:
        if len(outputs) > 1:
            raise InputError(f"{name} must declare one output, got {join_names(outputs)}: pass target= to choose one")
        target = outputs[0] if outputs else header.list_names()[-1]
    return _check_declared(target, "the class" if not outputs else "an output", header, name)


def _choose_inputs(header: Header, target: str, name: str) -> list[str]:
    outputs = header.lists.get("outputs", [])
    declared_inputs = {_check_declared(attribute, "an input", header, name) for attribute in header.lists.get("inputs", [])}
    inputs = [
        attribute
        for attribute in header.list_names()
        if attribute != target and (attribute in declared_inputs if declared_inputs else attribute not in outputs)
    ]
    if not inputs:
        raise InputError(f"{name} must declare at least 1 attribute besides the class {target!r}, got none")
    return inputs


def _check_declared(attribute: str, role: str, header: Header, name: str) -> str:
    if attribute not in header.list_names():
        raise InputError(
            f"{name}: {role} must be a declared attribute, got {attribute!r}: {suggest_name(attribute, header.list_names())}"
        )
    return attribute


def _build_declared_dataset(
    header: Header, columns: dict[str, Any], inputs: list[str], target: str, ignored: list[str], name: str, source: str
) -> Dataset:
    import pandas as pd

    ranges = {
        attribute.name: attribute.range for attribute in header.attributes if attribute.range and attribute.name in inputs
    }
    notes = [f"left out because they are neither inputs nor outputs: {join_names(ignored, None)}"] if ignored else []
    label = pd.Series(_convert_class_column(columns[target], target, source), name=target)
    frame = pd.DataFrame({attribute: columns[attribute] for attribute in inputs})
    return Dataset.from_table(frame, label, name=name, target=target, source=source, notes=notes, ranges=ranges)


def _convert_class_column(column: Any, target: str, source: str) -> Any:
    """Convert a numeric class column to whole numbers. Leave a nominal class column unchanged."""
    if not isinstance(column, np.ndarray):
        return column
    invalid = (column != np.floor(column)) | (np.abs(column) > 2**53)
    if invalid.any():
        raise InputError(
            f"{source}: the class {target!r} must contain names or whole numbers, got {column[np.argmax(invalid)]:g}: "
            "pass another attribute as target="
        )
    n_values = len(np.unique(column))
    if n_values > MAX_NUMERIC_CLASSES:
        message = (
            f"{source}: the class {target!r} is declared numeric and has {n_values} distinct values: pass another attribute as "
            "target= if this is a measurement"
        )
        warnings.warn(message, SuspectInputWarning, stacklevel=5)
    return column.astype(np.int64)
