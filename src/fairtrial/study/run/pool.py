"""The pool of supervisors in this process.

Each chunk uses one supervisor, and idle supervisors are kept for 10 seconds. Several runs can share a process or a cluster
worker. Each run has an id, which is sent with its chunks. Ending a run stops only the chunks of this run.

If a supervisor switches to another run, it gets a new worker process, so no learner state or outdated code is carried over.
The supervisor keeps its fork server, because a new fork server takes about a second to start.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from fairtrial.errors import InputError
from fairtrial.study.records import Chunk, DataRequest, TrialRecord
from fairtrial.study.run.supervisor import Supervisor

if TYPE_CHECKING:
    from fairtrial.data import Dataset

IDLE_SECONDS = 10.0
_IDLE_POLL_SECONDS = 0.5
_MAX_DATASETS = 256
_MAX_BYTES = 1 << 30


def run_chunk(run: str, chunk: Chunk, dataset: Dataset | None = None) -> list[TrialRecord] | DataRequest:
    """Run a chunk. Return a `DataRequest` if the data set of the chunk is not available.

    Engines call this function. A data set is available if it is passed as `dataset` or cached in this process.
    """
    if dataset is not None:
        if dataset.content_hash != chunk.data:
            raise InputError(
                f"the data set must be that of the chunk ({chunk.data}), got {dataset.name} ({dataset.content_hash})"
            )
        dataset_cache.add(dataset)
    run_dataset = dataset_cache.find(chunk.data) if dataset is None else dataset
    return DataRequest(chunk.data) if run_dataset is None else _pool.run(run, chunk, run_dataset)


def end_run(run: str) -> None:
    """Stop the chunks of a run in this process and end their worker processes.

    Other runs are not affected.
    """
    _pool.end(run)


class SupervisorPool:
    """Pool of supervisors shared by the chunks of several runs."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Reset the pool.

        A forked process calls this method, because it has neither the threads nor the supervisors of its parent.
        """
        self._lock = threading.Lock()
        self._idle: list[_IdleSupervisor] = []
        self._stops: dict[str, threading.Event] = {}
        self._watched = False

    def run(self, run: str, chunk: Chunk, dataset: Dataset) -> list[TrialRecord]:
        """Run a chunk and return its records.

        If the run ends, only the records of finished trials are returned.
        """
        with self._lock:
            stop = self._get_stop_event(run)
        if stop.is_set():
            return []
        supervisor = self._take_supervisor(run, chunk.data)
        try:
            return supervisor.run(chunk, dataset, stop)
        finally:
            self._return_supervisor(supervisor, run, stop)

    def end(self, run: str) -> None:
        """End a run and its workers.

        Running chunks of the run return the records of finished trials. Later chunks of the run return no records.
        """
        with self._lock:
            self._get_stop_event(run).set()
            supervisors = [entry.supervisor for entry in self._idle if entry.run == run]
            self._idle = [entry for entry in self._idle if entry.run != run]
        for supervisor in supervisors:
            supervisor.reset()
            self._keep_idle(supervisor, run)

    def close(self) -> None:
        """Close the idle supervisors."""
        with self._lock:
            idle, self._idle = self._idle, []
        for entry in idle:
            entry.supervisor.close()

    def _get_stop_event(self, run: str) -> threading.Event:
        return self._stops.setdefault(run, threading.Event())

    def _take_supervisor(self, run: str, data: str) -> Supervisor:
        """Take an idle supervisor, or create one. Prefer supervisors of this run, then those that have loaded this data set."""
        with self._lock:
            newest_first = reversed(self._idle)
            best = max(newest_first, key=lambda entry: (entry.run == run, entry.supervisor.data == data), default=None)
            if best is None:
                return Supervisor()
            self._idle.remove(best)
        if best.run == run or best.supervisor.reset():
            return best.supervisor
        best.supervisor.close()
        return Supervisor()

    def _return_supervisor(self, supervisor: Supervisor, run: str, stop: threading.Event) -> None:
        if not self._keep_idle(supervisor, run, unless=stop):
            supervisor.reset()
            self._keep_idle(supervisor, run)

    def _keep_idle(self, supervisor: Supervisor, run: str, unless: threading.Event | None = None) -> bool:
        """Keep a supervisor for the next chunk, unless the run has ended. Return whether the supervisor is kept."""
        with self._lock:
            if unless is not None and unless.is_set():
                return False
            self._idle.append(_IdleSupervisor(supervisor, run, time.monotonic()))
        self._watch()
        return True

    def _watch(self) -> None:
        """Start a thread that closes expired idle supervisors."""
        with self._lock:
            if self._watched or not self._idle:
                return
            self._watched = True
        threading.Thread(target=self._close_expired, name="fairtrial-idle", daemon=True).start()

    def _close_expired(self) -> None:
        while True:
            with self._lock:
                before = time.monotonic() - IDLE_SECONDS
                expired = [entry for entry in self._idle if entry.since <= before]
                self._idle = [entry for entry in self._idle if entry.since > before]
                self._watched = more = bool(self._idle)
            for entry in expired:
                entry.supervisor.close()
            if not more:
                return
            time.sleep(min(_IDLE_POLL_SECONDS, IDLE_SECONDS))


class _IdleSupervisor(NamedTuple):
    """An idle supervisor, the run that used it last, and the time at which it became idle."""

    supervisor: Supervisor
    run: str
    since: float


class DatasetCache:
    """A cache of data sets, keyed by content hash.

    The number and the total size of the cached data sets are limited. The least recently used data sets are dropped first.

    >>> import fairtrial
    >>> iris = fairtrial.data.load("iris")
    >>> cache = DatasetCache()
    >>> cache.add(iris)
    >>> cache.find(iris.content_hash) == iris, cache.find("another")
    (True, None)
    """

    def __init__(self, max_datasets: int = _MAX_DATASETS, max_bytes: int = _MAX_BYTES) -> None:
        self._max_datasets, self._max_bytes = max_datasets, max_bytes
        self._datasets: dict[str, Dataset] = {}
        self._sizes: dict[str, int] = {}
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._datasets))

    def add(self, dataset: Dataset) -> None:
        """Add a data set."""
        key = dataset.content_hash
        with self._lock:
            self._datasets[key] = self._datasets.pop(key, dataset)
            if key not in self._sizes:
                self._sizes[key] = int(dataset.X.memory_usage(index=False).sum())
            while len(self._datasets) > self._max_datasets or (
                len(self._datasets) > 1 and sum(self._sizes.values()) > self._max_bytes
            ):
                oldest = next(iter(self._datasets))
                del self._datasets[oldest], self._sizes[oldest]

    def find(self, key: str) -> Dataset | None:
        """Find a data set by content hash. Return None if it is not cached."""
        with self._lock:
            dataset = self._datasets.pop(key, None)
            if dataset is not None:
                self._datasets[key] = dataset
            return dataset


dataset_cache = DatasetCache()
_pool = SupervisorPool()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)
