"""Accuracy, ELA and RLA by data set and learner: ours with intervals, and the paper's in the same form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fairtrial.reproduce.published import published

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

TREE, VOTES, LOGISTIC = "c45", "puk-svc", "puk-svc-logistic"
LEARNERS = (TREE, VOTES, LOGISTIC)
STATED, ANY = "class-noise", "class-noise-any"  # another class; any class, its own included
CLEAN, NOISY, ELA, RLA = "accuracy at 0 %", "accuracy at 10 %", "ELA", "RLA"
QUANTITIES = {CLEAN: "acc0", NOISY: "acc10", ELA: "ela", RLA: "rla"}
KEYS = ["dataset", "learner", "quantity"]
_COLUMNS = [*KEYS, "value", "low", "high"]


def our_cells(results: Results, noise: str = STATED) -> pd.DataFrame:
    """A line for each data set, learner and quantity under this noise, accuracies in per cent; none where a learner failed."""
    import pandas as pd

    parts = [_accuracies(results, noise), *_losses(results, noise)]
    found = pd.concat([part[_COLUMNS].astype({"dataset": "object", "learner": "object"}) for part in parts], ignore_index=True)
    return found[found["value"].notna()].reset_index(drop=True)


def _accuracies(results: Results, noise: str) -> pd.DataFrame:
    import pandas as pd

    from fairtrial.report.means import compute_level_means

    conditions = [each for each in results.archive.conditions if each.name in ("clean", noise)]
    names = [each.name for each in results.archive.datasets]
    parts = [compute_level_means(results, conditions, dataset=name).assign(dataset=name) for name in names]
    found = pd.concat(parts, ignore_index=True)
    found["quantity"] = found["condition"].map(lambda condition: CLEAN if condition == "clean" else NOISY)
    return (
        found.rename(columns={"mean": "value"})
        .assign(**{end: 100 * found[end] for end in ("low", "high")})
        .assign(value=100 * found["mean"])
    )


def _losses(results: Results, noise: str) -> list[pd.DataFrame]:
    found = results.robustness(noise)
    return [
        found.rename(columns={name: "value", f"{name}_low": "low", f"{name}_high": "high"}).assign(quantity=quantity)
        for quantity, name in ((ELA, "ela"), (RLA, "rla"))
    ]


def their_cells() -> pd.DataFrame:
    """The paper's table 3 in the same form; its support vector machine stands beside both of ours.

    >>> found = their_cells()
    >>> found[(found["dataset"] == "car") & (found["quantity"] == CLEAN)]["value"].tolist()
    [91.33, 64.83, 64.83]
    """
    import pandas as pd

    table = published("ela_table3")
    lines = [
        (dataset, learner, quantity, table.loc[place, f"{short}_{'c45' if learner == TREE else 'svm'}"])
        for place, dataset in enumerate(table["dataset"])
        for learner in LEARNERS
        for quantity, short in QUANTITIES.items()
    ]
    return pd.DataFrame(lines, columns=[*KEYS, "value"])


def as_printed(cells: pd.DataFrame, machine: str) -> pd.DataFrame:
    """Cells in the form of table 3: a line for each data set that has all eight numbers, `machine` in the place of its SVM.

    >>> as_printed(their_cells(), LOGISTIC).equals(published("ela_table3").set_index("dataset"))
    True
    """
    columns = {
        f"{short}_{'c45' if learner == TREE else 'svm'}": (learner, quantity)
        for quantity, short in QUANTITIES.items()
        for learner in (TREE, machine)
    }
    wide = cells.pivot(index="dataset", columns=["learner", "quantity"], values="value")
    found = wide.reindex(columns=list(columns.values())).set_axis(list(columns), axis=1)
    return found.dropna().reindex([name for name in dict.fromkeys(cells["dataset"]) if name in found.dropna().index])
