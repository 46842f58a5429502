"""Read, validate and judge predictions from any framework. `fairtrial.judge` is the entry point."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.predictions.judgement import Judgement as Judgement
    from fairtrial.predictions.read import read_predictions as read_predictions

__all__ = ["Judgement", "read_predictions"]

_MODULES = {"Judgement": "judgement", "read_predictions": "read"}


def __getattr__(name: str) -> Any:
    """Import names on first use."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.predictions.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.predictions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
