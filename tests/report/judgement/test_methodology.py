import pandas as pd

from fairtrial import judge
from fairtrial.report.sections.checks import build_judgement_section, build_methodology_frame
from fairtrial.report.source import describe_source
from tests.report.judgement.cases import judged, sections, text_of
from tests.report.report_numbers import check_numbers


def test_a_constant_classifier_does_not_win_without_a_word():
    """Of 100 rows 95 are no: always no is right in 0.95 of them."""
    truth = ["no"] * 95 + ["yes"] * 5
    found = build_judgement_section(
        describe_source(judge(pd.DataFrame({"truth": truth, "always": ["no"] * 100, "coin": ["no", "yes"] * 50}), resamples=20))
    )
    told = text_of(found)
    assert "FT002: models are judged by accuracy, but the largest class has 19 times the rows of the smallest" in told
    assert "naming it always has an accuracy of 0.950." in told
    assert "FT003: the class yes has 5 rows, fewer than 10" in told
    assert check_numbers([found]) == 4


def test_nothing_is_said_where_all_is_well():
    assert build_methodology_frame(judged("two classes")).empty
    assert "as many as" in text_of(sections("two classes")["methodology"])


def test_data_sets_are_named_and_few_of_them_are_said_to_be_few():
    told = text_of(sections("many sets")["methodology"])
    assert "FT008: The test wilcoxon has 5 data sets on which models can differ, and should have 6 or more." in told
