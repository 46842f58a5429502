"""An experiment: one draw of data, several procedures judged on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Mapping[str, bool | None]]
EXPERIMENTS: list[Experiment] = []
ALPHA, LEVEL = 0.05, 0.95
FOLDS = "Two learners, one data set: scores of folds"
ROWS = "Two or more learners, one data set: predictions of rows"
SETS = "Two learners, many data sets"
MANY = "Many learners, many data sets"
ALL = "Family-wise error, all pairs"
CONTROL = "Family-wise error, against a control"
ADVISE = "`advise`, from a table of scores to a verdict"
MEASURES = "Coverage: intervals of measures"
DIFFERENCES = "Coverage: differences of two models on the same rows"
EFFECTS = "Coverage: effect sizes"
MODELS = "Coverage: strengths and posteriors"
BOOTSTRAP = "Coverage: bootstrap estimates of the error rate"
POWER = "Power: how often the test finds what `power` promises"
PEERS = "Beside other packages, on the same data"
GROUPS = (FOLDS, ROWS, SETS, MANY, ALL, CONTROL, ADVISE, MEASURES, DIFFERENCES, EFFECTS, MODELS, BOOTSTRAP, POWER, PEERS)


@dataclass(frozen=True)
class Experiment:
    """`draw` tells for each line whether it rejected, or covered the truth; None where it did not apply to this draw.

    `share` is the part of all runs that is spent on it, `nominal` the rate that is promised.
    """

    group: str
    setting: str
    draw: Draw
    share: float
    nominal: float

    @property
    def coverage(self) -> bool:
        """Whether a rate below the nominal one is the bad side."""
        return self.nominal > 0.5


def experiment(group: str, setting: str, *, share: float = 1.0, nominal: float = ALPHA) -> Callable[[Draw], Draw]:
    """Register a draw."""

    def register(draw: Draw) -> Draw:
        EXPERIMENTS.append(Experiment(group, setting, draw, share, nominal))
        return draw

    return register


def rejects(found: Any) -> bool:
    """Whether a test rejects; an undefined p does not."""
    return bool(found.p_value <= ALPHA)


def covers(found: Any, truth: float) -> bool:
    """Whether an interval holds the truth; an undefined one does not."""
    return bool(found.low - 1e-12 <= truth <= found.high + 1e-12)
