"""Paired tests of models that predict the same rows, from the statistics of each pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._narrative import render_all
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.intervals import compute_normal_quantile
from fairtrial.predictions.statistics import JudgeSettings, ModelStatistics, PairStatistics, RankContrast, ignore_warnings
from fairtrial.predictions.validate import Notes, Subject
from fairtrial.significance import adjust, mcnemar_table
from fairtrial.significance.counts import compute_paired_newcombe_limits
from fairtrial.significance.outcome import Effect, Outcome

if TYPE_CHECKING:
    import pandas as pd

PAIR_COLUMNS = (
    *("dataset", "first", "second", "test", "measure", "statistic", "p_value", "p_adjusted", "difference", "low", "high"),
    *("rows", "primary", "at_minimum", "note"),
)

_UNWEIGHTED = Finding.of("unweighted_test")
_MIN_DELONG_ROWS = 2


class PairTable(NamedTuple):
    """One row per pair of models and test, and the data sets whose models predict different rows."""

    frame: pd.DataFrame
    unequal_datasets: tuple[str, ...]


def build_pair_table(models: Sequence[ModelStatistics], main: Measure, settings: JudgeSettings, notes: Notes) -> PairTable:
    """Compare all pairs of models of each data set; Holm's procedure adjusts p over the pairs of a test."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    overlap = RowOverlap(notes)
    for first, second in combinations(models, 2):
        if first.dataset != second.dataset:
            continue
        pair = first.pair_with(second)
        if pair is None:
            notes.add("rows_unidentified")
        elif overlap.record(first, second, pair.rows):
            notes.extend(pair.list_limitations(main))
            with ignore_warnings():
                lines += [
                    _build_pair_row(first, second, *result) for result in _run_tests(first, second, pair, main, settings, notes)
                ]
    overlap.check()
    table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS)).astype({"primary": bool})
    if len(table) and not table["primary"].any():
        notes.add("no_test", measure=main.display_name)
    return PairTable(table.assign(p_adjusted=_adjust_p_values(table)), tuple(overlap.unequal_datasets))


class RowOverlap:
    """Records which models share rows. Notes pairs that share only some rows, and rejects data sets in which no pair shares
    rows."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._n_common: dict[str, list[int]] = {}
        self._disjoint: dict[str, tuple[str, str]] = {}
        self.unequal_datasets: list[str] = []
        """Data sets whose models predict different rows."""

    def record(self, first: ModelStatistics, second: ModelStatistics, n_common: int) -> bool:
        """Record a pair of models; return whether it can be compared."""
        dataset = first.dataset
        self._n_common.setdefault(dataset, []).append(n_common)
        if n_common == first.rows == second.rows:
            return True
        if dataset not in self.unequal_datasets:
            self.unequal_datasets.append(dataset)
        names: dict[str, Any] = {"subject": Subject("", dataset), "first": first.name, "second": second.name}
        if not n_common:
            self._disjoint.setdefault(dataset, (first.name, second.name))
            self._notes.add("disjoint_rows", **names)
            return False
        self._notes.add("partial_overlap", **names, first_rows=first.rows, second_rows=second.rows, common=n_common)
        return True

    def check(self) -> None:
        """Check that at least one pair of each data set has rows in common."""
        for dataset, (first, second) in self._disjoint.items():
            if not any(self._n_common[dataset]):
                raise InputError(
                    f"models must predict the same rows to be compared, got none in common for {first!r} and {second!r} on "
                    f"{dataset!r}: check the row ids"
                )


def _run_tests(
    first: ModelStatistics,
    second: ModelStatistics,
    pair: PairStatistics,
    main: Measure,
    settings: JudgeSettings,
    notes: Notes,
) -> Iterator[tuple[Outcome, str, bool]]:
    """Run all tests; yield outcome, measure, and whether the test is the primary one of the main measure."""
    is_decided, unweighted = False, not first.is_weighted
    labels = pair.count_labels()
    if labels is not None:
        is_decided = main.name in ("accuracy", "error_rate") and unweighted
        yield _test_labels(labels, settings.level), "accuracy", is_decided
    contrast = pair.contrast_ranks()
    if contrast is not None and _has_enough_rows(contrast, first.dataset, notes):
        decides = main.name in ("auc", "gini") and unweighted
        is_decided = is_decided or decides
        yield _test_ranks(contrast, settings.level), "auc", decides
    if not first.find_missing_input(main) and not second.find_missing_input(main):
        bootstrap = pair.resample_difference(main, settings, is_decided)
        if bootstrap is not None:
            yield bootstrap, main.name, not is_decided
        permutation = pair.permute_difference(main, settings)
        if permutation is not None:
            yield permutation, main.name, False


def _test_labels(cells: FloatArray, level: float) -> Outcome:
    """Run McNemar's test on counts by true class and both predicted classes."""
    k = np.arange(len(cells))
    rows, both = int(cells.sum()), int(cells[k, k, k].sum())
    b, c = (int(cells.sum(axis=axis)[k, k].sum()) - both for axis in (2, 1))
    test = mcnemar_table(b, c, level=level)
    limits = compute_paired_newcombe_limits(both, b, c, rows - both - b - c, level)
    effect = Effect("difference in accuracy", (b - c) / rows, *limits, level)
    return Outcome("mcnemar", test.statistic, test.p_value, n=rows, variant=test.variant, effect=effect, caveats=test.caveats)


def _has_enough_rows(contrast: RankContrast, dataset: str, notes: Notes) -> bool:
    """Return whether both classes have enough rows for DeLong's test. Add a note if they do not, or if ranks are
    approximate."""
    if min(contrast.positives, contrast.negatives) < _MIN_DELONG_ROWS:
        notes.add("delong_omitted", Subject("", dataset), needed=_MIN_DELONG_ROWS)
        return False
    if contrast.marks:
        notes.add("delong_approximate", Subject("", dataset), marks=contrast.marks)
    return True


def _test_ranks(contrast: RankContrast, level: float) -> Outcome:
    """Run DeLong's test on a contrast of two AUCs."""
    from scipy.special import ndtr

    estimate, error = contrast.estimate, contrast.error
    statistic = 0.0 if estimate == 0 else estimate / error if error else math.nan
    half = compute_normal_quantile(level) * error
    caveats = [Finding.of("same_ranking")] if estimate == 0 and error == 0 else []
    if contrast.marks:
        caveats.append(Finding.of("approximate_ranks", marks=contrast.marks))
    return Outcome(
        "delong",
        statistic,
        float(2 * ndtr(-abs(statistic))),
        n=contrast.positives + contrast.negatives,
        variant="z",
        effect=Effect("difference in AUC", estimate, max(-1.0, estimate - half), min(1.0, estimate + half), level),
        caveats=tuple(caveats),
    )


def _build_pair_row(
    first: ModelStatistics, second: ModelStatistics, outcome: Outcome, measure: str, decides: bool
) -> dict[str, Any]:
    effect = outcome.effect
    nan = float("nan")
    limits = None if outcome.test == "permutation_test" else effect  # its interval would come from a different test
    caveats = [caveat for caveat in outcome.caveats if caveat.kind != "fixed_training_set"]
    if first.is_weighted and outcome.test != "bootstrap_difference":
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
        "note": _format_note(outcome.variant, caveats),
    }


def _format_note(variant: str, caveats: Iterable[Finding]) -> str:
    """Format the variant of a test and its caveats."""
    texts = render_all(caveats, "model")
    return " ".join([f"{variant}." if variant else "", *texts]).strip() if texts else variant


def _is_p_at_minimum(outcome: Outcome) -> bool:
    """Return whether p is the smallest value that the resamples can give; the true p may be even smaller."""
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
