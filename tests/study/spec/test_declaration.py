"""A declaration is complete, plain, and the same after a way through TOML or JSON."""

import json
import tomllib

import pytest
import tomli_w
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from fairtrial.errors import SpecError
from fairtrial.study.spec.models import StudySpec

SMALL = {"data": ["iris"], "learners": ["c45"]}

NAMES = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
PLAIN = st.one_of(st.booleans(), st.integers(-100, 100), st.floats(allow_nan=False), NAMES)
PARAMETERS = st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, max_size=3), max_size=3)
ENTRIES = NAMES.filter(lambda name: name not in ("sets", "measures", "seed"))
LEARNERS = st.fixed_dictionaries(
    {},
    optional={
        "learner": NAMES,
        "parameters": PARAMETERS,
        "sampler": NAMES,
        "tune": st.fixed_dictionaries({"grid": PARAMETERS}, optional={"measure": NAMES}),
    },
)
LEVELS = st.lists(st.floats(0, 1) | st.integers(0, 1), min_size=1, max_size=4)
DECLARATIONS = st.fixed_dictionaries(
    {
        "data": st.lists(NAMES, min_size=1, max_size=3)
        | st.dictionaries(ENTRIES, NAMES | st.fixed_dictionaries({"file": NAMES}), min_size=1, max_size=3),
        "learners": st.dictionaries(ENTRIES, LEARNERS, min_size=1, max_size=3),
    },
    optional={
        "name": st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8),
        "seed": st.integers(0, 2**62),
        "measures": st.lists(NAMES, min_size=1, max_size=3),
        "conditions": st.dictionaries(ENTRIES, LEVELS | st.fixed_dictionaries({"level": LEVELS}), max_size=3),
        "resampling": st.fixed_dictionaries(
            {}, optional={"scheme": NAMES, "folds": st.integers(2, 20), "repeats": st.integers(1, 9)}
        ),
        "verdict": st.fixed_dictionaries(
            {}, optional={"control": NAMES, "rope": st.floats(0, 1), "alpha": st.floats(0.01, 0.5)}
        ),
        "limits": st.fixed_dictionaries(
            {}, optional={"time": st.sampled_from([1, "10 min", "none"]), "memory": st.just("2 GB")}
        ),
    },
)


@given(DECLARATIONS)
@settings(max_examples=100, deadline=None)
def test_plain_values_give_the_same_declaration_again(plain):
    found = StudySpec.from_mapping(plain)
    assert StudySpec.from_mapping(found.to_dict()) == found
    assert StudySpec.from_mapping(found.to_short_form()) == found
    assert StudySpec.from_mapping(tomllib.loads(tomli_w.dumps(found.to_short_form()))).to_dict() == found.to_dict()
    assert StudySpec.from_mapping(json.loads(json.dumps(found.to_dict()))) == found


def test_everything_is_there_by_default():
    assert StudySpec.from_mapping(SMALL).to_dict() == {
        "name": "study",
        "seed": 0,
        "measures": ["accuracy", "kappa", "auc", "brier"],
        "data": {"sets": ["iris"]},
        "learners": {"c45": {"learner": "c45"}},
        "conditions": {"clean": {"condition": "clean"}},
        "resampling": {"scheme": "stratified", "folds": 10, "repeats": 1},
        "verdict": {"measure": "accuracy", "alpha": 0.05, "failures": "exclude"},
        "limits": {"time": 3600, "memory": "none"},
    }


@pytest.mark.parametrize(
    ("resampling", "plain"),
    [
        ("kfold", {"scheme": "kfold", "folds": 10, "repeats": 1}),
        ("leave-one-out", {"scheme": "leave-one-out", "repeats": 1}),
        ({"folds": 3, "repeats": 2}, {"scheme": "stratified", "folds": 3, "repeats": 2}),
        ({"scheme": "holdout", "test_size": 0.2}, {"scheme": "holdout", "repeats": 1, "test_size": 0.2}),
    ],
)
def test_folds_are_completed_where_the_scheme_has_some(resampling, plain):
    assert StudySpec.from_mapping(SMALL | {"resampling": resampling}).resampling.to_dict() == plain


def test_tuning_has_five_inner_folds_by_default():
    found = StudySpec.from_mapping(SMALL | {"learners": {"knn": {"tune": {"grid": {"k": [1]}}}}})
    assert found.learners["knn"].to_dict()["tune"]["resampling"] == {"scheme": "stratified", "folds": 5, "repeats": 1}


def test_the_verdict_is_on_the_first_measure():
    assert StudySpec.from_mapping(SMALL | {"measures": ["auc", "kappa"]}).verdict.measure == "auc"
    assert StudySpec.from_mapping(SMALL | {"measures": ["auc"], "verdict": {"measure": "kappa"}}).verdict.measure == "kappa"


def test_brief_is_shorter():
    brief = StudySpec.from_mapping(
        SMALL | {"conditions": {"class-noise": [0, 0.1], "s": {"condition": "class-noise", "level": 0.2}}}
    ).to_short_form()
    assert brief["learners"] == ["c45"]
    assert brief["conditions"] == {"class-noise": [0, 0.1], "s": {"condition": "class-noise", "level": [0.2]}}


def test_conditions_keep_their_order_in_a_file():
    """tomli_w writes lists before tables: a condition with levels only is not shortened to a list after a table."""
    conditions = {"missing-values": [0.1], "swapped": {"condition": "class-noise", "level": 0.2}, "class-noise": [0.3, 0.4]}
    short = StudySpec.from_mapping(SMALL | {"conditions": conditions}).to_short_form()
    assert list(tomllib.loads(tomli_w.dumps(short))["conditions"]) == list(conditions)
    assert short["conditions"]["missing-values"] == [0.1]


def test_a_declaration_does_not_change():
    with pytest.raises(ValidationError):
        StudySpec.from_mapping(SMALL).seed = 3


def test_mistakes_are_told_together():
    with pytest.raises(SpecError) as caught:
        StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "seed": -1, "resampling": {"folds": "five"}})
    assert [each.location for each in caught.value.problems] == ["seed", "resampling.folds"]
