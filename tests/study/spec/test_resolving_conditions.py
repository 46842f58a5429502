"""Levels become conditions; level 0 is clean, once."""

import pytest

from fairtrial.conditions import AttributeNoise, ClassNoise, Clean
from fairtrial.study.spec.models import StudySpec
from fairtrial.study.spec.resolve import resolve_conditions


def found(conditions, objects=None):
    declared = StudySpec.from_mapping({"data": ["iris"], "learners": ["c45"], "conditions": conditions})
    return resolve_conditions(declared.conditions, objects or {})


def listed(conditions, objects=None):
    made, mistakes = found(conditions, objects)
    assert mistakes == []
    return [(each.name, each.level, each.condition) for each in made]


def test_levels_and_names():
    assert listed(
        {
            "class-noise": [0, 0.1, 1],
            "attribute-noise": {"level": [0.0, 0.2], "part": "all"},
            "swapped": {"condition": "class-noise", "level": 0.1, "scheme": "pairwise", "pairs": [["a", "b"]]},
        }
    ) == [
        ("clean", 0.0, Clean()),
        ("class-noise", 0.1, ClassNoise(0.1)),
        ("class-noise", 1.0, ClassNoise(1.0)),
        ("attribute-noise", 0.2, AttributeNoise(0.2, part="all")),
        ("swapped", 0.1, ClassNoise(0.1, "pairwise", pairs=[["a", "b"]])),
    ]


def test_clean_is_not_added_where_it_is_not_declared():
    assert [each[0] for each in listed({"class-noise": [0.1]})] == ["class-noise"]
    assert listed({"clean": {}}) == listed({}) == listed({"class-noise": [0, 0.0]}) == [("clean", 0.0, Clean())]


def test_conditions_without_a_level_have_level_one():
    assert listed({"prior-shift": {"priors": {"a": 0.5, "b": 0.5}}})[0][:2] == ("prior-shift", 1.0)
    matrix = [[0.9, 0.1], [0.2, 0.8]]
    [(_, level, made)] = listed({"class-noise": {"scheme": "transition-matrix", "transition": matrix}})
    assert (level, made.level) == (1.0, None)


def test_objects():
    noise = (ClassNoise(0.0), ClassNoise(0.3))
    assert listed({"n": {"object": "x"}}, {("conditions", "n"): noise}) == [("clean", 0.0, Clean()), ("n", 0.3, noise[1])]


@pytest.mark.parametrize(
    ("conditions", "path", "told"),
    [
        (
            {"clas-noise": [0, 0.1]},
            ("clas-noise", "condition"),
            "'class-noise'",
        ),
        ({"class-noise": [0, 10]}, ("class-noise", "level", 1), "got 10"),
        ({"class-noise": [0.1, 0.1]}, ("class-noise", "level", 1), "class-noise 0.1 and class-noise 0.1"),
        (
            {"class-noise": [0.1], "n": {"condition": "class-noise", "level": 0.1}},
            ("n", "level", 0),
            "n 0.1 and class-noise 0.1",
        ),
        ({"class-noise": {"level": [0.1, 0.2], "shceme": "x"}}, ("class-noise", "shceme"), "'scheme'"),
        ({"class-noise": {"level": [0.1, 0.2], "scheme": "x"}}, ("class-noise", "scheme"), "scheme must"),
        ({"class-noise": {}}, ("class-noise", "condition"), "'level'"),
        ({"clean": {"condition": "class-noise", "level": [0.1]}}, ("clean", "level", 0), "clean"),
        ({"n": {"object": "x"}}, ("n",), "n was"),
        ({"clean": [0.1]}, ("clean", "level", 0), "'level'"),
    ],
)
def test_mistakes(conditions, path, told):
    _, [mistake] = found(conditions)
    assert mistake.path == ("conditions", *path)
    assert told in mistake.message


def test_a_wrong_parameter_does_not_hide_a_wrong_level():
    _, mistakes = found({"attribute-noise": {"level": [0.1, -1, 7], "part": "alll", "foo": 1}})
    assert {each.path[1:] for each in mistakes} == {
        ("attribute-noise", "foo"),
        ("attribute-noise", "part"),
        ("attribute-noise", "level", 1),
        ("attribute-noise", "level", 2),
    }
    assert len(mistakes) == 4


def test_what_follows_from_another_mistake_is_not_told():
    _, [mistake] = found({"class-noise": {"level": [0.1], "scheme": "pairwise", "pairs": [["a", "a"]]}})
    assert mistake.path == ("conditions", "class-noise", "pairs")
