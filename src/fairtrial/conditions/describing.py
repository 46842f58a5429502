"""The parameters of a condition as plain values, so that a study can keep, compare and hash them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Numbers, text, lists and dictionaries only; whatever differs stays different.

    A function is told by its name and a digest of its code, since two functions may share a name.

    >>> plain({"levels": (np.float64(0.1), np.int64(2))})
    {'levels': [0.1, 2]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(each) for each in value), key=repr)
    if hasattr(value, "describe"):
        return value.describe()
    return _function(value) if callable(value) else repr(value)


def canonical(described: Any) -> str:
    """One text for equal plain values, in whatever order a dictionary was written.

    >>> canonical({"b": 1, "a": [0.1]})
    "{'a': [0.1], 'b': 1}"
    """
    if isinstance(described, dict):
        pairs = sorted((repr(key), canonical(value)) for key, value in described.items())
        return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
    if isinstance(described, list):
        return "[" + ", ".join(map(canonical, described)) + "]"
    return repr(described)


def _function(function: Any) -> str:
    name = f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"
    code = getattr(function, "__code__", None)
    return name if code is None else f"{name}#{hashlib.sha256(repr(_code(function)).encode()).hexdigest()[:16]}"


def _code(function: Any) -> tuple[Any, ...]:
    """What a function does: its instructions, constants, names, defaults, and the values that it closes over."""
    code = function.__code__
    constants = [each.co_code if hasattr(each, "co_code") else plain(each) for each in code.co_consts]
    closed = [plain(cell.cell_contents) for cell in function.__closure__ or ()]
    return code.co_code, constants, code.co_names, plain(function.__defaults__), plain(function.__kwdefaults__), closed
