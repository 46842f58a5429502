"""The SVM that the paper probably used, and variants of it.

SMO in WEKA and KEEL can fit a logistic model to the outputs of each pairwise SVM and combine the pairs into class
probabilities. If the outputs separate the classes, a steeper logistic model always fits better. Its threshold then depends on
the point at which the optimizer stops. The optimizer below therefore works like WEKA's: BFGS starts with a slope of 0 and the
log odds of the pair as the intercept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, check_one_of, check_positive
from fairtrial._frames import EncodedTable
from fairtrial.learners import Learner, PukSVC
from fairtrial.learners.encoding import NumberEncoder
from fairtrial.learners.learner import TrainingSet, require_two_classes

BoolArray = npt.NDArray[np.bool_]

_HELD_OUT_FOLDS = 5
_RIDGE = 1e-8
_MAX_STEPS = 200
_SUFFICIENT_DECREASE = 1e-4  # Armijo's condition
_MAX_COUPLING_ROUNDS = 10_000
_COUPLING_TOLERANCE = 1e-3


class LogisticPukSVC(Learner):
    """Pairwise SVMs with the Pearson VII kernel and a choice of decision rules.

    Parameters
    ----------
    C : float, default 100.0
        Penalty of each SVM.
    decision : {"logistic", "held-out", "votes", "one-vs-rest"}, default "logistic"
        Rule that turns outputs into class probabilities. "logistic" fits a logistic model to the outputs for the training rows
        and couples the pairs, as SMO does in WEKA and KEEL. "held-out" fits this model to the outputs for held-out rows of 5
        folds. "votes" counts the pairs that a class wins. "one-vs-rest" fits one SVM per class and predicts the class with the
        largest output.
    encoding : {"binary", "codes"}, default "binary"
        Encoding of nominal columns: one column per value, or the index of the value, scaled like a number.
    scale : {"min-max", "standard", None}, default "min-max"
        Scaling of the columns.
    tol : float, default 1e-5
        Tolerance of the logistic models: the fit stops if no derivative exceeds it.
    nominal : optional
        Nominal columns, as for every learner.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticPukSVC().fit(X[::2], y[::2]).predict(X[[0, 50, 100]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self,
        C: float = 100.0,
        *,
        decision: str = "logistic",
        encoding: str = "binary",
        scale: str | None = "min-max",
        tol: float = 1e-5,
        nominal: Any = None,
    ) -> None:
        self.C = C
        self.decision = decision
        self.encoding = encoding
        self.scale = scale
        self.tol = tol
        self.nominal = nominal

    def fit(self, X: Any, y: Any) -> LogisticPukSVC:
        """Fit an SVM for each pair of classes, or for each class."""
        check_one_of("decision", self.decision, ["logistic", "held-out", "votes", "one-vs-rest"])
        check_one_of("encoding", self.encoding, ["binary", "codes"])
        check_one_of("scale", self.scale, ["min-max", "standard", None])
        check_positive("tol", self.tol)
        training = self._read_training(X, y)
        require_two_classes(self)
        columns = self._encode_nominal(training.columns)
        self._encoder = NumberEncoder.fit(TrainingSet(columns, training.codes, training.weight), self.scale)  # type: ignore[arg-type]
        rows = self._encoder(columns)
        n_classes = len(self.classes_)
        self._svms: dict[tuple[int, int], PukSVC] = {}
        self._logistic_models: dict[tuple[int, int], tuple[float, float]] = {}
        self._n_rows = np.zeros((n_classes, n_classes))
        for pair, selected, is_second in self._binary_problems(training.codes):
            svm = PukSVC(self.C, scale=None).fit(rows[selected], is_second)
            self._svms[pair] = svm
            if self._is_logistic:
                outputs = svm.decision_function(rows[selected])
                if self.decision == "held-out":
                    outputs = _predict_held_out(svm, rows[selected], is_second, outputs)
                self._logistic_models[pair] = fit_logistic_model(outputs, is_second, tol=self.tol)
            self._n_rows[pair] = len(is_second)
        return self

    @property
    def _is_logistic(self) -> bool:
        return self.decision in ("logistic", "held-out")

    @property
    def _is_one_vs_rest(self) -> bool:
        return self.decision == "one-vs-rest" and len(self.classes_) > 2

    def _binary_problems(self, codes: Any) -> Iterator[tuple[tuple[int, int], BoolArray, BoolArray]]:
        """Yield the class pair, the rows and the binary labels of each SVM."""
        classes = range(len(self.classes_))
        if self._is_one_vs_rest:
            for code in classes:
                yield (code, code), np.ones(len(codes), dtype=bool), codes == code
            return
        for first, second in combinations(classes, 2):
            selected = (codes == first) | (codes == second)
            yield (first, second), selected, codes[selected] == second

    def _encode_nominal(self, columns: EncodedTable) -> EncodedTable:
        if self.encoding == "binary":
            return columns
        return EncodedTable(columns.values, columns.names, (None,) * len(columns.names))

    def _predict_probabilities(self, columns: EncodedTable) -> FloatArray:
        rows = self._encoder(self._encode_nominal(columns))
        outputs = {pair: svm.decision_function(rows) for pair, svm in self._svms.items()}
        if self._is_one_vs_rest:
            stacked = np.column_stack(list(outputs.values()))
            return np.asarray(np.arange(stacked.shape[1]) == stacked.argmax(axis=1)[:, None], dtype=np.float64)
        first_wins = np.zeros((len(rows), *self._n_rows.shape))
        for pair, output in outputs.items():
            if self._is_logistic:
                first_wins[(slice(None), *pair)] = 1 - predict_second_class(output, self._logistic_models[pair])
            else:
                first_wins[(slice(None), *pair)] = output <= 0
        if len(self.classes_) == 2:
            return np.column_stack([first_wins[:, 0, 1], 1 - first_wins[:, 0, 1]])
        return couple_pairs(first_wins, self._n_rows) if self._is_logistic else _count_votes(first_wins)


def _predict_held_out(svm: PukSVC, rows: FloatArray, is_second: BoolArray, outputs: FloatArray) -> FloatArray:
    """Predict the outputs for held-out rows.

    If a class has only one row, return the outputs for the training rows.
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    n_folds = min(_HELD_OUT_FOLDS, int(is_second.sum()), int((~is_second).sum()))
    if n_folds < 2:
        return outputs
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=1)
    return np.asarray(cross_val_predict(clone(svm), rows, is_second, cv=folds, method="decision_function"))


def _count_votes(first_wins: FloatArray) -> FloatArray:
    upper = np.triu(np.ones(first_wins.shape[1:], dtype=bool), 1)
    votes = np.where(upper, first_wins, 0).sum(axis=2) + np.where(upper, 1 - first_wins, 0).sum(axis=1)
    return np.asarray(votes / upper.sum())


def fit_logistic_model(outputs: FloatArray, is_second: BoolArray, *, tol: float = 1e-5) -> tuple[float, float]:
    """Fit a logistic model to an SVM's outputs, and return its intercept and slope.

    The fit stops if no derivative exceeds `tol`. If all outputs are -1 or 1, the first step separates the classes and the fit
    stops there. The threshold (-intercept / slope) then stays near the mean output instead of 0.

    >>> outputs, is_second = np.array([-1.0] * 70 + [1.0] * 30), np.arange(100) >= 70
    >>> intercept, slope = fit_logistic_model(outputs, is_second)
    >>> round(-intercept / slope, 2), round(float(outputs.mean()), 2)
    (-0.4, -0.4)
    """
    center, spread = float(outputs.mean()), float(outputs.std(ddof=1)) if len(outputs) > 1 else 0.0
    spread = spread or 1.0
    design = np.column_stack([np.ones(len(outputs)), (outputs - center) / spread])
    intercept, slope = _minimize_logistic_loss(design, is_second, tol)
    return float(intercept - slope * center / spread), float(slope / spread)


def predict_second_class(outputs: FloatArray, model: tuple[float, float]) -> FloatArray:
    """Predict the probability of the second class from an SVM's outputs.

    >>> predict_second_class(np.array([0.0, 2.0]), (-2.0, 1.0)).round(3).tolist()
    [0.119, 0.5]
    """
    intercept, slope = model
    return np.asarray(1 / (1 + np.exp(-np.clip(intercept + slope * outputs, -700, 700))))


def couple_pairs(first_wins: FloatArray, n_rows: FloatArray) -> FloatArray:
    """Compute class probabilities from pairwise probabilities (Hastie & Tibshirani 1998).

    `first_wins[row, i, j]` is the probability of class i given class i or j. `n_rows[i, j]` is the number of training rows of
    the pair, which serves as its weight. Only the entries above the diagonal are used.

    >>> third = 1 / 3
    >>> couple_pairs(np.array([[[0, third, third], [0, 0, 0.5], [0, 0, 0]]]), np.ones((3, 3))).round(2).tolist()
    [[0.2, 0.4, 0.4]]
    """
    upper = np.triu(np.ones(n_rows.shape, dtype=bool), 1)
    weight = np.where(upper, n_rows, 0) + np.where(upper, n_rows, 0).T
    observed = np.where(upper, first_wins, np.where(upper.T, 1 - np.swapaxes(first_wins, 1, 2), 0))
    observed_wins = (weight * observed).sum(axis=2)
    probabilities = np.full(observed_wins.shape, 1 / observed_wins.shape[1])
    is_active = np.ones(len(probabilities), dtype=bool)
    for _ in range(_MAX_COUPLING_ROUNDS):
        current = probabilities[is_active]
        pair_sum = current[:, :, None] + current[:, None, :]
        ratio = np.divide(current[:, :, None], pair_sum, out=np.zeros_like(pair_sum), where=pair_sum > 0)
        expected_wins = (weight * ratio).sum(axis=2)
        updated = current * np.divide(
            observed_wins[is_active], expected_wins, out=np.zeros_like(expected_wins), where=expected_wins > 0
        )
        converged = (np.abs(updated - current) <= _COUPLING_TOLERANCE).all(axis=1)
        probabilities[is_active] = updated / updated.sum(axis=1, keepdims=True)
        is_active[np.flatnonzero(is_active)[converged]] = False
        if not is_active.any():
            break
    return probabilities


def _minimize_logistic_loss(design: FloatArray, is_second: BoolArray, tol: float) -> FloatArray:
    """Minimize the penalized logistic loss by BFGS and return the final coefficients."""
    sign = np.where(is_second, 1.0, -1.0)

    def compute_loss(coefficients: FloatArray) -> float:
        return float(np.logaddexp(0, -sign * (design @ coefficients)).sum() + _RIDGE * coefficients[1] ** 2)

    def compute_gradient(coefficients: FloatArray) -> FloatArray:
        residuals = predict_second_class(design @ coefficients, (0.0, 1.0)) - is_second
        return np.asarray(design.T @ residuals + [0.0, 2 * _RIDGE * coefficients[1]])

    odds = (is_second.sum() + 1) / ((~is_second).sum() + 1)
    coefficients, inverse = np.array([np.log(odds), 0.0]), np.eye(2)
    loss, gradient = compute_loss(coefficients), compute_gradient(coefficients)
    for _ in range(_MAX_STEPS):
        if np.abs(gradient).max() < tol:
            break
        step, loss = _search_line(compute_loss, coefficients, loss, gradient, -inverse @ gradient)
        coefficients = coefficients + step
        change = compute_gradient(coefficients) - gradient
        inverse, gradient = _update_inverse_hessian(inverse, step, change), gradient + change
    return coefficients


def _search_line(
    compute_loss: Callable[[FloatArray], float],
    start: FloatArray,
    loss: float,
    gradient: FloatArray,
    direction: FloatArray,
) -> tuple[FloatArray, float]:
    """Find a step with sufficient decrease by backtracking (Dennis & Schnabel 1983)."""
    slope, length, previous = float(gradient @ direction), 1.0, None
    while True:
        new_loss = compute_loss(start + length * direction)
        if new_loss <= loss + _SUFFICIENT_DECREASE * length * slope or length < 1e-10:
            return length * direction, new_loss
        excess = new_loss - loss - length * slope
        shorter = -slope * length**2 / (2 * excess) if previous is None else _minimize_cubic(slope, (length, excess), previous)
        previous = (length, excess)
        length = float(np.clip(shorter, 0.1 * length, 0.5 * length))


def _minimize_cubic(slope: float, current: tuple[float, float], previous: tuple[float, float]) -> float:
    """Minimize the cubic through the last two step lengths."""
    (a, a_excess), (b, b_excess) = current, previous
    cubic = (a_excess / a**2 - b_excess / b**2) / (a - b)
    quadratic = (a * b_excess / b**2 - b * a_excess / a**2) / (a - b)
    if cubic == 0:
        return -slope / (2 * quadratic)
    discriminant = quadratic**2 - 3 * cubic * slope
    if discriminant < 0:
        return 0.5 * a
    root = float(np.sqrt(discriminant))
    return (root - quadratic) / (3 * cubic) if quadratic <= 0 else -slope / (quadratic + root)


def _update_inverse_hessian(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Update the inverse Hessian after a step (BFGS)."""
    product = float(step @ change)
    if product <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    left = np.eye(2) - np.outer(step, change) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)
