"""The calibration page reports every public test and explains every rate that is too liberal."""

import csv
import inspect
import re
from pathlib import Path

import pytest

from fairtrial import significance
from fairtrial.significance.posthoc import POSTHOC_METHODS

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "calibration.md").read_text(encoding="utf-8")
ORIGIN, *LINES = (DOCS / "data" / "calibration.csv").read_text(encoding="utf-8").splitlines()
RATES = list(csv.DictReader(LINES))
RESULT_TYPES = {
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
    for name, function in vars(significance).items()
    if inspect.isfunction(function) and str(inspect.signature(function).return_annotation).strip("'\"") in RESULT_TYPES
)


def list_too_liberal():
    """List the rates whose distance from the nominal rate is too large, computed from the counts."""
    for rate in RATES:
        runs, hits, nominal = int(rate["runs"]), int(rate["hits"]), float(rate["nominal"])
        errors = runs - hits if nominal > 0.5 else hits
        allowed = min(nominal, 1 - nominal)
        if errors - runs * allowed > 3 * (runs * allowed * (1 - allowed)) ** 0.5:
            yield rate


def test_tests_are_found():
    assert {"paired_t", "wilcoxon", "posthoc", "hierarchical", "rank_biserial", "bradley_terry"} <= set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_page_lists_every_public_test(name):
    assert any(re.search(rf"\b{name}\b", rate["procedure"]) for rate in RATES)
    assert re.search(rf"^\| .*\b{name}\b", PAGE, re.MULTILINE)


@pytest.mark.parametrize("method", POSTHOC_METHODS)
def test_page_lists_every_posthoc_method(method):
    assert any(rate["procedure"].startswith(f"posthoc, {method}") for rate in RATES)
    assert f"| posthoc, {method}" in PAGE


def test_page_counts_the_rates():
    simulated = [rate for rate in RATES if int(rate["runs"])]
    liberal = list(list_too_liberal())
    assert [rate["verdict"] for rate in RATES].count("too liberal") == len(liberal) > 0
    assert re.search(rf"Of {len(simulated):,} simulated rates, .* and {len(liberal)} are too liberal", PAGE)
    assert ORIGIN.removeprefix("# ") in PAGE


def test_page_explains_every_rate_that_is_too_liberal():
    section = PAGE.partition("\n## Too liberal\n")[2].partition("\n## ")[0]
    assert "reason is unknown" not in section
    for rate in list_too_liberal():
        lines = [line for line in section.splitlines() if line.startswith(f"  - {rate['procedure']}: ")]
        assert f"{100 * int(rate['hits']) / int(rate['runs']):.2f} [{rate['setting']}]" in "".join(lines)


def test_rates_have_enough_runs():
    assert "10,000 runs" in ORIGIN
    runs = [int(rate["runs"]) for rate in RATES if rate["verdict"] != "not installed"]
    assert sum(number >= 1000 for number in runs) > 0.65 * len(RATES)
    # Gaps between subgroups and thresholds are slow: 100 to 500 runs. Cells that apply to few samples have fewer.
    assert sum(number >= 300 for number in runs) > 0.8 * len(RATES)
    assert sum(number >= 100 for number in runs) > 0.95 * len(RATES)


def test_every_rate_is_distinct():
    assert len({(rate["procedure"], rate["setting"]) for rate in RATES}) == len(RATES)
