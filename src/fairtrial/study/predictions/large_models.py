"""The models of a large file, data set by data set: where each one's labels and scores stand, in SQL, checked by counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.confusion import Confusion
from fairtrial.study.predictions.judged_positive import Positives, positives_of
from fairtrial.study.predictions.judged_strays import codes_of
from fairtrial.study.predictions.large_file import LargeFile, name, quoted
from fairtrial.study.predictions.large_lines import choose_lines
from fairtrial.study.predictions.large_scores import Kind, given_scores, number, scores_in_sql
from fairtrial.study.predictions.prediction_checks import (
    Notes,
    check_classes,
    check_labels,
    check_predicted,
    place_of_positive,
    tell_silent,
    tell_twins,
)
from fairtrial.study.predictions.prediction_names import ModelColumns, label_text, plain_label, twin_labels
from fairtrial.study.predictions.prediction_scores import tell_labels

ONLY_DATA_SET, ONLY_MODEL = "data", "model"


@dataclass(frozen=True)
class LargeModel:
    """A model on the lines of a data set: which lines, and SQL for the codes of truth and label and for the scores."""

    dataset: str
    name: str
    where: str
    classes: tuple[Any, ...]
    positive: int | None
    rows: int
    truth: str
    label: str | None
    scores: tuple[str, ...] | None
    kind: Kind | None
    strays: bool = False
    """Whether some labels are none of the classes: their code is the number of classes."""

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""
        return {
            "labels": self.label is not None,
            "scores": self.scores is not None,
            "probabilities": self.kind == "probability",
        }.get(measure.facts.needs, False)

    @property
    def texts(self) -> list[str]:
        """The classes as text."""
        return [label_text(each) for each in self.classes]


@dataclass(frozen=True)
class _Piece:
    """A model of a data set before its classes are known: its lines, its labels by text, its columns of scores by class."""

    name: str
    who: str
    where: str
    labels: dict[str, Any] | None
    scores: dict[str | None, str]
    columns: ModelColumns


class LargeModels:
    """All models of a large file."""

    def __init__(self, file: LargeFile, positive: object, notes: Notes) -> None:
        self.file, self.notes, self.positive = file, notes, positive
        choose_lines(file, notes)
        weight = file.roles.get("weight")
        self.weight = None if weight is None else number(weight)
        self._check_weights(weight)
        self._truths = self._distinct(str(file.roles.get("truth")), "TRUE")
        check_labels([plain_label(each) for each in self._truths.values()])
        self._twins = {one.label: self._twins_of(one) for one in file.roles.models if one.label is not None}
        sets = self._values("dataset")
        self._several = len(sets) > 1
        self.models = tuple(model for dataset, where in sets.items() for model in self._models(dataset, where))

    def confusion(self, model: LargeModel, extra: str = "TRUE") -> Confusion:
        """The table of a model, by codes, on some of its lines."""
        amount = "count(*)" if self.weight is None else f"sum({self.weight})"
        codes = codes_of(len(model.classes), model.strays)
        table = np.zeros((len(codes),) * 2)
        query = f"SELECT {model.truth} AS t, {model.label} AS l, {amount} FROM judged WHERE {model.where}"
        for true, predicted, count in self.file.rows(f"{query} AND {extra} GROUP BY t, l"):
            table[true, predicted] = count
        return Confusion(table, tuple(codes), model.positive)

    def coded(self) -> LargeModels:
        """The same with codes for classes, to which that of strays belongs where a model of the data set has them."""
        straying = {model.dataset for model in self.models if model.strays}
        found = copy(self)
        found.models = tuple(
            replace(model, classes=tuple(codes_of(len(model.classes), model.dataset in straying))) for model in self.models
        )
        return found

    def support(self, model: LargeModel) -> Any:
        """The weight of each class."""
        amount = "count(*)" if self.weight is None else f"sum({self.weight})"
        found = np.zeros(len(model.classes))
        for code, count in self.file.rows(f"SELECT {model.truth} AS t, {amount} FROM judged WHERE {model.where} GROUP BY t"):
            found[code] = count
        return found

    def positives(self) -> Positives:
        """The positive class of each data set."""
        named = {model.dataset: (model.texts, model.positive) for model in self.models}
        return positives_of(named, self.file.roles, self.positive is not None)

    def class_counts(self, apart: Sequence[str]) -> dict[str, dict[str, int]]:
        """The rows of each class of each data set; those whose models are `apart` have rows that only some models predict."""
        found: dict[str, dict[str, int]] = {}
        for model in sorted(self.models, key=lambda each: each.rows):
            amount, where = "count(*)", model.where
            if model.dataset in apart:
                amount, where = (
                    f"count(DISTINCT {name(str(self.file.roles.get('row')))})",
                    self._values("dataset")[model.dataset],
                )
            counts = dict(self.file.rows(f"SELECT {model.truth} AS t, {amount} FROM judged WHERE {where} GROUP BY t"))
            found[model.dataset] = {text: int(counts.get(code, 0)) for code, text in enumerate(model.texts)}
        return {dataset: found[dataset] for dataset in dict.fromkeys(model.dataset for model in self.models)}

    def _check_weights(self, column: str | None) -> None:
        if self.weight is None:
            return
        bad = f"{self.weight} IS NULL OR NOT isfinite({self.weight}) OR {self.weight} < 0"
        count, most = self.file.rows(f"SELECT count(*) FILTER (WHERE {bad}), max({self.weight}) FROM judged")[0]
        if count:
            raise InputError(f"weights must be finite and not negative, got {count:,} lines where they are not: correct them")
        if not most:
            raise InputError(f"weights must not be zero everywhere, got nothing else in column {column!r}")

    def _distinct(self, column: str, where: str) -> dict[str, Any]:
        """Text to value of the cells of a column that are not empty."""
        query = f"SELECT DISTINCT {name(column)} FROM judged WHERE {where} AND NOT {self.file.missing(column)} ORDER BY ALL"
        return {label_text(value): value for (value,) in self.file.rows(query)}

    def _values(self, role: str, where: str = "TRUE") -> dict[str, str]:
        """The data sets or models by name, with the condition that picks their lines."""
        column = self.file.roles.get(role)
        if column is None:
            return {ONLY_DATA_SET if role == "dataset" else ONLY_MODEL: where}
        found = self._distinct(column, where)
        return {text: f"{where} AND {name(column)} = {quoted(value)}" for text, value in found.items()}

    def _twins_of(self, one: ModelColumns) -> Mapping[str, str]:
        """Labels of a column that are those of the truth in another guise."""
        twins = twin_labels(list(self._distinct(str(one.label), "TRUE")), list(self._truths))
        if twins:
            tell_twins(twins, f"model {one.name!r}" if one.name else f"the column {one.label!r}", self.notes)
        return twins

    def _models(self, dataset: str, where: str) -> list[LargeModel]:
        """The models of a data set, on the classes that are true or have scores there."""
        there = f" of data set {dataset!r}" if self._several else ""
        truths = self._distinct(str(self.file.roles.get("truth")), where)
        check_classes(list(truths), there)
        pieces = self._pieces(dataset, where)
        classes = {text: plain_label(value) for text, value in truths.items()}
        for piece in pieces:
            if piece.labels:
                check_predicted(list(truths), list(piece.labels), piece.who, self.notes)
            for text in piece.scores:
                if text is not None and text not in classes:
                    classes[text] = text
                    self.notes.tell(f"The class {text!r}{there} has scores but is never true.")
        texts = sorted(classes, key=_order(classes))
        place = place_of_positive(texts, self.positive, dataset)
        ordered = tuple(classes[text] for text in texts)
        return [self._model(dataset, piece, ordered, place, truths) for piece in pieces]

    def _pieces(self, dataset: str, where: str) -> list[_Piece]:
        found = []
        for model, lines in self._values("model", where).items():
            for one in self.file.roles.models:
                called = one.name or model
                who = f"model {called!r}{f' on {dataset!r}' if self._several else ''}"
                labels = None if one.label is None else self._labels(one, lines, who)
                found.append(_Piece(called, who, lines, labels, given_scores(self.file, one, lines, who), one))
        return found

    def _labels(self, one: ModelColumns, where: str, who: str) -> dict[str, Any] | None:
        """The labels of a model, called as the truth calls them; None where it has none."""
        column = str(one.label)
        found = self._distinct(column, where)
        if found:
            tell_silent(*self._silent(column, where), who, self.notes)
        twins = self._twins[column]
        return {twins.get(text, text): value for text, value in found.items()} or None

    def _silent(self, column: str, where: str) -> tuple[int, int]:
        """How many lines have no label, and of how many."""
        empty = f"count(*) FILTER (WHERE {self.file.missing(column)})"
        silent, rows = self.file.rows(f"SELECT {empty}, count(*) FROM judged WHERE {where}")[0]
        return int(silent), int(rows)

    def _model(
        self, dataset: str, piece: _Piece, classes: tuple[Any, ...], positive: int | None, truths: dict[str, Any]
    ) -> LargeModel:
        texts = [label_text(each) for each in classes]
        place = 1 if positive is None else positive
        scores = scores_in_sql(self.file, piece.scores, texts, place, piece.where, piece.who, self.notes)
        if piece.labels is None and scores is None:
            raise InputError(f"{piece.who} must have labels or scores, got neither: drop its lines")
        label, strays = None, False
        if piece.labels is not None:
            column = str(piece.columns.label)
            label = f"coalesce({_coded(column, texts, piece.labels)}, {len(texts)})"
            strays = not set(piece.labels) <= set(texts) or self._silent(column, piece.where)[0] > 0
        elif scores is not None:
            label = scores.label
            tell_labels(scores.kind, scores.lone, label is None, piece.who, self.notes)
        truth = _coded(str(self.file.roles.get("truth")), texts, truths)
        rows = self.file.rows(f"SELECT count(*) FROM judged WHERE {piece.where}")[0][0]
        values, kind = (None, None) if scores is None else (scores.values, scores.kind)
        return LargeModel(dataset, piece.name, piece.where, classes, positive, rows, truth, label, values, kind, strays)


def _order(values: dict[str, Any]) -> Any:
    try:
        sorted(values.values())
    except TypeError:
        return str
    return values.get


def _coded(column: str, texts: Sequence[str], values: Mapping[str, Any]) -> str:
    """SQL for the place of a label among the classes."""
    cases = [f"WHEN {name(column)} = {quoted(values[text])} THEN {i}" for i, text in enumerate(texts) if text in values]
    return f"(CASE {' '.join(cases)} END)"
