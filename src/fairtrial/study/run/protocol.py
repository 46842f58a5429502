"""Messages between a supervisor and its worker.

Messages are sent through a socket. The output of trials is sent through a pipe.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import signal
import struct
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import cloudpickle

from fairtrial.study.records import FAILURES, Chunk, TrialRecord

if TYPE_CHECKING:
    from fairtrial.data import Dataset

TOKEN_BYTES = 16
WORK, READY, DONE, REFUSED = 1, 2, 3, 4
LINK_CLOSED = 113  # exit code of a worker that can no longer send messages
RESIDENT = struct.Struct("<Q")  # resident memory of a worker in bytes, the payload of a READY frame
TAIL_BYTES = 64 * 1024
_HEAD = struct.Struct(f"<{TOKEN_BYTES}sBIQ")
_LENGTH = struct.Struct("<Q")
_READS = 32  # maximum number of reads per call, so endless output of a worker cannot block the supervisor
_READ_BYTES = 64 * 1024
_MODULES = re.compile(r"\n*^Extension modules: .*$", re.MULTILINE)


class MalformedMessageError(Exception):
    """Raised for bytes that are not a message from a worker."""


class Frame(NamedTuple):
    """One message: its kind, the number of the trial, and the payload."""

    kind: int
    number: int
    payload: bytes


def encode_frame(token: bytes, frame: Frame) -> bytes:
    """Encode a message."""
    return _HEAD.pack(token, frame.kind, frame.number, len(frame.payload)) + frame.payload


class Inbox:
    """A buffer that assembles messages from the pieces in which they arrive.

    >>> inbox = Inbox(bytes(16))
    >>> sent = encode_frame(bytes(16), Frame(READY, 7, b"yes"))
    >>> inbox.feed(sent[:20]), inbox.take(), inbox.feed(sent[20:]), inbox.take()
    (None, None, None, Frame(kind=2, number=7, payload=b'yes'))
    """

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._bytes = bytearray()

    def feed(self, piece: bytes) -> None:
        """Add received bytes."""
        self._bytes += piece

    def take(self) -> Frame | None:
        """Take the next complete message, if any. Raise MalformedMessageError if the message does not start with the token."""
        buffer = self._bytes
        if not buffer:
            return None
        start = buffer[:TOKEN_BYTES]
        if start != self._token[: len(start)]:
            raise MalformedMessageError("the message does not start with the token")
        if len(buffer) < _HEAD.size:
            return None
        _, kind, number, length = _HEAD.unpack_from(buffer)
        if len(buffer) < _HEAD.size + length:
            return None
        payload = bytes(buffer[_HEAD.size : _HEAD.size + length])
        del buffer[: _HEAD.size + length]
        return Frame(kind, number, payload)


class WorkMessage(NamedTuple):
    """A chunk with its data set. `dataset` is None if the worker already has the data set."""

    dataset: Dataset | None
    chunk: Chunk

    def encode(self) -> bytes:
        """Encode the payload of a WORK frame."""
        data = b"" if self.dataset is None else pickle.dumps(self.dataset, protocol=5)
        return _LENGTH.pack(len(data)) + data + bytes(cloudpickle.dumps(self.chunk))

    @classmethod
    def decode(cls, payload: bytes) -> WorkMessage:
        """Decode a payload. Only workers call this method, and only on messages from their supervisor."""
        (length,) = _LENGTH.unpack_from(payload)
        body = memoryview(payload)[_LENGTH.size :]
        dataset = pickle.loads(body[:length]) if length else None
        return cls(dataset, pickle.loads(body[length:]))


class RecordMessage(NamedTuple):
    """The record of a trial, and whether it is the last record that the worker sends."""

    record: TrialRecord
    last: bool

    def encode(self) -> bytes:
        """Encode the payload of a DONE or REFUSED frame as plain values."""
        values = (self.last, *(_to_plain(getattr(self.record, name)) for name in _RECORD_FIELDS))
        return pickle.dumps(values, protocol=5)

    @classmethod
    def decode(cls, payload: bytes) -> RecordMessage:
        """Decode a payload, and raise MalformedMessageError if it is not a trial record.

        >>> sent = RecordMessage(TrialRecord(b"k" * 16, "error", error="ValueError"), last=False)
        >>> RecordMessage.decode(sent.encode()) == sent
        True
        """
        try:
            values = _PlainUnpickler(io.BytesIO(payload)).load()
        except Exception as error:  # malformed pickles can raise anything
            raise MalformedMessageError(f"the payload cannot be read ({type(error).__name__})") from None
        if not isinstance(values, tuple) or len(values) != len(_RECORD_FIELDS) + 1 or not isinstance(values[0], bool):
            raise MalformedMessageError("the payload is not a trial record")
        last, *rest = values
        for name, value, types in zip(_RECORD_FIELDS, rest, _RECORD_TYPES, strict=True):
            if type(value) not in types:
                raise MalformedMessageError(f"{name} cannot be {type(value).__name__}")
        record = TrialRecord(*rest)
        if record.status not in ("ok", *FAILURES) or (record.status == "ok") != (record.prediction is not None):
            raise MalformedMessageError(f"status cannot be {record.status}")
        return cls(record, last)


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler for plain values such as numbers, text and bytes. It refuses all other objects."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not a plain value")


def _to_plain(value: Any) -> Any:
    """Convert NumPy numbers and subclasses of str to plain values."""
    if value is None or type(value) in (bytes, str, int, float):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def _get_field_types(hint: Any) -> frozenset[type]:
    """Get the types that a field of a trial record can have.

    A Literal is treated as text. A float field can also contain an int.
    """
    parts = get_args(hint) or (hint,)
    kinds = {str if get_origin(part) is Literal or isinstance(part, str) else part for part in parts}
    return frozenset(kinds | ({int} if float in kinds else set()))


_HINTS = get_type_hints(TrialRecord)
_RECORD_FIELDS = tuple(field.name for field in fields(TrialRecord))
_RECORD_TYPES = tuple(_get_field_types(_HINTS[name]) for name in _RECORD_FIELDS)


class LogTail:
    """The latest output of a worker, read from a pipe. The worker inherits the `writer` end of the pipe.

    >>> log = LogTail()
    >>> for number, text in enumerate([b"first\\n", b"second\\n"]):
    ...     _ = os.write(log.writer, LogTail.make_marker(b"token", number) + text)
    >>> _ = log.drain()
    >>> log.get_output(b"token", 0), log.get_output(b"token", 1)
    ('first', 'second')
    >>> log.close()
    """

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.ended = False
        self._tail = bytearray()

    @staticmethod
    def make_marker(token: bytes, number: int) -> bytes:
        """Make the marker that a worker writes before the output of a trial."""
        return b"\x1e" + token.hex().encode() + b":%d\x1e\n" % number

    def close_writer(self) -> None:
        """Close the writing end, which the worker has inherited."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def drain(self) -> bool:
        """Read the available output without waiting. Return whether there was any output."""
        has_output = False
        for _ in range(_READS):
            try:
                piece = os.read(self.reader, _READ_BYTES)
            except BlockingIOError:
                break
            if not piece:
                self.ended = True
                break
            has_output = True
            self._tail += piece
            if len(self._tail) > 2 * TAIL_BYTES:
                del self._tail[:-TAIL_BYTES]
        return has_output

    def get_output(self, token: bytes, number: int) -> str:
        """Get the output of a trial. If the output is long, its beginning is missing."""
        marker, output_start = self.make_marker(token, number), 0
        position = self._tail.rfind(marker)
        if position >= 0:
            output_start = position + len(marker)
        end = self._tail.find(self.make_marker(token, number + 1), output_start)
        trial_output = bytes(self._tail[output_start : end if end >= 0 else len(self._tail)])
        return _MODULES.sub("", trial_output.decode("utf-8", "replace")).replace("\x00", "").strip()

    def close(self) -> None:
        """Close the open ends of the pipe."""
        self.close_writer()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


class ProcessExit(NamedTuple):
    """The exit of a process: its wait status, and its peak resident memory in bytes."""

    status: int
    peak: int

    def describe(self) -> str:
        """Describe the exit.

        >>> ProcessExit(11, 0).describe(), ProcessExit(3 << 8, 0).describe()
        ('killed by signal 11 (SIGSEGV)', 'exited with code 3')
        """
        code = os.waitstatus_to_exitcode(self.status)
        if code >= 0:
            return f"exited with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unnamed"
        system = ", possibly because memory ran out" if -code == signal.SIGKILL else ""
        return f"killed by signal {-code} ({name}){system}"
