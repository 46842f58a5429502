"""The guards of this process: a chunk borrows one and gives it back. Nobody's guards wait a while for the next chunk.

Several runs may go on in one process, or on one worker of a cluster. Each has a name of its own, which travels with its chunks:
ending a run stops its chunks and no others. A guard that passes from one run to another gets a new child, so that nothing of a
learner's, not even code that was edited since, passes with it; its warden, which takes a second to start, is kept.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from fairtrial.errors import InputError
from fairtrial.study.guard.guard import Guard
from fairtrial.study.guard.held_data import find, hold
from fairtrial.study.records import Chunk, Evidence, Needs

if TYPE_CHECKING:
    from fairtrial.data import Dataset

IDLE_SECONDS = 10.0
_LOOK = 0.5


class _Idle(NamedTuple):
    """A guard that nobody uses, the run that used it last, and since when."""

    guard: Guard
    run: str
    since: float


class GuardPool:
    """Guards for the chunks of any number of runs."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: a forked copy of the process has neither its threads nor its guards."""
        self._lock = threading.Lock()
        self._idle: list[_Idle] = []
        self._stops: dict[str, threading.Event] = {}
        self._watched = False

    def run(self, run: str, chunk: Chunk, dataset: Dataset) -> list[Evidence]:
        """The evidence of a chunk; of what was finished, where its run ends before."""
        with self._lock:
            stop = self._stop_of(run)
        if stop.is_set():
            return []
        guard = self._borrow(run, chunk.data)
        try:
            return guard.run(chunk, dataset, stop)
        finally:
            self._give_back(guard, run, stop)

    def end(self, run: str) -> None:
        """Let the chunks of this run return early, with what is finished, also those that come later; end their children."""
        with self._lock:
            self._stop_of(run).set()
            its = [each.guard for each in self._idle if each.run == run]
            self._idle = [each for each in self._idle if each.run != run]
        for guard in its:
            guard.rest()
            self._keep(guard, run)

    def close(self) -> None:
        """End the guards that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for each in idle:
            each.guard.close()

    def _stop_of(self, run: str) -> threading.Event:
        return self._stops.setdefault(run, threading.Event())

    def _borrow(self, run: str, data: str) -> Guard:
        """One that served this run, if possible with this data set; else one that is free; else a new one."""
        with self._lock:
            newest_first = reversed(self._idle)
            found = max(newest_first, key=lambda each: (each.run == run, each.guard.data == data), default=None)
            if found is None:
                return Guard()
            self._idle.remove(found)
        if found.run == run or found.guard.rest():
            return found.guard
        found.guard.close()
        return Guard()

    def _give_back(self, guard: Guard, run: str, stop: threading.Event) -> None:
        if not self._keep(guard, run, unless=stop):
            guard.rest()
            self._keep(guard, run)

    def _keep(self, guard: Guard, run: str, unless: threading.Event | None = None) -> bool:
        """Have it wait for the next chunk, unless its run has ended in the meantime; whether it does."""
        with self._lock:
            if unless is not None and unless.is_set():
                return False
            self._idle.append(_Idle(guard, run, time.monotonic()))
        self._watch()
        return True

    def _watch(self) -> None:
        """Have a thread end what has been idle for too long; it ends when nothing is idle."""
        with self._lock:
            if self._watched or not self._idle:
                return
            self._watched = True
        threading.Thread(target=self._close_late, name="fairtrial-idle", daemon=True).start()

    def _close_late(self) -> None:
        while True:
            with self._lock:
                before = time.monotonic() - IDLE_SECONDS
                late = [each for each in self._idle if each.since <= before]
                self._idle = [each for each in self._idle if each.since > before]
                self._watched = more = bool(self._idle)
            for each in late:
                each.guard.close()
            if not more:
                return
            time.sleep(min(_LOOK, IDLE_SECONDS))


_pool = GuardPool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


def new_run() -> str:
    """A name for a run that no other has, on any machine."""
    return uuid4().hex


def run_chunk(run: str, chunk: Chunk, dataset: Dataset | None = None) -> list[Evidence] | Needs:
    """What engines submit: run a chunk of a run under a guard. `Needs` where its data set has not come here yet."""
    if dataset is not None:
        if dataset.content_hash != chunk.data:
            raise InputError(f"dataset must be that of the chunk ({chunk.data}), got {dataset.name} ({dataset.content_hash})")
        hold(dataset)
    found = find(chunk.data) if dataset is None else dataset
    return Needs(chunk.data) if found is None else _pool.run(run, chunk, found)


def end_run(run: str) -> None:
    """Stop the chunks of a run in this process and end the processes that its learners ran in; no other run notices."""
    _pool.end(run)
