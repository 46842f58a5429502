import pytest

from fairtrial.conditions import AttributeNoise, ClassNoise, Clean, MissingValues, Sequence, from_declaration
from fairtrial.errors import InputError, UnknownNameError


def test_declared_conditions():
    assert from_declaration("clean") == Clean()
    assert from_declaration("class-noise", level=0.1, scheme="next-class", part="test") == ClassNoise(
        0.1, "next-class", part="test"
    )
    steps = [{"condition": "class-noise", "level": 0.1}, {"condition": "missing-values", "level": 0.2}, AttributeNoise(0.1)]
    assert from_declaration("sequence", steps=steps) == Sequence([ClassNoise(0.1), MissingValues(0.2), AttributeNoise(0.1)])


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("class-nois", {"level": 0.1}, "'class-nois'.*'class-noise'"),
        ("class-noise", {"levle": 0.1}, "'levle'.*'level'"),
        ("class-noise", {}, "class-noise.*'level'"),
        ("class-noise", {"level": 0.1, "scheme": "next-clas"}, "scheme.*'next-class'"),
        ("sequence", {"steps": [{"level": 0.1}]}, "step 0"),
        ("sequence", {"steps": "class-noise"}, "steps.*got str"),
        ("sequence", {"steps": ["class-noise"]}, "steps.*'class-noise'"),
        (3, {}, "condition.*got 3"),
    ],
)
def test_wrong_declarations(name, parameters, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        from_declaration(name, **parameters)
