"""Which condition, data set or learner is meant."""

from math import nan

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.study.archive import ConditionFacts
from fairtrial.study.results.selection import (
    choose_condition,
    choose_dataset,
    choose_names,
    format_condition,
    is_same_level,
    mask_condition,
)

CONDITIONS = [
    ConditionFacts(name, level, "", {}) for name, level in [("clean", 0.0), ("noise", 0.1), ("noise", 0.3), ("gap", nan)]
]


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ((), 0),
        (("clean",), 0),
        (("noise", 0.3), 2),
        (("noise", 0.1 + 0.2), 2),
        (("gap",), 3),
        (("gap", nan), 3),
        ((None, 0), 0),
    ],
)
def test_conditions_are_found_by_name_and_level(given, place):
    assert choose_condition(CONDITIONS, *given) is CONDITIONS[place]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("nois",), "condition must be .*'nois': .*'noise'"),
        (("noise",), r"level must be given .*'noise'.* \[0.1, 0.3\]"),
        (("noise", 0.2), r"level must be one of \[0.1, 0.3\]"),
        ((None, 0.1), "condition must be given"),
    ],
)
def test_conditions_that_are_not_there_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        choose_condition(CONDITIONS, *given)


def test_without_clean_a_condition_must_be_named_unless_there_is_only_one():
    assert choose_condition(CONDITIONS[3:]) is CONDITIONS[3]
    with pytest.raises(InputError, match=r"condition must be given.*noise, gap"):
        choose_condition(CONDITIONS[1:])


def test_lines_of_a_condition():
    frame = pd.DataFrame({"condition": ["clean", "noise", "noise", "gap"], "level": [0.0, 0.1, 0.3, nan]})
    for place, condition in enumerate(CONDITIONS):
        assert mask_condition(frame, condition).nonzero()[0].tolist() == [place]


def test_levels_and_names():
    assert is_same_level(0.1 + 0.2, 0.3)
    assert not is_same_level(nan, 0.1)
    assert format_condition(CONDITIONS[3]) == "gap"
    assert choose_names("learner", ["a", "b"], None) == ["a", "b"]
    assert choose_names("learner", ["a", "b"], "b") == ["b"]
    with pytest.raises(InputError, match=r"learner must be .* got 'tre': .*'tree'"):
        choose_names("learner", ["tree"], ["tre"])


def test_the_only_data_set_need_not_be_named():
    assert choose_dataset(["iris"], None) == "iris"
    assert choose_dataset(["iris", "wine"], "wine") == "wine"
    with pytest.raises(InputError, match=r"dataset must be given.*iris, wine"):
        choose_dataset(["iris", "wine"], None)
    with pytest.raises(InputError, match=r"dataset must be .* got 'iriss': .*'iris'"):
        choose_dataset(["iris", "wine"], "iriss")


def test_a_condition_without_a_level_is_called_by_its_name_alone():
    moved = ConditionFacts("moved", 1.0, "", {"condition": "prior-shift", "priors": [0.2, 0.8]})
    assert format_condition(moved) == "moved"
    assert format_condition(ConditionFacts("noise", 1.0, "", {"condition": "class-noise", "level": 1.0})) == "noise 1"
