import pytest

from fairtrial.measures import get_measure
from fairtrial.predictions import narrative
from fairtrial.predictions.narrative import check_methodology, format_methodology_notes
from fairtrial.report.checks import data, tests


def test_limits_are_those_of_the_checks_of_studies():
    assert narrative.MAX_IMBALANCE_RATIO == data.IMBALANCED
    assert narrative.MAJORITY_SENSITIVE == data.FOLLOWS_THE_LARGEST
    assert narrative.MIN_CLASS_ROWS == data.TINY
    for alpha in (0.01, 0.05, 0.1, 0.125):
        assert narrative.find_min_wilcoxon_n(alpha) == tests.compute_min_wilcoxon_n(alpha)
    assert narrative.MIN_FRIEDMAN_DATASETS == tests.MIN_FRIEDMAN_DATASETS


@pytest.mark.parametrize(
    ("counts", "measure", "numbers"),
    [
        ({"a": 50, "b": 50}, "accuracy", []),
        ({"a": 75, "b": 25}, "accuracy", ["FT002"]),
        ({"a": 74, "b": 26}, "accuracy", []),
        ({"a": 75, "b": 25}, "kappa", []),
        ({"a": 20, "b": 9}, "auc", ["FT003", "few rows"]),
        ({"a": 20, "b": 20, "c": 0}, "auc", []),
    ],
)
def test_which_rules_are_broken(counts, measure, numbers):
    assert check_methodology({"data": counts}, get_measure(measure), None)["number"].tolist() == numbers


def test_words_name_the_data_set_where_there_are_several():
    found = check_methodology({"old": {"a": 90, "b": 30}}, get_measure("accuracy"), None)
    assert format_methodology_notes(found, True)[0].startswith(
        "FT002: On old models are judged by accuracy, but the largest class has 3 "
    )
    assert "an accuracy of 0.750. Remedy: judge by balanced_accuracy" in format_methodology_notes(found, False)[0]
