"""Worker process that runs trials one after another. The fork server starts the worker and can kill it at any time."""

from __future__ import annotations

import faulthandler
import fcntl
import os
import resource
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from fairtrial.study.records import Chunk, TrialRecord, TrialTask
from fairtrial.study.run.diagnostics import TrialFailure
from fairtrial.study.run.meter import ProcessSettings
from fairtrial.study.run.protocol import (
    DONE,
    LINK_CLOSED,
    READY,
    REFUSED,
    RESIDENT,
    Frame,
    Inbox,
    LogTail,
    RecordMessage,
    WorkMessage,
    encode_frame,
)

if TYPE_CHECKING:
    from fairtrial.study.run.trial import TrialRunner
    from fairtrial.study.run.trial_data import TrialData

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGCHLD", "SIGPIPE"))
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_MAX_GROWTH = 1 << 29  # bytes by which the memory of a worker can grow before the worker is replaced
_PAGE = resource.getpagesize()
_MIN_DESCRIPTOR = 100  # above the descriptors that learners are likely to use
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_LINES = 1  # _IOLBF of C's stdio
_READ_BYTES = 1 << 18
_FAILED = 70


def become_worker(link: int, log: int, token: bytes, fork_server: int) -> NoReturn:
    """Turn the forked process into a worker, which exits when its supervisor exits."""
    try:
        os.setsid()
        _end_with_parent(fork_server)
        link, log = _keep_only(link, log)
        _reset_signals(log)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        Worker(socket.socket(fileno=link), log, token).serve()
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))
    finally:
        os._exit(_FAILED)


def _end_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # the parent has already exited
        os._exit(0)


def _keep_only(link: int, log: int) -> tuple[int, int]:
    """Keep only the standard streams, link and log. Return the new descriptors of link and log."""
    link, log = (fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _MIN_DESCRIPTOR) for descriptor in (link, log))
    null_descriptor = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((null_descriptor, log, log)):
        os.dup2(source, target)
    low, high = sorted((link, log))
    for start, end in ((3, low), (low + 1, high), (high + 1, max(high + 1, os.sysconf("SC_OPEN_MAX")))):
        os.closerange(start, end)
    for name, target in (("stdout", 1), ("stderr", 2)):
        stream = open(target, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    _print_lines_at_once()
    return link, log


def _print_lines_at_once() -> None:
    """Make C libraries flush each line. Buffered output would be lost in a crash or attributed to a later trial."""
    import ctypes

    library = ctypes.CDLL(None)
    with suppress(ValueError, AttributeError):
        stdout = ctypes.c_void_p.in_dll(library, "__stdoutp" if sys.platform == "darwin" else "stdout")
        library.setvbuf(stdout, None, _LINES, 0)


def _reset_signals(log: int) -> None:
    from fairtrial.study.run.fork_server import SHOW_STACK_SIGNAL

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.enable(log, all_threads=False)
    faulthandler.register(SHOW_STACK_SIGNAL, log, all_threads=False)


class Worker:
    """A worker that receives chunks and sends the record of each trial as soon as the trial has finished."""

    def __init__(self, link: socket.socket, log: int, token: bytes) -> None:
        self._link, self._log, self._token = link, log, token
        self._inbox = Inbox(token)
        self._process_state = ProcessState(link.fileno())
        self._data: TrialData | None = None
        self._number = 0

    def serve(self) -> None:
        """Run chunks until the supervisor closes the connection."""
        while True:
            while (frame := self._inbox.take()) is None:
                piece = self._link.recv(_READ_BYTES)
                if not piece:
                    os._exit(0)
                self._inbox.feed(piece)
            self._number = frame.number
            self._run_chunk(frame.payload)

    def _run_chunk(self, payload: bytes) -> None:
        try:
            chunk, runner = self._prepare_runner(payload)
        except BaseException as error:
            self._data = None
            self._send(REFUSED, RecordMessage(TrialFailure.from_error(error).to_record(b""), last=True).encode())
            return
        self._process_state.record_memory()
        self._send(READY, RESIDENT.pack(measure_resident_memory()))
        for task in chunk.tasks:
            self._run_trial(runner, task, chunk.limits.memory, last_of_chunk=task is chunk.tasks[-1])
            self._number += 1

    def _prepare_runner(self, payload: bytes) -> tuple[Chunk, TrialRunner]:
        from fairtrial.study.run.trial import TrialRunner
        from fairtrial.study.run.trial_data import TrialData

        dataset, chunk = WorkMessage.decode(payload)
        if dataset is not None:
            self._data = TrialData.from_dataset(dataset)
        assert self._data is not None, "the supervisor sends a data set with the first chunk"
        return chunk, TrialRunner(self._data, chunk)

    def _run_trial(self, runner: TrialRunner, task: TrialTask, memory: int | None, *, last_of_chunk: bool) -> None:
        self._mark_trial()
        self._process_state.limit_memory(memory)
        try:
            record = runner.run(task)
        except BaseException as error:
            record = _make_failure_record(task, error)
        finally:
            self._process_state.reset_timers_and_limits()
        clean = self._process_state.restore(check_memory=last_of_chunk)
        if record.status != "ok" and runner.used_learner:
            clean = False  # the learner may have changed a library before it failed
        self._send(DONE, RecordMessage(record, last=not clean).encode())
        if not clean:
            os._exit(0)

    def _mark_trial(self) -> None:
        with suppress(OSError):
            os.write(self._log, LogTail.make_marker(self._token, self._number))

    def _send(self, kind: int, payload: bytes) -> None:
        try:
            self._process_state.check_link()
            self._link.sendall(encode_frame(self._token, Frame(kind, self._number, payload)))
        except OSError:  # the supervisor has exited, or it will notice that the learner closed the link
            os._exit(LINK_CLOSED)


def _make_failure_record(task: TrialTask, error: BaseException) -> TrialRecord:
    """Build the record of a trial whose runner raised an error."""
    try:
        return TrialFailure.from_error(error).to_record(task.key)
    except BaseException:
        return TrialRecord(task.key, "error", error=type(error).__name__, message="(message not available)")


class ProcessState:
    """Process state that is restored after each trial, so trials cannot affect each other.

    `link` is the file descriptor of the connection to the supervisor. Trials must not close this descriptor.
    """

    def __init__(self, link: int) -> None:
        self._link = link
        self._process = os.getpid()
        self._identities = {descriptor: _get_file_identity(descriptor) for descriptor in (1, 2, link)}
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._handlers = {signal_number: signal.getsignal(signal_number) for signal_number in _SIGNALS}
        self._settings = ProcessSettings()
        self._limits = {resource_id: resource.getrlimit(resource_id) for resource_id in _LIMITS}
        self._limits_restored = True
        self._resident: int | None = None

    def record_memory(self) -> None:
        """Record the resident memory of the worker, with its data set, as a baseline for its growth."""
        if self._resident is None:
            self._resident = measure_resident_memory()

    def limit_memory(self, size: int | None) -> None:
        """Limit the further growth of the address space to `size` bytes.

        No limit is set if `size` is None or if the system does not report the current size of the address space.
        """
        used = 0 if size is None else _read_statm(0)
        if size is None or not used:
            return
        soft, hard = self._limits[resource.RLIMIT_AS]
        bounds = [used + size, *(bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_AS, (min(bounds), hard))

    def reset_timers_and_limits(self) -> None:
        """Stop timers and restore resource limits, so a trial cannot affect the next one."""
        if os.getpid() != self._process:  # a copy of this process that the learner forked
            os._exit(0)
        for timer in _TIMERS:
            signal.setitimer(timer, 0)
        lowered = [resource_id for resource_id, bounds in self._limits.items() if not _restore_limit(resource_id, bounds)]
        self._limits_restored = not lowered

    def restore(self, *, check_memory: bool) -> bool:
        """Restore the state. Return whether the process can run further trials.

        If `check_memory` is True, the result is also False if the memory of the process has grown too much.
        """
        for signal_number, handler in self._handlers.items():
            if signal.getsignal(signal_number) is not handler:
                signal.signal(signal_number, handler)
        try:
            self._settings.restore()
        except Exception:  # the learner may have replaced anything
            return False
        has_leftovers = threading.active_count() > 1 or _has_children()
        as_before = not has_leftovers and self._limits_restored and self._restore_streams()
        return as_before and not (check_memory and self._has_outgrown())

    def check_link(self) -> None:
        """Raise OSError if the link was closed, even if another file now uses its descriptor."""
        if _get_file_identity(self._link) != self._identities[self._link]:
            raise OSError("the link was closed")

    def _restore_streams(self) -> bool:
        sys.stdin, sys.stdout, sys.stderr = self._streams
        try:
            for stream in self._streams[1:]:
                stream.flush()
            return all(_get_file_identity(descriptor) == self._identities[descriptor] for descriptor in (1, 2))
        except (OSError, ValueError):
            return False

    def _has_outgrown(self) -> bool:
        return self._resident is not None and measure_resident_memory() > self._resident + _MAX_GROWTH


def _restore_limit(resource_id: int, bounds: tuple[int, int]) -> bool:
    """Restore a resource limit as far as possible. Return whether it is fully restored.

    Only a privileged process can raise a hard limit that was lowered.
    """
    current = resource.getrlimit(resource_id)
    if current == bounds:
        return True
    for target in (bounds, (current[1], current[1])):
        with suppress(ValueError, OSError):
            resource.setrlimit(resource_id, target)
            return target == bounds
    return False


def measure_resident_memory() -> int:
    """Measure the resident memory of this process in bytes. Return 0 if the system does not report it."""
    return _read_statm(1)


def _read_statm(index: int) -> int:
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(file, 200).split()[index]) * _PAGE
    finally:
        os.close(file)


def _get_file_identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
