"""Writes docs/checks.md from the checks: python docs/make_checks_page.py."""

from pathlib import Path

from fairtrial.report.checks.documenting import render_checks_page

if __name__ == "__main__":
    Path(__file__).with_name("checks.md").write_text(render_checks_page(), encoding="utf-8", newline="\n")
