"""Few cases in a class, few rows, few data sets, and rows that depend on each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from experiments.families import differ_significantly
from experiments.registry import (
    ALPHA,
    CLUSTERS,
    FEW_CASES,
    FEW_DIFFERENCES,
    FEW_ROWS,
    FEW_SETS,
    LEVEL,
    covers,
    experiment,
    rejects,
)
from fairtrial.measures import interval
from fairtrial.significance import adjust, auc_test, delong, friedman, mcnemar, page_trend, permutation_test, posthoc, quade
from fairtrial.significance.compare import compare

Hits = Mapping[str, bool | None]
Rng = np.random.Generator
SHARE = 0.2  # 2,000 of 10,000 runs, for slow procedures
POSITIVES, NEGATIVES, AUCS = (5, 10, 19, 30), (50, 300, 1000), (0.6, 0.75, 0.85, 0.95)
SPREADS = {"equal": 1.0, "threefold": 3.0}


def _draw_positives(rng: Rng, shape: str, auc: float, size: Any) -> np.ndarray:
    """Draw scores of positives such that negatives from N(0, 1) give this AUC."""
    if shape == "bimodal":
        is_high = rng.random(size) < (auc - 0.5) / (ndtr(3 / np.sqrt(1.25)) - 0.5)
        return np.where(is_high, 3.0, 0.0) + 0.5 * rng.standard_normal(size)
    spread = SPREADS[shape]
    return np.sqrt(1 + spread**2) * ndtri(auc) + spread * rng.standard_normal(size)


for _m, _n, _shape, _auc in product(POSITIVES, NEGATIVES, (*SPREADS, "bimodal"), AUCS):

    @experiment(FEW_CASES, f"{_m} + {_n} rows, AUC {_auc}, {_shape}", nominal=LEVEL)
    def one_auc(rng: Rng, m=_m, n=_n, shape=_shape, auc=_auc) -> Hits:  # type: ignore[no-untyped-def]
        y = np.repeat([1, 0], [m, n])
        scores = np.concatenate([_draw_positives(rng, shape, auc, m), rng.standard_normal(n)])
        return {"interval, AUC": covers(interval("auc", y, scores), auc)}


for _m, _n, _auc, _shapes in product(POSITIVES, NEGATIVES, AUCS, (("equal",) * 3, ("equal", "threefold", "equal"))):
    _text = "alike" if len(set(_shapes)) == 1 else "spread 1, 3 and 1"

    @experiment(FEW_DIFFERENCES, f"{_m} + {_n} rows, AUC {_auc}, {_text}", share=SHARE)
    def equal_aucs(rng: Rng, m=_m, n=_n, auc=_auc, shapes=_shapes) -> Hits:  # type: ignore[no-untyped-def]
        y = np.repeat([1, 0], [m, n])
        scores = [np.concatenate([_draw_positives(rng, shape, auc, m), rng.standard_normal(n)]) for shape in shapes]
        p = [auc_test(y, scores[i], scores[j]).p_value for i, j in combinations(range(3), 2)]
        return {"auc_test, two models": p[0] <= ALPHA, "auc_test, three models, Holm": bool(min(adjust(p, "holm")) <= ALPHA)}


@experiment(FEW_DIFFERENCES, "2 + 100 rows", share=SHARE)
def two_positives(rng: Rng) -> Hits:
    y = np.repeat([1, 0], [2, 100])
    first, second = rng.standard_normal((2, 102))
    return {
        "auc_test, two models": rejects(auc_test(y, first, second)),
        "delong, two AUCs (not recommended)": rejects(delong(y, first, second)),
    }


for _rows in (6, 10, 20, 40):

    @experiment(FEW_ROWS, f"{_rows} rows", share=SHARE)
    def alike(rng: Rng, rows=_rows) -> Hits:  # type: ignore[no-untyped-def]
        y = np.arange(rows) % 2
        shared = rng.normal(size=rows) + y
        first, second = (1 / (1 + np.exp(-shared - rng.normal(size=rows))) for _ in range(2))
        hits: dict[str, bool | None] = {}
        for measure in ("brier", "log_loss", "average_precision", "ks", "h_measure"):
            found = permutation_test(y, first, second, measure, 2000, int(rng.integers(1 << 30)), stop_after=100)
            hits[f"permutation_test, {measure}"] = rejects(found)
        return hits


for _sets, _learners in ((3, 3), (4, 4), (5, 3), (6, 5), (8, 4)):

    @experiment(FEW_SETS, f"{_sets} data sets, {_learners} equal learners", share=SHARE)
    def few_sets(rng: Rng, sets=_sets, learners=_learners) -> Hits:  # type: ignore[no-untyped-def]
        scores = rng.normal(size=(sets, learners))
        hits: dict[str, bool | None] = {test.__name__: rejects(test(scores)) for test in (friedman, quade, page_trend)}
        for method in ("holm", "shaffer", "bergmann", "benjamini-hochberg", "benjamini-yekutieli"):
            hits[f"posthoc, {method}"] = bool(posthoc(scores, method=method).frame()["p_adjusted"].min() <= ALPHA)
        names = {str(name) for name in range(learners)}
        groups = compare(scores, rows="datasets").groups
        return hits | {"compare, any difference between equal learners": differ_significantly(groups, names)}


@cache
def find_true_accuracy() -> float:
    """Integrate over the random effects: a cluster with sd 1.2 and a model in the cluster with sd 0.7."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    return float((weights / (1 + np.exp(-(0.8 + np.hypot(1.2, 0.7) * nodes)))).sum() / weights.sum())


for _clusters, _size in ((50, 10), (100, 5), (20, 10), (10, 20)):

    @experiment(CLUSTERS, f"{_clusters} clusters of {_size} rows, equal models", share=SHARE)
    def equal_models(rng: Rng, clusters=_clusters, size=_size) -> Hits:  # type: ignore[no-untyped-def]
        y, first, second, cluster = draw_clusters(rng, clusters, size)
        return {
            "mcnemar, clustered": rejects(mcnemar(y, first, second, cluster=cluster)),
            "mcnemar, clusters ignored (not recommended)": rejects(mcnemar(y, first, second)),
            "permutation_test, accuracy, clustered": rejects(
                permutation_test(y, first, second, "accuracy", 999, int(rng.integers(1 << 30)), cluster=cluster, stop_after=100)
            ),
        }

    @experiment(CLUSTERS, f"{_clusters} clusters of {_size} rows, accuracy", share=SHARE, nominal=LEVEL)
    def accuracy_of_clusters(rng: Rng, clusters=_clusters, size=_size) -> Hits:  # type: ignore[no-untyped-def]
        y, first, _, cluster = draw_clusters(rng, clusters, size)
        truth = find_true_accuracy()
        return {
            "interval, accuracy, clustered": covers(interval("accuracy", y, first, cluster=cluster), truth),
            "interval, accuracy, clusters ignored (not recommended)": covers(interval("accuracy", y, first), truth),
        }

    @experiment(CLUSTERS, f"{_clusters} clusters of {_size} rows, AUC 0.75", share=SHARE, nominal=LEVEL)
    def auc_of_clusters(rng: Rng, clusters=_clusters, size=_size) -> Hits:  # type: ignore[no-untyped-def]
        y, scores, cluster = _draw_clustered_scores(rng, clusters, size)
        return {"interval, AUC, clustered": covers(interval("auc", y, scores[0], cluster=cluster), 0.75)}

    @experiment(CLUSTERS, f"{_clusters} clusters of {_size} rows, equal AUCs", share=SHARE)
    def equal_aucs_of_clusters(rng: Rng, clusters=_clusters, size=_size) -> Hits:  # type: ignore[no-untyped-def]
        y, scores, cluster = _draw_clustered_scores(rng, clusters, size)
        return {"auc_test, clustered": rejects(auc_test(y, *scores, cluster=cluster))}


def draw_clusters(rng: Rng, clusters: int, size: int) -> tuple[np.ndarray, ...]:
    """Draw rows of two models of equal accuracy, which depend on their cluster."""
    cluster = np.repeat(np.arange(clusters), size)
    shared = 0.8 + 1.2 * rng.normal(size=clusters)
    correct = [
        rng.random(len(cluster)) < 1 / (1 + np.exp(-(shared + 0.7 * rng.normal(size=clusters))[cluster])) for _ in range(2)
    ]
    y = np.arange(len(cluster)) % 2
    return y, *(np.where(each, y, 1 - y) for each in correct), cluster


def _draw_clustered_scores(rng: Rng, clusters: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores with effects of the cluster and of the model in the cluster; total variance 2 in each class."""
    cluster = np.repeat(np.arange(clusters), size)
    y = (rng.random(len(cluster)) < 0.4).astype(int)
    y[:2], y[-2:] = [0, 1], [0, 1]
    shared = np.sqrt(0.6) * rng.normal(size=clusters)
    own = np.sqrt(0.4) * rng.normal(size=(2, clusters))
    scores = 2 * ndtri(0.75) * y + (shared + own)[:, cluster] + rng.normal(size=(2, len(cluster)))
    return y, scores, cluster
