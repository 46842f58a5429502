"""The guard's side of a warden: environment and path are handed over, failures to start are told."""

import os
import socket
import sys

import pytest

from fairtrial.errors import FairtrialError
from fairtrial.study.run import fork_server
from fairtrial.study.run.fork_server import ENVIRONMENT, ForkServerClient, StoppedError


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    yield theirs, writer
    ours.close()
    theirs.close()
    os.close(reader)
    os.close(writer)


def test_a_warden_that_cannot_start_is_told_with_its_reason(ends, monkeypatch):
    monkeypatch.setattr(fork_server, "_MAIN", "raise ImportError('no such thing')")
    link = ForkServerClient()
    with pytest.raises(FairtrialError, match="ImportError: no such thing"):
        link.start_worker(*ends, bytes(16), lambda: False)
    assert link.control is None


def test_a_start_can_be_stopped(ends):
    link = ForkServerClient()
    with pytest.raises(StoppedError):
        link.start_worker(*ends, bytes(16), lambda: True)
    assert link.control is None


def test_path_and_environment_are_handed_over(ends, monkeypatch, tmp_path):
    note = tmp_path / "note"
    code = f"import sys, os, json; json.dump([json.loads(sys.argv[2]), dict(os.environ)], open({str(note)!r}, 'w'))"
    monkeypatch.setattr(fork_server, "_MAIN", code)
    monkeypatch.setattr(sys, "path", ["", "/somewhere/else", *sys.path])
    with pytest.raises(FairtrialError, match="no answer"):
        ForkServerClient().start_worker(*ends, bytes(16), lambda: False)
    import json

    path, environment = json.loads(note.read_text())
    assert path[:2] == [os.getcwd(), "/somewhere/else"]
    assert ENVIRONMENT.items() <= environment.items()


def test_a_warden_is_current_until_what_it_took_over_changes(ends, monkeypatch, tmp_path):
    link = ForkServerClient()
    assert link.is_current()
    link.start_worker(*ends, bytes(16), lambda: False)
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
