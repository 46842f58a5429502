"""Data sets: read them from files, load them by name, or simulate them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fairtrial.data.arff import read_arff
from fairtrial.data.catalogue import PAPER_SETS, catalogue, load, register
from fairtrial.data.dataset import Dataset, Description, Summary, describe
from fairtrial.data.delimited import read_delimited
from fairtrial.data.folds import GivenFolds, read_folds
from fairtrial.data.frames import read_bunch, read_frame, read_parquet
from fairtrial.data.keel import read_keel
from fairtrial.data.reading import read
from fairtrial.data.writing import write

if TYPE_CHECKING:
    from fairtrial.data import simulate

__all__ = [
    "PAPER_SETS",
    "Dataset",
    "Description",
    "GivenFolds",
    "Summary",
    "catalogue",
    "describe",
    "load",
    "read",
    "read_arff",
    "read_bunch",
    "read_delimited",
    "read_folds",
    "read_frame",
    "read_keel",
    "read_parquet",
    "register",
    "simulate",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import the module `simulate` when it is first used."""
    if name == "simulate":
        return import_module("fairtrial.data.simulate")
    raise AttributeError(f"module 'fairtrial.data' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "simulate"])
