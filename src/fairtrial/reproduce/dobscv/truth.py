"""Estimates against a known truth: five ways to make folds, on samples of populations that can be drawn from at will."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.sets import NEGATIVE, POSITIVE, declared, scaled
from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.writing import file_name

if TYPE_CHECKING:
    import pandas as pd

KFOLD, DBSCV = "k-fold", "DB-SCV"
SPLITTERS = (KFOLD, SCV, DBSCV, LITERAL, SHUFFLED)
MEASURES = ("balanced accuracy", "AUC")
COLUMNS = ["population", "replicate", "learner", "scheme", "measure", "estimate", "folds_truth", "truth"]
_TESTED = 500  # new rows of each class that tell the truth
_DRAWN = 13  # rows to draw for each of them: the rarest class has a share of 0.1
_CHUNK = 5
_VERSION = 1  # of what a kept file holds: raise it whenever problems, learners, settings or seeds of a replicate change


@dataclass(frozen=True)
class Problem:
    """A population and how many rows of it a learner gets."""

    population: Any
    rows: int


def problems() -> dict[str, Problem]:
    """Four problems: a rare cloud beside a large one, a rare class in three pieces, ten attributes, and equal classes.

    >>> [each.rows for each in problems().compute_values()]
    [200, 200, 200, 150]
    """
    from fairtrial.data.simulate import GaussianMixture

    two = [NEGATIVE, POSITIVE]
    pieces = {
        "means": [[0, 0], [2.0, 0], [-1.5, 1.5], [0, -2.0]],
        "covariances": [1.0, 0.15, 0.15, 0.15],
        "priors": [0.85, 0.05, 0.05, 0.05],
        "component_classes": [NEGATIVE, POSITIVE, POSITIVE, POSITIVE],
    }
    shift = [[0.0] * 10, [0.7] * 10]
    return {
        "a rare cloud": Problem(GaussianMixture([[0, 0], [1.5, 1.0]], priors=[0.9, 0.1], component_classes=two), 200),
        "a rare class in pieces": Problem(GaussianMixture(**pieces), 200),
        "ten attributes": Problem(GaussianMixture(shift, priors=[0.85, 0.15], component_classes=two), 200),
        "equal classes": Problem(GaussianMixture([[0, 0, 0], [1.5, 0, 0]], component_classes=two), 150),
    }


@cache
def learners() -> dict[str, Any]:
    """The learners of the study, unfitted."""
    from fairtrial import Study

    found = Study(data=["iris"], learners=declared()["learners"], resampling={"folds": 5}).resolve()
    return {each.name: each.estimator for each in found.learners}


def splitter_of(scheme: str, seed: int) -> Any:
    """The five folds of a scheme.

    >>> splitter_of("DOB-SCV literal", 3)
    DOBSCV(assign='literal', random_state=3)
    """
    from fairtrial import resampling

    if scheme in (LITERAL, SHUFFLED):
        return resampling.DOBSCV(5, assign="literal" if scheme == LITERAL else "shuffled", random_state=seed)
    made = {KFOLD: resampling.KFold, SCV: resampling.StratifiedKFold, DBSCV: resampling.DBSCV}
    return made[scheme](5, random_state=seed)


def replicates(request: Request, wanted: Mapping[str, int]) -> pd.DataFrame:
    """Estimates and truths of so many replicates of each problem; chunks are kept as files, so that a run goes on."""
    import pandas as pd

    folder = request.out / "truth"
    folder.mkdir(exist_ok=True)
    chunks = [(name, first, min(first + _CHUNK, count)) for name, count in wanted.items() for first in range(0, count, _CHUNK)]
    tasks = [(folder / _file_name(*each, request.seed), *each, request.seed) for each in chunks]
    due = [task for task in tasks if not task[0].exists()]
    if request.jobs > 1 and len(due) > 1:
        from multiprocessing import get_context

        with ProcessPoolExecutor(min(request.jobs, len(due)), mp_context=get_context("spawn")) as pool:
            list(pool.map(_chunk, due))
    else:
        for task in due:
            _chunk(task)
    return pd.concat([pd.read_csv(task[0]) for task in tasks], ignore_index=True)


def _file_name(name: str, first: int, last: int, seed: int) -> str:
    """A kept chunk; one of another version is not taken for ours. Version 1 stands without its number.

    >>> _file_name("a rare cloud", 0, 5, 1)
    'a-rare-cloud-0-5-seed-1.csv'
    """
    version = "" if _VERSION == 1 else f"-version-{_VERSION}"
    return f"{file_name(name)}-{first}-{last}-seed-{seed}{version}.csv"


def _chunk(task: tuple[Path, str, int, int, int]) -> None:
    """Replicates first to last of a problem, written whole or not at all."""
    import pandas as pd

    path, name, first, last, seed = task
    lines = [line for replicate in range(first, last) for line in one_replicate(name, replicate, seed)]
    part = path.with_suffix(".part")
    pd.DataFrame(lines, columns=COLUMNS).to_csv(part, index=False)
    part.rename(path)


def one_replicate(name: str, replicate: int, seed: int) -> list[tuple[Any, ...]]:
    """All learners and schemes on one sample: the estimate, what the five fold models truly do, what the model of all does."""
    problem = problems()[name]
    numbers = [seed, replicate, *name.encode()]
    sample_seed, test_seed, split_seed, learner_seed = (int(each) for each in np.random.SeedSequence(numbers).generate_state(4))
    drawn = problem.population.dataset(problem.rows, sample_seed)
    data = scaled(drawn, name)
    test, truth = _new_rows(problem.population, drawn.X, test_seed)
    splits = {scheme: list(splitter_of(scheme, split_seed).split(data.X, data.y)) for scheme in SPLITTERS}
    X, y = data.X.to_numpy(), data.y
    lines = []
    for learner, estimator in learners().items():
        model = _fitted(estimator, X, y, learner_seed)
        whole = _measured(model, test, truth)
        for scheme, pairs in splits.items():
            folds = [_fold(estimator, X, y, pair, test, truth, learner_seed) for pair in pairs]
            estimate, own = np.nanmean([each[0] for each in folds], axis=0), np.mean([each[1] for each in folds], axis=0)
            lines += [
                (name, replicate, learner, scheme, measure, *values)
                for measure, *values in zip(MEASURES, estimate, own, whole, strict=True)
            ]
    return lines


def _new_rows(population: Any, drawn: Any, seed: int) -> tuple[Any, Any]:
    """As many new rows of either class, in parts of the ranges of the sample."""
    X, y = population.sample(_DRAWN * _TESTED, seed)
    kept = np.concatenate([np.flatnonzero(y == each)[:_TESTED] for each in (NEGATIVE, POSITIVE)])
    low, high = drawn.min(), drawn.max()
    return ((X.iloc[kept] - low) / (high - low)).to_numpy(), y.to_numpy()[kept]


def _fitted(estimator: Any, X: Any, y: Any, seed: int) -> Any:
    from sklearn.base import clone

    model = clone(estimator)
    unset = {each: seed for each, value in model.get_params().items() if each.endswith("random_state") and value is None}
    return model.set_params(**unset).fit(X, y)


def _fold(estimator: Any, X: Any, y: Any, pair: Any, test: Any, truth: Any, seed: int) -> tuple[Any, Any]:
    """What a fold's test part says of its model, and what new rows say."""
    train, part = pair
    model = _fitted(estimator, X[train], y.iloc[train], seed)
    return _measured(model, X[part], y.to_numpy()[part]), _measured(model, test, truth)


def _measured(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """(1 + TPR - FPR) / 2 of the predictions, and the area under the curve of the scores; NaN where a class is absent."""
    from fairtrial.measures import auc

    positive = np.asarray(y == POSITIVE)
    if positive.all() or not positive.any():
        return float("nan"), float("nan")
    told = model.predict(X)
    recalls = [(told[mine] == label).mean() for mine, label in ((positive, POSITIVE), (~positive, NEGATIVE))]
    scores = model.decision_function(X) if hasattr(model, "decision_function") else model.predict_proba(X)[:, 1]
    return float(np.mean(recalls)), float(auc(positive, scores))
