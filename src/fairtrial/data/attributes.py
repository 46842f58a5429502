"""Declarations of attributes, which ARFF and KEEL files share: a name, a type, and values or a range."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fairtrial.data.dates import DEFAULT_FORMAT, python_format
from fairtrial.errors import InputError

Kind = Literal["numeric", "nominal", "string", "date"]
Fault = Callable[[str], InputError]

QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_NAME = re.compile(rf"\s*+({QUOTED}|[^\s{{}}'\"][^\s{{}}]*+)\s*+(.*)", re.DOTALL)
_RANGE = re.compile(r"\[\s*([^\[\],\s]+)\s*,\s*([^\[\],\s]+)\s*\]")
_VALUE = re.compile(rf"\s*+(?:({QUOTED})\s*+|([^,'\"{{}}%]*+))(,|\}})", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One declared attribute: `categories` if it is nominal, `range` if one is declared, `date` as Python writes formats."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    date: str = ""


def unquoted(text: str) -> str:
    """What a value says, without its quotes and escapes.

    >>> print(unquoted(" 'it\\\\'s' "), unquoted("plain "))
    it's plain
    """
    text = text.strip()
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(lambda found: _CONTROL.get(found[1], found[1]), text[1:-1])
    return text


def read_attribute(text: str, fault: Fault, *, plain: bool = False) -> Attribute:
    """An attribute from what follows `@attribute`; `plain`: values end at a comma only (KEEL), as ARFF's do without quotes.

    >>> read_attribute("'sepal length' real [4.3, 7.9]", ValueError)
    Attribute(name='sepal length', kind='numeric', categories=(), range=(4.3, 7.9), date='')
    >>> read_attribute("class {a, 'b c'}", ValueError).categories
    ('a', 'b c')
    """
    found = _NAME.fullmatch(text)
    name = unquoted(found[1]) if found else ""
    if found is None or not name:
        raise fault(f"@attribute must give a name and a type, got {_short(text)}")
    rest = found[2].strip()
    if rest.startswith("{"):
        return Attribute(name, "nominal", _categories(name, rest, fault, plain))
    word = re.match(r"[A-Za-z]*", rest)[0]  # type: ignore[index]
    after = rest[len(word) :].strip()
    if not plain:
        after = re.sub(r"^%.*", "", after, flags=re.DOTALL)
    return _of_type(name, word.lower(), after, fault)


def _of_type(name: str, word: str, after: str, fault: Fault) -> Attribute:
    if word in _NUMERIC:
        return Attribute(name, "numeric", range=_range(name, after, fault) if after else None)
    if word == "date":
        return Attribute(name, "date", date=python_format(unquoted(after) or DEFAULT_FORMAT, fault))
    if word == "string" and not after:
        return Attribute(name, "string")
    if word == "relational":
        raise fault(f"attribute {name!r} is relational, which is not read: flatten the file first")
    raise fault(
        f"attribute {name!r} must be numeric, real, integer, string, date or a list {{...}}, got {_short(word + ' ' + after)}"
    )


def _range(name: str, text: str, fault: Fault) -> tuple[float, float]:
    found = _RANGE.fullmatch(text)
    try:
        low, high = (float(found[1]), float(found[2])) if found else (1.0, 0.0)
    except ValueError:
        low, high = 1.0, 0.0
    if not low <= high:
        raise fault(f"the range of attribute {name!r} must be two ascending numbers [low, high], got {_short(text)}")
    return low, high


def _categories(name: str, text: str, fault: Fault, plain: bool) -> tuple[str, ...]:
    values = _plain_values(text, name, fault) if plain else _quoted_values(text, name, fault)
    if values == [""]:
        raise fault(f"nominal attribute {name!r} must list at least 1 value, got {{}}")
    if "" in values and plain:
        raise fault(f"the values of attribute {name!r} must not be empty: is there a comma too many?")
    if plain:  # KEEL's own files repeat values
        return tuple(dict.fromkeys(values))
    if len(set(values)) < len(values):
        twice = next(each for each in values if values.count(each) > 1)
        raise fault(f"the values of attribute {name!r} must differ, got {twice!r} twice")
    return tuple(values)


def _plain_values(text: str, name: str, fault: Fault) -> list[str]:
    if not text.endswith("}") or "}" in text[:-1]:
        raise fault(f"the values of attribute {name!r} must stand between {{ and }}, got {_short(text)}")
    return [unquoted(each) for each in text[1:-1].split(",")]


def _quoted_values(text: str, name: str, fault: Fault) -> list[str]:
    values: list[str] = []
    place, end = 1, ","
    while end == ",":
        found = _VALUE.match(text, place)
        if found is None:
            raise fault(
                f"the values of attribute {name!r} must stand between {{ and }}, in quotes if they hold commas or quotes"
            )
        bare = (found[2] or "").strip()
        if found[1] is None and (len(bare.split()) > 1 or (not bare and (values or found[3] == ","))):
            raise fault(f"the values of attribute {name!r} must be in quotes if empty or with spaces, got {_short(bare)}")
        values.append(unquoted(found[1] or bare))
        place, end = found.end(), found[3]
    rest = text[place:].strip()
    if rest and not rest.startswith("%"):
        raise fault(f"nothing may follow the values of attribute {name!r}, got {_short(rest)}")
    return values


def unique_names(attributes: list[Attribute], attribute: Attribute, fault: Fault) -> None:
    """No two attributes of one name."""
    if any(each.name == attribute.name for each in attributes):
        raise fault(f"attributes must have different names, got {attribute.name!r} twice")


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 60 else text[:57] + "...")
