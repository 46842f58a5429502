"""What a child puts right between two trials, and how it sees that a trial left something that cannot be put right."""

from __future__ import annotations

import os
import resource
import signal
import sys
import threading
from contextlib import suppress

from fairtrial.study.trial.settings import Settings

_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGALRM", "SIGCHLD", "SIGPIPE"))
_LIMITS = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
_MOST_GROWTH = 1 << 29  # bytes that a child may keep from earlier trials
_PAGE = resource.getpagesize()


class Surroundings:
    """The state of a process that one trial must not pass on to the next. `link` is a descriptor that must stay as it is."""

    def __init__(self, link: int) -> None:
        self._link = link
        self._process = os.getpid()
        self._identities = {each: _identity(each) for each in (1, 2, link)}
        self._streams = (sys.stdin, sys.stdout, sys.stderr)
        self._handlers = {each: signal.getsignal(each) for each in _SIGNALS}
        self._settings = Settings()
        self._limits = {each: resource.getrlimit(each) for each in _LIMITS}
        self._limits_stand = True
        self._resident: int | None = None

    def remember(self) -> None:
        """Take the memory in use now, the data set included, as that of a child that has kept nothing."""
        if self._resident is None:
            self._resident = resident_memory()

    def limit_memory(self, size: int | None) -> None:
        """Let the address space grow by so many bytes; None: as it likes. Only where the system tells its size."""
        used = 0 if size is None else _statm(0)
        if size is None or not used:
            return
        soft, hard = self._limits[resource.RLIMIT_AS]
        wanted = [used + size, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_AS, (min(wanted), hard))

    def calm(self) -> None:
        """Stop timers and put back the limits of the system: nothing of the trial must strike what comes after it."""
        if os.getpid() != self._process:  # a copy of this process that the learner forked, and that came back from it
            os._exit(0)
        for each in _TIMERS:
            signal.setitimer(each, 0)
        lowered = [each for each, limits in self._limits.items() if not _limit_stands(each, limits)]
        self._limits_stand = not lowered

    def restore(self, *, thoroughly: bool) -> bool:
        """Put back what can be; whether the process is then as before. `thoroughly` looks at its memory, too."""
        for each, handler in self._handlers.items():
            if signal.getsignal(each) is not handler:
                signal.signal(each, handler)
        try:
            self._settings.put_back()
        except Exception:  # whatever a learner made of what we ask
            return False
        left = threading.active_count() > 1 or _has_children()
        as_before = not left and self._limits_stand and self._streams_stand()
        return as_before and not (thoroughly and self._has_outgrown())

    def check_link(self) -> None:
        """OSError if the link has been closed, even where another file took its number."""
        if _identity(self._link) != self._identities[self._link]:
            raise OSError("the link was closed")

    def _streams_stand(self) -> bool:
        sys.stdin, sys.stdout, sys.stderr = self._streams
        try:
            for stream in self._streams[1:]:
                stream.flush()
            return all(_identity(each) == self._identities[each] for each in (1, 2))
        except (OSError, ValueError):
            return False

    def _has_outgrown(self) -> bool:
        return self._resident is not None and resident_memory() > self._resident + _MOST_GROWTH


def _limit_stands(which: int, limits: tuple[int, int]) -> bool:
    """Put a limit of the system back, or as near to it as may be; few processes may raise one that was lowered for good."""
    found = resource.getrlimit(which)
    if found == limits:
        return True
    for wanted in (limits, (found[1], found[1])):
        with suppress(ValueError, OSError):
            resource.setrlimit(which, wanted)
            return wanted == limits
    return False


def resident_memory() -> int:
    """Bytes of memory that this process holds; 0 where the system does not tell."""
    return _statm(1)


def _statm(place: int) -> int:
    try:
        file = os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(file, 200).split()[place]) * _PAGE
    finally:
        os.close(file)


def _identity(descriptor: int) -> tuple[int, int]:
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
