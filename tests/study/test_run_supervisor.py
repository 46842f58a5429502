"""Tests of `fairtrial.study.run.supervisor`."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.naive_bayes import GaussianNB

from fairtrial.conditions import Clean
from fairtrial.data import Dataset
from fairtrial.study.records import ResourceLimits, TrialRecord, TrialTask
from fairtrial.study.run import fork_server
from fairtrial.study.run.diagnostics import MAX_CHARACTERS, STACK, TrialFailure, TrialOutput, format_size
from fairtrial.study.run.fork_server import ENVIRONMENT, ForkServerClient, StoppedError
from fairtrial.study.run.protocol import (
    DONE,
    READY,
    RESIDENT,
    TAIL_BYTES,
    WORK,
    Frame,
    Inbox,
    LogTail,
    MalformedMessageError,
    ProcessExit,
    RecordMessage,
    WorkMessage,
    encode_frame,
)
from fairtrial.study.run.supervisor import OutOfTimeError, Supervisor, WorkerConnection, WorkerLostError
from fairtrial.study.run.trial import TrialRunner
from fairtrial.study.run.trial_data import TrialData
from tests.study.chunks import chunk_of, dataset, expected, is_gone, is_right, told
from tests.study.trouble import Trouble

# --- Supervisor ---
# Whatever a learner does, only its own trial fails: those before and after it are right, and what happened is recorded.


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


OVERFLOWS = pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 raises an error before the stack overflows")


@pytest.mark.parametrize(
    ("deed", "message"),
    [
        ("os._exit", "code 3"),
        ("kill", "signal 9 (SIGKILL)"),
        ("killpg", "signal 9 (SIGKILL)"),
        ("terminate", "signal 15 (SIGTERM)"),
        ("abort", "signal 6 (SIGABRT)"),
        ("null pointer", "signal 11 (SIGSEGV)"),
        pytest.param("overflow", "signal 11 (SIGSEGV)", marks=OVERFLOWS),
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_trial_whose_worker_is_killed_from_outside_is_retried(guard, tmp_path, number):
    note = str(tmp_path / "note")
    with running(guard, chunk_of("nothing", Trouble("tell and sleep once", note=note), "nothing")) as records:
        os.kill(told(note)["pid"], number)
    assert [is_right(record) for record in records] == [True] * 3


def test_a_trial_whose_worker_is_killed_twice_fails_and_says_that_it_was_retried(guard, tmp_path):
    note = tmp_path / "note"
    with running(guard, chunk_of("nothing", Trouble("tell and sleep", note=str(note)), "nothing", time=60)) as records:
        for _ in range(2):
            worker = told(note)["pid"]
            note.unlink()
            os.kill(worker, signal.SIGKILL)
    assert [record.status for record in records] == ["ok", "crash", "ok"]
    assert "SIGKILL" in records[1].message
    assert records[1].message.endswith("the trial was retried once")


def test_a_fork_server_that_is_killed_while_it_starts_is_restarted(tmp_path, monkeypatch):
    """The first two fork servers kill themselves before they answer."""
    code = (
        f"import os, pathlib, signal; mark = pathlib.Path({str(tmp_path)!r}) / str(len(os.listdir({str(tmp_path)!r}))); "
        "mark.touch(); int(mark.name) < 2 and os.kill(os.getpid(), signal.SIGKILL); "
    )
    monkeypatch.setattr(fork_server, "_MAIN", code + fork_server._MAIN)
    with Supervisor() as own:
        assert all(map(is_right, own.run(chunk_of("nothing", "nothing"), dataset())))
    assert len(list(tmp_path.iterdir())) == 3


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


# --- Worker ---
# The child, as its guard sees it: what it answers, over a socket and a pipe of our own.


TOKEN = bytes(range(16))

# The process of the tests may have threads, and must not fork: another one does.
HOST = """
import os, sys
from tests.study.chunks import expected
from fairtrial.study.run.worker import become_worker
import fairtrial.study.run.fork_server
parent = os.getpid()
child = os.fork()
if child == 0:
    become_worker(int(sys.argv[1]), int(sys.argv[2]), bytes(range(16)), parent)
os.close(int(sys.argv[1])); os.close(int(sys.argv[2]))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture
def child():
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    with theirs:
        command = [sys.executable, "-c", HOST, str(theirs.fileno()), str(writer)]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno(), writer], env={**os.environ, **ENVIRONMENT})
    os.close(writer)
    ours.settimeout(60)
    yield ours, reader, process
    ours.close()
    os.close(reader)
    process.wait(60)


def frames(link, count):
    inbox, got = Inbox(TOKEN), []
    while len(got) < count:
        piece = link.recv(1 << 16)
        assert piece, f"the worker ended after {len(got)} of {count} messages"
        inbox.feed(piece)
        while (frame := inbox.take()) is not None:
            got.append(frame)
    return got


@pytest.mark.parametrize(
    ("learner", "status", "output"), [("talk and raise", "error", b"I began"), ("leave thread", "ok", b"")]
)
def test_a_worker_answers_each_trial_and_ends_after_a_failure_or_a_leftover_thread(child, learner, status, output):
    link, log, process = child
    chunk = chunk_of("nothing", learner, "nothing")
    link.sendall(encode_frame(TOKEN, Frame(WORK, 5, WorkMessage(dataset(), chunk).encode())))
    ready, *answers = frames(link, 3)
    assert (ready.kind, ready.number) == (READY, 5)
    assert 10**7 < RESIDENT.unpack(ready.payload)[0] < 10**11
    assert [(each.kind, each.number) for each in answers] == [(DONE, 5), (DONE, 6)]
    evidence = [RecordMessage.decode(each.payload) for each in answers]
    assert [(each.status, last) for each, last in evidence] == [("ok", False), (status, True)]
    assert (evidence[0][0].prediction, evidence[0][0].scores) == expected()
    assert process.wait(60) == 0
    printed = os.read(log, 65536)
    places = [printed.index(each) for each in (LogTail.make_marker(TOKEN, 5), LogTail.make_marker(TOKEN, 6), output)]
    assert places[:2] == sorted(places[:2])
    assert not output or places[2] > places[1]


# --- Worker connection ---
# The wait for a child: messages before its end, its end before the deadline, the deadline before for ever.


@pytest.fixture(scope="module")
def warden():
    link = ForkServerClient()
    yield link
    link.close()


@pytest.fixture
def stopped():
    return []


@pytest.fixture
def child_worker_connection(warden, stopped):
    link = WorkerConnection(warden, lambda: bool(stopped))
    yield link
    link.kill()
    link.close()


def send(child, *learners):
    child.send(WorkMessage(dataset(), chunk_of(*learners)).encode(), 60)
    assert child.wait_for_message(60).kind == READY


def test_what_a_child_sent_before_it_ended_is_heard_first(child_worker_connection):
    send(child_worker_connection, "nothing", "nothing", "os._exit")
    for _ in range(2):
        frame = child_worker_connection.wait_for_message(60)
        assert frame.kind == DONE
        assert is_right(RecordMessage.decode(frame.payload)[0])
    with pytest.raises(WorkerLostError) as lost:
        child_worker_connection.wait_for_message(60)
    assert os.waitstatus_to_exitcode(lost.value.end.status) == 3


def test_a_deadline_ends_the_wait_and_the_stack_can_be_had(child_worker_connection):
    send(child_worker_connection, "sleep")
    with pytest.raises(OutOfTimeError):
        child_worker_connection.wait_for_message(1)
    child_worker_connection.show_stack()
    assert "trouble.py" in child_worker_connection.log()
    assert os.waitstatus_to_exitcode(child_worker_connection.kill().status) == -signal.SIGKILL


def test_a_wait_can_be_stopped(child_worker_connection, stopped):
    send(child_worker_connection, "sleep")
    stopped.append(True)
    with pytest.raises(StoppedError):
        child_worker_connection.wait_for_message(None)
    with pytest.raises(StoppedError):
        child_worker_connection.send(b"more", 60)


def test_a_child_that_is_gone_takes_nothing(child_worker_connection):
    os.kill(child_worker_connection.process, signal.SIGKILL)
    with pytest.raises(WorkerLostError):
        child_worker_connection.send(bytes(1 << 27), 60)


def test_a_child_that_takes_nothing_is_given_up(child_worker_connection):
    os.kill(child_worker_connection.process, signal.SIGSTOP)
    with pytest.raises(OutOfTimeError):
        child_worker_connection.send(bytes(1 << 24), 0.5)


# --- Protocol ---
# Frames arrive in pieces; rubbish never passes for a message, and is never more than read.


FULL = TrialRecord(b"k" * 16, "ok", b"p", b"s", "decision", b"r", b"t", 0.1, 3, 0.0, 0, 2, 1.5, 0.5, 1.0, 0.25, 4096, "note")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=5), st.integers(1, 40))
def test_frames_come_whole_whatever_the_pieces(payloads, piece):
    sent = b"".join(encode_frame(TOKEN, Frame(DONE, number, payload)) for number, payload in enumerate(payloads))
    inbox, got = Inbox(TOKEN), []
    for start in range(0, len(sent), piece):
        inbox.feed(sent[start : start + piece])
        while (frame := inbox.take()) is not None:
            got.append(frame)
    assert got == [Frame(DONE, number, payload) for number, payload in enumerate(payloads)]


@pytest.mark.parametrize("rubbish", [b"x", bytes(40), TOKEN[:15] + b"x"])
def test_rubbish_before_a_frame_is_seen(rubbish):
    inbox = Inbox(TOKEN)
    inbox.feed(rubbish + encode_frame(TOKEN, Frame(DONE, 0, b"evidence")))
    with pytest.raises(MalformedMessageError, match="start"):
        inbox.take()


@pytest.mark.parametrize(
    "evidence", [FULL, TrialRecord(b"k" * 16, "error", error="E", message="half a pair: \ud800", traceback="t", log="l")]
)
def test_evidence_comes_back_as_it_was(evidence):
    assert RecordMessage.decode(RecordMessage(evidence, last=True).encode()) == (evidence, True)


def test_numbers_of_numpy_travel_as_plain_ones():
    kept = TrialRecord(b"k" * 16, "ok", b"p", fit_time=np.float64(0.5), changed=np.int64(3), notes=np.str_("n"))
    got, _ = RecordMessage.decode(RecordMessage(kept, last=False).encode())
    assert (got.fit_time, got.changed, got.notes) == (0.5, 3, "n")
    assert [type(each) for each in (got.fit_time, got.changed, got.notes)] == [float, int, str]


class Bomb:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_no_object_is_made_of_what_a_child_sends(tmp_path):
    with pytest.raises(MalformedMessageError):
        RecordMessage.decode(pickle.dumps(Bomb(str(tmp_path / "made"))))
    assert not (tmp_path / "made").exists()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_rubbish_is_no_evidence(rubbish):
    with pytest.raises(MalformedMessageError):
        RecordMessage.decode(rubbish)


@pytest.mark.parametrize(
    "wrong",
    [
        TrialRecord(b"k" * 16, "fine", b"p"),
        TrialRecord(b"k" * 16, "ok"),
        TrialRecord(b"k" * 16, "error", b"p"),
        TrialRecord("k", "ok", b"p"),
        TrialRecord(b"k" * 16, "ok", "p"),
        TrialRecord(b"k" * 16, "ok", b"p", changed=0.5),
        TrialRecord(b"k" * 16, "ok", b"p", fit_time="long"),
    ],
)
def test_impossible_evidence_is_refused(wrong):
    with pytest.raises(MalformedMessageError, match="cannot"):
        RecordMessage.decode(RecordMessage(wrong, last=False).encode())


def test_a_tuple_that_is_no_evidence_is_refused():
    with pytest.raises(MalformedMessageError, match="not a trial record"):
        RecordMessage.decode(pickle.dumps((True, 1, 2)))


def test_work_travels_with_its_data_or_without():
    chunk = chunk_of("nothing", "raise")
    data, got = WorkMessage.decode(WorkMessage(dataset(), chunk).encode())
    assert data == dataset()
    assert got.tasks == chunk.tasks
    assert got.learners == chunk.learners
    assert WorkMessage.decode(WorkMessage(None, chunk).encode())[0] is None


# --- Process exits ---
# What is recorded of trials that could not report themselves, in words.


TASK = TrialTask(b"k" * 16, 0, 0, 0, 1, 1)
ABORTED = ProcessExit(int(signal.SIGABRT), 10**6)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("os._exit(3)", "code 3"),
        ("os._exit(0)", "code 0"),
        ("os.kill(os.getpid(), 9)", "signal 9 (SIGKILL)"),
        ("os.kill(os.getpid(), 15)", "signal 15 (SIGTERM)"),
    ],
)
def test_exits_of_real_processes_are_described(code, words):
    process = subprocess.Popen([sys.executable, "-S", "-c", f"import os; {code}"])
    _, status = os.waitpid(process.pid, 0)
    process.returncode = 0
    assert words in ProcessExit(status, 0).describe()


def test_a_time_limit_names_its_remedy():
    evidence = TrialFailure.from_timeout(ResourceLimits(time=2), "it began").to_record(TASK.key, memory=512)
    assert (evidence.key, evidence.status, evidence.error) == (TASK.key, "timeout", "TimeLimit")
    assert "2 s" in evidence.message
    assert evidence.message.endswith("raise limits.time")
    assert (evidence.log, evidence.memory, evidence.fit_time) == ("it began", 512, None)


@pytest.mark.parametrize(
    ("limit", "log", "status"),
    [
        (None, "std::bad_alloc", "crash"),
        (2 * 10**8, "what():  std::bad_alloc", "memory"),
        (2 * 10**8, "OpenBLAS error: Memory allocation still failed after 10 retries", "memory"),
        (2 * 10**8, "mmap: Cannot allocate memory", "memory"),
        (2 * 10**8, "a wrong index", "crash"),
        (2 * 10**8, None, "crash"),
    ],
)
def test_a_crash_is_laid_to_memory_only_where_the_output_says_so(limit, log, status):
    evidence = TrialFailure.from_exit(ABORTED, ResourceLimits(60, limit), log).to_record(TASK.key)
    assert evidence.status == status
    assert evidence.message.startswith("killed by signal 6 (SIGABRT)")
    assert ("200 MB" in evidence.message) == (limit is not None)
    assert ("raise limits.memory" in evidence.message) == (status == "memory")


def test_sizes_are_written_for_people():
    assert [format_size(each) for each in (12, 1500, 250 * 10**6, 2 * 10**9)] == ["12 bytes", "1.5 kB", "250 MB", "2 GB"]


# --- Log tail ---
# What a child prints: the end of it is kept, and it is known whose it is.


TOKEN_LOG_TAIL = b"token"
MARKERS = [LogTail.make_marker(TOKEN_LOG_TAIL, number) for number in range(3)]


@pytest.fixture
def log():
    made = LogTail()
    yield made
    made.close()


def printed(log, *pieces):
    for piece in pieces:
        os.write(log.writer, piece)
    log.drain()


def test_output_is_that_of_its_trial(log):
    printed(
        log,
        b"before",
        LogTail.make_marker(TOKEN_LOG_TAIL, 0),
        b"zero\n",
        LogTail.make_marker(TOKEN_LOG_TAIL, 1),
        LogTail.make_marker(TOKEN_LOG_TAIL, 2),
        b"two\n",
    )
    assert [log.get_output(TOKEN_LOG_TAIL, number) for number in range(3)] == ["zero", "", "two"]


def test_a_trial_without_a_mark_gets_what_there_is(log):
    printed(log, b"it never began")
    assert log.get_output(TOKEN_LOG_TAIL, 0) == "it never began"


def test_a_flood_leaves_its_end_only(log):
    size = 40 * TAIL_BYTES
    flood = b"".join(b"%9d\n" % number for number in range(size // 10))

    def pour():
        os.write(log.writer, LogTail.make_marker(TOKEN_LOG_TAIL, 7))
        with os.fdopen(os.dup(log.writer), "wb") as end:
            end.write(flood)
        log.close_writer()

    thread = threading.Thread(target=pour)
    thread.start()
    while not log.ended:
        log.drain()
    thread.join()
    kept = log.get_output(TOKEN_LOG_TAIL, 7)
    assert flood.decode().strip().endswith(kept)
    assert TAIL_BYTES - 10 <= len(kept) <= 2 * TAIL_BYTES


def test_an_empty_pipe_is_not_waited_for(log):
    assert log.drain() is False
    printed(log, b"x" * 60_000)
    assert log.drain() is False


def test_bytes_that_are_no_text_are_shown_somehow(log):
    printed(log, LogTail.make_marker(TOKEN_LOG_TAIL, 0), b"\xff\xfe\x00 hm")
    assert log.get_output(TOKEN_LOG_TAIL, 0).endswith(" hm")


def test_the_list_of_modules_is_left_out(log):
    printed(
        log,
        LogTail.make_marker(TOKEN_LOG_TAIL, 0),
        b"Fatal Python error: Aborted\n\nExtension modules: numpy, pandas (total: 2)\n",
    )
    assert log.get_output(TOKEN_LOG_TAIL, 0) == "Fatal Python error: Aborted"


def test_a_stack_is_taken_out_without_our_frames():
    frames = '\n  File "/x/mine.py", line 3 in fit\n  File "/y/fairtrial/study/run/trial.py", line 60 in run\n'
    ours = '  File "/y/fairtrial/study/run/worker.py", line 9 in _run_trial\n  File "<string>", line 1 in <module>'
    log, stack = TrialOutput.parse("said\n" + STACK + frames + ours)
    assert log == "said"
    assert stack.startswith(STACK)
    assert "mine.py" in stack
    assert "worker.py" not in stack
    assert "<string>" not in stack


def test_long_texts_keep_their_telling_end():
    log, stack = TrialOutput.parse("a" * 9000 + "z" + STACK + "first" + "b" * 9000)
    assert (len(log), log[-1]) == (MAX_CHARACTERS, "z")
    assert (len(stack), stack[: len(STACK) + 5]) == (MAX_CHARACTERS, STACK + "first")


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
def test_nothing_printed_is_nothing(nothing):
    assert TrialOutput.parse(nothing) == (None, None)
