"""Data sets: read from files, found by name, simulated."""

from importlib import import_module
from typing import Any

from fairtrial.data.arff import read_arff as read_arff
from fairtrial.data.catalogue import PAPER_SETS as PAPER_SETS, catalogue as catalogue, load as load, register as register
from fairtrial.data.dataset import Dataset as Dataset, Description as Description, Summary as Summary, describe as describe
from fairtrial.data.delimited import read_delimited as read_delimited
from fairtrial.data.folds import GivenFolds as GivenFolds, read_folds as read_folds
from fairtrial.data.frames import read_bunch as read_bunch, read_frame as read_frame
from fairtrial.data.keel import read_keel as read_keel
from fairtrial.data.parquet import read_parquet as read_parquet
from fairtrial.data.reading import read as read
from fairtrial.data.writing import write as write


def __getattr__(name: str) -> Any:
    """The simulators are imported when first used."""
    if name == "simulate":
        return import_module("fairtrial.data.simulate")
    raise AttributeError(f"module 'fairtrial.data' has no attribute {name!r}")
