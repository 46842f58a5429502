"""Checks of the data sets: imbalance, tiny classes, published damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.cache import get_verdict_measure, has_only_predictions
from fairtrial.report.check import CheckFinding, check, join_unique_names, report_not_applicable, report_passed, report_raised
from fairtrial.report.names import format_measure_name
from fairtrial.report.section import build_sentence, format_number

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results

IMBALANCED = 3.0
"""Largest class over smallest: from here on, of two classes, the trivial classifier is right in three cases of four."""
FOLLOWS_THE_LARGEST = ("accuracy", "error_rate")
"""Measures in which each class weighs as much as it has cases, and that do not subtract what chance would give."""
TINY = 10
"""Cases of a class below which a rate over them moves by ten points or more with one case."""
CORRUPTED_PREFIX = "these are the damaged data of"
"""How the note of a data set begins that is recognised as a damaged one."""


@check(
    "FT002",
    title="Accuracy on imbalanced data",
    looks_for=f"a verdict on accuracy or error rate where the largest class has at least {IMBALANCED:g} times the cases of the "
    "smallest",
    why="A classifier that always names the largest class has a high accuracy there, and a difference on the small class, "
    "often the one that matters, hardly shows in it.",
    remedy="judge by balanced_accuracy, kappa, mcc, g_mean, auc or h_measure: [verdict] measure in the study",
    cite="Japkowicz & Shah 2011; He & Garcia 2009",
)
def accuracy_on_imbalance(results: Results) -> CheckFinding:
    """Judged by accuracy although classes are far from equal."""
    measure = get_verdict_measure(results).name
    if measure not in FOLLOWS_THE_LARGEST:
        return report_passed(
            build_sentence("The study is judged by {measure}, not by accuracy.", measure=format_measure_name(measure))
        )
    frame = _compute_imbalance(results)
    frame = frame[frame["imbalance ratio"] >= IMBALANCED].reset_index(drop=True)
    if frame.empty:
        return report_passed(
            build_sentence(
                "No data set is far from equal classes, so that {measure} will do.", measure=format_measure_name(measure)
            )
        )
    worst = int(frame["imbalance ratio"].argmax())
    sentence = build_sentence(
        "The study is judged by {measure}, but {sets} {be} imbalanced: on {worst} naming always the largest class has an "
        "accuracy of {share}.",
        measure=format_measure_name(measure),
        sets=join_unique_names(frame["data set"]),
        be="is" if len(frame) == 1 else "are",
        worst=frame["data set"].iloc[worst],
        share=format_number(frame, "checks-ft002", worst, "proportion of the largest"),
    )
    return report_raised(sentence, frame, **{"imbalance ratio": "{:.1f}", "proportion of the largest": "{:.3f}"})


def _compute_imbalance(results: Results) -> pd.DataFrame:
    import pandas as pd

    lines = []
    for facts in results.archive.datasets:
        counts = facts.counts[facts.counts > 0]
        if len(counts):
            ratio, proportion = float(counts.max() / counts.min()), float(counts.max() / counts.sum())
            lines.append((facts.name, int(counts.sum()), int(counts.min()), ratio, proportion))
    columns = ["data set", "rows", "cases of the smallest class", "imbalance ratio", "proportion of the largest"]
    return pd.DataFrame(lines, columns=columns)


@check(
    "FT003",
    title="Tiny classes",
    looks_for=f"classes with fewer cases than there are folds, or with fewer than {TINY}",
    why="Some test parts then lack the class altogether, so that measures of it do not exist there, and a rate over a few "
    "cases moves by a large step with each.",
    remedy="take fewer folds, pool the test rows of a repeat (scores(..., pooled=True)), or leave the class or the data "
    "set out",
    cite="Forman & Scholz 2010",
)
def tiny_classes(results: Results) -> CheckFinding:
    """Classes too small for their folds."""
    import pandas as pd

    lines = []
    for facts in results.archive.datasets:
        folds = _count_folds(results, facts.name)
        limit = max(TINY, folds if folds < len(facts.codes) else 0)  # leaving one out, every class is smaller
        small = np.flatnonzero((facts.counts > 0) & (facts.counts < limit))
        lines += [(facts.name, str(facts.classes[index]), int(facts.counts[index]), folds) for index in small]
    if not lines:
        return report_passed(build_sentence("Every class has cases enough for the folds and for a rate over them."))
    frame = pd.DataFrame(lines, columns=["data set", "class", "cases", "folds"])
    least = int(frame["cases"].argmin())
    sentence = build_sentence(
        "Classes of {sets} are tiny: the class {name} of {worst} has {cases} {noun}.",
        sets=join_unique_names(frame["data set"]),
        name=frame["class"].iloc[least],
        worst=frame["data set"].iloc[least],
        cases=format_number(frame, "checks-ft003", least, "cases", "{:d}"),
        noun="case" if frame["cases"].iloc[least] == 1 else "cases",
    )
    return report_raised(sentence, frame)


def _count_folds(results: Results, dataset: str) -> int:
    """How many folds a repeat of the data set has at most."""
    trials = results.trials()
    fold_keys = trials.loc[trials["dataset"] == dataset, ["repeat", "fold"]].drop_duplicates()
    return int(fold_keys.groupby("repeat").size().max()) if len(fold_keys) else 0


@check(
    "FT005",
    title="Known-bad data",
    looks_for="data sets whose values are those of published files that are known to be damaged",
    why="Some files that circulate have lost their decimal points or have wrong classes: what is learnt from them says "
    "nothing of the problem that they are named after.",
    remedy="take the data from the source that the note names",
    cite="Sambasivan et al. 2021",
)
def known_bad_data(results: Results) -> CheckFinding:
    """Data sets with a note of damage."""
    import pandas as pd

    datasets = results.archive.datasets
    if has_only_predictions(results) or all(not dataset.facts for dataset in datasets):
        return report_not_applicable(build_sentence("Nothing is known of the attributes and of where they come from."))
    lines = [
        (dataset.name, note)
        for dataset in datasets
        for note in list_notes(dataset.facts.get("notes"))
        if note.startswith(CORRUPTED_PREFIX)
    ]
    if not lines:
        return report_passed(
            build_sentence("No data set is among the damaged ones that are known; damage that is not known cannot be seen.")
        )
    frame = pd.DataFrame(lines, columns=["data set", "note"])
    sentence = build_sentence(
        "{sets} {be} known to be damaged.", sets=join_unique_names(frame["data set"]), be="is" if len(frame) == 1 else "are"
    )
    return report_raised(sentence, frame)


def list_notes(notes: object) -> list[str]:
    """The notes of a data set, which are a list or one text.

    >>> list_notes("one"), list_notes(None)
    (['one'], [])
    """
    if not notes:
        return []
    return [notes] if isinstance(notes, str) else [str(note) for note in notes]  # type: ignore[attr-defined]
