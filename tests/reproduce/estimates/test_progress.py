import io
import sys

import pytest

from fairtrial.reproduce.estimates.progress import counted


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("progress", "terminal", "told"), [(True, False, True), (None, True, True), (None, False, False)])
def test_told_if_asked_for_or_on_a_terminal(monkeypatch, progress, terminal, told):
    stream = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(counted(iter("ab"), "cell", 2, progress)) == ["a", "b"]
    assert stream.getvalue() == ("estimates: cell 1 of 2\nestimates: cell 2 of 2\n" if told else "")


def test_silent_on_a_terminal_where_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    list(counted(iter("ab"), "cell", 2, progress=False))
    assert sys.stderr.getvalue() == ""


def test_each_is_told_as_it_comes(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    coming = counted(iter("ab"), "cell", 2, progress=True)
    next(coming)
    assert stream.getvalue() == "estimates: cell 1 of 2\n"
