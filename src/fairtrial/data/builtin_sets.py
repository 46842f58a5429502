"""The classification sets that come with scikit-learn."""

from __future__ import annotations

from functools import partial

from fairtrial.data.bunches import read_bunch
from fairtrial.data.dataset import Dataset
from fairtrial.data.entries import Entry, Facts

SOURCE = "scikit-learn"

_FACTS = {
    "iris": Facts(150, 4, 3),
    "wine": Facts(178, 13, 3),
    "breast_cancer": Facts(569, 30, 2),
    "digits": Facts(1797, 64, 10),
}


def builtin_entries() -> list[Entry]:
    """One entry for each set.

    >>> [entry.name for entry in builtin_entries()]
    ['iris', 'wine', 'breast_cancer', 'digits']
    """
    return [Entry(name, SOURCE, partial(_load, name), partial(_facts, name)) for name in _FACTS]


def _facts(name: str) -> Facts:
    return _FACTS[name]


def _load(name: str) -> Dataset:
    import sklearn
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    return read_bunch(bunch, name=name, source=f"scikit-learn {sklearn.__version__}, load_{name}")
