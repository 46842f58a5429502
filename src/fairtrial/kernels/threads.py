"""Spread rows over threads: kernels release the GIL, so a plain pool is enough."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

R = TypeVar("R")

_PREFIX = "fairtrial-kernels"


def thread_count() -> int:
    """Threads used: FAIRTRIAL_THREADS if set, else the cores this process may use."""
    wanted = os.environ.get("FAIRTRIAL_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _spare_threads() -> int:
    """Threads that work may be spread over: inside the pool only its own, for a pool that waits for itself never ends."""
    return 1 if threading.current_thread().name.startswith(_PREFIX) else thread_count()


@cache
def _pool(size: int, pid: int) -> ThreadPoolExecutor:
    del pid  # a forked child must not inherit its parent's threads, hence the key
    return ThreadPoolExecutor(size, thread_name_prefix=_PREFIX)


def in_chunks(work: Callable[[int, int], R], n: int, chunk: int) -> list[R]:
    """`work(start, stop)` for consecutive chunks of range(n), in order, on all threads.

    >>> in_chunks(lambda start, stop: stop - start, 10, 4)
    [4, 4, 2]
    """
    chunk = max(1, chunk)
    starts = range(0, n, chunk)
    threads = _spare_threads()
    if threads == 1 or len(starts) <= 1:
        return [work(start, min(start + chunk, n)) for start in starts]
    pool = _pool(threads, os.getpid())
    return list(pool.map(lambda start: work(start, min(start + chunk, n)), starts))


def both(first: Callable[[], R], second: Callable[[], R]) -> tuple[R, R]:
    """Two calls side by side."""
    threads = _spare_threads()
    if threads == 1:
        return first(), second()
    other = _pool(threads, os.getpid()).submit(second)
    return first(), other.result()
