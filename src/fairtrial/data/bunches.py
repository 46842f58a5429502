"""scikit-learn's bunches as data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairtrial._columns import as_frame
from fairtrial.data.dataset import Dataset
from fairtrial.data.frames import known_columns, read_frame
from fairtrial.errors import InputError


def is_bunch(source: Any) -> bool:
    """Whether this is what scikit-learn's loaders give: a mapping with data and target."""
    return isinstance(source, Mapping) and "data" in source and "target" in source


def read_bunch(
    bunch: Mapping[str, Any],
    *,
    name: str = "data",
    nominal: Sequence[str] | None = None,
    numeric: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    source: str = "",
    notes: Sequence[str] = (),
) -> Dataset:
    """A data set of a bunch; classes go by the bunch's `target_names` where it numbers them.

    >>> from sklearn.datasets import load_iris
    >>> read_bunch(load_iris(), name="iris").classes
    ('setosa', 'versicolor', 'virginica')
    """
    if not is_bunch(bunch):
        raise InputError(f"a bunch must hold data and target, got {type(bunch).__name__}")
    frame = as_frame(bunch["data"])
    names = bunch.get("feature_names")
    if names is not None and len(names) == frame.shape[1]:
        frame = frame.set_axis([str(each) for each in names], axis=1)
    target = _target_name(bunch, [str(each) for each in frame.columns])
    labels, classes = _labels(bunch)
    where = source or "the bunch"
    known_columns("nominal", nominal, frame.columns, where)
    known_columns("drop", drop, frame.columns, where)
    table = frame.reset_index(drop=True).assign(**{target: labels})
    data = read_frame(table, target=target, name=name, nominal=nominal, numeric=numeric, drop=drop, source=source, notes=notes)
    if classes is None:
        return data
    return Dataset.of(data.X, data.y.astype(object), name=name, target=target, classes=classes, source=source, notes=notes)


def _target_name(bunch: Mapping[str, Any], taken: list[str]) -> str:
    name = str(getattr(bunch["target"], "name", None) or "class")
    return name if name not in taken else "class" if "class" not in taken else "class of the bunch"


def _labels(bunch: Mapping[str, Any]) -> tuple[Any, list[Any] | None]:
    """The class of each row, and the classes in order if the bunch names them."""
    target = np.asarray(bunch["target"])
    if target.ndim != 1:
        raise InputError(f"a bunch must have a single target, got shape {target.shape}: choose a column of it")
    names = bunch.get("target_names")
    numbered = target.dtype.kind in "iu" and names is not None and len(names) > 1 and len(target)
    if not numbered or target.min() < 0 or target.max() >= len(names):  # type: ignore[arg-type]
        kind = getattr(bunch["target"], "dtype", None)
        return (bunch["target"].array if str(kind) == "category" else target), None
    classes = np.asarray(names).tolist()
    return np.asarray(names, dtype=object)[target], classes
