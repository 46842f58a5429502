"""Objects that people hold in Python and that a study takes in another form: what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def instead_of_data(value: Any) -> str | None:
    """What to write instead of a table, a matrix with its classes, or a bunch; None where a study can hold it.

    >>> import pandas as pd
    >>> instead_of_data(pd.DataFrame({"size": [1, 2], "kind": ["a", "b"]}))
    "a data set must say which column is the class, got a DataFrame: pass fairtrial.data.read_frame(table, target='kind')"
    """
    if isinstance(value, Mapping) and "data" in value and "target" in value and hasattr(value["data"], "shape"):
        return f"a data set must be a Dataset, got a {type(value).__name__}: pass fairtrial.data.read_bunch(bunch, name='...')"
    if isinstance(value, (list, tuple)) and len(value) == 2 and any(hasattr(each, "shape") for each in value):
        return "a data set must be a Dataset, got a pair of tables: pass fairtrial.data.Dataset.of(X, y, name='...')"
    if hasattr(value, "columns"):
        column = next(reversed(list(value.columns)), "class")
        told = f"got a {type(value).__name__}: pass fairtrial.data.read_frame(table, target={str(column)!r})"
        return f"a data set must say which column is the class, {told}"
    if hasattr(value, "shape"):
        told = f"got a {type(value).__name__}: pass fairtrial.data.Dataset.of(X, y, name='...')"
        return f"a data set must have its classes with it, {told}"
    return None


def instead_of_learner(value: Any) -> str | None:
    """What to write instead of a class."""
    if not isinstance(value, type):
        return None
    return f"a learner must be an object, got the class {value.__name__}: pass {value.__name__}()"


def instead_of_splitter(value: Any) -> str | None:
    """What to write instead of a splitter of scikit-learn, whose splits the seed of a study does not decide.

    >>> from sklearn.model_selection import RepeatedKFold
    >>> instead_of_splitter(RepeatedKFold(n_splits=5, n_repeats=2))
    'resampling must be a splitter of fairtrial, got RepeatedKFold: pass fairtrial.resampling.Repeated(KFold(5), 2)'
    """
    if not hasattr(value, "split") or isinstance(value, str):
        return None
    if isinstance(value, type):
        return f"resampling must be an object, got the class {value.__name__}: pass {value.__name__}()"
    told = _ours(value)
    remedy = f"pass fairtrial.resampling.{told}" if told else "take a scheme by its name, such as 'stratified'"
    return f"resampling must be a splitter of fairtrial, got {type(value).__name__}: {remedy}"


def _ours(value: Any) -> str | None:
    name = type(value).__name__
    if name in ("KFold", "StratifiedKFold"):
        return f"{name}({value.n_splits})"
    if name in ("RepeatedKFold", "RepeatedStratifiedKFold"):
        return f"Repeated({name.removeprefix('Repeated')}({value.cvargs['n_splits']}), {value.n_repeats})"
    if name in ("ShuffleSplit", "StratifiedShuffleSplit"):
        size = 0.1 if value.test_size is None else value.test_size
        return f"RandomSubsampling({value.n_splits}, test_size={size}, stratify={name != 'ShuffleSplit'})"
    return "LeaveOneOut()" if name == "LeaveOneOut" else None
