"""Every mistake of form is found at once, told in plain words, and does not hide the others."""

import pytest

from fairtrial.errors import InputError
from fairtrial.study.spec.models import LearnerSpec, StudySpec, validate_table
from fairtrial.study.spec.problems import SpecProblem, build_spec_error, format_key_path, restore_indices

GOOD = {"data": ["iris"], "learners": ["c45"]}


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        ({"sede": 1}, "sede", "a study has no section or key 'sede': did you mean 'seed'?"),
        ({"seed": "x"}, "seed", "seed must be a whole number of at least 0, got 'x'"),
        ({"name": 3}, "name", "name must be text in quotes, got 3"),
        ({"measures": {}}, "measures", "measures must be a list of names, got {}"),
        ({"data": 3}, "data", "data must be a table or a list of names and files, got 3"),
        ({"data": []}, "data", "a study must have at least 1 data set, got none: add [data]"),
        ({"data": ["iris", 3]}, "data.sets[1]", "a data set must be text in quotes, got 3"),
        ({"data": {"sets": "iris"}}, "data.sets", "sets must be a list, got 'iris'"),
        (
            {"data": {"x": {"target": "y"}}},
            "data.x",
            'a data set must have either file = "a path" or set = "a name of the catalogue"',
        ),
        ({"data": {"x": {"file": 3}}}, "data.x.file", "file must be text in quotes, got 3"),
        ({"measures": ["auc", 3]}, "measures[1]", "a measure must be text in quotes, got 3"),
        ({"measures": [3]}, "measures[0]", "a measure must be text in quotes, got 3"),
        ({"name": "../up"}, "name", "name must not hold '/', since a file is called after it, got '../up'"),
        (
            {"learners": {"c45": {"confidence": 0.1}}},
            "learners.c45.confidence",
            "a learner has no key 'confidence': its parameters stand in a table, write parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"t": {"learner": "J48", "confidance": 0.1}}},
            "learners.t.confidance",
            "a learner has no key 'confidance': its parameters stand in a table, write parameters = { confidence = 0.1 }",
        ),
        (
            {"learners": {"m": {"learner": "mypackage.Mine", "depth": [1, 2]}}},
            "learners.m.depth",
            "a learner has no key 'depth': its parameters stand in a table, write parameters = { depth = [1, 2] }",
        ),
        (
            {"learners": {"c45": {"foo": 1}}},
            "learners.c45.foo",
            "a learner has no key 'foo': known: learner, parameters, preparation, sampler, tune",
        ),
        (
            {"learners": {"c45": {"preparation": "non"}}},
            "learners.c45.preparation",
            "preparation must be one of standard, none, got 'non': did you mean 'none'?",
        ),
        ({"learners": {"a": 3}}, "learners.a", "a learner must be a table of names and values, got 3"),
        ({"learners": {"a": {"lerner": "c45"}}}, "learners.a.lerner", "a learner has no key 'lerner': did you mean 'learner'?"),
        (
            {"learners": {"a": {"parameters": [1]}}},
            "learners.a.parameters",
            "parameters must be a table of names and values, got [1]",
        ),
        ({"learners": {"a": {"tune": {}}}}, "learners.a.tune", "grid is missing: write grid = ..."),
        (
            {"learners": {"a": {"tune": {"grid": {}, "mesure": 1}}}},
            "learners.a.tune.mesure",
            "tune has no key 'mesure': did you mean 'measure'?",
        ),
        (
            {"learners": {"a": {"tune": {"grid": {}, "resampling": {"folds": 1}}}}},
            "learners.a.tune.resampling.folds",
            "folds must be a whole number of at least 2, got 1",
        ),
        ({"conditions": {"a": "b", "c": True}}, "conditions.c", "a condition must be a table of names and values, got True"),
        ({"conditions": 3}, "conditions", "conditions must be a table or a list of names, got 3"),
        ({"resampling": 5}, "resampling", "resampling must be a table or the name of a scheme, got 5"),
        ({"resampling": {"repeats": 0}}, "resampling.repeats", "repeats must be a whole number of at least 1, got 0"),
        ({"verdict": {"alfa": 1}}, "verdict.alfa", "verdict has no key 'alfa': did you mean 'alpha'?"),
        ({"verdict": {"alpha": 5}}, "verdict.alpha", "alpha must be a number between 0 and 1, got 5"),
        ({"verdict": {"rope": -1}}, "verdict.rope", "rope must be a number from 0 on, got -1"),
        ({"limits": {"tiem": 5}}, "limits.tiem", "limits has no key 'tiem': did you mean 'time'?"),
        ({"limits": 3}, "limits", "limits must be a table of names and values, got 3"),
        (
            {"limits": {"measures": ["auc"]}},
            "limits.measures",
            "limits has no key 'measures', a study has: in TOML it stands above the first [table]",
        ),
        (
            {"resampling": {"measures": ["auc"]}},
            "resampling.measures",
            "resampling holds 'measures', a key of the study itself: in TOML it stands above the first [table]",
        ),
    ],
)
def test_mistakes_in_plain_words(change, place, message):
    _, mistakes = StudySpec.read_valid_parts(GOOD | change)
    assert [(format_key_path(each.path), each.message) for each in mistakes] == [(place, message)]


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
    assert mistake == SpecProblem((), f"a study must be a table of sections, got {wrong!r}")


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
