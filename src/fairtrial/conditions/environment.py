"""Environments: sources of rows, and named changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from fairtrial._check import check_generator, check_whole_number
from fairtrial.conditions.condition import Condition
from fairtrial.conditions.sequence import Sequence
from fairtrial.conditions.shift import CovariateShift, NoRowsLeftError, PriorShift, take_rows
from fairtrial.errors import InputError

# So few rows may lack a class or a group that a condition is about.
_MIN_ROWS = 1000
# How many times as many rows are drawn as are wanted before a condition counts as impossible.
_MAX_OVERSAMPLING = 1000


@runtime_checkable
class Environment(Protocol):
    """Whatever can be drawn from: `sample(n, rng)` gives a table of n rows and their classes."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """n rows and their classes."""
        ...


@dataclass(frozen=True)
class Altered:
    """An environment under conditions, one after the other: an environment again.

    The conditions change all that is drawn, whatever part they are declared for. Where they remove rows, more are drawn, so
    that there are always n. No row is there twice: a condition with `method="draw"` removes rows here, in the same proportions
    (`size` does not count), and one that copies rows in another way is refused.

    >>> from fairtrial.conditions.shift import CovariateShift
    >>> class Dice:
    ...     def sample(self, n, rng):
    ...         faces = rng.integers(1, 7, size=(n, 1))
    ...         return faces, (faces[:, 0] > 3).astype(int)
    >>> high = Altered(Dice(), CovariateShift(keep="x0 >= 3"))
    >>> X, y = high.sample(500, np.random.default_rng(1))
    >>> len(X), int(X.min())
    (500, 3)
    """

    environment: Environment
    conditions: tuple[Condition, ...]

    def __init__(self, environment: Environment, *conditions: Condition) -> None:
        if not isinstance(environment, Environment):
            raise InputError(f"environment must have sample(n, rng), got {type(environment).__name__}")
        for condition in conditions:
            if not isinstance(condition, Condition):
                raise InputError(f"conditions must be conditions, got {type(condition).__name__}")
        object.__setattr__(self, "environment", environment)
        object.__setattr__(self, "conditions", conditions)

    def sample(self, n: int, rng: Any = None) -> tuple[Any, Any]:
        """n rows of the changed environment and their classes. `rng` is a seed or a generator."""
        source, pool = check_generator("rng", rng), max(check_whole_number("n", n, 1), _MIN_ROWS)
        most, left = _MAX_OVERSAMPLING * pool, 0
        while pool <= most:
            try:
                X, y = self._sample_changed(pool, source)
                left = len(y)
            except NoRowsLeftError:
                left = 0
            if left >= n:
                rows = np.sort(source.choice(left, n, replace=False))
                return take_rows(X, rows), take_rows(y, rows)
            pool = max(2 * pool, int(1.1 * pool * n / max(left, 1)))
        raise InputError(f"the conditions must leave enough rows, got {left} of up to {most} where {n} are wanted: relax them")

    def _sample_changed(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = self.environment.sample(n, rng)
        for condition in self.conditions:
            step = _remove_copies(condition).apply(X, y, rng)
            if len(np.unique(step.rows)) < len(step.rows):
                raise InputError(
                    f"a change of an environment must give each row once, got copies from {type(condition).__name__}"
                )
            X, y = step.X, step.y
        return X, y


def _remove_copies(change: Condition) -> Condition:
    """The same change by leaving rows out: of an environment there are always more."""
    if isinstance(change, Sequence):
        return replace(change, steps=tuple(map(_remove_copies, change.steps)))
    if isinstance(change, (CovariateShift, PriorShift)) and change.method == "draw":
        return replace(change, method="remove", size=None)
    return change


def altered(
    environment: Environment, changes: Mapping[str, Condition | tuple[Condition, ...]], *, name: str = "usual"
) -> dict[str, Environment]:
    """An environment and its named changes, for `run_environments`.

    >>> from fairtrial.conditions.shift import PriorShift
    >>> class Coin:
    ...     def sample(self, n, rng):
    ...         y = rng.integers(0, 2, size=n)
    ...         return y[:, None] + rng.standard_normal((n, 1)), y
    >>> worlds = altered(Coin(), {"rare": PriorShift(priors={1: 0.1})})
    >>> list(worlds), round(float(worlds["rare"].sample(1000, np.random.default_rng(1))[1].mean()), 1)
    (['usual', 'rare'], 0.1)
    """
    if name in changes:
        raise InputError(f"name must differ from the names of the changes, got {name!r}")
    worlds: dict[str, Environment] = {name: environment}
    for change_name, change in changes.items():
        worlds[change_name] = Altered(environment, *(change if isinstance(change, tuple) else (change,)))
    return worlds
