"""What a trial costs: wall-clock and CPU time of each stage, and the growth of its resident memory; and what it warned of."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
_NOTES = 1000
_RESET_PEAK = b"5"  # what proc(5) calls resetting the peak resident set size
_COUNTING = 2**20  # the system counts pages of each processor apart, and adds them up now and then
_USAGE_UNIT = 1 if sys.platform == "darwin" else 1024


class Meter:
    """Times of the stages `fit` and `predict` of one trial, in seconds, and bytes of memory.

    CPU time counts all threads of the process. Memory is the growth of the peak of the resident memory since the start. Where
    the system cannot set the peak back (elsewhere than on Linux), only what exceeds the highest peak so far is seen.

    >>> meter = Meter()
    >>> with meter.stage("fit"):
    ...     _ = sum(range(1000))
    >>> meter.figures["fit_time"] > 0, sorted(meter.figures)
    (True, ['fit_cpu', 'fit_time'])
    """

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        _reset_peak()
        self._start = resident_peak()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens within, also when it fails."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.figures[f"{name}_time"] = time.perf_counter() - wall
            self.figures[f"{name}_cpu"] = time.process_time() - cpu

    def memory(self) -> int:
        """Bytes by which the peak has grown."""
        return max(resident_peak() - self._start, 0)


def resident_peak() -> int:
    """The most resident memory that this process has had, in bytes, since it was last set back."""
    return _usage_peak() if _usage_tells(os.getpid()) else _status_peak()


@cache
def _usage_tells(_process: int) -> bool:
    """Whether the cheap call may be used: it may remember a higher peak, of the program that started this one."""
    _reset_peak()
    told_peak = _status_peak()
    return told_peak == 0 or _usage_peak() <= told_peak + _COUNTING


def _usage_peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _USAGE_UNIT


def _status_peak() -> int:
    """The peak as Linux tells it, 0 elsewhere."""
    found = _asked("/proc/self/status", os.O_RDONLY, lambda file: os.read(file, 8192))
    place = found.find(b"VmHWM:")
    return 0 if place < 0 else 1024 * int(found[place + 6 : found.index(b"kB", place)])


def _reset_peak() -> None:
    _asked("/proc/self/clear_refs", os.O_WRONLY, lambda file: os.write(file, _RESET_PEAK))


def _asked(path: str, way: int, question: Callable[[int], Any]) -> Any:
    """The answer of a file of the system; nothing where there is no such file, or it may not be used."""
    # Opened anew each time: a file that stays open would be the parent's after a fork.
    try:
        file = os.open(path, way)
    except OSError:
        return b""
    try:
        return question(file)
    except OSError:
        return b""
    finally:
        os.close(file)


@contextmanager
def listening() -> Iterator[list[warnings.WarningMessage]]:
    """All warnings that are given within, none of them shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def told(caught: list[warnings.WarningMessage], *more: str | None) -> str | None:
    """Different warnings with their counts, one a line, after other notes; None where there are none.

    >>> with listening() as caught:
    ...     for _ in range(3):
    ...         warnings.warn("no convergence")
    >>> told(caught)
    'UserWarning: no convergence (3 times)'
    """
    counts: dict[str, int] = {}
    for each in caught:
        if not issubclass(each.category, _SILENT):
            text = f"{each.category.__name__}: {each.message}"
            counts[text] = counts.get(text, 0) + 1
    lines = [text if count == 1 else f"{text} ({count} times)" for text, count in counts.items()]
    return plain_text("\n".join([*(each for each in more if each), *lines]), _NOTES) or None


def plain_text(text: Any, length: int) -> str:
    """Text of at most this length that any file can hold: half characters are written out."""
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")[:length]
