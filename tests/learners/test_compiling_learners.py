"""Kernels are compiled once, before they are needed, and nothing remains to be compiled."""

import os
import subprocess
import sys

import pytest

LEARNERS = """
import numba.core.event as events
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from fairtrial.learners import Bagging, Chi
from fairtrial.learners.learner import compile_kernels

reports, recorder = [], events.RecordingListener()
estimators = [make_pipeline(Bagging()), Chi(), object()]
compile_kernels(estimators, lambda *report: reports.append(report))
compile_kernels(estimators, lambda *report: reports.append(report))
assert reports == [("C45", 0, 2), ("Chi", 1, 2)], reports

rng = np.random.default_rng(0)
with events.install_listener("numba:compile", recorder):
    for n in (50, 4500):
        numbers = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
        mixed = numbers.assign(d=pd.Categorical(rng.integers(3, size=n)))
        missing = mixed.mask(rng.random(mixed.shape) < 0.1).astype({"d": "category"})
        y = np.where(numbers["a"] > 0, "u", "v")
        for table in (numbers.to_numpy(), numbers, mixed, missing):
            for learner in (Bagging(n_estimators=1), Chi()):
                learner.fit(table, y).predict(table)
assert not recorder.buffer, [event.data["dispatcher"] for _, event in recorder.buffer]
"""

STUDY = """
import fairtrial
study = fairtrial.Study(["iris"], ["chi"], resampling={"folds": 2}, name="small")
study.run("first.fairtrial")
study.run("second.fairtrial")
"""


@pytest.fixture
def run_with_empty_cache(tmp_path):
    """Run a script in a new process that has no compiled kernels."""

    def run(script):
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", script]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)

    return run


def test_after_compilation_no_learner_compiles_anything(run_with_empty_cache):
    outcome = run_with_empty_cache(LEARNERS)
    assert outcome.returncode == 0, outcome.stderr


def test_a_study_compiles_kernels_before_its_first_trial_and_reports_it_once(run_with_empty_cache):
    outcome = run_with_empty_cache(STUDY)
    assert outcome.returncode == 0, outcome.stderr
    lines = outcome.stderr.splitlines()
    assert lines[0] == "Compiling kernels (first run only) ..."
    assert [line[:15] for line in lines[1:]] == ["small: 2 trials", "2 of 2 trials s"] * 2
