"""Read and replace classes in pandas Series, Categoricals, NumPy arrays and lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairtrial._check import IntArray, check_column, encode_labels
from fairtrial._registry import suggest_name
from fairtrial.conditions import cells
from fairtrial.errors import InputError


@dataclass(frozen=True, eq=False)
class EncodedLabels:
    """The ordered classes, and the class index of each case."""

    names: tuple[Any, ...]
    codes: IntArray

    @property
    def counts(self) -> IntArray:
        """Number of cases in each class."""
        return np.bincount(self.codes, minlength=len(self.names))

    def find_code(self, label: Any, name: str) -> int:
        """Find the index of the class to which an argument refers."""
        code = find_label(self.names, label)
        if code is None:
            raise InputError(f"{name} must name classes of y, got {label!r}: {suggest_name(label, self.names)}")
        return code


def find_label(names: Sequence[Any], label: Any) -> int | None:
    """Find the index of a class. Return None if the class is unknown.

    The string '1' also matches the class 1, because keys in study files are strings.

    >>> find_label((0, 1), "1"), find_label((0, 1), 1), find_label((0, 1), "2")
    (1, 1, None)
    """
    if label in names:
        return names.index(label)
    texts = [str(name) for name in names]
    return texts.index(label) if isinstance(label, str) and texts.count(label) == 1 else None


def convert_label(label: Any, names: Sequence[Any], name: str) -> Any:
    """Return the class to which a label refers.

    If there is no such class, convert the label to a new class of the same kind as the other classes.

    >>> convert_label("1", (0, 1), "labels"), convert_label(2.0, (0, 1), "labels")
    (1, 2)
    """
    position = find_label(names, label)
    if position is not None:
        return names[position]
    new, kind = label.item() if isinstance(label, np.generic) else label, _describe_kind(names[0])
    if _describe_kind(new) != kind:
        raise InputError(f"{name} must be {kind} like the classes of y, got {label!r}: convert one of them")
    if kind != "whole numbers":
        return new
    return int(new) if isinstance(names[0], (int, np.integer)) else float(new)


def _describe_kind(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true or false"
    if isinstance(value, (int, np.integer)) or (isinstance(value, (float, np.floating)) and float(value).is_integer()):
        return "whole numbers"
    return "text" if isinstance(value, str) else f"of type {type(value).__name__}"


def read_labels(y: Any, classes: Sequence[Any] | str = "present") -> EncodedLabels:
    """Encode the classes of y as whole numbers.

    `classes` determines which classes are included: all classes that occur ("present"), all pandas categories ("declared"), or
    a list.

    A list determines the order of the classes. Otherwise, the classes have the order of the pandas categories. If there are no
    categories, the classes are sorted.

    >>> labels = read_labels(["b", "a", "b"])
    >>> labels.names, labels.codes.tolist()
    (('a', 'b'), [1, 0, 1])
    """
    if y is None:
        raise InputError("y must contain the class of each case, got None")
    declared = _get_categories(y)
    names, codes = _read_declared_codes(y, declared) or _encode_classes(y, declared)
    if not isinstance(classes, str):
        return _order_classes(names, codes, list(classes), declared)
    if classes == "declared" and declared is None:
        raise InputError("y must be a pandas category if classes='declared', got another type: convert y, or list the classes")
    present = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    if classes == "declared" or len(present) == len(names):
        return EncodedLabels(names, codes)
    return EncodedLabels(tuple(names[code] for code in present), np.searchsorted(present, codes))


def _encode_classes(y: Any, declared: list[Any] | None) -> tuple[tuple[Any, ...], IntArray]:
    classes, (codes,) = encode_labels(declared, None, y=check_column("y", y))
    return tuple(classes.names.tolist()), codes


def _read_declared_codes(y: Any, declared: list[Any] | None) -> tuple[tuple[Any, ...], IntArray] | None:
    """Return the classes and codes of a categorical column.

    Return None if y is not categorical or must be checked.
    """
    if declared is None or not (all(isinstance(category, str) for category in declared) or _are_whole(declared)):
        return None
    codes = np.asarray(_get_array(y).codes, dtype=np.intp)
    if len(codes) == 0 or codes.min() < 0:
        return None
    return tuple(category.item() if isinstance(category, np.generic) else category for category in declared), codes


def _are_whole(values: list[Any]) -> bool:
    return all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)


def _get_array(y: Any) -> Any:
    """Return the Categorical of a Series, or the Categorical itself."""
    return y.array if hasattr(y, "iloc") else y


def replace_labels(y: Any, rows: IntArray, labels: Sequence[Any]) -> Any:
    """Copy y and replace the classes in the given rows. Categories are extended if necessary.

    If no rows are given, return y itself.
    """
    if len(rows) == 0:
        return y
    if isinstance(y, (list, tuple)):
        new_labels = list(y)
        for row, label in zip(rows, labels, strict=True):
            new_labels[row] = label
        return type(y)(new_labels)
    if hasattr(y, "iloc") and getattr(y, "ndim", 1) == 1:
        new = _replace_in_array(y.to_numpy() if isinstance(y.dtype, np.dtype) else y.array, rows, list(labels))
        return type(y)(new, index=y.index, name=y.name, dtype=new.dtype)
    if isinstance(y, np.ndarray):
        return _replace_in_array(y.reshape(-1), rows, list(labels)).reshape(y.shape)
    if hasattr(y, "categories"):
        return _replace_in_array(y, rows, list(labels))
    raise InputError(f"y must be a Series, a Categorical, a NumPy array or a list, got {type(y).__name__}")


def _replace_in_array(column: Any, rows: IntArray, labels: list[Any]) -> Any:
    declared = _get_categories(column)
    if declared is not None:
        codes_by_label = {label: code for code, label in enumerate(declared)}
        codes = [codes_by_label.get(label, -1) for label in labels]
        if min(codes) >= 0:
            return _replace_codes(column, rows, codes)
        column = column.add_categories([label for label in dict.fromkeys(labels) if label not in declared])
    new = cells.replace_values(column, rows, labels)
    if any(stored != label for stored, label in zip(np.asarray(new[rows], dtype=object), labels, strict=True)):
        raise cells.make_misfit_error(new.dtype, labels)
    return new


def _replace_codes(column: Any, rows: IntArray, codes: list[int]) -> Any:
    new = column.codes.copy()
    new[rows] = codes
    return type(column).from_codes(new, dtype=column.dtype, validate=False)


def _get_categories(y: Any) -> list[Any] | None:
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    return None if categories is None else list(categories)


def _order_classes(names: tuple[Any, ...], codes: IntArray, classes: list[Any], declared: list[Any] | None) -> EncodedLabels:
    unknown = [label for label in classes if declared is not None and find_label(declared, label) is None]
    if unknown:
        raise InputError(f"classes must be categories of y, got {unknown[0]!r}: {suggest_name(unknown[0], declared or ())}")
    classes = [convert_label(label, names, "classes") for label in classes]
    if not classes or any(label in classes[:i] for i, label in enumerate(classes)):
        raise InputError(f"classes must be a list of distinct classes, got {classes!r}")
    for code in np.unique(codes):
        if names[code] not in classes:
            raise InputError(f"classes must contain every class of y, got {classes!r}: add {names[code]!r}")
    new_codes = np.array([classes.index(name) if name in classes else -1 for name in names])
    return EncodedLabels(tuple(classes), new_codes[codes])
