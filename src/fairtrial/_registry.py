"""Registries of named objects. Objects are registered where they are defined, and entry points can add more."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Generic, TypeVar

from fairtrial.errors import InputError, UnknownNameError


def find_similar_name(name: object, candidates: Iterable[object]) -> object | None:
    """Find the candidate closest to a misspelled name. Return None if no candidate is close.

    >>> find_similar_name("acuracy", ["accuracy", "auc"]), find_similar_name("x", ["mean", "median"])
    ('accuracy', None)
    """
    options = {str(option): option for option in candidates}
    lower = {text.lower(): text for text in options}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1)
    return options[lower[near[0]]] if near else None


def format_similar_name(name: object, candidates: Iterable[object]) -> str:
    """Suggest the closest known name, in a form that can be appended to a message.

    The string is empty if no name is close.

    >>> format_similar_name("acuracy", ["accuracy", "auc"]), format_similar_name("x", ["mean", "median"])
    (": did you mean 'accuracy'?", '')
    """
    similar = find_similar_name(name, candidates)
    return "" if similar is None else f": did you mean {similar!r}?"


def suggest_name(name: object, candidates: Iterable[object]) -> str:
    """Suggest the closest known name. If no name is close, list all names.

    >>> suggest_name("acuracy", ["accuracy", "auc"])
    "did you mean 'accuracy'?"
    """
    options = list(candidates)
    similar = find_similar_name(name, options)
    return "known: " + ", ".join(sorted(map(str, options))) if similar is None else f"did you mean {similar!r}?"


T = TypeVar("T")


def _is_same_definition(first: object, second: object) -> bool:
    """Return whether both objects were defined under the same name in the same module."""
    return all(
        getattr(first, attribute, first) == getattr(second, attribute, second) for attribute in ("__module__", "__qualname__")
    )


class Registry(Generic[T]):
    """A registry of objects, keyed by name. Other packages can add objects through an entry-point group.

    The first lookup loads the entry points. If `package` is given, the first lookup also imports all modules of this package,
    which register their objects.

    >>> shapes = Registry[int]("shape", group="example.shapes")
    >>> shapes.add("square", 4, aliases=["quad"])
    >>> shapes["quad"]
    4
    >>> shapes["sqare"]
    Traceback (most recent call last):
    fairtrial.errors.UnknownNameError: no shape is called 'sqare': did you mean 'square'?
    """

    def __init__(self, kind: str, *, group: str, package: str = "") -> None:
        self._kind = kind
        self._group = group
        self._package = package
        self._items: dict[str, T] = {}
        self._aliases: dict[str, str] = {}
        self._loaded = False

    def add(self, name: str, item: T, *, aliases: Iterable[str] = ()) -> None:
        """Register an object.

        An InputError is raised if another object has the same name. An object with the same definition is replaced.
        """
        names = [name, *aliases]
        for new_name in names:
            existing = self._items.get(self._aliases.get(new_name, new_name))
            if existing is not None and not _is_same_definition(existing, item):
                raise InputError(f"a {self._kind} called {new_name!r} already exists: choose another name")
        self._items[name] = item
        self._aliases.update(dict.fromkeys(names[1:], name))

    def remove(self, name: str) -> None:
        """Remove an object and its aliases."""
        canonical = self._aliases.get(name, name)
        del self._items[canonical]
        self._aliases = {alias: target for alias, target in self._aliases.items() if target != canonical}

    def __getitem__(self, name: str) -> T:
        self._load()
        try:
            return self._items[self._aliases.get(name, name)]
        except KeyError:
            hint = suggest_name(name, [*self._items, *self._aliases])
            raise UnknownNameError(f"no {self._kind} is called {name!r}: {hint}") from None

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._items or name in self._aliases

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._items)

    def __len__(self) -> int:
        self._load()
        return len(self._items)

    def names(self) -> list[str]:
        """Return all names and aliases."""
        self._load()
        return [*self._items, *self._aliases]

    def values(self) -> list[T]:
        """Return all objects in registration order."""
        self._load()
        return list(self._items.values())

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        if self._package:
            for module in iter_modules(import_module(self._package).__path__, f"{self._package}."):
                import_module(module.name)
        for point in entry_points(group=self._group):
            point.load()
