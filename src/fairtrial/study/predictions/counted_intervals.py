"""Intervals from counts alone: closed forms, and a bootstrap that redraws the cells of a table or the bins of a tally."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.kernels.delong import auc_variance
from fairtrial.measures import Measure, closed_intervals as closed
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.resampling import bca_limits, percentile_limits
from fairtrial.measures.tally import ScoreTally
from fairtrial.study.predictions.judged_plan import MANY_ROWS, Plan, quiet

BINS = 4096
_RESAMPLES, _AT_ONCE, _GROUPS = 500, 250, 500
_HIGH, _FEW = 0.95, 20


def of_table(measure: Measure, table: Confusion, plan: Plan, counted: bool) -> Interval:
    """A measure of labels: Wilson's interval of a proportion, else percentiles of tables drawn anew."""
    with quiet():
        estimate = float(measure.of(table))  # type: ignore[attr-defined]
        if not counted:
            return _without(measure.name, estimate, plan)
        parts = _proportion(measure, table)
        if parts is not None and parts[1] > 0:
            return Interval(measure.name, estimate, *closed.wilson(*parts, plan.level), plan.level, "wilson")

        def compute(cells: FloatArray) -> FloatArray:
            return np.asarray(measure.of(Confusion(cells, table.labels, table.positive)))  # type: ignore[attr-defined]

        return _resampled(measure.name, estimate, table.table, compute, plan)


def of_tally(measure: Measure, tally: ScoreTally, plan: Plan, counted: bool, coarser: ScoreTally | None = None) -> Interval:
    """A measure of scores: DeLong's or Newcombe's interval of an AUC, else the spread of the binned tally drawn anew.

    `coarser` is the same tally in bins, where that is at hand: it saves putting the whole one into bins again.
    """
    with quiet():
        estimate = float(measure.of(tally))  # type: ignore[attr-defined]
        if not counted:
            return _without(measure.name, estimate, plan)
        if measure.name == "auc":
            return _auc(estimate, tally, plan)
        coarse = binned(tally if coarser is None else coarser, BINS)
        apart = estimate - float(measure.of(coarse))  # type: ignore[attr-defined]

        def compute(cells: FloatArray) -> FloatArray:
            drawn = ScoreTally(coarse.values, cells[:, 0], cells[:, 1])
            return apart + np.asarray(measure.of(drawn))  # type: ignore[attr-defined]

        found = _resampled(measure.name, estimate, np.stack([coarse.pos, coarse.neg]), compute, plan)
    least, most = measure.facts.range
    return Interval(found.measure, estimate, max(least, found.low), min(most, found.high), plan.level, found.method, found.note)


def of_mean(name: str, mean: float, deviation: float, rows: int, plan: Plan, counted: bool) -> Interval:
    """A mean over very many rows: normal limits."""
    if not counted or not np.isfinite(mean):
        return _without(name, mean, plan)
    half = closed.normal_quantile(plan.level) * deviation / np.sqrt(rows)
    return Interval(name, mean, mean - half, mean + half, plan.level, "normal")


def binned(tally: ScoreTally, bins: int) -> ScoreTally:
    """Neighbouring scores put together, about equally many rows in each bin; its value is its highest score."""
    if len(tally.values) <= bins:
        return ScoreTally(tally.values, tally.pos.astype(np.float64), tally.neg.astype(np.float64))
    starts = bin_starts(tally, bins)
    pos, neg = (np.add.reduceat(each, starts, dtype=np.float64) for each in (tally.pos, tally.neg))
    return ScoreTally(tally.values[starts], pos, neg)


def bin_starts(tally: ScoreTally, bins: int) -> IntArray:
    """Where each bin begins. Summed up in blocks, so that no column as long as the tally is made."""
    total = float(tally.positives + tally.negatives)
    step, block = total / bins, 1 << 20
    starts, before = [np.zeros(1, dtype=np.intp)], 0.0
    last = 0
    for start in range(0, len(tally.values), block):
        here = slice(start, start + block)
        upto = before + np.cumsum(tally.pos[here] + tally.neg[here].astype(np.float64))
        place = (upto / step).astype(np.intp)
        new = np.flatnonzero(np.diff(np.append(last, place)) > 0) + start + 1
        starts.append(new)
        before, last = float(upto[-1]), int(place[-1])
    found = np.concatenate(starts)
    return found[found < len(tally.values)]


def _resampled(
    name: str, estimate: float, cells: FloatArray, compute: Callable[[FloatArray], FloatArray], plan: Plan
) -> Interval:
    """Limits from redrawn counts: BCa as in memory, and percentiles beyond the rows where its correction still matters."""
    values = np.concatenate([compute(part) for part in _parts(cells, plan)])
    if cells.sum() <= MANY_ROWS and not np.isnan(estimate) and not np.isnan(values).all():
        known = values[~np.isnan(values)]
        limits = bca_limits(known, estimate, compute(_left_out(cells, plan.seed)), plan.level)
        if limits is not None:
            note = "" if len(known) == len(values) else f"undefined in {len(values) - len(known)} of {len(values)} resamples"
            return Interval(name, estimate, *limits, plan.level, "bca", note)
    return _percentiles(name, estimate, values, plan)


def _parts(cells: FloatArray, plan: Plan) -> Iterator[FloatArray]:
    """Redrawn counts, as many as the rows deserve, a part at a time."""
    rng = np.random.default_rng(plan.seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    left = plan.resamples if flat.sum() <= MANY_ROWS else min(plan.resamples, _RESAMPLES)
    while left:
        drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(left, _AT_ONCE))
        left -= len(drawn)
        yield drawn.astype(np.float64).reshape(-1, *cells.shape)


def _left_out(cells: FloatArray, seed: int) -> FloatArray:
    """Counts with each row left out in turn, or each of 500 random groups of rows, as the bootstrap of rows does it."""
    flat = np.asarray(cells, dtype=np.float64).ravel()
    rows = np.repeat(np.arange(len(flat)), np.round(flat).astype(np.intp))
    groups = min(len(rows), _GROUPS)
    place = np.random.default_rng(seed).permutation(len(rows)) % groups
    out = np.zeros((groups, len(flat)))
    np.add.at(out, (place, rows), 1.0)
    return (flat - out).reshape(-1, *cells.shape)


def redrawn(cells: FloatArray, plan: Plan) -> FloatArray:
    """Counts of rows drawn with replacement: the same as drawing the rows, for a cell is all that is known of each."""
    rng = np.random.default_rng(plan.seed)
    flat = np.asarray(cells, dtype=np.float64).ravel()
    drawn = rng.multinomial(round(flat.sum()), flat / flat.sum(), min(plan.resamples, _RESAMPLES))
    return drawn.astype(np.float64).reshape(-1, *cells.shape)


def _proportion(measure: Measure, table: Confusion) -> tuple[float, float] | None:
    """Numerator and denominator, where the measure is a share of rows."""
    facts = measure.facts
    if not facts.proportion or (facts.per_class and table.positive is None):
        return None
    operand: Any = table
    if facts.per_class:
        cells = table.cells
        operand = type(cells)(*(cell[..., table.positive] for cell in cells))
    numerator, denominator = measure.formula(operand)
    return float(numerator), float(denominator)


def _auc(estimate: float, tally: ScoreTally, plan: Plan) -> Interval:
    if np.isnan(estimate):
        return _without("auc", estimate, plan)
    _, variance = auc_variance(tally.pos, tally.neg)
    few = min(float(tally.positives), float(tally.negatives)) < _FEW
    if 0 < estimate < 1 and variance > 0 and not few and 1 - _HIGH <= estimate <= _HIGH:
        return Interval("auc", estimate, *closed.delong(estimate, variance, plan.level), plan.level, "delong")
    return Interval("auc", estimate, *closed.newcombe(estimate, tally, plan.level), plan.level, "newcombe")


def _percentiles(name: str, estimate: float, values: FloatArray, plan: Plan) -> Interval:
    known = values[~np.isnan(values)]
    if np.isnan(estimate) or not len(known):
        return _without(name, estimate, plan)
    note = "" if len(known) == len(values) else f"undefined in {len(values) - len(known)} of {len(values)} resamples"
    return Interval(name, estimate, *percentile_limits(known, plan.level), plan.level, "percentile", note)


def _without(name: str, estimate: float, plan: Plan) -> Interval:
    return Interval(name, estimate, float("nan"), float("nan"), plan.level, "", "")
