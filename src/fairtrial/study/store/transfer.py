"""Export predictions, merge, check and repair results files, and delete trials."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, check_one_of
from fairtrial._files import FORMULA_PATTERN, NUMBER_PATTERN, write_atomically
from fairtrial._text import format_count, format_html_table
from fairtrial.errors import InputError
from fairtrial.study.archive import Archive, DataFacts
from fairtrial.study.records import Predictions
from fairtrial.study.store.archive import StoreArchive
from fairtrial.study.store.file import CorruptedStoreError
from fairtrial.study.store.integrity import Repair, repair_file
from fairtrial.study.store.sqlite import SQLiteStore
from fairtrial.study.store.store import MergedFile, open_store

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["csv", "parquet"]


_MAX_ROWS = 100_000


_TRIAL_COLUMNS = ("dataset", "condition", "level", "learner", "repeat", "fold")


def export(
    archive: Archive,
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002
    overwrite: bool = False,
) -> int:
    """Export the predictions of all successful trials to CSV or Parquet.

    The file has one row per trial and test row. The columns `dataset`, `condition`, `level`, `learner`, `repeat` and `fold`
    identify the trial. If the study has several resampling schemes, the column `resampling` names the scheme. The other columns
    are `row` (the row id), `y_true` and `prediction`, and a column `score[CLASS]` for each class that a data set declares. If
    the learner abstained, `prediction` is empty.

    If the predictions come from a results file, the whole file is checked first, as by `fairtrial check`. The exported file is
    written atomically. In CSV files, text that a spreadsheet would run as a formula gets a leading apostrophe.

    Parameters
    ----------
    archive : Archive
        Stored predictions, e.g. `results.archive`.
    path : path
        File to write.
    format : {"csv", "parquet"}, optional
        File format. Default: the format given by the suffix of the path.
    overwrite : bool, default False
        Overwrite an existing file.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    StoreError
        If the results file is corrupted.

    Examples
    --------
    >>> import tempfile, fairtrial
    >>> study = fairtrial.Study(["iris"], ["gaussian-nb"], resampling={"folds": 2}, name="example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = study.run(f"{folder}/example.fairtrial", jobs=1, progress=False)
    ...     export(results.archive, f"{folder}/predictions.csv")
    150
    """
    if isinstance(archive, StoreArchive):  # predictions from other files have no checksums
        SQLiteStore(archive.file).check()
    return write_predictions(archive, path, format=format, overwrite=overwrite)


def write_predictions(
    archive: Archive,
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002
    overwrite: bool = False,
) -> int:
    """Write predictions in the same way as `export`, but without checking the results file."""
    target = Path(path)
    kind = _resolve_format(target, format)
    if target.exists() and not overwrite:
        raise InputError(f"{target} already exists: choose another file, or pass overwrite=True (--force)")
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written because the folder {target.parent} does not exist: create it")
    layout = _ExportLayout.from_datasets(archive.datasets, has_schemes=len(archive.schemes) > 1)
    n_rows = 0
    with write_atomically(target) as hidden, _open_writer(kind, hidden, layout.build_schema()) as writer:
        for facts, trials in _iter_datasets(archive):
            for piece, predictions in _iter_pieces(archive, trials):
                table = layout.build_table(facts, piece, predictions)
                writer.write_table(_escape_formulas(table) if kind == "csv" else table)
                n_rows += sum(len(prediction.rows) for prediction in predictions)
    return n_rows


def _resolve_format(path: Path, format: Format | None) -> str:  # noqa: A002
    if format is not None:
        check_one_of("format", format, ["csv", "parquet"])
        return format
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("csv", "parquet"):
        raise InputError(f"{path} must end in .csv or .parquet, got {path.suffix!r}: rename it, or pass format")
    return kind


@dataclass(frozen=True)
class _ExportLayout:
    """The columns of an export: the types of labels and row ids, and the classes as text."""

    label_type: Any
    id_type: Any
    classes: tuple[str, ...]
    has_schemes: bool = False

    @classmethod
    def from_datasets(cls, datasets: Sequence[DataFacts], has_schemes: bool = False) -> _ExportLayout:
        for data in datasets:
            if len({str(label) for label in data.classes}) < len(data.classes):
                raise InputError(f"classes of {data.name} must differ as text, got {list(data.classes)}: rename some of them")
        labels = [label for data in datasets for label in data.classes]
        classes = dict.fromkeys(str(label) for label in labels)
        return cls(
            _get_arrow_type({type(label) for label in labels}),
            _get_arrow_type({_get_id_type(data.row_ids) for data in datasets}),
            tuple(classes),
            has_schemes,
        )

    def build_schema(self) -> Any:
        import pyarrow as pa

        types = dict(
            zip(_TRIAL_COLUMNS, (pa.string(), pa.string(), pa.float64(), pa.string(), pa.int64(), pa.int64()), strict=True)
        )
        if self.has_schemes:
            types["resampling"] = pa.string()
        types |= {"row": self.id_type, "y_true": self.label_type, "prediction": self.label_type}
        return pa.schema(types | {f"score[{label}]": pa.float64() for label in self.classes})

    def build_table(self, data: DataFacts, trials: pd.DataFrame, predictions: Sequence[Predictions]) -> Any:
        """Build the exported rows of several trials on one data set."""
        import pyarrow as pa

        repeated = np.repeat(np.arange(len(predictions)), [len(prediction.rows) for prediction in predictions])
        columns = {name: pa.array(trials[name].to_numpy()[repeated]) for name in ("level", "repeat", "fold")}
        names = ("dataset", "condition", "learner", *(["resampling"] if self.has_schemes else []))
        columns |= {name: pa.array(trials[name].astype(object)).take(repeated) for name in names}
        ids = data.row_ids[np.concatenate([prediction.rows for prediction in predictions])]
        columns["row"] = self._make_array(ids.tolist(), self.id_type)
        labels = self._make_array(data.classes, self.label_type)
        for name in ("y_true", "prediction"):
            codes = np.concatenate([getattr(prediction, name) for prediction in predictions])
            columns[name] = labels.take(pa.array(codes, mask=codes < 0))
        scores = np.concatenate([_get_scores(prediction, len(data.classes)) for prediction in predictions])
        absent = pa.nulls(len(repeated), pa.float64())
        columns |= {f"score[{label}]": absent for label in self.classes}
        for index, label in enumerate(data.classes):
            columns[f"score[{label}]"] = pa.array(scores[:, index], mask=np.isnan(scores[:, index]))
        schema = self.build_schema()
        return pa.table({name: columns[name] for name in schema.names}, schema=schema)

    @staticmethod
    def _make_array(values: Sequence[Any], kind: Any) -> Any:
        import pyarrow as pa

        return pa.array([str(value) for value in values] if kind == pa.string() else values, type=kind)


def _escape_formulas(table: Any) -> Any:
    """Put an apostrophe before text that starts like a spreadsheet formula, except numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, column in enumerate(table.schema):
        if column.type == pa.string():
            values = table.column(index)
            is_number = pc.match_substring_regex(values, NUMBER_PATTERN)
            is_formula = pc.and_(pc.match_substring_regex(values, FORMULA_PATTERN), pc.invert(is_number))
            escaped = pc.if_else(is_formula, pc.binary_join_element_wise("'", values, ""), values)
            table = table.set_column(index, column, escaped)
    return table


def _get_scores(predictions: Predictions, n_classes: int) -> FloatArray:
    return np.full((len(predictions.rows), n_classes), np.nan) if predictions.scores is None else predictions.scores


def _get_id_type(row_ids: npt.NDArray[Any]) -> type:
    return {"i": int, "u": int, "f": float, "b": bool}.get(row_ids.dtype.kind, str)


def _get_arrow_type(types: set[type]) -> Any:
    """Return the Arrow type for values of one type, or text for values of several types."""
    import pyarrow as pa

    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}.get(
        next(iter(types)) if len(types) == 1 else str, pa.string()
    )


def _iter_datasets(archive: Archive) -> Iterator[tuple[DataFacts, pd.DataFrame]]:
    trials = archive.trials()
    trials = trials[trials["status"] == "ok"]
    for facts in archive.datasets:
        dataset_trials = trials[trials["dataset"] == facts.name]
        if len(dataset_trials):
            yield facts, dataset_trials


def _iter_pieces(archive: Archive, trials: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, list[Predictions]]]:
    """Iterate over batches of trials and their predictions. Each batch has a limited size."""
    predictions: list[Predictions] = []
    start, rows = 0, 0
    for index, prediction in enumerate(archive.predictions(trials["trial"].tolist())):
        predictions.append(prediction)
        rows += len(prediction.rows)
        if rows >= _MAX_ROWS or index == len(trials) - 1:
            yield trials.iloc[start : index + 1], predictions
            predictions, start, rows = [], index + 1, 0


def _open_writer(kind: str, path: Path, schema: Any) -> Any:
    if kind == "parquet":
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(path, schema, compression="zstd")
    from pyarrow.csv import CSVWriter

    return CSVWriter(path, schema)


@dataclass(frozen=True, repr=False)
class MergeSummary:
    """The outcome of a merge: counts for each file, and notes on differences."""

    target: str
    files: tuple[MergedFile, ...]
    notes: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per merged file."""
        import pandas as pd

        return pd.DataFrame([asdict(file) for file in self.files], columns=list(MergedFile.__dataclass_fields__))

    def __str__(self) -> str:
        added, replaced = (sum(getattr(file, name) for file in self.files) for name in ("added", "replaced"))
        files = format_count(len(self.files), "file")
        summary = f"{self.target}: {format_count(added, 'trial')} added and {replaced:,} replaced from {files}"
        return "\n".join([summary, *self.notes])

    def __repr__(self) -> str:
        return f"<MergeSummary {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{'<br>'.join(escape(line) for line in str(self).splitlines())}</p>{format_html_table(self.frame())}"


def merge(target: str | os.PathLike[str], sources: Sequence[str | os.PathLike[str]]) -> MergeSummary:
    """Merge results files into one.

    The order of the files does not affect the merged trials, and merging again changes nothing. If two files declare a study
    differently, the last declaration is used, and a note reports this. If two files contain the same trial, a success takes
    precedence over a failure. If a learner is not reproducible, two files can contain different successful records of a
    trial. The merge then keeps the record with the smaller hash and reports the difference.

    Parameters
    ----------
    target : path
        Results file that receives all trials. It is created if it does not exist.
    sources : list of paths
        Results files to merge. They are not changed.

    Returns
    -------
    MergeSummary

    Raises
    ------
    StoreError
        If a file is corrupted. All files are checked before anything is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("part-1", "part-2"):
    ...         open_store(f"{folder}/{name}.fairtrial", write=True, create=True).close()
    ...     merged = merge(f"{folder}/all.fairtrial", [f"{folder}/part-1.fairtrial", f"{folder}/part-2.fairtrial"])
    >>> merged.frame()["trials"].tolist()
    [0, 0]
    """
    if isinstance(sources, (str, os.PathLike)) or not sources:
        raise InputError(f"sources must be a list of at least 1 results file, got {sources!r}")
    for source in sources:
        if os.path.realpath(source) == os.path.realpath(target):
            raise InputError(f"sources must not contain the target, got {os.fspath(source)!r}: merge into another file")
    with ExitStack() as opened:
        source_stores = [opened.enter_context(open_store(source)) for source in sources]
        for source_store in source_stores:
            source_store.check()
        target_store = opened.enter_context(open_store(target, write=True, create=True))
        target_store.check()
        merged = [target_store.merge_from(source_store) for source_store in source_stores]
    notes = dict.fromkeys(note for _, file_notes in merged for note in file_notes)
    return MergeSummary(os.fspath(target), tuple(file for file, _ in merged), tuple(notes))


@dataclass(frozen=True, repr=False)
class FileCheck:
    """The outcome of checking an intact results file.

    `n_trials` is the number of stored trials. `studies` maps each study to its numbers of planned and stored trials.
    """

    path: str
    n_trials: int
    studies: Mapping[str, tuple[int, int]]

    def frame(self) -> pd.DataFrame:
        """Return a table with one row per study: planned, stored and missing trials."""
        import pandas as pd

        lines = [(name, planned, stored, planned - stored) for name, (planned, stored) in self.studies.items()]
        return pd.DataFrame(lines, columns=["study", "planned", "stored", "missing"])

    def __str__(self) -> str:
        lines = [f"{self.path} is intact: {format_count(self.n_trials, 'trial')}"]
        for name, (planned, stored) in self.studies.items():
            missing = f", {planned - stored:,} missing" if stored < planned else ""
            lines.append(f"  {name}: {stored:,} of {format_count(planned, 'planned trial')} stored{missing}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<FileCheck {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self).splitlines()[0])}</p>{format_html_table(self.frame())}"


def check_results(path: str | os.PathLike[str]) -> FileCheck:
    """Check a results file for corruption.

    The check covers all pages of the file and the checksum of every row. It also compares the trials with the plans of the
    studies.

    Parameters
    ----------
    path : path
        Results file.

    Returns
    -------
    FileCheck

    Raises
    ------
    StoreError
        If the file is corrupted. `repair_results` recovers its intact trials.

    Examples
    --------
    >>> import tempfile, fairtrial
    >>> study = fairtrial.Study(["iris"], ["gaussian-nb"], resampling={"folds": 2}, name="example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(f"{folder}/example.fairtrial", jobs=1, progress=False)
    ...     check_results(f"{folder}/example.fairtrial").frame()["missing"].tolist()
    [0]
    """
    with open_store(path) as store:
        store.check()
        studies = {}
        for name in store.list_studies():
            statuses = store.open_archive(name).trials()["status"]
            studies[name] = len(statuses), int((statuses != "missing").sum())
        return FileCheck(os.fspath(path), sum(store.count_by_status().values()), studies)


def repair_results(path: str | os.PathLike[str]) -> Repair | None:
    """Repair a corrupted results file by dropping its corrupted trials.

    The next run repeats the dropped trials. The corrupted file is kept under a new name. An intact file is not changed.
    `Study.run` repairs a corrupted file automatically.

    Parameters
    ----------
    path : path
        Results file.

    Returns
    -------
    Repair or None
        Number of recovered trials and new path of the corrupted file, or None if the file is intact.

    Raises
    ------
    StoreError
        If the file cannot be repaired.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     open_store(f"{folder}/mine.fairtrial", write=True, create=True).close()
    ...     print(repair_results(f"{folder}/mine.fairtrial"))
    None
    """
    try:
        with open_store(path) as store:
            store.check()
    except CorruptedStoreError:
        return repair_file(path)
    return None


def forget_trials(path: str | os.PathLike[str], learner: str, *, dataset: str | None = None, study: str | None = None) -> int:
    """Delete the stored trials of a learner, so the next run of the study repeats them.

    Parameters
    ----------
    path : path
        Results file.
    learner : str
        Name of the learner.
    dataset : str, optional
        Name of a data set. Default: all data sets.
    study : str, optional
        Name of the study, if the file contains several. Default: the study that was added last.

    Returns
    -------
    int
        Number of deleted trials.

    Examples
    --------
    >>> import tempfile, fairtrial
    >>> study = fairtrial.Study(["iris"], ["gaussian-nb"], resampling={"folds": 2}, name="example")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = study.run(f"{folder}/example.fairtrial", jobs=1, progress=False)
    ...     forget_trials(f"{folder}/example.fairtrial", "gaussian-nb")
    2
    """
    with open_store(path, write=True) as store:
        store.check(quick=True)
        return store.forget(learner, dataset, study)
