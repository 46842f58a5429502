"""Tests of `fairtrial.study.run.fork_server`."""

import gc
import locale
import os
import signal
import socket
import subprocess
import sys
import threading
import timeit

import numpy as np
import psutil
import pytest
import sklearn

from fairtrial.errors import FairtrialError
from fairtrial.study.run import fork_server
from fairtrial.study.run.fork_server import (
    ENVIRONMENT,
    MESSAGE,
    REQUEST_BYTES,
    ForkServerClient,
    ForkServerLostError,
    StoppedError,
)
from fairtrial.study.run.meter import ProcessSettings
from fairtrial.study.run.protocol import ProcessExit
from fairtrial.study.run.supervisor import ProcessPair, WorkerLostError
from tests.study.chunks import is_gone

# --- Fork server ---
# The warden forks, tells how a child ended, and leaves nothing behind.


@pytest.fixture(scope="module")
def warden():
    link = ForkServerClient()
    yield link
    link.close()


@pytest.fixture
def ends():
    """The ends of a socket and of a pipe that a child gets, and ours."""
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    yield theirs, writer, ours
    for each in (ours, theirs):
        each.close()
    for each in (reader, writer):
        os.close(each)


def start(warden, ends):
    return warden.start_worker(ends[0], ends[1], os.urandom(16), lambda: False)


def test_it_tells_how_a_child_ended(warden, ends):
    first = start(warden, ends)
    os.kill(first, signal.SIGTERM)
    end = warden.wait_for_exit(first, 60)
    assert os.waitstatus_to_exitcode(end.status) == -signal.SIGTERM
    assert 10**7 < end.peak < 10**11
    second = start(warden, ends)
    assert os.waitstatus_to_exitcode(warden.kill(second).status) == -signal.SIGKILL
    assert is_gone(second)


def test_a_child_is_replaced_by_the_next(warden, ends):
    first, second = start(warden, ends), start(warden, ends)
    assert is_gone(first)
    os.kill(second, 0)


def test_what_a_terminal_sends_reaches_neither(warden, ends):
    child = start(warden, ends)
    process = psutil.Process(child).ppid()
    assert os.getsid(process) == process != os.getsid(0)
    os.kill(process, signal.SIGINT)
    assert os.waitstatus_to_exitcode(warden.kill(child).status) == -signal.SIGKILL


def test_it_ends_with_its_child_when_nobody_is_there(warden, ends):
    child = start(warden, ends)
    process = psutil.Process(child).ppid()
    warden.close()
    warden.close()
    assert is_gone(child)
    assert is_gone(process)


def test_a_child_ends_with_its_warden(warden, ends):
    child = start(warden, ends)
    os.kill(psutil.Process(child).ppid(), signal.SIGKILL)
    assert is_gone(child)
    with pytest.raises(ForkServerLostError):
        warden.wait_for_exit(child, 60)
    warden.close()


def test_all_requests_are_equally_long():
    assert REQUEST_BYTES == 17
    assert MESSAGE.size == 21


# --- Fork server client ---
# The guard's side of a warden: environment and path are handed over, failures to start are told.


@pytest.fixture
def ends_fork_server_client():
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    yield theirs, writer
    ours.close()
    theirs.close()
    os.close(reader)
    os.close(writer)


def test_a_warden_that_cannot_start_is_told_with_its_reason(ends_fork_server_client, monkeypatch):
    monkeypatch.setattr(fork_server, "_MAIN", "raise ImportError('no such thing')")
    link = ForkServerClient()
    with pytest.raises(FairtrialError, match="ImportError: no such thing"):
        link.start_worker(*ends_fork_server_client, bytes(16), lambda: False)
    assert link.control is None


def test_a_start_can_be_stopped(ends_fork_server_client):
    link = ForkServerClient()
    with pytest.raises(StoppedError):
        link.start_worker(*ends_fork_server_client, bytes(16), lambda: True)
    assert link.control is None


def test_path_and_environment_are_handed_over(ends_fork_server_client, monkeypatch, tmp_path):
    note = tmp_path / "note"
    code = f"import sys, os, json; json.dump([json.loads(sys.argv[2]), dict(os.environ)], open({str(note)!r}, 'w'))"
    monkeypatch.setattr(fork_server, "_MAIN", code)
    monkeypatch.setattr(sys, "path", ["", "/somewhere/else", *sys.path])
    with pytest.raises(FairtrialError, match="no answer"):
        ForkServerClient().start_worker(*ends_fork_server_client, bytes(16), lambda: False)
    import json

    path, environment = json.loads(note.read_text())
    assert path[:2] == [os.getcwd(), "/somewhere/else"]
    assert ENVIRONMENT.items() <= environment.items()


def test_a_warden_is_current_until_what_it_took_over_changes(ends_fork_server_client, monkeypatch, tmp_path):
    link = ForkServerClient()
    assert link.is_current()
    link.start_worker(*ends_fork_server_client, bytes(16), lambda: False)
    try:
        assert link.is_current()
        for change in (
            lambda: monkeypatch.setenv("ANOTHER", "value"),
            lambda: monkeypatch.syspath_prepend("/somewhere/else"),
            lambda: monkeypatch.chdir(tmp_path),
        ):
            change()
            assert not link.is_current()
            monkeypatch.undo()
            assert link.is_current()
    finally:
        link.close()


def test_a_server_in_a_deleted_folder_is_not_current(ends_fork_server_client, monkeypatch, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    client = ForkServerClient()
    client.start_worker(*ends_fork_server_client, bytes(16), lambda: False)
    try:
        folder.rmdir()
        folder.mkdir()
        monkeypatch.chdir(folder)
        assert not client.is_current()
    finally:
        client.close()


# --- Process pair ---
# A warden and its child are ended together.


def parent_of(process):
    return psutil.Process(process).ppid()


def test_a_child_is_made_when_asked_for_and_dropped():
    ward = ProcessPair()
    first = ward.get_worker()
    assert ward.get_worker() is first
    ward.drop_worker()
    ward.drop_worker()
    assert is_gone(first.process)
    second = ward.get_worker()
    warden = parent_of(second.process)
    end = ProcessExit(int(signal.SIGSEGV), 1)
    assert ward.drop_after(WorkerLostError(end)) == (end, "")
    assert is_gone(second.process)
    third = ward.get_worker()
    assert parent_of(third.process) == warden
    os.kill(warden, signal.SIGKILL)
    assert ward.drop_after(ForkServerLostError())[0] is None
    assert is_gone(third.process)
    assert ward.fork_server.control is None
    ward.close()


def test_it_is_stopped_by_either_event():
    ward = ProcessPair()
    assert not ward.is_stopped()
    ward.stop = threading.Event()
    assert not ward.is_stopped()
    ward.stop.set()
    assert ward.is_stopped()
    ward.stop = None
    ward.close()
    assert ward.is_stopped()


# --- Process settings ---
# What learners set for the whole process is put back, and costs next to nothing where nobody did.


def set_environment():
    os.environ["FAIRTRIAL_TEST_NEW"] = "1"
    os.environ["HOME"] = "elsewhere"
    del os.environ["PATH"]


def set_locale():
    other = "C" if locale.setlocale(locale.LC_ALL) != "C" else "C.UTF-8"
    locale.setlocale(locale.LC_ALL, other)


def set_path():
    sys.path = ["elsewhere"]


def collect_no_more():
    gc.disable()
    gc.set_threshold(1, 2, 3)


def environment_of_a_child():
    return subprocess.check_output([sys.executable, "-S", "-c", "import os; print(sorted(os.environ.items()))"])


CASES = {
    "NumPy's errors": (np.geterr, lambda: np.seterr(all="raise")),
    "NumPy's way to tell them": (np.geterrcall, lambda: np.seterrcall(print)),
    "scikit-learn": (sklearn.get_config, lambda: sklearn.set_config(transform_output="pandas", assume_finite=True)),
    "environment": (lambda: dict(os.environ), set_environment),
    "environment of C": (environment_of_a_child, set_environment),
    "folder": (os.getcwd, lambda: os.chdir("/")),
    "locale": (lambda: locale.setlocale(locale.LC_ALL), set_locale),
    "path": (lambda: list(sys.path), set_path),
    "path in place": (lambda: list(sys.path), lambda: sys.path.insert(0, "elsewhere")),
    "recursion": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(54321)),
    "garbage": (lambda: (gc.isenabled(), gc.get_threshold()), collect_no_more),
}


@pytest.mark.parametrize("case", CASES)
def test_what_was_set_is_put_back(case):
    read, change = CASES[case]
    path, settings, before = sys.path, ProcessSettings(), read()
    try:
        change()
        assert read() != before
    finally:
        settings.restore()
    assert read() == before
    assert sys.path is path


def test_it_costs_little_where_nothing_was_set():
    settings = ProcessSettings()
    fastest = min(timeit.repeat(settings.restore, number=200, repeat=20)) / 200
    assert fastest < 2e-4  # some 6 microseconds on an idle machine


# --- Process state ---
# Between two trials a process is put right, or known to be spoilt. Each case runs in a process of its own.


START = """
import os, resource, signal, socket, subprocess, sys, threading
from fairtrial.study.run.worker import ProcessState, measure_resident_memory
link, other = socket.socketpair()
here = ProcessState(link.fileno())
here.record_memory()
def clean(thoroughly=False):
    here.reset_timers_and_limits()
    return here.restore(check_memory=thoroughly)
"""


def run(code, **options):
    done = subprocess.run(
        [sys.executable, "-c", START + code], capture_output=True, text=True, timeout=60, check=False, **options
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_can_be_put_right_is():
    code = """
before = os.getcwd(), sys.getrecursionlimit(), sys.stdout
os.chdir("/"); sys.setrecursionlimit(54321); sys.stdout = None
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.setitimer(signal.ITIMER_REAL, 100); signal.setitimer(signal.ITIMER_PROF, 100)
fine = clean()
timers = [signal.getitimer(each)[0] for each in (signal.ITIMER_REAL, signal.ITIMER_PROF)]
print(fine, (os.getcwd(), sys.getrecursionlimit(), sys.stdout) == before, timers == [0, 0])
print(signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL)
"""
    assert run(code) == ["True"] * 4


@pytest.mark.parametrize(
    "deed",
    [
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "left = subprocess.Popen(['sleep', '0'])",
        "sys.stdout.close()",
        "os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
        "os.mkdir('x'); os.chdir('x'); here = ProcessState(link.fileno()); os.chdir('..'); os.rmdir('x')",
        "import locale; locale.setlocale = None",
    ],
)
def test_what_cannot_be_put_right_is_told(deed, tmp_path):
    report = "os.write(os.dup(saved), str(fine).encode())"
    code = f"saved = os.dup(1)\nbefore = clean()\n{deed}\nfine = clean() or not before\n{report}\nos._exit(0)"
    assert run(code, cwd=tmp_path) == ["False"]


def test_memory_is_limited_from_where_it_is_and_the_limit_is_lifted():
    code = """
def reserves(size):
    try:
        return bool(bytearray(size))
    except MemoryError:
        return False
size = 200_000_000
first = reserves(size)
here.limit_memory(100_000_000); under = reserves(size), reserves(10_000_000)
here.reset_timers_and_limits(); after = reserves(size)
here.limit_memory(None); free = reserves(size)
print(first, *under, after, free)
"""
    assert run(code) == ["True", "False", "True", "True", "True"]


def test_a_limit_of_the_system_stays():
    code = """
here.limit_memory(10**15)
print(resource.getrlimit(resource.RLIMIT_AS) == (8 * 10**9, resource.RLIM_INFINITY))
"""
    before = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (8 * 10**9, resource.RLIM_INFINITY))\n"
    done = subprocess.run([sys.executable, "-c", before + START + code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True"]


def test_a_process_that_keeps_much_is_replaced():
    code = """
import fairtrial.study.run.worker as tidying
tidying._MAX_GROWTH = 20_000_000
first = clean(thoroughly=True)
kept = bytearray(b"x") * 60_000_000
print(first, clean(), clean(thoroughly=True), measure_resident_memory() > 60_000_000)
"""
    assert run(code) == ["True", "True", "False", "True"]


def test_a_link_that_was_closed_is_not_mistaken_for_another_file():
    code = """
here.check_link()
number = link.fileno()
os.dup2(os.open(os.devnull, os.O_WRONLY), number)
try:
    here.check_link()
except OSError:
    print("seen")
"""
    assert run(code) == ["seen"]


def test_a_copy_of_the_process_goes_no_further():
    code = """
copy = os.fork()
here.reset_timers_and_limits()
print(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]), "once", flush=True)
"""
    assert run(code) == ["0", "once"]


LIMITS = """
def lowered(which, to):
    resource.setrlimit(which, to)
    fine = clean()
    return fine, resource.getrlimit(which) == before[which]
which = resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE
before = {each: resource.getrlimit(each) for each in which}
"""


def test_limits_of_the_system_that_a_learner_lowered_for_now_are_lifted():
    code = "print(*(flag for each in which for flag in lowered(each, (10**9, before[each][1]))))"
    assert run(LIMITS + code) == ["True"] * 6


def test_limits_that_were_lowered_for_good_are_told():
    """As anybody but the system's own user, who may raise them again."""
    user = "os.setuid(65534) if os.getuid() == 0 else None\n"
    code = "print(*(flag for each in which for flag in lowered(each, (10**9, 10**9))))"
    assert run(user + LIMITS + code) == ["False"] * 6


def test_a_limit_of_memory_that_was_lowered_for_good_strikes_as_little_as_may_be():
    code = """
os.setuid(65534) if os.getuid() == 0 else None
here.limit_memory(50_000_000)
hard = 8 * 10**9
resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[0], hard))
here.reset_timers_and_limits()
print(resource.getrlimit(resource.RLIMIT_AS) == (hard, hard))
"""
    assert run(code) == ["True"]
