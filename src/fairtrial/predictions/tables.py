"""Tables of a judgement: scores, classes, subgroups, calibration and curves, in memory and streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import measures as curve_measures
from fairtrial.errors import InputError
from fairtrial.measures import Measure, auc, calibration_curve, get_measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval, compute_weighted_wilson_limits, compute_wilson_limits
from fairtrial.measures.tally import ScoreTally, tally_scores
from fairtrial.predictions import statistics
from fairtrial.predictions.read import DatasetPredictions, list_codes
from fairtrial.predictions.statistics import BINS, CountIntervals, InMemoryModel, JudgeSettings
from fairtrial.predictions.streamed import StreamedModel, StreamedModels
from fairtrial.predictions.validate import Notes

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = ("dataset", "model", "measure", "estimate", "low", "high", "method", "better", "chance", "rows", "note")

CLASS_COLUMNS = (
    *("dataset", "model", "class", "support", "predicted", "precision", "precision_low", "precision_high"),
    *("recall", "recall_low", "recall_high", "f_score", "auc"),
)

SUBGROUP_COLUMNS = (
    *("dataset", "column", "subgroup", "model", "measure", "rows", "proportion", "estimate", "low", "high", "method", "note"),
)

CALIBRATION_COLUMNS = ("dataset", "model", "class", "mean_predicted", "observed_frequency", "weight", "low", "high")

CURVES = {
    "roc": curve_measures.roc_curve,
    "roc_hull": curve_measures.roc_hull,
    "precision_recall": curve_measures.precision_recall_curve,
    "gain": curve_measures.gain_curve,
    "cost": curve_measures.cost_curve,
    "tpr_fpr": curve_measures.tpr_fpr_curve,
    "brier": curve_measures.brier_curve,
}

MAX_CURVE_POINTS = 2000

# A subgroup with fewer rows, or fewer rows of a class, is too small to judge.
MIN_SUBGROUP_ROWS, MIN_SUBGROUP_CLASS_ROWS = 20, 5

_MAX_SUBGROUPS = 50


class InMemoryTables:
    """Builds the tables of a judgement from predictions in memory."""

    def __init__(
        self,
        datasets: Sequence[DatasetPredictions],
        models: Sequence[InMemoryModel],
        measures: Sequence[Measure],
        settings: JudgeSettings,
        notes: Notes,
    ) -> None:
        self.datasets, self.models, self.measures, self.settings, self.notes = datasets, models, measures, settings, notes

    def build_scores(self) -> pd.DataFrame:
        """Build one row per model and measure, with intervals."""
        import pandas as pd

        lines = [line for model in self.models for line in self._build_score_rows(model, self.measures)]
        return pd.DataFrame(lines, columns=list(SCORE_COLUMNS))

    def _build_score_rows(self, model: InMemoryModel, measures: Sequence[Measure]) -> list[dict[str, Any]]:
        intervals = model.compute_intervals(measures, self.settings)
        return [
            _build_score_row(model.dataset, model.name, measure, interval, len(model.y_true))
            for measure, interval in zip(measures, intervals, strict=True)
        ]

    def build_classes(self) -> pd.DataFrame:
        """Build one row per model and class: precision, recall, F score, support, AUC against the rest."""
        import pandas as pd

        lines = []
        for model in self.models:
            table = None
            if model.y_pred is not None:
                labels = list_codes(len(model.classes), model.has_unknown_labels)
                confusion = Confusion.from_labels(model.y_true, model.y_pred, labels=labels, sample_weight=model.weights)
                table = statistics.prepare_class_table(confusion)
            support = np.bincount(model.y_true, model.weights, minlength=len(model.classes))
            unweighted = model.weights is None
            lines += _build_class_rows(model, table, _compute_class_aucs(model), support, self.settings.level, unweighted)
        return pd.DataFrame(lines, columns=list(CLASS_COLUMNS))

    def build_subgroups(self) -> pd.DataFrame:
        """Build one row per subgroup column, subgroup, model and measure, with a note if there are few rows."""
        import pandas as pd

        lines: list[dict[str, Any]] = []
        for dataset in self.datasets:
            models = [model for model in self.models if model.dataset == dataset.name]
            measures = self._select_subgroup_measures(models)
            for column, values in dataset.subgroups.items():
                subgroups = sorted(set(values.tolist()))
                if _has_too_many_subgroups(column, len(subgroups), self.notes):
                    continue
                for subgroup in subgroups:
                    for model in models:
                        is_member = values[model.row_indices] == subgroup
                        lines += self._build_subgroup_rows(model, is_member, column, str(subgroup), measures)
        return pd.DataFrame(lines, columns=list(SUBGROUP_COLUMNS))

    def _select_subgroup_measures(self, models: Sequence[InMemoryModel]) -> list[Measure]:
        """Select the main measure and, if there are labels, accuracy and the rates of two classes."""
        main, is_binary = self.measures[0], all(model.positive is not None for model in models)
        names = ["accuracy", *(("recall", "specificity") if is_binary else ())]
        chosen = [main, *(measure for measure in map(get_measure, names) if measure is not main)]
        return [measure for measure in chosen if any(model.has(measure) for model in models)]

    def _build_subgroup_rows(
        self, model: InMemoryModel, is_member: Any, column: str, subgroup: str, measures: Sequence[Measure]
    ) -> list[dict[str, Any]]:
        if not is_member.any():
            return []
        subgroup_model = model.select_rows(is_member)
        rows = len(subgroup_model.y_true)
        small = _describe_small_subgroup(rows, np.bincount(subgroup_model.y_true, minlength=len(model.classes)))
        common = {"column": column, "subgroup": subgroup, "proportion": float(rows / len(model.y_true))}
        try:
            lines = self._build_score_rows(subgroup_model, measures)
        except InputError as error:  # such as weights that are all zero
            return [{"dataset": model.dataset, "model": model.name, **common, "rows": rows, "note": str(error)}]
        return [{**line, **common, "note": "; ".join(filter(None, (small, line["note"])))} for line in lines]

    def build_calibration(self) -> pd.DataFrame:
        """Build mean predicted probability and observed frequency in ten bins, of the positive or most probable class."""
        import pandas as pd

        parts = []
        for model in self.models:
            if model.kind != "probability" or model.scores is None:
                continue
            if model.positive is not None:
                name = str(model.classes[model.positive])
                outcome, probability = model.y_true == model.positive, model.scores[:, model.positive]
            else:
                name, predicted = "most probable", model.scores.argmax(axis=1)
                outcome, probability = model.y_true == predicted, model.scores.max(axis=1)
            curve = calibration_curve(outcome, probability, sample_weight=model.weights, level=self.settings.level)
            parts.append(curve.assign(**{"dataset": model.dataset, "model": model.name, "class": name}))
        if not parts:
            return pd.DataFrame(columns=list(CALIBRATION_COLUMNS))
        return pd.concat(parts, ignore_index=True)[list(CALIBRATION_COLUMNS)]

    def build_curves(self) -> dict[str, pd.DataFrame]:
        """Build the points of each curve for each data set, model and class: the positive class, or each of several."""
        return _collect_curves(
            (model.dataset, model.name, name, tally, model.kind == "probability")
            for model in self.models
            for name, tally in _iter_class_tallies(model)
        )


class StreamedTables:
    """Builds the tables of a judgement from counts of a streamed file.

    The constructor scans the file model by model and keeps only counts and binned tallies of scores. Measures of labels come
    from confusion tables, measures of scores from one tally at a time, Brier score and log loss from sums.
    """

    def __init__(self, streamed: StreamedModels, measures: Sequence[Measure], settings: JudgeSettings, notes: Notes) -> None:
        self.streamed, self.file, self.measures, self.settings, self.notes = streamed, streamed.file, measures, settings, notes
        self.unweighted = streamed.weight is None
        self.intervals = CountIntervals(settings, self.unweighted)
        self.aucs: dict[tuple[str, str], float] = {}
        """The AUC of the positive class, by data set and model."""
        self._tallies: dict[tuple[str, str], dict[int, ScoreTally]] = {}
        self._scores: list[dict[str, Any]] = []
        self._classes: list[dict[str, Any]] = []
        self._subgroups: list[dict[str, Any]] = []
        self._calibration: list[dict[str, Any]] = []
        for model in streamed.models:
            self._count_model(model)

    def build_scores(self) -> pd.DataFrame:
        """Build one row per model and measure, with intervals."""
        import pandas as pd

        return pd.DataFrame(self._scores, columns=list(SCORE_COLUMNS))

    def build_classes(self) -> pd.DataFrame:
        """Build one row per model and class: precision, recall, F score, support, AUC against the rest."""
        import pandas as pd

        return pd.DataFrame(self._classes, columns=list(CLASS_COLUMNS))

    def build_subgroups(self) -> pd.DataFrame:
        """Build one row per subgroup column, subgroup, model and measure of labels."""
        import pandas as pd

        return pd.DataFrame(self._subgroups, columns=list(SUBGROUP_COLUMNS))

    def build_calibration(self) -> pd.DataFrame:
        """Build mean predicted probability and observed frequency in ten bins, of the positive or most probable class."""
        import pandas as pd

        return pd.DataFrame(self._calibration, columns=list(CALIBRATION_COLUMNS))

    def build_curves(self) -> dict[str, pd.DataFrame]:
        """Build the points of each curve for each data set, model and class: the positive class, or each of several."""
        return _collect_curves(
            (
                model.dataset,
                model.name,
                model.class_names[code],
                statistics.merge_into_bins(tally, MAX_CURVE_POINTS),
                is_probability,
            )
            for model in self.streamed.models
            for is_probability in (model.kind == "probability",)
            for code, tally in self._tallies.get((model.dataset, model.name), {}).items()
            if model.positive in (None, code) and tally.positives and tally.negatives
        )

    def _count_model(self, model: StreamedModel) -> None:
        table = self.streamed.count_confusion(model) if model.label else None
        intervals, aucs = self._compute_score_intervals(model)
        self.aucs[model.dataset, model.name] = aucs[model.positive or 0]
        if model.kind == "probability":
            intervals |= self._compute_loss_intervals(model)
        if table is not None:
            label_measures = [measure for measure in self.measures if measure.facts.needs == "labels"]
            intervals |= {measure.name: self.intervals.from_table(measure, table) for measure in label_measures}
        for measure in self.measures:
            undefined = self.settings.make_undefined_interval(model, measure)
            interval = undefined if undefined.note else intervals[measure.name]
            self._scores.append(_build_score_row(model.dataset, model.name, measure, interval, model.rows))
        support = self.streamed.count_support(model) if table is None else table.true
        counts = None if table is None else statistics.prepare_class_table(table)
        self._classes += _build_class_rows(model, counts, aucs, support, self.settings.level, self.unweighted)
        if table is not None:
            self._count_subgroups(model)

    def _compute_score_intervals(self, model: StreamedModel) -> tuple[dict[str, Interval], list[float]]:
        """Compute measures of scores and the AUC of each class against the rest; keep only binned tallies."""
        aucs = [float("nan")] * len(model.classes)
        if model.scores is None:
            return {}, aucs
        score_measures = [
            measure
            for measure in self.measures
            if measure.facts.needs == "scores" and not self.settings.explain_unavailable(model, measure)
        ]
        tallies = self._tallies.setdefault((model.dataset, model.name), {})
        by_measure: dict[str, list[Interval]] = {}
        for code in self._list_tally_classes(model):
            is_positive = f"({model.y_true} = {code})"
            tally = self.file.tally(model.scores[code], is_positive, model.where, self.streamed.weight)
            tallies[code] = statistics.merge_into_bins(tally, 4 * BINS)
            is_reported = model.positive in (None, code)
            has_interval = self.unweighted and model.positive is not None and is_reported
            intervals = CountIntervals(self.settings, has_interval)
            for measure in dict.fromkeys([*(score_measures if is_reported else []), auc]):
                interval = intervals.from_tally(measure, tally, tallies[code])
                by_measure.setdefault(measure.name, []).extend([interval] if is_reported else [])
                aucs[code] = interval.estimate if measure is auc else aucs[code]
        aucs = [aucs[model.positive]] * 2 if model.positive is not None and len(aucs) == 2 else aucs
        return {name: self._average_classes(name, class_intervals) for name, class_intervals in by_measure.items()}, aucs

    def _list_tally_classes(self, model: StreamedModel) -> Sequence[int]:
        """List the classes whose scores are tallied; one of two classes is sufficient."""
        return [model.positive] if model.positive is not None and len(model.classes) == 2 else range(len(model.classes))

    def _average_classes(self, name: str, intervals: Sequence[Interval]) -> Interval:
        """Average over the classes, each against the rest; counts of single classes give no interval of the mean."""
        if len(intervals) == 1:
            return intervals[0]
        nan, mean = float("nan"), float(np.mean([interval.estimate for interval in intervals]))
        return Interval(name, mean, nan, nan, self.settings.level, "", "")

    def _compute_loss_intervals(self, model: StreamedModel) -> dict[str, Interval]:
        """Compute Brier score, log loss and the calibration in ten bins of `calibration_curve` in one scan."""
        probability, outcome, class_name = model.build_probability_sql()
        square, loss = model.build_losses_sql()
        bin_sql = " + ".join(f"(f > {i / 10!r})::INT" for i in range(1, 10))
        sums = ", ".join(f"sum(w * {term})" for term in ("w", "f", "c::INT", "1", "s", "s * s", "l", "l * l"))
        columns = f"{probability} AS f, {outcome} AS c, {square} AS s, {loss} AS l, {self.streamed.weight or '1'} AS w"
        lines = f"(SELECT {columns} FROM judged WHERE {model.where})"
        bin_rows = self.file.fetch_rows(
            f"SELECT {bin_sql} AS b, {sums}, count(*) FILTER (WHERE l IS NULL) FROM {lines} GROUP BY b ORDER BY b"
        )
        totals = np.zeros(5)
        for _, squares, probabilities, hits, total, *parts, _ in bin_rows:
            if total:
                low, high = compute_weighted_wilson_limits(float(hits), float(total), float(squares), self.settings.level)
                means = float(probabilities / total), float(hits / total), float(total)
                values = (model.dataset, model.name, class_name, *means, low, high)
                self._calibration.append(dict(zip(CALIBRATION_COLUMNS, values, strict=True)))
            totals += [float(total), *(float(part_sum or 0) for part_sum in parts)]
        return self._compute_mean_intervals(model, totals, sum(line[-1] for line in bin_rows))

    def _compute_mean_intervals(self, model: StreamedModel, totals: Any, impossible: int) -> dict[str, Interval]:
        """Compute means with limits from sums and sums of squares; a true class of probability 0 has an infinite loss."""
        means = totals[[1, 3]] / totals[0]
        spread = np.sqrt(np.maximum(0.0, totals[[2, 4]] / totals[0] - means**2) * model.rows / max(1, model.rows - 1))
        values = {"brier": float(means[0]), "log_loss": float("inf") if impossible else float(means[1])}
        return {
            name: self.intervals.from_mean(name, value, float(deviation), model.rows)
            for (name, value), deviation in zip(values.items(), spread, strict=True)
        }

    def _count_subgroups(self, model: StreamedModel) -> None:
        """Compute measures of labels for each subgroup."""
        binary_measures = ("recall", "specificity") if model.positive is not None else ()
        measures = [get_measure(name) for name in ("accuracy", *binary_measures)]
        for column in self.file.roles.subgroups:
            subgroups = self.streamed.list_subgroups(model, column)
            if _has_too_many_subgroups(column, len(subgroups), self.notes):
                continue
            for subgroup, condition, rows in subgroups:
                table = self.streamed.count_confusion(model, condition)
                small = _describe_small_subgroup(rows, table.true[: len(model.classes)])
                common = {"column": column, "subgroup": subgroup, "proportion": rows / model.rows}
                for measure in measures:
                    line = _build_score_row(model.dataset, model.name, measure, self.intervals.from_table(measure, table), rows)
                    self._subgroups.append({**line, **common, "note": "; ".join(filter(None, (small, line["note"])))})


def _build_score_row(dataset: str, model: str, measure: Measure, interval: Interval, rows: int) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "model": model,
        "measure": measure.name,
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
        "better": "higher" if measure.facts.direction == "max" else "lower",
        "chance": np.nan if measure.facts.chance is None else measure.facts.chance,
        "rows": rows,
        "note": interval.note,
    }


def _build_class_rows(
    model: InMemoryModel | StreamedModel,
    table: Confusion | None,
    aucs: Sequence[float],
    support: Any,
    level: float,
    unweighted: bool,
) -> list[dict[str, Any]]:
    """Build the rows of one model; unweighted cells are numbers of rows, which confidence limits need."""
    zeros = np.zeros(len(model.classes))
    hits, predicted = (zeros, zeros) if table is None else (table.hits, table.predicted)
    lines = []
    for code, name in enumerate(model.classes):
        line: dict[str, Any] = {"dataset": model.dataset, "model": model.name, "class": str(name)}
        line["support"] = float(support[code])
        if table is not None:
            line["predicted"] = float(predicted[code])
            line.update(_compute_rate("precision", hits[code], predicted[code], level, unweighted))
            line.update(_compute_rate("recall", hits[code], support[code], level, unweighted))
            both = float(predicted[code] + support[code])
            line["f_score"] = 2 * float(hits[code]) / both if both else float("nan")
        line["auc"] = aucs[code]
        lines.append(line)
    return lines


def _compute_rate(name: str, hits: float, total: float, level: float, unweighted: bool) -> dict[str, float]:
    nan = float("nan")
    low, high = compute_wilson_limits(float(hits), float(total), level) if unweighted and total else (nan, nan)
    return {name: float(hits / total) if total else nan, f"{name}_low": low, f"{name}_high": high}


def _compute_class_aucs(model: InMemoryModel) -> list[float]:
    if model.scores is None:
        return [float("nan")] * len(model.classes)
    with statistics.ignore_warnings():
        return [
            float(auc(model.y_true == code, np.ascontiguousarray(column), sample_weight=model.weights))
            for code, column in enumerate(model.scores.T)
        ]


def _has_too_many_subgroups(column: str, n_subgroups: int, notes: Notes) -> bool:
    """Whether a column has too many values for subgroups; noted if so."""
    if n_subgroups <= _MAX_SUBGROUPS:
        return False
    notes.add(f"The column {column!r} has {n_subgroups:,} values: too many for subgroups, so it is left out.")
    return True


def _describe_small_subgroup(rows: int, counts: Any) -> str:
    """Describe why a subgroup is too small; empty if it is not."""
    if rows < MIN_SUBGROUP_ROWS:
        return f"only {rows} rows: too few to judge"
    fewest = int(counts.min())
    return f"a class has only {fewest} rows here" if fewest < MIN_SUBGROUP_CLASS_ROWS else ""


def _collect_curves(tallies: Iterable[tuple[str, str, str, ScoreTally, bool]]) -> dict[str, pd.DataFrame]:
    """Collect the curves of tallies, given with data set, model, class, and whether the scores are probabilities."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for dataset, model, name, tally, is_probability in tallies:
        for kind, curve in CURVES.items():
            if curve.needs_probabilities and not is_probability:
                continue
            with statistics.ignore_warnings():
                points = limit_curve_points(curve.of(tally))
            points.insert(0, "class", name)
            points.insert(0, "model", model)
            points.insert(0, "dataset", dataset)
            parts.setdefault(kind, []).append(points)
    return {kind: pd.concat(frames, ignore_index=True) for kind, frames in parts.items()}


def limit_curve_points(points: pd.DataFrame) -> pd.DataFrame:
    """Thin a curve evenly to the largest number of points; keep both ends."""
    if len(points) <= MAX_CURVE_POINTS:
        return points
    indices = np.unique(np.linspace(0, len(points) - 1, MAX_CURVE_POINTS).round().astype(np.intp))
    return points.iloc[indices].reset_index(drop=True)


def _iter_class_tallies(model: InMemoryModel) -> Iterator[tuple[str, ScoreTally]]:
    if model.scores is None:
        return
    codes = range(len(model.classes)) if model.positive is None else (model.positive,)
    for code in codes:
        is_positive = model.y_true == code
        if 0 < is_positive.sum() < len(is_positive):
            yield (
                str(model.classes[code]),
                tally_scores(is_positive, np.ascontiguousarray(model.scores[:, code]), model.weights),
            )


def rank_models(scores: pd.DataFrame, dataset: str, main: str | Measure) -> list[str]:
    """Rank the models of a data set by the main measure, best first; those without a value come last."""
    measure = get_measure(main)
    main_scores = scores[(scores["dataset"] == dataset) & (scores["measure"] == measure.name)]
    lower_is_better = measure.facts.direction == "min"
    ordered = main_scores.sort_values("estimate", ascending=lower_is_better, kind="stable", na_position="last")
    return [str(name) for name in ordered["model"]]


def order_best_first(pairs: pd.DataFrame, scores: pd.DataFrame, main: str | Measure) -> pd.DataFrame:
    """Put the model with the better value of the main measure first in each pair; rows keep their order."""
    import pandas as pd

    rank_lookups = {str(name): rank_models(scores, str(name), main).index for name in dict.fromkeys(scores["dataset"])}
    lines: list[dict[Any, Any]] = pairs.to_dict("records")
    for line in lines:
        get_rank = rank_lookups[str(line["dataset"])]
        if get_rank(str(line["first"])) > get_rank(str(line["second"])):
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"], line["low"], line["high"] = (0.0 - line[column] for column in ("difference", "high", "low"))
    return pd.DataFrame(lines, columns=list(pairs.columns))
