"""Published data files that are known to be corrupted, recognized by their content.

Two hashes identify each file. The fingerprint is a hash of the sorted rows, with all values in the same format. The fingerprint
also identifies copies that have another name, other attribute names, no header, or shuffled rows. The hash of the declared
ranges identifies parts of a file, such as KEEL folds, because each part repeats the header of the complete file.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtrial.data.dataset import Dataset
from fairtrial.errors import SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class KnownFault:
    """A published data file that is known to be corrupted.

    Attributes
    ----------
    name : str
        Name of the file in the KEEL collection.
    rows, attributes : int
        Size of the data set.
    fingerprint : str
        First 16 digits of the hash of the values.
    ranges : str
        First 16 digits of the hash of the declared ranges. Empty if the ranges do not identify the file.
    problem : str
        What is wrong with the values.
    remedy : str
        Where to find a correct copy.
    """

    name: str
    rows: int
    attributes: int
    fingerprint: str
    ranges: str
    problem: str
    remedy: str

    @property
    def facts(self) -> dict[str, str]:
        """Name, problem and remedy, as stored in results files."""
        return {"name": self.name, "problem": self.problem, "remedy": self.remedy}

    def __str__(self) -> str:
        return format_fault(self.facts)


def format_fault(facts: Mapping[str, str]) -> str:
    """Describe a corrupted file from its name, problem and remedy.

    >>> format_fault({"name": "heart", "problem": "decimal points were lost", "remedy": "use UCI's file"})
    "KEEL's file heart is corrupted: decimal points were lost; use UCI's file"
    """
    return f"KEEL's file {facts['name']} is corrupted: {facts['problem']}; {facts['remedy']}"


def compute_fingerprint(dataset: Dataset) -> str:
    """Hash the values of a data set. The hash does not depend on names, column types or the order of the rows.

    >>> one = Dataset.from_table([[1.0, 2.0], [3.0, 4.0]], ["a", "b"])
    >>> other = Dataset.from_table([[3.0, 4.0], [1.0, 2.0]], ["b", "a"], name="other", nominal=["x0"])
    >>> compute_fingerprint(one) == compute_fingerprint(other)
    True
    """
    frame = dataset.frame()
    columns = [_format_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
    rows = sorted(",".join(row) for row in zip(*columns, strict=True))
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def hash_ranges(dataset: Dataset) -> str:
    """Compute a hash of the declared ranges in column order. Return an empty string if no ranges are declared.

    >>> hash_ranges(Dataset.from_table([[1.0]], ["a"]))
    ''
    """
    ranges = [dataset.ranges[name] for name in map(str, dataset.X.columns) if name in dataset.ranges]
    return hashlib.sha256(repr([(float(low), float(high)) for low, high in ranges]).encode()).hexdigest() if ranges else ""


def find_known_fault(dataset: Dataset) -> KnownFault | None:
    """Find the known corrupted file with the same values or declared ranges. Return None if there is no such file."""
    width = dataset.X.shape[1]
    same_width = [fault for fault in KNOWN_FAULTS if fault.attributes == width]
    same_size = [fault for fault in same_width if fault.rows == len(dataset)]
    values_hash = compute_fingerprint(dataset) if same_size else ""
    ranges_hash = hash_ranges(dataset) if same_width else ""
    same_values = [fault for fault in same_size if values_hash.startswith(fault.fingerprint)]
    same_ranges = [fault for fault in same_width if fault.ranges and ranges_hash.startswith(fault.ranges)]
    return next(iter(same_values + same_ranges), None)


def find_fault_by_hash(content_hash: str) -> KnownFault | None:
    """Find the known corrupted file whose data set has this content hash. Return None if there is no such file.

    Older results files store only the content hash of a data set, not its fault.

    >>> find_fault_by_hash("a54a102bd088712f" + 48 * "0").name
    'crx'
    """
    name = next((name for name, hashes in _CONTENT_HASHES.items() if content_hash[:16] in hashes), None)
    return next((fault for fault in KNOWN_FAULTS if fault.name == name), None)


def warn_if_known(dataset: Dataset) -> Dataset:
    """Issue a warning and set `fault` if the data set is known to be corrupted. Return the data set."""
    fault = find_known_fault(dataset)
    if fault is None:
        return dataset
    warnings.warn(f"{dataset.source or dataset.name}: {fault}", SuspectInputWarning, stacklevel=3)
    return replace(dataset, fault=fault)


def _format_column(column: pd.Series[Any]) -> list[str]:
    return ["?" if missing else _normalise_value(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _normalise_value(value: object) -> str:
    """Format a value so that a number and its text form look the same."""
    try:
        return repr(float(str(value)) + 0.0)
    except ValueError:
        return str(value)


_ECOLI = (
    "decimal points were lost (0.40 became 4, 0.29 became 29), which destroyed the order of the values",
    "use UCI's ecoli, whose attributes lie between 0 and 1",
)
_CREDIT = ("decimal points were lost (30.83 became 3083, 24.5 became 245)", "use UCI's file of credit approvals")
_FAULTS = {
    "heart": ("decimal points of Oldpeak were lost (2.4 became 24, but 2.0 became 2)", "use UCI's Statlog heart"),
    "crx": _CREDIT,
    "australian": _CREDIT,
    "ring": (
        "decimal points were lost (0.841 became 841, but 0.840 became 84)",
        "simulate the data set again from its definition (Breiman's ringnorm)",
    ),
    "yeast4": (
        "the copy of this file in KEEL's source repository has wrong classes in 295 rows",
        "use the file of KEEL's collection of imbalanced data sets, with 51 positive rows",
    ),
}
_MARKS = (
    ("ecoli", 336, 7, "c164f5a5324e5234", "b936de41efdbf3f8"),
    ("heart", 270, 13, "1f7bee7037cd2f79", "4fa6d6d7f11946e7"),
    ("crx", 653, 15, "1afde3c9f7ca2e39", "7adeb514241191d1"),
    ("ring", 7400, 20, "e2df948069360110", "4b9215779f5e9723"),
    ("ecoli-0-1-3-7_vs_2-6", 281, 7, "e81f1186d79aad4f", "b936de41efdbf3f8"),
    ("ecoli-0-1-4-6_vs_5", 280, 6, "b360e0e31c5fa2f7", "b926d19336fd16d7"),
    ("ecoli-0-1-4-7_vs_2-3-5-6", 336, 7, "fb23299d0a5e273f", "b936de41efdbf3f8"),
    ("ecoli-0-1-4-7_vs_5-6", 332, 6, "75daaa80c96d21e1", "5de9c0d4b754efc1"),
    ("ecoli-0-1_vs_2-3-5", 244, 7, "18b3c9effe938cec", "7013323fe39cdee1"),
    ("ecoli-0-1_vs_5", 240, 6, "8760f92a11896f90", "b926d19336fd16d7"),
    ("ecoli-0-2-3-4_vs_5", 202, 7, "107194a08a2e96e1", "59ea13ec00a09506"),
    ("ecoli-0-2-6-7_vs_3-5", 224, 7, "e75edf0d358cfcf3", "9eb4ebe7bbb5757d"),
    ("ecoli-0-3-4-6_vs_5", 205, 7, "a619dcb5bac78a30", "59ea13ec00a09506"),
    ("ecoli-0-3-4-7_vs_5-6", 257, 7, "89772ff4b2e3fcb8", "211e9ff89e01b0ab"),
    ("ecoli-0-3-4_vs_5", 200, 7, "93ebd4bafe5486a3", "59ea13ec00a09506"),
    ("ecoli-0-4-6_vs_5", 203, 6, "59f05dea5f4840ef", "915649c01c70eaf2"),
    ("ecoli-0-6-7_vs_3-5", 222, 7, "b638105c681aaef6", "02718ba8217581d4"),
    ("ecoli-0-6-7_vs_5", 220, 6, "c2b5c2cdcf5a38a2", "afd98ea2ecab27fa"),
    ("australian", 690, 14, "9f29c8e490863fb0", "92e22b1f48b6974a"),
    ("yeast4", 1484, 8, "af76caea464294ed", ""),
)
KNOWN_FAULTS = tuple(KnownFault(*mark, *_FAULTS.get(mark[0], _ECOLI)) for mark in _MARKS)
# Content hashes of these files as read from KEEL's files and archives of folds, and from the packages that contain copies.
_CONTENT_HASHES = {
    "australian": ("aaf3147065925266", "46b7fdb9d7523a5b"),
    "crx": ("d7ff87814a40dc29", "a54a102bd088712f", "e7fcc5347fd691db"),
    "ecoli": ("5913e044e0b59683", "6b2ff780dcbb0536", "cd7be128ce265940"),
    "ecoli-0-1-3-7_vs_2-6": ("99b229fe49215a44", "b54af91ccc92a33f", "392b5844fd4ac4c7"),
    "ecoli-0-1-4-6_vs_5": ("2bad64949ba7adbc", "5522d693368f4105", "330323793de1fe86"),
    "ecoli-0-1-4-7_vs_2-3-5-6": ("7f1df28d882b852f", "b8c6b7770ead6137", "585c544b09412eb0"),
    "ecoli-0-1-4-7_vs_5-6": ("3efb66f00514be6a", "6b04e10785bcdb7f", "2aca0fc73e9d959c"),
    "ecoli-0-1_vs_2-3-5": ("ae9f4940644b9e5b", "2d1fe9e2d0c57833", "04ea10f237de478d"),
    "ecoli-0-1_vs_5": ("dd0a6db40e4509d3", "62acc63043fdffba", "0e75992e47b359ab"),
    "ecoli-0-2-3-4_vs_5": ("cddea4d3eb262b78", "26654035266b9bfd", "c01dcd0e36d83228"),
    "ecoli-0-2-6-7_vs_3-5": ("98f54b734fa31643", "06bbdae5a2003c03", "fb5afbf962e94d5c"),
    "ecoli-0-3-4-6_vs_5": ("60222eaf17a7d1a6", "a03a4df82236c842", "48cd57d6abfc6cf1"),
    "ecoli-0-3-4-7_vs_5-6": ("c43d62b2ebb01903", "f0d1c075a69c23a0", "439feb11620ce474"),
    "ecoli-0-3-4_vs_5": ("ac0445f0d727493d", "7ade423b89d588cd", "d4c039161eb2dba5"),
    "ecoli-0-4-6_vs_5": ("5a32303a07d80fe6", "7ce5f46eaa372f7d", "df540245cb9e9f25"),
    "ecoli-0-6-7_vs_3-5": ("44850d5d67f17bf0", "e4da6d7b3a623127", "907bc24232c8c8ee"),
    "ecoli-0-6-7_vs_5": ("750f87704f82d138", "311da85cc48f2caf", "14c5273b01417e6a"),
    "heart": ("0fab1a473159f30d", "b34a0f629f89c0e0", "50f0b4adf3fe2c50"),
    "ring": ("484724711bbae504", "2489ab0ff0c8fd6c"),
}
