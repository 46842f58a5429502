"""A guard's side of one child: its socket, its log, and the wait for its next message under a deadline."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable

from fairtrial.study.guard.blame import Exit
from fairtrial.study.guard.log_tail import STACK, LogTail
from fairtrial.study.guard.messages import TOKEN_BYTES, WORK, Frame, Inbox, framed
from fairtrial.study.guard.warden import ENDED
from fairtrial.study.guard.warden_link import LOOK, StoppedError, WardenLink

_PIECE = 1 << 16
_QUIET = 0.02  # seconds for which the log is left alone: most trials end within them, and are not worth waking up for it
_EXIT_SECONDS = 1.0
_STACK_SECONDS = 0.5
_SILENT = getattr(socket, "MSG_NOSIGNAL", 0)


class ChildLostError(Exception):
    """The child ended (`end` says how), or no longer speaks to us though it lives (None)."""

    def __init__(self, end: Exit | None) -> None:
        super().__init__()
        self.end = end


class OutOfTimeError(Exception):
    """No message came before the deadline."""


class ChildLink:
    """A child of the warden. `data` is the content hash of the data set that it holds."""

    def __init__(self, warden: WardenLink, stopped: Callable[[], bool]) -> None:
        self.data: str | None = None
        self.number = 0
        self.resident = 0
        self._warden, self._stopped = warden, stopped
        self._token = os.urandom(TOKEN_BYTES)
        self._inbox = Inbox(self._token)
        self._end: Exit | None = None
        self._log = LogTail()
        self._socket, other = socket.socketpair()
        try:
            with other:
                self.process = warden.start_child(other, self._log.writer, self._token, stopped)
        except BaseException:
            self.close()
            raise
        self._log.handed_over()
        self._socket.setblocking(False)
        assert warden.control is not None
        self._control = warden.control.fileno()
        self._events, self._events_and_log = select.poll(), select.poll()
        for events in (self._events, self._events_and_log):
            events.register(self._socket, select.POLLIN)
            events.register(self._control, select.POLLIN)
        self._events_and_log.register(self._log.reader, select.POLLIN)

    def send(self, payload: bytes, seconds: float) -> None:
        """Send work, as fast as the child takes it; OutOfTimeError when it takes nothing for so many seconds."""
        left = memoryview(framed(self._token, Frame(WORK, self.number, payload)))
        events = select.poll()
        events.register(self._socket, select.POLLOUT)
        deadline = time.monotonic() + seconds
        while left:
            if self._stopped():
                raise StoppedError
            self._log.drain()
            if events.poll(LOOK * 1000):
                left = left[self._sent(left) :]
                deadline = time.monotonic() + seconds
            elif time.monotonic() > deadline:
                raise OutOfTimeError

    def _sent(self, left: memoryview) -> int:
        try:
            return self._socket.send(left, _SILENT)
        except BlockingIOError:
            return 0
        except OSError:
            raise ChildLostError(self._how_it_ended()) from None

    def message(self, seconds: float | None) -> Frame:
        """The next message of the child, which has so many seconds for it."""
        deadline = float("inf") if seconds is None else time.monotonic() + seconds
        poll, wait = self._events, _QUIET
        while True:
            frame = self._inbox.take()
            if frame is not None:
                return frame
            if self._end is not None:
                raise ChildLostError(self._end)
            if self._stopped():
                raise StoppedError
            left = deadline - time.monotonic()
            ready = {each for each, _ in poll.poll(max(0.0, min(wait, left)) * 1000)}
            if self._socket.fileno() in ready:
                self._read()
            elif self._control in ready:
                self._hear()
            elif left <= 0:
                raise OutOfTimeError
            else:
                self._log.drain()
                poll, wait = (self._events if self._log.ended else self._events_and_log), LOOK

    def _read(self) -> None:
        try:
            piece = self._socket.recv(_PIECE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            raise ChildLostError(self._how_it_ended())
        self._inbox.feed(piece)

    def _hear(self) -> None:
        """The warden speaks: if the child has ended, take in what it still sent, and remember how it ended."""
        news = self._warden.news(0)
        if news is None or (news.what, news.process) != (ENDED, self.process):
            return
        self._end = news.end
        try:
            while piece := self._socket.recv(_PIECE):
                self._inbox.feed(piece)
        except OSError:
            pass

    def _how_it_ended(self) -> Exit | None:
        """None where it lives, and only closed its end."""
        if self._end is None:
            self._end = self._warden.exit_of(self.process, _EXIT_SECONDS)
        return self._end

    def show_stack(self) -> None:
        """Have the child write where it is into its log, and wait for that, though not for long."""
        self._warden.show_stack()
        until = time.monotonic() + _STACK_SECONDS
        events = select.poll()
        events.register(self._log.reader, select.POLLIN)
        while time.monotonic() < until and not self._log.ended:
            got = bool(events.poll(50)) and self._log.drain()
            if not got and STACK in self.log():
                return

    def kill(self) -> Exit:
        """End it, and all that it started; what it printed until then is kept."""
        if self._end is None:
            self._end = self._warden.kill(self.process)
        return self._end

    def log(self) -> str:
        """What is kept of what the trial in progress has printed."""
        self._log.drain()
        return self._log.of(self._token, self.number)

    def close(self) -> None:
        """Close our ends; this alone kills nobody."""
        self._socket.close()
        self._log.close()
