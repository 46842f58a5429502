"""From a table with roles to data sets with rows, truths and the predictions of each model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.errors import InputError
from fairtrial.study.predictions.prediction_checks import (
    OTHER_TRUTH,
    Notes,
    agreed,
    check_classes,
    check_labels,
    check_once,
    check_predicted,
    check_weights,
    condition_of,
    tell_condition,
    tell_silent,
    tell_twins,
)
from fairtrial.study.predictions.prediction_names import ModelColumns, label_text, plain_label, twin_labels
from fairtrial.study.predictions.prediction_roles import Roles
from fairtrial.study.predictions.prediction_scores import labels_of, scores_of
from fairtrial.study.predictions.predictions import ModelPredictions, PredictedSet

if TYPE_CHECKING:
    import pandas as pd

ONLY_DATA_SET, ONLY_MODEL = "data", "model"


def sets_of(table: pd.DataFrame, roles: Roles, positive: object) -> tuple[tuple[PredictedSet, ...], tuple[str, ...]]:
    """The data sets of a table, and what had to be said."""
    notes = Notes()
    notes.repeat(roles.doubts)
    table = _one_condition(table, roles, notes)
    columns = _Columns(table, roles, notes)
    sets = tuple(
        _Building(columns, str(name), np.flatnonzero(columns.dataset.codes == i), positive, notes).made()
        for i, name in enumerate(columns.dataset.values)
    )
    return sets, notes.sentences


def _one_condition(table: pd.DataFrame, roles: Roles, notes: Notes) -> pd.DataFrame:
    """Lines of one condition: of a study with several, those without a change."""
    column, level = roles.get("condition"), roles.get("level")
    if column is None:
        return table
    import pandas as pd

    keys = [column] if level is None else [column, level]
    found = list(table[keys].drop_duplicates().itertuples(index=False, name=None))
    if len(found) < 2:
        return table
    wanted = condition_of(found)
    own = [table[key].isna() if pd.isna(value) else table[key] == value for key, value in zip(keys, wanted, strict=True)]
    kept = table.loc[np.logical_and.reduce(own)].reset_index(drop=True)
    tell_condition(len(found), len(kept), wanted, notes)
    return kept


@dataclass(frozen=True, eq=False)
class Labels:
    """A column as codes of its distinct values; -1 is missing."""

    codes: IntArray
    values: list[Any]

    @classmethod
    def of(cls, column: pd.Series[Any]) -> Labels:
        """The column's values as plain ones; 1.0 is 1."""
        import pandas as pd

        codes, values = pd.factorize(column, use_na_sentinel=True)
        return cls(codes.astype(np.intp), [plain_label(each) for each in values.tolist()])

    @property
    def texts(self) -> list[str]:
        """The values as text."""
        return [label_text(each) for each in self.values]


class _Columns:
    """The columns that all data sets share, read once."""

    def __init__(self, table: pd.DataFrame, roles: Roles, notes: Notes) -> None:
        self.table, self.roles = table, roles
        self.truth = self._complete("truth")
        check_labels(self.truth.values)
        nothing = np.zeros(len(table), dtype=np.intp)
        self.dataset = self._complete("dataset") if roles.get("dataset") else Labels(nothing, [ONLY_DATA_SET])
        self.model = self._complete("model") if roles.get("model") else Labels(nothing, [ONLY_MODEL])
        self.row = self._complete("row") if roles.get("row") else None
        self.repeat, self.fold = self._numbers("repeat"), self._numbers("fold")
        self.labels = {one.label: self._labels(one.name, one.label, notes) for one in roles.models if one.label is not None}
        self.groups = {name: Labels.of(table[name]) for name in roles.groups}
        weight = roles.get("weight")
        self.weight = None if weight is None else check_weights(_floats(table[weight], "weight"), weight)

    def _complete(self, role: str) -> Labels:
        column = self.roles.get(role)
        found = Labels.of(self.table[column])
        missing = found.codes < 0
        if missing.any():
            raise InputError(
                f"{role} must not be missing, got nothing in column {column!r}, line {int(np.argmax(missing)) + 1} of the "
                f"table ({int(missing.sum())} such lines): drop these lines or fill the cells"
            )
        return found

    def _labels(self, model: str, column: str, notes: Notes) -> Labels:
        """Predicted labels, called as the truth calls them where one says 1 and the other True."""
        found = Labels.of(self.table[column])
        twins = twin_labels(found.texts, self.truth.texts) if found.values else {}
        if not twins:
            return found
        tell_twins(twins, f"model {model!r}" if model else f"the column {column!r}", notes)
        values = dict(zip(self.truth.texts, self.truth.values, strict=True))
        return Labels(found.codes, [values[twins[text]] for text in found.texts])

    def _numbers(self, role: str) -> IntArray:
        """Numbers of repeats or folds; names are numbered in their order."""
        if self.roles.get(role) is None:
            return np.zeros(len(self.table), dtype=np.intp)
        found = self._complete(role)
        whole = all(isinstance(each, int) for each in found.values)
        order = np.argsort(np.array(found.texts, dtype=object), kind="stable")
        numbers = found.values if whole else np.argsort(order)
        return np.array(numbers, dtype=np.intp)[found.codes]


def _floats(column: pd.Series[Any], what: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a number in each line, got text in column {column.name!r}: convert it") from None


class _Building:
    """One data set being put together."""

    def __init__(self, columns: _Columns, name: str, lines: IntArray, positive: object, notes: Notes) -> None:
        self.columns, self.name, self.lines, self.positive, self.notes = columns, name, lines, positive, notes
        self.where = f" of data set {name!r}" if len(columns.dataset.values) > 1 else ""
        self.places, self.row_ids = self._rows()
        truth = columns.truth
        self.truths = [truth.texts[i] for i in np.unique(truth.codes[lines])]
        check_classes(self.truths, self.where)

    def made(self) -> PredictedSet:
        """The data set."""
        pieces = self._pieces()
        classes = self._classes(pieces)
        texts = [label_text(each) for each in classes]
        models = {name: self._model(name, one, own, texts) for name, one, own in pieces}
        roles, weight = self.columns.roles, self.columns.weight
        truth = self._agreed(_recoded(self.columns.truth, texts)[self.lines], "the truth", roles.get("truth"), OTHER_TRUTH)
        weights = None if weight is None else self._agreed(weight[self.lines], "the weight", roles.get("weight"))
        groups = {
            name: _named(self._agreed(found.codes[self.lines], f"the group {name!r}", name), found)
            for name, found in self.columns.groups.items()
        }
        return PredictedSet(self.name, tuple(classes), self.row_ids, truth, weights, groups, models)

    def _rows(self) -> tuple[IntArray, npt.NDArray[Any]]:
        """The place of the row of each line, and the ids of the rows; lines without ids are numbered within each model."""
        import pandas as pd

        row, lines = self.columns.row, self.lines
        if row is not None:
            places, found = pd.factorize(row.codes[lines])
            ids = np.empty(len(found), dtype=object)
            ids[:] = [row.values[i] for i in found]
            return places.astype(np.intp), ids
        keys = pd.DataFrame({"m": self.columns.model.codes[lines], "r": self.columns.repeat[lines]})
        places = keys.groupby(["m", "r"]).cumcount().to_numpy().astype(np.intp)
        if self.columns.roles.get("model") and len(self.columns.model.values) > 1:
            self.notes.tell("No column tells the rows apart: lines are taken to be in the same order for each model.")
        return places, np.arange(1, int(places.max()) + 2).astype(object)

    def _pieces(self) -> list[tuple[str, ModelColumns, IntArray]]:
        """Name, columns and lines (places in `self.lines`) of each model."""
        roles, everything = self.columns.roles, np.arange(len(self.lines))
        if roles.layout == "wide":
            return [(one.name, one, everything) for one in roles.models]
        codes = self.columns.model.codes[self.lines]
        return [
            (label_text(name), roles.models[0], np.flatnonzero(codes == i))
            for i, name in enumerate(self.columns.model.values)
            if (codes == i).any()
        ]

    def _classes(self, pieces: list[tuple[str, ModelColumns, IntArray]]) -> list[Any]:
        """Labels that are true, and classes that have scores, in order."""
        truth = self.columns.truth
        found = {truth.texts[i]: truth.values[i] for i in np.unique(truth.codes[self.lines])}
        for name, one, own in pieces:
            labels = self.columns.labels.get(one.label) if one.label is not None else None
            if labels is not None:
                present = [i for i in np.unique(labels.codes[self.lines[own]]) if i >= 0]
                if present:
                    check_predicted(self.truths, [labels.texts[i] for i in present], self._who(name), self.notes)
            for text, column in one.scores:
                if text is not None and text not in found and self.columns.table[column].iloc[self.lines[own]].notna().any():
                    found[text] = text
                    self.notes.tell(f"The class {text!r}{self.where} has scores but is never true.")
        try:
            return sorted(found.values())
        except TypeError:
            return [found[text] for text in sorted(found)]

    def _model(self, name: str, one: ModelColumns, own: IntArray, classes: list[str]) -> ModelPredictions:
        who, lines = self._who(name), self.lines[own]
        places, repeat, fold = self.places[own], self.columns.repeat[lines], self.columns.fold[lines]
        check_once(places, repeat, fold, self.row_ids, who)
        ids = self.row_ids[places]
        scores = scores_of(self.columns.table, one, lines, classes, self.positive, ids, who, self.notes)
        given = None if one.label is None else _recoded(self.columns.labels[one.label], classes)[lines]
        prediction, source = labels_of(given, scores, who, self.notes)
        matrix, kind = (None, None) if scores is None else (scores.values, scores.kind)
        found = ModelPredictions(name, places, repeat, fold, prediction, matrix, kind, source)
        if one.label is not None and source == "file":
            silent = self.columns.labels[one.label].codes[lines][found.first] < 0
            tell_silent(int(silent.sum()), len(silent), who, self.notes)
        return found

    def _agreed(self, values: npt.NDArray[Any], what: str, column: Any, remedy: str = "") -> npt.NDArray[Any]:
        return agreed(self.places, values, self.row_ids, f"{what}{self.where}", str(column), remedy)

    def _who(self, name: str) -> str:
        return f"model {name!r}{f' on {self.name!r}' if self.where else ''}"


def _recoded(labels: Labels, classes: list[str]) -> IntArray:
    """Codes of the classes; -1 (ABSTAINED) for a label that is missing or none of them."""
    place = {text: i for i, text in enumerate(classes)}
    table = np.array([*(place.get(text, -1) for text in labels.texts), -1], dtype=np.intp)
    return np.asarray(table[labels.codes])


def _named(codes: IntArray, found: Labels) -> npt.NDArray[Any]:
    names = np.array([*found.texts, "(missing)"], dtype=object)
    return np.asarray(names[codes])
