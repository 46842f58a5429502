"""Where code comes from: the installed packages that a class or function belongs to, and their versions."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

# Looking through all that is installed takes a quarter of a second; these are in nearly every study.
_USUAL = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "numpy": "numpy",
    "scipy": "scipy",
    "fairtrial": "fairtrial",
}
_BESIDE = {"scikit-learn": ("numpy", "scipy"), "fairtrial": ("numpy", "numba")}
"""Packages that do the arithmetic for another one."""


@dataclass(frozen=True)
class Origin:
    """The distributions that a module was installed with; `local` where its code may change without a new version."""

    packages: tuple[str, ...]
    local: bool


@cache
def origin(module: str) -> Origin:
    """Where a module comes from. That of an editable install counts as local too, since it is edited; fairtrial does not.

    >>> origin("fairtrial.errors")
    Origin(packages=('fairtrial',), local=False)
    >>> origin("fractions"), origin("__main__")
    (Origin(packages=(), local=False), Origin(packages=(), local=True))
    """
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return Origin((), False)
    file = _file(module)
    if file is None or module == "__main__":
        return Origin((), True)
    places = {name: _place(name, Path(file).resolve()) for name in _candidates(top)}
    found = {name: place for name, place in places.items() if place is not None}
    return Origin(tuple(sorted(found)), not found or ("editable" in found.values() and top != "fairtrial"))


def versions_of(packages: Iterable[str], *, python: bool = False) -> dict[str, str]:
    """The installed version of each, and of those that do the arithmetic for it; with `python` that of Python, too.

    >>> sorted(versions_of(["scikit-learn"]))
    ['numpy', 'scikit-learn', 'scipy']
    """
    names = set(packages)
    names |= {beside for name in names for beside in _BESIDE.get(name, ())}
    found = {name: importlib.metadata.version(name) for name in sorted(names)}
    return {"python": platform.python_version(), **found} if python else found


def _file(module: str) -> str | None:
    """Where the code of a module is, also of one that nobody has imported yet."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__file__", None)
    try:
        found = find_spec(module.partition(".")[0])
    except ValueError:  # a module that was made by hand
        return None
    return None if found is None or not found.has_location else found.origin


def _candidates(top: str) -> list[str]:
    if top in _USUAL:
        return [_USUAL[top]]
    return list(dict.fromkeys([*_distributions().get(top, []), top]))


@cache
def _distributions() -> dict[str, list[str]]:
    return {top: list(names) for top, names in importlib.metadata.packages_distributions().items()}


def _place(name: str, file: Path) -> str | None:
    """How the distribution holds this file; None where it does not, whatever the name of the module."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    if file.is_relative_to(Path(str(found.locate_file(""))).resolve()):
        return "installed"
    told = json.loads(found.read_text("direct_url.json") or "{}")
    if not told.get("dir_info", {}).get("editable"):
        return None
    folder = Path(url2pathname(urlparse(told["url"]).path)).resolve()
    return "editable" if file.is_relative_to(folder) else None
