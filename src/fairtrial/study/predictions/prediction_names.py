"""What the names of columns tell in a file of predictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# In small letters, without blanks, hyphens, dots and underscores; the earlier name goes first.
ALIASES = {
    "model": ("model", "learner", "algorithm", "classifier", "estimator", "method", "system"),
    "dataset": ("dataset", "data", "domain", "problem", "task"),
    "row": ("row", "rowid", "id", "index", "caseid", "case", "instance", "example", "sampleid", "itemid", "item"),
    "weight": ("weight", "weights", "sampleweight", "rowweight"),
    "repeat": ("repeat", "repetition", "rep", "run", "seed"),
    "fold": ("fold", "split"),
    "condition": ("condition",),
    "level": ("level",),
}
TRUTHS = (
    *("truth", "ytrue", "true", "truelabel", "trueclass", "actual", "groundtruth", "gold", "target", "observed", "outcome"),
    *("y", "class", "label"),
)
LABELS = (
    "prediction",
    "predicted",
    "ypred",
    "pred",
    "predictedlabel",
    "predictedclass",
    "predlabel",
    "predclass",
    "yhat",
    "label",
)
POSITIVE_SCORE = (
    *("score", "scores", "yscore", "prob", "proba", "probability", "p", "risk", "decision", "decisionfunction", "logit"),
    *("yprob", "yproba", "confidence"),
)
GROUPS = ("group", "subgroup", "segment", "sex", "gender", "race", "ethnicity", "agegroup", "region", "site")
_KIND = r"(?:y[_ .\-]?)?(?:scores?|probs?|proba|probability|p|decision|logit)"
_PROBABLE = re.compile(r"(?:^|[^a-z])(?:y[_ .\-]?)?(?:probs?|proba|probability|p)(?:[^a-z0-9]|$)", re.IGNORECASE)
_LABEL = r"(?:y[_ .\-]?pred|prediction|predicted|pred|label|class)"
_GAP = r"[_ .\-]"


@dataclass(frozen=True)
class ModelColumns:
    """Where the predictions of a model stand: its column of labels, and a column of scores for each class.

    A class of None is the positive one.
    """

    name: str
    label: str | None
    scores: tuple[tuple[str | None, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the model."""
        return (*((self.label,) if self.label is not None else ()), *(column for _, column in self.scores))


def simple(name: str) -> str:
    """A name in small letters without gaps."""
    return re.sub(r"[\s_.\-]", "", name.lower())


def called_probability(column: str) -> bool:
    """Whether a column's name says that it holds probabilities.

    >>> called_probability("forest_proba[a]"), called_probability("score_p1")
    (True, False)
    """
    return bool(_PROBABLE.search(column))


def class_of_score(column: str, classes: Sequence[str]) -> str | None:
    """The class whose score this column holds: score_a, p_a, proba(a), prob a; score[a] also where a is no known class.

    >>> class_of_score("Proba_yes", ["no", "yes"]), class_of_score("score[c]", ["a"]), class_of_score("score_c", ["a"])
    ('yes', 'c', None)
    """
    bracket = re.fullmatch(rf"{_KIND}{_GAP}?\[(.+)\]", column, re.IGNORECASE)
    if bracket:
        return _known(bracket[1], classes) or bracket[1]
    for pattern in (rf"{_KIND}{_GAP}?\((.+)\)", rf"{_KIND}{_GAP}(.+)", rf"(.+){_GAP}{_KIND}"):
        found = re.fullmatch(pattern, column, re.IGNORECASE)
        if found and _known(found[1], classes):
            return _known(found[1], classes)
    return None


def label_texts(column: pd.Series[Any]) -> list[str]:
    """The distinct labels of a column as text; 1.0 is the label 1."""
    return [label_text(value) for value in column.dropna().unique().tolist()]


def label_text(value: Any) -> str:
    """A label as text; 1.0 is the label 1."""
    return str(plain_label(value))


def plain_label(value: Any) -> Any:
    """A label as it is, 1.0 as the whole number that it is."""
    return int(value) if isinstance(value, float) and np.isfinite(value) and value == int(value) else value


_TWINS = {"1": "true", "0": "false", "true": "1", "false": "0"}


def twin_labels(found: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """Labels 1 and 0 as the classes True and False, or the other way round; nothing where they are not such twins.

    >>> twin_labels(["0", "1"], ["False", "True"]), twin_labels(["a"], ["False", "True"])
    ({'0': 'False', '1': 'True'}, {})
    """
    known = {name.lower(): name for name in classes}
    twins = {label: known.get(_TWINS.get(label.lower(), "")) for label in found}
    boolean = set(known) <= {"true", "false"} or set(known) <= {"0", "1"}
    unlike = not boolean or set(found) & set(classes) or None in twins.values()
    return {} if unlike else {label: str(twin) for label, twin in twins.items()}


def wide_models(frame: pd.DataFrame, free: list[str], classes: list[str]) -> tuple[ModelColumns, ...]:
    """The models of a wide file: those that names tell, then columns that hold nothing but classes."""
    labels: dict[str, str] = {}
    scores: dict[str, dict[str | None, str]] = {}
    rest = []
    for column in free:
        model, kind, name = _parsed(column, classes)
        if kind == "score" and _is_number(frame[column]):
            scores.setdefault(model, {})[name] = column
        elif kind == "label" and _shares_classes(label_texts(frame[column]), classes):
            labels[model] = column
        elif kind == "score" and not _holds_classes(frame[column], classes):
            check_score_column(frame[column], model)
            rest.append(column)
        else:
            rest.append(column)
    rest = _class_suffixes(frame, rest, classes, scores)
    for column in rest:
        if _holds_classes(frame[column], classes):
            labels.setdefault(column, column)
    if not labels and not scores:
        scores = {column: {None: column} for column in rest if _is_fraction(frame[column])}
    order = {column: place for place, column in enumerate(free)}
    names = sorted({*labels, *scores}, key=lambda model: min(order[each] for each in _own(model, labels, scores)))
    return tuple(ModelColumns(name, labels.get(name), tuple(scores.get(name, {}).items())) for name in names)


def _own(model: str, labels: dict[str, str], scores: dict[str, dict[str | None, str]]) -> list[str]:
    return [*([labels[model]] if model in labels else []), *scores.get(model, {}).values()]


def _parsed(column: str, classes: list[str]) -> tuple[str, str, str | None]:
    """Model, kind (score, label or nothing) and class."""
    bracket = re.fullmatch(rf"(.+?)(?:{_GAP}{_KIND})?{_GAP}?[\[(](.+)[\])]", column, re.IGNORECASE)
    if bracket and _known(bracket[2], classes):
        return bracket[1], "score", _known(bracket[2], classes)
    both = re.fullmatch(rf"(.+?){_GAP}{_KIND}{_GAP}(.+)", column, re.IGNORECASE)
    if both and _known(both[2], classes):
        return both[1], "score", _known(both[2], classes)
    for pattern, kind in (
        (rf"(.+){_GAP}{_KIND}", "score"),
        (rf"(.+){_GAP}{_LABEL}", "label"),
        (rf"{_KIND}{_GAP}(.+)", "score"),
        (rf"{_LABEL}{_GAP}(.+)", "label"),
    ):
        found = re.fullmatch(pattern, column, re.IGNORECASE)
        if found:
            return found[1], kind, None
    return column, "", None


def _class_suffixes(
    frame: pd.DataFrame, rest: list[str], classes: list[str], scores: dict[str, dict[str | None, str]]
) -> list[str]:
    """Columns forest_a, forest_b ... are scores of a model where every class has one; the others are given back."""
    stems: dict[str, dict[str | None, str]] = {}
    for column in rest:
        for name in classes:
            if re.fullmatch(rf".+{_GAP}{re.escape(name)}", column) and _is_number(frame[column]):
                stems.setdefault(column[: -len(name) - 1], {})[name] = column
    whole = {stem: found for stem, found in stems.items() if len(found) == len(classes)}
    for stem, found in whole.items():
        scores.setdefault(stem, {}).update(found)
    used = {column for found in whole.values() for column in found.values()}
    return [column for column in rest if column not in used]


def _known(name: str, classes: Sequence[str]) -> str | None:
    if name in classes:
        return name
    return next((each for each in classes if each.lower() == name.lower()), None)


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _is_fraction(column: pd.Series[Any]) -> bool:
    """Numbers with digits after the point: whole numbers are more likely to be something else than scores."""
    if not _is_number(column):
        return False
    values = column.dropna().to_numpy(dtype=float)
    return bool(len(values) and (values != np.floor(values)).any())


def _holds_classes(column: pd.Series[Any], classes: list[str]) -> bool:
    if _is_fraction(column):
        return False
    found = label_texts(column)
    if not found or len(found) > len(classes):
        return False
    return set(found) <= set(classes) or bool(twin_labels(found, classes))


def _shares_classes(found: Sequence[str], classes: Sequence[str]) -> bool:
    return bool(set(found) & set(classes) or (found and twin_labels(found, classes)))


def check_score_column(column: pd.Series[Any], model: str) -> None:
    """A column that is called a model's scores must hold numbers: one text cell must not make the model vanish.

    Only a name that begins with the word, such as decision_notes, may be something else; it is if no cell is a number.
    """
    import pandas as pd

    known = column[column.notna()]
    numbers = pd.to_numeric(known.astype(str), errors="coerce")
    suffix = re.fullmatch(rf"(.+){_GAP}{_KIND}|.+[\[(].+[\])]", str(column.name), re.IGNORECASE)
    if not len(known) or (suffix is None and numbers.isna().all()):
        return
    bad = numbers.isna()
    place = int(bad.to_numpy().argmax()) if bad.any() else 0
    line = int(column.notna().to_numpy().nonzero()[0][place]) + 1
    raise InputError(
        f"scores of model {model!r} must be numbers, got {known.iloc[place]!r} in column {column.name!r}, line {line} of the "
        f"table ({int(bad.sum())} such lines): correct it, or rename the column if it holds no scores"
    )
