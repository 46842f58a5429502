"""Checksums that detect corrupted rows in a results file."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from math import isnan
from typing import Any

import numpy as np

from fairtrial._check import FloatArray

TRIAL_NUMBERS = (
    *("id", "dataset", "condition", "split", "learner", "protocol", "run", "attempts"),
    *("level", "changed", "test_level", "test_changed", "abstentions"),
    *("fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory"),
)
TRIAL_TEXTS = ("seed", "status", "tuning", "notes", "error", "message", "traceback", "log")
"""The checksum of a trial covers TRIAL_NUMBERS as float64, the key, and TRIAL_TEXTS, in this order."""

_NUMBERS = struct.Struct(f"<{len(TRIAL_NUMBERS)}d")
_NAN = float("nan")


def compute_checksum(values: Iterable[Any], start: int = 0) -> int:
    """Compute the CRC-32 checksum of values that SQLite can store.

    `start` is the checksum of the preceding values.

    >>> compute_checksum(["ab", 1]) == compute_checksum([1], compute_checksum(["ab"])) != compute_checksum(["a", "b1"])
    True
    """
    return zlib.crc32(b"".join(map(_encode, values)), start)


def _encode(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, str):
        text = value.encode("utf-8", "surrogatepass")
        return b"s" + len(text).to_bytes(8, "little") + text
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value + 0.0)  # SQLite stores -0.0 as 0.0
    if isinstance(value, bytes):
        return b"b" + len(value).to_bytes(8, "little") + value
    return b"i%d;" % int(value)


def compute_trial_checksum(numbers: Iterable[Any], key: bytes, texts: Iterable[Any]) -> int:
    """Compute the checksum of a trial from its TRIAL_NUMBERS, key and TRIAL_TEXTS."""
    packed = _NUMBERS.pack(*(_NAN if number is None or isnan(number) else number + 0.0 for number in numbers))
    return compute_checksum(texts, zlib.crc32(key, zlib.crc32(packed)))


def compute_trial_checksums(numbers: FloatArray, keys: Sequence[Any], texts: Iterable[tuple[Any, ...]]) -> list[int]:
    """Compute the checksums of several trials.

    `numbers` has one row per trial. Missing values are NaN.
    """
    packed, size = np.ascontiguousarray(numbers, dtype="<f8").tobytes(), _NUMBERS.size
    encoded: dict[tuple[Any, ...], bytes] = {}
    checksums = []
    for index, (key, trial_texts) in enumerate(zip(keys, texts, strict=True)):
        if trial_texts not in encoded:
            encoded = {} if len(encoded) > 100 else encoded  # most trials have the same few texts
            encoded[trial_texts] = b"".join(map(_encode, trial_texts))
        checksum = zlib.crc32(packed[size * index : size * (index + 1)])
        checksums.append(zlib.crc32(encoded[trial_texts], zlib.crc32(key if isinstance(key, bytes) else b"", checksum)))
    return checksums


def compute_predictions_checksum(
    blobs: Sequence[bytes | None], abstentions: object, key: bytes | None, score_kind: str | None
) -> int:
    """Compute the checksum of the predictions, abstentions, key and score kind of a trial."""
    lengths = [None if blob is None else len(blob) for blob in blobs]
    contents = [blob or b"" for blob in blobs]
    return zlib.crc32(b"".join([*contents, str(abstentions).encode(), *map(_encode, (key, score_kind, *lengths))]))


def extend_from_1(checksum: int, abstentions: object) -> int:
    """Extend a checksum of schema 1 by the number of abstentions, as in schema 2."""
    return zlib.crc32(str(abstentions).encode(), checksum)


def extend_from_2(checksum: int, key: bytes | None, score_kind: str | None, *lengths: int | None) -> int:
    """Extend a checksum of schema 2 by the key, score kind and column lengths, as in schema 3.

    The predictions are not read, so the checksum of a corrupted record remains wrong.
    """
    return compute_checksum((key, score_kind, *lengths), checksum)
