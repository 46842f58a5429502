"""The judge of files that are larger than memory: everything is counted by DuckDB, no row is held.

Measures of labels come from confusion counts, those of scores from one tally at a time, those of probabilities from sums.
Intervals are those that counts allow: Wilson's, DeLong's, normal ones of means, and a bootstrap that redraws counts.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.measures import Measure, auc, get_measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval, compute_weighted_wilson_limits
from fairtrial.measures.tally import ScoreTally
from fairtrial.predictions.archive import PredictionArchive
from fairtrial.predictions.columns import Roles, format_label
from fairtrial.predictions.narrative import (
    check_methodology,
    format_methodology_notes,
    format_methods,
    format_pairs,
    format_scores,
    make_empty_methodology,
    summarize_judgement,
)
from fairtrial.predictions.pairs import StreamedPairs, build_pair_table
from fairtrial.predictions.read import DatasetPredictions, PredictionFile, Source, list_paths, read_predictions
from fairtrial.predictions.statistics import (
    BINS,
    MANY_ROWS,
    InMemoryModel,
    JudgeSettings,
    PositiveClasses,
    allow_unknown_labels,
    compute_mean_interval,
    compute_table_interval,
    compute_tally_interval,
    explain_unavailable,
    find_binary_only,
    find_positive_classes,
    find_positive_index,
    ignore_warnings,
    make_undefined_interval,
    merge_into_bins,
    prepare_class_table,
    prepare_table,
    select_measures,
)
from fairtrial.predictions.streamed import (
    StreamedFile,
    StreamedModel,
    StreamedModels,
    build_argmax_sql,
    build_losses_sql,
    has_several_folds,
    is_too_long as is_too_long,
    quote_identifier,
    quote_literal,
)
from fairtrial.predictions.tables import (
    CALIBRATION_COLUMNS,
    CLASS_COLUMNS,
    MAX_CURVE_POINTS,
    SCORE_COLUMNS,
    SUBGROUP_COLUMNS,
    build_calibration_table,
    build_class_rows,
    build_class_table,
    build_curve_tables,
    build_score_table,
    build_subgroup_table,
    collect_curves,
    compare_over_splits,
    describe_measure,
    describe_small_subgroup,
    note_score_problems,
    order_best_first,
    select_subgroup_measures,
)
from fairtrial.predictions.validate import Notes, note_first_prediction, note_pooled
from fairtrial.significance import Verdict

if TYPE_CHECKING:
    import pandas as pd

_DEFAULTS = {"level": 0.95, "alpha": 0.05, "resamples": 2000, "seed": 0, "positive": None, "stream": None}


_OPTION_NAMES = {"scores": "score", "measures": "measure"}


@dataclass(frozen=True)
class JudgementOrigin:
    """Files with their SHA-256, the command that judges them, and the version of this package."""

    files: tuple[tuple[str, str], ...]
    command: str
    version: str


def record_origin(paths: Sequence[Path], options: Mapping[str, Any]) -> JudgementOrigin:
    """Of files; of a frame there is no command and no hash."""
    files = tuple((path.name, _hash_file(path)) for path in paths)
    arguments = ["fairtrial", "judge", *(path.name for path in paths), *_format_options(options)]
    return JudgementOrigin(files, shlex.join(arguments) if paths else "", version("fairtrial"))


def _hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _format_options(options: Mapping[str, Any]) -> list[str]:
    """Options as on the command line, those that differ from what is usual.

    >>> _format_options({"level": 0.9, "seed": 0, "scores": {"tree": "t"}, "measures": ["auc", "ks"], "stream": True})
    ['--level', '0.9', '--score', 'tree=t', '--measure', 'auc', '--measure', 'ks', '--stream']
    """
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False or (name in _DEFAULTS and value == _DEFAULTS[name]):
            continue
        option = f"--{_OPTION_NAMES.get(name, name)}"
        arguments += (
            [option] if value is True else [argument for text in _list_option_values(value) for argument in (option, text)]
        )
    return arguments


def _list_option_values(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [str(getattr(item, "name", item)) for item in value]
    return [str(getattr(value, "name", value))]


@dataclass(frozen=True, eq=False, repr=False)
class Judgement:
    """What `judge` found. All tables are frames; `notes` tell every repair and assumption, `words` the verdict.

    `predictions` is None where a large file was counted and never held.
    """

    source: str
    roles: Roles
    main: str
    level: float
    alpha: float
    scores: pd.DataFrame
    pairs: pd.DataFrame
    classes: pd.DataFrame
    subgroups: pd.DataFrame
    calibration: pd.DataFrame
    curves: Mapping[str, pd.DataFrame]
    summary: tuple[str, ...]
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    positives: PositiveClasses = field(default_factory=lambda: PositiveClasses({}))
    methodology: pd.DataFrame = field(default_factory=make_empty_methodology)
    origin: JudgementOrigin = field(default_factory=lambda: JudgementOrigin((), "", ""))
    predictions: PredictionFile | None = field(default=None, repr=False)

    @property
    def archive(self) -> PredictionArchive:
        """The predictions as the archive that results are made from."""
        if self.predictions is None:
            raise InputError(
                "the archive must hold the predictions, which a large file's judgement does not: judge a part of it"
            )
        return PredictionArchive(self.predictions, measures=list(dict.fromkeys(self.scores["measure"])))

    def frame(self) -> pd.DataFrame:
        """A line for each data set, model and measure."""
        return self.scores

    @property
    def messages(self) -> tuple[str, ...]:
        """What a methodologist objects to, and the notes."""
        return (*format_methodology_notes(self.methodology, self.scores["dataset"].nunique() > 1), *self.notes)

    def __str__(self) -> str:
        head = [f"{self.source}: {self.roles.summary}", *filter(None, [self.positives.summary]), *self.summary]
        tables = ["", format_scores(self.scores), *filter(None, [format_methods(self.scores)])]
        tables += (
            ["", format_pairs(order_best_first(self.pairs, self.scores, self.main), self.alpha)] if len(self.pairs) else []
        )
        return "\n".join([*head, *tables, *(["", *self.messages] if self.messages else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        summary_html = "".join(f"<p>{escape(sentence)}</p>" for sentence in self.summary)
        notes = "".join(f"<p>{escape(note)}</p>" for note in (f"{self.source}: {self.roles.summary}", *self.notes))
        tables = [self.scores, *([self.pairs] if len(self.pairs) else [])]
        return (
            summary_html
            + "".join(table.to_html(index=False, float_format="{:.4g}".format, na_rep="") for table in tables)
            + notes
        )


def judge(
    source: Source | PredictionFile,
    *,
    measures: Any = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    positive: object = None,
    alpha: float = 0.05,
    stream: bool | None = None,
    **roles: Any,
) -> Judgement:
    """Judge predictions: a file (CSV, TSV, Parquet), several, a frame, or what `read_predictions` gave.

    The first of `measures` is the main one, by which models are compared; by default AUC where every model has scores of
    a positive class, else accuracy. `roles` name columns, as in `read_predictions`. Files beyond five million lines, or with
    `stream=True`, are counted by DuckDB and never held; see `fairtrial.predictions.judgement`.

    >>> import pandas as pd
    >>> truth = ["yes", "no"] * 20
    >>> table = pd.DataFrame({"truth": truth, "good": truth[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    >>> found = judge(table)
    >>> print(found.words[0][:104])
    good has the best accuracy, 0.95 (95 % interval 0.835 to 0.9862). It is ahead of coin (difference 0.45,
    """
    settings = _build_settings(level, resamples, seed, alpha)
    options = {"measures": measures, "level": level, "resamples": resamples, "seed": seed, "positive": positive, "alpha": alpha}
    if not isinstance(source, PredictionFile):
        paths = list_paths(source)
        if stream and not paths:
            raise InputError("stream must be None or False for a frame, which is held anyway: write it to a file first")
        origin = record_origin(paths, {**options, "stream": stream, **roles})
        if stream or (stream is None and paths and is_too_long(paths)):
            return replace(judge_streamed(paths, settings, measures, positive, roles), origin=origin)
        judgement = _judge_in_memory(read_predictions(source, positive=positive, **roles), measures, positive, settings)
        return replace(judgement, origin=origin)
    if roles:
        raise InputError(f"roles must be given when the file is read, got {', '.join(roles)} with predictions already read")
    return replace(_judge_in_memory(source, measures, positive, settings), origin=record_origin([], options))


def _build_settings(level: float, resamples: int, seed: int, alpha: float) -> JudgeSettings:
    _check.check_between("level", level, 0, 1)
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_whole_number("resamples", resamples, 2)
    _check.check_whole_number("seed", seed, 0)
    return JudgeSettings(level, resamples, seed, alpha)


def _judge_in_memory(file: PredictionFile, measures: Any, positive: object, settings: JudgeSettings) -> Judgement:
    notes = Notes()
    notes.extend(file.notes)
    models_by_dataset = [
        [InMemoryModel.from_dataset(dataset, name, find_positive_index(dataset, positive)) for name in dataset.models]
        for dataset in file.datasets
    ]
    all_models = [model for models in models_by_dataset for model in models]
    chosen = select_measures(all_models, measures)
    main = chosen[0]
    settings = replace(settings, binary_only=find_binary_only(all_models, chosen, measures is not None, notes))
    _note_row_usage(file, all_models, main, settings, notes)
    scores = build_score_table(all_models, chosen, settings)
    classes = {
        dataset.name: ([format_label(label) for label in dataset.classes], find_positive_index(dataset, positive))
        for dataset in file.datasets
    }
    positives = find_positive_classes(classes, file.roles, positive is not None)
    note_score_problems(scores, positives, notes)
    pairs = _concat_tables([build_pair_table(models, main, settings, notes) for models in models_by_dataset])
    dataset_models = zip(file.datasets, models_by_dataset, strict=True)
    subgroup_tables = [
        build_subgroup_table(dataset, models, select_subgroup_measures(models, main), settings, notes)
        for dataset, models in dataset_models
    ]
    verdict = compare_over_splits(file, models_by_dataset, main, settings, notes)
    counts = {dataset.name: _count_classes(dataset) for dataset in file.datasets}
    return Judgement(
        source=file.source,
        roles=file.roles,
        main=main.name,
        level=settings.level,
        alpha=settings.alpha,
        scores=scores,
        pairs=pairs,
        classes=build_class_table(all_models, settings.level),
        subgroups=_concat_tables(subgroup_tables),
        calibration=build_calibration_table(all_models, settings.level),
        curves=build_curve_tables(all_models),
        summary=summarize_judgement(scores, pairs, main, settings.level, settings.alpha, verdict, positives),
        notes=notes.sentences,
        verdict=verdict,
        positives=positives,
        methodology=check_methodology(counts, main, verdict),
        predictions=file,
    )


def _count_classes(dataset: DatasetPredictions) -> dict[str, int]:
    """The rows of each class."""
    counts = np.bincount(dataset.y_true, minlength=len(dataset.classes))
    return {format_label(label): int(count) for label, count in zip(dataset.classes, counts, strict=True)}


def _concat_tables(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    nonempty = [table for table in tables if len(table)]
    return pd.concat(nonempty, ignore_index=True) if nonempty else tables[0]


def _note_row_usage(
    file: PredictionFile, models: Sequence[InMemoryModel], main: Measure, settings: JudgeSettings, notes: Notes
) -> None:
    """What the reader must know about how the rows were used."""
    if any(model.has_repeats for dataset in file.datasets for model in dataset.models.values()):
        note_first_prediction(notes)
    if main.facts.needs != "labels" and any(
        len(np.unique(predictions.fold)) > 1 for dataset in file.datasets for predictions in dataset.models.values()
    ):
        note_pooled(main.name, notes)
    if any(model.weights is not None for model in models):
        notes.add("Rows have weights: measures, bootstrap and curves use them; McNemar, DeLong and permutation tests cannot.")
    if any(len(model.y_true) > MANY_ROWS for model in models):
        notes.add(
            f"Beyond {MANY_ROWS:,} rows intervals come from counts (Wilson, DeLong, redrawn counts, normal limits of means), "
            f"and what they do not give from {settings.limit_resamples(MANY_ROWS + 1)} resamples by percentiles."
        )


_MAX_STREAMED_SUBGROUPS = 50


def judge_streamed(
    paths: list[Path], settings: JudgeSettings, measures: Any, positive: object, roles: dict[str, Any]
) -> Judgement:
    """The judgement on files whose rows are never held; called by `fairtrial.predictions.judgement.judge`."""
    notes = Notes()
    notes.add(
        "The file is counted and not held: left out are the permutation test, the bootstrap of differences in measures of "
        "scores or probabilities, calibration_error, intervals of AUC over several classes, and verdicts over data sets or "
        "folds; subgroups are judged by their labels."
    )
    with StreamedFile(paths, **{role: value for role, value in roles.items() if value is not None}) as file:
        notes.extend(file.roles.label_warnings)
        streamed = StreamedModels(file, positive, notes)
        chosen = select_measures(streamed.models, measures, streamed=True)
        settings = replace(settings, binary_only=find_binary_only(streamed.models, chosen, measures is not None, notes))
        return _StreamedJudge(file, streamed, settings, chosen, notes).build_judgement()


class _StreamedJudge:
    """One file being judged."""

    def __init__(
        self, file: StreamedFile, streamed: StreamedModels, settings: JudgeSettings, measures: list[Measure], notes: Notes
    ) -> None:
        self.file, self.streamed, self.settings, self.measures, self.notes = file, streamed, settings, measures, notes
        self.unweighted = streamed.weight is None
        if not self.unweighted:
            notes.add(
                "Rows have weights: measures, the bootstrap of labels and curves use them; McNemar and DeLong tests cannot, "
                "and counts give no intervals for them."
            )
        self.coarse_tallies: dict[tuple[str, str], dict[int, ScoreTally]] = {}
        self.aucs: dict[tuple[str, str], float] = {}
        self.scores: list[dict[str, Any]] = []
        self.classes: list[dict[str, Any]] = []
        self.subgroups: list[dict[str, Any]] = []
        self.calibration: list[dict[str, Any]] = []

    def build_judgement(self) -> Judgement:
        """All tables, then the words."""
        import pandas as pd

        for model in self.streamed.models:
            self._judge_model(model)
        main = self.measures[0]
        if main.facts.needs != "labels" and has_several_folds(self.file):
            note_pooled(main.name, self.notes)
        streamed_pairs = StreamedPairs(
            self.streamed.to_codes(), self.aucs, allow_unknown_labels(main), self.settings, self.notes
        )
        pairs = streamed_pairs.build_table()
        scores = pd.DataFrame(self.scores, columns=list(SCORE_COLUMNS))
        positives = self.streamed.find_positives()
        note_score_problems(scores, positives, self.notes)
        return Judgement(
            source=self.file.source,
            roles=self.file.roles,
            main=main.name,
            level=self.settings.level,
            alpha=self.settings.alpha,
            scores=scores,
            pairs=pairs,
            classes=pd.DataFrame(self.classes, columns=list(CLASS_COLUMNS)),
            subgroups=pd.DataFrame(self.subgroups, columns=list(SUBGROUP_COLUMNS)),
            calibration=pd.DataFrame(self.calibration, columns=list(CALIBRATION_COLUMNS)),
            curves=collect_curves(self._iter_curves()),
            summary=summarize_judgement(scores, pairs, main, self.settings.level, self.settings.alpha, None, positives),
            notes=self.notes.sentences,
            positives=positives,
            methodology=check_methodology(self.streamed.count_classes(streamed_pairs.overlap.unequal_datasets), main, None),
        )

    def _iter_curves(self) -> Iterator[tuple[str, str, str, ScoreTally, bool]]:
        """Of the positive class, or of each of several that are sometimes true."""
        for model in self.streamed.models:
            for code, tally in self.coarse_tallies.get((model.dataset, model.name), {}).items():
                if model.positive in (None, code) and tally.positives and tally.negatives:
                    yield (
                        model.dataset,
                        model.name,
                        model.class_names[code],
                        merge_into_bins(tally, MAX_CURVE_POINTS),
                        model.kind == "probability",
                    )

    def _judge_model(self, model: StreamedModel) -> None:
        table = self.streamed.count_confusion(model) if model.label else None
        score_intervals, aucs = self._compute_score_intervals(model)
        self.aucs[model.dataset, model.name] = aucs[model.positive or 0]
        loss_intervals = self._compute_loss_intervals(model) if model.kind == "probability" else {}
        intervals = {**score_intervals, **loss_intervals}
        if table is not None:
            label_measures = [measure for measure in self.measures if measure.facts.needs == "labels"]
            intervals |= {measure.name: self._compute_label_interval(measure, table) for measure in label_measures}
        for measure in self.measures:
            interval = make_undefined_interval(model, measure, self.settings)
            self.scores.append(
                self._build_score_row(model, measure, interval if interval.note else intervals[measure.name], model.rows)
            )
        support = self.streamed.count_support(model) if table is None else table.true
        identity, counts = (model.dataset, model.name, model.classes), None if table is None else prepare_class_table(table)
        self.classes += build_class_rows(*identity, counts, aucs, self.settings.level, self.unweighted, support)
        if table is not None:
            self._judge_subgroups(model)

    def _compute_label_interval(self, measure: Measure, table: Confusion) -> Interval:
        return compute_table_interval(
            allow_unknown_labels(measure), prepare_table(measure, table), self.settings, self.unweighted
        )

    def _build_score_row(self, model: StreamedModel, measure: Measure, interval: Interval, rows: int) -> dict[str, Any]:
        limits = {
            "estimate": interval.estimate,
            "low": interval.low,
            "high": interval.high,
            "method": interval.method,
            "note": interval.note,
        }
        return {"dataset": model.dataset, "model": model.name, **describe_measure(measure), **limits, "rows": rows}

    def _compute_score_intervals(self, model: StreamedModel) -> tuple[dict[str, Interval], list[float]]:
        """Measures of scores and the AUC of each class against the rest, one tally at a time; only coarse copies are kept."""
        aucs = [float("nan")] * len(model.classes)
        if model.scores is None:
            return {}, aucs
        score_measures = [
            measure
            for measure in self.measures
            if measure.facts.needs == "scores" and not explain_unavailable(model, measure, self.settings)
        ]
        tallies = self.coarse_tallies.setdefault((model.dataset, model.name), {})
        intervals: dict[str, list[Interval]] = {}
        for code in self._list_tally_classes(model):
            is_positive = f"({model.y_true} = {code})"
            tally = self.file.tally(model.scores[code], is_positive, model.where, self.streamed.weight)
            tallies[code] = merge_into_bins(tally, 4 * BINS)
            is_reported = model.positive in (None, code)
            has_interval = self.unweighted and model.positive is not None
            for measure in {*(score_measures if is_reported else []), auc}:
                interval = compute_tally_interval(measure, tally, self.settings, has_interval and is_reported, tallies[code])
                intervals.setdefault(measure.name, []).extend([interval] if is_reported else [])
                aucs[code] = interval.estimate if measure is auc else aucs[code]
        aucs = [aucs[model.positive]] * 2 if model.positive is not None and len(aucs) == 2 else aucs
        return {name: self._average_classes(name, class_intervals) for name, class_intervals in intervals.items()}, aucs

    def _list_tally_classes(self, model: StreamedModel) -> Sequence[int]:
        """Of two classes one tells all."""
        return [model.positive] if model.positive is not None and len(model.classes) == 2 else range(len(model.classes))

    def _average_classes(self, name: str, intervals: Sequence[Interval]) -> Interval:
        """The mean over the classes, each against the rest; counts of one class give it no interval."""
        if len(intervals) == 1:
            return intervals[0]
        nan = float("nan")
        return Interval(
            name, float(np.mean([interval.estimate for interval in intervals])), nan, nan, self.settings.level, "", ""
        )

    def _compute_loss_intervals(self, model: StreamedModel) -> dict[str, Interval]:
        """Brier score and log loss by their sums, and calibration in ten bins as in `calibration_curve`: one scan for all."""
        probability, outcome, class_name = self._build_probability_sql(model)
        square, loss = build_losses_sql(model.scores or (), model.y_true, model.positive)
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
                values = (
                    model.dataset,
                    model.name,
                    class_name,
                    float(probabilities / total),
                    float(hits / total),
                    float(total),
                )
                self.calibration.append(dict(zip(CALIBRATION_COLUMNS, (*values, low, high), strict=True)))
            totals += [float(total), *(float(part_sum or 0) for part_sum in parts)]
        return self._compute_mean_intervals(model, totals, sum(line[-1] for line in bin_rows))

    def _compute_mean_intervals(self, model: StreamedModel, totals: Any, impossible: int) -> dict[str, Interval]:
        """Means with their limits from sums and sums of squares; a true class called impossible has an infinite loss."""
        means = totals[[1, 3]] / totals[0]
        spread = np.sqrt(np.maximum(0.0, totals[[2, 4]] / totals[0] - means**2) * model.rows / max(1, model.rows - 1))
        values = {"brier": float(means[0]), "log_loss": float("inf") if impossible else float(means[1])}
        return {
            name: compute_mean_interval(name, value, float(deviation), model.rows, self.settings, self.unweighted)
            for (name, value), deviation in zip(values.items(), spread, strict=True)
        }

    def _build_probability_sql(self, model: StreamedModel) -> tuple[str, str, str]:
        """SQL for the forecast that is judged and for whether it came true, and the class it is of."""
        scores = model.scores or ()
        if model.positive is not None:
            return scores[model.positive], f"({model.y_true} = {model.positive})", model.class_names[model.positive]
        return f"greatest({', '.join(scores)})", f"({model.y_true} = {build_argmax_sql(scores)})", "most probable"

    def _judge_subgroups(self, model: StreamedModel) -> None:
        """Measures of labels for each subgroup."""
        binary_measures = ("recall", "specificity") if model.positive is not None else ()
        measures = [get_measure(measure_name) for measure_name in ("accuracy", *binary_measures)]
        for column in self.file.roles.subgroups:
            value_counts = self.file.fetch_rows(
                f"SELECT {quote_identifier(column)} AS g, count(*) FROM judged WHERE {model.where} GROUP BY g"
            )
            if len(value_counts) > _MAX_STREAMED_SUBGROUPS:
                self.notes.add(
                    f"The column {column!r} has {len(value_counts):,} values: too many for subgroups, so it is left out."
                )
                continue
            for value, rows in sorted(value_counts, key=lambda item: str(item[0])):
                condition = (
                    f"{quote_identifier(column)} IS NULL"
                    if value is None
                    else f"{quote_identifier(column)} = {quote_literal(value)}"
                )
                self._judge_subgroup(model, column, "(missing)" if value is None else str(value), condition, rows, measures)

    def _judge_subgroup(
        self, model: StreamedModel, column: str, subgroup: str, condition: str, rows: int, measures: Sequence[Measure]
    ) -> None:
        table: Confusion = self.streamed.count_confusion(model, condition)
        small = describe_small_subgroup(rows, table.true[: len(model.classes)])
        common = {"column": column, "subgroup": subgroup, "proportion": rows / model.rows}
        with ignore_warnings():
            lines = [
                self._build_score_row(model, measure, self._compute_label_interval(measure, table), rows)
                for measure in measures
            ]
        self.subgroups += [
            {**line, **common, "note": "; ".join(part for part in (small, line["note"]) if part)} for line in lines
        ]
