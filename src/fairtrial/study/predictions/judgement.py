"""The judgement on predictions: measures with intervals, paired tests, classes, subgroups, calibration, curves, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.significance import Verdict
from fairtrial.study.predictions.judged_checks import methodology, methodology_words, nothing_found
from fairtrial.study.predictions.judged_curves import curve_tables
from fairtrial.study.predictions.judged_order import tell_scores, turned
from fairtrial.study.predictions.judged_origin import Origin, origin_of
from fairtrial.study.predictions.judged_pairs import pair_table
from fairtrial.study.predictions.judged_plan import MANY_ROWS, Plan
from fairtrial.study.predictions.judged_positive import Positives, positives_of
from fairtrial.study.predictions.judged_rows import JudgedModel, chosen_measures, only_of_two, positive_place
from fairtrial.study.predictions.judged_splits import over_splits
from fairtrial.study.predictions.judged_tables import calibration_table, class_table, group_measures, group_table, score_table
from fairtrial.study.predictions.judged_text import methods_text, pairs_text, scores_text
from fairtrial.study.predictions.judged_words import verdict_words
from fairtrial.study.predictions.prediction_archive import PredictionArchive
from fairtrial.study.predictions.prediction_checks import Notes, tell_first, tell_pooled
from fairtrial.study.predictions.prediction_files import Source, paths_of
from fairtrial.study.predictions.prediction_names import label_text
from fairtrial.study.predictions.prediction_roles import Roles
from fairtrial.study.predictions.predictions import PredictedSet, PredictionFile, read_predictions

if TYPE_CHECKING:
    import pandas as pd


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
    groups: pd.DataFrame
    calibration: pd.DataFrame
    curves: Mapping[str, pd.DataFrame]
    words: tuple[str, ...]
    notes: tuple[str, ...] = ()
    verdict: Verdict | None = None
    positives: Positives = field(default_factory=lambda: Positives({}))
    methodology: pd.DataFrame = field(default_factory=nothing_found)
    origin: Origin = field(default_factory=lambda: Origin((), "", ""))
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
    def told(self) -> tuple[str, ...]:
        """What a methodologist objects to, and the notes."""
        return (*methodology_words(self.methodology, self.scores["dataset"].nunique() > 1), *self.notes)

    def __str__(self) -> str:
        head = [f"{self.source}: {self.roles.words}", *filter(None, [self.positives.words]), *self.words]
        tables = ["", scores_text(self.scores), *filter(None, [methods_text(self.scores)])]
        tables += ["", pairs_text(turned(self.pairs, self.scores, self.main), self.alpha)] if len(self.pairs) else []
        return "\n".join([*head, *tables, *(["", *self.told] if self.told else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(each)}</p>" for each in self.words)
        notes = "".join(f"<p>{escape(each)}</p>" for each in (f"{self.source}: {self.roles.words}", *self.notes))
        tables = [self.scores, *([self.pairs] if len(self.pairs) else [])]
        return told + "".join(each.to_html(index=False, float_format="{:.4g}".format, na_rep="") for each in tables) + notes


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
    `stream=True`, are counted by DuckDB and never held; see `fairtrial.study.predictions.large_predictions`.

    >>> import pandas as pd
    >>> truth = ["yes", "no"] * 20
    >>> table = pd.DataFrame({"truth": truth, "good": truth[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    >>> found = judge(table)
    >>> print(found.words[0][:104])
    good has the best accuracy, 0.95 (95 % interval 0.835 to 0.9862). It is ahead of coin (difference 0.45,
    """
    plan = _plan(level, resamples, seed, alpha)
    asked = {"measures": measures, "level": level, "resamples": resamples, "seed": seed, "positive": positive, "alpha": alpha}
    if not isinstance(source, PredictionFile):
        from fairtrial.study.predictions.large_predictions import judge_large, too_long

        paths = paths_of(source)
        if stream and not paths:
            raise InputError("stream must be None or False for a frame, which is held anyway: write it to a file first")
        origin = origin_of(paths, {**asked, "stream": stream, **roles})
        if stream or (stream is None and paths and too_long(paths)):
            return replace(judge_large(paths, plan, measures, positive, roles), origin=origin)
        found = _judged(read_predictions(source, positive=positive, **roles), measures, positive, plan)
        return replace(found, origin=origin)
    if roles:
        raise InputError(f"roles must be given when the file is read, got {', '.join(roles)} with predictions already read")
    return replace(_judged(source, measures, positive, plan), origin=origin_of([], asked))


def _plan(level: float, resamples: int, seed: int, alpha: float) -> Plan:
    _check.between("level", level, 0, 1)
    _check.between("alpha", alpha, 0, 1)
    _check.whole_number("resamples", resamples, 2)
    _check.whole_number("seed", seed, 0)
    return Plan(level, resamples, seed, alpha)


def _judged(file: PredictionFile, measures: Any, positive: object, plan: Plan) -> Judgement:
    notes = Notes()
    notes.repeat(file.notes)
    by_set = [[JudgedModel.of(one, name, positive_place(one, positive)) for name in one.models] for one in file.sets]
    everyone = [model for models in by_set for model in models]
    chosen = chosen_measures(everyone, measures)
    main = chosen[0]
    plan = replace(plan, of_two=only_of_two(everyone, chosen, measures is not None, notes))
    _tell(file, everyone, main, plan, notes)
    scores = score_table(everyone, chosen, plan)
    classes = {one.name: ([label_text(each) for each in one.classes], positive_place(one, positive)) for one in file.sets}
    positives = positives_of(classes, file.roles, positive is not None)
    tell_scores(scores, positives, notes)
    pairs = _stacked([pair_table(models, main, plan, notes) for models in by_set])
    sets = zip(file.sets, by_set, strict=True)
    groups = [group_table(one, models, group_measures(models, main), plan, notes) for one, models in sets]
    verdict = over_splits(file, by_set, main, plan, notes)
    counts = {one.name: _counts(one) for one in file.sets}
    return Judgement(
        source=file.source,
        roles=file.roles,
        main=main.name,
        level=plan.level,
        alpha=plan.alpha,
        scores=scores,
        pairs=pairs,
        classes=class_table(everyone, plan.level),
        groups=_stacked(groups),
        calibration=calibration_table(everyone, plan.level),
        curves=curve_tables(everyone),
        words=verdict_words(scores, pairs, main, plan.level, plan.alpha, verdict, positives),
        notes=notes.sentences,
        verdict=verdict,
        positives=positives,
        methodology=methodology(counts, main, verdict),
        predictions=file,
    )


def _counts(one: PredictedSet) -> dict[str, int]:
    """The rows of each class."""
    counts = np.bincount(one.truth, minlength=len(one.classes))
    return {label_text(label): int(count) for label, count in zip(one.classes, counts, strict=True)}


def _stacked(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    full = [table for table in tables if len(table)]
    return pd.concat(full, ignore_index=True) if full else tables[0]


def _tell(file: PredictionFile, models: Sequence[JudgedModel], main: Measure, plan: Plan, notes: Notes) -> None:
    """What the reader must know about how the rows were used."""
    if any(model.repeated for one in file.sets for model in one.models.values()):
        tell_first(notes)
    if main.facts.needs != "labels" and any(len(np.unique(m.fold)) > 1 for one in file.sets for m in one.models.values()):
        tell_pooled(main.name, notes)
    if any(model.weights is not None for model in models):
        notes.tell("Rows have weights: measures, bootstrap and curves use them; McNemar, DeLong and permutation tests cannot.")
    if any(len(model.true) > MANY_ROWS for model in models):
        notes.tell(
            f"Beyond {MANY_ROWS:,} rows intervals come from counts (Wilson, DeLong, redrawn counts, normal limits of means), "
            f"and what they do not give from {plan.resamples_of(MANY_ROWS + 1)} resamples by percentiles."
        )
