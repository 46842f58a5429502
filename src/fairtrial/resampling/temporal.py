"""Temporal splits: all test rows are later than all training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_one_of, check_whole_number
from fairtrial.errors import InputError
from fairtrial.resampling.splits import Split
from fairtrial.resampling.splitter import Splitter, SplitterInput, scheme

Window = Literal["expanding", "sliding"]


@scheme("temporal")
class TemporalSplit(Splitter):
    """Splits that train on earlier rows and test on later rows.

    The rows are sorted by time and cut into `n_splits` + 1 blocks of about equal size. Rows with equal times are in the same
    block. Each block except the first is the test set once. The scheme is not random.

    Parameters
    ----------
    n_splits : int, default 5
        Number of splits.
    window : {"expanding", "sliding"}, default "expanding"
        Whether to train on all earlier rows ("expanding") or only on the most recent ones ("sliding").
    train_size : int, optional
        Number of training rows of a sliding window. Rows with the same time as the earliest training row are added. Default:
        the number of training rows in the first split.
    gap : float or str, default 0
        Minimum time between a training row and the first test row, in the unit of `time`. For dates, pass text such as "7
        days".

    Examples
    --------
    >>> year = [2021, 2019, 2020, 2022, 2019, 2021, 2022, 2020]
    >>> for train, test in TemporalSplit(3).split(year, time=year):
    ...     print(sorted(year[row] for row in train), sorted(year[row] for row in test))
    [2019, 2019] [2020, 2020]
    [2019, 2019, 2020, 2020] [2021, 2021]
    [2019, 2019, 2020, 2020, 2021, 2021] [2022, 2022]
    """

    _uses_time = True
    _is_random = False

    def __init__(
        self, n_splits: int = 5, *, window: Window = "expanding", train_size: int | None = None, gap: float | str = 0
    ) -> None:
        self.n_splits = check_whole_number("n_splits", n_splits, 1)
        check_one_of("window", window, ("expanding", "sliding"))
        if train_size is not None and window == "expanding":
            raise InputError(f"train_size must be omitted for an expanding window, got {train_size!r}: pass window='sliding'")
        self.window = window
        self.train_size = None if train_size is None else check_whole_number("train_size", train_size, 1)
        self.gap = gap
        self._gap = _parse_gap(gap)

    def _iter_splits(self, rows: SplitterInput, rng: np.random.Generator) -> Iterator[Split]:
        time = rows.require_time("TemporalSplit")
        blocks = _cut_blocks(time, self.n_splits)
        train_size = self.train_size
        for fold in range(self.n_splits):
            test = np.flatnonzero(blocks == fold + 1)
            start = time[test].min()
            train = np.flatnonzero((time < start) & (start - time >= self._gap))
            if not len(train):
                raise InputError(
                    f"gap must leave training rows before each test set, got {self.gap!r}, which leaves none in split {fold}: "
                    "pass a smaller gap"
                )
            if self.window == "sliding":
                train_size = len(train) if train_size is None else train_size
                train = _select_latest(train, time, train_size)
            yield Split(train, test, 0, fold)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object, optional
            Ignored.

        Returns
        -------
        int
        """
        return self.n_splits


def _parse_gap(gap: float | str) -> float:
    """Convert a gap to a number. Text such as "7 days" is converted to seconds."""
    if isinstance(gap, str):
        import pandas as pd

        try:
            value = float(pd.Timedelta(gap).total_seconds())
        except ValueError:
            value = float("nan")
    else:
        is_number = isinstance(gap, (int, float, np.integer, np.floating)) and not isinstance(gap, bool)
        value = float(gap) if is_number else float("nan")
    if not 0 <= value < np.inf:
        raise InputError(f"gap must be a number of at least 0, or text such as '7 days', got {gap!r}")
    return value


def _cut_blocks(time: FloatArray, n_splits: int) -> IntArray:
    """Assign each row to one of `n_splits` + 1 blocks of consecutive times.

    The blocks have about the same size. Rows with equal times are in the same block.
    """
    moments, inverse, counts = np.unique(time, return_inverse=True, return_counts=True)
    if len(moments) <= n_splits:
        raise InputError(
            f"n_splits must be at most {len(moments) - 1}, the number of different times minus 1, got {n_splits}: "
            "use fewer splits"
        )
    ends = np.cumsum(counts)
    firsts = [0]
    for block in range(1, n_splits + 1):
        wanted = len(time) * block / (n_splits + 1)
        nearest = int(np.argmin(np.abs(ends - wanted))) + 1
        firsts.append(min(max(nearest, firsts[-1] + 1), len(moments) - (n_splits + 1 - block)))
    block_of: IntArray = np.searchsorted(firsts, np.arange(len(moments)), side="right") - 1
    return block_of[inverse]


def _select_latest(train: IntArray, time: FloatArray, size: int) -> IntArray:
    """Select the latest `size` training rows, and all rows tied with the earliest of them."""
    if size >= len(train):
        return train
    earliest = np.partition(time[train], len(train) - size)[len(train) - size]
    return np.asarray(train[time[train] >= earliest], dtype=np.intp)
