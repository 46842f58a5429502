"""Paired tests between models that predicted the same rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import FloatArray
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.intervals import Bound
from fairtrial.measures.resampling import Resamples, percentile_limits
from fairtrial.measures.rows import Drawn
from fairtrial.significance import adjust, bootstrap_difference, delong, mcnemar, permutation_test
from fairtrial.significance.outcome import Effect, Outcome
from fairtrial.study.predictions.judged_plan import MANY_ROWS, Plan, quiet
from fairtrial.study.predictions.judged_rows import JudgedModel
from fairtrial.study.predictions.judged_strays import for_strays
from fairtrial.study.predictions.prediction_checks import Notes

if TYPE_CHECKING:
    import pandas as pd

PAIR_COLUMNS = (
    *("dataset", "first", "second", "test", "measure", "statistic", "p_value", "adjusted", "difference", "low", "high"),
    *("rows", "decides", "floor", "note"),
)
UNWEIGHTED = "each row counts once: this test takes no weights"
_FEW = 2


def pair_table(models: Sequence[JudgedModel], main: Measure, plan: Plan, notes: Notes) -> pd.DataFrame:
    """A line for each pair of models of a data set and each test, p adjusted by Holm's procedure over the pairs of a test."""
    import pandas as pd

    lines: list[dict[str, Any]] = []
    met = Meetings(notes)
    for first, second in combinations(models, 2):
        both, own, other = np.intersect1d(first.places, second.places, return_indices=True)
        if met.tell(first.dataset, (first.name, second.name), (len(first.places), len(second.places)), len(both)):
            shared = first.part(own), second.part(other)
            lines += [_line(first, second, *each) for each in _tests(*shared, main, plan, notes)]
    met.check()
    table = pd.DataFrame(lines, columns=list(PAIR_COLUMNS))
    return table.assign(adjusted=adjusted(table))


class Meetings:
    """Which pairs of models have rows in common: told where they are not all of them, refused where no pair has any."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._common: dict[str, list[int]] = {}
        self._none: dict[str, tuple[str, str]] = {}
        self.apart: list[str] = []
        """Data sets whose models predict different rows."""

    def tell(self, dataset: str, names: tuple[str, str], rows: tuple[int, int], both: int) -> bool:
        """Whether two models can be compared."""
        self._common.setdefault(dataset, []).append(both)
        if both == rows[0] == rows[1]:
            return True
        if dataset not in self.apart:
            self.apart.append(dataset)
        if not both:
            self._none.setdefault(dataset, names)
            self._notes.tell(f"{names[0]} and {names[1]} predict no row of {dataset!r} in common: they are not compared.")
            return False
        self._notes.tell(
            f"{names[0]} and {names[1]} predict different rows of {dataset!r} ({rows[0]:,} and {rows[1]:,}): paired tests use "
            f"the {both:,} that both predict."
        )
        return True

    def check(self) -> None:
        """At least one pair of each data set has rows in common."""
        for dataset, (first, second) in self._none.items():
            if not any(self._common[dataset]):
                raise InputError(
                    f"models must predict the same rows to be compared, got none in common for {first!r} and {second!r} on "
                    f"{dataset!r}: check the row ids"
                )


def adjusted(table: pd.DataFrame) -> FloatArray:
    """p values adjusted over the pairs of each data set and test."""
    found = np.full(len(table), np.nan)
    known = table["p_value"].notna().to_numpy()
    for _, part in table[known].groupby(["dataset", "test"], sort=False):
        found[table.index.get_indexer(part.index)] = adjust(part["p_value"].to_numpy(dtype=float), "holm")
    return found


def _tests(first: JudgedModel, second: JudgedModel, main: Measure, plan: Plan, notes: Notes) -> list[tuple[Outcome, str, bool]]:
    """Outcome, measure, and whether it is the test that decides about the main measure."""
    found: list[tuple[Outcome, str, bool]] = []
    plain = first.weights is None
    of_ranks = main.name in ("auc", "gini") and first.positive is not None and plain
    of_labels = main.name in ("accuracy", "error_rate") and plain
    with quiet():
        if first.predicted is not None and second.predicted is not None:
            test = mcnemar(first.true, first.predicted, second.predicted, level=plan.level)
            found.append((test, "accuracy", of_labels))
        ranked = _delong(first, second, plan, notes)
        if ranked is not None:
            found.append((ranked, "auc", of_ranks))
        if first.has(main) and second.has(main):
            settled = any(decides for *_, decides in found)
            if not settled or len(first.true) <= MANY_ROWS:
                found.append((_bootstrap(first, second, main, plan), main.name, not settled))
            if len(first.true) <= MANY_ROWS:
                found.append((_permutation(first, second, main, plan), main.name, False))
            else:
                notes.tell(f"Beyond {MANY_ROWS:,} rows the permutation test is left out: it would tell nothing new.")
    return found


def _delong(first: JudgedModel, second: JudgedModel, plan: Plan, notes: Notes) -> Outcome | None:
    if first.scores is None or second.scores is None or first.positive is None:
        return None
    truth = (first.true == first.positive).astype(np.intp)
    if not enough_for_delong(first.dataset, int(truth.sum()), int((1 - truth).sum()), notes):
        return None
    scores = [np.ascontiguousarray(each.scores[:, first.positive]) for each in (first, second) if each.scores is not None]
    return delong(truth, scores[0], scores[1], positive=1, level=plan.level)


def enough_for_delong(dataset: str, positives: int, negatives: int, notes: Notes) -> bool:
    """Whether both classes have rows enough; told where they have not."""
    if min(positives, negatives) < _FEW:
        notes.tell(f"DeLong's test is left out on {dataset!r}: it needs at least 2 rows of each class.")
        return False
    return True


def _bootstrap(first: JudgedModel, second: JudgedModel, main: Measure, plan: Plan) -> Outcome:
    if first.weights is not None:
        return weighted_difference(first, second, main, plan)
    many = len(first.true) > MANY_ROWS
    known, options = _known(first, second, main)
    return bootstrap_difference(
        known,
        first.true,
        first.needed(main),
        second.needed(main),
        method="percentile" if many else "bca",
        level=plan.level,
        resamples=plan.resamples_of(len(first.true)),
        seed=plan.seed,
        **options,
    )


def _known(first: JudgedModel, second: JudgedModel, main: Measure) -> tuple[Measure, dict[str, Any]]:
    """The measure and its options, which know of labels that are none of the classes where one of the two has them."""
    strays = main.facts.needs == "labels" and (first.strays or second.strays)
    return (for_strays(main) if strays else main), first.options(strays)


def _permutation(first: JudgedModel, second: JudgedModel, main: Measure, plan: Plan) -> Outcome:
    known, options = _known(first, second, main)
    return permutation_test(
        first.true,
        first.needed(main),
        second.needed(main),
        known,
        resamples=plan.resamples,
        seed=plan.seed,
        level=plan.level,
        **options,
    )


def weighted_difference(first: JudgedModel, second: JudgedModel, main: Measure, plan: Plan) -> Outcome:
    """The bootstrap of a difference where rows have weights: percentile limits, and p as the level at which they touch zero."""
    known, own = _known(first, second, main)
    options = {**own, "sample_weight": first.weights}
    bound = [Bound(known, known.rows(each.true, each.needed(main), **options), {"average": "auto"}) for each in (first, second)]

    def compute(drawn: Drawn) -> FloatArray:
        return np.asarray(bound[0].drawn(drawn) - bound[1].drawn(drawn))[:, None]

    estimates = [one.estimate() for one in bound]
    estimate = estimates[0] - estimates[1]
    resamples = plan.resamples_of(len(first.true))
    values = Resamples(len(bound[0].rows.true), resamples, plan.seed).values(compute)[:, 0]
    values = values[~np.isnan(values)]
    low, high = percentile_limits(values, plan.level) if len(values) else (float("nan"), float("nan"))
    return Outcome(
        "bootstrap_difference",
        estimate,
        touching_zero(values),
        n=len(first.true),
        variant=f"percentile, {resamples} resamples, weighted",
        effect=Effect(f"difference in {main.name}", estimate, low, high, plan.level),
    )


def touching_zero(values: FloatArray) -> float:
    """p as the level at which percentile limits touch zero."""
    if not len(values):
        return float("nan")
    tail = min(int((values <= 0).sum()), int((values >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (len(values) + 1))


def at_floor(outcome: Outcome) -> bool:
    """Whether p is the smallest that the resamples can give, so that it may be smaller."""
    drawn = re.search(r"(\d+) resamples", outcome.variant)
    if drawn is None or np.isnan(outcome.p_value):
        return False
    if outcome.test == "permutation_test":
        return outcome.p_value * (1 + int(drawn[1])) <= 1 + 1e-9
    undefined = next((found for each in outcome.caveats if (found := re.search(r"undefined in (\d+) of", each))), None)
    left = int(drawn[1]) - (0 if undefined is None else int(undefined[1]))
    return outcome.p_value * (1 + left) <= 2 + 1e-9


def _line(first: JudgedModel, second: JudgedModel, outcome: Outcome, measure: str, decides: bool) -> dict[str, Any]:
    effect = outcome.effect
    nan = float("nan")
    limits = None if outcome.test == "permutation_test" else effect  # its interval would be another test's
    told = [each for each in outcome.caveats if not each.startswith("it covers")]
    if first.weights is not None and outcome.test != "bootstrap_difference":
        told.append(UNWEIGHTED)
    return {
        "dataset": first.dataset,
        "first": first.name,
        "second": second.name,
        "test": outcome.test,
        "measure": measure,
        "statistic": outcome.statistic,
        "p_value": outcome.p_value,
        "adjusted": nan,
        "difference": effect.estimate if effect else nan,
        "low": limits.low if limits else nan,
        "high": limits.high if limits else nan,
        "rows": outcome.n,
        "decides": decides,
        "floor": at_floor(outcome),
        "note": "; ".join([outcome.variant, *told]),
    }
