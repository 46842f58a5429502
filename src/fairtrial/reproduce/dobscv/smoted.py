"""Any learner on training rows that SMOTE balanced, as the software of the paper's authors makes new cases."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from fairtrial._check import FloatArray, IntArray, check_whole_number
from fairtrial.errors import InputError
from fairtrial.learners.prepared import Facts


def _can(method: str) -> Any:
    return lambda self: hasattr(self.learner, method)


class Smoted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A learner that sees as many cases of the rarer class as of the other: the missing ones are made by SMOTE.

    KEEL's habits, which imbalanced-learn's SMOTE does not have: neighbours are found among values in parts of their range, a
    copy of a case is no neighbour of it, and the rare cases take turns in a random order. Where a case has fewer neighbours
    than asked for, those that it has are used; a nominal value is that of either parent by the flip of a coin.

    >>> from fairtrial.learners import NearestNeighbours
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0], [7.0], [8.0]]), np.array(["a", "a", "b", "b", "b", "b"])
    >>> balanced = Smoted(NearestNeighbours(), random_state=1).fit(X, y)
    >>> balanced.made_, balanced.predict([[2.0], [9.0]]).tolist()
    (2, ['a', 'b'])
    """

    fairtrial_facts: ClassVar[Facts] = Facts(nominal=True, missing=True, prepares=True)

    def __init__(self, learner: Any, *, neighbours: int = 5, random_state: Any = None) -> None:
        self.learner = learner
        self.neighbours = neighbours
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Smoted:
        """Make the missing cases and let the learner learn."""
        import pandas as pd

        check_whole_number("neighbours", self.neighbours, 1)
        values, nominal = _matrix(X)
        labels = _present(pd.Series(y).reset_index(drop=True))
        classes, place = np.unique(labels.to_numpy(), return_inverse=True)
        sizes = np.bincount(place)
        if len(sizes) != 2:
            raise InputError(f"y must have 2 classes to be balanced, got {classes.tolist()}: leave the set out")
        rare = np.flatnonzero(place == np.argmin(sizes))
        new = synthetic(values, nominal, rare, int(sizes.max() - sizes.min()), self.neighbours, self.random_state)
        self.made_ = len(new)
        answers = labels.iloc[np.append(np.arange(len(labels)), np.full(self.made_, rare[0]))].reset_index(drop=True)
        self.learner_ = clone(self.learner).fit(_with(X, values, new), answers)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The learner's predictions."""
        return np.asarray(self.learner_.predict(X))

    @available_if(_can("predict_proba"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def predict_proba(self, X: Any) -> FloatArray:
        """The learner's probabilities."""
        return np.asarray(self.learner_.predict_proba(X))

    @available_if(_can("decision_function"))  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def decision_function(self, X: Any) -> FloatArray:
        """The learner's decision values."""
        return np.asarray(self.learner_.decision_function(X))


def synthetic(values: FloatArray, nominal: Any, rare: IntArray, wanted: int, neighbours: int, seed: Any) -> FloatArray:
    """New cases, each on the line between a rare case and one of its nearest; nominal columns (a mask) hold codes.

    >>> made = synthetic(np.array([[0.0, 9.0], [1.0, 9.0], [8.0, 9.0]]), np.array([False, False]), np.array([0, 1]), 3, 5, 1)
    >>> made.shape, bool((made[:, 0] > 0).all() and (made[:, 0] < 1).all()), made[:, 1].tolist()
    ((3, 2), True, [9.0, 9.0, 9.0])
    """
    rng = np.random.default_rng(seed)
    cases = values[rng.permutation(rare)]
    near, known = _nearest(cases, np.ptp(values, axis=0), nominal, neighbours)
    first = np.arange(wanted) % len(cases)
    second = near[first, (rng.random(wanted) * known[first]).astype(np.intp)]
    made = cases[first] + rng.random((wanted, 1)) * (cases[second] - cases[first])
    coin = rng.random((wanted, len(nominal))) < 0.5
    return np.asarray(np.where(nominal, np.where(coin, cases[first], cases[second]), made))


def _nearest(cases: FloatArray, span: FloatArray, nominal: Any, neighbours: int) -> tuple[IntArray, IntArray]:
    """The nearest others of each case, copies left out, and how many there are; a case that has none is its own neighbour."""
    apart = np.zeros((len(cases), len(cases)))
    for column in range(cases.shape[1]):
        difference = cases[:, None, column] - cases[None, :, column]
        apart += (difference != 0) if nominal[column] else (difference / (span[column] or 1.0)) ** 2
    known = np.minimum((apart > 0).sum(axis=1), neighbours)
    order = np.argsort(np.where(apart > 0, apart, np.inf), axis=1, kind="stable")[:, :neighbours]
    return np.where(known[:, None] > 0, order, np.arange(len(cases))[:, None]), np.maximum(known, 1)


def _present(labels: Any) -> Any:
    """Labels that declare no class without rows: C4.5 would count it, and an abstention may be declared as one."""
    return labels.cat.remove_unused_categories() if hasattr(labels, "cat") else labels


def _matrix(X: Any) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Numbers as they are, nominal values as codes, and which columns are nominal."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        nominal = np.array([isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes])
        columns = [X[name].cat.codes if each else X[name] for name, each in zip(X, nominal, strict=True)]
        values = np.column_stack([each.to_numpy(dtype=np.float64) for each in columns])
    else:
        values = np.asarray(X, dtype=np.float64)
        nominal = np.zeros(values.shape[1], dtype=bool)
    if np.isnan(values).any() or (values[:, nominal] < 0).any():
        raise InputError("X must have no missing values to be balanced, got some: drop those rows or fill the gaps")
    return values, nominal


def _with(X: Any, values: FloatArray, new: FloatArray) -> Any:
    """The rows and the new ones below them, as a frame of the same types where the rows are one."""
    import pandas as pd

    rows = np.vstack([values, new])
    if not isinstance(X, pd.DataFrame):
        return rows
    made: dict[Any, Any] = {}
    for place, (name, kind) in enumerate(X.dtypes.items()):
        typed = isinstance(kind, pd.CategoricalDtype)
        made[name] = pd.Categorical.from_codes(rows[:, place].astype(int), dtype=kind) if typed else rows[:, place]
    return pd.DataFrame(made)
