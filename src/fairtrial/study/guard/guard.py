"""The guard: runs a chunk of trials in a child process, so that a learner can fail no trial but its own.

Whatever the learner does, raise, hang, eat memory, end or crash its process, its trial leaves evidence of that, and the rest of
the chunk goes on in a new child. It keeps accidents apart; it is no defence against learners that mean harm.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from fairtrial.study.guard.blame import Exit, crashed, exit_words, failed, timed_out
from fairtrial.study.guard.child_link import ChildLink, ChildLostError, OutOfTimeError
from fairtrial.study.guard.log_tail import taken_apart
from fairtrial.study.guard.messages import DONE, READY, REFUSED, GarbledError, read_evidence, written_work
from fairtrial.study.guard.ward import Ward
from fairtrial.study.guard.warden_link import StoppedError, WardenLostError
from fairtrial.study.guard.worker import LINK_CLOSED, RESIDENT
from fairtrial.study.records import Chunk, Evidence, Task

if TYPE_CHECKING:
    from fairtrial.data import Dataset

_READY_SECONDS = 600.0
_MOST_FALSE_STARTS = 2


class Guard:
    """One warden process and its child. A guard runs one chunk at a time.

    >>> import pickle, fairtrial, numpy as np
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import Limits, Rows
    >>> iris = fairtrial.data.load("iris")
    >>> rows = Rows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = Task(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk(iris.content_hash, (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), Limits(time=60))
    >>> with Guard() as guard:
    ...     evidence = guard.run(chunk, iris)
    >>> [each.status for each in evidence]
    ['ok']
    """

    def __init__(self) -> None:
        self._ward = Ward()
        self._busy = threading.Lock()
        self._owner = os.getpid()
        self._end = weakref.finalize(self, self._ward.close)

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usable(self) -> bool:
        """Whether it was made in this process and has not been closed."""
        return self._owner == os.getpid() and not self._ward.closing.is_set()

    @property
    def data(self) -> str | None:
        """The content hash of the data set that its child holds."""
        return self._ward.data

    def rest(self) -> bool:
        """End the child, which may hold what a study left there; whether the rest is as one that is started now would be."""
        with self._busy:
            self._ward.drop_child()
            return self.usable and self._ward.warden.is_current()

    def run(self, chunk: Chunk, dataset: Dataset, stop: threading.Event | None = None) -> list[Evidence]:
        """Evidence of each trial of the chunk, in order; of those that are finished when `stop` is set, or the guard closed."""
        evidence: list[Evidence] = []
        with self._busy:
            self._ward.stop = stop
            with suppress(StoppedError):
                try:
                    self._run_all(chunk, dataset, evidence)
                except BaseException:
                    self._ward.drop_child()
                    raise
        return evidence

    def close(self) -> None:
        """End the processes; a chunk that is running returns what it has."""
        self._ward.closing.set()
        with self._busy:
            self._end()

    def _run_all(self, chunk: Chunk, dataset: Dataset, evidence: list[Evidence]) -> None:
        tasks = chunk.tasks
        false_starts, suspect = 0, -1
        while len(evidence) < len(tasks):
            if self._ward.stopped():
                raise StoppedError
            begun, place = False, len(evidence)
            try:
                child = self._prepared(replace(chunk, tasks=tasks[place:]), dataset)
                begun = True
                self._collect(child, chunk, evidence)
                false_starts = 0
            except _RefusedError as refusal:
                evidence += [replace(refusal.evidence, key=task.key) for task in tasks[place:]]
            except (WardenLostError, ChildLostError, OutOfTimeError, GarbledError) as error:
                # What `_collect` could not lay to a trial: the warden is gone, or the child before it began.
                end, log = self._ward.drop_after(error)
                place = len(evidence)
                if begun and place == suspect:
                    message = "the process that watches over it was killed twice while it ran"
                    evidence.append(failed(tasks[place], "crash", "WardenEnded", message, None, None))
                elif begun:
                    suspect = place
                else:
                    false_starts += 1
                    if false_starts >= _MOST_FALSE_STARTS:
                        evidence += [_never_begun(task, end, log) for task in tasks[place:]]

    def _prepared(self, chunk: Chunk, dataset: Dataset) -> ChildLink:
        """A child that holds the data set and has begun with the chunk."""
        child = self._ward.child()
        child.send(written_work(None if child.data == chunk.data else dataset, chunk), _READY_SECONDS)
        frame = child.message(_READY_SECONDS)
        if frame.kind == REFUSED:
            child.data = None
            raise _RefusedError(read_evidence(frame.payload)[0])
        if frame.kind != READY or frame.number != child.number or len(frame.payload) != RESIDENT.size:
            raise GarbledError("it is not an answer to a chunk")
        child.data = chunk.data
        (child.resident,) = RESIDENT.unpack(frame.payload)
        return child

    def _collect(self, child: ChildLink, chunk: Chunk, evidence: list[Evidence]) -> None:
        """The evidence of the trials that are left, up to one that the child did not survive."""
        for task in chunk.tasks[len(evidence) :]:
            try:
                found, last = self._answer(child, chunk, task)
            except OutOfTimeError:
                child.show_stack()
                memory = _growth(child, child.kill())
                found, last = timed_out(task, chunk.limits, child.log(), memory), True
            except ChildLostError as lost:
                found, last = _lost(child, chunk, task, lost.end), True
            except GarbledError as error:
                memory = _growth(child, child.kill())
                message = f"wrote to a descriptor that is not its own, so that its answer is lost: {error}"
                found, last = failed(task, "crash", "Garbled", message, child.log(), memory), True
            evidence.append(found)
            child.number += 1
            if last:
                self._ward.drop_child()
                return

    def _answer(self, child: ChildLink, chunk: Chunk, task: Task) -> tuple[Evidence, bool]:
        frame = child.message(chunk.limits.time)
        if (frame.kind, frame.number) != (DONE, child.number):
            raise GarbledError("it is not evidence")
        found, last = read_evidence(frame.payload)
        if found.key != task.key:
            raise GarbledError("it belongs to another trial")
        return (found if found.status == "ok" else replace(found, log=taken_apart(child.log()).log)), last


class _RefusedError(Exception):
    """A child could not read a chunk."""

    def __init__(self, evidence: Evidence) -> None:
        super().__init__()
        self.evidence = evidence


def _lost(child: ChildLink, chunk: Chunk, task: Task, end: Exit | None) -> Evidence:
    if end is not None and os.waitstatus_to_exitcode(end.status) != LINK_CLOSED:
        return crashed(task, end, chunk.limits, child.log(), _growth(child, end))
    memory = _growth(child, end or child.kill())
    message = "closed the descriptor over which it reports, so that its answer is lost"
    return failed(task, "crash", "LinkClosed", message, child.log(), memory)


def _growth(child: ChildLink, end: Exit) -> int | None:
    """Bytes that the child's memory peaked at above what it was before the chunk, where both are known."""
    return max(0, end.peak - child.resident) if end.peak and child.resident else None


def _never_begun(task: Task, end: Exit | None, log: str | None) -> Evidence:
    told = "did not answer" if end is None else exit_words(end.status)
    return failed(task, "crash", "NeverBegun", f"its process {told} before the trial could begin", log, None)
