"""Every Python block of the README and the documentation runs as printed and prints what the page says.

What it says stands in a comment behind the print, or in a text block that follows.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^\s*print\(.*\)[ ]+#\s(.+)$", re.MULTILINE)


def blocks():
    for page in PAGES:
        found = FENCE.findall(page.read_text())
        for i, (language, code) in enumerate(found):
            if language == "python":
                follows = found[i + 1] if i + 1 < len(found) else ("", "")
                expected = follows[1] if follows[0] == "text" else None
                yield pytest.param(code, expected, id=f"{page.relative_to(ROOT)}-{i}")


@pytest.mark.parametrize(("code", "expected"), list(blocks()))
def test_block_runs_and_prints_what_the_page_says(code, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "block", "exec"), {"__name__": "block"})
    printed = [line.rstrip() for line in out.getvalue().splitlines()]
    if expected is not None:
        assert printed == [line.rstrip() for line in expected.splitlines()]
    places = iter(printed)
    for comment in PRINTED.findall(code):
        assert comment in places, f"{comment!r} is not printed, or not in this order: {printed}"
