"""Records that plan, runner and store exchange: splits, chunks, trial records, predictions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import InputError, StoreError

if TYPE_CHECKING:
    from fairtrial.conditions import Condition

Status = Literal["ok", "error", "timeout", "memory", "crash"]
FAILURES: tuple[Status, ...] = ("error", "timeout", "memory", "crash")

CODES, INDICES, NUMBERS = np.dtype("<i2"), np.dtype("<i4"), np.dtype("<f8")
"""Data types for storing class codes, row numbers and scores."""

ABSTAINED = -1
"""Code stored as the prediction if the learner predicts no class for a row."""

_COMPRESSION_LEVEL = 1
_MAX_UNPACKED_BYTES = 2**28

_thread_state = threading.local()


@dataclass(frozen=True)
class ResourceLimits:
    """Limits for one trial: wall-clock time in seconds and memory growth in bytes.

    None means no limit.
    """

    time: float | None = 3600.0
    memory: int | None = None


@dataclass(frozen=True, eq=False)
class SplitRows:
    """A split: positions of its training and test rows, its repeat number and its fold number."""

    train: IntArray
    test: IntArray
    repeat: int
    fold: int


@dataclass(frozen=True)
class TrialTask:
    """A trial in a chunk, with its key and its seeds.

    `split`, `condition` and `learner` are indices into the chunk.
    """

    key: bytes
    split: int
    condition: int
    learner: int
    condition_seed: int
    learner_seed: int


@dataclass(frozen=True, eq=False)
class Chunk:
    """Trials on one data set that are sent to a worker together, in the order in which they run.

    `data` is the content hash of the data set, which is sent separately. `learners` are pickled with cloudpickle. `local`
    contains the indices of learners whose code is not installed. Such a learner never shares a process with another learner.
    """

    data: str
    splits: tuple[SplitRows, ...]
    conditions: tuple[Condition, ...]
    learners: tuple[bytes, ...]
    tasks: tuple[TrialTask, ...]
    limits: ResourceLimits
    local: frozenset[int] = frozenset()


@dataclass(frozen=True)
class DataRequest:
    """The reply of a worker that lacks the data set of a chunk.

    The coordinator then sends the chunk again, together with the data set.
    """

    data: str


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """The stored outcome of a trial.

    Predictions are compressed by `pack`, and a failed trial has none. `rows` is None if the test rows are exactly those of the
    split. `y_true` is None if the test rows have the same classes as in the data set. `level` and `test_level` are the realized
    levels of the condition in the training set and in the test set. They are None for a set that the condition did not change.
    `changed` and `test_changed` count the rows or values that the condition changed. `abstentions` counts the test rows for
    which the learner predicted no class. `tuning` describes a tuned learner as JSON: the chosen parameters, their mean score on
    the inner splits, and the number of combinations tried.
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
    abstentions: int = 0
    fit_time: float | None = None
    predict_time: float | None = None
    fit_cpu: float | None = None
    predict_cpu: float | None = None
    memory: int | None = None
    tuning: str | None = None
    notes: str | None = None
    error: str | None = None
    message: str | None = None
    traceback: str | None = None
    log: str | None = None


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of one trial, one entry for each test row.

    `rows` contains positions in the data set. `y_true` and `prediction` contain indices into the declared classes. A
    prediction can also be ABSTAINED. `scores` has one column per declared class, or is None if the learner provides no scores.
    """

    rows: IntArray
    y_true: IntArray
    prediction: IntArray
    scores: FloatArray | None
    score_kind: Literal["probability", "decision"] | None


def pack(array: npt.ArrayLike, dtype: np.dtype[Any]) -> bytes:
    """Compress an array.

    >>> unpack(pack([3, 1, 2], CODES), CODES).tolist()
    [3, 1, 2]
    """
    return bytes(_get_codecs()[0].compress(np.ascontiguousarray(array, dtype=dtype).tobytes()))


def unpack(packed: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Decompress an array, which is one-dimensional and read-only.

    The decompressed size is checked before memory is allocated. It must be at most 256 MiB or, if this is more, 1,000 times the
    compressed size.
    """
    import zstandard

    try:
        size = zstandard.frame_content_size(packed)
        if size < 0 or size > max(_MAX_UNPACKED_BYTES, 1000 * len(packed)):
            raise ValueError(f"{len(packed):,} bytes claim to contain {size:,} bytes")
        return np.frombuffer(_get_codecs()[1].decompress(packed), dtype=dtype)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:  # a corrupted length may request too much memory
        raise StoreError(f"predictions are corrupted ({error}): rerun the study into a new file") from None


def _get_codecs() -> tuple[Any, Any]:
    """Return the compressor and the decompressor of the current thread.

    Threads cannot share these objects.
    """
    if not hasattr(_thread_state, "tools"):
        import zstandard

        _thread_state.tools = (
            zstandard.ZstdCompressor(level=_COMPRESSION_LEVEL, write_checksum=True),
            zstandard.ZstdDecompressor(),
        )
    return _thread_state.tools  # type: ignore[no-any-return]


_WITHIN = ("learner_", "best_estimator_")  # attributes in which a preparation or a parameter search stores the fitted learner


def find_abstention_label(fitted: Any) -> Any:
    """Return the abstention label (`abstention_`) of a fitted learner, or None if it has none.

    The learner may be wrapped in a preparation, a parameter search or a pipeline.

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


def describe_tuning(fitted: Any) -> str | None:
    """Return the choices of a tuned learner as JSON, or None if the learner is not tuned.

    The tuned learner may be wrapped in a preparation.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> search = GridSearchCV(KNeighborsClassifier(1), {"weights": ["uniform"]}, cv=2)
    >>> describe_tuning(search.fit([[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1]))
    '{"parameters": {"weights": "uniform"}, "score": 1.0, "tried": 1}'
    """
    while fitted is not None:
        if hasattr(fitted, "chosen_") and hasattr(fitted, "tried_"):
            return _format_tuning(fitted.chosen_, fitted.score_, len(fitted.tried_))
        if hasattr(fitted, "best_params_") and hasattr(fitted, "best_score_"):
            return _format_tuning(fitted.best_params_, fitted.best_score_, len(fitted.cv_results_["params"]))
        fitted = getattr(fitted, "learner_", None)
    return None


def _format_tuning(parameters: Any, score: float, tried: int) -> str:
    plain = {str(name): value.item() if isinstance(value, np.generic) else value for name, value in parameters.items()}
    return json.dumps({"parameters": plain, "score": float(score), "tried": tried}, default=repr)


Positions = npt.NDArray[Any]


class PlannedSplits(Sequence[SplitRows]):
    """The splits of a data set, stored compactly.

    The training rows of a split are not stored if they are exactly the rows outside the test set. For leave-one-out on n rows,
    n row numbers are therefore stored instead of about n squared.

    >>> from fairtrial.resampling import KFold
    >>> splits = PlannedSplits(6, [KFold(3, random_state=1).freeze(range(6))])
    >>> len(splits), splits.numbers
    (3, ((0, 0), (0, 1), (0, 2)))
    >>> sorted([*splits[0].train.tolist(), *splits[0].test.tolist()])
    [0, 1, 2, 3, 4, 5]
    """

    def __init__(self, n_rows: int, repeats: Iterable[Iterable[Any]]) -> None:
        """Number the splits of all repeats.

        If an item of `repeats` contains several repeats, each of them gets its own number.
        """
        self.n_rows = n_rows
        numbered = list(_number_splits(repeats, n_rows))
        self.numbers: tuple[tuple[int, int], ...] = tuple(number for number, _ in numbered)
        """Repeat number and fold number of each split."""
        self._splits: tuple[tuple[Positions | None, Positions], ...] = tuple(split for _, split in numbered)
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

    def join(self, others: Iterable[PlannedSplits]) -> PlannedSplits:
        """Return these splits followed by those of other schemes.

        Splits of different schemes can have the same repeat and fold numbers.
        """
        joined = PlannedSplits(self.n_rows, ())
        parts = [self, *others]
        joined.numbers = tuple(number for part in parts for number in part.numbers)
        joined._splits = tuple(split for part in parts for split in part._splits)
        return joined

    def take(self, indices: Iterable[int]) -> PlannedSplits:
        """Return the splits with the given indices."""
        taken = PlannedSplits(self.n_rows, ())
        chosen = list(indices)
        taken.numbers = tuple(self.numbers[index] for index in chosen)
        taken._splits = tuple(self._splits[index] for index in chosen)
        return taken

    @property
    def repeats(self) -> int:
        """Number of repeats."""
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
    """Find all rows that are not in `rows`, in ascending order.

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
            raise InputError(f"splits must have distinct numbers, got repeat {repeat}, fold {fold} twice: number the folds")
        seen.add((repeat, fold))
