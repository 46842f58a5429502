"""Rules for the code that a study file may run: installed classes and, if the user allows it, any other code.

A study file may come from a stranger. Unless the user allows local code, the file can use only a few factories and the
estimators, transformers, samplers and splitters of installed packages. Its parameters must not contain paths. Each import path
is checked before anything is imported.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import re
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from fairtrial.errors import InputError, UnknownNameError

_OPTION = "pass --allow-local-code (in Python: allow_local_code=True)"
_REMEDY = f"install it as a package, or {_OPTION}"

FACTORIES = (
    "imblearn.pipeline.make_pipeline",
    "sklearn.compose.make_column_transformer",
    "sklearn.pipeline.make_pipeline",
    "sklearn.pipeline.make_union",
)
"""Functions that every study file may call, in addition to `SELECTOR`."""

SELECTOR = "sklearn.compose.make_column_selector"

_ESTIMATOR_METHODS = ("get_params", "set_params")
"""Methods that scikit-learn's `BaseEstimator` and compatible classes (CatBoost) have in addition to `fit`."""

_PATH_WORDS = (
    *("cache", "cachedir", "checkpoint", "dir", "directory", "file", "filename", "folder", "memory", "path", "snapshot"),
    *("uri", "url"),
)
"""A parameter whose name contains one of these words must not contain text or objects."""

_PATH_PARAMETERS = {
    "CatBoost": ("input_borders", "output_borders", "save_snapshot"),
    "LightGBM": ("forced_splits", "fs", "machine_list", "mlist"),
    "LightGBM models": ("input_model", "model_in", "model_input", "model_out", "model_output", "output_model"),
    "XGBoost": ("xgb_model",),
}
"""Parameters, keyed by library, that contain paths although their names do not suggest it.

`save_snapshot` is a Boolean that makes CatBoost write a file.
"""

_NOT_PATHS = ("path_method",)
"""Parameters of scikit-learn that do not contain paths although their names contain one of `_PATH_WORDS`."""

_FILE_INPUTS = ("file", "filename")
"""Values of the parameter `input` that make scikit-learn's text vectorizers read each cell as a file."""

_TEXT_KEYWORDS = (
    *("booster", "boosting", "data_sample_strategy", "device", "device_type", "eval_metric", "grow_policy", "metric"),
    *("monotone_constraints_method", "multi_strategy", "objective", "sampling_method", "tree_learner", "tree_method"),
)
"""Undeclared keywords (`**kwargs`) that may contain text."""


@dataclass(frozen=True)
class CodePolicy:
    """A policy for the code that a study may use: installed packages only or, if `allow_local` is true, any code."""

    allow_local: bool = False
    folder: Path | None = None

    def load_class(self, path: str, *methods: str) -> type[Any]:
        """Import a class, and refuse it if it lacks any of the given methods."""
        return import_class(path, methods=methods, allow_local_code=self.allow_local, folder=self.folder)

    def load_maker(self, path: str, *methods: str) -> Callable[..., Any]:
        """Import a class that has the given methods, or a factory whose results have them."""
        if path in FACTORIES:
            return _import_attribute(path, *path.rpartition(".")[::2])  # type: ignore[no-any-return]
        return self.load_class(path, *methods)

    def load_selector(self, path: str) -> Callable[..., Any]:
        """Import `make_column_selector`. Refuse any other path."""
        if path != SELECTOR:
            raise InputError(f"selector must be {SELECTOR!r}, got {path!r}: correct it, or list the columns by name")
        return _import_attribute(path, *path.rpartition(".")[::2])  # type: ignore[no-any-return]

    def load_function(self, path: str) -> Callable[..., Any]:
        """Import a function if the user allows local code."""
        if not self.allow_local:
            raise InputError(f"{path!r} is refused because a study file must not name functions: {_OPTION}")
        function = _import_local(path, self.folder or Path())
        if not callable(function):
            raise InputError(f"{path} must be a function, got {function!r}")
        return function  # type: ignore[no-any-return]

    def check_parameter(self, name: str, value: Any) -> None:
        """Refuse a parameter that may contain a path, unless the user allows local code.

        `_PATH_PARAMETERS` lists such parameters of known libraries. Any other parameter whose name contains a word such as
        `memory`, `file`, `path` or `dir` must be a number, a Boolean or None.

        >>> CodePolicy().check_parameter("cache_size", 200)
        >>> CodePolicy().check_parameter("learn__memory", "cache")
        Traceback (most recent call last):
        fairtrial.errors.InputError: memory must not be a path in a study file, got 'cache': remove it, or pass \
--allow-local-code (in Python: allow_local_code=True)
        """
        if self.allow_local:
            return
        parameter = name.rpartition("__")[2]
        words = re.findall("[A-Z]?[a-z]+|[A-Z]+", parameter)
        named = any(parameter in names for names in _PATH_PARAMETERS.values()) or (
            parameter not in _NOT_PATHS and any(word.lower() in _PATH_WORDS for word in words)
        )
        if (named and _contains_path(parameter, value)) or (parameter == "input" and _contains_any(value, _FILE_INPUTS)):
            raise InputError(f"{parameter} must not be a path in a study file, got {value!r}: remove it, or {_OPTION}")

    def check_keywords(self, name: str, maker: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
        """Refuse text in undeclared parameters (`**kwargs`) of a class, because the text may be a path."""
        declared = inspect.signature(maker).parameters
        if self.allow_local or all(parameter.kind is not parameter.VAR_KEYWORD for parameter in declared.values()):
            return
        for parameter, value in parameters.items():
            if parameter not in declared and parameter not in _TEXT_KEYWORDS and _contains_path(parameter, value):
                reason = f"{name} does not declare {parameter!r}, so its text may be a path"
                raise InputError(f"{parameter} must be a number, got {value!r}: {reason}; remove it, or {_OPTION}")


def _contains_path(parameter: str, value: Any) -> bool:
    """Return whether a value may contain or imply a path: text, an object, or a true `save_snapshot`."""
    if isinstance(value, Mapping):
        return value != {"value": "none"} and any(_contains_path(parameter, item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_contains_path(parameter, item) for item in value)
    if parameter == "save_snapshot":
        return bool(value)
    return not (value is None or isinstance(value, (bool, int, float)))


def _contains_any(value: Any, texts: tuple[str, ...]) -> bool:
    return any(_contains_any(item, texts) for item in value) if isinstance(value, (list, tuple)) else value in texts


def import_class(
    path: str, *, methods: tuple[str, ...] = ("fit", "predict"), allow_local_code: bool = False, folder: Path | None = None
) -> type[Any]:
    """Import a class by its path, `package.module.Class`.

    The module must belong to an installed package. Editable installs are allowed. The standard library, `__main__`, files, and
    modules that are found only in the current folder or through PYTHONPATH are refused. If `allow_local_code` is true, any
    module is allowed, including the modules in `folder` (default: the current folder). A class in a Python file in that folder
    can then be given as `file.py:Class`.

    >>> import_class("sklearn.tree.DecisionTreeClassifier").__name__
    'DecisionTreeClassifier'
    >>> import_class("os.system")
    Traceback (most recent call last):
    fairtrial.errors.InputError: 'os.system' is refused: os is part of the standard library, which has no learners or splitters
    """
    if not allow_local_code:
        check_installed(path, folder)
        attribute = _import_attribute(path, *path.rpartition(".")[::2])
    else:
        attribute = _import_local(path, folder or Path())
    if not (inspect.isclass(attribute) and all(hasattr(attribute, method) for method in methods)):
        raise InputError(f"{path} must be a class with {' and '.join(methods)}, got {attribute!r}")
    if not allow_local_code and "fit" in methods and not all(hasattr(attribute, method) for method in _ESTIMATOR_METHODS):
        rule = f"a class with {', '.join(methods)}, {' and '.join(_ESTIMATOR_METHODS)}"
        raise InputError(f"{path} must be an estimator of scikit-learn ({rule}), got {attribute!r}: {_OPTION}")
    return attribute


def find_module_beside(module: str, folder: Path) -> str | None:
    """Find the file or folder of the top-level package of a module, next to the study."""
    importlib.invalidate_caches()
    spec = PathFinder.find_spec(module.partition(".")[0], [str(folder.resolve())])
    return None if spec is None else _get_source(spec)


@contextmanager
def make_importable(folder: Path) -> Iterator[None]:
    """Temporarily append a folder to the import path.

    If the `with` block imports a module from this folder, objects defined in the module are pickled together with its code.
    """
    path, loaded = str(folder.resolve()), set(sys.modules)
    sys.path.append(path)
    try:
        yield
    finally:
        sys.path.reverse()
        sys.path.remove(path)
        sys.path.reverse()
        _register_code(set(sys.modules) - loaded, folder)


def check_not_shadowed(path: str, module: str, folder: Path) -> None:
    """Refuse a module next to the study if a module of the same name was imported from another folder."""
    top = module.partition(".")[0]
    local_source, loaded_module = find_module_beside(module, folder), sys.modules.get(top)
    spec = getattr(loaded_module, "__spec__", None)
    if local_source is None or spec is None or top in sys.builtin_module_names:
        return
    loaded_source = _get_source(spec)
    if loaded_source is not None and os.path.realpath(loaded_source) != os.path.realpath(local_source):
        raise InputError(
            f"{path!r} refers to {local_source}, but {top} was already imported from {loaded_source}: rename the module"
        )


def _register_code(names: set[str], folder: Path) -> None:
    import cloudpickle

    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if "." not in name and spec is not None and find_module_beside(name, folder) == _get_source(spec) is not None:
            cloudpickle.register_pickle_by_value(sys.modules[name])


def _get_source(spec: ModuleSpec) -> str | None:
    """Return the file of a module, or the first folder of a namespace package."""
    if spec.origin is not None:
        return spec.origin
    return next(iter(spec.submodule_search_locations or ()), None)


def check_installed(path: str, folder: Path | None = None) -> None:
    """Refuse an import path outside the installed packages. Nothing is imported."""
    parts = path.split(".")
    if any(character in path for character in "/\\:") or path.endswith(".py"):
        raise InputError(f"{path!r} is refused because it is not of the form package.module.Class: {_REMEDY}")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise UnknownNameError(f"no class can be imported as {path!r}: write package.module.Class")
    if "__main__" in parts:
        raise InputError(f"{path!r} is refused because __main__ is not a package: {_REMEDY}")
    if parts[0] in sys.stdlib_module_names:
        raise InputError(f"{path!r} is refused: {parts[0]} is part of the standard library, which has no learners or splitters")
    _check_modules(path, parts[:-1], folder or Path())


def _check_modules(path: str, modules: list[str], folder: Path) -> None:
    """Check that the modules of an import path come from an installed package.

    Modules below the first component that is not a namespace package are not checked.
    """
    name, trusted, actual = "", list_installed_folders(), None
    for part in modules:
        name = f"{name}.{part}" if name else part
        installed = PathFinder.find_spec(name, trusted) or _find_editable_spec(name)
        imported_spec = _find_module(name) if actual is None else PathFinder.find_spec(name, actual)
        if imported_spec is None and (local_source := find_module_beside(name, folder) if actual is None else None):
            raise InputError(f"{path!r} is refused because {name} is local code ({local_source}): {_REMEDY}")
        if imported_spec is None:
            raise UnknownNameError(f"no class can be imported as {path!r}: there is no module {name}")
        if installed is None or (
            imported_spec.origin is not None and not _is_same_file(installed.origin, imported_spec.origin)
        ):
            where = f" ({imported_spec.origin})" if imported_spec.origin else ""
            raise InputError(f"{path!r} is refused because {name}{where} is not part of an installed package: {_REMEDY}")
        if imported_spec.origin is not None:
            return
        trusted, actual = _get_search_locations(installed), _get_search_locations(imported_spec)


def _find_module(name: str) -> ModuleSpec | None:
    """Find the module that Python would import or has already imported."""
    try:
        return find_spec(name)
    except ValueError:  # a module without a spec
        return None


def list_installed_folders() -> list[str]:
    """List the folders of installed packages, including folders of editable installs."""
    folders = [*site.getsitepackages(), *(sysconfig.get_path(key) for key in ("purelib", "platlib"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    folders = list(dict.fromkeys(folders))
    return [*folders, *dict.fromkeys(path for folder in folders for path in _read_pth_folders(Path(folder)))]


def _read_pth_folders(folder: Path) -> Iterable[str]:
    """Read the folders that .pth files list, as the module `site` does."""
    for file in sorted(folder.glob("*.pth")):
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            if line.strip() and not line.startswith(("#", "import ", "import\t")):
                path = os.path.join(folder, line.strip())
                if os.path.isdir(path):
                    yield path


def _find_editable_spec(name: str) -> ModuleSpec | None:
    """Find a module with the import finders that editable installs register."""
    for finder in sys.meta_path:
        if str(getattr(finder, "__module__", "")).startswith("__editable__"):
            spec = finder.find_spec(name, None)
            if spec is not None:
                return spec
    return None


def _get_search_locations(spec: ModuleSpec) -> list[str]:
    return list(spec.submodule_search_locations or ())


def _is_same_file(first: str | None, second: str) -> bool:
    return first is not None and os.path.realpath(first) == os.path.realpath(second)


def _import_local(path: str, folder: Path) -> Any:
    """Import any class or function, installed or local. The user must have allowed local code."""
    module, _, name = path.rpartition(":" if ":" in path else ".")
    if not module or not name.isidentifier():
        raise UnknownNameError(f"no class can be imported as {path!r}: write package.module.Class or file.py:Class")
    if module.endswith(".py"):
        with make_importable((folder / module).parent):
            return _import_attribute(path, _run_file(folder / module, path), name)
    if "/" in path or "\\" in path:
        raise UnknownNameError(f"no class can be imported as {path!r}: for a file, write file.py:Class")
    if not _is_installed(path):
        check_not_shadowed(path, module, folder)
        top = module.partition(".")[0]
        if _find_module(top) is None and find_module_beside(module, folder) is None and top != "__main__":
            reason = f"there is no module {top}, neither installed nor in the folder {folder.resolve()}"
            raise UnknownNameError(f"no class can be imported as {path!r}: {reason}")
    with make_importable(folder):
        return _import_attribute(path, module, name)


def _is_installed(path: str) -> bool:
    try:
        check_installed(path)
    except InputError:
        return False
    return True


def _run_file(file: Path, path: str) -> str:
    """Import a file as a module unless it was imported before, and return the name of the module."""
    file = file.resolve()
    name = f"fairtrial_local_{file.stem}"
    if name in sys.modules and not _is_same_file(sys.modules[name].__file__, str(file)):
        name += f"_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return name
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise UnknownNameError(f"no class can be imported as {path!r}: there is no file {file}")
    sys.modules[name] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise InputError(f"{path!r} cannot be imported: {type(error).__name__}: {error}") from error
    return name


def _import_attribute(path: str, module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"no class can be imported as {path!r}: {error}") from None
    except Exception as error:
        raise InputError(f"{path!r} cannot be imported: {type(error).__name__}: {error}") from error
