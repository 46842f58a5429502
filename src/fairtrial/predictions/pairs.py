"""Paired tests of models in a large file: from the counts of what both say of a row."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.bootstrap import Resamples, compute_percentile_limits
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import BoundMeasure, compute_normal_quantile
from fairtrial.measures.rows import DrawCounts
from fairtrial.predictions.statistics import (
    MANY_ROWS,
    InMemoryModel,
    JudgeSettings,
    allow_unknown_labels,
    ignore_warnings,
    redraw_counts,
)
from fairtrial.predictions.streamed import MAX_MARKS, StreamedModel, StreamedModels, compute_rank_contrast, quote_identifier
from fairtrial.predictions.validate import Y_TRUE_HINT, Notes
from fairtrial.significance import adjust, bootstrap_difference, delong, mcnemar, mcnemar_table, permutation_test
from fairtrial.significance.counts import compute_paired_newcombe_limits
from fairtrial.significance.outcome import Effect, Outcome

if TYPE_CHECKING:
    import pandas as pd

PAIR_COLUMNS = (
    *("dataset", "first", "second", "test", "measure", "statistic", "p_value", "p_adjusted", "difference", "low", "high"),
    *("rows", "primary", "at_minimum", "note"),
)


UNWEIGHTED = "each row counts once: this test takes no weights"


_MIN_DELONG_ROWS = 2


def build_pair_table(models: Sequence[InMemoryModel], main: Measure, settings: JudgeSettings, notes: Notes) -> pd.DataFrame:
    """A line for each pair of models of a data set and each test, p adjusted by Holm's procedure over the pairs of a test."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    overlap = RowOverlap(notes)
    for first, second in combinations(models, 2):
        common_rows, first_indices, second_indices = np.intersect1d(first.row_indices, second.row_indices, return_indices=True)
        if overlap.record(
            first.dataset, (first.name, second.name), (len(first.row_indices), len(second.row_indices)), len(common_rows)
        ):
            shared = first.select_rows(first_indices), second.select_rows(second_indices)
            lines += [
                _build_pair_row(first, second, *test_result) for test_result in _run_pair_tests(*shared, main, settings, notes)
            ]
    overlap.check()
    table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS))
    return table.assign(adjusted=adjust_p_values(table))


class RowOverlap:
    """Which pairs of models have rows in common: told where they are not all of them, refused where no pair has any."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._n_common: dict[str, list[int]] = {}
        self._disjoint: dict[str, tuple[str, str]] = {}
        self.unequal_datasets: list[str] = []
        """Data sets whose models predict different rows."""

    def record(self, dataset: str, names: tuple[str, str], rows: tuple[int, int], n_common: int) -> bool:
        """Whether two models can be compared."""
        self._n_common.setdefault(dataset, []).append(n_common)
        if n_common == rows[0] == rows[1]:
            return True
        if dataset not in self.unequal_datasets:
            self.unequal_datasets.append(dataset)
        if not n_common:
            self._disjoint.setdefault(dataset, names)
            self._notes.add(f"{names[0]} and {names[1]} predict no row of {dataset!r} in common: they are not compared.")
            return False
        self._notes.add(
            f"{names[0]} and {names[1]} predict different rows of {dataset!r} ({rows[0]:,} and {rows[1]:,}): paired tests use "
            f"the {n_common:,} that both predict."
        )
        return True

    def check(self) -> None:
        """At least one pair of each data set has rows in common."""
        for dataset, (first, second) in self._disjoint.items():
            if not any(self._n_common[dataset]):
                raise InputError(
                    f"models must predict the same rows to be compared, got none in common for {first!r} and {second!r} on "
                    f"{dataset!r}: check the row ids"
                )


def adjust_p_values(table: pd.DataFrame) -> FloatArray:
    """p values adjusted over the pairs of each data set and test."""
    p_adjusted = np.full(len(table), np.nan)
    is_defined = table["p_value"].notna().to_numpy()
    for _, part in table[is_defined].groupby(["dataset", "test"], sort=False):
        p_adjusted[table.index.get_indexer(part.index)] = adjust(part["p_value"].to_numpy(dtype=float), "holm")
    return p_adjusted


def _run_pair_tests(
    first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings, notes: Notes
) -> list[tuple[Outcome, str, bool]]:
    """Outcome, measure, and whether it is the test that decides about the main measure."""
    results: list[tuple[Outcome, str, bool]] = []
    unweighted = first.weights is None
    decides_auc = main.name in ("auc", "gini") and first.positive is not None and unweighted
    decides_accuracy = main.name in ("accuracy", "error_rate") and unweighted
    with ignore_warnings():
        if first.y_pred is not None and second.y_pred is not None:
            test = mcnemar(first.y_true, first.y_pred, second.y_pred, level=settings.level)
            results.append((test, "accuracy", decides_accuracy))
        delong_outcome = _test_delong(first, second, settings, notes)
        if delong_outcome is not None:
            results.append((delong_outcome, "auc", decides_auc))
        if first.has(main) and second.has(main):
            is_decided = any(decides for *_, decides in results)
            if not is_decided or len(first.y_true) <= MANY_ROWS:
                results.append((_bootstrap_pair(first, second, main, settings), main.name, not is_decided))
            if len(first.y_true) <= MANY_ROWS:
                results.append((_permute_pair(first, second, main, settings), main.name, False))
            else:
                notes.add(f"Beyond {MANY_ROWS:,} rows the permutation test is left out: it would tell nothing new.")
    return results


def _test_delong(first: InMemoryModel, second: InMemoryModel, settings: JudgeSettings, notes: Notes) -> Outcome | None:
    if first.scores is None or second.scores is None or first.positive is None:
        return None
    y_true = (first.y_true == first.positive).astype(np.intp)
    if not has_enough_for_delong(first.dataset, int(y_true.sum()), int((1 - y_true).sum()), notes):
        return None
    scores = [np.ascontiguousarray(model.scores[:, first.positive]) for model in (first, second) if model.scores is not None]
    return delong(y_true, scores[0], scores[1], positive=1, level=settings.level)


def has_enough_for_delong(dataset: str, positives: int, negatives: int, notes: Notes) -> bool:
    """Whether both classes have rows enough; told where they have not."""
    if min(positives, negatives) < _MIN_DELONG_ROWS:
        notes.add(f"DeLong's test is left out on {dataset!r}: it needs at least 2 rows of each class.")
        return False
    return True


def _bootstrap_pair(first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings) -> Outcome:
    if first.weights is not None:
        return bootstrap_weighted_difference(first, second, main, settings)
    has_many_rows = len(first.y_true) > MANY_ROWS
    measure, options = _resolve_pair_measure(first, second, main)
    return bootstrap_difference(
        measure,
        first.y_true,
        first.select_input(main),
        second.select_input(main),
        method="percentile" if has_many_rows else "bca",
        level=settings.level,
        resamples=settings.limit_resamples(len(first.y_true)),
        seed=settings.seed,
        **options,
    )


def _resolve_pair_measure(first: InMemoryModel, second: InMemoryModel, main: Measure) -> tuple[Measure, dict[str, Any]]:
    """The measure and its options, which know of labels that are none of the classes where one of the two has them."""
    has_unknown = main.facts.needs == "labels" and (first.has_unknown_labels or second.has_unknown_labels)
    return (allow_unknown_labels(main) if has_unknown else main), first.get_measure_options(has_unknown)


def _permute_pair(first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings) -> Outcome:
    measure, options = _resolve_pair_measure(first, second, main)
    return permutation_test(
        first.y_true,
        first.select_input(main),
        second.select_input(main),
        measure,
        resamples=settings.resamples,
        seed=settings.seed,
        level=settings.level,
        **options,
    )


def bootstrap_weighted_difference(
    first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings
) -> Outcome:
    """The bootstrap of a difference where rows have weights: percentile limits, and p as the level at which they touch zero."""
    measure, measure_options = _resolve_pair_measure(first, second, main)
    options = {**measure_options, "sample_weight": first.weights}
    bound = [
        BoundMeasure(measure, measure.read_rows(model.y_true, model.select_input(main), **options), {"average": "auto"})
        for model in (first, second)
    ]

    def compute(drawn: DrawCounts) -> FloatArray:
        return np.asarray(bound[0].compute_resampled(drawn) - bound[1].compute_resampled(drawn))[:, None]

    estimates = [bound_measure.estimate() for bound_measure in bound]
    estimate = estimates[0] - estimates[1]
    resamples = settings.limit_resamples(len(first.y_true))
    values = Resamples(len(bound[0].rows.true), resamples, settings.seed).compute_values(compute)[:, 0]
    values = values[~np.isnan(values)]
    low, high = compute_percentile_limits(values, settings.level) if len(values) else (float("nan"), float("nan"))
    return Outcome(
        "bootstrap_difference",
        estimate,
        compute_p_touching_zero(values),
        n=len(first.y_true),
        variant=f"percentile, {resamples} resamples, weighted",
        effect=Effect(f"difference in {main.name}", estimate, low, high, settings.level),
    )


def compute_p_touching_zero(values: FloatArray) -> float:
    """p as the level at which percentile limits touch zero."""
    if not len(values):
        return float("nan")
    tail = min(int((values <= 0).sum()), int((values >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(values) + 1))


def is_p_at_minimum(outcome: Outcome) -> bool:
    """Whether p is the smallest that the resamples can give, so that it may be smaller."""
    resamples_match = re.search(r"(\d+) resamples", outcome.variant)
    if resamples_match is None or np.isnan(outcome.p_value):
        return False
    if outcome.test == "permutation_test":
        return outcome.p_value * (1 + int(resamples_match[1])) <= 1 + 1e-9
    undefined_match = next(
        (caveat_match for caveat in outcome.caveats if (caveat_match := re.search(r"undefined in (\d+) of", caveat))), None
    )
    n_defined = int(resamples_match[1]) - (0 if undefined_match is None else int(undefined_match[1]))
    return outcome.p_value * (1 + n_defined) <= 2 + 1e-9


def _build_pair_row(
    first: InMemoryModel, second: InMemoryModel, outcome: Outcome, measure: str, decides: bool
) -> dict[str, Any]:
    effect = outcome.effect
    nan = float("nan")
    limits = None if outcome.test == "permutation_test" else effect  # its interval would be another test's
    row_notes = [caveat for caveat in outcome.caveats if not caveat.startswith("it covers")]
    if first.weights is not None and outcome.test != "bootstrap_difference":
        row_notes.append(UNWEIGHTED)
    return {
        "dataset": first.dataset,
        "first": first.name,
        "second": second.name,
        "test": outcome.test,
        "measure": measure,
        "statistic": outcome.statistic,
        "p_value": outcome.p_value,
        "p_adjusted": nan,
        "difference": effect.estimate if effect else nan,
        "low": limits.low if limits else nan,
        "high": limits.high if limits else nan,
        "rows": outcome.n,
        "primary": decides,
        "at_minimum": is_p_at_minimum(outcome),
        "note": "; ".join([outcome.variant, *row_notes]),
    }


AucByModel = Mapping[tuple[str, str], float]


"""The AUC of the positive class, by data set and model."""


class StreamedPairs:
    """The pairs of a large file: `table` has a line for each pair of models of a data set and each test that counts allow."""

    def __init__(
        self, streamed: StreamedModels, aucs: AucByModel, main: Measure, settings: JudgeSettings, notes: Notes
    ) -> None:
        self.streamed, self.aucs, self.main, self.settings, self.notes = streamed, aucs, main, settings, notes
        self.overlap = RowOverlap(notes)

    def build_table(self) -> pd.DataFrame:
        """All pairs, p adjusted by Holm's procedure."""
        import pandas as pd

        lines: list[dict[str, Any]] = []
        for first, second in combinations(self.streamed.models, 2):
            if first.dataset == second.dataset:
                lines += self._compare_pair(first, second)
        self.overlap.check()
        table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS)).astype({"primary": bool})
        if len(table) and not table["primary"].any():
            weighted = "" if self.streamed.weight is None else " of rows with weights"
            self.notes.add(f"Counts{weighted} give no test of {self.main.name}: no test decides which model is ahead.")
        return table.assign(adjusted=adjust_p_values(table))

    def _compare_pair(self, first: StreamedModel, second: StreamedModel) -> list[dict[str, Any]]:
        joined_sql = _build_join_sql(self.streamed, first, second)
        if joined_sql is None:
            self.notes.add(
                "No column tells the rows apart: models of a large file are not paired without it, and tests are left out."
            )
            return []
        n_common, n_different = self.streamed.file.fetch_rows(
            f"SELECT count(*), count(*) FILTER (WHERE t <> u) FROM {joined_sql}"
        )[0]
        if n_different:
            raise InputError(
                f"the truth must be the same in all lines of a row, got a difference between {first.name!r} and "
                f"{second.name!r} in column {self.streamed.file.roles.get('y_true')!r} ({n_different:,} such rows): models are "
                f"compared on the same cases, so check the row ids{Y_TRUE_HINT}"
            )
        if not self.overlap.record(first.dataset, (first.name, second.name), (first.rows, second.rows), n_common):
            return []
        lines = self._compare_labels(first, second, joined_sql) if first.label and second.label else []
        shared = n_common == first.rows == second.rows
        ranked = self._compare_ranks(first, second, joined_sql, shared) if first.scores and second.scores else None
        return lines if ranked is None else [*lines, ranked]

    def _compare_labels(self, first: StreamedModel, second: StreamedModel, joined_sql: str) -> list[dict[str, Any]]:
        """McNemar's test, and the bootstrap of the main measure where it is one of labels."""
        k = len(first.classes)
        cells, weights, squares = np.zeros((3, k, k, k))
        query = f"SELECT t, l1, l2, count(*), sum(w), sum(w * w) FROM {joined_sql} GROUP BY t, l1, l2"
        for true_code, first_code, second_code, *sums in self.streamed.file.fetch_rows(query):
            (
                cells[true_code, first_code, second_code],
                weights[true_code, first_code, second_code],
                squares[true_code, first_code, second_code],
            ) = sums
        diagonal = np.arange(k)
        both = int(cells[diagonal, diagonal, diagonal].sum())
        b, c = (int(cells.sum(axis=axis)[diagonal, diagonal].sum()) - both for axis in (2, 1))
        rows = int(cells.sum())
        test = mcnemar_table(b, c, level=self.settings.level)
        limits = compute_paired_newcombe_limits(both, b, c, rows - both - b - c, self.settings.level)
        decides = self.main.name in ("accuracy", "error_rate") and self.streamed.weight is None
        values = (test.statistic, test.p_value, ((b - c) / rows, *limits), rows, decides)
        pair_rows = [self._build_row(first, second, "mcnemar", "accuracy", *values, "; ".join([test.variant, *test.caveats]))]
        if self.main.facts.needs == "labels":
            pair_rows.append(self._bootstrap_counts(first, second, (cells, weights, squares), decides))
        return pair_rows

    def _bootstrap_counts(
        self, first: StreamedModel, second: StreamedModel, sums: tuple[FloatArray, FloatArray, FloatArray], is_decided: bool
    ) -> dict[str, Any]:
        """The bootstrap of a difference, by counts drawn anew; with weights each cell's weight is drawn as its sum would be."""
        cells, weights, squares = sums
        drawn, description = redraw_counts(cells, self.settings), "of counts"
        if self.streamed.weight is not None:
            drawn, description = _resample_weights(drawn, cells, weights, squares, self.settings.seed), "of weighted counts"

        def compute_difference(tables: FloatArray) -> FloatArray:
            parts = [Confusion(tables.sum(axis=axis), first.classes, first.positive) for axis in (-1, -2)]
            return np.asarray(self.main.of(parts[0]) - self.main.of(parts[1]))  # type: ignore[attr-defined]

        with ignore_warnings():
            estimate, values = float(compute_difference(weights)), compute_difference(drawn)
        values = values[~np.isnan(values)]
        limits = compute_percentile_limits(values, self.settings.level) if len(values) else (math.nan, math.nan)
        p = compute_p_touching_zero(values)
        note = f"percentile, {len(values)} resamples {description}"
        common = (estimate, p, (estimate, *limits), int(cells.sum()), not is_decided, note)
        row = self._build_row(first, second, "bootstrap_difference", self.main.name, *common)
        return {**row, "at_minimum": p * (len(values) + 1) <= 2 + 1e-9}

    def _compare_ranks(
        self, first: StreamedModel, second: StreamedModel, joined_sql: str, shared: bool
    ) -> dict[str, Any] | None:
        """DeLong's test, from the placements of both models' rows."""
        from scipy.special import ndtr

        if first.positive is None:
            return None
        contrast = compute_rank_contrast(self.streamed.file, joined_sql, first.positive)
        if not has_enough_for_delong(first.dataset, contrast.positives, contrast.negatives, self.notes):
            return None
        estimate, error, note = contrast.estimate, math.sqrt(contrast.variance), ""
        if not contrast.exact:
            note = f"approximate: scores placed between {MAX_MARKS:,} of the rarer class"
            self.notes.add(
                f"DeLong's test is approximate on {first.dataset!r}: scores are placed between "
                f"{MAX_MARKS:,} of the rarer class."
            )
            if shared and self.streamed.weight is None:
                estimate = self.aucs[first.dataset, first.name] - self.aucs[second.dataset, second.name]
        statistic = 0.0 if estimate == 0 else estimate / error if error else math.nan
        half = compute_normal_quantile(self.settings.level) * error
        limits = (estimate, max(-1.0, estimate - half), min(1.0, estimate + half))
        decides = self.main.name in ("auc", "gini") and self.streamed.weight is None
        p, rows = float(2 * ndtr(-abs(statistic))), contrast.positives + contrast.negatives
        return self._build_row(first, second, "delong", "auc", statistic, p, limits, rows, decides, note)

    def _build_row(
        self,
        first: StreamedModel,
        second: StreamedModel,
        test: str,
        measure: str,
        statistic: float,
        p: float,
        limits: tuple[float, float, float],
        rows: int,
        decides: bool,
        note: str,
    ) -> dict[str, Any]:
        row_notes = [note] if note else []
        if self.streamed.weight is not None and test != "bootstrap_difference":
            row_notes.append(UNWEIGHTED)
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
            "primary": decides,
            "at_minimum": False,
            "note": "; ".join(row_notes),
        }


def _build_join_sql(streamed: StreamedModels, first: StreamedModel, second: StreamedModel) -> str | None:
    """SQL for the rows that both predict: truths t and u, labels l1 and l2, scores s1 and s2, weight w; None without ids."""
    column_lists = [_build_columns_sql(model, i) for i, model in enumerate((first, second), 1)]
    weight = streamed.weight or "1"
    if first.where == second.where:
        truths = f"{first.y_true} AS t, {second.y_true} AS u"
        return f"(SELECT {truths}, {column_lists[0]}, {column_lists[1]}, {weight} AS w FROM judged WHERE {first.where})"
    row = streamed.file.roles.get("row")
    if row is None:
        return None
    parts = [
        f"(SELECT {quote_identifier(row)} AS r, {model.y_true} AS t{i}, {columns}, {weight} AS w{i} FROM judged WHERE {model.where})"
        for i, (model, columns) in enumerate(zip((first, second), column_lists, strict=True), 1)
    ]
    return f"(SELECT t1 AS t, t2 AS u, l1, s1, l2, s2, w1 AS w FROM {parts[0]} JOIN {parts[1]} USING (r))"


def _build_columns_sql(model: StreamedModel, i: int) -> str:
    score = model.scores[model.positive or 0] if model.scores else "NULL"
    return f"{model.label or 'NULL'} AS l{i}, {score} AS s{i}"


def _resample_weights(drawn: FloatArray, cells: FloatArray, weights: FloatArray, squares: FloatArray, seed: int) -> FloatArray:
    """The weight of so many rows of each cell, drawn with the mean and the variance that the sum of their weights has."""
    counts = np.maximum(cells, 1.0)
    mean = weights / counts
    spread = np.sqrt(np.maximum(0.0, squares / counts - mean**2))
    noise = np.random.default_rng([seed, 1]).normal(size=drawn.shape)
    return np.maximum(0.0, drawn * mean + np.sqrt(drawn) * spread * noise)
