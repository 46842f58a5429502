"""Samplers of imbalanced-learn by short names: they change the training rows of a fold, never the test rows."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

from fairtrial._columns import Columns
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError, LearnerError, UnknownNameError

_FOR_ALL_COLUMNS = ("RandomOverSampler", "RandomUnderSampler", "SMOTENC", "SMOTEN", "FunctionSampler")


@cache
def sampler_classes() -> dict[str, type[Any]]:
    """All samplers by name: `smote`, `random-over-sampler`, `tomek-links` ..."""
    from imblearn.utils.testing import all_estimators

    return {
        short_name(name): found for name, found in all_estimators(type_filter="sampler") if name not in ("SMOTENC", "SMOTEN")
    }


def short_name(name: str) -> str:
    """The name of a class in small letters with hyphens.

    >>> [short_name(each) for each in ("RandomOverSampler", "SMOTE", "SVMSMOTE", "SMOTEENN", "GaussianNB", "LinearSVC")]
    ['random-over-sampler', 'smote', 'svm-smote', 'smote-enn', 'gaussian-nb', 'linear-svc']
    """
    name = name.replace("SVMSMOTE", "SvmSmote").replace("SMOTEENN", "SmoteEnn").replace("SMOTETomek", "SmoteTomek")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1-\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1-\2", name).lower()


def get_sampler(name: str, **parameters: Any) -> Any:
    """A sampler by its name.

    >>> get_sampler("smote", k_neighbors=3)
    SMOTE(k_neighbors=3)
    """
    classes = sampler_classes()
    if name not in classes:
        raise UnknownNameError(f"no sampler is called {name!r}: {did_you_mean(name, classes)}")
    try:
        return classes[name](**parameters)
    except TypeError as error:
        raise InputError(f"{name} does not take these parameters: {error}") from None


def sampled(sampler: Any, columns: Columns, labels: Any) -> tuple[Columns, Any, Any]:
    """New training rows, their classes, and the sampler that made them.

    SMOTE takes the form that fits: SMOTENC with some nominal columns, SMOTEN with nominal ones only. Of the others only those
    that repeat or drop rows at random take nominal columns.
    """
    from sklearn.base import clone

    used = _fitting(clone(sampler), columns)
    try:
        rows, chosen = used.fit_resample(columns.values, labels)
    except (ValueError, TypeError, RuntimeError, IndexError) as error:
        counts = dict(zip(*(each.tolist() for each in np.unique(labels, return_counts=True)), strict=True))
        remedy = "; ask for fewer neighbours or use RandomOverSampler" if "neighbors" in str(error) else ""
        told = f"{type(used).__name__} cannot sample training rows with classes {counts}: {error}{remedy}"
        raise LearnerError(told) from error
    return Columns(np.asarray(rows, dtype=np.float64), columns.names, columns.categories), np.asarray(chosen), used


def _fitting(sampler: Any, columns: Columns) -> Any:
    nominal, name = columns.nominal, type(sampler).__name__
    if not nominal.any() or name in _FOR_ALL_COLUMNS:
        return sampler
    if name != "SMOTE":
        column = columns.names[int(np.argmax(nominal))]
        raise InputError(f"{name} takes numeric columns only, got {column!r}: use smote or random-over-sampler")
    from imblearn.over_sampling import SMOTEN, SMOTENC

    shared = {name: sampler.get_params()[name] for name in ("sampling_strategy", "random_state", "k_neighbors")}
    if nominal.all():
        return SMOTEN(**shared)
    return SMOTENC(categorical_features=np.flatnonzero(nominal).tolist(), **shared)


def frame_of(columns: Columns) -> Any:
    """The columns as a frame: float64, and category for nominal ones."""
    import pandas as pd

    parts = {}
    for j, name in enumerate(columns.names):
        values, known = columns.values[:, j], columns.categories[j]
        if known is None:
            parts[name] = values
        else:
            codes = np.where(np.isnan(values), -1, values).astype(np.intp)
            parts[name] = pd.Categorical.from_codes(codes, list(known))  # type: ignore[call-overload]
    return pd.DataFrame(parts)
