"""All test rows of a learner on a data set as one, as WEKA pools them, with the class shares that training showed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from fairtrial.study import Results


PRINTED_FOLDS = 10  # of every table that the tutorial shows


def folds_run(results: Results) -> int:
    """How many folds the study has."""
    return int(results.trials()["fold"].nunique())


def as_printed(results: Results) -> bool:
    """Whether the folds are as many as those of the printed tables; figures over others are not to be judged by them."""
    return folds_run(results) == PRINTED_FOLDS


def folds_told(results: Results) -> str:
    """Words on the folds that were run."""
    plain = f"the {folds_run(results)} folds that WEKA makes with seed 1"
    return (
        plain if as_printed(results) else f"{plain} (the printed figures are over {PRINTED_FOLDS}: nothing is judged by them)"
    )


@dataclass(frozen=True, eq=False)
class Tested:
    """Labels of the truth and of the predictions, probabilities by class, and for each row the prior of its training part."""

    classes: list[str]
    truth: npt.NDArray[Any]
    predicted: npt.NDArray[Any]
    probabilities: npt.NDArray[np.float64]
    priors: npt.NDArray[np.float64]
    folds: npt.NDArray[np.intp]

    @property
    def right(self) -> npt.NDArray[np.bool_]:
        """Which rows were named rightly."""
        return np.asarray(self.truth == self.predicted)

    @property
    def errors_by_fold(self) -> list[int]:
        """How many rows each fold names wrongly."""
        return [int(each) for each in np.bincount(self.folds, weights=~self.right)]

    def score(self, label: str) -> npt.NDArray[np.float64]:
        """The probability of a class."""
        return np.asarray(self.probabilities[:, self.classes.index(label)])


def pooled_rows(results: Results, dataset: str, learner: str) -> Tested | None:
    """The test rows of one repeat; None where the study does not have them or a trial failed.

    The prior is WEKA's: one more than the rows of each class among the training rows.
    """
    trials = results.trials()
    own = trials[(trials["dataset"] == dataset) & (trials["learner"] == learner) & (trials["repeat"] == 0)]
    if not len(own) or (own["status"] != "ok").any():
        return None
    facts = next(each for each in results.archive.datasets if each.name == dataset)
    names = np.array([str(each) for each in facts.classes])
    evidence = list(results.archive.predictions(own["trial"].tolist()))
    priors = [_prior(results, dataset, int(fold), facts.codes, len(names)) for fold in own["fold"]]
    sizes = [len(each.y_true) for each in evidence]
    return Tested(
        names.tolist(),
        names[np.concatenate([each.y_true for each in evidence])],
        names[np.concatenate([each.prediction for each in evidence])],
        np.vstack([_scores(each, len(names)) for each in evidence]),
        np.repeat(priors, sizes, axis=0),
        np.repeat(own["fold"].to_numpy(), sizes),
    )


def _prior(results: Results, dataset: str, fold: int, codes: npt.NDArray[Any], k: int) -> npt.NDArray[np.float64]:
    train, _ = results.archive.split(dataset, 0, fold)
    counts = np.bincount(codes[train], minlength=k) + 1.0
    return np.asarray(counts / counts.sum())


def _scores(evidence: Any, k: int) -> npt.NDArray[np.float64]:
    """Probabilities; a learner without them is sure of what it names."""
    if evidence.scores is not None and evidence.score_kind == "probability":
        return np.asarray(evidence.scores)
    return np.asarray(np.eye(k)[evidence.prediction])
