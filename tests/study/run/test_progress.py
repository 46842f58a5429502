import io
import re

import pytest
from rich.console import Console

from fairtrial.study.records import TrialRecord
from fairtrial.study.run.progress import LineProgress, LiveProgress, Rate, RunSummary, SilentProgress, choose_progress

GOOD = TrialRecord(b"1", "ok", fit_time=0.25, predict_time=0.5)
SLOW = TrialRecord(b"2", "timeout", error="TimeoutError", message="took more than [5] s\nsecond line", fit_time=5.0)


def play(progress):
    progress.start("quick", ["fast", "slow"], 6, 2, "local, 2 workers")
    progress.add_records([("fast", GOOD), ("slow", SLOW)])
    progress.add_records([("fast", GOOD), ("slow", SLOW)])
    progress.stop(RunSummary(6, 2, 4, {"timeout": 2}, 1.0))


def picture(live):
    shown = Console(file=io.StringIO(), width=live._console.width)
    shown.print(live._render())
    return shown.file.getvalue()


def display(learners, study="quick", planned=1152, width=80):
    live = LiveProgress(Console(file=io.StringIO(), force_terminal=True, width=width))
    live.start(study, learners, planned, 0, "local")
    return live


def test_lines_for_logs_start_end_and_each_kind_of_failure_once(capsys):
    play(LineProgress())
    start, failure, end = capsys.readouterr().err.splitlines()
    assert start == "quick: 6 trials, 2 stored before, local, 2 workers"
    assert failure.startswith("slow: timeout (TimeoutError: took more than [5] s)")
    assert end == str(RunSummary(6, 2, 4, {"timeout": 2}, 1.0))


def test_a_run_that_broke_off_has_no_last_line(capsys):
    lines = LineProgress()
    lines.start("quick", [], 6, 2, "local")
    lines.stop(None)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_display_has_counts_failures_and_mean_times_of_each_learner():
    out = io.StringIO()
    live = LiveProgress(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast", "[/slow]"], 6, 2, "local, 2 workers")
    live.add_records([("fast", GOOD), ("fast", GOOD), ("[/slow]", SLOW)])
    shown = picture(live)
    assert "5/6" in shown
    assert "1 failed" in shown
    assert re.search(r"fast +2 +250 ms +500 ms", shown)
    assert re.search(r"\[/slow\] +1 +1 +5 s *\n", shown)  # nothing was predicted: no mean
    assert "trials/s" not in shown
    assert "left" not in shown
    live.stop(RunSummary(6, 2, 3, {"timeout": 1}, 1.0, interrupted=True))
    assert "stopped: 5 of 6 trials stored" in out.getvalue()
    assert out.getvalue().endswith("\n")


def test_the_display_is_closed_where_the_run_broke_off():
    out = io.StringIO()
    live = LiveProgress(Console(file=out, force_terminal=True, width=120))
    live.start("quick", ["fast"], 6, 2, "local")
    live.stop(None)
    assert not live._live.is_started
    assert "\x1b[?25h" in out.getvalue()  # the cursor is shown again


@pytest.mark.parametrize("kind", [LineProgress, LiveProgress])
def test_a_run_with_nothing_to_do_is_one_line(kind, capsys):
    kind().stop(RunSummary(6, 6, 0))
    assert capsys.readouterr().err == f"{RunSummary(6, 6, 0)}\n"


@pytest.mark.parametrize(("wanted", "kind"), [(None, LineProgress), (True, LiveProgress), (False, SilentProgress)])
def test_not_in_a_terminal(wanted, kind):
    assert type(choose_progress(wanted)) is kind


def test_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    assert type(choose_progress(None)) is LiveProgress


def test_an_object_of_ones_own_is_taken_as_it_is():
    own = SilentProgress()
    assert choose_progress(own) is own


def test_silence(capsys):
    play(SilentProgress())
    assert capsys.readouterr() == ("", "")


def test_learners_that_fail_are_shown_first_and_nothing_of_them_is_cut():
    names = [f"learner-{i:02}" for i in range(15)]
    live = display(names, "a study whose name is as long as a name can be")
    live.add_records([(name, GOOD) for name in names[:-2]])
    live.add_records([(name, TrialRecord(b"3", "timeout", error="TimeLimit")) for name in names[-2:]])
    shown = picture(live)
    live.stop(None)
    assert "15/1152" in shown
    assert "2 failed" in shown
    lines = shown.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("learner ")) + 1
    assert [line.split() for line in lines[first : first + 2]] == [["learner-13", "1", "1"], ["learner-14", "1", "1"]]
    assert lines[-1].startswith("and 3 other learners")
    assert "0 ms" not in shown.replace("250 ms", "").replace("500 ms", "")


@pytest.mark.parametrize("name", ["[bold]forest", "[/data/train]", ":warning:", "tree[red]", "two\nlines"])
def test_names_and_messages_are_plain_text(name):
    failure = TrialRecord(b"4", "error", error="OSError", message=f"cannot open {name}")
    live = display([name], study=name)
    live.add_records([(name, failure)])
    shown = picture(live)
    live.stop(None)
    plain = name.replace("\n", " ")
    said = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", live._console.file.getvalue())
    assert shown.count(plain) == 2  # the study and the learner
    assert f"{plain}: error (OSError: cannot open {name.splitlines()[0]})" in said


def test_a_long_reason_is_cut_after_a_word(capsys):
    lines = LineProgress()
    lines.add_records([("tree", TrialRecord(b"5", "error", error="ValueError", message="singular matrix " * 50))])
    told = capsys.readouterr().err
    assert re.match(r"tree: error \(ValueError: (singular matrix )+singular( matrix)?…\)", told)


def test_the_rate_is_told_once_it_means_something_and_is_smoothed():
    now = [100.0]
    rate = Rate(lambda: now[0])
    assert rate.value is None
    now[0] = 101.0
    rate.add(50)
    assert rate.value is None
    for _ in range(600):
        now[0] += 1.0
        rate.add(10)
    assert rate.value == pytest.approx(10.0, rel=1e-3)  # what was at the start is forgotten
    now[0] += 0.001
    rate.add(10)
    assert rate.value < 11  # one batch does not change it much


def test_the_time_left_is_what_is_left_at_that_rate():
    live = display(["fast"], planned=130)
    now = [0.0]
    live._rate = Rate(lambda: now[0])
    now[0] = 10.0
    live.add_records([("fast", GOOD)] * 10)
    shown = picture(live)
    live.stop(None)
    assert "1 trials/s, 2 min left" in shown
