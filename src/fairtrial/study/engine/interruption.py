"""Ctrl-C, and the signal by which Slurm and containers ask a process to end: the first one asks, the second one insists."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_ASKED_BY = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """While it is entered, the first SIGINT or SIGTERM only sets `asked`; the next one does what it always does.

    Signals reach the main thread alone: in another thread only `stop`, an event of the caller's, asks.

    >>> stop = threading.Event()
    >>> with Interruption(stop) as interruption:
    ...     before = interruption.asked
    ...     stop.set()
    ...     print(before, interruption.asked)
    False True
    """

    def __init__(self, stop: threading.Event | None = None) -> None:
        self._stop = stop
        self._signalled = False
        self._former: dict[signal.Signals, Any] = {}

    @property
    def asked(self) -> bool:
        """Whether the run is to stop."""
        return self._signalled or (self._stop is not None and self._stop.is_set())

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._former = {each: signal.signal(each, self._ask) for each in _ASKED_BY}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        self._restore()

    def _restore(self) -> None:
        for each, handler in self._former.items():
            signal.signal(each, signal.SIG_DFL if handler is None else handler)
        self._former = {}
