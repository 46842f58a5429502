"""Objects as plain values: the class, every parameter, and whatever these hold, so that two are told apart by what they do."""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.study.plan.code_walk import CodeWalk
from fairtrial.study.plan.contents import found_by_name, seen_whole, slots_of
from fairtrial.study.plan.origins import origin

_WORDS = frozenset({"class", "type", "function", "method", "partial", "array", "bytes", "number", "mapping", "set"})
_WORDS |= {"range", "slice", "path", "random", "distribution", "pattern", "kind", "module"}


def canonical(value: Any) -> str:
    """One text for equal plain values, in whatever order a dictionary was written.

    >>> canonical({"b": 1, "a": (0.1, None)})
    "{'a': [0.1, None], 'b': 1}"
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = sorted((canonical(key), canonical(each)) for key, each in value.items())
        return "{" + ", ".join(f"{key}: {each}" for key, each in pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(canonical, value)) + "]"
    raise InputError(f"a plain value must be a number, text, None, a list or a dictionary, got {type(value).__name__}")


class Teller:
    """Tells values as plain ones that JSON can hold. `packages` notes the distributions that they come from, `local_modules`
    the modules of no distribution, `holds_code` whether any function or class is told by its code.

    A function or class of an installed package is told by its name, any other one by a hash of what it does: see `CodeWalk`.
    What cannot be told from what it shows (a lock, an open file, an object of a compiled class) is refused.

    >>> from sklearn.svm import SVC
    >>> told = Teller().tell(SVC(C=2.0))
    >>> told["class"], told["parameters"]["C"]
    ('sklearn.svm._classes.SVC', 2.0)
    """

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self.local_modules: set[str] = set()
        self.holds_code = False
        self._within: list[int] = []
        self._walk: CodeWalk | None = None

    def tell(self, value: Any, place: str = "value") -> Any:
        """The value in plain values; `place` says where it is, for whoever has to mend it."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if id(value) in self._within:
            raise InputError(f"{place} must not hold itself: a learner with parameters in a circle cannot be told apart")
        self._within.append(id(value))
        try:
            return self._way(value)(value, place)
        finally:
            self._within.pop()

    def _way(self, value: Any) -> Any:
        ways = {
            enum.Enum: self._member,
            (float, complex): self._number,
            Mapping: self._mapping,
            (list, tuple): lambda value, place: [self.tell(each, f"{place}[{i}]") for i, each in enumerate(value)],
            (set, frozenset): self._set,
            (bytes, bytearray): lambda value, _: {"bytes": _hex(bytes(value))},
            range: lambda value, _: {"range": [value.start, value.stop, value.step]},
            slice: lambda value, place: {"slice": self.tell([value.start, value.stop, value.step], place)},
            np.ndarray: self._array,
            np.dtype: lambda value, _: {"type": f"numpy.dtype {value.str} {value.descr}"},
            PurePath: lambda value, _: {"path": str(value)},
            re.Pattern: lambda value, place: {"pattern": self.tell([value.pattern, value.flags], place)},
            np.random.Generator: self._generator,
            np.random.RandomState: lambda value, place: {"random": self.tell(value.get_state(legacy=False), place)},
            np.random.SeedSequence: lambda value, place: {"random": self.tell(value.state, place)},
            functools.partial: self._partial,
            type: self._type,
            MethodType: lambda value, place: {"method": value.__name__, "of": self.tell(value.__self__, place)},
        }
        for kind, way in ways.items():
            if isinstance(value, kind):  # type: ignore[arg-type]
                return way
        if isinstance(value, (FunctionType, np.ufunc)) or self._stands_for_a_function(value):
            return self._function
        if all(hasattr(value, each) for each in ("dist", "args", "kwds")):
            return self._distribution
        return self._object

    def _member(self, value: Any, place: str) -> Any:
        return self._type(type(value), place) | {"value": value.name}

    def _number(self, value: Any, place: str) -> Any:
        plain = isinstance(value, float) and math.isfinite(value)
        return float(value) if plain else {"number": repr(value)}  # JSON has no NaN

    def _mapping(self, value: Mapping[Any, Any], place: str) -> Any:
        told = [(self.tell(key, place), self.tell(each, f"{place}[{key!r}]")) for key, each in value.items()]
        if all(type(key) is str and key not in _WORDS for key, _ in told):
            return dict(sorted(told))
        return {"mapping": sorted(([key, each] for key, each in told), key=canonical)}

    def _set(self, value: Any, place: str) -> Any:
        return {"set": sorted((self.tell(each, place) for each in value), key=canonical)}

    def _array(self, value: npt.NDArray[Any], place: str) -> Any:
        if value.dtype.hasobject:
            return {"array": self.tell(value.tolist(), place), "dtype": "object", "shape": list(value.shape)}
        if isinstance(value, np.ma.MaskedArray):
            return {"array": self.tell([np.ma.getmaskarray(value), value.filled()], place), "dtype": "masked"}
        plain = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"array": _hex(plain.tobytes()), "dtype": plain.dtype.str, "shape": list(value.shape)}

    def _generator(self, value: np.random.Generator, place: str) -> Any:
        return {"random": self.tell(dict(value.bit_generator.state), place)}

    def _partial(self, value: Any, place: str) -> Any:
        return {"partial": self.tell([value.func, value.args, value.keywords], place)}

    def _type(self, value: type[Any], place: str) -> Any:
        return {"type": self._class_name(value)} | self._class_code(value)

    def _distribution(self, value: Any, place: str) -> Any:
        """A frozen distribution of SciPy, as a random search takes it."""
        name = self._class_name(type(value.dist))
        return {"distribution": name, "parameters": self.tell([value.args, value.kwds], place)}

    def _function(self, value: Any, place: str) -> Any:
        """By name where an installed module has it under this name, else also by what it does."""
        module = getattr(value, "__module__", None) or type(value).__module__
        name = f"{module}.{getattr(value, '__qualname__', value.__name__)}"
        local = self._local(module)
        if not local and found_by_name(value):
            return {"function": name}
        function = value if isinstance(value, FunctionType) else inspect.unwrap(value)
        if isinstance(function, FunctionType):
            return {"function": name} | self._code(function)
        if local or not name.replace(".", "_").isidentifier():
            raise InputError(
                f"{place}: {name} belongs to no installed package and has no code in Python: put it into a package"
            )
        return {"function": name}

    def _stands_for_a_function(self, value: Any) -> bool:
        """Whether it is known by its name, or wraps a function without showing what else it holds, as functools.cache does."""
        named = found_by_name(value)
        if seen_whole(value):
            return named and not self._local(value.__module__)
        return named or (callable(value) and isinstance(getattr(value, "__wrapped__", None), FunctionType))

    def _code(self, thing: Any) -> dict[str, Any]:
        """A hash of what a function or class does; within another one its number there."""
        self.holds_code = True
        if self._walk is not None:
            return {"number": self._walk.number(thing)}
        self._walk = CodeWalk(self.tell, self._local)
        try:
            return {"code": _hex(canonical(self._walk.told(thing)).encode())}
        finally:
            self._walk = None

    def _object(self, value: Any, place: str) -> Any:
        kind = type(value)
        told = {"class": self._class_name(kind), "parameters": {}} | self._class_code(kind)
        for name, each in sorted(self._parameters(value, place).items()):
            told["parameters"][name] = self.tell(each, f"{place}.{name}")
        return told

    def _parameters(self, value: Any, place: str) -> dict[str, Any]:
        kind = type(value)
        if kind.__name__ == "FrozenEstimator":
            raise InputError(f"{place} must not be a FrozenEstimator, which has learnt before the study: pass it unfitted")
        if hasattr(value, "get_params"):
            try:
                return dict(value.get_params(deep=False))
            except (AttributeError, RuntimeError, TypeError) as error:
                raise InputError(
                    f"{place}: the parameters of {kind.__name__} cannot be read ({error}): __init__ must keep each as it is"
                ) from None
        if is_dataclass(value):
            return {each.name: getattr(value, each.name) for each in fields(value)}
        if not seen_whole(value):
            raise InputError(
                f"{place} must be something whose contents can be told, got {kind.__module__}.{kind.__qualname__}: pass "
                "numbers, text, lists, arrays, functions, or objects with get_params"
            )
        kept = slots_of(value) | getattr(value, "__dict__", {})
        remembered = [each for each in kept if isinstance(getattr(kind, each, None), functools.cached_property)]
        return {name: each for name, each in kept.items() if name not in [*remembered, "__annotations__"]}

    def _local(self, module: str) -> bool:
        found = origin(module)
        self.packages.update(found.packages)
        if found.local:
            self.local_modules.add(module)
        return found.local

    def _class_name(self, kind: type[Any]) -> str:
        for each in kind.__mro__[:-1]:
            self._local(each.__module__)
        return f"{kind.__module__}.{kind.__qualname__}"

    def _class_code(self, kind: type[Any]) -> dict[str, Any]:
        """What a class does where no version vouches for it, or for one that it descends from."""
        local = any(self._local(each.__module__) or "<" in each.__qualname__ for each in kind.__mro__[:-1])
        return self._code(kind) if local else {}


def _hex(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
