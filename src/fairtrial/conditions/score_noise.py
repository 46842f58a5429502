"""Score noise: add a random number to every score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import check_finite, check_numbers, check_one_of
from fairtrial.conditions.condition import Changed, Condition, Part, check_level, condition
from fairtrial.errors import InputError

_RULE = "X must contain one score per case: a vector of shape (n,), or batches of shape (B, n)"


@condition("score-noise")
@dataclass(frozen=True)
class ScoreNoise(Condition):
    """Score noise: add a uniform random number to every score.

    Berrar calls this probability noise. The numbers lie between -level and level. `X` contains scores: a vector with one score
    per case, or batches with one row per repetition. `y` does not change. The realized level is the largest absolute change.

    Parameters
    ----------
    level : float
        Largest possible change of a score, from 0 to 1.
    clip : bool, default False
        Whether to clip the scores to the interval from 0 to 1.
    part : {"train", "test", "all"}, default "test"
        Data that the condition changes: training set, test set, or both.

    Examples
    --------
    >>> changed = ScoreNoise(0.1).apply([0.2, 0.5, 0.9], rng=1)
    >>> [round(score, 3) for score in changed.X]
    [0.202, 0.59, 0.829]
    """

    level: float
    clip: bool = False
    part: Part = field(default="test", kw_only=True)

    def _check(self) -> None:
        check_level(self.level)
        check_one_of("clip", self.clip, [False, True])

    def _count_rows(self, X: Any) -> int:
        scores = check_numbers("X", X)
        if scores.ndim > 2:
            raise InputError(f"{_RULE}, got shape {scores.shape}")
        return scores.shape[-1] if scores.ndim else 0

    def apply(self, X: Any, y: Any = None, rng: Any = None) -> Changed:
        """Add noise to scores.

        Parameters
        ----------
        X : array-like of shape (n,) or (B, n)
            Scores, which are not modified.
        y : array-like, optional
            Class of each case, returned unchanged.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        Changed
        """
        shape = check_numbers("X", X).shape
        if y is not None and len(shape) == 2 and shape[0] == len(y) != shape[1]:
            raise InputError(
                f"{_RULE}, got shape {shape} for {len(y)} cases: pass the scores of one class, "
                f"{_describe_column_choice(X, shape[1])}"
            )
        return super().apply(X, y, rng)

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        scores = check_finite("X", check_numbers("X", X))
        rows = np.arange(scores.shape[-1])
        if self.level == 0:
            return Changed(X, y, np.zeros(scores.shape, dtype=bool), 0.0, rows)
        if self.clip and ((scores < 0) | (scores > 1)).any():
            raise InputError("X must contain scores between 0 and 1 if clip=True: pass clip=False")
        new = scores + rng.uniform(-self.level, self.level, size=scores.shape)
        if self.clip:
            new = np.clip(new, 0.0, 1.0)
        new_scores = _convert_like(X, new)
        stored_scores = check_numbers("X", new_scores)
        change = np.abs(stored_scores - scores)
        return Changed(new_scores, y, stored_scores != scores, float(change.max()), rows, scores.size)

    def _describe_change(self) -> str:
        return f"score noise up to {self.level:g}"


def _convert_like(X: Any, new: Any) -> Any:
    """Convert the new scores to the type of the original scores. Integers become floats."""
    if isinstance(X, (list, tuple)):
        return type(X)(new.tolist())
    if hasattr(X, "columns"):
        kinds = {index: _to_float_type(kind) for index, kind in enumerate(X.dtypes)}
        return type(X)(new, index=X.index).astype(kinds).set_axis(X.columns, axis=1)
    if hasattr(X, "iloc"):
        return type(X)(new, index=X.index, name=X.name).astype(_to_float_type(X.dtype))
    return new.astype(_to_float_type(X.dtype))


def _to_float_type(kind: Any) -> Any:
    return kind if kind.kind == "f" else np.dtype(np.float64)


def _describe_column_choice(X: Any, k: int) -> str:
    """Format example code that selects one of k columns."""
    table = "X.iloc" if hasattr(X, "iloc") else "np.asarray(X)" if isinstance(X, (list, tuple)) else "X"
    return f"{table}[:, 0]" if k == 1 else f"such as {table}[:, 1] for the second class, or batches as X.T"
