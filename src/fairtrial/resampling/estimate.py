"""Bootstrap estimates of the error of a learner, such as .632 and .632+.

Efron & Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92 (1997) 548-560.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import (
    FloatArray,
    check_between,
    check_column,
    check_finite,
    check_numbers,
    check_one_of,
    check_same_length,
    check_whole_number,
    encode_labels,
)
from fairtrial._text import format_count, format_html_block, format_interval, format_percentage
from fairtrial.errors import InputError, LearnerError, SuspectInputWarning
from fairtrial.resampling.bootstrap import Bootstrap
from fairtrial.resampling.splits import Split, count_rows
from fairtrial.resampling.splitter import Seed

if TYPE_CHECKING:
    import pandas as pd

METHODS = ("632+", "632", "632-e0", "loo-bootstrap", "e0", "e0-pooled", "resubstitution")
Loss = Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.ArrayLike]
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
    """Estimate the expected loss of a learner on new cases by the bootstrap.

    One run computes all estimates. `method` selects the main estimate:

    - "632+": like "632", but with a weight that depends on overfitting (Efron & Tibshirani 1997);
    - "632": 0.368 times resubstitution plus 0.632 times leave-one-out bootstrap (Efron 1983);
    - "632-e0": 0.368 times resubstitution plus 0.632 times E0, a common variant;
    - "loo-bootstrap": mean loss of each case over the samples that do not contain the case, averaged over cases (Efron &
      Tibshirani 1997);
    - "e0": mean loss on the cases that a sample leaves out, averaged over samples;
    - "e0-pooled": mean of all losses on left-out cases (Efron 1983);
    - "resubstitution": mean loss on the training cases, which is optimistic.

    Parameters
    ----------
    learner : estimator
        A scikit-learn estimator.
    X, y : array-like
        Data.
    method : str, default "632+"
        Main estimate.
    n_resamples : int, default 200
        Number of bootstrap samples.
    loss : {"error", "squared", "absolute"} or callable, default "error"
        Error rate for classes, or squared or absolute error for numbers. A function of true and predicted values must return
        one loss per case.
    stratify : bool, default False
        Whether to draw rows within each class, for learners that need all classes in the training set.
    level : float, default 0.95
        Confidence level.
    n_jobs : int, optional
        Number of parallel jobs.
    random_state : int, Generator, SeedSequence or RandomState, optional
        Seed of the bootstrap.

    Returns
    -------
    ErrorEstimates

    Notes
    -----
    Standard errors are computed by the delta method of Efron & Tibshirani, with a correction for the finite number of
    bootstrap samples.
    The standard errors of .632 and .632+ treat the predictions on the training cases as fixed. If the leave-one-out bootstrap
    exceeds the no-information rate, .632+ is 0.632 times the leave-one-out bootstrap plus 0.368 times the no-information rate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> result = estimate(KNeighborsClassifier(1), X, y, n_resamples=50, random_state=1)
    >>> result["resubstitution"].value, bool(result["632"].value < result["632+"].value < result["loo-bootstrap"].value)
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
    """Check that the true values are classes or numbers, depending on the loss."""
    y_true = check_column("y", y)
    check_same_length(X=np.empty(count_rows(X)), y=y_true)
    if loss == "error":
        encode_labels(None, None, y=y_true)
    elif not callable(loss) and y_true.dtype.kind not in "biuf":
        raise InputError(f"y must contain numbers for loss={loss!r}, got {y_true.tolist()[0]!r}: use loss='error' for classes")
    return y_true


def _compute_losses(
    learner: Any, X: Any, y: Any, y_true: npt.NDArray[Any], bootstrap_splits: list[Split], loss: Loss, n_jobs: int | None
) -> FloatArray:
    """Compute the losses on the cases that each bootstrap sample leaves out; all others are 0."""
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
    """Fit the learner on the training rows and predict the test rows."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    try:
        fitted = clone(learner).fit(_safe_indexing(X, split.train), _safe_indexing(y, split.train))
        return np.asarray(fitted.predict(_safe_indexing(X, split.test)))
    except Exception as failure:
        remedy = ": pass stratify=True if a class is missing" if description != "all rows" else ""
        raise LearnerError(f"{type(learner).__name__} failed on {description} ({failure}){remedy}") from failure


def _apply_loss(loss: Loss, y_true: npt.NDArray[Any], y_pred: npt.NDArray[Any]) -> FloatArray:
    losses = np.asarray(loss(y_true, y_pred), dtype=np.float64)
    if losses.shape != y_true.shape:
        raise InputError(
            f"loss must return one number for each of {len(y_true)} cases, got shape {losses.shape}: do not average"
        )
    return losses


@dataclass(frozen=True)
class Estimate:
    """An estimate with its standard error and confidence limits.

    Attributes
    ----------
    method : str
        Name of the method, such as "632+".
    value, standard_error : float
        Estimate and its standard error.
    low, high : float
        Confidence limits.

    Examples
    --------
    >>> print(Estimate("632+", 0.25, 0.05, 0.15, 0.35))
    632+ 0.2500, standard error 0.0500, 0.1500 to 0.3500
    """

    method: str
    value: float
    standard_error: float
    low: float
    high: float

    def __str__(self) -> str:
        limits = format_interval(self.low, self.high, None, "{:.4f}")
        return f"{self.method} {self.value:.4f}, standard error {self.standard_error:.4f}, {limits}"


@dataclass(frozen=True)
class ErrorEstimates:
    """All bootstrap estimates of one run.

    `value`, `standard_error`, `low` and `high` refer to the main method.

    Attributes
    ----------
    method : str
        Main method.
    estimates : tuple of Estimate
        One estimate per method.
    n_rows, n_resamples : int
        Number of rows and number of bootstrap samples.
    level : float
        Confidence level.
    no_information : float
        Expected loss of predictions that are independent of the true values.
    overfitting : float
        Relative overfitting rate, from 0 (none) to 1.
    weight : float
        Weight of the leave-one-out bootstrap in .632+. If the leave-one-out bootstrap exceeds the no-information rate, 0.368 of
        the weight is applied to the no-information rate instead.
    monte_carlo_error : float
        Standard deviation of the leave-one-out bootstrap due to random sampling. More resamples reduce it.

    Examples
    --------
    >>> losses, counts = [[0, 0, 1], [0, 0, 0], [1, 0, 0]], [[1, 2, 0], [2, 0, 1], [0, 1, 2]]
    >>> result = out_of_bag_estimates(losses, counts, [0, 0, 0], 0.5, method="resubstitution")
    >>> result.value
    0.0
    """

    method: str
    estimates: tuple[Estimate, ...]
    n_rows: int
    n_resamples: int
    level: float
    no_information: float
    overfitting: float
    weight: float
    monte_carlo_error: float

    def __getitem__(self, method: str) -> Estimate:
        check_one_of("method", method, METHODS)
        return next(estimate for estimate in self.estimates if estimate.method == method)

    @property
    def value(self) -> float:
        """Return the estimate of the main method."""
        return self[self.method].value

    @property
    def standard_error(self) -> float:
        """Return the standard error of the main estimate."""
        return self[self.method].standard_error

    @property
    def low(self) -> float:
        """Return the lower confidence limit of the main estimate."""
        return self[self.method].low

    @property
    def high(self) -> float:
        """Return the upper confidence limit of the main estimate."""
        return self[self.method].high

    def frame(self) -> pd.DataFrame:
        """Return a data frame with one row per method."""
        import pandas as pd

        return pd.DataFrame([vars(estimate) for estimate in self.estimates])

    def __str__(self) -> str:
        samples, rows = format_count(self.n_resamples, "bootstrap sample"), format_count(self.n_rows, "row")
        lines = [f"{samples} of {rows}, {format_percentage(self.level)} confidence intervals"]
        lines += [f"{'>' if estimate.method == self.method else ' '} {estimate}" for estimate in self.estimates]
        rates = f"no-information rate {self.no_information:.4f}, relative overfitting rate {self.overfitting:.4f}"
        return "\n".join([*lines, f"{rates}, weight {self.weight:.4f}, Monte Carlo error {self.monte_carlo_error:.4f}"])

    def _repr_html_(self) -> str:
        return format_html_block(str(self))


@dataclass(frozen=True, eq=False)
class NoInformation:
    """No-information rate: the mean loss over all pairs of a true value and a prediction.

    Attributes
    ----------
    rate : float
        No-information rate.
    influence : ndarray of shape (n,)
        Influence of each case on the rate.

    Examples
    --------
    >>> NoInformation.from_labels(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])).rate
    0.5
    """

    rate: float
    influence: FloatArray

    @classmethod
    def from_labels(cls, y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> NoInformation:
        """Compute the no-information error rate from class proportions.

        Parameters
        ----------
        y, predicted : ndarray of shape (n,)
            True and predicted labels.

        Returns
        -------
        NoInformation

        Examples
        --------
        >>> NoInformation.from_labels(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])).rate
        0.5
        """
        true_labels, predicted_labels = y.tolist(), predicted.tolist()
        code = {label: i for i, label in enumerate(dict.fromkeys([*true_labels, *predicted_labels]))}
        true_codes, codes = (np.array([code[label] for label in labels]) for labels in (true_labels, predicted_labels))
        true_proportions, proportions = (
            np.bincount(label_codes, minlength=len(code)) / len(y) for label_codes in (true_codes, codes)
        )
        return cls._from_means(1 - proportions[true_codes], 1 - true_proportions[codes])

    @classmethod
    def from_loss(cls, loss: Loss, y: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> NoInformation:
        """Compute the no-information rate for a loss from all pairs of true value and prediction.

        Parameters
        ----------
        loss : callable
            Function of true and predicted values that returns one loss per case.
        y, predicted : ndarray of shape (n,)
            True and predicted values.

        Returns
        -------
        NoInformation

        Examples
        --------
        >>> squared = lambda true, predicted: (true - predicted) ** 2
        >>> NoInformation.from_loss(squared, np.array([0.0, 2.0]), np.array([1.0, 1.0])).rate
        1.0
        """
        loss_by_truth, loss_by_prediction = np.zeros(len(y)), np.zeros(len(y))
        for j in range(len(y)):
            losses = np.asarray(loss(y, np.repeat(predicted[j : j + 1], len(y), axis=0)), dtype=np.float64)
            loss_by_truth += losses / len(y)
            loss_by_prediction[j] = losses.mean()
        return cls._from_means(loss_by_truth, loss_by_prediction)

    @classmethod
    def _from_means(cls, loss_by_truth: FloatArray, loss_by_prediction: FloatArray) -> NoInformation:
        rate = float(loss_by_truth.mean())
        return cls(rate, (loss_by_truth + loss_by_prediction - 2 * rate) / len(loss_by_truth))


def out_of_bag_estimates(
    losses: npt.ArrayLike,
    counts: npt.ArrayLike,
    resubstitution: npt.ArrayLike,
    no_information: float | NoInformation,
    *,
    method: str = "632+",
    level: float = 0.95,
) -> ErrorEstimates:
    """Compute all bootstrap estimates from a table of losses.

    Parameters
    ----------
    losses : array-like of shape (samples, n)
        Loss of the learner trained on each bootstrap sample, for each case.
    counts : array-like of shape (samples, n)
        How often each case occurs in each sample. Only the losses of cases with count 0 are used.
    resubstitution : array-like of shape (n,)
        Loss of the learner trained on all cases, for each case.
    no_information : float or NoInformation
        No-information rate.
    method : str, default "632+"
        Method of the main estimate (see `estimate`).
    level : float, default 0.95
        Confidence level.

    Returns
    -------
    ErrorEstimates

    Examples
    --------
    >>> losses = [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    >>> counts = [[1, 2, 0], [2, 0, 1], [0, 1, 2]]
    >>> result = out_of_bag_estimates(losses, counts, [0, 0, 0], 0.5)
    >>> round(result["e0"].value, 4), round(result["632"].value, 4)  # 2/3 and 0.632 * 2/3
    (0.6667, 0.4213)
    """
    check_one_of("method", method, METHODS)
    check_between("level", level, 0, 1)
    Q, N, apparent = _check_tables(losses, counts, resubstitution)
    if not isinstance(no_information, NoInformation):
        no_information = NoInformation(float(no_information), np.zeros(len(apparent)))
    left_out = _OutOfBagLosses.from_losses(Q, N)
    error, gamma, e1 = float(apparent.mean()), no_information.rate, left_out.per_case
    plus, overfitting, weight, slopes = _compute_632_plus(error, e1, gamma)
    error_influence = (apparent - error) / len(apparent)
    influences = (error_influence, left_out, no_information.influence)
    zero_one = bool(np.isin(Q[N == 0], (0, 1)).all() and np.isin(apparent, (0, 1)).all())

    def make_estimate(name: str, value: float, slopes: tuple[float, float, float]) -> Estimate:
        se = _compute_standard_error(*influences, slopes)
        return Estimate(name, value, se, *_compute_limits(value, se, level, len(apparent), zero_one))

    estimates = (
        make_estimate("632+", plus, slopes),
        make_estimate("632", 0.368 * error + 0.632 * e1, (0.368, 0.632, 0)),
        make_estimate("632-e0", 0.368 * error + 0.632 * left_out.per_run, (0.368, 0.632, 0)),
        make_estimate("loo-bootstrap", e1, (0, 1, 0)),
        make_estimate("e0", left_out.per_run, (0, 1, 0)),
        make_estimate("e0-pooled", left_out.pooled, (0, 1, 0)),
        make_estimate("resubstitution", error, (1, 0, 0)),
    )
    return ErrorEstimates(
        method, estimates, len(apparent), len(Q), level, gamma, overfitting, weight, left_out.monte_carlo_error
    )


def _check_tables(losses: npt.ArrayLike, counts: npt.ArrayLike, resubstitution: npt.ArrayLike) -> tuple[FloatArray, ...]:
    Q, N, apparent = (
        check_numbers("losses", losses),
        check_numbers("counts", counts),
        check_numbers("resubstitution", resubstitution),
    )
    if Q.ndim != 2 or Q.shape != N.shape or apparent.shape != Q.shape[1:]:
        raise InputError(
            "losses and counts must have shape (samples, cases) and resubstitution shape (cases,), "
            f"got {Q.shape}, {N.shape} and {apparent.shape}"
        )
    if min(Q.shape) < 2:
        raise InputError(f"losses must have at least 2 bootstrap samples of at least 2 cases, got shape {Q.shape}")
    if not (N == 0).any():
        raise InputError("counts must be 0 for at least 1 case in a bootstrap sample, got none")
    check_finite("losses", np.where(N == 0, Q, 0.0))
    return Q, N, check_finite("resubstitution", apparent)


@dataclass(frozen=True, eq=False)
class _OutOfBagLosses:
    """Means of the losses on left-out cases, and the influence of each case.

    `influence` is the influence on the mean over all cases, computed by the nonparametric delta method (Efron & Tibshirani
    1997). `noise` is the part of the sum of squared influences that is due to the finite number of samples. `plain_influence`
    ignores the effect of a case on the trained learners.
    """

    per_case: float
    per_run: float
    pooled: float
    influence: FloatArray
    plain_influence: FloatArray
    noise: float
    monte_carlo_error: float

    @classmethod
    def from_losses(cls, Q: FloatArray, N: FloatArray) -> _OutOfBagLosses:
        b, n = Q.shape
        out = N == 0
        Q = np.where(out, Q, 0.0)
        times = out.sum(axis=0)
        is_counted = times > 0
        if not is_counted.all():
            message = (
                f"{(~is_counted).sum()} of {n} cases are ignored because all bootstrap samples contain them: draw more samples"
            )
            warnings.warn(message, SuspectInputWarning, stacklevel=4)
        case_means = Q.sum(axis=0) / np.maximum(times, 1)
        e1 = float(case_means[is_counted].mean())
        plain_influence = np.where(is_counted, case_means - e1, 0.0) / n
        count_deviations, run_means = N - N.mean(axis=0), Q.mean(axis=1)
        products = count_deviations * (run_means - run_means.mean())[:, None] * (1 - 1 / n) ** -n
        factor = 2 + 1 / (n - 1)
        # Contribution of each bootstrap sample to the mean of each case, and to the mean over cases.
        steps = np.where(out, Q - case_means, 0.0) * (b / np.maximum(times, 1))
        run_effects = steps.mean(axis=1)
        contributions = factor / n * (steps - run_effects[:, None]) + products
        sizes = out.sum(axis=1)
        return cls(
            e1,
            float((Q.sum(axis=1)[sizes > 0] / sizes[sizes > 0]).mean()),
            float(Q.sum() / out.sum()),
            factor * plain_influence + products.mean(axis=0),
            plain_influence,
            float(contributions.var(axis=0, ddof=1).sum() / b),
            float(np.sqrt(run_effects.var(ddof=1) / b)),
        )


def _compute_632_plus(error: float, e1: float, gamma: float) -> tuple[float, float, float, tuple[float, float, float]]:
    """Compute the .632+ estimate, the relative overfitting rate, the weight and the slopes.

    The estimate follows equation 32 of Efron & Tibshirani (1997). The slopes are the derivatives with respect to the
    resubstitution loss, the leave-one-out bootstrap and the no-information rate.
    """
    excess, max_excess = min(e1, gamma) - error, gamma - error
    estimate_632 = 0.368 * error + 0.632 * e1
    if excess <= 0 or max_excess <= 0:
        return estimate_632, 0.0, 0.632, (0.368, 0.632, 0.0)
    overfitting = excess / max_excess
    rest = 1 - 0.368 * overfitting
    value = estimate_632 + excess * 0.368 * 0.632 * overfitting / rest
    if e1 >= gamma:
        return value, 1.0, 1.0, (0.0, 0.632, 0.368)
    excess_slope, max_excess_slope = 0.632 / rest**2, -0.632 * 0.368 * (overfitting / rest) ** 2
    return value, overfitting, 0.632 / rest, (1 - excess_slope - max_excess_slope, excess_slope, max_excess_slope)


def _compute_standard_error(
    error_influence: FloatArray, left_out: _OutOfBagLosses, gamma_influence: FloatArray, slopes: tuple[float, float, float]
) -> float:
    """Compute a standard error by the delta method, corrected for Monte Carlo noise.

    The result is at least the standard error computed from `plain_influence`.
    """
    a, b, c = slopes
    variance = ((a * error_influence + b * left_out.influence + c * gamma_influence) ** 2).sum() - b**2 * left_out.noise
    minimum = ((a * error_influence + b * left_out.plain_influence + c * gamma_influence) ** 2).sum()
    return float(np.sqrt(max(variance, minimum)))


def _compute_limits(value: float, se: float, level: float, n: int, zero_one: bool) -> tuple[float, float]:
    """Compute confidence limits: Wilson limits for a rate, and normal limits for other losses.

    The sample size for Wilson limits is chosen to match the standard error.
    """
    from scipy.special import ndtri

    z = float(ndtri(0.5 + level / 2))
    if not zero_one:
        return value - z * se, value + z * se
    effective_n = n if se == 0 else min(n, value * (1 - value) / se**2)
    if effective_n == 0:
        return 0.0, 1.0
    centre = (value + z * z / (2 * effective_n)) / (1 + z * z / effective_n)
    half = z / (1 + z * z / effective_n) * np.sqrt(value * (1 - value) / effective_n + z * z / (4 * effective_n**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
