"""What makes a trial this trial: hashes of contents that are the same in every process, on every machine, under any name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.study.plan.origins import versions_of
from fairtrial.study.plan.telling import Teller, canonical as canonical
from fairtrial.study.records import PROTOCOL, Rows

KEY = np.dtype("V16")
"""A key in an array; text of 16 bytes would lose zeros at its end."""


class LearnerIdentity(NamedTuple):
    """A learner by what it does: its hash, its class, every parameter in plain values, and the versions that it depends on."""

    hash: str
    class_name: str
    parameters: Mapping[str, Any]
    versions: Mapping[str, str]


def digest(*parts: bytes | str | int) -> bytes:
    """16 bytes of BLAKE2b over the parts, each with its kind and length, so that no two lists of parts read the same.

    >>> digest("ab", "c") == digest("a", "bc"), digest(1) == digest("1"), len(digest())
    (False, False, 16)
    """
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        state.update(_framed(part))
    return state.digest()


def learner_identity(estimator: Any, name: str = "learner") -> LearnerIdentity:
    """The identity of an estimator. What it is called does not count; `name` is for errors.

    Its class, all its parameters however deep, and the versions of the packages that all these classes come from make the
    hash; a class or function of no installed package enters with its text.

    >>> from sklearn.linear_model import LogisticRegression
    >>> found = learner_identity(LogisticRegression(C=2.0))
    >>> found.class_name, found.parameters["C"], sorted(found.versions)
    ('sklearn.linear_model._logistic.LogisticRegression', 2.0, ['numpy', 'scikit-learn'])
    >>> [found.hash == learner_identity(LogisticRegression(C=value)).hash for value in (2.0, 1.0)]
    [True, False]
    """
    if isinstance(estimator, type):
        raise InputError(f"{name} must be an estimator, got the class {estimator.__name__}: call it, {estimator.__name__}()")
    teller = Teller()
    told = teller.tell(estimator, name)
    if not isinstance(told, dict) or "class" not in told:
        raise InputError(f"{name} must be an estimator with fit and predict, got {type(estimator).__name__}")
    versions = versions_of(teller.packages)
    found = digest("learner", canonical(told), canonical(versions)).hex()
    return LearnerIdentity(found, told["class"], told["parameters"], versions)


def split_hash(rows: Rows) -> str:
    """The identity of a split: its training and test rows in order, its repeat and its fold.

    >>> split_hash(Rows(np.array([0, 1]), np.array([2]), 0, 0)) == split_hash(Rows(np.array([0]), np.array([1, 2]), 0, 0))
    False
    """
    sides = (np.ascontiguousarray(side, dtype="<i8").tobytes() for side in (rows.train, rows.test))
    return digest("split", rows.repeat, rows.fold, *sides).hex()


def context_hash(data: str, split: str, condition: str) -> bytes:
    """The identity of what all learners of a split and condition share."""
    return digest("context", data, split, condition)


def trial_key(seed: int, data: str, split: str, condition: str, learner: str) -> bytes:
    """The key of a trial: the protocol, the seed of the study and the hashes of the four things that make it."""
    return digest("trial", PROTOCOL, seed, data, split, condition, learner)


def trial_keys(
    seed: int, data: str, splits: Sequence[str], conditions: Sequence[str], learners: Sequence[str]
) -> npt.NDArray[np.void]:
    """The keys of all trials of a data set, splits x conditions x learners: what `trial_key` gives, only faster."""
    start = hashlib.blake2b(b"".join([_framed("trial"), _framed(PROTOCOL), _framed(seed), _framed(data)]), digest_size=16)
    inner, last = list(map(_framed, conditions)), list(map(_framed, learners))
    keys = []
    for split in splits:
        of_split = start.copy()
        of_split.update(_framed(split))
        for condition in inner:
            of_context = of_split.copy()
            of_context.update(condition)
            for learner in last:
                state = of_context.copy()
                state.update(learner)
                keys.append(state.digest())
    return np.frombuffer(b"".join(keys), dtype=KEY).reshape(len(splits), len(inner), len(last))


def _framed(part: bytes | str | int) -> bytes:
    if isinstance(part, bytes):
        kind, data = b"b", part
    elif isinstance(part, str):
        kind, data = b"s", part.encode()
    else:
        kind, data = b"i", str(int(part)).encode()
    return kind + len(data).to_bytes(8, "little") + data
