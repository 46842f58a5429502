"""Statistics of models in files that are too large for memory.

DuckDB scans each file without keeping its rows in memory.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray, check_magnitude
from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial._text import format_count, join_names
from fairtrial.errors import InputError
from fairtrial.kernels.sorting import order_scores
from fairtrial.measures import Measure, auc
from fairtrial.measures.auc_inference import AucContrast, VariancePart
from fairtrial.measures.confusion import Confusion
from fairtrial.measures.intervals import Interval, compute_clustered_wilson_limits, compute_weighted_wilson_limits
from fairtrial.measures.measure import LabelMeasure, MultiScoreMeasure, OutcomeMeasure
from fairtrial.measures.rows import OutcomeSample
from fairtrial.measures.subgroup_gaps import SubgroupValues, omit_subgroup_limits
from fairtrial.measures.tally import ScoreTally, build_sorted_tally, quote_identifier
from fairtrial.predictions.columns import (
    ALIASES,
    ModelColumns,
    Roles,
    find_duplicate_labels,
    find_percentages,
    format_label,
    guess_roles,
    is_named_probability,
    normalize_label,
    normalize_name,
    suggest_scale,
)
from fairtrial.predictions.probabilities import ProbabilityAssessment
from fairtrial.predictions.read import (
    JSON_LINES,
    MAX_COMPARED_LINES,
    MISSING_STRINGS,
    ONLY_DATA_SET,
    ONLY_MODEL,
    PARQUET,
    REQUIRED_ROLES,
    ScoreKind,
    list_codes,
)
from fairtrial.predictions.statistics import (
    BINS,
    MAX_COUNT_RESAMPLES,
    MEAN_LOSSES,
    CountIntervals,
    JudgeSettings,
    SplitValue,
    allow_unknown_labels,
    draw_counts,
    estimate_table_subgroups,
    find_missing_input,
    get_proportion_counts,
    merge_into_bins,
    prepare_table,
    run_swaps,
    summarize_resamples,
)
from fairtrial.predictions.validate import (
    EXACT_TOLERANCE,
    ROUNDING_TOLERANCE,
    SCHEME_COLUMN,
    USUAL_THRESHOLD,
    Notes,
    Subject,
    check_classes,
    check_labels,
    check_predicted,
    choose_condition,
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
from fairtrial.significance.counts import build_clustered_outcome
from fairtrial.significance.outcome import Outcome
from fairtrial.significance.permutation import LabelSwaps

if TYPE_CHECKING:
    import pandas as pd

MEMORY = "512MB"

# If the rarer class has at most this many rows, DeLong's test uses exact ranks. If it has more rows, all scores are ranked
# relative to at most this many quantiles of the scores of this class.
MAX_MARKS = 1 << 22

_SAMPLE = 10_000
_BATCH = 1 << 18
_MAX_CLASSES = 1000

# If the number of distinct scores is below this fraction of the number of rows, grouping equal scores is faster than sorting
# all of them.
_MAX_DISTINCT_FRACTION = 0.1

# If the confusion tables of all clusters have at most this many cells, they are read into memory.
_MAX_CLUSTER_CELLS = 1 << 22

_ONE_CLUSTER = "all rows are in one cluster, so the confidence limits are undefined"

_LINE_ROLES = ("dataset", "model", "row", "repeat", "fold")

# Bin of a probability f among the ten bins of `calibration_curve`.
_BIN_SQL = " + ".join(f"(f > {i / 10!r})::INT" for i in range(1, 10))

# Columns of the table of repeated predictions: the number of the prediction, and the number of predictions of its row.
_ANSWER, _ANSWERS = '"fairtrial answer"', '"fairtrial answers"'


class StreamedFile:
    """One or more files that DuckDB reads as a single table.

    The object is a context manager. The view `lines` contains all lines, and the view `judged` contains the lines to be judged.
    Queries refer to these two views. Every name or value from the file is quoted by `quote_identifier` or `quote_literal`, so
    no text from the file is executed as SQL.

    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "p.parquet"
    >>> pd.DataFrame({"truth": [0, 1, 1, 0], "tree_score": [0.1, 0.8, 0.4, 0.4]}).to_parquet(path)
    >>> with StreamedFile([path]) as file:
    ...     print(file.roles.models[0].name, file.tally('"tree_score"', '"truth" = 1', "TRUE", None))
    tree ScoreTally: 3 distinct scores, 2 positives, 2 negatives
    >>> folder.cleanup()
    """

    def __init__(
        self,
        paths: list[Path],
        *,
        drop_missing: bool = False,
        positive: object = None,
        scheme: str | None = None,
        **specified: Any,
    ) -> None:
        import duckdb

        self.drop_missing = drop_missing
        self.has_answers = False
        self._resources = ExitStack()
        self._folder = spill = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="fairtrial-"))
        self.notes: tuple[Finding, ...] = ()
        self._connection = self._resources.enter_context(duckdb.connect())
        for setting in (
            f"memory_limit = '{MEMORY}'",
            f"temp_directory = {quote_literal(spill)}",
            "preserve_insertion_order = false",
        ):
            self._connection.execute(f"SET {setting}")
        self.source = paths[0].name if len(paths) == 1 else f"{paths[0].name} and {len(paths) - 1} more"
        try:
            self._reader = self._build_reader_sql(paths)
            self._replacements: dict[str, str] = {}
            self._line_filter = "TRUE"
            self._create_lines()
            self._select_scheme(scheme)
            self._convert_percentages(specified)
            self.roles = self._guess_roles(specified, positive)
            if self.roles.missing_labels:
                self._blank_missing_labels()
            self.row_filter = "TRUE"
            self.keep_lines("TRUE")
        except duckdb.Error as error:
            self._resources.close()
            raise self._to_input_error(error) from None
        except BaseException:
            self._resources.close()
            raise

    def _create_lines(self) -> None:
        """Create the view of all lines, in which SQL expressions replace some columns."""
        parts = ", ".join(f"{sql} AS {quote_identifier(column)}" for column, sql in self._replacements.items())
        columns = f"* REPLACE ({parts})" if parts else "*"
        self._connection.execute(
            f"CREATE OR REPLACE VIEW lines AS SELECT {columns} FROM {self._reader} WHERE {self._line_filter}"
        )
        self.column_types = {column: kind for column, kind, *_ in self.fetch_rows("DESCRIBE lines")}

    def _select_scheme(self, scheme: str | None) -> None:
        """Keep the lines of one resampling scheme if the file was exported from a study with several schemes."""
        column = quote_identifier(SCHEME_COLUMN)
        query = f"SELECT DISTINCT CAST({column} AS VARCHAR) FROM lines WHERE {column} IS NOT NULL"
        name = choose_scheme(scheme, self.column_types, lambda: [name for (name,) in self.fetch_rows(query)])
        if name is not None:
            self._line_filter = f"CAST({column} AS VARCHAR) = {quote_literal(name)}"
            self._create_lines()

    def _convert_percentages(self, specified: Mapping[str, Any]) -> None:
        """Convert percentages to numbers between 0 and 1, and add a note."""
        sample = self._connection.execute(f"SELECT * FROM lines LIMIT {_SAMPLE}").df()
        percentages = find_percentages(sample, {role: value for role, value in specified.items() if value is not None})
        if percentages:
            for column in percentages:
                number = f"replace(replace({quote_identifier(column)}, '%', ''), ',', '.')"
                self._replacements[column] = f"(TRY_CAST(trim({number}) AS DOUBLE) / 100)"
            self._create_lines()
            self.notes = (*self.notes, Finding.of("percentages", columns=tuple(percentages)))

    def _blank_missing_labels(self) -> None:
        """Replace markers of missing true labels, e.g. ?, with NULL."""
        column = self.roles.columns["y_true"]
        markers = ", ".join(map(quote_literal, self.roles.missing_labels))
        name = quote_identifier(column)
        self._replacements[column] = f"(CASE WHEN CAST({name} AS VARCHAR) IN ({markers}) THEN NULL ELSE {name} END)"
        self._create_lines()

    def __enter__(self) -> StreamedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def _to_input_error(self, error: Exception) -> InputError:
        return InputError(f"{self.source} cannot be streamed: {str(error).splitlines()[0]}")

    def fetch_rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query on `lines` or `judged`, and return all rows."""
        import duckdb

        try:
            return self._connection.execute(query).fetchall()
        except duckdb.Error as error:
            raise self._to_input_error(error) from None

    def fetch_batches(self, query: str) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Run a query, and yield the columns of its result batch by batch.

        The insertion order is preserved, because DuckDB 1.5 otherwise returns the batches of a sorted result out of order.
        """
        import duckdb

        try:
            self._connection.execute("SET preserve_insertion_order = true")
            for batch in self._connection.sql(query).to_arrow_reader(_BATCH):
                yield tuple(batch.column(i).to_numpy(zero_copy_only=False) for i in range(batch.num_columns))
            self._connection.execute("SET preserve_insertion_order = false")
        except duckdb.Error as error:
            raise self._to_input_error(error) from None

    def keep_lines(self, condition: str) -> None:
        """Restrict `judged` to the lines that satisfy a condition. The condition must not refer to `judged`."""
        self.row_filter = f"{self.row_filter} AND {condition}"
        self.fetch_rows(f"CREATE OR REPLACE VIEW judged AS SELECT * FROM lines WHERE {self.row_filter}")

    def number_answers(self, keys: str, order: str) -> None:
        """Number the predictions of each row, i.e. the lines with equal `keys`.

        The numbers are stored in a temporary table, which may spill to disk.
        """
        columns = ", ".join(map(quote_identifier, self.roles.used_columns))
        window = f"OVER (PARTITION BY {keys}"
        answers = f"row_number() {window} ORDER BY {order}) AS {_ANSWER}, count(*) {window}) AS {_ANSWERS}"
        self.fetch_rows(f"CREATE TEMP TABLE answered AS SELECT {columns}, {answers} FROM judged")
        self.fetch_rows("CREATE OR REPLACE VIEW judged AS SELECT * FROM answered")
        self.has_answers = True

    def build_missing_condition(self, column: str) -> str:
        """Build an SQL condition that is true for the missing cells of a column."""
        nan = f" OR isnan({quote_identifier(column)})" if self.column_types[column] in ("DOUBLE", "FLOAT") else ""
        return f"({quote_identifier(column)} IS NULL{nan})"

    def has_several_folds(self) -> bool:
        """Return whether any model has predictions from several folds."""
        fold = self.roles.get("fold")
        if fold is None:
            return False
        keys, name = ", ".join(["1", *_list_key_columns(self, "dataset", "model")]), quote_identifier(fold)
        return bool(self.fetch_rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({name}) <> max({name}) LIMIT 1"))

    def tally(self, score: str, is_positive: str, where: str, weight: str | None) -> ScoreTally:
        """Tally the values of an SQL expression on the selected lines."""
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
        from fairtrial.data.text_tables import WHITESPACE, TextFormat, copy_as_utf8

        path_list = ", ".join(quote_literal(str(path)) for path in paths)
        if all(path.suffix.lower() in PARQUET for path in paths):
            return f"read_parquet([{path_list}])"
        if any(path.suffix.lower() in PARQUET for path in paths):
            raise InputError("files must be all Parquet or all text to be streamed, got both: convert some")
        is_json = [path.suffix.lower() in JSON_LINES for path in paths]
        if all(is_json):
            return f"read_json([{path_list}], format = 'newline_delimited')"
        if any(is_json):
            raise InputError("files must be all JSON Lines or all delimited text to be streamed, got both: convert some")
        null_strings = ", ".join(map(quote_literal, MISSING_STRINGS))
        formats = [TextFormat.detect(path, MISSING_STRINGS) for path in paths]
        text_format = formats[0]
        peculiarities = dict.fromkeys(
            text for path, file_format in zip(paths, formats, strict=True) for text in file_format.list_peculiarities(path)
        )
        if peculiarities:
            self.notes = (Finding.of("file_format", peculiarities=tuple(peculiarities)),)
        for i, (path, file_format) in enumerate(zip(paths, formats, strict=True)):
            if file_format.encoding != "utf-8":
                copy_as_utf8(path, file_format.encoding, Path(self._folder) / f"{i}.csv")
        path_list = ", ".join(
            quote_literal(str(path) if file_format.encoding == "utf-8" else f"{self._folder}/{i}.csv")
            for i, (path, file_format) in enumerate(zip(paths, formats, strict=True))
        )
        if any(file_format[:2] != text_format[:2] for file_format in formats):
            raise InputError("files must have the same delimiter and decimal sign to be streamed, got several: convert some")
        if text_format.delimiter == WHITESPACE:
            raise InputError(f"{paths[0].name} cannot be streamed, because whitespace separates its columns: save it as CSV")
        options = f"delim = {quote_literal(text_format.delimiter)}, header = true, sample_size = 100000"
        options += f", nullstr = [{null_strings}]"
        options += ", decimal_separator = ','" if text_format.decimal_comma else ""
        described_columns = self.fetch_rows(f"DESCRIBE SELECT * FROM read_csv([{path_list}], {options})")
        # DuckDB would read "no" and "yes" as Boolean values although they are classes.
        text = ", ".join(f"{quote_literal(column)}: 'VARCHAR'" for column, kind, *_ in described_columns if kind == "BOOLEAN")
        return f"read_csv([{path_list}], {options}{f', types = {{{text}}}' if text else ''})"

    def _guess_roles(self, specified: dict[str, Any], positive: object) -> Roles:
        """Guess the roles of the columns from the first lines of the file and an additional line for each class."""
        import pandas as pd

        specified = {**specified, "positive": positive}
        sample = self._connection.execute(f"SELECT * FROM lines LIMIT {_SAMPLE}").df()
        if not len(sample):
            raise InputError(f"{self.source} must contain at least 1 line of predictions, got none")
        try:
            column = guess_roles(sample, **specified).columns["y_true"]
        except InputError:
            # The first lines may contain only one class.
            query = f"SELECT * FROM lines USING SAMPLE reservoir({_SAMPLE} ROWS) REPEATABLE (0)"
            sample = self._connection.execute(query).df()
            column = guess_roles(sample, **specified).columns["y_true"]
        distinct_rows = self.fetch_rows(f"SELECT DISTINCT {quote_identifier(column)} FROM lines LIMIT {_MAX_CLASSES}")
        if len(distinct_rows) >= _MAX_CLASSES:
            raise InputError(
                f"y_true must contain class labels, got {_MAX_CLASSES} or more different values in column {column!r}"
            )
        sample = pd.concat([sample, pd.DataFrame({column: [value for (value,) in distinct_rows]})], ignore_index=True)
        roles = guess_roles(sample, **specified)
        row = roles.get("row")
        is_found_by_values = row is not None and specified.get("row") is None and normalize_name(row) not in ALIASES["row"]
        if is_found_by_values and not self._is_row_id(roles):
            roles = guess_roles(sample.drop(columns=row), **specified)
            roles = replace(roles, unused=(*roles.unused, str(row)))
        return roles

    def _is_row_id(self, roles: Roles) -> bool:
        """Return whether the guessed row ids have no missing values and are repeated only in exact duplicates of lines."""
        keys = ", ".join(map(quote_identifier, roles.list_columns(*_LINE_ROLES, "condition", "level")))
        missing = self.build_missing_condition(str(roles.get("row")))
        counts = f"count(*), count(*) FILTER (WHERE {missing}), count(DISTINCT row({keys}))"
        lines, n_missing, n_keys = self.fetch_rows(f"SELECT {counts} FROM lines")[0]
        if n_missing or n_keys == lines:
            return not n_missing
        n_distinct = self.fetch_rows("SELECT count(*) FROM (SELECT DISTINCT * FROM lines)")[0][0]
        return bool(2 * n_keys > lines and n_distinct == n_keys)


@dataclass(frozen=True, eq=False)
class StreamedModel:
    """Predictions of one model on one data set of a streamed file.

    True classes, predicted classes and scores are SQL expressions. Most counts are cached, to avoid repeated scans of the file.
    """

    streamed: StreamedModels
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
    """Whether any predicted labels are not classes. The code of such a label is the number of classes."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""
        return self.streamed.weight is not None

    @cached_property
    def distinct_rows(self) -> int:
        """The number of rows. A row that is predicted several times counts once."""
        return self.streamed.count_rows(f"judged WHERE {self.where}") if self.streamed.file.has_answers else self.rows

    @property
    def class_names(self) -> list[str]:
        """The classes as text."""
        return [format_label(label) for label in self.classes]

    def find_missing_input(self, measure: Measure) -> str:
        """Return the name of an input that a measure needs but the model lacks, or an empty string.

        If a measure cannot be computed from sums or counts, the missing input is "rows in memory".
        """
        missing = find_missing_input(measure, self.label is not None, self.kind)
        is_mean = measure.name in MEAN_LOSSES
        is_tallied = isinstance(measure, OutcomeMeasure) and self.positive is not None
        of_rows = measure.facts.needs == "probabilities" and not is_mean and not is_tallied
        needs_rows = of_rows or isinstance(measure, MultiScoreMeasure)
        return "rows in memory" if needs_rows and not missing else missing

    def compute_intervals(self, measures: Sequence[Measure], settings: JudgeSettings) -> list[Interval]:
        """Compute each measure with an interval, based on counts.

        If this is impossible, the estimate is NaN and the note gives the reason.
        """
        available = [measure for measure in measures if not settings.explain_unavailable(self, measure)]
        is_plain = not self.is_weighted and self.streamed.cluster is None
        counts = CountIntervals(settings, is_plain)
        tallied = [measure for measure in available if measure.facts.needs == "scores" or isinstance(measure, OutcomeMeasure)]
        intervals = self._scan_scores(tallied, settings)
        if self.kind == "probability":
            intervals |= self._compute_loss_intervals(counts)
        table = self.count_confusion()
        if table is not None:
            label_measures = [measure for measure in available if measure.facts.needs == "labels"]
            intervals |= {measure.name: counts.from_table(measure, table) for measure in label_measures}
            if self.streamed.cluster is not None and not self.is_weighted:
                intervals |= self._compute_clustered_proportions(label_measures, table, settings.level)
        return [
            intervals[measure.name] if measure in available else settings.make_undefined_interval(self, measure)
            for measure in measures
        ]

    def count_cluster_tables(self) -> FloatArray | None:
        """Count the rows of each cluster by true and predicted class.

        Return None if there are no clusters or no predicted labels.
        """
        if self.streamed.cluster is None or self.label is None:
            return None
        k = len(list_codes(len(self.classes), self.has_unknown_labels))
        columns = f"dense_rank() OVER (ORDER BY {self.streamed.cluster}) - 1 AS c, {self.y_true} AS t, {self.label} AS l"
        cells = f"SELECT {columns} FROM judged WHERE {self.where}"
        counts = self.streamed.file.fetch_rows(f"SELECT c, t, l, count(*) FROM ({cells}) GROUP BY c, t, l")
        codes = np.array(counts, dtype=np.int64)
        tables = np.zeros((int(codes[:, 0].max()) + 1, k, k))
        tables[codes[:, 0], codes[:, 1], codes[:, 2]] = codes[:, 3]
        return tables

    def _compute_clustered_proportions(
        self, measures: Sequence[Measure], table: Confusion, level: float
    ) -> dict[str, Interval]:
        """Compute confidence intervals for proportions from the counts of each cluster."""
        tables = self.count_cluster_tables()
        assert tables is not None
        intervals = {}
        for measure in measures:
            adapted: Any = allow_unknown_labels(measure)
            proportion = get_proportion_counts(measure, prepare_table(measure, table))
            if proportion is None or not proportion[1]:
                continue
            batch = prepare_table(measure, Confusion(tables, table.labels, table.positive))
            counts: tuple[FloatArray, FloatArray] = adapted.count_table_successes(batch)
            limits = compute_clustered_wilson_limits(counts[0], counts[1], level)
            estimate = proportion[0] / proportion[1]
            note = _ONE_CLUSTER if math.isnan(limits[0]) else ""
            intervals[measure.name] = Interval(measure.name, estimate, *limits, level, "wilson", note)
        return intervals

    @cached_property
    def _cells(self) -> tuple[FloatArray, FloatArray]:
        """Row counts and total weights by true and predicted class.

        If there are no predicted labels, both tables have only one column.
        """
        codes = list_codes(len(self.classes), self.has_unknown_labels)
        counts, sums = np.zeros((2, len(codes), len(codes) if self.label else 1))
        amount = self.streamed.amount
        query = f"SELECT {self.y_true} AS t, {self.label or '0'} AS l, count(*), {amount} FROM judged WHERE {self.where}"
        for true_code, predicted_code, count, total in self.streamed.file.fetch_rows(f"{query} GROUP BY t, l"):
            counts[true_code, predicted_code], sums[true_code, predicted_code] = count, total
        return counts, sums

    def count_confusion(self) -> Confusion | None:
        """Count rows, or sum their weights, by true and predicted class. Return None if there are no predicted labels."""
        if self.label is None:
            return None
        return Confusion(self._cells[1], tuple(list_codes(len(self.classes), self.has_unknown_labels)), self.positive)

    def sum_support(self) -> FloatArray:
        """Compute the total weight of the rows of each class."""
        return np.asarray(self._cells[1].sum(axis=1)[: len(self.classes)])

    def count_classes(self) -> FloatArray:
        """Count the rows of each class."""
        return np.asarray(self._cells[0].sum(axis=1)[: len(self.classes)])

    def count_effective_rows(self) -> FloatArray:
        """For each class, compute the effective numbers of rows inside and outside the class.

        The result has one row per class and two columns.
        """
        counts = self.count_classes()
        if self.streamed.cluster is None and not self.is_weighted:
            return np.column_stack([counts, counts.sum() - counts])
        columns, rows = f"{self.y_true} AS t, {self.streamed.weight or '1.0'} AS s", f"judged WHERE {self.where}"
        cells = f"SELECT {columns}, 0.0 AS others FROM {rows}"
        if self.streamed.cluster is not None:
            clusters = f"SELECT {columns}, {self.streamed.cluster} AS c FROM {rows}"
            sums_by_class = f"SELECT t, c, sum(s) AS s FROM ({clusters}) GROUP BY t, c"
            # `others` is the total weight of the other classes in the same cluster.
            cells = f"SELECT t, s, sum(s) OVER (PARTITION BY c) - s AS others FROM ({sums_by_class})"
        lines = f"SELECT t, sum(s), sum(s * s), sum(s * (s + others)), sum(s * (s + 2 * others)) FROM ({cells}) GROUP BY t"
        sums, squares, totals, shared = np.zeros((4, len(counts)))
        for code, *line in self.streamed.file.fetch_rows(lines):
            sums[code], squares[code], totals[code], shared[code] = line
        # The squared weight of a cluster is the sum of s (s + others) over its classes.
        other_squares = totals.sum() - shared
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = np.column_stack([sums**2 / squares, (sums.sum() - sums) ** 2 / other_squares])
        return np.asarray(np.nan_to_num(effective, posinf=0.0))

    @cached_property
    def _binned_tallies(self) -> dict[int, ScoreTally]:
        return {}

    @cached_property
    def _assessments(self) -> dict[int, ProbabilityAssessment]:
        return {}

    def assess_probabilities(self, settings: JudgeSettings) -> ProbabilityAssessment | None:
        """Assess the probabilities of the positive class.

        Return None if there is no positive class, if the model has no probabilities, or if rows are weighted or clustered.
        """
        if self.positive is not None and self.kind == "probability" and not self._binned_tallies:
            self._scan_scores([], settings)
        return None if self.positive is None else self._assessments.get(self.positive)

    @cached_property
    def _aucs(self) -> dict[int, float]:
        return {}

    def _scan_scores(self, measures: Sequence[Measure], settings: JudgeSettings) -> dict[str, Interval]:
        """Compute measures of scores, and store the binned tally and the AUC of each class against the rest.

        Only one complete tally is in memory at a time.
        """
        by_measure: dict[str, list[Interval]] = {}
        for code in self._list_tally_classes():
            score, is_positive = (self.scores or ())[code], f"({self.y_true} = {code})"
            tally = self.streamed.file.tally(score, is_positive, self.where, self.streamed.weight)
            self._binned_tallies[code] = merge_into_bins(tally, 4 * BINS)
            if code == self.positive and self.kind == "probability" and not self.is_weighted and not self.streamed.cluster:
                sample = OutcomeSample.from_tally(tally)
                self._assessments[code] = ProbabilityAssessment.from_sample(sample, settings.level, settings.seed)
            is_reported = self.positive in (None, code)
            is_plain = not self.is_weighted and self.streamed.cluster is None
            counts = CountIntervals(settings, is_plain and self.positive is not None and is_reported)
            for measure in dict.fromkeys([*(measures if is_reported else []), auc]):
                interval = counts.from_tally(measure, tally, self._binned_tallies[code])
                by_measure.setdefault(measure.name, []).extend([interval] if is_reported else [])
                if measure is auc:
                    self._aucs[code] = interval.estimate
        if self.streamed.cluster is not None and self.positive is not None and "auc" in by_measure and not self.is_weighted:
            by_measure["auc"] = [self._compute_clustered_auc(by_measure["auc"][0], self.positive, settings.level)]
        return {name: _average_classes(name, intervals, settings.level) for name, intervals in by_measure.items()}

    def _compute_clustered_auc(self, interval: Interval, positive: int, level: float) -> Interval:
        score = (self.scores or ())[positive]
        columns = f"{self.y_true} AS t, {score} AS s1, {score} AS s2, {self.streamed.cluster} AS c"
        lines = f"(SELECT {columns} FROM judged WHERE {self.where})"
        contrast = compute_rank_contrast(self.streamed.file, lines, positive, clustered=True)
        if self._clusters < 2:
            return replace(interval, low=math.nan, high=math.nan, method="score", note=_ONE_CLUSTER)
        low, high = contrast.estimates[0].compute_limits(level)
        return replace(interval, low=low, high=high, method="score")

    @cached_property
    def _clusters(self) -> int:
        return int(
            self.streamed.file.fetch_rows(f"SELECT count(DISTINCT {self.streamed.cluster}) FROM judged WHERE {self.where}")[0][
                0
            ]
        )

    def _list_tally_classes(self) -> Sequence[int]:
        """List the classes whose scores are tallied. If there are two classes, one of them is sufficient."""
        if self.scores is None:
            return ()
        return [self.positive] if self.positive is not None and len(self.classes) == 2 else range(len(self.classes))

    def compute_class_aucs(self) -> list[float]:
        """Compute the AUC of each class against the rest. The values are NaN if there are no scores.

        If there are two classes, both values are equal.
        """
        if not self._aucs:
            self._scan_scores([], JudgeSettings())
        aucs = [self._aucs.get(code, float("nan")) for code in range(len(self.classes))]
        return [aucs[self.positive]] * 2 if self.positive is not None and len(aucs) == 2 else aucs

    def tally(self, code: int, max_scores: int) -> ScoreTally:
        """Tally the scores for a class in at most `max_scores` bins."""
        if not self._binned_tallies:
            self._scan_scores([], JudgeSettings())
        return merge_into_bins(self._binned_tallies[code], max_scores)

    @cached_property
    def _loss_bins(self) -> list[tuple[Any, ...]]:
        """Sums for the Brier score, the log loss and the calibration curve.

        The sums are computed for each bin of the calibration curve, in a single scan.
        """
        probability, outcome = self._build_probability_sql()
        square, loss = self._build_losses_sql()
        sums = ", ".join(f"sum(w * {term})" for term in ("w", "f", "c::INT", "1", "s", "s * s", "l", "l * l"))
        columns = f"{probability} AS f, {outcome} AS c, {square} AS s, {loss} AS l, {self.streamed.weight or '1'} AS w"
        lines = f"(SELECT {columns} FROM judged WHERE {self.where})"
        return self.streamed.file.fetch_rows(
            f"SELECT {_BIN_SQL} AS b, {sums}, count(*) FILTER (WHERE l IS NULL) FROM {lines} GROUP BY b ORDER BY b"
        )

    def _compute_loss_intervals(self, counts: CountIntervals) -> dict[str, Interval]:
        """Compute the Brier score and the log loss with confidence limits from sums and sums of squares.

        The log loss is infinite if the true class of a row has probability 0.
        """
        totals = np.zeros(5)
        for _, _, _, _, total, *parts, _ in self._loss_bins:
            totals += [float(total), *(float(part_sum or 0) for part_sum in parts)]
        has_infinite_loss = any(line[-1] for line in self._loss_bins)
        means = totals[[1, 3]] / totals[0]
        spread = np.sqrt(np.maximum(0.0, totals[[2, 4]] / totals[0] - means**2) * self.rows / max(1, self.rows - 1))
        values = {"brier": float(means[0]), "log_loss": float("inf") if has_infinite_loss else float(means[1])}
        return {
            name: counts.from_mean(name, value, float(deviation), self.rows)
            for (name, value), deviation in zip(values.items(), spread, strict=True)
        }

    def calibrate(self, level: float) -> pd.DataFrame:
        """Compute the calibration curve of the positive class or, if there is none, of the most probable class."""
        import pandas as pd

        lines = [
            (
                float(probabilities / total),
                float(hits / total),
                float(total),
                *compute_weighted_wilson_limits(float(hits), float(total), float(squares), level),
            )
            for _, squares, probabilities, hits, total, *_ in self._loss_bins
            if total
        ]
        curve = pd.DataFrame(lines, columns=["mean_predicted", "observed_frequency", "weight", "low", "high"])
        if self.streamed.cluster is None or self.is_weighted:
            return curve
        limits = self._limit_clustered_bins(level)
        return curve.assign(low=[low for low, _ in limits], high=[high for _, high in limits])

    def _limit_clustered_bins(self, level: float) -> list[tuple[float, float]]:
        """Compute confidence limits for the observed frequency in each bin from the counts of each cluster."""
        probability, outcome = self._build_probability_sql()
        columns = f"{probability} AS f, {outcome} AS o, {self.streamed.cluster} AS c"
        sums = f"SELECT {_BIN_SQL} AS b, sum(o::INT), count(*) FROM (SELECT {columns} FROM judged WHERE {self.where})"
        counts = np.array(self.streamed.file.fetch_rows(f"{sums} GROUP BY b, c ORDER BY b"), dtype=np.float64)
        bins = [counts[counts[:, 0] == code] for code in np.unique(counts[:, 0])]
        return [compute_clustered_wilson_limits(lines[:, 1], lines[:, 2], level) for lines in bins]

    def _build_probability_sql(self) -> tuple[str, str]:
        """Build SQL for the probability of a class, and for whether this class is the true class.

        The class is the positive class or, if there is none, the most probable class.
        """
        scores = self.scores or ()
        if self.positive is not None:
            return scores[self.positive], f"({self.y_true} = {self.positive})"
        return f"greatest({', '.join(scores)})", f"({self.y_true} = {_build_argmax_sql(scores)})"

    def _build_losses_sql(self) -> tuple[str, str]:
        """Build SQL for the contribution of each row to the Brier score and to the log loss (NULL if infinite).

        If there is a positive class, all other classes are merged into one.
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

    def count_subgroups(self, column: str) -> dict[str, int]:
        """Count the rows of each subgroup that a column defines."""
        return {subgroup: rows for subgroup, (_, rows) in self._list_subgroups(column).items()}

    def select_subgroup(self, column: str, subgroup: str) -> StreamedModel:
        """Restrict the model to the rows of a subgroup. Scores are omitted, because each subgroup would need its own scan."""
        condition, rows = self._list_subgroups(column)[subgroup]
        return replace(self, where=f"{self.where} AND {condition}", rows=rows, scores=None, kind=None)

    def estimate_subgroups(self, measure: Measure, column: str, subgroups: Sequence[str]) -> SubgroupValues | None:
        """Estimate a measure of predicted labels for each subgroup. Return None for other measures.

        There are no confidence limits if rows are weighted or clustered.
        """
        if not isinstance(measure, LabelMeasure) or self.label is None:
            return None
        labels = tuple(list_codes(len(self.classes), self.has_unknown_labels))
        empty = np.zeros((len(labels), len(labels)))
        tables = np.stack([self._count_subgroup_cells(column).get(subgroup, empty) for subgroup in subgroups])
        values = estimate_table_subgroups(measure, tables, labels, self.positive)
        return values if not self.is_weighted and self.streamed.cluster is None else omit_subgroup_limits(values)

    def _count_subgroup_cells(self, column: str) -> dict[str, FloatArray]:
        """Sum the weights of the rows of each subgroup by true and predicted class, in one scan."""
        if column not in self._subgroup_cells:
            codes = list_codes(len(self.classes), self.has_unknown_labels)
            cells = f"{quote_identifier(column)} AS g, {self.y_true} AS t, {self.label} AS l, {self.streamed.amount}"
            tables: dict[str, FloatArray] = {}
            query = f"SELECT {cells} FROM judged WHERE {self.where} GROUP BY g, t, l"
            for value, true_code, predicted_code, total in self.streamed.file.fetch_rows(query):
                name = "(missing)" if value is None else str(value)
                tables.setdefault(name, np.zeros((len(codes), len(codes))))[true_code, predicted_code] += total
            self._subgroup_cells[column] = tables
        return self._subgroup_cells[column]

    @cached_property
    def _subgroup_cells(self) -> dict[str, dict[str, FloatArray]]:
        return {}

    def _list_subgroups(self, column: str) -> dict[str, tuple[str, int]]:
        """Map each value of a column, as text, to an SQL condition and the number of its rows."""
        if column not in self._subgroups:
            name = quote_identifier(column)
            query = f"SELECT {name} AS g, count(*) FROM judged WHERE {self.where} GROUP BY g"
            self._subgroups[column] = {
                "(missing)" if value is None else str(value): (
                    f"{name} IS NULL" if value is None else f"{name} = {quote_literal(value)}",
                    rows,
                )
                for value, rows in self.streamed.file.fetch_rows(query)
            }
        return self._subgroups[column]

    @cached_property
    def _subgroups(self) -> dict[str, dict[str, tuple[str, int]]]:
        return {}

    def pair_with(self, other: StreamedModel) -> StreamedPair | None:
        """Pair two models on the rows that both predict. Return None if no column identifies the rows."""
        joined_sql = self.streamed.build_join_sql(self, other)
        return None if joined_sql is None else StreamedPair(self, other, joined_sql)


def _average_classes(name: str, intervals: Sequence[Interval], level: float) -> Interval:
    """Average a measure over the classes, each against the rest. An average over several classes has no interval."""
    if len(intervals) == 1:
        return intervals[0]
    nan, mean = float("nan"), float(np.mean([interval.estimate for interval in intervals]))
    return Interval(name, mean, nan, nan, level, "", "")


class StreamedPair:
    """Two models of a streamed file on the rows that both predict.

    An SQL query selects these rows, and the tests use counts of these rows.
    """

    def __init__(self, first: StreamedModel, second: StreamedModel, joined_sql: str) -> None:
        self.first, self.second, self.joined_sql, self.streamed = first, second, joined_sql, first.streamed
        self.codes = self.streamed.list_codes(first)
        self.rows, n_different = self.streamed.file.fetch_rows(
            f"SELECT count(*), count(*) FILTER (WHERE t <> u) FROM {joined_sql}"
        )[0]
        if n_different:
            raise InputError(
                f"y_true must be the same in all lines of a row, got a difference between {first.name!r} and "
                f"{second.name!r} in column {self.streamed.roles.get('y_true')!r} "
                f"({format_count(n_different, 'such row')}): check the row ids{suggest_y_true()}"
            )

    @cached_property
    def _label_sums(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Row counts, total weights and total squared weights by true class and both predicted classes."""
        k = len(self.codes)
        cells, weights, squares = np.zeros((3, k, k, k))
        query = f"SELECT t, l1, l2, count(*), sum(w), sum(w * w) FROM {self.joined_sql} GROUP BY t, l1, l2"
        for true_code, first_code, second_code, *sums in self.streamed.file.fetch_rows(query):
            cell = true_code, first_code, second_code
            cells[cell], weights[cell], squares[cell] = sums
        return cells, weights, squares

    def count_labels(self) -> FloatArray | None:
        """Count rows by true class and both predicted classes. Return None if a model has no predicted labels."""
        return None if self.first.label is None or self.second.label is None else self._label_sums[0]

    @cached_property
    def units(self) -> int:
        """The number of rows, or of clusters if rows are clustered."""
        if self.streamed.cluster is None:
            return int(self.rows)
        return int(self.streamed.file.fetch_rows(f"SELECT count(DISTINCT c) FROM {self.joined_sql}")[0][0])

    @cached_property
    def distinct_rows(self) -> int:
        """The number of rows that both models predict. A row that is predicted several times counts once."""
        if not self.streamed.file.has_answers:
            return int(self.rows)
        return int(self.streamed.file.fetch_rows(f"SELECT count(DISTINCT r) FROM {self.joined_sql}")[0][0])

    @property
    def is_weighted(self) -> bool:
        """Whether the paired predictions have weights."""
        return self.first.is_weighted

    @cached_property
    def effective_units(self) -> tuple[float, float]:
        """The effective number of rows or clusters, in total and in the class where it is smallest."""
        lines = self.joined_sql
        if self.streamed.cluster is not None:
            lines = f"(SELECT c, t, sum(w) AS w FROM {self.joined_sql} GROUP BY c, t)"
        by_class = self.streamed.file.fetch_rows(f"SELECT sum(w), sum(w * w) FROM {lines} GROUP BY t")
        if self.streamed.cluster is not None:
            lines = f"(SELECT c, sum(w) AS w FROM {lines} GROUP BY c)"
        total = self.streamed.file.fetch_rows(f"SELECT sum(w), sum(w * w) FROM {lines}")[0]
        all_rows, *classes = (float(amount) ** 2 / float(squares) for amount, squares in (total, *by_class))
        return all_rows, min(classes)

    def compare_clustered_accuracies(self, level: float) -> Outcome:
        """Compare the accuracies of both models on clustered rows. Both models must have predicted labels."""
        query = f"SELECT sum((l1 = t)::INT - (l2 = t)::INT), count(*) FROM {self.joined_sql} GROUP BY c"
        sums, sizes = np.array(self.streamed.file.fetch_rows(query), dtype=np.float64).T
        return build_clustered_outcome(sums, sizes, level)

    def contrast_ranks(self) -> AucContrast | None:
        """Compute both AUCs and the variance of their difference.

        Return None if a model has no scores or if there is no positive class. If both models predict the same rows, the AUCs
        are always exact.
        """
        positive = self.first.positive
        if not self.first.scores or not self.second.scores or positive is None:
            return None
        contrast = compute_rank_contrast(self.streamed.file, self.joined_sql, positive, self.streamed.cluster is not None)
        if not contrast.marks or not self.rows == self.first.rows == self.second.rows:
            return contrast
        first, second = (model.compute_class_aucs()[positive] for model in (self.first, self.second))
        return replace(contrast, first=first, second=second)

    def resample_difference(self, measure: Measure, settings: JudgeSettings) -> Outcome | None:
        """Bootstrap the difference in a measure of predicted labels by resampling counts.

        Return None for measures of scores, and if rows are clustered. If rows are weighted, the total weight of each cell is
        also drawn at random (see `_resample_weights`).
        """
        if not self._has_labels(measure) or self.streamed.cluster is not None:
            return None
        cells, weights, squares = self._label_sums
        drawn = np.concatenate([*draw_counts(cells, min(settings.resamples, MAX_COUNT_RESAMPLES), settings.seed)])
        if self.first.is_weighted:
            drawn = _resample_weights(drawn, cells, weights, squares, settings.seed)
        adapted_measure: Any = allow_unknown_labels(measure)

        def compute_difference(tables: FloatArray) -> FloatArray:
            parts = [Confusion(tables.sum(axis=axis), tuple(self.codes), self.first.positive) for axis in (-1, -2)]
            return np.asarray(adapted_measure.of(parts[0]) - adapted_measure.of(parts[1]))

        estimate, values = float(compute_difference(weights)), compute_difference(drawn)
        return summarize_resamples(measure, estimate, values, self.distinct_rows, settings.level)

    def permute_difference(self, measure: Measure, settings: JudgeSettings, resamples: int, fewest: int) -> Outcome | None:
        """Run the permutation test of a measure of predicted labels, based on counts.

        Return None for measures of scores, if rows are weighted, and if there are too many clusters.
        """
        del fewest
        if not self._has_labels(measure) or self.is_weighted:
            return None
        adapted_measure: Any = allow_unknown_labels(measure)
        if self.streamed.cluster is not None:
            swaps = self._count_cluster_swaps(adapted_measure)
        else:
            swaps = LabelSwaps.from_counts(adapted_measure, tuple(self.codes), self.first.positive, self._label_sums[0])
        return None if swaps is None else run_swaps(adapted_measure, swaps, settings, resamples, self.distinct_rows)

    def compare_net_benefits(self, level: float) -> pd.DataFrame | None:
        """Return None, because the probabilities of both models for each row are not in memory."""
        del level
        return None

    def _count_cluster_swaps(self, measure: Any) -> LabelSwaps | None:
        """Count the predictions of each cluster in both confusion tables. Return None if there are too many clusters."""
        k = len(self.codes)
        if self.units * k * k > _MAX_CLUSTER_CELLS:
            return None
        columns = "dense_rank() OVER (ORDER BY c) - 1 AS c, t, l1, l2"
        query = f"SELECT c, t, l1, l2, count(*) FROM (SELECT {columns} FROM {self.joined_sql}) GROUP BY c, t, l1, l2"
        cluster, true, first, second, counts = np.array(self.streamed.file.fetch_rows(query), dtype=np.int64).T
        tables = np.zeros((2, self.units, k * k))
        for table, predicted in zip(tables, (first, second), strict=True):
            np.add.at(table, (cluster, true * k + predicted), counts)
        moves = tables[1] - tables[0]
        moves = moves[moves.any(axis=1)]
        sizes = np.ones(len(moves), dtype=np.intp)
        options = {"average": "auto"}
        return LabelSwaps(measure, options, tuple(self.codes), self.first.positive, tables.sum(axis=1), sizes, moves)

    def _has_labels(self, measure: Measure) -> bool:
        has_labels = self.first.label is not None and self.second.label is not None
        return measure.facts.needs == "labels" and has_labels

    def count_rank_changes(self) -> int | None:
        """Return None, because the ranks are not in memory."""
        return None

    def list_limitations(self, measure: Measure) -> list[Finding]:
        """Return an empty list, because the limitations of a streamed file are the same for all pairs."""
        del measure
        return []


def _resample_weights(drawn: FloatArray, cells: FloatArray, weights: FloatArray, squares: FloatArray, seed: int) -> FloatArray:
    """Draw the total weight of each cell from a normal distribution. Negative values become 0.

    The distribution has the mean and the variance of the total weight of the drawn rows.
    """
    counts = np.maximum(cells, 1.0)
    mean = weights / counts
    spread = np.sqrt(np.maximum(0.0, squares / counts - mean**2))
    noise = np.random.default_rng([seed, 1]).normal(size=drawn.shape)
    return np.maximum(0.0, drawn * mean + np.sqrt(drawn) * spread * noise)


class StreamedModels:
    """All models of a streamed file."""

    predictions = None

    def __init__(self, file: StreamedFile, positive: object, notes: Notes) -> None:
        self.file, self.notes, self.positive = file, notes, positive
        self.source, self.roles = file.source, file.roles
        _choose_lines(file, notes)
        self.row_weight = self.weight = _build_weight_sql(file)
        cluster = file.roles.get("cluster") or (file.roles.get("row") if file.has_answers else None)
        self.cluster = None if cluster is None else quote_identifier(cluster)
        if file.has_answers and self._has_unequal_answers():
            self.weight = f"{self.weight or '1.0'} / {_ANSWERS}"
        self.amount = "count(*)" if self.weight is None else f"sum({self.weight})"
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

    def _has_unequal_answers(self) -> bool:
        """Return whether a model predicts some rows of a data set more often than others."""
        keys = ", ".join(["1", *_list_key_columns(self.file, "dataset", "model")])
        unequal = f"HAVING min({_ANSWERS}) <> max({_ANSWERS})"
        return bool(self.file.fetch_rows(f"SELECT {keys} FROM judged GROUP BY ALL {unequal} LIMIT 1"))

    def count_rows(self, lines: str) -> int:
        """Count the distinct rows in a selection of lines."""
        row = quote_identifier(str(self.file.roles.get("row")))
        return int(self.file.fetch_rows(f"SELECT count(DISTINCT {row}) FROM {lines}")[0][0])

    def has_several_folds(self) -> bool:
        """Return whether any model has predictions from several folds."""
        return self.file.has_several_folds()

    def list_limitations(self, settings: JudgeSettings) -> list[Finding]:
        """List the results that cannot be computed from counts."""
        del settings
        optional = {"streamed_weights": self.weight, "streamed_clusters": self.cluster}
        return [Finding.of("streamed_file"), *(Finding.of(kind) for kind, column in optional.items() if column is not None)]

    def compute_split_values(self, measure: Measure) -> list[SplitValue]:
        """Return an empty list, because values for splits can be computed only from rows in memory."""
        del measure
        return []

    def list_codes(self, model: StreamedModel) -> list[int]:
        """List the codes of the labels in the data set of a model.

        There is a code for unknown labels if any model on this data set has unknown labels.
        """
        datasets = {other.dataset for other in self.models if other.has_unknown_labels}
        return list_codes(len(model.classes), model.dataset in datasets)

    def count_classes(self, unequal_datasets: Collection[str]) -> dict[str, dict[str, int]]:
        """Count the rows of each class in each data set.

        `unequal_datasets` names the data sets whose models predict different rows.
        """
        counts_by_dataset: dict[str, dict[str, int]] = {}
        for model in sorted(self.models, key=lambda item: item.rows):
            counts = model.count_classes()
            if model.dataset in unequal_datasets or self.file.has_answers:
                row = quote_identifier(str(self.file.roles.get("row")))
                where = self._map_names_to_filters("dataset")[model.dataset]
                query = f"SELECT {model.y_true} AS t, count(DISTINCT {row}) FROM judged WHERE {where} GROUP BY t"
                counts = np.zeros(len(model.classes))
                for code, count in self.file.fetch_rows(query):
                    counts[code] = count
            counts_by_dataset[model.dataset] = {text: int(counts[code]) for code, text in enumerate(model.class_names)}
        return {dataset: counts_by_dataset[dataset] for dataset in dict.fromkeys(model.dataset for model in self.models)}

    def count_predictions_per_row(self) -> dict[str, tuple[int, int]]:
        """For each data set, return the smallest and the largest number of predictions per row."""
        datasets = dict.fromkeys(model.dataset for model in self.models)
        if not self.file.has_answers:
            return dict.fromkeys(datasets, (1, 1))
        filters = self._map_names_to_filters("dataset")
        query = f"SELECT min({_ANSWERS}), max({_ANSWERS}) FROM judged WHERE "
        return {dataset: self.file.fetch_rows(query + filters[dataset])[0] for dataset in datasets}

    def build_join_sql(self, first: StreamedModel, second: StreamedModel) -> str | None:
        """Build SQL for the rows that both models predict. Return None if no column identifies the rows.

        The columns are the row r, the true classes t and u, the predicted classes l1 and l2, the scores s1 and s2, the weight
        w and the cluster c. If a row is predicted several times, each prediction by one model is paired with each prediction by
        the other model. If both models predict each row equally often, the i-th predictions are paired instead.
        """
        column_lists = [_build_columns_sql(model, i) for i, model in enumerate((first, second), 1)]
        weight, cluster = self.weight or "1", self.cluster or "NULL"
        row = self.file.roles.get("row")
        row_sql = "NULL" if row is None else quote_identifier(row)
        if first.where == second.where:
            y_true = f"{row_sql} AS r, {first.y_true} AS t, {second.y_true} AS u"
            columns = f"{y_true}, {column_lists[0]}, {column_lists[1]}, {weight} AS w, {cluster} AS c"
            return f"(SELECT {columns} FROM judged WHERE {first.where})"
        if row is None:
            return None
        answer, answers = (_ANSWER, _ANSWERS) if self.file.has_answers else ("1", "1")
        parts = [
            f"(SELECT {row_sql} AS r, {answer} AS n, {answers} AS a{i}, {model.y_true} AS t{i}, {columns}, "
            f"{self.row_weight or '1'} AS w{i}, {cluster} AS c{i} "
            f"FROM judged WHERE {model.where})"
            for i, (model, columns) in enumerate(zip((first, second), column_lists, strict=True), 1)
        ]
        joined, weight = f"{parts[0]} JOIN {parts[1]} USING (r, n)", f"w1{' / a1' if self.weight != self.row_weight else ''}"
        if self.file.has_answers:
            by_row = f"{parts[0]} JOIN {parts[1]} USING (r)"
            if self.file.fetch_rows(f"SELECT 1 FROM {by_row} WHERE a1 <> a2 LIMIT 1"):
                joined, weight = by_row, f"w1{' / (a1 * a2)' if self.weight != self.row_weight else ''}"
        return f"(SELECT r, t1 AS t, t2 AS u, l1, s1, l2, s2, {weight} AS w, c1 AS c FROM {joined})"

    def _list_distinct_values(self, column: str, where: str) -> dict[str, Any]:
        """Map each distinct value of a column, as text, to the value itself."""
        where = f"{where} AND NOT {self.file.build_missing_condition(column)}"
        query = f"SELECT DISTINCT {quote_identifier(column)} FROM judged WHERE {where} ORDER BY ALL"
        return {format_label(value): value for (value,) in self.file.fetch_rows(query)}

    def _map_names_to_filters(self, role: str, where: str = "TRUE") -> dict[str, str]:
        """Map the name of each data set or model to the SQL condition that selects its lines."""
        column = self.file.roles.get(role)
        if column is None:
            return {ONLY_DATA_SET if role == "dataset" else ONLY_MODEL: where}
        values = self._list_distinct_values(column, where)
        return {text: f"{where} AND {quote_identifier(column)} = {quote_literal(value)}" for text, value in values.items()}

    def _find_duplicates(self, model_columns: ModelColumns) -> Mapping[str, str]:
        """Find predicted labels that are spelled differently from the true labels."""
        duplicates = find_duplicate_labels(
            list(self._list_distinct_values(str(model_columns.label), "TRUE")), list(self._true_labels)
        )
        if duplicates:
            note_duplicate_labels(duplicates, Subject(model_columns.name or str(model_columns.label)), self.notes)
        return duplicates

    def _build_models(self, dataset: str, where: str) -> list[StreamedModel]:
        """Build the models of a data set. The classes are the true labels and all classes with scores."""
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
                    self.notes.add("class_without_rows", Subject("", dataset if location else ""), label=text)
        texts = sorted(classes, key=_get_sort_key(classes))
        positive_index = resolve_positive_index(texts, self.positive, dataset, self.roles.scored_class)
        ordered = tuple(classes[text] for text in texts)
        return [self._build_model(dataset, raw_model, ordered, positive_index, true_labels) for raw_model in raw_models]

    def _list_raw_models(self, dataset: str, where: str) -> list[_RawModel]:
        raw_models = []
        for model, lines in self._map_names_to_filters("model", where).items():
            for model_columns in self.file.roles.models:
                model_name = model_columns.name or model
                subject = Subject(model_name, dataset if self._has_many_datasets else "")
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

    def _read_labels(self, model_columns: ModelColumns, where: str, subject: Subject) -> dict[str, Any] | None:
        """Map each predicted label to its spellings in the file.

        The keys are spelled like the true labels. Return None if there are no predicted labels.
        """
        column = str(model_columns.label)
        labels = self._list_distinct_values(column, where)
        if labels:
            note_missing_labels(*self._count_missing_labels(column, where), subject, self.notes)
        duplicates = self._duplicates[column]
        values: dict[str, list[Any]] = {}
        for text, value in labels.items():
            values.setdefault(duplicates.get(text, text), []).append(value)
        return {text: tuple(spellings) for text, spellings in values.items()} or None

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
            raise InputError(f"{raw_model.subject} must have predicted labels or scores, got neither: drop its lines")
        label, has_unknown = None, False
        if raw_model.labels is not None:
            column = str(raw_model.columns.label)
            label = f"coalesce({_build_code_sql(column, class_names, raw_model.labels)}, {len(class_names)})"
            has_unknown = (
                not set(raw_model.labels) <= set(class_names) or self._count_missing_labels(column, raw_model.where)[0] > 0
            )
        elif scores is not None:
            label = scores.label
            if scores.kind == "probability" and positive is not None:
                label = f"(CASE WHEN {scores.values[positive]} >= {USUAL_THRESHOLD} THEN {positive} ELSE {1 - positive} END)"
            note_label_source(scores.kind, scores.single_column, label is None, raw_model.subject, self.notes)
        y_true = _build_code_sql(str(self.file.roles.get("y_true")), class_names, true_labels)
        rows = self.file.fetch_rows(f"SELECT count(*) FROM judged WHERE {raw_model.where}")[0][0]
        values, kind = (None, None) if scores is None else (scores.values, scores.kind)
        where = raw_model.where
        return StreamedModel(
            self, dataset, raw_model.name, where, classes, positive, rows, y_true, label, values, kind, has_unknown
        )


@dataclass(frozen=True)
class StreamedScores:
    """SQL for the score of each class and for the predicted class.

    If no threshold is known, `label` is None.
    """

    values: tuple[str, ...]
    kind: ScoreKind
    label: str | None
    single_column: bool = False


@dataclass(frozen=True)
class _RawModel:
    """The lines, predicted labels and score columns of a model, before its classes are known."""

    name: str
    subject: Subject
    where: str
    labels: dict[str, Any] | None
    scores: dict[str | None, str]
    columns: ModelColumns


class _ScoreSummary(NamedTuple):
    """Summary of the score columns of a model.

    The summary contains the lowest and the highest score. It also contains the largest difference between 1 and the sum of the
    scores in a line. It counts the lines with a sum near 1, the lines with only zeros, and all lines.
    """

    least: float
    most: float
    deviation: float
    n_near: int
    n_zeros: int
    rows: int

    @property
    def outlier(self) -> float:
        """The lowest or the highest score, whichever cannot be a probability."""
        return self.least if self.least < 0 else self.most


def _choose_lines(file: StreamedFile, notes: Notes) -> None:
    """Restrict `judged` to the lines that a judgement in memory would use."""
    _keep_one_condition(file, notes)
    if file.drop_missing:
        _drop_incomplete_rows(file, notes)
    _check_complete(file)
    _keep_weighted_lines(file)
    _note_duplicates(file, notes)
    if file.roles.get("row") is not None:
        _number_predictions(file, notes)
    elif file.roles.get("repeat") is not None:
        _keep_first_repeat(file, notes)


def _build_weight_sql(file: StreamedFile) -> str | None:
    """Build SQL for the weight of a row.

    Return None if all weights in each data set are equal, because equal weights have no effect.
    """
    column = file.roles.get("weight")
    if column is None:
        return None
    weight = _cast_to_double(column)
    keys = ", ".join(["1", *_list_key_columns(file, "dataset")])
    columns = f"{keys}, min({weight}) AS least, max({weight}) AS most"
    unequal = file.fetch_rows(f"SELECT {columns} FROM judged GROUP BY ALL HAVING least <> most")
    for *_, least, most in unequal:
        check_magnitude("sample_weight", np.array([least, most]))
    return weight if unequal else None


def _keep_weighted_lines(file: StreamedFile) -> None:
    """Check the weights, and drop lines with a weight of zero, because they do not count as rows."""
    column = file.roles.get("weight")
    if column is None:
        return
    weight = _cast_to_double(column)
    bad = f"{weight} IS NULL OR NOT isfinite({weight}) OR {weight} < 0"
    columns = f"count(*) FILTER (WHERE {bad}), max({weight}), count(*) FILTER (WHERE {weight} = 0)"
    count, most, n_zeros = file.fetch_rows(f"SELECT {columns} FROM judged")[0]
    if count:
        raise InputError(
            f"weights must be finite and not negative, got {format_count(count, 'invalid line')}: correct the weights"
        )
    if not most:
        raise InputError(f"weights must not all be zero, got only zeros in column {column!r}")
    if n_zeros:
        file.keep_lines(f"{weight} > 0")


def _list_key_columns(file: StreamedFile, *roles: str) -> list[str]:
    return [quote_identifier(column) for column in map(file.roles.get, roles) if column is not None]


def _check_complete(file: StreamedFile) -> None:
    present = [(role, column) for role in REQUIRED_ROLES if (column := file.roles.get(role)) is not None]
    counts = ", ".join(f"count(*) FILTER (WHERE {file.build_missing_condition(column)})" for _, column in present)
    for (role, column), count in zip(present, file.fetch_rows(f"SELECT {counts} FROM judged")[0], strict=True):
        if count:
            markers = file.roles.missing_labels if role == "y_true" else ()
            cells = join_names([format_count(count, "empty cell"), *map(repr, markers)], conjunction="or")
            raise InputError(
                f"{role} must not be missing, got {cells} in column {column!r}: fill the cells, or "
                f"pass {name_argument('drop_missing', 'True')}"
            )


def _drop_incomplete_rows(file: StreamedFile, notes: Notes) -> None:
    """Remove rows with missing values from the predictions of all models.

    If all cells of a column are empty for a model on a data set, these cells are not treated as missing values.
    """
    roles = file.roles
    keys = _list_key_columns(file, "dataset", "model")
    predicted = list(dict.fromkeys(column for model_columns in roles.models for column in model_columns.columns))
    parts = [file.build_missing_condition(column) for column in roles.list_columns(*REQUIRED_ROLES, "weight")]
    present = ", ".join(f"count(*) FILTER (WHERE NOT {file.build_missing_condition(column)})" for column in predicted)
    for line in file.fetch_rows(f"SELECT {', '.join([*keys, present])} FROM judged GROUP BY ALL"):
        group = [f"{key} IS NOT DISTINCT FROM {quote_literal(value)}" for key, value in zip(keys, line, strict=False)]
        missing = [
            file.build_missing_condition(column) for column, count in zip(predicted, line[len(keys) :], strict=True) if count
        ]
        parts += [f"({' AND '.join([*group, '(' + ' OR '.join(missing) + ')'])})"] if missing else []
    incomplete = f"({' OR '.join(parts)})"
    row_keys = _list_key_columns(file, "dataset", "row")
    if roles.get("row") is None:
        dropped, total = file.fetch_rows(f"SELECT count(*) FILTER (WHERE {incomplete}), count(*) FROM judged")[0]
        condition = f"NOT {incomplete}"
    else:
        rows = f"SELECT DISTINCT {', '.join(row_keys)} FROM judged"
        file.fetch_rows(f"CREATE TEMP TABLE incomplete AS {rows} WHERE {incomplete}")
        dropped, total = (file.fetch_rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("incomplete", f"({rows})"))
        same = " AND ".join(f"lines.{key} IS NOT DISTINCT FROM incomplete.{key}" for key in row_keys)
        condition = f"NOT EXISTS (SELECT 1 FROM incomplete WHERE {same})"
    if dropped:
        note_dropped_rows(dropped, total, notes)
        file.keep_lines(condition)


def _note_duplicates(file: StreamedFile, notes: Notes) -> None:
    """Add a note on exact duplicates of lines if no column identifies the rows."""
    lines = file.fetch_rows("SELECT count(*) FROM judged")[0][0]
    if file.roles.get("row") is not None or lines > MAX_COMPARED_LINES:
        return
    fractions = [quote_identifier(name) for name, kind in file.column_types.items() if kind in ("DOUBLE", "FLOAT")]
    n_lines = file.fetch_rows("SELECT count(*) FROM (SELECT DISTINCT * FROM judged)")[0][0]
    distinct = f"SELECT DISTINCT {', '.join(fractions)} FROM judged"
    n_fractions = file.fetch_rows(f"SELECT count(*) FROM ({distinct})")[0][0] if fractions else 0
    note_duplicated_lines(lines, n_lines, n_fractions, notes)


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


def _number_predictions(file: StreamedFile, notes: Notes) -> None:
    """Check that each model predicts each row once per repeat and fold, and number the predictions of each row.

    If the file has no repeat or fold column, several lines of a row count as repeated predictions, in arbitrary order.
    """
    keys, splits = ", ".join(_list_key_columns(file, "dataset", "model", "row")), _list_key_columns(file, "repeat", "fold")
    distinct = f"count(DISTINCT ({', '.join(splits)}))" if splits else "1"
    lines = f"SELECT {keys}, count(*) AS n, {distinct} AS d FROM judged GROUP BY {keys} HAVING count(*) > 1"
    n_multiple, n_repeated = file.fetch_rows(f"SELECT count(*), coalesce(sum(n - d), 0) FROM ({lines})")[0]
    if n_repeated and _drop_duplicate_lines(file, notes):
        _number_predictions(file, notes)
    elif n_repeated and splits:
        row = str(file.roles.get("row"))
        example = file.fetch_rows(f"SELECT {quote_identifier(row)} FROM ({lines}) WHERE n > d LIMIT 1")[0][0]
        raise InputError(
            f"models must predict each row once per repeat and fold, got row {example!r} of column {row!r} more than once "
            f"({format_count(int(n_repeated), 'such line')}): drop the repeated lines"
        )
    elif n_multiple:
        file.number_answers(keys, ", ".join(splits or map(quote_identifier, file.roles.used_columns)))
        notes.add("repeated_predictions")
        if n_repeated:
            _note_numbered_predictions(file, notes)


def _note_numbered_predictions(file: StreamedFile, notes: Notes) -> None:
    """Add a note on each model that predicts rows several times although no column numbers the repeats."""
    row, model = str(file.roles.get("row")), file.roles.get("model")
    name = "NULL" if model is None else quote_identifier(model)
    for value, lines in file.fetch_rows(f"SELECT {name}, count(*) FROM judged WHERE {_ANSWER} > 1 GROUP BY ALL ORDER BY ALL"):
        columns = [model_columns.name or ONLY_MODEL for model_columns in file.roles.models]
        for subject in columns if value is None else [format_label(value)]:
            notes.add("numbered_predictions", Subject(subject), column=row, lines=int(lines))


def _drop_duplicate_lines(file: StreamedFile, notes: Notes) -> bool:
    """Remove repeated lines for the same row if all of them are exact duplicates. Return whether they were removed."""
    keys = ", ".join(_list_key_columns(file, *_LINE_ROLES))
    lines, n_keys = file.fetch_rows(f"SELECT count(*), count(DISTINCT row({keys})) FROM judged")[0]
    columns = ", ".join(map(quote_identifier, file.roles.used_columns))
    distinct = f"SELECT DISTINCT {columns} FROM judged"
    if file.fetch_rows(f"SELECT count(*) FROM ({distinct})")[0][0] != n_keys:
        return False
    file.fetch_rows(f"CREATE TEMP TABLE singles AS {distinct}")
    file.fetch_rows("CREATE OR REPLACE VIEW judged AS SELECT * FROM singles")
    notes.add("duplicated_rows", lines=lines - n_keys)
    return True


def _keep_first_repeat(file: StreamedFile, notes: Notes) -> None:
    """Keep the first repeat of each model if rows have no ids."""
    repeat = quote_identifier(str(file.roles.get("repeat")))
    keys = ", ".join(["1", *_list_key_columns(file, "dataset", "model")])
    if file.fetch_rows(f"SELECT {keys} FROM judged GROUP BY ALL HAVING min({repeat}) <> max({repeat}) LIMIT 1"):
        file.keep_lines(f"({keys}, {repeat}) IN (SELECT {keys}, min({repeat}) FROM lines WHERE {file.row_filter} GROUP BY ALL)")
        notes.add("repeated_predictions")


def _find_score_columns(file: StreamedFile, model_columns: ModelColumns, where: str, subject: Subject) -> dict[str | None, str]:
    """Map each class to its score column. Columns that are empty on the selected lines are left out."""
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
                f"scores of {subject} must be finite numbers, got {format_count(rows - n_finite, 'invalid line')} in "
                f"column {column!r}: enter finite scores, or pass {name_argument('drop_missing', 'True')}"
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
    subject: Subject,
    notes: Notes,
) -> StreamedScores | None:
    """Build SQL for the scores of a model. `class_index` is the class of a single score column that does not name its class."""
    if not columns_by_class:
        return None
    if set(columns_by_class) == {None} or (len(columns_by_class) == 1 and len(class_names) == 2):
        text, column = next(iter(columns_by_class.items()))
        if len(class_names) != 2:
            raise InputError(
                f"scores of {subject} must have a column for each of the {len(class_names)} classes, got one column: name them "
                f"score[{class_names[0]}], score[{class_names[1]}] ..., or pass "
                f"{name_argument('scores', 'MAPPING', 'CLASS=COLUMN')}"
            )
        return _build_single_column_scores(
            column, class_index if text is None else class_names.index(text), _summarize_scores(file, [column], where), subject
        )
    missing = [text for text in class_names if text not in columns_by_class]
    if missing:
        raise InputError(
            f"scores of {subject} must have a column for each class, got none for {missing[0]!r}: add it, or pass "
            f"{name_argument('scores', 'MAPPING', 'CLASS=COLUMN')}"
        )
    columns = [columns_by_class[text] for text in class_names]
    values = tuple(map(_cast_to_double, columns))
    summary = _summarize_scores(file, columns, where)
    is_probability = _are_probabilities(columns, summary, subject, notes)
    if is_probability and summary.deviation > EXACT_TOLERANCE:
        values = tuple(f"({value} / ({' + '.join(values)}))" for value in values)
    return StreamedScores(values, "probability" if is_probability else "decision", _build_argmax_sql(values))


def _build_single_column_scores(column: str, class_index: int, summary: _ScoreSummary, subject: Subject) -> StreamedScores:
    """Derive the scores of both classes from a single column. If a threshold is known, also derive predicted labels."""
    is_probability = summary.least >= 0 and summary.most <= 1
    if not is_probability and is_named_probability(column):
        raise InputError(
            f"probabilities of {subject} must lie between 0 and 1, got {summary.outlier:g} in column "
            f"{column!r}: {suggest_scale(summary.least, summary.most)}"
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


def _are_probabilities(columns: Sequence[str], summary: _ScoreSummary, subject: Subject, notes: Notes) -> bool:
    """Return whether the scores of all classes are probabilities. Add a note if rounding makes rescaling necessary."""
    is_named = all(map(is_named_probability, columns))
    if summary.least < 0 or summary.most > 1:
        if is_named:
            raise InputError(
                f"probabilities of {subject} must lie between 0 and 1, got {summary.outlier:g}: rename "
                "the columns to scores if they are not probabilities"
            )
        return False
    if summary.n_near == summary.rows:
        if summary.deviation > EXACT_TOLERANCE:
            notes.add("rescaled_probabilities", subject, deviation=float(summary.deviation))
        return True
    if not is_named and summary.n_near + summary.n_zeros == summary.rows:
        notes.add("zero_scores", subject, zero=int(summary.n_zeros), rows=int(summary.rows))
        return False
    if is_named or summary.n_near > summary.rows / 2:
        raise InputError(
            f"probabilities of {subject} must sum to 1 in each row, got a sum that is off by {summary.deviation:.3g} "
            f"({format_count(summary.rows - summary.n_near, 'such line')}): normalize them, or rename the "
            "columns to scores if they are not probabilities"
        )
    notes.add("not_probabilities", subject, deviation=float(summary.deviation))
    return False


def _cast_to_double(column: str) -> str:
    """Build SQL that converts a column to numbers."""
    return f"CAST({quote_identifier(column)} AS DOUBLE)"


def _build_argmax_sql(values: Sequence[str]) -> str:
    """Build SQL for the class with the highest score. If several scores are equal, the first of these classes is used."""
    most = f"greatest({', '.join(values)})"
    return "(CASE " + " ".join(f"WHEN {value} = {most} THEN {i}" for i, value in enumerate(values)) + " END)"


def _build_code_sql(column: str, texts: Sequence[str], values: Mapping[str, Any]) -> str:
    """Build SQL for the class index of the labels in a column. A class may have several spellings, given as a tuple."""
    spellings = {text: value if isinstance(value, tuple) else (value,) for text, value in values.items()}
    cases = [
        f"WHEN {quote_identifier(column)} IN ({', '.join(map(quote_literal, spellings[text]))}) THEN {i}"
        for i, text in enumerate(texts)
        if text in values
    ]
    return f"(CASE {' '.join(cases)} END)"


def _build_columns_sql(model: StreamedModel, i: int) -> str:
    score = model.scores[model.positive or 0] if model.scores else "NULL"
    return f"{model.label or 'NULL'} AS l{i}, {score} AS s{i}"


def quote_literal(value: Any) -> str:
    """Format a value as an SQL literal."""
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
    """Merge equal scores of a sorted array, and count positives and negatives."""
    if not len(scores):
        return scores, scores, scores
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sizes = np.diff(np.append(starts, len(scores)))
    pos = np.add.reduceat(positive.astype(np.int64), starts)
    return scores[starts], pos, sizes - pos


def _combine_tallies(batches: Iterator[tuple[npt.NDArray[Any], ...]], capacity: int, unweighted: bool) -> ScoreTally:
    """Combine batches with descending scores into one tally. Two neighbouring batches may share a score."""
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
    return build_sorted_tally(values[:size], pos[:size], neg[:size])


def _expand_dtype(counts: npt.NDArray[Any], incoming: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Use a larger integer type if the incoming counts need it."""
    if counts.dtype == np.float64 or incoming.max() <= np.iinfo(counts.dtype).max:
        return counts
    return counts.astype(np.min_scalar_type(int(incoming.max())))


def compute_rank_contrast(file: StreamedFile, lines: str, positive: int, clustered: bool = False) -> AucContrast:
    """Compute the AUCs of two models on the same rows and the variance of their difference.

    The result is NaN if a class has no rows. `lines` is SQL that selects true classes t, scores s1 and s2, and clusters c. The
    rows are written to a temporary table, which may spill to disk, so the models are joined only once.

    Only the distinct scores of the rarer class are kept in memory. If this class has more than `MAX_MARKS` rows, only every
    k-th score is kept. The rows of both classes are then counted at and between these scores. The counts determine how many
    rows of one class have a lower score than each row of the other class. If scores were left out, the result is approximate.
    """
    cluster = "dense_rank() OVER (ORDER BY c) - 1" if clustered else "0"
    file.fetch_rows(f"CREATE OR REPLACE TEMP TABLE met AS SELECT t = {positive} AS p, s1, s2, {cluster} AS c FROM {lines}")
    try:
        return _compute_contrast(file, clustered)
    finally:
        file.fetch_rows("DROP TABLE met")


def _compute_contrast(file: StreamedFile, clustered: bool) -> AucContrast:
    columns = "count(*) FILTER (WHERE p), count(*) FILTER (WHERE NOT p), max(c)"
    positives, negatives, last_cluster = file.fetch_rows(f"SELECT {columns} FROM met")[0]
    counts: tuple[int, int] | None
    if not positives or not negatives:
        return AucContrast(math.nan, math.nan, positives, negatives, (), positives + negatives)
    few = min(positives, negatives)
    rare, common = ("p", "NOT p") if positives <= negatives else ("NOT p", "p")
    marks = [_select_marks(file, column, rare, few) for column in ("s1", "s2")]
    is_exact = few <= MAX_MARKS or _are_all_marked(file, marks, rare)
    slot_rows = _SlotRows(file, marks, last_cluster + 1 if clustered else 0)
    rare_below, _ = slot_rows.count_below(rare)
    common_below, over_common = slot_rows.count_below(common, rare_below)
    over_rare = slot_rows.sum_placements(rare, common_below)
    over_positives, over_negatives = (over_rare, over_common) if rare == "p" else (over_common, over_rare)
    first, second = (moments.mean / (2 * negatives) for moments in over_positives.moments[:2])
    independent_parts = tuple(
        VariancePart.from_values([moments.compute_mean_variance(2 * other) for moments in sums.moments], size - 1.0)
        for sums, size, other in ((over_positives, positives, negatives), (over_negatives, negatives, positives))
    )
    parts, counts = independent_parts, None
    if clustered:
        deviations = over_positives.compute_deviations(2 * negatives), -over_negatives.compute_deviations(2 * positives)
        masks = over_positives.sizes > 0, over_negatives.sizes > 0
        numbers = [int(masks[0].sum()), int(masks[1].sum()), last_cluster + 1]
        products = [deviations[0] ** 2, deviations[1] ** 2, 2 * deviations[0] * deviations[1]]
        factors = [number / (number - 1) if number > 1 else 0.0 for number in numbers]
        parts = tuple(
            VariancePart.from_values((factor * product.sum(axis=1)).tolist(), number - 1.0)
            for factor, product, number in zip(factors, products, numbers, strict=True)
        )
        counts = numbers[0], numbers[1]
    marks_used = 0 if is_exact else MAX_MARKS
    rows = positives + negatives
    return AucContrast(first, second, positives, negatives, parts, rows, marks_used, counts, independent_parts)


def _select_marks(file: StreamedFile, column: str, rare: str, rows: int) -> FloatArray:
    """Select the distinct scores of the rarer class in ascending order.

    If the class has more than `MAX_MARKS` rows, only every k-th row is used.
    """
    step, n_read = -(-rows // MAX_MARKS), 0
    parts: list[FloatArray] = []
    for (scores,) in file.fetch_batches(f"SELECT {column} FROM met WHERE {rare} ORDER BY {column}"):
        parts.append(_drop_repeats(scores[-n_read % step :: step]))
        n_read += len(scores)
    return np.unique(np.concatenate(parts))


def _drop_repeats(ascending: FloatArray) -> FloatArray:
    return ascending[np.append(True, ascending[1:] != ascending[:-1])] if len(ascending) else ascending


def _are_all_marked(file: StreamedFile, marks: Sequence[FloatArray], rare: str) -> bool:
    """Return whether the marks include all scores of the rarer class."""
    n_distinct = file.fetch_rows(f"SELECT count(DISTINCT s1), count(DISTINCT s2) FROM met WHERE {rare}")[0]
    return all(len(mark_values) == count for mark_values, count in zip(marks, n_distinct, strict=True))


class _SlotRows:
    """The rows of the joined table, assigned to slots by their scores.

    The marks are the selected scores of the rarer class. Slot 2i contains the scores between marks i - 1 and i. Slot 2i + 1
    contains the scores equal to mark i.
    """

    def __init__(self, file: StreamedFile, marks: Sequence[FloatArray], clusters: int) -> None:
        self.file, self.marks, self.clusters = file, marks, clusters

    def _iter_slots(self, which: str) -> Iterator[tuple[list[IntArray], npt.NDArray[Any]]]:
        for *batch, codes in self.file.fetch_batches(f"SELECT s1, s2, c FROM met WHERE {which}"):
            yield [_find_slots(marks, scores) for marks, scores in zip(self.marks, batch, strict=True)], codes

    def count_below(self, which: str, below: Sequence[FloatArray] = ()) -> tuple[list[FloatArray], _PlacementSums]:
        """Count the rows of a class below each slot, and sum the placements of all its rows.

        The counts are those of `_compute_twice_below`. Placements are summed only if `below`, the counts of the other class, is
        given.
        """
        counts, sums = [np.zeros(2 * len(marks) + 1) for marks in self.marks], _PlacementSums(self.clusters)
        for slots, codes in self._iter_slots(which):
            for count, slot in zip(counts, slots, strict=True):
                np.add.at(count, slot, 1.0)
            if below:
                sums.add(below[0][slots[0]], below[1][slots[1]], codes)
        return [_compute_twice_below(count) for count in counts], sums

    def sum_placements(self, which: str, below: Sequence[FloatArray]) -> _PlacementSums:
        """Sum the placements under both models over the rows of a class. `below` contains the counts of the other class."""
        sums = _PlacementSums(self.clusters)
        for slots, codes in self._iter_slots(which):
            sums.add(below[0][slots[0]], below[1][slots[1]], codes)
        return sums


class _PlacementSums:
    """Moments of the placements under two models and of their difference, and sums within each cluster.

    The placement of a row is twice the number of rows of the other class with a lower score, where a tie counts one half.
    """

    def __init__(self, clusters: int) -> None:
        self.moments = tuple(_RunningMoments() for _ in range(3))
        self.sums, self.sizes = np.zeros((3, clusters)), np.zeros(clusters)

    def add(self, first: FloatArray, second: FloatArray, codes: npt.NDArray[Any]) -> None:
        """Add the placements of some rows."""
        columns = first, second, first - second
        for moments, column in zip(self.moments, columns, strict=True):
            moments.add(column)
        if len(self.sizes):
            for sums, column in zip(self.sums, columns, strict=True):
                np.add.at(sums, codes, column)
            np.add.at(self.sizes, codes, 1.0)

    def compute_deviations(self, scale: float) -> FloatArray:
        """For each cluster, compute the sum of deviations from the mean, divided by `scale` and the total number of rows."""
        means = np.array([moments.mean for moments in self.moments])
        return np.asarray((self.sums - means[:, None] * self.sizes) / (scale * self.sizes.sum()))


class _RunningMoments:
    """Mean and sum of squared deviations of values that are added in batches."""

    def __init__(self) -> None:
        self.rows, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, values: FloatArray) -> None:
        """Add values by Chan's formula, which avoids cancellation."""
        if not len(values):
            return
        rows, mean = self.rows + len(values), float(values.mean())
        delta = mean - self.mean
        self.squares += float(((values - mean) ** 2).sum()) + delta**2 * self.rows * len(values) / rows
        self.mean += delta * len(values) / rows
        self.rows = rows

    def compute_mean_variance(self, scale: float) -> float:
        """Compute the variance of the mean after dividing all values by `scale`. The variance is 0 for a single value."""
        return self.squares / scale**2 / (self.rows - 1) / self.rows if self.rows > 1 else 0.0


def _find_slots(marks: FloatArray, scores: FloatArray) -> IntArray:
    """Find the slot of each score. Scores are sorted first, because this makes the search ten times faster."""
    ascending = order_scores(scores)
    scores = scores[ascending]
    mark_index = np.searchsorted(marks, scores)
    slots = np.empty(len(scores), dtype=np.intp)
    slots[ascending] = 2 * mark_index + (marks[np.minimum(mark_index, len(marks) - 1)] == scores)
    return slots


def _compute_twice_below(counts: FloatArray) -> FloatArray:
    """Return twice the number of rows below each slot, where rows in the slot count one half.

    The doubled numbers are whole numbers, which floating-point numbers represent exactly. Therefore, equal placements remain
    exactly equal.
    """
    doubled = np.cumsum(counts)
    doubled *= 2
    doubled -= counts
    return doubled
