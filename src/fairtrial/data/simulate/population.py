"""What all populations share: they can be drawn from at will, and the best possible rule for them is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fairtrial._check import FloatArray, IntArray, check_generator, check_whole_number
from fairtrial._frames import as_frame
from fairtrial.data.dataset import Dataset
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class BestError:
    """The error of the Bayes rule, how far off the number may be, and where it comes from.

    Of a Monte Carlo estimate the accuracy is three standard errors.
    """

    value: float
    accuracy: float
    method: str

    def __str__(self) -> str:
        margin = f" +- {self.accuracy:.1g}" if self.accuracy else ""
        return f"Bayes error {self.value:.5f}{margin} ({self.method})"


@dataclass(frozen=True)
class Population:
    """A distribution of rows and classes. A subclass supplies `classes`, `_draw`, `_compute_posterior` and `best_error`."""

    name: ClassVar[str] = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes, in order."""
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[Any, IntArray]:
        """A table of n rows and the code of the class of each."""
        raise NotImplementedError

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        """The probability of each class for each row."""
        raise NotImplementedError

    def best_error(self) -> BestError:
        """The smallest error that any rule can have, with its accuracy."""
        raise NotImplementedError

    @property
    def bayes_error(self) -> float:
        """The smallest error that any rule can have: that of the Bayes rule."""
        return self.best_error().value

    def sample(self, n: int, rng: Any = None) -> tuple[pd.DataFrame, pd.Series[Any]]:
        """n independent rows and their classes. `rng` is a seed or a generator."""
        table, codes = self._draw(check_whole_number("n", n, 1), check_generator("rng", rng))
        return _to_frame(table), self._label_codes(codes)

    def dataset(self, n: int, seed: int = 0) -> Dataset:
        """n independent rows as a data set."""
        X, y = self.sample(n, seed)
        return Dataset.from_table(X, y, name=self.name, source=f"{self!r}, seed {seed}")

    def bayes_probabilities(self, X: Any) -> FloatArray:
        """The true probability of each class for each row of X: a row for each row, a column for each class."""
        return self._compute_posterior(as_frame(X))

    def bayes_labels(self, X: Any) -> pd.Series[Any]:
        """What the best possible rule says for each row of X."""
        return self._label_codes(self.bayes_probabilities(X).argmax(axis=1))

    def _label_codes(self, codes: Any) -> pd.Series[Any]:
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(self.classes)), name="class")


def check_numeric_table(frame: pd.DataFrame, attributes: int) -> FloatArray:
    """The values of a table of numbers with so many columns."""
    if frame.shape[1] != attributes:
        raise InputError(f"X must have the {attributes} columns of the population, got {frame.shape[1]}")
    return frame.to_numpy(dtype=np.float64)


def _to_frame(table: Any) -> pd.DataFrame:
    """A matrix with columns x1, x2, ...; a frame as it is."""
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    return pd.DataFrame(table, columns=[f"x{j + 1}" for j in range(table.shape[1])])
