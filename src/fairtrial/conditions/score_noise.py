"""Score noise: every score is disturbed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import check_finite, check_numbers, check_one_of
from fairtrial.conditions.condition import Changed, Condition, Part, check_level, condition
from fairtrial.errors import InputError

_RULE = "X must hold one score for each case, in a vector (n,), or batches (B, n)"


@condition("score-noise")
@dataclass(frozen=True)
class ScoreNoise(Condition):
    """A number uniform on [-level, level] is added to every score: Berrar's probability noise.

    X holds one score for each case, in a vector (n,), or batches of them, one row for each repetition (B, n); of a table of
    class probabilities (n, k) pass the one column that counts. y, if given, is left as it is. `clip=True` keeps the scores
    between 0 and 1. The realised level is the largest change.

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
        """The disturbed scores. `rng` is a seed or a generator; X and y keep their types and are not written to."""
        shape = check_numbers("X", X).shape
        if y is not None and len(shape) == 2 and shape[0] == len(y) != shape[1]:
            raise InputError(
                f"{_RULE}, got shape {shape} for {len(y)} cases: pass the one column that counts, "
                f"{_describe_column_choice(X, shape[1])}"
            )
        return super().apply(X, y, rng)

    def _apply(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        scores = check_finite("X", check_numbers("X", X))
        rows = np.arange(scores.shape[-1])
        if self.level == 0:
            return Changed(X, y, np.zeros(scores.shape, dtype=bool), 0.0, rows)
        if self.clip and ((scores < 0) | (scores > 1)).any():
            raise InputError("X must hold scores between 0 and 1 to be clipped to them: pass clip=False")
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
    """The scores in the type of those that came in; whole numbers become floats."""
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
    """How to write one column of a table of k."""
    table = "X.iloc" if hasattr(X, "iloc") else "np.asarray(X)" if isinstance(X, (list, tuple)) else "X"
    return f"{table}[:, 0]" if k == 1 else f"such as {table}[:, 1] for the second class, or batches as X.T"
