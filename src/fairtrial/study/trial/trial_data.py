"""A data set ready for trials: rows are picked fast, and each learner gets a copy of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset


@dataclass(frozen=True, eq=False)
class TrialData:
    """The columns as one matrix where all are numeric (`matrix`), else as a frame; the class of each row as a code.

    `labels` are the declared classes, and a code is a place among them; `finite`: the matrix has neither gaps nor infinity.

    >>> import fairtrial
    >>> data = TrialData.of(fairtrial.data.load("iris"))
    >>> data.columns[:2], data.labels.tolist(), data.codes[[0, 50, 100]].tolist(), data.finite
    (('sepal length (cm)', 'sepal width (cm)'), ['setosa', 'versicolor', 'virginica'], [0, 1, 2], True)
    """

    columns: tuple[Any, ...]
    matrix: FloatArray | None
    frame: pd.DataFrame | None
    codes: IntArray
    kind: pd.CategoricalDtype[Any]
    labels: npt.NDArray[Any]
    finite: bool

    @classmethod
    def of(cls, dataset: Dataset) -> TrialData:
        """The data of a data set."""
        frame, label = dataset.X, dataset.y
        matrix = matrix_of(frame)
        codes = label.cat.codes.to_numpy().astype(np.intp)
        finite = matrix is not None and bool(np.isfinite(matrix).all())
        kept = frame if matrix is None else None
        return cls(tuple(frame.columns), matrix, kept, codes, label.dtype, _labels(label.dtype), finite)  # type: ignore[arg-type]

    def rows(self, places: IntArray) -> Any:
        """The attributes of these rows, as a new matrix, or as a new frame whose rows count from 0."""
        if self.matrix is not None:
            return self.matrix.take(places, axis=0)
        assert self.frame is not None
        picked = self.frame.iloc[places]
        if len(places) == len(self.frame):  # pandas copies nothing where all rows are asked for in order
            picked = picked.copy()
        return picked.set_axis(range(len(places)), axis=0)

    def named(self, X: Any) -> pd.DataFrame:
        """A table with the names of the columns."""
        import pandas as pd

        return pd.DataFrame(X, columns=list(self.columns)) if isinstance(X, np.ndarray) else X

    def classes(self, codes: IntArray) -> pd.Categorical[Any]:
        """These codes as a pandas category that declares all classes."""
        import pandas as pd

        return pd.Categorical.from_codes(codes, dtype=self.kind, validate=False)


def matrix_of(X: Any) -> FloatArray | None:
    """A table of numbers as one matrix, row after row in memory; None where it has nominal columns."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float64) if X.dtype.kind in "fiu" else None
    if not all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in X.dtypes):
        return None
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64))


def _labels(kind: pd.CategoricalDtype[Any]) -> npt.NDArray[Any]:
    """The declared classes in an array: text in one of text, which learners sort faster than objects."""
    declared = list(kind.categories)
    labels = np.array(declared)
    if labels.shape == (len(declared),) and labels.dtype.kind in "iubU" and labels.tolist() == declared:
        return labels
    objects = np.empty(len(declared), dtype=object)
    objects[:] = declared
    return objects
