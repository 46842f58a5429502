"""Frames arrive in pieces; rubbish never passes for a message, and is never more than read."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fairtrial.study.records import TrialRecord
from fairtrial.study.run.protocol import DONE, Frame, Inbox, MalformedMessageError, RecordMessage, WorkMessage, encode_frame
from tests.study.chunks import chunk_of, dataset

TOKEN = bytes(range(16))
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
