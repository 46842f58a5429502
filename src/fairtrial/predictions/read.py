"""Read predictions of one or more models from files or frames, check them, and repair them if possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from glob import glob
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial import _check
from fairtrial._check import FloatArray, IntArray
from fairtrial._findings import Finding
from fairtrial._frames import to_pandas
from fairtrial._narrative import name_argument, render_all
from fairtrial._registry import find_similar_name, suggest_name
from fairtrial._text import format_count, format_html_table, join_names
from fairtrial.errors import InputError
from fairtrial.predictions.columns import (
    ModelColumns,
    Roles,
    find_duplicate_labels,
    find_percentages,
    format_label,
    guess_roles,
    is_named_probability,
    normalize_label,
    suggest_scale,
)
from fairtrial.predictions.validate import (
    EXACT_TOLERANCE,
    LABEL_NOTES,
    ROUNDING_TOLERANCE,
    SCHEME_COLUMN,
    USUAL_THRESHOLD,
    LabelSource,
    Notes,
    Subject,
    check_classes,
    check_labels,
    check_predicted,
    choose_condition,
    choose_positive,
    choose_scheme,
    note_condition,
    note_dropped_rows,
    note_duplicate_labels,
    note_duplicated_lines,
    note_label_source,
    note_missing_labels,
    resolve_positive_index,
    suggest_y_true,
)
from fairtrial.study.records import ABSTAINED

if TYPE_CHECKING:
    import pandas as pd

Source = Any
"""A path, a pattern, a list of paths, or a frame."""

ScoreKind = Literal["probability", "decision"]

PARQUET = (".parquet", ".pq")
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods")
JSON_LINES = (".jsonl", ".ndjson")
_TEXT = (".csv", ".tsv", ".tab", ".txt", *JSON_LINES)

# Only tables with at most this many lines are searched for duplicate lines.
MAX_COMPARED_LINES = 200_000

# Columns with these roles must not have missing values.
REQUIRED_ROLES = ("y_true", "dataset", "model", "row", "cluster", "repeat", "fold")

# "null" and "None" are not listed because they may be classes.
MISSING_STRINGS = ["", "NA", "N/A", "NaN", "nan", "<NA>"]

# Default names of a data set and of a model, used if no column names them.
ONLY_DATA_SET, ONLY_MODEL = "data", "model"


@dataclass(frozen=True, eq=False)
class ModelPredictions:
    """The predictions of one model on one data set.

    Attributes
    ----------
    name : str
        Name of the model.
    row_indices : array of int
        Row index of each prediction.
    repeat, fold : array of int
        Repeat and fold of each prediction.
    prediction : array of int
        Index of the predicted class. It is -1 if the label is missing or unknown.
    scores : array or None
        Score of each class.
    score_kind : {"probability", "decision"} or None
        Kind of the scores.
    labels_from : {"file", "probabilities", "scores", "threshold", "none"}
        Source of the predicted labels. It is "none" if labels cannot be derived because all scores have the same sign.
    """

    name: str
    row_indices: IntArray
    repeat: IntArray
    fold: IntArray
    prediction: IntArray
    scores: FloatArray | None
    score_kind: ScoreKind | None
    labels_from: LabelSource = "file"

    @property
    def has_labels(self) -> bool:
        """Whether predicted labels are in the file or could be derived from the scores."""
        return self.labels_from != "none"

    @cached_property
    def first_lines(self) -> IntArray:
        """The position of the first prediction of each row, in the order of the rows.

        Predictions are ordered by repeat, then by fold.
        """
        order = np.lexsort((self.fold, self.repeat, self.row_indices))
        sorted_indices = self.row_indices[order]
        return order[np.concatenate(([True], sorted_indices[1:] != sorted_indices[:-1]))]

    @property
    def has_repeats(self) -> bool:
        """Whether any row has several predictions."""
        return len(self.first_lines) < len(self.row_indices)


def _predict_at(model: ModelPredictions, threshold: float, positive: int) -> ModelPredictions:
    if model.labels_from == "file" or model.scores is None:
        has = "predicted labels in the file" if model.labels_from == "file" else "no scores"
        remove = "the column of labels" if model.labels_from == "file" else "the model"
        raise InputError(
            f"threshold needs models with scores but without labels, but {model.name!r} has {has}: remove {remove}, or "
            "omit threshold"
        )
    if model.score_kind == "probability" and not 0 <= threshold <= 1:
        raise InputError(f"threshold must lie between 0 and 1 for probabilities, got {threshold:g}: pass a probability")
    prediction = np.where(model.scores[:, positive] >= threshold, positive, 1 - positive)
    return replace(model, prediction=prediction, labels_from="threshold")


@dataclass(frozen=True, eq=False)
class DatasetPredictions:
    """The rows of a data set and the predictions of each model.

    Attributes
    ----------
    name : str
        Name of the data set.
    classes : tuple
        Classes, in sort order.
    row_ids : array
        Identifier of each row.
    y_true : array of int
        Index of the true class of each row.
    weights : array or None
        Weight of each row.
    clusters : array of int or None
        Code of the cluster of each row. Rows of the same cluster may be dependent.
    subgroups : mapping of str to array
        For each subgroup column, the subgroup of each row.
    models : mapping of str to ModelPredictions
        Predictions, keyed by model name.
    scored_class : str or None
        Class named by the score columns, as in `p_fraud`. It is the positive class by default.
    """

    name: str
    classes: tuple[Any, ...]
    row_ids: npt.NDArray[Any]
    y_true: IntArray
    weights: FloatArray | None
    subgroups: Mapping[str, npt.NDArray[Any]]
    models: Mapping[str, ModelPredictions]
    scored_class: str | None = None
    clusters: IntArray | None = None

    def get_positive_index(self, positive: object) -> int | None:
        """Return the index of the class `positive`.

        If `positive` is None, use the default of `read_predictions`.
        """
        return resolve_positive_index([format_label(label) for label in self.classes], positive, self.name, self.scored_class)

    def count_classes(self) -> dict[str, int]:
        """Count the rows of each class."""
        counts = np.bincount(self.y_true, minlength=len(self.classes))
        return {format_label(label): int(count) for label, count in zip(self.classes, counts, strict=True)}


@dataclass(frozen=True, eq=False, repr=False)
class PredictionFile:
    """The predictions in a file or frame, as returned by `read_predictions`.

    Attributes
    ----------
    source : str
        Name of the file.
    roles : Roles
        Role of each column.
    datasets : tuple of DatasetPredictions
        Predictions for each data set.
    notes : tuple of Finding
        Notes on repairs and assumptions.
    """

    source: str
    roles: Roles
    datasets: tuple[DatasetPredictions, ...]
    notes: tuple[Finding, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models, in the order of the file."""
        return tuple(dict.fromkeys(name for dataset in self.datasets for name in dataset.models))

    def predict_at(self, threshold: float, positive: object = None) -> PredictionFile:
        """Predict the positive class for each row whose score is at least a threshold.

        Parameters
        ----------
        threshold : float
            Lowest score for which a row is predicted positive.
        positive : label, optional
            The positive class, as in `judge`.

        Returns
        -------
        PredictionFile

        Raises
        ------
        InputError
            If a model has no scores, a model has predicted labels in the file, there are not exactly two classes, or a
            threshold for probabilities is not between 0 and 1.
        """
        _check.check_number("threshold", threshold)
        notes = Notes()
        notes.extend(note for note in self.notes if note.kind not in LABEL_NOTES)
        datasets = []
        for dataset in self.datasets:
            code = dataset.get_positive_index(positive)
            if code is None or len(dataset.classes) != 2:
                raise InputError(f"threshold needs two classes, got {len(dataset.classes)} in {dataset.name!r}: omit threshold")
            models = {}
            for name, model in dataset.models.items():
                models[name] = _predict_at(model, threshold, code)
                subject = Subject(name, dataset.name if len(self.datasets) > 1 else "")
                notes.add("labels_from_threshold", subject, threshold=threshold)
            datasets.append(replace(dataset, models=models))
        return replace(self, datasets=tuple(datasets), notes=notes.findings)

    def frame(self) -> pd.DataFrame:
        """Build a table with one row per data set and model.

        The columns contain the numbers of rows, predictions and classes, the source of the labels, and the kind of scores.
        """
        import pandas as pd

        lines = [
            {
                "dataset": dataset.name,
                "model": name,
                "rows": len(model.first_lines),
                "predictions": len(model.row_indices),
                "classes": len(dataset.classes),
                "labels": {"file": "given", "none": "none"}.get(model.labels_from, f"from {model.labels_from}"),
                "scores": model.score_kind or "none",
            }
            for dataset in self.datasets
            for name, model in dataset.models.items()
        ]
        return pd.DataFrame(lines)

    def __str__(self) -> str:
        return "\n".join(
            [f"{self.source}: {self.roles.summary}", self.frame().to_string(index=False), *render_all(self.notes, "model")]
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        texts = (f"{self.source}: {self.roles.summary}", *render_all(self.notes, "model"))
        notes = "".join(f"<p>{escape(text)}</p>" for text in texts)
        return format_html_table(self.frame()) + notes


def read_predictions(
    source: Source,
    *,
    y_true: str | None = None,
    prediction: Any = None,
    model: str | None = None,
    scores: Any = None,
    dataset: str | None = None,
    row: str | None = None,
    weight: str | None = None,
    cluster: str | None = None,
    subgroup: Any = None,
    repeat: str | None = None,
    fold: str | None = None,
    positive: object = None,
    drop_missing: bool = False,
    scheme: str | None = None,
) -> PredictionFile:
    """Read predictions of one or more models from a file or a frame.

    A long table has one row per case and model. One column names the model (not needed for a single model), and one column
    contains predicted labels. A long table can also have a column of scores for each class (`score_a`, `p_a`, `proba(a)`,
    `score[a]`), or one column `score` for the positive class. A wide table has one row per case and columns for each model,
    e.g. `forest`, `forest_label`, `forest_score` or `forest[a]`. Files written by `fairtrial export` can also be read.

    Parameters
    ----------
    source : path, list of paths, or dataframe
        A pandas, polars or pyarrow frame, or CSV, TSV, JSON Lines or Parquet files. A path may be a pattern such as `*.csv`.
        The encoding (UTF-8, UTF-16, Latin-1), the delimiter and decimal commas are detected.
    y_true, model, dataset, row, weight, cluster, repeat, fold : str, optional
        Column with this role. By default, columns are recognized by common names and by their contents.
    prediction, scores : str, list or mapping, optional
        Columns of predicted labels and of scores. For a wide table, pass a mapping from models to columns. If a model has
        a column of scores for each class, map the model to a mapping from classes to columns, e.g.
        `scores={"forest": {"a": "fa", "b": "fb"}}`.
    subgroup : str or list of str, optional
        Columns that define subgroups for which results are reported separately.
    positive : label, optional
        The positive class, to which a single column of scores refers. By default, it is the class named by the score columns.
        If they do not name a class, it is a class with a typical positive name such as yes, fraud or churn. Otherwise, it is
        the second class in sort order.
    drop_missing : bool, default False
        Instead of raising an error, remove each row with a missing value from the predictions of all models. A note reports the
        number of removed rows.
    scheme : str, optional
        Resampling scheme to read. Required if the file was exported from a study with several schemes.

    Returns
    -------
    PredictionFile
        The predictions. The attribute `notes` lists repairs and assumptions.

    Raises
    ------
    InputError
        If the predictions are invalid and cannot be repaired.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"truth": ["no", "yes", "yes"], "tree": ["no", "no", "yes"], "forest_score": [0.1, 0.7, 0.9]})
    >>> predictions = read_predictions(table)
    >>> print(predictions.frame().to_string(index=False))
    dataset  model  rows  predictions  classes             labels      scores
       data   tree     3            3        2              given        none
       data forest     3            3        2 from probabilities probability
    """
    table, name, file_notes = read_source(source)
    specified = {"y_true": y_true, "prediction": prediction, "model": model, "dataset": dataset, "row": row}
    specified |= {"weight": weight, "cluster": cluster, "subgroup": subgroup, "repeat": repeat, "fold": fold}
    table = _select_scheme(_index_by_line(table, list_paths(source)), scheme)
    table, percentages = _convert_percentages(table, specified)
    roles = guess_roles(
        table,
        positive=positive,
        y_true=y_true,
        prediction=prediction,
        model=model,
        scores=scores,
        dataset=dataset,
        row=row,
        weight=weight,
        cluster=cluster,
        subgroup=subgroup,
        repeat=repeat,
        fold=fold,
    )
    datasets, notes = build_datasets(table, roles, positive, drop_missing)
    return PredictionFile(name, roles, datasets, (*file_notes, *percentages, *notes))


def list_paths(source: Source) -> list[Path]:
    """List the files of a source. Files that match a pattern are sorted. The list is empty for a frame."""
    if isinstance(source, (str, PathLike)):
        return _find_files(source)
    if isinstance(source, Sequence) and source and all(isinstance(item, (str, PathLike)) for item in source):
        return [path for item in source for path in _find_files(item)]
    return []


def _find_files(source: str | PathLike[str]) -> list[Path]:
    path = Path(source)
    if path.is_file():
        _check_kind(path)
        return [path]
    matches = sorted(match for match in glob(str(source)) if Path(match).is_file())
    for match in matches:
        _check_kind(Path(match))
    if not matches:
        folder = path.parent if path.parent.is_dir() else Path()
        candidates = [entry.name for entry in folder.iterdir() if entry.suffix in (*PARQUET, *_TEXT)] if folder.is_dir() else []
        similar = find_similar_name(path.stem, [Path(name).stem for name in candidates])
        names = [name for name in candidates if Path(name).stem == similar]
        hint = f"did you mean {names[0]!r}?" if names else "check the path"
        raise InputError(f"predictions must be an existing file, got {str(source)!r}: {hint}")
    return [Path(match) for match in matches]


def _check_kind(path: Path) -> None:
    """Raise an error if the file is a spreadsheet."""
    if path.suffix.lower() in _SPREADSHEETS:
        raise InputError(f"predictions must be a CSV, TSV or Parquet file, got the spreadsheet {path.name!r}: save it as CSV")


def read_table(source: Source) -> tuple[pd.DataFrame, str]:
    """Read a source into one table, and return the table and its name."""
    return read_source(source)[:2]


def read_source(source: Source) -> tuple[pd.DataFrame, str, tuple[Finding, ...]]:
    """Read a source into one table, and return the table, its name, and notes on unusual file formats."""
    import pandas as pd

    paths = list_paths(source)
    peculiarities: dict[str, None] = {}
    if paths:
        frames = [_read_file(path, peculiarities) for path in paths]
        for path, frame in zip(paths[1:], frames[1:], strict=True):
            if set(frame.columns) != set(frames[0].columns):
                odd = sorted(set(frame.columns) ^ set(frames[0].columns))[0]
                raise InputError(
                    f"files must have the same columns, got {odd!r} in only one of {paths[0].name} and {path.name}"
                )
        table = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
        name = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
    else:
        table, name = _to_frame(source), "predictions"
    if not len(table) or not len(table.columns):
        raise InputError(f"{name} must contain at least 1 line of predictions, got none")
    names = [str(column) for column in table.columns]
    repeated = next((column for i, column in enumerate(names) if column in names[:i]), None)
    if repeated is not None:
        raise InputError(f"column names of {name} must be unique, got {repeated!r} more than once: rename one")
    notes = (Finding.of("file_format", peculiarities=tuple(peculiarities)),) if peculiarities else ()
    return table.set_axis(names, axis=1), name, notes


def _index_by_line(table: pd.DataFrame, paths: Sequence[Path]) -> pd.DataFrame:
    """Index a table by line numbers. For a single text file with a header, the first row is line 2. Otherwise, it is line 1."""
    has_header = len(paths) == 1 and paths[0].suffix.lower() not in (*PARQUET, *JSON_LINES)
    return table.set_axis(np.arange(len(table)) + (2 if has_header else 1), axis=0)


def _select_scheme(table: pd.DataFrame, scheme: str | None) -> pd.DataFrame:
    """Keep the lines of one resampling scheme if the file was exported from a study with several schemes."""
    name = choose_scheme(scheme, table.columns, lambda: table[SCHEME_COLUMN].dropna().unique())
    return table if name is None else table[table[SCHEME_COLUMN].map(format_label) == name]


def _convert_percentages(table: pd.DataFrame, specified: Mapping[str, Any]) -> tuple[pd.DataFrame, tuple[Finding, ...]]:
    """Convert percentages to numbers between 0 and 1, and add a note."""
    columns = find_percentages(table, specified)
    if not columns:
        return table, ()
    texts = {name: table[name].astype("string").str.replace("%", "").str.replace(",", ".") for name in columns}
    numbers = {name: column.str.strip().astype("Float64").astype("float64") / 100 for name, column in texts.items()}
    return table.assign(**numbers), (Finding.of("percentages", columns=tuple(columns)),)


def _to_frame(source: Source) -> pd.DataFrame:
    import pandas as pd

    frame = to_pandas(source)
    if frame is not None:
        index_names = [index_name for index_name in frame.index.names if index_name is not None]
        return frame.reset_index(drop=not index_names)
    try:
        return pd.DataFrame(source)
    except (TypeError, ValueError):
        raise InputError(f"predictions must be a file or a frame, got {type(source).__name__}: pass one") from None


def _read_file(path: Path, peculiarities: dict[str, None]) -> pd.DataFrame:
    """Read a file, and add unusual features of its text format to `peculiarities`."""
    import pandas as pd

    from fairtrial.data.frames import report_parquet_errors
    from fairtrial.data.text_tables import read_formatted_table, read_json_lines

    try:
        if path.suffix.lower() in PARQUET:
            with report_parquet_errors(path):
                return pd.read_parquet(path)
        if path.suffix.lower() in JSON_LINES:
            return read_json_lines(path)
        table, text_format = read_formatted_table(path, MISSING_STRINGS)
        peculiarities |= dict.fromkeys(text_format.list_peculiarities(path))
        return table
    except InputError:
        raise
    except (ValueError, OSError) as error:
        message = str(error).split("\n")[0]
        raise InputError(f"{path.name} must be a CSV, TSV, JSON Lines or Parquet file: {message}") from None


def build_datasets(
    table: pd.DataFrame, roles: Roles, positive: object, drop_missing: bool = False
) -> tuple[tuple[DatasetPredictions, ...], tuple[Finding, ...]]:
    """Build the data sets of a table, and collect notes about them."""
    notes = Notes()
    notes.extend(roles.reasons)
    table = _blank_missing_labels(table, roles)
    table = _select_condition(table, roles, notes)
    if drop_missing:
        table = _drop_incomplete_rows(table, roles, notes)
    table = _drop_duplicates(table, roles, notes)
    columns = _SharedColumns(table, roles, notes)
    datasets = tuple(
        _DatasetBuilder(columns, str(name), np.flatnonzero(columns.dataset.codes == i), positive, notes).build()
        for i, name in enumerate(columns.dataset.values)
    )
    return datasets, notes.findings


def _blank_missing_labels(table: pd.DataFrame, roles: Roles) -> pd.DataFrame:
    """Replace markers of missing true labels, e.g. ?, with empty cells."""
    if not roles.missing_labels:
        return table
    column = table[roles.columns["y_true"]]
    return table.assign(**{roles.columns["y_true"]: column.where(~column.astype(str).isin(roles.missing_labels))})


def _select_condition(table: pd.DataFrame, roles: Roles, notes: Notes) -> pd.DataFrame:
    """Keep the rows of one condition. If there are several, keep the unperturbed one if possible."""
    column, level = roles.get("condition"), roles.get("level")
    if column is None:
        return table
    import pandas as pd

    keys = [column] if level is None else [column, level]
    conditions = list(table[keys].drop_duplicates().itertuples(index=False, name=None))
    if len(conditions) < 2:
        return table
    condition = choose_condition(conditions)
    masks = [table[key].isna() if pd.isna(value) else table[key] == value for key, value in zip(keys, condition, strict=True)]
    selected = table.loc[np.logical_and.reduce(masks)]
    note_condition(len(conditions), len(selected), condition, notes)
    return selected


def _drop_incomplete_rows(table: pd.DataFrame, roles: Roles, notes: Notes) -> pd.DataFrame:
    """Remove rows with missing values from the predictions of all models.

    If all cells of a column are empty for a model on a data set, these cells are not treated as missing values.
    """
    keys = roles.list_columns("dataset", "model")
    incomplete = table[roles.list_columns(*REQUIRED_ROLES, "weight")].isna().any(axis=1)
    for column in dict.fromkeys(column for model_columns in roles.models for column in model_columns.columns):
        is_missing = table[column].isna()
        if is_missing.any():
            is_empty = is_missing & bool(is_missing.all())
            if keys:
                is_empty = is_missing.groupby([table[key] for key in keys]).transform("all")
            incomplete |= is_missing & ~is_empty
    identity = table[roles.list_columns("dataset", "row")]
    if roles.get("model") is not None and roles.get("row") is None:
        lines = roles.list_columns("dataset", "model", "repeat")
        identity = identity.assign(line=table.groupby(lines, dropna=False).cumcount())
    elif roles.get("row") is None:
        identity = identity.assign(line=range(len(table)))
    rows = identity.groupby(list(identity.columns), dropna=False).ngroup()
    incomplete |= rows.isin(rows[incomplete])
    return _keep_complete(table, incomplete, rows, notes)


def _keep_complete(table: pd.DataFrame, incomplete: pd.Series[Any], rows: pd.Series[Any], notes: Notes) -> pd.DataFrame:
    if not incomplete.any():
        return table
    note_dropped_rows(int(rows[incomplete].nunique()), int(rows.nunique()), notes)
    return table[~incomplete]


def _drop_duplicates(table: pd.DataFrame, roles: Roles, notes: Notes) -> pd.DataFrame:
    """Remove repeated lines if all are exact duplicates. If no column identifies the rows, only add a note."""
    if roles.get("row") is None:
        if len(table) <= MAX_COMPARED_LINES:
            fractions = [column for column in table.columns if table[column].dtype.kind == "f"]
            n_lines = len(table.drop_duplicates())
            n_fractions = len(table[fractions].drop_duplicates()) if fractions else 0
            note_duplicated_lines(len(table), n_lines, n_fractions, notes)
        return table
    keys = roles.list_columns("dataset", "model", "row", "repeat", "fold")
    if not table.duplicated(keys).any():
        return table
    is_duplicate = table.duplicated(list(roles.used_columns))
    if int(is_duplicate.sum()) < int(table.duplicated(keys).sum()):
        return table
    notes.add("duplicated_rows", lines=int(is_duplicate.sum()))
    return table[~is_duplicate]


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """A column whose values are encoded as integers. The code -1 means a missing value."""

    codes: IntArray
    values: list[Any]

    @classmethod
    def from_column(cls, column: pd.Series[Any]) -> EncodedColumn:
        """Encode a column. Whole numbers such as 1.0 become integers."""
        import pandas as pd

        codes, values = pd.factorize(column, use_na_sentinel=True)
        is_integer = getattr(values.dtype, "kind", "O") in "iu"
        return cls(
            codes.astype(np.intp), values.tolist() if is_integer else [normalize_label(value) for value in values.tolist()]
        )

    @property
    def texts(self) -> list[str]:
        """The values as text."""
        return [format_label(value) for value in self.values]


class _SharedColumns:
    """The columns of a table, encoded once for all data sets."""

    def __init__(self, table: pd.DataFrame, roles: Roles, notes: Notes) -> None:
        self.table, self.roles = table, roles
        self.y_true = self._encode_complete("y_true")
        check_labels(self.y_true.values)
        zeros = np.zeros(len(table), dtype=np.intp)
        self.dataset = self._encode_complete("dataset") if roles.get("dataset") else EncodedColumn(zeros, [ONLY_DATA_SET])
        self.model = self._encode_complete("model") if roles.get("model") else EncodedColumn(zeros, [ONLY_MODEL])
        self.row = self._encode_complete("row") if roles.get("row") else None
        self.repeat, self.fold = self._number_splits("repeat"), self._number_splits("fold")
        self.labels = {
            model_columns.label: self._encode_labels(model_columns.name, model_columns.label, notes)
            for model_columns in roles.models
            if model_columns.label is not None
        }
        self.subgroups = {name: EncodedColumn.from_column(table[name]) for name in roles.subgroups}
        self.cluster = self._encode_complete("cluster") if roles.get("cluster") else None
        weight = roles.get("weight")
        self.weight = None if weight is None else _check_weights(_to_floats(table[weight], "weight"), weight, table.index)

    def _encode_complete(self, role: str) -> EncodedColumn:
        column = self.roles.get(role)
        encoded = EncodedColumn.from_column(self.table[column])
        missing = encoded.codes < 0
        if missing.any():
            count = format_count(int(missing.sum()), "such line")
            markers = self.roles.missing_labels if role == "y_true" else ()
            cell = join_names(["an empty cell", *map(repr, markers)], conjunction="or")
            line = self.table.index[int(np.argmax(missing))]
            raise InputError(
                f"{role} must not be missing, got {cell} in column {column!r}, line {line} "
                f"({count}): fill the cells, or pass {name_argument('drop_missing', 'True')}"
            )
        return encoded

    def _encode_labels(self, model: str, column: str, notes: Notes) -> EncodedColumn:
        """Encode predicted labels.

        If they are spelled differently from the true labels (e.g. True instead of 1), the spelling of the true labels is used.
        """
        encoded = EncodedColumn.from_column(self.table[column])
        duplicates = find_duplicate_labels(encoded.texts, self.y_true.texts) if encoded.values else {}
        if not duplicates:
            return encoded
        note_duplicate_labels(duplicates, Subject(model or column), notes)
        values = dict(zip(self.y_true.texts, self.y_true.values, strict=True))
        spellings = [
            values.get(duplicates.get(text, text), value) for text, value in zip(encoded.texts, encoded.values, strict=True)
        ]
        return EncodedColumn(encoded.codes, spellings)

    def _number_splits(self, role: str) -> IntArray:
        """Convert repeats or folds to numbers. Names are numbered in sort order."""
        if self.roles.get(role) is None:
            return np.zeros(len(self.table), dtype=np.intp)
        encoded = self._encode_complete(role)
        is_integer = all(isinstance(value, int) for value in encoded.values)
        order = np.argsort(np.array(encoded.texts, dtype=object), kind="stable")
        numbers = encoded.values if is_integer else np.argsort(order)
        return np.array(numbers, dtype=np.intp)[encoded.codes]


def _to_floats(column: pd.Series[Any], role: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InputError(f"{role} must be a number in each line, got text in column {column.name!r}: convert it") from None


class _DatasetBuilder:
    """Builder of the predictions for one data set."""

    def __init__(self, columns: _SharedColumns, name: str, lines: IntArray, positive: object, notes: Notes) -> None:
        self.columns, self.name, self.lines, self.positive, self.notes = columns, name, lines, positive, notes
        self.where = f" of data set {name!r}" if len(columns.dataset.values) > 1 else ""
        self._dataset_note = name if self.where else ""
        self.row_indices, self.row_ids = self._index_rows()
        y_true = columns.y_true
        self.true_labels = [y_true.texts[i] for i in np.unique(y_true.codes[lines])]
        check_classes(self.true_labels, self.where)

    def build(self) -> DatasetPredictions:
        """Build the predictions for the data set."""
        model_inputs = self._list_model_inputs()
        classes = self._list_classes(model_inputs)
        class_names = [format_label(label) for label in classes]
        models = {
            name: self._build_model(name, model_columns, indices, class_names) for name, model_columns, indices in model_inputs
        }
        roles, weight, cluster = self.columns.roles, self.columns.weight, self.columns.cluster
        y_true = self._require_agreement(
            _encode_as_classes(self.columns.y_true, class_names)[self.lines], "y_true", roles.get("y_true"), suggest_y_true()
        )
        weights = None if weight is None else self._require_agreement(weight[self.lines], "weight", roles.get("weight"))
        subgroups = {
            name: _decode_values(self._require_agreement(encoded.codes[self.lines], f"subgroup {name!r}", name), encoded)
            for name, encoded in self.columns.subgroups.items()
        }
        clusters = (
            None if cluster is None else self._require_agreement(cluster.codes[self.lines], "cluster", roles.get("cluster"))
        )
        scored_class = roles.scored_class
        return DatasetPredictions(
            self.name, tuple(classes), self.row_ids, y_true, weights, subgroups, models, scored_class, clusters
        )

    def _index_rows(self) -> tuple[IntArray, npt.NDArray[Any]]:
        """Return the row index of each line and the ids of the rows. Lines without ids are numbered within each model."""
        import pandas as pd

        row, lines = self.columns.row, self.lines
        if row is not None:
            row_indices, row_codes = pd.factorize(row.codes[lines])
            ids = np.empty(len(row_codes), dtype=object)
            ids[:] = [row.values[i] for i in row_codes]
            return row_indices.astype(np.intp), ids
        keys = pd.DataFrame({"m": self.columns.model.codes[lines], "r": self.columns.repeat[lines]})
        row_indices = keys.groupby(["m", "r"]).cumcount().to_numpy().astype(np.intp)
        if self.columns.roles.get("model") and len(self.columns.model.values) > 1:
            self.notes.add("rows_in_file_order")
        return row_indices, np.arange(1, int(row_indices.max()) + 2).astype(object)

    def _list_model_inputs(self) -> list[tuple[str, ModelColumns, IntArray]]:
        """List the name, the columns and the lines of each model. Lines are given as positions in `self.lines`."""
        roles, all_indices = self.columns.roles, np.arange(len(self.lines))
        if roles.layout == "wide":
            return [(model_columns.name, model_columns, all_indices) for model_columns in roles.models]
        codes = self.columns.model.codes[self.lines]
        return [
            (format_label(name), roles.models[0], np.flatnonzero(codes == i))
            for i, name in enumerate(self.columns.model.values)
            if (codes == i).any()
        ]

    def _list_classes(self, model_inputs: list[tuple[str, ModelColumns, IntArray]]) -> list[Any]:
        """List the classes in sort order. They are the true labels and all classes with scores."""
        y_true = self.columns.y_true
        classes = {y_true.texts[i]: y_true.values[i] for i in np.unique(y_true.codes[self.lines])}
        for name, model_columns, indices in model_inputs:
            labels = self.columns.labels.get(model_columns.label) if model_columns.label is not None else None
            if labels is not None:
                present = [i for i in np.unique(labels.codes[self.lines[indices]]) if i >= 0]
                if present:
                    check_predicted(
                        self.true_labels, [labels.texts[i] for i in present], self._describe_model(name), self.notes
                    )
            for text, column in model_columns.scores:
                if (
                    text is not None
                    and text not in classes
                    and self.columns.table[column].iloc[self.lines[indices]].notna().any()
                ):
                    classes[text] = text
                    self.notes.add("class_without_rows", Subject("", self._dataset_note), label=text)
        try:
            return sorted(classes.values())
        except TypeError:
            return [classes[text] for text in sorted(classes)]

    def _build_model(self, name: str, model_columns: ModelColumns, indices: IntArray, classes: list[str]) -> ModelPredictions:
        subject, lines = self._describe_model(name), self.lines[indices]
        row_indices, repeat, fold = self.row_indices[indices], self.columns.repeat[lines], self.columns.fold[lines]
        self._check_repeated_rows(row_indices, repeat, fold, subject)
        ids = self.row_ids[row_indices]
        positive = self.positive
        if positive is None and len(classes) == 2:
            positive = classes[choose_positive(classes, self.columns.roles.scored_class)[0] or 0]
        scores = build_scores(self.columns.table, model_columns, lines, classes, positive, ids, subject, self.notes)
        labels = (
            None
            if model_columns.label is None
            else _encode_as_classes(self.columns.labels[model_columns.label], classes)[lines]
        )
        positive_index = classes.index(str(positive)) if len(classes) == 2 and str(positive) in classes else None
        prediction, source = resolve_labels(labels, scores, subject, self.notes, positive_index)
        matrix, kind = (None, None) if scores is None else (scores.values, scores.kind)
        predictions = ModelPredictions(name, row_indices, repeat, fold, prediction, matrix, kind, source)
        if model_columns.label is not None and source == "file":
            is_missing = self.columns.labels[model_columns.label].codes[lines][predictions.first_lines] < 0
            note_missing_labels(int(is_missing.sum()), len(is_missing), subject, self.notes)
        return predictions

    def _check_repeated_rows(self, row_indices: IntArray, repeat: IntArray, fold: IntArray, subject: Subject) -> None:
        """Check that a model predicts each row once per repeat and fold.

        If the file has no repeat or fold column, several lines of a row count as repeated predictions, in file order.
        """
        if (np.diff(row_indices) > 0).all():
            return
        roles = self.columns.roles
        order = np.lexsort((fold, repeat, row_indices))
        keys = np.column_stack([row_indices, repeat, fold])[order]
        same = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
        if not len(same):
            return
        if roles.get("repeat") is None and roles.get("fold") is None:
            self.notes.add("numbered_predictions", subject, column=str(roles.get("row")), lines=len(same))
            return
        raise InputError(
            f"{subject} must predict each row once per repeat and fold, got row {self.row_ids[keys[same[0], 0]]!r} more than "
            f"once ({len(same)} such lines): drop the repeated lines"
        )

    def _require_agreement(self, values: npt.NDArray[Any], description: str, column: Any, remedy: str = "") -> npt.NDArray[Any]:
        return _require_agreement(self.row_indices, values, self.row_ids, f"{description}{self.where}", str(column), remedy)

    def _describe_model(self, name: str) -> Subject:
        return Subject(name, self._dataset_note)


def _encode_as_classes(labels: EncodedColumn, classes: list[str]) -> IntArray:
    """Encode labels as indices of classes. Labels that are missing or are not a class become ABSTAINED."""
    codes = {text: i for i, text in enumerate(classes)}
    table = np.array([*(codes.get(text, ABSTAINED) for text in labels.texts), ABSTAINED], dtype=np.intp)
    return np.asarray(table[labels.codes])


def list_codes(n_classes: int, with_unknown: bool) -> list[int]:
    """List the codes of the classes, followed by ABSTAINED if some labels are not classes."""
    return [*range(n_classes), *([ABSTAINED] if with_unknown else [])]


def _decode_values(codes: IntArray, encoded: EncodedColumn) -> npt.NDArray[Any]:
    names = np.array([*encoded.texts, "(missing)"], dtype=object)
    return np.asarray(names[codes])


def _require_agreement(
    row_indices: IntArray, values: npt.NDArray[Any], row_ids: npt.NDArray[Any], description: str, column: str, remedy: str
) -> npt.NDArray[Any]:
    """Return one value per row, and check that all lines of a row have the same value."""
    row_values = np.empty(len(row_ids), dtype=values.dtype)
    row_values[row_indices[::-1]] = values[::-1]
    differs = row_values[row_indices] != values
    if differs.any():
        row = row_ids[row_indices[int(np.argmax(differs))]]
        raise InputError(
            f"{description} must be the same in all lines of a row, got a difference at row {row!r} of column {column!r} "
            f"({format_count(int(differs.sum()), 'such line')}): check the row ids{remedy}"
        )
    return row_values


def _check_weights(values: FloatArray, column: str, line_numbers: pd.Index[Any]) -> FloatArray:
    """Check that weights are finite, not negative and not all zero."""
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        line = int(np.argmax(bad))
        raise InputError(
            f"weights must be finite and not negative, got {values[line]} in column {column!r}, line {line_numbers[line]} "
            f"({format_count(int(bad.sum()), 'such line')})"
        )
    if not values.any():
        raise InputError(f"weights must not all be zero, got only zeros in column {column!r}")
    return values


@dataclass(frozen=True, eq=False)
class PredictedScores:
    """Scores of every class, and their kind.

    `single_column` is true if the scores come from a single column that does not contain probabilities.
    """

    values: FloatArray
    kind: ScoreKind
    single_column: bool = False


def build_scores(
    table: pd.DataFrame,
    model_columns: ModelColumns,
    lines: IntArray,
    classes: list[str],
    positive: object,
    ids: npt.NDArray[Any],
    subject: Subject,
    notes: Notes,
) -> PredictedScores | None:
    """Build the scores of a model. Return None if the model has no scores."""
    scores_by_class = {
        name: _to_float_scores(table[column].iloc[lines], column, subject) for name, column in model_columns.scores
    }
    names = dict(model_columns.scores)
    # A column is empty if its class does not occur in the data set. All columns are empty if the model has no scores.
    scores_by_class = {name: values for name, values in scores_by_class.items() if not np.isnan(values).all()}
    if not scores_by_class:
        return None
    for name, values in scores_by_class.items():
        _check_finite(values, names[name], ids, subject)
    if set(scores_by_class) == {None} or (len(scores_by_class) == 1 and len(classes) == 2):
        name, values = next(iter(scores_by_class.items()))
        class_index = _resolve_score_class(classes, positive, subject) if name is None else classes.index(name)
        return _build_binary_scores(values, class_index, names[name], ids, subject)
    missing = [label for label in classes if label not in scores_by_class]
    if missing:
        raise InputError(
            f"scores of {subject} must have a column for each class, got none for {missing[0]!r}: add it, or pass "
            f"{name_argument('scores', 'MAPPING', 'CLASS=COLUMN')}"
        )
    matrix = np.column_stack([scores_by_class[label] for label in classes])
    matrix, is_probability = _check_probabilities(matrix, [names[label] for label in classes], ids, subject, notes)
    return PredictedScores(matrix, "probability" if is_probability else "decision")


def resolve_labels(
    labels: IntArray | None, scores: PredictedScores | None, subject: Subject, notes: Notes, positive: int | None = None
) -> tuple[IntArray, LabelSource]:
    """Return the predicted classes, and whether they come from the file or were derived from the scores.

    If only some rows of a model have labels, the other rows count as abstentions (-1). If labels are derived from probabilities
    of two classes, the positive class is predicted if its probability is at least `USUAL_THRESHOLD`.
    """
    if labels is not None and not (labels < 0).all():
        return labels, "file"
    if scores is None:
        raise InputError(f"{subject} must have predicted labels or scores, got neither: drop its lines")
    if scores.kind == "probability" and positive is not None:
        predicted = np.where(scores.values[:, positive] >= USUAL_THRESHOLD, positive, 1 - positive).astype(np.intp)
    else:
        predicted = scores.values.argmax(axis=1).astype(np.intp)
    source = note_label_source(
        scores.kind, scores.single_column, scores.single_column and len(np.unique(predicted)) < 2, subject, notes
    )
    return predicted, source


def _to_float_scores(column: pd.Series[Any], name: str, subject: Subject) -> FloatArray:
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InputError(
            f"scores of {subject} must be numbers, got text in column {name!r}: convert it, or name another"
        ) from None


def _resolve_score_class(classes: list[str], positive: object, subject: Subject) -> int:
    if positive is not None:
        if str(positive) not in classes:
            raise InputError(f"positive must be one of the classes, got {positive!r}: {suggest_name(positive, classes)}")
        if len(classes) == 2:
            return classes.index(str(positive))
    if len(classes) != 2:
        raise InputError(
            f"scores of {subject} must have a column for each of the {len(classes)} classes, got one column: name them "
            f"score[{classes[0]}], score[{classes[1]}] ..., or pass {name_argument('scores', 'MAPPING', 'CLASS=COLUMN')}"
        )
    return 1


def _build_binary_scores(
    values: FloatArray, class_index: int, column: str, ids: npt.NDArray[Any], subject: Subject
) -> PredictedScores:
    """Build the scores of two classes from the scores of one of them."""
    is_probability = bool(((values >= 0) & (values <= 1)).all())
    if not is_probability and is_named_probability(column):
        line = int(np.argmax((values < 0) | (values > 1)))
        raise InputError(
            f"probabilities of {subject} must lie between 0 and 1, got {values[line]:g} at row {ids[line]!r}: "
            f"{suggest_scale(float(values.min()), float(values.max()))}"
        )
    complement = 1 - values if is_probability else -values
    matrix = np.column_stack([complement, values] if class_index == 1 else [values, complement])
    return PredictedScores(matrix, "probability" if is_probability else "decision", single_column=not is_probability)


def _check_finite(values: FloatArray, column: str, row_ids: npt.NDArray[Any], subject: Subject) -> FloatArray:
    """Check that scores are finite numbers."""
    bad = ~np.isfinite(values)
    if bad.any():
        line = int(np.argmax(bad))
        problem = "a missing score" if np.isnan(values[line]) else f"{values[line]}"
        raise InputError(
            f"scores of {subject} must be finite numbers, got {problem} in column {column!r} at row {row_ids[line]!r} "
            f"({format_count(int(bad.sum()), 'such line')}): enter finite scores, or "
            f"pass {name_argument('drop_missing', 'True')}"
        )
    return values


def _check_probabilities(
    scores: FloatArray, columns: Sequence[str], row_ids: npt.NDArray[Any], subject: Subject, notes: Notes
) -> tuple[FloatArray, bool]:
    """Return the scores, and whether they are probabilities.

    Probabilities lie between 0 and 1 and sum to 1 in each row. If rounding has changed the sums, probabilities are rescaled.
    """
    is_named = all(is_named_probability(column) for column in columns)
    outside = (scores < 0) | (scores > 1)
    if outside.any():
        if is_named:
            line = int(np.argmax(outside.any(axis=1)))
            worst = scores[line][outside[line]][0]
            raise InputError(
                f"probabilities of {subject} must lie between 0 and 1, got {worst:g} at row {row_ids[line]!r}: "
                "rename the columns to scores if they are not probabilities"
            )
        return scores, False
    sums = scores.sum(axis=1)
    deviation = np.abs(sums - 1)
    if (deviation <= EXACT_TOLERANCE).all():
        return scores, True
    if (deviation <= ROUNDING_TOLERANCE * scores.shape[1]).all():
        notes.add("rescaled_probabilities", subject, deviation=float(deviation.max()))
        return scores / sums[:, None], True
    line, is_near = int(np.argmax(deviation)), deviation <= ROUNDING_TOLERANCE * scores.shape[1]
    if not is_named and (is_near | (scores == 0).all(axis=1)).all():
        notes.add("zero_scores", subject, zero=int((~is_near).sum()), rows=len(is_near))
        return scores, False
    if is_named or is_near.mean() > 0.5:
        raise InputError(
            f"probabilities of {subject} must sum to 1 in each row, got {sums[line]:.6g} at row {row_ids[line]!r} "
            f"({format_count(int((~is_near).sum()), 'such line')}): normalize them, or rename the columns to scores if "
            "they are not probabilities"
        )
    notes.add("not_probabilities", subject, deviation=float(deviation.max()))
    return scores, False
