"""What is recorded of a trial that could not report itself: stopped at a limit, or ended with its process."""

from __future__ import annotations

import io
import os
import pickle
import re
import signal
import struct
import traceback
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import cloudpickle

from fairtrial.study.records import FAILURES, Chunk, ResourceLimits, Status, TrialRecord, TrialTask
from fairtrial.study.run.meter import strip_import_paths, to_plain_text

if TYPE_CHECKING:
    from fairtrial.data import Dataset

TOKEN_BYTES = 16


WORK, READY, DONE, REFUSED = 1, 2, 3, 4


_HEAD = struct.Struct(f"<{TOKEN_BYTES}sBIQ")


_LENGTH = struct.Struct("<Q")


class MalformedMessageError(Exception):
    """Bytes that no worker writes."""


class Frame(NamedTuple):
    """One message: what kind, the running number of the trial that it is about, and its contents."""

    kind: int
    number: int
    payload: bytes


def encode_frame(token: bytes, frame: Frame) -> bytes:
    """The bytes of a message."""
    return _HEAD.pack(token, frame.kind, frame.number, len(frame.payload)) + frame.payload


class Inbox:
    """Puts messages together from the pieces in which they arrive.

    >>> inbox = Inbox(bytes(16))
    >>> sent = encode_frame(bytes(16), Frame(READY, 7, b"yes"))
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
        buffer = self._bytes
        if not buffer:
            return None
        start = buffer[:TOKEN_BYTES]
        if start != self._token[: len(start)]:
            raise MalformedMessageError("it does not start as a message does")
        if len(buffer) < _HEAD.size:
            return None
        _, kind, number, length = _HEAD.unpack_from(buffer)
        if len(buffer) < _HEAD.size + length:
            return None
        payload = bytes(buffer[_HEAD.size : _HEAD.size + length])
        del buffer[: _HEAD.size + length]
        return Frame(kind, number, payload)


def encode_work(dataset: Dataset | None, chunk: Chunk) -> bytes:
    """What a child needs: the data set, unless it holds it already, and the chunk."""
    data = b"" if dataset is None else pickle.dumps(dataset, protocol=5)
    return _LENGTH.pack(len(data)) + data + bytes(cloudpickle.dumps(chunk))


def decode_work(payload: bytes) -> tuple[Dataset | None, Chunk]:
    """The data set, if there is one, and the chunk. Only a child reads these, and they come from its guard."""
    (length,) = _LENGTH.unpack_from(payload)
    body = memoryview(payload)[_LENGTH.size :]
    dataset = pickle.loads(body[:length]) if length else None
    return dataset, pickle.loads(body[length:])


def encode_record(record: TrialRecord, *, last: bool) -> bytes:
    """The fields as plain values; `last` tells that the child runs no further trial."""
    return pickle.dumps((last, *(_to_plain(getattr(record, name)) for name in _RECORD_FIELDS)), protocol=5)


def decode_record(payload: bytes) -> tuple[TrialRecord, bool]:
    """Evidence and whether the child stops after it; GarbledError where it is not what a worker writes.

    >>> kept = TrialRecord(b"k" * 16, "error", error="ValueError")
    >>> decode_record(encode_record(kept, last=False)) == (kept, False)
    True
    """
    try:
        values = _PlainUnpickler(io.BytesIO(payload)).load()
    except Exception as error:  # whatever a reader of rubbish may raise
        raise MalformedMessageError(f"it cannot be read ({type(error).__name__})") from None
    if not isinstance(values, tuple) or len(values) != len(_RECORD_FIELDS) + 1 or not isinstance(values[0], bool):
        raise MalformedMessageError("it is not evidence")
    last, *rest = values
    for name, value, types in zip(_RECORD_FIELDS, rest, _RECORD_TYPES, strict=True):
        if type(value) not in types:
            raise MalformedMessageError(f"its {name} cannot be {type(value).__name__}")
    record = TrialRecord(*rest)
    if record.status not in ("ok", *FAILURES) or (record.status == "ok") != (record.prediction is not None):
        raise MalformedMessageError(f"it cannot have the status {record.status}")
    return record, last


class _PlainUnpickler(pickle.Unpickler):
    """Reads numbers, text and bytes; never makes an object, however the bytes came about."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        raise pickle.UnpicklingError(f"{module_name}.{global_name} is not a plain value")


def _to_plain(value: Any) -> Any:
    """A number of NumPy, or a kind of text, as the plain value that it stands for."""
    if value is None or type(value) in (bytes, str, int, float):
        return value
    return value.item() if hasattr(value, "item") else str(value)


def _get_field_types(hint: Any) -> frozenset[type]:
    """The types that a field of Evidence may have; one with a list of values has text."""
    parts = get_args(hint) or (hint,)
    kinds = {str if get_origin(part) is Literal or isinstance(part, str) else part for part in parts}
    return frozenset(kinds | ({int} if float in kinds else set()))


_HINTS = get_type_hints(TrialRecord)


_RECORD_FIELDS = tuple(field.name for field in fields(TrialRecord))


_RECORD_TYPES = tuple(_get_field_types(_HINTS[name]) for name in _RECORD_FIELDS)


TAIL_BYTES = 64 * 1024


MAX_CHARACTERS = 4000


_READS = 32  # at a time: a child that prints without end must not hold up whoever waits for it


_READ_BYTES = 64 * 1024


_MODULES = re.compile(r"\n*^Extension modules: .*$", re.MULTILINE)


_WORKER = re.escape(f"{__name__.rpartition('.')[0].replace('.', '/')}/worker.py")


_WORKER_FRAMES = re.compile(rf'^  File ".*{_WORKER}", line \d+ in _run_trial\n[\s\S]*\Z', re.MULTILINE)


STACK = "Stack (most recent call first):"


def make_marker(token: bytes, number: int) -> bytes:
    """What a child writes before the output of its trial of this number."""
    return b"\x1e" + token.hex().encode() + b":%d\x1e\n" % number


class LogTail:
    """The reading end of a pipe into which a child prints; `writer` is the other end, until it is handed over.

    >>> log = LogTail()
    >>> _ = os.write(log.writer, make_marker(b"token", 3) + b"first\\n" + make_marker(b"token", 4) + b"second\\n")
    >>> _ = log.drain()
    >>> log.of(b"token", 3), log.of(b"token", 4)
    ('first', 'second')
    >>> log.close()
    """

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.ended = False
        self._tail = bytearray()

    def close_writer(self) -> None:
        """The child has the writing end now."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def drain(self) -> bool:
        """Read what is there, without waiting; whether there was anything."""
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
        """What is kept of what the trial of this number printed."""
        marker, output_start = make_marker(token, number), 0
        position = self._tail.rfind(marker)
        if position >= 0:
            output_start = position + len(marker)
        end = self._tail.find(make_marker(token, number + 1), output_start)
        trial_output = bytes(self._tail[output_start : end if end >= 0 else len(self._tail)])
        return _MODULES.sub("", trial_output.decode("utf-8", "replace")).replace("\x00", "").strip()

    def close(self) -> None:
        """Close what is open of the pipe."""
        self.close_writer()
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1


class TrialOutput(NamedTuple):
    """The end of what a trial printed, and the stack that Python wrote when the trial was stopped or crashed."""

    log: str | None
    stack: str | None


def split_output(text: str | None) -> TrialOutput:
    """Output and stack; the frames of the guard itself are left out, and files are named from the folder of their package on.

    >>> split_output("said something\\nStack (most recent call first):\\n  File 'a.py', line 3 in fit")
    TrialOutput(log='said something', stack="Stack (most recent call first):\\n  File 'a.py', line 3 in fit")
    """
    before, separator, after = (text or "").rpartition(STACK)
    if not separator:
        return TrialOutput(_keep_end(after), None)
    stack = strip_import_paths(_WORKER_FRAMES.sub("", after))
    return TrialOutput(_keep_end(before), (STACK + stack).rstrip()[:MAX_CHARACTERS])


def _keep_end(text: str) -> str | None:
    return text.strip()[-MAX_CHARACTERS:] or None


_MAX_MESSAGE, _MAX_TRACEBACK = 2000, 4000


@dataclass(frozen=True)
class TrialFailure:
    """What is told of an error; its frames, and all that they hold, are gone.

    >>> TrialFailure.of(ValueError("3 rows are too few")).wait_for_message
    '3 rows are too few'
    """

    status: Status
    error: str
    message: str
    traceback: str

    @classmethod
    def from_error(cls, error: BaseException) -> TrialFailure:
        """The failure of an error; `memory` where it, or what caused it, is a lack of memory."""
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        status: Status = "memory" if _is_out_of_memory(error) else "error"
        return cls(status, name, _format_message(error), _format_traceback(error))

    def to_record(self, key: bytes, **more: Any) -> TrialRecord:
        """The evidence of a trial that failed so."""
        return TrialRecord(key, self.status, error=self.error, message=self.message, traceback=self.traceback, **more)


def _is_out_of_memory(error: BaseException | None) -> bool:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, MemoryError):
            return True
        seen.add(id(error))
        error = error.__cause__
    return False


def _format_message(error: BaseException) -> str:
    try:
        return to_plain_text(error, _MAX_MESSAGE)
    except Exception:
        return "(it cannot be told)"


def _format_traceback(error: BaseException) -> str:
    """The end of the traceback; files are named from the folder of their package on."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        return ""
    return to_plain_text(strip_import_paths(text)[-_MAX_TRACEBACK:], 2 * _MAX_TRACEBACK)[-_MAX_TRACEBACK:]


_OUT_OF_MEMORY_PHRASES = (
    "bad_alloc",
    "cannot allocate memory",
    "out of memory",
    "memoryerror",
    "malloc failed",
    "memory allocation",
    "failed to allocate",
    "unable to allocate",
    "allocation failed",
)


class ProcessExit(NamedTuple):
    """How a process ended: its wait status, and the peak of its resident memory in bytes."""

    status: int
    peak: int


def make_failure_record(
    task: TrialTask, status: Status, error: str, message: str, output: str | None, memory: int | None
) -> TrialRecord:
    """The evidence of a trial that was not there to give any."""
    log, stack = split_output(output)
    return TrialRecord(task.key, status, error=error, message=message, traceback=stack, log=log, memory=memory)


def make_timeout_record(task: TrialTask, limits: ResourceLimits, output: str | None, memory: int | None) -> TrialRecord:
    """The trial met the limit of time."""
    message = f"stopped after {limits.time:g} s, the limit of a trial: raise limits.time"
    return make_failure_record(task, "timeout", "TimeLimit", message, output, memory)


def make_crash_record(
    task: TrialTask, end: ProcessExit, limits: ResourceLimits, output: str | None, memory: int | None
) -> TrialRecord:
    """The process ended within the trial: `memory` where there was a limit and its output tells of it, else `crash`."""
    exit_text = describe_exit(end.status)
    if limits.memory is None:
        return make_failure_record(task, "crash", "ProcessEnded", exit_text, output, memory)
    limit = format_size(limits.memory)
    if any(phrase in (output or "").lower() for phrase in _OUT_OF_MEMORY_PHRASES):
        message = f"{exit_text} after it ran out of memory at the limit of {limit} of a trial: raise limits.memory"
        return make_failure_record(task, "memory", "MemoryLimit", message, output, memory)
    return make_failure_record(
        task, "crash", "ProcessEnded", f"{exit_text}, under a limit of memory of {limit}", output, memory
    )


def describe_exit(status: int) -> str:
    """A wait status in words.

    >>> describe_exit(11), describe_exit(3 << 8)
    ('killed by signal 11 (SIGSEGV)', 'ended itself with exit code 3')
    """
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"ended itself with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else "a signal without a name"
    system = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    return f"killed by signal {-code} ({name}){system}"


def format_size(size: int) -> str:
    """Bytes for people.

    >>> format_size(2_000_000_000), format_size(1500)
    ('2 GB', '1.5 kB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"
