"""Simulate samples, estimate the error by all methods, and measure the true error."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from fairtrial._check import FloatArray, IntArray
from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.estimates import learners
from fairtrial.reproduce.estimates.learners import SHRINKAGE, Mask
from fairtrial.reproduce.experiment import read_study_file
from fairtrial.reproduce.page import format_file_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data.simulate import Population

LEARNERS = ("nearest neighbour", "naive Bayes", "linear discriminant", "C4.5")
NO_SIGNAL = "no signal"
LEVEL = 0.95
N_REPEATS = 5
METHODS = (
    "resubstitution",
    "hold-out 2/3",
    "hold-out 9/10",
    "subsampling",
    "subsampling, not stratified",
    "5-fold",
    "10-fold",
    f"10-fold, {N_REPEATS} times",
    "leave-one-out",
    "bootstrap E0",
    ".632",
    ".632+",
)
N_CANDIDATES = 20  # models to select from
_SELECTION_ROWS = 50
_BOOTSTRAP_METHODS = {"e0": "bootstrap E0", "632-e0": ".632", "632+": ".632+"}
_COST = {"C4.5": 100, "nearest neighbour": 3, "linear discriminant": 2, "naive Bayes": 1}
_VERSION = 3  # version of the simulation; files of other versions are not read
T = TypeVar("T")


@dataclass(frozen=True)
class SimulationPlan:
    """Settings of the simulation at one scale."""

    sizes: tuple[int, ...]
    problems: tuple[str, ...]
    replicates: dict[str, int]
    bootstrap_samples: int
    subsamples: int
    test_rows: int
    ensembles: dict[str, Any]
    selections: int
    intervals: int
    complete: int
    outliers: int

    @classmethod
    def load(cls, scale: str) -> SimulationPlan:
        """Load the plan of a scale.

        >>> SimulationPlan.load("full").sizes
        (25, 50, 100, 200)
        """
        settings = read_study_file("estimates", "scales")["scales"][scale]
        return cls(**settings | {name: tuple(settings[name]) for name in ("sizes", "problems")})

    def count_replicates(self, learner: str) -> int:
        """Return the number of samples of each problem and size on which a learner is evaluated."""
        return self.replicates["c45" if learner == "C4.5" else "others"]


class SimulationCell(NamedTuple):
    """A combination of a problem, a number of rows and a learner."""

    problem: str
    n: int
    learner: str


@cache
def build_population(name: str) -> Population:
    """Build the population of a problem.

    >>> round(build_population("two Gaussians").bayes_error, 3), build_population("no signal").bayes_error
    (0.2, 0.5)
    """
    from fairtrial.data.simulate import GaussianMixture, Ringnorm, Twonorm, Waveform

    shift = 1.6832 / 5**0.5  # in each of five attributes, for a Bayes error of 20 %
    builders: dict[str, Any] = {
        NO_SIGNAL: lambda: GaussianMixture(means=[[0.0] * 5, [0.0] * 5]),
        "two Gaussians": lambda: GaussianMixture(means=[[0.0] * 5, [shift] * 5]),
        "rare class": lambda: GaussianMixture(means=[[0.0] * 5, [shift] * 5], priors=[0.8, 0.2]),
        "twonorm": Twonorm,
        "ringnorm": Ringnorm,
        "waveform": Waveform,
    }
    population: Population = builders[name]()
    return population


def draw_sample(name: str, n: int, rng: Any) -> tuple[Any, Any, int]:
    """Draw rows, and return attributes, class codes and the number of classes."""
    X, y = build_population(name).sample(n, rng)
    return X.to_numpy(), y.cat.codes.to_numpy().astype("int64"), len(y.cat.categories)


def simulate_cells(plan: SimulationPlan, seed: int, jobs: int, folder: Path, *, progress: bool | None = False) -> pd.DataFrame:
    """Simulate all cells, and return the estimates, their intervals and the true errors.

    Finished cells are stored in `folder` and reused.
    """
    import pandas as pd
    from sklearn.utils.parallel import Parallel, delayed

    cells = [SimulationCell(problem, n, learner) for problem in plan.problems for n in plan.sizes for learner in LEARNERS]
    longest_first = sorted(cells, key=lambda cell: -cell.n * _COST[cell.learner])
    draws = folder / "draws"
    draws.mkdir(exist_ok=True)
    results = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(_read_or_simulate)(cell, plan, seed, draws) for cell in longest_first
    )
    by_cell = dict(zip(longest_first, report_progress(results, "cell", len(cells), progress), strict=True))
    frames: list[pd.DataFrame] = [by_cell[cell] for cell in cells]
    return pd.concat(frames, ignore_index=True)


def _read_or_simulate(cell: SimulationCell, plan: SimulationPlan, seed: int, folder: Path) -> pd.DataFrame:
    """Read the cell's draws from its file, or simulate them and write the file."""
    import pandas as pd

    own_settings = (plan.count_replicates(cell.learner), plan.bootstrap_samples, plan.subsamples, plan.test_rows, seed)
    settings = (tuple(cell), own_settings, METHODS, LEVEL, SHRINKAGE, _VERSION)  # files with other settings are not read
    digest = hashlib.sha256(repr(settings).encode()).hexdigest()[:12]
    path = folder / f"{format_file_name(' '.join(map(str, cell)))}-{digest}.parquet"
    if path.is_file():
        stored: pd.DataFrame = pd.read_parquet(path)
        return stored
    draws = simulate_cell(cell, plan, seed)
    partial = path.with_suffix(".partial")
    draws.to_parquet(partial)
    partial.replace(path)
    return draws


def simulate_cell(cell: SimulationCell, plan: SimulationPlan, seed: int) -> pd.DataFrame:
    """Simulate all replicates of a cell.

    All learners see the same samples, splits and new rows.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.study.randomness import derive_generator

    rows = []
    with threadpool_limits(1):
        for replicate in range(plan.count_replicates(cell.learner)):
            names = (seed, cell.problem, cell.n, replicate)
            X, y, n_classes = draw_sample(cell.problem, cell.n, derive_generator(*names, "sample"))
            X_new, y_new, _ = draw_sample(cell.problem, plan.test_rows, derive_generator(*names, "new"))
            true_error = float((learners.predict_from_all(cell.learner, X, y, n_classes, X_new) != y_new).mean())
            estimates = estimate_errors(cell.learner, X, y, n_classes, plan, derive_generator(*names, "splits"))
            rows += [
                (*cell, replicate, method, estimate.value, estimate.low, estimate.high, true_error)
                for method, estimate in estimates.items()
            ]
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "true_error"]
    return pd.DataFrame(rows, columns=columns)


def report_progress(items: Iterable[T], name: str, total: int, progress: bool | None) -> Iterator[T]:
    """Yield the items, and print a line to stderr for each finished item.

    If `progress` is None, lines are printed only in a terminal. If it is False, nothing is printed.

    >>> list(report_progress(iter("ab"), "cell", 2, progress=False))
    ['a', 'b']
    """
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        if is_terminal if progress is None else progress:
            print(f"estimates: {name} {number} of {total}", file=sys.stderr, flush=True)
        yield item


@dataclass(frozen=True, eq=False)
class TrainingResamples:
    """Training and test sets of a resampling scheme.

    `weights` counts how often each training set contains each row. `is_tested` marks the test rows. Both arrays have one row
    per training set and one column per row of the sample.
    """

    weights: FloatArray
    is_tested: Mask

    @classmethod
    def from_splitter(cls, splitter: Any, X: FloatArray, y: IntArray) -> TrainingResamples:
        """Build the training and test sets of a splitter from `fairtrial.resampling`."""
        from fairtrial.errors import SuspectInputWarning

        with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):  # a small fold may lack a class
            splits = list(splitter.freeze(X, y))
        weights = np.array([np.bincount(split.train, minlength=len(y)) for split in splits], dtype=np.float64)
        is_tested = np.zeros(weights.shape, dtype=bool)
        for row, split in zip(is_tested, splits, strict=True):
            row[split.test] = True
        return cls(weights, is_tested)


def build_splitters(plan: SimulationPlan, y: IntArray, rng: np.random.Generator) -> dict[str, Any]:
    """Build the splitters, keyed by name.

    Ten-fold cross-validation is stratified unless every class has fewer than ten rows.
    """
    from fairtrial.resampling import Bootstrap, Holdout, KFold, LeaveOneOut, RandomSubsampling, Repeated, StratifiedKFold

    seeds = iter(rng.integers(2**31, size=7).tolist())
    ten = StratifiedKFold(10) if np.bincount(y).max() >= 10 else KFold(10)
    return {
        "hold-out 2/3": Holdout(1 / 3, random_state=next(seeds)),
        "hold-out 9/10": Holdout(0.1, random_state=next(seeds)),
        "subsampling": RandomSubsampling(plan.subsamples, test_size=1 / 3, random_state=next(seeds)),
        "subsampling, not stratified": RandomSubsampling(
            plan.subsamples, test_size=1 / 3, stratify=False, random_state=next(seeds)
        ),
        "5-fold": StratifiedKFold(5, random_state=next(seeds)),
        f"10-fold, {N_REPEATS} times": Repeated(ten, N_REPEATS, random_state=next(seeds)),
        "leave-one-out": LeaveOneOut(),
        "bootstrap": Bootstrap(plan.bootstrap_samples, random_state=next(seeds)),
    }


def estimate_errors(
    learner: str, X: FloatArray, y: IntArray, n_classes: int, plan: SimulationPlan, rng: np.random.Generator
) -> dict[str, IntervalEstimate]:
    """Estimate the error of a learner from one sample by every method."""
    from fairtrial.resampling.estimate import NoInformation

    predictions = learners.predict_from_all(learner, X, y, n_classes, X)
    apparent = (predictions != y).astype(np.float64)
    estimates = {"resubstitution": _estimate_binomial(float(apparent.mean()), len(y))}
    for name, splitter in build_splitters(plan, y, rng).items():
        resamples = TrainingResamples.from_splitter(splitter, X, y)
        losses = learners.compute_losses(learner, X, y, n_classes, resamples.weights, resamples.is_tested)
        if name == "bootstrap":
            estimates |= _estimate_by_bootstrap(losses, resamples, apparent, NoInformation.from_labels(y, predictions))
        elif name.startswith("subsampling"):
            estimates[name] = _estimate_by_subsampling(losses, resamples)
        else:
            n_tested = int(resamples.is_tested.sum())  # the interval counts each row once, even if it is tested several times
            estimates[name] = _estimate_binomial(float(losses.sum() / n_tested), min(n_tested, len(y)))
            if name.startswith("10-fold"):
                estimates["10-fold"] = _estimate_binomial(float(losses[:10].sum() / len(y)), len(y))
    return {name: estimates[name] for name in METHODS}


def _estimate_binomial(error: float, n_rows: int) -> IntervalEstimate:
    """Return the error with Wilson's interval for `n_rows` independent rows."""
    from fairtrial.measures.intervals import compute_wilson_limits

    return IntervalEstimate(error, *compute_wilson_limits(error * n_rows, n_rows, LEVEL))


def _estimate_by_subsampling(losses: FloatArray, resamples: TrainingResamples) -> IntervalEstimate:
    """Return the mean error with the corrected interval of Nadeau and Bengio (2003)."""
    from fairtrial.study.results.stacking import compute_half_width

    n_test, n_train = resamples.is_tested.sum(axis=1), resamples.weights.sum(axis=1)
    errors = losses.sum(axis=1) / n_test
    half = compute_half_width(errors, float((n_test / (n_test + n_train)).mean()), 1 - LEVEL)
    error = float(errors.mean())
    return IntervalEstimate(error, max(error - half, 0.0), min(error + half, 1.0))


def _estimate_by_bootstrap(
    losses: FloatArray, resamples: TrainingResamples, apparent: FloatArray, no_information: Any
) -> dict[str, IntervalEstimate]:
    """Return the estimates E0, .632 (based on E0) and .632+ with their intervals."""
    from fairtrial.errors import SuspectInputWarning
    from fairtrial.resampling import out_of_bag_estimates

    with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):  # a row may be in all samples
        estimates = out_of_bag_estimates(losses, resamples.weights, apparent, no_information, level=LEVEL)
    return {
        name: IntervalEstimate(estimates[key].value, estimates[key].low, estimates[key].high)
        for key, name in _BOOTSTRAP_METHODS.items()
    }


@dataclass(frozen=True)
class SelectedModelError:
    """Mean error of the selected model on the validation set used for selection and on new rows."""

    validation: IntervalEstimate
    test: IntervalEstimate
    true_error: float = 0.5

    @classmethod
    def simulate(cls, n_repeats: int, seed: int) -> SelectedModelError:
        """Repeatedly select the best of twenty models on a validation set.

        The class is random, so every true error is 0.5. Each model uses one attribute. The training, validation and test sets
        have fifty rows each.
        """
        from fairtrial.study.randomness import derive_generator

        errors = np.array([_select_model(derive_generator(seed, "selection", repeat)) for repeat in range(n_repeats)])
        return cls(estimate_mean(errors[:, 0]), estimate_mean(errors[:, 1]))


def _select_model(rng: np.random.Generator) -> tuple[float, float]:
    """Return the validation and test error of the model with the smallest validation error."""
    n = _SELECTION_ROWS
    X, y = rng.standard_normal((3 * n, N_CANDIDATES)), rng.integers(2, size=3 * n)
    columns = [X[:, [j]] for j in range(N_CANDIDATES)]
    predictions = [learners.predict_from_all("naive Bayes", column[:n], y[:n], 2, column[n:]) for column in columns]
    errors = np.array(predictions) != y[n:]
    validation, test = errors[:, :n].mean(axis=1), errors[:, n:].mean(axis=1)
    best = int(validation.argmin())
    return float(validation[best]), float(test[best])
