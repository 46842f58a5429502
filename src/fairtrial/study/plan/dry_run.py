"""What a run would do, without doing it: how many trials, how many are stored, how long the rest will take."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.study.plan.estimating import Estimate, estimate
from fairtrial.study.plan.plan import Plan, plan as plan_of
from fairtrial.study.plan.trying_conditions import try_conditions
from fairtrial.study.records import Limits, Status

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study.declare.study import Study


@dataclass(frozen=True, eq=False, repr=False)
class DryRun:
    """The plan of a study, the trials of it that a store lacks (data sets x learners), and how long they are likely to take."""

    plan: Plan
    planned: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    missing: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    estimate: Estimate

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


def dry_run(
    study: Study,
    store: str | os.PathLike[str],
    *,
    jobs: int = 1,
    retry: Collection[Status] = (),
    shard: tuple[int, int] | None = None,
    limits: Limits | None = None,
) -> DryRun:
    """What `run` with the same arguments would do. Learners without stored times are tried once, under guard."""
    from fairtrial.study.store.store import Store

    resolved = study.resolve()
    plan = plan_of(resolved if limits is None else replace(resolved, limits=limits))
    done, times = set[bytes](), {}
    if Path(store).exists():
        with Store.open(store) as kept:
            done, times = kept.done(retry), kept.mean_times()
    try_conditions(plan, plan.missing(done, shard))
    planned, missing = (plan.count(plan.missing(those, shard)) for those in ((), done))
    return DryRun(plan, planned, missing, estimate(plan, missing, times, jobs))
