"""Paired tests of models in a large file: from the counts of what both say of a row."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.measures import Measure
from fairtrial.measures.closed_intervals import normal_quantile
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.resampling import percentile_limits
from fairtrial.measures.tally import ScoreTally
from fairtrial.significance import mcnemar_table
from fairtrial.significance.counts import paired_newcombe
from fairtrial.study.predictions.counted_intervals import binned, placed, redrawn
from fairtrial.study.predictions.judged_pairs import PAIR_COLUMNS, adjusted
from fairtrial.study.predictions.judged_plan import Plan, quiet
from fairtrial.study.predictions.large_file import name
from fairtrial.study.predictions.large_models import LargeModel, LargeModels
from fairtrial.study.predictions.prediction_checks import Notes

if TYPE_CHECKING:
    import pandas as pd

PAIR_BINS = 1024


def large_pair_table(
    every: LargeModels, coarse: dict[tuple[str, str], ScoreTally], main: Measure, plan: Plan, notes: Notes
) -> pd.DataFrame:
    """A line for each pair of models of a data set and each test that counts allow."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for first, second in combinations(every.models, 2):
        if first.dataset != second.dataset:
            continue
        lines_of = _joined(every, first, second)
        if lines_of is None:
            notes.tell(
                "No column tells the rows apart: models of a large file are not paired without it, and tests are left out."
            )
            continue
        if first.label and second.label:
            lines += _by_labels(every, first, second, lines_of, main, plan)
        keys = [(one.dataset, one.name) for one in (first, second)]
        if first.positive is not None and all(key in coarse for key in keys):
            lines.append(_by_ranks(every, first, second, lines_of, [coarse[key] for key in keys], main, plan))
    table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS))
    if every.weight is not None and len(table):
        notes.tell("Rows have weights, which the paired tests of large files do not take.")
    return table.assign(adjusted=adjusted(table))


def _joined(every: LargeModels, first: LargeModel, second: LargeModel) -> str | None:
    """SQL that gives l1, l2, s1, s2 and t for each row that both predict; None where rows cannot be matched."""
    own = [_columns(every, model, i) for i, model in enumerate((first, second), 1)]
    if first.where == second.where:
        return f"(SELECT {every.truth} AS t, {own[0]}, {own[1]} FROM {{table}} WHERE {{where}} AND {first.where})"
    row = every.file.roles.get("row")
    if row is None:
        return None
    keys = ", ".join(name(column) for column in (row, every.file.roles.get("fold")) if column is not None)
    parts = [
        f"(SELECT {keys}, {every.truth} AS t, {columns} FROM {{table}} WHERE {{where}} AND {model.where})"
        for model, columns in zip((first, second), own, strict=True)
    ]
    return f"(SELECT a.t, l1, s1, l2, s2 FROM {parts[0]} a JOIN {parts[1]} b USING ({keys}))"


def _columns(every: LargeModels, model: LargeModel, i: int) -> str:
    score = model.scores[every.positive or 0] if model.scores else "NULL"
    return f"{model.label or 'NULL'} AS l{i}, {score} AS s{i}"


def _by_labels(
    every: LargeModels, first: LargeModel, second: LargeModel, lines_of: str, main: Measure, plan: Plan
) -> list[dict[str, Any]]:
    """McNemar's test, and the bootstrap of the main measure where it is one of labels."""
    k = len(first.classes)
    cells = np.zeros((k, k, k))
    for true, one, other, count in every.file.rows(f"SELECT t, l1, l2, count(*) FROM {lines_of} GROUP BY t, l1, l2"):
        cells[true, one, other] = count
    diagonal = np.arange(k)
    both = int(cells[diagonal, diagonal, diagonal].sum())
    b, c = (int(cells.sum(axis=axis)[diagonal, diagonal].sum()) - both for axis in (2, 1))
    rows = int(cells.sum())
    test = mcnemar_table(b, c, level=plan.level)
    low, high = paired_newcombe(both, b, c, rows - both - b - c, plan.level)
    decides = main.name in ("accuracy", "error_rate")
    found = [
        _line(first, second, "mcnemar", "accuracy", test.statistic, test.p_value, ((b - c) / rows, low, high), rows, decides)
    ]
    if main.facts.needs == "labels":
        found.append(_redrawn_difference(first, second, cells, main, plan, decides))
    return found


def _redrawn_difference(
    first: LargeModel, second: LargeModel, cells: FloatArray, main: Measure, plan: Plan, settled: bool
) -> dict[str, Any]:
    def difference(tables: FloatArray) -> FloatArray:
        parts = [Confusion(tables.sum(axis=axis), first.classes, first.positive) for axis in (-1, -2)]
        return np.asarray(main.of(parts[0]) - main.of(parts[1]))  # type: ignore[attr-defined]

    with quiet():
        estimate, values = float(difference(cells)), difference(redrawn(cells, plan))
    values = values[~np.isnan(values)]
    limits = percentile_limits(values, plan.level) if len(values) else (math.nan, math.nan)
    tail = min(int((values <= 0).sum()), int((values >= 0).sum()))
    p = min(1.0, 2 * (tail + 1) / (len(values) + 1)) if len(values) else math.nan
    rows = int(cells.sum())
    found = _line(first, second, "bootstrap_difference", main.name, estimate, p, (estimate, *limits), rows, not settled)
    return {**found, "floor": p * (len(values) + 1) <= 2 + 1e-9, "note": f"percentile, {len(values)} resamples of counts"}


def _by_ranks(
    every: LargeModels,
    first: LargeModel,
    second: LargeModel,
    lines_of: str,
    tallies: list[ScoreTally],
    main: Measure,
    plan: Plan,
) -> dict[str, Any]:
    """DeLong's test with scores put into bins, whose joint counts hold all that its covariance needs."""
    from scipy.special import ndtr

    coarse = [binned(tally, PAIR_BINS) for tally in tallies]
    joint = np.zeros((2, len(coarse[0].values), len(coarse[1].values)))
    for true, one, other in every.file.batches(f"SELECT t = {every.positive}, s1, s2 FROM {lines_of}"):
        places = [_bins(tally, scores) for tally, scores in zip(coarse, (one, other), strict=True)]
        flat = (true.astype(np.intp) * joint.shape[1] + places[0]) * joint.shape[2] + places[1]
        joint += np.bincount(flat, minlength=joint.size).reshape(joint.shape)
    estimate, variance = _joint_delong(joint)
    error = math.sqrt(max(0.0, variance))
    statistic = 0.0 if estimate == 0 else estimate / error if error else math.nan
    half = normal_quantile(plan.level) * error
    limits = (estimate, max(-1.0, estimate - half), min(1.0, estimate + half))
    p, rows = float(2 * ndtr(-abs(statistic))), int(joint.sum())
    found = _line(first, second, "delong", "auc", statistic, p, limits, rows, main.name in ("auc", "gini"))
    if any(len(tally.values) > PAIR_BINS for tally in tallies):
        found["note"] = f"scores in {PAIR_BINS:,} bins of equal size"
    return found


def _bins(tally: ScoreTally, scores: FloatArray) -> Any:
    """The bin of each score: the first whose following bin begins below it. A bin is named by its highest score."""
    places = len(tally.values) - np.searchsorted(tally.values[::-1], scores, side="left") - 1
    return np.maximum(places, 0)


def _joint_delong(joint: FloatArray) -> tuple[float, float]:
    """Difference of the two AUCs and its variance, from the joint counts of bins (negatives, then positives)."""
    own = [
        ScoreTally(np.arange(joint.shape[1], dtype=np.float64), *joint.sum(axis=2)[::-1]),
        ScoreTally(np.arange(joint.shape[2], dtype=np.float64), *joint.sum(axis=1)[::-1]),
    ]
    (below_1, above_1), (below_2, above_2) = (placed(tally) for tally in own)
    estimate, variance = 0.0, 0.0
    for counts, contrast in ((joint[1], below_1[:, None] - below_2), (joint[0], above_1[:, None] - above_2)):
        size = counts.sum()
        mean = float((counts * contrast).sum() / size)
        variance += float((counts * (contrast - mean) ** 2).sum() / (size - 1) / size) if size > 1 else math.nan
        estimate = mean
    return estimate, variance


def _line(
    first: LargeModel,
    second: LargeModel,
    test: str,
    measure: str,
    statistic: float,
    p: float,
    limits: tuple[float, float, float],
    rows: int,
    decides: bool,
) -> dict[str, Any]:
    values = dict(zip(("difference", "low", "high"), limits, strict=True))
    named = {"dataset": first.dataset, "first": first.name, "second": second.name, "test": test, "measure": measure}
    return {
        **named,
        "statistic": statistic,
        "p_value": p,
        **values,
        "rows": rows,
        "decides": decides,
        "floor": False,
        "note": "",
    }
