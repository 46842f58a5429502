"""Statistics of models in files larger than memory: DuckDB counts, and no row is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.tally import ScoreTally, quote_identifier
from fairtrial.predictions.columns import (
    ModelColumns,
    Roles,
    find_duplicate_labels,
    format_label,
    guess_roles,
    is_named_probability,
    normalize_label,
)
from fairtrial.predictions.read import MISSING_STRINGS, ONLY_DATA_SET, ONLY_MODEL, PARQUET, ScoreKind, list_codes
from fairtrial.predictions.validate import (
    EXACT_TOLERANCE,
    ROUNDING_TOLERANCE,
    Notes,
    check_classes,
    check_labels,
    check_predicted,
    choose_condition,
    note_condition,
    note_duplicate_labels,
    note_first_prediction,
    note_label_source,
    note_missing_labels,
    note_zero_scores,
    resolve_positive_index,
)

MEMORY = "512MB"

_SAMPLE = 10_000
_BATCH = 1 << 18
_MAX_CLASSES = 1000

# If there are fewer distinct scores than this fraction of the rows, grouping equal ones first is faster than sorting all.
_MAX_DISTINCT_FRACTION = 0.1

_REQUIRED_ROLES = ("y_true", "dataset", "model", "row", "repeat", "fold")


class StreamedFile:
    """One or several files as a DuckDB table; a context manager.

    The view `lines` holds all lines, the view `judged` those to be judged. Queries name these two views. Every name or value
    from the file goes through `quote_identifier` or `quote_literal`, so that no text of a user is executed as SQL.

    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "p.parquet"
    >>> pd.DataFrame({"truth": [0, 1, 1, 0], "tree_score": [0.1, 0.8, 0.4, 0.4]}).to_parquet(path)
    >>> with StreamedFile([path]) as file:
    ...     print(file.roles.models[0].name, file.tally('"tree_score"', '"truth" = 1', "TRUE", None))
    tree ScoreTally: 3 distinct scores, 2 positives, 2 negatives
    >>> folder.cleanup()
    """

    def __init__(self, paths: list[Path], **specified: Any) -> None:
        import duckdb

        self._resources = ExitStack()
        spill = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="fairtrial-"))
        self._connection = self._resources.enter_context(duckdb.connect())
        for setting in (
            f"memory_limit = '{MEMORY}'",
            f"temp_directory = {quote_literal(spill)}",
            "preserve_insertion_order = false",
        ):
            self._connection.execute(f"SET {setting}")
        self.source = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
        try:
            self._connection.execute(f"CREATE VIEW lines AS SELECT * FROM {self._build_reader_sql(paths)}")
            self.column_types = {column: kind for column, kind, *_ in self.fetch_rows("DESCRIBE lines")}
            self.roles = self._guess_roles(specified)
            self.row_filter = "TRUE"
            self.keep_lines("TRUE")
        except duckdb.Error as error:
            self._resources.close()
            raise self._to_input_error(error) from None
        except BaseException:
            self._resources.close()
            raise

    def __enter__(self) -> StreamedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def _to_input_error(self, error: Exception) -> InputError:
        return InputError(f"{self.source} cannot be counted: {str(error).splitlines()[0]}")

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query over `lines` or `judged` and return all rows."""
        import duckdb

        try:
            return self._connection.execute(query).fetchall()
        except duckdb.Error as error:
            raise self._to_input_error(error) from None

    def fetch_batches(self, query: str) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Run a query and yield its columns, batch by batch."""
        import duckdb

        try:
            for batch in self._connection.sql(query).to_arrow_reader(_BATCH):
                yield tuple(batch.column(i).to_numpy(zero_copy_only=False) for i in range(batch.num_columns))
        except duckdb.Error as error:
            raise self._to_input_error(error) from None

    def keep_lines(self, condition: str) -> None:
        """Restrict `judged` to the lines that satisfy a condition, which must not name `judged` itself."""
        self.row_filter = f"{self.row_filter} AND {condition}"
        self.fetch_rows(f"CREATE OR REPLACE VIEW judged AS SELECT * FROM lines WHERE {self.row_filter}")

    def keep_first(self, keys: str, order: str) -> None:
        """Restrict `judged` to the first line of each key; the lines are written to a table, which spills to disk."""
        roles = self.roles
        used = [
            *roles.columns.values(),
            *roles.subgroups,
            *(column for model_columns in roles.models for column in model_columns.columns),
        ]
        columns = ", ".join(map(quote_identifier, dict.fromkeys(used)))
        first = f"QUALIFY row_number() OVER (PARTITION BY {keys} ORDER BY {order}) = 1"
        self.fetch_rows(f"CREATE TEMP TABLE firsts AS SELECT {columns} FROM judged {first}")
        self.fetch_rows("CREATE OR REPLACE VIEW judged AS SELECT * FROM firsts")

    def build_missing_condition(self, column: str) -> str:
        """Build SQL for whether a cell is missing."""
        nan = f" OR isnan({quote_identifier(column)})" if self.column_types[column] in ("DOUBLE", "FLOAT") else ""
        return f"({quote_identifier(column)} IS NULL{nan})"

    def has_several_folds(self) -> bool:
        """Whether a model predicts in several folds."""
        fold = self.roles.get("fold")
        if fold is None:
            return False
        keys, name = ", ".join(["1", *_list_key_columns(self, "dataset", "model")]), quote_identifier(fold)
        return bool(self.fetch_rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({name}) <> max({name}) LIMIT 1"))

    def tally(self, score: str, is_positive: str, where: str, weight: str | None) -> ScoreTally:
        """Tally the values of an expression on some lines."""
        lines = f"FROM judged WHERE {where}"
        rows, distinct = self.fetch_rows(f"SELECT count(*), approx_count_distinct({score}) {lines}")[0]
        if weight is not None or distinct < _MAX_DISTINCT_FRACTION * rows:
            amount = "count(*)" if weight is None else f"sum({weight})"
            pos, neg = (f"coalesce({amount} FILTER (WHERE {sign} {is_positive}), 0)" for sign in ("", "NOT"))
            query = f"SELECT {score} AS s, {pos}, {neg} {lines} GROUP BY s ORDER BY s DESC"
            return _combine_tallies(self.fetch_batches(query), min(rows, 2 * distinct + 1000), weight is None)
        query = f"SELECT {score} AS s, {is_positive} AS t {lines} ORDER BY s DESC"
        return _combine_tallies((_merge_equal_scores(*batch) for batch in self.fetch_batches(query)), rows, unweighted=True)

    def _build_reader_sql(self, paths: list[Path]) -> str:
        """Build SQL that reads the files."""
        from fairtrial.data.text_tables import WHITESPACE, TextFormat

        path_list = ", ".join(quote_literal(str(path)) for path in paths)
        if all(path.suffix.lower() in PARQUET for path in paths):
            return f"read_parquet([{path_list}])"
        if any(path.suffix.lower() in PARQUET for path in paths):
            raise InputError("files must be all Parquet or all text to be counted, got both: convert some")
        null_strings = ", ".join(map(quote_literal, MISSING_STRINGS))
        text_format = TextFormat.detect(paths[0], MISSING_STRINGS)
        if text_format.delimiter == WHITESPACE:
            raise InputError(f"{paths[0].name} must not separate its columns by blanks to be streamed: save it as CSV")
        options = f"delim = {quote_literal(text_format.delimiter)}, header = true, sample_size = 100000"
        options += f", nullstr = [{null_strings}]"
        options += ", decimal_separator = ','" if text_format.decimal_comma else ""
        described_columns = self.fetch_rows(f"DESCRIBE SELECT * FROM read_csv([{path_list}], {options})")
        # DuckDB would read no and yes as booleans although they are classes.
        text = ", ".join(f"{quote_literal(column)}: 'VARCHAR'" for column, kind, *_ in described_columns if kind == "BOOLEAN")
        return f"read_csv([{path_list}], {options}{f', types = {{{text}}}' if text else ''})"

    def _guess_roles(self, specified: dict[str, Any]) -> Roles:
        """Guess the roles from the first lines and one more line for each class."""
        import pandas as pd

        sample = self._connection.execute(f"SELECT * FROM lines LIMIT {_SAMPLE}").df()
        if not len(sample):
            raise InputError(f"{self.source} must hold at least 1 line of predictions, got none")
        column = guess_roles(sample, **specified).columns["y_true"]
        distinct_rows = self.fetch_rows(f"SELECT DISTINCT {quote_identifier(column)} FROM lines LIMIT {_MAX_CLASSES}")
        if len(distinct_rows) >= _MAX_CLASSES:
            raise InputError(f"the truth must hold classes, got {_MAX_CLASSES} different values or more: is it a number?")
        return guess_roles(
            pd.concat([sample, pd.DataFrame({column: [value for (value,) in distinct_rows]})], ignore_index=True), **specified
        )


@dataclass(frozen=True)
class StreamedModel:
    """A model on the lines of a data set: which lines, and SQL for true and predicted class indices and for scores."""

    dataset: str
    name: str
    where: str
    classes: tuple[Any, ...]
    positive: int | None
    rows: int
    y_true: str
    label: str | None
    scores: tuple[str, ...] | None
    kind: ScoreKind | None
    has_unknown_labels: bool = False
    """Whether some predicted labels are not classes: their code is the number of classes."""

    def has(self, measure: Measure) -> bool:
        """Whether the measure can be computed."""
        return {
            "labels": self.label is not None,
            "scores": self.scores is not None,
            "probabilities": self.kind == "probability",
        }.get(measure.facts.needs, False)

    @property
    def class_names(self) -> list[str]:
        """The classes as text."""
        return [format_label(label) for label in self.classes]

    def build_probability_sql(self) -> tuple[str, str, str]:
        """Build SQL for the predicted probability and for whether that class is true; and name the class."""
        scores = self.scores or ()
        if self.positive is not None:
            return scores[self.positive], f"({self.y_true} = {self.positive})", self.class_names[self.positive]
        return f"greatest({', '.join(scores)})", f"({self.y_true} = {_build_argmax_sql(scores)})", "most probable"

    def build_losses_sql(self) -> tuple[str, str]:
        """Build SQL for what each row adds to the Brier score and to the log loss (NULL if that is infinite).

        With two classes, or with a given positive class, they are those of that class against the rest.
        """
        scores, y_true = self.scores or (), self.y_true
        if self.positive is None:
            deviations = [f"({score} - ({y_true} = {i})::INT)" for i, score in enumerate(scores)]
            square = " + ".join(f"{deviation} * {deviation}" for deviation in deviations)
            cases = " ".join(f"WHEN {y_true} = {i} THEN {score}" for i, score in enumerate(scores))
            return f"({square})", f"-ln(nullif(greatest((CASE {cases} END), 0), 0))"
        score, outcome = scores[self.positive], f"({y_true} = {self.positive})"
        true_probability = f"(CASE WHEN {outcome} THEN {score} ELSE 1 - {score} END)"
        return f"(({score} - {outcome}::INT) * ({score} - {outcome}::INT))", f"-ln(nullif(greatest({true_probability}, 0), 0))"


class StreamedModels:
    """All models of a streamed file."""

    def __init__(self, file: StreamedFile, positive: object, notes: Notes) -> None:
        self.file, self.notes, self.positive = file, notes, positive
        _choose_lines(file, notes)
        weight = file.roles.get("weight")
        self.weight = None if weight is None else _cast_to_double(weight)
        self._check_weights(weight)
        self._true_labels = self._list_distinct_values(str(file.roles.get("y_true")), "TRUE")
        check_labels([normalize_label(value) for value in self._true_labels.values()])
        self._duplicates = {
            model_columns.label: self._find_duplicates(model_columns)
            for model_columns in file.roles.models
            if model_columns.label is not None
        }
        dataset_filters = self._map_names_to_filters("dataset")
        self._has_many_datasets = len(dataset_filters) > 1
        self.models = tuple(model for dataset, where in dataset_filters.items() for model in self._build_models(dataset, where))

    def count_confusion(self, model: StreamedModel, condition: str = "TRUE") -> Confusion:
        """Count the confusion table of a model, by codes, on some of its lines."""
        amount = "count(*)" if self.weight is None else f"sum({self.weight})"
        codes = list_codes(len(model.classes), model.has_unknown_labels)
        table = np.zeros((len(codes),) * 2)
        query = f"SELECT {model.y_true} AS t, {model.label} AS l, {amount} FROM judged WHERE {model.where}"
        for true_code, predicted_code, count in self.file.fetch_rows(f"{query} AND {condition} GROUP BY t, l"):
            table[true_code, predicted_code] = count
        return Confusion(table, tuple(codes), model.positive)

    def to_codes(self) -> StreamedModels:
        """Replace classes by codes, with a code for unknown labels if a model of the data set has some."""
        unknown_datasets = {model.dataset for model in self.models if model.has_unknown_labels}
        encoded = copy(self)
        encoded.models = tuple(
            replace(model, classes=tuple(list_codes(len(model.classes), model.dataset in unknown_datasets)))
            for model in self.models
        )
        return encoded

    def count_support(self, model: StreamedModel) -> Any:
        """Sum the weights of each class."""
        amount = "count(*)" if self.weight is None else f"sum({self.weight})"
        weights = np.zeros(len(model.classes))
        for code, count in self.file.fetch_rows(
            f"SELECT {model.y_true} AS t, {amount} FROM judged WHERE {model.where} GROUP BY t"
        ):
            weights[code] = count
        return weights

    def count_classes(self, unequal_datasets: Sequence[str]) -> dict[str, dict[str, int]]:
        """Count the rows of each class of each data set; in `unequal_datasets` only some models predict some rows."""
        counts_by_dataset: dict[str, dict[str, int]] = {}
        for model in sorted(self.models, key=lambda item: item.rows):
            amount, where = "count(*)", model.where
            if model.dataset in unequal_datasets:
                amount, where = (
                    f"count(DISTINCT {quote_identifier(str(self.file.roles.get('row')))})",
                    self._map_names_to_filters("dataset")[model.dataset],
                )
            counts = dict(self.file.fetch_rows(f"SELECT {model.y_true} AS t, {amount} FROM judged WHERE {where} GROUP BY t"))
            counts_by_dataset[model.dataset] = {text: int(counts.get(code, 0)) for code, text in enumerate(model.class_names)}
        return {dataset: counts_by_dataset[dataset] for dataset in dict.fromkeys(model.dataset for model in self.models)}

    def list_subgroups(self, model: StreamedModel, column: str) -> list[tuple[str, str, int]]:
        """List the subgroups of a column: value as text, the SQL condition that selects it, and its rows."""
        name = quote_identifier(column)
        counts = self.file.fetch_rows(f"SELECT {name} AS g, count(*) FROM judged WHERE {model.where} GROUP BY g")
        return [
            ("(missing)", f"{name} IS NULL", rows) if value is None else (str(value), f"{name} = {quote_literal(value)}", rows)
            for value, rows in sorted(counts, key=lambda item: str(item[0]))
        ]

    def build_join_sql(self, first: StreamedModel, second: StreamedModel) -> str | None:
        """Build SQL for the rows that both models predict; None if no column identifies the rows.

        It gives true classes t and u, predicted classes l1 and l2, scores s1 and s2, and weight w.
        """
        column_lists = [_build_columns_sql(model, i) for i, model in enumerate((first, second), 1)]
        weight = self.weight or "1"
        if first.where == second.where:
            y_true = f"{first.y_true} AS t, {second.y_true} AS u"
            return f"(SELECT {y_true}, {column_lists[0]}, {column_lists[1]}, {weight} AS w FROM judged WHERE {first.where})"
        row = self.file.roles.get("row")
        if row is None:
            return None
        parts = [
            f"(SELECT {quote_identifier(row)} AS r, {model.y_true} AS t{i}, {columns}, {weight} AS w{i} "
            f"FROM judged WHERE {model.where})"
            for i, (model, columns) in enumerate(zip((first, second), column_lists, strict=True), 1)
        ]
        return f"(SELECT t1 AS t, t2 AS u, l1, s1, l2, s2, w1 AS w FROM {parts[0]} JOIN {parts[1]} USING (r))"

    def _check_weights(self, column: str | None) -> None:
        if self.weight is None:
            return
        bad = f"{self.weight} IS NULL OR NOT isfinite({self.weight}) OR {self.weight} < 0"
        count, most = self.file.fetch_rows(f"SELECT count(*) FILTER (WHERE {bad}), max({self.weight}) FROM judged")[0]
        if count:
            raise InputError(f"weights must be finite and not negative, got {count:,} lines where they are not: correct them")
        if not most:
            raise InputError(f"weights must not be zero everywhere, got nothing else in column {column!r}")

    def _list_distinct_values(self, column: str, where: str) -> dict[str, Any]:
        """Map text to value for the distinct values of a column."""
        where = f"{where} AND NOT {self.file.build_missing_condition(column)}"
        query = f"SELECT DISTINCT {quote_identifier(column)} FROM judged WHERE {where} ORDER BY ALL"
        return {format_label(value): value for (value,) in self.file.fetch_rows(query)}

    def _map_names_to_filters(self, role: str, where: str = "TRUE") -> dict[str, str]:
        """Map the names of data sets or models to the SQL condition that selects their lines."""
        column = self.file.roles.get(role)
        if column is None:
            return {ONLY_DATA_SET if role == "dataset" else ONLY_MODEL: where}
        values = self._list_distinct_values(column, where)
        return {text: f"{where} AND {quote_identifier(column)} = {quote_literal(value)}" for text, value in values.items()}

    def _find_duplicates(self, model_columns: ModelColumns) -> Mapping[str, str]:
        """Find predicted labels that are other spellings of the true ones."""
        duplicates = find_duplicate_labels(
            list(self._list_distinct_values(str(model_columns.label), "TRUE")), list(self._true_labels)
        )
        if duplicates:
            note_duplicate_labels(
                duplicates,
                f"model {model_columns.name!r}" if model_columns.name else f"the column {model_columns.label!r}",
                self.notes,
            )
        return duplicates

    def _build_models(self, dataset: str, where: str) -> list[StreamedModel]:
        """Build the models of a data set; its classes are the true labels and those that have scores."""
        location = f" of data set {dataset!r}" if self._has_many_datasets else ""
        true_labels = self._list_distinct_values(str(self.file.roles.get("y_true")), where)
        check_classes(list(true_labels), location)
        raw_models = self._list_raw_models(dataset, where)
        classes = {text: normalize_label(value) for text, value in true_labels.items()}
        for raw_model in raw_models:
            if raw_model.labels:
                check_predicted(list(true_labels), list(raw_model.labels), raw_model.subject, self.notes)
            for text in raw_model.scores:
                if text is not None and text not in classes:
                    classes[text] = text
                    self.notes.add(f"The class {text!r}{location} has scores but is never true.")
        texts = sorted(classes, key=_get_sort_key(classes))
        positive_index = resolve_positive_index(texts, self.positive, dataset)
        ordered = tuple(classes[text] for text in texts)
        return [self._build_model(dataset, raw_model, ordered, positive_index, true_labels) for raw_model in raw_models]

    def _list_raw_models(self, dataset: str, where: str) -> list[_RawModel]:
        raw_models = []
        for model, lines in self._map_names_to_filters("model", where).items():
            for model_columns in self.file.roles.models:
                model_name = model_columns.name or model
                subject = f"model {model_name!r}{f' on {dataset!r}' if self._has_many_datasets else ''}"
                labels = None if model_columns.label is None else self._read_labels(model_columns, lines, subject)
                raw_models.append(
                    _RawModel(
                        model_name,
                        subject,
                        lines,
                        labels,
                        _find_score_columns(self.file, model_columns, lines, subject),
                        model_columns,
                    )
                )
        return raw_models

    def _read_labels(self, model_columns: ModelColumns, where: str, subject: str) -> dict[str, Any] | None:
        """Map the labels of a model, spelled as the true ones, to their values; None if it has none."""
        column = str(model_columns.label)
        labels = self._list_distinct_values(column, where)
        if labels:
            note_missing_labels(*self._count_missing_labels(column, where), subject, self.notes)
        duplicates = self._duplicates[column]
        return {duplicates.get(text, text): value for text, value in labels.items()} or None

    def _count_missing_labels(self, column: str, where: str) -> tuple[int, int]:
        """Count the lines without a label, and all lines."""
        empty = f"count(*) FILTER (WHERE {self.file.build_missing_condition(column)})"
        n_missing, rows = self.file.fetch_rows(f"SELECT {empty}, count(*) FROM judged WHERE {where}")[0]
        return int(n_missing), int(rows)

    def _build_model(
        self, dataset: str, raw_model: _RawModel, classes: tuple[Any, ...], positive: int | None, true_labels: dict[str, Any]
    ) -> StreamedModel:
        class_names = [format_label(label) for label in classes]
        class_index = 1 if positive is None else positive
        scores = _build_scores_sql(
            self.file, raw_model.scores, class_names, class_index, raw_model.where, raw_model.subject, self.notes
        )
        if raw_model.labels is None and scores is None:
            raise InputError(f"{raw_model.subject} must have labels or scores, got neither: drop its lines")
        label, has_unknown = None, False
        if raw_model.labels is not None:
            column = str(raw_model.columns.label)
            label = f"coalesce({_build_code_sql(column, class_names, raw_model.labels)}, {len(class_names)})"
            has_unknown = (
                not set(raw_model.labels) <= set(class_names) or self._count_missing_labels(column, raw_model.where)[0] > 0
            )
        elif scores is not None:
            label = scores.label
            note_label_source(scores.kind, scores.single_column, label is None, raw_model.subject, self.notes)
        y_true = _build_code_sql(str(self.file.roles.get("y_true")), class_names, true_labels)
        rows = self.file.fetch_rows(f"SELECT count(*) FROM judged WHERE {raw_model.where}")[0][0]
        values, kind = (None, None) if scores is None else (scores.values, scores.kind)
        return StreamedModel(
            dataset, raw_model.name, raw_model.where, classes, positive, rows, y_true, label, values, kind, has_unknown
        )


@dataclass(frozen=True)
class StreamedScores:
    """SQL for the score of each class and for the predicted class (None if the scores have no cut-off)."""

    values: tuple[str, ...]
    kind: ScoreKind
    label: str | None
    single_column: bool = False


@dataclass(frozen=True)
class _RawModel:
    """A model of a data set before the classes are known: its lines, labels by text and score columns by class."""

    name: str
    subject: str
    where: str
    labels: dict[str, Any] | None
    scores: dict[str | None, str]
    columns: ModelColumns


class _ScoreSummary(NamedTuple):
    """Of score columns: extremes, largest deviation of a sum from one, lines with a sum near one, lines of zeros."""

    least: float
    most: float
    deviation: float
    n_near: int
    n_zeros: int
    rows: int

    @property
    def outlier(self) -> float:
        """An extreme that is not a probability."""
        return self.least if self.least < 0 else self.most


def _choose_lines(file: StreamedFile, notes: Notes) -> None:
    """Check the columns that identify lines, and restrict `judged` to the lines that are judged in memory, too."""
    _check_complete(file)
    _keep_one_condition(file, notes)
    if file.roles.get("row") is not None:
        _keep_first_predictions(file, notes)
    elif file.roles.get("repeat") is not None:
        _keep_first_repeat(file, notes)


def _list_key_columns(file: StreamedFile, *roles: str) -> list[str]:
    return [quote_identifier(column) for column in map(file.roles.get, roles) if column is not None]


def _check_complete(file: StreamedFile) -> None:
    present = [(role, column) for role in _REQUIRED_ROLES if (column := file.roles.get(role)) is not None]
    counts = ", ".join(f"count(*) FILTER (WHERE {file.build_missing_condition(column)})" for _, column in present)
    for (role, column), count in zip(present, file.fetch_rows(f"SELECT {counts} FROM lines")[0], strict=True):
        if count:
            raise InputError(
                f"{role} must not be missing, got nothing in column {column!r} ({count:,} such lines): drop these lines or "
                "fill the cells"
            )


def _keep_one_condition(file: StreamedFile, notes: Notes) -> None:
    if file.roles.get("condition") is None:
        return
    keys = _list_key_columns(file, "condition", "level")
    conditions = file.fetch_rows(f"SELECT {', '.join(keys)}, count(*) FROM lines GROUP BY ALL")
    if len(conditions) > 1:
        *selected, count = choose_condition(conditions)
        pairs = zip(keys, selected, strict=True)
        file.keep_lines(" AND ".join(f"{key} IS NOT DISTINCT FROM {quote_literal(value)}" for key, value in pairs))
        note_condition(len(conditions), count, selected, notes)


def _keep_first_predictions(file: StreamedFile, notes: Notes) -> None:
    """Check that a model predicts a row once per repeat and fold, and keep the first prediction of each row."""
    keys, splits = ", ".join(_list_key_columns(file, "dataset", "model", "row")), _list_key_columns(file, "repeat", "fold")
    distinct = f"count(DISTINCT ({', '.join(splits)}))" if splits else "1"
    lines = f"SELECT {keys}, count(*) AS n, {distinct} AS d FROM judged GROUP BY {keys} HAVING count(*) > 1"
    n_multiple, n_repeated = file.fetch_rows(f"SELECT count(*), coalesce(sum(n - d), 0) FROM ({lines})")[0]
    if n_repeated:
        row = str(file.roles.get("row"))
        example = file.fetch_rows(f"SELECT {quote_identifier(row)} FROM ({lines}) WHERE n > d LIMIT 1")[0][0]
        raise InputError(
            f"models must predict each row once, got row {example!r} of column {row!r} more than once ({int(n_repeated):,} "
            "such lines): drop the repeated lines, or number repeats and folds in columns of these names"
        )
    if n_multiple:
        file.keep_first(keys, ", ".join(splits))
        note_first_prediction(notes)


def _keep_first_repeat(file: StreamedFile, notes: Notes) -> None:
    """Keep the first repeat of each model if rows have no ids."""
    repeat = quote_identifier(str(file.roles.get("repeat")))
    keys = ", ".join(["1", *_list_key_columns(file, "dataset", "model")])
    if file.fetch_rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({repeat}) <> max({repeat}) LIMIT 1"):
        file.keep_lines(f"({keys}, {repeat}) IN (SELECT {keys}, min({repeat}) FROM lines WHERE {file.row_filter} GROUP BY ALL)")
        note_first_prediction(notes)


def _find_score_columns(file: StreamedFile, model_columns: ModelColumns, where: str, subject: str) -> dict[str | None, str]:
    """Map class to column, for columns that hold scores on these lines; an absent class leaves its column empty."""
    if not model_columns.scores:
        return {}
    parts = [f"count(*) FILTER (WHERE NOT {file.build_missing_condition(column)})" for _, column in model_columns.scores]
    parts += [
        f"count(*) FILTER (WHERE NOT {file.build_missing_condition(column)} AND isfinite({_cast_to_double(column)}))"
        for _, column in model_columns.scores
    ]
    rows, *counts = file.fetch_rows(f"SELECT count(*), {', '.join(parts)} FROM judged WHERE {where}")[0]
    columns: dict[str | None, str] = {}
    for (text, column), n_present, n_finite in zip(
        model_columns.scores, counts[: len(model_columns.scores)], counts[len(model_columns.scores) :], strict=True
    ):
        if n_present and n_finite < rows:
            raise InputError(
                f"scores of {subject} must be finite numbers, got {rows - n_finite:,} lines where they are not in column "
                f"{column!r}: drop these lines or give them a score"
            )
        if n_present:
            columns[text] = column
    return columns


def _build_scores_sql(
    file: StreamedFile,
    columns_by_class: Mapping[str | None, str],
    class_names: Sequence[str],
    class_index: int,
    where: str,
    subject: str,
    notes: Notes,
) -> StreamedScores | None:
    """Build SQL for the scores of a model; `class_index` is the class of a single column without one."""
    if not columns_by_class:
        return None
    if set(columns_by_class) == {None} or (len(columns_by_class) == 1 and len(class_names) == 2):
        text, column = next(iter(columns_by_class.items()))
        if len(class_names) != 2:
            raise InputError(
                f"scores of {subject} must have a column for each of the {len(class_names)} classes, got one column: name them "
                f"score[{class_names[0]}], score[{class_names[1]}] ..., or pass scores= as a mapping"
            )
        return _build_single_column_scores(
            column, class_index if text is None else class_names.index(text), _summarize_scores(file, [column], where), subject
        )
    missing = [text for text in class_names if text not in columns_by_class]
    if missing:
        raise InputError(
            f"scores of {subject} must have a column for each class, got none for {missing[0]!r}: add it, or pass scores= as a "
            "mapping of class to column"
        )
    columns = [columns_by_class[text] for text in class_names]
    values = tuple(map(_cast_to_double, columns))
    summary = _summarize_scores(file, columns, where)
    is_probability = _are_probabilities(columns, summary, subject, notes)
    if is_probability and summary.deviation > EXACT_TOLERANCE:
        values = tuple(f"({value} / ({' + '.join(values)}))" for value in values)
    return StreamedScores(values, "probability" if is_probability else "decision", _build_argmax_sql(values))


def _build_single_column_scores(column: str, class_index: int, summary: _ScoreSummary, subject: str) -> StreamedScores:
    """Complete the scores of one of two classes by those of the other, and labels if there is a cut-off."""
    is_probability = summary.least >= 0 and summary.most <= 1
    if not is_probability and is_named_probability(column):
        raise InputError(
            f"probabilities of {subject} must lie between 0 and 1, got {summary.outlier:g} in column "
            f"{column!r}: call the column a score if it does not hold probabilities"
        )
    score = _cast_to_double(column)
    complement = f"(1 - {score})" if is_probability else f"(-{score})"
    values = (complement, score) if class_index == 1 else (score, complement)
    has_cut = is_probability or (summary.least <= 0 < summary.most if class_index == 1 else summary.least < 0 <= summary.most)
    return StreamedScores(
        values,
        "probability" if is_probability else "decision",
        _build_argmax_sql(values) if has_cut else None,
        not is_probability,
    )


def _summarize_scores(file: StreamedFile, columns: Sequence[str], where: str) -> _ScoreSummary:
    values = [_cast_to_double(column) for column in columns]
    deviation, tolerance = f"abs({' + '.join(values)} - 1)", ROUNDING_TOLERANCE * len(values)
    low, high = (
        (values[0], values[0]) if len(values) == 1 else (f"least({', '.join(values)})", f"greatest({', '.join(values)})")
    )
    zeros = " AND ".join(f"{value} = 0" for value in values)
    counts = [f"count(*) FILTER (WHERE {condition})" for condition in (f"{deviation} <= {tolerance!r}", zeros)]
    parts = f"min({low}), max({high}), max({deviation}), {', '.join(counts)}, count(*)"
    return _ScoreSummary(*file.fetch_rows(f"SELECT {parts} FROM judged WHERE {where}")[0])


def _are_probabilities(columns: Sequence[str], summary: _ScoreSummary, subject: str, notes: Notes) -> bool:
    """Whether scores of all classes are probabilities; sums that are off by rounding are noted, to be rescaled."""
    is_named = all(map(is_named_probability, columns))
    if summary.least < 0 or summary.most > 1:
        if is_named:
            raise InputError(
                f"probabilities of {subject} must lie between 0 and 1, got {summary.outlier:g}: call "
                "the columns scores if they are not probabilities"
            )
        return False
    if summary.n_near == summary.rows:
        if summary.deviation > EXACT_TOLERANCE:
            notes.add(
                f"Probabilities of {subject} sum to one only within rounding (off by up to {summary.deviation:.2g}): they are "
                "rescaled."
            )
        return True
    if not is_named and summary.n_near + summary.n_zeros == summary.rows:
        note_zero_scores(summary.n_zeros, summary.rows, subject, notes)
        return False
    if is_named or summary.n_near > summary.rows / 2:
        raise InputError(
            f"probabilities of {subject} must sum to 1 in each row, got a sum that is off by {summary.deviation:.3g} "
            f"({summary.rows - summary.n_near:,} such lines): normalise them, or call the columns scores if they are not "
            "probabilities"
        )
    notes.add(
        f"Scores of {subject} do not sum to one (off by up to {summary.deviation:.4g}): they are taken as scores, not as "
        "probabilities, and measures of probabilities are left out."
    )
    return False


def _cast_to_double(column: str) -> str:
    """Build SQL for a cell as a number."""
    return f"CAST({quote_identifier(column)} AS DOUBLE)"


def _build_argmax_sql(values: Sequence[str]) -> str:
    """Build SQL for the class with the highest score, the first of equal ones."""
    most = f"greatest({', '.join(values)})"
    return "(CASE " + " ".join(f"WHEN {value} = {most} THEN {i}" for i, value in enumerate(values)) + " END)"


def _build_code_sql(column: str, texts: Sequence[str], values: Mapping[str, Any]) -> str:
    """Build SQL for the index of a label among the classes."""
    cases = [
        f"WHEN {quote_identifier(column)} = {quote_literal(values[text])} THEN {i}"
        for i, text in enumerate(texts)
        if text in values
    ]
    return f"(CASE {' '.join(cases)} END)"


def _build_columns_sql(model: StreamedModel, i: int) -> str:
    score = model.scores[model.positive or 0] if model.scores else "NULL"
    return f"{model.label or 'NULL'} AS l{i}, {score} AS s{i}"


def quote_literal(value: Any) -> str:
    """Write a value as an SQL literal."""
    if isinstance(value, (bool, np.bool_)):
        return "TRUE" if value else "FALSE"
    if value is None:
        return "NULL"
    if isinstance(value, (float, np.floating)) and not np.isfinite(value):
        return f"CAST('{float(value)}' AS DOUBLE)"
    if isinstance(value, (int, float, np.number)):
        return repr(value.item() if isinstance(value, np.number) else value)
    return "'" + str(value).replace("'", "''") + "'"


def _get_sort_key(values: dict[str, Any]) -> Any:
    try:
        sorted(values.values())
    except TypeError:
        return str
    return values.get


def _merge_equal_scores(scores: npt.NDArray[Any], positive: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Merge equal neighbours of sorted scores."""
    if not len(scores):
        return scores, scores, scores
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sizes = np.diff(np.append(starts, len(scores)))
    pos = np.add.reduceat(positive.astype(np.int64), starts)
    return scores[starts], pos, sizes - pos


def _combine_tallies(batches: Iterator[tuple[npt.NDArray[Any], ...]], capacity: int, unweighted: bool) -> ScoreTally:
    """Combine parts in descending order into one tally; a score may continue from one part to the next."""
    dtype = np.uint8 if unweighted else np.float64
    values: Any = np.empty(capacity)
    pos: Any = np.empty(capacity, dtype=dtype)
    neg: Any = np.empty(capacity, dtype=dtype)
    size = 0
    for score, positives, negatives in batches:
        amounts = [positives, negatives]
        if not len(score):
            continue
        if size and values[size - 1] == score[0]:
            amounts = [amount.copy() for amount in amounts]
            amounts[0][0] += pos[size - 1]
            amounts[1][0] += neg[size - 1]
            size -= 1
        if size + len(score) > len(values):
            values, pos, neg = (np.resize(array, 2 * (size + len(score))) for array in (values, pos, neg))
        pos, neg = _expand_dtype(pos, amounts[0]), _expand_dtype(neg, amounts[1])
        window = slice(size, size + len(score))
        values[window], pos[window], neg[window] = score, amounts[0], amounts[1]
        size += len(score)
    return ScoreTally(values[:size], pos[:size], neg[:size])


def _expand_dtype(counts: npt.NDArray[Any], incoming: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Use a larger integer type if the incoming counts need it."""
    if counts.dtype == np.float64 or incoming.max() <= np.iinfo(counts.dtype).max:
        return counts
    return counts.astype(np.min_scalar_type(int(incoming.max())))
