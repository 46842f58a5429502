"""The numbers behind the flu domain: who lives there, how well they are, and who gets complications.

The tutorial (after Alaiz-Rodriguez & Japkowicz 2008) states the attributes, the kind of each distribution, and in which
direction every change goes; its probabilities are in pictures only. From the tutorial: six groups of ages, with uniform ages in
the first five and exponential ones in the last; social position and severity as normal distributions around 2 with variance
0.75; a hidden delicate person, more frequent with age; health worse for the delicate and the poor; complications more frequent
for infants, the elderly, strong symptoms and poor health. Ours: every other number in this file. They were chosen such that
the class shares, the best possible errors and the errors of a one-attribute rule of the eight populations come near the
tutorial's table of results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from fairtrial._check import FloatArray, IntArray, at_least, finite, number, numbers
from fairtrial.errors import InputError

GROUPS = ("Infant", "Teenager", "YoungAdult", "Adult", "OldAdult", "Elderly")
STARTS = (0.0, 6.0, 20.0, 35.0, 50.0, 65.0)
SEVERITY = ("Light", "Medium", "Strong")
HEALTH = ("Good", "Medium", "Poor")
SOCIAL = ("Rich", "MiddleClass", "Poor")
ELDERLY_MEAN = 10.0
VARIANCE = 0.75
HEALTH_VARIANCE = 0.25

Definition = Literal["usual", "MC", "FC"]


@dataclass(frozen=True)
class FluPopulation:
    """Who lives there: shares of the six groups of ages, the means of social position (3 is poor) and of severity (3 is
    strong), and by how much general health is worse than usual.
    """

    ages: tuple[float, ...]
    social: float = 2.0
    severity: float = 2.0
    decline: float = 0.0

    def __post_init__(self) -> None:
        shares = finite("ages", np.atleast_1d(numbers("ages", self.ages)))
        if shares.shape != (6,) or (shares < 0).any() or abs(shares.sum() - 1) > 1e-9:
            raise InputError(f"ages must be six shares that sum to 1, for {', '.join(GROUPS)}, got {self.ages!r}")
        for name in ("social", "severity"):
            number(name, getattr(self, name))
        at_least("decline", self.decline, 0)


_NEGATIVE_GROWTH = (0.04, 0.13, 0.28, 0.31, 0.10, 0.14)

POPULATIONS: Mapping[str, FluPopulation] = MappingProxyType(
    {
        "NGP": FluPopulation(_NEGATIVE_GROWTH),
        "DP": FluPopulation((0.25, 0.26, 0.21, 0.15, 0.11, 0.02)),
        "ZGP": FluPopulation((0.15, 0.14, 0.20, 0.18, 0.20, 0.13)),
        "W": FluPopulation(_NEGATIVE_GROWTH, severity=2.4),
        "SW": FluPopulation(_NEGATIVE_GROWTH, severity=1.5),
        "DW": FluPopulation(_NEGATIVE_GROWTH, severity=2.5, decline=0.17),
        "P": FluPopulation(_NEGATIVE_GROWTH, social=2.7),
        "P+DW": FluPopulation(_NEGATIVE_GROWTH, social=2.7, severity=2.5, decline=0.17),
    }
)


def delicate(age: FloatArray) -> FloatArray:
    """The probability of being a delicate person."""
    return np.minimum(0.07 + 0.009 * age, 0.95)


def health_mean(is_delicate: FloatArray, social: IntArray, decline: float) -> FloatArray:
    """Where general health lies, 1 good to 3 poor, for social position 0 rich to 2 poor."""
    return np.asarray(1.57 + 0.7 * is_delicate + 0.25 * (social - 1) + decline)


def level(value: FloatArray) -> IntArray:
    """The nearest of the levels 0, 1, 2 for a value around 1, 2, 3."""
    return np.asarray(np.clip(np.rint(value) - 1, 0, 2), dtype=np.intp)


def remission(age: FloatArray, severity: IntArray, health: IntArray, social: IntArray, definition: Definition) -> FloatArray:
    """The probability of normal remission, for severity, health and social position as levels 0 to 2.

    With fewer complications (FC), the ages at which remission is likely reach further to both sides. With more (MC), it is
    less likely from 35 to 65, for the poor, and under strong symptoms.
    """
    from scipy.special import expit

    young, old = (12.0, 61.0) if definition == "FC" else (16.5, 57.0)
    logit = 2.4 - 2.4 * np.maximum(1 - age / young, 0) - np.minimum(0.32 * np.maximum(age - old, 0), 5.8)
    logit = logit - np.array([0.0, 0.2, 0.9])[severity] - np.array([0.0, 0.2, 3.0])[health] - np.array([0.0, 0.0, 0.15])[social]
    if definition == "MC":
        logit = logit - 0.6 * ((age >= 35) & (age < 65)) - 0.6 * (social == 2) - 0.6 * (severity == 2)
    return np.asarray(expit(logit))
