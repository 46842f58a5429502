"""The runs: every learner in the environments of every table, each part once, several at a time."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.drift.declared import TABLES, Part, Plan, TableName

if TYPE_CHECKING:
    from fairtrial.study.environment_matrix import EnvironmentMatrix

# Table I is trained on the usual population alone, Table II tested on it alone, Table III is all against all.
_SIDES: dict[TableName, dict[str, Any]] = {
    "populations": {"train_on": ["NGP"]},
    "missing": {"test_on": ["NGP"]},
    "definitions": {},
}


def run_parts(plan: Plan, seed: int, jobs: int) -> dict[Part, EnvironmentMatrix]:
    """The result of every part of the plan and its variants. All learners meet the same patients, however they are coded."""
    from sklearn.utils.parallel import Parallel, delayed

    wanted = dict.fromkeys(part for variant in ("", *plan.variants) for part in plan.parts(variant).values())
    parts = sorted(wanted, key=_work, reverse=True)  # the longest first, so that no process waits for the last one
    found = Parallel(n_jobs=jobs)(delayed(_run)(plan, part, seed) for part in parts)
    return dict(zip(parts, found, strict=True))


def _work(part: Part) -> tuple[bool, int, int]:
    return part.learner == "Complex NN", part.n_train, (2, 3, 1)[TABLES.index(part.table)]


def _run(plan: Plan, part: Part, seed: int) -> EnvironmentMatrix:
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.data.simulate import flu_environments
    from fairtrial.errors import UndefinedMeasureWarning
    from fairtrial.study.environments import run_environments

    with threadpool_limits(1), warnings.catch_warnings():
        # A network that stops at its last round is part of the plan; tables show where pD is undefined.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return run_environments(
            {part.learner: plan.learner(part.learner)},
            flu_environments(part.table, coding=part.coding),  # type: ignore[arg-type]
            n_train=part.n_train,
            n_test=plan.n_test,
            replicates=plan.replicates,
            seed=seed,
            progress=False,
            **_SIDES[part.table],
        )
