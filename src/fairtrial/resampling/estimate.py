"""The bootstrap's estimates of a learner's error: E0, leave-one-out bootstrap, .632 and .632+, from one run."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, column, encode, one_of, same_length, whole_number
from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling.bootstrap import Bootstrap
from fairtrial.resampling.out_of_bag import METHODS, ErrorEstimates, Loss, NoInformation, out_of_bag_estimates
from fairtrial.resampling.splits import Split, row_count
from fairtrial.resampling.splitter import Seed

LossName = Literal["error", "squared", "absolute"]


def estimate(
    learner: Any,
    X: Any,
    y: Any,
    *,
    method: str = "632+",
    n_resamples: int = 200,
    loss: LossName | Loss = "error",
    stratify: bool = False,
    level: float = 0.95,
    n_jobs: int | None = None,
    random_state: Seed = None,
) -> ErrorEstimates:
    """The expected loss of a learner on new cases, by the bootstrap. One run gives all estimates; `method` picks the first.

    | method | what it is | cite |
    |---|---|---|
    | `632+` | weighs the two below by how much the learner overfits | Efron & Tibshirani 1997 |
    | `632` | 0.368 resubstitution + 0.632 leave-one-out bootstrap | Efron 1983, 1997 |
    | `632-e0` | 0.368 resubstitution + 0.632 E0 | the form in many textbooks |
    | `loo-bootstrap` | each case's mean loss over the samples without it, averaged over cases | Efron & Tibshirani 1997 |
    | `e0` | each sample's mean loss on the cases it left out, averaged over samples | the form in many textbooks |
    | `e0-pooled` | all losses on cases left out, averaged | Efron 1983 |
    | `resubstitution` | on the training cases: too good | |

    `loss` is `"error"` (for classes), `"squared"` or `"absolute"` (for numbers), or a function of truths and predictions that
    gives a loss for each case. `stratify=True` draws within each class, for learners that cannot do without one of them.

    Standard errors come from the delta method of Efron & Tibshirani, with the noise of finitely many samples taken out; for
    .632 and .632+ they treat the learner's rule on its own training cases as fixed. A leave-one-out bootstrap above the
    no-information rate is cut down to it, in the overfitting rate too: there .632+ is the no-information rate.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = estimate(KNeighborsClassifier(1), X, y, n_resamples=50, random_state=1)
    >>> found["resubstitution"].value, bool(found["632"].value < found["632+"].value < found["loo-bootstrap"].value)
    (0.0, True)
    """
    one_of("method", method, METHODS)
    if not callable(loss):
        one_of("loss", loss, [*_LOSSES])
    for needed in ("fit", "predict"):
        if not callable(getattr(learner, needed, None)):
            raise InputError(
                f"learner must have the method {needed}, got {type(learner).__name__}: pass a scikit-learn estimator"
            )
    truth = _truth(X, y, loss)
    loss_of = loss if callable(loss) else _LOSSES[loss]
    draws = Bootstrap(whole_number("n_resamples", n_resamples, 2), stratify=stratify, random_state=random_state).freeze(X, y)
    losses = _losses(learner, X, y, truth, list(draws), loss_of, n_jobs)
    counts = np.array([np.bincount(part.train, minlength=len(truth)) for part in draws])
    everyone = np.arange(len(truth))
    predicted = _predicted(learner, X, y, Split(everyone, everyone), "all rows")
    gamma = NoInformation.of_labels(truth, predicted) if loss == "error" else NoInformation.of_loss(loss_of, truth, predicted)
    return out_of_bag_estimates(losses, counts, _loss(loss_of, truth, predicted), gamma, method=method, level=level)


def _error(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(truth != predicted, dtype=bool)


def _squared(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray((truth - predicted) ** 2)


def _absolute(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.abs(truth - predicted))


_LOSSES: dict[str, Loss] = {"error": _error, "squared": _squared, "absolute": _absolute}


def _truth(X: Any, y: Any, loss: object) -> npt.NDArray[Any]:
    """The truths as an array; classes for the error rate, numbers for the other losses that have a name."""
    truth = column("y", y)
    same_length(X=np.empty(row_count(X)), y=truth)
    if loss == "error":
        encode(None, None, y=truth)
    elif not callable(loss) and truth.dtype.kind not in "biuf":
        raise InputError(f"y must hold numbers for the loss {loss!r}, got {truth.tolist()[0]!r}: take loss='error' for classes")
    return truth


def _losses(
    learner: Any, X: Any, y: Any, truth: npt.NDArray[Any], draws: list[Split], loss: Loss, n_jobs: int | None
) -> FloatArray:
    """The loss of each draw's learner on each case that it left out; elsewhere 0."""
    from sklearn.utils.parallel import Parallel, delayed

    told = [f"bootstrap sample {number}" for number in range(len(draws))]
    found = Parallel(n_jobs=n_jobs)(delayed(_predicted)(learner, X, y, *each) for each in zip(draws, told, strict=True))
    losses = np.zeros((len(draws), len(truth)))
    for row, part, predicted in zip(losses, draws, found, strict=True):
        row[part.test] = _loss(loss, truth[part.test], predicted)
    return losses


def _predicted(learner: Any, X: Any, y: Any, part: Split, told: str) -> npt.NDArray[Any]:
    """What the learner trained on one side says of the other."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    try:
        fitted = clone(learner).fit(_safe_indexing(X, part.train), _safe_indexing(y, part.train))
        return np.asarray(fitted.predict(_safe_indexing(X, part.test)))
    except Exception as failure:
        lost = ": if a class was missing there, pass stratify=True" if told != "all rows" else ""
        raise LearnerError(f"{type(learner).__name__} failed on {told} ({failure}){lost}") from failure


def _loss(loss: Loss, truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> FloatArray:
    found = np.asarray(loss(truth, predicted), dtype=np.float64)
    if found.shape != truth.shape:
        raise InputError(f"loss must give a number for each of {len(truth)} cases, got shape {found.shape}: do not average")
    return found
