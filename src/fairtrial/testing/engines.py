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
from fairtrial.study.records import Chunk, Evidence, Limits, Rows, Task

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.engine.engine import Engine

_LEARNERS = ("naive Bayes", "random forest", "raises", "kills its process", "hangs")
_STATUS = ("ok", "ok", "error", "crash", "timeout")
_FOLDS = 2
_MEASURED = {"fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "notes", "message", "traceback", "log"}
_WAIT = 120.0


class Misbehaving:
    """A learner that raises, kills its process or hangs as soon as it is to learn."""

    def __init__(self, how: str = "raises") -> None:
        self.how = how

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Its one parameter."""
        return {"how": self.how}

    def fit(self, X: Any, y: Any) -> Misbehaving:
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
    learners that raise, hang or kill their process must fail alone; the evidence must be that of the process, byte for byte.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> check_engine(lambda: ThreadPoolExecutor(1))
    """
    from fairtrial.study.engine.engine import open_engine

    dataset = _dataset()
    with make_executor() as executor:
        _assert_exceptions_come_back(executor)
        engine = open_engine(executor, jobs=2)
        try:
            found, asked = _evidence(engine, dataset)
        finally:
            engine.close()
    assert asked, "no worker asked for a data set that none can have met: `Needs` must come back like any other answer"
    _assert_answers(found)
    _assert_same(found, _expected(dataset))


def _expected(dataset: Dataset) -> list[Evidence]:
    from fairtrial.study.guard.guard import Guard

    with Guard() as guard:
        return [each for chunk in _chunks(dataset) for each in guard.run(chunk, dataset)]


def _evidence(engine: Engine, dataset: Dataset) -> tuple[list[Evidence], int]:
    """What comes back for all chunks, and how often the data set was asked for."""
    from fairtrial.study.engine.in_flight import InFlight

    asked: list[str] = []

    def given(content_hash: str) -> Dataset:
        asked.append(content_hash)
        return dataset

    flight, found = InFlight(engine, given), list[Evidence]()
    for chunk in _chunks(dataset):
        flight.send(chunk)
    while not flight.idle:
        try:
            arrived = flight.arrived(_WAIT)
        except FairtrialError as error:
            raise AssertionError(f"each trial must be answered: {error}") from None
        assert arrived or asked, f"nothing came back within {_WAIT:g} s"
        found += arrived
    return found, len(asked)


def _assert_exceptions_come_back(executor: Executor) -> None:
    try:
        executor.submit(divmod, 1, 0).result(_WAIT)
    except ZeroDivisionError:
        pass
    else:
        raise AssertionError("an exception of the work must come back as that of its future: a ZeroDivisionError did not")
    assert executor.submit(divmod, 7, 2).result(_WAIT) == (3, 1), "the executor must go on after an exception of the work"


def _assert_answers(found: Sequence[Evidence]) -> None:
    keys = sorted(each.key for each in found)
    assert keys == sorted(set(keys)), "a trial was answered twice"
    for each in sorted(found, key=lambda one: one.key):
        learner = each.key[1]
        told = f"the learner that {_LEARNERS[learner]}" if _STATUS[learner] != "ok" else _LEARNERS[learner]
        assert each.status == _STATUS[learner], f"{told} must end as {_STATUS[learner]}, got {each.status}: {each.message}"


def _assert_same(found: Sequence[Evidence], expected: Sequence[Evidence]) -> None:
    wanted = {each.key: each for each in expected}
    missing = len(wanted.keys() - {each.key for each in found})
    assert not missing, f"{missing} trials were not answered"
    for each in sorted(found, key=lambda one: one.key):
        for field in fields(Evidence):
            same = getattr(each, field.name) == getattr(wanted[each.key], field.name)
            what = f"{field.name} of {_LEARNERS[each.key[1]]}"
            assert field.name in _MEASURED or same, f"{what} differs from that of a process alone"


def _dataset() -> Dataset:
    """A data set that no worker has met: its numbers are new each time."""
    import pandas as pd

    from fairtrial.data import Dataset

    rng = np.random.default_rng()
    classes = np.arange(60) % 3
    table = pd.DataFrame({f"x{i}": classes + rng.normal(size=60) for i in range(4)})
    return Dataset.of(table, [f"class {each}" for each in classes])


def _chunks(dataset: Dataset) -> list[Chunk]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB

    from fairtrial.conditions import Clean

    estimators = [GaussianNB(), RandomForestClassifier(3), *(Misbehaving(how) for how in _LEARNERS[2:])]
    learners = tuple(pickle.dumps(each) for each in estimators)
    rows = np.arange(len(dataset))

    def chunk(fold: int, places: Iterable[int], limits: Limits) -> Chunk:
        test = rows // 3 % _FOLDS == fold
        tasks = tuple(Task(_key(fold, place), 0, 0, place, 1, 2) for place in places)
        return Chunk(dataset.content_hash, (Rows(rows[~test], rows[test], 0, fold),), (Clean(),), learners, tasks, limits)

    hanging = _LEARNERS.index("hangs")
    return [
        *(chunk(fold, range(hanging), Limits(time=_WAIT)) for fold in range(_FOLDS)),
        chunk(0, [hanging], Limits(time=1.0)),
    ]


def _key(fold: int, learner: int) -> bytes:
    return bytes([fold, learner]) + bytes(14)
