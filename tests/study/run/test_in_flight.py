"""A scripted worker that loses, forgets or answers: whatever it does, each trial is answered once."""

from collections import Counter
from concurrent.futures import BrokenExecutor, Future
from itertools import permutations

import pytest

from fairtrial.errors import FairtrialError
from fairtrial.study.records import Chunk, DataRequest, ResourceLimits, TrialRecord, TrialTask
from fairtrial.study.run.coordinator import InFlight
from fairtrial.study.run.engine import Engine


def chunk(*names):
    tasks = tuple(TrialTask(name.encode(), 0, 0, 0, 0, 0) for name in names)
    return Chunk("hash", (), (), (), tasks, ResourceLimits())


def answers(each):
    return [TrialRecord(task.key, "ok") for task in each.tasks]


def flight(work):
    """An engine that works at once, in this thread."""

    class Here:
        def submit(self, function, *arguments):
            future = Future()
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
            return future

    engine = Engine("here", Here(), work, lambda: 1, lambda: None)
    return InFlight(engine, {"hash": "the data set"}.__getitem__)


def gather(out):
    found = []
    while not out.idle:
        found += out.collect_records(1.0)
    return found


def test_each_trial_is_answered_once():
    out = flight(lambda each, _: answers(each))
    out.send(chunk("a", "b"))
    out.send(chunk("c"))
    assert len(out) == 2
    assert sorted(each.key for each in gather(out)) == [b"a", b"b", b"c"]
    assert len(out) == 0


def test_a_worker_that_needs_the_data_set_gets_it_with_the_same_chunk():
    met = []

    def work(each, data):
        met.append((each, data))
        return DataRequest("hash") if data is None else answers(each)

    out = flight(work)
    sent = chunk("a")
    out.send(sent)
    assert [each.status for each in gather(out)] == ["ok"]
    assert met == [(sent, None), (sent, "the data set")]


def test_a_chunk_that_is_lost_once_runs_again_whole():
    runs = []

    def work(each, _):
        runs.append(len(each.tasks))
        if len(runs) == 1:
            raise ConnectionResetError
        return answers(each)

    out = flight(work)
    out.send(chunk("a", "b", "c"))
    assert [each.status for each in gather(out)] == ["ok"] * 3
    assert runs == [3, 3]


def test_only_the_trial_that_always_loses_its_worker_fails():
    runs = Counter()

    def work(each, _):
        names = "".join(task.key.decode() for task in each.tasks)
        runs[names] += 1
        if "c" in names:
            raise EOFError
        return answers(each)

    out = flight(work)
    out.send(chunk(*"abcdefgh"))
    found = {each.key: each for each in gather(out)}
    assert {key for key, each in found.items() if each.status == "ok"} == {bytes([one]) for one in b"abdefgh"}
    assert (found[b"c"].status, found[b"c"].error) == ("crash", "WorkerLost")
    assert "3 times" in found[b"c"].message
    # The chunk is halved each time that it was lost three times; halves without the culprit run once.
    assert runs == {"abcdefgh": 3, "abcd": 3, "efgh": 1, "ab": 1, "cd": 3, "c": 3, "d": 1}


def test_a_worker_that_answers_for_some_trials_only_is_asked_for_the_rest():
    runs = []

    def work(each, _):
        runs.append("".join(task.key.decode() for task in each.tasks))
        return answers(each)[:2]

    out = flight(work)
    out.send(chunk(*"abcde"))
    assert sorted(each.key for each in gather(out)) == [bytes([one]) for one in b"abcde"]
    assert runs == ["abcde", "cde", "e"]


def test_a_failure_of_the_engine_itself_is_raised_after_the_evidence_that_came_with_it():
    def work(each, _):
        if each.tasks[0].key == b"bad":
            raise TypeError("cannot pickle this")
        return answers(each)

    out = flight(work)
    out.send(chunk("bad"))
    out.send(chunk("good"))
    assert [each.key for each in out.collect_records(1.0)] == [b"good"]
    assert not out.idle
    with pytest.raises(TypeError, match="cannot pickle this"):
        out.collect_records(1.0)


def test_an_engine_that_takes_no_more_work_is_a_failure_not_an_end():
    class Closed:
        def submit(self, function, *arguments):
            raise RuntimeError("cannot schedule new futures after shutdown")

    out = InFlight(Engine("closed", Closed(), answers, lambda: 1, lambda: None), {}.__getitem__)
    out.send(chunk("a"))
    assert not out.idle
    with pytest.raises(FairtrialError, match=r"the engine closed .*\(cannot .*\)"):
        out.collect_records(1.0)


class Breaking:
    """A pool that breaks: some futures have failed, others are finished, and nothing more is taken."""

    def __init__(self):
        self.futures, self.broken = [], False

    def submit(self, function, each, dataset):
        if self.broken:
            raise BrokenExecutor("a child process terminated abruptly")
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_a_pool_that_breaks_hands_over_what_was_finished_before_it_is_told(order):
    pool = Breaking()
    out = InFlight(Engine("pool", pool, answers, lambda: 1, lambda: None), {}.__getitem__)
    chunks = [chunk("a"), chunk("b"), chunk("c")]
    for place in order:
        out.send(chunks[place])
    by_chunk = {place: pool.futures[order.index(place)] for place in range(3)}
    by_chunk[0].set_exception(BrokenExecutor("a child process terminated abruptly"))
    by_chunk[1].set_result(answers(chunks[1]))
    by_chunk[2].set_result(answers(chunks[2]))
    pool.broken = True
    assert sorted(each.key for each in out.collect_records(1.0)) == [b"b", b"c"]
    assert out.broken
    assert not out.idle
    with pytest.raises(FairtrialError, match=r"the engine pool .*\(a child process .*\)"):
        out.collect_records(1.0)


def test_a_chunk_that_is_stopped_again_and_again_is_never_laid_to_its_trials():
    """Its worker answers for one trial of four at a time, and for none in between."""
    runs = []

    def work(each, _):
        runs.append(len(each.tasks))
        return answers(each)[: len(runs) % 2]

    out = flight(work)
    out.send(chunk(*"abcd"))
    assert [(each.key, each.status) for each in gather(out)] == [(bytes([one]), "ok") for one in b"abcd"]
    assert runs == [4, 3, 3, 2, 2, 1, 1]


def test_an_engine_that_never_answers_for_a_trial_is_a_failure_of_the_engine():
    out = flight(lambda _, __: [])
    out.send(chunk("a"))
    with pytest.raises(FairtrialError, match="the engine here returned 3 times"):
        gather(out)


def test_an_engine_that_is_gone_keeps_nobody_waiting():
    class Never:
        def submit(self, function, *arguments):
            return Future()

    out = InFlight(Engine("gone", Never(), answers, lambda: 1, lambda: None, lambda: True), {}.__getitem__)
    out.send(chunk("a"))
    with pytest.raises(FairtrialError, match="the engine gone"):
        out.collect_records(0.01)


def test_when_nothing_is_to_be_sent_again_losses_are_left_out():
    def work(each, _):
        if each.tasks[0].key == b"lost":
            raise ConnectionResetError
        return DataRequest("hash") if each.tasks[0].key == b"needs" else answers(each)[:1]

    out = flight(work)
    for names in (["lost"], ["needs"], ["a", "b"]):
        out.send(chunk(*names))
    assert [each.key for each in out.collect_records(1.0, resend=False)] == [b"a"]
    assert out.idle


def test_cancelled_chunks_are_no_longer_out():
    class Never:
        def submit(self, function, *arguments):
            return Future()

    out = InFlight(Engine("never", Never(), answers, lambda: 1, lambda: None), {}.__getitem__)
    out.send(chunk("a"))
    assert out.collect_records(0.01) == []
    assert len(out) == 1
    out.cancel()
    assert out.idle
