"""Between two trials a process is put right, or known to be spoilt. Each case runs in a process of its own."""

import subprocess
import sys

import pytest

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
