"""Objects of Python as declarations, where a declaration can say all of what they are."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

from fairtrial.errors import FairtrialError
from fairtrial.study.declare.declaration import PREPARATIONS
from fairtrial.study.declare.declared_values import counted

MARK = "object"
"""The key of a declaration that stands for an object that no declaration can give back."""

NO_VALUE = {"value": "none"}
"""How a parameter that is None is written in TOML, which has no word for it."""


class CannotTellError(Exception):
    """No declaration can give this object back."""


def told_learner(estimator: Any) -> dict[str, Any]:
    """The declaration of an estimator, or a mark.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> told_learner(RandomForestClassifier(50))
    {'learner': 'random-forest', 'parameters': {'n_estimators': 50}}
    """
    try:
        return _learner(estimator)
    except CannotTellError:
        return {MARK: " ".join(repr(estimator).split())[:200]}


def told_condition(conditions: tuple[Any, ...]) -> dict[str, Any]:
    """The declaration of conditions of one name that differ in their level only, or a mark.

    >>> from fairtrial.conditions import ClassNoise
    >>> told_condition((ClassNoise(0.1), ClassNoise(0.2)))
    {'condition': 'class-noise', 'level': [0.1, 0.2]}
    """
    from fairtrial.conditions import from_declaration

    told = [_without_defaults(each) for each in conditions]
    rest = [{name: value for name, value in each.items() if name != "level"} for each in told]
    try:
        back = [from_declaration(**_unset_level(one), **each) for one, each in zip(conditions, told, strict=True)]
    except (FairtrialError, TypeError, ValueError):
        back = []
    if back != list(conditions) or any(each != rest[0] for each in rest):
        return {MARK: "; ".join(map(str, conditions))}
    levels = [each["level"] for each in told if "level" in each]
    return rest[0] | ({"level": levels} if levels else {})


def _unset_level(condition: Any) -> dict[str, Any]:
    """The level of a condition whose other parameters tell how much changes."""
    return {"level": None} if getattr(condition, "level", ...) is None else {}


def told_data(name: str, given: Any) -> dict[str, Any]:
    """The mark of a data set: its size and the beginning of its hash."""
    dataset = getattr(given, "dataset", given)
    folds = f", {counted(len(given), 'given fold')}" if dataset is not given else ""
    return {MARK: f"{name}: {counted(len(dataset), 'row')}{folds}, {dataset.content_hash[:16]}"}


def told_splitter(splitter: Any) -> dict[str, Any]:
    """The declaration of a splitter, or a mark."""
    from fairtrial.study.declare.schemes import OBJECT, parameters_of, scheme_of, scheme_of_splitter

    scheme = scheme_of_splitter(splitter)
    if scheme.name == OBJECT or scheme.splitter is None:
        return {"scheme": OBJECT, MARK: repr(splitter), "repeats": scheme.repeats}
    told = {"scheme": scheme.name} | parameters_of(scheme.splitter) | {"repeats": scheme.repeats}
    return told if scheme_of(told).text == scheme.text else {"scheme": OBJECT, MARK: repr(splitter)}


def _without_defaults(condition: Any) -> dict[str, Any]:
    """The description without parameters that are as they would be anyway, and without None, for which TOML has no word."""
    told = condition.describe()
    for each in fields(condition):
        value = getattr(condition, each.name)
        if each.name == "steps":
            told["steps"] = [_without_defaults(step) for step in value]
        elif value is None or _equal(value, each.default):
            del told[each.name]
    return dict(told)


def _learner(estimator: Any, within: bool = False) -> dict[str, Any]:
    """`within` another learner preparation is told, since nothing there is prepared unless it is said."""
    from fairtrial.learners import Prepared
    from fairtrial.study.declare.tuning import Tuned

    if isinstance(estimator, Tuned) and estimator.random_state is None:
        return _learner(estimator.learner, within) | {"tune": _tuning(estimator)}
    if isinstance(estimator, Prepared) and _changed(estimator).keys() <= {"learner", "sampler", "preparation"}:
        if estimator.preparation not in PREPARATIONS:
            raise CannotTellError
        sampler = {} if estimator.sampler is None else {"sampler": _sampler(estimator.sampler)}
        told = within or estimator.preparation == "none"
        preparation = {"preparation": estimator.preparation} if told else {}
        return _learner(estimator.learner, within) | preparation | sampler
    return _named("learner", _short_name(type(estimator)) or _import_path(type(estimator)), _changed(estimator))


def _tuning(estimator: Any) -> dict[str, Any]:
    splitter = estimator.resampling
    told = {"scheme": "stratified", "folds": 5, "repeats": 1} if splitter is None else told_splitter(splitter)
    if MARK in told:
        raise CannotTellError
    grid = {name: [told_value(each) for each in values] for name, values in estimator.grid.items()}
    return {"grid": grid, "resampling": told, "measure": estimator.measure}


def _sampler(sampler: Any) -> dict[str, Any]:
    from fairtrial.learners import sampler_classes

    name = next((each for each, kind in sampler_classes().items() if kind is type(sampler)), None)
    if name is None:
        raise CannotTellError
    return {"sampler": name} | {each: told_value(value) for each, value in _changed(sampler).items()}


def _named(key: str, name: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {each: told_value(value) for each, value in changed.items()}
    return {key: name} | ({"parameters": parameters} if parameters else {})


def _changed(estimator: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    if not hasattr(estimator, "get_params"):
        raise CannotTellError
    usual = {name: each.default for name, each in inspect.signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if not _equal(value, usual.get(name, inspect.Parameter.empty))}


def _equal(value: Any, usual: Any) -> bool:
    if value is usual:
        return True
    return type(value) is type(usual) and isinstance(value, (bool, int, float, str, tuple)) and bool(value == usual)


def told_value(value: Any) -> Any:
    """A parameter in plain values: numbers, text, lists, tables, and learners, transformers and samplers as declarations."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return dict(NO_VALUE)
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [told_value(each) for each in value]
    if isinstance(value, Mapping) and all(isinstance(each, str) for each in value):
        return {name: told_value(each) for name, each in value.items()}
    return _told_object(value)


def _told_object(value: Any) -> dict[str, Any]:
    if isinstance(value, type):
        raise CannotTellError
    if hasattr(value, "fit_resample"):
        return _sampler(value)
    if hasattr(value, "fit") and hasattr(value, "predict"):
        return _learner(value, within=True)
    if hasattr(value, "fit") and hasattr(value, "transform"):
        return _named("transformer", _import_path(type(value)), _changed(value))
    raise CannotTellError


def _short_name(kind: type[Any]) -> str | None:
    """The name in the catalogue."""
    from fairtrial.learners import learner_class
    from fairtrial.learners.sampling import short_name

    if kind.__module__.split(".")[0] not in ("fairtrial", "sklearn"):
        return None
    for name in (short_name(kind.__name__.removesuffix("Classifier")), kind.__name__.lower()):
        try:
            if learner_class(name) is kind:
                return name
        except FairtrialError:
            continue
    return None


def _import_path(kind: type[Any]) -> str:
    """The shortest path of public modules under which the class is found."""
    if kind.__module__ == "__main__" or kind.__qualname__ != kind.__name__:
        raise CannotTellError
    parts = kind.__module__.split(".")
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise CannotTellError
