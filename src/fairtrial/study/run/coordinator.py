"""The coordinator of a run, which sends the missing trials to an engine and stores their records.

Only the coordinator writes to the results file.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass, replace
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray, check_one_of
from fairtrial._text import format_count
from fairtrial.errors import FairtrialError, FairtrialWarning, InputError, StoreError
from fairtrial.study.archive import ConditionFacts, DataFacts, describe_groups, describe_process
from fairtrial.study.plan.plan import PendingTrials, StudyPlan, TrialBlock, TrialIndex, plan_study
from fairtrial.study.plan.schedule import Chunker
from fairtrial.study.records import FAILURES, Chunk, DataRequest, ResourceLimits, Status, TrialRecord, TrialTask
from fairtrial.study.run.dry_run import Resolvable, try_conditions
from fairtrial.study.run.engine import DECISIVE, Engine, check_engine, count_usable_cores, get_versions, open_engine
from fairtrial.study.run.meter import LoadMeter
from fairtrial.study.run.pool import dataset_cache
from fairtrial.study.run.progress import Progress, RunSummary, choose_progress
from fairtrial.study.store.file import CorruptedStoreError, MovedStoreError
from fairtrial.study.store.integrity import repair_file
from fairtrial.study.store.store import ResultsStore, TrialLink, open_store

if TYPE_CHECKING:
    from fairtrial.data import Dataset
    from fairtrial.study.spec.resolve import ResolvedStudy


MAX_LOSSES = 3
MAX_EMPTY_RETURNS = 3
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_POLL_SECONDS = 0.2  # how often the run checks for an interruption
_STOP_SECONDS = 30.0  # time that running chunks have to return their records after an interruption


def run_study(
    study: Resolvable | ResolvedStudy,
    store: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    engine: str | Executor = "local",
    limits: ResourceLimits | None = None,
    retry: Collection[Status] = (),
    rerun: Collection[str] = (),
    shard: tuple[int, int] | None = None,
    progress: bool | Progress | None = None,
    stop: threading.Event | None = None,
) -> RunSummary:
    """Run the trials of a study that are not yet in the results file, and store their records.

    See `Study.run` for the parameters. The run ends early if `stop` is set, if the user presses Ctrl-C once, or if the process
    receives SIGTERM. The records of finished trials are then stored. If a condition fails on all its data sets, a SpecError is
    raised before the first trial. If no trial is missing, no process is started. If the results file is corrupted, its intact
    trials are recovered and the other trials run again.
    """
    check_engine(engine, jobs)
    for status in retry:
        check_one_of("retry", status, FAILURES)
    if limits is not None and not isinstance(limits, ResourceLimits):
        raise InputError(f"limits must be ResourceLimits(time, memory) or None, got {limits!r}")
    resolved = study.resolve() if isinstance(study, Resolvable) else study
    plan = plan_study(resolved if limits is None else replace(resolved, limits=limits))
    display = choose_progress(progress)
    new = not os.path.exists(store)
    if new:  # a refused study leaves no results file behind
        try_conditions(plan, plan.iter_missing(shard=shard))
    repeated_keys = plan.find_learner_keys(rerun)
    with _open_intact_store(store, plan) as results_store:
        blocks = list(plan.iter_missing(results_store.find_done(retry) - repeated_keys, shard))
        if not new:
            try_conditions(plan, blocks)
        add_plan(results_store, plan)
        n_forgotten = sum(results_store.forget(name) for name in dict.fromkeys(rerun))
        total = plan.n_trials if shard is None else _count(plan.iter_missing(shard=shard))
        if not blocks:
            return _finish_without_trials(total, display)
        with Interruption(stop) as interruption:
            if not isinstance(engine, str) or "://" not in engine:  # a remote engine has its own cache of kernels
                _compile_kernels(plan, blocks, display)
            study_run = _StudyRun(plan, results_store, blocks, total, display, interruption, n_forgotten)
            return study_run.run_on(engine, jobs)


def _open_intact_store(path: str | os.PathLike[str], plan: StudyPlan) -> ResultsStore:
    """Open the results file for writing. If it is corrupted, recover its intact trials first."""
    try:
        store = open_store(path, write=True, create=True)
        try:
            store.check(quick=True)
        except BaseException:
            store.close()
            raise
        return store
    except CorruptedStoreError:
        links = {
            key.tobytes(): build_link(plan, TrialIndex(data, *index))
            for data in range(len(plan.data))
            for index, key in np.ndenumerate(plan.get_keys(data))
        }
        repair = repair_file(path, lambda new_store: add_plan(new_store, plan), links)
        warnings.warn(str(repair), FairtrialWarning, stacklevel=3)
        return open_store(path, write=True)


def _compile_kernels(plan: StudyPlan, blocks: Sequence[TrialBlock], display: Progress) -> None:
    """Compile the numba kernels that the learners need, so workers can load them from the cache."""
    from fairtrial.learners.learner import compile_kernels  # it imports scikit-learn

    indices = sorted({learner for block in blocks for learner in block.learners})
    try:
        compile_kernels([plan.learners[index].estimator for index in indices], getattr(display, "show_compilation", None))
    except BaseException:
        display.stop(None)
        raise


def _count(blocks: Any) -> int:
    return sum(len(block.learners) for block in blocks)


def _finish_without_trials(total: int, display: Progress) -> RunSummary:
    summary = RunSummary(planned=total, stored=total, done=0)
    display.stop(summary)
    return summary


class _StudyRun:
    def __init__(
        self,
        plan: StudyPlan,
        store: ResultsStore,
        blocks: Sequence[TrialBlock],
        total: int,
        display: Progress,
        interruption: Interruption,
        n_forgotten: int,
    ) -> None:
        self._plan, self._store, self._blocks = plan, store, blocks
        self._n_forgotten = n_forgotten
        self._total, self._missing = total, _count(blocks)
        self._display, self._interruption = display, interruption
        self._pending_trials = PendingTrials(plan)
        self._status: Counter[Status] = Counter()
        self._load = LoadMeter()
        self._started = time.monotonic()

    def run_on(self, name: str | Executor, jobs: int | None) -> RunSummary:
        """Open an engine, run the trials on it, and close it."""
        packages = {package for learner in self._plan.learners for package in learner.facts.versions}
        engine = open_engine(name, jobs, sorted(packages))
        summary: RunSummary | None = None
        try:
            number = self._store.start_run(_describe_run(engine))
            self._display.start(
                self._plan.study.name,
                [learner.name for learner in self._plan.learners],
                self._total,
                self._total - self._missing,
                f"engine {engine.name}, {format_count(engine.workers(), 'worker')}",
            )
            self._run_chunks(engine)
            summary = self._build_summary()
            counts = {"done": summary.done, "failed": summary.failed, "left": summary.left}
            self._store.finish_run(number, {**counts, **self._load.describe()})
        except KeyboardInterrupt:
            raise KeyboardInterrupt(str(self._build_summary())) from None
        finally:
            engine.close()
            self._display.stop(summary)
        return summary

    def _run_chunks(self, engine: Engine) -> None:
        datasets = {planned_data.hash: planned_data.dataset for planned_data in self._plan.data}
        for data_index in {block.data for block in self._blocks}:
            dataset_cache.add(self._plan.data[data_index].dataset)
        chunker = Chunker(self._plan, blocks=self._blocks, slots=max(1, engine.workers()))
        self._load_times(chunker)
        flight = InFlight(engine, datasets.__getitem__)
        try:
            while not self._interruption.requested:
                self._send(engine, chunker, flight)
                if flight.idle:
                    return
                self._store_records(flight.collect_records(_POLL_SECONDS), chunker)
                self._load.sample()
            self._collect(engine, flight, chunker)
        finally:
            flight.cancel()

    def _load_times(self, chunker: Chunker) -> None:
        """Pass the mean durations of stored trials to the chunker."""
        times = self._store.compute_mean_times()
        for data_index, learner_index in np.ndindex(len(self._plan.data), len(self._plan.learners)):
            past_times = times.get((self._plan.data[data_index].hash, self._plan.learners[learner_index].hash))
            if past_times is not None:
                chunker.learn(learner_index, data_index, *past_times)

    def _send(self, engine: Engine, chunker: Chunker, flight: InFlight) -> None:
        while not flight.broken and len(flight) < engine.slots and (chunk := chunker.take_chunk()) is not None:
            self._pending_trials.mark_sent(chunk)
            flight.send(chunk)

    def _store_records(self, records: Sequence[TrialRecord], chunker: Chunker) -> None:
        if not records:
            return
        located = [(record, self._pending_trials.mark_done(record.key)) for record in records]
        try:
            self._store.add_records([(record, build_link(self._plan, trial)) for record, trial in located])
        except MovedStoreError:
            raise
        except StoreError as error:
            n_stored = self._total - self._missing + self._status.total()
            raise StoreError(f"{error}; the run stops, {n_stored:,} of {self._total:,} trials are stored") from error
        for record, trial in located:
            self._status[record.status] += 1
            if record.status != "ok":
                chunker.isolate(trial.learner)
            seconds = self._get_seconds(record)
            if seconds is not None:
                chunker.learn(trial.learner, trial.data, seconds)
        self._display.add_records([(self._plan.learners[trial.learner].name, record) for record, trial in located])

    def _get_seconds(self, record: TrialRecord) -> float | None:
        if record.fit_time is not None:
            return record.fit_time + (record.predict_time or 0.0)
        return self._plan.study.limits.time if record.status == "timeout" else None

    def _collect(self, engine: Engine, flight: InFlight, chunker: Chunker) -> None:
        """Stop the engine and store the records of finished trials."""
        flight.cancel()
        engine.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        while not flight.idle and time.monotonic() < deadline:
            self._store_records(flight.collect_records(_POLL_SECONDS, resend=False), chunker)

    def _build_summary(self) -> RunSummary:
        done = self._status.total()
        failures: dict[str, int] = {status: self._status[status] for status in FAILURES if self._status[status]}
        seconds = time.monotonic() - self._started
        return RunSummary(
            planned=self._total,
            stored=self._total - self._missing,
            done=done,
            failures=failures,
            seconds=seconds,
            interrupted=done < self._missing,
            forgotten=self._n_forgotten,
        )


def _describe_run(engine: Engine) -> dict[str, Any]:
    """Describe the engine, workers, process and package versions of a run."""
    versions = {"python": platform.python_version(), **get_versions((*DECISIVE, "pandas"))}
    cores = {"cpus": os.cpu_count(), "cores": count_usable_cores()}
    return {"engine": engine.name, "jobs": engine.workers(), **cores, "process": describe_process(), "versions": versions}


def add_plan(store: ResultsStore, plan: StudyPlan) -> None:
    """Store the data sets, conditions, learners and splits of a plan."""
    store.add_plan(
        plan.to_header(),
        [build_data_facts(planned.dataset, planned.name, planned.guessed_target) for planned in plan.data],
        [
            (
                condition.hash,
                ConditionFacts(
                    condition.name, condition.level, condition.condition.summarise(), condition.condition.describe()
                ),
            )
            for condition in plan.conditions
        ],
        [(learner.hash, learner.facts) for learner in plan.learners],
        (
            (planned.hash, bytes.fromhex(split_hash), rows)
            for planned in plan.data
            for rows, split_hash in zip(planned.splits, planned.split_hashes, strict=True)
        ),
    )


def build_data_facts(dataset: Dataset, name: str, guessed_target: bool = False) -> DataFacts:
    """Collect the facts about a data set that a results file stores.

    >>> from fairtrial.data import Dataset
    >>> facts = build_data_facts(Dataset.from_table([[1.0], [2.0], [3.0]], ["a", "b", "a"]), "three")
    >>> facts.classes, facts.codes.tolist(), facts.facts["numeric"]
    (('a', 'b'), [0, 1, 0], 1)
    """
    summary = dataset.summary()
    facts: dict[str, Any] = {key: getattr(summary, key) for key in ("rows", "numeric", "nominal", "missing", "imbalance_ratio")}
    facts |= {"source": dataset.source, "notes": list(dataset.notes)}
    if guessed_target:
        facts["guessed_target"] = dataset.target
    if dataset.fault is not None:
        facts["corrupted"] = dataset.fault.facts
    groups = dataset.groups
    if groups is not None:
        facts["groups"] = describe_groups(str(groups.name), np.asarray(groups.cat.codes, dtype=np.intp))
    codes: IntArray = np.asarray(dataset.y.cat.codes, dtype=np.intp)
    return DataFacts(name, dataset.content_hash, dataset.classes, codes, dataset.row_ids, facts)


def build_link(plan: StudyPlan, trial_index: TrialIndex) -> TrialLink:
    """Collect the hashes of the data set, condition, split and learner of a trial."""
    data = plan.data[trial_index.data]
    split = bytes.fromhex(data.split_hashes[trial_index.split])
    return TrialLink(data.hash, plan.conditions[trial_index.condition].hash, split, plan.learners[trial_index.learner].hash)


@dataclass(frozen=True, eq=False)
class SentChunk:
    """A chunk sent to the engine, and how often it was lost or returned without trial records."""

    chunk: Chunk
    losses: int = 0
    empty_returns: int = 0


class InFlight:
    """The chunks that an engine has received but not yet returned.

    If a worker requests a data set, the function `datasets` is called with the content hash and returns the data set.
    """

    def __init__(self, engine: Engine, datasets: Callable[[str], Dataset]) -> None:
        self._engine, self._datasets = engine, datasets
        self._sent: dict[Future[Any], SentChunk] = {}
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def idle(self) -> bool:
        """Whether no chunk is running and no error is waiting to be raised."""
        return not self._sent and self._failure is None

    @property
    def broken(self) -> bool:
        """Whether the engine has failed and accepts no more chunks."""
        return self._failure is not None

    def send(self, chunk: Chunk) -> None:
        """Send a chunk to the engine."""
        self._submit(SentChunk(chunk))

    def _submit(self, sent: SentChunk, dataset: Dataset | None = None) -> None:
        if self.broken:
            return
        try:
            future = self._engine.submit(sent.chunk, dataset)
        except Exception as error:
            self._fail(f"accepts no more work ({error})", "restart the engine")
        else:
            self._sent[future] = sent

    def _fail(self, problem: str, remedy: str) -> None:
        self._failure = self._failure or FairtrialError(
            f"the engine {self._engine.name} {problem}: {remedy}, then rerun the command to resume"
        )

    def collect_records(self, seconds: float, *, resend: bool = True) -> list[TrialRecord]:
        """Wait up to `seconds` for a chunk to finish, then return the records of finished chunks.

        If `resend` is True, lost chunks are sent again. If the engine fails, this call returns the records that have arrived,
        and the next call raises the error. If no records have arrived, this call raises the error.
        """
        records: list[TrialRecord] = []
        if self._failure is None:
            wait(self._sent, timeout=seconds, return_when=FIRST_COMPLETED)
            records = self._collect_finished(resend)
            if not records and self._engine.is_gone():
                self._fail("has been lost", "restart the engine")
        if self._failure is not None:
            records += self._collect_finished(resend=False)
            self._sent.clear()
            if not records:
                raise self._failure
        return records

    def _collect_finished(self, resend: bool) -> list[TrialRecord]:
        """Return the records of finished chunks. All finished chunks are removed before any chunk is resent."""
        finished = [(future, self._sent.pop(future)) for future in list(self._sent) if future.done()]
        return [record for future, sent in finished for record in self._handle_answer(future, sent, resend)]

    def cancel(self) -> None:
        """Cancel chunks that have not started."""
        for future in list(self._sent):
            if future.cancel():
                del self._sent[future]

    def _handle_answer(self, future: Future[Any], sent: SentChunk, resend: bool) -> Sequence[TrialRecord]:
        failure = _get_failure(future)
        if failure is not None:
            if self._engine.is_loss(failure):
                return self._handle_lost(sent) if resend else ()
            self._failure = self._failure or failure
            return ()
        answer = future.result()
        if isinstance(answer, DataRequest):
            if resend:
                self._submit(sent, self._datasets(answer.data))
            return ()
        remaining = _find_unanswered(sent.chunk, answer)
        if remaining and resend:
            self._handle_stopped(
                SentChunk(replace(sent.chunk, tasks=remaining), sent.losses, 0 if answer else sent.empty_returns + 1)
            )
        return answer  # type: ignore[no-any-return]

    def _handle_stopped(self, sent: SentChunk) -> None:
        """Resend the trials that have no record because their worker was stopped."""
        if sent.empty_returns < MAX_EMPTY_RETURNS:
            self._submit(sent)
        else:
            self._fail(f"returned {MAX_EMPTY_RETURNS} times without a trial record", "check its workers")

    def _handle_lost(self, sent: SentChunk) -> Sequence[TrialRecord]:
        losses, tasks = sent.losses + 1, sent.chunk.tasks
        if losses < MAX_LOSSES:
            self._submit(SentChunk(sent.chunk, losses))
        elif len(tasks) == 1:
            return [_make_lost_record(tasks[0])]
        else:
            middle = len(tasks) // 2
            for half in (tasks[:middle], tasks[middle:]):
                self._submit(SentChunk(replace(sent.chunk, tasks=half)))
        return ()


def _get_failure(future: Future[Any]) -> BaseException | None:
    return CancelledError() if future.cancelled() else future.exception()


def _find_unanswered(chunk: Chunk, records: Sequence[TrialRecord]) -> tuple[TrialTask, ...]:
    answered = {record.key for record in records}
    return tuple(task for task in chunk.tasks if task.key not in answered)


def _make_lost_record(task: TrialTask) -> TrialRecord:
    return TrialRecord(task.key, "crash", error="WorkerLost", message=f"its worker was lost {MAX_LOSSES} times")


class Interruption:
    """Context manager that turns the first SIGINT or SIGTERM into a request to stop.

    After the first signal, `requested` is True. The second signal has its usual effect. Python handles signals only in the main
    thread. In other threads, only the event `stop` can request an interruption.

    >>> stop = threading.Event()
    >>> with Interruption(stop) as interruption:
    ...     before = interruption.requested
    ...     stop.set()
    ...     print(before, interruption.requested)
    False True
    """

    def __init__(self, stop: threading.Event | None = None) -> None:
        self._stop = stop
        self._signalled = False
        self._previous_handlers: dict[signal.Signals, Any] = {}

    @property
    def requested(self) -> bool:
        """Whether the run should stop."""
        return self._signalled or (self._stop is not None and self._stop.is_set())

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._previous_handlers = {
                signal_number: signal.signal(signal_number, self._handle_signal) for signal_number in _STOP_SIGNALS
            }
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _handle_signal(self, number: int, frame: FrameType | None) -> None:
        self._signalled = True
        self._restore()

    def _restore(self) -> None:
        for signal_number, handler in self._previous_handlers.items():
            signal.signal(signal_number, signal.SIG_DFL if handler is None else handler)
        self._previous_handlers = {}
