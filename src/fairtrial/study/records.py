"""The frozen splits of a data set, kept small: where all rows that do not test train, only those that test are kept."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, StoreError
from fairtrial.significance.scores import format_count

if TYPE_CHECKING:
    import pandas as pd

    from fairtrial.conditions import Condition

Status = Literal["ok", "error", "timeout", "memory", "crash"]


FAILURES: tuple[Status, ...] = ("error", "timeout", "memory", "crash")


PROTOCOL = 1


"""Counts up when a trial would leave other evidence than before: part of the key of every trial."""


@dataclass(frozen=True)
class ResourceLimits:
    """What one trial may take: seconds of wall-clock time, bytes of memory beyond the start. None: as much as it likes."""

    time: float | None = 3600.0
    memory: int | None = None


@dataclass(frozen=True, eq=False)
class SplitRows:
    """Positions of the training and of the test rows of one split, and its number."""

    train: IntArray
    test: IntArray
    repeat: int
    fold: int


@dataclass(frozen=True)
class TrialTask:
    """One trial of a chunk: its key, and the places of its split, condition and learner in the chunk; then its seeds."""

    key: bytes
    split: int
    condition: int
    learner: int
    condition_seed: int
    learner_seed: int


@dataclass(frozen=True, eq=False)
class Chunk:
    """Trials of one data set that travel together, in the order in which they are to run.

    `data` is the content hash of the data set, which travels apart; `learners` are estimators as cloudpickle writes them.
    """

    data: str
    splits: tuple[SplitRows, ...]
    conditions: tuple[Condition, ...]
    learners: tuple[bytes, ...]
    tasks: tuple[TrialTask, ...]
    limits: ResourceLimits


@dataclass(frozen=True)
class DataRequest:
    """The answer of a worker that has not met the data set of a chunk yet: send the chunk again, with it."""

    data: str


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """What a trial leaves, as it is kept. Columns are compressed (`fairtrial.study.records`); a failure has none.

    `rows` is None where the test rows are those of the split, `truth` is None where their classes are those of the data set.
    `level` and `test_level` are the realised levels of the condition in the two parts, None where it left the part alone;
    `changed` counts the cases or values that it changed in training, `test_changed` in the test part.
    """

    key: bytes
    status: Status
    prediction: bytes | None = None
    scores: bytes | None = None
    score_kind: Literal["probability", "decision"] | None = None
    rows: bytes | None = None
    y_true: bytes | None = None
    level: float | None = None
    changed: int | None = None
    test_level: float | None = None
    test_changed: int | None = None
    fit_time: float | None = None
    predict_time: float | None = None
    fit_cpu: float | None = None
    predict_cpu: float | None = None
    memory: int | None = None
    notes: str | None = None
    error: str | None = None
    message: str | None = None
    traceback: str | None = None
    log: str | None = None


CODES, INDICES, NUMBERS = np.dtype("<i2"), np.dtype("<i4"), np.dtype("<f8")


ABSTAINED = -1


"""The prediction of a row that the learner gives no class: the place of none."""


_COMPRESSION_LEVEL = 1


_thread_state = threading.local()


@dataclass(frozen=True, eq=False)
class Predictions:
    """The evidence of one trial, for measures: a line for each test row.

    `rows` are positions in the data set; `truth` and `prediction` are places in its declared classes, a prediction also
    ABSTAINED; `scores` has a column for each declared class, or is None where the learner gives none.
    """

    rows: IntArray
    y_true: IntArray
    prediction: IntArray
    scores: FloatArray | None
    score_kind: Literal["probability", "decision"] | None


def pack(array: npt.ArrayLike, dtype: np.dtype[Any]) -> bytes:
    """The array as this type, little-endian, compressed.

    >>> unpack(pack([3, 1, 2], CODES), CODES).tolist()
    [3, 1, 2]
    """
    return bytes(_get_codecs()[0].compress(np.ascontiguousarray(array, dtype=dtype).tobytes()))


def unpack(packed: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array in one dimension; it cannot be written to."""
    import zstandard

    try:
        return np.frombuffer(_get_codecs()[1].decompress(packed), dtype=dtype)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:  # a damaged length may ask for all memory
        raise StoreError(f"evidence is damaged and cannot be read ({error}): run these trials again in a new file") from None


def _get_codecs() -> tuple[Any, Any]:
    """A compressor and a decompressor for each thread: they cannot be shared."""
    if not hasattr(_thread_state, "tools"):
        import zstandard

        _thread_state.tools = (
            zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL, write_checksum=True),
            zstandard.ZstdDecompressor(),
        )
    return _thread_state.tools  # type: ignore[no-any-return]


_NOTE = re.compile(r"abstained on (\d+) of (\d+) test rows?: counted as errors(?:\n|$)")


_WITHIN = ("learner_", "best_estimator_")  # of a preparation, of a search for parameters


def find_abstention_label(fitted: Any) -> Any:
    """The label `abstention_` of a learner that abstains, also one within a preparation, a search or a pipeline; else None.

    >>> from fairtrial.learners import Chi, Prepared
    >>> find_abstention_label(Prepared(Chi()).fit([[0.0], [1.0]], ["no", "yes"]))
    '?'
    """
    while fitted is not None:
        label = getattr(fitted, "abstention_", None)
        if label is not None:
            return label
        steps = getattr(fitted, "steps", None)
        last = steps[-1][-1] if isinstance(steps, list) and steps else None
        fitted = next((getattr(fitted, name) for name in _WITHIN if hasattr(fitted, name)), last)
    return None


def format_abstention_note(prediction: IntArray) -> str | None:
    """What a trial notes of its abstentions; None where there are none.

    >>> import numpy as np
    >>> format_abstention_note(np.array([0, ABSTAINED, 1]))
    'abstained on 1 of 3 test rows: counted as errors'
    """
    n_abstained = int((prediction == ABSTAINED).sum())
    rows = "test row" if len(prediction) == 1 else "test rows"
    return f"abstained on {n_abstained} of {len(prediction)} {rows}: counted as errors" if n_abstained else None


def strip_abstention_note(notes: object) -> str:
    """The notes of a trial apart from that.

    >>> strip_abstention_note("abstained on 1 of 3 test rows: counted as errors\\nUserWarning: late")
    'UserWarning: late'
    """
    if not isinstance(notes, str):
        return ""
    matched = _NOTE.match(notes)
    return notes[matched.end() :] if matched else notes


def count_abstentions(trials: pd.DataFrame) -> pd.DataFrame:
    """A line for each learner that abstained: trials that went well, those with abstentions, their test rows, abstentions."""
    import pandas as pd

    succeeded = trials[trials["status"] == "ok"]
    matches = [_NOTE.match(notes) if isinstance(notes, str) else None for notes in succeeded["notes"]]
    frame = pd.DataFrame(
        {
            "learner": succeeded["learner"].astype(str).to_numpy(),
            "abstaining": [matched is not None for matched in matches],
            "rows": [int(matched[2]) if matched else 0 for matched in matches],
            "abstained": [int(matched[1]) if matched else 0 for matched in matches],
        }
    )
    sums = frame.groupby("learner", sort=False).agg(
        trials=("abstaining", "size"), abstaining=("abstaining", "sum"), rows=("rows", "sum"), abstained=("abstained", "sum")
    )
    return sums[sums["abstained"] > 0].reset_index()


def format_abstentions(trials: pd.DataFrame) -> list[str]:
    """A sentence for each learner that abstained."""
    return [
        f"{learner} abstained in {n_abstaining:,} of {format_count(n_trials, 'trial')}, on {n_abstained:,} of the {format_count(rows, 'test row')} "
        "there: counted as errors"
        for learner, n_trials, n_abstaining, rows, n_abstained in count_abstentions(trials).itertuples(index=False, name=None)
    ]


Positions = npt.NDArray[Any]


class PlannedSplits(Sequence[SplitRows]):
    """Splits by number, each made when it is asked for. Leaving one out of n rows takes n places, not n times n.

    >>> from fairtrial.resampling import KFold
    >>> splits = PlannedSplits(6, [KFold(3, random_state=1).freeze(range(6))])
    >>> len(splits), splits.read_numbers
    (3, ((0, 0), (0, 1), (0, 2)))
    >>> sorted([*splits[0].train.tolist(), *splits[0].run_test.tolist()])
    [0, 1, 2, 3, 4, 5]
    """

    def __init__(self, n_rows: int, repeats: Iterable[Iterable[Any]]) -> None:
        """Of the splits of each repeat, in order; a scheme that repeats itself counts on from the repeat before."""
        self.n_rows = n_rows
        numbered = list(_number_splits(repeats, n_rows))
        self.numbers = tuple(number for number, _ in numbered)
        """The repeat and the fold of each split."""
        self._splits = tuple(split for _, split in numbered)
        _check_unique_numbers(self.numbers)

    def __len__(self) -> int:
        return len(self._splits)

    @overload
    def __getitem__(self, index: int) -> SplitRows: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[SplitRows, ...]: ...

    def __getitem__(self, index: int | slice) -> SplitRows | tuple[SplitRows, ...]:
        if isinstance(index, slice):
            return tuple(self[position] for position in range(*index.indices(len(self))))
        train, test = self._splits[index]
        if train is None:
            train = find_other_rows(test, self.n_rows)
        return SplitRows(train.astype(np.intp, copy=False), test.astype(np.intp), *self.numbers[index])

    @property
    def repeats(self) -> int:
        """How many repeats there are."""
        return len({repeat for repeat, _ in self.numbers})


def _number_splits(
    repeats: Iterable[Iterable[Any]], n_rows: int
) -> Iterator[tuple[tuple[int, int], tuple[Positions | None, Positions]]]:
    first = 0
    for splits in repeats:
        repeat_numbers: dict[int, int] = {}
        for split in splits:
            repeat = repeat_numbers.setdefault(split.repeat, first + len(repeat_numbers))
            yield (repeat, split.fold), _compress_split(split, n_rows)
        first += len(repeat_numbers)


def _compress_split(split: Any, n_rows: int) -> tuple[Positions | None, Positions]:
    kind = np.int32 if n_rows < 2**31 else np.int64
    test = np.asarray(split.test).astype(kind)
    is_complement = np.array_equal(split.train, find_other_rows(test, n_rows))
    return None if is_complement else np.asarray(split.train).astype(kind), test


def find_other_rows(rows: Positions, n_rows: int) -> Positions:
    """All positions but these.

    >>> find_other_rows(np.array([3, 0]), 5).tolist()
    [1, 2, 4]
    """
    remaining = np.ones(n_rows, dtype=bool)
    remaining[rows] = False
    return np.flatnonzero(remaining)


def _check_unique_numbers(numbers: Sequence[tuple[int, int]]) -> None:
    seen = set()
    for repeat, fold in numbers:
        if (repeat, fold) in seen:
            raise InputError(f"splits must have different numbers, got repeat {repeat}, fold {fold} twice: number the folds")
        seen.add((repeat, fold))
