"""The base class of simulated populations: distributions with known class probabilities and a known Bayes error."""

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
    """The error rate of the Bayes classifier and its numerical accuracy.

    Attributes
    ----------
    value : float
        Error rate, from 0 to 1.
    accuracy : float
        Numerical uncertainty of `value`: 0 for a closed-form result, three standard errors for a Monte Carlo estimate.
    method : str
        How the value was computed.

    Examples
    --------
    >>> print(BestError(0.15866, 0.0, "closed form"))
    Bayes error 0.15866 (closed form)
    """

    value: float
    accuracy: float
    method: str

    def __str__(self) -> str:
        margin = f" +- {self.accuracy:.1g}" if self.accuracy else ""
        return f"Bayes error {self.value:.5f}{margin} ({self.method})"


@dataclass(frozen=True)
class Population:
    """Base class for joint distributions of attributes and classes.

    A subclass defines `classes`, `_draw`, `_compute_posterior` and `best_error`.

    Examples
    --------
    >>> from fairtrial.data.simulate import Twonorm
    >>> isinstance(Twonorm(), Population), Twonorm().classes
    (True, ('1', '2'))
    """

    name: ClassVar[str] = ""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes in order."""
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[Any, IntArray]:
        """Draw n rows and their class codes."""
        raise NotImplementedError

    def _compute_posterior(self, frame: pd.DataFrame) -> FloatArray:
        """Compute the probability of each class for each row."""
        raise NotImplementedError

    def best_error(self) -> BestError:
        """Compute the error rate of the Bayes classifier and its numerical accuracy."""
        raise NotImplementedError

    @property
    def bayes_error(self) -> float:
        """The error rate of the Bayes classifier, which is the smallest possible error rate."""
        return self.best_error().value

    def sample(self, n: int, rng: Any = None) -> tuple[pd.DataFrame, pd.Series[Any]]:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        X : pandas.DataFrame
            Attributes.
        y : pandas.Series
            Class of each row, as a categorical column.
        """
        table, codes = self._draw(check_whole_number("n", n, 1), check_generator("rng", rng))
        return _to_frame(table), self._label_codes(codes)

    def dataset(self, n: int, seed: int = 0) -> Dataset:
        """Draw independent rows and return them as a data set.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int, default 0
            Seed of the random numbers.

        Returns
        -------
        Dataset
        """
        X, y = self.sample(n, seed)
        return Dataset.from_table(X, y, name=self.name, source=f"{self!r}, seed {seed}")

    def bayes_probabilities(self, X: Any) -> FloatArray:
        """Compute the true class probabilities of each row.

        Parameters
        ----------
        X : dataframe or 2-D array
            Attributes.

        Returns
        -------
        ndarray of shape (n, k)
            Probabilities, with one column per class.
        """
        return self._compute_posterior(as_frame(X))

    def bayes_labels(self, X: Any) -> pd.Series[Any]:
        """Predict the class of each row with the Bayes classifier.

        Parameters
        ----------
        X : dataframe or 2-D array
            Attributes.

        Returns
        -------
        pandas.Series
        """
        return self._label_codes(self.bayes_probabilities(X).argmax(axis=1))

    def _label_codes(self, codes: Any) -> pd.Series[Any]:
        import pandas as pd

        return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(self.classes)), name="class")


def check_numeric_table(frame: pd.DataFrame, attributes: int) -> FloatArray:
    """Check the number of columns of a numeric table, and return its values."""
    if frame.shape[1] != attributes:
        raise InputError(f"X must have {attributes} columns like the population, got {frame.shape[1]}")
    return frame.to_numpy(dtype=np.float64)


def _to_frame(table: Any) -> pd.DataFrame:
    """Convert a matrix to a data frame with columns x1, x2, and so on. Return a data frame unchanged."""
    import pandas as pd

    if isinstance(table, pd.DataFrame):
        return table
    return pd.DataFrame(table, columns=[f"x{j + 1}" for j in range(table.shape[1])])
