"""An engine that keeps the contract, and some that break one clause of it each. (That threads keep it is its own example.)"""

from concurrent.futures import Executor, Future
from dataclasses import replace

import pytest

from fairtrial.study.records import DataRequest, TrialRecord
from fairtrial.study.run.engine import open_engine
from fairtrial.testing import check_engine, engines


def test_dask_keeps_the_contract():
    engine = open_engine("dask", 1)
    try:
        check_engine(lambda: engine.executor)
    finally:
        engine.close()


def answers(chunk):
    return [TrialRecord(task.key, engines._STATUS[task.learner], b"prediction") for task in chunk.tasks]


class Scripted(Executor):
    """Answers chunks out of hand, after it has asked for the data set; `change` alters the answers."""

    def __init__(self, change=lambda found: found, asks=True):
        self._apply, self._asks = change, asks

    def submit(self, function, /, *arguments):
        future = Future()
        if function is divmod:
            self._divide(future, *arguments)
        else:
            chunk, dataset = arguments
            asks = self._asks and dataset is None
            future.set_result(DataRequest(chunk.data) if asks else self._apply(answers(chunk)))
        return future

    def _divide(self, future, dividend, divisor):
        if divisor:
            future.set_result(divmod(dividend, divisor))
        else:
            future.set_exception(ZeroDivisionError())


@pytest.fixture
def scripted(monkeypatch):
    """What a process alone would find is scripted, too."""

    def expected(dataset):
        return [each for chunk in engines._make_chunks(dataset) for each in answers(chunk)]

    monkeypatch.setattr(engines, "_run_expected", expected)


@pytest.mark.usefixtures("scripted")
def test_an_engine_that_does_as_it_should():
    check_engine(Scripted)


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: found + found[:1], "a trial was answered twice"),
        (lambda found: [replace(found[0], prediction=b"other"), *found[1:]], "prediction of naive Bayes differs"),
        (lambda found: [replace(each, status="ok") for each in found], "the learner that raises must end as error, got ok"),
    ],
)
def test_an_engine_that_changes_answers_is_found_out(change, message):
    with pytest.raises(AssertionError, match=message):
        check_engine(lambda: Scripted(change))


@pytest.mark.usefixtures("scripted")
def test_an_engine_that_loses_work_in_silence_is_found_out():
    # What is not answered is sent again; where it never is, that is the engine's fault and no trial's.
    with pytest.raises(AssertionError, match="each trial must be answered: the engine Scripted answered 3 times without"):
        check_engine(lambda: Scripted(lambda found: [each for each in found if each.key[1] != 0]))


def test_an_engine_whose_workers_do_not_ask_for_data_is_found_out():
    with pytest.raises(AssertionError, match="no worker asked for a data set"):
        check_engine(lambda: Scripted(asks=False))


def test_an_engine_that_swallows_exceptions_is_found_out():
    class Swallowing(Scripted):
        def _divide(self, future, dividend, divisor):
            future.set_result(None)

    with pytest.raises(AssertionError, match="an exception of the work must come back"):
        check_engine(Swallowing)


def test_an_engine_that_does_not_survive_exceptions_is_found_out():
    class Dying(Scripted):
        def _divide(self, future, dividend, divisor):
            if divisor:
                future.set_result(None)
            else:
                super()._divide(future, dividend, divisor)

    with pytest.raises(AssertionError, match="must go on after an exception"):
        check_engine(Dying)
