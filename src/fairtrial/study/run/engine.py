"""Engines run chunks of trials. An engine wraps a `concurrent.futures.Executor`.

The module of an engine registers a function that opens the engine. Other packages can add engines by naming such a module in an
entry point of the group `fairtrial.engines`.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fairtrial._check import check_whole_number
from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.run.pool import end_run, run_chunk

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk, DataRequest, TrialRecord

DECISIVE = ("fairtrial", "numpy", "scipy", "scikit-learn", "numba")
"""Packages whose versions must be the same on all workers."""

LOSS_ERRORS: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, ConnectionError, EOFError)
"""Errors of an executor that mean that a chunk was lost."""

_ABSENT = "not installed"

Work = Callable[..., Any]
OpenEngine = Callable[..., "Engine"]

engines: Registry[OpenEngine] = Registry("engine", group="fairtrial.engines", package="fairtrial.study.run")
"""Functions that open an engine. The keys are names of engines and forms of addresses (`dask://host:port`).

Each function is called as `open(engine, jobs, packages)`.
"""


def register_engine(name: str) -> Callable[[OpenEngine], OpenEngine]:
    """Register the function that opens an engine (decorator).

    `name` is the name of the engine, or the form of its addresses, such as `mine://host:port`. The function receives the name
    or address that the user gave, the number of jobs (or None), and the packages whose versions must match.
    """

    def register(open_it: OpenEngine) -> OpenEngine:
        engines.add(name, open_it)
        return open_it

    return register


@dataclass(frozen=True, eq=False)
class Engine:
    """An executor with the properties that the coordinator needs, as opened by `open_engine`."""

    name: str
    executor: Executor
    work: Work
    """Function that takes a chunk and its data set (or None), and returns trial records or a `DataRequest`."""
    workers: Callable[[], int]
    """Function that returns the number of chunks that can run at once."""
    shutdown: Callable[[], None]
    is_gone: Callable[[], bool] = bool
    """Function that returns whether the engine can run no more chunks, e.g. because its scheduler has exited."""
    stop: Callable[[], None] = lambda: None
    """Function that stops the running chunks of this engine, which then return the records of finished trials."""
    loss_errors: tuple[type[BaseException], ...] = LOSS_ERRORS
    """Errors that mean that a chunk was lost, e.g. because its worker was killed."""

    @property
    def slots(self) -> int:
        """Maximum number of chunks that are submitted at the same time.

        This number exceeds the number of workers, so no worker has to wait for a chunk.
        """
        running = max(1, self.workers())
        return running + 1 + running // 2

    def submit(self, chunk: Chunk, dataset: Dataset | None = None) -> Future[Any]:
        """Submit a chunk."""
        return self.executor.submit(self.work, chunk, dataset)

    def is_loss(self, exception: BaseException) -> bool:
        """Return whether the error means that the chunk was lost and must be resent."""
        return isinstance(exception, self.loss_errors)

    def close(self) -> None:
        """Release the workers and drop chunks that have not started."""
        self.shutdown()


def open_engine(engine: str | Executor = "local", jobs: int | None = None, packages: Iterable[str] = ()) -> Engine:
    """Open an engine by its name, or wrap an executor.

    Parameters
    ----------
    engine : str or Executor
        `local`, `dask` (worker processes on this machine), `dask://host:port`, or another registered engine. If you pass an
        executor, you must close it yourself.
    jobs : int, optional
        Number of chunks to run in parallel. Default: the number of usable cores or, for an executor, its number of workers.
        Not allowed for `dask://host:port`.
    packages : iterable of str
        Packages, in addition to `DECISIVE`, whose versions must be the same on all workers.

    Returns
    -------
    Engine

    Examples
    --------
    >>> engine = open_engine("local", jobs=2)
    >>> engine.name, engine.workers(), engine.slots
    ('local', 2, 4)
    >>> engine.close()
    """
    check_engine(engine, jobs)
    if isinstance(engine, Executor):
        return _wrap_executor(engine, jobs, packages)
    return engines[_find_name(engine)](engine, jobs, tuple(packages))


def check_engine(engine: str | Executor, jobs: int | None = None) -> None:
    """Check the system, the name of the engine and the number of jobs, without opening the engine."""
    check_system()
    if jobs is not None:
        check_whole_number("jobs", jobs, 1)
    if not isinstance(engine, Executor):
        _find_name(engine)


def check_system() -> None:
    """Raise an error on Windows, where workers cannot be forked."""
    if sys.platform == "win32":
        raise FairtrialError(
            "studies need Linux or macOS, got Windows: use the Windows Subsystem for Linux (WSL); "
            "judge, gate, compare and report work on Windows"
        )


def _find_name(engine: str) -> str:
    """Find the registered name of an engine.

    The registered name for an address is the form of the address, such as `dask://host:port`.
    """
    if engine == "local":  # avoids importing the modules of other engines
        return engine
    if engine in engines:
        return engine
    scheme, separator, _ = str(engine).partition("://")
    for name in engines:
        if separator and name.startswith(scheme + separator):
            return name
    names = list(engines)
    raise InputError(f"engine must be one of {names} or an executor, got {engine!r}: {suggest_name(engine, names)}")


@register_engine("local")
def open_local(engine: str, jobs: int | None, _packages: Iterable[str]) -> Engine:
    """Open the local engine: threads, each with one supervised worker process."""
    run, n_jobs = create_run_id(), jobs or count_usable_cores()
    threads = ThreadPoolExecutor(n_jobs, thread_name_prefix="fairtrial")

    def shutdown() -> None:
        threads.shutdown(wait=False, cancel_futures=True)
        end_run(run)
        threads.shutdown(wait=True)

    return Engine(engine, threads, partial(run_chunk, run), lambda: n_jobs, shutdown, stop=partial(end_run, run))


def _wrap_executor(executor: Executor, jobs: int | None, packages: Iterable[str]) -> Engine:
    """Wrap an executor, which the caller must close. Chunks that run in other processes cannot be stopped."""
    work = CheckedWork.from_packages(packages)
    end = partial(end_run, work.run)
    workers = jobs or int(getattr(executor, "_max_workers", 0) or count_usable_cores())
    return Engine(type(executor).__name__, executor, work, lambda: workers, end, stop=end)


def create_run_id() -> str:
    """Create a globally unique id for a run."""
    return uuid4().hex


def count_usable_cores() -> int:
    """Count the cores that the CPU affinity and the container allow this process to use."""
    return max(1, int(import_module("joblib").cpu_count()))


@dataclass(frozen=True)
class CheckedWork:
    """A callable that runs chunks and refuses workers with different package versions."""

    run: str
    versions: Mapping[str, str]

    @classmethod
    def from_packages(cls, packages: Iterable[str] = ()) -> CheckedWork:
        """Create an instance for a new run.

        Workers must have the same versions of these packages, and of those in `DECISIVE`, as this process.
        """
        return cls(create_run_id(), get_versions(dict.fromkeys([*DECISIVE, *packages])))

    def __call__(self, chunk: Chunk, dataset: Dataset | None = None) -> list[TrialRecord] | DataRequest:
        """Run a chunk."""
        self.refuse_differences(f"the worker on {socket.gethostname()}", get_versions(self.versions))
        return run_chunk(self.run, chunk, dataset)

    def refuse_differences(self, where: str, installed: Mapping[str, str]) -> None:
        """Raise InputError if a worker has different package versions, because they could change the results."""
        mismatches = find_version_differences(self.versions, installed)
        if mismatches:
            raise InputError(
                f"{where} must have the package versions of the coordinator, got {', '.join(mismatches)}: "
                "install the same versions on every machine"
            )


def get_versions(packages: Iterable[str] = DECISIVE) -> dict[str, str]:
    """Get the versions of packages in this process.

    >>> get_versions(["numpy", "no-such-package"])["no-such-package"]
    'not installed'
    """
    return {name: _get_version(name) for name in packages}


@lru_cache(maxsize=256)
def _get_version(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return _ABSENT


def find_version_differences(expected: Mapping[str, str], installed: Mapping[str, str]) -> list[str]:
    """Describe the differences between package versions, with one string per differing package.

    >>> find_version_differences({"numpy": "2.3.1"}, {"numpy": "2.0.0"})
    ['numpy 2.0.0 instead of 2.3.1']
    """
    return [
        f"{name} {installed.get(name, _ABSENT)} instead of {version}"
        if installed.get(name, _ABSENT) != _ABSENT
        else f"no {name}"
        for name, version in expected.items()
        if installed.get(name, _ABSENT) != version
    ]
