"""Read scores in wide or tidy form from a file, a data frame or a matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite, isnan, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial import _check
from fairtrial._check import FloatArray
from fairtrial._findings import Finding
from fairtrial._frames import to_pandas
from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError
from fairtrial.significance.scores import Design as Design, Scores as Scores, Split, rank_values

if TYPE_CHECKING:
    import pandas as pd

# Names of columns in lower case, without spaces, hyphens or underscores.
_ALIASES = {
    "dataset": ("dataset", "data", "datasets", "domain", "problem", "task"),
    "learner": ("learner", "model", "algorithm", "classifier", "method", "estimator"),
    "value": ("value", "score", "result"),
    "repeat": ("repeat", "repetition", "rep", "run", "seed"),
    "fold": ("fold", "split"),
    "measure": ("measure", "metric"),
}


_ROLES = {alias: role for role, aliases in _ALIASES.items() for alias in aliases}


_MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "-", "<na>")


@dataclass(frozen=True)
class ScoreColumns:
    """Columns of a table of scores.

    `describe_row` returns a description of a row for messages. `index` contains the row names if no column contains them.
    """

    names: list[str]
    columns: list[Sequence[Any]]
    describe_row: Callable[[int], str]
    index: list[str]
    named_index: bool = False
    text_index: bool = False
    decimal_comma: bool = False
    peculiarities: tuple[str, ...] = ()

    def find_roles(self) -> dict[str, int]:
        """Map each role, such as learner or fold, to the column with a matching name."""
        indices: dict[str, int] = {}
        for i, name in enumerate(self.names):
            role = _ROLES.get("".join(letter for letter in name.lower() if letter not in " -_"))
            if role is not None:
                indices.setdefault(role, i)
        return indices

    def parse_number(self, value: Any) -> float | None:
        """Parse a cell as a number. Return NaN if it is missing and None if it is not a number."""
        if isinstance(value, str):
            if value.strip().lower() in _MISSING:
                return nan
            value = value.strip().replace(",", ".") if self.decimal_comma else value.strip()
            if "_" in value:  # Python reads 1_0 as 10
                return None
        elif isinstance(value, bool):
            return None
        try:
            return float(value)
        except (TypeError, ValueError):
            return nan if value is None or str(value) == "<NA>" else None

    @cached_property
    def _parsed_columns(self) -> dict[int, list[float | None]]:
        return {}

    def parse_column(self, column: int) -> list[float | None]:
        """Parse the cells of a column with `parse_number`."""
        if column not in self._parsed_columns:
            cells: Any = self.columns[column]
            self._parsed_columns[column] = (
                cells.astype(np.float64).tolist()
                if isinstance(cells, np.ndarray)
                else [self.parse_number(cell) for cell in cells]
            )
        return self._parsed_columns[column]

    def is_numeric(self, column: int) -> bool:
        """Return whether at least one cell is a number and most cells are numbers or missing."""
        numbers = self.parse_column(column)
        return sum(number is not None for number in numbers) > len(numbers) / 2 and any(
            not isnan(number) for number in numbers if number is not None
        )

    def read_numbers(self, column: int) -> FloatArray:
        """Read a column as finite numbers, with NaN for missing cells."""
        cells = self.columns[column]
        numbers = self.parse_column(column)
        for row, number in enumerate(numbers):
            if number is None or not (isfinite(number) or isnan(number)):
                raise InputError(
                    f"scores must be finite numbers, got {_to_python(cells[row])!r} in {self.describe_row(row)}, "
                    f"column {self.names[column]!r}: correct the cell, or leave it empty if there is no score"
                )
        return np.array(numbers, dtype=np.float64)

    def read_integers(self, column: int) -> list[int] | None:
        """Read a column as whole numbers, or return None if a cell is not a whole number."""
        numbers = self.parse_column(column)
        if not all(number is not None and number.is_integer() for number in numbers):
            return None
        return [int(number) for number in numbers if number is not None]

    def is_fractional(self, column: int) -> bool:
        """Return whether all cells are numbers or missing, and at least one is not a whole number."""
        return None not in self.parse_column(column) and self.read_integers(column) is None

    def is_row_number(self, column: int) -> bool:
        """Return whether a column of whole numbers contains row numbers, judging by its name or its values."""
        integers = self.read_integers(column)
        rows = len(self.columns[column])
        is_sequence = integers in (list(range(rows)), list(range(1, rows + 1))) and rows > 2
        is_only_integer_column = is_sequence and all(
            self.read_integers(other_column) is None for other_column in range(len(self.names)) if other_column != column
        )
        return integers is not None and (
            is_only_integer_column or self.names[column].strip().lower() in ("id", "index", "no", "nr", "#", "")
        )

    def read_finite(self, column: int) -> FloatArray | None:
        """Read a column as numbers, with NaN for missing cells.

        Return None if a cell is not a finite number, or if all cells are missing.
        """
        numbers = self.parse_column(column)
        values = np.array([nan if number is None else number for number in numbers], dtype=np.float64)
        return None if None in numbers or np.isinf(values).any() or np.isnan(values).all() else values

    def select_rows(self, rows: Sequence[int]) -> ScoreColumns:
        """Return the columns with only the given rows."""
        return replace(
            self,
            columns=[[column[row] for row in rows] for column in self.columns],
            describe_row=lambda row: self.describe_row(rows[row]),
            index=[self.index[row] for row in rows],
        )

    def read_labels(self, column: int, role: str) -> list[str]:
        """Read a column as names. Raise an error if a name is missing."""
        cells = [str(_to_python(cell)).strip() for cell in self.columns[column]]
        for row, cell in enumerate(cells):
            if cell == "" or cell.lower() in ("nan", "none", "<na>"):
                raise InputError(
                    f"each row must name its {role}, got an empty cell in {self.describe_row(row)}, column "
                    f"{self.names[column]!r}: enter a name"
                )
        return cells


def _to_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def read_columns_file(path: Path) -> ScoreColumns:
    """Read the columns of a Parquet file, a JSON Lines file or a text table."""
    if not path.is_file():
        if path.is_dir():
            raise InputError(f"{path} is a folder: pass a file")
        raise InputError(f"scores must be a file that exists, got {str(path)!r}: check the path")
    if path.suffix.lower() in (".parquet", ".pq"):
        import pandas as pd

        from fairtrial.data.frames import report_parquet_errors  # importing fairtrial.data takes 50 ms

        with report_parquet_errors(path):
            frame = pd.read_parquet(path)
        return read_columns_frame(frame)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        from fairtrial.data.text_tables import read_json_lines  # importing fairtrial.data takes 50 ms

        return read_columns_frame(read_json_lines(path))
    return _read_text_columns(path)


def _read_text_columns(path: Path) -> ScoreColumns:
    """Read the columns of a text table with a header. Skip empty rows."""
    from fairtrial.data.text_tables import SAVE_AS_UTF8, TextFormat, read_content  # importing fairtrial.data takes 50 ms

    content = read_content(path, remedy=SAVE_AS_UTF8)
    delimiter = content.detect_delimiter() or ","
    rows = [(line, row) for line, row in content.iter_rows(delimiter) if any(row)]
    if len(rows) < 2:
        rule = f"scores must have a header and rows below it, got only {format_count(len(rows), 'row')} in {str(path)!r}"
        raise InputError(f"{rule}: check that the file is complete")
    (_, header), *body = rows
    for line, row in body:
        if len(row) != len(header):
            raise InputError(
                f"each row must have {len(header)} cells like the header, got {len(row)} in line {line} of {str(path)!r}"
            )
    columns = [[row[i] for _, row in body] for i in range(len(header))]
    # Spreadsheets may write empty columns on the right.
    nonempty = [i for i in range(len(header)) if header[i] or any(columns[i])]
    line_numbers = [line for line, _ in body]
    comma_cells = [cell for i in nonempty[1:] for cell in columns[i] if "," in cell]
    # If commas also separate columns, 1,234 may be a whole number.
    is_clear = delimiter != "," or all(re.fullmatch(r"[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))", cell) for cell in comma_cells)
    text_format = TextFormat(delimiter, bool(comma_cells) and is_clear, content.encoding)
    return ScoreColumns(
        [header[i] for i in nonempty],
        [columns[i] for i in nonempty],
        lambda row: f"line {line_numbers[row]}",
        [str(i) for i in range(len(body))],
        decimal_comma=text_format.decimal_comma,
        peculiarities=text_format.list_peculiarities(path),
    )


def read_columns_frame(source: Any) -> ScoreColumns:
    """Read the columns of a data frame or matrix. Index levels with known names become columns."""
    import pandas as pd

    frame = to_pandas(source)
    frame = _to_frame(source) if frame is None else frame
    role_names = [name for name in frame.index.names if isinstance(name, str) and name.lower() in _ROLES]
    if isinstance(frame.index, pd.MultiIndex) or (role_names and frame.index.name not in frame.columns):
        frame = frame.reset_index()
    if not frame.size:
        raise InputError(f"scores must have rows and columns, got an empty table of shape {frame.shape}")
    columns: list[Sequence[Any]] = [_to_cells(series) for _, series in frame.items()]
    index = [str(name) for name in frame.index]
    has_named_index = not isinstance(frame.index, pd.RangeIndex)
    has_text_index = any(isinstance(name, str) for name in frame.index)
    return ScoreColumns(
        [str(name) for name in frame.columns], columns, lambda row: f"row {index[row]}", index, has_named_index, has_text_index
    )


def _to_cells(series: pd.Series[Any]) -> Any:
    return series.to_numpy() if series.dtype.kind in "iuf" else series.astype(object).tolist()


def _to_frame(source: Any) -> pd.DataFrame:
    import pandas as pd

    try:
        values = np.asarray(source)
    except ValueError:
        values = np.empty(0)
    if values.ndim != 2:
        raise InputError(f"scores must be a file, a frame or a matrix of data sets x learners, got {type(source).__name__}")
    return pd.DataFrame(values)


_TIDY = "dataset, learner, value, repeat, fold, measure"


_ONLY_DATA_SET = "data"


def read_scores(
    source: Scores | str | PathLike[str] | pd.DataFrame | Any,
    *,
    measure: str | None = None,
    rows: Literal["datasets", "folds", "seeds"] | None = None,
) -> Scores:
    """Read scores of several learners from a file, a data frame or a matrix.

    The layout is detected automatically, and the attribute `guesses` of the result describes it:

    - A wide table has one row per data set and one column per learner. The names of the data sets are in a column `dataset`, in
      the first column, or in the index of a data frame. Each row is one split if there is a column `repeat` or `fold`, or if
      the rows are named fold 1, fold 2 and so on. If the rows have no names, `rows` must state what they represent.
    - A tidy table has one row per score, with columns `learner` and `value` (or `score`, or the name of a measure). The columns
      `dataset`, `repeat`, `fold` and `measure` are optional.

    Empty cells, NA and ? are read as missing values. Summary rows (e.g. Average or Mean rank) and columns of counts or
    summaries (e.g. n_rows or best) are excluded. The attribute `exclusions` lists them.

    Parameters
    ----------
    source : path, dataframe, 2-D array or Scores
        CSV, TSV, JSON Lines or Parquet file, or a table in memory. A `Scores` object is returned unchanged.
    measure : str, optional
        Measure to read if the table contains several.
    rows : {"datasets", "folds", "seeds"}, optional
        What the rows of a wide table represent: data sets, folds of one data set, or runs with different seeds on the same
        training and test rows. Required if the rows have no names.

    Returns
    -------
    Scores

    Raises
    ------
    InputError
        If the table cannot be read. The error message for an invalid cell states its row and column.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = read_scores(pd.DataFrame({"dataset": ["iris", "wine"], "tree": [0.94, 0.9], "bayes": [0.95, 0.97]}))
    >>> scores.learners, scores.design.datasets
    (('tree', 'bayes'), ('iris', 'wine'))
    >>> scores.guesses[0].kind, scores.guesses[0]["column"]
    ('wide_table', 'dataset')
    """
    if rows is not None:
        _check.check_one_of("rows", rows, _ROW_KINDS)
    if isinstance(source, Scores):
        return source
    raw = read_columns_file(Path(source)) if isinstance(source, (str, PathLike)) else read_columns_frame(source)
    _check_unique("column", raw.names)
    roles = raw.find_roles()
    _check_no_predictions(raw, roles)
    raw, exclusions = _drop_summary_rows(raw, roles)
    scores = _read_tidy(raw, roles, measure) if _is_tidy(raw, roles) else _read_wide(raw, roles, rows)
    scores = replace(scores, exclusions=(*exclusions, *scores.exclusions))
    _check_design(scores)
    _check_rows(scores.design, rows)
    if raw.peculiarities:
        scores = replace(scores, guesses=(*scores.guesses, Finding.of("file_format", peculiarities=raw.peculiarities)))
    return scores


# Names of true labels in lower case, without spaces, hyphens or underscores. The pattern below matches names of predictions.
_Y_TRUE_NAMES = (
    *("ytrue", "truth", "true", "truelabel", "trueclass", "ytest", "actual", "groundtruth", "gold", "target", "y", "label"),
    *("class", "outcome"),
)

_PREDICTION_NAME = re.compile(
    r"(.+[_ .\-])?(y[_ .\-]?)?(pred|predicted|prediction|probs?|proba|probability|p|score)([_ .\-].+|\[.*\]|\(.*\))?"
)


def contains_predictions(path: Path) -> bool:
    """Return whether a file contains predictions with true labels instead of scores."""
    raw = read_columns_file(path)
    return _find_true_labels(raw, raw.find_roles()) is not None


def _check_no_predictions(raw: ScoreColumns, roles: dict[str, int]) -> None:
    """Raise an error if the table contains predictions."""
    name = _find_true_labels(raw, roles)
    if name is not None:
        raise InputError(
            f"scores must have one row per data set, fold or score, got predictions with true labels in column {name!r}: "
            "use judge (fairtrial judge on the command line)"
        )


def _find_true_labels(raw: ScoreColumns, roles: dict[str, int]) -> str | None:
    """Find the name of a column of true labels, or return None if there is none.

    The column must have few distinct values. It must be named like true labels, or have exactly two values and occur alongside
    a column that is named like predictions.
    """
    if len(raw.index) < 4:
        return None
    named_predictions = {
        i for i, name in enumerate(raw.names) if i not in roles.values() and _PREDICTION_NAME.fullmatch(name.lower())
    }
    for i, name in enumerate(raw.names):
        if i in roles.values() or i in named_predictions or raw.is_fractional(i):
            continue
        n_labels = len({str(cell) for cell in raw.columns[i]})
        is_named = "".join(letter for letter in name.lower() if letter not in " -_") in _Y_TRUE_NAMES
        if 2 <= n_labels <= len(raw.index) / 2 and (is_named or (n_labels == 2 and named_predictions)):
            return name
    return None


_ROW_KINDS = ("datasets", "folds", "seeds")


# Patterns of row and column names in lower case, with words separated by one space.
_SUMMARY_NAME = re.compile(
    r"((overall|grand|arithmetic|geometric|total) )?"
    r"(averages?|avg|means?|medians?|mittelwert|durchschnitt|ø|std|stdev|stddev|standard deviation|variance)"
    r"( (ranks?|rankings?|scores?|values?|accuracy|acc|auc|f1|dev|deviation|overall|all))?"
    r"|ranks? (avg|average|mean)|w t l|wtl|wins? (ties?|draws?) (loss|losses)|wins? loss(es)?|p values?"
)
_POSSIBLE_SUMMARY_NAME = re.compile(
    r"(overall|total|sum|ranks?|rankings?|min|max|minimum|maximum|best|worst|oracle|winner|all|summary|aggregate|combined|sd|var"
    r"|mean|average|avg|median|std|range)( (score|value|overall|all))?"
)
_COUNT_NAME = re.compile(
    r"((n|no|num|nr|number|count|total)( of)? )?"
    r"(n|rows?|instances?|samples?|examples?|cases?|observations?|features?|attributes?|variables?|classes|labels|size)"
)
_NO_LEARNER_NAME = re.compile(
    r"p value|((fit|fitting|train|training|test|predict|prediction|cpu|wall) )?time( (s|ms|sec|seconds))?|runtime|seconds"
    r"|imbalance( ratio)?"
)
_SPREAD_NAME = re.compile(r"(.+) (std|sd|se|stdev|stddev|std ?err)")


def _normalise_words(name: str) -> str:
    return " ".join(re.findall(r"\w+", re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", name).lower()))


def _drop_summary_rows(raw: ScoreColumns, roles: dict[str, int]) -> tuple[ScoreColumns, tuple[Finding, ...]]:
    """Drop rows that summarize the other rows, e.g. means or mean ranks."""
    label_columns = {i for role, i in roles.items() if role in ("dataset", "repeat", "fold")}
    label_columns |= set() if 0 in roles.values() else {0}
    labels = [[raw.columns[i][row] for i in label_columns] for row in range(len(raw.index))]
    if raw.text_index:
        labels = [[*cells, raw.index[row]] for row, cells in enumerate(labels)]
    names = {row: [cell.strip() for cell in cells if isinstance(cell, str)] for row, cells in enumerate(labels)}
    summaries = {row: name for row in names for name in names[row] if _SUMMARY_NAME.fullmatch(_normalise_words(name))}
    candidates = {
        row: name
        for row in names
        for name in names[row]
        if row not in summaries and _POSSIBLE_SUMMARY_NAME.fullmatch(_normalise_words(name))
    }
    others = [row for row in names if row not in summaries and row not in candidates]
    summaries |= {row: name for row, name in candidates.items() if _summarizes_rows(raw, row, others, label_columns)}
    rows = [row for row in names if row not in summaries]
    if not summaries or len(rows) < 2:
        return raw, ()
    return raw.select_rows(rows), (Finding.of("summary_rows", rows=tuple(dict.fromkeys(summaries[row] for row in summaries))),)


def _summarizes_rows(raw: ScoreColumns, row: int, others: Sequence[int], label_columns: Container[int]) -> bool:
    """Return whether the numbers of a row are aggregates of the other rows, such as means."""
    columns = [i for i in range(len(raw.names)) if i not in label_columns]
    values = [raw.select_rows([*others, row]).read_finite(i) for i in columns]
    if len(others) < 2 or len(columns) < 2 or any(column is None for column in values):
        return False
    table = np.column_stack([column for column in values if column is not None])
    return _is_aggregate(table[:-1].T, table[-1], [raw.columns[i][row] for i in columns])


def _is_aggregate(table: FloatArray, values: FloatArray, cells: Sequence[Any]) -> bool:
    """Return whether `values` are the means, other aggregates or mean ranks of the table rows."""
    tolerance = np.array([0.5 * 10.0 ** -_count_decimals(cell) for cell in cells]) * (1 + 1e-6)
    ranks = rank_values(table.T)
    k = len(table)
    aggregates = [
        *(function(table, axis=1) for function in (np.mean, np.median, np.sum, np.min, np.max, np.ptp, np.std)),
        *([np.std(table, axis=1, ddof=1)] if table.shape[1] > 1 else []),
        *(ranking.mean(axis=0) for ranking in (ranks, k + 1 - ranks)),
    ]
    return any(bool((np.abs(aggregate - values) <= tolerance + 1e-12).all()) for aggregate in aggregates)


def _count_decimals(cell: Any) -> int:
    text = str(_to_python(cell)).strip().replace(",", ".")
    return len(text.partition(".")[2]) if "." in text and "e" not in text.lower() else 9 if "e" in text.lower() else 0


def _find_unused_columns(raw: ScoreColumns, learners: Sequence[int]) -> dict[int, str]:
    """Map numeric columns that cannot be scores to the kind of finding that explains why."""
    numbers = {i: values for i in learners if (values := raw.read_finite(i)) is not None}
    words = {i: _normalise_words(raw.names[i].replace("#", "n ")) for i in numbers}
    is_proportion = {
        i: bool(np.nanmin(values) >= 0 and np.nanmax(values) <= 1) and raw.read_integers(i) is None
        for i, values in numbers.items()
    }
    unused: dict[int, str] = {}
    for i, values in numbers.items():
        defined = values[~np.isnan(values)]
        is_count = bool((defined == np.floor(defined)).all()) and defined.max() > 1
        others = [j for j in numbers if j != i]
        spread = _SPREAD_NAME.fullmatch(words[i])
        if (is_count and sum(is_proportion.values()) > 1) or (
            is_count and _COUNT_NAME.fullmatch(words[i]) and sum(raw.is_fractional(j) for j in others) > 1
        ):
            unused[i] = "count_columns"
        elif _NO_LEARNER_NAME.fullmatch(words[i]) or (spread is not None and spread[1] in words.values()):
            unused[i] = "other_columns"
    for i, values in numbers.items():
        others = [j for j in numbers if j != i and j not in unused]
        if i not in unused and len(others) > 1 and _POSSIBLE_SUMMARY_NAME.fullmatch(words[i]):
            table = np.column_stack([numbers[j] for j in others])
            if _is_aggregate(table, values, list(raw.columns[i])):
                unused[i] = "summary_columns"
    return unused if len(learners) - len(unused) > 1 else {}


def _check_rows(design: Design, rows: str | None) -> None:
    """Check that the argument `rows` agrees with the table."""
    is_one_set = len(design.datasets) == 1
    if rows == "seeds" and design.folds > 1:
        raise InputError(f"rows must agree with the table, got 'seeds' for {design.folds} folds: omit it")
    if rows is not None and (rows != "datasets") != is_one_set:
        content = "one data set with several splits" if is_one_set else "several data sets"
        raise InputError(f"rows must agree with the table, got {rows!r} for {content}: omit it")


def _check_unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"each {kind} must occur once in the table, got {name!r} more than once: rename or average")
        seen.add(name)


def _is_tidy(raw: ScoreColumns, roles: dict[str, int]) -> bool:
    return "learner" in roles and ("value" in roles or not raw.is_numeric(roles["learner"]))


def _read_wide(raw: ScoreColumns, roles: dict[str, int], rows: str | None) -> Scores:
    names, layout = _find_names_column(raw, roles)
    # A learner may be called Run or Seed, so a column of fractional numbers is not read as repeats or folds.
    keys = {role: i for role, i in roles.items() if role in ("repeat", "fold") and not raw.is_fractional(i)}
    learners = [i for i in range(len(raw.names)) if i != names and i not in keys.values()]
    unused = _find_unused_columns(raw, learners)
    learners = [i for i in learners if i not in unused]
    kinds = dict.fromkeys(unused.values())
    exclusions = tuple(Finding.of(kind, columns=tuple(raw.names[i] for i in unused if unused[i] == kind)) for kind in kinds)
    learner_names = tuple(raw.names[i] for i in learners)
    guesses = [layout, *(Finding.of("wide_table_key", column=raw.names[i], role=role) for role, i in keys.items())]
    labels = raw.index if names is None else raw.read_labels(names, "data set")
    fold_role = None if keys else _find_split_role(labels)
    if not keys and fold_role is None and rows is None and "dataset" not in roles and _has_no_row_names(raw, names, labels):
        choices = [name_argument("rows", value) for value in ("datasets", "folds")]
        raise InputError(
            "rows must be data sets or folds, got a table that does not name them: pass "
            f"{choices[0]} if each row is a different data set, {choices[1]} if the rows are folds of one data set"
        )
    if fold_role is not None or (rows in ("folds", "seeds") and not keys):
        role = "repeat" if rows == "seeds" else fold_role or "fold"
        guesses = [Finding.of("wide_table_splits", role=role)]
        splits = tuple((_ONLY_DATA_SET, *((label, 1) if role == "repeat" else (1, label))) for label in labels)
        _check_unique(role, labels)
        return Scores(_stack_columns(raw, learners), splits, learner_names, tuple(guesses), exclusions=exclusions)
    # The row numbers of a shuffled or joined data frame do not name data sets.
    is_single_dataset = keys and names is None and not (raw.text_index and len(set(raw.index)) < len(raw.index))
    datasets = (
        raw.read_labels(names, "data set")
        if names is not None
        else [_ONLY_DATA_SET] * len(raw.index)
        if is_single_dataset
        else raw.index
    )
    splits = _read_splits(raw, datasets, keys)
    duplicate = (
        next((split for i, split in enumerate(splits) if split in splits[:i]), None) if len(set(splits)) < len(splits) else None
    )
    if duplicate is not None:
        kind = "split" if keys else "data set"
        remedy = "number the repeats" if keys else "rename it, or add a column 'fold' or 'repeat'"
        raise InputError(
            f"each {kind} must occur once in the table, got {_format_split(duplicate, keys)} more than once: {remedy}"
        )
    return Scores(_stack_columns(raw, learners), splits, learner_names, tuple(guesses), exclusions=exclusions)


def _stack_columns(raw: ScoreColumns, columns: Sequence[int]) -> FloatArray:
    return np.column_stack([raw.read_numbers(i) for i in columns]) if columns else np.empty((len(raw.index), 0))


def _find_split_role(labels: Sequence[str]) -> str | None:
    """Return "fold" or "repeat" if all labels name one, e.g. fold 1 or run_2. Otherwise, return None."""
    words = {match[1] if (match := _SPLIT_LABEL.fullmatch(label.lower())) else "" for label in labels}
    if len(words) != 1 or words == {""}:
        return None
    return "fold" if words & {"fold", "split", "cv"} else "repeat"


_SPLIT_LABEL = re.compile(r"(fold|split|cv|repeat|repetition|rep|run|seed)[ _.#-]*\d+")


def _has_no_row_names(raw: ScoreColumns, names: int | None, labels: Sequence[str]) -> bool:
    """Return whether the rows have no names, or only consecutive numbers."""
    if names is not None and raw.names[names].strip().lower() not in ("", "unnamed: 0") and not raw.is_row_number(names):
        return False
    numbers = sorted(int(label) for label in labels if label.isdigit())
    is_counted = len(numbers) == len(labels) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return is_counted or (names is None and not raw.named_index)


def _find_names_column(raw: ScoreColumns, roles: dict[str, int]) -> tuple[int | None, Finding]:
    """Find the column of data set names (None: the index), and describe the layout."""
    if "dataset" in roles:
        return roles["dataset"], Finding.of("wide_table", column=raw.names[roles["dataset"]])
    unknown = 0 not in roles.values()
    if raw.names[0] in ("", "Unnamed: 0") or (unknown and (raw.is_row_number(0) or not raw.is_numeric(0))):
        return 0, Finding.of("wide_table", column=raw.names[0] or "1")
    return None, Finding.of("wide_table_index" if raw.named_index else "wide_table_unnamed")


def _read_splits(raw: ScoreColumns, datasets: list[str], keys: dict[str, int]) -> tuple[Split, ...]:
    repeats, folds = (_read_split_labels(raw, keys, role) for role in ("repeat", "fold"))
    return tuple(zip(datasets, repeats, folds, strict=True))


def _read_split_labels(raw: ScoreColumns, keys: dict[str, int], role: str) -> list[Hashable]:
    """Read the labels of repeats or folds. Convert them to integers if all are whole numbers."""
    if role not in keys:
        return [1] * len(raw.index)
    labels = raw.read_labels(keys[role], role)
    numbers = [raw.parse_number(label) for label in labels]
    if all(number is not None and not isnan(number) and number == int(number) for number in numbers):
        return [int(number) for number in numbers if number is not None]
    return list(labels)


def _format_split(split: Split, keys: dict[str, int]) -> str:
    numbers = {"repeat": split[1], "fold": split[2]}
    return ", ".join([repr(split[0]), *(f"{role} {numbers[role]}" for role in keys)])


def _read_tidy(raw: ScoreColumns, roles: dict[str, int], measure: str | None) -> Scores:
    value, name = _find_value_column(raw, roles, measure)
    used = {role: i for role, i in roles.items() if role not in ("value", "measure")}
    learners = raw.read_labels(roles["learner"], "learner")
    datasets = raw.read_labels(roles["dataset"], "data set") if "dataset" in roles else [_ONLY_DATA_SET] * len(raw.index)
    keys = {role: i for role, i in used.items() if role in ("repeat", "fold")}
    splits = _read_splits(raw, datasets, keys)
    values = raw.read_numbers(value)
    rows = list(range(len(values)))
    if "measure" in roles:
        measures = raw.read_labels(roles["measure"], "measure")
        name = _choose_measure(measures, measure)
        rows = [row for row in rows if measures[row] == name]
    row_index = {split: i for i, split in enumerate(dict.fromkeys(splits[row] for row in rows))}
    column_index = {learner: i for i, learner in enumerate(dict.fromkeys(learners[row] for row in rows))}
    cells = np.full((len(row_index), len(column_index)), np.nan)
    seen: set[tuple[Split, str]] = set()
    for row in rows:
        cell = splits[row], learners[row]
        if cell in seen:
            where = _format_split(splits[row], keys)
            raise InputError(
                f"each score must occur once, got learner {learners[row]!r} on data set {where} more than once (again in "
                f"{raw.describe_row(row)}): number the repeats and folds in columns 'repeat' and 'fold', or average"
            )
        seen.add(cell)
        cells[row_index[splits[row]], column_index[learners[row]]] = values[row]
    columns = sorted({**used, "value": value}.items(), key=lambda item: item[1])
    guesses = (Finding.of("tidy_table", columns=tuple(f"{role} = {raw.names[i]!r}" for role, i in columns)),)
    return Scores(cells, tuple(row_index), tuple(column_index), guesses, name)


def _find_value_column(raw: ScoreColumns, roles: dict[str, int], measure: str | None) -> tuple[int, str | None]:
    """Find the column of scores, and the measure if the column is named after a measure."""
    unused_columns = [i for i in range(len(raw.names)) if i not in roles.values()]
    if "value" in roles and not unused_columns:
        return roles["value"], None
    measure_columns = [i for i in unused_columns if raw.names[i] == measure] or [
        i for i in unused_columns if _is_measure(raw.names[i])
    ]
    if (
        "value" not in roles
        and len(measure_columns) == 1
        and (len(unused_columns) == 1 or raw.names[measure_columns[0]] == measure)
    ):
        return measure_columns[0], raw.names[measure_columns[0]]
    if "value" not in roles and "dataset" not in roles and all(raw.is_numeric(i) for i in unused_columns):
        learner_column = raw.names[roles["learner"]]
        remedy = f"name the column of numbers 'value', or transpose the table if its column {learner_column!r} names the rows"
    elif "value" not in roles and measure_columns:
        remedy = f"pass {name_argument('measure', 'NAME')} to choose {raw.names[measure_columns[0]]!r} or another"
    elif "value" not in roles:
        remedy = "name the column of numbers 'value'"
    else:
        remedy = "drop it, or keep the rows of one setting"
    columns_text = join_names([repr(raw.names[i]) for i in unused_columns])
    raise InputError(
        f"a tidy table must have the columns {_TIDY} and no others, got {columns_text or 'no column of numbers'}: {remedy}"
    )


def _is_measure(name: str) -> bool:
    from fairtrial.measures import registry

    return name in registry


def _choose_measure(measures: list[str], measure: str | None) -> str:
    names = list(dict.fromkeys(measures))
    if measure is None and len(names) > 1:
        raise InputError(
            f"scores must be of one measure, got {join_names(names)}: pass {name_argument('measure', 'NAME')} to choose one"
        )
    if measure is not None and measure not in names:
        raise InputError(f"measure must be one of those in the table, got {measure!r}: {suggest_name(measure, names)}")
    return measure or names[0]


def _check_design(scores: Scores) -> None:
    _check_unique("learner", scores.learners)
    design = scores.design
    if len(design.learners) < 2:
        learners_text = f"only {design.learners[0]!r}" if design.learners else "none"
        raise InputError(f"scores must have at least 2 learners to compare, got {learners_text}: add a column for each learner")
    if len(scores.splits) < 2:
        raise InputError(
            f"scores must come from several data sets, repeats or folds, got one score per learner on {design.datasets[0]!r}: "
            "add more data sets, repeats or folds"
        )
    values = scores.cells[~np.isnan(scores.cells)]
    if not len(values):
        raise InputError("scores must contain numbers, got only missing values")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        raise InputError(f"scores must differ somewhere, got {values[0]:g} in every cell")
