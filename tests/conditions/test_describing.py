import numpy as np

from fairtrial.conditions import ClassNoise
from fairtrial.conditions.condition import encode_canonical, to_plain


def test_plain_values():
    given = {"a": np.float32(0.5), 2: (1, np.array([True, False])), "s": {"b", "a"}, "n": None, "c": ClassNoise(0.1)}
    found = to_plain(given)
    assert found["a"] == 0.5
    assert type(found["a"]) is float
    assert found[2] == [1, [True, False]]
    assert found["s"] == ["a", "b"]
    assert found["n"] is None
    assert found["c"]["condition"] == "class-noise"
    assert to_plain(1 + 2j) == "(1+2j)"


def test_functions_of_one_name_stay_different():
    def made(limit):
        return lambda X: limit < X

    assert to_plain(made(1)) == to_plain(made(1))
    assert to_plain(made(1)) != to_plain(made(2))
    assert to_plain(made(1)) != to_plain(lambda X: X < 1)
    assert to_plain(len) == "builtins.len"


def test_order_of_keys_does_not_count():
    assert encode_canonical({"a": 1, "b": {"c": 0.1, "d": [1]}}) == encode_canonical({"b": {"d": [1], "c": 0.1}, "a": 1})
    assert encode_canonical({"a": 1}) != encode_canonical({"a": 1.0})
    assert encode_canonical({1: "x"}) != encode_canonical({"1": "x"})
