import pytest

from fairtrial.report import judgement as names
from fairtrial.report.judgement import (
    build_facts_frame,
    count_rows,
    get_fact,
    list_datasets,
    list_models,
    select_largest_datasets,
)
from tests.report.judgement.cases import judged


def test_facts_are_those_of_the_judgement():
    facts = build_facts_frame(judged("two classes"))["value"]
    assert facts.to_dict() == {
        "data sets": 1,
        "models": 3,
        "rows": 160,
        "measures": 12,
        "paired tests": 12,  # four tests of three pairs
        "confidence level, %": 95,
        "alpha": 0.05,
    }
    assert get_fact(judged("two classes"), "rows", "{:,}").text == "160"


def test_names_rows_and_the_largest_data_sets(monkeypatch):
    found = judged("many sets")
    assert list_datasets(found) == [f"set {i}" for i in range(5)]
    assert list_models(found) == ["forest", "tree"]
    assert count_rows(found) == {f"set {i}": 40 for i in range(5)}
    monkeypatch.setattr(names, "MAX_PARTS", 2)
    assert select_largest_datasets(found) == ["set 0", "set 1"]


def test_directions_of_measures():
    assert (names.get_direction("auc"), names.get_direction("brier")) == ("max", "min")


@pytest.mark.parametrize(("level", "text"), [(0.9, "90"), (0.999, "99.9")])
def test_the_level_in_percent(level, text):
    found = judged("labels only", level=level)
    assert get_fact(found, names.LEVEL).text == text
