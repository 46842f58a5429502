"""Checks of the conditions: what the scores under noise are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fairtrial.report.checks.check import Finding, check, named, not_applicable, passed, raised
from fairtrial.report.checks.kept import under
from fairtrial.report.sections.naming import told_condition
from fairtrial.report.sentence import say, shown

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.study import Results
    from fairtrial.study.archive import ConditionFacts


@check(
    "FT017",
    title="Noise in the labels of the test part",
    looks_for="conditions under which the classes of test rows are not those of the data set",
    why="A learner that is right is then counted as wrong: the score falls by the noise itself, for good learners the "
    "most, and RLA and ELA mix what was learnt badly with what was measured badly.",
    remedy='declare class noise with part = "train" (the default); keep a change of the test labels for concept change, '
    "where it is meant",
    cite="Sáez, Luengo & Herrera 2016; Frénay & Verleysen 2014",
)
def noisy_test_labels(results: Results) -> Finding:
    """Truth that a condition has changed."""
    import pandas as pd

    changing = [each for each in results.archive.conditions if each.name != "clean"]
    if not changing:
        return not_applicable(say("No condition changes the data."))
    trials = results.trials()
    lines = [line for each in changing for line in _changed(results, under(trials, each), each)]
    if not lines:
        return passed(say("Scores are measured against the classes of the data set under every condition."))
    frame = pd.DataFrame(lines, columns=["condition", "data set", "test rows", "with another class"])
    frame["share"] = frame["with another class"] / frame["test rows"]
    worst = int(frame["share"].argmax())
    words = say(
        "{conditions} {verb} the classes of test rows: under {condition} a share of {share} of those of {dataset}.",
        conditions=named(frame["condition"]),
        verb="changes" if frame["condition"].nunique() == 1 else "change",
        condition=frame["condition"].iloc[worst],
        share=shown(frame, "checks-ft017", worst, "share"),
        dataset=frame["data set"].iloc[worst],
    )
    return raised(words, frame, share="{:.3f}")


def _changed(results: Results, trials: pd.DataFrame, condition: ConditionFacts) -> list[tuple[str, str, int, int]]:
    """Data sets of which a trial has test rows whose class is not that of the data set; one trial of each is looked at."""
    good = trials[trials["status"] == "ok"].drop_duplicates("dataset")
    codes = {each.name: each.codes for each in results.archive.datasets}
    found = []
    for name, one in zip(good["dataset"].astype(str), results.archive.predictions(good["trial"].tolist()), strict=True):
        changed = int(np.count_nonzero(one.truth != codes[name][one.rows]))
        if changed:
            found.append((told_condition(condition), name, len(one.rows), changed))
    return found
