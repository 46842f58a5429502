import functools
import json
import threading
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import loguniform, norm, uniform
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from fairtrial.conditions import ClassNoise
from fairtrial.errors import InputError
from fairtrial.resampling import DOBSCV
from fairtrial.study.identity import Encoder, to_canonical


def told(value):
    return to_canonical(Encoder().encode(value))


PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)


@given(PLAIN, PLAIN)
def test_plain_values_are_told_apart(one, other):
    assert (told(one) == told(other)) is (repr(_sorted(one)) == repr(_sorted(other)))


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


@given(PLAIN)
def test_what_is_told_is_json_without_nan(value):
    tree = Encoder().encode({"value": value})
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree


def test_a_dictionary_cannot_pass_for_an_object():
    tree = Encoder().encode(GaussianNB())
    assert told(tree) != told(GaussianNB())


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Point:
    x: float
    y: float


class Holder:
    def __init__(self, value):
        self.value = value

    @cached_property
    def twice(self):
        return 2 * self.value


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


def closing_over(k):
    return lambda x: x + k


def class_over(k):
    class Local(BaseEstimator):
        def fit(self, X, y):
            return k

    return Local


PAIRS = {
    "arrays by value": (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
    "arrays by type": (np.array([1, 2]), np.array([1.0, 2.0])),
    "arrays by shape": (np.zeros((2, 3)), np.zeros((3, 2))),
    "arrays of objects": (np.array(["a", None], dtype=object), np.array(["a", 1], dtype=object)),
    "masks": (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 0])),
    "array and list": (np.array([1, 2]), [1, 2]),
    "whole and broken numbers": (1, 1.0),
    "truth and number": (True, 1),
    "complex numbers": (1j, 2j),
    "enumerations": (Colour.RED, Colour.BLUE),
    "data classes": (Point(1, 2), Point(2, 1)),
    "objects": (Holder(1), Holder(2)),
    "sets": ({1, 2}, {1, 3}),
    "set and list": ({1}, [1]),
    "bytes": (b"a", b"b"),
    "ranges": (range(3), range(0, 3, 2)),
    "slices": (slice(1), slice(2)),
    "types": (float, int),
    "element types": (np.dtype("f8"), np.dtype("f4")),
    "paths": (Path("a"), Path("b")),
    "functions": (double, triple),
    "functions of NumPy": (np.mean, np.median),
    "universal functions": (np.log, np.exp),
    "built-in functions": (len, max),
    "partial functions": (functools.partial(double, x=1), functools.partial(double, x=2)),
    "closures": (closing_over(1), closing_over(2)),
    "classes made by a function": (class_over(1)(), class_over(2)()),
    "methods": (Holder(1).__init__, Holder(2).__init__),
    "generators": (np.random.default_rng(1), np.random.default_rng(2)),
    "old generators": (np.random.RandomState(1), np.random.RandomState(2)),
    "seed sequences": (np.random.SeedSequence(1), np.random.SeedSequence(2)),
    "distributions": (loguniform(1, 2), loguniform(1, 3)),
    "kinds of distributions": (norm(0, 1), uniform(0, 1)),
    "scikit-learn's splitters": (KFold(3), KFold(4)),
    "our splitters": (DOBSCV(3), DOBSCV(4)),
    "conditions": (ClassNoise(level=0.1), ClassNoise(level=0.2)),
    "columns": (ColumnTransformer([("a", "drop", slice(0, 1))]), ColumnTransformer([("a", "drop", slice(0, 2))])),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_what_differs_is_told_apart_and_the_same_is_not(pair):
    from copy import deepcopy

    one, other = pair
    assert told(one) != told(other)
    assert told(deepcopy(one)) == told(one)
    assert " at 0x" not in told([one, other])


def test_scalars_of_numpy_are_those_of_python():
    assert told([np.float64(0.1), np.int32(2), np.str_("a"), np.bool_(True)]) == told([0.1, 2, "a", True])


def test_remembered_properties_do_not_count():
    used = Holder(1)
    assert used.twice == 2
    assert told(used) == told(Holder(1))


def test_byte_order_does_not_count():
    assert told(np.array([1.5], dtype=">f8")) == told(np.array([1.5], dtype="<f8"))


HIDDEN = [object(), threading.Lock(), iter([1]), [].append, StringIO("text")]


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda each: type(each).__name__)
def test_what_cannot_be_told_is_refused_with_its_place(hidden):
    with pytest.raises(InputError, match=r"forest\.value\[0\] must .*, got \w+\.\w+"):
        Encoder().encode(Holder([hidden]), "forest")


def test_a_circle_is_refused():
    circle = Holder(None)
    circle.value = [circle]
    with pytest.raises(InputError, match=r"forest\.value\[0\] must not contain itself"):
        Encoder().encode(circle, "forest")


def test_a_learner_that_has_learnt_is_refused():
    with pytest.raises(InputError, match=r"model must not be a FrozenEstimator"):
        Encoder().encode(FrozenEstimator(GaussianNB()), "model")


class Forgetful(BaseEstimator):
    def __init__(self, depth=1):
        pass


def test_a_learner_that_does_not_keep_its_parameters_is_refused():
    with pytest.raises(InputError, match=r"model: .*Forgetful"):
        Encoder().encode(Forgetful(), "model")


def test_local_code_is_told_by_a_hash():
    assert set(Encoder().encode(Holder(1))) == {"class", "parameters", "code"}
    teller = Encoder()
    teller.encode([GaussianNB(), Holder(double)])
    assert teller.local_modules == {__name__}
    assert {"scikit-learn"} <= teller.packages


def test_code_without_a_text_is_told_by_what_it_does():
    def made(text):
        known = {"__name__": "__main__"}
        exec(text, known)
        return known["mystery"]

    one, other = "def mystery(): return 1", "def mystery(): return 2"
    assert told(made(one)) == told(made("# the same\n" + one)) != told(made(other))


def test_a_local_function_without_code_in_python_is_refused():
    with pytest.raises(InputError, match=r"model: numpy\.double \(vectorized\)"):
        Encoder().encode(np.frompyfunc(double, 1, 1), "model")


class Slots:
    __slots__ = ("a", "unset")

    def __init__(self, a):
        self.a = a


class SlotsAndMore(Slots):
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b


def test_what_is_kept_in_slots_is_told():
    assert told(Slots(1)) == told(Slots(1)) != told(Slots(2))
    assert len({told(SlotsAndMore(a, b)) for a in (1, 2) for b in (1, 2)}) == 4


@pytest.mark.parametrize("value", [object(), {1, 2}, b"a"], ids=["object", "set", "bytes"])
def test_canonical_takes_plain_values_only(value):
    with pytest.raises(InputError, match="a plain value must be"):
        to_canonical([value])
