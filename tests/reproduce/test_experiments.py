"""Experiments by name."""

from importlib import import_module

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.reproduce import experiments
from fairtrial.reproduce.experiments import EXPERIMENTS, Experiment, reproduce
from fairtrial.reproduce.reproduction import Reproduction, Table


@pytest.fixture
def noted(monkeypatch):
    """An experiment that notes what it is asked for."""
    seen = []

    class Noting(Experiment):
        def run(self, request):
            seen.append(request)
            return Reproduction(("Nothing to see.",), (Table("one", "One", pd.DataFrame({"a": [1.5]})),))

    monkeypatch.setitem(experiments.EXPERIMENTS, "noting", Noting("noting", "A title", "A paper", "none"))
    return seen


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_be_run(name):
    assert callable(import_module(f"fairtrial.reproduce.{EXPERIMENTS[name].module}").run)


def test_all_experiments_of_the_papers_are_there():
    assert list(EXPERIMENTS) == ["ela", "dobscv", "tutorial", "drift", "ranking-synthetic", "ranking-real", "estimates"]


def test_what_is_asked_arrives(noted, tmp_path):
    reproduce("noting", scale="full", out=tmp_path / "a" / "b", jobs=3, seed=7)
    assert noted[0].scale == "full"
    assert (noted[0].jobs, noted[0].seed, noted[0].out) == (3, 7, tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "index.md").is_file()


@pytest.mark.usefixtures("noted")
def test_files_go_to_a_folder_of_the_experiments_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reproduce("noting")
    assert (tmp_path / "reproduced" / "noting" / "one.csv").read_text() == "a\n1.5\n"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("rankingreal", {}, "did you mean 'ranking-real'"),
        ("ela", {"scale": "huge"}, "scale must be one of"),
        ("ela", {"jobs": 0}, "jobs must be a number of processes"),
        ("ela", {"seed": 1.5}, "seed must be a whole number"),
        ("ranking-real", {"measures": ["no.such_measure"]}, "no measure can be imported as 'no.such_measure'"),
        ("ela", {"measures": ["a.b"]}, "measures can join ranking-real only"),
    ],
)
def test_mistakes_are_told(name, options, words, tmp_path):
    with pytest.raises(InputError, match=words):
        reproduce(name, out=tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("noted")
def test_a_page_that_is_not_ours_is_not_lost(tmp_path):
    reproduce("noting", out=tmp_path)
    reproduce("noting", out=tmp_path)  # its own page may be written again
    (tmp_path / "index.md").write_text("# My notes\n")
    with pytest.raises(InputError, match="is not of noting: choose another folder"):
        reproduce("noting", out=tmp_path)
    assert (tmp_path / "index.md").read_text() == "# My notes\n"
