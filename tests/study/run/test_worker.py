"""The child, as its guard sees it: what it answers, over a socket and a pipe of our own."""

import os
import socket
import subprocess
import sys

import pytest

from fairtrial.study.run.fork_server import ENVIRONMENT
from fairtrial.study.run.protocol import DONE, READY, WORK, Frame, Inbox, LogTail, RecordMessage, WorkMessage, encode_frame
from fairtrial.study.run.worker import RESIDENT
from tests.study.chunks import chunk_of, dataset, expected

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
        inbox.feed(link.recv(1 << 16))
        while (frame := inbox.take()) is not None:
            got.append(frame)
    return got


def test_it_answers_each_trial_marks_its_output_and_ends_when_spoilt(child):
    link, log, process = child
    chunk = chunk_of("nothing", "talk and raise", "leave thread", "nothing")
    link.sendall(encode_frame(TOKEN, Frame(WORK, 5, WorkMessage(dataset(), chunk).encode())))
    ready, *answers = frames(link, 4)
    assert (ready.kind, ready.number) == (READY, 5)
    assert 10**7 < RESIDENT.unpack(ready.payload)[0] < 10**11
    assert [(each.kind, each.number) for each in answers] == [(DONE, 5), (DONE, 6), (DONE, 7)]
    evidence = [RecordMessage.decode(each.payload) for each in answers]
    assert [(each.status, last) for each, last in evidence] == [("ok", False), ("error", False), ("ok", True)]
    assert (evidence[2][0].prediction, evidence[2][0].scores) == expected()
    assert process.wait(60) == 0
    printed = os.read(log, 65536)
    places = [
        printed.index(each)
        for each in (LogTail.make_marker(TOKEN, 5), LogTail.make_marker(TOKEN, 6), b"I began", LogTail.make_marker(TOKEN, 7))
    ]
    assert places == sorted(places)
