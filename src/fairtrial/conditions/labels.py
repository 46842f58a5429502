"""Classes of cases, read and written in their own type: a pandas Series or Categorical, a NumPy array, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairtrial._check import IntArray, column, encode
from fairtrial._registry import did_you_mean
from fairtrial.conditions.cells import misfit, put
from fairtrial.errors import InputError


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes in order, and the code of each case: the place of its class."""

    names: tuple[Any, ...]
    codes: IntArray

    @property
    def counts(self) -> IntArray:
        """How many cases each class has."""
        return np.bincount(self.codes, minlength=len(self.names))

    def place(self, label: Any, name: str) -> int:
        """The place of a class that an argument names."""
        found = place_among(self.names, label)
        if found is None:
            raise InputError(f"{name} must name classes of y, got {label!r}: {did_you_mean(label, self.names)}")
        return found


def place_among(names: Sequence[Any], label: Any) -> int | None:
    """Where a class stands. Keys of a study file are text, so that '1' also means the class 1, where that is the only one.

    >>> place_among((0, 1), "1"), place_among((0, 1), 1), place_among((0, 1), "2")
    (1, 1, None)
    """
    if label in names:
        return names.index(label)
    texts = [str(each) for each in names]
    return texts.index(label) if isinstance(label, str) and texts.count(label) == 1 else None


def fitting(label: Any, names: Sequence[Any], name: str) -> Any:
    """One of these classes, or a new one that can stand beside them: text beside text, a whole number beside numbers.

    >>> fitting("1", (0, 1), "labels"), fitting(2.0, (0, 1), "labels")
    (1, 2)
    """
    place = place_among(names, label)
    if place is not None:
        return names[place]
    new, kind = label.item() if isinstance(label, np.generic) else label, _kind(names[0])
    if _kind(new) != kind:
        raise InputError(f"{name} must fit the classes of y, which are {kind}, got {label!r}: convert one of them")
    if kind != "whole numbers":
        return new
    return int(new) if isinstance(names[0], (int, np.integer)) else float(new)


def _kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true or false"
    if isinstance(value, (int, np.integer)) or (isinstance(value, (float, np.floating)) and float(value).is_integer()):
        return "whole numbers"
    return "text" if isinstance(value, str) else f"of type {type(value).__name__}"


def read_labels(y: Any, classes: Sequence[Any] | str = "present") -> Labels:
    """The classes of y: those that are present, or with `"declared"` all categories, or those given, in their order.

    Of a pandas category the order is that of its categories; else classes are sorted.

    >>> labels = read_labels(["b", "a", "b"])
    >>> labels.names, labels.codes.tolist()
    (('a', 'b'), [1, 0, 1])
    """
    if y is None:
        raise InputError("y must hold the class of each case, got None")
    declared = _categories(y)
    names, codes = _declared_codes(y, declared) or _encoded(y, declared)
    if not isinstance(classes, str):
        return _in_order(names, codes, list(classes), declared)
    if classes == "declared" and declared is None:
        raise InputError("classes='declared' needs y as a pandas category, which declares its classes: or list the classes")
    present = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    if classes == "declared" or len(present) == len(names):
        return Labels(names, codes)
    return Labels(tuple(names[place] for place in present), np.searchsorted(present, codes))


def _encoded(y: Any, declared: list[Any] | None) -> tuple[tuple[Any, ...], IntArray]:
    found, (codes,) = encode(declared, None, y=column("y", y))
    return tuple(found.names.tolist()), codes


def _declared_codes(y: Any, declared: list[Any] | None) -> tuple[tuple[Any, ...], IntArray] | None:
    """The codes that a pandas category has already; None where what it holds has to be looked at."""
    if declared is None or not (all(isinstance(each, str) for each in declared) or _whole(declared)):
        return None
    codes = np.asarray(_array_of(y).codes, dtype=np.intp)
    if len(codes) == 0 or codes.min() < 0:
        return None
    return tuple(each.item() if isinstance(each, np.generic) else each for each in declared), codes


def _whole(values: list[Any]) -> bool:
    return all(isinstance(each, (int, np.integer)) and not isinstance(each, bool) for each in values)


def _array_of(y: Any) -> Any:
    """The Categorical of a Series, or the Categorical itself."""
    return y.array if hasattr(y, "iloc") else y


def relabelled(y: Any, rows: IntArray, labels: Sequence[Any]) -> Any:
    """A copy of y with other classes in these rows; y itself where there are none. A pandas category declares new classes."""
    if len(rows) == 0:
        return y
    if isinstance(y, (list, tuple)):
        given = list(y)
        for row, label in zip(rows, labels, strict=True):
            given[row] = label
        return type(y)(given)
    if hasattr(y, "iloc") and getattr(y, "ndim", 1) == 1:
        new = _put(y.to_numpy() if isinstance(y.dtype, np.dtype) else y.array, rows, list(labels))
        return type(y)(new, index=y.index, name=y.name, dtype=new.dtype)
    if isinstance(y, np.ndarray):
        return _put(y.reshape(-1), rows, list(labels)).reshape(y.shape)
    if hasattr(y, "categories"):
        return _put(y, rows, list(labels))
    raise InputError(f"y must be a Series, a Categorical, a NumPy array or a list, got {type(y).__name__}")


def _put(column: Any, rows: IntArray, labels: list[Any]) -> Any:
    declared = _categories(column)
    if declared is not None:
        place = {label: code for code, label in enumerate(declared)}
        codes = [place.get(label, -1) for label in labels]
        if min(codes) >= 0:
            return _recoded(column, rows, codes)
        column = column.add_categories([each for each in dict.fromkeys(labels) if each not in declared])
    new = put(column, rows, labels)
    if any(kept != label for kept, label in zip(np.asarray(new[rows], dtype=object), labels, strict=True)):
        raise misfit(new.dtype, labels)
    return new


def _recoded(column: Any, rows: IntArray, codes: list[int]) -> Any:
    new = column.codes.copy()
    new[rows] = codes
    return type(column).from_codes(new, dtype=column.dtype, validate=False)


def _categories(y: Any) -> list[Any] | None:
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    return None if categories is None else list(categories)


def _in_order(names: tuple[Any, ...], codes: IntArray, classes: list[Any], declared: list[Any] | None) -> Labels:
    unknown = [each for each in classes if declared is not None and place_among(declared, each) is None]
    if unknown:
        raise InputError(f"classes must be categories of y, got {unknown[0]!r}: {did_you_mean(unknown[0], declared or ())}")
    classes = [fitting(each, names, "classes") for each in classes]
    if not classes or any(each in classes[:i] for i, each in enumerate(classes)):
        raise InputError(f"classes must be a list of different classes, got {classes!r}")
    for code in np.unique(codes):
        if names[code] not in classes:
            raise InputError(f"classes must hold every class of y, got {classes!r}: add {names[code]!r}")
    places = np.array([classes.index(name) if name in classes else -1 for name in names])
    return Labels(tuple(classes), places[codes])
