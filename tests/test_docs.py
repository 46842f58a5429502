"""The code blocks of the README and of each page run in order and print what the page shows.

A page shows output in a comment after a print, or in a text block that follows. A console block shows commands after `$` and
what they print. A TOML block that begins with a file name, such as `# study.toml`, is written to that file. The files of
docs/data, which pages offer for download, are in the current folder and in docs/data. Blocks inside HTML comments run as well.
"""

import contextlib
import io
import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
import typer
from typer.testing import CliRunner

from fairtrial.cli import app
from fairtrial.measures import registry

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)[ ]+#\s(.+)$", re.MULTILINE)
FILE_NAME = re.compile(r"# ([\w-]+\.toml)\n")
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
COMMAND_IN_BASH = re.compile(r"^fairtrial .*(?:\\\n.*)*$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for folder in (tmp_path, tmp_path / "docs" / "data"):
        shutil.copytree(ROOT / "docs" / "data", folder, dirs_exist_ok=True)
    for attribute in ("_items", "_aliases"):  # undo what a page registers
        monkeypatch.setattr(registry, attribute, dict(getattr(registry, attribute)))
    page_module = ModuleType("__main__")  # classes and measures of a page can be pickled, as in a script
    monkeypatch.setitem(sys.modules, "__main__", page_module)
    blocks = [*FENCE.findall(page.read_text()), ("", "")]
    for (language, code), (next_language, text) in pairwise(blocks):
        if language == "python":
            printed = run(code, vars(page_module))
            if next_language == "text":
                assert printed == [line.rstrip() for line in text.splitlines()]
            lines = iter(printed)
            for comment in PRINTED.findall(code):
                assert comment in lines, f"{comment!r} is not printed, or not in this order: {printed}"
        elif language == "console":
            for command, shown in COMMAND.findall(code):
                assert run_command(command) == [line.rstrip() for line in shown.splitlines()]
        elif language == "toml" and (name := FILE_NAME.match(code)):
            Path(name[1]).write_text(code)


def test_commands_in_bash_blocks_have_options_that_exist():
    unknown = [
        f"{page.relative_to(ROOT)}: {command}"
        for page in PAGES
        for language, code in FENCE.findall(page.read_text())
        if language == "bash"
        for command in COMMAND_IN_BASH.findall(code)
        if not has_known_options(shlex.split(command, comments=True)[1:])
    ]
    assert unknown == []


def run(code, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "block", "exec"), names)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def run_command(command):
    words = shlex.split(command)
    assert words[0] == "fairtrial"
    result = CliRunner().invoke(app, words[1:])
    return [line.rstrip() for line in (result.stdout or result.stderr).splitlines()]


def has_known_options(words):
    command = typer.main.get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words[0]]
        words = words[1:]
    options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return all(word.partition("=")[0] in {*options, "--help"} for word in words if re.match(r"--?[a-z]", word))
