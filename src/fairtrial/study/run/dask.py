"""Dask engines: a cluster of worker processes on this machine, or the workers of a remote scheduler."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from fairtrial.errors import InputError
from fairtrial.study.run.engine import LOSS_ERRORS, CheckedWork, Engine, count_usable_cores, get_versions, register_engine
from fairtrial.study.run.pool import end_run

CONNECT_SECONDS, WORKER_SECONDS, REFRESH_SECONDS, SHUTDOWN_SECONDS = 10.0, 30.0, 5.0, 10.0
_IGNORE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"  # only the coordinator handles Ctrl-C
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,  # the coordinator decides which chunks are resent
    "distributed.admin.large-graph-warning-threshold": "1TB",  # data sets are sent with their first chunk
}


@register_engine("dask")
def open_local_cluster(engine: str, jobs: int | None, packages: Iterable[str]) -> Engine:
    """Open a cluster of `jobs` worker processes on this machine."""
    _require_dask()
    n_jobs = jobs or count_usable_cores()
    dask: Any = import_module("distributed")
    settings = contextlib.ExitStack()
    settings.enter_context(_apply_settings())
    cluster = dask.LocalCluster(
        n_workers=n_jobs,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # the default port could clash with another cluster
        scheduler_port=0,
        memory_limit=0,
        preload=[_IGNORE_INTERRUPTS],
        silence_logs=logging.CRITICAL,
    )
    client = dask.Client(cluster, set_as_default=False)

    def shutdown() -> None:
        with settings:
            _ignore_errors(lambda: client.close(SHUTDOWN_SECONDS))
            _ignore_errors(lambda: cluster.close(SHUTDOWN_SECONDS))

    return _make_engine(engine, client, CheckedWork.from_packages(packages), lambda: n_jobs, shutdown)


@register_engine("dask://host:port")
def open_remote_cluster(engine: str, jobs: int | None, packages: Iterable[str]) -> Engine:
    """Connect to the workers of the scheduler at the address `engine`."""
    _require_dask()
    if jobs is not None:
        raise InputError(f"jobs must be omitted with the engine {engine}, whose cluster sets the number of workers, got {jobs}")
    settings = contextlib.ExitStack()
    settings.enter_context(_apply_settings())
    client = _connect_client(engine)
    work = CheckedWork.from_packages(packages)

    def shutdown() -> None:
        with settings:
            _end_on_workers(client, work.run)
            _ignore_errors(lambda: client.close(SHUTDOWN_SECONDS))

    try:
        _wait_for_workers(client, engine)
        _refuse_other_versions(client, work)
    except BaseException:
        shutdown()
        raise
    return _make_engine(engine, client, work, _ThreadCounter(client), shutdown)


def _make_engine(name: str, client: Any, work: CheckedWork, workers: Callable[[], int], shutdown: Callable[[], None]) -> Engine:
    return Engine(
        name,
        client.get_executor(pure=False, retries=0),
        work,
        workers,
        shutdown,
        is_gone=lambda: client.status in ("closing", "closed"),
        stop=lambda: _end_on_workers(client, work.run),
        loss_errors=(*LOSS_ERRORS, *_list_loss_errors()),
    )


def _list_loss_errors() -> tuple[type[BaseException], ...]:
    """List the errors that dask raises if a chunk is lost because its worker has exited."""
    from distributed import KilledWorker
    from distributed.comm.core import CommClosedError

    return (KilledWorker, CommClosedError, asyncio.CancelledError)


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError:
        raise InputError(
            'the engine dask needs dask, which is not installed: pip install "fairtrial[cluster]", or use the engine "local"'
        ) from None


@contextlib.contextmanager
def _apply_settings() -> Iterator[None]:
    import dask

    with dask.config.set(_SETTINGS):
        yield


def _end_on_workers(client: Any, run: str) -> None:
    """Ask the workers to end the chunks of this run, without waiting. Chunks of other runs continue."""
    _ignore_errors(lambda: client.run(_end_run_on_worker, run, wait=False, on_error="ignore"))


async def _end_run_on_worker(run: str) -> None:
    await asyncio.to_thread(end_run, run)


def _connect_client(address: str) -> Any:
    dask: Any = import_module("distributed")
    host_and_port = address.removeprefix("dask://").rstrip("/")
    host, colon, port = host_and_port.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise InputError(f"engine must have the form dask://host:port, got {address!r}: see the output of the scheduler")
    try:
        return dask.Client(f"tcp://{host_and_port}", timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no dask scheduler answered at {host_and_port} within {CONNECT_SECONDS:g} s ({_get_first_line(error)}): "
            "start one with `dask scheduler`, or check the address"
        ) from None


def _wait_for_workers(client: Any, address: str) -> None:
    if client.nthreads():
        return
    print(f"{address} has no workers yet: waiting up to {WORKER_SECONDS:g} s", file=sys.stderr)
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise InputError(
            f"{address} must have at least 1 worker, got none within {WORKER_SECONDS:g} s: start some with `dask worker`"
        ) from None


def _refuse_other_versions(client: Any, work: CheckedWork) -> None:
    """Raise InputError if the package versions of a worker differ from those of the coordinator.

    Workers that join later are checked when they receive a chunk.
    """
    for worker, installed in client.run(get_versions, tuple(work.versions), on_error="return").items():
        if isinstance(installed, OSError):  # the worker has exited
            continue
        if isinstance(installed, BaseException):
            raise InputError(f"the worker {worker} must have fairtrial, got {_get_first_line(installed)}: install it there")
        work.refuse_differences(f"the worker {worker}", installed)


class _ThreadCounter:
    """Counts the threads of all workers. The count is updated at most every 5 seconds."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._count, self._checked_at = 0, -REFRESH_SECONDS

    def __call__(self) -> int:
        if time.monotonic() - self._checked_at >= REFRESH_SECONDS:
            if self._client.status == "running":
                with contextlib.suppress(OSError):
                    self._count = sum(self._client.nthreads().values())
            self._checked_at = time.monotonic()
        return self._count


def _ignore_errors(action: Callable[[], Any]) -> None:
    """Call a function and ignore its errors. Errors during shutdown are harmless, because all records are stored."""
    with contextlib.suppress(Exception):
        action()


def _get_first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
