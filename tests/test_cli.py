"""The command line."""

import io

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial import __version__
from fairtrial.cli import app
from fairtrial.measures import registry


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(app, list(words))


def test_measures_are_listed(run):
    result = run("measures")
    assert result.exit_code == 0
    assert all(name in result.output for name in registry)


def test_measures_as_csv(run):
    frame = pd.read_csv(io.StringIO(run("measures", "--needs", "scores", "--csv").output))
    assert set(frame["measure"]) == {each.name for each in registry.values() if each.facts.needs == "scores"}


def test_one_measure_in_full(run):
    result = run("measures", "h_measure")
    assert "severity_ratio" in result.output
    assert "Hand 2009" in result.output


def test_a_wrong_name_gets_one_sentence_and_code_2(run):
    result = run("measures", "h_mesure")
    assert result.exit_code == 2
    assert result.stderr == "fairtrial: no measure is called 'h_mesure': did you mean 'h_measure'?\n"


def test_version(run):
    assert run("--version").output == f"fairtrial {__version__}\n"
