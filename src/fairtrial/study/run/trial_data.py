"""Data of a trial: the data set in the form that learners need, and the training and test sets under a condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.conditions import ClassNoise, ClassProportion, Clean, Condition, PriorShift, ScoreNoise, Sequence, TrainSize
from fairtrial.conditions.condition import Changed
from fairtrial.errors import InputError
from fairtrial.study.randomness import derive_generator
from fairtrial.study.records import SplitRows
from fairtrial.study.run.diagnostics import format_notes, record_warnings

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

# These conditions use only the classes, so the table needs no column names.
_CLASS_CONDITIONS = (ClassNoise, ClassProportion, PriorShift, TrainSize)
_NAMES = {"train": "training", "test": "test"}


@dataclass(frozen=True, eq=False)
class TrialData:
    """A data set with class codes. The columns form a matrix if all of them are numeric, and a data frame otherwise.

    `labels` contains the declared classes, and class codes are indices of `labels`. `finite` is True if all columns are numeric
    and all numbers are finite.

    >>> import fairtrial
    >>> data = TrialData.from_dataset(fairtrial.data.load("iris"))
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
    groups: IntArray | None = None
    time: FloatArray | None = None

    @classmethod
    def from_dataset(cls, dataset: Dataset) -> TrialData:
        """Convert a data set to the form that learners need."""
        frame, label = dataset.X, dataset.y
        matrix = _to_matrix(frame)
        codes = label.cat.codes.to_numpy().astype(np.intp)
        finite = matrix is not None and bool(np.isfinite(matrix).all())
        kept_frame = frame if matrix is None else None
        labels = _build_label_array(label.dtype)  # type: ignore[arg-type]
        groups = None if dataset.groups is None else dataset.groups.cat.codes.to_numpy(dtype=np.intp)
        time = None if dataset.time is None else dataset.time.to_numpy(dtype=np.float64)
        return cls(tuple(frame.columns), matrix, kept_frame, codes, label.dtype, labels, finite, groups, time)  # type: ignore[arg-type]

    def take_rows(self, positions: IntArray) -> Any:
        """Take rows as a new matrix, or as a new data frame with a range index."""
        if self.matrix is not None:
            return self.matrix.take(positions, axis=0)
        assert self.frame is not None
        selected = self.frame.iloc[positions]
        if len(positions) == len(self.frame):  # pandas does not copy if all rows are taken
            selected = selected.copy()
        return selected.set_axis(range(len(positions)), axis=0)

    def to_frame(self, X: Any) -> pd.DataFrame:
        """Convert a matrix to a data frame with column names."""
        import pandas as pd

        return pd.DataFrame(X, columns=list(self.columns)) if isinstance(X, np.ndarray) else X

    def to_categorical(self, codes: IntArray) -> pd.Categorical[Any]:
        """Convert codes to a pandas categorical with all declared classes."""
        import pandas as pd

        return pd.Categorical.from_codes(codes, dtype=self.kind, validate=False)


@dataclass(frozen=True, eq=False)
class TrialRows:
    """A training or test set: indices of its rows in the data set, and their class codes.

    `changed_table` is the table that the condition produced, or None if the condition left the table unchanged.
    `level` is the realized level of the condition. `changed` is the number of cells or rows that the condition changed or
    removed. Both values are None if the condition was not applied.
    """

    rows: IntArray
    codes: IntArray
    changed_table: Any = None
    level: float | None = None
    changed: int | None = None

    def take_table(self, data: TrialData, positions: IntArray | None = None) -> Any:
        """Return a copy of the table, or of some of its rows."""
        if self.changed_table is None:
            return data.take_rows(self.rows if positions is None else self.rows[positions])
        if positions is None:
            return self.changed_table.copy()
        return getattr(self.changed_table, "iloc", self.changed_table)[positions].copy()

    def is_finite(self, data: TrialData) -> bool:
        """Return whether the table contains only finite numbers."""
        if self.changed_table is None and data.finite:
            return True
        table = data.take_rows(self.rows) if self.changed_table is None else self.changed_table
        return isinstance(table, np.ndarray) and bool(np.isfinite(table).all())


@dataclass(frozen=True, eq=False)
class TrialSplit:
    """The training and test sets of a split under a condition, the score noise to add, and warnings."""

    train: TrialRows
    test: TrialRows
    score_noise: ScoreNoise | None
    notes: str | None


def apply_condition(data: TrialData, rows: SplitRows, condition: Condition, seed: int) -> TrialSplit:
    """Apply a condition to the training and test sets of a split. Random numbers are drawn separately for each set.

    >>> import fairtrial
    >>> rows = SplitRows(np.arange(0, 150, 2), np.arange(1, 150, 2), 0, 0)
    >>> parts = apply_condition(TrialData.from_dataset(fairtrial.data.load("iris")), rows, ClassNoise(0.2), seed=1)
    >>> parts.train.changed, parts.train.level, parts.test.changed
    (15, 0.2, None)
    """
    _check_score_noise(condition)
    with record_warnings() as caught:
        train = _apply_to_rows(data, rows.train, condition, "train", seed)
        test = _apply_to_rows(data, rows.test, condition, "test", seed)
    return TrialSplit(train, test, condition if isinstance(condition, ScoreNoise) else None, format_notes(caught))


def _apply_to_rows(
    data: TrialData, rows: IntArray, condition: Condition, part: Literal["train", "test"], seed: int
) -> TrialRows:
    change, codes = condition.limit_to(part), data.codes[rows]
    if not len(rows):
        raise InputError(f"the {_NAMES[part]} set of a split must have at least 1 row, got none: choose another resampling")
    if isinstance(change, (Clean, ScoreNoise)):
        return TrialRows(rows, codes)
    X, y = data.take_rows(rows), data.to_categorical(codes)
    if type(change) not in _CLASS_CONDITIONS:
        X, y = data.to_frame(X), _to_class_series(y)
    changed = change.apply(X, y, derive_generator(seed, part))
    if not len(changed.rows):
        requirement = f"at least 1 of the {len(rows)} rows of the {_NAMES[part]} set"
        raise InputError(f"the condition {change!r} must keep {requirement}, got none: choose a lower level or fewer folds")
    table = None if changed.X is X and len(changed.rows) == len(rows) else _to_table(changed.X)
    return TrialRows(
        rows[changed.rows], _encode_classes(changed, data), table, changed.level, int(np.count_nonzero(changed.mask))
    )


def _to_class_series(y: Any) -> Any:
    import pandas as pd

    return pd.Series(y, name="class")


def _to_table(X: Any) -> Any:
    matrix = _to_matrix(X)
    return X.set_axis(range(len(X)), axis=0) if matrix is None else matrix


def _encode_classes(changed: Changed, data: TrialData) -> IntArray:
    """Encode classes as indices of the declared classes."""
    import pandas as pd

    y: Any = changed.y.array if isinstance(changed.y, pd.Series) else changed.y
    same = isinstance(y, pd.Categorical) and y.categories is data.kind.categories
    column = y if same else pd.Categorical(np.asarray(y, dtype=object), categories=data.kind.categories)
    codes = np.asarray(column.codes, dtype=np.intp)
    if codes.min() < 0:
        new = np.asarray(y, dtype=object)[int(np.argmin(codes))]
        raise InputError(f"a condition must return declared classes of the data set, got {new!r}: declare it with classes=")
    return codes


def _check_score_noise(condition: Condition) -> None:
    if isinstance(condition, ScoreNoise) and condition.part == "train":
        raise InputError("score noise must have part 'test', got 'train': training rows have no scores")
    if isinstance(condition, Sequence) and any(isinstance(step, ScoreNoise) for step in condition.steps):
        raise InputError("score noise must not be part of a sequence in a study: declare it as a separate condition")


def _to_matrix(X: Any) -> FloatArray | None:
    """Convert a table of numbers to a contiguous matrix. Return None if the table contains nominal columns."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float64) if X.dtype.kind in "fiu" else None
    if not all(isinstance(kind, np.dtype) and kind.kind in "fiu" for kind in X.dtypes):
        return None
    return np.ascontiguousarray(X.to_numpy(dtype=np.float64))


def _build_label_array(kind: pd.CategoricalDtype[Any]) -> npt.NDArray[Any]:
    """Build an array of the declared classes. Text labels get a NumPy text type, which sorts faster than objects."""
    declared = list(kind.categories)
    labels = np.array(declared)
    if labels.shape == (len(declared),) and labels.dtype.kind in "iubU" and labels.tolist() == declared:
        return labels
    objects = np.empty(len(declared), dtype=object)
    objects[:] = declared
    return objects
