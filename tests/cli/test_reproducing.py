"""The command reproduce."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.errors import InputError
from fairtrial.reproduce import experiments
from fairtrial.reproduce.reproduction import Claim, Reproduction, Table


@pytest.fixture
def one(monkeypatch):
    """A single experiment, that takes no time."""

    class Fast(experiments.Experiment):
        def run(self, request):
            claim = Claim("It is so", True, f"seed {request.seed}, {request.scale}")
            return Reproduction(
                ("Words.",), (Table("t", "T", pd.DataFrame({"a": [1]})),), (claim,), left_out={"ring": "damaged"}
            )

    monkeypatch.setattr(experiments, "EXPERIMENTS", {"fast": Fast("fast", "Fast one", "A paper", "none")})


def run(*words):
    return CliRunner().invoke(app, ["reproduce", *map(str, words)])


def test_without_a_name_all_are_listed():
    told = run()
    assert told.exit_code == 0
    assert all(name in told.output for name in ("ela", "dobscv", "tutorial", "drift", "ranking-real", "estimates"))


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(("name", "place"), [("fast", ""), ("all", "fast")])
def test_claims_are_told_and_the_page_is_named(name, place, tmp_path):
    told = run(name, "--scale", "full", "--seed", 5, "--out", tmp_path)
    assert told.exit_code == 0, told.output
    assert "holds: It is so\n" in told.output
    assert "1 statement: 1 holds, 0 do not hold, 0 open." in told.output
    assert "left out: ring: damaged" in told.output
    assert (tmp_path / place / "index.md").is_file()


@pytest.mark.usefixtures("one")
@pytest.mark.parametrize(("others", "code", "words"), [(["fast"], 0, "page: "), ([], 2, "fairtrial: no data")])
def test_of_all_the_one_without_data_is_left_out(others, code, words, monkeypatch, tmp_path):
    class Lost(experiments.Experiment):
        def run(self, request):
            raise InputError("no data")

    kept = {name: experiments.EXPERIMENTS[name] for name in others}
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"lost": Lost("lost", "Lost one", "A paper", "none"), **kept})
    told = run("all", "--out", tmp_path)
    assert told.exit_code == code
    assert "left out: lost: no data\n" in told.output
    assert words in told.output


@pytest.mark.usefixtures("one")
def test_mistakes_are_one_sentence(tmp_path):
    told = run("fats", "--out", tmp_path)
    assert told.exit_code == 2
    assert told.output == "fairtrial: no experiment is called 'fats': did you mean 'fast'?\n"
