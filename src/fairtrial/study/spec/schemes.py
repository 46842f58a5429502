"""Resampling schemes of a study: registered splitters, splitters given as objects, and folds supplied with the data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._registry import suggest_name
from fairtrial._text import format_count
from fairtrial.errors import FairtrialError, InputError, UnknownNameError
from fairtrial.resampling import NestedCV, PairedSubsampling, Repeated, ScikitLearnSplitter, Splitter
from fairtrial.resampling.scikit_learn import build_splitter
from fairtrial.resampling.splitter import FoldSplitter, schemes
from fairtrial.study.identity import to_canonical
from fairtrial.study.spec.problems import ProblemsError, to_problems

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.resampling import Splits

GIVEN = "given"
"""The scheme that uses the folds supplied with the data sets."""

OBJECT = "object"
"""The scheme name for a splitter that is not registered under a name."""

SPLITTER = "splitter"
"""The scheme name for a scikit-learn splitter, which is identified by its import path."""

RIGHT_TARGET = "if this is not the class column, name the class column with target"

_MAX_SPLITS = 100_000

_MANY_CLASSES = 0.2
"""If the ratio of classes to rows is at least this high, the class column may be numeric or the wrong column."""


@dataclass(frozen=True, eq=False)
class Scheme:
    """A resampling scheme. `splitter` is None if the folds are supplied with the data sets."""

    name: str
    splitter: Splitter | None
    repeats: int = 1

    def __post_init__(self) -> None:
        """Refuse a scheme with too many splits."""
        splits = _count_splits(self.splitter)
        key = "repeats" if self.repeats > 1 else "folds" if isinstance(self.splitter, (FoldSplitter, NestedCV)) else "n_splits"
        if isinstance(self.splitter, PairedSubsampling):
            key = "repeats_in"
        if self.repeats * splits > _MAX_SPLITS:
            got = f"got {self.repeats:,} x {splits:,}" if self.repeats > 1 else f"got {splits:,}"
            raise InputError(f"{key} must give at most {_MAX_SPLITS:,} splits of a data set, {got}: reduce {key}")

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the splitter. The seed is included only if it is a parameter of the scheme itself."""
        if self.splitter is None:
            return {}
        names = [
            name
            for name in inspect.signature(type(self.splitter)).parameters
            if name != "random_state" or self.splitter._keeps_seed
        ]
        values = {name: getattr(self.splitter, name) for name in names if hasattr(self.splitter, name)}
        return {name: value if isinstance(value, (bool, int, float, str)) else repr(value) for name, value in values.items()}

    @property
    def text(self) -> str:
        """Text that describes the scheme. This text, the seed, the data and the repeat number determine the splits."""
        return to_canonical({"scheme": self.name} | self.parameters)

    @property
    def draws(self) -> bool:
        """Whether the splits differ between repeats."""
        return self.splitter is not None and self.splitter._is_random

    def check(self, name: str, dataset: Dataset, given_splits: Splits | None) -> None:
        """Check that the data set can be split, as far as this is known before the splits are drawn."""
        if self.splitter is None:
            if given_splits is None:
                raise InputError(f"{name} must have its own folds for the scheme 'given', got none: choose another scheme")
            return
        self._check_roles(name, dataset)
        folds = self.splitter.n_splits if isinstance(self.splitter, FoldSplitter) else 0
        if not self.splitter._uses_classes:
            if folds > len(dataset):
                raise InputError(f"folds must be at most the number of rows, {len(dataset)} in {name}, got {folds}")
            return
        rows = dataset.y.value_counts()
        if folds > rows.max():
            limit = f"{rows.max()} in {name}, got {folds}{_format_class_doubt(dataset, int((rows > 0).sum()))}"
            raise InputError(f"folds must be at most the number of rows in its largest class, {limit}")

    def _check_roles(self, name: str, dataset: Dataset) -> None:
        """Check that the groups and times that the data set declares suit the scheme."""
        check_roles(f"the scheme {self.display_name!r}", self.splitter, name, dataset)
        groups = dataset.groups
        if groups is not None and self.splitter is not None and self.splitter._primary_folds is not None:
            rule = f"{name} must not declare groups for the scheme {self.name!r}, whose standard error needs independent rows"
            raise InputError(f"{rule}, got {groups.name!r}: use the scheme 'group' or 'stratified-group'")
        if groups is not None and self.splitter is not None and self.splitter._uses_groups:
            folds = self.splitter.n_splits if isinstance(self.splitter, FoldSplitter) else 2
            if folds > groups.nunique():
                limit = f"{groups.nunique()} in {name} (column {groups.name!r}), got {folds}"
                raise InputError(f"folds must be at most the number of groups, {limit}")

    @property
    def display_name(self) -> str:
        """Name of the scheme, or class name of a scikit-learn splitter."""
        return type(self.splitter.splitter).__name__ if isinstance(self.splitter, ScikitLearnSplitter) else self.name

    def draw_splits(self, dataset: Dataset, given_splits: Splits | None, repeat: int, rng: np.random.Generator) -> Splits:
        """Draw the splits of one repeat.

        If the splitter itself produces several repeats, all repeats are numbered consecutively.
        """
        if self.splitter is None:
            if given_splits is None:
                raise InputError(f"{dataset.name} has no folds of its own: choose a scheme other than 'given'")
            return given_splits
        splitter = self.splitter._for_repeat(repeat)
        splits = splitter.freeze(dataset.X, dataset.y, dataset.groups, time=dataset.time, random_state=rng)
        n_repeats = 1 + max(split.repeat for split in splits)
        return replace(splits, splits=tuple(replace(split, repeat=repeat * n_repeats + split.repeat) for split in splits))


def _count_splits(splitter: Any) -> int:
    """Count the splits in one repeat. Return 1 if the number depends on the data."""
    if isinstance(splitter, ScikitLearnSplitter):
        with suppress(Exception):  # the number depends on the data, or a user-defined class raises an error
            return int(splitter.splitter.get_n_splits())
        return 1
    if isinstance(splitter, (NestedCV, PairedSubsampling)):
        return splitter.get_n_splits()
    splits = getattr(splitter, "n_splits", 1)
    return splits if isinstance(splits, int) else 1


def build_scheme(spec: Mapping[str, Any], load_class: Callable[..., type[Any]] | None = None) -> Scheme:
    """Build a scheme from its declaration, such as `{"scheme": "stratified", "folds": 5, "repeats": 5}`.

    `load_class` imports the class of a splitter that is declared by its import path: `{"splitter": "package.module.Class"}`.

    >>> build_scheme({"scheme": "dob-scv", "folds": 5, "repeats": 2}).splitter
    DOBSCV()
    """
    parameters = {("n_splits" if name == "folds" else name): value for name, value in spec.items()}
    name, repeats, path = parameters.pop("scheme"), parameters.pop("repeats", 1), parameters.pop("splitter", None)
    if path is not None and load_class is not None:
        try:
            splitter_class = load_class(path, "split", "get_n_splits")
        except FairtrialError as error:
            raise ProblemsError(to_problems(error, "splitter")) from None
        splitter = build_splitter(splitter_class, path, parameters)
        scheme = replace(build_scheme_from_splitter(splitter), repeats=repeats)
    elif name == GIVEN:
        _check_scheme_parameters(name, parameters, [])
        scheme = Scheme(name, None, repeats)
    elif name in schemes:
        scheme = Scheme(name, _build_splitter(name, parameters), repeats)
    else:
        raise UnknownNameError(f"no scheme is called {name!r}: {suggest_name(name, [*schemes, GIVEN])}")
    return _check_repeats(scheme)


def _check_repeats(scheme: Scheme) -> Scheme:
    """Refuse repeats of a scheme that is not random, or that sets the number of repeats itself."""
    if scheme.repeats > 1 and not scheme.draws:
        raise InputError(f"repeats must be 1 for {scheme.name}, which is not random, got {scheme.repeats}")
    if scheme.repeats > 1 and scheme.splitter is not None and scheme.splitter._sets_repeats:
        raise InputError(f"repeats must be 1 for {scheme.name}, got {scheme.repeats}: set repeats_in and repeats_out instead")
    return scheme


def check_roles(user: str, splitter: Splitter | None, name: str, dataset: Dataset) -> None:
    """Check that a data set declares the groups and times that a splitter needs."""
    for role, needed in (
        ("groups", getattr(splitter, "_uses_groups", False)),
        ("time", getattr(splitter, "_uses_time", False)),
    ):
        if needed and getattr(dataset, role) is None:
            remedy = f'write {role} = "COLUMN" in [data.{name}] (in Python: dataset.with_roles({role}="COLUMN"))'
            raise InputError(f"{name} must declare {role} for {user}, got none: {remedy}")


def build_scheme_from_splitter(splitter: Any) -> Scheme:
    """Build the scheme for a splitter of this package or of scikit-learn. `Repeated` becomes a scheme with repeats."""
    if not isinstance(splitter, Splitter):
        _check_unseeded(splitter)
        splitter = ScikitLearnSplitter(splitter)
    if isinstance(splitter, ScikitLearnSplitter):
        return Scheme(SPLITTER, splitter)
    if isinstance(splitter, Repeated):
        inner = build_scheme_from_splitter(splitter.splitter)
        _check_unseeded(splitter)
        return Scheme(inner.name, inner.splitter, splitter.n_repeats)
    name = next((scheme_name for scheme_name in schemes if schemes[scheme_name] is type(splitter)), OBJECT)
    if not splitter._keeps_seed:
        _check_unseeded(splitter)
    return Scheme(name, splitter)


def _format_class_doubt(dataset: Dataset, classes: int) -> str:
    """Format a hint if the class column has suspiciously many values."""
    if classes < _MANY_CLASSES * len(dataset):
        return ""
    return f": {dataset.target!r} has {classes} different values in {format_count(len(dataset), 'row')}; {RIGHT_TARGET}"


def _check_unseeded(splitter: Any) -> None:
    if getattr(splitter, "random_state", None) is not None:
        raise InputError(f"random_state of the splitter must be None, got {splitter!r}: the study sets the seed")


def _build_splitter(name: str, parameters: dict[str, Any]) -> Splitter:
    kind = schemes[name]
    accepted = [
        parameter for parameter in inspect.signature(kind).parameters if parameter != "random_state" or kind._keeps_seed
    ]
    _check_scheme_parameters(name, parameters, accepted)
    try:
        return kind(**parameters)
    except TypeError as error:
        raise InputError(f"{name} cannot be created with these parameters: {error}") from None


def _check_scheme_parameters(name: str, parameters: Mapping[str, Any], accepted: list[str]) -> None:
    accepted_names = ["folds" if parameter == "n_splits" else parameter for parameter in accepted]
    for parameter in parameters:
        if parameter == "random_state" and parameter not in accepted:
            raise InputError(f"{name} has no parameter 'random_state': the seed of the study determines the splits")
        if parameter not in accepted:
            display_name = "folds" if parameter == "n_splits" else parameter
            hint = suggest_name(display_name, accepted_names) if accepted_names else "it has no parameters"
            raise InputError(f"{name} has no parameter {display_name!r}: {hint}")
