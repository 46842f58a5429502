"""Cells as a run of all sets would give them, made from numbers that are known."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.dobscv.sets import declared
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCV, SHUFFLED

LEARNERS = ("C4.5", "Chi", "1-NN", "SMO", "PDFC")


def made_cells(value, *, names=None, runs=2, sd=0.05):
    """Cells of all sets; `value` gives the estimate by scheme, learner, place of the set and run."""
    names = list(declared()["data"]) if names is None else names
    lines = [
        (scheme, run, name, learner, value(scheme, learner, place, run), sd, 2.0 + place, "IR<9" if place < 22 else "IR>9")
        for scheme in (GIVEN, SCV, LITERAL, SHUFFLED)
        for run in range(runs)
        for place, name in enumerate(names)
        for learner in LEARNERS
    ]
    columns = ["scheme", "run", "dataset", "learner", "auc", "sd", "imbalance", "group"]
    return pd.DataFrame(lines, columns=columns)


@pytest.fixture
def rising():
    """DOB-SCV is higher than SCV everywhere, by more the greater the imbalance."""
    return made_cells(lambda scheme, _, place, __: 0.7 + (0.001 * (place + 1) if "DOB" in scheme else 0.0))


@pytest.fixture
def noise():
    """Nothing but noise."""
    rng = np.random.default_rng(3)
    return made_cells(lambda *_: float(rng.normal(0.8, 0.03)))
