"""Coverage of measures that other packages have, and of the rates of confusion matrices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd

from experiments.registry import LEVEL, MEASURES, covers, experiment
from fairtrial import judge
from fairtrial.measures import get_measure, interval

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]

OF_PROBABILITIES = ("ranked_probability_score", "d2_log_loss", "d2_brier", "set_width")
PROPORTIONS = ("top_k_accuracy", "set_coverage")
# Alpha depends on the number of rows; with these weights it has its limit.
MANY = 1e6


@cache
def _build_population(prevalences: tuple[float, ...], signal: float) -> Rows:
    """Build 20,000 cases in clusters of 5 with similar errors: true classes, probabilities and predicted classes."""
    rng = np.random.default_rng([round(1000 * signal), len(prevalences)])
    k, n = len(prevalences), 20_000
    y = rng.choice(k, n, p=prevalences)
    difficulty = np.repeat(rng.normal(size=n // 5), 5)
    logits = rng.normal(size=(n, k)) + np.log(prevalences) + (signal * np.exp(0.7 * difficulty))[:, None] * np.eye(k)[y]
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return y, p, p.argmax(axis=1)


@cache
def _compute_truth(prevalences: tuple[float, ...], signal: float, name: str) -> float:
    y, p, predicted = _build_population(prevalences, signal)
    if name == "krippendorff_alpha":
        return float(get_measure(name)(y, predicted, sample_weight=np.full(len(y), MANY)))
    return float(get_measure(name)(y, p))


def _check_coverage(rng: Rng, rows: np.ndarray, prevalences: tuple[float, ...], signal: float, cluster: bool) -> Hits:
    y, p, predicted = (column[rows] for column in _build_population(prevalences, signal))
    options = {"labels": range(len(prevalences)), "seed": int(rng.integers(1 << 30)), "resamples": 1000}
    if cluster:
        options["cluster"] = np.arange(len(rows)) // 5
    hits = {}
    for name in (*PROPORTIONS, *OF_PROBABILITIES, "krippendorff_alpha"):
        found = interval(name, y, predicted if name == "krippendorff_alpha" else p, **options)
        undefined = np.isnan(found.low)
        hits[f"interval, {name}"] = None if undefined else covers(found, _compute_truth(prevalences, signal, name))
    return hits


EVEN, RARE = (0.3, 0.3, 0.4), (0.05, 0.15, 0.8)
SETTINGS = (
    (30, EVEN, "three classes"),
    (100, EVEN, "three classes"),
    (300, EVEN, "three classes"),
    (100, RARE, "three classes (5, 15 and 80 %)"),
    (300, RARE, "three classes (5, 15 and 80 %)"),
)

for _size, _prevalences, _name in SETTINGS:

    @experiment(MEASURES, f"{_size} rows, {_name}, probabilities; 1,000 resamples", share=0.1, nominal=LEVEL)
    def of_rows(rng: Rng, size=_size, prevalences=_prevalences) -> Hits:  # type: ignore[no-untyped-def]
        return _check_coverage(rng, rng.integers(0, 20_000, size), prevalences, 1.5, cluster=False)


for _clusters in (20, 60):

    @experiment(
        MEASURES, f"{_clusters} clusters of 5 rows, three classes, probabilities; 1,000 resamples", share=0.1, nominal=LEVEL
    )
    def of_clusters(rng: Rng, clusters=_clusters) -> Hits:  # type: ignore[no-untyped-def]
        rows = 5 * rng.integers(0, 4_000, clusters)[:, None] + np.arange(5)
        return _check_coverage(rng, rows.ravel(), EVEN, 1.5, cluster=True)


@cache
def _compute_rates() -> np.ndarray:
    y, _, predicted = _build_population(EVEN, 1.5)
    return np.array([np.bincount(predicted[y == code], minlength=3) / (y == code).sum() for code in range(3)])


for _count, _kind in (
    (60, "rows"),
    (200, "rows"),
    (200, "weighted rows"),
    (30, "clusters of 5 rows"),
    (100, "clusters of 5 rows"),
):

    @experiment(MEASURES, f"{_count} {_kind}, confusion matrix of three classes", share=0.1, nominal=LEVEL)
    def of_confusion(rng: Rng, count=_count, kind=_kind) -> Hits:  # type: ignore[no-untyped-def]
        """Compute the coverage of the rate of a hit and of an error."""
        is_clustered = kind.startswith("clusters")
        rows = rng.integers(0, 4_000 if is_clustered else 20_000, count)
        rows = (5 * rows[:, None] + np.arange(5)).ravel() if is_clustered else rows
        y, _, predicted = (column[rows] for column in _build_population(EVEN, 1.5))
        if len(np.unique(y)) < 3:
            return {}
        columns = {"y_true": y, "prediction": predicted}
        options = {"cluster": "cluster"} if is_clustered else {}
        if is_clustered:
            columns["cluster"] = np.arange(len(y)) // 5
        if kind == "weighted rows":
            columns["weight"], options = rng.choice([0.5, 1.0, 3.0], len(y)), {"weight": "weight"}
        judgement = judge(pd.DataFrame(columns), measures="accuracy", prediction="prediction", y_true="y_true", **options)
        cells = {(cell["true"], cell["predicted"]): cell for cell in judgement.confusion.to_dict("records")}
        hits = {}
        for label, (true_code, code) in {"a hit": (0, 0), "an error": (0, 1)}.items():
            cell = cells[str(true_code), str(code)]
            rate = _compute_rates()[true_code, code]
            hits[f"`Judgement.confusion`, rate of {label}"] = bool(cell["low"] - 1e-12 <= rate <= cell["high"] + 1e-12)
        return hits
