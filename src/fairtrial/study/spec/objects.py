"""Convert the arguments of `Study(...)` to plain values. Objects that cannot be serialized are kept separately.

A learner, condition or splitter becomes a specification if it can be rebuilt from one. Otherwise, it becomes a placeholder.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

from fairtrial._text import format_count
from fairtrial.conditions import Condition, from_declaration
from fairtrial.data import Dataset, GivenFolds
from fairtrial.errors import FairtrialError, InputError
from fairtrial.measures import Measure
from fairtrial.resampling import ScikitLearnSplitter
from fairtrial.resampling.scikit_learn import build_splitter, get_parameters
from fairtrial.study.records import ResourceLimits
from fairtrial.study.spec.models import PREPARATIONS
from fairtrial.study.spec.problems import KeyPath, ProblemCollector, SpecProblem, to_problems
from fairtrial.study.spec.schemes import OBJECT, Scheme, build_scheme, build_scheme_from_splitter

PLACEHOLDER = "object"
"""Key of a placeholder for an object that cannot be serialized."""

NO_VALUE = {"value": "none"}
"""TOML form of a parameter whose value is None, because TOML has no null."""

Objects = Mapping[tuple[str, ...], Any]
"""Python objects by their location in the study, e.g. `("learners", "forest")`."""

_MAX_REPR_LENGTH = 100


class PythonReader:
    """Reads the sections of a study from Python. An invalid value becomes None and is reported as a problem.

    >>> from fairtrial.learners import C45
    >>> PythonReader().read({"learners": {"tree": C45(confidence=0.1)}})
    {'learners': {'tree': {'learner': 'c45', 'parameters': {'confidence': 0.1}}}}
    """

    def __init__(self) -> None:
        self.objects: dict[tuple[str, ...], Any] = {}
        self.collector = ProblemCollector()

    def read(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        """Convert sections to plain values. Objects and problems are added to `objects` and `collector.problems`."""
        return {name: self._read_section(name, value) for name, value in sections.items()}

    def _read_section(self, name: str, value: Any) -> Any:
        readers = {
            "data": self._read_data,
            "learners": self._read_learners,
            "conditions": self._read_conditions,
            "resampling": self._read_resampling,
        }
        return readers[name](value) if name in readers else self._to_plain(value, (name,))

    def _read_data(self, value: Any) -> Any:
        if not isinstance(value, (str, list)) and (suggest_dataset(value) or _is_data(value) or isinstance(value, os.PathLike)):
            value = [value]
        if isinstance(value, Mapping):
            return {name: self._read_data_set(name, entry, ("data", name)) for name, entry in value.items()}
        if not isinstance(value, (list, tuple)):
            return value
        sets: list[Any] = []
        named: dict[str, Any] = {}
        for entry in value:
            if not _is_data(entry):
                sets.append(self._read_data_set("", entry, ("data", "sets", len(sets))))
                continue
            name = _get_data_name(entry)
            with self.collector.collect("data", name):
                if name in named:
                    raise InputError(f"two data sets are called {name!r}: pass them as {{name: data set}}")
                named[name] = self._read_data_set(name, entry, ("data", name))
        return {"sets": sets} | named

    def _read_data_set(self, name: str, value: Any, key_path: KeyPath) -> Any:
        if not _is_data(value):
            return self._to_plain(value, key_path, suggest_dataset(value))
        self.objects["data", name] = value
        return serialize_data(name, value)

    def _read_learners(self, value: Any) -> Any:
        if hasattr(value, "fit") or (isinstance(value, (list, tuple)) and any(hasattr(learner, "fit") for learner in value)):
            message = "learners that are objects must have names: pass {'name': estimator}"
            self.collector.problems.append(SpecProblem(("learners",), message))
            return None
        if not isinstance(value, Mapping):
            return self._to_plain(value, ("learners",))
        plain = {}
        for name, learner in value.items():
            if hasattr(learner, "fit") and not isinstance(learner, type):
                self.objects["learners", name] = learner
                plain[name] = serialize_learner(learner)
            else:
                plain[name] = self._to_plain(learner, ("learners", name), suggest_learner(learner))
        return plain

    def _read_conditions(self, value: Any) -> Any:
        if isinstance(value, Condition):
            value = [value]
        if isinstance(value, (list, tuple)) and value and all(isinstance(condition, Condition) for condition in value):
            kinds = dict.fromkeys(condition.name for condition in value)
            value = {kind: [condition for condition in value if condition.name == kind] for kind in kinds}
        if not isinstance(value, Mapping):
            return self._to_plain(value, ("conditions",))
        plain = {}
        for name, entry in value.items():
            conditions = tuple(entry) if isinstance(entry, (list, tuple)) else (entry,)
            if conditions and all(isinstance(condition, Condition) for condition in conditions):
                self.objects["conditions", name] = conditions
                plain[name] = serialize_conditions(conditions)
            else:
                plain[name] = self._to_plain(entry, ("conditions", name))
        return plain

    def _read_resampling(self, value: Any) -> Any:
        if isinstance(value, type) or not hasattr(value, "split") or isinstance(value, str):
            return self._to_plain(value, ("resampling",), suggest_splitter(value))
        plain = None
        with self.collector.collect("resampling"):
            plain = serialize_splitter(value)
            self.objects["resampling",] = value
        return plain

    def _to_plain(self, value: Any, key_path: KeyPath, instead: str | None = None) -> Any:
        """Convert a value to a plain value. If this is impossible, or if `instead` suggests a correction, add a problem."""
        try:
            if instead:
                raise InputError(instead)
            return _to_plain_value(value)
        except InputError as error:
            self.collector.problems += to_problems(error, *key_path)
            return None


def _get_data_name(data: Any) -> str:
    return str(data.dataset.name if hasattr(data, "dataset") else data.name)


def _is_data(value: Any) -> bool:
    return isinstance(value, (Dataset, GivenFolds))


def _to_plain_value(value: Any, within: bool = False) -> Any:
    """Convert paths, NumPy numbers, measures and limits to plain values. With `within`, also convert None."""
    if isinstance(value, ResourceLimits):
        value = {"time": value.time, "memory": value.memory}
    if isinstance(value, (Mapping, list, tuple)):
        return _to_plain_members(value, within)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Measure):
        return value.name
    if value is None and not within:
        return None
    try:
        return serialize_value(value)
    except NotSerializableError:
        remedy = "pass the whole learner as an object, or plain values" if within else "pass plain values"
        raise InputError(f"a study cannot contain {_format_short(value)} here: {remedy}") from None


def _to_plain_members(value: Any, within: bool) -> Any:
    """Convert the members of a table or list, and report all problems at once."""
    collector = ProblemCollector()
    members = value.items() if isinstance(value, Mapping) else enumerate(value)
    plain: dict[Any, Any] = {}
    for name, member in members:
        with collector.collect(name):
            plain[name] = _to_plain_value(member, within or name in ("parameters", "grid"))
    collector.raise_if_any()
    return plain if isinstance(value, Mapping) else list(plain.values())


def _format_short(value: Any) -> str:
    """Format an object on one line, or only its class if the repr is long."""
    text = value.__name__ if isinstance(value, type) else repr(value)
    if isinstance(value, type):
        return f"the class {text}"
    return text if len(text) <= _MAX_REPR_LENGTH and "\n" not in text else f"an object of the class {type(value).__name__}"


def suggest_dataset(value: Any) -> str | None:
    """Suggest what to pass instead of a table, a matrix with classes, or a scikit-learn bunch. Return None for a valid value.

    >>> import pandas as pd
    >>> suggest_dataset(pd.DataFrame({"size": [1, 2], "kind": ["a", "b"]}))
    "a data set must have a class column, got a DataFrame: pass fairtrial.data.read_frame(table, target='kind')"
    """
    if isinstance(value, Mapping) and "data" in value and "target" in value and hasattr(value["data"], "shape"):
        return f"a data set must be a Dataset, got a {type(value).__name__}: pass fairtrial.data.read_bunch(bunch, name='...')"
    if isinstance(value, (list, tuple)) and len(value) == 2 and any(hasattr(table, "shape") for table in value):
        return "a data set must be a Dataset, got a pair of tables: pass fairtrial.data.Dataset.from_table(X, y, name='...')"
    if hasattr(value, "columns"):
        column = next(reversed(list(value.columns)), "class")
        correction = f"got a {type(value).__name__}: pass fairtrial.data.read_frame(table, target={str(column)!r})"
        return f"a data set must have a class column, {correction}"
    if hasattr(value, "shape"):
        correction = f"got a {type(value).__name__}: pass fairtrial.data.Dataset.from_table(X, y, name='...')"
        return f"a data set must have classes, {correction}"
    return None


def suggest_learner(value: Any) -> str | None:
    """Suggest what to pass if a learner is given as a class."""
    if not isinstance(value, type):
        return None
    return f"a learner must be an object, got the class {value.__name__}: pass {value.__name__}()"


def suggest_splitter(value: Any) -> str | None:
    """Suggest what to pass instead of the class of a splitter."""
    if not isinstance(value, type) or not hasattr(value, "split"):
        return None
    return f"resampling must be an object, got the class {value.__name__}: pass {value.__name__}()"


class NotSerializableError(Exception):
    """Raised for an object that cannot be rebuilt from a specification."""


def serialize_learner(estimator: Any) -> dict[str, Any]:
    """Serialize an estimator as its specification or, if that is impossible, as a placeholder.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> serialize_learner(RandomForestClassifier(50))
    {'learner': 'random-forest', 'parameters': {'n_estimators': 50}}
    """
    try:
        return _serialize_estimator(estimator)
    except NotSerializableError:
        return {PLACEHOLDER: " ".join(repr(estimator).split())[:200]}


def serialize_conditions(conditions: tuple[Any, ...]) -> dict[str, Any]:
    """Serialize conditions that differ only in level as one specification or, if that is impossible, as a placeholder.

    >>> from fairtrial.conditions import ClassNoise
    >>> serialize_conditions((ClassNoise(0.1), ClassNoise(0.2)))
    {'condition': 'class-noise', 'level': [0.1, 0.2]}
    """
    descriptions = [_drop_defaults(condition) for condition in conditions]
    rest = [{name: value for name, value in description.items() if name != "level"} for description in descriptions]
    try:
        rebuilt = [
            from_declaration(**_get_unset_level(condition), **description)
            for condition, description in zip(conditions, descriptions, strict=True)
        ]
    except (FairtrialError, TypeError, ValueError):
        rebuilt = []
    if rebuilt != list(conditions) or any(parameters != rest[0] for parameters in rest):
        return {PLACEHOLDER: "; ".join(map(str, conditions))}
    levels = [description["level"] for description in descriptions if "level" in description]
    return rest[0] | ({"level": levels} if levels else {})


def _get_unset_level(condition: Any) -> dict[str, Any]:
    """Return an entry `level` with the value None if other parameters of the condition determine the level."""
    return {"level": None} if getattr(condition, "level", ...) is None else {}


def serialize_data(name: str, data: Any) -> dict[str, Any]:
    """Serialize a data set as a placeholder that states its size and the start of its hash."""
    dataset = getattr(data, "dataset", data)
    folds = f", {format_count(len(data), 'given fold')}" if dataset is not data else ""
    return {PLACEHOLDER: f"{name}: {len(dataset)} rows{folds}, {dataset.content_hash[:16]}"}


def serialize_splitter(splitter: Any) -> dict[str, Any]:
    """Serialize a splitter to its specification, or a placeholder.

    >>> from sklearn.model_selection import GroupShuffleSplit
    >>> serialize_splitter(GroupShuffleSplit(20))
    {'scheme': 'splitter', 'splitter': 'sklearn.model_selection.GroupShuffleSplit', 'n_splits': 20, 'repeats': 1}
    """
    scheme = build_scheme_from_splitter(splitter)
    if scheme.name == OBJECT or scheme.splitter is None:
        return {"scheme": OBJECT, PLACEHOLDER: repr(splitter), "repeats": scheme.repeats}
    if isinstance(scheme.splitter, ScikitLearnSplitter):
        return _serialize_foreign_splitter(scheme.splitter.splitter, scheme)
    parameters = {name: value for name, value in scheme.parameters.items() if getattr(scheme.splitter, name) is not None}
    spec = {"scheme": scheme.name} | parameters | {"repeats": scheme.repeats}
    return spec if build_scheme(spec).text == scheme.text else {"scheme": OBJECT, PLACEHOLDER: repr(splitter)}


def _serialize_foreign_splitter(splitter: Any, scheme: Scheme) -> dict[str, Any]:
    """Serialize a splitter of scikit-learn to its import path and parameters, or a placeholder."""
    try:
        path = _find_import_path(type(splitter))
        parameters = {name: serialize_value(value) for name, value in get_parameters(splitter).items()}
        rebuilt = Scheme(scheme.name, build_splitter(type(splitter), path, parameters))
    except (NotSerializableError, FairtrialError, ValueError):  # ValueError: an array has no truth value
        rebuilt = None
    if rebuilt is None or rebuilt.text != scheme.text:
        return {"scheme": OBJECT, PLACEHOLDER: repr(splitter), "repeats": 1}
    return {"scheme": scheme.name, "splitter": path} | parameters | {"repeats": 1}


def _drop_defaults(condition: Any) -> dict[str, Any]:
    """Describe a condition. Leave out default values, and None because TOML cannot represent it."""
    description = condition.describe()
    for parameter in fields(condition):
        value = getattr(condition, parameter.name)
        if parameter.name == "steps":
            description["steps"] = [_drop_defaults(step) for step in value]
        elif value is None or _is_default(value, parameter.default):
            del description[parameter.name]
    return dict(description)


def _serialize_estimator(estimator: Any, within: bool = False) -> dict[str, Any]:
    """Serialize an estimator. With `within` (inside another learner), write its preparation, which has no default there."""
    from fairtrial.learners import Prepared
    from fairtrial.study.spec.tuning import Tuned

    if isinstance(estimator, Tuned) and estimator.random_state is None:
        return _serialize_estimator(estimator.learner, within) | {"tune": _serialize_tuning(estimator)}
    if isinstance(estimator, Prepared) and _get_changed_parameters(estimator).keys() <= {"learner", "sampler", "preparation"}:
        if estimator.preparation not in PREPARATIONS:
            raise NotSerializableError
        sampler = {} if estimator.sampler is None else {"sampler": _serialize_sampler(estimator.sampler)}
        explicit = within or estimator.preparation == "none"
        preparation = {"preparation": estimator.preparation} if explicit else {}
        return _serialize_estimator(estimator.learner, within) | preparation | sampler
    return _serialize_named(
        "learner",
        _find_catalogue_name(type(estimator)) or _find_import_path(type(estimator)),
        _get_changed_parameters(estimator),
    )


def _serialize_tuning(estimator: Any) -> dict[str, Any]:
    splitter = estimator.resampling
    resampling = {"scheme": "stratified", "folds": 5, "repeats": 1} if splitter is None else serialize_splitter(splitter)
    if PLACEHOLDER in resampling:
        raise NotSerializableError
    grid = {name: [serialize_value(value) for value in values] for name, values in estimator.grid.items()}
    return {"grid": grid, "resampling": resampling, "measure": estimator.measure}


def _serialize_sampler(sampler: Any) -> dict[str, Any]:
    from fairtrial.learners import sampler_classes

    name = next((key for key, kind in sampler_classes().items() if kind is type(sampler)), None)
    if name is None:
        raise NotSerializableError
    return {"sampler": name} | {
        parameter: serialize_value(value) for parameter, value in _get_changed_parameters(sampler).items()
    }


def _serialize_named(key: str, name: str, changed: Mapping[str, Any]) -> dict[str, Any]:
    parameters = {parameter: serialize_value(value) for parameter, value in changed.items()}
    return {key: name} | ({"parameters": parameters} if parameters else {})


def _get_changed_parameters(estimator: Any) -> dict[str, Any]:
    """Get the parameters that differ from their defaults."""
    if not hasattr(estimator, "get_params"):
        raise NotSerializableError
    defaults = {name: parameter.default for name, parameter in inspect.signature(type(estimator)).parameters.items()}
    parameters = estimator.get_params(deep=False)
    return {
        name: value for name, value in parameters.items() if not _is_default(value, defaults.get(name, inspect.Parameter.empty))
    }


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and isinstance(value, (bool, int, float, str, tuple)) and bool(value == default)


def serialize_value(value: Any) -> Any:
    """Convert a parameter to plain values. Learners, transformers and samplers become specifications."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return dict(NO_VALUE)
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [serialize_value(item) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {name: serialize_value(item) for name, item in value.items()}
    return _serialize_object(value)


def _serialize_object(value: Any) -> dict[str, Any]:
    if isinstance(value, type):
        raise NotSerializableError
    if hasattr(value, "fit_resample"):
        return _serialize_sampler(value)
    if hasattr(value, "fit") and hasattr(value, "predict"):
        return _serialize_estimator(value, within=True)
    if hasattr(value, "fit") and hasattr(value, "transform"):
        return _serialize_named("transformer", _find_import_path(type(value)), _get_changed_parameters(value))
    raise NotSerializableError


def _find_catalogue_name(kind: type[Any]) -> str | None:
    """Find the name of a class in the catalogue, or return None."""
    from fairtrial.learners import learner_class
    from fairtrial.learners.prepared import make_short_name

    if kind.__module__.split(".")[0] not in ("fairtrial", "sklearn"):
        return None
    for name in (make_short_name(kind.__name__.removesuffix("Classifier")), kind.__name__.lower()):
        try:
            if learner_class(name) is kind:
                return name
        except FairtrialError:
            continue
    return None


def _find_import_path(kind: type[Any]) -> str:
    """Find the shortest import path of the class."""
    if kind.__module__ == "__main__" or kind.__qualname__ != kind.__name__:
        raise NotSerializableError
    parts = kind.__module__.split(".")
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise NotSerializableError
