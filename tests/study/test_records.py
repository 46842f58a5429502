"""Records cross processes, and none of them can be changed on its way."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from fairtrial.conditions import ClassNoise
from fairtrial.study.records import FAILURES, Chunk, DataRequest, ResourceLimits, SplitRows, TrialRecord, TrialTask

TASK = TrialTask(b"k" * 16, split=0, condition=0, learner=0, condition_seed=2**100, learner_seed=7)


def test_a_chunk_survives_the_way_to_a_worker():
    rows = SplitRows(np.array([0, 1, 4]), np.array([2, 3]), repeat=1, fold=2)
    chunk = Chunk("hash", (rows,), (ClassNoise(0.1),), (b"learner",), (TASK,), ResourceLimits(2.5, 10**9))
    back = pickle.loads(pickle.dumps(chunk))
    assert (back.data, back.conditions, back.learners, back.tasks, back.limits) == (
        "hash",
        (ClassNoise(0.1),),
        (b"learner",),
        (TASK,),
        ResourceLimits(2.5, 10**9),
    )
    assert back.splits[0].train.tolist() == [0, 1, 4]
    assert back.splits[0].test.tolist() == [2, 3]
    assert (back.splits[0].repeat, back.splits[0].fold) == (1, 2)


def test_evidence_and_needs_survive_the_way_back():
    evidence = TrialRecord(b"k" * 16, "timeout", memory=5, message="too slow")
    assert pickle.loads(pickle.dumps(evidence)) == evidence
    assert pickle.loads(pickle.dumps(DataRequest("hash"))) == DataRequest("hash")


@pytest.mark.parametrize(
    "record", [TASK, ResourceLimits(), DataRequest("hash"), TrialRecord(b"", "ok")], ids=lambda one: type(one).__name__
)
def test_records_cannot_be_changed(record):
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(record, fields(record)[0].name, None)


def test_a_failure_is_everything_but_success():
    assert set(FAILURES) == {"error", "timeout", "memory", "crash"}


def test_evidence_of_a_failure_has_no_columns():
    failed = TrialRecord(b"k" * 16, "crash")
    assert [getattr(failed, name) for name in ("prediction", "scores", "rows", "y_true")] == [None] * 4
