"""The training and the test rows of a split under a condition: changed once, for every learner of that split alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairtrial._check import IntArray
from fairtrial.conditions import ClassNoise, ClassProportion, Clean, Condition, PriorShift, ScoreNoise, Sequence
from fairtrial.conditions.condition import Changed
from fairtrial.errors import InputError
from fairtrial.study.randomness import named_generator
from fairtrial.study.records import Rows
from fairtrial.study.trial.measuring import listening, told
from fairtrial.study.trial.trial_data import TrialData, matrix_of

# They look at the classes only, so that the table needs no names of columns.
_OF_CLASSES = (ClassNoise, ClassProportion, PriorShift)


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one part: their positions in the data set, their classes, and their table where it is another than there.

    `level` is the realised level of the condition and `changed` counts what it changed; None where it left the part alone.
    """

    rows: IntArray
    codes: IntArray
    changed_table: Any = None
    level: float | None = None
    changed: int | None = None

    def table(self, data: TrialData, among: IntArray | None = None) -> Any:
        """The table, or some rows of it, in a copy that whoever gets it may write to."""
        if self.changed_table is None:
            return data.rows(self.rows if among is None else self.rows[among])
        if among is None:
            return self.changed_table.copy()
        return getattr(self.changed_table, "iloc", self.changed_table)[among].copy()

    def finite(self, data: TrialData) -> bool:
        """Whether the table is of numbers only, without gaps and infinity."""
        if self.changed_table is None and data.finite:
            return True
        table = data.rows(self.rows) if self.changed_table is None else self.changed_table
        return isinstance(table, np.ndarray) and bool(np.isfinite(table).all())


@dataclass(frozen=True, eq=False)
class Parts:
    """Both parts of a split under a condition, the noise that scores are to get, and what was warned of."""

    train: Part
    test: Part
    score_noise: ScoreNoise | None
    notes: str | None


def parts_of(data: TrialData, rows: Rows, condition: Condition, seed: int) -> Parts:
    """The parts of a split as the condition leaves them; each part draws from a source of its own.

    >>> import fairtrial
    >>> rows = Rows(np.arange(0, 150, 2), np.arange(1, 150, 2), 0, 0)
    >>> parts = parts_of(TrialData.of(fairtrial.data.load("iris")), rows, ClassNoise(0.2), seed=1)
    >>> parts.train.changed, parts.train.level, parts.test.changed
    (15, 0.2, None)
    """
    _check_score_noise(condition)
    with listening() as caught:
        train = _part(data, rows.train, condition, "train", seed)
        test = _part(data, rows.test, condition, "test", seed)
    return Parts(train, test, condition if isinstance(condition, ScoreNoise) else None, told(caught))


def _part(data: TrialData, rows: IntArray, condition: Condition, part: Literal["train", "test"], seed: int) -> Part:
    change, codes = condition.on(part), data.codes[rows]
    if not len(rows):
        raise InputError(f"the {part} part of a split must have at least 1 row, got none: take another resampling")
    if isinstance(change, (Clean, ScoreNoise)):
        return Part(rows, codes)
    X, y = data.rows(rows), data.classes(codes)
    if type(change) not in _OF_CLASSES:
        X, y = data.named(X), _column(y)
    found = change.apply(X, y, named_generator(seed, part))
    if not len(found.rows):
        kept = f"at least 1 of the {len(rows)} rows of the {part} part"
        raise InputError(f"the condition {change!r} must leave {kept}, got none: take a lower level, or fewer folds")
    table = None if found.X is X and len(found.rows) == len(rows) else _table(found.X)
    return Part(rows[found.rows], _codes(found, data), table, found.level, int(np.count_nonzero(found.mask)))


def _column(y: Any) -> Any:
    import pandas as pd

    return pd.Series(y, name="class")


def _table(X: Any) -> Any:
    matrix = matrix_of(X)
    return X.set_axis(range(len(X)), axis=0) if matrix is None else matrix


def _codes(found: Changed, data: TrialData) -> IntArray:
    """The classes as places among the declared ones."""
    import pandas as pd

    y: Any = found.y.array if isinstance(found.y, pd.Series) else found.y
    same = isinstance(y, pd.Categorical) and y.categories is data.kind.categories
    column = y if same else pd.Categorical(np.asarray(y, dtype=object), categories=data.kind.categories)
    codes = np.asarray(column.codes, dtype=np.intp)
    if codes.min() < 0:
        new = np.asarray(y, dtype=object)[int(np.argmin(codes))]
        raise InputError(f"a condition must leave classes that the data set declares, got {new!r}: declare it by classes=")
    return codes


def _check_score_noise(condition: Condition) -> None:
    if isinstance(condition, ScoreNoise) and condition.part == "train":
        raise InputError("score noise must have part 'test', got 'train': there are no scores of training rows")
    if isinstance(condition, Sequence) and any(isinstance(each, ScoreNoise) for each in condition.steps):
        raise InputError("score noise must be a condition of its own in a study, got it within a sequence: declare it alone")
