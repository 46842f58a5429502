"""Engines: where chunks of trials run. The seam is `concurrent.futures.Executor`; nothing else is adapted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fairtrial._check import check_whole_number
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk, DataRequest, TrialRecord

DECISIVE = ("fairtrial", "numpy", "scipy", "scikit-learn", "numba")


_ABSENT = "not installed"


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


def refuse_differences(where: str, expected: Mapping[str, str], installed: Mapping[str, str]) -> None:
    """Raise where a worker has other versions: its evidence would differ."""
    mismatches = find_version_differences(expected, installed)
    if mismatches:
        raise InputError(
            f"{where} must have the packages of the coordinator, got {', '.join(mismatches)}: "
            "install the same versions on every machine, for evidence must not depend on the machine"
        )


def run_checked_chunk(
    expected: Mapping[str, str], run: str, chunk: Chunk, dataset: Dataset | None = None
) -> list[TrialRecord] | DataRequest:
    """`run_chunk` in a process that may be anywhere, once its packages are known to be those of the coordinator."""
    import socket

    from fairtrial.study.run.supervisor import run_chunk

    refuse_differences(f"the worker on {socket.gethostname()}", expected, get_versions(expected))
    return run_chunk(run, chunk, dataset)


Work = Callable[..., Any]


_LOSS_ERRORS = (BrokenExecutor, CancelledError, ConnectionError, EOFError)


@dataclass(frozen=True, eq=False)
class Engine:
    """An executor, and what the coordinator must know of it. `open_engine` makes one."""

    name: str
    executor: Executor
    work: Work
    """What is submitted: it takes a chunk and its data set or None, and gives a list of evidence or `Needs`."""
    workers: Callable[[], int]
    """How many chunks can run at once, now."""
    shutdown: Callable[[], None]
    is_gone: Callable[[], bool] = bool
    """Whether it has been lost as a whole, so that nothing will ever come back."""
    stop: Callable[[], None] = lambda: None
    """Let the chunks that are out come back with what they have finished; those of other engines go on."""

    @property
    def slots(self) -> int:
        """How many chunks to keep out, so that no worker waits for its next one: some more than can run at once."""
        running = max(1, self.workers())
        return running + 1 + running // 2

    def submit(self, chunk: Chunk, dataset: Dataset | None = None) -> Future[Any]:
        """Send a chunk out."""
        return self.executor.submit(self.work, chunk, dataset)

    def is_loss(self, exception: BaseException) -> bool:
        """Whether the engine lost the work, as with a worker that was killed: then it is to be sent again."""
        return isinstance(exception, _LOSS_ERRORS + _list_dask_loss_errors())

    def close(self) -> None:
        """Let go of the workers; work that has not begun is dropped."""
        self.shutdown()


def open_engine(engine: str | Executor = "local", jobs: int | None = None, packages: Iterable[str] = ()) -> Engine:
    """An engine by its name: `local`, `dask` (worker processes on this machine), `dask://host:port`; or of any executor.

    `jobs` is how many chunks run at once; the cores that this process may use unless given. `packages` are those whose versions
    must be the same wherever a chunk runs, beside those that decide always (`DECISIVE`). An executor that is given stays open.

    >>> engine = open_engine("local", jobs=2)
    >>> engine.name, engine.workers(), engine.slots
    ('local', 2, 4)
    >>> engine.close()
    """
    check_engine(engine, jobs)
    if isinstance(engine, Executor):
        return _wrap_executor(engine, jobs, packages)
    if engine == "local":
        return _open_local(jobs or count_usable_cores())
    from fairtrial.study.run.dask import open_dask

    return open_dask(engine, jobs, packages)


def check_engine(engine: str | Executor, jobs: int | None = None) -> None:
    """Refuse an engine that nobody knows and jobs that cannot be, without opening anything."""
    if jobs is not None:
        check_whole_number("jobs", jobs, 1)
    if isinstance(engine, Executor) or engine in ("local", "dask") or str(engine).startswith("dask://"):
        return
    engine_names = ["local", "dask", "dask://host:port"]
    raise InputError(
        f"engine must be one of {engine_names} or an executor, got {engine!r}: {suggest_name(engine, engine_names)}"
    )


def count_usable_cores() -> int:
    """The cores that this process may use, whatever the machine has (affinity and containers count)."""
    from importlib import import_module

    return max(1, int(import_module("joblib").cpu_count()))


def _open_local(jobs: int) -> Engine:
    """Threads of this process, each of which drives one guarded child."""
    from functools import partial

    from fairtrial.study.run.supervisor import create_run_id, end_run, run_chunk

    run = create_run_id()
    threads = ThreadPoolExecutor(jobs, thread_name_prefix="fairtrial")

    def shutdown() -> None:
        threads.shutdown(wait=False, cancel_futures=True)
        end_run(run)
        threads.shutdown(wait=True)

    return Engine("local", threads, partial(run_chunk, run), lambda: jobs, shutdown, stop=partial(end_run, run))


def _wrap_executor(executor: Executor, jobs: int | None, packages: Iterable[str]) -> Engine:
    """An executor of the caller's, who also closes it; chunks that run in other processes than this one cannot be stopped."""
    from functools import partial

    from fairtrial.study.run.supervisor import create_run_id, end_run

    run = create_run_id()
    end = partial(end_run, run)
    workers = jobs or int(getattr(executor, "_max_workers", 0) or count_usable_cores())
    return Engine(type(executor).__name__, executor, make_checked_work(run, packages), lambda: workers, end, stop=end)


def make_checked_work(run: str, packages: Iterable[str] = ()) -> Work:
    """What is sent of this run to processes that may be anywhere: it refuses to run where packages differ from those here."""
    from functools import partial

    return partial(run_checked_chunk, get_versions(dict.fromkeys([*DECISIVE, *packages])), run)


def _list_dask_loss_errors() -> tuple[type[BaseException], ...]:
    """What dask raises for work that went with its worker, if dask is in use at all."""
    if "distributed" not in sys.modules:
        return ()
    import asyncio

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return (KilledWorker, CommClosedError, asyncio.CancelledError)
