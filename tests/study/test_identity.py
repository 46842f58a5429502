"""Tests of `fairtrial.study.identity`."""

import functools
import hashlib
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
import textwrap
import threading
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from io import StringIO
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import loguniform, norm, uniform
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold as KFoldTelling
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, ConceptChange, Condition, PriorShift, Sequence
from fairtrial.errors import InputError
from fairtrial.learners import SMO, Prepared
from fairtrial.resampling import DOBSCV, KFold, StratifiedKFold
from fairtrial.study.identity import (
    PROTOCOL,
    Encoder,
    compute_condition_identity,
    compute_digest,
    compute_learner_identity,
    compute_trial_keys,
    find_origin,
    get_versions,
    has_visible_state,
    hash_split,
    is_importable_by_name,
    read_slots,
    to_canonical,
)

# --- Identity ---


PARTS = st.lists(st.one_of(st.binary(max_size=4), st.text(max_size=4), st.integers(-300, 300)), max_size=4)


@given(PARTS, PARTS)
def test_digests_are_equal_only_for_equal_parts(one, other):
    same = len(one) == len(other) and all(type(a) is type(b) and a == b for a, b in zip(one, other, strict=True))
    assert (compute_digest(*one) == compute_digest(*other)) is same


def test_a_digest_is_blake2b_of_framed_parts():
    framed = b"s" + (2).to_bytes(8, "little") + b"ab" + b"i" + (2).to_bytes(8, "little") + b"12"
    assert compute_digest("ab", 12) == hashlib.blake2b(framed, digest_size=16).digest()


def test_the_keys_of_a_data_set_are_those_of_its_trials_one_by_one():
    splits, conditions, learners = ["s1", "s2", "s3"], ["c1", "c2"], ["l1", "l2", "l3", "l4"]
    keys = compute_trial_keys(7, "d", splits, conditions, learners)
    assert keys.shape == (3, 2, 4)
    assert keys.dtype.itemsize == 16
    for (i, j, k), key in np.ndenumerate(keys):
        assert key.tobytes() == compute_digest("trial", PROTOCOL, 7, "d", splits[i], conditions[j], learners[k])


def test_every_part_of_a_key_counts():
    def key(seed, data, split, condition, learner, protocol):
        return compute_trial_keys(seed, data, [split], [condition], [learner], protocol).tobytes()

    parts = [7, "d", "s", "c", "l", 1]
    others = [[*parts[:i], 8 if i in (0, 5) else "other", *parts[i + 1 :]] for i in range(6)]
    assert len({key(*each) for each in [parts, *others]}) == 7


def test_a_split_is_its_rows_in_order_with_its_number():
    def of(train, test, repeat=0, fold=0, kind=np.intp):
        return hash_split(np.array(train, dtype=kind), np.array(test, dtype=kind), repeat, fold)

    assert of([0, 1], [2]) == of([0, 1], [2], kind=np.int32)
    others = [of([1, 0], [2]), of([0], [1, 2]), of([0, 1], [2], 1), of([0, 1], [2], 0, 1), of([0, 1], [3]), of([0, 1], [2])]
    assert len(set(others)) == 6


def test_learners_differ_by_what_they_are():
    learners = [
        SVC(),
        SVC(C=2.0),
        SVC(C=2),
        SVC(random_state=0),
        SVC(random_state=1),
        SVC(class_weight={0: 1.0, 1: 2.0}),
        SVC(class_weight={"0": 1.0, "1": 2.0}),
        GaussianNB(),
        BaggingClassifier(SVC()),
        BaggingClassifier(SVC(gamma=0.1)),
        BaggingClassifier(GaussianNB()),
    ]
    assert len({compute_learner_identity(each).hash for each in learners}) == len(learners)


def test_a_learner_is_the_same_whether_fitted_or_not():
    fitted = SVC().fit([[0.0], [1.0]], [0, 1])
    assert compute_learner_identity(fitted).hash == compute_learner_identity(SVC()).hash


def test_every_learner_of_the_catalogue_has_an_identity_of_its_own():
    from fairtrial.learners import catalogue

    names = catalogue.listing()["name"]
    found = {name: compute_learner_identity(catalogue.make_learner(name), name).hash for name in names}
    assert len(found) > 30
    assert len(set(found.values())) == len(found)
    again = {name: compute_learner_identity(catalogue.make_learner(name), name).hash for name in names}
    assert again == found


def test_parameters_that_were_added_later_change_no_key_unless_they_are_set():
    from fairtrial.learners import C45, Bagging

    for kind, parameter, value in ((Bagging, "vote", "majority"), (C45, "class_weight", "balanced")):
        plain, changed = compute_learner_identity(kind()), compute_learner_identity(kind(**{parameter: value}))
        assert parameter not in plain.parameters
        assert changed.parameters[parameter] == value
        assert plain.hash != changed.hash


def test_what_is_kept_of_a_learner():
    found = compute_learner_identity(BaggingClassifier(SVC(C=2.0), n_estimators=3))
    assert found.class_name == "sklearn.ensemble._bagging.BaggingClassifier"
    assert found.parameters["n_estimators"] == 3
    assert found.parameters["estimator"]["parameters"]["C"] == 2.0
    assert found.versions == {name: importlib.metadata.version(name) for name in ("numpy", "scikit-learn", "scipy")}


@pytest.mark.parametrize("package", ["numpy", "scipy", "scikit-learn", "imbalanced-learn", "numba"])
def test_another_version_of_a_package_is_another_learner(monkeypatch, package):
    from imblearn.over_sampling import SMOTE

    from fairtrial.learners.prepared import Prepared

    learner, plain = Prepared(GaussianNB(), sampler=SMOTE()), GaussianNB()
    before, plain_before = compute_learner_identity(learner), compute_learner_identity(plain)
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "999" if name == package else real(name))
    assert compute_learner_identity(learner).hash != before.hash
    assert compute_learner_identity(learner).versions[package] == "999"
    assert compute_learner_identity(learner).draws_hash == before.draws_hash
    assert (compute_learner_identity(plain).hash == plain_before.hash) is (package in ("imbalanced-learn", "numba"))


def test_something_else_than_an_estimator_is_refused():
    with pytest.raises(InputError, match=r"mine must be an estimator, got the class SVC: .*SVC\(\)"):
        compute_learner_identity(SVC, "mine")
    with pytest.raises(InputError, match="mine must be an estimator with fit and predict, got dict"):
        compute_learner_identity({"learner": "c45"}, "mine")


@given(st.dictionaries(st.text(max_size=3), st.integers(), max_size=5), st.randoms())
def test_the_order_of_a_dictionary_does_not_count(values, random):
    pairs = list(values.items())
    random.shuffle(pairs)
    assert to_canonical(dict(pairs)) == to_canonical(values)


_SAME_EVERYWHERE = """
import functools
import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import FunctionTransformer
from sklearn.pipeline import make_pipeline
from fairtrial.conditions import ClassNoise
from fairtrial.resampling import StratifiedKFold
from fairtrial.study.identity import compute_learner_identity
grid = GridSearchCV(GaussianNB(), {"var_smoothing": np.array([1e-9, 1e-3])}, scoring=make_scorer(accuracy_score), cv=KFold(3))
several = VotingClassifier([("bayes", GaussianNB(var_smoothing=1e-8)), ("grid", grid)], weights=np.array([1, 2]))
odd = FunctionTransformer(functools.partial(np.clip, a_min=0), kw_args={"of": frozenset("abcdefgh"), "cv": StratifiedKFold(3)})
learner = make_pipeline(odd, FunctionTransformer(kw_args={"rng": np.random.default_rng(3)}), several)
print(compute_learner_identity(learner).hash, ClassNoise(level=0.1).content_hash)
"""


def test_identity_is_the_same_in_every_process():
    ran = [
        subprocess.run(
            [sys.executable, "-c", _SAME_EVERYWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "4711")
    ]
    one, other = (each.stdout.split() for each in ran)
    assert one == other
    assert [len(each) for each in one] == [32, 64]


def hash_condition(condition, name="condition"):
    return compute_condition_identity(condition, name).hash


def hash_draws(condition):
    return compute_condition_identity(condition).draws_hash


def shifted(factor):
    @dataclass(frozen=True, kw_only=True)
    class Shift(Condition):
        name = "my-shift"

        def _apply(self, X, y, rng):
            return X * factor

    return Shift()


def test_conditions_differ_by_what_they_do():
    assert hash_condition(shifted(1.0)) == hash_condition(shifted(1.0)) != hash_condition(shifted(-1.0))
    steps = [Sequence([shifted(k), ClassNoise(0.1)]) for k in (1.0, 1.0, -1.0)]
    assert hash_condition(steps[0]) == hash_condition(steps[1]) != hash_condition(steps[2])

    def changed_by(k):
        return ConceptChange(labels=lambda *each: (each, k))

    assert hash_condition(changed_by(1)) == hash_condition(changed_by(1)) != hash_condition(changed_by(2))
    assert hash_condition(ClassNoise(0.1)) != hash_condition(ClassNoise(0.1, part="test"))


@pytest.mark.parametrize("package", ["fairtrial", "numpy"])
def test_another_version_makes_another_condition(monkeypatch, package):
    before, real = hash_condition(ClassNoise(0.1)), importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "999" if name == package else real(name))
    assert hash_condition(ClassNoise(0.1)) != before


def test_a_condition_with_a_place_in_memory_is_refused():
    with pytest.raises(InputError, match=r"mine must be .*plain values"):
        hash_condition(ConceptChange(labels={"a": object()}), "mine")


def test_draws_do_not_depend_on_the_part():
    for made in (
        lambda part: ClassNoise(0.1, part=part),
        lambda part: PriorShift(priors={"a": 0.2, "b": 0.8}, part=part),
        lambda part: Sequence([ClassNoise(0.1, part=part), Sequence([PriorShift(weights={"a": 2.0}, part=part)])]),
    ):
        assert len({hash_draws(made(part)) for part in ("train", "test", "all")}) == 1
    assert hash_draws(ClassNoise(0.1)) != hash_draws(ClassNoise(0.2))


@pytest.mark.parametrize(
    ("learner", "path"),
    [
        (SMO(), "fairtrial.learners.machines.SMO"),
        (Prepared(SVC()), "fairtrial.learners.preparing.Prepared"),
        (GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=StratifiedKFold(3)), "fairtrial.resampling.stratified.StratifiedKFold"),
        (GridSearchCV(SVC(), {"C": [1.0, 2.0]}, cv=KFold(3)), "fairtrial.resampling.kfold.KFold"),
    ],
)
def test_a_class_that_moved_keeps_the_path_under_which_results_files_know_it(learner, path):
    """Paths of the first results files: their trials are found again, and seeds, which follow from keys, stay the same."""
    assert f"{path!r}" in str(Encoder().encode(learner, "learner"))


# --- Telling ---


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
    "scikit-learn's splitters": (KFoldTelling(3), KFoldTelling(4)),
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
    with pytest.raises(InputError, match="parameter values must be"):
        to_canonical([value])


# --- Code walk ---
# Code is told by what it does: another key for whatever would give other predictions, the same for the same in any process.


def module_of(text, name="mine"):
    """The names of a module with this text, which is in no file."""
    known = {"__name__": f"not_installed_{name}"}
    exec(textwrap.dedent(text), known)
    return known


def of(text, what="use"):
    return told(module_of(text)[what])


CHANGES = {
    "a constant": ("K = 1\ndef use(x): return x * K", "1", "2"),
    "a constant in a list": ("K = [0, [1, 2]]\ndef use(x): return x * K[0]", "2", "3"),
    "an array": ("import numpy as np\nK = np.array([1.0])\ndef use(x): return K", "1.0", "2.0"),
    "a helper": ("def help(x): return x\ndef use(x): return help(x)", "return x\n", "return -x\n"),
    "a helper of a helper": ("K = 1\ndef more(x): return K\ndef help(x): return more(x)\ndef use(x): return help(x)", "1", "2"),
    "a helper in a table": ("def help(x): return 1\nTABLE = {'a': help}\ndef use(x): return TABLE[x](x)", "1", "2"),
    "a class": ("class Help:\n    def run(self): return 1\ndef use(x): return Help().run()", "1", "2"),
    "a class attribute": ("class use:\n    k = 1\n    def run(self): return self.k", "1", "2"),
    "a property": ("class use:\n    @property\n    def k(self): return 1", "1", "2"),
    "a static method": ("class use:\n    @staticmethod\n    def k(): return 1", "1", "2"),
    "a class method": ("class use:\n    @classmethod\n    def k(cls): return 1", "1", "2"),
    "a remembered property": (
        "from functools import cached_property\nclass use:\n    @cached_property\n    def k(self): return 1",
        "1",
        "2",
    ),
    "a base": ("class Base:\n    k = 1\nclass use(Base): pass", "1", "2"),
    "an inner function": ("K = 1\ndef use(x):\n    def inner(): return K\n    return inner", "1", "2"),
    "a default": ("def use(x, k=1): return k", "1", "2"),
    "what is caught": ("def use(x):\n    try: return f()\n    except ValueError: return 1", "ValueError", "KeyError"),
    "a member of a set": ("def use(x): return x in {'a', 'b'}", "'a'", "'c'"),
    "a pattern": ("import re\nP = re.compile('a')\ndef use(x): return P.match(x)", "'a'", "'b'"),
    "an enumeration": ("import enum\nclass E(enum.Enum):\n    A = 1\ndef use(x): return E.A.value", "1", "2"),
    "what is remembered": ("from functools import lru_cache\n@lru_cache\ndef use(x): return 1", "1", "2"),
    "a decorator": (
        "from functools import update_wrapper\nclass D:\n    def __init__(self, f): update_wrapper(self, f)\n"
        "    def __call__(self, x): return 1\n@D\ndef use(x: list[int]): return x",
        "1",
        "2",
    ),
    "an object of a local class": ("class C:\n    def __init__(self): self.k = 1\nC = C()\ndef use(x): return C.k", "1", "2"),
    "the class of what cannot be told": (
        "class C:\n    def __init__(self): self.me = self\n    def k(self): return 1\nC = C()\ndef use(x): return C.k()",
        "1",
        "2",
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_whatever_the_code_uses_is_seen(change):
    text, before, after = change
    assert of(text) != of(text.replace(before, after))
    assert of(text) == of(text)


@pytest.mark.parametrize(
    "after", ["# a comment\nK = 1\n\ndef use(x):\n    return x * K  # so", "K = 1\nL = 2\ndef use(x): return x * K"]
)
def test_comments_lines_and_what_is_not_used_do_not_count(after):
    assert of("K = 1\ndef use(x): return x * K") == of(after)


def test_what_cannot_be_told_counts_by_its_class():
    lock = "import threading, logging\nL = threading.{}()\nG = logging.getLogger('a')\ndef use(x): return L, G"
    assert of(lock.format("Lock")) == of(lock.format("Lock")) != of(lock.format("Event"))


def test_circles_do_no_harm():
    text = "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
    text += "def use(x): return even(x) or use(x)"
    assert of(text) == of(text) != of(text.replace("n != 0", "n > 0"))


def test_two_functions_of_one_line_are_two():
    one, other = [lambda x: x, lambda x: x**2]
    assert told(one) != told(other)
    assert told([one, other, one]) != told([one, other, other])


def test_what_is_set_later_counts():
    known = module_of("class use:\n    k = 1\n    def run(self): return self.k")
    kind = known["use"]
    before = told(kind())
    kind.k = 2
    between = told(kind())
    kind.run = repr
    assert len({before, between, told(kind())}) == 3


def test_use_leaves_no_trace():
    class Busy:
        def __init__(self, n):
            self.n = n

        @lru_cache  # noqa: B019
        def total(self):
            return sum(i * self.n for i in range(50))

        @cached_property
        def once(self):
            return self.n

    import copy
    import pickle

    before = told(Busy(1))
    for each in [Busy(1) for _ in range(100)]:
        assert each.total() == 1225 * each.once
        copy.copy(each).__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    assert told(Busy(1)) == before


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


IMPORTS = (
    "import walk_helper\ndef use(x): return walk_helper.help(x)",
    "from walk_helper import help\ndef use(x): return help(x)",
    "def use(x):\n    import walk_helper\n    return walk_helper.help(x)",
    "def use(x):\n    from walk_helper import help\n    return help(x)",
)


@pytest.mark.parametrize("text", IMPORTS)
def test_a_helper_of_another_local_module_is_followed(folder, text):
    found = []
    for k in (1, 1, 2):
        (folder / "walk_helper.py").write_text(f"K = {k}\ndef help(x): return K\n")
        sys.modules.pop("walk_helper", None)
        sys.path_importer_cache.clear()
        sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
        found.append(of(text))
        sys.dont_write_bytecode = kept
    assert found[0] == found[1] != found[2]


def test_a_file_that_is_edited_after_it_was_loaded_changes_nothing(folder):
    import importlib

    (folder / "walk_edited.py").write_text("class Learner:\n    def predict(self): return 1\n")
    loaded = importlib.import_module("walk_edited").Learner()
    before = told(loaded)
    (folder / "walk_edited.py").write_text("class Learner:\n    def predict(self): return 2\n")
    assert told(loaded) == before


def test_installed_modules_count_by_their_version_and_are_not_imported():
    teller = Encoder()
    known = module_of(
        "import pandas as pd\ndef use(x):\n    import sklearn.isotonic\n    import not_there_at_all\n    return pd.NA"
    )
    teller.encode(known["use"])
    assert {"pandas", "scikit-learn"} <= teller.packages
    assert teller.holds_code


_ELSEWHERE = """
import enum, functools
from dataclasses import dataclass
import numpy as np
from sklearn.base import BaseEstimator
from fairtrial.study.identity import Encoder, to_canonical
NAMES = {"alpha", "beta", "gamma", "delta"}
class Kind(enum.Enum):
    A = 1
@dataclass(frozen=True)
class Point:
    x: int = 1
def help(x): return x in {"one", "two", "three", "four"} and NAMES
class Learner(BaseEstimator):
    "Some words."
    point = Point()
    def __init__(self, kind=Kind.A): self.kind = kind
    def fit(self, X, y): return [help(each) for each in np.asarray(X)]
    @functools.lru_cache
    def slow(self): return lambda: self.fit(1, 2)
print(to_canonical(Encoder().encode(Learner())))
"""


def test_the_same_code_is_told_alike_in_every_process():
    runs = [
        subprocess.run(
            [sys.executable, "-c", _ELSEWHERE], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "4711")
    ]
    assert runs[0] == runs[1] != b""
    assert b" at 0x" not in runs[0]


@given(st.lists(st.one_of(st.integers(), st.text(max_size=3), st.floats(allow_nan=False)), min_size=1, max_size=3))
def test_constants_are_told_apart_as_python_tells_them(values):
    one, other = (of(f"def use(): return {each!r}") for each in (values, values[::-1]))
    assert (one == other) is (repr(values) == repr(values[::-1]))


# --- Contents ---


class Base:
    __slots__ = ("__own", "a")

    def __init__(self, own):
        self.__own = own


class Open(Base):
    __slots__ = ("a",)


class Plain:
    def method(self):
        return sqrt


@pytest.mark.parametrize(
    ("value", "whole"),
    [(Plain(), True), (Base(1), True), (Open(1), True), (object(), False), (threading.Lock(), False), (iter([]), False)],
    ids=lambda each: type(each).__name__,
)
def test_whether_python_sees_all_that_an_object_holds(value, whole):
    assert has_visible_state(value) is whole


def test_slots_of_each_class_in_line_are_found_and_empty_ones_are_not():
    made = Open(7)
    Base.a.__set__(made, 1)
    made.a = 2
    assert read_slots(made) == {"Base._Base__own": 7, "Base.a": 1, "Open.a": 2}
    assert read_slots(Base(None)) == {"Base._Base__own": None}
    assert read_slots(Plain()) == {}


def test_what_a_module_knows_under_its_name():
    renamed = lambda: None  # noqa: E731
    renamed.__module__, renamed.__qualname__ = "math", "sqrt"
    assert [is_importable_by_name(each) for each in (sqrt, Plain, Plain.method, [].append, 3, renamed)] == [
        *[True] * 3,
        *[False] * 3,
    ]


# --- Origins ---


@pytest.mark.parametrize(
    ("module", "packages"),
    [
        ("sklearn.svm._classes", ("scikit-learn",)),
        ("imblearn.base", ("imbalanced-learn",)),
        ("hypothesis.core", ("hypothesis",)),
    ],
)
def test_modules_belong_to_the_packages_that_installed_them(module, packages):
    importlib.import_module(module)
    found = find_origin(module)
    assert (found.packages, found.local) == (packages, False)


def test_a_module_is_not_that_of_a_package_with_a_folder_of_the_same_name():
    # some packages install a folder called tests
    found = find_origin(__name__)
    assert (found.packages, found.local) == ((), True)


def _edited(tmp_path, editable):
    """A package whose code lies in `tmp_path/code`, installed there by a note in `tmp_path/site`."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "edited_package.py").write_text("class Learner:\n    pass\n")
    notes = tmp_path / "site" / "edited_package-1.5.dist-info"
    notes.mkdir(parents=True)
    (notes / "METADATA").write_text("Metadata-Version: 2.1\nName: edited-package\nVersion: 1.5\n")
    (notes / "RECORD").write_text("")
    if editable:
        (notes / "direct_url.json").write_text(f'{{"url": "{(tmp_path / "code").as_uri()}", "dir_info": {{"editable": true}}}}')
    script = "import edited_package; from fairtrial.study.identity import *; found = find_origin('edited_package')\n"
    script += "print(found.packages, found.local, get_versions(found.packages))"
    path = f"import sys; sys.path[:0] = [{str(tmp_path / 'code')!r}, {str(tmp_path / 'site')!r}]\n"
    return subprocess.run([sys.executable, "-c", path + script], capture_output=True, text=True, check=True).stdout.strip()


def test_what_is_being_edited_is_local_and_has_a_version(tmp_path):
    assert _edited(tmp_path, editable=True) == "('edited_package',) True {'edited_package': '1.5'}"


def test_a_file_that_only_has_the_name_of_a_package_is_not_that_package(tmp_path):
    assert _edited(tmp_path, editable=False) == "() True {}"


def test_versions_are_those_installed():
    assert get_versions(["pandas"]) == {"pandas": importlib.metadata.version("pandas")}
    assert get_versions(["pandas"], python=True)["python"] == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.parametrize(("package", "beside"), [("scikit-learn", ("numpy", "scipy")), ("fairtrial", ("numpy", "numba"))])
def test_what_does_the_arithmetic_counts_too(package, beside):
    assert get_versions([package]) == {name: importlib.metadata.version(name) for name in (package, *beside)}


def test_a_module_that_nobody_has_imported_is_not_imported_to_be_found(tmp_path, monkeypatch):
    (tmp_path / "never_imported_here.py").write_text("raise SystemError")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_origin("never_imported_here").local
    assert not find_origin("_pytest_no_such_module_").packages
    assert "never_imported_here" not in sys.modules
