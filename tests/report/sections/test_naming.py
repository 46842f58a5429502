"""Names of conditions and measures, and keys made of names."""

import math

import pytest

from fairtrial.report.names import (
    concat_sentences,
    format_condition_phrase,
    format_measure_name,
    get_verdict_measure_name,
    join_names,
)
from fairtrial.report.section import build_sentence
from fairtrial.report.selection import get_main_condition, make_unique_keys
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import format_condition
from tests.report.checks.made_results import changed
from tests.study.archives import CLEAN, real_results


def condition(name, level):
    return ConditionFacts(name, level, "", {})


def test_conditions_are_told_with_their_level_unless_there_is_none():
    assert format_condition(condition("class-noise", 0.05)) == "class-noise 0.05"
    assert format_condition(condition("worn", math.nan)) == "worn"
    assert format_condition_phrase(condition("worn", math.nan)) == "under worn"
    assert (format_condition(CLEAN), format_condition_phrase(CLEAN)) == ("clean", "on clean data")


def test_a_condition_that_a_study_holds_at_level_one_for_want_of_another_has_no_level():
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert (format_condition(moved), format_condition_phrase(moved)) == ("ps", "under ps")
    assert format_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"


def test_the_main_condition_is_clean_wherever_it_stands():
    noise, worn = condition("class-noise", 0.1), condition("worn", 1.0)
    assert get_main_condition(changed(real_results(), conditions=(noise, CLEAN))) is CLEAN
    assert get_main_condition(changed(real_results(), conditions=(noise, worn))) is noise


@pytest.mark.parametrize(
    ("declaration", "measure"),
    [({}, "accuracy"), ({"measures": ["auc", "kappa"]}, "auc"), ({"measures": ["auc"], "verdict": {"measure": "mcc"}}, "mcc")],
)
def test_the_judged_measure_is_that_of_the_verdict_or_the_first(declaration, measure):
    results = real_results(names=["iris"], declaration=declaration)
    assert get_verdict_measure_name(results) == results.verdict().measure == measure


def test_keys_are_safe_and_never_alike():
    assert make_unique_keys(["A b", "a-b", "a_b-2", "</script>", "é", "ü"]) == [
        "a-b",
        "a-b-2",
        "a-b-2-2",
        "script",
        "name",
        "name-2",
    ]


def test_names_are_listed_and_cut_when_many():
    assert join_names([]) == ""
    assert join_names(list("abcdefgh")) == "a, b, c, d, e, f, g and h"
    assert join_names(list("abcdefghi")) == "a, b, c, d, e, f, g, h and others"
    assert format_measure_name("f_score") == "f score"


def test_joined_sentences_keep_their_names():
    found = concat_sentences([build_sentence("{a} leads.", a="tree"), build_sentence(" {b} follows.", b="bayes")])
    assert found.text == "tree leads. bayes follows."
    assert found.names == ("tree", "bayes")
