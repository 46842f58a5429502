"""Display names, error-rate intervals and threads for both ranking experiments."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from fairtrial._text import join_names
from fairtrial.measures.intervals import compute_clopper_pearson_limits, compute_wilson_limits
from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.ranking_kernels import MEASURES as MEASURES

DISPLAY_NAMES = dict(zip(MEASURES, ("H-measure", "AUC", "AUCH", "sAUC", "KS", "taKS"), strict=True))
HANDS_SEVERITY_RATIO = 1.0  # the paper defines H with u(c) proportional to c (1 - c), that is Beta(2, 2)
PUBLISHED_REPEATS = 1000

IDENTICAL = 0.5  # percentage points: "virtually identical", "almost identical"
NEGLIGIBLE = 1.0  # percent: "virtually negligible"
AROUND = 2.0  # percentage points: "0", "around 50 %"
SIMILAR = 2.0  # percentage points: "very similarly"
SLIGHT = 5.0  # percentage points: "slightly", a difference of the stated sign below this limit
LOW = 5.0  # percent: "remarkably low"
DRAMATIC = 10.0  # percentage points: not "dramatic", not "drastically different"
SMALL = 20.0  # percent: "relatively small"

T = TypeVar("T")
R = TypeVar("R")


def index_measure(measure: str) -> int:
    """Return the index of a measure in the kernels' arrays.

    >>> index_measure("auc")
    1
    """
    return MEASURES.index(measure)


def join_measures(measures: Sequence[str]) -> str:
    """Join the display names of measures.

    >>> join_measures(("h_measure", "ks", "auc"))
    'H-measure, KS and AUC'
    """
    return join_names(DISPLAY_NAMES.get(measure, measure) for measure in measures)


def compute_joint_level(comparisons: int) -> float:
    """Compute the level of each interval for a joint coverage of 95 % (Bonferroni).

    >>> compute_joint_level(10)
    0.995
    """
    return 1 - 0.05 / max(comparisons, 1)


def estimate_rate(rate: float, repeats: int, level: float = 0.95) -> IntervalEstimate:
    """Estimate an error rate in percent with Clopper-Pearson limits.

    >>> estimate_rate(1.0, 4).format("{:.1f}")
    '100.0 (39.8 to 100.0)'
    """
    low, high = compute_clopper_pearson_limits(rate * repeats, repeats, level)
    return IntervalEstimate(100 * rate, 100 * low, 100 * high)


def list_slight(differences: Sequence[IntervalEstimate]) -> list[IntervalEstimate]:
    """Express "slightly larger" as quantities that must all be positive.

    The quantities are each difference, and `SLIGHT` minus each difference.

    >>> [estimate.value for estimate in list_slight([IntervalEstimate(2.0, 1.0, 3.0)])]
    [2.0, 3.0]
    """
    return [*differences, *((-difference).subtract(-SLIGHT) for difference in differences)]


def compute_percent_limits(percent: float, repeats: float, level: float = 0.95) -> tuple[float, float]:
    """Compute Wilson's confidence limits for a proportion of repeats, in percent.

    The limits are NaN if `repeats` is 0.

    >>> [round(limit, 2) for limit in compute_percent_limits(0.0, 1000)]
    [0.0, 0.38]
    """
    if not repeats:
        return math.nan, math.nan
    low, high = compute_wilson_limits(percent * repeats / 100, repeats, level)
    return 100 * low, 100 * high


def compute_difference_limits(
    ours: float, published: float, repeats: float, published_repeats: float = PUBLISHED_REPEATS, level: float = 0.95
) -> tuple[float, float]:
    """Compute Newcombe's interval for the difference between two proportions, in percent.

    This is method 10 of Newcombe (1998) for independent proportions. Each proportion is the fraction of repeats in which the
    measure makes an error. Ties count as half an error, so the true sampling errors are slightly smaller than the computed
    ones.

    >>> [round(limit, 2) for limit in compute_difference_limits(0.0, 0.5, 1000)]
    [-1.17, -0.02]
    """
    if math.isnan(ours) or math.isnan(published):
        return math.nan, math.nan
    first, second = (
        compute_percent_limits(rate, size, level) for rate, size in ((ours, repeats), (published, published_repeats))
    )
    difference = ours - published
    return (
        difference - math.hypot(ours - first[0], second[1] - published),
        difference + math.hypot(first[1] - ours, published - second[0]),
    )


def round_up_axis(value: float) -> float:
    """Round the upper end of an axis up to a multiple of 5, at least 5."""
    return max(5.0, 5.0 * -(-value // 5.0))


def run_tasks(
    work: Callable[[T], R], tasks: Sequence[T], jobs: int, *, name: str = "", progress: bool | None = False
) -> list[R]:
    """Run tasks in threads, and return the results in the same order.

    Threads suffice because the kernels release the GIL. If `progress` is None, a progress bar is shown in a terminal, and a few
    lines are printed elsewhere. If it is True, the bar is always shown. If it is False, nothing is shown.

    >>> run_tasks(lambda task: task * task, [1, 2, 3], jobs=2)
    [1, 4, 9]
    """
    with _report_progress(name, len(tasks), progress) as advance, ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, task) for task in tasks]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


@contextmanager
def _report_progress(name: str, total: int, progress: bool | None) -> Iterator[Callable[[], None]]:
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if progress is False or not total:
        yield lambda: None
    elif progress or is_terminal:
        with _show_bar(name, total) as advance:
            yield advance
    else:
        yield _PrintedProgress(name, total)


@contextmanager
def _show_bar(name: str, total: int) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda: bar.advance(task)


class _PrintedProgress:
    """A counter that prints a line whenever another quarter of the tasks is finished."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, total, 0

    def __call__(self) -> None:
        self._done += 1
        if self._done == self._total or 4 * self._done // self._total > 4 * (self._done - 1) // self._total:
            print(f"{self._name}: {self._done} of {self._total}", file=sys.stderr, flush=True)
