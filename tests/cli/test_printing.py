"""The command line: printing."""

import re

import pytest
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.measures import registry


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_terminal_of_any_width_shows_names_and_facts_in_full(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = re.sub(r"\x1b\[[0-9;]*m", "", CliRunner().invoke(app, ["measures"]).output)
    header, *lines = text.splitlines()
    assert header.split()[:5] == ["measure", "needs", "better", "range", "chance"]
    assert len(lines) == len(registry)
    assert all(len(line) <= width for line in lines)
    line = next(line for line in lines if line.startswith("positive_likelihood_ratio"))
    assert "labels         higher  0 to inf     1" in line
