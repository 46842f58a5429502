"""What a report is of: the results of a study, a judgement on predictions, or a verdict on a table of scores.

Each kind says how its report is called and what figures can be drawn of it. `describe_source` finds the kind by the type.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

from fairtrial._text import format_count
from fairtrial.errors import InputError
from fairtrial.predictions.judgement import Judgement
from fairtrial.report.judgement import build_facts_frame
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import ReportKind
from fairtrial.significance.verdict import Verdict
from fairtrial.study.results.results import Results


class ReportSource(ABC):
    """What a report is of, with the title of the report and the line under it."""

    kind: ClassVar[ReportKind]

    @property
    @abstractmethod
    def title(self) -> str:
        """The title of the report, if no other is given."""

    @property
    @abstractmethod
    def subtitle(self) -> str:
        """How much there is, in one line."""

    def to_results(self) -> Results | None:
        """The results that figures are drawn of; None if there are none."""
        return None

    def figure_options(self) -> dict[str, Any]:
        """Options of figures that follow from the source."""
        return {}


@singledispatch
def describe_source(results: object) -> ReportSource:
    """Describe what a report is of.

    >>> from fairtrial import compare
    >>> describe_source(compare([[0.9, 0.8], [0.8, 0.6], [0.7, 0.6], [0.9, 0.5], [0.8, 0.7]])).subtitle
    '2 learners, 5 data sets'
    """
    type_name = type(results).__name__
    raise InputError(f"results must be those of a study, got {type_name}: pass what Study.run or fairtrial.open_results gives")


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
        """What ran, in one line."""
        archive = self.results.archive
        counts = [(archive.datasets, "data set"), (archive.conditions, "condition"), (archive.learners, "learner")]
        parts = [format_count(len(items), noun) for items, noun in counts]
        return f"{', '.join(parts)}, {len(self.results.trials()):,} trials"

    def to_results(self) -> Results:
        """The results themselves."""
        return self.results


@describe_source.register(Judgement)
@dataclass(frozen=True)
class JudgementSource(ReportSource):
    """A judgement on predictions."""

    judgement: Judgement
    kind = "judgement"

    @property
    def title(self) -> str:
        """Where the predictions come from."""
        return f"Judgement on {self.judgement.source}"

    @property
    def subtitle(self) -> str:
        """What was judged, in one line."""
        facts = build_facts_frame(self.judgement)["value"]
        return ", ".join(format_count(int(facts[f"{noun}s"]), noun) for noun in ("model", "data set", "row"))

    def to_results(self) -> Results | None:
        """The predictions as results, if they were held and have no weights."""
        if self.judgement.predictions is None or self.judgement.roles.get("weight"):
            return None
        return Results(self.judgement.archive)

    def figure_options(self) -> dict[str, Any]:
        """The positive class, if one was given for all data sets."""
        positives = self.judgement.positives
        labels = {label for label, _ in positives.classes.values()}
        return {"positive": labels.pop()} if len(labels) == 1 and positives.specified else {}


@describe_source.register(Verdict)
@dataclass(frozen=True)
class ComparisonSource(ReportSource):
    """A verdict on a table of scores."""

    verdict: Verdict
    kind = "comparison"

    @property
    def title(self) -> str:
        """The same for all comparisons: a table of scores has no name."""
        return "Comparison of learners"

    @property
    def subtitle(self) -> str:
        """What was compared, in one line."""
        table, unit, excluded = self.verdict.table, self.verdict.unit, self.verdict.excluded
        some_excluded = excluded.datasets and unit == "data set"
        total = f" of {len(excluded.used_datasets) + len(excluded.datasets)}" if some_excluded else ""
        measure = f", {format_measure_name(self.verdict.measure)}" if self.verdict.measure else ""
        return f"{len(table.learners)} learners, {len(table.datasets)}{total} {unit}s{measure}"
