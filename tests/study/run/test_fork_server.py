"""The warden forks, tells how a child ended, and leaves nothing behind."""

import os
import signal
import socket

import psutil
import pytest

from fairtrial.study.run.fork_server import MESSAGE, REQUEST_BYTES, ForkServerClient, ForkServerLostError
from tests.study.chunks import is_gone


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
