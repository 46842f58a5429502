"""Names of conditions and measures, and keys made of names."""

import math

import pytest

from fairtrial.report.sections.naming import (
    joined,
    judged_measure,
    keys_of,
    listed,
    main_condition,
    measure_words,
    told_condition,
    where_words,
)
from fairtrial.report.sentence import say
from fairtrial.study.archive import ConditionFacts
from tests.study.archives import CLEAN, real_results


def condition(name, level):
    return ConditionFacts(name, level, "", {})


def test_conditions_are_told_with_their_level_unless_there_is_none():
    assert told_condition(condition("class-noise", 0.05)) == "class-noise 0.05"
    assert told_condition(condition("worn", math.nan)) == "worn"
    assert where_words(condition("worn", math.nan)) == "under worn"
    assert (told_condition(CLEAN), where_words(CLEAN)) == ("clean", "on clean data")


def test_a_condition_that_a_study_holds_at_level_one_for_want_of_another_has_no_level():
    moved = ConditionFacts("ps", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert (told_condition(moved), where_words(moved)) == ("ps", "under ps")
    assert told_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"


def test_the_main_condition_is_clean_wherever_it_stands():
    noise = condition("class-noise", 0.1)
    assert main_condition([noise, CLEAN]) is CLEAN
    assert main_condition([noise, condition("worn", 1.0)]) is noise


@pytest.mark.parametrize(
    ("declaration", "measure"),
    [({}, "accuracy"), ({"measures": ["auc", "kappa"]}, "auc"), ({"measures": ["auc"], "verdict": {"measure": "mcc"}}, "mcc")],
)
def test_the_judged_measure_is_that_of_the_verdict_or_the_first(declaration, measure):
    results = real_results(names=["iris"], declaration=declaration)
    assert judged_measure(results) == results.verdict().measure == measure


def test_keys_are_safe_and_never_alike():
    assert keys_of(["A b", "a-b", "a_b-2", "</script>", "é", "ü"]) == ["a-b", "a-b-2", "a-b-2-2", "script", "name", "name-2"]


def test_names_are_listed_and_cut_when_many():
    assert listed([]) == ""
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f, g and h"
    assert listed(list("abcdefghi")) == "a, b, c, d, e, f, g, h and others"
    assert measure_words("f_score") == "f score"


def test_joined_sentences_keep_their_names():
    found = joined([say("{a} leads.", a="tree"), say(" {b} follows.", b="bayes")])
    assert found.text == "tree leads. bayes follows."
    assert found.names == ("tree", "bayes")
