"""Engines: where chunks of trials run. The seam is `concurrent.futures.Executor`; nothing else is adapted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtrial._check import whole_number
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.records import Chunk

Work = Callable[..., Any]
_LOST = (BrokenExecutor, CancelledError, ConnectionError, EOFError)


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
    gone: Callable[[], bool] = bool
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

    def lost(self, exception: BaseException) -> bool:
        """Whether the engine lost the work, as with a worker that was killed: then it is to be sent again."""
        return isinstance(exception, _LOST + _lost_by_dask())

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
    known_engine(engine, jobs)
    if isinstance(engine, Executor):
        return _given(engine, jobs, packages)
    if engine == "local":
        return _local(jobs or usable_cores())
    from fairtrial.study.engine.dask_engine import open_dask

    return open_dask(engine, jobs, packages)


def known_engine(engine: str | Executor, jobs: int | None = None) -> None:
    """Refuse an engine that nobody knows and jobs that cannot be, without opening anything."""
    if jobs is not None:
        whole_number("jobs", jobs, 1)
    if isinstance(engine, Executor) or engine in ("local", "dask") or str(engine).startswith("dask://"):
        return
    known = ["local", "dask", "dask://host:port"]
    raise InputError(f"engine must be one of {known} or an executor, got {engine!r}: {did_you_mean(engine, known)}")


def usable_cores() -> int:
    """The cores that this process may use, whatever the machine has (affinity and containers count)."""
    from importlib import import_module

    return max(1, int(import_module("joblib").cpu_count()))


def _local(jobs: int) -> Engine:
    """Threads of this process, each of which drives one guarded child."""
    from functools import partial

    from fairtrial.study.guard.guard_pool import end_run, new_run, run_chunk

    run = new_run()
    threads = ThreadPoolExecutor(jobs, thread_name_prefix="fairtrial")

    def shutdown() -> None:
        threads.shutdown(wait=False, cancel_futures=True)
        end_run(run)
        threads.shutdown(wait=True)

    return Engine("local", threads, partial(run_chunk, run), lambda: jobs, shutdown, stop=partial(end_run, run))


def _given(executor: Executor, jobs: int | None, packages: Iterable[str]) -> Engine:
    """An executor of the caller's, who also closes it; chunks that run in other processes than this one cannot be stopped."""
    from functools import partial

    from fairtrial.study.guard.guard_pool import end_run, new_run

    run = new_run()
    end = partial(end_run, run)
    workers = jobs or int(getattr(executor, "_max_workers", 0) or usable_cores())
    return Engine(type(executor).__name__, executor, checked_work(run, packages), lambda: workers, end, stop=end)


def checked_work(run: str, packages: Iterable[str] = ()) -> Work:
    """What is sent of this run to processes that may be anywhere: it refuses to run where packages differ from those here."""
    from functools import partial

    from fairtrial.study.engine.versions import DECISIVE, run_checked_chunk, versions_here

    return partial(run_checked_chunk, versions_here(dict.fromkeys([*DECISIVE, *packages])), run)


def _lost_by_dask() -> tuple[type[BaseException], ...]:
    """What dask raises for work that went with its worker, if dask is in use at all."""
    if "distributed" not in sys.modules:
        return ()
    import asyncio

    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return (KilledWorker, CommClosedError, asyncio.CancelledError)
