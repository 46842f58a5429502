"""The command line: application."""

import fairtrial.measures.listing
from fairtrial import __version__


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
