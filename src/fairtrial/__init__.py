"""A fair trial for every learning algorithm."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

_PARTS = ("conditions", "data", "errors", "learners", "measures", "report", "resampling", "significance", "study")

__version__ = version("fairtrial")


def __getattr__(name: str) -> Any:
    """Parts are imported when first used: importing fairtrial itself stays fast."""
    if name in _PARTS:
        return import_module(f"fairtrial.{name}")
    raise AttributeError(f"module 'fairtrial' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PARTS])
