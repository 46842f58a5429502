"""The command line: printing."""

import re
import warnings

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.cli.application import on_interrupt, print_frame, warnings_to_stderr
from fairtrial.errors import SuspectInputWarning
from fairtrial.measures import registry


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_of_any_width_shows_names_and_facts_in_full(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", CliRunner().invoke(app, ["measures"]).output)
    header, *lines, hint = text.splitlines()
    assert "--csv" in hint
    assert header.split()[:5] == ["measure", "needs", "better", "range", "chance"]
    assert len(lines) == len(registry)
    assert all(len(line) <= width for line in lines)
    line = next(line for line in lines if line.startswith("positive_likelihood_ratio"))
    assert "labels higher 0 to inf 1" in " ".join(line.split())


HOSTILE = [
    "cannot open [/data/train]",
    "[bold]forest",
    "[red]tree[/red]",
    ":warning: naive",
    "two\nlines",
    "\x1b[2Jgone",
    "日本語",
]


@pytest.mark.parametrize("terminal", [False, True])
def test_names_and_messages_are_plain_text(terminal, monkeypatch, capsys):
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("COLUMNS", "80")
    print_frame(pd.DataFrame({"[bold]name": HOSTILE, "n": range(len(HOSTILE))}))
    told = capsys.readouterr().out.splitlines()
    plain = [text.replace("\n", " ").replace("\x1b", "") for text in ["[bold]name", *HOSTILE]]
    assert len(told) == len(plain)
    for line, text in zip(told[1:], plain[1:], strict=True):
        assert line.startswith(text)
    assert "[bold]name" in told[0]


def test_numbers_have_4_significant_digits_and_no_line_ends_in_blanks(capsys):
    frame = pd.DataFrame({"value": [2 / 3, 123456.7, float("nan")], "count": [1, 20, 300], "note": ["a", "b" * 3000, None]})
    print_frame(frame)
    assert capsys.readouterr().out.splitlines() == [
        "value   count",
        "    note",
        "0.6667  1",
        "    a",
        "123457  20",
        f"    {'b' * 3000}",
        "        300",
    ]


def test_columns_that_do_not_fit_go_on_below_and_none_is_lost(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    print_frame(pd.DataFrame({f"column-{i}": [f"{i}" * 9] for i in range(5)}))
    told = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert told == [
        "column-0   column-1",
        "    column-2   column-3",
        "    column-4",
        "000000000  111111111",
        "    222222222  333333333",
        "    444444444",
    ]


def test_robustness_is_readable_on_a_narrow_terminal(finished, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    told = CliRunner().invoke(app, ["results", str(finished[0]), "--show", "robustness"]).output
    lines = re.sub(r"\x1b\[[0-9;]*m", "", told).splitlines()
    assert all(len(line) <= 80 for line in lines)
    shown = " ".join(lines[:2]).split("  ")
    wanted = ["condition", "level", "dataset", "learner", "clean", "noisy", "rla (low to high)", "ela (low to high)"]
    assert [each.strip() for each in shown if each.strip()] == wanted


def test_listings_have_no_trailing_blanks_off_a_terminal(run):
    for listing in ("learners", "measures"):
        assert not [line for line in run(listing).output.splitlines() if line.endswith(" ")]


def test_warnings_are_told_at_once(capsys):
    with warnings_to_stderr():
        warnings.warn("early", SuspectInputWarning, stacklevel=1)
        assert capsys.readouterr().err == "fairtrial: warning: early\n"


def test_who_was_stopped_may_say_it_better():
    for said, told in (((), "before"), (("3 of 4",), "3 of 4")):
        with pytest.raises(KeyboardInterrupt, match=told), on_interrupt("before"):
            raise KeyboardInterrupt(*said)
