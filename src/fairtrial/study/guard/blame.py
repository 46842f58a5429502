"""What is recorded of a trial that could not report itself: stopped at a limit, or ended with its process."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from fairtrial.study.guard.log_tail import taken_apart
from fairtrial.study.records import Evidence, Limits, Status, Task

_NO_MEMORY = (
    "bad_alloc",
    "cannot allocate memory",
    "out of memory",
    "memoryerror",
    "malloc failed",
    "memory allocation",
    "failed to allocate",
    "unable to allocate",
    "allocation failed",
)


class Exit(NamedTuple):
    """How a process ended: its wait status, and the peak of its resident memory in bytes."""

    status: int
    peak: int


def failed(task: Task, status: Status, error: str, message: str, printed: str | None, memory: int | None) -> Evidence:
    """The evidence of a trial that was not there to give any."""
    log, stack = taken_apart(printed)
    return Evidence(task.key, status, error=error, message=message, traceback=stack, log=log, memory=memory)


def timed_out(task: Task, limits: Limits, printed: str | None, memory: int | None) -> Evidence:
    """The trial met the limit of time."""
    message = f"stopped after {limits.time:g} s, the limit of a trial: raise limits.time"
    return failed(task, "timeout", "TimeLimit", message, printed, memory)


def crashed(task: Task, end: Exit, limits: Limits, printed: str | None, memory: int | None) -> Evidence:
    """The process ended within the trial: `memory` where there was a limit and its output tells of it, else `crash`."""
    told = exit_words(end.status)
    if limits.memory is None:
        return failed(task, "crash", "ProcessEnded", told, printed, memory)
    limit = size_words(limits.memory)
    if any(each in (printed or "").lower() for each in _NO_MEMORY):
        message = f"{told} after it ran out of memory at the limit of {limit} of a trial: raise limits.memory"
        return failed(task, "memory", "MemoryLimit", message, printed, memory)
    return failed(task, "crash", "ProcessEnded", f"{told}, under a limit of memory of {limit}", printed, memory)


def exit_words(status: int) -> str:
    """A wait status in words.

    >>> exit_words(11), exit_words(3 << 8)
    ('killed by signal 11 (SIGSEGV)', 'ended itself with exit code 3')
    """
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended itself with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else "a signal without a name"
    system = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    return f"killed by signal {-code} ({name}){system}"


def size_words(size: int) -> str:
    """Bytes for people.

    >>> size_words(2_000_000_000), size_words(1500)
    ('2 GB', '1.5 kB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"
