"""What predictions must be like: each rule once, refused in a sentence or mended with a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_names import called_probability, label_text

# What rounding each probability to two digits may do to the sum, for each class.
ROUNDED = 0.005 + 1e-9
EXACT = 1e-5


class Notes:
    """Sentences about what was repaired or assumed, each once; what is said of several models is said in one sentence.

    >>> notes = Notes()
    >>> for name in ("tree", "rule"):
    ...     notes.tell("{who} has no scores.", f"model {name!r}", "{who} have no scores.")
    >>> notes.sentences
    ("model 'tree' and model 'rule' have no scores.",)
    """

    _MOST_NAMED = 6

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], dict[str, None]] = {}

    def tell(self, sentence: str, who: str = "", many: str = "") -> None:
        """Note it, unless it was noted before; `{who}` stands for those it is said of, `many` is how it reads of several."""
        self._told.setdefault((sentence, many), {})[who] = None

    def repeat(self, sentences: Iterable[str]) -> None:
        """Note what others said."""
        for sentence in sentences:
            self.tell(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, in the order first told."""
        return tuple(self._joined(*forms, list(who)) for forms, who in self._told.items())

    def _joined(self, sentence: str, many: str, who: list[str]) -> str:
        # Only the first place is filled, and none where nobody is named: the rest may be names of the user's.
        if len(who) == 1:
            return sentence.replace("{who}", who[0], 1) if who[0] else sentence
        left = len(who) - self._MOST_NAMED
        named = who[: self._MOST_NAMED] + ([f"{left} more"] if left > 0 else [])
        return (many or sentence).replace("{who}", f"{', '.join(named[:-1])} and {named[-1]}", 1)


def condition_of(found: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Of several conditions (each begins with its name) the one without a change, else the first in order."""
    return min(found, key=lambda each: (str(each[0]) != "clean", *map(str, each)))


def tell_condition(conditions: int, lines: int, wanted: Sequence[Any], notes: Notes) -> None:
    """One condition of several is judged."""
    named = " at level ".join(label_text(each) for each in wanted)
    notes.tell(f"The file holds {conditions} conditions: only the {lines:,} lines of {named} are judged.")


def tell_first(notes: Notes) -> None:
    """Of several predictions of a row the first is judged."""
    notes.tell(
        "Rows are predicted several times: tables and paired tests use the first prediction of each row, for the same row "
        "counted again would look like more evidence than there is."
    )


def tell_pooled(measure: str, notes: Notes) -> None:
    """Scores of several folds are put in one order."""
    notes.tell(f"{measure} pools the scores of models trained on different folds, as if they shared a scale.")


def check_labels(truths: Sequence[Any]) -> None:
    """True values are labels, not numbers with digits after the point."""
    broken = next((each for each in truths if isinstance(each, float)), None)
    if broken is not None:
        raise InputError(
            f"the truth must hold classes, got {broken:g}: for predicted numbers see fairtrial.measures.regression"
        )


def check_classes(truths: Sequence[str], where: str) -> None:
    """At least two classes are true somewhere."""
    if len(truths) < 2:
        raise InputError(
            f"the truth{where} must hold at least 2 classes, got only {truths[0]!r}: there is nothing to tell apart"
        )


def place_of_positive(texts: Sequence[str], positive: object, dataset: str) -> int | None:
    """The place of the positive class: the one named, which every data set must have, else the second of two."""
    if positive is None:
        return 1 if len(texts) == 2 else None
    if str(positive) not in texts:
        raise InputError(
            f"positive must be a class of data set {dataset!r}, got {positive!r}: {did_you_mean(positive, list(texts))}"
        )
    return list(texts).index(str(positive))


def tell_twins(twins: Mapping[str, str], who: str, notes: Notes) -> None:
    """Labels that are those of the truth in another guise."""
    listed = ", ".join(f"{label!r} is {twin!r}" for label, twin in sorted(twins.items()))
    told = f"other names for the labels of the truth, which is understood: {listed}."
    notes.tell(f"{{who}} uses {told}", who, f"{{who}} use {told}")


def check_predicted(truths: Sequence[str], predicted: Sequence[str], who: str, notes: Notes) -> None:
    """Predicted labels are those of the truth; another one is noted, a misspelt one refused."""
    unknown = [label for label in predicted if label not in truths]
    if unknown and len(unknown) == len(predicted):
        raise InputError(
            f"{who} must predict labels of the truth, got none: {unknown[0]!r} is not among {', '.join(truths)}: "
            "convert its labels"
        )
    folded = {label.strip().lower(): label for label in truths}
    for label in unknown:
        twin = folded.get(label.strip().lower())
        if twin is not None:
            raise InputError(f"{who} must predict labels of the truth, got {label!r}: {did_you_mean(label, [twin])}")
        told = f"{label!r}, which is never true: it counts as an error."
        notes.tell(f"{{who}} predicts {told}", who, f"{{who}} predict {told}")
    for label in truths:
        if label not in predicted:
            notes.tell(
                f"{{who}} never predicts {label!r}: its precision does not exist.",
                who,
                f"{{who}} never predict {label!r}: their precision does not exist.",
            )


def tell_silent(silent: int, rows: int, who: str, notes: Notes) -> None:
    """Rows without a label, of a model that gives others one."""
    if silent:
        told = f"no label to {silent:,} of {rows:,} rows: abstentions, which count as errors."
        notes.tell(f"{{who}} gives {told}", who, f"{{who}} each give {told}")


def check_once(places: IntArray, repeat: IntArray, fold: IntArray, row_ids: npt.NDArray[Any], who: str) -> None:
    """A model predicts a row once in each repeat and fold."""
    order = np.lexsort((fold, repeat, places))
    keys = np.column_stack([places, repeat, fold])[order]
    same = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    if len(same):
        raise InputError(
            f"{who} must predict each row once, got row {row_ids[keys[same[0], 0]]!r} more than once ({len(same)} such lines): "
            "drop the repeated lines, or number repeats and folds in columns of these names"
        )


OTHER_TRUTH = ", or name the column of the truth (--truth) if it is another one"


def agreed(
    places: IntArray, values: npt.NDArray[Any], row_ids: npt.NDArray[Any], what: str, column: str, remedy: str
) -> npt.NDArray[Any]:
    """The value of each row, which all of its lines must share."""
    found = np.empty(len(row_ids), dtype=values.dtype)
    found[places[::-1]] = values[::-1]
    apart = found[places] != values
    if apart.any():
        row = row_ids[places[int(np.argmax(apart))]]
        raise InputError(
            f"{what} must be the same in all lines of a row, got a difference at row {row!r} of column {column!r} "
            f"({int(apart.sum())} such lines): models are compared on the same cases, so check the row ids{remedy}"
        )
    return found


def check_finite(values: FloatArray, column: str, row_ids: npt.NDArray[Any], who: str) -> FloatArray:
    """Scores are numbers, and finite."""
    bad = ~np.isfinite(values)
    if bad.any():
        line = int(np.argmax(bad))
        told = "a missing score" if np.isnan(values[line]) else f"{values[line]}"
        raise InputError(
            f"scores of {who} must be finite numbers, got {told} in column {column!r} at row {row_ids[line]!r} "
            f"({int(bad.sum())} such lines): drop these lines or give them a score"
        )
    return values


def check_weights(values: FloatArray, column: str) -> FloatArray:
    """Weights are finite, not negative, not all zero."""
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        line = int(np.argmax(bad))
        raise InputError(
            f"weights must be finite and not negative, got {values[line]} in line {line + 1} of the column {column!r} "
            f"({int(bad.sum())} such lines)"
        )
    if not values.any():
        raise InputError(f"weights must not be zero everywhere, got nothing else in column {column!r}")
    return values


def tell_nothing(silent: int, rows: int, who: str, notes: Notes) -> None:
    """Scores that sum to one apart from rows of zeros, as a learner leaves them that abstains."""
    notes.tell(
        f"Scores of {who} are all zero in {silent:,} of {rows:,} lines and sum to one in the others: they are taken as scores, "
        "not as probabilities, and measures of probabilities are left out."
    )


def probabilities_or_scores(
    scores: FloatArray, columns: Sequence[str], row_ids: npt.NDArray[Any], who: str, notes: Notes
) -> tuple[FloatArray, bool]:
    """The scores, and whether they are probabilities: between 0 and 1, and summing to one, mended within rounding."""
    named = all(called_probability(column) for column in columns)
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        if named:
            line = int(np.argmax(outside.any(axis=1)))
            worst = scores[line][outside[line]][0]
            raise InputError(
                f"probabilities of {who} must lie between 0 and 1, got {worst:g} at row {row_ids[line]!r}: "
                "call the columns scores if they are not probabilities"
            )
        return scores, False
    sums = scores.sum(axis=1)
    off = np.abs(sums - 1)
    if (off <= EXACT).all():
        return scores, True
    if (off <= ROUNDED * scores.shape[1]).all():
        notes.tell(f"Probabilities of {who} sum to one only within rounding (off by up to {off.max():.2g}): they are rescaled.")
        return scores / sums[:, None], True
    line, near = int(np.argmax(off)), off <= ROUNDED * scores.shape[1]
    if not named and (near | (scores == 0).all(axis=1)).all():
        tell_nothing(int((~near).sum()), len(near), who, notes)
        return scores, False
    if named or near.mean() > 0.5:
        raise InputError(
            f"probabilities of {who} must sum to 1 in each row, got {sums[line]:.6g} at row {row_ids[line]!r} "
            f"({int((~near).sum())} such lines): normalise them, or call the columns scores if they "
            "are not probabilities"
        )
    notes.tell(
        f"Scores of {who} do not sum to one (row {row_ids[line]!r}: {sums[line]:.4g}): they are taken as scores, not as "
        "probabilities, and measures of probabilities are left out."
    )
    return scores, False
