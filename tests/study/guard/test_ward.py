"""A warden and its child are ended together."""

import os
import signal
import threading

import psutil

from fairtrial.study.guard.blame import Exit
from fairtrial.study.guard.child_link import ChildLostError
from fairtrial.study.guard.ward import Ward
from fairtrial.study.guard.warden_link import WardenLostError
from tests.study.chunks import is_gone


def parent_of(process):
    return psutil.Process(process).ppid()


def test_a_child_is_made_when_asked_for_and_dropped():
    ward = Ward()
    first = ward.child()
    assert ward.child() is first
    ward.drop_child()
    ward.drop_child()
    assert is_gone(first.process)
    second = ward.child()
    warden = parent_of(second.process)
    end = Exit(int(signal.SIGSEGV), 1)
    assert ward.drop_after(ChildLostError(end)) == (end, "")
    assert is_gone(second.process)
    third = ward.child()
    assert parent_of(third.process) == warden
    os.kill(warden, signal.SIGKILL)
    assert ward.drop_after(WardenLostError())[0] is None
    assert is_gone(third.process)
    assert ward.warden.control is None
    ward.close()


def test_it_is_stopped_by_either_event():
    ward = Ward()
    assert not ward.stopped()
    ward.stop = threading.Event()
    assert not ward.stopped()
    ward.stop.set()
    assert ward.stopped()
    ward.stop = None
    ward.close()
    assert ward.stopped()
