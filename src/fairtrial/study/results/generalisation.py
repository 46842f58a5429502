"""Intervals for the generalisation error of each learner on each data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.measure import registry
from fairtrial.resampling import NestedCV, Splitter
from fairtrial.resampling.estimate import Estimate
from fairtrial.resampling.generalisation import compute_conservative_z, compute_nested_cv
from fairtrial.study.archive import Archive
from fairtrial.study.records import ABSTAINED, Predictions
from fairtrial.study.results.scores import ScoreRequest, compute_stack_values, iter_prediction_batches, score_predictions
from fairtrial.study.results.selection import mask_failed
from fairtrial.study.results.stacking import (
    ClassOrder,
    Stack,
    compute_half_width,
    compute_test_fraction,
    keep_shared_splits,
)

if TYPE_CHECKING:
    import pandas as pd

METHODS = {
    "nested-cv": "nested cross-validation",
    "conservative-z": "conservative z",
    "corrected-t": "corrected resampled t",
}
"""Display names of the methods for computing intervals."""

_LABEL_MEANS = ("accuracy", "error_rate")
_ROW_MEANS = (*_LABEL_MEANS, "brier", "mae", "log_loss", "spherical_score")
"""Measures that are means over rows."""
_COLUMNS = ["dataset", "learner", "measure", "estimate", "low", "high", "standard_error", "splits", "method", "note"]


def compute_generalisation(
    archive: Archive,
    trials: pd.DataFrame,
    splitter: Splitter,
    request: ScoreRequest,
    orders: Sequence[ClassOrder],
    alpha: float,
) -> pd.DataFrame:
    """Compute generalisation intervals for the schemes `nested-cv` and `conservative-z`.

    `trials` contains all trials under one condition, on the splits that `splitter` draws.
    """
    if isinstance(splitter, NestedCV):
        _check_row_mean(request.measure)
    lines = []
    for facts, order in zip(archive.datasets, orders, strict=True):
        for learner in (learner.name for learner in archive.learners):
            chosen = trials[(trials["dataset"] == facts.name) & (trials["learner"] == learner)]
            estimate, note = _make_undefined_estimate(splitter), _explain_incomplete(chosen)
            if not note:
                predictions = archive.predictions(chosen["trial"].tolist())
                estimate, note = _estimate(splitter, predictions, chosen, len(facts.codes), order, request, alpha)
            lines.append(_make_line(facts.name, learner, request.measure, estimate, len(chosen), note))
    return _make_frame(lines)


def compute_corrected_t(archive: Archive, scores: pd.DataFrame, measure: Measure, alpha: float) -> pd.DataFrame:
    """Compute corrected resampled t intervals from the scores under one condition.

    The intervals are corrected for overlapping training sets.
    """
    from scipy.stats import t

    shared = keep_shared_splits(scores)
    lines = []
    for dataset in (facts.name for facts in archive.datasets):
        for learner in (learner.name for learner in archive.learners):
            is_cell = (scores["dataset"] == dataset) & (scores["learner"] == learner)
            chosen = shared[is_cell & shared["value"].notna()]
            note = _explain_incomplete(scores[is_cell])
            estimate = _make_undefined_estimate()
            if not note:
                note = "no shared split" if chosen.empty else "a single split has no interval" if len(chosen) == 1 else ""
            if len(chosen):
                values = chosen["value"].to_numpy(dtype=np.float64)
                splits = list(zip(chosen["repeat"].tolist(), chosen["fold"].tolist(), strict=True))
                half = compute_half_width(values, compute_test_fraction(archive, dataset, splits), alpha)
                error = half / float(t.ppf(1 - alpha / 2, max(1, len(values) - 1)))
                mean = float(values.mean())
                estimate = Estimate("corrected-t", mean, error, mean - half, mean + half)
            lines.append(_make_line(dataset, learner, measure, estimate, len(chosen), note))
    return _make_frame(lines)


def _check_row_mean(measure: Measure) -> None:
    if measure.name not in _ROW_MEANS or registry[measure.name] is not measure:
        raise InputError(
            f"measure must be a mean over rows for the interval of nested-cv ({', '.join(_ROW_MEANS)}), got {measure.name}: "
            "choose one of these measures or the scheme 'conservative-z'"
        )


def _explain_incomplete(trials: pd.DataFrame) -> str:
    """Return the numbers of failed and missing trials as text, or "" if all trials succeeded."""
    n_failed, n_missing = int(mask_failed(trials).sum()), int((trials["status"] == "missing").sum())
    texts = [f"{format_count(n_failed, 'trial')} failed"] * bool(n_failed)
    return ", ".join([*texts, *[f"{format_count(n_missing, 'trial')} not run"] * bool(n_missing)])


def _make_undefined_estimate(splitter: Splitter | None = None) -> Estimate:
    method = "corrected-t" if splitter is None else "nested-cv" if isinstance(splitter, NestedCV) else "conservative-z"
    return Estimate(method, *[float("nan")] * 4)


def _estimate(
    splitter: Splitter,
    predictions: Iterable[Predictions],
    trials: pd.DataFrame,
    n_rows: int,
    order: ClassOrder,
    request: ScoreRequest,
    alpha: float,
) -> tuple[Estimate, str]:
    """Compute the estimate for one learner on one data set, and a note on undefined values."""
    folds = trials["fold"].to_numpy(dtype=np.intp)
    if isinstance(splitter, NestedCV):
        losses = _compute_row_losses(predictions, order, request)
        n_bad = sum(not np.isfinite(values).all() for values in losses)
        if not n_bad:
            keys = list(zip(trials["repeat"].tolist(), folds.tolist(), strict=True))
            return compute_nested_cv(losses, keys, splitter.n_splits, n_rows, 1 - alpha), ""
    else:
        scores = score_predictions(predictions, order, [request])[0][0]
        is_defined = ~np.isnan(scores)
        n_bad = int((~np.isfinite(scores)).sum())
        if len(np.unique(folds[is_defined])) == len(np.unique(folds)) and not np.isinf(scores).any():
            note = f"undefined on {n_bad:,} of {format_count(len(folds), 'split')}, which are left out" if n_bad else ""
            return compute_conservative_z(scores[is_defined], folds[is_defined], 1 - alpha), note
    return _make_undefined_estimate(splitter), f"undefined or infinite on {n_bad:,} of {format_count(len(folds), 'split')}"


def _compute_row_losses(predictions: Iterable[Predictions], order: ClassOrder, request: ScoreRequest) -> list[FloatArray]:
    """Compute the value of the measure for each test row of each trial."""
    losses: list[FloatArray] = []
    for batch in iter_prediction_batches(predictions):
        values: list[FloatArray] = [np.empty(0)] * len(batch)
        for indices, stack in Stack.iter_groups(batch, order):
            for index, row_values in zip(indices, _compute_stack_losses(stack, request), strict=True):
                values[index] = row_values
        losses += values
    return losses


def _compute_stack_losses(stack: Stack, request: ScoreRequest) -> FloatArray:
    if request.measure.name in _LABEL_MEANS:
        is_right = (stack.predicted == stack.true) & (stack.predicted != ABSTAINED)
        return np.asarray(is_right if request.measure.name == "accuracy" else ~is_right, dtype=np.float64)
    scores = None if stack.scores is None else stack.scores.reshape(stack.true.size, 1, -1)
    single_rows = replace(stack, true=stack.true.reshape(-1, 1), predicted=stack.predicted.reshape(-1, 1), scores=scores)
    return compute_stack_values(single_rows, request)[0].reshape(stack.true.shape)


def _make_line(dataset: str, learner: str, measure: Measure, estimate: Estimate, splits: int, note: str) -> tuple[Any, ...]:
    """Build a table row from an estimate, truncated to the range of the measure.

    If the scores do not vary, the confidence limits are NaN, because an interval of width 0 would be misleading.
    """
    numbers = np.clip([estimate.value, estimate.low, estimate.high], *measure.facts.range).tolist()
    if estimate.standard_error == 0:
        numbers[1:], note = [float("nan")] * 2, note or "no interval because the scores do not vary"
    method = METHODS[estimate.method]
    return dataset, learner, measure.name, *numbers, estimate.standard_error, splits, method, note


def _make_frame(lines: list[tuple[Any, ...]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(lines, columns=_COLUMNS)
