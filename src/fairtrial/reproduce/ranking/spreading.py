"""Tasks spread over threads, with a word on how far they are."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def spread(work: Callable[[T], R], tasks: Sequence[T], jobs: int, *, name: str = "", progress: bool | None = False) -> list[R]:
    """The work on each task, in their order; kernels release the lock of Python, so that threads are enough.

    `progress` None shows a bar in a terminal and a few lines elsewhere, True the bar, False nothing.

    >>> spread(lambda task: task * task, [1, 2, 3], jobs=2)
    [1, 4, 9]
    """
    with _told(name, len(tasks), progress) as done, ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            for each in as_completed(futures):
                each.result()
                done()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [each.result() for each in futures]


@contextmanager
def _told(name: str, total: int, progress: bool | None) -> Iterator[Callable[[], None]]:
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if progress is False or not total:
        yield lambda: None
    elif progress or terminal:
        with _bar(name, total) as done:
            yield done
    else:
        yield _Lines(name, total)


@contextmanager
def _bar(name: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda: bar.advance(task)


class _Lines:
    """A line after each quarter."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._done == self._total or 4 * self._done // self._total > 4 * (self._done - 1) // self._total:
            print(f"{self._name}: {self._done} of {self._total}", file=sys.stderr, flush=True)
