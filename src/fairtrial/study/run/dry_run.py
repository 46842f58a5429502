"""What a run would do, without doing it: how many trials, how many are stored, how long the rest will take."""

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
from fairtrial._text import collapse_whitespace, format_reason
from fairtrial.conditions import Clean
from fairtrial.errors import Problem, SpecError, SuspectInputWarning
from fairtrial.study.plan.plan import StudyPlan, TrialBlock, plan_study
from fairtrial.study.plan.schedule import TimeModel, dump_estimator
from fairtrial.study.records import Chunk, ResourceLimits, Status, TrialRecord
from fairtrial.study.run.supervisor import Supervisor
from fairtrial.study.run.trial_data import TrialData, apply_condition
from fairtrial.study.store.store import open_store

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.spec.resolve import ResolvedStudy

_MAX_ROWS = 20_000  # larger data sets are not tried
_CONDITION_SECONDS = 5.0  # seconds, after which no further data set is
_MAX_NAMED = 5  # data sets in a sentence
_TRY_SECONDS = 10.0


@runtime_checkable
class Resolvable(Protocol):
    """A study that can be resolved: `fairtrial.Study`."""

    def resolve(self) -> ResolvedStudy:
        """Load the data and build the learners, conditions and splits."""


def dry_run(
    study: Resolvable,
    store: str | os.PathLike[str],
    *,
    jobs: int = 1,
    retry: Collection[Status] = (),
    shard: tuple[int, int] | None = None,
    limits: ResourceLimits | None = None,
) -> DryRun:
    """Show what `Study.run` with the same arguments would do. Learners without stored times are tried once."""
    resolved = study.resolve()
    plan = plan_study(resolved if limits is None else replace(resolved, limits=limits))
    done, times = set[bytes](), {}
    if Path(store).exists():
        with open_store(store) as results_store:
            done, times = results_store.find_done(retry), results_store.compute_mean_times()
    try_conditions(plan, plan.iter_missing(done, shard))
    planned, missing = (plan.count(plan.iter_missing(done_keys, shard)) for done_keys in ((), done))
    return DryRun(plan, planned, missing, estimate(plan, missing, times, jobs))


@dataclass(frozen=True, eq=False, repr=False)
class DryRun:
    """The plan of a study, the trials of it that a store lacks (data sets x learners), and how long they are likely to take."""

    plan: StudyPlan
    planned: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    missing: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    estimate: DurationEstimate

    def frame(self) -> pd.DataFrame:
        """A line for each data set and learner: trials planned, stored and missing."""
        import pandas as pd

        names = [(data.name, learner.name) for data in self.plan.data for learner in self.plan.learners]
        frame = pd.DataFrame(names, columns=["dataset", "learner"])
        planned, missing = self.planned.ravel(), self.missing.ravel()
        return frame.assign(planned=planned, stored=planned - missing, missing=missing)

    def __str__(self) -> str:
        planned, missing = int(self.planned.sum()), int(self.missing.sum())
        return f"{self.plan}\n{planned - missing} of {planned} trials are stored, {missing} are to be run: {self.estimate}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True)
class DurationEstimate:
    """Seconds that the missing trials are likely to take, None if unknown; `summary` says what the estimate rests on."""

    seconds: float | None
    summary: str

    def frame(self) -> pd.DataFrame:
        """One line."""
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
    """How long the missing trials will take on so many workers.

    `missing` counts them, data sets x learners (`Plan.count`); `times` are the mean seconds of stored trials and how many there
    are, by the hashes of data set and learner. A learner without any is tried once, for 10 seconds or the limit of a
    trial at most, on the clean data set of median size, unless `tries` is False. Where a data set has no time of its own, times
    grow in proportion to the rows, up to the limit.
    """
    check_whole_number("jobs", jobs, 1)
    if not missing.any():
        return DurationEstimate(0.0, "nothing is left to run")
    sizes = [len(planned.dataset) for planned in plan.data]
    time_model = TimeModel(sizes, len(plan.learners))
    _learn_stored(plan, times, time_model)
    median = int(np.argsort(sizes, kind="stable")[(len(sizes) - 1) // 2])
    basis = _EstimateBasis(plan, median, _to_indices(missing.any(axis=0) & ~_has_times(time_model)), {})
    stored = _to_indices(missing.any(axis=0) & _has_times(time_model))
    if tries and basis.unknown:
        basis = replace(basis, trial_records=_try_learners(plan, median, basis.unknown))
        for learner, record in basis.trial_records.items():
            time_model.learn(learner, median, _get_seconds(record, basis.try_seconds))
    seconds = np.where(missing > 0, np.minimum(time_model.seconds, basis.limit), 0.0)
    if np.isnan(seconds).any():
        return DurationEstimate(
            None, f"how long it takes cannot be told: no time of {basis.format_names(basis.unknown)} is stored"
        )
    total = float((missing * seconds).sum()) / jobs
    return DurationEstimate(total, f"{format_duration(total)} {_format_jobs(jobs)}, {basis.describe(stored)}")


@dataclass(frozen=True)
class _EstimateBasis:
    """What an estimate rests on beside stored times: learners tried on a data set, and what they left."""

    plan: StudyPlan
    data: int
    unknown: tuple[int, ...]
    trial_records: Mapping[int, TrialRecord]

    @property
    def limit(self) -> float:
        """Seconds after which a trial of the study is stopped."""
        return self.plan.study.limits.time or float("inf")

    @property
    def try_seconds(self) -> float:
        """Seconds that a learner was given to be tried."""
        return min(_TRY_SECONDS, self.limit)

    def format_names(self, learners: Sequence[int]) -> str:
        return (
            " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if (names := self._get_names(learners)) else "none"
        )

    def _get_names(self, learners: Sequence[int]) -> list[str]:
        return [self.plan.learners[learner].name for learner in learners]

    def describe(self, stored: Sequence[int]) -> str:
        planned = self.plan.data[self.data]
        clauses = [f"by the stored times of {self.format_names(stored)}"] if stored else []
        if self.trial_records:
            clauses.append(
                f"by one trial of {self.format_names(list(self.trial_records))} on {planned.name} "
                f"({len(planned.dataset)} rows), scaled by rows"
            )
        return "; ".join([" and ".join(clauses), *self._describe_timeouts(), *self._describe_failures()])

    def _describe_timeouts(self) -> Iterator[str]:
        slow = [learner for learner, record in self.trial_records.items() if record.status == "timeout"]
        if slow and self.limit <= _TRY_SECONDS:
            yield f"{self.format_names(slow)} did not finish in {self.limit:g} s, the limit: each such trial is stopped by it"
        elif slow:
            stopped = f", though a trial is stopped after {self.limit:g} s" if self.limit < float("inf") else ""
            yield f"{self.format_names(slow)} did not finish in {_TRY_SECONDS:g} s, so that it may take much longer{stopped}"

    def _describe_failures(self) -> Iterator[str]:
        for learner, record in self.trial_records.items():
            if record.status not in ("ok", "timeout"):
                why = format_reason(record.error, record.message)
                yield f"{self.format_names([learner])} failed there" + (f" ({why})" if why else "")


def format_duration(seconds: float) -> str:
    """Seconds in words, with the digits that an estimate deserves.

    >>> [format_duration(seconds) for seconds in (0.2, 42.4, 150, 7000, 400000)]
    ['less than a second', 'about 42 s', 'about 2 min 30 s', 'about 1 h 57 min', 'about 4 days 15 h']
    """
    if seconds < 1:
        return "less than a second"
    whole = round(seconds)
    if whole < 60:
        return f"about {whole} s"
    if whole < 3600:
        return f"about {whole // 60} min" + (f" {whole % 60} s" if whole % 60 else "")
    minutes = round(seconds / 60)
    if minutes < 24 * 60:
        return f"about {minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
    hours = round(seconds / 3600)
    return f"about {hours // 24} day{'s' if hours >= 48 else ''}" + (f" {hours % 24} h" if hours % 24 else "")


def _format_jobs(jobs: int) -> str:
    return "with 1 job" if jobs == 1 else f"with {jobs} jobs"


def _has_times(time_model: TimeModel) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(time_model.seconds).any(axis=0))


def _to_indices(chosen: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def _learn_stored(plan: StudyPlan, times: Mapping[tuple[str, str], tuple[float, int]], time_model: TimeModel) -> None:
    for learner, planned_learner in enumerate(plan.learners):
        for data, planned_data in enumerate(plan.data):
            if (planned_data.hash, planned_learner.hash) in times:
                time_model.learn(learner, data, *times[planned_data.hash, planned_learner.hash])


def _try_learners(plan: StudyPlan, data: int, learners: Sequence[int]) -> dict[int, TrialRecord]:
    """One clean trial of each of the learners on the first split of the data set, under supervision."""
    study_limits = plan.study.limits
    limits = ResourceLimits(min(_TRY_SECONDS, study_limits.time or _TRY_SECONDS), study_limits.memory)
    pickled_learners = [dump_estimator(learner.estimator, learner.name) for learner in plan.learners]
    chunk = plan.build_chunk([TrialBlock(data, 0, 0, tuple(learners))], pickled_learners, limits)
    clean = Chunk(chunk.data, chunk.splits, (Clean(),), chunk.learners, chunk.tasks, limits)
    with Supervisor() as supervisor:
        records = supervisor.run(clean, plan.data[data].dataset)
    by_key = {record.key: record for record in records}
    return {learner: by_key[task.key] for learner, task in zip(learners, clean.tasks, strict=True)}


def _get_seconds(record: TrialRecord, time_limit: float) -> float:
    """What a trial took. One out of time took all it was given; another failure is taken to come as soon the next time."""
    if record.status == "timeout":
        return time_limit
    return (record.fit_time or 0.0) + (record.predict_time or 0.0)


class _ConditionOutcome(NamedTuple):
    """What became of a condition on a data set, by their places in the plan; the message is None where it could be applied."""

    condition: int
    data: int
    message: str | None


def try_conditions(plan: StudyPlan, missing: Iterable[TrialBlock]) -> None:
    """Apply the conditions of the missing trials to their data sets, a split of each.

    One that fails on every data set is refused by a SpecError; one that fails on some raises a warning. Data sets of more
    than 20,000 rows are not tried, and none after 5 seconds: what was not tried is not refused.
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
    """Small data sets first."""
    until = time.monotonic() + _CONDITION_SECONDS
    for data in sorted({data for data, _ in pairs}, key=lambda index: (len(plan.data[index].dataset), index)):
        if len(plan.data[data].dataset) > _MAX_ROWS or time.monotonic() > until:
            return
        table = TrialData.from_dataset(plan.data[data].dataset)
        for condition in sorted(condition for data_index, condition in pairs if data_index == data):
            yield _ConditionOutcome(condition, data, _find_failure_message(plan, table, data, condition))


def _find_failure_message(plan: StudyPlan, table: TrialData, data: int, condition: int) -> str | None:
    """Why the condition can be applied neither to the first split nor to the last: either alone may be an odd one."""
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
    """As a trial would, with the same seed; learners play no part in it."""
    chunk = plan.build_chunk([TrialBlock(data, split, condition, (0,))], [b""] * len(plan.learners))
    apply_condition(table, chunk.splits[0], chunk.conditions[0], chunk.tasks[0].condition_seed)


def _find_failing(outcomes: list[_ConditionOutcome], pairs: set[tuple[int, int]]) -> list[int]:
    """Conditions that were tried on all of their data sets and failed on each."""
    failed = {(outcome.data, outcome.condition) for outcome in outcomes if outcome.message is not None}
    return sorted(
        condition for condition in {index for _, index in pairs} if {pair for pair in pairs if pair[1] == condition} <= failed
    )


def _list_problems(plan: StudyPlan, outcomes: list[_ConditionOutcome], failing: list[int]) -> list[Problem]:
    """One for each name and message: levels of one condition fail alike."""
    problems: dict[Problem, None] = {}
    for condition in failing:
        failures = [outcome for outcome in outcomes if outcome.condition == condition]
        also = f" (on {plan.data[failures[0].data].name}, and it fails on the other data sets too)" if len(failures) > 1 else ""
        problems[Problem(f"conditions.{plan.conditions[condition].name}", None, f"{failures[0].message}{also}")] = None
    return list(problems)


def _format_warnings(plan: StudyPlan, outcomes: list[_ConditionOutcome]) -> Iterator[str]:
    """One for each condition, with the data sets and what the first of them leads to."""
    messages: dict[str, dict[str, str]] = {}
    for outcome in outcomes:
        if outcome.message is not None:
            messages.setdefault(plan.conditions[outcome.condition].name, {}).setdefault(
                plan.data[outcome.data].name, outcome.message
            )
    for condition, names in messages.items():
        message = next(iter(names.values()))
        listed = ", ".join(
            [*list(names)[:_MAX_NAMED], *([f"{len(names) - _MAX_NAMED} more"] if len(names) > _MAX_NAMED else [])]
        )
        yield f"{condition} cannot be applied to {listed}: {message}; its trials will be recorded as failures"
