"""A failure says its class, its message and where it came from; nothing of it can break the store."""

import sys

import numpy as np
import pytest

from fairtrial.errors import LearnerError
from fairtrial.study.records import TrialRecord
from fairtrial.study.run.diagnostics import TrialFailure, strip_import_paths


class UnspeakableError(Exception):
    """Cannot be told."""

    def __str__(self):
        raise RuntimeError


def caught(error, cause=None):
    try:
        raise error from cause
    except BaseException as found:
        return TrialFailure.from_error(found)


def test_class_message_and_traceback():
    failure = caught(LearnerError("no rows"))
    assert (failure.status, failure.error, failure.message) == ("error", "fairtrial.errors.LearnerError", "no rows")
    assert failure.traceback.endswith("fairtrial.errors.LearnerError: no rows\n")
    assert 'test_diagnostics.py", line' in failure.traceback
    assert caught(ValueError("x")).error == "ValueError"


def test_files_of_packages_are_named_from_the_package_on():
    with pytest.raises(np.linalg.LinAlgError) as found:
        np.linalg.inv(np.zeros((2, 2)))
    assert 'File "numpy/linalg/' in TrialFailure.from_error(found.value).traceback


@pytest.mark.parametrize(
    ("error", "cause", "status"),
    [
        (MemoryError(), None, "memory"),
        (np.exceptions.AxisError("x"), None, "error"),
        (RuntimeError("wrapped"), MemoryError(), "memory"),
        (RuntimeError("other"), ValueError(), "error"),
        (SystemExit(3), None, "error"),
        (KeyboardInterrupt(), None, "error"),
    ],
)
def test_status(error, cause, status):
    assert caught(error, cause).status == status


def test_a_circle_of_causes_ends():
    first, second = ValueError(), ValueError()
    first.__cause__, second.__cause__ = second, first
    assert TrialFailure.from_error(first).status == "error"


def test_long_texts_are_cut_where_it_hurts_least():
    failure = caught(ValueError("m" * 9000 + "end"))
    assert failure.message == "m" * 2000
    assert len(failure.traceback) == 4000
    assert failure.traceback.endswith("mend\n")


def test_what_cannot_be_told_is_said_so():
    assert caught(UnspeakableError()).message.startswith("(")
    assert "test_diagnostics" in caught(UnspeakableError()).traceback


def test_half_characters_are_written_out():
    failure = caught(ValueError("a\ud800"))
    (failure.message + failure.traceback).encode("utf-8")
    assert failure.message == "a\\ud800"


def test_evidence_of_a_failure():
    evidence = TrialFailure("error", "E", "m", "t").to_record(b"key", memory=3)
    assert evidence == TrialRecord(b"key", "error", error="E", message="m", traceback="t", memory=3)


def test_the_longest_folder_goes_first(monkeypatch):
    monkeypatch.setattr(sys, "path", ["", "/", "/home/me", "/home/me/lib/", "/home/me/library"])
    text = (
        'File "/home/me/lib/pack/a.py", line 1\n  File "/home/me/b.py", line 2\n  '
        'File "/home/me/library/c.py"\n  File "/etc/d.py"'
    )
    assert strip_import_paths(text) == ('File "pack/a.py", line 1\n  File "b.py", line 2\n  File "c.py"\n  File "/etc/d.py"')
