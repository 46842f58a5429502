"""Fork server: a process that imports the modules of the workers once and then forks worker processes.

This process also kills the process trees of workers and reports how workers exit.
"""

from __future__ import annotations

import gc
import io
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, NamedTuple

from fairtrial.errors import FairtrialError
from fairtrial.study.run.protocol import TOKEN_BYTES, ProcessExit

START, KILL, SHOW_STACK = b"S", b"K", b"D"
STARTED, ENDED = b"P", b"E"
REQUEST_BYTES = 1 + TOKEN_BYTES  # all requests have the same length
MESSAGE = struct.Struct("<cqiq")  # kind, process, exit status, peak memory in bytes
SHOW_STACK_SIGNAL = getattr(signal, "SIGUSR1", signal.SIGTERM)  # Windows, which cannot run studies, has no SIGUSR1
_IMPORTS = (
    "numpy",
    "pandas",
    "sklearn.base",
    "joblib",
    "zstandard",
    "fairtrial.data",
    "fairtrial.conditions",
    "fairtrial.learners",
    "fairtrial.study.run.trial",
    "fairtrial.study.run.worker",
)
_POLL_MILLISECONDS = 1000  # how often the parent process is checked
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of Linux
_MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024
ONE_THREAD: Mapping[str, str] = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "BLIS_NUM_THREADS",
        "FAIRTRIAL_THREADS",
    ),
    "1",
)
ENVIRONMENT: Mapping[str, str] = {
    **ONE_THREAD,
    "PYTHONHASHSEED": "0",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's allocator must not start a thread, because the process forks
    "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS
}
POLL_SECONDS = 0.2  # how often the client checks for a request to stop
_MAIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from fairtrial.study.run.fork_server import main; main(int(sys.argv[1]))"
)
_START_SECONDS = 120.0
_MAX_STARTS = 3  # maximum number of starts of a fork server that is killed before it answers
_KILL_SECONDS = 20.0
_CLOSE_SECONDS = 5.0
_EXIT_SECONDS = 1.0


class StoppedError(Exception):
    """Raised when the run should stop."""


class ForkServerLostError(Exception):
    """Raised if the fork server has exited or does not answer."""


class Message(NamedTuple):
    """A message about a worker: `STARTED` or `ENDED`, its process id, and its exit."""

    kind: bytes
    process: int
    end: ProcessExit


class _LaunchContext(NamedTuple):
    """Import path, environment variables and working folder that a fork server inherits.

    The inode distinguishes the working folder from a later folder with the same name.
    """

    path: list[str]
    environment: dict[str, str]
    folder: str | None
    inode: int | None

    @classmethod
    def from_process(cls) -> _LaunchContext:
        try:
            folder, inode = os.getcwd(), Path.cwd().stat().st_ino
        except OSError:  # the folder was removed
            folder, inode = None, None
        return cls([entry or folder or "." for entry in sys.path], dict(os.environ), folder, inode)


class ForkServerClient:
    """The client of a fork server. It starts the server process on demand."""

    def __init__(self) -> None:
        self.control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._owner = os.getpid()
        self._context: _LaunchContext | None = None

    def is_current(self) -> bool:
        """Return whether a new server would inherit the same context as the current one.

        The context consists of the import path, the environment variables and the working folder. The result is also True if no
        server is running.
        """
        return self._process is None or self._context == _LaunchContext.from_process()

    def start_worker(self, link: socket.socket, log: int, token: bytes, is_stopped: Callable[[], bool]) -> int:
        """Fork a worker that inherits a socket and a pipe. Return the process id of the worker."""
        is_new = self._process is None
        for start in range(1, _MAX_STARTS + 1):
            if self._process is None:
                self._start()
            try:
                return self._request_worker(link, log, token, is_stopped)
            except ForkServerLostError:
                if not is_new:
                    raise
                problem, was_killed = self._read_last_error()
                if not was_killed or start == _MAX_STARTS:
                    break
        raise FairtrialError(f"the process that runs trials could not be started: {problem}")

    def _request_worker(self, link: socket.socket, log: int, token: bytes, is_stopped: Callable[[], bool]) -> int:
        self._send_request(START, token, [link.fileno(), log])
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            message = self.receive(POLL_SECONDS)
            if message is not None and message.kind == STARTED:
                return message.process
            if is_stopped():
                self.close()  # a late answer would be mistaken for the answer to the next request
                raise StoppedError
        raise ForkServerLostError

    def receive(self, seconds: float) -> Message | None:
        """Wait for a message from the fork server. Return None if no message arrives in time."""
        assert self.control is not None
        if not _is_readable(self.control, seconds):
            return None
        try:
            packed = self.control.recv(MESSAGE.size, socket.MSG_WAITALL)
        except ConnectionError:
            packed = b""
        if len(packed) < MESSAGE.size:
            raise ForkServerLostError
        kind, process, status, peak = MESSAGE.unpack(packed)
        return Message(kind, process, ProcessExit(status, peak))

    def kill(self, worker: int) -> ProcessExit:
        """Kill a worker and its process tree. Return how the worker exited, even if it had already exited."""
        self._send_request(KILL)
        end = self.wait_for_exit(worker, _KILL_SECONDS)
        if end is None:
            raise ForkServerLostError
        return end

    def wait_for_exit(self, worker: int, seconds: float) -> ProcessExit | None:
        """Wait for the report that the worker has exited. Return None if no report arrives in time."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            message = self.receive(remaining)
            if message is not None and (message.kind, message.process) == (ENDED, worker):
                return message.end
        return None

    def show_stack(self) -> None:
        """Make the worker print its stack."""
        self._send_request(SHOW_STACK)

    def close(self, worker: int | None = None) -> None:
        """End the fork server and its worker, by force if necessary.

        In a forked copy of this process, this method does not end them.
        """
        if self.control is not None:
            self.control.close()
        process, self._process, self.control = self._process, None, None
        if process is not None and os.getpid() == self._owner:
            try:
                process.wait(_CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if worker is not None and process.returncode != 0:  # the fork server could not end its worker
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(worker, signal.SIGKILL)
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def _start(self) -> None:
        self.control, server_socket = socket.socketpair()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._context = _LaunchContext.from_process()
        with server_socket:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _MAIN, str(server_socket.fileno()), json.dumps(self._context.path)],
                env={**self._context.environment, **ENVIRONMENT},
                pass_fds=[server_socket.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._stderr,
                start_new_session=True,  # only the coordinator receives Ctrl-C in a terminal
            )

    def _send_request(self, kind: bytes, token: bytes = b"", descriptors: list[int] | None = None) -> None:
        assert self.control is not None
        request = (kind + token).ljust(REQUEST_BYTES, b"\x00")
        try:
            socket.send_fds(self.control, [request], descriptors or [], getattr(socket, "MSG_NOSIGNAL", 0))
        except OSError:
            raise ForkServerLostError from None

    def _read_last_error(self) -> tuple[str, bool]:
        """Close the fork server. Return the last line that the server printed, and whether a signal killed the server."""
        was_killed = False
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                was_killed = self._process.wait(_EXIT_SECONDS) < 0
        stderr, self._stderr = self._stderr, None
        self.close()
        with stderr if stderr is not None else io.BytesIO() as output:
            output.seek(0)
            lines = output.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it was killed" if was_killed else "no answer", was_killed


def _is_readable(channel: socket.socket, seconds: float) -> bool:
    events = select.poll()
    events.register(channel, select.POLLIN)
    return bool(events.poll(max(0.0, seconds) * 1000))


def main(control: int) -> None:
    """Serve the supervisor at the other end of the socket `control` until the supervisor exits or disconnects."""
    parent = os.getppid()
    for name in _IMPORTS:
        import_module(name)
    gc.collect()
    gc.freeze()  # keeps these memory pages shared with child processes for longer
    with socket.socket(fileno=control) as supervisor:
        ForkServer(supervisor, parent).serve()


class ForkServer:
    """The server process. It serves one supervisor and has at most one worker."""

    def __init__(self, supervisor: socket.socket, parent: int) -> None:
        self._supervisor = supervisor
        self._parent = parent
        self._worker = 0
        self._wakeup_reader, wakeup_writer = os.pipe()
        for end in (self._wakeup_reader, wakeup_writer):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        adopt_orphans()

    def serve(self) -> None:
        """Handle the requests of the supervisor, and report the exits of workers."""
        events = select.poll()
        events.register(self._supervisor, select.POLLIN)
        events.register(self._wakeup_reader, select.POLLIN)
        while os.getppid() == self._parent:
            ready = {descriptor for descriptor, _ in events.poll(_POLL_MILLISECONDS)}
            if self._wakeup_reader in ready:
                with suppress(BlockingIOError):
                    os.read(self._wakeup_reader, 4096)
            if self._worker:
                self._check_worker()
            if self._supervisor.fileno() in ready and not self._handle_request():
                break
        self._end_worker()

    def _handle_request(self) -> bool:
        """Handle one request, and return whether the supervisor is still connected."""
        try:
            request, descriptors, _, _ = socket.recv_fds(self._supervisor, REQUEST_BYTES, 2)
        except ConnectionError:
            return False
        kind, token = request[:1], request[1:]
        if kind == START:
            self._end_worker()
            self._fork(token, *descriptors)
        elif kind == KILL:
            self._end_worker()
        elif kind == SHOW_STACK and self._worker:
            os.kill(self._worker, SHOW_STACK_SIGNAL)
        return bool(request)

    def _fork(self, token: bytes, link: int, log: int) -> None:
        from fairtrial.study.run.worker import become_worker

        server_pid = os.getpid()
        self._worker = os.fork()
        if self._worker == 0:
            become_worker(link, log, token, server_pid)
        os.close(link)
        os.close(log)
        self._send_message(STARTED, self._worker)

    def _check_worker(self) -> None:
        """Report the exit of the worker, if it has exited.

        If `waitid` is available, the worker stays a zombie until its process group is killed, so its process id is not reused.
        """
        if hasattr(os, "waitid"):
            if os.waitid(os.P_PID, self._worker, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                self._end_worker()
            _reap_orphans(self._worker)
        else:
            pid, status, usage = os.wait4(self._worker, os.WNOHANG)
            if pid:
                _kill_group(pid)
                self._finish_worker(status, usage.ru_maxrss)

    def _end_worker(self) -> None:
        """Kill the worker, if there is one, and its process tree."""
        if not self._worker:
            return
        with suppress(ProcessLookupError):  # its process group may not exist yet
            os.kill(self._worker, signal.SIGKILL)
        _kill_group(self._worker)
        _, status, usage = os.wait4(self._worker, 0)
        self._finish_worker(status, usage.ru_maxrss)

    def _finish_worker(self, status: int, peak: int) -> None:
        worker, self._worker = self._worker, 0
        kill_orphans()
        self._send_message(ENDED, worker, status, peak * _MEMORY_UNIT)

    def _send_message(self, kind: bytes, process: int, status: int = 0, peak: int = 0) -> None:
        with suppress(ConnectionError):
            self._supervisor.sendall(MESSAGE.pack(kind, process, status, peak))


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def adopt_orphans() -> None:
    """Make this process the parent of processes that workers leave behind, so it can kill them (Linux only)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_ADOPT_ORPHANS, 1, 0, 0, 0)


def kill_orphans() -> None:
    """Kill and reap all remaining children of this process (Linux only)."""
    while orphans := _list_children():
        for orphan in orphans:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(orphan, signal.SIGKILL)
                os.waitpid(orphan, 0)


def _list_children() -> list[int]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in path.read_text().split()] if path.is_file() else []


def _reap_orphans(worker: int) -> None:
    """Reap orphaned processes that have exited, but not the worker."""
    for pid in _list_children():
        if pid != worker:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
