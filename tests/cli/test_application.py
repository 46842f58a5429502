"""The command line: application."""

import fairtrial.measures.listing
from fairtrial import __version__


def test_version(run):
    assert run("--version").output == f"fairtrial {__version__}\n"


def test_any_command_that_is_stopped_says_so(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fairtrial.measures.listing, "build_facts_frame", interrupted)
    told = run("measures")
    assert told.exit_code == 130
    assert told.stderr == "fairtrial: stopped: run the same command again\n"


def test_ctrl_c_while_the_command_line_is_read(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("typer.core.TyperGroup.make_context", interrupted)
    told = run("measures")
    assert told.exit_code == 130
    assert told.stderr == "fairtrial: stopped before anything ran: run the same command again\n"
