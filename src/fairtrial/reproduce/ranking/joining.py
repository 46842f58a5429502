"""Measures of other people that join the table: by import path, or by the name of one of fairtrial's (`brier`).

Of a function higher values must be better; fairtrial's measures know their direction.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError, UndefinedMeasureWarning, UnknownNameError
from fairtrial.measures.measure import Measure, ProbabilityMeasure, ScoreMeasure, registry
from fairtrial.reproduce.ranking.measure_words import MEASURES, WORDS
from fairtrial.reproduce.ranking_kernels import Classes
from fairtrial.study.spec.local_code import make_importable

_taking_turns = Lock()  # filters of warnings belong to all threads
# The paper's H has costs from Beta(2, 2), fairtrial's by default others: it is a measure of its own.
_SAME = tuple(each for each in MEASURES if each != "h_measure")
_TAKEN = {each.lower() for each in (*MEASURES, *WORDS.values(), "experiment")}
_TRIED = 20


@dataclass(frozen=True)
class JoinedMeasure:
    """A measure with its name; direction is 1 where more is better, -1 where less is."""

    name: str
    of_fold: Callable[[Classes, FloatArray], FloatArray]
    direction: int = 1
    declared: bool = False  # whether the direction is the measure's own word

    def __call__(self, truths: Classes, scores: FloatArray, ends: Sequence[int]) -> FloatArray:
        """The mean over the folds of both classes, NaN if it is undefined in one: repeats x (naive Bayes, scores replaced)."""
        with _taking_turns, warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            values = np.array([self._both(truths, scores, slice(*fold)) for fold in pairwise([0, *ends])])
        both = np.array([np.ptp(truths[:, slice(*fold)], axis=1) > 0 for fold in pairwise([0, *ends])])[:, :, None]
        count = both.sum(axis=0)
        with np.errstate(invalid="ignore"):  # infinity less infinity is undefined, too
            means = np.where(both, values, 0.0).sum(axis=0) / np.maximum(count, 1)
        return np.asarray(np.where(count > 0, means, np.nan))

    def _both(self, truths: Classes, scores: FloatArray, fold: slice) -> FloatArray:
        return np.stack([self.of_fold(truths[:, fold], scores[:, which, fold]) for which in range(2)], axis=1)


def joined_measures(paths: Iterable[str]) -> list[JoinedMeasure]:
    """The measures of these paths, each once, tried on a few cases: whatever cannot serve is refused before anything runs.

    >>> [each.name for each in joined_measures(["brier", "sklearn.metrics.roc_auc_score", "fairtrial.measures.brier"])]
    ['brier', 'roc_auc_score']
    >>> joined_measures(["fairtrial.measures.auc"])
    Traceback (most recent call last):
    fairtrial.errors.InputError: fairtrial.measures.auc is AUC, one of the paper's six measures: it is compared anyway, leave
    it out
    """
    found: dict[str, Any] = {}
    for path in paths:
        thing = _found(path)
        _check_not_ours(path, thing)
        if not any(thing is other for other in found.values()):
            found[path] = thing
    made = {path: _joined(path, thing) for path, thing in found.items()}
    for measure in made.values():
        _try(measure)
    short = Counter(each.name.lower() for each in made.values())
    return [
        replace(each, name=_whole(path)) if short[each.name.lower()] > 1 or each.name.lower() in _TAKEN else each
        for path, each in made.items()
    ]


def check_measures(paths: Iterable[str]) -> None:
    """Refuse measures that cannot join, in a sentence; nothing is written, and each is called once on a few cases."""
    joined_measures(paths)


def _check_not_ours(path: str, thing: Any) -> None:
    for each in _SAME:
        if thing is registry[each]:
            raise InputError(f"{path} is {WORDS[each]}, one of the paper's six measures: it is compared anyway, leave it out")


def _try(measure: JoinedMeasure) -> None:
    truths = (np.arange(_TRIED) % 3 == 0).astype(np.uint8)[None]
    scores = (np.arange(2 * _TRIED) * 7 % 40 / 40).reshape(1, 2, _TRIED)
    measure(truths, scores, [_TRIED])


def _whole(path: str) -> str:
    return path if "." in path else f"fairtrial.measures.{path}"


def joined_measure(path: str) -> JoinedMeasure:
    """A measure by its path; modules of the current folder are found, too.

    >>> joined_measure("fairtrial.measures.average_precision").name
    'average_precision'
    >>> joined_measure("fairtrial.measures.no_such_thing")
    Traceback (most recent call last):
    fairtrial.errors.InputError: no measure can be imported as 'fairtrial.measures.no_such_thing': module 'fairtrial.measures'
    has no attribute 'no_such_thing'
    """
    return _joined(path, _found(path))


def _found(path: str) -> Any:
    return _imported(path) if "." in path else _registered(path)


def _registered(name: str) -> Measure:
    """Of wrong names the nearest measure of scores is told, first one of the same words."""
    if name in registry:
        return registry[name]
    known = [each.name for each in registry.values() if isinstance(each, (ScoreMeasure, ProbabilityMeasure))]
    parts = set(name.lower().split("_"))
    alike = [each for each in known if parts <= set(each.split("_")) or set(each.split("_")) <= parts]
    near = f"did you mean {alike[0]!r}?" if alike else suggest_name(name, known)
    raise UnknownNameError(f"no measure of scores is called {name!r}, nor is it an import path, package.module.name: {near}")


def _joined(path: str, found: Any) -> JoinedMeasure:
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
        with make_importable(Path.cwd()):
            return getattr(import_module(module), name)
    except Exception as error:  # whatever a module does when it is imported
        raise InputError(f"no measure can be imported as {path!r}: {error}") from None


def _of_fairtrial(path: str, measure: Measure) -> JoinedMeasure:
    direction = 1 if measure.facts.direction == "max" else -1
    if type(measure) is ScoreMeasure:
        return JoinedMeasure(measure.name, lambda truths, scores: _batched(measure, truths, scores), direction, True)
    if isinstance(measure, (ScoreMeasure, ProbabilityMeasure)):

        def of_rows(truth: Classes, own: FloatArray) -> float:
            return float(measure(truth, own, positive=1, labels=[0, 1]))

        return JoinedMeasure(measure.name, lambda truths, scores: _one_by_one(path, of_rows, truths, scores), direction, True)
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
