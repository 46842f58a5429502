"""The child in which trials run, one after the other. It is forked by the warden and may be killed at any time."""

from __future__ import annotations

import faulthandler
import fcntl
import os
import resource
import signal
import socket
import struct
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from fairtrial.study.guard.log_tail import mark
from fairtrial.study.guard.messages import DONE, READY, REFUSED, Frame, Inbox, framed, read_work, written_evidence
from fairtrial.study.guard.tidying import Surroundings, resident_memory
from fairtrial.study.records import Chunk, Evidence, Task

if TYPE_CHECKING:
    from fairtrial.study.trial.run import Bench
    from fairtrial.study.trial.trial_data import TrialData

RESIDENT = struct.Struct("<Q")
_ABOVE = 100  # descriptors that learners, which count from 3, are unlikely to meet
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_LINES = 1  # _IOLBF of C's stdio
_PIECE = 1 << 18
_FAILED = 70
LINK_CLOSED = 113  # the exit code of a worker that cannot report any more


def become_worker(link: int, log: int, token: bytes, warden: int) -> NoReturn:
    """Turn the process that was just forked into a worker; it ends when its guard has gone."""
    try:
        os.setsid()
        _die_with(warden)
        link, log = _keep_only(link, log)
        _default_signals(log)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        Worker(socket.socket(fileno=link), log, token).serve()
    except BaseException:
        os.write(2, traceback.format_exc().encode("utf-8", "backslashreplace"))
    finally:
        os._exit(_FAILED)


def _die_with(warden: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != warden:  # it was gone already
        os._exit(0)


def _keep_only(link: int, log: int) -> tuple[int, int]:
    """Nothing to read at 0, the log at 1 and 2, the link and the log once more out of the way; all else closed."""
    link, log = (fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for each in (link, log))
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in enumerate((nothing, log, log)):
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
    """What C libraries print would otherwise wait in a buffer, to be lost in a crash or taken for a later trial's."""
    import ctypes

    library = ctypes.CDLL(None)
    with suppress(ValueError, AttributeError):
        stdout = ctypes.c_void_p.in_dll(library, "__stdoutp" if sys.platform == "darwin" else "stdout")
        library.setvbuf(stdout, None, _LINES, 0)


def _default_signals(log: int) -> None:
    from fairtrial.study.guard.warden import SHOW_STACK_SIGNAL

    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.enable(log, all_threads=False)
    faulthandler.register(SHOW_STACK_SIGNAL, log, all_threads=False)


class Worker:
    """Reads chunks from its link and answers each trial's evidence as soon as it is there."""

    def __init__(self, link: socket.socket, log: int, token: bytes) -> None:
        self._link, self._log, self._token = link, log, token
        self._inbox = Inbox(token)
        self._surroundings = Surroundings(link.fileno())
        self._data: TrialData | None = None
        self._number = 0

    def serve(self) -> None:
        """Run what comes, until nobody is there to send it."""
        while True:
            while (frame := self._inbox.take()) is None:
                piece = self._link.recv(_PIECE)
                if not piece:
                    os._exit(0)
                self._inbox.feed(piece)
            self._number = frame.number
            self._work(frame.payload)

    def _work(self, payload: bytes) -> None:
        try:
            chunk, bench = self._bench(payload)
        except BaseException as error:
            from fairtrial.study.trial.failing import Failure

            self._data = None
            self._send(REFUSED, written_evidence(Failure.of(error).evidence(b""), last=True))
            return
        self._surroundings.remember()
        self._send(READY, RESIDENT.pack(resident_memory()))
        for task in chunk.tasks:
            self._trial(bench, task, chunk.limits.memory, last_of_chunk=task is chunk.tasks[-1])
            self._number += 1

    def _bench(self, payload: bytes) -> tuple[Chunk, Bench]:
        from fairtrial.study.trial.run import Bench
        from fairtrial.study.trial.trial_data import TrialData

        dataset, chunk = read_work(payload)
        if dataset is not None:
            self._data = TrialData.of(dataset)
        assert self._data is not None, "the guard sends a data set with the first chunk"
        return chunk, Bench(self._data, chunk)

    def _trial(self, bench: Bench, task: Task, memory: int | None, *, last_of_chunk: bool) -> None:
        self._mark()
        self._surroundings.limit_memory(memory)
        try:
            evidence = bench.run(task)
        except BaseException as error:
            evidence = _failure(task, error)
        finally:
            self._surroundings.calm()
        clean = self._surroundings.restore(thoroughly=last_of_chunk) and evidence.status != "memory"
        self._send(DONE, written_evidence(evidence, last=not clean))
        if not clean:
            os._exit(0)

    def _mark(self) -> None:
        with suppress(OSError):
            os.write(self._log, mark(self._token, self._number))

    def _send(self, kind: int, payload: bytes) -> None:
        try:
            self._surroundings.check_link()
            self._link.sendall(framed(self._token, Frame(kind, self._number, payload)))
        except OSError:  # nobody is there, or a learner closed what we speak over: the guard sees it
            os._exit(LINK_CLOSED)


def _failure(task: Task, error: BaseException) -> Evidence:
    """What the bench could not turn into evidence itself."""
    from fairtrial.study.trial.failing import Failure

    try:
        return Failure.of(error).evidence(task.key)
    except BaseException:
        return Evidence(task.key, "error", error=type(error).__name__, message="(it cannot be told)")
