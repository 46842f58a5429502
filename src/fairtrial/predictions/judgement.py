"""Judge predictions, in memory or streamed: `judge` builds a `Judgement` of tables, paired tests and a verdict."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.measures import Measure, get_measure
from fairtrial.predictions import narrative
from fairtrial.predictions.archive import PredictionArchive
from fairtrial.predictions.columns import Roles
from fairtrial.predictions.narrative import METHODOLOGY_COLUMNS
from fairtrial.predictions.pairs import StreamedPairs, build_pair_table
from fairtrial.predictions.read import PARQUET, DatasetPredictions, PredictionFile, Source, list_paths, read_predictions
from fairtrial.predictions.statistics import (
    MANY_ROWS,
    MEAN_LOSSES,
    InMemoryModel,
    JudgeSettings,
    ModelStatistics,
    PositiveClasses,
    allow_unknown_labels,
    ignore_warnings,
)
from fairtrial.predictions.streamed import StreamedFile, StreamedModels
from fairtrial.predictions.tables import InMemoryTables, StreamedTables, order_best_first
from fairtrial.predictions.validate import Notes, note_first_prediction
from fairtrial.significance import Verdict
from fairtrial.significance.compare import compare

if TYPE_CHECKING:
    import pandas as pd

_DEFAULTS = {"level": 0.95, "alpha": 0.05, "resamples": 2000, "seed": 0, "positive": None, "stream": None}
_OPTION_NAMES = {"scores": "score", "measures": "measure"}

_LABEL_MEASURES = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")
_BINARY_ONLY = ("average_precision", "h_measure", "ks")
_PROBABILITY_MEASURES = (*MEAN_LOSSES, "calibration_error")


@dataclass(frozen=True)
class JudgementOrigin:
    """The files with their SHA-256, the command that judges them, and the version of fairtrial."""

    files: tuple[tuple[str, str], ...]
    command: str
    version: str


def _make_empty_methodology() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(METHODOLOGY_COLUMNS))


@dataclass(frozen=True, eq=False, repr=False)
class Judgement:
    """The result of `judge`: tables as frames, the verdict in sentences (`summary`), repairs and assumptions (`notes`).

    `predictions` is None if the file was streamed.
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
    methodology: pd.DataFrame = field(default_factory=_make_empty_methodology)
    origin: JudgementOrigin = field(default_factory=lambda: JudgementOrigin((), "", ""))
    predictions: PredictionFile | None = field(default=None, repr=False)

    @property
    def archive(self) -> PredictionArchive:
        """The predictions as an archive of trials, from which results are computed."""
        if self.predictions is None:
            raise InputError(
                "the archive must hold the predictions, which a large file's judgement does not: judge a part of it"
            )
        return PredictionArchive(self.predictions, measures=list(dict.fromkeys(self.scores["measure"])))

    def frame(self) -> pd.DataFrame:
        """One row per data set, model and measure."""
        return self.scores

    @property
    def messages(self) -> tuple[str, ...]:
        """Violated methodology rules, and the notes."""
        return (*narrative.format_methodology_notes(self.methodology, self.scores["dataset"].nunique() > 1), *self.notes)

    def __str__(self) -> str:
        head = [f"{self.source}: {self.roles.summary}", *filter(None, [self.positives.summary]), *self.summary]
        tables = narrative.format_tables(self.scores, order_best_first(self.pairs, self.scores, self.main), self.alpha)
        return "\n".join([*head, "", tables, *(["", *self.messages] if self.messages else [])])

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
    """Judge predictions of one or more models: measures with intervals, paired tests, a verdict.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        CSV, TSV or Parquet files, a frame, or the result of `read_predictions`.
    measures : str, Measure or list of these, optional
        Models are compared by the first one. Default: AUC if every model has scores of a positive class, else accuracy;
        followed by all measures that suit the predictions.
    level : float
        Confidence level of intervals.
    resamples, seed : int
        Number of resamples of the bootstrap and the permutation test, and their seed.
    positive : label, optional
        The positive class. Default: the second of two in sort order.
    alpha : float
        Significance level of the tests.
    stream : bool, optional
        Count the rows with DuckDB instead of reading them into memory. Default: for files of more than five million lines.
    **roles
        Columns, as in `read_predictions`: y_true, prediction, model, scores, dataset, row, weight, subgroup, repeat, fold.

    Returns
    -------
    Judgement

    Examples
    --------
    >>> import pandas as pd
    >>> y_true = ["yes", "no"] * 20
    >>> table = pd.DataFrame({"y_true": y_true, "good": y_true[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    >>> print(judge(table).summary[0][:104])
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
            return replace(_judge_streamed(paths, settings, measures, positive, roles), origin=origin)
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
    models = [
        InMemoryModel.from_dataset(dataset, name, dataset.get_positive_index(positive))
        for dataset in file.datasets
        for name in dataset.models
    ]
    chosen = _select_measures(models, measures)
    main = chosen[0]
    settings = replace(settings, binary_only=_find_binary_only(models, chosen, measures is not None, notes))
    _note_row_usage(file, models, main, settings, notes)
    tables = InMemoryTables(file.datasets, models, chosen, settings, notes)
    scores = tables.build_scores()
    positives = PositiveClasses.from_models(models, file.roles, positive is not None)
    _note_score_problems(scores, positives, notes)
    pairs = build_pair_table(models, main, settings, notes)
    subgroups = tables.build_subgroups()
    verdict = _compare_over_splits(file, models, main, settings, notes)
    counts = {dataset.name: dataset.count_classes() for dataset in file.datasets}
    return Judgement(
        source=file.source,
        roles=file.roles,
        main=main.name,
        level=settings.level,
        alpha=settings.alpha,
        scores=scores,
        pairs=pairs,
        classes=tables.build_classes(),
        subgroups=subgroups,
        calibration=tables.build_calibration(),
        curves=tables.build_curves(),
        summary=narrative.summarize_judgement(scores, pairs, main, settings.level, settings.alpha, verdict, positives),
        notes=notes.sentences,
        verdict=verdict,
        positives=positives,
        methodology=narrative.check_methodology(counts, main, verdict),
        predictions=file,
    )


def _judge_streamed(
    paths: list[Path], settings: JudgeSettings, measures: Any, positive: object, roles: dict[str, Any]
) -> Judgement:
    notes = Notes()
    notes.add(
        "The file is counted and not held: left out are the permutation test, the bootstrap of differences in measures of "
        "scores or probabilities, calibration_error, intervals of AUC over several classes, and verdicts over data sets or "
        "folds; subgroups are judged by their labels."
    )
    with StreamedFile(paths, **{role: value for role, value in roles.items() if value is not None}) as file:
        notes.extend(file.roles.label_warnings)
        streamed = StreamedModels(file, positive, notes)
        models = streamed.models
        chosen = _select_measures(models, measures, streamed=True)
        main = chosen[0]
        settings = replace(settings, binary_only=_find_binary_only(models, chosen, measures is not None, notes))
        if streamed.weight is not None:
            notes.add(
                "Rows have weights: measures, the bootstrap of labels and curves use them; McNemar and DeLong tests cannot, "
                "and counts give no intervals for them."
            )
        tables = StreamedTables(streamed, chosen, settings, notes)
        if main.facts.needs != "labels" and file.has_several_folds():
            _note_pooled(main.name, notes)
        streamed_pairs = StreamedPairs(streamed.to_codes(), tables.aucs, allow_unknown_labels(main), settings, notes)
        pairs, scores = streamed_pairs.build_table(), tables.build_scores()
        positives = PositiveClasses.from_models(models, file.roles, positive is not None)
        _note_score_problems(scores, positives, notes)
        return Judgement(
            source=file.source,
            roles=file.roles,
            main=main.name,
            level=settings.level,
            alpha=settings.alpha,
            scores=scores,
            pairs=pairs,
            classes=tables.build_classes(),
            subgroups=tables.build_subgroups(),
            calibration=tables.build_calibration(),
            curves=tables.build_curves(),
            summary=narrative.summarize_judgement(scores, pairs, main, settings.level, settings.alpha, None, positives),
            notes=notes.sentences,
            positives=positives,
            methodology=narrative.check_methodology(
                streamed.count_classes(streamed_pairs.overlap.unequal_datasets), main, None
            ),
        )


def is_too_long(paths: list[Path], lines: int = 5_000_000) -> bool:
    """Whether files have too many lines for memory; those of text files are estimated from the first lines."""
    return sum(map(_estimate_lines, paths)) > lines


def _estimate_lines(path: Path) -> float:
    if path.suffix.lower() in PARQUET:
        import pyarrow.parquet

        try:
            return float(pyarrow.parquet.ParquetFile(path).metadata.num_rows)
        except (OSError, ValueError, pyarrow.ArrowException):
            return 0.0  # reading it will tell what is wrong
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    return size / max(1.0, len(head) / max(1, head.count(b"\n")))


def _select_measures(models: Sequence[ModelStatistics], requested: Any, streamed: bool = False) -> list[Measure]:
    """Select the requested measures, or those that suit the models; models are compared by the first one.

    By default that is AUC if every model has scores of a positive class, else accuracy.
    """
    if requested is None:
        return _select_default_measures(models, streamed)
    requests = [requested] if isinstance(requested, (str, Measure)) else list(requested)
    if not requests:
        raise InputError("measures must name at least one measure, got none")
    chosen = [get_measure(name) for name in requests]
    for measure in chosen:
        if streamed and not (measure.facts.needs in ("labels", "scores") or measure.name in MEAN_LOSSES):
            raise InputError(
                f"{measure.name} must be one that counts give for a large file, which it is not: judge a sample of the rows"
            )
        if not any(model.has(measure) for model in models):
            raise InputError(f"{measure.name} must have {measure.facts.needs}, which no model gives: choose another measure")
    return chosen


def _select_default_measures(models: Sequence[ModelStatistics], streamed: bool) -> list[Measure]:
    score_measures = ("auc", *_BINARY_ONLY) if any(model.positive is not None for model in models) else ("auc",)
    names = [*_LABEL_MEASURES, *score_measures, *(MEAN_LOSSES if streamed else _PROBABILITY_MEASURES)]
    if all(model.scores is not None and model.positive is not None for model in models):
        names = ["auc", *(name for name in names if name != "auc")]
    chosen = [get_measure(name) for name in names]
    return [measure for measure in chosen if any(model.has(measure) for model in models)]


def _find_binary_only(
    models: Sequence[ModelStatistics], measures: Sequence[Measure], requested: bool, notes: Notes
) -> tuple[str, ...]:
    """Find default measures that data sets without a positive class lack, and note it."""
    datasets = list(dict.fromkeys(model.dataset for model in models if model.positive is None))
    names = tuple(measure.name for measure in measures if measure.name in _BINARY_ONLY)
    if requested or not names or not datasets:
        return ()
    listing = ", ".join(map(repr, datasets[:6])) + (f" and {len(datasets) - 6} more" if len(datasets) > 6 else "")
    notes.add(
        f"{', '.join(names)} need a positive class, which data sets of more than two classes have only if it is named: they "
        f"are left out on {listing}."
    )
    return names


def _note_row_usage(
    file: PredictionFile, models: Sequence[InMemoryModel], main: Measure, settings: JudgeSettings, notes: Notes
) -> None:
    """Note how rows are used: repeated predictions, folds, weights, many rows."""
    if any(model.has_repeats for dataset in file.datasets for model in dataset.models.values()):
        note_first_prediction(notes)
    if main.facts.needs != "labels" and any(
        len(np.unique(predictions.fold)) > 1 for dataset in file.datasets for predictions in dataset.models.values()
    ):
        _note_pooled(main.name, notes)
    if any(model.weights is not None for model in models):
        notes.add("Rows have weights: measures, bootstrap and curves use them; McNemar, DeLong and permutation tests cannot.")
    if any(len(model.y_true) > MANY_ROWS for model in models):
        notes.add(
            f"Beyond {MANY_ROWS:,} rows intervals come from counts (Wilson, DeLong, redrawn counts, normal limits of means), "
            f"and what they do not give from {settings.limit_resamples(MANY_ROWS + 1)} resamples by percentiles."
        )


def _note_pooled(measure: str, notes: Notes) -> None:
    notes.add(f"{measure} pools the scores of models trained on different folds, as if they shared a scale.")


def _note_score_problems(scores: pd.DataFrame, positives: PositiveClasses, notes: Notes) -> None:
    """Note models with fewer rows than others, and AUCs below chance."""
    for name, rows in narrative.find_unequal_rows(scores).items():
        fewer = [f"{model} ({count:,})" for model, count in rows.items() if count < max(rows.values())]
        notes.add(
            f"Models are scored on different rows of {name!r}: of {max(rows.values()):,} rows fewer have {', '.join(fewer)}. "
            "Their measures are not of the same cases; the paired tests are."
        )
    for sentence in _format_below_chance_notes(scores, positives):
        notes.add(sentence)


def _format_below_chance_notes(scores: pd.DataFrame, positives: PositiveClasses) -> list[str]:
    """Write a sentence about each AUC below chance."""
    several = scores["dataset"].nunique() > 1
    return [
        f"auc of {line['model']}{' on ' + str(line['dataset']) if several else ''}, {line['estimate']:.4g} (interval "
        f"{line['low']:.4g} to {line['high']:.4g}), is worse than guessing: perhaps the scores are those of the other class; "
        f"{positives.remedy}."
        for line in positives.select_below_chance(scores).to_dict("records")
    ]


def _compare_over_splits(
    file: PredictionFile, models: Sequence[InMemoryModel], main: Measure, settings: JudgeSettings, notes: Notes
) -> Verdict | None:
    """Compare models over data sets, or over the splits of one; None if there is only one split or one model."""
    import pandas as pd

    if len(file.models) < 2 or not all(model.has(main) for model in models):
        return None
    datasets = {dataset.name: dataset for dataset in file.datasets}
    lines = [line for model in models for line in _compute_split_values(datasets[model.dataset], model, main)]
    table = pd.DataFrame(lines, columns=["dataset", "learner", "repeat", "fold", "value"])
    if len(table.drop_duplicates(["dataset", "repeat", "fold"])) < 2:
        return None
    try:
        with ignore_warnings():
            return compare(table, measure=main.name, alpha=settings.alpha)
    except InputError as error:
        notes.add(f"No verdict over {'data sets' if len(file.datasets) > 1 else 'splits'}: {error}.")
        return None


def _compute_split_values(
    dataset: DatasetPredictions, model: InMemoryModel, main: Measure
) -> list[tuple[str, str, int, int, float]]:
    """Compute the main measure of a model on each split, from the predictions of that split alone."""
    predictions, rows = dataset.models[model.name], []
    for repeat, fold in sorted(set(zip(predictions.repeat.tolist(), predictions.fold.tolist(), strict=True))):
        lines = np.flatnonzero((predictions.repeat == repeat) & (predictions.fold == fold))
        row_indices = predictions.row_indices[lines]
        split_model = replace(
            model,
            row_indices=row_indices,
            y_true=dataset.y_true[row_indices],
            y_pred=predictions.prediction[lines],
            scores=None if predictions.scores is None else predictions.scores[lines],
            weights=None if dataset.weights is None else dataset.weights[row_indices],
        )
        rows.append((dataset.name, model.name, repeat, fold, split_model.compute_value(main)))
    return rows


def record_origin(paths: Sequence[Path], options: Mapping[str, Any]) -> JudgementOrigin:
    """Record files and the command that judges them; a frame has neither."""
    files = tuple((path.name, _hash_file(path)) for path in paths)
    arguments = ["fairtrial", "judge", *(path.name for path in paths), *_format_options(options)]
    return JudgementOrigin(files, shlex.join(arguments) if paths else "", version("fairtrial"))


def _hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _format_options(options: Mapping[str, Any]) -> list[str]:
    """Format the options that differ from their defaults as on the command line.

    >>> _format_options({"level": 0.9, "seed": 0, "scores": {"tree": "t"}, "measures": ["auc", "ks"], "stream": True})
    ['--level', '0.9', '--score', 'tree=t', '--measure', 'auc', '--measure', 'ks', '--stream']
    """
    arguments: list[str] = []
    for name, value in options.items():
        if value is None or value is False or (name in _DEFAULTS and value == _DEFAULTS[name]):
            continue
        option = f"--{_OPTION_NAMES.get(name, name).replace('_', '-')}"
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
