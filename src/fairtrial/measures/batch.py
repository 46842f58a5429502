"""Measures of many models at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.kernels.threads import in_chunks
from fairtrial.measures.measure import Measure, ScoreMeasure, get_measure, registry
from fairtrial.measures.tally import ScoreTally, tallies_of, tally_of

if TYPE_CHECKING:
    import pandas as pd

# A chunk of this many scores, with its tallies, stays in a core's cache.
_CHUNK = 1 << 14


def batch(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    measures: str | Measure | Iterable[str | Measure] = ("auc", "auch", "sauc", "ks", "taks", "h_measure"),
    *,
    positive: object = None,
    labels: Any = None,
    sample_weight: npt.ArrayLike | None = None,
) -> pd.DataFrame:
    """Measures of scores for many models of one two-class problem: a line for each model, a column for each measure.

    `y_score` is B x n, a line for each model; `y_true` is n, or B x n when every model was tested on rows of its own;
    `sample_weight` is n.

    >>> batch([0, 0, 1, 1], [[0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.7, 0.8]], ["auc", "ks"])
        auc   ks
    0  0.75  0.5
    1  1.00  1.0
    """
    import pandas as pd

    chosen = _chosen(measures)
    scores = np.ascontiguousarray(_check.numbers("y_score", y_score))
    if scores.ndim != 2 or scores.size == 0:
        raise InputError(f"y_score must be models x rows with at least one of each, got shape {scores.shape}")
    _check.finite("y_score", scores)
    is_positive = _positives(y_true, scores, positive, labels)
    weights = _check.weights(sample_weight, scores.shape[1])
    out = np.empty((len(chosen), len(scores)))

    def work(start: int, stop: int) -> None:
        truth = is_positive if is_positive.ndim == 1 else is_positive[start:stop]
        tallies = _tallies(truth, scores[start:stop], weights)

        def fill(line: int, _: int) -> None:
            out[line, start:stop] = chosen[line].formula(tallies)

        in_chunks(fill, len(chosen), 1)  # in turn, unless there is but one chunk of models

    in_chunks(work, len(scores), _CHUNK // scores.shape[1])
    _warn_undefined(chosen, out)
    index = y_score.index if isinstance(y_score, pd.DataFrame) else None
    return pd.DataFrame(dict(zip([each.name for each in chosen], out, strict=True)), index=index)


def _chosen(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    if isinstance(measures, str) and measures == "all":
        return [each for each in registry.values() if type(each) is ScoreMeasure]
    listed = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    chosen = [get_measure(each) for each in listed]
    for each in chosen:
        if type(each) is not ScoreMeasure:
            raise InputError(f"measures must be of one column of scores for batch, got {each.name}: use evaluate for it")
    return chosen


def _positives(y_true: npt.ArrayLike, scores: npt.NDArray[np.float64], positive: object, labels: Any) -> npt.NDArray[np.bool_]:
    truth = np.asarray(y_true)
    if truth.shape not in (scores.shape, scores.shape[1:]):
        raise InputError(f"y_true must have shape {scores.shape[1:]} or {scores.shape} to go with y_score, got {truth.shape}")
    classes, (codes,) = _check.encode(labels, positive, y_true=truth.reshape(-1))
    wanted = 0 if len(classes) == 1 else classes.named_positive()
    return np.asarray((codes == wanted).reshape(truth.shape))


def _tallies(
    is_positive: npt.NDArray[np.bool_], scores: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None
) -> ScoreTally:
    if weights is None and len(scores) > 1:
        return tallies_of(is_positive, scores)
    truth = np.broadcast_to(is_positive, scores.shape)
    parts = [tally_of(each, line, weights) for each, line in zip(truth, scores, strict=True)]
    width = max(len(part.values) for part in parts)
    values, pos, neg = (np.zeros((len(parts), width)) for _ in range(3))
    for row, part in enumerate(parts):
        size = len(part.values)
        values[row, :size], pos[row, :size], neg[row, :size] = part.values, part.pos, part.neg
    return ScoreTally(values, pos, neg)


def _warn_undefined(chosen: list[Measure], out: npt.NDArray[np.float64]) -> None:
    for each, values in zip(chosen, out, strict=True):
        undefined = int(np.isnan(values).sum())
        if undefined:
            warnings.warn(
                f"{each.name} is undefined for {undefined} of {len(values)} models: {each.facts.undefined}; NaN is returned",
                UndefinedMeasureWarning,
                stacklevel=3,
            )
