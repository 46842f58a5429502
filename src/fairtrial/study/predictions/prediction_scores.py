"""Columns of scores as one matrix with a column for each class, and labels where a file has none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_checks import Notes, check_finite, probabilities_or_scores
from fairtrial.study.predictions.prediction_names import ModelColumns, called_probability

if TYPE_CHECKING:
    import pandas as pd

Source = Literal["file", "probabilities", "scores", "nowhere"]


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of every class, whether they are probabilities, and whether a lone column of another scale made them."""

    values: FloatArray
    kind: Literal["probability", "decision"]
    lone: bool = False


def scores_of(
    table: pd.DataFrame,
    one: ModelColumns,
    lines: IntArray,
    classes: list[str],
    positive: object,
    ids: npt.NDArray[Any],
    who: str,
    notes: Notes,
) -> Scores | None:
    """The scores of a model; None where it has none."""
    found = {name: _numbers(table[column].iloc[lines], column, who) for name, column in one.scores}
    names = dict(one.scores)
    # A class that a data set does not have leaves its column empty there, and a model without scores leaves all of them empty.
    found = {name: values for name, values in found.items() if not np.isnan(values).all()}
    if not found:
        return None
    for name, values in found.items():
        check_finite(values, names[name], ids, who)
    if set(found) == {None} or (len(found) == 1 and len(classes) == 2):
        name, values = next(iter(found.items()))
        place = _positive(classes, positive, who) if name is None else classes.index(name)
        return _lone(values, place, names[name], ids, who)
    missing = [each for each in classes if each not in found]
    if missing:
        raise InputError(
            f"scores of {who} must have a column for each class, got none for {missing[0]!r}: add it, or pass scores= as a "
            "mapping of class to column"
        )
    matrix = np.column_stack([found[each] for each in classes])
    matrix, probable = probabilities_or_scores(matrix, [names[each] for each in classes], ids, who, notes)
    return Scores(matrix, "probability" if probable else "decision")


def labels_of(given: IntArray | None, scores: Scores | None, who: str, notes: Notes) -> tuple[IntArray, Source]:
    """Predicted classes: those of the file, else those that the scores speak for; and where they come from.

    Where a model gives some lines labels, the others are abstentions (-1).
    """
    if given is not None and not (given < 0).all():
        return given, "file"
    if scores is None:
        raise InputError(f"{who} must have labels or scores, got neither: drop its lines")
    picked = scores.values.argmax(axis=1).astype(np.intp)
    whence = tell_labels(scores.kind, scores.lone, scores.lone and len(np.unique(picked)) < 2, who, notes)
    return picked, whence


def tell_labels(kind: str, lone: bool, uncut: bool, who: str, notes: Notes) -> Source:
    """Where labels come from that a file lacks."""
    if kind == "probability":
        tell_likely(who, notes)
        return "probabilities"
    if uncut:
        notes.tell(
            "The file has no labels of {who}, and its scores have no zero to cut at: measures of labels are left out.",
            who,
            "The file has no labels of {who}, and their scores have no zero to cut at: measures of labels are left out.",
        )
        return "nowhere"
    how = "scores are cut at zero" if lone else "they are the classes with the highest scores"
    notes.tell(f"The file has no labels of {{who}}: {how}.", who)
    return "scores"


def tell_likely(who: str, notes: Notes) -> None:
    """Labels were read off probabilities."""
    told = "The file has no labels of {who}: they are "
    notes.tell(f"{told}its most likely classes.", who, f"{told}their most likely classes.")


def _numbers(column: pd.Series[Any], name: str, who: str) -> FloatArray:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InputError(f"scores of {who} must be numbers, got text in column {name!r}: convert it, or name another") from None


def _positive(classes: list[str], positive: object, who: str) -> int:
    if positive is not None:
        if str(positive) not in classes:
            raise InputError(f"positive must be one of the classes, got {positive!r}: {did_you_mean(positive, classes)}")
        if len(classes) == 2:
            return classes.index(str(positive))
    if len(classes) != 2:
        raise InputError(
            f"scores of {who} must have a column for each of the {len(classes)} classes, got one column: name them "
            f"score[{classes[0]}], score[{classes[1]}] ..., or pass scores= as a mapping"
        )
    return 1


def _lone(values: FloatArray, place: int, column: str, ids: npt.NDArray[Any], who: str) -> Scores:
    """Scores of one of two classes: the other one's follow."""
    within = bool(((values >= 0) & (values <= 1)).all())
    if not within and called_probability(column):
        line = int(np.argmax((values < 0) | (values > 1)))
        raise InputError(
            f"probabilities of {who} must lie between 0 and 1, got {values[line]:g} at row {ids[line]!r}: "
            "call the column a score if it does not hold probabilities"
        )
    other = 1 - values if within else -values
    matrix = np.column_stack([other, values] if place == 1 else [values, other])
    return Scores(matrix, "probability" if within else "decision", lone=not within)
