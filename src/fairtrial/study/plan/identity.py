"""What makes a trial this trial: hashes of contents that are the same in every process, on every machine, under any name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.study.plan.origins import versions_of
from fairtrial.study.plan.telling import Teller, canonical as canonical
from fairtrial.study.records import PROTOCOL, Rows

if TYPE_CHECKING:
    from fairtrial.conditions import Condition

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
    hash; a class or function of no installed package enters with its code and all that this names, and Python's version.

    >>> from sklearn.linear_model import LogisticRegression
    >>> found = learner_identity(LogisticRegression(C=2.0))
    >>> found.class_name, found.parameters["C"], sorted(found.versions)
    ('sklearn.linear_model._logistic.LogisticRegression', 2.0, ['numpy', 'scikit-learn', 'scipy'])
    >>> [found.hash == learner_identity(LogisticRegression(C=value)).hash for value in (2.0, 1.0)]
    [True, False]
    """
    if isinstance(estimator, type):
        raise InputError(f"{name} must be an estimator, got the class {estimator.__name__}: call it, {estimator.__name__}()")
    teller = Teller()
    told = teller.tell(estimator, name)
    if not isinstance(told, dict) or "class" not in told:
        raise InputError(f"{name} must be an estimator with fit and predict, got {type(estimator).__name__}")
    versions = versions_of(teller.packages, python=teller.holds_code)
    found = digest("learner", canonical(told), canonical(versions)).hex()
    return LearnerIdentity(found, told["class"], told["parameters"], versions)


def condition_hash(condition: Condition, name: str = "condition") -> str:
    """The identity of a condition: its description, and what its classes and functions do, as for a learner.

    >>> from fairtrial.conditions import ClassNoise
    >>> condition_hash(ClassNoise(0.1)) == condition_hash(ClassNoise(0.1, part="all"))
    False
    """
    described = condition.describe()
    if " at 0x" in repr(described):
        raise InputError(
            f"{name} must be a condition whose parameters can be told as plain values, got {described}: "
            "a place in memory is another in every run"
        )
    teller = Teller()
    code = canonical([teller.tell(each, name) for each in _code_of(condition)])
    versions = versions_of(teller.packages, python=teller.holds_code)
    return digest("condition", condition.content_hash, code, canonical(versions)).hex()


def draws_hash(condition: Condition) -> str:
    """What the random draws of a condition depend on: its description as if it, and each of its steps, had its usual part.

    So it draws the same in the test part whether it is declared for this part or for all.

    >>> from fairtrial.conditions import ClassNoise
    >>> draws_hash(ClassNoise(0.1)) == draws_hash(ClassNoise(0.1, part="all")) == ClassNoise(0.1).content_hash
    True
    """
    return str(_with_usual_part(condition).content_hash)


def _code_of(value: Any) -> list[Any]:
    """The classes of a condition and of its steps, and the functions among its parameters."""
    from fairtrial.conditions import Condition

    if isinstance(value, Condition):
        return [type(value), *(found for each in fields(value) for found in _code_of(getattr(value, each.name)))]
    if isinstance(value, (list, tuple)):
        return [found for each in value for found in _code_of(each)]
    return [value] if callable(value) else []


def _with_usual_part(value: Any) -> Any:
    from fairtrial.conditions import Condition

    if isinstance(value, (list, tuple)):
        return type(value)(map(_with_usual_part, value))
    if not isinstance(value, Condition):
        return value
    usual = {each.name: _with_usual_part(getattr(value, each.name)) for each in fields(value) if each.init}
    return replace(value, **usual | {"part": type(value).part})


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


def trial_key(seed: int, data: str, split: str, condition: str, learner: str, protocol: int = PROTOCOL) -> bytes:
    """The key of a trial: the protocol, the seed of the study and the hashes of the four things that make it."""
    return digest("trial", protocol, seed, data, split, condition, learner)


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
