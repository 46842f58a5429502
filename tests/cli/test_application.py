"""The command line: application."""

import pytest
import typer
from typer.main import get_command

import fairtrial.measures.listing
from fairtrial import __version__
from fairtrial.cli import app
from fairtrial.cli.application import PANELS


def test_version(run):
    assert run("--version").output == f"fairtrial {__version__}\n"


def test_ctrl_c_ends_any_command_with_a_message(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fairtrial.measures.listing, "collect_facts", interrupted)
    told = run("measures")
    assert told.exit_code == 130
    assert told.stderr.startswith("fairtrial: stopped")


def test_ctrl_c_while_the_command_line_is_read(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("typer.core.TyperGroup.make_context", interrupted)
    told = run("measures")
    assert told.exit_code == 130
    assert told.stderr.startswith("fairtrial: stopped")


def test_no_command_shows_the_entry_points(run):
    result = run()
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert max(map(len, lines)) <= 80
    assert all(any(f"fairtrial {command} " in line for line in lines) for command in ("judge", "compare", "run", "gate"))


def test_every_command_has_a_heading_and_only_existing_commands_are_listed():
    listed = [command for commands in PANELS.values() for command in commands]
    assert sorted(listed) == sorted(get_command(app).list_commands(None))
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", sorted(command for commands in PANELS.values() for command in commands))
def test_examples_of_the_help_use_existing_options(name):
    command = get_command(app).get_command(typer.Context(get_command(app)), name)
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for line in (command.epilog or "").splitlines()[1:]:
        words = line.split()
        assert words[:2] == ["fairtrial", name]
        assert {word for word in words if word.startswith("--")} <= options


@pytest.mark.parametrize(
    ("arguments", "suggestion"), [(("judge", "a.csv", "--postive", "x"), "--positive"), (("jugde",), "judge")]
)
def test_misspelt_commands_and_options_are_corrected(arguments, suggestion, run):
    result = run(*arguments)
    assert result.exit_code == 2
    assert suggestion in result.stderr
