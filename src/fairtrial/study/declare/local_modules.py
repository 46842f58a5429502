"""Modules that lie beside a study: found there while they are imported, and sent with their code to other processes."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from fairtrial.errors import InputError


def module_beside(module: str, folder: Path) -> str | None:
    """The file or the folder beside the study that this module, or the package that it lies in, would be read from."""
    importlib.invalidate_caches()
    spec = PathFinder.find_spec(module.partition(".")[0], [str(folder.resolve())])
    return None if spec is None else _source(spec)


@contextmanager
def importable_from(folder: Path) -> Iterator[None]:
    """Within, modules of the folder are found after all others; they will travel with their code, since only this process
    knows where they are."""
    place, known = str(folder.resolve()), set(sys.modules)
    sys.path.append(place)
    try:
        yield
    finally:
        sys.path.reverse()
        sys.path.remove(place)
        sys.path.reverse()
        _send_code_of(set(sys.modules) - known, folder)


def check_not_another(path: str, module: str, folder: Path) -> None:
    """Refuse a module beside the study where another one of its name, of another folder, has been imported before."""
    top = module.partition(".")[0]
    beside, there = module_beside(module, folder), sys.modules.get(top)
    spec = getattr(there, "__spec__", None)
    if beside is None or spec is None or top in sys.builtin_module_names:
        return
    found = _source(spec)
    if found is not None and os.path.realpath(found) != os.path.realpath(beside):
        raise InputError(
            f"{path!r} means {beside}, but {top} has been imported from {found} before: give the module another name"
        )


def _send_code_of(names: set[str], folder: Path) -> None:
    import cloudpickle

    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if "." not in name and spec is not None and module_beside(name, folder) == _source(spec) is not None:
            cloudpickle.register_pickle_by_value(sys.modules[name])


def _source(spec: ModuleSpec) -> str | None:
    """The file of a module; of a package without one its first folder."""
    if spec.origin is not None:
        return spec.origin
    return next(iter(spec.submodule_search_locations or ()), None)
