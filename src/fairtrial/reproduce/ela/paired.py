"""What C4.5 and the machine differ by on each data set, split by split, with intervals corrected for overlapping splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.ela.cells import TREE
from fairtrial.reproduce.interval import Interval

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

# Of one data set: acc0, acc10, ela and rla (each C4.5 less SVM), acc0_svm, rla_c45 and rla_svm; accuracies in per cent.
Line = Mapping[str, Interval]
_ALPHA = 0.05


def split_lines(results: Results, noise: str, machine: str) -> dict[str, Line]:
    """The line of each data set on which neither of the two failed; learners are paired by split.

    Intervals are those of Nadeau and Bengio, of RLA and ELA by the delta method, as `Results.robustness` has them by learner.
    """
    from fairtrial.study.results.stacking import compute_test_fraction

    found: dict[str, Line] = {}
    grid = _grid(results, noise, machine)
    for name in dict.fromkeys(grid.index.get_level_values("dataset")):
        own = grid.loc[[name]]
        splits = [(int(repeat), int(fold)) for _, repeat, fold in own.index]
        found[str(name)] = line_of(own, compute_test_fraction(results.archive, str(name), splits))
    return found


def _grid(results: Results, noise: str, machine: str) -> pd.DataFrame:
    """Splits (data set, repeat, fold) that have all four accuracies: by learner, without and with the noise."""
    from fairtrial.study.results.stacking import keep_shared_splits

    scores = keep_shared_splits(results.scores("accuracy"))
    own = scores[scores["condition"].isin(["clean", noise]) & scores["learner"].isin([TREE, machine])]
    who = own["learner"].astype(object).map({TREE: "c45", machine: "svm"})
    when = own["condition"].astype(object).map({"clean": "acc0", noise: "acc10"})
    plain = own.assign(dataset=own["dataset"].astype(object), what=when + "_" + who)
    wide = plain.pivot(index=["dataset", "repeat", "fold"], columns="what", values="value")
    return wide.reindex(columns=["acc0_c45", "acc0_svm", "acc10_c45", "acc10_svm"]).dropna()


def line_of(splits: pd.DataFrame, share: float) -> Line:
    """The line of a data set: `splits` has the four accuracies of each split, which tests on this share of the rows.

    >>> import pandas as pd
    >>> tree, machine = [0.9, 0.8, 0.7], [0.8, 0.6, 0.6]
    >>> splits = pd.DataFrame({"acc0_c45": tree, "acc0_svm": machine, "acc10_c45": tree, "acc10_svm": machine})
    >>> line_of(splits, 0.2)["acc0"].told("{:.1f}")
    '13.3 (-5.6 to 32.3)'
    """
    values = {str(name): splits[name].to_numpy(dtype=np.float64) for name in splits.columns}
    found = {name: _at(100 * (values[f"{name}_c45"] - values[f"{name}_svm"]), share) for name in ("acc0", "acc10")}
    found["acc0_svm"] = _at(100 * values["acc0_svm"], share)
    for name, most in (("rla", 0.0), ("ela", 1.0)):
        tree, machine = (_loss(values[f"acc0_{who}"], values[f"acc10_{who}"], most) for who in ("c45", "svm"))
        found[name] = _at(tree - machine, share)
        if name == "rla":
            found |= {"rla_c45": _at(tree, share), "rla_svm": _at(machine, share)}
    return found


def _loss(before: Any, after: Any, most: float) -> Any:
    """A loss of the mean accuracies, and around it what each split adds by the derivatives.

    It is (most - after) / before with most = 1 for ELA; for RLA that plus 1, with most = 0.
    """
    start, end = float(before.mean()), float(after.mean())
    if start == 0:
        return np.full(len(before), np.nan)
    quotient = (most - end) / start
    return quotient + (1 - most) - ((after - end) + quotient * (before - start)) / start


def _at(values: Any, share: float) -> Interval:
    """Mean and interval; splits that do not differ at all say nothing of the spread, and leave the ends unknown."""
    from fairtrial.study.results.stacking import compute_half_width

    mean = float(values.mean())
    half = compute_half_width(values, share, _ALPHA) if len(values) > 1 and np.ptp(values) > 1e-12 else float("nan")
    return Interval(mean, mean - half, mean + half, len(values) - 1)


def exact_lines(table: pd.DataFrame) -> dict[str, Line]:
    """The lines of a table as the paper prints it, its numbers taken as exact."""
    lines: dict[str, Line] = {}
    for name, row in table.iterrows():
        values = {short: row[f"{short}_c45"] - row[f"{short}_svm"] for short in ("acc0", "acc10", "ela", "rla")}
        values |= {both: row[both] for both in ("acc0_svm", "rla_c45", "rla_svm")}
        lines[str(name)] = {what: Interval(float(value), float(value), float(value)) for what, value in values.items()}
    return lines
