"""Tables of the papers, to be laid beside ours. They are never an input of what is run."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def published(name: str) -> pd.DataFrame:
    """A published table by its name.

    >>> published("ela_table3").shape
    (32, 9)
    """
    import pandas as pd

    with (resources.files("fairtrial.reproduce") / "published" / f"{name}.csv").open() as file:
        return pd.read_csv(file)
