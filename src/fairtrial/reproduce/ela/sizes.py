"""Which of the files that were run have other numbers of rows than the paper's table 2 prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.ela.sets import Sets
from fairtrial.reproduce.published import published
from fairtrial.reproduce.reproduction import Table

if TYPE_CHECKING:
    import pandas as pd

_UNDER = {"autos": "automobile", "monk-2": "monk", "newthyroid": "new-thyroid"}  # names of table 2
_NOTE = "These files were run as they are; their numbers and the paper's are not of the same rows."


def other_sizes(sets: Sets) -> pd.DataFrame:
    """A line for each data set that was run whose rows are not as many as the paper's."""
    import pandas as pd

    printed = published("ela_table2_datasets").set_index("dataset")["examples"]
    lines = [
        (name, data.source or data.name, data.summary().rows, int(printed[_UNDER.get(name, name)]))
        for name, data in sets.data.items()
    ]
    frame = pd.DataFrame(lines, columns=["data set", "file", "rows", "rows in the paper"])
    return frame[frame["rows"] != frame["rows in the paper"]].reset_index(drop=True)


def table(frame: pd.DataFrame) -> Table | None:
    """The table of other sizes; None where there is none."""
    return Table("sizes", "Data sets of another size than the paper's", frame, _NOTE) if len(frame) else None


def words(frame: pd.DataFrame) -> str:
    """The sets of another size; nothing where there is none."""
    if frame.empty:
        return ""
    told = [
        f"{name} ({rows} rows, the paper's has {printed})"
        for name, rows, printed in frame[["data set", "rows", "rows in the paper"]].itertuples(index=False, name=None)
    ]
    return f"Of another size than in the paper's table 2: {', '.join(told)}. They were run; their differences say little."
