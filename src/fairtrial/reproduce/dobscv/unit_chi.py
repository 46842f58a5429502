"""Chi's fuzzy rules on columns that were scaled to 0..1 by their declared ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from fairtrial._check import FloatArray
from fairtrial.errors import InputError

_ROUNDING = 1e-9


class UnitChi(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`fairtrial.learners.Chi` whose fuzzy labels lie over 0..1 in every numeric column, whatever the training rows show.

    A learner of a study is the same for all data sets, while ranges are declared by the names of columns. So the data sets are
    scaled by their declared ranges, and this learner takes 0..1 as the range of all.

    >>> X, y = [[0.1], [0.2], [0.6], [0.7]], ["a", "a", "b", "b"]
    >>> UnitChi().fit(X, y).predict([[0.0], [0.65], [1.0]]).tolist()
    ['a', 'b', '?']
    """

    def __init__(self, labels: int = 5) -> None:
        self.labels = labels

    def fit(self, X: Any, y: Any) -> UnitChi:
        """Make the rules of the training rows."""
        import pandas as pd

        from fairtrial.learners import Chi

        table = (
            X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X, dtype=np.float64)).add_prefix("x")
        )  # as Chi calls them
        numeric = [name for name, kind in table.dtypes.items() if not isinstance(kind, pd.CategoricalDtype)]
        numbers = table[numeric].to_numpy()
        if numbers.min(initial=0) < -_ROUNDING or numbers.max(initial=0) > 1 + _ROUNDING:
            got = f"{numbers.min():.4g} to {numbers.max():.4g}"
            raise InputError(f"X must lie within 0 and 1, got {got}: scale the columns by their declared ranges, or use chi")
        self.learner_ = Chi(self.labels, ranges={str(name): (0.0, 1.0) for name in numeric}).fit(X, y)
        self.classes_ = self.learner_.classes_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of the winning rule, or a label that is no class where none fires."""
        return np.asarray(self.learner_.predict(X))

    def decision_function(self, X: Any) -> FloatArray:
        """The share of the second class in the best degrees minus that of the first."""
        return np.asarray(self.learner_.decision_function(X))
