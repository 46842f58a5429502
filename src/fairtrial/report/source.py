"""The source of a report: a study, a judgement, a gate, a threshold, or a verdict on a table of scores.

Sections, checks and figures all use the class `ReportSource`. `describe_source` chooses the subclass for the type of the
results.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, NoReturn

from fairtrial._findings import Ranking
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError
from fairtrial.predictions.gate import GateResult
from fairtrial.predictions.judgement import Judgement
from fairtrial.predictions.thresholds import ThresholdResult
from fairtrial.report.cache import compute_verdict, get_verdict_measure, select_best_learners
from fairtrial.report.judgement import build_facts_frame, list_models
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import ReportKind, ShownSchemes
from fairtrial.report.selection import get_main_condition
from fairtrial.significance.verdict import Verdict
from fairtrial.study.results.results import Results
from fairtrial.study.results.selection import format_condition

# Maximum number of colours in a figure.
_MOST_COLOURS = 20


class ReportSource(ABC):
    """The source of a report, which provides the values that sections, checks and figures need."""

    kind: ClassVar[ReportKind]
    noun: ClassVar[str] = "learner"
    """What is compared: "learner" for studies and scores, "model" for predictions."""

    @property
    @abstractmethod
    def title(self) -> str:
        """The default title of the report."""

    @property
    @abstractmethod
    def subtitle(self) -> str:
        """The size of the study, judgement or comparison, in one line."""

    @property
    @abstractmethod
    def identity(self) -> Any:
        """The object that the report describes. This object is the key under which computed values are cached."""

    @property
    @abstractmethod
    def measure(self) -> str:
        """The main measure. Empty if the main measure is unknown."""

    @property
    @abstractmethod
    def verdict(self) -> Verdict | None:
        """The comparison over data sets or splits. None if there is no such comparison."""

    @property
    @abstractmethod
    def learners(self) -> list[str]:
        """The names of the learners or models. The order of the names determines the colours."""

    @property
    def selected(self) -> dict[str, str]:
        """The initial values of the page's selection menus."""
        return {"measure": format_measure_name(self.measure)} if self.measure else {}

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """The ranking of the models on each data set. Empty if learners are compared only over data sets."""
        return ()

    @property
    def class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """The number of rows of each class in each data set. Empty if unknown."""
        return {}

    def to_results(self) -> Results | None:
        """Return the results from which figures are drawn, or None if there are no such results."""
        return None

    def get_results(self) -> Results:
        """Return the results of a study for its first resampling scheme, or raise an error if there is no study."""
        return self._refuse("results of a study")

    def get_all_results(self) -> Results:
        """Return the results of a study for all its resampling schemes, or raise an error if there is no study."""
        return self._refuse("results of a study")

    def get_judgement(self) -> Judgement:
        """Return the judgement, or raise an error if the source is not a judgement."""
        return self._refuse("a judgement")

    def get_gate(self) -> GateResult:
        """Return the result of a gate, or raise an error if there is none."""
        return self._refuse("the result of a gate")

    def get_thresholds(self) -> ThresholdResult:
        """Return the result of `choose_threshold`, or raise an error if there is none."""
        return self._refuse("the result of choose_threshold")

    def describe_schemes(self, selection: ShownSchemes) -> str | None:
        """Name the resampling schemes that a section shows. Return None if there is only one scheme."""
        return None

    def split_by_scheme(self) -> Mapping[str, ReportSource]:
        """Split the source by resampling scheme. The mapping is empty if there is only one scheme."""
        return {}

    def _refuse(self, needed: str) -> NoReturn:
        raise InputError(f"this section needs {needed}, got a {self.kind}")

    def figure_options(self) -> dict[str, Any]:
        """Return the figure options that the source determines."""
        return {}


@singledispatch
def describe_source(results: object) -> ReportSource:
    """Wrap the result of a study, judgement, gate, threshold or comparison as a report source.

    >>> from fairtrial import compare
    >>> describe_source(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]], rows="datasets")).subtitle
    '2 learners, 5 data sets'
    """
    type_name = type(results).__name__
    raise InputError(
        f"results must be Results, Judgement, GateResult, ThresholdResult or Verdict, got {type_name}: pass the result of "
        "Study.run, open_results, judge, gate, choose_threshold or compare"
    )


@describe_source.register(Results)
@dataclass(frozen=True)
class StudySource(ReportSource):
    """The results of a study."""

    results: Results
    kind = "study"

    @property
    def title(self) -> str:
        """The name of the study."""
        return self.results.archive.name

    @property
    def subtitle(self) -> str:
        """The numbers of data sets, conditions, learners and trials."""
        archive = self.results.archive
        counts = [(archive.datasets, "data set"), (archive.conditions, "condition"), (archive.learners, "learner")]
        parts = [format_count(len(items), noun) for items, noun in counts]
        parts += [format_count(len(archive.schemes), "resampling scheme")] if len(archive.schemes) > 1 else []
        return f"{', '.join(parts)}, {format_count(len(self.results.trials()), 'trial')}"

    @property
    def identity(self) -> Results:
        """The results."""
        return self.results

    @property
    def measure(self) -> str:
        """The measure of the study's verdict."""
        return get_verdict_measure(self.results).name

    @property
    def learners(self) -> list[str]:
        """The names of the learners. If there are more learners than colours, the best learners come first."""
        names = [learner.name for learner in self.results.archive.learners]
        best = select_best_learners(self.get_results(), _MOST_COLOURS)
        return [*best, *(name for name in names if name not in set(best))]

    @property
    def selected(self) -> dict[str, str]:
        """The measure of the verdict, the main condition and a data set.

        The data set is the largest one with two classes. If there is no such data set, it is the largest data set.
        """
        datasets = sorted(self.results.archive.datasets, key=lambda facts: (len(facts.classes) > 2, -len(facts.codes)))
        condition = format_condition(get_main_condition(self.results))
        return super().selected | {"condition": condition, "dataset": datasets[0].name}

    @property
    def verdict(self) -> Verdict | None:
        """The study's verdict under its main condition, for its first resampling scheme."""
        return compute_verdict(self.get_results())[0]

    @property
    def class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """The number of rows of each class in each data set."""
        return {
            dataset.name: {str(label): int(count) for label, count in zip(dataset.classes, dataset.counts, strict=True)}
            for dataset in self.results.archive.datasets
        }

    def to_results(self) -> Results:
        """Return the results of the first resampling scheme."""
        return self.results.for_resampling()

    def get_results(self) -> Results:
        """Return the results of the first resampling scheme."""
        return self.results.for_resampling()

    def get_all_results(self) -> Results:
        """Return the results of all resampling schemes."""
        return self.results

    def describe_schemes(self, selection: ShownSchemes) -> str | None:
        """Name the resampling schemes that a section shows. Return None if the study has only one scheme."""
        schemes = self.results.schemes
        if len(schemes) == 1:
            return None
        return f"Resampling scheme: {schemes[0]}." if selection == "first" else f"Resampling schemes: {join_names(schemes)}."

    def split_by_scheme(self) -> Mapping[str, ReportSource]:
        """Split the source by resampling scheme. The mapping is empty if the study has only one scheme."""
        schemes = self.results.schemes
        return {name: StudySource(self.results.for_resampling(name)) for name in schemes} if len(schemes) > 1 else {}


@describe_source.register(Judgement)
@dataclass(frozen=True)
class JudgementSource(ReportSource):
    """A judgement of predictions."""

    judgement: Judgement
    kind = "judgement"
    noun = "model"

    @property
    def title(self) -> str:
        """A title with the name of the predictions file."""
        return f"Judgement of {self.judgement.source}"

    @property
    def subtitle(self) -> str:
        """The numbers of models, data sets and rows."""
        facts = build_facts_frame(self.judgement)["value"]
        return ", ".join(format_count(int(facts[f"{noun}s"]), noun) for noun in ("model", "data set", "row"))

    @property
    def identity(self) -> Judgement:
        """The judgement."""
        return self.judgement

    @property
    def measure(self) -> str:
        """The main measure."""
        return self.judgement.main

    @property
    def learners(self) -> list[str]:
        """The names of the models."""
        return list_models(self.judgement)

    @property
    def verdict(self) -> Verdict | None:
        """The comparison over data sets or splits."""
        return self.judgement.verdict

    @property
    def rankings(self) -> tuple[Ranking, ...]:
        """The ranking of the models on each data set."""
        return self.judgement.findings

    @property
    def class_counts(self) -> Mapping[str, Mapping[str, int]]:
        """The number of rows of each class in each data set."""
        return self.judgement.class_counts

    def to_results(self) -> Results | None:
        """Return the predictions as results, or None if rows have weights or predictions are not in memory."""
        if self.judgement.predictions is None or self.judgement.roles.get("weight"):
            return None
        return Results(self.judgement.archive)

    def get_judgement(self) -> Judgement:
        """Return the judgement."""
        return self.judgement

    def figure_options(self) -> dict[str, Any]:
        """Return the positive class as a figure option if the same class was specified for all data sets."""
        positives = self.judgement.positives
        labels = {label for label, _ in positives.classes.values()}
        return {"positive": labels.pop()} if len(labels) == 1 and positives.specified else {}


@describe_source.register(Verdict)
@dataclass(frozen=True)
class ComparisonSource(ReportSource):
    """A verdict on a table of scores."""

    comparison: Verdict
    kind = "comparison"

    @property
    def title(self) -> str:
        """A fixed title, because a table of scores has no name."""
        return "Comparison of learners"

    @property
    def subtitle(self) -> str:
        """The numbers of learners and data sets, and the measure."""
        table, unit, excluded = self.comparison.table, self.comparison.unit, self.comparison.excluded
        some_excluded = excluded.datasets and unit == "data set"
        total = f" of {len(excluded.used_datasets) + len(excluded.datasets)}" if some_excluded else ""
        measure = f", {self.comparison.measure_name}" if self.comparison.measure_name else ""
        return f"{len(table.learners)} learners, {len(table.datasets)}{total} {unit}s{measure}"

    @property
    def identity(self) -> Verdict:
        """The verdict."""
        return self.comparison

    @property
    def measure(self) -> str:
        """The measure of the scores. Empty if the measure is not registered."""
        return "" if self.comparison.measure is None else self.comparison.measure

    @property
    def learners(self) -> list[str]:
        """The names of the learners."""
        return [str(name) for name in self.comparison.table.learners]

    @property
    def verdict(self) -> Verdict:
        """The verdict itself."""
        return self.comparison


@describe_source.register(GateResult)
@dataclass(frozen=True)
class GateSource(ReportSource):
    """The result of a gate."""

    result: GateResult
    kind = "gate"
    noun = "model"

    @property
    def title(self) -> str:
        """A question that names the candidates and the baseline."""
        candidates = dict.fromkeys(comparison.candidate for comparison in self.result.comparisons)
        return f"May {join_names(candidates)} replace {self.result.comparisons[0].baseline}?"

    @property
    def subtitle(self) -> str:
        """The name of the file, and the number of rows."""
        return f"{self.result.source}, {format_count(self.result.comparisons[0].rows, 'row')}"

    @property
    def identity(self) -> GateResult:
        """The result."""
        return self.result

    @property
    def learners(self) -> list[str]:
        """The names of the baseline and the candidates."""
        comparisons = self.result.comparisons
        return list(dict.fromkeys([comparisons[0].baseline, *(comparison.candidate for comparison in comparisons)]))

    @property
    def measure(self) -> str:
        """The measure of the first comparison."""
        return self.result.comparisons[0].measure

    @property
    def verdict(self) -> None:
        """None, because there is no comparison over data sets."""

    def get_gate(self) -> GateResult:
        """Return the result."""
        return self.result


@describe_source.register(ThresholdResult)
@dataclass(frozen=True)
class ThresholdSource(ReportSource):
    """The result of `choose_threshold`."""

    result: ThresholdResult
    kind = "threshold"
    noun = "model"

    @property
    def title(self) -> str:
        """A title with the name of the file."""
        return f"Threshold for {self.result.source}"

    @property
    def subtitle(self) -> str:
        """The numbers of models and rows."""
        models = len({choice.model for choice in self.result.choices})
        return f"{format_count(models, 'model')}, {format_count(self.result.choices[0].rows, 'row')}"

    @property
    def identity(self) -> ThresholdResult:
        """The result."""
        return self.result

    @property
    def learners(self) -> list[str]:
        """The names of the models."""
        return list(dict.fromkeys(choice.model for choice in self.result.choices))

    @property
    def measure(self) -> str:
        """An empty string, because there is no main measure."""
        return ""

    @property
    def verdict(self) -> None:
        """None, because there is no comparison over data sets."""

    def get_thresholds(self) -> ThresholdResult:
        """Return the result."""
        return self.result
