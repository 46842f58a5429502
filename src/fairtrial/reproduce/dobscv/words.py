"""The paragraphs: what was run, what agrees, what does not, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.reproduce.dobscv.cells import base_of, differences
from fairtrial.reproduce.dobscv.sets import SILENT, Sets, declared, unsound
from fairtrial.reproduce.dobscv.trials import LITERAL, SCV, SHUFFLED

if TYPE_CHECKING:
    import pandas as pd

_ALIKE = 1e-4  # errors that do not differ by more are told together
_PUZZLE = "Cleveland0vs4"


def what_was_run(sets: Sets, runs: int, failed: Mapping[str, int]) -> str:
    """The design in a paragraph."""
    whose = "simulated sets, since none of the paper's was found," if sets.simulated else "of the paper's 66 imbalanced sets"
    lost = f" Trials failed: {'; '.join(f'{name} ({count})' for name, count in failed.items())}." if failed else ""
    return (
        f"{len(sets.data)} {whose} were run with C4.5, Chi, 1-NN, SMO and PDFC on training parts that SMOTE (5 neighbours) had "
        f"balanced, {counted(runs, 'run')} of 5 folds under each scheme. The AUC is the paper's, (1 + TPR - FPR) / 2 of crisp "
        f"predictions, a mean over folds. KEEL's own stratified folds were there for {counted(len(sets.folds), 'set')}; the "
        f"paper's DOB-SCV folds are not to be had and were drawn anew.{lost}"
    )


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def folds_words(sets: Sets) -> str:
    """What is wrong with official folds; empty where nothing is."""
    bad = unsound(sets.folds)
    if not bad:
        return ""
    told = "; ".join(f"{name}: {why}" for name, why in bad.items())
    return (
        f"KEEL's folds are not sound everywhere ({told}). They are used as they are, and our own stratified folds stand beside."
    )


def damage_words(sets: Sets, cells: pd.DataFrame) -> str:
    """Which sets are damaged, and what they do to the difference between the schemes; empty where none is."""
    if not sets.damaged:
        return ""
    lines = differences(cells)
    sound = lines[~lines["dataset"].isin(list(sets.damaged))]
    means = [each.groupby("learner", sort=False)["value"].mean() for each in (lines, sound)]
    told = ", ".join(f"{learner} {value:+.4f} ({means[1].get(learner, np.nan):+.4f})" for learner, value in means[0].items())
    return (
        f"{counted(len(sets.damaged), 'set')} came damaged in KEEL's own files, decimal points being lost: "
        f"{', '.join(sets.damaged)}. They were run as they are, for the paper's sets are KEEL's, whether or not they were "
        f"damaged then. DOB-SCV as printed less {base_of(cells)}, mean over all sets (without the damaged ones): {told}."
    )


def agreement_words(table: pd.DataFrame, cells: pd.DataFrame) -> str:
    """How single sets agree; empty where none of Table 4 ran."""
    own = table[table["scheme"].isin([base_of(cells), LITERAL])]
    if not len(own):
        return ""
    told = "; ".join(
        f"{line['learner']} under {line['scheme']} {line['mean absolute difference']:.3f}" for _, line in own.iterrows()
    )
    return (
        "Single sets differ more than averages, for a fold often has two or three positive cases; mean absolute differences "
        f"over {counted(int(own['sets'].max()), 'set')} whose published line survives: {told}. Those of C4.5 under SCV are "
        "raised by Yeast1458vs7, whose printed entry is Glass5's (see Table 4)."
    )


def silent_share(sets: Sets) -> float | None:
    """The share of test rows of the puzzling set for which Chi fires no rule, under KEEL's folds; None where it did not run."""
    from fairtrial import Study

    if _PUZZLE not in sets.folds:
        return None
    given = sets.folds[_PUZZLE]
    learners = {"Chi": declared()["learners"]["Chi"]}
    chi = Study(data={_PUZZLE: given.dataset}, learners=learners, resampling={"folds": 5}).resolve().learners[0].estimator
    X, y = given.dataset.X.to_numpy(), given.dataset.y
    told = [chi.set_params(random_state=1).fit(X[train], y.iloc[train]).predict(X[test]) for train, test in given]
    return float(np.mean(np.concatenate(told) == SILENT))


def puzzle_words(share: float | None, cells: pd.DataFrame) -> str:
    """Why Chi is far below chance on a set."""
    own = cells[(cells["dataset"] == _PUZZLE) & (cells["learner"] == "Chi") & (cells["scheme"] == base_of(cells))]
    if share is None or not len(own):
        return ""
    return (
        f"The paper leaves Chi's .1188 on {_PUZZLE}, far below chance, without comment. With 13 attributes and 5 labels no "
        f"rule fires for {share:.0%} of the test rows of KEEL's folds; such a row gets no class and is an error whichever "
        f"class it has. Ours is {own['auc'].mean():.4f}."
    )


def truth_words(pooled: pd.DataFrame, replicates: int) -> str:
    """Which estimate is nearer to the truth."""
    own: Any = pooled[pooled["measure"] == "balanced accuracy"].set_index("scheme")
    told = "; ".join(
        f"{scheme} {line['bias']:+.4f} ({line['bias_low']:+.4f} to {line['bias_high']:+.4f}), error {line['rmse']:.4f}"
        for scheme, line in own.iterrows()
    )
    nearest = " and ".join(own.index[own["rmse"] < own["rmse"].min() + _ALIKE])
    least = own["bias"].abs().idxmin()
    more = [scheme for scheme in (LITERAL, SHUFFLED) if own.loc[scheme, "fold_bias_low"] > own.loc[SCV, "fold_bias_high"]]
    reason = f" Clearly above SCV: {' and '.join(more)}, whose test cases have neighbours in the training part by construction."
    return (
        f"On simulated problems with a known truth ({replicates} samples in all) the mean bias of the balanced accuracy "
        "against that of the learner trained on all rows was, with the root mean square error (mean over problems and "
        f"learners): {told}. The smallest error seen has {nearest}, the smallest bias {least}; how sure this is, the claims "
        "below tell. Folds train on four fifths of the rows, which by itself lowers an estimate; against what the fold models "
        f"truly do the biases are {_fold_biases(own)}.{reason if more else ''}"
    )


def _fold_biases(own: Any) -> str:
    kept = [scheme for scheme in (SCV, LITERAL, SHUFFLED) if scheme in own.index]
    return ", ".join(f"{scheme} {own.loc[scheme, 'fold_bias']:+.4f}" for scheme in kept)


def open_words() -> str:
    """What cannot be known from the paper."""
    return (
        "Not known of the paper: its DOB-SCV folds and the distance behind them (KEEL's program multiplies by standard "
        "deviations where others divide), the distance and the random numbers of its SMOTE, and what its SMOTE did where a "
        "class has fewer than six training cases; ours then uses the neighbours that there are. It reports one run, so that "
        "single sets differ by chance."
    )
