"""The threshold explorer of a page: results of models at the threshold and cost ratio that the reader selects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fairtrial._text import format_number, format_percentage

_FINE = [number / 1000 for number in range(10)]
THRESHOLDS = (*_FINE, *(number / 100 for number in range(1, 100)), *(round(1 - step, 3) for step in reversed(_FINE)))
"""The selectable thresholds, in steps of 0.01, or of 0.001 near 0 and 1 because of rare classes."""

_RATIOS = (2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
COSTS = (*(f"1/{ratio}" for ratio in reversed(_RATIOS)), "1", *map(str, _RATIOS))
"""The cost ratios that can be selected: the cost of a false negative divided by the cost of a false positive."""

DEFAULT = {"threshold": "0.5", "cost": "1"}


@dataclass(frozen=True)
class OperatingCounts:
    """True and false positives of a model at each of the `THRESHOLDS`, and the sizes of both classes.

    A row is predicted positive if its score is at least the threshold. If rows have weights, the counts are sums of weights.
    """

    tp: tuple[float, ...]
    fp: tuple[float, ...]
    positives: float
    negatives: float

    def compute_cost(self, index: int, costs: tuple[float, float]) -> float:
        """Compute the cost per 1,000 cases at the threshold with this index. `costs` is the result of `parse_cost`."""
        cost = costs[0] * self.fp[index] + costs[1] * (self.positives - self.tp[index])
        return 1000 * cost / (self.positives + self.negatives)


@dataclass(frozen=True)
class ExploredDataset:
    """The two classes of a data set, and the operating counts of each model."""

    positive: str
    negative: str
    models: Mapping[str, OperatingCounts]


@dataclass(frozen=True)
class Explorer:
    """The threshold explorer: its data sets, the initial model, and whether rows have weights.

    `note` explains how the numbers are estimated.
    """

    datasets: Mapping[str, ExploredDataset]
    model: str
    weighted: bool = False
    note: str = (
        "These costs are optimistic, because they use the rows that determine the lowest cost. Cross-fitted costs are in the "
        "details."
    )

    @property
    def selected(self) -> dict[str, str]:
        """The threshold, the cost ratio and the model that are selected initially."""
        return {**DEFAULT, "model": self.model}

    def describe(self, state: Mapping[str, str]) -> dict[str, Any]:
        """Describe the explorer for the template: its controls, its data, and the default view of a data set.

        `state` selects the data set of the default view. By default, it is the first data set.
        """
        name = state.get("dataset", "")
        name = name if name in self.datasets else next(iter(self.datasets))
        dataset = self.datasets[name]
        described = _describe_operating_point(dataset, self.selected)
        described["texts"]["where"] = f" on {name}" if len(self.datasets) > 1 or state.get("dataset") else ""
        return {
            "thresholds": json.dumps([f"{threshold:g}" for threshold in THRESHOLDS]),
            "threshold_index": THRESHOLDS.index(float(DEFAULT["threshold"])),
            "n_thresholds": len(THRESHOLDS),
            "costs": json.dumps(COSTS),
            "note": self.note,
            "cost_index": COSTS.index(DEFAULT["cost"]),
            "n_costs": len(COSTS),
            "models": list(dict.fromkeys(model for explored in self.datasets.values() for model in explored.models)),
            "data": {"thresholds": THRESHOLDS, "datasets": {key: asdict(value) for key, value in self.datasets.items()}},
            "positive": dataset.positive,
            "negative": dataset.negative,
            "unit": "Sum of weights" if self.weighted else "Rows",
            **described,
        }


def parse_cost(text: str) -> tuple[float, float]:
    """Parse a cost ratio. Return the costs of a false positive and of a false negative.

    >>> parse_cost("10"), parse_cost("1/5")
    ((1.0, 10.0), (5.0, 1.0))
    """
    false_negative, _, false_positive = text.partition("/")
    return float(false_positive or 1), float(false_negative)


def _describe_operating_point(dataset: ExploredDataset, selected: Mapping[str, str]) -> dict[str, Any]:
    """Describe the confusion matrix and the text for the selected threshold. The page's script computes the same values."""
    model = selected["model"] if selected["model"] in dataset.models else next(iter(dataset.models))
    counts, index = dataset.models[model], THRESHOLDS.index(float(selected["threshold"]))
    costs = parse_cost(selected["cost"])
    tp, fp = counts.tp[index], counts.fp[index]
    cells = [(counts.negatives - fp, fp, counts.negatives), (counts.positives - tp, tp, counts.positives)]
    return {
        "cells": [
            [
                {
                    "count": format_number(count, "{:,.6g}"),
                    "rate": format_percentage(count / total),
                    "shade": f"{count / total:.3f}",
                }
                for count in row
            ]
            for *row, total in cells
        ],
        "texts": {
            "threshold": selected["threshold"],
            "costs": f"{costs[1]:g} : {costs[0]:g}",
            "model": model,
            "cost": format_number(counts.compute_cost(index, costs)),
            "change": "",
            "recall": format_number(tp / counts.positives),
            "precision": format_number(tp / (tp + fp)) if tp + fp else "undefined",
        },
    }
