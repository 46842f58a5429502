"""Small chunks for tests: one trial after the other on a data set of 60 rows."""

import json
import pickle
from functools import cache
from pathlib import Path
from time import monotonic, sleep

import numpy as np

from fairtrial.conditions import Clean
from fairtrial.data import Dataset
from fairtrial.study.records import Chunk, ResourceLimits, SplitRows, TrialTask
from fairtrial.study.run.trial import TrialRunner
from fairtrial.study.run.trial_data import TrialData
from tests.study.trouble import Trouble


@cache
def dataset():
    rng = np.random.default_rng(7)
    return Dataset.from_table(rng.normal(size=(60, 3)), np.repeat(["a", "b", "c"], [30, 20, 10]), name="small")


def chunk_of(*learners, time=30.0, memory=None, data=None, conditions=None):
    """A trial for each learner, all on one split; a deed stands for the learner that does it."""
    made = [Trouble(each) if isinstance(each, str) else each for each in learners]
    rows = SplitRows(np.arange(0, 60, 2), np.arange(1, 60, 2), repeat=0, fold=0)
    tasks = tuple(TrialTask(b"%016d" % place, 0, 0, place, place + 1, place + 1) for place in range(len(made)))
    data = dataset() if data is None else data
    return Chunk(
        data.content_hash,
        (rows,),
        tuple(conditions or [Clean()]),
        tuple(map(pickle.dumps, made)),
        tasks,
        ResourceLimits(time, memory),
    )


@cache
def expected():
    """What a trial without trouble leaves: (prediction, scores), from a bench in this process."""
    chunk = chunk_of("nothing")
    evidence = TrialRunner(TrialData.from_dataset(dataset()), chunk).run(chunk.tasks[0])
    assert evidence.status == "ok"
    return evidence.prediction, evidence.scores


def told(note):
    """What a learner wrote down, once it is there."""
    file, until = Path(note), monotonic() + 60
    while not file.exists() and monotonic() < until:
        sleep(0.02)
    return json.loads(file.read_text())


def is_gone(process):
    """Whether a process ends within a minute; one that nobody has asked about yet counts as ended."""
    until = monotonic() + 60
    while monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        sleep(0.02)
    return False


def is_right(evidence):
    return evidence.status == "ok" and (evidence.prediction, evidence.scores) == expected()
