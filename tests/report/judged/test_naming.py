import pytest

from fairtrial.report.judged import naming
from fairtrial.report.judged.naming import datasets_of, fact, facts_frame, largest, models_of, rows_by_set, told_tests
from tests.report.judged.cases import judged


def test_facts_are_those_of_the_judgement():
    facts = facts_frame(judged("two classes"))["value"]
    assert facts.to_dict() == {
        "data sets": 1,
        "models": 3,
        "rows": 160,
        "measures": 12,
        "paired tests": 12,  # four tests of three pairs
        "level of the intervals, %": 95,
        "alpha": 0.05,
    }
    assert fact(judged("two classes"), "rows", "{:,}").text == "160"


def test_names_rows_and_the_largest_data_sets(monkeypatch):
    found = judged("many sets")
    assert datasets_of(found) == [f"set {i}" for i in range(5)]
    assert models_of(found) == ["forest", "tree"]
    assert rows_by_set(found) == {f"set {i}": 40 for i in range(5)}
    monkeypatch.setattr(naming, "MOST_PARTS", 2)
    assert largest(found) == ["set 0", "set 1"]


def test_directions_and_tests_in_words():
    assert (naming.better("auc"), naming.better("brier")) == ("max", "min")
    assert told_tests(["mcnemar", "delong"]) == "McNemar's test and DeLong's test"


@pytest.mark.parametrize(("level", "text"), [(0.9, "90"), (0.999, "99.9")])
def test_the_level_in_percent(level, text):
    found = judged("labels only", level=level)
    assert fact(found, naming.LEVEL).text == text
