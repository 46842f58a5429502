"""Simulate the drift study, and cache finished runs on disk."""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from fairtrial.reproduce.experiment import read_study_file
from fairtrial.study.environments import raise_on_interrupt

if TYPE_CHECKING:
    from fairtrial.study.environments import EnvironmentMatrix

TableName = Literal["populations", "missing", "definitions"]
TABLES: tuple[TableName, ...] = ("populations", "missing", "definitions")
_VERSION = 1  # increase it if the results change for the same settings
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile, zlib.error)
# Learners are trained only on the usual population in Table I, and tested only on it in Table II. Table III combines all
# environments.
_ENVIRONMENT_OPTIONS: dict[TableName, dict[str, Any]] = {
    "populations": {"train_on": ["NGP"]},
    "missing": {"test_on": ["NGP"]},
    "definitions": {},
}


class DriftRun(NamedTuple):
    """One learner in the environments of one table."""

    table: TableName
    learner: str
    coding: str
    n_train: int


@dataclass(frozen=True)
class DriftPlan:
    """Settings of the study at one scale.

    `max_iter` limits the number of training iterations of the complex network.
    """

    n_train: int
    n_test: int
    replicates: int
    max_iter: int
    variants: tuple[str, ...]
    declared: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, scale: str) -> DriftPlan:
        """Read the plan of a scale from settings.toml.

        >>> plan = DriftPlan.read("full")
        >>> plan.replicates, plan.learners
        (30, ('1R', 'Decision Tree', 'Simple NN', 'Complex NN'))
        """
        declared = read_study_file("drift", "settings")
        settings = dict(declared["scales"][scale])
        return cls(**settings | {"variants": tuple(settings["variants"])}, declared=declared)

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return tuple(self.declared["learners"])

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a simple learner and the complex learner with which it is compared."""
        return tuple((simple, complicated) for simple, complicated in self.declared["pairs"])

    def list_runs(self, variant: str = "") -> dict[tuple[TableName, str], DriftRun]:
        """Return the runs of a variant, keyed by table and learner.

        A run that the variant does not change equals the corresponding main run, so it is simulated only once.
        """
        changes = self.declared["variants"][variant] if variant else {}
        n_train = changes.get("n_train", self.n_train)
        codings = {name: settings["coding"] for name, settings in self.declared["learners"].items()}
        codings |= changes.get("coding", {})
        return {(table, name): DriftRun(table, name, codings[name], n_train) for table in TABLES for name in self.learners}

    def make_learner(self, name: str) -> Any:
        """Create a learner with the preprocessing that it requires."""
        from fairtrial.learners import Prepared, make_learner

        settings = self.declared["learners"][name]
        parameters = settings.get("parameters", {}) | ({"max_iter": self.max_iter} if settings["learner"] == "mlp" else {})
        return Prepared(make_learner(settings["learner"], **parameters))


def simulate(
    plan: DriftPlan, seed: int, jobs: int, folder: Path, progress: bool | None = False
) -> dict[DriftRun, EnvironmentMatrix]:
    """Run the plan and its variants.

    Finished runs are stored in the folder and reused. All learners see the same patients, regardless of how the attributes are
    coded. If `progress` is True, the start of each run is printed. If it is None, the start is printed only in a terminal.
    """
    from sklearn.utils.parallel import Parallel, delayed

    all_runs = dict.fromkeys(run for variant in ("", *plan.variants) for run in plan.list_runs(variant).values())
    runs = sorted(all_runs, key=_rank_by_work, reverse=True)  # longest first, to keep all processes busy
    verbose = sys.stderr is not None and sys.stderr.isatty() if progress is None else progress
    messages = [
        f"drift: run {number} of {len(runs)} ({run.learner}, {run.table}, {run.n_train} patients, {run.coding})"
        for number, run in enumerate(runs, 1)
    ]
    matrices = Parallel(n_jobs=jobs)(
        delayed(_load_or_simulate)(plan, run, seed, folder, message if verbose else "")
        for run, message in zip(runs, messages, strict=True)
    )
    return dict(zip(runs, matrices, strict=True))


def _rank_by_work(run: DriftRun) -> tuple[bool, int, int]:
    return run.learner == "Complex NN", run.n_train, (2, 3, 1)[TABLES.index(run.table)]


def _load_or_simulate(plan: DriftPlan, run: DriftRun, seed: int, folder: Path, message: str) -> EnvironmentMatrix:
    from fairtrial.errors import UndefinedMeasureWarning

    settings = _list_settings(plan, run, seed)
    path = get_matrix_path(folder, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)  # the tables show undefined pD values
        matrix = load_matrix(path)
        if matrix is None:
            if message:
                print(message, file=sys.stderr, flush=True)
            predictions = path.with_suffix(".begun")
            matrix = _simulate_run(plan, run, seed, predictions)
            save_matrix(path, settings, matrix)
            rmtree(predictions, ignore_errors=True)
    return matrix


def _list_settings(plan: DriftPlan, run: DriftRun, seed: int) -> dict[str, Any]:
    """List all settings on which the numbers of a run depend."""
    from importlib.metadata import version

    versions = {name: version(name) for name in ("fairtrial", "scikit-learn", "numpy")}
    settings = {"n_test": plan.n_test, "replicates": plan.replicates, "max_iter": plan.max_iter, "seed": seed}
    return run._asdict() | settings | {"declared": plan.declared["learners"][run.learner], "version": _VERSION} | versions


def _simulate_run(plan: DriftPlan, run: DriftRun, seed: int, predictions: Path) -> EnvironmentMatrix:
    """Run one learner in the environments of one table.

    The predictions on each test set are stored, so an interrupted run can be resumed.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.data.simulate import flu_environments
    from fairtrial.study import run_environments

    with threadpool_limits(1):
        return run_environments(
            {run.learner: CachedLearner(plan.make_learner(run.learner), predictions)},
            flu_environments(run.table, coding=run.coding),  # type: ignore[arg-type]
            n_train=run.n_train,
            n_test=plan.n_test,
            replicates=plan.replicates,
            seed=seed,
            progress=False,
            **_ENVIRONMENT_OPTIONS[run.table],
        )


class CachedLearner(BaseEstimator):  # type: ignore[misc]
    """A learner that stores its predictions and reads them instead of training again.

    Use a separate folder for each configuration of the learner. Ctrl-C during the training of a network raises
    KeyboardInterrupt.

    >>> import pandas as pd, tempfile
    >>> from sklearn.dummy import DummyClassifier
    >>> rows, classes = pd.DataFrame({"age": [1, 2, 3]}), pd.Series(["yes", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CachedLearner(DummyClassifier(), Path(folder)).fit(rows, classes).predict(rows).tolist()
    ['yes', 'yes', 'yes']
    """

    def __init__(self, learner: Any, folder: Path, random_state: int | None = None) -> None:
        self.learner, self.folder, self.random_state = learner, folder, random_state

    def fit(self, X: Any, y: Any) -> CachedLearner:
        """Train the learner unless predictions for the same training set are stored."""
        self._digest = _compute_digest(X, y, self.random_state)
        self._rows, self._is_trained = (X, y), False
        if not any(self.folder.glob(f"{self._digest}-*.npz")):
            self._train()
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted classes of the rows.

        Stored predictions are read. All others are computed and stored.
        """
        path = self.folder / f"{self._digest}-{_compute_digest(X)}.npz"
        classes = _load_classes(path)
        if classes is None:
            if not self._is_trained:  # a previous run was interrupted between two test sets
                self._train()
            classes = np.asarray(self.learner.predict(X)).astype(str)
            _save_arrays(path, classes=classes)
        return classes

    def _train(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        with raise_on_interrupt(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a network may stop at max_iter
            self.learner.fit(*self._rows)
        self._is_trained = True


def _compute_digest(*values: Any) -> str:
    """Hash the contents of frames, series and plain values."""
    from pandas.util import hash_pandas_object

    digest = hashlib.sha256()
    for value in values:
        digest.update(hash_pandas_object(value).to_numpy().tobytes() if hasattr(value, "index") else repr(value).encode())
    return digest.hexdigest()[:32]


def _load_classes(path: Path) -> npt.NDArray[Any] | None:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return np.asarray(arrays["classes"])
    except _UNREADABLE:
        return None


def get_matrix_path(folder: Path, settings: Mapping[str, Any]) -> Path:
    """Return the path of a run's file.

    Different settings give different files.

    >>> paths = [get_matrix_path(Path("runs"), {"table": "missing", "learner": "1R", "seed": seed}) for seed in (1, 2)]
    >>> paths[0].name[:11], paths[0] == paths[1]
    ('missing-1r-', False)
    """
    text = json.dumps(settings, sort_keys=True)
    name = f"{settings['table']}-{settings['learner']}".lower().replace(" ", "-")
    return folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz"


def save_matrix(path: Path, settings: Mapping[str, Any], matrix: EnvironmentMatrix) -> None:
    """Store the errors of each replicate, and the failures."""
    runs = matrix.runs().sort_values("replicate", kind="stable")
    cells = dict(list(runs.groupby(["learner", "trained_on", "tested_on"], sort=False)))
    header = {
        "settings": dict(settings),
        "cells": list(cells),
        "learners": matrix.learners,
        "environments": matrix.environments,
        "plan": dict(matrix.plan),
        "failures": [astuple(failure) for failure in matrix.failures],
    }
    errors, trivial = (np.array([cell[kind].to_numpy() for cell in cells.values()]) for kind in ("error", "trivial"))
    _save_arrays(path, header=np.array(json.dumps(header)), errors=errors, trivial=trivial)


def load_matrix(path: Path) -> EnvironmentMatrix | None:
    """Load a stored run; None if the file is missing or cannot be read."""
    from fairtrial.study.environments import EnvironmentFailure, EnvironmentMatrix

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            header, errors, trivial = json.loads(str(arrays["header"])), arrays["errors"], arrays["trivial"]
        cells = [(learner, source, target) for learner, source, target in header["cells"]]
        errors_by_cell = dict(zip(cells, errors, strict=True))
        trivial_by_target = {target: values for (_, _, target), values in zip(cells, trivial, strict=True)}
        failures = [EnvironmentFailure(*failure) for failure in header["failures"]]
        return EnvironmentMatrix.from_errors(
            header["learners"], header["environments"], errors_by_cell, trivial_by_target, failures, header["plan"]
        )
    except _UNREADABLE:
        return None


def _save_arrays(path: Path, **arrays: npt.NDArray[Any]) -> None:
    """Write arrays to a file that gets its final name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    unfinished.replace(path)
