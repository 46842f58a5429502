import hashlib
import importlib.metadata
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from fairtrial.conditions import ClassNoise, ConceptChange, Condition, PriorShift, Sequence
from fairtrial.errors import InputError
from fairtrial.learners import SMO, Prepared
from fairtrial.resampling import KFold, StratifiedKFold
from fairtrial.study.identity import (
    PROTOCOL,
    Encoder,
    compute_condition_identity,
    compute_digest,
    compute_learner_identity,
    compute_trial_keys,
    hash_context,
    hash_split,
    to_canonical,
)

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
    assert hash_context("d", "s", "c") != hash_context("d", "c", "s")


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
