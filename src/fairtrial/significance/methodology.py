"""Rules of thumb for sound comparisons, used by `judge` and in reports.

Each check function returns a list of findings, which is empty if the rule is followed. The kind of a finding is the number of
the check (FT002, FT003, FT008) or a name such as "few_rows".
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    from fairtrial.significance.verdict import Verdict

MAX_IMBALANCE_RATIO = 3.0
"""FT002 is raised if the ratio of the largest to the smallest class size is at least this value.

If there are two classes, a model that always predicts the larger one has an accuracy of 75 % at this ratio.
"""

MAJORITY_SENSITIVE = ("accuracy", "error_rate")
"""Measures that weight each class by its size and do not correct for chance."""

MIN_CLASS_ROWS = 10
"""With fewer rows in a class, a single row changes a rate over this class by more than ten percentage points."""

MIN_ROWS = 30
"""With fewer rows, all confidence intervals are wide."""

MIN_PARAMETRIC_DATASETS = 10
"""With fewer data sets, the Shapiro-Wilk test has little power to detect non-normal differences."""

MAX_DECISIVE_PROPORTION = 0.1
"""Largest proportion of data sets that `find_decisive_datasets` may remove. It may always remove one data set."""

MAX_SKEWNESS = 1.0
"""Absolute skewness above which differences count as strongly asymmetric. An exponential distribution has a skewness of 2."""


def compute_skewness(d: FloatArray) -> float:
    """Compute the skewness of differences. Return 0 if they do not vary.

    >>> round(compute_skewness(np.array([0.0, 0.0, 0.0, 1.0])), 3)
    1.155
    """
    centred = d - d.mean()
    spread = float((centred**2).mean())
    return float((centred**3).mean()) / spread**1.5 if np.ptp(d) > 0 else 0.0


def compute_min_wilcoxon_n(alpha: float) -> int:
    """Compute the smallest n for which the two-sided Wilcoxon test can be significant.

    The smallest possible p-value for n differences is 2 ** (1 - n).

    >>> compute_min_wilcoxon_n(0.05), compute_min_wilcoxon_n(0.01), compute_min_wilcoxon_n(0.125)
    (6, 8, 4)
    """
    return next(n for n in itertools.count(1) if 2.0 ** (1 - n) <= alpha)


def check_class_counts(dataset: str, counts: Mapping[str, int], measure: str, measure_name: str) -> list[Finding]:
    """Check a data set for class imbalance (FT002), very small classes (FT003) and few rows.

    >>> [finding.kind for finding in check_class_counts("churn", {"no": 95, "yes": 5}, "accuracy", "accuracy")]
    ['FT002', 'FT003']
    """
    present = {label: rows for label, rows in counts.items() if rows}
    if not present:
        return []
    rows, smallest = sum(present.values()), min(present, key=lambda label: present[label])
    largest = max(present, key=lambda label: present[label])
    ratio, proportion = present[largest] / present[smallest], present[largest] / rows
    findings = []
    if measure in MAJORITY_SENSITIVE and ratio >= MAX_IMBALANCE_RATIO:
        values = {"dataset": dataset, "measure": measure_name, "ratio": ratio, "limit": MAX_IMBALANCE_RATIO}
        values |= {"largest": largest, "smallest": smallest, "proportion": proportion, "rare": present[smallest] / rows}
        findings.append(Finding("FT002", values))
    if present[smallest] < MIN_CLASS_ROWS:
        findings.append(Finding.of("FT003", dataset=dataset, label=smallest, rows=present[smallest], limit=MIN_CLASS_ROWS))
    if rows < MIN_ROWS:
        findings.append(Finding.of("few_rows", dataset=dataset, rows=rows, limit=MIN_ROWS))
    return findings


def count_cases(verdict: Verdict) -> tuple[int, int]:
    """Return the number of data sets that a test can use, and the number that it needs."""
    if verdict.outcome.test == "wilcoxon":
        return verdict.outcome.n, compute_min_wilcoxon_n(verdict.alpha)
    return len(verdict.table.datasets), 2 if verdict.undecidable is None else verdict.undecidable["needed"]


def check_dataset_count(verdict: Verdict) -> list[Finding]:
    """Check that a test over data sets has enough data sets (FT008)."""
    if verdict.unit != "data set":
        return []
    cases, needed = count_cases(verdict)
    if cases >= needed:
        return []
    return [Finding.of("FT008", test=get_display_name(verdict.outcome.test), datasets=cases, limit=needed)]


def find_decisive_datasets(verdict: Verdict) -> tuple[str, tuple[str, ...]] | None:
    """Find the fewest data sets whose removal changes the best learner.

    Learners are compared by the criterion of the verdict: mean ranks, mean scores, or signed ranks. The number of removed data
    sets is at most 10 % of all data sets or 1, whichever is larger. Return None if no such removal changes the best learner.

    Parameters
    ----------
    verdict : Verdict
        A comparison over data sets with a single best learner.

    Returns
    -------
    tuple of str and tuple of str, or None
        The learner that overtakes the best one, and the data sets to remove.

    Examples
    --------
    >>> from fairtrial import compare
    >>> scores = [[0.9, 0.5], [0.70, 0.71], [0.80, 0.82], [0.6, 0.5], [0.75, 0.79], [0.64, 0.67]]
    >>> find_decisive_datasets(compare(scores, rows="datasets"))
    ('1', ('0',))
    """
    best, criterion = verdict.order[0], verdict.ranking.criterion
    better_scores = verdict.table.values if verdict.better == "max" else -verdict.table.values
    values = -verdict.table.compute_ranks(verdict.better) if criterion == "mean rank" else better_scores
    by_signed_ranks = not criterion and verdict.outcome.test == "wilcoxon"
    first = verdict.table.find_column(best)
    limit = compute_removal_limit(len(verdict.table.datasets))
    fewest: tuple[str, tuple[str, ...]] | None = None
    for rival in verdict.order[1:]:
        gains = values[:, first] - values[:, verdict.table.find_column(rival)]
        removed = _remove_favourable(gains, limit if fewest is None else len(fewest[1]) - 1, by_signed_ranks)
        if removed is not None:
            fewest = rival, tuple(verdict.table.datasets[index] for index in removed)
    return fewest


def compute_removal_limit(n_datasets: int) -> int:
    """Compute the largest number of data sets that may be removed.

    >>> compute_removal_limit(6), compute_removal_limit(25)
    (1, 2)
    """
    return max(1, int(MAX_DECISIVE_PROPORTION * n_datasets))


def _remove_favourable(gains: FloatArray, limit: int, by_signed_ranks: bool) -> list[int] | None:
    """Find the fewest gains whose removal makes the sum of gains (or of signed ranks) negative.

    Return None if more than `limit` gains would have to be removed.
    """
    from scipy.stats import rankdata

    order = np.argsort(-gains, kind="stable")
    for count in range(1, limit + 1):
        kept = gains[order[count:]]
        kept = kept[kept != 0]
        lead = float((np.sign(kept) * rankdata(np.abs(kept))).sum()) if by_signed_ranks else float(kept.sum())
        if lead < -1e-12:
            return [int(index) for index in order[:count]]
    return None
