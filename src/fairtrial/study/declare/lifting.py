"""Arguments of Python as plain values, with the objects among them set aside; and plain values back to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError

if TYPE_CHECKING:
    from fairtrial.study.declare.declaration import Declaration

Objects = dict[tuple[str, ...], Any]


def lifted(sections: Mapping[str, Any]) -> tuple[dict[str, Any], Objects]:
    """The sections in plain values, and the objects by their place.

    >>> from fairtrial.learners import C45
    >>> lifted({"learners": {"tree": C45(confidence=0.1)}})[0]
    {'learners': {'tree': {'learner': 'c45', 'parameters': {'confidence': 0.1}}}}
    """
    objects: Objects = {}
    lifts = {"data": _data, "learners": _learners, "conditions": _conditions, "resampling": _resampling}
    plain = {name: lifts[name](value, objects) if name in lifts else _plain(value) for name, value in sections.items()}
    return plain, objects


def check_tellable(declaration: Declaration) -> None:
    """Whether a file can say all of it."""
    from fairtrial.study.declare.live_objects import MARK

    remedies = {
        "data": "write it to a file by fairtrial.data.write and name that file",
        "learners": "put its class into an installed package, with parameters that are numbers, text, lists or learners",
        "conditions": "declare it by its name and parameters that are numbers, text or lists",
    }
    plain = declaration.plain()
    for section, remedy in remedies.items():
        for name, entry in plain[section].items():
            if isinstance(entry, Mapping) and MARK in entry:
                raise InputError(f"{section}.{name} cannot be written to a study file ({entry[MARK]}): {remedy}")
    if MARK in plain["resampling"]:
        told = plain["resampling"][MARK]
        raise InputError(f"resampling cannot be written to a study file ({told}): take a scheme by its name")


def moved(plain: dict[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """The plain declaration with paths of data that lead from the new folder to where they led from the old one."""
    from fairtrial.study.declare.resolving_data import is_path

    if old.resolve() == new.resolve():
        return plain

    def path(text: str) -> str:
        if text.startswith("~") or os.path.isabs(text):
            return text
        return Path(os.path.relpath(old.resolve() / text, new.resolve())).as_posix()

    def entry(each: Any) -> Any:
        if isinstance(each, list):
            return [path(text) if is_path(text, old) else text for text in each]
        paths = {key: path(each[key]) for key in ("file", "set") if key in each and (key == "file" or is_path(each[key], old))}
        return each | paths

    return plain | {"data": {name: entry(each) for name, each in plain["data"].items()}}


def _data(value: Any, objects: Objects) -> Any:
    if _is_data(value) or isinstance(value, os.PathLike):
        value = [value]
    if isinstance(value, Mapping):
        return {name: _data_set(name, each, objects) for name, each in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    sets, named = [], {}
    for each in value:
        if _is_data(each):
            name = _own_name(each)
            if name in named:
                raise InputError(f"two data sets are called {name!r}: pass them as {{name: data set}}")
            named[name] = _data_set(name, each, objects)
        else:
            sets.append(_plain(each))
    return {"sets": sets} | named


def _data_set(name: str, value: Any, objects: Objects) -> Any:
    from fairtrial.study.declare.live_objects import told_data

    if not _is_data(value):
        return _plain(value)
    objects["data", name] = value
    return told_data(name, value)


def _own_name(data: Any) -> str:
    return str(data.dataset.name if hasattr(data, "dataset") else data.name)


def _is_data(value: Any) -> bool:
    from fairtrial.data import Dataset, GivenFolds

    return isinstance(value, (Dataset, GivenFolds))


def _learners(value: Any, objects: Objects) -> Any:
    from fairtrial.study.declare.live_objects import told_learner

    if hasattr(value, "fit") or (isinstance(value, (list, tuple)) and any(hasattr(each, "fit") for each in value)):
        raise InputError("learners that are objects must have names: pass {'name': estimator}")
    if not isinstance(value, Mapping):
        return _plain(value)
    plain = {}
    for name, each in value.items():
        if hasattr(each, "fit") and not isinstance(each, type):
            objects["learners", name] = each
            plain[name] = told_learner(each)
        else:
            plain[name] = _plain(each)
    return plain


def _conditions(value: Any, objects: Objects) -> Any:
    from fairtrial.conditions import Condition
    from fairtrial.study.declare.live_objects import told_condition

    if isinstance(value, Condition):
        value = [value]
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, Condition) for each in value):
        value = {kind: [each for each in value if each.name == kind] for kind in dict.fromkeys(each.name for each in value)}
    if not isinstance(value, Mapping):
        return _plain(value)
    plain = {}
    for name, each in value.items():
        listed = tuple(each) if isinstance(each, (list, tuple)) else (each,)
        if listed and all(isinstance(one, Condition) for one in listed):
            objects["conditions", name] = listed
            plain[name] = told_condition(listed)
        else:
            plain[name] = _plain(each)
    return plain


def _resampling(value: Any, objects: Objects) -> Any:
    from fairtrial.resampling import Splitter
    from fairtrial.study.declare.live_objects import told_splitter

    if not isinstance(value, Splitter):
        return _plain(value)
    objects["resampling",] = value
    return told_splitter(value)


def _plain(value: Any, within: bool = False) -> Any:
    """Paths as text, NumPy's numbers as Python's, measures by their names, limits as a table; `within` parameters also None."""
    from fairtrial.measures.measure import Measure
    from fairtrial.study.declare.live_objects import CannotTellError, told_value
    from fairtrial.study.records import Limits

    if isinstance(value, Limits):
        value = {"time": value.time, "memory": value.memory}
    if isinstance(value, Mapping):
        return {name: _plain(each, within or name in ("parameters", "grid")) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each, within) for each in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Measure):
        return value.name
    if value is None and not within:
        return None
    try:
        return told_value(value)
    except CannotTellError:
        told = "give the whole learner as an object, or write plain values" if within else "write plain values"
        raise InputError(f"a study cannot hold {value!r} here: {told}") from None
