"""Summaries of a study: answer, mean scores, notes, progress, abstentions and times."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._findings import Finding
from fairtrial._narrative import render, render_all
from fairtrial._registry import Registry
from fairtrial._text import (
    collapse_whitespace,
    fit_table,
    format_count,
    format_html_block,
    format_html_table,
    format_reason,
    generalize_message,
    wrap_item,
    wrap_lines,
)
from fairtrial.errors import InputError, UndefinedMeasureWarning
from fairtrial.study.archive import Archive, ConditionFacts, find_run_state
from fairtrial.study.records import FAILURES
from fairtrial.study.results.selection import (
    CLEAN,
    choose_condition,
    format_condition,
    format_measure_name,
    mask_condition,
    mask_failed,
)
from fairtrial.study.results.stacking import SplitGrid
from fairtrial.study.store.archive import StoreArchive

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.significance.verdict import Verdict
    from fairtrial.study.results.results import Results

_TIME_COLUMNS = ["fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory"]
_MAX_RATIO = 1.5
_MIN_WAIT_SECONDS = 0.01
_MAX_STEAL = 0.05
_MIN_THREADS = 1.3  # minimum ratio of CPU time to wall-clock time of a multi-threaded learner
_MAX_REASON_LENGTH = 120
_CELL = ["dataset", "condition", "level", "resampling", "repeat", "fold"]
_MAX_SHORT_LINES = 9
_WIDTH = 80

answer_checks: Registry[Callable[[Results], Sequence[str]]] = Registry(
    "list of raised checks", group="fairtrial.answer_checks", package="fairtrial.report.checks"
)
"""Functions that list raised checks that may change the conclusion. The report package registers these functions."""


@dataclass(frozen=True, eq=False)
class ResultSummary:
    """The answer of a study, with mean scores and notes. `Results.summary` builds this object.

    Attributes
    ----------
    title : str
        Name of the study, and the numbers of data sets, conditions, learners and trials.
    answer : str
        Which learner is best, or why there is no verdict.
    details : sequence of str
        The test, the best learners under the other conditions, and the learners or data sets that are left out.
    means : mapping of str to DataFrame
        For each measure, a formatted table with learners as rows and conditions as columns.
    notes : sequence of str
        Missing and failed trials, abstentions, warnings and slow fits.
    raised_checks : sequence of str
        Raised checks that may change the conclusion.
    """

    title: str
    answer: str
    details: Sequence[str]
    means: Mapping[str, pd.DataFrame]
    notes: Sequence[str]
    raised_checks: Sequence[str] = ()

    @classmethod
    def from_results(cls, results: Results) -> ResultSummary:
        """Summarize results. If there is no verdict, the answer explains why."""
        archive, means = results.archive, {}
        results.frame()  # reads the predictions once for all measures
        for name in results.measures:
            tables = {
                _format_column(condition, scheme, results): results.wide(
                    name, condition.name, condition.level, resampling=scheme
                )
                for scheme in results.schemes
                for condition in archive.conditions
            }
            means[name] = format_means(tables, len(archive.datasets))
        answer, details, caveats = _format_answer(results)
        raised = [text for list_raised in answer_checks.values() for text in list_raised(results)]
        notes = [*caveats, *results.notes, *_list_left_out_notes(results)]
        return cls(cls.format_title(results), answer, details, means, notes, raised)

    @staticmethod
    def format_title(results: Results) -> str:
        """Format the name of the study and the numbers of data sets, learners and trials."""
        archive = results.archive
        parts = {"data set": archive.datasets, "condition": archive.conditions, "learner": archive.learners}
        if len(results.schemes) > 1:
            parts["resampling scheme"] = results.schemes
        counts = ", ".join(format_count(len(items), kind) for kind, items in parts.items())
        return f"{archive.name}: {counts}, {format_count(len(results.trials()), 'trial')}"

    def format_short(self, more: str = "--all") -> str:
        """Format the answer, and add as many notes as fit into 9 lines in total.

        `more` is the command or option that shows the other notes.
        """
        lines, notes = self._format_answer_lines(), [*self.raised_checks, *self.notes]
        while notes:
            first, *others = wrap_lines(collapse_whitespace(notes[0]), _WIDTH - 2)
            if len(lines) + 1 + len(others) + (len(notes) > 1) > _MAX_SHORT_LINES:
                break
            lines += [f"! {first}", *(f"  {line}" for line in others)]
            del notes[0]
        return "\n".join([*lines, *([f"! {format_count(len(notes), 'more note')}: {more}"] if notes else [])])

    def _format_answer_lines(self) -> list[str]:
        return [*wrap_lines(self.answer), *(line for text in self.details for line in wrap_lines(text, indent="  "))]

    def _list_footnotes(self) -> list[str]:
        has_missing = any(text.endswith("*") for table in self.means.values() for text in table.to_numpy().ravel())
        return [render(Finding.of("means_with_missing_datasets"))] if has_missing else []

    def __str__(self) -> str:
        tables = ["\n".join([format_measure_name(name), *_format_means(table)]) for name, table in self.means.items()]
        notes = "\n".join([*self._list_footnotes(), *self.notes])
        raised = [line for text in self.raised_checks for line in wrap_item(collapse_whitespace(text), "!")]
        parts = ["\n".join([*self._format_answer_lines(), *raised]), self.title, *tables, notes]
        return "\n\n".join(part for part in parts if part)

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{escape(format_measure_name(name))}</h4>{format_html_table(table, index=True)}"
            for name, table in self.means.items()
        ]
        paragraphs = "".join(
            f"<p>{escape(text)}</p>" for text in (*self.details, *(f"! {text}" for text in self.raised_checks))
        )
        notes = "".join(f"<p>{escape(note)}</p>" for note in (*self._list_footnotes(), *self.notes))
        return f"<p><b>{escape(self.answer)}</b></p>{paragraphs}<p>{escape(self.title)}</p>{''.join(tables)}{notes}"


def _format_means(table: pd.DataFrame) -> list[str]:
    rows = [["", *table.columns], *([str(learner), *means] for learner, *means in table.itertuples())]
    return [line for row in fit_table(rows, right=range(1, len(rows[0]))) for line in row]


def _format_column(condition: ConditionFacts, scheme: str, results: Results) -> str:
    """Format the condition and, if the study has several resampling schemes, the scheme."""
    return format_condition(condition) if len(results.schemes) == 1 else f"{format_condition(condition)}, {scheme}"


def _format_answer(results: Results) -> tuple[str, list[str], list[str]]:
    """Return the answer, the details and the caveats as text.

    The answer refers to clean data or, if the study has no clean trials, to its only condition. The details describe the test
    and the best learners under other conditions.
    """
    conditions = results.archive.conditions
    try:
        first = choose_condition(conditions)
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            verdict = results.verdict()
    except InputError as error:
        return f"No verdict: {error}", [], []
    scope = "on clean data" if len(conditions) > 1 and first.name == CLEAN else ""
    if len(results.schemes) > 1:
        scope = f"{scope} with {results.schemes[0]}".strip()
    test = [] if verdict.ranking.tests else [render(verdict.test_result)]  # the answer already names the test of a single pair
    others = (*_describe_schemes(results, first), *_describe_conditions(results, first))
    # The details must name the data sets and learners that the answer leaves out.
    left_out = [caveat for caveat in verdict.caveats if caveat.kind.startswith(("missing_datasets", "missing_learners"))]
    caveats = [caveat for caveat in verdict.caveats if caveat not in left_out]
    return verdict.summarize(scope=scope), [*test, *others, *render_all(left_out)], list(render_all(caveats))


def _describe_conditions(results: Results, first: ConditionFacts) -> tuple[str, ...]:
    """Describe which learners rank first under the other conditions."""
    conditions = [condition for condition in results.archive.conditions if condition is not first]
    verdicts = {format_condition(condition): _find_verdict(results, condition) for condition in conditions}
    return _describe_leaders(verdicts, "condition")


def _describe_schemes(results: Results, first: ConditionFacts) -> tuple[str, ...]:
    """Describe which learners rank first with the other resampling schemes."""
    verdicts = {name: _find_verdict(results.for_resampling(name), first) for name in results.schemes[1:]}
    return _describe_leaders(verdicts, "scheme")


def _describe_leaders(verdicts: Mapping[str, Verdict | None], factor: str) -> tuple[str, ...]:
    """Describe which learners rank first under each condition or scheme.

    Conditions or schemes with the same best learners share a sentence.
    """
    names_by_leaders: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, verdict in verdicts.items():
        if verdict is not None and verdict.ranking.best:
            ranking = verdict.ranking
            is_clear = any(pair.better in ranking.best and pair.p_adjusted <= ranking.alpha for pair in ranking.pairs)
            kind = f"{factor}_leaders" if is_clear else f"{factor}_leaders_unclear"
            names_by_leaders.setdefault((kind, ranking.best), []).append(name)
    return render_all(
        Finding(kind, {f"{factor}s": tuple(names), "leaders": leaders}) for (kind, leaders), names in names_by_leaders.items()
    )


def _find_verdict(results: Results, condition: ConditionFacts) -> Verdict | None:
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
            return results.verdict(condition=condition.name, level=condition.level)
    except InputError:
        return None


def _list_left_out_notes(results: Results) -> list[str]:
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        findings = [
            find_left_out_splits(results.for_resampling(scheme).scores(name), results.archive.conditions)
            for name in results.measures
            for scheme in results.schemes
        ]
    return [render(finding) for finding in findings if finding is not None]


def find_left_out_splits(scores: pd.DataFrame, conditions: Sequence[ConditionFacts]) -> Finding | None:
    """Count the splits that are left out of the means of a measure.

    A split is left out if a learner has no value on it.
    """
    left_out: Counter[str] = Counter()
    for condition in conditions:
        grid = SplitGrid.from_scores(scores[mask_condition(scores, condition)])
        left_out.update(map(str, grid.values.index.get_level_values("dataset")[~grid.shared]))
    if not left_out:
        return None
    planned = len(scores.drop_duplicates(["dataset", "repeat", "fold", "condition", "level"]))
    return Finding.of(
        "splits_left_out",
        measure=str(scores["measure"].iloc[0]),
        left_out=left_out.total(),
        splits=planned,
        datasets=tuple(f"{name}: {count:,}" for name, count in left_out.items()),
    )


def format_means(tables: Mapping[str, pd.DataFrame], datasets: int) -> pd.DataFrame:
    """Format means over data sets as a table with learners as rows and conditions as columns.

    An asterisk marks means that do not include all data sets. `tables` maps each condition to a table with data sets as rows
    and learners as columns.
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


def describe_wide_table(
    results: Results, measure: str | None = None, condition: str | None = None, level: float | None = None
) -> tuple[str, pd.DataFrame]:
    """Return a title and the table of `Results.wide`, with reasons instead of missing values."""
    results = results.for_resampling()
    facts = choose_condition(results.archive.conditions, condition, level)
    table = results.wide(measure, condition, level)
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        scores = results.scores(measure or results.verdict_measure)
    scores = scores[mask_condition(scores, facts)]
    cells = table.astype(object)
    for dataset, learner in zip(*np.nonzero(table.isna().to_numpy()), strict=True):
        is_cell = (scores["dataset"] == table.index[dataset]) & (scores["learner"] == table.columns[learner])
        cells.iloc[dataset, learner] = _explain_blank(scores[is_cell])
    where = "on clean data" if facts.name == CLEAN else f"under {format_condition(facts)}"
    return f"Mean {scores['measure'].iloc[0]} {where}", cells


def _explain_blank(scores: pd.DataFrame) -> str:
    """Explain why a mean is missing."""
    n_failed, n_missing = int(mask_failed(scores).sum()), int((scores["status"] == "missing").sum())
    if n_failed:
        return f"{n_failed:,} failed"
    if n_missing:
        return f"{n_missing:,} not run"
    return "undefined" if scores["value"].isna().all() else "no shared split"


@dataclass(frozen=True, eq=False, repr=False)
class StudyProgress:
    """The progress of a study: trials by learner and status, notes on abstentions, and the runs."""

    name: str
    table: pd.DataFrame
    runs: tuple[Any, ...]
    notes: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """State of the study: `running`, `finished`, `interrupted`, `not started` or `incomplete`.

        The state is `incomplete` if trials are missing although the last run ended as planned, e.g. because it ran only a
        shard. The state is also `incomplete` if the last run may still be active on another computer.
        """
        states = [find_run_state(run) for run in self.runs]
        if "running" in states:
            return "running"
        if not self.table.get("missing", np.zeros(1)).sum():
            return "finished"
        if not states:
            return "not started"
        return "interrupted" if states[-1] == "interrupted" else "incomplete"

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per learner: planned trials, and trials by status."""
        return self.table.copy()

    def __str__(self) -> str:
        total = self.table.drop(columns="learner").sum()
        stored = int(total["planned"] - total.get("missing", 0))
        failed = int(total.drop(["planned", "ok", "missing"], errors="ignore").sum())
        counts = f"{stored:,} of {format_count(int(total['planned']), 'trial')} stored, {failed:,} failed"
        lines = [f"{self.name}: {self.state}, {counts}"]
        rows = [[learner, *(f"{count:,}" for count in counts)] for learner, *counts in self.table.itertuples(index=False)]
        rows = [list(self.table), *rows]
        lines += ["", *(line for row in fit_table(rows, right=range(1, len(rows[0]))) for line in row)]
        lines += ["", *self.notes] if self.notes else []
        lines += ["", *map(_format_run, self.runs)] if self.runs else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return format_html_block(str(self))


def compute_progress(archive: Archive) -> StudyProgress:
    """Count the trials of a study by learner and status."""
    import pandas as pd

    if isinstance(archive, StoreArchive):  # a results file can count its trials without reading each of them
        counts, has_abstentions = archive.count_trials(), archive.has_abstentions()
    else:
        sizes: Any = archive.trials().groupby(["learner", "status"]).size()
        counts, has_abstentions = sizes.to_dict(), True
    learners = [learner.name for learner in archive.learners]
    statuses = [status for status in ("ok", *FAILURES, "missing") if any(status == other for _, other in counts)]
    columns = {status: [counts.get((learner, status), 0) for learner in learners] for status in statuses}
    planned = [sum(numbers) for numbers in zip(*columns.values(), strict=True)]
    notes = render_all(find_abstentions(archive, archive.trials())) if has_abstentions else ()
    return StudyProgress(archive.name, pd.DataFrame({"learner": learners, "planned": planned, **columns}), archive.runs, notes)


def _format_run(facts: Any) -> str:
    state, finished, process = find_run_state(facts), facts.get("finished"), facts.get("process") or {}
    location = f" (process {process.get('id')} on {process.get('host')})" if process else ""
    end_text = {
        "finished": f"finished {finished}",
        "interrupted": f"interrupted {finished}" if finished else "interrupted",
        "running": f"running{location}",
        "unknown": f"running or interrupted{location}",
    }[state]
    return f"run started {facts.get('started')}, engine {facts.get('engine')}, {end_text}"


def collect_findings(archive: Archive, trials: pd.DataFrame) -> tuple[Finding, ...]:
    """Collect findings that help to interpret the scores, such as failed trials and slow fits."""
    is_condition_failure = _mask_not_applied(trials)
    return (
        *_find_missing_trials(trials),
        *_find_guessed_targets(archive),
        *_find_conditions_not_applied(trials, is_condition_failure),
        *_find_failures(trials[~is_condition_failure]),
        *find_abstentions(archive, trials),
        *_find_warnings(trials),
        *find_slow_fits(trials),
        *find_oversubscription(archive.runs, trials),
    )


def _find_guessed_targets(archive: Archive) -> list[Finding]:
    """Report the data sets whose last column is the class because none was declared."""
    columns = {data.name: str(data.facts["guessed_target"]) for data in archive.datasets if data.facts.get("guessed_target")}
    return [Finding.of("guessed_targets", datasets=tuple(columns), columns=tuple(columns.values()))] if columns else []


def count_abstentions(archive: Archive, trials: pd.DataFrame) -> pd.DataFrame:
    """Count abstentions for each learner that abstained.

    The column `trials` counts the successful trials of the learner, and `abstaining` counts those with abstentions. `rows`
    counts the test rows of the trials with abstentions, and `abstained` counts the rows for which the learner predicted no
    class.
    """
    import pandas as pd

    succeeded = trials[trials["status"] == "ok"]
    n_abstentions = succeeded["abstentions"].astype(np.float64).fillna(0).astype(np.int64)
    abstaining = succeeded[n_abstentions > 0]
    n_rows = pd.Series(
        [len(predictions.rows) for predictions in archive.predictions(abstaining["trial"].tolist())],
        index=abstaining.index,
        dtype=np.int64,
    )
    frame = pd.DataFrame(
        {
            "learner": succeeded["learner"].astype(str),
            "abstaining": n_abstentions > 0,
            "rows": n_rows.reindex(succeeded.index, fill_value=0),
            "abstained": n_abstentions,
        }
    )
    sums = frame.groupby("learner", sort=False).agg(
        trials=("abstaining", "size"), abstaining=("abstaining", "sum"), rows=("rows", "sum"), abstained=("abstained", "sum")
    )
    return sums[sums["abstained"] > 0].reset_index()


def find_abstentions(archive: Archive, trials: pd.DataFrame) -> list[Finding]:
    """Report each learner that abstained."""
    records = count_abstentions(archive, trials).to_dict("records")
    return [Finding("abstentions", {str(name): value for name, value in counts.items()}) for counts in records]


def _find_missing_trials(trials: pd.DataFrame) -> list[Finding]:
    n_missing = int((trials["status"] == "missing").sum())
    return [Finding.of("trials_missing", missing=n_missing, trials=len(trials))] if n_missing else []


def _mask_not_applied(trials: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Make a mask of the failed trials whose condition could not be applied.

    The condition is the cause if all learners failed on the same split with the same InputError.
    """
    refused = mask_failed(trials) & trials["error"].astype(str).str.endswith("InputError") & (trials["condition"] != CLEAN)
    by_cell = trials.assign(refused=refused).groupby(_CELL, sort=False, observed=True, dropna=False)
    alike = by_cell["refused"].transform("all") & (by_cell["message"].transform("nunique") == 1)
    return np.asarray(alike & (by_cell["learner"].transform("nunique") > 1), dtype=bool)


def _find_conditions_not_applied(trials: pd.DataFrame, is_condition_failure: npt.NDArray[np.bool_]) -> list[Finding]:
    findings = []
    for name, failures in trials[is_condition_failure].groupby("condition", sort=False, observed=True):
        levels = [format_condition(ConditionFacts(str(name), float(level), "", {})) for level in failures["level"].unique()]
        planned = trials[(trials["condition"] == name) & trials["level"].isin(failures["level"])]
        datasets = [
            _describe_dataset(dataset, lost, planned)
            for dataset, lost in failures.groupby("dataset", sort=False, observed=True)
        ]
        reason = collapse_whitespace(failures["message"].iloc[0], _MAX_REASON_LENGTH)
        findings.append(Finding.of("condition_not_applied", conditions=tuple(levels), datasets=tuple(datasets), reason=reason))
    return findings


def _describe_dataset(dataset: Any, lost: pd.DataFrame, planned: pd.DataFrame) -> str:
    """Name a data set, and add the number of lost splits unless all splits are lost."""
    n_lost, n_planned = (len(frame.drop_duplicates(_CELL)) for frame in (lost, planned[planned["dataset"] == dataset]))
    return str(dataset) if n_lost == n_planned else f"{dataset} ({n_lost:,} of {format_count(n_planned, 'split')})"


def _find_failures(trials: pd.DataFrame) -> list[Finding]:
    """Report each cause of failure once, with all learners that it affected."""
    failed = trials[mask_failed(trials)]
    errors = failed["error"].where(failed["error"].notna(), failed["status"]).astype(str)
    causes = errors + ": " + failed["message"].fillna("").astype(str).map(generalize_message)
    findings = []
    for _, failures in failed.groupby(causes, sort=False):
        first = failures.iloc[0]
        findings.append(
            Finding.of(
                "trials_failed",
                learners=tuple(dict.fromkeys(failures["learner"].astype(str))),
                failed=len(failures),
                causes=tuple(f"{count:,} {status}" for status, count in Counter(failures["status"]).items()),
                datasets=int(failures["dataset"].nunique()),
                reason=format_reason(first["error"] or first["status"], first["message"], _MAX_REASON_LENGTH),
            )
        )
    return findings


def _find_warnings(trials: pd.DataFrame) -> list[Finding]:
    """Report each kind of warning once, with all learners that issued it.

    Two warnings are of the same kind if the first lines of their notes are equal, apart from numbers and quoted text.
    """
    warned = trials[(trials["status"] == "ok") & trials["notes"].notna()]
    kinds = warned["notes"].astype(str).map(lambda notes: generalize_message(notes.splitlines()[0]))
    return [
        Finding.of(
            "learner_warnings",
            learners=tuple(dict.fromkeys(warned_trials["learner"].astype(str))),
            warned=len(warned_trials),
            reason=collapse_whitespace(warned_trials["notes"].iloc[0], _MAX_REASON_LENGTH),
        )
        for _, warned_trials in warned.groupby(kinds, sort=False)
    ]


def summarise_times(trials: pd.DataFrame) -> pd.DataFrame:
    """Compute the median times and memory of the successful trials by data set and learner.

    Times are wall-clock and CPU seconds, and memory is in bytes. Values are NaN if no trial succeeded. The column `note` marks
    fits that took much longer than their CPU time.
    """
    frame, ratio, is_slow = _compute_fit_ratios(trials)
    notes = zip(is_slow, ratio, strict=True)
    return frame.assign(note=[f"fitting took {factor:.1f} times its CPU time" if slow else "" for slow, factor in notes])


def _compute_fit_ratios(trials: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[float], pd.Series[bool]]:
    numbers = trials[_TIME_COLUMNS].astype(np.float64).where(trials["status"] == "ok")
    numbers["memory"] = numbers["memory"].where(numbers["memory"] > 0)  # older versions stored 0 if memory was not measured
    frame = numbers.groupby([trials["dataset"], trials["learner"]], sort=False, observed=True).median().reset_index()
    waits = frame["fit_time"] - frame["fit_cpu"]
    is_slow = (frame["fit_time"] > _MAX_RATIO * frame["fit_cpu"]) & (waits > _MIN_WAIT_SECONDS)
    return frame, frame["fit_time"] / frame["fit_cpu"].clip(lower=1e-9), is_slow


def find_slow_fits(trials: pd.DataFrame) -> list[Finding]:
    """Report learners whose fits took much longer than their CPU time.

    The wall-clock times of these learners are not comparable.
    """
    frame, _, is_slow = _compute_fit_ratios(trials)
    slow = frame[is_slow]
    if slow.empty:
        return []
    learners = tuple(dict.fromkeys(slow["learner"].astype(str)))
    return [Finding.of("slow_fits", ratio=_MAX_RATIO, learners=learners, datasets=int(slow["dataset"].nunique()))]


def find_oversubscription(runs: Sequence[Mapping[str, Any]], trials: pd.DataFrame) -> list[Finding]:
    """Report whether the machine was oversubscribed, which makes wall-clock times too long."""
    local_runs = [run for run in runs if run.get("engine") in ("local", "dask")]
    causes = dict.fromkeys(cause for run in local_runs for cause in _list_load_causes(run))
    causes |= dict.fromkeys(_list_thread_causes(local_runs, trials))
    return [Finding.of("machine_oversubscribed", causes=tuple(causes))] if causes else []


def _list_load_causes(run: Mapping[str, Any]) -> list[str]:
    jobs, cpus, load, steal = (run.get(name) or 0 for name in ("jobs", "cpus", "load", "steal"))
    cores = run.get("cores") or cpus
    causes = []
    if cores and jobs > cores:
        causes.append(f"{format_count(jobs, 'worker')} on {format_count(cores, 'core')}")
    if cpus and load > _MAX_RATIO * cpus:
        causes.append(f"mean load {load:.1f} on {format_count(cpus, 'core')}")
    if steal > _MAX_STEAL:
        causes.append(f"{steal:.0%} of the processor time went to other virtual machines")
    return causes


def _list_thread_causes(runs: Sequence[Mapping[str, Any]], trials: pd.DataFrame) -> list[str]:
    """List the learners whose threads, counted over all workers, outnumbered the cores."""
    workers_per_core = max(
        ((run.get("jobs") or 0) / (run.get("cores") or run.get("cpus") or np.inf) for run in runs), default=0
    )
    sums = trials[trials["status"] == "ok"].groupby("learner", sort=False, observed=True)[["fit_time", "fit_cpu"]].sum()
    threads = sums["fit_cpu"].astype(np.float64) / sums["fit_time"].astype(np.float64).clip(lower=1e-9)
    many = threads[(threads > _MIN_THREADS) & (threads * workers_per_core > _MIN_THREADS) & (sums["fit_time"] > 0.1)]
    return [f"{learner} used {count:.1f} threads per worker" for learner, count in many.items()]
