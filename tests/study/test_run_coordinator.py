"""Tests of `fairtrial.study.run.coordinator`."""

import io
import os
import re
import signal
import threading
import warnings
from collections import Counter
from concurrent.futures import BrokenExecutor, Future
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from sklearn.neural_network import MLPClassifier

from fairtrial.conditions import PriorShift
from fairtrial.errors import FairtrialError, InputError, SpecError, StoreError
from fairtrial.study.environments import raise_on_interrupt
from fairtrial.study.plan.plan import plan_study
from fairtrial.study.records import Chunk, DataRequest, ResourceLimits, TrialRecord, TrialTask
from fairtrial.study.run import engine as engines
from fairtrial.study.run.coordinator import InFlight, Interruption, run_study
from fairtrial.study.run.engine import Engine
from fairtrial.study.run.progress import LineProgress, LiveProgress, Rate, RunSummary, SilentProgress, choose_progress
from fairtrial.study.store.sqlite import SQLiteStore
from fairtrial.study.store.store import open_store
from tests.study.small_study import Answering, Watching, small_study

# --- Coordinator ---
# The coordinator with executors that answer without learning: what is sent out, kept, told, and when it stops.


@pytest.fixture
def path(tmp_path):
    return tmp_path / "small.fairtrial"


def stored(path):
    with open_store(path) as store:
        return store.count_by_status()


def all_keys(study):
    planned = plan_study(study)
    return {planned.get_keys(i)[where].tobytes() for i in range(2) for where in np_places(planned.get_keys(i))}


def np_places(keys):
    return [(s, c, a) for s in range(keys.shape[0]) for c in range(keys.shape[1]) for a in range(keys.shape[2])]


def test_every_trial_goes_out_once_and_is_kept_and_told(path):
    executor, watching = Answering(), Watching()
    summary = run_study(small_study(), path, engine=executor, progress=watching)
    assert sorted(executor.trials) == sorted(all_keys(small_study()))
    assert (summary.planned, summary.stored, summary.done, summary.left, summary.interrupted) == (24, 0, 24, 0, False)
    assert stored(path) == {"ok": 24}
    [(name, learners, planned, before, where)] = watching.started
    assert (name, learners, planned, before) == ("small", ("bayes", "tree"), 24, 0)
    assert "Answering" in where
    assert (watching.names.count("bayes"), watching.names.count("tree")) == (12, 12)
    assert watching.summaries == [summary]


def test_a_finished_study_opens_no_engine(path, monkeypatch):
    run_study(small_study(), path, engine=Answering(), progress=False)
    monkeypatch.setattr(engines, "open_engine", lambda *_: pytest.fail("an engine was opened"))
    watching = Watching()
    summary = run_study(small_study(), path, progress=watching)
    assert (summary.planned, summary.stored, summary.done, summary.interrupted) == (24, 24, 0, False)
    assert (summary.stored, summary.done, summary.left) == (24, 0, 0)
    assert watching.summaries == [summary]


def test_a_study_that_grew_runs_only_what_is_new(path):
    study = small_study()
    run_study(small_study(conditions=study.conditions[:1]), path, engine=Answering(), progress=False)
    executor = Answering()
    summary = run_study(study, path, engine=executor, progress=False)
    assert (summary.stored, summary.done, len(executor.trials)) == (12, 12, 12)
    assert {condition.name for chunk in executor.said for condition in chunk.conditions} == {"class-noise"}


def ask(how, stop):
    if how == "event":
        stop.set()
    else:
        os.kill(os.getpid(), how)


@pytest.mark.parametrize("how", ["event", signal.SIGINT, signal.SIGTERM], ids=["event", "SIGINT", "SIGTERM"])
def test_stop_and_go_on(path, how):
    stop = threading.Event()
    watching = Watching(5, lambda: ask(how, stop))
    summary = run_study(small_study(), path, jobs=1, engine=Answering(), progress=watching, stop=stop)
    assert summary.interrupted
    assert 5 <= summary.done < 24
    assert stored(path) == {"ok": summary.done}
    assert summary.left == 24 - summary.done
    executor = Answering()
    rest = run_study(small_study(), path, engine=executor, progress=False)
    assert (rest.stored, rest.done, len(executor.trials)) == (summary.done, summary.left, summary.left)


@pytest.mark.usefixtures("interruptible")
def test_a_second_ctrl_c_ends_at_once_and_what_was_kept_stays(path):
    def twice():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    watching = Watching(5, twice)
    with pytest.raises(KeyboardInterrupt, match=r"stopped: \d+ of 24 trials stored"):
        run_study(small_study(), path, jobs=1, engine=Answering(), progress=watching)
    assert watching.summaries == [None]
    assert stored(path) == {"ok": len(watching.evidence)}


def test_failures_are_done_unless_they_are_to_be_tried_again(path):
    def failing(chunk):
        kinds = {0: "timeout", 1: "error"}
        return [TrialRecord(task.key, kinds.get(task.key[0] % 4, "ok")) for task in chunk.tasks]

    keys = sorted(all_keys(small_study()))
    timeouts, errors = ([key for key in keys if key[0] % 4 == kind] for kind in (0, 1))
    first = run_study(small_study(), path, engine=Answering(failing), progress=False)
    assert timeouts
    assert errors
    assert first.failures == {"error": len(errors), "timeout": len(timeouts)}
    assert run_study(small_study(), path, progress=False).done == 0
    executor = Answering()
    again = run_study(small_study(), path, engine=executor, retry=["timeout"], progress=False)
    assert sorted(executor.trials) == timeouts
    assert (again.done, again.failed) == (len(timeouts), 0)
    assert stored(path) == {"ok": 24 - len(errors), "error": len(errors)}


def test_shards_share_the_trials_out(tmp_path):
    parts = [Answering() for _ in range(3)]
    for i, executor in enumerate(parts, start=1):
        summary = run_study(small_study(), tmp_path / f"{i}.fairtrial", engine=executor, shard=(i, 3), progress=False)
        assert summary.planned == summary.done == len(executor.trials)
    assert sorted(key for executor in parts for key in executor.trials) == sorted(all_keys(small_study()))
    again = run_study(small_study(), tmp_path / "1.fairtrial", shard=(1, 3), progress=False)
    assert (again.planned, again.stored, again.done) == (len(parts[0].trials), len(parts[0].trials), 0)


def test_a_store_that_cannot_be_written_ends_the_run_and_loses_nothing(path, monkeypatch):
    add, batches = SQLiteStore.add_records, []

    def full(self, batch):
        batches.append(list(batch))
        if len(batches) == 3:
            raise StoreError("the disk is full")
        add(self, batches[-1])

    monkeypatch.setattr(SQLiteStore, "add_records", full)
    kept = lambda: len(batches[0]) + len(batches[1])  # noqa: E731
    with pytest.raises(StoreError, match="the disk is full") as told:
        run_study(small_study(), path, jobs=1, engine=Answering(), progress=False)
    assert f"{kept()} of 24 trials" in str(told.value)
    assert stored(path) == {"ok": kept()}
    monkeypatch.undo()
    assert run_study(small_study(), path, engine=Answering(), progress=False).done == 24 - kept()


def test_a_failure_of_the_engine_is_raised_with_what_came_before_kept(path):
    def breaking(chunk):
        if len(executor.said) == 4:
            raise TypeError("the engine is broken")
        return [TrialRecord(task.key, "ok") for task in chunk.tasks]

    executor = Answering(breaking)
    with pytest.raises(TypeError, match="the engine is broken"):
        run_study(small_study(), path, jobs=1, engine=executor, progress=False)
    assert stored(path)["ok"] >= sum(len(chunk.tasks) for chunk in executor.said[:3])


def test_limits_of_the_run_take_the_place_of_those_of_the_study(path):
    executor = Answering()
    run_study(small_study(), path, engine=executor, limits=ResourceLimits(7.0, 10**9), progress=False)
    assert {chunk.limits for chunk in executor.said} == {ResourceLimits(7.0, 10**9)}


def test_a_worker_gets_the_data_set_that_it_needs(path):
    class Forgetful(Answering):
        def submit(self, function, chunk, dataset):
            given.append(None if dataset is None else dataset.content_hash == chunk.data)
            self._answer = lambda each: (
                DataRequest(each.data) if dataset is None else [TrialRecord(t.key, "ok") for t in each.tasks]
            )
            return super().submit(function, chunk, dataset)

    given = []
    assert run_study(small_study(), path, engine=Forgetful(), progress=False).done == 24
    assert given.count(None) == given.count(True) == len(given) // 2


def test_the_run_is_noted(path):
    run_study(small_study(), path, jobs=2, engine=Answering(), progress=False)
    with open_store(path) as store:
        [noted] = store.open_archive().runs
    assert (noted["engine"], noted["jobs"], noted["done"], noted["left"]) == ("Answering", 2, 24, 0)
    assert {"numpy", "scikit-learn", "fairtrial", "python"} <= set(noted["versions"])


def test_an_unknown_kind_of_failure(path):
    with pytest.raises(InputError, match=r"retry must be .*'timout'"):
        run_study(small_study(), path, retry=["timout"])
    assert not path.exists()


def test_limits_of_another_kind(path):
    with pytest.raises(InputError, match=r"limits must be .* got \{'time': 5\}"):
        run_study(small_study(), path, limits={"time": 5})


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"jobs": 0}, "jobs must be at least 1"), ({"engine": "sparc"}, "engine must be")]
)
def test_engine_and_jobs_are_checked_where_nothing_is_to_do(path, wrong, sentence):
    run_study(small_study(), path, engine=Answering(), progress=False)
    with pytest.raises(InputError, match=sentence):
        run_study(small_study(), path, progress=False, **wrong)
    assert run_study(small_study(), path, progress=False, engine="dask://nohost:99").done == 0


HOPELESS = SimpleNamespace(name="rare", level=1.0, condition=PriorShift(priors={"nobody": 0.1}))


def test_a_condition_that_fits_no_data_set_is_refused_and_leaves_no_file(path):
    study = small_study()
    with pytest.raises(SpecError, match=r"conditions\.rare: .*nobody"):
        run_study(small_study(conditions=(*study.conditions, HOPELESS)), path, engine=Answering(), progress=False)
    assert not path.exists()


def test_a_refused_study_does_not_become_the_last_one_of_a_file(path):
    study = small_study()
    run_study(study, path, engine=Answering(), progress=False)
    with pytest.raises(SpecError):
        run_study(small_study(name="other", conditions=(*study.conditions, HOPELESS)), path, engine=Answering(), progress=False)
    with open_store(path) as store:
        assert store.open_archive().name == "small"


# --- In flight ---
# A scripted worker that loses, forgets or answers: whatever it does, each trial is answered once.


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


# --- Interruption ---


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_the_second_does_what_it_always_does(number):
    insisted = []
    usual = lambda *_: insisted.append(number)  # noqa: E731
    former = signal.signal(number, usual)
    try:
        with Interruption() as interruption:
            assert not interruption.requested
            os.kill(os.getpid(), number)
            assert interruption.requested
            assert insisted == []
            os.kill(os.getpid(), number)
            assert insisted == [number]
        assert signal.getsignal(number) is usual
    finally:
        signal.signal(number, former)


def test_handlers_come_back_where_nothing_was_signalled():
    before = signal.getsignal(signal.SIGINT)
    with Interruption():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone():
    found = []
    stop = threading.Event()

    def enter():
        with Interruption(stop) as interruption:
            found.append((signal.getsignal(signal.SIGINT), interruption.requested))
            stop.set()
            found.append(interruption.requested)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [(signal.getsignal(signal.SIGINT), False), True]


# --- Run summary ---


def test_what_is_left_is_what_is_neither_stored_nor_done():
    summary = RunSummary(planned=50, stored=20, done=13, failures={"error": 2, "crash": 1})
    assert (summary.left, summary.failed) == (17, 3)
    line = summary.frame().iloc[0]
    assert (line["planned"], line["left"], line["failed"]) == (50, 17, 3)


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        (RunSummary(8, 8, 0), ("8 of 8 trials stored",)),
        (RunSummary(8, 0, 8, {}, 1.25), ("8 of 8 trials stored", "1.2 s")),
        (RunSummary(8, 0, 3), ("3 of 8 trials stored", "5 missing")),
        (
            RunSummary(8, 1, 3, {"memory": 1, "error": 0}, 2.0, interrupted=True),
            ("stopped: 4 of 8 trials stored", "4 missing", "1 failed (1 memory)"),
        ),
    ],
)
def test_text_has_the_counts(summary, parts):
    assert all(part in str(summary) for part in parts)
    assert summary._repr_html_() == f"<p>{summary}</p>"


# --- Progress ---


GOOD = TrialRecord(b"1", "ok", fit_time=0.25, predict_time=0.5)
SLOW = TrialRecord(b"2", "timeout", error="TimeoutError", message="took more than [5] s\nsecond line", fit_time=5.0)


def play(progress):
    progress.start("quick", ["fast", "slow"], 6, 2, "local, 2 workers")
    progress.add_records([("fast", GOOD), ("slow", SLOW)])
    progress.add_records([("fast", GOOD), ("slow", SLOW)])
    progress.stop(RunSummary(6, 2, 4, {"timeout": 2}, 1.0))


def picture(live):
    shown = Console(file=io.StringIO(), width=live._console.width)
    shown.print(live._render())
    return shown.file.getvalue()


def display(learners, study="quick", planned=1152, width=80):
    live = LiveProgress(Console(file=io.StringIO(), force_terminal=True, width=width))
    live.start(study, learners, planned, 0, "local")
    return live


def test_lines_for_logs_start_end_and_each_kind_of_failure_once(capsys):
    play(LineProgress())
    start, failure, end = capsys.readouterr().err.splitlines()
    assert start == "quick: 6 trials, 2 already stored, local, 2 workers"
    assert failure.startswith("slow: timeout (TimeoutError: took more than [5] s)")
    assert end == str(RunSummary(6, 2, 4, {"timeout": 2}, 1.0))


def test_a_run_that_broke_off_has_no_last_line(capsys):
    lines = LineProgress()
    lines.start("quick", [], 6, 2, "local")
    lines.stop(None)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_log_has_one_line_about_compilation(capsys):
    lines = LineProgress()
    for index, learner in enumerate(("C45", "Ripper")):
        lines.show_compilation(learner, index, 2)
    assert capsys.readouterr().err == "Compiling kernels (first run only) ...\n"


def test_the_display_shows_which_learner_is_compiled():
    out = io.StringIO()
    live = LiveProgress(Console(file=out, force_terminal=True, width=120))
    for index, learner in enumerate(("C45", "Ripper")):
        live.show_compilation(learner, index, 2)
    live.start("quick", ["fast"], 6, 2, "local")
    live.stop(None)
    assert out.getvalue().count("Compiling kernels (first run only) ...") == 1
    assert "C45 (1 of 2)" in out.getvalue()
    assert "Ripper (2 of 2)" in out.getvalue()


def test_the_display_has_counts_failures_and_mean_times_of_each_learner():
    out = io.StringIO()
    live = LiveProgress(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast", "[/slow]"], 6, 2, "local, 2 workers")
    live.add_records([("fast", GOOD), ("fast", GOOD), ("[/slow]", SLOW)])
    shown = picture(live)
    assert "5/6" in shown
    assert "1 failed" in shown
    assert re.search(r"fast +2 +250 ms +500 ms", shown)
    assert re.search(r"\[/slow\] +1 +1 +5 s *\n", shown)  # nothing was predicted: no mean
    assert "trials/s" not in shown
    assert "left" not in shown
    live.stop(RunSummary(6, 2, 3, {"timeout": 1}, 1.0, interrupted=True))
    assert "stopped: 5 of 6 trials stored" in out.getvalue()
    assert out.getvalue().endswith("\n")


def test_the_display_is_closed_where_the_run_broke_off():
    out = io.StringIO()
    live = LiveProgress(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast"], 6, 2, "local")
    live.stop(None)
    assert not live._live.is_started
    assert "\x1b[?25h" in out.getvalue()  # the cursor is shown again


@pytest.mark.parametrize("kind", [LineProgress, LiveProgress])
def test_a_run_with_nothing_to_do_is_one_line(kind, capsys):
    kind().stop(RunSummary(6, 6, 0))
    assert capsys.readouterr().err == f"{RunSummary(6, 6, 0)}\n"


@pytest.mark.parametrize(("wanted", "kind"), [(None, LineProgress), (True, LiveProgress), (False, SilentProgress)])
def test_not_in_a_terminal(wanted, kind):
    assert type(choose_progress(wanted)) is kind


def test_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    assert type(choose_progress(None)) is LiveProgress


def test_an_object_of_ones_own_is_taken_as_it_is():
    own = SilentProgress()
    assert choose_progress(own) is own


def test_silence(capsys):
    play(SilentProgress())
    assert capsys.readouterr() == ("", "")


def test_learners_that_fail_are_shown_first_and_nothing_of_them_is_cut():
    names = [f"learner-{i:02}" for i in range(15)]
    live = display(names, "a study whose name is as long as a name can be")
    live.add_records([(name, GOOD) for name in names[:-2]])
    live.add_records([(name, TrialRecord(b"3", "timeout", error="TimeLimit")) for name in names[-2:]])
    shown = picture(live)
    live.stop(None)
    assert "15/1152" in shown
    assert "2 failed" in shown
    lines = shown.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("learner ")) + 1
    assert [line.split() for line in lines[first : first + 2]] == [["learner-13", "1", "1"], ["learner-14", "1", "1"]]
    assert lines[-1].startswith("and 3 other learners")
    assert "0 ms" not in shown.replace("250 ms", "").replace("500 ms", "")


@pytest.mark.parametrize("name", ["[bold]forest", "[/data/train]", ":warning:", "tree[red]", "two\nlines"])
def test_names_and_messages_are_plain_text(name):
    failure = TrialRecord(b"4", "error", error="OSError", message=f"cannot open {name}")
    live = display([name], study=name)
    live.add_records([(name, failure)])
    shown = picture(live)
    live.stop(None)
    plain = name.replace("\n", " ")
    said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", live._console.file.getvalue())
    assert shown.count(plain) == 2  # the study and the learner
    assert f"{plain}: error (OSError: cannot open {name.splitlines()[0]})" in said


def test_a_long_reason_is_cut_after_a_word(capsys):
    lines = LineProgress()
    lines.add_records([("tree", TrialRecord(b"5", "error", error="ValueError", message="singular matrix " * 50))])
    told = capsys.readouterr().err
    assert re.match(r"tree: error \(ValueError: (singular matrix )+singular( matrix)?…\)", told)


def test_the_rate_is_told_once_it_means_something_and_is_smoothed():
    now = [100.0]
    rate = Rate(lambda: now[0])
    assert rate.value is None
    now[0] = 101.0
    rate.add(50)
    assert rate.value is None
    for _ in range(600):
        now[0] += 1.0
        rate.add(10)
    assert rate.value == pytest.approx(10.0, rel=1e-3)  # what was at the start is forgotten
    now[0] += 0.001
    rate.add(10)
    assert rate.value < 11  # one batch does not change it much


def test_the_time_left_is_what_is_left_at_that_rate():
    live = display(["fast"], planned=130)
    now = [0.0]
    live._rate = Rate(lambda: now[0])
    now[0] = 10.0
    live.add_records([("fast", GOOD)] * 10)
    shown = picture(live)
    live.stop(None)
    assert "1 trials/s, 2 min left" in shown


# --- Stopped training ---
# Ctrl-C while a learner trains.


@pytest.mark.usefixtures("interruptible")
def test_a_network_is_stopped_and_does_not_go_on_half_trained():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(400, 20)), rng.integers(0, 2, 400)
    network = MLPClassifier(hidden_layer_sizes=(100,), max_iter=100_000, tol=0, n_iter_no_change=100_000)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), raise_on_interrupt():
        network.fit(X, y)


def test_other_warnings_stay_what_they_are():
    with pytest.warns(UserWarning, match="something else"), raise_on_interrupt():
        warnings.warn("something else", stacklevel=1)
    with pytest.raises(UserWarning, match="raised"), raise_on_interrupt():
        raise UserWarning("raised")
