"""Schemes of resampling by the names that a study gives them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.study.identity import to_canonical
from fairtrial.study.spec.models import format_count

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


_MANY_CLASSES = 0.2


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
        return to_canonical({"scheme": self.name} | ({} if self.splitter is None else get_splitter_parameters(self.splitter)))

    @property
    def draws(self) -> bool:
        """Whether another repeat gives other splits."""
        return self.splitter is not None and self.splitter._is_random

    def check(self, name: str, dataset: Dataset, given_splits: Splits | None) -> None:
        """Whether the data set can be split so, as far as that can be told beforehand."""
        if self.splitter is None:
            if given_splits is None:
                raise InputError(f"{name} must bring its own folds for the scheme 'given', got none: take another scheme")
            return
        folds = getattr(self.splitter, "n_splits", 0) if self.name in FOLDED else 0
        if not self.splitter._uses_classes:
            if folds > len(dataset):
                raise InputError(f"folds must be at most the number of rows, {len(dataset)} in {name}, got {folds}")
            return
        rows = dataset.y.value_counts()
        if folds > rows.max():
            limit = f"{rows.max()} in {name}, got {folds}{_format_class_doubt(dataset, int((rows > 0).sum()))}"
            raise InputError(f"folds must be at most the number of rows in its largest class, {limit}")

    def draw_splits(self, dataset: Dataset, given_splits: Splits | None, repeat: int, rng: np.random.Generator) -> Splits:
        """The splits of one repeat, which carry its number; of schemes that repeat by themselves the number goes on."""
        if self.splitter is None:
            if given_splits is None:
                raise InputError(f"{dataset.name} has no folds of its own: take another scheme than 'given'")
            return given_splits
        splitter = _shift_weka_seed(self.splitter, repeat) if self.name == "weka" else self.splitter
        splits = splitter.freeze(dataset.X, dataset.y, random_state=rng)
        n_repeats = 1 + max(split.repeat for split in splits)
        return replace(splits, splits=tuple(replace(split, repeat=repeat * n_repeats + split.repeat) for split in splits))


FOLDED = ("stratified", "kfold", "dob-scv", "db-scv", "weka")


"""Schemes with a number of folds."""


def build_scheme(spec: Mapping[str, Any]) -> Scheme:
    """The scheme of a declaration, such as `{"scheme": "stratified", "folds": 5, "repeats": 5}`.

    >>> build_scheme({"scheme": "dob-scv", "folds": 5, "repeats": 2}).splitter
    DOBSCV()
    """
    parameters = {("n_splits" if name == "folds" else name): value for name, value in spec.items()}
    name, repeats = parameters.pop("scheme"), parameters.pop("repeats", 1)
    if name == GIVEN:
        _check_scheme_parameters(name, parameters, [])
        scheme = Scheme(name, None, repeats)
    elif name in CLASSES:
        scheme = Scheme(name, _build_splitter(name, parameters), repeats)
    else:
        raise UnknownNameError(f"no scheme is called {name!r}: {suggest_name(name, [*CLASSES, GIVEN])}")
    return check_repeats(scheme)


def check_repeats(scheme: Scheme) -> Scheme:
    """Repeats must differ from each other."""
    if scheme.repeats > 1 and not scheme.draws:
        raise InputError(f"repeats must be 1 for {scheme.name}, which draws nothing at random, got {scheme.repeats}")
    return scheme


def build_scheme_from_splitter(splitter: Splitter) -> Scheme:
    """The scheme of a splitter object; one that repeats another is that other with repeats."""
    from fairtrial.resampling import Repeated

    if isinstance(splitter, Repeated):
        inner = build_scheme_from_splitter(splitter.splitter)
        _check_unseeded(splitter)
        return Scheme(inner.name, inner.splitter, splitter.n_repeats)
    name = next((scheme_name for scheme_name, kind in CLASSES.items() if kind == type(splitter).__name__), OBJECT)
    if name != "weka":
        _check_unseeded(splitter)
    return Scheme(name, splitter)


def _format_class_doubt(dataset: Dataset, classes: int) -> str:
    """A question, where the class column has so many values that it is hardly one."""
    if classes < _MANY_CLASSES * len(dataset):
        return ""
    return f": {dataset.target!r} has {classes} different values in {format_count(len(dataset), 'row')}; {RIGHT_TARGET}"


def get_splitter_parameters(splitter: Splitter) -> dict[str, Any]:
    """The parameters of a splitter by name, without the seed, which the study gives; that of WEKA's folds is part of them."""
    names = [name for name in inspect.signature(type(splitter)).parameters if name != "random_state"]
    parameters = {name: getattr(splitter, name) for name in names if hasattr(splitter, name)}
    if type(splitter).__name__ == "WekaFolds":
        parameters["random_state"] = splitter.random_state
    return {name: value if isinstance(value, (bool, int, float, str)) else repr(value) for name, value in parameters.items()}


def _check_unseeded(splitter: Splitter) -> None:
    if splitter.random_state is not None:
        raise InputError(f"the seed of the study decides the splits, got {splitter!r}: leave its random_state out")


def _build_splitter(name: str, parameters: dict[str, Any]) -> Splitter:
    from fairtrial import resampling

    kind = getattr(resampling, CLASSES[name])
    accepted = [parameter for parameter in inspect.signature(kind).parameters if parameter != "random_state" or name == "weka"]
    _check_scheme_parameters(name, parameters, accepted)
    try:
        return kind(**parameters)  # type: ignore[no-any-return]
    except TypeError as error:
        raise InputError(f"{name} cannot be made of these parameters: {error}") from None


def _check_scheme_parameters(name: str, parameters: Mapping[str, Any], accepted: list[str]) -> None:
    accepted_names = ["folds" if parameter == "n_splits" else parameter for parameter in accepted]
    for parameter in parameters:
        if parameter == "random_state" and parameter not in accepted:
            raise InputError(f"{name} has no parameter 'random_state': the seed of the study decides the splits")
        if parameter not in accepted:
            display_name = "folds" if parameter == "n_splits" else parameter
            hint = suggest_name(display_name, accepted_names) if accepted_names else "it takes none"
            raise InputError(f"{name} has no parameter {display_name!r}: {hint}")


def _shift_weka_seed(splitter: Splitter, repeat: int) -> Splitter:
    """WEKA's experimenter counts its seed up with the repeats."""
    from fairtrial.resampling import WekaFolds

    return WekaFolds(splitter.n_splits, random_state=splitter.random_state + repeat)  # type: ignore[attr-defined,operator]
