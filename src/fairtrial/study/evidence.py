"""Columns of evidence: arrays to compressed bytes and back. Scores stay float64: fewer digits would tie scores that differ."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.errors import StoreError

CODES, PLACES, NUMBERS = np.dtype("<i2"), np.dtype("<i4"), np.dtype("<f8")
ABSTAINED = -1
"""The prediction of a row that the learner gives no class: the place of none."""
_LEVEL = 1
_own = threading.local()


@dataclass(frozen=True, eq=False)
class Predictions:
    """The evidence of one trial, for measures: a line for each test row.

    `rows` are positions in the data set; `truth` and `prediction` are places in its declared classes, a prediction also
    ABSTAINED; `scores` has a column for each declared class, or is None where the learner gives none.
    """

    rows: IntArray
    truth: IntArray
    prediction: IntArray
    scores: FloatArray | None
    score_kind: Literal["probability", "decision"] | None


def pack(array: npt.ArrayLike, dtype: np.dtype[Any]) -> bytes:
    """The array as this type, little-endian, compressed.

    >>> unpack(pack([3, 1, 2], CODES), CODES).tolist()
    [3, 1, 2]
    """
    return bytes(_tools()[0].compress(np.ascontiguousarray(array, dtype=dtype).tobytes()))


def unpack(packed: bytes, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array in one dimension; it cannot be written to."""
    import zstandard

    try:
        return np.frombuffer(_tools()[1].decompress(packed), dtype=dtype)
    except (zstandard.ZstdError, ValueError, MemoryError) as error:  # a damaged length may ask for all memory
        raise StoreError(f"evidence is damaged and cannot be read ({error}): run these trials again in a new file") from None


def _tools() -> tuple[Any, Any]:
    """A compressor and a decompressor for each thread: they cannot be shared."""
    if not hasattr(_own, "tools"):
        import zstandard

        _own.tools = (zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True), zstandard.ZstdDecompressor())
    return _own.tools  # type: ignore[no-any-return]
