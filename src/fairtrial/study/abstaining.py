"""Rows that a learner gives no class: the label that says so, what a trial notes of them, and how many a study has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fairtrial._check import IntArray
from fairtrial.significance.scores import counted
from fairtrial.study.evidence import ABSTAINED

if TYPE_CHECKING:
    import pandas as pd

_NOTE = re.compile(r"abstained on (\d+) of (\d+) test rows?: counted as errors(?:\n|$)")
_WITHIN = ("learner_", "best_estimator_")  # of a preparation, of a search for parameters


def abstention_of(fitted: Any) -> Any:
    """The label `abstention_` of a learner that abstains, also one within a preparation, a search or a pipeline; else None.

    >>> from fairtrial.learners import Chi, Prepared
    >>> abstention_of(Prepared(Chi()).fit([[0.0], [1.0]], ["no", "yes"]))
    '?'
    """
    while fitted is not None:
        label = getattr(fitted, "abstention_", None)
        if label is not None:
            return label
        steps = getattr(fitted, "steps", None)
        last = steps[-1][-1] if isinstance(steps, list) and steps else None
        fitted = next((getattr(fitted, name) for name in _WITHIN if hasattr(fitted, name)), last)
    return None


def abstention_note(prediction: IntArray) -> str | None:
    """What a trial notes of its abstentions; None where there are none.

    >>> import numpy as np
    >>> abstention_note(np.array([0, ABSTAINED, 1]))
    'abstained on 1 of 3 test rows: counted as errors'
    """
    silent = int((prediction == ABSTAINED).sum())
    rows = "test row" if len(prediction) == 1 else "test rows"
    return f"abstained on {silent} of {len(prediction)} {rows}: counted as errors" if silent else None


def without_abstentions(notes: object) -> str:
    """The notes of a trial apart from that.

    >>> without_abstentions("abstained on 1 of 3 test rows: counted as errors\\nUserWarning: late")
    'UserWarning: late'
    """
    if not isinstance(notes, str):
        return ""
    found = _NOTE.match(notes)
    return notes[found.end() :] if found else notes


def abstentions(trials: pd.DataFrame) -> pd.DataFrame:
    """A line for each learner that abstained: trials that went well, those with abstentions, their test rows, abstentions."""
    import pandas as pd

    good = trials[trials["status"] == "ok"]
    told = [_NOTE.match(notes) if isinstance(notes, str) else None for notes in good["notes"]]
    frame = pd.DataFrame(
        {
            "learner": good["learner"].astype(str).to_numpy(),
            "abstaining": [each is not None for each in told],
            "rows": [int(each[2]) if each else 0 for each in told],
            "abstained": [int(each[1]) if each else 0 for each in told],
        }
    )
    sums = frame.groupby("learner", sort=False).agg(
        trials=("abstaining", "size"), abstaining=("abstaining", "sum"), rows=("rows", "sum"), abstained=("abstained", "sum")
    )
    return sums[sums["abstained"] > 0].reset_index()


def abstention_sentences(trials: pd.DataFrame) -> list[str]:
    """A sentence for each learner that abstained."""
    return [
        f"{learner} abstained in {some:,} of {counted(every, 'trial')}, on {silent:,} of the {counted(rows, 'test row')} "
        "there: counted as errors"
        for learner, every, some, rows, silent in abstentions(trials).itertuples(index=False, name=None)
    ]
