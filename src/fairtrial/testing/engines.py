"""What a study asks of an engine, as a test: run it on an executor of your own."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import FairtrialError
from fairtrial.study.records import Chunk, ResourceLimits, SplitRows, TrialRecord, TrialTask

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.run.engine import Engine

_LEARNERS = ("naive Bayes", "random forest", "raises", "kills its process", "hangs")
_STATUS = ("ok", "ok", "error", "crash", "timeout")
_FOLDS = 2
_MEASURED = {"fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "notes", "message", "traceback", "log"}
_WAIT = 120.0


class MisbehavingLearner:
    """A learner that raises, kills its process or hangs as soon as it is to learn."""

    def __init__(self, how: str = "raises") -> None:
        self.how = how

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its one parameter."""
        return {"how": self.how}

    def fit(self, X: Any, y: Any) -> MisbehavingLearner:
        """Misbehave."""
        import signal
        import time

        if self.how == "kills its process":
            os.kill(os.getpid(), signal.SIGKILL)
        while self.how == "hangs":
            time.sleep(1.0)
        raise ArithmeticError("this learner always raises")

    def predict(self, X: Any) -> Any:
        """Never reached."""
        raise NotImplementedError


def check_engine(make_executor: Callable[[], Executor]) -> None:
    """Whether studies can run on the executors that `make_executor` makes; an AssertionError says what is missing.

    A few trials run on it in chunks, and once more in a process of their own. Exceptions must come back as they are and leave
    the executor alive; a worker that has not met the data set must be able to ask for it; each trial must be answered once;
    learners that raise, hang or kill their process must fail alone; the records must be those of the process, byte for byte.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> check_engine(lambda: ThreadPoolExecutor(1))
    """
    from fairtrial.study.run.engine import open_engine

    dataset = _make_dataset()
    with make_executor() as executor:
        _assert_exceptions_come_back(executor)
        engine = open_engine(executor, jobs=2)
        try:
            records, n_requests = _collect_records(engine, dataset)
        finally:
            engine.close()
    assert n_requests, "no worker asked for a data set that it cannot have: `DataRequest` must come back like any other answer"
    _assert_answers(records)
    _assert_same(records, _run_expected(dataset))


def _run_expected(dataset: Dataset) -> list[TrialRecord]:
    from fairtrial.study.run.supervisor import Supervisor

    with Supervisor() as supervisor:
        return [record for chunk in _make_chunks(dataset) for record in supervisor.run(chunk, dataset)]


def _collect_records(engine: Engine, dataset: Dataset) -> tuple[list[TrialRecord], int]:
    """What comes back for all chunks, and how often the data set was asked for."""
    from fairtrial.study.run.coordinator import InFlight

    requests: list[str] = []

    def get_dataset(content_hash: str) -> Dataset:
        requests.append(content_hash)
        return dataset

    flight, records = InFlight(engine, get_dataset), list[TrialRecord]()
    for chunk in _make_chunks(dataset):
        flight.send(chunk)
    while not flight.idle:
        try:
            arrived = flight.collect_records(_WAIT)
        except FairtrialError as error:
            raise AssertionError(f"each trial must be answered: {error}") from None
        assert arrived or requests, f"nothing came back within {_WAIT:g} s"
        records += arrived
    return records, len(requests)


def _assert_exceptions_come_back(executor: Executor) -> None:
    try:
        executor.submit(divmod, 1, 0).result(_WAIT)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("an exception of the work must come back as that of its future: a ZeroDivisionError did not")
    assert executor.submit(divmod, 7, 2).result(_WAIT) == (3, 1), "the executor must go on after an exception of the work"


def _assert_answers(records: Sequence[TrialRecord]) -> None:
    keys = sorted(record.key for record in records)
    assert keys == sorted(set(keys)), "a trial was answered twice"
    for record in sorted(records, key=lambda item: item.key):
        learner = record.key[1]
        learner_text = f"the learner that {_LEARNERS[learner]}" if _STATUS[learner] != "ok" else _LEARNERS[learner]
        assert record.status == _STATUS[learner], (
            f"{learner_text} must end as {_STATUS[learner]}, got {record.status}: {record.message}"
        )


def _assert_same(records: Sequence[TrialRecord], expected: Sequence[TrialRecord]) -> None:
    expected_by_key = {record.key: record for record in expected}
    missing = len(expected_by_key.keys() - {record.key for record in records})
    assert not missing, f"{missing} trials were not answered"
    for record in sorted(records, key=lambda item: item.key):
        for field in fields(TrialRecord):
            same = getattr(record, field.name) == getattr(expected_by_key[record.key], field.name)
            label = f"{field.name} of {_LEARNERS[record.key[1]]}"
            assert field.name in _MEASURED or same, f"{label} differs from that of a process alone"


def _make_dataset() -> Dataset:
    """A data set that no worker has met: its numbers are new each time."""
    import pandas as pd

    from fairtrial.data import Dataset

    rng = np.random.default_rng()
    classes = np.arange(60) % 3
    table = pd.DataFrame({f"x{i}": classes + rng.normal(size=60) for i in range(4)})
    return Dataset.from_table(table, [f"class {code}" for code in classes])


def _make_chunks(dataset: Dataset) -> list[Chunk]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB

    from fairtrial.conditions import Clean

    estimators = [GaussianNB(), RandomForestClassifier(3), *(MisbehavingLearner(how) for how in _LEARNERS[2:])]
    learners = tuple(pickle.dumps(estimator) for estimator in estimators)
    rows = np.arange(len(dataset))

    def make_chunk(fold: int, learner_indices: Iterable[int], limits: ResourceLimits) -> Chunk:
        test = rows // 3 % _FOLDS == fold
        tasks = tuple(TrialTask(_make_key(fold, index), 0, 0, index, 1, 2) for index in learner_indices)
        return Chunk(dataset.content_hash, (SplitRows(rows[~test], rows[test], 0, fold),), (Clean(),), learners, tasks, limits)

    hanging = _LEARNERS.index("hangs")
    return [
        *(make_chunk(fold, range(hanging), ResourceLimits(time=_WAIT)) for fold in range(_FOLDS)),
        make_chunk(0, [hanging], ResourceLimits(time=1.0)),
    ]


def _make_key(fold: int, learner: int) -> bytes:
    return bytes([fold, learner]) + bytes(14)
