"""Claims of the paper's section 3 about learners with a low accuracy without noise.

Both claims compare learners on the same data set. RLA is computed from the accuracy without noise, so a random error of this
accuracy affects both numbers. We therefore rank the learners by their accuracy on half of the folds and compute RLA on the
other folds, and vice versa.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial._text import format_count
from fairtrial.reproduce.claim import Claim, IntervalEstimate, estimate_mean, judge_direction
from fairtrial.reproduce.ela.tables import Table3

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

JUDGED_LEVEL = 0.1


def judge_low_accuracy(accuracies: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge both claims at the noise level closest to 10 %.

    `accuracies` is the result of `split_folds`.
    """
    levels = sorted(set(accuracies["level"]))
    judged, highest = min(levels, key=lambda level: abs(level - JUDGED_LEVEL)), levels[-1]
    correlations, excesses = (
        {level: estimate_mean(compute(accuracies[accuracies["level"] == level])) for level in (judged, highest)}
        for compute in (correlate_accuracy_and_loss, compare_negative_losses)
    )
    scope = f"{format_count(accuracies['learner'].nunique(), 'learner')}, mean of " + format_count(
        accuracies["dataset"].nunique(), "data set"
    )
    table = Table3.published().frame
    published = [table[f"acc0_{name}"].corr(table[f"rla_{name}"], method="spearman") for name in ("c45", "svm")]
    return (
        Claim(
            "Learners with a low accuracy without noise have a lower RLA",
            judge_direction([correlations[judged]]),
            f"rank correlation of accuracy and RLA over {scope}: {_format_levels(correlations)}; in the paper's table 3, over "
            f"data sets: C4.5 {published[0]:+.2f}, SVM {published[1]:+.2f}",
        ),
        Claim(
            "A negative RLA is more frequent for learners with a low accuracy without noise",
            judge_direction([excesses[judged]]),
            "proportion of negative RLA, less accurate half of the learners minus the other half, "
            f"{scope}: {_format_levels(excesses)}",
        ),
    )


def _format_levels(estimates: dict[float, IntervalEstimate]) -> str:
    return ", ".join(f"{estimate.format('{:+.2f}')} at {100 * level:g} % noise" for level, estimate in estimates.items())


def split_folds(results: Results) -> pd.DataFrame:
    """Return the mean accuracies in both halves of the folds.

    Returns
    -------
    pandas.DataFrame
        Columns dataset, learner, level, half (0 or 1), clean and noisy. Learners that failed on a data set are left out.
    """
    scores = results.scores("accuracy").astype({"dataset": object, "learner": object, "condition": object})
    scores = scores.assign(half=scores["fold"].astype(int) % 2)
    keys = ["dataset", "learner", "half"]
    is_clean = scores["condition"] == "clean"
    clean = scores[is_clean].groupby(keys)["value"].agg(lambda values: values.mean(skipna=False))
    noisy = scores[~is_clean].groupby([*keys, "level"])["value"].agg(lambda values: values.mean(skipna=False))
    joined = noisy.rename("noisy").reset_index().merge(clean.rename("clean").reset_index(), on=keys)
    return joined.dropna().reset_index(drop=True)


def correlate_accuracy_and_loss(accuracies: pd.DataFrame) -> list[float]:
    """Compute the rank correlation between accuracy and RLA on each data set.

    >>> import pandas as pd
    >>> rows = [("a", half, 0.5, 0.5) for half in (0, 1)] + [("b", half, 0.9, 0.8) for half in (0, 1)]
    >>> frame = pd.DataFrame(rows, columns=["learner", "half", "clean", "noisy"]).assign(dataset="iris")
    >>> correlate_accuracy_and_loss(frame)
    [1.0]
    """
    values = []
    for ranked, losses in _pair_halves(accuracies):
        pairs = [pair for pair in zip(ranked, losses, strict=True) if min(series.nunique() for series in pair) > 1]
        if pairs:
            values.append(float(np.mean([accuracy.corr(loss, method="spearman") for accuracy, loss in pairs])))
    return values


def compare_negative_losses(accuracies: pd.DataFrame) -> list[float]:
    """Compute how much more often inaccurate learners have a negative RLA, by data set.

    The value is a difference between two proportions of learners. If the number of learners is odd, the middle one is left
    out.
    """
    values = []
    for ranked, losses in _pair_halves(accuracies):
        differences = []
        for accuracy, loss in zip(ranked, losses, strict=True):
            ranks, n_half = accuracy.rank(method="first"), len(accuracy) // 2
            negative = (loss < 0).astype(float)
            differences.append(negative[ranks <= n_half].mean() - negative[ranks > len(accuracy) - n_half].mean())
        values.append(float(np.mean(differences)))
    return [value for value in values if np.isfinite(value)]


def _pair_halves(accuracies: pd.DataFrame) -> list[tuple[list[pd.Series[float]], list[pd.Series[float]]]]:
    """Pair accuracies in each half of the folds with RLA in the other half."""
    pairs = []
    for _, rows in accuracies.groupby("dataset", sort=False):
        clean, noisy = (rows.pivot(index="learner", columns="half", values=name).dropna() for name in ("clean", "noisy"))
        if {0, 1} <= set(clean.columns):
            losses = 1 - noisy / clean
            pairs.append(([clean[0], clean[1]], [losses[1], losses[0]]))
    return pairs
