"""Content hashes that identify learners, conditions, splits and trials.

The hashes are the same on every machine. A trial is stored under a key: a hash of the data set, the split, the condition, the
learner and the seed. `Encoder` converts a learner to plain values that can be hashed. `CodeWalker` does the same for functions
and classes that are not installed.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import importlib.metadata
import inspect
import json
import math
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path, PurePath
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlparse
from urllib.request import url2pathname

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.conditions import Condition

_FLAGS, _MADE_BY_PYTHON = 3 << 8, 1 << 9  # Py_TPFLAGS_HEAPTYPE without IMMUTABLETYPE marks a class defined in Python


def has_visible_state(value: Any) -> bool:
    """Return whether the `__dict__` and the declared slots of an object contain its whole state."""
    ancestors = type(value).__mro__[:-1]
    made_by_python = all(ancestor.__flags__ & _FLAGS == _MADE_BY_PYTHON for ancestor in ancestors)
    return (
        bool(ancestors)
        and made_by_python
        and (hasattr(value, "__dict__") or all("__slots__" in vars(ancestor) for ancestor in ancestors))
    )


def read_slots(value: Any) -> dict[str, Any]:
    """Return the values of an object's slots, including slots that a subclass redefines."""
    slots = [
        (ancestor.__qualname__, name, slot)
        for ancestor in type(value).__mro__
        for name, slot in vars(ancestor).items()
        if isinstance(slot, MemberDescriptorType)
    ]
    contents = {}
    for kind, name, slot in slots:
        try:
            contents[f"{kind}.{name}"] = slot.__get__(value)
        except AttributeError:  # the slot is empty
            continue
    return contents


def is_importable_by_name(value: Any) -> bool:
    """Return whether an object can be imported by its module and qualified name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        return False
    if isinstance(value, BuiltinFunctionType) and not isinstance(value.__self__, (type(sys), type(None))):
        return False
    target: Any = sys.modules.get(module)
    for part in name.split("."):
        target = getattr(target, part, None)
    return target is value


# Nearly every study uses these packages. Searching all installed packages would take a quarter of a second.
_COMMON_PACKAGES = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "numpy": "numpy",
    "scipy": "scipy",
    "fairtrial": "fairtrial",
}

_NUMERIC_DEPENDENCIES = {"scikit-learn": ("numpy", "scipy"), "fairtrial": ("numpy", "numba")}
"""For each package, the packages that it uses for numerical computations."""


@dataclass(frozen=True)
class PackageOrigin:
    """The installed packages that a module belongs to.

    `local` is True if the code of the module may change without a new package version.
    """

    packages: tuple[str, ...]
    local: bool


@cache
def find_origin(module: str) -> PackageOrigin:
    """Find the installed packages that a module belongs to.

    Packages other than fairtrial that are installed in editable mode count as local.

    >>> find_origin("fairtrial.measures")
    PackageOrigin(packages=('fairtrial',), local=False)
    >>> find_origin("fractions"), find_origin("__main__")
    (PackageOrigin(packages=(), local=False), PackageOrigin(packages=(), local=True))
    """
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return PackageOrigin((), False)
    file = _find_file(module)
    if file is None or module == "__main__":
        return PackageOrigin((), True)
    install_kinds = {name: _find_install_kind(name, Path(file).resolve()) for name in _list_candidates(top)}
    packages = {name: install_kind for name, install_kind in install_kinds.items() if install_kind is not None}
    return PackageOrigin(tuple(sorted(packages)), not packages or ("editable" in packages.values() and top != "fairtrial"))


def get_versions(packages: Iterable[str], *, python: bool = False) -> dict[str, str]:
    """Return the versions of packages, their numeric dependencies and, optionally, Python.

    >>> sorted(get_versions(["scikit-learn"]))
    ['numpy', 'scikit-learn', 'scipy']
    """
    names = set(packages)
    names |= {dependency for name in names for dependency in _NUMERIC_DEPENDENCIES.get(name, ())}
    versions = {name: importlib.metadata.version(name) for name in sorted(names)}
    return {"python": platform.python_version(), **versions} if python else versions


def _find_file(module: str) -> str | None:
    """Find the file of a module, even if the module is not imported."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    try:
        spec = find_spec(module.partition(".")[0])
    except ValueError:  # a module without a spec
        return None
    return None if spec is None or not spec.has_location else spec.origin


def _list_candidates(top: str) -> list[str]:
    if top in _COMMON_PACKAGES:
        return [_COMMON_PACKAGES[top]]
    return list(dict.fromkeys([*_map_distributions().get(top, []), top]))


@cache
def _map_distributions() -> dict[str, list[str]]:
    return {top: list(names) for top, names in importlib.metadata.packages_distributions().items()}


def _find_install_kind(name: str, file: Path) -> str | None:
    """Return "installed" or "editable" if a package contains this file, else None."""
    try:
        distribution = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if file.is_relative_to(Path(str(distribution.locate_file(""))).resolve()):
        return "installed"
    direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
    if not direct_url.get("dir_info", {}).get("editable"):
        return None
    folder = Path(url2pathname(urlparse(direct_url["url"]).path)).resolve()
    return "editable" if file.is_relative_to(folder) else None


_SHAPE = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags")
_NAMES = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_METHODS = (FunctionType, property, staticmethod, classmethod)


class CodeWalker:
    """An encoder for a function or class and for all local definitions that its code refers to.

    Definitions are numbered in the order of discovery and refer to each other by number. Circular references can therefore be
    encoded, and hashes do not depend on memory addresses. The function `encode` converts a value to plain values, and must pass
    functions and classes to `number`. The function `is_local` returns whether the code of a module may change without a new
    package version. Comments and line numbers are ignored. Names that are built at run time, for example with `getattr` or
    `eval`, are not followed.
    """

    def __init__(self, encode: Callable[[Any, str], Any], is_local: Callable[[str], bool]) -> None:
        self._encode = encode
        self._is_local = is_local
        self._numbers: dict[int, int] = {}
        self._definitions: list[Any] = []

    def number(self, definition: Any) -> int:
        """Return the number of a function or class, which `walk` encodes later."""
        if id(definition) not in self._numbers:
            self._numbers[id(definition)] = len(self._definitions)
            self._definitions.append(definition)
        return self._numbers[id(definition)]

    def walk(self, definition: Any) -> list[Any]:
        """Encode a function or class and everything that it refers to, directly or indirectly."""
        self.number(definition)  # encoding a definition appends the definitions that it refers to
        return [
            self._encode_class(reached) if isinstance(reached, type) else self._encode_function(reached)
            for reached in self._definitions
        ]

    def _encode_function(self, function: FunctionType) -> Any:
        cells = [_get_content(cell) for cell in function.__closure__ or ()]
        values = [function.__defaults__, function.__kwdefaults__, *cells]
        encoded = {"code": self._encode_code(function.__code__), "held": [self._encode_value(value) for value in values]}
        module = function.__globals__.get("__name__")
        if not isinstance(module, str) or self._is_local(module):
            encoded["named"] = self._encode_names(function.__code__, function.__globals__)
        return encoded

    def _encode_class(self, kind: type[Any]) -> Any:
        attributes = {
            name: self._encode_attribute(attribute)
            for name, attribute in sorted(vars(kind).items())
            if isinstance(attribute, _METHODS) or not _is_dunder(name)  # e.g. __doc__, __slotnames__
        }
        return {"bases": [self._encode_value(base) for base in kind.__bases__], "attributes": attributes}

    def _encode_attribute(self, value: Any) -> Any:
        if isinstance(value, property):
            return {"property": [self._encode_value(accessor) for accessor in (value.fget, value.fset, value.fdel)]}
        if isinstance(value, (staticmethod, classmethod)):
            return {type(value).__name__: self._encode_value(value.__func__)}
        return {"cached": self._encode_value(value.func)} if isinstance(value, cached_property) else self._encode_value(value)

    def _encode_code(self, code: CodeType) -> Any:
        return {
            "code": [code.co_code.hex(), code.co_exceptiontable.hex(), *(getattr(code, field) for field in _SHAPE)],
            "names": [list(getattr(code, field)) for field in _NAMES],
            "constants": [
                self._encode_code(constant) if isinstance(constant, CodeType) else self._encode_value(constant)
                for constant in code.co_consts
            ],
        }

    def _encode_names(self, code: CodeType, namespace: Mapping[str, Any]) -> Any:
        """Encode the current values of the global names that the code uses.

        For a module, only the attributes that the code uses are encoded.
        """
        codes = list(_iter_nested(code))
        used = {name for nested in codes for name in nested.co_names}
        values = {
            name: namespace[name]
            for nested in codes
            for name in _list_global_names(nested)
            if name in namespace and not _is_dunder(name)
        }
        encoded = {name: self._encode_used(values[name], used, ()) for name in sorted(values)}
        imported = [self._encode_import(statement, namespace, used) for part in codes for statement in _iter_imports(part)]
        return {"globals": encoded, "imported": imported}

    def _encode_used(self, value: Any, names: set[str], above: tuple[ModuleType, ...]) -> Any:
        if not isinstance(value, ModuleType):
            return self._encode_value(value)
        if not self._is_local(value.__name__) or value in above:
            return {"module": value.__name__}
        used_names = sorted(name for name in names & set(vars(value)) if not _is_dunder(name))
        return {
            "module": value.__name__,
            "used": {name: self._encode_used(vars(value)[name], names, (*above, value)) for name in used_names},
        }

    def _encode_import(self, statement: tuple[str, Any, int], namespace: Mapping[str, Any], used: set[str]) -> Any:
        """Encode a module that a function imports at run time.

        A module of an installed package is encoded by its name, without importing it.
        """
        name, imported_names, level = statement
        if level == 0 and not self._is_local(name):
            return {"module": name}
        try:
            module = __import__(name, dict(namespace), None, imported_names or (), level)
        except Exception:  # the code may handle a missing module
            return {"module": name, "level": level}
        return self._encode_used(module, used, ())

    def _encode_value(self, value: Any) -> Any:
        """Encode a value, or its class if the value cannot be encoded (e.g. a lock)."""
        if value is ...:
            return {"kind": "..."}
        try:
            return self._encode(value, "what the code names")
        except (InputError, RecursionError):
            return {"kind": self._encode(type(value), "what the code names")}


def _get_content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return ...


def _iter_nested(code: CodeType) -> Iterator[CodeType]:
    """Iterate over a code object and all code objects nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_nested(constant)


def _list_global_names(code: CodeType) -> list[str]:
    return [str(instruction.argval) for instruction in dis.get_instructions(code) if instruction.opname in _GLOBALS]


def _iter_imports(code: CodeType) -> Iterator[tuple[str, Any, int]]:
    """Yield the module, imported names and number of leading dots of each import statement."""
    lines = list(dis.get_instructions(code))
    for level, names, instruction in zip(lines, lines[1:], lines[2:], strict=False):
        if instruction.opname == "IMPORT_NAME":
            yield str(instruction.argval), names.argval, int(level.argval or 0)


def _is_dunder(name: str) -> bool:
    """Return whether a name is special, such as `__file__`.

    The values of special names may differ between machines.
    """
    return name.startswith("__") and name.endswith("__")


_RESERVED_KEYS = frozenset({"class", "type", "function", "method", "partial", "array", "bytes", "number", "mapping", "set"})
_RESERVED_KEYS |= {"range", "slice", "path", "random", "distribution", "pattern", "kind", "module"}


_FORMER_PATHS = {
    "fairtrial.conditions.shift.ClassProportion": "fairtrial.conditions.class_proportion.ClassProportion",
    "fairtrial.conditions.shift.ConceptChange": "fairtrial.conditions.concept_change.ConceptChange",
    "fairtrial.conditions.shift.CovariateShift": "fairtrial.conditions.covariate_shift.CovariateShift",
    "fairtrial.conditions.shift.PriorShift": "fairtrial.conditions.prior_shift.PriorShift",
    "fairtrial.conditions.shift.SelectionBias": "fairtrial.conditions.selection_bias.SelectionBias",
    "fairtrial.learners.prepared.Prepared": "fairtrial.learners.preparing.Prepared",
    "fairtrial.learners.svm.PukSVC": "fairtrial.learners.machines.PukSVC",
    "fairtrial.learners.svm.SMO": "fairtrial.learners.machines.SMO",
    "fairtrial.reproduce.dobscv.learners.SmoteClassifier": "fairtrial.reproduce.dobscv.smoted.Smoted",
    "fairtrial.reproduce.dobscv.learners.UnitChi": "fairtrial.reproduce.dobscv.unit_chi.UnitChi",
    "fairtrial.resampling.dob_scv.DBSCV": "fairtrial.resampling.db_scv.DBSCV",
    "fairtrial.resampling.splitters.FiveByTwo": "fairtrial.resampling.repeated.FiveByTwo",
    "fairtrial.resampling.splitters.Given": "fairtrial.resampling.given.Given",
    "fairtrial.resampling.splitters.Holdout": "fairtrial.resampling.holdout.Holdout",
    "fairtrial.resampling.splitters.KFold": "fairtrial.resampling.kfold.KFold",
    "fairtrial.resampling.splitters.LeaveOneOut": "fairtrial.resampling.leave_one_out.LeaveOneOut",
    "fairtrial.resampling.splitters.RandomSubsampling": "fairtrial.resampling.subsampling.RandomSubsampling",
    "fairtrial.resampling.splitters.Repeated": "fairtrial.resampling.repeated.Repeated",
    "fairtrial.resampling.splitters.StratifiedKFold": "fairtrial.resampling.stratified.StratifiedKFold",
    "fairtrial.resampling.splitters.TenByTen": "fairtrial.resampling.repeated.TenByTen",
    "fairtrial.study.spec.tuning.Tuned": "fairtrial.study.declare.tuning.Tuned",
}
"""Former import paths of classes that have moved.

Trial keys still use these paths, so existing results and seeds stay valid.
"""


def to_canonical(value: Any) -> str:
    """Convert plain values to text that does not depend on the order of dictionary keys.

    >>> to_canonical({"b": 1, "a": (0.1, None)})
    "{'a': [0.1, None], 'b': 1}"
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return repr(value)
    if isinstance(value, Mapping):
        pairs = sorted((to_canonical(key), to_canonical(item)) for key, item in value.items())
        return "{" + ", ".join(f"{key}: {item}" for key, item in pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(to_canonical, value)) + "]"
    raise InputError(
        f"parameter values must be numbers, Booleans, text, None, lists or dictionaries, got {type(value).__name__}"
    )


class Encoder:
    """An encoder that converts values to plain values that JSON can represent.

    A function or class of an installed package is encoded by its name. Any other function or class is encoded by its name and a
    hash of its code (see `CodeWalker`). Objects whose state Python code cannot read are refused, such as locks, open files and
    instances of compiled classes.

    `packages` collects the installed packages that define the values. `local_modules` collects the modules that are not
    installed. `holds_code` is True if any function or class is encoded by a hash of its code.

    >>> from sklearn.svm import SVC
    >>> encoded = Encoder().encode(SVC(C=2.0))
    >>> encoded["class"], encoded["parameters"]["C"]
    ('sklearn.svm._classes.SVC', 2.0)
    """

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self.local_modules: set[str] = set()
        self.holds_code = False
        self._stack: list[int] = []
        self._walker: CodeWalker | None = None

    def encode(self, value: Any, path: str = "value") -> Any:
        """Convert a value to plain values. Error messages refer to the value as `path`."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if id(value) in self._stack:
            raise InputError(f"{path} must not contain itself: a learner with circular parameters cannot be identified")
        self._stack.append(id(value))
        try:
            return self._select_encoder(value)(value, path)
        finally:
            self._stack.pop()

    def _select_encoder(self, value: Any) -> Any:
        encoders = {
            enum.Enum: self._encode_member,
            (float, complex): self._encode_number,
            Mapping: self._encode_mapping,
            (list, tuple): lambda value, path: [self.encode(item, f"{path}[{i}]") for i, item in enumerate(value)],
            (set, frozenset): self._encode_set,
            (bytes, bytearray): lambda value, _: {"bytes": _hash_bytes(bytes(value))},
            range: lambda value, _: {"range": [value.start, value.stop, value.step]},
            slice: lambda value, path: {"slice": self.encode([value.start, value.stop, value.step], path)},
            np.ndarray: self._encode_array,
            np.dtype: lambda value, _: {"type": f"numpy.dtype {value.str} {value.descr}"},
            PurePath: lambda value, _: {"path": str(value)},
            re.Pattern: lambda value, path: {"pattern": self.encode([value.pattern, value.flags], path)},
            np.random.Generator: self._encode_generator,
            np.random.RandomState: lambda value, path: {"random": self.encode(value.get_state(legacy=False), path)},
            np.random.SeedSequence: lambda value, path: {"random": self.encode(value.state, path)},
            functools.partial: self._encode_partial,
            type: self._encode_type,
            MethodType: lambda value, path: {"method": value.__name__, "of": self.encode(value.__self__, path)},
        }
        for kind, encoder in encoders.items():
            if isinstance(value, kind):  # type: ignore[arg-type]
                return encoder
        if isinstance(value, (FunctionType, np.ufunc)) or self._is_function_like(value):
            return self._encode_function
        if all(hasattr(value, attribute) for attribute in ("dist", "args", "kwds")):
            return self._encode_distribution
        return self._encode_object

    def _encode_member(self, value: Any, path: str) -> Any:
        return self._encode_type(type(value), path) | {"value": value.name}

    def _encode_number(self, value: Any, path: str) -> Any:
        plain = isinstance(value, float) and math.isfinite(value)
        return float(value) if plain else {"number": repr(value)}  # JSON has no NaN

    def _encode_mapping(self, value: Mapping[Any, Any], path: str) -> Any:
        pairs = [(self.encode(key, path), self.encode(item, f"{path}[{key!r}]")) for key, item in value.items()]
        if all(type(key) is str and key not in _RESERVED_KEYS for key, _ in pairs):
            return dict(sorted(pairs))
        return {"mapping": sorted(([key, item] for key, item in pairs), key=to_canonical)}

    def _encode_set(self, value: Any, path: str) -> Any:
        return {"set": sorted((self.encode(item, path) for item in value), key=to_canonical)}

    def _encode_array(self, value: npt.NDArray[Any], path: str) -> Any:
        if value.dtype.hasobject:
            return {"array": self.encode(value.tolist(), path), "dtype": "object", "shape": list(value.shape)}
        if isinstance(value, np.ma.MaskedArray):
            return {"array": self.encode([np.ma.getmaskarray(value), value.filled()], path), "dtype": "masked"}
        plain = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"array": _hash_bytes(plain.tobytes()), "dtype": plain.dtype.str, "shape": list(value.shape)}

    def _encode_generator(self, value: np.random.Generator, path: str) -> Any:
        return {"random": self.encode(dict(value.bit_generator.state), path)}

    def _encode_partial(self, value: Any, path: str) -> Any:
        return {"partial": self.encode([value.func, value.args, value.keywords], path)}

    def _encode_type(self, value: type[Any], path: str) -> Any:
        return {"type": self._get_class_name(value)} | self._encode_class_code(value)

    def _encode_distribution(self, value: Any, path: str) -> Any:
        """Encode a frozen SciPy distribution, as used in a random search."""
        name = self._get_class_name(type(value.dist))
        return {"distribution": name, "parameters": self.encode([value.args, value.kwds], path)}

    def _encode_function(self, value: Any, path: str) -> Any:
        """Encode a function by its name and, if necessary, also by its code.

        The name is sufficient if the function can be imported from an installed package.
        """
        module = getattr(value, "__module__", None) or type(value).__module__
        name = f"{module}.{getattr(value, '__qualname__', value.__name__)}"
        local = self._is_local(module)
        if not local and is_importable_by_name(value):
            return {"function": name}
        function = value if isinstance(value, FunctionType) else inspect.unwrap(value)
        if isinstance(function, FunctionType):
            return {"function": name} | self._encode_code(function)
        if local or not name.replace(".", "_").isidentifier():
            raise InputError(f"{path}: {name} is not installed and has no Python code: install it as a package")
        return {"function": name}

    def _is_function_like(self, value: Any) -> bool:
        """Return whether to encode a value as a function.

        This applies to values that can be imported by name, and to wrappers with hidden state, such as those of
        `functools.cache`.
        """
        named = is_importable_by_name(value)
        if has_visible_state(value):
            return named and not self._is_local(value.__module__)
        return named or (callable(value) and isinstance(getattr(value, "__wrapped__", None), FunctionType))

    def _encode_code(self, definition: Any) -> dict[str, Any]:
        """Encode a function or class as a hash of its code.

        Inside another definition, a function or class is encoded as its number in `CodeWalker`.
        """
        self.holds_code = True
        if self._walker is not None:
            return {"number": self._walker.number(definition)}
        self._walker = CodeWalker(self.encode, self._is_local)
        try:
            return {"code": _hash_bytes(to_canonical(self._walker.walk(definition)).encode())}
        finally:
            self._walker = None

    def _encode_object(self, value: Any, path: str) -> Any:
        kind = type(value)
        encoded = {"class": self._get_class_name(kind), "parameters": {}} | self._encode_class_code(kind)
        for name, item in sorted(self._get_parameters(value, path).items()):
            encoded["parameters"][name] = self.encode(item, f"{path}.{name}")
        return encoded

    def _get_parameters(self, value: Any, path: str) -> dict[str, Any]:
        kind = type(value)
        if kind.__name__ == "FrozenEstimator":
            raise InputError(f"{path} must not be a FrozenEstimator, which is already fitted: pass an unfitted estimator")
        if hasattr(value, "get_params"):
            added = getattr(kind, "fairtrial_added_parameters", {})  # new parameters whose defaults do not change old keys
            try:
                parameters = dict(value.get_params(deep=False))
                return {name: item for name, item in parameters.items() if name not in added or item != added[name]}
            except (AttributeError, RuntimeError, TypeError) as error:
                raise InputError(
                    f"{path}: the parameters of {kind.__name__} cannot be read ({error}): store each unchanged in __init__"
                ) from None
        if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        if not has_visible_state(value):
            raise InputError(
                f"{path} must have content that can be hashed, got {kind.__module__}.{kind.__qualname__}: pass numbers, text, "
                "lists, arrays, functions, or objects with get_params"
            )
        state = read_slots(value) | getattr(value, "__dict__", {})
        cached = [name for name in state if isinstance(getattr(kind, name, None), functools.cached_property)]
        return {name: item for name, item in state.items() if name not in [*cached, "__annotations__"]}

    def _is_local(self, module: str) -> bool:
        package_origin = find_origin(module)
        self.packages.update(package_origin.packages)
        if package_origin.local:
            self.local_modules.add(module)
        return package_origin.local

    def _get_class_name(self, kind: type[Any]) -> str:
        for ancestor in kind.__mro__[:-1]:
            self._is_local(ancestor.__module__)
        path = f"{kind.__module__}.{kind.__qualname__}"
        return _FORMER_PATHS.get(path, path)

    def _encode_class_code(self, kind: type[Any]) -> dict[str, Any]:
        """Encode the code of a class if the class or one of its base classes is local."""
        local = any(self._is_local(ancestor.__module__) or "<" in ancestor.__qualname__ for ancestor in kind.__mro__[:-1])
        return self._encode_code(kind) if local else {}


def _hash_bytes(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


PROTOCOL = 1
"""Version of the trial protocol, on which every key depends.

Increase this number if a change of the code alters the predictions of a trial.
"""

KEY = np.dtype("V16")
"""Data type of keys in arrays. A bytes type would drop trailing zeros."""


class LearnerIdentity(NamedTuple):
    """The identity of a learner: its hashes, class, parameters and package versions.

    Unlike `hash`, `draws_hash` does not depend on package versions. The seeds of the learner depend on `draws_hash`. `local` is
    True if the learner contains code that is not part of an installed package.
    """

    hash: str
    draws_hash: str
    class_name: str
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]
    local: bool


class ConditionIdentity(NamedTuple):
    """The identity of a condition: its hash, and the hash that determines its random draws."""

    hash: str
    draws_hash: str


def compute_digest(*parts: bytes | str | int) -> bytes:
    """Compute a 16-byte BLAKE2b digest.

    Each part is encoded with its type and length, so different sequences of parts have different digests.

    >>> compute_digest("ab", "c") == compute_digest("a", "bc"), compute_digest(1) == compute_digest("1"), len(compute_digest())
    (False, False, 16)
    """
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(_encode_part(part))
    return state.digest()


def compute_learner_identity(estimator: Any, name: str = "learner") -> LearnerIdentity:
    """Compute the identity of an estimator.

    The hash covers the class, all nested parameters, and the versions of the packages that define them. If a class or function
    is not installed, the hash also covers its code, everything that the code refers to, and the version of Python. `name` is
    used only in error messages.

    >>> from sklearn.linear_model import LogisticRegression
    >>> identity = compute_learner_identity(LogisticRegression(C=2.0))
    >>> identity.class_name, identity.parameters["C"], sorted(identity.versions)
    ('sklearn.linear_model._logistic.LogisticRegression', 2.0, ['numpy', 'scikit-learn', 'scipy'])
    >>> [identity.hash == compute_learner_identity(LogisticRegression(C=value)).hash for value in (2.0, 1.0)]
    [True, False]
    """
    if isinstance(estimator, type):
        raise InputError(f"{name} must be an estimator, got the class {estimator.__name__}: pass {estimator.__name__}()")
    encoder = Encoder()
    encoded = encoder.encode(estimator, name)
    if not isinstance(encoded, dict) or "class" not in encoded:
        raise InputError(f"{name} must be an estimator with fit and predict, got {type(estimator).__name__}")
    versions = get_versions(encoder.packages, python=encoder.holds_code)
    content = to_canonical(encoded)
    learner_hash = compute_digest("learner", content, to_canonical(versions)).hex()
    draws_hash = compute_digest("learner", content).hex()
    return LearnerIdentity(learner_hash, draws_hash, encoded["class"], encoded["parameters"], versions, encoder.holds_code)


def compute_condition_identity(condition: Condition, name: str = "condition") -> ConditionIdentity:
    """Compute the identity of a condition from its description, classes and functions.

    The random draws do not depend on `part`. The test set therefore changes in the same way with `part="test"` and with
    `part="all"`. For `TrainSize`, the draws do not depend on the size either, so smaller training sets are subsets of larger
    training sets.

    >>> from fairtrial.conditions import ClassNoise
    >>> training, everywhere = (compute_condition_identity(ClassNoise(0.1, part=part)) for part in ("train", "all"))
    >>> training.hash == everywhere.hash, training.draws_hash == everywhere.draws_hash
    (False, True)
    """
    description = condition.describe()
    if " at 0x" in repr(description):
        raise InputError(f"{name} must be described by plain values, got {description}: memory addresses differ between runs")
    encoder = Encoder()
    code = to_canonical([encoder.encode(definition, name) for definition in _list_code(condition)])
    versions = get_versions(encoder.packages, python=encoder.holds_code)
    condition_hash = compute_digest("condition", condition.content_hash, code, to_canonical(versions)).hex()
    return ConditionIdentity(condition_hash, str(_reset_part(condition).content_hash))


def _list_code(value: Any) -> list[Any]:
    """List the classes of a condition and of its steps, and the functions among its parameters."""
    from fairtrial.conditions import Condition

    if isinstance(value, Condition):
        return [type(value), *(definition for field in fields(value) for definition in _list_code(getattr(value, field.name)))]
    if isinstance(value, (list, tuple)):
        return [definition for member in value for definition in _list_code(member)]
    return [value] if callable(value) else []


def _reset_part(value: Any) -> Any:
    from fairtrial.conditions import Condition

    if isinstance(value, (list, tuple)):
        return type(value)(map(_reset_part, value))
    if not isinstance(value, Condition):
        return value
    parameters = {field.name: _reset_part(getattr(value, field.name)) for field in fields(value) if field.init}
    return replace(value, **parameters | {"part": type(value).part} | dict(value._shared_draws))


def hash_split(train: IntArray, test: IntArray, repeat: int, fold: int) -> str:
    """Hash a split: its training and test rows in order, its repeat number and its fold number.

    >>> hash_split(np.array([0, 1]), np.array([2]), 0, 0) == hash_split(np.array([0]), np.array([1, 2]), 0, 0)
    False
    """
    sides = (np.ascontiguousarray(side, dtype="<i8").tobytes() for side in (train, test))
    return compute_digest("split", repeat, fold, *sides).hex()


def compute_trial_keys(
    seed: int,
    data: str,
    splits: Sequence[str],
    conditions: Sequence[str],
    learners: Sequence[str],
    protocol: int = PROTOCOL,
) -> npt.NDArray[np.void]:
    """Compute the keys of all trials on a data set, with shape (splits, conditions, learners).

    A key is a digest of the word "trial", the protocol version, the seed of the study and four hashes. These are the hashes of
    the data set, the split, the condition and the learner.
    """
    start = hashlib.blake2b(b"".join(_encode_part(part) for part in ("trial", protocol, seed, data)), digest_size=16)
    inner, last = list(map(_encode_part, conditions)), list(map(_encode_part, learners))
    keys = []
    for split in splits:
        split_state = start.copy()
        split_state.update(_encode_part(split))
        for condition in inner:
            context_state = split_state.copy()
            context_state.update(condition)
            for learner in last:
                state = context_state.copy()
                state.update(learner)
                keys.append(state.digest())
    return np.frombuffer(b"".join(keys), dtype=KEY).reshape(len(splits), len(inner), len(last))


def _encode_part(part: bytes | str | int) -> bytes:
    if isinstance(part, bytes):
        kind, data = b"b", part
    elif isinstance(part, str):
        kind, data = b"s", part.encode()
    else:
        kind, data = b"i", str(int(part)).encode()
    return kind + len(data).to_bytes(8, "little") + data
