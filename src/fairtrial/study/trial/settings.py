"""Settings of a whole process that a learner may change, and that its neighbours must not meet: noted once, put back after."""

from __future__ import annotations

import gc
import locale
import os
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class _Setting(NamedTuple):
    """How a setting is read, cheaply, and how it is set to what was read."""

    read: Callable[[], Any]
    write: Callable[[Any], object]


class Settings:
    """The settings as they are when this is made; those of NumPy and scikit-learn, too.

    >>> import numpy as np
    >>> settings = Settings()
    >>> before = np.seterr(all="raise")
    >>> settings.put_back()
    >>> np.geterr() == before
    True
    """

    def __init__(self) -> None:
        self._noted = [(each, each.read()) for each in _settings()]

    def put_back(self) -> None:
        """Set what differs; raises what a system raises that will not have it."""
        for setting, noted in self._noted:
            if setting.read() != noted:
                setting.write(noted)


def _settings() -> list[_Setting]:
    import numpy as np
    import sklearn

    return [
        _Setting(np.geterr, lambda noted: np.seterr(**noted)),
        _Setting(np.geterrcall, np.seterrcall),
        _Setting(sklearn.get_config, lambda noted: sklearn.set_config(**noted)),
        _environment(),
        _path(),
        _Setting(os.getcwd, os.chdir),
        _Setting(lambda: locale.setlocale(locale.LC_ALL), lambda noted: locale.setlocale(locale.LC_ALL, noted)),
        _Setting(sys.getrecursionlimit, sys.setrecursionlimit),
        _Setting(gc.isenabled, lambda noted: gc.enable() if noted else gc.disable()),
        _Setting(gc.get_threshold, lambda noted: gc.set_threshold(*noted)),
    ]


def _environment() -> _Setting:
    """The variables as the process has them, in bytes: `os.environ` would decode each of them every time."""
    variables, held = os.environb, os.environb._data  # type: ignore[attr-defined]

    def write(noted: dict[bytes, bytes]) -> None:
        for name in held.keys() - noted.keys():
            del variables[name]
        for name, value in noted.items():
            if held.get(name) != value:
                variables[name] = value

    return _Setting(held.copy, write)


def _path() -> _Setting:
    path = sys.path

    def write(noted: list[str]) -> None:
        sys.path, path[:] = path, noted

    return _Setting(lambda: list(sys.path), write)
