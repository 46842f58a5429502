"""Paired tests of models that predict the same rows, in memory and streamed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import InputError
from fairtrial.kernels.sorting import order_scores
from fairtrial.measures import Measure
from fairtrial.measures.bootstrap import Resamples, compute_percentile_limits
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import BoundMeasure, compute_normal_quantile
from fairtrial.measures.rows import DrawCounts
from fairtrial.predictions import statistics
from fairtrial.predictions.statistics import MANY_ROWS, MAX_COUNT_RESAMPLES, InMemoryModel, JudgeSettings
from fairtrial.predictions.streamed import StreamedFile, StreamedModel, StreamedModels
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

# DeLong's test of a streamed file places scores exactly between so many rows of the rarer class; if there are more, it
# places them between so many quantiles.
MAX_MARKS = 1 << 22

AucByModel = Mapping[tuple[str, str], float]
"""The AUC of the positive class, by data set and model."""

_UNWEIGHTED = Finding.of("unweighted_test")
_MIN_DELONG_ROWS = 2


def build_pair_table(models: Sequence[InMemoryModel], main: Measure, settings: JudgeSettings, notes: Notes) -> pd.DataFrame:
    """Build one row per pair of models and test; Holm's procedure adjusts p over the pairs of a test."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    overlap = RowOverlap(notes)
    for first, second in combinations(models, 2):
        if first.dataset != second.dataset:
            continue
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
    return table.assign(p_adjusted=_adjust_p_values(table))


class RowOverlap:
    """Records which models predict the same rows: noted if only some are shared, refused if no pair shares any."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._n_common: dict[str, list[int]] = {}
        self._disjoint: dict[str, tuple[str, str]] = {}
        self.unequal_datasets: list[str] = []
        """Data sets whose models predict different rows."""

    def record(self, dataset: str, names: tuple[str, str], rows: tuple[int, int], n_common: int) -> bool:
        """Record a pair of models; return whether it can be compared."""
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
        """Check that at least one pair of each data set has rows in common."""
        for dataset, (first, second) in self._disjoint.items():
            if not any(self._n_common[dataset]):
                raise InputError(
                    f"models must predict the same rows to be compared, got none in common for {first!r} and {second!r} on "
                    f"{dataset!r}: check the row ids"
                )


def _run_pair_tests(
    first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings, notes: Notes
) -> list[tuple[Outcome, str, bool]]:
    """Run all tests; return outcome, measure, and whether the test is the primary one of the main measure."""
    results: list[tuple[Outcome, str, bool]] = []
    unweighted = first.weights is None
    decides_auc = main.name in ("auc", "gini") and first.positive is not None and unweighted
    decides_accuracy = main.name in ("accuracy", "error_rate") and unweighted
    with statistics.ignore_warnings():
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
    if not _has_enough_for_delong(first.dataset, int(y_true.sum()), int((1 - y_true).sum()), notes):
        return None
    scores = [np.ascontiguousarray(model.scores[:, first.positive]) for model in (first, second) if model.scores is not None]
    return delong(y_true, scores[0], scores[1], positive=1, level=settings.level)


def _bootstrap_pair(first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings) -> Outcome:
    if first.weights is not None:
        return _bootstrap_weighted_difference(first, second, main, settings)
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
    """Get the measure and its options; they allow unknown labels if one of the two models has some."""
    has_unknown = main.facts.needs == "labels" and (first.has_unknown_labels or second.has_unknown_labels)
    return (statistics.allow_unknown_labels(main) if has_unknown else main), first.get_measure_options(has_unknown)


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


def _bootstrap_weighted_difference(
    first: InMemoryModel, second: InMemoryModel, main: Measure, settings: JudgeSettings
) -> Outcome:
    """Bootstrap a difference of weighted rows: percentile limits, and p as the level at which they touch zero."""
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
        _compute_p_touching_zero(values),
        n=len(first.y_true),
        variant=f"percentile, {resamples} resamples, weighted",
        resamples=resamples,
        effect=Effect(f"difference in {main.name}", estimate, low, high, settings.level),
    )


def _build_pair_row(
    first: InMemoryModel, second: InMemoryModel, outcome: Outcome, measure: str, decides: bool
) -> dict[str, Any]:
    effect = outcome.effect
    nan = float("nan")
    limits = None if outcome.test == "permutation_test" else effect  # its interval would be another test's
    caveats = [caveat for caveat in outcome.caveats if caveat.kind != "fixed_training_set"]
    if first.weights is not None and outcome.test != "bootstrap_difference":
        caveats.append(_UNWEIGHTED)
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
        "at_minimum": _is_p_at_minimum(outcome),
        "note": _write_note(outcome.variant, caveats),
    }


def _write_note(variant: str, caveats: Iterable[Finding]) -> str:
    """Write the variant of a test and its caveats."""
    texts = render_all(caveats, "model")
    return " ".join([f"{variant}." if variant else "", *texts]).strip() if texts else variant


class StreamedPairs:
    """Compares the models of a streamed file by the tests that counts allow."""

    def __init__(
        self, streamed: StreamedModels, aucs: AucByModel, main: Measure, settings: JudgeSettings, notes: Notes
    ) -> None:
        self.streamed, self.aucs, self.main, self.settings, self.notes = streamed, aucs, main, settings, notes
        self.overlap = RowOverlap(notes)

    def build_table(self) -> pd.DataFrame:
        """Build one row per pair of models and test, with p-values adjusted by Holm's procedure."""
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
        return table.assign(p_adjusted=_adjust_p_values(table))

    def _compare_pair(self, first: StreamedModel, second: StreamedModel) -> list[dict[str, Any]]:
        joined_sql = self.streamed.build_join_sql(first, second)
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
        """Run McNemar's test, and the bootstrap of the main measure if it needs labels."""
        k = len(first.classes)
        cells, weights, squares = np.zeros((3, k, k, k))
        query = f"SELECT t, l1, l2, count(*), sum(w), sum(w * w) FROM {joined_sql} GROUP BY t, l1, l2"
        for true_code, first_code, second_code, *sums in self.streamed.file.fetch_rows(query):
            cell = true_code, first_code, second_code
            cells[cell], weights[cell], squares[cell] = sums
        diagonal = np.arange(k)
        both = int(cells[diagonal, diagonal, diagonal].sum())
        b, c = (int(cells.sum(axis=axis)[diagonal, diagonal].sum()) - both for axis in (2, 1))
        rows = int(cells.sum())
        test = mcnemar_table(b, c, level=self.settings.level)
        limits = compute_paired_newcombe_limits(both, b, c, rows - both - b - c, self.settings.level)
        decides = self.main.name in ("accuracy", "error_rate") and self.streamed.weight is None
        values = (test.statistic, test.p_value, ((b - c) / rows, *limits), rows, decides)
        pair_rows = [self._build_row(first, second, "mcnemar", "accuracy", *values, _write_note(test.variant, test.caveats))]
        if self.main.facts.needs == "labels":
            pair_rows.append(self._bootstrap_counts(first, second, (cells, weights, squares), decides))
        return pair_rows

    def _bootstrap_counts(
        self, first: StreamedModel, second: StreamedModel, sums: tuple[FloatArray, FloatArray, FloatArray], is_decided: bool
    ) -> dict[str, Any]:
        """Bootstrap a difference by redrawn counts; with weights, draw the weight of each cell like a sum of its weights."""
        cells, weights, squares = sums
        resamples = min(self.settings.resamples, MAX_COUNT_RESAMPLES)
        drawn, description = np.concatenate([*statistics.draw_counts(cells, resamples, self.settings.seed)]), "of counts"
        if self.streamed.weight is not None:
            drawn, description = _resample_weights(drawn, cells, weights, squares, self.settings.seed), "of weighted counts"

        def compute_difference(tables: FloatArray) -> FloatArray:
            parts = [Confusion(tables.sum(axis=axis), first.classes, first.positive) for axis in (-1, -2)]
            return np.asarray(self.main.of(parts[0]) - self.main.of(parts[1]))  # type: ignore[attr-defined]

        with statistics.ignore_warnings():
            estimate, values = float(compute_difference(weights)), compute_difference(drawn)
        values = values[~np.isnan(values)]
        limits = compute_percentile_limits(values, self.settings.level) if len(values) else (math.nan, math.nan)
        p = _compute_p_touching_zero(values)
        note = f"percentile, {len(values)} resamples {description}"
        common = (estimate, p, (estimate, *limits), int(cells.sum()), not is_decided, note)
        row = self._build_row(first, second, "bootstrap_difference", self.main.name, *common)
        return {**row, "at_minimum": p * (len(values) + 1) <= 2 + 1e-9}

    def _compare_ranks(
        self, first: StreamedModel, second: StreamedModel, joined_sql: str, shared: bool
    ) -> dict[str, Any] | None:
        """Run DeLong's test from the placements of both models' rows."""
        from scipy.special import ndtr

        if first.positive is None:
            return None
        contrast = compute_rank_contrast(self.streamed.file, joined_sql, first.positive)
        if not _has_enough_for_delong(first.dataset, contrast.positives, contrast.negatives, self.notes):
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
        if self.streamed.weight is not None and test != "bootstrap_difference":
            note = _write_note(note.rstrip("."), (_UNWEIGHTED,))
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
            "note": note,
        }


def _resample_weights(drawn: FloatArray, cells: FloatArray, weights: FloatArray, squares: FloatArray, seed: int) -> FloatArray:
    """Draw the weight of the rows of each cell, with the mean and variance of a sum of their weights."""
    counts = np.maximum(cells, 1.0)
    mean = weights / counts
    spread = np.sqrt(np.maximum(0.0, squares / counts - mean**2))
    noise = np.random.default_rng([seed, 1]).normal(size=drawn.shape)
    return np.maximum(0.0, drawn * mean + np.sqrt(drawn) * spread * noise)


def _has_enough_for_delong(dataset: str, positives: int, negatives: int, notes: Notes) -> bool:
    """Whether both classes have enough rows; noted if not."""
    if min(positives, negatives) < _MIN_DELONG_ROWS:
        notes.add(f"DeLong's test is left out on {dataset!r}: it needs at least 2 rows of each class.")
        return False
    return True


def _compute_p_touching_zero(values: FloatArray) -> float:
    """Compute p as the level at which percentile limits touch zero."""
    if not len(values):
        return float("nan")
    tail = min(int((values <= 0).sum()), int((values >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(values) + 1))


def _is_p_at_minimum(outcome: Outcome) -> bool:
    """Whether p is the smallest value that the resamples can give; the true one may be smaller."""
    if outcome.resamples is None or np.isnan(outcome.p_value):
        return False
    if outcome.test == "permutation_test":
        return outcome.p_value * (1 + outcome.resamples) <= 1 + 1e-9
    return outcome.p_value * (1 + outcome.resamples - outcome.undefined_resamples) <= 2 + 1e-9


def _adjust_p_values(table: pd.DataFrame) -> FloatArray:
    """Adjust p-values over the pairs of each data set and test."""
    p_adjusted = np.full(len(table), np.nan)
    is_defined = table["p_value"].notna().to_numpy()
    for _, part in table[is_defined].groupby(["dataset", "test"], sort=False):
        p_adjusted[table.index.get_indexer(part.index)] = adjust(part["p_value"].to_numpy(dtype=float), "holm")
    return p_adjusted


class RankContrast(NamedTuple):
    """The first AUC minus the second, the variance of this difference, and whether every placement is exact."""

    estimate: float
    variance: float
    positives: int
    negatives: int
    exact: bool


def compute_rank_contrast(file: StreamedFile, lines: str, positive: int) -> RankContrast:
    """Contrast two models on the same rows, as DeLong's test does; NaN if a class has fewer than two rows.

    `lines` is SQL that gives true classes t and scores s1 and s2. The rows are written to a table, which spills to disk, so
    that models are joined once. Only the scores of the rarer class are kept in memory. Every other score lies on one of them or
    between two. From this follows how many rows of one class lie below each row of the other.
    """
    file.fetch_rows(f"CREATE OR REPLACE TEMP TABLE met AS SELECT t = {positive} AS p, s1, s2 FROM {lines}")
    try:
        return _compute_contrast(file)
    finally:
        file.fetch_rows("DROP TABLE met")


def _compute_contrast(file: StreamedFile) -> RankContrast:
    positives, negatives = file.fetch_rows("SELECT count(*) FILTER (WHERE p), count(*) FILTER (WHERE NOT p) FROM met")[0]
    if min(positives, negatives) < 2:
        return RankContrast(math.nan, math.nan, positives, negatives, True)
    few, many = sorted((positives, negatives))
    rare, common = ("p", "NOT p") if positives <= negatives else ("NOT p", "p")
    marks = [_find_marks(file, column, rare, few) for column in ("s1", "s2")]
    exact = few <= MAX_MARKS or _are_all_marked(file, marks, rare)
    slot_rows = _SlotRows(file, marks)
    rare_below, _ = slot_rows.count_below(rare)
    common_below, over_common = slot_rows.count_below(common, rare_below)
    over_rare = slot_rows.sum_contrasts(rare, common_below)
    mean, variance = 0.0, 0.0
    for sums, size in ((over_common, few), (over_rare, many)):
        mean = sums.mean / (2 * size)
        variance += sums.squares / (2 * size) ** 2 / (sums.rows - 1) / sums.rows
    return RankContrast(mean if rare == "p" else -mean, variance, positives, negatives, exact)


def _find_marks(file: StreamedFile, column: str, rare: str, rows: int) -> FloatArray:
    """Find the distinct scores of the rarer class, ascending; if there are too many rows, those at equal steps."""
    step, n_read = -(-rows // MAX_MARKS), 0
    parts: list[FloatArray] = []
    for (scores,) in file.fetch_batches(f"SELECT {column} FROM met WHERE {rare} ORDER BY {column}"):
        parts.append(_drop_repeats(scores[-n_read % step :: step]))
        n_read += len(scores)
    return _drop_repeats(np.concatenate(parts))


def _drop_repeats(ascending: FloatArray) -> FloatArray:
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(ascending) else ascending


def _are_all_marked(file: StreamedFile, marks: Sequence[FloatArray], rare: str) -> bool:
    """Whether the marks are all scores of the rarer class."""
    n_distinct = file.fetch_rows(f"SELECT count(DISTINCT s1), count(DISTINCT s2) FROM met WHERE {rare}")[0]
    return all(len(mark_values) == count for mark_values, count in zip(marks, n_distinct, strict=True))


class _SlotRows:
    """The rows of the joined table by slots: slot 2i lies below mark i, slot 2i + 1 on it."""

    def __init__(self, file: StreamedFile, marks: Sequence[FloatArray]) -> None:
        self.file, self.marks = file, marks

    def _iter_slots(self, which: str) -> Iterator[list[IntArray]]:
        for batch in self.file.fetch_batches(f"SELECT s1, s2 FROM met WHERE {which}"):
            yield [_find_slots(marks, scores) for marks, scores in zip(self.marks, batch, strict=True)]

    def count_below(self, which: str, below: Sequence[FloatArray] = ()) -> tuple[list[FloatArray], _RunningMoments]:
        """Count twice the rows of a class below each slot (half of those in it), and sum their contrasts given `below`."""
        counts, sums = [np.zeros(2 * len(marks) + 1) for marks in self.marks], _RunningMoments()
        for slots in self._iter_slots(which):
            for count, slot in zip(counts, slots, strict=True):
                np.add.at(count, slot, 1.0)
            if below:
                sums.add(below[0][slots[0]] - below[1][slots[1]])
        return [_compute_twice_below(count) for count in counts], sums

    def sum_contrasts(self, which: str, below: Sequence[FloatArray]) -> _RunningMoments:
        """Sum the contrasts of the two placements over the rows of a class; `below` comes from the other class."""
        sums = _RunningMoments()
        for slots in self._iter_slots(which):
            sums.add(below[0][slots[0]] - below[1][slots[1]])
        return sums


class _RunningMoments:
    """Mean and sum of squared deviations of values that arrive in parts."""

    def __init__(self) -> None:
        self.rows, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, values: FloatArray) -> None:
        """Add values by Chan's formula, which avoids cancellation."""
        if not len(values):
            return
        rows, mean = self.rows + len(values), float(values.mean())
        delta = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + delta**2 * self.rows * len(values) / rows
        self.mean += delta * len(values) / rows
        self.rows = rows


def _find_slots(marks: FloatArray, scores: FloatArray) -> IntArray:
    """Find the slots of scores; sorted scores are looked up ten times faster."""
    ascending = order_scores(scores)
    scores = scores[ascending]
    mark_index = np.searchsorted(marks, scores)
    slots = np.empty(len(scores), dtype=np.intp)
    slots[ascending] = 2 * mark_index + (marks[np.minimum(mark_index, len(marks) - 1)] == scores)
    return slots


def _compute_twice_below(counts: FloatArray) -> FloatArray:
    """Count in whole numbers, which floats represent exactly: equal placements have no difference."""
    doubled = np.cumsum(counts)
    doubled *= 2
    doubled -= counts
    return doubled
