"""The section that says what was run: data sets, learners, conditions, resampling, settings, runs, and how the trials went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.report.checks.kept import of_predictions_alone
from fairtrial.report.section import Section, Table
from fairtrial.report.sections.run_tables import (
    abstentions_frame,
    conditions_frame,
    counts_frame,
    failures_frame,
    learners_frame,
    runs_frame,
    settings_frame,
    status_frame,
    versions_frame,
)
from fairtrial.report.sentence import Sentence, say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

_COUNTS = "what-was-run-counts"
_SILENT = "what-was-run-abstentions"
_MANY = 30


def section(results: Results) -> Section:
    """Sentences with the counts, then a table of each kind of thing."""
    counts = counts_frame(results)
    tables = [
        Table(_COUNTS, "How much was run", counts),
        Table("what-was-run-learners", "Learners", learners_frame(results), note=_LEARNER_NOTE),
        Table("what-was-run-conditions", "Conditions", conditions_frame(results), {"realised": "{:.4f}"}),
        Table("what-was-run-settings", "Settings", settings_frame(results)),
        Table("what-was-run-trials", "How the trials went", status_frame(results)),
    ]
    runs, versions, failures = runs_frame(results), versions_frame(results), failures_frame(results)
    tables += [Table("what-was-run-runs", "Runs", runs)] if len(runs) else []
    tables += [Table("what-was-run-versions", "Versions", versions)] if len(versions) else []
    if len(failures):
        note = "The first of each kind stands for the others of its learner."
        tables.append(Table("what-was-run-failures", "Failures", failures, note=note, long=_many(failures)))
    silent = abstentions_frame(results)
    tables += [Table(_SILENT, "Abstentions", silent, note=_SILENT_NOTE)] if len(silent) else []
    told = [*_sentences(results, counts), *_abstained(silent)]
    return Section("what-was-run", "What was run", tuple(told), (), tuple(tables), _notes(results))


_LEARNER_NOTE = (
    "Parameters that are None are left out. Encoding and scaling, where a learner needs them, happen inside each training part."
)

_SILENT_NOTE = "Rows that a learner gave no class. Test rows are those of the trials in which it abstained."


def _many(things: Any) -> bool:
    return len(things) > _MANY


def _sentences(results: Results, counts: pd.DataFrame) -> list[Sentence]:
    def number(what: str) -> Any:
        return shown(counts, _COUNTS, what, "count", "{:,d}")

    def noun(what: str) -> str:
        return what if counts.loc[what, "count"] != 1 else what[:-1]

    told = [
        say(
            "{study} tries {learners} {learner_noun} on {sets} {set_noun} under {conditions} {condition_noun}, "
            "in {splits} {split_noun}: {trials} {trial_noun}.",
            study="This study" if results.archive.name == "study" else results.archive.name,
            learners=number("learners"),
            learner_noun=noun("learners"),
            sets=number("data sets"),
            set_noun=noun("data sets"),
            conditions=number("conditions"),
            condition_noun=noun("conditions"),
            splits=number("splits"),
            split_noun=noun("splits"),
            trials=number("trials"),
            trial_noun=noun("trials"),
        )
    ]
    return told + _how_it_went(counts, number)


def _how_it_went(counts: pd.DataFrame, number: Any) -> list[Sentence]:
    bad, waiting = (int(counts["count"].loc[what]) for what in ("trials that failed", "trials not run"))
    told = []
    if not bad and not waiting:
        told.append(say("All of them ran well."))
    if bad:
        told.append(say("{failed} of them failed.", failed=number("trials that failed")))
    if waiting:
        told.append(
            say("{waiting} of them {have} not run.", waiting=number("trials not run"), have="have" if waiting > 1 else "has")
        )
    return told


def _abstained(silent: pd.DataFrame) -> list[Sentence]:
    """A sentence for each learner that gave rows no class."""
    return [
        say(
            "{learner} abstained in {some} of {every} {trial_noun}, on {rows} of the {tested} test {noun} there: "
            "each counts as an error.",
            learner=silent["learner"].iloc[line],
            rows=shown(silent, _SILENT, line, "abstentions", "{:,d}"),
            tested=shown(silent, _SILENT, line, "of test rows", "{:,d}"),
            noun="row" if silent["of test rows"].iloc[line] == 1 else "rows",
            some=shown(silent, _SILENT, line, "in trials", "{:,d}"),
            every=shown(silent, _SILENT, line, "of trials", "{:,d}"),
            trial_noun="trial" if silent["of trials"].iloc[line] == 1 else "trials",
        )
        for line in range(len(silent))
    ]


def _notes(results: Results) -> tuple[str, ...]:
    alone = "Models are known by their predictions alone." if of_predictions_alone(results) else ""
    said = results.archive.declaration.get("notes")
    more = [str(each) for each in said] if isinstance(said, (list, tuple)) else []
    return tuple(each for each in (alone, *more) if each)
