"""The runs: every learner in the environments of every table, each part once, several at a time."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from fairtrial.reproduce.drift.declared import TABLES, Part, Plan, TableName
from fairtrial.reproduce.drift.fitting import Kept
from fairtrial.reproduce.drift.keeping import keep, kept, kept_path

if TYPE_CHECKING:
    from fairtrial.study.environments import EnvironmentMatrix

_PROTOCOL = 1  # to be raised whenever the same settings would give other numbers
# Table I is trained on the usual population alone, Table II tested on it alone, Table III is all against all.
_SIDES: dict[TableName, dict[str, Any]] = {
    "populations": {"train_on": ["NGP"]},
    "missing": {"test_on": ["NGP"]},
    "definitions": {},
}


def run_parts(plan: Plan, seed: int, jobs: int, folder: Path, progress: bool | None = False) -> dict[Part, EnvironmentMatrix]:
    """The result of every part of the plan and its variants; finished parts are kept in the folder and found again.

    All learners meet the same patients, however they are coded. `progress` tells each part that is begun, by default on a
    terminal.
    """
    from sklearn.utils.parallel import Parallel, delayed

    wanted = dict.fromkeys(part for variant in ("", *plan.variants) for part in plan.parts(variant).values())
    parts = sorted(wanted, key=_work, reverse=True)  # the longest first, so that no process waits for the last one
    shown = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    told = [f"drift: part {place} of {len(parts)} ({_told(part)})" if shown else "" for place, part in enumerate(parts, 1)]
    found = Parallel(n_jobs=jobs)(
        delayed(_found)(plan, part, seed, folder, line) for part, line in zip(parts, told, strict=True)
    )
    return dict(zip(parts, found, strict=True))


def _told(part: Part) -> str:
    return f"{part.learner}, {part.table}, {part.n_train} patients, {part.coding}"


def _work(part: Part) -> tuple[bool, int, int]:
    return part.learner == "Complex NN", part.n_train, (2, 3, 1)[TABLES.index(part.table)]


def _found(plan: Plan, part: Part, seed: int, folder: Path, told: str) -> EnvironmentMatrix:
    from fairtrial.errors import UndefinedMeasureWarning

    settings = _settings(plan, part, seed)
    path = kept_path(folder, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # tables show where pD is undefined
        found = kept(path)
        if found is None:
            if told:
                print(told, file=sys.stderr, flush=True)
            answers = path.with_suffix(".begun")
            found = _run(plan, part, seed, answers)
            keep(path, settings, found)
            rmtree(answers, ignore_errors=True)
    return found


def _settings(plan: Plan, part: Part, seed: int) -> dict[str, Any]:
    """All that the numbers of a part depend on."""
    from importlib.metadata import version

    versions = {name: version(name) for name in ("fairtrial", "scikit-learn", "numpy")}
    own = {"n_test": plan.n_test, "replicates": plan.replicates, "rounds": plan.rounds, "seed": seed}
    return part._asdict() | own | {"declared": plan.declared["learners"][part.learner], "protocol": _PROTOCOL} | versions


def _run(plan: Plan, part: Part, seed: int, answers: Path) -> EnvironmentMatrix:
    """A part, with the answers of each training kept in a folder, so that a part that was stopped goes on."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.data.simulate import flu_environments
    from fairtrial.study.environments import run_environments

    with threadpool_limits(1):
        return run_environments(
            {part.learner: Kept(plan.learner(part.learner), answers)},
            flu_environments(part.table, coding=part.coding),  # type: ignore[arg-type]
            n_train=part.n_train,
            n_test=plan.n_test,
            replicates=plan.replicates,
            seed=seed,
            progress=False,
            **_SIDES[part.table],
        )
