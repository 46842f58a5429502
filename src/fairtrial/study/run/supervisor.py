"""The supervisor, which runs the trials of a chunk in a worker process, enforces limits and records failures."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from fairtrial.study.records import Chunk, TrialRecord, TrialTask
from fairtrial.study.run.diagnostics import STACK, TrialFailure, TrialOutput
from fairtrial.study.run.fork_server import ENDED, POLL_SECONDS, ForkServerClient, ForkServerLostError, StoppedError
from fairtrial.study.run.protocol import (
    DONE,
    LINK_CLOSED,
    READY,
    REFUSED,
    RESIDENT,
    TOKEN_BYTES,
    WORK,
    Frame,
    Inbox,
    LogTail,
    MalformedMessageError,
    ProcessExit,
    RecordMessage,
    WorkMessage,
    encode_frame,
)

if TYPE_CHECKING:
    from fairtrial.data import Dataset

_READ_BYTES = 1 << 16
_LOG_DELAY = 0.02  # the log is not read before this time, because most trials end earlier
_EXIT_SECONDS = 1.0
_STACK_SECONDS = 0.5
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
_READY_SECONDS = 600.0
_MAX_FALSE_STARTS = 2
_MAX_LOSSES = 5  # how often the fork server can be killed before a worker has started
_KILL_SIGNALS = (-signal.SIGTERM, -getattr(signal, "SIGKILL", 9))


class Supervisor:
    """Runs one chunk at a time in a worker process, which a fork server starts.

    >>> import pickle, fairtrial, numpy as np
    >>> from fairtrial.conditions import Clean
    >>> from fairtrial.learners import C45
    >>> from fairtrial.study.records import ResourceLimits, SplitRows
    >>> iris = fairtrial.data.load("iris")
    >>> rows = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), repeat=0, fold=0)
    >>> task = TrialTask(b"0123456789abcdef", split=0, condition=0, learner=0, condition_seed=1, learner_seed=1)
    >>> chunk = Chunk(iris.content_hash, (rows,), (Clean(),), (pickle.dumps(C45()),), (task,), ResourceLimits(time=60))
    >>> with Supervisor() as supervisor:
    ...     records = supervisor.run(chunk, iris)
    >>> [record.status for record in records]
    ['ok']
    """

    def __init__(self) -> None:
        self._processes = ProcessPair()
        self._busy = threading.Lock()
        self._owner = os.getpid()
        self._retried: bytes | None = None  # key of the last trial that was retried because its worker was killed
        self._finalizer = weakref.finalize(self, self._processes.close)

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def usable(self) -> bool:
        """Whether the supervisor was created in this process and is not closed."""
        return self._owner == os.getpid() and not self._processes.closing.is_set()

    @property
    def data(self) -> str | None:
        """Content hash of the data set that the worker has loaded."""
        return self._processes.data

    def reset(self) -> bool:
        """End the worker, because it may retain state from a study. Return whether the supervisor can be used again."""
        with self._busy:
            self._processes.drop_worker()
            return self.usable and self._processes.fork_server.is_current()

    def start(self) -> None:
        """Start the worker now rather than with the first chunk.

        If the worker cannot be started, the error is reported only when the first chunk runs.
        """
        with self._busy:
            self._processes.stop = None
            try:
                self._processes.get_worker()
            except (ForkServerLostError, WorkerLostError, OutOfTimeError) as error:
                self._processes.drop_after(error)

    def run(self, chunk: Chunk, dataset: Dataset, stop: threading.Event | None = None) -> list[TrialRecord]:
        """Run a chunk and return its records in the order of its trials.

        If `stop` is set or the supervisor is closed, only the records of finished trials are returned.
        """
        records: list[TrialRecord] = []
        with self._busy:
            self._processes.stop = stop
            self._retried = None
            with suppress(StoppedError):
                try:
                    self._run_all(chunk, dataset, records)
                except BaseException:
                    self._processes.drop_worker()
                    raise
        return records

    def close(self) -> None:
        """End the processes. A running chunk returns the records of finished trials."""
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
            part = replace(chunk, tasks=_select_sharing_tasks(chunk, index))
            try:
                worker = self._start_chunk(part, dataset)
                started = True
                self._collect(worker, part, records)
                false_starts = 0
            except _ChunkRefusedError as refusal:
                self._processes.drop_worker()
                records += [replace(refusal.record, key=task.key) for task in part.tasks]
            except (ForkServerLostError, WorkerLostError, OutOfTimeError, MalformedMessageError) as error:
                # The error cannot be attributed to a trial, because the fork server exited or the worker did not start.
                end, log = self._processes.drop_after(error)
                index = len(records)
                if started and index == suspect:
                    message = "the fork server was killed twice during this trial"
                    records.append(TrialFailure("crash", "ForkServerEnded", message, None).to_record(tasks[index].key))
                elif started:
                    suspect = index
                else:
                    false_starts += 1
                    if false_starts >= (_MAX_LOSSES if isinstance(error, ForkServerLostError) else _MAX_FALSE_STARTS):
                        records += [_make_never_started_record(task, end, log) for task in part.tasks]
                        false_starts = 0

    def _start_chunk(self, chunk: Chunk, dataset: Dataset) -> WorkerConnection:
        """Send the chunk and, if needed, the data set to a worker, and wait until the worker is ready."""
        worker = self._processes.get_worker(_get_owner(chunk, chunk.tasks[0]))
        worker.send(WorkMessage(None if worker.data == chunk.data else dataset, chunk).encode(), _READY_SECONDS)
        frame = worker.wait_for_message(_READY_SECONDS)
        if frame.kind == REFUSED:
            worker.data = None
            raise _ChunkRefusedError(RecordMessage.decode(frame.payload).record)
        if frame.kind != READY or frame.number != worker.number or len(frame.payload) != RESIDENT.size:
            raise MalformedMessageError("the message does not answer a chunk")
        worker.data = chunk.data
        (worker.resident,) = RESIDENT.unpack(frame.payload)
        return worker

    def _collect(self, worker: WorkerConnection, chunk: Chunk, records: list[TrialRecord]) -> None:
        """Collect the records of a chunk, up to the first trial that ended the worker."""
        for task in chunk.tasks:
            try:
                record, last = self._read_answer(worker, chunk, task)
            except OutOfTimeError:
                worker.show_stack()
                memory = _compute_growth(worker, worker.kill())
                failure, last = TrialFailure.from_timeout(chunk.limits, worker.log()), True
                record = failure.to_record(task.key, memory=memory)
            except WorkerLostError as lost:
                if _was_killed(lost.end) and task.key != self._retried:
                    self._retried = task.key
                    self._processes.drop_worker()
                    return
                record, last = _make_worker_lost_record(worker, chunk, task, lost.end), True
            except MalformedMessageError as error:
                memory = _compute_growth(worker, worker.kill())
                message = f"wrote to the file descriptor of the worker, and its record is lost ({error})"
                failure, last = TrialFailure.from_output("crash", "MalformedMessage", message, worker.log()), True
                record = failure.to_record(task.key, memory=memory)
            records.append(record)
            worker.number += 1
            if last:
                self._processes.drop_worker()
                return

    def _read_answer(self, worker: WorkerConnection, chunk: Chunk, task: TrialTask) -> tuple[TrialRecord, bool]:
        frame = worker.wait_for_message(chunk.limits.time)
        if (frame.kind, frame.number) != (DONE, worker.number):
            raise MalformedMessageError("the message is not a trial record")
        record, last = RecordMessage.decode(frame.payload)
        if record.key != task.key:
            raise MalformedMessageError("the record belongs to another trial")
        return (record if record.status == "ok" else replace(record, log=TrialOutput.parse(worker.log()).log)), last


def _get_owner(chunk: Chunk, task: TrialTask) -> bytes:
    """Return the pickled learner if it needs its own worker, or b"" if it can share a worker with other learners."""
    return chunk.learners[task.learner] if task.learner in chunk.local else b""


def _select_sharing_tasks(chunk: Chunk, start: int) -> tuple[TrialTask, ...]:
    """Select the trials that can run in the same worker, beginning with the trial at `start`."""
    owner = _get_owner(chunk, chunk.tasks[start])
    return tuple(takewhile(lambda task: _get_owner(chunk, task) == owner, chunk.tasks[start:]))


class _ChunkRefusedError(Exception):
    """Raised if a worker could not read a chunk."""

    def __init__(self, record: TrialRecord) -> None:
        super().__init__()
        self.record = record


def _was_killed(end: ProcessExit | None) -> bool:
    """Return whether SIGTERM or SIGKILL ended the process. A crash causes a different signal."""
    return end is not None and os.waitstatus_to_exitcode(end.status) in _KILL_SIGNALS


def _make_worker_lost_record(worker: WorkerConnection, chunk: Chunk, task: TrialTask, end: ProcessExit | None) -> TrialRecord:
    if end is not None and os.waitstatus_to_exitcode(end.status) != LINK_CLOSED:
        failure = TrialFailure.from_exit(end, chunk.limits, worker.log())
        if _was_killed(end):
            failure = replace(failure, message=f"{failure.message}; the trial was retried once")
        return failure.to_record(task.key, memory=_compute_growth(worker, end))
    memory = _compute_growth(worker, end or worker.kill())
    message = "closed the file descriptor of the worker, and its record is lost"
    return TrialFailure.from_output("crash", "LinkClosed", message, worker.log()).to_record(task.key, memory=memory)


def _compute_growth(worker: WorkerConnection, end: ProcessExit) -> int | None:
    """Compute the growth of the peak memory in bytes since the start of the chunk, or None if it is unknown."""
    return max(0, end.peak - worker.resident) if end.peak and worker.resident else None


def _make_never_started_record(task: TrialTask, end: ProcessExit | None, log: str | None) -> TrialRecord:
    exit_text = "did not answer" if end is None else end.describe()
    message = f"the process {exit_text} before the trial started"
    return TrialFailure.from_output("crash", "NeverStarted", message, log).to_record(task.key)


class WorkerLostError(Exception):
    """Raised if the worker exited or closed its socket.

    `end` is the exit of the worker, or None if the worker only closed the socket.
    """

    def __init__(self, end: ProcessExit | None) -> None:
        super().__init__()
        self.end = end


class OutOfTimeError(Exception):
    """Raised if no message arrives before the deadline."""


class WorkerConnection:
    """The connection to a worker process. `data` is the content hash of the loaded data set.

    A learner whose code is not installed has a worker to itself. `owner` is this learner in pickled form, or b"" if several
    learners share the worker.
    """

    def __init__(self, fork_server: ForkServerClient, is_stopped: Callable[[], bool], owner: bytes = b"") -> None:
        self.data: str | None = None
        self.owner = owner
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
        """Send work. Raise OutOfTimeError if the worker reads nothing for `seconds`."""
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
        """Wait for the next message from the worker. If `seconds` is None, there is no time limit."""
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
        """Read a message from the fork server, and the last messages of a worker that has exited."""
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
        """Return the exit of the worker, or None if it only closed its socket."""
        if self._end is None:
            self._end = self._fork_server.wait_for_exit(self.process, _EXIT_SECONDS)
        return self._end

    def show_stack(self) -> None:
        """Make the worker print its stack, and wait briefly for the output."""
        self._fork_server.show_stack()
        deadline = time.monotonic() + _STACK_SECONDS
        events = select.poll()
        events.register(self._log.reader, select.POLLIN)
        while time.monotonic() < deadline and not self._log.ended:
            has_output = bool(events.poll(50)) and self._log.drain()
            if not has_output and STACK in self.log():
                return

    def kill(self) -> ProcessExit:
        """Kill the worker and its process tree, but keep its output."""
        if self._end is None:
            self._end = self._fork_server.kill(self.process)
        return self._end

    def log(self) -> str:
        """Return the output of the current trial. If the output is long, its beginning is missing."""
        self._log.drain()
        return self._log.get_output(self._token, self.number)

    def close(self) -> None:
        """Close the socket and the log, without ending the worker."""
        self._socket.close()
        self._log.close()


class ProcessPair:
    """The processes of a supervisor: at most one fork server and at most one worker.

    The pair does not refer to its supervisor, so the supervisor can be garbage-collected.
    """

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.stop: threading.Event | None = None
        self.fork_server = ForkServerClient()
        self._worker: WorkerConnection | None = None

    def is_stopped(self) -> bool:
        """Return whether the current work should stop."""
        return self.closing.is_set() or (self.stop is not None and self.stop.is_set())

    @property
    def data(self) -> str | None:
        """Content hash of the data set that the worker has loaded."""
        return None if self._worker is None else self._worker.data

    def get_worker(self, owner: bytes = b"") -> WorkerConnection:
        """Return the worker of this owner. Start a new worker if there is none, or if it has another owner."""
        if self._worker is not None and self._worker.owner != owner:
            self.drop_worker()
        if self._worker is None:
            self._worker = WorkerConnection(self.fork_server, self.is_stopped, owner)
        return self._worker

    def drop_worker(self) -> None:
        """End the worker. The next chunk gets a new worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            try:
                worker.kill()
            except ForkServerLostError:
                self.fork_server.close(worker.process)
            finally:
                worker.close()

    def drop_after(self, error: Exception) -> tuple[ProcessExit | None, str | None]:
        """End the processes after a failure that cannot be attributed to a trial.

        Return the exit of the worker (None if unknown) and the output of the worker.
        """
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
        """End both processes."""
        self.closing.set()
        worker, self._worker = self._worker, None
        self.fork_server.close(None if worker is None else worker.process)
        if worker is not None:
            worker.close()
