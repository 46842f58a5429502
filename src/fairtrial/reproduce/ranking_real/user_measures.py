"""Measures that users add, by import path or by registered name.

Higher values of a user's function must be better. Registered measures declare their direction.
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
from fairtrial.errors import InputError, SuspectInputWarning, UndefinedMeasureWarning, UnknownNameError
from fairtrial.measures.measure import Measure, ProbabilityMeasure, ScoreMeasure, registry
from fairtrial.reproduce.claim import IntervalEstimate
from fairtrial.reproduce.ranking_errors import DISPLAY_NAMES, MEASURES, index_measure
from fairtrial.reproduce.ranking_kernels import Classes
from fairtrial.reproduce.ranking_real.cells import CellResult, estimate_over_cells
from fairtrial.study.spec.local_code import make_importable

_warnings_lock = Lock()  # warning filters are shared by all threads
# H can be added, because the paper's costs, Beta(2, 2), differ from fairtrial's default.
_SAME_AS_PUBLISHED = tuple(measure for measure in MEASURES if measure != "h_measure")
_TAKEN_NAMES = {name.lower() for name in (*MEASURES, *DISPLAY_NAMES.values(), "experiment")}
_TRIAL_CASES = 20


@dataclass(frozen=True)
class UserMeasure:
    """A measure added by a user.

    `compute_fold` computes one value per repeat. `direction` is 1 if higher values are better, otherwise -1.
    `declares_direction` is False if the direction is only assumed.
    """

    name: str
    compute_fold: Callable[[Classes, FloatArray], FloatArray]
    direction: int = 1
    declares_direction: bool = False

    def __call__(self, y_true: Classes, scores: FloatArray, ends: Sequence[int]) -> FloatArray:
        """Compute the means over the folds that contain both classes.

        The result has the shape repeats x 2 (naive Bayes, replaced scores). A mean is NaN if the measure is undefined in one of
        these folds.
        """
        folds = [slice(*fold) for fold in pairwise([0, *ends])]
        with _warnings_lock, warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            values = np.array(
                [
                    np.stack([self.compute_fold(y_true[:, fold], scores[:, which, fold]) for which in range(2)], axis=1)
                    for fold in folds
                ]
            )
        has_both = np.array([np.ptp(y_true[:, fold], axis=1) > 0 for fold in folds])[:, :, None]
        count = has_both.sum(axis=0)
        with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined
            means = np.where(has_both, values, 0.0).sum(axis=0) / np.maximum(count, 1)
        return np.asarray(np.where(count > 0, means, np.nan))


def load_measures(paths: Iterable[str]) -> list[UserMeasure]:
    """Load each measure once and test it on a few cases.

    An error is raised before the run if a measure cannot be used.

    >>> [measure.name for measure in load_measures(["brier", "sklearn.metrics.roc_auc_score", "fairtrial.measures.brier"])]
    ['brier', 'roc_auc_score']
    >>> load_measures(["fairtrial.measures.auc"])
    Traceback (most recent call last):
    fairtrial.errors.InputError: fairtrial.measures.auc is AUC, one of the paper's six measures, which are always compared:
    leave it out
    """
    sources: dict[str, Any] = {}
    for path in paths:
        source = _find(path)
        _refuse_published(path, source)
        if not any(source is other for other in sources.values()):
            sources[path] = source
    measures = {path: _wrap(path, source) for path, source in sources.items()}
    for measure in measures.values():
        _try(measure)
    counts = Counter(measure.name.lower() for measure in measures.values())
    return [
        replace(measure, name=path if "." in path else f"fairtrial.measures.{path}")
        if counts[measure.name.lower()] > 1 or measure.name.lower() in _TAKEN_NAMES
        else measure
        for path, measure in measures.items()
    ]


def check_measures(paths: Iterable[str]) -> None:
    """Test each measure on a few cases, and raise an error if it cannot be added."""
    load_measures(paths)


def load_measure(path: str) -> UserMeasure:
    """Load a measure by its path.

    Modules in the current folder can be imported.

    >>> load_measure("fairtrial.measures.average_precision").name
    'average_precision'
    >>> load_measure("fairtrial.measures.no_such_thing")
    Traceback (most recent call last):
    fairtrial.errors.InputError: no measure can be imported as 'fairtrial.measures.no_such_thing': module 'fairtrial.measures'
    has no attribute 'no_such_thing'
    """
    return _wrap(path, _find(path))


def _find(path: str) -> Any:
    return _import(path) if "." in path else _get_registered(path)


def _import(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        raise InputError(f"a measure must be named by its import path, package.module.name, got {path!r}")
    try:
        with make_importable(Path.cwd()):
            return getattr(import_module(module), name)
    except Exception as error:  # a module can raise anything when it is imported
        raise InputError(f"no measure can be imported as {path!r}: {error}") from None


def _get_registered(name: str) -> Measure:
    """Get a registered measure, or raise an error that suggests a similar name."""
    if name in registry:
        return registry[name]
    known = [measure.name for measure in registry.values() if isinstance(measure, (ScoreMeasure, ProbabilityMeasure))]
    words = set(name.lower().split("_"))
    similar = [other for other in known if words <= set(other.split("_")) or set(other.split("_")) <= words]
    hint = f"did you mean {similar[0]!r}?" if similar else suggest_name(name, known)
    raise UnknownNameError(
        f"{name!r} is neither a registered measure of scores nor an import path (package.module.name): {hint}"
    )


def _refuse_published(path: str, source: Any) -> None:
    for name in _SAME_AS_PUBLISHED:
        if source is registry[name]:
            raise InputError(
                f"{path} is {DISPLAY_NAMES[name]}, one of the paper's six measures, which are always compared: leave it out"
            )


def _wrap(path: str, source: Any) -> UserMeasure:
    if isinstance(source, Measure):
        return _wrap_fairtrial_measure(path, source)
    if not callable(source) or isinstance(source, type):
        raise InputError(f"{path} must be a function of (y_true, scores) or a fairtrial measure, got {source!r}")
    return UserMeasure(path.rpartition(".")[2], lambda y_true, scores: _compute_by_repeat(path, source, y_true, scores))


def _wrap_fairtrial_measure(path: str, measure: Measure) -> UserMeasure:
    from fairtrial.measures import batch

    direction = 1 if measure.facts.direction == "max" else -1
    if type(measure) is ScoreMeasure:

        def compute_batch(y_true: Classes, scores: FloatArray) -> FloatArray:
            return batch(y_true, scores, [measure], positive=1, labels=[0, 1])[measure.name].to_numpy()

        return UserMeasure(measure.name, compute_batch, direction, True)
    if isinstance(measure, (ScoreMeasure, ProbabilityMeasure)):

        def compute_one(y_true: Classes, scores: FloatArray) -> float:
            return float(measure(y_true, scores, positive=1, labels=[0, 1]))

        return UserMeasure(
            measure.name, lambda y_true, scores: _compute_by_repeat(path, compute_one, y_true, scores), direction, True
        )
    raise InputError(f"{path} must be a measure of scores, got a measure of {measure.facts.needs}: choose another")


def _compute_by_repeat(
    path: str, function: Callable[[Classes, FloatArray], Any], y_true: Classes, scores: FloatArray
) -> FloatArray:
    """Call a function for each repeat.

    The value is NaN if only one class occurs.
    """
    values = np.full(len(y_true), np.nan)
    for repeat, (labels, repeat_scores) in enumerate(zip(y_true, scores, strict=True)):
        if not 0 < labels.sum() < len(labels):
            continue
        try:
            values[repeat] = float(function(labels.copy(), repeat_scores.copy()))
        except InputError:
            raise
        except Exception as error:  # a user's function can raise anything
            reason = f"{type(error).__name__}: {error}"
            raise InputError(f"{path} must return a number for {len(labels)} classes and scores, got {reason}") from None
    return values


def _try(measure: UserMeasure) -> None:
    y_true = (np.arange(_TRIAL_CASES) % 3 == 0).astype(np.uint8)[None]
    scores = (np.arange(2 * _TRIAL_CASES) * 7 % 40 / 40).reshape(1, 2, _TRIAL_CASES)
    measure(y_true, scores, [_TRIAL_CASES])


@dataclass(frozen=True)
class UserMeasureResult:
    """Mean errors of an added measure and of AUC, and the paired difference, in percent."""

    measure: UserMeasure
    noisy: IntervalEstimate
    clean: IntervalEstimate
    auc: IntervalEstimate
    difference: IntervalEstimate
    n_undefined: int
    n_comparisons: int

    @property
    def rates_above_half(self) -> dict[str, float]:
        """Mean errors above 50 %, keyed by `with noise` and `without noise`."""
        rates = {"with noise": self.noisy.value, "without noise": self.clean.value}
        return {condition: rate for condition, rate in rates.items() if rate > 50}

    @property
    def may_be_loss(self) -> bool:
        """Whether the measure may be a loss, for which lower values are better."""
        return not self.measure.declares_direction and bool(self.rates_above_half)

    def warn(self) -> None:
        """Warn about undefined comparisons, and about a measure that may be a loss."""
        name = self.measure.name
        if self.n_undefined:
            counts = f"{self.n_undefined:,} of {self.n_comparisons:,} comparisons"
            message = f"{name} is undefined in {counts}: they are left out of all rates"
            warnings.warn(message, UndefinedMeasureWarning, stacklevel=3)
        if self.may_be_loss:
            rates = " and ".join(f"{rate:.1f} % {condition}" for condition, rate in self.rates_above_half.items())
            message = f"{name} prefers the worse scores in more than half of the comparisons ({rates})"
            warnings.warn(f"{message}: higher must be better, so change the sign of a loss", SuspectInputWarning, stacklevel=3)


def compare_with_auc(
    measures: Sequence[UserMeasure], noisy: Sequence[CellResult], clean: Sequence[CellResult]
) -> list[UserMeasureResult]:
    """Compare each added measure with AUC.

    In the cells, the columns of the added measures follow those of the paper's six measures.
    """
    results = []
    for column, measure in enumerate(measures, len(MEASURES)):
        errors = [cell.errors[:, column] for cell in noisy]
        clean_errors = [cell.errors[:, column] for cell in clean]
        auc_errors = [
            np.where(np.isnan(cell.errors[:, column]), np.nan, cell.errors[:, index_measure("auc")]) for cell in noisy
        ]
        differences = [own - auc for own, auc in zip(errors, auc_errors, strict=True)]
        is_undefined = np.isnan(np.concatenate([*errors, *clean_errors]))
        results.append(
            UserMeasureResult(
                measure,
                noisy=estimate_over_cells(errors),
                clean=estimate_over_cells(clean_errors),
                auc=estimate_over_cells(auc_errors),
                difference=estimate_over_cells(differences),
                n_undefined=int(is_undefined.sum()),
                n_comparisons=len(is_undefined),
            )
        )
    return results
