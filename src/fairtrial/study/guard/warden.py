"""The warden: a process that has imported everything, runs nothing of a learner, and forks the children that do.

It serves one guard over a socket and has one child at a time. It says when the child ended and how, and kills whatever the
child left behind. When its guard is gone, however that came about, it kills the child and ends.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from fairtrial.study.guard.messages import TOKEN_BYTES

START, KILL, SHOW_STACK = b"S", b"K", b"D"
STARTED, ENDED = b"P", b"E"
REQUEST_BYTES = 1 + TOKEN_BYTES  # all requests are equally long: none is read together with the next
NEWS = struct.Struct("<cqiq")  # kind, process, exit status, peak memory in bytes
SHOW_STACK_SIGNAL = signal.SIGUSR1
_IMPORTS = (
    "numpy",
    "pandas",
    "sklearn.base",
    "joblib",
    "zstandard",
    "fairtrial.data",
    "fairtrial.conditions",
    "fairtrial.learners",
    "fairtrial.study.trial.run",
    "fairtrial.study.guard.worker",
)
_LOOK = 1000  # milliseconds between looks at whether the parent is still there
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
_MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024


def main(control: int) -> None:
    """Serve the guard at the other end of this descriptor until it is gone."""
    parent = os.getppid()
    for name in _IMPORTS:
        import_module(name)
    gc.collect()
    gc.freeze()  # children share these pages for longer
    with socket.socket(fileno=control) as guard:
        Warden(guard, parent).serve()


class Warden:
    """One guard, one child at a time."""

    def __init__(self, guard: socket.socket, parent: int) -> None:
        self._guard = guard
        self._parent = parent
        self._child = 0
        self._woken, wake = os.pipe()
        for end in (self._woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        adopt_orphans()

    def serve(self) -> None:
        """Do what the guard asks and tell it of the child's end."""
        events = select.poll()
        events.register(self._guard, select.POLLIN)
        events.register(self._woken, select.POLLIN)
        while os.getppid() == self._parent:
            ready = {descriptor for descriptor, _ in events.poll(_LOOK)}
            if self._woken in ready:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            if self._child:
                self._look_after_child()
            if self._guard.fileno() in ready and not self._do_next():
                break
        self._end_child()

    def _do_next(self) -> bool:
        """One request of the guard; whether it is still there."""
        try:
            request, descriptors, _, _ = socket.recv_fds(self._guard, REQUEST_BYTES, 2)
        except ConnectionError:
            return False
        what, token = request[:1], request[1:]
        if what == START:
            self._end_child()
            self._fork(token, *descriptors)
        elif what == KILL:
            self._end_child()
        elif what == SHOW_STACK and self._child:
            os.kill(self._child, SHOW_STACK_SIGNAL)
        return bool(request)

    def _fork(self, token: bytes, link: int, log: int) -> None:
        from fairtrial.study.guard.worker import become_worker

        warden = os.getpid()
        self._child = os.fork()
        if self._child == 0:
            become_worker(link, log, token, warden)
        os.close(link)
        os.close(log)
        self._tell(STARTED, self._child)

    def _look_after_child(self) -> None:
        """Tell the guard if the child has ended. It stays a zombie until its group is killed: its number is not given away."""
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, self._child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                self._end_child()
            _reap(self._child)
        else:
            pid, status, usage = os.wait4(self._child, os.WNOHANG)
            if pid:
                _kill_group(pid)
                self._ended(status, usage.ru_maxrss)

    def _end_child(self) -> None:
        """Kill the child, if there is one, with its process group and all that it started."""
        if not self._child:
            return
        with suppress(ProcessLookupError):  # it may not lead a group yet
            os.kill(self._child, signal.SIGKILL)
        _kill_group(self._child)
        _, status, usage = os.wait4(self._child, 0)
        self._ended(status, usage.ru_maxrss)

    def _ended(self, status: int, peak: int) -> None:
        child, self._child = self._child, 0
        kill_orphans()
        self._tell(ENDED, child, status, peak * _MEMORY_UNIT)

    def _tell(self, what: bytes, process: int, status: int = 0, peak: int = 0) -> None:
        with suppress(ConnectionError):
            self._guard.sendall(NEWS.pack(what, process, status, peak))


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def adopt_orphans() -> None:
    """What a child started and left alone becomes a child of the warden, which can end it (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def kill_orphans() -> None:
    """Kill and reap all children of this process that are left: those whose own parents ended."""
    while orphans := _children():
        for each in orphans:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(each, signal.SIGKILL)
                os.waitpid(each, 0)


def _children() -> list[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(each) for each in listed.read_text().split()] if listed.is_file() else []


def _reap(child: int) -> None:
    """Orphans that ended by themselves."""
    for each in _children():
        if each != child:
            with suppress(ChildProcessError):
                os.waitpid(each, os.WNOHANG)
