import io
import re

import pytest
from rich.console import Console

from fairtrial.study.engine.progress import Lines, Live, Silent, progress_of
from fairtrial.study.engine.run_summary import RunSummary
from fairtrial.study.records import Evidence

GOOD = Evidence(b"1", "ok", fit_time=0.25, predict_time=0.5)
SLOW = Evidence(b"2", "timeout", error="TimeoutError", message="took more than [5] s\nsecond line", fit_time=5.0)


def play(progress):
    progress.start("quick", ["fast", "slow"], 6, 2, "local, 2 workers")
    progress.came([("fast", GOOD), ("slow", SLOW)])
    progress.came([("fast", GOOD), ("slow", SLOW)])
    progress.stop(RunSummary(6, 2, 4, {"timeout": 2}, 1.0))


def test_lines_for_logs_start_end_and_each_kind_of_failure_once(capsys):
    play(Lines())
    assert capsys.readouterr().err.splitlines() == [
        "quick: 6 trials, 2 stored before, local, 2 workers",
        "slow: timeout (TimeoutError: took more than [5] s); the study goes on",
        "all 6 trials are stored: 4 done in 1.0 s, 2 before; 2 failed (2 timeout)",
    ]


def test_a_run_that_broke_off_has_no_last_line(capsys):
    lines = Lines()
    lines.start("quick", [], 6, 2, "local")
    lines.stop(None)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_display_has_counts_failures_and_mean_times_of_each_learner():
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast", "[/slow]"], 6, 2, "local, 2 workers")
    live.came([("fast", GOOD), ("fast", GOOD), ("[/slow]", SLOW)])
    with live._console.capture() as capture:
        live._console.print(live._picture())
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capture.get())
    assert "5/6" in shown
    assert "1 failed" in shown
    assert re.search(r"fast +2 +250 ms +500 ms", shown)
    assert re.search(r"\[/slow\] +1 +5 s +0 ms +1", shown)
    live.stop(RunSummary(6, 2, 3, {"timeout": 1}, 1.0, interrupted=True))
    assert "stopped: 5 of 6 trials are stored" in out.getvalue()
    assert out.getvalue().endswith("\n")


def test_the_display_is_closed_where_the_run_broke_off():
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast"], 6, 2, "local")
    live.stop(None)
    assert not live._live.is_started
    assert "\x1b[?25h" in out.getvalue()  # the cursor is shown again


@pytest.mark.parametrize("kind", [Lines, Live])
def test_a_run_with_nothing_to_do_is_one_line(kind, capsys):
    kind().stop(RunSummary(6, 6, 0))
    assert capsys.readouterr().err == "all 6 trials were stored before: nothing to do\n"


@pytest.mark.parametrize(("wanted", "kind"), [(None, Lines), (True, Live), (False, Silent)])
def test_not_in_a_terminal(wanted, kind):
    assert type(progress_of(wanted)) is kind


def test_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    assert type(progress_of(None)) is Live


def test_an_object_of_ones_own_is_taken_as_it_is():
    own = Silent()
    assert progress_of(own) is own


def test_silence(capsys):
    play(Silent())
    assert capsys.readouterr() == ("", "")
