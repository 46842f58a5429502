"""Arguments of Python as plain values, with the objects among them set aside; and plain values back to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError
from fairtrial.study.declare.foreign_objects import instead_of_data, instead_of_learner, instead_of_splitter
from fairtrial.study.declare.gathering import Gathering, Mistake, mistakes_of

if TYPE_CHECKING:
    from fairtrial.study.declare.declaration import Declaration

Objects = dict[tuple[str, ...], Any]
KeyPath = tuple[str | int, ...]
_LONGEST_TOLD = 100


def lifted(sections: Mapping[str, Any]) -> tuple[dict[str, Any], Objects, list[Mistake]]:
    """The sections in plain values, the objects by their place, and what no study can hold.

    >>> from fairtrial.learners import C45
    >>> lifted({"learners": {"tree": C45(confidence=0.1)}})[0]
    {'learners': {'tree': {'learner': 'c45', 'parameters': {'confidence': 0.1}}}}
    """
    lifting = _Lifting()
    plain = {name: lifting.section(name, value) for name, value in sections.items()}
    return plain, lifting.objects, lifting.gathering.mistakes


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
    if old.resolve() == new.resolve():
        return plain

    def path(text: str) -> str:
        if text.startswith("~") or os.path.isabs(text):
            return text
        return Path(os.path.relpath(old.resolve() / text, new.resolve())).as_posix()

    return _with_paths(plain, old, path)


def placed(plain: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The plain declaration with whole paths of data."""
    return _with_paths(plain, folder, lambda text: os.path.normpath(os.path.join(folder.resolve(), os.path.expanduser(text))))


def _with_paths(plain: dict[str, Any], folder: Path, path: Callable[[str], str]) -> dict[str, Any]:
    from fairtrial.study.declare.resolving_data import is_path

    def entry(each: Any) -> Any:
        if isinstance(each, list):
            return [path(text) if is_path(text, folder) else text for text in each]
        keys = [key for key in ("file", "set") if key in each and (key == "file" or is_path(each[key], folder))]
        return each | {key: path(each[key]) for key in keys}

    return plain | {"data": {name: entry(each) for name, each in plain["data"].items()}}


class _Lifting:
    """Goes through the sections; what is wrong is left as None and told in the end."""

    def __init__(self) -> None:
        self.objects: Objects = {}
        self.gathering = Gathering()

    def section(self, name: str, value: Any) -> Any:
        lifts = {"data": self._data, "learners": self._learners, "conditions": self._conditions, "resampling": self._resampling}
        return lifts[name](value) if name in lifts else self._plain(value, (name,))

    def _data(self, value: Any) -> Any:
        if not isinstance(value, (str, list)) and (instead_of_data(value) or _is_data(value) or isinstance(value, os.PathLike)):
            value = [value]
        if isinstance(value, Mapping):
            return {name: self._data_set(name, each, ("data", name)) for name, each in value.items()}
        if not isinstance(value, (list, tuple)):
            return value
        sets: list[Any] = []
        named: dict[str, Any] = {}
        for each in value:
            if not _is_data(each):
                sets.append(self._data_set("", each, ("data", "sets", len(sets))))
                continue
            name = _own_name(each)
            with self.gathering.at("data", name):
                if name in named:
                    raise InputError(f"two data sets are called {name!r}: pass them as {{name: data set}}")
                named[name] = self._data_set(name, each, ("data", name))
        return {"sets": sets} | named

    def _data_set(self, name: str, value: Any, place: KeyPath) -> Any:
        from fairtrial.study.declare.live_objects import told_data

        if not _is_data(value):
            return self._plain(value, place, instead_of_data(value))
        self.objects["data", name] = value
        return told_data(name, value)

    def _learners(self, value: Any) -> Any:
        from fairtrial.study.declare.live_objects import told_learner

        if hasattr(value, "fit") or (isinstance(value, (list, tuple)) and any(hasattr(each, "fit") for each in value)):
            told = "learners that are objects must have names: pass {'name': estimator}"
            self.gathering.mistakes.append(Mistake(("learners",), told))
            return None
        if not isinstance(value, Mapping):
            return self._plain(value, ("learners",))
        plain = {}
        for name, each in value.items():
            if hasattr(each, "fit") and not isinstance(each, type):
                self.objects["learners", name] = each
                plain[name] = told_learner(each)
            else:
                plain[name] = self._plain(each, ("learners", name), instead_of_learner(each))
        return plain

    def _conditions(self, value: Any) -> Any:
        from fairtrial.conditions import Condition
        from fairtrial.study.declare.live_objects import told_condition

        if isinstance(value, Condition):
            value = [value]
        if isinstance(value, (list, tuple)) and value and all(isinstance(each, Condition) for each in value):
            kinds = dict.fromkeys(each.name for each in value)
            value = {kind: [each for each in value if each.name == kind] for kind in kinds}
        if not isinstance(value, Mapping):
            return self._plain(value, ("conditions",))
        plain = {}
        for name, each in value.items():
            listed = tuple(each) if isinstance(each, (list, tuple)) else (each,)
            if listed and all(isinstance(one, Condition) for one in listed):
                self.objects["conditions", name] = listed
                plain[name] = told_condition(listed)
            else:
                plain[name] = self._plain(each, ("conditions", name))
        return plain

    def _resampling(self, value: Any) -> Any:
        from fairtrial.resampling import Splitter
        from fairtrial.study.declare.live_objects import told_splitter

        if not isinstance(value, Splitter):
            return self._plain(value, ("resampling",), instead_of_splitter(value))
        self.objects["resampling",] = value
        return told_splitter(value)

    def _plain(self, value: Any, place: KeyPath, instead: str | None = None) -> Any:
        """The plain value; None where there is none, or where something else must be written `instead`."""
        try:
            if instead:
                raise InputError(instead)
            return _plain_value(value)
        except InputError as error:
            self.gathering.mistakes += mistakes_of(error, *place)
            return None


def _own_name(data: Any) -> str:
    return str(data.dataset.name if hasattr(data, "dataset") else data.name)


def _is_data(value: Any) -> bool:
    from fairtrial.data import Dataset, GivenFolds

    return isinstance(value, (Dataset, GivenFolds))


def _plain_value(value: Any, within: bool = False) -> Any:
    """Paths as text, NumPy's numbers as Python's, measures by their names, limits as a table; `within` parameters also None."""
    from fairtrial.measures.measure import Measure
    from fairtrial.study.declare.live_objects import CannotTellError, told_value
    from fairtrial.study.records import Limits

    if isinstance(value, Limits):
        value = {"time": value.time, "memory": value.memory}
    if isinstance(value, (Mapping, list, tuple)):
        return _plain_members(value, within)
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
        raise InputError(f"a study cannot hold {_brief(value)} here: {told}") from None


def _plain_members(value: Any, within: bool) -> Any:
    """The members of a table or of a list; all that cannot be told are told at once."""
    gathering = Gathering()
    members = value.items() if isinstance(value, Mapping) else enumerate(value)
    plain: dict[Any, Any] = {}
    for name, each in members:
        with gathering.at(name):
            plain[name] = _plain_value(each, within or name in ("parameters", "grid"))
    gathering.tell()
    return plain if isinstance(value, Mapping) else list(plain.values())


def _brief(value: Any) -> str:
    """The object in a line, or what it is where that would be long."""
    told = value.__name__ if isinstance(value, type) else repr(value)
    if isinstance(value, type):
        return f"the class {told}"
    return told if len(told) <= _LONGEST_TOLD and "\n" not in told else f"an object of the class {type(value).__name__}"
