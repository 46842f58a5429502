"""Summaries of a study: means, notes and the verdict on one page; progress; times."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._text import collapse_whitespace, format_count, format_p_value, format_reason, join_names
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.study.archive import Archive, ConditionFacts
from fairtrial.study.results.selection import CLEAN, format_condition, mask_condition, mask_failed
from fairtrial.study.results.stacking import SplitGrid

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.results.results import Results

_COLUMNS = ["fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory"]
_MAX_RATIO = 1.5
_MIN_WAIT = 0.01
"""Seconds below which a wait says nothing."""
_MAX_LENGTH = 120
_CELL = ["dataset", "condition", "level", "repeat", "fold"]
_MAX_RUNS = 5
_FOOT = "* Data sets on which a trial of this learner failed, or on which it has no mean, are left out."


@dataclass(frozen=True, eq=False)
class ResultSummary:
    """`means` has, for each measure, a table of learners by conditions as text; `verdict` are the words of the verdict."""

    title: str
    means: Mapping[str, pd.DataFrame]
    notes: Sequence[str]
    heading: str
    verdict: str

    @classmethod
    def from_results(cls, results: Results) -> ResultSummary:
        """Summarise results; if there can be no verdict, the summary says why."""
        archive, means = results.archive, {}
        for name in results.measures:
            tables = {
                format_condition(condition): results.wide(name, condition.name, condition.level)
                for condition in archive.conditions
            }
            means[name] = format_means(tables, len(archive.datasets))
        try:
            with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
                verdict = results.verdict()
            p_value_text = format_p_value(verdict.p_value, verdict.alpha)
            heading, verdict_text = f"Verdict on {verdict.measure}: {verdict.choice}, {p_value_text}", verdict.summary
        except InputError as error:
            heading, verdict_text = "No verdict", str(error)
        notes = [*results.notes, *_list_left_out_notes(results)]
        return cls(cls.format_title(results), means, notes, heading, verdict_text)

    @staticmethod
    def format_title(results: Results) -> str:
        """What was run, in numbers."""
        archive = results.archive
        parts = {"data set": archive.datasets, "condition": archive.conditions, "learner": archive.learners}
        counts = ", ".join(format_count(len(items), kind) for kind, items in parts.items())
        return f"{archive.name}: {counts}, {format_count(len(results.trials()), 'trial')}"

    def __str__(self) -> str:
        tables = [f"{name}\n{table.to_string()}" for name, table in self.means.items()]
        return "\n\n".join(
            part for part in [self.title, *tables, self._format_notes(), f"{self.heading}\n{self.verdict}"] if part
        )

    def _format_notes(self) -> str:
        has_missing = any(text.endswith("*") for table in self.means.values() for text in table.to_numpy().ravel())
        return "\n".join([*([_FOOT] if has_missing else []), *self.notes])

    def _repr_html_(self) -> str:
        tables = [f"<h4>{escape(name)}</h4>{table.to_html(escape=True)}" for name, table in self.means.items()]
        notes = "".join(f"<p>{escape(line)}</p>" for line in self._format_notes().splitlines())
        verdict_items = "".join(f"<li>{escape(line)}</li>" for line in self.verdict.splitlines())
        return (
            f"<p>{escape(self.title)}</p>{''.join(tables)}{notes}<p><b>{escape(self.heading)}</b></p><ul>{verdict_items}</ul>"
        )


def _list_left_out_notes(results: Results) -> list[str]:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        notes = [note_left_out(results.scores(name), results.archive.conditions) for name in results.measures]
    return [note for note in notes if note]


def note_left_out(scores: pd.DataFrame, conditions: Sequence[ConditionFacts]) -> str:
    """How many splits the means of a measure leave out, by data set; empty where they leave out none."""
    left_out: dict[str, int] = {}
    for condition in conditions:
        grid = SplitGrid.from_scores(scores[mask_condition(scores, condition)])
        for name in grid.values.index.get_level_values("dataset")[~grid.shared]:
            left_out[name] = left_out.get(name, 0) + 1
    if not left_out:
        return ""
    planned = len(scores.drop_duplicates(["dataset", "repeat", "fold", "condition", "level"]))
    counts_text = ", ".join(f"{name}: {count:,}" for name, count in left_out.items())
    return (
        f"Means of {scores['measure'].iloc[0]} leave out {sum(left_out.values()):,} of {format_count(planned, 'split')}, "
        f"on which some learners have a value and others have none ({counts_text})."
    )


def format_means(tables: Mapping[str, pd.DataFrame], datasets: int) -> pd.DataFrame:
    """Learners by conditions: the mean over data sets as text, starred where it lacks some of them.

    `tables` has for each condition the table of data sets by learners.
    """
    import pandas as pd

    columns = {}
    for condition, table in tables.items():
        n_values = table.notna().sum()
        columns[condition] = [
            f"{table[name].mean():.4f}{'*' if n_values[name] < datasets else ''}" if n_values[name] else "-*"
            for name in table.columns
        ]
    learners = next(iter(tables.values())).columns
    return pd.DataFrame(columns, index=list(learners))


@dataclass(frozen=True, eq=False, repr=False)
class StudyProgress:
    """Trials by learner and status, when the study ran, and what is to be said of abstentions."""

    name: str
    table: pd.DataFrame
    runs: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    def frame(self) -> pd.DataFrame:
        """A line for each learner: trials planned and those of each status that occurs."""
        return self.table.copy()

    def __str__(self) -> str:
        total = self.table.drop(columns="learner").sum()
        done = int(total["planned"] - total.get("missing", 0))
        failed = int(total.drop(["planned", "ok", "missing"], errors="ignore").sum())
        planned = int(total["planned"])
        verb = "is" if planned == 1 else "are"
        lines = [f"{self.name}: {done:,} of {format_count(planned, 'trial')} {verb} stored, {failed:,} of them failed"]
        lines += ["", self.table.to_string(index=False, formatters=dict.fromkeys(total.index, "{:,}".format))]
        lines += ["", *self.notes] if self.notes else []
        lines += ["", *(_format_run(run) for run in self.runs[-_MAX_RUNS:])] if self.runs else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def compute_progress(results: Results) -> StudyProgress:
    """How far the study of these results is."""
    import pandas as pd

    trials = results.trials()
    order = [learner.name for learner in results.archive.learners]
    counts = pd.crosstab(trials["learner"].astype(str), trials["status"].astype(str)).reindex(order, fill_value=0)
    columns = [status for status in ("ok", "error", "timeout", "memory", "crash", "missing") if status in counts]
    table = counts[columns].reset_index()
    table.insert(1, "planned", counts.sum(axis=1).to_numpy())
    table.columns.name = None
    notes = format_abstentions(results.archive, trials)
    return StudyProgress(results.archive.name, table, tuple(results.archive.runs), tuple(notes))


def _format_run(facts: Any) -> str:
    finished = facts.get("finished")
    end_text = f"finished {finished}" if finished else "not finished: it is running, or was stopped at once"
    return f"run started {facts.get('started')}, engine {facts.get('engine')}, {end_text}"


def collect_notes(archive: Archive, trials: pd.DataFrame) -> tuple[str, ...]:
    """Sentences; none where everything ran and nothing was said."""
    is_condition_failure = _mask_not_applied(trials)
    notes = [
        _note_incomplete(trials),
        *_note_conditions(trials, is_condition_failure),
        *_note_failures(trials[~is_condition_failure]),
    ]
    notes += [*format_abstentions(archive, trials), *_note_warnings(trials), note_slow_fits(trials)]
    return tuple(note for note in notes if note)


def count_abstentions(archive: Archive, trials: pd.DataFrame) -> pd.DataFrame:
    """Count abstentions for each learner that abstained.

    The column `trials` counts the learner's successful trials, and `abstaining` those with abstentions. `rows` counts the test
    rows of the latter, and `abstained` the rows for which the learner predicted no class.
    """
    import pandas as pd

    succeeded = trials[trials["status"] == "ok"]
    is_abstaining = succeeded["abstentions"].astype(float) > 0
    abstaining = succeeded[is_abstaining]
    n_rows = pd.Series(
        [len(predictions.rows) for predictions in archive.predictions(abstaining["trial"].tolist())],
        index=abstaining.index,
        dtype=np.int64,
    )
    frame = pd.DataFrame(
        {
            "learner": succeeded["learner"].astype(str),
            "abstaining": is_abstaining,
            "rows": n_rows.reindex(succeeded.index, fill_value=0),
            "abstained": succeeded["abstentions"].fillna(0).astype(np.int64),
        }
    )
    sums = frame.groupby("learner", sort=False).agg(
        trials=("abstaining", "size"), abstaining=("abstaining", "sum"), rows=("rows", "sum"), abstained=("abstained", "sum")
    )
    return sums[sums["abstained"] > 0].reset_index()


def format_abstentions(archive: Archive, trials: pd.DataFrame) -> list[str]:
    """Format a sentence for each learner that abstained."""
    counts = count_abstentions(archive, trials)
    return [
        f"{learner} abstained in {n_abstaining:,} of {format_count(n_trials, 'trial')}, on {n_abstained:,} of the "
        f"{format_count(rows, 'test row')} there: counted as errors"
        for learner, n_trials, n_abstaining, rows, n_abstained in counts.itertuples(index=False, name=None)
    ]


def _note_incomplete(trials: pd.DataFrame) -> str:
    waiting = int((trials["status"] == "missing").sum())
    verb = "has" if waiting == 1 else "have"
    return f"Incomplete: {waiting:,} of {format_count(len(trials), 'trial')} {verb} not run." if waiting else ""


def _mask_not_applied(trials: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Failures that no learner is to blame for: on a split all of them failed with the same complaint about the input."""
    refused = mask_failed(trials) & trials["error"].astype(str).str.endswith("InputError") & (trials["condition"] != CLEAN)
    by_cell = trials.assign(refused=refused).groupby(_CELL, sort=False, observed=True, dropna=False)
    alike = by_cell["refused"].transform("all") & (by_cell["message"].transform("nunique") == 1)
    return np.asarray(alike & (by_cell["learner"].transform("nunique") > 1), dtype=bool)


def _note_conditions(trials: pd.DataFrame, is_condition_failure: npt.NDArray[np.bool_]) -> list[str]:
    """A sentence for each condition that could not be applied to some data sets."""
    notes = []
    for name, failures in trials[is_condition_failure].groupby("condition", sort=False, observed=True):
        levels = [format_condition(ConditionFacts(str(name), float(level), "", {})) for level in failures["level"].unique()]
        planned = trials[(trials["condition"] == name) & trials["level"].isin(failures["level"])]
        sets = [
            _describe_dataset(dataset, lost, planned)
            for dataset, lost in failures.groupby("dataset", sort=False, observed=True)
        ]
        notes.append(
            f"{', '.join(levels)} could not be applied to {join_names(sets)}: "
            f"{collapse_whitespace(failures['message'].iloc[0], _MAX_LENGTH)}"
        )
    return notes


def _describe_dataset(dataset: Any, lost: pd.DataFrame, planned: pd.DataFrame) -> str:
    """The data set, and how many of its splits where it is not all of them."""
    splits, every = (len(frame.drop_duplicates(_CELL)) for frame in (lost, planned[planned["dataset"] == dataset]))
    return str(dataset) if splits == every else f"{dataset} ({splits:,} of {format_count(every, 'split')})"


def _note_failures(trials: pd.DataFrame) -> list[str]:
    notes = []
    for learner, failures in trials[mask_failed(trials)].groupby("learner", sort=False, observed=True):
        kinds = ", ".join(f"{count:,} {status}" for status, count in Counter(failures["status"]).items())
        first = failures.iloc[0]
        reason_text = format_reason(first["error"] or first["status"], first["message"], _MAX_LENGTH)
        sets = format_count(failures["dataset"].nunique(), "data set")
        notes.append(
            f"{learner} failed in {format_count(len(failures), 'trial')} ({kinds}) on {sets}; the first: {reason_text}"
        )
    return notes


def _note_warnings(trials: pd.DataFrame) -> list[str]:
    warned = trials[(trials["status"] == "ok") & trials["notes"].notna()]
    notes = []
    for learner, warned_trials in warned.groupby("learner", sort=False, observed=True):
        first = collapse_whitespace(warned_trials["notes"].iloc[0], _MAX_LENGTH)
        notes.append(f"{learner} gave warnings in {format_count(len(warned_trials), 'trial')}; the first: {first}")
    return notes


def summarise_times(trials: pd.DataFrame) -> pd.DataFrame:
    """Medians over the trials that did not fail, by data set and learner: seconds of wall-clock and CPU time, bytes of memory.

    NaN where none succeeded; `note` says where fitting took much longer than its CPU time.
    """
    numbers = trials[_COLUMNS].astype(np.float64).where(trials["status"] == "ok")
    frame = numbers.groupby([trials["dataset"], trials["learner"]], sort=False, observed=True).median().reset_index()
    slow = (frame["fit_time"] > _MAX_RATIO * frame["fit_cpu"]) & (frame["fit_time"] - frame["fit_cpu"] > _MIN_WAIT)
    ratio = frame["fit_time"] / frame["fit_cpu"].clip(lower=1e-9)
    frame["note"] = [
        f"fitting took {factor:.1f} times its CPU time" if long else "" for long, factor in zip(slow, ratio, strict=True)
    ]
    return frame


def note_slow_fits(trials: pd.DataFrame) -> str:
    """A sentence where times are not to be trusted; empty otherwise."""
    frame = summarise_times(trials)
    slow = frame[frame["note"] != ""]
    if slow.empty:
        return ""
    who = ", ".join(dict.fromkeys(slow["learner"].astype(str)))
    sets = format_count(slow["dataset"].nunique(), "data set")
    return (
        f"Fitting took more than {_MAX_RATIO:g} times its CPU time on {sets} ({who}): the machine was oversubscribed "
        "or the learner waited, so compare CPU times."
    )
