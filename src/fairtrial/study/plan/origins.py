"""Where code comes from: the installed packages that a class or function belongs to, or its own text where there is none."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import sys
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from fairtrial.errors import InputError

# Looking through all that is installed takes a quarter of a second; these are in nearly every study.
_USUAL = {
    "sklearn": "scikit-learn",
    "imblearn": "imbalanced-learn",
    "numpy": "numpy",
    "scipy": "scipy",
    "fairtrial": "fairtrial",
}


@dataclass(frozen=True)
class Origin:
    """The distributions that a module was installed with; `local` where its text may change without a new version."""

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
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or module == "__main__":
        return Origin((), True)
    places = {name: _place(name, Path(file).resolve()) for name in _candidates(top)}
    found = {name: place for name, place in places.items() if place is not None}
    return Origin(tuple(sorted(found)), not found or ("editable" in found.values() and top != "fairtrial"))


def versions_of(packages: Iterable[str]) -> dict[str, str]:
    """The installed version of each; with scikit-learn that of NumPy, which does the arithmetic for it.

    >>> sorted(versions_of(["scikit-learn"]))
    ['numpy', 'scikit-learn']
    """
    names = set(packages)
    if "scikit-learn" in names:
        names.add("numpy")
    return {name: importlib.metadata.version(name) for name in sorted(names)}


def source_of(thing: Any, place: str) -> str:
    """The text of a class or function, without its indentation."""
    try:
        return textwrap.dedent(inspect.getsource(thing)).strip()
    except (OSError, TypeError):
        name = getattr(thing, "__qualname__", repr(type(thing)))
        raise InputError(
            f"{place}: {name} belongs to no installed package and its text cannot be found, so that a change of it would go "
            "unnoticed: put it into a file or a package"
        ) from None


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
