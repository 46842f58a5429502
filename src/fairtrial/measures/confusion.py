"""The confusion table: the sufficient statistic for all measures of predicted labels."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._text import format_html_table, join_names
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


class Cells(NamedTuple):
    """Counts of true and false positives and negatives for each class against the rest.

    Attributes
    ----------
    tp, fp, fn, tn : ndarray
        True positives, false positives, false negatives and true negatives, with one entry per class on the last axis.

    Examples
    --------
    >>> Confusion([[3, 1], [0, 2]]).cells.fp.tolist()
    [0.0, 1.0]
    """

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Confusion:
    """A confusion table: rows are true classes, columns are predicted classes.

    Tables with the same classes can be added, so different workers can count different rows.

    Parameters
    ----------
    table : array-like of shape (k, k) or (batch, k, k)
        Counts or sums of weights. A three-dimensional array is a batch of tables.
    labels : tuple, optional
        Classes. Default: 0, 1, ...
    positive : int, optional
        Index of the positive class. Default: 1 if there are two classes.

    Examples
    --------
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
            raise InputError(f"table must be square, got shape {table.shape}")
        if not ((table >= 0) & np.isfinite(table)).all():
            raise InputError("table must contain finite counts of at least 0")
        labels = tuple(self.labels) or tuple(range(table.shape[-1]))
        if len(labels) != table.shape[-1]:
            raise InputError(
                f"labels must have one entry for each of the {table.shape[-1]} classes of the table, got {len(labels)}"
            )
        if self.positive is not None and not 0 <= self.positive < len(labels):
            raise InputError(f"positive must be the index of one of the {len(labels)} classes, got {self.positive}")
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
        """Build a confusion table from true and predicted labels.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n,)
            True and predicted labels.
        positive : label, optional
            Positive class. Default: the second class in sort order, if there are two classes.
        labels : list, optional
            All classes. Default: the classes in the data, sorted.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        Confusion
        """
        from fairtrial.measures.rows import LabelRows

        return LabelRows.read(y_true, y_pred, positive=positive, labels=labels, sample_weight=sample_weight).confusion()

    def __add__(self, addend: Confusion) -> Confusion:
        if self.labels != addend.labels or self.positive != addend.positive:
            raise InputError(f"tables must have the same classes to be added, got {self.labels} and {addend.labels}")
        return Confusion(self.table + addend.table, self.labels, self.positive)

    @property
    def total(self) -> Any:
        """The total weight of all rows."""
        total = self.true.sum(axis=-1)
        return float(total) if total.ndim == 0 else total

    @property
    def true(self) -> FloatArray:
        """The total weight of the rows of each true class."""
        return np.asarray(self.table.sum(axis=-1))

    @property
    def predicted(self) -> FloatArray:
        """The total weight of the rows of each predicted class."""
        return np.asarray(self.table.sum(axis=-2))

    @property
    def hits(self) -> FloatArray:
        """The total weight of the correctly predicted rows of each class."""
        return np.diagonal(self.table, axis1=-2, axis2=-1)

    @property
    def cells(self) -> Cells:
        """True and false positives and negatives for each class against the rest."""
        # Use sums only: with fractional weights, a difference would not be exactly zero for an empty cell.
        others = 1 - np.eye(len(self.labels))
        outside = others @ self.table
        fp = np.diagonal(outside, axis1=-2, axis2=-1)
        return Cells(self.hits, fp, (self.table * others).sum(axis=-1), (outside * others).sum(axis=-1))

    def frame(self) -> pd.DataFrame:
        """Return the table as a data frame labelled with the classes; batches are not supported."""
        import pandas as pd

        if self.table.ndim > 2:
            raise InputError("frame needs a single table, got a batch: select one table")
        names = [str(label) for label in self.labels]
        return pd.DataFrame(self.table, index=pd.Index(names, name="true"), columns=pd.Index(names, name="predicted"))

    def __str__(self) -> str:
        names = [str(label) for label in self.labels]
        if self.table.ndim > 2:
            return f"{self.table.shape[:-2]} confusion tables of the classes {join_names(names)}"
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
        return format_html_table(self.frame(), index=True) if self.table.ndim == 2 else escape(str(self))
