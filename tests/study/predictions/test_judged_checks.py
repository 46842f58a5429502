import pytest

from fairtrial.measures import get_measure
from fairtrial.report.checks import data, tests
from fairtrial.study.predictions import judged_checks
from fairtrial.study.predictions.judged_checks import methodology, methodology_words


def test_limits_are_those_of_the_checks_of_studies():
    assert judged_checks.IMBALANCED == data.IMBALANCED
    assert judged_checks.FOLLOWS_THE_LARGEST == data.FOLLOWS_THE_LARGEST
    assert judged_checks.TINY == data.TINY
    for alpha in (0.01, 0.05, 0.1, 0.125):
        assert judged_checks.least_for_wilcoxon(alpha) == tests.least_for_wilcoxon(alpha)
    assert judged_checks.LEAST_FOR_FRIEDMAN == tests.LEAST_FOR_FRIEDMAN


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
    assert methodology({"data": counts}, get_measure(measure), None)["number"].tolist() == numbers


def test_words_name_the_data_set_where_there_are_several():
    found = methodology({"old": {"a": 90, "b": 30}}, get_measure("accuracy"), None)
    assert methodology_words(found, True)[0].startswith(
        "FT002: On old models are judged by accuracy, but the largest class has 3 "
    )
    assert "an accuracy of 0.750. Remedy: judge by balanced_accuracy" in methodology_words(found, False)[0]
