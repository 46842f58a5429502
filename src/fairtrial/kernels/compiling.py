"""Compile kernels with numba, and distribute work over threads.

Kernels release the GIL, so a plain thread pool is sufficient.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function when it is first called, and cache the compiled code on disk.

    numba takes seconds to compile a function with `parallel=True`. Kernels therefore use `run_in_chunks` instead.
    """
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


def helper(function: F) -> F:
    """Compile a function that kernels call.

    The function needs no cache, because the cached kernels contain its code.
    """
    return cast(F, numba.njit(nogil=True, error_model="numpy")(function))


def is_cached(function: Any) -> bool:
    """Return whether a kernel has been compiled in this process or is cached on disk."""
    if not hasattr(function, "signatures"):  # NUMBA_DISABLE_JIT is set
        return True
    return bool(function.signatures or function._cache._cache_file._load_index())


R = TypeVar("R")


_PREFIX = "fairtrial-kernels"


def count_threads() -> int:
    """Return the number of threads: FAIRTRIAL_THREADS or the number of available cores."""
    setting = os.environ.get("FAIRTRIAL_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _count_free_threads() -> int:
    """Return the number of threads for new work.

    The number is 1 in a thread of the pool, because a pool that waits for its own threads may never finish.
    """
    return 1 if threading.current_thread().name.startswith(_PREFIX) else count_threads()


@cache
def _get_pool(size: int, pid: int) -> ThreadPoolExecutor:
    del pid  # part of the cache key because a forked process must not use the threads of its parent
    return ThreadPoolExecutor(size, thread_name_prefix=_PREFIX)


def run_in_chunks(work: Callable[[int, int], R], n: int, chunk: int) -> list[R]:
    """Call `work(start, stop)` for consecutive chunks of range(n) on all threads.

    The results are returned in order.

    >>> run_in_chunks(lambda start, stop: stop - start, 10, 4)
    [4, 4, 2]
    """
    chunk = max(1, chunk)
    starts = range(0, n, chunk)
    threads = _count_free_threads()
    if threads == 1 or len(starts) <= 1:
        return [work(start, min(start + chunk, n)) for start in starts]
    pool = _get_pool(threads, os.getpid())
    return list(pool.map(lambda start: work(start, min(start + chunk, n)), starts))
