"""Intervals over splits that overlap: Nadeau and Bengio's correction, for means and for what is made of means."""

from __future__ import annotations

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.study.archive import Archive


def share_tested(archive: Archive, dataset: str, splits: list[tuple[int, int]]) -> float:
    """The mean share of rows that the splits of a data set test on, rows drawn twice counted once; NaN where none train."""
    shares = []
    for repeat, fold in splits:
        train, test = archive.split(dataset, repeat, fold)
        shares.append(len(test) / (len(test) + len(np.unique(train))))
    share = float(np.mean(shares))
    return share if share < 1 else float("nan")


def half_width(contributions: FloatArray, share: float, alpha: float) -> float:
    """Half the width of the interval of a mean over splits that each test on this share of the rows; NaN for one split.

    The variance of the mean is (1 / J + share / (1 - share)) times that of the J contributions, with Student's t for J - 1.

    >>> round(half_width(np.array([0.8, 0.9, 0.7, 0.8]), 0.25, 0.05), 3)
    0.198
    """
    from scipy.stats import t

    J = len(contributions)
    if J < 2:
        return float("nan")
    spread = np.sqrt((1 / J + share / (1 - share)) * contributions.var(ddof=1))
    return float(t.ppf(1 - alpha / 2, J - 1) * spread)


def mean_half_width(values: FloatArray, alpha: float) -> float:
    """Half the width of Student's interval of a mean over data sets, which are independent; NaN for one."""
    return half_width(values, 0.0, alpha)
