"""Inputs of the sections: the tutorial's two studies and the Labour data set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial.reproduce.claim import Claim, mark_inconclusive
from fairtrial.reproduce.experiment import Request, load_datasets, read_study_file

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study import Results

DOMAINS = {
    "eight_learners": {
        "Breast Cancer": "uci/breast-cancer",
        "Labour": "uci/labor",
        "Liver": "keel-standard/bupa",
        "Anneal": "uci/anneal",
    },
    "ten_domains": {
        "Anneal": "uci/anneal",
        "Audiology": "uci/audiology",
        "Balance Scale": "uci/balance-scale",
        "Breast Cancer": "uci/breast-cancer",
        "Contact Lenses": "uci/contact-lenses",
        "Pima Diabetes": "uci/diabetes",
        "Glass": "uci/glass",
        "Hepatitis": "uci/hepatitis",
        "Hypothyroid": "uci/hypothyroid",
        "Tic-Tac-Toe": "uci/tic-tac-toe",
    },
}
EIGHT_LEARNERS = ("NB", "C4.5", "1NN", "Ripp", "SVM", "Bagg", "Boost", "RanF")
"""The eight learners of the slides. 1NN uses one neighbour, the default of WEKA's IBk. The study also contains 3NN."""
_SMOKE_DOMAINS = ("Contact Lenses", "Hepatitis")
_PRINTED_FOLDS = 10  # number of folds in all tables of the tutorial


@dataclass(frozen=True)
class TutorialInputs:
    """Results of both studies, and the Labour data set.

    `missing` contains the reason for each missing data set.
    """

    request: Request
    eight_learners: Results | None
    ten_domains: Results | None
    labour: Dataset | None
    missing: Mapping[str, str]

    @classmethod
    def load(cls, request: Request) -> TutorialInputs:
        """Load the data sets and run both studies.

        A smoke run uses two folds and two of the ten domains.
        """
        eight_learners, missing = _run_study("eight_learners", DOMAINS["eight_learners"], request)
        ten = DOMAINS["ten_domains"]
        names = {name: ten[name] for name in _SMOKE_DOMAINS} if request.scale == "smoke" else ten
        ten_domains, also_missing = _run_study("ten_domains", names, request)
        labour, _ = load_datasets({"Labour": DOMAINS["eight_learners"]["Labour"]})
        return cls(request, eight_learners, ten_domains, labour.get("Labour"), {**missing, **also_missing})


def _run_study(name: str, names: Mapping[str, str], request: Request) -> tuple[Results | None, dict[str, str]]:
    from fairtrial import Study

    datasets, missing = load_datasets(names)
    if not datasets:
        return None, missing
    declared = declare_study(name, n_folds=request.pick(smoke=2, quick=10, full=10)) | {"seed": request.seed}
    study = Study(data=dict(datasets), **declared)
    jobs = request.pick(smoke=1, quick=request.jobs, full=request.jobs)
    results: Results = study.run(request.out / f"{study.name}.fairtrial", jobs=jobs, progress=request.progress)
    return results, missing


def declare_study(name: str, n_folds: int) -> dict[str, Any]:
    """Read a study file and set its number of folds.

    The folds are always those of WEKA with seed 1.

    >>> sorted(declare_study("ten_domains", 10)), declare_study("ten_domains", 10)["resampling"]["scheme"]
    (['learners', 'measures', 'name', 'resampling', 'seed'], 'weka')
    """
    declared = read_study_file("tutorial", name)
    declared["resampling"]["folds"] = n_folds
    return declared


def count_folds(results: Results) -> int:
    """Count the folds of a study."""
    return int(results.trials()["fold"].nunique())


def require_printed_folds(claims: Iterable[Claim], results: Results) -> tuple[Claim, ...]:
    """Mark the claims as inconclusive unless the study has ten folds."""
    n_folds = count_folds(results)
    reason = f"inconclusive with {n_folds} folds (the tutorial has {_PRINTED_FOLDS})"
    return tuple(claims) if n_folds == _PRINTED_FOLDS else mark_inconclusive(claims, reason)


def find_wrong_predictions(learner: Any, X: Any, y: Any, train: Any, test: Any) -> npt.NDArray[np.bool_]:
    """Fit a learner to the training rows and mark the misclassified test rows."""
    learner.fit(X.iloc[train], y.iloc[train])
    predicted = np.asarray(learner.predict(X.iloc[test])).astype(str)
    return np.asarray(predicted != y.iloc[test].astype(str).to_numpy())


@dataclass(frozen=True, eq=False)
class PooledPredictions:
    """The predictions of a learner on one data set, pooled over the folds as in WEKA.

    For each row, `priors` contains the class proportions of the training set, and `folds` contains the fold.
    """

    classes: list[str]
    y_true: npt.NDArray[Any]
    y_pred: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]
    priors: npt.NDArray[np.float64]
    folds: npt.NDArray[np.intp]

    @property
    def fold_indices(self) -> list[npt.NDArray[np.intp]]:
        """Indices of the rows of each fold."""
        return [np.flatnonzero(self.folds == fold) for fold in np.unique(self.folds)]

    @property
    def correct(self) -> npt.NDArray[np.bool_]:
        """Mask of the correctly classified rows."""
        return np.asarray(self.y_true == self.y_pred)

    @property
    def true_codes(self) -> npt.NDArray[np.intp]:
        """Index of the true class of each row."""
        return np.array([self.classes.index(label) for label in self.y_true])

    def get_scores(self, label: str) -> npt.NDArray[np.float64]:
        """Return the predicted probabilities of a class."""
        return np.asarray(self.probabilities[:, self.classes.index(label)])


def pool_predictions(results: Results, dataset: str, learner: str) -> PooledPredictions | None:
    """Pool the predictions of the first repeat; None if they are not available.

    As in WEKA, one is added to each class count when the priors are computed.
    """
    trials = results.trials()
    trials = trials[(trials["dataset"] == dataset) & (trials["learner"] == learner) & (trials["repeat"] == 0)]
    if not len(trials) or (trials["status"] != "ok").any():
        return None
    facts = next(facts for facts in results.archive.datasets if facts.name == dataset)
    classes = np.array([str(name) for name in facts.classes])
    records = list(results.archive.predictions(trials["trial"].tolist()))
    priors = [_compute_prior(results, dataset, int(fold), facts.codes, len(classes)) for fold in trials["fold"]]
    sizes = [len(record.y_true) for record in records]
    return PooledPredictions(
        classes.tolist(),
        classes[np.concatenate([record.y_true for record in records])],
        classes[np.concatenate([record.prediction for record in records])],
        np.vstack([_get_probabilities(record, len(classes)) for record in records]),
        np.repeat(priors, sizes, axis=0),
        np.repeat(np.arange(len(sizes)), sizes),
    )


def _compute_prior(results: Results, dataset: str, fold: int, codes: npt.NDArray[Any], k: int) -> npt.NDArray[np.float64]:
    train, _ = results.archive.split(dataset, 0, fold)
    counts = np.bincount(codes[train], minlength=k) + 1.0
    return np.asarray(counts / counts.sum())


def _get_probabilities(record: Any, k: int) -> npt.NDArray[np.float64]:
    """Return the predicted probabilities.

    If there are none, the probability of the predicted class is 1.
    """
    if record.scores is not None and record.score_kind == "probability":
        return np.asarray(record.scores)
    return np.asarray(np.eye(k)[record.prediction])
