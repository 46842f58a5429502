"""The calibration page lists every public test and explains every rate outside its band."""

import inspect
import re
from pathlib import Path

import pytest

from fairtrial import significance
from fairtrial.significance.posthoc import POSTHOC_METHODS

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "calibration.md").read_text()
TABLES, _, CLOSING = PAGE.partition("## Outside the band\n")
ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<setting>[^|]+) \| (?P<runs>[\d,]+) \| .* \| (?P<verdict>[^|]+) \|$", re.MULTILINE)
LINES = [found.groupdict() for found in ROW.finditer(TABLES)]
JUDGING = {
    "Outcome",
    "Effect",
    "Posterior",
    "HierarchicalPosterior",
    "PostHoc",
    "Strengths",
    "Verdict",
    "Power",
    "MarginDecision",
}
TESTS = sorted(
    name
    for name, each in vars(significance).items()
    if inspect.isfunction(each) and str(inspect.signature(each).return_annotation).strip("'\"") in JUDGING
)


def test_tests_are_found():
    assert {"paired_t", "wilcoxon", "posthoc", "hierarchical", "rank_biserial", "bradley_terry"} <= set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_page_lists_every_public_test(name):
    assert any(re.search(rf"\b{name}\b", line["what"]) for line in LINES)


@pytest.mark.parametrize("method", POSTHOC_METHODS)
def test_page_lists_every_posthoc_method(method):
    assert any(line["what"].startswith(f"posthoc, {method}") for line in LINES)


def test_no_line_is_too_liberal_without_being_named():
    for line in LINES:
        if "LIBERAL" in line["verdict"]:
            assert f"{line['what']} [{line['setting']}]" in CLOSING


def test_every_line_outside_its_band_has_a_reason():
    assert "reason is unknown" not in CLOSING
    assert {line["verdict"] for line in LINES} <= {"nominal", "conservative", "**TOO LIBERAL**", "not installed"}


def test_lines_have_enough_runs():
    assert "10,000 runs" in PAGE
    runs = [int(line["runs"].replace(",", "")) for line in LINES if line["verdict"] != "not installed"]
    assert sum(number >= 1000 for number in runs) > 0.65 * len(LINES)
    # Gaps between subgroups and thresholds are slow: 100 to 500 runs. Cells that apply to few samples have fewer.
    assert sum(number >= 300 for number in runs) > 0.8 * len(LINES)
    assert sum(number >= 100 for number in runs) > 0.95 * len(LINES)


def test_every_line_is_distinct():
    assert len({(line["what"], line["setting"]) for line in LINES}) == len(LINES)
