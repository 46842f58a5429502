"""Compare bagging and boosting with single learners on simulated problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.estimates.simulation import SimulationPlan, build_population, report_progress

if TYPE_CHECKING:
    import pandas as pd

VOTED = "bagged C4.5, majority vote"
# The base learner of each ensemble.
BASES = {
    "bagged C4.5": "C4.5",
    VOTED: "C4.5",
    "boosted C4.5": "C4.5",
    "random forest": "C4.5",
    "boosted stump": "stump",
    "bagged naive Bayes": "naive Bayes",
    "bagged nearest neighbour": "nearest neighbour",
}


@dataclass(frozen=True)
class ErrorDecomposition:
    """The expected error, split into noise, bias and variance (Kohavi and Wolpert 1996)."""

    error: float
    noise: float
    bias: float
    variance: float


def build_learners(n_members: int, seed: int) -> dict[str, Any]:
    """Build the single learners and the ensembles."""
    from fairtrial.learners import C45, AdaBoostM1, Bagging, NaiveBayes, NearestNeighbours, Stump, make_learner

    settings: dict[str, Any] = {"n_estimators": n_members, "random_state": seed}
    return {
        "C4.5": C45(),
        "bagged C4.5": Bagging(C45(), **settings),
        VOTED: Bagging(C45(), vote="majority", **settings),
        "boosted C4.5": AdaBoostM1(C45(), by="resampling", **settings),
        "random forest": make_learner("random-forest", n_jobs=1, **settings),
        "stump": Stump(),
        "boosted stump": AdaBoostM1(Stump(), by="resampling", **settings),
        "naive Bayes": NaiveBayes(),
        "bagged naive Bayes": Bagging(NaiveBayes(), **settings),
        "nearest neighbour": NearestNeighbours(1),
        "bagged nearest neighbour": Bagging(NearestNeighbours(1), **settings),
    }


def decompose_error(probabilities: FloatArray, predictions: IntArray) -> ErrorDecomposition:
    """Decompose the error of several models into noise, bias and variance.

    Noise is caused by the randomness of the classes. Bias measures how far the models' votes are from the class probabilities.
    Variance measures how much the predictions of the models differ. Bias and variance are corrected for the finite number of
    models.

    >>> parts = decompose_error(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0, 0], [1, 0]]))
    >>> parts.error, parts.noise + parts.bias + parts.variance
    (0.5, 0.5)
    """
    n_models, n_classes = len(predictions), probabilities.shape[1]
    votes = (predictions[:, :, None] == np.arange(n_classes)).mean(axis=0)
    variance = float((1 - (votes**2).sum(axis=1)).mean() / 2) * n_models / (n_models - 1)
    bias = float(((probabilities - votes) ** 2).sum(axis=1).mean() / 2) - variance / n_models
    noise = float((1 - (probabilities**2).sum(axis=1)).mean() / 2)
    return ErrorDecomposition(float(1 - (probabilities * votes).sum(axis=1).mean()), noise, bias, variance)


@dataclass(frozen=True, eq=False)
class EnsembleResults:
    """Errors of single learners and ensembles on the same training samples and new rows.

    Attributes
    ----------
    parts : pandas.DataFrame
        The expected error, noise, bias and variance by problem and learner.
    errors : pandas.DataFrame
        The error in points, with one row per problem and training sample and one column per learner.
    """

    parts: pd.DataFrame
    errors: pd.DataFrame

    def estimate_gains(self, ensemble: str) -> dict[str, IntervalEstimate]:
        """Estimate the error of the single learner minus that of the ensemble, in points."""
        return self._estimate(lambda errors: errors[BASES[ensemble]] - errors[ensemble])

    def compare_errors(self, first: str, second: str) -> dict[str, IntervalEstimate]:
        """Estimate the error of the first learner minus that of the second, in points."""
        return self._estimate(lambda errors: errors[first] - errors[second])

    def compare_gains(self, first: str, second: str) -> dict[str, IntervalEstimate]:
        """Estimate the gain of the first ensemble minus that of the second, in points."""
        return self._estimate(lambda errors: errors[BASES[first]] - errors[first] - errors[BASES[second]] + errors[second])

    def _estimate(self, compute: Callable[[pd.DataFrame], pd.Series[float]]) -> dict[str, IntervalEstimate]:
        groups = self.errors.groupby("problem", sort=False)
        return {str(problem): estimate_mean(compute(errors)) for problem, errors in groups}

    def frame(self) -> pd.DataFrame:
        """Return the parts of the error and the gains in points, with 95 % intervals of the gains."""
        gains = {name: self.estimate_gains(name) for name in BASES}
        rows = [
            row
            | {name: 100 * row[name] for name in ("error", "noise", "bias", "variance")}
            | _describe_gain(gains.get(row["learner"], {}).get(row["problem"]))
            for row in self.parts.to_dict("records")
        ]
        return type(self.parts)(rows)


def _describe_gain(gain: IntervalEstimate | None) -> dict[str, float]:
    return {} if gain is None else {"gain": gain.value, "low": gain.low, "high": gain.high}


def simulate_ensembles(plan: SimulationPlan, seed: int, jobs: int, *, progress: bool | None = False) -> EnsembleResults:
    """Train all learners on the same samples, and measure their errors on the same new rows."""
    import pandas as pd
    from sklearn.utils.parallel import Parallel, delayed

    settings = plan.ensembles
    tasks = [(problem, replicate) for problem in settings["problems"] for replicate in range(settings["replicates"])]
    results = Parallel(n_jobs=jobs, return_as="generator")(delayed(_predict)(*task, settings, seed) for task in tasks)
    by_task = list(report_progress(results, "sample of the ensembles", len(tasks), progress))
    parts, errors = [], []
    for problem in settings["problems"]:
        X_new, _ = _draw_new_rows(problem, settings, seed)
        probabilities = build_population(problem).bayes_probabilities(X_new)
        replicates = [predictions for (name, _), predictions in zip(tasks, by_task, strict=True) if name == problem]
        predictions = {name: np.array([replicate[name] for replicate in replicates]) for name in replicates[0]}
        parts += [
            {"problem": problem, "learner": name, **vars(decompose_error(probabilities, codes))}
            for name, codes in predictions.items()
        ]
        by_learner = {
            name: 100 - 100 * probabilities[np.arange(len(X_new)), codes].mean(axis=1) for name, codes in predictions.items()
        }
        errors.append(pd.DataFrame({"problem": problem} | by_learner))
    return EnsembleResults(pd.DataFrame(parts), pd.concat(errors, ignore_index=True))


def _draw_new_rows(problem: str, settings: dict[str, Any], seed: int) -> Any:
    from fairtrial.study.randomness import derive_generator

    return build_population(problem).sample(settings["test_rows"], derive_generator(seed, "ensembles", problem, "new"))


def _predict(problem: str, replicate: int, settings: dict[str, Any], seed: int) -> dict[str, IntArray]:
    """Train every learner on one sample, and predict the classes of the new rows."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.study.randomness import derive_generator, derive_seed

    X, y = build_population(problem).sample(settings["rows"], derive_generator(seed, "ensembles", problem, replicate))
    X_new = _draw_new_rows(problem, settings, seed)[0].to_numpy()
    rows, codes = X.to_numpy(), y.cat.codes.to_numpy()
    learners = build_learners(settings["members"], derive_seed(seed, "ensembles", problem, replicate, "learner") % 2**31)
    with threadpool_limits(1):
        return {name: np.asarray(learner.fit(rows, codes).predict(X_new)) for name, learner in learners.items()}
