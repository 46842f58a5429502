"""The simulation: samples of every problem and size, every learner, in several processes; what is there is not run again."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fairtrial.reproduce.estimates.batched import SHRINKAGE
from fairtrial.reproduce.estimates.estimating import LEVEL, METHODS
from fairtrial.reproduce.estimates.problems import LEARNERS, Plan, drawn
from fairtrial.reproduce.estimates.progress import counted
from fairtrial.reproduce.writing import file_name

if TYPE_CHECKING:
    import pandas as pd

_WORK = {"C4.5": 100, "nearest neighbour": 3, "linear discriminant": 2, "naive Bayes": 1}
_VERSION = 2  # of what is simulated: files of another one are not read


class Cell(NamedTuple):
    """A problem, a number of rows and a learner."""

    problem: str
    n: int
    learner: str


def run_cells(plan: Plan, seed: int, jobs: int, folder: Path, *, progress: bool | None = False) -> pd.DataFrame:
    """A line for each cell, replicate and method: estimate, interval, and the true error of what the sample taught."""
    import pandas as pd
    from sklearn.utils.parallel import Parallel, delayed

    cells = [Cell(problem, n, learner) for problem in plan.problems for n in plan.sizes for learner in LEARNERS]
    longest_first = sorted(cells, key=lambda cell: -cell.n * _WORK[cell.learner])
    kept = folder / "draws"
    kept.mkdir(exist_ok=True)
    found = Parallel(n_jobs=jobs, return_as="generator")(delayed(_kept)(cell, plan, seed, kept) for cell in longest_first)
    by_cell = dict(zip(longest_first, counted(found, "cell", len(cells), progress), strict=True))
    frames: list[pd.DataFrame] = [by_cell[cell] for cell in cells]
    return pd.concat(frames, ignore_index=True)


def _kept(cell: Cell, plan: Plan, seed: int, folder: Path) -> pd.DataFrame:
    """The cell's draws from its file; simulated, and the file written, where it is not there."""
    import pandas as pd

    path = folder / f"{file_name(' '.join(map(str, cell)))}-{_told(cell, plan, seed)}.parquet"
    if path.is_file():
        stored: pd.DataFrame = pd.read_parquet(path)
        return stored
    found = simulate(cell, plan, seed)
    partial = path.with_suffix(".partial")
    found.to_parquet(partial)
    partial.replace(path)
    return found


def _told(cell: Cell, plan: Plan, seed: int) -> str:
    """Letters that change with all that the cell's draws depend on: files of other settings are not read."""
    own = (plan.replicates_of(cell.learner), plan.bootstrap_samples, plan.subsamples, plan.test_rows, seed)
    settings = (tuple(cell), own, METHODS, LEVEL, SHRINKAGE, _VERSION)
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:12]


def simulate(cell: Cell, plan: Plan, seed: int) -> pd.DataFrame:
    """All draws of a cell. Every learner sees the same samples, the same splits and the same new rows."""
    import pandas as pd
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    from fairtrial.reproduce.estimates.estimating import estimates
    from fairtrial.reproduce.estimates.predicting import error_on
    from fairtrial.study.randomness import derive_generator

    lines = []
    with threadpool_limits(1):
        for replicate in range(plan.replicates_of(cell.learner)):
            place = (seed, cell.problem, cell.n, replicate)
            X, y, k = drawn(cell.problem, cell.n, derive_generator(*place, "sample"))
            truth = error_on(cell.learner, X, y, k, *drawn(cell.problem, plan.test_rows, derive_generator(*place, "new"))[:2])
            found = estimates(cell.learner, X, y, k, plan, derive_generator(*place, "splits"))
            lines += [(*cell, replicate, method, *each, truth) for method, each in found.items()]
    columns = ["problem", "n", "learner", "replicate", "method", "estimate", "low", "high", "truth"]
    return pd.DataFrame(lines, columns=columns)
