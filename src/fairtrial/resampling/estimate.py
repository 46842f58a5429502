"""The bootstrap's estimates of a learner's error: E0, leave-one-out bootstrap, .632 and .632+, from one run."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, check_column, check_one_of, check_same_length, check_whole_number, encode_labels
from fairtrial.errors import InputError, LearnerError
from fairtrial.resampling.bootstrap import Bootstrap
from fairtrial.resampling.out_of_bag import METHODS, ErrorEstimates, Loss, NoInformation, out_of_bag_estimates
from fairtrial.resampling.splits import Split, count_rows
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
    check_one_of("method", method, METHODS)
    if not callable(loss):
        check_one_of("loss", loss, [*_LOSSES])
    for method_name in ("fit", "predict"):
        if not callable(getattr(learner, method_name, None)):
            raise InputError(
                f"learner must have the method {method_name}, got {type(learner).__name__}: pass a scikit-learn estimator"
            )
    y_true = _read_y_true(X, y, loss)
    loss_function = loss if callable(loss) else _LOSSES[loss]
    bootstrap_splits = Bootstrap(
        check_whole_number("n_resamples", n_resamples, 2), stratify=stratify, random_state=random_state
    ).freeze(X, y)
    losses = _compute_losses(learner, X, y, y_true, list(bootstrap_splits), loss_function, n_jobs)
    counts = np.array([np.bincount(split.train, minlength=len(y_true)) for split in bootstrap_splits])
    all_rows = np.arange(len(y_true))
    y_pred = _fit_and_predict(learner, X, y, Split(all_rows, all_rows), "all rows")
    gamma = (
        NoInformation.from_labels(y_true, y_pred) if loss == "error" else NoInformation.from_loss(loss_function, y_true, y_pred)
    )
    return out_of_bag_estimates(losses, counts, _apply_loss(loss_function, y_true, y_pred), gamma, method=method, level=level)


def _compute_error_loss(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.asarray(y_true != y_pred, dtype=bool)


def _compute_squared_loss(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray((y_true - y_pred) ** 2)


def _compute_absolute_loss(y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(np.abs(y_true - y_pred))


_LOSSES: dict[str, Loss] = {"error": _compute_error_loss, "squared": _compute_squared_loss, "absolute": _compute_absolute_loss}


def _read_y_true(X: Any, y: Any, loss: object) -> npt.NDArray[Any]:
    """The truths as an array; classes for the error rate, numbers for the other losses that have a name."""
    y_true = check_column("y", y)
    check_same_length(X=np.empty(count_rows(X)), y=y_true)
    if loss == "error":
        encode_labels(None, None, y=y_true)
    elif not callable(loss) and y_true.dtype.kind not in "biuf":
        raise InputError(
            f"y must hold numbers for the loss {loss!r}, got {y_true.tolist()[0]!r}: take loss='error' for classes"
        )
    return y_true


def _compute_losses(
    learner: Any, X: Any, y: Any, y_true: npt.NDArray[Any], bootstrap_splits: list[Split], loss: Loss, n_jobs: int | None
) -> FloatArray:
    """The loss of each draw's learner on each case that it left out; elsewhere 0."""
    from sklearn.utils.parallel import Parallel, delayed

    descriptions = [f"bootstrap sample {number}" for number in range(len(bootstrap_splits))]
    predictions = Parallel(n_jobs=n_jobs)(
        delayed(_fit_and_predict)(learner, X, y, *arguments) for arguments in zip(bootstrap_splits, descriptions, strict=True)
    )
    losses = np.zeros((len(bootstrap_splits), len(y_true)))
    for row, split, y_pred in zip(losses, bootstrap_splits, predictions, strict=True):
        row[split.test] = _apply_loss(loss, y_true[split.test], y_pred)
    return losses


def _fit_and_predict(learner: Any, X: Any, y: Any, split: Split, description: str) -> npt.NDArray[Any]:
    """What the learner trained on one side says of the other."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    try:
        fitted = clone(learner).fit(_safe_indexing(X, split.train), _safe_indexing(y, split.train))
        return np.asarray(fitted.predict(_safe_indexing(X, split.test)))
    except Exception as failure:
        remedy = ": if a class was missing there, pass stratify=True" if description != "all rows" else ""
        raise LearnerError(f"{type(learner).__name__} failed on {description} ({failure}){remedy}") from failure


def _apply_loss(loss: Loss, y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> FloatArray:
    losses = np.asarray(loss(y_true, y_pred), dtype=np.float64)
    if losses.shape != y_true.shape:
        raise InputError(f"loss must give a number for each of {len(y_true)} cases, got shape {losses.shape}: do not average")
    return losses
