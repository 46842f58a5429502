"""Read, validate and judge predictions made with any framework. `fairtrial.judge` is the entry point."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.predictions.gate import GateResult as GateResult
    from fairtrial.predictions.judgement import Judgement as Judgement
    from fairtrial.predictions.planning import plan_test as plan_test
    from fairtrial.predictions.read import read_predictions as read_predictions
    from fairtrial.predictions.thresholds import ThresholdResult as ThresholdResult, choose_threshold as choose_threshold

__all__ = ["GateResult", "Judgement", "ThresholdResult", "choose_threshold", "plan_test", "read_predictions"]

_MODULES = {
    "GateResult": "gate",
    "Judgement": "judgement",
    "ThresholdResult": "thresholds",
    "choose_threshold": "thresholds",
    "plan_test": "planning",
    "read_predictions": "read",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.predictions.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.predictions' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
