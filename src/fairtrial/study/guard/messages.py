"""How a guard and its child talk: frames that start with a token, and evidence as plain values that no reader has to trust."""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import cloudpickle

from fairtrial.study.records import FAILURES, Chunk, Evidence

if TYPE_CHECKING:
    from fairtrial.data import Dataset

TOKEN_BYTES = 16
WORK, READY, DONE, REFUSED = 1, 2, 3, 4
_HEAD = struct.Struct(f"<{TOKEN_BYTES}sBIQ")
_LENGTH = struct.Struct("<Q")


class GarbledError(Exception):
    """Bytes that no worker writes."""


class Frame(NamedTuple):
    """One message: what kind, the running number of the trial that it is about, and its contents."""

    kind: int
    number: int
    payload: bytes


def framed(token: bytes, frame: Frame) -> bytes:
    """The bytes of a message."""
    return _HEAD.pack(token, frame.kind, frame.number, len(frame.payload)) + frame.payload


class Inbox:
    """Puts messages together from the pieces in which they arrive.

    >>> inbox = Inbox(bytes(16))
    >>> sent = framed(bytes(16), Frame(READY, 7, b"yes"))
    >>> inbox.feed(sent[:20]), inbox.take(), inbox.feed(sent[20:]), inbox.take()
    (None, None, None, Frame(kind=2, number=7, payload=b'yes'))
    """

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take in what arrived."""
        self._bytes += piece

    def take(self) -> Frame | None:
        """The next whole message; None while it is not complete. GarbledError where it does not start with the token."""
        held = self._bytes
        if not held:
            return None
        start = held[:TOKEN_BYTES]
        if start != self._token[: len(start)]:
            raise GarbledError("it does not start as a message does")
        if len(held) < _HEAD.size:
            return None
        _, kind, number, length = _HEAD.unpack_from(held)
        if len(held) < _HEAD.size + length:
            return None
        payload = bytes(held[_HEAD.size : _HEAD.size + length])
        del held[: _HEAD.size + length]
        return Frame(kind, number, payload)


def written_work(dataset: Dataset | None, chunk: Chunk) -> bytes:
    """What a child needs: the data set, unless it holds it already, and the chunk."""
    data = b"" if dataset is None else pickle.dumps(dataset, protocol=5)
    return _LENGTH.pack(len(data)) + data + bytes(cloudpickle.dumps(chunk))


def read_work(payload: bytes) -> tuple[Dataset | None, Chunk]:
    """The data set, if there is one, and the chunk. Only a child reads these, and they come from its guard."""
    (length,) = _LENGTH.unpack_from(payload)
    parts = memoryview(payload)[_LENGTH.size :]
    dataset = pickle.loads(parts[:length]) if length else None
    return dataset, pickle.loads(parts[length:])


def written_evidence(evidence: Evidence, *, last: bool) -> bytes:
    """The fields as plain values; `last` tells that the child runs no further trial."""
    return pickle.dumps((last, *(_plain(getattr(evidence, name)) for name in _NAMES)), protocol=5)


def read_evidence(payload: bytes) -> tuple[Evidence, bool]:
    """Evidence and whether the child stops after it; GarbledError where it is not what a worker writes.

    >>> kept = Evidence(b"k" * 16, "error", error="ValueError")
    >>> read_evidence(written_evidence(kept, last=False)) == (kept, False)
    True
    """
    try:
        values = _PlainReader(io.BytesIO(payload)).load()
    except Exception as error:  # whatever a reader of rubbish may raise
        raise GarbledError(f"it cannot be read ({type(error).__name__})") from None
    if not isinstance(values, tuple) or len(values) != len(_NAMES) + 1 or not isinstance(values[0], bool):
        raise GarbledError("it is not evidence")
    last, *rest = values
    for name, value, types in zip(_NAMES, rest, _TYPES, strict=True):
        if type(value) not in types:
            raise GarbledError(f"its {name} cannot be {type(value).__name__}")
    evidence = Evidence(*rest)
    if evidence.status not in ("ok", *FAILURES) or (evidence.status == "ok") != (evidence.prediction is not None):
        raise GarbledError(f"it cannot have the status {evidence.status}")
    return evidence, last


class _PlainReader(pickle.Unpickler):
    """Reads numbers, text and bytes; never makes an object, however the bytes came about."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not a plain value")


def _plain(value: Any) -> Any:
    """A number of NumPy, or a kind of text, as the plain value that it stands for."""
    if value is None or type(value) in (bytes, str, int, float):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def _types(hint: Any) -> frozenset[type]:
    """The types that a field of Evidence may have; one with a list of values has text."""
    parts = get_args(hint) or (hint,)
    kinds = {str if get_origin(part) is Literal or isinstance(part, str) else part for part in parts}
    return frozenset(kinds | ({int} if float in kinds else set()))


_HINTS = get_type_hints(Evidence)
_NAMES = tuple(each.name for each in fields(Evidence))
_TYPES = tuple(_types(_HINTS[name]) for name in _NAMES)
