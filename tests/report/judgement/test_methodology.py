"""Methodology checks of a judgement."""

import pandas as pd

from fairtrial import judge
from fairtrial.report.check import run_checks
from fairtrial.report.sections.checks import build_section
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, sections
from tests.report.report_numbers import check_numbers


def list_raised(judgement):
    return {result.check.number for result in run_checks(describe_source(judgement)) if result.finding.outcome == "raised"}


def test_constant_classifier_on_imbalanced_classes_raises_checks():
    """95 of 100 rows have the class no: always predicting no has an accuracy of 0.95."""
    truth = ["no"] * 95 + ["yes"] * 5
    table = pd.DataFrame({"truth": truth, "always": ["no"] * 100, "coin": ["no", "yes"] * 50})
    judgement = judge(table, resamples=20)
    assert {"FT002", "FT003"} <= list_raised(judgement)
    section = build_section(describe_source(judgement))
    assert any("0.95" in sentence.text or "95 %" in sentence.text for sentence in section.sentences)
    assert check_numbers([section]) > 0


def test_no_check_is_raised_without_problems():
    assert list_raised(judged("two classes")) == set()
    assert len(sections("two classes")["checks"].sentences) == 1


def test_few_data_sets_raise_a_check():
    assert "FT008" in list_raised(judged("many sets"))
