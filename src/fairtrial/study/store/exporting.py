"""Predictions of a study as a table for other tools: CSV or Parquet, a line for each test row, written in pieces."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, one_of
from fairtrial.errors import InputError
from fairtrial.study.archive import Archive, DataFacts
from fairtrial.study.evidence import Predictions

if TYPE_CHECKING:
    import pandas as pd

Format = Literal["csv", "parquet"]
_AT_ONCE = 100_000
_TRIAL = ("dataset", "condition", "level", "learner", "repeat", "fold")


def export(
    archive: Archive,
    path: str | os.PathLike[str],
    *,
    format: Format | None = None,  # noqa: A002
    overwrite: bool = False,
) -> int:
    """Write a line for each test row of each trial that succeeded; the number of lines.

    Columns: dataset, condition, level, learner, repeat, fold, row (its id), truth, prediction, and `score[CLASS]` for each
    class of any data set, empty where it does not apply. `format` is told by the ending of the path where it is not given. The
    file appears when it is complete; one that is there already is refused unless `overwrite`.
    """
    place = Path(path)
    kind = _kind(place, format)
    if place.exists() and not overwrite:
        raise InputError(f"{place} exists already: choose another file, or overwrite it (overwrite=True, --force)")
    if not place.parent.is_dir():
        raise InputError(f"{place} cannot be written: the folder {place.parent} does not exist; make it first")
    layout = _Layout.of(archive.datasets)
    n_rows = 0
    with _complete_or_nothing(place) as hidden, _writer(kind, hidden, layout.schema()) as writer:
        for facts, trials in _by_dataset(archive):
            for part, found in _pieces(archive, trials):
                writer.write_table(layout.table(facts, part, found))
                n_rows += sum(len(each.rows) for each in found)
    return n_rows


def _kind(path: Path, format: Format | None) -> str:  # noqa: A002
    if format is not None:
        one_of("format", format, ["csv", "parquet"])
        return format
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("csv", "parquet"):
        raise InputError(f"{path} must end in .csv or .parquet, got {path.suffix!r}: rename it, or pass format=")
    return kind


@dataclass(frozen=True)
class _Layout:
    """The columns that all data sets share: types of labels and ids, and a score for each class by its text."""

    label_type: Any
    id_type: Any
    classes: tuple[str, ...]

    @classmethod
    def of(cls, datasets: Sequence[DataFacts]) -> _Layout:
        for data in datasets:
            if len({str(label) for label in data.classes}) < len(data.classes):
                raise InputError(f"classes of {data.name} must differ as text, got {list(data.classes)}: rename some of them")
        labels = [label for data in datasets for label in data.classes]
        classes = dict.fromkeys(str(label) for label in labels)
        return cls(
            _arrow_type({type(label) for label in labels}),
            _arrow_type({_id_type(data.row_ids) for data in datasets}),
            tuple(classes),
        )

    def schema(self) -> Any:
        import pyarrow as pa

        types = dict(zip(_TRIAL, (pa.string(), pa.string(), pa.float64(), pa.string(), pa.int64(), pa.int64()), strict=True))
        types |= {"row": self.id_type, "truth": self.label_type, "prediction": self.label_type}
        return pa.schema(types | {f"score[{each}]": pa.float64() for each in self.classes})

    def table(self, data: DataFacts, trials: pd.DataFrame, found: Sequence[Predictions]) -> Any:
        """The lines of some trials of one data set."""
        import pyarrow as pa

        repeated = np.repeat(np.arange(len(found)), [len(each.rows) for each in found])
        columns = {name: pa.array(trials[name].to_numpy()[repeated]) for name in ("level", "repeat", "fold")}
        columns |= {name: pa.array(trials[name].astype(object)).take(repeated) for name in ("dataset", "condition", "learner")}
        ids = data.row_ids[np.concatenate([each.rows for each in found])]
        columns["row"] = self._typed(ids.tolist(), self.id_type)
        labels = self._typed(data.classes, self.label_type)
        for name in ("truth", "prediction"):
            codes = np.concatenate([getattr(each, name) for each in found])
            columns[name] = labels.take(pa.array(codes, mask=codes < 0))
        scores = np.concatenate([_scores(each, len(data.classes)) for each in found])
        absent = pa.nulls(len(repeated), pa.float64())
        columns |= {f"score[{each}]": absent for each in self.classes}
        for place, label in enumerate(data.classes):
            columns[f"score[{label}]"] = pa.array(scores[:, place], mask=np.isnan(scores[:, place]))
        schema = self.schema()
        return pa.table({name: columns[name] for name in schema.names}, schema=schema)

    @staticmethod
    def _typed(values: Sequence[Any], kind: Any) -> Any:
        import pyarrow as pa

        return pa.array([str(each) for each in values] if kind == pa.string() else values, type=kind)


def _scores(found: Predictions, n_classes: int) -> FloatArray:
    return np.full((len(found.rows), n_classes), np.nan) if found.scores is None else found.scores


def _id_type(row_ids: npt.NDArray[Any]) -> type:
    return {"i": int, "u": int, "f": float, "b": bool}.get(row_ids.dtype.kind, str)


def _arrow_type(types: set[type]) -> Any:
    """One type that holds all values without changing them; text where they are of different kinds."""
    import pyarrow as pa

    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_()}.get(
        next(iter(types)) if len(types) == 1 else str, pa.string()
    )


def _by_dataset(archive: Archive) -> Iterator[tuple[DataFacts, pd.DataFrame]]:
    trials = archive.trials()
    trials = trials[trials["status"] == "ok"]
    for facts in archive.datasets:
        own = trials[trials["dataset"] == facts.name]
        if len(own):
            yield facts, own


def _pieces(archive: Archive, trials: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, list[Predictions]]]:
    """Trials in a row with their predictions, as many as make a piece: never all at once."""
    found: list[Predictions] = []
    start, rows = 0, 0
    for place, each in enumerate(archive.predictions(trials["trial"].tolist())):
        found.append(each)
        rows += len(each.rows)
        if rows >= _AT_ONCE or place == len(trials) - 1:
            yield trials.iloc[start : place + 1], found
            found, start, rows = [], place + 1, 0


@contextmanager
def _complete_or_nothing(path: Path) -> Iterator[Path]:
    """A name beside the path to write to; it takes the path's place when all has gone well."""
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield hidden
        os.replace(hidden, path)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror or error}; check the folder and the space on its disk"
        ) from None
    finally:
        hidden.unlink(missing_ok=True)


def _writer(kind: str, path: Path, schema: Any) -> Any:
    if kind == "parquet":
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(path, schema, compression="zstd")
    from pyarrow.csv import CSVWriter

    return CSVWriter(path, schema)
