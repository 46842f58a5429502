"""What a child prints: the end of it is kept, and it is known whose it is."""

import os
import threading

import pytest

from fairtrial.study.run.diagnostics import MAX_CHARACTERS, STACK, TrialOutput
from fairtrial.study.run.protocol import TAIL_BYTES, LogTail

TOKEN = b"token"
MARKERS = [LogTail.make_marker(TOKEN, number) for number in range(3)]


@pytest.fixture
def log():
    made = LogTail()
    yield made
    made.close()


def printed(log, *pieces):
    for piece in pieces:
        os.write(log.writer, piece)
    log.drain()


def test_output_is_that_of_its_trial(log):
    printed(
        log,
        b"before",
        LogTail.make_marker(TOKEN, 0),
        b"zero\n",
        LogTail.make_marker(TOKEN, 1),
        LogTail.make_marker(TOKEN, 2),
        b"two\n",
    )
    assert [log.get_output(TOKEN, number) for number in range(3)] == ["zero", "", "two"]


def test_a_trial_without_a_mark_gets_what_there_is(log):
    printed(log, b"it never began")
    assert log.get_output(TOKEN, 0) == "it never began"


def test_a_flood_leaves_its_end_only(log):
    size = 40 * TAIL_BYTES
    flood = b"".join(b"%9d\n" % number for number in range(size // 10))

    def pour():
        os.write(log.writer, LogTail.make_marker(TOKEN, 7))
        with os.fdopen(os.dup(log.writer), "wb") as end:
            end.write(flood)
        log.close_writer()

    thread = threading.Thread(target=pour)
    thread.start()
    while not log.ended:
        log.drain()
    thread.join()
    kept = log.get_output(TOKEN, 7)
    assert flood.decode().strip().endswith(kept)
    assert TAIL_BYTES - 10 <= len(kept) <= 2 * TAIL_BYTES


def test_an_empty_pipe_is_not_waited_for(log):
    assert log.drain() is False
    printed(log, b"x" * 60_000)
    assert log.drain() is False


def test_bytes_that_are_no_text_are_shown_somehow(log):
    printed(log, LogTail.make_marker(TOKEN, 0), b"\xff\xfe\x00 hm")
    assert log.get_output(TOKEN, 0).endswith(" hm")


def test_the_list_of_modules_is_left_out(log):
    printed(log, LogTail.make_marker(TOKEN, 0), b"Fatal Python error: Aborted\n\nExtension modules: numpy, pandas (total: 2)\n")
    assert log.get_output(TOKEN, 0) == "Fatal Python error: Aborted"


def test_a_stack_is_taken_out_without_our_frames():
    frames = '\n  File "/x/mine.py", line 3 in fit\n  File "/y/fairtrial/study/run/trial.py", line 60 in run\n'
    ours = '  File "/y/fairtrial/study/run/worker.py", line 9 in _run_trial\n  File "<string>", line 1 in <module>'
    log, stack = TrialOutput.parse("said\n" + STACK + frames + ours)
    assert log == "said"
    assert stack.startswith(STACK)
    assert "mine.py" in stack
    assert "worker.py" not in stack
    assert "<string>" not in stack


def test_long_texts_keep_their_telling_end():
    log, stack = TrialOutput.parse("a" * 9000 + "z" + STACK + "first" + "b" * 9000)
    assert (len(log), log[-1]) == (MAX_CHARACTERS, "z")
    assert (len(stack), stack[: len(STACK) + 5]) == (MAX_CHARACTERS, STACK + "first")


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
def test_nothing_printed_is_nothing(nothing):
    assert TrialOutput.parse(nothing) == (None, None)
