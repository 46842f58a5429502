"""Paired tests of models in a large file: from the counts of what both say of a row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.closed_intervals import normal_quantile
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.resampling import percentile_limits
from fairtrial.significance import mcnemar_table
from fairtrial.significance.counts import paired_newcombe
from fairtrial.study.predictions import large_ranks
from fairtrial.study.predictions.counted_intervals import redrawn
from fairtrial.study.predictions.judged_pairs import (
    PAIR_COLUMNS,
    UNWEIGHTED,
    Meetings,
    adjusted,
    enough_for_delong,
    touching_zero,
)
from fairtrial.study.predictions.judged_plan import Plan, quiet
from fairtrial.study.predictions.large_file import name
from fairtrial.study.predictions.large_models import LargeModel, LargeModels
from fairtrial.study.predictions.prediction_checks import OTHER_TRUTH, Notes

if TYPE_CHECKING:
    import pandas as pd

Areas = Mapping[tuple[str, str], float]
"""The AUC of the positive class, by data set and model."""


class LargePairs:
    """The pairs of a large file: `table` has a line for each pair of models of a data set and each test that counts allow."""

    def __init__(self, every: LargeModels, areas: Areas, main: Measure, plan: Plan, notes: Notes) -> None:
        self.every, self.areas, self.main, self.plan, self.notes = every, areas, main, plan, notes
        self.met = Meetings(notes)

    def table(self) -> pd.DataFrame:
        """All pairs, p adjusted by Holm's procedure."""
        import pandas as pd

        lines: list[dict[str, Any]] = []
        for first, second in combinations(self.every.models, 2):
            if first.dataset == second.dataset:
                lines += self._pair(first, second)
        self.met.check()
        table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS)).astype({"decides": bool})
        if len(table) and not table["decides"].any():
            weighted = "" if self.every.weight is None else " of rows with weights"
            self.notes.tell(f"Counts{weighted} give no test of {self.main.name}: no test decides which model is ahead.")
        return table.assign(adjusted=adjusted(table))

    def _pair(self, first: LargeModel, second: LargeModel) -> list[dict[str, Any]]:
        joined = _joined(self.every, first, second)
        if joined is None:
            self.notes.tell(
                "No column tells the rows apart: models of a large file are not paired without it, and tests are left out."
            )
            return []
        both, other = self.every.file.rows(f"SELECT count(*), count(*) FILTER (WHERE t <> u) FROM {joined}")[0]
        if other:
            raise InputError(
                f"the truth must be the same in all lines of a row, got a difference between {first.name!r} and "
                f"{second.name!r} in column {self.every.file.roles.get('truth')!r} ({other:,} such rows): models are "
                f"compared on the same cases, so check the row ids{OTHER_TRUTH}"
            )
        if not self.met.tell(first.dataset, (first.name, second.name), (first.rows, second.rows), both):
            return []
        lines = self._by_labels(first, second, joined) if first.label and second.label else []
        shared = both == first.rows == second.rows
        ranked = self._by_ranks(first, second, joined, shared) if first.scores and second.scores else None
        return lines if ranked is None else [*lines, ranked]

    def _by_labels(self, first: LargeModel, second: LargeModel, joined: str) -> list[dict[str, Any]]:
        """McNemar's test, and the bootstrap of the main measure where it is one of labels."""
        k = len(first.classes)
        cells, weights, squares = np.zeros((3, k, k, k))
        query = f"SELECT t, l1, l2, count(*), sum(w), sum(w * w) FROM {joined} GROUP BY t, l1, l2"
        for true, one, other, *sums in self.every.file.rows(query):
            cells[true, one, other], weights[true, one, other], squares[true, one, other] = sums
        diagonal = np.arange(k)
        both = int(cells[diagonal, diagonal, diagonal].sum())
        b, c = (int(cells.sum(axis=axis)[diagonal, diagonal].sum()) - both for axis in (2, 1))
        rows = int(cells.sum())
        test = mcnemar_table(b, c, level=self.plan.level)
        limits = paired_newcombe(both, b, c, rows - both - b - c, self.plan.level)
        settles = self.main.name in ("accuracy", "error_rate") and self.every.weight is None
        values = (test.statistic, test.p_value, ((b - c) / rows, *limits), rows, settles)
        found = [self._line(first, second, "mcnemar", "accuracy", *values, "; ".join([test.variant, *test.caveats]))]
        if self.main.facts.needs == "labels":
            found.append(self._redrawn(first, second, (cells, weights, squares), settles))
        return found

    def _redrawn(
        self, first: LargeModel, second: LargeModel, sums: tuple[FloatArray, FloatArray, FloatArray], settled: bool
    ) -> dict[str, Any]:
        """The bootstrap of a difference, by counts drawn anew; with weights each cell's weight is drawn as its sum would be."""
        cells, weights, squares = sums
        drawn, told = redrawn(cells, self.plan), "of counts"
        if self.every.weight is not None:
            drawn, told = _weighed(drawn, cells, weights, squares, self.plan.seed), "of weighted counts"

        def difference(tables: FloatArray) -> FloatArray:
            parts = [Confusion(tables.sum(axis=axis), first.classes, first.positive) for axis in (-1, -2)]
            return np.asarray(self.main.of(parts[0]) - self.main.of(parts[1]))  # type: ignore[attr-defined]

        with quiet():
            estimate, values = float(difference(weights)), difference(drawn)
        values = values[~np.isnan(values)]
        limits = percentile_limits(values, self.plan.level) if len(values) else (math.nan, math.nan)
        p = touching_zero(values)
        note = f"percentile, {len(values)} resamples {told}"
        common = (estimate, p, (estimate, *limits), int(cells.sum()), not settled, note)
        found = self._line(first, second, "bootstrap_difference", self.main.name, *common)
        return {**found, "floor": p * (len(values) + 1) <= 2 + 1e-9}

    def _by_ranks(self, first: LargeModel, second: LargeModel, joined: str, shared: bool) -> dict[str, Any] | None:
        """DeLong's test, from the placements of both models' rows."""
        from scipy.special import ndtr

        if first.positive is None:
            return None
        found = large_ranks.rank_contrast(self.every.file, joined, first.positive)
        if not enough_for_delong(first.dataset, found.positives, found.negatives, self.notes):
            return None
        estimate, error, note = found.estimate, math.sqrt(found.variance), ""
        if not found.exact:
            note = f"approximate: scores placed between {large_ranks.MOST_MARKS:,} of the rarer class"
            self.notes.tell(
                f"DeLong's test is approximate on {first.dataset!r}: scores are placed between "
                f"{large_ranks.MOST_MARKS:,} of the rarer class."
            )
            if shared and self.every.weight is None:
                estimate = self.areas[first.dataset, first.name] - self.areas[second.dataset, second.name]
        statistic = 0.0 if estimate == 0 else estimate / error if error else math.nan
        half = normal_quantile(self.plan.level) * error
        limits = (estimate, max(-1.0, estimate - half), min(1.0, estimate + half))
        decides = self.main.name in ("auc", "gini") and self.every.weight is None
        p, rows = float(2 * ndtr(-abs(statistic))), found.positives + found.negatives
        return self._line(first, second, "delong", "auc", statistic, p, limits, rows, decides, note)

    def _line(
        self,
        first: LargeModel,
        second: LargeModel,
        test: str,
        measure: str,
        statistic: float,
        p: float,
        limits: tuple[float, float, float],
        rows: int,
        decides: bool,
        note: str,
    ) -> dict[str, Any]:
        told = [note] if note else []
        if self.every.weight is not None and test != "bootstrap_difference":
            told.append(UNWEIGHTED)
        return {
            "dataset": first.dataset,
            "first": first.name,
            "second": second.name,
            "test": test,
            "measure": measure,
            "statistic": statistic,
            "p_value": p,
            **dict(zip(("difference", "low", "high"), limits, strict=True)),
            "rows": rows,
            "decides": decides,
            "floor": False,
            "note": "; ".join(told),
        }


def _joined(every: LargeModels, first: LargeModel, second: LargeModel) -> str | None:
    """SQL for the rows that both predict: truths t and u, labels l1 and l2, scores s1 and s2, weight w; None without ids."""
    own = [_columns(model, i) for i, model in enumerate((first, second), 1)]
    weight = every.weight or "1"
    if first.where == second.where:
        truths = f"{first.truth} AS t, {second.truth} AS u"
        return f"(SELECT {truths}, {own[0]}, {own[1]}, {weight} AS w FROM judged WHERE {first.where})"
    row = every.file.roles.get("row")
    if row is None:
        return None
    parts = [
        f"(SELECT {name(row)} AS r, {model.truth} AS t{i}, {columns}, {weight} AS w{i} FROM judged WHERE {model.where})"
        for i, (model, columns) in enumerate(zip((first, second), own, strict=True), 1)
    ]
    return f"(SELECT t1 AS t, t2 AS u, l1, s1, l2, s2, w1 AS w FROM {parts[0]} JOIN {parts[1]} USING (r))"


def _columns(model: LargeModel, i: int) -> str:
    score = model.scores[model.positive or 0] if model.scores else "NULL"
    return f"{model.label or 'NULL'} AS l{i}, {score} AS s{i}"


def _weighed(drawn: FloatArray, cells: FloatArray, weights: FloatArray, squares: FloatArray, seed: int) -> FloatArray:
    """The weight of so many rows of each cell, drawn with the mean and the variance that the sum of their weights has."""
    known = np.maximum(cells, 1.0)
    mean = weights / known
    spread = np.sqrt(np.maximum(0.0, squares / known - mean**2))
    noise = np.random.default_rng([seed, 1]).normal(size=drawn.shape)
    return np.maximum(0.0, drawn * mean + np.sqrt(drawn) * spread * noise)
