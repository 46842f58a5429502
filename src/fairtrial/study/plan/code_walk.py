"""What code does, as plain values: its instructions as they are in memory, and all that it names, however deep."""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

from fairtrial.errors import InputError

_SHAPE = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")
_NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_METHODS = (FunctionType, property, staticmethod, classmethod)


class CodeWalk:
    """Goes from a function or class to all local ones that it names. Each has the number in which it was met first, by which
    the others refer to it: so circles do no harm, and no address is told.

    `tell` tells a value, and gives functions and classes that it meets to `number`; `local` says whether a module may change
    without a new version. Comments and the places of lines do not count. What is reached by a name that is put together while
    the code runs (`getattr`, `eval`) is not seen.
    """

    def __init__(self, tell: Callable[[Any, str], Any], local: Callable[[str], bool]) -> None:
        self._tell = tell
        self._local = local
        self._numbers: dict[int, int] = {}
        self._things: list[Any] = []

    def number(self, thing: Any) -> int:
        """The number of a function or class, which will be told in its turn."""
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self._things)
            self._things.append(thing)
        return self._numbers[id(thing)]

    def told(self, thing: Any) -> list[Any]:
        """The function or class, then what it names, then what these name ..."""
        self.number(thing)  # telling one adds to the things those that it names
        return [self._class(each) if isinstance(each, type) else self._function(each) for each in self._things]

    def _function(self, function: FunctionType) -> Any:
        cells = [_content(each) for each in function.__closure__ or ()]
        held = [function.__defaults__, function.__kwdefaults__, *cells]
        told = {"code": self._code(function.__code__), "held": [self._value(each) for each in held]}
        module = function.__globals__.get("__name__")
        if not isinstance(module, str) or self._local(module):
            told["named"] = self._named(function.__code__, function.__globals__)
        return told

    def _class(self, kind: type[Any]) -> Any:
        told = {
            name: self._attribute(each)
            for name, each in sorted(vars(kind).items())
            if isinstance(each, _METHODS) or not _hidden(name)  # Python keeps notes there: __doc__, __slotnames__
        }
        return {"bases": [self._value(each) for each in kind.__bases__], "attributes": told}

    def _attribute(self, value: Any) -> Any:
        if isinstance(value, property):
            return {"property": [self._value(each) for each in (value.fget, value.fset, value.fdel)]}
        if isinstance(value, (staticmethod, classmethod)):
            return {type(value).__name__: self._value(value.__func__)}
        return {"cached": self._value(value.func)} if isinstance(value, cached_property) else self._value(value)

    def _code(self, code: CodeType) -> Any:
        return {
            "code": [code.co_code.hex(), code.co_exceptiontable.hex(), *(getattr(code, each) for each in _SHAPE)],
            "names": [list(getattr(code, each)) for each in _NAMES],
            "constants": [self._code(each) if isinstance(each, CodeType) else self._value(each) for each in code.co_consts],
        }

    def _named(self, code: CodeType, known: Mapping[str, Any]) -> Any:
        """What the names of the code stand for now: values, functions and classes, and of modules what is used of them."""
        codes = list(_nested(code))
        used = {name for each in codes for name in each.co_names}
        found = {name: known[name] for each in codes for name in _global_names(each) if name in known and not _hidden(name)}
        told = {name: self._used(found[name], used, ()) for name in sorted(found)}
        imported = [self._imported(each, known, used) for part in codes for each in _imports(part)]
        return {"globals": told, "imported": imported}

    def _used(self, value: Any, names: set[str], above: tuple[ModuleType, ...]) -> Any:
        if not isinstance(value, ModuleType):
            return self._value(value)
        if not self._local(value.__name__) or value in above:
            return {"module": value.__name__}
        own = sorted(name for name in names & set(vars(value)) if not _hidden(name))
        return {"module": value.__name__, "used": {name: self._used(vars(value)[name], names, (*above, value)) for name in own}}

    def _imported(self, statement: tuple[str, Any, int], known: Mapping[str, Any], used: set[str]) -> Any:
        """A module that a function imports when it runs: one of an installed package is not imported for this."""
        name, what, level = statement
        if level == 0 and not self._local(name):
            return {"module": name}
        try:
            module = __import__(name, dict(known), None, what or (), level)
        except Exception:  # it may be meant for another machine, and the code may be ready for its absence
            return {"module": name, "level": level}
        return self._used(module, used, ())

    def _value(self, value: Any) -> Any:
        """What cannot be told, such as a lock or a logger, counts by its class."""
        if value is ...:
            return {"kind": "..."}
        try:
            return self._tell(value, "what the code names")
        except (InputError, RecursionError):
            return {"kind": self._tell(type(value), "what the code names")}


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it has not been filled yet
        return ...


def _nested(code: CodeType) -> Iterator[CodeType]:
    """A code object and those of the functions inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


def _global_names(code: CodeType) -> list[str]:
    return [str(each.argval) for each in dis.get_instructions(code) if each.opname in _GLOBALS]


def _imports(code: CodeType) -> Iterator[tuple[str, Any, int]]:
    """Module, what is taken from it, and the number of leading dots of each import statement."""
    lines = list(dis.get_instructions(code))
    for level, what, each in zip(lines, lines[1:], lines[2:], strict=False):
        if each.opname == "IMPORT_NAME":
            yield str(each.argval), what.argval, int(level.argval or 0)


def _hidden(name: str) -> bool:
    """Whether Python gives the name its meaning: `__file__` is another one on each machine."""
    return name.startswith("__") and name.endswith("__")
