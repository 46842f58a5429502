"""Published data files that are known to be corrupted, recognised by their content.

Each file has two marks. The fingerprint is a hash of the sorted rows, with values written in one way: it finds a copy under
another name, with other attribute names, without a header or with shuffled rows. The mark of the declared ranges finds parts
of such a file, as in KEEL's folds, which repeat its header.
"""

from __future__ import annotations

import hashlib
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairtrial.data.dataset import Dataset
from fairtrial.errors import SuspectInputWarning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class KnownFault:
    """A damaged data set: its size, its two marks, what is wrong and what to do."""

    name: str
    rows: int
    attributes: int
    fingerprint: str
    ranges: str
    description: str
    remedy: str

    def __str__(self) -> str:
        return f"these are the damaged data of KEEL's {self.name}: {self.description}; {self.remedy}"


def compute_fingerprint(dataset: Dataset) -> str:
    """A hash of the values that depends on no name, no type and no order of rows.

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
    """A hash of the declared ranges in order; empty if none are declared.

    >>> hash_ranges(Dataset.from_table([[1.0]], ["a"]))
    ''
    """
    ranges = [dataset.ranges[name] for name in map(str, dataset.X.columns) if name in dataset.ranges]
    return hashlib.sha256(repr([(float(low), float(high)) for low, high in ranges]).encode()).hexdigest() if ranges else ""


def find_known_fault(dataset: Dataset) -> KnownFault | None:
    """The published fault of these data, if there is one."""
    width = dataset.X.shape[1]
    same_width = [fault for fault in KNOWN_FAULTS if fault.attributes == width]
    same_size = [fault for fault in same_width if fault.rows == len(dataset)]
    values_hash = compute_fingerprint(dataset) if same_size else ""
    ranges_hash = hash_ranges(dataset) if same_width else ""
    same_values = [fault for fault in same_size if values_hash.startswith(fault.fingerprint)]
    same_ranges = [fault for fault in same_width if fault.ranges and ranges_hash.startswith(fault.ranges)]
    return next(iter(same_values + same_ranges), None)


def warn_if_known(dataset: Dataset) -> Dataset:
    """The same data set; if it is known to be damaged, with a warning, and with a note of what is wrong."""
    fault = find_known_fault(dataset)
    if fault is None:
        return dataset
    warnings.warn(f"{dataset.source or dataset.name}: {fault}", SuspectInputWarning, stacklevel=3)
    return replace(dataset, notes=(*dataset.notes, str(fault)))


def _format_column(column: pd.Series[Any]) -> list[str]:
    return ["?" if missing else _normalise_value(value) for value, missing in zip(column.tolist(), column.isna(), strict=True)]


def _normalise_value(value: object) -> str:
    """A number that stands as text is the number."""
    try:
        return repr(float(str(value)) + 0.0)
    except ValueError:
        return str(value)


_ECOLI = (
    "decimal points were lost (0.40 became 4, 0.29 became 29), so that the order of the values is destroyed",
    "take UCI's ecoli, whose attributes lie between 0 and 1",
)
_CREDIT = ("decimal points were lost (30.83 became 3083, 24.5 became 245)", "take UCI's file of credit approvals")
_FAULTS = {
    "heart": ("decimal points of Oldpeak were lost (2.4 became 24, but 2.0 became 2)", "take UCI's Statlog heart"),
    "crx": _CREDIT,
    "australian": _CREDIT,
    "ring": (
        "decimal points were lost (0.841 became 841, but 0.840 became 84)",
        "draw the set anew from its definition (Breiman's ringnorm)",
    ),
    "yeast4": (
        "the copy of this file in KEEL's source repository has wrong classes in 295 rows",
        "take the file of KEEL's collection of imbalanced sets, with 51 positive rows",
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
