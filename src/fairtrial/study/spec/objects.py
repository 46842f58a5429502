"""Convert the arguments of `Study(...)` to plain values. The objects themselves are kept separately.

A learner, condition or splitter becomes a specification if it can be rebuilt from one. Any other object becomes a placeholder.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from fairtrial._text import format_count, format_reason
from fairtrial.conditions import Condition, from_declaration
from fairtrial.data import Dataset, GivenFolds, read_bunch, read_frame
from fairtrial.data.frames import convert_to_pandas, is_bunch
from fairtrial.errors import FairtrialError, InputError, SuspectInputWarning
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

Objects = Mapping[KeyPath, Any]
"""Python objects, keyed by their location in the study, e.g. `("learners", "forest")`."""

_MAX_REPR_LENGTH = 100


class PythonReader:
    """A reader of study sections that are given in Python. An invalid value becomes None and is reported as a problem.

    >>> from fairtrial.learners import C45
    >>> PythonReader().read({"learners": {"tree": C45(confidence=0.1)}})
    {'learners': {'tree': {'learner': 'c45', 'parameters': {'confidence': 0.1}}}}
    """

    def __init__(self) -> None:
        self.objects: dict[KeyPath, Any] = {}
        self.collector = ProblemCollector()

    def read(self, sections: Mapping[str, Any]) -> dict[str, Any]:
        """Convert sections to plain values. `objects` collects the objects, and `collector` collects the problems."""
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
        if _is_data(value) or isinstance(value, os.PathLike) or hasattr(value, "shape"):
            value = [value]
        if isinstance(value, Mapping):
            return {name: self._read_data_set(name, entry, ("data", name)) for name, entry in value.items()}
        if not isinstance(value, (list, tuple)):
            return value
        sets: list[Any] = []
        named: dict[str, Any] = {}
        for number, entry in enumerate(value, 1):
            if not _is_data(entry):
                sets.append(self._read_data_set("", entry, ("data", "sets", len(sets))))
                continue
            name = _get_data_name(entry) or (f"data-{number}" if len(value) > 1 else "data")
            with self.collector.collect("data", name):
                if name in named:
                    raise InputError(f"two data sets are called {name!r}: pass them as {{name: data set}}")
                named[name] = self._read_data_set(name, entry, ("data", name))
        return {"sets": sets} | named

    def _read_data_set(self, name: str, value: Any, key_path: KeyPath) -> Any:
        if not _is_data(value):
            return self._to_plain(value, key_path, suggest_dataset(value))
        plain = None
        with self.collector.collect(*key_path):
            data = build_data(name, value)
            plain = serialize_data(name, data)
            self.objects["data", name] = data
        return plain

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
                try:
                    plain[name] = serialize_learner(learner)
                except Exception as error:
                    reason = format_reason(type(error).__name__, str(error))
                    message = f"get_params and repr of the learner must not raise an error, got {reason}: correct its class"
                    self.collector.problems.append(SpecProblem(("learners", name), message))
                    plain[name] = {PLACEHOLDER: type(learner).__name__}
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
        if isinstance(value, (list, tuple)) and len(value) == 1:
            return self._read_scheme(value[0], ("resampling",))
        if isinstance(value, (list, tuple)):
            return [self._read_scheme(scheme, ("resampling", number)) for number, scheme in enumerate(value)]
        return self._read_scheme(value, ("resampling",))

    def _read_scheme(self, value: Any, key_path: KeyPath) -> Any:
        if isinstance(value, type) or not hasattr(value, "split") or isinstance(value, str):
            return self._to_plain(value, key_path, suggest_splitter(value))
        plain = None
        with self.collector.collect(*key_path):
            plain = serialize_splitter(value)
            self.objects[key_path] = value
        return plain

    def _to_plain(self, value: Any, key_path: KeyPath, instead: str | None = None) -> Any:
        """Convert a value to plain values. Add a problem if this is impossible, or if `instead` suggests a correction."""
        try:
            if instead:
                raise InputError(instead)
            return _to_plain_value(value)
        except InputError as error:
            self.collector.problems += to_problems(error, *key_path)
            return None


def _get_data_name(data: Any) -> str | None:
    """Get the name of a data set. The name of a scikit-learn `Bunch` is its name on OpenML or its file name."""
    if isinstance(data, (Dataset, GivenFolds)):
        return str(data.dataset.name if isinstance(data, GivenFolds) else data.name)
    if not is_bunch(data):
        return None
    details, file = data.get("details"), data.get("filename")
    name = details.get("name") if isinstance(details, Mapping) else Path(file).stem if isinstance(file, str) else None
    return None if name is None else str(name)


def _is_data(value: Any) -> bool:
    """Return whether a value is a data set in memory.

    Such a value is a `Dataset`, `GivenFolds`, a data frame, a bunch, or a pair of X and y.
    """
    return isinstance(value, (Dataset, GivenFolds)) or _is_frame(value) or _is_pair(value) or _is_bunch_of_data(value)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and not isinstance(value, type)


def _is_bunch_of_data(value: Any) -> bool:
    return is_bunch(value) and (hasattr(value["data"], "shape") or isinstance(value["data"], list))


def _is_pair(value: Any) -> bool:
    """Return whether a value is a tuple of a table and a column of classes."""
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    table, labels = value
    rows = getattr(table, "shape", None) or (isinstance(table, list) and table and isinstance(table[0], (list, tuple)))
    return bool(rows) and (_is_column(labels) or not hasattr(labels, "shape")) and not isinstance(labels, (str, Dataset))


def _is_column(value: Any) -> bool:
    shape: tuple[int, ...] = getattr(value, "shape", ())
    return len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)


def build_data(name: str, value: Any) -> Dataset | GivenFolds:
    """Build a data set from a data frame, a scikit-learn `Bunch`, or a pair of X and y.

    The class column of a data frame is the column called "target" or "class", in upper or lower case. If there is no such
    column, the last column is used, and a warning names it.

    >>> build_data("two", ([[1.0], [2.0], [3.0]], ["a", "b", "b"]))
    <Dataset two: 3 rows, 1 attributes, 2 classes>
    """
    if isinstance(value, (Dataset, GivenFolds)):
        return value
    try:
        if is_bunch(value) and not _is_frame(value):
            return read_bunch(value, name=name)
        if _is_frame(value):
            return _build_from_frame(name, value)
        table, labels = value
        if hasattr(labels, "shape") and len(labels.shape) == 2:
            labels = labels.iloc[:, 0] if hasattr(labels, "iloc") else np.asarray(labels)[:, 0]
        return Dataset.from_table(table, labels, name=name)
    except FairtrialError as error:
        raise InputError(f"{name} cannot be used as a data set: {error}") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{name} cannot be used as a data set ({error}): pass (X, y) or a data frame") from None


def _build_from_frame(name: str, frame: Any) -> Dataset:
    table = convert_to_pandas(frame)
    columns = [str(column) for column in table.columns]
    target = next((column for word in ("target", "class") for column in columns if column.lower() == word), None)
    if target is None and columns:
        target = columns[-1]
        remedy = "pass fairtrial.data.read_frame(frame, target=...) to choose another"
        message = f"{name} has no column 'target' or 'class': its last column, {target!r}, is the class; {remedy}"
        warnings.warn(message, SuspectInputWarning, stacklevel=2)
    return read_frame(table, target=target, name=name, notes=(f"The class is the column {target!r}.",))


def _to_plain_value(value: Any, within: bool = False) -> Any:
    """Convert paths, NumPy numbers, measures and limits to plain values.

    None is converted only inside tables of parameters (`within`).
    """
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
    """Suggest what to pass instead of a matrix without classes, or instead of X and y in a list.

    Return None for all other values.

    >>> suggest_dataset(np.zeros((2, 1)))
    'a data set must have classes, got a ndarray: pass (X, y)'
    """
    if isinstance(value, (list, tuple)) and any(hasattr(table, "shape") for table in value):
        kinds = " and ".join(type(table).__name__ for table in value)
        return (
            f"a data set must be a tuple (X, y) of a table and one class for each row, got a {type(value).__name__} of {kinds}"
        )
    if hasattr(value, "shape"):
        return f"a data set must have classes, got a {type(value).__name__}: pass (X, y)"
    return None


def suggest_learner(value: Any) -> str | None:
    """Suggest what to pass if a learner is given as a class."""
    if not isinstance(value, type):
        return None
    return f"a learner must be an object, got the class {value.__name__}: pass {value.__name__}()"


def suggest_splitter(value: Any) -> str | None:
    """Suggest what to pass if a splitter is given as a class."""
    if not isinstance(value, type) or not hasattr(value, "split"):
        return None
    return f"resampling must be an object, got the class {value.__name__}: pass {value.__name__}()"


class NotSerializableError(Exception):
    """Raised if an object cannot be rebuilt from a specification."""


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
    """Serialize conditions of the same kind as one specification with several levels.

    Return a placeholder if the conditions cannot be rebuilt from the specification, or if they differ in parameters other than
    the level.

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
    """Return `{"level": None}` if other parameters of the condition determine the level."""
    return {"level": None} if getattr(condition, "level", ...) is None else {}


def serialize_data(name: str, data: Any) -> dict[str, Any]:
    """Serialize a data set as a placeholder that states its size and the start of its hash."""
    dataset = getattr(data, "dataset", data)
    folds = f", {format_count(len(data), 'given fold')}" if dataset is not data else ""
    return {PLACEHOLDER: f"{name}: {len(dataset)} rows{folds}, {dataset.content_hash[:16]}"}


def serialize_splitter(splitter: Any) -> dict[str, Any]:
    """Serialize a splitter as its specification or, if that is impossible, as a placeholder.

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
    """Serialize a scikit-learn splitter as its import path and parameters or, if that is impossible, as a placeholder."""
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
    """Describe a condition without parameters that are None or have their default value.

    TOML cannot represent None.
    """
    description = condition.describe()
    for parameter in fields(condition):
        value = getattr(condition, parameter.name)
        if parameter.name == "steps":
            description["steps"] = [_drop_defaults(step) for step in value]
        elif value is None or _is_default(value, parameter.default):
            del description[parameter.name]
    return dict(description)


def _serialize_estimator(estimator: Any, within: bool = False) -> dict[str, Any]:
    """Serialize an estimator.

    Inside another learner (`within`), the preparation is always written, because it has no default there.
    """
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
    grid = {name: _serialize_values(values) for name, values in estimator.grid.items()}
    iterations = {} if estimator.iterations is None else {"iterations": estimator.iterations}
    search = {"grid": grid} if estimator.search == "grid" else {"search": estimator.search, "parameters": grid} | iterations
    return search | {"resampling": resampling, "measure": estimator.measure}


def _serialize_values(values: Any) -> Any:
    """Serialize the values of a tuned parameter: a list or a range."""
    from fairtrial.study.spec.tuning import ParameterRange

    if isinstance(values, ParameterRange):
        return {"low": values.low, "high": values.high} | ({"log": True} if values.log else {})
    if not isinstance(values, (list, tuple)):
        raise NotSerializableError
    return [serialize_value(value) for value in values]


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
    """Convert a parameter to plain values. Nested learners, transformers and samplers become specifications."""
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
    if type(value).__name__ == "make_column_selector":
        return _serialize_named("selector", _find_import_path(type(value)), _get_set_attributes(value))
    raise NotSerializableError


def _get_set_attributes(value: Any) -> dict[str, Any]:
    return {name: attribute for name, attribute in vars(value).items() if attribute is not None}


def _find_catalogue_name(kind: type[Any]) -> str | None:
    """Find the name of a class in the catalogue. Return None if there is none."""
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
    """Find the shortest import path of a class."""
    if kind.__module__ == "__main__" or kind.__qualname__ != kind.__name__:
        raise NotSerializableError
    parts = kind.__module__.split(".")
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if getattr(import_module(module), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise NotSerializableError
