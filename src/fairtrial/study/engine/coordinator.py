"""The coordinator of a study: sends out what is missing, keeps what comes back. It alone writes to the store."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import one_of
from fairtrial.errors import InputError, StoreError
from fairtrial.study.engine.engine import known_engine
from fairtrial.study.engine.interruption import Interruption
from fairtrial.study.engine.progress import Progress, progress_of
from fairtrial.study.engine.run_summary import RunSummary
from fairtrial.study.plan.places import Places
from fairtrial.study.plan.plan import Block, Plan, plan as plan_of
from fairtrial.study.plan.plan_facts import add_plan, link_of
from fairtrial.study.plan.trying_conditions import try_conditions
from fairtrial.study.records import FAILURES, Evidence, Limits, Status
from fairtrial.study.store.store import Store

if TYPE_CHECKING:
    from fairtrial.study.declare.resolving import Resolved
    from fairtrial.study.declare.study import Study
    from fairtrial.study.engine.engine import Engine
    from fairtrial.study.engine.in_flight import InFlight
    from fairtrial.study.plan.chunking import Chunker

_LOOK = 0.2  # seconds between looks at whether somebody wants it to stop
_LAST_WORDS = 30.0  # seconds in which chunks hand over what they have when the run is stopped


def run(
    study: Study | Resolved,
    store: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    engine: str | Executor = "local",
    limits: Limits | None = None,
    retry: Collection[Status] = (),
    shard: tuple[int, int] | None = None,
    progress: bool | Progress | None = None,
    stop: threading.Event | None = None,
) -> RunSummary:
    """Run the trials of a study that the store does not have yet, and keep their evidence there.

    `retry` names kinds of failures to run again; `shard=(i, n)` runs the i-th of n parts; `limits` take the place of those of
    the study. Setting `stop`, the first Ctrl-C and SIGTERM stop cleanly: what is finished is stored. Where nothing is missing,
    no process is started. A condition that cannot be applied to any data set is refused before.
    """
    known_engine(engine, jobs)
    for each in retry:
        one_of("retry", each, FAILURES)
    if limits is not None and not isinstance(limits, Limits):
        raise InputError(f"limits must be Limits(time, memory) or None, got {limits!r}")
    resolved: Resolved = study.resolve() if hasattr(study, "resolve") else study
    planned = plan_of(resolved if limits is None else replace(resolved, limits=limits))
    shown = progress_of(progress)
    new = not os.path.exists(store)
    if new:  # a study that is refused leaves no file
        try_conditions(planned, planned.missing(shard=shard))
    with Store.open(store, write=True, create=True) as kept:
        blocks = list(planned.missing(kept.done(retry), shard))
        if not new:
            try_conditions(planned, blocks)
        add_plan(kept, planned)
        total = planned.n_trials if shard is None else _count(planned.missing(shard=shard))
        if not blocks:
            return _nothing_to_do(total, shown)
        with Interruption(stop) as interruption:
            return _Run(planned, kept, blocks, total, shown, interruption).on(engine, jobs)


def _count(blocks: Any) -> int:
    return sum(len(block.learners) for block in blocks)


def _nothing_to_do(total: int, shown: Progress) -> RunSummary:
    summary = RunSummary(planned=total, stored=total, done=0)
    shown.stop(summary)
    return summary


class _Run:
    """One run, from the first chunk to the last."""

    def __init__(
        self, plan: Plan, store: Store, blocks: Sequence[Block], total: int, shown: Progress, interruption: Interruption
    ) -> None:
        self._plan, self._store, self._blocks = plan, store, blocks
        self._total, self._missing = total, _count(blocks)
        self._shown, self._interruption = shown, interruption
        self._places = Places(plan)
        self._status: Counter[Status] = Counter()
        self._begun = time.monotonic()

    def on(self, name: str | Executor, jobs: int | None) -> RunSummary:
        """Run on this engine, which is closed whatever happens."""
        from fairtrial.study.engine.engine import open_engine

        packages = {package for each in self._plan.learners for package in each.facts.versions}
        engine = open_engine(name, jobs, sorted(packages))
        summary: RunSummary | None = None
        try:
            number = self._store.start_run(_facts(engine))
            self._shown.start(
                self._plan.study.name,
                [each.name for each in self._plan.learners],
                self._total,
                self._total - self._missing,
                f"engine {engine.name}, {engine.workers()} at once",
            )
            self._work(engine)
            summary = self._summary()
            self._store.finish_run(number, {"done": summary.done, "failed": summary.failed, "left": summary.left})
        except KeyboardInterrupt:
            raise KeyboardInterrupt(str(self._summary())) from None
        finally:
            engine.close()
            self._shown.stop(summary)
        return summary

    def _work(self, engine: Engine) -> None:
        from fairtrial.study.engine.in_flight import InFlight
        from fairtrial.study.guard.held_data import hold
        from fairtrial.study.plan.chunking import Chunker

        datasets = {each.hash: each.dataset for each in self._plan.data}
        for each in {block.data for block in self._blocks}:
            hold(self._plan.data[each].dataset)
        chunker = Chunker(self._plan, blocks=self._blocks, slots=max(1, engine.workers()))
        self._remember_times(chunker)
        flight = InFlight(engine, datasets.__getitem__)
        try:
            while not self._interruption.asked:
                self._send(engine, chunker, flight)
                if flight.idle:
                    return
                self._keep(flight.arrived(_LOOK), chunker)
            self._collect(engine, flight, chunker)
        finally:
            flight.cancel()

    def _remember_times(self, chunker: Chunker) -> None:
        """What earlier runs took."""
        times = self._store.mean_times()
        for data, learner in np.ndindex(len(self._plan.data), len(self._plan.learners)):
            found = times.get((self._plan.data[data].hash, self._plan.learners[learner].hash))
            if found is not None:
                chunker.learn(learner, data, *found)

    def _send(self, engine: Engine, chunker: Chunker, flight: InFlight) -> None:
        while not flight.broken and len(flight) < engine.slots and (chunk := chunker.next_chunk()) is not None:
            self._places.went_out(chunk)
            flight.send(chunk)

    def _keep(self, evidence: Sequence[Evidence], chunker: Chunker) -> None:
        if not evidence:
            return
        placed = [(each, self._places.came_back(each.key)) for each in evidence]
        try:
            self._store.add([(each, link_of(self._plan, place)) for each, place in placed])
        except StoreError as error:
            kept = self._total - self._missing + self._status.total()
            raise StoreError(f"{error}; the run stops, {kept} of {self._total} trials are stored and safe") from error
        for each, place in placed:
            self._status[each.status] += 1
            seconds = self._seconds(each)
            if seconds is not None:
                chunker.learn(place.learner, place.data, seconds)
        self._shown.came([(self._plan.learners[place.learner].name, each) for each, place in placed])

    def _seconds(self, evidence: Evidence) -> float | None:
        if evidence.fit_time is not None:
            return evidence.fit_time + (evidence.predict_time or 0.0)
        return self._plan.study.limits.time if evidence.status == "timeout" else None

    def _collect(self, engine: Engine, flight: InFlight, chunker: Chunker) -> None:
        """Stop: take what the chunks that are out have finished."""
        flight.cancel()
        engine.stop()
        until = time.monotonic() + _LAST_WORDS
        while not flight.idle and time.monotonic() < until:
            self._keep(flight.arrived(_LOOK, again=False), chunker)

    def _summary(self) -> RunSummary:
        done = self._status.total()
        failures: dict[str, int] = {status: self._status[status] for status in FAILURES if self._status[status]}
        seconds = time.monotonic() - self._begun
        return RunSummary(
            planned=self._total,
            stored=self._total - self._missing,
            done=done,
            failures=failures,
            seconds=seconds,
            interrupted=done < self._missing,
        )


def _facts(engine: Engine) -> dict[str, Any]:
    """What is worth knowing of a run later."""
    import platform

    from fairtrial.study.engine.versions import DECISIVE, versions_here

    versions = {"python": platform.python_version(), **versions_here((*DECISIVE, "pandas"))}
    return {"engine": engine.name, "jobs": engine.workers(), "cpus": os.cpu_count(), "versions": versions}
