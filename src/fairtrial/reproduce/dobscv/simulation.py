"""Bias and error of SCV and DOB-SCV on simulated problems with known performance.

Each estimate is compared with two quantities: the mean performance of the five fold models, and the performance of the model
trained on all rows. The rows are independent within each class and are not scaled by statistics of the whole sample. Therefore
SCV is an unbiased estimate of the performance of its fold models, regardless of the learner.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.claim import IntervalEstimate, estimate_mean
from fairtrial.reproduce.dobscv.studies import LITERAL, NEGATIVE, POSITIVE, SCV, SHUFFLED
from fairtrial.reproduce.experiment import Request, ResultTable, read_study_file
from fairtrial.reproduce.page import format_file_name

if TYPE_CHECKING:
    import pandas as pd

SPLITTERS = (SCV, LITERAL, SHUFFLED)
FOLD_MODELS, FULL_MODEL = "fold models", "model trained on all rows"
ESTIMANDS = {FOLD_MODELS: "fold_true_value", FULL_MODEL: "true_value"}
"""Columns with the quantities to be estimated, which are balanced accuracies on new rows."""

FACTORS = {"structure": "structure", "n_rows": "rows", "proportion": "positive rows", "learner": "learner"}
COLUMNS = ["structure", "n_rows", "proportion", "replicate", "learner", "scheme", "estimate", "fold_true_value", "true_value"]
SIZES = (100, 200, 400)
PROPORTIONS = (0.5, 0.2, 0.1)
NO_DIFFERENCE = "no significant difference"
_NOISE = 0.2  # proportion of rows of each class that have the other class's label
_N_NEW = 500  # new rows of each class, used to measure the true performance
_LIMIT = 4.0  # columns are scaled from this range to 0..1, the same for all samples
_CHUNK = 5  # replicates per file
_VERSION = 3  # version of the files; increase it if problems, learners, settings or seeds of a replicate change
_CELL = ["structure", "n_rows", "proportion"]
_MAP_NOTE = (
    "The table shows the bias and root mean squared error (RMSE) of the estimated balanced accuracy, with standard errors in "
    "parentheses. Each line averages over all problems and learners at one level of one factor. `closer` compares DOB-SCV "
    "shuffled with SCV on the same samples. It names the scheme with the smaller mean squared error if the difference is "
    "significant at the 5 % level after a Bonferroni correction for all lines of an estimand."
)
_CELLS_NOTE = (
    "The table has a line per problem, estimand and scheme, averaged over learners. `excess` is the mean squared error minus "
    "that of SCV on the same samples, with a 95 % confidence interval."
)


@cache
def build_structures() -> dict[str, dict[str, Any]]:
    """Build the distributions of both classes for each problem structure.

    In "four clusters", the positive class consists of four small clusters around the negative class. With noise, one row in
    five of each class is drawn from the distribution of the other class.

    >>> list(build_structures())[:2]
    ['one cluster', 'four clusters']
    """
    from fairtrial.data.simulate import GaussianMixture

    centre, one = ([[0.0, 0.0]], [1.0]), ([[1.5, 1.0]], [1.0])
    four = ([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]], [0.15] * 4)
    ten = ([[0.0] * 10], [1.0]), ([[0.7] * 10], [1.0])
    shapes = {
        "one cluster": (centre, one, 0.0),
        "four clusters": (centre, four, 0.0),
        "one cluster, noise": (centre, one, _NOISE),
        "four clusters, noise": (centre, four, _NOISE),
        "ten attributes": (*ten, 0.0),
    }
    structures = {}
    for name, (negative, positive, noise) in shapes.items():
        structures[name] = {
            label: GaussianMixture(
                [*means, *other_means],
                covariances=[*variances, *other_variances],
                priors=[(1 - noise) / len(means)] * len(means) + [noise / len(other_means)] * len(other_means),
                component_classes=[label] * (len(means) + len(other_means)),
            )
            if noise
            else GaussianMixture(means, covariances=variances, component_classes=[label] * len(means))
            for label, (means, variances), (other_means, other_variances) in (
                (NEGATIVE, negative, positive),
                (POSITIVE, positive, negative),
            )
        }
    return structures


@cache
def _resolve_learners() -> dict[str, Any]:
    from fairtrial import Study

    study = Study(data=["iris"], learners=read_study_file("dobscv")["learners"], resampling={"folds": 5})
    return {learner.name: learner.estimator for learner in study.resolve().learners}


def make_splitter(scheme: str, seed: int) -> Any:
    """Create the splitter of a scheme with five folds.

    >>> make_splitter("DOB-SCV literal", 3)
    DOBSCV(assign='literal', random_state=3)
    """
    from fairtrial import resampling

    if scheme == SCV:
        return resampling.StratifiedKFold(5, random_state=seed)
    return resampling.DOBSCV(5, assign="literal" if scheme == LITERAL else "shuffled", random_state=seed)


@dataclass(frozen=True, eq=False)
class Simulation:
    """Estimates and true performance, with a row per problem, replicate, learner and scheme."""

    rows: pd.DataFrame

    @classmethod
    def run(cls, request: Request, structures: Iterable[str], sizes: Iterable[int], n_replicates: int) -> Simulation:
        """Simulate `n_replicates` samples of each problem.

        Finished chunks are kept as files, so an interrupted run can be resumed.
        """
        import pandas as pd

        folder = request.out / "simulation"
        folder.mkdir(exist_ok=True)
        sizes, tasks = list(sizes), []
        for first in range(0, n_replicates, _CHUNK):
            last = min(first + _CHUNK, n_replicates)
            for structure in structures:
                for n_rows in sizes:
                    name = f"{format_file_name(structure)}-{n_rows}-rows-{first}-{last}-seed-{request.seed}-version-{_VERSION}"
                    tasks.append((folder / f"{name}.csv", structure, n_rows, range(first, last), request.seed))
        missing = [task for task in tasks if not task[0].exists()]
        if request.jobs > 1 and len(missing) > 1:
            from multiprocessing import get_context

            n_workers = min(request.jobs, len(missing))
            with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"), initializer=use_one_thread) as pool:
                list(pool.map(_write_chunk, missing))
        else:
            for task in missing:
                _write_chunk(task)
        return cls(pd.concat([pd.read_csv(path) for path, *_ in tasks], ignore_index=True))

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The bias and error of each scheme for each problem and estimand, averaged over learners."""
        import pandas as pd

        parts = []
        for key, rows in self._errors.groupby(_CELL, sort=False):
            names: Any = dict(zip(_CELL, key, strict=True))
            parts.append(self._summarize(rows).assign(**names))
        frame = pd.concat(parts, ignore_index=True)
        return frame[[*_CELL, *(column for column in frame if column not in _CELL)]]

    @cached_property
    def levels(self) -> pd.DataFrame:
        """The bias and error of each scheme for each factor level and estimand.

        The first factor, "all", covers all problems.
        """
        import pandas as pd

        parts = [self._summarize(self._errors).assign(factor="all", level="all problems")]
        for column, factor in FACTORS.items():
            for level, rows in self._errors.groupby(column, sort=False):
                parts.append(self._summarize(rows).assign(factor=factor, level=format_level(column, level)))
        frame = pd.concat(parts, ignore_index=True)
        return frame[["factor", "level", *(column for column in frame if column not in ("factor", "level"))]]

    def estimate(self, name: str, scheme: str, estimand: str) -> IntervalEstimate:
        """Return the mean `bias` or `excess` over problems and learners."""
        frame = self.levels
        row: Any = frame[(frame["factor"] == "all") & (frame["scheme"] == scheme) & (frame["estimand"] == estimand)].iloc[0]
        return IntervalEstimate(row[name], row[f"{name}_low"], row[f"{name}_high"], int(row["replicates"]) - 1)

    @cached_property
    def _errors(self) -> pd.DataFrame:
        """Errors of all estimates for both estimands.

        The column `excess` is the squared error minus that of SCV on the same sample.
        """
        import pandas as pd

        keys = [*_CELL, "replicate", "learner"]
        parts = []
        for estimand, column in ESTIMANDS.items():
            error = self.rows["estimate"] - self.rows[column]
            rows = self.rows[[*keys, "scheme"]].assign(estimand=estimand, error=error, square=error**2)
            scv_square = rows[rows["scheme"] == SCV].set_index(keys)["square"].rename("scv_square")
            rows = rows.join(scv_square, on=keys)
            parts.append(rows.assign(excess=rows["square"] - rows["scv_square"]))
        return pd.concat(parts, ignore_index=True)

    @staticmethod
    def _summarize(errors: pd.DataFrame) -> pd.DataFrame:
        """Summarize errors by estimand and scheme.

        The results of learners on one sample are not independent, and the problems are fixed. Therefore the errors on the
        k-th samples of all problems are first averaged over problems and learners. Each average is one observation.
        """
        import pandas as pd

        lines = []
        for (estimand, scheme), rows in errors.groupby(["estimand", "scheme"], sort=False):
            units = rows.groupby("replicate")[["error", "square", "excess"]].mean()
            bias, square, excess = (estimate_mean(units[name]) for name in units)
            n_units = len(units)
            bias_error, square_error = (units[name].std(ddof=1) / np.sqrt(n_units) for name in ("error", "square"))
            rmse = float(np.sqrt(square.value))
            limits = (bias.value, bias_error, bias.low, bias.high, rmse, square_error / (2 * rmse) if rmse else 0.0)
            lines.append((estimand, scheme, n_units, *limits, excess.value, excess.low, excess.high))
        columns = ["estimand", "scheme", "replicates", "bias", "bias_se", "bias_low", "bias_high", "rmse", "rmse_se"]
        return pd.DataFrame(lines, columns=[*columns, "excess", "excess_low", "excess_high"])

    def build_tables(self) -> list[ResultTable]:
        """Build the table by factor level and the table by problem."""
        return [
            ResultTable("known-truth", "Which estimate is closer to the true performance?", self.build_map(), _MAP_NOTE),
            ResultTable("known-truth-cells", "Simulated problems: all cells", self.cells, _CELLS_NOTE, digits=4, on_page=False),
        ]

    def build_map(self) -> pd.DataFrame:
        """Tabulate the bias and RMSE of all schemes for each estimand and factor level."""
        import pandas as pd

        lines = []
        n_levels = len(self.levels.drop_duplicates(["factor", "level"]))
        by_estimand = {estimand: self.levels[self.levels["estimand"] == estimand] for estimand in ESTIMANDS}
        groups = (
            (name, key, rows)
            for name, part in by_estimand.items()
            for key, rows in part.groupby(["factor", "level"], sort=False)
        )
        for estimand, (factor, level), rows in groups:
            by_scheme: Any = rows.set_index("scheme")
            biases = [f"{by_scheme.loc[scheme, 'bias']:+.4f} ({by_scheme.loc[scheme, 'bias_se']:.4f})" for scheme in SPLITTERS]
            errors = [f"{by_scheme.loc[scheme, 'rmse']:.4f} ({by_scheme.loc[scheme, 'rmse_se']:.4f})" for scheme in SPLITTERS]
            lines.append((estimand, factor, level, *biases, *errors, name_closer(by_scheme.loc[SHUFFLED], n_levels)))
        columns = [f"{quantity}, {scheme}" for quantity in ("bias", "RMSE") for scheme in SPLITTERS]
        return pd.DataFrame(lines, columns=["estimand", "factor", "level", *columns, "closer"])


def format_level(column: str, level: Any) -> str:
    """Format the level of a factor.

    >>> format_level("proportion", 0.1), format_level("n_rows", 200), format_level("learner", "SMO")
    ('10 %', '200', 'SMO')
    """
    return f"{100 * level:.0f} %" if column == "proportion" else str(level)


def name_closer(row: Mapping[Any, Any], n_comparisons: int = 1) -> str:
    """Name the scheme whose mean squared error is significantly smaller, if there is one.

    The test is adjusted for the number of comparisons (Bonferroni).

    >>> row = {"excess": -0.002, "excess_low": -0.0035, "excess_high": -0.0005, "replicates": 30}
    >>> name_closer(row), name_closer(row, 20)
    ('DOB-SCV', 'no significant difference')
    """
    excess = IntervalEstimate(row["excess"], row["excess_low"], row["excess_high"], int(row["replicates"]) - 1)
    return {-1: "DOB-SCV", 0: NO_DIFFERENCE, 1: SCV}[excess.widen(n_comparisons).sign]


def use_one_thread() -> None:
    """Limit a worker process to one thread, because several processes share the cores."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    os.environ["FAIRTRIAL_THREADS"] = "1"
    threadpool_limits(1)


def _write_chunk(task: tuple[Path, str, int, range, int]) -> None:
    """Simulate replicates and write them to a file atomically."""
    import pandas as pd

    path, structure, n_rows, replicates, seed = task
    rows = [
        row
        for replicate in replicates
        for proportion in PROPORTIONS
        for row in simulate_replicate(structure, n_rows, proportion, replicate, seed)
    ]
    partial = path.with_suffix(".part")
    pd.DataFrame(rows, columns=COLUMNS).to_csv(partial, index=False)
    partial.rename(path)


def simulate_replicate(structure: str, n_rows: int, proportion: float, replicate: int, seed: int) -> Iterator[tuple[Any, ...]]:
    """Estimate the performance of all learners from one sample, and measure it on new rows.

    Yield one row with the values of `COLUMNS` for each learner and scheme.
    """
    entropy = [seed, replicate, n_rows, round(1000 * proportion), *structure.encode()]
    sample_seed, new_seed, split_seed, learner_seed = (
        int(value) for value in np.random.SeedSequence(entropy).generate_state(4)
    )
    n_positive = round(n_rows * proportion)
    X, y = draw_rows(structure, n_rows - n_positive, n_positive, sample_seed)
    X_new, y_new = draw_rows(structure, _N_NEW, _N_NEW, new_seed)
    X, X_new = (np.clip((rows + _LIMIT) / (2 * _LIMIT), 0, 1) for rows in (X, X_new))  # UnitChi requires values in 0..1
    splits = {scheme: list(make_splitter(scheme, split_seed).split(X, y)) for scheme in SPLITTERS}
    for learner, estimator in _resolve_learners().items():
        true_value = measure_auc(fit_learner(estimator, X, y, learner_seed), X_new, y_new)
        for scheme, folds in splits.items():
            models = [fit_learner(estimator, X[train], y[train], learner_seed) for train, _ in folds]
            estimate = np.mean([measure_auc(model, X[test], y[test]) for model, (_, test) in zip(models, folds, strict=True)])
            fold_true_value = np.mean([measure_auc(model, X_new, y_new) for model in models])
            yield structure, n_rows, proportion, replicate, learner, scheme, estimate, fold_true_value, true_value


def draw_rows(structure: str, n_negative: int, n_positive: int, seed: int) -> tuple[Any, Any]:
    """Draw rows of both classes in random order."""
    rng = np.random.default_rng(seed)
    classes = build_structures()[structure]
    counts = {NEGATIVE: n_negative, POSITIVE: n_positive}
    X = np.vstack([classes[label].sample(count, rng)[0].to_numpy() for label, count in counts.items() if count])
    order = rng.permutation(len(X))
    return X[order], np.repeat(list(counts), list(counts.values()))[order]


def fit_learner(estimator: Any, X: Any, y: Any, seed: int) -> Any:
    """Fit a copy of a learner, with its unset random states set to the seed."""
    from sklearn.base import clone

    model = clone(estimator)
    unset = {name: seed for name, value in model.get_params().items() if name.endswith("random_state") and value is None}
    return model.set_params(**unset).fit(X, y)


def measure_auc(model: Any, X: Any, y: Any) -> float:
    """Return the balanced accuracy, which is the paper's AUC: (1 + TPR - FPR) / 2."""
    is_correct = model.predict(X) == y
    return float(np.mean([is_correct[y == label].mean() for label in (NEGATIVE, POSITIVE)]))
