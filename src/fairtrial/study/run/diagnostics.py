"""Diagnostics in a trial record: errors, crashes, warnings and the end of the printed output."""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairtrial.study.records import ResourceLimits, Status, TrialRecord
from fairtrial.study.run.protocol import ProcessExit

STACK = "Stack (most recent call first):"
MAX_CHARACTERS = 4000
_MAX_MESSAGE, _MAX_TRACEBACK, _MAX_NOTES = 2000, 4000, 1000
_WORKER = re.escape(f"{__name__.rpartition('.')[0].replace('.', '/')}/worker.py")
_WORKER_FRAMES = re.compile(rf'^  File ".*{_WORKER}", line \d+ in _run_trial\n[\s\S]*\Z', re.MULTILINE)
_IGNORED_WARNINGS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
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


@dataclass(frozen=True)
class TrialFailure:
    """A failure of a trial as text, without references to the exception or its stack frames.

    >>> TrialFailure.from_error(ValueError("3 rows are too few")).message
    '3 rows are too few'
    """

    status: Status
    error: str
    message: str
    traceback: str | None
    log: str | None = None

    @classmethod
    def from_error(cls, error: BaseException) -> TrialFailure:
        """Create a failure from an exception.

        The status is `memory` if the exception, or one of its causes, is a MemoryError.
        """
        kind = type(error)
        name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
        status: Status = "memory" if _is_out_of_memory(error) else "error"
        return cls(status, name, _format_message(error), _format_traceback(error))

    @classmethod
    def from_output(cls, status: Status, error: str, message: str, output: str | None) -> TrialFailure:
        """Create a failure for a trial whose process could not report the failure itself.

        The failure includes the end of the printed output.
        """
        log, stack = TrialOutput.parse(output)
        return cls(status, error, message, stack, log)

    @classmethod
    def from_timeout(cls, limits: ResourceLimits, output: str | None) -> TrialFailure:
        """Create a failure for a trial that exceeded the time limit."""
        message = f"stopped at the time limit of {limits.time:g} s: raise limits.time"
        return cls.from_output("timeout", "TimeLimit", message, output)

    @classmethod
    def from_exit(cls, end: ProcessExit, limits: ResourceLimits, output: str | None) -> TrialFailure:
        """Create a failure for a trial whose process exited before the trial finished.

        The status is `memory` if there is a memory limit and the output reports that memory ran out. Otherwise, the status is
        `crash`.
        """
        exit_text = end.describe()
        if limits.memory is None:
            return cls.from_output("crash", "ProcessEnded", exit_text, output)
        limit = format_size(limits.memory)
        if any(phrase in (output or "").lower() for phrase in _OUT_OF_MEMORY_PHRASES):
            message = f"{exit_text} at the memory limit of {limit}: raise limits.memory"
            return cls.from_output("memory", "MemoryLimit", message, output)
        return cls.from_output("crash", "ProcessEnded", f"{exit_text} (memory limit {limit})", output)

    def to_record(self, key: bytes, **values: Any) -> TrialRecord:
        """Build the record of the failed trial."""
        return TrialRecord(
            key, self.status, error=self.error, message=self.message, traceback=self.traceback, log=self.log, **values
        )


class TrialOutput(NamedTuple):
    """The end of a trial's output, and the stack trace that Python printed, if any.

    Python prints a stack trace if the trial crashes or exceeds the time limit.
    """

    log: str | None
    stack: str | None

    @classmethod
    def parse(cls, text: str | None) -> TrialOutput:
        """Split text into output and stack trace.

        The frames of the worker are removed from the stack trace, and file paths are shortened.

        >>> TrialOutput.parse("some output\\nStack (most recent call first):\\n  File 'a.py', line 3 in fit")
        TrialOutput(log='some output', stack="Stack (most recent call first):\\n  File 'a.py', line 3 in fit")
        """
        before, separator, after = (text or "").rpartition(STACK)
        if not separator:
            return cls(_keep_end(after), None)
        stack = strip_import_paths(_WORKER_FRAMES.sub("", after))
        return cls(_keep_end(before), (STACK + stack).rstrip()[:MAX_CHARACTERS])


def _keep_end(text: str) -> str | None:
    return text.strip()[-MAX_CHARACTERS:] or None


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
        return "(message not available)"


def _format_traceback(error: BaseException) -> str:
    """Format the end of the traceback, with shortened file paths."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:
        return ""
    return to_plain_text(strip_import_paths(text)[-_MAX_TRACEBACK:], 2 * _MAX_TRACEBACK)[-_MAX_TRACEBACK:]


def format_size(size: int) -> str:
    """Format a number of bytes.

    >>> format_size(2_000_000_000), format_size(1500)
    ('2 GB', '1.5 kB')
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"


@contextmanager
def record_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Record all warnings without showing them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def format_notes(caught: list[warnings.WarningMessage], *more: str | None) -> str | None:
    """Format notes and warnings, one per line. Return None if there is nothing to list.

    Notes come first. A warning that was issued several times is listed once, with its count. Warnings about deprecation,
    imports and resources are left out.

    >>> with record_warnings() as caught:
    ...     for _ in range(3):
    ...         warnings.warn("no convergence")
    >>> format_notes(caught)
    'UserWarning: no convergence (3 times)'
    """
    counts: dict[str, int] = {}
    for warning in caught:
        if not issubclass(warning.category, _IGNORED_WARNINGS):
            text = f"{warning.category.__name__}: {warning.message}"
            counts[text] = counts.get(text, 0) + 1
    lines = [text if count == 1 else f"{text} ({count} times)" for text, count in counts.items()]
    return to_plain_text("\n".join([*(note for note in more if note), *lines]), _MAX_NOTES) or None


def to_plain_text(text: Any, length: int) -> str:
    """Convert a value to text of at most `length` characters.

    Characters that UTF-8 cannot encode are escaped.
    """
    return str(text).encode("utf-8", "backslashreplace").decode("utf-8")[:length]


def strip_import_paths(text: str) -> str:
    """Shorten the file paths in a traceback by removing the import folders.

    >>> import numpy
    >>> strip_import_paths(f'File "{numpy.__file__}", line 3')
    'File "numpy/__init__.py", line 3'
    """
    for folder in sorted({path.rstrip("/") for path in sys.path if len(path) > 1}, key=len, reverse=True):
        text = text.replace(f'File "{folder}/', 'File "')
    return text
