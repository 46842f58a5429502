"""Whatever a learner does, only its own trial fails: those before and after it are right, and what happened is recorded."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from fairtrial.conditions import Clean
from fairtrial.data import Dataset
from fairtrial.study.run.supervisor import Supervisor
from fairtrial.study.run.trial import TrialRunner
from fairtrial.study.run.trial_data import TrialData
from tests.study.chunks import chunk_of, dataset, is_gone, is_right, told
from tests.study.trouble import Trouble


@pytest.fixture(scope="module")
def guard():
    with Supervisor() as made:
        yield made


def trial(guard, learner, after="nothing", **limits):
    """The evidence of a trial between two others, which must be right."""
    before, found, then = guard.run(chunk_of("nothing", learner, after, **limits), dataset())
    assert is_right(before)
    assert is_right(then)
    return found


@contextmanager
def running(guard, chunk, stop=None):
    """A chunk that runs in another thread; its evidence is there after."""
    evidence = []
    thread = threading.Thread(target=lambda: evidence.extend(guard.run(chunk, dataset(), stop)))
    thread.start()
    yield evidence
    thread.join(60)
    assert not thread.is_alive()


def test_trials_leave_what_they_leave_anywhere(guard):
    evidence = guard.run(chunk_of("nothing", "talk", "print much", "nothing"), dataset())
    assert all(map(is_right, evidence))
    assert [each.log for each in evidence] == [None] * 4
    assert all(each.fit_time > 0 for each in evidence)


@pytest.mark.parametrize(
    ("deed", "error", "message"),
    [
        ("raise", "ValueError", "too few rows"),
        ("interrupt", "KeyboardInterrupt", "stop"),
        ("sys.exit", "SystemExit", "5"),
        ("untellable", "UntellableError", "(message not available)"),
    ],
)
def test_what_is_raised_is_recorded(guard, deed, error, message):
    found = trial(guard, deed)
    assert (found.status, found.error.rpartition(".")[2], found.message) == ("error", error, message)
    assert "trouble.py" in found.traceback


def test_the_log_of_a_failure_is_its_own(guard):
    _, first, second = guard.run(chunk_of("talk", "talk and raise", "raise"), dataset())
    assert first.log.splitlines()[:2] == ["I began", "and I complained"]
    assert "hello" not in first.log
    assert second.log is None


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("os._exit", "code 3"),
        ("kill", "signal 9 (SIGKILL)"),
        ("killpg", "signal 9 (SIGKILL)"),
        ("terminate", "signal 15 (SIGTERM)"),
        ("abort", "signal 6 (SIGABRT)"),
        ("null pointer", "signal 11 (SIGSEGV)"),
        ("overflow", "signal 11 (SIGSEGV)"),
        ("leave process and die", "code 0"),
    ],
)
def test_a_process_that_ends_is_a_crash(guard, deed, message, tmp_path):
    found = trial(guard, Trouble(deed, note=str(tmp_path / "note")))
    assert (found.status, found.error, found.fit_time) == ("crash", "ProcessEnded", None)
    assert message in found.message
    if message.endswith(("(SIGABRT)", "(SIGSEGV)")):
        assert "trouble.py" in found.traceback
    if deed == "leave process and die":
        assert is_gone((tmp_path / "note").read_text())


@pytest.mark.parametrize(
    ("deed", "error"),
    [
        ("close everything", "LinkClosed"),
        ("close everything and go on", "LinkClosed"),
        ("write everywhere", "MalformedMessage"),
        ("write half", "MalformedMessage"),
    ],
)
def test_descriptors_that_are_not_the_learners_own(guard, deed, error, tmp_path):
    found = trial(guard, Trouble(deed, folder=str(tmp_path)))
    assert (found.status, found.error) == ("crash", error)
    assert all(each.stat().st_size == 0 for each in tmp_path.iterdir())


@pytest.mark.parametrize("deed", ["loop", "loop in C", "endless error", "stop oneself"])
def test_a_hang_is_stopped_at_the_limit(guard, deed):
    found = trial(guard, deed, time=1)
    assert (found.status, found.error) == ("timeout", "TimeLimit")
    assert "1 s" in found.message
    assert found.message.endswith("raise limits.time")
    if deed != "stop oneself":
        assert "trouble.py" in found.traceback


def test_the_limit_of_time_holds_for_each_trial_alone(guard):
    assert all(map(is_right, guard.run(chunk_of(*["linger"] * 4, time=2.2), dataset())))


@pytest.mark.parametrize(("deed", "error"), [("eat", "MemoryError"), ("eat in C", "MemoryLimit")])
def test_memory_is_limited(guard, deed, error):
    found = trial(guard, deed, time=60, memory=150_000_000)
    assert found.status == "memory"
    assert found.error.endswith(error)


def test_memory_is_limited_only_where_the_chunk_says_so(guard):
    assert trial(guard, "reserve", memory=100_000_000).status == "memory"
    assert is_right(trial(guard, "reserve"))


@pytest.mark.parametrize("deed", ["fork and return", "leave process", "leave thread", "chdir", "close output", "print much"])
def test_what_a_learner_leaves_is_not_passed_on(guard, deed, tmp_path):
    note = str(tmp_path / "note")
    before, found, then = guard.run(
        chunk_of("talk", Trouble(deed, note=str(tmp_path / "left")), Trouble("tell", note=note)), dataset()
    )
    assert is_right(before)
    assert is_right(found)
    assert is_right(then)
    facts = told(note)
    assert facts["folder"] == os.getcwd()
    assert facts["recursion"] < 50_000
    assert facts["output"]
    assert facts["threads"] == [1, 1]
    if deed == "leave process":
        assert is_gone((tmp_path / "left").read_text())


def test_an_alarm_rings_for_nobody_else(guard):
    assert is_right(trial(guard, "leave alarm", after="linger"))


def test_the_child_is_alone(guard, tmp_path):
    """Descriptors, groups, threads, environment, input: a learner meets nothing of ours."""
    note = str(tmp_path / "note")
    assert is_right(trial(guard, Trouble("tell", note=note)))
    facts = told(note)
    assert facts["threads"] == [1, 1]  # of the warden, which forks, and of the child
    assert facts["group"] == facts["pid"] != os.getpgrp()
    assert {0, 1, 2} <= set(facts["descriptors"])
    assert len(facts["descriptors"]) == 6  # link, log, and the one that lists them
    assert facts["input"] == ""
    for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS"):
        assert facts["environment"][f"{name}_NUM_THREADS"] == "1"
    assert facts["environment"]["PYTHONHASHSEED"] == "0"
    assert facts["environment"]["FAIRTRIAL_THREADS"] == "1"


def test_a_child_that_is_killed_from_outside_is_a_crash_of_that_trial(guard, tmp_path):
    note = str(tmp_path / "note")
    with running(guard, chunk_of("nothing", Trouble("tell and sleep", note=note), "nothing")) as evidence:
        os.kill(told(note)["pid"], signal.SIGKILL)
    assert [each.status for each in evidence] == ["ok", "crash", "ok"]
    assert "SIGKILL" in evidence[1].message
    assert is_right(evidence[2])


def test_an_idle_child_that_is_killed_is_nobodys_fault(guard, tmp_path):
    note = str(tmp_path / "note")
    guard.run(chunk_of(Trouble("tell", note=note)), dataset())
    os.kill(told(note)["pid"], signal.SIGKILL)
    assert all(map(is_right, guard.run(chunk_of("nothing", "nothing"), dataset())))


def test_a_warden_that_is_killed_is_replaced_and_nobody_blamed(tmp_path):
    notes = [str(tmp_path / "first"), str(tmp_path / "second")]
    chunk = chunk_of("nothing", Trouble("tell and sleep once", note=notes[0]), Trouble("tell", note=notes[1]))
    with Supervisor() as own, running(own, chunk) as evidence:
        first = told(notes[0])
        os.kill(first["warden"], signal.SIGKILL)
    assert [is_right(each) for each in evidence] == [True] * 3
    assert is_gone(first["pid"])
    assert told(notes[1])["warden"] != first["warden"]


def test_a_learner_that_kills_its_warden_is_found_out():
    with Supervisor() as own:
        found = trial(own, "kill warden")
    assert (found.status, found.error) == ("crash", "ForkServerEnded")


def test_stop_gives_what_is_finished_and_leaves_no_child(guard, tmp_path):
    note, stop = str(tmp_path / "note"), threading.Event()
    with running(guard, chunk_of("nothing", Trouble("tell and sleep", note=note), "nothing"), stop) as evidence:
        process = told(note)["pid"]
        stop.set()
    assert [is_right(each) for each in evidence] == [True]
    assert is_gone(process)
    assert guard.run(chunk_of("nothing"), dataset(), stop) == []
    assert is_right(guard.run(chunk_of("nothing"), dataset())[0])


def test_a_new_data_set_replaces_the_old_one(guard):
    rng = np.random.default_rng(1)
    other = Dataset.from_table(rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30), name="other")
    for data in (dataset(), other, dataset()):
        (found,) = guard.run(chunk_of(GaussianNB(), data=data), data)
        assert found.status == "ok"
        assert found.scores == scores_here(data)


def scores_here(data):
    chunk = chunk_of(GaussianNB(), data=data)
    return TrialRunner(TrialData.from_dataset(data), chunk).run(chunk.tasks[0]).scores


@dataclass(frozen=True, kw_only=True)
class Unreadable(Clean):
    """A condition that does something when it is read."""

    code: str = ""

    def __reduce__(self):
        return eval, (self.code,)


def test_a_chunk_that_cannot_be_read_fails_its_trials_alone(guard):
    evidence = guard.run(chunk_of("nothing", "nothing", conditions=[Unreadable(code="1 / 0")]), dataset())
    assert [(each.status, each.error) for each in evidence] == [("error", "ZeroDivisionError")] * 2
    assert [each.key for each in evidence] == [b"%016d" % place for place in range(2)]
    assert is_right(guard.run(chunk_of("nothing"), dataset())[0])


def test_a_child_that_never_begins_is_told_so(guard):
    evidence = guard.run(chunk_of("nothing", "nothing", conditions=[Unreadable(code="__import__('os')._exit(4)")]), dataset())
    assert [(each.status, each.error) for each in evidence] == [("crash", "NeverStarted")] * 2
    assert "code 4" in evidence[0].message
    assert is_right(guard.run(chunk_of("nothing"), dataset())[0])


def test_a_new_child_is_there_soon(guard):
    """Forty crashes: were everything imported again each time, this would take a minute."""
    started = time.monotonic()
    evidence = guard.run(chunk_of(*["os._exit", "nothing"] * 40), dataset())
    assert [each.status for each in evidence] == ["crash", "ok"] * 40
    assert time.monotonic() - started < 40


COORDINATOR = """
import sys
from tests.study.chunks import chunk_of, dataset
from tests.study.trouble import Trouble
from fairtrial.study.run.pool import run_chunk
run_chunk("a run", chunk_of(Trouble("tell and sleep", note=sys.argv[1])), dataset())
"""


def test_nothing_outlives_a_coordinator_that_is_killed(tmp_path):
    note = str(tmp_path / "note")
    coordinator = subprocess.Popen([sys.executable, "-c", COORDINATOR, note])
    facts = told(note)
    coordinator.kill()
    coordinator.wait()
    assert is_gone(facts["pid"])
    assert is_gone(facts["warden"])


def test_a_guard_belongs_to_its_process(monkeypatch):
    guard = Supervisor()
    assert guard.usable
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert not guard.usable
    monkeypatch.undo()
    guard.close()
    assert not guard.usable


def test_a_guard_that_rests_has_no_child_and_is_still_good_unless_its_surroundings_changed(tmp_path, monkeypatch):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    with Supervisor() as own:
        own.run(chunk_of(Trouble("tell", note=first)), dataset())
        assert own.data == dataset().content_hash
        assert own.reset()
        assert own.data is None
        assert is_gone(told(first)["pid"])
        own.run(chunk_of(Trouble("tell", note=second)), dataset())
        assert told(second)["warden"] == told(first)["warden"]
        monkeypatch.setenv("ANOTHER", "environment")
        assert not own.reset()


def test_the_stack_of_a_hang_ends_with_the_frames_of_the_trial(guard):
    """What a real process writes: it begins at the learner, and nothing of the guard's own modules is in it."""
    stack = trial(guard, "sleep", time=1).traceback.splitlines()
    files = [line.split('"')[1] for line in stack[1:]]
    assert files[0].endswith("tests/study/trouble.py")
    assert files[-1] == "fairtrial/study/run/trial.py"
    assert not [each for each in files if "/guard/" in each or each.startswith("<")]
