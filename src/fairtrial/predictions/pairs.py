"""Paired comparisons of models on the rows that both predict."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.auc_inference import AucContrast, compute_t_quantile
from fairtrial.measures.intervals import compute_normal_quantile
from fairtrial.predictions.statistics import (
    CONTRIBUTIONS,
    MANY_ROWS,
    MIN_EFFECTIVE_UNITS,
    JudgeSettings,
    ModelStatistics,
    PairStatistics,
    ignore_warnings,
)
from fairtrial.predictions.validate import Notes, Subject
from fairtrial.significance import adjust, mcnemar_table
from fairtrial.significance.counts import compute_mcnemar_limits, compute_score_limits, compute_tango_limits
from fairtrial.significance.delong_test import build_auc_outcome
from fairtrial.significance.outcome import Effect, Outcome

if TYPE_CHECKING:
    import pandas as pd

PAIR_COLUMNS = (
    *("dataset", "first", "second", "measure", "difference", "low", "high", "test", "p_value", "p_adjusted"),
    *("significant", "outcome", "rows", "at_minimum", "note", "simultaneous_low", "simultaneous_high"),
)
TEST_COLUMNS = (
    *("dataset", "first", "second", "test", "measure", "statistic", "p_value", "p_adjusted", "difference", "low", "high"),
    *("rows", "primary", "at_minimum", "note", "simultaneous_low", "simultaneous_high"),
)
BETTER, WORSE, SIMILAR, UNDECIDED = "better", "worse", "no significant difference", "cannot be decided"

# The smallest adjusted p-value that the permutations can yield must be at most alpha divided by this number.
_RESOLUTION = 10
_MIN_RESAMPLES = 10_000

# With fewer effective clusters than this, a permutation test over clusters replaces the t test of their sums.
_MIN_T_CLUSTERS = 10

# Measures that are proportions of the rows of one class.
_CLASS_RATES = ("recall", "specificity", "fpr", "fnr")

# Tests whose smallest p-value is determined by the number of rows or clusters.
_EXACT_TESTS = ("permutation_test", "mcnemar")


class PairTables(NamedTuple):
    """Results for all pairs of models.

    `pairs` has one row per pair, and `tests` has one row per pair and test. `obstacles` and `clusters` are keyed by row numbers
    of `pairs`. `obstacles` contains the reasons why no decision is possible, and `clusters` contains numbers of clusters.
    `unequal_datasets` lists the data sets whose models predict different rows.
    """

    pairs: pd.DataFrame
    tests: pd.DataFrame
    obstacles: dict[int, Finding]
    unequal_datasets: tuple[str, ...]
    clusters: dict[int, int]


class Decision(NamedTuple):
    """The deciding test, the interval for the difference, and the obstacle if no decision is possible."""

    outcome: Outcome | None
    effect: Effect | None
    obstacle: Finding | None = None
    contributions: float | None = None
    """Effective number of rows that contribute to the variance of the difference. None if there was no bootstrap."""


def build_pair_tables(
    models: Sequence[ModelStatistics],
    main: Measure,
    settings: JudgeSettings,
    notes: Notes,
    inverted: Collection[tuple[str, str]] = (),
) -> PairTables:
    """Compare all pairs of models on each data set, and adjust the p-values over all pairs (Holm).

    `inverted` contains the data set and name of each model whose scores seem to be inverted. No decision is made on pairs with
    such a model.
    """
    import pandas as pd

    overlap = RowOverlap(notes)
    compared: list[tuple[ModelStatistics, ModelStatistics, PairStatistics]] = []
    for first, second in combinations(models, 2):
        pair = first.pair_with(second) if first.dataset == second.dataset else None
        if pair is None:
            notes.extend([Finding.of("rows_unidentified")] if first.dataset == second.dataset else [])
        elif overlap.record(first, second, pair.distinct_rows):
            notes.extend(pair.list_limitations(main))
            compared.append((first, second, pair))
    overlap.check()
    test_rows: list[dict[str, Any]] = []
    pair_rows: list[dict[str, Any]] = []
    obstacles: dict[int, Finding] = {}
    clusters = {index: pair.units for index, (*_, pair) in enumerate(compared) if pair.units < pair.distinct_rows}
    for first, second, pair in compared:
        with ignore_warnings():
            comparison = _Comparison(first, second, pair, main, settings, len(compared))
            decision = comparison.decide()
            suspects = tuple(model.name for model in (first, second) if (model.dataset, model.name) in inverted)
            if suspects:
                decision = decision._replace(obstacle=Finding.of("inverted_pair", models=suspects))
            tests = comparison.list_tests(decision)
            wide_effects = comparison.list_simultaneous_effects(decision, tests)
        test_rows += [
            _build_test_row(first, second, outcome, measure, outcome is decision.outcome) | _name_limits(wide_effects[measure])
            for outcome, measure in tests
        ]
        if decision.obstacle is not None:
            obstacles[len(pair_rows)] = decision.obstacle
        pair_rows.append(_build_pair_row(first, second, decision, main) | _name_limits(wide_effects[main.name]))
        if decision.outcome is None and decision.obstacle is None:
            notes.add("no_test", measure=main.display_name)
        for outcome, _ in tests:
            if outcome.test == "auc_test" and any(caveat.kind == "approximate_ranks" for caveat in outcome.caveats):
                notes.add("delong_approximate", Subject("", first.dataset), marks=_get_marks(outcome))
    pairs = _adjust_pairs(pd.DataFrame(pair_rows, columns=list(PAIR_COLUMNS)), main, settings.alpha)
    tests_table = pd.DataFrame(test_rows, columns=list(TEST_COLUMNS)).astype({"primary": bool})
    tests_table = tests_table.assign(p_adjusted=_adjust_by_test(tests_table))
    return PairTables(pairs, tests_table, obstacles, tuple(overlap.unequal_datasets), clusters)


def compare_models(
    first: ModelStatistics, second: ModelStatistics, pair: PairStatistics, measure: Measure, settings: JudgeSettings
) -> Decision:
    """Compare two models by one measure, for a decision at a margin.

    Tango's limits are used for proportions of independent rows, such as accuracy. Their coverage is close to nominal for any
    true difference.
    """
    with ignore_warnings():
        return _Comparison(first, second, pair, measure, settings, 1, at_margin=True).decide()


def _get_marks(outcome: Outcome) -> int:
    return next(int(caveat["marks"]) for caveat in outcome.caveats if caveat.kind == "approximate_ranks")


class RowOverlap:
    """Record of the rows that pairs of models have in common.

    A note is added if two models share only some rows or none. An error is raised if no two models on a data set share any
    rows.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._n_common: dict[str, list[int]] = {}
        self._disjoint: dict[str, tuple[str, str]] = {}
        self.unequal_datasets: list[str] = []
        """Data sets whose models predict different rows."""

    def record(self, first: ModelStatistics, second: ModelStatistics, n_common: int) -> bool:
        """Record a pair of models, and return whether the models can be compared."""
        dataset = first.dataset
        self._n_common.setdefault(dataset, []).append(n_common)
        if n_common == first.distinct_rows == second.distinct_rows:
            return True
        if dataset not in self.unequal_datasets:
            self.unequal_datasets.append(dataset)
        names: dict[str, Any] = {"subject": Subject("", dataset), "first": first.name, "second": second.name}
        if not n_common:
            self._disjoint.setdefault(dataset, (first.name, second.name))
            self._notes.add("disjoint_rows", **names)
            return False
        names |= {"first_rows": first.distinct_rows, "second_rows": second.distinct_rows}
        self._notes.add("partial_overlap", **names, common=n_common)
        return True

    def check(self) -> None:
        """Check that at least one pair of models on each data set has rows in common."""
        for dataset, (first, second) in self._disjoint.items():
            if not any(self._n_common[dataset]):
                raise InputError(
                    f"models must predict the same rows to be compared, got none in common for {first!r} and {second!r} on "
                    f"{dataset!r}: check the row ids"
                )


class _Comparison:
    """Comparison of two models by a deciding test and by further tests that readers may expect.

    Accuracies are compared by the exact McNemar test or, for clustered rows, by a t test of the clusters. AUCs are compared by
    the adjusted DeLong test. A permutation test is used for other measures, for weighted rows and, for accuracy, if there are
    few clusters. A z test with a bootstrap standard error replaces the permutation test if there are very many rows and many
    effective rows of each class. Otherwise, the bootstrap is used only for the interval.
    """

    def __init__(
        self,
        first: ModelStatistics,
        second: ModelStatistics,
        pair: PairStatistics,
        main: Measure,
        settings: JudgeSettings,
        pairs: int,
        at_margin: bool = False,
    ) -> None:
        self.at_margin = at_margin
        self.first, self.second, self.pair, self.main, self.settings, self.pairs = first, second, pair, main, settings, pairs
        self._lacks_input = bool(first.find_missing_input(main) or second.find_missing_input(main))

    @cached_property
    def labels(self) -> FloatArray | None:
        """Counts of rows by true class and both predicted classes.

        The value is None if there are no predicted labels or if rows have weights.
        """
        return None if self.pair.is_weighted else self.pair.count_labels()

    @cached_property
    def contrast(self) -> AucContrast | None:
        """The comparison of the two AUCs.

        The value is None if there are no scores for a positive class or if rows have weights.
        """
        return None if self.pair.is_weighted else self.pair.contrast_ranks()

    def decide(self) -> Decision:
        """Run the deciding test. If the data do not allow a decision, add the reason."""
        if self._lacks_input:
            return Decision(None, None)
        if self.main.name in ("accuracy", "error_rate") and self.labels is not None:
            outcome = self._test_labels(self.labels, self.main)
            return self._check_resolution(self._make_consistent(outcome, outcome.effect))
        if self.at_margin and self.main.name in _CLASS_RATES and self.labels is not None and not self._is_clustered:
            counts = self._count_class_rates(self.labels)
            if counts is not None:
                return self._check_resolution(self._compare_rates(*counts))
        if self.main.name in ("auc", "gini") and self.contrast is not None:
            outcome = self._test_ranks(self.contrast, 2.0 if self.main.name == "gini" else 1.0)
            obstacle = next((caveat for caveat in outcome.caveats if caveat.kind in ("few_cases", "few_case_clusters")), None)
            return Decision(outcome, outcome.effect, obstacle)
        resampled = self.pair.resample_difference(self.main, self.settings)
        permuted = self._permute(self.main)
        effect = resampled.effect if resampled is not None else None
        deciding, obstacle = permuted, None
        # With fewer rows, the bootstrap is used only for the interval.
        if permuted is None and resampled is not None and self.pair.rows > MANY_ROWS:
            fewest = min(self.pair.effective_units)
            if fewest >= MIN_EFFECTIVE_UNITS:
                deciding = resampled
            else:
                obstacle = Finding.of("few_effective_rows", effective=fewest, needed=MIN_EFFECTIVE_UNITS)
                effect = None if effect is None else replace(effect, low=math.nan, high=math.nan)
        if deciding is None:
            return Decision(None, effect, obstacle)
        contributions = None if resampled is None else resampled.details.get(CONTRIBUTIONS)
        return self._check_resolution(self._make_consistent(deciding, effect))._replace(contributions=contributions)

    def list_tests(self, decision: Decision) -> list[tuple[Outcome, str]]:
        """List the deciding test and the tests of accuracy and AUC, each with the name of its measure."""
        tests = [] if decision.outcome is None else [(decision.outcome, self.main.name)]
        if self.labels is not None and self.main.name not in ("accuracy", "error_rate"):
            tests.append((self._test_labels(self.labels, get_measure("accuracy")), "accuracy"))
        if self.contrast is not None and self.main.name not in ("auc", "gini"):
            tests.append((self._test_ranks(self.contrast), "auc"))
        return tests

    def list_simultaneous_effects(self, decision: Decision, tests: Sequence[tuple[Outcome, str]]) -> dict[str, Effect | None]:
        """Return the effect for each measure with simultaneous limits over all pairs (Bonferroni).

        Only the limits of McNemar and DeLong tests are recomputed. For other limits, the distances from the estimate are
        multiplied by a ratio of normal quantiles.
        """
        effects = {measure: outcome.effect for outcome, measure in tests} | {self.main.name: decision.effect}
        if self.pairs == 1:
            return effects
        level, alpha = (1 - (1 - self.settings.level) / self.pairs, self.settings.alpha / self.pairs)
        wide = copy(self)  # reuses the counts and the contrast if already computed
        wide.settings = replace(self.settings, level=level, alpha=alpha)
        ratio = compute_normal_quantile(level) / compute_normal_quantile(self.settings.level)
        simultaneous: dict[str, Effect | None] = {}
        outcomes = {measure: outcome for outcome, measure in tests}
        for measure, effect in effects.items():
            outcome = outcomes.get(measure)
            if effect is None or outcome is None:
                simultaneous[measure] = None if effect is None else _stretch(effect, ratio, level)
            elif outcome.test == "mcnemar" and self.labels is not None:
                labels_effect = wide._test_labels(self.labels, get_measure(measure)).effect
                simultaneous[measure] = wide._make_consistent(outcome, labels_effect).effect
            elif outcome.test == "auc_test" and self.contrast is not None:
                simultaneous[measure] = wide._test_ranks(self.contrast, 2.0 if measure == "gini" else 1.0).effect
            else:
                simultaneous[measure] = wide._make_consistent(outcome, _stretch(effect, ratio, level)).effect
        return simultaneous

    def _permute(self, measure: Measure) -> Outcome | None:
        """Run the permutation test.

        The number of permutations suffices for a significant result after adjustment over all pairs.
        """
        fewest = math.ceil(_RESOLUTION * self.pairs / self.settings.alpha)
        resamples = max(_MIN_RESAMPLES, self.settings.resamples, fewest)
        return self.pair.permute_difference(measure, self.settings, resamples, fewest)

    @property
    def _is_clustered(self) -> bool:
        return self.pair.units < self.pair.rows

    def _check_resolution(self, decision: Decision) -> Decision:
        """Add an obstacle if there are so few rows or clusters that no result could be significant."""
        outcome, units = decision.outcome, self.pair.units
        if outcome is None or outcome.test not in _EXACT_TESTS or outcome.variant == "clustered":
            return decision
        smallest = min(1.0, 2.0 ** (1 - units)) if units < 60 else 0.0
        if smallest * self.pairs <= self.settings.alpha:
            return decision
        kind = "few_clusters_to_decide" if self._is_clustered else "few_rows_to_decide"
        return decision._replace(obstacle=Finding.of(kind, units=units, smallest=min(1.0, smallest * self.pairs)))

    def _test_labels(self, cells: FloatArray, measure: Measure) -> Outcome:
        """Compare accuracies or error rates, given counts by true class and both predicted classes.

        For independent rows, the test is the exact McNemar test. For clustered rows, it is a t test over the clusters or, if
        there are few clusters, a permutation test.
        """
        if self._is_clustered:
            outcome = self.pair.compare_clustered_accuracies(self.settings.level)
            effect = outcome.effect
            if self.at_margin and effect is not None:
                effect = self._widen_clustered(cells, effect, outcome)
            if self.pair.effective_units[0] < _MIN_T_CLUSTERS - 1e-9 or math.isnan(outcome.p_value):
                outcome = self._permute(measure) or outcome
            outcome = replace(outcome, n=self.pair.distinct_rows)
        else:
            b, c, rows = self._count_discordant(cells)
            k = np.arange(len(cells))
            both = int(cells[k, k, k].sum())
            outcome = mcnemar_table(b, c, method="exact", level=self.settings.level)
            limits = (
                compute_tango_limits(b, c, rows, self.settings.level)
                if self.at_margin
                else compute_mcnemar_limits(both, b, c, rows - both - b - c, self.settings.level, "exact")
            )
            effect = Effect("difference in accuracy", (b - c) / rows, *limits, self.settings.level)
            outcome = replace(outcome, n=rows)
        if measure.name == "error_rate" and effect is not None:
            effect = replace(
                effect, name="difference in error rate", estimate=-effect.estimate, low=-effect.high, high=-effect.low
            )
        return replace(outcome, effect=effect)

    def _widen_clustered(self, cells: FloatArray, effect: Effect, outcome: Outcome) -> Effect:
        """Widen t limits so that they include score limits for the effective number of rows.

        With few discordant rows, t limits are too narrow. The number of rows is divided by the design effect, i.e. the
        variance with clusters over the variance for independent rows. Design effects below 1 are set to 1.
        """
        df = float(outcome.df) if isinstance(outcome.df, (int, float)) else math.inf
        quantile = compute_t_quantile(self.settings.level, df)
        b, c, rows = self._count_discordant(cells)
        difference = (b - c) / rows
        independent = ((b + c) / rows - difference**2) / rows
        error = (effect.high - effect.low) / 2 / quantile
        inflation = (
            max(1.0, error**2 / independent) if independent > 0 and math.isfinite(error) else self.pair.rows / self.pair.units
        )
        low, high = compute_score_limits(b / inflation, c / inflation, rows / inflation, quantile)
        return replace(effect, low=np.fmin(effect.low, low), high=np.fmax(effect.high, high))

    @staticmethod
    def _count_discordant(cells: FloatArray) -> tuple[int, int, int]:
        """Count the rows on which only the first or only the second model is right, and all rows."""
        k = np.arange(len(cells))
        both = int(cells[k, k, k].sum())
        b, c = (int(cells.sum(axis=axis)[k, k].sum()) - both for axis in (2, 1))
        return b, c, int(cells.sum())

    def _count_class_rates(self, cells: FloatArray) -> tuple[int, int, int] | None:
        """Count the same rows as `_count_discordant`, but only in the class to which the rate refers.

        Return None if there is no positive class, or if there are more than two classes.
        """
        positive = self.first.positive
        if positive is None or len(self.first.classes) != 2:
            return None
        code = positive if self.main.name in ("recall", "fnr") else 1 - positive
        table = cells[code]
        both = table[code, code]
        return int(table[code].sum() - both), int(table[:, code].sum() - both), int(table.sum())

    def _compare_rates(self, b: int, c: int, rows: int) -> Decision:
        """Compare two rates by the exact McNemar test. For error rates, the sign of the difference is reversed."""
        outcome = mcnemar_table(b, c, method="exact", level=self.settings.level)
        low, high = compute_tango_limits(b, c, rows, self.settings.level)
        estimate = (b - c) / rows
        if self.main.facts.direction == "min":
            estimate, low, high = -estimate, -high, -low
        effect = Effect(f"difference in {self.main.name}", estimate, low, high, self.settings.level)
        return Decision(replace(outcome, n=self.pair.distinct_rows, effect=effect), effect)

    def _test_ranks(self, contrast: AucContrast, scale: float = 1.0) -> Outcome:
        name = "Gini coefficient" if scale != 1 else "AUC"
        outcome = replace(build_auc_outcome(contrast, self.settings.level, scale, name), n=self.pair.distinct_rows)
        if outcome.effect is None or not self._is_clustered or self.pair.units > 1:
            return outcome
        # The variation between clusters cannot be estimated from a single cluster.
        return replace(outcome, effect=replace(outcome.effect, low=math.nan, high=math.nan))

    def _make_consistent(self, outcome: Outcome, effect: Effect | None) -> Decision:
        """Replace an interval that contradicts the p-value with the test-based interval (Miettinen 1976).

        The limits are truncated to the range of possible differences. Infinite limits become NaN.
        """
        alpha = self.settings.alpha
        if effect is None or not np.isfinite([effect.low, effect.high, outcome.p_value]).all():
            return Decision(replace(outcome, effect=effect), effect)
        excludes_zero = effect.low > 0 or effect.high < 0
        if self.at_margin and not excludes_zero:
            # A permutation test can reject the hypothesis of equal distributions even if the measures of both models are equal
            # in the population. Therefore, it must not narrow the limits.
            return Decision(replace(outcome, effect=effect), effect)
        if not math.isclose(1 - effect.level, alpha) or excludes_zero == (outcome.p_value <= alpha) or effect.estimate == 0:
            return Decision(replace(outcome, effect=effect), effect)
        z = compute_normal_quantile(1 - outcome.p_value)
        half = math.inf if z == 0 else abs(effect.estimate) * compute_normal_quantile(effect.level) / z
        lowest, highest = self.main.facts.range
        limits = np.clip([effect.estimate - half, effect.estimate + half], lowest - highest, highest - lowest)
        low, high = np.where(np.isinf(limits), math.nan, limits).tolist()
        if self.at_margin:
            low, high = min(low, effect.low), max(high, effect.high)
        effect = replace(effect, low=low, high=high, note="test-based")
        return Decision(replace(outcome, effect=effect), effect)


def _stretch(effect: Effect, ratio: float, level: float) -> Effect:
    """Multiply the distances of the limits from the estimate by a ratio."""
    low, high = (effect.estimate + ratio * (limit - effect.estimate) for limit in (effect.low, effect.high))
    return replace(effect, low=low, high=high, level=level)


def _name_limits(effect: Effect | None) -> dict[str, float]:
    low, high = (math.nan, math.nan) if effect is None else (effect.low, effect.high)
    return {"simultaneous_low": low, "simultaneous_high": high}


def _limit_p_value(outcome: Outcome) -> float:
    """Return the p-value, or the smallest positive normal number if the p-value is smaller."""
    return max(outcome.p_value, sys.float_info.min) if not math.isnan(outcome.p_value) else math.nan


def _build_test_row(
    first: ModelStatistics, second: ModelStatistics, outcome: Outcome, measure: str, decides: bool
) -> dict[str, Any]:
    effect, nan = outcome.effect, float("nan")
    return {
        "dataset": first.dataset,
        "first": first.name,
        "second": second.name,
        "test": outcome.test,
        "measure": measure,
        "statistic": outcome.statistic,
        "p_value": _limit_p_value(outcome),
        "p_adjusted": nan,
        "difference": effect.estimate if effect else outcome.statistic,
        "low": effect.low if effect else nan,
        "high": effect.high if effect else nan,
        "rows": outcome.n,
        "primary": decides,
        "at_minimum": _is_p_at_minimum(outcome),
        "note": _format_note(outcome.variant, outcome.caveats),
    }


def _build_pair_row(first: ModelStatistics, second: ModelStatistics, decision: Decision, main: Measure) -> dict[str, Any]:
    outcome, effect, nan = decision.outcome, decision.effect, float("nan")
    estimate = effect.estimate if effect else outcome.statistic if outcome else nan
    caveats = [] if outcome is None else [caveat for caveat in outcome.caveats if caveat != decision.obstacle]
    obstacles = [] if decision.obstacle is None else [decision.obstacle]
    return {
        "dataset": first.dataset,
        "first": first.name,
        "second": second.name,
        "measure": main.name,
        "difference": estimate,
        "low": effect.low if effect else nan,
        "high": effect.high if effect else nan,
        "test": outcome.test if outcome else "",
        "p_value": _limit_p_value(outcome) if outcome else nan,
        "p_adjusted": nan,
        "significant": False,
        "outcome": UNDECIDED if decision.obstacle is not None or outcome is None else "",
        "rows": outcome.n if outcome else 0,
        "at_minimum": outcome is not None and _is_p_at_minimum(outcome),
        "note": _format_note(outcome.variant if outcome else "", [*obstacles, *caveats]),
    }


def _adjust_pairs(pairs: pd.DataFrame, main: Measure, alpha: float) -> pd.DataFrame:
    """Adjust the p-values over all pairs, and decide on each pair for which a decision is possible."""
    p_adjusted = np.full(len(pairs), np.nan)
    is_defined = pairs["p_value"].notna().to_numpy()
    if is_defined.any():
        p_adjusted[is_defined] = adjust(pairs["p_value"].to_numpy(dtype=float)[is_defined], "holm")
    is_open = (pairs["outcome"] == "").to_numpy() & is_defined
    significant = is_open & (p_adjusted <= alpha)
    is_first_better = (pairs["difference"] > 0).to_numpy() != (main.facts.direction == "min")
    outcomes = np.where(is_open, np.where(significant, np.where(is_first_better, BETTER, WORSE), SIMILAR), UNDECIDED)
    return pairs.assign(p_adjusted=p_adjusted, significant=significant, outcome=outcomes.astype(object))


def _format_note(variant: str, caveats: Iterable[Finding]) -> str:
    """Format the variant of a test and its caveats."""
    texts = render_all([caveat for caveat in caveats if caveat.kind != "fixed_training_set"], "model")
    return " ".join([f"{variant}." if variant else "", *texts]).strip() if texts else variant


def _is_p_at_minimum(outcome: Outcome) -> bool:
    """Return whether the p-value is the smallest that the permutations can yield. The exact p-value may be smaller."""
    if outcome.resamples is None or outcome.test != "permutation_test" or np.isnan(outcome.p_value):
        return False
    return outcome.p_value * (1 + outcome.resamples) <= 1 + 1e-9


def _adjust_by_test(tests: pd.DataFrame) -> FloatArray:
    """Adjust the p-values of each test and measure over all pairs."""
    p_adjusted = np.full(len(tests), np.nan)
    is_defined = tests["p_value"].notna().to_numpy()
    for _, part in tests[is_defined].groupby(["test", "measure"], sort=False):
        p_adjusted[tests.index.get_indexer(part.index)] = adjust(part["p_value"].to_numpy(dtype=float), "holm")
    return p_adjusted
