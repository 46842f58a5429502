"""Score noise: every score is disturbed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairtrial._check import finite, numbers, one_of
from fairtrial.conditions.condition import Changed, Condition, Part, check_level, condition
from fairtrial.errors import InputError


@condition("score-noise")
@dataclass(frozen=True)
class ScoreNoise(Condition):
    """A number uniform on [-level, level] is added to every score: Berrar's probability noise.

    X holds scores: a column (n,), or one row for each repetition (B, n). y, if given, is left as it is. `clip=True` keeps the
    scores between 0 and 1. The realised level is the largest change.

    >>> changed = ScoreNoise(0.1).apply([0.2, 0.5, 0.9], rng=1)
    >>> [round(score, 3) for score in changed.X]
    [0.202, 0.59, 0.829]
    """

    level: float
    clip: bool = False
    part: Part = field(default="test", kw_only=True)

    def _check(self) -> None:
        check_level(self.level)
        one_of("clip", self.clip, [False, True])

    def _size(self, X: Any) -> int:
        return int(np.shape(X)[-1]) if np.ndim(X) else 0

    def _change(self, X: Any, y: Any, rng: np.random.Generator) -> Changed:
        scores = finite("X", numbers("X", X))
        if scores.ndim > 2:
            raise InputError(f"X must hold scores in a column (n,) or in rows (B, n), got shape {scores.shape}")
        rows = np.arange(scores.shape[-1])
        if self.level == 0:
            return Changed(X, y, np.zeros(scores.shape, dtype=bool), 0.0, rows)
        if self.clip and ((scores < 0) | (scores > 1)).any():
            raise InputError("X must hold scores between 0 and 1 to be clipped to them: pass clip=False")
        new = scores + rng.uniform(-self.level, self.level, size=scores.shape)
        if self.clip:
            new = np.clip(new, 0.0, 1.0)
        given = _like(X, new)
        kept = numbers("X", given)
        change = np.abs(kept - scores)
        return Changed(given, y, kept != scores, float(change.max()), rows, scores.size)

    def _told(self) -> str:
        return f"score noise up to {self.level:g}"


def _like(X: Any, new: Any) -> Any:
    """The scores in the type of those that came in; whole numbers become floats."""
    if isinstance(X, (list, tuple)):
        return type(X)(new.tolist())
    kind = X.dtype if isinstance(X, np.ndarray) and X.dtype.kind == "f" else np.dtype(np.float64)
    if hasattr(X, "iloc"):
        kept = {"columns": X.columns} if hasattr(X, "columns") else {"name": X.name}
        return type(X)(new, index=X.index, **kept)
    return new.astype(kind)
