"""How values are written into a store and read from it: plain values as JSON, arrays compressed. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fairtrial._check import IntArray
from fairtrial.errors import InputError, StoreError
from fairtrial.study.evidence import PLACES, pack, unpack
from fairtrial.study.plan.planned_splits import others

_BYTES = np.dtype("u1")
_PLAIN_KINDS = "biufmM"


def to_json(value: object) -> str:
    """Plain values as text that any tool can store; what is not plain is told by its representation.

    >>> to_json({"k": np.int64(3), "names": ("a", "b")})
    '{"k": 3, "names": ["a", "b"]}'
    """
    return json.dumps(value, default=_plain)


def from_json(text: str) -> Any:
    """What `to_json` wrote; tuples come back as lists."""
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        raise StoreError(
            f"the store is damaged, it holds text that is not JSON ({error}): run the study into a new store"
        ) from None


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value) if isinstance(value, (set, frozenset)) else repr(value)


def labels_to_json(labels: Sequence[Any]) -> str:
    """Class labels with their types: text, whole numbers, numbers and booleans.

    >>> labels_to_json([np.int64(0), 1]), labels_to_json(["0", "1"]), labels_to_json([False, True])
    ('[0, 1]', '["0", "1"]', '[false, true]')
    """
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for label in plain:
        if not isinstance(label, (str, int, float)):
            raise InputError(
                f"class labels must be text, numbers or booleans to be stored, got {label!r}: convert them to text"
            )
    return json.dumps(plain)


def pack_ids(row_ids: npt.NDArray[Any]) -> tuple[str, bytes | None]:
    """Ids of rows, as the name of their type and bytes; the numbers from 0 on need none."""
    kind = row_ids.dtype.kind
    if kind == "i" and np.array_equal(row_ids, np.arange(len(row_ids))):
        return f"range {row_ids.dtype.str}", None
    if kind in _PLAIN_KINDS:
        return row_ids.dtype.str, pack(row_ids, row_ids.dtype)
    text = to_json(row_ids.tolist()).encode()
    return row_ids.dtype.str, pack(np.frombuffer(text, _BYTES), _BYTES)


def unpack_ids(kind: str, packed: bytes | None, n_rows: int) -> npt.NDArray[Any]:
    """The ids of rows as they were."""
    counted, _, name = kind.rpartition(" ")
    try:
        dtype = np.dtype(name)
    except TypeError:
        raise StoreError(
            f"the store is damaged, it holds row ids of the type {kind!r}: run the study into a new store"
        ) from None
    if counted or packed is None:
        return np.arange(n_rows).astype(dtype)
    if dtype.kind in _PLAIN_KINDS:
        return unpack(packed, dtype)
    listed = from_json(unpack(packed, _BYTES).tobytes().decode("utf-8", "replace"))
    ids = np.empty(len(listed), dtype=dtype)
    ids[:] = listed
    return ids


def pack_rows(train: IntArray, test: IntArray, n_rows: int) -> tuple[bytes, bytes | None]:
    """Test and training positions; the latter are left out where they are all rows that do not test, in order."""
    complement = np.array_equal(train, others(test, n_rows))
    return pack(test, PLACES), None if complement else pack(train, PLACES)


def unpack_rows(packed: bytes) -> IntArray:
    """Positions as they were."""
    return unpack(packed, PLACES).astype(np.intp)


def unpack_split(test: bytes, train: bytes | None, n_rows: int) -> tuple[IntArray, IntArray]:
    """Training and test positions, as `pack_rows` took them."""
    rows = unpack_rows(test)
    return (others(rows, n_rows) if train is None else unpack_rows(train)), rows


def storable(text: str | None) -> str | None:
    """Text as UTF-8 can hold it: lone halves of characters, as a learner's output may have, are written out."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def storable_name(what: str, name: str) -> str:
    """A name as it is; one that UTF-8 cannot hold is refused, since no file, table or page could show it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"the name of a {what} must not hold half a character (a lone surrogate), got {name!a}: write it anew"
        ) from None
    return name


def storable_seed(seed: int) -> int | str:
    """A seed as SQLite can hold it: beyond 64 bits as text."""
    return int(seed) if -(2**63) <= seed < 2**63 else str(seed)


def checksum(blobs: Sequence[bytes | None]) -> int:
    """Tells damaged evidence from whole one."""
    found = 0
    for blob in blobs:
        found = zlib.crc32(blob or b"", found)
    return found


def evidence_hash(key: bytes, facts: Sequence[Any], blobs: Sequence[bytes | None]) -> bytes:
    """SHA-256 of what a trial left, apart from times and messages; columns count by their contents, however compressed."""
    digest = hashlib.sha256(key + json.dumps(list(facts)).encode())
    for blob in blobs:
        content = b"" if blob is None else unpack(blob, _BYTES).tobytes()
        digest.update((-1 if blob is None else len(content)).to_bytes(8, "little", signed=True) + content)
    return digest.digest()


def refuse_damaged(trial: int, blobs: Sequence[bytes | None], kept: int) -> None:
    """Evidence must be as it was written."""
    if checksum(blobs) != kept:
        raise StoreError(f"the evidence of trial {trial} is damaged: take a copy of the store from before, or run it anew")
