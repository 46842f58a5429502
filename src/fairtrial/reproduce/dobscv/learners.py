"""Learners of the experiment: any learner with SMOTE, and Chi on scaled columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, IntArray, check_whole_number
from fairtrial.errors import InputError
from fairtrial.learners.prepared import Facts

_TOLERANCE = 1e-9  # for rounding errors of the scaling


def _has_method(method: str) -> Any:
    return lambda self: hasattr(self.learner, method)


class SmoteClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Balance the classes of the training set by SMOTE, then fit a learner.

    SMOTE works as in KEEL, which differs from imbalanced-learn. Columns are scaled by their range to compute distances. A copy
    of a case does not count as its neighbour. Each synthetic case starts from a case of the rare class. These cases are used in
    turn, in random order. If a case has too few neighbours, all of them are used. A nominal value is copied at random from
    either the case or its neighbour.

    >>> from fairtrial.learners import NearestNeighbours
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0], [7.0], [8.0]]), np.array(["a", "a", "b", "b", "b", "b"])
    >>> balanced = SmoteClassifier(NearestNeighbours(), random_state=1).fit(X, y)
    >>> balanced.n_synthetic_, balanced.predict([[2.0], [9.0]]).tolist()
    (2, ['a', 'b'])
    """

    fairtrial_facts: ClassVar[Facts] = Facts(nominal=True, missing=True, prepares=True)

    def __init__(self, learner: Any, *, neighbours: int = 5, random_state: Any = None) -> None:
        self.learner = learner
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SmoteClassifier:
        """Balance the classes and fit the learner."""
        import pandas as pd

        check_whole_number("neighbours", self.neighbours, 1)
        values, is_nominal = _to_matrix(X)
        labels = pd.Series(y).reset_index(drop=True)
        if hasattr(labels, "cat"):  # C4.5 would count a class without rows, such as that of abstentions
            labels = labels.cat.remove_unused_categories()
        classes, codes = np.unique(labels.to_numpy(), return_inverse=True)
        sizes = np.bincount(codes)
        if len(sizes) != 2:
            raise InputError(f"y must have 2 classes, got {classes.tolist()}: leave out this data set")
        rare = np.flatnonzero(codes == np.argmin(sizes))
        synthetic = make_synthetic_cases(
            values, is_nominal, rare, int(sizes.max() - sizes.min()), self.neighbours, self.random_state
        )
        self.n_synthetic_ = len(synthetic)
        balanced = labels.iloc[np.append(np.arange(len(labels)), np.full(self.n_synthetic_, rare[0]))].reset_index(drop=True)
        self.learner_ = clone(self.learner).fit(_append_rows(X, values, synthetic), balanced)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the learner's predictions."""
        return np.asarray(self.learner_.predict(X))

    @available_if(_has_method("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the learner's probabilities."""
        return np.asarray(self.learner_.predict_proba(X))

    @available_if(_has_method("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """Return the learner's decision values."""
        return np.asarray(self.learner_.decision_function(X))


def make_synthetic_cases(
    values: FloatArray, is_nominal: Any, rare: IntArray, n_cases: int, neighbours: int, seed: Any
) -> FloatArray:
    """Create synthetic cases between cases of the rare class and their nearest neighbours.

    The numeric values are those of a random point on the line segment between the two cases. A nominal value (a code) is copied
    at random from one of the two cases.

    >>> values, is_nominal = np.array([[0.0, 9.0], [1.0, 9.0], [8.0, 9.0]]), np.array([False, False])
    >>> cases = make_synthetic_cases(values, is_nominal, np.array([0, 1]), 3, 5, 1)
    >>> cases.shape, bool((cases[:, 0] > 0).all() and (cases[:, 0] < 1).all()), cases[:, 1].tolist()
    ((3, 2), True, [9.0, 9.0, 9.0])
    """
    rng = np.random.default_rng(seed)
    cases = values[rng.permutation(rare)]
    nearest, n_nearest = _find_neighbours(cases, np.ptp(values, axis=0), is_nominal, neighbours)
    first = np.arange(n_cases) % len(cases)
    second = nearest[first, (rng.random(n_cases) * n_nearest[first]).astype(np.intp)]
    between = cases[first] + rng.random((n_cases, 1)) * (cases[second] - cases[first])
    takes_first = rng.random((n_cases, len(is_nominal))) < 0.5
    return np.asarray(np.where(is_nominal, np.where(takes_first, cases[first], cases[second]), between))


def _find_neighbours(cases: FloatArray, ranges: FloatArray, is_nominal: Any, neighbours: int) -> tuple[IntArray, IntArray]:
    """Find the nearest neighbours of each case, and count them.

    Identical cases do not count as neighbours. A case that has no neighbour is its own neighbour.
    """
    distances = np.zeros((len(cases), len(cases)))
    for column in range(cases.shape[1]):
        difference = cases[:, None, column] - cases[None, :, column]
        distances += (difference != 0) if is_nominal[column] else (difference / (ranges[column] or 1.0)) ** 2
    n_nearest = np.minimum((distances > 0).sum(axis=1), neighbours)
    order = np.argsort(np.where(distances > 0, distances, np.inf), axis=1, kind="stable")[:, :neighbours]
    return np.where(n_nearest[:, None] > 0, order, np.arange(len(cases))[:, None]), np.maximum(n_nearest, 1)


def _to_matrix(X: Any) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Return a matrix with codes for nominal values, and a mask of the nominal columns."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        is_nominal = np.array([isinstance(dtype, pd.CategoricalDtype) for dtype in X.dtypes])
        columns = [X[name].cat.codes if nominal else X[name] for name, nominal in zip(X, is_nominal, strict=True)]
        values = np.column_stack([column.to_numpy(dtype=np.float64) for column in columns])
    else:
        values = np.asarray(X, dtype=np.float64)
        is_nominal = np.zeros(values.shape[1], dtype=bool)
    if np.isnan(values).any() or (values[:, is_nominal] < 0).any():
        raise InputError("X must not contain missing values: drop these rows or impute the values")
    return values, is_nominal


def _append_rows(X: Any, values: FloatArray, synthetic: FloatArray) -> Any:
    """Append the synthetic rows, and keep the column types of a frame."""
    import pandas as pd

    rows = np.vstack([values, synthetic])
    if not isinstance(X, pd.DataFrame):
        return rows
    columns: dict[Any, Any] = {}
    for index, (name, dtype) in enumerate(X.dtypes.items()):
        is_nominal = isinstance(dtype, pd.CategoricalDtype)
        columns[name] = pd.Categorical.from_codes(rows[:, index].astype(int), dtype=dtype) if is_nominal else rows[:, index]
    return pd.DataFrame(columns)


class UnitChi(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`fairtrial.learners.Chi` with the range 0..1 for every numeric column.

    A study uses one learner for all data sets, but `Chi` takes ranges by column name. Therefore the data sets are scaled by
    their declared ranges, and this learner uses 0..1 for all columns.

    >>> X, y = [[0.1], [0.2], [0.6], [0.7]], ["a", "a", "b", "b"]
    >>> UnitChi().fit(X, y).predict([[0.0], [0.65], [1.0]]).tolist()
    ['a', 'b', '?']
    """

    def __init__(self, labels: int = 5) -> None:
        self.labels = labels

    def fit(self, X: Any, y: Any) -> UnitChi:
        """Derive the rules from the training rows."""
        import pandas as pd

        from fairtrial.learners import Chi

        is_frame = isinstance(X, pd.DataFrame)
        frame = X if is_frame else pd.DataFrame(np.asarray(X, dtype=np.float64)).add_prefix("x")  # Chi's column names
        numeric = [name for name, dtype in frame.dtypes.items() if not isinstance(dtype, pd.CategoricalDtype)]
        numbers = frame[numeric].to_numpy()
        if numbers.min(initial=0) < -_TOLERANCE or numbers.max(initial=0) > 1 + _TOLERANCE:
            observed = f"{numbers.min():.4g} to {numbers.max():.4g}"
            raise InputError(
                f"X must lie between 0 and 1, got {observed}: scale the columns by their declared ranges, or use chi"
            )
        self.learner_ = Chi(self.labels, ranges={str(name): (0.0, 1.0) for name in numeric}).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of the winning rule, or `?` if no rule fires."""
        return np.asarray(self.learner_.predict(X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the normalized matching degree of the second class minus that of the first."""
        return np.asarray(self.learner_.decision_function(X))
