"""Other copies of some sets: undamaged, of another size, or with other types, to see which of them the paper used."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from fairtrial.errors import SuspectInputWarning
from fairtrial.reproduce.data_sets import found_sets
from fairtrial.reproduce.ela.cells import CLEAN, LOGISTIC, TREE, their_cells
from fairtrial.reproduce.ela.running import run_study
from fairtrial.reproduce.ela.sets import Sets, declared
from fairtrial.reproduce.reproduction import Request, Table

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.data import Dataset

# The set of the paper -> (what the copy is, its name in the catalogue)
_COPIES = {
    "ecoli": ("UCI's, undamaged", "uci/ecoli"),
    "heart": ("UCI's, undamaged", "uci/heart-statlog"),
    "hayes-roth": ("132 rows, as table 2's percentages", "keel-standard/hayes-roth-132"),
}
_NOTE = (
    "Accuracy without noise in per cent, ours on KEEL's file and on the other copy, the interval that of the copy; "
    "'nearer' names the one whose accuracy is nearer to the paper's."
)


def other_copies(sets: Sets) -> dict[str, tuple[str, Dataset]]:
    """The copies that can be found of the sets that are run: what each is, and the data."""
    wanted = {name: place for name, (_, place) in _COPIES.items() if name in sets.data}
    with warnings.catch_warnings(action="ignore", category=SuspectInputWarning):
        found, _ = found_sets(wanted)
    copies = {name: (_COPIES[name][0], data) for name, data in found.items()}
    if "dermatology" in sets.data:
        copies["dermatology"] = ("all columns but age nominal, as table 2 counts", _nominal(sets.data["dermatology"]))
    return copies


def _nominal(data: Dataset) -> Dataset:
    """All columns nominal but the last, which is the age."""
    from fairtrial.data import Dataset

    columns = data.X
    return Dataset.from_table(columns, data.y, name=data.name, nominal=list(columns.columns[:-1]))


def compared_copies(request: Request, sets: Sets, ours: pd.DataFrame, repeats: int) -> Table | None:
    """Both learners on the other copies beside KEEL's files and the paper; None where there is no other copy."""
    import pandas as pd

    from fairtrial.report.means import compute_level_means

    copies = other_copies(sets)
    if not copies:
        return None
    learners = {name: each for name, each in declared("study")["learners"].items() if name in (TREE, LOGISTIC)}
    data = {name: each for name, (_, each) in copies.items()}
    results = run_study(
        request, "study", data, name="copies", repeats=repeats, conditions={"class-noise": [0]}, learners=learners
    )
    clean = ours[ours["quantity"] == CLEAN].set_index(["dataset", "learner"])["value"]
    printed = their_cells().query("quantity == @CLEAN").set_index(["dataset", "learner"])["value"]
    lines = []
    for name, (what, _) in copies.items():
        means = compute_level_means(results, results.archive.conditions, dataset=name)
        for learner, mean, low, high in means[["learner", "mean", "low", "high"]].itertuples(index=False, name=None):
            place = (name, str(learner))
            before, after, paper = clean.get(place, float("nan")), 100 * mean, printed[place]
            nearer = "the copy" if abs(after - paper) < abs(before - paper) else "KEEL's file"
            lines.append((name, what, place[1], before, after, 100 * low, 100 * high, paper, nearer))
    columns = ["data set", "copy", "learner", "KEEL's file", "the copy", "low", "high", "paper", "nearer"]
    return Table("copies", "Other copies of the same sets", pd.DataFrame(lines, columns=columns), _NOTE, digits=2)
