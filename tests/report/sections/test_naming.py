"""Display names of conditions and measures, and keys from names."""

import math

import pandas as pd
import pytest

from fairtrial.report.names import (
    find_best_names,
    format_condition_phrase,
    format_measure_name,
    get_verdict_measure_name,
)
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition
from tests.report.checks.made_results import changed
from tests.study.archives import CLEAN, real_results


def condition(name, level):
    return ConditionFacts(name, level, "", {})


def test_conditions_have_their_level_unless_there_is_none():
    assert format_condition(condition("class-noise", 0.05)) == "class-noise 0.05"
    assert format_condition(condition("worn", math.nan)) == "worn"
    assert format_condition_phrase(condition("worn", math.nan)) == "under worn"
    assert (format_condition(CLEAN), format_condition_phrase(CLEAN)) == ("clean", "on clean data")


def test_condition_without_a_level_is_stored_with_level_one():
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert (format_condition(moved), format_condition_phrase(moved)) == ("ps", "under ps")
    assert format_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"


def test_main_condition_is_clean_or_the_first():
    noise, worn = condition("class-noise", 0.1), condition("worn", 1.0)
    assert get_main_condition(changed(real_results(), conditions=(noise, CLEAN))) is CLEAN
    assert get_main_condition(changed(real_results(), conditions=(noise, worn))) is noise


@pytest.mark.parametrize(
    ("declaration", "measure"),
    [({}, "accuracy"), ({"measures": ["auc", "kappa"]}, "auc"), ({"measures": ["auc"], "verdict": {"measure": "mcc"}}, "mcc")],
)
def test_verdict_measure_is_the_declared_one_or_the_first(declaration, measure):
    results = real_results(names=["iris"], declaration=declaration)
    assert get_verdict_measure_name(results) == results.verdict().measure == measure


def test_keys_are_unique_and_safe():
    assert make_unique_keys(["A b", "a-b", "a_b-2", "</script>", "é", "ü"]) == [
        "a-b",
        "a-b-2",
        "a-b-2-2",
        "script",
        "name",
        "name-2",
    ]


def test_measures_have_display_names():
    assert format_measure_name("f_score") == "F1 score"
    assert format_measure_name("my_measure") == "my measure"


def test_best_names_ignore_rounding_errors():
    assert find_best_names(pd.Series({"a": 0.3, "b": 0.1 + 0.2, "c": 0.2}), "max") == ["a", "b"]
    assert find_best_names(pd.Series({"a": 0.3, "c": 0.2}), "min") == ["c"]
