"""Engines: where chunks of trials run. The seam is `concurrent.futures.Executor`; nothing else is adapted.

An engine registers how it is opened, in the module that defines it; other packages do so in a module that an entry point of the
group `fairtrial.engines` names.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from fairtrial._check import check_whole_number
from fairtrial._registry import Registry, suggest_name
from fairtrial.errors import InputError
from fairtrial.study.run.pool import end_run, run_chunk

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk, DataRequest, TrialRecord

DECISIVE = ("fairtrial", "numpy", "scipy", "scikit-learn", "numba")
"""Packages whose versions must be the same wherever a chunk runs."""

LOSS_ERRORS: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError, ConnectionError, EOFError)
"""What an executor raises if it lost the work."""

_ABSENT = "not installed"

Work = Callable[..., Any]
OpenEngine = Callable[..., "Engine"]

engines: Registry[OpenEngine] = Registry("engine", group="fairtrial.engines", package="fairtrial.study.run")
"""How to open an engine: `open(engine, jobs, packages)` by its name, or by the form of its address (`dask://host:port`)."""


def register_engine(name: str) -> Callable[[OpenEngine], OpenEngine]:
    """Register the function that opens an engine, as a decorator.

    `name` is what users write, or the form of an address such as `mine://host:port`, which stands for all of its scheme. The
    function takes what the user wrote, the number of jobs or None, and the packages whose versions must agree.
    """

    def register(open_it: OpenEngine) -> OpenEngine:
        engines.add(name, open_it)
        return open_it

    return register


@dataclass(frozen=True, eq=False)
class Engine:
    """An executor, and what the coordinator must know of it. `open_engine` makes one."""

    name: str
    executor: Executor
    work: Work
    """What is submitted: it takes a chunk and its data set or None, and returns trial records or a `DataRequest`."""
    workers: Callable[[], int]
    """How many chunks can run at once, now."""
    shutdown: Callable[[], None]
    is_gone: Callable[[], bool] = bool
    """Whether it has been lost as a whole, so that nothing will ever come back."""
    stop: Callable[[], None] = lambda: None
    """Let the chunks that are out come back with what they have finished; those of other engines go on."""
    loss_errors: tuple[type[BaseException], ...] = LOSS_ERRORS
    """What is raised for work that the engine lost, for example with a worker that was killed."""

    @property
    def slots(self) -> int:
        """How many chunks to keep out, so that no worker waits for its next one: some more than can run at once."""
        running = max(1, self.workers())
        return running + 1 + running // 2

    def submit(self, chunk: Chunk, dataset: Dataset | None = None) -> Future[Any]:
        """Send a chunk out."""
        return self.executor.submit(self.work, chunk, dataset)

    def is_loss(self, exception: BaseException) -> bool:
        """Whether the engine lost the work: then it is to be sent again."""
        return isinstance(exception, self.loss_errors)

    def close(self) -> None:
        """Let go of the workers; work that has not begun is dropped."""
        self.shutdown()


def open_engine(engine: str | Executor = "local", jobs: int | None = None, packages: Iterable[str] = ()) -> Engine:
    """Open an engine by its name, or use any executor.

    Parameters
    ----------
    engine : str or Executor
        `local`, `dask` (worker processes on this machine), `dask://host:port`, or another that is registered. An executor
        stays open.
    jobs : int, optional
        How many chunks run at once. Default: the cores that this process may use.
    packages : iterable of str
        Packages whose versions must be the same wherever a chunk runs, beside `DECISIVE`.

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
    """Refuse an unknown engine and an impossible number of jobs, without opening anything."""
    if jobs is not None:
        check_whole_number("jobs", jobs, 1)
    if not isinstance(engine, Executor):
        _find_name(engine)


def _find_name(engine: str) -> str:
    """The name under which an engine is registered; for an address, that of its form."""
    if engine == "local":  # the modules of other engines need not be imported
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
    """Threads of this process, each of which drives one supervised worker process."""
    run, n_jobs = create_run_id(), jobs or count_usable_cores()
    threads = ThreadPoolExecutor(n_jobs, thread_name_prefix="fairtrial")

    def shutdown() -> None:
        threads.shutdown(wait=False, cancel_futures=True)
        end_run(run)
        threads.shutdown(wait=True)

    return Engine(engine, threads, partial(run_chunk, run), lambda: n_jobs, shutdown, stop=partial(end_run, run))


def _wrap_executor(executor: Executor, jobs: int | None, packages: Iterable[str]) -> Engine:
    """An executor of the caller's, who also closes it; chunks that run in other processes than this one cannot be stopped."""
    work = CheckedWork.from_packages(packages)
    end = partial(end_run, work.run)
    workers = jobs or int(getattr(executor, "_max_workers", 0) or count_usable_cores())
    return Engine(type(executor).__name__, executor, work, lambda: workers, end, stop=end)


def create_run_id() -> str:
    """Create an id for a run that no other has, on any machine."""
    return uuid4().hex


def count_usable_cores() -> int:
    """Count the cores that this process may use, whatever the machine has (affinity and containers count)."""
    return max(1, int(import_module("joblib").cpu_count()))


@dataclass(frozen=True)
class CheckedWork:
    """The work of a run for processes that may be anywhere: it refuses to run if packages differ from those here."""

    run: str
    versions: Mapping[str, str]

    @classmethod
    def from_packages(cls, packages: Iterable[str] = ()) -> CheckedWork:
        """Work of a new run that checks these packages, and those that decide always."""
        return cls(create_run_id(), get_versions(dict.fromkeys([*DECISIVE, *packages])))

    def __call__(self, chunk: Chunk, dataset: Dataset | None = None) -> list[TrialRecord] | DataRequest:
        """Run a chunk."""
        self.refuse_differences(f"the worker on {socket.gethostname()}", get_versions(self.versions))
        return run_chunk(self.run, chunk, dataset)

    def refuse_differences(self, where: str, installed: Mapping[str, str]) -> None:
        """Raise if a worker has other versions: its records would differ."""
        mismatches = find_version_differences(self.versions, installed)
        if mismatches:
            raise InputError(
                f"{where} must have the packages of the coordinator, got {', '.join(mismatches)}: "
                "install the same versions on every machine, for evidence must not depend on the machine"
            )


def get_versions(packages: Iterable[str] = DECISIVE) -> dict[str, str]:
    """The version of each package in this process.

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
    """What differs, in words: one entry for each package.

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
