"""Bias and error of the estimates of five cross-validation schemes on simulated problems."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.dobscv.studies import LITERAL, NEGATIVE, POSITIVE, SCV, SHUFFLED, scale_columns
from fairtrial.reproduce.experiment import Request, ResultTable, read_study_file
from fairtrial.reproduce.page import format_file_name

if TYPE_CHECKING:
    import pandas as pd

KFOLD, DBSCV = "k-fold", "DB-SCV"
SPLITTERS = (KFOLD, SCV, DBSCV, LITERAL, SHUFFLED)
MEASURES = ("balanced accuracy", "AUC")
# Performance on new rows: `true_value` for the learner trained on the whole sample, `fold_true_value` for the fold models.
COLUMNS = ["population", "replicate", "learner", "scheme", "measure", "estimate", "fold_true_value", "true_value"]
N_ROWS = {"a rare cloud": 200, "a rare class in pieces": 200, "ten attributes": 200, "equal classes": 150}
_N_NEW = 500  # new rows of each class, used to measure the true performance
_N_DRAWN = 13 * _N_NEW  # enough even for a class with a proportion of 0.1
_CHUNK = 5  # replicates per file
_VERSION = 1  # version of the files; increase it if problems, learners, settings or seeds of a replicate change
_KEYS = ["population", "learner", "scheme", "measure"]
_BIAS_NOTE = (
    "`bias` is the mean estimate minus the performance on new cases of the learner trained on all rows. `fold_bias` is the "
    "mean estimate minus the performance of the five fold models. `excess` is the mean squared error minus that of SCV on the "
    "same samples. Intervals are 95 % confidence intervals."
)
_POOLED_NOTE = (
    " They are over samples, after averaging the learners on each sample. A cell is a pair of problem and learner. "
    "`optimistic` and `pessimistic` count the cells in which the interval of the bias is above or below 0. The last two "
    "columns count the cells in which the mean squared error is significantly smaller or larger than that of SCV on the same "
    "samples."
)


@cache
def build_populations() -> dict[str, Any]:
    """Build the four problems: a rare cluster, a rare class in three clusters, ten attributes, and equal classes."""
    from fairtrial.data.simulate import GaussianMixture

    classes = [NEGATIVE, POSITIVE]
    in_pieces = GaussianMixture(
        [[0, 0], [2.0, 0], [-1.5, 1.5], [0, -2.0]],
        covariances=[1.0, 0.15, 0.15, 0.15],
        priors=[0.85, 0.05, 0.05, 0.05],
        component_classes=[NEGATIVE, POSITIVE, POSITIVE, POSITIVE],
    )
    return {
        "a rare cloud": GaussianMixture([[0, 0], [1.5, 1.0]], priors=[0.9, 0.1], component_classes=classes),
        "a rare class in pieces": in_pieces,
        "ten attributes": GaussianMixture([[0.0] * 10, [0.7] * 10], priors=[0.85, 0.15], component_classes=classes),
        "equal classes": GaussianMixture([[0, 0, 0], [1.5, 0, 0]], component_classes=classes),
    }


@cache
def _resolve_learners() -> dict[str, Any]:
    from fairtrial import Study

    study = Study(data=["iris"], learners=read_study_file("dobscv")["learners"], resampling={"folds": 5})
    return {learner.name: learner.estimator for learner in study.resolve().learners}


def make_splitter(scheme: str, seed: int) -> Any:
    """Create the splitter of a scheme with five folds.

    >>> make_splitter("DOB-SCV literal", 3)
    DOBSCV(assign='literal', random_state=3)
    """
    from fairtrial import resampling

    if scheme in (LITERAL, SHUFFLED):
        return resampling.DOBSCV(5, assign="literal" if scheme == LITERAL else "shuffled", random_state=seed)
    splitters = {KFOLD: resampling.KFold, SCV: resampling.StratifiedKFold, DBSCV: resampling.DBSCV}
    return splitters[scheme](5, random_state=seed)


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates and true performance: a row per problem, replicate, learner, scheme and measure."""

    rows: pd.DataFrame

    @classmethod
    def run(cls, request: Request, n_replicates: Mapping[str, int]) -> Simulation:
        """Simulate `n_replicates` of each problem. Finished chunks are kept as files, so a run can be resumed."""
        import pandas as pd

        folder = request.out / "simulation"
        folder.mkdir(exist_ok=True)
        version = "" if _VERSION == 1 else f"-version-{_VERSION}"
        tasks = []
        for name, count in n_replicates.items():
            for first in range(0, count, _CHUNK):
                last = min(first + _CHUNK, count)
                path = folder / f"{format_file_name(name)}-{first}-{last}-seed-{request.seed}{version}.csv"
                tasks.append((path, name, range(first, last), request.seed))
        missing = [task for task in tasks if not task[0].exists()]
        if request.jobs > 1 and len(missing) > 1:
            from multiprocessing import get_context

            with ProcessPoolExecutor(min(request.jobs, len(missing)), mp_context=get_context("spawn")) as pool:
                list(pool.map(_write_chunk, missing))
        else:
            for task in missing:
                _write_chunk(task)
        return cls(pd.concat([pd.read_csv(path) for path, *_ in tasks], ignore_index=True))

    @cached_property
    def biases(self) -> pd.DataFrame:
        """Bias and root mean squared error for each problem, learner, scheme and measure.

        `bias` is relative to the learner trained on all rows, `fold_bias` to the five fold models. The first includes the
        effect of smaller training sets; the second depends only on the choice of the test sets.
        """
        import pandas as pd

        table = []
        for key, errors in self._errors.groupby(_KEYS, sort=False):
            bias, fold_bias, square, excess = (
                _to_limits(estimate_mean(errors[name])) for name in ("error", "fold_error", "square", "excess")
            )
            rmse = [float(np.sqrt(np.maximum(value, 0.0))) for value in square]
            table.append((*key, len(errors), *bias, *fold_bias, *rmse, *excess))
        return pd.DataFrame(table, columns=[*_KEYS, "replicates", *_name_limits("bias", "fold_bias", "rmse", "excess")])

    @cached_property
    def pooled_biases(self) -> pd.DataFrame:
        """Mean bias and excess over problems and learners, for each scheme and measure.

        The intervals are over samples. Learners on one sample are not independent, so they are averaged first. The problems are
        fixed and have equal weights: the k-th samples of all problems are averaged and form one unit.
        """
        import pandas as pd

        cells, errors = self.biases, self._errors
        table = []
        for measure in errors["measure"].unique():
            for scheme in SPLITTERS:
                chosen = errors[(errors["measure"] == measure) & (errors["scheme"] == scheme)]
                samples = chosen.groupby(["replicate", "population"], sort=False)[["error", "fold_error", "excess"]].mean()
                limits = [
                    limit
                    for name in samples
                    for limit in _to_limits(estimate_mean(samples[name].unstack("population").dropna().mean(axis=1)))
                ]
                own = cells[(cells["measure"] == measure) & (cells["scheme"] == scheme)]
                is_counted = (own["bias_low"] > 0, own["bias_high"] < 0, own["excess_high"] < 0, own["excess_low"] > 0)
                counts = [int(column.sum()) for column in is_counted]
                table.append((measure, scheme, *limits, float(own["rmse"].mean()), len(own), *counts))
        counted = ["optimistic", "pessimistic", "smaller error than SCV", "greater error than SCV"]
        columns = ["measure", "scheme", *_name_limits("bias", "fold_bias", "excess"), "rmse", "cells", *counted]
        return pd.DataFrame(table, columns=columns)

    @cached_property
    def _errors(self) -> pd.DataFrame:
        """Errors of each estimate; `excess` is its squared error minus that of SCV on the same sample."""
        rows = self.rows.dropna(subset=["estimate"])
        error = rows["estimate"] - rows["true_value"]
        rows = rows.assign(error=error, square=error**2, fold_error=rows["estimate"] - rows["fold_true_value"])
        keys = ["population", "replicate", "learner", "measure"]
        scv_square = rows[rows["scheme"] == SCV].set_index(keys)["square"].rename("scv_square")
        rows = rows.join(scv_square, on=keys)
        return rows.assign(excess=rows["square"] - rows["scv_square"])

    def build_tables(self) -> list[ResultTable]:
        """Build the tables of pooled biases and of biases by problem and learner."""
        title = "Simulated problems: all problems and learners"
        by_cell = "Simulated problems: by problem and learner"
        return [
            ResultTable("known-truth", title, self.pooled_biases, _BIAS_NOTE + _POOLED_NOTE, digits=4),
            ResultTable("known-truth-cells", by_cell, self.biases, _BIAS_NOTE, digits=4, on_page=False),
        ]


def _write_chunk(task: tuple[Path, str, range, int]) -> None:
    """Simulate replicates and write their file; a partial file is never left behind."""
    import pandas as pd

    path, name, replicates, seed = task
    rows = [row for replicate in replicates for row in simulate_replicate(name, replicate, seed)]
    partial = path.with_suffix(".part")
    pd.DataFrame(rows, columns=COLUMNS).to_csv(partial, index=False)
    partial.rename(path)


def simulate_replicate(name: str, replicate: int, seed: int) -> list[tuple[Any, ...]]:
    """Draw one sample, estimate the performance of all learners by all schemes, and measure their true performance on new
    rows."""
    population = build_populations()[name]
    seeds = np.random.SeedSequence([seed, replicate, *name.encode()]).generate_state(4)
    sample_seed, new_seed, split_seed, learner_seed = (int(value) for value in seeds)
    sample = population.dataset(N_ROWS[name], sample_seed)
    scaled = scale_columns(sample, name)
    X, y = scaled.X.to_numpy(), scaled.y
    X_new, y_new = _draw_new_rows(population, sample.X, new_seed)
    splits = {scheme: list(make_splitter(scheme, split_seed).split(scaled.X, scaled.y)) for scheme in SPLITTERS}
    rows = []
    for learner, estimator in _resolve_learners().items():
        true_value = _measure(_fit(estimator, X, y, learner_seed), X_new, y_new)
        for scheme, folds in splits.items():
            models = [_fit(estimator, X[train], y.iloc[train], learner_seed) for train, _ in folds]
            estimates = [_measure(model, X[test], y.to_numpy()[test]) for model, (_, test) in zip(models, folds, strict=True)]
            fold_true_values = [_measure(model, X_new, y_new) for model in models]
            values = (np.nanmean(estimates, axis=0), np.mean(fold_true_values, axis=0), true_value)
            rows += [(name, replicate, learner, scheme, *value) for value in zip(MEASURES, *values, strict=True)]
    return rows


def _draw_new_rows(population: Any, sample: pd.DataFrame, seed: int) -> tuple[Any, Any]:
    """Draw the same number of new rows of both classes, scaled by the ranges of the sample."""
    X, y = population.sample(_N_DRAWN, seed)
    kept = np.concatenate([np.flatnonzero(y == label)[:_N_NEW] for label in (NEGATIVE, POSITIVE)])
    low, high = sample.min(), sample.max()
    return ((X.iloc[kept] - low) / (high - low)).to_numpy(), y.to_numpy()[kept]


def _fit(estimator: Any, X: Any, y: Any, seed: int) -> Any:
    from sklearn.base import clone

    model = clone(estimator)
    unset = {name: seed for name, value in model.get_params().items() if name.endswith("random_state") and value is None}
    return model.set_params(**unset).fit(X, y)


def _measure(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Return (1 + TPR - FPR) / 2 of the predictions and the AUC of the scores; NaN if a class is absent."""
    from fairtrial.measures import auc

    is_positive = np.asarray(y == POSITIVE)
    if is_positive.all() or not is_positive.any():
        return float("nan"), float("nan")
    predictions = model.predict(X)
    recalls = [(predictions[rows] == label).mean() for rows, label in ((is_positive, POSITIVE), (~is_positive, NEGATIVE))]
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]
    return float(np.mean(recalls)), float(auc(is_positive, scores))


def _name_limits(*names: str) -> list[str]:
    return [f"{name}{end}" for name in names for end in ("", "_low", "_high")]


def _to_limits(estimate: IntervalEstimate) -> tuple[float, float, float]:
    return estimate.value, estimate.low, estimate.high
