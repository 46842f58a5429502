"""Every mistake of form is found at once, told in plain words, and does not hide the others."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.spec.models import LearnerSpec, StudySpec, validate_table
from fairtrial.study.spec.problems import SpecProblem, build_spec_error, format_key_path, restore_indices

GOOD = {"data": ["iris"], "learners": ["c45"]}


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        ({"sede": 1}, "sede", "'seed'"),
        ({"seed": "x"}, "seed", "seed must be"),
        ({"name": 3}, "name", "name must be"),
        ({"measures": {}}, "measures", "measures must be"),
        ({"data": 3}, "data", "data must be"),
        ({"data": []}, "data", "at least 1 data set"),
        ({"data": ["iris", 3]}, "data.sets[1]", "a data set must be"),
        ({"data": {"sets": "iris"}}, "data.sets", "sets must be"),
        (
            {"data": {"x": {"target": "y"}}},
            "data.x",
            "a data set must have",
        ),
        ({"data": {"x": {"file": 3}}}, "data.x.file", "file must be"),
        ({"measures": ["auc", 3]}, "measures[1]", "a measure must be"),
        ({"measures": [3]}, "measures[0]", "a measure must be"),
        ({"name": "../up"}, "name", "name must not"),
        (
            {"learners": {"c45": {"confidence": 0.1}}},
            "learners.c45.confidence",
            "parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"t": {"learner": "J48", "confidance": 0.1}}},
            "learners.t.confidance",
            "parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"m": {"learner": "mypackage.Mine", "depth": [1, 2]}}},
            "learners.m.depth",
            "parameters = { depth = [1, 2] }",
        ),
        (
            {"learners": {"c45": {"foo": 1}}},
            "learners.c45.foo",
            "learner, parameters, preparation, sampler, tune",
        ),
        (
            {"learners": {"c45": {"preparation": "non"}}},
            "learners.c45.preparation",
            "preparation must be one of standard, none",
        ),
        ({"learners": {"a": 3}}, "learners.a", "a learner must be"),
        ({"learners": {"a": {"lerner": "c45"}}}, "learners.a.lerner", "'learner'"),
        (
            {"learners": {"a": {"parameters": [1]}}},
            "learners.a.parameters",
            "parameters must be",
        ),
        ({"learners": {"a": {"tune": {}}}}, "learners.a.tune", "grid is missing"),
        (
            {"learners": {"a": {"tune": {"grid": {}, "mesure": 1}}}},
            "learners.a.tune.mesure",
            "'measure'",
        ),
        (
            {"learners": {"a": {"tune": {"grid": {}, "resampling": {"folds": 1}}}}},
            "learners.a.tune.resampling.folds",
            "folds must be",
        ),
        ({"conditions": {"a": "b", "c": True}}, "conditions.c", "a condition must be"),
        ({"conditions": 3}, "conditions", "conditions must be"),
        ({"resampling": 5}, "resampling", "resampling must be"),
        ({"resampling": {"repeats": 0}}, "resampling.repeats", "repeats must be"),
        ({"verdict": {"alfa": 1}}, "verdict.alfa", "'alpha'"),
        ({"verdict": {"alpha": 5}}, "verdict.alpha", "alpha must be"),
        ({"verdict": {"rope": -1}}, "verdict.rope", "rope must be"),
        ({"limits": {"tiem": 5}}, "limits.tiem", "'time'"),
        ({"limits": 3}, "limits", "limits must be"),
        (
            {"limits": {"measures": ["auc"]}},
            "limits.measures",
            "above the first [table]",
        ),
        (
            {"resampling": {"measures": ["auc"]}},
            "resampling.measures",
            "above the first [table]",
        ),
    ],
)
def test_mistakes_in_plain_words(change, place, message):
    _, mistakes = StudySpec.read_valid_parts(GOOD | change)
    [mistake] = mistakes
    assert format_key_path(mistake.path) == place
    assert message in mistake.message


def test_what_is_right_is_left():
    found, mistakes = StudySpec.read_valid_parts(
        {
            "data": ["iris", 3, "wine", 4],
            "learners": {"a": 3, "b": "c45"},
            "resampling": {"n_splits": 1, "repeats": 2},
            "seed": 5,
        }
    )
    assert len(mistakes) == 4
    assert found.data.sets == ["iris", "wine"]
    assert list(found.learners) == ["b"]
    assert (found.resampling.repeats, found.seed) == (2, 5)


def test_mistakes_that_are_known_before_are_told_first_and_their_parts_left_out():
    known = SpecProblem(("learners", "a"), "no object")
    found, mistakes = StudySpec.read_valid_parts({"data": ["iris"], "learners": {"a": None, "b": "c45"}, "seed": "x"}, [known])
    assert mistakes[0] == known
    assert [each.path for each in mistakes] == [("learners", "a"), ("seed",)]
    assert list(found.learners) == ["b"]


def test_places_are_those_in_what_was_written():
    gone = [SpecProblem(("data", "sets", 0), "x"), SpecProblem(("data", "sets", 2), "x"), SpecProblem(("measures", 0), "x")]
    later = [
        SpecProblem(("data", "sets", 0), "y"),
        SpecProblem(("data", "sets", 1), "y"),
        SpecProblem(("seed",), "y"),
        SpecProblem((), "y"),
    ]
    assert [each.path for each in restore_indices(later, gone)] == [("data", "sets", 1), ("data", "sets", 3), ("seed",), ()]


def test_a_section_with_a_wrong_name_is_told_once():
    _, mistakes = StudySpec.read_valid_parts({"data": ["iris"], "learnres": ["c45"]})
    assert [each.path for each in mistakes] == [("learnres",)]


@pytest.mark.parametrize("wrong", [3, "study", [], None])
def test_what_is_no_table(wrong):
    _, [mistake] = StudySpec.read_valid_parts(wrong)
    assert mistake.path == ()
    assert mistake.message.endswith(f"got {wrong!r}")


def test_what_is_given_is_not_written_to():
    given = {"data": ["iris", 3], "learners": {"a": {"learner": 3}}}
    StudySpec.read_valid_parts(given)
    assert given == {"data": ["iris", 3], "learners": {"a": {"learner": 3}}}


def test_lines_come_from_the_places_and_order_the_problems():
    places = {("learners",): (9, 1), ("learners", "a"): (12, 1), ("seed",): (2, 1)}
    error = build_spec_error(
        [SpecProblem(("learners", "a", "sampler"), "x"), SpecProblem(("seed",), "y"), SpecProblem(("seed",), "y")],
        places,
        "s.toml",
    )
    assert str(error) == "s.toml:2: seed: y\ns.toml:12: learners.a.sampler: x"
    assert [(each.location, each.line) for each in error.problems] == [("seed", 2), ("learners.a.sampler", 12)]


def test_a_part_within_another_tells_its_mistake():
    assert validate_table(LearnerSpec, {"learner": "c45"}).learner == "c45"
    with pytest.raises(InputError, match=r"'samplr'.*'sampler'"):
        validate_table(LearnerSpec, {"learner": "c45", "samplr": "smote"})
