"""The gap between training and test performance, and projections of partitions."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.simulation import SPLITTERS, fit_learner, make_splitter, measure_auc, use_one_thread
from fairtrial.reproduce.dobscv.studies import LITERAL, POSITIVE, SCV, ImbalancedData
from fairtrial.reproduce.experiment import Request, read_study_file
from fairtrial.reproduce.page import format_file_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

GAP_LEARNERS = ("C4.5", "Chi")
GAP_COLUMNS = ["dataset", "run", "learner", "scheme", "train_auc", "test_auc"]
PROJECTED = "Ecoli4"  # the data set of Figures 3 and 4
_PARTITIONS = (5, 1)  # the partitions of Figures 3 and 4


def measure_gaps(request: Request, data: ImbalancedData, n_runs: int) -> pd.DataFrame:
    """Measure the AUC on the training and test sets of our own folds.

    The results of finished data sets are kept as files. Synthetic cases of SMOTE are used for training, but the training AUC is
    computed from the original rows.
    """
    import pandas as pd

    folder = request.out / "gaps"
    folder.mkdir(exist_ok=True)
    tasks = [
        (folder / f"{format_file_name(name)}-{n_runs}-runs-seed-{request.seed}.csv", name, dataset, n_runs, request.seed)
        for name, dataset in data.datasets.items()
    ]
    missing = [task for task in tasks if not task[0].exists()]
    if request.jobs > 1 and len(missing) > 1:
        from multiprocessing import get_context

        n_workers = min(request.jobs, len(missing))
        with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"), initializer=use_one_thread) as pool:
            list(pool.map(_write_gaps, missing))
    else:
        for task in missing:
            _write_gaps(task)
    return pd.concat([pd.read_csv(path) for path, *_ in tasks], ignore_index=True)


def _write_gaps(task: tuple[Path, str, Dataset, int, int]) -> None:
    import pandas as pd

    path, name, dataset, n_runs, seed = task
    rows = [row for run in range(n_runs) for row in measure_dataset_gaps(name, dataset, run, seed)]
    partial = path.with_suffix(".part")
    pd.DataFrame(rows, columns=GAP_COLUMNS).to_csv(partial, index=False)
    partial.rename(path)


def measure_dataset_gaps(name: str, dataset: Dataset, run: int, seed: int) -> list[tuple[Any, ...]]:
    """Measure the mean training and test AUC on one data set, for each scheme and learner."""
    split_seed, learner_seed = (int(value) for value in np.random.SeedSequence([seed, run, *name.encode()]).generate_state(2))
    X, y = dataset.X, dataset.y
    labels = y.to_numpy()
    rows: list[tuple[Any, ...]] = []
    for scheme in SPLITTERS:
        folds = list(make_splitter(scheme, split_seed).split(X, y))
        for learner, estimator in _resolve_learners().items():
            models = [fit_learner(estimator, X.iloc[train], y.iloc[train], learner_seed) for train, _ in folds]
            train_auc, test_auc = (
                np.mean(
                    [
                        measure_auc(model, X.iloc[fold[side]], labels[fold[side]])
                        for model, fold in zip(models, folds, strict=True)
                    ]
                )
                for side in (0, 1)
            )
            rows.append((name, run, learner, scheme, train_auc, test_auc))
    return rows


@cache
def _resolve_learners() -> dict[str, Any]:
    from fairtrial import Study

    learners = {name: read_study_file("dobscv")["learners"][name] for name in GAP_LEARNERS}
    study = Study(data=["iris"], learners=learners, resampling={"folds": 5})
    return {learner.name: learner.estimator for learner in study.resolve().learners}


def project_partitions(data: ImbalancedData, seed: int) -> pd.DataFrame:
    """Project two partitions of SCV and two of DOB-SCV, as in Figures 3 and 4.

    The first axis is the linear discriminant, which separates the classes best. The second axis has the largest variance among
    the directions orthogonal to the first. KEEL's folds are used for SCV if they are available.
    """
    import pandas as pd

    name = PROJECTED if PROJECTED in data.datasets else next(iter(data.datasets))
    dataset = data.datasets[name]
    X, y = dataset.X.select_dtypes("number").to_numpy(dtype=float), dataset.y.to_numpy()
    points = project_rows(X, y == POSITIVE)
    stratified = data.folds[name] if name in data.folds else make_splitter(SCV, seed).split(dataset.X, dataset.y)
    splits = {SCV: list(stratified), LITERAL: list(make_splitter(LITERAL, seed).split(dataset.X, dataset.y))}
    parts = []
    for scheme, folds in splits.items():
        for partition in _PARTITIONS:
            train, test = folds[partition - 1]
            role = np.array([""] * len(y), dtype=object)
            role[train], role[test] = "training", "test"
            frame = pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "class": y, "role": role})
            parts.append(frame[frame["role"] != ""].assign(panel=f"{scheme}, partition {partition}", dataset=name))
    return pd.concat(parts, ignore_index=True)


def project_rows(X: Any, is_positive: Any) -> Any:
    """Project rows onto the linear discriminant and an orthogonal principal component.

    >>> X = np.array([[0.0, 0.0], [0.0, 4.0], [1.0, 0.0], [1.0, 4.0]])
    >>> np.abs(project_rows(X, np.array([False, False, True, True]))).round(3).tolist()
    [[0.5, 2.0], [0.5, 2.0], [0.5, 2.0], [0.5, 2.0]]
    """
    centred = X - X.mean(axis=0)
    groups = [centred[is_positive], centred[~is_positive]]
    within = sum((group - group.mean(axis=0)).T @ (group - group.mean(axis=0)) for group in groups)
    first = np.linalg.pinv(within) @ (groups[0].mean(axis=0) - groups[1].mean(axis=0))
    length = float(np.linalg.norm(first))
    if not length:
        first, length = np.eye(X.shape[1])[0], 1.0
    first = first / length
    rest = centred - np.outer(centred @ first, first)
    second = np.linalg.svd(rest, full_matrices=False)[2][0]
    return np.column_stack([centred @ first, centred @ second])


def measure_nearest(points: pd.DataFrame) -> dict[str, float]:
    """Measure how far positive test rows are from the nearest positive training row.

    The result is the mean distance for each projected partition.
    """
    distances = {}
    for panel, rows in points[points["class"] == POSITIVE].groupby("panel", sort=False):
        train, test = (rows.loc[rows["role"] == role, ["x", "y"]].to_numpy() for role in ("training", "test"))
        if len(train) and len(test):
            distances[str(panel)] = float(np.linalg.norm(test[:, None] - train[None], axis=2).min(axis=1).mean())
    return distances
