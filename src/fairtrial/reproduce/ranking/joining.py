"""Measures of other people that join the table: by import path, or by the name of one of fairtrial's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.ranking_pass import Classes
from fairtrial.measures.measure import Measure, ProbabilityMeasure, ScoreMeasure, get_measure
from fairtrial.study.declare.local_modules import importable_from

_taking_turns = Lock()  # filters of warnings belong to all threads


@dataclass(frozen=True)
class JoinedMeasure:
    """A measure with its name; direction is 1 where more is better, -1 where less is."""

    name: str
    of_fold: Callable[[Classes, FloatArray], FloatArray]
    direction: int = 1

    def __call__(self, truths: Classes, scores: FloatArray, ends: Sequence[int]) -> FloatArray:
        """The mean over the folds in which it is defined: repeats x (naive Bayes, with scores replaced)."""
        with _taking_turns, warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            values = np.array([self._both(truths, scores, slice(*fold)) for fold in pairwise([0, *ends])])
        defined = ~np.isnan(values).any(axis=2, keepdims=True)
        count = defined.sum(axis=0)
        return np.asarray(np.where(count > 0, np.where(defined, values, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan))

    def _both(self, truths: Classes, scores: FloatArray, fold: slice) -> FloatArray:
        return np.stack([self.of_fold(truths[:, fold], scores[:, which, fold]) for which in range(2)], axis=1)


def joined_measure(path: str) -> JoinedMeasure:
    """A measure by its path; modules of the current folder are found, too.

    >>> joined_measure("fairtrial.measures.average_precision").name
    'average_precision'
    >>> joined_measure("fairtrial.measures.no_such_thing")
    Traceback (most recent call last):
    fairtrial.errors.InputError: no measure can be imported as 'fairtrial.measures.no_such_thing': module 'fairtrial.measures'
    has no attribute 'no_such_thing'
    """
    found = _imported(path) if "." in path else get_measure(path)
    if isinstance(found, Measure):
        return _of_fairtrial(path, found)
    if not callable(found) or isinstance(found, type):
        raise InputError(f"{path} must be a function of (y_true, scores) or a fairtrial measure, got {found!r}")
    return JoinedMeasure(path.rpartition(".")[2], lambda truths, scores: _one_by_one(path, found, truths, scores))


def _imported(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        raise InputError(f"a measure must be named by its import path, package.module.name, got {path!r}")
    try:
        with importable_from(Path.cwd()):
            return getattr(import_module(module), name)
    except Exception as error:  # whatever a module does when it is imported
        raise InputError(f"no measure can be imported as {path!r}: {error}") from None


def _of_fairtrial(path: str, measure: Measure) -> JoinedMeasure:
    direction = 1 if measure.facts.direction == "max" else -1
    if type(measure) is ScoreMeasure:
        return JoinedMeasure(measure.name, lambda truths, scores: _batched(measure, truths, scores), direction)
    if isinstance(measure, (ScoreMeasure, ProbabilityMeasure)):

        def of_rows(truth: Classes, own: FloatArray) -> float:
            return float(measure(truth, own, positive=1, labels=[0, 1]))

        return JoinedMeasure(measure.name, lambda truths, scores: _one_by_one(path, of_rows, truths, scores), direction)
    raise InputError(f"{path} must be a measure of scores, got one of {measure.facts.needs}: choose another")


def _batched(measure: Measure, truths: Classes, scores: FloatArray) -> FloatArray:
    from fairtrial.measures import batch

    return batch(truths, scores, [measure], positive=1, labels=[0, 1])[measure.name].to_numpy()


def _one_by_one(path: str, function: Callable[[Classes, FloatArray], Any], truths: Classes, scores: FloatArray) -> FloatArray:
    """NaN where only one class occurs, as for our own measures of rankings."""
    found = np.full(len(truths), np.nan)
    for row, (truth, own) in enumerate(zip(truths, scores, strict=True)):
        if 0 < truth.sum() < len(truth):
            found[row] = _number(path, function, truth, own)
    return found


def _number(path: str, function: Callable[[Classes, FloatArray], Any], truth: Classes, own: FloatArray) -> float:
    try:
        return float(function(truth.copy(), own.copy()))
    except InputError:
        raise
    except Exception as error:  # whatever a function of someone else's raises
        told = f"{type(error).__name__}: {error}"
        raise InputError(f"{path} must give a number for {len(truth)} classes and scores, got {told}") from None
