"""The ten data sets of Table 1, as the catalogue has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fairtrial.errors import InputError, UnknownNameError
from fairtrial.reproduce.data_sets import found_sets
from fairtrial.reproduce.ranking.coded import Coded, coded

if TYPE_CHECKING:
    from fairtrial.data import Dataset

# KEEL leaves out rows with missing values, and a column of ionosphere: its copies stand in only where they are whole.
PLACES: dict[str, list[str]] = {
    "Sonar": ["uci/sonar", "keel-standard/sonar", "sonar"],
    "Heart": ["uci/heart-statlog", "heart-statlog"],
    "Liver": ["keel-standard/bupa", "bupa"],
    "Ionosphere": ["uci/ionosphere"],
    "House": ["uci/vote", "vote"],
    "Cylinder": ["uci/cylinder-bands", "cylinder-bands"],
    "Credit": ["uci/credit-a", "credit-a"],
    "Transfusion": ["uci/transfusion", "transfusion"],
    "Pima": ["uci/diabetes", "keel-standard/pima", "pima"],
}
_SPECT = {"train": ["uci/spect.train", "spect.train"], "test": ["uci/spect.test", "spect.test"]}
NAMES = ("Sonar", "Spect", "Heart", "Liver", "Ionosphere", "House", "Cylinder", "Credit", "Transfusion", "Pima")
# What the repository calls the set, and the file that it is looked for in first.
_FILES: dict[str, tuple[str, str]] = {
    "Sonar": ("Connectionist Bench, Sonar", "uci/sonar.arff"),
    "Spect": ("SPECT Heart", "uci/spect.train.arff and uci/spect.test.arff"),
    "Heart": ("Statlog, Heart", "uci/heart-statlog.arff"),
    "Liver": ("Liver Disorders", "keel-standard/bupa.dat"),
    "Ionosphere": ("Ionosphere", "uci/ionosphere.arff"),
    "House": ("Congressional Voting Records", "uci/vote.arff"),
    "Cylinder": ("Cylinder Bands", "uci/cylinder-bands.arff"),
    "Credit": ("Credit Approval", "uci/credit-a.arff"),
    "Transfusion": ("Blood Transfusion Service Center", "uci/transfusion.data"),
    "Pima": ("Pima Indians Diabetes", "uci/diabetes.arff"),
}
STAND_IN = "wdbc"


def real_sets(*, stand_in: bool = False) -> tuple[dict[str, Coded], dict[str, str]]:
    """The sets that are there, in the paper's order, and why others are not.

    `stand_in` lets a set that comes with scikit-learn go through where none is there: its results mean nothing for the paper.
    """
    found, missing = found_sets(PLACES)
    parts, without = found_sets(_SPECT)
    if without:
        missing["Spect"] = next(iter(without.values()))
    else:
        found["Spect"] = spect(parts["train"], parts["test"])
    if not found and stand_in:
        found, _ = found_sets({STAND_IN: STAND_IN})
    if not found:
        raise InputError(
            "ranking-real must find at least one of its ten data sets, got none: put them into a folder and name it by "
            "FAIRTRIAL_DATA"
        )
    ordered = [name for name in (*NAMES, STAND_IN) if name in found]
    return {name: coded(name, found[name]) for name in ordered}, {name: _told(name, why) for name, why in missing.items()}


def _told(name: str, why: str) -> str:
    """The reason in the paper's words and with its remedy; a file that is there but damaged keeps its own reason."""
    if not _unknown(PLACES[name] if name in PLACES else [place for part in _SPECT.values() for place in part]):
        return why
    title, file = _FILES[name]
    return f"the UCI set {title} is not found: put {file} into a folder and name that folder by FAIRTRIAL_DATA"


def _unknown(places: Iterable[str]) -> bool:
    """Whether no place is known, or what is known there can be read."""
    from fairtrial.data import load

    for place in places:
        try:
            load(place)
        except UnknownNameError:
            continue
        except InputError:
            return False
    return True


def cylinder() -> Dataset | None:
    """The set Cylinder as it is, if it is there."""
    found, _ = found_sets({name: places for name, places in PLACES.items() if name == "Cylinder"})
    return found.get("Cylinder")


def spect(*parts: Dataset) -> Dataset:
    """Both files of Spect as one set; they declare their first column to be the class, but readers take the last."""
    import pandas as pd

    from fairtrial.data import Dataset

    frames = [pd.concat([part.X, part.y], axis=1).astype(str) for part in parts]
    whole = pd.concat(frames, ignore_index=True)
    target = str(frames[0].columns[0])
    attributes = whole.drop(columns=target)
    return Dataset.from_table(attributes, whole[target], name="spect", target=target, nominal=list(attributes.columns))
