"""Error rates of decisions at a margin over data sets, at the boundary of each decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.stats import gamma

from experiments.registry import ALPHA, MARGINS, experiment
from fairtrial.significance import MarginDecision, margin_test
from fairtrial.significance.compare import compare
from fairtrial.significance.methodology import MIN_PARAMETRIC_DATASETS

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
# In standard deviations of the differences: limits of 10 or more data sets fit into the margin.
MARGIN = 1.5
SIZES = (6, 10, 20, 40)
LEARNERS = 5
# Median of the mean of two exponential differences.
PSEUDOMEDIAN = float(gamma.median(2)) / 2

SHAPES: dict[str, tuple[Callable[[Rng, tuple[int, ...]], np.ndarray], float]] = {
    "normal differences": (lambda rng, size: rng.normal(size=size), 0.0),
    "heavy-tailed differences (t with 3 degrees of freedom)": (lambda rng, size: rng.standard_t(3, size) / np.sqrt(3), 0.0),
    "right-skewed differences (exponential)": (lambda rng, size: rng.exponential(size=size) - 1, PSEUDOMEDIAN - 1),
    "left-skewed differences (exponential)": (lambda rng, size: 1 - rng.exponential(size=size), 1 - PSEUDOMEDIAN),
}
"""Differences with mean 0 and standard deviation 1, and their pseudomedian."""


def _count_errors(d: np.ndarray, method: str) -> dict[str, bool | None]:
    """Return which decisions are wrong if the true difference is at the boundary; `d` has the true difference 0."""

    def decide(shift: float) -> dict[str, bool]:
        result = margin_test(d + shift, np.zeros(len(d)), MARGIN, method=method, alpha=ALPHA)  # type: ignore[arg-type]
        return {test.name: test.passed for test in result.tests}

    below, equal, above = (decide(shift) for shift in (-MARGIN, 0, MARGIN))
    return {
        f"margin_test, {method}: superior, true difference 0": equal["superiority"],
        f"margin_test, {method}: non-inferior, true difference -margin": below["non-inferiority"],
        f"margin_test, {method}: inferior, true difference -margin": below["inferiority"],
        f"margin_test, {method}: equivalent, true difference +margin": above["equivalence"],
    }


def _decide_all(table: np.ndarray, control: str | None, method: str) -> list[MarginDecision] | None:
    """Return all decisions of `compare`; None if it refuses a parametric test."""
    margins = compare(table, control=control, margin=MARGIN, rows="datasets", parametric=method == "t").margins
    return [decision for *_, decision in margins] if (margins[0][2].test == "paired_t") == (method == "t") else None


for _n in SIZES:
    for _shape, (_draw, _pseudomedian) in SHAPES.items():

        @experiment(MARGINS, f"{_n} data sets, 2 learners, {_shape}", share=0.1, nominal=ALPHA / 2)
        def decide_two(rng: Rng, n=_n, draw=_draw, pseudomedian=_pseudomedian) -> Hits:  # type: ignore[no-untyped-def]
            d = draw(rng, (n,))
            hits = _count_errors(d - pseudomedian, "wilcoxon")
            if pseudomedian:
                name = "margin_test, wilcoxon: superior, true difference 0"
                hits[f"{name} of means, not of pseudomedians"] = _count_errors(d, "wilcoxon")[name]
            return hits | _count_errors(d, "t")

        @experiment(MARGINS, f"{_n} data sets, {LEARNERS} learners, {_shape} from a control", share=0.1, nominal=ALPHA / 2)
        def decide_control(rng: Rng, n=_n, draw=_draw, pseudomedian=_pseudomedian) -> Hits:  # type: ignore[no-untyped-def]
            d = draw(rng, (n, LEARNERS - 1)) - pseudomedian - MARGIN
            decisions = _decide_all(rng.normal(size=(n, 1)) + np.column_stack([np.zeros(n), d]), "0", "wilcoxon")
            name = "compare, wilcoxon: any learner non-inferior to the control, true differences -margin"
            return {name: decisions is not None and any(decision.tests[1].passed for decision in decisions)}

    @experiment(MARGINS, f"{_n} data sets, {LEARNERS} learners, normal scores, all pairs", share=0.1)
    def decide_pairs(rng: Rng, n=_n) -> Hits:  # type: ignore[no-untyped-def]
        table = rng.normal(size=(n, LEARNERS))
        hits: dict[str, bool | None] = {}
        for method in ("wilcoxon", "t") if n >= MIN_PARAMETRIC_DATASETS else ("wilcoxon",):
            decisions = _decide_all(table, None, method)
            hits[f"compare, {method}: any learner superior to another one, true differences 0"] = (
                None if decisions is None else any(decision.low > 0 or decision.high < 0 for decision in decisions)
            )
        return hits
