"""Measure how often the fold audit reports a shift, for random stratified folds and for one shifted fold.

`python benchmarks/fold_audit.py --runs 500` prints the rates in docs/reference/audit.md; `--only shifted` runs a part.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

from fairtrial.resampling import Splits, StratifiedKFold, audit

Table = tuple[Any, np.ndarray]
SHIFT = {"energy distance", "two-sample AUC", "KS", "Hellinger", "outlying", "too alike"}


def three_classes(rng: np.random.Generator) -> Table:
    return rng.normal(size=(150, 3)), rng.choice(3, 150, p=[0.6, 0.3, 0.1])


def mixed(rng: np.random.Generator) -> Table:
    frame = pd.DataFrame({"a": rng.standard_t(2, 150), "b": rng.choice(list("xyz"), 150), "c": rng.integers(0, 4, 150)})
    return frame.mask(rng.random((150, 1)) < np.array([[0.1, 0, 0]])), rng.choice(2, 150, p=[0.8, 0.2])


def log_normal(rng: np.random.Generator) -> Table:
    return np.exp(1.5 * rng.normal(size=(150, 6))), rng.choice(2, 150)


def two_classes(rng: np.random.Generator, apart: float = 0.0) -> Table:
    y = np.repeat([0, 1], 100)
    return rng.normal(size=(200, 3)) + apart * y[:, None], y


SETTINGS: dict[str, tuple[Callable[[np.random.Generator], Table], float, int]] = {
    "random folds, three normal attributes, three classes": (three_classes, 0.0, 499),
    "random folds, three normal attributes, three classes, 199 permutations": (three_classes, 0.0, 199),
    "random folds, mixed table": (mixed, 0.0, 499),
    "random folds, six log-normal attributes": (log_normal, 0.0, 499),
    "random folds, three normal attributes, two classes": (two_classes, 0.0, 499),
    "fold 1 shifted by 0.75 deviations in one attribute": (two_classes, 0.75, 499),
    "fold 1 shifted by 1 deviation in one attribute": (two_classes, 1.0, 499),
    "fold 1 shifted by 0.75, classes 3 deviations apart": (partial(two_classes, apart=3.0), 0.75, 499),
    "fold 1 shifted by 1, classes 3 deviations apart": (partial(two_classes, apart=3.0), 1.0, 499),
}


def found(name: str, run: int) -> tuple[bool, bool, bool]:
    """Return whether an audit reports a shift fault, whether it reports anything, and whether KS tests reject."""
    draw, shift, n_permutations = SETTINGS[name]
    rng = np.random.default_rng([run, 7])
    X, y = draw(rng)
    splits = StratifiedKFold(5, random_state=run).freeze(X, y)
    if shift:
        X[splits.splits[0].test, 0] += shift
    findings = audit(splits, (X, y), n_permutations=n_permutations, random_state=run).findings
    levels = [each.level for each in findings if each.check in SHIFT]
    return "fault" in levels, bool(levels), shift > 0 and _plain(X, splits)


def _plain(X: np.ndarray, splits: Splits) -> bool:
    """Return whether a KS test of any attribute and fold rejects at 0.05 (Bonferroni)."""
    p = [ks_2samp(X[train, j], X[test, j]).pvalue for train, test in splits for j in range(X.shape[1])]
    return bool(min(p) * len(p) <= 0.05)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=500)
    options.add_argument("--only", default="", help="select settings whose name contains this text")
    given = options.parse_args()
    os.environ["FAIRTRIAL_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for name in (each for each in SETTINGS if given.only in each):
            hits = np.array(pool.map(partial(found, name), range(given.runs), chunksize=10))
            rates = ", ".join(
                f"{word} {100 * rate:.1f} % (+- {100 * math.sqrt(rate * (1 - rate) / given.runs):.1f})"
                for word, rate in zip(("shift fault", "any finding", "KS tests"), hits.mean(axis=0), strict=True)
            )
            print(f"{name}: {rates} of {given.runs} audits", flush=True)


if __name__ == "__main__":
    main()
