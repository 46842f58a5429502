"""The Python blocks of the README and of each page run in order and print what the page shows.

The page shows output in a comment after a print, or in a text block that follows.
"""

import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest

from fairtrial.measures import registry

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)[ ]+#\s(.+)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for attribute in ("_items", "_aliases"):  # undo what a page registers
        monkeypatch.setattr(registry, attribute, dict(getattr(registry, attribute)))
    names = {"__name__": "page"}
    blocks = [*FENCE.findall(page.read_text()), ("", "")]
    for (language, code), (next_language, text) in pairwise(blocks):
        if language == "python":
            printed = run(code, names)
            if next_language == "text":
                assert printed == [line.rstrip() for line in text.splitlines()]
            lines = iter(printed)
            for comment in PRINTED.findall(code):
                assert comment in lines, f"{comment!r} is not printed, or not in this order: {printed}"


def run(code, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "block", "exec"), names)
    return [line.rstrip() for line in out.getvalue().splitlines()]
