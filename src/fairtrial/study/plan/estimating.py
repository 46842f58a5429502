"""How long a study will take, before it runs: by the times that are stored, or by one trial of each learner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fairtrial._check import whole_number
from fairtrial.study.one_line import reason
from fairtrial.study.plan.pace import Pace
from fairtrial.study.plan.plan import Block, Plan

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.records import Evidence

_PATIENCE = 10.0


@dataclass(frozen=True)
class Estimate:
    """Seconds that the missing trials are likely to take, None where nobody can say; `words` tell what that rests on."""

    seconds: float | None
    words: str

    def frame(self) -> pd.DataFrame:
        """One line."""
        import pandas as pd

        return pd.DataFrame({"seconds": [np.nan if self.seconds is None else self.seconds], "words": [self.words]})

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.words)}</p>"


def estimate(
    plan: Plan,
    missing: npt.NDArray[np.int64],
    times: Mapping[tuple[str, str], tuple[float, int]],
    jobs: int = 1,
    *,
    tries: bool = True,
) -> Estimate:
    """How long the missing trials will take on so many workers.

    `missing` counts them, data sets x learners (`Plan.count`); `times` are the mean seconds of stored trials and how many there
    are, by the hashes of data set and learner. A learner without any is tried once, for 10 seconds or the limit of a
    trial at most, on the clean data set of median size, unless `tries` is False. Where a data set has no time of its own, times
    grow in proportion to the rows, up to the limit.
    """
    whole_number("jobs", jobs, 1)
    if not missing.any():
        return Estimate(0.0, "nothing is left to run")
    sizes = [len(each.dataset) for each in plan.data]
    pace = Pace(sizes, len(plan.learners))
    _learn_stored(plan, times, pace)
    median = int(np.argsort(sizes, kind="stable")[(len(sizes) - 1) // 2])
    basis = _Basis(plan, median, _named(missing.any(axis=0) & ~_known(pace)), {})
    stored = _named(missing.any(axis=0) & _known(pace))
    if tries and basis.unknown:
        basis = replace(basis, tried=_tried(plan, median, basis.unknown))
        for learner, found in basis.tried.items():
            pace.learn(learner, median, _seconds(found, basis.patience))
    seconds = np.where(missing > 0, np.minimum(pace.seconds, basis.limit), 0.0)
    if np.isnan(seconds).any():
        return Estimate(None, f"how long it takes cannot be told: no time of {basis.names(basis.unknown)} is stored")
    total = float((missing * seconds).sum()) / jobs
    return Estimate(total, f"{duration(total)} {_workers(jobs)}, {basis.words(stored)}")


@dataclass(frozen=True)
class _Basis:
    """What an estimate rests on beside stored times: learners tried on a data set, and what they left."""

    plan: Plan
    data: int
    unknown: tuple[int, ...]
    tried: Mapping[int, Evidence]

    @property
    def limit(self) -> float:
        """Seconds after which a trial of the study is stopped."""
        return self.plan.study.limits.time or float("inf")

    @property
    def patience(self) -> float:
        """Seconds that a learner was given to be tried."""
        return min(_PATIENCE, self.limit)

    def names(self, learners: Sequence[int]) -> str:
        return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if (names := self._names(learners)) else "none"

    def _names(self, learners: Sequence[int]) -> list[str]:
        return [self.plan.learners[each].name for each in learners]

    def words(self, stored: Sequence[int]) -> str:
        of = self.plan.data[self.data]
        told = [f"by the stored times of {self.names(stored)}"] if stored else []
        if self.tried:
            told.append(f"by one trial of {self.names(list(self.tried))} on {of.name} ({len(of.dataset)} rows), scaled by rows")
        return "; ".join([" and ".join(told), *self._slow(), *self._failed()])

    def _slow(self) -> Iterator[str]:
        slow = [each for each, found in self.tried.items() if found.status == "timeout"]
        if slow and self.limit <= _PATIENCE:
            yield f"{self.names(slow)} did not finish in {self.limit:g} s, the limit: each such trial is stopped by it"
        elif slow:
            stopped = f", though a trial is stopped after {self.limit:g} s" if self.limit < float("inf") else ""
            yield f"{self.names(slow)} did not finish in {_PATIENCE:g} s, so that it may take much longer{stopped}"

    def _failed(self) -> Iterator[str]:
        for each, found in self.tried.items():
            if found.status not in ("ok", "timeout"):
                why = reason(found.error, found.message)
                yield f"{self.names([each])} failed there" + (f" ({why})" if why else "")


def duration(seconds: float) -> str:
    """Seconds in words, with the digits that an estimate deserves.

    >>> [duration(each) for each in (0.2, 42.4, 150, 7000, 400000)]
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


def _workers(jobs: int) -> str:
    return "with 1 job" if jobs == 1 else f"with {jobs} jobs"


def _known(pace: Pace) -> npt.NDArray[np.bool_]:
    return np.asarray(np.isfinite(pace.seconds).any(axis=0))


def _named(chosen: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(np.flatnonzero(chosen).tolist())


def _learn_stored(plan: Plan, times: Mapping[tuple[str, str], tuple[float, int]], pace: Pace) -> None:
    for learner, own in enumerate(plan.learners):
        for data, of in enumerate(plan.data):
            if (of.hash, own.hash) in times:
                pace.learn(learner, data, *times[of.hash, own.hash])


def _tried(plan: Plan, data: int, learners: Sequence[int]) -> dict[int, Evidence]:
    """One clean trial of each of the learners on the first split of the data set, each under guard."""
    from fairtrial.conditions import Clean
    from fairtrial.study.guard.guard import Guard
    from fairtrial.study.plan.chunking import chunk_of
    from fairtrial.study.plan.pickling import pickled
    from fairtrial.study.records import Chunk, Limits

    declared = plan.study.limits
    limits = Limits(min(_PATIENCE, declared.time or _PATIENCE), declared.memory)
    own = [pickled(each.estimator, each.name) for each in plan.learners]
    chunk = chunk_of(plan, [Block(data, 0, 0, tuple(learners))], own, limits)
    clean = Chunk(chunk.data, chunk.splits, (Clean(),), chunk.learners, chunk.tasks, limits)
    guard = Guard()
    try:
        found = guard.run(clean, plan.data[data].dataset)
    finally:
        guard.close()
    by_key = {each.key: each for each in found}
    return {learner: by_key[task.key] for learner, task in zip(learners, clean.tasks, strict=True)}


def _seconds(found: Evidence, given: float) -> float:
    """What a trial took. One out of time took all it was given; another failure is taken to come as soon the next time."""
    if found.status == "timeout":
        return given
    return (found.fit_time or 0.0) + (found.predict_time or 0.0)
