"""Rules that predictions must obey, for files in memory and streamed files: refused with an error or noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.predictions.columns import format_label

LabelSource = Literal["file", "probabilities", "scores", "none"]

# Rounding each probability to two digits may move the sum by this much per class.
ROUNDING_TOLERANCE = 0.005 + 1e-9

EXACT_TOLERANCE = 1e-5

Y_TRUE_HINT = ", or name the column of the truth (--y-true) if it is another one"


class Notes:
    """Sentences about what was repaired or assumed; the same remark about several models becomes one sentence.

    >>> notes = Notes()
    >>> for name in ("tree", "rule"):
    ...     notes.add("{who} has no scores.", f"model {name!r}", "{who} have no scores.")
    >>> notes.sentences
    ("model 'tree' and model 'rule' have no scores.",)
    """

    _MAX_NAMED = 6

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, sentence: str, subject: str = "", plural: str = "") -> None:
        """Add a sentence once; `{who}` stands for its subjects, `plural` is the sentence for several of them."""
        self._entries.setdefault((sentence, plural), {})[subject] = None

    def extend(self, sentences: Iterable[str]) -> None:
        """Add several sentences."""
        for sentence in sentences:
            self.add(sentence)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences, in the order in which they were added first."""
        return tuple(self._format_entry(*forms, list(subjects)) for forms, subjects in self._entries.items())

    def _format_entry(self, sentence: str, plural: str, subjects: list[str]) -> str:
        # Only the first placeholder is filled, and none without a subject: other braces may be part of the user's names.
        if len(subjects) == 1:
            return sentence.replace("{who}", subjects[0], 1) if subjects[0] else sentence
        n_more = len(subjects) - self._MAX_NAMED
        names = subjects[: self._MAX_NAMED] + ([f"{n_more} more"] if n_more > 0 else [])
        return (plural or sentence).replace("{who}", f"{', '.join(names[:-1])} and {names[-1]}", 1)


def check_labels(true_labels: Sequence[Any]) -> None:
    """Check that true values are labels, not numbers with a fractional part."""
    fraction = next((label for label in true_labels if isinstance(label, float)), None)
    if fraction is not None:
        raise InputError(
            f"the truth must hold classes, got {fraction:g}: for predicted numbers see fairtrial.measures.regression"
        )


def check_classes(true_labels: Sequence[str], where: str) -> None:
    """Check that at least two classes occur among the true labels."""
    if len(true_labels) < 2:
        raise InputError(
            f"the truth{where} must hold at least 2 classes, got only {true_labels[0]!r}: there is nothing to tell apart"
        )


def check_predicted(true_labels: Sequence[str], predicted: Sequence[str], subject: str, notes: Notes) -> None:
    """Compare predicted with true labels: note an unknown label, refuse a misspelled one."""
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


def resolve_positive_index(texts: Sequence[str], positive: object, dataset: str) -> int | None:
    """Find the index of the positive class: the given one, which every data set must have, else the second of two."""
    if positive is None:
        return 1 if len(texts) == 2 else None
    if str(positive) not in texts:
        raise InputError(
            f"positive must be a class of data set {dataset!r}, got {positive!r}: {suggest_name(positive, list(texts))}"
        )
    return list(texts).index(str(positive))


def choose_condition(conditions: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Choose one of several conditions (name first): the unperturbed one, else the first in sort order."""
    return min(conditions, key=lambda condition: (str(condition[0]) != "clean", *map(str, condition)))


def note_condition(n_conditions: int, lines: int, condition: Sequence[Any], notes: Notes) -> None:
    """Note that only one of several conditions is judged."""
    condition_text = " at level ".join(format_label(value) for value in condition)
    notes.add(f"The file holds {n_conditions} conditions: only the {lines:,} lines of {condition_text} are judged.")


def note_first_prediction(notes: Notes) -> None:
    """Note that the first of several predictions of a row is judged."""
    notes.add(
        "Rows are predicted several times: tables and paired tests use the first prediction of each row, for the same row "
        "counted again would look like more evidence than there is."
    )


def note_duplicate_labels(duplicates: Mapping[str, str], subject: str, notes: Notes) -> None:
    """Note that predicted labels are other spellings of the true ones."""
    listing = ", ".join(f"{label!r} is {true_label!r}" for label, true_label in sorted(duplicates.items()))
    text = f"other names for the labels of the truth, which is understood: {listing}."
    notes.add(f"{{who}} uses {text}", subject, f"{{who}} use {text}")


def note_missing_labels(n_missing: int, rows: int, subject: str, notes: Notes) -> None:
    """Note how many rows a model leaves without a label."""
    if n_missing:
        text = f"no label to {n_missing:,} of {rows:,} rows: abstentions, which count as errors."
        notes.add(f"{{who}} gives {text}", subject, f"{{who}} each give {text}")


def note_label_source(kind: str, single_column: bool, has_no_cut: bool, subject: str, notes: Notes) -> LabelSource:
    """Note how predicted labels are obtained if the file has none, and return their source."""
    if kind == "probability":
        prefix = "The file has no labels of {who}: they are "
        notes.add(f"{prefix}its most likely classes.", subject, f"{prefix}their most likely classes.")
        return "probabilities"
    if has_no_cut:
        notes.add(
            "The file has no labels of {who}, and its scores have no zero to cut at: measures of labels are left out.",
            subject,
            "The file has no labels of {who}, and their scores have no zero to cut at: measures of labels are left out.",
        )
        return "none"
    how = "scores are cut at zero" if single_column else "they are the classes with the highest scores"
    notes.add(f"The file has no labels of {{who}}: {how}.", subject)
    return "scores"


def note_zero_scores(n_zero: int, rows: int, subject: str, notes: Notes) -> None:
    """Note scores that sum to one except for rows of zeros, which a learner writes if it abstains."""
    notes.add(
        f"Scores of {subject} are all zero in {n_zero:,} of {rows:,} lines and sum to one in the others: they are taken as "
        "scores, not as probabilities, and measures of probabilities are left out."
    )
