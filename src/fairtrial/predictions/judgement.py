"""Judge predictions, in memory or streamed. `judge` returns a `Judgement` with tables, paired tests and a verdict."""

from __future__ import annotations

import hashlib
import inspect
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial import _check
from fairtrial._findings import Finding, PairDifference, Ranking
from fairtrial._json import format_document
from fairtrial._narrative import name_argument, name_place, render, render_all, render_ranking
from fairtrial._registry import suggest_name
from fairtrial._text import (
    capitalize,
    format_count,
    format_difference,
    format_html_block,
    format_html_table,
    format_interval,
    format_number,
    format_p_value,
    format_percentage,
    format_table,
    join_names,
    wrap_item,
    wrap_lines,
)
from fairtrial.errors import InputError, UnknownNameError
from fairtrial.measures import Measure, get_measure
from fairtrial.measures.auc_inference import MIN_DECIDABLE_CASES
from fairtrial.measures.measure import registry as measure_registry
from fairtrial.predictions.archive import PredictionArchive
from fairtrial.predictions.columns import Roles, format_label
from fairtrial.predictions.margins import MarginComparison, compare_at_margin, format_margin_table
from fairtrial.predictions.pairs import UNDECIDED, build_pair_tables
from fairtrial.predictions.probabilities import adjust_tests, describe_net_benefit, find_miscalibration
from fairtrial.predictions.read import PARQUET, PredictionFile, Source, list_paths, read_predictions
from fairtrial.predictions.statistics import (
    MEAN_LOSSES,
    FileStatistics,
    InMemoryModels,
    JudgeSettings,
    ModelStatistics,
    PositiveClasses,
    ignore_warnings,
)
from fairtrial.predictions.streamed import StreamedFile, StreamedModels
from fairtrial.predictions.subgroups import (
    GAP_COLUMNS,
    build_gaps,
    build_subgroups,
    find_gaps,
    find_other_gaps,
    list_subgroups,
    select_distinct_gaps,
)
from fairtrial.predictions.tables import (
    ASSESSMENT_COLUMNS,
    CONFUSION_COLUMNS,
    build_assessments,
    build_calibration,
    build_classes,
    build_confusion,
    build_curves,
    build_scores,
    find_unequal_rows,
    format_confusion,
    order_best_first,
)
from fairtrial.predictions.validate import USUAL_THRESHOLD, Notes, Subject
from fairtrial.significance import Verdict
from fairtrial.significance.compare import compare
from fairtrial.significance.margins import check_margin
from fairtrial.significance.methodology import check_class_counts, check_dataset_count
from fairtrial.significance.names import get_display_name

if TYPE_CHECKING:
    import pandas as pd

_DEFAULTS = {"level": 0.95, "alpha": 0.05, "resamples": 2000, "seed": 0, "positive": None, "stream": None}
_OPTION_NAMES = {"scores": "score", "measures": "measure"}

_LABEL_MEASURES = ("accuracy", "balanced_accuracy", "kappa", "mcc", "f_score")
# Below this proportion of positive rows, AUC and average precision often disagree.
_RARE = 0.1

_BINARY_ONLY = ("average_precision", "h_measure", "ks")
_PROBABILITY_MEASURES = (
    *(*MEAN_LOSSES, "calibration_error", "calibration_intercept", "calibration_slope", "oe_ratio"),
    *("brier_miscalibration", "brier_discrimination"),
)

_LABEL_RULES = {
    "labels_from_probabilities": "the most probable class",
    "labels_from_scores": "the class with the highest score",
    "labels_from_signs": "the positive class if the score is above 0",
    "labels_from_threshold": "the positive class if the score is at least {threshold}",
}

_INTERVAL_NAMES = {
    "wilson": "Wilson",
    "score": "score",
    "delong": "DeLong",
    "newcombe": "Newcombe",
    "normal": "normal",
    "profile": "profile likelihood",
    "wald": "Wald",
    "mover": "MOVER",
    "bca": "BCa bootstrap",
    "percentile": "percentile bootstrap",
}

# Maximum numbers in the short form: lines that do not refer to a model, lines about how the file was read, and data sets.
_MAX_LINES, _MAX_READ_AS, _MAX_DATASETS = 12, 2, 3

# The short form always shows this many raised checks.
_MAX_CHECKS = 4

# An AUC is below chance if it is more than this many standard errors below 0.5 (two-sided test at the 5 % level).
_BELOW_CHANCE_Z = 1.96

IMPORTANT_NOTES = (
    "net_benefit_threshold",
    *("undeclared_clusters", "below_chance", "no_test", "rows_unidentified", "disjoint_rows", "unequal_rows"),
    "average_precision_differs",
    "class_order",
    "compared_by_other",
    "compared_without_direction",
    *("unknown_label", "unknown_labels", "missing_labels", "percentages"),
    *("unused_text", "unused_probabilities", "unused_numbers", "unused_second_labels", "unnamed_labels", "unnamed_scores"),
    *("dropped_missing", "duplicated_lines", "duplicated_rows", "numbered_predictions", "matched_labels", "unused_prediction"),
    *("unused_unknown_label", "not_probabilities", "zero_scores", "several_conditions", "rows_in_file_order"),
)
"""Kinds of notes that affect the answer. The short form shows them."""


@dataclass(frozen=True)
class JudgementOrigin:
    """The files, the command and the version that produced a judgement.

    Attributes
    ----------
    files : tuple of (str, str)
        Name and SHA-256 hash of each file. Empty for a frame.
    command : str
        Command that repeats the judgement. Empty for a frame.
    version : str
        Version of fairtrial.
    """

    files: tuple[tuple[str, str], ...]
    command: str
    version: str


def _make_empty_confusion() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(CONFUSION_COLUMNS))


def _make_empty_assessment(name: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(ASSESSMENT_COLUMNS[name]))


def _make_empty_gaps() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(columns=list(GAP_COLUMNS))


@dataclass(frozen=True, eq=False, repr=False)
class Judgement:
    """The result of `judge`: measures with intervals, paired tests and a ranking of the models.

    Attributes
    ----------
    source : str
        Name of the file.
    roles : Roles
        Role assigned to each column.
    main : str
        Measure by which models are compared.
    level, alpha : float
        Confidence level of intervals, and significance level of tests.
    scores : DataFrame
        One row per data set, model and measure, with confidence limits.
    pairs : DataFrame
        One row per pair of models: difference in the main measure with limits, deciding test, p-value, p-value adjusted over
        all pairs (Holm), and outcome. The outcome for the first model is "better", "worse", "no significant difference" or
        "cannot be decided". The limits `low` and `high` are not adjusted. The limits `simultaneous_low` and `simultaneous_high`
        are simultaneous over all pairs (Bonferroni).
    tests : DataFrame
        One row for each test of each pair of models. Accuracy and AUC are also tested if they are not the main measure.
    classes : DataFrame
        Precision, recall, F score and AUC for each class.
    confusion : DataFrame
        Confusion matrices: one row per data set, model, true class and predicted class, with the count and the rate within the
        true class. The limits for the rate are Wilson limits. If rows are clustered or weighted, the limits are based on the
        effective number of rows.
    subgroups : DataFrame
        Measures with limits for each subgroup.
    gaps : DataFrame
        Difference between each subgroup and the rest of the rows, for each model and measure. Confidence limits are
        simultaneous, and p-values are adjusted, over all subgroups, columns, models and data sets. If limits are missing,
        `obstacle` names the reason, and `note` explains it.
    calibration : DataFrame
        Calibration curves.
    curves : mapping of str to DataFrame
        Points of the ROC curve and of other curves.
    findings : tuple of Ranking
        Ranking of the models on each data set.
    notes : tuple of Finding
        Notes on repairs, assumptions and omissions.
    verdict : Verdict or None
        Comparison of the models over several data sets or splits. None if they cannot be compared in this way.
    positives : PositiveClasses
        Positive class of each data set.
    class_counts : mapping
        Number of rows of each class in each data set.
    origin : JudgementOrigin
        Files, command and version.
    predictions : PredictionFile or None
        The predictions, or None if the file was streamed.
    margins : tuple of MarginComparison
        Decision on each pair of models at the margin. Empty if no margin was given.
    corp : DataFrame
        CORP calibration curves with consistency bands, as in `corp_curve`.
    decisions : DataFrame
        Decision curves with confidence limits, as in `decision_curve`.
    decision_differences : DataFrame
        Differences in net benefit between models, and between each model and treating all rows.
    calibration_tests : DataFrame
        Calibration test and uncertainty component of the Brier score for each model with probabilities.
    calibration_findings : tuple of Finding
        Whether the probabilities of each model are calibrated.
    gap_findings : tuple of Finding
        Which subgroups differ significantly from the rest, for each measure. The main measure comes first.

    Examples
    --------
    >>> judgement = judge({"y_true": [0, 1, 1, 0] * 9, "tree": [0, 1, 0, 0] * 9}, measures="accuracy")
    >>> judgement.findings[0].values
    (0.75,)
    """

    source: str
    roles: Roles
    main: str
    level: float
    alpha: float
    scores: pd.DataFrame
    pairs: pd.DataFrame
    tests: pd.DataFrame
    classes: pd.DataFrame
    subgroups: pd.DataFrame
    calibration: pd.DataFrame
    curves: Mapping[str, pd.DataFrame]
    findings: tuple[Ranking, ...]
    notes: tuple[Finding, ...] = ()
    verdict: Verdict | None = None
    positives: PositiveClasses = field(default_factory=lambda: PositiveClasses({}))
    class_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    origin: JudgementOrigin = field(default_factory=lambda: JudgementOrigin((), "", ""))
    predictions: PredictionFile | None = field(default=None, repr=False)
    margins: tuple[MarginComparison, ...] = ()
    confusion: pd.DataFrame = field(default_factory=_make_empty_confusion, repr=False)
    gaps: pd.DataFrame = field(default_factory=_make_empty_gaps, repr=False)
    gap_findings: tuple[Finding, ...] = ()
    corp: pd.DataFrame = field(default_factory=partial(_make_empty_assessment, "corp"), repr=False)
    decisions: pd.DataFrame = field(default_factory=partial(_make_empty_assessment, "decisions"), repr=False)
    decision_differences: pd.DataFrame = field(
        default_factory=partial(_make_empty_assessment, "decision_differences"), repr=False
    )
    calibration_tests: pd.DataFrame = field(default_factory=partial(_make_empty_assessment, "calibration_tests"), repr=False)
    calibration_findings: tuple[Finding, ...] = ()

    @property
    def archive(self) -> PredictionArchive:
        """The predictions as an archive of trials, like the archive of a study."""
        if self.predictions is None:
            raise InputError("a streamed judgement has no archive because its predictions are not in memory: judge fewer rows")
        return PredictionArchive(self.predictions, measures=list(dict.fromkeys(self.scores["measure"])))

    def frame(self) -> pd.DataFrame:
        """Return the scores as a table with one row per data set, model and measure.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> judgement = judge({"y_true": [0, 1, 1, 0], "tree": [0, 1, 0, 0]}, measures="accuracy")
        >>> judgement.frame()[["model", "measure", "estimate"]].to_dict("records")
        [{'model': 'tree', 'measure': 'accuracy', 'estimate': 0.75}]
        """
        return self.scores

    def margins_frame(self) -> pd.DataFrame:
        """Return a table of the decisions at the margin, with one row per pair of models.

        Confidence limits are adjusted for the number of pairs.

        Returns
        -------
        DataFrame
            Empty if no margin was given.
        """
        import pandas as pd

        lines = [{"dataset": comparison.dataset, **comparison.to_dict()} for comparison in self.margins]
        return pd.DataFrame(lines).drop(columns=["tests", "obstacle"]) if lines else pd.DataFrame()

    def to_json(self) -> str:
        """Return the judgement as a JSON document that conforms to `result.schema.json`.

        Returns
        -------
        str

        Examples
        --------
        >>> import json
        >>> json.loads(judge({"y_true": [0, 1, 1, 0], "tree": [0, 1, 0, 0]}, measures="accuracy").to_json())["command"]
        'judge'
        """
        decisions = {
            (comparison.dataset, comparison.candidate, comparison.baseline): comparison.to_dict() for comparison in self.margins
        }
        comparisons = []
        for line in self.pairs.to_dict("records"):
            pair = {"dataset": line["dataset"], "candidate": line["first"], "baseline": line["second"]}
            keys = ("measure", "difference", "low", "high", "test", "p_value", "p_adjusted", "significant", "rows")
            decision = decisions.get((line["dataset"], line["first"], line["second"]), {})
            at_margin = {"at_margin": decision} if decision else {}
            comparisons.append({**pair, **{key: line[key] for key in keys}, "level": self.level, **at_margin})
        return format_document(
            "judge",
            source=self.source,
            answer=" ".join(self.summary),
            comparisons=comparisons,
            measure=self.main,
            alpha=self.alpha,
            notes=list(self.messages),
            scores=self.scores.to_dict("records"),
            gap_answer=self.gap_answer,
            gap_summary=self.gap_summary,
            gaps=self.gaps.to_dict("records"),
        )

    @property
    def summary(self) -> tuple[str, ...]:
        """The answer as text, with an entry for each data set and one for the comparison over data sets or splits."""
        texts = [render_ranking(ranking, "model") for ranking in self.findings]
        if self.verdict is not None:
            texts.append(self.verdict.summarize("model", f"over all {self.verdict.unit}s"))
        return tuple(texts)

    @property
    def calibration_summary(self) -> tuple[str, ...]:
        """Whether the probabilities of each model are calibrated, with one sentence per model."""
        return tuple(render_all(self.calibration_findings, "model"))

    @property
    def gap_summary(self) -> tuple[str, ...]:
        """Which subgroups differ significantly from the rest, with one sentence per measure. The main measure comes first."""
        return tuple(capitalize(text) for text in render_all(self.gap_findings, "model"))

    @property
    def gap_answer(self) -> tuple[str, ...]:
        """How subgroups differ from the rest in the main measure or, if no difference is significant, in other measures.

        If no subgroup column was named, only significant differences are reported.
        """
        findings = list(self.gap_findings[:1])
        if all(finding.kind != "gaps_significant" for finding in findings):
            findings = findings if "subgroup" in self.roles.specified else []
            has_doubtful_rows = any(note.kind == "undeclared_clusters" for note in self.roles.reasons)
            other = find_other_gaps(self.gaps, self.main, self.alpha, has_doubtful_rows) if len(self.gaps) else None
            findings += [] if other is None else [other]
        return tuple(capitalize(text) for text in render_all(findings, "model"))

    @property
    def label_rules(self) -> tuple[str, ...]:
        """Where the predicted labels of each model come from: the file, or a rule for probabilities or scores."""
        notes = [note for note in self.notes if note.kind in _LABEL_RULES]
        derived = {model for note in notes for model in note["models"]}
        from_file = tuple(model for model in dict.fromkeys(self.confusion["model"]) if model not in derived)
        findings = [Finding.of("labels_of_file", models=from_file)] if from_file else []
        for note in notes:
            is_binary = note.kind == "labels_from_probabilities" and bool(self.positives.classes)
            kind = "labels_from_threshold" if is_binary else note.kind
            rule = _LABEL_RULES[kind].format(threshold=format_number(note.values.get("threshold", USUAL_THRESHOLD)))
            datasets = {name: value for name, value in note.values.items() if name == "datasets"}
            findings.append(Finding.of("label_rule", models=note["models"], rule=rule, **datasets))
        return tuple(capitalize(text) for text in render_all(findings, "model"))

    @property
    def methodology(self) -> tuple[Finding, ...]:
        """The methodology checks that were raised, e.g. few rows, rare classes or too few data sets."""
        main = get_measure(self.main)
        findings = [
            finding
            for dataset, counts in self.class_counts.items()
            for finding in check_class_counts(dataset, counts, main.name, main.display_name)
        ]
        return (*findings, *([] if self.verdict is None else check_dataset_count(self.verdict)))

    @property
    def messages(self) -> tuple[str, ...]:
        """The methodology checks that were raised, and the notes, as text."""
        return (*self._render_methodology(), *render_all(self.notes, "model"))

    def _render_methodology(self) -> list[str]:
        has_many_datasets = len(self.findings) > 1
        return [
            (f"{finding['dataset']}: " if has_many_datasets and "dataset" in finding.values else "") + render(finding, "model")
            for finding in self.methodology
        ]

    def _get_read_as(self, with_reasons: bool = True) -> str:
        positives = self.positives if with_reasons else replace(self.positives, reasons={})
        return "; ".join(filter(None, [f"read as: {self.roles.summary}", positives.summary]))

    def __str__(self) -> str:
        return "\n".join(self.format_lines())

    __repr__ = __str__

    def format_lines(self, all_measures: bool = False) -> list[str]:
        """Format the short form: the answer, the main measure, warnings and columns.

        Parameters
        ----------
        all_measures : bool
            Whether to show all measures and the confusion matrices instead of only the main measure. Default: False.

        Returns
        -------
        list of str
            Lines of at most 80 columns, unless names are long.
        """
        answer = [line for text in self._select_answer() for line in wrap_lines(text)]
        gaps = [line for text in self.gap_answer for line in wrap_lines(text)]
        shows_all = all_measures or any(note.kind in ("compared_by_other", "compared_without_direction") for note in self.notes)
        table = self._format_measures() if shows_all else self._format_main_table()
        if all_measures and len(self.confusion):
            table += ["", *format_confusion(self.confusion, self.level), "", *self._format_label_rules()]
        table += ["", *format_margin_table(self.margins)] if self.margins else []
        measures = format_count(self.scores["measure"].nunique(), "measure")
        more = "" if shows_all else f"{measures}: {name_place('--all', '.scores')}     "
        read_as = wrap_lines(self._get_read_as(), 76, indent="  ")
        if len(read_as) > _MAX_READ_AS:
            read_as = wrap_lines(self._get_read_as(with_reasons=False), 76, indent="  ")
        if len(read_as) > _MAX_READ_AS:
            read_as = [*read_as[: _MAX_READ_AS - 1], f"{read_as[_MAX_READ_AS - 1].rstrip(',')} ..."]
        foot = [*read_as, f"  {more}{name_place('page: --report page.html', 'reasons: .explain()')}"]
        used = len(answer) + 2 + (0 if all_measures else len(table) - len(self._list_models())) + len(foot)
        return [*answer, *gaps, "", *table, "", *self._format_warnings(max(1, _MAX_LINES - used)), *foot]

    def _format_label_rules(self) -> list[str]:
        return [line for text in self.label_rules for line in wrap_lines(text, 78, indent="  ")]

    def _list_gap_sentences(self) -> tuple[str, ...]:
        """List the answer on subgroups and one sentence for each other measure, without duplicates."""
        return tuple(dict.fromkeys((*self.gap_answer, *self.gap_summary)))

    def _format_gaps(self) -> list[str]:
        """Format the differences between each subgroup and the rest.

        If a column has two subgroups, only the first is listed, because the second difference is the negative of the first.
        """
        has_many_datasets = self.gaps["dataset"].nunique() > 1
        header = [*(["data set"] if has_many_datasets else []), "subgroup", "model", "measure", "rows", "estimate", "rest"]
        rows = [[*header, "difference", f"{format_percentage(self.level)} CI", "adjusted p"]]
        for line in select_distinct_gaps(self.gaps).to_dict("records"):
            numbers = [_format_estimate(line["estimate"]), _format_estimate(line["rest"]), _format_change(line["difference"])]
            rows.append(
                [
                    *([str(line["dataset"])] if has_many_datasets else []),
                    f"{line['column']} {line['subgroup']}",
                    str(line["model"]),
                    get_measure(line["measure"]).display_name,
                    f"{line['rows']:,}",
                    *numbers,
                    _format_limits(line["low"], line["high"]) or line["note"],
                    self._format_p(line["p_adjusted"], False),
                ]
            )
        return _align(rows, left=4 if has_many_datasets else 3)

    def _list_models(self) -> list[str]:
        return list(dict.fromkeys(map(str, self.scores["model"])))

    def _select_answer(self) -> list[str]:
        """Select the sentences of the short form.

        These are the verdict or, if there is none, the answers for the first few data sets.
        """
        if len(self.findings) > 1 and self.verdict is not None:
            if self.verdict.undecidable is None:
                return [self.summary[-1]]
            answers = [text for ranking, text in zip(self.findings, self.summary, strict=False) if ranking.undecidable is None]
            # The check on the number of data sets explains why models cannot be compared, so the verdict would only repeat it.
            is_explained = bool(answers and check_dataset_count(self.verdict))
            return [*self._limit_answers(answers), *([] if is_explained else [self.summary[-1]])]
        return self._limit_answers(self.summary)

    def _limit_answers(self, texts: Sequence[str]) -> list[str]:
        """Keep the first few answers, and state how many others are omitted."""
        hidden = len(texts) - _MAX_DATASETS
        if hidden <= 0:
            return list(texts)
        more = f"{format_count(hidden, 'more data set')}: {name_place('--explain', '.explain()')}"
        return [*texts[:_MAX_DATASETS], more]

    def _format_warnings(self, max_lines: int) -> list[str]:
        """Format raised checks and important notes, if possible in at most `max_lines` lines.

        The first few raised checks are always shown. If notes are omitted, the last line states how many.
        """
        first, others = self._list_warnings()
        blocks = [wrap_item(text, "!") for text in (*first, *others)]
        n_checks = min(_MAX_CHECKS, len(first))
        lines: list[str] = []
        for index, block in enumerate(blocks):
            is_last = index == len(blocks) - 1
            if index >= n_checks and len(lines) + len(block) + (not is_last) > max_lines:
                count = format_count(len(blocks) - index, "more note" if index else "note")
                return [*lines, f"! {count}: {name_place('--explain', '.explain()')}"]
            lines += block
        return lines

    def _list_warnings(self) -> tuple[list[str], list[str]]:
        """List the notes and raised checks that come first, and the other important notes."""
        notes = {kind: [render(note, "model") for note in self.notes if note.kind == kind] for kind in IMPORTANT_NOTES}
        first = notes.pop("undeclared_clusters") + notes.pop("net_benefit_threshold")
        if "subgroup" in self.roles.specified:
            first += [render(note, "model") for note in self.notes if note.kind in ("many_subgroups", "single_subgroup")]
        return [*first, *self._render_methodology()], [text for texts in notes.values() for text in texts]

    def _format_main_table(self) -> list[str]:
        rows = self._build_main_table()
        return _align(rows) if len(self.findings) == 1 else format_table(rows)

    def _build_main_table(self) -> list[list[str]]:
        if len(self.findings) == 1:
            return self._build_ranking(self.findings[0], next(iter(dict.fromkeys(map(str, self.scores["dataset"])))))
        measure = get_measure(self.main)
        scores = self.scores[self.scores["measure"] == measure.name]
        means = scores.groupby("model", sort=False)["estimate"].mean()
        order = means.sort_values(ascending=measure.facts.direction == "min", kind="stable", na_position="last")
        n_best = {name: sum(name in ranking.best for ranking in self.findings if ranking.names) for name in order.index}
        header = [measure.display_name, "mean", f"best on (of {format_count(len(self.findings), 'data set')})"]
        return [header, *([str(name), _format_estimate(mean), f"{n_best[name]}"] for name, mean in order.items())]

    def _build_ranking(self, ranking: Ranking, dataset: str) -> list[list[str]]:
        """Tabulate the main measure on a data set, with one line per model and the best model first."""
        measure = get_measure(self.main)
        scores = self.scores[(self.scores["dataset"] == dataset) & (self.scores["measure"] == measure.name)]
        by_model = {str(line["model"]): line for line in scores.to_dict("records")}
        rows = [[measure.display_name, "estimate", f"{format_percentage(self.level)} CI"]]
        if len(by_model) > 1:
            rows[0] += ["vs best", "p"]
        names = [*ranking.names, *(name for name in by_model if name not in ranking.names)]
        for name in names:
            line = by_model[name]
            row = [name, _format_estimate(line["estimate"]), _format_limits(line["low"], line["high"])]
            pair = ranking.find_pair(names[0], name) if name != names[0] else None
            if len(by_model) > 1:
                row += (
                    ["", ""]
                    if pair is None
                    else [_format_change(-pair.difference), self._format_p(pair.p_adjusted, pair.p_is_bound)]
                )
            rows.append(row)
        return rows

    def _format_p(self, p: float, is_bound: bool) -> str:
        if np.isnan(p):
            return ""
        return format_p_value(p, self.alpha, at_most=is_bound).removeprefix("p ").removeprefix("= ")

    def _format_measures(self) -> list[str]:
        return _align(self._build_measures(), left=3 if len(self.findings) > 1 else 2)

    def _build_measures(self) -> list[list[str]]:
        """Tabulate all measures of all models, with the method of each interval."""
        has_many_datasets = len(self.findings) > 1
        interval = f"{format_percentage(self.level)} CI"
        rows = [[*(["data set"] if has_many_datasets else []), "measure", "model", "estimate", interval, "method"]]
        previous: tuple[str, ...] = ()
        by_measure = self.scores.groupby(["dataset", "measure"], sort=False)
        for line in (line for _, part in by_measure for line in part.to_dict("records")):
            key = (*([str(line["dataset"])] if has_many_datasets else []), get_measure(line["measure"]).display_name)
            labels = [text if previous[: i + 1] != key[: i + 1] else "" for i, text in enumerate(key)]
            method = line["note"] if line["method"] in ("", "none") else _INTERVAL_NAMES.get(line["method"], line["method"])
            numbers = [_format_estimate(line["estimate"]), _format_limits(line["low"], line["high"])]
            rows.append([*labels, str(line["model"]), *numbers, method])
            previous = key
        return rows

    def _format_tests(self) -> list[str]:
        return _align(self._build_tests(), left=4 if len(self.findings) > 1 else 3)

    def _build_tests(self) -> list[list[str]]:
        """Tabulate all comparisons. The better model of each pair comes first, and a star marks the deciding test."""
        has_many_datasets = len(self.findings) > 1
        header = ["pair", "test", "measure", "difference", f"{format_percentage(self.level)} CI", "p", "adjusted p"]
        rows = [[*(["data set"] if has_many_datasets else []), *header]]
        for line in order_best_first(self.tests, self.scores, self.main).to_dict("records"):
            p_values = [self._format_p(line[name], bool(line["at_minimum"])) for name in ("p_value", "p_adjusted")]
            rows.append(
                [
                    *([str(line["dataset"])] if has_many_datasets else []),
                    f"{line['first']} - {line['second']}",
                    get_display_name(line["test"]).removesuffix(" test") + ("*" if line["primary"] else ""),
                    get_measure(line["measure"]).display_name,
                    _format_change(line["difference"]),
                    _format_limits(line["low"], line["high"]),
                    *p_values,
                ]
            )
        return rows

    def explain(self) -> str:
        """Explain the judgement, with answers, reasons, all measures, all pairs and all notes.

        Returns
        -------
        str

        Examples
        --------
        >>> judgement = judge({"y_true": [0, 1, 1, 0], "tree": [0, 1, 0, 0], "coin": [1, 1, 0, 0]})
        >>> "McNemar" in judgement.explain()
        True
        """
        blocks = [
            [line for text in (*self.summary, *self._list_reasons()) for line in wrap_lines(text)],
            self._format_measures(),
            self._format_tests() if len(self.tests) else [],
            format_margin_table(self.margins) if self.margins else [],
            [line for text in self.calibration_summary for line in wrap_lines(text)],
            [line for text in self._list_gap_sentences() for line in wrap_lines(text)],
            [*self._format_gaps(), *self._format_label_rules()] if len(self.gaps) else [],
            [line for text in self._render_methodology() for line in wrap_item(text, "!")],
            [line for note in self.notes for line in wrap_item(render(note, "model"), "-")],
            wrap_lines(self._get_read_as(), indent="  "),
        ]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def _list_reasons(self) -> list[str]:
        """State the main measure, the deciding tests, and intervals that disagree with the adjusted p-values."""
        main = get_measure(self.main)
        tests = dict.fromkeys(test for ranking in self.findings for test in ranking.tests)
        better = "higher" if main.facts.direction == "max" else "lower"
        reasons = [f"Models are compared by {main.display_name} ({better} is better)."]
        if tests:
            reasons.append(f"Deciding test: {join_names(tests)} (* below), significance level {self.alpha:g}.")
        return [*reasons, *render_all(self._find_disagreements(), "model")]

    def _find_disagreements(self) -> list[Finding]:
        """Find the pairs of models whose interval excludes zero although the difference is not significant."""
        findings = []
        for line in self.pairs[self.pairs["outcome"] != UNDECIDED].to_dict("records"):
            excludes_zero = line["low"] > 0 or line["high"] < 0
            if excludes_zero and line["p_adjusted"] > self.alpha:
                kind = "interval_unadjusted" if line["p_value"] <= self.alpha else "interval_of_other_method"
                first, second = (line["first"], line["second"]) if line["difference"] > 0 else (line["second"], line["first"])
                scope = f" on {line['dataset']}" if len(self.findings) > 1 else ""
                findings.append(Finding.of(kind, first=first, second=second, scope=scope))
        return findings

    def _repr_html_(self) -> str:
        import pandas as pd

        def format_rows(rows: list[list[str]]) -> str:
            return format_html_table(pd.DataFrame(rows[1:], columns=rows[0]))

        def format_texts(texts: Iterable[str]) -> str:
            return "".join(f"<p>{escape(text)}</p>" for text in texts)

        answer, *more = self.summary
        first, others = self._list_warnings()
        more += [*self.gap_answer, *first, *others, capitalize(self._get_read_as())]
        margins = format_html_block("\n".join(format_margin_table(self.margins))) if self.margins else ""
        details = format_rows(self._build_measures())
        if len(self.tests):
            details += format_texts(self._list_reasons()) + format_rows(self._build_tests())
        details += format_texts(text for text in render_all(self.notes, "model") if text not in (*first, *others))
        return (
            f"<p><b>{escape(answer)}</b></p>{format_rows(self._build_main_table())}{margins}{format_texts(more)}"
            f"<details><summary>All measures, tests and notes</summary>{details}</details>"
        )


def _format_estimate(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}" if abs(value) < 1000 else format_number(value)


def _format_change(value: float) -> str:
    return "" if np.isnan(value) else format_difference(value, "{:.3f}")


def _format_limits(low: float, high: float) -> str:
    return format_interval(low, high, None, "{:.3f}") if np.isfinite(low) and np.isfinite(high) else ""


def _align(rows: list[list[str]], left: int = 1) -> list[str]:
    """Align columns of numbers, e.g. estimates, to the right, and other columns to the left."""
    columns = list(zip(*rows, strict=True))
    number_headers = ("estimate", "vs best", "difference", "rest", "rows")
    is_number = [i >= left and header in number_headers for i, (header, *_) in enumerate(columns)]
    widths = [max(map(len, column)) for column in columns]
    return [
        ("  " + "  ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in formats)).rstrip()
        for row in rows
        for formats in [zip(row, widths, is_number, strict=True)]
    ]


def judge(
    source: Source | PredictionFile,
    *,
    measures: Any = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    positive: object = None,
    alpha: float = 0.05,
    margin: float | None = None,
    equivalent: bool = False,
    stream: bool | None = None,
    threshold: float | None = None,
    **roles: Any,
) -> Judgement:
    """Judge predictions of one or more models, and report which model is best.

    Parameters
    ----------
    source : path, list of paths, dataframe or PredictionFile
        CSV, TSV, JSON Lines or Parquet files, a frame, or the result of `read_predictions`.
    measures : str, Measure or list of these, optional
        Measures to compute. The models are compared by the first measure. Default: all measures that suit the predictions. The
        first of these is AUC if every model has scores for a positive class, else accuracy.
    level : float, default 0.95
        Confidence level of intervals.
    resamples, seed : int
        Number of bootstrap resamples (default 2000), and seed (default 0). Unless there are very many rows, the maximum number
        of permutations in a permutation test is at least 10,000.
    positive : label, optional
        The positive class. Default: as in `read_predictions`.
    alpha : float, default 0.05
        Significance level of the tests.
    margin : float, optional
        The largest loss that does not matter. If it is given, the result includes a decision on each pair of models, as in
        `gate`. The confidence limits of these decisions are adjusted for the number of pairs.
    equivalent : bool, default False
        Require equivalence at the margin instead of non-inferiority.
    stream : bool, optional
        Whether rows are streamed by DuckDB instead of being read into memory. By default, rows are streamed only if there are
        more than 5 million lines.
    threshold : float, optional
        Lowest score for which a row is predicted positive, if the file has two classes and no predicted labels. Default: 0.5
        for probabilities. For other scores, a row is predicted positive by default if its score is above 0.
    **roles : str, list or mapping, optional
        Columns (y_true, prediction, model, scores, dataset, row, weight, cluster, subgroup, repeat, fold) and the options
        `drop_missing` and `scheme`, as in `read_predictions`.

    Returns
    -------
    Judgement

    Raises
    ------
    InputError
        If an option is invalid, or if the predictions are invalid and cannot be repaired.

    Examples
    --------
    >>> import pandas as pd
    >>> y_true = ["yes", "no"] * 20
    >>> table = pd.DataFrame({"y_true": y_true, "good": y_true[:36] + ["no"] * 4, "coin": ["yes", "yes", "no", "no"] * 10})
    >>> judgement = judge(table)
    >>> judgement.findings[0].best, judgement.findings[0].worse
    (('good',), ('coin',))
    """
    settings = build_settings(level, resamples, seed, alpha)
    if margin is not None:
        check_margin(margin)
    elif equivalent:
        raise InputError(f"equivalent needs a margin, got none: pass {name_argument('margin', '0.01')}")
    options = {"measures": measures, "level": level, "resamples": resamples, "seed": seed, "positive": positive, "alpha": alpha}
    options |= {"margin": margin, "equivalent": equivalent, "threshold": threshold}
    if not isinstance(source, PredictionFile):
        options |= {"stream": stream, **roles}
    with open_models(source, positive, stream, roles, threshold) as (file, notes):
        origin = record_origin([] if isinstance(source, PredictionFile) else list_paths(source), options)
        judgement = _judge(file, measures, positive, settings, notes, origin)
        if margin is None or len(judgement.pairs) == 0:
            return judgement
        inverted = find_inverted(file.models, file.roles, get_measure(judgement.main), positive, settings)
        return replace(judgement, margins=_decide_at_margin(file.models, judgement, margin, equivalent, settings, inverted))


def _decide_at_margin(
    models: Sequence[ModelStatistics],
    judgement: Judgement,
    margin: float,
    equivalent: bool,
    settings: JudgeSettings,
    inverted: Collection[tuple[str, str]],
) -> tuple[MarginComparison, ...]:
    """Decide on each pair of models with common rows. The confidence limits are adjusted for the number of pairs."""
    by_name = {(model.dataset, model.name): model for model in models}
    measure = get_measure(judgement.main)
    return tuple(
        compare_at_margin(
            by_name[str(dataset), str(first)],
            by_name[str(dataset), str(second)],
            measure,
            margin,
            equivalent,
            settings,
            inverted,
            adjust_for=len(judgement.pairs),
        )
        for dataset, first, second in judgement.pairs[["dataset", "first", "second"]].itertuples(index=False, name=None)
    )


@contextmanager
def open_models(
    source: Source | PredictionFile,
    positive: object,
    stream: bool | None,
    roles: Mapping[str, Any],
    threshold: float | None = None,
) -> Iterator[tuple[FileStatistics, Notes]]:
    """Open predictions, in memory or streamed. Yield the statistics of the models, and notes on how the file was read."""
    notes = Notes()
    if isinstance(source, PredictionFile):
        if roles:
            raise InputError(
                f"columns must be named when the file is read, got {', '.join(roles)} with predictions already read"
            )
    else:
        paths = list_paths(source)
        if stream and not paths:
            raise InputError("stream must be None or False for a frame, got True: write the frame to a file to stream it")
        _check_role_names(roles)
        if stream or (stream is None and paths and is_too_long(paths)):
            if threshold is not None:
                raise InputError("threshold needs rows in memory, but the file is streamed: add a column of predicted labels")
            specified = {role: value for role, value in roles.items() if value is not None}
            with StreamedFile(paths, positive=positive, **specified) as file:
                notes.extend((*file.notes, *file.roles.reasons))
                yield StreamedModels(file, positive, notes), notes
            return
        source = read_predictions(source, positive=positive, **roles)
    if threshold is not None:
        source = source.predict_at(threshold, positive)
    notes.extend(source.notes)
    yield InMemoryModels(source, positive), notes


def _check_role_names(roles: Mapping[str, Any]) -> None:
    """Check that each name is a parameter of `judge` or `read_predictions`."""
    names = [*inspect.signature(judge).parameters, *inspect.signature(read_predictions).parameters]
    unknown = next((name for name in roles if name not in names), None)
    if unknown is not None:
        raise TypeError(f"there is no argument {unknown!r}: {suggest_name(unknown, sorted(set(names)))}")


def build_settings(level: float, resamples: int, seed: int, alpha: float) -> JudgeSettings:
    """Check the options of a judgement, and return them as settings."""
    _check.check_between("level", level, 0, 1)
    _check.check_between("alpha", alpha, 0, 1)
    _check.check_whole_number("resamples", resamples, 2)
    _check.check_whole_number("seed", seed, 0)
    return JudgeSettings(level, resamples, seed, alpha)


def _judge(
    file: FileStatistics,
    measures: Any,
    positive: object,
    settings: JudgeSettings,
    notes: Notes,
    origin: JudgementOrigin,
) -> Judgement:
    """Build a judgement from the statistics of the models, whether the rows are in memory or streamed."""
    models = file.models
    chosen = select_measures(models, measures, allow_undirected=True)
    main = chosen[0]
    settings = replace(settings, binary_only=_find_binary_only(models, chosen, measures is not None, notes))
    _note_class_order(models, chosen, notes)
    notes.extend(file.list_limitations(settings))
    _note_replaced_measure(measures, main, notes)
    if main.facts.needs != "labels" and file.has_several_folds():
        notes.add("pooled_folds", measure=main.display_name)
    scores = build_scores(models, chosen, settings)
    positives = PositiveClasses.from_models(models, file.roles, positive is not None)
    below_chance = _find_below_chance(models, scores, main, file.roles, settings)
    _check_score_direction(models, below_chance, positives)
    inverted = _select_inverted(below_chance)
    _note_score_problems(scores, positives, below_chance, inverted, notes)
    pairs, tests, obstacles, unequal_datasets, clusters = build_pair_tables(models, main, settings, notes, inverted)
    class_counts = file.count_classes(unequal_datasets)
    _note_unequal_rows(scores, class_counts, notes)
    _note_rare_positives(scores, main, positives, class_counts, notes)
    subgroups = list_subgroups(models, file.roles.subgroups, notes)
    used_subgroups = {column for _, column in subgroups}
    ignored = tuple(column for column in file.roles.subgroups if column not in used_subgroups)
    kept = tuple(column for column in file.roles.subgroups if column in used_subgroups)
    roles = replace(file.roles, subgroups=kept, unused=(*file.roles.unused, *ignored))
    gaps = build_gaps(models, subgroups, [main] if measures is None else chosen, settings)
    verdict = _compare_over_splits(file, main, settings, notes, inverted)
    findings = rank_by_rows(scores, pairs, obstacles, main, settings, clusters)
    has_doubtful_rows = any(note.kind == "undeclared_clusters" for note in file.roles.reasons)
    cluster = file.roles.get("cluster") or ""
    per_row = file.count_predictions_per_row()
    measure_names = dict.fromkeys(map(str, gaps["measure"]))
    gap_findings = [find_gaps(gaps, name, settings.level, settings.alpha, has_doubtful_rows) for name in measure_names]
    findings = tuple(
        replace(ranking, cluster=cluster, if_independent=has_doubtful_rows, predictions_per_row=per_row[dataset])
        for ranking, dataset in zip(findings, dict.fromkeys(map(str, scores["dataset"])), strict=True)
    )
    assessments = build_assessments(models, settings)
    if any(measure.name == "net_benefit" for measure in chosen):
        notes.add("net_benefit_threshold", **describe_net_benefit(scores, assessments["decisions"]))
    calibration_tests = adjust_tests(assessments["calibration_tests"])
    calibration_findings = find_miscalibration(calibration_tests, scores, settings.level, settings.alpha, has_doubtful_rows)
    return Judgement(
        source=file.source,
        roles=roles,
        main=main.name,
        level=settings.level,
        alpha=settings.alpha,
        scores=scores,
        pairs=pairs,
        tests=tests,
        classes=build_classes(models, settings.level),
        confusion=build_confusion(models, settings.level),
        corp=assessments["corp"],
        decisions=assessments["decisions"],
        decision_differences=assessments["decision_differences"],
        calibration_tests=calibration_tests,
        calibration_findings=calibration_findings,
        subgroups=build_subgroups(models, subgroups, main, settings),
        calibration=build_calibration(models, settings.level),
        curves=build_curves(models),
        findings=findings,
        notes=notes.merge(with_datasets=len(findings) > 1),
        verdict=verdict,
        positives=positives,
        class_counts=class_counts,
        origin=origin,
        predictions=file.predictions,
        gaps=gaps,
        gap_findings=tuple(finding for finding in gap_findings if finding is not None),
    )


def is_too_long(paths: list[Path], lines: int = 5_000_000) -> bool:
    """Return whether files have too many lines for memory. For text files, the number of lines is estimated from their size."""
    return sum(map(_estimate_lines, paths)) > lines


def _estimate_lines(path: Path) -> float:
    if path.suffix.lower() in PARQUET:
        import pyarrow.parquet

        try:
            return float(pyarrow.parquet.ParquetFile(path).metadata.num_rows)
        except (OSError, ValueError, pyarrow.ArrowException):
            return 0.0  # reading the file later raises the error
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(1 << 16)
    return size / max(1.0, len(head) / max(1, head.count(b"\n")))


def select_measures(models: Sequence[ModelStatistics], requested: Any, allow_undirected: bool = False) -> list[Measure]:
    """Select the requested measures or, by default, all measures that suit the models.

    Models are compared by the first measure. By default, this is AUC if every model has scores for a positive class, else
    accuracy. A measure that cannot rank models raises an error unless `allow_undirected` is true. Even then, it is not placed
    first.
    """
    if requested is None:
        return _select_default_measures(models)
    requests = [requested] if isinstance(requested, (str, Measure)) else list(requested)
    if not requests:
        raise InputError("measures must name at least one measure, got none")
    chosen = [_find_measure(name) for name in requests]
    for measure in chosen:
        missing = [model.find_missing_input(measure) for model in models]
        if all(missing):
            raise InputError(f"measure {measure.name} needs {missing[0]}, got none from any model: choose another measure")
    undirected = [measure for measure in chosen if not measure.facts.has_direction]
    if undirected and not allow_undirected:
        first = undirected[0]
        raise InputError(
            f"measure must not be {first.name} here, because {first.facts.best_value}: choose another measure, e.g. accuracy"
        )
    if chosen[0] in undirected:
        # A larger or smaller slope does not make a model better. Therefore, the models are compared by another measure.
        fallback = "accuracy" if chosen[0].facts.needs == "labels" else "brier"
        directed = [measure for measure in chosen if measure not in undirected] or [get_measure(fallback)]
        chosen = [directed[0], *(measure for measure in chosen if measure is not directed[0])]
    return chosen


def _find_measure(name: str | Measure) -> Measure:
    """Find a measure by its name, ignoring case. If `name` is only the beginning of a name, suggest the full name."""
    if isinstance(name, Measure):
        return name
    names = measure_registry.names()
    match = next((known for known in names if known.casefold() == str(name).casefold()), None)
    prefixed = [known for known in names if known.startswith(str(name).casefold())]
    if match is None and prefixed:
        raise UnknownNameError(f"no measure is called {name!r}: did you mean {prefixed[0]!r}?")
    return get_measure(name if match is None else match)


def _select_default_measures(models: Sequence[ModelStatistics]) -> list[Measure]:
    score_measures = ("auc", *_BINARY_ONLY) if any(model.positive is not None for model in models) else ("auc",)
    names = [*_LABEL_MEASURES, *score_measures, *_PROBABILITY_MEASURES]
    if all(model.kind is not None and model.positive is not None for model in models):
        names = ["auc", *(name for name in names if name != "auc")]
    chosen = [get_measure(name) for name in names]
    return [measure for measure in chosen if not all(model.find_missing_input(measure) for model in models)]


def _note_replaced_measure(requested: Any, main: Measure, notes: Notes) -> None:
    """Add a note if models are compared by another measure because the first one cannot rank them."""
    requests = [requested] if isinstance(requested, (str, Measure)) else list(requested or ())
    first = _find_measure(requests[0]) if requests else main
    if first is not main:
        target, name = first.facts.target, first.display_name
        if target is None:
            notes.add("compared_without_direction", measure=name, main=main.display_name)
        else:
            notes.add("compared_by_other", measure=name, target=target, main=main.display_name)


def _find_binary_only(
    models: Sequence[ModelStatistics], measures: Sequence[Measure], requested: bool, notes: Notes
) -> tuple[str, ...]:
    """Find the default measures that are undefined without a positive class, and add a note for each such data set."""
    datasets = dict.fromkeys(model.dataset for model in models if model.positive is None)
    omitted = [measure for measure in measures if measure.name in _BINARY_ONLY]
    if requested or not omitted:
        return ()
    for dataset in datasets:
        notes.add("binary_only", Subject("", dataset), measures=tuple(measure.display_name for measure in omitted))
    return tuple(measure.name for measure in omitted) if datasets else ()


def _note_class_order(models: Sequence[ModelStatistics], measures: Sequence[Measure], notes: Notes) -> None:
    """Add a note on the class order if there are more than two classes and a measure depends on their order."""
    names = tuple(measure.display_name for measure in measures if "class order" in measure.facts.exceptions)
    if not names:
        return
    for model in models:
        if len(model.classes) > 2 and model.positive is None:
            classes = tuple(map(format_label, model.classes))
            notes.add("class_order", Subject("", model.dataset), measures=names, classes=classes)


def find_inverted(
    models: Sequence[ModelStatistics], roles: Roles, main: Measure, positive: object, settings: JudgeSettings
) -> set[tuple[str, str]]:
    """Find the data set and name of each model whose scores seem inverted. Raise an error if all scores seem inverted."""
    import pandas as pd

    below_chance = _find_below_chance(models, pd.DataFrame({"measure": []}), main, roles, settings)
    _check_score_direction(models, below_chance, PositiveClasses.from_models(models, roles, positive is not None))
    return _select_inverted(below_chance)


def _find_below_chance(
    models: Sequence[ModelStatistics], scores: pd.DataFrame, main: Measure, roles: Roles, settings: JudgeSettings
) -> dict[tuple[str, str], bool]:
    """For each model, find out whether its AUC is significantly below 0.5.

    The result is keyed by data set and model. It is empty if the comparison does not use scores.
    """
    auc = get_measure("auc")
    has_labels = {model_columns.name for model_columns in roles.models if model_columns.label is not None}
    ranking_models = [model for model in models if model.kind is not None and model.positive is not None]
    if main.facts.needs == "labels" and all(model.name in has_labels or "" in has_labels for model in ranking_models):
        return {}
    if auc.name in set(scores["measure"]):
        lines = scores[scores["measure"] == auc.name].to_dict("records")
        known = {(str(line["dataset"]), str(line["model"])): (line["estimate"], line["high"]) for line in lines}
    else:
        known = {}
        for model in ranking_models:
            interval = model.compute_intervals([auc], settings)[0]
            known[model.dataset, model.name] = interval.estimate, interval.high
    return {
        (model.dataset, model.name): _is_below_chance(model, *known[model.dataset, model.name])
        for model in ranking_models
        if not np.isnan(known[model.dataset, model.name][0])
    }


def _is_below_chance(model: ModelStatistics, auc: float, high: float) -> bool:
    """Return whether an AUC is significantly below 0.5.

    This is the case if the upper confidence limit is below 0.5. If there are no limits or few cases, a Mann-Whitney test with
    the effective numbers of cases is also used.
    """
    if high < 0.5:
        return True
    positives, negatives = model.count_effective_rows()[model.positive or 0].tolist()
    if not positives or not negatives or (not np.isnan(high) and min(positives, negatives) >= MIN_DECIDABLE_CASES):
        return False
    error = np.sqrt((positives + negatives + 1) / (12 * positives * negatives))
    return bool(0.5 - auc > _BELOW_CHANCE_Z * error)


def _check_score_direction(
    models: Sequence[ModelStatistics], below_chance: Mapping[tuple[str, str], bool], positives: PositiveClasses
) -> None:
    """Raise an error if every model ranks negatives above positives.

    In this case, the best model would seem the worst.
    """
    labels = {positives.classes[model.dataset] for model in models if model.kind is not None and model.positive is not None}
    if positives.specified or not positives.can_flip or len(labels) != 1:
        return
    if below_chance and all(below_chance.values()):
        positive, negative = labels.pop()
        subject = "every model" if len({model for _, model in below_chance}) > 1 else "the model"
        remedy = name_argument("positive", "LABEL", shlex.quote(negative)).replace("=LABEL", f"={negative!r}")
        raise InputError(f"{subject} ranks {negative!r} above {positive!r}, which is the positive class here. Pass {remedy}.")


def _select_inverted(below_chance: Mapping[tuple[str, str], bool]) -> set[tuple[str, str]]:
    """Select the models whose scores seem inverted.

    Their AUC is below chance, but another model on the same data set has an AUC that is not.
    """
    mixed = {dataset for (dataset, _), is_below in below_chance.items() if not is_below}
    return {key for key, is_below in below_chance.items() if is_below and key[0] in mixed}


def _note_score_problems(
    scores: pd.DataFrame,
    positives: PositiveClasses,
    below_chance: Mapping[tuple[str, str], bool],
    inverted: Collection[tuple[str, str]],
    notes: Notes,
) -> None:
    """Add a note on each AUC below chance."""
    lines = positives.select_below_chance(scores).to_dict("records")
    is_reported = {(str(line["dataset"]), str(line["model"])) for line in lines}
    is_reported |= {key for key, is_below in below_chance.items() if is_below}
    for dataset, model in dict.fromkeys([*sorted(inverted), *sorted(is_reported)]):
        is_inverted = (dataset, model) in inverted
        remedy = f"invert the score column of {model}, or leave it out" if is_inverted else positives.remedy
        notes.add("below_chance", Subject(model, dataset), remedy=remedy)


def _note_unequal_rows(scores: pd.DataFrame, class_counts: Mapping[str, Mapping[str, int]], notes: Notes) -> None:
    """Add a note on models that do not predict all rows of a data set."""
    for dataset, rows in find_unequal_rows(scores).items():
        total = max(*rows.values(), sum(class_counts[dataset].values()))
        fewer = tuple(f"{model} ({count:,})" for model, count in rows.items() if count < total)
        notes.add("unequal_rows", Subject("", dataset), fewer=fewer, rows=total)


def _note_rare_positives(
    scores: pd.DataFrame,
    main: Measure,
    positives: PositiveClasses,
    class_counts: Mapping[str, Mapping[str, int]],
    notes: Notes,
) -> None:
    """Add a note if average precision ranks a different model first than AUC does.

    This applies only if models are compared by AUC and positives are rare.
    """
    for dataset, (label, _) in positives.classes.items():
        counts = class_counts.get(dataset, {})
        proportion = counts.get(label, 0) / max(1, sum(counts.values()))
        by_measure = scores[scores["dataset"] == dataset].set_index("measure")
        if main.name != "auc" or proportion >= _RARE or "average_precision" not in by_measure.index:
            continue
        first_by_auc, first_by_precision = (
            by_measure.loc[[name]].sort_values("estimate", ascending=False, kind="stable")["model"].iloc[0]
            for name in ("auc", "average_precision")
        )
        if first_by_auc != first_by_precision:
            subject = Subject(str(first_by_precision), dataset)
            notes.add("average_precision_differs", subject, label=label, proportion=proportion)


def _compare_over_splits(
    file: FileStatistics, main: Measure, settings: JudgeSettings, notes: Notes, inverted: Collection[tuple[str, str]]
) -> Verdict | None:
    """Compare models over data sets, or over the splits of one data set.

    Return None if there is only one split or one model, or if the models cannot be compared.
    """
    import pandas as pd

    if len({model.name for model in file.models}) < 2 or any(model.find_missing_input(main) for model in file.models):
        return None
    table = pd.DataFrame(file.compute_split_values(main), columns=["dataset", "learner", "repeat", "fold", "value"])
    if len(table.drop_duplicates(["dataset", "repeat", "fold"])) < 2:
        return None
    units = "data sets" if table["dataset"].nunique() > 1 else "splits"
    n_inverted = Counter(model for _, model in inverted)
    n_datasets = Counter(model.name for model in file.models)
    suspects = [model for model, count in n_inverted.items() if 2 * count > n_datasets[model]]
    if suspects:
        notes.add("no_comparison", units=units, reason=f"the scores of {join_names(suspects)} look inverted")
        return None
    try:
        with ignore_warnings():
            return compare(table, measure=main.name, alpha=settings.alpha)
    except InputError as error:
        notes.add("no_comparison", units=units, reason=str(error))
        return None


def rank_by_rows(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    obstacles: Mapping[int, Finding],
    main: Measure,
    settings: JudgeSettings,
    clusters: Mapping[int, int] | None = None,
) -> tuple[Ranking, ...]:
    """Rank the models on each data set by the main measure, and add the deciding comparisons."""
    datasets = list(dict.fromkeys(map(str, scores["dataset"])))
    lower_is_better = main.facts.direction == "min"
    rankings = []
    for dataset in datasets:
        main_scores = scores[(scores["dataset"] == dataset) & (scores["measure"] == main.name) & scores["estimate"].notna()]
        ranked = main_scores.sort_values("estimate", ascending=lower_is_better, kind="stable")
        names = tuple(map(str, ranked["model"]))
        dataset_pairs = pairs[pairs["dataset"] == dataset]
        deciding = dataset_pairs[dataset_pairs["test"] != ""]
        n_tested = int(pairs["p_adjusted"].notna().sum())
        differences = _order_differences(deciding, names, lower_is_better, n_tested > 1)
        is_open = (deciding["outcome"] != UNDECIDED).any()
        reasons = [obstacles[index] for index in dataset_pairs.index if index in obstacles]
        rows = set(deciding["rows"]) if len(deciding) else set(ranked["rows"])
        n_clusters = {(clusters or {}).get(index, 0) for index in deciding.index}
        has_interval = len(ranked) > 0 and bool(np.isfinite(ranked["low"].iloc[0]))
        rankings.append(
            Ranking(
                names,
                tuple(map(float, ranked["estimate"])),
                main.display_name,
                differences,
                alpha=settings.alpha,
                measure=main.display_name,
                tests=tuple(get_display_name(str(test)) for test in dict.fromkeys(deciding["test"])),
                adjustment=f"Holm over {n_tested} pairs" if n_tested > 1 else "",
                n=int(rows.pop()) if len(rows) == 1 else 0,
                unit="row",
                scope=f"on {dataset}" if len(datasets) > 1 else "",
                lower_is_better=lower_is_better,
                interval=(float(ranked["low"].iloc[0]), float(ranked["high"].iloc[0])) if has_interval else None,
                level=settings.level,
                chance=_get_chance(ranked),
                undecidable=reasons[0] if reasons and not is_open else None,
                clusters=n_clusters.pop() if len(n_clusters) == 1 else 0,
            )
        )
    return tuple(rankings)


def _get_chance(ranked: pd.DataFrame) -> float | None:
    """Return the chance level of the main measure, or None if it depends on the class proportions."""
    return None if not len(ranked) or np.isnan(ranked["chance"].iloc[0]) else float(ranked["chance"].iloc[0])


def _order_differences(
    pairs: pd.DataFrame, names: Sequence[str], lower_is_better: bool, is_adjusted: bool
) -> tuple[PairDifference, ...]:
    """Put the higher-ranked model of each pair first.

    The other model may be better on the common rows.

    The confidence limits are simultaneous over all pairs, and the p-values are adjusted over all pairs.
    """
    differences = []
    for line in pairs.to_dict("records"):
        better, other = str(line["first"]), str(line["second"])
        difference, low, high = line["difference"], line["simultaneous_low"], line["simultaneous_high"]
        if better not in names or other not in names:
            continue
        if names.index(better) > names.index(other):
            better, other, difference, low, high = other, better, 0.0 - difference, 0.0 - high, 0.0 - low
        is_reversed = difference > 0 if lower_is_better else difference < 0
        differences.append(
            PairDifference(
                better,
                other,
                float("nan") if line["outcome"] == UNDECIDED else line["p_adjusted"],
                difference,
                low,
                high,
                bool(line["at_minimum"]),
                bool(is_reversed),
                is_simultaneous=is_adjusted,
            )
        )
    return tuple(differences)


def record_origin(paths: Sequence[Path], options: Mapping[str, Any]) -> JudgementOrigin:
    """Record the files of a judgement and the command that repeats it. For a frame, both are empty."""
    files = tuple((path.name, _hash_file(path)) for path in paths)
    arguments = ["fairtrial", "judge", *(path.name for path in paths), *_format_options(options)]
    return JudgementOrigin(files, shlex.join(arguments) if paths else "", version("fairtrial"))


def _hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _format_options(options: Mapping[str, Any]) -> list[str]:
    """Format all options that differ from their defaults as command-line options.

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
