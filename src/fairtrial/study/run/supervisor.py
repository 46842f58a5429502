"""The guards of this process: a chunk borrows one and gives it back. Nobody's guards wait a while for the next chunk.

Several runs may go on in one process, or on one worker of a cluster. Each has a name of its own, which travels with its chunks:
ending a run stops its chunks and no others. A guard that passes from one run to another gets a new child, so that nothing of a
learner's, not even code that was edited since, passes with it; its warden, which takes a second to start, is kept.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from fairtrial.errors import InputError
from fairtrial.study.records import Chunk, DataRequest, TrialRecord, TrialTask
from fairtrial.study.run.fork_server import ENDED, POLL_SECONDS, ForkServerClient, ForkServerLostError, StoppedError
from fairtrial.study.run.protocol import (
    DONE,
    READY,
    REFUSED,
    STACK,
    TOKEN_BYTES,
    WORK,
    Frame,
    Inbox,
    LogTail,
    MalformedMessageError,
    ProcessExit,
    decode_record,
    describe_exit,
    encode_frame,
    encode_work,
    make_crash_record,
    make_failure_record,
    make_timeout_record,
    split_output,
)
from fairtrial.study.run.worker import LINK_CLOSED, RESIDENT

if TYPE_CHECKING:
    from fairtrial.data import Dataset

_READ_BYTES = 1 << 16


_LOG_DELAY = 0.02  # seconds for which the log is left alone: most trials end within them, and are not worth waking up for it


_EXIT_SECONDS = 1.0


_STACK_SECONDS = 0.5


_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class WorkerLostError(Exception):
    """The child ended (`end` says how), or no longer speaks to us though it lives (None)."""

    def __init__(self, end: ProcessExit | None) -> None:
        super().__init__()
        self.end = end


class OutOfTimeError(Exception):
    """No message came before the deadline."""


class WorkerConnection:
    """A child of the warden. `data` is the content hash of the data set that it holds."""

    def __init__(self, fork_server: ForkServerClient, is_stopped: Callable[[], bool]) -> None:
        self.data: str | None = None
        self.number = 0
        self.resident = 0
        self._fork_server, self._is_stopped = fork_server, is_stopped
        self._token = os.urandom(TOKEN_BYTES)
        self._inbox = Inbox(self._token)
        self._end: ProcessExit | None = None
        self._log = LogTail()
        self._socket, worker_socket = socket.socketpair()
        try:
            with worker_socket:
                self.process = fork_server.start_worker(worker_socket, self._log.writer, self._token, is_stopped)
        except BaseException:
            self.close()
            raise
        self._log.close_writer()
        self._socket.setblocking(False)
        assert fork_server.control is not None
        self._control = fork_server.control.fileno()
        self._events, self._events_and_log = select.poll(), select.poll()
        for events in (self._events, self._events_and_log):
            events.register(self._socket, select.POLLIN)
            events.register(self._control, select.POLLIN)
        self._events_and_log.register(self._log.reader, select.POLLIN)

    def send(self, payload: bytes, seconds: float) -> None:
        """Send work, as fast as the child takes it; OutOfTimeError when it takes nothing for so many seconds."""
        remaining = memoryview(encode_frame(self._token, Frame(WORK, self.number, payload)))
        events = select.poll()
        events.register(self._socket, select.POLLOUT)
        deadline = time.monotonic() + seconds
        while remaining:
            if self._is_stopped():
                raise StoppedError
            self._log.drain()
            if events.poll(POLL_SECONDS * 1000):
                remaining = remaining[self._send_part(remaining) :]
                deadline = time.monotonic() + seconds
            elif time.monotonic() > deadline:
                raise OutOfTimeError

    def _send_part(self, remaining: memoryview) -> int:
        try:
            return self._socket.send(remaining, _NO_SIGNAL)
        except BlockingIOError:
            return 0
        except OSError:
            raise WorkerLostError(self._get_exit()) from None

    def wait_for_message(self, seconds: float | None) -> Frame:
        """The next message of the child, which has so many seconds for it."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        poll, wait = self._events, _LOG_DELAY
        while True:
            frame = self._inbox.take()
            if frame is not None:
                return frame
            if self._end is not None:
                raise WorkerLostError(self._end)
            if self._is_stopped():
                raise StoppedError
            remaining = deadline - time.monotonic()
            ready = {descriptor for descriptor, _ in poll.poll(max(0.0, min(wait, remaining)) * 1000)}
            if self._socket.fileno() in ready:
                self._read()
            elif self._control in ready:
                self._read_fork_server()
            elif remaining <= 0:
                raise OutOfTimeError
            else:
                self._log.drain()
                poll, wait = (self._events if self._log.ended else self._events_and_log), POLL_SECONDS

    def _read(self) -> None:
        try:
            piece = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            raise WorkerLostError(self._get_exit())
        self._inbox.feed(piece)

    def _read_fork_server(self) -> None:
        """The warden speaks: if the child has ended, take in what it still sent, and remember how it ended."""
        message = self._fork_server.receive(0)
        if message is None or (message.kind, message.process) != (ENDED, self.process):
            return
        self._end = message.end
        try:
            while piece := self._socket.recv(_READ_BYTES):
                self._inbox.feed(piece)
        except OSError:
            pass

    def _get_exit(self) -> ProcessExit | None:
        """None where it lives, and only closed its end."""
        if self._end is None:
            self._end = self._fork_server.wait_for_exit(self.process, _EXIT_SECONDS)
        return self._end

    def show_stack(self) -> None:
        """Have the child write where it is into its log, and wait for that, though not for long."""
        self._fork_server.show_stack()
        deadline = time.monotonic() + _STACK_SECONDS
        events = select.poll()
        events.register(self._log.reader, select.POLLIN)
        while time.monotonic() < deadline and not self._log.ended:
            has_output = bool(events.poll(50)) and self._log.drain()
            if not has_output and STACK in self.log():
                return

    def kill(self) -> ProcessExit:
        """End it, and all that it started; what it printed until then is kept."""
        if self._end is None:
            self._end = self._fork_server.kill(self.process)
        return self._end

    def log(self) -> str:
        """What is kept of what the trial in progress has printed."""
        self._log.drain()
        return self._log.get_output(self._token, self.number)

    def close(self) -> None:
        """Close our ends; this alone kills nobody."""
        self._socket.close()
        self._log.close()


class ProcessPair:
    """At most one warden with at most one child. It does not know its guard, so that it can be closed after it."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.stop: threading.Event | None = None
        self.fork_server = ForkServerClient()
        self._worker: WorkerConnection | None = None

    def is_stopped(self) -> bool:
        """Whether work is to end now."""
        return self.closing.is_set() or (self.stop is not None and self.stop.is_set())

    @property
    def data(self) -> str | None:
        """The content hash of the data set that the child holds."""
        return None if self._worker is None else self._worker.data

    def get_worker(self) -> WorkerConnection:
        """The child; a new one where there is none."""
        if self._worker is None:
            self._worker = WorkerConnection(self.fork_server, self.is_stopped)
        return self._worker

    def drop_worker(self) -> None:
        """End the child; the next trial gets a new one."""
        worker, self._worker = self._worker, None
        if worker is not None:
            try:
                worker.kill()
            except ForkServerLostError:
                self.fork_server.close(worker.process)
            finally:
                worker.close()

    def drop_after(self, error: Exception) -> tuple[ProcessExit | None, str | None]:
        """End what is left after a failure that was no trial's; how the child ended, if that is known, and what it printed."""
        log = None if self._worker is None else self._worker.log()
        if isinstance(error, ForkServerLostError):
            worker, self._worker = self._worker, None
            self.fork_server.close(None if worker is None else worker.process)
            if worker is not None:
                worker.close()
        else:
            self.drop_worker()
        return (error.end if isinstance(error, WorkerLostError) else None), log

    def close(self) -> None:
        """End both, in the process that started them."""
        self.closing.set()
        worker, self._worker = self._worker, None
        self.fork_server.close(None if worker is None else worker.process)
        if worker is not None:
            worker.close()


_READY_SECONDS = 600.0


_MAX_FALSE_STARTS = 2


class Supervisor:
    """One warden process and its child. A guard runs one chunk at a time.

    >>> import pickle, fairtrial, numpy as np
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import Limits, Rows
    >>> iris = fairtrial.data.load("iris")
    >>> rows = Rows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = TrialTask(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk(iris.content_hash, (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), Limits(time=60))
    >>> with Supervisor() as guard:
    ...     evidence = guard.run(chunk, iris)
    >>> [each.status for each in evidence]
    ['ok']
    """

    def __init__(self) -> None:
        self._processes = ProcessPair()
        self._busy = threading.Lock()
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, self._processes.close)

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usable(self) -> bool:
        """Whether it was made in this process and has not been closed."""
        return self._owner == os.getpid() and not self._processes.closing.is_set()

    @property
    def data(self) -> str | None:
        """The content hash of the data set that its child holds."""
        return self._processes.data

    def reset(self) -> bool:
        """End the child, which may hold what a study left there; whether the rest is as one that is started now would be."""
        with self._busy:
            self._processes.drop_worker()
            return self.usable and self._processes.fork_server.is_current()

    def run(self, chunk: Chunk, dataset: Dataset, stop: threading.Event | None = None) -> list[TrialRecord]:
        """Evidence of each trial of the chunk, in order; of those that are finished when `stop` is set, or the guard closed."""
        records: list[TrialRecord] = []
        with self._busy:
            self._processes.stop = stop
            with suppress(StoppedError):
                try:
                    self._run_all(chunk, dataset, records)
                except BaseException:
                    self._processes.drop_worker()
                    raise
        return records

    def close(self) -> None:
        """End the processes; a chunk that is running returns what it has."""
        self._processes.closing.set()
        with self._busy:
            self._finalizer()

    def _run_all(self, chunk: Chunk, dataset: Dataset, records: list[TrialRecord]) -> None:
        tasks = chunk.tasks
        false_starts, suspect = 0, -1
        while len(records) < len(tasks):
            if self._processes.is_stopped():
                raise StoppedError
            started, index = False, len(records)
            try:
                worker = self._start_chunk(replace(chunk, tasks=tasks[index:]), dataset)
                started = True
                self._collect(worker, chunk, records)
                false_starts = 0
            except _ChunkRefusedError as refusal:
                records += [replace(refusal.record, key=task.key) for task in tasks[index:]]
            except (ForkServerLostError, WorkerLostError, OutOfTimeError, MalformedMessageError) as error:
                # What `_collect` could not lay to a trial: the warden is gone, or the child before it began.
                end, log = self._processes.drop_after(error)
                index = len(records)
                if started and index == suspect:
                    message = "the process that watches over it was killed twice while it ran"
                    records.append(make_failure_record(tasks[index], "crash", "ForkServerEnded", message, None, None))
                elif started:
                    suspect = index
                else:
                    false_starts += 1
                    if false_starts >= _MAX_FALSE_STARTS:
                        records += [_make_never_started_record(task, end, log) for task in tasks[index:]]

    def _start_chunk(self, chunk: Chunk, dataset: Dataset) -> WorkerConnection:
        """A child that holds the data set and has begun with the chunk."""
        worker = self._processes.get_worker()
        worker.send(encode_work(None if worker.data == chunk.data else dataset, chunk), _READY_SECONDS)
        frame = worker.wait_for_message(_READY_SECONDS)
        if frame.kind == REFUSED:
            worker.data = None
            raise _ChunkRefusedError(decode_record(frame.payload)[0])
        if frame.kind != READY or frame.number != worker.number or len(frame.payload) != RESIDENT.size:
            raise MalformedMessageError("it is not an answer to a chunk")
        worker.data = chunk.data
        (worker.resident,) = RESIDENT.unpack(frame.payload)
        return worker

    def _collect(self, worker: WorkerConnection, chunk: Chunk, records: list[TrialRecord]) -> None:
        """The evidence of the trials that are left, up to one that the child did not survive."""
        for task in chunk.tasks[len(records) :]:
            try:
                record, last = self._read_answer(worker, chunk, task)
            except OutOfTimeError:
                worker.show_stack()
                memory = _compute_growth(worker, worker.kill())
                record, last = make_timeout_record(task, chunk.limits, worker.log(), memory), True
            except WorkerLostError as lost:
                record, last = _make_worker_lost_record(worker, chunk, task, lost.end), True
            except MalformedMessageError as error:
                memory = _compute_growth(worker, worker.kill())
                message = f"wrote to a descriptor that is not its own, so that its answer is lost: {error}"
                record, last = make_failure_record(task, "crash", "MalformedMessage", message, worker.log(), memory), True
            records.append(record)
            worker.number += 1
            if last:
                self._processes.drop_worker()
                return

    def _read_answer(self, worker: WorkerConnection, chunk: Chunk, task: TrialTask) -> tuple[TrialRecord, bool]:
        frame = worker.wait_for_message(chunk.limits.time)
        if (frame.kind, frame.number) != (DONE, worker.number):
            raise MalformedMessageError("it is not evidence")
        record, last = decode_record(frame.payload)
        if record.key != task.key:
            raise MalformedMessageError("it belongs to another trial")
        return (record if record.status == "ok" else replace(record, log=split_output(worker.log()).log)), last


class _ChunkRefusedError(Exception):
    """A child could not read a chunk."""

    def __init__(self, record: TrialRecord) -> None:
        super().__init__()
        self.record = record


def _make_worker_lost_record(worker: WorkerConnection, chunk: Chunk, task: TrialTask, end: ProcessExit | None) -> TrialRecord:
    if end is not None and os.waitstatus_to_exitcode(end.status) != LINK_CLOSED:
        return make_crash_record(task, end, chunk.limits, worker.log(), _compute_growth(worker, end))
    memory = _compute_growth(worker, end or worker.kill())
    message = "closed the descriptor over which it reports, so that its answer is lost"
    return make_failure_record(task, "crash", "LinkClosed", message, worker.log(), memory)


def _compute_growth(worker: WorkerConnection, end: ProcessExit) -> int | None:
    """Bytes that the child's memory peaked at above what it was before the chunk, where both are known."""
    return max(0, end.peak - worker.resident) if end.peak and worker.resident else None


def _make_never_started_record(task: TrialTask, end: ProcessExit | None, log: str | None) -> TrialRecord:
    exit_text = "did not answer" if end is None else describe_exit(end.status)
    return make_failure_record(
        task, "crash", "NeverStarted", f"its process {exit_text} before the trial could begin", log, None
    )


MAX_DATASETS = 256


MAX_BYTES = 1 << 30


cached_datasets: dict[str, Dataset] = {}


"""By content hash, the one used last at the end. The oldest go when there are too many, or too much of them."""


_sizes: dict[str, int] = {}


_lock = threading.Lock()


def cache_dataset(dataset: Dataset) -> None:
    """Keep a data set for the chunks to come.

    >>> import fairtrial
    >>> iris = fairtrial.data.load("iris")
    >>> cache_dataset(iris)
    >>> find_dataset(iris.content_hash) == iris, find_dataset("another")
    (True, None)
    """
    key = dataset.content_hash
    with _lock:
        cached = cached_datasets.pop(key, dataset)
        cached_datasets[key] = cached
        if key not in _sizes:
            _sizes[key] = int(dataset.X.memory_usage(index=False).sum())
        while len(cached_datasets) > MAX_DATASETS or (len(cached_datasets) > 1 and sum(_sizes.values()) > MAX_BYTES):
            oldest = next(iter(cached_datasets))
            del cached_datasets[oldest], _sizes[oldest]


def find_dataset(key: str) -> Dataset | None:
    """The data set of this content hash, if it is here; it counts as used now."""
    with _lock:
        dataset = cached_datasets.pop(key, None)
        if dataset is not None:
            cached_datasets[key] = dataset
        return dataset


IDLE_SECONDS = 10.0


_IDLE_POLL_SECONDS = 0.5


class _IdleSupervisor(NamedTuple):
    """A guard that nobody uses, the run that used it last, and since when."""

    supervisor: Supervisor
    run: str
    since: float


class SupervisorPool:
    """Guards for the chunks of any number of runs."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew: a forked copy of the process has neither its threads nor its guards."""
        self._lock = threading.Lock()
        self._idle: list[_IdleSupervisor] = []
        self._stops: dict[str, threading.Event] = {}
        self._watched = False

    def run(self, run: str, chunk: Chunk, dataset: Dataset) -> list[TrialRecord]:
        """The evidence of a chunk; of what was finished, where its run ends before."""
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
        """Let the chunks of this run return early, with what is finished, also those that come later; end their children."""
        with self._lock:
            self._get_stop_event(run).set()
            supervisors = [entry.supervisor for entry in self._idle if entry.run == run]
            self._idle = [entry for entry in self._idle if entry.run != run]
        for supervisor in supervisors:
            supervisor.reset()
            self._keep_idle(supervisor, run)

    def close(self) -> None:
        """End the guards that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for entry in idle:
            entry.supervisor.close()

    def _get_stop_event(self, run: str) -> threading.Event:
        return self._stops.setdefault(run, threading.Event())

    def _take_supervisor(self, run: str, data: str) -> Supervisor:
        """One that served this run, if possible with this data set; else one that is free; else a new one."""
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
        """Have it wait for the next chunk, unless its run has ended in the meantime; whether it does."""
        with self._lock:
            if unless is not None and unless.is_set():
                return False
            self._idle.append(_IdleSupervisor(supervisor, run, time.monotonic()))
        self._watch()
        return True

    def _watch(self) -> None:
        """Have a thread end what has been idle for too long; it ends when nothing is idle."""
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


_pool = SupervisorPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


def create_run_id() -> str:
    """A name for a run that no other has, on any machine."""
    return uuid4().hex


def run_chunk(run: str, chunk: Chunk, dataset: Dataset | None = None) -> list[TrialRecord] | DataRequest:
    """What engines submit: run a chunk of a run under a guard. `DataRequest` where its data set has not come here yet."""
    if dataset is not None:
        if dataset.content_hash != chunk.data:
            raise InputError(f"dataset must be that of the chunk ({chunk.data}), got {dataset.name} ({dataset.content_hash})")
        cache_dataset(dataset)
    run_dataset = find_dataset(chunk.data) if dataset is None else dataset
    return DataRequest(chunk.data) if run_dataset is None else _pool.run(run, chunk, run_dataset)


def end_run(run: str) -> None:
    """Stop the chunks of a run in this process and end the processes that its learners ran in; no other run notices."""
    _pool.end(run)
