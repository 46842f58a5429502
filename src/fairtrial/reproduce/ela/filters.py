"""The effect of noise filters on accuracy under class noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial._text import join_names
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.experiment import ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

# Edited nearest neighbours needs numeric columns without missing values.
DATASETS = ("balance", "glass", "ionosphere", "iris", "newthyroid", "pima", "sonar", "vehicle", "wdbc", "wine")
QUICK_DATASETS = ("iris", "newthyroid", "wine")
FILTERS = {"enn": "edited nearest neighbours", "cvcf": "CVCF", "ipf": "IPF"}
BASES = ("c45", "1-nn")
_LABELS = {"c45": "C4.5", "1-nn": "1-NN"}
SMOKE_LEARNERS = ("c45", "c45-ipf")
_NOTE = (
    "The table shows the accuracy in percent, as a mean over data sets. The 'gain' is the accuracy with the filter minus the "
    "accuracy without it, in points, with a 95 % t interval over data sets. The intervals are not adjusted for multiple "
    "comparisons. Edited nearest neighbours uses Wilson's rule: a row is removed if most of its 3 nearest neighbours belong "
    "to other classes."
)


def estimate_gains(results: Results) -> dict[tuple[str, str, float], IntervalEstimate]:
    """Estimate the mean gain of each filter over data sets, by learner and noise level."""
    means = compute_means(results)
    gains = {}
    for learner in means.columns:
        base, _, name = learner.rpartition("-")
        if name in FILTERS:
            differences = (means[learner] - means[base]).dropna()
            for level in sorted(set(differences.index.get_level_values("level"))):
                gains[base, name, float(level)] = estimate_mean(differences.xs(level, level="level"))
    return gains


def compute_means(results: Results) -> pd.DataFrame:
    """Return mean accuracies in percent, by data set, noise level and learner."""
    scores = results.scores("accuracy").astype({"dataset": object, "learner": object})
    means = scores.groupby(["dataset", "level", "learner"])["value"].agg(lambda values: values.mean(skipna=False))
    return 100 * means.unstack("learner")


def build_table(results: Results) -> ResultTable:
    """Build the table of accuracies and gains by learner and filter."""
    import pandas as pd

    means, gains = compute_means(results), estimate_gains(results)
    accuracies = means.groupby(level="level").mean()
    rows: list[dict[str, Any]] = []
    for base in (base for base in BASES if base in accuracies):
        for name in ("", *FILTERS):
            learner = f"{base}-{name}" if name else base
            if learner not in accuracies:
                continue
            row: dict[str, Any] = {"learner": base, "filter": FILTERS.get(name, "none")}
            for level in accuracies.index:
                percent = f"{100 * level:g} % noise"
                row[percent] = f"{accuracies.loc[level, learner]:.2f}"
                row[f"gain, {percent}"] = gains[base, name, level].format("{:+.2f}") if name else ""
            rows.append(row)
    return ResultTable("filters", "Noise filters", pd.DataFrame(rows), _NOTE)


def describe_gains(results: Results) -> list[str]:
    """Describe for each learner which filters change its accuracy significantly, by noise level."""
    gains = estimate_gains(results)
    sentences = []
    for base in dict.fromkeys(base for base, _, _ in gains):
        label = _LABELS.get(base, base)
        levels_by_text: dict[str, list[str]] = {}
        for level in dict.fromkeys(level for _, _, level in gains):
            changes = [
                f"{FILTERS[name]} ({gains[base, name, level].value:+.1f})"
                for name in FILTERS
                if (base, name, level) in gains and gains[base, name, level].sign
            ]
            if changes:
                change = f"the accuracy of {label} changes significantly with {join_names(changes)}"
            else:
                change = f"no filter changes the accuracy of {label} significantly"
            levels_by_text.setdefault(change, []).append(f"{100 * level:g} %")
        parts = [f"At {join_names(levels)} noise, {change}." for change, levels in levels_by_text.items()]
        sentences.append(" ".join(parts))
    return sentences
