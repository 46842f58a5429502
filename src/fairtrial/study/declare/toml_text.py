"""Plain values as readable TOML: what tomllib reads back is what was written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from fairtrial.errors import InputError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def toml_of(plain: Mapping[str, Any]) -> str:
    """The text of a mapping of numbers, text, truths, lists and mappings: first values, then a table for each mapping.

    >>> print(toml_of({"seed": 1, "learners": {"c45": {}, "forest": {"learner": "random-forest"}}}), end="")
    seed = 1
    <BLANKLINE>
    [learners]
    c45 = {}
    forest = { learner = "random-forest" }
    """
    values = {name: value for name, value in plain.items() if not isinstance(value, Mapping)}
    parts = [_pairs(values)] if values else []
    parts += [_table((name,), value) for name, value in plain.items() if isinstance(value, Mapping)]
    return "\n".join(parts)


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    """A table, whose own tables are written in one line each, or apart where one of them is too long for that."""
    apart = _written_apart(table)
    own = {name: value for name, value in table.items() if name not in apart}
    head = f"[{'.'.join(_key(each) for each in path)}]\n"
    parts = [head + _pairs(own)] if own or not apart else []
    return "\n".join([*parts, *(_table((*path, name), value) for name, value in apart.items())])


def _written_apart(table: Mapping[str, Any]) -> Mapping[str, Any]:
    """All tables of a table in which one is long, as long as no other value stands behind the first: order has a meaning."""
    inner = {name: value for name, value in table.items() if isinstance(value, Mapping)}
    last = list(table)[len(table) - len(inner) :]
    if last != list(inner) or not any(len(_pair(name, value)) > _WIDTH for name, value in inner.items()):
        return {}
    return inner


def _pairs(values: Mapping[str, Any]) -> str:
    return "".join(f"{_pair(name, value)}\n" for name, value in values.items())


def _pair(name: str, value: Any) -> str:
    written = f"{_key(name)} = {_value(value)}"
    if len(written) > _WIDTH and isinstance(value, (list, tuple)):
        return "\n".join([f"{_key(name)} = [", *(f"    {_value(each)}," for each in value), "]"])
    return written


def _key(name: object) -> str:
    if not isinstance(name, str):
        raise InputError(f"keys must be text to be written as TOML, got {name!r}")
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    """One value in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise InputError(f"values must be numbers, text, truths, lists or mappings to be written as TOML, got {value!r}")


def _number(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(float(value))


def _text(text: str) -> str:
    return '"' + "".join(_character(each) for each in text) + '"'


def _character(each: str) -> str:
    if each in _ESCAPES:
        return _ESCAPES[each]
    return f"\\u{ord(each):04x}" if ord(each) < 0x20 or ord(each) == 0x7F else each
