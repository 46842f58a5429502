"""A guard's side of its warden: started when first needed, asked to fork and to kill, replaced when it is lost."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, NamedTuple

from fairtrial.errors import FairtrialError
from fairtrial.study.guard.blame import Exit
from fairtrial.study.guard.warden import ENDED, KILL, NEWS, REQUEST_BYTES, SHOW_STACK, START, STARTED

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
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's allocator: a process that forks has one thread only
    "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # macOS
}
LOOK = 0.2  # seconds between looks at whether to stop
_MAIN = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from fairtrial.study.guard.warden import main; main(int(sys.argv[1]))"
)
_START_SECONDS = 120.0
_KILL_SECONDS = 20.0
_CLOSE_SECONDS = 5.0


class StoppedError(Exception):
    """The run is to stop."""


class WardenLostError(Exception):
    """The warden ended, or does not answer."""


class News(NamedTuple):
    """What a warden tells: `STARTED` or `ENDED`, which child, and how it ended."""

    what: bytes
    process: int
    end: Exit


class _Origin(NamedTuple):
    """What a warden takes over from this process when it is started."""

    path: list[str]
    environment: dict[str, str]
    folder: str | None

    @classmethod
    def here(cls) -> _Origin:
        try:
            folder = os.getcwd()
        except OSError:  # somebody removed it
            folder = None
        return cls([each or folder or "." for each in sys.path], dict(os.environ), folder)


class WardenLink:
    """One warden process at a time."""

    def __init__(self) -> None:
        self.control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] | None = None
        self._owner = os.getpid()
        self._origin: _Origin | None = None

    def is_current(self) -> bool:
        """Whether a warden that is started now would have the same path, environment and folder."""
        return self._process is None or self._origin == _Origin.here()

    def start_child(self, link: socket.socket, log: int, token: bytes, stopped: Callable[[], bool]) -> int:
        """Fork a child that has these ends of a socket and of a pipe; its process number."""
        fresh = self._process is None
        if fresh:
            self._start()
        try:
            self._ask(START, token, [link.fileno(), log])
            end = time.monotonic() + _START_SECONDS
            while time.monotonic() < end:
                news = self.news(LOOK)
                if news is not None and news.what == STARTED:
                    return news.process
                if stopped():
                    self.close()  # its answer would be taken for that to a later question
                    raise StoppedError
            raise WardenLostError
        except WardenLostError:
            if fresh:
                raise FairtrialError(f"a process for trials could not be started: {self._last_words()}") from None
            raise

    def news(self, seconds: float) -> News | None:
        """What the warden tells within this time."""
        assert self.control is not None
        if not _readable(self.control, seconds):
            return None
        try:
            told = self.control.recv(NEWS.size, socket.MSG_WAITALL)
        except ConnectionError:
            told = b""
        if len(told) < NEWS.size:
            raise WardenLostError
        what, process, status, peak = NEWS.unpack(told)
        return News(what, process, Exit(status, peak))

    def kill(self, child: int) -> Exit:
        """Kill a child with all that it started; how it ended, which may have been before."""
        self._ask(KILL)
        end = self.exit_of(child, _KILL_SECONDS)
        if end is None:
            raise WardenLostError
        return end

    def exit_of(self, child: int, seconds: float) -> Exit | None:
        """How the child ended, if the warden says so within this time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            news = self.news(left)
            if news is not None and (news.what, news.process) == (ENDED, child):
                return news.end
        return None

    def show_stack(self) -> None:
        """Make the child write where it is into its log."""
        self._ask(SHOW_STACK)

    def close(self, child: int | None = None) -> None:
        """End the warden, which ends its child; kill both where it does not. A forked copy of this process only lets go."""
        if self.control is not None:
            self.control.close()
        process, self._process, self.control = self._process, None, None
        if process is not None and os.getpid() == self._owner:
            try:
                process.wait(_CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if child is not None and process.returncode != 0:  # it could not see to its child any more
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(child, signal.SIGKILL)
        if self._complaints is not None:
            self._complaints.close()
            self._complaints = None

    def _start(self) -> None:
        self.control, other = socket.socketpair()
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115
        self._origin = _Origin.here()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _MAIN, str(other.fileno()), json.dumps(self._origin.path)],
                env={**self._origin.environment, **ENVIRONMENT},
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._complaints,
                start_new_session=True,  # Ctrl-C in a terminal is for the coordinator alone
            )

    def _ask(self, what: bytes, token: bytes = b"", descriptors: list[int] | None = None) -> None:
        assert self.control is not None
        request = (what + token).ljust(REQUEST_BYTES, b"\x00")
        try:
            socket.send_fds(self.control, [request], descriptors or [], getattr(socket, "MSG_NOSIGNAL", 0))
        except OSError:
            raise WardenLostError from None

    def _last_words(self) -> str:
        """The end of what the warden complained of, after its end."""
        complaints, self._complaints = self._complaints, None
        self.close()
        if complaints is None:
            return "it did not answer"
        with complaints:
            complaints.seek(0)
            lines = complaints.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it did not answer"


def _readable(channel: socket.socket, seconds: float) -> bool:
    events = select.poll()
    events.register(channel, select.POLLIN)
    return bool(events.poll(max(0.0, seconds) * 1000))
