"""Compare classifiers, and test whether the result holds under noise, imbalance and drift."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.predictions.gate import gate as gate
    from fairtrial.predictions.judgement import judge as judge
    from fairtrial.report.figures.registry import draw as draw
    from fairtrial.report.report import write_report as write_report
    from fairtrial.significance.compare import compare as compare
    from fairtrial.study.results.results import open_results as open_results
    from fairtrial.study.study import Study as Study

__all__ = ["Study", "compare", "draw", "gate", "judge", "open_results", "write_report"]

_PACKAGES = (
    "conditions",
    "data",
    "errors",
    "learners",
    "measures",
    "predictions",
    "report",
    "reproduce",
    "resampling",
    "significance",
    "study",
    "testing",
)
_MODULES = {
    "Study": "study.study",
    "compare": "significance.compare",
    "draw": "report.figures.registry",
    "gate": "predictions.gate",
    "judge": "predictions.judgement",
    "open_results": "study.results.results",
    "write_report": "report.report",
}

__version__ = version("fairtrial")


def __getattr__(name: str) -> Any:
    """Import subpackages and public objects on first use, so `import fairtrial` stays fast."""
    if name in _PACKAGES:
        return import_module(f"fairtrial.{name}")
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_PACKAGES, *_MODULES])
