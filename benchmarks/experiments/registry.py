"""Register experiments: one draw of data, on which several procedures are evaluated."""

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
ADVISE = "`compare`: from a table of scores to a verdict"
MEASURES = "Coverage: intervals of measures"
DIFFERENCES = "Coverage: differences of two models on the same rows"
EFFECTS = "Coverage: effect sizes"
MODELS = "Coverage: strengths and posteriors"
BOOTSTRAP = "Coverage: bootstrap estimates of the error rate"
GENERALISATION = "Coverage: error rate of models trained on new samples of the same size"
POWER = "Power: simulated, with the nominal value from `power`"
PEERS = "Other packages on the same data"
FEW_CASES = "Few cases in a class: coverage of the interval of an AUC"
FEW_DIFFERENCES = "Few cases in a class: equal AUCs"
FEW_ROWS = "Few rows: equal models"
FEW_SETS = "Few data sets: equal learners"
CLUSTERS = "Clustered rows"
MARGINS = "Decisions at a margin, over data sets"
GATES = "Decisions at a margin, predictions of rows"
THRESHOLDS = "Thresholds and costs"
SUBGROUPS = "Gaps between subgroups and the rest"
PROBABILITIES = "Net benefit and calibration of probabilities"
SMALL = (FEW_CASES, FEW_DIFFERENCES, FEW_ROWS, FEW_SETS, CLUSTERS)
GROUPS = (
    *SMALL,
    FOLDS,
    ROWS,
    SETS,
    MANY,
    ALL,
    CONTROL,
    ADVISE,
    MARGINS,
    GATES,
    THRESHOLDS,
    SUBGROUPS,
    PROBABILITIES,
    MEASURES,
    DIFFERENCES,
    EFFECTS,
    MODELS,
    BOOTSTRAP,
    GENERALISATION,
    POWER,
    PEERS,
)

# Seeds are derived from these earlier texts, so that docs/calibration.md can be reproduced.
SEED_TEXTS = (
    ("`compare`: from a table of scores to a verdict", "`advise`, from a table of scores to a verdict"),
    ("Power: simulated, with the nominal value from `power`", "Power: how often the test finds what `power` promises"),
    ("Other packages on the same data", "Beside other packages, on the same data"),
    ("correlation 0.1 as Nadeau and Bengio assume", "correlation 0.1 as Nadeau and Bengio take it"),
    ("about 32 discordant rows", "about 32 rows tell them apart"),
    ("about 11 discordant rows", "about 11 rows tell them apart"),
    ("40 rows with random labels", "labels of 40 rows that have nothing to do with them"),
    ("integer differences: many ties", "whole differences: many ties"),
    ("integer scores: many ties", "whole scores: many ties"),
    ("one much better than four equal learners", "one far ahead of four equals"),
    ("one much better: any pair", "one far ahead: any pair"),
    ("two of which alternate between best and worst", "two of which take turns in being the best and the worst"),
    ("80 % correct;", "80 % right;"),
    (
        "20 % correct for the first learner only, 10 % for the second only",
        "20 % right for the first alone, 10 % for the second alone",
    ),
    ("20 discordant rows, 70 % in favour of the first", "20 rows that tell two learners apart, 70 % for the first"),
    ("normal scores one standard deviation apart", "normal scores one deviation apart"),
    ("means 0.5 standard deviations apart", "means 0.5 deviations apart"),
    ("and standard deviation 1", "and deviation 1"),
    ("mean 0.5 standard deviations", "mean 0.5 deviations"),
    ("lowest error rate", "least error rate"),
)


@dataclass(frozen=True)
class Experiment:
    """A simulation of several procedures on the same data.

    `draw` returns for each procedure whether it rejected the hypothesis or covered the true value; None if it does not apply.
    `share` is the proportion of all runs used for the experiment, `nominal` the nominal rate.
    """

    group: str
    setting: str
    draw: Draw
    share: float
    nominal: float

    @property
    def coverage(self) -> bool:
        """Whether the rate is a coverage, so that rates below the nominal one are too liberal."""
        return self.nominal > 0.5


def experiment(group: str, setting: str, *, share: float = 1.0, nominal: float = ALPHA) -> Callable[[Draw], Draw]:
    """Register an experiment."""

    def register(draw: Draw) -> Draw:
        EXPERIMENTS.append(Experiment(group, setting, draw, share, nominal))
        return draw

    return register


def rejects(found: Any) -> bool:
    """Return whether a test rejects; an undefined p-value does not."""
    return bool(found.p_value <= ALPHA)


def covers(found: Any, truth: float) -> bool:
    """Return whether an interval contains the true value; an undefined interval does not."""
    return bool(found.low - 1e-12 <= truth <= found.high + 1e-12)
