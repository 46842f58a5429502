"""The wait for a child: messages before its end, its end before the deadline, the deadline before for ever."""

import os
import signal

import pytest

from fairtrial.study.run.fork_server import ForkServerClient, StoppedError
from fairtrial.study.run.protocol import DONE, READY, RecordMessage, WorkMessage
from fairtrial.study.run.supervisor import OutOfTimeError, WorkerConnection, WorkerLostError
from tests.study.chunks import chunk_of, dataset, is_right


@pytest.fixture(scope="module")
def warden():
    link = ForkServerClient()
    yield link
    link.close()


@pytest.fixture
def stopped():
    return []


@pytest.fixture
def child(warden, stopped):
    link = WorkerConnection(warden, lambda: bool(stopped))
    yield link
    link.kill()
    link.close()


def send(child, *learners):
    child.send(WorkMessage(dataset(), chunk_of(*learners)).encode(), 60)
    assert child.wait_for_message(60).kind == READY


def test_what_a_child_sent_before_it_ended_is_heard_first(child):
    send(child, "nothing", "nothing", "os._exit")
    for _ in range(2):
        frame = child.wait_for_message(60)
        assert frame.kind == DONE
        assert is_right(RecordMessage.decode(frame.payload)[0])
    with pytest.raises(WorkerLostError) as lost:
        child.wait_for_message(60)
    assert os.waitstatus_to_exitcode(lost.value.end.status) == 3


def test_a_deadline_ends_the_wait_and_the_stack_can_be_had(child):
    send(child, "sleep")
    with pytest.raises(OutOfTimeError):
        child.wait_for_message(1)
    child.show_stack()
    assert "trouble.py" in child.log()
    assert os.waitstatus_to_exitcode(child.kill().status) == -signal.SIGKILL


def test_a_wait_can_be_stopped(child, stopped):
    send(child, "sleep")
    stopped.append(True)
    with pytest.raises(StoppedError):
        child.wait_for_message(None)
    with pytest.raises(StoppedError):
        child.send(b"more", 60)


def test_a_child_that_is_gone_takes_nothing(child):
    os.kill(child.process, signal.SIGKILL)
    with pytest.raises(WorkerLostError):
        child.send(bytes(1 << 27), 60)


def test_a_child_that_takes_nothing_is_given_up(child):
    os.kill(child.process, signal.SIGSTOP)
    with pytest.raises(OutOfTimeError):
        child.send(bytes(1 << 24), 0.5)
