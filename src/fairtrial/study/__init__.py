"""Whole studies: declared, run, kept, judged."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.study.coordinator import run as run
    from fairtrial.study.dry_run import dry_run as dry_run
    from fairtrial.study.environment_matrix import EnvironmentMatrix as EnvironmentMatrix
    from fairtrial.study.environments import run_environments as run_environments
    from fairtrial.study.exporting import export as export
    from fairtrial.study.merging import merge as merge
    from fairtrial.study.results import Results as Results, open_results as open_results
    from fairtrial.study.store import Store as Store
    from fairtrial.study.study import Study as Study

_MODULES = {
    "EnvironmentMatrix": "environment_matrix",
    "Results": "results",
    "Store": "store",
    "Study": "study",
    "dry_run": "dry_run",
    "export": "exporting",
    "merge": "merging",
    "open_results": "results",
    "run": "coordinator",
    "run_environments": "environments",
}


def __getattr__(name: str) -> Any:
    """Parts are imported when first used: a worker needs little of them, and starts the sooner."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.study.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
