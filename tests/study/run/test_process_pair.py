"""A warden and its child are ended together."""

import os
import signal
import threading

import psutil

from fairtrial.study.run.fork_server import ForkServerLostError
from fairtrial.study.run.protocol import ProcessExit
from fairtrial.study.run.supervisor import ProcessPair, WorkerLostError
from tests.study.chunks import is_gone


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
