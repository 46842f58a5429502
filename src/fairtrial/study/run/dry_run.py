"""Dry run: count the missing trials of a study and estimate how long they will take."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from fairtrial._check import check_whole_number
from fairtrial._findings import Finding
from fairtrial._narrative import render
from fairtrial._text import collapse_whitespace, format_count, format_duration, format_html_block, format_reason, join_names
from fairtrial.conditions import Clean
from fairtrial.errors import Problem, SpecError, SuspectInputWarning
from fairtrial.study.plan.plan import StudyPlan, TrialBlock, plan_study
from fairtrial.study.plan.schedule import TimeModel, dump_estimator
from fairtrial.study.records import ResourceLimits, Status, TrialRecord
from fairtrial.study.run.engine import check_system
from fairtrial.study.run.progress import LineProgress
from fairtrial.study.run.supervisor import Supervisor
from fairtrial.study.run.trial_data import TrialData, apply_condition
from fairtrial.study.store.store import open_store

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.spec.resolve import ResolvedStudy

_MAX_ROWS = 20_000  # conditions are not checked on larger data sets
_CONDITION_SECONDS = 5.0  # after this time, no further data set is checked
_MAX_NAMED = 5  # maximum number of data sets named in a warning
_TRY_SECONDS = 10.0


@runtime_checkable
class Resolvable(Protocol):
    """A study that can be resolved, such as `fairtrial.Study`."""

    def resolve(self) -> ResolvedStudy:
        """Load the data and build the learners, conditions and splits."""


def dry_run(
    study: Resolvable,
    store: str | os.PathLike[str],
    *,
    jobs: int = 1,
    retry: Collection[Status] = (),
    rerun: Collection[str] = (),
    shard: tuple[int, int] | None = None,
    limits: ResourceLimits | None = None,
) -> DryRun:
    """Count the trials that `Study.run` would run, and estimate how long they will take.

    Each learner without stored times runs one trial, for at most 10 seconds. Nothing is stored.

    Parameters
    ----------
    study : Study
        Study to examine.
    store : path
        Results file. It need not exist.
    jobs : int, default 1
        Number of trials to run in parallel.
    rerun : list of str
        Learners whose stored trials would be deleted and run again.
    retry : list of {"error", "timeout", "memory", "crash"}
        Statuses of the failed trials that would run again.
    shard : tuple of int, optional
        `(i, n)` divides the trials into n parts and counts only the trials of the i-th part.
    limits : ResourceLimits, optional
        Limits for each trial. Default: the limits of the study.

    Returns
    -------
    DryRun

    Examples
    --------
    >>> import fairtrial
    >>> study = fairtrial.Study(["iris"], ["gaussian-nb"], resampling={"folds": 5}, name="example")
    >>> plan = dry_run(study, "example.fairtrial")
    >>> plan.frame()[["planned", "stored", "missing"]].to_numpy().tolist()
    [[5, 0, 5]]
    """
    check_system()
    resolved = study.resolve()
    plan = plan_study(resolved if limits is None else replace(resolved, limits=limits))
    repeated_keys = plan.find_learner_keys(rerun)
    done, times = set[bytes](), {}
    if Path(store).exists():
        with open_store(store) as results_store:
            results_store.check(quick=True)
            done, times = results_store.find_done(retry) - repeated_keys, results_store.compute_mean_times()
    try_conditions(plan, plan.iter_missing(done, shard))
    planned, missing = (plan.count(plan.iter_missing(done_keys, shard)) for done_keys in ((), done))
    return DryRun(plan, planned, missing, estimate(plan, missing, times, jobs))


@dataclass(frozen=True, eq=False, repr=False)
class DryRun:
    """The trials that a run would execute, and an estimate of their duration.

    Attributes
    ----------
    plan : StudyPlan
        All trials of the study.
    planned, missing : array
        Numbers of planned and missing trials, with a row per data set and a column per learner.
    estimate : DurationEstimate
        Expected duration of the missing trials.
    """

    plan: StudyPlan
    planned: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    missing: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    estimate: DurationEstimate

    def frame(self) -> pd.DataFrame:
        """Return the numbers of planned, stored and missing trials for each data set and learner."""
        import pandas as pd

        names = [(data.name, learner.name) for data in self.plan.data for learner in self.plan.learners]
        frame = pd.DataFrame(names, columns=["dataset", "learner"])
        planned, missing = self.planned.ravel(), self.missing.ravel()
        return frame.assign(planned=planned, stored=planned - missing, missing=missing)

    def __str__(self) -> str:
        planned, missing = int(self.planned.sum()), int(self.missing.sum())
        counts = f"{planned - missing:,} of {format_count(planned, 'trial')} stored, {missing:,} missing"
        guessed = {data.name: data.dataset.target for data in self.plan.data if data.guessed_target}
        finding = Finding.of("guessed_targets", datasets=tuple(guessed), columns=tuple(guessed.values()))
        return "\n".join([str(self.plan), f"{counts}: {self.estimate}", *([render(finding)] if guessed else [])])

    def _repr_html_(self) -> str:
        return format_html_block(str(self))


@dataclass(frozen=True)
class DurationEstimate:
    """Estimate of how long the missing trials will take.

    `seconds` is None if the duration is unknown. Otherwise, `seconds` includes `start_seconds`, the measured time that a worker
    takes to start. `summary` describes the estimate and its basis.
    """

    seconds: float | None
    summary: str
    start_seconds: float = 0.0

    def frame(self) -> pd.DataFrame:
        """Return the estimate as a table with one row."""
        import pandas as pd

        return pd.DataFrame({"seconds": [np.nan if self.seconds is None else self.seconds], "summary": [self.summary]})

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>"


def estimate(
    plan: StudyPlan,
    missing: npt.NDArray[np.int64],
    times: Mapping[tuple[str, str], tuple[float, int]],
    jobs: int = 1,
    *,
    tries: bool = True,
) -> DurationEstimate:
    """Estimate how long the missing trials will take.

    `missing` contains the numbers of missing trials, with a row per data set and a column per learner (`StudyPlan.count`).
    `times` maps pairs of data set hash and learner hash to the mean time in seconds and the number of stored trials.

    If `tries` is True, each learner without stored times runs one trial on the data set of median size, without perturbation.
    The trial ends after 10 seconds, or at the time limit of the study if that limit is lower. The time that a worker takes to
    start is also measured and added. On other data sets, the time of a trial is assumed to be proportional to the number of
    rows, up to the time limit.
    """
    check_whole_number("jobs", jobs, 1)
    if not missing.any():
        return DurationEstimate(0.0, "nothing to run")
    sizes = [len(planned.dataset) for planned in plan.data]
    time_model = TimeModel(sizes, len(plan.learners))
    _learn_stored(plan, times, time_model)
    median = int(np.argsort(sizes, kind="stable")[(len(sizes) - 1) // 2])
    basis = _EstimateBasis(plan, median, _to_indices(missing.any(axis=0) & ~_has_times(time_model)), {})
    stored = _to_indices(missing.any(axis=0) & _has_times(time_model))
    start_seconds = 0.0
    if tries and basis.unknown:
        trial_records, start_seconds = _try_learners(plan, median, basis.unknown)
        basis = replace(basis, trial_records=trial_records)
        for learner, record in basis.trial_records.items():
            time_model.learn(learner, median, _get_seconds(record, basis.try_seconds))
    seconds = np.where(missing > 0, np.minimum(time_model.seconds, basis.limit), 0.0)
    if np.isnan(seconds).any():
        return DurationEstimate(None, f"duration unknown: no stored times of {basis.format_names(basis.unknown)}")
    if tries and not basis.unknown:
        with Supervisor() as supervisor:
            start_seconds = _measure_start(supervisor)
    total = float((missing * seconds).sum()) / jobs + start_seconds
    duration = f"about {format_duration(total)} with {format_count(jobs, 'job')}"
    start = f" ({format_duration(start_seconds)} to start the workers)" if start_seconds else ""
    return DurationEstimate(total, f"{duration}{start}, estimated from {basis.describe(stored)}", start_seconds)


@dataclass(frozen=True)
class _EstimateBasis:
    """Basis of an estimate: the learners without stored times, and the record of one trial of each such learner.

    `data` is the index of the data set on which these trials run.
    """

    plan: StudyPlan
    data: int
    unknown: tuple[int, ...]
    trial_records: Mapping[int, TrialRecord]

    @property
    def limit(self) -> float:
        """Time limit of a trial in seconds."""
        return self.plan.study.limits.time or float("inf")

    @property
    def try_seconds(self) -> float:
        """Time limit, in seconds, of a trial that runs only for the estimate."""
        return min(_TRY_SECONDS, self.limit)

    def format_names(self, learners: Sequence[int]) -> str:
        return join_names(self.plan.learners[learner].name for learner in learners)

    def describe(self, stored: Sequence[int]) -> str:
        planned = self.plan.data[self.data]
        clauses = [f"stored times of {self.format_names(stored)}"] if stored else []
        if self.trial_records:
            clauses.append(
                f"one trial of {self.format_names(list(self.trial_records))} on {planned.name} "
                f"({format_count(len(planned.dataset), 'row')})"
            )
        return "; ".join([" and ".join(clauses), *self._describe_timeouts(), *self._describe_failures()])

    def _describe_timeouts(self) -> Iterator[str]:
        slow = [learner for learner, record in self.trial_records.items() if record.status == "timeout"]
        if slow and self.limit <= _TRY_SECONDS:
            yield f"{self.format_names(slow)} exceeded the time limit ({format_duration(self.limit)})"
        elif slow:
            limit = f" (time limit {format_duration(self.limit)})" if self.limit < float("inf") else ""
            yield f"{self.format_names(slow)} did not finish in {_TRY_SECONDS:g} s and may take much longer{limit}"

    def _describe_failures(self) -> Iterator[str]:
        for learner, record in self.trial_records.items():
            if record.status not in ("ok", "timeout"):
                why = format_reason(record.error, record.message)
                yield f"{self.format_names([learner])} failed" + (f" ({why})" if why else "")


def _has_times(time_model: TimeModel) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(time_model.seconds).any(axis=0))


def _to_indices(chosen: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def _learn_stored(plan: StudyPlan, times: Mapping[tuple[str, str], tuple[float, int]], time_model: TimeModel) -> None:
    for learner, planned_learner in enumerate(plan.learners):
        for data, planned_data in enumerate(plan.data):
            if (planned_data.hash, planned_learner.hash) in times:
                time_model.learn(learner, data, *times[planned_data.hash, planned_learner.hash])


def _measure_start(supervisor: Supervisor) -> float:
    """Measure how many seconds a worker takes to start. One worker suffices, because the workers of a run start together."""
    start = time.perf_counter()
    supervisor.start()
    return time.perf_counter() - start


def _try_learners(plan: StudyPlan, data: int, learners: Sequence[int]) -> tuple[dict[int, TrialRecord], float]:
    """Run one trial of each learner on the first split of a data set, without perturbation.

    The kernels of the learners are compiled first. Return the record of each learner, and the seconds that the worker took to
    start.
    """
    from fairtrial.learners.learner import compile_kernels  # it imports scikit-learn

    study_limits = plan.study.limits
    limits = ResourceLimits(min(_TRY_SECONDS, study_limits.time or _TRY_SECONDS), study_limits.memory)
    pickled_learners = [dump_estimator(learner.estimator, learner.name) for learner in plan.learners]
    chunk = plan.build_chunk([TrialBlock(data, 0, 0, tuple(learners))], pickled_learners, limits)
    clean = replace(chunk, conditions=(Clean(),))
    compile_kernels([plan.learners[learner].estimator for learner in learners], LineProgress().show_compilation)
    with Supervisor() as supervisor:
        start_seconds = _measure_start(supervisor)
        records = supervisor.run(clean, plan.data[data].dataset)
    by_key = {record.key: record for record in records}
    return {learner: by_key[task.key] for learner, task in zip(learners, clean.tasks, strict=True)}, start_seconds


def _get_seconds(record: TrialRecord, time_limit: float) -> float:
    """Return the seconds that a trial took, or the time limit if the trial exceeded it.

    A trial that failed for another reason is assumed to take the same time again.
    """
    if record.status == "timeout":
        return time_limit
    return (record.fit_time or 0.0) + (record.predict_time or 0.0)


class _ConditionOutcome(NamedTuple):
    """The outcome of applying a condition to a data set.

    `condition` and `data` are indices in the plan. `message` is the error message, or None if the condition could be applied.
    """

    condition: int
    data: int
    message: str | None


def try_conditions(plan: StudyPlan, missing: Iterable[TrialBlock]) -> None:
    """Check that the conditions of the missing trials can be applied to their data sets.

    Raise SpecError if a condition fails on all its data sets, and warn if it fails on some of them. Data sets with more than
    20,000 rows are skipped, and no further data set is checked after 5 seconds.
    """
    pairs = {(block.data, block.condition) for block in missing}
    perturbed_pairs = {pair for pair in pairs if not isinstance(plan.conditions[pair[1]].condition, Clean)}
    outcomes = list(_try_pairs(plan, perturbed_pairs))
    failing = _find_failing(outcomes, perturbed_pairs)
    if failing:
        raise SpecError.from_problems(_list_problems(plan, outcomes, failing))
    for sentence in _format_warnings(plan, outcomes):
        warnings.warn(sentence, SuspectInputWarning, stacklevel=3)


def _try_pairs(plan: StudyPlan, pairs: set[tuple[int, int]]) -> Iterator[_ConditionOutcome]:
    """Apply the conditions to their data sets, starting with the smallest data set."""
    until = time.monotonic() + _CONDITION_SECONDS
    for data in sorted({data for data, _ in pairs}, key=lambda index: (len(plan.data[index].dataset), index)):
        if len(plan.data[data].dataset) > _MAX_ROWS or time.monotonic() > until:
            return
        table = TrialData.from_dataset(plan.data[data].dataset)
        for condition in sorted(condition for data_index, condition in pairs if data_index == data):
            yield _ConditionOutcome(condition, data, _find_failure_message(plan, table, data, condition))


def _find_failure_message(plan: StudyPlan, table: TrialData, data: int, condition: int) -> str | None:
    """Apply a condition to the first and the last split. Return the first error message if both fail, else None."""
    message = None
    for split in sorted({0, len(plan.data[data].splits) - 1}):
        try:
            _apply_condition(plan, table, data, condition, split)
        except Exception as error:
            message = message or collapse_whitespace(error) or type(error).__name__
        else:
            return None
    return message


def _apply_condition(plan: StudyPlan, table: TrialData, data: int, condition: int, split: int) -> None:
    """Apply the condition with the same seed as in the trials."""
    chunk = plan.build_chunk([TrialBlock(data, split, condition, (0,))], [b""] * len(plan.learners))
    apply_condition(table, chunk.splits[0], chunk.conditions[0], chunk.tasks[0].condition_seed)


def _find_failing(outcomes: list[_ConditionOutcome], pairs: set[tuple[int, int]]) -> list[int]:
    """Find the conditions that failed on all their data sets."""
    failed = {(outcome.data, outcome.condition) for outcome in outcomes if outcome.message is not None}
    return sorted(
        condition for condition in {index for _, index in pairs} if {pair for pair in pairs if pair[1] == condition} <= failed
    )


def _list_problems(plan: StudyPlan, outcomes: list[_ConditionOutcome], failing: list[int]) -> list[Problem]:
    """List each problem once per condition name, because the levels of a condition often fail with the same message."""
    problems: dict[Problem, None] = {}
    for condition in failing:
        failures = [outcome for outcome in outcomes if outcome.condition == condition]
        also = f" (on {plan.data[failures[0].data].name}; it also fails on all other data sets)" if len(failures) > 1 else ""
        problems[Problem(f"conditions.{plan.conditions[condition].name}", None, f"{failures[0].message}{also}")] = None
    return list(problems)


def _format_warnings(plan: StudyPlan, outcomes: list[_ConditionOutcome]) -> Iterator[str]:
    """Format one warning for each condition, with the names of the data sets and the first error."""
    messages: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.message is not None:
            messages.setdefault(plan.conditions[outcome.condition].name, {}).setdefault(
                plan.data[outcome.data].name, outcome.message
            )
    for condition, names in messages.items():
        message = next(iter(names.values()))
        datasets = join_names(names, _MAX_NAMED)
        yield f"{condition} cannot be applied to {datasets}: {message}; its trials will be recorded as failed"
