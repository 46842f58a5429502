"""The models of a large file: where each one's labels and scores stand, in SQL, checked by counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.measures.confusion import Confusion
from fairtrial.study.predictions.judged_positive import Positives, positives_of
from fairtrial.study.predictions.large_file import LargeFile, name, quoted
from fairtrial.study.predictions.prediction_checks import Notes, check_predicted, tell_twins
from fairtrial.study.predictions.prediction_names import ModelColumns, called_probability, label_text, twin_labels
from fairtrial.study.predictions.prediction_scores import tell_likely

_ROUNDED = 0.005 + 1e-9
_EXACT = 1e-5


@dataclass(frozen=True)
class LargeModel:
    """A model on the lines of a data set: which lines, and SQL for the code of its label and for the score of each class."""

    dataset: str
    name: str
    where: str
    classes: tuple[Any, ...]
    positive: int | None
    rows: int
    label: str | None
    scores: tuple[str, ...]
    kind: Literal["probability", "decision"] | None

    def has(self, needs: str) -> bool:
        """Whether measures with these needs can be computed."""
        return {"labels": self.label is not None, "scores": bool(self.scores), "probabilities": self.kind == "probability"}.get(
            needs, False
        )


class LargeModels:
    """All models of a large file."""

    def __init__(self, file: LargeFile, positive: object, notes: Notes) -> None:
        self.file, self.notes = file, notes
        self._restrict()
        self.texts = sorted(file.truths, key=_order(file.truths))
        self.positive, self.given = self._place(positive), positive is not None
        self.truth = _coded(file.truth, [file.truths[text] for text in self.texts])
        self.weight = None if file.roles.get("weight") is None else f"CAST({name(file.roles.columns['weight'])} AS DOUBLE)"
        self._check_weights()
        self.models = tuple(self._model(*each) for each in self._pieces())

    def confusion(self, model: LargeModel, extra: str = "TRUE") -> Confusion:
        """The table of a model, on some of its lines."""
        amount = "count(*)" if self.weight is None else f"sum({self.weight})"
        table = np.zeros((len(model.classes),) * 2)
        query = f"SELECT {self.truth} AS t, {model.label} AS l, {amount} FROM {{table}} WHERE {{where}} AND {model.where}"
        for true, predicted, count in self.file.rows(f"{query} AND {extra} GROUP BY t, l"):
            table[true, predicted] = count
        return Confusion(table, model.classes, model.positive)

    def positives(self) -> Positives:
        """The positive class of each data set."""
        named = {model.dataset: (self.texts, self.positive) for model in self.models}
        return positives_of(named, self.file.roles, self.given)

    def class_counts(self) -> dict[str, dict[str, int]]:
        """The rows of each class of each data set, as the model that predicts the most of them has them."""
        found: dict[str, dict[str, int]] = {}
        for model in sorted(self.models, key=lambda each: each.rows):
            query = f"SELECT {self.truth} AS t, count(*) FROM {{table}} WHERE {{where}} AND {model.where} GROUP BY t"
            found[model.dataset] = {self.texts[code]: int(count) for code, count in self.file.rows(query)}
        return {name: found[name] for name in dict.fromkeys(model.dataset for model in self.models)}

    def _restrict(self) -> None:
        """Lines of one condition and one repeat."""
        roles, told = self.file.roles, []
        for role in ("condition", "repeat"):
            column = roles.get(role)
            found = [] if column is None else [v for (v,) in self.file.rows(f"SELECT DISTINCT {name(column)} FROM {{table}}")]
            if column is not None and len(found) > 1:
                wanted = "clean" if role == "condition" and "clean" in found else min(found)
                self.file.where += f" AND {name(column)} = {quoted(wanted)}"
                told.append(f"{role} {wanted}")
        if told:
            self.notes.tell(f"The file is judged by its lines of {' and '.join(told)} alone.")

    def _place(self, positive: object) -> int | None:
        if positive is None:
            return 1 if len(self.texts) == 2 else None
        if str(positive) not in self.texts:
            raise InputError(f"positive must be one of the classes, got {positive!r}: {did_you_mean(positive, self.texts)}")
        return self.texts.index(str(positive))

    def _check_weights(self) -> None:
        if self.weight is not None:
            bad = f"{self.weight} IS NULL OR NOT isfinite({self.weight}) OR {self.weight} < 0"
            count = self.file.rows(f"SELECT count(*) FROM {{table}} WHERE {{where}} AND ({bad})")[0][0]
            if count:
                raise InputError(f"weights must be finite and not negative, got {count:,} lines where they are not")

    def _pieces(self) -> list[tuple[str, str, ModelColumns, str]]:
        """Data set, model, columns, and the condition that picks the lines."""
        roles = self.file.roles
        keys = [role for role in ("dataset", "model") if roles.get(role)]
        listed = ", ".join(name(roles.columns[role]) for role in keys)
        groups = self.file.rows(f"SELECT DISTINCT {listed} FROM {{table}} WHERE {{where}} ORDER BY ALL") if keys else [()]
        found = []
        for values in groups:
            named = dict(zip(keys, values, strict=True))
            where = " AND ".join(
                [f"{name(roles.columns[role])} = {quoted(value)}" for role, value in named.items()] or ["TRUE"]
            )
            dataset, model = str(named.get("dataset", "data")), named.get("model")
            found += [(dataset, str(model or one.name or "model"), one, where) for one in roles.models]
        return found

    def _model(self, dataset: str, who: str, one: ModelColumns, where: str) -> LargeModel:
        columns = [name(column) for _, column in one.scores]
        scores = self._scores(one, who)
        rows, kind, scores = self._checked(scores, columns, [c for _, c in one.scores], where, f"model {who!r}")
        label = self._label(one, where, f"model {who!r}") if one.label is not None else _argmax(scores, kind)
        if one.label is None and label:
            tell_likely(f"model {who!r}", self.notes)
        elif one.label is None:
            told = "scores are no probabilities: measures of labels are left out."
            labels = "The file has no labels of {who}, and "
            self.notes.tell(f"{labels}its {told}", f"model {who!r}", f"{labels}their {told}")
        classes = tuple(self.file.truths[text] for text in self.texts)
        return LargeModel(dataset, who, where, classes, self.positive, rows, label, scores, kind)

    def _scores(self, one: ModelColumns, who: str) -> tuple[str, ...]:
        """SQL for each class; a lone column gives both of two classes, which is mended once its range is known."""
        found = {text: f"CAST({name(column)} AS DOUBLE)" for text, column in one.scores}
        if not found:
            return ()
        if len(found) == 1 and len(self.texts) == 2:
            text, sql = next(iter(found.items()))
            place = (1 if self.positive is None else self.positive) if text is None else self.texts.index(text)
            return (f"-{sql}", sql) if place == 1 else (sql, f"-{sql}")
        missing = [text for text in self.texts if text not in found]
        if missing:
            raise InputError(f"scores of model {who!r} must have a column for each class, got none for {missing[0]!r}")
        return tuple(found[text] for text in self.texts)

    def _checked(
        self, scores: tuple[str, ...], columns: list[str], names: list[str], where: str, who: str
    ) -> tuple[int, Literal["probability", "decision"] | None, tuple[str, ...]]:
        """Number of lines, kind of scores, and the scores as they are to be used."""
        bad = " OR ".join(f"{c} IS NULL OR NOT isfinite(CAST({c} AS DOUBLE))" for c in columns) or "FALSE"
        total = " + ".join(f"CAST({c} AS DOUBLE)" for c in columns) or "1"
        least = f"least({', '.join(columns)}, 0)" if columns else "0"
        most = f"greatest({', '.join(columns)}, 1)" if columns else "1"
        query = f"SELECT count(*), count(*) FILTER (WHERE {bad}), min({least}), max({most}), max(abs({total} - 1))"
        rows, strange, low, high, off = self.file.rows(f"{query} FROM {{table}} WHERE {{where}} AND {where}")[0]
        if strange:
            raise InputError(
                f"scores of {who} must be finite numbers, got {strange:,} lines where they are not: drop these lines"
            )
        if not columns:
            return rows, None, ()
        named = all(map(called_probability, names))
        within = low >= 0 and high <= 1
        if named and not within:
            raise InputError(f"probabilities of {who} must lie between 0 and 1, got {low if low < 0 else high:g}")
        if len(columns) == 1:
            return rows, "probability" if within else "decision", _complement(scores) if within else scores
        if within and off <= _EXACT:
            return rows, "probability", scores
        if within and off <= _ROUNDED * len(columns):
            self.notes.tell(
                f"Probabilities of {who} sum to one only within rounding (off by up to {off:.2g}): they are rescaled."
            )
            return rows, "probability", tuple(f"({each} / ({total}))" for each in scores)
        if named:
            raise InputError(f"probabilities of {who} must sum to 1 in each row, got a sum that is off by {off:.3g}")
        return rows, "decision", scores

    def _label(self, one: ModelColumns, where: str, who: str) -> str | None:
        column = name(str(one.label))
        found = [value for (value,) in self.file.rows(f"SELECT DISTINCT {column} FROM {{table}} WHERE {{where}} AND {where}")]
        if found == [None]:
            return None
        if None in found:
            raise InputError(f"{who} must have a label in each line, got empty cells in column {one.label!r}: drop these lines")
        by_text = {label_text(value): value for value in found}
        twins = twin_labels(list(by_text), self.texts)
        if twins:
            tell_twins(twins, who, self.notes)
            by_text = {twins[text]: value for text, value in by_text.items()}
        check_predicted(self.texts, list(by_text), who, self.notes)
        unknown = [text for text in by_text if text not in self.texts]
        if unknown:
            raise InputError(
                f"{who} must predict labels of the truth, got {unknown[0]!r}: large files are judged by the true classes"
            )
        return _coded(column, [by_text.get(text) for text in self.texts])


def _order(values: dict[str, Any]) -> Any:
    try:
        sorted(values.values())
    except TypeError:
        return str
    return values.get


def _coded(column: str, values: Sequence[Any]) -> str:
    """SQL for the place of a label among the classes."""
    cases = " ".join(f"WHEN {column} = {quoted(value)} THEN {i}" for i, value in enumerate(values) if value is not None)
    return f"(CASE {cases} END)"


def _complement(scores: tuple[str, ...]) -> tuple[str, ...]:
    """Probabilities of both classes from one: 1 - p in place of -p."""
    return tuple(f"(1 - {each[1:]})" if each.startswith("-") else each for each in scores)


def _argmax(scores: tuple[str, ...], kind: str | None) -> str | None:
    """SQL for the class of the highest score, the first of equal ones."""
    if kind is None or (kind == "decision" and len(scores) == 2):
        return None
    most = f"greatest({', '.join(scores)})"
    return "(CASE " + " ".join(f"WHEN {each} = {most} THEN {i}" for i, each in enumerate(scores)) + " END)"
