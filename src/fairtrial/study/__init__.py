"""Whole studies: declared, run, kept, judged."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.study.declare.study import Study as Study
    from fairtrial.study.engine.coordinator import run as run
    from fairtrial.study.environment_matrix import EnvironmentMatrix as EnvironmentMatrix
    from fairtrial.study.environments import run_environments as run_environments
    from fairtrial.study.plan.dry_run import dry_run as dry_run
    from fairtrial.study.predictions.judgement import judge as judge
    from fairtrial.study.predictions.predictions import read_predictions as read_predictions
    from fairtrial.study.results.results import Results as Results, open_results as open_results
    from fairtrial.study.store.exporting import export as export
    from fairtrial.study.store.merging import merge as merge
    from fairtrial.study.store.store import Store as Store

_MODULES = {
    "EnvironmentMatrix": "environment_matrix",
    "Results": "results.results",
    "Store": "store.store",
    "Study": "declare.study",
    "dry_run": "plan.dry_run",
    "export": "store.exporting",
    "merge": "store.merging",
    "open_results": "results.results",
    "judge": "predictions.judgement",
    "read_predictions": "predictions.predictions",
    "run": "engine.coordinator",
    "run_environments": "environments",
}


def __getattr__(name: str) -> Any:
    """Parts are imported when first used: a worker needs little of them, and starts the sooner."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.study.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
