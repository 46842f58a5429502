"""A fair trial for every learning algorithm."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.report.draw import draw as draw
    from fairtrial.report.report import write_report as write_report
    from fairtrial.study import Study as Study, open_results as open_results

_PARTS = ("conditions", "data", "errors", "learners", "measures", "report", "reproduce", "resampling", "significance", "study")
_NAMES = {"Study": "study", "draw": "report.draw", "open_results": "study", "write_report": "report.report"}

__version__ = version("fairtrial")


def __getattr__(name: str) -> Any:
    """Parts are imported when first used: importing fairtrial itself stays fast."""
    if name in _PARTS:
        return import_module(f"fairtrial.{name}")
    if name in _NAMES:
        return getattr(import_module(f"fairtrial.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'fairtrial' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PARTS, *_NAMES])
