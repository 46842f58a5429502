"""Choosing a model on a validation part: the winner's error there is too good, on rows that had no say it is not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fairtrial.reproduce.estimates.batched import naive_bayes
from fairtrial.reproduce.interval import Interval, mean_interval

CANDIDATES = 20
_ROWS = 50


@dataclass(frozen=True)
class Selected:
    """Mean error of the chosen model, with its 95 % interval, on the validation part and on rows of their own."""

    validation: Interval
    test: Interval
    truth: float = 0.5


def selected(repeats: int, seed: int) -> Selected:
    """Twenty models, each looking at one attribute, learn a class that has nothing to do with any: every true error is 0.5.

    Fifty rows train, fifty choose, fifty test.
    """
    from fairtrial.study.randomness import derive_generator

    found = np.array([_once(derive_generator(seed, "selection", each)) for each in range(repeats)])
    return Selected(mean_interval(found[:, 0]), mean_interval(found[:, 1]))


def _once(rng: np.random.Generator) -> tuple[float, float]:
    X, y = rng.standard_normal((3 * _ROWS, CANDIDATES)), rng.integers(2, size=3 * _ROWS)
    trained = slice(0, _ROWS)
    said = np.array(
        [
            naive_bayes(X[trained, j : j + 1], y[trained], 2, np.ones((1, _ROWS)), X[_ROWS:, j : j + 1])[0]
            for j in range(CANDIDATES)
        ]
    )
    errors = said != y[_ROWS:]
    validation, test = errors[:, :_ROWS].mean(axis=1), errors[:, _ROWS:].mean(axis=1)
    winner = int(validation.argmin())
    return float(validation[winner]), float(test[winner])
