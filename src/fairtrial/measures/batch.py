"""Compute measures for many models at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.compiling import run_in_chunks
from fairtrial.measures.measure import Measure, ScoreMeasure, get_measure, registry
from fairtrial.measures.tally import ScoreTally, tally_models, tally_scores

if TYPE_CHECKING:
    import pandas as pd

# The tallies of a chunk of this size fit into the cache of a core.
_SCORES_PER_CHUNK = 1 << 14


def batch(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    measures: str | Measure | Iterable[str | Measure] = ("auc", "auch", "sauc", "ks", "taks", "h_measure"),
    *,
    positive: object = None,
    labels: Any = None,
    sample_weight: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Compute score-based measures for many models on one two-class problem.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (models, n)
        True labels: one array for all models, or one row per model.
    y_score : array-like of shape (models, n)
        Scores of the positive class, one row per model.
    measures : str, Measure or list of them, optional
        Measures that use a single column of scores. Pass "all" to compute all such measures.
    positive : label, optional
        Positive class. Default: the second class in sort order, if there are two classes.
    labels : list, optional
        Both classes. Default: the classes in the data, sorted.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Returns
    -------
    DataFrame
        One row per model, one column per measure.

    Examples
    --------
    >>> batch([0, 0, 1, 1], [[0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.7, 0.8]], ["auc", "ks"])
        auc   ks
    0  0.75  0.5
    1  1.00  1.0
    """
    import pandas as pd

    score_measures = _select_score_measures(measures)
    scores = np.ascontiguousarray(_check.check_numbers("y_score", y_score))
    if scores.ndim != 2 or scores.size == 0:
        raise InputError(f"y_score must have shape (models, rows) with at least one of each, got {scores.shape}")
    _check.check_finite("y_score", scores)
    is_positive = _find_positives(y_true, scores, positive, labels)
    weights = _check.check_weights(sample_weight, scores.shape[1])
    out = np.empty((len(score_measures), len(scores)))

    def compute_chunk(start: int, stop: int) -> None:
        chunk_positive = is_positive if is_positive.ndim == 1 else is_positive[start:stop]
        tallies = _tally_batch(chunk_positive, scores[start:stop], weights)

        def fill(line: int, _: int) -> None:
            out[line, start:stop] = score_measures[line].formula(tallies)

        run_in_chunks(fill, len(score_measures), 1)  # runs in parallel only if there is a single chunk of models

    run_in_chunks(compute_chunk, len(scores), _SCORES_PER_CHUNK // scores.shape[1])
    _warn_undefined_models(score_measures, out)
    index = y_score.index if isinstance(y_score, pd.DataFrame) else None
    return pd.DataFrame(dict(zip([measure.name for measure in score_measures], out, strict=True)), index=index)


def _select_score_measures(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    if isinstance(measures, str) and measures == "all":
        return [measure for measure in registry.values() if type(measure) is ScoreMeasure]
    measure_list = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    score_measures = [get_measure(item) for item in measure_list]
    for measure in score_measures:
        if type(measure) is not ScoreMeasure:
            raise InputError(f"measures must use one column of scores, got {measure.name}: use evaluate instead")
    return score_measures


def _find_positives(
    y_true: npt.ArrayLike, scores: npt.NDArray[np.float64], positive: object, labels: Any
) -> npt.NDArray[np.bool_]:
    true_labels = np.asarray(y_true)
    if true_labels.shape not in (scores.shape, scores.shape[1:]):
        raise InputError(
            f"y_true must have shape {scores.shape[1:]} or {scores.shape} to match y_score, got {true_labels.shape}"
        )
    classes, (codes,) = _check.encode_labels(labels, positive, y_true=true_labels.reshape(-1))
    positive_code = 0 if len(classes) == 1 else classes.require_positive()
    return np.asarray((codes == positive_code).reshape(true_labels.shape))


def _tally_batch(
    is_positive: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None
) -> ScoreTally:
    if weights is None and len(scores) > 1:
        return tally_models(is_positive, scores)
    positive_rows = np.broadcast_to(is_positive, scores.shape)
    parts = [
        tally_scores(row_positive, row_scores, weights) for row_positive, row_scores in zip(positive_rows, scores, strict=True)
    ]
    width = max(len(part.values) for part in parts)
    values, pos, neg = (np.zeros((len(parts), width)) for _ in range(3))
    for row, part in enumerate(parts):
        size = len(part.values)
        values[row, :size], pos[row, :size], neg[row, :size] = part.values, part.pos, part.neg
    return ScoreTally(values, pos, neg)


def _warn_undefined_models(score_measures: list[Measure], out: npt.NDArray[np.float64]) -> None:
    for measure, values in zip(score_measures, out, strict=True):
        undefined = int(np.isnan(values).sum())
        if undefined:
            warnings.warn(
                f"{measure.name} is undefined (NaN) for {undefined} of {len(values)} models because {measure.facts.undefined}",
                UndefinedMeasureWarning,
                stacklevel=3,
            )
