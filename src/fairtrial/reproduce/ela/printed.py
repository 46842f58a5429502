"""Check printed numbers that should follow from other printed numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairtrial._text import format_count
from fairtrial.measures import ela, rla
from fairtrial.reproduce.claim import Claim, judge_fact
from fairtrial.reproduce.ela.tables import QUANTITIES, Table3
from fairtrial.reproduce.experiment import ResultTable, read_published

if TYPE_CHECKING:
    import pandas as pd

_CLASSIFIERS = ("c1", "c2")
# The rows 'average' and 'best' of table 3, for C4.5 and the SVM.
_AVERAGES = {"acc0": (81.28, 82.24), "acc10": (80.37, 78.50), "ela": (0.2777, 0.3117), "rla": (0.0115, 0.0457)}
_BEST = {"acc0": (12, 20), "acc10": (16, 16), "ela": (16, 16), "rla": (23, 9)}
_NOTE = (
    "The accuracies are from the paper. The printed loss is in parentheses if it differs from ours after rounding. The last "
    "two columns name the classifier with the smaller loss."
)


def judge_printed(table: Table3 | None = None) -> tuple[Claim, ...]:
    """Recompute the losses of table 1 and table 3, and the rows 'average' and 'best' of table 3."""
    table = table or Table3.published()
    examples = recompute_table1()
    is_equal = examples["difference"].abs() <= examples["tolerance"]
    losses = _compare_losses(table)
    averages = [
        abs(table.frame[f"{quantity}_{learner}"].mean() - printed) <= (0.005 if quantity.startswith("acc") else 0.00005) + 1e-9
        for quantity, both in _AVERAGES.items()
        for learner, printed in zip(("c45", "svm"), both, strict=True)
    ]
    counts = [
        tuple(int((table.find_preferred(quantity) == learner).sum()) for learner in ("C4.5", "SVM")) == _BEST[quantity]
        for quantity in QUANTITIES.values()
    ]
    n_equal, n_losses = int(is_equal.sum()), sum(losses)
    return (
        Claim(
            "The RLA and ELA of table 1 follow from its accuracies",
            judge_fact(bool(is_equal.all())),
            f"{n_equal} of {format_count(len(is_equal), 'number')} agree after rounding",
            kind="printed",
        ),
        Claim(
            "The RLA and ELA of table 3 follow from its accuracies",
            judge_fact(n_losses == len(losses)),
            f"{n_losses} of {format_count(len(losses), 'number')} agree within the rounding of the accuracies",
            kind="printed",
        ),
        Claim(
            "The rows 'average' and 'best' of table 3 follow from its other rows",
            judge_fact(all(averages) and all(counts)),
            f"{sum(averages)} of {format_count(len(averages), 'average')} and {sum(counts)} of "
            f"{format_count(len(counts), 'pair')} of counts agree",
            kind="printed",
        ),
    )


def recompute_table1() -> pd.DataFrame:
    """Recompute the losses of table 1, and list them beside the printed ones.

    >>> frame = recompute_table1()
    >>> len(frame), bool((frame["difference"].abs() <= frame["tolerance"]).all())
    (48, True)
    """
    import pandas as pd

    published = read_published("ela_table1")
    rows = []
    for scenario, row in published.iterrows():
        for classifier in _CLASSIFIERS:
            clean, noisy = row[f"{classifier}_acc0"], row[f"{classifier}_accx"]
            for name, measure in (("rla", rla), ("ela", ela)):
                printed, ours = float(row[f"{classifier}_{name}"]), float(measure(clean, noisy))
                # The examples with tiny losses are printed with five decimals, the others with two.
                tolerance = 5e-6 if row["example"] == 4 else 0.005
                rows.append((scenario, row["example"], classifier, name, ours, printed, ours - printed, tolerance + 1e-9))
    columns = ["scenario", "example", "classifier", "measure", "ours", "printed", "difference", "tolerance"]
    return pd.DataFrame(rows, columns=columns)


def _compare_losses(table: Table3) -> list[bool]:
    """Check whether each loss of table 3 agrees with the printed accuracies."""
    agreements: list[bool] = []
    for learner in ("c45", "svm"):
        clean, noisy = (table.frame[f"{quantity}_{learner}"] for quantity in ("acc0", "acc10"))
        tolerance = 0.00005 + 0.005 / clean * (1 + (100 - noisy).clip(lower=noisy) / clean) + 1e-9
        for name, measure in (("ela", ela), ("rla", rla)):
            ours = measure(clean.to_numpy(), noisy.to_numpy())
            agreements += ((table.frame[f"{name}_{learner}"] - ours).abs() <= tolerance).tolist()
    return agreements


def build_toy_table() -> ResultTable:
    """Build the table of the twelve toy scenarios of table 1."""
    import pandas as pd

    losses = {(row["scenario"], row["classifier"], row["measure"]): row for row in recompute_table1().to_dict("records")}
    rows = []
    for scenario, accuracies in enumerate(read_published("ela_table1").to_dict("records")):
        row: dict[str, Any] = {"example": int(accuracies["example"])}
        for classifier in _CLASSIFIERS:
            ends = [f"{accuracies[f'{classifier}_{column}']:g}" for column in ("acc0", "accx")]
            row[f"{classifier.upper()}: A0 to Ax"] = " to ".join(ends)
            for name in ("rla", "ela"):
                row[f"{classifier.upper()}: {name.upper()}"] = _format_loss(losses[scenario, classifier, name])
        for name in ("rla", "ela"):
            first, second = (losses[scenario, classifier, name]["ours"] for classifier in _CLASSIFIERS)
            row[f"{name.upper()} prefers"] = "neither" if abs(first - second) < 1e-12 else "C1" if first < second else "C2"
        rows.append(row)
    return ResultTable("toy-examples", "The twelve toy scenarios of table 1", pd.DataFrame(rows), _NOTE)


def _format_loss(row: Mapping[Any, Any]) -> str:
    """
    >>> row = {"ours": 7 / 3, "printed": 2.33, "difference": 0.0033, "tolerance": 0.005}
    >>> _format_loss(row), _format_loss(row | {"printed": 2.3, "difference": 0.033})
    ('2.33', '2.33 (2.3)')
    """
    ours = f"{row['ours']:.{5 if row['tolerance'] < 0.001 else 2}f}".rstrip("0").rstrip(".")
    return ours if abs(row["difference"]) <= row["tolerance"] else f"{ours} ({row['printed']:g})"
