"""The short forms in which parts of a study may be written, and the one long form that they all become.

What has no such form is passed on as it is: the check of the long form says what is wrong with it, and where.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairtrial.errors import InputError

FOLDED = ("stratified", "kfold", "dob-scv", "db-scv", "weka")
"""Schemes with a number of folds."""


def data_form(value: Any) -> Any:
    """`"iris"`, `["iris", "files/*.csv"]` or a table with `sets` and named data sets.

    >>> data_form(["iris"])
    {'sets': ['iris']}
    """
    if isinstance(value, str):
        return {"sets": [value]}
    return {"sets": list(value)} if isinstance(value, (list, tuple)) else _table("data", value, "a list of names and files")


def data_set_form(value: Any) -> Any:
    """`"heart.csv"` or a table with `file` or `set`."""
    return {"set": value} if isinstance(value, str) else _table("a data set", value, "a path or a name of the catalogue")


def learners_form(value: Any) -> Any:
    """`["c45", "svc"]`, or a table of names, each with its learner.

    >>> learners_form({"c45": {}, "forest": "random-forest"})
    {'c45': {'learner': 'c45'}, 'forest': {'learner': 'random-forest'}}
    """
    listed = _by_name("learners", value)
    return {name: _with_name("learner", name, each) for name, each in listed.items()}


def conditions_form(value: Any) -> Any:
    """A table of names, each with levels or with a table of parameters.

    >>> conditions_form({"class-noise": [0, 0.1]})
    {'class-noise': {'condition': 'class-noise', 'level': [0, 0.1]}}
    """
    listed = _by_name("conditions", value)
    return {name: _with_name("condition", name, _levels(each)) for name, each in listed.items()}


def resampling_form(value: Any) -> Any:
    """`"leave-one-out"` or a table with the scheme and its parameters; `n_splits` is another word for folds.

    >>> resampling_form({"scheme": "kfold", "n_splits": 3})
    {'scheme': 'kfold', 'folds': 3}
    """
    if isinstance(value, str):
        return {"scheme": value}
    table = _table("resampling", value, "the name of a scheme")
    if table.get("scheme", FOLDED[0]) in FOLDED and "n_splits" in table:
        if "folds" in table:
            raise InputError("resampling must have folds or n_splits, which mean the same, got both")
        table = {("folds" if name == "n_splits" else name): each for name, each in table.items()}
    return table


def sampler_form(value: Any) -> Any:
    """`"smote"` or a table with the name of the sampler and its parameters."""
    if isinstance(value, str):
        return {"sampler": value}
    table = _table("sampler", value, "the name of a sampler")
    if not isinstance(table.get("sampler"), str):
        raise InputError(f'sampler must name itself, got {table}: write sampler = {{ sampler = "smote", k_neighbors = 3 }}')
    return table


def levels_form(value: Any) -> Any:
    """A list of numbers; a single one is a list of one."""
    listed = value if isinstance(value, (list, tuple)) else [value]
    if not listed or not all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in listed):
        raise InputError(f"level must be a number or a list of numbers such as [0, 0.1, 0.2], got {value!r}")
    return list(listed)


def _levels(value: Any) -> Any:
    return {"level": value} if isinstance(value, (list, tuple, int, float)) and not isinstance(value, bool) else value


def _by_name(what: str, value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        return _table(what, value, "a list of names")
    for number, each in enumerate(value):
        if not isinstance(each, str):
            raise InputError(f"{what} in a list must be names, got {each!r}: give it a name in a table, name = {{ ... }}")
        if each in value[:number]:
            raise InputError(f"{what} must have different names, got {each!r} twice")
    return {each: {} for each in value}


def _with_name(key: str, name: str, value: Any) -> Any:
    """What names nothing is what it is called."""
    if isinstance(value, str):
        return {key: value}
    if isinstance(value, Mapping) and key not in value and "object" not in value:
        return {key: name, **value}
    return value


def _table(what: str, value: Any, other: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be a table or {other}, got {value!r}")
    for name in value:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{what} must have names that are text, got {name!r}")
    return dict(value)
