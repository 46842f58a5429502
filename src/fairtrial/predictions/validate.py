"""What predictions must be like: each rule once, refused in a sentence or mended with a note."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.predictions.columns import format_label, is_named_probability

# What rounding each probability to two digits may do to the sum, for each class.
ROUNDING_TOLERANCE = 0.005 + 1e-9


EXACT_TOLERANCE = 1e-5


class Notes:
    """Sentences about what was repaired or assumed, each once; what is said of several models is said in one sentence.

    >>> notes = Notes()
    >>> for name in ("tree", "rule"):
    ...     notes.tell("{who} has no scores.", f"model {name!r}", "{who} have no scores.")
    >>> notes.sentences
    ("model 'tree' and model 'rule' have no scores.",)
    """

    _MAX_NAMED = 6

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, sentence: str, subject: str = "", plural: str = "") -> None:
        """Note it, unless it was noted before; `{who}` stands for those it is said of, `many` is how it reads of several."""
        self._entries.setdefault((sentence, plural), {})[subject] = None

    def extend(self, sentences: Iterable[str]) -> None:
        """Note what others said."""
        for sentence in sentences:
            self.add(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, in the order first told."""
        return tuple(self._format_entry(*forms, list(subjects)) for forms, subjects in self._entries.items())

    def _format_entry(self, sentence: str, plural: str, subjects: list[str]) -> str:
        # Only the first place is filled, and none where nobody is named: the rest may be names of the user's.
        if len(subjects) == 1:
            return sentence.replace("{who}", subjects[0], 1) if subjects[0] else sentence
        n_more = len(subjects) - self._MAX_NAMED
        names = subjects[: self._MAX_NAMED] + ([f"{n_more} more"] if n_more > 0 else [])
        return (plural or sentence).replace("{who}", f"{', '.join(names[:-1])} and {names[-1]}", 1)


def choose_condition(conditions: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Of several conditions (each begins with its name) the one without a change, else the first in order."""
    return min(conditions, key=lambda condition: (str(condition[0]) != "clean", *map(str, condition)))


def note_condition(n_conditions: int, lines: int, condition: Sequence[Any], notes: Notes) -> None:
    """One condition of several is judged."""
    condition_text = " at level ".join(format_label(value) for value in condition)
    notes.add(f"The file holds {n_conditions} conditions: only the {lines:,} lines of {condition_text} are judged.")


def note_first_prediction(notes: Notes) -> None:
    """Of several predictions of a row the first is judged."""
    notes.add(
        "Rows are predicted several times: tables and paired tests use the first prediction of each row, for the same row "
        "counted again would look like more evidence than there is."
    )


def note_pooled(measure: str, notes: Notes) -> None:
    """Scores of several folds are put in one order."""
    notes.add(f"{measure} pools the scores of models trained on different folds, as if they shared a scale.")


def check_labels(true_labels: Sequence[Any]) -> None:
    """True values are labels, not numbers with digits after the point."""
    fraction = next((label for label in true_labels if isinstance(label, float)), None)
    if fraction is not None:
        raise InputError(
            f"the truth must hold classes, got {fraction:g}: for predicted numbers see fairtrial.measures.regression"
        )


def check_classes(true_labels: Sequence[str], where: str) -> None:
    """At least two classes are true somewhere."""
    if len(true_labels) < 2:
        raise InputError(
            f"the truth{where} must hold at least 2 classes, got only {true_labels[0]!r}: there is nothing to tell apart"
        )


def resolve_positive_index(texts: Sequence[str], positive: object, dataset: str) -> int | None:
    """The place of the positive class: the one named, which every data set must have, else the second of two."""
    if positive is None:
        return 1 if len(texts) == 2 else None
    if str(positive) not in texts:
        raise InputError(
            f"positive must be a class of data set {dataset!r}, got {positive!r}: {suggest_name(positive, list(texts))}"
        )
    return list(texts).index(str(positive))


def note_duplicate_labels(duplicates: Mapping[str, str], subject: str, notes: Notes) -> None:
    """Labels that are those of the truth in another guise."""
    listing = ", ".join(f"{label!r} is {true_label!r}" for label, true_label in sorted(duplicates.items()))
    text = f"other names for the labels of the truth, which is understood: {listing}."
    notes.add(f"{{who}} uses {text}", subject, f"{{who}} use {text}")


def check_predicted(true_labels: Sequence[str], predicted: Sequence[str], subject: str, notes: Notes) -> None:
    """Predicted labels are those of the truth; another one is noted, a misspelt one refused."""
    unknown = [label for label in predicted if label not in true_labels]
    if unknown and len(unknown) == len(predicted):
        raise InputError(
            f"{subject} must predict labels of the truth, got none: {unknown[0]!r} is not among {', '.join(true_labels)}: "
            "convert its labels"
        )
    folded = {label.strip().lower(): label for label in true_labels}
    for label in unknown:
        true_label = folded.get(label.strip().lower())
        if true_label is not None:
            raise InputError(f"{subject} must predict labels of the truth, got {label!r}: {suggest_name(label, [true_label])}")
        text = f"{label!r}, which is never true: it counts as an error."
        notes.add(f"{{who}} predicts {text}", subject, f"{{who}} predict {text}")
    for label in true_labels:
        if label not in predicted:
            notes.add(
                f"{{who}} never predicts {label!r}: its precision does not exist.",
                subject,
                f"{{who}} never predict {label!r}: their precision does not exist.",
            )


def note_missing_labels(n_missing: int, rows: int, subject: str, notes: Notes) -> None:
    """Rows without a label, of a model that gives others one."""
    if n_missing:
        text = f"no label to {n_missing:,} of {rows:,} rows: abstentions, which count as errors."
        notes.add(f"{{who}} gives {text}", subject, f"{{who}} each give {text}")


def check_predicted_once(
    row_indices: IntArray, repeat: IntArray, fold: IntArray, row_ids: npt.NDArray[Any], subject: str
) -> None:
    """A model predicts a row once in each repeat and fold."""
    order = np.lexsort((fold, repeat, row_indices))
    keys = np.column_stack([row_indices, repeat, fold])[order]
    same = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    if len(same):
        raise InputError(
            f"{subject} must predict each row once, got row {row_ids[keys[same[0], 0]]!r} more than once ({len(same)} such lines): "
            "drop the repeated lines, or number repeats and folds in columns of these names"
        )


Y_TRUE_HINT = ", or name the column of the truth (--truth) if it is another one"


def require_agreement(
    row_indices: IntArray, values: npt.NDArray[Any], row_ids: npt.NDArray[Any], description: str, column: str, remedy: str
) -> npt.NDArray[Any]:
    """The value of each row, which all of its lines must share."""
    row_values = np.empty(len(row_ids), dtype=values.dtype)
    row_values[row_indices[::-1]] = values[::-1]
    differs = row_values[row_indices] != values
    if differs.any():
        row = row_ids[row_indices[int(np.argmax(differs))]]
        raise InputError(
            f"{description} must be the same in all lines of a row, got a difference at row {row!r} of column {column!r} "
            f"({int(differs.sum())} such lines): models are compared on the same cases, so check the row ids{remedy}"
        )
    return row_values


def check_finite(values: FloatArray, column: str, row_ids: npt.NDArray[Any], subject: str) -> FloatArray:
    """Scores are numbers, and finite."""
    bad = ~np.isfinite(values)
    if bad.any():
        line = int(np.argmax(bad))
        problem = "a missing score" if np.isnan(values[line]) else f"{values[line]}"
        raise InputError(
            f"scores of {subject} must be finite numbers, got {problem} in column {column!r} at row {row_ids[line]!r} "
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


def note_zero_scores(n_zero: int, rows: int, subject: str, notes: Notes) -> None:
    """Scores that sum to one apart from rows of zeros, as a learner leaves them that abstains."""
    notes.add(
        f"Scores of {subject} are all zero in {n_zero:,} of {rows:,} lines and sum to one in the others: they are taken as scores, "
        "not as probabilities, and measures of probabilities are left out."
    )


def check_probabilities(
    scores: FloatArray, columns: Sequence[str], row_ids: npt.NDArray[Any], subject: str, notes: Notes
) -> tuple[FloatArray, bool]:
    """The scores, and whether they are probabilities: between 0 and 1, and summing to one, mended within rounding."""
    is_named = all(is_named_probability(column) for column in columns)
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        if is_named:
            line = int(np.argmax(outside.any(axis=1)))
            worst = scores[line][outside[line]][0]
            raise InputError(
                f"probabilities of {subject} must lie between 0 and 1, got {worst:g} at row {row_ids[line]!r}: "
                "call the columns scores if they are not probabilities"
            )
        return scores, False
    sums = scores.sum(axis=1)
    deviation = np.abs(sums - 1)
    if (deviation <= EXACT_TOLERANCE).all():
        return scores, True
    if (deviation <= ROUNDING_TOLERANCE * scores.shape[1]).all():
        notes.add(
            f"Probabilities of {subject} sum to one only within rounding (off by up to {deviation.max():.2g}): they are rescaled."
        )
        return scores / sums[:, None], True
    line, is_near = int(np.argmax(deviation)), deviation <= ROUNDING_TOLERANCE * scores.shape[1]
    if not is_named and (is_near | (scores == 0).all(axis=1)).all():
        note_zero_scores(int((~is_near).sum()), len(is_near), subject, notes)
        return scores, False
    if is_named or is_near.mean() > 0.5:
        raise InputError(
            f"probabilities of {subject} must sum to 1 in each row, got {sums[line]:.6g} at row {row_ids[line]!r} "
            f"({int((~is_near).sum())} such lines): normalise them, or call the columns scores if they "
            "are not probabilities"
        )
    notes.add(
        f"Scores of {subject} do not sum to one (row {row_ids[line]!r}: {sums[line]:.4g}): they are taken as scores, not as "
        "probabilities, and measures of probabilities are left out."
    )
    return scores, False
