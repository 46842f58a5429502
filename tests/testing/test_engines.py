"""Our engines meet the contract, and for each rule a broken engine is reported under this rule alone."""

import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from fairtrial.study.records import DataRequest, TrialRecord
from fairtrial.study.run.engine import Engine, open_engine
from fairtrial.testing import check_engine, engines, find_violations, list_rules, parametrize_with_contract


def test_the_local_engine_meets_the_contract():
    check_engine(open_engine("local", 2))


def test_the_dask_engine_meets_the_contract():
    check_engine(open_engine("dask", 1))


def answer(chunk):
    return [TrialRecord(task.key, engines._STATUSES[task.learner], b"prediction") for task in chunk.tasks]


class Scripted(Executor):
    """Requests each data set, then answers a chunk at once; `change` changes the answer."""

    def __init__(self, change=lambda records: records, requests_data=True):
        self.change, self.requests_data = change, requests_data
        self.n_answers = 0

    def submit(self, function, /, *arguments):
        future = Future()
        if function is divmod:
            self.divide(future, *arguments)
        elif function is time.sleep:
            future.set_result(None)
        elif self.requests_data and arguments[1] is None:
            future.set_result(DataRequest(arguments[0].data))
        else:
            self.n_answers += 1
            future.set_result(self.change(answer(arguments[0])))
        return future

    def divide(self, future, dividend, divisor):
        if divisor:
            future.set_result(divmod(dividend, divisor))
        else:
            future.set_exception(ZeroDivisionError())


class SwallowsExceptions(Scripted):
    def divide(self, future, dividend, divisor):
        future.set_result(divmod(dividend, divisor) if divisor else None)


class DiesOfExceptions(Scripted):
    def divide(self, future, dividend, divisor):
        if divisor:
            future.set_exception(RuntimeError("no worker left"))
        else:
            super().divide(future, dividend, divisor)


class ChangesLateAnswers(Scripted):
    """Answers after the first seven differ: three are the first run, four the first order of chunks."""

    def __init__(self):
        super().__init__(self.change_late)

    def change_late(self, records):
        return [replace(record, prediction=b"late") for record in records] if self.n_answers > 7 else records


class FalselyCancelled(Future):
    def cancel(self):
        return True


class FalseCancellations(Scripted):
    def submit(self, function, /, *arguments):
        if function is not time.sleep:
            return super().submit(function, *arguments)
        future = FalselyCancelled()
        future.set_result(None)
        return future


def make(executor=None, **changes):
    facts = {"name": "scripted", "workers": lambda: 2, "shutdown": lambda: None} | changes
    return Engine(executor=executor or Scripted(), work=print, **facts)


class ClosesOnce:
    is_closed = False

    def __call__(self):
        if self.is_closed:
            raise RuntimeError("closed already")
        self.is_closed = True


def stop_badly():
    raise RuntimeError("cannot stop")


def lose_numbered(records):
    return [record for record in records if record.key[2] < 5]


BROKEN = {
    "facts_are_complete": make(workers=lambda: 0),
    "exceptions_come_back": make(SwallowsExceptions()),
    "exceptions_do_not_stop_others": make(DiesOfExceptions()),
    "unknown_data_are_requested": make(Scripted(requests_data=False)),
    "each_trial_is_answered_once": make(Scripted(lambda records: records + records[:1])),
    "failing_learners_fail_alone": make(Scripted(lambda records: [replace(record, status="ok") for record in records])),
    "records_match_serial_run": make(Scripted(lambda records: [replace(record, prediction=b"other") for record in records])),
    "chunk_order_does_not_matter": make(ChangesLateAnswers()),
    "many_chunks_are_answered": make(Scripted(lose_numbered)),
    "cancelled_tasks_are_cancelled": make(FalseCancellations()),
    "stop_lets_chunks_come_back": make(stop=stop_badly),
    "close_can_be_repeated": make(shutdown=ClosesOnce()),
}


@pytest.fixture
def scripted_serial_run(monkeypatch):
    """The records of a single process are scripted, too."""

    def answer_all(chunks, _dataset):
        return [record for chunk in chunks for record in answer(chunk)]

    monkeypatch.setattr(engines, "_run_serially", answer_all)


def test_every_rule_has_a_broken_example():
    assert list(BROKEN) == [rule.name for rule in list_rules("engine")]


@pytest.mark.usefixtures("scripted_serial_run")
@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_engine_is_reported_under_its_rule_alone(rule):
    assert list(find_violations("engine", BROKEN[rule])) == [rule]


@pytest.mark.usefixtures("scripted_serial_run")
@parametrize_with_contract("engine", [make])
def test_each_check_opens_an_engine_of_its_own(check):
    check()


@pytest.mark.usefixtures("scripted_serial_run")
def test_an_engine_that_loses_trials_is_reported():
    # The coordinator sends unanswered trials again; an engine that never answers them is at fault.
    violations = find_violations("engine", make(Scripted(lambda records: [record for record in records if record.key[1] != 0])))
    assert "each_trial_is_answered_once" in violations
    assert "many_chunks_are_answered" in violations


def test_an_executor_of_the_caller_stays_open():
    executor = ThreadPoolExecutor(1)
    list_rules("engine")[-1](open_engine(executor))
    assert executor.submit(divmod, 7, 2).result() == (3, 1)
    executor.shutdown()
