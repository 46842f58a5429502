"""Files that declare their attributes before the rows: what ARFF and KEEL files have in common."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.data.attributes import Attribute, read_attribute, unique_names, unquoted
from fairtrial.data.dataset import Dataset
from fairtrial.data.lines import Block, Source, fault, named, opened, stem
from fairtrial.data.rows import Cut, read_rows
from fairtrial.errors import InputError, SuspectInputWarning

MOST_NUMERIC_CLASSES = 30
"""Above it, a numeric class is suspected of being a measurement."""

_KEYWORD = re.compile(r"@(\w*)(.*)", re.DOTALL)


@dataclass(frozen=True)
class Format:
    """How one kind of file is written.

    `lists` are the keywords that list attributes, each with the key to keep the list under; `plain`: quotes and percent signs
    mean nothing inside a line; `cut` gives the function that parts a row of these attributes into the texts of its values.
    """

    lists: dict[str, str]
    missing: tuple[str, ...]
    plain: bool
    cut: Callable[[Sequence[Attribute]], Cut]


@dataclass
class Header:
    """What stands before the rows."""

    relation: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)

    def names(self) -> list[str]:
        """Of all attributes, in the order of the columns."""
        return [each.name for each in self.attributes]


def read_declared(source: Source, form: Format, *, target: str | None, name: str | None, encoding: str) -> Dataset:
    """The data set of a file. The class is `target`, else the only output that the file names, else the last attribute."""
    told = named(source)
    with opened(source, encoding) as blocks:
        header, rest = _read_header(blocks, told, form)
        target = _target(header, target, told)
        inputs = _inputs(header, target, told)
        cut = form.cut(header.attributes)
        columns = read_rows(rest, header.attributes, told, cut, missing=form.missing, whole=target, plain=form.plain)
    ignored = [each for each in header.names() if each not in inputs and each != target]
    return _dataset(header, columns, inputs, target, ignored, name or stem(source, header.relation), told)


def _read_header(blocks: Iterator[Block], name: str, form: Format) -> tuple[Header, Iterator[Block]]:
    header, number = Header(), 0
    for block in blocks:
        for number, line in block:
            text = line.strip()
            if not text or text.startswith("%"):
                continue
            if _is_data(text, header, partial(fault, name, number), form):
                if not header.attributes:
                    raise fault(name, number, "@data must come after at least 1 @attribute")
                return header, chain([block.after(number)], blocks)
    if not number:
        raise InputError(f"{name} is empty")
    raise InputError(f"{name} must hold a line @data before its rows, got none in {number} lines: is it cut off?")


def _is_data(text: str, header: Header, wrong: Callable[[str], InputError], form: Format) -> bool:
    """Take in one line of the header; True if it is the last one."""
    found = _KEYWORD.fullmatch(text)
    if found is None:
        raise wrong(f"a line before @data must begin with @, got {text[:40]!r}")
    keyword, rest = found[1].lower(), found[2].strip()
    if keyword == "data":
        if rest and not rest.startswith("%"):
            raise wrong(f"nothing may follow @data in its line, got {rest[:40]!r}")
        return True
    if keyword == "attribute":
        attribute = read_attribute(rest, wrong, plain=form.plain)
        unique_names(header.attributes, attribute, wrong)
        header.attributes.append(attribute)
    elif keyword == "relation":
        header.relation = unquoted(rest)
    elif keyword in form.lists:
        header.lists.setdefault(form.lists[keyword], []).extend(_listed(rest))
    else:
        hint = did_you_mean("@" + keyword, [f"@{each}" for each in ("relation", "attribute", "data", *form.lists)])
        raise wrong(f"@{keyword[:40]} means nothing here: {hint}")
    return False


def _listed(text: str) -> list[str]:
    """Names between commas; KEEL's own files leave gaps in their lists."""
    return [unquoted(each) for each in text.split(",") if each.strip()]


def _target(header: Header, target: str | None, name: str) -> str:
    outputs = header.lists.get("outputs", [])
    if target is None:
        if len(outputs) > 1:
            raise InputError(f"{name} names {len(outputs)} outputs, {outputs}: choose one with target=")
        target = outputs[0] if outputs else header.names()[-1]
    return _known(target, "the class" if not outputs else "an output", header, name)


def _inputs(header: Header, target: str, name: str) -> list[str]:
    outputs = header.lists.get("outputs", [])
    listed = {_known(each, "an input", header, name) for each in header.lists.get("inputs", [])}
    inputs = [each for each in header.names() if each != target and (each in listed if listed else each not in outputs)]
    if not inputs:
        raise InputError(f"{name} must declare at least 1 attribute beside the class {target!r}, got none")
    return inputs


def _known(attribute: str, what: str, header: Header, name: str) -> str:
    if attribute not in header.names():
        raise InputError(
            f"{name}: {what} must be a declared attribute, got {attribute!r}: {did_you_mean(attribute, header.names())}"
        )
    return attribute


def _dataset(
    header: Header, columns: dict[str, Any], inputs: list[str], target: str, ignored: list[str], name: str, source: str
) -> Dataset:
    import pandas as pd

    ranges = {each.name: each.range for each in header.attributes if each.range and each.name in inputs}
    notes = [f"left out, being neither input nor output: {', '.join(ignored)}"] if ignored else []
    label = pd.Series(_class_labels(columns[target], target, source), name=target)
    frame = pd.DataFrame({each: columns[each] for each in inputs})
    return Dataset.of(frame, label, name=name, target=target, source=source, notes=notes, ranges=ranges)


def _class_labels(column: Any, target: str, source: str) -> Any:
    """A class that is declared as a number is one if it is whole."""
    if not isinstance(column, np.ndarray):
        return column
    broken = (column != np.floor(column)) | (np.abs(column) > 2**53)
    if broken.any():
        raise InputError(
            f"{source}: the class {target!r} must hold names or whole numbers, got {column[np.argmax(broken)]:g}: "
            "name another attribute with target="
        )
    different = len(np.unique(column))
    if different > MOST_NUMERIC_CLASSES:
        told = (
            f"{source}: the class {target!r} is declared numeric and has {different} different values: name the class, target="
        )
        warnings.warn(told, SuspectInputWarning, stacklevel=5)
    return column.astype(np.int64)
