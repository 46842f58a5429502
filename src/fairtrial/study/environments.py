"""Train learners in one environment and test them in others."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import astuple, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, check_between, check_one_of, check_whole_number
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_table
from fairtrial.conditions.environment import Environment
from fairtrial.errors import FairtrialError, InputError, UndefinedMeasureWarning
from fairtrial.study.randomness import derive_generator, derive_seed

if TYPE_CHECKING:
    import pandas as pd

_STOPPED = "Training interrupted by user"  # warning from scikit-learn's neural networks, which catch Ctrl-C


@contextmanager
def raise_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt if Ctrl-C interrupts the training of a neural network.

    By default, scikit-learn's neural networks only issue a warning.


    >>> try:
    ...     with raise_on_interrupt():
    ...         warnings.warn("Training interrupted by user.", stacklevel=1)
    ... except KeyboardInterrupt:
    ...     print("stopped")
    stopped
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=_STOPPED)
        try:
            yield
        except UserWarning as warning:
            if _STOPPED in str(warning):
                raise KeyboardInterrupt from None
            raise


_RESAMPLES = 2000

_VALUES = ("pd", "pd_low", "pd_high", "error", "error_low", "error_high", "ideal", "trivial", "loss", "loss_low", "loss_high")

Cell = tuple[str, str, str]


@dataclass(frozen=True)
class EnvironmentFailure:
    """An error that a learner raised.

    If the learner failed during training, `tested_on` is an empty string.
    """

    learner: str
    trained_on: str
    tested_on: str
    replicate: int
    kind: str
    message: str


@dataclass(frozen=True, eq=False, repr=False)
class EnvironmentMatrix:
    """Error rates of learners that are trained in one environment and tested in another.

    `run_environments` returns this matrix. A cell is a combination of a learner, a training environment and a test environment.
    `frame()` returns a table with one row per cell and these columns:

    - `error`: mean error rate over the replicates, with a t interval;
    - `ideal`: mean error rate of the same learner trained in the test environment;
    - `trivial`: mean error rate of the trivial classifier in the test environment;
    - `loss`: `error` minus `ideal`, paired by replicate, with a t interval;
    - `pd`: performance deterioration (pD), computed from the mean error rates, with a percentile bootstrap interval;
    - `replicates`: number of replicates in which both error rates, `error` and `ideal`, are available;
    - `failures`: number of replicates in which the learner failed.

    Attributes
    ----------
    learners, environments : tuple of str
        Names of the learners and environments.
    failures : tuple of EnvironmentFailure
        Errors that learners raised.
    plan : mapping
        Numbers of rows and replicates, the seed, and alpha.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from fairtrial.data.simulate import GaussianMixture
    >>> worlds = {"a": GaussianMixture(means=[0, 1]), "b": GaussianMixture(means=[1, 2])}
    >>> result = run_environments({"bayes": GaussianNB()}, worlds, n_train=100, n_test=100, replicates=2)
    >>> result.frame()[["learner", "trained_on", "tested_on", "replicates"]].values.tolist()[0]
    ['bayes', 'a', 'a', 2]
    """

    learners: tuple[str, ...]
    environments: tuple[str, ...]
    failures: tuple[EnvironmentFailure, ...]
    plan: Mapping[str, Any]
    _cells: pd.DataFrame
    _runs: pd.DataFrame

    @classmethod
    def from_errors(
        cls,
        learners: Sequence[str],
        environments: Sequence[str],
        errors: Mapping[Cell, FloatArray],
        trivial: Mapping[str, FloatArray],
        failures: Sequence[EnvironmentFailure],
        plan: Mapping[str, Any],
    ) -> EnvironmentMatrix:
        """Build the matrix from the error rates of each cell.

        Parameters
        ----------
        learners, environments : list of str
            Names of the learners and environments.
        errors : mapping of (learner, trained on, tested on) to array
            Error rate in each replicate. NaN means that the learner failed.
        trivial : mapping of str to array
            Error rate of the trivial classifier in each replicate, keyed by environment.
        failures : list of EnvironmentFailure
            Errors that learners raised.
        plan : mapping
            Numbers of rows and replicates, the seed, and alpha.

        Returns
        -------
        EnvironmentMatrix
        """
        import pandas as pd

        replicates = int(plan["replicates"])
        draws = derive_generator(plan["seed"], "bootstrap").integers(replicates, size=(_RESAMPLES, replicates))
        counts = np.stack([np.bincount(draw, minlength=replicates) for draw in draws]).astype(np.float64)
        lines, runs = [], []
        for (learner, source, target), error in errors.items():
            cell_names = {"learner": learner, "trained_on": source, "tested_on": target}
            ideal = errors[learner, target, target]
            lines.append(cell_names | _summarize_cell(error, ideal, trivial[target], counts, float(plan["alpha"])))
            runs.append(
                pd.DataFrame({**cell_names, "replicate": np.arange(replicates), "error": error, "trivial": trivial[target]})
            )
        cells = pd.DataFrame(lines)
        _warn_undefined(cells)
        return cls(tuple(learners), tuple(environments), tuple(failures), dict(plan), cells, pd.concat(runs, ignore_index=True))

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per learner, training environment and test environment."""
        return self._cells.copy()

    def runs(self) -> pd.DataFrame:
        """Return the error rates of the learner and the trivial classifier by cell and replicate."""
        return self._runs.copy()

    def failures_frame(self) -> pd.DataFrame:
        """Return a table with one row per failure."""
        import pandas as pd

        return pd.DataFrame(
            [astuple(failure) for failure in self.failures], columns=[field.name for field in fields(EnvironmentFailure)]
        )

    def matrix(self, learner: str, value: str = "pd") -> pd.DataFrame:
        """Return a table for one learner, with one row per training environment.

        The columns are the test environments.

        Parameters
        ----------
        learner : str
            Name of the learner.
        value : str, default "pd"
            Column of `frame()` that fills the table, e.g. "pd", "error" or "loss".

        Returns
        -------
        pandas.DataFrame
        """
        check_one_of("learner", learner, self.learners)
        check_one_of("value", value, _VALUES)
        cells = self._cells[self._cells["learner"] == learner]
        wide = cells.pivot_table(
            index="trained_on", columns="tested_on", values=value, dropna=False, observed=False, sort=False
        )
        return wide.reindex(index=self._list_present("trained_on"), columns=self._list_present("tested_on"))

    def averages(self) -> pd.DataFrame:
        """Compute the mean pD of each learner and training environment.

        Returns
        -------
        pandas.DataFrame
            Mean pD over all other test environments in which pD is defined, and the number of these environments.
        """
        others = self._cells[(self._cells["trained_on"] != self._cells["tested_on"]) & self._cells["pd"].notna()]
        grouped = others.groupby(["learner", "trained_on"], sort=False, observed=True)["pd"]
        return grouped.agg(pd="mean", environments="count").reset_index()

    def _list_present(self, side: str) -> Any:
        import pandas as pd

        present = set(self._cells[side])
        return pd.Index([name for name in self.environments if name in present], name=side)

    def _summarize(self) -> str:
        plan = self.plan
        counts = {"learner": len(self.learners), "environment": len(self.environments), "replicate": plan["replicates"]}
        text = ", ".join(format_count(count, noun) for noun, count in counts.items())
        text += f" of {plan['n_train']} training and {plan['n_test']} test rows"
        if not self.failures:
            return text
        first = self.failures[0]
        return f"{text}; {format_count(len(self.failures), 'failure')}, first: {first.learner}: {first.kind}: {first.message}"

    def _format_learner(self, learner: str) -> pd.DataFrame:
        """Format a table of pD with error rates in percent in parentheses.

        The last row shows the error rates of the trivial classifier.
        """
        deteriorations, errors, trivial = (self.matrix(learner, value) for value in ("pd", "error", "trivial"))
        table = deteriorations.map(_format_two_digits) + errors.map(lambda error: f" ({_format_percent(error)})")
        table.loc["trivial"] = [f"({_format_percent(rate)})" for rate in trivial.max(axis=0)]
        table.index.name, table.columns.name = "trained on", "tested on"
        return table

    def __str__(self) -> str:
        parts = [f"pD (error in %) of {self._summarize()}"]
        parts += [f"\n{learner}\n{self._format_learner(learner).to_string()}" for learner in self.learners]
        return "\n".join(parts)

    def __repr__(self) -> str:
        return f"<EnvironmentMatrix of {self._summarize()}>"

    def _repr_html_(self) -> str:
        tables = [
            f"<h4>{escape(learner)}</h4>{format_html_table(self._format_learner(learner), index=True)}"
            for learner in self.learners
        ]
        return f"<p>pD (error in %) of {escape(self._summarize())}</p>" + "".join(tables)


def _summarize_cell(
    error: FloatArray, ideal: FloatArray, trivial: FloatArray, counts: FloatArray, alpha: float
) -> dict[str, float]:
    both = np.isfinite(error) & np.isfinite(ideal)
    facts: dict[str, float] = {}
    for name, values, low, high in (("error", error, 0.0, 1.0), ("loss", error - ideal, -1.0, 1.0)):
        middle, half = _compute_mean_interval(values[np.isfinite(values)], alpha)
        facts |= {name: middle, f"{name}_low": max(middle - half, low), f"{name}_high": min(middle + half, high)}
        facts |= {key: np.nan for key in (f"{name}_low", f"{name}_high") if np.isnan(half)}
    facts["ideal"] = _compute_mean_interval(ideal[np.isfinite(ideal)], alpha)[0]
    facts["trivial"] = float(trivial.mean())
    facts |= _compute_deterioration(error[both], ideal[both], trivial[both], counts[:, both], alpha)
    return facts | {"replicates": int(both.sum()), "failures": int((~np.isfinite(error)).sum())}


def _compute_mean_interval(values: FloatArray, alpha: float) -> tuple[float, float]:
    """Compute the mean and the half-width of its t interval."""
    from scipy.stats import t

    n = len(values)
    if n == 0:
        return np.nan, np.nan
    half = float(t.ppf(1 - alpha / 2, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return float(values.mean()), half


def _compute_deterioration(
    error: FloatArray, ideal: FloatArray, trivial: FloatArray, counts: FloatArray, alpha: float
) -> dict[str, float]:
    """Compute pD from mean error rates, with a bootstrap interval.

    The confidence limits are NaN if pD is undefined in too many resamples.
    """
    none = {"pd": np.nan, "pd_low": np.nan, "pd_high": np.nan}
    if len(error) == 0:
        return none
    weights = counts[counts.sum(axis=1) > 0]
    weights = weights / weights.sum(axis=1, keepdims=True)
    point = _compute_pd(error.mean(), ideal.mean(), trivial.mean())
    redrawn = _compute_pd(weights @ error, weights @ ideal, weights @ trivial)
    if np.isnan(point) or len(error) < 2 or np.isnan(redrawn).mean() > alpha / 2:
        return none | {"pd": float(point)}
    low, high = np.nanquantile(redrawn, [alpha / 2, 1 - alpha / 2])
    return {"pd": float(point), "pd_low": float(low), "pd_high": float(high)}


def _compute_pd(error: Any, ideal: Any, trivial: Any) -> Any:
    """Compute pD without warnings. A single warning is issued later for the whole matrix."""
    from fairtrial.measures import performance_deterioration

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return performance_deterioration(error, ideal, trivial)


def _warn_undefined(cells: pd.DataFrame) -> None:
    bad = cells[cells["pd"].isna() & (cells["replicates"] > 0)]
    if len(bad):
        first = bad.iloc[0]
        example = f"{first['learner']} tested on {first['tested_on']}"
        why = "the learner trained on that environment is not better than the trivial classifier"
        cells_text = format_count(len(bad), "cell")
        warnings.warn(f"pD is undefined in {cells_text} ({example}): {why}", UndefinedMeasureWarning, stacklevel=4)


def _format_two_digits(value: float) -> str:
    return "-" if np.isnan(value) else f"{round(value, 2) + 0.0:.2f}"


def _format_percent(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"


_SEED_SPAN = 2**32


@dataclass(frozen=True, eq=False)
class _EnvironmentRows:
    """The training set and the test set of one replicate in one environment.

    `trivial` is the error rate of the trivial classifier on the test set.
    """

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
    """Train learners in each environment, and test them in all environments.

    The returned matrix contains error rates and performance deterioration (pD).

    Each replicate draws new rows from each environment, and all learners get the same rows. The trivial classifier predicts
    the most frequent class in the training set of the test environment. Random numbers depend only on `seed`, the names and the
    replicate. Adding a learner or an environment therefore does not change other error rates. If a learner's `random_state` is
    None, it is set to a seed. Errors that learners raise are recorded as failures.

    Parameters
    ----------
    learners : mapping of str to estimator
        Learners, keyed by name.
    environments : mapping of str to Environment
        Environments from which rows are drawn, keyed by name.
    n_train, n_test : int
        Numbers of training and test rows in each replicate.
    replicates : int, default 30
        Number of replicates.
    seed : int, default 0
        Seed of all random numbers.
    alpha : float, default 0.05
        One minus the confidence level.
    train_on, test_on : list of str, optional
        Environments for training and for testing. Default: all. Learners are always trained in the test environments as well.
    progress : bool, optional
        Show a progress bar. Default: only in a terminal.

    Returns
    -------
    EnvironmentMatrix

    Examples
    --------
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
        check_whole_number(name, value, 1)
    check_whole_number("seed", seed, 0)
    check_between("alpha", alpha, 0, 1)
    cells = _list_cells(list(environments), train_on, test_on)
    errors = {(learner, *cell): np.full(replicates, np.nan) for learner in learners for cell in cells}
    trivial = {name: np.full(replicates, np.nan) for name in environments}
    failures: list[EnvironmentFailure] = []
    with _show_progress(progress, replicates * len(learners)) as advance:
        for replicate in range(replicates):
            rows = {name: _draw_rows(environments[name], name, replicate, n_train, n_test, seed) for name in _list_used(cells)}
            for name, drawn in rows.items():
                trivial[name][replicate] = drawn.trivial
            for learner, estimator in learners.items():
                failures += _replicate(learner, estimator, cells, rows, replicate, seed, errors)
                advance()
    plan = {"n_train": n_train, "n_test": n_test, "replicates": replicates, "seed": seed, "alpha": alpha}
    return EnvironmentMatrix.from_errors(list(learners), _list_used(cells), errors, trivial, failures, plan)


def _list_cells(names: list[str], train_on: Sequence[str] | None, test_on: Sequence[str] | None) -> list[tuple[str, str]]:
    """List the pairs (training environment, test environment) in the order of `names`."""
    chosen = {}
    for argument, selection in (("train_on", train_on), ("test_on", test_on)):
        selected = names if selection is None else [selection] if isinstance(selection, str) else list(selection)
        for name in selected:
            if name not in names:
                raise InputError(f"{argument} must name environments, got {name!r}: {suggest_name(name, names)}")
        if not selected:
            raise InputError(f"{argument} must name at least 1 environment, got 0")
        chosen[argument] = set(selected)
    return [
        (train, test)
        for train in names
        for test in names
        if test in chosen["test_on"] and (train in chosen["train_on"] or train == test)
    ]


def _list_used(cells: list[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys([train for train, _ in cells]))


def _draw_rows(environment: Environment, name: str, replicate: int, n_train: int, n_test: int, seed: int) -> _EnvironmentRows:
    X_train, y_train = _sample(environment, name, n_train, derive_generator(seed, "environment", name, "train", replicate))
    X_test, y_test = _sample(environment, name, n_test, derive_generator(seed, "environment", name, "test", replicate))
    for part, y, n in (("training", y_train, n_train), ("testing", y_test, n_test)):
        if len(y) != n:
            raise InputError(f"environment {name!r} must return the {n} rows requested for {part}, got {len(y)}")
    y_true = np.asarray(y_test)
    classes, counts = np.unique(np.asarray(y_train), return_counts=True)
    return _EnvironmentRows(X_train, y_train, X_test, y_true, float((y_true != classes[counts.argmax()]).mean()))


def _sample(environment: Environment, name: str, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    try:
        X, y = environment.sample(n, rng)
    except FairtrialError:
        raise
    except Exception as error:
        raise InputError(
            f"environment {name!r} must return X and y from sample(n, rng), got {type(error).__name__}: {error}"
        ) from error
    return X, y


def _replicate(
    learner: str,
    estimator: Any,
    cells: list[tuple[str, str]],
    rows: Mapping[str, _EnvironmentRows],
    replicate: int,
    seed: int,
    errors: dict[tuple[str, str, str], FloatArray],
) -> Iterator[EnvironmentFailure]:
    """Compute the error rates of one learner in one replicate, and yield its failures."""
    for source in rows:
        targets = [test for train, test in cells if train == source]
        try:
            seeded = _clone_seeded(estimator, derive_seed(seed, "learner", learner, source, replicate))
            # A learner may modify the rows that it receives, so it gets copies.
            with raise_on_interrupt():
                fitted = seeded.fit(deepcopy(rows[source].X_train), deepcopy(rows[source].y_train))
        except Exception as error:
            yield EnvironmentFailure(learner, source, "", replicate, type(error).__name__, str(error))
            continue
        for target in targets:
            try:
                errors[learner, source, target][replicate] = _compute_error(fitted, rows[target])
            except Exception as error:
                yield EnvironmentFailure(learner, source, target, replicate, type(error).__name__, str(error))


def _clone_seeded(estimator: Any, seed: int) -> Any:
    """Clone an estimator, and set a seed for each `random_state` that is None."""
    from sklearn.base import clone

    fresh = clone(estimator, safe=False)
    if hasattr(fresh, "get_params"):
        unset = [name for name, value in fresh.get_params().items() if name.split("__")[-1] == "random_state" and value is None]
        if unset:
            fresh.set_params(**dict.fromkeys(unset, seed % _SEED_SPAN))
    return fresh


def _compute_error(fitted: Any, rows: _EnvironmentRows) -> float:
    predicted = np.asarray(fitted.predict(deepcopy(rows.X_test))).reshape(-1)
    if len(predicted) != len(rows.y_test):
        raise InputError(f"predict must return a class for each of the {len(rows.y_test)} rows, got {len(predicted)}")
    return float(np.mean(predicted != rows.y_test))


def _check_names(learners: Any, environments: Any) -> None:
    for argument, mapping in (("learners", learners), ("environments", environments)):
        if not isinstance(mapping, Mapping) or not mapping or not all(isinstance(name, str) for name in mapping):
            raise InputError(f"{argument} must map names to {argument}, got {type(mapping).__name__}: pass {{'name': ...}}")
    for name, item in environments.items():
        if not isinstance(item, Environment):
            raise InputError(f"environment {name!r} must have a method sample(n, rng), got {type(item).__name__}")
    for name, item in learners.items():
        if not (hasattr(item, "fit") and hasattr(item, "predict")) or isinstance(item, type):
            kind = "a class" if isinstance(item, type) else type(item).__name__
            raise InputError(f"learner {name!r} must have fit and predict, got {kind}: pass an estimator such as C45()")


@contextmanager
def _show_progress(progress: bool | None, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar, and yield the function that advances it."""
    if not (sys.stderr.isatty() if progress is None else progress):
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("learners x replicates", total=total)
        yield lambda: bar.advance(task)
