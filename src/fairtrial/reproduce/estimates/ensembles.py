"""Bagging and boosting against the single learner: error, and its parts by Kohavi and Wolpert, since the truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.estimates.problems import Plan, population
from fairtrial.reproduce.estimates.progress import counted
from fairtrial.reproduce.interval import mean_interval

if TYPE_CHECKING:
    import pandas as pd

# The ensemble, and the single learner that it is made of.
BASES = {
    "bagged C4.5": "C4.5",
    "boosted C4.5": "C4.5",
    "random forest": "C4.5",
    "boosted stump": "stump",
    "bagged naive Bayes": "naive Bayes",
    "bagged nearest neighbour": "nearest neighbour",
}


@dataclass(frozen=True)
class Decomposed:
    """The expected error in three parts that sum to it (Kohavi and Wolpert 1996)."""

    error: float
    noise: float
    bias: float
    variance: float


def learners(members: int, seed: int) -> dict[str, Any]:
    """Single learners and ensembles. Boosting draws rows by their weights, as the chapter describes it."""
    from fairtrial.learners import C45, AdaBoostM1, Bagging, NaiveBayes, NearestNeighbours, Stump, make_learner

    said = {"n_estimators": members, "random_state": seed}
    return {
        "C4.5": C45(),
        "bagged C4.5": Bagging(C45(), **said),
        "boosted C4.5": AdaBoostM1(C45(), by="resampling", **said),
        "random forest": make_learner("random-forest", n_jobs=1, **said),
        "stump": Stump(),
        "boosted stump": AdaBoostM1(Stump(), by="resampling", **said),
        "naive Bayes": NaiveBayes(),
        "bagged naive Bayes": Bagging(NaiveBayes(), **said),
        "nearest neighbour": NearestNeighbours(1),
        "bagged nearest neighbour": Bagging(NearestNeighbours(1), **said),
    }


def decomposed(probabilities: FloatArray, said: IntArray) -> Decomposed:
    """From the true probability of each class (rows, classes) and what each trained learner says (learners, rows).

    Noise comes from the classes themselves, bias is how far the learners' votes are from the truth, variance how much they
    differ from each other; bias and variance are freed of what comes from counting finitely many learners.

    >>> parts = decomposed(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0, 0], [1, 0]]))
    >>> parts.error, parts.noise + parts.bias + parts.variance
    (0.5, 0.5)
    """
    trained, k = len(said), probabilities.shape[1]
    votes = (said[:, :, None] == np.arange(k)).mean(axis=0)
    variance = float((1 - (votes**2).sum(axis=1)).mean() / 2) * trained / (trained - 1)
    bias = float(((probabilities - votes) ** 2).sum(axis=1).mean() / 2) - variance / trained
    noise = float((1 - (probabilities**2).sum(axis=1)).mean() / 2)
    return Decomposed(float(1 - (probabilities * votes).sum(axis=1).mean()), noise, bias, variance)


def run_ensembles(plan: Plan, seed: int, jobs: int, *, progress: bool | None = False) -> pd.DataFrame:
    """A line for each problem and learner: error, bias, variance, and what the ensemble gains on the single learner."""
    import pandas as pd
    from sklearn.utils.parallel import Parallel, delayed

    settings = plan.ensembles
    tasks = [(problem, replicate) for problem in settings["problems"] for replicate in range(settings["replicates"])]
    coming = Parallel(n_jobs=jobs, return_as="generator")(delayed(_said)(*task, settings, seed) for task in tasks)
    found = list(counted(coming, "sample of the ensembles", len(tasks), progress))
    lines = []
    for problem in settings["problems"]:
        X, _ = _new(problem, settings, seed)
        truth = population(problem).bayes_probabilities(X)
        own = [each for (name, _), each in zip(tasks, found, strict=True) if name == problem]
        lines += _lines(problem, truth, {name: np.array([each[name] for each in own]) for name in own[0]})
    return pd.DataFrame(lines)


def _lines(problem: str, truth: FloatArray, said: dict[str, IntArray]) -> list[dict[str, Any]]:
    lines = []
    errors = {name: 1 - truth[np.arange(len(truth)), each].mean(axis=1) for name, each in said.items()}
    for name, each in said.items():
        line = {"problem": problem, "learner": name, **vars(decomposed(truth, each))}
        if name in BASES:
            line |= _gain(errors[BASES[name]] - errors[name])
        lines.append(line)
    return lines


def _gain(gains: FloatArray) -> dict[str, float]:
    """Error of the single learner minus that of the ensemble on the same training rows, in points, with its t interval."""
    found = mean_interval(100 * gains)
    return {"gain": found.value, "low": found.low, "high": found.high}


def _new(problem: str, settings: dict[str, Any], seed: int) -> Any:
    from fairtrial.study.randomness import derive_generator

    return population(problem).sample(settings["test_rows"], derive_generator(seed, "ensembles", problem, "new"))


def _said(problem: str, replicate: int, settings: dict[str, Any], seed: int) -> dict[str, IntArray]:
    """What every learner trained on one sample says of the new rows, as codes of classes."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.study.randomness import derive_generator, derive_seed

    X, y = population(problem).sample(settings["rows"], derive_generator(seed, "ensembles", problem, replicate))
    asked = _new(problem, settings, seed)[0].to_numpy()
    codes, rows = y.cat.codes.to_numpy(), X.to_numpy()
    own = learners(settings["members"], derive_seed(seed, "ensembles", problem, replicate, "learner") % 2**31)
    with threadpool_limits(1):
        return {name: np.asarray(each.fit(rows, codes).predict(asked)) for name, each in own.items()}
