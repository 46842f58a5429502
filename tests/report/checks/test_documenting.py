"""The manual's page is what the checks say of themselves."""

import re
import runpy
from pathlib import Path

from fairtrial.report.checks import registry
from fairtrial.report.sections.sources import read_bibliography, split_citation
from tests.study.archives import real_results

SCRIPT = runpy.run_path(str(Path(__file__).resolve().parents[3] / "docs" / "make_checks_page.py"))
PAGE, render_checks_page = SCRIPT["PAGE"], SCRIPT["render_checks_page"]


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render_checks_page(), "run python docs/make_checks_page.py"


def test_every_check_has_its_entry_and_every_link_its_heading():
    text = render_checks_page()
    headings = {re.sub("[^a-z0-9 -]", "", line[3:].lower()).replace(" ", "-") for line in re.findall("^## .*$", text, re.M)}
    links = re.findall(r"\]\(#([^)]*)\)", text)
    assert len(links) == sum(number.startswith("FT") for number in registry)
    assert set(links) <= headings


def test_every_work_that_a_check_cites_is_in_the_bibliography():
    cited = {work for number in registry if number.startswith("FT") for work in split_citation(registry[number].cite)}
    assert cited <= set(read_bibliography())


def test_the_example_of_an_own_check_runs(monkeypatch):
    monkeypatch.setattr(registry, "_items", dict(registry._items))
    names = {"__name__": "page"}
    exec(re.search("^```py\n(.*?)^```$", render_checks_page(), re.M | re.S)[1], names)
    assert registry["LAB001"](real_results()).outcome == "raised"
