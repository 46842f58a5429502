"""The judge of files that are larger than memory: everything is counted by DuckDB, no row is held.

Measures of labels come from confusion counts, those of scores from one tally at a time, those of probabilities from sums.
Intervals are those that counts allow: Wilson's, DeLong's, normal ones of means, and a bootstrap that redraws counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import Measure, auc, get_measure
from fairtrial.measures.closed_intervals import wilson
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.tally import ScoreTally
from fairtrial.study.predictions.counted_intervals import BINS, binned, of_mean, of_table, of_tally
from fairtrial.study.predictions.judged_checks import methodology
from fairtrial.study.predictions.judged_curves import MOST_POINTS, gathered
from fairtrial.study.predictions.judged_order import tell_scores
from fairtrial.study.predictions.judged_plan import Plan, quiet
from fairtrial.study.predictions.judged_tables import (
    CALIBRATION_COLUMNS,
    CLASS_COLUMNS,
    GROUP_COLUMNS,
    SCORE_COLUMNS,
    class_lines,
    facts_of,
    small_note,
)
from fairtrial.study.predictions.judged_words import verdict_words
from fairtrial.study.predictions.large_file import LargeFile, name, quoted, too_long as too_long
from fairtrial.study.predictions.large_models import LargeModel, LargeModels
from fairtrial.study.predictions.large_pairs import large_pair_table
from fairtrial.study.predictions.prediction_checks import Notes

if TYPE_CHECKING:
    from fairtrial.study.predictions.judgement import Judgement

_LABELS = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")
_SCORES = ("auc", "ks", "h_measure")
_SUMS = ("brier", "log_loss")
_MOST_SUBGROUPS = 50


def judge_large(paths: list[Path], plan: Plan, measures: Any, positive: object, roles: dict[str, Any]) -> Judgement:
    """The judgement on files whose rows are never held; called by `fairtrial.study.predictions.judgement.judge`."""
    notes = Notes()
    notes.tell("The file is counted and not held: duplicated rows are not looked for, and the permutation test is left out.")
    with LargeFile(paths, **{role: value for role, value in roles.items() if value is not None}) as file:
        every = LargeModels(file, positive, notes)
        return _Counting(file, every, plan, _chosen(every.models, measures), notes).judgement()


def _chosen(models: Sequence[LargeModel], wanted: Any) -> list[Measure]:
    if wanted is None:
        of_scores = _SCORES if models[0].positive is not None else ()
        names = [*_LABELS, *of_scores, *_SUMS]
        if of_scores and all(model.scores for model in models):
            names = ["auc", *(each for each in names if each != "auc")]
        chosen = [get_measure(each) for each in names]
        return [each for each in chosen if any(model.has(each.facts.needs) for model in models)]
    listed = [wanted] if isinstance(wanted, (str, Measure)) else list(wanted)
    chosen = [get_measure(each) for each in listed]
    for each in chosen:
        ranked = each.facts.needs == "scores" and models[0].positive is not None
        if not (each.facts.needs == "labels" or ranked or each.name in _SUMS):
            raise InputError(
                f"{each.name} must be one that counts give for a large file, which it is not: judge a sample of the rows"
            )
        if not any(model.has(each.facts.needs) for model in models):
            raise InputError(f"{each.name} must have {each.facts.needs}, which no model gives: choose another measure")
    return chosen


class _Counting:
    """One file being judged."""

    def __init__(self, file: LargeFile, every: LargeModels, plan: Plan, measures: list[Measure], notes: Notes) -> None:
        self.file, self.every, self.plan, self.measures, self.notes = file, every, plan, measures, notes
        self.counted = every.weight is None
        if not self.counted:
            notes.tell("Rows have weights: counts give no intervals for them.")
        self.coarse: dict[tuple[str, str], ScoreTally] = {}
        self.scores: list[dict[str, Any]] = []
        self.classes: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self.calibration: list[dict[str, Any]] = []

    def judgement(self) -> Judgement:
        """All tables, then the words."""
        import pandas as pd

        from fairtrial.study.predictions.judgement import Judgement

        for model in self.every.models:
            self._model(model)
        main = self.measures[0]
        pairs = large_pair_table(self.every, self.coarse, main, self.plan, self.notes)
        scores = pd.DataFrame(self.scores, columns=list(SCORE_COLUMNS))
        positives = self.every.positives()
        tell_scores(scores, positives, self.notes)
        curves = gathered(
            (dataset, model, str(self._positive()), binned(tally, MOST_POINTS), self._probable(dataset, model))
            for (dataset, model), tally in self.coarse.items()
        )
        return Judgement(
            source=self.file.source,
            roles=self.file.roles,
            main=main.name,
            level=self.plan.level,
            alpha=self.plan.alpha,
            scores=scores,
            pairs=pairs,
            classes=pd.DataFrame(self.classes, columns=list(CLASS_COLUMNS)),
            groups=pd.DataFrame(self.groups, columns=list(GROUP_COLUMNS)),
            calibration=pd.DataFrame(self.calibration, columns=list(CALIBRATION_COLUMNS)),
            curves=curves,
            words=verdict_words(scores, pairs, main, self.plan.level, self.plan.alpha, None, positives),
            notes=self.notes.sentences,
            positives=positives,
            methodology=methodology(self.every.class_counts(), main, None),
        )

    def _positive(self) -> str:
        return self.every.texts[self.every.positive or 0]

    def _probable(self, dataset: str, model: str) -> bool:
        return any(one.kind == "probability" for one in self.every.models if (one.dataset, one.name) == (dataset, model))

    def _model(self, model: LargeModel) -> None:
        table = self.every.confusion(model) if model.label else None
        ranked = self._ranked(model)
        area = ranked["auc"].estimate if ranked is not None and len(model.classes) == 2 else float("nan")
        areas = [area] * len(model.classes)
        sums = self._sums(model) if model.kind == "probability" else {}
        nan = float("nan")
        for each in self.measures:
            found = Interval(each.name, nan, nan, nan, self.plan.level, "", f"needs {each.facts.needs}")
            if each.facts.needs == "labels" and table is not None:
                found = of_table(each, table, self.plan, self.counted)
            elif each.facts.needs == "scores" and ranked is not None:
                found = ranked[each.name]
            elif each.name in sums:
                found = sums[each.name]
            self.scores.append(self._line(model, each, found, model.rows))
        support = self._support(model) if table is None else table.true
        named = (model.dataset, model.name, model.classes)
        self.classes += class_lines(*named, table, areas, self.plan.level, self.counted, support)
        if table is not None:
            self._subgroups(model)

    def _line(self, model: LargeModel, measure: Measure, found: Interval, rows: int) -> dict[str, Any]:
        limits = {"estimate": found.estimate, "low": found.low, "high": found.high, "method": found.method, "note": found.note}
        return {"dataset": model.dataset, "model": model.name, **facts_of(measure), **limits, "rows": rows}

    def _support(self, model: LargeModel) -> Any:
        amount = "count(*)" if self.counted else f"sum({self.every.weight})"
        found = np.zeros(len(model.classes))
        query = f"SELECT {self.every.truth} AS t, {amount} FROM {{table}} WHERE {{where}} AND {model.where} GROUP BY t"
        for code, count in self.file.rows(query):
            found[code] = count
        return found

    def _ranked(self, model: LargeModel) -> dict[str, Interval] | None:
        """Measures of one tally, of which only a coarse copy is kept."""
        if not model.scores or model.positive is None:
            return None
        is_positive = f"({self.every.truth} = {model.positive})"
        tally = self.file.tally(model.scores[model.positive], is_positive, model.where, self.every.weight)
        wanted = [each for each in self.measures if each.facts.needs == "scores"]
        coarse = self.coarse[model.dataset, model.name] = binned(tally, 4 * BINS)
        return {each.name: of_tally(each, tally, self.plan, self.counted, coarse) for each in {*wanted, auc}}

    def _sums(self, model: LargeModel) -> dict[str, Interval]:
        """Brier score and log loss by their sums, and calibration in ten bins as in `calibration_curve`: one scan for all."""
        forecast, came, called = self._forecast(model)
        square, loss = _losses(model, self.every.truth)
        place = " + ".join(f"(f > {i / 10!r})::INT" for i in range(1, 10))
        sums = ", ".join(f"sum(w * {each})" for each in ("f", "c::INT", "1", "s", "s * s", "l", "l * l"))
        columns = f"{forecast} AS f, {came} AS c, {square} AS s, {loss} AS l, {self.every.weight or '1'} AS w"
        lines = f"(SELECT {columns} FROM {{table}} WHERE {{where}} AND {model.where})"
        found = self.file.rows(
            f"SELECT {place} AS b, {sums}, count(*) FILTER (WHERE l IS NULL) FROM {lines} GROUP BY b ORDER BY b"
        )
        totals = np.zeros(5)
        for _, forecasts, hits, total, *parts, _ in found:
            if total:
                low, high = wilson(float(hits), float(total), self.plan.level)
                named = (model.dataset, model.name, called, float(forecasts / total), float(hits / total), float(total))
                self.calibration.append(dict(zip(CALIBRATION_COLUMNS, (*named, low, high), strict=True)))
            totals += [float(total), *(float(each or 0) for each in parts)]
        return self._means(model, totals, sum(line[-1] for line in found))

    def _means(self, model: LargeModel, totals: Any, impossible: int) -> dict[str, Interval]:
        """Means with their limits from sums and sums of squares; a true class called impossible has an infinite loss."""
        means = totals[[1, 3]] / totals[0]
        spread = np.sqrt(np.maximum(0.0, totals[[2, 4]] / totals[0] - means**2) * model.rows / max(1, model.rows - 1))
        values = {"brier": float(means[0]), "log_loss": float("inf") if impossible else float(means[1])}
        return {
            name: of_mean(name, value, float(deviation), model.rows, self.plan, self.counted)
            for (name, value), deviation in zip(values.items(), spread, strict=True)
        }

    def _forecast(self, model: LargeModel) -> tuple[str, str, str]:
        """SQL for the forecast that is judged and for whether it came true, and the class it is of."""
        truth = self.every.truth
        if model.positive is not None:
            return model.scores[model.positive], f"({truth} = {model.positive})", self._positive()
        most = f"greatest({', '.join(model.scores)})"
        picked = "(CASE " + " ".join(f"WHEN {each} = {most} THEN {i}" for i, each in enumerate(model.scores)) + " END)"
        return most, f"({truth} = {picked})", "the most likely"

    def _subgroups(self, model: LargeModel) -> None:
        """Measures of labels for each subgroup."""
        two = ("recall", "specificity") if model.positive is not None else ()
        wanted = [get_measure(each) for each in ("accuracy", *two)]
        for column in self.file.roles.groups:
            found = self.file.rows(
                f"SELECT {name(column)} AS g, count(*) FROM {{table}} WHERE {{where}} AND {model.where} GROUP BY g"
            )
            if len(found) > _MOST_SUBGROUPS:
                self.notes.tell(f"The column {column!r} has {len(found):,} values: too many for subgroups, so it is left out.")
                continue
            for value, rows in sorted(found, key=lambda each: str(each[0])):
                own = f"{name(column)} IS NULL" if value is None else f"{name(column)} = {quoted(value)}"
                self._subgroup(model, column, "(missing)" if value is None else str(value), own, rows, wanted)

    def _subgroup(self, model: LargeModel, column: str, subgroup: str, own: str, rows: int, wanted: Sequence[Measure]) -> None:
        table: Confusion = self.every.confusion(model, own)
        small = small_note(rows, table.true)
        common = {"group": column, "subgroup": subgroup, "share": rows / model.rows}
        with quiet():
            lines = [self._line(model, each, of_table(each, table, self.plan, self.counted), rows) for each in wanted]
        self.groups += [{**line, **common, "note": "; ".join(part for part in (small, line["note"]) if part)} for line in lines]


def _losses(model: LargeModel, truth: str) -> tuple[str, str]:
    """SQL for what each row adds to the Brier score and to the log loss (NULL where that is infinite)."""
    if len(model.scores) == 2:
        square = f"({model.scores[1]} - {truth}) ** 2"
    else:
        square = "(" + " + ".join(f"({each} - ({truth} = {i})::INT) ** 2" for i, each in enumerate(model.scores)) + ")"
    cases = " ".join(f"WHEN {truth} = {i} THEN {each}" for i, each in enumerate(model.scores))
    return square, f"-ln(nullif(greatest((CASE {cases} END), 0), 0))"
