"""Studies: declared in TOML or Python, run under supervision, and stored in a results file."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.study.environments import EnvironmentMatrix as EnvironmentMatrix, run_environments as run_environments
    from fairtrial.study.results.results import Results as Results
    from fairtrial.study.run.dry_run import dry_run as dry_run
    from fairtrial.study.store.store import ResultsStore as ResultsStore, open_store as open_store
    from fairtrial.study.store.transfer import (
        check_results as check_results,
        export as export,
        forget_trials as forget_trials,
        merge as merge,
        repair_results as repair_results,
    )

__all__ = [
    "EnvironmentMatrix",
    "Results",
    "ResultsStore",
    "check_results",
    "dry_run",
    "export",
    "forget_trials",
    "merge",
    "open_store",
    "repair_results",
    "run_environments",
]

_MODULES = {
    "EnvironmentMatrix": "environments",
    "Results": "results.results",
    "ResultsStore": "store.store",
    "check_results": "store.transfer",
    "dry_run": "run.dry_run",
    "export": "store.transfer",
    "forget_trials": "store.transfer",
    "merge": "store.transfer",
    "open_store": "store.store",
    "repair_results": "store.transfer",
    "run_environments": "environments",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use, so a worker process that needs only a few names starts sooner."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.study.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.study' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
