"""What is recorded of trials that could not report themselves, in words."""

import os
import signal
import subprocess
import sys

import pytest

from fairtrial.study.records import ResourceLimits, TrialTask
from fairtrial.study.run.diagnostics import TrialFailure, format_size
from fairtrial.study.run.protocol import ProcessExit

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
