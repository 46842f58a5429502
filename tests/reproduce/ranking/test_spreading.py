"""Tasks spread over threads."""

import threading

import pytest

from fairtrial.reproduce.ranking.spreading import spread


def test_results_come_in_the_order_of_tasks():
    gate = threading.Event()

    def work(task):
        if task == 0:
            assert gate.wait(10)  # the first task ends last
        if task == 5:
            gate.set()
        return -task

    assert spread(work, range(6), jobs=2) == [0, -1, -2, -3, -4, -5]


def test_lines_are_told_after_each_quarter(capsys):
    spread(str, range(8), jobs=1, name="things", progress=None)
    assert capsys.readouterr().err.splitlines() == [f"things: {done} of 8" for done in (2, 4, 6, 8)]


def test_the_bar_and_silence(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    assert spread(str, range(3), jobs=1, name="things", progress=True) == ["0", "1", "2"]
    assert "things" in capsys.readouterr().err
    spread(str, range(3), jobs=1, name="things", progress=False)
    assert capsys.readouterr().err == ""


def test_a_failure_stops_what_has_not_begun():
    begun = []

    def work(task):
        begun.append(task)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        spread(work, range(200), jobs=1)
    assert len(begun) < 200
