"""How a judgement is made: levels, resamples, and from how many rows on counts take the place of resampled rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fairtrial.errors import FallbackWarning, UndefinedMeasureWarning

# Beyond this many rows intervals come from counts, and what cannot is resampled less often, without BCa's correction, which no
# longer matters there.
MANY_ROWS = 50_000
FEWEST_RESAMPLES = 200


@dataclass(frozen=True)
class Plan:
    """How to judge: level of intervals, resamples, seed, level of tests."""

    level: float = 0.95
    resamples: int = 2000
    seed: int = 0
    alpha: float = 0.05
    of_two: tuple[str, ...] = ()
    """Measures that are left out of models without a positive class."""

    def resamples_of(self, rows: int) -> int:
        """Fewer resamples of very many rows."""
        return self.resamples if rows <= MANY_ROWS else min(self.resamples, FEWEST_RESAMPLES)


@contextmanager
def quiet() -> Iterator[None]:
    """Undefined values and replaced methods are told in tables, not as warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        warnings.simplefilter("ignore", FallbackWarning)
        yield
