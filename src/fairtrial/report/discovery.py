"""Registries whose entries are found, not listed: the modules of a package register what they define."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

from fairtrial._registry import Registry

T = TypeVar("T")


class PackageRegistry(Registry[T]):
    """A registry that imports every module of a package before the first lookup, then the entry points.

    A new module in the package is enough to add an entry: there is no other list to extend.

    >>> from fairtrial.report.figures.registry import figures
    >>> figures["cd"].names
    ('critical-difference', 'cd')
    """

    def __init__(self, kind: str, *, group: str, package: str) -> None:
        super().__init__(kind, group=group)
        self._package = package

    def _load(self) -> None:
        if not self._loaded:
            for module in iter_modules(import_module(self._package).__path__):
                import_module(f"{self._package}.{module.name}")
        super()._load()
