"""What the columns of a predictions file are for: guessed from their names and contents, shown, or given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_leftovers import check_misspelt, why_left_alone
from fairtrial.study.predictions.prediction_names import (
    ALIASES,
    GROUPS,
    LABELS,
    POSITIVE_SCORE,
    TRUTHS,
    ModelColumns,
    class_of_score,
    label_texts,
    simple,
    wide_models,
)

if TYPE_CHECKING:
    import pandas as pd

GIVEN = ("truth", "prediction", "model", "scores", "dataset", "row", "weight", "group", "repeat", "fold")
_SINGLE = ("truth", "model", "dataset", "row", "weight", "repeat", "fold", "condition", "level")


@dataclass(frozen=True)
class Roles:
    """The role of each column. In a long file `models` has one entry without a name: a column tells the models apart."""

    layout: Literal["long", "wide"]
    columns: Mapping[str, str]
    """Role to column: truth, model, dataset, row, weight, repeat, fold, condition, level."""
    models: tuple[ModelColumns, ...]
    groups: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a column is left alone that seems to hold labels."""

    def get(self, role: str) -> str | None:
        """The column of a role, None where there is none."""
        return self.columns.get(role)

    def frame(self) -> pd.DataFrame:
        """A line for each column: column, role, model, class, and whether the role was given or guessed."""
        import pandas as pd

        lines = [(column, role, "", "") for role, column in self.columns.items()]
        for one in self.models:
            lines += [(one.label, "prediction", one.name, "")] if one.label is not None else []
            lines += [(column, "score", one.name, name or "the positive one") for name, column in one.scores]
        lines += [(column, "group", "", "") for column in self.groups]
        named = {"score": "scores"}
        table = [(*line, "given" if named.get(line[1], line[1]) in self.given else "guessed") for line in lines]
        table += [(column, "left alone", "", "", "guessed") for column in self.unused]
        return pd.DataFrame(table, columns=["column", "role", "model", "class", "how"])

    @property
    def words(self) -> str:
        """The same in a sentence or two."""
        lines = self.frame()
        what = "a line for each row and model" if self.get("model") else "a line for each row"
        used = lines[lines["role"] != "left alone"]
        parts = []
        for role, part in used.groupby("role", sort=False):
            many = len(part) > 6
            told = ", ".join(f"'{column}'" for column in part["column"][: 5 if many else 6])
            parts.append(f"{role} {told}{f' and {len(part) - 5} more' if many else ''}")
        guessed = sorted(set(used.loc[used["how"] == "guessed", "role"]))
        alone = [repr(name) + (f" ({self.reasons[name]})" if name in self.reasons else "") for name in self.unused]
        rest = f" Left alone: {', '.join(alone)}." if alone else ""
        how = "" if not guessed else f" Guessed from names and contents: {', '.join(guessed)}."
        return f"The file is {self.layout}, {what}: {'; '.join(parts)}.{how}{rest}"

    @property
    def doubts(self) -> tuple[str, ...]:
        """A sentence for each column that is left alone though it seems to hold labels."""
        told = "seems to hold labels and is left alone"
        return tuple(f"The column {name!r} {told}: {why}. --prediction COL judges it." for name, why in self.reasons.items())

    def __str__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.words)}</p>" + self.frame().to_html(index=False)


def guess_roles(frame: pd.DataFrame, **given: Any) -> Roles:
    """The roles of the columns of a table of predictions (or of its first lines); what is `given` is not guessed.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"y_true": ["a", "b"], "tree": ["a", "a"], "tree_p": [0.2, 0.4], "forest": ["a", "b"]})
    >>> print(guess_roles(table).frame().to_string(index=False))
    column       role  model            class     how
    y_true      truth                         guessed
      tree prediction   tree                  guessed
    tree_p      score   tree the positive one guessed
    forest prediction forest                  guessed
    """
    names = [str(name) for name in frame.columns]
    given = {role: value for role, value in given.items() if value is not None}
    _known(names, given)
    columns = {role: str(given[role]) for role in _SINGLE if role in given}
    groups = _listed(given["group"]) if "group" in given else []
    taken = {*columns.values(), *groups, *_columns_in(given.get("prediction")), *_columns_in(given.get("scores"))}
    _by_name(names, columns, taken)
    if "truth" not in columns:
        columns["truth"] = _truth(names, taken)
    taken.update(columns.values())
    if "group" not in given:
        groups = [name for name in names if name not in taken and simple(name) in GROUPS]
        taken.update(groups)
    classes = label_texts(frame[columns["truth"]])
    free = [name for name in names if name not in taken]
    models = _models(frame, free, classes, columns, given)
    used = {*taken, *(each for one in models for each in one.columns)}
    unused = tuple(name for name in names if name not in used)
    if not models:
        check_misspelt(frame, free, classes, columns["truth"])
        raise InputError(
            f"the file must have predicted labels or scores beside the truth {columns['truth']!r}, got only "
            f"{', '.join(map(repr, free)) or 'that column'}: pass prediction= or scores="
        )
    layout: Literal["long", "wide"] = "wide" if models[0].name else "long"
    ordered = {role: columns[role] for role in _SINGLE if role in columns}
    reasons = {} if "prediction" in given else why_left_alone(frame, unused, classes)
    return Roles(layout, ordered, models, tuple(groups), tuple(given), unused, reasons)


def _known(names: list[str], given: Mapping[str, Any]) -> None:
    for role, value in given.items():
        if role not in GIVEN:
            raise InputError(f"no role is called {role!r}: {did_you_mean(role, GIVEN)}")
        for column in _columns_in(value):
            if column not in names:
                raise InputError(f"{role} must name a column of the file, got {column!r}: {did_you_mean(column, names)}")


def _columns_in(value: Any) -> list[str]:
    """The columns that the value of a role names: one, a list, a mapping, or a mapping of mappings."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [column for each in value.values() for column in _columns_in(each)]
    return _listed(value)


def _listed(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, Sequence) and not isinstance(value, str) else [str(value)]


def _by_name(names: list[str], columns: dict[str, str], taken: set[str]) -> None:
    """Roles that a name alone decides."""
    for role, aliases in ALIASES.items():
        if role not in columns:
            found = next((name for alias in aliases for name in names if name not in taken and simple(name) == alias), None)
            if found is not None:
                columns[role] = found
                taken.add(found)


def _truth(names: list[str], taken: set[str]) -> str:
    for alias in TRUTHS:
        for name in names:
            if name not in taken and simple(name) == alias:
                return name
    raise InputError(
        f"the file must have a column of true labels, called truth, y_true, target or the like, got {', '.join(names)}: "
        "pass truth="
    )


def _models(
    frame: pd.DataFrame, free: list[str], classes: list[str], columns: Mapping[str, str], given: Mapping[str, Any]
) -> tuple[ModelColumns, ...]:
    prediction, scores = given.get("prediction"), given.get("scores")
    by_model = _is_by_model(prediction, classes) or _is_by_model(scores, classes)
    if "model" not in columns and (by_model or (isinstance(prediction, Sequence) and not isinstance(prediction, str))):
        return _given_wide(prediction, scores, classes)
    label = _one_column(prediction, "prediction") if prediction is not None else _label(free)
    found = _given_scores(scores, classes) if scores is not None else _scores([name for name in free if name != label], classes)
    asked = "model" in columns or prediction is not None or scores is not None
    # A model may be called y, whose y_score is then not the only score.
    several = not asked and label is None and len(found) == 1 and len(wide_models(frame, free, classes)) > 1
    if asked or label is not None or (found and not several):
        return (ModelColumns("", label, found),) if label is not None or found else ()
    return wide_models(frame, free, classes)


def _is_by_model(value: Any, classes: list[str]) -> bool:
    """A mapping whose keys are models: not classes."""
    if not isinstance(value, Mapping):
        return False
    return any(isinstance(each, Mapping) for each in value.values()) or not {str(key) for key in value} <= set(classes)


def _given_wide(prediction: Any, scores: Any, classes: list[str]) -> tuple[ModelColumns, ...]:
    labels = dict(prediction) if isinstance(prediction, Mapping) else {name: name for name in _columns_in(prediction)}
    by_model = dict(scores) if isinstance(scores, Mapping) else {name: name for name in _columns_in(scores)}
    names = list(dict.fromkeys([*map(str, labels), *map(str, by_model)]))
    texts = {str(name): str(column) for name, column in labels.items()}
    found = {str(name): _given_scores(value, classes) for name, value in by_model.items()}
    return tuple(ModelColumns(name, texts.get(name), found.get(name, ())) for name in names)


def _given_scores(value: Any, classes: list[str]) -> tuple[tuple[str | None, str], ...]:
    """Pairs of class and column; one column alone is the score of the positive class unless its name says otherwise."""
    if isinstance(value, Mapping):
        return tuple((str(name), str(column)) for name, column in value.items())
    listed = _listed(value)
    found = [(column if column in classes else class_of_score(column, classes), column) for column in listed]
    if len(listed) > 1 and any(name is None for name, _ in found):
        unclear = next(column for name, column in found if name is None)
        raise InputError(f"scores must name the class of each column, got {unclear!r}: pass a mapping of class to column")
    return tuple(found)


def _one_column(value: Any, role: str) -> str:
    listed = _columns_in(value)
    if len(listed) != 1:
        raise InputError(f"{role} must name one column where a column names the models, got {listed}")
    return listed[0]


def _label(free: list[str]) -> str | None:
    return next((name for alias in LABELS for name in free if simple(name) == alias), None)


def _scores(free: list[str], classes: list[str]) -> tuple[tuple[str | None, str], ...]:
    found: list[tuple[str | None, str]] = []
    for name in free:
        one = class_of_score(name, classes)
        if one is not None:
            found.append((one, name))
    if not found:
        return tuple((None, name) for name in free if simple(name) in POSITIVE_SCORE)[:1]
    return tuple(found)
