"""Environments from which rows are drawn, and environments changed by conditions."""

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

# A smaller sample may lack a class or a group that a condition needs.
_MIN_ROWS = 1000
# Maximum number of rows to draw, relative to the first sample. If more rows are needed, an error is raised.
_MAX_OVERSAMPLING = 1000


@runtime_checkable
class Environment(Protocol):
    """Protocol for objects from which rows can be drawn.

    Any object with a method `sample` is an environment. The constructor of its class can have any parameters.

    Parameters
    ----------
    *args, **kwargs : object
        Parameters of the class that implements the protocol.

    Examples
    --------
    >>> from fairtrial.data.simulate import Flu
    >>> isinstance(Flu("NGP"), Environment)
    True
    """

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        X, y : table, array-like
            Attributes and classes of n rows.
        """
        ...


@dataclass(frozen=True)
class Altered:
    """An environment to which conditions are applied one after another.

    The conditions apply to all rows, regardless of `part`. If they remove rows, more rows are drawn from the environment. No
    row occurs twice. If a condition has `method="draw"`, rows are removed instead of drawn with replacement, and `size` is
    ignored. The resulting proportions are the same.

    Parameters
    ----------
    environment : Environment
        Source of rows.
    *conditions : Condition
        Conditions, in the order in which they are applied.

    Examples
    --------
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
            raise InputError(f"environment must have a method sample(n, rng), got {type(environment).__name__}")
        for condition in conditions:
            if not isinstance(condition, Condition):
                raise InputError(f"conditions must be conditions, got {type(condition).__name__}")
        object.__setattr__(self, "environment", environment)
        object.__setattr__(self, "conditions", conditions)

    def sample(self, n: int, rng: Any = None) -> tuple[Any, Any]:
        """Draw rows from the changed environment.

        Parameters
        ----------
        n : int
            Number of rows.
        rng : int or numpy.random.Generator, optional
            Seed or generator.

        Returns
        -------
        X, y : table, array-like
            Attributes and classes of n rows.

        Raises
        ------
        InputError
            If the conditions leave too few rows, or if they copy rows.
        """
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
        raise InputError(f"the conditions must leave at least {n} rows, got {left} of up to {most}: relax them")

    def _sample_changed(self, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = self.environment.sample(n, rng)
        for condition in self.conditions:
            step = _remove_copies(condition).apply(X, y, rng)
            if len(np.unique(step.rows)) < len(step.rows):
                raise InputError(f"conditions of an environment must not copy rows, got copies from {type(condition).__name__}")
            X, y = step.X, step.y
        return X, y


def _remove_copies(change: Condition) -> Condition:
    """Make a condition remove rows instead of drawing them with replacement."""
    if isinstance(change, Sequence):
        return replace(change, steps=tuple(map(_remove_copies, change.steps)))
    if isinstance(change, (CovariateShift, PriorShift)) and change.method == "draw":
        return replace(change, method="remove", size=None)
    return change


def altered(
    environment: Environment, changes: Mapping[str, Condition | tuple[Condition, ...]], *, name: str = "usual"
) -> dict[str, Environment]:
    """Build the input of `run_environments`: an environment and its changed versions.

    Parameters
    ----------
    environment : Environment
        The unchanged environment.
    changes : mapping of str to Condition or tuple of Condition
        Condition or conditions to apply, keyed by the name of the changed environment.
    name : str, default "usual"
        Name of the unchanged environment.

    Returns
    -------
    dict of str to Environment
        Environments keyed by name, with the unchanged environment first.

    Examples
    --------
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
