"""The confusion table: the sufficient statistic of all measures on predicted labels."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class Cells(NamedTuple):
    """The four cells of one class against the rest; arrays whose last axis is the class."""

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Confusion:
    """Weights of (true class, predicted class): rows are the truth, columns the prediction.

    A leading axis holds a batch of tables. Tables of the same classes add up, so parts may be counted by different workers.

    >>> table = Confusion.from_labels(["no", "no", "yes"], ["no", "yes", "yes"])
    >>> print(table)
          predicted
    true   no  yes
    no      1    1
    yes     0    1
    >>> (table + table).total
    6.0
    """

    table: FloatArray
    labels: tuple[Any, ...] = ()
    positive: int | None = None

    def __post_init__(self) -> None:
        table = _check.check_numbers("table", self.table)
        if table.ndim < 2 or table.shape[-1] != table.shape[-2]:
            raise InputError(f"a confusion table must be square, got shape {table.shape}")
        if not ((table >= 0) & np.isfinite(table)).all():
            raise InputError("a confusion table must hold finite counts that are not negative")
        labels = tuple(self.labels) or tuple(range(table.shape[-1]))
        if len(labels) != table.shape[-1]:
            raise InputError(f"labels must name the {table.shape[-1]} classes of the table, got {len(labels)}")
        if self.positive is not None and not 0 <= self.positive < len(labels):
            raise InputError(f"positive must be the place of one of the {len(labels)} classes, got {self.positive}")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "labels", labels)
        if self.positive is None and len(labels) == 2:
            object.__setattr__(self, "positive", 1)

    @classmethod
    def from_labels(
        cls,
        y_true: npt.ArrayLike,
        y_pred: npt.ArrayLike,
        *,
        positive: object = None,
        labels: Any = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> Confusion:
        """Count two label columns."""
        from fairtrial.measures.rows import LabelRows

        return LabelRows.read(y_true, y_pred, positive=positive, labels=labels, sample_weight=sample_weight).confusion()

    def __add__(self, addend: Confusion) -> Confusion:
        if self.labels != addend.labels or self.positive != addend.positive:
            raise InputError(f"only tables of the same classes add up, got {self.labels} and {addend.labels}")
        return Confusion(self.table + addend.table, self.labels, self.positive)

    @property
    def total(self) -> Any:
        """Weight of all rows."""
        total = self.true.sum(axis=-1)
        return float(total) if total.ndim == 0 else total

    @property
    def true(self) -> FloatArray:
        """Weight of each true class."""
        return np.asarray(self.table.sum(axis=-1))

    @property
    def predicted(self) -> FloatArray:
        """Weight of each predicted class."""
        return np.asarray(self.table.sum(axis=-2))

    @property
    def hits(self) -> FloatArray:
        """The diagonal."""
        return np.diagonal(self.table, axis1=-2, axis2=-1)

    @property
    def cells(self) -> Cells:
        """Each class against the rest."""
        # Sums alone, no differences: with fractional weights a cell that is empty must come out as zero exactly.
        others = 1 - np.eye(len(self.labels))
        outside = others @ self.table
        fp = np.diagonal(outside, axis1=-2, axis2=-1)
        return Cells(self.hits, fp, (self.table * others).sum(axis=-1), (outside * others).sum(axis=-1))

    def frame(self) -> pd.DataFrame:
        """The table with its labels; only for a single table."""
        import pandas as pd

        if self.table.ndim > 2:
            raise InputError("a batch of tables has no single frame: take one of its tables")
        names = [str(label) for label in self.labels]
        return pd.DataFrame(self.table, index=pd.Index(names, name="true"), columns=pd.Index(names, name="predicted"))

    def __str__(self) -> str:
        names = [str(label) for label in self.labels]
        if self.table.ndim > 2:
            return f"Confusion of {self.table.shape[:-2]} tables over {', '.join(names)}"
        first = max(len(name) for name in [*names, "true"])
        cells = [[f"{value:g}" for value in row] for row in self.table]
        width = max(len(text) for text in [*names, *(text for row in cells for text in row)]) + 2
        lines = [" " * first + "  predicted", "true".ljust(first) + "".join(name.rjust(width) for name in names)]
        lines += [
            name.ljust(first) + "".join(text.rjust(width) for text in row) for name, row in zip(names, cells, strict=True)
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.frame().to_html() if self.table.ndim == 2 else escape(str(self))
