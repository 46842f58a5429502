"""Checks of predictions, whether in memory or streamed.

A failed check raises an error or adds a note.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import join_names
from fairtrial.errors import InputError
from fairtrial.predictions.columns import find_usual_positive, format_label

LabelSource = Literal["file", "probabilities", "scores", "threshold", "none"]

LABEL_NOTES = ("labels_from_probabilities", "labels_from_scores", "labels_from_signs", "no_labels")

# If probabilities are rounded to two decimal places, rounding can change their sum by this much per class.
ROUNDING_TOLERANCE = 0.005 + 1e-9

EXACT_TOLERANCE = 1e-5

# The column that `fairtrial export` writes for a study with several resampling schemes.
SCHEME_COLUMN = "resampling"

USUAL_THRESHOLD = 0.5
"""With two classes, the positive class is predicted by default if its probability is at least this threshold."""

# If a model has at most this many unknown labels, each label has its own note.
_MAX_UNKNOWN_NOTES = 3


def suggest_y_true() -> str:
    """Return a hint to name the column of true labels, for the end of an error message."""
    return f", or pass {name_argument('y_true', 'COLUMN')} if another column has the true labels"


class Subject(NamedTuple):
    """The model that a message is about, and its data set if the file contains several data sets.

    >>> str(Subject("tree", "iris"))
    "model 'tree' on 'iris'"
    """

    model: str
    dataset: str = ""

    def __str__(self) -> str:
        return f"model {self.model!r}" + (f" on {self.dataset!r}" if self.dataset else "")


_NOBODY = Subject("")


class Notes:
    """Collection of notes on repairs and assumptions.

    Notes that differ only in the model are merged. A merged note lists the models in `models`. If the notes name data sets, the
    merged note lists them in `datasets`.

    >>> notes = Notes()
    >>> for name in ("tree", "rule"):
    ...     notes.add("labels_from_probabilities", Subject(name))
    >>> notes.findings[0]["models"]
    ('tree', 'rule')
    """

    def __init__(self) -> None:
        self._entries: dict[Finding, dict[str, dict[str, None]]] = {}

    def add(self, kind: str, subject: Subject = _NOBODY, **values: Any) -> None:
        """Add a note on a subject. `Subject("", dataset)` refers to a whole data set."""
        self._entries.setdefault(Finding(kind, values), {}).setdefault(subject.model, {})[subject.dataset] = None

    def extend(self, findings: Iterable[Finding]) -> None:
        """Add several notes, some of which may already be merged."""
        for finding in findings:
            values = {name: value for name, value in finding.values.items() if name not in ("models", "datasets")}
            for model in finding.values.get("models", ("",)):
                for dataset in finding.values.get("datasets", ("",)):
                    self.add(finding.kind, Subject(model, dataset), **values)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All notes, in the order in which they were first added."""
        return self.merge()

    def merge(self, with_datasets: bool = True) -> tuple[Finding, ...]:
        """Merge notes that differ only in the model. Data sets are named only if `with_datasets` is true."""
        merged = []
        for finding, by_model in self._entries.items():
            groups: dict[tuple[str, ...], list[str]] = {}
            for model, datasets in by_model.items():
                groups.setdefault(tuple(filter(None, datasets)) if with_datasets else (), []).append(model)
            for group_datasets, models in groups.items():
                subjects: dict[str, tuple[str, ...]] = {}
                if any(models):
                    subjects["models"] = tuple(models)
                if group_datasets:
                    subjects["datasets"] = group_datasets
                merged.append(Finding(finding.kind, {**subjects, **finding.values}))
        return tuple(merged)


def check_labels(true_labels: Sequence[Any]) -> None:
    """Check that the true labels are classes, not numbers with a fractional part."""
    fraction = next((label for label in true_labels if isinstance(label, float)), None)
    if fraction is not None:
        raise InputError(
            f"y_true must contain class labels, got the number {fraction:g}: fairtrial.measures.regression judges predicted "
            "numbers"
        )


def check_classes(true_labels: Sequence[str], where: str) -> None:
    """Check that at least two classes occur among the true labels."""
    if len(true_labels) < 2:
        raise InputError(
            f"y_true{where} must contain at least 2 classes, got only {true_labels[0]!r}: add rows of another class"
        )


def check_predicted(true_labels: Sequence[str], predicted: Sequence[str], subject: Subject, notes: Notes) -> None:
    """Check predicted labels against the true labels.

    A note is added for unknown labels and for classes that are never predicted. An error is raised if labels seem to be
    misspelled or encoded differently.
    """
    unknown = [label for label in predicted if label not in true_labels]
    if unknown and len(unknown) == len(predicted):
        raise InputError(
            f"predicted labels of {subject} must be labels of y_true ({join_names(true_labels)}), got only others such "
            f"as {unknown[0]!r}: convert the labels"
        )
    never_predicted = [label for label in true_labels if label not in predicted]
    if unknown and never_predicted and _is_shifted(true_labels, predicted):
        raise InputError(
            f"predicted labels of {subject} must be labels of y_true ({join_names(true_labels)}), got {unknown[0]!r} and never "
            f"{never_predicted[0]!r}: the codes of the classes differ, so convert the labels"
        )
    folded = {label.strip().lower(): label for label in true_labels}
    for label in unknown:
        true_label = folded.get(label.strip().lower())
        if true_label is not None:
            raise InputError(
                f"predicted labels of {subject} must be labels of y_true, got {label!r}: {suggest_name(label, [true_label])}"
            )
    if len(unknown) > _MAX_UNKNOWN_NOTES:
        notes.add("unknown_labels", subject, labels=len(unknown), example=unknown[0])
    else:
        for label in unknown:
            notes.add("unknown_label", subject, label=label)
    for label in never_predicted:
        notes.add("class_never_predicted", subject, label=label)


def _is_shifted(true_labels: Sequence[str], predicted: Sequence[str]) -> bool:
    """Return whether the predicted labels seem to encode the true classes differently, e.g. as 1 and 2 instead of 0 and 1.

    This requires that all labels are whole numbers. Unless there are two classes, the predicted labels must also equal the true
    labels plus or minus one.
    """
    if not all(label.removeprefix("-").isdigit() for label in (*true_labels, *predicted)):
        return False
    codes, predicted_codes = ({int(label) for label in labels} for labels in (true_labels, predicted))
    return len(codes) == 2 or any(predicted_codes == {code + step for code in codes} for step in (-1, 1))


def choose_positive(texts: Sequence[str], scored_class: str | None) -> tuple[int | None, str]:
    """Choose the positive class, and return its index and the reason. The index is None unless there are two classes.

    The class named by the score columns (`scored_class`) is positive. If the score columns do not name a class, a class with a
    typical positive name, such as "yes", is positive. Otherwise, the second class in sort order is positive.

    >>> choose_positive(["fraud", "legit"], None), choose_positive(["a", "b"], "a"), choose_positive(["a", "b"], None)
    ((0, 'inferred from its name'), (0, 'named by the score columns'), (1, 'second in sort order'))
    """
    if len(texts) != 2:
        return None, ""
    if scored_class in texts:
        return list(texts).index(str(scored_class)), "named by the score columns"
    usual = find_usual_positive(texts)
    return (1, "second in sort order") if usual is None else (list(texts).index(usual), "inferred from its name")


def resolve_positive_index(texts: Sequence[str], positive: object, dataset: str, scored_class: str | None = None) -> int | None:
    """Return the index of the class `positive`. If `positive` is None, `choose_positive` chooses the class."""
    if positive is None:
        return choose_positive(texts, scored_class)[0]
    if str(positive) not in texts:
        raise InputError(
            f"positive must be a class of data set {dataset!r}, got {positive!r}: {suggest_name(positive, list(texts))}"
        )
    return list(texts).index(str(positive))


def choose_condition(conditions: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Choose the unperturbed condition or, if there is none, the first condition in sort order.

    The first entry of each condition is its name.
    """
    return min(conditions, key=lambda condition: (str(condition[0]) != "clean", *map(str, condition)))


def choose_scheme(scheme: str | None, columns: Collection[str], list_schemes: Callable[[], Iterable[Any]]) -> str | None:
    """Choose which resampling scheme of an exported study is judged. Return None if all lines are judged.

    All schemes of a study contain predictions for the same rows, so only one scheme may be used.
    """
    if SCHEME_COLUMN not in columns:
        if scheme is not None:
            raise InputError(f"scheme must be omitted for a file without a column {SCHEME_COLUMN!r}, got {scheme!r}: remove it")
        return None
    if scheme is None and not {"repeat", "fold"} <= set(columns):
        return None  # not an export of a study
    schemes = sorted(map(format_label, list_schemes()))
    if scheme is not None and scheme not in schemes:
        raise InputError(f"scheme must be a resampling scheme of the file, got {scheme!r}: {suggest_name(scheme, schemes)}")
    if scheme is None and len(schemes) > 1:
        remedy = f"judge one of them with {name_argument('scheme', schemes[0])}"
        raise InputError(f"the file must have one resampling scheme, got {join_names(schemes)}: {remedy}")
    return scheme


def note_condition(n_conditions: int, lines: int, condition: Sequence[Any], notes: Notes) -> None:
    """Add a note that only one of several conditions is judged."""
    name = " ".join(format_label(value) for value in condition)
    notes.add("several_conditions", conditions=n_conditions, lines=lines, condition=name)


def note_duplicate_labels(duplicates: Mapping[str, str], subject: Subject, notes: Notes) -> None:
    """Add a note that predicted labels are spelled differently from the true labels."""
    aliases = tuple(f"{label} = {true_label}" for label, true_label in sorted(duplicates.items()))
    notes.add("matched_labels", subject, aliases=aliases)


def note_dropped_rows(rows: int, total: int, notes: Notes) -> None:
    """Add a note on the number of incomplete rows that were removed. Raise an error if no row is left."""
    if rows == total:
        raise InputError(f"the file must contain complete rows, got missing values in all {total:,} rows: fill the cells")
    notes.add("dropped_missing", rows=rows, total=total)


def note_duplicated_lines(lines: int, distinct_lines: int, distinct_scores: int, notes: Notes) -> None:
    """Add a note on duplicate lines, unless numbers are so coarse that equal lines are expected.

    `distinct_scores` is the number of distinct combinations of values in the columns of floating-point numbers. If this number
    is small, or if lines with the same combination differ in other columns, equal lines may be distinct rows.
    """
    coincidences = distinct_lines - distinct_scores
    is_fine = distinct_scores >= 0.99 * distinct_lines and distinct_scores >= lines / 4
    if is_fine and lines - distinct_lines > 20 * coincidences:
        notes.add("duplicated_lines", lines=lines - distinct_lines)


def note_missing_labels(n_missing: int, rows: int, subject: Subject, notes: Notes) -> None:
    """Add a note on the number of missing predicted labels of a model."""
    if n_missing:
        notes.add("missing_labels", subject, missing=n_missing, rows=rows)


def note_label_source(kind: str, single_column: bool, has_no_threshold: bool, subject: Subject, notes: Notes) -> LabelSource:
    """Add a note on how predicted labels are derived from scores, and return their source."""
    if kind == "probability":
        notes.add("labels_from_probabilities", subject)
        return "probabilities"
    if has_no_threshold:
        notes.add("no_labels", subject)
        return "none"
    notes.add("labels_from_signs" if single_column else "labels_from_scores", subject)
    return "scores"
