"""Averages over folds as a run of all data sets would give them, made from known numbers."""

import numpy as np
import pandas as pd
import pytest

from fairtrial.reproduce.dobscv.simulation import COLUMNS, SPLITTERS, Simulation
from fairtrial.reproduce.dobscv.studies import GIVEN, LITERAL, SCV, SHUFFLED
from fairtrial.reproduce.dobscv.tables import FoldAverages
from fairtrial.reproduce.experiment import read_study_file

LEARNERS = ("C4.5", "Chi", "1-NN", "SMO", "PDFC")


def make_averages(value, *, names=None, runs=2, sd=0.05):
    """Averages of all data sets; `value` gives the estimate by scheme, learner, index of the data set and run."""
    names = list(read_study_file("dobscv")["data"]) if names is None else names
    rows = [
        (scheme, run, name, learner, value(scheme, learner, index, run), sd, 2.0 + index, "IR<9" if index < 22 else "IR>9")
        for scheme in (GIVEN, SCV, LITERAL, SHUFFLED)
        for run in range(runs)
        for index, name in enumerate(names)
        for learner in LEARNERS
    ]
    columns = ["scheme", "run", "dataset", "learner", "auc", "sd", "imbalance", "group"]
    return FoldAverages(pd.DataFrame(rows, columns=columns))


@pytest.fixture
def rising():
    """DOB-SCV is higher than SCV everywhere, by more the greater the imbalance."""
    return make_averages(lambda scheme, _, index, __: 0.7 + (0.001 * (index + 1) if "DOB" in scheme else 0.0))


@pytest.fixture
def noise():
    """Nothing but noise."""
    rng = np.random.default_rng(3)
    return make_averages(lambda *_: float(rng.normal(0.8, 0.03)))


@pytest.fixture
def few():
    """Two data sets, no differences."""
    return make_averages(lambda *_: 0.8, names=["Glass1", "Ecoli4"])


@pytest.fixture
def simulated():
    """SCV is right on average; the others are 0.05 above the performance on all rows, 0.04 above that of the folds."""
    rng = np.random.default_rng(2)
    rows = []
    for population in ("a", "b"):
        for replicate in range(40):
            error = rng.normal(0, 0.01)
            for learner in ("C4.5", "SMO"):
                for scheme in SPLITTERS:
                    estimate = 0.8 + error + (0.0 if scheme == SCV else 0.05)
                    rows.append((population, replicate, learner, scheme, "balanced accuracy", estimate, 0.81, 0.8))
    return Simulation(pd.DataFrame(rows, columns=COLUMNS))
