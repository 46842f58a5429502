"""The command `reproduce`."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from fairtrial._registry import Registry
from fairtrial.cli import app
from fairtrial.errors import InputError
from fairtrial.reproduce import Claim, Experiment, Reproduction, ResultTable, experiment as module
from fairtrial.reproduce.papers import Paper

PAPER = Paper("Somebody", "A paper", "A journal", 2001)
TEMPLATE = '{% extends "page.md.j2" %}{% block text %}Text.{% endblock %}'


def run_fast(request):
    claim = Claim("It is so", "reproduced", f"seed {request.seed}, {request.scale}")
    table = ResultTable("t", "T", pd.DataFrame({"a": [1]}))
    return Reproduction({}, (table,), (claim,), skipped={"ring": "corrupted"})


def run_without_data(_request):
    raise InputError("no data")


@pytest.fixture
def register(monkeypatch, tmp_path_factory):
    """Replace all experiments: `register(name=function)`."""
    template = tmp_path_factory.mktemp("template") / "page.md.j2"
    template.write_text(TEMPLATE)
    module.load_experiments()  # registers the published experiments in their own registry

    def replace(**functions):
        registry = Registry("experiment", group="fairtrial.no-experiments")
        for name, function in functions.items():
            registry.add(name, Experiment(name, f"Title of {name}", PAPER, function, template))
        monkeypatch.setattr(module, "experiments", registry)

    return replace


def run(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_without_a_name_all_experiments_are_listed():
    result = run()
    assert result.exit_code == 0
    assert all(name in result.output for name in ("ela", "dobscv", "tutorial", "drift", "ranking-real", "estimates"))


@pytest.mark.parametrize(("name", "folder"), [("fast", ""), ("all", "fast")])
def test_outcomes_are_printed_and_the_page_is_named(name, folder, register, tmp_path):
    register(fast=run_fast)
    result = run(name, "--scale", "full", "--seed", 5, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "reproduced: It is so\n" in result.output
    assert "ring: corrupted" in result.output
    assert str(tmp_path / folder / "index.md") in result.output.replace("\n", "")
    assert (tmp_path / folder / "index.md").is_file()


@pytest.mark.parametrize(("others", "code"), [({"fast": run_fast}, 0), ({}, 2)])
def test_all_skips_an_experiment_without_data(others, code, register, tmp_path):
    register(lost=run_without_data, **others)
    result = run("all", "--out", tmp_path)
    assert result.exit_code == code
    assert "lost: no data\n" in result.output
    assert (tmp_path / "fast" / "index.md").is_file() is bool(others)


def test_an_unknown_name_gives_one_sentence_with_a_suggestion(register, tmp_path):
    register(fast=run_fast)
    result = run("fats", "--out", tmp_path)
    assert result.exit_code == 2
    assert result.output.count("\n") == 1
    assert "'fats'" in result.output
    assert "'fast'" in result.output
