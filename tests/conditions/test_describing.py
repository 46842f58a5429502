import numpy as np

from fairtrial.conditions import ClassNoise
from fairtrial.conditions.describing import canonical, plain


def test_plain_values():
    given = {"a": np.float32(0.5), 2: (1, np.array([True, False])), "s": {"b", "a"}, "n": None, "c": ClassNoise(0.1)}
    found = plain(given)
    assert found["a"] == 0.5
    assert type(found["a"]) is float
    assert found[2] == [1, [True, False]]
    assert found["s"] == ["a", "b"]
    assert found["n"] is None
    assert found["c"]["condition"] == "class-noise"
    assert plain(1 + 2j) == "(1+2j)"


def test_functions_of_one_name_stay_different():
    def made(limit):
        return lambda X: limit < X

    assert plain(made(1)) == plain(made(1))
    assert plain(made(1)) != plain(made(2))
    assert plain(made(1)) != plain(lambda X: X < 1)
    assert plain(len) == "builtins.len"


def test_order_of_keys_does_not_count():
    assert canonical({"a": 1, "b": {"c": 0.1, "d": [1]}}) == canonical({"b": {"d": [1], "c": 0.1}, "a": 1})
    assert canonical({"a": 1}) != canonical({"a": 1.0})
    assert canonical({1: "x"}) != canonical({"1": "x"})
