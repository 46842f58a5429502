"""The end of what a child prints, and which trial printed it: a pipe that never fills, of which little is kept."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from fairtrial.study.trial.file_names import named_from_package

KEPT = 64 * 1024
SHOWN = 4000
_READS = 32  # at a time: a child that prints without end must not hold up whoever waits for it
_PIECE = 64 * 1024
_MODULES = re.compile(r"\n*^Extension modules: .*$", re.MULTILINE)
_WORKER = re.escape(f"{__name__.rpartition('.')[0].replace('.', '/')}/worker.py")
_OWN_FRAMES = re.compile(rf'^  File ".*{_WORKER}", line \d+ in _trial\n[\s\S]*\Z', re.MULTILINE)
STACK = "Stack (most recent call first):"


def mark(token: bytes, number: int) -> bytes:
    """What a child writes before the output of its trial of this number."""
    return b"\x1e" + token.hex().encode() + b":%d\x1e\n" % number


class LogTail:
    """The reading end of a pipe into which a child prints; `writer` is the other end, until it is handed over.

    >>> log = LogTail()
    >>> _ = os.write(log.writer, mark(b"token", 3) + b"first\\n" + mark(b"token", 4) + b"second\\n")
    >>> _ = log.drain()
    >>> log.of(b"token", 3), log.of(b"token", 4)
    ('first', 'second')
    >>> log.close()
    """

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.ended = False
        self._tail = bytearray()

    def handed_over(self) -> None:
        """The child has the writing end now."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def drain(self) -> bool:
        """Read what is there, without waiting; whether there was anything."""
        got = False
        for _ in range(_READS):
            try:
                piece = os.read(self.reader, _PIECE)
            except BlockingIOError:
                break
            if not piece:
                self.ended = True
                break
            got = True
            self._tail += piece
            if len(self._tail) > 2 * KEPT:
                del self._tail[:-KEPT]
        return got

    def of(self, token: bytes, number: int) -> str:
        """What is kept of what the trial of this number printed."""
        start, begun = mark(token, number), 0
        found = self._tail.rfind(start)
        if found >= 0:
            begun = found + len(start)
        end = self._tail.find(mark(token, number + 1), begun)
        own = bytes(self._tail[begun : end if end >= 0 else len(self._tail)])
        return _MODULES.sub("", own.decode("utf-8", "replace")).replace("\x00", "").strip()

    def close(self) -> None:
        """Close what is open of the pipe."""
        self.handed_over()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


class Printed(NamedTuple):
    """The end of what a trial printed, and the stack that Python wrote when the trial was stopped or crashed."""

    log: str | None
    stack: str | None


def taken_apart(text: str | None) -> Printed:
    """Output and stack; the frames of the guard itself are left out, and files are named from the folder of their package on.

    >>> taken_apart("said something\\nStack (most recent call first):\\n  File 'a.py', line 3 in fit")
    Printed(log='said something', stack="Stack (most recent call first):\\n  File 'a.py', line 3 in fit")
    """
    before, found, after = (text or "").rpartition(STACK)
    if not found:
        return Printed(_end(after), None)
    stack = named_from_package(_OWN_FRAMES.sub("", after))
    return Printed(_end(before), (STACK + stack).rstrip()[:SHOWN])


def _end(text: str) -> str | None:
    return text.strip()[-SHOWN:] or None
