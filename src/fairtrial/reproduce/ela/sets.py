"""The paper's data sets: which are run at which scale, where they are found, and which of KEEL's files are damaged."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairtrial.errors import InputError, SuspectInputWarning
from fairtrial.reproduce.data_sets import found_sets
from fairtrial.reproduce.reproduction import Request
from fairtrial.reproduce.study_files import study_file

if TYPE_CHECKING:
    from fairtrial.data import Dataset

LARGE = ("banana", "magic", "phoneme", "ring", "spambase", "twonorm")  # a support vector machine takes seconds to a minute
QUICK = ("cleveland", "german", "glass", "hayes-roth", "iris", "newthyroid", "sonar", "wine", "zoo")
SMOKE = ("iris", "wine")
CURVES = (
    *("balance", "cleveland", "glass", "hayes-roth", "ionosphere", "iris", "lymphography", "monk-2"),
    *("newthyroid", "pima", "sonar", "vehicle", "wdbc", "wine", "zoo"),
)


@dataclass(frozen=True, eq=False)
class Sets:
    """Data sets by the paper's names, what is wrong with their files, and which are not there."""

    data: Mapping[str, Dataset]
    faults: Mapping[str, str]
    left_out: Mapping[str, str]

    def only(self, names: Iterable[str]) -> dict[str, Dataset]:
        """Those of these names that are there."""
        wanted = list(names)
        return {name: each for name, each in self.data.items() if name in wanted}

    def but(self, names: Iterable[str]) -> dict[str, Dataset]:
        """All others."""
        unwanted = list(names)
        return {name: each for name, each in self.data.items() if name not in unwanted}


def declared(name: str) -> dict[str, Any]:
    """A study file of this experiment, as it stands.

    >>> len(declared("study")["data"]), len(declared("puzzle")["learners"])
    (32, 12)
    """
    return study_file("ela", name)


def gathered(request: Request) -> Sets:
    """The sets of this scale, all that are found; which of them have another size than the paper's `sizes` tells."""
    wanted = request.pick(smoke=SMOKE, quick=QUICK, full=tuple(declared("study")["data"]))
    places = {name: [at["set"], at["set"].split("/")[1]] for name, at in declared("study")["data"].items() if name in wanted}
    with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
        found, left_out = found_sets(places)
    if not found:
        raise InputError(
            f"none of the data sets {', '.join(wanted)} is found: name the folder of KEEL's files by FAIRTRIAL_DATA, "
            "as in FAIRTRIAL_DATA=data fairtrial reproduce ela"
        )
    faults = {name: each.notes[0] for name, each in found.items() if each.notes}
    return Sets(found, faults, left_out)
