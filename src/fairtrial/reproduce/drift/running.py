"""The runs: every learner in the environments of every table, each part once, several at a time."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.drift.declared import TABLES, Part, Plan, TableName
from fairtrial.reproduce.drift.keeping import keep, kept, kept_path

if TYPE_CHECKING:
    from fairtrial.study.environment_matrix import EnvironmentMatrix

_PROTOCOL = 1  # to be raised whenever the same settings would give other numbers
# Table I is trained on the usual population alone, Table II tested on it alone, Table III is all against all.
_SIDES: dict[TableName, dict[str, Any]] = {
    "populations": {"train_on": ["NGP"]},
    "missing": {"test_on": ["NGP"]},
    "definitions": {},
}


def run_parts(plan: Plan, seed: int, jobs: int, folder: Path) -> dict[Part, EnvironmentMatrix]:
    """The result of every part of the plan and its variants; finished parts are kept in the folder and found again.

    All learners meet the same patients, however they are coded.
    """
    from sklearn.utils.parallel import Parallel, delayed

    wanted = dict.fromkeys(part for variant in ("", *plan.variants) for part in plan.parts(variant).values())
    parts = sorted(wanted, key=_work, reverse=True)  # the longest first, so that no process waits for the last one
    found = Parallel(n_jobs=jobs)(delayed(_found)(plan, part, seed, folder) for part in parts)
    return dict(zip(parts, found, strict=True))


def _work(part: Part) -> tuple[bool, int, int]:
    return part.learner == "Complex NN", part.n_train, (2, 3, 1)[TABLES.index(part.table)]


def _found(plan: Plan, part: Part, seed: int, folder: Path) -> EnvironmentMatrix:
    from fairtrial.errors import UndefinedMeasureWarning

    settings = _settings(plan, part, seed)
    path = kept_path(folder, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # tables show where pD is undefined
        found = kept(path)
        if found is None:
            found = _run(plan, part, seed)
            keep(path, settings, found)
    return found


def _settings(plan: Plan, part: Part, seed: int) -> dict[str, Any]:
    """All that the numbers of a part depend on."""
    from importlib.metadata import version

    versions = {name: version(name) for name in ("fairtrial", "scikit-learn", "numpy")}
    own = {"n_test": plan.n_test, "replicates": plan.replicates, "rounds": plan.rounds, "seed": seed}
    return part._asdict() | own | {"declared": plan.declared["learners"][part.learner], "protocol": _PROTOCOL} | versions


def _run(plan: Plan, part: Part, seed: int) -> EnvironmentMatrix:
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.data.simulate import flu_environments
    from fairtrial.study.environments import run_environments

    with threadpool_limits(1), warnings.catch_warnings():
        # A network that stops at its last round is part of the plan.
        warnings.simplefilter("ignore", ConvergenceWarning)
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
