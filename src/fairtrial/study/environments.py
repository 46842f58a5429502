"""Trained here, tested there: every learner in every pair of environments, many times over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, between, whole_number
from fairtrial._registry import did_you_mean
from fairtrial.conditions.environment import Environment
from fairtrial.errors import FairtrialError, InputError
from fairtrial.study.environment_matrix import EnvironmentMatrix, Failure, matrix_of
from fairtrial.study.randomness import named_generator, named_seed
from fairtrial.study.stopped_training import stopping

_SEED_SPAN = 2**32


@dataclass(frozen=True, eq=False)
class _Rows:
    """One replicate of one environment: rows to train on, rows to test on, and the error of the trivial classifier."""

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: npt.NDArray[Any]
    trivial: float


def run_environments(
    learners: Mapping[str, Any],
    environments: Mapping[str, Environment],
    *,
    n_train: int,
    n_test: int,
    replicates: int = 30,
    seed: int = 0,
    alpha: float = 0.05,
    train_on: Sequence[str] | None = None,
    test_on: Sequence[str] | None = None,
    progress: bool | None = None,
) -> EnvironmentMatrix:
    """Train each learner on each environment and test it on each: error rates and performance deterioration (pD).

    In each of the `replicates`, every environment is drawn anew, `n_train` rows to train on and `n_test` to test on; all
    learners see the same rows. The trivial classifier names the class that is most frequent in the training rows of the
    environment that it is tested on. `train_on` and `test_on` name the environments to be used so (all by default); a
    learner is always trained on the environment of the test too, since pD needs it.

    Random numbers depend on `seed` and on names only: a further learner or environment changes no other number. A learner's
    `random_state` is set where it is None. A learner that raises is caught, and its failure recorded. `progress` shows a bar,
    by default on a terminal.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from fairtrial.data.simulate import GaussianMixture
    >>> worlds = {"near": GaussianMixture(means=[0, 1]), "moved": GaussianMixture(means=[1, 2])}
    >>> result = run_environments({"line": LogisticRegression()}, worlds, n_train=1000, n_test=2000, replicates=5)
    >>> result.matrix("line").round(1)
    tested_on   near  moved
    trained_on
    near         0.0    0.4
    moved        0.4    0.0
    """
    _check_names(learners, environments)
    for name, value in {"n_train": n_train, "n_test": n_test, "replicates": replicates}.items():
        whole_number(name, value, 1)
    whole_number("seed", seed, 0)
    between("alpha", alpha, 0, 1)
    cells = _cells(list(environments), train_on, test_on)
    errors = {(learner, *cell): np.full(replicates, np.nan) for learner in learners for cell in cells}
    trivial = {name: np.full(replicates, np.nan) for name in environments}
    failures: list[Failure] = []
    with _bar(progress, replicates * len(learners)) as advance:
        for replicate in range(replicates):
            rows = {name: _drawn(environments[name], name, replicate, n_train, n_test, seed) for name in _used(cells)}
            for name, drawn in rows.items():
                trivial[name][replicate] = drawn.trivial
            for learner, estimator in learners.items():
                failures += _replicate(learner, estimator, cells, rows, replicate, seed, errors)
                advance()
    plan = {"n_train": n_train, "n_test": n_test, "replicates": replicates, "seed": seed, "alpha": alpha}
    return matrix_of(list(learners), _used(cells), errors, trivial, failures, plan)


def _cells(names: list[str], train_on: Sequence[str] | None, test_on: Sequence[str] | None) -> list[tuple[str, str]]:
    """Pairs of environments, trained on and tested on, in the order in which the environments were given."""
    chosen = {}
    for what, given in (("train_on", train_on), ("test_on", test_on)):
        listed = names if given is None else [given] if isinstance(given, str) else list(given)
        for each in listed:
            if each not in names:
                raise InputError(f"{what} must name environments, got {each!r}: {did_you_mean(each, names)}")
        if not listed:
            raise InputError(f"{what} must name at least 1 environment, got 0")
        chosen[what] = set(listed)
    return [
        (train, test)
        for train in names
        for test in names
        if test in chosen["test_on"] and (train in chosen["train_on"] or train == test)
    ]


def _used(cells: list[tuple[str, str]]) -> list[str]:
    """Environments that are trained on or tested on."""
    return list(dict.fromkeys([train for train, _ in cells]))


def _drawn(environment: Environment, name: str, replicate: int, n_train: int, n_test: int, seed: int) -> _Rows:
    X_train, y_train = _sample(environment, name, n_train, named_generator(seed, "environment", name, "train", replicate))
    X_test, y_test = _sample(environment, name, n_test, named_generator(seed, "environment", name, "test", replicate))
    for part, y, n in (("train", y_train, n_train), ("test", y_test, n_test)):
        if len(y) != n:
            raise InputError(f"environment {name!r} must give the {n} rows asked for to {part}, got {len(y)}")
    truth = np.asarray(y_test)
    classes, counts = np.unique(np.asarray(y_train), return_counts=True)
    return _Rows(X_train, y_train, X_test, truth, float((truth != classes[counts.argmax()]).mean()))


def _sample(environment: Environment, name: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    try:
        X, y = environment.sample(n, rng)
    except FairtrialError:
        raise
    except Exception as error:
        raise InputError(
            f"environment {name!r} must give X and y by sample(n, rng), got {type(error).__name__}: {error}"
        ) from error
    return X, y


def _replicate(
    learner: str,
    estimator: Any,
    cells: list[tuple[str, str]],
    rows: Mapping[str, _Rows],
    replicate: int,
    seed: int,
    errors: dict[tuple[str, str, str], FloatArray],
) -> Iterator[Failure]:
    """Fill in the errors of one learner in one replicate, and give what failed."""
    for source in rows:
        targets = [test for train, test in cells if train == source]
        try:
            own = _seeded(estimator, named_seed(seed, "learner", learner, source, replicate))
            # Copies, since a learner may write into its rows.
            with stopping():
                fitted = own.fit(deepcopy(rows[source].X_train), deepcopy(rows[source].y_train))
        except Exception as error:
            yield Failure(learner, source, "", replicate, type(error).__name__, str(error))
            continue
        for target in targets:
            try:
                errors[learner, source, target][replicate] = _error(fitted, rows[target])
            except Exception as error:
                yield Failure(learner, source, target, replicate, type(error).__name__, str(error))


def _seeded(estimator: Any, seed: int) -> Any:
    """A fresh copy; whatever draws at random and has no seed of its own gets this one."""
    from sklearn.base import clone

    fresh = clone(estimator, safe=False)
    if hasattr(fresh, "get_params"):
        unset = [name for name, value in fresh.get_params().items() if name.split("__")[-1] == "random_state" and value is None]
        if unset:
            fresh.set_params(**dict.fromkeys(unset, seed % _SEED_SPAN))
    return fresh


def _error(fitted: Any, rows: _Rows) -> float:
    predicted = np.asarray(fitted.predict(deepcopy(rows.X_test))).reshape(-1)
    if len(predicted) != len(rows.y_test):
        raise InputError(f"predict must give a class for each of the {len(rows.y_test)} rows, got {len(predicted)}")
    return float(np.mean(predicted != rows.y_test))


def _check_names(learners: Any, environments: Any) -> None:
    for what, given in (("learners", learners), ("environments", environments)):
        if not isinstance(given, Mapping) or not given or not all(isinstance(name, str) for name in given):
            raise InputError(f"{what} must map names to {what}, got {type(given).__name__}: pass {{'name': ...}}")
    for name, each in environments.items():
        if not isinstance(each, Environment):
            raise InputError(f"environment {name!r} must have sample(n, rng), got {type(each).__name__}")
    for name, each in learners.items():
        if not (hasattr(each, "fit") and hasattr(each, "predict")) or isinstance(each, type):
            told = "a class" if isinstance(each, type) else type(each).__name__
            raise InputError(f"learner {name!r} must have fit and predict, got {told}: pass an estimator such as C45()")


@contextmanager
def _bar(progress: bool | None, total: int) -> Iterator[Callable[[], None]]:
    """A bar that moves on with each call, on a terminal or when asked for."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("learners x replicates", total=total)
        yield lambda: bar.advance(task)
