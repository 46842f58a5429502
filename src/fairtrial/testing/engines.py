"""The contract for engines: a trial gives the same record wherever it runs, and no learner can stop other trials."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from fairtrial._text import format_count
from fairtrial.data import Dataset
from fairtrial.errors import FairtrialError
from fairtrial.study.records import Chunk, ResourceLimits, SplitRows, TrialRecord, TrialTask
from fairtrial.study.run.coordinator import InFlight
from fairtrial.study.run.engine import Engine
from fairtrial.study.run.supervisor import Supervisor
from fairtrial.testing.contract import Contract, require

_LEARNERS = ("naive Bayes", "random forest", "raises", "kills its process", "hangs")
_STATUSES = ("ok", "ok", "error", "crash", "timeout")  # the learners that succeed come first
_HANGING = _LEARNERS.index("hangs")
_N_FOLDS = 2
_N_CHUNKS = 24
_MEASURED = {"fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "notes", "message", "traceback", "log"}
_WAIT_SECONDS = 120.0


class MisbehavingLearner:
    """A learner that raises an error, kills its process or hangs in `fit`."""

    def __init__(self, how: str = "raises") -> None:
        self.how = how

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters."""
        return {"how": self.how}

    def fit(self, X: Any, y: Any) -> MisbehavingLearner:
        """Raise an error, kill the process or hang."""
        import signal

        if self.how == "kills its process":
            os.kill(os.getpid(), signal.SIGKILL)
        while self.how == "hangs":
            time.sleep(1.0)
        raise ArithmeticError("this learner always raises")

    def predict(self, X: Any) -> Any:
        """Raise an error. This method is never called, because `fit` never succeeds."""
        raise NotImplementedError


class _EngineCase:
    """An open engine, and a data set that its workers have not received yet."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.dataset = _make_dataset()
        self.n_requests = 0

    @cached_property
    def records(self) -> list[TrialRecord]:
        """The records of all learners, including those that fail."""
        return self.run(_make_chunks(self.dataset))

    @cached_property
    def expected(self) -> dict[bytes, TrialRecord]:
        """The expected records of the learners that succeed, computed in a separate process."""
        chunks = [_make_chunk(self.dataset, fold, range(_STATUSES.count("ok"))) for fold in range(_N_FOLDS)]
        return {record.key: record for record in _run_serially(chunks, self.dataset)}

    def run(self, chunks: Sequence[Chunk]) -> list[TrialRecord]:
        """Run chunks as the coordinator of a study does, and count the requests for the data set."""
        flight, records = InFlight(self.engine, self._get_dataset), list[TrialRecord]()
        for chunk in chunks:
            flight.send(chunk)
        deadline = time.monotonic() + _WAIT_SECONDS
        while not flight.idle:
            try:
                records += flight.collect_records(_WAIT_SECONDS)
            except FairtrialError as error:
                require(False, f"no record of a trial ({error})")
            require(time.monotonic() < deadline, f"no record within {_WAIT_SECONDS:g} s")
        return records

    def _get_dataset(self, content_hash: str) -> Dataset:
        self.n_requests += 1
        return self.dataset


@contextmanager
def _open_case(engine: Engine | Callable[[], Engine]) -> Iterator[_EngineCase]:
    if isinstance(engine, Engine):
        yield _EngineCase(engine)
        return
    opened = engine()
    try:
        yield _EngineCase(opened)
    finally:
        opened.close()


_contract = Contract("engine", _open_case)


def check_engine(engine: Engine) -> None:
    """Check that an engine satisfies the contract for engines, then close the engine.

    A few trials run on the engine and, for comparison, in a separate process. The check takes a few seconds.

    Parameters
    ----------
    engine : Engine
        An open engine, as returned by the function that you pass to `register_engine`.

    Raises
    ------
    AssertionError
        If a rule is violated. The message names each violated rule, the value found and a remedy.

    Examples
    --------
    >>> from fairtrial.study.run.engine import open_engine
    >>> check_engine(open_engine("local", jobs=1))  # doctest: +SKIP
    """
    _contract.check(engine)


@_contract.rule("pass a name, a function that returns at least 1 as workers, and exception types as loss_errors")
def check_facts_are_complete(case: _EngineCase) -> None:
    """An engine must declare its name, its number of workers and the errors that indicate lost work."""
    engine = case.engine
    require(isinstance(engine.name, str) and engine.name, f"name={engine.name!r}")
    require(isinstance(engine.workers(), int) and engine.workers() >= 1, f"{engine.workers()!r} workers")
    are_errors = all(isinstance(error, type) and issubclass(error, BaseException) for error in engine.loss_errors)
    require(engine.loss_errors and are_errors, f"loss_errors={engine.loss_errors!r}")
    require(not engine.is_gone(), "is_gone() for an open engine")


@_contract.rule("set the exception of the task on its future")
def check_exceptions_come_back(case: _EngineCase) -> None:
    """If a task raises an exception, its future must raise the same exception."""
    try:
        value = case.engine.executor.submit(divmod, 1, 0).result(_WAIT_SECONDS)
    except ZeroDivisionError:
        return
    require(False, f"{value!r} instead of ZeroDivisionError")


@_contract.rule("keep the worker after a task has raised an exception")
def check_exceptions_do_not_stop_others(case: _EngineCase) -> None:
    """The executor must run further tasks after a task has raised an exception."""
    submit = case.engine.executor.submit
    futures = [submit(divmod, 1, 0), submit(divmod, 7, 2), submit(divmod, 9, 2)]
    wait(futures, timeout=_WAIT_SECONDS)
    results = [future.result(_WAIT_SECONDS) for future in futures[1:]]
    require(results == [(3, 1), (4, 1)], f"{results}")


@_contract.rule("return the answer of `work` unchanged")
def check_unknown_data_are_requested(case: _EngineCase) -> None:
    """A worker without the data set must answer with a DataRequest."""
    _ = case.records
    require(case.n_requests, "no request for a new data set")


@_contract.rule("submit each chunk once and return the answer of `work` unchanged")
def check_each_trial_is_answered_once(case: _EngineCase) -> None:
    """Each trial must have exactly one record."""
    keys = sorted(record.key for record in case.records)
    require(len(keys) == len(set(keys)), f"{format_count(len(keys) - len(set(keys)), 'trial')} with two records")
    missing = len({task.key for chunk in _make_chunks(case.dataset) for task in chunk.tasks} - set(keys))
    require(not missing, f"{format_count(missing, 'trial')} without a record")


@_contract.rule("let `work` supervise the learners: do not replace it and do not change its answer")
def check_failing_learners_fail_alone(case: _EngineCase) -> None:
    """If a learner raises an error, hangs or kills its process, only the trials of this learner may fail."""
    for record in sorted(case.records, key=lambda item: item.key):
        learner = record.key[1]
        name = f"the learner that {_LEARNERS[learner]}" if _STATUSES[learner] != "ok" else _LEARNERS[learner]
        got = f"status {record.status} instead of {_STATUSES[learner]} for {name}: {record.message}"
        require(record.status == _STATUSES[learner], got)


@_contract.rule("return the answer of `work` unchanged and use the same package versions on all workers")
def check_records_match_serial_run(case: _EngineCase) -> None:
    """Except for times, memory and messages, the records must equal those of a single process."""
    for record in sorted(case.records, key=lambda item: item.key):
        _require_same_record(record, case.expected.get(record.key, record), "a single process")


@_contract.rule("do not keep state between chunks")
def check_chunk_order_does_not_matter(case: _EngineCase) -> None:
    """The records must not depend on the order of the chunks."""
    chunks = [_make_chunk(case.dataset, fold, [learner]) for fold in range(_N_FOLDS) for learner in (0, 1)]
    records = {record.key: record for record in case.run(chunks)}
    for record in case.run(chunks[::-1]):
        _require_same_record(record, records[record.key], "the other order")


@_contract.rule("queue chunks if all workers are busy")
def check_many_chunks_are_answered(case: _EngineCase) -> None:
    """Every chunk must be answered, even if there are more chunks than workers."""
    chunks = [_make_chunk(case.dataset, 0, [0], number) for number in range(_N_CHUNKS)]
    keys = {record.key for record in case.run(chunks) if record.status == "ok"}
    require(len(keys) == _N_CHUNKS, f"{format_count(len(keys), 'record')} of {_N_CHUNKS} chunks")


@_contract.rule("let cancel() return False if the task cannot be cancelled any more")
def check_cancelled_tasks_are_cancelled(case: _EngineCase) -> None:
    """A task whose cancel() returned True must be cancelled, and the other tasks must finish."""
    n_tasks = case.engine.slots + 2
    futures = [case.engine.executor.submit(time.sleep, 0.05) for _ in range(n_tasks)]
    is_cancelled = [future.cancel() for future in reversed(futures)][::-1]
    unfinished = wait(futures, timeout=_WAIT_SECONDS).not_done
    require(not unfinished, f"{len(unfinished)} of {n_tasks} tasks that never finish")
    for future, expected in zip(futures, is_cancelled, strict=True):
        require(future.cancelled() or not expected, "a finished task whose cancel() returned True")


@_contract.rule("let chunks come back early, or leave them alone")
def check_stop_lets_chunks_come_back(case: _EngineCase) -> None:
    """After stop(), running chunks must return the records of finished trials."""
    chunk = _make_chunk(case.dataset, 0, [0, _HANGING], limits=ResourceLimits(time=5.0))
    future = case.engine.submit(chunk, case.dataset)
    time.sleep(0.1)
    case.engine.stop()
    require(not wait([future], timeout=_WAIT_SECONDS).not_done, f"no answer within {_WAIT_SECONDS:g} s")
    if not future.cancelled() and future.exception() is None:
        answered = {record.key for record in future.result()}
        require(answered <= {task.key for task in chunk.tasks}, "records of other trials")


@_contract.rule("shut the workers down in shutdown(), or do nothing if they belong to the caller")
def check_close_can_be_repeated(case: _EngineCase) -> None:
    """close() must not raise an error, even if it is called twice."""
    case.engine.close()
    case.engine.close()


def _run_serially(chunks: Iterable[Chunk], dataset: Dataset) -> list[TrialRecord]:
    with Supervisor() as supervisor:
        return [record for chunk in chunks for record in supervisor.run(chunk, dataset)]


def _require_same_record(record: TrialRecord, expected: TrialRecord, source: str) -> None:
    for field in fields(TrialRecord):
        same = getattr(record, field.name) == getattr(expected, field.name)
        require(field.name in _MEASURED or same, f"a different {field.name} of {_LEARNERS[record.key[1]]} than {source}")


def _make_dataset() -> Dataset:
    """Create a data set of fresh random numbers, so no worker can have received it before."""
    import pandas as pd

    rng = np.random.default_rng()
    classes = np.arange(60) % 3
    table = pd.DataFrame({f"x{i}": classes + rng.normal(size=60) for i in range(4)})
    return Dataset.from_table(table, [f"class {code}" for code in classes])


def _make_chunks(dataset: Dataset) -> list[Chunk]:
    return [
        *(_make_chunk(dataset, fold, range(_HANGING)) for fold in range(_N_FOLDS)),
        _make_chunk(dataset, 0, [_HANGING], limits=ResourceLimits(time=1.0)),
    ]


def _make_chunk(
    dataset: Dataset, fold: int, learners: Iterable[int], number: int = 0, limits: ResourceLimits | None = None
) -> Chunk:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.naive_bayes import GaussianNB

    from fairtrial.conditions import Clean

    estimators = [GaussianNB(), RandomForestClassifier(3), *(MisbehavingLearner(how) for how in _LEARNERS[2:])]
    rows = np.arange(len(dataset))
    is_test = rows // 3 % _N_FOLDS == fold
    tasks = tuple(TrialTask(_make_key(fold, learner, number), 0, 0, learner, 1, 2) for learner in learners)
    return Chunk(
        dataset.content_hash,
        (SplitRows(rows[~is_test], rows[is_test], 0, fold),),
        (Clean(),),
        tuple(pickle.dumps(estimator) for estimator in estimators),
        tasks,
        limits or ResourceLimits(time=_WAIT_SECONDS),
    )


def _make_key(fold: int, learner: int, number: int = 0) -> bytes:
    return bytes([fold, learner, number]) + bytes(13)
