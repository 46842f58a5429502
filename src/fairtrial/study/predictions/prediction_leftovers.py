"""Columns that were not understood though they hold classes: why they are left alone, or that they must be mended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_names import label_texts

if TYPE_CHECKING:
    import pandas as pd


def why_left_alone(frame: pd.DataFrame, unused: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """The reason for each column that seems to hold labels; others need none.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"svm": ["yes", "no", "maybe"], "colour": ["red", "blue", "red"], "again": ["yes", "no", "no"]})
    >>> why_left_alone(table, ["svm", "colour", "again"], ["yes", "no"])
    {'svm': "its label 'maybe' is no class of the truth", 'again': 'the file has another column of labels'}
    """
    found = {}
    for column in unused:
        labels = label_texts(frame[column])
        unknown = [label for label in labels if label not in classes]
        known = len(labels) - len(unknown)
        if known and not unknown:
            found[column] = "the file has another column of labels"
        elif known and len(unknown) <= known:
            found[column] = f"its label {unknown[0]!r} is no class of the truth"
    return found


def check_misspelt(frame: pd.DataFrame, free: Sequence[str], classes: Sequence[str], truth: str) -> None:
    """Text that would be predicted labels but for one that is never true: say which."""
    for column in free:
        found = label_texts(frame[column]) if frame[column].dtype.kind not in "iuf" else []
        unknown = [label for label in found if label not in classes]
        folded = {label.lower() for label in classes} & {label.lower() for label in found}
        if unknown and folded:
            raise InputError(
                f"predicted labels must be those of the truth {truth!r} ({', '.join(classes[:6])}), got {unknown[0]!r} in "
                f"column {column!r}: {did_you_mean(unknown[0], classes)}; or pass prediction={column!r} to count it as a class"
            )
