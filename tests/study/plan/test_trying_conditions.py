"""Conditions tried on the data before a run."""

import warnings

import numpy as np
import pytest

from fairtrial.conditions import ClassNoise, PriorShift, ScoreNoise
from fairtrial.data import Dataset
from fairtrial.errors import SpecError, SuspectInputWarning
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.plan.schedule import Chunker
from fairtrial.study.run import dry_run
from fairtrial.study.run.dry_run import try_conditions
from tests.study.small_studies import CLEAN, rows, study


def sick(count=30, seed=5):
    labels = np.arange(count) % 2
    table = np.random.default_rng(seed).normal(size=(count, 2))
    return Dataset.from_table(table, np.array(["sick", "well"])[labels], name="sick")


def other():
    return Dataset.from_table(np.arange(60.0).reshape(30, 2), np.array(["c", "d"])[np.arange(30) % 2], name="other")


SHIFT = ("rare", 1.0, PriorShift(priors={"sick": 0.2}))
NOISE = ("class-noise", 0.2, ClassNoise(0.2))


def tried(data, *conditions, seed=1):
    planned = plan_study(study(data, conditions=(CLEAN, *conditions), seed=seed))
    try_conditions(planned, planned.iter_missing())


@pytest.fixture
def silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("silence")
def test_conditions_that_can_be_applied_are_not_spoken_of():
    tried({"first": rows(), "second": rows(seed=2)}, NOISE, ("scores", 0.1, ScoreNoise(0.1)))


def test_one_that_fails_on_every_data_set_is_refused_with_its_place():
    with pytest.raises(SpecError, match="sick") as told:
        tried({"first": rows(), "second": rows(seed=2)}, NOISE, SHIFT)
    [problem] = told.value.problems
    assert problem.location == "conditions.rare"
    assert "on first" in problem.message
    assert "\n" not in str(told.value)


def test_levels_that_fail_alike_are_one_problem():
    shares = [("rare", share, PriorShift(priors={"sick": share})) for share in (0.1, 0.2)]
    with pytest.raises(SpecError) as told:
        tried({"first": rows()}, *shares)
    assert len(told.value.problems) == 1
    assert "other data sets" not in str(told.value)


def test_one_that_fails_on_some_is_told_once():
    with pytest.warns(SuspectInputWarning) as told:
        tried({"first": rows(), "hospital": sick(), "second": other()}, SHIFT)
    [sentence] = [str(each.message) for each in told]
    assert sentence.startswith("rare cannot be applied to first and second: ")


@pytest.mark.usefixtures("silence")
def test_one_odd_split_refuses_nothing(monkeypatch):
    splits = []

    def first_only(*given):
        splits.append(given[1])
        if len(splits) == 1:
            raise ValueError("an odd split")

    monkeypatch.setattr(dry_run, "apply_condition", first_only)
    tried({"first": rows()}, NOISE)
    assert [(each.repeat, each.fold) for each in splits] == [(0, 0), (1, 2)]


@pytest.mark.usefixtures("silence")
@pytest.mark.parametrize(("name", "value"), [("_MAX_ROWS", 29), ("_CONDITION_SECONDS", -1.0)])
def test_what_was_not_tried_is_not_refused(monkeypatch, name, value):
    monkeypatch.setattr(dry_run, name, value)
    tried({"first": rows()}, SHIFT)


def test_only_what_is_missing_is_tried():
    planned = plan_study(study({"first": rows()}, conditions=(CLEAN, SHIFT)))
    clean = [block for block in planned.iter_missing() if block.condition == 0]
    try_conditions(planned, clean)
    try_conditions(planned, [])


def test_the_seeds_are_those_of_the_trials(monkeypatch):
    planned = plan_study(study({"first": rows()}, conditions=(NOISE,)))
    chunk = Chunker(planned).take_chunk()
    seeds = []
    monkeypatch.setattr(dry_run, "apply_condition", lambda *each: seeds.append(each[-1]))
    try_conditions(planned, planned.iter_missing())
    assert seeds == [chunk.tasks[0].condition_seed]
