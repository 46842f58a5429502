"""The judge of files that are larger than memory: everything is counted by DuckDB, no row is held.

Measures of labels come from confusion counts, those of scores from one tally at a time, those of probabilities from sums.
Intervals are those that counts allow: Wilson's, DeLong's, normal ones of means, and a bootstrap that redraws counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.measures import Measure, auc, get_measure
from fairtrial.measures.closed_intervals import weighted_wilson
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval
from fairtrial.measures.tally import ScoreTally
from fairtrial.study.predictions.counted_intervals import BINS, binned, of_mean, of_table, of_tally
from fairtrial.study.predictions.judged_checks import methodology
from fairtrial.study.predictions.judged_curves import MOST_POINTS, gathered
from fairtrial.study.predictions.judged_order import tell_scores
from fairtrial.study.predictions.judged_plan import Plan, quiet
from fairtrial.study.predictions.judged_rows import chosen_measures, lacking, only_of_two, undefined
from fairtrial.study.predictions.judged_strays import by_class, for_strays, seen
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
from fairtrial.study.predictions.large_lines import several_folds
from fairtrial.study.predictions.large_models import LargeModel, LargeModels
from fairtrial.study.predictions.large_pairs import LargePairs
from fairtrial.study.predictions.large_scores import highest, losses_in_sql
from fairtrial.study.predictions.prediction_checks import Notes, tell_pooled

if TYPE_CHECKING:
    from fairtrial.study.predictions.judgement import Judgement

_MOST_SUBGROUPS = 50


def judge_large(paths: list[Path], plan: Plan, measures: Any, positive: object, roles: dict[str, Any]) -> Judgement:
    """The judgement on files whose rows are never held; called by `fairtrial.study.predictions.judgement.judge`."""
    notes = Notes()
    notes.tell(
        "The file is counted and not held: left out are the permutation test, the bootstrap of differences in measures of "
        "scores or probabilities, calibration_error, intervals of AUC over several classes, and verdicts over data sets or "
        "folds; subgroups are judged by their labels."
    )
    with LargeFile(paths, **{role: value for role, value in roles.items() if value is not None}) as file:
        notes.repeat(file.roles.doubts)
        every = LargeModels(file, positive, notes)
        chosen = chosen_measures(every.models, measures, counted=True)
        plan = replace(plan, of_two=only_of_two(every.models, chosen, measures is not None, notes))
        return _Counting(file, every, plan, chosen, notes).judgement()


class _Counting:
    """One file being judged."""

    def __init__(self, file: LargeFile, every: LargeModels, plan: Plan, measures: list[Measure], notes: Notes) -> None:
        self.file, self.every, self.plan, self.measures, self.notes = file, every, plan, measures, notes
        self.counted = every.weight is None
        if not self.counted:
            notes.tell(
                "Rows have weights: measures, the bootstrap of labels and curves use them; McNemar and DeLong tests cannot, "
                "and counts give no intervals for them."
            )
        self.coarse: dict[tuple[str, str], dict[int, ScoreTally]] = {}
        self.areas: dict[tuple[str, str], float] = {}
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
        if main.facts.needs != "labels" and several_folds(self.file):
            tell_pooled(main.name, self.notes)
        pairing = LargePairs(self.every.coded(), self.areas, for_strays(main), self.plan, self.notes)
        pairs = pairing.table()
        scores = pd.DataFrame(self.scores, columns=list(SCORE_COLUMNS))
        positives = self.every.positives()
        tell_scores(scores, positives, self.notes)
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
            curves=gathered(self._curves()),
            words=verdict_words(scores, pairs, main, self.plan.level, self.plan.alpha, None, positives),
            notes=self.notes.sentences,
            positives=positives,
            methodology=methodology(self.every.class_counts(pairing.met.apart), main, None),
        )

    def _curves(self) -> Iterator[tuple[str, str, str, ScoreTally, bool]]:
        """Of the positive class, or of each of several that are sometimes true."""
        for model in self.every.models:
            for code, tally in self.coarse.get((model.dataset, model.name), {}).items():
                if model.positive in (None, code) and tally.positives and tally.negatives:
                    yield model.dataset, model.name, model.texts[code], binned(tally, MOST_POINTS), model.kind == "probability"

    def _model(self, model: LargeModel) -> None:
        table = self.every.confusion(model) if model.label else None
        ranked, areas = self._ranked(model)
        self.areas[model.dataset, model.name] = areas[model.positive or 0]
        sums = self._sums(model) if model.kind == "probability" else {}
        found = {**ranked, **sums}
        if table is not None:
            labels = [each for each in self.measures if each.facts.needs == "labels"]
            found |= {each.name: self._of_labels(each, table) for each in labels}
        for each in self.measures:
            one = undefined(model, each, self.plan)
            self.scores.append(self._line(model, each, one if one.note else found[each.name], model.rows))
        support = self.every.support(model) if table is None else table.true
        named, counts = (model.dataset, model.name, model.classes), None if table is None else by_class(table)
        self.classes += class_lines(*named, counts, areas, self.plan.level, self.counted, support)
        if table is not None:
            self._subgroups(model)

    def _of_labels(self, measure: Measure, table: Confusion) -> Interval:
        return of_table(for_strays(measure), seen(measure, table), self.plan, self.counted)

    def _line(self, model: LargeModel, measure: Measure, found: Interval, rows: int) -> dict[str, Any]:
        limits = {"estimate": found.estimate, "low": found.low, "high": found.high, "method": found.method, "note": found.note}
        return {"dataset": model.dataset, "model": model.name, **facts_of(measure), **limits, "rows": rows}

    def _ranked(self, model: LargeModel) -> tuple[dict[str, Interval], list[float]]:
        """Measures of scores and the AUC of each class against the rest, one tally at a time; only coarse copies are kept."""
        areas = [float("nan")] * len(model.classes)
        if model.scores is None:
            return {}, areas
        wanted = [each for each in self.measures if each.facts.needs == "scores" and not lacking(model, each, self.plan)]
        kept = self.coarse.setdefault((model.dataset, model.name), {})
        found: dict[str, list[Interval]] = {}
        for code in self._tallied(model):
            is_positive = f"({model.truth} = {code})"
            tally = self.file.tally(model.scores[code], is_positive, model.where, self.every.weight)
            kept[code] = binned(tally, 4 * BINS)
            own = model.positive in (None, code)
            alone = self.counted and model.positive is not None
            for each in {*(wanted if own else []), auc}:
                one = of_tally(each, tally, self.plan, alone and own, kept[code])
                found.setdefault(each.name, []).extend([one] if own else [])
                areas[code] = one.estimate if each is auc else areas[code]
        areas = [areas[model.positive]] * 2 if model.positive is not None and len(areas) == 2 else areas
        return {name: self._over_classes(name, each) for name, each in found.items()}, areas

    def _tallied(self, model: LargeModel) -> Sequence[int]:
        """Of two classes one tells all."""
        return [model.positive] if model.positive is not None and len(model.classes) == 2 else range(len(model.classes))

    def _over_classes(self, name: str, found: Sequence[Interval]) -> Interval:
        """The mean over the classes, each against the rest; counts of one class give it no interval."""
        if len(found) == 1:
            return found[0]
        nan = float("nan")
        return Interval(name, float(np.mean([one.estimate for one in found])), nan, nan, self.plan.level, "", "")

    def _sums(self, model: LargeModel) -> dict[str, Interval]:
        """Brier score and log loss by their sums, and calibration in ten bins as in `calibration_curve`: one scan for all."""
        forecast, came, called = self._forecast(model)
        square, loss = losses_in_sql(model.scores or (), model.truth, model.positive)
        place = " + ".join(f"(f > {i / 10!r})::INT" for i in range(1, 10))
        sums = ", ".join(f"sum(w * {each})" for each in ("w", "f", "c::INT", "1", "s", "s * s", "l", "l * l"))
        columns = f"{forecast} AS f, {came} AS c, {square} AS s, {loss} AS l, {self.every.weight or '1'} AS w"
        lines = f"(SELECT {columns} FROM judged WHERE {model.where})"
        found = self.file.rows(
            f"SELECT {place} AS b, {sums}, count(*) FILTER (WHERE l IS NULL) FROM {lines} GROUP BY b ORDER BY b"
        )
        totals = np.zeros(5)
        for _, squares, forecasts, hits, total, *parts, _ in found:
            if total:
                low, high = weighted_wilson(float(hits), float(total), float(squares), self.plan.level)
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
        scores = model.scores or ()
        if model.positive is not None:
            return scores[model.positive], f"({model.truth} = {model.positive})", model.texts[model.positive]
        return f"greatest({', '.join(scores)})", f"({model.truth} = {highest(scores)})", "the most likely"

    def _subgroups(self, model: LargeModel) -> None:
        """Measures of labels for each subgroup."""
        two = ("recall", "specificity") if model.positive is not None else ()
        wanted = [get_measure(each) for each in ("accuracy", *two)]
        for column in self.file.roles.groups:
            found = self.file.rows(f"SELECT {name(column)} AS g, count(*) FROM judged WHERE {model.where} GROUP BY g")
            if len(found) > _MOST_SUBGROUPS:
                self.notes.tell(f"The column {column!r} has {len(found):,} values: too many for subgroups, so it is left out.")
                continue
            for value, rows in sorted(found, key=lambda each: str(each[0])):
                own = f"{name(column)} IS NULL" if value is None else f"{name(column)} = {quoted(value)}"
                self._subgroup(model, column, "(missing)" if value is None else str(value), own, rows, wanted)

    def _subgroup(self, model: LargeModel, column: str, subgroup: str, own: str, rows: int, wanted: Sequence[Measure]) -> None:
        table: Confusion = self.every.confusion(model, own)
        small = small_note(rows, table.true[: len(model.classes)])
        common = {"group": column, "subgroup": subgroup, "share": rows / model.rows}
        with quiet():
            lines = [self._line(model, each, self._of_labels(each, table), rows) for each in wanted]
        self.groups += [{**line, **common, "note": "; ".join(part for part in (small, line["note"]) if part)} for line in lines]
