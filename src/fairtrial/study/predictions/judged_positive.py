"""Which class is the positive one and how it was chosen, and scores that seem to be those of the other class."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fairtrial.study.predictions.prediction_roles import Roles

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Positives:
    """The positive class and the other one of each data set of two classes, and whether the positive one was given."""

    classes: Mapping[str, tuple[str, str]]
    given: bool = False
    turnable: bool = True
    """Whether another positive class would turn the scores: not where their columns name their classes."""

    @property
    def how(self) -> str:
        """How it was chosen."""
        return "as asked for" if self.given else "the second of two in their order"

    @property
    def words(self) -> str:
        """In a sentence; nothing where no data set has two classes.

        >>> Positives({"a": ("yes", "no")}).words
        "The positive class is 'yes' (the second of two in their order; --positive LABEL names another)."
        """
        if not self.classes:
            return ""
        labels = list(dict.fromkeys(label for label, _ in self.classes.values()))
        told = f"{labels[0]!r}"
        if len(labels) > 1:
            by_label = {label: [name for name, own in self.classes.items() if own[0] == label] for label in labels}
            told = ", ".join(f"{label!r} on {' and '.join(names)}" for label, names in by_label.items())
        how = self.how if self.given else f"{self.how}; --positive LABEL names another"
        return f"The positive class is {told} ({how})."

    @property
    def remedy(self) -> str:
        """What to do about scores of the other class."""
        if not self.turnable:
            return "check which class each column of scores belongs to"
        others = {other for _, other in self.classes.values()}
        return f"pass --positive {shlex.quote(others.pop()) if len(others) == 1 else 'LABEL'}"


def positives_of(classes: Mapping[str, tuple[list[str], int | None]], roles: Roles, given: bool) -> Positives:
    """From the classes of each data set and the place of the positive one."""
    found = {
        name: (texts[place], texts[1 - place])
        for name, (texts, place) in classes.items()
        if place is not None and len(texts) == 2
    }
    more = {name: (texts[place], "LABEL") for name, (texts, place) in classes.items() if place is not None and len(texts) > 2}
    lone = any(name is None for one in roles.models for name, _ in one.scores)
    return Positives(found | more, given, lone)


def worse_than_guessing(scores: pd.DataFrame, positives: Positives) -> pd.DataFrame:
    """The lines of AUCs whose interval lies wholly below one half, of data sets with a positive class."""
    low = (scores["measure"] == "auc") & (scores["high"].to_numpy(dtype=np.float64) < 0.5)
    return scores[low & scores["dataset"].isin(list(positives.classes))]


def guessing_notes(scores: pd.DataFrame, positives: Positives) -> list[str]:
    """A sentence for each of them."""
    several = scores["dataset"].nunique() > 1
    return [
        f"auc of {line['model']}{' on ' + str(line['dataset']) if several else ''}, {line['estimate']:.4g} (interval "
        f"{line['low']:.4g} to {line['high']:.4g}), is worse than guessing: perhaps the scores are those of the other class; "
        f"{positives.remedy}."
        for line in worse_than_guessing(scores, positives).to_dict("records")
    ]
