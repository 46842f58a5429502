"""Studies of the schemes, and what is read from them."""

import numpy as np
import pandas as pd

from fairtrial.data import GivenFolds
from fairtrial.reproduce.dobscv import trials
from fairtrial.reproduce.dobscv.sets import Sets, _simulated, declared
from fairtrial.reproduce.dobscv.trials import GIVEN, LITERAL, SCHEMES, SCV, failures, schemes_of, scores
from fairtrial.reproduce.reproduction import Request


def test_schemes_of_each_scale(tmp_path):
    assert schemes_of(Request("full", tmp_path), True) == list(SCHEMES)
    assert GIVEN not in schemes_of(Request("quick", tmp_path), False)
    assert schemes_of(Request("smoke", tmp_path), True) == [GIVEN, LITERAL]
    assert schemes_of(Request("smoke", tmp_path), False) == [SCV, LITERAL]


def test_given_folds_are_run_as_given_and_abstentions_are_errors(tmp_path, monkeypatch):
    data = dict([next(iter(_simulated(1).items()))])
    name, one = next(iter(data.items()))
    halves = (np.arange(0, len(one), 2), np.arange(1, len(one), 2))
    folds = {name: GivenFolds(one, (halves, halves[::-1]))}
    chi = {"Chi": declared()["learners"]["Chi"]}
    monkeypatch.setattr(trials, "declared", lambda: {**declared(), "learners": chi})
    monkeypatch.setattr(trials, "schemes_of", lambda *_: [GIVEN])
    found = scores(Request("smoke", tmp_path, jobs=1, progress=False), Sets(data, folds, {}), 2)
    assert found[["run", "fold"]].values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found["status"].eq("ok").all()
    assert found["value"].between(0.3, 1).all()
    names = sorted(path.name for path in tmp_path.glob("*.fairtrial"))
    assert names == ["scv-keel-s-folds-1.fairtrial", "scv-keel-s-folds-2.fairtrial"]  # a full run is kept under these


def test_failures_are_counted():
    lines = [("SMO", "Glass1", np.nan), ("SMO", "Glass1", np.nan), ("SMO", "Glass1", 0.5), ("Chi", "Ecoli4", 0.7)]
    found = failures(pd.DataFrame(lines, columns=["learner", "dataset", "value"]))
    assert found == {"SMO on Glass1": 2}
