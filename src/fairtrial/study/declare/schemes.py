"""Schemes of resampling by the names that a study gives them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.study.declare.declared_values import counted
from fairtrial.study.plan.identity import canonical

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.resampling import Splits, Splitter

CLASSES = {
    "stratified": "StratifiedKFold",
    "kfold": "KFold",
    "dob-scv": "DOBSCV",
    "db-scv": "DBSCV",
    "weka": "WekaFolds",
    "holdout": "Holdout",
    "subsampling": "RandomSubsampling",
    "bootstrap": "Bootstrap",
    "leave-one-out": "LeaveOneOut",
}
GIVEN = "given"
OBJECT = "object"
RIGHT_TARGET = "is it a number rather than a class, or the wrong column? Name the class by target"
_MANY = 0.2
"""Classes for each row, from which on it is doubtful that they are classes."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """How the rows of a data set are split in one repeat. `splitter` is None where the data bring their own splits."""

    name: str
    splitter: Splitter | None
    repeats: int = 1

    @property
    def text(self) -> str:
        """All that decides the splits but the seed, the data and the number of repeats."""
        return canonical({"scheme": self.name} | ({} if self.splitter is None else parameters_of(self.splitter)))

    @property
    def draws(self) -> bool:
        """Whether another repeat gives other splits."""
        return self.splitter is not None and self.splitter._draws

    def check(self, name: str, dataset: Dataset, given: Splits | None) -> None:
        """Whether the data set can be split so, as far as that can be told beforehand."""
        if self.splitter is None:
            if given is None:
                raise InputError(f"{name} must bring its own folds for the scheme 'given', got none: take another scheme")
            return
        folds = getattr(self.splitter, "n_splits", 0) if self.name in FOLDED else 0
        if not self.splitter._labels_classes:
            if folds > len(dataset):
                raise InputError(f"folds must be at most the number of rows, {len(dataset)} in {name}, got {folds}")
            return
        rows = dataset.y.value_counts()
        if folds > rows.max():
            told = f"{rows.max()} in {name}, got {folds}{_doubt(dataset, int((rows > 0).sum()))}"
            raise InputError(f"folds must be at most the number of rows in its largest class, {told}")

    def splits(self, dataset: Dataset, given: Splits | None, repeat: int, rng: np.random.Generator) -> Splits:
        """The splits of one repeat, which carry its number; of schemes that repeat by themselves the number goes on."""
        if self.splitter is None:
            if given is None:
                raise InputError(f"{dataset.name} has no folds of its own: take another scheme than 'given'")
            return given
        splitter = _weka(self.splitter, repeat) if self.name == "weka" else self.splitter
        splits = splitter.freeze(dataset.X, dataset.y, random_state=rng)
        own = 1 + max(part.repeat for part in splits)
        return replace(splits, parts=tuple(replace(part, repeat=repeat * own + part.repeat) for part in splits))


FOLDED = ("stratified", "kfold", "dob-scv", "db-scv", "weka")
"""Schemes with a number of folds."""


def scheme_of(declared: Mapping[str, Any]) -> Scheme:
    """The scheme of a declaration, such as `{"scheme": "stratified", "folds": 5, "repeats": 5}`.

    >>> scheme_of({"scheme": "dob-scv", "folds": 5, "repeats": 2}).splitter
    DOBSCV()
    """
    parameters = {("n_splits" if name == "folds" else name): value for name, value in declared.items()}
    name, repeats = parameters.pop("scheme"), parameters.pop("repeats", 1)
    if name == GIVEN:
        _known(name, parameters, [])
        scheme = Scheme(name, None, repeats)
    elif name in CLASSES:
        scheme = Scheme(name, _splitter(name, parameters), repeats)
    else:
        raise UnknownNameError(f"no scheme is called {name!r}: {did_you_mean(name, [*CLASSES, GIVEN])}")
    return checked_repeats(scheme)


def checked_repeats(scheme: Scheme) -> Scheme:
    """Repeats must differ from each other."""
    if scheme.repeats > 1 and not scheme.draws:
        raise InputError(f"repeats must be 1 for {scheme.name}, which draws nothing at random, got {scheme.repeats}")
    return scheme


def scheme_of_splitter(splitter: Splitter) -> Scheme:
    """The scheme of a splitter object; one that repeats another is that other with repeats."""
    from fairtrial.resampling import Repeated

    if isinstance(splitter, Repeated):
        inner = scheme_of_splitter(splitter.splitter)
        _unseeded(splitter)
        return Scheme(inner.name, inner.splitter, splitter.n_repeats)
    name = next((each for each, kind in CLASSES.items() if kind == type(splitter).__name__), OBJECT)
    if name != "weka":
        _unseeded(splitter)
    return Scheme(name, splitter)


def _doubt(dataset: Dataset, classes: int) -> str:
    """A question, where the class column has so many values that it is hardly one."""
    if classes < _MANY * len(dataset):
        return ""
    return f": {dataset.target!r} has {classes} different values in {counted(len(dataset), 'row')}; {RIGHT_TARGET}"


def parameters_of(splitter: Splitter) -> dict[str, Any]:
    """The parameters of a splitter by name, without the seed, which the study gives; that of WEKA's folds is part of them."""
    names = [each for each in inspect.signature(type(splitter)).parameters if each != "random_state"]
    found = {each: getattr(splitter, each) for each in names if hasattr(splitter, each)}
    if type(splitter).__name__ == "WekaFolds":
        found["random_state"] = splitter.random_state
    return {name: value if isinstance(value, (bool, int, float, str)) else repr(value) for name, value in found.items()}


def _unseeded(splitter: Splitter) -> None:
    if splitter.random_state is not None:
        raise InputError(f"the seed of the study decides the splits, got {splitter!r}: leave its random_state out")


def _splitter(name: str, parameters: dict[str, Any]) -> Splitter:
    from fairtrial import resampling

    kind = getattr(resampling, CLASSES[name])
    known = [each for each in inspect.signature(kind).parameters if each != "random_state" or name == "weka"]
    _known(name, parameters, known)
    try:
        return kind(**parameters)  # type: ignore[no-any-return]
    except TypeError as error:
        raise InputError(f"{name} cannot be made of these parameters: {error}") from None


def _known(name: str, parameters: Mapping[str, Any], known: list[str]) -> None:
    told = ["folds" if each == "n_splits" else each for each in known]
    for each in parameters:
        if each == "random_state" and each not in known:
            raise InputError(f"{name} has no parameter 'random_state': the seed of the study decides the splits")
        if each not in known:
            shown = "folds" if each == "n_splits" else each
            hint = did_you_mean(shown, told) if told else "it takes none"
            raise InputError(f"{name} has no parameter {shown!r}: {hint}")


def _weka(splitter: Splitter, repeat: int) -> Splitter:
    """WEKA's experimenter counts its seed up with the repeats."""
    from fairtrial.resampling import WekaFolds

    return WekaFolds(splitter.n_splits, random_state=splitter.random_state + repeat)  # type: ignore[attr-defined,operator]
